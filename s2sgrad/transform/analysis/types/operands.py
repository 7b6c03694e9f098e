"""The types of operands of the IR, and the constants among them."""

import gast
import numpy as np

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes
from s2sgrad.transform.analysis.types.objects import axes_of, of
from s2sgrad.transform.ir import UNKNOWN, Kind, Type

OPEN = object()  # the value of an operand that is not known before the program runs


def type_of(operand) -> Type:
    """The type of an IR operand.

    Examples
    --------
    >>> type_of(ir.Constant(2)) == ir.INT
    True
    """
    return of(operand.value) if isinstance(operand, ir.Constant) else operand.type


def constant(operand, unknown=OPEN):
    """The value of an operand that is a literal, else `unknown`."""
    if isinstance(operand, ir.Constant):
        return operand.value
    if isinstance(operand, ir.Code):
        return literal_of(operand.node, unknown)
    return unknown if isinstance(operand, ir.Value) else operand  # a default of the function itself


def literal_of(node, unknown):
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = literal_of(node.operand, unknown)
        return -value if isinstance(value, (int, float, complex)) else unknown
    if isinstance(node, gast.Tuple):
        values = tuple(literal_of(item, unknown) for item in node.elts)
        return unknown if any(value is unknown for value in values) else values
    return unknown


def shape_of(operand) -> tuple:
    """`(ndim, shape, dims)` of an operand that says a shape: ``3``, ``(3, 4)``, ``[n, 4]``, ``x.shape``."""
    value = constant(operand)
    if isinstance(value, (int, np.integer)):
        value = (value,)
    if isinstance(value, (tuple, list)) and all(isinstance(n, (int, np.integer)) for n in value):
        dims = tuple(int(n) for n in value)
        return len(dims), (dims if all(n >= 0 for n in dims) else None), dims
    if isinstance(operand, ir.Code):
        node = operand.node
        if isinstance(node, (gast.Tuple, gast.List)) and not any(isinstance(n, gast.Starred) for n in node.elts):
            return len(node.elts), tuple([_length(n, operand.reads) for n in node.elts]), None
        if isinstance(node, gast.Attribute) and node.attr == "shape" and isinstance(node.value, gast.Name):
            array = operand.reads.get(node.value.id)
            if array is not None and array.type.kind is Kind.ARRAY:
                return array.type.ndim, array.type.shape, None
    one = length_of(operand)
    if one != axes.ANY:
        return 1, (one,), None
    known = type_of(operand) if isinstance(operand, (ir.Value, ir.Code)) else UNKNOWN
    if known.kind in (Kind.TUPLE, Kind.LIST) and known.items is not None:
        return len(known.items), None, None
    if known.kind is Kind.NUMBER:
        return 1, None, None
    return None, None, None


def length_of(operand):
    """The length that a number surely is; a symbol without a name where that is not known.

    Examples
    --------
    >>> x = ir.Value("x", of(np.ones((2, 9))))
    >>> n, k = [gast.parse(text, mode="eval").body for text in ("len(x)", "x.shape[1] - 1")]
    >>> length_of(ir.Code(n, {"x": x})) == x.type.shape[0], length_of(ir.Code(k, {"x": x})).least
    (True, 7)
    """
    if isinstance(operand, ir.Value):
        return axes.ANY if operand.length is None else operand.length
    return _length(operand.node, operand.reads) if isinstance(operand, ir.Code) else axes.ANY


def _length(node, reads):
    """The length that ``3``, ``n``, ``len(x)``, ``x.shape[0]``, ``n - 1`` or ``n // 2`` is."""
    literal = literal_of(node, None)
    if type(literal) is int and literal >= 0:
        return literal
    array, axis = None, 0
    match node:
        case gast.Name(id=name) if name in reads:
            return length_of(reads[name])
        case gast.BinOp(left=left, op=op, right=right) if type(count := literal_of(right, None)) is int:
            return _changed(_length(left, reads), op, count)
        case gast.BinOp(left=left, op=gast.Mult(), right=right) if type(count := literal_of(left, None)) is int:
            return _changed(_length(right, reads), node.op, count)
        case gast.BinOp(left=left, op=gast.Mult(), right=right):
            return axes.size((_length(left, reads), _length(right, reads)))
        case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)]) if "len" not in reads:
            array = reads.get(name)
        case gast.Subscript(value=gast.Attribute(value=gast.Name(id=name), attr="shape"), slice=place):
            array, axis = reads.get(name), literal_of(place, None)
    shape = None if array is None or array.type.kind is not Kind.ARRAY else axes_of(array.type)
    if shape is None or not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        return axes.ANY
    return shape[axis]


def _changed(n, op, count: int):
    match op:
        case gast.Sub() if 0 <= count <= axes.least(n):
            return axes.part(n, count, None, None)
        case gast.Add() if count >= 0:
            return axes.more(n, count)
        case gast.Mult() if count > 0:
            return axes.times(n, count)
        case gast.FloorDiv() if count > 0:
            return axes.quotient(n, count)
    return axes.ANY
