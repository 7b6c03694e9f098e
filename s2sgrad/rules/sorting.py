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


def quantile_weights(q, n, dtype, method):
    """How much each of `n` sorted entries counts in the quantile (last axis)."""
    if method != "linear":  # quantiles of steps: the weights of the last entries, added up
        steps = np.arange(n)[:, None] >= n - 1 - np.arange(n)
        sums = np.quantile(steps.astype(float), q, axis=0, method=method)
        return np.diff(sums, axis=-1, prepend=0.0)[..., ::-1].astype(dtype)
    place = np.expand_dims(np.asarray(q) * (n - 1), -1)
    return np.maximum(1 - np.abs(place - np.arange(n)), 0).astype(dtype)


def quantile_pullback(g, out, a, q, axis=None, *, method="linear", keepdims=False):
    if axis is None:
        g = np.reshape(g, np.shape(q))
        return np.reshape(quantile_pullback(g, out, np.ravel(a), q, 0, method=method), np.shape(a))
    if isinstance(axis, tuple):
        raise MissingRuleError("quantiles over several axes have no derivative rule")
    k = np.ndim(q)
    axis = axis % np.ndim(a)
    if keepdims:
        g = np.squeeze(g, axis + k)
    weights = quantile_weights(q, np.shape(a)[axis], np.result_type(g), method)
    g = np.moveaxis(np.tensordot(weights, g, (tuple(range(k)), tuple(range(k)))), 0, axis)
    return gather_adjoint(g, a, np.take_along_axis(indices_like(a), np.argsort(a, axis=axis, kind="stable"), axis))


def quantile_pushforward(t, out, a, q, axis=None, *, method="linear", keepdims=False):
    if isinstance(axis, tuple):
        raise MissingRuleError("quantiles over several axes have no derivative rule")
    shape = np.shape(out)
    if axis is None:
        a, t, axis = np.ravel(a), np.ravel(t), 0
    t = np.take_along_axis(t, np.argsort(a, axis=axis, kind="stable"), axis)
    weights = quantile_weights(q, np.shape(a)[axis], np.result_type(t), method)
    return np.reshape(np.tensordot(weights, t, (np.ndim(q), axis)), shape)


vjp(np.quantile, a=quantile_pullback)
jvp(np.quantile, a=quantile_pushforward)
vjp(
    np.percentile,
    a=lambda g, out, a, q, axis=None, *, method="linear", keepdims=False: quantile_pullback(
        g, out, a, np.divide(q, 100), axis, method=method, keepdims=keepdims
    ),
)
jvp(
    np.percentile,
    a=lambda t, out, a, q, axis=None, *, method="linear", keepdims=False: quantile_pushforward(
        t, out, a, np.divide(q, 100), axis, method=method, keepdims=keepdims
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


# ---------------------------------------------------------------- quantiles of what is not nan


def number_weights(a, q):
    """How much each entry of a sorted line of `a` counts in the quantile of its numbers (last axis); nan come last."""
    n = np.count_nonzero(np.logical_not(np.isnan(a)), axis=-1)
    place = np.expand_dims(np.multiply.outer(np.asarray(q), np.maximum(n - 1, 0)), -1)
    weights = np.maximum(1 - np.abs(place - np.arange(np.shape(a)[-1])), 0)
    return np.where(np.expand_dims(n, -1) == 0, 0.0, weights)


def nanquantile_pullback(g, out, a, q, axis=None, *, keepdims=False):
    if axis is None:
        g = np.reshape(g, np.shape(q))
        return np.reshape(nanquantile_pullback(g, out, np.ravel(a), q, 0), np.shape(a))
    if isinstance(axis, tuple):
        raise MissingRuleError("quantiles over several axes have no derivative rule")
    k = np.ndim(q)
    axis = axis % np.ndim(a)
    if keepdims:
        g = np.squeeze(g, axis + k)
    weights = number_weights(np.moveaxis(a, axis, -1), q).astype(np.result_type(g))
    g = np.moveaxis(np.sum(np.expand_dims(g, -1) * weights, axis=tuple(range(k))), -1, axis)
    return gather_adjoint(g, a, np.take_along_axis(indices_like(a), np.argsort(a, axis=axis, kind="stable"), axis))


def nanquantile_pushforward(t, out, a, q, axis=None, *, keepdims=False):
    if isinstance(axis, tuple):
        raise MissingRuleError("quantiles over several axes have no derivative rule")
    shape = np.shape(out)
    if axis is None:
        a, t, axis = np.ravel(a), np.ravel(t), 0
    a, t = np.moveaxis(a, axis, -1), np.moveaxis(t, axis, -1)
    t = np.take_along_axis(t, np.argsort(a, axis=-1, kind="stable"), -1)
    return np.reshape(np.sum(t * number_weights(a, q).astype(np.result_type(t)), axis=-1), shape)


vjp(np.nanquantile, a=nanquantile_pullback)
jvp(np.nanquantile, a=nanquantile_pushforward)
vjp(
    np.nanpercentile,
    a=lambda g, out, a, q, axis=None, *, keepdims=False: nanquantile_pullback(
        g, out, a, np.divide(q, 100), axis, keepdims=keepdims
    ),
)
jvp(
    np.nanpercentile,
    a=lambda t, out, a, q, axis=None, *, keepdims=False: nanquantile_pushforward(
        t, out, a, np.divide(q, 100), axis, keepdims=keepdims
    ),
)
vjp(
    np.nanmedian,
    a=lambda g, out, a, axis=None, *, keepdims=False: nanquantile_pullback(g, out, a, 0.5, axis, keepdims=keepdims),
)
jvp(
    np.nanmedian,
    a=lambda t, out, a, axis=None, *, keepdims=False: nanquantile_pushforward(t, out, a, 0.5, axis, keepdims=keepdims),
)
