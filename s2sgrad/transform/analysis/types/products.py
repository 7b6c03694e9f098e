"""Products of arrays, and linear algebra with one result."""

import operator
from dataclasses import replace

import numpy as np

from s2sgrad.rules.linalg import cofactors
from s2sgrad.rules.products import einsum_terms
from s2sgrad.transform.analysis import axes
from s2sgrad.transform.analysis.types.calls import handles
from s2sgrad.transform.analysis.types.objects import axes_of
from s2sgrad.transform.analysis.types.operands import constant, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, broadcast, one_array, promote, resolve, strong
from s2sgrad.transform.analysis.types.reductions import averaged
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


@handles(np.dot)
def _dot(a, b, out=None) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = promote([s.dtype, t.dtype])
    if s.kind not in (Kind.NUMBER, Kind.ARRAY) or t.kind not in (Kind.NUMBER, Kind.ARRAY):
        return Type(dtype=dtype)
    if s.ndim is None or t.ndim is None:
        return Type(dtype=dtype)
    if s.ndim == 0 or t.ndim == 0:
        kind, ndim, shape = broadcast((s, t))
        return Type(kind, dtype, ndim, shape)
    ndim = s.ndim + t.ndim - 2
    if ndim == 0:
        return Type(Kind.NUMBER, dtype, 0, ())
    left, right = axes_of(s), axes_of(t)
    return one_array(dtype, shape=left[:-1] + right[:-2] + right[-1:] * (len(right) > 1))


@handles(np.matmul, operator.matmul)
def _matmul(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = resolve(np.multiply, [s.dtype, t.dtype])
    if s.kind is not Kind.ARRAY or t.kind is not Kind.ARRAY or not s.ndim or not t.ndim:
        return Type(dtype=dtype)
    if s.ndim == t.ndim == 1:
        return Type(Kind.NUMBER, dtype, 0, ())
    left, right = axes_of(s), axes_of(t)
    stack = axes.broadcast([left[:-2], right[:-2]])
    return one_array(dtype, shape=stack + left[-2:-1] + right[-1:] * (len(right) > 1))


@handles(np.vdot)
def _vdot(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    return Type(Kind.NUMBER, promote([s.dtype, t.dtype]), 0, ())


@handles(np.inner)
def _inner(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = promote([s.dtype, t.dtype])
    if s.kind is Kind.ARRAY and t.kind is Kind.ARRAY and s.ndim and t.ndim:
        ndim = s.ndim + t.ndim - 2
        return one_array(dtype, shape=axes_of(s)[:-1] + axes_of(t)[:-1]) if ndim else Type(Kind.NUMBER, dtype, 0, ())
    return Type(dtype=dtype)


@handles(np.convolve, np.correlate)
def _convolve(a, v, mode="full") -> Type:
    return one_array(promote([array_like(type_of(x)).dtype for x in (a, v)]), 1)


@handles(np.outer)
def _outer(a, b, out=None) -> Type:
    s, t = array_like(type_of(a)), array_like(type_of(b))
    known = [x.kind in (Kind.ARRAY, Kind.NUMBER) and x.ndim is not None for x in (s, t)]
    shape = tuple([axes.size(axes_of(x)) for x in (s, t)]) if all(known) else None
    return one_array(promote([s.dtype, t.dtype]), 2, shape)


def _outer_of(ufunc):
    def outer(a, b, /) -> Type:
        s, t = array_like(type_of(a)), array_like(type_of(b))
        dtype = resolve(ufunc, [strong(s.dtype), strong(t.dtype)])
        if not all(x.kind in (Kind.ARRAY, Kind.NUMBER) and x.ndim is not None for x in (s, t)) or not s.ndim + t.ndim:
            return Type(dtype=dtype)
        return one_array(dtype, shape=axes_of(s) + axes_of(t))

    return outer


for ufunc in vars(np).values():
    if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None:
        handles(ufunc.outer)(_outer_of(ufunc))


@handles(np.einsum)
def _einsum(subscripts, *operands, **options) -> Type:
    dtype = promote([type_of(o).dtype for o in operands]) if set(options) <= {"optimize"} else None
    labels = labels_of(subscripts, operands)
    if labels is None:
        return Type(dtype=dtype)
    if not labels[1]:  # with `optimize` it may be an array of dimension 0
        return Type(dtype=dtype) if options else Type(Kind.NUMBER, strong(dtype), 0, ())
    terms, result = labels
    lengths: dict = {}
    for term, operand in zip(terms, operands, strict=True):
        for letter, n in zip(term, axes_of(type_of(operand)), strict=True):
            lengths[letter] = axes.both(lengths.get(letter, 1), n)
    return one_array(dtype, shape=tuple([lengths[letter] for letter in result]))


def labels_of(subscripts, operands) -> tuple | None:
    """The labels of the axes of each operand of ``np.einsum``, and of its result; None where they are not known."""
    text = constant(subscripts)
    shapes = [axes_of(type_of(o)) for o in operands]
    if not isinstance(text, str) or None in shapes or text.count(",") + 1 != len(shapes):
        return None
    terms, result = einsum_terms(text, list(map(len, shapes)))
    fit = all(len(term) == len(shape) for term, shape in zip(terms, shapes, strict=True))
    return (terms, result) if fit and set(result) <= set("".join(terms)) else None


@handles(np.linalg.inv, np.linalg.cholesky, cofactors)
def _square(a, **options) -> Type:
    t = type_of(a)
    return replace(t, dtype=averaged(t.dtype)) if t.kind is Kind.ARRAY else UNKNOWN


@handles(np.linalg.solve)
def _solve(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = averaged(promote([s.dtype, t.dtype]))
    if s.kind is Kind.ARRAY and t.kind is Kind.ARRAY and s.ndim == 2 and t.ndim:
        return one_array(dtype, t.ndim, t.shape)
    return Type(dtype=dtype)


@handles(np.linalg.det)
def _det(a) -> Type:
    t = type_of(a)
    dtype = averaged(t.dtype)
    if t.kind is not Kind.ARRAY or t.ndim is None:
        return Type(dtype=dtype)
    return Type(Kind.NUMBER, dtype, 0, ()) if t.ndim == 2 else one_array(dtype, shape=axes_of(t)[:-2])
