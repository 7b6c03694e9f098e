"""Functions that models are made of and NumPy does not have, each with its rule.

They are plain NumPy themselves. Steps (`floor`, `round`, `sign`) have a derivative here, zero, where NumPy's
own are inactive: a tensor keeps its history through them.
"""

import math

import numpy as np

from s2sgrad.rules.entrywise import entrywise
from s2sgrad.rules.table import elementwise, jvp, linear, vjp
from s2sgrad.runtime.arrays import over, times

# ---------------------------------------------------------------- elementwise


def relu(x):
    """``max(x, 0)``."""
    return np.maximum(x, 0)


def gate(t, on):
    """`t` where `on` is positive (or nan), zero elsewhere."""
    return np.where(on <= 0, np.zeros_like(t), t)


elementwise(gate, lambda s, t, on: gate(s, on), lambda s, t, on: np.zeros_like(s))
elementwise(relu, lambda t, x, out: gate(t, out))


def leaky_relu(x, slope):
    """``x`` where it is positive, ``slope * x`` elsewhere."""
    return np.where(x > 0, x, slope * x)


def lean(t, on, slope):
    """`t` where `on` is positive, ``slope * t`` elsewhere."""
    return np.where(on > 0, t, slope * t)


elementwise(lean, lambda s, t, on, slope: lean(s, on, slope), lambda s, t, on, slope: np.zeros_like(s), None)
elementwise(leaky_relu, lambda t, x, slope: lean(t, x, slope), None)


