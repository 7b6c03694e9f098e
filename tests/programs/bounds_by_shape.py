"""Bounds that are read off the very array that a loop changes: `u.shape`, `len(u)`, `u.size`."""

import numpy as np

from tests.programs.corpus import program

F = np.array([[0.5, -1.5, 2.0, 1.0], [1.0, 0.3, -0.7, 2.0], [0.2, 0.4, 0.9, -1.1]])
X = np.array([0.5, -1.5, 2.0, 0.7])


@program(F, 2, engine="compiled")
def points_within_the_border(f, sweeps):
    u = np.zeros((f.shape[0] + 2, f.shape[1] + 2))
    for _ in range(sweeps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i - 1, j - 1] ** 2)
    return np.sum(u * u)


@program(X, engine="compiled")
def slices_up_to_the_length(x):
    u = x.copy()
    for _ in range(3):
        u[1 : len(u)] = u[: len(u) - 1] * x[1:]
    return np.sum(u * u)


@program(F, engine="compiled")
def parts_of_rows(f):
    u = f * 1.0
    for i in range(u.shape[0]):
        u[i, 1 : u.shape[1] - 1] = u[i, 1 : u.shape[1] - 1] * f[i, 0]
    return np.sum(u * u)


@program(X, engine="compiled")
def divided_by_the_size(x):
    u = x.copy()
    for i in range(u.ndim, u.size):
        u[i] = u[i - 1] * x[i] / u.size + i / len(u)
    return np.sum(u * u)


@program(X, engine="compiled")
def of_an_array_that_gets_shorter(x):
    u = x * x
    t = 0.0
    while len(u) > 1:
        u = u[1:] * u[: len(u) - 1]
        u[0] = u[len(u) - 1] / u.shape[0]
        t = t + np.sum(u) * u.size
    return t


@program(X, 3, engine="compiled")
def of_one_of_two_arrays(x, n):
    u = x.copy()
    v = np.concatenate((x, x))
    for i in range(n):
        w = u if i % 2 else v
        t = w[len(w) - 1] * x[0]
        u[i] = t * len(w)
    return np.sum(u * u)


@program(X, 2, engine="compiled")
def in_branches(x, n):
    u = x.copy()
    for i in range(n):
        if u[i] > 0:
            u[i : u.shape[0] - 1] *= x[i]
        else:
            u[: len(u) - i] = u[len(u) - 1] * x[i]
    return np.sum(u * u)
