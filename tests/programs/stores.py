"""Arrays written at indices of all kinds, by functions and masks, and arrays of integers."""

import numpy as np

from tests.programs.corpus import program

LINE = np.linspace(0.52, 1.73, 6)
IDX = np.array([0, 2, 2, 5, 0])
W = np.arange(1.0, 7.0)


@program(LINE, engine="compiled", smooth=True)
def fancy(x):
    y = np.zeros(6)
    y[[3, 0, 1]] = x[:3] ** 2
    return np.sum(y * x)


@program(LINE, engine="compiled", smooth=True)
def fancy_dup(x):
    y = x * 1.0
    y[IDX] = x[1:] ** 2
    return np.sum(y * y * W)


@program(LINE, engine="compiled", smooth=True)
def fancy_aug(x):
    y = x * 1.0
    y[IDX] += x[1:] ** 2
    y[[1, 1]] *= x[0]
    y[[4, 4, 5]] -= x[:3]
    return np.sum(y * y * W)


@program(LINE, engine="compiled", smooth=True)
def fancy_scalar(x):
    y = np.ones(6)
    y[IDX] = x[0] * x[1]
    y[np.array([1, 1])] += x[2]
    return np.sum(y * W * x)


@program(LINE, engine="compiled", smooth=True)
def fancy_2d(x):
    a = np.outer(x, x)
    a[[0, 1], [2, 2]] = x[:2]
    a[[0, 0], 1:3] = x[2:6].reshape(2, 2)
    a[np.array([3, 3, 4])] *= x
    a[:, [5, 5]] = a[:, [0, 1]]
    return np.sum(a * a * W)


@program(LINE, engine="compiled", smooth=True)
def addat(x):
    y = np.zeros(6)
    np.add.at(y, IDX, x[1:] ** 2)
    np.subtract.at(y, [1, 1], x[0])
    np.add.at(y, (IDX,), 1.0)
    return np.sum(y * y * x)


@program(LINE, engine="compiled", smooth=True)
def addat_loop(x):
    y = np.zeros((3, 6))
    for i in range(3):
        np.add.at(y[i], IDX, x[1:] * x[i])
        y[i] *= x
    return np.sum(y * y * W)


@program(LINE, engine="compiled", smooth=True)
def addat_inactive_idx_changes(x):
    k = np.array([0, 1, 1])
    y = x * 1.0
    np.add.at(y, k, x[:3] ** 2)
    k[0] = 4
    y[k] *= 2
    y[k] = x[k] + y[k]
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def copyto_where(x):
    y = x * 1.0
    np.copyto(y, x**2, where=x > 1)
    np.copyto(y, 7.0, where=[True, False, False, False, True, False])
    np.putmask(y, x < 0.8, x[2])
    return np.sum(y * x * W)


@program(LINE, engine="compiled", smooth=True)
def filldiag(x):
    a = np.outer(x, x)
    np.fill_diagonal(a, x[1] * 2)
    b = np.zeros((4, 2))
    np.fill_diagonal(b, x[0])
    c = np.zeros((2, 4))
    np.fill_diagonal(c, x[3])
    return np.sum(a * a) + np.sum(b * W[:2]) + np.sum(c * W[:4])


@program(LINE, engine="compiled", smooth=True)
def outs(x):
    y = np.zeros(6)
    z = np.empty((6, 6))
    s = np.zeros(6)
    np.multiply(x, 2.0, y)
    np.outer(y, x, out=z)
    np.dot(z, y, out=s)
    np.clip(s, 0.5, 50.0, out=s)
    w = np.exp(y * 0.1, out=y)
    w[0] = s[1]
    np.matmul(z, w, out=s)
    return np.sum(y * s * W)


@program(LINE, engine="compiled", smooth=True)
def outsum(x):
    s = np.zeros(6)
    a = np.outer(x, x)
    np.sum(a, axis=0, out=s)
    np.add(s, x, out=s)
    np.cumsum(s, out=s)
    return np.sum(s * s)


@program(LINE, engine="compiled", smooth=True)
def intbuf(x):
    k = np.zeros(6, dtype=int)
    k[:] = x * 3
    y = x[k] * 1.0
    k[0] = x[1] * 2
    return np.sum(y * x) + k[0] * x[2]


