"""Every way to write into an array is seen by the tape, or refused: nothing is saved that changes later."""

import warnings

import numpy as np
import pytest

from s2sgrad import value_and_grad
from s2sgrad.errors import TapeError
from s2sgrad.runtime.fallback import tape_vjp
from s2sgrad.runtime.views import overlaps_itself
from tests.tape.numeric import differences, grad

X = np.array([0.3, -1.2, 0.8])
A = np.array([[1.0, 2.0, 0.5], [0.0, 3.0, 1.0], [1.0, -1.0, 2.0]])


def check(f, x):
    out, pullback = tape_vjp(f, (x.copy(),), {}, [0])
    assert out == f(x.copy())
    np.testing.assert_allclose(pullback(1.0)[0], differences(f, x), rtol=1e-6, atol=1e-7)


def drawn(shape=3):
    return np.random.default_rng(0).normal(size=shape)


INTO = {
    "ufunc": lambda x, o: np.multiply(x, 2, o),
    "ufunc, tuple": lambda x, o: np.multiply(x, 2, out=(o,)),
    "clip": lambda x, o: np.clip(x, -1, 1, o),
    "sum": lambda x, o: np.sum(x * A, 0, None, o),
    "mean, result used": lambda x, o: np.mean(x[None], 0, None, o),
    "reduce": lambda x, o: np.add.reduce(x * A, 0, None, o),
    "accumulate": lambda x, o: np.add.accumulate(x, 0, None, o),
    "dot": lambda x, o: np.dot(A, x, o),
    "method": lambda x, o: x.cumsum(0, None, o),
}


@pytest.mark.parametrize("write", INTO.values(), ids=INTO)
def test_recorded_values_written_into_a_positional_out(write):
    def f(x):
        o = np.ones(3)
        r = write(x, o)
        return np.sum(o**2) + np.sum(r**3)

    check(f, X)


CONSTANT = {
    "ufunc": lambda b: np.add(b, 1, b),
    "clip": lambda b: np.clip(b, 0, 1, b),
    "dot": lambda b: np.dot(A, b.copy(), b),
    "max": lambda b: np.max(A, 0, b),
    "method": lambda b: A.max(0, b),
    "round": lambda b: np.round(b / 3, 1, b),
    "round, method": lambda b: (b / 3).round(1, b),
    "shuffle": lambda b: np.random.default_rng(1).shuffle(b),
    "shuffle, of the module": lambda b: (np.random.seed(1), np.random.shuffle(b)),
    "permuted": lambda b: np.random.default_rng(1).permuted(b, out=b),
    "random": lambda b: np.random.default_rng(1).random(out=b),
    "standard_normal": lambda b: np.random.default_rng(1).standard_normal(3, np.float64, b),
    "put_along_axis": lambda b: np.put_along_axis(b, np.array([0]), 5.0, 0),
    "view": lambda b: b.view().fill(4.0),
    "through asarray": lambda b: np.asarray(b).fill(4.0),
}


@pytest.mark.parametrize("write", CONSTANT.values(), ids=CONSTANT)
@pytest.mark.parametrize("make", [lambda: np.array([1.0, 3.0, 2.0]), drawn], ids=["array", "drawn"])
def test_constant_written_after_it_was_used(make, write):
    def f(x):
        b = make()
        y = x * b
        write(b)
        return np.sum(y * y) + np.sum(x**3 * b)

    check(f, X)


ALIASES = {
    "asarray": np.asarray,
    "view": lambda b: b.view(),
    "array, no copy": lambda b: np.array(b, copy=None),
    "more axes": lambda b: np.array(b, copy=None, ndmin=2),
    "require": lambda b: np.require(b),
    "atleast_2d": np.atleast_2d,
    "conj": lambda b: b.conj(),
    "real": np.real,
    "flip": np.flip,
    "split": lambda b: np.split(b, 3)[1],
    "astype": lambda b: b.astype(float, copy=False),
}


@pytest.mark.parametrize("alias", ALIASES.values(), ids=ALIASES)
@pytest.mark.parametrize(
    "make", [lambda x: x * 2, lambda x: np.ones(3), lambda x: drawn()], ids=["on x", "ones", "drawn"]
)
def test_alias_written(make, alias):
    def f(x):
        b = make(x)
        w = alias(b)
        w[...] = x[0] * 3
        b[1] = x[2]
        return np.sum(b**2) + np.sum(w**3)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(f, X)


class Holder:
    array = np.array([1.0, 2.0, 3.0])


def test_view_of_an_array_out_of_sight_is_out_of_sight():
    holder = Holder()

    def f(x):
        w = np.asarray(holder.array)
        w -= x
        return np.sum(holder.array**2)

    with pytest.raises(TapeError, match="written into a plain array"):
        grad(f)(X)


def test_iterator_that_writes_is_refused():
    def f(x):
        b = np.ones(3)
        for item in np.nditer(b, op_flags=["readwrite"]):
            item[...] = 7
        return np.sum(x * b)

    with pytest.raises(TapeError, match="nditer"):
        grad(f)(X)


