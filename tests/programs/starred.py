"""``*`` in lists and tuples that are written down, of lists, tuples and arrays."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, -0.7, 1.2])
PAIR = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]


@program(X, engine="compiled", smooth=True)
def array_and_a_number(x):
    return np.sum(np.array([*x, 1.0]) ** 3)


@program(X, engine="compiled", smooth=True)
def array_in_the_middle(x):
    v = np.array([x[0] * x[1], *x, *x[::-1], x[0]])
    return np.sum(v[1:] * v[:-1] ** 2)


@program(X, engine="compiled", smooth=True)
def list_of_known_length(x):
    xs = [x, x * 2]
    ys = [*xs, x**2]
    return np.sum(np.array(ys) ** 2) * len(ys)


@program(PAIR, np.array([0.5, 0.2]), engine="compiled", argnums=(0, 1))
@program(PAIR, np.array([0.5, 0.2]), engine="compiled", argnums=1, smooth=True, name="list_argument_x")
def list_argument(xs, y):
    return np.sum(np.stack([*xs, y * y]) ** 2)


@program(X, engine="compiled", smooth=True)
def tuple_of_what_is_left(x):
    a, b, *c = (x[0], x[1] * x[2], x[1], x[2])
    v = (a, *c, b)
    return v[0] * v[1] * v[2] + v[3] ** 2


@program(X, engine="compiled", smooth=True)
def twice_the_same(x):
    xs = [x[0], x[1]]
    ys = [*xs, *xs, x[2]]
    ys[0] = ys[0] * 2.0
    return sum(y * y * (i + 1) for i, y in enumerate(ys)) * xs[0]


@program(X, engine="compiled", smooth=True)
def rows_and_another(x):
    a = np.outer(x, x)
    return np.sum(np.stack([*a, x]) ** 2)


@program(X, engine="compiled", smooth=True)
def list_built_in_a_loop(x):
    xs = []
    for v in x:
        if v > 0:
            xs.append(v * v)
    ys = [1.0, *xs, x[1]]
    return sum(ys) * ys[1] * len(ys)


@program(X[:0], engine="compiled", smooth=True)
def empty_array(x):
    return np.sum(np.array([*x, 1.0, *x]) ** 2) + np.sum(x**2)


@program(X, engine="compiled", smooth=True)
def appended_to_afterwards(x):
    xs = [*x]
    xs.append(x[0] * x[1])
    return sum(v * v for v in xs)


@program(X, engine="tape", smooth=True)
def array_written_to_afterwards(x):
    a = np.outer(x, x)
    rows = [*a, x]
    a[1] = 2.0 * x
    return np.sum(rows[1] * rows[2]) + np.sum(rows[-1] ** 2)


@program(X, engine="compiled", smooth=True)
def array_written_to_that_is_an_item(x):
    a = x * 1.0
    pair = [a, x * x]
    three = [*pair, a]
    a[1] = x[0]
    return np.sum(three[0] * three[1]) + np.sum(three[2] ** 2)


@program(X, engine="tape", smooth=True)
def row_written_to_afterwards(x):
    a = np.outer(x, x)
    rows = [*a]
    rows[1][:] = 2.0 * x
    return np.sum(a * a)


@program(X, engine="compiled", smooth=True)
def constants_among_them(x):
    c = np.arange(3.0)
    return np.sum(np.array([*c, x[0], *x]) ** 2)


@program(X, engine="tape", smooth=True)
def tuple_of_an_array(x):
    v = (*x, 1.0)
    return v[0] * v[1] * v[-1]
