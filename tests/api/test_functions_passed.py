"""Functions that are passed to a differentiated function, and those that it finds in lists outside."""

from types import SimpleNamespace

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.errors import CompileError

X = np.array([0.5, -1.5, 2.0])


def square(v):
    return v * v


def cube(v):
    return v**3


def applied(x, f):
    return np.sum(f(x))


LAYERS = [square, np.tanh]


def through_layers(x):
    for layer in LAYERS:
        x = layer(x)
    return np.sum(x)


def test_the_code_is_that_of_the_function_passed():
    derivative = grad(applied)
    for f, expected in ((square, 2 * X), (cube, 3 * X**2), (np.sin, np.cos(X)), (square, 2 * X)):
        np.testing.assert_allclose(derivative(X, f), expected)
        assert derivative.engine == "compiled"


def test_functions_made_anew_for_each_call_are_compiled_once():
    derivative = grad(applied)
    for _ in range(5):
        np.testing.assert_allclose(derivative(X, lambda v: v * 3.0), 3.0)
    assert derivative.engine == "compiled"
    assert len(derivative._transform.entries) == 1


def test_what_a_passed_function_closes_over_is_its_own():
    derivative = grad(applied)
    for k in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(derivative(X, lambda v, k=k: v * k), k)

    def scaled(k):
        return lambda v: v * k

    for k in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(derivative(X, scaled(k)), k)


def test_a_file_is_not_made_for_one_function(tmp_path):
    derivative = grad(applied)
    derivative(X, square)
    with pytest.raises(CompileError, match="it is not known which function it is"):
        derivative.export(tmp_path / "applied.py")


def test_lists_of_functions_stay_live(monkeypatch):
    derivative, taped = grad(through_layers), grad(through_layers, mode="tape")
    for layers in ([square, np.tanh], [square, np.cos], [square, np.cos, cube], (np.sin,), [np.sin], []):
        monkeypatch.setitem(globals(), "LAYERS", layers)
        np.testing.assert_allclose(derivative(X), taped(X))
        assert derivative.engine == ("compiled" if layers else "tape")
    layers = [square]
    monkeypatch.setitem(globals(), "LAYERS", layers)
    np.testing.assert_allclose(derivative(X), 2 * X)
    layers.append(cube)
    np.testing.assert_allclose(derivative(X), 6 * X**5)
    layers[1] = np.exp
    np.testing.assert_allclose(derivative(X), 2 * X * np.exp(X**2))


class Scaled:
    def __init__(self, weight):
        self.weight = weight

    def apply(self, v):
        return self.weight * v


FIRST, SECOND = Scaled(2.0), Scaled(3.0)


def by_two_objects(x):
    return np.sum(FIRST.apply(x)) + np.sum(SECOND.apply(x))


def test_the_attributes_of_two_objects_of_a_class_are_watched(monkeypatch):
    derivative = grad(by_two_objects)
    np.testing.assert_allclose(derivative(X), 5.0)
    monkeypatch.setattr(SECOND, "weight", np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(derivative(X), 2.0 + SECOND.weight)
    monkeypatch.setattr(FIRST, "weight", 7.0)
    np.testing.assert_allclose(derivative(X), 7.0 + SECOND.weight)


def test_functions_that_arguments_hold_are_told_apart():
    def held(layer, table, x):
        return np.sum(layer.act(x)) * table["f"](x[0])

    def double(v):
        return 2.0 * v

    def scaled(k):
        return lambda v: k * v

    derivative, x = grad(held, 2), np.array([0.5, -1.5, 2.0])
    for f in (np.sin, double, lambda v: v * v, lambda v: v**3, scaled(2.0), scaled(3.0), np.tanh, np.sin):
        arguments = SimpleNamespace(act=f), {"f": f}, x
        np.testing.assert_allclose(derivative(*arguments), grad(held, 2, mode="tape")(*arguments), rtol=1e-12)
        assert derivative.engine == ("tape" if getattr(f, "__closure__", None) else "compiled")
    double.__code__ = (lambda v: v**3).__code__
    arguments = SimpleNamespace(act=double), {"f": double}, x
    np.testing.assert_allclose(derivative(*arguments), grad(held, 2, mode="tape")(*arguments), rtol=1e-12)


def test_a_file_is_not_made_for_functions_that_arguments_hold(tmp_path):
    derivative = grad(lambda table, x: np.sum(table["f"](x)), 1)
    derivative({"f": np.sin}, np.ones(3))
    assert derivative.engine == "compiled"
    with pytest.raises(CompileError, match="it is not known which function it is"):
        derivative.export(tmp_path / "derivative.py")
