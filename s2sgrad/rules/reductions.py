"""Derivatives of sums, products, extrema, moments and scans.

The result of a reduction is stretched back over the axes that it ran along (`spread`); an entry's
share of an extremum is one over the number of entries that reach it (`shares`).
"""

import math

import numpy as np

from s2sgrad.rules.table import jvp, linear, vjp
from s2sgrad.runtime.arrays import (
    embed,
    embed_diagonal,
    hit_count,
    is_differentiable,
    over,
    reached,
    times,
    unbroadcast,
    widened,
    zeros_of,
)

# ---------------------------------------------------------------- shared by the families below


def spread(g, axis, keepdims):
    """The reduced `g` with the axes that it ran along restored, of length 1."""
    if axis is None or keepdims:
        return g
    return np.expand_dims(g, axis)


def count(a, axis):
    """How many entries of `a` make one entry of the result (at least 1, to divide by)."""
    if axis is None:
        return max(np.size(a), 1)
    if isinstance(axis, tuple):
        return max(math.prod(np.shape(a)[i] for i in axis), 1)
    return max(np.shape(a)[axis], 1)


def count_where(where, a, axis):
    """How many entries of `a` the mask lets pass to each entry of the result, in the real type of `a`."""
    ones = np.where(where, np.ones_like(np.real(a)), 0.0)
    return np.sum(ones, axis=axis, keepdims=True)


# ---------------------------------------------------------------- sum, mean


def sum_pullback(g, out, a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True):
    """Every entry that was added gets the cotangent of its sum."""
    if dtype is not None and not is_differentiable(out):
        return zeros_of(a)
    if axis is not None and not keepdims and np.ndim(a):  # NumPy lets a number have an axis 0
        g = np.expand_dims(g, axis)
    if where is not True:
        g = np.where(where, g, 0.0)
    if dtype is not None and np.isrealobj(a):
        g = np.real(g)
    return np.broadcast_to(g, np.shape(a))


def sum_pushforward(t, out, a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True):
    if dtype is not None and not is_differentiable(out):
        return zeros_of(out)
    return np.sum(t, axis=axis, keepdims=keepdims, where=where)


def mean_pullback(g, out, a, axis=None, dtype=None, *, keepdims=False, where=True):
    """Every entry gets its part of the cotangent of its mean."""
    if dtype is not None and not is_differentiable(out):
        return zeros_of(a)
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    if dtype is not None and np.isrealobj(a):
        g = np.real(g)
    if where is not True:
        return np.broadcast_to(np.where(where, over(g, count_where(where, a, axis)), 0.0), np.shape(a))
    return np.broadcast_to(g / count(a, axis), np.shape(a))


def mean_pushforward(t, out, a, axis=None, dtype=None, *, keepdims=False, where=True):
    if dtype is not None and not is_differentiable(out):
        return zeros_of(out)
    return np.mean(t, axis=axis, keepdims=keepdims, where=where)


vjp(np.sum, a=sum_pullback)
jvp(np.sum, a=sum_pushforward)
vjp(np.mean, a=mean_pullback)
jvp(np.mean, a=mean_pushforward)


def nansum_pullback(g, out, a, axis=None, *, keepdims=False):
    return np.where(np.isnan(a), 0.0, spread(g, axis, keepdims))


def nansum_pushforward(t, out, a, axis=None, *, keepdims=False):
    return np.sum(np.where(np.isnan(a), 0.0, t), axis=axis, keepdims=keepdims)


