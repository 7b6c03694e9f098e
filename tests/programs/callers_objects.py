"""Dataclasses of the caller's that the function, or a method of theirs, changes."""

from dataclasses import dataclass, field

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.5, 2.0])


@dataclass
class Body:
    pos: np.ndarray
    vel: np.ndarray
    mass: float = 1.0
    steps: float = 0.0

    def move(self, dt):
        self.pos = self.pos + dt * self.vel
        self.steps += 1

    def kick(self, force, dt):
        self.vel = self.vel + dt * force / self.mass
        return self.vel

    def energy(self):
        return self.mass * np.sum(self.vel**2) / 2

    def run(self, x, n=2):
        for _ in range(n):
            self.kick(-self.pos * x, 0.1)
            self.move(0.1)
        return self.energy() * np.sum(x)


@dataclass
class Named(Body):
    name: str = "body"
    parent: object = None


@dataclass
class Pair:
    first: Body
    second: Body
    gaps: list = field(default_factory=list)


BODY = Body(X + 1, X - 1, 2.0)
PAIR = Pair(BODY, Body(X * 2, X), [0.5, X])


@program(BODY, engine="compiled")
def fields_assigned(b):
    for _ in range(3):
        b.pos = b.pos + 0.1 * b.vel
        b.vel -= 0.1 * b.pos
        b.mass *= 1.1
        b.steps += 1
    return np.sum(b.pos * b.vel) * b.mass


@program(X, BODY, engine="compiled", argnums=(0, 1))
def methods_of_an_argument(x, b):
    v = b.kick(x, 0.2)
    b.move(x[0])
    v[1] = 3.0 * x[2]
    return b.energy() + np.sum(b.pos * v)


@program(X, Named(X + 1, X - 1), engine="compiled")
def only_another_argument_is_differentiated(x, b):
    b.pos = x * b.mass
    if x[0] > 0.2:
        b.mass = x[1]
        b.vel = b.vel * x[0]
    return np.sum(b.pos**2) * b.mass + b.energy() * len(b.name)


@program(PAIR, engine="compiled")
def dataclasses_in_a_dataclass(p):
    for _ in range(2):
        gap = p.second.pos - p.first.pos
        p.first.kick(gap, 0.1)
        p.second.vel = p.second.vel - 0.1 * gap
        p.first.move(0.1)
    p.gaps[0] = np.sum(gap * p.gaps[1])
    return p.first.energy() + p.second.energy() * p.gaps[0]


@program(X, BODY, engine="compiled", argnums=(0, 1))
def left_and_read_again(x, b):
    for i in range(4):
        if b.steps > 2.5:
            break
        b.move(x[i % 3])
        if np.sum(b.pos) > 9.0:
            return b.energy() * x[0]
    return np.sum(b.pos) * b.steps


program(BODY, X, engine="compiled", argnums=1, name="method_that_changes_its_object")(Body.run)


@program(X, engine="tape")
def global_object_assigned(x):
    BODY.mass = x[0]
    y = np.sum(x) * BODY.mass
    BODY.mass = 2.0
    return y


@program(BODY, engine="compiled")
def field_of_another_shape(b):
    b.pos = np.concatenate([b.pos[:2], b.vel]) * b.mass
    b.mass = b.pos[1]
    return np.sum(b.pos**2) * b.mass
