"""Numbers of other kinds on the way: complex ones, integers, arrays of dimension 0, arrays without entries."""

import numpy as np

from .expressions import atom
from .memory import Memory


def is_complex(example) -> bool:
    return isinstance(example, np.ndarray) and example.dtype.kind == "c" and example.ndim > 0


def is_point(example) -> bool:
    return isinstance(example, np.ndarray) and example.ndim == 0 and example.dtype.kind == "f"


class Types(Memory):
    def more_statements(self) -> list:
        forms = super().more_statements()
        forms += [(1, self.make_complex), (2, self.make_integer), (1, self.make_point)]
        if self.names(is_complex):
            forms.append((2, self.change_complex))
        if self.names(is_point):
            forms.append((1, self.change_point))
        if self.arrays():
            forms.append((1, self.make_places))
        return forms

    def more_numbers(self) -> list:
        forms = super().more_numbers()
        if self.names(is_complex):
            forms.append((2, self.number_of_complex))
        if self.arrays():
            forms.append((1, self.number_of_nothing))
        return forms

    def more_arrays(self, shape) -> list:
        forms = super().more_arrays(shape)
        forms.append((1, lambda depth: self.through_complex(shape, depth)))
        return forms

    # ----------------------------------------------------------------------------------------- complex

    def through_complex(self, shape, depth) -> str:
        names = self.names(lambda e: is_complex(e) and e.shape == shape)
        a, b = atom(self.array(shape, depth)), atom(self.operand(shape, 0))
        z = self.pick([*names, *names, f"({a} + 0.5j * {b})", f"np.exp(1j * {a})", f"({a} * (0.3 - 1j))"])
        return self.pick(
            [f"{z}.real", f"{z}.imag", f"np.abs({z})", f"np.real({z} * np.conj({z}))", f"np.imag({z} ** 2)"]
        )

    def make_complex(self) -> None:
        shape = self.some_shape()
        a, b = atom(self.array(shape, 1)), atom(self.operand(shape, 0))
        forms = [f"{a} + 1j * {b}", f"np.exp(0.7j * {a})", f"np.zeros({shape}, dtype=complex)", f"{a}.astype(complex)"]
        self.execute(f"{self.fresh('z')} = {self.pick(forms)}")

    def change_complex(self) -> None:
        name = self.pick(self.names(is_complex))
        shape = self.examples[name].shape
        a, place = atom(self.array(shape, 1)), self.place(name)
        forms = [
            f"{name}[...] = {a} * 1j",
            f"{place} = {self.number(1)}",
            f"{place} *= 0.5 + {atom(self.number(0))} * 1j",
        ]
        if name not in self.fixed:
            forms += [f"{name} += {a}", f"{name} = {name} * np.exp(1j * {a})", f"{name} = np.conj({name}) * 1j + {a}"]
        self.execute(self.pick(forms))

    def number_of_complex(self, depth) -> str:
        name = self.pick(self.names(is_complex))
        forms = [f"np.sum({name}.real)", f"np.sum(np.abs({name}) ** 2)", f"np.imag(np.sum({name} ** 2))"]
        return self.pick([*forms, f"np.vdot({name}, {name}).real"])

    # ---------------------------------------------------------------------------------------- integers

    def make_integer(self) -> None:
        """An integer that is found by looking at numbers, for an index; or an array of them, for a factor."""
        shape = self.some_shape()
        if self.happens(40):
            i = self.fresh("n")
            forms = [f"int(np.floor(3 * {atom(self.number(1))})) % 3", f"int({self.test()})"]
            if self.execute(f"{i} = {self.pick(forms)}"):
                self.bounds[i] = 3
        elif len(shape) == 1:
            mask, a = self.mask(shape, 1), self.array(shape, 0)
            forms = [f"np.arange({shape[0]})", f"np.arange({shape[0]}) % 2", f"({mask}).astype(int)"]
            self.execute(f"{self.fresh('n')} = {self.pick([*forms, f'np.argsort({a})'])}")

    def make_places(self) -> None:
        """Where a mask is true: as many results as there are axes."""
        name = self.pick(self.arrays())
        mask = self.mask(self.examples[name].shape, 0)
        places = [self.fresh("n") for _ in self.examples[name].shape]
        index = ", ".join(places)
        self.write(f"{index}{',' if len(places) == 1 else ''} = {self.pick(['np.where', 'np.nonzero'])}({mask})")
        forms = [f"{self.fresh('s')} = np.sum({name}[{index}] * {atom(self.number(0))})"]
        forms += [f"{name}[{index}] {self.pick(['=', '+=', '*='])} {self.number(0)}"]
        self.write(self.pick(forms))

    # -------------------------------------------------------------------------- of no dimension or entry

    def make_point(self) -> None:
        forms = [f"np.array({self.number(1)})", f"np.asarray({self.number(1)})", "np.zeros(())"]
        self.execute(f"{self.fresh('s')} = {self.pick(forms)}")

    def change_point(self) -> None:
        """Writes into an array of dimension 0; names that are bound to it see them."""
        name = self.pick(self.names(is_point))
        number = self.number(1)
        forms = [
            f"{name}[...] = {number}",
            f"{name}[()] = {number}",
            f"{name}[()] += {number}",
            f"{name}.fill({number})",
        ]
        forms += [f"{self.fresh('s')} = {name}", f"{self.fresh('s')} = {name}[()]", f"{self.fresh('u')} = {name}[None]"]
        self.execute(self.pick(forms))

    def number_of_nothing(self, depth) -> str:
        name = self.pick(self.arrays())
        return self.pick(
            [f"np.sum({name}[:0])", f"np.prod({name}[len({name}):])", f"np.sum(np.zeros(0) * {name}.sum())"]
        )
