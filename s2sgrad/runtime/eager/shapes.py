"""Operations that move elements or look at them another way: mostly views."""

import math
import operator

import numpy as np

from s2sgrad.rules.placing import (
    expanded,
    flipped_copy,
    kept_copy,
    pieces,
    row_copy,
    sliding,
    strided,
    turned_copy,
    writable_diagonal,
)
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast
from s2sgrad.runtime.eager.layout import dense
from s2sgrad.runtime.eager.registry import enter, method, op, sizes
from s2sgrad.runtime.eager.tensor import Size, Tensor, as_view, new, refresh

CONTIGUOUS, PRESERVE = "torch.contiguous_format", "torch.preserve_format"


def _shape_of(x, shape):
    shape = list(shape)
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    size = x._a.size
    known = math.prod(n for n in shape if n != -1)
    if -1 in shape:
        if known == 0 or size % known:
            raise RuntimeError(f"shape {shape} is invalid for input of size {size}")
        shape[shape.index(-1)] = size // known
    elif known != size:
        raise RuntimeError(f"shape {shape} is invalid for input of size {size}")
    return tuple(shape)


@op()
def reshape(input, *shape):
    """Another shape: a view where the memory allows, a copy elsewhere."""
    refresh(input)
    return call("View", np.reshape, input, _shape_of(input, sizes(shape)))


def remade(out, *shape):
    """The result `out` of an operation in another shape: under the operation's name, and no view of it."""
    return call(None if out._node is None else out._node.form.name, kept_copy, reshape(out, *shape))


@method("view")
def view(self, *shape):
    """Another shape, or another type, of the same memory."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        try:
            out = new(self._a.view(shape[0].numpy), None)
        except ValueError as error:
            raise RuntimeError(f"view: {error}") from None
        as_view(self, out, ())
        return out
    refresh(self)
    shape = _shape_of(self, sizes(shape))
    if self._a.size and not np.may_share_memory(np.reshape(self._a, shape), self._a):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride: use reshape(...), which may copy"
        )
    return call("View", np.reshape, self, shape)


@method("view_as")
def view_as(self, other):
    return view(self, *other._a.shape)


@method("reshape_as")
def reshape_as(self, other):
    return reshape(self, *other._a.shape)


@op()
def ravel(input):
    """All elements in one axis."""
    return reshape(input, -1)


@op()
def flatten(input, start_dim=0, end_dim=-1):
    """Axes from `start_dim` to `end_dim` as one."""
    shape = input._a.shape
    if not shape:
        return reshape(input, 1)
    start, end = axis_of(input, start_dim), axis_of(input, end_dim)
    if start > end:
        raise RuntimeError("flatten: start_dim comes after end_dim")
    if start == end:
        return input
    return reshape(input, *shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


@op()
def unflatten(input, dim, sizes):
    """One axis as several."""
    dim = axis_of(input, dim)
    shape = input._a.shape
    return reshape(input, *shape[:dim], *sizes, *shape[dim + 1 :])


def axis_of(x, dim):
    n = max(x._a.ndim, 1)
    if type(dim) is not int:
        dim = _whole(dim)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def _whole(dim):
    """The number of a dimension, which NumPy's integers and tensors of one may be, too."""
    try:
        if not isinstance(dim, bool):
            return operator.index(dim)
    except TypeError:
        pass
    raise TypeError(f"a dimension is an integer, not {dim!r}") from None


@op()
def t(input):
    """The transpose of a matrix."""
    if input._a.ndim > 2:
        raise RuntimeError("t() is of tensors with at most 2 dimensions")
    return call("T", np.transpose, input)


