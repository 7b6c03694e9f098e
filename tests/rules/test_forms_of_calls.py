"""Forms of calls that people write beside the plain one: the compiler and the tape agree with differences."""

import numpy as np
import pytest

from s2sgrad import grad

X = np.array([[0.7, 1.3, 0.4], [0.9, 0.6, 1.2]])
S = X @ X.T + np.eye(2)

FORMS = {
    "all arguments by name: dot": lambda x: np.dot(a=x, b=x.T),
    "all arguments by name: dot, the other way round": lambda x: np.dot(b=x.T, a=x),
    "all arguments by name: polyval": lambda x: np.polyval(p=x[0], x=x),
    "all arguments by name: solve": lambda x: np.linalg.solve(a=x @ x.T + np.eye(2), b=x),
    "all arguments by name: sum": lambda x: np.sum(a=x * x, axis=0),
    "all arguments by name: transpose": lambda x: np.transpose(a=x, axes=(1, 0)) ** 2,
    "a chain of matrices of several shapes": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "a chain between vectors": lambda x: np.linalg.multi_dot((x[:, 0], x, x[0])),
    "a chain of constants and a vector": lambda x: np.linalg.multi_dot([np.ones((1, 3)), np.eye(3), x[0]])[0],
    "convolution with a number": lambda x: np.convolve(x[0], 2.0),
    "interpolation with ends": lambda x: np.interp(
        [-1.0, 0.5, 9.0], [0.0, 1.0, 2.0], x[0], left=x[1, 0], right=x[1, 1]
    ),
    "interpolation to the left": lambda x: np.interp(3 * x, [0.0, 1.0, 2.0], x[0], left=5.0),
    "product with an initial value": lambda x: np.prod(x, axis=1, initial=2.5),
    "product in a type": lambda x: np.prod(x, axis=0, dtype=float),
    "product with an initial value, of a method": lambda x: x.prod(axis=0, initial=2.0, keepdims=True),
    "product with an initial value, of the ufunc": lambda x: np.multiply.reduce(x, initial=2.0),
    "deviation by the standard's name": lambda x: np.std(x, axis=1, correction=1) + np.var(x, correction=1),
    "chosen rows, by a method": lambda x: x.compress([False, True, True], axis=1),
    "chosen entries, by a method": lambda x: x.compress([False, True, True]),
    "inverse of what is not square, with a tolerance": lambda x: np.linalg.pinv(x, rtol=1e-12),
    "inverse of what is symmetric": lambda x: np.linalg.pinv(x @ x.T, hermitian=True),
    "convolution of a number": lambda x: np.convolve(x[0, 0], x[1]),
}
AXES = {
    "sum": lambda x, p: np.sum(x, axis=p),
    "mean": lambda x, p: x.mean(p),
    "average": lambda x, p: np.average(x, p, weights=x),
    "std": lambda x, p: np.std(x, axis=p),
    "max": lambda x, p: np.max(x, p),
    "prod": lambda x, p: np.prod(x, axis=p),
    "median": lambda x, p: np.median(x, axis=p),
    "several": lambda x, p: np.sum(x[..., None, None], axis=(2, p)),
    "cumsum": lambda x, p: np.cumsum(x, axis=p),
    "cumprod": lambda x, p: x.cumprod(p),
    "take": lambda x, p: np.take(x, [1, 0, 1], axis=p),
    "take, one": lambda x, p: x.take(0, p),
    "take, wrapped": lambda x, p: np.take(x, [1, 4], axis=p, mode="wrap"),
    "compress": lambda x, p: x.compress([True, True], axis=p),
    "repeat": lambda x, p: np.repeat(x, 2, axis=p),
    "delete": lambda x, p: np.delete(x, 0, axis=p),
    "insert": lambda x, p: np.insert(x, 1, 2.0, axis=p),
    "diff": lambda x, p: np.diff(x, axis=p),
    "flip": lambda x, p: np.flip(x, axis=p),
    "roll": lambda x, p: np.roll(x, 1, axis=p),
    "sort": lambda x, p: np.sort(x, axis=p),
    "concatenate": lambda x, p: np.concatenate([x, x * x], axis=p),
    "stack": lambda x, p: np.stack([x, x * x], axis=p),
    "split": lambda x, p: np.array_split(x, 2, axis=p)[0],
    "expand_dims": lambda x, p: np.expand_dims(x, axis=p),
    "squeeze": lambda x, p: np.squeeze(x[:1, :1], axis=p),
    "moveaxis": lambda x, p: np.moveaxis(x, 0, p),
    "swapaxes": lambda x, p: x.swapaxes(0, p),
    "rollaxis": lambda x, p: np.rollaxis(x, p),
    "diagonal": lambda x, p: np.diagonal(x[..., None, None], 0, p, 2),
    "norm": lambda x, p: np.linalg.norm(x, axis=p),
    "fft": lambda x, p: np.fft.fft(x, axis=p).real,
}


def numeric(f, x, h=1e-6):
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = h
        found[i] = (f(x + d) - f(x - d)) / (2 * h)
    return found


@pytest.mark.parametrize("mode", ["compiled", "tape"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_form(form, mode):
    weights = np.cos(np.arange(np.size(form(X)))).reshape(np.shape(form(X)))
    f = lambda x: np.sum(form(x) * weights)  # noqa: E731
    gradient = grad(f, mode=mode)
    np.testing.assert_allclose(gradient(X), numeric(f, X), rtol=1e-6, atol=1e-8)
    assert gradient.engine == mode


@pytest.mark.parametrize("mode", ["compiled", "tape"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("form", AXES.values(), ids=AXES)
def test_axis_that_is_an_array_without_axes(form, axis, mode):
    weights = np.cos(np.arange(np.size(form(X, axis)))).reshape(np.shape(form(X, axis)))
    f = lambda x, p: np.sum(form(x, p) * weights)  # noqa: E731
    found = grad(f, mode=mode)(X, np.array(axis))
    np.testing.assert_allclose(found, numeric(lambda x: f(x, axis), X), rtol=1e-6, atol=1e-8)
