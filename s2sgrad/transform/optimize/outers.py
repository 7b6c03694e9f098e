"""Puts the outer products that a loop adds up together to one product of matrices.

In::

    for v, w in reversed(saved) carrying da:
        t = w[:, None]
        u = operator.mul(t, v)
        da' = da += u

Out::

    for v, w in reversed(saved) collecting da_outers:
        -> (w, v)
    t = sum_of_outers(da_outers, a)
    da' = da += t

An outer product is as large as the matrix that it is added to; the vectors that it is made of are not. What
is collected is to be as it is when the loop is over: it is nothing that is written to later.
"""

import dataclasses
import operator

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import Memory, is_new
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Constant, Kind, Type, Value

COLUMN = (slice(None), None)


def gather_outers(function: ir.Function) -> ir.Function:
    """Collect the vectors of outer products in the loops of the generated part of a function."""
    at = function.backward_at
    statements = function.body.statements
    if at is None or not any(isinstance(s, ir.For) for s in walk.statements(ir.Block(statements[at:]))):
        return function
    after = _Outers(function.body).block(statements[at:])
    return dataclasses.replace(function, body=ir.Block(statements[:at] + after, function.body.results))


class _Outers:
    def __init__(self, body: ir.Block):
        self.memory = Memory(body)
        everything = list(walk.statements(body))
        self.definitions = {s.target: s for s in everything if isinstance(s, ir.Op | ir.Accumulate)}
        self.writes = [s for s in everything if isinstance(s, ir.Store | ir.Accumulate)]
        self.uses = walk.use_counts(body)

    def block(self, statements: list) -> list:
        done: list = []
        for s in statements:
            if isinstance(s, ir.If):
                then, orelse = (ir.Block(self.block(b.statements), b.results) for b in (s.then, s.orelse))
                s = dataclasses.replace(s, then=then, orelse=orelse)
            elif isinstance(s, ir.For):
                s = dataclasses.replace(s, body=ir.Block(self.block(s.body.statements), s.body.results))
                done += self.loop(s)
                continue
            done.append(s)
        return done

    def loop(self, s: ir.For) -> list:
        """The loop, and after it what its outer products add up to."""
        after = []
        for parameter in [c.parameter for c in s.carried]:
            c = next(c for c in s.carried if c.parameter is parameter)
            sums = self.sums(s, c)
            if sums:
                s, more = self.without(s, c, sums)
                after += more
        return [s, *after]

    def sums(self, s: ir.For, c: ir.Carried) -> list:
        """The additions of outer products to a carried value that is not looked at; ``(addition, sign, vectors)``."""
        following = s.body.results[s.carried.index(c)]
        if not isinstance(c.initial, Value) or c.parameter.type.dtype != "float64" or c.parameter.type.ndim != 2:
            return []
        own = {one.target for one in s.body.statements if isinstance(one, ir.Accumulate)}
        found, now = [], following
        while now is not c.parameter:
            addition = self.definitions.get(now)
            if not isinstance(addition, ir.Accumulate) or now not in own or self.uses[now] != 1:
                return []
            product = self.outer(addition, s.body) if addition.index is None else None
            if product is not None:
                found.append((addition, *product))
            now = addition.into
        return found if self.uses[now] == 1 else []

    def outer(self, addition: ir.Accumulate, body: ir.Block):
        """The sign and the two vectors of the outer product that is added; None where it is none."""
        value, negative = addition.value, False
        product = self.once(value)
        if product is not None and product.function is operator.neg:
            negative, product = True, self.once(product.args[0])
        if product is None or product.function is not operator.mul:
            return None
        for column, row in (product.args, product.args[::-1]):
            u, w = self.indexed(column, COLUMN), self.indexed(row, None) or row
            if u is not None and self.is_vector(u, body) and self.is_vector(w, body):
                return negative, (u, w)
        return None

    def once(self, operand) -> ir.Op | None:
        """The operation that defines an operand that is read once."""
        op = self.definitions.get(operand) if isinstance(operand, Value) else None
        return op if isinstance(op, ir.Op) and self.uses[operand] == 1 and not op.kwargs else None

    def indexed(self, operand, index):
        """What `operand` is ``[index]`` of."""
        op = self.definitions.get(operand) if isinstance(operand, Value) else None
        return (
            op.args[0]
            if isinstance(op, ir.Op) and op.function is operator.getitem and op.args[1] == Constant(index)
            else None
        )

    def is_vector(self, x, body: ir.Block) -> bool:
        """Is it surely a vector of real numbers whose contents stay as they are?"""
        t = types.type_of(x)
        plain = isinstance(x, Value) and t.kind is Kind.ARRAY and t.ndim == 1
        return plain and t.dtype in ("float64", types.REAL) and self.stays(x, body)

    def stays(self, x: Value, body: ir.Block) -> bool:
        members = self.memory.members(x) if self.memory.changes else {x}
        chain, first = {x}, self.definitions.get(x)
        while isinstance(first, ir.Accumulate):  # a buffer that was filled before
            chain.add(first.into)
            first = self.definitions.get(first.into)
        writes = [s for s in self.writes if s.into in members or s.into in chain]
        if not writes:
            return True
        made_here = isinstance(first, ir.Op) and is_new(first.function, first.kwargs, first.spelling)
        return made_here and any(first is s for s in body.statements) and all(s.target in chain for s in writes)

    def without(self, s: ir.For, c: ir.Carried, sums: list):
        """The loop without the additions `sums` to `c`, and the statements after it that make up for them."""
        mapping = {addition.target: addition.into for addition, *_ in sums}
        kept = [one for one in s.body.statements if not (isinstance(one, ir.Accumulate) and one.target in mapping)]
        results = list(s.body.results)
        collected, after = [], []
        zeros = self.definitions.get(c.initial)
        template = zeros.args[0] if isinstance(zeros, ir.Op) and zeros.function is np.zeros_like else c.initial
        result = Value(c.result.name, c.result.type)
        base, carried = result, [ir.Carried(d.parameter, d.initial, result if d is c else d.result) for d in s.carried]
        for position, (addition, negative, vectors) in enumerate(sums):
            pair = Value("t", types.sequence(Kind.TUPLE, [types.type_of(v) for v in vectors]))
            kept.append(ir.Make(pair, vectors, addition.location))
            outers = Value(f"{c.result.name}_outers", Type(Kind.LIST, element=pair.type))
            collected.append(outers)
            results.append(pair)
            total = Value("t", c.result.type)
            after.append(ir.Op(total, arrays.sum_of_outers, (outers, template), {}, None, addition.location))
            if negative:
                positive, total = total, Value("t", c.result.type)
                after.append(ir.Op(total, operator.neg, (positive,), {}, None, addition.location))
            target = c.result if position == len(sums) - 1 else Value(c.result.name, c.result.type)
            after.append(ir.Accumulate(target, base, None, total, addition.location))
            base = target
        body = walk.substitute(ir.Block(kept, tuple(results)), mapping)
        s = dataclasses.replace(s, carried=carried, body=body, collected=[*s.collected, *collected])
        i = next(i for i, d in enumerate(carried) if d.result is result)
        if s.body.results[i] is c.parameter:  # nothing else was added
            s.carried = carried[:i] + carried[i + 1 :]
            s.body.results = s.body.results[:i] + s.body.results[i + 1 :]
            after = [walk.substituted(one, {result: c.initial}) for one in after]
        return s, after
