"""Objects of the user's classes that the function makes, and that it and their methods change."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])


class Pendulum:
    length = 0.7

    def __init__(self, angle, speed, damping=0.1):
        self.angle = angle
        self.speed = speed
        self.damping = damping
        self.t = 0.0

    def step(self, dt):
        self.speed = self.speed - dt * (np.sin(self.angle) + self.damping * self.speed)
        self.angle = self.angle + dt * self.speed
        self.t += dt

    def energy(self):
        return np.sum(self.speed**2) / 2 - np.sum(np.cos(self.angle))

    def kick(self, where, by):
        self.speed[where] += by
        return self.speed

    def work(self):
        total = self.energy() * self.t
        return total


class Cell:
    pass


class Adder:
    """Starts from data, and gathers what carries a derivative."""

    def __init__(self, start):
        self.total = start
        self.seen = 0

    def add(self, x):
        self.total += x
        self.seen += 1
        return self.total

    def mean(self):
        self.seen += 1
        return np.sum(self.total * self.seen)


class Chain:
    """Objects in objects."""

    def __init__(self, x):
        self.first = Pendulum(x[0], 0.0)
        self.second = Pendulum(x[1], x[2])

    def step(self, dt):
        pull = self.first.angle - self.second.angle
        self.first.step(dt)
        self.second.step(dt)
        self.second.speed = self.second.speed + dt * pull


@dataclass
class Particle:
    pos: object
    vel: object
    age: int = 0

    def move(self, dt):
        self.pos = self.pos + dt * self.vel
        self.age += 1


@program(X, engine="compiled", smooth=True)
def methods_that_step(x):
    p = Pendulum(x * 1.0, x * 2)
    for _ in range(4):
        p.step(0.1)
    return p.energy() * p.t


@program(X, engine="compiled", smooth=True)
def attributes_that_are_assigned(x):
    p = Pendulum(x, np.zeros(3), damping=x[0])
    for _ in range(3):
        p.angle = p.angle + 0.1 * p.speed
        p.speed -= 0.1 * p.angle * p.damping
    return np.sum(p.angle * p.speed)


@program(X, engine="compiled", smooth=True)
def object_without_a_constructor(x):
    c = Cell()
    c.a = x * 2
    if x[0] > 0.2:
        c.a = c.a * x[1]
    c.b = c.a**2
    return np.sum(c.b)


@program(X, engine="tape", smooth=True)
def attribute_of_one_branch(x):
    c = Cell()
    c.a = x * 2
    if x[0] > 0.2:
        c.b = c.a * x[1]
        c.a = c.b
    return np.sum(c.a)


@program(X, engine="compiled", smooth=True)
def namespace(x):
    s = SimpleNamespace(u=x * 1.0, t=0.0)
    for _ in range(3):
        s.u = s.u * 1.1
        s.t += s.u[0]
    s.extra = x[2]
    return np.sum(s.u) * s.t * s.extra


@program(X, engine="compiled", smooth=True)
def object_that_starts_from_data(x):
    a = Adder(np.zeros(3))
    for k in range(3):
        a.add(x * k)
        y = a.add(x**2)
    return np.sum(a.total * y) / a.seen


@program(X, engine="compiled", smooth=True)
def object_left_in_the_middle(x):
    p = Pendulum(x * 1.0, x * 0.1)
    for k in range(6):
        p.step(0.3)
        if p.speed[1] < -0.5:
            break
        p.damping *= 1.1
    return p.energy() * p.t


@program(X, engine="compiled", smooth=True)
def array_of_an_object_changed(x):
    p = Pendulum(x * 1.0, x * 0.1)
    view = p.kick(1, x[0])
    p.speed[0] = x[2]
    view[2] *= 3.0
    p.step(0.1)
    return p.energy() + np.sum(view)


@program(X, engine="compiled", smooth=True)
def second_name_of_an_object(x):
    p = Pendulum(x * 1.0, x * 0.1)
    q = p
    q.step(0.1)
    p.speed = q.angle * x
    return q.energy() + p.work()


@program(X, engine="compiled", smooth=True)
def objects_in_objects(x):
    c = Chain(x)
    for _ in range(3):
        c.step(0.2)
    c.first.speed = c.first.speed * x[1]
    return c.first.energy() * c.second.work()


@program(X, engine="compiled", smooth=True)
def objects_in_a_list(x):
    parts = [Particle(x[0], x[1]), Particle(x[2], 1.0)]
    for _ in range(3):
        for p in parts:
            p.move(0.1)
        parts[0].vel = parts[0].vel - parts[1].pos * 0.1
    return parts[0].pos * parts[1].pos * parts[0].age


def pulled(p, dt):
    return np.sum(p.angle * dt)


@program(X, engine="compiled", smooth=True)
def object_given_to_a_function(x):
    p = Pendulum(x * 1.0, x * 2)
    p.step(0.1)
    return pulled(p, 0.5) * p.energy()


@program(X, engine="compiled", smooth=True)
def method_result_returned(x):
    a = Adder(np.zeros(3))
    a.add(x)
    a.add(x * x)
    return a.mean()


@program(X, engine="compiled", smooth=True)
def method_that_changes_within_an_expression(x):
    a = Adder(np.zeros(3))
    y = a.total[0] + np.sum(a.add(x) * a.add(x * x)) + a.total[1]
    p = Pendulum(x, x * 0.1)
    return y * np.sum(p.kick(1, y) ** 2) * (p.energy() if x[0] > 1 else a.mean())


class Dense:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x, k=1.0):
        return np.tanh(self.w * x + k * self.b)


class Stack:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x, k=0.5)
        return x


class Momentum:
    def __init__(self, v):
        self.v = v
        self.calls = 0

    def __call__(self, g):
        self.v = 0.9 * self.v + g
        self.calls += 1
        return self.v * self.calls


@program(X, engine="compiled", smooth=True)
def objects_that_are_called(x):
    first = Dense(x, np.ones(3))
    return np.sum(first(x) * Dense(x * x, x)(first.b)) * first(2.0)[1]


@program(X, engine="compiled", smooth=True)
def layers_that_are_called(x):
    net = Stack([Dense(x, np.ones(3)), Dense(x * x, x)])
    return np.sum(net(np.array([1.0, 2.0, 3.0])) * net(x))


@program(X, engine=None, smooth=True)
def objects_that_change_when_called(x):
    m = Momentum(x * 0.1)
    y = m(x) + m(x * x)
    for _ in range(2):
        y = y + m(y) * m.v[0]
    return np.sum(y) * m.calls


@program(X, engine=None, smooth=True)
def an_argument_read_after_a_call_that_changes(x):
    m = Momentum(x[0])
    return m.v * m(m.v + x[1]) * m.v
