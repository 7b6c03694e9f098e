"""Constants of narrow types beside doubles: the gradient is that of the same numbers in double, in both engines."""

import numpy as np
import pytest

import s2sgrad

U = np.uint8
X = np.array([0.3, 1.4, 0.9])
K = np.array([200, 100, 3])
H = np.array([0.3, 1.1, 2.2], np.float16)
SMALL = np.array([2, 3, 0])

PROGRAMS = {
    "power": (lambda x, k: np.sum(x**k), [SMALL.astype(U), SMALL.astype(np.uint64), SMALL.astype(np.int8), H]),
    "power of a number": (lambda x, k: np.sum(x**k), [U(7), np.uint64(3), np.int8(-2), np.float16(0.3)]),
    "float_power": (lambda x, k: np.sum(np.float_power(x, k)), [U(2), SMALL.astype(U)]),
    "exponent": (lambda x, k: np.sum(k**x), [U(7), np.int8(3), K.astype(U), np.float16(2.5), H]),
    "arctan2": (lambda x, k: np.sum(np.arctan2(x, k) * np.arctan2(k, x)), [K.astype(U), U(200), H, H > 1]),
    "interp to": (lambda x, k: np.sum(np.interp(x, [0, 1, 2], k)), [K.astype(U), SMALL.astype(np.int8), H, H > 1]),
    "interp from": (lambda x, k: np.sum(np.interp(x, k, [1.0, 7.0])), [np.array([-100, 100], np.int8), H[:2]]),
    "polyval": (lambda x, k: np.sum(np.polyval(k, x)), [K.astype(U), H, H > 1]),
    "polyval at": (lambda x, k: np.sum(np.polyval(x, k)), [H, SMALL.astype(U)]),
    "einsum": (lambda x, k: np.sum(np.einsum("i,j,j->ij", x, k, k)), [K.astype(U), H]),
    "average": (lambda x, k: np.average(x, weights=k), [H, K.astype(U)]),
    "logspace": (lambda x, k: np.sum(np.logspace(x[0], x[1], 4, base=k)), [U(200), np.float16(2.5)]),
    "lstsq": (lambda x, k: np.sum(np.linalg.lstsq(k, x, rcond=None)[0]), [np.vander(H.astype(np.float32), 2)]),
    "products": (lambda x, k: np.sum(x * k * k), [H, H.astype(np.float32), U(200), np.float16(300)]),
    "a product and a number": (lambda x, k: np.sum(x * k * 10), [np.float32(1e38), np.float16(3e4), H]),
    "a product of an element": (lambda x, k: x[0] * k * k, [np.float32(1e30), np.float16(300)]),
    "dot": (lambda x, k: 7.3 * np.dot(x * k, k), [H, H.astype(np.float32)]),
    "roll": (lambda x, k: np.sum(np.roll(x, k) * x), [U(1), np.array([1, 1], U)]),
    "diff": (lambda x, k: np.sum(np.diff(x, k) ** 2), [U(1), U(2), np.uint64(1)]),
    "axis": (lambda x, k: np.std(x, axis=k) + np.mean(x, axis=k) + np.average(x, axis=k), [U(0), np.int8(-1)]),
    "trace": (lambda x, k: np.trace(np.outer(x, x), k), [np.uint64(1), np.int8(-1)]),
}
PARAMETERS = ("roll", "diff", "axis", "trace")


def in_double(name, k):
    wide = np.asarray(k, int if name in PARAMETERS else float)
    return wide if wide.ndim else wide.item()


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_the_same_numbers_in_double(name, mode):
    f, constants = PROGRAMS[name]
    for k in constants:
        gradient = s2sgrad.grad(f, mode=mode)
        found = gradient(X, k)
        assert mode == "tape" or name == "logspace" or gradient.engine == "compiled"
        due = s2sgrad.grad(f, mode=mode)(X, in_double(name, k))
        assert found.dtype == X.dtype
        np.testing.assert_allclose(found, due, rtol=1e-12, atol=1e-14, err_msg=repr(k))
        closed = s2sgrad.grad(lambda x, k=k: f(x, k), mode=mode)  # the constant is of the program
        np.testing.assert_allclose(closed(X), due, rtol=1e-12, atol=1e-14, err_msg=repr(k))


def test_second_derivatives_of_powers_to_unsigned_exponents():
    for mode in ("auto", "tape"):
        second = s2sgrad.grad(s2sgrad.elementwise_grad(lambda x: x ** U(3), mode=mode), mode=mode)
        np.testing.assert_allclose(second(1.5), 9.0)


def test_what_is_of_single_precision_stays_so():
    x = X.astype(np.float32)
    for mode in ("auto", "tape"):
        value, gradient = s2sgrad.value_and_grad(lambda x: np.sum(x ** SMALL.astype(U) * H), mode=mode)(x)
        assert value.dtype == gradient.dtype == np.float32
