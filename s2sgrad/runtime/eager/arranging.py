"""Tensors put together, and parts of them replaced: compositions of the operations on shapes and indices."""

import itertools
import math

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.creation import zeros
from s2sgrad.runtime.eager.registry import FUNCTIONS, enter, op, sizes
from s2sgrad.runtime.eager.shapes import CONTIGUOUS, Size, axis_of, cat, diagonal, flatten, meshgrid, split, stack
from s2sgrad.runtime.eager.tensor import Tensor, new

# ---------------------------------------------------------------- side by side


@op(method=False)
def atleast_3d(*tensors):
    """With at least three axes; a vector becomes the middle one."""
    if len(tensors) > 1 or not isinstance(tensors[0], Tensor):
        return tuple([atleast_3d(x) for x in (tensors if len(tensors) > 1 else tensors[0])])
    (x,) = tensors
    if x._a.ndim == 0:
        return x.reshape(1, 1, 1)
    if x._a.ndim == 1:
        return x.unsqueeze(0).unsqueeze(-1)
    return x.unsqueeze(-1) if x._a.ndim == 2 else x


@op(method=False)
def dstack(tensors):
    """One behind the other, along the third axis."""
    return cat([atleast_3d(x) for x in tensors], 2)


@op(method=False)
def column_stack(tensors):
    """As the columns of a matrix."""
    return cat([x.reshape(x._a.size, 1) if x._a.ndim < 2 else x for x in tensors], 1)


@op(method=False)
def block_diag(*tensors):
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
    blocks = [x.reshape(1, -1) if x._a.ndim < 2 else x for x in tensors]
    d = dtypes.result_type(*blocks)
    width = sum(x._a.shape[1] for x in blocks)
    rows, at = [], 0
    for x in blocks:
        n, m = x._a.shape
        sides = zeros(n, at, dtype=d), zeros(n, width - at - m, dtype=d)
        rows.append(cat([sides[0], x, sides[1]], 1))
        at += m
    return cat(rows, 0)


@op(method=False)
def cartesian_prod(*tensors):
    """All tuples of elements, one of each vector, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(x) for x in meshgrid(*tensors)], 1)


@op()
def combinations(input, r=2, with_replacement=False):
    """All choices of `r` elements of a vector, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input._a.size), r)), np.int64).reshape(-1, r)
    return input[new(places, None)]


@op(method=False)
def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to."""
    try:
        return Size(np.broadcast_shapes(*shapes))
    except ValueError as error:
        raise RuntimeError(f"the shapes do not broadcast: {error}") from None


@op()
def diagflat(input, offset=0):
    """A matrix with the elements on a diagonal."""
    return flatten(input).diag(offset) if input._a.ndim != 1 else input.diag(offset)


@op(method=False)
def vander(x, N=None, increasing=False):
    """Powers of a vector, as the columns of a matrix."""
    if x._a.ndim != 1:
        raise RuntimeError(f"vander: a vector is needed, not a tensor of {x._a.ndim} dimensions")
    return powers_of(x, N, increasing)


def powers_of(x, N=None, increasing=False):
    """Powers of vectors, as the columns of matrices; of integers, in int64."""
    n = x._a.shape[-1] if N is None else N
    if x._a.dtype.kind in "iub":
        x = x.long()
    powers = [x**i if i else x * 0 + 1 for i in range(n)]
    return stack(powers if increasing else powers[::-1], -1) if n else zeros(*x._a.shape, 0, dtype=x.dtype)


@op()
def split_with_sizes(input, split_sizes, dim=0):
    """Pieces of given lengths along an axis, as views."""
    return split(input, list(split_sizes), dim)


@op()
def narrow_copy(input, dim, start, length):
    """A range of slices along an axis: a copy."""
    return input.narrow(dim, start, length).clone(memory_format=CONTIGUOUS)


# ---------------------------------------------------------------- parts replaced


@op()
def select_scatter(input, src, dim, index):
    """`input` with `src` as one of the slices along an axis."""
    return _with_part(input, src, lambda x: x.select(dim, index))


@op()
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """`input` with `src` as a range of the slices along an axis."""
    lead = (slice(None),) * axis_of(input, dim)
    return _with_part(input, src, lambda x: x[(*lead, slice(start, end, step))])


@op()
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """`input` with `src` as a diagonal."""
    return _with_part(input, src, lambda x: diagonal(x, offset, dim1, dim2))


@op()
def as_strided_scatter(input, src, size, stride, storage_offset=0):
    """`input` with `src` as the elements at the strides given."""
    return _with_part(input, src, lambda x: x.as_strided(size, stride, storage_offset))


def _with_part(input, src, part):
    out = input.clone()
    view = part(out)
    if src._a.shape != view._a.shape:
        raise RuntimeError(f"the source has shape {list(src._a.shape)}, the part to be replaced {list(view._a.shape)}")
    view.copy_(src)
    return out


# ---------------------------------------------------------------- grids


def _window(name, formula):
    def make(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False):
        n = window_length
        x = np.arange(n) / max(n if periodic else n - 1, 1)
        d = dtypes.get_default_dtype() if dtype is None else dtypes.of(dtype)
        a = np.ones(n) if n == 1 else formula(2 * math.pi * x)
        out = new(np.asarray(a).astype(d.numpy), None)
        return out.requires_grad_() if requires_grad else out

    make.__doc__ = f"The {name} window, of `window_length` elements."
    return enter(f"{name}_window", make, method=False)


_window("hann", lambda x: 0.5 - 0.5 * np.cos(x))
_window("hamming", lambda x: 0.54 - 0.46 * np.cos(x))
_window("blackman", lambda x: 0.42 - 0.5 * np.cos(x) + 0.08 * np.cos(2 * x))
_window("bartlett", lambda x: 1 - np.abs(x / math.pi - 1))


@op(method=False)
def unravel_index(indices, shape):
    """Numbers in reading order as one index for each axis."""
    return tuple([new(np.asarray(i), None) for i in np.unravel_index(indices._a, sizes((shape,)))])


enter("row_stack", FUNCTIONS["vstack"], method=False)
