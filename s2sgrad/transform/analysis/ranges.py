"""What values can be: their bounds, and where infinities and nan can come from.

A `Range` says of a value, entry by entry: it is between `low` and `high` or nan; it is no nan where all of
its `roots` are finite; and no infinity either unless `overflows`. Roots are the values that the analysis
does not look into: parameters, products, elements of containers. Only elementwise operations are followed,
so that an entry depends on the entries of the roots in its own place.

Examples
--------
>>> import operator
>>> x, xx, d = (ir.Value(name, ir.FLOAT) for name in ("x", "xx", "d"))
>>> square, sum_ = ir.Op(xx, operator.mul, (x, x)), ir.Op(d, operator.add, (ir.Constant(1.0), xx))
>>> found = Ranges({xx: square, d: sum_}).of(d)
>>> found.low, found.overflows, found.roots
(1.0, True, frozenset({x}))
"""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from s2sgrad.transform import ir
from s2sgrad.transform.ir import Constant, Kind, Value

INF = math.inf
SMALL = 8.0  # added to the largest number of any floating type this still rounds to that number


@dataclass(frozen=True, slots=True)
class Range:
    """What is known of a value.

    Attributes
    ----------
    low, high : float
        Bounds of all that is not nan.
    roots : frozenset of Value, or None
        No entry is nan where the entries of these are finite; None: it may be nan anywhere.
    overflows : bool
        It may be infinite where the roots are finite.
    """

    low: float = -INF
    high: float = INF
    roots: frozenset | None = None
    overflows: bool = True

    @property
    def may_be_zero(self) -> bool:
        return self.low <= 0 <= self.high

    def within(self, bound: float) -> bool:
        return -bound <= self.low and self.high <= bound

    @property
    def is_finite(self) -> bool:
        """Finite wherever the roots are."""
        return self.roots is not None and not self.overflows


UNKNOWN = Range()


def _together(*ranges) -> frozenset | None:
    if any(r.roots is None for r in ranges):
        return None
    return frozenset().union(*[r.roots for r in ranges])


class Ranges:
    """The ranges of the values of a function.

    Parameters
    ----------
    definitions : dict
        From a value to the operation that defines it.
    same : dict
        From a value to an earlier one that it is: what a loop saved, and what it is called where it is read again.
    """

    def __init__(self, definitions: dict, same: Mapping = MappingProxyType({})):
        self.definitions = definitions
        self.same = same
        self.known: dict = {}

    def of(self, x) -> Range:
        """The range of an operand."""
        if isinstance(x, Constant):
            if type(x.value) in (int, float) and math.isfinite(x.value):
                return Range(x.value, x.value, frozenset(), False)
            return UNKNOWN
        if not isinstance(x, Value) or not x.type.is_real or x.type.kind not in (Kind.NUMBER, Kind.ARRAY):
            return UNKNOWN
        x = self.same.get(x, x)
        if x not in self.known:
            self.known[x] = self.find(x)
        return self.known[x]

    def find(self, x: Value) -> Range:
        op = self.definitions.get(x)
        root = Range(roots=frozenset([x]), overflows=False)
        if not isinstance(op, ir.Op) or op.kwargs or not x.type.dtype.startswith(("float", "bfloat")):
            return root  # integers wrap around
        name = _NAMES.get(op.function) or getattr(op.function, "__name__", "")
        rule = _RULES.get(name)
        exact = isinstance(op.function, np.ufunc) or getattr(op.function, "__module__", "") in ("math", "_operator")
        if rule is None or not (exact or op.function in _NAMES):
            return root
        if name == "multiply" and len(op.args) == 2:
            a, b = op.args
            if a is b:
                return _square(self.of(a))
            if self.negated(a) is b or self.negated(b) is a:  # -x * x
                return _negative(_square(self.of(a)))
        try:
            found = rule(*map(self.of, op.args))
        except TypeError:  # another number of arguments
            return root
        if found.low > -INF and found.high < INF and found.roots is not None:
            return Range(found.low, found.high, found.roots, False)
        return found if found.roots is not None else Range(found.low, found.high, frozenset([x]), False)

    def negated(self, x):
        """What `x` is the negative of."""
        op = self.definitions.get(x) if isinstance(x, Value) else None
        return op.args[0] if isinstance(op, ir.Op) and op.function in (operator.neg, np.negative) else None


