"""Assignments of every form to names; the list of all statements is here."""

import numpy as np

from .algebra import Algebra
from .expressions import atom
from .scope import is_array, is_number, kind

STEMS = {0: "s", 1: "u", 2: "m"}


class Statements(Algebra):
    def statement(self) -> None:
        self.one_of(self.statement_forms())()

    def statement_forms(self) -> list:
        forms = [(8, self.assign), (4, self.augment), (1, self.assign_several), (1, self.chain), (1, self.named)]
        return forms + self.more_statements()

    def more_statements(self) -> list:
        return []

    def value(self, depth=2) -> tuple:
        """An expression and the stem of a name for it."""
        if self.happens(45):
            shape = self.some_shape()
            return self.array(shape, depth), STEMS[len(shape)]
        return self.number(depth), "s"

    def free(self, holds) -> list:
        """Names that may be bound again."""
        return [name for name in self.names(holds) if name not in self.fixed]

    def assign(self) -> None:
        targets = self.free(lambda e: is_number(e) or is_array(e))
        if targets and self.happens(65 if self.depth else 30):
            name = self.pick(targets)
            self.execute(f"{name} = {self.like(self.examples[name])}")
        elif self.happens(6):
            shape = self.some_shape()
            self.execute(f"{self.fresh('b')} = {self.mask(shape)}")
        elif self.happens(4):
            self.execute(f"{self.fresh('s')} = {self.pick([0, 1])}")
        else:
            text, stem = self.value()
            self.execute(f"{self.fresh(stem)} = {text}")

    def like(self, example, depth=2) -> str:
        return self.number(depth) if is_number(example) else self.array(example.shape, depth)

    def augment(self) -> None:
        """``s += ...`` rebinds a number and writes into an array."""
        names = self.free(lambda e: is_number(e) or is_array(e) or type(e) is int)
        names = [name for name in names if name not in self.bounds]
        if not names:
            return self.assign()
        name = self.pick(names)
        example = self.examples[name]
        right = self.operand(example.shape, 1) if is_array(example) else self.number()
        op = self.pick(["+=", "-=", "*="])
        if self.happens(10):
            op, right = "/=", f"1.5 + {atom(right)} ** 2"
        self.execute(f"{name} {op} {right}")

    def assign_several(self) -> None:
        names = self.free(lambda e: is_number(e) or is_array(e))
        pairs = [(a, b) for a in names for b in names if a < b and kind(self.examples[a]) == kind(self.examples[b])]
        if pairs and self.happens(60):
            a, b = self.pick(pairs)
            example = self.examples[a]
            self.execute(self.pick([f"{a}, {b} = {b}, {a}", f"{a}, {b} = {b}, {self.like(example, 1)}"]))
        else:
            (one, first), (two, second) = self.value(1), self.value(1)
            self.execute(f"{self.fresh(first)}, {self.fresh(second)} = {one}, {two}")

    def chain(self) -> None:
        text, stem = self.value(1)
        self.execute(f"{self.fresh(stem)} = {self.fresh(stem)} = {text}")

    def named(self) -> None:
        """An expression that gives a part of itself a name."""
        name, number = self.fresh("s"), self.number(1)
        text = self.within(name, np.float64(0.5), lambda: self.number(1))
        self.execute(f"{self.fresh('s')} = ({name} := {number}) * {self.pick([name, atom(text)])}")

    def whole(self) -> str:
        """A number that depends on what there is at the end."""
        terms = []
        for name, example in self.examples.items():
            if name in self.bounds or not self.happens(70):
                continue
            if is_number(example):
                terms.append(name)
            elif is_array(example):
                weight = self.pick(["", " * 0.7", " ** 2", f" * {name}.size"])
                terms.append(f"np.sum({name}{weight})")
            else:
                terms += self.terms_of(name, example)
        return " + ".join(terms[-6:] or [self.number(1)])

    def terms_of(self, name, example) -> list:
        return []