@program(LINE, engine="compiled", smooth=True)
def boolbuf(x):
    m = np.zeros(6, dtype=bool)
    for i in range(6):
        m[i] = x[i] > 1.0
        if i > 2:
            m[i] &= x[i] < 1.6
    y = x * 1.0
    y[m] *= x[m]
    y[~m] = x[0]
    m[:] = False
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def counters(x):
    n = np.zeros(3, dtype=int)
    y = x * 1.0
    for i in range(6):
        j = i % 3
        n[j] += 1
        y[i] *= n[j]
    return np.sum(y * x) + n[0] * x[0]


@program(LINE, engine="compiled", smooth=True)
def chained(x):
    a = np.zeros(3)
    b = np.zeros(3)
    for i in range(3):
        a[i] = b[2 - i] = x[i] * x[i + 1]
    return np.sum(a * b * x[:3])


@program(LINE, engine="compiled", smooth=True)
def ufunc_where(x):
    y = x * 1.0
    np.sqrt(x, out=y, where=x > 1)
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def perm(x):
    p = np.argsort(-x)
    y = np.empty(6)
    y[p] = x**2
    inv = np.empty_like(p)
    inv[p] = np.arange(6)
    return np.sum(y * W) + np.sum(x[inv] * W)


@program(LINE, engine="compiled", smooth=True)
def mask2d(x):
    a = np.outer(x, x)
    m = a > 1
    a[m] = a[m] ** 2
    a[m & (a < 3)] += x[0]
    a[~m] = 0.0
    return np.sum(a * W)


@program(LINE, engine="compiled", smooth=True)
def neg_steps(x):
    y = x * 1.0
    for i in range(5, 0, -1):
        y[i] -= 0.3 * y[i - 1]
    y[::-1][:3] = y[:3] * x[0]
    y[-2::-2] *= 2
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def overlap(x):
    u = x * 1.0
    u[1:] = u[:-1]
    u[:-1] += u[1:] * x[0]
    u[:3] += 0.5 * np.flip(u[:3])
    u[::2] = u[::-2]
    return np.sum(u * W)


@program(LINE, engine="compiled", smooth=True)
def put(x):
    y = x * 1.0
    np.put(y, [0, 2], x[1])
    y.put([1], 3.0)
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def safe_divide(x):
    b = x - x[2]
    y = np.divide(x, b, out=np.zeros_like(x), where=b != 0)
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def masked_sqrt(x):
    y = np.full(6, 2.0) * x[0]
    np.sqrt(x - x[1], out=y, where=x > x[1])
    z = np.log(x, out=np.ones(6), where=x > 1.0)
    return np.sum(y * W * z)


@program(LINE, engine="compiled", smooth=True)
def into_new_arrays(x):
    y = np.multiply(x, x, out=np.empty(6)) * np.sin(x, out=np.empty(6))
    rows = np.sum(np.add(x, y, out=np.empty((2, 6))) * np.exp(x, out=x.copy()), axis=0)
    s = np.sum(np.outer(x, y), axis=0, out=np.zeros_like(x))
    for i in range(3):
        y = np.add(y, i * x, out=np.empty(6))
    return np.sum(y * W) + rows @ s


@program(LINE, engine="tape")
def into_a_view_of_another_array(x):
    y = np.zeros((2, 3))
    return np.sum(np.sin(x, out=y.reshape(6)) * x) + np.sum(y)


@program(LINE, engine="compiled", smooth=True)
def masked_twice(x):
    y = x * 1.0
    v = y
    np.multiply(y, y, out=y, where=x > 1)
    np.exp(v * 0.3, out=y, where=x < 0.8)
    v[0] *= 2
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def masked_loop(x):
    y = x * 1.0
    for i in range(3):
        np.sin(y, out=y, where=y > x[i])
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def masked_mask(x):
    y = x * 1.0
    m = np.array([True, False] * 3)
    np.multiply(y, x, out=y, where=m)
    m[:] = False
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def truncated(x):
    k = np.zeros(6, dtype=int)
    k[2:] = x[2:] * 3
    k[0] = x[1] * 2
    y = x[k] * k
    k += 1
    k[1] -= 2
    return np.sum(y * x) + np.sum(k * x)


@program(LINE, engine="compiled", smooth=True)
def truncated_loop(x):
    k = np.zeros(6, dtype=np.int32)
    y = x * 1.0
    for i in range(6):
        k[i] = y[i] * 2
        y[i] = y[i] * k[i] + x[0]
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def truncated_alias(x):
    k = np.zeros(6, dtype=int)
    v = k[1:4]
    v[:] = x[:3] * 4
    a = k[1] * x[0]
    k[1] = 7
    return a + v[0] * x[1] + np.sum(k) * x[2]


