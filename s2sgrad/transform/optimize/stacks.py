"""Appends to a list, and takes its last element away, where a copy would only replace what nobody reads again.

In::

    a = operator.concat(xs, [v])
    b = operator.getitem(ds, slice(None, -1))
    t = operator.getitem(ds, slice(-1, None))
    (d,) = t                            # or d = operator.getitem(ds, -1)

Out::

    a = xs with v at its end            # xs.append(v)
    (b, d) = ds without its end, its end    # d = ds.pop()

so that a loop that builds a list, and the one that takes its cotangent apart again, cost no more for each turn
the longer the list gets. All versions of such a list are one variable, which the program must have made itself, and
which nothing refers to but what looks at it at once: no container, no call, no other variable.

Examples
--------
>>> from s2sgrad.transform.show import show
>>> numbers = ir.Type(Kind.LIST, element=ir.FLOAT)
>>> x, i = ir.Value("x", ir.FLOAT), ir.Value("i", ir.INT)
>>> empty, now, one, more, last = (ir.Value(n, numbers) for n in ("xs", "xs", "t", "xs", "xs"))
>>> turn = [ir.Make(one, (x,)), ir.Op(more, operator.concat, (now, one))]
>>> loop = ir.For([ir.Source(i, ir.Constant(()))], [ir.Carried(now, empty, last)], ir.Block(turn, (more,)))
>>> body = ir.Block([ir.Make(empty, ()), loop], (last,))
>>> print(show(stack(ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({})))))
f(x):
    xs = list()
    for i in () carrying xs' = xs:
        xs'' = xs' with x at its end
        -> xs''
    => xs'''
    -> xs'''
"""

import dataclasses
import operator

import gast

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.ir import Constant, Kind, Value

_FRESH = {
    operator.concat,
    arrays.as_gradient,
    arrays.as_cotangent,
    arrays.rows_of,
    arrays.shared_out,
    arrays.slots_of,
    arrays.from_items,
}
_LATER = (gast.Lambda, gast.FunctionDef, gast.GeneratorExp)
_NO_LISTS = (Kind.NUMBER, Kind.ARRAY)
_ALL, _ALL_BUT_LAST, _LAST = slice(None), slice(None, -1), slice(-1, None)


def stack(function: ir.Function) -> ir.Function:
    """Turn copies of lists that nobody needs into what appends and pops."""
    if not any(map(is_copy, walk.statements(function.body))):
        return function
    stacking = _Stacking(_Lists(function))
    body = stacking.block(function.body, set())
    return dataclasses.replace(function, body=walk.substitute(body, stacking.renamed))


def is_copy(s) -> bool:
    """Does a statement make a copy of a list, with more or fewer elements at the end?"""
    if not isinstance(s, ir.Op) or not _is_list(s.target):
        return False
    if s.function is operator.concat:
        return True
    return s.function is operator.getitem and s.args[1] in (Constant(_ALL), Constant(_ALL_BUT_LAST))


def _is_list(x) -> bool:
    return isinstance(x, Value) and x.type.kind is Kind.LIST


