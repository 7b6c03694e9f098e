"""Programs that change arrays: stores, views, aliases, the caller's own arguments."""

import numpy as np

from tests.programs.corpus import program

X = np.array([1.0, 2.0, 3.0])
M = np.array([[1.0, 2.0], [3.0, 4.0]]) / 2
START = np.array([2.0, 0.5, 1.0])


@program(X, engine="compiled")
def fresh_array_filled(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2 * x[0]
    return np.sum(out)


@program(X, engine="compiled")
def recurrence_in_an_array(x):
    out = np.zeros(5)
    out[0] = x[0]
    for i in range(1, 5):
        out[i] = out[i - 1] * x[1] + x[2]
    return np.sum(out**2)


@program(X, engine="compiled")
def cell_written_twice(x):
    out = np.empty(2)
    out[0] = x[0]
    out[0] = out[0] * x[1]
    out[1] = out[0] + x[2]
    return out[0] * out[1]


@program(X, engine="compiled")
def cell_overwritten_with_a_constant(x):
    y = x * x
    y[1] = 5.0
    return np.sum(y * x)


@program(X, engine="compiled")
def augmented_slice(x):
    y = x * 1.0
    y[1:] += x[:-1]
    y[:2] *= y[1:]
    y[0] -= y[2]
    return np.sum(y**2)


@program(X, engine="compiled")
def augmented_array(x):
    y = x * 2
    y += x
    y *= x
    y /= 3.0
    y -= 1.0
    return np.sum(y)


@program(X, engine="compiled")
def alias_sees_the_store(x):
    a = x * 1.0
    b = a
    a[0] = a[1] ** 2
    return np.sum(b * x)


@program(M, engine="compiled")
def view_sees_the_store(m):
    a = m * 1.0
    row = a[1]
    column = a.T[0]
    row *= m[0, 0]
    return np.sum(column**2) + np.sum(a)


@program(X, engine="compiled")
def store_into_a_view(x):
    a = np.zeros((2, 3))
    top = a[0]
    top[:] = x
    a[1] = top * x
    return np.sum(a**3)


@program(X, engine="compiled", smooth=True)
def store_into_a_reshaped_view(x):
    a = np.zeros((3, 2))
    flat = a.reshape(-1)
    flat[::2] = x
    flat[1::2] = x * x
    return np.sum(a[:, 0] * a[:, 1])


@program(X, engine="compiled")
def constant_changed_after_use(x):
    w = np.array([1.0, 2.0, 3.0])
    y = x * w
    w[0] = 5.0
    return np.sum(y * w)


@program(X, engine="compiled")
def constant_augmented_after_use(x):
    w = np.array([1.0, 2.0, 3.0])
    y = x * w
    w *= 10.0
    return np.sum(y) + np.sum(w)


@program(X, engine="compiled")
def constant_changed_in_a_loop(x):
    w = np.ones(3)
    s = 0.0
    for i in range(3):
        s = s + np.sum(x * w)
        w[i] = i + 2.0
    return s * np.sum(w)


@program(X, engine="compiled")
def constant_changed_through_an_alias(x):
    w = np.array([1.0, 2.0, 3.0])
    other = w
    y = np.sin(x) * w
    other[:] = 0.0
    return np.sum(y)


@program(X, engine="compiled")
def constant_sorted_in_place(x):
    w = np.array([3.0, 1.0, 2.0])
    y = x * w
    w.sort()
    return np.sum(y * y)


@program(X, engine="compiled")
def constant_filled(x):
    w = np.array([3.0, 1.0, 2.0])
    y = x * w
    w.fill(0.0)
    return np.sum(y)


@program(X, engine="compiled")
def index_changed_after_use(x):
    index = np.array([0, 1, 1])
    y = x[index]
    index[0] = 2
    return np.sum(y * np.arange(1.0, 4.0))


@program(X, engine="compiled")
def mask_changed_after_use(x):
    mask = x > 1.5
    y = np.where(mask, x * x, x)
    mask[:] = True
    return np.sum(y)


@program(X, engine="compiled")
def helper_changes_a_constant(x):
    def spoil(w):
        w[0] = 100.0

    w = np.array([1.0, 2.0, 3.0])
    y = x * w
    spoil(w)
    return np.sum(y)


@program(X, engine="compiled")
def value_changed_after_use(x):
    a = x * 2
    b = a * a
    a[0] = 0.0
    return np.sum(b) + np.sum(a)


@program(X, engine="compiled")
def result_changed_after_the_operation(x):
    e = np.exp(x)
    y = e * 2
    e[1] = 0.0
    return np.sum(y) + np.sum(e)


@program(X, engine="compiled")
def argument_is_changed(x):
    x[0] = x[1] * x[2]
    return np.sum(x * x)


@program(X, engine="compiled")
def argument_is_augmented(x):
    x *= 2
    x += 1
    return np.sum(x * x)


@program(X, X + 1, engine="compiled", argnums=0)
def other_argument_is_changed(x, y):
    z = x * y
    y[:] = 0.0
    return np.sum(z)


@program(X, engine="compiled")
def captured_start_is_copied(x):
    u = START.copy()
    for _ in range(4):
        u += 0.1 * x * u
    return np.sum(u**2)


@program(X, 3, engine="compiled")
def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@program(X, engine="compiled")
def mask_store(x):
    y = x * x
    y[y > 3] = 0.5
    return np.sum(y * x)


@program(X, engine="compiled")
def mask_store_of_active_values(x):
    y = np.zeros(3)
    y[x > 1.5] = x[:2] ** 2
    return np.sum(y * y)


@program(X, engine="compiled", smooth=True)
def fancy_store(x):
    y = np.zeros(4)
    y[[3, 0, 1]] = x**2
    return np.sum(y * np.arange(4.0))


@program(X, engine="compiled")
def number_broadcast_into_a_slice(x):
    y = np.zeros((2, 3))
    y[:, 1:] = x[0]
    y[1, :] = x
    return np.sum(y**2)


@program(X, engine="compiled", smooth=True)
def array_in_a_list_changed(x):
    box = [x * 1.0]
    box[0][1] = 7.0
    return np.sum(box[0] ** 2)


@program(X, engine="compiled")
def swapped_in_place(x):
    y = x * 1.0
    y[0], y[2] = y[2] * 2, y[0] * 3
    return np.sum(y * np.arange(1.0, 4.0))


@program(X, engine="compiled")
def accumulator_of_zeros(x):
    total = np.zeros(3)
    for k in range(3):
        total += x**k
    return np.sum(total * total)


@program(M, engine="compiled")
def self_overlapping_store(m):
    y = m * 1.0
    y[0] = y[1]
    y[:, 0] = y[:, 1] * 2
    return np.sum(y**2)


@program(X, engine="compiled")
def out_argument(x):
    y = np.empty(3)
    np.multiply(x, x, out=y)
    return np.sum(y * x)


@program(X, engine="compiled", smooth=True)
def picked_elements_are_a_copy(x):
    x = x * 1.0
    u, v, w = x[[0, 1]], x[x > 0.5], x[np.argsort(x)]
    x[0] = 2.0 * x[1]
    u[0] = x[2] * 3
    v[1] *= u[0]
    w[0] = 1.0
    return np.sum(u) * np.sum(v) * np.sum(w) + np.sum(x * x)


@program(M, engine="compiled", smooth=True)
def picked_rows_are_a_copy(m):
    m = m * 1.0
    row, column = m[1][[1, 0]], m[:, [0]]
    m[0] = 1.0
    row[0] = m[1, 1] * 3
    column *= row[1]
    return np.sum(row) * np.sum(column) * np.sum(m)
