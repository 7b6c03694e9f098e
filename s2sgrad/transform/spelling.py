"""How a callable is written in source: ``np.sin``, ``x * y``, ``x[i]``, ``math.exp``, ``unbroadcast``.

Read by the emitter. What NumPy offers under several names is written by the one people use
(``np.abs``, not ``np.absolute``).
"""

import builtins
import cmath
import functools
import math
import operator
import sys

import gast
import numpy as np

BINARY = {
    operator.add: gast.Add,
    operator.concat: gast.Add,
    operator.sub: gast.Sub,
    operator.mul: gast.Mult,
    operator.truediv: gast.Div,
    operator.floordiv: gast.FloorDiv,
    operator.mod: gast.Mod,
    operator.pow: gast.Pow,
    operator.matmul: gast.MatMult,
    operator.and_: gast.BitAnd,
    operator.or_: gast.BitOr,
    operator.xor: gast.BitXor,
    operator.lshift: gast.LShift,
    operator.rshift: gast.RShift,
    operator.concat: gast.Add,
}

UNARY = {operator.neg: gast.USub, operator.pos: gast.UAdd, operator.invert: gast.Invert, operator.not_: gast.Not}

COMPARE = {
    operator.lt: gast.Lt,
    operator.le: gast.LtE,
    operator.gt: gast.Gt,
    operator.ge: gast.GtE,
    operator.eq: gast.Eq,
    operator.ne: gast.NotEq,
    operator.is_: gast.Is,
    operator.is_not: gast.IsNot,
}

# What the syntax of an operator stands for.
OPERATORS = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
}

PREFERRED = {np.absolute: "abs", np.conjugate: "conj"}
LIBRARIES = ("numpy.linalg", "numpy.fft", "numpy.random", "scipy.special", "scipy.linalg")


@functools.cache
def _paths() -> dict:
    """Callable -> (module, name in it), for NumPy and the standard library's math and cmath."""
    table = {}
    for module in (np.linalg, np.fft, np, math, cmath, operator):
        for name, value in sorted(vars(module).items()):  # `dir` would name submodules not imported yet
            if not callable(value) or name.startswith("_"):
                continue
            own = getattr(value, "__name__", None)
            if value not in table or own == name:
                table[value] = (module, PREFERRED.get(value, name))
    return table


def home(function) -> tuple | None:
    """The module that a library function is reached through, and its name there; None where it has none.

    Examples
    --------
    >>> home(np.absolute)[1], home(np.linalg.det)[0].__name__
    ('abs', 'numpy.linalg')
    """
    try:
        found = _paths().get(function)
    except TypeError:
        return None
    if found is None:
        for library in LIBRARIES[3:]:
            module = sys.modules.get(library)
            name = getattr(function, "__name__", "")
            if module is not None and getattr(module, name, None) is function:
                return module, name
    return found


def is_builtin(function) -> bool:
    """Is it reached by its bare name everywhere (``abs``, ``len``)?"""
    return getattr(builtins, getattr(function, "__name__", ""), None) is function


def length(function) -> int:
    """About how many characters the name of a callable takes."""
    found = home(function)
    name = found[1] if found else getattr(function, "__name__", "function")
    return len(name) + (3 if found else 0)
