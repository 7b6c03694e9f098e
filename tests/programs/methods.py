"""Methods and attributes: of arrays, of the user's classes."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
M = np.arange(1.0, 7.0).reshape(2, 3) / 4


class Spring:
    """Keeps its parameters on itself."""

    stiffness = 2.0

    def __init__(self, rest):
        self.rest = rest
        self.calls = 0

    def force(self, x):
        return -self.stiffness * (x - self.rest)

    def energy(self, x):
        return np.sum(self.force(x) ** 2) / (2 * self.stiffness)

    @staticmethod
    def damping(v):
        return np.sum(v**4)

    @classmethod
    def scaled(cls, v):
        return cls.stiffness * np.sum(v * v)

    @property
    def tension(self):
        return self.stiffness * 3

    def with_property(self, x):
        return np.sum(x**2) * self.tension

    def __call__(self, x):
        return self.energy(x) * 2

    def __getitem__(self, key):
        return self.rest[key]

    def counting(self, x):
        self.calls += 1
        return np.sum(x * x) * self.stiffness


class Stiff(Spring):
    stiffness = 5.0

    def force(self, x):
        return super().force(x) * x


SPRING, STIFF = Spring(X / 2), Stiff(X / 3)

program(X, engine="compiled", smooth=True, name="bound_method")(SPRING.energy)
program(X, engine="compiled", name="static_method")(Spring.damping)
program(X, engine="compiled", name="class_method")(Spring.scaled)
program(X, engine="compiled", name="property")(SPRING.with_property)


@program(X, engine="compiled")
def methods_of_a_global_object(x):
    return SPRING.energy(x) + STIFF.damping(x) * SPRING.tension


@program(X, engine="compiled")
def overridden_method(x):
    return STIFF.scaled(x)


@program(X, engine="compiled", smooth=True)
def methods_of_arrays(x):
    return (x * x).sum() + x.mean() * x.prod() + x.reshape(3, 1).T.dot(x)[0] + x.dot(x) ** 2


@program(M, engine="compiled")
def attributes_of_arrays(m):
    return (m.T @ m).trace() + m.real.sum() + m.T.T[0, 1] * m.shape[0] * m.ndim * m.size


@program(M, engine="compiled")
def chain_of_methods(m):
    return m.reshape(-1).clip(0.4, 1.2).reshape(3, 2).transpose().ravel()[1:4].copy().sum()


@program(M, engine="compiled")
def methods_with_axis(m):
    return (m.sum(axis=1) * m.max(axis=1)).sum() + m.min(axis=0).prod() + m.swapaxes(0, 1)[2].sum() + m.squeeze().std()


@program(M, engine="compiled")
def copies(m):
    c = m.copy()
    return np.sum(c * m) + np.sum(np.copy(m) ** 2) + np.sum(np.array(m) * c) + np.sum(np.asarray(m))


@program(X, engine="compiled")
def conversion_to_float(x):
    return np.sum(x.astype(float) ** 2) + np.sum(x.astype(np.float64))


@program(X, engine="compiled")
def inactive_methods(x):
    order = x.argsort()
    top = x.argmax()
    return np.sum(x[order] * np.arange(3.0)) + x[top] * (x > 0).sum() + x.any() * x[0]


program(X, engine="compiled", name="method_that_counts_its_calls")(SPRING.counting)