@op("swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    """Two axes exchanged."""
    dim0, dim1 = axis_of(input, dim0), axis_of(input, dim1)
    if input._a.ndim == 0:
        return call("Alias", np.reshape, input, ())
    return call("Transpose", np.swapaxes, input, dim0, dim1)


@op()
def permute(input, *dims):
    """The axes in another order."""
    dims = sizes(dims)
    if len(dims) != input._a.ndim or sorted(axis_of(input, d) for d in dims) != list(range(input._a.ndim)):
        raise RuntimeError(f"permute({list(dims)}): every axis of the tensor must appear once")
    return call("Permute", np.transpose, input, dims)


@op("moveaxis")
def movedim(input, source, destination):
    """Axes at other places."""
    if input._a.ndim == 0:
        for d in (*_several(source), *_several(destination)):
            axis_of(input, d)
        return call("Permute", np.transpose, input)
    return call("Permute", np.moveaxis, input, source, destination)


def _several(dims):
    return (dims,) if isinstance(dims, int) else tuple(dims)


def _matrices(x):
    if x._a.ndim < 2:
        raise RuntimeError(f"mT and mH are of matrices, not of tensors with {x._a.ndim} dimensions")
    return x


Tensor.T = property(lambda self: call("Permute", np.transpose, self))
Tensor.mT = property(lambda self: transpose(_matrices(self), -2, -1))
Tensor.H = property(lambda self: transpose(self, 0, 1).conj())
Tensor.mH = property(lambda self: transpose(_matrices(self), -2, -1).conj())
enter("adjoint", lambda input: transpose(input, -2, -1).conj())


@op()
def unsqueeze(input, dim):
    """A new axis of length 1."""
    dim, n = _whole(dim), input._a.ndim + 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return call("Unsqueeze", np.expand_dims, input, dim)


@op()
def squeeze(input, dim=None):
    """Without axes of length 1."""
    shape = input._a.shape
    dims = range(len(shape)) if dim is None else (dim,) if isinstance(dim, int) else dim
    axes = tuple([axis_of(input, d) for d in dims if shape and shape[axis_of(input, d)] == 1])
    name = "Squeeze" if dim is None else "Squeeze.1"
    return call(name, np.squeeze, input, axes) if axes else call(name, np.reshape, input, shape)


@op(function=False)
def expand(input, *size):
    """Axes of length 1 repeated, without copying."""
    size = sizes(size)
    shape = input._a.shape
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(f"expand({list(size)}): the tensor has {len(shape)} dimensions, more than that")
    if -1 in size[:lead]:
        raise RuntimeError(f"expand({list(size)}): -1 keeps a length, and the first {lead} axes are new")
    full = (1,) * lead + shape
    target = tuple([have if want == -1 else want for have, want in zip(full, size, strict=True)])
    if any(have not in (1, want) for have, want in zip(full, target, strict=True)):
        raise RuntimeError(f"expanded size {list(size)} must match the existing size {list(shape)}")
    return call("Expand", expanded, input, target)


@op()
def broadcast_to(input, *size):
    """See `expand`."""
    return expand(input, *size)


@method("expand_as")
def expand_as(self, other):
    return expand(self, *other._a.shape)


@op(method=False)
def broadcast_tensors(*tensors):
    """All tensors in their common shape."""
    shape = np.broadcast_shapes(*[x._a.shape for x in tensors])
    return tuple([expand(x, *shape) for x in tensors])


@op()
def tile(input, *dims):
    """Copies side by side along each axis, the last ones where fewer are given."""
    dims = sizes(dims)
    return repeat(input, (1,) * (input._a.ndim - len(dims)) + dims)


@op()
def repeat(input, *repeats):
    """Copies side by side along each axis."""
    repeats = sizes(repeats)
    if len(repeats) < input._a.ndim:
        raise RuntimeError(f"repeat({list(repeats)}): the tensor has {input._a.ndim} dimensions, more than that")
    return call("Repeat", np.tile, input, repeats)


@op()
def repeat_interleave(input, repeats=None, dim=None):
    """Each element several times; of repeats alone, the numbers of the elements."""
    if repeats is None:
        return new(np.repeat(np.arange(input._a.size), input._a), None)
    if isinstance(repeats, Tensor):
        repeats = repeats._a
    return call("RepeatInterleave", np.repeat, input, repeats, dim)


@method("sum_to_size")
def sum_to_size(self, *size):
    """Sums along axes, so that the shape is one that broadcasts to the tensor's."""
    shape, size = self._a.shape, sizes(size)
    added = len(shape) - len(size)
    if added < 0 or any(n not in (1, m) for n, m in zip(size, shape[max(added, 0) :], strict=False)):
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(shape)}")
    dims = [i for i, n in enumerate(shape) if i < added or size[i - added] != n]
    return self.sum(dims, keepdim=True).reshape(size) if dims else self