class _Lists:
    """Which lists are versions of one variable, and which of these variables nothing else refers to."""

    def __init__(self, function: ir.Function):
        self.parent: dict = {}
        everything = list(walk.statements(function.body))
        self.uses = walk.use_counts(function.body)
        self.shared: set = {p.value for p in function.parameters}
        for s in everything:
            self.statement(s)
        self.body(function.body, set())
        self.shared = {self.root(v) for v in self.shared}

    def root(self, v):
        while v in self.parent:
            v = self.parent[v]
        return v

    def join(self, a, b) -> None:
        a, b = self.root(a), self.root(b)
        if a is not b:
            self.parent[b] = a

    def is_own(self, v) -> bool:
        """Does nothing but the variable refer to the list?"""
        return _is_list(v) and self.root(v) not in self.shared

    def statement(self, s) -> None:
        match s:
            case ir.Op():
                self.op(s)
            case ir.Accumulate() | ir.Store():
                self.join(s.target, s.into)
                self.shared.update([*walk.values(s.value), *walk.values(s.index)])
            case ir.Make():
                self.shared.update(v for x in s.items for v in walk.values(x))
            case ir.If() | ir.For():
                self.flow(s)
            case ir.Unpack():
                self.shared.update(walk.defines(s))
            case ir.Bind():
                self.looks(s.code.node, s.code.reads)
            case ir.Verbatim():
                self.looks(s.node, s.reads)
                self.shared.update(walk.defines(s))
            case ir.Exit():
                pass
            case _:
                self.shared.update([*walk.uses(s), *walk.defines(s)])

    def looks(self, node, reads: dict) -> None:
        self.shared.update(v for name, v in reads.items() if not _only_looks(node, name))

    def op(self, s: ir.Op) -> None:
        if s.function is operator.concat or (s.function is operator.getitem and _is_slice(s.args[1])):
            if is_copy(s):
                self.join(s.target, s.args[0])
            return
        if s.function is operator.getitem:
            self.shared.add(s.target)  # a list in a list, say
            return
        fresh = s.function in _FRESH and not s.kwargs if _is_list(s.target) else s.target.type.kind in _NO_LISTS
        if not fresh:
            self.shared.update([s.target, *walk.uses(s)])

    def flow(self, s) -> None:
        if isinstance(s, ir.If):
            for result, *ends in zip(s.results, s.then.results, s.orelse.results, strict=True):
                self.hand_over(result, ends)
            return
        n = len(s.carried)
        for c, following in zip(s.carried, s.body.results, strict=False):
            self.hand_over(c.parameter, (c.initial, following))
            self.hand_over(c.result, (c.parameter,))
        self.shared.update(v for x in s.body.results[n:] for v in walk.values(x))
        self.shared.update(v for source in s.sources for v in walk.pattern(source.element))

    def hand_over(self, target: Value, operands) -> None:
        for x in operands:
            if isinstance(x, Value):
                self.join(target, x)
            else:
                self.shared.add(target)

    # ---- two variables at a time

    def body(self, block: ir.Block, live: set) -> set:
        """Note what is handed over to another variable and read again; what is read before, of what is after."""
        live = live | {v for x in block.results for v in walk.values(x)}
        self.twice(block.results)
        for s in reversed(block.statements):
            after = live - set(walk.defines(s))
            inside = set()
            if isinstance(s, ir.If):
                for inner in (s.orelse, s.then):
                    still = after | inside if isinstance(s, ir.Attempt) else after  # one after a part of the other
                    self.kept(inner.results, still)
                    inside |= self.body(inner, still)
            elif isinstance(s, ir.For):
                self.twice([c.initial for c in s.carried])
                around = after | around_turns(s)
                self.kept([*s.body.results, *(c.initial for c in s.carried)], around)
                inside = self.body(s.body, around) - set(walk.enters(s))
            live = after | inside | set(walk.uses(s))
        return live

    def twice(self, operands) -> None:
        values = [v for x in operands for v in walk.values(x)]
        self.shared.update(v for v in values if values.count(v) > 1)

    def kept(self, operands, live: set) -> None:
        self.shared.update(v for x in operands for v in walk.values(x) if v in live)


def around_turns(s: ir.For) -> set:
    """What is read by a loop in each turn, whatever the turns before did."""
    found = set(walk.free(s.body)) - set(walk.enters(s))
    for source in s.sources:
        found.update(walk.values(source.iterable))
    if isinstance(s, ir.While):
        found.update(set(walk.values(s.test)) - set(walk.enters(s)))
    return found


def _only_looks(node, name: str) -> bool:
    """Does the user's code read nothing but elements and lengths of the list of that name, and at once?"""
    names = {id(n) for n in gast.walk(node) if isinstance(n, gast.Name) and n.id == name}
    for n in gast.walk(node):
        if isinstance(n, _LATER):
            return False
        if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load) and not isinstance(n.slice, gast.Slice):
            names.discard(id(n.value))
        elif isinstance(n, gast.Call) and isinstance(n.func, gast.Name) and n.func.id == "len" and len(n.args) == 1:
            names.discard(id(n.args[0]))
    return not names


def _is_slice(index) -> bool:
    return isinstance(index, Constant) and isinstance(index.value, slice)


