"""Follows the containers of the caller's that the function changes.

A list, dict, dataclass or object of a plain class among the arguments is taken apart at the beginning, and is an object
with slots from then on, as if the function had made it (`heap`). What it does to the slots is said of the caller's
container, too, in a statement that stays: ``q.append(t)``, ``self.u = u``.
"""

import operator

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes, ir
from s2sgrad.transform.frontend import effects, scan, syntax, ways
from s2sgrad.transform.frontend.heap import HOLDING, NEVER_ARRAYS, Object, keys_of, takes_fields
from s2sgrad.transform.frontend.kinds import is_live
from s2sgrad.transform.ir import Kind

OPENED = (Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.RECORD)


class Callers:
    """The part of `Lowering` that deals with containers of the caller's."""

    def open_arguments(self) -> None:
        """Give the containers among the arguments that the function changes slots for what is in them."""
        given = {name: t for name, t in self.env.items() if t in self.parameters and self.can_be_opened(t.type)}
        if given:
            self.mutable = scan.mutable_names(
                self.body, self.names, self.numbers, self.given_away(self.body), frozenset(given), self.handed
            )
        reached = self.reached_names() if given else ()
        for name, thing in given.items():
            if name in self.mutable and (name in reached or classes.is_plain_class(thing.type.cls)):
                self.env[name] = self.opened(thing)
        for thing in self.parameters:
            changed = thing.name in self.mutable and self.env.get(thing.name) is thing
            if changed and thing.type.kind is Kind.RECORD and classes.is_plain_class(thing.type.cls):
                thing.type = ir.Type(Kind.OTHER, cls=thing.type.cls)  # of its attributes nothing is known from now on

    def reached_names(self) -> set:
        """The names of what a derivative flows from, or may be stored in."""
        return self.fed_names(self.body, {name for name, thing in self.env.items() if is_live(thing, self)})

    def fed_names(self, body: list, sources) -> set:
        """The names that statements give something to that comes from `sources`; functions may be given anything."""
        found = set(sources)
        ways = [(to, self.flowing(value)) for s in body for to, value in scan.assignments(s)]
        for node in (n for s in body for n in syntax.walk(s)):
            if isinstance(node, gast.Call):
                names = self.flowing(node)
                ways.append((names, names))
            elif isinstance(node, syntax.FUNCTIONS):
                found |= set(syntax.parameters(node))
        size = -1
        while size != len(found):
            size = len(found)
            for to, loads in ways:
                if not loads.isdisjoint(found):
                    found |= to
        return found

    def flowing(self, node) -> set:
        """The names that a derivative may flow from through an expression."""
        if isinstance(node, gast.Name):
            return {node.id}
        if isinstance(node, gast.Compare) or (isinstance(node, gast.Call) and self.is_plain_call(node)):
            return set()
        return set().union(*map(self.flowing, syntax.children(node)))

    def is_plain_call(self, call) -> bool:
        """Does a call give plain data, whatever its arguments are?"""
        try:
            known = self.static(call.func)
        except CompileError:  # a name inside of a nested function
            return False
        return known is not None and self.is_plain_function(known.value)

    def can_be_opened(self, t: ir.Type) -> bool:
        """Is it a container of which all is known that is in it?"""
        if t.kind not in OPENED or t.items is None:
            return False
        if t.kind is Kind.RECORD and classes.is_plain_class(t.cls):
            return True  # what it holds that is not known is left as it is
        if t.kind is Kind.RECORD and not issubclass(t.cls, tuple) and not takes_fields(t.cls):
            return False
        plain = [
            i.kind in (Kind.NUMBER, Kind.ARRAY) or (i.kind is Kind.OTHER and i.cls in NEVER_ARRAYS) for i in t.items
        ]
        return all(known or self.can_be_opened(item) for known, item in zip(plain, t.items, strict=True))

    def opened(self, container: ir.Value) -> ir.Value:
        """A container of the caller's, with a slot for each thing in it."""
        t, active, place = container.type, self.activity(container), self.found.location()
        self.session.containers += 1
        made = Object(container.name, self.session.containers, container)
        items = []
        for i, (key, kind) in enumerate(zip(keys_of(t), t.items, strict=True)):
            slot = made.slot(key)
            on = active[i] if isinstance(active, tuple) else active
            item = self.value(slot, kind, on, [effects.Region((), external=True)])
            if kind.kind in (*OPENED, Kind.OTHER):
                self.regions[item] = effects.Region((), external=True, container=True)
            get, spelling = (getattr, key) if t.kind is Kind.RECORD else (operator.getitem, None)
            self.emit(ir.Op(item, get, (container, ir.Constant(key)), {}, spelling, place))
            self.leaves.append(item)
            if kind.kind is Kind.ARRAY:
                self.ways[item] = ways.ITSELF
            self.env[slot] = item = self.opened(item) if self.can_be_opened(kind) else item
            items.append(item)
        again = self.value(container.name, t, active, [effects.Region((), external=True, container=True)])
        self.made[again], self.objects[again] = tuple(items), made
        self.emit(ir.Make(again, tuple(items), place))
        self.again.add(again)
        return again

    def is_strange(self, container: ir.Value) -> bool:
        """May a container be seen outside of the function, without being known as one of the caller's?"""
        return self.objects[container].outside is None and self.regions[container].root().external

    def is_held_outside(self, array: ir.Value) -> bool:
        """Is an array, or one that it is a view of, in a container of the caller's?"""
        region = self.regions[array].root()
        if any(r.root() is region for r in self.handed_out):
            return True
        holders = [t for t in self.env.values() if isinstance(t, ir.Value) and t in self.objects]
        holders = [t for t in holders if self.objects[t].outside is not None]
        return any(r.root() is region for t in holders for r in self.regions_of(t))

    def change_outside(self, made: Object, before: dict, now: dict) -> None:
        """Change the container of the caller's that an object is: it held `before`, and holds `now`."""
        if any(now[key].type.kind in HOLDING for key in now if now[key] is not before.get(key)):
            self.refuse(f"a container is put into {made.label}, which is the caller's")
        self.written_arguments.add(made.outside)
        self.handed_out += [r for key in now if now[key] is not before.get(key) for r in self.regions_of(now[key])]
        reads: dict = {}

        def name(value):
            label = next((n for n, v in reads.items() if v is value), None) or self.label(value, reads)
            reads[label] = value
            return gast.Name(label, gast.Load(), None, None)

        for statement in changes_of(name(made.outside), before, now, name, made.outside.type.kind):
            used = self.names.loads(statement)
            own = {label: value for label, value in reads.items() if label in used}
            self.emit(ir.Verbatim(statement, own, {}, self.found.location(self.current)))

    def holds_callers(self, thing) -> bool:
        """Is it a container of the caller's that the function changes, or does it hold one?"""
        if not isinstance(thing, ir.Value):
            return False
        own = thing in self.objects and self.objects[thing].outside is not None
        return own or any(map(self.holds_callers, self.made.get(thing, ())))


