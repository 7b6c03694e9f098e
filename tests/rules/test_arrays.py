"""The array helpers that rules, generated code and the tape share."""

import warnings
from collections import namedtuple
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.runtime.arrays import (
    add_at,
    as_gradient,
    embed,
    from_rows,
    is_differentiable,
    is_promotable,
    over,
    times,
    tree_add,
    unbroadcast,
    zeros_of,
)

INF, NAN = np.inf, np.nan
KINDS = [float, np.float64, np.array, np.float32, complex, lambda x: np.array([x, x])]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [0.0, NAN, INF])
def test_a_zero_cotangent_stays_zero_without_warnings(kind, bad):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.all(over(kind(0.0), kind(bad)) == 0)
        assert np.all(times(kind(0.0), kind(bad)) == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_over_and_times_keep_kind_and_dtype(kind):
    for g, d in [(1.5, 2.0), (0.0, 0.0), (0.0, 2.0), (1.0, 0.0)]:
        if d == 0.0 and kind is complex and g != 0.0:
            continue
        for f in (over, times):
            out = f(kind(g), kind(d))
            assert np.result_type(out) == np.result_type(kind(g))
            assert np.shape(out) == np.shape(kind(g))
            assert type(out) is not np.ndarray or out.ndim > 0


def test_over_by_zero_is_infinite_with_the_sign_of_a_division():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert over(1.0, 0.0) == INF and over(-1.0, 0.0) == -INF and over(1.0, -0.0) == -INF
        np.testing.assert_array_equal(over(np.array([1.0, -1.0, 0.0]), np.zeros(3)), [INF, -INF, 0.0])


def test_over_and_times_broadcast_and_pass_honest_values():
    g, d = np.array([[0.0], [2.0]]), np.array([0.0, 4.0, NAN])
    np.testing.assert_array_equal(over(g, d), [[0.0, 0.0, 0.0], [INF, 0.5, NAN]])
    np.testing.assert_array_equal(times(g, d), [[0.0, 0.0, 0.0], [0.0, 8.0, NAN]])
    with np.errstate(all="raise"):
        for d in (0j, np.complex128(0), complex(INF, NAN), np.complex128(complex(NAN, 1))):
            assert over(0j, d) == over(np.complex128(0), d) == 0
        assert over(1 + 2j, np.complex128(1j)) == over(np.complex128(1 + 2j), 1j) == 2 - 1j
    assert over(2, 4) == 0.5 and times(2, np.float32(3)) == 6
    assert over(np.zeros((0, 2)), np.zeros(2)).shape == (0, 2)


@pytest.mark.parametrize(
    "g, x, shape",
    [
        (np.ones((2, 3)), np.ones((2, 3)), (2, 3)),
        (np.ones((2, 3)), np.ones(3), (3,)),
        (np.ones((4, 2, 3)), np.ones((2, 1)), (2, 1)),
        (np.ones((2, 3)), 1.0, ()),
        (np.ones((2, 3)), 1, ()),
        (1.0, np.ones((2, 3)), (2, 3)),
        (np.ones((3, 1)), np.ones((1, 4)), (1, 4)),
        (np.ones((0, 3)), np.ones((1, 3)), (1, 3)),
        (np.ones((1, 3)), np.ones((0, 3)), (0, 3)),
    ],
)
def test_unbroadcast_gives_the_shape_of_its_argument(g, x, shape):
    assert np.shape(unbroadcast(g, x)) == shape
    assert not np.iscomplexobj(unbroadcast(g * 1j, x))
    assert np.iscomplexobj(unbroadcast(g * 1j, x * 1j))


def test_unbroadcast_sums():
    np.testing.assert_array_equal(unbroadcast(np.arange(6.0).reshape(2, 3), np.ones((2, 1))), [[3.0], [12.0]])
    g = np.ones(3)
    assert unbroadcast(g, np.zeros(3)) is g


def test_repeated_indices_all_count():
    np.testing.assert_array_equal(embed(np.ones((3, 2)), np.ones((2, 2)), [0, 0, 1]), [[2, 2], [1, 1]])
    np.testing.assert_array_equal(add_at(np.ones(3), np.array([True, False, True]), 1.0), [2, 1, 2])
    np.testing.assert_array_equal(add_at(np.ones(3), -1, 1.0), [1, 1, 2])
    assert embed(np.float32(1), np.ones(2), 0).dtype == np.float32


def test_from_rows():
    np.testing.assert_array_equal(from_rows([1.0, None], np.ones(3)), [1.0, 0.0, 0.0])
    assert from_rows([], np.ones((2, 2), np.float32)).dtype == np.float32


Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Model:
    w: np.ndarray
    name: str


def test_tree_add():
    assert tree_add(Pair(1.0, None), Pair(None, 2.0)) == Pair(1.0, 2.0)
    assert tree_add([1.0], [1.0, 2.0]) == [2.0, 2.0]
    assert tree_add({"a": 1.0}, {"a": 1.0, "b": [None]}) == {"a": 2.0, "b": [None]}
    assert tree_add(None, None) is None


@pytest.mark.parametrize("d", [None, 1.0, np.ones(3), np.ones(3, np.complex128), np.broadcast_to(1.0, (3,))])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.complex64, np.int32])
def test_as_gradient_of_an_array(d, dtype):
    x = np.ones(3, dtype)
    gradient = as_gradient(d, x)
    assert gradient.shape == (3,) and gradient.flags.writeable and gradient.flags.owndata
    assert gradient.dtype == (np.float64 if dtype is np.int32 else dtype)
    assert not (isinstance(d, np.ndarray) and np.shares_memory(gradient, d))


