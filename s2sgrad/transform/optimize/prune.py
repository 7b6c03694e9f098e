"""Drops what nobody reads: operations, results of branches, what loops carry and save.

In::

    y = np.sin(x)                       # the user's: the value is not asked for
    dx = np.cos(x)

Out::

    dx = np.cos(x)

Statements of the user's that may have effects or may fail stay, needed or not: a derivative prints, draws
random numbers and raises as the function does.

Examples
--------
>>> import numpy as np
>>> from s2sgrad.transform.show import show
>>> x, y, d = (ir.Value(name, ir.FLOAT) for name in "xyd")
>>> body = ir.Block([ir.Op(y, np.sin, (x,)), ir.Op(d, np.cos, (x,))], (d,))
>>> print(show(prune(ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({}), backward_at=1))))
f(x):
    d = np.cos(x)
    -> d
"""

import dataclasses
import functools
from collections.abc import Callable

import gast

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis.expressions import has_truth, is_iterable, may_raise
from s2sgrad.transform.analysis.safety import checks, unfailing
from s2sgrad.transform.analysis.types import type_of
from s2sgrad.transform.emit.trees import is_pure
from s2sgrad.transform.ir import Value


def prune(function: ir.Function) -> ir.Function:
    """Drop what the result does not depend on and what has no effects."""
    at, statements = function.backward_at, function.body.statements
    pruner = _Pruner(function.namespace)
    live = {v for r in function.body.results for v in walk.values(r)}
    split = len(statements) if at is None else at
    own = split if function.own is None else function.own
    pruner.generated = True
    after = pruner.statements(statements[split:], live)
    pruner.generated = False
    pruner.unfailing = functools.cache(lambda: {id(s) for s in walk.statements(ir.Block(statements[own:split]))})
    between = pruner.statements(statements[own:split], live)
    pruner.unfailing = functools.cache(lambda: unfailing(statements[:own], checks(between + after)))
    pruner.users = True
    before = pruner.statements(statements[:own], live)
    return dataclasses.replace(
        function,
        body=ir.Block(before + between + after, function.body.results),
        backward_at=None if at is None else len(before) + len(between),
        own=None if function.own is None else len(before),
    )


def pruned(block: ir.Block) -> ir.Block:
    """A block of generated statements without those that its results do not depend on."""
    pruner = _Pruner(ir.Namespace({}))
    pruner.generated = True
    return pruner.block(block, {v for r in block.results for v in walk.values(r)})


