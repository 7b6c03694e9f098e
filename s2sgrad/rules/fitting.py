"""Derivatives of polynomials and of fits: least squares, coefficients, slopes of sampled functions."""

import numpy as np

from s2sgrad.errors import MissingRuleError
from s2sgrad.rules.linalg import is_inverted
from s2sgrad.rules.table import jvp, linear, vjp
from s2sgrad.runtime.arrays import embed, filled, part, unbroadcast, widened, zeros_of

# ---------------------------------------------------------------- least squares


def columns(b):
    """The right-hand sides as columns of a matrix."""
    return np.reshape(b, (np.shape(b)[0], -1))


def solver(a, rcond):
    """The matrix that gives the solution: what its tolerance leaves out is about zero."""
    eps = np.finfo(a.dtype).eps
    if rcond is None:
        return np.linalg.pinv(a, rcond=eps * max(np.shape(a)))
    p = np.linalg.pinv(a, rcond=np.maximum(rcond, eps))
    if not is_inverted(a, p):
        raise MissingRuleError(
            "np.linalg.lstsq has no derivative rule where rcond leaves out singular values that are not about zero"
        )
    return p


@vjp(np.linalg.lstsq, "a", "b")
def lstsq_pullback(g, out, a, b, rcond=None):
    """Golub and Pereyra's formula for the solution, which is ``pinv(a) @ b``; the rank must not change."""
    a = widened(a, out[0])
    p, h = solver(a, rcond), np.conj(np.transpose(a))
    x, right, gx = columns(out[0]), columns(b), columns(filled(part(g, 0), out[0]))
    residual = right - a @ x
    u = np.conj(np.transpose(p)) @ gx
    da = -u @ np.conj(np.transpose(x)) + residual @ np.conj(np.transpose(p @ u))
    da = da + np.conj(np.transpose(p)) @ x @ np.conj(np.transpose(gx - h @ u))
    if part(g, 1) is not None and np.size(out[1]):  # the sums of squares of what is left
        r = 2 * residual * g[1]
        u = u + r
        da = da - r @ np.conj(np.transpose(x))
    if part(g, 3) is not None:
        left, _, rest = np.linalg.svd(a, full_matrices=False)
        da = da + (left * g[3]) @ rest
    return unbroadcast(da, a), unbroadcast(np.reshape(u, np.shape(b)), b)


def lstsq_change(da, db, out, a, b, rcond):
    """The changes of the results for changes of both arguments."""
    a = widened(a, out[0])
    p = solver(a, rcond)
    x, right = columns(out[0]), columns(b)
    residual = right - a @ x
    dh = np.conj(np.transpose(da))
    db = columns(db)
    dx = p @ (db - da @ x) + p @ np.conj(np.transpose(p)) @ dh @ residual
    w = dh @ np.conj(np.transpose(p)) @ x
    dx = dx + w - p @ (a @ w)
    left, _, rest = np.linalg.svd(a, full_matrices=False)
    ds = np.real(np.sum(np.conj(left) * (da @ np.conj(np.transpose(rest))), axis=0))
    dr = 2 * np.real(np.sum(np.conj(residual) * (db - da @ x), axis=0)) if np.size(out[1]) else zeros_of(out[1])
    return np.reshape(dx, np.shape(out[0])), dr, None, ds


jvp(
    np.linalg.lstsq,
    a=lambda t, out, a, b, rcond=None: lstsq_change(t, zeros_of(b), out, a, b, rcond),
    b=lambda t, out, a, b, rcond=None: lstsq_change(zeros_of(a), t, out, a, b, rcond),
)

# ---------------------------------------------------------------- polynomials


def powers(p, x):
    """``x ** (n - 1), ..., x, 1`` for the `n` coefficients `p`, along a new last axis."""
    exponents = np.arange(np.size(p) - 1, -1, -1)
    return np.expand_dims(x, -1) ** exponents.astype(np.result_type(np.real(np.asarray(x)), np.float32))


