"""What NumPy says in one call: methods of ufuncs, sums over labels, small systems of equations."""

from .expressions import Expressions, atom, is_vector


class Algebra(Expressions):
    def more_numbers(self) -> list:
        forms = super().more_numbers()
        return forms + ([(3, self.number_of_call)] if self.names(is_vector) else [])

    def more_arrays(self, shape) -> list:
        forms = super().more_arrays(shape)
        forms += [(2, lambda depth: self.accumulated(shape, depth)), (1, lambda depth: self.written(shape, depth))]
        if len(shape) == 2:
            forms.append((2, lambda depth: self.table(shape, depth)))
        elif 0 < shape[0] < 5:
            forms.append((2, lambda depth: self.solved(shape[0], depth)))
        return forms

    def number_of_call(self, depth) -> str:
        shape = (self.pick(self.shapes(1))[0],)
        a, b = self.array(shape, depth), self.array(shape, 0)
        chosen = atom(a)
        forms = [f"np.add.reduce({a})", f"np.multiply.reduce({a})", f"np.maximum.reduce({a}, initial=0.3)"]
        forms += [f'np.einsum("i,i->", {a}, {b})', f'np.einsum("i,j->", {a}, {b})', f"np.sum(np.add.outer({a}, {b}))"]
        forms += [f"np.sum({a}, where={self.mask(shape, 0)})", f"np.sum({chosen}[np.nonzero({self.mask(shape, 0)})])"]
        forms += [f"np.sum({chosen}[np.where({self.mask(shape, 0)})[0]] * {self.number(0)})"]
        if 0 < shape[0] < 5:
            forms += [f"np.linalg.det({self.regular(shape[0], depth)})", f"np.trace({self.inverse(shape[0], depth)})"]
        return self.pick(forms)

    def accumulated(self, shape, depth) -> str:
        a = self.array(shape, depth)
        forms = [f"np.add.accumulate({a}, axis=-1)", f"np.multiply.accumulate({a}, axis=0)", f"{atom(a)}[...]"]
        forms += [f"np.maximum.accumulate({a})", f"{atom(a)}[..., ::-1]", f"{atom(a)}[np.newaxis][0]"]
        forms += [f"{atom(a)}[..., np.newaxis][..., 0]", f"({atom(a)}[None, ...] * {self.number(0)}).reshape({shape})"]
        return self.pick(forms)

    def written(self, shape, depth) -> str:
        """The result of a call that writes it into an array of its own."""
        size = shape[0] if len(shape) == 1 else shape
        a, b, mask = self.array(shape, depth), self.operand(shape, 0), self.mask(shape, 0)
        forms = [f"np.multiply({a}, {b}, out=np.zeros({size}), where={mask})"]
        forms += [f"np.divide({a}, 1.5 + {atom(b)} ** 2, out=np.ones({size}), where={mask})"]
        forms += [f"np.add({a}, {b}, out=np.empty({size}))"] if self.happens(20) else []
        return self.pick(forms)

    def table(self, shape, depth) -> str:
        """A matrix of all pairs of the entries of two vectors."""
        a, b = self.array(shape[:1], depth), self.array(shape[1:], 0)
        forms = [f"np.{f}.outer({a}, {b})" for f in ("add", "multiply", "subtract", "maximum")]
        forms += [f'np.einsum("i,j->ij", {a}, {b})', f"{atom(a)}[:, np.newaxis] - {atom(b)}[np.newaxis, :]"]
        forms += [f'np.einsum("ji->ij", {self.array(shape[::-1], 0)})']
        return self.pick(forms)

    def regular(self, n: int, depth) -> str:
        """A matrix that surely has an inverse."""
        return f"2 * np.eye({n}) + 0.3 * np.tanh({self.array((n, n), min(depth, 1))})"

    def inverse(self, n: int, depth) -> str:
        return f"np.linalg.inv({self.regular(n, depth)})"

    def solved(self, n: int, depth) -> str:
        b = self.array((n,), depth)
        forms = [f"np.linalg.solve({self.regular(n, depth)}, {b})", f"{self.inverse(n, depth)} @ {atom(b)}"]
        forms += [f'np.einsum("ij,j->i", {self.array((n, n), 1)}, {b})', f'np.einsum("ij->j", {self.array((n, n), 1)})']
        forms += [
            f"np.diag({self.array((n, n), 1)}).copy()",
            f"{self.pick(['np.triu', 'np.tril'])}({self.regular(n, 0)})[0]",
        ]
        return self.pick(forms)
