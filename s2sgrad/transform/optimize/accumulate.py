"""Adds in place where a fresh array would only be thrown away, and copies no gradient that nobody else holds.

In::

    a = operator.mul(g, w)              # arrays of one shape
    b = operator.mul(h, v)
    dx = operator.add(a, b)
    result = arrays.as_gradient(dx, x)

Out::

    dx = operator.mul(g, w)
    b = operator.mul(h, v)
    dx' = dx += b
    -> dx'

An array is written into only where an operation of the same block has just made it and nothing else
reads it. The last pass: what it gives is not differentiated again.

Examples
--------
>>> import operator
>>> from s2sgrad.transform.show import show
>>> array = ir.Type(ir.Kind.ARRAY, "float64", 1, "n")
>>> x, a, d = (ir.Value(name, array) for name in "xad")
>>> body = ir.Block([ir.Op(a, operator.mul, (x, x)), ir.Op(d, operator.add, (a, x))], (d,))
>>> print(show(accumulate(ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({}), backward_at=0))))
f(x):
    d = operator.mul(x, x)
    d' = d += x
    -> d'
"""

import dataclasses
import operator

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import is_slice, is_view
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.lengths import Lengths
from s2sgrad.transform.analysis.spans import Spans
from s2sgrad.transform.ir import Kind, Value
from s2sgrad.transform.optimize.idiom import stretched

_FRESH = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow, operator.matmul,
    np.dot, np.matmul, np.outer, np.tensordot, np.where, np.copy, np.zeros_like, np.ones_like, np.full,
    np.full_like, np.sum,
    arrays.over, arrays.times, arrays.embed, arrays.from_rows, arrays.zeros_of, arrays.sum_of_outers,
    arrays.where_less, arrays.part_where, arrays.part_where_not, arrays.reached, arrays.embed_diagonal,
}  # fmt: skip


def accumulate(function: ir.Function) -> ir.Function:
    """Turn additions to fresh arrays into additions in place, in the generated part of a function."""
    at = function.backward_at
    if at is None:
        return function
    pass_ = _Accumulate(function)
    statements = function.body.statements
    mapping: dict = {}
    after = pass_.block(statements[at:], mapping)
    after = pass_.gradients(ir.Block(after, function.body.results), mapping)
    results = tuple(walk.replaced(r, mapping) for r in function.body.results)
    return dataclasses.replace(function, body=ir.Block(statements[:at] + after, results))


