"""What an index takes out of an array or a container."""

import operator

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes
from s2sgrad.transform.analysis.types.calls import handles
from s2sgrad.transform.analysis.types.objects import axes_of, join_elements, of
from s2sgrad.transform.analysis.types.operands import OPEN, constant, length_of, literal_of, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, one_array
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


@handles(operator.getitem)
def _getitem(container, index) -> Type:
    t = type_of(container)
    if t.kind in (Kind.LIST, Kind.TUPLE) or (t.kind is Kind.RECORD and t.cls is not None and issubclass(t.cls, tuple)):
        return _element(t, index)
    if t.kind is Kind.DICT:
        key = constant(index)
        if t.keys is None:
            return UNKNOWN
        try:
            return t.items[t.keys.index(key)] if key in t.keys else join_elements(t) or UNKNOWN
        except ValueError:
            return UNKNOWN
    if t.kind is Kind.ARRAY:
        return _indexed(t, index)
    return Type(dtype=t.dtype) if t.kind is Kind.UNKNOWN else UNKNOWN


def _element(t: Type, index) -> Type:
    place = constant(index)
    kind = Kind.TUPLE if t.kind is Kind.RECORD else t.kind
    if isinstance(place, slice):
        return Type(kind, element=t.element) if t.items is None else Type(kind, items=t.items[place])
    if isinstance(place, int) and t.items is not None:
        return t.items[place] if -len(t.items) <= place < len(t.items) else UNKNOWN
    if isinstance(index, ir.Code) and isinstance(index.node, gast.Slice):
        bounds = [
            b if b is None else literal_of(b, OPEN) for b in (index.node.lower, index.node.upper, index.node.step)
        ]
        if t.items is not None and OPEN not in bounds:
            return Type(kind, items=t.items[slice(*bounds)])
        return Type(kind, element=join_elements(t))
    if place is OPEN and type_of(index).kind is not Kind.NUMBER:
        return UNKNOWN  # may be a slice
    return join_elements(t) or UNKNOWN


# What one entry of an index is: one of these, a slice (its bounds literal or OPEN), or the type of an index array.
INTEGER, NEW, ELLIPSIS = "integer", "new", "ellipsis"


def _indexed(t: Type, index) -> Type:
    entries = entries_of(index)
    if entries == [ELLIPSIS]:
        return t
    if entries is None or None in entries or (t.ndim is None and INTEGER in entries):
        return Type(dtype=t.dtype)
    if t.ndim is None:
        return Type(Kind.ARRAY, t.dtype)
    consumed = sum([axes_consumed(entry) for entry in entries])
    if consumed > t.ndim:
        return UNKNOWN
    dotted = ELLIPSIS in entries
    entries = entries if dotted else [*entries, ELLIPSIS]
    is_advanced = any(isinstance(entry, Type) for entry in entries)
    shape: list = []
    chosen: list = []  # the shapes of the index arrays
    place, apart, last = None, False, None  # where their axes go; whether something stands between them
    axis = 0
    for i, entry in enumerate(entries):
        if entry is ELLIPSIS:
            rest = t.ndim - consumed
            shape += axes_of(t)[axis : axis + rest]
            axis += rest
        elif entry is NEW:
            shape.append(1)
        elif isinstance(entry, slice):
            n = axes_of(t)[axis]
            bounds = (entry.start, entry.stop, entry.step)
            shape.append(_open_part(n, index, axis) if OPEN in bounds else axes.part(n, *bounds))
            axis += 1
        else:
            if is_advanced:
                place = len(shape) if place is None else place
                apart = apart or (last is not None and last != i - 1)
                last = i
            if isinstance(entry, Type):
                chosen.append((axes.ANY,) if entry.dtype == "bool" else axes_of(entry))
            axis += axes_consumed(entry)
    if is_advanced:
        place = 0 if apart else place
        shape[place:place] = axes.broadcast(chosen)
    if not shape and is_advanced:
        return Type(dtype=t.dtype)
    if not shape and not dotted:
        return Type(Kind.NUMBER, t.dtype, 0, ())
    return one_array(t.dtype, shape=tuple(shape))


def _open_part(n, index, axis: int):
    """The length of a slice of an axis whose bounds are no literals."""
    slices = slices_of(index)
    bounds = slices[axis] if slices is not None and axis < len(slices) else Ellipsis
    lengths = lengths_of(bounds)
    return axes.ANY if lengths is None or not axes.is_named(n) else axes.between(n, *lengths)


def lengths_of(bounds) -> tuple | None:
    """The lengths that the bounds of a slice are, as `slices_of` has them; None where one of them is not known."""
    if bounds in (None, Ellipsis) or bounds[2] is not None:
        return None
    low, high = (bound and bound[2] for bound in bounds[:2])
    known = all(length is None or axes.is_named(length) for length in (low, high))
    return (low or 0, high) if known else None


