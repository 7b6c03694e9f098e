"""Derivatives of what only rearranges, joins, cuts or copies entries: linear maps, nearly all.

The adjoint of a rearrangement is the inverse one; of a join the cut, of a cut the join, of a copy the
sum over the copies. Cotangents of a list of arrays come in a list; one that is None is zero.
"""

import numpy as np

from s2sgrad.errors import MissingRuleError
from s2sgrad.rules.table import jvp, linear, vjp
from s2sgrad.runtime.arrays import (
    embed,
    embed_diagonal,
    filled,
    gather_adjoint,
    indices_like,
    is_differentiable,
    over,
    part,
    unbroadcast,
    widened,
    zeros_of,
)

# ---------------------------------------------------------------- one array, entries kept


def transpose_adjoint(g, a, axes=None):
    if axes is None:
        return np.transpose(g)
    return np.transpose(g, np.argsort([i % np.ndim(a) for i in axes]))


def rollaxis_adjoint(g, a, axis, start=0):
    n = np.ndim(a)
    axis, start = axis % n, start + n if start < 0 else start
    return np.moveaxis(g, start - 1 if axis < start else start, axis)


def ravel_adjoint(g, a, order="C"):
    if order == "C":
        return np.reshape(g, np.shape(a))
    if order != "F":
        raise MissingRuleError(f"order={order!r} depends on the memory layout of the array and has no derivative rule")
    return np.reshape(g, np.shape(a), order=order)


def roll_adjoint(g, a, shift, axis=None):
    if isinstance(shift, (tuple, list)):
        return np.roll(g, tuple(-int(s) for s in shift), axis)
    return np.roll(g, -shift if isinstance(shift, int) else -np.asarray(shift, int), axis)


linear(np.reshape, lambda g, a, shape, order="C": ravel_adjoint(g, a, order))
linear(np.ravel, ravel_adjoint)
linear(np.transpose, transpose_adjoint)
linear((np.matrix_transpose, np.linalg.matrix_transpose), lambda g, x: np.swapaxes(g, -1, -2))
linear(np.swapaxes, lambda g, a, axis1, axis2: np.swapaxes(g, axis1, axis2))
linear(np.moveaxis, lambda g, a, source, destination: np.moveaxis(g, destination, source))
linear(np.rollaxis, rollaxis_adjoint)
linear(np.expand_dims, lambda g, a, axis: np.reshape(g, np.shape(a)))
linear(np.squeeze, lambda g, a, axis=None: np.reshape(g, np.shape(a)))
linear(np.flip, lambda g, m, axis=None: np.flip(g, axis))
linear(np.fliplr, lambda g, m: np.fliplr(g))
linear(np.flipud, lambda g, m: np.flipud(g))
linear(np.rot90, lambda g, m, k=1, axes=(0, 1): np.rot90(g, -k, axes))
linear(np.roll, roll_adjoint)
linear(np.tril, lambda g, m, k=0: unbroadcast(np.tril(g, k), m))
linear(np.triu, lambda g, m, k=0: unbroadcast(np.triu(g, k), m))
linear(np.atleast_1d, lambda g, a: np.reshape(g, np.shape(a)))
linear(np.atleast_2d, lambda g, a: np.reshape(g, np.shape(a)))
linear(np.atleast_3d, lambda g, a: np.reshape(g, np.shape(a)))


def diag_adjoint(g, v, k=0):
    if np.ndim(v) == 1:
        return np.diagonal(g, k)
    return embed_diagonal(g, v, k)


linear(np.diag, diag_adjoint)
linear(np.diagflat, lambda g, v, k=0: np.reshape(np.diagonal(g, k), np.shape(v)))
linear(
    np.diagonal,
    lambda g, a, offset=0, axis1=0, axis2=1: embed_diagonal(g, a, offset, axis1, axis2),
)

# ---------------------------------------------------------------- conversions


def nested(g, x):
    """The cotangent `g` of an array, in a list like `x` where the array was made of a list."""
    if isinstance(x, (list, tuple)):
        return [nested(g[i], item) for i, item in enumerate(x)]
    return unbroadcast(g, x)


def nested_tangent(t, x):
    """The tangent of an array made of `x`, from that of `x`, where None is zero."""
    if isinstance(x, (list, tuple)):
        return np.stack([nested_tangent(part(t, i), item) for i, item in enumerate(x)]) if x else np.zeros(0)
    return filled(t, x)


