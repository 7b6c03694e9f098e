"""Small questions about values, types and literals that all of the frontend asks."""

import dataclasses
import functools
import inspect
import math
from collections.abc import Mapping
from types import FunctionType

import gast
import numpy as np

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import resolve
from s2sgrad.transform.frontend.values import Bound, Choice, Nested, Partial
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spelling import OPERATORS

NEVER = object()  # the result of a block that raises
LEFT = object()  # the result of a block that ends the iteration of the loop around it

NUMERIC = (Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN)
SEQUENCES = (Kind.LIST, Kind.TUPLE)
CONTAINERS = (Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.RECORD)
BOOL = ir.Type(Kind.NUMBER, "bool", 0, ())
TEXT = ir.OTHER

# Builtins whose result carries no derivative whatever their arguments are.
PLAIN_BUILTINS = frozenset(
    [
        print,
        len,
        isinstance,
        issubclass,
        type,
        id,
        repr,
        str,
        format,
        range,
        hasattr,
        callable,
        bool,
        int,
        all,
        any,
        hash,
    ]
)
EFFECTLESS = PLAIN_BUILTINS - {print}
EAGER = frozenset({sum, max, min, list, tuple, sorted, any, all, set, frozenset, dict, math.prod, math.fsum})
EAGER |= {functools.reduce, np.fromiter}
LAZY = frozenset({map, zip, enumerate, reversed, iter, filter})  # as what `itertools` offers
BY_KEY = frozenset({sorted, min, max})  # which order what they are given, by what `key` says of it

MISSING = resolve.MISSING
MODULE_DATA = (int, float, complex, str, bool, type(None))
PYTHON_TYPES = {float: ir.FLOAT, int: ir.INT, bool: BOOL, complex: ir.Type(Kind.NUMBER, "complex", 0, ()), len: ir.INT}
ARITHMETIC = frozenset(OPERATORS.values())

# Functions one argument of which is a list of arrays; its cotangent is a list too.
TAKES_SEQUENCES = frozenset(
    [
        np.concatenate,
        np.stack,
        np.vstack,
        np.hstack,
        np.dstack,
        np.column_stack,
        np.array,
        np.asarray,
        np.asanyarray,
        np.block,
        np.linalg.multi_dot,
    ]
)

# Functions of a list of numbers whose result is a number of Python's if those are: they are given the list as it is.
TAKES_NUMBERS = frozenset([math.prod])

# Elementwise functions whose result may be a view of their argument.
VIEWING = frozenset([np.real, np.imag])


def is_active(thing) -> bool:
    return isinstance(thing, ir.Value) and thing.active


def is_live(thing, lowering=None) -> bool:
    """Must uses of `thing` be followed: does it carry a derivative, or is it a function that uses what does?

    Or one that cannot stay as it is, since it may see other things than the user's.
    """
    if isinstance(thing, Nested):
        return lowering is not None and (lowering.captures_active(thing) or lowering.unsettled(thing) is not None)
    return is_active(thing) or isinstance(thing, (Bound, Partial, Choice))


def is_plain(t: ir.Type) -> bool:
    """Surely a number, array, text or builtin container: no operator or index of it runs code of the user's."""
    if t.kind in (Kind.NUMBER, Kind.ARRAY) or t.dtype is not None:
        return True
    if t.kind in (*SEQUENCES, Kind.DICT):
        return all(map(is_plain, t.items or ())) and (t.element is None or is_plain(t.element))
    return t.kind is Kind.OTHER and (t.cls is None or t.cls.__module__ == "builtins")


def holds_numbers(t: ir.Type) -> bool:
    """Is an array surely one of numbers, rather than of objects?"""
    return (t.dtype or "").startswith(("float", "complex", "int", "uint", "bool"))


def is_one_number(t: ir.Type) -> bool:
    """Is it surely a number, or an array of dimension 0 that holds one?"""
    return t.kind is Kind.NUMBER or (t.kind in NUMERIC and t.ndim == 0 and t.dtype is not None)


def is_foreign(t: ir.Type) -> bool:
    """May NumPy's functions do with it something else than with an array?"""
    return t.kind in (Kind.OTHER, Kind.RECORD) and t.cls is not None and hasattr(t.cls, "__array__") or runs_code(t)


def kin(result: ir.Type, *operands: ir.Type) -> ir.Type:
    """What is made of a masked array, a matrix, ... may be one too: the type of a result of which nothing is known."""
    if result != ir.UNKNOWN:
        return result
    found = [t for t in operands if t.kind is Kind.OTHER and t.cls is not None and issubclass(t.cls, np.ndarray)]
    return found[0] if found else result


def element_of(container, key):
    """What a builtin container has under `key` at present; None where that is not to be had."""
    try:
        return container[key] if type(container) in (list, tuple, dict) else None
    except (LookupError, TypeError):
        return None


def is_strange_class(function) -> bool:
    """Is it a class of the user's, or of arrays that are more than arrays?"""
    if not isinstance(function, type) or function is np.ndarray:
        return False
    return not resolve.is_trusted(function) or issubclass(function, np.ndarray)


