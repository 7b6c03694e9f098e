"""Derivatives of the functions of modules `math` and `cmath`, written with ``math.*`` so that numbers stay fast.

A value of `math` is a plain number: partials divide by `over`, which gives inf where Python's own
division would raise.
"""

import builtins
import cmath
import math

import numpy as np

from s2sgrad.rules.elementwise import power_base, power_exponent
from s2sgrad.rules.table import elementwise, jvp, vjp
from s2sgrad.runtime.arrays import filled, over, part, times, unbroadcast

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


# ---------------------------------------------------------------- complex numbers

vjp(
    builtins.complex,
    real=lambda g, out, real, imag=0: unbroadcast(g, real),
    imag=lambda g, out, real, imag=0: unbroadcast(-1j * g, imag),
)
jvp(builtins.complex, real=lambda t, out, real, imag=0: t, imag=lambda t, out, real, imag=0: 1j * t)

elementwise(cmath.sqrt, lambda t, z, out: over(t, 2 * out))
elementwise(cmath.exp, lambda t, z, out: t * out)
elementwise(cmath.log10, lambda t, z: over(t, math.log(10) * z))
elementwise(cmath.sin, lambda t, z: t * cmath.cos(z))
elementwise(cmath.cos, lambda t, z: -t * cmath.sin(z))
elementwise(cmath.tan, lambda t, z, out: t * (1 + out * out))
# the side of the branch cut is the sign of a zero, which 1 - z * z would lose
elementwise(cmath.asin, lambda t, z: over(t, cmath.sqrt(-(z * z - 1))))
elementwise(cmath.acos, lambda t, z: -over(t, cmath.sqrt(-(z * z - 1))))
elementwise(cmath.atan, lambda t, z: over(t, 1 + z * z))
elementwise(cmath.sinh, lambda t, z: t * cmath.cosh(z))
elementwise(cmath.cosh, lambda t, z: t * cmath.sinh(z))
elementwise(cmath.tanh, lambda t, z, out: t * (1 - out * out))
elementwise(cmath.asinh, lambda t, z: over(t, cmath.sqrt(complex(1 + (z * z).real, (z * z).imag))))
elementwise(cmath.acosh, lambda t, z: over(t, cmath.sqrt(z - 1) * cmath.sqrt(complex(1 + z.real, z.imag))))
elementwise(cmath.atanh, lambda t, z: over(t, 1 - z * z))
elementwise(cmath.rect, lambda t, r, phi: t * cmath.rect(1.0, phi), lambda t, r, phi, out: 1j * t * out)

vjp(
    cmath.log,
    z=lambda g, out, z, base=math.e: over(g, np.conj(z * cmath.log(base))),
    base=lambda g, out, z, base=math.e: -over(g * np.conj(out), np.conj(base * cmath.log(base))),
)
jvp(
    cmath.log,
    z=lambda t, out, z, base=math.e: over(t, z * cmath.log(base)),
    base=lambda t, out, z, base=math.e: -over(t * out, base * cmath.log(base)),
)


def across(g, z):
    """The cotangent of `z` from the one of its angle."""
    return unbroadcast(over(1j * g, np.conj(z)), z)


def polar_pullback(g, out, z):
    modulus, angle = filled(part(g, 0), out[0]), filled(part(g, 1), out[1])
    return unbroadcast(over(modulus * z, out[0]), z) + across(angle, z)


vjp(cmath.phase, z=lambda g, out, z: across(g, z))
jvp(cmath.phase, z=lambda t, out, z: np.imag(over(t, z)))
vjp(cmath.polar, z=polar_pullback)
jvp(cmath.polar, z=lambda t, out, z: (np.real(over(np.conj(z) * t, out[0])), np.imag(over(t, z))))


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
