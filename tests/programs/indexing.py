"""Reads through every kind of index."""

import numpy as np

from tests.programs.corpus import program

X = np.linspace(-1.0, 2.0, 6)
M = np.arange(1.0, 13.0).reshape(3, 4) / 6
INDEX = np.array([0, 2, 2, -1])
MASK = np.array([True, False, True, True, False, False])


@program(X, engine="compiled", smooth=True)
def slices(x):
    return np.sum(x[1:] * x[:-1]) + np.sum(x[::2] ** 2) + np.sum(x[-3:])


@program(X, engine="compiled")
def negative_steps(x):
    return np.sum(x[::-1] * x * np.arange(6)) + np.sum(x[4:1:-2] ** 2) + np.sum(x[-1:-4:-1] * x[:3])


@program(X, engine="compiled")
def overlapping_slices(x):
    return np.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2)


@program(X, engine="compiled")
def single_entries(x):
    return x[0] * x[-1] + x[np.int64(2)] ** 2 + x[0] * x[0]


@program(X, engine="compiled", smooth=True)
def repeated_indices(x):
    return np.sum(x[INDEX] ** 2 * np.arange(4)) + np.sum(x[[1, 1, 1]] ** 3)


@program(X, engine="compiled")
def masks(x):
    return np.sum(x[MASK] ** 2) + np.sum(np.sin(x[x > 0])) + np.sum(x[~MASK])


@program(X, engine="compiled")
def mask_selects_nothing(x):
    return np.sum(x[x > 100] ** 2) + np.sum(x)


@program(M, engine="compiled")
def matrices(m):
    return np.sum(m[1] * m[:, 2][:, None].T[0, 0]) + m[2, 3] * m[-1, 0] + np.sum(m[1:, ::2] ** 2)


@program(M, engine="compiled")
def ellipsis_and_new_axis(m):
    return np.sum(m[..., 0] ** 2) + np.sum(m[None, ..., 1] * m[:, None, 2]) + np.sum(m[..., None, :] ** 3)


@program(M, engine="compiled")
def pairs_of_index_arrays(m):
    rows, columns = np.array([0, 1, 2, 0]), np.array([3, 3, 0, 3])
    return np.sum(m[rows, columns] ** 2) + np.sum(m[rows] * m[rows, :]) + np.sum(m[1:, [0, 0]])


@program(M, engine="compiled")
def index_arrays_that_broadcast(m):
    return np.sum(m[np.array([[0], [2]]), np.array([1, 1, 3])] ** 2) + np.sum(m[np.ix_([0, 2], [1, 3])])


@program(M, engine="compiled")
def mask_of_a_matrix(m):
    return np.sum(m[m > 1.1] ** 2) + np.sum(m[np.array([True, False, True])] ** 3)


@program(M, engine="compiled")
def index_of_an_index(m):
    return np.sum(m[1:][1][::-1][1:3] ** 2) + m[0][1] * m[0][1]


@program(X, engine="compiled")
def computed_indices(x):
    i = int(np.argmax(x))
    k = len(x) // 2
    return x[i] * x[k] + np.sum(x[k - 1 : k + 1] * x[i - 1])


@program(X, np.array([3, 1, 1]), engine="compiled")
def index_as_argument(x, index):
    return np.sum(x[index] ** 2)


@program(X, engine="compiled")
def sorted_by_argsort(x):
    return np.sum(x[np.argsort(-x)][:3] * np.arange(1.0, 4.0))


@program(X, engine="compiled")
def slice_object(x):
    window = slice(1, 4)
    return np.sum(x[window] ** 2)


@program(X, engine="compiled")
def empty_slice(x):
    return np.sum(x[3:3]) + np.sum(x[0:0] ** 2) + x[1]


@program(X, engine="compiled")
def whole_slice(x):
    return np.sum(x[:] * x[...]) + np.sum(x[()] ** 2)


@program(M, engine="compiled")
def entry_by_entry(m):
    s = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            s = s + m[i, j] * m[i, (j + 1) % 4]
    return s


@program(X, 2, engine="compiled")
def lagged_difference(x, lag):
    return np.sum((x[lag:] - x[:-lag]) ** 2) + np.sum(x[:, None][::lag, 0])


@program(M, engine="compiled")
def columns_in_a_loop(m):
    s = 0.0
    for j in range(4):
        s = s + np.sum(m[:, j]) ** 2 * j
    return s


@program(np.array([0.3, 1.2, 0.8]), engine="compiled")
def places_where_a_constant_is_large(x):
    (places,) = np.where(np.linspace(0.1, 1.0, 3) > 0.5)
    x[places] *= x[0]
    return np.sum(x[places] ** 2) + np.sum(x)


@program(np.array([0.3, 1.2, 0.8]), np.array([0.5, 0.7, -0.4]), engine="compiled", argnums=(0, 1))
def stored_sum_of_some(x, y):
    x[0] = np.sum(x, where=y > 0)
    return np.sum(x**2 * y)


@program(np.array([0.3, 1.2, 0.8]), engine="compiled")
def stored_results_of_reduce_and_accumulate(x):
    x[0] = np.add.reduce(x) * np.multiply.reduce(x)
    x[1] += np.maximum.reduce(x)
    u = np.add.accumulate(x)
    u[:2] *= np.multiply.accumulate(x)[1:]
    return np.sum(u**2)