def nanmean_pullback(g, out, a, axis=None, *, keepdims=False):
    return mean_pullback(g, out, a, axis, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


def nanmean_pushforward(t, out, a, axis=None, *, keepdims=False):
    return np.mean(t, axis=axis, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


vjp(np.nansum, a=nansum_pullback)
jvp(np.nansum, a=nansum_pushforward)
vjp(np.nanmean, a=nanmean_pullback)
jvp(np.nanmean, a=nanmean_pushforward)


def weights_like(weights, a, axis):
    """Weights of one axis, shaped to broadcast along it."""
    weights = widened(weights, a)
    if np.ndim(weights) == np.ndim(a):
        return weights
    return np.moveaxis(np.reshape(weights, (1,) * (np.ndim(a) - 1) + np.shape(weights)), -1, axis)


def average_pullback(g, out, a, axis=None, weights=None, *, keepdims=False):
    if weights is None:
        return mean_pullback(g, out, a, axis, keepdims=keepdims)
    w = np.broadcast_to(weights_like(weights, a, axis), np.shape(a))
    return unbroadcast(spread(g, axis, keepdims) * np.conj(w / np.sum(w, axis=axis, keepdims=True)), a)


def average_weights_pullback(g, out, a, axis=None, weights=None, *, keepdims=False):
    w = weights_like(weights, a, axis)
    total = np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=True)
    d = spread(g, axis, keepdims) * np.conj((a - spread(out, axis, keepdims)) / total)
    return np.reshape(unbroadcast(d, w), np.shape(weights))


def average_pushforward(t, out, a, axis=None, weights=None, *, keepdims=False):
    return np.average(t, axis=axis, weights=weights, keepdims=keepdims)


def average_weights_pushforward(t, out, a, axis=None, weights=None, *, keepdims=False):
    w = np.broadcast_to(weights_like(weights, a, axis), np.shape(a))
    change = weights_like(t, a, axis) * (a - spread(out, axis, keepdims)) / np.sum(w, axis=axis, keepdims=True)
    return np.sum(change, axis=axis, keepdims=keepdims)


vjp(np.average, a=average_pullback, weights=average_weights_pullback)
jvp(np.average, a=average_pushforward, weights=average_weights_pushforward)

# ---------------------------------------------------------------- variance, deviation


def deviation(a, axis, where):
    """`a` less its mean over `axis`; zero where the mask excludes it."""
    if where is True:
        return a - np.mean(a, axis=axis, keepdims=True)
    return np.where(where, a - np.mean(a, axis=axis, keepdims=True, where=where), 0.0)


def freedom(a, axis, ddof, where):
    """The number that the sum of squared deviations was divided by."""
    if where is True and ddof == 0:
        return count(a, axis)
    if where is True:
        return max(count(a, axis) - ddof, 0)
    return np.maximum(count_where(where, a, axis) - ddof, 0)


def var_pullback(g, out, a, axis=None, *, ddof=0, keepdims=False, where=True, correction=None):
    ddof = ddof if correction is None else correction
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    if where is not True:
        return over(2 * g * deviation(a, axis, where), freedom(a, axis, ddof, where))
    if ddof == 0:
        return 2 * g / count(a, axis) * (a - np.mean(a, axis=axis, keepdims=True))
    return over(2 * g, freedom(a, axis, ddof, where)) * (a - np.mean(a, axis=axis, keepdims=True))


def var_pushforward(t, out, a, axis=None, *, ddof=0, keepdims=False, where=True, correction=None):
    ddof = ddof if correction is None else correction
    change = 2 * np.real(np.conj(deviation(a, axis, where)) * t)
    return np.sum(over(change, freedom(a, axis, ddof, where)), axis=axis, keepdims=keepdims)


def std_pullback(g, out, a, axis=None, *, ddof=0, keepdims=False, where=True, correction=None):
    """Zero where all entries are equal, like the norm at zero."""
    ddof = ddof if correction is None else correction
    g, out = spread(g, axis, keepdims), spread(out, axis, keepdims)
    return over(g * deviation(a, axis, where), out * freedom(a, axis, ddof, where))


def std_pushforward(t, out, a, axis=None, *, ddof=0, keepdims=False, where=True, correction=None):
    ddof = ddof if correction is None else correction
    change = np.real(np.conj(deviation(a, axis, where)) * t)
    n = freedom(a, axis, ddof, where)
    return np.sum(over(change, spread(out, axis, keepdims) * n), axis=axis, keepdims=keepdims)


vjp(np.var, a=var_pullback)
jvp(np.var, a=var_pushforward)
vjp(np.std, a=std_pullback)
jvp(np.std, a=std_pushforward)


def nanvar_pullback(g, out, a, axis=None, *, ddof=0, keepdims=False):
    return var_pullback(g, out, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


def nanvar_pushforward(t, out, a, axis=None, *, ddof=0, keepdims=False):
    return var_pushforward(t, out, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


def nanstd_pullback(g, out, a, axis=None, *, ddof=0, keepdims=False):
    return std_pullback(g, out, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


def nanstd_pushforward(t, out, a, axis=None, *, ddof=0, keepdims=False):
    return std_pushforward(t, out, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


vjp(np.nanvar, a=nanvar_pullback)
jvp(np.nanvar, a=nanvar_pushforward)
vjp(np.nanstd, a=nanstd_pullback)
jvp(np.nanstd, a=nanstd_pushforward)

# ---------------------------------------------------------------- extrema


def shares(out, a, axis, keepdims, where):
    """The share that each entry of `a` has in the extremum: equal among those that reach it.

    A nan is an extremum too; an `initial` value that beats all entries leaves them nothing.
    """
    top = spread(out, axis, keepdims)
    hits = where & (np.equal(a, top) | np.isnan(a))
    hits = np.where(hits, np.ones_like(np.real(top)), 0.0)
    return hits / np.maximum(np.sum(hits, axis=axis, keepdims=True), 1)


def extremum_pullback(g, out, a, axis=None, *, keepdims=False, initial=None, where=True):
    if where is not True or initial is not None:
        return spread(g, axis, keepdims) * shares(out, a, axis, keepdims, where)
    hits = reached(a, spread(out, axis, keepdims))
    return np.where(hits, spread(g, axis, keepdims) / hit_count(hits, axis, out), 0.0)


def extremum_pushforward(t, out, a, axis=None, *, keepdims=False, initial=None, where=True):
    return np.sum(t * shares(out, a, axis, keepdims, where), axis=axis, keepdims=keepdims)


def extremum_initial_pullback(g, out, a, axis=None, *, keepdims=False, initial=None, where=True):
    """All of the cotangent where no entry reached the extremum."""
    reached = np.sum(shares(out, a, axis, keepdims, where), axis=axis, keepdims=True)
    return unbroadcast(np.where(reached == 0, spread(g, axis, keepdims), 0.0), initial)


def extremum_initial_pushforward(t, out, a, axis=None, *, keepdims=False, initial=None, where=True):
    reached = np.sum(shares(out, a, axis, keepdims, where), axis=axis, keepdims=keepdims)
    return np.where(reached == 0, t, 0.0)


for extremum in (np.max, np.min, np.amax, np.amin):
    vjp(extremum, a=extremum_pullback, initial=extremum_initial_pullback)
    jvp(extremum, a=extremum_pushforward, initial=extremum_initial_pushforward)


def nan_extremum_pullback(g, out, a, axis=None, *, keepdims=False):
    return spread(g, axis, keepdims) * shares(out, a, axis, keepdims, np.logical_not(np.isnan(a)))


def nan_extremum_pushforward(t, out, a, axis=None, *, keepdims=False):
    return np.sum(t * shares(out, a, axis, keepdims, np.logical_not(np.isnan(a))), axis=axis, keepdims=keepdims)


for extremum in (np.nanmax, np.nanmin):
    vjp(extremum, a=nan_extremum_pullback)
    jvp(extremum, a=nan_extremum_pushforward)


def ptp_shares(a, axis):
    top = np.max(a, axis=axis, keepdims=True)
    bottom = np.min(a, axis=axis, keepdims=True)
    return shares(top, a, axis, True, True) - shares(bottom, a, axis, True, True)


vjp(np.ptp, a=lambda g, out, a, axis=None, *, keepdims=False: spread(g, axis, keepdims) * ptp_shares(a, axis))
jvp(
    np.ptp,
    a=lambda t, out, a, axis=None, *, keepdims=False: np.sum(t * ptp_shares(a, axis), axis=axis, keepdims=keepdims),
)

# ---------------------------------------------------------------- products


def products_of_others(a, axis):
    """For each entry, the product of all other entries along `axis`: right whatever entries are zero."""
    if axis is None:
        return np.reshape(products_of_others(np.ravel(a), 0), np.shape(a))
    if isinstance(axis, tuple):
        if len(axis) == 0:
            return np.ones_like(a)
        last = tuple(range(-len(axis), 0))
        moved = np.moveaxis(a, axis, last)
        flat = np.reshape(moved, np.shape(moved)[: np.ndim(a) - len(axis)] + (count(a, axis),))
        return np.moveaxis(np.reshape(products_of_others(flat, -1), np.shape(moved)), last, axis)
    a = np.moveaxis(a, axis, -1)
    one = np.ones_like(a[..., :1])
    before = np.cumprod(np.concatenate([one, a[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([one, a[..., :0:-1]], -1), -1)[..., ::-1]
    return np.moveaxis(before * after, -1, axis)


def prod_pullback(g, out, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    if dtype is not None and not is_differentiable(out):
        return zeros_of(a)
    if dtype is not None and np.isrealobj(a):
        g = np.real(g)
    if dtype is not None and np.isrealobj(out):
        a = np.real(a)  # each factor is made real
    if initial is not None:
        g = g * (np.conj(initial) if np.iscomplexobj(initial) else initial)
    if where is not True:
        others = products_of_others(np.where(where, a, 1), axis)
        return np.where(where, times(spread(g, axis, keepdims), np.conj(others)), 0.0)
    return times(spread(g, axis, keepdims), np.conj(products_of_others(a, axis)))


def prod_pushforward(t, out, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    if dtype is not None and not is_differentiable(out):
        return zeros_of(out)
    if dtype is not None and np.isrealobj(out):
        t, a = np.real(t), np.real(a)
    if initial is not None:
        t = t * initial
    if where is not True:
        t = np.where(where, t, 0.0)
        a = np.where(where, a, 1)
    return np.sum(t * products_of_others(a, axis), axis=axis, keepdims=keepdims)


def nanprod_pullback(g, out, a, axis=None, *, keepdims=False):
    return prod_pullback(g, out, a, axis, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


def nanprod_pushforward(t, out, a, axis=None, *, keepdims=False):
    return prod_pushforward(t, out, a, axis, keepdims=keepdims, where=np.logical_not(np.isnan(a)))


def numbers_prod_pullback(g, out, iterable, /, *, start=1):
    if isinstance(iterable, dict):
        return None  # its keys are multiplied
    d = times(g, np.conj(start * products_of_others(np.array(iterable), 0)))
    return list(map(unbroadcast, d, iterable)) if isinstance(iterable, (list, tuple)) else d


vjp(math.prod, iterable=numbers_prod_pullback)
jvp(
    math.prod,
    iterable=lambda t, out, iterable, /, *, start=1: np.sum(
        np.array([0.0 if x is None else x for x in t]) * start * products_of_others(np.array(iterable), 0)
    ),
)
vjp(np.prod, a=prod_pullback)
jvp(np.prod, a=prod_pushforward)
vjp(np.nanprod, a=nanprod_pullback)
jvp(np.nanprod, a=nanprod_pushforward)

# ---------------------------------------------------------------- scans


def cumsum_adjoint(g, a, axis=None):
    """The sums from the other end."""
    if axis is None:
        return np.reshape(np.cumsum(g[::-1])[::-1], np.shape(a))
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


def cumprod_pullback(g, out, a, axis=None):
    """By the recurrence ``s[i] = g[i] + a[i+1] s[i+1]``, which needs no division by an entry."""
    if axis is None:
        return np.reshape(cumprod_pullback(g, out, np.ravel(a), 0), np.shape(a))
    a, g = np.conj(np.moveaxis(a, axis, 0)), np.moveaxis(g, axis, 0)
    if len(a) == 0:
        return np.moveaxis(g, 0, axis)
    before = np.cumprod(np.concatenate([np.ones_like(a[:1]), a[:-1]]), 0)
    rows = [g[-1]]
    for i in range(len(a) - 2, -1, -1):
        rows.append(g[i] + a[i + 1] * rows[-1])
    return np.moveaxis(times(np.stack(rows[::-1]), before), 0, axis)


def cumprod_pushforward(t, out, a, axis=None):
    """By the recurrence ``s[i] = s[i-1] a[i] + t[i] p[i-1]``."""
    if axis is None:
        return cumprod_pushforward(np.ravel(t), out, np.ravel(a), 0)
    a, t, p = np.moveaxis(a, axis, 0), np.moveaxis(t, axis, 0), np.moveaxis(out, axis, 0)
    if len(a) == 0:
        return out
    rows = [t[0]]
    for i in range(1, len(a)):
        rows.append(rows[-1] * a[i] + t[i] * p[i - 1])
    return np.moveaxis(np.stack(rows), 0, axis)


def after_initial(g, axis, include_initial):
    """`g` without the entry that stands before all sums."""
    return np.delete(g, 0, 0 if axis is None else axis) if include_initial else g


def cumulative_sum_adjoint(g, x, /, *, axis=None, include_initial=False):
    return cumsum_adjoint(after_initial(g, axis, include_initial), x, 0 if axis is None else axis)


def cumulative_prod_pullback(g, out, x, /, *, axis=None, include_initial=False):
    return cumprod_pullback(after_initial(g, axis, include_initial), out, x, 0 if axis is None else axis)


def cumulative_prod_pushforward(t, out, x, /, *, axis=None, include_initial=False):
    axis = 0 if axis is None else axis
    change = cumprod_pushforward(t, after_initial(out, axis, include_initial), x, axis)
    return np.insert(change, 0, 0.0, axis) if include_initial else change


linear(np.cumulative_sum, cumulative_sum_adjoint)
vjp(np.cumulative_prod, x=cumulative_prod_pullback)
jvp(np.cumulative_prod, x=cumulative_prod_pushforward)


def numbers_in(a, missing):
    """`a` with a number in the place of each nan."""
    return np.where(np.isnan(a), missing, a)


vjp(np.nancumsum, a=lambda g, out, a, axis=None: np.where(np.isnan(a), 0.0, cumsum_adjoint(g, a, axis)))
jvp(np.nancumsum, a=lambda t, out, a, axis=None: np.cumsum(np.where(np.isnan(a), 0.0, t), axis))
vjp(
    np.nancumprod,
    a=lambda g, out, a, axis=None: np.where(np.isnan(a), 0.0, cumprod_pullback(g, out, numbers_in(a, 1.0), axis)),
)
jvp(
    np.nancumprod,
    a=lambda t, out, a, axis=None: cumprod_pushforward(np.where(np.isnan(a), 0.0, t), out, numbers_in(a, 1.0), axis),
)
linear(np.cumsum, cumsum_adjoint)
vjp(np.cumprod, a=cumprod_pullback)
jvp(np.cumprod, a=cumprod_pushforward)


def trace_adjoint(g, a, offset=0, axis1=0, axis2=1):
    return embed_diagonal(np.expand_dims(g, -1), a, offset, axis1, axis2)


linear(np.trace, trace_adjoint)

# ---------------------------------------------------------------- reduce, accumulate, outer of ufuncs


def reduce_sum_pullback(g, out, array, axis=0, dtype=None, *, keepdims=False, where=True):
    return sum_pullback(g, out, array, axis, dtype, keepdims=keepdims, where=where)


def reduce_sum_pushforward(t, out, array, axis=0, dtype=None, *, keepdims=False, where=True):
    return sum_pushforward(t, out, array, axis, dtype, keepdims=keepdims, where=where)


def reduce_prod_pullback(g, out, array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True):
    return prod_pullback(g, out, array, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def reduce_prod_pushforward(t, out, array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True):
    return prod_pushforward(t, out, array, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def reduce_extremum_pullback(g, out, array, axis=0, *, keepdims=False, initial=None, where=True):
    return extremum_pullback(g, out, array, axis, keepdims=keepdims, initial=initial, where=where)


def reduce_extremum_pushforward(t, out, array, axis=0, *, keepdims=False, initial=None, where=True):
    return extremum_pushforward(t, out, array, axis, keepdims=keepdims, initial=initial, where=where)


vjp(np.add.reduce, array=reduce_sum_pullback)
jvp(np.add.reduce, array=reduce_sum_pushforward)
vjp(np.multiply.reduce, array=reduce_prod_pullback)
jvp(np.multiply.reduce, array=reduce_prod_pushforward)
for extremum in (np.maximum, np.minimum):
    vjp(extremum.reduce, array=reduce_extremum_pullback)
    jvp(extremum.reduce, array=reduce_extremum_pushforward)
vjp(
    np.logaddexp.reduce,
    array=lambda g, out, array, axis=0, *, keepdims=False: (
        spread(g, axis, keepdims) * np.exp(array - spread(out, axis, keepdims))
    ),
)
jvp(
    np.logaddexp.reduce,
    array=lambda t, out, array, axis=0, *, keepdims=False: np.sum(
        t * np.exp(array - spread(out, axis, keepdims)), axis=axis, keepdims=keepdims
    ),
)
linear(np.add.accumulate, lambda g, array, axis=0: cumsum_adjoint(g, array, axis))
vjp(np.multiply.accumulate, array=lambda g, out, array, axis=0: cumprod_pullback(g, out, array, axis))
jvp(np.multiply.accumulate, array=lambda t, out, array, axis=0: cumprod_pushforward(t, out, array, axis))


def passed_on(out, a):
    """For each entry of a running extremum but the first, what part of it is the entry before: half where they tie."""
    ones = np.ones_like(a[1:])
    return np.where(np.equal(a[1:], out[1:]), np.where(np.equal(out[:-1], out[1:]), ones / 2, 0 * ones), ones)


def running_extremum_pullback(g, out, array, axis=0):
    """By the recurrence ``s[i] = g[i] + p[i+1] s[i+1]``, of which the entry has what is not passed on."""
    a, out, g = np.moveaxis(array, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(g, axis, 0)
    if len(a) == 0:
        return np.moveaxis(g, 0, axis)
    p = passed_on(out, a)
    rows = [g[-1]]
    for i in range(len(a) - 2, -1, -1):
        rows.append(g[i] + times(p[i], rows[-1]))
    own = np.concatenate([np.ones_like(p[:1]), 1 - p]) if len(p) else np.ones_like(g)
    return np.moveaxis(times(own, np.stack(rows[::-1])), 0, axis)


def running_extremum_pushforward(t, out, array, axis=0):
    a, out, t = np.moveaxis(array, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(t, axis, 0)
    if len(a) == 0:
        return np.moveaxis(t, 0, axis)
    p = passed_on(out, a)
    rows = [t[0]]
    for i in range(1, len(a)):
        rows.append(times(p[i - 1], rows[-1]) + times(1 - p[i - 1], t[i]))
    return np.moveaxis(np.stack(rows), 0, axis)


for extremum in (np.maximum, np.minimum):
    vjp(extremum.accumulate, array=running_extremum_pullback)
    jvp(extremum.accumulate, array=running_extremum_pushforward)


def reduceat_adjoint(g, array, indices, axis=0):
    """Every entry of a run gets the cotangent of its sum; a run that would end before it begins is one entry long."""
    starts = np.asarray(indices)
    lengths = np.maximum(np.append(starts[1:], np.shape(array)[axis]) - starts, 1)
    places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(np.sum(lengths))
    rows = np.repeat(np.moveaxis(g, axis, 0), lengths, axis=0)
    return np.moveaxis(embed(rows, np.moveaxis(array, axis, 0), places), 0, axis)


linear(np.add.reduceat, reduceat_adjoint)


def over_second(g, A):
    """`g` summed over the axes that an outer operation took from its second operand."""
    return np.sum(g, axis=tuple(range(np.ndim(A), np.ndim(g))))


def over_first(g, A):
    """`g` summed over the axes that an outer operation took from its first operand."""
    return np.sum(g, axis=tuple(range(np.ndim(A))))


vjp(
    np.add.outer,
    A=lambda g, out, A, B, /: unbroadcast(over_second(g, A), A),
    B=lambda g, out, A, B, /: unbroadcast(over_first(g, A), B),
)
jvp(
    np.add.outer,
    A=lambda t, out, A, B, /: np.add.outer(t, np.zeros_like(B)),
    B=lambda t, out, A, B, /: np.add.outer(np.zeros_like(A), t),
)
vjp(
    np.subtract.outer,
    A=lambda g, out, A, B, /: unbroadcast(over_second(g, A), A),
    B=lambda g, out, A, B, /: -unbroadcast(over_first(g, A), B),
)
jvp(
    np.subtract.outer,
    A=lambda t, out, A, B, /: np.subtract.outer(t, np.zeros_like(B)),
    B=lambda t, out, A, B, /: np.subtract.outer(np.zeros_like(A), t),
)
vjp(
    np.multiply.outer,
    A=lambda g, out, A, B, /: unbroadcast(np.tensordot(g, np.conj(B), np.ndim(B)), A),
    B=lambda g, out, A, B, /: unbroadcast(np.tensordot(np.conj(A), g, np.ndim(A)), B),
)
jvp(
    np.multiply.outer,
    A=lambda t, out, A, B, /: np.multiply.outer(t, B),
    B=lambda t, out, A, B, /: np.multiply.outer(A, t),
)
