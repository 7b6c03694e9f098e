"""What changes shapes: reshapes, moved axes, joins, parts."""

from dataclasses import replace

import numpy as np

from s2sgrad.transform.analysis import axes
from s2sgrad.transform.analysis.axes import Axis, fresh
from s2sgrad.transform.analysis.types.calls import handles
from s2sgrad.transform.analysis.types.objects import axes_of, join
from s2sgrad.transform.analysis.types.operands import OPEN, constant, shape_of, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, one_array, promote, strong
from s2sgrad.transform.analysis.types.reductions import summed
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


@handles(np.reshape)
def _reshape(a, shape=None, order="C", *, copy=None) -> Type:
    t = array_like(type_of(a))
    dtype = strong(t.dtype)
    if t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return Type(Kind.ARRAY if t.dtype is not None else Kind.UNKNOWN, dtype)
    ndim, given, dims = shape_of(shape)
    if given is None and dims is not None and (whole := axes_of(t)) is not None and all(map(axes.is_named, whole)):
        given = tuple([n if n >= 0 else Axis(("rest", whole, dims)) for n in dims])
        if dims == (-1,):
            given = (axes.size(whole),)
    return one_array(dtype, ndim, given)


@handles(np.ravel)
def _ravel(a, order="C") -> Type:
    t = array_like(type_of(a))
    if t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return Type(Kind.ARRAY, strong(t.dtype), 1, fresh()) if t.dtype is not None else UNKNOWN
    whole = axes_of(t)
    return one_array(strong(t.dtype), 1, None if whole is None else (axes.size(whole),))


@handles(np.transpose)
def transpose(a, axes=None) -> Type:
    t = type_of(a)
    if t.kind is not Kind.ARRAY:
        return Type(dtype=strong(t.dtype)) if t.kind in (Kind.NUMBER, Kind.UNKNOWN) else UNKNOWN
    order = constant(axes)
    if t.ndim == 1:
        return t
    return one_array(t.dtype, t.ndim, permuted(t, np.transpose, order))


def permuted(t: Type, function, *places):
    """The shape of an array of type `t` with its axes in another order; None where it is not known."""
    if t.ndim is None or any(p is OPEN for p in places):
        return None
    try:
        order = function(np.broadcast_to(0, tuple(range(2, t.ndim + 2))), *places).shape
    except (ValueError, TypeError):
        return None
    return tuple([axes_of(t)[n - 2] for n in order])


@handles(np.swapaxes)
def _swapaxes(a, axis1, axis2) -> Type:
    return _moved(np.swapaxes, a, axis1, axis2)


@handles(np.moveaxis)
def _moveaxis(a, source, destination) -> Type:
    return _moved(np.moveaxis, a, source, destination)


@handles(np.flip)
def _flip(m, axis=None) -> Type:
    return type_of(m) if type_of(m).kind is Kind.ARRAY else UNKNOWN


def _moved(function, a, *places) -> Type:
    t = type_of(a)
    if t.kind is not Kind.ARRAY:
        return UNKNOWN
    return one_array(t.dtype, t.ndim, permuted(t, function, *map(constant, places)))


@handles(np.expand_dims)
def _expand_dims(a, axis) -> Type:
    t, where = array_like(type_of(a)), constant(axis)
    if t.kind not in (Kind.ARRAY, Kind.NUMBER) or t.ndim is None or where is OPEN:
        return Type(Kind.ARRAY, strong(t.dtype)) if t.kind in (Kind.ARRAY, Kind.NUMBER) else UNKNOWN
    places = where if isinstance(where, (tuple, list)) else (where,)
    ndim = t.ndim + len(places)
    new = {p % ndim for p in places}
    rest = iter(axes_of(t))
    return one_array(strong(t.dtype), shape=tuple([1 if i in new else next(rest) for i in range(ndim)]))


@handles(np.squeeze)
def _squeeze(a, axis=None) -> Type:
    t, where = type_of(a), constant(axis)
    if t.kind is not Kind.ARRAY or t.ndim is None or where is None or where is OPEN:
        return Type(Kind.ARRAY, t.dtype) if t.kind is Kind.ARRAY else UNKNOWN
    gone = {p % t.ndim for p in (where if isinstance(where, (tuple, list)) else (where,))}
    return one_array(t.dtype, shape=tuple([n for i, n in enumerate(axes_of(t)) if i not in gone]))


