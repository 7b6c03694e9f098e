"""Reductions: sums, means, extremes, norms, running sums.

What is said as ``initial=`` is converted to the dtype of the result, whatever it is.
"""

from dataclasses import replace

import numpy as np

from s2sgrad.transform.analysis import axes
from s2sgrad.transform.analysis.types.calls import handles
from s2sgrad.transform.analysis.types.objects import REAL, axes_of
from s2sgrad.transform.analysis.types.operands import OPEN, constant, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, given_dtype, on_all_ways, one_array, strong
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


def reduced_axes(axis, ndim) -> tuple | None:
    """The axes that are reduced, normalised; None where they or `ndim` are not known."""
    value = constant(axis)
    if ndim is None or value is OPEN:
        return None
    if value is None:
        return tuple(range(ndim))
    values = value if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(a, (int, np.integer)) and -ndim <= a < ndim for a in values):
        return None
    return tuple(sorted({int(a) % ndim for a in values}))


def reduction(x, axis, keepdims, dtype) -> Type:
    """The type of a reduction over `axis`; `dtype` is that of the result."""
    t = array_like(type_of(x))
    keep, everything = constant(keepdims), constant(axis) is None
    if t.kind not in (Kind.NUMBER, Kind.ARRAY) and not (t.kind is Kind.UNKNOWN and t.dtype is not None):
        if everything and keep is False and t.kind in (Kind.LIST, Kind.TUPLE, Kind.UNKNOWN):
            return Type(dtype=dtype)
        return UNKNOWN
    if everything and keep is False:
        return Type(Kind.NUMBER, dtype, 0, ())
    reduced = reduced_axes(axis, t.ndim if t.kind is Kind.ARRAY else (0 if t.kind is Kind.NUMBER else None))
    if keep is True and t.kind is Kind.ARRAY and t.ndim:
        known = [1 if i in reduced else n for i, n in enumerate(axes_of(t))] if reduced is not None else None
        return one_array(dtype, t.ndim, known and tuple(known))
    if reduced is None or keep is not False:
        return Type(dtype=dtype)
    if t.ndim == len(reduced):
        return Type(Kind.NUMBER, dtype, 0, ())
    return one_array(dtype, shape=tuple([n for i, n in enumerate(axes_of(t)) if i not in reduced]))


@on_all_ways
def summed(dtype):
    """Sums and products of small integers are taken in NumPy's long integer."""
    name = strong(dtype)
    if name in (None, REAL):
        return name
    kind = np.dtype(name).kind
    if kind in "bi":
        return np.result_type(name, np.dtype(int)).name
    return np.result_type(name, np.dtype("uint")).name if kind == "u" else name


@on_all_ways
def averaged(dtype):
    name = strong(dtype)
    if name in (None, REAL):
        return name
    return "float64" if np.dtype(name).kind in "biu" else name


@on_all_ways
def modulus(dtype):
    """The dtype of magnitudes: complex64 has float32 ones."""
    name = averaged(dtype)
    if name in (None, REAL) or not name.startswith("complex"):
        return name
    return np.empty(0, name).real.dtype.name


@handles(np.sum, np.prod, np.nansum, np.nanprod)
def _sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Type:
    result = summed(array_like(type_of(a)).dtype) if dtype is None else given_dtype(dtype)
    return reduction(a, axis, keepdims, result)


@handles(np.add.reduce, np.multiply.reduce)
def _add_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Type:
    return _sum(array, axis, dtype, out, keepdims, initial, where)


@handles(np.mean, np.nanmean)
def _mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None) -> Type:
    result = averaged(array_like(type_of(a)).dtype) if dtype is None else given_dtype(dtype)
    return reduction(a, axis, keepdims, result)


@handles(np.var, np.std, np.nanvar, np.nanstd)
def _var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **others) -> Type:
    return reduction(a, axis, keepdims, modulus(array_like(type_of(a)).dtype) if dtype is None else None)


@handles(np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)
def _max(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Type:
    return reduction(a, axis, keepdims, strong(array_like(type_of(a)).dtype))


@handles(np.maximum.reduce, np.minimum.reduce, np.logaddexp.reduce)
def _reduced(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Type:
    result = array_like(type_of(array)).dtype if dtype is None else None
    return reduction(array, axis, keepdims, result if result is not None and result.startswith("float") else None)


@handles(np.all, np.any)
def _all(a, axis=None, out=None, keepdims=False, *, where=None) -> Type:
    return reduction(a, axis, keepdims, "bool")


@handles(np.argmax, np.argmin)
def _argmax(a, axis=None, out=None, *, keepdims=False) -> Type:
    return reduction(a, axis, keepdims, np.dtype(np.intp).name)


@handles(np.count_nonzero)
def _count_nonzero(a, axis=None, *, keepdims=False) -> Type:
    t = reduction(a, axis, keepdims, np.dtype(np.intp).name)
    return replace(t, dtype=REAL) if t.kind is Kind.NUMBER else t  # a Python int or, by version, a NumPy one


@handles(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=False) -> Type:
    t = type_of(x)
    return reduction(x, axis, keepdims, modulus(t.dtype)) if t.kind is Kind.ARRAY else UNKNOWN


@handles(np.add.accumulate, np.multiply.accumulate, np.maximum.accumulate, np.minimum.accumulate)
def _accumulate(array, axis=0, dtype=None, out=None) -> Type:
    t = type_of(array)
    if t.kind is not Kind.ARRAY or not t.ndim:
        return UNKNOWN
    if dtype is None and strong(t.dtype) not in ("float64", "float32"):
        return UNKNOWN
    return one_array(strong(t.dtype) if dtype is None else given_dtype(dtype), t.ndim, t.shape)


@handles(np.cumsum, np.cumprod)
def _cumsum(a, axis=None, dtype=None, out=None) -> Type:
    t = type_of(a)
    result = summed(t.dtype) if dtype is None else given_dtype(dtype)
    if t.kind is not Kind.ARRAY or not t.ndim:
        return Type(dtype=result)
    if constant(axis) is None:
        return one_array(result, shape=(axes.size(axes_of(t)),))
    return one_array(result, t.ndim, t.shape)
