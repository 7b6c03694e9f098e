"""Compiled gradients are right or refused, whatever the function does to the world around it."""

import functools
import operator
import warnings

import numpy as np
import pytest

import s2sgrad
from s2sgrad.errors import CompileError
from s2sgrad.transform.frontend import effects

V = np.array([0.3, -1.2, 0.8])


class Settings:
    """What functions below read; made anew for each test."""

    k = 2.0

    def __init__(self):
        self.w = np.array([1.0, 2.0, 3.0])
        self.flag = True


K, FLAG, W, N, PLACES, POWER, FACTORS = 2.0, True, np.array([1.0, 2.0, 3.0]), 2, [0, 1, 2], 2, [2.0, 3.0]
SETTINGS = Settings()


def scaled_by_global(x):
    return x * K


def in_helper(x):
    return scaled_by_global(x) + 1.0


def chosen_by_global(x):
    return x * 2 if FLAG else x * 7


def global_array(x):
    return x * W


def class_attribute(x):
    return x * Settings.k


def attribute_of_object(x):
    return x * SETTINGS.w if SETTINGS.flag else x


def counted(x):
    for _ in range(N):
        x = x * x
    return x


def places(x):
    return x[PLACES]


def exponent(x):
    return x**POWER


def factors(x):
    for w in FACTORS:
        x = x * w
    return x


@pytest.fixture
def world(monkeypatch):
    """Globals as they are above; the test may change them."""
    names = globals()
    fresh = {"W": W.copy(), "PLACES": [0, 1, 2], "FACTORS": [2.0, 3.0], "SETTINGS": Settings()}
    for name, value in fresh.items():
        monkeypatch.setitem(names, name, value)
    for name in ("K", "FLAG", "N", "POWER"):
        monkeypatch.setitem(names, name, names[name])
    monkeypatch.setattr(Settings, "k", 2.0)
    return names


@pytest.mark.parametrize(
    "f",
    [scaled_by_global, in_helper, chosen_by_global, global_array, class_attribute]
    + [attribute_of_object, counted, places, exponent, factors],
)
def test_a_pullback_belongs_to_its_forward_pass(f, world):
    cotangent = np.array([1.0, 2.0, 3.0])
    _, pull = s2sgrad.vjp(f, V)
    (expected,) = pull(cotangent)
    world.update(K=5.0, FLAG=False, N=1, POWER=3)
    world["W"][:], world["PLACES"][:], world["FACTORS"][0] = 7.0, [2, 1, 0], 11.0
    world["SETTINGS"].w[:], world["SETTINGS"].flag, Settings.k = 9.0, False, 9.0
    np.testing.assert_array_equal(pull(cotangent)[0], expected)


def test_a_pullback_and_a_closure_cell():
    c = 2.0

    def f(x):
        return x * c

    _, pull = s2sgrad.vjp(f, V)
    c = 9.0
    np.testing.assert_array_equal(pull(np.ones(3))[0], [2.0, 2.0, 2.0])


def changes_what_it_read(x):
    y = np.sum(x * Settings.k)
    Settings.k = 7.0
    return y


def test_a_function_that_changes_a_class(world):
    with pytest.raises(CompileError, match="is changed by the function"):
        s2sgrad.grad(changes_what_it_read, mode="compiled")(V)
    np.testing.assert_array_equal(s2sgrad.grad(changes_what_it_read)(V), [2.0, 2.0, 2.0])


class Counts:
    def __init__(self):
        self.calls, self.step = 0, 0.5

    def energy(self, x):
        self.calls += 1
        return np.sum(x * x) * self.step


def test_a_method_that_counts_its_calls():
    counts = Counts()
    np.testing.assert_array_equal(s2sgrad.grad(counts.energy, mode="compiled")(V), V)
    assert counts.calls == 1


