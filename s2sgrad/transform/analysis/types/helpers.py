"""The helpers of ``runtime/arrays.py``, which generated code calls."""

from dataclasses import replace

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis.axes import fresh
from s2sgrad.transform.analysis.types.calls import HANDLERS
from s2sgrad.transform.analysis.types.objects import REAL
from s2sgrad.transform.analysis.types.operands import constant, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, broadcast, resolve, strong
from s2sgrad.transform.analysis.types.reductions import reduction
from s2sgrad.transform.ir import FLOAT, Kind, Type

REAL_PART = {"complex128": "float64", "complex64": "float32"}


def _like_second(d, x, *others) -> Type:
    """A cotangent in the form of its argument: of its shape, its dtype where that is known."""
    t = type_of(x)
    if t.kind is Kind.ARRAY:
        return replace(t, shape=fresh() if t.shape is None else t.shape)
    return t


def _unbroadcast(g, x) -> Type:
    s, t = type_of(g), type_of(x)
    dtype = s.dtype if s.is_real or not t.is_real else None
    if dtype is None and t.is_real:
        dtype = REAL
    if t.kind is Kind.NUMBER and s.kind is Kind.NUMBER:
        return Type(Kind.NUMBER, dtype, 0, ())
    if t.kind is Kind.NUMBER:
        return Type(dtype=strong(dtype))
    return Type(t.kind, dtype, t.ndim, t.shape) if t.kind is Kind.ARRAY else Type(dtype=dtype)


def _widened(x, like) -> Type:
    """Of the dtype that both have together, less what is complex in `like`."""
    t, s = type_of(x), type_of(like)
    if t.kind not in (Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN):
        t = array_like(t)
    dtype = resolve(np.add, [t.dtype, REAL_PART.get(strong(s.dtype), strong(s.dtype))])
    return replace(t, dtype=dtype or (REAL if t.is_real else None))


def _guarded(g, d) -> Type:
    """`over` and `times`: as the operator, but arrays of dimension 0 may stand for numbers."""
    types = [type_of(g), type_of(d)]
    kind, ndim, shape = broadcast(types)
    dtype = resolve(np.divide, [t.dtype for t in types])
    if kind is Kind.NUMBER and all(t.dtype == "float" for t in types):
        return FLOAT
    if kind is Kind.NUMBER:
        return Type(dtype=REAL if dtype and all(t.is_real for t in types) else None)
    return Type(kind, dtype, ndim, shape)


def _where_less(g, x, y) -> Type:
    types = [type_of(g), type_of(x), type_of(y)]
    kind, ndim, shape = broadcast(types)
    if kind is Kind.NUMBER and not all(t.dtype == "float" for t in types):
        return Type(dtype=REAL if types[0].is_real else None)
    return Type(kind, types[0].dtype, ndim, shape)


def _is_less(x, y) -> Type:
    kind, ndim, shape = broadcast([type_of(x), type_of(y)])
    return Type(kind, None, ndim, shape)


def _part_where(g, less) -> Type:
    kind, ndim, shape = broadcast([type_of(g), type_of(less)])
    return Type(kind, type_of(g).dtype, ndim, shape)


def _reached(x, top) -> Type:
    kind, ndim, shape = broadcast([type_of(x), type_of(top)])
    return Type(kind, "bool", ndim, shape)


def _hit_count(hits, axis, x) -> Type:
    return reduction(hits, axis, ir.Constant(constant(axis) is not None), strong(array_like(type_of(x)).dtype))


_HELPERS = {
    "widened": _widened,
    "where_less": _where_less,
    "is_less": _is_less,
    "part_where": _part_where,
    "part_where_not": _part_where,
    "reached": _reached,
    "hit_count": _hit_count,
    "unbroadcast": _unbroadcast,
    "over": _guarded,
    "times": _guarded,
    "as_gradient": _like_second,
}


for _name, _handler in _HELPERS.items():
    if hasattr(arrays, _name):
        HANDLERS[getattr(arrays, _name)] = _handler
