"""Derivatives of sorting and of order statistics: each result is an entry, or lies between two."""

import numpy as np

from s2sgrad.errors import MissingRuleError
from s2sgrad.rules.table import jvp, vjp
from s2sgrad.runtime.arrays import gather_adjoint, indices_like


def origins(out, a, axis):
    """For each entry of the rearranged `out`, the index along `axis` of the entry of `a` that it is."""
    order = np.argsort(a, axis=axis, kind="stable")
    rank = np.argsort(np.argsort(out, axis=axis, kind="stable"), axis=axis, kind="stable")
    return np.take_along_axis(order, rank, axis)


def rearranged_pullback(g, out, a, axis):
    if axis is None:
        return np.reshape(rearranged_pullback(g, out, np.ravel(a), -1), np.shape(a))
    return gather_adjoint(g, a, np.take_along_axis(indices_like(a), origins(out, a, axis), axis))


def rearranged_pushforward(t, out, a, axis):
    if axis is None:
        return rearranged_pushforward(np.ravel(t), out, np.ravel(a), -1)
    return np.take_along_axis(t, origins(out, a, axis), axis)


vjp(
    np.sort,
    a=lambda g, out, a, axis=-1, kind=None, *, stable=None: rearranged_pullback(g, out, a, axis),
)
jvp(
    np.sort,
    a=lambda t, out, a, axis=-1, kind=None, *, stable=None: rearranged_pushforward(t, out, a, axis),
)
vjp(
    np.partition,
    a=lambda g, out, a, kth, axis=-1, kind="introselect": rearranged_pullback(g, out, a, axis),
)
jvp(
    np.partition,
    a=lambda t, out, a, kth, axis=-1, kind="introselect": rearranged_pushforward(t, out, a, axis),
)


# ---------------------------------------------------------------- quantiles


def quantile_weights(q, n, dtype):
    """How much each of `n` sorted entries counts in the quantile, by linear interpolation (last axis)."""
    place = np.expand_dims(np.asarray(q) * (n - 1), -1)
    return np.maximum(1 - np.abs(place - np.arange(n)), 0).astype(dtype)


def quantile_pullback(g, out, a, q, axis=None, *, keepdims=False):
    if axis is None:
        g = np.reshape(g, np.shape(q))
        return np.reshape(quantile_pullback(g, out, np.ravel(a), q, 0), np.shape(a))
    if isinstance(axis, tuple):
        raise MissingRuleError("quantiles over several axes have no derivative rule")
    k = np.ndim(q)
    axis = axis % np.ndim(a)
    if keepdims:
        g = np.squeeze(g, axis + k)
    weights = quantile_weights(q, np.shape(a)[axis], np.result_type(g))
    g = np.moveaxis(np.tensordot(weights, g, (tuple(range(k)), tuple(range(k)))), 0, axis)
    return gather_adjoint(g, a, np.take_along_axis(indices_like(a), np.argsort(a, axis=axis, kind="stable"), axis))


def quantile_pushforward(t, out, a, q, axis=None, *, keepdims=False):
    if isinstance(axis, tuple):
        raise MissingRuleError("quantiles over several axes have no derivative rule")
    shape = np.shape(out)
    if axis is None:
        a, t, axis = np.ravel(a), np.ravel(t), 0
    t = np.take_along_axis(t, np.argsort(a, axis=axis, kind="stable"), axis)
    weights = quantile_weights(q, np.shape(a)[axis], np.result_type(t))
    return np.reshape(np.tensordot(weights, t, (np.ndim(q), axis)), shape)


vjp(np.quantile, a=quantile_pullback)
jvp(np.quantile, a=quantile_pushforward)
vjp(
    np.percentile,
    a=lambda g, out, a, q, axis=None, *, keepdims=False: quantile_pullback(
        g, out, a, np.divide(q, 100), axis, keepdims=keepdims
    ),
)
jvp(
    np.percentile,
    a=lambda t, out, a, q, axis=None, *, keepdims=False: quantile_pushforward(
        t, out, a, np.divide(q, 100), axis, keepdims=keepdims
    ),
)
vjp(
    np.median,
    a=lambda g, out, a, axis=None, *, keepdims=False: quantile_pullback(g, out, a, 0.5, axis, keepdims=keepdims),
)
jvp(
    np.median,
    a=lambda t, out, a, axis=None, *, keepdims=False: quantile_pushforward(t, out, a, 0.5, axis, keepdims=keepdims),
)