class _Pruner:
    """Walks backwards; `live` holds the values that are read by what comes after."""

    def __init__(self, namespace: ir.Namespace):
        self.namespace = namespace
        self.generated = False
        self.users = False  # are these the statements of the user's function?
        self.tried = False  # may an exception lead somewhere else?
        self.unfailing: Callable = set  # gives the ids of the user's operations that nobody misses

    def block(self, block: ir.Block, live: set) -> ir.Block:
        live.update(v for r in block.results for v in walk.values(r))
        return ir.Block(self.statements(block.statements, live), block.results)

    def statements(self, statements: list, live: set) -> list:
        kept = []
        for s in reversed(statements):
            found = self.statement(s, live)
            for one in self.asked(s) if found is None else [found]:
                kept.append(one)
                live.update(walk.uses(one))
        return kept[::-1]

    def asked(self, s) -> list:
        """What a statement of the user's that goes makes an exception of by itself: expressions in it."""
        if not self.users or getattr(s, "again", False):
            return []
        operands = [*s.args, *s.kwargs.values()] if isinstance(s, ir.Op) else walk.operands(s)
        codes = [part for c in operands if isinstance(c, ir.Code) for part in _parts(c) if self.may_raise(part)]
        return [ir.Bind(Value(""), c) for c in reversed(codes)]

    def statement(self, s, live: set):
        """What stays of a statement; None for nothing."""
        if self.tried and not self.generated and not walk.blocks(s):
            return s  # with what raises under `np.errstate` only
        match s:
            case ir.Op():
                return s if s.target in live or s.function is arrays.scalar_seed or self.may_fail(s) else None
            case ir.Make() | ir.Accumulate():
                return s if s.target in live else None
            case ir.Store():
                return s if s.target in live or s.lasting or self.may_fail(s) else None
            case ir.Bind():
                asked = self.users and self.may_raise(s.code)
                return s if s.target in live or asked or not self.is_pure(s.code.node) else None
            case ir.Call():
                return s if s.target in live or not self.generated else None
            case ir.Unpack():
                targets = _wanted(s.targets, live)
                if targets is None:
                    return s if self.may_fail(s) else None
                return dataclasses.replace(s, targets=targets)
            case ir.If():
                return self.branch(s, live)
            case ir.For():
                return self.loop(s, live)
        return s

    def may_raise(self, code: ir.Code) -> bool:
        return may_raise(code, self.namespace)

    def may_fail(self, s) -> bool:
        """Is it a statement of the user's that may raise an exception?"""
        again = isinstance(s, ir.Op) and s.again
        return not self.generated and not again and id(s) not in self.unfailing()

    def is_pure(self, node) -> bool:
        """Has evaluating the expression no effects, and does it need no evaluating for its own sake?"""
        parts = list(gast.walk(node))
        if any(isinstance(part, gast.comprehension) for part in parts):
            return False  # it may use up an iterator
        calls = any(isinstance(part, gast.Call) for part in parts)
        return is_pure(node, self.namespace) if calls else True

    def branch(self, s: ir.If, live: set):
        wanted = [i for i, r in enumerate(s.results) if r in live]
        inner = []
        tried = self.tried
        self.tried = tried or isinstance(s, ir.Try)
        for block in (s.then, s.orelse):
            alive = set(live)
            block = self.block(ir.Block(block.statements, tuple(block.results[i] for i in wanted)), alive)
            inner.append((block, alive))
        self.tried = tried
        lasting = isinstance(s, ir.With) and not s.again
        needed = lasting or (not isinstance(s, ir.Same) and any(block.statements for block, _ in inner))
        if not wanted and not needed and not self.asks(s):
            return None
        for _, alive in inner:
            live |= alive
        results = tuple(s.results[i] for i in wanted)
        return dataclasses.replace(s, then=inner[0][0], orelse=inner[1][0], results=results)

    def loop(self, s: ir.For, live: set):
        n = len(s.carried)
        kept = [i for i, c in enumerate(s.carried) if c.result in live]
        collected = [i for i, v in enumerate(s.collected) if v in live]
        while True:  # what the body reads of the iteration before is carried too
            results = tuple(s.body.results[i] for i in kept) + tuple(s.body.results[n + i] for i in collected)
            alive = live | set(walk.values(s.test)) if isinstance(s, ir.While) else set(live)
            body = self.block(ir.Block(s.body.statements, results), alive)
            more = [i for i, c in enumerate(s.carried) if i in kept or c.parameter in alive]
            if more == kept:
                break
            kept = more
        if not body.statements and not collected and not kept and not self.asks(s):
            return None
        live |= alive
        carried = [s.carried[i] for i in kept]
        return dataclasses.replace(s, carried=carried, body=body, collected=[s.collected[i] for i in collected])

    def asks(self, s) -> bool:
        """May what a statement of the user's asks be neither true nor false, or be nothing to go over?"""
        if not self.users or isinstance(s, ir.Same | ir.With):
            return False
        if isinstance(s, ir.If):
            return not has_truth(type_of(s.test))
        iterables = [source.iterable for source in s.sources if source.iterable is not None]
        over = all(walk.is_range(x, self.namespace) or is_iterable(type_of(x)) for x in iterables)
        return isinstance(s, ir.While) or not over


def _parts(code: ir.Code) -> list:
    """The expressions in an index with slices, which is none itself."""
    match code.node:
        case gast.Slice(lower=lower, upper=upper, step=step):
            nodes = [node for node in (lower, upper, step) if node is not None]
        case gast.Tuple(elts=elts) if any(isinstance(e, gast.Slice) for e in elts):
            nodes = elts
        case _:
            return [code]
    return [part for node in nodes for part in _parts(ir.Code(node, code.reads))]


def _wanted(targets, live: set):
    """A pattern without the targets that nobody reads; None where none is left."""
    if isinstance(targets, tuple):
        found = tuple(_wanted(t, live) for t in targets)
        return None if all(t is None for t in found) else found
    return targets if isinstance(targets, Value) and targets in live else None
