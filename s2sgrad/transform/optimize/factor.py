"""Takes common last factors out of sums of products of numbers: what reverse mode writes once for each use of a value.

In::

    t = operator.mul(g, a)
    u = operator.mul(t, x)
    v = operator.mul(g, b)
    w = operator.mul(v, x)
    dx = operator.add(u, w)

Out::

    t = operator.mul(g, a)
    v = operator.mul(g, b)
    s = operator.add(t, v)
    dx = operator.mul(s, x)

It is what reverse mode writes for a value that is used twice: cotangents are added, then multiplied. A cotangent
stays in each product that is added, so that where it is zero nothing can overflow: ``g * (a + b)`` would be nan
where ``a + b`` does. Only floating-point numbers are looked at: for arrays fewer operations need not be less work.

Examples
--------
>>> import operator
>>> from s2sgrad.transform.show import show
>>> a, b, x, t, u, d = (ir.Value(name, ir.FLOAT) for name in "abxtud")
>>> products = [ir.Op(t, operator.mul, (a, x)), ir.Op(u, operator.mul, (b, x))]
>>> block = ir.Block([*products, ir.Op(d, operator.sub, (t, u))], (d,))
>>> parameters = [ir.Parameter(v) for v in (a, b, x)]
>>> print(show(prune(factor(ir.Function("f", parameters, block, ir.Namespace({}), backward_at=0)))))
f(a, b, x):
    t = operator.sub(a, b)
    d = operator.mul(t, x)
    -> d
"""

import dataclasses
import math
import operator
from collections import Counter, defaultdict

from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Constant, Kind, Value
from s2sgrad.transform.optimize.fold import power_of_two
from s2sgrad.transform.optimize.prune import prune  # noqa: F401 (the example's)

ADD, SUB, MUL, NEG = operator.add, operator.sub, operator.mul, operator.neg


def factor(function: ir.Function) -> ir.Function:
    """Take common factors out of the sums in the generated part of a function; itself where there are none."""
    at = function.backward_at
    body = function.body
    if at is None or not any(_is_arithmetic(s) and s.function in (ADD, SUB) for s in walk.statements(body)):
        return function
    after = _factored(ir.Block(body.statements[at:], body.results), walk.use_counts(body))
    return dataclasses.replace(function, body=ir.Block(body.statements[:at] + after.statements, body.results))


def _factored(block: ir.Block, uses: Counter) -> ir.Block:
    statements: list = []
    taken: set = set()  # what is a part of a sum that was rewritten: nobody reads it any more
    here = {s.target: s for s in block.statements if _is_arithmetic(s)}
    for at in range(len(block.statements) - 1, -1, -1):
        s = block.statements[at]
        if s in taken:
            continue
        if here.get(getattr(s, "target", None)) is s and s.function in (ADD, SUB):
            sum_ = _Sum(s, here, block.statements[:at], uses)
            simpler = sum_.simpler()
            if simpler is not None:
                taken.update(sum_.parts)
                statements.extend(reversed(simpler))
                continue
        inner = [_factored(b, uses) for b in walk.blocks(s)]
        statements.append(walk.with_blocks(s, inner) if inner else s)
    return ir.Block(statements[::-1], block.results)


def _is_arithmetic(s) -> bool:
    return isinstance(s, ir.Op) and s.function in (ADD, SUB, MUL, NEG) and _is_float(s.target)


def _is_float(operand) -> bool:
    t = types.type_of(operand)
    return t.kind is Kind.NUMBER and t.dtype in ("float", "float64")


@dataclasses.dataclass(frozen=True, slots=True)
class _Term:
    """``coefficient * factors[0] * factors[1] * ...``, multiplied from the left; a factor may be a sum of terms."""

    coefficient: float
    factors: tuple

    def cost(self) -> int:
        """How many operations it is."""
        inner = sum(_cost(f) for f in self.factors if isinstance(f, tuple))
        return inner + len(self.factors) - 1 + (abs(self.coefficient) != 1)


def _cost(terms: tuple) -> int:
    return sum(t.cost() for t in terms) + len(terms) - 1 + all(t.coefficient < 0 for t in terms)


