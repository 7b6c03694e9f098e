"""Reads cotangents where they are instead of copying them out first, where nothing changes them meanwhile.

In::

    t = getitem(du, 1:-1)
    dt = np.copy(t)
    du' = du[1:-1] = 0.0
    a = operator.mul(k, dt)
    du'' = du'[2:] += a
    b = operator.mul(c, dt)
    du5 = du''[1:-1] += dt

Out::

    t = getitem(du, 1:-1)
    a = operator.mul(k, t)
    b = operator.mul(c, t)
    du' = du[2:] += a

What is taken out of a place, which is set to zero, and added there again, stays. Of what is only read by operations
that make something new, these are done at once, and no copy is made. A number that is added to a place and taken out
of it at once (``du[i] += a``, ``dt = du[i]``) is added to what was there (``dt = du[i] + a``).
"""

import dataclasses
import operator
from collections import defaultdict

import gast
import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import Memory, is_new
from s2sgrad.transform.ir import Constant, Kind, Value


def borrow(function: ir.Function) -> ir.Function:
    """Leave out copies of parts of cotangents, in the generated part of a function."""
    at = function.backward_at
    if at is None:
        return function
    memory = Memory(function.body)
    if not memory.changes:
        return function
    statements = function.body.statements
    mapping: dict = {}
    after = _Borrow(function, memory, mapping).block(statements[at:])
    body = ir.Block(statements[:at] + after, function.body.results)
    return dataclasses.replace(function, body=walk.substitute(body, mapping) if mapping else body)


