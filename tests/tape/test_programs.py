"""Programs of every kind on the tape: value bit-identical to the plain call's, gradient by differences."""

import copy
import functools
import math
import re

import numpy as np
import pytest

from s2sgrad import value_and_grad
from s2sgrad.runtime.fallback import tape_vjp
from tests.tape.numeric import differences, grad

X = np.array([0.3, -0.7, 1.2, 0.9])
M = np.array([[0.5, 1.5, -0.4], [0.2, -0.3, 0.8], [1.1, 0.6, 0.7]])
W = np.array([1.0, 2.0, -3.0, 0.5])
scratch = np.zeros(4)
counter = 0
HISTORY = []
BUFFERS = {"a": np.zeros(4), "f": [np.sin, lambda v: v * v]}
power = functools.partial(np.power, 2.0)


def store_in_zeros(x):
    out = np.zeros(4)
    for i in range(4):
        out[i] = np.sin(x[i]) * x[0]
    return np.sum(out**2)


def rewrite_cells(x):
    out = np.empty(5)
    out[0] = 1.0
    for i in range(1, 5):
        out[i] = out[i - 1] * x[i - 1]
        out[i] = 1 / (1 + np.exp(-out[i]))
    return np.sum(out * out)


def views_of_views(x):
    y = x * 2.0
    a = y[1:]
    b = a[::-1]
    b[0] = b[1] * x[0]
    a *= 3.0
    return np.sum(y * W)


def overlapping_write(x):
    u = x * 1.0
    u[1:] = u[:-1]
    u[:-1] = u[1:] * u[0]
    return np.sum(u * W)


def ellipsis_write(x):
    y = np.ones(4)
    z = y.reshape(2, 2)
    y[...] = x * x
    return np.sum(z[1] * z[0])


def transposed_view_written(x):
    a = np.zeros((2, 2))
    t = a.T
    t[0] = x[:2]
    t[1, :] += x[2:] * t[0]
    return np.sum(a * np.array([[1.0, 2.0], [3.0, 4.0]]) * a)


def reshaped_view_written(x):
    a = np.zeros((2, 3, 2))
    a.reshape(6, 2)[1:5, 0] = x
    return np.sum(a[0] * a[1] + a[1] * 2)


def second_name(x):
    y = x + 0.0
    z = y
    z[1] = x[0] * x[2]
    z += x
    return np.sum(y * y)


def number_is_rebound(x):
    s = x[0]
    t = s
    s += x[1]
    s *= 2.0
    return s * t


def boolean_write(x):
    y = np.sin(x)
    y[x < 0.5] = x[3] ** 2
    y[y > 0.9] *= 2.0
    return np.sum(y * W)


def fancy_write(x):
    y = np.zeros(5)
    y[np.array([0, 3])] = x[:2]
    y[[1, 2]] += x[2:]
    return np.sum(y**3)


def repeated_index_write(x):
    y = np.zeros(3)
    y[[0, 0, 1]] = x[:3]
    return np.sum(y * np.array([1.0, 2.0, 3.0]))


def fancy_read(x):
    return np.sum(x[[0, 0, 2]] ** 2 * x[np.array([True, False, True, True])])


def saved_then_overwritten(x):
    y = x * 1.0
    z = y * y
    y[0] = 5.0
    y *= 2.0
    w = np.exp(y)
    y[:] = 0.0
    return np.sum(z) + np.sum(w * W)


def saved_constant_overwritten(x):
    c = np.ones(4)
    y = x * c
    c[:] = 100.0
    return np.sum(y * c)


def saved_raw_overwritten(x):
    box = [W.copy()]
    y = x * box[0]
    box[0][:] = 7.0
    return np.sum(y * box[0])


def global_scratch(x):
    scratch[:] = x * x
    total = scratch * 2.0
    scratch[0] = total[1]
    return np.sum(total * scratch)


def global_counter(x):
    global counter
    counter = counter + 1
    return np.sum(x * x)


def out_argument(x):
    z = np.zeros(4)
    np.multiply(x, x, out=z)
    np.add(z, x, out=z, where=x > 0)
    return np.sum(z * W)


def copied_to(x):
    z = np.ones(4)
    np.copyto(z, x * x, where=W > 0)
    np.copyto(z[:1], x[1:2])
    return np.sum(z * z)


def diagonal_filled(x):
    a = np.ones((4, 4))
    np.fill_diagonal(a, x)
    return np.sum(a @ a)


def put_in(x):
    a = np.zeros((2, 3))
    np.put(a, [0, 4], x[:2])
    a.fill(x[2])
    np.put(a, 5, x[3])
    return np.sum(a * a)