def sigmoid(x):
    """``1 / (1 + exp(-x))``, without overflow."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


elementwise(sigmoid, lambda t, x, out: t * (out * (1 - out)))


def rsqrt(x):
    """``1 / sqrt(x)``."""
    return 1 / np.sqrt(x)


elementwise(rsqrt, lambda t, x, out: times(t, -0.5 * out * out * out))


def reciprocal(x):
    """``1 / x``; its derivative needs the result only."""
    return np.reciprocal(x)


elementwise(reciprocal, lambda t, x, out: times(t, -out * out))


def quotient(x, y):
    """``x / y``; its derivative needs the operands only."""
    return np.divide(x, y)


elementwise(quotient, lambda t, x, y: over(t, y), lambda t, x, y: -over(times(over(t, y), x), y))


def copysign(x, y):
    """The size of `x` with the sign of `y`; its derivative needs the first and the result only."""
    return np.copysign(x, y)


elementwise(copysign, lambda t, x, y, out: t * np.sign(x) * np.copysign(1.0, out), None)


def _in_type_of(x, out):
    kind = np.asarray(x).dtype
    return out[()] if kind.kind in "biu" else out.astype(kind)[()]


def erf(x):
    """The error function."""
    return _in_type_of(x, _erf(x))


_erf = entrywise("erf", math.erf)
elementwise(erf, lambda t, x: t * (2 / np.sqrt(np.pi) * np.exp(-np.square(x))).astype(np.asarray(x).dtype))


def erfc(x):
    """``1 - erf(x)``."""
    return _in_type_of(x, _erfc(x))


_erfc = entrywise("erfc", math.erfc)
elementwise(erfc, lambda t, x: -t * (2 / np.sqrt(np.pi) * np.exp(-np.square(x))).astype(np.asarray(x).dtype))


def logit(x):
    """``log(x / (1 - x))``."""
    return np.log(np.divide(x, 1 - x))


elementwise(logit, lambda t, x: over(t, np.where((x < 0) | (x > 1), np.nan, x * (1 - x))))


def xlogy(x, y):
    """``x * log(y)``, zero where `x` is."""
    return _zero_where_zero(x, y, np.log)


def xlog1py(x, y):
    """``x * log1p(y)``, zero where `x` is."""
    return _zero_where_zero(x, y, np.log1p)


def _zero_where_zero(x, y, log):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((x == 0) & ~np.isnan(y), 0, x * log(y))[()]


elementwise(
    xlogy,
    lambda t, x, y: np.where((x == 0) & (y <= 0), np.zeros_like(t), xlogy(t, y)),
    lambda t, x, y: over(t * x, y),
)
elementwise(
    xlog1py,
    lambda t, x, y: np.where((x == 0) & (y <= -1), np.zeros_like(t), xlog1py(t, y)),
    lambda t, x, y: over(t * x, y + 1),
)


def entropy(x):
    """``-x * log(x)``, zero at zero; there is none of a negative number."""
    return np.where(x < 0, -np.inf, -xlogy(x, x)).astype(np.asarray(x).dtype)[()]


elementwise(entropy, lambda t, x: times(t, -1 - np.log(x)))


def softplus(x):
    """``log(1 + exp(x))``."""
    return np.logaddexp(x, 0)


elementwise(softplus, lambda t, x: t * sigmoid(x))


def clamp(x, low, high):
    """`x` within bounds, either of which may be None."""
    return np.clip(x, low, high)


def _within(x, low, high):
    inside = np.ones(np.shape(x), bool)
    if low is not None:
        inside = inside & (x >= low)
    if high is not None:
        inside = inside & (x <= high)
    return inside


elementwise(clamp, lambda t, x, low, high: np.where(_within(x, low, high), t, np.zeros_like(t)), None, None)


def _sign(x):
    out = np.sign(x)
    return np.where(np.isnan(x), 0, out).astype(out.dtype) if out.dtype.kind == "f" else out


def open_clamp(x, low, high):
    """`x` within bounds; its derivative is zero at the bounds."""
    return np.clip(x, low, high)


def between(t, x, low, high):
    """`t` where `x` lies between the bounds (or is nan), zero elsewhere."""
    return np.where((x <= low) | (x >= high), np.zeros_like(t), t)


elementwise(
    between,
    lambda s, t, x, low, high: between(s, x, low, high),
    lambda s, t, x, low, high: np.zeros_like(s),
    None,
    None,
)
elementwise(open_clamp, lambda t, x, low, high: between(t, x, low, high), None, None)


def sgn(z):
    """``z / |z|``, zero at zero."""
    return _sign(z)


def sgn_pullback(g, out, z):
    """Only a turn of `z` changes a complex sign; a real sign does not change at all."""
    if not np.iscomplexobj(z):
        return np.zeros_like(g)
    along = np.real(np.conj(out) * g) * out
    return np.where(z == 0, 0.0, (g - along) / np.where(z == 0, 1.0, np.abs(z)))


vjp(sgn, z=sgn_pullback)
jvp(sgn, z=sgn_pullback)  # a real-symmetric map: its own adjoint


def angle(z):
    """The angle of complex numbers."""
    return np.angle(z)


def angle_pullback(g, out, z):
    """Across the direction of `z`; zero at zero, where there is no angle."""
    if not np.iscomplexobj(z):
        return np.zeros_like(g)
    return g * (1j * z) / np.where(z == 0, 1.0, np.square(np.abs(z)))


vjp(angle, z=angle_pullback)
jvp(angle, z=lambda t, out, z: np.real(np.conj(angle_pullback(np.ones_like(out), out, z)) * t))


def _step(function, name):
    def step(x):
        return function(x)

    step.__name__ = step.__qualname__ = name
    elementwise(step, lambda t, x: np.zeros_like(t))
    return step


floor = _step(np.floor, "floor")
ceil = _step(np.ceil, "ceil")
trunc = _step(np.trunc, "trunc")
round_half_even = _step(np.round, "round")
sign = _step(_sign, "sign")


def magnitude(x):
    """The absolute value of real numbers; its derivative needs the operand only."""
    return np.abs(x)


elementwise(magnitude, lambda t, x: t * sign(x))


def floor_quotient(x, y):
    """``floor(x / y)``."""
    return np.floor_divide(x, y)


elementwise(floor_quotient, lambda t, x, y: np.zeros_like(t), lambda t, x, y: np.zeros_like(t))

# ---------------------------------------------------------------- along an axis


def logsumexp(x, axis, keepdims):
    """``log(sum(exp(x)))`` without overflow."""
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0 * np.nan_to_num(top))
    with np.errstate(divide="ignore"):
        out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis=axis)


def _spread(g, axis, keepdims):
    return g if keepdims else np.expand_dims(g, axis)


vjp(
    logsumexp,
    x=lambda g, out, x, axis, keepdims: _spread(g, axis, keepdims) * np.conj(np.exp(x - _spread(out, axis, keepdims))),
)
jvp(
    logsumexp,
    x=lambda t, out, x, axis, keepdims: np.sum(
        t * np.exp(x - _spread(out, axis, keepdims)), axis=axis, keepdims=keepdims
    ),
)


def softmax(x, axis):
    """``exp(x)``, scaled to the sum 1 along an axis."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=axis, keepdims=True)


