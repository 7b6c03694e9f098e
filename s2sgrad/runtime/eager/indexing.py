"""Reading and writing items: ``x[...]``, gather, scatter and their kin."""

import functools
import numbers
import operator

import numpy as np

from s2sgrad.rules.placing import add_to, put_at
from s2sgrad.runtime.arguments import plain_slice
from s2sgrad.runtime.eager.call import call, of_one_type
from s2sgrad.runtime.eager.elementwise import undifferentiable
from s2sgrad.runtime.eager.keeping import like
from s2sgrad.runtime.eager.naming import Naming, renamed
from s2sgrad.runtime.eager.registry import enter, method, op
from s2sgrad.runtime.eager.shapes import axis_of, no_alias, remade
from s2sgrad.runtime.eager.tensor import Tensor, as_view, new, node_of, refresh
from s2sgrad.runtime.grad_mode import PAUSED
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.views import ITEM, item_step

_ndarray = np.ndarray


_COUNTING = tuple(np.dtype(t) for t in (np.int64, np.int32, np.uint8, np.bool_))
_PARTS = (list, tuple, slice, type(...), Tensor, _ndarray)


def plain_index(key, own=True):
    """A key of ``x[key]`` in NumPy's words; tensors in it as arrays nobody will change."""
    kind = type(key)
    if kind is tuple:
        return tuple([plain_index(k) for k in key])
    if kind is int or kind is type(...) or key is None:
        return key
    if kind is slice:
        if isinstance(key.step, int) and key.step < 0:
            raise ValueError("step must be greater than zero: use flip()")
        return plain_slice(slice(*[int(v) if isinstance(v, Tensor) else v for v in (key.start, key.stop, key.step)]))
    if kind is bool:
        return key
    if isinstance(key, Tensor):
        refresh(key)
        a = key._a
        if a.dtype not in _COUNTING:
            raise IndexError(f"tensors used as indices must be of int64, int32, uint8 or bool, not {key.dtype!r}")
        if a.dtype == np.uint8:
            a = a.astype(bool)
        if a.ndim == 0 and a.dtype.kind in "iu":
            return int(a)
        return a.copy() if own else a
    if kind is list and any(k is None or isinstance(k, _PARTS) for k in key):  # as a tuple, as it was once
        return tuple([plain_index(k) for k in key])
    if kind is list or kind is range:
        return np.array([int(k) if isinstance(k, Tensor) else k for k in key]) if key else np.empty(0, np.int64)
    if kind is _ndarray:
        return key.copy()
    if kind is str:
        raise TypeError(f"{key!r} is no index: an index is an integer, slice, Ellipsis, None or a tensor")
    try:
        return operator.index(key)
    except TypeError:
        raise IndexError(f"an index is an integer, slice, Ellipsis, None or a tensor, not {kind.__name__}") from None


def _name(key):
    if type(key) is int:
        return "Select"
    if type(key) is slice:
        return "Slice"
    if type(key) is tuple and not any(isinstance(k, _ndarray) for k in key):
        last = [k for k in key if type(k) is not slice or k != slice(None)]
        return (
            "Select" if last and type(last[-1]) is int else "Slice" if last and type(last[-1]) is slice else "Unsqueeze"
        )
    if key is None:
        return "Unsqueeze"
    return "Alias" if key is Ellipsis else "Index"


def chooses(key):
    """Whether a key takes elements of the tensor as it is, by numbers or a mask."""
    parts = key if type(key) is tuple else (key,)
    rest = [k for k in parts if not isinstance(k, _ndarray)]
    return len(rest) < len(parts) and all(k is Ellipsis or type(k) is slice and k == slice(None) for k in rest)


def _has_arrays(key):
    return type(key) is bool or type(key) is tuple and any(type(k) is _ndarray or type(k) is bool for k in key)


