"""Random programs (branches, loops, items, products): interpreted, emitted and differentiated numerically."""

import operator
import random

import numpy as np
import pytest

from s2sgrad.transform import ir, optimize
from s2sgrad.transform.emit import emit
from s2sgrad.transform.emit.load import load
from s2sgrad.transform.ir import Kind, Value
from s2sgrad.transform.reverse import gradient
from tests.transform.interpreter import Program, run
from tests.transform.test_reverse import check


class Generator:
    """Adds random statements to a program; all values stay of the order of one."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        numbers = np.random.default_rng(seed)
        x, y, w = numbers.uniform(0.3, 0.9, 4), numbers.uniform(0.3, 0.9, 4), numbers.uniform(0.1, 0.4, (4, 4))
        self.arguments = {"x": x, "y": y, "k": float(numbers.uniform(0.3, 0.9)), "W": w, "n": seed % 4}
        self.program = Program(**self.arguments)

    def array(self, values, last=0):
        return self.random.choice([v for v in values if v.type.kind is Kind.ARRAY and v.type.ndim == 1][-last:])

    def number(self, values, last=0):
        return self.random.choice([v for v in values if v.type.kind is Kind.NUMBER][-last:])

    def step(self, values: list, depth: int) -> None:
        p, choice = self.program, self.random.random()
        if choice < 0.3:
            values.append(p.op(self.random.choice([np.sin, np.tanh, np.cos]), self.array(values)))
        elif choice < 0.5:
            function = self.random.choice([operator.mul, operator.add, operator.sub])
            other = self.random.choice([self.array(values), self.number(values)])
            values.append(p.op(function, self.array(values), other))
        elif choice < 0.6:
            values.append(p.op(np.mean, self.array(values)))
        elif choice < 0.68:
            values.append(p.op(operator.getitem, self.array(values), self.random.randrange(4)))
        elif choice < 0.76:
            tail = p.op(operator.getitem, self.array(values), slice(1, None))
            head = p.op(operator.getitem, self.array(values), slice(None, -1))
            values.append(p.op(np.sin, p.op(np.sum, p.op(operator.mul, tail, head))))
        elif choice < 0.82:
            values.append(p.op(np.tanh, p.op(operator.matmul, p.W, self.array(values))))
        elif choice < 0.88:
            values.append(p.op(np.tanh, p.op(operator.mul, self.number(values), self.number(values))))
        elif depth < 2:
            values += (self.loop if choice < 0.95 else self.branch)(values, depth)

    def inner(self, values: list, depth: int) -> tuple:
        for _ in range(4):
            self.step(values, depth + 1)
        return self.program.op(np.tanh, self.array(values, 3)), self.number(values, 2)

    def loop(self, values, depth):
        p = self.program
        initial = {"u": self.array(values), "v": self.number(values)}
        state = self.random.getstate()

        def body(u, v):
            self.random.setstate(state)  # it is built several times, until its types are stable
            return self.inner([*values, u, v], depth)

        return p.loop([(Value("i", ir.INT), p.code("range(n)", n=p.n))], initial, body)

    def branch(self, values, depth):
        p = self.program
        test = p.code(f"t > {self.random.uniform(0.2, 0.6)}", t=self.number(values))
        return p.branch(test, lambda: self.inner([*values], depth), lambda: self.inner([*values], depth), "a", "b")

    def function(self) -> ir.Function:
        p = self.program
        values = [p.x, p.y, p.k]
        for _ in range(9):
            self.step(values, 0)
        total = p.op(np.sum, self.array(values, 1))
        for v in values[-3:]:
            total = p.op(operator.add, total, p.op(np.sum, p.op(operator.mul, v, v)))
        return p.function(total)


@pytest.mark.parametrize("seed", range(24))
def test_random_program(seed):
    generator = Generator(seed)
    function = generator.function()
    args = tuple(generator.arguments.values())
    check(function, *args, second=seed % 6 == 0)
    best = optimize.run(gradient(function, (0, 1, 2, 3), single=False))
    for a, b in zip(load(emit([best]))(*args), run(best, *args), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
