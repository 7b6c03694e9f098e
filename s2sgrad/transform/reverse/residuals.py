"""Computes before it is saved what takes less room than what it is computed from.

In::

    t = operator.add(a, b)              # forward, in a loop
    d' = np.minimum(d, t)

    dd = where_less(g, d, t)            # backward, which reads `d` and `t` for nothing else
    dt = where_less(g, t, d)

Out::

    t = operator.add(a, b)
    less = is_less(d, t)
    d' = np.minimum(d, t)

    dd = part_where(g, less)
    dt = part_where_not(g, less)

What moves are comparisons, numbers and shapes, and only where an array need not be saved for it.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, optimize, walk
from s2sgrad.transform.aliases import contents_of, is_view
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Kind, Value
from s2sgrad.transform.optimize.idiom import expanded


def with_residuals(
    block: ir.Block, forward: ir.Block, entering, lent, is_volatile: Callable, asking: Callable = lambda block: block
) -> ir.Block:
    """A backward block that reads the `forward` block's arrays as something smaller, which is added to that block.

    Parameters
    ----------
    block, forward : Block
    entering : list of Value
        What is there at the beginning of the forward block.
    lent : iterable of Value
        What of it is there anyway: the rows of an array, say.
    is_volatile : callable
        Whether the contents of a value may be others at the end than when it was defined.
    asking : callable
        Gives the block in which shapes are asked of what is read anyway (`with_templates`).
    """
    return _Residuals(block, forward, entering, lent, is_volatile, asking).block()


class _Residuals:
    def __init__(self, block: ir.Block, forward: ir.Block, entering, lent, is_volatile: Callable, asking: Callable):
        self.asking = asking
        self.backward, self.forward = block, forward
        self.is_volatile = is_volatile
        self.lent = set(lent)
        self.places = dict.fromkeys(entering, 0)  # from what the forward block defines to where it is there
        self.bases: dict = {}  # from views to what they are views of
        for i, s in enumerate(forward.statements):
            self.places.update(dict.fromkeys(walk.defines(s), i + 1))
            if isinstance(s, ir.Op) and is_view(s):
                self.bases[s.target] = s.args[0]
        self.known = {*walk.free(forward), *self.places}
        self.possible: dict = {}  # from results to the operations that the forward block could do
        self.comparisons: dict = {}  # from the two arrays that are compared, one way or the other
        for s in block.statements:
            if isinstance(s, ir.Op) and (is_small(s) or is_view(s)) and self.is_known(s):
                self.possible[s.target] = s
            elif chooses(s) and s.args[:0:-1] not in self.comparisons:
                self.compare(s)

    def is_known(self, s: ir.Op) -> bool:
        """Does an operation read nothing but what the forward block knows?"""
        return not isinstance(s.spelling, ir.Code) and all(v in self.known or v in self.possible for v in walk.uses(s))

    def compare(self, s: ir.Op) -> None:
        """Note the comparison by which a cotangent is given to one of two arrays."""
        x, y = s.args[1:]
        less = Value("less", types.infer(arrays.is_less, (x, y)))
        comparison = ir.Op(less, arrays.is_less, (x, y), {}, None, s.location)
        if self.is_known(comparison):
            self.possible[less] = self.comparisons[x, y] = comparison

    def block(self) -> ir.Block:
        places = {s: self.place(s) for s in self.possible.values() if is_small(s)}
        moved = {s for s, at in places.items() if at is not None}
        while moved:
            block = self.asking(self.without(moved))
            needed = set(map(self.base, walk.free(block)))
            sparing = {s for s in moved if any(map(self.is_saved, set(map(self.base, self.used(s))) - needed))}
            if sparing == moved:
                self.add({s: places[s] for s in places if s in moved})
                return block
            moved = sparing
        return self.asking(self.backward)

    # ---------------------------------------------------------------- the forward block

    def base(self, v: Value) -> Value:
        while v in self.bases:
            v = self.bases[v]
        return v

    def is_saved(self, v: Value) -> bool:
        """Is it an array that would have to be kept for the backward block alone?"""
        return v in self.places and v not in self.lent and v.type.kind is Kind.ARRAY and v.type.ndim != 0

    def place(self, s: ir.Op) -> int | None:
        """Where the forward block can do an operation; None where it cannot."""
        used = self.used(s)
        at = max([self.places.get(v, 0) for v in used], default=0)
        changing = {v for v in used if self.is_volatile(v)}
        if changing:  # they are what they should be where the function itself looks at them
            if not changing <= set(walk.uses(s)):
                return None
            looks = (
                i + 1 for i, o in enumerate(self.forward.statements) if isinstance(o, ir.Op) and reads(o, changing)
            )
            at = max((i for i in looks if i >= at), default=None)
        if any(isinstance(o, ir.If) and walk.exits(o) for o in self.forward.statements[:at]):
            return None  # nothing follows the end of a loop
        return at

    def used(self, s: ir.Op) -> set:
        """The values of the forward block that an operation reads, itself or through others."""
        return set().union(*[self.used(self.possible[v]) if v in self.possible else {v} for v in walk.uses(s)])

    def add(self, places: dict) -> None:
        """Let the forward block do operations, each in its place."""
        moved = {s.target for s in places}
        added: dict = {}
        for s, at in places.items():
            added.setdefault(at, []).extend(self.with_own(s, moved))
        for at in sorted(added, reverse=True):
            self.forward.statements[at:at] = added[at]

    def with_own(self, s: ir.Op, moved: set) -> list:
        """An operation, after copies of those that it depends on and that the backward block does as well."""
        before, copies = [], {}
        for v in dict.fromkeys(walk.uses(s)):
            if v in self.possible and v not in moved:
                before += self.with_own(self.possible[v], moved)
                copies[v] = Value(v.name, v.type)
                before[-1] = expanded(replace(before[-1], target=copies[v]))
        return [*before, walk.substituted(s, copies)]

    # ---------------------------------------------------------------- the backward block

    def without(self, moved: set) -> ir.Block:
        """The backward block where the forward one does these operations."""
        statements = []
        for s in self.backward.statements:
            if chooses(s):
                s = self.part(s, moved)
            if s not in moved:
                statements.append(s)
        return optimize.pruned(ir.Block(statements, self.backward.results))

    def part(self, s: ir.Op, moved: set) -> ir.Op:
        """A part of a cotangent that is chosen by a comparison, asking the one that the forward block does."""
        g, x, y = s.args
        for pair, take in (((x, y), arrays.part_where), ((y, x), arrays.part_where_not)):
            comparison = self.comparisons.get(pair)
            if comparison in moved:
                return ir.Op(s.target, take, (g, comparison.target), {}, None, s.location)
        return s


def chooses(s) -> bool:
    """Does it take the part of a cotangent of arrays that one of them got by comparison?"""
    return isinstance(s, ir.Op) and s.function is arrays.where_less and s.target.type.kind is Kind.ARRAY


def is_small(s: ir.Op) -> bool:
    """Is its result smaller than the arrays that it is computed from?"""
    t = s.target.type
    small = s.function in (arrays.is_less, np.shape) or t.kind is Kind.NUMBER or t.dtype == "bool"
    return small and any(types.type_of(x).kind is Kind.ARRAY for x in s.args)


def reads(s: ir.Op, values: set) -> bool:
    """Does an operation look at the contents of all of these?"""
    return values <= set(contents_of(s))
