"""Lowers what changes a list or dict with slots as a whole: its methods, ``del``, ``+=``, slices.

Whatever is done, the container holds other things afterwards, of which all is known (`heap.Heap.refill`).
"""

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.hoisting import CHANGING, Hoisting
from s2sgrad.transform.frontend.kinds import MISSING, SEQUENCES, text
from s2sgrad.transform.frontend.lists import BUILDING
from s2sgrad.transform.frontend.unrolling import literal_slice
from s2sgrad.transform.ir import Kind

EDITING = BUILDING | {"update", "setdefault", "popitem"}


class Edits:
    """The part of `Lowering` that deals with changes of lists and dicts with slots."""

    def edited_object(self, call, statement):
        """The result of a call of a method that changes a container with slots; None where it is none."""
        method, target = call.func.attr, call.func.value
        held = self.holder(target)
        if method not in EDITING or held not in self.objects or held.type.kind is Kind.RECORD:
            return None  # an object of the user's class has methods of its own
        if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            self.refuse(f"`*` or `**` in a call of .{method}() of a container that is followed", statement)
        things = self.expressions([*call.args, *(k.value for k in call.keywords)])
        container = self.editable(target, statement)  # an argument may have changed it
        if container.type.kind is Kind.LIST:
            edited = self.edited_items(method, container, call.args, things, statement)
            if edited is None:
                self.refuse(f"this call of .{method}() of a list that other names may have is not compiled", statement)
            contents, result = dict(enumerate(edited[0])), edited[1]
        else:
            contents, result = self.edited_dict(method, self.contents(container), call, things)
        self.refill(container, contents)
        return result

    def edits_inside(self, node) -> bool:
        """Does an expression change a container with slots, and go on with what it takes out of it?"""
        return self.touches_objects(node) and any(map(self.is_edit, syntax.own_nodes(node)))

    def is_edit(self, node) -> bool:
        method = node.func if isinstance(node, gast.Call) else None
        return (
            isinstance(method, gast.Attribute) and method.attr in CHANGING and self.holder(method.value) in self.objects
        )

    def with_edits_before(self, node):
        """What an expression gives whose changes of containers are statements before it."""
        apart = Hoisting(lambda wish="t": self.new_name(wish), self.is_edit, lambda name: name not in self.local)
        said = apart.said(node)
        if said is None:
            self.refuse(f"{text(node)} changes a container in a place where that is not compiled", node)
        statements, left = said
        for s in statements:
            self.statement(s, self.names.loads(left))
        return self.expression(left)

    def editable(self, node, statement) -> ir.Value:
        """The list or dict with slots that an expression is a name of, to be changed."""
        container = self.holder(node)
        if container not in self.objects or container.type.kind not in (Kind.LIST, Kind.DICT):
            self.refuse(f"what {text(node)} is cannot be told", statement)
        if self.is_strange(container):
            self.refuse(f"{text(node)} may be seen from outside of the function", statement)
        return container

    def edited_dict(self, method: str, contents: dict, call, things: list) -> tuple:
        """What a dict holds after a method was called, and what that returns."""
        key = self.literal_key(call.args[0]) if call.args else MISSING
        rest = {k: thing for k, thing in contents.items() if k != key}
        words = dict(zip([k.arg for k in call.keywords], things[len(call.args) :], strict=True))
        match method, things[: len(call.args)]:
            case "clear", []:
                return {}, ir.Constant(None)
            case "update", []:
                return contents | words, ir.Constant(None)
            case "update", [given] if self.type_of(given).kind is Kind.DICT and self.type_of(given).keys is not None:
                given = dict(zip(self.type_of(given).keys, self.items_of(given, call), strict=True))
                return contents | given | words, ir.Constant(None)
            case "popitem", [] if contents:
                *_, key = contents
                pair = self.sequence_of(Kind.TUPLE, [ir.Constant(key), contents[key]], call)
                return {k: thing for k, thing in contents.items() if k != key}, pair
            case "pop", [_, *default] if key in contents or (default and key is not MISSING):
                return rest, contents[key] if key in contents else self.operand(default[0])
            case "setdefault", [_, default] if key is not MISSING:
                thing = (
                    contents[key] if key in contents else self.place_value(self.with_slots_of_its_own(default, call))
                )
                return contents | {key: thing}, thing
        self.refuse(f"this call of .{method}() of a dict is not compiled", call)

    def augmented_container(self, statement) -> bool:
        """``xs += [v]``, ``xs *= 2``, ``d |= {"a": v}`` of a container with slots."""
        target = statement.target
        if self.growing(target) is not None and isinstance(statement.op, gast.Add):
            extend = gast.Call(gast.Attribute(target, "extend", gast.Load()), [statement.value], [])
            return self.edit(self.located(extend, statement), statement) is not None
        if self.holder(target) not in self.objects:
            return False
        if self.holder(target).type.kind not in (Kind.LIST, Kind.DICT):
            return False
        thing = self.expression(statement.value)
        container = self.editable(target, statement)
        t, items = self.type_of(thing), list(self.made[container])
        match container.type.kind, statement.op:
            case Kind.LIST, gast.Add() if t.kind in SEQUENCES and t.items is not None:
                contents = dict(enumerate([*items, *self.items_of(thing, statement)]))
            case Kind.LIST, gast.Mult() if type(times := self.literal_key(statement.value)) is int:
                contents = dict(enumerate(items * times))
            case Kind.DICT, gast.BitOr() if t.kind is Kind.DICT and t.keys is not None:
                given = zip(t.keys, self.items_of(thing, statement), strict=True)
                contents = self.contents(container) | dict(given)
            case _:
                self.refuse(f"what this makes of {text(target)} is not known before the program runs", statement)
        self.refill(container, contents)
        return True

    def deleted(self, target, statement) -> bool:
        """``del d["a"]``, ``del xs[1:]`` of a container with slots; False where it is none."""
        if not isinstance(target, gast.Subscript) or self.holder(target.value) not in self.objects:
            return False
        container = self.editable(target.value, statement)
        contents = self.contents(container)
        places = self.places(container, target.slice, statement)
        rest = {key: thing for i, (key, thing) in enumerate(contents.items()) if i not in places}
        self.refill(container, rest if container.type.keys is not None else dict(enumerate(rest.values())))
        return True

    def places(self, container: ir.Value, node, statement) -> range:
        """The numbers of the items that a literal key, or slice, means."""
        bounds = literal_slice(node) if isinstance(node, gast.Slice) else None
        if bounds is not None and container.type.kind is Kind.LIST:
            return range(len(container.type.items))[bounds]
        at = self.place_of(container, gast.Subscript(node, node, gast.Load()))
        if at is None:
            self.refuse("a place in a container that is not known before the program runs", statement)
        return range(at, at + 1)

    def put_slice(self, container: ir.Value, target, thing, statement) -> bool:
        """``xs[1:] = [a, b]``"""
        places, t = self.places(container, target.slice, statement), self.type_of(thing)
        if t.kind not in SEQUENCES or t.items is None or places.step != 1:
            self.refuse("what is put into a list is no list of known length", statement)
        items, new = list(self.made[container]), self.items_of(thing, statement)
        items[places.start : max(places.start, places.stop)] = new
        self.refill(container, dict(enumerate(items)))
        return True
