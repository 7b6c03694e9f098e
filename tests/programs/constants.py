"""Constants stored in arrays beside active values: what methods, generators and grids give is known to be real."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5])
POINTS = np.array([[0.0, 0.1], [0.2, 0.0], [1.0, 0.9], [0.8, 1.2]])


@program(X, engine="compiled", smooth=True)
def methods_of_constants(x):
    grid = np.arange(6.0).reshape(3, 2)
    rows = np.zeros((4, 2))
    rows[0] = grid.sum(axis=0) * x
    rows[1] = POINTS.mean(axis=0) + x
    rows[2] = POINTS[np.array([True, False, True, True])].max(axis=0) * x**2
    rows[3] = grid.T[1, :2] * x[0]
    return np.sum(rows**2)


@program(X, engine="compiled", smooth=True)
def random_numbers(x):
    rng = np.random.default_rng(3)
    state = np.random.RandomState(1)
    u = np.zeros((2, 3))
    u[0] = rng.normal(size=3) * x[0] + state.rand(3)
    u[1] = x[1] * rng.uniform(0.5, 1.0, 3) * state.normal() + rng.random()
    return np.sum(u**3)


@program(X, engine="compiled", smooth=True)
def quadrature_and_matrices(x):
    places, weights = np.polynomial.legendre.leggauss(3)
    u = np.zeros((2, 3))
    u[0] = np.exp(-x[0] * places**2) * weights
    u[1, :2] = np.linalg.cholesky(np.diag([1.0, 4.0]))[:, 1] * x[1]
    u[1, 2] = np.fft.fftfreq(4)[1] * x[1]
    return np.sum(u * u)


@program(np.arange(1.0, 10.0).reshape(3, 3), engine="compiled", smooth=True)
def blocks_and_flat_copies(x):
    u = x.copy()
    u[np.ix_([0, 2], [1, 2])] *= 2
    flat = u.flatten()
    flat[2] = flat[0] * flat[1]
    return np.sum(u[np.ix_([2, 0], [0, 1])] ** 2) + np.sum(flat * flat) * 0.01


@program(np.array([[0.2, 3.0, 8.0], [2.0, 0.1, 1.5], [5.0, 7.0, 0.3]]), engine="compiled")
def shortest_paths_of_outer_sums(path):
    for k in range(3):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return np.sum(path**2)
