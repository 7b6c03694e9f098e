"""Expressions: numbers, arrays of a given shape, masks, tests and indices. What is drawn stays of the order of one."""

import re

import numpy as np

from .scope import Scope, is_array, is_number

ATOM = re.compile(r"[\w.]+(\[[^\[\]]*\]|\([^()]*\))*")
SMOOTH = ["np.sin", "np.tanh", "np.cos", "np.arctan"]


def atom(text: str) -> str:
    return text if ATOM.fullmatch(text) else f"({text})"


class Expressions(Scope):
    # ---------------------------------------------------------------------------------------- numbers

    def literal(self, depth=0) -> str:
        return f"{(self.below(19) + 1) / 10}"

    def number(self, depth=2) -> str:
        names = self.names(is_number)
        forms = [(2, self.literal)]
        if names:
            forms = [(7, lambda depth: self.pick(names)), *forms]
        if self.bounds:
            forms.append((1, self.counted))
        arrays = self.arrays()
        if any(self.examples[a].size for a in arrays):
            forms.append((4, self.item))
        if depth:
            forms += [(5, self.arithmetic), (4, self.function_of_number)]
            forms += [(2, self.conditional), (1, self.extreme), (1, self.chosen_number), (1, self.last_looked_at)]
            if arrays:
                forms += [(5, self.reduction), (1, self.dot), (1, self.summed), (1, self.paired)]
            forms += self.more_numbers()
        return self.one_of(forms)(depth - 1)

    def more_numbers(self) -> list:
        return []

    def counted(self, depth) -> str:
        index = self.pick(list(self.bounds))
        return self.pick([f"{atom(self.number(0))} * {index}", f"({index} + 1)", f"0.1 * {index}"])

    def arithmetic(self, depth) -> str:
        a, b = atom(self.number(depth)), atom(self.number(depth))
        return self.pick([f"{a} * {b}", f"{a} + {b}", f"{a} - {b}", f"{a} / (1.5 + {b} ** 2)", f"{a} ** 2", f"-{a}"])

    def function_of_number(self, depth) -> str:
        a = self.number(depth)
        forms = [f"{f}({a})" for f in [*SMOOTH, "math.sin", "math.tanh", "abs", "float"]]
        forms += [f"np.exp(-{atom(a)} ** 2)", f"math.exp(-abs({a}))", f"np.sqrt(0.5 + {atom(a)} ** 2)"]
        forms += [f"np.log1p({atom(a)} ** 2)", f"math.sqrt({atom(a)} ** 2 + 0.3)"]
        return self.pick(forms)

    def conditional(self, depth) -> str:
        return f"({self.number(depth)} if {self.test(depth)} else {self.number(depth)})"

    def extreme(self, depth) -> str:
        a, b = self.number(depth), self.number(depth)
        return f"{self.pick(['max', 'min', 'np.maximum', 'np.minimum'])}({a}, {b})"

    def last_looked_at(self, depth) -> str:
        """What `and` and `or` give of numbers."""
        a, b = atom(self.number(depth)), atom(self.number(depth))
        return self.pick([f"({a} and {b})", f"({a} or {b})", f"({self.test(0)} and {b} or {a})"])

    def chosen_number(self, depth) -> str:
        return f"np.where({self.test(depth)}, {self.number(depth)}, {self.number(depth)})"

    def item(self, depth) -> str:
        name = self.pick([a for a in self.arrays() if self.examples[a].size])
        return f"{name}[{', '.join(self.index(n) for n in self.examples[name].shape)}]"

    def reduction(self, depth) -> str:
        a = self.array(self.some_shape(), depth) if self.happens(50) else self.pick(self.arrays())
        forms = [f"np.sum({a})", f"{atom(a)}.sum()", f"np.mean({a})", f"np.sum({atom(a)} ** 2)"]
        forms += [f"{atom(a)}.max()", f"np.min({a})", f"np.linalg.norm({a})", f"np.prod({a})", f"np.var({a})"]
        if ATOM.fullmatch(a) and a in self.examples and self.examples[a].ndim == 1:
            inside = self.slice(len(self.examples[a]))
            forms += [f"np.sum({a}[{inside}])", f"np.sum({a}[{atom(a)} > {self.literal()}])"]
        return self.pick(forms)

    def dot(self, depth) -> str:
        shape = (self.pick(self.shapes(1))[0],)
        return f"{self.pick(['{} @ {}', 'np.dot({}, {})', 'np.inner({}, {})'])}".format(
            atom(self.array(shape, depth)), atom(self.array(shape, depth))
        )

    def summed(self, depth) -> str:
        over = self.pick(self.arrays())
        if self.examples[over].ndim != 1:
            return f"sum(np.sum(r) for r in {over})"
        v = self.fresh("v")
        text = self.within(v, np.float64(0.5), lambda: self.number(min(depth, 1)))
        condition = f" if {v} > {self.literal()}" if self.happens(30) else ""
        return self.pick([f"sum({text} for {v} in {over}{condition})", f"sum([{text} for {v} in {over}{condition}])"])

    def paired(self, depth) -> str:
        """A sum over the pairs of what two loops of a comprehension go through."""
        vectors = self.names(is_vector)
        if not vectors:
            return self.number(depth)
        one, two, v, w = self.pick(vectors), self.pick(vectors), self.fresh("v"), self.fresh("v")
        half = np.float64(0.5)
        text = self.within(v, half, lambda: self.within(w, half, lambda: f"{v} * {self.number(min(depth, 1))}"))
        condition = self.pick(["", f" if {v} < {w}", f" if {v} > {self.literal()} and {w} != 0.2"])
        inner = f"sum({text} for {w} in {two})"
        return self.pick(
            [f"sum({text} for {v} in {one} for {w} in {two}{condition})", f"sum([{inner} for {v} in {one}])"]
        )

    def within(self, name, example, make):
        """What `make` writes where one more name is in sight, that of a comprehension or a lambda."""
        before = self.examples
        self.examples = {**before, name: example}
        text = make()
        self.examples = before
        return text

    # ----------------------------------------------------------------------------------------- arrays

    def shapes(self, ndim=None) -> list:
        found = [self.examples[a].shape for a in self.arrays()]
        found = [s for s in dict.fromkeys(found) if ndim is None or len(s) == ndim]
        return found or ([(3,)] if ndim in (None, 1) else [(2, 3)])

    def some_shape(self):
        return self.pick(self.shapes())

    def array(self, shape, depth=2) -> str:
        names = self.arrays(shape)
        forms = [(8, lambda depth: self.pick(names))] if names else []
        forms.append((1, lambda depth: self.constant(shape)))
        parts = self.parts(shape)
        if parts:
            forms.append((3, lambda depth: self.pick(parts)))
        if depth > 0:
            forms += [(6, lambda depth: self.array_arithmetic(shape, depth))]
            forms += [(4, lambda depth: self.function_of_array(shape, depth))]
            forms += [(2, lambda depth: self.rearranged(shape, depth))]
            forms += [(1, lambda depth: self.chosen(shape, depth)), (1, lambda depth: self.listed(shape, depth))]
            forms += [(1, lambda depth: self.product(shape, depth))]
            forms += self.more_arrays(shape)
        return self.one_of(forms)(depth - 1)

    def more_arrays(self, shape) -> list:
        return []

    def constant(self, shape) -> str:
        size = shape[0] if len(shape) == 1 else shape
        forms = [f"np.ones({size})", f"np.full({size}, {self.number(0)})", f"np.zeros({size})"]
        if len(shape) == 1:
            forms += [f"np.linspace(0.1, 1.3, {size})", f"0.3 * np.arange({size})"]
        return self.pick(forms)

    def parts(self, shape) -> list:
        """Slices and rows of the arrays in sight that have this shape."""
        found = []
        for name in self.arrays():
            have = self.examples[name].shape
            if len(have) == len(shape) == 1 and have[0] > shape[0]:
                k = have[0] - shape[0]
                found += [f"{name}[{k}:]", f"{name}[:-{k}]", f"{name}[:{shape[0]}]"]
                found += [f"{name}[1:-1]"] if k == 2 else []
            if len(have) == 2 and len(shape) == 1:
                if have[1] == shape[0] and have[0]:
                    found.append(f"{name}[{self.index(have[0])}]")
                if have[0] == shape[0] and have[1]:
                    found.append(f"{name}[:, {self.index(have[1])}]")
            if len(have) == 2 and have[::-1] == shape:
                found.append(f"{name}.T")
        return found

    def array_arithmetic(self, shape, depth) -> str:
        a = atom(self.array(shape, depth))
        b = atom(self.operand(shape, depth))
        if self.happens(30):
            a, b = b, a
        return self.pick([f"{a} * {b}", f"{a} + {b}", f"{a} - {b}", f"{a} / (1.5 + {b} ** 2)"])

    def operand(self, shape, depth) -> str:
        """What broadcasts to this shape."""
        forms = [(3, lambda: self.number(depth)), (4, lambda: self.array(shape, depth))]
        if len(shape) == 2:
            forms.append((2, lambda: self.array(shape[1:], depth)))
            forms.append((2, lambda: f"{atom(self.array(shape[:1], depth))}[:, None]"))
        masks = self.names(lambda e: isinstance(e, np.ndarray) and e.dtype.kind in "bi" and e.shape == shape)
        if masks:
            forms.append((1, lambda: self.pick(masks)))
        return self.one_of(forms)()

    def function_of_array(self, shape, depth) -> str:
        a = self.array(shape, depth)
        forms = [f"{f}({a})" for f in [*SMOOTH, "np.abs"]]
        forms += [f"np.exp(-{atom(a)} ** 2)", f"{atom(a)} ** 2", f"-{atom(a)}"]
        forms += [f"np.sqrt(0.5 + {atom(a)} ** 2)", f"np.log1p({atom(a)} ** 2)", f"np.maximum({a}, {self.literal()})"]
        forms += [f"np.clip({a}, 0.3, 1.1)", f"{atom(a)}.astype(np.float32)", f"{atom(a)}.copy()"]
        return self.pick(forms)

    def rearranged(self, shape, depth) -> str:
        a = self.array(shape, depth)
        forms = [f"{atom(a)}[::-1]", f"np.roll({a}, 1)", f"np.cumsum({a}, axis=-1)", f"np.flip({a})", f"np.sort({a})"]
        if len(shape) == 1:
            k = self.below(shape[0] + 1)
            places = [self.below(shape[0]) for _ in range(shape[0])]
            forms += [f"{atom(a)}[{places}]", f"{atom(a)}[np.argsort({self.array(shape, 0)})]"] if shape[0] else []
            forms += [f"np.concatenate([{atom(a)}[{k}:], {atom(self.array(shape, 0))}[:{k}]])"]
        else:
            other = self.array((shape[0] * shape[1],), depth) if self.arrays((shape[0] * shape[1],)) else None
            forms += [f"{atom(other)}.reshape{shape}"] if other else []
            forms += [f"np.stack([{', '.join(self.array(shape[1:], 0) for _ in range(shape[0]))}])"] if shape[0] else []
        return self.pick(forms)

    def chosen(self, shape, depth) -> str:
        return f"np.where({self.mask(shape, depth)}, {self.operand(shape, depth)}, {self.array(shape, depth)})"

    def listed(self, shape, depth) -> str:
        """An array made of a list of its parts."""
        if len(shape) == 2 or not shape[0] or self.happens(40):
            row = f"r{self.below(10)}"
            over = self.array(shape, 0)
            example = np.ones(shape[1:]) if len(shape) == 2 else np.float64(0.5)
            inner = (lambda: self.array(shape[1:], 1)) if len(shape) == 2 else (lambda: self.number(1))
            return f"np.array([{self.within(row, example, inner)} for {row} in {over}])"
        return f"np.array([{', '.join(self.number(min(depth, 1)) for _ in range(shape[0]))}])"

    def product(self, shape, depth) -> str:
        if len(shape) == 2:
            return f"np.outer({self.array(shape[:1], depth)}, {self.array(shape[1:], depth)})"
        for have in self.shapes(2):
            if have[0] == shape[0]:
                return f"{self.pick(self.arrays(have) or [f'np.ones({have})'])} @ {atom(self.array(have[1:], depth))}"
        return f"{atom(self.array(shape, depth))} * {atom(self.number(depth))}"

    # --------------------------------------------------------------------------------- masks and tests

    def mask(self, shape, depth=1) -> str:
        names = self.names(lambda e: isinstance(e, np.ndarray) and e.dtype.kind == "b" and e.shape == shape)
        a = self.array(shape, min(depth, 1))
        forms = [*names, f"{atom(a)} > {self.literal()}", f"{atom(a)} < {self.number(0)}"]
        forms += [f"({atom(a)} > 0.4) & ({atom(a)} < {self.literal()})", f"~({atom(a)} > {self.literal()})"]
        return self.pick(forms)

    def test(self, depth=1) -> str:
        depth = max(depth, 0)
        forms = [(5, self.comparison)]
        if self.bounds:
            forms.append((4, self.test_of_index))
        if depth:
            forms += [(1, self.test_of_array), (1, self.connected)]
        flags = self.names(lambda e: type(e) is bool)
        if flags:
            forms.append((1, lambda depth: self.pick(flags)))
        return self.one_of(forms)(depth - 1)

    def comparison(self, depth) -> str:
        if self.happens(20):
            a, b = atom(self.number(max(depth, 0))), atom(self.number(0))
            return self.pick([f"{self.literal()} < {a} <= {self.literal()}", f"{a} < {b} < {self.literal()}"])
        return f"{atom(self.number(max(depth, 0)))} {self.pick(['>', '<', '>=', '<='])} {self.literal()}"

    def test_of_index(self, depth) -> str:
        i = self.pick(list(self.bounds))
        return self.pick([f"{i} > 1", f"{i} % 2 == 0", f"{i} == 1", f"{i} in (0, 2)", f"{i} < 2", f"{i} != 0"])

    def test_of_array(self, depth) -> str:
        shape = self.some_shape()
        return f"{self.pick(['np.any', 'np.all'])}({self.mask(shape, depth)})"

    def connected(self, depth) -> str:
        a, b = atom(self.test(depth)), atom(self.test(depth))
        return self.pick([f"{a} and {b}", f"{a} or {b}", f"not {a}"])

    # ---------------------------------------------------------------------------------------- indices

    def index(self, length: int) -> str:
        """An index into an axis of this length, which is not 0."""
        forms = [str(self.below(length)), "-1"]
        for i, bound in self.bounds.items():
            if bound <= length:
                forms += [i, i, i, f"{i} - 1", f"-{i} - 1"]
            else:
                forms += [f"{i} % {length}"]
            if bound < length:
                forms += [f"{i} + 1", f"{i} + 1"]
        for name, e in self.examples.items():
            if isinstance(e, np.ndarray) and e.dtype.kind == "i" and e.ndim == 1 and e.size and e.max() < length:
                forms += [f"{name}[{self.below(len(e))}]"]
        vectors = [a for a in self.arrays() if 0 < self.examples[a].size <= length]
        if vectors and self.happens(15):
            forms += [f"np.argmax({self.pick(vectors)})", f"int(np.argmin({self.pick(vectors)}))"]
        return self.pick(forms)

    def slice(self, length: int) -> str:
        forms = [
            ":",
            "1:",
            ":-1",
            "1:-1",
            "::2",
            "::-1",
            "::-2",
            "-2:",
            "-1:0:-1",
            f"{self.below(length + 1)}:",
            f":{self.below(length + 1)}",
        ]
        for i in self.bounds:
            forms += [f"{i}:", f":{i}", f"{i} + 1:", f"{i}::-1"]
        return self.pick(forms)


def is_vector(example) -> bool:
    return is_array(example) and example.ndim == 1