def conversion_pullback(g, out, x):
    """The identity, and zero where the result is of integers: they take steps."""
    if not is_differentiable(out):
        return nested(np.zeros(np.shape(x)), x)
    return nested(np.reshape(g, np.shape(x)), x)


def conversion_pushforward(t, out, x):
    if not is_differentiable(out):
        return np.zeros(np.shape(out))
    t = np.reshape(nested_tangent(t, x), np.shape(out))
    return np.real(t) if np.isrealobj(out) else t


vjp(
    np.array,
    object=lambda g, out, object, dtype=None, *, copy=True, order="K", ndmin=0: conversion_pullback(g, out, object),
)
jvp(
    np.array,
    object=lambda t, out, object, dtype=None, *, copy=True, order="K", ndmin=0: conversion_pushforward(t, out, object),
)
for convert in (np.asarray, np.asanyarray):
    vjp(convert, a=lambda g, out, a, dtype=None, order=None: conversion_pullback(g, out, a))
    jvp(convert, a=lambda t, out, a, dtype=None, order=None: conversion_pushforward(t, out, a))
for convert in (np.ascontiguousarray, np.asfortranarray):
    vjp(convert, a=lambda g, out, a, dtype=None: conversion_pullback(g, out, a))
    jvp(convert, a=lambda t, out, a, dtype=None: conversion_pushforward(t, out, a))
vjp(np.copy, a=lambda g, out, a, order="K": conversion_pullback(g, out, a))
jvp(np.copy, a=lambda t, out, a, order="K": conversion_pushforward(t, out, a))
vjp(np.astype, x=lambda g, out, x, dtype, *, copy=True: conversion_pullback(g, out, x))
jvp(np.astype, x=lambda t, out, x, dtype, *, copy=True: conversion_pushforward(t, out, x))


def full_pullback(g, out, shape, fill_value, dtype=None):
    return unbroadcast(g, fill_value) if is_differentiable(out) else zeros_of(fill_value)


def full_pushforward(t, out, shape, fill_value, dtype=None):
    return np.broadcast_to(t if is_differentiable(out) else 0.0, np.shape(out))


vjp(np.full, fill_value=full_pullback)
jvp(np.full, fill_value=full_pushforward)
vjp(
    np.full_like,
    a=lambda g, out, a, fill_value, dtype=None: zeros_of(a),
    fill_value=lambda g, out, a, fill_value, dtype=None: full_pullback(g, out, None, fill_value),
)
jvp(
    np.full_like,
    a=lambda t, out, a, fill_value, dtype=None: zeros_of(out),
    fill_value=lambda t, out, a, fill_value, dtype=None: full_pushforward(t, out, None, fill_value),
)

# ---------------------------------------------------------------- copies of entries


def tile_adjoint(g, A, reps):
    reps = tuple(reps) if np.ndim(reps) else (reps,)
    shape = (1,) * (len(reps) - np.ndim(A)) + np.shape(A)
    reps = (1,) * (len(shape) - len(reps)) + reps
    split = np.reshape(g, [n for pair in zip(reps, shape, strict=True) for n in pair])
    return np.reshape(np.sum(split, axis=tuple(range(0, 2 * len(shape), 2))), np.shape(A))


def repeat_adjoint(g, a, repeats, axis=None):
    if axis is None:
        return np.reshape(repeat_adjoint(g, np.ravel(a), repeats, 0), np.shape(a))
    if isinstance(repeats, int):
        axis = axis % np.ndim(a)
        shape = np.shape(a)
        return np.sum(np.reshape(g, shape[: axis + 1] + (repeats,) + shape[axis + 1 :]), axis=axis + 1)
    return gather_adjoint(g, a, np.repeat(indices_like(a), repeats, axis))


def pad_pullback(g, out, array, pad_width, mode="constant", *, constant_values=0):
    if mode == "constant":
        return np.reshape(g[np.pad(np.ones(np.shape(array), bool), pad_width)], np.shape(array))
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise MissingRuleError(f"np.pad with mode={mode!r} has no derivative rule")
    return gather_adjoint(g, array, np.pad(indices_like(array), pad_width, mode))


