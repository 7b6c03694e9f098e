"""Lowers what gives functions: ``functools.partial``, calls of functions that return one that they define, choices.

Such functions exist only while compiling. A closure captures what its names stood for at the end of the
function that made it, whose body is lowered in place of the call.
"""

import functools
from types import FunctionType

import gast

from s2sgrad.rules import table
from s2sgrad.transform import classes, ir, walk
from s2sgrad.transform.frontend import resolve, source
from s2sgrad.transform.frontend.heap import keys_of
from s2sgrad.transform.frontend.kinds import BOOL, MISSING
from s2sgrad.transform.frontend.memory import makes_function
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.scan import root_names
from s2sgrad.transform.frontend.values import FUNCTIONS, Arguments, Bound, Choice, Inert, Nested, Partial, held_values
from s2sgrad.transform.ir import Kind

MOST_FUNCTIONS = 8  # in a table whose functions are called on ways of their own


class Functions:
    """The part of `Lowering` that deals with functions as values."""

    def applied(self, function, arguments: Arguments, node):
        """The call of any function with these arguments."""
        if isinstance(function, Known) and table.lookup(function.value) is not None:
            return self.by_rule(function.value, arguments, node, function.operand)
        return self.call(function, arguments, node)

    def function_named(self, node):
        """The function of these functions that an expression is; None for all else."""
        if isinstance(node, gast.Lambda):
            return self.nested(node)
        if isinstance(node, (gast.IfExp, gast.Subscript)):
            return self.function_chosen(node)
        thing = self.env.get(node.id) if isinstance(node, gast.Name) else self.function_made(node)
        thing = thing if isinstance(thing, FUNCTIONS) else self.function_held(node)
        return thing if isinstance(thing, FUNCTIONS) else self.method_bound(node)

    def method_bound(self, node) -> Bound | None:
        """The method of the user's that ``layer.forward`` is, with its object; None for all else."""
        t = self.type_at(node.value) if isinstance(node, gast.Attribute) else None
        if t is None or t.kind is not Kind.RECORD or classes.is_static(t.cls, node.attr):
            return None
        function = self.class_attribute(t, node.attr)
        if not isinstance(function, FunctionType) or resolve.is_trusted(function):
            return None
        instance = self.holder(node.value) or self.operand_at(node.value, t)
        method = Known(function, resolve.attribute_code(ir.Code(node.value), node.attr))
        return None if instance is None else Bound(method, instance)

    def function_held(self, node, bound=()):
        """The function that a name, a field or a literal place in a container surely stands for: its type tells.

        Nobody may change the container afterwards, unless it is followed what happens to it. None for all else.
        """
        t = self.type_at(node) if self.names.loads(node).isdisjoint(bound) else None
        operand = None if t is None or t.function is None else self.operand_at(node, t)
        if operand is None:
            return None
        if isinstance(t.function, Nested):
            return t.function
        self.outside.follow(t.function)
        return Known(t.function, operand)

    def operand_at(self, node, t: ir.Type):
        """What reads the thing of type `t` at a place in a container, which stays there; None if it may not."""
        found, reads = self.with_slots(node)
        reads |= {n: v for n in self.names.loads(found) if isinstance(v := self.env.get(n), ir.Value)}
        if isinstance(found, gast.Name):
            return reads[found.id]
        if any(region.freeze(self.loops) for value in reads.values() for region in self.regions_of(value)):
            return None
        return ir.Code(found, reads, t)

    def type_at(self, node) -> ir.Type | None:
        """The type of what a name, a field or a literal place in a container stands for; None where none is sure."""
        if isinstance(node, gast.Name):
            thing = self.env.get(node.id)
            return thing.type if isinstance(thing, ir.Value) else None
        item = self.held_item(node)
        if isinstance(item, ir.Value):
            return item.type
        if not isinstance(node, (gast.Attribute, gast.Subscript)) or root_names(node) & self.mutable:
            return None
        t = self.type_at(node.value)
        if t is None or t.items is None:
            return None
        keys = keys_of(t)
        if isinstance(node, gast.Attribute):
            key = node.attr if t.kind is Kind.RECORD else MISSING
        else:
            key = MISSING if t.kind is Kind.RECORD else self.literal_key(node.slice)
            key = key + len(keys) if t.kind is not Kind.DICT and type(key) is int and key < 0 else key
        return t.items[keys.index(key)] if key in keys else None

    def function_chosen(self, node):
        """The function that ``f if test else g`` is, or ``table[key]`` of a table of functions outside; else None."""
        match node:
            case gast.IfExp():
                functions = [self.function_there(n) for n in (node.body, node.orelse)]
                if None in functions:
                    return None
                test, decided = self.test(node.test)
                return Choice(test, *functions) if decided is None else functions[0 if decided else 1]
            case gast.Subscript(value=gast.Name() | gast.Attribute() | gast.Dict() | gast.List() | gast.Tuple()):
                return self.function_in_table(node)
        return None

    def function_there(self, node):
        """The function that an expression surely is, which is evaluated or not; None where it may be none."""
        thing = self.env.get(node.id) if isinstance(node, gast.Name) else None
        if thing is None:
            thing = self.function_named(node) if isinstance(node, (gast.Lambda, gast.IfExp)) else self.static(node)
        return thing if self.is_function(thing) else None

    def is_named_function(self, node) -> bool:
        """Is it a lambda, or the name of a function?"""
        thing = self.env.get(node.id) if isinstance(node, gast.Name) else None
        return isinstance(node, gast.Lambda) or self.is_function(thing) or self.is_function(self.static(node))

    @staticmethod
    def is_function(thing) -> bool:
        return isinstance(thing, FUNCTIONS) or (isinstance(thing, Known) and resolve.is_definition(thing.value))

    def function_in_table(self, node):
        """The function that a list, tuple or dict, of functions only, holds at a place that the run knows."""
        if root_names(node.value) & self.mutable or self.may_be_active(node.slice) or self.static(node) is not None:
            return None
        base = self.static(node.value)
        if base is None:
            functions = self.functions_in(node.value)
        else:
            functions = [(known, known.operand) for known in self.outside.elements(base) or ()]
        if not 0 < len(functions) <= MOST_FUNCTIONS:
            return None
        label = self.new_name("function")
        found = self.bind(self.inert(node), label)
        found.name = "function"
        *others, (chosen, _) = functions
        for one, operand in reversed(others):
            code = resolve.as_code(operand)
            same = gast.Compare(gast.Name(label, gast.Load(), None, None), [gast.Is()], [code.node])
            chosen = Choice(ir.Code(same, {label: found, **code.reads}, BOOL), one, chosen)
        return chosen

    def functions_in(self, node) -> list:
        """The functions that a container of the program holds, if it holds nothing else, each with what reads it."""
        if isinstance(node, (gast.Dict, gast.List, gast.Tuple)):
            parts = [self.static(part) for part in (node.values if isinstance(node, gast.Dict) else node.elts)]
            found = [(known, known.operand) for known in parts if known is not None and self.is_function(known)]
            return found if len(found) == len(parts) else []
        t = self.type_at(node)
        keys = keys_of(t) if t is not None and t.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) and t.items else ()
        places = [self.located(gast.Subscript(node, gast.Constant(key, None), gast.Load()), node) for key in keys]
        found = [self.function_held(place) for place in places]
        if None in found:
            return []
        return [(one, self.operand_at(place, self.type_at(place))) for one, place in zip(found, places, strict=True)]

    def outside_of(self, thing, block: ir.Block):
        """A function that a name stands for at the end of a block, as it is outside of that; None where it is none."""
        if not self.is_function(thing):
            return None
        if isinstance(thing, Known) and isinstance(thing.operand, ir.Value):
            bound = (s for s in walk.statements(block) if isinstance(s, ir.Bind) and s.target is thing.operand)
            return next((Known(thing.value, s.code) for s in bound if not s.code.reads), thing)
        return thing if walk.defined(block).isdisjoint(held_values(thing)) else None

    def call_chosen(self, choice: Choice, arguments: Arguments, node):
        """The call of a function that a test chooses: an `If` with a call on each way."""
        positional = [self.operand(t, "t") if isinstance(t, Inert) else t for t in arguments.positional]
        keywords = {k: self.operand(t, "t") if isinstance(t, Inert) else t for k, t in arguments.keywords.items()}

        def called(function):
            return self.perhaps(lambda: self.applied(function, Arguments([*positional], {**keywords}), node), node)

        (then, first), (orelse, second) = called(choice.first), called(choice.second)
        return self.choose(choice.test, then, first, orelse, second, node)

    def function_made(self, node):
        """The function that a call gives; None for calls that give anything else, or a function not followed."""
        if not isinstance(node, gast.Call) or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        if any(k.arg is None for k in node.keywords):
            return None
        callee = self.env.get(node.func.id) if isinstance(node.func, gast.Name) else None
        if isinstance(callee, Nested):
            return self.closure_of_nested(callee, node)
        known = self.static(node.func)
        if known is None:
            return None
        if known.value is functools.partial:
            return self.partial_made(node)
        if isinstance(known.value, FunctionType) and not resolve.is_trusted(known.value):
            return self.closure(known, node)
        return None

    def partial_made(self, node):
        if not node.args:
            return None
        first = self.function_named(node.args[0])
        if first is None:
            first = self.static(node.args[0])
            if first is None or not resolve.is_definition(first.value):
                return None
        positional = self.expressions([*node.args[1:], *(k.value for k in node.keywords)])
        positional = [self.operand(t, "t") if isinstance(t, Inert) else t for t in positional]
        n = len(node.args) - 1
        return Partial(first, positional[:n], {k.arg: t for k, t in zip(node.keywords, positional[n:], strict=True)})

    def closure(self, known: Known, node):
        function = known.value
        if function.__closure__ or hasattr(function, "__s2sgrad__") or hasattr(function, "__wrapped__"):
            return None
        found = source.find(function)
        if not makes_function(found.node) or not self.means_the_same(function):
            return None
        self.outside.follow(function)
        return self.closure_made(found, self.function_defaults(known, found.node), {}, node)

    def closure_of_nested(self, nested: Nested, node):
        tree = nested.node
        if not makes_function(tree) or nested.scope is not self or nested.captured is not None:
            return None
        captured = self.captured(nested, node)
        if any(self.bindings.get(name, 0) != 1 for name in captured):
            return None  # the function that is made would see what the name stands for later
        found = source.Found(tree, nested.name, self.found.file, self.found.lines, self.found.first_line)
        return self.closure_made(found, nested.defaults, captured, node)

    def closure_made(self, found, defaults: dict, captured: dict, node):
        """The function that the body of `found`, lowered here, returns."""
        tree = found.node
        own = self.names.captured(tree) - captured.keys()
        if own & (self.local | {name.partition("@")[0] for name in self.env}):
            return None  # a global of the one is a local of the other
        if any(one is tree for one in self.bodies) or len(self.bodies) > 4:
            return None
        given = self.assign_parameters(tree, self.arguments(node), defaults, node)
        inner, result = self.lowered_here(found, tree, captured | given, gives_function=True)
        if not isinstance(result, Nested):
            self.refuse(f"what {found.name} returns cannot be followed", node)
        self.close(result, inner)
        return result

    def close(self, nested: Nested, scope) -> None:
        """Let a nested function, and those that it captures, keep what their names stand for in `scope` now."""
        if nested.scope is not scope or nested.captured is not None:
            return
        names = [n for n in sorted(scope.names.captured(nested.node)) if n in scope.local and n in scope.env]
        nested.captured = {n: scope.env[n] for n in names}
        nested.value = None
        for thing in nested.captured.values():
            if isinstance(thing, Nested):
                self.close(thing, scope)