class _Stacking:
    """Rewrites one function."""

    def __init__(self, lists: _Lists):
        self.lists = lists
        self.uses = lists.uses
        self.renamed: dict = {}  # copies that are not needed -> the lists themselves

    def block(self, block: ir.Block, live: set) -> ir.Block:
        """The block, after which the values `live` are read."""
        live = live | {v for x in block.results for v in walk.values(x)}
        after = {}  # what is read after each statement
        statements = []
        for s in reversed(block.statements):
            after[id(s)] = set(live)
            live = (live - set(walk.defines(s))) | walk.read(ir.Block([s])).keys()
        for s in block.statements:
            beyond = after[id(s)] - set(walk.defines(s))
            if isinstance(s, ir.If):
                s = dataclasses.replace(s, then=self.block(s.then, beyond), orelse=self.block(s.orelse, beyond))
            elif isinstance(s, ir.For):
                s = dataclasses.replace(s, body=self.block(s.body, beyond | around_turns(s)))
            statements.append(s)
        return ir.Block(self.popping(self.pushing(statements, after), after), block.results)

    def pushing(self, statements: list, after: dict) -> list:
        """``xs.append(v)`` for ``xs + [v]``."""
        done: list = []
        for s in statements:
            if is_copy(s) and s.function is operator.concat:
                xs, more = s.args
                last = done[-1] if done else None
                single = isinstance(last, ir.Make) and last.target is more and len(last.items) == 1
                own = single and self.uses[more] == 1 and self.lists.is_own(xs)
                if own and not self.is_older_read(s, after[id(s)]):
                    done[-1] = ir.Push(s.target, xs, last.items[0], s.location)
                    continue
            done.append(s)
        return done

    def is_older_read(self, s: ir.Op, after: set) -> bool:
        """Is a version of the list that is older than the copy `s` read after it, if for its length alone?"""
        root = self.lists.root(s.target)
        return any(_is_list(v) and v is not s.target and self.lists.root(v) is root for v in after)

    def popping(self, statements: list, after: dict) -> list:
        """``d = ds.pop()`` for ``ds[:-1]`` and ``(d,) = ds[-1:]``."""
        gone, made = set(), {}
        for s in statements:
            if not is_copy(s) or s.function is not operator.getitem or not self.lists.is_own(s.args[0]):
                continue
            if s.args[1] != Constant(_ALL):
                self.pop(s, statements, after, gone, made)
            elif s.args[0] not in after[id(s)]:
                self.renamed[s.target] = s.args[0]
                gone.add(id(s))
        return [made.get(id(s), s) for s in statements if id(s) not in gone]

    def pop(self, s: ir.Op, statements: list, after: dict, gone: set, made: dict) -> None:
        """Replace ``xs[:-1]``, and ``xs[-1:]`` beside it, where nothing reads `xs` later."""
        xs = s.args[0]
        pair = [one for one in statements if one is s or _is_last(one, xs)]
        first, *others = pair
        readers = [one for one in statements[statements.index(first) :] if xs in walk.read(ir.Block([one]))]
        if len(pair) > 2 or [*map(id, readers)] != [*map(id, pair)] or self.is_older_read(s, after[id(pair[-1])]):
            return
        item, parts = None, []
        if others:
            (last,) = (one for one in pair if one is not s)
            if last.args[1] == Constant(-1):
                made[id(first)] = ir.Pop(s.target, last.target, xs, s.location)
                gone.update(map(id, others))
                return
            last = last.target
            parts = [one for one in statements if last in walk.read(ir.Block([one]))]
            if len(parts) != 1 or not isinstance(parts[0], ir.Unpack) or last in after[id(parts[0])]:
                return
            if len(parts[0].targets) != 1:
                return
            (item,) = parts[0].targets
            inner = [one for one in statements if isinstance(one, ir.Unpack) and one.source is item]
            if inner and self.uses[item] == 1:
                item, parts = inner[0].targets, [*parts, *inner]
        made[id(first)] = ir.Pop(s.target, item, xs, s.location)
        gone.update(id(one) for one in (*others, *parts))


def _is_last(s, xs: Value) -> bool:
    """Is it ``xs[-1:]`` or ``xs[-1]``?"""
    known = isinstance(s, ir.Op) and s.function is operator.getitem and s.args[0] is xs
    return known and s.args[1] in (Constant(_LAST), Constant(-1))
