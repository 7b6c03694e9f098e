"""Methods of the user's classes: recorded as functions are, while the recorded function runs, and only then."""

import abc
import math
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from s2sgrad import value_and_grad
from tests.tape.numeric import differences

X = np.array([0.3, 1.2, 0.8])


class Base(abc.ABC):
    scale = 2.0

    def __init__(self, u):
        self.u = np.array([u[0], u[1] * self.scale])

    @abc.abstractmethod
    def force(self): ...

    @property
    def energy(self):
        return math.sqrt(self.u[0]) + float(self.u[1]) ** 2

    @classmethod
    def at(cls, u):
        return cls(np.array([u, u * u]))

    @staticmethod
    def stored(v):
        out = np.zeros(2)
        out[0] = v
        return out

    def __mul__(self, other):
        return type(self)(np.array([self.u[0] * other.u[1], self.u[1]]))


class Spring(Base):
    def __init__(self, u):
        super().__init__(u)
        self.forces = np.zeros(2)

    def force(self):
        self.forces[:] = self.stored(self.u[0]) - self.u**2
        return self.forces

    def __call__(self, x):
        return np.array([x[0], self.energy]) @ self.force()


@dataclass
class Path:
    u: np.ndarray
    past: list = field(default_factory=list)

    def step(self):
        self.u = np.array([self.u[1], self.u[0] * self.u[2], self.u[2]])
        self.past.append(math.sin(self.u[0]))
        return self


def made(x):
    spring = Spring(x)
    return spring(x) + spring.energy


def with_operators(x):
    return (Spring(x) * Spring.at(x[2])).energy


def of_a_dataclass(x):
    path = Path(x).step().step()
    return sum(path.past) * path.u[0]


SPRINGS = {"soft": [Spring(np.ones(2))]}


def of_an_object_outside(x):
    return SPRINGS["soft"][0](x)


@pytest.mark.parametrize("f", [made, with_operators, of_a_dataclass, of_an_object_outside])
def test_methods_are_recorded(f):
    own = dict(vars(Base)), dict(vars(Spring)), dict(vars(Path))
    value, gradient = value_and_grad(f, mode="tape")(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-6)
    assert own == (dict(vars(Base)), dict(vars(Spring)), dict(vars(Path)))


def test_classes_are_as_before_after_an_error():
    def f(x):
        Spring(x).energy.missing()

    own = dict(vars(Spring))
    with pytest.raises(AttributeError):
        value_and_grad(f, mode="tape")(X)
    assert own == dict(vars(Spring))


def test_other_threads_do_not_record():
    found = []

    def f(x):
        spring = Spring(x)
        thread = threading.Thread(target=lambda: found.append(OUTSIDE.force()))
        thread.start()
        thread.join()
        return spring.energy

    value_and_grad(f, mode="tape")(X)
    assert type(found[0]) is np.ndarray and np.array_equal(found[0], OUTSIDE.force())


OUTSIDE = Spring(np.ones(2))