class _Accumulate:
    def __init__(self, function: ir.Function):
        self.lengths = Lengths(None, function.body.statements)
        self.uses = walk.use_counts(function.body)
        self.spans = Spans(walk.statements(function.body), function.namespace)
        self.definitions = {s.target: s for s in walk.statements(function.body) if isinstance(s, ir.Op)}

    def once(self, operand) -> bool:
        """Whether a value is read in one place only."""
        return isinstance(operand, Value) and self.uses[operand] == 1

    # ---------------------------------------------------------------- additions

    def block(self, statements: list, mapping: dict, handed: frozenset = frozenset()) -> list:
        """The statements of a block, adding in place; the arrays that it is `handed` are its own."""
        fresh: set = set(handed)  # arrays that a statement of this block has made
        zeros: dict = {}  # those of them that hold zeros, but for some places: these
        done = []
        for s in statements:
            s = self.inner(s, mapping, fresh) if isinstance(s, ir.If | ir.For) else walk.substituted(s, mapping)
            if isinstance(s, ir.Accumulate):
                self.sign_late(s, fresh, done)
            match s:
                case ir.Op():
                    *before, s = self.added(s, fresh, handed)
                    done += before
                    if isinstance(s, ir.Accumulate) or is_fresh(s):
                        fresh.add(s.target)
                        if isinstance(s, ir.Op) and s.function is np.zeros_like:
                            zeros[s.target] = []
                case ir.Accumulate() if zeros.get(s.into) == [] and (filled := self.filled(s)):
                    s = filled
                    fresh.add(s.target)
                case ir.Accumulate():
                    if (
                        zeros.get(s.into) == []
                        and s.index is None
                        and self.once(s.into)
                        and self.is_like(s.value, s.into)
                    ):
                        if s.value in fresh and self.once(s.value):  # it is the sum itself
                            mapping[s.target] = s.value
                            self.uses[s.value] = self.uses[s.target]
                            continue
                        s = ir.Op(s.target, np.copy, (s.value,), {}, "copy()", s.location)
                        fresh.add(s.target)
                    elif s.into in fresh:
                        fresh.add(s.target)
                        if s.into in zeros and s.index is not None and is_slice(s.index) and self.once(s.into):
                            places = zeros[s.into]
                            if all(self.spans.are_apart(s.index, place) for place in places):
                                # the first that is added to zeros is what is there
                                zeros[s.target] = [*places, s.index]
                                s = ir.Store(s.target, s.into, s.index, s.value, None, None, False, s.location)
                case ir.Store():
                    if s.into in fresh:
                        fresh.add(s.target)
            done.append(s)
        return done

    def sign_late(self, s: ir.Accumulate, fresh: set, done: list) -> None:
        """Give what is added its sign last of the statements `done`: it is a subtraction then."""
        negative = self.definitions.get(s.value) if self.once(s.value) else None
        if negative is None or negative.function is not operator.neg:
            return
        (value,) = negative.args
        if value in fresh and self.once(value):
            places = [at for at, one in enumerate(done) if isinstance(one, ir.Op) and one.target is s.value]
            done += [done.pop(at) for at in places]

    def filled(self, s: ir.Accumulate) -> ir.Op | None:
        """The array of one number, where that is all that is added to an array of zeros."""
        number = s.value if types.type_of(s.value).kind is Kind.NUMBER else stretched(s.value, self.definitions)
        if s.index is not None or not self.once(s.into) or number is None or not types.type_of(number).is_real:
            return None
        if number is s.value or not self.is_like(s.value, s.into):
            like = self.definitions[s.into].args[0]
            return ir.Op(s.target, np.full_like, (like, number), {}, None, s.location)
        define = self.definitions[s.value]
        return ir.Op(s.target, np.full, (define.args[1], number), {}, None, define.location)

    def inner(self, s, mapping: dict, fresh: set):
        """A branch or a loop with what is in it adding in place."""
        blocks = []
        handed = self.handed_on(s, fresh) if isinstance(s, ir.For) else frozenset()
        outside = self.lengths
        for block in walk.blocks(s):
            self.lengths = Lengths(outside, block.statements)
            statements = self.block(block.statements, mapping, handed)
            blocks.append(ir.Block(statements, tuple(walk.replaced(r, mapping) for r in block.results)))
        self.lengths = outside
        if isinstance(s, ir.If):
            return dataclasses.replace(s, test=walk.replaced(s.test, mapping), then=blocks[0], orelse=blocks[1])
        head = walk.substituted(dataclasses.replace(s, body=ir.Block()), mapping)
        return dataclasses.replace(head, body=blocks[0])

    def handed_on(self, s: ir.For, fresh: set) -> frozenset:
        """What a loop carries that is nobody else's array in each turn: made before the loop, then by each turn."""
        made = {one.target for one in s.body.statements if isinstance(one, ir.Op) and is_fresh(one)}
        made -= held(s.body.statements, s.body.results)
        return frozenset(
            c.parameter
            for c, following in zip(s.carried, s.body.results, strict=False)
            if c.initial in fresh
            and self.once(c.initial)
            and following in made
            and s.body.results.count(following) == 1
        )

    def added(self, s: ir.Op, fresh: set, handed: frozenset) -> list:
        """An addition, in place where one of its operands is nobody else's; a subtraction from what a loop carries."""
        if s.kwargs or s.function not in (operator.add, operator.sub):
            return [s]
        if s.function is operator.sub:
            into, value = s.args
            if into not in handed or not self.once(into) or not self.is_like(into, s.target):
                return [s]
            less = Value("t", types.infer(operator.neg, (value,)))
            self.uses[less] = 1
            negative = ir.Op(less, operator.neg, (value,), {}, None, s.location)
            return [negative, ir.Accumulate(s.target, into, None, less, s.location)]
        for into, value in (s.args, s.args[::-1]):
            if into in fresh and self.once(into) and self.is_like(into, s.target):
                into.name = s.target.name
                return [ir.Accumulate(s.target, into, None, value, s.location)]
        return [s]

    def is_like(self, a, b) -> bool:
        """Whether two values are surely arrays of one shape and dtype."""
        s, t = types.type_of(a), types.type_of(b)
        arrays_ = s.kind is t.kind is Kind.ARRAY and s.ndim != 0
        return arrays_ and self.lengths.same(s, t) and types.same_dtype(s, t)

    # ---------------------------------------------------------------- gradients

    def gradients(self, block: ir.Block, mapping: dict) -> list:
        """Without the copies of gradients that are nobody else's."""
        block = walk.substitute(block, mapping)
        statements = block.statements
        owned = self.owned(statements)
        self.held = held(statements, block.results)
        kept = []
        for s in statements:
            s = walk.substituted(s, mapping)
            if isinstance(s, ir.Op) and s.function is arrays.as_gradient and len(s.args) == 2:
                s = self.finished(s, owned, mapping)
                if s is None:
                    continue
            kept.append(s)
        return kept

    def finished(self, s: ir.Op, owned: dict, mapping: dict):
        """The end of a gradient's way: nothing, a conversion, a check, or the copy."""
        d, x = s.args
        dt, xt = types.type_of(d), types.type_of(x)
        if xt.kind is Kind.NUMBER and xt.dtype in ("float", "float64"):
            if d == ir.ZERO and xt.dtype == "float":
                mapping[s.target] = ir.Constant(0.0)
                return None
            if dt.kind is Kind.NUMBER and dt.dtype == xt.dtype:
                mapping[s.target] = d
                return None
            if dt.kind is Kind.NUMBER and dt.is_real and xt.dtype == "float":
                return ir.Op(s.target, float, (d,), {}, None, s.location)
        if _wholly(owned.get(d)) and (self.once(d) or (d in self.writable and d not in self.held)):
            self.held.add(d)  # from now on the gradient is it
            if self.is_like(d, x) and d in self.writable:
                mapping[s.target] = d
                return None
            return ir.Op(s.target, arrays.as_gradient, (d, x), {"owned": ir.Constant(True)}, None, s.location)
        return s

    def owned(self, statements: list) -> dict:
        """What of the values of a block nobody else refers to.

        True for an array (or a container and all in it); for a tuple a tuple of that; for a list
        ``[of each element]``; falsy for what may be another's. `writable` holds the arrays among them
        that are surely no views.
        """
        owned: dict = {}
        self.writable: set = set()
        self.note(statements, owned)
        return owned

    def mine(self, x, owned: dict):
        """What of an operand belongs to the statement that reads it."""
        return owned.get(x, False) if self.once(x) else isinstance(x, ir.Constant)

    def note(self, statements: list, owned: dict) -> None:
        for s in statements:
            match s:
                case ir.Op():
                    if is_fresh(s):
                        owned[s.target] = True
                        self.writable.add(s.target)
                    elif s.function is operator.getitem and _is_slice(s.args[1]):
                        owned[s.target] = self.mine(s.args[0], owned)
                    elif s.function in _PASSING:
                        owned[s.target] = _wholly(self.mine(s.args[0], owned))
                case ir.Accumulate() | ir.Store():
                    if owned.get(s.into):
                        owned[s.target] = owned[s.into]
                        self.writable.add(s.target)
                case ir.Make():
                    owned[s.target] = tuple(self.mine(x, owned) for x in s.items)
                case ir.Unpack():
                    _hand_out(s.targets, self.mine(s.source, owned), owned)
                case ir.If():
                    self.note_branch(s, owned)
                case ir.For():
                    self.note_loop(s, owned)

    def note_branch(self, s: ir.If, owned: dict) -> None:
        for block in (s.then, s.orelse):
            self.note(block.statements, owned)
        changed = _changed(ir.Block([s]))
        for r, *ends in zip(s.results, s.then.results, s.orelse.results, strict=True):
            before = _first(r, changed)
            if before is not r and owned.get(before):  # added to on one way, or on both
                owned[r] = owned[before]
                self.writable.add(r)
            else:
                self.note_either(r, [(x, owned) for x in ends], owned)

    def note_loop(self, s: ir.For, owned: dict) -> None:
        inside: dict = {}  # what is made anew in each iteration
        self.note(s.body.statements, inside)
        n = len(s.carried)
        changed = _changed(s.body)
        for c, following in zip(s.carried, s.body.results, strict=False):
            ends = [(c.initial, owned)]
            if _first(following, changed) is not c.parameter:
                ends.append((following, inside))
            self.note_either(c.result, ends, owned)
        for v, operand in zip(s.collected, s.body.results[n:], strict=True):
            owned[v] = [self.mine(operand, inside)]

    def note_either(self, result: Value, ends: list, owned: dict) -> None:
        """Note what a value is that is one of several operands, given with what of the values beside them is owned."""
        owned[result] = all(_wholly(self.mine(x, beside)) for x, beside in ends)
        if owned[result] and all(x in self.writable for x, _ in ends):
            self.writable.add(result)


