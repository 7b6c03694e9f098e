"""Lowers calls: what is called, its arguments, and what has a rule."""

import dataclasses
import functools
import operator

import gast
import numpy as np

from s2sgrad.rules import table
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import effects, resolve
from s2sgrad.transform.frontend.kinds import SEQUENCES, is_active, is_live, is_one_number, numeric, text
from s2sgrad.transform.frontend.positions import CONSUMING, LISTED
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import FUNCTIONS, Arguments, Inert
from s2sgrad.transform.ir import Kind


class Calls:
    """The part of `Lowering` that finds out what a call calls."""

    def expression_Call(self, node):
        node = self.as_method_call(node)
        held = self.function_held(node.func)
        if held is None and isinstance(node.func, gast.Attribute) and self.static(node.func) is None:
            base = self.expression(node.func.value)
            if not isinstance(base, Known):
                return self.method(base, node.func.attr, node)
            if not resolve.is_definition(base.value):
                return self.method(base.operand, node.func.attr, node)
        callee = self.env.get(node.func.id) if isinstance(node.func, gast.Name) and held is None else held
        if held is None and not isinstance(callee, FUNCTIONS):
            callee = self.expression(node.func)
        if isinstance(callee, Known):
            return self.call_known(callee, node)
        if isinstance(callee, FUNCTIONS):
            return self.call(callee, self.arguments(node), node)
        if self.type_of(callee).kind is Kind.RECORD:  # what makes the object is not evaluated again
            name = self.new_name("called")
            self.env[name] = self.operand(callee, "called")
            named = gast.copy_location(gast.Name(name, gast.Load(), None, None), node)
            return self.expression_Call(gast.copy_location(gast.Call(named, node.args, node.keywords), node))
        arguments = self.arguments(node)
        if self.is_plain(arguments):
            return self.inert(node)
        self.refuse(
            f"the call of {text(node.func)} carries a derivative, but it is not known which function it is",
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
            self.at_once.update(map(id, node.args))
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
        written = self.written_anew(node)
        if written is not None:
            return written
        if function is sum and len(node.args) == 1 and not node.keywords:
            return self.sum_of(self.expression(node.args[0]), node)
        arguments = self.arguments(node)
        if self.is_plain(arguments):
            return self.inert(node)
        if self.session.is_stop_gradient(function):
            return self.stop(arguments, callee, node)
        if rule is not None:
            return self.by_rule(function, arguments, node, callee.operand)
        ufunc = getattr(function, "__self__", None)
        if isinstance(ufunc, np.ufunc) and function == ufunc.outer:
            return self.outer(ufunc, arguments, node)
        return self.call(callee, arguments, node)

    def outer(self, ufunc, arguments: Arguments, node):
        """``np.maximum.outer(a, b)`` as ``np.maximum(a[:, None], b)``."""
        kinds = [self.type_of(thing) for thing in arguments.positional]
        known = [t.kind in (Kind.NUMBER, Kind.ARRAY) and t.ndim is not None for t in kinds]
        if arguments.keywords or known != [True, True]:
            self.refuse(f"{text(node.func)} of these is not compiled", node)
        # a number is of a type of its own there
        a, b = [
            self.op(np.asarray, [thing], {}, node) if t.kind is Kind.NUMBER else thing
            for thing, t in zip(arguments.positional, kinds, strict=True)
        ]
        if kinds[1].ndim:
            a = self.op(operator.getitem, [a, ir.Constant((Ellipsis, *[None] * kinds[1].ndim))], {}, node)
        return self.op(ufunc, [a, b], {}, node)

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

    def container(self, type_, things, node):
        return self.make_container(type_, things, node)


def is_none_operand(thing) -> bool:
    if isinstance(thing, Inert):
        return isinstance(thing.node, gast.Constant) and thing.node.value is None
    return isinstance(thing, ir.Constant) and thing.value is None
