"""Lowers assignments, definitions, imports, and what stays as the user wrote it.

An assignment to a name changes the environment; an augmented assignment is an assignment where the name
stands for a number, and a change in place elsewhere. Anything stored where it cannot be followed is
refused if a derivative flows through it.
"""

import dataclasses
import functools
import operator
import sys
from types import ModuleType

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes, ir, walk
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.frontend import resolve, syntax
from s2sgrad.transform.frontend.heap import NEVER_ARRAYS, said
from s2sgrad.transform.frontend.kinds import (
    SEQUENCES,
    any_active,
    describe,
    is_active,
    is_live,
    is_none,
    item_type,
    numeric,
    text,
)
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.scan import (
    LOOPS,
    code_node,
    counters,
    exposed_names,
    expressions_of,
    jumps,
    target_name,
    targets_of,
)
from s2sgrad.transform.frontend.values import FUNCTIONS, Inert, Nested, Unbound, is_lost
from s2sgrad.transform.ir import Kind

QUIET = (
    gast.Constant,
    gast.Name,
    gast.Lambda,
    gast.Tuple,
    gast.List,
    gast.Compare,
    gast.BoolOp,
    gast.UnaryOp,
    gast.IfExp,
)
WRITING = (ir.Store, ir.Accumulate, ir.Push, ir.Pop)


def caught_names(statement) -> set:
    """The names that only handlers in a statement bind, to what they have caught."""
    names = [h.name for h in syntax.walk(statement) if isinstance(h, gast.ExceptHandler) and h.name is not None]
    stored = [n for n in syntax.walk(statement) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)]
    others = {n.id for n in stored if not any(n is name for name in names)}
    return {name.id for name in names} - others


def may_raise(node) -> bool:
    """May evaluating an expression for its own sake raise an exception, for all that its text says?"""
    match node:
        case gast.Attribute(attr="shape" | "ndim" | "size" | "dtype" | "T"):
            return may_raise(node.value)
        case gast.Lambda() | gast.Constant() | gast.Name():
            return False
    return not isinstance(node, QUIET) or any(map(may_raise, syntax.children(node)))


def has_none(statement) -> bool:
    """Is it ``a, b = None, 0.0``: literals, None among them, for as many names?"""
    target, value = statement.targets[0], statement.value
    if len(statement.targets) > 1 or not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple):
        return False
    literals = all(isinstance(v, gast.Constant) for v in value.elts) and len(value.elts) == len(target.elts)
    return literals and any(v.value is None for v in value.elts) and all(isinstance(t, gast.Name) for t in target.elts)


def binds_in_patterns(statement) -> bool:
    """Does a `match` bind names in its patterns? They are no nodes that could get other names."""
    nodes = (n for case in statement.cases for n in syntax.walk(case.pattern))
    return any(getattr(n, "name", None) or getattr(n, "rest", None) for n in nodes)


