"""Derivatives of functions that change objects of the caller's: what these hold afterwards, what is assumed of them."""

import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import s2sgrad
from s2sgrad.errors import CompileError, S2SGradError
from tests.programs.differences import gradient

X = np.array([0.5, 1.5, 2.0])


class Box:
    def __init__(self, u, k=2.0):
        self.u, self.k = u, k
        self.log = [0.0] * 20
        self.n = 0

    def filled(self, x):
        self.u[0] = x[1]
        self.u[1:] *= x[0]
        self.n += 1
        return np.sum(self.u * x) * self.k

    def added(self, x):
        self.u += x
        self.k = self.k * x[2]
        self.log.append(1.0)
        return np.sum(self.u**2) * self.k

    def scaled(self, x):
        return np.sum(self.u * x**2) * self.k


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def run(self, x):
        self.a.u = self.a.u * x
        self.b.u[0] = x[0]
        return np.sum(self.a.u * self.b.u)


@pytest.mark.parametrize("method", [Box.filled, Box.added])
def test_the_object_is_left_as_a_plain_call_leaves_it(method):
    box, plain = Box(X + 1), Box(X + 1)
    derivative = s2sgrad.value_and_grad(method, argnums=1)
    value, d = derivative(box, X)
    assert derivative.engine == "compiled"
    assert value == method(plain, X)
    np.testing.assert_allclose(d, gradient(method, (Box(X + 1), X), {}, 1), rtol=1e-7)
    assert vars(box).keys() == vars(plain).keys()
    assert all(np.array_equal(held, vars(plain)[name]) for name, held in vars(box).items())


def test_an_array_in_an_object_is_written_into_itself():
    u = X + 1
    box = Box(u)
    s2sgrad.grad(box.added)(X)
    assert box.u is u
    np.testing.assert_array_equal(u, X + 1 + X)


def test_it_is_compiled_anew_when_an_attribute_is_of_another_kind():
    box = Box(X + 1)
    derivative = s2sgrad.grad(box.scaled)
    np.testing.assert_allclose(derivative(X), 2 * X * (X + 1) * 2.0)
    box.k = 3.0
    np.testing.assert_allclose(derivative(X), 2 * X * (X + 1) * 3.0)
    box.u, box.k = 2.0, np.float32(1.0)
    np.testing.assert_allclose(derivative(X), 4 * X)
    box.u = np.array([3.0])
    np.testing.assert_allclose(derivative(X), 6 * X)
    box.k, box.scale = 1, "unused"
    np.testing.assert_allclose(derivative(X), 6 * X)
    assert derivative.engine == "compiled"


@dataclass
class Spring:
    k: float

    def energy(self, x):
        return self.k * np.sum(x**2)


@pytest.mark.parametrize(
    ("inside", "f"),
    [
        (lambda spring: spring, lambda spring, x: spring.energy(x)),
        (lambda spring: [spring], lambda springs, x: springs[0].energy(x)),
        (lambda spring: Pair(spring, 1.0), lambda pair, x: pair.a.energy(x)),
    ],
)
def test_a_dataclass_that_hides_a_method_is_not_taken_for_one_that_does_not(inside, f):
    derivative = s2sgrad.grad(f, argnums=1)
    np.testing.assert_array_equal(derivative(inside(Spring(2.0)), X), 4 * X)
    assert derivative.engine == "compiled"
    other = Spring(2.0)
    other.energy = lambda x: 3.0 * np.sum(x)
    np.testing.assert_array_equal(derivative(inside(other), X), 3 * np.ones(3))
    np.testing.assert_array_equal(s2sgrad.grad(f, argnums=1)(inside(other), X), 3 * np.ones(3))


class Base:
    def score(self, x):
        return 2.0 * np.sum(x)


class Middle(Base):
    pass


class Top(Middle):
    def score(self, x):
        return super().score(x) * 3.0


def test_what_is_inherited_is_looked_up_anew(monkeypatch):
    def f(x):
        return Top().score(x)

    derivative = s2sgrad.grad(f)
    np.testing.assert_array_equal(derivative(X), np.full(3, 6.0))
    assert derivative.engine == "compiled"
    monkeypatch.setattr(Middle, "score", lambda self, x: np.sum(x * x), raising=False)
    np.testing.assert_array_equal(derivative(X), 6 * X)


def test_a_long_list_in_an_object_may_grow():
    box = Box(X + 1, np.float64(2.0))
    derivative = s2sgrad.grad(box.added)
    for _ in range(3):
        derivative(X)
    assert len(derivative._transform.as_method.entries) == 1
    assert len(box.log) == 23


class Linked(Box):
    def __init__(self, u, other=None):
        super().__init__(u)
        self.other = other


def linked_to_itself():
    box = Linked(X + 1)
    box.other = box
    return box


class Hidden:
    __slots__ = ("u",)

    def __init__(self, u):
        self.u = u


def sharing_an_array():
    u = X + 1
    return Pair(Box(u), Box(u))


