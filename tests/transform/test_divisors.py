"""Quotients in generated code: by what the function has divided by itself, zero is no question."""

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad


def by_counts(xs, h):
    total = 0.0
    for i in range(len(xs)):
        d = xs[i] / h
        total += d * d / (i + 1)
    return total


def by_complex_numbers(z):
    total = 0.0
    for k in range(3):
        total += (1 / (z + k)).real
    return total


def in_a_branch(x, h):
    y = x * x
    if x > 1.0:
        y = y / h
    return y + x / 2


def skipped(xs, h):
    total = 0.0
    for x in xs:
        if x > 1.0:
            total += x / h
        total += x * x
    return total


def test_numbers_that_loops_divide_by():
    g = value_and_grad(by_counts, mode="compiled")
    value, (a, b) = g([0.5, -1.5], 2.0)
    assert value == by_counts([0.5, -1.5], 2.0)
    assert a == pytest.approx(0.25) and b == pytest.approx(-0.375) and type(a) is type(b) is float
    assert "over" not in g.source
    assert "(i + 1)" in g.source.partition("# backward")[2]


def test_complex_numbers_that_loops_divide_by():
    g = grad(by_complex_numbers, mode="compiled")
    z = 0.3 - 0.4j
    assert g(z) == pytest.approx(np.conj(-sum(1 / (z + k) ** 2 for k in range(3))))
    assert "over" not in g.source


@pytest.mark.parametrize("function", [in_a_branch, skipped])
def test_what_is_divided_by_in_a_branch_alone_may_be_zero(function):
    x = 0.5 if function is in_a_branch else [0.5, 0.25]
    for mode in ("compiled", "tape"):
        assert np.allclose(grad(function, mode=mode)(x, 0.0), [1.5] if function is in_a_branch else [1.0, 0.5])


def test_numbers_of_numpy_divide_by_zero():
    with np.errstate(all="ignore"):
        d = grad(by_counts, mode="compiled")(np.array([1.0, 0.0]), 0.0)
    assert d[0] == np.inf
