"""Objects of plain classes that can be called, and methods that no derivative flows through."""

from dataclasses import dataclass, field

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])
W = np.array([[0.2, -0.4, 0.1], [0.5, 0.3, -0.2], [0.1, 0.7, 0.4]])


class Dense:
    scale = 2.0

    def __init__(self, W, b):
        self.W, self.b = W, b
        self.calls = 0

    def __call__(self, x):
        return np.tanh(self.W @ x) + self.b

    def twice(self, x):
        return self(self(x))


class Counted(Dense):
    def __call__(self, x):
        self.calls += 1
        return super().__call__(x) * self.calls


class Chain:
    def __init__(self, *layers):
        self.layers = list(layers)
        self.last = layers[-1]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def loss(self, x):
        return np.sum(self(x) ** 2) + np.sum(self.last(x))


@dataclass
class Spring:
    k: float
    rest: np.ndarray
    seen: list = field(default_factory=list)

    stiff = 2.0

    def __call__(self, v):
        return self.stiff * self.k * v

    @property
    def mean(self):
        return np.sum(self.rest) / self.rest.size

    @property
    def own(self):
        return self.rest

    @staticmethod
    def doubled(v, by=2.0):
        return by * v

    def stretch(self, c=1.0):
        return self.rest * c

    def energy(self, v):
        return self.k * np.sum((v - self.rest) ** 2)


class Softer(Spring):
    stiff = 0.5

    @property
    def mean(self):
        return self.k * super().mean


@program(Dense(W, np.ones(3)), X, engine="compiled", argnums=1, smooth=True)
def a_layer_that_is_passed(layer, x):
    return np.sum(layer(x) * layer.twice(x))


@program(Chain(Dense(W, np.ones(3)), Dense(W.T, np.zeros(3))), X, engine="compiled", argnums=1, smooth=True)
def layers_in_an_object(chain, x):
    return chain.loss(x)


@program([Dense(W, np.ones(3)), Dense(W.T, X)], X, engine="compiled", argnums=1, smooth=True)
def layers_in_a_list(layers, x):
    for layer in layers:
        x = layer(x) + layers[0](x)
    return np.sum(x)


@program(X, Dense(W, np.ones(3)), engine="compiled")
def an_array_is_written_to_beside_a_layer(x, layer):
    x[0] *= x[1]
    return np.sum(layer(x)) + np.sum(layer.b * x)


@program(X, Spring(0.7, X + 1.0), engine="compiled")
def calls_of_constants(x, spring):
    x[0] *= spring(0.3)
    x[1:] *= spring.stretch()[1:] * spring.doubled(spring.mean)
    return np.sum(x * spring(x)) + spring.energy(x)


@program(X, Softer(0.7, X + 1.0), engine="compiled")
def a_subclass_of_what_is_called(x, spring):
    x[0] *= spring(0.3)
    return np.sum(x * spring(x)) + spring.energy(x)


@program(X, Spring(0.7, X + 1.0), engine="compiled", argnums=(0, 1))
def the_object_is_differentiated(x, spring):
    x *= spring(0.3)
    spring.k = spring(x[0])
    return np.sum(x * spring(x)) + spring.energy(x) + spring.mean


@program(X, Counted(W, np.ones(3)), engine="compiled")
def a_call_that_counts(x, layer):
    y = layer(x)
    return np.sum(layer(y) * y) * layer.calls


@program(X, Spring(0.7, X + 1.0), engine="tape")
def what_a_property_gives_is_written_to(x, spring):
    rest = spring.own
    y = x * rest
    rest[0] = 7.0
    return np.sum(y * rest) + np.sum(spring.rest * x)


@program(X, Spring(0.7, X + 1.0), engine="compiled")
def what_a_method_read_is_changed(x, spring):
    before = spring(1.0)
    spring.k = 3.0
    return np.sum(x * before) + np.sum(x * spring(1.0))


class Hidden:
    def __init__(self, f):
        self.f = f
        self.__call__ = np.cos  # of the object itself, which `hidden(x)` does not look at

    def __call__(self, v):
        return self.f * np.sin(v)


@program(X, Hidden(2.0), engine="tape", smooth=True)
def a_call_that_is_no_attribute(x, hidden):
    return np.sum(hidden(x)) + hidden(0.5) * np.sum(hidden.__call__(x))


@program(Dense(W, np.ones(3)), X, engine="compiled", argnums=1)
def what_the_class_holds_is_hidden_later(layer, x):
    y = np.sum(x * x) * layer.scale
    layer.scale = 5.0
    return y * layer.scale


@program(Spring(0.7, X + 1.0), X, engine="compiled", argnums=1)
def what_the_class_of_a_dataclass_holds_is_hidden_later(spring, x):
    y = np.sum(x * x) * spring.stiff
    spring.stiff = 5.0
    return y * spring.stiff + spring(np.sum(x))
