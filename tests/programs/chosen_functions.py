"""Functions of which only the run knows which they are: chosen by a test, by a branch, by a key of a table."""

import functools

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0, 0.7])


def square(v):
    return v * v


def cube(v):
    return v**3


def scaled(v, w=2.0):
    return v * w


def set_first(a):
    a[0] = 1.0
    return a[1]


def add_to_first(a):
    a[0] += 2.0
    return a[0]


ACTIVATIONS = {"square": square, "cube": cube, "tanh": np.tanh}
STEPS = [square, cube, np.sin, lambda v: v * 3.0]
METHODS = {"square": square, "sin": np.sin, "scaled": scaled}


@program(X, engine="compiled", smooth=True)
def by_an_expression(x):
    f = square if x[0] > 0 else cube
    return np.sum(f(x)) * f(x[2])


@program(X, engine="compiled", smooth=True)
def in_each_turn(x):
    s = 0.0
    for v in x:
        f = square if v > 0 else cube
        s += f(v)
    return s


@program(X, "relu", engine="compiled")
def activation_by_its_name(x, kind):
    if kind == "relu":
        act = lambda v: np.maximum(v, 0)  # noqa: E731
    elif kind == "tanh":
        act = np.tanh
    else:
        raise ValueError(kind)
    return np.sum(act(x) ** 2)


@program(X, 2, engine="compiled", smooth=True)
def in_branches(x, n):
    if n == 0:
        f = square
    elif n == 1:
        f = cube
    elif n == 2:

        def f(v):
            return v * n * x[0]
    else:
        f = lambda v: v  # noqa: E731
    return np.sum(f(x)) ** 2


@program(X, "cube", engine="compiled", smooth=True)
def in_a_table(x, name):
    return np.sum(ACTIVATIONS[name](x))


@program(X, ["square", "cube", "tanh"], engine="compiled", smooth=True)
def layers_by_name(x, names):
    for name in names:
        x = ACTIVATIONS[name](x)
    return np.sum(x)


@program(X, engine="compiled", smooth=True)
def in_a_list(x):
    s = 0.0
    for i in range(len(x)):
        s += STEPS[i % 3](x[i]) * STEPS[-1](x[0])
    return s


@program(X, ["cube", "square", "tanh"], engine="compiled", smooth=True)
def in_a_comprehension(x, names):
    return sum(ACTIVATIONS[n](v) for n, v in zip(names, x))


@program(X, True, engine="compiled", smooth=True)
def choice_of_choices(x, flag):
    f = np.sin if flag else np.cos
    g = f if x[0] > 3 else (cube if flag else square)
    return np.sum(f(x)) * g(x[2])


@program(X, engine="compiled", smooth=True)
def passed_to_others(x):
    f = square if x[0] > 0 else (lambda v: v * x[1])

    def apply(g, v):
        return g(v) * 2

    return apply(f, x[1]) + sum(map(f, x))


@program(X, engine="compiled", smooth=True)
def partly_applied_before(x):
    part = functools.partial(scaled, w=x[1])
    f = part if x[3] < 5 else square
    return f(x[2]) * x[0]


@program(X, engine="tape", smooth=True)
def partly_applied_in_a_branch(x):
    if x[3] < 5:
        f = functools.partial(scaled, w=x[1] * 2)
    else:
        f = square
    return f(x[2]) * x[0]


@program(X, engine="tape", smooth=True)
def chosen_in_a_branch(x):
    if x[0] < 5:
        f = square if x[1] * x[0] > 0 else cube
    else:
        raise ValueError
    return f(x[2]) * x[0]


@program(X, engine="compiled", smooth=True)
def chosen_in_a_branch_by_what_was_there_before(x):
    test = x[1] * x[0] > 0
    if x[0] < 5:
        f = square if test else cube
    else:
        raise ValueError
    return f(x[2]) * x[0]


@program(X, engine="tape", smooth=True)
def made_in_a_branch(x):
    def times(w):
        return lambda v: v * w

    if x[3] < 5:
        f = times(x[1] * 2)
    else:
        f = square
    return f(x[2]) * x[0]


@program(X, engine="compiled", smooth=True)
def that_reads_what_changes_later(x):
    k = 1.0
    f = (lambda v: v * k) if x[0] > 0 else square
    k = x[1]
    return f(x[2]) * k


@program(X, engine="compiled", smooth=True)
def that_no_derivative_flows_through(x):
    f = square if x[0] > 0 else cube
    return x[0] ** 2 * f(3)


@program(X, engine="compiled", smooth=True)
def in_a_while(x):
    i = 0
    s = 1.0
    while i < 4:
        if i % 2 == 0:
            step = square
        else:
            step = cube
        s = step(s) + x[i]
        i += 1
    return s


@program(X, engine="tape", smooth=True)
def another_in_the_next_turn(x):
    s = 0.0
    f = square
    for v in x:
        s += f(v)
        f = cube
    return s


@program(X, engine="tape", smooth=True)
def perhaps_another_in_the_next_turn(x):
    s = 0.0
    f = np.sin
    for v in x:
        s += f(v)
        if v > 0:
            f = np.cos
    return s


@program(X, engine="tape", smooth=True)
def another_closure_in_the_next_turn(x):
    s = 0.0
    f = lambda v: v * v  # noqa: E731
    for v in x:
        s += f(v)
        f = lambda v: v**3  # noqa: E731
    return s


@program(X, engine="tape", smooth=True)
def another_that_a_closure_reads(x):
    f = square

    def g(v):
        return f(v) * 2.0

    s = 0.0
    for v in x:
        s += g(v)
        f = cube
    return s


@program(X, engine="tape", smooth=True)
def that_write_into_an_array(x):
    a = x * 2
    f = set_first if x[0] > 0 else add_to_first
    y = f(a)
    return y * np.sum(a)


@program(X, "scaled", engine="tape", smooth=True)
def with_an_argument_that_not_all_take(x, name):
    return METHODS[name](x[0], w=x[1])
