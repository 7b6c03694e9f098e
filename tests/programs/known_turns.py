"""Loops and comprehensions over what is written down, with keys in it, and iterators that are taken apart at once."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, 1.2, 2.0])


@program(X, engine="compiled", smooth=True)
def changes_by_name(x):
    state = {"a": x, "b": 2 * x}
    for name, change in (("a", x * x), ("b", 3.0)):
        state[name] = state[name] + change
    return np.sum(state["a"] * state["b"])


@program(X, engine="compiled", smooth=True)
def changes_that_are_computed_before(x):
    state = {"a": x, "b": 2 * x}
    for name, change in [("a", state["b"]), ("b", state["a"] * 2)]:
        state[name] = state[name] * change
    return np.sum(state["a"] * state["b"])


@program(X, engine="compiled")
def changes_in_place_by_name(x):
    state = {"a": x * 1.0, "b": 2 * x}
    for name, change in (("a", state["b"]), ("b", state["a"])):
        state[name] += change
    return np.sum(state["a"] * state["b"])


@program(X, engine="compiled", smooth=True)
def names_beside_values(x):
    state = {"a": x, "b": 2 * x}
    for name, change in zip(("a", "b"), (np.sin(x), 2 * x), strict=True):
        state[name] = state[name] * change
    return np.sum(state["a"] * state["b"])


@program(X, engine="compiled", smooth=True)
def functions_by_name(x):
    found = {}
    for name, function in (("p", np.sin), ("q", np.cos), ("r", lambda v: v * x)):
        found[name] = function(x)
    return np.sum(found["p"] * found["q"] + found["r"])


@program(X, engine="compiled", smooth=True)
def numbers_that_say_which(x):
    state = {0: x, 1: 2 * x}
    for i, j in ((0, 1), (1, 0)):
        state[i] = state[i] * state[j]
    return np.sum(state[0] * state[1])


@program(X, engine="compiled", smooth=True)
def only_some_names(x):
    state = {"a": x, "b": 2 * x, "c": x * x}
    for name in state:
        if name in ("a", "c"):
            state[name] = state[name] * 2
    return np.sum(state["a"] * state["b"] * state["c"])


@program(X, engine="compiled", smooth=True)
def dict_of_pairs(x):
    grid = {(i, j): x[i] * x[j] for i in range(3) for j in range(3)}
    return sum(grid[i, i] * grid[0, i] for i in range(3))


@program(X, engine="compiled", smooth=True)
def dict_of_some(x):
    some = {i: x[i] ** 2 for i in range(3) if i != 1}
    below = {(i, j): x[i] * x[j] for i in range(3) for j in range(i) if not i == j + 1}
    return sum(some.values()) * sum(below.values())


@program({"a": X, "b": X * X}, engine="compiled")
def dict_of_products(d):
    made = {name + str(i): v * i for name, v in d.items() for i in (1, 2) if name in ("b",) or i == 2}
    return np.sum(made["a2"] * made["b1"] + made["b2"])


@program(X, engine="compiled", smooth=True)
def dict_in_a_dict(x):
    table = {i: {j: x[i] * x[j] for j in range(2)} for i in range(2)}
    return table[0][1] * table[1][1]


@program(X, engine="compiled", smooth=True)
def a_variable_hidden_by_a_comprehension(x):
    i = 7.0
    d = {i: x[i] for i in range(3)}
    return d[0] * d[2] * i


@program(X, engine="compiled", smooth=True)
def the_last_of_equal_keys(x):
    d = {i % 2: x[i] for i in range(3)}
    return d[0] * d[1] * len(d)


@program(X, engine=None)
def chosen_by_values(x):
    return sum({i: x[i] for i in range(3) if x[i] > 1.0}.values())


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@program(X, engine="compiled")
def taken_apart_map(x):
    a, b, c = map(softmax, [x, 2 * x, x * x])
    return np.sum(a * b * c)


@program(X, engine="compiled", smooth=True)
def taken_apart_map_of_two(x):
    (a, b), c = tuple(map(lambda v, w: v * w, x[:2], x[1:])), x[2]
    return a * b * c


@program(X, engine="compiled", smooth=True)
def taken_apart_generator(x):
    a, b = (np.sin(v) for v in (x, x * x))
    c, d, e = tuple(v * x[0] for v in x)
    return np.sum(a * b) * c * d * e
