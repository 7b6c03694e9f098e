"""Containers and arrays of the caller's that a function reaches in two ways: never two of what is one, unnoticed."""

import collections
import copy
import dataclasses
import itertools
import types

import numpy as np
import pytest

from s2sgrad import value_and_grad
from s2sgrad.errors import S2SGradError


@dataclasses.dataclass
class Pair:
    a: object
    b: object


KINDS = {
    "list": lambda a, b: [a, b],
    "dict": lambda a, b: {"a": a, "b": b},
    "ordered dict": lambda a, b: collections.OrderedDict(a=a, b=b),
    "dict with a default": lambda a, b: collections.defaultdict(float, a=a, b=b),
    "dataclass": Pair,
    "list in a list": lambda a, b: [[a, b], b],
    "dict in a list": lambda a, b: [{"a": a, "b": b}],
}
ITEMS = {"floats": (3.0, 1.0), "integers": (3, 1), "arrays": (np.array([3.0, 2.0]), np.ones(2))}
SEEN = None  # what the function reaches as a global


def inner(thing):
    """The container that holds the two items."""
    return inner(thing[0]) if isinstance(thing, list) and isinstance(thing[0], (list, dict)) else thing


def read(thing, name):
    thing = inner(thing)
    if isinstance(thing, list):
        return thing["ab".index(name)]
    return thing[name] if isinstance(thing, dict) else getattr(thing, name)


def write(thing, name, value):
    thing = inner(thing)
    if isinstance(thing, list):
        thing["ab".index(name)] = value
    elif isinstance(thing, dict):
        thing[name] = value
    else:
        setattr(thing, name, value)


def work(one, other, change):
    if change == "first":
        write(one, "a", read(one, "a") * 2)
    elif change == "second":
        write(other, "a", read(other, "a") * 2)
    return np.sum(read(one, "a") * read(other, "a") * read(one, "b"))


def as_argument(thing, change):
    return lambda one, other: work(one, other, change), (thing, thing)


def as_part_of_an_argument(thing, change):
    return lambda one, other: work(one, other["k"][0], change), (thing, {"k": [thing]})


def as_a_global(thing, change):
    globals()["SEEN"] = thing
    return lambda one: work(one, SEEN, change), (thing,)


def as_what_a_function_closes_over(thing, change):
    return lambda one: work(one, thing, change), (thing,)


def as_an_attribute(thing, change):
    return lambda one, other: work(one, other.held, change), (thing, types.SimpleNamespace(held=thing))


AROUND = [as_a_global, as_what_a_function_closes_over]
CASES = [
    (kind, items, way, change)
    for kind, items, way, change in itertools.product(
        KINDS, ITEMS, [as_argument, as_part_of_an_argument, as_an_attribute, *AROUND], ["first", "second", "nothing"]
    )
    # who changes the floats that stand for integers is not seen to have meant what is around the function
    if not (items == "integers" and way in AROUND and change == "first")
]


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("kind, items, way, change", CASES)
def test_the_value_is_that_of_the_function_or_there_is_an_error(kind, items, way, change, mode):
    def given():
        return KINDS[kind](*copy.deepcopy(ITEMS[items]))

    function, args = way(given(), change)
    expected = function(*args)
    function, args = way(given(), change)
    try:
        value, _ = value_and_grad(function, mode=mode)(*args)
    except S2SGradError as error:
        assert change != "nothing" and "copy" in str(error)
    else:
        assert value == expected


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("kind, items", [*itertools.product(KINDS, ITEMS)])
def test_what_is_reached_in_one_way_is_changed_for_the_caller(kind, items, mode):
    def function(one, other):
        return work(one, other, "first")

    args, others = ([KINDS[kind](*copy.deepcopy(ITEMS[items])) for _ in range(2)] for _ in range(2))
    expected = function(*args)
    value, _ = value_and_grad(function, mode=mode)(*others)
    assert value == expected
    for name in "ab":
        np.testing.assert_array_equal(read(others[0], name), read(args[0], name))


def store(x, y):
    x[0] = x[1] * 2
    return np.sum(x * y)


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_an_array_of_integers_that_is_changed(mode):
    x, y = np.array([1, 2, 3]), np.ones(3)
    value, g = value_and_grad(store, mode=mode)(x, y)
    assert value == 9.0 and x.tolist() == [4, 2, 3] and x.dtype.kind == "i"
    np.testing.assert_array_equal(g, [0.0, 3.0, 1.0])
    for other in (lambda x: x, lambda x: x[::-1], lambda x: x.reshape(1, 3)):
        x = np.array([1, 2, 3])
        with pytest.raises(S2SGradError, match="Pass a copy"):
            value_and_grad(store, mode=mode)(x, other(x))
    x = np.array([1, 2, 3])
    with pytest.raises(S2SGradError, match="Pass a copy"):
        value_and_grad(store, (0, 1), mode=mode)(x, x)


class Texts(dict):
    """A dict that stores nothing but text by itself."""

    def __setitem__(self, key, value):
        super().__setitem__(key, str(value))


@pytest.mark.parametrize(
    "make", [dict, collections.OrderedDict, lambda: collections.defaultdict(list), collections.Counter]
)
@pytest.mark.parametrize("given", [True, False])
def test_what_is_put_into_a_dict_of_the_callers_is_plain_afterwards(make, given):
    def function(x, kept=None):
        kept = store if kept is None else kept
        kept["y"] = x * x
        kept["ys"] = [x * 2, {"z": x * 3}]
        return np.sum(kept["y"] * kept["ys"][0])

    store = make()
    x = np.array([1.0, 2.0])
    g = value_and_grad(function, mode="tape")(x, *[store] * given)[1]
    np.testing.assert_array_equal(g, 6 * x**2)
    assert type(store["y"]) is type(store["ys"][0]) is type(store["ys"][1]["z"]) is np.ndarray


def test_what_is_put_into_containers_of_own_classes_is_plain_afterwards():
    class Kept(list):
        pass

    def function(x):
        kept.append(x * x)
        dict.__setitem__(texts, "y", x)
        kept.last = x * 3
        return np.sum(kept[-1] * kept.last)

    kept, texts = Kept(), Texts()
    value_and_grad(function, mode="tape")(np.array([1.0, 2.0]))
    assert type(kept[0]) is type(texts["y"]) is type(kept.last) is np.ndarray


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_arrays_of_integers_that_are_only_read_may_be_one(mode):
    x = np.array([1, 2, 3])
    value, g = value_and_grad(lambda x, y: np.sum(x * y), mode=mode)(x, x)
    assert value == 14.0 and g.tolist() == [1.0, 2.0, 3.0]
