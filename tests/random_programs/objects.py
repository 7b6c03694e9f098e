"""Objects with attributes: a dataclass and a plain class, made, changed through methods and from outside, and read."""

from .filling import Filling
from .scope import is_array

METHODS = """
    rate = 0.4

    def __call__(self, v):
        return self.rate * v + self.s

    @property
    def mean(self):
        return np.sum(self.u) / (self.u.size + self.rate)

    @classmethod
    def unit(cls, s):
        return cls(s, np.ones(2) * cls.rate)

    def advance(self, n):
        for i in range(n):
            if self.s > 1.5:
                return i
            self.s += 0.3 * self(self.mean)
            self.u[i % 2 : i % 2 + 1] *= self.s
        return n

    def energy(self, c):
        return self.s * np.sum(np.sin(self.u) * c)

    def scaled(self, c):
        return self.u * (c + self.s)

    def step(self, c):
        self.s = 0.5 * self.s + c
        if self.s > 0.8:
            self.u = self.u * c
        self.u[:1] += c
"""
CLASSES = f"""from dataclasses import dataclass


@dataclass
class P:
    s: float
    u: np.ndarray
{METHODS}

class Q:
    def __init__(self, s, u):
        self.s = s
        self.u = u
{METHODS}

class R(Q):
    rate = 0.6

    def __init__(self, s, u, keep=2):
        super().__init__(0.5 * s, u)
        self.past = [s]
        self.keep = keep
        self.count = 0

    def step(self, c):
        super().step(c)
        self.past.append(self.s)
        if len(self.past) > self.keep:
            del self.past[0]
        self.count += 1

    def history(self):
        return sum(self.past) / len(self.past)
"""
KINDS = "P", "Q", "R"


def is_object(example) -> bool:
    """Not one that a helper, given a function that sums, has given a number for its array."""
    return type(example).__name__ in KINDS and is_array(example.u)


class Objects(Filling):
    def objects(self) -> list:
        return self.names(is_object)

    def more_statements(self) -> list:
        forms = super().more_statements()
        if "P" in self.namespace:
            forms.append((1, self.make_object))
        if self.objects():
            forms.append((6, self.change_object))
        return forms

    def more_numbers(self) -> list:
        forms = super().more_numbers()
        if self.objects():
            forms.append((4, self.number_of_object))
        return forms

    def more_arrays(self, shape) -> list:
        forms = super().more_arrays(shape)
        found = [name for name in self.objects() if self.examples[name].u.shape == shape]
        if found:
            forms.append((6, lambda depth: self.array_of_object(self.pick(found))))
        return forms

    def number_of_object(self, depth) -> str:
        name = self.pick(self.objects())
        forms = [f"{name}.s", f"{name}.s", f"{name}.energy({self.number(0)})", f"np.sum({name}.u)"]
        forms += [f"{name}({self.number(0)})", f"{name}.mean", f"{name}.rate * {self.number(0)}"]
        return self.pick([*forms, f"{name}.history()"] if hasattr(self.examples[name], "past") else forms)

    def array_of_object(self, name) -> str:
        return self.pick([f"{name}.u", f"{name}.u", f"{name}.scaled({self.number(0)})"])

    def make_object(self) -> None:
        shape = self.some_shape()
        array = self.array(shape, 1)
        self.execute(f"{self.fresh('o')} = {self.pick(KINDS)}({self.number(1)}, {array})")

    def change_object(self) -> None:
        name = self.pick(self.objects())
        array = self.examples[name].u
        number, same = self.number(1), self.array(array.shape, 1)
        forms = [f"{name}.s = {number}", f"{name}.s += {number}", f"{name}.step({number})", f"{name}.step({number})"]
        forms += [f"{name}.u = {same}", f"{name}.u += {self.operand(array.shape, 0)}", f"{name}.u *= {number}"]
        forms += [f"{name}.u[{self.slice(len(array))}] = {number}", f"{name}.u[:1] -= {number}"]
        forms += [f"{self.fresh('s')} = {name}.s", f"{name}.rate = {number}", f"{name}.advance({self.below(3) + 1})"]
        forms += [f"{self.fresh('o')} = {self.pick(KINDS)}.unit({number})"] if not self.depth else []
        if hasattr(self.examples[name], "past"):
            forms += [f"{name}.count += 1", f"{self.fresh('s')} = {name}.count * {self.number(0)}"]
        if array.size:
            forms.append(f"{name}.u[{', '.join(self.index(n) for n in array.shape)}] = {number}")
        if array.ndim in (1, 2):
            forms.append(f"{self.fresh('um'[array.ndim - 1])} = {name}.u")
        if not self.depth and self.happens(30):
            forms.append(f"{self.fresh('o')} = {name}")
        self.execute(self.pick(forms))

    def terms_of(self, name, example) -> list:
        if is_object(example):
            return [f"{name}.s", f"np.sum({name}.u)"]
        return super().terms_of(name, example)