WRITES = {
    "ufunc": lambda b: np.add(b, 1, b),
    "unary": lambda b: np.sin(b, b),
    "clip": lambda b: np.clip(b, 0, 1, b),
    "matmul": lambda b: np.matmul(np.ones((3, 3)), b.copy(), b),
    "dot": lambda b: np.dot(np.ones((3, 3)), b.copy(), b),
    "reduction": lambda b: np.max(np.ones((2, 3)), 0, b),
    "mean": lambda b: np.mean(np.ones((2, 3)), 0, None, b),
    "method": lambda b: np.ones((2, 3)).max(0, b),
    "cumsum": lambda b: b.cumsum(0, None, b),
    "round": lambda b: np.round(b / 3, 1, b),
    "reduce": lambda b: np.add.reduce(np.ones((2, 3)), 0, None, b),
    "random": lambda b: np.random.default_rng(0).standard_normal(3, np.float64, b),
    "tuple": lambda b: np.multiply(b, 2, out=(b,)),
    "setitem": lambda b: operator.setitem(b, 0, 5.0),
    "iadd": lambda b: operator.iadd(b, 1),
    "dunder": lambda b: b.__setitem__(0, 5.0),
    "no_copy": lambda b: operator.imul(np.array(b, copy=None), 3),
    "put_along_axis": lambda b: np.put_along_axis(b, np.array([0]), 5.0, 0),
    "shuffle": lambda b: np.random.default_rng(0).shuffle(b),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_are_seen(name):
    write = WRITES[name]

    def f(x):
        b = np.array([1.0, 2.0, 3.0])
        y = x * b
        write(b)
        return np.sum(y)

    with pytest.raises(CompileError):
        s2sgrad.grad(f, mode="compiled")(V)


def written_in_the_function(x):
    b = np.array([1.0, 2.0, 3.0])
    y = x * b
    np.add(b, 1, b)
    return np.sum(y)


def written_through_a_name(x):
    b = np.array([1.0, 2.0, 3.0])
    y = x * b
    c = np.array(b, copy=None)
    c *= 3
    return np.sum(y)


@pytest.mark.parametrize("f", [written_in_the_function, written_through_a_name])
def test_writes_in_the_function_itself_are_seen(f):
    assert np.array_equal(s2sgrad.grad(f)(V), [1.0, 2.0, 3.0])


def test_where_functions_take_out():
    assert [effects.out_position(f) for f in (np.sin, np.add, np.dot, np.max, np.mean)] == [1, 2, 2, 2, 3]
    assert effects.out_position(np.sort) is None


class Square:
    """Indexing it, and comparing with it, squares."""

    def __getitem__(self, t):
        return t * t

    def __eq__(self, t):
        return t * t

    __hash__ = None
    __gt__ = __eq__


class Missing(dict):
    def __missing__(self, key):
        return key * key


SQUARE, MISSING = Square(), Missing()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: SQUARE[x],
        lambda x: MISSING[x],
        lambda x: SQUARE == x,  # noqa: SIM300
        lambda x: x < SQUARE,
        lambda x: slice(x, 1).start * x,
        lambda x: np.s_[x:1].start * x,
        lambda x: np.sum(np.r_[x, x] ** 2),
        lambda x: np.sum(np.c_[x, x] ** 2),
        lambda x: np.sum(np.mgrid[0:x:3j]),
    ],
)
def test_what_objects_do_with_a_value_is_not_taken_for_plain_data(f):
    with pytest.raises(CompileError):
        s2sgrad.grad(f, mode="compiled")(0.7)


def test_plain_data_are_compiled():
    def f(x):
        table = {"low": 1.0}
        y = x * 2 if x > table["low"] else x * 3
        return y if x in [1.0, 2.0] or x == 4.0 else y * 2

    assert s2sgrad.grad(f, mode="compiled")(0.7) == 6.0


class Asked:
    def __bool__(self):
        return True


ASKED = Asked()


