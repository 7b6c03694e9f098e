"""Names that hold arrays of different shapes: which one, a test or the turn of a loop decides."""

from .flow import Flow


class Loose(Flow):
    """`loose` are these names. They are read and written only in ways that every shape allows."""

    def __init__(self, below, namespace):
        super().__init__(below, namespace)
        self.loose: set = set()

    def names(self, holds) -> list:
        return [name for name in super().names(holds) if name not in self.loose]

    def more_statements(self) -> list:
        forms = super().more_statements()
        if self.arrays():
            forms.append((2, self.make_loose))
        if self.loose & self.examples.keys():
            forms.append((5, self.change_loose))
        return forms

    def any_array(self) -> str:
        """An array of some shape: a name, a part of what a name holds, or a new one."""
        name = self.pick(self.arrays())
        part = self.slice(len(self.examples[name]))
        forms = [(3, lambda: name), (4, lambda: f"{name}[{part}]"), (2, lambda: f"{name}.T")]
        forms += [(1, lambda: f"{name}.reshape(-1)"), (2, lambda: self.array(self.some_shape(), 1))]
        if self.loose & self.examples.keys():
            forms.append((2, self.any_loose))
        return self.one_of(forms)()

    def any_loose(self) -> str:
        return self.pick(sorted(self.loose & self.examples.keys()))

    def make_loose(self) -> None:
        name = self.fresh("w")
        first, second = self.any_array(), self.any_array()
        try:
            example = self.evaluate(first)
        except (IndexError, ValueError):  # what it is made of may have changed since
            return
        form = self.one_of([(3, "branches"), (2, "expression"), (2, "branch"), (1, "tuple")])
        if form == "branches":
            self.write(f"if {self.test()}:")
            self.block(lambda: self.write(f"{name} = {first}"))
            self.write("else:")
            self.block(lambda: self.write(f"{name} = {second}"))
        elif form == "branch":
            self.write(f"{name} = {first}")
            self.write(f"if {self.test()}:")
            self.block(lambda: self.write(f"{name} = {second}"))
        elif form == "expression":
            self.write(f"{name} = {first} if {self.test()} else {second}")
        else:
            self.write(f"{name} = ({first}, {second})[int({self.test()})]")
        self.examples[name] = example
        self.loose.add(name)

    def change_loose(self) -> None:
        name = self.any_loose()
        number = self.number(1)
        forms = [f"{name} {self.pick(['*=', '+='])} {number}"] * 2 if name not in self.fixed else []
        forms += [
            f"{name}[...] = {number}",
            f"{name}[:1] *= {number}",
            f"{name}[-1:] = {number}",
            f"{name}[::2] += {number}",
        ]
        forms += [f"{name}[:] = {name}[::-1].copy()", f"np.sin({name}, out={name})", f"{name}.fill({number})"]
        forms += [f"{self.fresh('s')} = np.sum({name} * {number})", f"{self.fresh('s')} = np.sum(np.tanh({name}[:2]))"]
        if name not in self.fixed:
            forms += [
                f"{name} = {name}[1:]",
                f"{name} = np.sin({name})",
                f"{name} = {name}[:, None]" if self.happens(10) else f"{name} = {name}[::-1]",
            ]
            forms += [f"{name} = {self.any_array()}"] * 3 if self.arrays() else []
        text = self.pick(forms)
        if text.startswith("s"):
            self.execute(text)
        else:
            self.write(text)  # the example keeps its shape
