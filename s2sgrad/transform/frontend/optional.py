"""Names that are None first and a number later: ``best = None; ...; if best is None or v > best: best = v``.

So are attributes of objects and entries of containers, which have slots.

Such a name stands for a value with the type of the number, and is noted in `maybe`. It may be read where it
is surely a number (by a test around it), and where None would be an error in a plain call too: by operators.
"""

from contextlib import contextmanager

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.frontend.heap import keys_of
from s2sgrad.transform.frontend.kinds import is_active, text
from s2sgrad.transform.ir import Kind


def is_optional(t: ir.Type) -> bool:
    """Is it a type of numbers that may also be None? (There is a zero of it without an example.)"""
    return t.kind is Kind.NUMBER and t.is_real


class Optional:
    """The part of `Lowering` that deals with names that may be None.

    Attributes of `Lowering`: `maybe`, the values that may be None; `needed`, the ids of the names and slots in
    the text for which None would be an error.
    """

    def optional_of(self, a, b):
        """The one of two things that is a differentiated number, where the other one is None, or may be."""
        for one, other in ((a, b), (b, a)):
            if is_active(one) and is_optional(one.type) and self.is_none(other) is True:
                return one
        return None

    def same_optional(self, new: ir.Value, *olds) -> None:
        """`new` is one of `olds`: it may be None where they may be."""
        if any(isinstance(old, ir.Value) and old in self.maybe for old in olds):
            self.maybe.add(new)

    def read_optional(self, node, thing) -> None:
        """A name or slot that may be None is read: refused where that would not be noticed, asked elsewhere."""
        if not isinstance(thing, ir.Value) or thing not in self.maybe:
            return
        if id(node) not in self.needed:
            self.refuse(f"{text(node)} may be None here", node)
        asked = thing, id(self.statements)
        if id(node) not in self.renaming and asked not in self.asked:
            self.asked.add(asked)  # `+None` is an error of the kind that the operation itself would be
            label = node.id if isinstance(node, gast.Name) else self.label(thing, ())
            asked = gast.Expr(gast.UnaryOp(gast.UAdd(), gast.Name(label, gast.Load(), None, None)))
            self.emit(ir.Verbatim(self.located(asked, node), {label: thing}, {}, self.found.location(node)))

    def need(self, nodes: list) -> None:
        """None is an error for what reads these expressions."""
        self.needed.update(id(n) for n in nodes if isinstance(n, (gast.Name, gast.Attribute, gast.Subscript)))

    def note_sure(self, block: ir.Block, names: set, before: dict) -> None:
        """Note which of these names, surely no None in `block`, still stand at its end for what they stood for."""
        self.sure[id(block)] = {n for n in names if n in before and self.env.get(n) is before[n]}

    def see_sure(self, name: str, merged: ir.Value, ends: tuple) -> None:
        """A merged value is no None, where it is none at the end of either branch."""
        maybe = [isinstance(t, ir.Value) and t in self.maybe and name not in self.sure.get(id(b), ()) for b, t in ends]
        if not any(maybe):
            self.maybe.discard(merged)

    @contextmanager
    def surely(self, names: set):
        """These names are not None in what is lowered meanwhile."""
        things = {t for t in map(self.env.get, names) if isinstance(t, ir.Value)}
        known = self.maybe & things
        self.maybe -= known
        try:
            yield
        finally:
            self.maybe |= known

    def not_none(self, test, way: bool) -> set:
        """The names that are surely not None where a test came out true, or false (`way`)."""
        match test:
            case gast.Name() | gast.Attribute() | gast.Subscript():
                return self.named(test) if way else set()
            case gast.UnaryOp(op=gast.Not()):
                return self.not_none(test.operand, not way)
            case gast.BoolOp():
                if isinstance(test.op, gast.And) is not way:
                    return set()
                return set().union(*(self.not_none(t, way) for t in test.values))
            case gast.Compare(left=left, ops=[op], comparators=[gast.Constant(value=None)]):
                return self.named(left) if isinstance(op, gast.IsNot if way else gast.Is) else set()
        return set()

    def named(self, node) -> set:
        """The name in the environment, if there is one, that an expression reads: its own, or that of a slot."""
        if isinstance(node, gast.Name):
            return {node.id}
        container = self.holder(node.value) if isinstance(node, (gast.Attribute, gast.Subscript)) else None
        at = self.place_of(container, node) if container in self.objects else None
        return set() if at is None else {self.objects[container].slot(keys_of(container.type)[at])}

    def need_returned(self, node) -> None:
        """There is no derivative where the differentiated function returns None."""
        if self.is_top and not self.bodies:
            self.need([node])
