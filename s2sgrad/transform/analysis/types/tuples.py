"""Functions with several results."""

import builtins
import operator

import numpy as np

from s2sgrad.transform.analysis.types.calls import handles, infer
from s2sgrad.transform.analysis.types.operands import constant, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, broadcast, one_array
from s2sgrad.transform.analysis.types.reductions import averaged, modulus
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


def stacked(t: Type, ndim: int, dtype) -> Type:
    """One array of `ndim` axes per matrix of a stack of type `t`."""
    if t.ndim is None:
        return Type(dtype=dtype)
    ndim += t.ndim - 2
    return one_array(dtype, ndim) if ndim else Type(Kind.NUMBER, dtype, 0, ())


def several(*types) -> Type:
    return Type(Kind.TUPLE, items=types)


@handles(np.linalg.slogdet)
def _slogdet(a) -> Type:
    t = type_of(a)
    return several(stacked(t, 0, averaged(t.dtype)), stacked(t, 0, modulus(t.dtype)))


@handles(np.linalg.eigh)
def _eigh(a, UPLO="L") -> Type:  # noqa: N803
    t = type_of(a)
    return several(stacked(t, 1, modulus(t.dtype)), stacked(t, 2, averaged(t.dtype)))


@handles(np.linalg.qr)
def _qr(a, mode="reduced") -> Type:
    t = type_of(a)
    if constant(mode) not in ("reduced", "complete"):
        return UNKNOWN
    return several(stacked(t, 2, averaged(t.dtype)), stacked(t, 2, averaged(t.dtype)))


@handles(np.linalg.svd)
def _svd(a, full_matrices=True, compute_uv=True, hermitian=False) -> Type:
    t = type_of(a)
    values = stacked(t, 1, modulus(t.dtype))
    if constant(compute_uv) is False:
        return values
    vectors = stacked(t, 2, averaged(t.dtype))
    return several(vectors, values, vectors) if constant(compute_uv) is True else UNKNOWN


@handles(np.modf)
def _modf(x) -> Type:
    kind, ndim, shape = broadcast([array_like(type_of(x))])
    part = Type(kind, averaged(type_of(x).dtype), ndim, shape)
    return several(part, part)


@handles(np.divmod, builtins.divmod)
def _divmod(x, y) -> Type:
    return several(infer(operator.floordiv, (x, y)), infer(operator.mod, (x, y)))
