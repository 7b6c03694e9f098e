"""Objects beside a recorded value: operators of their own are asked as Python asks them, or refused."""

import warnings

import numpy as np
import pytest
import scipy.fft
import scipy.optimize
import scipy.sparse

import s2sgrad
from s2sgrad.errors import TapeError
from s2sgrad.runtime.fallback import tape_vjp
from tests.tape.numeric import differences, grad

X = np.array([0.3, -1.2, 0.8])


class Squares:
    """Its reflected operators square the other operand."""

    def __rmul__(self, other):
        return other * other

    __ror__ = __rrshift__ = __rsub__ = __gt__ = __rmul__


class Alone(Squares):
    __array_ufunc__ = None


class Number(float):
    def __rmul__(self, other):
        return other * other


SQUARES = {
    "mul": lambda x: x * Squares(),
    "or": lambda x: x | Squares(),
    "rshift": lambda x: x >> Squares(),
    "sub": lambda x: x - Squares(),
    "less": lambda x: x < Squares(),
    "number": lambda x: x * Number(3.0),
}


@pytest.mark.parametrize("f", SQUARES.values(), ids=SQUARES)
def test_reflected_operator_of_an_object_gets_the_recorded_number(f):
    assert grad(f)(0.7) == 1.4


def test_object_that_wants_no_ufuncs_gets_the_recorded_array():
    def f(x):
        y = x * 1
        y -= Alone()
        return np.sum(x * Alone()) + np.sum(y)

    np.testing.assert_allclose(grad(f)(X), 4 * X)


def test_number_with_operators_of_its_own_is_a_number_to_arrays():
    np.testing.assert_allclose(grad(lambda x: np.sum(x * Number(3.0)))(X), 3.0)


def test_list_is_an_array():
    f = lambda x: np.sum(x ** [1, 2, 3])  # noqa: E731
    np.testing.assert_allclose(grad(f)(X), differences(f, X), rtol=1e-6)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    OTHER_MEANINGS = {
        "matrix": np.matrix(np.eye(3)),
        "masked": np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
        "sparse": scipy.sparse.csr_matrix(np.eye(3)),
        "object": Squares(),
    }


@pytest.mark.parametrize("other", OTHER_MEANINGS.values(), ids=OTHER_MEANINGS)
def test_operators_of_other_meaning_are_refused(other):
    with pytest.raises(TapeError, match="test_operands.py"):
        grad(lambda x: np.sum(x * other))(X)


def test_operators_of_other_meaning_serve_plain_data():
    matrix = OTHER_MEANINGS["sparse"]
    f = lambda x, y: np.sum(x) + np.sum(y * matrix)  # noqa: E731
    assert tape_vjp(f, (X, X.copy()), {}, [0])[0] == f(X, X)


OUT_OF_SIGHT = {
    "brentq": lambda x: scipy.optimize.brentq(lambda t: t**3 - x[0], -2, 2),
    "root": lambda x: scipy.optimize.root(lambda t: t**3 - x[0], 1.0).x[0],
    "fft": lambda x: np.sum(np.abs(scipy.fft.fft(x)) ** 2),
}


