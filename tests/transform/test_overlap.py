"""Writes that NumPy makes while it still reads of the same memory: the numbers of the plain call, or an error."""

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad
from s2sgrad.errors import CompileError, MissingRuleError, TapeError

X = np.array([0.3, 0.45, 0.5, 0.6, 0.2, 0.9])


def flat_step(a, b):
    a.flat[::2] = b[:3]


def flat_shifted(a, b):
    a.flat[1:] = b[:-1]


def flat_places(a, b):
    a.flat[[1, 2, 3]] = b[:3]


def flat_chosen(a, b):
    a.flat[a > 0.4] = b[1:5]


def flat_whole(a, b):
    a.flat = b[::-1]


def placed(a, b):
    np.place(a, a > 0.4, b)


def placed_in_a_part(a, b):
    np.place(a[1:], a[1:] > 0.4, b[:-1])


def on_the_diagonal(a, b):
    m = a[:4].reshape(2, 2)
    np.fill_diagonal(m, b[:4].reshape(2, 2)[::-1, 0])


def joined(a, b):
    np.concatenate([b[1:], b[:1]], out=a)


def joined_by_rows(a, b):
    np.stack((b[3:], b[:3]), out=a.reshape(2, 3))


def rows_joined(a, b):
    m = b.reshape(2, 3)
    np.stack(m[::-1], out=a.reshape(2, 3))


OVERLAPPING = [
    flat_step, flat_shifted, flat_places, flat_chosen, flat_whole, placed, placed_in_a_part, on_the_diagonal, joined,
    joined_by_rows, rows_joined,
]  # fmt: skip


def differences(f):
    steps = 1e-6 * np.eye(len(X))
    return np.array([(f(X + step) - f(X - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("write", OVERLAPPING)
def test_what_is_read_while_it_is_written_is_an_error(write, copied, mode):
    def f(x):
        a = x * 1.0 if copied else x
        write(a, a)
        return np.sum(a * a * np.arange(1, 7))

    with pytest.raises((TapeError, MissingRuleError)):
        value_and_grad(f, mode=mode)(X.copy())


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("write", OVERLAPPING)
def test_of_other_memory_it_is_as_written(write, mode):
    def f(x):
        a = x * 1.0
        write(a, np.sin(x))
        write(a, a * 2.0 + 0.3)
        return np.sum(a * a * np.arange(1, 7))

    value, g = value_and_grad(f, mode=mode)(X.copy())
    assert value == f(X.copy())
    np.testing.assert_allclose(g, differences(f), atol=1e-6)


# ---------------------------------------------------------------- conversions that give the same memory


CONVERSIONS = {
    "float64": lambda a: np.float64(a),
    "double": lambda a: np.double(a[:3]),
    "float32": lambda a: np.float32(a),
    "astype": lambda a: a.astype(np.float64, copy=False),
    "astype of rows": lambda a: a.reshape(2, 3).astype(np.float64, copy=False),
    "astype by columns": lambda a: a.reshape(2, 3).astype(np.float64, order="F", copy=False),
    "astype of what lies by columns": lambda a: a.reshape(2, 3).T.astype(np.float64, order="F", copy=False),
    "astype to single": lambda a: a.astype(np.float32, copy=False),
}


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS.keys())
def test_a_conversion_gives_the_memory_that_numpy_gives(convert, copied):
    def f(x):
        a = x * 1.0 if copied else x
        v = convert(a)
        v *= 2
        return np.sum(a * a * np.arange(1, 7))

    mine, expected = X.copy(), X.copy()
    value, g = value_and_grad(f)(mine)
    assert value == f(expected) and np.array_equal(mine, expected)
    np.testing.assert_allclose(g, differences(lambda x: f(x.copy())), atol=1e-6)


# ---------------------------------------------------------------- indices that are unpacked


@pytest.mark.parametrize("change", ["store", "add"])
def test_an_index_that_is_unpacked_is_stored_to_on_the_tape(change):
    def store(x):
        a = x * 1.0
        a[:, *np.triu_indices(2, 1)] = 0.0
        return np.sum(a * a)

    def add(x):
        a = x * 1.0
        a[:, *np.triu_indices(2, 1)] += 1.0
        return np.sum(a * a)

    f = {"store": store, "add": add}[change]
    x = np.arange(8.0).reshape(2, 2, 2)
    expected = 2 * x
    expected[:, 0, 1] = 0.0 if change == "store" else 2 * (x[:, 0, 1] + 1)
    np.testing.assert_array_equal(grad(f)(x), expected)
    with pytest.raises(CompileError, match="in the index of what is stored"):
        grad(f, mode="compiled")(x)
