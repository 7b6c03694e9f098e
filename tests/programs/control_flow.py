"""Control flow that runs on the tape: while, break, continue, return in a loop, try, with, match."""

import contextlib

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])


@program(2.0, engine="tape")
def newton(a):
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


@program(0.9, engine="tape")
def while_counts(x):
    k = 0
    y = x
    while k < 5:
        y = y * x
        k += 1
    return y


@program(0.9, engine="tape")
def while_never(x):
    while x > 10:
        x = x * 0.5
    return x * x


@program(0.9, engine="tape")
def while_true_break(x):
    n = 0
    while True:
        x = x * 1.5
        n += 1
        if x > 4:
            break
    return x * n


@program(X, engine="tape")
def break_in_for(x):
    s = 0.0
    for i in range(3):
        if i == 2:
            break
        s = s + x[i] ** 2
    return s * x[2]


@program(X, engine="tape")
def continue_in_for(x):
    s = 1.0
    for v in x:
        if v < 0:
            continue
        s = s * v
    return s


@program(X, engine="tape")
def return_in_for(x):
    s = 0.0
    for i in range(3):
        s = s + np.exp(x[i])
        if s > 1.8:
            return s * x[i]
    return s


@program(X, engine="tape")
def break_skips_else(x):
    s = x[0]
    for i in range(3):
        s = s * x[2]
        if i == 1:
            break
    else:
        s = s * 100
    return s


@program(X, engine="tape")
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


@program(0.7, "cube", engine="tape")
def match_statement(x, kind):
    match kind:
        case "square":
            return x * x
        case "cube":
            return x**3
        case _:
            return x


@program(X, engine="tape")
def nonlocal_state(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * v

    for v in x:
        add(v)
    return total


@program(X, engine="tape")
def generator_function(x):
    def partial_sums(v):
        s = 0.0
        for entry in v:
            s = s + entry
            yield s

    return sum(s * s for s in partial_sums(x))


@program(X, engine="tape")
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
