"""Where the reverse pass keeps the cotangents that it has collected so far.

Containers whose items are known never exist as cotangents while the pass runs: each leaf has a slot of
its own, ``(value, path)``, and what is added to a slot is an ordinary number or array. A container is
put together where one is handed on: as a gradient, to a function, to a rule.
"""

from dataclasses import dataclass

from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis.types import REAL, of_any_layout, type_of
from s2sgrad.transform.ir import Type, Value
from s2sgrad.transform.reverse.activity import carries, item, keys

Slot = tuple[Value, tuple]


@dataclass(frozen=True, slots=True)
class Cotangent:
    """What was collected in a slot.

    Attributes
    ----------
    operand : Value or Constant
    owned : bool
        A buffer that the pass made for this slot alone: added to in place.
    partial : bool
        A container, some leaves of which may be None for zero.
    """

    operand: ir.Operand
    owned: bool = False
    partial: bool = False


def leaves(t: Type, path: tuple = ()):
    """The paths and types of the leaves of a value of type `t` that can carry a derivative.

    Examples
    --------
    >>> list(leaves(ir.Type(ir.Kind.TUPLE, items=(ir.FLOAT, ir.INT)))) == [((0,), ir.FLOAT)]
    True
    """
    known = keys(t)
    if known is None:
        if carries(t):
            yield path, t
        return
    for key in known:
        yield from leaves(item(t, key), (*path, key))


def cotangent_type(t: Type) -> Type:
    """The type of a cotangent of a value of type `t`, where nothing else is known.

    The one of a number is a number, the one of an array without axes may be either.
    """
    if t.kind is ir.Kind.ARRAY and not t.ndim:
        return Type(dtype=REAL if t.is_real else None, ndim=t.ndim, shape=t.shape)
    if t.kind in (ir.Kind.NUMBER, ir.Kind.ARRAY):
        return Type(t.kind, None if not t.is_real else REAL, t.ndim, t.shape)
    if t.kind is ir.Kind.UNKNOWN:
        return Type(dtype=REAL if t.is_real else None)
    return container_type(t, None) if keys(t) is not None else Type(ir.Kind.DICT if t.kind is ir.Kind.DICT else t.kind)


def container_type(t: Type, items) -> Type:
    """The type of the container that the cotangents of the items of a `t` are put together in."""
    known = keys(t)
    inner = tuple(cotangent_type(item(t, k)) for k in known) if items is None else tuple(map(type_of, items))
    if t.kind is ir.Kind.DICT or (t.kind is ir.Kind.RECORD and not issubclass(t.cls, tuple)):
        return Type(ir.Kind.DICT, items=inner, keys=known)
    return Type(ir.Kind.LIST if t.kind is ir.Kind.LIST else ir.Kind.TUPLE, items=inner)


def holds_records(t: Type) -> bool:
    """Is it a record whose cotangent is a dict, or a container of such records?"""
    if t.kind is ir.Kind.RECORD and not issubclass(t.cls, tuple):
        return True
    return any(map(holds_records, t.items or ())) or (t.element is not None and holds_records(t.element))


def slot_type(slot: Slot) -> Type:
    """The type of the value that a slot is of."""
    value, path = slot
    t = value.type
    for key in path:
        t = item(t, key)
    return t


def slot_name(slot: Slot) -> str:
    """What the cotangent of a slot wants to be called."""
    value, path = slot
    name = value.name
    for i, key in enumerate(path):
        if isinstance(key, str) and key.isidentifier():
            name = key
        else:
            name += f"{'_' * (i > 0)}{key}" if isinstance(key, int) else ""
    return cotangent_name(name)


MARK = "∂"  # in the name of a cotangent, until all are named: no name of the user's begins with it


def cotangent_name(name: str) -> str:
    """What the cotangent of something of that name wants to be called, before `name_cotangents`."""
    return MARK + name


