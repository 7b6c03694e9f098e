"""Helpers that write into what they are given, or into arrays of the function around them, called from anywhere."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])
A = np.array([[0.5, 1.5], [2.0, 0.25]])


def filled(a):
    a[0] = a[1] * 2.0
    return a[0] + a[-1]


def clipped(a, most):
    if a[0] > most:
        a[0] = most * most
        return a[1]
    a[1] *= 2.0
    return a[0]


def until(a, most):
    for i in range(len(a)):
        a[i] *= 1.5
        if a[i] > most:
            return a[i] * i
    a[0] = 0.0


def normalised(a):
    s = np.sum(a)
    if s < 0:
        raise ValueError("negative")
    if s > 100:
        return a
    a /= s
    return a


def twice(a):
    return filled(a) + filled(a)


def counted(k):
    k += 1.0
    return k * 2


def applied(g, v):
    return g(g(v))


def recursive(a, n):
    a[n] *= 2.0
    return a[0] if n == 0 else recursive(a, n - 1)


@program(X, engine="compiled", smooth=True)
def returned_early(x):
    y = x * 1.0
    return clipped(y, 0.1) * np.sum(y) + clipped(y, 5.0) * np.sum(y * y)


@program(X, 2.0, engine="compiled")
def returned_in_a_loop(x, most):
    y = x * 1.0
    r = until(y, most)
    if r is None:
        return np.sum(y)
    return r * np.sum(y * y)


@program(X, 20.0, engine="compiled")
def fallen_out_of_a_loop(x, most):
    y = x * 1.0
    r = until(y, most)
    return np.sum(y * y) if r is None else r


@program(X, engine="compiled")
def returned_what_was_given(x):
    y = x * x
    z = normalised(y)
    z[0] *= 3.0
    return np.sum(y * x)


@program(X, engine="compiled", smooth=True)
def in_expressions(x):
    y = x * 1.0
    return y[0] * filled(y) + 2.0 * (filled(y) - y[0]) * y[2]


@program(X, engine="compiled", smooth=True)
def an_array_before_its_writing(x):
    y = x * 1.0
    return np.sum(y * filled(y)) + np.sum(y)


@program(X, engine="compiled", smooth=True)
def as_arguments(x):
    y = x * 1.0
    return np.dot(y, np.full(3, filled(y))) + max(filled(y), y[1], 0.5)


@program(X, engine="compiled")
def in_a_test(x):
    y = x * 1.0
    if filled(y) > 4.0 and y[0] < 10.0 and clipped(y, 0.2) > 0:
        return np.sum(y * x)
    return np.sum(y)


@program(X, engine="compiled")
def in_the_test_of_a_while(x):
    y = x * 0.1
    n = 0
    while n < 20 and filled(y) < 2.0:
        y[1] *= 1.5
        n += 1
    return np.sum(y * y)


@program(X, engine="compiled", smooth=True)
def on_one_way(x):
    y = x * 1.0
    a = filled(y) if x[0] < 1 else y[0]
    b = y[0] if x[1] < 1 else clipped(y, 0.3)
    return a * b + np.sum(y * y)


@program(X, engine="compiled", smooth=True)
def in_comprehensions(x):
    y = x * 1.0
    parts = [filled(y) * v for v in x if v > 0.7]
    return sum(parts) + sum(clipped(y, w) for w in (0.5, 3.0)) * y[1]


@program(X, engine="compiled", smooth=True)
def a_comprehension_keeps_its_names(x):
    y, v = x * 1.0, x[0]
    s = sum([filled(y) * v for v in x])
    return s * v


@program(X, engine="compiled", smooth=True)
def read_before_an_augmented_assignment(x):
    y = x * 1.0
    y[0] += filled(y)
    y[1:] *= filled(y)
    y[int(len(y)) - 1] -= filled(y)
    y[1] += filled(y) if y[0] > 0.1 else 1.0
    return np.sum(y * y)


@program(X, engine="compiled", smooth=True)
def picked_before_an_augmented_assignment(x):
    y = x * 1.0
    y[[2, 1]] *= filled(y)
    y[y > 1.0] += filled(y)
    y[np.argsort(y)[:2]] -= filled(y)
    m = np.outer(y, x)
    m[1][[0, 2]] += filled(m[1])
    m[1, :] *= filled(m[1])
    m[:, [0]] -= filled(m[0])
    return np.sum(y * y) + np.sum(m)


@program(X, engine="tape")
def in_a_generator_that_is_left(x):
    y = x * 1.0
    if any(filled(y) * v > 12.0 for v in range(4)):
        y[1] *= 2.0
    return np.sum(y * y)


@program(X, engine="tape")
def in_a_dict_comprehension(x):
    y = x * 1.0
    d = {k: clipped(y, 0.4) for k in ("a", "b")}
    return d["a"] * d["b"] * np.sum(y)


@program(X, engine="compiled", smooth=True)
def over_rows(x):
    m = np.outer(x, x)
    s = 0.0
    for row in m:
        s += filled(row) * m[0, 0]
    return s + np.sum(m)


@program(X, engine="compiled", smooth=True)
def a_helper_of_a_helper(x):
    y = x * 1.0
    return twice(y) * np.sum(y)


@program(X, engine="compiled", smooth=True)
def nested_with_returns(x):
    y = x * 1.0

    def step(k):
        def shift(v):
            y[2] += v
            return y[2]

        if y[k] > 1.0:
            y[k] *= 0.5
            return shift(y[k]) * 2
        y[0] += y[k]
        return shift(0.5)

    return step(0) * step(1) + np.sum(y * y)


@program(X, engine="compiled", smooth=True)
def a_lambda_that_calls_one(x):
    y = x * 1.0
    step = lambda k: filled(y) * y[k]
    return step(0) + step(1) * np.sum(y)


@program(X, engine="compiled")
def of_numbers_only(x):
    k = counted(1.0) * counted(2.0)
    return np.sum(x * x) * k * applied(lambda v: v * 2, 0.5)


@program(X, engine="compiled")
def a_ufunc_is_no_array(x):
    x[0] = x[1] * 2
    return np.sum(x * applied(np.sin, x[2]))


@program(X, engine="tape")
def one_that_calls_itself(x):
    y = x * 1.0
    return recursive(y, 2) * np.sum(y)


@program(X, engine="compiled")
def a_method_of_what_a_call_gives(x):
    def largest(k):
        return k * np.zeros(3)[1:].max()

    return largest(2.0) + np.sum(x * x)


@program(X, engine="compiled")
def views_in_a_loop_that_is_left(x):
    row = x.reshape(1, -1)[0]

    def step(v):
        for c in (0.7, 1.1):
            if row[0] > 2.5:
                return row[1]
            x[1] = v * c
            x[0] *= 3.0
        return v

    return step(x[2]) * np.sum(x) + row[0]


@program(X, 2.0, engine="compiled")
def in_loops_that_no_derivative_flows_through(x, k):
    steps = np.zeros(3)
    for i in range(3):
        with np.errstate(all="ignore"):
            k = counted(k) + filled(steps) + applied(lambda v: 0.5 * v, k)
    while steps[0] < 5.0:
        steps[1] += 1.0
        filled(steps)
    return np.sum(x * steps) * k


@program(X, engine="compiled", smooth=True)
def in_a_dict_and_with_lambdas(x):
    y = x * 1.0
    d = {"a": y[0], "b": filled(y), "c": y[0]}
    parts = [applied(lambda v: v * 0.5, w) for w in x]
    return d["a"] * d["b"] + d["c"] * sum(parts)


@program(X, engine="compiled", smooth=True)
def a_closure_in_a_test(x):
    s = x[0] * 2
    scaled = lambda v: v * s
    n = 0
    while scaled(1.5) < 20 and n < 10:
        s = s * x[1]
        n += 1
    if scaled(0.5) > 1.0:
        return s * x[2]
    return s


def two_numbers(a, b):
    for _ in range(2):
        b *= 2.0
    return a, b


@program(X, 2.0, engine="compiled")
def two_numbers_that_change(x, k):
    s, t = two_numbers(0.5, k)
    s += t
    t, k = two_numbers(s, 1.5)
    k *= t
    return np.sum(x * x) * k + t


@program(X, engine="compiled", smooth=True)
def in_a_while_with_an_else(x):
    y, n = x * 0.1, 0
    while filled(y) < 2.0 and n < 20:
        y[1] *= 1.5
        n += 1
        if n == 30:
            break
    else:
        y[2] *= x[0]
    return np.sum(y * y)


def in_nested_loops(a, b):
    for v in b:
        for w in b:
            if w * v > 2.6:
                return np.prod(a) * w
        a[0] *= v
    return a[0]


@program(X, engine="compiled", smooth=True)
def returned_in_nested_loops(x):
    y = x * 1.0
    return in_nested_loops(y, x[:2]) + in_nested_loops(y, x)


@program(A, engine="compiled")
def of_an_argument(a):
    if clipped(a[0], 0.1) > 0:
        a[1] *= filled(a[1])
    return np.sum(a * a)


def second_row_set(a, b):
    a[1] = 0.5 * b
    return 2


@program(X, engine="compiled", smooth=True)
def masked_by_what_it_returns(x):
    u = np.full((2, 4), 4)
    u[u < 5] *= second_row_set(u, len(x))
    return x[0] ** 2 * u[0, 0] * u[1, 0]


def left_early(a, k=0.5):
    with np.errstate(all="ignore"):
        if k > 1.0:
            return a
    return a


@program(X, 1.8, engine="compiled", argnums=(0, 1))
@program(X, 0.3, engine="compiled", argnums=(0, 1), name="result_that_is_not_used_on_one_way_2")
def result_that_is_not_used_on_one_way(x, k):
    w = left_early(x, k)
    if x[0] > 0:
        w = x
    return np.sum(w**2) * k


def upwind(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:] = u[1:] - 0.4 * u[1:] * (u[1:] - u[:-1])
    return np.sum(np.sin(u))


@program(X, 3, engine="compiled", smooth=True)
def scheme_in_a_helper(x, steps):
    return 2 * upwind(x, steps)


@program(X, 3, engine="compiled", smooth=True)
def scheme_in_a_loop(x, steps):
    total = 0.0
    for k in range(1, 3):
        total += upwind(k * x, steps)
    return total


def relaxed(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        u[:-1] = np.sin(u[:-1]) * u[1:] + u[:-1]
        u[1:] = u[1:] * u[:-1] - u[1:] ** 2 * 0.1
    return u


@program(X, 3, engine="compiled", smooth=True)
def two_sweeps_in_a_helper(x, steps):
    u = relaxed(x, steps)
    return np.sum(u * relaxed(x * x, 2))


def of_rows(a, u):
    return np.einsum("ij,j->i", np.abs(np.ones((4, 4))), u).sum() * a


@program(np.array([-0.34, -1.86, -1.68, 1.02]), 0.3, engine="compiled", smooth=True)
def given_an_array_that_changes_later(x, k):
    u = (x * 1)[::-1]  # what is done with a copy of it has other rounding errors
    u[1] = of_rows(k, u)
    return np.sum(u * x)


def even(u, k):
    v = u[::2]
    return np.exp(v) * k * v


@program(np.array([0.3, 0.7, -0.2, 0.5]), engine="compiled", smooth=True)
def given_what_changes_later_as_its_result_does(x):
    u = x * 2
    w = even(u, 3.0)
    a = np.sum(w)
    u[0] = a
    w[1] *= u[2]
    return np.sum(w * w) + a * u[1] + np.sum(u**2)


def folded(u, n):
    if n == 0:
        return u * u
    return folded(u, n - 1) * np.sum(u**2)


@program(np.array([0.3, 0.7, -0.2, 0.5]), engine="compiled", smooth=True)
def given_to_what_calls_itself_and_changed_later(x):
    u = x * 2
    w = folded(u, 2)
    u *= w
    w[0] = u[1]
    return np.sum(u * w)


def first_of(pair, k):
    return pair[0] * pair[1] * k


@program(np.array([0.3, 0.7, -0.2, 0.5]), engine="compiled", smooth=True)
def given_a_pair_of_what_changes_later(x):
    u, v = x * 2, np.sin(x)
    w = first_of((u, v), 2.0)
    u *= w
    v[1:] = u[:-1]
    return np.sum(u * v * w)


@program([0.5, -0.3, 0.7], np.array([0.1, 0.4, 0.9]), argnums=1, engine="compiled", smooth=True)
def mapped_in_the_middle_of_an_expression(y, x):
    a = x * 1

    def change(t):
        a[2] *= 3
        return a[0] * t

    r = np.sum(a[1:] * sum(map(change, y)))
    a[2] += sum(list(map(change, y))[:2])
    return r + np.sum(a)


@program([0.5, -0.3, 0.7], np.array([0.1, 0.4, 0.9]), argnums=1, engine="compiled", smooth=True)
def mapped_over_two_lists(y, x):
    a = x * 1

    def change(t, s):
        a[1:] *= t
        return a[1] * s

    a *= max(map(change, y, [2.0, 3.0, 4.0]))
    return np.sum(a * a)


@program([0.5, -0.3, 0.7], np.array([0.1, 0.4, 0.9]), argnums=1, engine="tape", smooth=True)
def mapped_under_another_name(y, x):
    a = x * 1

    def change(t):
        a[2] *= 3
        return a[0] * t

    step = change
    a[2] += sum(map(step, y))
    return np.sum(a * a)


class Counter:
    def __init__(self, u):
        self.u = u

    def step(self, t):
        self.u = self.u * t
        return self.u[0]


@program([0.5, -0.3, 0.7], np.array([0.1, 0.4, 0.9]), argnums=1, engine="compiled", smooth=True)
def a_method_mapped_in_the_middle_of_an_expression(y, x):
    counter = Counter(x * 1)
    return np.sum(counter.u * sum(map(counter.step, y))) + np.sum(counter.u)
