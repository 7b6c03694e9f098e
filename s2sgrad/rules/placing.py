"""What tensors do and NumPy has no function for: several views at once, writing by value, one of a line."""

import numpy as np

from s2sgrad.rules.table import elementwise, inactive, jvp, linear, vjp
from s2sgrad.runtime.arrays import embed, embed_diagonal, unbroadcast

# ---------------------------------------------------------------- views and copies


def writable_diagonal(a, offset=0, axis1=0, axis2=1):
    """``np.diagonal``, writable as its base is."""
    out = np.diagonal(a, offset, axis1, axis2)
    if a.flags.writeable:
        out.flags.writeable = True
    return out


linear(writable_diagonal, lambda g, a, offset=0, axis1=0, axis2=1: embed_diagonal(g, a, offset, axis1, axis2))


def expanded(a, shape):
    """``np.broadcast_to``, writable as its base is."""
    out = np.broadcast_to(a, shape)
    if a.flags.writeable:
        out.flags.writeable = True
    return out


linear(expanded, lambda g, a, shape: unbroadcast(g, a))


def kept_copy(a):
    """A copy in the memory order of `a`; row by row where elements share their memory."""
    return np.array(a, order="C" if 0 in a.strides else "K")


linear(kept_copy, lambda g, a: g)


def row_copy(a):
    """A copy, row by row."""
    return np.array(a, order="C")


linear(row_copy, lambda g, a: g)


def flipped_copy(a, axes):
    """``np.flip`` in memory of its own."""
    return np.array(np.flip(a, axes))


linear(flipped_copy, lambda g, a, axes: np.flip(g, axes))


def turned_copy(a, k, axes):
    """``np.rot90`` in memory of its own."""
    return np.array(np.rot90(a, k, axes))


linear(turned_copy, lambda g, a, k, axes: np.rot90(g, -k, axes))


def pieces(a, keys):
    """Several items of `a`, all of them arrays; the keys are tuples."""
    return tuple([a[(*key, ...)] for key in keys])


def pieces_pullback(g, out, a, keys):
    total = np.zeros_like(a)
    for part, key in zip(g, keys, strict=True):
        if part is not None:
            total = total + embed(part, a, key)
    return total


vjp(pieces, a=pieces_pullback)
jvp(pieces, a=lambda t, out, a, keys: pieces(t, keys))

# ---------------------------------------------------------------- complex numbers and pairs of real ones


def complex_of(real, imag):
    """The complex numbers of real and imaginary parts."""
    out = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), np.result_type(real, np.complex64))
    out.real, out.imag = real, imag
    return out


elementwise(complex_of, lambda t, real, imag: t, lambda t, real, imag: 1j * t)


def pairs_of(z):
    """Complex numbers as pairs of real ones: a view."""
    return z[..., None].view(z.real.dtype)


linear(pairs_of, lambda g, z: g[..., 0] + 1j * g[..., 1])


def complex_of_pairs(a):
    """Pairs of real numbers, side by side in memory, as complex ones: a view."""
    dtype = np.result_type(a, np.complex64)
    return a.view(dtype)[..., 0] if a.size else np.empty(a.shape[:-1], dtype)


linear(complex_of_pairs, lambda g, a: np.stack([np.real(g), np.imag(g)], -1))

# ---------------------------------------------------------------- writing by value


def put_at(x, value, key):
    """`x` with `value` at `key`."""
    out = np.array(x)
    out[key] = value
    return out


vjp(
    put_at,
    x=lambda g, out, x, value, key: put_at(g, 0.0, key),
    value=lambda g, out, x, value, key: unbroadcast(g[key], value),
)
jvp(
    put_at,
    x=lambda t, out, x, value, key: put_at(t, 0.0, key),
    value=lambda t, out, x, value, key: put_at(np.zeros_like(out), t, key),
)


def add_to(x, value, key):
    """`x` with `value` added at `key`; repeated places add up."""
    out = np.array(x)
    np.add.at(out, key, value)
    return out


vjp(
    add_to,
    x=lambda g, out, x, value, key: g,
    value=lambda g, out, x, value, key: unbroadcast(g[key], value),
)
jvp(
    add_to,
    x=lambda t, out, x, value, key: t,
    value=lambda t, out, x, value, key: add_to(np.zeros_like(out), t, key),
)

# ---------------------------------------------------------------- one of a line


def line_index(positions, axis):
    """The index of one element per line along `axis`."""
    places = np.expand_dims(positions, axis)
    index = list(np.indices(places.shape, sparse=True))
    index[axis] = places
    return tuple(index)


inactive(line_index)


def take_line(x, positions, axis, keepdims):
    """The elements of `x` at one position per line."""
    out = np.take_along_axis(x, np.expand_dims(positions, axis), axis)
    return out if keepdims else np.squeeze(out, axis)


linear(
    take_line,
    lambda g, x, positions, axis, keepdims: embed(
        g if keepdims else np.expand_dims(g, axis), x, line_index(positions, axis)
    ),
)


def shared_value(x, share):
    """The value of the elements of `x` that have a `share` in it; the shares add up to 1."""
    return np.asarray(x[share != 0][0])


vjp(shared_value, x=lambda g, out, x, share: g * share)
jvp(shared_value, x=lambda t, out, x, share: np.sum(t * share))

# ---------------------------------------------------------------- windows


def sliding(a, axis, size, step):
    """All windows of `size` elements along an axis, `step` apart: a view, with the windows' elements as last axis."""
    out = np.lib.stride_tricks.sliding_window_view(a, size, axis, writeable=a.flags.writeable)
    return out[(slice(None),) * axis + (slice(None, None, step),)]


def sliding_pullback(g, a, axis, size, step):
    total = np.zeros(a.shape, np.asarray(g).dtype)
    lead = (slice(None),) * axis
    reach = step * (g.shape[axis] - 1) + 1
    for i in range(size):
        total[(*lead, slice(i, i + reach, step))] += g[..., i]
    return total


linear(sliding, sliding_pullback)


def strided(a, shape, strides, offset):
    """The elements of a line in one piece at ``offset + i * strides[0] + j * strides[1] + ...``: a view."""
    places = np.asarray(_places(shape, strides, offset))
    if places.size and not (places.min() >= 0 and places.max() < a.size):
        raise ValueError(f"the strides {list(strides)} and the offset {offset} leave the memory of {a.size} elements")
    return np.lib.stride_tricks.as_strided(a[offset:], shape, [s * a.itemsize for s in strides])


def _places(shape, strides, offset):
    return offset + sum(i * s for i, s in zip(np.indices(shape, sparse=True), strides, strict=True))


def strided_pullback(g, a, shape, strides, offset):
    total = np.zeros(a.shape, np.asarray(g).dtype)
    np.add.at(total, np.broadcast_to(_places(shape, strides, offset), shape), g)
    return total


linear(strided, strided_pullback)
