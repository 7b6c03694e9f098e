"""Which expressions of the user's surely have a value, so that they may go when nobody needs it.

An expression that no derivative flows through stays as it was written. Here its parts are asked one by one, as the
operations of a program are (`safety`): ``x[0] > 2`` may fail where `x` may be empty, ``n // k`` where `k` may be 0.

Examples
--------
>>> a, n = ir.Value("a", types.of(np.ones(3))), ir.Value("n", ir.INT)
>>> def asked(text):
...     code = ir.Code(gast.parse(text).body[0].value, {"a": a, "n": n})
...     return may_raise(code, ir.Namespace({"np": np}))
>>> asked("np.sum(a) + len(a) > n"), asked("np.linalg.inv(a)"), asked("a[n]"), asked("a[:n]"), asked("1 // n")
(False, True, True, False, True)
>>> asked("1 if n else 2"), asked("1 if a > 0 else 2")
(False, True)
"""

import builtins
import functools
import math
import operator
from collections.abc import Hashable
from types import ModuleType

import gast
import numpy as np

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.analysis.lengths import Lengths
from s2sgrad.transform.analysis.safety import cannot_fail
from s2sgrad.transform.ir import Kind, Type
from s2sgrad.transform.spelling import OPERATORS

_BOOL = types.of(True)
_MISSING = object()
_MEMBERS = {"shape", "ndim", "size", "dtype", "T", "real", "imag", "nbytes", "itemsize", "strides", "flags"}
_METHODS = {"all", "any", "astype", "conj", "copy", "cumsum", "flatten", "mean", "prod", "ravel", "std", "sum",
            "tolist", "transpose", "var"}  # fmt: skip
_EXTREME_METHODS = {"max", "min", "argmax", "argmin"}  # of nothing: an exception
_DICT_METHODS = {"copy", "items", "keys", "values"}
_NUMBERS = {bool, complex, float, int, round, abs, math.floor, math.ceil, math.isnan, math.isfinite, math.isinf}
_ITERATING = {all, any, enumerate, list, set, sum, tuple, zip}
_LOOKING = {callable, id, repr, str, type, slice}
_LIKE = {np.zeros_like, np.ones_like, np.empty_like}
_MADE = {np.zeros, np.ones, np.empty, np.eye, np.identity}
_EXTREMES = {np.max, np.min, np.amax, np.amin, np.argmax, np.argmin}


def may_raise(code: ir.Code, namespace: ir.Namespace) -> bool:
    """May evaluating an expression of the user's raise an exception?

    Parameters
    ----------
    code : Code
    namespace : Namespace
        Where its names that are no values of the program live.
    """
    try:
        _Evaluation(code.reads, namespace).type_of(code.node)
    except _Doubt:
        return True
    return False


def has_truth(t: Type) -> bool:
    """Is a value of this type surely true or false? An array of several elements is neither."""
    if t.kind is Kind.OTHER:
        return t.cls is None or t.cls.__module__ == "builtins"
    return t.kind in (Kind.NUMBER, Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.CALLABLE) or t.ndim == 0


def is_iterable(t: Type) -> bool:
    """Can a loop surely go over a value of this type?"""
    if t.kind is Kind.OTHER:
        return t.element is not None or t.cls in (str, range, set, frozenset, bytes)
    return t.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) or (t.kind is Kind.ARRAY and bool(t.ndim))


class _Doubt(Exception):
    """A part of an expression may have no value."""


