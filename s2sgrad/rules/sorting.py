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


def as_last_axis(a, axis):
    """`a` with several axes made one, the last."""
    moved = np.moveaxis(a, axis, tuple(range(-len(axis), 0)))
    return np.reshape(moved, (*np.shape(moved)[: np.ndim(a) - len(axis)], -1))


def as_several_axes(d, a, axis):
    """`d`, which is like `a` with several axes made one, as `a` is."""
    last = tuple(range(-len(axis), 0))
    return np.moveaxis(np.reshape(d, np.shape(np.moveaxis(a, axis, last))), last, axis)


def without_kept_axes(g, a, q, axis):
    """`g` without the axes of length 1 that ``keepdims=True`` has left in the place of `axis`."""
    return np.squeeze(g, tuple(i % np.ndim(a) + np.ndim(q) for i in axis))


def quantile_pullback(g, out, a, q, axis=None, *, method="linear", keepdims=False):
    if axis is None:
        g = np.reshape(g, np.shape(q))
        return np.reshape(quantile_pullback(g, out, np.ravel(a), q, 0, method=method), np.shape(a))
    if isinstance(axis, (tuple, list)):
        g = without_kept_axes(g, a, q, axis) if keepdims else g
        return as_several_axes(quantile_pullback(g, out, as_last_axis(a, axis), q, -1, method=method), a, axis)
    k = np.ndim(q)
    axis = axis % np.ndim(a)
    if keepdims:
        g = np.squeeze(g, axis + k)
    weights = quantile_weights(q, np.shape(a)[axis], np.result_type(g), method)
    g = np.moveaxis(np.tensordot(weights, g, (tuple(range(k)), tuple(range(k)))), 0, axis)
    return gather_adjoint(g, a, np.take_along_axis(indices_like(a), np.argsort(a, axis=axis, kind="stable"), axis))


def quantile_pushforward(t, out, a, q, axis=None, *, method="linear", keepdims=False):
    shape = np.shape(out)
    if isinstance(axis, (tuple, list)):
        a, t, axis = as_last_axis(a, axis), as_last_axis(t, axis), -1
    if axis is None:
        a, t, axis = np.ravel(a), np.ravel(t), 0
    t = np.take_along_axis(t, np.argsort(a, axis=axis, kind="stable"), axis)
    weights = quantile_weights(q, np.shape(a)[axis], np.result_type(t), method)
    return np.reshape(np.tensordot(weights, t, (np.ndim(q), axis)), shape)


# ---------------------------------------------------------------- quantiles of what is not nan


def number_weights(a, q, method):
    """How much each entry of a sorted line of `a` counts in the quantile of its numbers (last axis); nan come last."""
    if method != "linear":
        raise MissingRuleError(f"quantiles among nan with method={method!r} have no derivative rule")
    n = np.count_nonzero(np.logical_not(np.isnan(a)), axis=-1)
    place = np.expand_dims(np.multiply.outer(np.asarray(q), np.maximum(n - 1, 0)), -1)
    weights = np.maximum(1 - np.abs(place - np.arange(np.shape(a)[-1])), 0)
    return np.where(np.expand_dims(n, -1) == 0, 0.0, weights)


def require_one_row(q):
    """NumPy puts the axes of several rows of `q` in places of their own where there are several axes."""
    if np.ndim(q) > 1:
        raise MissingRuleError("quantiles among nan over several axes have a derivative rule for one row of q only")


def nanquantile_pullback(g, out, a, q, axis=None, *, method="linear", keepdims=False):
    if axis is None:
        g = np.reshape(g, np.shape(q))
        return np.reshape(nanquantile_pullback(g, out, np.ravel(a), q, 0, method=method), np.shape(a))
    if isinstance(axis, (tuple, list)):
        require_one_row(q)
        g = without_kept_axes(g, a, q, axis) if keepdims else g
        return as_several_axes(nanquantile_pullback(g, out, as_last_axis(a, axis), q, -1, method=method), a, axis)
    k = np.ndim(q)
    axis = axis % np.ndim(a)
    if keepdims:
        g = np.squeeze(g, axis + k)
    weights = number_weights(np.moveaxis(a, axis, -1), q, method).astype(np.result_type(g))
    g = np.moveaxis(np.sum(np.expand_dims(g, -1) * weights, axis=tuple(range(k))), -1, axis)
    return gather_adjoint(g, a, np.take_along_axis(indices_like(a), np.argsort(a, axis=axis, kind="stable"), axis))


def nanquantile_pushforward(t, out, a, q, axis=None, *, method="linear", keepdims=False):
    shape = np.shape(out)
    if isinstance(axis, (tuple, list)):
        require_one_row(q)
        a, t, axis = as_last_axis(a, axis), as_last_axis(t, axis), -1
    if axis is None:
        a, t, axis = np.ravel(a), np.ravel(t), 0
    a, t = np.moveaxis(a, axis, -1), np.moveaxis(t, axis, -1)
    t = np.take_along_axis(t, np.argsort(a, axis=-1, kind="stable"), -1)
    return np.reshape(np.sum(t * number_weights(a, q, method).astype(np.result_type(t)), axis=-1), shape)


def order_statistics(quantile, percentile, median, pull, push):
    """The rules of three functions that are one."""
    vjp(quantile, a=pull)
    jvp(quantile, a=push)
    vjp(
        percentile,
        a=lambda g, out, a, q, axis=None, *, method="linear", keepdims=False: pull(
            g, out, a, np.divide(q, 100), axis, method=method, keepdims=keepdims
        ),
    )
    jvp(
        percentile,
        a=lambda t, out, a, q, axis=None, *, method="linear", keepdims=False: push(
            t, out, a, np.divide(q, 100), axis, method=method, keepdims=keepdims
        ),
    )
    vjp(median, a=lambda g, out, a, axis=None, *, keepdims=False: pull(g, out, a, 0.5, axis, keepdims=keepdims))
    jvp(median, a=lambda t, out, a, axis=None, *, keepdims=False: push(t, out, a, 0.5, axis, keepdims=keepdims))


order_statistics(np.quantile, np.percentile, np.median, quantile_pullback, quantile_pushforward)
order_statistics(np.nanquantile, np.nanpercentile, np.nanmedian, nanquantile_pullback, nanquantile_pushforward)
