"""Says operations on arrays in the way in which NumPy does them fastest, which is how people write them.

In::

    t = operator.mul(x, y)              # of one shape
    s = np.sum(t)
    u = np.expand_dims(g, -1)
    c = np.copy(g)
    b = np.broadcast_to(k, x.shape)     # a number
    p = operator.mul(b, y)
    d' = d += p
    d'' = d' += b
    m = operator.matmul(w, v)           # of which nothing else is read
    r = m[n:]
    z = times(k, n)                     # numbers
    q = over(k, f)                      # Python's own numbers, by which the function has divided
    a = k * over(2.0, f)                # numbers
    b = k * x
    v = 2 * b

Out::

    s = np.vdot(x, y)
    u = g[:, None]
    c = g.copy()
    p = operator.mul(k, y)
    d' = d += p
    d'' = d' += k
    t = w[n:]
    r = t @ v
    z = k * n if k else 0.0
    q = k / f if k else 0.0             # where `f` is zero the function has raised
    a = over(k * 2.0, f)
    b = 2 * k                           # one product of arrays, not two
    v = b * x

What it gives is for emission: derivatives are taken of the operations that were there before.

Examples
--------
>>> from s2sgrad.transform.show import show
>>> array = ir.Type(Kind.ARRAY, "float64", 1, "n")
>>> x, t, s = Value("x", array), Value("t", array), Value("s", ir.FLOAT64)
>>> body = ir.Block([ir.Op(t, operator.mul, (x, x)), ir.Op(s, np.sum, (t,))], (s,))
>>> print(show(idiomatic(ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({}), backward_at=0))))
f(x):
    t = operator.mul(x, x)
    s = np.vdot(x, x)
    -> s
"""

import dataclasses
import operator

import gast
import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import Memory, is_slice
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.lengths import Lengths
from s2sgrad.transform.build import Builder
from s2sgrad.transform.ir import Constant, Kind, Value
from s2sgrad.transform.optimize.fold import power_of_two

PRODUCTS = {operator.matmul, np.matmul, np.dot}
INNER = {operator.mul: np.vdot, arrays.times: arrays.inner}


def idiomatic(function: ir.Function) -> ir.Function:
    """Rewrite operations of the generated part of a function; what nobody reads any more is left to `prune`.

    Where there is nothing to rewrite it is the function itself.
    """
    at = function.backward_at
    if at is None:
        return function
    statements = function.body.statements
    after = _Idioms(function).block(statements[at:], Lengths(None, statements[:at]))
    if all(map(operator.is_, after, statements[at:])):
        return function
    return dataclasses.replace(function, body=ir.Block(statements[:at] + after, function.body.results))


def divisors(block: ir.Block, entering=()):
    """Python's own numbers by which each run of the block that gives them their value divides: they are not zero."""
    own = {v for s in block.statements for v in walk.defines(s)} | set(entering)
    for x in divided_by(block):
        if any(v in own for v in walk.values(x)):
            yield x
    for s in block.statements:
        for inner in walk.blocks(s):
            yield from divisors(inner, walk.enters(s))


def divided_by(block: ir.Block):
    """Python's own numbers by which each run of the block divides such a number."""
    for s in block.statements:
        own = isinstance(s, ir.Op) and all(types.type_of(x).dtype in ("float", "int", "complex") for x in s.args)
        if own and s.function is operator.truediv:
            yield s.args[1]


def stretched(value, definitions: dict):
    """The number that `value` consists of, if it is one that was stretched to an array."""
    define = definitions.get(value) if isinstance(value, Value) else None
    if define is None or define.function is not np.broadcast_to:
        return None
    return define.args[0] if types.type_of(define.args[0]).kind is Kind.NUMBER else None


def is_run(index) -> bool:
    """Is an index surely one slice?"""
    if isinstance(index, ir.Code) and isinstance(index.node, gast.Slice):
        return True
    return types.type_of(index).cls is slice


