"""Elements added, multiplied or compared into places: ``scatter_reduce``, ``index_reduce``, ``put``."""

import numpy as np

from s2sgrad.rules.placing import add_to, put_at
from s2sgrad.runtime.eager.call import call, of_one_type
from s2sgrad.runtime.eager.indexing import along, as_indices, check_slices, counted, cut_to, of_scalars_too
from s2sgrad.runtime.eager.naming import under
from s2sgrad.runtime.eager.registry import op
from s2sgrad.runtime.eager.shapes import axis_of, cat, remade
from s2sgrad.runtime.eager.tensor import new

_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@op()
@of_scalars_too
@under("ScatterReduce")
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """Elements of `src` reduced into the places of `index` along an axis; `input` counts as one of them, or is left."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be one of {', '.join(_REDUCTIONS)}, not {reduce!r}")
    places = as_indices(index)
    of_one_type(input, src)
    src = cut_to(src, places.shape)
    flat = np.arange(input._a.size).reshape(input._a.shape)[along(input, dim, places)]
    reducer = _added if reduce in ("sum", "mean") else _gathered
    return remade(reducer(input, src, flat.reshape(-1), reduce, include_self), *input._a.shape)


@op()
@of_scalars_too
@under("IndexReduce")
def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """Slices of `source` reduced into those of the numbers of `index`."""
    if reduce not in _REDUCTIONS[1:]:
        raise RuntimeError(f"reduce argument must be one of {', '.join(_REDUCTIONS[1:])}, not {reduce!r}")
    check_slices(input, dim, index, source, IndexError)
    shape = [1] * input._a.ndim
    shape[axis_of(input, dim)] = -1
    spread = new(np.broadcast_to(counted(index).reshape(shape), source._a.shape), None)
    return scatter_reduce(input, dim, spread, source, reduce, include_self=include_self)


def _added(input, src, flat, reduce, include_self):
    """Sums and means, of everything in one piece."""
    counts = np.bincount(flat, minlength=input._a.size)
    own = input.reshape(-1)
    if not include_self:
        own = own * new((counts == 0).astype(input._a.dtype), None)
    out = call("ScatterReduce", add_to, own, src.reshape(-1), (flat,))
    if reduce == "sum":
        return out
    terms = np.maximum(counts + include_self, 1).astype(input._a.dtype)
    exact = input.is_floating_point() or input.is_complex()
    return out.div(new(terms, None), rounding_mode=None if exact else "floor")


def _gathered(input, src, flat, reduce, include_self):
    """Products and extremes: of each place, what comes to it in one line."""
    order = np.argsort(flat, kind="stable")
    counts = np.bincount(flat, minlength=input._a.size)
    first = np.cumsum(counts) - counts
    size, neutral = input._a.size, input._a.size + flat.size
    lines = np.full((size, counts.max(initial=0) + 1), neutral)
    lines[flat[order], np.arange(flat.size) - first[flat[order]]] = size + order
    lines[:, -1] = np.where((counts == 0) | include_self, np.arange(size), neutral)
    pool = cat([input.reshape(-1), src.reshape(-1), new(np.full(1, _neutral(reduce, input._a.dtype)), None)])
    return getattr(pool[new(lines, None)], reduce)(-1)


def _neutral(reduce, dtype):
    """What changes nothing."""
    if reduce == "prod":
        return dtype.type(1)
    lowest = reduce == "amax"
    if dtype.kind == "f":
        return dtype.type(-np.inf if lowest else np.inf)
    if dtype.kind == "b":
        return np.bool_(not lowest)
    return dtype.type(np.iinfo(dtype).min if lowest else np.iinfo(dtype).max)


@op()
def put(input, index, source, accumulate=False):
    """`input` with elements of `source` at numbers in reading order."""
    of_one_type(input, source)
    places = np.unravel_index(as_indices(index).reshape(-1), input._a.shape)
    return call("Put", add_to if accumulate else put_at, input, source.reshape(-1), places)
