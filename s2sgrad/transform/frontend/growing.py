"""Lowers changes of lists in slots of which only the run knows how long they are: what a loop appends to.

``self.history.append(u)`` in a loop: the slot of the list (`heap`) holds a value that the loop carries, and each
change gives it another one, as for lists that are names (`lists`). So the list must be the function's own, and the
slot the one way to it: what else may be the list, or hold it, stands for nothing any more once that has changed.
"""

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.frontend.heap import NEVER_ARRAYS, keys_of
from s2sgrad.transform.frontend.kinds import text
from s2sgrad.transform.frontend.lists import BUILDING
from s2sgrad.transform.frontend.values import Bound, Unbound
from s2sgrad.transform.ir import Kind


def is_plain_item(t: ir.Type) -> bool:
    """Is it a number, array or text, or a tuple of such?"""
    if t.kind is Kind.TUPLE and t.items is not None:
        return all(map(is_plain_item, t.items))
    return t.kind in (Kind.NUMBER, Kind.ARRAY) or (t.kind is Kind.OTHER and t.cls in NEVER_ARRAYS)


def is_no_list(t: ir.Type) -> bool:
    """Is it surely no list, and nothing that holds one?"""
    return t.kind in (Kind.NUMBER, Kind.ARRAY)


class Growing:
    """The part of `Lowering` that deals with lists of unknown length in slots."""

    def see_filled(self, slot: str, thing: ir.Value) -> None:
        """Note what is put into a slot: a list that the function makes, or anything else."""
        made = thing in self.objects and self.objects[thing].outside is None
        grown, filled = slot in self.session.grown, self.session.filled
        filled[slot] = (made or (grown and thing in self.grown_values)) and filled.get(slot, not grown)
        if grown and not filled[slot]:
            self.refuse(f"{slot.partition('@')[0]} may be a list that the function has not made")

    def growing(self, node) -> tuple | None:
        """The container, and the function's own list of unknown length in it that an expression names; else None."""
        if not isinstance(node, (gast.Subscript, gast.Attribute)):
            return None
        container, item = self.holder(node.value), self.held_item(node)
        if container not in self.objects or not isinstance(item, ir.Value) or item in self.maybe:
            return None
        own = self.session.filled.get(self.slot_of(container, node), False)
        return (container, item) if own and item.type.kind is Kind.LIST and item.type.items is None else None

    def slot_of(self, container: ir.Value, node) -> str:
        """The slot of a container that a subscript or an attribute means."""
        return self.objects[container].slot(keys_of(container.type)[self.place_of(container, node)])

    def grown_by(self, call, statement):
        """The result of ``self.history.append(v)`` of such a list; None where it is nothing of the kind."""
        target, method = call.func.value, call.func.attr
        if method not in BUILDING or self.growing(target) is None:
            return None
        if call.keywords or any(isinstance(a, gast.Starred) for a in call.args):
            self.refuse(f"this call of .{method}() is not compiled", statement)
        things = self.expressions(call.args)
        found = self.growing(target)  # an argument may have changed it
        if found is None:
            self.refuse(f"what {text(target)} is cannot be told", statement)
        self.check_own(*found, statement)
        now, result = self.lengthened(method, found[1], call.args, things, statement)
        plain = not now.active or now.type.items is not None or is_plain_item(self.element_type(now.type))
        if not plain or any(map(self.is_object, things)):
            self.refuse(f"what {text(target)} holds is of different kinds, or may change", statement)
        self.put_grown(target, now)
        return result

    def check_own(self, container: ir.Value, grown: ir.Value, statement) -> None:
        """Refuse a list that somebody outside may see."""
        seen = not grown.active and self.regions[grown].root().external  # what carries a derivative is given to nobody
        if seen or self.is_strange(container):
            self.refuse(f"{grown.name} may be seen from outside of the function", statement)

    def put_grown(self, target, now: ir.Value) -> None:
        """Let the slot that `target` means hold the list that is `now` another."""
        container, before = self.growing(target)
        key = keys_of(container.type)[self.place_of(container, target)]
        slot = self.slot_of(container, target)
        self.session.grown.add(slot)
        self.grown_values.add(now)
        self.put_item(container, key, now)
        self.grown.append(self.regions[before])
        own = {self.regions[one].root() for one in (before, now)}
        for name, thing in list(self.env.items()):
            held = thing.instance if isinstance(thing, Bound) else thing
            if name == slot or (isinstance(held, ir.Value) and held not in self.objects and is_no_list(held.type)):
                continue
            if any(r.root() in own for r in self.regions_apart(held)):
                self.env[name] = Unbound(f"{name.partition('@')[0]} may be, or hold, a list that is changed")
        self.renew_objects()