def changes_of(holder, before: dict, now: dict, name, kind) -> list:
    """The statements that make a list or dict that holds `before` hold `now`; `name` gives what a value is called."""

    def at(place, ctx):
        return gast.Subscript(holder, place, ctx)

    if kind is Kind.RECORD:
        other = [key for key in now if now[key] is not before.get(key)]
        return [gast.Assign([gast.Attribute(holder, key, gast.Store())], name(now[key]), None) for key in other]
    if kind is Kind.DICT or len(before) == len(now):
        gone = [gast.Delete([at(gast.Constant(key, None), gast.Del())]) for key in before if key not in now]
        other = [key for key in now if now[key] is not before.get(key)]
        return gone + [gast.Assign([at(gast.Constant(k, None), gast.Store())], name(now[k]), None) for k in other]
    same = next((i for i in now if now[i] is not before.get(i)), min(len(before), len(now)))
    rest = [name(now[i]) for i in range(same, len(now))]
    if len(rest) == 1 and same == len(before):
        return [gast.Expr(gast.Call(gast.Attribute(holder, "append", gast.Load()), rest, []))]
    end = gast.Slice(gast.Constant(same, None) if same else None, None, None)
    if not rest:
        return [gast.Delete([at(end, gast.Del())])]
    return [gast.Assign([at(end, gast.Store())], gast.List(rest, gast.Load()), None)]
