"""Asks shapes of values that are at hand anyway, so that no value is saved for its shape alone.

In::

    t = z[:n]                           # forward
    i = np.tanh(t)
    a = operator.mul(i, c)

    dz = unbroadcast(da, t)             # backward, which reads `i`

Out::

    dz = unbroadcast(da, i)
"""

import dataclasses

import numpy as np

from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import contents_read, shapes_of
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.lengths import Lengths
from s2sgrad.transform.ir import Kind, Value

NOTHING = ir.Constant(None)


def with_templates(block: ir.Block, lengths: Lengths, forward: ir.Block) -> ir.Block:
    """A backward block that asks the shapes of values from outside of it of as few of them as may be.

    What one branch of the `forward` block defines is asked only for what the same branch does, and what may be None
    only for itself.
    """
    arms = _arms(forward)
    own = walk.defined(block)
    contents = contents_read(block)
    known = [v for v in walk.free(block) if v in contents and v.type.kind is Kind.ARRAY and not v.maybe]
    chosen: dict = {}

    def template(v):
        if not isinstance(v, Value) or v.type.kind is not Kind.ARRAY or v in own or v in contents:
            return v
        if v not in chosen:
            there = [w for w in known if arms.get(w) in (None, arms.get(v))]
            alike = (w for w in there if types.same_dtype(v.type, w.type) and lengths.same(v.type, w.type))
            chosen[v] = next(alike, v)
            if chosen[v] is v and not v.maybe:
                known.append(v)
        return chosen[v]

    block = _replaced(block, template)
    asked = [v for v in walk.free(block) if not v.maybe and v not in contents and v.type.kind is Kind.ARRAY]
    return walk.substitute(block, {v: w for v in asked if (w := template(v)) is not v})


def _arms(block: ir.Block, arm=None) -> dict:
    """For each value that is defined in a block inside of this one only: the innermost such block."""
    found: dict = {}
    for s in block.statements:
        if arm is not None:
            found |= dict.fromkeys(walk.defines(s), arm)
        for inner in walk.blocks(s):
            found |= _arms(inner, id(inner))
        if isinstance(s, ir.If):
            for result, one, other in zip(s.results, s.then.results, s.orelse.results, strict=True):
                if NOTHING in (one, other):
                    there, end = (s.orelse, other) if one == NOTHING else (s.then, one)
                    found[result] = found.get(end, id(there))  # which may be a branch inside of this one
    return found


def _replaced(block: ir.Block, template) -> ir.Block:
    statements = []
    for s in block.statements:
        s = walk.substituted(s, {})
        if isinstance(s, ir.If):
            s.then, s.orelse = _replaced(s.then, template), _replaced(s.orelse, template)
        elif isinstance(s, ir.For):
            s.body = _replaced(s.body, template)
        elif isinstance(s, ir.Op) and s.function is not np.ndim and not s.kwargs and (places := shapes_of(s.function)):
            # `np.ndim` is asked of what may be None: of that value itself
            args = tuple([template(x) if i in places else x for i, x in enumerate(s.args)])
            s = dataclasses.replace(s, args=args)
        statements.append(s)
    return ir.Block(statements, block.results)
