"""Python's own functions."""

import functools
import operator

import numpy as np

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes
from s2sgrad.transform.analysis.types.calls import handles, infer
from s2sgrad.transform.analysis.types.elementwise import real_or_imag
from s2sgrad.transform.analysis.types.objects import BOOL, REAL, axes_of, join, join_elements
from s2sgrad.transform.analysis.types.operands import constant, type_of
from s2sgrad.transform.analysis.types.shapes import transpose
from s2sgrad.transform.ir import FLOAT, INT, OTHER, UNKNOWN, Kind, Type


@handles(len, np.ndim, np.size, hash, id, int, ord)
def _integer(*args, **kwargs) -> Type:
    return INT


@handles(float)
def _float(*args) -> Type:
    return FLOAT


@handles(complex)
def _complex(*args, **kwargs) -> Type:
    return Type(Kind.NUMBER, "complex", 0, ())


@handles(bool, isinstance, issubclass, callable, hasattr, all, any, np.isscalar, np.iscomplexobj, np.isrealobj)
@handles(operator.is_, operator.is_not, operator.not_, np.allclose, np.array_equal)
def _bool(*args, **kwargs) -> Type:
    return BOOL


@handles(operator.contains)
def _contains(container, item) -> Type:
    return BOOL


@handles(slice)
def _slice(*bounds) -> Type:
    return Type(Kind.OTHER, cls=slice)


@handles(str, repr, format, type, ascii, print)
def _other(*args, **kwargs) -> Type:
    return OTHER


@handles(max, min)
def _extreme(*args, **kwargs) -> Type:
    types = [type_of(a) for a in args]
    if kwargs:
        return UNKNOWN
    if len(types) == 1:
        return _any_element(args[0])
    if not all(t.ndim == 0 for t in types):
        return UNKNOWN
    return functools.reduce(join, types)


def _any_element(iterable) -> Type:
    """What each element of a list or array is."""
    t = type_of(iterable)
    if t.kind is Kind.ARRAY:
        return infer(operator.getitem, (iterable, ir.Constant(0)))
    return join_elements(t) or UNKNOWN if t.kind in (Kind.LIST, Kind.TUPLE) else UNKNOWN


@handles(sum)
def _sum(iterable, start=0) -> Type:
    t = type_of(iterable)
    items, some = t.items, False
    if items is None:
        element = infer(operator.getitem, (iterable, ir.Constant(0))) if t.kind is Kind.ARRAY else t.element
        items, some = (element, element), t.kind is Kind.ARRAY and axes.is_some((axes_of(t) or (axes.ANY,))[0])
    if constant(start) != 0 or None in items:
        return UNKNOWN
    totals = [INT]
    for item in items:
        totals.append(infer(operator.add, (ir.Value("total", totals[-1]), ir.Value("item", item))))
    if t.items is not None:
        return totals[-1]
    return functools.reduce(join, totals[some:])  # of none, of one, of more


@handles(np.shape)
def _shape(a) -> Type:
    t = type_of(a)
    if t.kind in (Kind.ARRAY, Kind.NUMBER) and t.ndim is not None:
        return Type(Kind.TUPLE, items=(INT,) * t.ndim)
    return Type(Kind.TUPLE, element=INT)


@handles(getattr)
def _getattr(value, name, *default) -> Type:
    t, attribute = type_of(value), constant(name)
    if default:
        return UNKNOWN
    if t.kind is Kind.RECORD:
        return t.items[t.keys.index(attribute)] if t.keys is not None and attribute in t.keys else UNKNOWN
    if t.kind in (Kind.ARRAY, Kind.NUMBER):
        if attribute == "shape":
            return _shape(value)
        if attribute in ("ndim", "size", "itemsize", "nbytes"):
            return INT
        if attribute in ("real", "imag"):
            return real_or_imag(value)
        if attribute == "T":
            return transpose(value)
        if attribute == "dtype":
            return Type(Kind.OTHER, t.dtype if t.kind is Kind.ARRAY and t.dtype != REAL else None)
    return UNKNOWN
