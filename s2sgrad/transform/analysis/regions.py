"""Which parts of an array a loop does not write to any more: ``u[t + 1] = step(u[t])`` leaves ``u[t]`` as it is.

What is read along an axis, and what is written, lies between two bounds: a number, or the number that a loop counts,
and so many more. It is enough to know of one axis that the bounds of what is written later lie beyond those of what
was read.

Examples
--------
>>> import numpy as np
>>> from s2sgrad.transform.ir import Kind
>>> from s2sgrad.transform.aliases import Memory
>>> from s2sgrad.transform.pipeline import lower
>>> def f(u, n):
...     for t in range(n):
...         u[t + 1] = u[t] * u[t]
...         u[t + 1] = np.sin(u[t + 1])
...     return np.sum(u)
>>> function = lower(f, {"u": ir.Type(Kind.ARRAY, "float64", 2, "s"), "n": ir.INT}, {"u"}).function
>>> memory = Memory(function.body, Regions(function))
>>> rows = [s for s in walk.statements(function.body) if isinstance(s, ir.Op) and s.function is operator.getitem]
>>> [memory.is_volatile(s.target) for s in rows]
[False, False, True]
"""

import operator
from typing import NamedTuple

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import is_view
from s2sgrad.transform.ir import Constant, Value


class Bound(NamedTuple):
    """`more` than what a loop counts, or, where there is no `count`, than zero."""

    count: Value | None
    more: int

    def plus(self, more: int) -> "Bound":
        return Bound(self.count, self.more + more)


class Count(NamedTuple):
    """What is known of the number that a loop counts."""

    loop: int
    rises: bool
    low: Bound | None
    high: Bound | None


