"""The gamma function and its kin, which NumPy does not have."""

import math

import numpy as np

from s2sgrad.rules.neural import xlogy
from s2sgrad.rules.table import elementwise
from s2sgrad.runtime.arrays import times, widened

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


def zeta(s, x):
    """The sum of ``(x + k) ** -s`` over all ``k >= 0``; for negative `x`, of whole `s` only.

    Examples
    --------
    >>> print(f"{zeta(2.0, 1.0):.12f} {np.pi**2 / 6:.12f}")
    1.644934066848 1.644934066848
    >>> print(f"{zeta(3.0, -3.3):.9f}")
    -34.384722739
    """
    s, z = np.broadcast_arrays(np.asarray(s, np.float64), np.asarray(x, np.float64))
    with np.errstate(all="ignore"):
        negative = z < 0
        out = _zetas(s, np.where(negative, 1.0 - z, z))
        if np.any(negative):  # the sum over all whole k, without that over those below 0
            sign = np.where(s % 1 == 0, 1.0 - 2.0 * (s % 2), np.nan)
            mirrored = _zetas(s, z - np.floor(z)) + sign * (_zetas(s, np.ceil(z) - z) - out)
            out = np.where(negative, np.where(z == np.floor(z), np.inf, mirrored), out)
        out = np.where(s < 1, np.nan, out)
    return _in_type_of(x, out)


def _zetas(s, z):
    """`zeta` of what is not negative, by Euler and Maclaurin."""
    total = np.zeros_like(z)
    while np.any(near := z < _FAR + np.minimum(s, 100.0)):
        total = np.where(near, total + z**-s, total)
        z = np.where(near, z + 1.0, z)
    total = total + z ** (1.0 - s) / (s - 1.0) + 0.5 * z**-s
    rising = s * z ** (-s - 1.0)
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b / math.factorial(2 * k) * rising
        rising = rising * (s + 2 * k - 1) * (s + 2 * k) / (z * z)
    return total


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
    mirrored = (a < 0.5) & (n == 1)
    out = (-1.0) ** (n + 1) * math.factorial(n) * zeta(n + 1, np.where(mirrored, 1.0 - a, a))
    with np.errstate(all="ignore"):
        out = np.where(mirrored, np.square(np.pi / np.sin(np.pi * a)) - out, out)
    return _in_type_of(x, out)


def gammainc(a, x):
    """The part of the gamma function's integral below `x`.

    Examples
    --------
    >>> print(f"{gammainc(1.0, 0.5):.12f} {1 - math.exp(-0.5):.12f}")
    0.393469340287 0.393469340287
    """
    return _in_type_of(x, _gammaincs(a, x)[0])


def gammaincc(a, x):
    """The part of the gamma function's integral above `x`.

    Examples
    --------
    >>> print(f"{gammaincc(1.0, 0.5):.12f} {math.exp(-0.5):.12f}")
    0.606530659713 0.606530659713
    """
    return _in_type_of(x, _gammaincs(a, x)[1])


def _gammainc(a, x):
    """Both parts: by the series of the lower one, or the continued fraction of the upper one."""
    if not (a >= 0 and x >= 0) or a == x == 0:
        return math.nan, math.nan
    if x == 0 or math.isinf(a):
        return (0.0, 1.0) if not math.isinf(x) else (math.nan, math.nan)
    if a == 0 or math.isinf(x):
        return 1.0, 0.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > 1e-17 * total:
            n += 1
            term *= x / n
            total += term
        return front * total, 1 - front * total
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    fraction, step, i = d, 0.0, 0
    while abs(step - 1) > 1e-16:  # Lentz
        i += 1
        factor = -i * (i - a)
        b += 2
        d = 1 / (factor * d + b or tiny)
        c = b + factor / c or tiny
        step = c * d
        fraction *= step
    return 1 - front * fraction, front * fraction


_gammaincs = np.vectorize(_gammainc, otypes=[np.float64, np.float64])


def gamma_density(a, x):
    """The derivative of `gammainc` with respect to `x`."""
    with np.errstate(divide="ignore"):
        return _in_type_of(x, np.exp(xlogy(np.asarray(a) - 1, x) - x - lgamma(a)))


elementwise(lgamma, lambda t, x: t * digamma(x))
elementwise(math.lgamma, lambda t, x: t * float(digamma(x)))
elementwise(math.gamma, lambda t, x, out: t * (out * float(digamma(x))))
elementwise(digamma, lambda t, x: t * polygamma(1, x))
elementwise(polygamma, None, lambda t, n, x: t * polygamma(n + 1, x))
elementwise(zeta, None, lambda t, s, x: t * (-widened(s, t) * zeta(widened(s, t) + 1, x)))
elementwise(gammainc, None, lambda t, a, x: times(t, gamma_density(a, x)))
elementwise(gammaincc, None, lambda t, a, x: times(t, -gamma_density(a, x)))
elementwise(gamma_density, None, lambda t, a, x, out: times(t, out * ((a - 1) / x - 1)))
