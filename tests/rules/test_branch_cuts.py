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
