"""Methods of the user's classes: recorded as functions are, while the recorded function runs, and only then."""

import abc
import functools
import math
import threading
import warnings
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


def recorded(f):
    """What a function has done to the world when it was recorded once."""
    value_and_grad(f, mode="tape")(X)


def test_what_the_function_stores_in_a_class_is_plain_afterwards():
    class Model:
        log: list = []
        best = None

        @classmethod
        def setup(cls, x):
            cls.weights = np.asarray(x) * 2

        def loss(self, x):
            self.setup(x)
            self.log.append(x * self.weights)
            Model.best = (self, np.sum(x))
            return np.sum(self.log[-1])

    recorded(lambda x: Model().loss(x))
    assert type(Model.weights) is type(Model.log[0]) is np.ndarray
    assert type(Model.best[1]) is np.float64


def test_methods_that_the_function_replaces_or_deletes_stay_so():
    class Model:
        def loss(self, x):
            return np.sum(x)

        def twice(self, x):
            return np.sum(np.asarray(x)) * 2

        def other(self, x):
            return x

    def f(x):
        first = Model().loss(x)
        Model.loss = Model.twice
        del Model.other
        return first + Model().loss(x)

    value, gradient = value_and_grad(f, mode="tape")(X)
    np.testing.assert_array_equal(gradient, [3.0, 3.0, 3.0])
    assert Model.loss is Model.twice
    assert not hasattr(Model, "other")


def test_methods_are_kept_as_what_they_are():
    class Model:
        def loss(self, x, power=2):
            return np.sum(np.asarray(x) ** power)

    model, kept = Model(), []

    def f(x):
        model.hook = model.loss
        kept.extend([Model.loss, model.loss, Model.loss.__defaults__])
        return model.hook(x)

    recorded(f)
    assert model.hook == model.loss
    assert kept == [Model.loss, model.loss, (2,)]


def test_methods_are_called_as_deep_as_without_the_tape():
    class Chain:
        def value(self, x, n):
            return np.asarray(x) if n == 0 else self.value(x * 1.0, n - 1)

        def place(self, x):
            warnings.warn("here", stacklevel=2)
            return np.sum(x)

    value, gradient = value_and_grad(lambda x: np.sum(Chain().value(x, 600)), mode="tape")(X)
    np.testing.assert_array_equal(gradient, np.ones(3))
    with pytest.warns(UserWarning, match="here") as found:
        recorded(lambda x: Chain().place(x))
    assert found[0].filename == __file__


def test_what_a_class_holds_is_seen():
    class Outer:
        class Inner:
            def __init__(self, x):
                self.x = np.asarray(x) * 2

        class Twice:
            def __get__(self, instance, owner):
                return np.asarray(instance.x) * 2

        twice = Twice()

        def make(self, x):
            self.x = self.Inner(x).x
            return np.sum(self.twice * x)

    f = lambda x: Outer().make(x)  # noqa: E731
    np.testing.assert_allclose(value_and_grad(f, mode="tape")(X)[1], 8 * X)


def test_the_body_of_a_class_finds_the_names_around_it():
    def f(x):
        class Scaled:
            scale = np.asarray(x) * FACTOR

            def loss(self):
                return np.sum(np.asarray(self.scale) * x)

        return Scaled().loss()

    np.testing.assert_allclose(value_and_grad(f, mode="tape")(X)[1], 2 * FACTOR * X)


FACTOR = 3.0


def test_classes_of_many_methods_are_left_as_they_were():
    methods = {f"m{i}": (lambda self, x: x) for i in range(1500)}
    many = type("Many", (), {**methods, "keep": lambda self, x: setattr(type(self), "last", x * 2)})
    before, held = dict(vars(many)), {}

    def f(x):
        many().keep(x)
        held["x"] = x * 3
        return np.sum(many.last)

    recorded(f)
    assert type(many.last) is type(held["x"]) is np.ndarray
    assert all(vars(many)[name] is before[name] for name in methods)


def test_cached_properties_and_partial_methods():
    class Model:
        def __init__(self, x):
            self.x = x

        @functools.cached_property
        def doubled(self):
            return np.asarray(self.x) * 2

        def scaled(self, by, x):
            return np.asarray(x) * by

        thrice = functools.partialmethod(scaled, 3.0)

    kept, before = [], dict(vars(Model))

    def f(x):
        kept.append(Model(x))
        return np.sum(kept[0].doubled * kept[0].thrice(x))

    np.testing.assert_allclose(value_and_grad(f, mode="tape")(X)[1], 12 * X)
    assert type(vars(kept[0])["doubled"]) is np.ndarray
    assert vars(Model)["doubled"] is before["doubled"] and vars(Model)["thrice"] is before["thrice"]


def steep(v):
    return v * 2 if type(v) is np.float64 else math.sin(float(v))


class Holder:
    def __init__(self, function):
        self.function = function

    def __call__(self, v):
        return self.function(v)


@dataclass
class Net:
    scale: float
    act: object = np.tanh
    others: list = field(default_factory=lambda: [math.sin, steep])

    def run(self, v):
        return self.act(v * self.scale) + self.others[0](v) * self.others[1](v)


@dataclass(frozen=True, slots=True)
class Slotted:
    act: object

    def run(self, v):
        return self.act(v) * v


class Inheriting(Holder):
    pass


HOLDING = {
    "attribute": (lambda x, held: held.function(x[0]) * x[1], Holder(steep)),
    "called": (lambda x, held: held(x[0]) * x[1], Holder(math.sin)),
    "inherited": (lambda x, held: held(float(x[0])) * x[1], Inheriting(steep)),
    "mapped": (lambda x, held: sum(map(held, x)), Holder(steep)),
    "vectorized": (lambda x, held: np.sum(np.vectorize(held)(x)), Holder(math.sin)),
    "of an object in an object": (lambda x, held: held.function.function(x[0]), Holder(Holder(math.exp))),
    "default": (lambda x, held: held.run(x[0]), Net(0.5)),
    "given": (lambda x, held: held.run(x[0]), Net(0.5, math.cos, [steep, math.exp])),
    "slot": (lambda x, held: held.run(x[0]), Slotted(steep)),
    "partial": (lambda x, held: held(x[0]), Holder(functools.partial(math.pow, 2.0))),
}


@pytest.mark.parametrize("name", HOLDING)
def test_functions_that_objects_hold(name):
    f, held = HOLDING[name]
    before = dict(vars(type(held)))
    value, gradient = value_and_grad(f, mode="tape")(X, held)
    assert value == f(X, held)
    np.testing.assert_allclose(gradient, differences(lambda x: f(x, held), X), rtol=1e-6)
    assert dict(vars(type(held))) == before


def test_functions_that_objects_hold_are_replaced_and_deleted():
    def f(x, net):
        net.act = math.sin
        first = net.run(x[0])
        del net.act
        return first * net.run(x[1])

    net = Net(0.5, math.cos)
    value, gradient = value_and_grad(f, mode="tape")(X, net)
    assert value == f(X, Net(0.5, math.cos))
    np.testing.assert_allclose(gradient, differences(lambda x: f(x, Net(0.5, math.cos)), X), rtol=1e-6)
    assert "act" not in vars(net)
    assert Net.act is np.tanh
