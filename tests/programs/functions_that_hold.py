"""Functions that hold something that changes between the time when they get it and their calls."""

from functools import partial

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, 0.4])


def times(u, v):
    return u * v


def scaled(box, v):
    return box["k"] * v


def times_of(u):
    def inner(v):
        return u * v

    return inner


def scaled_by(box):
    def inner(v):
        return box["k"] * v

    return inner


class Held:
    def __init__(self, f):
        self.f = f

    def call(self, v):
        return self.f(v)


@program(X, engine="tape", smooth=True)
def partial_of_an_array_that_a_loop_writes_to(x):
    u, total = x * 1.0, 0.0
    f = partial(times, u)
    for _ in range(3):
        total += np.sum(f(x))
        u[0] += x[1]
    return total


@program(X, engine="tape", smooth=True)
def partial_of_a_view_that_a_loop_writes_to(x):
    u, y, k = x * 1.0, x, 0
    f = partial(times, u[:1])
    while k < 2:
        k += 1
        y = f(y)
        u[0] = u[0] * 2
    return np.sum(y)


@program(X, engine="tape", smooth=True)
def partial_of_a_dict_that_a_loop_changes(x):
    box, total = {"k": x[0]}, 0.0
    f = partial(scaled, box)
    for _ in range(3):
        total += np.sum(f(x))
        box["k"] = box["k"] * x[1]
    return total


@program(X, engine="tape", smooth=True)
def default_that_a_loop_changes(x):
    box, total = {"k": x[0]}, 0.0

    def inner(v, box=box):
        return box["k"] * v

    for _ in range(3):
        total += np.sum(inner(x))
        box["k"] = box["k"] * x[1]
    return total


@program(X, engine="tape", smooth=True)
def closure_over_an_array_that_a_loop_writes_to(x):
    u, total = x * 1.0, 0.0
    f = times_of(u)
    for _ in range(3):
        total += np.sum(f(x))
        u[0] += x[1]
    return total


@program(X, engine="tape", smooth=True)
def closure_over_a_dict_that_a_loop_changes(x):
    box, total = {"k": x[0]}, 0.0
    f = scaled_by(box)
    for _ in range(3):
        total += np.sum(f(x))
        box["k"] = box["k"] * x[1]
    return total


@program(X, engine="tape", smooth=True)
def closure_in_an_object_over_an_array_that_a_loop_writes_to(x):
    u, total = x * 1.0, 0.0
    held = Held(times_of(u))
    for _ in range(3):
        total += np.sum(held.f(x))
        u[0] += x[1]
    return total


@program(X, engine="tape", smooth=True)
def closure_in_an_object_over_an_array_that_is_written_to(x):
    u = x * 1.0
    held = Held(times_of(u))
    u[0] += x[1]
    return np.sum(held.call(x))


@program(X, engine="tape", smooth=True)
def closure_in_an_object_over_a_dict_that_is_changed(x):
    box = {"k": x[0]}
    held = Held(scaled_by(box))
    box["k"] = box["k"] * x[1]
    return np.sum(held.call(x))


@program(X, engine="compiled", smooth=True)
def closure_over_an_array_whose_name_gets_another_one(x):
    u = x * 1.0
    f = times_of(u)
    for _ in range(3):
        u = f(u)
        u[0] = u[0] * 2
    return np.sum(u)


@program([0.3, 0.4], 1, engine="compiled")
def array_of_an_unknown_number_of_axes_held(x, n):
    square = lambda a: np.sum(x**2) + a
    x = np.array([np.where(1.2 < x[1] < 1.9, 0.2, 1.5), x[0]])
    return square(x[n % 2])


@program(np.array([0.4, 1.2, 0.8]), engine=None)
def default_that_is_held_by_a_dict(x):
    held = {"n": [float(k) for k in range(len(x))], "m": 3.0}
    length = lambda h=held["n"]: len(h)  # noqa: E731
    held["m"] = x[0]
    return np.sum(x) * length() * held["m"]