class _Sum:
    """The sum that a statement is, with the sums that are parts of it and of nothing else.

    Attributes
    ----------
    parts : list
        The statements that it consists of.
    """

    def __init__(self, root: ir.Op, here: dict, before: list, uses: Counter):
        self.root, self.here, self.uses = root, here, uses
        self.parts = [root]
        self.read: Counter = Counter()  # how often a value is a summand
        self.cancels = False  # is one added and subtracted? That may be nan
        coefficients: defaultdict = defaultdict(int)
        self.expand(root, 1, coefficients)
        for s in reversed(before):
            v = getattr(s, "target", None)
            c = coefficients.get(v)
            if c and here.get(v) is s and self.read[v] == uses[v] and self.is_sum(s, c):
                self.parts.append(s)
                self.expand(s, coefficients.pop(v), coefficients)
        places = {s.target: i for i, s in enumerate(before) if isinstance(s, ir.Op)}
        summands = sorted(coefficients, key=lambda v: places.get(v, -1))
        self.terms = [self.term(v, coefficients[v]) for v in summands]

    def is_sum(self, s: ir.Op, coefficient) -> bool:
        if s.function is MUL:
            n = s.args[0].value if isinstance(s.args[0], Constant) else None
            return isinstance(s.args[1], Value) and (power_of_two(n) or (power_of_two(coefficient) and bool(n)))
        return all(isinstance(a, Value) and _is_float(a) for a in s.args)

    def expand(self, s: ir.Op, coefficient, coefficients: dict) -> None:
        if s.function is MUL:
            signed = [(s.args[1], s.args[0].value)]
        elif s.function is NEG:
            signed = [(s.args[0], -1)]
        else:
            signed = [(s.args[0], 1), (s.args[1], 1 if s.function is ADD else -1)]
        for v, sign in signed:
            self.cancels = self.cancels or coefficients[v] * coefficient * sign < 0
            coefficients[v] += coefficient * sign
            self.read[v] += 1

    def term(self, v: Value, coefficient) -> _Term:
        """A summand as a product; its operations are parts of the sum where nobody else reads them."""
        factors: list = []
        parts = []
        while (s := self.here.get(v)) is not None and s.function is MUL and self.uses[v] == max(self.read[v], 1):
            left, right = s.args
            if not (isinstance(right, Value) and _is_float(right)):
                break
            if isinstance(left, Constant):
                if not power_of_two(left.value):
                    break
                parts.append(s)
                self.parts.extend(parts)
                return _Term(coefficient * left.value, (right, *factors[::-1]))
            if not _is_float(left):
                break
            parts.append(s)
            factors.append(right)
            v = left
        self.parts.extend(parts)
        return _Term(coefficient, (v, *factors[::-1]))

    def simpler(self) -> list | None:
        """Statements that compute the same with fewer operations; None where there are none."""
        if self.cancels or not all(_is_float(f) for t in self.terms for f in t.factors):
            return None
        terms = _combined(tuple(self.terms))
        if not 0 < _cost(terms) < len(self.parts):  # no operation at all: there is nothing to give the sum its name
            return None
        statements: list = []
        _Writer(statements, self.root).sum(terms, self.root.target)
        return statements


def _combined(terms: tuple) -> tuple:
    """The terms with common last factors taken out."""
    while True:
        groups: dict = {}
        for t in terms:
            if len(t.factors) > 1:
                groups.setdefault(t.factors[-1], []).append(t)
        common, group = max(groups.items(), key=lambda item: len(item[1]), default=(None, ()))
        if len(group) < 2:
            return terms
        inner = _single(_combined(tuple(_Term(t.coefficient, t.factors[:-1]) for t in group)))
        new = _Term(inner.coefficient, (*inner.factors, common))
        others = {id(t) for t in group[1:]}
        terms = tuple(new if t is group[0] else t for t in terms if id(t) not in others)


def _single(terms: tuple) -> _Term:
    """A sum as one term, with the coefficient that all have."""
    if len(terms) == 1:
        return terms[0]
    sizes = {abs(t.coefficient) for t in terms}
    size = sizes.pop() if len(sizes) == 1 else 1
    signed = -size if all(t.coefficient < 0 for t in terms) else size
    return _Term(signed, (tuple(_Term(_divided(t.coefficient, signed), t.factors) for t in terms),))


def _divided(coefficient, by):
    """A coefficient by its own size, or by 1, or -1."""
    return coefficient * by if abs(by) == 1 else int(math.copysign(1, coefficient * by))


class _Writer:
    """Writes sums of terms as statements."""

    def __init__(self, statements: list, root: ir.Op):
        self.statements, self.root = statements, root

    def op(self, function, *args, target: Value | None = None) -> Value:
        target = target or Value("t", types.infer(function, args))
        self.statements.append(ir.Op(target, function, args, {}, None, self.root.location))
        return target

    def product(self, term: _Term, target: Value | None = None) -> Value:
        """A term without its sign."""
        factors = [self.sum(f) if isinstance(f, tuple) else f for f in term.factors]
        size = abs(term.coefficient)
        if size != 1:
            factors.insert(0, Constant(float(size)))
        value = factors[0]
        for i, f in enumerate(factors[1:], 2):
            value = self.op(MUL, value, f, target=target if i == len(factors) else None)
        return value

    def sum(self, terms: tuple, target: Value | None = None) -> Value:
        first = next((t for t in terms if t.coefficient > 0), None)
        if first is None:
            return self.op(NEG, self.sum(tuple(_Term(-t.coefficient, t.factors) for t in terms)), target=target)
        if len(terms) == 1:
            return self.product(first, target)
        rest = [t for t in terms if t is not first]
        value = self.product(first)
        for i, t in enumerate(rest, 1):
            function = ADD if t.coefficient > 0 else SUB
            value = self.op(function, value, self.product(t), target=target if i == len(rest) else None)
        return value
