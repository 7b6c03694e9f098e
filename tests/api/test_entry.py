"""The short way of a call that is like the last one: taken by those calls only."""

import copy
import gc
import math
import weakref

import numpy as np
import pytest

import s2sgrad
from s2sgrad.api.trees import kinds, likeness
from s2sgrad.transform.frontend.guards import Guard, passing

VALUES = [
    1.0, 2, True, None, "text", 1j, np.float64(1), np.float32(1), np.bool_(True), np.int64(3),
    np.ones(()), np.ones(0), np.ones(1), np.ones(3), np.ones(4), np.ones((2, 1)), np.ones((1, 2)), np.ones((2, 3)),
    np.ones((0, 3)), np.ones((2, 3), np.float32), np.ones(3, int), np.ones(3, bool), np.ones(3, ">f8"),
    np.ones((2, 3, 1)), np.asfortranarray(np.ones((2, 3))), np.ones((4, 6))[::2, ::2],
    np.ones((9, 4)), np.matrix([[1.0, 2.0]]),
    [1.0] * 6, [1.0] * 40, [1.0] * 40 + [1], (1.0,) * 40, [np.float64(1.0)] * 40, [2] * 6,
    [], [1.0], [1.0, 2.0], (1.0,), (1.0, 2.0), [np.ones(3)], [np.ones(1)], [(np.ones((2, 3)), np.ones(3))],
    [[np.ones((2, 3)), np.ones(3)]], {"a": 1.0}, {"a": 1.0, "b": 2.0}, {"b": 1.0, "a": 2.0}, {"a": np.ones(2)},
    {1: 1.0}, {"a{}": 1.0},
]  # fmt: skip


def gate(values: tuple):
    """Whether other values are like these, by the expression for these."""
    alike = likeness(values, "args")
    if alike is None:
        return None
    names = [f"args_{i}" for i in range(len(values))]
    return passing(lambda *args: True, [Guard(*alike)], names, lambda *args, **kwargs: False, print)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_likeness_is_equality_of_kinds():
    compared = 0
    for a in VALUES:
        like = gate((a,))
        for b in VALUES if like else ():
            assert like(b) is (kinds((a,)) == kinds((b,))), (a, b)
            compared += 1
    assert compared > 1000


def test_likeness_of_several_values():
    like = gate((1.0, np.ones(4)))
    assert like(2.0, np.ones(7))
    assert not like(2.0, np.ones(1)) and not like(2.0, np.ones(3)) and not like(2.0, np.ones(8))
    assert not like(2.0)
    assert not like()
    assert not like(2.0, np.ones(4), 1.0)
    assert not like(2.0, args_1=np.ones(4))


def test_lists_of_numbers_of_one_class_are_asked_as_one():
    like = gate(([1.0] * 10_000,))
    assert like([2.0] * 33) and not like([2.0] * 32)
    assert not like([2.0] * 33 + [2]) and not like([np.float64(2.0)] * 33) and not like((2.0,) * 33)
    like = gate(((1.0,) * 6,))
    assert like((2.0,) * 6) and not like((2.0,) * 7) and not like((2.0, 1, 2.0, 2.0, 2.0, 2.0))


def test_many_values_have_no_expression():
    assert likeness(([1.0, np.ones(2)] * 10_000,), "args") is None
    assert likeness(([[np.ones(2)] * 15] * 15,), "args") is None


def f(x, k=3.0):
    return k * x * x


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_other_calls_after_a_usual_one(mode):
    g = s2sgrad.grad(f, mode=mode)
    assert g(1.0) == 6.0
    assert g(1.0) == 6.0
    assert g(1.0, 2.0) == 4.0
    assert g(1.0, k=1.0) == 2.0
    assert g(x=1.0) == 6.0
    assert g(1.0) == 6.0
    np.testing.assert_array_equal(s2sgrad.elementwise_grad(f)(np.ones(2)), [6.0, 6.0])
    with pytest.raises(TypeError, match=r"f\(\) missing a required argument: 'x'"):
        g()
    with pytest.raises(TypeError, match=r"f\(\) too many positional arguments"):
        g(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match=r"f\(\) got an unexpected keyword argument 'z'"):
        g(1.0, z=2.0)


def test_defaults_that_come_later():
    def h(x, k):
        return k * x

    g = s2sgrad.grad(h)
    assert g(1.0, 2.0) == 2.0
    h.__defaults__ = (5.0,)
    assert g(1.0) == 5.0
    assert g(1.0, 2.0) == 2.0


def test_source_is_that_of_the_last_call():
    g = s2sgrad.grad(lambda x: np.sum(2.0 * x))
    g(np.ones(2))
    array = g.source
    g(1.0)
    number = g.source
    assert array != number
    g(np.ones(2))
    assert g.source == array
    g(1.0)
    g.check(np.ones(2))
    g(1.0)
    assert g.source == number


def test_the_call_itself_can_be_kept():
    call = s2sgrad.grad(f).__call__
    gc.collect()
    assert [call(1.0), call(1.0), call(1.0, k=1.0)] == [6.0, 6.0, 2.0]


def test_a_derivative_is_freed():
    g = s2sgrad.grad(f)
    g(1.0)
    freed = weakref.ref(g)
    del g
    gc.collect()
    assert freed() is None


def test_copies_are_called_as_the_original():
    g = s2sgrad.grad(lambda x: x * x)
    g(1.0)
    for twin in (copy.copy(g), copy.deepcopy(g)):
        assert twin(3.0) == 6.0


def test_method_and_function_do_not_take_each_others_way():
    class Model:
        k = 2.0

        @s2sgrad.grad
        def loss(self, x):
            return self.k * x * x

    model = Model()
    assert model.loss(1.0) == 4.0
    assert model.loss(1.0) == 4.0
    assert Model.loss(model, 1.0) == 4.0
    assert model.loss(np.float64(2.0)) == 8.0


def test_keys_that_are_equal_and_of_another_class():
    f = s2sgrad.value_and_grad(lambda d: sum(v * len(str(k)) for k, v in d.items()))
    assert f({1: 0.5}) == (0.5, {1: 1.0})
    for key, slope in ((True, 4.0), (1.0, 3.0), (np.int64(1), 1.0)):
        value, gradient = f({key: 0.5})
        assert value == slope / 2 and list(map(str, gradient)) == [str(key)] and gradient[key] == slope


def test_defaults_that_change_before_the_first_call():
    def f(x, k=1):
        return x * k * (2 if isinstance(k, float) else 3)

    for mode in ("auto", "tape"):
        f.__defaults__ = (1,)
        derivative = s2sgrad.value_and_grad(f, mode=mode)
        f.__defaults__ = (2.0,)
        assert derivative(0.5) == (2.0, 4.0) == derivative(0.5)


def test_derivatives_of_derivatives_of_functions_of_libraries():
    assert s2sgrad.grad(s2sgrad.grad(math.sin))(0.5) == pytest.approx(-math.sin(0.5))
    twice = s2sgrad.elementwise_grad(s2sgrad.elementwise_grad(np.tanh))
    assert np.allclose(twice(np.array([0.5, 1.0])), [-2 * math.tanh(v) / math.cosh(v) ** 2 for v in (0.5, 1.0)])
    assert np.allclose(s2sgrad.hessian(np.linalg.norm)(np.array([3.0, 4.0])), np.array([[16, -12], [-12, 9]]) / 125)
