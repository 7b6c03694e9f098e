"""What the function does beside computing happens as often, and in the order, in which a plain call does it."""

import functools

import numpy as np
import pytest

from s2sgrad import value_and_grad
from tests.programs.test_programs import assert_same

X = np.array([0.5, -1.5, 2.0])


def say(v, what=""):
    print(what, round(float(v), 3))
    return v * v


def count(v):
    print("count")
    return int(v)


def one(v):
    print("one")
    return 1.0


def size(v):
    print("size", float(v))
    return abs(v)


def sum_of_calls(x):
    return sum(say(v) for v in x)


def map_of_calls(x):
    return sum(map(say, x))


def conditions_and_elements_in_turns(x):
    return sum(say(v, "element") for v in x if say(v, "condition") > 1)


def conditions_alone(x):
    return sum(v * v for v in x if say(v, "condition") > 1)


def keys_first(x):
    total = 0.0
    for v in sorted(x, key=size):
        total = total * 2 + say(v)
    return total


def key_of_max(x):
    return max(x, key=size) * 2


def filter_in_turns(x):
    total = 0.0
    for v in filter(lambda v: size(v) > 1, x):
        total += say(v)
    return total


def reduced(x):
    return functools.reduce(lambda a, b: say(a + b), x)


def and_or(x):
    return (say(x[0] * 0, "a") and say(x[1], "b")) or say(x[2], "c")


def dict_of_numbers_without_derivative(x):
    return {"n": count(x[2]), "k": count(x[2]) * 2}["k"] * x[0]


def tuple_of_numbers_without_derivative(x):
    return (count(x[2]), count(x[0]))[0] * x[0]


def sum_of_a_number_without_derivative(x):
    return (one(x[2]) + 2) * x[0]


def call_of_a_number_without_derivative(x):
    return x[0] * np.sum([one(x[2]), 2.0]) * float(one(x[1])) * max(one(x[0]), 2) * -one(x[1])


def call_in_a_call(x):
    return np.sum(x * np.maximum(one(x[0]), 2.0)) * [one(x[0]), one(x[1])][0]


def call_in_a_branch(x):
    return x[0] * (one(x[2]) if one(x[0]) > 0 else 1)


def call_in_an_index(x):
    return x[int(one(x[2]))]


@pytest.mark.parametrize(
    "function",
    [f for f in list(globals().values()) if getattr(f, "__code__", None) and f.__code__.co_varnames[:1] == ("x",)],
    ids=lambda f: f.__name__,
)
def test_the_same_is_printed(function, capsys):
    expected = function(X.copy())
    plain = capsys.readouterr().out
    derivative = value_and_grad(function)
    value, gradient = derivative(X.copy())
    assert capsys.readouterr().out == plain
    assert_same(value, expected)
    assert (derivative.engine == "tape") is (function is conditions_and_elements_in_turns)
    np.testing.assert_allclose(gradient, value_and_grad(function, mode="tape")(X.copy())[1])
