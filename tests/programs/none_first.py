"""Names that are None first and a number later."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])


@program(X, engine="compiled")
def the_largest_square(x):
    best = None
    for v in x:
        w = v * v
        if best is None or w > best:
            best = w
    return best


@program(X, engine="compiled")
def differences_to_the_one_before(x):
    prev = None
    t = 0.0
    for v in x:
        if prev is not None:
            t += (v - prev) ** 2
        prev = v
    return t


@program(X, engine="compiled")
def first_or_smaller(x):
    best = None
    for v in x:
        if best is None:
            best = v
        elif v < best:
            best = v * 2
    return best * best


@program(X, engine="compiled")
def set_in_a_branch(x):
    best = None
    if x[0] > 0:
        best = x[0] * 2
    if best is not None:
        return best * x[1]
    return x[2]


@program(-X, engine="compiled")
def not_set_in_a_branch(x):
    best = None
    if x[0] > 0:
        best = x[0] * 2
    if best is not None:
        return best * x[1]
    return x[2]


@program(X, engine="compiled")
def in_nested_loops(x):
    best = None
    for v in x:
        for w in x:
            c = v * w
            if best is None or c > best:
                best = c
    return best if best is not None else 0.0


@program(X, 0, engine="compiled")
def loop_that_does_not_run(x, n):
    best = None
    for i in range(n):
        if best is None or x[i] > best:
            best = x[i]
    if best is None:
        return np.sum(x)
    return best


@program(X, engine="compiled")
def with_its_position(x):
    best, arg = None, None
    for i, v in enumerate(x):
        if best is None or v * v > best:
            best = v * v
            arg = i
    return best * x[arg]


@program(X, engine="compiled")
def smallest_and_largest(x):
    lo = hi = None
    for v in x:
        lo = v if lo is None else min(lo, v)
        hi = v if hi is None else max(hi, v)
    return hi - lo


@program(X, engine="compiled")
def product_without_a_start(x):
    t = None
    for v in x:
        t = v if t is None else t * v
    return t


@program(X, engine="compiled")
def another_name_and_continue(x):
    prev = None
    t = 0.0
    for v in x:
        old = prev
        prev = v
        if old is None:
            continue
        t = t + old * v
    return t


@program(X, engine="compiled")
def error_of_an_iteration(x):
    err = None
    y = x[0]
    k = 0
    while err is None or abs(err) > 1e-3:
        new = 0.5 * (y + 2.0 / y)
        err = new - y
        y = new
        k += 1
    return y * x[1] + err


@program(X, engine="compiled")
def continue_where_it_is_not_better(x):
    best = None
    for v in x:
        if best is not None and v < best:
            continue
        best = v
    return best + 1.0


@program(X, engine="tape")
def read_by_a_nested_function(x):
    best = None

    def upd(v):
        return v if best is None else best

    for v in x:
        best = upd(v)
    return best


@program(X, engine="compiled")
def found_before_the_end(x):
    first = None
    for v in x:
        if v < 0:
            first = v * v
            break
    if first is None:
        first = np.sum(x)
    return first * x[0]


@program(np.abs(X), engine="compiled")
def not_found(x):
    first = None
    for v in x:
        if v < 0:
            first = v * v
            break
    if first is None:
        first = np.sum(x)
    return first * x[0]


@program(X, engine="compiled")
def asked_by_its_truth(x):
    best = None
    for v in x:
        if not best or v > best:
            best = v
    return best


@program(X, engine="tape")
def sum_of_arrays_without_a_start(x):
    acc = None
    for v in x:
        if acc is None:
            acc = x * v
        else:
            acc = acc + x * v
    return np.sum(acc)


@program(X, engine="compiled")
def none_again(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
        if v < -1:
            best = None
    return best


@program(X, engine="tape")
def passed_without_a_test(x):
    best = None
    for i in range(3):
        if i > 0:
            best = x[i] * i
    return np.sin(best) * x[0]


@program(X, engine="compiled")
def collected_once_it_is_sure(x):
    best = None
    vals = []
    for v in x:
        if best is None or v > best:
            best = v
        vals.append(best)
    return sum(vals)


@program(X, engine="compiled")
def two_names(x):
    a = None
    b = a
    for v in x:
        if v > 0:
            b = a
            a = v
    if b is None:
        return a
    return a * b


@program(X, engine="compiled")
def set_in_nested_branches(x):
    best = None
    for v in x:
        if best is not None:
            if v > best:
                best = v
        else:
            best = v
    return best**2


@program(X, engine="compiled")
def while_that_forgets(x):
    best = None
    i = 0
    while i < 3:
        if best is None or x[i] > best:
            best = x[i]
            if i == 1:
                best = None
        i += 1
    return best


@program(X, engine="tape")
def two_before(x):
    prev = cur = None
    t = 0.0
    for v in x:
        prev, cur = cur, v * v
        if prev is not None:
            t += prev * cur
    return t


@program(X, engine="compiled")
def default_of_a_nested_function(x):
    def f(v, best=None):
        if best is None:
            return v
        return v * best

    return f(x[0]) + f(x[1], x[2])


@program(X, engine="compiled")
def test_of_another_name(x):
    best = None
    for v in x:
        t = best
        if t is None or v > t:
            best = v
    return best


@program(X, engine="compiled")
def negated_test(x):
    best = None
    for v in x:
        if (best is None) or not (v <= best):
            best = v
    return best


@program(X, engine="compiled")
def forgotten_between_loops(x):
    s = None
    for i in range(2):
        for v in x:
            s = v if s is None else s + v * i
        if i == 0:
            s = None
    return s


@program(X, engine="compiled", smooth=True)
def position_of_the_best(x):
    best = where = None
    for i in range(3):
        v = (x[i] - 1.4) ** 2
        if best is None or v < best:
            best = v
            where = i
    return best * x[where]


@program(X, engine="compiled", smooth=True)
def first_position(x):
    where = None
    y = 0.0
    for i in range(3):
        if x[i] > 0.4 and where is None:
            where = i
        y = y + x[i]
    return y * x[where]


@program(X, engine="compiled", smooth=True)
def position_before(x):
    last, kind, y, i = None, None, 1.0, 0
    while i < 3:
        if last is not None:
            y = y * (x[last] + x[i])
        if kind == "even":
            y = y * 2
        for k in range(2):
            if k == i:
                last, kind = i, "even" if i % 2 == 0 else "odd"
        i += 1
    return y if kind is None else y * x[last]


class Best:
    value = None

    def see(self, v):
        if self.value is None:
            self.value = v
        else:
            self.value = self.value + v * v


@program(np.array([0.5, -1.5, 2.0]), engine="compiled", smooth=True)
def attribute_that_is_none_first(x):
    best = Best()
    for v in x:
        best.see(v)
    return best.value**2


@program(np.array([0.5, -1.5, 2.0]), engine="compiled", smooth=True)
def attribute_that_is_none_again(x):
    best = Best()
    s = 0.0
    for v in x:
        if best.value is not None:
            s = s + best.value * v
            best.value = None
        else:
            best.value = v * v
    return s if best.value is None else s + best.value


@program(np.array([0.5, -1.5, 2.0]), engine="compiled", smooth=True)
def entry_that_is_none_first(x):
    d = {"best": None, "k": x[0]}
    for v in x:
        if d["best"] is None or v > d["best"]:
            d["best"] = v
    return sum(d.values()) ** 2


@program(np.array([0.5, -1.5, 2.0]), engine="compiled", smooth=True)
def arrays_in_an_attribute_that_is_none_first(x):
    best = Best()
    best.see(x)
    best.see(x * x)
    return np.sum(best.value**2)
