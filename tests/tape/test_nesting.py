"""Derivatives of derivatives on the tape."""

import numpy as np
import pytest

import s2sgrad
from s2sgrad.runtime.fallback import is_recording, stop_gradient, tape_vjp
from tests.tape.numeric import grad


def test_repeated_derivatives_of_a_loop():
    def f(x):
        for _ in range(4):
            x = x * x
        return x

    g = f
    expected = 16.0
    power = 16
    for _ in range(3):
        g = grad(g)
        power -= 1
        assert g(0.95) == pytest.approx(expected * 0.95**power)
        expected *= power


def test_perturbations_are_not_confused():
    # d/dx [ x * d/dy (x + y) ] = 1, not 2
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(2.0) == 1.0
    # d/dx [ x * d/dy (x * y * y) ] at y=3: d/dx 6 x^2 = 12 x
    assert grad(lambda x: x * grad(lambda y: x * y * y)(3.0))(2.0) == pytest.approx(24.0)


def test_inner_gradient_at_an_outer_value():
    # d/dx (d/dy y^3 at y = x^2) = d/dx 3 x^4
    assert grad(lambda x: grad(lambda y: y**3)(x * x))(1.5) == pytest.approx(12 * 1.5**3)


def test_hessian_of_an_array_function():
    x = np.array([0.3, -0.4, 1.1])

    def f(x):
        y = np.zeros(3)
        y[1:] = x[:-1] * x[1:]
        return np.sum(np.sin(y) * x)

    _, pullback = tape_vjp(grad(f), (x,), {}, [0])
    hessian = np.array([pullback(e)[0] for e in np.eye(3)])
    steps = [(grad(f)(x + 1e-6 * e) - grad(f)(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(hessian, steps, atol=1e-8)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-14)


def test_an_unused_inner_argument_is_zero():
    def f(x):
        return np.sum(grad(lambda y: np.sum(x))(x) + x)

    np.testing.assert_array_equal(grad(f)(np.ones(2)), [1.0, 1.0])


def test_inner_gradient_with_saved_results():
    def f(x):
        return np.sum(grad(lambda y: np.sum(np.exp(y) / (1 + y * y)))(x) ** 2)

    x = np.array([0.2, -0.7])
    step = 1e-6
    for i in range(2):
        e = np.eye(2)[i] * step
        assert grad(f)(x)[i] == pytest.approx((f(x + e) - f(x - e)) / (2 * step), rel=1e-6)


INNER = [
    lambda t: np.square(t - 1.0),
    lambda t: (t - 1.0) ** 2,
    lambda t: np.float32(2) * t,
    lambda t: np.real(1j * t * t),
    lambda t: 1.0,
]


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize(
    "x",
    [1.0, 2, 1 + 1j, np.float64(1), np.float32(1), np.complex128(1j), np.array(1.0), np.array(1, np.float32)],
    ids=repr,
)
def test_an_inner_gradient_is_of_the_class_that_it_has_in_a_plain_call(inner, x):
    found = []

    def f(x):
        of_number = s2sgrad.grad(lambda t: np.real(inner(t)))(x)
        of_item = s2sgrad.grad(lambda p: np.real(inner(p["a"][0])))({"a": (x, 3), "b": 1.0})
        found.append((type(of_number), type(of_item["a"][0]), type(of_item["b"]), np.asarray(of_number).dtype))
        return np.real(of_number)

    f(x)
    s2sgrad.grad(f)(x)
    s2sgrad.grad(f, mode="tape")(x)
    assert len(found) > 2
    assert set(found) == {found[0]}


def test_an_inner_gradient_of_zero_divides_as_python_does():
    def f(x):
        d = s2sgrad.grad(lambda t: np.square(t - 1.0))(x)
        try:
            return 1.0 / d
        except ZeroDivisionError:
            return x * 3

    assert f(1.0) == 3.0
    assert s2sgrad.value_and_grad(f)(1.0) == (3.0, 3.0)


def test_stop_gradient():
    x = np.array([1.0, 2.0])
    assert stop_gradient(x) is x
    np.testing.assert_array_equal(grad(lambda x: np.sum(stop_gradient(x) * x))(x), x)
    np.testing.assert_array_equal(grad(lambda x: np.sum(stop_gradient({"a": x * 1.0})["a"] * x))(x), x)
    assert not is_recording()
