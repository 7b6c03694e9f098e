"""Which lengths of axes are equal, because the program would not have run otherwise.

In ``x @ w`` the last axis of `x` is as long as the first of `w`; in ``x + y`` two axes that meet and are
surely not of length 1 are equal. So ``g @ w.T`` has the shape of `x`, and nothing is to be summed.

What a branch or a loop says holds inside of it: each block has `Lengths` of its own, which know what
the blocks around it know.

Examples
--------
>>> import operator
>>> matrix = lambda name: ir.Value(name, types.one_array("float64", 2))
>>> x, w = matrix("x"), matrix("w")
>>> product = ir.Value("y", types.infer(operator.matmul, (x, w)))
>>> lengths = Lengths()
>>> lengths.note(ir.Op(product, operator.matmul, (x, w)))
>>> transposed = ir.Value("wT", types.infer(np.transpose, (w,)))
>>> lengths.same(types.infer(operator.matmul, (product, transposed)), x.type)
True
"""

import operator
import re

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.ir import Kind, Type

PRODUCTS = {operator.matmul, np.matmul, np.dot}
_BROADCASTING = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow,
    np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.where,
    arrays.over, arrays.times, arrays.where_less, arrays.part_where, arrays.part_where_not,
}  # fmt: skip


class Lengths:
    """Which symbols stand for equal lengths."""

    def __init__(self, outer: "Lengths | None" = None, statements=()):
        self.outer = outer
        self.parent: dict = {}
        self.few: set = set()  # lengths that are 0 or 1
        self.some: set = set()  # lengths that are 2 or more
        self.cuts: dict = {}  # from an axis and a slice of it, whose bounds only the run knows, to its length
        for s in statements:
            self.note(s)

    def find(self, symbol):
        """What stands for all lengths equal to this one."""
        symbol = self._direct(symbol)
        if type(getattr(symbol, "name", None)) is tuple:  # a part of an axis: one of an equal axis is as long
            symbol = self._direct(axes.renamed(symbol, self._direct))
        return symbol

    def _direct(self, symbol):
        known = self
        while known is not None:
            if symbol in known.parent:
                symbol, known = known.parent[symbol], self
            else:
                known = known.outer
        return symbol

    def note(self, s) -> None:
        """Learn from a statement that runs wherever this block runs."""
        if isinstance(s, ir.Store):
            place = types.type_of(s.into if s.through is None else s.through)
            if s.index is not None:
                place = types.infer(operator.getitem, (s.through or s.into, s.index))
            self.meet([place, types.type_of(s.value)])
        if not isinstance(s, ir.Op):
            return
        if s.function in PRODUCTS and len(s.args) == 2:
            a, b = (types.axes_of(types.type_of(x)) for x in s.args)
            if a and b:
                self.equate(a[-1], b[-2:][0])
        elif s.function is np.einsum:
            self.label(s)
        elif isinstance(s.function, np.ufunc) or s.function in _BROADCASTING:
            operands = [types.type_of(x) for x in s.args]
            if any([t.kind is Kind.ARRAY for t in operands]):
                signature = getattr(s.function, "signature", None)
                if signature is None:
                    self.meet(operands)
                    self.broadcast(types.type_of(s.target), operands)
                elif not s.kwargs:
                    self.match(signature, operands)
        elif s.function is operator.getitem and len(s.args) == 2 and s.args[0].type.kind is Kind.ARRAY:
            self.cut(s)

    def label(self, s: ir.Op) -> None:
        """Learn from the labels of `np.einsum`: axes of one label that are not of length 1."""
        labels = types.products.labels_of(s.args[0], s.args[1:])
        first: dict = {}
        for term, operand in zip(labels[0] if labels else (), s.args[1:], strict=False):
            for letter, n in zip(term, types.axes_of(types.type_of(operand)), strict=True):
                if self.is_many(n):
                    self.equate(first.setdefault(letter, n), n)

    def match(self, signature: str, operands: list) -> None:
        """Learn from the names of last axes that a product of many arrays has: ``(m,n),(n)->(m)``."""
        first: dict = {}
        for term, operand in zip(re.findall(r"\(([^)]*)\)", signature), operands, strict=False):
            names = term.split(",")
            for name, n in zip(names, (types.axes_of(operand) or ())[-len(names) :], strict=False):
                self.equate(first.setdefault(name, n), n)

    def meet(self, operands: list) -> None:
        """Learn that arrays are broadcast together: of two axes that meet and are not of length 1."""
        shapes = [types.axes_of(t) for t in operands if t.kind is Kind.ARRAY]
        if len(shapes) > 1 and None not in shapes:
            for i in range(1, max(map(len, shapes)) + 1):
                met = [shape[-i] for shape in shapes if len(shape) >= i and self.is_many(shape[-i])]
                for n in met[1:]:
                    self.equate(met[0], n)

    def broadcast(self, result: Type, operands: list) -> None:
        """Learn that an array is made, entry by entry, of others: where these are equally long, so is it."""
        target = types.axes_of(result) if result.kind is Kind.ARRAY else None
        shapes = [types.axes_of(t) for t in operands if t.kind is not Kind.NUMBER]
        if target is None or None in shapes or any(t.kind is Kind.UNKNOWN for t in operands):
            return
        for i in range(1, len(target) + 1):
            met = [shape[-i] for shape in shapes if len(shape) >= i and shape[-i] != 1]
            if met and target[-i] is not met[0] and all(self.equal(met[0], n) for n in met[1:]):
                self.equate(target[-i], met[0])

    def cut(self, s: ir.Op) -> None:
        """Learn that two slices with the same bounds, of two axes of one length, are equally long."""
        base, target = types.axes_of(s.args[0].type), types.axes_of(s.target.type)
        slices = types.slices_of(s.args[1])
        if base is None or target is None or slices is None:
            return
        kept = iter(target)
        for n, bounds in zip(base, slices, strict=False):
            if bounds is None:
                continue
            length = next(kept)
            if types.is_single(bounds):
                self.few.add(length)
            if bounds is Ellipsis or not axes.is_named(n):
                continue
            self.measure(length, n, bounds)
            known, key = self, (self.find(n), bounds)
            while known is not None and key not in known.cuts:
                known = known.outer
            if known is not None:
                self.equate(length, known.cuts[key])
            elif axes.is_named(length):
                self.cuts[key] = length

    def measure(self, length, n, bounds) -> None:
        """Learn how long a slice of an axis is from bounds that are lengths."""
        lengths = types.lengths_of(bounds)
        if lengths is not None and axes.is_named(length):
            low, high = (m if m is None else self.find(m) for m in lengths)
            found = axes.between(self.find(n), low, high)
            if axes.is_named(found):
                self.equate(length, found)
            elif axes.is_many(found):
                self.some.add(length)

    def equate(self, m, n) -> None:
        """Learn that two lengths are equal."""
        if not (axes.is_named(m) and axes.is_named(n)):
            return
        m, n = self.find(m), self.find(n)
        if m != n:
            if isinstance(m, int):
                m, n = n, m
            self.parent[m] = n

    def forget(self, size: int) -> None:
        """Forget what was learnt since so much was known."""
        while len(self.parent) > size:
            self.parent.popitem()

    def equal(self, m, n) -> bool:
        """Surely the same length."""
        return axes.is_named(m) and axes.is_named(n) and self.find(m) == self.find(n)

    def is_many(self, symbol) -> bool:
        """Surely not 1."""
        if axes.is_many(symbol):
            return True
        return axes.is_named(symbol) and (axes.is_many(found := self.find(symbol)) or self._among("some", found))

    def is_few(self, symbol) -> bool:
        """Surely 0 or 1."""
        return axes.is_named(symbol) and self._among("few", symbol)

    def _among(self, kind: str, symbol) -> bool:
        known = self
        while known is not None and symbol not in getattr(known, kind):
            known = known.outer
        return known is not None

    def same(self, a: Type, b: Type) -> bool:
        """Surely the same shape."""
        if types.same_shape(a, b):
            return True
        s, t = types.axes_of(a), types.axes_of(b)
        return s is not None and t is not None and len(s) == len(t) and all(map(self.equal, s, t))

    def summed(self, wide: Type, narrow: Type) -> tuple | None:
        """Over which axes an array has to be summed to the shape that was broadcast to its own.

        Returns
        -------
        lead : tuple of int
            Axes that `narrow` does not have.
        kept : tuple of int
            Axes that are 1 in `narrow`.

        None where that is not known.
        """
        s, t = types.axes_of(wide), types.axes_of(narrow)
        if s is None or t is None or len(s) < len(t):
            return None
        lead = len(s) - len(t)
        kept = []
        for i, (m, n) in enumerate(zip(s[lead:], t, strict=True)):
            if self.equal(m, n) or (self.is_many(m) and self.is_many(n)):
                continue  # they meet, and neither is 1
            if self.find(n) != 1 and not (self.is_many(m) and self.is_few(n)):
                return None
            kept.append(i)
        return tuple(range(lead)), tuple(kept)
