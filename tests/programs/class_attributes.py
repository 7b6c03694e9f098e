"""Attributes of the class that objects made by the function have, until something else is assigned to them."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, -0.7, 1.2])


class Counter:
    n = 0
    total = 0.0
    rate = 1.5

    def __init__(self, w):
        self.w = w

    def step(self, x):
        self.n += 1
        self.total += np.sum(self.w * x) * self.n
        return np.tanh(self.w * x * self.rate)


class Faster(Counter):
    rate = 2.5
    total = 0.5

    def twice(self, x):
        self.step(x)
        self.total = self.total * self.rate


class Total:
    total = 0.0

    def add(self, v):
        self.total += v
        return self


class Named:
    kind = "tanh"
    bias = None

    def __init__(self, w):
        self.w = w

    def out(self, x):
        h = self.w * x
        if self.bias is not None:
            h = h + self.bias
        return np.tanh(h) if self.kind == "tanh" else h


class Holder:
    weights = np.array([1.0, 2.0, 3.0])
    scale = 2.0

    def __init__(self, x):
        self.x = x * self.scale


@program(X, engine="compiled", smooth=True)
def counted_and_summed(x):
    c = Counter(x)
    y = c.step(x)
    y = c.step(y)
    return np.sum(y) * c.total * c.n


@program(X, engine="compiled", smooth=True)
def stepped_in_a_loop(x):
    c = Counter(x)
    for i in range(3):
        c.step(x[i])
    return c.total * c.n


@program(X, engine="compiled", smooth=True)
def two_objects_of_one_class(x):
    a = Counter(x)
    b = Counter(x * 2)
    a.step(x)
    b.step(x)
    a.step(b.step(x))
    return a.total * a.n + b.total * b.n


@program(X, engine="compiled", smooth=True)
def attributes_of_a_base_class(x):
    c = Faster(x)
    for i in range(3):
        c.twice(x * i)
    return c.total * c.n * c.rate


@program(X, engine="compiled", smooth=True)
def without_a_constructor(x):
    a = Total()
    for i in range(len(x)):
        a.add(x[i] ** 2)
    return a.total**2


@program(X, engine="compiled", smooth=True)
def assigned_in_a_branch_only(x):
    a = Total()
    if x[0] > 5:
        a.total = x[1]
    return a.total * x[0] + x[2] ** 2


@program(X, engine="compiled", smooth=True)
def assigned_by_the_function_itself(x):
    a = Total()
    a.total = a.total + x[0] * x[1]
    b = a
    b.total += x[1]
    return a.total**2


@program(np.array(0.4), engine="compiled", smooth=True)
def of_an_array_without_dimensions(x):
    a = Total()
    a.add(x)
    a.add(x * x)
    return a.total * Total().total + a.total**2


@program(X[:0], engine="compiled", smooth=True)
def of_an_empty_array(x):
    a = Total()
    for v in x:
        a.add(v)
    return a.total + np.sum(x**2)


@program(X, engine="compiled", smooth=True)
def text_and_none(x):
    c = Named(x)
    y = c.out(x)
    c.bias = x * 0.1
    c.kind = "line"
    return np.sum(y * c.out(x))


@program(X, engine="compiled", smooth=True)
def read_by_the_constructor(x):
    return np.sum(Holder(x).x ** 2)


@program(X, engine="tape", smooth=True)
def array_of_a_class(x):
    h = Holder(x)
    return np.sum(h.x * h.weights)


@program(X, engine="tape", smooth=True)
def attribute_of_the_class_assigned(x):
    c = Counter(x)
    Counter.n = 5
    c.step(x)
    Counter.n = 0
    return c.total * c.n


@program(X, engine="tape", smooth=True)
def attribute_of_the_class_assigned_by_its_type(x):
    c = Counter(x)
    type(c).n = 5
    c.step(x)
    type(c).n = 0
    return c.total * c.n


def reset():
    Counter.n = 7


@program(X, engine="tape", smooth=True)
def attribute_of_the_class_assigned_by_a_helper(x):
    c = Counter(x)
    reset()
    c.step(x)
    Counter.n = 0
    return c.total * c.n


@program(X, engine="tape", smooth=True)
def what_an_object_has_itself(x):
    c = Counter(x)
    y = c.step(x)
    return np.sum(y) * (3 if "rate" in c.__dict__ else 5)


@program(X, engine="tape", smooth=True)
def what_objects_in_a_list_have(x):
    c = [Counter(x)]
    y = c[0].w * c[0].rate
    return np.sum(y) * len(str([sorted(one.__dict__) for one in c]))
