"""`over` and `times` become plain operators only where nobody can tell the difference."""

import math
import operator
import warnings

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.ranges import Ranges
from s2sgrad.transform.optimize.relax import relax

VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-200, 1e160, -1e160, 1e308, 30.0, -30.0, 800.0, -800.0]
BEYOND = [math.inf, -math.inf, math.nan]


def rational(x):
    y = np.sin(x) * x + np.exp(-x * x)
    return y / (1.0 + x * x)


def bump(x):
    return np.exp(-x * x) * x


def masked(x):
    return np.where(np.abs(x) < 2.0, np.exp(-x * x), 0.0) + np.where(x > 0, np.sqrt(x), 0.0)


def growing(x):
    return np.where(x < 10, np.exp(x), 0.0)


def saturating(x):
    return x / (1.0 + np.abs(x)) + np.tanh(x) / np.sqrt(1.0 + x * x)


def inverse(x):
    return np.where(x > 0, 1.0 / x, 0.0)


def quotient(x):
    return np.where(x > 1, np.sin(x) / x, x) / np.cosh(x * 0.001)


def shifted(x):
    return np.where(x > 0, np.exp(-x * x) * 2.0, 0.0) + np.exp(-np.abs(x))


FUNCTIONS = [rational, bump, masked, growing, saturating, inverse, quotient, shifted]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("values", [VALUES, VALUES + BEYOND])
def test_same_numbers_as_the_tape(function, values):
    def total(x):
        return np.sum(function(x))

    x = np.array(values)
    found, expected = grad(total, mode="compiled")(x), grad(total, mode="tape")(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", VALUES + BEYOND)
def test_same_numbers_one_by_one(function, x):
    derivative = grad(function, mode="compiled")
    try:
        function(x)
    except ZeroDivisionError:
        pytest.raises(ZeroDivisionError, derivative, x)
        return
    np.testing.assert_allclose(derivative(x), grad(function, mode="tape")(x), rtol=1e-12)


def test_plain_where_it_can_be():
    for function in (rational, bump):
        derivative = grad(function, mode="compiled")
        derivative(0.5)
        assert "over(" not in derivative.source and "times(" not in derivative.source


@pytest.mark.parametrize("function, name", [(growing, "times"), (inverse, "product"), (masked, "over")])
def test_careful_where_it_has_to_be(function, name):
    def total(x):
        return np.sum(function(x))

    derivative = grad(total, mode="compiled")
    derivative(np.array([0.5, 1.0]))
    assert f"{name}(" in derivative.source


def test_no_zero_division_that_the_function_did_not_have():
    def f(x, y):
        return x / y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = grad(f, mode="compiled")(1.0, np.float64(0.0))
    assert found == math.inf


def test_integers_wrap_around():
    """A square of integers may be negative: nothing is concluded from it."""
    for dtype, low in [("int64", -math.inf), ("float64", 0.0)]:
        n, square = (ir.Value(name, types.one_array(dtype, 1)) for name in ("n", "square"))
        assert Ranges({square: ir.Op(square, operator.mul, (n, n))}).of(square).low == low


def decay(x):
    while x > 0.1:
        x = x / (1.0 + x * x)
    return x * x


def test_a_while_loop_keeps_its_test():
    """The generated loops of a second derivative are rewritten, too."""
    first = grad(decay, mode="compiled")
    second = grad(first, mode="compiled")
    step = 1e-6
    for x in (0.05, 0.7, 1.3):
        assert first(x) == pytest.approx((decay(x + step) - decay(x - step)) / (2 * step), rel=1e-6)
        assert second(x) == pytest.approx((first(x + step) - first(x - step)) / (2 * step), rel=1e-6)
    assert "\n    while x > 0.1:\n" in second.source
    assert "over(" not in first.source


def relaxed_of(statements, result):
    body = ir.Block(statements, (result,))
    return relax(ir.Function("f", [], body, ir.Namespace({}), backward_at=0)).body.statements


def test_relaxing_what_is_in_a_while_loop_leaves_the_loop_as_it_is():
    p, d, t, r = (ir.Value(name, ir.FLOAT) for name in "pdtr")
    inner = [ir.Op(d, operator.add, (ir.Constant(1.0), ir.Constant(2.0))), ir.Op(t, arrays.over, (ir.Constant(1.0), d))]
    carried = [ir.Carried(p, ir.Constant(4.0), r)]
    (loop,) = relaxed_of([ir.While([], carried, ir.Block(inner, (t,)), test=p)], r)
    assert type(loop) is ir.While
    assert loop.test is p
    assert loop.body.statements[1].function is operator.truediv


def test_what_a_loop_saved_is_as_far_from_zero_where_it_is_read_again():
    def total(x):
        for _ in range(3):
            x = x / (1.0 + x * x)
        return np.sum(x)

    derivative = grad(total, mode="compiled")
    x = np.array([0.5, -2.0, 0.0])
    np.testing.assert_allclose(derivative(x), grad(total, mode="tape")(x), rtol=1e-12)