def slope(p):
    """The coefficients of the derivative, in the type of those of the polynomial."""
    return np.asarray(np.polyder(p), np.asarray(p).dtype)


def polyval_coefficients(g, out, p, x):
    products = np.expand_dims(g, -1) * np.conj(powers(p, widened(x, out)))
    return unbroadcast(np.sum(np.reshape(products, (-1, np.size(p))), axis=0), p)


def polyval_point(g, out, p, x):
    return unbroadcast(g * np.conj(np.polyval(slope(widened(p, out)), x)), x)


vjp(np.polyval, p=polyval_coefficients, x=polyval_point)
jvp(
    np.polyval,
    p=lambda t, out, p, x: np.polyval(t, x),
    x=lambda t, out, p, x: t * np.polyval(slope(widened(p, out)), x),
)


def vander_adjoint(g, out, x, N=None, increasing=False):  # noqa: N803
    """Each power is its exponent times the power before it."""
    k = np.arange(1, np.shape(out)[1])
    if increasing:
        return np.sum(g[:, 1:] * np.conj(k * out[:, :-1]), axis=1)
    return np.sum(g[:, :-1] * np.conj(k[::-1] * out[:, 1:]), axis=1)


def vander_change(t, out, x, N=None, increasing=False):  # noqa: N803
    k, t, constant = np.arange(1, np.shape(out)[1]), np.expand_dims(t, 1), zeros_of(out[:, :1])
    if increasing:
        return np.concatenate([constant, t * k * out[:, :-1]], axis=1)
    return np.concatenate([t * k[::-1] * out[:, 1:], constant], axis=1)


vjp(np.vander, x=vander_adjoint)
jvp(np.vander, x=vander_change)


def polyder_adjoint(g, p, m=1):
    """The coefficient of each power, times what differentiation makes of it."""
    n = np.size(p)
    scale = np.polyder(np.ones(n), m)
    return embed(g * scale, p, np.arange(np.size(scale))) if n > m else zeros_of(p)


linear(np.polyder, polyder_adjoint)


@vjp(np.polyfit, "x", "y")
def polyfit_pullback(g, out, x, y, deg, *, w=None):
    """That of the least squares problem of its Vandermonde matrix; the degree must be less than the points."""
    weights = np.ones(np.shape(x)) if w is None else w
    c, right, gc = columns(out), columns(y), columns(g)
    a = np.expand_dims(weights, -1) * powers(out[:, 0] if np.ndim(out) == 2 else out, widened(x, out))
    p = np.linalg.pinv(a)
    u = np.conj(np.transpose(p)) @ gc
    v = p @ u
    dx = zeros_of(x)
    for k in range(np.shape(c)[1]):
        residual = weights * (right[:, k] - np.polyval(c[:, k], x))
        slope = residual * np.conj(np.polyval(np.polyder(v[:, k]), x))
        slope = slope - u[:, k] * np.conj(np.polyval(np.polyder(c[:, k]), x))
        dx = dx + weights * slope
    return unbroadcast(dx, x), unbroadcast(np.reshape(np.expand_dims(weights, -1) * u, np.shape(y)), y)


def polyfit_point_change(t, out, x, y, deg, *, w=None):
    weights = np.ones(np.shape(x)) if w is None else w
    c, right = columns(out), columns(y)
    a = np.expand_dims(weights, -1) * powers(c[:, 0], widened(x, out))
    p = np.linalg.pinv(a)
    changes = []
    for k in range(np.shape(c)[1]):
        residual = weights * (right[:, k] - np.polyval(c[:, k], x))
        n = np.arange(np.size(c[:, k]) - 1, -1, -1)
        da = np.expand_dims(weights * t, -1) * n * np.expand_dims(x, -1) ** np.maximum(n - 1, 0)
        changes.append(-p @ (da @ c[:, k]) + p @ np.conj(da @ p).T @ residual)
    return np.reshape(np.stack(changes, -1), np.shape(out))