class _Idioms:
    def __init__(self, function: ir.Function):
        body = function.body
        everything = list(walk.statements(body))
        self.same = walk.restored(body)
        self.divisors = {self.key(x) for x in divisors(body, [p.value for p in function.parameters])}
        self.divided = {  # by what each turn of the loop has divided that put something into a list
            collected: {self.key(x) for x in divided_by(s.body)}
            for s in everything
            if isinstance(s, ir.For)
            for collected in s.collected
        }
        self.definitions = {s.target: s for s in everything if isinstance(s, ir.Op)}
        self.uses = walk.use_counts(body)
        self.memory = Memory(body)

    def block(self, statements: list, outer: Lengths) -> list:
        lengths = Lengths(outer, statements)
        done = []
        for s in statements:
            if self.is_part_of_product(s, done):
                done += self.product_of_part(s)
                continue
            if isinstance(s, ir.Accumulate):
                *before, s = self.unstretched(s)
                done += before
            if isinstance(s, ir.Op) and s.function is operator.mul:
                *before, s = self.as_quotient(s)
                done += before
                s = self.numbers_first(s, done)
            if inner := walk.blocks(s):
                outside = self.divisors
                self.divisors = outside.union(*self.divided_in(s))
                said = [self.block(b.statements, lengths) for b in inner]
                self.divisors = outside
                if not all(all(map(operator.is_, a, b.statements)) for a, b in zip(said, inner, strict=True)):
                    s = walk.with_blocks(s, [ir.Block(a, b.results) for a, b in zip(said, inner, strict=True)])
            elif isinstance(s, ir.Op) and s.spelling is None:
                s = self.said(s, lengths)
            done.append(s)
        return done

    def said(self, s: ir.Op, lengths: Lengths):
        if s.function is np.sum and len(s.args) == 1 and not s.kwargs:
            return self.sum(s, lengths)
        if s.function is np.expand_dims:
            return expanded(s)
        if s.function is np.copy and not s.kwargs and types.type_of(s.args[0]).kind is Kind.ARRAY:
            return dataclasses.replace(s, spelling="copy()")
        if s.function in (arrays.times, arrays.over) and not s.kwargs:
            return self.guarded(s)
        return s

    def unstretched(self, s: ir.Accumulate) -> list:
        """Without the stretching of a number that is added, or a factor of what is: an addition in place does that."""
        number = stretched(s.value, self.definitions)
        if number is not None and s.into.type.kind is Kind.ARRAY and (s.index is None or is_slice(s.index)):
            zeros = s.into in self.definitions and self.definitions[s.into].function is np.zeros_like
            return [s if zeros else dataclasses.replace(s, value=number)]  # `accumulate` says that in one line
        product = self.definitions.get(s.value) if isinstance(s.value, Value) and self.uses[s.value] == 1 else None
        if not isinstance(product, ir.Op) or product.function is not operator.mul:
            return [s]
        for factor, other in (product.args, product.args[::-1]):
            number = stretched(factor, self.definitions)
            if number is not None and isinstance(other, Value):
                plain = Value("t", types.infer(operator.mul, (number, other)))
                if types.same_dtype(plain.type, product.target.type):
                    product = ir.Op(plain, operator.mul, (number, other), {}, None, product.location)
                    return [product, dataclasses.replace(s, value=plain)]
        return [s]

    def is_part_of_product(self, s, done: list) -> bool:
        """Is it a run of rows of a product, of which nothing else is read? The statements `done` are before it."""
        if not isinstance(s, ir.Op) or s.function is not operator.getitem or not is_run(s.args[1]):
            return False
        product = self.definitions.get(s.args[0]) if self.uses[s.args[0]] == 1 else None
        if product is None or product.function not in PRODUCTS or len(product.args) != 2 or product.kwargs:
            return False
        left, right = product.args
        plain = types.type_of(left).ndim == 2 and types.type_of(right).ndim in (1, 2)
        return plain and all(self.stays(x, product, done) for x in product.args)

    def stays(self, x, since: ir.Op, done: list) -> bool:
        """Are the contents of `x` after the statements `done` what they were at one of them?"""
        if not self.memory.is_written(x):
            return True
        if since not in done:
            return False
        between, alike = walk.statements(ir.Block(done[done.index(since) :])), self.memory.members(x)
        return not any(isinstance(s, ir.Store | ir.Accumulate) and s.into in alike for s in between)

    def product_of_part(self, s: ir.Op) -> list:
        """The product of these rows only."""
        product = self.definitions[s.args[0]]
        left, right = product.args
        part = Value("t", types.infer(operator.getitem, (left, s.args[1])))
        return [
            ir.Op(part, operator.getitem, (left, s.args[1]), {}, None, s.location),
            ir.Op(s.target, product.function, (part, right), {}, product.spelling, s.location),
        ]

    def guarded(self, s: ir.Op):
        """A product or quotient of numbers that is zero where its first factor is."""
        g, p = s.args
        if any(types.type_of(x).kind is not Kind.NUMBER for x in s.args):
            return s
        if s.function is arrays.over and not self.is_divisor(p):
            return s
        if isinstance(g, Constant) and g.value != 0 and s.function is arrays.over:
            return dataclasses.replace(s, function=operator.truediv)
        if not isinstance(g, Value):
            return s
        zero = zero_of(g, s.target.type)
        if zero is None:
            return s
        plain = Value("t", s.target.type)
        function = operator.mul if s.function is arrays.times else operator.truediv
        then = ir.Block([ir.Op(plain, function, s.args, {}, None, s.location)], (plain,))
        return ir.If(g, then, ir.Block([], (zero,)), (s.target,), s.location)

    def as_quotient(self, s: ir.Op) -> list:
        """A number times the quotient of a literal as the quotient of the product."""
        for other, factor in (s.args, s.args[::-1]):
            define = self.definitions.get(factor) if isinstance(factor, Value) and self.uses[factor] == 1 else None
            if define is None or define.function is not arrays.over or not isinstance(define.args[0], Constant):
                continue
            literal, divisor = define.args
            if any(types.type_of(x).kind is not Kind.NUMBER for x in (other, divisor)) or s.spelling is not None:
                continue
            build = Builder()
            build.location = s.location
            product = build.op(operator.mul, literal, other)
            quotient = ir.Op(s.target, arrays.over, (product, divisor), {}, None, s.location)
            self.definitions.update(build.definitions)
            self.definitions[s.target] = quotient
            return [*build.statements, quotient]
        return [s]

    def numbers_first(self, s: ir.Op, done: list) -> ir.Op:
        """A power of two times a number times an array: it multiplies the number, which `done` ends with then."""
        before = done[-1] if done else None
        if s.function is not operator.mul or not isinstance(before, ir.Op) or before.function is not operator.mul:
            return s
        (factor, x), (number, array) = s.args, before.args
        if before.target is not x:
            return s
        plain = self.uses[x] == 1 and s.spelling is None and before.spelling is None
        exact = isinstance(factor, Constant) and power_of_two(factor.value)
        if plain and exact and types.type_of(number).kind is Kind.NUMBER and x.type.kind is Kind.ARRAY:
            product = Value("t", types.infer(operator.mul, (factor, number)))
            done[-1] = ir.Op(product, operator.mul, (factor, number), {}, None, before.location)
            return dataclasses.replace(s, args=(product, array))
        return s

    def divided_in(self, s):
        """By what has been divided wherever the body of a loop runs that reads what another one has put into a list."""
        for source in s.sources if isinstance(s, ir.For) else ():
            if isinstance(source.iterable, Value):
                yield self.divided.get(self.same.get(source.iterable, source.iterable), set())

    def is_divisor(self, p) -> bool:
        """Has the function divided by it, or by what it is the conjugate of?"""
        define = self.definitions.get(p) if isinstance(p, Value) else None
        if define is not None and define.function is arrays.conjugate:
            (p,) = define.args
        return not isinstance(p, Constant) and self.key(p) in self.divisors

    def key(self, x):
        """What equal numbers have in common: of the user's text the text, and what its names stand for."""
        if isinstance(x, ir.Code):
            return gast.dump(x.node), frozenset((name, self.same.get(v, v)) for name, v in x.reads.items())
        return self.same.get(x, x) if isinstance(x, Value) else x

    def sum(self, s: ir.Op, lengths: Lengths) -> ir.Op:
        """The sum of all entries: of a product of two arrays their inner product."""
        (x,) = s.args
        product = self.definitions.get(x) if isinstance(x, Value) else None
        if isinstance(product, ir.Op) and product.function in INNER and self.uses[x] == 1:
            a, b = map(types.type_of, product.args)
            doubles = all(t.kind is Kind.ARRAY and t.ndim and t.dtype in ("float64", types.REAL) for t in (a, b))
            if doubles and lengths.same(a, b):
                return ir.Op(s.target, INNER[product.function], product.args, {}, None, s.location)
        if types.type_of(x).kind is Kind.ARRAY:
            return dataclasses.replace(s, spelling="sum()")
        return s


def zero_of(g: Value, t: ir.Type):
    """A zero that is of the type `t` where `g` is zero; None where that takes more than to read a name."""
    if t.dtype in (None, types.REAL) or "float" in types.WAYS.get(t.dtype, (t.dtype,)):
        return Constant(0.0)
    return g if types.same_dtype(g.type, t) else None


def expanded(s: ir.Op) -> ir.Op:
    """A new axis: an index with None in its place."""
    if s.function is not np.expand_dims or len(s.args) != 2 or s.kwargs:
        return s
    a, axis = types.type_of(s.args[0]), types.constant(s.args[1])
    if a.kind is not Kind.ARRAY or not a.ndim or type(axis) is not int:
        return s
    axis %= a.ndim + 1
    index = None if axis == 0 else (*[slice(None)] * axis, None)
    return ir.Op(s.target, operator.getitem, (s.args[0], Constant(index)), {}, None, s.location)
