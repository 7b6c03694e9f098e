"""Makes fewer and cheaper calls: several questions in one, what is made in each turn of a loop in the shortest way.

In::

    a = where_less(g, x, y)
    b = where_less(g, y, x)
    t = times(g, p)                     # arrays; p = 1 / (1 + q), q = np.exp(x)
    u = times(t, q)
    z = np.zeros_like(v)                # in a loop, doubles
    r = np.sum(v, axis=0)               # in a loop, which may be the function's own

Out::

    t = split_by_less(g, x, y)
    (a, b) = t
    u = product(g, p, q)
    s = v.shape
    z = np.zeros(s)
    r = v.sum(axis=0)

What it gives is for emission, as the last of all: it has no derivatives, and no other pass knows it.

Examples
--------
>>> from s2sgrad.transform.show import show
>>> array = types.one_array("float64", 1)
>>> g, p, t, u = (Value(name, array) for name in "gptu")
>>> body = ir.Block([ir.Op(t, arrays.times, (g, p)), ir.Op(u, arrays.times, (t, p))], (u,))
>>> f = ir.Function("f", [ir.Parameter(v) for v in (g, p)], body, ir.Namespace({}), backward_at=0)
>>> print(show(with_fewer_calls(f)))
f(g, p):
    u = arrays.product(g, p, p)
    -> u
"""

import dataclasses

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.ranges import Range, Ranges
from s2sgrad.transform.ir import Kind, Value

OTHER_HALF = {
    arrays.where_less: arrays.where_less,  # of the same two arrays the other way round
    arrays.part_where: arrays.part_where_not,
    arrays.part_where_not: arrays.part_where,
}

REDUCTIONS = {np.sum: "sum()", np.prod: "prod()", np.max: "max()", np.min: "min()", np.mean: "mean()"}


def with_fewer_calls(function: ir.Function) -> ir.Function:
    """Rewrite operations of the generated part of a function, and reductions in its own loops."""
    at = function.backward_at
    if at is None:
        return function
    statements = function.body.statements
    before, after = reduced(statements[:at]), _Calls(function).block(statements[at:], in_loop=False)
    return dataclasses.replace(function, body=ir.Block(before + after, function.body.results))


def reduced(statements: list, in_loop: bool = False) -> list:
    """Reductions of arrays in loops by the methods, to which the functions of these names come by way of Python."""
    done = []
    for s in statements:
        if inner := walk.blocks(s):
            inside = in_loop or isinstance(s, ir.For)
            s = walk.with_blocks(s, [ir.Block(reduced(b.statements, inside), b.results) for b in inner])
        elif in_loop and isinstance(s, ir.Op) and s.function in REDUCTIONS:
            plain = len(s.args) in (1, 2) and s.kwargs.keys() <= {"axis", "keepdims"}
            if plain and types.type_of(s.args[0]).kind is Kind.ARRAY:
                s = dataclasses.replace(s, spelling=REDUCTIONS[s.function])
        done.append(s)
    return done


