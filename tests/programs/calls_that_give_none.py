"""Calls that write into something give None, to whoever asks what they give; those with `out` give that."""

import numpy as np

from tests.programs.corpus import program

X = np.array([1.3, 0.7, 2.1])


@program(X, engine="compiled")
def sort(x):
    y = x * 1.0
    z = y.sort()
    return np.sum(y * x) if z is None else np.sum(x)


@program(X, engine="compiled")
def fill(x):
    y = x * 1.0
    z = y.fill(x[0])
    if z is None:
        return np.sum(y * x)
    return np.sum(x)


@program(X, engine="compiled")
def copyto(x):
    y = np.empty(3)
    z = np.copyto(y, x * 3)
    return np.sum(y * x) if z is None else np.sum(x)


@program(X, engine="compiled")
def put(x):
    y = x * 1.0
    z = np.put(y, [0], [x[1]])
    q = y.put([2], [x[0]])
    return np.sum(y * x) if z is None and q is None else np.sum(x)


@program(X, engine="compiled")
def at(x):
    y = x * 1.0
    z = np.add.at(y, [0, 0], x[1])
    if z:
        return np.sum(x)
    return np.sum(y * x)


@program(X, engine="compiled")
def fill_diagonal(x):
    m = np.outer(x, x)
    z = np.fill_diagonal(m, 1.0)
    return np.sum(m[0] * x) if z is None else np.sum(x)


@program(X, engine="compiled")
def of_what_no_derivative_flows_through(x):
    w = np.array([3.0, 1.0, 2.0])
    z = w.sort()
    return np.sum(w * x * x) if z is None else np.sum(x)


@program(X, engine="compiled")
def out(x):
    y = x * 1.0
    z = np.add(y, x, out=y)
    q = np.multiply(z, x, z)
    return np.sum(q * x) if z is not None else np.sum(x)
