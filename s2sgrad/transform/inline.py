"""Turns a rule into statements: generated code shows the mathematics, not calls into a library.

A rule is a small Python function (``lambda t, x: t * np.cos(x)``). `inline` walks its syntax tree with
the operands of the call in place of its parameters, decides every test that the types decide (``axis
is None``, ``np.isrealobj(x)``, ``np.ndim(x) == 1``), and adds one operation per call or operator. Where
something stays open (a test on data), the rule is called as the function it is.
"""

import ast
import builtins
import math
import operator
import types as pytypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.rules.table import METHODS
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.build import Builder
from s2sgrad.transform.frontend.source import find
from s2sgrad.transform.ir import Code, Constant, Kind, Value


class Open(Exception):
    """Something in a rule that is not decided before the program runs."""


@dataclass(frozen=True, slots=True)
class Static:
    """An object known while compiling that is no literal: a function, a module, a class."""

    value: Any


@dataclass(frozen=True, slots=True)
class Seq:
    """A tuple or list whose elements are known one by one."""

    items: tuple
    kind: type = tuple


LITERALS = (type(None), bool, int, float, complex, str, slice, type(Ellipsis))
_DEPTH = 12


def inline(build: Builder, rule, args: list, kwargs: dict | None = None):
    """The result of ``rule(*args, **kwargs)``: an operand, or a `Seq` of such."""
    mark = len(build.statements)
    try:
        return _Inliner(build).call(rule, list(args), dict(kwargs or {}))
    except Open:
        build.rollback(mark)
    given = [operand(build, a) for a in args]
    named = {k: operand(build, v) for k, v in (kwargs or {}).items()}
    return build.plain(Value("t"), rule, given, named)


def operand(build: Builder, x) -> ir.Operand:
    """What a result of the inliner is as an operand."""
    if isinstance(x, Seq):
        if all(isinstance(item, Constant) for item in x.items) and x.kind is tuple:
            return Constant(tuple(item.value for item in x.items))
        return build.sequence([operand(build, i) for i in x.items], Kind.TUPLE if x.kind is tuple else Kind.LIST)
    if isinstance(x, Static):
        raise Open
    return x


