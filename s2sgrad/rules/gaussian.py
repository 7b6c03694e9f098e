"""The normal distribution and the inverse and the scaled error function, which NumPy does not have."""

import math

import numpy as np

from s2sgrad.rules.neural import erfc
from s2sgrad.rules.table import elementwise
from s2sgrad.runtime.arrays import over

_TO_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)


def _in_type_of(x, out):
    kind = np.asarray(x).dtype
    with np.errstate(over="ignore"):
        return (out if kind.kind in "biu" else out.astype(kind))[()]


def erfinv(x):
    """The inverse of the error function.

    Examples
    --------
    >>> print(f"{math.erf(erfinv(0.3)):.15f}")
    0.300000000000000
    """
    return _in_type_of(x, _erfinvs(x, 1 - np.abs(np.asarray(x, np.float64))))


def _erfinv(x, rest):
    """The inverse at `x`, of which `rest` is ``1 - abs(x)`` to all digits."""
    if not abs(x) < 1.0 and not rest > 0.0:
        return math.copysign(math.inf, x) if rest == 0.0 else math.nan
    if x == 0.0:
        return x
    u = math.log1p(-x * x) if abs(x) < 0.5 else math.log(rest) + math.log(2 - rest)
    v = 2 / (math.pi * 0.147) + u / 2
    y = math.copysign(math.sqrt(math.sqrt(v * v - u / 0.147) - v), x)
    for _ in range(4):  # Halley's method, from a guess right to 0.002; erfc keeps the digits near the ends
        error = math.erf(y) - x if abs(x) < 0.5 else math.copysign(1.0, y) * (rest - math.erfc(abs(y)))
        step = error / (_TO_ROOT_PI * math.exp(-y * y))
        y -= step / (1 + y * step)
    return y


_erfinvs = np.vectorize(_erfinv, otypes=[np.float64])


def erfcx(x):
    """``exp(x ** 2) * erfc(x)``, without overflow and underflow.

    Examples
    --------
    >>> print(f"{erfcx(1.0):.12f} {math.e * math.erfc(1.0):.12f}")
    0.427583576156 0.427583576156
    """
    a = np.asarray(x, np.float64)
    near, far = np.minimum(a, 8.0), np.maximum(a, 8.0)
    with np.errstate(over="ignore"):
        scaled = np.exp(near * near) * erfc(near)
    term = series = np.ones_like(far)
    for k in range(1, 30):
        term = term * -(2 * k - 1) / (2 * far * far)
        series = series + term
    return _in_type_of(x, np.where(a < 8.0, scaled, series / (math.sqrt(math.pi) * far)))


def ndtr(x):
    """The probability of less than `x` under the normal distribution."""
    return erfc(-x * _ROOT_HALF) / 2


def log_ndtr(x):
    """The logarithm of `ndtr`.

    Examples
    --------
    >>> print(f"{log_ndtr(-40.0):.9f}")
    -804.608442014
    """
    low, high = np.minimum(x, -1.0), np.maximum(x, -1.0)
    far = np.log(erfcx(-low * _ROOT_HALF) / 2) - np.square(low) / 2
    return np.where(x < -1.0, far, np.log1p(-erfc(high * _ROOT_HALF) / 2)).astype(np.asarray(x).dtype)[()]


def ndtri(p):
    """The inverse of `ndtr`.

    Examples
    --------
    >>> print(f"{ndtri(0.975):.12f}")
    1.959963984540
    """
    a = np.asarray(p, np.float64)
    return _in_type_of(p, _erfinvs(2 * a - 1, 2 * np.minimum(a, 1 - a)) / _ROOT_HALF)


elementwise(erfinv, lambda t, x, out: over(t, _TO_ROOT_PI * np.exp(-out * out)))
elementwise(erfcx, lambda t, x, out: t * (2 * x * out - _TO_ROOT_PI))
elementwise(ndtr, lambda t, x: t * (np.exp(-x * x / 2) * (_ROOT_HALF / math.sqrt(math.pi))))
elementwise(log_ndtr, lambda t, x: t * (_TO_ROOT_PI * _ROOT_HALF) / erfcx(-x * _ROOT_HALF))
elementwise(ndtri, lambda t, p, out: over(t, np.exp(-out * out / 2) * (_ROOT_HALF / math.sqrt(math.pi))))
