"""Functions related to the gamma function and to the normal distribution, which NumPy does not have."""

import math

import numpy as np

from s2sgrad.rules.table import elementwise
from s2sgrad.runtime.arrays import over

# B(2), B(4), ...: what the asymptotic series are made of
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_FAR = 12.0  # from where the series are exact


def _in_type_of(x, out):
    kind = np.asarray(x).dtype
    return (out if kind.kind in "biu" else out.astype(kind))[()]


def _lgamma(x):
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # a pole, or beyond all floats
        return math.inf


_lgammas = np.vectorize(_lgamma, otypes=[np.float64])


def lgamma(x):
    """``log(|gamma(x)|)``.

    Examples
    --------
    >>> print(f"{math.exp(lgamma(5.0)):.12f}")
    24.000000000000
    """
    return _in_type_of(x, _lgammas(x))


def digamma(x):
    """The derivative of `lgamma`.

    Examples
    --------
    >>> print(f"{digamma(1.0):.12f}")
    -0.577215664902
    """
    a = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        mirrored = a <= 0
        z = np.where(mirrored, 1.0 - a, a)
        total = np.zeros_like(z)
        for _ in range(int(_FAR)):
            near = z < _FAR
            total = np.where(near, total - 1.0 / z, total)
            z = np.where(near, z + 1.0, z)
        series = sum(b / (2 * k) * z ** (-2.0 * k) for k, b in enumerate(_BERNOULLI, 1))
        out = total + np.log(z) - 0.5 / z - series
        turn = a - np.round(a)
        out = np.where(mirrored, out - np.pi / np.tan(np.pi * turn), out)
        out = np.where(a == 0, np.copysign(np.inf, -a), np.where(mirrored & (turn == 0), np.nan, out))
    return _in_type_of(x, out)


def polygamma(n, x):
    """The derivative of order `n` of `digamma`.

    Examples
    --------
    >>> print(f"{polygamma(1, 1.0):.12f} {np.pi**2 / 6:.12f}")
    1.644934066848 1.644934066848
    """
    if n == 0:
        return digamma(x)
    a = np.asarray(x, np.float64)
    s = n + 1
    with np.errstate(all="ignore"):
        mirrored = (a < 0.5) & (n == 1)
        z = np.where(mirrored, 1.0 - a, a)
        total = np.zeros_like(z)
        while np.any(near := z < _FAR + n):
            total = np.where(near, total + z ** float(-s), total)
            z = np.where(near, z + 1.0, z)
        total = total + z ** float(1 - s) / (s - 1) + 0.5 * z ** float(-s)
        rising = s * z ** float(-s - 1)
        for k, b in enumerate(_BERNOULLI, 1):
            total = total + b / math.factorial(2 * k) * rising
            rising = rising * (s + 2 * k - 1) * (s + 2 * k) / (z * z)
        out = (-1.0) ** (n + 1) * math.factorial(n) * total
        out = np.where(mirrored, np.square(np.pi / np.sin(np.pi * a)) - out, out)
    return _in_type_of(x, out)


def erfinv(x):
    """The inverse of the error function.

    Examples
    --------
    >>> print(f"{math.erf(erfinv(0.3)):.15f}")
    0.300000000000000
    """
    return _in_type_of(x, _erfinvs(x))


def _erfinv(x):
    if not abs(x) < 1.0:
        return math.copysign(math.inf, x) if abs(x) == 1.0 else math.nan
    if x == 0.0:
        return x
    u = math.log1p(-x * x)
    v = 2 / (math.pi * 0.147) + u / 2
    y = math.copysign(math.sqrt(math.sqrt(v * v - u / 0.147) - v), x)
    for _ in range(4):  # Halley's method, from a guess right to 0.002; erfc keeps the digits near the ends
        error = math.erf(y) - x if abs(x) < 0.5 else math.copysign(1.0, y) * (1 - abs(x) - math.erfc(abs(y)))
        step = error / (2 / math.sqrt(math.pi) * math.exp(-y * y))
        y -= step / (1 + y * step)
    return y


_erfinvs = np.vectorize(_erfinv, otypes=[np.float64])

elementwise(lgamma, lambda t, x: t * digamma(x))
elementwise(digamma, lambda t, x: t * polygamma(1, x))
elementwise(polygamma, None, lambda t, n, x: t * polygamma(n + 1, x))
elementwise(erfinv, lambda t, x, out: over(t, 2 / math.sqrt(math.pi) * np.exp(-out * out)))