class Statements:
    """The part of `Lowering` that deals with statements without statements inside."""

    def statement(self, statement, after: frozenset) -> None:
        handler = getattr(self, f"statement_{type(statement).__name__}", None)
        if handler is not None:
            handler(statement, after)
        elif not isinstance(statement, gast.Nonlocal):
            self.verbatim(statement)

    def statement_Pass(self, statement, after):
        for name in getattr(statement, "unbinds", ()):
            if getattr(self.env.get(name), "partial", False):
                self.env[name] = Unbound(f"{said(name)} may have been bound before what is tried raised an exception")

    def statement_Expr(self, statement, after):
        if isinstance(statement.value, gast.Constant) or self.list_statement(statement):
            return
        if self.written_call(statement.value, statement) is not None:
            return
        if self.in_its_place(statement.value) is not None:
            return
        if self.may_be_active(statement.value):
            thing = self.expression(statement.value)
            if not isinstance(thing, Inert):
                return
        value, slots = self.with_slots(statement.value)
        self.env |= slots
        self.verbatim(gast.copy_location(gast.Expr(value), statement))
        for name in slots:
            del self.env[name]

    def statement_Import(self, statement, after):
        self.verbatim(statement)
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.imported(name, sys.modules.get(alias.name if alias.asname else name))

    def statement_ImportFrom(self, statement, after):
        self.verbatim(statement)
        module = sys.modules.get(statement.module or "") if not statement.level else None
        for alias in statement.names:
            self.imported(alias.asname or alias.name, getattr(module, alias.name, None))

    def imported(self, name: str, value) -> None:
        """A name that an import in the function binds to something of NumPy, SciPy or the standard library."""
        trusted = value.__name__.partition(".")[0] in classes.TRUSTED if isinstance(value, ModuleType) else False
        if trusted or (resolve.is_definition(value) and resolve.is_trusted(value)):
            self.env[name] = Known(value, self.operand(self.env[name]))

    def statement_Assert(self, statement, after):
        test = self.inert(statement.test)
        if statement.msg is not None:
            self.inert(statement.msg)
        self.emit(ir.Verbatim(statement, test.reads | self.reads_of(statement), {}, self.found.location(statement)))

    def reads_of(self, statement) -> dict:
        found = [self.held(n, statement) for n in self.names.loads(statement) if n in self.env]
        return functools.reduce(operator.or_, found, {})

    def statement_AnnAssign(self, statement, after):
        if statement.value is not None:
            if not isinstance(statement.target, gast.Name):
                self.store(statement.target, self.expression(statement.value), statement)
            else:
                self.assign(statement.target, self.expression(statement.value), statement)

    def is_exchange(self, statement) -> bool:
        """Is it ``a, b = b, a`` of arrays that may be written to, ``a[i], a[j] = x, y`` or ``s.x, s.y = 0, 1``?"""
        target, value = statement.targets[0], statement.value
        pair = isinstance(target, (gast.Tuple, gast.List)) and isinstance(value, (gast.Tuple, gast.List))
        if not pair or len(statement.targets) > 1 or len(target.elts) != len(value.elts):
            return False
        if any(isinstance(e, gast.Starred) for e in [*target.elts, *value.elts]):
            return False
        written = [self.view_of(e) for e in value.elts if isinstance(e, gast.Name) and e.id in self.mutable]
        stores = any(isinstance(e, gast.Subscript) for e in target.elts)
        stores = stores and (self.may_be_active(statement) or self.writes_arrays(statement))
        attributes = [e for e in target.elts if isinstance(e, gast.Attribute)]
        stores = stores or any(self.holder(e.value) in self.objects for e in attributes)
        pairs = [(t, v) for t, v in zip(target.elts, value.elts, strict=True) if isinstance(t, gast.Name)]
        stores = stores or any(t.id in self.mutable and isinstance(v, gast.Call) for t, v in pairs)
        return stores or any(v is not None for v in written)

    def statement_Assign(self, statement, after):
        if self.list_statement(statement):
            return
        if has_none(statement):
            for target, value in zip(statement.targets[0].elts, statement.value.elts, strict=True):
                self.assign(target, self.expression(value), statement)
            return
        if self.is_exchange(statement):
            things = self.expressions_or_views(statement.value.elts)
            self.store_all(list(zip(statement.targets[0].elts, things, strict=True)), statement)
            return
        if isinstance(statement.targets[0], (gast.Tuple, gast.List)) and len(statement.targets) == 1:
            self.used_up.add(id(statement.value))
        self.need([statement.value])
        self.renaming.add(id(statement.value))  # what may be None may have another name
        thing = self.assigned_view(statement.value, statement.targets)
        written = self.written_call(statement.value, statement) if thing is None else None
        if written is not None:
            thing = ir.Constant(None) if is_none(written) else self.view_of(written)
        held = [t for t in statement.targets if self.is_container(t, statement.value)] if thing is None else []
        thing = self.literal_container(held[0], statement.value, statement) if held else thing
        thing = self.record_made(statement.value, statement.targets) if thing is None else thing
        thing = self.in_its_place(statement.value) if thing is None else thing
        thing = self.expression(statement.value) if thing is None else thing
        several = len(statement.targets) > 1
        if several and isinstance(thing, Inert):
            thing = self.bind(thing, target_name(statement.targets[-1]) or "t")
        self.store_all([(target, thing) for target in statement.targets], statement)

    def assign(self, target, thing, statement) -> None:
        """``target = thing``."""
        if isinstance(target, gast.Name):
            self.assign_name(target.id, thing)
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, thing, statement)
        else:
            self.store(target, thing, statement)

    def assign_name(self, name: str, thing) -> None:
        if isinstance(thing, Known):
            operand = thing.operand
            if isinstance(operand, ir.Code):
                inert = Inert(operand.node, operand.reads, operand.type, False, True, self.regions_of(thing))
                value = self.bind(inert, name)
                self.temporaries.discard(value)
                data = not resolve.is_definition(thing.value)
                thing = value if data else Known(thing.value, value)
        elif isinstance(thing, Inert):
            same = thing.reads.get(thing.node.id) if isinstance(thing.node, gast.Name) else None
            if same is not None and (name not in self.mutable or same.type.kind is Kind.ARRAY):
                thing = same
            else:
                unread = name not in self.read_names and may_raise(thing.node)
                thing = self.bind(dataclasses.replace(thing, pure=thing.pure and not unread), name)
        elif isinstance(thing, (ir.Constant, ir.Code)):
            thing = self.held_by_value(thing, name)
        made = thing.value if isinstance(thing, Nested) else thing
        if made in self.temporaries and name not in self.part_names:
            made.name = name
            self.temporaries.discard(made)
        self.env[name] = thing
        self.track(name, thing)

    def unpack(self, target, thing, statement) -> None:
        t = self.type_of(thing)
        if isinstance(thing, FUNCTIONS):
            self.refuse("a function is unpacked", statement)
        starred = any(isinstance(e, gast.Starred) for e in target.elts)
        if self.is_object(thing) and not starred and len(target.elts) == len(self.made[thing]):
            self.store_all(list(zip(target.elts, self.made[thing], strict=True)), statement)
            return
        if not is_active(thing):
            self.unpack_inert(target, thing, statement)
            return
        if starred:
            self.unpack_starred(target, thing, statement)
            return
        if thing in self.made and len(target.elts) == len(self.made[thing]) and self.is_changed(target):
            self.store_all(list(zip(target.elts, self.made[thing], strict=True)), statement)
            return
        if (
            t.kind is Kind.ARRAY
            and t.ndim is not None
            or t.kind in SEQUENCES
            or (t.kind is Kind.RECORD and issubclass(t.cls, tuple))
        ):
            if t.items is not None and len(t.items) != len(target.elts):
                self.refuse(f"{len(t.items)} values are unpacked into {len(target.elts)} names", statement)
        else:
            self.refuse("what is unpacked here cannot be told", statement)
        stores: list = []
        targets = self.pattern(target, t, self.activity(thing), self.regions_of(thing), statement, stores)
        self.emit(ir.Unpack(targets, thing, self.found.location(statement)))
        self.see_rows(targets, thing, statement)
        self.store_all(stores, statement)

    def expressions_or_views(self, nodes: list) -> list:
        """The values of expressions; what is a view of an array is known as one, whether a derivative flows or not."""
        things = []
        for node in nodes:
            view = None if isinstance(node, gast.Name) else self.view_of(node)
            thing = self.expression(node) if view is None else view
            things.append(self.operand(thing) if isinstance(thing, Inert) else thing)
        return things

    def store_all(self, pairs: list, statement) -> None:
        """Assign things to targets, the first first; each is what it has become when its turn comes."""
        first = 1 + max((int(n[:-1]) for n in self.env if n[:-1].isdigit()), default=-1)  # others wait around these
        waiting = {f"{k}@": thing for k, (_, thing) in enumerate(pairs, first) if isinstance(thing, ir.Value)}
        self.env |= waiting
        for k, (target, thing) in enumerate(pairs, first):
            before = dict(self.env)
            self.assign(target, self.env.pop(f"{k}@", thing), statement)
            stores = [n for n in targets_of(target) if isinstance(n, gast.Subscript) and self.holder(n.value) is None]
            if not stores:
                continue
            named = isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name)
            array = before.get(target.value.id) if named else None
            for later, (_, other) in enumerate(pairs[k + 1 - first :], k + 1):
                lost = isinstance(self.env.get(f"{later}@"), Unbound)
                unseen = f"{later}@" not in waiting and self.type_of(other).kind is not Kind.NUMBER
                if lost or (unseen and (array is None or self.meet(array, other))):
                    self.refuse("what is stored here may share memory with where it is stored", statement)

    def unpack_starred(self, target, thing, statement) -> None:
        """``a, *b = thing`` for a container of known length, or an array."""
        t = self.type_of(thing)
        if t.kind is Kind.ARRAY and t.ndim and self.is_builtin("list", list):
            self.unpack_rows(target, thing, statement)
            return
        if t.kind not in SEQUENCES or t.items is None:
            self.refuse("`*` in the target of an assignment of values that carry a derivative", statement)
        items = self.items_of(thing, statement)
        i = next(i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred))
        last = len(items) - (len(target.elts) - i - 1)
        if last < i:
            self.refuse(f"{len(items)} values are unpacked into {len(target.elts) - 1} names", statement)
        middle = items[i:last]
        rest = self.make_container(types.sequence(Kind.LIST, list(map(self.type_of, middle))), middle, statement)
        plain = [e.value if isinstance(e, gast.Starred) else e for e in target.elts]
        self.store_all(list(zip(plain, [*items[:i], rest, *items[last:]], strict=True)), statement)

    def unpack_rows(self, target, thing, statement) -> None:
        """``a, *rest = x`` as ``a = x[0]; rest = list(x[1:])``."""
        i = next(i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred))
        after = len(target.elts) - i - 1
        fixed = i + after
        if axes.least(types.axes_of(self.type_of(thing))[0]) < fixed:
            self.refuse("it is not known whether there are as many values as are unpacked", statement)
        name = self.new_name("items")
        self.env[name] = self.operand(thing)
        places = [*range(i), slice(i, -after or None), *range(-after, 0)]
        for element, place in zip(target.elts, places, strict=True):
            text = f"list({name}[{i}:{place.stop or ''}])" if isinstance(place, slice) else f"{name}[{place}]"
            value = gast.parse(text).body[0].value
            for part in syntax.walk(value):
                gast.copy_location(part, statement)
            whole = element.value if isinstance(element, gast.Starred) else element
            self.assign(whole, self.expression(value), statement)

    def pattern(self, target, t: ir.Type, active, regions, statement, stores=None) -> tuple:
        """Values for the parts of what is unpacked, assigned to the names of `target`."""
        found = []
        if t.items is not None and len(t.items) != len(target.elts):
            self.refuse(f"{len(t.items)} values are unpacked into {len(target.elts)} names", statement)
        for i, element in enumerate(target.elts):
            if isinstance(element, gast.Starred):
                self.refuse("`*` in the target of an assignment of values that carry a derivative", statement)
            item = item_type(t, i)
            on = active[i] if isinstance(active, tuple) else active and numeric(item)
            if isinstance(element, (gast.Tuple, gast.List)):
                if any_active(on) and item.kind not in (*SEQUENCES, Kind.ARRAY):
                    self.refuse("what is unpacked here cannot be told", statement)
                found.append(self.pattern(element, item, on, regions, statement, stores))
            else:
                value = self.value(target_name(element) or "t", item, on, regions)
                if isinstance(element, gast.Name) and not stores:
                    self.env[element.id] = value  # later ones wait for what is stored before them
                elif stores is None:
                    self.refuse("this form of loop variable is not compiled", statement)
                else:
                    stores.append((element, value))
                found.append(value)
        return tuple(found)

    def unpack_inert(self, target, thing, statement) -> None:
        t = self.type_of(thing)
        operand = self.operand(thing, "items")
        starred = any(isinstance(n, gast.Starred) for n in targets_of(target))
        regions = self.regions_of(operand)
        rows = isinstance(operand, ir.Value) and t.kind is Kind.ARRAY
        numbers = t.items is not None and all(item.kind is Kind.NUMBER for item in t.items)
        if not starred and (rows or numbers or not self.is_changed(target)):
            fine = t if t.kind in (*SEQUENCES, Kind.ARRAY) else ir.UNKNOWN
            stores: list = []
            targets = self.pattern(target, fine, False, self.inside(t, regions), statement, stores)
            lengths = types.shape_of(operand)[1] if isinstance(operand, ir.Code) else None
            if isinstance(lengths, tuple):  # else it is a shape of which no length is known
                for value, length in zip(targets, lengths, strict=False):
                    if isinstance(value, ir.Value):
                        value.length = length
            self.emit(ir.Unpack(targets, operand, self.found.location(statement)))
            self.see_rows(targets, operand, statement)
            self.store_all(stores, statement)
            return
        if not isinstance(operand, ir.Value):
            inert = Inert(code_node(operand), getattr(operand, "reads", {}), t, False, True, regions)
            operand = self.bind(inert, "items")
        label = self.label(operand, ())
        node = gast.Assign([target], gast.Name(label, gast.Load(), None, None), None)
        self.write_targets(target, statement)
        writes = {}
        for name, kind in self.target_types(target, t).items():
            writes[name] = self.env[name] = self.value(name, kind, False, self.inside(t, regions))
        reads = {label: operand} | self.reads_of(target)
        self.emit(ir.Verbatim(node, reads, writes, self.found.location(statement)))

    def is_changed(self, target) -> bool:
        return not self.mutable.isdisjoint(self.names.stores(target))

    def inert_pattern(self, target, t, regions) -> tuple:
        found = []
        for i, element in enumerate(target.elts):
            item = item_type(t, i) if t.items is None or i < len(t.items) else ir.UNKNOWN
            if isinstance(element, (gast.Tuple, gast.List)):
                found.append(self.inert_pattern(element, item, regions))
            else:
                value = self.env[element.id] = self.value(element.id, item, False, regions)
                found.append(value)
        return tuple(found)

    def write_targets(self, target, statement) -> None:
        for node in targets_of(target):
            if isinstance(node, (gast.Subscript, gast.Attribute)):
                self.write(node.value, statement)

    def store(self, target, thing, statement) -> None:
        """``target[...] = thing`` or ``target.name = thing``."""
        what = text(target)
        self.see_index(target)
        if self.put(target, thing, statement):
            return
        if self.placed_list(target) is not None:
            self.put_element(target, thing, statement)
            return
        array = self.written_array(target.value) if isinstance(target, gast.Subscript) else None
        flat = (
            isinstance(target, gast.Subscript)
            and isinstance(target.value, gast.Attribute)
            and target.value.attr == "flat"
        )
        if flat and array is not None and self.type_of(thing).kind is not Kind.NUMBER:
            self.see_apart(thing, array, target)
            shape = types.axes_of(self.type_of(thing))
            if not shape or not all(map(axes.is_some, shape)):
                array = None
            else:  # it is repeated, or cut off
                places = self.op(operator.getitem, [array, self.index(target.slice)], {}, statement)
                thing = self.resized(self.operand(thing), places, statement)
        if array is not None:
            thing = self.placed_before(thing, target.slice)
            self.write_into(array, self.index(target.slice), thing, None, statement)
            return
        if is_live(thing, self):
            self.refuse(f"a value that carries a derivative is stored in {what}", statement)
        root = target
        while isinstance(root, (gast.Subscript, gast.Attribute)):
            root = root.value
        if isinstance(root, gast.Name) and is_active(self.env.get(root.id)):
            self.refuse(f"{root.id} carries a derivative and is changed in place", statement)
        operand = self.operand(thing)
        self.write(target.value, statement)
        for region in self.facts(target.value, {})[3]:
            for other in self.regions_of(operand):
                region.join(other)
        if isinstance(thing, Inert) and not isinstance(operand, ir.Value):
            node, reads = gast.Assign([target], thing.node, None), thing.reads
        else:
            label = self.label(operand, ()) if isinstance(operand, ir.Value) else None
            value = gast.Name(label, gast.Load(), None, None) if label else code_node(operand)
            node, reads = (
                gast.Assign([target], value, None),
                ({label: operand} if label else getattr(operand, "reads", {})),
            )
        reads = reads | self.reads_of(target)
        self.emit(ir.Verbatim(node, reads, {}, self.found.location(statement)))

    def see_index(self, target) -> None:
        """Refuse to store where an index is unpacked."""
        if isinstance(target, gast.Subscript) and syntax.contains(target.slice, gast.Starred):
            self.refuse("`*` in the index of what is stored", target)

    def placed_before(self, thing, node):
        """What is stored is evaluated before the index `node`: where that may matter, in a line of its own."""
        if isinstance(thing, Inert) and not thing.pure and not isinstance(node, gast.Constant):
            return self.place(thing, "t")
        return thing

    def statement_AugAssign(self, statement, after):
        target = statement.target
        self.see_index(target)
        self.see_order(statement)
        if id(statement) in self.read_before:
            before = gast.Name(self.read_before[id(statement)], gast.Load(), None, None)
            value = self.changed_before(before, statement, after)
            if value is not None:
                self.statement_Assign(gast.copy_location(gast.Assign([target], value, None), statement), after)
                return
        self.see_taken(statement)
        if self.augmented_slot(statement) or (self.held_item(target) is not None and self.augmented(statement)):
            return
        if self.list_statement(statement) or self.augmented_container(statement) or self.augmented(statement):
            return
        if not isinstance(target, gast.Name):
            if self.may_be_active(statement.value) and not isinstance(self.expression_or_none(statement.value), Inert):
                self.refuse(f"a value that carries a derivative is stored in {text(target)}", statement)
            self.write(target.value, statement)
            inert = self.inert(statement.value)
            reads = inert.reads | self.reads_of(target)
            node = gast.AugAssign(target, statement.op, inert.node)
            self.emit(ir.Verbatim(node, reads, {}, self.found.location(statement)))
            return
        name = target.id
        if name not in self.env:
            self.refuse(f"{name} may have no value here", statement)
        if isinstance(self.env[name], Unbound):
            self.refuse(self.env[name].reason, statement)
        kind = self.type_of(self.env[name]).kind
        load = gast.Name(name, gast.Load(), None, None)
        if kind is Kind.NUMBER or (kind in (Kind.TUPLE,)):
            binary = gast.BinOp(load, statement.op, statement.value)
            binary.lineno = statement.lineno
            self.assign_name(name, self.expression(binary))
            return
        live = is_live(self.env[name], self) or self.may_be_active(statement.value)
        if live:
            what = "an array" if kind is Kind.ARRAY else "a list" if kind is Kind.LIST else "perhaps an array"
            self.refuse(
                f"{name} is {what}: the augmented assignment changes it in place, which is not compiled", statement
            )
        if kind is Kind.OTHER and self.type_of(self.env[name]).cls in NEVER_ARRAYS:
            self.verbatim(statement)
            return
        self.write(load, statement)
        inert = self.inert(statement.value)
        old = self.env[name]
        result = self.value(name, self.type_of(old) if kind is Kind.ARRAY else ir.UNKNOWN, False, self.regions_of(old))
        reads = inert.reads | {name: self.data(old, statement)}
        node = gast.AugAssign(target, statement.op, inert.node)
        self.emit(ir.Verbatim(node, reads, {name: result}, self.found.location(statement)))
        self.env[name] = result

    def statement_Delete(self, statement, after):
        for target in statement.targets:
            if not self.deleted(target, statement) and not self.shortened(target, statement):
                self.verbatim(gast.copy_location(gast.Delete([target]), statement))

    def see_order(self, statement) -> None:
        """Refuse an augmented assignment whose value may bind what its target reads: the target is read first."""
        bound = {n.target.id for n in syntax.walk(statement.value) if isinstance(n, gast.NamedExpr)}
        bound |= self.rebound_names if self.has_apart(statement.value) else set()
        if not bound.isdisjoint(self.names.loads(statement.target) | self.names.stores(statement.target)):
            self.refuse(f"what {text(statement.target)} is may change while {text(statement.value)} runs", statement)

    def changed_before(self, before, statement, after):
        """What is to be stored where `before` was read, then something written; None for a view, changed in place."""
        held, base = self.env.get(before.id), statement.target.value
        array = self.env.get(base.id) if isinstance(base, gast.Name) else None
        kind = held.type.kind if isinstance(held, ir.Value) else Kind.UNKNOWN
        of_array = kind is Kind.ARRAY and isinstance(array, ir.Value) and array.type.kind is Kind.ARRAY
        if kind is Kind.NUMBER or (of_array and not self.meet(held, array)):
            return gast.copy_location(gast.BinOp(before, statement.op, statement.value), statement)
        if of_array and held in self.views:
            return None
        name = gast.Name(before.id, gast.Store(), None, None)
        self.statement_AugAssign(self.located(gast.AugAssign(name, statement.op, statement.value), statement), after)
        return before

    def expression_or_none(self, node):
        """`node` lowered on trial: an `Inert`, or None where anything else comes out."""
        block, result = self.branch(lambda: self.expression(node))
        return result if isinstance(result, Inert) and not block.statements else None

    def statement_FunctionDef(self, statement, after):
        if statement.decorator_list:
            self.verbatim(statement)
            return
        nested = self.nested(statement)
        self.env[statement.name] = nested

    def nested(self, node) -> Nested:
        """A function defined here."""
        args = node.args
        names = [a.id for a in [*args.posonlyargs, *args.args]]
        pairs = list(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
        pairs += [(a.id, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        defaults = {}
        for name, default in pairs:
            thing = self.expression(default)
            defaults[name] = self.operand(thing, name) if isinstance(thing, Inert) else thing
        found = Nested(node, self, defaults)
        captured = [n for n in self.names.captured(node) if n in self.local and n != found.name]
        live = any(is_live(self.env.get(n), self) for n in captured) or any(is_live(d, self) for d in defaults.values())
        if (
            all(n in self.env for n in captured)
            and not live
            and not any(isinstance(self.env[n], Unbound) for n in captured)
        ):
            self.define(found, captured, pairs)
        return found

    def define(self, nested: Nested, captured: list, defaults: list) -> None:
        """Define the nested function in the generated code too, as a value; it is left out if nothing uses it."""
        node = nested.node
        try:
            reads = functools.reduce(operator.or_, [self.held(n, node) for n in captured], {})
            for _, default in defaults:
                inert = self.inert(default)
                if inert.node is not default:
                    return  # its text names a container that is no value
                reads |= inert.reads
        except CompileError:
            return
        nested.value = self.value(getattr(node, "name", "function"), self.type_of(nested), False, [self.anywhere])
        place = self.found.location(node)
        if isinstance(node, gast.Lambda):
            self.emit(ir.Bind(nested.value, ir.Code(node, reads, nested.value.type), place))
            self.temporaries.add(nested.value)
        else:
            self.emit(ir.Verbatim(node, reads, {node.name: nested.value}, place))

    # -------------------------------------------------------------------------------- verbatim statements

    def walked(self, lower, statement) -> tuple:
        """What the names stand for that a statement binds, found by lowering it on trial; is that all that it does?

        It is where it writes into nothing, and all other names stand for what they did.
        """
        outside, writes = (self.statements, self.env, self.current), self.session.writes
        before, stores = self.env, self.names.stores(statement)
        self.statements, self.env = [], dict(self.env)
        try:
            _, refusal = self.on_trial(lower)
            if refusal is not None:
                return {}, False
            changes = any(isinstance(s, WRITING) for s in walk.statements(ir.Block(self.statements)))
            others = all(self.env.get(name) is thing for name, thing in before.items() if name not in stores)
            known = {name: self.env[name] for name in stores if isinstance(self.env.get(name), ir.Value)}
            return known, others and not changes and writes == self.session.writes
        finally:
            self.statements, self.env, self.current = outside

    def verbatim(self, statement, lower=None, after=None) -> None:
        """A statement of the user's that no derivative flows through.

        `lower` would lower it, if that can be done; `after` are the names that may be read afterwards (None: all).
        """
        simple = isinstance(statement, (gast.Expr, gast.Raise))
        if not simple and self.may_be_active(statement):
            self.refuse(f"{describe(statement)} that a derivative flows through is not compiled", statement)
        if not simple and syntax.contains(statement, (gast.Return, gast.Global, gast.Nonlocal)):
            self.refuse(f"`return` inside of {describe(statement)} is not compiled", statement)
        if jumps(statement):
            self.refuse(f"`break` or `continue` inside of {describe(statement)} is not compiled", statement)
        stores = self.names.stores(statement)
        known, alone = ({}, False) if lower is None else self.walked(lower, statement)
        known_types = {name: value.type for name, value in known.items()}
        if self.is_builtin("range", range) and self.is_builtin("reversed", reversed):
            new = (n for n in counters(statement) if not isinstance(self.env.get(n), ir.Value))
            known_types |= dict.fromkeys(new, ir.INT)
        bound = {
            name: known_types.get(name, ir.UNKNOWN)
            for name in stores
            if name not in self.env or name in known_types or isinstance(self.env[name], Unbound)
        }
        lists = self.changed_lists(statement)
        if alone and not lists:
            self.see_forms(statement)
        else:
            self.changing, before = self.changing | lists, self.changing
            self.effects_of(statement, bound)
            self.changing = before
        reads = {}
        blocks = isinstance(statement, (*LOOPS, gast.If, gast.With, gast.Try))
        kept = {n for n in stores if isinstance(self.env.get(n), ir.Value)} if blocks else set()
        if any(is_live(self.env[n], self) for n in kept):
            self.refuse(f"{describe(statement)} that may bind a name of a value that carries a derivative", statement)
        exposed = exposed_names([statement], self.names)
        for name in self.names.loads(statement) | kept:  # what it does not surely bind stays what it was
            if name in self.env:
                if isinstance(self.env[name], Unbound) and name in stores and name not in exposed:
                    continue
                reads |= self.held(name, statement)
            elif name in self.local and name not in stores:
                self.refuse(f"{name} may have no value here", statement)
        writes = {}
        given = {thing for thing in self.env.values() if isinstance(thing, ir.Value)}
        regions = [r for v in reads.values() for r in self.regions_of(v)]
        for name in sorted(stores):
            if known_types.get(name) == ir.INT or (after is not None and name not in after):
                memory = []
            else:
                memory = self.regions_of(known[name]) if name in known_types else [*regions, self.anywhere]
            writes[name] = self.value(name, known_types.get(name, ir.UNKNOWN), False, memory)
            if not (blocks and is_lost(self.env.get(name))):
                self.env[name] = known[name] if known.get(name) in given else writes[name]
        for name in lists - stores:
            writes[name] = self.value(name, ir.Type(self.type_of(self.env[name]).kind), False, regions)
            self.env[name] = writes[name]
        self.emit(ir.Verbatim(statement, reads, writes, self.found.location(statement)))
        for name in caught_names(statement) & bound.keys():  # Python deletes them
            self.env[name] = Unbound(f"{name} may have no value here", True)

    def see_forms(self, statement) -> None:
        """Refuse what may not stand in a statement that stays as it is."""
        for node in syntax.walk(statement):
            if (
                isinstance(node, syntax.FUNCTIONS)
                and not isinstance(node, gast.Lambda)
                or isinstance(node, gast.ClassDef)
            ):
                self.refuse(f"{describe(node)} in this place is not compiled", statement)
            if isinstance(node, (gast.Yield, gast.YieldFrom, gast.Await, gast.NamedExpr)):
                self.refuse(f"{describe(node)} is not compiled", statement)
            if isinstance(node, gast.Match) and binds_in_patterns(node):
                self.refuse("`match` that binds names in such patterns is not compiled", statement)

    def effects_of(self, statement, bound: dict) -> None:
        """Registers what a statement writes to, and refuses what cannot be seen."""
        self.see_forms(statement)
        for node in syntax.walk(statement):
            if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
                self.write(node.value, statement, bound)
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                name = node.target.id
                t = bound.get(name) or self.type_of(self.env[name]) if name in self.env or name in bound else ir.UNKNOWN
                if t.kind is not Kind.NUMBER and not (t.kind is Kind.OTHER and t.cls in NEVER_ARRAYS):
                    self.write(gast.Name(name, gast.Load(), None, None), statement, bound)
        for node in expressions_of(statement):
            self.facts(node, bound)
