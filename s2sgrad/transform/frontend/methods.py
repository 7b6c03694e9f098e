"""Lowers calls of methods: of arrays, of containers, of the user's objects."""

from types import FunctionType

import gast

from s2sgrad.rules import table
from s2sgrad.transform import classes, ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import effects, resolve
from s2sgrad.transform.frontend.dicts import READING_DICTS
from s2sgrad.transform.frontend.kinds import CONTAINERS, NUMERIC, is_active, is_one_number, text
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import Arguments
from s2sgrad.transform.ir import Kind

CONVERSIONS = frozenset({"item", "tolist", "tobytes", "dump", "dumps", "tofile", "view"})


class Methods:
    """The part of `Lowering` that deals with calls of methods."""

    def method(self, base, attr: str, node):
        t = self.type_of(base)
        if is_active(base) and t.kind in CONTAINERS:
            return self.container_method(base, attr, node)
        if attr == "get" and t.kind is Kind.DICT and self.holder(node.func.value) in self.objects:
            return self.got(self.holder(node.func.value), node)
        if attr in table.INACTIVE_METHODS and t.kind in NUMERIC:
            return self.inert(node)
        if attr == "item" and is_active(base) and is_one_number(t) and not node.args and not node.keywords:
            return self.python_number(base, "item()", node)
        if is_active(base) and attr in CONVERSIONS:
            self.refuse(f".{attr}() makes plain data of a value that carries a derivative", node)
        method = table.METHODS.get(attr)
        if t.kind in NUMERIC and method is not None:
            return self.array_method(base, attr, method, node)
        if is_active(base):
            self.refuse(f"the method .{attr}() of a value that carries a derivative has no derivative rule", node)
        arguments = self.arguments(node)
        if self.is_plain(arguments):
            return self.inert(node)
        if t.kind is Kind.RECORD and attr in classes.NAMEDTUPLE and classes.is_namedtuple(t.cls):
            return self.namedtuple_method(base, attr, arguments, node)
        function = self.class_attribute(t, attr)
        if isinstance(function, FunctionType):
            known = Known(function, ir.Code(node.func, {}, ir.Type(Kind.CALLABLE)))
            first = [] if classes.is_static(t.cls, attr) else [self.operand(base)]
            return self.followed(known, Arguments([*first, *arguments.positional], arguments.keywords), node)
        if attr in effects.MUTATING_METHODS:
            self.refuse(f"a value that carries a derivative is stored by .{attr}()", node)
        self.refuse(
            f"the call of {text(node.func)} carries a derivative, but it is not known which function it is",
            node,
        )

    def array_method(self, base, attr, method, node):
        arguments = self.arguments(node)
        if not is_active(base) and self.is_plain(arguments):
            return self.inert(node)
        if not is_active(base) and self.type_of(base).kind is Kind.UNKNOWN:
            self.refuse(
                f"the call of {text(node.func)} carries a derivative, but it is not known which function it is",
                node,
            )
        if method.variadic and len(arguments.positional) > 1:
            operands = [self.operand(p) for p in arguments.positional]
            if any(map(is_active, operands)):
                self.refuse(f"an argument of .{attr}() that carries a derivative", node)
            arguments.positional = [self.tuple_code(operands)]
        arguments.positional.insert(0, base)
        return self.by_rule(method.function, arguments, node, f"{attr}()")

    def tuple_code(self, operands) -> ir.Code:
        """Inactive operands as one tuple expression."""
        reads: dict = {}
        nodes = []
        for o in operands:
            if isinstance(o, ir.Value):
                label = next((n for n, v in reads.items() if v is o), None) or self.label(o, reads)
                reads[label] = o
                nodes.append(gast.Name(label, gast.Load(), None, None))
            elif isinstance(o, ir.Constant):
                nodes.append(gast.Constant(o.value, None))
            else:
                nodes.append(o.node)
                reads.update(o.reads)
        t = types.sequence(Kind.TUPLE, [self.type_of(o) for o in operands])
        return ir.Code(gast.Tuple(nodes, gast.Load()), reads, t)

    def container_method(self, base, attr, node):
        t = self.type_of(base)
        if t.kind is Kind.RECORD:
            if t.keys is not None and attr in t.keys:
                self.refuse(f"the field .{attr} is called, but it is not known which function it holds", node)
            if attr in classes.NAMEDTUPLE and classes.is_namedtuple(t.cls):
                return self.namedtuple_method(base, attr, self.arguments(node), node)
            function = resolve.plain_attribute(t.cls, attr)
            if self.method_of_record(node) is not None and self.session.purity.reason(function) is None:
                count = len(self.statements)
                arguments = self.arguments(node)
                placed = self.method_here(base, attr, function, arguments, node)
                if placed is not None:
                    return placed
                del self.statements[count:]
            if isinstance(function, FunctionType):
                self.outside.method_of(t.cls, attr, function)
                known = Known(function, ir.Code(node.func, {}, ir.Type(Kind.CALLABLE)))
                first = [] if classes.is_static(t.cls, attr) else [base]
                arguments = self.arguments(node)
                return self.followed(known, Arguments([*first, *arguments.positional], arguments.keywords), node)
        if t.kind is Kind.DICT and attr in READING_DICTS:
            return self.dict_method(base, attr, node)
        self.refuse(f"the method .{attr}() of a {t.kind.value} of values that carry a derivative is not compiled", node)