def divided(key):
    """A key in two: numbers, which choose slices first, and the rest; None where NumPy makes no difference.

    NumPy counts numbers among the arrays of a key, and puts what these choose in front where they do not stand
    together.
    """
    if type(key) is not tuple or not any(type(k) is int for k in key) or not any(type(k) is _ndarray for k in key):
        return None
    places = [i for i, k in enumerate(key) if type(k) is int or type(k) is _ndarray]
    if places[-1] - places[0] == len(places) - 1:
        return None
    first = []
    for k in key:
        if type(k) is int or k is Ellipsis:
            first.append(k)
        elif k is not None:
            first += [slice(None)] * (k.ndim if type(k) is _ndarray and k.dtype == bool else 1)
    return tuple(first), tuple([k for k in key if type(k) is not int])


_item_forms = {}


def _basic(x, key):
    """``x[key]`` by integers and slices: a view."""
    refresh(x)
    out, step = x._a[key], key
    if type(out) is not _ndarray:
        step = (*key, ...) if type(key) is tuple else (key, ...)  # a view of no axes, which steps may follow
        out = x._a[step]
    node = node_of(x)
    if node is not None:
        name = _name(key)
        form = _item_forms.get(name)
        if form is None:
            form = _item_forms[name] = renamed(Form(name, ITEM.pull, width=2), name, Naming((0,), 1, True, ()))
        node = make_node(form, (like(x._a), key), node)
    t = new(out, node)
    as_view(x, t, (item_step(step),))
    return t


@method("__getitem__")
def getitem(self, key):
    if type(key) is not int:
        key = plain_index(key)
    if self._a.ndim == 0 and (type(key) is int or type(key) is slice):
        raise IndexError("a 0-dim tensor has no items: use item() for its number")
    if type(key) is tuple and not key:
        return no_alias(self)
    if type(key) is _ndarray or _has_arrays(key):
        parts = divided(key)
        if parts is not None:
            self, key = getitem(self, parts[0]), parts[1]
        out = call(_name(key), operator.getitem, self, key)
        if out._base is None and not out._a.flags.c_contiguous:
            out._a = np.ascontiguousarray(out._a)  # where slices meet arrays, NumPy's copy lies otherwise
        return out
    if not PAUSED.count and not self._inference:
        return _basic(self, key)
    return _viewed(_name(key), self, key)


def _viewed(name, x, key):
    """``x[key]`` by integers and slices, the general way; the dots make NumPy's answer a view, of no axes too."""
    return call(name, operator.getitem, x, key if _has_dots(key) else (*key, ...) if type(key) is tuple else (key, ...))


def _has_dots(key):
    return key is ... or type(key) is tuple and ... in key


@method("__iter__")
def iterate(self):
    if self._a.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method("__len__")
def length(self):
    if self._a.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return self._a.shape[0]


@method("__contains__")
def contains(self, value):
    if not isinstance(value, Tensor | numbers.Number | np.generic):
        raise RuntimeError(f"a Tensor contains Tensors and numbers, not {type(value).__name__}")
    return bool(np.any(self._a == (value._a if isinstance(value, Tensor) else value)))


# ---------------------------------------------------------------- choosing


def as_indices(index):
    refresh(index)
    return np.array(index._a)


def counted(index):
    """The numbers of places along an axis, where they do not count from its end."""
    a = as_indices(index)
    if a.size and a.min() < 0:
        raise IndexError(f"index {a.min()} is out of bounds: it may not be negative")
    return a


@op()
def index_select(input, dim, index):
    """Slices along an axis, by their numbers."""
    if input._a.ndim == 0:
        axis_of(input, dim)
        return remade(index_select(input.reshape(1), 0, index))
    if index._a.ndim > 1:
        raise IndexError(f"index_select: the index is a vector, not of shape {list(index._a.shape)}")
    if index._a.dtype.kind not in "iu":
        raise RuntimeError(f"index_select: the index is of an integer type, not of {index.dtype!r}")
    return call("IndexSelect", np.take, input, counted(index).reshape(-1), axis_of(input, dim))


@op()
def take(input, index):
    """Elements by their number in reading order."""
    return call("Take", np.take, input, as_indices(index))


