"""Lowers calls: of what has a rule, of Python functions (each lowered in turn), of methods, of classes.

A Python function that a derivative flows through becomes a `Callee`, once for each combination of
argument types and activity. What a nested function captures is passed to it as further arguments; a
function that is passed to a function is known there at compile time.
"""

import dataclasses
import functools
import inspect
import operator
from collections.abc import Mapping
from types import FunctionType, MethodType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.rules import table
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.analysis.axes import Axis
from s2sgrad.transform.frontend import effects, resolve, source
from s2sgrad.transform.frontend.dicts import READING_DICTS
from s2sgrad.transform.frontend.kinds import (
    CONTAINERS,
    NUMERIC,
    SEQUENCES,
    any_active,
    is_active,
    is_live,
    is_one_number,
    text,
)
from s2sgrad.transform.frontend.positions import CONSUMING, LISTED
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import FUNCTIONS, Arguments, Bound, Choice, Inert, Nested, Partial, Unbound
from s2sgrad.transform.ir import Kind

NAMEDTUPLE = ("_replace", "_asdict")  # methods that every namedtuple has
CONVERSIONS = frozenset({"item", "tolist", "tobytes", "dump", "dumps", "tofile", "view"})


class Calls:
    """The part of `Lowering` that deals with calls."""

    def expression_Call(self, node):
        if isinstance(node.func, gast.Attribute) and self.static(node.func) is None:
            base = self.expression(node.func.value)
            if not isinstance(base, Known):
                return self.method(base, node.func.attr, node)
            if not resolve.is_definition(base.value):
                return self.method(base.operand, node.func.attr, node)
        callee = self.env.get(node.func.id) if isinstance(node.func, gast.Name) else None
        if not isinstance(callee, FUNCTIONS):
            callee = self.expression(node.func)
        if isinstance(callee, Known):
            return self.call_known(callee, node)
        if isinstance(callee, FUNCTIONS):
            return self.call(callee, self.arguments(node), node)
        arguments = self.arguments(node)
        if self.is_plain(arguments):
            return self.inert(node)
        self.refuse(
            f"{text(node.func)} carries a derivative, but it is not known which function it is",
            node,
        )

    def arguments(self, node) -> Arguments:
        """The arguments of a call, evaluated in order."""
        if any(k.arg is None for k in node.keywords):
            return self._starred_arguments(node)
        things = self.expressions(
            [*(a.value if isinstance(a, gast.Starred) else a for a in node.args), *(k.value for k in node.keywords)]
        )
        positional = []
        for a, thing in zip(node.args, things, strict=False):
            positional.extend(self.spread(thing, a) if isinstance(a, gast.Starred) else [thing])
        n = len(node.args)
        return Arguments(positional, {k.arg: t for k, t in zip(node.keywords, things[n:], strict=True)})

    def _starred_arguments(self, node) -> Arguments:
        plain = gast.Call(node.func, node.args, [k for k in node.keywords if k.arg is not None])
        found = self.arguments(plain)
        for keyword in node.keywords:
            if keyword.arg is None:
                thing = self.expression(keyword.value)
                t = self.type_of(thing)
                if t.kind is not Kind.DICT or t.keys is None:
                    self.refuse("`**` with a dict whose keys are not known before the program runs", node)
                for key, item in zip(t.keys, self.items_of(thing, node), strict=True):
                    if key in found.keywords:
                        self.refuse(f"the argument {key} is given twice", node)
                    found.keywords[key] = item
        return found

    def spread(self, thing, node) -> list:
        """The elements of a starred argument."""
        t = self.type_of(thing)
        if t.kind not in SEQUENCES or t.items is None:
            self.refuse("`*` with a sequence whose length is not known before the program runs", node)
        return self.items_of(thing, node)

    def items_of(self, thing, node) -> list:
        """The elements of a container whose length is known, each as an operand."""
        t = self.type_of(thing)
        container = self.operand(thing)
        if container in self.made:
            return list(self.made[container])
        active = self.activity(container)
        get = getattr if t.kind is Kind.RECORD else operator.getitem
        found = []
        for i, item in enumerate(t.items):
            key = i if t.keys is None else t.keys[i]
            part = active[i] if isinstance(active, tuple) else active and numeric(item)
            value = self.value("t", item, part, self.regions_of(container))
            spelling = key if get is getattr else None
            self.emit(ir.Op(value, get, (container, ir.Constant(key)), {}, spelling, self.found.location(node)))
            self.temporaries.add(value)
            found.append(value)
        return found

    def is_plain(self, arguments: Arguments) -> bool:
        """Nothing in these arguments carries a derivative or has been placed in the program."""
        things = [*arguments.positional, *arguments.keywords.values()]
        return not any(is_live(t, self) for t in things) and self.only_inert(things)

    # ------------------------------------------------------------------------------------- known callees

    def call_known(self, callee: Known, node):
        function = callee.value
        rule = table.lookup(function)
        if self.is_plain_function(function):
            return self.inert(node)
        if function is float and len(node.args) == 1 and not node.keywords:
            thing = self.expression(node.args[0])
            if is_active(thing) and is_one_number(self.type_of(thing)) and self.type_of(thing).is_real:
                return self.python_number(thing, callee.operand, node)
        if function is dict and len(node.args) == 1 and not node.keywords:
            return self.dict_copy(node)
        if function is dataclasses.replace and len(node.args) == 1:
            arguments = self.arguments(node)
            return self.inert(node) if self.is_plain(arguments) else self.with_other_fields(arguments, node)
        if function in self.session.plain(CONSUMING, function):
            self.used_up.update(map(id, node.args))
            node = self.consumed(node)
            if function is sorted:
                return self.sorted_list(node)
            if function is functools.reduce:
                return self.reduced(node)
            if function is list and len(node.args) == 1 and not node.keywords:
                return self.expression(node.args[0]) if isinstance(node.args[0], gast.ListComp) else self.list_of(node)
            if function in (max, min) and node.keywords:
                return self.extreme_of(function, node)
        if function in self.session.plain(LISTED, function):
            return self.listed_iterator(function, node)
        if function in (max, min) and not node.keywords and not any(isinstance(a, gast.Starred) for a in node.args):
            return self.extreme(function, node)
        if isinstance(function, np.ufunc) and sorted(str(k.arg) for k in node.keywords) == ["out", "where"]:
            out = next(k.value for k in node.keywords if k.arg == "out")
            if isinstance(out, gast.Call) and not self.may_be_active(out) and not self.facts(out, {})[3]:
                return self.masked(node)  # `out` is new
        if function is sum and len(node.args) == 1 and not node.keywords:
            return self.sum_of(self.expression(node.args[0]), node)
        arguments = self.arguments(node)
        if self.is_plain(arguments):
            return self.inert(node)
        if self.session.is_stop_gradient(function):
            return self.stop(arguments, callee, node)
        if rule is not None:
            return self.by_rule(function, arguments, node, callee.operand)
        return self.call(callee, arguments, node)

    def stop(self, arguments, callee, node):
        """``stop_gradient(x)``: the value of `x`, with no derivative."""
        (thing,) = arguments.positional
        operand = self.operand(thing)
        result = self.value("t", self.type_of(operand), False, self.regions_of(operand))
        label = self.label(operand, ()) if isinstance(operand, ir.Value) else "x"
        call = gast.Call(callee.operand.node, [gast.Name(label, gast.Load(), None, None)], [])
        self.emit(ir.Bind(result, ir.Code(call, {label: operand}, result.type), self.found.location(node)))
        self.temporaries.add(result)
        return result

    def by_rule(self, function, arguments: Arguments, node, spelling=None):
        rule = table.lookup(function)
        positional, keywords = list(arguments.positional), dict(arguments.keywords)
        if "out" in keywords and not is_none_operand(keywords["out"]):
            self.refuse(
                "out= of values that carry a derivative: arrays that are changed in place are not compiled", node
            )
        keywords.pop("out", None)
        for thing in [*positional, *keywords.values()]:
            if isinstance(thing, FUNCTIONS):
                self.refuse(f"{text(node.func)} is given a function that cannot be followed", node)
        if not any(is_active(t) for t in [*positional, *keywords.values()]):
            rule = None
        if rule is None:
            return self.inactive_call(function, positional, keywords, node, spelling)
        return self.op(function, positional, keywords, node, spelling)

    def inactive_call(self, function, positional, keywords, node, spelling):
        """A call of a known function none of whose (already placed) arguments carries a derivative."""
        if effects.writes_out(function, node) or effects.mutator(function) is not None:
            self.refuse(f"{text(node.func)} writes into one of its arguments", node)
        operands = tuple(map(self.operand, positional))
        named = {k: self.operand(t) for k, t in keywords.items()}
        result = self.value(
            "t", types.infer(function, operands, named), False, [r for o in operands for r in self.regions_of(o)]
        )
        self.emit(ir.Op(result, function, operands, named, spelling, self.found.location(node)))
        self.temporaries.add(result)
        return result

    def python_number(self, thing, spelling, node) -> ir.Value:
        """The Python number that a number is: to a derivative, the number itself."""
        t = self.type_of(thing)
        if t.dtype is None or t.dtype.startswith(("int", "uint", "bool")):
            self.refuse(f"which kind of number {text(node)} gives cannot be told", node)
        result = self.value("t", ir.FLOAT if t.is_real else dataclasses.replace(t, dtype="complex"), True)
        self.emit(ir.Op(result, operator.pos, (thing,), {}, spelling, self.found.location(node)))
        self.temporaries.add(result)
        return result

    # ------------------------------------------------------------------------------------------- methods

    def method(self, base, attr: str, node):
        t = self.type_of(base)
        if is_active(base) and t.kind in CONTAINERS:
            return self.container_method(base, attr, node)
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
        if t.kind is Kind.RECORD and attr in NAMEDTUPLE and is_namedtuple(t.cls):
            return self.namedtuple_method(base, attr, arguments, node)
        function = self.class_attribute(t, attr)
        if isinstance(function, FunctionType):
            known = Known(function, ir.Code(node.func, {}, ir.Type(Kind.CALLABLE)))
            first = [] if is_static(t.cls, attr) else [self.operand(base)]
            return self.followed(known, Arguments([*first, *arguments.positional], arguments.keywords), node)
        if attr in effects.MUTATING_METHODS:
            self.refuse(f"a value that carries a derivative is stored by .{attr}()", node)
        self.refuse(
            f"{text(node.func)} carries a derivative, but it is not known which function it is",
            node,
        )

    def array_method(self, base, attr, method, node):
        arguments = self.arguments(node)
        if not is_active(base) and self.is_plain(arguments):
            return self.inert(node)
        if not is_active(base) and self.type_of(base).kind is Kind.UNKNOWN:
            self.refuse(
                f"{text(node.func)} carries a derivative, but it is not known which function it is",
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
                self.refuse(f"the field .{attr} is called", node)
            if attr in NAMEDTUPLE and is_namedtuple(t.cls):
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
                first = [] if is_static(t.cls, attr) else [base]
                arguments = self.arguments(node)
                return self.followed(known, Arguments([*first, *arguments.positional], arguments.keywords), node)
        if t.kind is Kind.DICT and attr in READING_DICTS:
            return self.dict_method(base, attr, node)
        self.refuse(f"the method .{attr}() of a {t.kind.value} of values that carry a derivative is not compiled", node)

    # ------------------------------------------------------------------------------------ Python callees

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

    def function_defaults(self, callee: Known, tree) -> dict:
        """What the parameters of a function have as defaults: the objects that it holds."""
        function = callee.value
        found = {}
        names = [a.id for a in [*tree.args.posonlyargs, *tree.args.args]]
        values = function.__defaults__ or ()
        for i, (name, value) in enumerate(zip(names[len(names) - len(values) :], values, strict=True)):
            found[name] = self.default(value, callee, "__defaults__", i)
        for name, value in (function.__kwdefaults__ or {}).items():
            found[name] = self.default(value, callee, "__kwdefaults__", name)
        return found

    def held_by(self, callee: Known, attr: str, value) -> Known:
        """What a callable holds under an attribute."""
        code = attribute_code(callee.operand, attr)
        known = resolve.is_definition(value)
        t = ir.Type(Kind.CALLABLE) if known else self.outside._type(value, text(code.node))
        return Known(value, ir.Code(code.node, code.reads, t))

    def default(self, value, callee: Known, attribute: str, key):
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return ir.Constant(value)
        holder = attribute_code(callee.operand, attribute)
        node = gast.Subscript(holder.node, gast.Constant(key, None), gast.Load())
        place = f"{text(holder.node)}[{key!r}]"
        t = ir.Type(Kind.CALLABLE) if resolve.is_definition(value) else self.outside._type(value, place)
        return Known(value, ir.Code(node, holder.reads, t))

    def assign_parameters(self, tree, arguments: Arguments, defaults: dict, node) -> dict:
        """Which parameter gets what: Python's own rules of a call."""
        args = tree.args
        positional = [a.id for a in [*args.posonlyargs, *args.args]]
        keyword_only = [a.id for a in args.kwonlyargs]
        name = getattr(tree, "name", "the lambda")
        given = dict(zip(positional, arguments.positional, strict=False))
        rest = arguments.positional[len(positional) :]
        if rest and args.vararg is None:
            self.refuse(f"{name} takes {len(positional)} positional arguments", node)
        extra = {}
        for key, thing in arguments.keywords.items():
            if key in positional[len(args.posonlyargs) :] or key in keyword_only:
                if key in given:
                    self.refuse(f"{name} gets the argument {key} twice", node)
                given[key] = thing
            elif args.kwarg is not None:
                extra[key] = thing
            else:
                self.refuse(f"{name} has no argument {key}", node)
        for key in [*positional, *keyword_only]:
            if key not in given:
                if key not in defaults:
                    self.refuse(f"{name} is called without its argument {key}", node)
                given[key] = defaults[key]
        if args.vararg is not None:
            given[args.vararg.id] = self.container(
                types.sequence(Kind.TUPLE, [self.type_of(t) for t in rest]), rest, node
            )
        if args.kwarg is not None:
            t = ir.Type(Kind.DICT, items=tuple(self.type_of(v) for v in extra.values()), keys=tuple(extra))
            given[args.kwarg.id] = self.container(t, list(extra.values()), node)
        return given

    def container(self, type_, things, node):
        return self.make_container(type_, things, node)

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
        if nested.captured is None and missing - self.session.own_names(nested):
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
        regions = [] if result_type.kind is Kind.NUMBER or info.fresh else [self.anywhere]
        result = self.value(
            "t", result_type, active, [*regions, *(r for o in operands for r in self.regions_of(o) if regions)]
        )
        self.emit(ir.Call(result, callee, operands, self.found.location(node)))
        self.temporaries.add(result)
        return result

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

    def call_derivative(self, callee: Known, arguments: Arguments, node):
        """The call of a derivative object: its function is lowered, then differentiated."""
        specs, primal = derivatives(callee.value)
        if not isinstance(primal, FunctionType):
            self.refuse("the derivative of this kind of callable is not compiled inside of a function", node)
        operand = callee.operand
        for _ in specs:
            operand = attribute_code(attribute_code(operand, "__s2sgrad__"), "function")
        found = source.find(primal)
        defaults = self.function_defaults(Known(primal, operand), found.node)
        given = self.assign_parameters(found.node, arguments, defaults, node)
        wrt = tuple(positions(spec, found.node) for spec in specs)
        for name in {list(given)[i] for places in wrt for i in places}:
            t = self.type_of(given[name])
            if not numeric(t) or t.kind is Kind.OTHER:
                self.refuse(
                    f"the derivative with respect to {name}, which is no floating-point number or array here", node
                )
        key = (
            "gradient",
            id(primal.__code__),
            *map(id, primal.__closure__ or ()),
            tuple((s.kind, s.has_aux) for s in specs),
            wrt,
        )
        return self.call_lowered(found, given, key, node, function=primal, specs=tuple(zip(specs, wrt, strict=True)))

    def construct(self, cls, arguments: Arguments, node):
        """An instance of a dataclass or namedtuple of differentiated values, or of a plain class."""
        fields = record_fields(cls)
        if fields is None:
            made = self.construct_plain(cls, arguments, node)
            return self.no_rule(cls, node) if made is None else made
        given = {name: ir.Constant(value) for name, value in plain_defaults(cls).items()}
        given |= dict(zip(fields, arguments.positional, strict=False)) | arguments.keywords
        if set(given) != set(fields) or len(arguments.positional) > len(fields):
            self.refuse(f"{cls.__name__} needs all of its fields here: {', '.join(fields)}", node)
        things = [given[f] for f in fields]
        t = ir.Type(Kind.RECORD, items=tuple(map(self.type_of, things)), keys=tuple(fields), cls=cls)
        return self.make_container(t, things, node)


def is_static(cls, attr: str) -> bool:
    return isinstance(inspect.getattr_static(cls, attr), staticmethod)


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


def derivatives(function) -> tuple:
    """The specs of a derivative object, of the derivative object that it differentiates, …, and the primal."""
    specs = []
    while hasattr(function, "__s2sgrad__"):
        specs.append(function.__s2sgrad__)
        function = function.__s2sgrad__.function
    return specs, function


def positions(spec, tree) -> tuple:
    """The positions of the parameters that a derivative is taken with respect to."""
    args = tree.args
    if args.vararg is not None or args.kwarg is not None:
        raise CompileError("the derivative of a function with *args or **kwargs is not compiled inside of a function")
    order = [a.id for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    chosen = spec.argnums if isinstance(spec.argnums, (tuple, list)) else (spec.argnums,)
    return tuple(order.index(n) if isinstance(n, str) else n % len(order) for n in chosen)


def record_fields(cls) -> list | None:
    """The fields of a dataclass or namedtuple whose constructor does nothing but store them."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return list(cls._fields) if is_namedtuple(cls) else None
    if dataclasses.is_dataclass(cls) and not hasattr(cls, "__post_init__") and stores_plainly(cls):
        fields = dataclasses.fields(cls)
        plain = all(f.init and not f.kw_only for f in fields) and cls.__dataclass_params__.init
        return [f.name for f in fields] if plain else None
    return None


def is_namedtuple(cls) -> bool:
    """Is it a namedtuple that makes its instances, and copies of them, itself?"""
    plain = issubclass(cls, tuple) and cls.__new__.__module__.startswith("namedtuple_")
    return plain and all(getattr(cls, name).__module__ == "collections" for name in NAMEDTUPLE)


def stores_plainly(cls) -> bool:
    """Is it no code of the user's that makes an instance of a dataclass, and sets and gets its attributes?"""
    methods = [getattr(cls, n, None) for n in ("__init__", "__setattr__")]
    generated = [f is object.__setattr__ or f.__code__.co_filename == "<string>" for f in methods]
    asked = cls.__getattribute__ is object.__getattribute__ and not hasattr(cls, "__getattr__")
    return all(generated) and asked and cls.__new__ is object.__new__


def plain_defaults(cls) -> dict:
    """The fields of a dataclass whose default is a number, a text or None."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    plain = (bool, int, float, complex, str, type(None))
    return {f.name: f.default for f in fields if isinstance(f.default, plain)}


def is_none_operand(thing) -> bool:
    if isinstance(thing, Inert):
        return isinstance(thing.node, gast.Constant) and thing.node.value is None
    return isinstance(thing, ir.Constant) and thing.value is None


def attribute_code(operand, attr: str) -> ir.Code:
    """The attribute `attr` of an operand."""
    code = resolve.as_code(operand)
    return ir.Code(gast.Attribute(code.node, attr, gast.Load()), code.reads)


class Passing:
    """Carries arguments over into a callee: what is passed when the program runs, what is known before.

    `describe` gives each argument a hashable description (two calls with equal descriptions can share a
    callee) and gathers the operands that are passed; `enter` then makes, in the callee's environment,
    what the argument is there.
    """

    def __init__(self, caller, recursive=False):
        self.caller = caller
        self.recursive = recursive
        self.operands: list = []
        self.tokens: dict = {}
        self.back: list = []
        self.described: dict = {}
        self.slots: dict[int, tuple] = {}

    def describe(self, name, thing):
        constant = thing
        if isinstance(thing, Inert):
            thing = self.caller.place(thing, name)
            self.slots[id(constant)] = (constant, thing)
        if isinstance(thing, Nested):
            if id(thing) in self.described:
                return ("recursive", self.described[id(thing)])
            self.described[id(thing)] = len(self.described)
            parts = self.caller.captured(thing, thing.node)
            inner = tuple((n, self.describe(n, t)) for n, t in parts.items())
            defaults = tuple((n, self.describe(n, t)) for n, t in thing.defaults.items())
            return ("nested", id(thing.node), inner, defaults)
        if isinstance(thing, Bound):
            return ("bound", id(thing.function.value), self.describe(name, thing.instance))
        if isinstance(thing, Partial):
            parts = tuple([self.describe(name, one) for one in thing.parts()])
            return ("partial", len(thing.positional), tuple(thing.keywords), parts)
        if isinstance(thing, Choice):
            return ("choice", *[self.describe(name, one) for one in thing.parts()])
        self.operands.append(thing.operand if isinstance(thing, Known) else thing)
        if isinstance(thing, Known) and (
            resolve.is_definition(thing.value) or self.caller.type_of(thing).kind is Kind.OTHER
        ):
            return ("known", id(thing.value))
        literal = self.caller.literal(thing) if not isinstance(thing, Known) else None
        if isinstance(literal, ir.Constant) and (literal.value is None or isinstance(literal.value, (str, bool))):
            return ("constant", type(literal.value).__name__, literal.value)
        return ("value", self.type_there(self.caller.type_of(thing)), self.caller.activity(thing))

    def type_there(self, t: ir.Type) -> ir.Type:
        """`t` with its lengths named by numbers that depend on the other arguments only.

        What a function gives to itself has new lengths each time, as halves of halves: they get plain names there.
        """

        def there(name):
            if name not in self.tokens:
                self.tokens[name] = ("argument", len(self.tokens))
                self.back.append(name)
            return self.tokens[name]

        def axis_there(axis):
            return dataclasses.replace(axis, name=there(axis))

        return map_shapes(t, axis_there, there, whole=self.recursive)

    def type_here(self, t: ir.Type) -> ir.Type:
        """A type that holds in the callee, as it is for the caller."""
        fresh: dict = {}

        def here(name):
            if isinstance(name, tuple) and len(name) == 2 and name[0] == "argument" and name[1] < len(self.back):
                return self.back[name[1]]
            return fresh.setdefault(name, types.fresh())

        def axis_here(axis):
            found = here(axis.name)
            return found if isinstance(found, Axis) else dataclasses.replace(axis, name=found)

        return map_shapes(t, axis_here, here)

    def enter(self, name, thing, lowering, parameters: list, memo=None):
        """What `thing` is in the callee `lowering`; appends the parameters it needs, in the order of `operands`."""
        memo = {} if memo is None else memo
        if id(thing) in self.slots:
            thing = self.slots[id(thing)][1]
        if isinstance(thing, Nested):
            if id(thing) not in memo:
                memo[id(thing)] = inside = Nested(thing.node, thing.scope, {}, {})
                parts = self.caller.captured(thing, thing.node)
                for n, t in parts.items():
                    inside.captured[n] = self.enter(n, t, lowering, parameters, memo)
                inside.defaults = {n: self.enter(n, t, lowering, parameters, memo) for n, t in thing.defaults.items()}
            return memo[id(thing)]
        if isinstance(thing, Bound):
            return Bound(thing.function, self.enter(name, thing.instance, lowering, parameters, memo))
        if isinstance(thing, Partial):
            inside = [self.enter(name, one, lowering, parameters, memo) for one in thing.parts()]
            n = len(thing.positional) + 1
            return Partial(inside[0], inside[1:n], dict(zip(thing.keywords, inside[n:], strict=True)))
        if isinstance(thing, Choice):
            return Choice(*[self.enter(name, one, lowering, parameters, memo) for one in thing.parts()])
        if isinstance(thing, Known):
            value = lowering.parameter(name, self.type_there(self.caller.type_of(thing)), False)
            parameters.append(value)
            if resolve.is_definition(thing.value) or self.caller.type_of(thing).kind is Kind.OTHER:
                return Known(thing.value, value)
            return value
        t, active = self.type_there(self.caller.type_of(thing)), self.caller.activity(thing)
        value = lowering.parameter(name, t, active)
        literal = self.caller.literal(thing)
        if isinstance(literal, ir.Constant) and (literal.value is None or isinstance(literal.value, (str, bool))):
            lowering.constants[value] = literal
        parameters.append(value)
        return value


def map_shapes(t: ir.Type, axis, token, whole=False) -> ir.Type:
    """The type with each `Axis` with a plain name replaced, and the token of a shape of unknown dimension.

    Where `whole` is said, names that are built of others are not looked into.
    """
    items = None if t.items is None else tuple(map_shapes(i, axis, token, whole) for i in t.items)
    element = None if t.element is None else map_shapes(t.element, axis, token, whole)
    if items is None and element is None and (t.shape is None or t.shape == ()):
        return t
    if t.shape is None:
        shape = None
    elif t.ndim is not None and isinstance(t.shape, tuple):
        shape = tuple(
            [
                axis(n) if whole and isinstance(n, Axis) and n.name is not None else axes.renamed(n, axis)
                for n in t.shape
            ]
        )
    else:
        shape = token(t.shape)
    return dataclasses.replace(t, shape=shape, items=items, element=element)