def written_where_nothing_changes(x):
    s = x[0]
    s.fill(2.0)  # of a NumPy number
    d = np.diag(np.outer(x, x))
    np.copyto(d, d)  # which may not be written to
    return s * np.sum(d)


def sorted_in_place(x):
    y = x * 1.0
    y.sort()
    return np.dot(W, y)


def add_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 2, 1], x * x)
    np.subtract.at(y, [1], x[:1])
    return np.sum(y * y)


def flat_written(x):
    a = np.zeros((2, 2))
    a.flat[1:3] = x[:2]
    return np.sum(a * a) + a.flat[1] * x[3]


def ufunc_methods(x):
    return np.add.reduce(x * x) + np.sum(np.multiply.outer(x, x)[0] * W) + np.sum(np.add.accumulate(x) ** 2)


def along_axis(x):
    return np.sum(np.apply_along_axis(lambda r: r[0] * r, 1, np.reshape(x, (2, 2))))


def vectorized(x):
    return np.sum(np.vectorize(lambda a, b: a * b if a > b else a + b)(x, 0.5))


def arrays_of_numbers(x):
    a = np.array([[x[0], 2.0], [x[1] * x[2], x[3]]])
    return np.sum(a @ a) + np.sum(np.array([x, 2 * x])[1] * W) + np.sum(np.asarray(x) * np.stack([x, x])[0])


def number_conversions(x):
    a = float(x[0])
    b = x[1].item()
    c = np.float64(x[2])
    return a * b + math.sin(c) * int(2.7) + float(np.sum(x)) * x.tolist()[0]


def control_flow(x):
    total = 0.0
    for i, v in enumerate(x):
        if v > 0.5:
            total = total + v**3
        elif i % 2:
            continue
        else:
            total -= v
    while abs(total) < 10:
        total = total * 1.5 + x[0]
    return total


def containers(x):
    parts = {"a": x[:2], "b": [x[2], (x[3], x * 2)]}
    out = []
    for _, value in sorted(parts.items()):
        out.append(value)
    return np.sum(out[0]) * out[1][0] + out[1][1][0] * np.sum(out[1][1][1])


def nested_functions(x):
    scale = x[0]
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * scale
        return total

    for v in x:
        add(v)
    return total * (lambda a: np.tanh(a))(scale)


def helpers_and_partials(x):
    return np.sum(power(x)) + helper(x, n=3) + cached(3) * x[0] + cached_of(x[1])


def helper(x, n=2):
    out = np.zeros(len(x))
    out[1:] = x[1:] ** n
    return np.sum(out)


@functools.lru_cache
def cached(n):
    return float(n) + 1.0


@functools.lru_cache
def cached_of(v):
    return v * v


def generator(x):
    def terms():
        yield from (v * v for v in x)

    return sum(terms()) + max(x) * min(x)


def try_except(x):
    try:
        y = x**2
        if y[0] < 100:
            raise ValueError("big")
    except ValueError:
        y = 10.0 * x
    return np.sum(y)


def conditionals_and_types(x):
    assert isinstance(x, np.ndarray) and isinstance(x[0], float) and type(x) is np.ndarray
    assert x.dtype == np.float64 and x.shape == (4,) and len(x) == 4 and x.ndim == 1 and x.size == 4
    n = int(x[2] * 10.5)
    return x[n % 4] * np.where(x > 0, x, 0.0)[3] if bool(x[0] > 0) else 0.0


def local_import(x):
    import numpy
    from numpy import zeros

    y = zeros(4)
    y[:] = numpy.cos(x)
    return numpy.sum(y)


def complex_between(x):
    z = np.zeros(2, complex)
    z.real = x[:2]
    z.imag[...] = x[2:] * x[0]
    z *= np.exp(1j * z)
    return np.sum(np.abs(z) ** 2) + np.real(z[0] * np.conj(z[1]))


def mutates_argument(x):
    x *= 2.0
    x[0] = x[1] * x[2]
    return np.sum(x * x)


def broadcast_write(x):
    b = np.zeros((3, 1, 4))
    b[:] = x
    b[0] += x[0]
    return np.sum(b * b)


def empty_and_zero_dim(x):
    e = np.zeros(0)
    s = np.array(1.5)
    s += x[0]
    s[...] = s * x[1]
    return np.sum(e * 2.0) + s * np.sum(x[:0]) + s


def iterates_rows(x):
    a = np.outer(x, x)
    total = 0.0
    for row in a:
        total = total + row[1] * row.sum()
    return total


def division_in_place(x):
    h = 1.0 + x * 1j
    h /= x + 2j
    return np.mean(np.abs(h))