@pytest.mark.parametrize("f", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_code_out_of_sight_is_an_error_of_ours(f):
    with pytest.raises(TypeError, match="derivative") as caught:
        grad(f)(X)
    assert caught.type.__module__ == "s2sgrad.errors"


@pytest.mark.parametrize("reduction", [np.sum, np.max])
def test_a_number_has_an_axis_to_be_reduced_along(reduction):
    f = lambda x: np.sum(reduction(np.max(x) * 2.0, axis=0) * x)  # noqa: E731
    x = np.array([1.0, 3.0, 2.0])
    for mode in ("tape", "compiled"):
        np.testing.assert_allclose(s2sgrad.grad(f, mode=mode)(x), [6, 18, 6])


def test_a_number_that_is_added_to_in_place_is_an_error_as_in_the_plain_call():
    def f(x):
        total = np.sum(x)
        np.add.at(total, [0], 1.0)
        return total

    for call in (f, s2sgrad.grad(f, mode="tape")):
        with pytest.raises(TypeError, match="first operand must be array"):
            call(X)


def test_roots_of_a_polynomial():
    def f(p):
        return np.sum(np.abs(np.roots(p)) ** 2)

    assert np.allclose(grad(f)(np.array([1.0, -3.0, 1.0, 2.0])), [-16, -6, -2, 0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.r_[x[0], 2.0, x[1] * x[0], 1:3] ** 2),
        lambda x: np.sum(np.c_[x[0], x, np.arange(3.0), 2 * x[1]] ** 2),
        lambda x: np.sum(np.r_[x, x[::-1] ** 2] * np.arange(6.0)[:, None]),
        lambda x: sum(v * v * (1 + i[0]) for i, v in np.ndenumerate(x)),
        lambda x: x.item((1, 1)) * x.item(0) + x.item(1, 2) ** 2 + x.item(np.int64(3)),
        lambda x: np.sum(np.logaddexp.reduce(x, axis=1)),
    ],
)
def test_arrays_put_together_and_entries_one_by_one(f):
    x = np.array([[1.3, 0.7, 2.1], [0.4, 1.9, 0.8], [1.1, 0.2, 2.6]])
    assert np.allclose(grad(f)(x), differences(f, x))


def test_what_is_put_together_keeps_its_type_and_directions_are_refused():
    seen = []

    def f(x):
        y = np.r_[x, 2.0]
        seen.append(y.dtype)
        return y.sum()

    assert grad(f)(np.ones(2, np.float32)).dtype == np.float32 and seen == [np.float32]
    with pytest.raises(TapeError, match="directions in a string"):
        grad(lambda x: np.r_["0,2", x, x].sum())(np.ones(2))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x) if x.__class__ is np.ndarray and x[0].__class__ is np.float64 else 0.0,
        lambda x: np.sum(x) if type(x).__module__ == np.ndarray.__module__ == "numpy" else 0.0,
        lambda x: 0.0 if isinstance(x, rows()) else np.sum(x),
    ],
)
def test_class_of_a_recorded_array(f):
    np.testing.assert_array_equal(grad(f)(X), np.ones(3))


def rows():
    class Rows(np.ndarray):
        def first(self):
            return self[0]

    assert Rows.__mro__[1] == np.ndarray and np.zeros(2).view(Rows).first() == 0
    return Rows


def test_outer_takes_a_number_as_an_array():
    x = X.astype(np.float32)
    for f in (lambda x: np.sum(np.hypot.outer(x, 1.7)), lambda x: np.sum(np.maximum.outer(0.1, x))):
        out, pullback = tape_vjp(f, (x,), {}, [0])
        assert out == f(x) and type(out) is np.float64
        assert pullback(1.0)[0].dtype == np.float32


TWICE = 2.0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x) * globals().get("TWICE", 1.0),
        lambda x: np.sum(x) * 2 if "TWICE" in globals() and "float" not in globals() else 0.0,
        lambda x: np.sum(x) * sum(v for k, v in dict(globals()).items() if k == "TWICE" and isinstance(v, float)),
        lambda x: eval("np.sum(np.asarray(x)) * TWICE"),
        lambda x: [exec("y = np.asarray(x) * TWICE", globals(), names := {"x": x}), np.sum(names["y"])][1],
        lambda x: __import__("numpy").sum(np.array(object=x) * 2),
    ],
)
def test_names_that_are_looked_up_in_the_dictionary(f):
    np.testing.assert_array_equal(grad(f)(X), 2 * np.ones(3))


def test_names_that_are_written_into_the_dictionary():
    def f(x):
        globals()["written"] = x * globals().setdefault("FIRST", 3.0)
        return np.sum(written)  # noqa: F821

    np.testing.assert_array_equal(grad(f)(X), 3 * np.ones(3))
    assert type(globals().pop("written")) is np.ndarray and globals().pop("FIRST") == 3.0
