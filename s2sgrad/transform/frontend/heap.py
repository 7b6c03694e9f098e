"""Lowers what happens to containers that the function makes itself and to what is in them.

``state = {"t": 0.0, "u": np.zeros(n)}`` is an object with two slots. Each slot has an entry of its own in the
environment, under a name that no user can write (``t@1['t']``): it is read, written, merged and carried as if it
were a variable. The container itself is put together again, wherever it is needed as a whole, from what is in the
slots: as a name of a view of an array is looked up again in it. So two names of one container, and two containers
that hold one array, see what happens to the other.
"""

import dataclasses
from dataclasses import dataclass
from types import NoneType

import gast

from s2sgrad.transform import classes, ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.kinds import MISSING, any_active, changing_type, constant_of, text
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import Bound, Inert, Nested, Unbound
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spelling import OPERATORS

COUNTING = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)
HOLDING = (Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.RECORD)
NEVER_ARRAYS = (None, str, NoneType)  # the classes of text and of None, as types have them


@dataclass(slots=True, eq=False)
class Object:
    """A container with slots in the environment.

    Attributes
    ----------
    label : str
        The name it got first.
    number : int
    outside : ir.Value or None
        The container of the caller's that it is, which is changed as well.
    """

    label: str
    number: int
    outside: ir.Value | None = None

    def slot(self, key) -> str:
        """The name of a slot; its beginning is what a value in it is called."""
        simple = isinstance(key, str) and key.isidentifier()
        return f"{key if simple else f'{self.label}{key}' if type(key) is int else self.label}@{self.number}[{key!r}]"


def is_slot(name: str) -> bool:
    """Is it the name of a slot?"""
    return name.endswith("]")


def said(name: str) -> str:
    """What people call a name of the environment: a slot is an element, or what its key says.

    Examples
    --------
    >>> said("x"), said(Object("history", 1).slot(0)), said(Object("state", 2).slot("u"))
    ('x', 'history[0]', 'u')
    """
    called, _, key = name.partition("@")
    key = key.partition("[")[2].removesuffix("]")
    return f"{called.removesuffix(key)}[{key}]" if key.isdigit() else called


def keys_of(t: ir.Type) -> tuple:
    """The keys of a container of known structure."""
    return tuple(range(len(t.items))) if t.keys is None else t.keys


