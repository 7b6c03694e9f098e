"""Arrays written through views of them: reshaped, transposed, unpacked, iterated over."""

import numpy as np

from tests.programs.corpus import program

LINE = np.linspace(0.5, 1.7, 6)
WIDE = np.linspace(0.3, 1.9, 6).reshape(2, 3)


@program(LINE, engine="compiled", smooth=True)
def reshaped(x):
    y = x * 1.0
    v = y.reshape(2, 3)
    v[0] *= 2
    return np.sum(v * v) + np.sum(y * x)


@program(LINE, engine="compiled", smooth=True)
def flat_name_of_zeros(x):
    a = np.zeros((3, 2))
    f = a.reshape(-1)
    f[::2] = x[:3]
    f[1::2] = x[3:] * x[:3]
    return np.sum(a[:, 0] * a[:, 1])


@program(LINE, engine="compiled", smooth=True)
def written_under_both_names_in_a_loop(x):
    a = x * 1.0
    v = a.reshape(2, 3)
    for i in range(3):
        v[1, i] = v[0, i] ** 2 * a[i]
        a[i] += np.sum(v[1])
        if a[i] > 1:
            v[0] *= 0.5
    return np.sum(a * x) + v[0, 1]


@program(WIDE, engine="compiled", smooth=True)
def transposed_and_reshaped(m):
    y = m * 2
    t = y.reshape(3, 2).T
    t[0] = t[1] * m[0, 0]
    y[0, 1:] *= 3
    return np.sum(y**2) + np.sum(t[0])


@program(WIDE, engine="compiled")
def the_callers_array_reshaped(m):
    m.reshape(-1)[2:4] *= m[0, 0]
    return np.sum(m * m)


@program(WIDE, engine="tape")
def copy_of_a_transposed(m):
    y = m.T * 1.0
    v = y.ravel()
    v[0] = v[1] * v[2]
    return np.sum(y * y * m.T) + np.sum(v)


@program(LINE, engine="tape")
def copy_of_every_other(x):
    y = x * 1.0
    v = y[::2].reshape(3, 1)
    v[0] = 5 * x[1]
    return np.sum(y * y) + np.sum(v)


@program(LINE, engine="compiled", smooth=True)
def parts_reshaped(x):
    y = x * 1.0
    y[2:].reshape(2, 2)[1] = x[:2]
    y[1:5].reshape(2, 2).T[0] *= y[0]
    b = y[3:].reshape(3, 1)
    b *= y.reshape(2, 3)[1][:, None] * 2
    return np.sum(y * y)


@program(LINE, engine="compiled", smooth=True)
def rows_unpacked(x):
    a = np.zeros((2, 6)) + x
    r, s = a
    r[0] = x[1] ** 2
    a[1] *= 2.0
    s[1] = r[2] * r[0]
    return np.sum(r * s) + np.sum(a * a)


@program(LINE, engine="compiled", smooth=True)
def rows_of_zeros_unpacked(x):
    r, s = np.zeros((2, 6))
    r[:] = x
    s[1:] = r[:-1] * x[0]
    return np.sum(r * s)


@program(LINE, engine="compiled", smooth=True)
def view_written_in_one_branch_and_its_array_in_the_other(x):
    y = x * 1.0
    v = y.reshape(2, 3)
    if x[0] > 0.1:
        v[0, 1] = y[5] ** 2
    else:
        y[0] = v[1, 1]
    w = v[1]
    w[:2] = w[1:] * y[0]
    return np.sum(y * x)


@program(WIDE, engine="compiled", smooth=True)
def axes_moved(m):
    b = np.zeros((2, 3, 1))
    t = np.transpose(b, (2, 0, 1))
    t[0] = m * m
    b[1] *= m[0, 0]
    np.moveaxis(b, 0, -1)[1, 0] = m[0, 0] * t[0, :, 2]
    return np.sum(b * b)


@program(LINE, engine="compiled", smooth=True)
def reshaped_twice(x):
    y = np.outer(x, x)
    d = y.ravel()
    d[::7] *= 0.5
    d.reshape(6, 6)[2] = x
    return np.sum(y * y)


@program(LINE, engine="compiled", smooth=True)
def scalars_through_a_reshaped_view(x):
    y = np.zeros(6)
    v = y.reshape(3, 2)
    for i in range(3):
        for j in range(2):
            v[i, j] = x[2 * i + j] ** 2
            y[2 * i] += x[j]
    return np.sum(y * y)


@program(LINE, engine="compiled", smooth=True)
def rows_of_two_arrays(x):
    a = np.outer(x, x)
    b = np.zeros((4, 6))
    for r, s in zip(a, b):
        s[:] = r * 2
        s[0] *= r[1]
        r[2] = s[0]
    return np.sum(a * a) + np.sum(b * b[::-1])


@program(LINE, engine="compiled", smooth=True)
def number_of_the_row_changed(x):
    a = x * 1.0
    for i, v in enumerate(a):
        i = (i * 2) % 6
        a[i] = v * x[1]
    return np.sum(a * x) + i


@program(LINE, engine="compiled", smooth=True)
def rows_until_one_is_large(x):
    a = np.outer(x, x)
    for k, row in enumerate(a):
        if row[0] > 0.9:
            break
        row[1:] *= row[0]
    else:
        a[0] = 0
    return np.sum(a * a) + k


@program(LINE, engine="compiled", smooth=True)
def columns_iterated(x):
    a = np.zeros((3, 2))
    for c in a.T:
        c[:] = x[:3] * c.size
        c[0] = c[1] * x[4]
    return np.sum(a**2)


@program(LINE, engine="compiled", smooth=True)
def no_rows(x):
    a = np.zeros((0, 2))
    for r in a:
        r[0] = x[0]
    return np.sum(x * x) + np.sum(a)


@program(LINE, engine="compiled", smooth=True)
def iterated_under_another_name(x):
    a = x * 1.0
    b = a
    for i, v in enumerate(a):
        b[(i + 1) % 6] += v * 0.1
    return np.sum(a * a)