def pad_pushforward(t, out, array, pad_width, mode="constant", *, constant_values=0):
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise MissingRuleError(f"np.pad with mode={mode!r} has no derivative rule")
    return np.pad(t, pad_width, mode)


linear(np.tile, tile_adjoint)
linear(np.repeat, repeat_adjoint)
linear(np.broadcast_to, lambda g, array, shape: unbroadcast(g, array))
linear(np.resize, lambda g, a, new_shape: gather_adjoint(g, a, np.resize(indices_like(a), new_shape)))
linear(np.delete, lambda g, arr, obj, axis=None: gather_adjoint(g, arr, np.delete(indices_like(arr), obj, axis)))


def pad_value_pullback(g, out, array, pad_width, mode="constant", *, constant_values=0):
    if np.ndim(constant_values):
        raise MissingRuleError(
            "np.pad with several constant_values has no derivative rule for them: put the sides on with np.concatenate"
        )
    return np.sum(np.where(np.pad(np.ones(np.shape(array), bool), pad_width), 0.0, g))


vjp(np.pad, array=pad_pullback, constant_values=pad_value_pullback)
jvp(
    np.pad,
    array=pad_pushforward,
    constant_values=lambda t, out, array, pad_width, mode="constant", *, constant_values=0: np.pad(
        np.zeros_like(array), pad_width, constant_values=t
    ),
)


def insert_pullback(g, out, arr, obj, values, axis=None):
    source = np.insert(indices_like(arr), obj, np.full(np.shape(values), -1), axis)
    return gather_adjoint(g[source >= 0], arr, source[source >= 0])


def insert_values_pullback(g, out, arr, obj, values, axis=None):
    if not is_differentiable(out):  # inserted among integers: a whole number, a step of the value
        return zeros_of(values)
    source = np.insert(np.full(np.shape(arr), -1), obj, indices_like(values), axis)
    return gather_adjoint(g[source >= 0], values, source[source >= 0])


vjp(np.insert, arr=insert_pullback, values=insert_values_pullback)
jvp(
    np.insert,
    arr=lambda t, out, arr, obj, values, axis=None: np.insert(t, obj, np.zeros_like(values), axis),
    values=lambda t, out, arr, obj, values, axis=None: np.insert(np.zeros_like(out, shape=np.shape(arr)), obj, t, axis),
)

# ---------------------------------------------------------------- joins


def like_arrays(parts, arrays):
    """The `parts` of a cotangent in the shapes of the list `arrays`; in one array where that was one."""
    parts = [unbroadcast(np.reshape(p, np.shape(x)), x) for p, x in zip(parts, arrays, strict=True)]
    return parts if isinstance(arrays, (list, tuple)) else np.stack(parts)


def layers(g, axis):
    """What `g` consists of along an axis, one after the other."""
    if axis == 0:
        return g
    return np.moveaxis(g, axis, 0)


def filled_list(t, arrays):
    """The tangents `t` of a list of arrays, with zeros for None."""
    return [filled(part(t, i), x) for i, x in enumerate(arrays)]


def cut(g, sizes, axis):
    """`g` cut into pieces of the given sizes along an axis."""
    if len(sizes) == 1:
        return [g]
    n = sizes[0]
    if len(sizes) <= 4 and axis == 0:
        return [g[:n], *cut(g[n:], sizes[1:], axis)]
    if len(sizes) <= 4 and axis == -1:
        return [g[..., :n], *cut(g[..., n:], sizes[1:], axis)]
    if len(sizes) <= 4 and axis == 1:
        return [g[:, :n], *cut(g[:, n:], sizes[1:], axis)]
    return np.split(g, np.cumsum(sizes)[:-1], axis)


def as_real(g, x):
    """The real part of `g` where `x` is real."""
    return np.real(g) if np.iscomplexobj(g) and np.isrealobj(x) else g


def concatenate_pullback(g, out, arrays, axis=0):
    if axis is None:
        return like_arrays(cut(g, [np.size(x) for x in arrays], 0), arrays)
    parts = cut(g, [np.shape(x)[axis] for x in arrays], axis)
    if isinstance(arrays, (list, tuple)):
        return [as_real(p, x) for p, x in zip(parts, arrays, strict=True)]
    return like_arrays(parts, arrays)


