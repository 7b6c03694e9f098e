"""Compares the values of generated code, while it runs, with the types that the compiler claims of them.

The passes rest on these. Where an array is said to be as long as another, nothing is summed; what is said to be an
array is added to in place; a number that is said to be Python's leaves float32 arrays what they are.

``python -m tests.random_programs.claims --count 1000 --seed 1`` looks at random programs.
"""

import argparse
import collections
import contextlib
import sys
import warnings
from collections import ChainMap
from dataclasses import dataclass

import numpy as np

from s2sgrad import value_and_grad
from s2sgrad.api import compilation
from s2sgrad.errors import S2SGradError
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.ir import Kind

from .limits import Endless, limited
from .programs import numbered

BOTH = Kind.NUMBER, Kind.ARRAY


@dataclass(frozen=True)
class Untrue:
    """A claim that is not true: what gives the value, what it is said to be, and what it is."""

    source: str
    said: str
    found: str
    name: str = ""

    @property
    def kind(self) -> tuple:
        """What it has in common with others."""
        return self.source, self.said, self.found


@contextlib.contextmanager
def checked():
    """Within it, whatever is compiled compares its values with their types; the list has what is not true.

    Examples
    --------
    >>> from s2sgrad import grad
    >>> with checked() as untrue:
    ...     slope = grad(lambda x: x * np.sin(x))(1.0)
    >>> untrue
    []
    """
    checker, plain = Checker(), compilation.emit
    compilation.emit = lambda functions: plain([checker.function(f) for f in functions])
    try:
        yield checker.untrue
    finally:
        compilation.emit = plain


class Checker:
    """Puts after each statement of generated code calls that look at what it defines."""

    def __init__(self):
        self.untrue: list[Untrue] = []
        self.claims: list = []
        self.done: dict = {}
        self.absent: set = set()  # values that may have no name yet where they are defined
        self.seen = self.compare  # one object, which has one name in generated code

    def function(self, function: ir.Function) -> ir.Function:
        """The function itself, and those that it calls, with calls that look."""
        if id(function) in self.done:
            return function
        self.done[id(function)] = function
        for s in walk.statements(function.body):
            if isinstance(s, ir.Call) and s.callee.function is not None:
                self.function(s.callee.function)
        at = function.backward_at
        first = None if at is None else function.body.statements[at:][:1]
        lengths = ir.Value("lengths")
        head = [ir.Op(lengths, begin)]
        head += self.looks([p.value for p in function.parameters], "a parameter", lengths)
        function.body = self.block(function.body, lengths, head)
        if at is not None:
            statements = function.body.statements
            function.backward_at = statements.index(*first) if first else len(statements)
        return function

    def block(self, block: ir.Block, lengths: ir.Value, head: list) -> ir.Block:
        done, left = head, False
        for s in block.statements:
            if isinstance(s, ir.If):
                s.then, s.orelse = self.block(s.then, lengths, []), self.block(s.orelse, lengths, [])
                self.join(s.results, s.then.results, s.orelse.results)
            if isinstance(s, ir.For):
                inner = ir.Value("lengths")
                self.join([c.parameter for c in s.carried], [c.initial for c in s.carried])
                enter = self.looks(walk.enters(s), f"what a {type(s).__name__} gives each turn", inner)
                s.body = self.block(s.body, inner, [ir.Op(inner, begin, (lengths,)), *enter])
                self.join([c.result for c in s.carried], [c.initial for c in s.carried], s.body.results)
            if isinstance(s, ir.Verbatim) and hasattr(s.node, "body"):
                self.absent.update(walk.defines(s))  # it need not come to all of what it does
            done.append(s)
            left = left or isinstance(s, ir.Exit) or (isinstance(s, ir.If) and walk.exits(s))
            if not left:
                done += self.looks(walk.defines(s), source(s), lengths)
        return ir.Block(done, block.results)

    def join(self, values, *ways) -> None:
        """Note those values that some way does not give."""
        for value, *given in zip(values, *ways, strict=False):
            if not self.absent.isdisjoint(given) or ir.ZERO in given:
                self.absent.add(value)

    def looks(self, values, origin: str, lengths: ir.Value) -> list:
        return [self.look(v, origin, lengths) for v in values if v not in self.absent and is_claimed(v)]

    def look(self, value: ir.Value, origin: str, lengths: ir.Value) -> ir.Op:
        self.claims.append((value.name, value.type, value.length, origin))
        return ir.Op(ir.Value("seen"), self.seen, (value, ir.Constant(len(self.claims) - 1), lengths))

    def compare(self, value, number: int, lengths: ChainMap) -> None:
        name, said, length, origin = self.claims[number]
        if value is None or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
            return  # an absent cotangent, or what no turn has given yet, or zeros like that
        if length not in (None, axes.ANY) and not is_as_long(length, value, lengths):
            self.untrue.append(Untrue(origin, f"the length {length!r}", repr(value), name))
        if (wrong := fault(said, value, lengths)) is not None:
            self.untrue.append(Untrue(origin, *wrong, name))


def begin(outer: ChainMap | None = None) -> ChainMap:
    """What is known of lengths in a call, or in a turn of a loop, from what is known outside."""
    return ChainMap() if outer is None else outer.new_child()


def is_claimed(value: ir.Value) -> bool:
    return not value.partial and value.type != ir.UNKNOWN and value.type.kind not in (Kind.OTHER, Kind.CALLABLE)


