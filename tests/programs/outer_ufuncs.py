"""Functions of two numbers, of each entry of one array with each of another: ``np.maximum.outer``."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])
Y = np.array([[0.7, 1.1], [2.1, 0.3]])
SINGLE = X.astype(np.float32)


@program(X, Y, engine="compiled", argnums=(0, 1))
def of_two_arrays(x, y):
    a = np.maximum.outer(x, y) * np.arctan2.outer(x, y)
    return np.sum(a * np.hypot.outer(x, np.ravel(y)).reshape(3, 2, 2)) + np.sum(np.power.outer(x, y)[1])


@program(X, 1.3, engine="compiled", argnums=(0, 1))
def of_numbers(x, k):
    a = np.logaddexp.outer(k, x) * np.divide.outer(x, k)
    return np.sum(a) + np.minimum.outer(k, x[0]) * np.power.outer(2.0, k)


@program(SINGLE, 1.3, engine="compiled", argnums=(0, 1))
def of_singles_and_numbers(x, k):
    return np.sum(np.divide.outer(x, k) * np.maximum.outer(k, x) * np.multiply.outer(x, 0.1))


@program(X, engine="compiled")
def of_what_no_derivative_flows_through(x):
    near = np.less.outer(x, x)
    return np.sum(np.where(near, np.subtract.outer(x, x), 0.0) ** 2)


@program(X, engine="tape")
def of_a_list(x):
    return np.sum(np.maximum.outer([x[0], x[1]], x))
