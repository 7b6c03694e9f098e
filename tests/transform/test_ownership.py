"""Gradients without copies: still nobody else's."""

import itertools

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad


def same_cotangent(a, b, c):
    return np.sum(np.tanh(a + b + c))


def straight_through(a, b, c):
    return np.sum(a) + np.sum(b * c)


def views(a, b, c):
    return np.sum(a[::-1] * b) + np.sum(np.reshape(c, (-1, 1)).T)


def one_is_an_argument(a, b, c):
    return np.sum(a * b) + np.sum(c * np.ones(3))


def carried(a, b, c):
    h = a
    for _ in range(3):
        h = h + b
    return np.sum(h * c)


def in_a_branch(a, b, c):
    s = a + b if np.sum(c) > 0 else a - b
    return np.sum(s) + np.sum(c * s)


def listed(a, b, c):
    total = 0.0
    for x in [a, b, a]:
        total = total + np.sum(x * c)
    return total


FUNCTIONS = [same_cotangent, straight_through, views, one_is_an_argument, carried, in_a_branch, listed]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("make", [grad, value_and_grad])
def test_no_gradient_shares_memory(function, make):
    args = [np.arange(1.0, 4.0) + i for i in range(3)]
    before = [x.copy() for x in args]
    derivative = make(function, (0, 1, 2))
    result = derivative(*args)
    gradients = result[1] if make is value_and_grad else result
    for one, other in itertools.combinations([*gradients, *args], 2):
        assert not np.shares_memory(one, other)
    for d, e in zip(gradients, grad(function, (0, 1, 2), mode="tape")(*args), strict=True):
        assert d.flags.writeable and d.shape == e.shape and d.dtype == e.dtype
        np.testing.assert_allclose(d, e)
        d += 1.0
    again = derivative(*args)
    for x, kept in zip(args, before, strict=True):
        np.testing.assert_array_equal(x, kept)
    for d, e in zip(again[1] if make is value_and_grad else again, gradients, strict=True):
        np.testing.assert_allclose(d, e - 1.0)


def test_fresh_arrays_are_not_copied():
    derivative = grad(same_cotangent, 0, mode="compiled")
    derivative(*[np.ones(3)] * 3)
    assert "as_gradient" not in derivative.source


def test_containers_are_one_literal():
    def loss(params, x):
        w, b = params
        return np.sum(np.tanh(x @ w + b))

    derivative = grad(loss, mode="compiled")
    derivative((np.ones((3, 2)), np.ones(2)), np.ones((4, 3)))
    assert "return dw, db" in derivative.source or "(dw, db)" in derivative.source
    assert "dt.sum(axis=0)" in derivative.source
