"""Writes ``g / d`` for ``over(g, d)`` and ``g * p`` for ``times(g, p)`` where that is the same number.

The two differ from the operators only where `g` is zero and `d` is zero or nan, or `p` infinite or nan.
Often that cannot be: ``1 + x * x`` is not zero, ``exp(-x * x)`` is at most 1, the cotangent of a result is
1.0. What is left is that they are nan because `x` is infinite or nan itself; then it makes no difference
if the result is multiplied by `x` anyway.

In::

    t = over(1.0, d)                    # d = 1.0 + x * x
    p = times(g, e)                     # e = np.exp(-x * x)
    dx = operator.mul(p, x)

Out::

    t = operator.truediv(1.0, d)
    p = operator.mul(g, e)
    dx = operator.mul(p, x)
"""

import dataclasses
import operator
from collections import defaultdict

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis.ranges import Ranges
from s2sgrad.transform.ir import Constant, Value

# what gives 0 or nan for 0, and nan for nan
ALONG = {operator.mul, np.multiply, operator.neg, np.negative, operator.truediv, np.divide, arrays.over, arrays.times}


def relax(function: ir.Function) -> ir.Function:
    """Use the plain operators in the generated part of a function, where they surely give the same."""
    if function.backward_at is None:
        return function
    statements = list(walk.statements(function.body))
    definitions, uses = {s.target: s for s in statements if isinstance(s, ir.Op)}, defaultdict(list)
    if not any(s.function in (arrays.over, arrays.times) for s in definitions.values()):
        return function
    for s in statements:
        for v in walk.uses(s):
            uses[v].append(s)
        for block in walk.blocks(s):
            for v in (v for r in block.results for v in walk.values(r)):
                uses[v].append(None)
    for v in (v for r in function.body.results for v in walk.values(r)):
        uses[v].append(None)
    ranges = Ranges(definitions, walk.restored(function.body))
    for v in definitions:
        ranges.of(v)  # in order: each is found from those before it
    plain = {}
    for s in definitions.values():
        if s.function is arrays.over and _is_division(s, ranges, uses):
            plain[s.target] = operator.truediv
        elif s.function is arrays.times and _is_product(s, ranges, uses):
            plain[s.target] = operator.mul
    if not plain:
        return function
    statements = function.body.statements
    at = function.backward_at
    after = _replaced(statements[at:], plain)
    return dataclasses.replace(function, body=ir.Block(statements[:at] + after, function.body.results))


def _is_division(s: ir.Op, ranges: Ranges, uses: dict) -> bool:
    g, d = s.args
    found = ranges.of(d)
    if found.may_be_zero or found.roots is None:
        return False
    return _is_nonzero(g, ranges.definitions) or _is_absorbed(s.target, found.roots, uses, ranges.same)


def _is_product(s: ir.Op, ranges: Ranges, uses: dict) -> bool:
    g, p = s.args
    found = ranges.of(p)
    return _is_nonzero(g, ranges.definitions) or (
        found.is_finite and _is_absorbed(s.target, found.roots, uses, ranges.same)
    )


def _is_nonzero(operand, definitions: dict) -> bool:
    """A literal, or a literal by the size of something: what a cotangent starts from."""
    if isinstance(operand, Constant):
        return type(operand.value) in (int, float) and operand.value != 0
    op = definitions.get(operand) if isinstance(operand, Value) else None
    if not isinstance(op, ir.Op) or op.function is not operator.truediv:
        return False
    size = definitions.get(op.args[1]) if isinstance(op.args[1], Value) else None
    return _is_nonzero(op.args[0], {}) and isinstance(size, ir.Op) and size.function is np.size


def _is_absorbed(value: Value, roots: frozenset, uses: dict, same: dict) -> bool:
    """Whether `value` is multiplied by each of `roots` wherever it goes: where one is not finite, all is nan then."""
    if not roots:
        return True
    for s in uses[value]:
        if not isinstance(s, ir.Op) or s.function not in ALONG:
            return False
        if not s.target.type.is_real:
            return False
        is_product = s.function in (operator.mul, np.multiply)
        if not is_product and s.args[0] is not value:
            return False
        rest = roots - {same.get(x, x) for x in s.args if isinstance(x, Value)} if is_product else roots
        if not _is_absorbed(s.target, rest, uses, same):
            return False
    return bool(uses[value])


def _replaced(statements: list, plain: dict) -> list:
    done = []
    for s in statements:
        if isinstance(s, ir.Op) and s.target in plain:
            s = ir.Op(s.target, plain[s.target], s.args, {}, None, s.location)
        elif isinstance(s, ir.If | ir.For):
            blocks = [ir.Block(_replaced(b.statements, plain), b.results) for b in walk.blocks(s)]
            parts = ("then", "orelse") if isinstance(s, ir.If) else ("body",)
            s = dataclasses.replace(s, **dict(zip(parts, blocks, strict=True)))
        done.append(s)
    return done