def test_view_that_overlaps_itself_is_not_written():
    def f(x):
        first, _ = np.meshgrid(x * 1, x * 2, copy=False)
        first *= 2
        return np.sum(first)

    with pytest.raises(TapeError, match="share their memory"):
        grad(f)(X)
    assert overlaps_itself(np.broadcast_to(X, (2, 3)))
    assert not overlaps_itself(A[::2, ::-1].T)


def test_memory_lent_to_code_out_of_sight_is_not_written_while_it_holds_it():
    def f(x):
        b = np.ones(3)
        lent = b.__array__()
        b[...] = x
        return np.sum(lent * b)

    with pytest.raises(TapeError, match="holds its memory"):
        grad(f)(X)

    def g(x):
        b = np.ones(3)
        assert float(memoryview(b.__array__())[0]) == 1.0
        b[...] = x
        return np.sum(b * b)

    np.testing.assert_allclose(grad(g)(X), 2 * X)


def test_drawn_numbers_are_those_of_a_plain_call():
    generator = np.random.default_rng(3)

    def f(x):
        state = np.random.RandomState(0)
        assert isinstance(state, np.random.RandomState) and isinstance(generator, np.random.Generator)
        return np.sum(x * generator.normal(size=3) * state.randn(3))

    out = tape_vjp(f, (X,), {}, [0])[0]
    expected = np.sum(X * np.random.default_rng(3).normal(size=3) * np.random.RandomState(0).randn(3))
    assert out == expected


@pytest.mark.parametrize("write", [np.putmask, np.place])
def test_values_of_a_wider_kind_are_refused_as_numpy_does(write):
    def f(x, given):
        a = np.zeros(2, np.float32)
        write(a, a == 0, given(x))
        return np.sum(a)

    x = np.array([0.5, 2.0])
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        grad(f)(x, lambda x: x)
    assert np.array_equal(grad(f)(x, lambda x: x[0]), [2.0, 0.0])


def test_what_is_added_at_places_may_be_a_list():
    def f(x):
        u = np.zeros(3)
        np.add.at(u, [0, 0, 2], [x[1], 2.0, x[0] ** 2])
        return np.sum(u * np.arange(1.0, 4.0))

    assert np.array_equal(grad(f)(np.array([0.5, 2.0])), [3.0, 1.0])


def test_at_with_values_that_are_the_array_itself():
    def f(x, ufunc):
        y = x * 1
        ufunc.at(y, [0, 2, 0, 0, 2], y[[1, 0, 2, 1, 1]] if ufunc is np.add else y)
        return np.sum(np.sin(y) * np.arange(1, 6))

    x = np.array([0.3, 0.7, 0.9, 1.3, 0.5])
    for ufunc in (np.add, np.multiply, np.maximum, np.logaddexp):
        check(lambda x, ufunc=ufunc: f(x, ufunc), x)


def test_results_that_are_cut_to_integers_have_no_derivative():
    def f(x):
        b = np.zeros(2, int)
        np.add(x, x, out=b, casting="unsafe")
        return np.sum(b * x)

    np.testing.assert_array_equal(grad(f)(np.array([1.5, 2.25])), [3.0, 4.0])


INTO_OTHERS = {
    "copyto": lambda a: np.copyto(a, -1.5),
    "copyto of an array": lambda a: np.copyto(a, np.array([0.5, 1.5])),
    "copyto of a list": lambda a: np.copyto(a, [0.5, 2.5]),
    "copyto of an integer": lambda a: np.copyto(a, 3),
    "copyto where": lambda a: np.copyto(a, -1.5, where=a > 0),
    "copyto of any kind": lambda a: np.copyto(a, 1.5, casting="unsafe"),
    "put": lambda a: np.put(a, [0, 1], np.array([0.5, 1.5])),
    "place": lambda a: np.place(a, a > 0, [0.5]),
    "putmask": lambda a: np.putmask(a, a > 0, np.array([0.5, 2.0])),
    "fill": lambda a: a.fill(0.5),
    "out": lambda a: np.add(a, 0.5, out=a),
    "out of a sum": lambda a: np.sum(np.array([[0.5, 1.5]]), axis=0, out=a),
    "add.at": lambda a: np.add.at(a, [0], 0.5),
}


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("dtype", [int, "u1", "i1", "f4", bool, complex])
@pytest.mark.parametrize("write", INTO_OTHERS.values(), ids=INTO_OTHERS.keys())
def test_arrays_of_other_kinds_are_written_as_numpy_does_or_not(write, dtype, mode):
    def f(x):
        a = np.array([1, 2]).astype(dtype)
        write(a)
        return x * np.sum(np.abs(a))

    def outcome(function):
        try:
            return float(function())
        except Exception as error:
            return type(error)

    assert outcome(lambda: value_and_grad(f, mode=mode)(2.0)[0]) == outcome(lambda: f(2.0))