def buffers_in_a_container(x):
    names = BUFFERS
    names["a"][:] = x
    BUFFERS["a"][0] *= x[1]
    return np.sum(BUFFERS["f"][0](BUFFERS["a"]) * BUFFERS["f"][1](names["a"]))


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        self.last = np.tanh(x * self.w)
        return self.last

    def loss(self, x):
        return np.sum(self(x) ** 2) + np.sum(self.w * x)


layer = Layer(np.array([1.0, 2.0, 3.0, 4.0]))
layer.scale = np.float64(1.7)
layer.matrix = np.arange(16.0).reshape(4, 4)


def plain_arrays_mixed_in(x):
    total = np.sum(layer.w * x + x / layer.w) + layer.scale * x[0] + x[1] * layer.scale
    return total + np.sum(layer.matrix @ x) + np.sum(x @ layer.matrix) - (layer.w - x)[0] / layer.scale


def methods_and_callables(x):
    return layer.loss(x) + np.sum(layer(x))


def attribute_changed_after_use(x):
    y = x * layer.w
    layer.w[0] += 1.0
    z = np.sum(y)
    layer.w[0] -= 1.0
    return z


def views_of_many_kinds(x):
    a = np.zeros((4, 4))
    d = np.diagonal(a)
    a.T[1] = x
    r = a.ravel()
    r[3] = x[0] * 2
    v = a[:, 1:3].swapaxes(0, 1)
    v[0] *= x[1]
    return np.sum(a * layer.matrix) + np.sum(d)


def random_draws(x):
    e = np.random.default_rng(0).normal(size=4)
    z = np.ones(4)
    z[0] = x[0]
    return np.sum(e * x) + np.sum(z * z)


def library_source(x):
    return np.trapezoid(x**2) + np.gradient(x)[1] + np.polyval(x, 2.0)


def from_iterables(x):
    return np.sum(np.fromiter((v * v for v in x), float) * W) + math.fsum(x * x[0])


def divmod_and_mod(x):
    q, r = divmod(x[0] * 7.3, 1.0)
    return r * x[1] + q


