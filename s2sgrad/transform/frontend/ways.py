"""Lowers the question whether two names are of one array, where only the run can tell.

After ``u = x if x[0] > 0 else y[1:]`` the array `u` looks at another one in one of two ways: as `x` itself, and as
``[1:]`` of `y`. An array that is no part of another one looks at itself, in no steps: two such are one array, or have
nothing in common. So where an array is written to, any other whose ways are known is asked whether it is that one,
looked at in one of them (``same = u is x``), and has become what that has become, or stays what it was. The question is
all that is done: what the answer says of the flow of values is a `Same`.
"""

import operator

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import aliases, ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend.kinds import BOOL
from s2sgrad.transform.ir import Constant

ITSELF = ((),)
MOST = 4  # ways that one array may look at another


class Ways:
    """The part of `Lowering` that deals with names that may be of one array."""

    def ways_of(self, thing) -> tuple | None:
        """How an array may look at one that is no part of another: tuples of steps; None where it is not known."""
        op = self.views.get(thing) if isinstance(thing, ir.Value) else None
        if op is None:
            return self.ways.get(thing) if isinstance(thing, ir.Value) else None
        before, step = self.ways_of(op.args[0]), step_of(op)
        if op.function in aliases.UNCHANGED:
            return before
        return None if before is None or step is None else tuple((*way, step) for way in before)

    def see_ways(self, value: ir.Value, *sources) -> None:
        """Note how a value that is one of `sources` may look at an array."""
        known = [self.ways_of(source) for source in sources]
        found: list = []
        for ways in known:
            found += [way for way in ways or () if way not in found]
        if None in known or len(found) > MOST:
            self.ways.pop(value, None)
        else:
            self.ways[value] = tuple(found)

    def ways_of_turn(self, parameters: dict, end: dict, later: dict) -> bool:
        """Note what a turn of a loop leaves in names whose arrays look at others in new ways; is there any?"""
        grown = False
        for name, parameter in parameters.items():
            mine = self.ways.get(parameter)
            theirs = self.ways_of(end.get(name))
            if mine is not None and (theirs is None or any(way not in mine for way in theirs)):
                later[name] = (*later.get(name, ()), end.get(name))
                grown = True
        return grown

    def compare(self, thing, old: ir.Value, new: ir.Value, done: dict) -> None:
        """Ask of an array that may be the one that was written to (`old`, now `new`), or a part of it, whether it is.

        `done` is told what it has become.
        """
        while isinstance(thing, ir.Value) and thing not in done and thing in self.views:
            thing = self.views[thing].args[0]
        mine, theirs = (self.ways.get(v) if isinstance(v, ir.Value) else None for v in (thing, old))
        if thing in done or mine is None or theirs is None:
            return
        now = thing
        if mine == theirs and len(mine) == 1:
            now = self.one_of(self.asked_same(now, new, mine == ITSELF), ir.Block([], (new,)), now)
        elif ITSELF in (mine, theirs):
            inside = theirs == ITSELF  # it may look at what was written to, or that at it
            for way in mine if inside else theirs:
                view, part = self.looked_at(new if inside else now, way), now if inside else new
                if view is None:
                    return
                if may_be_of_one_shape(view.type, part.type):
                    block = ir.Block([], (view,)) if inside else self.written_back(now, view, new)
                    now = self.one_of(self.asked_same(part, view, not way), block, now)
        else:
            return
        done[thing] = now

    def looked_at(self, array: ir.Value, way: tuple):
        """The view of an array that the steps of a way give; None where that is not surely one."""
        for function, args, spelling in way:
            array = self.view(function, (array, *args), spelling, self.current)
            if array is None or array.type.ndim is None:
                return None
            self.statements[-1].again = True
            self.again.add(array)
        return array

    def asked_same(self, one: ir.Value, other: ir.Value, are_objects: bool) -> ir.Value:
        """The question whether two arrays are one: by their identities where both are no views."""
        same = ir.Value("same", BOOL)
        function = operator.is_ if are_objects else arrays.is_same
        self.emit(ir.Op(same, function, (one, other), {}, None, self.found.location(self.current), again=True))
        self.temporaries.add(same)
        return same

    def written_back(self, array: ir.Value, view: ir.Value, part: ir.Value) -> ir.Block:
        """What an array is of which a `part`, which is its `view`, has been written to."""
        if view is array:
            return ir.Block([], (part,))
        after = ir.Value(array.name, array.type, array.active or part.active)
        place = self.found.location(self.current)
        return ir.Block([ir.Store(after, array, Constant(Ellipsis), part, None, view, False, place)], (after,))

    def one_of(self, same: ir.Value, block: ir.Block, array: ir.Value) -> ir.Value:
        """What `array` has become: what `block` says where it is the `same`, itself where not."""
        active = array.active or block.results[0].active
        result = self.value(array.name, array.type, active, self.regions_of(array))
        self.see_ways(result, array)
        self.emit(ir.Same(same, block, ir.Block([], (array,)), (result,), self.found.location(self.current)))
        self.earlier[result] = array
        return result


def may_be_of_one_shape(a: ir.Type, b: ir.Type) -> bool:
    return a.ndim == b.ndim or None in (a.ndim, b.ndim)


def step_of(op: ir.Op) -> tuple | None:
    """A view as what can be had of any array of enough dimensions: a slice, a transpose, all in one row; else None."""
    if op.kwargs:
        return None
    if op.function is operator.getitem:
        entries = types.entries_of(op.args[1]) or [None]
        sliced = [entry for entry in entries if isinstance(entry, slice)]
        literal = all(types.OPEN not in (e.start, e.stop, e.step) for e in sliced)
        if not literal or not all(isinstance(e, slice) or e in (types.NEW, types.ELLIPSIS) for e in entries):
            return None
        index = tuple({types.NEW: None, types.ELLIPSIS: Ellipsis}[e] if isinstance(e, str) else e for e in entries)
        return op.function, (Constant(index if len(index) > 1 else index[0]),), op.spelling
    args = [types.constant(x) for x in op.args[1:]]
    if op.function in aliases.RESHAPED:
        lengths = [n for shape in args for n in (shape if isinstance(shape, tuple) else (shape,))]
        fits = all(n in (1, -1) for n in lengths) and (not args or lengths.count(-1) == 1)
    else:
        fits = op.function is np.transpose and not args
    return (op.function, tuple(map(Constant, args)), op.spelling) if fits else None