class Regions:
    """The parts of the arrays of a function that its statements read and write."""

    def __init__(self, function: ir.Function):
        self.namespace = function.namespace
        self.counts: dict = {}
        self.parts: dict = {}  # from what lies in the memory of an array, if anywhere, to the operation that gave it
        self.binds: dict = {}
        self.sources: dict = {}  # from a name of an array to those that it had before
        for s in walk.statements(function.body):
            match s:
                case ir.Op() if s.function is operator.getitem or is_view(s):
                    self.parts[s.target] = s
                case ir.Bind():
                    self.binds[s.target] = s.code
                case ir.Store() | ir.Accumulate():
                    self.sources[s.target] = [s.into]
                case ir.If():
                    for result, *ends in zip(s.results, s.then.results, s.orelse.results, strict=True):
                        self.sources[result] = ends
                case ir.For():
                    for c, following in zip(s.carried, s.body.results, strict=False):
                        self.sources[c.parameter] = [c.initial, following]
                        self.sources[c.result] = [c.parameter]
                    for source in s.sources:
                        self.count(s, source)

    def are_apart(self, v: Value, s, now: bool, loops: tuple) -> bool:
        """Does a statement surely write to nothing that `v` reads, after `v` was defined?

        Parameters
        ----------
        v : Value
        s : Store or Accumulate
        now : bool
            It runs in the same iteration of all loops around both, too, not in later ones only.
        loops : tuple
            The loops around both, from the outermost to the innermost.
        """
        read = None
        while (before := self.parts.get(v if read is None else read.args[0])) is not None:
            read = before
        if read is None or read.function is not operator.getitem:
            return False
        if s.index is None or (isinstance(s, ir.Store) and s.through is not None):
            return False
        origin = self.origin(read.args[0])
        if origin is None or origin is not self.origin(s.into):
            return False
        axes = list(zip(self.bounds(read.args[1]), self.bounds(s.index), strict=False))
        later = range(len(loops))
        cases = [*[(loops[:n], loops[n]) for n in later], *([(loops, None)] if now else [])]
        return all(any(self.beyond(r, w, same, loop) for r, w in axes) for same, loop in cases)

    def origin(self, v) -> Value | None:
        """The one array that `v` surely is, by the name that it had first."""
        found, seen, open_ = set(), set(), [v]
        while open_:
            x = open_.pop()
            if x in seen:
                continue
            seen.add(x)
            if x in self.sources:
                open_ += self.sources[x]
            else:
                found.add(x)
        (first, *others) = found
        return first if isinstance(first, Value) and not others else None

    # ---- numbers

    def count(self, s: ir.For, source: ir.Source) -> None:
        """Note what a loop counts."""
        if not isinstance(source.element, Value):
            return
        if source.count:
            start = self.number(source.start)
            self.counts[source.element] = Count(id(s), True, start, None)
            return
        x = source.iterable
        if not (isinstance(x, ir.Code) and walk.is_range(x, self.namespace)):
            return
        args = [self.node(a, x.reads) for a in x.node.args]
        start, stop, step = (
            Bound(None, 0) if len(args) == 1 else args[0],
            args[0] if len(args) == 1 else args[1],
            Bound(None, 1) if len(args) < 3 else args[2],
        )
        if step is None or step.count is not None or not step.more:
            return
        low, high = (start, stop and stop.plus(-1)) if step.more > 0 else (stop and stop.plus(1), start)
        self.counts[source.element] = Count(id(s), (step.more > 0) is not source.reverse, low, high)

    def number(self, x) -> Bound | None:
        """An operand that is an integer, as a bound."""
        if isinstance(x, Constant):
            return Bound(None, x.value) if type(x.value) is int else None
        if isinstance(x, ir.Code):
            return self.node(x.node, x.reads)
        if x in self.counts:
            return Bound(x, 0)
        return self.number(self.binds[x]) if x in self.binds else None

    def node(self, node, reads: dict) -> Bound | None:
        match node:
            case gast.Constant(value=value):
                return Bound(None, value) if type(value) is int else None
            case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=value)):
                return Bound(None, -value) if type(value) is int else None
            case gast.Name(id=name):
                return self.number(reads[name]) if name in reads else None
            case gast.BinOp(left=left, op=gast.Add() | gast.Sub() as sign, right=right):
                a, b = self.node(left, reads), self.node(right, reads)
                if a is None or b is None:
                    return None
                if b.count is None:
                    return a.plus(b.more if isinstance(sign, gast.Add) else -b.more)
                return b.plus(a.more) if a.count is None and isinstance(sign, gast.Add) else None
        return None

    def chain(self, bound: Bound | None, side: str) -> list:
        """The bound, and those beyond it (below it or above it) in terms of the loops further out."""
        found = []
        while bound is not None:
            found.append(bound)
            known = self.counts.get(bound.count)
            further = getattr(known, side) if known is not None else None
            bound = further.plus(bound.more) if further is not None else None
        return found

    def is_natural(self, bound: Bound | None) -> bool:
        """Is it surely 0 or more, so that it does not count from the end?"""
        return any(b.count is None and b.more >= 0 for b in self.chain(bound, "low"))

    # ---- places

    def bounds(self, index) -> list:
        """For each of the first axes that an index picks from: the lower bound, and the first place beyond."""
        found = []
        for entry in entries(index):
            if isinstance(entry, tuple):
                found.append(self.part(*entry))
                continue
            place = self.number(entry)
            if place is None:
                break  # it may be an array, which picks from any number of axes
            found.append((place, place.plus(1)) if self.is_natural(place) else (None, None))
        return found

    def part(self, start, stop, step) -> tuple:
        step = Bound(None, 1) if step == Constant(None) else self.number(step)
        if step is None or step.count is not None or step.more < 1:
            return None, None
        low = Bound(None, 0) if start == Constant(None) else self.number(start)
        high = self.number(stop)
        return (low if self.is_natural(low) else None), (high if self.is_natural(high) else None)

    def beyond(self, read: tuple, written: tuple, same: tuple, later: int | None) -> bool:
        """Does what is written lie beyond what was read, in the `same` iterations of loops and `later` ones of one?"""

        def shift(count: Value, sign: int) -> int | None:
            """How much larger (sign 1) or smaller (sign -1) the count surely is where it is written."""
            known = self.counts[count]
            if known.loop in same:
                return 0
            return 1 if known.loop == later and known.rises is (sign > 0) else None

        (low, high), (first, end) = read, written
        for p, q, sign in ((high, first, 1), (low, end, -1)):
            for a in self.chain(p, "high" if sign > 0 else "low"):
                for b in self.chain(q, "low" if sign > 0 else "high"):
                    if a.count is not b.count:
                        continue
                    more = 0 if a.count is None else shift(a.count, sign)
                    if more is not None and sign * (b.more - a.more) + more >= 0:
                        return True
        return False


def entries(index) -> list:
    """The entries of an index, each an operand; a slice as its three."""
    if isinstance(index, Constant):
        each = index.value if isinstance(index.value, tuple) else (index.value,)
        return [tuple(map(Constant, (e.start, e.stop, e.step))) if type(e) is slice else Constant(e) for e in each]
    if not isinstance(index, ir.Code):
        return [index]
    found = []
    for node in index.node.elts if isinstance(index.node, gast.Tuple) else [index.node]:
        ends = (node.lower, node.upper, node.step) if isinstance(node, gast.Slice) else ()
        operands = [Constant(None) if e is None else ir.Code(e, index.reads) for e in ends or (node,)]
        found.append(tuple(operands) if ends else operands[0])
    return found