class Heap:
    """The part of `Lowering` that deals with containers that change."""

    # ----------------------------------------------------------------------------------------- what is known

    def holder(self, node):
        """The container of known items that an expression is a name of, or None."""
        thing = self.env.get(node.id) if isinstance(node, gast.Name) else self.held_item(node)
        known = isinstance(thing, ir.Value) and thing in self.made and thing.type.items is not None
        return thing if known else None

    def held_item(self, node):
        """What is in a container of known items at a literal key: ``box["a"]``, ``state.u``; None for anything else."""
        if not isinstance(node, (gast.Subscript, gast.Attribute)):
            return None
        container = self.holder(node.value)
        at = None if container is None else self.place_of(container, node)
        return None if at is None else self.made[container][at]

    def place_of(self, container: ir.Value, node) -> int | None:
        """The number of the item of a container that a subscript or an attribute means."""
        t, known = container.type, keys_of(container.type)
        if isinstance(node, gast.Attribute):
            return known.index(node.attr) if t.kind is Kind.RECORD and node.attr in known else None
        key = self.literal_key(node.slice)
        if t.kind is Kind.DICT:
            return known.index(key) if key is not MISSING and key in known else None
        if t.kind is Kind.RECORD and not issubclass(t.cls, tuple):
            return None
        return key % len(known) if type(key) is int and -len(known) <= key < len(known) else None

    # ---------------------------------------------------------------------------------------------- objects

    def track(self, name: str, thing, inside=False) -> None:
        """Give a container that gets a name, and may change, its slots; and those `inside` of such."""
        if not isinstance(thing, ir.Value) or thing not in self.made or thing in self.objects:
            return
        if not inside and (name not in self.mutable or self.is_stored_to(name, thing.type)):
            return
        self.session.containers += 1
        self.objects[thing] = made = Object(name.partition("@")[0], self.session.containers)
        items = []
        for key, item in zip(keys_of(thing.type), self.made[thing], strict=True):
            items.append(self.fill(made.slot(key), item))
        self.made[thing] = tuple(items)

    def fill(self, slot: str, thing) -> ir.Value:
        """Put something into a slot."""
        name = slot.partition("@")[0]
        if isinstance(thing, Inert) and isinstance(thing.node, gast.List) and len(thing.node.elts) < 2:
            thing = self.with_slots_of_its_own(thing, self.current)  # a list that may be filled
        if isinstance(thing, Inert):
            thing = dataclasses.replace(thing, type=changing_type(thing.type))
        thing = self.held_by_value(self.item_operand(thing, name), name)
        if thing in self.temporaries:
            thing.name = name
            self.temporaries.discard(thing)
        new = self.env.get(slot) is not thing
        self.env[slot] = thing
        self.track(name, thing, inside=True)
        if new:
            self.see_filled(slot, thing)
        return thing

    def put_item(self, container: ir.Value, key, thing) -> None:
        """``container[key] = thing``."""
        self.refill(container, self.contents(container) | {key: thing})

    def contents(self, container: ir.Value) -> dict:
        """What a container of known items holds, by key."""
        return dict(zip(keys_of(container.type), self.made[container], strict=True))

    def refill(self, container: ir.Value, contents: dict) -> None:
        """Let a container hold `contents`, and nothing else."""
        made, before = self.objects[container], self.contents(container)
        now = {key: self.fill(made.slot(key), thing) for key, thing in contents.items()}
        for key in before.keys() - now.keys():
            del self.env[made.slot(key)]
        own = self.regions[container].root()
        for name, other in list(self.env.items()):
            followed = other.instance if isinstance(other, Bound) else other
            if followed not in self.objects and any(r.root() is own for r in self.regions_under(other)):
                self.env[name] = Unbound(f"{said(name)} may be, or hold, a container that is changed")
        keys = None if container.type.keys is None else tuple(now)
        t = dataclasses.replace(container.type, items=tuple(item.type for item in now.values()), keys=keys)
        self.renew_objects({made: self.version(container, t)})
        if made.outside is not None:
            self.change_outside(made, before, now)

    def version(self, container: ir.Value, t: ir.Type) -> ir.Value | None:
        """A container of type `t` as it is now; None where something in it is not known."""
        made = self.objects[container]
        items = [self.env.get(made.slot(key)) for key in keys_of(t)]
        if not all(isinstance(item, ir.Value) for item in items):
            return None
        t = dataclasses.replace(t, items=tuple(item.type for item in items))
        active = tuple(map(self.activity, items))
        again = self.value(container.name, t, active if any_active(active) else False)
        self.regions[container].join(self.regions[again])
        self.made[again], self.objects[again] = tuple(items), made
        self.emit(ir.Make(again, tuple(items), self.found.location(self.current)))
        self.again.add(again)
        self.looked.add(again)
        return again

    def renew_objects(self, versions=None, stale=()) -> None:
        """Put containers together again in which something has changed; those of the objects `stale` in any case."""
        versions = {} if versions is None else versions
        for name, thing in list(self.env.items()):
            held = thing.instance if isinstance(thing, Bound) else thing
            if isinstance(held, ir.Value) and held in self.objects:
                now = self.renewed_object(held, versions, stale)
                if now is None:
                    self.env[name] = Unbound(f"{said(name)} holds what is not known")
                elif now is not held:
                    self.env[name] = Bound(thing.function, now) if held is not thing else now

    def renewed_object(self, container: ir.Value, versions: dict, stale):
        made = self.objects[container]
        if made not in versions:
            changed = made in stale
            for key, before in zip(keys_of(container.type), self.made[container], strict=True):
                item = self.env.get(made.slot(key))
                if isinstance(item, ir.Value) and item in self.objects:
                    item = self.env[made.slot(key)] = self.renewed_object(item, versions, stale)
                changed = changed or item is not before
            versions[made] = self.version(container, container.type) if changed else container
        return versions[made]

    def is_object(self, thing) -> bool:
        """Is it a container with slots, or one that holds such?"""
        return isinstance(thing, ir.Value) and (
            thing in self.objects or any(map(self.is_object, self.made.get(thing, ())))
        )

    def same_object(self, a, b):
        """The object that two things are, or have the same method of; None where there is none, with the same slots."""
        if isinstance(a, Bound) and isinstance(b, Bound) and a.function.value is b.function.value:
            return self.same_object(a.instance, b.instance)
        if not isinstance(a, ir.Value) or not isinstance(b, ir.Value) or a not in self.objects or b not in self.objects:
            return None
        same = self.objects[a] is self.objects[b] and keys_of(a.type) == keys_of(b.type)
        return self.objects[a] if same else None

    def contents_of_names(self, node) -> dict:
        """What the containers with slots hold that an expression names, not to read a number or array in them."""
        found = {name: self.env.get(name) for name in self.whole_names(node)}
        return {name: self.contents(thing) for name, thing in found.items() if thing in self.objects}

    def whole_names(self, node) -> set:
        """The names that an expression reads, without those of containers with slots that it looks something up in."""
        item = self.held_item(node)
        if isinstance(item, ir.Value) and not self.is_object(item):
            return set()
        if isinstance(node, gast.Name):
            return {node.id}
        return set().union(*map(self.whole_names, syntax.children(node)))

    def see_iterated(self, node, before: dict, statement, lively=False) -> None:
        """Refuse a loop over `node` that changes what is in a container there, which held `before`.

        `lively`: other things may be put in the place of those that are in it, and the loop comes to them.
        """
        now = self.contents_of_names(node)
        for name, contents in before.items():
            same = contents.keys() == now.get(name, {}).keys()
            if same and not lively:
                same = all(self.origin(contents[key]) is self.origin(now[name][key]) for key in contents)
            if not same:
                self.refuse(f"a loop over {said(name)}, which it changes", statement)

    def touches_objects(self, statement) -> bool:
        """Does a statement read a name of a container with slots?"""
        return any(self.env.get(name) in self.objects for name in self.names.loads(statement))

    def forget(self, regions: list) -> None:
        """Refuse what changes arrays, or containers with slots, behind their back; know less of others that change."""
        roots = {r.root() for r in regions}
        for name, thing in self.env.items():
            if not isinstance(thing, ir.Value) or thing not in self.regions or self.regions[thing].root() not in roots:
                continue
            if thing in self.objects:
                label = self.objects[thing].label
                self.refuse(f"{label}, a container of arrays, is changed in a way that is not followed")
            keyed = thing.type.keys is not None and (thing in self.made or thing.type.kind is Kind.RECORD)
            if thing.type.kind in (Kind.ARRAY, Kind.UNKNOWN) or keyed:
                self.refuse(f"{said(name)} is changed in a way that is not followed")
            thing.type = changing_type(thing.type)

    # ------------------------------------------------------------------------------------------- statements

    def is_container(self, target, value) -> bool:
        """May ``target = value`` make a container that needs slots?"""
        if not isinstance(target, gast.Name) or target.id not in self.mutable:
            return False
        if self.is_filled(target.id, value):
            return True
        if self.is_opaque(target.id):
            return False
        plain = isinstance(value, (gast.List, gast.Tuple)) and value.elts
        return self.is_new_dict(value) or (bool(plain) and not any(isinstance(e, gast.Starred) for e in value.elts))

    def is_filled(self, name: str, value) -> bool:
        """Is `value` a dict that is filled under this name: with what may carry a derivative, or at literal keys?"""
        if not self.is_new_dict(value):
            return False
        return (self.is_own(name) and not self.is_placed(name)) or name in self.reached_names()

    def is_new_dict(self, node) -> bool:
        """Is it ``{"a": ..., "b": ...}`` with keys that are written out, each once, or ``dict(a=..., b=...)``?"""
        if isinstance(node, gast.Call):
            plain = getattr(node.func, "id", "") == "dict" and not node.args and all(k.arg for k in node.keywords)
            return plain and self.is_builtin("dict", dict)
        if not isinstance(node, gast.Dict) or not all(isinstance(k, gast.Constant) for k in node.keys):
            return False
        return len({k.value for k in node.keys}) == len(node.keys)

    def is_opaque(self, name: str) -> bool:
        """Does a statement change the container of this name itself, otherwise than at a literal key?"""
        if name not in self.opaque:
            self.opaque[name] = any(changes(node, name) for s in self.body for node in syntax.walk(s))
        return self.opaque[name]

    def literal_container(self, target, value, statement):
        """``[...]`` or ``{...}`` as a container of known items, if there are arrays or functions in it; else None.

        Numbers are enough where something that carries a derivative may be put into it.
        """
        if isinstance(value, gast.Call):
            nodes = {k.arg: k.value for k in value.keywords}
        elif isinstance(value, gast.Dict):
            nodes = dict(zip((k.value for k in value.keys), value.values, strict=True))
        else:
            nodes = dict(enumerate(value.elts))
        things = self.expressions(list(nodes.values()))
        holds = any(self.type_of(t).kind in (Kind.ARRAY, Kind.CALLABLE, *HOLDING) for t in things)
        if not holds and self.only_inert(things) and not self.is_filled(target.id, value):
            return None
        if self.is_new_dict(value):
            things = [self.operand(self.with_slots_of_its_own(t, statement)) for t in things]
            return self.new_dict(dict(zip(nodes, things, strict=True)), statement)
        things = [self.operand(t) for t in things]
        kind = Kind.LIST if isinstance(value, gast.List) else Kind.TUPLE
        return self.make_container(types.sequence(kind, list(map(self.type_of, things))), things, statement)

    def put(self, target, thing, statement) -> bool:
        """``box["a"] = thing``, ``state.u = thing`` of a container with slots; False where it is none."""
        container = self.holder(target.value) if isinstance(target, (gast.Subscript, gast.Attribute)) else None
        if container is None or container not in self.objects or self.is_strange(container):
            return False
        t = container.type
        if isinstance(target, gast.Subscript):
            self.see_brackets(t, target)
        if isinstance(target, gast.Subscript) and isinstance(target.slice, gast.Slice) and t.kind is Kind.LIST:
            return self.put_slice(container, target, thing, statement)
        key = target.attr if isinstance(target, gast.Attribute) else self.literal_key(target.slice)
        at = self.place_of(container, target)
        if not self.takes(container, target):
            return False
        if t.kind is not Kind.RECORD and (key is MISSING or (at is None and t.kind is not Kind.DICT)):
            return False
        if not isinstance(thing, (ir.Value, ir.Constant, ir.Code, Inert, Known, Nested)):
            return False
        thing = thing if t.kind is Kind.RECORD else self.with_slots_of_its_own(thing, statement)
        self.put_item(container, key if at is None else keys_of(t)[at], thing)
        return True

    def takes(self, container: ir.Value, target) -> bool:
        """May something be put where `target` says, and runs no code of the user's then?"""
        t = container.type
        if t.kind is Kind.RECORD and isinstance(target, gast.Attribute):
            field = takes_fields(t.cls) and self.place_of(container, target) is not None
            return field or classes.takes_attribute(t.cls, target.attr)
        return t.kind not in (Kind.TUPLE, Kind.RECORD)

    def see_taken(self, statement) -> None:
        """Refuse an augmented assignment to an item of a tuple, or to a field that is not to be changed."""
        target = statement.target
        container = self.holder(target.value) if isinstance(target, (gast.Subscript, gast.Attribute)) else None
        held = container in self.objects and self.held_item(target) is not None
        if held and not self.takes(container, target):
            self.refuse(f"nothing can be put at {text(target)}", statement)

    def augmented_slot(self, statement) -> bool:
        """``state.t += v`` of a number in a slot; of an array, it is written into."""
        target = statement.target
        item = self.held_item(target)
        if not isinstance(item, ir.Value) or item.type.kind is not Kind.NUMBER:
            return False
        before = gast.copy_location(
            type(target)(target.value, getattr(target, "slice", None) or target.attr, gast.Load()), target
        )
        after = gast.copy_location(gast.BinOp(before, statement.op, statement.value), statement)
        return self.put(target, self.expression(after), statement)

    # ------------------------------------------------------------------------------------------ expressions

    def literal_key(self, node):
        """The key that an expression surely is: a literal, a name of one, a length, and what is made of such."""
        known = constant_of(node, MISSING)
        if known is MISSING and isinstance(node, gast.Name):
            literal = self.literal(self.env.get(node.id))
            return literal.value if isinstance(literal, ir.Constant) else MISSING
        if isinstance(node, gast.BinOp) and isinstance(node.op, COUNTING):
            parts = self.literal_key(node.left), self.literal_key(node.right)
            divides = isinstance(node.op, (gast.FloorDiv, gast.Mod))
            known = set(map(type, parts)) == {int} and not (divides and parts[1] == 0)
            known = known or (set(map(type, parts)) == {str} and isinstance(node.op, gast.Add))
            return OPERATORS[type(node.op)](*parts) if known else MISSING
        if isinstance(node, gast.Tuple):
            parts = tuple(map(self.literal_key, node.elts))
            return MISSING if any(part is MISSING for part in parts) else parts
        if isinstance(node, gast.JoinedStr):
            parts = list(map(self.literal_text, node.values))
            return MISSING if None in parts else "".join(parts)
        if known is MISSING and isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            inner = self.literal_key(node.operand)
            return -inner if type(inner) is int else MISSING
        if isinstance(node, gast.Call) and self.is_len(node):
            n = self.fixed_length(node.args[0], (Kind.LIST, Kind.TUPLE, Kind.DICT))
            return MISSING if n is None else n
        if isinstance(node, gast.Call) and getattr(node.func, "id", "") == "str" and len(node.args) == 1:
            number = self.literal_key(node.args[0]) if self.is_builtin("str", str) else MISSING
            return str(number) if type(number) is int else MISSING
        return known

    def literal_text(self, part) -> str | None:
        """What a part of ``f"w{i}"`` surely is; None where only the run knows."""
        if isinstance(part, gast.Constant):
            return part.value
        value = self.literal_key(part.value)
        plain = part.conversion == -1 and part.format_spec is None and type(value) in (int, str)
        return str(value) if plain else None

    def is_len(self, call) -> bool:
        """Is it ``len(xs)`` or ``len(xs[0])``, Python's own?"""
        plain = len(call.args) == 1 and isinstance(call.args[0], (gast.Name, gast.Subscript)) and not call.keywords
        return plain and getattr(call.func, "id", "") == "len" and self.is_builtin("len", len)

    def with_slots(self, node) -> tuple:
        """An expression with names in the place of what is in slots, and what these stand for."""
        if not any(self.env.get(n) in self.objects for n in self.names.loads(node)):
            return node, {}
        found: dict = {}

        def rebuilt(part):
            item = self.held_item(part) if isinstance(part, (gast.Subscript, gast.Attribute)) else None
            item = item or self.lent_item(part)
            if isinstance(item, ir.Value) and isinstance(part.ctx, gast.Load):
                label = next((n for n, v in found.items() if v is item), None) or self.label(item, found)
                found[label] = item
                return gast.copy_location(gast.Name(label, gast.Load(), None, None), part)
            if isinstance(part, list):
                return [rebuilt(one) for one in part]
            if not isinstance(part, gast.AST) or isinstance(part, syntax.FUNCTIONS):
                return part
            fields = {name: rebuilt(old) for name, old in gast.iter_fields(part)}
            return gast.copy_location(type(part)(*[fields[n] for n in part._fields]), part)

        new = rebuilt(node)
        return (new, found) if found else (node, {})

    def lent_item(self, node) -> ir.Value | None:
        """What an attribute of an object of the caller's reads from its class, now; None where it is anything else.

        The object may get an attribute of that name later.
        """
        base = self.holder(node.value) if isinstance(node, gast.Attribute) else None
        outside = self.objects[base].outside if base in self.objects else None
        t = None if outside is None else self.held_by_class(base.type, node)
        if t is None:
            return None
        label = self.label(outside, ())
        read = gast.Attribute(gast.Name(label, gast.Load(), None, None), node.attr, gast.Load())
        return self.bind(Inert(self.located(read, node), {label: outside}, t, False, False, []), node.attr)


def takes_fields(cls) -> bool:
    """Does ``state.field = value`` of a dataclass store the value, and run no code of the user's?"""
    plain = dataclasses.is_dataclass(cls) and not cls.__dataclass_params__.frozen
    return plain and cls.__setattr__ is object.__setattr__


def changes(node, name: str) -> bool:
    """Does a piece of syntax change the container `name` itself, otherwise than at a literal key?"""

    def is_it(part) -> bool:
        return isinstance(part, gast.Name) and part.id == name

    match node:
        case gast.Subscript(value=value, slice=place, ctx=gast.Store()):
            return is_it(value) and constant_of(place, MISSING) is MISSING
        case gast.Subscript(value=value, ctx=gast.Del()):
            return is_it(value)
        case gast.AugAssign(target=target):
            return is_it(target)
        case gast.Call(func=gast.Attribute(value=value, attr=attr)):
            return is_it(value) and attr not in ("index", "count", "copy", "items", "values", "keys", "get")
    return False