class _Borrow:
    def __init__(self, function: ir.Function, memory: Memory, mapping: dict):
        self.memory = memory
        self.mapping = mapping
        self.uses: dict = defaultdict(list)
        self.handed: set = {v for r in function.body.results for v in walk.values(r)}
        for s in walk.statements(function.body):
            for v in walk.uses(s):
                self.uses[v].append(s)
            self.handed.update(v for b in walk.blocks(s) for r in b.results for v in walk.values(r))

    def block(self, statements: list) -> list:
        done = []
        for s in statements:
            if isinstance(s, ir.If):
                blocks = [ir.Block(self.block(b.statements), b.results) for b in (s.then, s.orelse)]
                s = dataclasses.replace(s, then=blocks[0], orelse=blocks[1])
            elif isinstance(s, ir.For):
                s = dataclasses.replace(s, body=ir.Block(self.block(s.body.statements), s.body.results))
            done.append(s)
        definitions = {s.target: s for s in done if isinstance(s, ir.Op)}
        for s in list(done):
            if isinstance(s, ir.Accumulate):
                self.passes(s, done, definitions)
        for s in list(done):
            if isinstance(s, ir.Store) and any(s is one for one in done):
                self.stays(s, done, definitions)
        for target in [s.target for s in done if is_copy(s)]:
            self.lend(next(s for s in done if is_copy(s) and s.target is target), done)
        return done

    # ---- added, taken out at once

    def passes(self, s: ir.Accumulate, done: list, definitions: dict) -> None:
        """A number that is added to a place, from which the sum is taken out by the next statements."""
        where = next(i for i, one in enumerate(done) if one is s)
        read, zero = (*done[where + 1 : where + 3], None, None)[:2]
        if not (is_read(read, s) and is_cleared(zero, s)) or len(self.uses[s.target]) != 2:
            return
        function, value, gone = operator.add, s.value, [s, read, zero]
        negative = definitions.get(s.value) if isinstance(s.value, Value) and len(self.uses[s.value]) == 1 else None
        if negative is not None and negative.function is operator.neg and any(negative is one for one in done):
            function, value = operator.sub, negative.args[0]
            gone.append(negative)
            done.remove(negative)
        before = Value("t", read.target.type)
        new = [
            ir.Op(before, operator.getitem, (s.into, s.index), {}, None, s.location),
            ir.Op(read.target, function, (before, value), {}, None, s.location),
            dataclasses.replace(zero, into=s.into),
        ]
        at = done.index(s)
        done[at : at + 3] = new
        definitions.update({one.target: one for one in new[:2]})
        for v in {before}.union(*map(walk.uses, gone)):
            kept = [one for one in self.uses[v] if not any(one is other for other in gone)]
            self.uses[v] = kept + [one for one in new if v in walk.uses(one)]

    # ---- taken out, set to zero, added again

    def stays(self, s: ir.Store, done: list, definitions: dict) -> None:
        if s.value != Constant(0.0) or s.operator is not None or s.through is not None or s.index is None:
            return
        now, where = s.target, done.index(s)
        for later in done[where + 1 :]:
            if isinstance(later, ir.Accumulate) and later.into is now:
                if same(later.index, s.index) and self.is_part(later.value, s, definitions):
                    done.remove(s)
                    done.remove(later)
                    self.mapping[s.target] = s.into
                    self.mapping[later.target] = later.into if later.into is not s.target else s.into
                    self.uses[later.value].remove(later)
                    return
                if now is s.target and same(later.index, s.index):  # what is added is all that is there
                    new = ir.Store(later.target, s.into, s.index, later.value, None, None, False, later.location)
                    done[done.index(later)] = new
                    done.remove(s)
                    for v in dict.fromkeys(walk.uses(later)):
                        self.uses[v] = [new if one is later else one for one in self.uses[v]]
                    return
                now = later.target
            elif now in walk.uses(later) or any(now in walk.read(inner) for inner in walk.blocks(later)):
                return

    def is_part(self, value, s: ir.Store, definitions: dict) -> bool:
        """Is `value` a copy of what was at the place that is set to zero?"""
        copy = definitions.get(value) if isinstance(value, Value) else None
        if copy is not None and copy.function is np.copy:
            copy = definitions.get(copy.args[0]) if isinstance(copy.args[0], Value) else None
        elif copy is None or value.type.kind is not Kind.NUMBER:
            return False
        read = copy is not None and copy.function is operator.getitem
        return read and copy.args[0] is s.into and same(copy.args[1], s.index)

    # ---- read where it is

    def lend(self, copy: ir.Op, done: list) -> None:
        where, source = done.index(copy), copy.args[0]
        readers = self.readers(copy.target, done)
        if readers is None or not isinstance(source, Value):
            return
        readers.sort(key=done.index)
        memory = self.memory.members(source)
        last = done.index(readers[-1]) if readers else where
        writes = [s for s in done[where + 1 : last] if self.may_write(s, memory)]
        if any(isinstance(s, ir.Accumulate) and (writes or s.into in memory) for s in readers):
            return
        if writes:  # what is read is read at once
            inside = {v for s in done[where:] for v in walk.defines(s)} - {s.target for s in readers} - {copy.target}
            for s in readers:
                if any(v in inside or (v not in memory and self.memory.is_written(v)) for v in walk.uses(s)):
                    return
            for s in readers:
                done.remove(s)
            done[where + 1 : where + 1] = readers
        done.remove(copy)
        for i, s in enumerate(done):
            if s in readers:
                done[i] = new = walk.substituted(s, {copy.target: source})
                for v in dict.fromkeys(walk.uses(s)):
                    self.uses[v] = [new if one is s else one for one in self.uses[v]]
        self.uses[source] = [s for s in self.uses[source] if s is not copy] + self.uses.pop(copy.target)

    @staticmethod
    def may_write(s, memory: set) -> bool:
        return isinstance(s, ir.If | ir.For | ir.Call) or (isinstance(s, ir.Store | ir.Accumulate) and s.into in memory)

    def readers(self, value: Value, done: list):
        """The operations that read a value, if all of them make something new; those that hand it on included."""
        if value in self.handed:
            return None
        found: list = []
        for s in self.uses[value]:
            if not any(s is one for one in done):
                return None
            if isinstance(s, ir.Accumulate) and s.value is value and s.into is not value:
                if s.into.type.kind is not Kind.ARRAY:
                    return None  # a container keeps it
                found.append(s)
                continue
            if not isinstance(s, ir.Op):
                return None
            if s.function is arrays.unbroadcast and s.args[0] is value:
                more = self.readers(s.target, done)
                if more is None:
                    return None
                found += [s, *more]
            elif is_new(s.function, s.kwargs, s.spelling):
                found.append(s)
            else:
                return None
        return list(dict.fromkeys(found))


def is_read(read, s: ir.Accumulate) -> bool:
    """Is it the read of a number that has just been added to?"""
    found = isinstance(read, ir.Op) and read.function is operator.getitem and read.args[0] is s.target
    return found and read.target.type.kind is Kind.NUMBER and s.index is not None and same(read.args[1], s.index)


def is_cleared(zero, s: ir.Accumulate) -> bool:
    """Does a statement set to zero what has just been added to?"""
    found = isinstance(zero, ir.Store) and zero.into is s.target and zero.operator is None and zero.through is None
    return found and zero.value == Constant(0.0) and zero.index is not None and same(zero.index, s.index)


def is_copy(s) -> bool:
    return isinstance(s, ir.Op) and s.function is np.copy and not s.kwargs


def same(a, b) -> bool:
    """Are two indices surely the same?"""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return type(a.value) is type(b.value) and repr(a) == repr(b)
    if isinstance(a, ir.Code) and isinstance(b, ir.Code):
        return a.reads == b.reads and gast.dump(a.node) == gast.dump(b.node)
    return a is b
