"""Methods of objects as values: passed, named and bound to further arguments."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, 0.4])


@dataclass
class Spring:
    k: float
    rest: np.ndarray

    def energy(self, c=2.0):
        return self.k * np.sum(self.rest * c)

    def scaled(self, v, c=2.0):
        return self.k * v * c

    def stiffen(self, v):
        self.k = self.k * 2
        return v * self.k


class Soft(Spring):
    def scaled(self, v, c=3.0):
        return 0.5 * self.k * v * c


def twice(f, v):
    return f(f(v))


def stiffened(spring, f, v):
    spring.k = 5.0 * v[0]
    return f(v)


@program(X, Spring(2.0, X + 1.0), engine="compiled", smooth=True)
def methods_of_the_callers_object(x, spring):
    f = spring.scaled
    return np.sum(f(x) * twice(f, x)) + twice(spring.energy, x[0])


@program(X, Spring(2.0, X + 1.0), engine="compiled", argnums=(0, 1))
def methods_of_an_object_that_is_differentiated(x, spring):
    f = partial(spring.scaled, c=3.0)
    return np.sum(twice(f, x)) + sum(map(spring.energy, [x, x[::-1]]))


@program(X, engine="compiled", smooth=True)
def methods_of_objects_that_the_function_makes(x):
    spring, soft = Spring(x[0], x), Soft(x[1], x)
    return np.sum(twice(spring.scaled, x) * twice(soft.scaled, x))


@program(X, engine="compiled", smooth=True)
def the_object_changes_before_the_call(x):
    spring = Spring(x[0], x)
    f = spring.scaled
    spring.k = spring.k * x[1]
    return np.sum(twice(f, x))


@program(X, Spring(2.0, X + 1.0), engine="compiled")
def the_callers_object_changes_before_the_call(x, spring):
    f, y = spring.scaled, x
    for i in range(3):
        y = f(y)
        spring.k = x[0] + i
    return np.sum(f(y))


@program(X, engine="compiled", smooth=True)
def the_object_changes_within_the_call(x):
    spring = Spring(x[0], x)
    return np.sum(stiffened(spring, spring.scaled, x)) + spring.k


@program(X, engine="compiled", smooth=True)
def the_object_changes_on_one_way(x):
    spring = Spring(x[0], x)
    f = spring.scaled
    if x[1] > 0.1:
        spring.k = 3.0 * x[1]
    return np.sum(f(x))


@program(X, engine="tape", smooth=True)
def one_of_two_methods_of_an_object_that_changes(x):
    spring = Spring(x[0], x)
    f = spring.scaled if x[0] > 0.1 else spring.energy
    spring.k = spring.k * x[1]
    return np.sum(f(x))


@program(X, engine="tape", smooth=True)
def a_default_is_a_method_of_an_object_that_changes(x):
    spring = Spring(x[0], x)

    def inner(v, f=spring.scaled):
        return f(v)

    spring.k = spring.k * x[1]
    return np.sum(inner(x))


@program(X, engine="tape", smooth=True)
def the_array_of_an_object_is_written_to_before_the_call(x):
    spring = Spring(x[0], x.copy())
    f = spring.energy
    spring.rest[0] = 3.0
    return twice(f, x[1])


@program(X, Spring(2.0, X + 1.0), engine="tape")
def a_method_that_changes_its_object_is_passed(x, spring):
    return np.sum(twice(spring.stiffen, x)) * spring.k