def hstack_pullback(g, out, tup):
    axis = 0 if np.ndim(g) == 1 else 1
    return like_arrays(cut(g, [np.shape(np.atleast_1d(x))[axis] for x in tup], axis), tup)


def vstack_pullback(g, out, tup):
    return like_arrays(cut(g, [np.shape(np.atleast_2d(x))[0] for x in tup], 0), tup)


def dstack_pullback(g, out, tup):
    return like_arrays(cut(g, [np.shape(np.atleast_3d(x))[2] for x in tup], 2), tup)


def column_stack_pullback(g, out, tup):
    return like_arrays(cut(g, [np.shape(x)[1] if np.ndim(x) > 1 else 1 for x in tup], 1), tup)


vjp(np.concatenate, arrays=concatenate_pullback)
jvp(np.concatenate, arrays=lambda t, out, arrays, axis=0: np.concatenate(filled_list(t, arrays), axis))
vjp(np.stack, arrays=lambda g, out, arrays, axis=0: like_arrays(layers(g, axis), arrays))
jvp(np.stack, arrays=lambda t, out, arrays, axis=0: np.stack(filled_list(t, arrays), axis))
vjp(np.hstack, tup=hstack_pullback)
jvp(np.hstack, tup=lambda t, out, tup: np.hstack(filled_list(t, tup)))
vjp(np.vstack, tup=vstack_pullback)
jvp(np.vstack, tup=lambda t, out, tup: np.vstack(filled_list(t, tup)))
vjp(np.dstack, tup=dstack_pullback)
jvp(np.dstack, tup=lambda t, out, tup: np.dstack(filled_list(t, tup)))
vjp(np.column_stack, tup=column_stack_pullback)
jvp(np.column_stack, tup=lambda t, out, tup: np.column_stack(filled_list(t, tup)))


def block_extent(x, axis):
    """The length of the nested lists of blocks `x` along a (negative) axis."""
    if not isinstance(x, list):
        return np.shape(x)[axis] if np.ndim(x) >= -axis else 1
    if axis == -block_depth(x):
        return sum(block_extent(item, axis) for item in x)
    return block_extent(x[0], axis)


def block_depth(x):
    return 1 + block_depth(x[0]) if isinstance(x, list) else 0


def block_cotangent(g, x):
    """`g` cut into the blocks `x`: the outermost list runs along the first of the axes."""
    if not isinstance(x, list):
        return unbroadcast(np.reshape(g, np.shape(x)), x)
    axis = -block_depth(x)
    pieces = cut(g, [block_extent(item, axis) for item in x], axis)
    return [block_cotangent(p, item) for p, item in zip(pieces, x, strict=True)]


def block_tangent(t, x):
    """The tangents of the blocks `x`, with zeros for None."""
    return [block_tangent(part(t, i), item) for i, item in enumerate(x)] if isinstance(x, list) else filled(t, x)


vjp(np.block, arrays=lambda g, out, arrays: block_cotangent(g, arrays))
jvp(np.block, arrays=lambda t, out, arrays: np.block(block_tangent(t, arrays)))


def append_pullback(g, out, arr, values, axis=None):
    return concatenate_pullback(g, out, [arr, values], axis)[0]


def append_values_pullback(g, out, arr, values, axis=None):
    return concatenate_pullback(g, out, [arr, values], axis)[1]


vjp(np.append, arr=append_pullback, values=append_values_pullback)
jvp(
    np.append,
    arr=lambda t, out, arr, values, axis=None: np.append(t, np.zeros_like(values), axis),
    values=lambda t, out, arr, values, axis=None: np.append(np.zeros_like(arr), t, axis),
)

# ---------------------------------------------------------------- cuts


def joined(g, out, axis):
    """The pieces of a cotangent, joined: the adjoint of cutting."""
    return np.concatenate([filled(part(g, i), x) for i, x in enumerate(out)], axis)


for splitter in (np.split, np.array_split):
    vjp(splitter, ary=lambda g, out, ary, indices_or_sections, axis=0: joined(g, out, axis))
