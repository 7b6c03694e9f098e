"""Classes that inherit: what ``super()`` calls, for objects that the function makes and for those of the caller's."""

from abc import ABC, abstractmethod

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])


class Body(ABC):
    drag = 0.1

    def __init__(self, q, p=1.0):
        self.q = q
        self.p = p * np.ones(3)
        self.steps = 0

    @abstractmethod
    def force(self): ...

    def step(self, dt):
        self.p = self.p + dt * self.force()
        self.q = self.q + dt * self.p
        self.steps += 1
        return self.energy()

    def energy(self):
        return 0.5 * np.sum(self.p**2)

    @property
    def size(self):
        return np.sum(np.abs(self.q))


class Spring(Body):
    def __init__(self, q, k, trace=2):
        super().__init__(q, p=0.5)
        self.k = k
        self.trace = [np.sum(q)] * trace

    def force(self):
        return -self.k * self.q - self.drag * self.p

    def step(self, dt):
        e = super().step(dt) * 2.0
        self.trace[-1] = self.trace[0] * 0.5 + e
        return e

    def energy(self):
        return super().energy() + 0.5 * self.k * np.sum(self.q**2)


class Damped(Spring):
    drag = 0.5

    def __init__(self, *, q, k):
        super(Damped, self).__init__(q, k, trace=3)  # noqa: UP008

    def step(self, dt):
        self.k = self.k * 0.9
        return super().step(dt) if dt > 0.0 else self.size


class Tally:
    def __init__(self, w):
        self.w = w
        self.count = 0

    def score(self, x):
        self.count += 1
        return self.w * x


class Squared(Tally):
    def score(self, x):
        return super().score(x) ** 2


class Shifted(Tally):
    def score(self, x):
        return super().score(x) + self.w


class Both(Squared, Shifted):  # what `Squared` inherits from here is `Shifted`
    def score(self, x):
        return 3.0 * super().score(x)


@program(X, engine="compiled", smooth=True)
def objects_of_subclasses(x):
    spring = Spring(x, 2.0)
    for _ in range(3):
        spring.step(0.1)
    return sum(spring.trace) + spring.energy() * spring.steps


@program(X, engine="compiled", smooth=True)
def objects_of_subclasses_of_subclasses(x):
    body = Damped(q=x, k=x[0])
    e = body.step(0.1) + body.step(0.2) * body.step(0.3)
    return e + np.sum(body.q) * body.drag + body.size


@program(X, engine="tape", smooth=True)
def constants_are_given_to_a_subclass(x):
    spring = Spring(np.ones(3), 2.0)
    spring.q = spring.q * x
    return spring.step(0.1) + spring.energy()


@program(X, engine="compiled", smooth=True)
def what_is_inherited_depends_on_the_object(x):
    both, squared = Both(x[0]), Squared(x[1])
    return np.sum(both.score(x) * squared.score(x)) * both.count + squared.count


@program(X, Both(2.0), Squared(3.0), engine="compiled", argnums=0)
def what_is_inherited_by_the_objects_of_the_caller(x, both, squared):
    return np.sum(both.score(x) * squared.score(x)) * both.count + squared.count


@program(X, Spring(X + 1.0, 2.0), engine="compiled")
def an_object_of_a_subclass_is_changed(x, spring):
    spring.q = spring.q * x
    e = 0.0
    for i in range(3):
        e += spring.step(0.1 * (i + 1)) * x[i]
    return e + spring.steps * spring.energy()


@program(X, Spring(X + 1.0, 2.0), engine="compiled")
def inherited_methods_of_constants(x, spring):
    x[0] *= spring.energy()
    return np.sum(x * x) * spring.energy()


@program(X, engine="compiled", smooth=True)
def a_call_of_what_is_inherited_within_an_expression(x):
    spring = Spring(x, 2.0)
    return x[0] * spring.step(0.1) + (spring.step(0.2) if x[1] > 1.0 else spring.energy()) * spring.steps


class Property(Spring):
    @property
    def size(self):
        return super().size * self.k


@program(X, engine="tape", smooth=True)
def a_property_that_is_inherited(x):
    body = Property(x, x[1])
    body.step(0.1)
    return body.size


class Named(Spring):
    def step(self, dt):
        if dt > 0.15:
            self, other = Spring(self.q * 2.0, 1.0), self
            return super().step(dt) + other.energy()
        return super().step(dt)


@program(X, engine="tape", smooth=True)
def self_is_bound_anew(x):
    body = Named(x, 2.0)
    return body.step(0.1) + body.q[0]
