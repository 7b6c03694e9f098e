"""The helpers of ``runtime/arrays.py``, which generated code calls."""

import operator
from dataclasses import replace

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis.types.calls import HANDLERS, infer
from s2sgrad.transform.analysis.types.objects import (
    COMPLEX,
    DOUBLE,
    EITHER,
    REAL,
    VAGUE,
    WEAK,
    WHOLE,
    WIDE,
    join,
    join_dtype,
)
from s2sgrad.transform.analysis.types.operands import constant, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, broadcast, one_array, resolve, strong
from s2sgrad.transform.analysis.types.reductions import reduction
from s2sgrad.transform.ir import FLOAT64, OTHER, UNKNOWN, Kind, Type

REAL_PART = {"complex128": "float64", "complex64": "float32", "complex": "float", COMPLEX: DOUBLE, EITHER: "float"}


def _unbroadcast(g, x) -> Type:
    """Of the shape of `x`, and a number where that is one; else `g` itself, if it has the shape."""
    s, t = type_of(g), type_of(x)
    if s.is_real or (t.dtype is not None and not t.is_real):
        dtype = s.dtype
    else:
        dtype = REAL_PART.get(s.dtype, REAL) if t.is_real else None
    if t.kind is Kind.ARRAY and t.ndim:
        return Type(Kind.ARRAY, strong(dtype), t.ndim, t.shape)
    summed = s.kind is Kind.ARRAY and s.ndim
    if t.kind is Kind.NUMBER or (t.ndim == 0 and (s.kind is Kind.NUMBER or summed)):
        return Type(Kind.NUMBER, dtype if s.kind is Kind.NUMBER else _of_either(dtype), 0, ())
    if t.ndim == 0:
        kind = s.kind if t.kind is Kind.ARRAY else Kind.UNKNOWN
        return Type(kind, strong(dtype) if s.kind is Kind.ARRAY else dtype, 0, ())
    return Type(dtype=_of_either(dtype), shape=t.shape if t.kind is Kind.ARRAY else None)


def _of_either(dtype) -> str | None:
    """The dtype of a number of Python's or of an array that was made of it."""
    return join_dtype(dtype, strong(dtype))


def _embed(g, x, *place) -> Type:
    t = type_of(x)
    return one_array(strong(type_of(g).dtype), t.ndim, t.shape) if t.kind is Kind.ARRAY else Type(Kind.ARRAY)


def _zeros_of(x) -> Type:
    t = type_of(x)
    if t.kind not in (Kind.NUMBER, Kind.ARRAY):
        return UNKNOWN
    dtype = {"complex": "float", COMPLEX: None}.get(t.dtype, _gradient_dtype(t.dtype))
    return Type(t.kind, dtype, t.ndim, t.shape)


def _gradient(d, x, *how) -> Type:
    return _gradient_type(type_of(x))


def _gradient_type(t: Type) -> Type:
    """The type of the finished gradient of a value: of its form, and of floats where that has integers."""
    if t.kind in (Kind.OTHER, Kind.CALLABLE) or t.dtype == "bool":
        return OTHER  # None
    items = None if t.items is None else tuple(map(_gradient_type, t.items))
    element = None if t.element is None else _gradient_type(t.element)
    return replace(t, dtype=_gradient_dtype(t.dtype), items=items, element=element, contiguous=False)


def _gradient_dtype(dtype: str | None) -> str | None:
    if dtype is None or dtype == "bool" or dtype in VAGUE:
        return DOUBLE if dtype in (WHOLE, WIDE) else REAL if dtype == "bool" else dtype
    if dtype in WEAK:
        return "float" if dtype == "int" else dtype
    return "float64" if np.dtype(dtype).kind in "iu" else dtype


def _tree_add(a, b) -> Type:
    return join(type_of(a), type_of(b))


def _widened(x, like) -> Type:
    """Of the dtype that both have together, less what is complex in `like`."""
    t, s = type_of(x), type_of(like)
    if t.kind not in (Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN):
        t = array_like(t)
    dtype = resolve(np.add, [t.dtype, REAL_PART.get(strong(s.dtype), strong(s.dtype))])
    kind = Kind.UNKNOWN if t.kind is Kind.ARRAY and not t.ndim else t.kind  # a number, if it has to be converted
    return replace(t, kind=kind, dtype=dtype or (REAL if t.is_real else None))


def _over(g, d) -> Type:
    return _guarded(operator.truediv, g, d)


def _times(g, p) -> Type:
    return _guarded(operator.mul, g, p)


def _guarded(function, g, other) -> Type:
    """As the operator, but of numbers of double precision it is `g` itself where that is zero."""
    t = infer(function, (g, other))
    is_own = t == FLOAT64 and type_of(g).dtype == "float" and not constant(g, 0.0)
    return replace(t, dtype=DOUBLE) if is_own else t


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
    "over": _over,
    "times": _times,
    "embed": _embed,
    "embed_diagonal": _embed,
    "zeros_of": _zeros_of,
    "as_gradient": _gradient,
    "from_rows": _gradient,
    "from_items": _gradient,
    "tree_add": _tree_add,
}


for _name, _handler in _HELPERS.items():
    if hasattr(arrays, _name):
        HANDLERS[getattr(arrays, _name)] = _handler
