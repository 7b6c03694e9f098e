"""Which parts of an array surely do not overlap: ``z[:n]``, ``z[n:2 * n]`` and ``z[2 * n:]``, where `n` is a length.

A bound is a sum of multiples of lengths, and of numbers that are made of lengths without subtraction, so that it does
not count from the end of the axis.

Examples
--------
>>> n, b = ir.Value("n", ir.INT), ir.Value("b")
>>> code = lambda text: ir.Code(gast.parse(text, mode="eval").body, {"n": n, "b": b})
>>> part = lambda text: ir.Code(code(f"z[{text}]").node.slice, {"n": n})
>>> spans = Spans([ir.Bind(n, code("len(b) // 4"))], ir.Namespace({}))
>>> spans.are_apart(part("n:2 * n"), part("3 * n:")), spans.are_apart(part("n:3 * n"), part("2 * n:"))
(True, False)
"""

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis.regions import entries
from s2sgrad.transform.ir import Constant, Kind


class Spans:
    """The places that indices pick, as far as they are made of lengths that the `statements` bind."""

    def __init__(self, statements, namespace: ir.Namespace):
        self.namespace = namespace
        self.binds = {s.target: s.code for s in statements if isinstance(s, ir.Bind)}

    def are_apart(self, a, b) -> bool:
        """Do two basic indices of one array surely pick no element both?"""
        for one, other in zip(entries(a), entries(b), strict=False):
            p, q = self.span(one), self.span(other)
            if p is None or q is None:
                return False  # it may be an index of other axes
            if at_most(p[1], q[0]) or at_most(q[1], p[0]):
                return True
        return False

    def span(self, entry):
        """The first place that an entry of an index picks, and the first one beyond; None where it is no such run."""
        if not isinstance(entry, tuple):
            low = self.sum(entry)
            return None if low is None else (low, low | {None: low.get(None, 0) + 1})
        start, stop, step = entry
        low = {} if start == Constant(None) else self.sum(start)
        high = {...: 1} if stop == Constant(None) else self.sum(stop)
        if step not in (Constant(None), Constant(1)) or low is None or high is None:
            return None
        return low, high

    def sum(self, x) -> dict | None:
        """An operand as what it is a sum of: from each length to how many of it; None stands for 1."""
        if isinstance(x, Constant):
            return {None: x.value} if type(x.value) is int and x.value >= 0 else None
        if isinstance(x, ir.Code):
            return self.node(x.node, x.reads)
        code = self.binds.get(x)
        if code is None:
            return None
        return self.node(code.node, code.reads) or ({x: 1} if self.is_length(code.node, code.reads) else None)

    def node(self, node, reads: dict) -> dict | None:
        match node:
            case gast.Constant(value=value):
                return self.sum(Constant(value))
            case gast.Name(id=name):
                return self.sum(reads[name]) if name in reads else None
            case gast.BinOp(left=left, op=gast.Add(), right=right):
                a, b = self.node(left, reads), self.node(right, reads)
                return None if a is None or b is None else {k: a.get(k, 0) + b.get(k, 0) for k in a | b}
            case gast.BinOp(left=left, op=gast.Mult(), right=right):
                a, b = self.node(left, reads), self.node(right, reads)
                if a is None or b is None or not {None}.issuperset(a) and not {None}.issuperset(b):
                    return None
                times, of = (a, b) if {None}.issuperset(a) else (b, a)
                return {k: n * times.get(None, 0) for k, n in of.items()}
        return None

    def is_length(self, node, reads: dict) -> bool:
        """Is it the length of something, or so many parts of one?"""
        match node:
            case gast.BinOp(left=left, op=gast.FloorDiv(), right=gast.Constant(value=value)):
                return type(value) is int and value > 0 and self.is_length(left, reads)
            case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)]):
                return name in reads and walk.is_builtin("len", reads, self.namespace)
            case gast.Subscript(value=gast.Attribute(value=gast.Name(id=name), attr="shape"), slice=gast.Constant()):
                return name in reads and reads[name].type.kind is Kind.ARRAY
            case gast.Attribute(value=gast.Name(id=name), attr="size"):
                return name in reads and reads[name].type.kind is Kind.ARRAY
        return False


def at_most(p: dict, q: dict) -> bool:
    """Is the sum `p` surely no larger than the sum `q`? ``...`` stands for the end of the axis."""
    return all(q.get(k, 0) >= n for k, n in p.items())