@handles(np.triu, np.tril)
def _triangle(m, k=0) -> Type:
    t = type_of(m)
    return t if t.kind is Kind.ARRAY and (t.ndim or 0) >= 2 else Type(dtype=t.dtype)


@handles(np.sort)
def _sort(a, axis=-1, kind=None) -> Type:
    t = type_of(a)
    return t if t.kind is Kind.ARRAY and t.ndim and isinstance(constant(axis), int) else Type(dtype=t.dtype)


@handles(np.roll)
def _roll(a, shift, axis=None) -> Type:
    t = type_of(a)
    return t if t.kind is Kind.ARRAY and t.ndim else Type(dtype=t.dtype)


@handles(np.diag)
def _diag(v, k=0) -> Type:
    t = array_like(type_of(v))
    if t.kind is not Kind.ARRAY or t.ndim not in (1, 2):
        return Type(dtype=t.dtype)
    middle = constant(k) == 0
    if t.ndim == 1:
        return one_array(t.dtype, 2, axes_of(t) * 2 if middle else None)
    rows, columns = axes_of(t)
    return one_array(t.dtype, 1, (rows,) if middle and rows == columns else None)


@handles(np.diagonal)
def _diagonal(a, offset=0, axis1=0, axis2=1) -> Type:
    t = type_of(a)
    known = t.kind is Kind.ARRAY and t.ndim is not None
    return one_array(t.dtype, t.ndim - 1) if known else Type(dtype=t.dtype)


@handles(np.trace)
def _trace(a, offset=0, axis1=0, axis2=1) -> Type:
    t = type_of(a)
    return Type(Kind.NUMBER, summed(t.dtype), 0, ()) if t.kind is Kind.ARRAY and t.ndim == 2 else UNKNOWN


@handles(np.broadcast_to)
def _broadcast_to(array, shape, subok=False) -> Type:
    ndim, token, dims = shape_of(shape)
    return one_array(strong(array_like(type_of(array)).dtype), ndim, token)


def _elements(sequence_) -> tuple:
    t = type_of(sequence_)
    return t.items if t.items is not None else (t.element,)


def parts_of(arrays_) -> Type | None:
    """What the elements of a sequence of arrays have in common."""
    t = type_of(arrays_)
    if t.kind not in (Kind.LIST, Kind.TUPLE):
        return None
    elements = _elements(arrays_)
    if not elements or None in elements:
        return None
    common = array_like(elements[0])
    for item in elements[1:]:
        common = join(common, array_like(item))
    if common.kind is Kind.NUMBER or common.kind is Kind.ARRAY:
        dtypes = [array_like(item).dtype for item in elements]
        return replace(common, dtype=promote(dtypes) if t.items is not None else strong(common.dtype))
    return None


@handles(np.concatenate)
def _concatenate(arrays_, axis=0, **options) -> Type:
    common = parts_of(arrays_)
    if common is None or options:
        return UNKNOWN
    place = constant(axis)
    if place is None:
        return one_array(common.dtype, 1)
    if not common.ndim or not isinstance(place, int) or not -common.ndim <= place < common.ndim:
        return one_array(common.dtype, common.ndim or None)
    first = _elements(arrays_)[0]  # the others have its lengths, but for this axis
    shape = list(axes_of(array_like(first)))
    lengths = [axes_of(array_like(t))[place] for t in _elements(arrays_)]
    shape[place] = axes.ANY if type_of(arrays_).items is None else axes.total(lengths)
    return one_array(common.dtype, shape=tuple(shape))


@handles(np.stack)
def _stack(arrays_, axis=0, **options) -> Type:
    common = parts_of(arrays_)
    if common is None or options:
        return UNKNOWN
    place = constant(axis)
    if common.ndim is None or not isinstance(place, int) or not -common.ndim - 1 <= place <= common.ndim:
        return one_array(common.dtype, None if common.ndim is None else common.ndim + 1)
    shape = list(axes_of(array_like(_elements(arrays_)[0])))
    length = axes.ANY if type_of(arrays_).items is None else len(type_of(arrays_).items)
    shape.insert(place % (common.ndim + 1), length)
    return one_array(common.dtype, shape=tuple(shape))


@handles(np.split, np.array_split)
def _split(ary, indices_or_sections, axis=0) -> Type:
    t = type_of(ary)
    if t.kind is not Kind.ARRAY:
        return Type(Kind.LIST)
    return Type(Kind.LIST, element=Type(Kind.ARRAY, t.dtype, t.ndim))