def held(statements: list, results=()) -> set:
    """The values that statements hand on, but for their results: not those that are only read."""
    handed, found = {v for r in results for v in walk.values(r)}, set()
    for s in reversed(statements):
        for inner in walk.blocks(s):
            found |= held(inner.statements, inner.results)
            found.update(v for r in inner.results for v in walk.values(r))
        if not isinstance(s, ir.Op) or not is_read_only(s, found | handed):
            found.update(walk.uses(s))
    return found


def is_read_only(s: ir.Op, found: set) -> bool:
    """Does what an operation gives not refer to what it is computed from, or is it a view that is not `found`?"""
    if is_fresh(s) or s.target.type.kind is Kind.NUMBER or s.function is arrays.as_gradient:
        return True
    return is_view(s) and s.target not in found


def _wholly(ownership) -> bool:
    """Whether all of a value is owned."""
    if isinstance(ownership, tuple | list):
        return all(map(_wholly, ownership))
    return ownership is True


def _hand_out(targets, ownership, owned: dict) -> None:
    """Note what the targets of an unpacking get."""
    if isinstance(targets, Value):
        owned[targets] = ownership
    elif isinstance(targets, tuple):
        if not isinstance(ownership, tuple) or len(ownership) != len(targets):
            each = ownership[0] if isinstance(ownership, list) else ownership is True
            ownership = (each,) * len(targets)
        for target, part in zip(targets, ownership, strict=True):
            _hand_out(target, part, owned)


