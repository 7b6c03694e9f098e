"""Derivatives of derivatives where powers vanish, and through the short cuts of the tape."""

import builtins
import math
import operator

import numpy as np
import pytest

import s2sgrad
from tests.tape.numeric import grad

POWERS = {
    "operator": operator.pow,
    "numpy": np.power,
    "builtins": builtins.pow,
    "float_power": np.float_power,
    "math": math.pow,
}
KINDS = {"int": int, "float": float, "int64": np.int64, "float64": np.float64, "array": lambda n: np.array([n, n])}


def derivative(f, order):
    for _ in range(order):
        f = grad(f)
    return f


def test_gaussian_at_its_top():
    f = lambda x: np.exp(-(x**2))  # noqa: E731
    assert [derivative(f, order)(0.0) for order in range(5)] == [1.0, 0.0, -2.0, 0.0, 12.0]


CASES = [(power, kind) for power in POWERS for kind in KINDS if (power, kind) != ("math", "array")]


@pytest.mark.parametrize(("power", "kind"), CASES)
@pytest.mark.parametrize("n", range(5))
def test_power_at_zero(power, kind, n):
    exponent = KINDS[kind](n)

    def f(x):
        y = POWERS[power](x, exponent)
        return y[0] if kind == "array" else y

    for order in range(1, 6):
        expected = math.factorial(n) if order == n else 0.0
        assert derivative(f, order)(0.0) == expected


@pytest.mark.parametrize("order", range(1, 5))
def test_square_at_zero(order):
    assert derivative(np.square, order)(0.0) == (2.0 if order == 2 else 0.0)


def test_mixed_derivative_of_a_power_with_exponent_zero():
    # d/dy d/dx x**y = x**(y - 1) * (1 + y * log(x))
    mixed = grad(lambda y, x: grad(lambda x, y: x**y)(x, y))
    np.testing.assert_allclose([mixed(0.0, 2.0), mixed(0, 4.0)], [0.5, 0.25])


GUARDED = {
    "sqrt": (np.sqrt, lambda x: -0.25 * x**-1.5),
    "power": (lambda x: x**0.5, lambda x: -0.25 * x**-1.5),
    "log": (np.log, lambda x: -(x**-2.0)),
    "reciprocal": (lambda x: 1 / x, lambda x: 2 * x**-3.0),
}


@pytest.mark.parametrize("function, second", GUARDED.values(), ids=GUARDED)
def test_second_derivative_is_zero_where_the_singular_branch_is_not_taken(function, second):
    x = np.array([0.3, -1.2, 0.8, 0.0])
    slope = grad(lambda x: np.sum(np.where(x > 0, function(x), 0.0)))
    with np.errstate(all="ignore"):
        found = grad(lambda x: np.sum(slope(x)))(x)
        np.testing.assert_allclose(found, [second(0.3), 0.0, second(0.8), 0.0])


def test_second_derivative_through_a_sum():
    x = np.array([0.5, -1.0, 2.0])
    slope = grad(lambda x: np.sum(x) ** 3)
    np.testing.assert_allclose(grad(lambda x: np.sum(slope(x) * x))(x), 9 * np.sum(x) ** 2)


def test_sum_with_a_start():
    x = np.array([0.5, -1.0, 2.0])
    np.testing.assert_array_equal(grad(lambda x: np.sum(x * x, initial=3.0))(x), 2 * x)


def real_part(x):
    return (x + 0.5j * np.sum(x)).real


def element_of_the_real_part(x):
    u = real_part(x)
    u[0] = u[1]
    return np.sum(u**2)


def real_part_sorted(x):
    u = real_part(x)
    u.sort()
    return np.sum(u**3)


def element_before_the_real_part(x):
    u = x + 0.5j * np.sum(x)
    u[0] = u[1]
    return np.sum(u.real**2)


def put_among_complex_numbers(x):
    z = np.insert(np.array([1j, 2.0]), 1, real_part(x)) * (1 + 2j)
    z[0] = real_part(x)[1]
    return np.sum(np.abs(z + 1j) ** 2)


@pytest.mark.parametrize(
    "f", [element_of_the_real_part, real_part_sorted, element_before_the_real_part, put_among_complex_numbers]
)
def test_cotangents_of_real_arrays_among_complex_ones_are_real(f):
    x, v = np.array([0.33, -0.15, 1.79]), np.array([0.3, 0.7, -0.4])
    gradient = s2sgrad.grad(f, mode="tape")
    np.testing.assert_allclose(gradient(x), [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(3)], rtol=1e-6)

    def along(x):
        return np.sum(gradient(x) * v)

    second = [(along(x + d) - along(x - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sgrad.grad(along, mode="tape")(x), second, rtol=1e-6, atol=1e-8)
