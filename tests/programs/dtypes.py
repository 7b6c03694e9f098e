"""Precision and kinds: float32, integers, mixed, NumPy scalars."""

import numpy as np

from tests.programs.corpus import program

S = np.array([0.5, -1.5, 2.0], dtype=np.float32)
D = np.array([0.1, 0.2, 0.3])


@program(S, engine="compiled")
def single(x):
    return np.sum(np.sin(x) * x)


@program(S, D, engine="compiled", argnums=(0, 1))
def single_meets_double(x, d):
    return np.sum(x * d) + np.sum(x**2)


@program(S, 2.0, engine="compiled", argnums=(0, 1))
def single_meets_number(x, a):
    return np.sum(x * a + a)


@program(np.float32(1.5), engine="compiled")
def single_scalar(x):
    return x * x + np.exp(x)


@program(S, engine="compiled")
def single_reductions(x):
    return np.mean(x) * np.var(x) + np.max(x) * np.prod(x)


@program(S.reshape(3, 1), S.reshape(1, 3), engine="compiled", argnums=(0, 1))
def single_products(a, b):
    return np.sum(a @ b) + (b @ a)[0, 0]


@program(S, engine="compiled")
def cast_to_double(x):
    return np.sum(x.astype(np.float64) ** 2 * D)


@program(D, engine="compiled")
def double_argument_single_constant(x):
    return np.sum(x * S)


@program(3, engine="compiled")
def integer(x):
    return x * x


@program(np.arange(4), engine="compiled")
def integer_array(x):
    return np.sum(x**2) * 1.5


@program([1, np.array([2, 3])], engine="compiled")
def integers_in_a_tree(p):
    return p[0] * np.sum(p[1] ** 2)


@program(D, np.arange(3), engine="compiled")
def integer_not_differentiated(x, n):
    return np.sum(x**n * n)


@program(D, True, engine="compiled")
def flag_not_differentiated(x, flag):
    return np.sum(x * flag) + np.sum(x[np.array([flag, False, flag])])


@program(D, engine="compiled")
def integer_results_on_the_way(x):
    n = np.sum(x > 0.15)
    return np.sum(x) * n / (n + 1)


@program(np.array(2.0, dtype=np.float32), engine="compiled")
def zero_dimensional_single(x):
    return x**3


@program(np.float64(2.0), np.float64(0.5), engine="compiled", argnums=(0, 1))
def double_scalars(x, y):
    return x**y * np.log(y + x)
