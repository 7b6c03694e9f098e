"""Derivatives of methods: `self` is not differentiated unless that is asked for."""

import dataclasses

import numpy as np
import pytest

import s2sgrad
from s2sgrad import grad, value_and_grad


class Model:
    """A model with a gradient for each way of writing a method."""

    def __init__(self, k=2.0):
        self.k = k

    def plain(self, w):
        return w * w * self.k

    @grad
    def loss(self, w):
        """The loss."""
        return w * w * self.k

    @grad(argnums=(0, 1))
    def both(self, v, w):
        return v * w * self.k

    @grad(argnums="w")
    def named(self, v, w):
        return v * w * w

    @grad(argnums=-1)
    def last(self, v, w):
        return v * w * w

    @staticmethod
    @grad
    def static(w):
        return w * w

    @classmethod
    @grad
    def of_class(cls, w):
        return w * w * cls.factor

    factor = 3.0


@dataclasses.dataclass
class Quadratic:
    a: float

    @value_and_grad(argnums="self")
    def at(self, x):
        return self.a * x * x


def test_bound():
    assert Model().loss(3.0) == 12.0
    assert Model(5.0).loss(w=3.0) == 30.0


def test_through_the_class():
    assert Model.loss(Model(), 3.0) == 12.0


def test_state_is_read_at_call_time():
    model = Model()
    assert model.loss(3.0) == 12.0
    model.k = 1.0
    assert model.loss(3.0) == 6.0


def test_argnums_count_from_the_first_argument_after_self():
    assert Model().both(3.0, 4.0) == (8.0, 6.0)
    assert Model().named(3.0, 4.0) == 24.0
    assert Model().last(3.0, 4.0) == 24.0


def test_static_and_class_methods():
    assert Model.static(3.0) == Model().static(3.0) == 6.0
    assert Model.of_class(2.0) == Model().of_class(2.0) == 12.0


def test_gradient_of_a_bound_method():
    g = grad(Model(5.0).plain)
    assert g(3.0) == 30.0
    assert g.primal(3.0) == 45.0
    assert grad(Model(5.0).plain, "w")(3.0) == 30.0


def test_self_can_be_asked_for():
    value, gradient = Quadratic(2.0).at(3.0)
    assert value == 18.0
    assert type(gradient) is Quadratic and gradient.a == 9.0


def test_a_function_taken_from_its_class_starts_at_self():
    with pytest.raises(s2sgrad.ArgumentError, match="argument 'self' of plain is a Model"):
        grad(Model.plain)(Model(), 3.0)
    assert grad(Model.plain, 1)(Model(), 3.0) == 12.0


def test_out_of_range_does_not_reach_self():
    class Wrong:
        @grad(argnums=1)
        def loss(self, w):
            return w

    with pytest.raises(s2sgrad.ArgumentError, match=r"out of range: loss takes 1 positional argument after self"):
        Wrong().loss(1.0)
    with pytest.raises(s2sgrad.ArgumentError, match=r"out of range: plain takes 1 positional argument after self"):
        grad(Model().plain, 1)


def test_as_class_attribute_a_derivative_is_a_method_and_itself_still_a_function():
    def f(self, w=1.0):
        return w * w * getattr(self, "k", 1.0)

    derivative = grad(f, 1)

    class Holder:
        k = 2.0
        loss = derivative

    assert derivative(Model(), 3.0) == 12.0
    with pytest.raises(s2sgrad.ArgumentError):
        Holder().loss(3.0)  # position 1 after self: there is none
    with pytest.raises(s2sgrad.ArgumentError, match="takes 1 positional argument after self .*; they are w$"):
        Holder().loss(3.0)


def test_bound_face():
    model = Model()
    assert model.loss.primal(3.0) == 18.0
    assert model.loss.__name__ == "loss" and model.loss.__doc__.endswith("\n\nThe loss.")
    assert "bound to" in repr(model.loss)
    assert str(model.loss.__signature__) == "(w)"
    model.loss(3.0)
    assert model.loss.engine == Model.loss.engine is not None
    assert model.loss.check(2.0).entries == 1


def test_arrays():
    np.testing.assert_array_equal(grad(lambda m, w: np.sum(m.plain(w)), 1)(Model(), np.array([1.0, 2.0])), [4.0, 8.0])


class Square:
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side**2


def twice_the_area(side):
    return 2 * Square(side).area


def test_a_property_that_is_replaced_is_seen(monkeypatch):
    slope = grad(twice_the_area)
    assert slope(3.0) == 12.0 and slope.engine == "compiled"
    monkeypatch.setattr(Square, "area", property(lambda self: self.side**3))
    assert slope(3.0) == 54.0
