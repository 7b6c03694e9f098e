"""Derivatives of the elementwise functions: one line per argument.

A line says what a small change `t` of one argument does to the result; see ``table.py``. The few
that are not holomorphic, or take keywords, are general rules.
"""

import builtins
import math
import operator

import numpy as np

from s2sgrad.rules.table import alias, elementwise, jvp, linear, vjp
from s2sgrad.runtime.arrays import conjugate, filled, over, part, times, unbroadcast, where_less, widened, zeros_of

# ---------------------------------------------------------------- arithmetic

elementwise(np.positive, lambda t, x: t)
elementwise(np.negative, lambda t, x: -t)
elementwise(np.add, lambda t, x, y: t, lambda t, x, y: t)
elementwise(np.subtract, lambda t, x, y: t, lambda t, x, y: -t)
elementwise(np.multiply, lambda t, x, y: t * y, lambda t, x, y: t * x)
elementwise(np.divide, lambda t, x, y: over(t, y), lambda t, x, y, out: -times(over(t, y), out))
elementwise(np.reciprocal, lambda t, x: -over(t, x * x))
elementwise(np.square, lambda t, x: 2 * t * x)


def power_base(t, x, y):
    """What a change `t` of the base does to ``x**y``: finite wherever the derivative is."""
    if isinstance(y, int) and y >= 1:
        return y * x ** (y - 1) * t
    if isinstance(y, float) and y >= 1:
        return times(t, y * x ** (y - 1))
    if isinstance(y, (int, float)) and y != 0:
        return over(y * t, x ** (1 - y))
    if isinstance(y, (int, float)):  # x**0 is constant at 0 too, in derivatives of every order
        return over(y * t, np.where(x == 0, 1, x))
    y = widened(y, t)
    nonzero = np.where((x == 0) & (y == 0), 1, x)
    return over(times(t, y * x ** np.maximum(y - 1, 0)), nonzero ** np.maximum(1 - y, 0))


def power_exponent(t, x, y, out):
    """What a change `t` of the exponent does to ``x**y``: nothing where the base is zero."""
    if isinstance(x, (int, float)) and x > 0:
        return times(t, out * math.log(x))
    x = widened(x, t)
    if np.iscomplexobj(out):  # Python's power of a negative number
        x = x + 0j
    return times(t, out * np.log(np.where(x == 0, 1, x)))


elementwise((np.power, np.float_power), power_base, power_exponent)
elementwise(np.mod, lambda t, x, y: t, lambda t, x, y: -t * np.floor_divide(x, y))
elementwise(np.fmod, lambda t, x, y: t, lambda t, x, y: -t * np.trunc(x / y))
elementwise(np.hypot, lambda t, x, y, out: times(t, over(x, out)), lambda t, x, y, out: times(t, over(y, out)))
elementwise(np.ldexp, lambda t, x, n: np.ldexp(t, n), None)
vjp(np.frexp, x=lambda g, out, x: np.ldexp(filled(part(g, 0), out[0]), -out[1]))
jvp(np.frexp, x=lambda t, out, x: (np.ldexp(t, -out[1]), zeros_of(out[1])))

# ---------------------------------------------------------------- roots, exponentials, logarithms

elementwise(np.sqrt, lambda t, x, out: over(t, 2 * out))
elementwise(np.cbrt, lambda t, x, out: over(t, 3 * out * out))
elementwise(np.exp, lambda t, x, out: times(t, out))
elementwise(np.expm1, lambda t, x, out: times(t, out + 1))
elementwise(np.exp2, lambda t, x, out: times(t, math.log(2) * out))
elementwise(np.log, lambda t, x: over(t, x))
elementwise(np.log2, lambda t, x: over(t, math.log(2) * x))
elementwise(np.log10, lambda t, x: over(t, math.log(10) * x))
elementwise(np.log1p, lambda t, x: over(t, 1 + x))
elementwise(
    np.logaddexp,
    lambda t, x, y, out: times(t, np.exp(x - out)),
    lambda t, x, y, out: times(t, np.exp(y - out)),
)
elementwise(
    np.logaddexp2,
    lambda t, x, y, out: times(t, np.exp2(x - out)),
    lambda t, x, y, out: times(t, np.exp2(y - out)),
)

# ---------------------------------------------------------------- trigonometric and hyperbolic


def arcsin_partial(t, x):
    if np.iscomplexobj(x):  # 1 - x * x would lose on which side of the branch cut it is: the sign of a zero
        return over(t, np.sqrt(-(x * x - 1)))
    return over(t, np.sqrt(1 - x * x))


def arccos_partial(t, x):
    if np.iscomplexobj(x):
        return -over(t, np.sqrt(-(x * x - 1)))
    return -over(t, np.sqrt(1 - x * x))


