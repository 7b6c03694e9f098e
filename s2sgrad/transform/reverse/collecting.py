"""Adds to cotangents and hands them out: the bookkeeping under the reverse pass."""

import functools
import operator

import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import contents_read
from s2sgrad.transform.analysis import types
from s2sgrad.transform.build import Builder
from s2sgrad.transform.inline import Seq
from s2sgrad.transform.inline import operand as as_operand
from s2sgrad.transform.ir import ZERO, Constant, Kind, Type, Value
from s2sgrad.transform.reverse.activity import carries, item, keys
from s2sgrad.transform.reverse.cotangents import (
    Cotangent,
    Scope,
    container_type,
    cotangent_type,
    holds_records,
    is_container,
    is_of_numbers,
    is_stack,
    number_list,
    slot_name,
    slot_type,
    stack_type,
)


class Collecting:
    """The cotangents of one reverse pass.

    Attributes
    ----------
    active : set of Value
    forward : set of Value
        All values of the forward pass.
    scope : Scope
        The cotangents of the block that is being walked.
    build : Builder
        Where the backward statements go.
    """

    active: set
    forward: set
    scope: Scope
    build: Builder

    def is_active(self, operand) -> bool:
        return isinstance(operand, Value) and operand in self.active

    def add(self, value, contribution, path: tuple = ()) -> None:
        """Add a contribution (an operand, or a dict or `Seq` of them) to the cotangent of `value` at `path`."""
        if not self.is_active(value) or absent(contribution):
            return
        t = slot_type((value, path))
        if not carries(t):
            return
        known = keys(t)
        if known is not None:
            for key, part in self.parts(contribution, t, optional=self.is_perhaps_unbound(value, path)).items():
                self.add(value, part, (*path, key))
            return
        if isinstance(contribution, dict | Seq):
            contribution = self.together(contribution, t)
        self.add_leaf((value, path), contribution)

    def parts(self, contribution, t: Type, partial: bool = False, optional: bool = False) -> dict:
        """The cotangents of the items of a container of type `t`, by key.

        `partial`: any of them may be None. `optional`: `contribution` may be None itself, as the container.
        """
        known = keys(t)
        if isinstance(contribution, dict):
            return contribution
        if isinstance(contribution, Seq):
            items = contribution.items
        else:
            define = self.build.definitions.get(contribution) if isinstance(contribution, Value) else None
            if isinstance(define, ir.Make):
                items = define.items
            elif optional:
                there = self.build.op(operator.is_not, contribution, Constant(None))
                part = functools.partial(self.part, contribution, t)
                return {k: self.where(there, functools.partial(part, k)) for k in known if carries(item(t, k))}
            elif is_named(t):
                return {k: self.part(contribution, t, k) for k in known if carries(item(t, k))}
            else:
                items = tuple(Value("t") if carries(item(t, k)) else None for k in known)
                for key, target in zip(known, items, strict=True):
                    if target is not None:
                        target.type = ir.UNKNOWN if partial else cotangent_type(item(t, key))
                self.build.add(ir.Unpack(items, contribution, self.build.location))
        return {k: x for k, x in zip(known, items, strict=True) if not absent(x)}

    def part(self, d: Value, t: Type, key):
        """The part at `key` of the cotangent of a container of type `t`."""
        if not is_named(t):
            return self.build.op(operator.getitem, d, Constant(keys(t).index(key)))
        get = getattr if t.kind is Kind.RECORD and d.type.kind is not Kind.DICT else operator.getitem
        return self.build.op(get, d, Constant(key))

    def together(self, contribution, t: Type):
        """The parts of a cotangent as one container."""
        if isinstance(contribution, Seq):
            contribution = dict(enumerate(contribution.items))
        items = [ZERO if absent(x) else self.whole(x, ir.UNKNOWN) for x in contribution.values()]
        kind = Kind.DICT if t.kind is Kind.DICT else Kind.TUPLE if t.kind is Kind.TUPLE else Kind.LIST
        names = tuple(contribution) if kind is Kind.DICT else None
        return self.build.make(Type(kind, items=tuple(map(types.type_of, items)), keys=names), items)

    def whole(self, contribution, t: Type):
        """A contribution as an operand."""
        if isinstance(contribution, dict | Seq):
            return self.together(contribution, t)
        return as_operand(self.build, contribution)

    def add_leaf(self, slot, contribution) -> None:
        contribution = as_operand(self.build, contribution)
        t = slot_type(slot)
        before = self.scope.get(slot)
        given = types.type_of(contribution)
        if t.kind is Kind.NUMBER and given.kind is not Kind.NUMBER:
            contribution = self.build.op(arrays.unbroadcast, contribution, self.read(slot))
        elif t.kind is Kind.NUMBER and t.is_real and given.dtype is not None and not given.is_real:
            contribution = self.build.op(np.real, contribution)  # of a number that may be complex later
        if isinstance(contribution, Value):
            if before is None and contribution.name == "t" and contribution not in self.forward:
                contribution.name = slot_name(slot)
            self.refine(contribution, t)
        if before is None:
            self.scope.set(slot, Cotangent(contribution))
        elif before.owned and t.kind is Kind.ARRAY:
            target = Value(slot_name(slot), before.operand.type)
            self.build.add(ir.Accumulate(target, before.operand, None, contribution, self.build.location))
            self.scope.set(slot, Cotangent(target, owned=True))
        else:
            plain = t.kind in (Kind.NUMBER, Kind.ARRAY) or (t.kind is Kind.UNKNOWN and t.dtype is not None)
            total = self.build.op(operator.add if plain else arrays.tree_add, before.operand, contribution)
            if isinstance(total, Value):
                if total.name == "t":
                    total.name = slot_name(slot)
                self.refine(total, t)
            self.scope.set(slot, Cotangent(total, partial=before.partial))

    def refine(self, d: Value, t: Type) -> None:
        """A cotangent has the shape of what it is the cotangent of; what comes from around a branch may have others."""
        if d not in self.build.made or t.kind not in (Kind.NUMBER, Kind.ARRAY) or is_container(d.type):
            return
        if (t.shape is not None and d.type.shape != t.shape) or d.type.kind is Kind.UNKNOWN:
            d.type = Type(t.kind if t.ndim else d.type.kind, d.type.dtype, t.ndim, t.shape)

    def add_at(self, slot, index, contribution) -> None:
        """Add to an element of the cotangent in a slot, in place."""
        contribution = as_operand(self.build, contribution)
        found = self.scope.get(slot)
        buffer = self.buffer(slot, found)
        target = Value(slot_name(slot), buffer.type)
        self.build.add(ir.Accumulate(target, buffer, index, contribution, self.build.location))
        if found is not None and found.owned:
            partial = found.partial
        else:
            partial = is_container(buffer.type) and not is_of_numbers(buffer.type)
        self.scope.set(slot, Cotangent(target, owned=True, partial=partial))

    def give(self, value, buffer: Value) -> None:
        """Add an array or list that nobody else holds to the cotangent of `value`."""
        slot = (value, ())
        if not self.is_active(value):
            return
        before = self.scope.get(slot)
        if before is not None:
            into, more = (before.operand, buffer) if before.owned else (buffer, before.operand)
            buffer = Value(slot_name(slot), into.type)
            self.build.add(ir.Accumulate(buffer, into, None, more, self.build.location))
        self.scope.set(slot, Cotangent(buffer, owned=True))

    def settled(self, forward: ir.Block, backward: ir.Block, entering=()) -> ir.Block:
        """The backward block, reading copies of what the forward block, or what comes after it, writes over.

        `entering` are the values that are defined at the beginning of the forward block.
        """
        if not self.memory.changes:
            return backward
        read = contents_read(backward)
        needed = [v for v in walk.free(backward) if v in read and self.memory.is_volatile(v)]
        copies = {}
        for v in needed:
            made = next((i + 1 for i, s in enumerate(forward.statements) if v in walk.defines(s)), 0)
            if not made and v not in entering:
                continue  # defined further out
            # It is written over after its last use: the copy stands there, mostly where it is saved.
            uses = [i for i, s in enumerate(forward.statements) if reads(s, v)]
            at = uses[-1] if uses else made
            if v.type.kind is not Kind.ARRAY:
                reason = f"{v.name} is needed again after an array that it may share memory with is changed"
                raise CompileError(reason, self.build.location)
            copies[v] = Value(v.name, v.type, maybe=v.maybe)
            is_there = made and isinstance(forward.statements[made - 1], ir.Op | ir.Store)
            spelling = "copy()" if is_there else None  # else it may be None, which NumPy copies as well
            forward.statements.insert(at, ir.Op(copies[v], np.copy, (v,), {}, spelling, self.build.location))
        return walk.substitute(backward, copies)

    def buffer(self, slot, found: Cotangent | None) -> Value:
        """A buffer for a slot that nobody else holds, with what is in the slot already."""
        if found is not None and found.owned:
            return found.operand
        t = slot_type(slot)
        if is_stack(t) and found is not None and not found.partial:
            copy = Value(slot_name(slot), stack_type(t))
            return self.build.plain(copy, operator.getitem, (found.operand, Constant(slice(None))), {})
        if is_of_numbers(t):
            plain = number_list()
            fresh = self.build.plain(Value(slot_name(slot), plain), arrays.as_gradient, (ZERO, self.read(slot)), {})
            if found is None:
                return fresh
            return self.build.plain(Value(slot_name(slot), plain), arrays.tree_add, (fresh, found.operand), {})
        if is_container(t):
            kind = Kind.DICT if t.kind is Kind.DICT else Kind.LIST
            fresh = self.build.plain(Value(slot_name(slot), Type(kind)), arrays.slots_of, (self.read(slot),), {})
            if found is None:
                return fresh
            return self.build.plain(Value(slot_name(slot), Type(kind)), arrays.tree_add, (fresh, found.operand), {})
        if slot[0].partial and t.kind is not Kind.NUMBER:
            reason = f"a part of {slot[0].name} is read, or it is read in a loop, and it may have no value"
            raise CompileError(reason, self.build.location)
        zeros = self.zeros(slot)
        if found is None:
            return zeros
        target = Value(slot_name(slot), zeros.type)
        self.build.add(ir.Accumulate(target, zeros, None, found.operand, self.build.location))
        return target

    def whole_buffer(self, slot, found: Cotangent | None) -> Value:
        """A buffer as a loop carries it: none of the elements of a list is absent."""
        t = slot_type(slot)
        if is_container(t) and not is_of_numbers(t) and (found is None or found.partial):
            return self.new_zeros(slot) if found is None else self.finished(slot, found)
        return self.buffer(slot, found)

    def take(self, value: Value):
        """The finished cotangent of a value: an operand, a dict of the items' ones, or None for zero."""
        return self.take_at(value, ()) if self.is_active(value) else None

    def take_at(self, value, path):
        slot = (value, path)
        t = slot_type(slot)
        known = keys(t)
        found = self.scope.pop(slot)
        if known is None:
            return None if found is None else self.finished(slot, found)
        if found is not None:  # an item was picked by an index that only the run knows
            self.add(value, self.finished(slot, found), path)
        parts = {k: self.take_at(value, (*path, k)) for k in known}
        return None if all(p is None for p in parts.values()) else parts

    def require_spent(self) -> None:
        """Refuse to lose a cotangent: each of a value of the block has been handed on where the value was made."""
        for slot in self.scope.cotangents:
            if slot[0] in self.scope.local:
                raise CompileError(f"what is done with {slot[0].name} is not followed", self.build.location)

    def finished(self, slot, found: Cotangent):
        if found.partial:
            return self.completed(found.operand, self.read(slot), slot_type(slot), slot_name(slot))
        return found.operand

    def completed(self, d, x, t: Type, name: str = "t"):
        """A cotangent of the container `x`, of type `t`, with zeros where it has none."""
        if not holds_records(t):
            return self.build.op(arrays.as_gradient, d, x, name=name)
        return self.build.plain(Value(name, cotangent_type(t)), arrays.as_cotangent, (d, x), {})

    def operand(self, cotangent, value: Value, path: tuple = (), full: bool = True):
        """A cotangent from `take` as one operand; `full`: zeros where it has none."""
        slot = (value, path)
        t = slot_type(slot)
        if cotangent is None:
            if not carries(t) or not full:
                return ZERO
            if keys(t) is None:
                return self.zeros(slot)
            cotangent = {}
        if not isinstance(cotangent, dict):
            return cotangent
        items = [self.operand(cotangent.get(k), value, (*path, k), full) for k in keys(t)]
        return self.build.make(container_type(t, items), items, slot_name(slot))

    def zeros(self, slot):
        """A zero cotangent."""
        t = slot_type(slot)
        if slot[0].partial and t.kind in (Kind.ARRAY, Kind.UNKNOWN) and not slot[1]:  # it may be None
            zeros = self.build.op(arrays.zeros_of, slot[0], name=slot_name(slot))
            zeros.type = Type(dtype=types.REAL if t.is_real else None)
            return zeros
        if t.kind is Kind.NUMBER or (t.kind is Kind.ARRAY and slot[0].partial):
            return Constant(0.0)  # where there may be no array to ask for its shape, it is added as a number
        return ZERO if slot[0].partial else self.new_zeros(slot)

    def new_zeros(self, slot):
        """A zero cotangent of what is no number, made now."""
        if not slot[1]:
            return self.zeros_like(slot)
        return self.if_bound(slot[0], functools.partial(self.zeros_like, slot))

    def if_bound(self, value: Value, make):
        """What `make` builds; None where `value` is None: not bound yet, or not come to in this turn."""
        if not self.is_perhaps_unbound(value):
            return make()
        t = value.type
        if t.kind is Kind.ARRAY and t.ndim:  # a copy of None is an array of no axes
            there = self.build.op(np.ndim, value)
        else:
            there = self.build.op(operator.is_not, value, Constant(None))
        return self.where(there, make)

    def where(self, there, make):
        """What `make` builds where `there` holds, else None."""
        build = self.build
        self.build = build.inner([])
        made, statements, self.build = make(), self.build.statements, build
        if not isinstance(made, Value):
            return made
        result = Value(made.name, made.type)
        ways = ir.Block(statements, (made,)), ir.Block([], (Constant(None),))
        build.add(ir.If(there, *ways, (result,), build.location))
        return result

    def is_perhaps_unbound(self, value: Value, path: tuple = ()) -> bool:
        """Is what is in a slot None in some of the turns or on some of the ways?"""
        return value.maybe or any((value, path[:i]) in self.unset for i in range(len(path) + 1))

    def zeros_like(self, slot):
        """A zero cotangent of what is surely there."""
        t = slot_type(slot)
        name = slot_name(slot)
        if t.kind is Kind.ARRAY and t.ndim != 0 and (t.dtype or "").startswith(("float", "complex")):
            zeros = self.build.op(np.zeros_like, self.first(self.read(slot)), name=name)
            zeros.type = types.of_any_layout(zeros.type)  # what is added to it may be taken for it
            return zeros
        if is_container(t):
            return self.completed(Constant(None), self.read(slot), t, name)
        return self.build.op(arrays.zeros_of, self.read(slot), name=name)

    def first(self, value):
        """The array that `value` is, as it was before it was written to: what a shape is asked of."""
        while value in self.origins:
            value = self.origins[value]
        return value

    def is_taken_apart(self, slot) -> bool:
        """Has the function taken out what is in the container in a slot, to put something else there later?"""
        holder, path = slot
        for key in path:
            holder = self.taken_out.get((holder, key))
        return any((holder, key) in self.taken_out for key in keys(slot_type(slot)))

    def read(self, slot):
        """The value in a slot: as the function took it out, which may put something else there later."""
        value, path = slot
        t = value.type
        for key in path:
            get = getattr if t.kind is Kind.RECORD else operator.getitem
            taken = self.taken_out.get((value, key))
            value = self.build.op(get, value, Constant(key)) if taken is None else taken
            t = item(t, key)
        return value


def is_named(t: Type) -> bool:
    """Are the items of a container got by their names?"""
    return t.kind is Kind.DICT or (t.kind is Kind.RECORD and not issubclass(t.cls, tuple))


def reads(s, v: Value) -> bool:
    """Does a statement, or one in it, read the contents of a value?"""
    return v in contents_read(ir.Block([s]))


def unset(block: ir.Block) -> set:
    """The slots of what may be None: what a loop binds first, before its first turn is done, and what holds such."""
    found = set()
    for s in walk.statements(block):
        if isinstance(s, ir.For):
            first = [c for c in s.carried if c.initial == Constant(None) and not c.parameter.partial]
            found.update((v, ()) for c in first for v in (c.parameter, c.result))
        elif isinstance(s, ir.Make) and keys(s.target.type) is not None:
            held = zip(keys(s.target.type), s.items, strict=True)
            found.update((s.target, (k,)) for k, x in held if isinstance(x, Value) and (x.maybe or (x, ()) in found))
    return found


def absent(x) -> bool:
    """Whether a contribution is none at all."""
    return x is None or (isinstance(x, Constant) and x.value is None)