def slices_of(index) -> list | None:
    """What a basic index takes of each axis: None for an integer, else the bounds of a slice.

    A bound is what its code is made of, the syntax and the values that it reads, and the length that it surely is.
    Ellipsis stands for bounds of which nothing is known. None where the index is something else.
    """
    if not isinstance(index, ir.Code):
        return None
    nodes = index.node.elts if isinstance(index.node, gast.Tuple) else [index.node]
    found: list = []
    for node in nodes:
        if isinstance(node, gast.Slice):
            bounds = tuple([_bound(b, index.reads) for b in (node.lower, node.upper, node.step)])
            found.append(Ellipsis if Ellipsis in bounds else bounds)
        elif _node_entry(node, index.reads) is INTEGER:
            found.append(None)
        else:
            return None
    return found


_ONE_MORE = gast.dump(gast.BinOp("low", gast.Add(), gast.Constant(1, None)))


def is_single(bounds) -> bool:
    """Are the bounds those of ``i:i + 1``, which is one entry, or none?"""
    if bounds is Ellipsis or bounds[2] is not None or None in bounds[:2]:
        return False
    (low, reads, _), (high, others, _) = bounds[:2]
    return reads == others and high == _ONE_MORE.replace("'low'", low)


def _bound(node, reads: dict):
    """A bound of a slice as something that is equal where the bounds surely are."""
    parts = list(gast.walk(node)) if node is not None else []
    names = [part.id for part in parts if isinstance(part, gast.Name)]
    plain = gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop, gast.expr_context
    if not all(isinstance(part, plain) for part in parts) or not reads.keys() >= set(names):
        return Ellipsis
    if any(reads[name].type.kind is not Kind.NUMBER for name in names):
        return Ellipsis
    if node is None:
        return None
    return gast.dump(node), tuple([reads[name] for name in names]), length_of(ir.Code(node, reads))


def axes_consumed(entry) -> int:
    """How many axes an entry of an index takes."""
    if entry is NEW or entry is ELLIPSIS:
        return 0
    return entry.ndim if isinstance(entry, Type) and entry.dtype == "bool" else 1


def entries_of(index) -> list | None:
    """What each entry of an index is; None for an entry that is not known."""
    value = constant(index)
    if value is not OPEN:
        values = value if isinstance(value, tuple) else (value,)
        return [_literal_entry(v) for v in values]
    if isinstance(index, ir.Code):
        node = index.node
        nodes = node.elts if isinstance(node, gast.Tuple) else [node]
        if len(nodes) == 1 and nodes[0] is node:
            by_type = _typed_entry(index.type)
            if by_type is not None:
                return [by_type]
            if index.type.kind is Kind.TUPLE and index.type.items is not None:
                return [_typed_entry(item) for item in index.type.items]
            if isinstance(node, gast.Name) and node.id in index.reads:
                return entries_of(index.reads[node.id])
        found = [_node_entry(n, index.reads) for n in nodes]
        items = index.type.items or ()
        if len(items) == len(found):  # what else is said of a part that its syntax does not tell
            found = [_typed_entry(item) if entry is None else entry for entry, item in zip(found, items, strict=True)]
        return found
    t = type_of(index)
    if t.kind is Kind.TUPLE:
        return [_typed_entry(item) for item in t.items] if t.items is not None else None
    return [_typed_entry(t)]


def _literal_entry(value):
    if value is None:
        return NEW
    if value is Ellipsis:
        return ELLIPSIS
    return value if isinstance(value, slice) else _typed_entry(of(value))


def _typed_entry(t: Type):
    if t.kind is Kind.OTHER and t.cls is slice:
        return slice(OPEN, OPEN, OPEN)
    t = array_like(t)
    if not (t.dtype or "").startswith(("int", "uint", "bool")):
        return None
    if t.kind is Kind.NUMBER:
        return None if t.dtype == "bool" else INTEGER
    if t.kind is Kind.ARRAY and t.ndim:
        return t
    return None


def _node_entry(node, reads):
    if isinstance(node, gast.Slice):
        return slice(*[None if b is None else literal_of(b, OPEN) for b in (node.lower, node.upper, node.step)])
    if isinstance(node, gast.Constant):
        return _literal_entry(node.value)
    if isinstance(node, gast.Attribute) and node.attr == "newaxis":
        return NEW
    if isinstance(node, gast.Name):
        return _typed_entry(reads[node.id].type) if node.id in reads else None
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _node_entry(node.operand, reads)
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)):
        sides = {_node_entry(node.left, reads), _node_entry(node.right, reads)}
        return INTEGER if sides == {INTEGER} else None
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "len":
        return INTEGER
    return None