def _is_slice(index) -> bool:
    return isinstance(index, ir.Constant) and isinstance(index.value, slice)


# gives its first argument on, or something new
_PASSING = {arrays.unbroadcast, operator.getitem, np.real}


def is_fresh(s: ir.Op) -> bool:
    """Whether an operation gives an array of dimension 1 or more in memory of its own."""
    t = s.target.type
    if t.kind is not Kind.ARRAY or t.ndim == 0:
        return False
    return isinstance(s.function, np.ufunc) or s.function in _FRESH


def _changed(block: ir.Block) -> dict:
    """From what an array is called in a block when it has been added to to what it was called before."""
    found: dict = {}
    for s in block.statements:
        match s:
            case ir.Accumulate() | ir.Store():
                found[s.target] = s.into
            case ir.If():
                ways = [_changed(inner) for inner in (s.then, s.orelse)]
                for r, a, b in zip(s.results, s.then.results, s.orelse.results, strict=True):
                    before = _first(a, ways[0])
                    if a is not b and before is _first(b, ways[1]):
                        found[r] = before
            case ir.For():
                inside = _changed(s.body)
                for c, following in zip(s.carried, s.body.results, strict=False):
                    if _first(following, inside) is c.parameter:
                        found[c.result] = c.initial
    return found


def _first(operand, changed: dict):
    """What an array was called first, by `_changed`."""
    while isinstance(operand, Value) and operand in changed:
        operand = changed[operand]
    return operand
