"""Helpers of another module that write, yield, or return functions, and its classes: lowered in place of their calls.

That is where all names in them are of functions, classes and modules that are called the same here.
"""

import numpy as np

from tests.programs import other_module
from tests.programs.corpus import program
from tests.programs.other_module import (
    Model,
    ModelOfAConstant,
    TwiceAsFar,
    doubled_by_another,
    made,
    set_first,
    set_first_by_a_constant,
    terms,
)

X = np.array([0.5, 1.5, 2.0])


def doubled(a):
    a *= 3.0


@program(X, engine="compiled", smooth=True)
def what_writes(x):
    a = np.zeros(3)
    set_first(a, x[0])
    a = a * x
    set_first(a, x[1])
    return np.sum(a * x)


@program(X, engine="compiled", smooth=True)
def by_its_module(x):
    a = x * 1.0
    other_module.set_first(a, x[0])
    return np.sum(a * x)


@program(X, engine="tape")
def with_a_constant_of_its_own(x):
    a = x * 1.0
    set_first_by_a_constant(a, x[0])
    return np.sum(a * x)


@program(X, engine="tape")
def with_a_function_that_is_another_one_here(x):
    a = x * 1.0
    doubled_by_another(a, x[0])
    doubled(a)
    return np.sum(a * x)


@program(X, engine="compiled")
def that_has_a_name_of_a_variable_here(x):
    sin = x[1] * 2
    a = x * 1.0
    set_first(a, sin)
    return np.sum(a * x) * sin


@program(X, engine="tape")
def that_has_a_name_that_is_a_variable_here(x):
    abs = x[1] * 2  # noqa: A001
    a = x * 1.0
    other_module.changed(a, x[0])
    return np.sum(a * x) * abs


@program(X, engine="compiled", smooth=True)
def what_returns_a_function(x):
    rhs = made(x[0])
    return np.sum(rhs(x))


@program(X, engine="compiled", smooth=True)
def a_generator(x):
    t = 0.0
    for v in terms(x, 3):
        t = t + np.sum(v * v)
    return t


@program(X, engine="compiled", smooth=True)
def a_class(x):
    m = Model(x[0])
    for _ in range(2):
        m.step(x)
    return np.sum(m.u) * m.steps


@program(X, engine="compiled", smooth=True)
def a_class_that_inherits(x):
    m = TwiceAsFar(x[0])
    return np.sum(m.step(x) * m.step(2 * x)) + m.steps


@program(X, engine="tape")
def a_class_with_a_constant_of_its_own(x):
    m = ModelOfAConstant(x[0])
    m.step(x)
    return np.sum(m.u)
