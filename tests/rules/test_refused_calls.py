"""Calls that a rule does not cover are refused as such; those at the edge of what it covers are right."""

import warnings

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.errors import MissingRuleError, TapeError
from tests.tape.numeric import differences

X = np.array([0.3, -1.2, 0.8])

REFUSED = {
    "cross of vectors of two": lambda x: np.cross(x[:2], x[1:]) * 1.0,
    "cross of three and two": lambda x: np.sum(np.cross(x, x[:2])),
    "quantile among nan by steps": lambda x: np.nanquantile(x, 0.3, method="lower"),
    "pad with the mean": lambda x: np.sum(np.pad(x, 1, mode="mean")),
    "pseudoinverse of the larger part": lambda x: np.sum(np.linalg.pinv(np.diag(x), rcond=0.5)),
    "fit to the larger part": lambda x: np.sum(np.linalg.lstsq(np.diag(x), np.ones(3), rcond=0.5)[0]),
    "order of the memory": lambda x: np.sum(np.ravel(x, "K")),
    "an axis that is halved, and transformed again": lambda x: np.sum(
        np.abs(np.fft.rfftn(np.outer(x, x), axes=(0, 0)))
    ),
    "the same, back": lambda x: np.sum(np.fft.irfft2(np.outer(x, x), axes=(1, -1))),
    "quantiles among nan over axes, in rows": lambda x: np.sum(
        np.nanquantile(x.reshape(1, 3, 1), [[0.2, 0.4], [0.5, 0.6]], axis=(0, 1))
    ),
}


@pytest.mark.parametrize("mode", ["compiled", "tape"])
@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_call_that_is_not_covered(f, mode):
    with pytest.raises(MissingRuleError):
        grad(f, mode=mode)(X)


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_array_around_a_buffer(mode):
    with pytest.raises(TapeError, match="buffer"):
        grad(lambda x: np.sum(np.ndarray((3,), np.float64, x) ** 2), mode=mode)(X)


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_tolerance_that_leaves_out_zeros_only(mode):
    a = lambda x: np.stack([x, 2 * x, np.array([1.0, 0.0, 1.0])])  # noqa: E731
    for f in (
        lambda x: np.sum(np.linalg.pinv(a(x), rcond=1e-9) ** 2),
        lambda x: np.sum(np.linalg.lstsq(a(x), np.array([1.0, 2.0, -1.0]), rcond=1e-9)[0] ** 2),
    ):
        np.testing.assert_allclose(grad(f, mode=mode)(X), differences(f, X), rtol=1e-6)


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_of_a_matrix_said_to_be_symmetric_one_half_is_read(mode):
    a, c = np.array([[2.0, 7.0], [0.5, 1.0]]), np.array([[1.0, 3.0], [2.0, -1.0]])
    found = grad(lambda a: np.sum(np.linalg.pinv(a, hermitian=True) * c), mode=mode)(a)
    right = grad(lambda a: np.sum(np.linalg.inv(a) * c), mode=mode)(np.array([[2.0, 0.5], [0.5, 1.0]]))
    np.testing.assert_allclose(found, (right + right.T) / 2)


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_several_values_inserted_at_one_place(mode):
    weights = np.arange(1.0, 7.0)
    f = lambda x: np.sum(np.insert(x, 1, x) * weights)  # noqa: E731
    np.testing.assert_array_equal(grad(f, mode=mode)(X), [3.0, 8.0, 10.0])


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_value_inserted_among_integers_is_a_step(mode):
    f = lambda x: np.insert(np.array([1, 2]), 1, x)[1] * 1.0  # noqa: E731
    assert grad(f, mode=mode)(0.7) == 0.0


@pytest.mark.parametrize("mode", ["compiled", "tape"])
def test_product_of_what_is_made_real(mode):
    z = np.array([1 + 2j, 2 - 1j, 0.5 + 0.3j])
    f = lambda x: np.prod(x + z, dtype=float)  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        np.testing.assert_allclose(grad(f, mode=mode)(X), product_of_others(X + z.real))


def product_of_others(x):
    return [np.prod(np.delete(x, i)) for i in range(len(x))]


@pytest.mark.parametrize("mode", ["auto", "tape"])
def test_accumulation_over_all_axes_is_none(mode):
    with pytest.raises(ValueError, match="accumulate does not allow multiple axes"):
        grad(lambda x: np.sum(np.add.accumulate(np.outer(x, x), axis=None)), mode=mode)(X)


POSITIONAL = {
    "var": lambda x: np.var(x, 0, None, None, 1),
    "method var": lambda x: x.var(0, None, None, 1),
    "clip": lambda x: np.sum(x.clip(0) ** 2),
}


@pytest.mark.parametrize("f", POSITIONAL.values(), ids=POSITIONAL)
def test_arguments_by_position(f):
    h = 1e-6
    numeric = [(f(X + d) - f(X - d)) / (2 * h) for d in h * np.eye(3)]
    np.testing.assert_allclose(grad(f, mode="tape")(X), numeric, rtol=1e-6, atol=1e-8)
