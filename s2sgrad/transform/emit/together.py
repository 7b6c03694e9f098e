"""Functions that call each other become one text: each has a name, and what comes out the same is written once.

>>> import operator
>>> import numpy as np
>>> x, t, y = ir.Value("x"), ir.Value("t"), ir.Value("y")
>>> square = ir.Op(t, operator.mul, (x, x))
>>> sine = ir.Op(y, np.sin, (t,))
>>> product = ir.Op(u := ir.Value("t"), operator.mul, (y, ir.Constant(2.0)))
>>> body = ir.Block([square, sine, product], (u,))
>>> f = ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({"np": np}))
>>> print(emit([f]).source)
def f(x):
    y = np.sin(x * x)
    return y * 2.0
<BLANKLINE>
"""

import re

from s2sgrad.transform import ir, walk
from s2sgrad.transform.emit.emitter import Emitter
from s2sgrad.transform.emit.naming import candidates
from s2sgrad.transform.emit.reading import codes_of, names_outside
from s2sgrad.transform.emit.unit import Emitted, Unit


def emit(functions: list[ir.Function]) -> Emitted:
    """The source of `functions`: first the one to call, then those that it calls, each text once."""
    same: dict = {}  # the id of a function -> the one that has its text
    while True:
        found = _with_callees(functions, same)
        names = _names(found)
        names |= {twin: names[id(function)] for twin, function in same.items()}
        emitters = [Emitter(Unit(names[id(function)], function), names) for function in found]
        texts = [emitter.text() for emitter in emitters]
        twins = _twins(emitters, texts)
        if not twins:
            break
        same = {twin: twins.get(id(function), function) for twin, function in same.items()} | twins
    units, line, lines = [], 1, {}
    for emitter, text in zip(emitters, texts, strict=True):
        emitter.unit.line = line
        lines |= {line + number: origin for number, origin in emitter.origins.items()}
        units.append(emitter.unit)
        line += text.count("\n") + 3
    return Emitted("\n\n\n".join(texts) + "\n", units, lines)


def _with_callees(functions, same: dict) -> list:
    """`functions` and all that they call, each once; the two halves of a derivative stand together."""
    found: dict = {}
    waiting = list(reversed(functions))
    while waiting:
        function = waiting.pop()
        if id(function) not in found:
            found[id(function)] = function
            calls = [s.callee.function for s in walk.statements(function.body) if type(s) is ir.Call]
            waiting += reversed([same.get(id(callee), callee) for callee in calls])
    halves: dict = {}
    for function in found.values():
        halves.setdefault(function.name.replace("_backward", "_forward"), []).append(function)
    return [function for together in halves.values() for function in together]


def _names(functions: list) -> dict:
    """A name for each function, by its id; the halves of a derivative have the same number."""
    outside = set().union(*(names_outside(codes_of(function)) for function in functions))
    outside |= {p.value.name for function in functions for p in function.parameters}
    names: dict = {}
    numbers: dict = {}
    for function in functions:
        base, half, number = _HALF.fullmatch(function.name).groups()
        if half:
            known = numbers.setdefault(base, {})
            n = known.setdefault(number, len(known) + 1)
            wish = f"{base}{half}{'' if n == 1 else n}"
        else:
            wish = function.name
        taken = outside.union(names.values())  # the user's own function may be called as well
        names[id(function)] = next(n for n in candidates(wish) if n not in taken)
    return names


_HALF = re.compile(r"(.*?)(?:(_forward|_backward)(\d*))?")


def _twins(emitters: list, texts: list) -> dict:
    """The functions whose text, with the objects that it names, is that of one before: id -> the one before."""
    first: dict = {}
    twins: dict = {}
    for emitter, text in zip(emitters[1:], texts[1:], strict=True):
        unit, space = emitter.unit, emitter.unit.function.namespace
        own = re.sub(rf"\b{unit.name}\b", "@", text)  # by which it calls itself, too
        things = tuple([(name, id(thing)) for name, thing in unit.bound.items()])
        cells = tuple([(name, id(cell)) for name, cell in space.cells.items()])
        known = first.setdefault((own, things, id(space.globals), cells), unit.function)
        if known is not unit.function:
            twins[id(unit.function)] = known
    return twins