def made_by(function) -> ir.Type:
    """The type of the objects that a class, or a function that makes arrays of another class, gives."""
    module = getattr(function, "__module__", None) or ""
    if module.startswith("numpy.ma") or function in (np.asmatrix, np.bmat):
        return ir.Type(Kind.OTHER, cls=np.ma.MaskedArray if module.startswith("numpy.ma") else np.matrix)
    if is_strange_class(function):
        return ir.Type(Kind.OTHER, cls=function)
    return ir.UNKNOWN


def runs_code(t: ir.Type) -> bool:
    """May an operator, an index or the truth of it run code of the user's: is it an object of the user's class?"""
    return t.cls is not None and not resolve.is_trusted(t.cls) and not dataclasses.is_dataclass(t.cls)


def asks_object(t: ir.Type) -> bool:
    """Does the truth of a value of this type run code of the user's, which may come out otherwise the next time?"""
    asked = [inspect.getattr_static(t.cls, name, None) for name in ("__bool__", "__len__")] if t.cls else []
    return any(isinstance(method, FunctionType) for method in asked)


def any_active(active) -> bool:
    return any(map(any_active, active)) if isinstance(active, tuple) else active


def numeric(t: ir.Type) -> bool:
    """Can a derivative flow through a value of this type?"""
    if t.kind in CONTAINERS:
        return True
    integer = t.dtype is not None and t.dtype.startswith(("int", "uint", "bool"))
    return t.kind in NUMERIC and not integer


def carrying(t: ir.Type, chosen=True):
    """Which parts of a value of this type a derivative can flow through, of those that are chosen."""
    if isinstance(chosen, Mapping):
        chosen = tuple(chosen.get(key, False) for key in t.keys or ())
    if not any_active(chosen):
        return False
    if t.items is not None:
        parts = chosen if isinstance(chosen, tuple) else (True,) * len(t.items)
        return tuple(carrying(item, part) for item, part in zip(t.items, parts, strict=True))
    return numeric(t)


def part(active, i):
    return active[i] if isinstance(active, tuple) else active


def either(a, b):
    """The activity of what is one or the other."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(either, a, b))
    if isinstance(a, tuple) and b is False:
        return a
    if isinstance(b, tuple) and a is False:
        return b
    return any_active(a) or any_active(b)


def tuple_union(active):
    found = False
    for a in active:
        found = either(found, a)
    return found


def item_type(t: ir.Type, i: int) -> ir.Type:
    if t.items is not None and t.kind in (*SEQUENCES, Kind.RECORD):
        return t.items[i] if -len(t.items) <= i < len(t.items) else ir.UNKNOWN
    if t.kind in SEQUENCES:
        return t.element or ir.UNKNOWN
    if t.kind is Kind.ARRAY and t.ndim == 1:
        return ir.Type(Kind.NUMBER, t.dtype, 0, ())
    if t.kind is Kind.ARRAY and t.ndim:
        return types.one_array(t.dtype, shape=types.axes_of(t)[1:])
    return ir.UNKNOWN


def constant_of(node, missing):
    """The value of a literal: a number, a string, a negative number."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) and isinstance(node.operand, gast.Constant):
        return -node.operand.value if isinstance(node.operand.value, (int, float, complex)) else missing
    return missing


def is_none(node) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def text(node) -> str:
    return gast.unparse(node).strip()


def describe(node) -> str:
    """What users call a piece of syntax."""
    return {
        "ListComp": "a list comprehension",
        "SetComp": "a set comprehension",
        "DictComp": "a dict comprehension",
        "GeneratorExp": "a generator expression",
        "NamedExpr": "an assignment inside of an expression (`:=`)",
        "Await": "`await`",
        "Yield": "`yield`",
        "YieldFrom": "`yield`",
        "Set": "a set",
        "Starred": "`*` in front of a value",
        "While": "a `while` loop",
        "With": "a `with` block",
        "Try": "a `try` block",
        "Delete": "`del`",
        "Match": "`match`",
        "AsyncFunctionDef": "`async def`",
        "AsyncFor": "`async for`",
        "AsyncWith": "`async with`",
        "FunctionDef": "a nested function",
        "ClassDef": "a class in a function",
        "For": "a `for` loop",
        "IfExp": "a conditional expression",
        "JoinedStr": "an f-string",
        "Dict": "a dict",
        "Import": "`import`",
        "ImportFrom": "`import`",
    }.get(type(node).__name__, f"{type(node).__name__.lower()}")


def changing_type(t: ir.Type) -> ir.Type:
    """What is surely known of a value of type `t` that may change: of a list or dict not what is in it.

    What changes the elements of a list of any length is seen, but not what changes a list in it.
    """
    if t.kind in (Kind.LIST, Kind.DICT) and t.items is not None:
        return ir.Type(t.kind)
    return _of_contents(t, _unknown_inside)


def _unknown_inside(t: ir.Type) -> ir.Type:
    return ir.Type(t.kind) if t.kind in (Kind.LIST, Kind.DICT) else _of_contents(t, _unknown_inside)


def _of_contents(t: ir.Type, change) -> ir.Type:
    """The type of a list or tuple with the types of what is in it changed."""
    if t.kind not in (Kind.LIST, Kind.TUPLE):
        return t
    items = None if t.items is None else tuple(map(change, t.items))
    return dataclasses.replace(t, items=items, element=None if t.element is None else change(t.element))