vjp(np.hsplit, ary=lambda g, out, ary, indices_or_sections: joined(g, out, 0 if np.ndim(ary) == 1 else 1))
vjp(np.vsplit, ary=lambda g, out, ary, indices_or_sections: joined(g, out, 0))
vjp(np.dsplit, ary=lambda g, out, ary, indices_or_sections: joined(g, out, 2))
jvp(np.split, ary=lambda t, out, ary, indices_or_sections, axis=0: np.split(t, indices_or_sections, axis))
jvp(np.array_split, ary=lambda t, out, ary, indices_or_sections, axis=0: np.array_split(t, indices_or_sections, axis))
jvp(np.hsplit, ary=lambda t, out, ary, indices_or_sections: np.hsplit(t, indices_or_sections))
jvp(np.vsplit, ary=lambda t, out, ary, indices_or_sections: np.vsplit(t, indices_or_sections))
jvp(np.dsplit, ary=lambda t, out, ary, indices_or_sections: np.dsplit(t, indices_or_sections))
if hasattr(np, "unstack"):
    vjp(
        np.unstack,
        x=lambda g, out, x, *, axis=0: np.stack([filled(part(g, i), y) for i, y in enumerate(out)], axis),
    )
    jvp(np.unstack, x=lambda t, out, x, *, axis=0: np.unstack(t, axis=axis))


def meshgrid_pullback(g, out, *xi, indexing="xy", sparse=False, copy=True):
    """Each coordinate's cotangent summed over the axes of the others."""
    axes = range(len(xi))
    own = (1, 0, *axes[2:]) if indexing == "xy" and len(xi) > 1 else tuple(axes)
    sums = [np.sum(filled(part(g, i), out[i]), axis=tuple(k for k in axes if k != own[i])) for i in axes]
    return [unbroadcast(np.reshape(s, np.shape(x)), x) for s, x in zip(sums, xi, strict=True)]


def meshgrid_pushforward(t, out, *xi, indexing="xy", sparse=False, copy=True):
    return np.meshgrid(*filled_list(t, xi), indexing=indexing, sparse=sparse, copy=copy)


vjp(np.meshgrid, xi=meshgrid_pullback)
jvp(np.meshgrid, xi=meshgrid_pushforward)
vjp(
    np.broadcast_arrays,
    args=lambda g, out, *args: [unbroadcast(filled(part(g, i), out[i]), x) for i, x in enumerate(args)],
)
jvp(
    np.broadcast_arrays,
    args=lambda t, out, *args: [np.broadcast_to(x, np.shape(out[0])) for x in filled_list(t, args)],
)

# ---------------------------------------------------------------- differences, interpolation, quadrature


def diff_adjoint(g, n, axis):
    """Differences of the zero-padded cotangent, with the sign that summation by parts gives."""
    n = int(n)
    widths = [(n, n) if i == axis % np.ndim(g) else (0, 0) for i in range(np.ndim(g))]
    d = np.diff(np.pad(g, widths), n, axis)
    return -d if n % 2 else d


