"""Derivatives of taking entries: ``x[...]``, `take`, `choose`, `select` and their kin.

The adjoint of taking entries is to add to them: `embed` and `gather_adjoint`.
"""

import operator

import numpy as np

from s2sgrad.rules.table import jvp, linear, vjp
from s2sgrad.runtime.arrays import embed, filled, gather_adjoint, indices_like, part, unbroadcast, zeros_of

linear(operator.getitem, lambda g, a, b: embed(g, a, b))


def take_adjoint(g, a, indices, axis=None, *, mode="raise"):
    if mode != "raise":
        return gather_adjoint(g, a, np.take(indices_like(a), indices, axis, mode=mode))
    if axis is None:
        return np.reshape(embed(g, np.ravel(a), np.asarray(indices)), np.shape(a))
    return embed(g, a, (slice(None),) * (axis % np.ndim(a)) + (np.asarray(indices),))


def take_along_axis_adjoint(g, arr, indices, axis=-1):
    return gather_adjoint(g, arr, np.take_along_axis(indices_like(arr), indices, axis))


linear(np.take, take_adjoint)
linear(np.take_along_axis, take_along_axis_adjoint)
vjp(
    np.compress,
    a=lambda g, out, condition, a, axis=None: gather_adjoint(g, a, np.compress(condition, indices_like(a), axis)),
)
jvp(np.compress, a=lambda t, out, condition, a, axis=None: np.compress(condition, t, axis))
vjp(np.extract, arr=lambda g, out, condition, arr: gather_adjoint(g, arr, np.extract(condition, indices_like(arr))))
jvp(np.extract, arr=lambda t, out, condition, arr: np.extract(condition, t))


def choose_pullback(g, out, a, choices):
    parts = [unbroadcast(np.where(np.equal(a, i), g, 0.0), x) for i, x in enumerate(choices)]
    return parts if isinstance(choices, (list, tuple)) else np.stack(parts)


vjp(np.choose, choices=choose_pullback)
jvp(
    np.choose,
    choices=lambda t, out, a, choices: np.choose(a, [filled(part(t, i), x) for i, x in enumerate(choices)]),
)


def first_true(condlist):
    """For each condition where it is the first that holds, and last where none does."""
    masks = np.stack(np.broadcast_arrays(*condlist))
    seen = np.logical_or.accumulate(masks)
    return [masks[0], *(seen[1:] & ~seen[:-1]), ~seen[-1]]


def select_pullback(g, out, condlist, choicelist, default=0):
    parts = zip(first_true(condlist)[:-1], choicelist, strict=True)
    return [unbroadcast(np.where(mask, g, 0.0), x) for mask, x in parts]


def select_default_pullback(g, out, condlist, choicelist, default=0):
    return unbroadcast(np.where(first_true(condlist)[-1], g, 0.0), default)


vjp(np.select, choicelist=select_pullback, default=select_default_pullback)
jvp(
    np.select,
    choicelist=lambda t, out, condlist, choicelist, default=0: np.select(
        condlist, [filled(part(t, i), x) for i, x in enumerate(choicelist)], zeros_of(default)
    ),
    default=lambda t, out, condlist, choicelist, default=0: np.where(first_true(condlist)[-1], t, 0.0),
)

# ---------------------------------------------------------------- windows and counts


def windows_adjoint(g, x, window_shape, axis=None):
    return gather_adjoint(g, x, np.lib.stride_tricks.sliding_window_view(indices_like(x), window_shape, axis))


linear(np.lib.stride_tricks.sliding_window_view, windows_adjoint)
vjp(np.bincount, weights=lambda g, out, x, weights, minlength=0: np.take(g, x))
jvp(np.bincount, weights=lambda t, out, x, weights, minlength=0: np.bincount(x, t, minlength))
