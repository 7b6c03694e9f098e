"""What a local name or an expression can stand for while a function is lowered.

Beside the values of the intermediate language there are things that exist only while compiling: known
objects (`resolve.Known`), functions defined inside the function, methods bound to a value, functions that a
test chooses, expressions not yet placed, and names that may not be bound.
"""

from dataclasses import dataclass, field

import gast

from s2sgrad.transform import ir


@dataclass(slots=True, eq=False)
class Inert:
    """An expression that no derivative flows through, not yet placed in the program.

    Attributes
    ----------
    node, reads, type
        As in `ir.Code`.
    cheap : bool
        It may be computed again.
    pure : bool
        It may be left out, or moved past other statements.
    regions : list of Region
        The memory that its value may share; empty for what is new or immutable.
    """

    node: gast.AST
    reads: dict
    type: ir.Type
    cheap: bool
    pure: bool
    regions: list

    def code(self) -> ir.Code:
        return ir.Code(self.node, self.reads, self.type)


@dataclass(slots=True, eq=False)
class Nested:
    """A function or lambda defined in the function that is lowered.

    Attributes
    ----------
    node : gast.FunctionDef or gast.Lambda
    scope : Lowering
        Where it was defined.
    defaults : dict
        Parameter name to what its default was at the definition.
    captured : dict or None
        What its free local names stand for; None while its scope runs and the names are looked up there.
    value : ir.Value or None
        The function itself, where the generated code defines it too.
    """

    node: gast.AST
    scope: object
    defaults: dict
    captured: dict | None = None
    value: ir.Value | None = None

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")


@dataclass(slots=True, eq=False)
class Bound:
    """A method together with the value it is called on."""

    function: object  # Known
    instance: object  # an operand


@dataclass(slots=True, eq=False)
class Partial:
    """What ``functools.partial(function, *positional, **keywords)`` gives."""

    function: object  # Known, Nested, Bound or Partial
    positional: list
    keywords: dict

    def parts(self) -> list:
        return [self.function, *self.positional, *self.keywords.values()]


@dataclass(slots=True, eq=False)
class Choice:
    """The one of two functions that a test chooses when the program runs."""

    test: object  # an operand
    first: object  # a function: Known, or one of these
    second: object

    def parts(self) -> list:
        return [self.test, self.first, self.second]


FUNCTIONS = (Nested, Bound, Partial, Choice)  # functions that exist only while compiling


@dataclass(slots=True, eq=False)
class Unbound:
    """A name that may have no value here, or none that can be followed.

    Attributes
    ----------
    reason : str
    unset : bool
        It has surely none: what may bind it, and does not, leaves nothing to be read.
    """

    reason: str
    unset: bool = False


def is_unset(thing) -> bool:
    """Has a name that stands for `thing` surely no value?"""
    return thing is None or (isinstance(thing, Unbound) and thing.unset)


def is_lost(thing) -> bool:
    """May a name that stands for `thing` have a value that cannot be followed?"""
    return isinstance(thing, Unbound) and not thing.unset


@dataclass(slots=True, eq=False)
class Arguments:
    """The arguments of a call, evaluated."""

    positional: list = field(default_factory=list)
    keywords: dict = field(default_factory=dict)


def held_values(thing, seen=()) -> set:
    """The values that a function holds: what it is bound to, applied to, or captures."""
    if isinstance(thing, ir.Value):
        return {thing}
    parts: list = []
    if isinstance(thing, (Partial, Choice)):
        parts = thing.parts()
    elif isinstance(thing, Bound):
        parts = [thing.instance]
    elif isinstance(thing, Nested) and thing not in seen:
        parts, seen = [*thing.defaults.values(), *(thing.captured or {}).values()], (*seen, thing)
    elif isinstance(thing, (ir.Code, Inert)):
        parts = list(thing.reads.values())
    return set().union(*(held_values(part, seen) for part in parts))


def functions_held(thing) -> set:
    """The values that the functions hold which the type of a value tells of: those in a container."""
    return _held_by_type(thing.type) if isinstance(thing, ir.Value) else set()


def _held_by_type(t: ir.Type) -> set:
    own = held_values(t.function) if isinstance(t.function, FUNCTIONS) else set()
    inner = [*(t.items or ()), *((t.element,) if t.element is not None else ())]
    return own.union(*map(_held_by_type, inner))