def test_as_gradient_of_numbers():
    assert type(as_gradient(np.float64(2.0), 1.0)) is float
    assert type(as_gradient(np.array(2.0), 1)) is float
    assert type(as_gradient(2, np.float32(1))) is np.float32
    assert as_gradient(1 + 2j, 1j) == 1 + 2j
    assert as_gradient(1 + 2j, 3.0) == 1.0


def test_as_gradient_keeps_the_structure():
    x = {"pair": Pair(1.0, np.ones(2)), "list": [1, (2.0,)]}
    gradient = as_gradient({"pair": (None, 1.0)}, x)
    assert gradient["pair"].a == 0.0 and gradient["list"] == [0.0, (0.0,)]
    np.testing.assert_array_equal(gradient["pair"].b, [1.0, 1.0])
    model = as_gradient({"w": 1.0}, Model(np.ones(2), "m"))
    np.testing.assert_array_equal(model.w, [1.0, 1.0])
    assert type(model) is Model and model.name is None


def test_an_owned_cotangent_is_not_copied():
    d = np.ones(3)
    assert as_gradient(d, np.zeros(3), owned=True) is d
    assert as_gradient(d, np.zeros(3)) is not d


def test_what_can_be_differentiated():
    for x in (1.0, 1j, np.float32(1), np.ones(2), np.ones(2, ml_dtypes.bfloat16), np.ones(2, np.longdouble)):
        assert is_differentiable(x) and not is_promotable(x)
    for x in (1, np.int8(1), np.arange(3)):
        assert is_promotable(x) and not is_differentiable(x)
    for x in (True, np.bool_(True), np.ones(2, bool), "a", None, [1.0], np.array(["a"])):
        assert not is_promotable(x) and not is_differentiable(x)


def test_zeros_of():
    assert zeros_of(1.0) == 0.0 and type(zeros_of(np.float32(1))) is np.float32
    assert zeros_of(np.ones(2, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_to_see_whether_numbers_are_finite_raises_nothing(mode):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        g = grad(lambda x: np.sum(np.exp(x)), mode=mode)(np.array([400.0, 500.0]))
        np.testing.assert_array_equal(g, np.exp([400.0, 500.0]))
        g = grad(lambda x: np.sum(1 / (1 + np.exp(-x))), mode=mode)(np.array([-400.0, 2.0]))
        np.testing.assert_allclose(g, [0.0, np.exp(-2.0) / (1 + np.exp(-2.0)) ** 2], atol=1e-15)
        g = grad(lambda x: np.sum(np.log(x) * 1e-10), mode=mode)(np.array([1e-300, 2.0]))
        np.testing.assert_allclose(g, [1e290, 5e-11])