@op()
def take_along_dim(input, indices, dim=None):
    """Elements by their numbers along an axis; the other axes broadcast."""
    if dim is None:
        return call("TakeAlongDim", np.take, input, as_indices(indices).reshape(-1))
    return call("TakeAlongDim", np.take_along_axis, input, as_indices(indices), axis_of(input, dim))


def _check_bounds(index, dim, length):
    for i in (index.min(initial=0), index.max(initial=0)):
        if index.size and not 0 <= i < length:
            raise RuntimeError(f"index {i} is out of bounds for dimension {dim} with size {length}")


def along(x, dim, index):
    """The index of `gather` and `scatter` in `x`, as NumPy takes it."""
    dim = axis_of(x, dim)
    if index.ndim == 0:
        return ...
    shape = x._a.shape
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"an index is of an integer type, not of {index.dtype}")
    if index.ndim != len(shape) or any(n > shape[d] for d, n in enumerate(index.shape) if d != dim):
        raise RuntimeError(f"an index of shape {list(index.shape)} does not fit a tensor of shape {list(shape)}")
    _check_bounds(index, dim, shape[dim])
    places = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


def of_scalars_too(function):
    """`function` of an axis and numbers along it: a tensor without axes is a vector of one element."""

    @functools.wraps(function)
    def forward(input, dim, index, *args, **kwargs):
        if input._a.ndim:
            return function(input, dim, index, *args, **kwargs)
        axis_of(input, dim)
        args = [a.reshape(-1) if isinstance(a, Tensor) else a for a in args]
        kwargs = {k: a.reshape(-1) if isinstance(a, Tensor) else a for k, a in kwargs.items()}
        return remade(function(input.reshape(1), 0, index.reshape(-1), *args, **kwargs))

    return forward


@op()
def gather(input, dim, index, *, sparse_grad=False):
    """Elements by their numbers along an axis."""
    if input._a.ndim == 0 and index._a.ndim:
        return gather(input.reshape(1), dim, index)
    return call("Gather", operator.getitem, input, along(input, dim, as_indices(index)))


@op()
def masked_select(input, mask):
    """The elements where a mask holds."""
    if mask._a.dtype != bool:
        raise RuntimeError(f"masked_select: the mask is of bools, not of {mask.dtype!r}")
    mask = np.broadcast_to(mask._a, np.broadcast_shapes(mask._a.shape, input._a.shape)).copy()
    if input._a.shape != mask.shape:
        input = input.expand(*mask.shape)
    return call("MaskedSelect", operator.getitem, input, mask)


@op()
def select(input, dim, index):
    """One slice along an axis: a view."""
    return _viewed("Select", input, (*(slice(None),) * axis_of(input, dim), int(index)))


@op()
def narrow(input, dim, start, length):
    """A range of slices along an axis: a view."""
    if input._a.ndim == 0:
        raise RuntimeError("narrow: a tensor without dimensions has no slices")
    n = input._a.shape[axis_of(input, dim)]
    start = start + n if -n <= start < 0 else int(start)
    if start < 0 or length < 0 or start + length > n:
        raise RuntimeError(f"narrow: start {start} and length {length} leave the axis")
    return call("Slice", operator.getitem, input, (*(slice(None),) * axis_of(input, dim), slice(start, start + length)))


@op()
def nonzero(input, *, as_tuple=False):
    """Where the elements are not zero."""
    found = np.nonzero(np.atleast_1d(input._a))
    if as_tuple:
        return tuple([new(f, None) for f in found])
    return new(np.stack(found, -1)[:, : input._a.ndim], None)


enter("argwhere", nonzero)


@op(method=False)
def tril_indices(row, col, offset=0):
    """Where the lower triangle is."""
    return new(np.stack(np.tril_indices(row, offset, col)), None)


@op(method=False)
def triu_indices(row, col, offset=0):
    """Where the upper triangle is."""
    return new(np.stack(np.triu_indices(row, offset, col)), None)