PROGRAMS = [
    value
    for value in list(globals().values())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and value not in (helper, cached, cached_of, Layer, layer)
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_is_right_and_value_identical(program):
    globals()["scratch"][:] = 0.0
    plain_x = X.copy()
    plain = program(plain_x)
    scratch_after = scratch.copy()
    scratch[:] = 0.0
    taped_x = X.copy()
    before = W.copy()
    out, pullback = tape_vjp(program, (taped_x,), {}, [0])
    assert type(out) is type(plain) or isinstance(out, float)
    assert np.asarray(out).tobytes() == np.asarray(plain).tobytes()
    np.testing.assert_array_equal(taped_x, plain_x)
    np.testing.assert_array_equal(scratch, scratch_after)
    np.testing.assert_array_equal(W, before)
    taped_x[:] = np.nan  # the pullback does not depend on what the caller does afterwards
    (gradient,) = pullback(1.0)
    (again,) = pullback(1.0)
    np.testing.assert_array_equal(gradient, again)
    np.testing.assert_allclose(gradient, differences(program, X), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(grad(program)(copy.deepcopy(X)), gradient, rtol=1e-13)


SMOOTH_TWICE = [
    store_in_zeros,
    rewrite_cells,
    views_of_views,
    overlapping_write,
    fancy_write,
    repeated_index_write,
    saved_then_overwritten,
    out_argument,
    add_at,
    arrays_of_numbers,
    number_conversions,
    complex_between,
    nested_functions,
    division_in_place,
    transposed_view_written,
    iterates_rows,
]


@pytest.mark.parametrize("program", SMOOTH_TWICE, ids=lambda f: f.__name__)
def test_second_derivative(program):
    first = grad(program)

    def directional(x):
        return np.sum(first(x) * np.array([0.3, -0.2, 0.5, 1.0]))

    np.testing.assert_allclose(grad(directional)(X.copy()), differences(directional, X), rtol=1e-5, atol=1e-6)


def test_globals_and_stored_values_are_plain_afterwards():
    def f(x):
        y = x**2
        HISTORY.append(y)
        HISTORY.append({"s": (y[0], [y])})
        BUFFERS["new"] = y
        return np.sum(y)

    HISTORY.clear()
    start = counter
    grad(global_counter)(X)
    assert counter == start + 1
    grad(f)(X)
    assert type(HISTORY[0]) is np.ndarray
    np.testing.assert_array_equal(HISTORY[0], X**2)
    assert type(HISTORY[1]["s"][0]) is np.float64
    assert type(HISTORY[1]["s"][1][0]) is np.ndarray
    assert type(BUFFERS.pop("new")) is np.ndarray
    assert BUFFERS["f"][0] is np.sin and type(BUFFERS["a"]) is np.ndarray


def test_the_same_array_twice_has_separate_gradients():
    _, pullback = tape_vjp(lambda a, b: np.sum(a * b * b), (X, X), {}, [0, 1])
    da, db = pullback(1.0)
    np.testing.assert_allclose(da, X * X)
    np.testing.assert_allclose(db, 2 * X * X)
    assert not np.may_share_memory(da, db)


def test_trees_names_integers_and_unused_arguments():
    def f(params, n, *, scale):
        (w, b), rest = params["layer"], params["rest"]
        params["rest"].append(1.0)
        return np.sum(w * 2.0) * b * scale + rest[0] * n

    params = {"layer": (X, 3), "rest": [2.0, np.ones(2, np.float32)]}
    _, pullback = tape_vjp(f, (params, 4), {"scale": 0.5}, [0, "scale", 1])
    d, dscale, dn = pullback(1.0)
    assert len(params["rest"]) == 3
    np.testing.assert_allclose(d["layer"][0], np.full(4, 3.0))
    assert d["layer"][1] == pytest.approx(np.sum(X))
    assert type(d["layer"][1]) is float
    assert d["rest"][0] == 4.0
    assert d["rest"][1].dtype == np.float32
    np.testing.assert_array_equal(d["rest"][1], 0)
    assert dscale == pytest.approx(np.sum(X * 2) * 3)
    assert dn == 2.0


def test_float32_stays_float32():
    x = X.astype(np.float32)
    out, pullback = tape_vjp(lambda x: np.sum(np.sin(x) * x * 2), (x,), {}, [0])
    assert out.dtype == np.float32
    assert pullback(np.float32(1.0))[0].dtype == np.float32


def test_complex_gradient_is_conjugate():
    z = np.array([1 + 2j, -0.5j])
    np.testing.assert_allclose(grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z)
    np.testing.assert_allclose(grad(lambda z: np.real(np.sum(z * z * 1j)))(z), np.conj(2j * z))


def test_results_of_every_shape():
    out, pullback = tape_vjp(lambda x: {"a": x * 2, "b": (np.sum(x), 1.0), "c": x}, (X,), {}, [0])
    assert out["c"] is X
    d = pullback({"a": np.ones(4), "b": (1.0, 0.0), "c": np.arange(4.0)})[0]
    np.testing.assert_allclose(d, 3 + np.arange(4.0))


@pytest.mark.parametrize(
    "write",
    [
        lambda y, x: np.put(y, [2, 3], x[:2]),
        lambda y, x: np.put(y, [-1, -3], x[:2]),
        lambda y, x: np.put(y, [-4], x[:2]),
        lambda y, x: np.put(y, [0], x[:0]),
        lambda y, x: np.put(y, [], x[:1]),
        lambda y, x: np.put(y, [5, -7], x[:2], mode="wrap"),
        lambda y, x: np.put(y, [5, -7], x[:2], mode="clip"),
        lambda y, x: np.put(y, [[0], [1]], x[2]),
        lambda y, x: np.place(y, [True, False, True], x[:0]),
        lambda y, x: np.place(y, [False] * 3, x[:0]),
        lambda y, x: np.putmask(y, [True, False, True], x[:0]),
        lambda y, x: np.putmask(y, [True, False, True], x[:2]),
    ],
)
def test_writes_out_of_bounds_and_of_nothing_do_what_numpy_does(write):
    def function(x):
        y = x * 2
        write(y, x)
        return np.sum(y * y)

    x = np.arange(1.0, 4.0)
    try:
        expected = function(x.copy())
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            value_and_grad(function, mode="tape")(x)
        return
    value, found = value_and_grad(function, mode="tape")(x)
    steps = 1e-6 * np.eye(3)
    assert value == expected
    assert np.allclose(found, [(function(x + h) - function(x - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)


def fails_to_write(k, a):
    a[1] += k
    rows = a.T
    try:
        rows[0] = np.zeros((0, 2))
    except ValueError:
        a[0, 1] += 2 * k
    return np.sum(a**2)


def test_a_write_that_failed_leaves_the_names_of_an_array_together():
    a, b = np.ones((2, 2)), np.ones((2, 2))
    value = fails_to_write(0.5, a)
    found, (dk, da) = value_and_grad(fails_to_write, (0, 1), mode="tape")(0.5, b)
    assert found == value
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(da, 2 * a)
    assert dk == 2 * (1.5 + 1.5) + 4 * 2.0