class _Calls:
    def __init__(self, function: ir.Function):
        self.uses = walk.use_counts(function.body)
        self.same = walk.restored(function.body)
        self.definitions = {s.target: s for s in walk.statements(function.body) if isinstance(s, ir.Op)}
        self.ranges = Ranges(self.definitions, self.same)
        self.made = {p.value for p in function.parameters}
        self.carried: dict = {}
        for s in walk.statements(function.body):
            if isinstance(s, ir.Op | ir.Accumulate | ir.Store):
                self.made.add(s.target)
            elif isinstance(s, ir.For):
                ends = zip(s.carried, s.body.results, strict=False)
                self.carried.update({c.parameter: (c.initial, following) for c, following in ends})

    def block(self, statements: list, in_loop: bool) -> list:
        done: list = []
        products: dict = {}  # from a value to the operation that gives it: what may become part of a product
        halves: dict = {}  # from a function and its arguments to the operation
        for s in statements:
            if inner := walk.blocks(s):
                inside = in_loop or isinstance(s, ir.For)
                s = walk.with_blocks(s, [ir.Block(self.block(b.statements, inside), b.results) for b in inner])
            if not isinstance(s, ir.Op):
                if not isinstance(s, ir.Make | ir.Unpack):
                    products.clear()  # it may write to what the factors are
                done.append(s)
            elif s.function is arrays.times and s.target.type.kind is Kind.ARRAY:
                done.append(self.product(s, done, products))
            elif s.function in OTHER_HALF:
                if not self.split(s, done, halves):
                    done.append(s)
            elif s.function is np.zeros_like and in_loop:
                done += self.zeros(s)
            else:
                done.append(s)
        return done

    def product(self, s: ir.Op, done: list, products: dict) -> ir.Op:
        """A product with the factors of the product that its first factor is."""
        first, factor = s.args
        if first in products and self.uses[first] == 1:
            _, *factors = products[first].args
            if all(is_like(p, factor, s.target) and self.is_finite_with(p, factor) for p in factors):
                before = products.pop(first)
                done.remove(before)
                s = ir.Op(s.target, arrays.product, (*before.args, factor), {}, None, s.location)
        products[s.target] = s
        return s

    def is_finite_with(self, p, q) -> bool:
        """Is `p` surely finite wherever `q` is?"""
        p, q = self.same.get(p, p), self.same.get(q, q)
        if p is q:
            return True
        if not isinstance(q, Value):
            return False
        bounds, ranges = self.ranges.of(q), Ranges(self.definitions, self.same)
        ranges.known[q] = Range(bounds.low, bounds.high, frozenset([q]), False)
        found = ranges.of(p)
        return found.is_finite and found.roots <= {q}

    @staticmethod
    def split(s: ir.Op, done: list, halves: dict) -> bool:
        """Ask for both parts of a cotangent at once, where the other one has been asked for."""
        if s.target.type.kind is not Kind.ARRAY or not s.target.type.ndim:
            return False
        g, *compared = s.args
        other = halves.get((OTHER_HALF[s.function], g, *compared[::-1]))
        if other is None:
            halves[s.function, *s.args] = s
            return False
        first, second = (s, other) if s.function is arrays.part_where else (other, s)
        both = Value("t", types.sequence(Kind.TUPLE, [first.target.type, second.target.type]))
        whole = arrays.split_by_less if s.function is arrays.where_less else arrays.split
        at = done.index(other)
        done[at : at + 1] = [
            ir.Op(both, whole, first.args, {}, None, s.location),
            ir.Unpack((first.target, second.target), both, s.location),
        ]
        return True

    def is_there(self, x, seen: frozenset = frozenset()) -> bool:
        """Is an array surely not None, as what a loop has not come to yet would be?"""
        x = self.same.get(x, x)
        if x in self.made or x in seen:
            return True
        return x in self.carried and all(self.is_there(end, seen | {x}) for end in self.carried[x])

    def zeros(self, s: ir.Op) -> list:
        """``np.zeros_like`` is written in Python, and looks at what it need not ask for."""
        (x,) = s.args
        if s.target.type.dtype != "float64" or x.type.kind is not Kind.ARRAY or not self.is_there(x):
            return [s]
        shape = Value("t", types.infer(np.shape, (x,)))
        return [
            ir.Op(shape, np.shape, (x,), {}, "shape", s.location),
            ir.Op(s.target, np.zeros, (shape,), {}, None, s.location),
        ]


def is_like(p, factor, product: Value) -> bool:
    """Are these factors surely real arrays of one dtype, and of the shape of the product?"""
    one, other = map(types.type_of, (p, factor))
    shaped = types.same_shape(one, product.type) and types.same_shape(other, product.type)
    return shaped and types.same_dtype(one, other) and one.dtype.startswith("float")