def test_the_truth_of_an_object_is_asked_once():
    with pytest.raises(CompileError, match="the truth of ASKED"):
        s2sgrad.grad(lambda x: x if ASKED else 0.0, mode="compiled")(1.0)


# ------------------------------------------------------------------------------ functions that change


def helper(x, k=2.0, *, j=1.0):
    return x * k * j


class Doubling:
    def __call__(self, x):
        return x * 2

    def method(self, x):
        return x * 2


DOUBLING = Doubling()


def calls_helper(x):
    return helper(x)


def calls_instance(x):
    return DOUBLING(x)


def calls_method(x):
    return DOUBLING.method(x)


def with_default(x, k=2.0):
    return x * k


def sine(x):
    return np.sin(x)


def other(x, k=2.0, *, j=1.0):
    return x * k * j * 2.5


@pytest.mark.parametrize(
    "f, owner, name, value",
    [
        (calls_helper, helper, "__defaults__", (5.0,)),
        (calls_helper, helper, "__kwdefaults__", {"j": 2.5}),
        (calls_helper, helper, "__code__", other.__code__),
        (calls_instance, Doubling, "__call__", lambda self, x: x * 5),
        (calls_method, Doubling, "method", lambda self, x: x * 5),
        (with_default, with_default, "__defaults__", (5.0,)),
    ],
)
def test_code_that_changes_is_compiled_again(f, owner, name, value, monkeypatch):
    derivative = s2sgrad.grad(f, mode="compiled")
    assert derivative(3.0) == 2.0
    monkeypatch.setattr(owner, name, value)
    assert derivative(3.0) == 5.0


def test_the_code_of_the_function_itself(monkeypatch):
    derivative = s2sgrad.grad(with_default)
    assert derivative(3.0) == 2.0
    monkeypatch.setattr(with_default, "__code__", (lambda x, k=2.0: x * k * 4).__code__)
    assert derivative(3.0) == 8.0


def test_a_function_of_numpy_that_is_replaced(monkeypatch):
    derivative = s2sgrad.grad(sine)
    assert derivative(0.0) == 1.0
    monkeypatch.setattr(np, "sin", lambda x: x * 3.0)
    assert derivative(0.0) == 3.0


# ----------------------------------------------------------------------------------- unusual operands


@pytest.mark.parametrize("index", [None, ..., (), (None, ...)])
def test_an_array_of_dimension_0_is_indexed(index):
    gradient = s2sgrad.grad(lambda x: np.sum(x[index] * 2.0), mode="compiled")(np.array(1.5))
    assert isinstance(gradient, np.ndarray) and gradient.shape == () and gradient == 2.0


class Heavy(float):
    def __mul__(self, t):
        return t * t * float(self)

    __rmul__ = __mul__


class Answers:
    def __getattr__(self, name):
        return lambda *args: 1.0


HEAVY, ANSWERS = Heavy(3.0), Answers()
MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])
HELD = {"masked": MASKED}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(HEAVY * x),
        lambda x: np.sum(Heavy(3.0) * x),
        lambda x: np.sum(x * MASKED),
        lambda x: np.sum(x * HELD["masked"]),
        lambda x: np.sum(x * (MASKED + 1.0)[:3].T),
        lambda x: np.sum(x * np.abs(MASKED.copy())),
        lambda x: x[0] * float(f"{x[0]}"),
        lambda x: np.sum(x ** [1, 2, 3]),
        lambda x: np.sum(np.multiply(x, MASKED)),
        lambda x: np.sum(x * np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])),
        lambda x: np.sum(x[:, None] * np.asmatrix(np.ones((1, 3)))),
        lambda x: np.sum(x) * ANSWERS.anything(),
        lambda x: np.sum(np.select([x > 0, x <= 0], [1, x])),
    ],
)
def test_operands_that_are_not_arrays_are_refused(f):
    with pytest.raises(CompileError):
        s2sgrad.grad(f, mode="compiled")(V)


