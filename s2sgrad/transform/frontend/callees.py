"""Lowers calls of Python functions, each of which is lowered in turn.

A Python function that a derivative flows through becomes a `Callee`, once for each combination of
argument types and activity. What a nested function captures is passed to it as further arguments; a
function that is passed to a function is known there at compile time.
"""

import functools
import inspect
from types import FunctionType, MethodType

import gast

from s2sgrad.errors import CompileError
from s2sgrad.rules import table
from s2sgrad.transform import ir
from s2sgrad.transform.frontend import resolve, source
from s2sgrad.transform.frontend.kinds import any_active, is_live
from s2sgrad.transform.frontend.passing import Passing
from s2sgrad.transform.frontend.resolve import Known, attribute_code
from s2sgrad.transform.frontend.values import Arguments, Bound, Choice, Nested, Partial, Unbound
from s2sgrad.transform.ir import Kind


class Callees:
    """The part of `Lowering` that deals with calls of Python functions."""

    def call(self, callee, arguments: Arguments, node):
        """The call of a function that is followed into its source, or else runs on the tape."""
        if isinstance(callee, Bound):
            arguments = Arguments([callee.instance, *arguments.positional], arguments.keywords)
            return self.followed(callee.function, arguments, node)
        if isinstance(callee, Partial):
            keywords = callee.keywords | arguments.keywords
            return self.applied(callee.function, Arguments([*callee.positional, *arguments.positional], keywords), node)
        if isinstance(callee, Choice):
            return self.call_chosen(callee, arguments, node)
        if isinstance(callee, Nested):
            return self.call_nested(callee, arguments, node)
        if self.session.strict:
            return self.followed(callee, arguments, node)
        found, refusal = self.on_trial(lambda: self.followed(callee, arguments, node))
        return self.taped(callee, arguments, node, refusal) if refusal else found

    def on_trial(self, lower) -> tuple:
        """What `lower()` gives, and None; where it is refused, None and why, with all as it was before."""
        count, env, made = len(self.statements), dict(self.env), set(self.session.callees)
        rows = dict(self.session.rows)
        try:
            return lower(), None
        except CompileError as refusal:
            del self.statements[count:]
            self.env = env
            for key in self.session.callees.keys() - made:  # they may call what was given up
                del self.session.callees[key]
            self.session.rows = rows
            return None, refusal

    def followed(self, callee: Known, arguments: Arguments, node):
        """The call of a function that is followed into its source."""
        function = callee.value
        if isinstance(function, functools.partial):
            return self.call_partial(callee, arguments, node)
        if isinstance(function, MethodType):
            owner = self.static(node.func.value) if isinstance(node.func, gast.Attribute) else None
            if owner is None or owner.value is not function.__self__:
                owner = self.held_by(callee, "__self__", function.__self__)
            known = Known(function.__func__, attribute_code(callee.operand, "__func__"))
            return self.followed(known, Arguments([owner, *arguments.positional], arguments.keywords), node)
        if hasattr(function, "__s2sgrad__"):
            return self.call_derivative(callee, arguments, node)
        if isinstance(function, type):
            return self.construct(function, arguments, node)
        if resolve.is_trusted(function) or not isinstance(function, FunctionType):
            method = inspect.getattr_static(type(function), "__call__", None)
            if isinstance(method, FunctionType) and not resolve.is_trusted(method):
                self.outside.method_of(type(function), "__call__", method)
                known = Known(method, attribute_code(attribute_code(callee.operand, "__class__"), "__call__"))
                return self.followed(known, Arguments([callee, *arguments.positional], arguments.keywords), node)
            self.no_rule(function, node)
        self.outside.follow(function)
        found = source.find(function)
        given = self.assign_parameters(found.node, arguments, self.function_defaults(callee, found.node), node)
        key = (id(function.__code__), *(id(c) for c in function.__closure__ or ()))
        return self.call_lowered(found, given, key, node, function=function)

    def call_partial(self, callee: Known, arguments: Arguments, node):
        part = callee.value
        holder = attribute_code(callee.operand, "args")
        positional = []
        for i, value in enumerate(part.args):
            positional.append(self.default(value, Known(None, callee.operand), "args", i))
        keywords = {k: self.default(v, Known(None, callee.operand), "keywords", k) for k, v in part.keywords.items()}
        merged = Arguments([*positional, *arguments.positional], keywords | arguments.keywords)
        known = Known(part.func, attribute_code(ir.Code(holder.node.value, holder.reads), "func"))
        rule = table.lookup(part.func)
        if rule is not None:
            return self.by_rule(part.func, merged, node, known.operand)
        return self.followed(known, merged, node)

    def call_nested(self, nested: Nested, arguments: Arguments, node):
        given = self.assign_parameters(nested.node, arguments, nested.defaults, node)
        captured = self.captured(nested, node)
        for name, thing in captured.items():
            given.setdefault(name, thing)
        found = source.Found(
            nested.node, nested.name, nested.scope.found.file, nested.scope.found.lines, nested.scope.found.first_line
        )
        return self.call_lowered(found, given, (id(nested.node), id(nested.scope.found)), node, scope=nested.scope)

    def captured(self, nested: Nested, node) -> dict:
        """What the free local names of a nested function stand for now."""
        found = self.seen_by(nested)
        if found is None:
            self.refuse(f"{nested.name} outlives the function it is defined in", node)
        for name, thing in found.items():
            if isinstance(thing, Unbound):
                self.refuse(f"{nested.name} uses {name}: {thing.reason}", node)
            if isinstance(thing, ir.Value) and thing in self.maybe:
                self.refuse(f"{nested.name} uses {name}, which may be None", node)
        missing = (self.names.captured(nested.node) & nested.scope.local) - found.keys()
        if nested.captured is None and missing - {nested.name}:  # it may call itself
            self.refuse(f"{nested.name} uses {min(missing)}, which may have no value here", node)
        return found

    def captures_active(self, nested: Nested, seen=None) -> bool:
        """Does the nested function read anything that a derivative flows through?"""
        seen = seen or {id(nested)}
        for thing in (self.seen_by(nested) or {}).values():
            if isinstance(thing, Nested):
                if id(thing) not in seen:
                    seen.add(id(thing))
                    if self.captures_active(thing, seen):
                        return True
            elif is_live(thing, self):
                return True
        return False

    def call_lowered(self, found, given: dict, key: tuple, node, function=None, scope=None, specs=()):
        """The `Call` of a function lowered for what it is given."""
        passing = Passing(self, recursive=self.session.is_within(found))
        described = tuple((name, passing.describe(name, thing)) for name, thing in given.items())
        callee, info = self.session.callee((*key, described), found, given, passing, function, scope, specs)
        if info.writes_outside:
            self.refuse(f"{callee.name} changes objects that exist outside of it", node)
        operands = tuple(passing.operands)
        self.freeze(operands, node)
        result_type = info.type if info.type is not None else ir.UNKNOWN
        result_type = passing.type_here(result_type)
        active = info.active
        if any_active(active) and result_type.kind in (Kind.OTHER, Kind.CALLABLE):
            self.refuse(f"what {callee.name} returns cannot be followed", node)
        sharing = operands if info.sources is None else [operands[i] for i in info.sources]
        regions = [r for o in sharing for r in self.regions_of(o)]
        if info.sources is None and result_type.kind is not Kind.NUMBER:
            regions.append(self.anywhere)
        result = self.value("t", result_type, active, regions)
        result.own = not regions
        self.emit(ir.Call(result, callee, operands, self.found.location(node)))
        self.temporaries.add(result)
        return result