def _add(a: Range, b: Range) -> Range:
    clash = a.overflows and b.overflows and not (min(a.low, b.low) > -INF or max(a.high, b.high) < INF)
    overflows = a.overflows or b.overflows or not (a.within(SMALL) or b.within(SMALL))
    return Range(_sum(a.low, b.low, -INF), _sum(a.high, b.high, INF), None if clash else _together(a, b), overflows)


def _sum(m: float, n: float, otherwise: float) -> float:
    total = m + n
    return otherwise if math.isnan(total) else total


def _negative(a: Range) -> Range:
    return Range(-a.high, -a.low, a.roots, a.overflows)


def _multiply(a: Range, b: Range) -> Range:
    ends = [0.0 if 0 in (m, n) else m * n for m in (a.low, a.high) for n in (b.low, b.high)]
    clash = (a.overflows and b.may_be_zero) or (b.overflows and a.may_be_zero)
    overflows = a.overflows or b.overflows or not (a.within(1) or b.within(1))
    return Range(min(ends), max(ends), None if clash else _together(a, b), overflows)


def _square(a: Range) -> Range:
    most = max(abs(a.low), abs(a.high))
    return Range(0.0, most * most, a.roots, not a.within(1))


def _divide(a: Range, b: Range) -> Range:
    clash = b.may_be_zero or (a.overflows and b.overflows)
    roots = None if clash else _together(a, b)
    if b.low >= 1:
        return Range(min(a.low, 0.0), max(a.high, 0.0), roots, a.overflows)
    return Range(0.0 if a.low >= 0 and b.low >= 0 else -INF, INF, roots)


def _exp(a: Range) -> Range:
    high = 1.0 if a.high <= 0 else math.exp(a.high) * 1.01 if a.high < 700 else INF
    return Range(1.0 if a.low >= 0 else 0.0, high, a.roots, high > SMALL)


def _wave(a: Range) -> Range:
    return Range(-1.0, 1.0, None if a.overflows else a.roots, False)


def _absolute(a: Range) -> Range:
    low = 0.0 if a.may_be_zero else min(abs(a.low), abs(a.high))
    return Range(low, max(abs(a.low), abs(a.high)), a.roots, a.overflows)


def _sqrt(a: Range) -> Range:
    return Range(1.0 if a.low >= 1 else 0.0, INF, a.roots if a.low >= 0 else None, a.overflows)


def _cosh(a: Range) -> Range:
    return Range(1.0, INF, a.roots, True)


def _maximum(a: Range, b: Range) -> Range:
    return Range(max(a.low, b.low), max(a.high, b.high), _together(a, b), a.overflows or b.overflows)


def _minimum(a: Range, b: Range) -> Range:
    return Range(min(a.low, b.low), min(a.high, b.high), _together(a, b), a.overflows or b.overflows)


_RULES = {
    "add": _add,
    "subtract": lambda a, b: _add(a, _negative(b)),
    "multiply": _multiply,
    "divide": _divide,
    "negative": _negative,
    "positive": lambda a: a,
    "square": _square,
    "exp": _exp,
    "sin": _wave,
    "cos": _wave,
    "tanh": lambda a: Range(-1.0, 1.0, a.roots, False),
    "absolute": _absolute,
    "fabs": _absolute,
    "sqrt": _sqrt,
    "cosh": _cosh,
    "maximum": _maximum,
    "minimum": _minimum,
}
_NAMES = {
    operator.add: "add", operator.sub: "subtract", operator.mul: "multiply", operator.truediv: "divide",
    operator.neg: "negative", operator.pos: "positive", abs: "absolute", operator.abs: "absolute",
}  # fmt: skip
