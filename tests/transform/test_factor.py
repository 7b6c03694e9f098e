"""Common factors are taken out of sums of numbers, and nothing else changes."""

import numpy as np
import pytest

import s2sgrad


def central(f, x, *rest, h=1e-6):
    return (f(x + h, *rest) - f(x - h, *rest)) / (2 * h)


def last_lines(derivative, *args):
    derivative(*args)
    return derivative.source


def test_a_common_cotangent_stays_in_each_product():
    def f(x, a, b):
        y = np.sin(x)
        return np.exp(y * a + y * b)

    g = s2sgrad.grad(f)
    source = last_lines(g, 0.3, 2.0, 0.5)
    assert "dy = result * b + result * a" in source  # `b + a` may overflow where `result` is zero
    np.testing.assert_allclose(g(0.3, 2.0, 0.5), central(f, 0.3, 2.0, 0.5), rtol=1e-7)


def test_products_with_a_common_last_factor():
    def f(x, a):
        return np.exp(-x * x) * a

    g = s2sgrad.grad(f)
    assert "dx = -(2 * a * np.exp(-x * x) * x)" in last_lines(g, 0.3, 2.0)
    np.testing.assert_allclose(g(0.3, 2.0), central(f, 0.3, 2.0), rtol=1e-7)


def test_what_cancels_stays():
    """``x - x`` is nan where x is infinite."""

    def f(x):
        return x * 3.0 - x * 3.0

    g = s2sgrad.grad(f)
    assert g(1.0) == 0.0

    def h(x, a):
        y = x * a
        return y - y

    assert np.isnan(s2sgrad.grad(h)(1.0, np.inf))
    assert np.isnan(s2sgrad.grad(h, mode="tape")(1.0, np.inf))
    assert s2sgrad.grad(h)(1.0, 2.0) == 0.0


@pytest.mark.parametrize("big", [1e90, 1e100])
def test_zero_cotangent_meets_no_product_that_overflows(big):
    def f(x, c):
        y = x * big * x + x * big
        return y * c + x

    assert s2sgrad.grad(f)(1e100, 0.0) == 1.0
    tape = s2sgrad.grad(f, mode="tape")
    assert tape(1e100, 0.0) == 1.0


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_zero_cotangent_meets_no_sum_that_overflows(mode):
    def f(x, c, a, b):
        return (x * a + x * b) * c

    assert f(0.5, 0.0, 1e308, 1e308) == 0.0
    assert s2sgrad.grad(f, mode=mode)(0.5, 0.0, 1e308, 1e308) == 0.0


def test_order_of_factors_is_kept():
    """The small factor comes before the big ones: nothing overflows on the way."""

    def f(x, small, big):
        y = x * small
        return y * big * 1e200 + y * big * 1e100

    g = s2sgrad.grad(f)
    expected = s2sgrad.grad(f, mode="tape")(1.0, 1e-250, 1e200)
    np.testing.assert_allclose(g(1.0, 1e-250, 1e200), expected, rtol=1e-12)


def test_loops_and_branches():
    def f(x, n):
        y = x
        for i in range(n):
            if i % 2:
                y = y * np.cos(y) + y * x
                continue
            y = y * 0.5 - x * y * y
        return y

    g = s2sgrad.value_and_grad(f)
    value, d = g(0.4, 5)
    assert g.engine == "compiled"
    assert value == f(0.4, 5)
    np.testing.assert_allclose(d, central(f, 0.4, 5), rtol=1e-7)
    np.testing.assert_allclose(d, s2sgrad.grad(f, mode="tape")(0.4, 5), rtol=1e-13)


def test_integers_and_float32_are_left_alone():
    def f(x, n):
        return x * n + x * n * n + x * n

    for n in (np.int8(100), np.uint8(200)):
        expected = s2sgrad.grad(f, mode="tape")(1.0, n)
        assert s2sgrad.grad(f)(1.0, n) == expected
    d = s2sgrad.grad(lambda x: x * x * x + x * x)(np.float32(1.1))
    assert type(d) is np.float32


def test_what_is_subtracted_and_added_again_stays():
    def f(x):
        return x - (x - x)

    g = s2sgrad.grad(f, mode="compiled")
    assert g(2.0) == 1.0
    loud = s2sgrad.vjp(f, 2.0)[1]
    assert np.isnan(loud(np.inf)) and np.isnan(s2sgrad.vjp(lambda x: eval("x - (x - x)"), 2.0)[1](np.inf))


def test_halves_that_make_a_whole():
    def f(x):
        y = np.sin(x)
        return np.exp(0.5 * y + 0.5 * y)

    g = s2sgrad.grad(f, mode="compiled")
    np.testing.assert_allclose(g(0.3), central(f, 0.3), rtol=1e-7)


def test_second_order():
    def f(x):
        return np.sin(x) * x + np.exp(-x * x) * x

    second = s2sgrad.grad(s2sgrad.grad(f))
    np.testing.assert_allclose(second(0.7), central(s2sgrad.grad(f), 0.7), rtol=1e-7)
