"""Calls of functions that are not lowered.

Those that the compiler does not take run on the tape, for that call only: functions that change nothing but their
own local variables, and of which it can be told (`giving`) that they give numbers or arrays. For all others the
caller is refused too. Those that no derivative flows through stay as they are; what they give is found here.
"""

import functools
from types import FunctionType, MethodType

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir
from s2sgrad.transform.frontend import source
from s2sgrad.transform.frontend.giving import bare, result_type
from s2sgrad.transform.frontend.kinds import NUMERIC, SEQUENCES, is_active
from s2sgrad.transform.frontend.resolve import Known, is_definition, is_trusted
from s2sgrad.transform.frontend.session import namespace_of
from s2sgrad.transform.frontend.values import FUNCTIONS, Arguments, Inert, Nested
from s2sgrad.transform.ir import Kind

_CACHED = type(functools.lru_cache(lambda: None))


def is_passed(t: ir.Type) -> bool:
    """Does the tape take arguments of this type apart as the compiler does?"""
    if t.kind in (*SEQUENCES, Kind.DICT):
        return t.items is not None and all(map(is_passed, t.items))
    return t.kind in NUMERIC


class Taping:
    """The part of `Lowering` that deals with calls that run on the tape."""

    def taped(self, callee: Known, arguments: Arguments, node, refusal: CompileError):
        """The call of a function that was refused; raises the `refusal` where it cannot run on the tape alone."""
        things = [*arguments.positional, *arguments.keywords.values()]
        found = self.tapeable(callee.value, things)
        t = None if found is None else self.given_by(callee, found, arguments, node)
        if t is None:
            raise refusal
        operands = [self.operand(x) for x in things]
        self.freeze(operands, node)
        regions = [] if t.kind is Kind.NUMBER else [self.anywhere, *(r for o in operands for r in self.regions_of(o))]
        result = self.value("t", t, any(map(is_active, operands)), regions)
        name = ir.Callee(found.name if found.name.isidentifier() else "function", ())
        place, keywords = self.found.location(node), tuple(arguments.keywords)
        self.emit(ir.PlainCall(result, name, tuple(operands), place, callee.operand, keywords))
        self.temporaries.add(result)
        self.session.report_taped(found, refusal)
        return result

    def tapeable(self, function, things: list) -> source.Found | None:
        """The source of a function that the tape runs as well alone as with its caller; None for others."""
        function = written(function)
        if function is None or self.session.purity.reason(function):
            return None
        for thing in things:
            if not isinstance(thing, (ir.Value, ir.Constant, ir.Code, Known, Inert)):
                return None
            if isinstance(thing, Known) and is_definition(thing.value):
                return None
            if is_active(thing) and not is_passed(self.type_of(thing)):
                return None
        return source.find(function)

    def given_by(self, callee: Known, found, arguments: Arguments, node) -> ir.Type | None:
        """The type of what a function gives for these arguments."""
        function, count = written(callee.value), len(self.statements)
        owner = getattr(callee.value, "__self__", None)
        first = [] if owner is None else [ir.Code(None, {}, ir.Type(Kind.OTHER, cls=type(owner)))]
        taken = Arguments([*first, *arguments.positional], arguments.keywords)
        self.outside.follow(function)
        try:
            defaults = self.function_defaults(Known(function, callee.operand), found.node)
            given = self.assign_parameters(found.node, taken, defaults, node)
            lowering = type(self)(self.session, found, namespace_of(function))
            return result_type(lowering, {name: self.type_of(thing) for name, thing in given.items()})
        except CompileError:
            return None
        finally:
            del self.statements[count:]

    def given_back(self, callee, arguments: Arguments, node, bound=()) -> tuple:
        """What the call of a function that stays as it is gives: its type, and the memory that it may share.

        (None where that is not known.) The function is lowered for that, and what comes of it left out.
        """
        count = len(self.statements)
        try:
            found, namespace, defaults, captured = self.text_of(callee, node)
            args = found.node.args
            if args.vararg or args.kwarg or any(is_starred(a) for a in [*node.args, *node.keywords]):
                return ir.UNKNOWN, None
            given = captured | self.assign_parameters(found.node, arguments, defaults, node)
        except CompileError:
            return ir.UNKNOWN, None
        finally:
            del self.statements[count:]
        if self.session.is_within(found):
            return ir.UNKNOWN, None
        kinds = tuple((name, self.kind_there(thing)) for name, thing in given.items())
        key = id(found.node), *map(id, namespace.cells.values()), kinds
        if key not in self.session.given:
            self.session.kept.append(found)
            self.session.given[key] = self.session.tried(found, namespace, given, kinds) or (ir.UNKNOWN, None)
        t, sources = self.session.given[key]
        if sources is None or (sources and bound):  # of the variables of a comprehension it is not known
            return t, None
        things = [given[name] for name in sources]
        return t, [r for thing in things for r in self.regions_of(thing) or self.regions_under(thing)]

    def given_by_method(self, method, arguments: Arguments, call, bound=()) -> tuple:
        """What the call of a method that stays as it is gives, as `given_back` tells it."""
        if not isinstance(method, FunctionType) or is_trusted(method):
            return ir.UNKNOWN, None
        function = Known(method, ir.Code(call.func, {}, ir.Type(Kind.CALLABLE)))
        return self.given_back(function, arguments, call, bound)

    def text_of(self, callee, node) -> tuple:
        """The source of a function, where its names live, its defaults, and what it captures."""
        if isinstance(callee, Nested):
            at = callee.scope.found
            found = source.Found(callee.node, callee.name, at.file, at.lines, at.first_line)
            return found, callee.scope.namespace, callee.defaults, self.captured(callee, node)
        function = callee.value
        if hasattr(function, "__wrapped__") or hasattr(function, "__s2sgrad__"):
            self.refuse(f"what {function.__name__} calls is not looked into", node)
        self.outside.follow(function)
        found = source.find(function)
        return found, namespace_of(function), self.function_defaults(callee, found.node), {}

    def kind_there(self, thing) -> tuple:
        """What is known of an argument in a function that it is given to."""
        if isinstance(thing, FUNCTIONS):
            return "function", thing
        if isinstance(thing, Known) and is_definition(thing.value):
            return "function", thing.value
        literal = self.literal(thing)
        if isinstance(literal, ir.Constant) and isinstance(literal.value, (str, bool, type(None))):
            return "constant", literal
        return "value", bare(self.type_of(thing))


def is_starred(node) -> bool:
    """Is it ``*args`` or ``**kwargs`` of a call?"""
    return isinstance(node, gast.Starred) or (isinstance(node, gast.keyword) and node.arg is None)


def written(function) -> FunctionType | None:
    """The function of the user's, written in Python, that a callable calls; None where there is none."""
    if isinstance(function, MethodType):
        function = function.__func__
    if isinstance(function, _CACHED):
        function = function.__wrapped__
    return function if isinstance(function, FunctionType) and not is_trusted(function) else None
