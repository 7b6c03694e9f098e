"""Where the elements of an array are: whether it is surely in one piece, in order.

Then what it is reshaped to is a view of it, and a write into the one is a write into the other. NumPy decides by
the strides, which are known before the program runs for what NumPy makes itself: ``np.zeros``, results of
operations on arrays in one piece, anything new that has one axis.

Examples
--------
>>> from s2sgrad.transform.analysis import types
>>> x = ir.Value("x", types.of(np.ones((2, 3))))
>>> [types.infer(f, (x,)).contiguous for f in (np.sin, np.transpose, np.ravel)]
[True, False, True]
"""

import operator
from dataclasses import replace

import gast
import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import aliases, ir
from s2sgrad.transform.ir import Kind, Type

_IN_ORDER = {np.zeros, np.ones, np.empty, np.ndarray, np.full, np.eye, np.identity, np.outer, np.dot}
_LIKE = {np.zeros_like: 3, np.ones_like: 3, np.empty_like: 3, np.full_like: 3, np.copy: 2}  # and where `order` is
_SAME = {np.reshape: 3, np.ravel: 2, np.asarray: 3, np.asanyarray: 3, np.ascontiguousarray: 3, np.atleast_1d: 2}
_PARTS = {operator.getitem, operator.add, operator.concat, operator.mul, getattr}  # of containers


def of_result(function, args: tuple, kwargs: dict, types: list, found: Type) -> Type:
    """The type of a call's result, said to be in one piece where it surely is."""
    part = function in _PARTS and types[0].kind in (Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.RECORD)
    if part or found.kind is not Kind.ARRAY:
        return found if part else unknown(found)
    whole = _is_whole(function, args, kwargs, types, found)
    return found if found.contiguous is whole else replace(found, contiguous=whole)


def unknown(t: Type) -> Type:
    """A type with nothing known of the layout of the arrays in it."""
    if t.items is None and t.element is None:
        return replace(t, contiguous=False) if t.contiguous else t
    items = None if t.items is None else tuple(map(unknown, t.items))
    element = None if t.element is None else unknown(t.element)
    return t if items == t.items and element == t.element else replace(t, items=items, element=element)


def _is_whole(function, args, kwargs, types, found) -> bool:
    try:
        if function is operator.getitem:
            return types[0].contiguous and _is_run(args[1])
        if kwargs.keys() - {"dtype", "axis", "fill_value", "shape"}:
            return False  # `order`, `out`
        if function in _SAME:
            return types[0].contiguous and len(args) < _SAME[function]
        new = aliases.is_new(function, kwargs)
        if new and found.ndim in (0, 1):
            return True
        if function in _IN_ORDER:
            return len(args) < 3
        if function in _LIKE:
            return types[0].contiguous and len(args) < _LIKE[function]
        if function is np.array:
            return types[0].kind in (Kind.LIST, Kind.TUPLE) and len(args) < 3
        if function in (operator.matmul, np.matmul):
            return found.ndim == 2
        elementwise = isinstance(function, np.ufunc) and function.signature is None or function in _ELEMENTWISE
    except TypeError:  # it is no function that could be looked up
        return False
    if not elementwise:
        return False
    return all(t.kind is Kind.NUMBER or (t.kind is Kind.ARRAY and t.contiguous) for t in types)


_ELEMENTWISE = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.pos, abs,
    operator.floordiv, operator.mod, arrays.over, arrays.times,
}  # fmt: skip


def _is_run(index) -> bool:
    """Does a basic index of an array in one piece select one piece: leading integers, then at most one run?"""
    if isinstance(index, ir.Constant):
        entries = index.value if isinstance(index.value, tuple) else (index.value,)
        entries = ["slice" if e == slice(None) else e for e in entries]
        kinds = [
            "one" if type(e) is int else "all" if e in ("slice", None, Ellipsis) else _of_slice(e) for e in entries
        ]
    elif isinstance(index, ir.Code):
        node = index.node
        kinds = [_of_node(e, index) for e in (node.elts if isinstance(node, gast.Tuple) else [node])]
    else:
        kinds = ["one" if _is_integer(index.type) else "other"]
    while kinds and kinds[0] == "one":
        kinds = kinds[1:]
    return all(k == "all" for k in kinds[1:]) and kinds[:1] in ([], ["all"], ["run"])


def _of_slice(entry) -> str:
    return "run" if isinstance(entry, slice) and entry.step in (None, 1) else "other"


def _of_node(node, code: ir.Code) -> str:
    match node:
        case gast.Slice(lower=None, upper=None, step=None):
            return "all"
        case gast.Constant(value=value) if value is None or value is Ellipsis:
            return "all"
        case gast.Slice(step=None) | gast.Slice(step=gast.Constant(value=1)):
            return "run"
        case gast.Constant(value=value):
            return "one" if type(value) is int else "other"
        case gast.Name(id=name) if name in code.reads:
            return "one" if _is_integer(code.reads[name].type) else "other"
    return "one" if node is code.node and _is_integer(code.type) else "other"


def _is_integer(t: Type) -> bool:
    return t.kind is Kind.NUMBER and (t.dtype or "").startswith(("int", "uint"))
