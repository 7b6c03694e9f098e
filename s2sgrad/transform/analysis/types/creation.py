"""Arrays that are made, and conversions."""

from dataclasses import replace

import numpy as np

from s2sgrad.transform.analysis.types.calls import handles
from s2sgrad.transform.analysis.types.objects import REAL
from s2sgrad.transform.analysis.types.operands import constant, shape_of, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, given_dtype, one_array, promote, strong
from s2sgrad.transform.analysis.types.tuples import several
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


@handles(np.zeros, np.ones, np.empty)
def _zeros(shape, dtype=None, order="C", **options) -> Type:
    ndim, token, _ = shape_of(shape)
    return one_array("float64" if dtype is None else given_dtype(dtype), ndim, token)


@handles(np.ndarray)
def _ndarray(shape, dtype=None, *, order="C") -> Type:
    return _zeros(shape, dtype)  # with a buffer it is one of somebody else's


@handles(np.full)
def _full(shape, fill_value, dtype=None, order="C", **options) -> Type:
    ndim, token, _ = shape_of(shape)
    filled = strong(array_like(type_of(fill_value)).dtype)
    return one_array(filled if dtype is None else given_dtype(dtype), ndim, token)


@handles(np.zeros_like, np.ones_like, np.empty_like)
def _zeros_like(a, dtype=None, *options, **keywords) -> Type:
    t = array_like(type_of(a))
    if options or keywords or t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return UNKNOWN
    return one_array(strong(t.dtype) if dtype is None else given_dtype(dtype), t.ndim, t.shape)


@handles(np.astype)
def _astype(x, dtype, *, copy=True) -> Type:
    t, name = type_of(x), given_dtype(dtype)
    return replace(t, dtype=name) if t.kind in (Kind.ARRAY, Kind.NUMBER) else Type(dtype=name)


@handles(np.full_like)
def _full_like(a, fill_value, dtype=None, *options, **keywords) -> Type:
    return _zeros_like(a, dtype, *options, **keywords)


@handles(np.array, np.asarray, np.copy)
def _asarray(a, dtype=None, *options, **keywords) -> Type:
    t = array_like(type_of(a))
    if options or not set(keywords) <= {"copy", "order"}:
        return UNKNOWN
    result = strong(t.dtype) if dtype is None else given_dtype(dtype)
    if t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return Type(Kind.ARRAY, result)
    return one_array(result, t.ndim, t.shape)


@handles(np.ascontiguousarray)
def _ascontiguousarray(a, dtype=None) -> Type:
    t = _asarray(a, dtype)
    return t if t.kind is Kind.ARRAY and t.ndim else Type(dtype=t.dtype)  # makes 0-d arrays 1-d


@handles(np.eye, np.identity)
def _eye(n, *options, dtype=None, **keywords) -> Type:
    result = "float64" if dtype is None else given_dtype(dtype)
    return one_array(None if options else result, 2, None if options or keywords else _square_of(n))


@handles(np.result_type)
def _result_type(*arrays_) -> Type:
    """A dtype: an object that has no dtype, but is one, which is noted as if it had."""
    given = [type_of(a) for a in arrays_]
    return Type(Kind.OTHER, promote([t.dtype for t in given]) if all(t.kind is Kind.ARRAY for t in given) else None)


def _square_of(n) -> tuple | None:
    shape = shape_of(n)[1]
    return None if shape is None or len(shape) != 1 else shape * 2


@handles(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0) -> Type:
    ends = [type_of(start), type_of(stop)]
    if not all(t.kind is Kind.NUMBER and t.is_real for t in ends) or dtype is not None or constant(axis) != 0:
        return UNKNOWN
    double = {t.dtype for t in ends} <= {"int", "float", "bool", "int64", "float64"}
    points = one_array("float64" if double else REAL, 1)
    if constant(retstep) is True:
        return several(points, Type(Kind.NUMBER, REAL, 0, ()))
    return points if constant(retstep) is False else UNKNOWN


@handles(
    np.polynomial.legendre.leggauss,
    np.polynomial.chebyshev.chebgauss,
    np.polynomial.hermite.hermgauss,
    np.polynomial.laguerre.laggauss,
)
def _quadrature(deg) -> Type:
    return several(one_array("float64", 1), one_array("float64", 1))


@handles(np.argsort, np.argpartition)
def _argsort(a, *options, axis=-1, **keywords) -> Type:
    t = type_of(a)
    known = t.kind is Kind.ARRAY and not options and axis == -1
    return Type(Kind.ARRAY, np.dtype(np.intp).name, t.ndim, t.shape) if known else UNKNOWN


@handles(np.flatnonzero)
def _flatnonzero(a) -> Type:
    return one_array(np.dtype(np.intp).name, 1)


@handles(np.arange)
def _arange(*args, **keywords) -> Type:
    types = [type_of(a) for a in args]
    plain = all(t.kind is Kind.NUMBER and t.is_real for t in types) and not keywords
    dtype = (promote([t.dtype for t in types]) if plain else None) or None
    return one_array(dtype, 1, shape_of(args[0])[1] if len(args) == 1 and dtype == np.dtype(int).name else None)