@op()
def flip(input, *args, dims=None):
    """Axes in reverse."""
    if not args and dims is None:
        raise TypeError("flip: dims is missing: the axes to reverse")
    dims = args if dims is None else dims
    if len(dims) == 1 and isinstance(dims[0], tuple | list):
        (dims,) = dims
    axes = [axis_of(input, dim) for dim in dims]
    if len({*axes}) < len(axes):
        raise RuntimeError(f"flip: a dimension appears several times in {list(dims)}")
    return call("Flip", flipped_copy, input, tuple(axes) if input._a.ndim else ())


def _flip_of(name, axis):
    def forward(input):
        if input._a.ndim <= axis:
            raise RuntimeError(f"{name}: a tensor of {axis + 1} or more dimensions is needed, not {input._a.ndim}")
        return flip(input, axis)

    return enter(name, forward)


_flip_of("fliplr", 1)
_flip_of("flipud", 0)


@op()
def roll(input, shifts, dims=None):
    """Elements moved along axes, around the end."""
    if dims is not None:
        dims = tuple([axis_of(input, d) for d in _several(dims)])
    return call("Roll", np.roll, input, shifts, dims)


@op()
def rot90(input, k=1, dims=(0, 1)):
    """Quarter turns in a plane."""
    return call("Rot90", turned_copy, input, k, tuple(dims))


def _of_matrices(x):
    if x._a.ndim < 2:
        raise RuntimeError(f"a tensor of at least 2 dimensions is expected, not of {x._a.ndim}")


@op()
def tril(input, diagonal=0):
    """The lower triangle."""
    _of_matrices(input)
    return call("Tril", np.tril, input, diagonal)


@op()
def triu(input, diagonal=0):
    """The upper triangle."""
    _of_matrices(input)
    return call("Triu", np.triu, input, diagonal)


@op()
def diagonal(input, offset=0, dim1=0, dim2=1):
    """A diagonal: a view."""
    return call("Diagonal", writable_diagonal, input, offset, axis_of(input, dim1), axis_of(input, dim2))


@method("unfold")
def unfold(self, dimension, size, step):
    """All windows of `size` along an axis, `step` apart: a view."""
    axis = axis_of(self, dimension)
    x = self if self._a.ndim else reshape(self, 1)
    if not 0 <= size <= x._a.shape[axis]:
        raise RuntimeError(f"unfold: a window of {size} does not fit the {x._a.shape[axis]} elements of the dimension")
    if step <= 0:
        raise RuntimeError(f"unfold: step is {step}, and must be positive")
    out = call("Unfold", sliding, x, axis, size, step)
    return out if self._a.ndim else out[0]


@op()
def as_strided(input, size, stride, storage_offset=0):
    """A view of the memory of `input` by other strides, counted in elements."""
    refresh(input)
    a = input._a
    if not dense(a):
        raise RuntimeError("as_strided is of tensors without gaps in their memory: use contiguous()")
    axes = sorted(range(a.ndim), key=lambda i: (-a.strides[i], -a.shape[i]))
    line = reshape(permute(input, *axes), -1) if a.ndim else reshape(input, 1)
    return call("AsStrided", strided, line, sizes((size,)), sizes((stride,)), storage_offset)


@op()
def diag(input, diagonal=0):
    """The diagonal of a matrix, as a copy, or a matrix with the diagonal given."""
    out = call("DiagEmbed", np.diag, input, diagonal)
    return call("Diagonal", row_copy, out) if input._a.ndim == 2 else out