def diff_pullback(g, out, a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return g
    if np.size(g) == 0:
        return zeros_of(a)
    if prepend is None and append is None:
        return diff_adjoint(g, n, axis)
    return between(diff_adjoint(g, n, axis), end_length(prepend, axis), np.shape(a)[axis], axis)


def diff_prepend_pullback(g, out, a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return zeros_of(prepend)
    return unbroadcast(between(diff_adjoint(g, n, axis), 0, end_length(prepend, axis), axis), prepend)


def diff_append_pullback(g, out, a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return zeros_of(append)
    whole, length = diff_adjoint(g, n, axis), end_length(append, axis)
    return unbroadcast(between(whole, np.shape(whole)[axis] - length, length, axis), append)


def end_length(end, axis):
    """How many entries `diff` puts at an end of the axis."""
    if end is None:
        return 0
    return np.shape(end)[axis] if np.ndim(end) else 1


def between(g, start, length, axis):
    """`length` entries of `g` along an axis."""
    return np.moveaxis(np.moveaxis(g, axis, 0)[start : start + length], 0, axis)


def spread_end(end, like, axis):
    """What `diff` puts at an end, in full."""
    if np.ndim(end):
        return end
    return np.broadcast_to(end, tuple(1 if i == axis % np.ndim(like) else m for i, m in enumerate(np.shape(like))))


def diff_pushforward(t, out, a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return t
    around = [np.zeros_like(a, shape=np.shape(spread_end(e, a, axis))) for e in (prepend, append) if e is not None]
    if prepend is not None:
        t = np.concatenate([around[0], t], axis)
    if append is not None:
        t = np.concatenate([t, around[-1]], axis)
    return np.diff(t, n, axis)


def diff_prepend_pushforward(t, out, a, n=1, axis=-1, prepend=None, append=None):
    rest = (
        np.zeros_like(a)
        if append is None
        else np.concatenate([np.zeros_like(a), 0 * spread_end(append, a, axis)], axis)
    )
    return np.diff(np.concatenate([spread_end(t, a, axis), rest], axis), n, axis)


def diff_append_pushforward(t, out, a, n=1, axis=-1, prepend=None, append=None):
    rest = (
        np.zeros_like(a)
        if prepend is None
        else np.concatenate([0 * spread_end(prepend, a, axis), np.zeros_like(a)], axis)
    )
    return np.diff(np.concatenate([rest, spread_end(t, a, axis)], axis), n, axis)


vjp(np.diff, a=diff_pullback, prepend=diff_prepend_pullback, append=diff_append_pullback)
jvp(np.diff, a=diff_pushforward, prepend=diff_prepend_pushforward, append=diff_append_pushforward)


def ediff1d_pullback(g, out, ary, to_end=None, to_begin=None):
    first = 0 if to_begin is None else np.size(to_begin)
    inner = g[first : first + np.size(ary) - 1]
    return np.reshape(at_both_ends(inner, -1), np.shape(ary)) if np.size(inner) else zeros_of(ary)


def ediff1d_pushforward(t, out, ary, to_end=None, to_begin=None):
    return np.ediff1d(
        t,
        None if to_end is None else np.zeros(np.size(to_end)),
        None if to_begin is None else np.zeros(np.size(to_begin)),
    )


vjp(np.ediff1d, ary=ediff1d_pullback)
jvp(np.ediff1d, ary=ediff1d_pushforward)


def at_both_ends(h, sign):
    """``h`` put at the upper end of each interval, plus `sign` times it at the lower end (last axis)."""
    zero = np.zeros_like(h[..., :1])
    return np.concatenate([zero, h], -1) + sign * np.concatenate([h, zero], -1)


def intervals(x, dx, axis):
    """The conjugate interval lengths of a trapezoid sum, along the last axis."""
    if x is None:
        return np.conj(dx) if np.iscomplexobj(dx) else dx
    return np.conj(np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1)))


def trapezoid_pullback(g, out, y, x=None, dx=1.0, axis=-1):
    if np.shape(y)[axis] < 2:
        return zeros_of(y)
    one = np.ones(np.shape(np.moveaxis(y, axis, -1))[:-1] + (np.shape(y)[axis] - 1,), np.asarray(y).dtype)
    h = one * np.expand_dims(g, -1) * intervals(x, dx, axis) / 2
    return unbroadcast(np.moveaxis(at_both_ends(h, 1), -1, axis), y)


def trapezoid_x_pullback(g, out, y, x=None, dx=1.0, axis=-1):
    if np.shape(y)[axis] < 2:
        return zeros_of(x)
    y = np.moveaxis(y, axis, -1)
    h = at_both_ends(np.expand_dims(g, -1) * np.conj(y[..., 1:] + y[..., :-1]) / 2, -1)
    return unbroadcast(h, x) if np.ndim(x) == 1 else unbroadcast(np.moveaxis(h, -1, axis), x)


def trapezoid_x_pushforward(t, out, y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, t, axis=axis)


vjp(
    np.trapezoid,
    y=trapezoid_pullback,
    x=trapezoid_x_pullback,
    dx=lambda g, out, y, x=None, dx=1.0, axis=-1: unbroadcast(g * np.conj(np.trapezoid(y, axis=axis)), dx),
)
jvp(
    np.trapezoid,
    y=lambda t, out, y, x=None, dx=1.0, axis=-1: np.trapezoid(t, x, dx, axis),
    x=trapezoid_x_pushforward,
    dx=lambda t, out, y, x=None, dx=1.0, axis=-1: t * np.trapezoid(y, axis=axis),
)


def doubles(x):
    """An array in the precision that `interp` calculates in."""
    return widened(np.asarray(x), 1.0)


def brackets(x, xp):
    """For each `x` the knots `i`, `j` around it and its place between them, from 0 to 1."""
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(np.size(xp) - 2, 0))
    j = np.minimum(i + 1, np.size(xp) - 1)
    w = np.clip(over(x - xp[i], xp[j] - xp[i]), 0.0, 1.0)
    return i, j, w


def interp_slope(x, xp, fp):
    """The slope at `x`: that of the interval to the right at a knot, zero outside."""
    i, j, _ = brackets(x, xp)
    inside = (x >= xp[0]) & (x <= xp[-1])
    return np.where(inside, over(fp[j] - fp[i], xp[j] - xp[i]), 0.0)


def within(g, x, xp, left, right):
    """`g` where no value is given for `x` outside of the knots."""
    if left is not None:
        g = np.where(np.less(x, xp[0]), 0.0, g)
    return g if right is None else np.where(np.greater(x, xp[-1]), 0.0, g)


def interp_xp_pullback(g, out, x, xp, fp, left=None, right=None):
    i, j, w = brackets(x, doubles(xp))
    h = np.real(g * np.conj(interp_slope(x, doubles(xp), doubles(fp))))
    return embed(np.ravel(h * (w - 1)), xp, np.ravel(i)) - embed(np.ravel(h * w), xp, np.ravel(j))


def interp_fp_pullback(g, out, x, xp, fp, left=None, right=None):
    i, j, w = brackets(x, doubles(xp))
    g = within(g, x, xp, left, right)
    return embed(np.ravel(g * (1 - w)), fp, np.ravel(i)) + embed(np.ravel(g * w), fp, np.ravel(j))


def interp_xp_pushforward(t, out, x, xp, fp, left=None, right=None):
    i, j, w = brackets(x, doubles(xp))
    return interp_slope(x, doubles(xp), doubles(fp)) * ((w - 1) * t[i] - w * t[j])


vjp(
    np.interp,
    x=lambda g, out, x, xp, fp, left=None, right=None: np.real(g * np.conj(interp_slope(x, doubles(xp), doubles(fp)))),
    xp=interp_xp_pullback,
    fp=interp_fp_pullback,
    left=lambda g, out, x, xp, fp, left=None, right=None: np.sum(np.where(np.less(x, xp[0]), g, 0.0)),
    right=lambda g, out, x, xp, fp, left=None, right=None: np.sum(np.where(np.greater(x, xp[-1]), g, 0.0)),
)
jvp(
    np.interp,
    x=lambda t, out, x, xp, fp, left=None, right=None: t * interp_slope(x, doubles(xp), doubles(fp)),
    xp=interp_xp_pushforward,
    fp=lambda t, out, x, xp, fp, left=None, right=None: within(np.interp(x, xp, t), x, xp, left, right),
    left=lambda t, out, x, xp, fp, left=None, right=None: np.where(np.less(x, xp[0]), t, 0.0),
    right=lambda t, out, x, xp, fp, left=None, right=None: np.where(np.greater(x, xp[-1]), t, 0.0),
)


def linspace_weights(num, endpoint, like, axis):
    """The place of each point between the ends, from 0 to 1, shaped and typed to multiply `like`."""
    places = np.linspace(0.0, 1.0, num, endpoint, dtype=np.real(like).dtype)
    return np.reshape(places, (num,) + (1,) * (np.ndim(like) - 1 - axis % np.ndim(like)))


def linspace_start_pullback(g, out, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    return unbroadcast(np.sum(g * (1 - linspace_weights(num, endpoint, out, axis)), axis=axis), start)


def linspace_stop_pullback(g, out, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    return unbroadcast(np.sum(g * linspace_weights(num, endpoint, out, axis), axis=axis), stop)


def linspace_start_pushforward(t, out, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    return expanded_at(t, out, axis) * (1 - linspace_weights(num, endpoint, out, axis))


def linspace_stop_pushforward(t, out, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    return expanded_at(t, out, axis) * linspace_weights(num, endpoint, out, axis)


def expanded_at(t, out, axis):
    """`t`, with the axis that the points lie along."""
    return np.expand_dims(np.broadcast_to(t, np.delete(np.shape(out), axis)), axis)


vjp(np.linspace, start=linspace_start_pullback, stop=linspace_stop_pullback)
jvp(np.linspace, start=linspace_start_pushforward, stop=linspace_stop_pushforward)
