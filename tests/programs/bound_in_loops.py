"""What is bound in a loop first, and read after it: numbers, arrays and containers of them."""

import dataclasses
from collections import namedtuple

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, 0.4])
Pair = namedtuple("Pair", ["a", "b"])


@dataclasses.dataclass
class Both:
    a: object
    b: object


@program(X, engine="compiled", smooth=True)
def a_tuple(x):
    for _ in range(3):
        hs = (x * 2, x * 3)
    return np.sum(hs[-1] ** 2 * hs[0])


@program(X, 3, engine="compiled", smooth=True)
def a_tuple_of_as_many_turns_as_are_asked_for(x, n):
    for k in range(n):
        hs = (x * k, np.sum(x * k), [x, "text"])
    return np.sum(hs[0] ** 2 * hs[1] * hs[2][0])


@program(X, engine="compiled", smooth=True)
def a_namedtuple(x):
    for k in range(3):
        p = Pair(x * k, x[0])
    return np.sum(p.a * p.b)


@program(X, engine="compiled", smooth=True)
def a_dataclass(x):
    for k in range(3):
        p = Both(x * k, x[0])
    return np.sum(p.a * p.b)


@program(X, engine="compiled", smooth=True)
def a_dict_of_tuples(x):
    for k in range(3):
        d = {"a": (x * k, x), "b": x * x}
    return np.sum(d["a"][0] * d["a"][1] * d["b"])


@program(X, engine="compiled", smooth=True)
def of_other_lengths_each_turn(x):
    for k in range(1, 4):
        hs = (np.repeat(x, k), x * k)
    return np.sum(hs[0] ** 2) * np.sum(hs[1])


def stepped(x, k):
    return x * k, np.sin(x) + k


@program(X, engine="compiled", smooth=True)
def of_a_helper(x):
    for k in range(3):
        result = stepped(x, k)
    a, b = result
    return np.sum(a * b)


@program(X, engine="compiled", smooth=True)
def in_a_loop_that_is_left(x):
    k = 0
    while True:
        k += 1
        hs = (x * k, x * x)
        if k > 2:
            break
    return np.sum(hs[0] * hs[1])


@program(X, engine="compiled", smooth=True)
def in_a_loop_in_a_loop(x):
    total = 0.0
    for i in range(2):
        for j in range(3):
            hs = [x * i, x * j]
        total = total + np.sum(hs[0] * hs[1])
    return total


@program(X, engine="compiled", smooth=True)
def the_one_before(x):
    old = (x, x)
    for k in range(3):
        new = (x * k, old[0] * 2)
        old = new
    return np.sum(new[0] * old[1])


@program(X, [0.5 * X, X], engine="compiled")
def layers_of_the_last_epoch(x, weights):
    for _ in range(2):
        hs = [x]
        for w in weights:
            hs.append(np.tanh(w * hs[-1]))
    return np.sum(hs[-1] ** 2)


@program(X, engine="tape")
def written_into_afterwards(x):
    for k in range(3):
        hs = (x * (k + 1), x * 2)
    hs[0][0] = 5.0
    hs[1][:] *= hs[0]
    return np.sum(hs[1])


@program(X, 0, engine="compiled", smooth=True)
def bound_by_no_turn_and_not_read(x, n):
    for k in range(n):
        h = (x * k, x[0])
    return np.sum(h[0]) * h[1] if n else x[0] ** 3


@program(X, engine="compiled", smooth=True)
def read_in_the_loop_and_after_it(x):
    s = 0.0
    for i in range(3):
        h = (x * i,)
        s = s + np.sum(h[0] ** 2)
    return s * np.sum(h[0])


@program(X, engine="compiled", smooth=True)
def a_dict_changed_in_each_turn(x):
    for r in (x, x * 2):
        h = {"a": x * r}
        h["a"] = h["a"] * x
    return np.sum(h["a"])


@program(X, engine="compiled", smooth=True)
def a_namedtuple_in_a_loop_in_a_loop(x):
    total = 0.0
    for i in range(2):
        for j in range(3):
            p = Pair(x * i, x[j % 2])
        total = total + np.sum(p.a * p.b)
    return total


@program(X, engine="compiled", smooth=True)
def a_dataclass_in_a_loop_in_a_loop(x):
    total = 0.0
    for i in range(2):
        for j in range(3):
            p = Both(x * i, x[j % 2])
        total = total + np.sum(p.a * p.b)
    return total


@program(X, engine="compiled", smooth=True)
def a_dict_of_tuples_in_a_loop_in_a_loop(x):
    total = 0.0
    for i in range(1, 3):
        for j in range(3):
            d = {"a": (x * i, x * j), "b": x * x}
        total = total + np.sum(d["a"][0] * d["a"][1] * d["b"])
    return total


@program(X, engine="compiled", smooth=True)
def of_a_helper_in_a_loop_that_is_left(x):
    total = 0.0
    for i in range(3):
        if i == 2:
            break
        for j in range(3):
            result = stepped(x * i, j)
            if j == 1:
                break
        a, b = result
        total = total + np.sum(a * b)
    return total


@program(X, engine="compiled", smooth=True)
def with_a_number_that_nobody_reads(x):
    for _ in range(2):
        d = (x + x[0] * x[1], 1.0)
    return np.sum(d[0] * d[0])


@program(X, engine="compiled", smooth=True)
def an_array_times_a_number(x):
    for _ in range(2):
        d = [x * (x[0] * x[1]), 1.0]
    return np.sum(d[0] * x)
