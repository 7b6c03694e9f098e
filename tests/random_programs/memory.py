"""Arrays that change: stores through indices and slices, views, second names, `out=` and the methods that write."""

import numpy as np

from .expressions import atom, is_vector
from .scope import is_array
from .statements import STEMS, Statements


class Memory(Statements):
    def more_statements(self) -> list:
        forms = super().more_statements()
        if self.arrays():
            forms += [(5, self.store_item), (5, self.store_slice), (2, self.overlap), (2, self.call_that_writes)]
            forms += [(1, self.store_chosen), (3, self.view), (2, self.buffer), (1, self.store_chain)]
        return forms

    def place(self, name: str) -> str:
        """A target inside an array, by index or slice along each axis."""
        parts = [self.index(n) if n and self.happens(50) else self.slice(n) for n in self.examples[name].shape]
        if len(parts) == 2 and self.happens(20):
            parts = parts[:1]
        return f"{name}[{', '.join(parts)}]"

    def store_item(self) -> None:
        name = self.pick(self.arrays())
        if not self.examples[name].size:
            return
        target = f"{name}[{', '.join(self.index(n) for n in self.examples[name].shape)}]"
        op = self.pick(["=", "=", "=", "+=", "*=", "-="])
        self.execute(f"{target} {op} {self.number()}")

    def store_slice(self) -> None:
        target = self.place(self.pick(self.arrays()))
        try:
            shape = np.shape(self.evaluate(target))
        except IndexError:  # an index that is read from an array may have changed since
            return
        right = self.operand(shape, 1) if shape and self.happens(70) else self.number()
        right = self.unspoiled(target, right)
        self.execute(f"{target} {self.pick(['=', '=', '+=', '*=', '-='])} {right}")

    def unspoiled(self, target, right) -> str:
        """`right`, or a copy of it where NumPy itself reads what it has written already, as in ``x[::2] = x[:3]``."""
        try:
            one, two = self.evaluate(target), self.evaluate(right)
        except Exception:
            return right
        vectors = np.ndim(one) == np.ndim(two) == 1
        return f"{right}.copy()" if vectors and one.strides != two.strides and np.shares_memory(one, two) else right

    def overlap(self) -> None:
        """Reads and writes of the same array that meet."""
        name = self.pick(self.arrays())
        c = self.number(0)
        forms = [
            f"{name}[1:] = {name}[:-1]",
            f"{name}[:-1] = {name}[1:] * {c}",
            f"{name}[1:-1] += {c} * ({name}[2:] - 2 * {name}[1:-1] + {name}[:-2])",
            f"{name}[1:] += {c} * {name}[:-1]",
            f"{name}[:] = {name}[::-1]",
            f"{name} *= {name}[::-1]" if name not in self.fixed else f"{name}[:] *= {name}[::-1]",
            f"{name}[1:-1] = 0.5 * ({name}[2:] + {name}[:-2])",
        ]
        length = len(self.examples[name])
        if length:
            i, j = self.index(length), self.index(length)
            forms += [f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]", f"{name}[{i}] = {name}[{j}]"]
            forms += [f"{name}[:{i}] += {c} * np.flip({name}[:{i}])"]
        self.execute(self.pick(forms))

    def call_that_writes(self) -> None:
        name = self.pick(self.arrays())
        example = self.examples[name]
        shape = example.shape
        a = self.array(shape, 1)
        forms = [
            f"np.{self.pick(['add', 'multiply', 'subtract'])}({a}, {self.operand(shape, 0)}, out={name})",
            f"np.{self.pick(['sin', 'tanh'])}({a}, out={name})",
            f"{name}.fill({self.number(1)})",
            f"{name}.sort()",
            f"np.copyto({name}, {self.unspoiled(name, a)})",
            f"np.multiply({a}, 0.7, out={name}, where={self.mask(shape, 0)})",
            f"np.putmask({name}, {self.mask(shape, 0)}, {self.number(1)})",
        ]
        if len(shape) == 2:
            forms.append(f"np.fill_diagonal({name}, {self.number(1)})")
        elif shape[0]:
            places = [self.below(shape[0]) for _ in range(2)]
            forms.append(f"np.add.at({name}, {places}, {self.number(1)})")
            forms.append(f"np.put({name}, {places}, {self.number(1)})")
        self.execute(self.pick(forms))

    def store_chosen(self) -> None:
        """Stores by masks and by arrays of integers."""
        name = self.pick(self.arrays())
        shape = self.examples[name].shape
        mask = self.mask(shape, 0)
        op = self.pick(["=", "=", "+=", "*="])
        forms = [f"{name}[{mask}] {op} {self.number(1)}", f"{name}[{mask}] {op} {atom(self.array(shape, 0))}[{mask}]"]
        if shape[0]:
            places = [self.below(shape[0]) for _ in range(2)]
            forms.append(f"{name}[{places}] {op} {self.number(1)}")
        self.execute(self.pick(forms))

    def view(self) -> None:
        """Another name for an array, or for a part of it."""
        name = self.pick(self.arrays())
        example = self.examples[name]
        forms = [name, f"{name}[{self.slice(len(example))}]", f"{name}[::-1]"]
        if example.ndim == 2:
            forms += [f"{name}.T", f"{name}[:, {self.slice(example.shape[1])}]", f"{name}.ravel()"]
            forms += [f"{name}[{self.index(example.shape[0])}]"] if example.shape[0] else []
            forms += [f"{name}.reshape(-1)"]
        else:
            forms += [f"np.asarray({name})", f"{name}.reshape(1, -1)", f"{name}[None]"]
        text = self.pick(forms)
        ndim = np.ndim(self.evaluate(text))
        if example.ndim == 2 and 0 < example.shape[0] < 4 and self.happens(15):
            self.execute(f"{', '.join(self.fresh('u') for _ in example)} = {name}")
        elif ndim in STEMS:
            same = [n for n in self.free(is_array) if self.examples[n].shape == np.shape(self.evaluate(text))]
            target = self.pick(same) if same and self.happens(25) else self.fresh(STEMS[ndim])
            self.execute(f"{target} = {text}")

    def buffer(self) -> None:
        """A work array, to be filled later."""
        shape = self.some_shape()
        size = shape[0] if len(shape) == 1 else shape
        like = self.pick(self.arrays(shape) or ["None"])
        forms = [f"np.zeros({size})", f"{like}.copy()", f"np.ones({size})", f"np.zeros_like({like})", f"{like} * 1.0"]
        forms += [f"np.zeros({size}, dtype=np.float32)", f"np.full({size}, 0.5)", f"np.array({like})"]
        self.execute(f"{self.fresh(STEMS[len(shape)])} = {self.pick(forms)}")

    def store_chain(self) -> None:
        vectors = [name for name in self.names(is_vector) if self.examples[name].size]
        if not vectors:
            return
        one, two = self.pick(vectors), self.pick(vectors)
        first = f"{one}[{self.index(len(self.examples[one]))}]"
        second = f"{two}[{self.index(len(self.examples[two]))}]"
        join = self.pick([f"{first} = {second} =", f"{first}, {second} = {self.number(1)},"])
        self.execute(f"{join} {self.number(1)}")
