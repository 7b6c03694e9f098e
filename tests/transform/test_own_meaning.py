"""Classes that say themselves what ``thing[0]``, a field or unpacking gives: they are not taken for plain ones."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from s2sgrad import value_and_grad

X = np.array([0.5, 0.3])


class Grid:
    def __init__(self, u, v):
        self.u, self.v = u, v

    def __getitem__(self, k):
        return self.v if k == 0 else self.u

    def __setitem__(self, k, w):
        self.u = self.u + w * (10 + k)


@dataclass
class Wrapped:
    c: object

    def __getitem__(self, k):
        return self.c[k]


class Pair(NamedTuple):
    a: float
    b: float


class Scaled(Pair):
    @property
    def a(self):
        return self[0] * 10


class Item(Pair):
    def __getitem__(self, i):
        return tuple.__getitem__(self, i) * 10


class Turned(Pair):
    def __iter__(self):
        return iter((self.b * 3, self.a))


def unpacked(t):
    p, q = t
    return p * q * q


def read(x):
    return [Grid(x[0], x[1])][0][0] * 2.0


def read_twice(x):
    g = Grid(x[0], x[1])
    return g[0] * g[1] ** 2


def read_of_a_dataclass(x):
    w = Wrapped(x * 2)
    return w[0] * w[1]


def written(x):
    g = Grid(x[0], x[1])
    g[0] = x[1]
    return g.u * g.v


def added_to(x):
    g = Grid(x[0], x[1])
    g[1] += x[1]
    return g.u * g.v


def written_inert(x):
    g = Grid(1.0, x[1])
    g[2] = 0.5
    return g.u * g.v * x[0]


MADE_INSIDE = [
    read, read_twice, read_of_a_dataclass, written, added_to, written_inert,
    lambda x: Scaled(x[0], x[1]).a * x[1], lambda x: Item(x[0], x[1])[1] * x[0], lambda x: unpacked(Turned(x[0], x[1])),
    lambda x: Scaled(x[0], x[1])._replace(b=x[0]).a,
]  # fmt: skip


@pytest.mark.parametrize("f", MADE_INSIDE)
def test_objects_that_the_function_makes(f):
    value, slope = value_and_grad(f)(X)
    assert value == f(X)
    change = [(f(X + s) - f(X - s)) / 2e-6 for s in 1e-6 * np.eye(2)]
    assert slope == pytest.approx(change, rel=1e-6)


GIVEN = [
    (lambda t: np.sum(t[0] * t[1]), Wrapped(X)),
    (lambda t: t.a * t.b, Scaled(0.5, 0.3)),
    (lambda t: t[0] * t[1], Scaled(0.5, 0.3)),
    (lambda t: t[0] * t[1], Item(0.5, 0.3)),
    (unpacked, Turned(0.5, 0.3)),
]


@pytest.mark.parametrize(("f", "given"), GIVEN)
def test_objects_that_are_differentiated(f, given):
    derivative = value_and_grad(f)
    assert repr(derivative(given)) == repr(value_and_grad(f, mode="tape")(given))
    assert derivative.engine == "tape" and derivative(given)[0] == f(given)


def test_namedtuples_are_compiled():
    derivative = value_and_grad(lambda t: t.a * t[1] * unpacked(t))
    value, slope = derivative(Pair(0.5, 0.3))
    assert derivative.engine == "compiled" and type(slope) is Pair
    assert slope == pytest.approx((2 * 0.5 * 0.3**3, 3 * 0.5**2 * 0.3**2))