@op()
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices with the diagonals given."""
    from s2sgrad.runtime.eager.creation import zeros

    n = input._a.shape[-1] + abs(offset)
    out = zeros(*input._a.shape[:-1], n, n, dtype=input.dtype)
    diagonal(out, offset, -2, -1).copy_(input)
    return movedim(out, (-2, -1), (dim1, dim2))


@op()
def trace(input):
    """The sum of the diagonal."""
    return call("Trace", np.trace, input)


# ---------------------------------------------------------------- several tensors


def _alike(tensors):
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("expected a non-empty list of Tensors")
    for x in tensors:
        if not isinstance(x, Tensor):
            raise TypeError(f"expected a list of Tensors, not of {type(x).__name__}")
    d = dtypes.result_type(*tensors)
    return [cast(x, d) for x in tensors]


@op("concat", "concatenate", method=False)
def cat(tensors, dim=0, *, axis=None):
    """Tensors one after another along an axis."""
    dim = dim if axis is None else axis
    tensors = list(tensors)
    if not tensors:
        raise ValueError("cat: expected a non-empty list of Tensors")
    tensors = _alike(tensors)
    axis_of(max(tensors, key=lambda x: x._a.ndim), dim)
    model = next((x._a.shape for x in tensors if x._a.shape != (0,)), (0,))
    if len(model) > 1:  # a vector of nothing goes with everything
        nothing = tuple([0 if i == dim % len(model) else n for i, n in enumerate(model)])
        tensors = [x.reshape(nothing) if x._a.shape == (0,) else x for x in tensors]
    try:
        return _row_by_row(call("Cat", np.concatenate, tensors, dim))
    except RuntimeError as error:
        raise RuntimeError(f"cat: sizes must match except in dimension {dim}: {error}") from None


def _row_by_row(t):
    """A fresh tensor `t`, whose memory NumPy may have ordered as that of its parts."""
    if not t._a.flags.c_contiguous:
        t._a = np.ascontiguousarray(t._a)
    return t


@op(method=False)
def stack(tensors, dim=0):
    """Tensors side by side along a new axis."""
    try:
        return _row_by_row(call("Stack", np.stack, _alike(tensors), dim))
    except RuntimeError as error:
        raise RuntimeError(f"stack expects each tensor to be of equal size: {error}") from None


enter("hstack", lambda tensors: _side_by_side([x if x._a.ndim else x.reshape(1) for x in tensors]), method=False)
enter("vstack", lambda tensors: cat([x if x._a.ndim > 1 else x.reshape(1, -1) for x in tensors], 0), method=False)


def _side_by_side(tensors):
    return cat(tensors, 0 if tensors[0]._a.ndim < 2 else 1)


@op()
def unbind(input, dim=0):
    """The slices along an axis, as views."""
    if input._a.ndim == 0:
        raise IndexError("unbind: a tensor without dimensions has no slices")
    dim = axis_of(input, dim)
    moved = (slice(None),) * dim
    return _multiple("Unbind", input, [(*moved, i) for i in range(input._a.shape[dim])])


@op()
def split(tensor, split_size_or_sections, dim=0):
    """Pieces along an axis, as views."""
    if tensor._a.ndim == 0:
        raise RuntimeError("split: a tensor without dimensions has no pieces")
    dim = axis_of(tensor, dim)
    n = tensor._a.shape[dim]
    parts = split_size_or_sections
    if isinstance(parts, int):
        parts = [min(parts, n - i) for i in range(0, n, parts)] or [0]
    elif sum(parts) != n:
        raise RuntimeError(f"split sizes must add up to {n}, the size of dimension {dim}; got {list(parts)}")
    moved, at, keys = (slice(None),) * dim, 0, []
    for size in parts:
        keys.append((*moved, slice(at, at + size)))
        at += size
    return _multiple("Split" if isinstance(split_size_or_sections, int) else "SplitWithSizes", tensor, keys)


@op()
def chunk(input, chunks, dim=0):
    """At most so many pieces along an axis."""
    if input._a.ndim == 0:
        raise RuntimeError("chunk: a tensor without dimensions has no pieces")
    n = input._a.shape[axis_of(input, dim)]
    if chunks < 1:
        raise RuntimeError(f"chunk: at least one piece is expected, not {chunks}")
    return split(input, -(-n // chunks) if n else [0] * chunks, dim)


@op()
def tensor_split(input, indices_or_sections, dim=0):
    """Pieces along an axis, at indices or nearly equal: each is a view by itself."""
    dim = axis_of(input, dim)
    n = input._a.shape[dim]
    if isinstance(indices_or_sections, int):
        k = indices_or_sections
        if k < 1:
            raise RuntimeError(f"the number of sections must be larger than 0, got {k}")
        cuts = [i * (n // k) + min(i, n % k) for i in range(k + 1)]
    else:
        cuts = [0, *indices_or_sections, n]
    lead = (slice(None),) * dim
    return tuple([input[(*lead, slice(a, b))] for a, b in zip(cuts, cuts[1:], strict=False)])


def _splitter(name, dim, least):
    def split_along(input, indices_or_sections):
        if input._a.ndim < least:
            raise RuntimeError(f"{name} is of tensors with {least} or more dimensions, this has {input._a.ndim}")
        axis = min(dim, input._a.ndim - 1)
        if isinstance(indices_or_sections, int) and input._a.shape[axis] % indices_or_sections:
            raise RuntimeError(f"{name}: {indices_or_sections} does not divide the axis of {input._a.shape[axis]}")
        return tensor_split(input, indices_or_sections, axis)

    return enter(name, split_along)


hsplit, vsplit, dsplit = _splitter("hsplit", 1, 1), _splitter("vsplit", 0, 2), _splitter("dsplit", 2, 3)


def _multiple(name, x, keys):
    return call(name, pieces, x, keys)


@op(method=False)
def meshgrid(*tensors, indexing="ij"):
    """Coordinates of a grid."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        tensors = tuple(tensors[0])
    shape = tuple([x._a.size for x in tensors])
    out = [expand(reshape(x, *[-1 if j == i else 1 for j in range(len(shape))]), *shape) for i, x in enumerate(tensors)]
    return tuple([transpose(x, 0, 1) for x in out]) if indexing == "xy" else tuple(out)