jvp(
    np.polyfit,
    x=polyfit_point_change,
    y=lambda t, out, x, y, deg, *, w=None: np.polyfit(x, t, deg, w=w),
)

# ---------------------------------------------------------------- covariances


def variables(m, rowvar):
    """One variable a row."""
    return np.transpose(m) if np.ndim(m) == 2 and not rowvar else np.atleast_2d(m)


def deviations(m, y, rowvar):
    """The rows of both arguments, less their means."""
    rows = variables(m, rowvar) if y is None else np.concatenate([variables(m, rowvar), variables(y, rowvar)], 0)
    return rows - np.mean(rows, axis=1, keepdims=True)


def observations(m, rowvar, bias, ddof):
    """What the sums of products were divided by."""
    if ddof is None:
        ddof = 0 if bias else 1
    return max(np.shape(variables(m, rowvar))[1] - ddof, 0)


@vjp(np.cov, "m", "y")
def cov_pullback(g, out, m, y=None, rowvar=True, bias=False, ddof=None):
    rows = deviations(m, y, rowvar)
    g = np.reshape(g, (np.shape(rows)[0],) * 2)
    d = (g + np.conj(np.transpose(g))) @ rows / observations(m, rowvar, bias, ddof)
    n = np.shape(variables(m, rowvar))[0]
    first, second = d[:n], d[n:]
    if not rowvar:
        first, second = np.transpose(first), np.transpose(second)
    dm = unbroadcast(np.reshape(first, np.shape(m)), m)
    return dm, None if y is None else unbroadcast(np.reshape(second, np.shape(y)), y)


def cov_change(dm, dy, out, m, y, rowvar, bias, ddof):
    rows, change = deviations(m, y, rowvar), deviations(dm, dy, rowvar)
    product = change @ np.conj(np.transpose(rows)) / observations(m, rowvar, bias, ddof)
    return np.reshape(product + np.conj(np.transpose(product)), np.shape(out))


def cov_first(t, out, m, y=None, rowvar=True, bias=False, ddof=None):
    return cov_change(t, None if y is None else zeros_of(y), out, m, y, rowvar, bias, ddof)


def cov_second(t, out, m, y=None, rowvar=True, bias=False, ddof=None):
    return cov_change(zeros_of(m), t, out, m, y, rowvar, bias, ddof)


jvp(np.cov, m=cov_first, y=cov_second)


@vjp(np.corrcoef, "x", "y")
def corrcoef_pullback(g, out, x, y=None, rowvar=True):
    c = np.cov(x, y, rowvar)
    v = np.atleast_1d(np.real(np.diagonal(np.reshape(c, (np.size(np.atleast_2d(out)[0]),) * 2))))
    r, g = np.reshape(out, (np.size(v),) * 2), np.reshape(g, (np.size(v),) * 2)
    own = np.real(np.sum(np.conj(g) * r, axis=1) + np.sum(np.conj(g) * r, axis=0)) / (2 * v)
    gc = g / np.sqrt(np.expand_dims(v, -1) * v) - np.diag(own)
    return cov_pullback(np.reshape(gc, np.shape(c)), c, x, y, rowvar)


def corrcoef_change(dx, dy, out, x, y, rowvar):
    c = np.atleast_2d(np.cov(x, y, rowvar))
    dc = np.reshape(cov_change(dx, dy, c, x, y, rowvar, False, None), np.shape(c))
    v, dv = np.real(np.diagonal(c)), np.real(np.diagonal(dc))
    relative = dv / (2 * v)
    r = np.reshape(out, np.shape(c))
    d = dc / np.sqrt(np.expand_dims(v, -1) * v) - r * (np.expand_dims(relative, -1) + relative)
    return np.reshape(d, np.shape(out))


jvp(
    np.corrcoef,
    x=lambda t, out, x, y=None, rowvar=True: corrcoef_change(t, None if y is None else zeros_of(y), out, x, y, rowvar),
    y=lambda t, out, x, y=None, rowvar=True: corrcoef_change(zeros_of(x), t, out, x, y, rowvar),
)
