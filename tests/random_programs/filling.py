"""Lists, tables, dicts and masks that loops fill and read, by what they count."""

import numpy as np

from .expressions import atom
from .flow import DEEPEST
from .loose import Loose


class Filling(Loose):
    def more_statements(self) -> list:
        forms = super().more_statements()
        if self.depth < DEEPEST:
            forms += [(2, self.fill_list), (1, self.fill_dict), (1, self.fill_mask)]
        return forms

    def counting(self, count: int, within: str) -> tuple:
        """The name of an index, and the head of a loop over all places of a list that has so many of them."""
        i = self.fresh("i")
        forms = [f"range({count})", f"range(len({within}))", f"reversed(range({count}))", f"range({count} - 1, -1, -1)"]
        return i, f"for {i} in {self.pick(forms)}:"

    def fill_list(self) -> None:
        """A list that has its length at once, and whose elements a loop sets by index."""
        if self.happens(10):
            return self.fill_table()
        name, count = self.fresh("xs"), self.below(3) + 2
        shape = self.some_shape() if self.happens(40) else None
        value = self.number if shape is None else lambda depth: self.array(shape, depth)
        empty = self.happens(40)
        if empty:
            start = f"[None] * {count}"
        elif shape is None:
            start = self.pick(
                [f"[0.0] * {count}", f"[{self.number(0)}] * {count}", f"[0.5 * i for i in range({count})]"]
            )
        else:
            start = f"[{self.pick(['np.zeros', 'np.ones'])}({shape}) for _ in range({count})]"
        self.write(f"{name} = {start}")
        i, head = self.counting(count, name)
        example = [np.float64(0.5) if shape is None else np.full(shape, 0.5) for _ in range(count)]
        if not empty:
            self.examples[name] = example
            if self.happens(30):
                head = f"for {i} in range(1, {count}):"
        self.write(head)
        self.bound_in(i, count, lambda: self.fill_place(name, i, value, empty))
        self.examples[name] = example

    def bound_in(self, i, count, fill) -> None:
        """A block in which an index is in sight; loops that fill something are not left."""
        loops, result, self.loops, self.result = self.loops, self.result, 0, None

        def inside():
            self.bounds[i] = count
            self.fixed.add(i)
            fill()

        self.block(inside, **{i: 0})
        self.loops, self.result = loops, result

    def fill_place(self, name, i, value, empty) -> None:
        if self.happens(40):
            self.statement()
        self.write(f"{name}[{i}] = {value(2)}")
        if not empty and self.happens(50):
            self.statement()

    def fill_table(self) -> None:
        """A list of lists, for which two loops are needed, and the matrix that it is."""
        name, rows, columns = self.fresh("t"), self.below(3) + 1, self.below(3) + 1
        self.write(f"{name} = [[0.0] * {columns} for _ in range({rows})]")
        i, j = self.fresh("i"), self.fresh("i")

        def fill():
            self.write(f"for {j} in range({self.pick([str(columns), f'len({name}[{i}])'])}):")
            self.bound_in(j, columns, lambda: self.write(f"{name}[{i}][{j}] {self.pick(['=', '+='])} {self.number(2)}"))

        self.write(f"for {i} in range({rows}):")
        self.bound_in(i, rows, fill)
        read = self.pick([f"{name}[{self.below(rows)}][-1]", f"sum({name}[-1])", f"sum(sum(row) for row in {name})"])
        self.write(f"{self.fresh('s')} = {read}")
        self.examples[f"s{self.counters['s']}"] = np.float64(0.5)
        if self.happens(60):
            matrix = self.fresh("m")
            self.write(f"{matrix} = np.array({name})")
            self.examples[matrix] = np.full((rows, columns), 0.5)

    def fill_dict(self) -> None:
        """A dict whose keys are counted, or texts that are made of what is counted."""
        name, count = self.fresh("d"), self.below(3) + 2
        shape = self.some_shape() if self.happens(30) else None
        value = self.number if shape is None else lambda depth: self.array(shape, depth)
        named = self.happens(8)
        self.write(f"{name} = {self.pick(['{}', 'dict()'])}")
        i = self.fresh("i")
        key = f'f"k{{{i}}}"' if named else i

        def fill():
            before = value(1)
            if named or self.happens(85):
                self.write(f"{name}[{key}] = {before}")
            else:
                forms = [f"{name}[{i}] = {name}.get({i} - 1, {before}) * {self.number(0)}"]
                forms += [f"{name}[{i}] = {name}.setdefault({i} // 2, {before}) + {self.number(0)}"]
                self.write(self.pick(forms))
            if self.happens(30):
                self.statement()

        self.write(f"for {i} in range({count}):")
        self.bound_in(i, count, fill)
        item = np.float64(0.5) if shape is None else np.full(shape, 0.5)
        self.examples[name] = {f"k{k}" if named else k: np.copy(item)[()] for k in range(count)}
        if self.happens(60):
            self.read_dict(name, i, key, count)

    def read_dict(self, name, i, key, count) -> None:
        total = self.fresh("s")
        self.execute(f"{total} = 0.0")
        forms = [f"{total} += np.sum({name}[{key}]) * {self.number(0)}", f"{total} += np.sum({name}.get({key}, 0.0))"]
        forms += [f"{total} = np.sum({name}.pop({key})) + {total} * {self.number(0)}"]
        line = self.pick(forms)
        self.write(f"for {i} in range({count}):")
        self.bound_in(i, count, lambda: self.write(line))
        if ".pop" in line:
            del self.examples[name]

    def fill_mask(self) -> None:
        """A mask that is built entry by entry."""
        shape = self.some_shape()
        if len(shape) != 1:
            return
        name = self.fresh("b")
        self.execute(f"{name} = np.zeros({shape[0]}, dtype=bool)")
        example = self.pick(self.arrays(shape) or ["None"])
        i, v = self.fresh("i"), self.fresh("v")
        if example != "None" and self.happens(50):
            self.write(f"for {i}, {v} in enumerate({example}):")
            test = f"{atom(v)} > {self.literal()}"
        else:
            self.write(f"for {i} in range({shape[0]}):")
            test = self.test_of_counted(i)
        self.bound_in(i, max(shape[0], 1), lambda: self.write(f"{name}[{i}] = {test}"))

    def test_of_counted(self, i) -> str:
        return self.pick([f"{i} % 2 == 0", f"{i} > 0", self.comparison(1), f"{i} not in (1, 3)"])