def arcsinh_partial(t, x):
    if np.iscomplexobj(x):
        return over(t, np.sqrt(np.subtract(x * x, -1)))  # which keeps the sign of a zero
    return over(t, np.sqrt(1 + x * x))


def arccosh_partial(t, x):
    if np.iscomplexobj(x):
        return over(t, np.sqrt(x - 1) * np.sqrt(np.subtract(x, -1)))
    return over(t, np.sqrt(x - 1) * np.sqrt(x + 1))


elementwise(np.sin, lambda t, x: t * np.cos(x))
elementwise(np.cos, lambda t, x: -t * np.sin(x))
elementwise(np.tan, lambda t, x, out: t * (1 + out * out))
elementwise(np.arcsin, arcsin_partial)
elementwise(np.arccos, arccos_partial)
elementwise(np.arctan, lambda t, x: over(t, 1 + x * x))
elementwise(
    np.arctan2,
    lambda t, y, x: times(t, over(x, np.square(widened(x, t)) + np.square(widened(y, t)))),
    lambda t, y, x: -times(t, over(y, np.square(widened(x, t)) + np.square(widened(y, t)))),
)
elementwise(np.sinh, lambda t, x: times(t, np.cosh(x)))
elementwise(np.cosh, lambda t, x: times(t, np.sinh(x)))
elementwise(np.tanh, lambda t, x, out: t * (1.0 - out * out))
elementwise(np.arcsinh, arcsinh_partial)
elementwise(np.arccosh, arccosh_partial)
elementwise(np.arctanh, lambda t, x: over(t, 1 - x * x))
elementwise((np.deg2rad, np.radians), lambda t, x: t * (math.pi / 180))
elementwise((np.rad2deg, np.degrees), lambda t, x: t * (180 / math.pi))


def sinc_partial(t, x, out):
    """``(cos(pi x) - sinc(x)) / x``, by its Taylor series where the difference cancels."""
    u = np.pi * x
    uu = u * u
    series = -np.pi * u / 3 * (1 - uu / 10 * (1 - uu / 28 * (1 - uu / 54 * (1 - uu / 88))))
    return np.where(np.abs(x) < 0.05, t * series, over(t * (np.cos(u) - out), np.where(np.abs(x) < 0.05, 1, x)))


elementwise(np.sinc, sinc_partial)

# ---------------------------------------------------------------- selections: ties share equally

elementwise(
    np.maximum,
    lambda t, x, y: where_less(t, y, x),
    lambda t, x, y: where_less(t, x, y),
)
elementwise(
    np.minimum,
    lambda t, x, y: where_less(t, x, y),
    lambda t, x, y: where_less(t, y, x),
)
elementwise(
    np.fmax,
    lambda t, x, y: np.where(x == y, t / 2, np.where((x > y) | np.isnan(y), t, 0.0)),
    lambda t, x, y: np.where(x == y, t / 2, np.where((x < y) | np.isnan(x), t, 0.0)),
)
elementwise(
    np.fmin,
    lambda t, x, y: np.where(x == y, t / 2, np.where((x < y) | np.isnan(y), t, 0.0)),
    lambda t, x, y: np.where(x == y, t / 2, np.where((x > y) | np.isnan(x), t, 0.0)),
)
elementwise(
    np.where,
    None,
    lambda t, condition, x, y: np.where(condition, t, 0.0),
    lambda t, condition, x, y: np.where(condition, 0.0, t),
)
elementwise(np.heaviside, None, lambda t, x, y: np.where(x == 0, t, 0.0))
elementwise(np.copysign, lambda t, x, y: t * np.sign(x) * np.copysign(1.0, y), None)

vjp(  # a value on a bound is inside, as in torch.clamp
    np.clip,
    a=lambda g, out, a, a_min=None, a_max=None, *, min=None, max=None: unbroadcast(np.where(a == out, g, 0.0), a),
    a_min=lambda g, out, a, a_min=None, a_max=None, *, min=None, max=None: unbroadcast(
        np.where((a < out) & (a_min == out), g, 0.0), a_min
    ),
    a_max=lambda g, out, a, a_min=None, a_max=None, *, min=None, max=None: unbroadcast(
        np.where((a != out) & ((a_min != out) | (a > out)), g, 0.0), a_max
    ),
    min=lambda g, out, a, a_min=None, a_max=None, *, min=None, max=None: unbroadcast(
        np.where((a < out) & (min == out), g, 0.0), min
    ),
    max=lambda g, out, a, a_min=None, a_max=None, *, min=None, max=None: unbroadcast(
        np.where((a != out) & ((min != out) | (a > out)), g, 0.0), max
    ),
)
jvp(
    np.clip,
    a=lambda t, out, a, a_min=None, a_max=None, *, min=None, max=None: np.where(a == out, t, 0.0),
    a_min=lambda t, out, a, a_min=None, a_max=None, *, min=None, max=None: np.where((a < out) & (a_min == out), t, 0.0),
    a_max=lambda t, out, a, a_min=None, a_max=None, *, min=None, max=None: np.where(
        (a != out) & ((a_min != out) | (a > out)), t, 0.0
    ),
    min=lambda t, out, a, a_min=None, a_max=None, *, min=None, max=None: np.where((a < out) & (min == out), t, 0.0),
    max=lambda t, out, a, a_min=None, a_max=None, *, min=None, max=None: np.where(
        (a != out) & ((min != out) | (a > out)), t, 0.0
    ),
)