def test_defaults_of_a_helper_that_are_containers():
    def weighted(x, options={"k": 2.0}, w=np.array([1.0, 2.0, 3.0])):  # noqa: B006, B008
        return x * options["k"] * w

    gradient = s2sgrad.grad(lambda x: np.sum(weighted(x)), mode="compiled")(V)
    np.testing.assert_array_equal(gradient, [2.0, 4.0, 6.0])


def endless(a, k=0.5):
    while True:
        if a > 0:
            return k
        a = a + 1


def called_as_it_is_and_as_a_generated_function(x, y):
    k = endless(a=x)
    endless(x, np.sum(y))
    return np.sum(y * y) * k


def test_a_generated_function_does_not_take_the_name_of_the_users():
    gradient = s2sgrad.grad(called_as_it_is_and_as_a_generated_function, 1, mode="compiled")(0.3, V)
    np.testing.assert_array_equal(gradient, V)


def does_nothing(a):
    a = a
    b = a  # noqa: F841


def calls_what_does_nothing(x):
    y = x * 1.0
    while y[0] < 1:
        y = y + x
        does_nothing(np.sum(y))
    does_nothing(a=np.prod(y))
    return np.sum(y * y)


def test_a_function_that_does_nothing_is_written_down():
    gradient = s2sgrad.grad(calls_what_does_nothing, mode="compiled")(np.array([0.4, 1.0]))
    np.testing.assert_allclose(gradient, 2 * 9 * np.array([0.4, 1.0]))


# ------------------------------------------------------------- functions that write out of their source's sight


def adds_at_places(a):
    np.add.at(a, [1, 0], np.min(a))
    return 0.5


def calls_what_adds_at_places(x):
    return adds_at_places(x) * np.sum(x * x)


def test_a_function_that_runs_on_the_tape_alone_changes_nothing():
    def differentiated(mode):
        return s2sgrad.grad(calls_what_adds_at_places, mode=mode)(V.copy())

    np.testing.assert_array_equal(differentiated("auto"), differentiated("tape"))


@pytest.mark.parametrize("name", ["fill", "__setitem__", "__imul__", "sort"])
def test_bound_methods_that_write_are_seen(name):
    b = np.array([1.0, 3.0, 2.0])
    write = getattr(b, name)

    def f(x):
        y = x * b
        write(*{"fill": (2.0,), "__setitem__": (0, 2.0), "__imul__": (2.0,), "sort": ()}[name])
        return np.sum(y)

    with pytest.raises(CompileError, match="changes what it is a method of|cannot be seen"):
        s2sgrad.grad(f, mode="compiled")(V)


@functools.lru_cache
def remembered(n):
    return n * 2.0


def asks_what_is_remembered(x):
    return np.sum(x * remembered(3))


def test_a_call_that_cannot_be_seen_is_told_by_its_name():
    with pytest.raises(CompileError, match="what remembered does cannot be seen"):
        s2sgrad.grad(asks_what_is_remembered, mode="compiled")(V)
    np.testing.assert_array_equal(s2sgrad.grad(asks_what_is_remembered)(V), [6.0, 6.0, 6.0])