@program(LINE, engine="compiled", smooth=True)
def outs_alias(x):
    y = x * 1.0
    z = y[1:]
    w = np.add(y[:-1], z, out=z)
    w[0] = 3.0 * x[0]
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def index_overlap(x):
    y = x * 1.0
    y[IDX] = y[IDX[::-1]] * x[1]
    y[[5, 4, 3, 2, 1, 0]] = y * W
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def rev_index(x):
    y = x * 1.0
    i = IDX[::-1]
    y[i] = (x[1:] * W[1:])[::-1]
    y[i[::-1]] += x[0]
    return np.sum(y * W)


@program(LINE, engine="compiled", smooth=True)
def scatter2(x):
    a = np.zeros((3, 4))
    i = np.array([[0, 1, 0], [2, 0, 1]])
    j = np.array([[1, 1, 1], [3, 1, 1]])
    a[i, j] = x.reshape(2, 3)
    np.add.at(a, (i, j), x.reshape(2, 3) ** 2)
    return np.sum(a * a * np.arange(12.0).reshape(3, 4))


@program(LINE, engine="compiled", smooth=True)
def bcast_fancy(x):
    a = np.zeros((3, 4))
    a[[0, 0, 2]] = x[:4]
    a[[1, 1], 1:] += x[1:4]
    a[np.array([[0], [2]]), np.array([1, 1, 3])] = x[:2][:, None]
    return np.sum(a * a * np.arange(12.0).reshape(3, 4))


@program(LINE, engine="compiled", smooth=True)
def view_fancy(x):
    a = np.zeros((3, 4))
    v = a[1:]
    r = v.reshape(-1)
    v[[0, 0, 1], [1, 1, 2]] = x[:3]
    r[[7, 7]] = x[4:]
    np.add.at(r, [2, 2], x[0])
    return np.sum(a * a)


@program(LINE, engine="compiled", smooth=True)
def sorted_(x):
    y = np.outer(x, 1 / x)
    y.sort()
    z = x * W
    z[::-1].sort()
    return np.sum(y * W) + np.sum(z * W)


@program(LINE, engine="compiled", smooth=True)
def loop_scatter(x):
    h = np.zeros(3)
    for i in range(6):
        h[i % 3] += x[i] ** 2
        h[[0, 0]] *= x[0]
    return np.sum(h * h)


@program(LINE, engine="compiled")
def hist(x):
    k = (x * 2).astype(int)
    h = np.zeros(4)
    np.add.at(h, k, x**2)
    return np.sum(h * h * h)


@program(LINE, engine="tape")
def zero_idx(x):
    y = x * 1.0
    e = np.array([], dtype=int)
    y[e] = x[e] * 2
    y[e] += 1
    np.add.at(y, e, x[e])
    return np.sum(y * y)


@program(LINE, engine="compiled", smooth=True)
def complex_fancy(x):
    z = np.zeros(6, dtype=complex)
    z[[0, 1, 1]] = x[:3] * 1j
    z[2:] = x[2:]
    np.add.at(z, [0, 0], x[4] * (1 + 2j))
    return np.sum(np.abs(z) ** 2)


@program(LINE, engine="tape")
def lists_index(x):
    k = []
    for i in range(6):
        if x[i] > 1:
            k.append(i)
    y = x * 1.0
    y[k] = x[k] ** 2
    return np.sum(y * W)


BUFFER = np.zeros(6)
TABLE = np.ones((2, 6))
TABLE_AGAIN = TABLE


@program(LINE, engine="compiled", smooth=True)
def work_array_outside(x):
    BUFFER[:] = x * 2
    BUFFER[1:] += BUFFER[:-1] * x[1:]
    np.add.at(BUFFER, [0, 0], x[:2])
    return np.sum(BUFFER * W)


@program(LINE, engine="compiled", smooth=True)
def work_array_through_a_view(x):
    v = TABLE[1]
    v[:] = x * x
    TABLE[0] = v * 2
    np.multiply(x, 3.0, out=BUFFER)
    return np.sum(TABLE * W) * BUFFER[1]


def buffer_read():
    return np.sum(BUFFER**2)


@program(LINE, engine="tape")
def work_array_read_by_a_function(x):
    BUFFER[:] = x * 2
    return buffer_read()


@program(LINE, engine="tape")
def work_array_read_by_a_lambda(x):
    BUFFER[:] = x * 2
    read = lambda i: BUFFER[i]
    return read(1) * x[0]


@program(LINE, engine="tape")
def work_array_under_two_names(x):
    TABLE[:] = x * 2
    return np.sum(TABLE_AGAIN * W)


