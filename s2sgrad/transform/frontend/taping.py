"""Lowers the calls of functions that the compiler does not take: they run on the tape, for that call only.

This is so for functions that change nothing but their own local variables, and of which it can be told
(`giving`) that they give numbers or arrays. For all others the caller is refused too.
"""

import functools
from types import FunctionType, MethodType

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir
from s2sgrad.transform.frontend import source
from s2sgrad.transform.frontend.giving import result_type
from s2sgrad.transform.frontend.kinds import NUMERIC, SEQUENCES, is_active
from s2sgrad.transform.frontend.resolve import Known, is_definition, is_trusted
from s2sgrad.transform.frontend.session import namespace_of
from s2sgrad.transform.frontend.values import Arguments, Inert
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


def written(function) -> FunctionType | None:
    """The function of the user's, written in Python, that a callable calls; None where there is none."""
    if isinstance(function, MethodType):
        function = function.__func__
    if isinstance(function, _CACHED):
        function = function.__wrapped__
    return function if isinstance(function, FunctionType) and not is_trusted(function) else None
