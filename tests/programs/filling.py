"""Calls that fill parts of arrays: what is written is repeated, or cut off, as often as there are places."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])


@program(X, engine="compiled", smooth=True)
def put(x):
    u = np.zeros(5)
    np.put(u, [0, 2], x[:2])
    np.put(u, [1, 3, 4, 1], x[1:])
    u.put(np.array([[2, -1]]), x * 2)
    return np.sum(u * u * np.arange(1.0, 6.0))


@program(X, engine="compiled", smooth=True)
def put_into_a_view(x):
    u = np.outer(x, x)
    np.put(u[1], 2, x[0])
    np.put(u, [0, 4], [x[0], 3.0])
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def putmask(x):
    u = x * 1.0
    np.putmask(u, u > 1, x**2)
    np.putmask(u, u < 3, x[:2] * u[0])
    return np.sum(u * x)


@program(X, engine="compiled", smooth=True)
def place(x):
    u = np.outer(x, x)
    np.place(u, u > 1.1, x**2)
    np.place(u, u > 3, 2.0 * x[0])
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def diagonals(x):
    u, v = np.outer(x, x), np.outer(x[:2], x)
    np.fill_diagonal(u, x**2)
    np.fill_diagonal(v, x)
    return np.sum(u * u) + np.sum(v[0] * v[1])


@program(X, engine="compiled", smooth=True)
def flat(x):
    u = np.outer(x, x)
    u.flat[2] = x[0]
    u.flat[3:5] = x[1] * 2
    u.flat[0] *= x[2]
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def flat_repeated(x):
    u = np.outer(x, x)
    u.flat[2:7] = x[:2]
    return np.sum(u * u)


@program(X, engine="tape", smooth=True)
def flat_repeated_from_a_part_that_may_be_empty(x):
    u = np.outer(x, x)
    u.flat[2:7] = x[x > x[0] / 2]
    return np.sum(u * u)


@program(X, engine="compiled")
def ordered(x):
    u = np.outer(x[::-1], x)
    u.sort(axis=0)
    v = x[::-1] * 1.0
    v.partition(1)
    v[0] = x[1]
    return np.sum(u * np.arange(9.0).reshape(3, 3)) * np.sum(v * x)


@program(X, engine="compiled", smooth=True)
def masked_into_a_row(x):
    u = np.ones((2, 3))
    np.sqrt(x, out=u[0], where=x > 1)
    np.multiply(x, u[0], out=u[1, :])
    return np.sum(u * u)


def doubled_into(u, x):
    np.putmask(u, x > 1.2, 2 * x)
    np.copyto(u[:1], x[1:2], where=x[:1] < 0.9)


@program(X, engine="compiled", smooth=True)
def filled_by_a_helper(x):
    u = np.zeros(3)
    for k in range(2):
        doubled_into(u, x * (k + 1))
        u[k] *= x[2]
    return np.sum(u * u)


@program(X, engine="tape", smooth=True)
def diagonal_of_what_is_lost(x):
    m = np.outer(x, x)
    for _ in range(2):
        v = x * 2 if x[0] > 0.2 else m[:, 1]
    v[2] = x[0]
    np.fill_diagonal(m, x)
    return np.sum(m * m) + np.sum(v)


@program(X, engine="compiled", smooth=True)
def arrays_of_the_class(x):
    a, b = np.ndarray((2, 3), dtype=np.float64), np.ndarray(shape=3)
    a[:] = x
    b[0], b[1:] = a[0, 1] * x[2], x[:2]
    return np.sum(a * a) + np.sum(b**3) if isinstance(x, np.ndarray) else 0.0


@program(X, engine="tape", smooth=True)
def put_as_far_as_it_goes(x):
    y, z = x * 1.0, x * 2.0
    turned = np.outer(x, x).T
    for a, values in ((y, x[:2] * x[0]), (z[::-1], x[1:] * 3.0), (turned, x), (z, [])):
        try:
            np.put(a, [0, -1, 99, 1], values)
        except IndexError:
            y *= 2.0
    return np.sum(y * x) + np.sum(z * z) + np.sum(turned)
