"""Lengths of axes before the program runs: one symbol per axis of an array.

A symbol is an integer (that very length) or an `Axis`: a length without a number, but with a name, so
that equal symbols are equal lengths. Of an `Axis` it may be known that it is so much or more. That decides most
of broadcasting: two lengths that are broadcast together and are both surely not 1 are equal.

Examples
--------
>>> n, k = Axis("n", 2), Axis("k")
>>> broadcast([(n, k), (1, 4)])
(n, 4)
>>> broadcast([(n, k), (k,)]) == (n, k)
True
"""

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass, replace

_names = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Axis:
    """The length of an axis.

    Attributes
    ----------
    name : hashable
        Equal names, equal lengths; None equals nothing. A name may be built of other symbols: ``("less", n, 2)``
        is what two entries less than `n` leave.
    least : int
        It is not less.
    """

    name: Hashable = None
    least: int = 0

    def __repr__(self) -> str:
        return str(self.name)


Symbol = int | Axis
ANY = Axis()
LONG = 8  # of longer axes no more is remembered
_DERIVED = ("both", "size", "part", "less", "rest", "quotient", "times", "total")


def fresh() -> int:
    """A name that nothing else has."""
    return next(_names)


def remembered(n: int) -> int:
    """What code knows of a length that its calls have in common: that it is 0, or 1, or at least 2, 4 or `LONG`.

    Examples
    --------
    >>> [remembered(n) for n in (0, 1, 2, 3, 4, 7, 8, 1000)]
    [0, 1, 2, 2, 4, 4, 8, 8]
    """
    return n if n < 3 else 2 if n < 4 else 4 if n < LONG else LONG


def of(shape: tuple) -> tuple:
    """The symbols of an array of this shape."""
    return tuple([n if n < 2 else Axis(fresh(), remembered(n)) for n in shape])


def is_named(symbol: Symbol) -> bool:
    return isinstance(symbol, int) or symbol.name is not None


def is_many(symbol: Symbol) -> bool:
    """Surely not 1."""
    return symbol != 1 if isinstance(symbol, int) else symbol.least > 1


def is_some(symbol: Symbol) -> bool:
    """Surely not 0."""
    return least(symbol) > 0


def least(symbol: Symbol) -> int:
    """A length is this or more."""
    return symbol if isinstance(symbol, int) else symbol.least


def named(shape: tuple) -> tuple:
    """The shape with a fresh name for each length that has none."""
    return tuple([s if is_named(s) else replace(s, name=fresh()) for s in shape])


def is_older(symbol, mark: int) -> bool:
    """Is a length, or a name of one, made of those alone that had their names before the name `mark` was given?"""
    if isinstance(symbol, Axis):
        name = symbol.name
        return name is not None and (name < mark if type(name) is int else is_older(name, mark))
    return all(is_older(part, mark) for part in symbol) if isinstance(symbol, tuple | frozenset) else True


def join(a: Symbol, b: Symbol) -> Symbol:
    """A length that may be the one or the other.

    It is known to be 2 or more, or nothing is: an array that gets shorter in a loop need not be followed step by step.
    """
    return a if a == b else Axis(None, 2) if min(least(a), least(b)) > 1 else ANY


def both(a: Symbol, b: Symbol) -> Symbol:
    """The length of two axes that are broadcast together."""
    if b == 1 or (a == b and is_named(a)):
        return a
    if a == 1:
        return b
    if is_many(a) and is_many(b):
        return a if isinstance(a, int) else b if isinstance(b, int) or not is_named(a) else a
    if is_many(a):
        return a
    if is_many(b):
        return b
    if not (is_named(a) and is_named(b)):
        return ANY
    parts = [s.name[1] if type(s.name) is tuple and s.name[0] == "both" else {s} for s in (a, b)]
    return Axis(("both", frozenset().union(*parts)), min(a.least, b.least))


def broadcast(shapes) -> tuple:
    """The shape of several arrays broadcast together."""
    result: tuple = ()
    for shape in shapes:
        if len(shape) > len(result):
            shape, result = result, shape
        lead = len(result) - len(shape)
        result = result[:lead] + tuple(map(both, result[lead:], shape))
    return result


def size(shape: tuple) -> Symbol:
    """How many entries an array has."""
    if len(shape) == 1:
        return shape[0]
    count = math.prod(map(least, shape))
    if all(isinstance(n, int) for n in shape):
        return count
    return Axis(("size", shape) if all(map(is_named, shape)) else None, count)


