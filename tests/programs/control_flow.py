"""Control flow that runs on the tape: while, break, continue, return in a loop, try, with, match."""

import contextlib

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])


@program(2.0, engine="compiled")
def newton(a):
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


@program(0.9, engine="compiled")
def while_counts(x):
    k = 0
    y = x
    while k < 5:
        y = y * x
        k += 1
    return y


@program(0.9, engine="compiled")
def while_never(x):
    while x > 10:
        x = x * 0.5
    return x * x


@program(0.9, engine="compiled")
def while_true_break(x):
    n = 0
    while True:
        x = x * 1.5
        n += 1
        if x > 4:
            break
    return x * n


@program(X, engine="compiled")
def break_in_for(x):
    s = 0.0
    for i in range(3):
        if i == 2:
            break
        s = s + x[i] ** 2
    return s * x[2]


@program(X, engine="compiled")
def continue_in_for(x):
    s = 1.0
    for v in x:
        if v < 0:
            continue
        s = s * v
    return s


@program(X, engine="compiled")
def return_in_for(x):
    s = 0.0
    for i in range(3):
        s = s + np.exp(x[i])
        if s > 1.8:
            return s * x[i]
    return s


@program(X, engine="compiled")
def break_skips_else(x):
    s = x[0]
    for i in range(3):
        s = s * x[2]
        if i == 1:
            break
    else:
        s = s * 100
    return s


@program(X, engine="compiled")
def nested_break(x):
    s = 0.0
    for i in range(3):
        for j in range(3):
            if j > i:
                break
            s = s + x[i] * x[j]
    return s


@program(0.7, engine="tape")
def try_except(x):
    try:
        y = x * x
        if y < 1:
            raise ValueError("small")
        y = y * 100
    except ValueError:
        y = x**3
    finally:
        y = y * 2
    return y


@program(X, engine="tape")
def with_block(x):
    with np.errstate(all="ignore"):
        y = x * x
    with contextlib.suppress(ZeroDivisionError):
        y = y * 2
        1 / 0  # noqa: B018
    return np.sum(y)


@program(0.7, "cube", engine="compiled")
def match_statement(x, kind):
    match kind:
        case "square":
            return x * x
        case "cube":
            return x**3
        case _:
            return x