def name_cotangents(blocks, parameters, names: set) -> None:
    """Call the cotangents ``dx``, or ``d_x`` where that could be taken for a name of the user's.

    It could where the program has a name that begins like one: ``dt`` beside ``t``, or any ``dt``, ``dx`` or ``dy``,
    which are steps as a rule.

    Parameters
    ----------
    blocks : iterable of Block
        Where cotangents are made.
    parameters : iterable of Value
    names : set of str
        The names of what the cotangents are of.
    """
    prefix = next(p for p in _PREFIXES if not any(_is_like(name, p, names) for name in names))
    defined = [v for block in blocks for s in walk.statements(block) for v in (*walk.defines(s), *walk.enters(s))]
    for value in (*parameters, *defined):
        if value.name.startswith(MARK):
            value.name = prefix + value.name.removeprefix(MARK)


_PREFIXES = [f"d{'_' * n}" for n in range(9)]  # each order of derivatives of one function takes one more


def _is_like(name: str, prefix: str, names: set) -> bool:
    rest = name.removeprefix(prefix)
    return rest != name and (len(rest) == 1 or rest in names)


class Scope:
    """The cotangents collected in one block.

    What a block inside adds to a value from outside starts from what the blocks around have collected.
    """

    def __init__(self, outer: "Scope | None" = None, local: set = frozenset()):
        self.outer = outer
        self.local = local
        self.cotangents: dict[Slot, Cotangent] = {}

    def get(self, slot: Slot) -> Cotangent | None:
        found = self.cotangents.get(slot)
        if found is not None or self.outer is None or slot[0] in self.local:
            return found
        return self.inherit(slot)

    def inherit(self, slot: Slot) -> Cotangent | None:
        return self.outer.get(slot)

    def set(self, slot: Slot, cotangent: Cotangent) -> None:
        self.cotangents[slot] = cotangent

    def pop(self, slot: Slot) -> Cotangent | None:
        return self.cotangents.pop(slot, None)


class LoopScope(Scope):
    """The cotangents collected in one iteration; what goes to values from outside is carried along."""

    def __init__(self, outer: Scope, local: set):
        super().__init__(outer, local)
        self.accumulators: dict[Slot, Value] = {}

    def inherit(self, slot: Slot) -> Cotangent:
        t = slot_type(slot)
        # a buffer is of the value's type; what is added up to a number may be Python's, too
        kept = number_list() if is_of_numbers(t) else of_any_layout(t)
        parameter = Value(slot_name(slot), kept if has_buffer(t) else cotangent_type(t))
        self.accumulators[slot] = parameter
        found = Cotangent(parameter, owned=has_buffer(t), partial=is_container(t) and not is_of_numbers(t))
        self.cotangents[slot] = found
        return found


def is_container(t: Type) -> bool:
    return t.kind in (ir.Kind.TUPLE, ir.Kind.LIST, ir.Kind.DICT, ir.Kind.RECORD)


def is_of_numbers(t: Type) -> bool:
    """A list of real numbers: where only the run knows which is meant, its cotangent is a list of numbers, too."""
    held = ((t.element,) if t.items is None else t.items) if t.kind is ir.Kind.LIST else ()
    return bool(held) and all(x is not None and x.kind is ir.Kind.NUMBER and x.is_real for x in held)


def number_list() -> Type:
    """The type of the cotangent of a list of numbers where it is added to in place."""
    return Type(ir.Kind.LIST, element=Type(ir.Kind.NUMBER, REAL, 0, ()))


def is_stack(t: Type) -> bool:
    """A list of which only the run knows how long it is: its cotangent is a list that grows and shrinks with it."""
    return t.kind is ir.Kind.LIST and keys(t) is None


def stack_type(t: Type) -> Type:
    """The type of a list of cotangents that may be anybody's, of the elements of a `t`: none is added to in place."""
    return Type(ir.Kind.LIST, element=Type(ir.Kind.NUMBER, REAL) if is_of_numbers(t) else None)


def has_buffer(t: Type) -> bool:
    """Whether the cotangent of such a value can be added to in place."""
    return t.kind in (ir.Kind.ARRAY, ir.Kind.LIST, ir.Kind.TUPLE, ir.Kind.DICT)
