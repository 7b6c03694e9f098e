"""The modified Bessel functions of the first kind, of integer order."""

import math

import numpy as np

from s2sgrad.rules.table import elementwise


def ive(n, x):
    """``iv(n, x) * exp(-abs(x))``: by the power series, or the asymptotic one.

    Examples
    --------
    >>> print(f"{ive(0, 1.0):.12f} {ive(1, -1.0):.12f}")
    0.465759607594 -0.207910415350
    """
    dtype = np.asarray(x).dtype
    a = np.abs(np.asarray(x, np.float64))
    far_from = 30.0 + n * n
    near, far = np.minimum(a, far_from), np.maximum(a, far_from)
    term = (near / 2) ** n / math.factorial(n)
    total = term
    for k in range(1, int(2 * far_from) + 20):
        term = term * (near / 2) ** 2 / (k * (k + n))
        total = total + term
    step = series = np.ones_like(far)
    for k in range(1, 20):
        step = step * ((2 * k - 1) ** 2 - 4 * n * n) / (8 * k * far)
        series = series + step
    out = np.where(a < far_from, total * np.exp(-near), series / np.sqrt(2 * np.pi * far))
    out = out * np.sign(x) ** n if n % 2 else out
    return (out if dtype.kind in "biu" else out.astype(dtype))[()]


def iv(n, x):
    """The modified Bessel function of the first kind of order `n`.

    Examples
    --------
    >>> print(f"{iv(0, 1.0):.12f} {iv(1, -1.0):.12f}")
    1.266065877752 -0.565159103992
    """
    return ive(n, x) * np.exp(np.abs(x))


elementwise(np.i0, lambda t, x: t * iv(1, x))
elementwise(iv, None, lambda t, n, x: t * (iv(abs(n - 1), x) + iv(n + 1, x)) / 2)
elementwise(ive, None, lambda t, n, x, out: t * ((ive(abs(n - 1), x) + ive(n + 1, x)) / 2 - np.sign(x) * out))
