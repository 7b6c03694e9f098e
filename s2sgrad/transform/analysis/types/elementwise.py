"""Entry by entry, but no ufuncs: choices, limits, parts of complex numbers, rounding."""

from dataclasses import replace

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform.analysis.types.calls import handles, infer
from s2sgrad.transform.analysis.types.objects import REAL
from s2sgrad.transform.analysis.types.operands import constant, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, broadcast, resolve, strong
from s2sgrad.transform.analysis.types.reductions import modulus
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


@handles(np.where)
def _where(condition, x=None, y=None) -> Type:
    if x is None and y is None:
        return infer(np.nonzero, (condition,))
    if x is None or y is None:
        return UNKNOWN
    types = [array_like(type_of(a)) for a in (condition, x, y)]
    # any function of two arguments that promotes as they do: Python's numbers stay weak
    dtype = strong(resolve(np.add, ["uint8" if t.dtype == "bool" else t.dtype for t in types[1:]]))
    if any(t.dtype == "bool" for t in types[1:]):
        dtype = types[1].dtype if types[1].dtype == types[2].dtype else (dtype and REAL)
        if any(t.dtype is None or t.dtype.startswith("complex") for t in types[1:]):
            dtype = None
    kind, ndim, shape = broadcast(types)
    if kind is Kind.NUMBER:
        return Type(Kind.ARRAY, dtype, 0, ())
    return Type(Kind.ARRAY, dtype, ndim, shape) if kind is Kind.ARRAY else Type(dtype=dtype)


@handles(np.clip)
def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None) -> Type:  # noqa: A002 - NumPy's names
    bounds = [b for b in (a_min, a_max, min, max) if b is not None and constant(b) is not None]
    types = [array_like(type_of(b)) for b in (a, *bounds)]
    dtype = types[0].dtype
    for t in types[1:]:
        dtype = resolve(np.maximum, [dtype, t.dtype])
    kind, ndim, shape = broadcast(types)
    return Type(kind, strong(dtype), ndim, shape)


@handles(np.real, np.imag)
def real_or_imag(val) -> Type:
    t = type_of(val)
    if t.kind is Kind.NUMBER:
        return replace(t, dtype=_part(t.dtype) or REAL)
    return replace(t, dtype=_part(t.dtype)) if t.kind is Kind.ARRAY else UNKNOWN


def _part(dtype):
    """The dtype of the parts of numbers: for Python's own that of Python's own."""
    if dtype in (None, REAL) or not dtype.startswith("complex"):
        return "int" if dtype == "bool" else dtype
    return "float" if dtype == "complex" else modulus(dtype)


@handles(arrays.conjugate)
def _conjugate(z) -> Type:
    t = type_of(z)
    if t.kind is Kind.NUMBER:
        return replace(t, dtype="int" if t.dtype == "bool" else t.dtype)
    return infer(np.conjugate, (z,))


@handles(np.round, np.around, np.nan_to_num)
def _round(a, *options, **keywords) -> Type:
    t = type_of(a)
    dtype = None if t.dtype == "bool" else strong(t.dtype)
    if t.kind is Kind.ARRAY and t.ndim:
        return replace(t, dtype=dtype)
    return Type(dtype=dtype) if t.kind in (Kind.ARRAY, Kind.NUMBER) else UNKNOWN
