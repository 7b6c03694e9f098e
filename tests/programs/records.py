"""Namedtuples and frozen dataclasses: states that are never changed, only made anew with other fields."""

import dataclasses
import math
from collections import namedtuple
from dataclasses import dataclass, replace

import numpy as np

from tests.programs.corpus import program

State = namedtuple("State", "angle speed steps")


class Checked(namedtuple("Checked", "u t")):
    def _replace(self, **fields):
        return super()._replace(t=self.t + 1.0, **fields)


@dataclass(frozen=True)
class Layer:
    weight: np.ndarray
    scale: float
    power: int = 2


@program(0.4, 0.7, engine="compiled", argnums=(0, 1))
def pendulum_of_namedtuples(angle, speed):
    state = State(angle, speed, 3)
    for _ in range(4):
        half = state.speed - 0.05 * math.sin(state.angle)
        state = state._replace(angle=state.angle + 0.1 * half * state.steps)
        state = state._replace(speed=half - 0.05 * math.sin(state.angle), steps=state.steps + 1)
    return state.angle * state.speed + state.steps


@program(np.array([0.4, 1.2, 0.8]), 0.7, engine="compiled", argnums=(0, 1))
def dataclass_with_other_fields(w, s):
    layer = Layer(w, s)
    for _ in range(3):
        layer = dataclasses.replace(layer, scale=np.tanh(layer.scale * np.sum(layer.weight)))
        layer = dataclasses.replace(layer, weight=layer.weight**layer.power * layer.scale, power=1)
    return np.sum(layer.weight) * layer.scale


@program(0.4, 0.7, engine="compiled", argnums=(0, 1))
def namedtuple_as_a_dict(angle, speed):
    fields = State(angle, speed, 3)._asdict()
    fields["angle"] = fields["angle"] * fields["steps"]
    return fields["angle"] * fields["speed"] ** 2


@program(0.4, 0.7, engine="tape", argnums=(0, 1))
def replace_of_ones_own(u, t):
    state = Checked(u, t)
    state = state._replace(u=state.u * state.t)
    return state.u * state.t


@program(np.array([0.4, 1.2, 0.8]), engine="compiled")
def shape_as_a_list(x):
    table = np.zeros([len(x), 2], dtype=x.dtype)
    table[:, 0] = x
    table[:, 1] = x**2
    return np.sum(table[::-1] * table)


@program(0.4, engine="compiled")
def powers_of_a_positive_number(a):
    table = np.zeros(3)
    decay = 2.0**-a
    table[1] = decay
    table[2] = decay * table[1] + 3**a
    return np.sum(table)


@dataclass
class Sized:
    size: object
    shape: object

    @property
    def ndim(self):
        return np.sum(self.size * self.shape)


class Measured:
    def __init__(self, u):
        self.u = u

    @property
    def size(self):
        return np.sum(self.u**2)


@program(np.array([0.5, 1.5, 2.0]), engine="compiled", smooth=True)
def fields_and_properties_named_like_attributes_of_arrays(x):
    sized, measured = Sized(x, x[::-1] * x), Measured(x)
    return np.sum(sized.size * sized.shape) + sized.ndim * measured.size


@program(Sized(np.array([1.0, 2.0]), np.array([3.0, 4.0])), engine="compiled")
def fields_of_an_argument_named_like_attributes_of_arrays(sized):
    return np.sum(sized.size * sized.shape) * sized.ndim


@dataclass
class Moment:
    t: float
    u: object
    n: int = 0

    def after(self, dt):
        return replace(self, t=self.t + dt, u=self.u * (1 + dt), n=self.n + 1)


@program(np.array([0.5, 1.5, 2.0]), engine="compiled", smooth=True)
def records_that_a_loop_keeps_and_one_of_them_read(x):
    moment = Moment(0.0, x[:2] * 2.0)
    kept = []
    for _ in range(3):
        kept.append(moment)
        moment = moment.after(x[1] * 0.1)
    moment = kept[1]
    return np.sum(moment.u) * moment.t


@program(np.array([0.5, 1.5, 2.0]), 1, engine="compiled", smooth=True)
def records_that_a_loop_keeps_and_several_of_them_read(x, k):
    step = Moment(x[0], x[:2] * 2.0)
    kept = [step]
    for _ in range(3):
        step = Moment(step.t + x[1], step.u * step.t)
        kept.append(step)
    return np.sum(kept[k].u) * kept[-k].t + sum([s.t for s in kept[1:]])


@program(np.array([0.5, 1.5, 2.0]), 1, engine="compiled", smooth=True)
def pairs_with_records_of_which_one_is_read(x, k):
    pairs = [(Moment(v, x * v), v) for v in x]
    step, v = pairs[k]
    return np.sum(step.u) * v * pairs[2][0].t