@program(X, engine="compiled", smooth=True)
def nonlocal_state(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * v

    for v in x:
        add(v)
    return total


@program(X, engine="compiled")
def generator_function(x):
    def partial_sums(v):
        s = 0.0
        for entry in v:
            s = s + entry
            yield s

    return sum(s * s for s in partial_sums(x))


@program(X, engine="compiled")
def conjugate_gradients(b):
    a = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
    x = 0.0 * b
    r = b - a @ x
    p = r
    for _ in range(20):
        step = (r @ r) / (p @ (a @ p))
        x = x + step * p
        new = r - step * (a @ p)
        if np.linalg.norm(new) < 1e-9:
            break
        p = new + (new @ new) / (r @ r) * p
        r = new
    return np.sum(x**2)


@program(X, engine="compiled", smooth=True)
def else_without_break(x):
    s = 0.0
    for v in x:
        if v > 100:
            break
        s = s + v**2
    else:
        s = s * 3
    return s


@program(X, engine="compiled")
def else_of_while(x):
    i = 0
    s = x[0]
    while i < 3:
        if s > 1.5:
            break
        s = s + x[i] ** 2
        i += 1
    else:
        s = s * 100
    return s * x[2]


def first_above(x, level):
    for i, v in enumerate(x):
        for w in x:
            if v * w > level:
                return v * w * i
            if w < -10:
                break
    return x[0] * 3


@program(X, engine="compiled", smooth=True)
def returns_in_nested_loops(x):
    return first_above(x, 2.5) + first_above(x, 100.0) * x[1]


@program(np.linspace(0.5, 1.5, 4), engine="compiled", smooth=True)
def array_returned_in_a_loop(x):
    def step(v):
        for k in range(5):
            v = np.sin(v) + x * k
            if np.max(v) > 3:
                return v * v
        return v

    return np.sum(step(x)) + np.sum(step(x * 0.1))


@program(X, engine="compiled", smooth=True)
def break_and_continue_over_rows(x):
    table = np.outer(x, np.array([1.0, 0.5, -1.0, 3.0])) ** 2
    s = 0.0
    for k, row in enumerate(table):
        if row[0] > 2:
            continue
        if k == 2:
            break
        for entry in row:
            if entry > 1.5:
                continue
            s = s + entry * row[1]
    return s


@program(X, engine="compiled", smooth=True)
def break_over_reversed_list(x):
    terms = [x[0] * 2, x[1] ** 2, x[2] * x[0]]
    s = 1.0
    for t in reversed(terms):
        s = s * t
        if abs(s) > 2:
            break
    return s


@program(X, engine="compiled", smooth=True)
def break_over_zip(x):
    s = 0.0
    for a, b in zip(x, x[::-1]):
        s = s + a * b**2
        if s > 1:
            break
    return s


@program(1.2, engine="compiled", smooth=True)
def while_in_while(x):
    outer, total = 0, 0.0
    y = x
    while total < 20:
        inner = 0
        while True:
            y = np.sin(y) + x
            inner += 1
            if inner > outer:
                break
        total = total + y * y
        outer += 1
    return total


@program(3.0, engine="compiled", smooth=True)
def bisection(a):
    low, high = 0.0, a + 1.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        if middle**3 > a:
            high = middle
        else:
            low = middle
    return high * a


@program(X, 2.0, engine="compiled", argnums=(0, 1))
def while_over_an_array(x, k):
    n = 0
    while np.linalg.norm(x) < 30:
        x = x * k + np.sin(x)
        n += 1
        if n > 50:
            raise ValueError("does not grow")
    return np.sum(x) / n


@program(0.8, engine="compiled", smooth=True)
def zero_turns(x):
    for _ in range(0):
        x = x * 2
        if x > 1:
            break
    while x > 5:
        x = x * 0.5
        if x < 1:
            return x * 7
    return x**3


@program(0.4, 6, engine="compiled", smooth=True)
def collatz_like(x, n):
    y = x
    while n != 1:
        if n % 2:
            n = 3 * n + 1
            y = y * 1.1 + x
            continue
        n = n // 2
        y = np.cos(y)
    return y


@program(X, engine="compiled", smooth=True)
def last_value_of_a_loop(x):
    for i in range(3):
        y = x[i] ** 2
        if i == 1:
            z = y * 3
            break
        z = y
    return y * z


@program(1.0, engine="compiled")
def flag_kept_by_an_inert_loop(x):
    found = 5
    y = x * found
    found = 0
    for j in range(3):
        if j > 7:
            found = 1
    return y * x + x * found + (x if found == 0 else 2 * x)


@program(X, engine="compiled", smooth=True)
def container_returned_by_an_endless_loop(x):
    def grow(v):
        while True:
            v = v * 1.5
            if abs(np.sum(v)) > 10:
                return {"v": v, "s": np.sum(v)}

    d = grow(x)
    return d["s"] * np.sum(d["v"] ** 2)


@program(X, engine="compiled", smooth=True)
def inner_loop_with_else_in_a_while(x):
    r, turns = x, 0
    while np.linalg.norm(r) > 0.1 and turns < 10:
        for j in range(3):
            if abs(r[j]) < 0.47:
                break
        else:
            r = r * 0.9
        r = r - 0.3 * np.sin(r)
        turns += 1
    return np.sum(r**2) + turns


@program(X, engine="compiled", smooth=True)
def exit_deep_in_branches(x):
    s = 0.0
    for i in range(6):
        if i > 1:
            if s > 2:
                break
            s = s + 0.1
        elif i == 0:
            s = s + x[1] ** 2
        s = s + x[0] * i
        if s < -5:
            return s * s
        s = s * x[2]
    return s


@program(X, engine="compiled", smooth=True)
def inert_loop_may_not_bind_a_live_name(x):
    v = x[0] * x[1]
    w = x[2] ** 2
    for i in range(3):
        if i > 5:
            v = 0.0
    for _ in range(0):
        w = 1.0
    return v * w


@program(X, engine="compiled", smooth=True)
def else_leaves_the_outer_loop(x):
    s = 0.0
    for v in x:
        for i in range(2):
            s = s + v * i
        else:
            if s > 0.4:
                break
        s = s * 2 + v**2
    return s


@program(X**2, engine="compiled", smooth=True)
def errstate_around_a_loop(x):
    with np.errstate(all="ignore"):
        y = np.log(x) * 2
        for _ in range(2):
            y = y * x
    return np.sum(y)


@program(X, engine="compiled", smooth=True)
def return_inside_errstate(x):
    for v in x:
        with np.errstate(divide="ignore"):
            s = 1 / v
            if s > 1:
                s = s * 2
        if s < 0:
            with np.errstate(all="ignore"):
                return s * x[0]
    return x[0]


@program(0.7, 3, engine="compiled", smooth=True, name="match_with_capture")
def match_with_capture(x, n):
    match n * 2:
        case 4 | 8:
            y = x
        case None:
            return x
        case other:
            y = x**other
    return y * y


@program(X, 2.0, engine="compiled", argnums=(0, 1))
def part_of_an_array_that_a_return_may_come_before(x, k):
    u = x[0:]
    held = [1.0 / x]
    while k < 1.0:
        u = held[0]
    with np.errstate(all="ignore"):
        if k > 0.5:
            x[2] = k
        else:
            return k
    held.insert(0, np.concatenate([u[2:], x[:2]]))
    return sum(np.sum(v * v) for v in held)


@program(0.7, 3, engine="compiled", smooth=True)
@program(0.7, 2, engine="compiled", smooth=True, name="match_pairs-even")
@program(0.7, 1, engine="compiled", smooth=True, name="match_pairs-guarded")
@program(0.7, 0, engine="compiled", smooth=True, name="match_pairs-zero")
def match_pairs(x, n):
    k = 5
    y = x * k
    match (n, n % 2):
        case (0, _):
            y = y * x
        case (k, 1) if k > 1:
            y = np.sin(y) * k
        case (k, 0 | 4) as both:
            y = y + x**k
            y = y * both[0]
        case _:
            y = -y
    return y * k


@program(0.7, 3, engine="compiled", smooth=True)
@program(0.7, 2, engine="compiled", smooth=True, name="match_binds_what_is_saved-even")
def match_binds_what_is_saved(x, n):
    k = n - 1
    y = np.sin(x) * k
    match (n, n % 2):
        case (k, 1) if k > 1:
            pass
    return y * k


@program(0.7, {"k": 3}, engine="tape", smooth=True)
def match_of_a_mapping(x, options):
    k = 2
    y = np.sin(x) * k
    match options:
        case {"k": k}:
            pass
    return y * k


@program(0.7, 0.3, engine="compiled", smooth=True)
@program(0.7, 1.3, engine="compiled", smooth=True, name="match_on_what_flows-more")
def match_on_what_flows(x, y):
    for i in range(4):
        match (i, x * y):
            case (0, z) if z > 0.5:
                x = x * z
            case (1, z):
                y = y + z * z
            case (2, z) | (3, z) if z < 0.0:
                return x
            case _:
                x = x * y
    return x * y


@program(np.array([0.5, 1.5, 0.7]), engine="compiled", smooth=True)
def loops_that_bind_what_only_they_read(x):
    s = x[0]
    for j in range(2):
        k = 0
        while k < 2:
            k += 1
            p = (np.ones(3), k)
            u, v = p
            for _ in range(v):
                if u[0] > 0.0:
                    break
        with np.errstate(all="ignore"):
            w = np.float64(j) / j
            n = int(w > 0.5)
        s = s * x[j + n]
    return s
