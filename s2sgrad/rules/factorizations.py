"""Triangular factors, and eigenvectors of any matrix: what tensors do and NumPy has no such function for."""

import numpy as np

from s2sgrad.rules.linalg import adjoint
from s2sgrad.rules.table import jvp, vjp


def pivoted(a):
    """The order of the rows in which each pivot is the largest of its column."""
    a = np.array(a)
    m, n = a.shape[-2:]
    order = np.broadcast_to(np.arange(m), a.shape[:-1]).copy()
    for k in range(min(m, n)):
        best = k + np.argmax(np.abs(a[..., k:, k]), axis=-1)[..., None]
        for rows in (a, order[..., None]):
            own = rows[..., k, :].copy()
            rows[..., k, :] = np.take_along_axis(rows, best[..., None], -2)[..., 0, :]
            np.put_along_axis(rows, best[..., None], own[..., None, :], -2)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.nan_to_num(a[..., k + 1 :, k] / a[..., k, k, None])
        a[..., k + 1 :, k:] -= factors[..., None] * a[..., k, None, k:]
    return order


def lu_factors(a):
    """The lower factor, with ones on its diagonal, and the upper one, of matrices whose rows are in order."""
    upper = np.array(a)
    lower = np.zeros_like(upper) + np.eye(a.shape[-1], dtype=upper.dtype)
    for k in range(a.shape[-1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            lower[..., k + 1 :, k] = np.nan_to_num(upper[..., k + 1 :, k] / upper[..., k, k, None])
        upper[..., k + 1 :, k:] -= lower[..., k + 1 :, k, None] * upper[..., k, None, k:]
    return lower, np.triu(upper)


def lu_pullback(g, out, a):
    lower, upper = out
    gl, gu = [np.zeros_like(a) if part is None else part for part in g]
    inner = np.tril(adjoint(lower) @ gl, -1) + np.triu(gu @ adjoint(upper))
    return adjoint(np.linalg.solve(upper, adjoint(np.linalg.solve(adjoint(lower), inner))))


def lu_pushforward(t, out, a):
    lower, upper = out
    inner = adjoint(np.linalg.solve(adjoint(upper), adjoint(np.linalg.solve(lower, t))))
    return lower @ np.tril(inner, -1), np.triu(inner) @ upper


vjp(lu_factors, a=lu_pullback)
jvp(lu_factors, a=lu_pushforward)
