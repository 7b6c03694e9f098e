"""Derivatives of the functions of module `math`, written with ``math.*`` so that numbers stay fast.

A value of `math` is a plain number: partials divide by `over`, which gives inf where Python's own
division would raise.
"""

import math

import numpy as np

from s2sgrad.rules.elementwise import power_base, power_exponent
from s2sgrad.rules.table import elementwise, jvp, vjp
from s2sgrad.runtime.arrays import over, times

elementwise(math.sqrt, lambda t, x, out: over(t, 2 * out))
elementwise(math.exp, lambda t, x, out: t * out)
elementwise(math.expm1, lambda t, x, out: t * (out + 1))
elementwise(math.log2, lambda t, x: over(t, math.log(2) * x))
elementwise(math.log10, lambda t, x: over(t, math.log(10) * x))
elementwise(math.log1p, lambda t, x: over(t, 1 + x))
elementwise(math.sin, lambda t, x: t * math.cos(x))
elementwise(math.cos, lambda t, x: -t * math.sin(x))
elementwise(math.tan, lambda t, x, out: t * (1 + out * out))
elementwise(math.asin, lambda t, x: over(t, math.sqrt(1 - x * x)))
elementwise(math.acos, lambda t, x: -over(t, math.sqrt(1 - x * x)))
elementwise(math.atan, lambda t, x: t / (1 + x * x))
elementwise(
    math.atan2,
    lambda t, y, x: over(t * x, x * x + y * y),
    lambda t, y, x: -over(t * y, x * x + y * y),
)
elementwise(math.sinh, lambda t, x: t * math.cosh(x))
elementwise(math.cosh, lambda t, x: t * math.sinh(x))
elementwise(math.tanh, lambda t, x, out: t * (1 - out * out))
elementwise(math.asinh, lambda t, x: t / math.sqrt(1 + x * x))
elementwise(math.acosh, lambda t, x: over(t, math.sqrt(x * x - 1)))
elementwise(math.atanh, lambda t, x: over(t, 1 - x * x))
elementwise(math.degrees, lambda t, x: t * (180 / math.pi))
elementwise(math.radians, lambda t, x: t * (math.pi / 180))
elementwise(math.fabs, lambda t, x: t * math.copysign(x != 0, x))
elementwise(math.copysign, lambda t, x, y: t * math.copysign(x != 0, x) * math.copysign(1.0, y), None)
elementwise(math.hypot, lambda t, x, y, out: over(t * x, out), lambda t, x, y, out: over(t * y, out))
elementwise(math.fmod, lambda t, x, y: t, lambda t, x, y: -t * math.trunc(x / y))
elementwise(math.remainder, lambda t, x, y: t, lambda t, x, y: -t * round(x / y))
elementwise(math.ldexp, lambda t, x, i: math.ldexp(t, i), None)
elementwise(math.pow, power_base, power_exponent)
elementwise(math.erf, lambda t, x: t * (2 / math.sqrt(math.pi)) * math.exp(-x * x))
elementwise(math.erfc, lambda t, x: -t * (2 / math.sqrt(math.pi)) * math.exp(-x * x))

vjp(
    math.log,
    x=lambda g, out, x, base=math.e: over(g, x) if base == math.e else over(g, x * math.log(base)),
    base=lambda g, out, x, base=math.e: -times(over(g, base * math.log(base)), out),
)
jvp(
    math.log,
    x=lambda t, out, x, base=math.e: over(t, x) if base == math.e else over(t, x * math.log(base)),
    base=lambda t, out, x, base=math.e: -times(over(t, base * math.log(base)), out),
)

if hasattr(math, "cbrt"):
    elementwise(math.cbrt, lambda t, x, out: over(t, 3 * out * out))
if hasattr(math, "exp2"):
    elementwise(math.exp2, lambda t, x, out: t * math.log(2) * out)


# ---------------------------------------------------------------- functions of sequences


def as_sequence(d, x):
    """The cotangents `d` in an array, as a list where `x` is a list or tuple."""
    return list(d) if isinstance(x, (list, tuple)) else d


vjp(math.fsum, seq=lambda g, out, seq: as_sequence(np.broadcast_to(g, np.shape(seq)), seq))
jvp(math.fsum, seq=lambda t, out, seq: np.sum(np.array([0.0 if x is None else x for x in t])))
vjp(
    math.dist,
    p=lambda g, out, p, q: as_sequence(over(g * (np.array(p) - np.array(q)), out), p),
    q=lambda g, out, p, q: as_sequence(over(g * (np.array(q) - np.array(p)), out), q),
)
jvp(
    math.dist,
    p=lambda t, out, p, q: over(np.dot((np.array(p) - np.array(q)), t), out),
    q=lambda t, out, p, q: over(np.dot((np.array(q) - np.array(p)), t), out),
)