def nan_to_num_pullback(g, out, x, *, nan=0.0, posinf=None, neginf=None):
    """Nothing flows to what was replaced; real and imaginary parts are replaced each by itself."""
    if np.isrealobj(x):
        return np.where(np.isfinite(x), g, 0.0)
    return np.where(np.isfinite(np.real(x)), np.real(g), 0.0) + 1j * np.where(np.isfinite(np.imag(x)), np.imag(g), 0.0)


vjp(np.nan_to_num, x=nan_to_num_pullback)
jvp(np.nan_to_num, x=nan_to_num_pullback)  # the same diagonal map

vjp(np.modf, x=lambda g, out, x: filled(part(g, 0), out[0]))
jvp(np.modf, x=lambda t, out, x: (t, zeros_of(out[1])))
vjp(
    (np.divmod, builtins.divmod),
    x=lambda g, out, x, y, /: unbroadcast(filled(part(g, 1), out[1]), x),
    y=lambda g, out, x, y, /: unbroadcast(-filled(part(g, 1), out[1]) * out[0], y),
)
jvp(
    np.divmod,
    x=lambda t, out, x, y, /: (zeros_of(out[0]), np.broadcast_to(t, np.shape(out[1]))),
    y=lambda t, out, x, y, /: (zeros_of(out[0]), -t * out[0]),
)
vjp(np.unwrap, p=lambda g, out, p, discont=None, axis=-1: g)  # whole turns are added, which are constant
jvp(np.unwrap, p=lambda t, out, p, discont=None, axis=-1: t)

# ---------------------------------------------------------------- moduli and parts of complex numbers


def abs_pullback(g, out, x):
    """``g * x / |x|``, and 0 at 0."""
    if np.isrealobj(x):
        return g * np.sign(x)
    return over(g * x, out)


def abs_pushforward(t, out, x):
    """The part of `t` along `x`."""
    if np.isrealobj(x):
        return t * np.sign(x)
    return np.real(over(np.conj(x) * t, out))


def sign_pullback(g, out, x):
    """Zero for real `x`; for complex `x` the part of ``g / |x|`` across ``x / |x|``."""
    if np.isrealobj(x):
        return zeros_of(x)
    return over(g - out * np.real(np.conj(out) * g), np.abs(x))


vjp((np.absolute, builtins.abs), x=abs_pullback)
jvp(np.absolute, x=abs_pushforward)
vjp(np.fabs, x=lambda g, out, x: g * np.sign(x))
jvp(np.fabs, x=lambda t, out, x: t * np.sign(x))
vjp(np.sign, x=sign_pullback)
jvp(np.sign, x=sign_pullback)  # a real-symmetric map: its own adjoint

linear(np.real, lambda g, val: g)
linear(np.imag, lambda g, val: unbroadcast(1j * g, val))
linear(np.conjugate, lambda g, x: np.conjugate(g))
vjp(np.real_if_close, a=lambda g, out, a, tol=100: g)
jvp(np.real_if_close, a=lambda t, out, a, tol=100: np.real(t) if np.isrealobj(out) else t)


def angle_pullback(g, out, z, deg=False):
    """``i g / conj(z)``: steepest ascent of the angle is across `z`; a real number's angle is constant."""
    d = unbroadcast(over(1j * g, np.conj(z)), z)
    return d * (180 / math.pi) if deg else d


def angle_pushforward(t, out, z, deg=False):
    d = np.imag(over(t, z))
    return d * (180 / math.pi) if deg else d


vjp(np.angle, z=angle_pullback)
jvp(np.angle, z=angle_pushforward)

# ---------------------------------------------------------------- operators

alias(np.conjugate, conjugate)
alias(np.positive, operator.pos)
alias(np.negative, operator.neg)
alias(np.add, operator.add)
alias(np.subtract, operator.sub)
alias(np.multiply, operator.mul)
alias(np.divide, operator.truediv)
alias(np.power, operator.pow, builtins.pow)
alias(np.mod, operator.mod)