def twice_the_same():
    box = Box(X + 1)
    return Pair(box, box)


def with_an_opaque_object():
    u = X + 1
    return Linked(u, Hidden(u))


def read_there(box, x):
    box.u = box.u * x
    return np.sum(box.u * box.other.u)


@pytest.mark.parametrize(
    ("method", "make"),
    [
        (Pair.run, sharing_an_array),
        (Pair.run, twice_the_same),
        (Linked.filled, linked_to_itself),
        (Linked.added, with_an_opaque_object),
        (read_there, with_an_opaque_object),
        (read_there, linked_to_itself),
    ],
)
def test_what_may_be_one_is_right_or_refused(method, make):
    try:
        d = s2sgrad.grad(method, argnums=1)(make(), X)
    except S2SGradError:
        return
    np.testing.assert_allclose(d, gradient(method, (make(), X), {}, 1), rtol=1e-7)


SHARED = Box(X + 1)


def global_object_read(x, box):
    box.u = box.u * x
    return np.sum(SHARED.u * x)


def global_object_written(x, box):
    SHARED.u = np.ones(1)
    return np.sum(x[0] * box.u)


@pytest.mark.parametrize("function", [global_object_read, global_object_written])
def test_an_argument_may_be_a_global_object(function):
    SHARED.u = X + 1
    d = s2sgrad.grad(function)(X, SHARED)
    SHARED.u = X + 1
    expected = s2sgrad.grad(function, mode="tape")(X, SHARED)
    np.testing.assert_allclose(d, expected)


def opaque_in_a_list(x, u, others):
    u[0] = x[0]
    return np.sum(u * others[0].u)


def test_an_array_may_be_held_by_an_opaque_object_in_a_list():
    u = X + 1
    value, d = s2sgrad.value_and_grad(opaque_in_a_list)(X, u, [Hidden(u)])
    assert np.isnan(value) and np.isnan(d[0])  # the tape lets nobody read recorded memory as plain data
    d = s2sgrad.grad(opaque_in_a_list)(X, X + 1, [Hidden(X + 2)])
    np.testing.assert_allclose(d, [2.5, 0.0, 0.0])


def test_copies_of_an_object_are_of_one_kind():
    derivative = s2sgrad.grad(Box.filled, argnums=1)
    box = Box(X + 1)
    first = derivative(copy.deepcopy(box), X)
    np.testing.assert_array_equal(first, derivative(box, X))
    assert len(derivative._transform.entries) == 1


class Stepping:
    steps = 0

    def __init__(self, w):
        self.w = w

    def step(self, x):
        self.steps += 1
        return np.sum(self.w * x)


def an_idle_one_and_one_that_stepped(x):
    idle = Stepping(x)
    moved = Stepping(x)
    y = moved.step(x)
    return y * (idle.steps + 1), [idle, moved]


def test_objects_that_are_returned_have_what_they_have_in_a_plain_call():
    _, expected = an_idle_one_and_one_that_stepped(X)
    derivative = s2sgrad.value_and_grad(an_idle_one_and_one_that_stepped, has_aux=True)
    (_, found), _ = derivative(X)
    assert [vars(one).keys() for one in found] == [vars(one).keys() for one in expected]
    assert "more is read of an object than its fields" in str(derivative.explain())


class Pair(NamedTuple):
    a: object
    b: object


@dataclass(frozen=True)
class Frozen:
    a: object
    b: object


def item_of_a_tuple(x):
    d = (x * 2, x * 3)
    d[0] *= x
    return np.sum(d[0])


def item_of_a_tuple_in_a_dict(x):
    d = {"a": (x * 2, x)}
    d["a"][0] += x
    return np.sum(d["a"][0])


def list_in_a_tuple(x):
    d = (x * 2, [x])
    d[1] += [x * 2]
    return np.sum(d[1][1])


def field_of_a_namedtuple(x):
    p = Pair(x * 2, x * 3)
    p.a *= x
    return np.sum(p.a)


def item_of_a_namedtuple(x):
    p = Pair(x * 2, x * 3)
    p[0] *= x
    return np.sum(p.a)


def field_of_a_frozen_dataclass(x):
    p = Frozen(x * 2, x * 3)
    p.a *= x
    return np.sum(p.a)


@pytest.mark.parametrize(
    "function",
    [
        item_of_a_tuple,
        item_of_a_tuple_in_a_dict,
        list_in_a_tuple,
        field_of_a_namedtuple,
        item_of_a_namedtuple,
        field_of_a_frozen_dataclass,
    ],
)
def test_an_augmented_assignment_to_what_takes_none_raises_as_a_plain_call(function):
    with pytest.raises((TypeError, AttributeError)) as plain:
        function(X.copy())
    with pytest.raises(plain.type):
        s2sgrad.grad(function)(X.copy())
    with pytest.raises(CompileError, match="nothing can be put at"):
        s2sgrad.grad(function, mode="compiled")(X.copy())
