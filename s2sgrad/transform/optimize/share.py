"""Computes nothing twice: an operation that was done before with the same operands is not done again.

In::

    c = np.cos(x)                       # the user's
    d = np.cos(x)                       # generated
    e = operator.mul(g, d)

Out::

    c = np.cos(x)
    e = operator.mul(g, c)

Only generated operations are replaced; what they are replaced by may be the user's. Values of a branch
or of a loop body are not seen outside it. Buffers that are added to in place, and what is read from
them, are left alone.

Examples
--------
>>> import numpy as np
>>> from s2sgrad.transform.show import show
>>> x, c, d = (ir.Value(name, ir.FLOAT) for name in "xcd")
>>> body = ir.Block([ir.Op(c, np.cos, (x,)), ir.Op(d, np.cos, (x,))], (d,))
>>> print(show(share(ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({}), backward_at=1))))
f(x):
    c = np.cos(x)
    -> c
"""

import dataclasses
import operator

import numpy as np

from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Constant, Value

# one key for the spellings of one operation
_SAME = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.negative: operator.neg, np.power: operator.pow,
}  # fmt: skip
_COMMUTE = {operator.add, operator.mul}


def share(function: ir.Function) -> ir.Function:
    """Replace generated operations by equal earlier ones."""
    at = function.backward_at
    if at is None:
        return function
    statements = function.body.statements
    block = shared(statements[:at], ir.Block(statements[at:], function.body.results))
    return dataclasses.replace(function, body=ir.Block(statements[:at] + block.statements, block.results))


def shared(before: list, block: ir.Block, own=()) -> ir.Block:
    """The block, which runs after the statements `before`, without what was computed already.

    The values `own` are added to in place where the block ends.
    """
    sharer = _Sharer(buffers([*before, *block.statements], own))
    table: dict = {}
    for s in before:
        sharer.note(s, table)
    mapping: dict = {}
    statements = sharer.block(block.statements, table, mapping)
    return ir.Block(statements, tuple(walk.replaced(r, mapping) for r in block.results))


def buffers(statements: list, known=()) -> set:
    """The values that are added to in place somewhere, or are `known` to be, or share memory with one by being it."""
    found: set = set(known)
    size = -1
    body = ir.Block(statements)
    everything = [s for s in walk.statements(body) if isinstance(s, (ir.Accumulate, ir.Store, ir.For, ir.If))]
    while size != len(found):
        size = len(found)
        for s in everything:
            match s:
                case ir.Accumulate() | ir.Store():
                    found |= {s.into, s.target}
                case ir.For():
                    for c, following in zip(s.carried, s.body.results, strict=False):
                        group = [c.parameter, c.initial, c.result, following]
                        if any(isinstance(v, Value) and v in found for v in group[:2]) or c.result in found:
                            found.update(v for v in group if isinstance(v, Value))
                case ir.If():
                    for i, result in enumerate(s.results):
                        group = [result, s.then.results[i], s.orelse.results[i]]
                        if any(isinstance(v, Value) and v in found for v in group):
                            found.update(v for v in group if isinstance(v, Value))
    return found


class _Sharer:
    def __init__(self, mutable: set):
        self.mutable = mutable

    def key(self, s: ir.Op):
        """What equal operations have in common; None where the operation is not to be shared."""
        if s.target in self.mutable:
            return None
        operands = []
        for name, x in (*enumerate(s.args), *sorted(s.kwargs.items())):
            if isinstance(x, Value):
                if x in self.mutable:
                    return None
                operands.append((name, id(x)))
            elif isinstance(x, Constant):
                operands.append((name, type(x.value), repr(x.value)))
            elif (literal := types.constant(x, x)) is not x:
                operands.append((name, type(literal), repr(literal)))
            else:
                operands.append((name, id(x.node), tuple(map(id, x.reads.values()))))
        try:
            function = _SAME.get(s.function, s.function)
        except TypeError:
            return None
        if function in _COMMUTE and not s.kwargs and len(operands) == 2:
            operands = sorted((o[1:] for o in operands), key=repr)
        return function, tuple(operands)

    def note(self, s, table: dict) -> None:
        """Enter an operation of the user's, which stays."""
        if isinstance(s, ir.Op):
            key = self.key(s)
            if key is not None:
                table.setdefault(key, s.target)

    def block(self, statements: list, table: dict, mapping: dict) -> list:
        """The statements without those whose result is there; `mapping` collects what stands for them."""
        kept = []
        for s in statements:
            s = _head(s, mapping)
            if isinstance(s, ir.Op):
                key = self.key(s)
                known = None if key is None else table.get(key)
                if known is not None:
                    mapping[s.target] = known
                    continue
                if key is not None:
                    table[key] = s.target
            elif isinstance(s, ir.If):
                inner = [self.inner(block, table, mapping) for block in (s.then, s.orelse)]
                s = dataclasses.replace(s, then=inner[0], orelse=inner[1])
            elif isinstance(s, ir.For):
                s = dataclasses.replace(s, body=self.inner(s.body, table, mapping))
            kept.append(s)
        return kept

    def inner(self, block: ir.Block, table: dict, mapping: dict) -> ir.Block:
        statements = self.block(block.statements, dict(table), mapping)
        return ir.Block(statements, tuple(walk.replaced(r, mapping) for r in block.results))


def _head(s, mapping: dict):
    """A statement with its own operands replaced; the blocks in it are as they were."""
    if isinstance(s, ir.If):
        return dataclasses.replace(s, test=walk.replaced(s.test, mapping))
    if isinstance(s, ir.For):
        head = walk.substituted(dataclasses.replace(s, body=ir.Block()), mapping)
        return dataclasses.replace(head, body=s.body)
    return walk.substituted(s, mapping)