class _Evaluation:
    """Finds the types of the parts of an expression, as far as these surely have values."""

    def __init__(self, reads: dict, namespace: ir.Namespace):
        self.reads = reads
        self.namespace = namespace

    def type_of(self, node) -> Type:
        handler = getattr(self, f"type_{type(node).__name__}", None)
        if handler is None:
            raise _Doubt
        return handler(node)

    def operand(self, node) -> ir.Operand:
        if isinstance(node, gast.Constant):
            return ir.Constant(node.value)
        if isinstance(node, gast.Name) and node.id in self.reads:
            return self.reads[node.id]
        return ir.Code(node, self.reads, self.type_of(node))

    def operation(self, function, nodes, keywords=()) -> Type:
        args = tuple(map(self.operand, nodes))
        kwargs = {k.arg: self.operand(k.value) for k in keywords}
        target = ir.Value("", types.infer(function, args, kwargs))
        if not cannot_fail(ir.Op(target, function, args, kwargs), Lengths()):
            raise _Doubt
        return target.type

    def truth(self, node) -> Type:
        t = self.type_of(node)
        if not has_truth(t):
            raise _Doubt
        return t

    def type_Constant(self, node):
        return types.of(node.value)

    def type_Name(self, node):
        if node.id in self.reads:
            return self.reads[node.id].type
        found = self.object(node)
        return ir.UNKNOWN if found is _MISSING else _of_global(found)

    def type_Tuple(self, node):
        return types.sequence(Kind.TUPLE, [self.type_of(e) for e in node.elts])

    def type_List(self, node):
        return types.sequence(Kind.LIST, [self.type_of(e) for e in node.elts])

    def type_Dict(self, node):
        if not all(isinstance(k, gast.Constant) for k in node.keys):
            raise _Doubt
        for value in node.values:
            self.type_of(value)
        return Type(Kind.DICT)

    def type_Lambda(self, node):
        return Type(Kind.CALLABLE)

    def type_Slice(self, node):
        for bound in (node.lower, node.upper, node.step):
            t = ir.INT if bound is None else self.type_of(bound)
            whole = t.kind is Kind.NUMBER and (t.dtype or "").startswith(("int", "bool"))
            if not whole and not (isinstance(bound, gast.Constant) and bound.value is None):
                raise _Doubt
        if node.step is not None and types.constant(self.operand(node.step), 0) in (0, None):
            raise _Doubt
        return ir.OTHER

    def type_Attribute(self, node):
        found = self.object(node)
        if found is not _MISSING:
            return _of_global(found)
        t = self.type_of(node.value)
        result = types.infer(getattr, (ir.Code(node.value, self.reads, t), ir.Constant(node.attr)))
        if t.kind is Kind.ARRAY and node.attr in _MEMBERS:
            return result
        if t.kind is Kind.NUMBER and t.dtype is not None and node.attr in ("real", "imag"):
            return result
        if t.kind is not Kind.RECORD or result == ir.UNKNOWN:
            raise _Doubt
        return result

    def type_Subscript(self, node):
        return self.operation(operator.getitem, [node.value, node.slice])

    def type_UnaryOp(self, node):
        if isinstance(node.op, gast.Not):
            self.truth(node.operand)
            return _BOOL
        return self.operation(OPERATORS[type(node.op)], [node.operand])

    def type_BinOp(self, node):
        return self.operation(OPERATORS[type(node.op)], [node.left, node.right])

    def type_Compare(self, node):
        parts = [node.left, *node.comparators]
        result = _BOOL
        for i, op in enumerate(node.ops):
            result = self.comparison(op, parts[i], parts[i + 1])
            if i < len(node.ops) - 1 and not has_truth(result):
                raise _Doubt
        return result

    def comparison(self, op, left, right) -> Type:
        kinds = [self.type_of(left), self.type_of(right)]
        if isinstance(op, (gast.Is, gast.IsNot)):
            return _BOOL
        if isinstance(op, (gast.In, gast.NotIn)):
            if kinds[1].kind is Kind.DICT or not all(map(_is_plain, [kinds[0], *_parts(kinds[1])])):
                raise _Doubt
            return _BOOL
        if isinstance(op, (gast.Eq, gast.NotEq)) and all(map(_is_plain, kinds)):
            return _BOOL
        return self.operation(OPERATORS[type(op)], [left, right])

    def type_BoolOp(self, node):
        kinds = [self.truth(value) for value in node.values[:-1]] + [self.type_of(node.values[-1])]
        return functools.reduce(types.join, kinds)

    def type_IfExp(self, node):
        self.truth(node.test)
        return types.join(self.type_of(node.body), self.type_of(node.orelse))

    def type_JoinedStr(self, node):
        for part in node.values:
            if isinstance(part, gast.FormattedValue):
                if part.format_spec is not None:
                    raise _Doubt
                self.type_of(part.value)
        return types.of("")

    def type_Call(self, node):
        function = self.object(node.func)
        starred = any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        if starred or not isinstance(function, Hashable):
            raise _Doubt
        if function is _MISSING:
            return self.method(node)
        kinds = [self.type_of(a) for a in node.args]
        if node.keywords or not self.always(function, kinds, node.args):
            return self.operation(function, node.args, node.keywords)
        return types.infer(function, tuple(map(self.operand, node.args)))

    def always(self, function, kinds: list, args: list) -> bool:
        """Does a function surely give a result for arguments of these types?"""
        if function in (isinstance, issubclass):
            return isinstance(self.object(args[-1]), type)
        if function in _LOOKING:
            return True
        if not kinds:
            return function in (list, dict, tuple, set)
        if function in _NUMBERS:
            return len(kinds) == 1 and (kinds[0].kind is Kind.NUMBER or kinds[0].ndim == 0) and kinds[0].is_real
        if function is range:
            whole = all(t.kind is Kind.NUMBER and (t.dtype or "").startswith("int") for t in kinds)
            return whole and (len(args) < 3 or types.constant(self.operand(args[2]), 0) != 0)
        if function is len:
            return is_iterable(kinds[0])
        if function in _ITERATING:
            numbers = function not in (sum, all, any) or all(t.kind is Kind.NUMBER for t in _parts(kinds[0]))
            return all(map(is_iterable, kinds)) and numbers
        if function in (max, min):
            return len(kinds) > 1 and all(t.kind is Kind.NUMBER and t.is_real for t in kinds)
        if function in _EXTREMES:
            return len(kinds) == 1 and _has_elements(kinds[0])
        if function in _LIKE:
            return kinds[0].kind in (Kind.ARRAY, Kind.NUMBER)
        if function in _MADE:
            return len(args) == 1 and self.is_length(args[0])
        return False

    def is_length(self, node) -> bool:
        """Is it surely the length of an axis, or several: no negative number?"""
        match node:
            case gast.Tuple(elts=elts):
                return all(map(self.is_length, elts))
            case gast.Attribute(attr="shape" | "size"):
                return True
        return axes.is_named(types.length_of(ir.Code(node, self.reads)))

    def method(self, node) -> Type:
        if not isinstance(node.func, gast.Attribute) or node.args or node.keywords:
            raise _Doubt
        t, name = self.type_of(node.func.value), node.func.attr
        array = t.kind is Kind.ARRAY and t.dtype is not None
        if array and (name in _METHODS or (name in _EXTREME_METHODS and _has_elements(t))):
            function = getattr(np, name, None)
            return types.infer(function, (ir.Code(node.func.value, self.reads, t),)) if function else ir.UNKNOWN
        if not (t.kind is Kind.DICT and name in _DICT_METHODS):
            raise _Doubt
        return ir.OTHER

    def object(self, node):
        """What of a module's, or of Python's, a name stands for; `_MISSING` for what is none of theirs."""
        if isinstance(node, gast.Name) and node.id not in self.reads and node.id not in self.namespace.cells:
            return self.namespace.globals.get(node.id, getattr(builtins, node.id, _MISSING))
        if isinstance(node, gast.Attribute):
            module = self.object(node.value)
            return getattr(module, node.attr, _MISSING) if isinstance(module, ModuleType) else _MISSING
        return _MISSING


def _of_global(value) -> Type:
    """What is known of a value outside of the function, which may be another one of its kind at the next call."""
    t = types.of(value)
    if t.kind is Kind.ARRAY:
        return types.of_any_length(t)
    return t if t.kind in (Kind.NUMBER, Kind.CALLABLE) or value is None else ir.UNKNOWN


def _parts(t: Type) -> list:
    """The types of what is in a value; one of which nothing is known where that is open."""
    if t.kind is Kind.ARRAY and t.ndim == 1:
        return [Type(Kind.NUMBER, t.dtype, 0, ())]
    return list(t.items) if t.items is not None else [t.element or ir.UNKNOWN]


def _is_plain(t: Type) -> bool:
    """Is it a number or text, which anything can be compared to?"""
    return t.kind is Kind.NUMBER or (t.kind is Kind.OTHER and has_truth(t))


def _has_elements(t: Type) -> bool:
    sizes = types.axes_of(t)
    return t.dtype is not None and sizes is not None and all(map(axes.is_some, sizes))