def buffer_times(row):
    return row * BUFFER[1]


@program(LINE, engine="tape")
def work_array_read_by_what_is_passed_on(x):
    BUFFER[:] = x * 2
    return np.sum(np.apply_along_axis(buffer_times, 0, np.ones((2, 3)))) + np.sum(x)


@program(LINE, engine="tape")
def at_places_named_several_times(x):
    y = x[:3] * 1.0
    np.multiply.at(y, [0, 0, 2], x[1:4])
    np.maximum.at(y, [1, 1, 0], 3 * x[3:])
    np.divide.at(y, (slice(None),), x[0])
    a = np.ones((2, 3))
    np.multiply.at(a, (slice(None), [2, 2]), x[:2])
    np.square.at(a, [0, 1, 0])
    np.power.at(a, (1, [2, 2]), 2)
    np.multiply.at(a[:, ::-1], [], x[0])
    return np.sum(y**2) + np.sum(a * x[:3])


Q = np.array([0.5, 1.5, 2.0, 0.7])


@program(Q, engine="compiled", smooth=True)
def put_along_an_axis(x):
    y = np.outer(x, x)
    np.put_along_axis(y, np.argmax(y, axis=1)[:, None], x[:, None] ** 2, axis=1)
    np.put_along_axis(y, np.array([[0], [2], [1], [1]]), x[0], -1)
    z = x * 1.0
    np.put_along_axis(z, np.array([1, 2]), x[:2] ** 2, 0)
    return np.sum(y**2) * np.sum(z)


@program(Q, engine="compiled", smooth=True)
def flat_part_assigned(x):
    y = np.zeros((2, 4))
    y.flat[1:5] = x
    y.flat[::2] = x**2
    return np.sum(y**2 * np.arange(8.0).reshape(2, 4))


@program(Q, engine="compiled", smooth=True)
def flat_part_assigned_by_what_is_repeated(x):
    y = np.zeros((3, 4))
    y.flat[1:11] = np.outer(x, x)[1]
    y.flat[:3] = x
    return np.sum(y**2 * np.arange(12.0).reshape(3, 4))


@program(Q, engine="compiled", smooth=True)
def first_and_the_others(x):
    a, *rest = x * 2
    *init, last = x
    return a * sum(rest) + rest[0] * np.sum(np.array(rest)) + last * len(init) * init[1]


@program(Q, engine="compiled", smooth=True)
@program(Q[:2], engine="compiled", smooth=True, name="nothing_between")
def rows_between(x):
    first, *between, last = np.outer(x, x)
    return np.sum(first * last) + sum(np.sum(row) ** 2 for row in between)


@program(Q, engine="compiled", smooth=True, name="as_many_values_as_names")
@program(Q[:3], engine="tape", smooth=True)
def more_names_than_values_are_known(x):
    a, b, *c, d = x
    return a * b * d * (1 + sum(c))


@program(LINE.astype(np.float32), engine="tape")
def sums_in_the_type_of_what_is_written_to(x):
    s = np.zeros(6)
    np.sum(np.outer(x, x), axis=0, out=s)
    np.cumsum(s * x, out=s)
    t = np.zeros(6, np.float32)
    np.multiply(s, 1.1, out=t, where=s > 2.0, casting="same_kind")
    return np.sum(s * s) + np.sum(t)


@program(LINE, engine="tape")
def at_places_of_what_is_written_to(x):
    y = x[:3] * 1.0
    np.multiply.at(y, [0, 0, 1], y)
    np.maximum.at(y[::-1], [0, 0], y[:2] * 3)
    return np.sum(y * x[:3])


@program(LINE + 0.01, engine="tape")
def result_cut_off_in_whole_numbers(x):
    k = np.zeros(6, int)
    np.multiply(x, 3.3, out=k, casting="unsafe")
    n = np.ones(6, int)
    np.add(x, 2 * x, out=n, casting="unsafe", where=x > 1.0)
    return np.sum(k * x) + np.sum(n * x**2)


@program(np.arange(8.0)[::2] + 0.5, engine="compiled")
def put_into_an_array_that_is_not_in_one_piece(x):
    np.put(x, [2, 1], x[0] * x[3])
    x.put([0], x[1] * 3.0)
    np.put(x[::-1], [0], x[1])
    return np.sum(x * x)


@program(LINE, 1, engine="compiled")
def parts_of_one_or_two_axes(x, n):
    w = x * 2.0 if n > 0 else np.outer(x, x)
    w[::2] += np.sum(x)
    w[..., :1] *= x[0]
    return np.sum(w * w)
