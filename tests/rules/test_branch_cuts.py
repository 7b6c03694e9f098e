"""Slopes on a branch cut are those of the side that the sign of a zero says."""

import cmath

import numpy as np
import pytest

from s2sgrad import grad

both_engines = pytest.mark.parametrize("mode", ["auto", "tape"])
outside = pytest.mark.parametrize("x", [-2.5, -1.5, 1.5, 2.5])


def slope(x):
    """Of the imaginary part of arccos above its cut, which is -arccosh(abs(x))."""
    return -np.sign(x) / np.sqrt(x * x - 1)


@both_engines
@outside
def test_real_numbers_outside_of_the_domain(x, mode):
    for function, sign in ((np.emath.arccos, 1), (np.emath.arcsin, -1)):
        found = grad(lambda x, f=function: np.sum(np.imag(f(x))), mode=mode)(np.array([x]))
        np.testing.assert_allclose(found, sign * slope(x), rtol=1e-12)


@both_engines
@outside
@pytest.mark.parametrize("side", [0.0, -0.0])
def test_both_sides(x, side, mode):
    for function, sign in ((cmath.acos, 1), (cmath.asin, -1)):
        found = grad(lambda x, f=function: f(complex(x, side)).imag, mode=mode)(x)
        np.testing.assert_allclose(found, sign * np.copysign(1, side) * slope(x), rtol=1e-12)


@both_engines
@pytest.mark.parametrize("x", [-2.5, -1.5, 1.5, 2.5])
@pytest.mark.parametrize("side", [0.0, -0.0])
def test_arcsinh_along_the_imaginary_axis(x, side, mode):
    expected = np.sign(x) * np.copysign(1, side) / np.sqrt(x * x - 1)  # of the real part
    found = grad(lambda x: cmath.asinh(complex(side, x)).real, mode=mode)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    found = grad(lambda x: np.arcsinh(complex(side, x)).real, mode=mode)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@both_engines
@pytest.mark.parametrize("x", [-2.5, -0.5, 0.5])
@pytest.mark.parametrize("side", [0.0, -0.0])
def test_arccosh_below_one(x, side, mode):
    function = (lambda w: w.imag) if abs(x) < 1 else (lambda w: w.real)
    expected = -np.copysign(1, side) / np.sqrt(1 - x * x) if abs(x) < 1 else -1 / np.sqrt(x * x - 1)
    for arccosh in (cmath.acosh, np.arccosh):
        found = grad(lambda x, f=arccosh: function(f(complex(x, side))), mode=mode)(x)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
