"""Functions and classes that programs of another module use: what NumPy is called is what they have in common."""

import numpy as np

K = 2.0


def set_first(a, b):
    a[0] = b
    a[1:] *= np.sin(b)


def set_first_by_a_constant(a, b):
    a[0] = b * K


def doubled(a):
    a *= 2.0


def doubled_by_another(a, b):
    doubled(a)
    a[1] = b


def made(b):
    def rhs(t):
        return np.sin(b * t)

    return rhs


def terms(x, n):
    for i in range(n):
        yield np.sin(x * i)


class Model:
    def __init__(self, b):
        self.b, self.u = b, np.zeros(3)
        self.steps = 0

    def step(self, x):
        self.u = self.u + np.sin(self.b * x)
        self.count()
        return self.u

    def count(self):
        self.steps += 1


class ModelOfAConstant(Model):
    def step(self, x):
        self.u = self.u + K * np.sin(self.b * x)
        return self.u


class TwiceAsFar(Model):
    def step(self, x):
        return super().step(x) * 2


def changed(a, b):
    a[0] = abs(b)
