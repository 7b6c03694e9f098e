"""Lowers the question whether two names are of one array, where only the run can tell.

After ``u = x if x[0] > 0 else y[1:]`` the array `u` looks at another one in one of two ways: as `x` itself, and as
``[1:]`` of `y`. An array that is no part of another one looks at itself, in no steps: two such are one array, or have
nothing in common. So where an array is written to, any other whose ways are known is asked whether it is that one,
looked at in one of them (``same = u is x``), and has become what that has become, or stays what it was. The question is
all that is done: what the answer says of the flow of values is a `Same`.
"""

import operator

import gast
import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import aliases, ir
from s2sgrad.transform.frontend.kinds import BOOL, MISSING, constant_of
from s2sgrad.transform.ir import Constant, Kind

ITSELF = ((),)
MOST = 4  # ways that one array may look at another


class Ways:
    """The part of `Lowering` that deals with names that may be of one array."""

    def ways_of(self, thing) -> tuple | None:
        """How an array may look at one that is no part of another: tuples of steps; None where it is not known."""
        op = self.views.get(thing) if isinstance(thing, ir.Value) else None
        if op is None:
            return self.ways.get(thing) if isinstance(thing, ir.Value) else None
        before, args = self.ways_of(op.args[0]), tuple(map(literal, op.args[1:]))
        if before is None or not never_fails(op, args):
            return None
        return tuple((*way, (op.function, args, op.spelling)) for way in before)

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
        elif theirs == ITSELF:
            for way in mine:
                view = self.looked_at(new, way)
                if view is None:
                    return
                if view.type.ndim == thing.type.ndim:
                    now = self.one_of(self.asked_same(now, view, not way), ir.Block([], (view,)), now)
        elif mine == ITSELF:
            for way in theirs:
                view = self.looked_at(now, way)
                if view is None:
                    return
                if view.type.ndim == new.type.ndim:
                    now = self.one_of(self.asked_same(new, view, not way), self.written_back(now, view, new), now)
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


def literal(operand) -> Constant | None:
    """An operand that is the same everywhere, such as the index of ``x[1:, ::-1]``; None where it is not."""
    if isinstance(operand, Constant):
        return operand
    if not isinstance(operand, ir.Code) or operand.reads:
        return None
    value = index_of(operand.node)
    return None if value is MISSING else Constant(value)


def index_of(node):
    """The value of a literal index.

    >>> index_of(gast.parse("x[1:, ::-1]", mode="eval").body.slice)
    (slice(1, None, None), slice(None, None, -1))
    """
    if isinstance(node, gast.Slice):
        bounds = [None if n is None else constant_of(n, MISSING) for n in (node.lower, node.upper, node.step)]
        return MISSING if MISSING in bounds else slice(*bounds)
    if isinstance(node, gast.Tuple):
        parts = [index_of(n) for n in node.elts]
        return MISSING if any(part is MISSING for part in parts) else tuple(parts)
    return constant_of(node, MISSING)


def never_fails(op: ir.Op, args: tuple) -> bool:
    """Is a view one that can be had of any array of enough dimensions: a slice, a transpose, all in one row?"""
    if op.kwargs or None in args:
        return False
    if op.function is operator.getitem:
        index = args[0].value
        parts = index if isinstance(index, tuple) else (index,)
        given = [part for part in parts if isinstance(part, slice)]
        deep = op.args[0].type.ndim is not None and len(given) <= op.args[0].type.ndim
        return deep and all(part is None or part is Ellipsis or isinstance(part, slice) for part in parts)
    if op.function in aliases.RESHAPED:
        shapes = [x.value for x in args]
        lengths = [n for shape in shapes for n in (shape if isinstance(shape, tuple) else (shape,))]
        return all(n in (1, -1) for n in lengths) and (not shapes or lengths.count(-1) == 1)
    return op.function is np.transpose and not args and op.args[0].type.kind is Kind.ARRAY