# ---------------------------------------------------------------- writing


def cut_to(src, shape):
    """The part of the source of a scatter that the index covers."""
    if not isinstance(src, Tensor) or src._a.shape == shape:
        return src
    return src[tuple(slice(0, n) for n in shape)]


@op()
@of_scalars_too
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """`input` with elements of `src` at the places of `index` along an axis."""
    places = as_indices(index)
    src = value if src is None else src
    if isinstance(src, Tensor):
        of_one_type(input, src)
    if reduce is not None:
        return _scatter_reduced(input, dim, index, src, reduce)
    src = cut_to(src, places.shape) if isinstance(src, Tensor) else input._a.dtype.type(src)
    name = "Scatter" if isinstance(src, Tensor) else "Scatter.1"
    return call(name, put_at, input, src, along(input, dim, places))


@op()
@of_scalars_too
def scatter_add(input, dim, index, src):
    """`input` with elements of `src` added at the places of `index` along an axis."""
    of_one_type(input, src)
    places = as_indices(index)
    return call("ScatterAdd", add_to, input, cut_to(src, places.shape), along(input, dim, places))


def _scatter_reduced(input, dim, index, src, reduce):
    """`input` with elements of `src` added to what is there, or multiplied with it."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply")
    places = as_indices(index)
    if not isinstance(src, Tensor):
        src = new(np.full(places.shape, src, input._a.dtype), None)
    if reduce == "add":
        return scatter_add(input, dim, index, src)
    refresh(input)
    a = input._a.copy()
    np.multiply.at(a, along(input, dim, places), cut_to(src, places.shape)._a)
    return undifferentiable("scatter with reduce='multiply'", new(a, None), (input, src))


def _lines(input, dim, index, read=counted):
    return (*(slice(None),) * axis_of(input, dim), read(index).reshape(-1))


def check_slices(input, dim, index, source, error):
    """Refuse a `source` that is not one slice of `input` for each number of `index`, or of another type."""
    of_one_type(input, source)
    shape = list(input._a.shape)
    shape[axis_of(input, dim) : axis_of(input, dim) + 1] = [index._a.size]
    if input._a.ndim and list(source._a.shape) != shape:
        raise error(f"the source has shape {list(source._a.shape)}, and the slices of that index {shape}")


@op()
@of_scalars_too
def index_add(input, dim, index, source, *, alpha=1):
    """`input` with slices of `source` added at the numbers of `index`."""
    check_slices(input, dim, index, source, RuntimeError)
    _check_bounds(index._a, dim, input._a.shape[axis_of(input, dim)])
    source = source if alpha == 1 else source * alpha
    return call("IndexAdd", add_to, input, source, _lines(input, dim, index))


@op()
@of_scalars_too
def index_copy(input, dim, index, source):
    """`input` with slices of `source` at the numbers of `index`."""
    check_slices(input, dim, index, source, IndexError)
    return call("IndexCopy", put_at, input, source, _lines(input, dim, index))


@op()
@of_scalars_too
def index_fill(input, dim, index, value):
    """`input` with `value` in the slices of the numbers of `index`."""
    value = value if isinstance(value, Tensor) else input._a.dtype.type(value)
    return call("IndexFill", put_at, input, value, _lines(input, dim, index, as_indices))


@op()
def index_put(input, indices, values, accumulate=False):
    """`input` with `values` at indices."""
    of_one_type(input, values)
    return call("IndexPut", add_to if accumulate else put_at, input, values, plain_index(tuple(indices)))


@op()
def masked_scatter(input, mask, source):
    """`input` with elements of `source`, in order, where a mask holds."""
    of_one_type(input, source)
    mask = np.broadcast_to(mask._a, input._a.shape).copy()
    count = int(mask.sum())
    if count > source._a.size:
        raise RuntimeError(
            f"masked_scatter: the mask holds at {count} places, the source has {source._a.size} elements"
        )
    return call("MaskedScatter", put_at, input, source.reshape(-1)[:count], mask)