# ---------------------------------------------------------------- copies


@op()
def clone(input, *, memory_format=None):
    """A copy, on the tape."""
    return call("Clone", row_copy if memory_format == CONTIGUOUS else kept_copy, input)


@method("contiguous")
def contiguous(self, memory_format=None):
    """The tensor itself where it lies row by row in memory, a copy elsewhere."""
    refresh(self)
    return self if self._a.flags.c_contiguous else call("Clone", row_copy, self)


@method("is_contiguous")
def is_contiguous(self, memory_format=None):
    return self._a.flags.c_contiguous


@method("stride")
def stride(self, dim=None):
    a = self._a if self._a.size else np.empty([max(n, 1) for n in self._a.shape])  # NumPy's of what is empty vary
    strides = [s // a.itemsize for s in a.strides]
    for i in range(a.ndim - 1, -1, -1):  # NumPy does not say where an axis of length 1 would lead
        if a.shape[i] == 1 and strides[i] == 0:
            strides[i] = a.shape[i + 1] * strides[i + 1] if i + 1 < a.ndim else 1
    return tuple(strides) if dim is None else strides[dim]


@method("size")
def size(self, dim=None):
    return Size(self._a.shape) if dim is None else self._a.shape[dim]


@method("dim", "ndimension")
def dim(self):
    return self._a.ndim


@op("nelement")
def numel(input):
    """The number of elements."""
    return self_size(input)


def self_size(x):
    return x._a.size


@method("element_size")
def element_size(self):
    return self._a.itemsize


@method("storage_offset")
def storage_offset(self):
    base = self._a if self._base is None else self._base._a
    return (self._a.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // self._a.itemsize


@method("data_ptr")
def data_ptr(self):
    return self._a.__array_interface__["data"][0]


Tensor.ndim = property(lambda self: self._a.ndim)
Tensor.itemsize = property(lambda self: self._a.itemsize)
Tensor.nbytes = property(lambda self: self._a.nbytes)


def no_alias(x):
    """`x` as a new tensor on the same memory, recorded."""
    return call("Alias", np.reshape, x, x._a.shape)


def _of_each(function):
    """`function` of one tensor, or of several."""

    def forward(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return function(tensors[0])
        return tuple([function(x) for x in (tensors if len(tensors) > 1 else tensors[0])])

    return forward


enter("atleast_1d", _of_each(lambda x: x if x._a.ndim else reshape(x, 1)), method=False)
enter("atleast_2d", _of_each(lambda x: x if x._a.ndim > 1 else reshape(x, 1, -1)), method=False)