def test_a_function_that_reads_a_name_that_is_lost_is_refused():
    def f(x, a):
        p = a
        s, u = p
        w = x

        def g(a):
            return np.sum(x) * a

        while a[0] > 7.0:
            w += u
            x = x[:2]
        return g(s)

    x = np.array([1.0, 2.0])
    with pytest.raises(CompileError):
        s2sgrad.grad(f, argnums=1, mode="compiled")(x, [0.5, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = s2sgrad.grad(f, argnums=1)(x, [0.5, 1.0])
    np.testing.assert_array_equal(found, [3.0, 0.0])


def array_of_the_outside():
    return W


def given_back(x):
    y = np.sum(x * W)
    u = array_of_the_outside()
    u[0] = 5.0
    return y


def given_back_in_a_list(x):
    y = np.sum(x * W)
    u = [array_of_the_outside() for _ in range(2)]
    u[0][0] = 5.0
    return y


def given_back_on_one_way(x):
    y = np.sum(x * W)
    u = array_of_the_outside() if x[0] < 1 else None
    u[0] = 5.0
    return y


def given_back_unnamed(x):
    y = np.sum(x * W)
    array_of_the_outside()[0] = 5.0
    return y


def given_back_reshaped(x):
    y = np.sum(x * W)
    u = array_of_the_outside().reshape(3, 1)
    u[0] = 5.0
    return y


def given_back_and_copied_into(x):
    y = np.sum(x * W)
    np.copyto(array_of_the_outside(), 5.0)
    return y


def given_back_as_out(x):
    y = np.sum(x * W)
    np.add(1.0, 4.0, out=array_of_the_outside()[:1])
    return y


@pytest.mark.parametrize(
    "f",
    [given_back, given_back_in_a_list, given_back_on_one_way, given_back_unnamed, given_back_reshaped]
    + [given_back_and_copied_into, given_back_as_out],
)
def test_a_call_may_give_an_array_of_the_outside(f):
    before = W.copy()
    try:
        derivative = s2sgrad.grad(f)
        assert derivative(V.copy()) == pytest.approx(before)
        assert derivative.engine == "tape"
    finally:
        W[:] = before


def an_element_that_is_not_there(x, k):
    v = k[-1]  # noqa: F841
    return np.sum(x * x)


def a_quotient_by_nothing(x, k):
    if x[0] > 0:
        v = 1 / len(k)  # noqa: F841
    return np.sum(x * x)


def a_key_that_is_not_there(x, k):
    names = {"a": 1.0}
    v = names["b"]  # noqa: F841
    return np.sum(x * x)


@pytest.mark.parametrize("f", [an_element_that_is_not_there, a_quotient_by_nothing, a_key_that_is_not_there])
def test_what_nobody_reads_raises_all_the_same(f):
    with pytest.raises((IndexError, ZeroDivisionError, KeyError)) as plain:
        f(V.copy(), np.zeros(0))
    with pytest.raises(plain.type):
        s2sgrad.value_and_grad(f, mode="compiled")(V.copy(), np.zeros(0))


def squared(x):
    return x * x


def squared_of_any_dimension(x):
    return np.sum(squared(np.squeeze(x)))


def test_a_helper_takes_an_array_of_any_dimension():
    assert "squared_forward(x)" in s2sgrad.grad(lambda x: np.sum(squared(x))).source
    derivative = s2sgrad.grad(squared_of_any_dimension, mode="compiled")
    assert derivative(np.ones((1, 3))) == pytest.approx(np.full((1, 3), 2.0))


def shifted(x):
    return np.sum(np.roll(x, -1) ** 2 * W)


def test_a_negative_number_is_negated_in_the_text():
    derivative = s2sgrad.grad(shifted)
    derivative(V.copy())
    assert "--" not in derivative.source and ", 1" in derivative.source


def some_of_a_longer_list(x, k):
    items = [np.where(k > 1.6, k, 2 * k) for _ in range(2)]
    items.extend([1.9, k])
    for item in items[:2]:
        np.add.at(x, [1, 0], item)
    return np.sum(x)


def test_what_was_put_at_the_end_of_a_list_may_have_no_cotangent():
    gradient = s2sgrad.grad(some_of_a_longer_list, (0, 1), mode="compiled")
    dx, dk = gradient(np.array([-0.5, 0.7, 1.8]), 1.5)
    np.testing.assert_array_equal(dx, [1, 1, 1])
    assert dk == 8.0


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_a_sort_in_place_gives_no_array(mode):
    def f(x):
        y = x * 1.0
        y = y.sort()
        return np.sum(y * x)

    with pytest.raises(TypeError, match="NoneType"):
        s2sgrad.grad(f, mode=mode)(np.array([1.3, 0.7, 2.1]))