vjp(softmax, x=lambda g, out, x, axis: np.conj(out) * (g - np.sum(g * np.conj(out), axis=axis, keepdims=True)))
jvp(softmax, x=lambda t, out, x, axis: out * (t - np.sum(t * out, axis=axis, keepdims=True)))


def log_softmax(x, axis):
    """The logarithm of `softmax`."""
    return x - logsumexp(x, axis, True)


vjp(log_softmax, x=lambda g, out, x, axis: g - np.conj(np.exp(out)) * np.sum(g, axis=axis, keepdims=True))
jvp(log_softmax, x=lambda t, out, x, axis: t - np.sum(t * np.exp(out), axis=axis, keepdims=True))


def cast(x, dtype):
    """`x` in another type."""
    return x.astype(dtype)


linear(cast, lambda g, x, dtype: cast(np.real(g) if np.iscomplexobj(g) and not np.iscomplexobj(x) else g, x.dtype))

# ---------------------------------------------------------------- norms


def norm(x, order, axis, keepdims):
    """The vector norm of `order` along axes."""
    size = np.abs(x)
    if order == np.inf:
        return np.max(size, axis=axis, keepdims=keepdims)
    if order == -np.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if order == 0:
        return np.sum(x != 0, axis=axis, keepdims=keepdims).astype(size.dtype)
    if order == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    if order == 2:
        return np.sqrt(np.sum(np.square(size), axis=axis, keepdims=keepdims))
    return np.power(np.sum(np.power(size, order), axis=axis, keepdims=keepdims), 1 / order)


def norm_pullback(g, out, x, order, axis, keepdims):
    """The minimum-norm choice where the norm has a kink; zero at the origin."""
    if not keepdims:
        g = np.expand_dims(g, axis)
        out = np.expand_dims(out, axis)
    if order == 2:
        return g / np.where(out == 0, 1.0, out) * x
    size = np.abs(x)
    if order == 1:
        return g * sgn(x)
    if order == np.inf or order == -np.inf:
        hit = size == out
        share = hit / np.sum(hit, axis=axis, keepdims=True, dtype=size.dtype)
        return g * share * sgn(x)
    if order < 1:  # a cusp at zero
        power = np.where(size == 0, 0.0, np.power(np.where(size == 0, 1.0, size), order - 1))
        return g * np.power(out, 1 - order) * power * sgn(x)
    return g / np.power(np.where(out == 0, 1.0, out), order - 1) * np.power(size, order - 1) * sgn(x)


vjp(norm, x=norm_pullback)
jvp(
    norm,
    x=lambda t, out, x, order, axis, keepdims: np.sum(
        np.real(np.conj(norm_pullback(np.ones_like(out), out, x, order, axis, keepdims)) * t),
        axis=axis,
        keepdims=keepdims,
    ),
)

# ---------------------------------------------------------------- matrices


def matrix_exp(A):
    """The exponential of square matrices, by scaling and squaring a Taylor series."""
    n = A.shape[-1]
    size = np.max(np.sum(np.abs(A), axis=-1)) if A.size else 0.0
    halvings = max(0, math.ceil(math.log2(size)) + 4) if size > 0 else 0
    scaled = A / 2**halvings
    out = term = np.broadcast_to(np.eye(n, dtype=A.dtype), A.shape)
    for k in range(1, 18):
        term = term @ scaled / k
        out = out + term
    for _ in range(halvings):
        out = out @ out
    return out


def matrix_exp_pullback(g, out, A):
    """The corner of the exponential of a block matrix."""
    n = A.shape[-1]
    turned = np.conj(np.swapaxes(A, -1, -2))
    top = np.concatenate([turned, g], axis=-1)
    bottom = np.concatenate([np.zeros_like(turned), turned], axis=-1)
    return matrix_exp(np.concatenate([top, bottom], axis=-2))[..., :n, n:]


vjp(matrix_exp, A=matrix_exp_pullback)
jvp(matrix_exp, A=lambda t, out, A: matrix_exp_pullback(t, out, np.conj(np.swapaxes(A, -1, -2))))
