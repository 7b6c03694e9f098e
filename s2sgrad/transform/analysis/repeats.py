"""Operations that give what an earlier one gave: ``x[i] * x[i]`` reads one number twice.

Examples
--------
>>> import operator
>>> from s2sgrad.transform import ir
>>> x, a, b, y = (ir.Value(name, ir.FLOAT) for name in "xaby")
>>> square = lambda v: ir.Op(v, operator.mul, (x, x))
>>> body = ir.Block([square(a), square(b), ir.Op(y, operator.add, (a, b))], (y,))
>>> repeats(body) == {b: a}
True
"""

import gast
import numpy as np

from s2sgrad.rules.table import lookup
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.classes import is_trusted
from s2sgrad.transform.ir import Constant, Kind, Value

_PLAIN = (
    gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.Tuple, gast.Slice,
    gast.operator, gast.unaryop, gast.expr_context,
)  # fmt: skip


def repeats(block: ir.Block, is_volatile=lambda value: False) -> dict:
    """From each number or array of a block, at any depth, that an operation gives again, to the first one.

    Values are assigned once: what is read under one name has not changed meanwhile. What `is_volatile` is left out.
    """
    found: dict = {}
    _survey(block, {}, found, is_volatile)
    return found


def _survey(block: ir.Block, known: dict, found: dict, is_volatile) -> None:
    for s in block.statements:
        if isinstance(s, ir.Op) and _is_plain(s) and not is_volatile(s.target):
            key = _key(s, found)
            if key is not None and key in known:
                found[s.target] = known[key]
            elif key is not None:
                known[key] = s.target
        for inner in walk.blocks(s):
            _survey(inner, dict(known), found, is_volatile)


def _is_plain(s: ir.Op) -> bool:
    """Is it arithmetic, an element, a slice or a number of NumPy's, so that doing it again surely gives the same?"""
    module = getattr(s.function, "__module__", "")
    known = isinstance(s.function, np.ufunc) or module in ("_operator", "math", "cmath", "builtins")
    if not known and s.target.type.kind is Kind.NUMBER:
        known = lookup(s.function) is not None and is_trusted(s.function)
    return known and not s.kwargs and s.target.type.kind in (Kind.NUMBER, Kind.ARRAY)


def _key(s: ir.Op, found: dict):
    """What equal operations have in common; None for one of which that is not known."""
    operands = []
    for x in s.args:
        if isinstance(x, Value):
            operands.append((found.get(x, x),))
        elif isinstance(x, Constant):
            operands.append((type(x.value), repr(x.value)))
        elif (literal := types.constant(x, x)) is not x:
            operands.append((type(literal), repr(literal)))
        else:
            parts = list(gast.walk(x.node))
            names = sorted({part.id for part in parts if isinstance(part, gast.Name)})
            if not all(isinstance(part, _PLAIN) for part in parts) or not x.reads.keys() >= set(names):
                return None
            operands.append((gast.dump(x.node), *(found.get(x.reads[n], x.reads[n]) for n in names)))
    return s.function, tuple(operands)
