"""Arrays that the caller and the recorded function share: what is saved stays what it was."""

import numpy as np
import pytest

from s2sgrad.errors import TapeError
from s2sgrad.runtime.fallback import tape_vjp
from tests.tape.numeric import grad

X = np.array([1.0, 2.0, 3.0, 4.0])
table = np.array([2.0, 3.0, 4.0, 5.0])


class Holder:
    def __init__(self, array):
        self.array = array

    def clear(self):
        self.array[:] = 0.0


def test_other_argument_written_after_it_was_used():
    def f(x, y):
        z = x * y
        y[:] = 0.0
        return np.sum(z)

    y = X + 1
    np.testing.assert_array_equal(grad(f)(X, y), X + 1)
    np.testing.assert_array_equal(y, 0.0)


def test_differentiated_argument_written_after_it_was_used():
    def f(x):
        z = x * x
        x[:] = 0.0
        return np.sum(z)

    x = X.copy()
    np.testing.assert_array_equal(grad(f)(x), 2 * X)
    np.testing.assert_array_equal(x, 0.0)


def test_recorded_values_written_into_a_used_argument():
    def f(x, y):
        z = x * y
        y[:] = x
        return np.sum(z) + np.sum(y * y)

    y = X + 1
    np.testing.assert_array_equal(grad(f)(X, y), X + 1 + 2 * X)
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize(
    "write",
    [lambda holder: holder.clear(), lambda holder: holder.array.fill(0.0)],
    ids=["method", "attribute"],
)
def test_write_out_of_sight_is_refused(once, write):
    array = X + 1
    holder = Holder(array)

    def f(x, y):
        z = x * y
        write(holder)
        return np.sum(z * y)

    with pytest.raises(TapeError, match="attribute of an object"):
        tape_vjp(f, (X, array), {}, [0], once=once)


def test_write_of_nan_out_of_sight_is_refused():
    array = np.array([np.nan, 1.0, 2.0, 3.0])
    holder = Holder(array)

    def f(x, y):
        z = x * y
        holder.array[1] = np.nan
        return np.sum(z)

    with pytest.raises(TapeError, match="attribute of an object"):
        grad(f)(X, array)


def test_large_array_written_out_of_sight_is_refused():
    array = np.ones(10_000)
    holder = Holder(array)

    def f(x, y):
        holder.array[-1] = 2.0
        return np.sum(x * y)

    with pytest.raises(TapeError, match="attribute of an object"):
        grad(f)(np.ones(10_000), array)


def test_nan_in_an_array_is_no_write():
    array = np.full(1000, np.nan)
    assert np.isnan(grad(lambda x, y: np.sum(x * y))(np.ones(1000), array)).all()


@pytest.mark.parametrize("view", [slice(None, None, 2), slice(None, None, -1), slice(6, None, -2)])
def test_strided_argument_has_the_views_it_has(view):
    base = np.arange(8.0)

    def f(x, y):
        part = y.reshape(2, -1)
        part[0] = 10.0  # a copy, where the memory of `y` does not allow the shape
        return np.sum(x * y)

    expected = base.copy()
    f(1.0, expected[view])
    np.testing.assert_allclose(grad(f)(1.0, base[view]), np.sum(expected[view]))
    np.testing.assert_array_equal(base, expected)


def test_array_of_objects_is_refused():
    def f(x):
        y = np.array([x[0], x[1] * 2, 3.0], dtype=object)
        return y[0] * y[1] + y[2]

    with pytest.raises(TapeError, match="array of objects"):
        grad(f)(X)


@pytest.mark.parametrize("make", [lambda w: np.array([w, None], dtype=object), lambda w: np.empty(2, object)])
def test_arrays_in_an_array_of_objects_are_refused(make):
    def f(x, w):
        v = make(w)
        v[0] = w
        v[0] += 1.0
        return np.sum(x * w)

    with pytest.raises(TapeError, match="where the tape does not see what is written into them"):
        grad(f)(X, np.ones(4))


def test_nothing_is_overwritten():
    def f(x, w):
        y = x * w
        m = np.median(w, overwrite_input=True), np.quantile(w, 0.5, None, None, True)
        return np.sum(y * y) * m[0] * m[1]

    w = np.array([3.0, 1.0, 2.0, 5.0])
    np.testing.assert_allclose(grad(f)(X, w), 2 * X * w**2 * 2.5**2)
    np.testing.assert_array_equal(w, [3.0, 1.0, 2.0, 5.0])


def test_view_made_by_keyword():
    def f(x):
        y = x * 2.0
        z = np.swapaxes(a=np.reshape(y, (2, 2)), axis1=0, axis2=1)
        y[0] = x[1] * x[1]
        return np.sum(z[0] * z[1])  # y[0] * y[1] + y[2] * y[3]

    np.testing.assert_allclose(grad(f)(X), [0.0, 6 * X[1] ** 2, 4 * X[3], 4 * X[2]])


@pytest.mark.parametrize("last", [3.0, None], ids=["number", "recorded"])
def test_a_write_out_of_sight_is_not_lost_under_the_next_in_sight(last):
    holder = Holder(table)
    before = table.copy()

    def f(x):
        table[0] = 1.0
        holder.array[1] = 2.0
        table[2] = x[0] if last is None else last
        return np.sum(x * table)

    try:
        with pytest.raises(TapeError, match="attribute of an object"):
            grad(f)(X)
    finally:
        table[:] = before


@pytest.mark.parametrize(
    "write",
    [
        lambda a: np.putmask(a, a > 2.5, -1.0),
        lambda a: np.place(a, a > 2.5, [-1.0]),
        lambda a: np.put(a, [0, 2], -1.0),
        lambda a: np.copyto(a, -1.0, where=a > 2.5),
        lambda a: np.add(a, 1.0, out=a),
        lambda a: np.add.at(a, [0, 0], 1.0),
        lambda a: a.sort(),
    ],
    ids=["putmask", "place", "put", "copyto", "out", "at", "sort"],
)
def test_constants_of_an_object_are_written_by_functions_and_by_index(write):
    def f(x, holder):
        a = holder.array
        for i in range(3):
            a[i] = 0.5 + i
            write(a)
            a[i] *= 2.0
        return np.sum(x * a)

    plain, recorded = Holder(X + 1), Holder(X + 1)
    f(X, plain)
    np.testing.assert_array_equal(grad(f)(X, recorded), plain.array)
    np.testing.assert_array_equal(recorded.array, plain.array)
