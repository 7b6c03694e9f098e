"""Objects whose constructors do more than store: methods of their own, and `__post_init__` of dataclasses."""

from dataclasses import InitVar, dataclass, field

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])
W = np.array([1.0, 3.0, 2.0])


@dataclass
class Scaled:
    w: np.ndarray
    k: float = 2.0

    def __post_init__(self):
        self.w = self.w * self.k

    def energy(self, x):
        return np.sum(self.w * x)


@dataclass
class Shifted(Scaled):
    shift: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        self.w = self.w + self.shift


@dataclass
class Squared:
    w: np.ndarray
    square: np.ndarray = field(init=False)

    def __post_init__(self):
        self.square = self.w * self.w


@dataclass
class Passed:
    w: np.ndarray
    k: InitVar[float] = 2.0

    def __post_init__(self, k):
        self.w = self.w * k


@dataclass
class InPlace:
    w: np.ndarray

    def __post_init__(self):
        self.w *= 2.0


class Model:
    def __init__(self, w):
        self.set(w)

    def set(self, w):
        self.w = w
        self.weigh()

    def weigh(self):
        self.k = np.sum(self.w)

    def energy(self, x):
        return np.sum(self.w * x) * self.k


class OtherModel(Model):
    def weigh(self):
        self.k = np.sum(self.w**2)


class Doubling:
    def __init__(self, w):
        self.w = w
        self.double()

    def double(self):
        self.w *= 2.0


class Hidden:
    def __init__(self, w):
        self.w = w
        self.set = w.fill
        self.set(2.0)

    def set(self, k):
        self.k = k


@program(X, engine="compiled", smooth=True)
def with_a_post_init(x):
    return Scaled(x * x).energy(x)


@program(X, engine="compiled", smooth=True)
def with_a_post_init_and_changed_afterwards(x):
    s = Scaled(x * x, 3.0)
    s.k = x[0]
    return s.energy(x) * s.k


@program(X, engine="compiled", smooth=True)
def with_an_inherited_post_init(x):
    return Shifted(w=x * x, shift=2.0).energy(x)


@program(X, engine="tape", smooth=True)
def with_a_field_that_is_not_passed(x):
    return np.sum(Squared(x).square * x)


@program(X, engine="tape", smooth=True)
def with_what_is_only_passed_on(x):
    return np.sum(Passed(x, 3.0).w * x)


@program(X, engine="tape")
def with_a_post_init_in_place(x):
    y = x * x
    s = InPlace(y)
    return np.sum(s.w * x) + np.sum(y)


@program(X, W, engine="tape")
def with_a_post_init_in_place_of_what_was_read(x, w):
    y = x * w
    s = InPlace(w)
    return np.sum(y * y) + np.sum(s.w * x)


@program(X, engine="compiled", smooth=True)
def with_methods_of_its_own(x):
    return Model(x * x).energy(x)


@program(X, engine="compiled", smooth=True)
def with_a_method_of_a_subclass(x):
    return OtherModel(x * x).energy(x)


@program(X, engine="tape")
def with_a_method_that_changes_in_place(x):
    y = x * x
    d = Doubling(y)
    return np.sum(d.w * x) + np.sum(y)


@program(X, W, engine="tape")
def with_a_method_that_changes_what_was_read(x, w):
    y = x * w
    d = Doubling(w)
    return np.sum(y * y) + np.sum(d.w * x)


@program(X, W, engine="tape")
def with_a_method_hidden_by_an_attribute(x, w):
    y = x * w
    h = Hidden(w)
    return np.sum(y * y) + np.sum(h.w * x)
