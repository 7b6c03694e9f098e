"""Shapes that meet: broadcasting, 0-d and empty arrays, reductions and shape functions."""

import math

import numpy as np

from tests.programs.corpus import program

M = np.arange(1.0, 7.0).reshape(2, 3) / 4
ROW = np.array([0.3, -1.2, 0.8])
COLUMN = np.array([[0.5], [1.5]])
CUBE = np.linspace(-1.0, 1.0, 24).reshape(2, 3, 4) ** 3 + 0.3


@program(M, ROW, engine="compiled", argnums=(0, 1))
def row_onto_matrix(m, r):
    return np.sum(np.tanh(m * r) + r)


@program(COLUMN, ROW, engine="compiled", argnums=(0, 1))
def outer_by_broadcasting(c, r):
    return np.sum((c - r) ** 2 * c)


@program(0.7, M, engine="compiled", argnums=(0, 1))
def number_onto_matrix(a, m):
    return np.sum(a * m + a) + np.sum(a - np.exp(-m) / a)


@program(np.array(0.7), M, engine="compiled", argnums=(0, 1))
def zero_dimensional(a, m):
    return np.sum(a * m) * a


@program(np.array([0.7]), M, engine="compiled", argnums=(0, 1))
def one_element(a, m):
    return np.sum(a * m) * a[0]


@program(np.zeros((0, 3)), ROW, engine="compiled", argnums=(0, 1))
def empty_meets_row(e, r):
    return np.sum(e * r) + np.sum(r * r)


@program(np.zeros(0), engine="compiled")
def empty(x):
    return np.sum(np.sin(x) * x)


@program(0.4, engine="compiled")
def number_of_an_array_without_axes(x):
    return math.sqrt(np.asarray(x))


@program(np.array(0.4), engine="compiled")
def number_of_a_transposed_point(x):
    return math.sqrt(np.transpose(x))


@program(np.array(0.4), engine="compiled", smooth=True)
def zero_dimensional_in_zero_dimensional_out(x):
    return np.sin(x) * x


@program(np.ones((1, 3, 1)) * 0.5, M, engine="compiled", argnums=(0, 1))
def ones_in_the_shape(a, m):
    return np.sum((a + m[:, :, None] * m[:, None, :]) ** 2)


@program(ROW, engine="compiled")
def broadcast_but_unused_rows(r):
    return np.sum((np.zeros((4, 3)) + r)[0] * r)


@program(CUBE, engine="compiled", smooth=True)
def sums_over_axes(x):
    a = np.sum(x, axis=1)
    b = np.sum(x * x, axis=(0, -1), keepdims=True)
    c = x.sum(axis=-2, keepdims=True)
    return np.sum(np.sin(a)) + np.sum(b * x) + np.sum(c * c)


@program(CUBE, engine="compiled", smooth=True)
def means_and_variances(x):
    return (
        np.sum(np.mean(x, axis=0) ** 2)
        + np.sum(np.var(x, axis=(1, 2)) ** 2)
        + np.std(x)
        + np.sum(x.std(axis=-1, ddof=1, keepdims=True) * x)
        + x.mean() * x.var()
    )


@program(CUBE, engine="compiled")
def largest_and_smallest(x):
    return np.sum(np.max(x, axis=1) * 2) + x.min() * np.sum(
        x.max(axis=(0, 2), keepdims=True) - np.amin(x, axis=-1)[0, 0]
    )


@program(M, engine="compiled", smooth=True)
def products(m):
    return np.prod(m) + np.sum(np.prod(m, axis=1) ** 2) + np.sum(m.prod(axis=0, keepdims=True) * m)


@program(CUBE, engine="compiled")
def moved_around(x):
    a = np.reshape(x, (6, 4))
    b = x.reshape(3, -1).T
    c = np.transpose(x, (2, 0, 1))
    d = x.transpose(1, 2, 0)
    e = np.swapaxes(x, 0, 2)
    f = np.moveaxis(x, 0, -1)
    return np.sum(a[1] * a[4]) + np.sum(b[0] * b[1]) + np.sum(c[0] * c[1]) + np.sum(d * f) + np.sum(e[0] ** 2)


@program(M, engine="compiled")
def dimensions_in_and_out(m):
    a = np.expand_dims(m, 1)
    b = np.squeeze(a * 2, axis=1)
    c = m[None, :, None]
    d = np.squeeze(c)
    return np.sum(b * d) + np.sum(m.ravel() ** 3) + np.sum(np.ravel(m)[1:3]) + np.sum(m.flatten() * 2)


@program(ROW, engine="compiled")
def broadcast_explicitly(r):
    return np.sum(np.broadcast_to(r, (4, 3)) * np.arange(12.0).reshape(4, 3)) + np.sum(np.broadcast_to(r[0], (2, 2)))


@program(M, ROW, engine="compiled", argnums=(0, 1))
def put_together(m, r):
    a = np.concatenate([m, r[None, :]])
    b = np.stack([m[0], r, r * r], axis=1)
    c = np.concatenate((m, m * 2), axis=1)
    return np.sum(a**2) + np.sum(b[1] * b[2]) + np.sum(c[:, 1:5] ** 2)


@program(np.arange(6.0) / 3, engine="compiled")
def split_apart(x):
    a, b, c = np.split(x, 3)
    first, second = np.split(x, [2])
    return np.sum(a * b * c) + np.sum(first) * np.sum(second**2)


@program(M, engine="compiled")
def clipped_and_chosen(m):
    return np.sum(np.clip(m, 0.4, 1.1) * m) + np.sum(np.where(m > 0.8, m**2, -m)) + np.sum(np.maximum(m, 0.9 - m))


@program(M, ROW, engine="compiled", argnums=(0, 1))
def where_broadcasts(m, r):
    return np.sum(np.where(r > 0, m, r) ** 2) + np.sum(np.where(True, r, 0.0))


@program(ROW, COLUMN, engine="compiled", argnums=(0, 1))
def extremes_broadcast(r, c):
    return np.sum(np.maximum(r, c) * np.minimum(c, r) + np.minimum(r, 0.1))


@program(np.float64(0.6), M, engine="compiled", argnums=(0, 1))
def numpy_scalar(a, m):
    return np.sum(a * m) ** 2 / a


@program(M, engine="compiled")
def scalar_result_of_shape_nothing(m):
    return np.sum(m * m, keepdims=True).reshape(())


@program(np.zeros((2, 0)), engine="compiled")
def sum_over_nothing(x):
    return np.sum(np.sum(x, axis=1) + 1.0)
