"""Containers and arrays of the caller's that a function reaches in two ways: never two of what is one, unnoticed."""

import collections
import copy
import dataclasses
import itertools
import types

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad
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


# ---------------------------------------------------------------- inner derivatives


def cubed(q):
    return first_of(q) ** 3


def first_of(q):
    return q[0] if isinstance(q, list) else q["a"] if isinstance(q, dict) else q.a


@pytest.mark.parametrize("make", [lambda x: [x], lambda x: {"a": x}, lambda x: Pair(x, 2.0)])
@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_what_an_inner_derivative_was_given_may_be_changed_afterwards(make, mode):
    def f(x):
        p = make(x)
        for _ in range(2):
            g = grad(cubed)(p)
            p = copy.copy(p)
            step = first_of(p) - 0.1 * first_of(g)
            write(p, "a", step)
        return first_of(p) ** 2

    def in_place(x):
        p = make(x)
        for _ in range(2):
            write(p, "a", first_of(p) - 0.1 * first_of(grad(cubed)(p)))
        return first_of(p) ** 2

    def plain(x):
        for _ in range(2):
            x = x - 0.3 * x**2
        return x**2

    for function in (f, in_place):
        value, g = value_and_grad(function, mode=mode)(0.5)
        np.testing.assert_allclose([value, g], value_and_grad(plain)(0.5), rtol=1e-12)


@pytest.mark.parametrize("change", ["first", "nothing"])
def test_what_an_inner_derivative_is_given_is_not_changed_by_it(change):
    def inner(q, y):
        if change == "first":
            q[0] = q[0] * y
        return q[0] * y

    def f(x):
        q = [x, 2.0]
        return grad(inner)(q, 3.0)[0] * q[0]

    if change == "nothing":
        assert value_and_grad(f, mode="tape")(2.0) == (6.0, 3.0)
    else:
        with pytest.raises(S2SGradError, match="inner derivative changes the list"):
            value_and_grad(f, mode="tape")(2.0)


# ---------------------------------------------------------------- containers of classes of their own


class Backwards(list):
    def __iter__(self):
        return reversed(self)


class Prefixed(dict):
    def items(self):
        return [(f"p_{k}", v) for k, v in dict.items(self)]


def test_containers_are_cleaned_past_what_their_classes_do():
    held = Backwards([1.0, 2.0, 3.0])
    assert value_and_grad(lambda x, c: (c.append(x), x * c[3])[1], mode="tape")(5.0, held) == (25.0, 10.0)
    assert [list.__getitem__(held, i) for i in range(4)] == [1.0, 2.0, 3.0, 5.0] and type(held[3]) is float

    def store(x, d):
        d["b"] = x
        return x * d["b"]

    held = Prefixed(a=1.0)
    assert value_and_grad(store, mode="tape")(5.0, held) == (25.0, 10.0)
    assert dict(dict.items(held)) == {"a": 1.0, "b": 5.0} and type(held["b"]) is float


def test_what_a_function_keeps_as_its_own_attributes_is_plain_afterwards():
    def helper(x):
        helper.last = x * 2
        helper.cache["a"] = x * 3
        return x * x

    def f(x):
        f.history.append(x * 2)
        return helper(x)

    helper.cache, f.history = {}, []
    value_and_grad(f, mode="tape")(3.0)
    assert (helper.last, helper.cache, f.history) == (6.0, {"a": 9.0}, [6.0])
    assert {type(x) for x in (helper.last, helper.cache["a"], f.history[0])} == {float}


def test_only_integers_that_were_written_are_handed_back():
    d = np.array([2**60 + 1, 2])

    def f(d):
        d[1] = 5
        return d[1] * 1.0

    value_and_grad(f)(d)
    assert d.tolist() == [2**60 + 1, 5]
