"""Recorded numbers have what the numbers have that they stand for, and nothing that only arrays have."""

import typing
from collections.abc import Iterable, Sized

import numpy as np
import pytest

from s2sgrad import value_and_grad

NUMBERS = [2.0, 1 + 2j, np.float64(2.0), np.float32(2.0), np.array(2.0), np.array([2.0, 3.0])]
KINDS = [Sized, Iterable, float, complex, np.floating, np.ndarray, typing.SupportsIndex, (int, float)]
SPECIAL = [
    "__len__",
    "__iter__",
    "__getitem__",
    "__setitem__",
    "__contains__",
    "__array__",
    "__array_ufunc__",
    "__index__",
]
NAMES = [
    "shape",
    "flat",
    "fill",
    "astype",
    "copy",
    "item",
    "T",
    "is_integer",
    "hex",
    "view",
    "tolist",
    "sort",
    "no_such",
]


def same_in_both(function, number):
    """Is what a function of a number gives the same while it is recorded?"""
    given = number.copy() if isinstance(number, np.ndarray) else number
    expected = function(number.copy() if isinstance(number, np.ndarray) else number)
    derivative = value_and_grad(lambda k: np.real(np.sum(k * function(k))), mode="tape")
    value, _ = derivative(given)
    return value == np.real(np.sum(number * expected))


@pytest.mark.parametrize("name", SPECIAL + NAMES)
def test_hasattr(name):
    assert all(same_in_both(lambda k: 2.0 if hasattr(k, name) else 3.0, number) for number in NUMBERS)
    assert all(same_in_both(lambda k: 2.0 if getattr(k, name, None) is None else 3.0, number) for number in NUMBERS)


@pytest.mark.parametrize("kind", KINDS)
def test_isinstance(kind):
    assert all(same_in_both(lambda k: 2.0 if isinstance(k, kind) else 3.0, number) for number in NUMBERS)


ATTEMPTS = {
    "fill": lambda k: k.fill,
    "fill()": lambda k: k.fill(1.0),
    "put": lambda k: k.put([0], [1.0]),
    "tolist": lambda k: k.tolist(),
    "item": lambda k: k.item(),
    "clip": lambda k: k.clip(0, 1),
    "conj": lambda k: k.conj(),
    "partition": lambda k: k.partition,
    "flat": lambda k: k.flat,
    "view": lambda k: k.view(),
    "len": lambda k: len(k),
    "iter": lambda k: iter(k),
    "del": lambda k: k.__delitem__(0),
    "getattr": lambda k: getattr(k, "fill"),  # noqa: B009
    "nothing": lambda k: k.nothing_has_this,
}


@pytest.mark.parametrize("number", NUMBERS[:4])
@pytest.mark.parametrize("name", ATTEMPTS)
def test_what_a_number_has_not_raises_as_without_recording(name, number):
    def attempt(k):
        try:
            ATTEMPTS[name](k)
            return 2.0
        except (AttributeError, TypeError):
            return 3.0

    assert same_in_both(attempt, number)


def test_elements_are_not_deleted():
    def attempt(x):
        try:
            del x[0]
        except ValueError:
            return np.sum(x)

    assert value_and_grad(attempt, mode="tape")(np.ones(2))[0] == 2.0


class Count:
    def __init__(self, function):
        self.calls = 0
        self.function = function

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


X = np.array([0.5, -1.5, 2.0])
VECTORIZED = {
    "called once more": ({}, lambda v: v * v),
    "types given": ({"otypes": [float]}, lambda v: v * v),
    "narrow type given": ({"otypes": "f"}, lambda v: v * v),
    "whole numbers": ({"otypes": [int]}, lambda v: v * 3),
    "type of the first": ({}, lambda v: 3 if v == 0.5 else v),
    "Python's numbers": ({}, lambda v: v * (2 if type(v) is float else 3)),
    "several": ({}, lambda v: (v * v, 2 * v)),
    "of several types": ({"otypes": "df"}, lambda v: (v * v, 2 * v)),
}


@pytest.mark.parametrize("name", VECTORIZED)
def test_vectorize(name):
    options, function = VECTORIZED[name]

    def f(x, counted):
        out = np.vectorize(counted, **options)(x)
        return np.sum(out) if isinstance(out, np.ndarray) else np.sum(out[0] * out[1])

    plain, recorded = Count(function), Count(function)
    expected = f(X, plain)
    value, gradient = value_and_grad(f, mode="tape")(X, recorded)
    assert value == expected
    assert type(value) is type(expected)
    assert recorded.calls == plain.calls
    step = 1e-6 * np.eye(3)
    if name in ("whole numbers", "type of the first"):
        assert gradient.tolist() == [0, 0, 0]
    else:
        differences = [(f(X + d, Count(function)) - f(X - d, Count(function))) / 2e-6 for d in step]
        # in single precision the differences are of a few digits only
        assert gradient == pytest.approx(differences, rel=1e-6, abs=1e-6 if "f" not in str(options) else 1.0)


def test_vectorize_with_keywords_and_of_nothing():
    def f(x):
        return np.sum(np.vectorize(lambda a, b=1.0: a * b)(x, b=x[::-1]))

    value, gradient = value_and_grad(f, mode="tape")(X)
    assert (value, gradient.tolist()) == (f(X), [4.0, -3.0, 1.0])
    with pytest.raises(ValueError, match="size 0"):
        value_and_grad(f, mode="tape")(X[:0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x[1][None] ** 2) * x[1],
        lambda x: np.sum(x[1][None, None] * x),
        lambda x: np.sum(np.sum(x)[None, ...] * x),
        lambda x: np.sum(np.sum(x)[True] ** 2),
        lambda x: x[1][...] * x[2],
    ],
)
def test_numbers_that_get_axes(f):
    differences = [(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    value, gradient = value_and_grad(f, mode="tape")(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, differences, rtol=1e-6)