def literal(value) -> Any:
    """A Python object as the inliner knows it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, LITERALS):
        return Constant(value)
    if type(value) in (tuple, list, range):
        kind = list if type(value) is list else tuple
        return Seq(tuple(map(literal, value)), kind)
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size <= 64:
        return Seq(tuple(map(literal, value.tolist())))
    return Static(value)


def known(x):
    """The Python object that `x` surely is."""
    if isinstance(x, Constant | Static):
        return x.value
    if isinstance(x, Seq):
        return x.kind(known(item) for item in x.items)
    raise Open


def is_known(x) -> bool:
    if isinstance(x, Seq):
        return all(map(is_known, x.items))
    return isinstance(x, Constant | Static)


_BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_PURE = {len, range, tuple, list, sorted, int, float, bool, abs, min, max, sum, enumerate, zip, reversed, slice, set}
_PURE |= {isinstance, math.prod, math.sqrt, math.log, np.argsort, round, all, any}
_NUMBERS = {"int": int, "float": float, "complex": complex, "bool": bool}


_ATTRIBUTES = {np.shape: "shape", np.size: "size", np.transpose: "T"}  # as they are spelled on an array


class _Inliner:
    def __init__(self, build: Builder):
        self.build = build
        self.depth = 0

    # ---------------------------------------------------------------- functions

    def call(self, function, args: list, kwargs: dict):
        """The result of a call of a Python function whose body is walked here."""
        function = getattr(function, "__wrapped__", function)
        if not isinstance(function, pytypes.FunctionType) or self.depth > _DEPTH:
            raise Open
        try:
            node = find(function).tree
        except CompileError as error:
            raise Open from error
        outer = getattr(self, "function", None), getattr(self, "env", None)
        self.function, self.env = function, bound(function, node.args, args, kwargs)
        self.depth += 1
        try:
            return self.expr(node.body) if isinstance(node, ast.Lambda) else self.body(node.body)
        finally:
            self.depth -= 1
            self.function, self.env = outer

    def body(self, statements):
        result = self.run(statements)
        return Constant(None) if result is None else result

    def run(self, statements):
        """Walk statements; the result where one returns, else None."""
        for s in statements:
            result = None
            match s:
                case ast.Return():
                    return Constant(None) if s.value is None else self.expr(s.value)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.Expr():
                    raise Open
                case ast.Assign():
                    value = self.expr(s.value)
                    for target in s.targets:
                        self.assign(target, value)
                case ast.AugAssign(target=ast.Name()) if type(s.op) in _BINARY:
                    operands = [self.name(s.target.id), self.expr(s.value)]
                    self.env[s.target.id] = self.apply(_BINARY[type(s.op)], operands)
                case ast.If():
                    result = self.run(s.body if self.test(s.test) else s.orelse)
                case ast.For() if not s.orelse:
                    for item in self.iterate(self.expr(s.iter)):
                        self.assign(s.target, item)
                        result = self.run(s.body)
                        if result is not None:
                            break
                case _:
                    raise Open
            if result is not None:
                return result
        return None

    def assign(self, target, value) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value, Value) and value.name == "t":
                value.name = target.id
            self.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = self.iterate(value)
            if len(items) != len(target.elts) or any(isinstance(t, ast.Starred) for t in target.elts):
                raise Open
            for t, item in zip(target.elts, items, strict=True):
                self.assign(t, item)
        else:
            raise Open

    def iterate(self, x) -> list:
        """The elements of `x`, where they are known one by one."""
        if isinstance(x, Seq):
            return list(x.items)
        if isinstance(x, Value) and x.type.items is not None and x.type.kind in (Kind.TUPLE, Kind.LIST):
            return [self.build.op(operator.getitem, x, Constant(i)) for i in range(len(x.type.items))]
        if is_known(x):
            try:
                return [literal(item) for item in known(x)]
            except TypeError:
                raise Open from None
        raise Open

    # ---------------------------------------------------------------- names and tests

    def name(self, name: str):
        if name in self.env:
            return self.env[name]
        function = self.function
        code = function.__code__
        if name in code.co_freevars:
            return literal(function.__closure__[code.co_freevars.index(name)].cell_contents)
        if name in function.__globals__:
            return literal(function.__globals__[name])
        if hasattr(builtins, name):
            return literal(getattr(builtins, name))
        raise Open

    def test(self, node) -> bool:
        """What a test surely gives."""
        x = self.expr(node)
        if isinstance(x, Seq):
            return bool(x.items)
        return bool(known(x))

    # ---------------------------------------------------------------- expressions

    def expr(self, node):
        method = getattr(self, "expr_" + type(node).__name__.lower(), None)
        if method is None:
            raise Open
        return method(node)

    def expr_name(self, node):
        return self.name(node.id)

    def expr_constant(self, node):
        return Constant(node.value)

    def expr_tuple(self, node):
        return Seq(self.elements(node.elts))

    def expr_list(self, node):
        return Seq(self.elements(node.elts), list)

    def elements(self, nodes) -> tuple:
        items: list = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items.extend(self.iterate(self.expr(node.value)))
            else:
                items.append(self.expr(node))
        return tuple(items)

    def expr_binop(self, node):
        if type(node.op) not in _BINARY:
            raise Open
        return self.apply(_BINARY[type(node.op)], [self.expr(node.left), self.expr(node.right)])

    def expr_unaryop(self, node):
        if isinstance(node.op, ast.Not):
            return Constant(not self.test(node.operand))
        return self.apply(_UNARY[type(node.op)], [self.expr(node.operand)])

    def expr_boolop(self, node):
        stop = isinstance(node.op, ast.Or)
        for value in node.values:
            x = self.expr(value)
            if bool(x.items if isinstance(x, Seq) else known(x)) is stop:
                return x
        return x

    def expr_ifexp(self, node):
        return self.expr(node.body if self.test(node.test) else node.orelse)

    def expr_compare(self, node):
        if len(node.ops) != 1:
            raise Open
        op, a, b = type(node.ops[0]), self.expr(node.left), self.expr(node.comparators[0])
        if op in (ast.Is, ast.IsNot):
            return Constant(self.same(a, b) is (op is ast.Is))
        if op in _COMPARE:
            return self.apply(_COMPARE[op], [a, b])
        if op in (ast.In, ast.NotIn):
            return Constant((known(a) in known(b)) is (op is ast.In))
        raise Open

    def same(self, a, b) -> bool:
        """``a is b`` for a literal `b`."""
        if is_known(a) and is_known(b):
            return known(a) is known(b)
        for x, y in ((a, b), (b, a)):
            if isinstance(y, Constant) and (y.value is None or isinstance(y.value, bool)):
                if isinstance(x, Seq):
                    return False
                kind = types.type_of(x).kind if isinstance(x, Value | Code) else Kind.UNKNOWN
                if kind not in (Kind.UNKNOWN, Kind.OTHER) and types.type_of(x).dtype != "bool":
                    return False
        raise Open

    def expr_subscript(self, node):
        x, i = self.expr(node.value), self.expr(node.slice)
        if is_known(i) and not isinstance(x, Value | Code):
            items = x.items if isinstance(x, Seq) else known(x)
            try:
                found = items[known(i)]
            except (TypeError, IndexError, KeyError):
                raise Open from None
            if isinstance(x, Seq):
                return Seq(found, x.kind) if isinstance(found, tuple) else found
            return literal(found)
        return self.apply(operator.getitem, [x, i])

    def expr_slice(self, node):
        parts = [Constant(None) if p is None else self.expr(p) for p in (node.lower, node.upper, node.step)]
        if all(map(is_known, parts)):
            return Constant(slice(*map(known, parts)))
        return self.build.op(slice, *[operand(self.build, p) for p in parts])

    def expr_attribute(self, node):
        x = self.expr(node.value)
        if isinstance(x, Static):
            try:
                return literal(getattr(x.value, node.attr))
            except AttributeError:
                raise Open from None
        functions = {"shape": np.shape, "ndim": np.ndim, "size": np.size, "T": np.transpose}
        functions |= {"real": np.real, "imag": np.imag}
        if node.attr in functions:
            return self.apply(functions[node.attr], [x])
        raise Open

    def comprehension(self, node):
        generator = node.generators[0]
        if len(node.generators) != 1:
            raise Open
        before = dict(self.env)
        items = []
        for item in self.iterate(self.expr(generator.iter)):
            self.assign(generator.target, item)
            if all(self.test(test) for test in generator.ifs):
                items.append(self.expr(node.elt))
        self.env = before
        return Seq(tuple(items), list)

    expr_listcomp = expr_generatorexp = comprehension

    def expr_call(self, node):
        kwargs = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Open
            kwargs[keyword.arg] = self.expr(keyword.value)
        if isinstance(node.func, ast.Attribute):
            owner = self.expr(node.func.value)
            if not isinstance(owner, Static):
                return self.method(owner, node.func.attr, list(self.elements(node.args)), kwargs)
        function = known(self.expr(node.func))
        return self.apply(function, list(self.elements(node.args)), kwargs)

    def method(self, owner, name, args, kwargs):
        if all(map(is_known, [owner, *args])) and isinstance(known(owner), str) and not kwargs:
            return literal(getattr(known(owner), name)(*map(known, args)))
        if not isinstance(owner, Value | Code) or name not in METHODS:
            raise Open
        method = METHODS[name]
        if method.variadic and len(args) != 1:
            args = [Seq(tuple(args))]
        return self.apply(method.function, [owner, *args], kwargs)

    # ---------------------------------------------------------------- calls

    def apply(self, function, args: list, kwargs: dict | None = None):
        """The result of a call: decided, walked into, or one more operation."""
        kwargs = kwargs or {}
        decided = self.decide(function, args, kwargs)
        if decided is not None:
            return decided
        if isinstance(function, pytypes.FunctionType) and (function.__module__ or "").startswith("s2sgrad.rules"):
            mark, depth = len(self.build.statements), self.depth
            try:
                return self.call(function, args, kwargs)
            except Open:
                self.depth = depth
                self.build.rollback(mark)
        given = [operand(self.build, a) for a in args]
        named = {k: operand(self.build, v) for k, v in kwargs.items()}
        spelling = None
        t = given[0].type if len(given) == 1 and not named and isinstance(given[0], Value) else None
        if t and t.kind is Kind.ARRAY and t.ndim != 0:  # a number may stand for an array of dimension 0
            spelling = _ATTRIBUTES.get(function) if hashable(function) else None
        return self.build.op(function, *given, spelling=spelling, **named)

    def decide(self, function, args: list, kwargs: dict):
        """What a call surely gives, from literals and types; None where it has to run."""
        everything = [*args, *kwargs.values()]
        pure = function in _PURE if hashable(function) else False
        if all(map(is_known, everything)) and (pure or _is_operator(function)):
            try:
                return literal(self.evaluate(function, args, kwargs))
            except Exception:  # whatever it is, it is the program's when it runs
                raise Open from None
        if function is zip and args and all(map(is_known, kwargs.values())):
            return self.zipped(args)
        if not args or kwargs:
            return None
        x = args[0]
        if function is isinstance:
            return Constant(self.isinstance(x, known(args[1])))
        if function is len and isinstance(x, Seq):
            return Constant(len(x.items))
        if function in (tuple, list) and isinstance(x, Seq):
            return Seq(x.items, function)
        if function is enumerate:
            return Seq(tuple(Seq((Constant(i), item)) for i, item in enumerate(self.iterate(x))))
        if function is reversed:
            return Seq(tuple(self.iterate(x))[::-1])
        if function is operator.add and all(isinstance(a, Seq) for a in args) and x.kind is args[1].kind:
            return Seq(x.items + args[1].items, x.kind)
        if function is arrays.part and len(args) == 2 and is_known(args[1]):
            if isinstance(x, Seq):
                i = known(args[1])
                return x.items[i] if i < len(x.items) else Constant(None)
            return Constant(None) if isinstance(x, Constant) and x.value is None else None
        if function is arrays.filled:
            if isinstance(x, Constant) and x.value is None:
                return self.apply(arrays.zeros_of, [args[1]])
            if isinstance(x, Value) and x.type.kind in (Kind.NUMBER, Kind.ARRAY):
                return x
            return None
        if function is operator.and_ and isinstance(x, Constant) and x.value is True:
            return args[1] if isinstance(args[1], Value) and args[1].type.dtype == "bool" else None
        if isinstance(x, Seq | Static):
            return None
        kind = types.type_of(x)
        if function is np.ndim and kind.kind in (Kind.NUMBER, Kind.ARRAY) and kind.ndim is not None:
            return Constant(kind.ndim)
        if function is np.shape and kind.kind is Kind.NUMBER:
            return Constant(())
        if function is np.size and kind.kind is Kind.NUMBER:
            return Constant(1)
        if function in (np.isrealobj, np.iscomplexobj) and kind.dtype not in (None, types.EITHER):
            return Constant(kind.is_real is (function is np.isrealobj))
        return None

    def zipped(self, args: list):
        """What ``zip`` gives; a sequence of unknown length is as long as those of known length."""
        parts: list = []
        for x in args:
            try:
                parts.append(self.iterate(x))
            except Open:
                parts.append(None)
        length = min((len(p) for p in parts if p is not None), default=None)
        for i, x in enumerate(args):
            if parts[i] is None:
                if length is None or not isinstance(x, Value):
                    raise Open
                inner = types.infer(operator.getitem, (x, Constant(0)))
                parts[i] = [Value("t", inner) for _ in range(length)]
                self.build.add(ir.Unpack(tuple(parts[i]), x, self.build.location))
        return Seq(tuple(Seq(items) for items in zip(*parts, strict=False)))

    def evaluate(self, function, args, kwargs):
        result = function(*map(known, args), **{k: known(v) for k, v in kwargs.items()})
        if isinstance(result, zip | enumerate | reversed | set):
            result = list(result)
        return result

    def isinstance(self, x, classes) -> bool:
        if is_known(x):
            return isinstance(known(x), classes)
        if isinstance(x, Seq):
            return issubclass(x.kind, classes)
        t = types.type_of(x)
        classes = classes if isinstance(classes, tuple) else (classes,)
        if t.kind is Kind.NUMBER and t.dtype not in (None, *types.VAGUE):
            cls = _NUMBERS.get(t.dtype) or np.dtype(t.dtype).type
            return issubclass(cls, classes)
        cls = {Kind.ARRAY: np.ndarray, Kind.TUPLE: tuple, Kind.LIST: list, Kind.DICT: dict}.get(t.kind)
        if cls is None:
            raise Open
        return issubclass(cls, classes)


def hashable(x) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _is_operator(function) -> bool:
    return getattr(function, "__module__", None) == "_operator"


def bound(function, params, args: list, kwargs: dict) -> dict:
    """The parameters of a function, by name, for a call."""
    names = [p.arg for p in (*params.posonlyargs, *params.args)]
    env = dict(zip(names, args, strict=False))
    rest = args[len(names) :]
    if params.vararg is not None:
        env[params.vararg.arg] = Seq(tuple(rest))
    elif rest:
        raise Open
    only = [p.arg for p in params.kwonlyargs]
    for name, value in kwargs.items():
        if name in env or name not in (*names, *only):
            raise Open
        env[name] = value
    defaults = function.__defaults__ or ()
    for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        env.setdefault(name, literal(value))
    for name, value in (function.__kwdefaults__ or {}).items():
        env.setdefault(name, literal(value))
    if params.kwarg is not None or any(name not in env for name in (*names, *only)):
        raise Open
    return env