def part(n: Symbol, start, stop, step) -> Symbol:
    """The length of ``[start:stop:step]`` of an axis, with literal bounds."""
    if step == 0:
        return ANY
    if isinstance(n, int):
        return len(range(n)[start:stop:step])
    if (start, stop, step) == (None, None, -1):
        return n
    front, back, step = start or 0, stop or 0, step or 1
    grows = step > 0 and not (front < 0 and stop is not None and stop >= 0)  # of more entries, no fewer
    some = len(range(n.least)[start:stop:step]) if grows else 0
    if not is_named(n):
        return Axis(None, some)
    if front < 0 or (stop is not None and stop >= 0) or step < 0:
        return Axis(("part", n, start, stop, step), some)
    # what is left of `n` without so many entries at its ends, each `step`-th of it
    less = front - back
    if less == 0 and step == 1:
        return n
    if type(n.name) is tuple and n.name[0] == "less":
        n, less = n.name[1], n.name[2] + less
        if less == 0 and step == 1:
            return n
    return Axis(("less", n, less) if step == 1 else ("part", n, less, None, step), some)


def more(n: Symbol, count: int) -> Symbol:
    """The length that is greater by `count`."""
    if isinstance(n, int):
        return n + count
    name = None
    if type(n.name) is not tuple or n.name[0] != "less":
        name = ("less", n, -count) if is_named(n) else None
    elif n.least > 0:  # so that it was not cut off at 0
        name = ("less", n.name[1], n.name[2] - count)
    if name is not None and name[2] == 0:
        return name[1]
    return Axis(name, n.least + count)


def quotient(n: Symbol, count: int) -> Symbol:
    """The length of which `count`, and no more, go into `n`."""
    if isinstance(n, int):
        return n // count
    return Axis(("quotient", n, count) if is_named(n) else None, n.least // count)


def times(n: Symbol, count: int) -> Symbol:
    """The length that is `count` times as long."""
    if isinstance(n, int):
        return n * count
    return n if count == 1 else Axis(("times", n, count) if is_named(n) else None, n.least * count)


def total(lengths) -> Symbol:
    """The sum of lengths."""
    count = sum(map(least, lengths))
    if all(isinstance(n, int) for n in lengths):
        return count
    return Axis(("total", tuple(lengths)) if all(map(is_named, lengths)) else None, count)


def between(n: Symbol, low: Symbol, high: Symbol | None) -> Symbol:
    """The length of ``[low:high]`` of an axis of length `n`, for bounds that are lengths; None is the end.

    Where `m` is ``n // 4``, ``[m : 2 * m]`` is as long as `m`, and ``[3 * m :]`` no shorter.

    Examples
    --------
    >>> n = Axis("n", 8)
    >>> m = quotient(n, 4)
    >>> between(n, m, times(m, 2)) == m, between(n, times(m, 3), None).least
    (True, 2)
    >>> between(n, 1, part(n, 1, None, None)) == part(n, 1, -1, None)
    True
    """
    start, stop = (_place(bound, n) for bound in (low, high))
    if start is not ANY and stop is not ANY:
        return 0 if start is None else part(n, start, stop, None)
    (first, unit), (last, other) = _multiple(low), (None, None) if high is None else _multiple(high)
    unit = other if first == 0 else unit
    whole, most = unit.name[1:] if type(unit) is Axis and _kind(unit) == "quotient" else (unit, 1)
    if whole != n or first > most or (high is not None and not (other == unit and first <= last <= most)):
        return ANY
    return Axis(None, (most - first) * unit.least) if high is None else times(unit, last - first)


def _kind(symbol: Axis):
    return symbol.name[0] if type(symbol.name) is tuple else None


def _place(bound: Symbol | None, n: Symbol):
    """A bound as a literal, counted from the end if `n` tells how far that is.

    None is the end itself, `ANY` a place that is not known.
    """
    if bound is None or isinstance(bound, int):
        return bound
    (whole, less), (length, left) = _cut(bound), _cut(n)
    return ANY if whole != length or less < left else left - less or None


def _cut(symbol: Symbol) -> tuple:
    """Of which length how many entries are missing."""
    return symbol.name[1:] if type(symbol) is Axis and _kind(symbol) == "less" else (symbol, 0)


def _multiple(symbol: Symbol) -> tuple:
    """How often which length it is."""
    if isinstance(symbol, int):
        return symbol, 1
    return (symbol.name[2], symbol.name[1]) if _kind(symbol) == "times" else (1, symbol)


def renamed(symbol: Symbol, rename) -> Symbol:
    """The symbol with `rename` (from an `Axis` with a plain name to a symbol) applied wherever one stands in it."""
    if isinstance(symbol, int) or symbol.name is None:
        return symbol
    if type(symbol.name) is tuple and symbol.name[0] in _DERIVED:
        return replace(symbol, name=_inside(symbol.name, rename))
    return rename(symbol)


def _inside(name, rename):
    if isinstance(name, Axis):
        return renamed(name, rename)
    if isinstance(name, tuple | frozenset):
        return type(name)(_inside(part, rename) for part in name)
    return name