def source(s) -> str:
    """What gives a value, in a word."""
    if isinstance(s, ir.Op):
        of = ", ".join(shown(types.type_of(a)) for a in s.args)
        return f"{getattr(s.function, '__name__', s.function)}({of})"
    return type(s).__name__


# --------------------------------------------------------------------------------------------- claims


def fault(said: ir.Type, value, lengths: ChainMap) -> tuple | None:
    """What the type says, and what the value is instead; None where the claim is true.

    Examples
    --------
    >>> fault(ir.FLOAT64, 1.0, begin())
    ('float64 number', 'float number')
    >>> fault(ir.Type(Kind.LIST, element=ir.FLOAT), [1.0, None], begin())
    """
    found = types.of(value)
    if said.kind is Kind.TUPLE and found.kind is Kind.RECORD and isinstance(value, tuple):
        found = types.of(tuple(value))
    if not is_covered(said, found):
        return shown(said), shown(found)
    if found.kind in BOTH:
        length = _untrue_length(said, np.shape(value), lengths)
        return (f"{shown(said)}, {length}", f"of shape {np.shape(value)}") if length else None
    parts = []
    if said.kind is Kind.RECORD and said.keys is not None:
        parts = [(item, getattr(value, key), lengths) for item, key in zip(said.items, said.keys, strict=True)]
    elif said.items is not None:
        parts = [(item, each, lengths) for item, each in zip(said.items, held(value), strict=True)]
    elif said.element is not None:  # each has lengths of its own: a loop has saved it
        parts = [(said.element, each, begin(lengths)) for each in held(value)]
    wrong = (fault(*part) for part in parts if part[1] is not None)
    inside = next((w for w in wrong if w is not None), None)
    return None if inside is None else (f"{said.kind.value} of {inside[0]}", inside[1])


def is_covered(said: ir.Type, found: ir.Type) -> bool:
    """Is what was found one of the things that a type stands for, whatever its lengths and what it holds?"""
    if said.kind in (Kind.OTHER, Kind.CALLABLE) or said == ir.UNKNOWN:
        return True
    if said.kind is Kind.RECORD and found.kind is Kind.CALLABLE:
        return True  # an object that can be called
    if found.kind is not said.kind and not (said.kind is Kind.UNKNOWN and found.kind in BOTH):
        return False
    if said.kind is Kind.RECORD:
        return True  # what it holds itself, and what its class holds: `fault` asks for each by its name
    if found.kind not in BOTH:
        return said.items is None or (found.items is not None and len(found.items) == len(said.items))
    dtypes = types.WAYS.get(said.dtype, (said.dtype,))
    known = found.is_real if said.dtype == types.REAL else said.dtype is None or found.dtype in dtypes
    return known and said.ndim in (None, found.ndim) and found.contiguous >= said.contiguous


def held(value) -> list:
    """What is in a container."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else list(vars(value).values())


def _untrue_length(said: ir.Type, shape: tuple, lengths: ChainMap) -> str:
    """The symbol that stands for a length in a type which the value has not; "" where all are right."""
    if not isinstance(said.shape, tuple):
        known = said.shape is None or lengths.setdefault(("shape", said.shape), shape) == shape
        return "" if known else "of the shape of another"
    if len(said.shape) != len(shape):
        return "of other axes"
    for symbol, n in zip(said.shape, shape, strict=True):
        if not is_as_long(symbol, n, lengths):
            return f"of length {symbol if isinstance(symbol, int) else 'of another'}"
    return ""


def is_as_long(symbol, n, lengths: ChainMap) -> bool:
    """Is a symbol the length `n`, or may it be?"""
    if isinstance(symbol, int):
        return symbol == n
    return n >= symbol.least and (symbol.name is None or lengths.setdefault(symbol.name, n) == n)


def shown(t: ir.Type) -> str:
    """A type in words."""
    if t.kind not in (*BOTH, Kind.UNKNOWN):
        return t.kind.value
    kind = "number or array" if t.kind is Kind.UNKNOWN else t.kind.value
    axes_ = "" if t.kind is Kind.NUMBER else " of any axes" if t.ndim is None else f" of {t.ndim} axes"
    return f"{t.dtype or 'any'} {kind}{axes_}{' in one piece' * t.contiguous}"


# ------------------------------------------------------------------------------------------- programs


def untrue_of(program) -> list[Untrue]:
    """The claims that are not true in the derivative of a random program."""
    with np.errstate(all="ignore"), warnings.catch_warnings(), program.load() as module, checked() as untrue:
        warnings.simplefilter("ignore")
        try:
            module.f(*module.arguments())
        except Exception:
            return untrue  # so does its derivative
        with contextlib.suppress(S2SGradError):
            value_and_grad(module.f, program.argnums)(*module.arguments())
    return untrue


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs.claims", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs (1000)")
    parser.add_argument("--seed", type=int, default=0, help="which row of programs (0)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one in its row (0)")
    options = parser.parse_args()
    found, first = collections.Counter(), {}
    for number in range(options.start, options.start + options.count):
        with contextlib.suppress(Endless), limited():
            for untrue in untrue_of(numbered(options.seed, number)):
                found[untrue.kind] += 1
                first.setdefault(untrue.kind, (number, untrue.name))
    for kind, count in found.most_common():
        number, name = first[kind]
        print(f"{count:7d}  {name} of --start {number}: {kind[0]} is said to be {kind[1]}, and is {kind[2]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
