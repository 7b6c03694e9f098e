"""Carries the arguments of a call over into the function that is called."""

import dataclasses

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.analysis.axes import Axis
from s2sgrad.transform.frontend import resolve
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import Bound, Choice, Inert, Nested, Partial
from s2sgrad.transform.ir import Kind


@dataclasses.dataclass(frozen=True)
class Argument:
    """A name in the callee for a length, or for a whole shape, of the arguments."""

    number: int


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
                self.tokens[name] = Argument(len(self.tokens))
                self.back.append(name)
            return self.tokens[name]

        def axis_there(axis):
            return dataclasses.replace(axis, name=there(axis))

        return map_shapes(t, axis_there, there, whole=self.recursive)

    def type_here(self, t: ir.Type) -> ir.Type:
        """A type that holds in the callee, as it is for the caller."""
        fresh: dict = {}

        def here(name):
            if isinstance(name, Argument) and name.number < len(self.back):
                return self.back[name.number]
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
