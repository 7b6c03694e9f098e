"""Lengths of axes, as symbols: which arrays surely have equal shapes because a product fitted.

The type of a value names its shape by a token. Here a token is read as one symbol per axis, and every
matrix product of the program says that two of them are equal: in ``x @ w`` the last axis of `x` is as
long as the first one of `w`. So ``g @ w.T`` has the shape of `x`, and nothing is to be summed.

Examples
--------
>>> import operator
>>> matrix = lambda name: ir.Value(name, ir.Type(ir.Kind.ARRAY, "float64", 2, name))
>>> x, w = matrix("x"), matrix("w")
>>> product = ir.Value("y", types.infer(operator.matmul, (x, w)))
>>> lengths = Dims()
>>> lengths.note(ir.Op(product, operator.matmul, (x, w)))
>>> transposed = ir.Value("wT", types.infer(np.transpose, (w,)))
>>> lengths.same(types.infer(operator.matmul, (product, transposed)), x.type)
True
"""

import operator

import numpy as np

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Kind, Type

PRODUCTS = {operator.matmul, np.matmul, np.dot}


class Dims:
    """Which lengths are equal."""

    def __init__(self):
        self.parent: dict = {}

    def find(self, symbol):
        """What stands for all lengths equal to this one."""
        while symbol in self.parent:
            symbol = self.parent[symbol]
        return symbol

    def note(self, op: ir.Op) -> None:
        """Learn from a product."""
        if op.function not in PRODUCTS or len(op.args) != 2:
            return
        a, b = (axes(types.type_of(x)) for x in op.args)
        if a is None or b is None:
            return
        self.equate(a[-1:], b[:1])
        out = axes(op.target.type)
        if out is not None:
            self.equate(out, a[:-1] + b[1:])

    def equate(self, a: tuple, b: tuple) -> None:
        """Learn that lengths are equal, pair by pair."""
        for m, n in zip(a, b, strict=True):
            m, n = self.find(m), self.find(n)
            if m != n:
                self.parent[m] = n

    def same(self, a: Type, b: Type) -> bool:
        """Surely the same shape."""
        if types.same_shape(a, b):
            return True
        s, t = axes(a), axes(b)
        if s is None or t is None or len(s) != len(t):
            return False
        return all(self.find(m) == self.find(n) for m, n in zip(s, t, strict=True))


def axes(t: Type) -> tuple | None:
    """One symbol per axis; None where the shape is not known by name."""
    if t.kind is not Kind.ARRAY or not t.ndim or t.shape is None or t.ndim > 2:
        return None
    return _axes(t.shape, t.ndim)


def _axes(token, ndim: int) -> tuple:
    if isinstance(token, tuple) and token:
        if all(isinstance(n, int) for n in token):
            return token
        if token[0] in ("matmul", "dot") and len(token) == 5:
            _, a, m, b, n = token
            if m <= 2 and n <= 2:
                left, right = _axes(a, m), _axes(b, n)
                return (left[:1] if m == 2 else ()) + (right[1:] if n == 2 else ())
        if token[0] == "outer" and len(token) == 5 and token[2] == token[4] == 1:
            return _axes(token[1], 1) + _axes(token[3], 1)
        if token[0] == "transposed" and token[2] is None:
            return _axes(token[1], ndim)[::-1]
    return tuple((token, axis) for axis in range(ndim))
