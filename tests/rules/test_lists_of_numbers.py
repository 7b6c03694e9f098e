"""Lists and tuples of numbers in the place of an array, also where they are broadcast: as the array that they make."""

import numpy as np
import pytest

from s2sgrad import grad

A = np.cos(np.arange(12.0)).reshape(4, 3)
A3 = np.cos(np.arange(24.0)).reshape(2, 4, 3)
S = np.eye(3) * 2 + 0.1
S2 = np.stack([S, S * 2])
c = A > 0
X = np.array([0.7, 1.3, 0.4])

CALLS = {
    "tril": lambda v: np.tril(v),
    "triu": lambda v: np.triu(v, 1),
    "broadcast_to": lambda v: np.broadcast_to(v, (4, 3)),
    "cross": lambda v: np.cross(v, A),
    "cross2": lambda v: np.cross(A, v),
    "matmul": lambda v: np.matmul(A3, v),
    "dot": lambda v: np.dot(A3, v),
    "solve": lambda v: np.linalg.solve(S, v),
    "where": lambda v: np.where(c, v, A),
    "clip": lambda v: np.clip(A, v, 9.0),
    "max": lambda v: np.maximum(v, A),
    "add": lambda v: np.add(v, A),
    "add2": lambda v: A + np.array(v),
    "tile": lambda v: np.tile(v, (2, 2)),
    "repeat": lambda v: np.repeat(v, 2),
    "outer": lambda v: np.outer(v, v),
    "kron": lambda v: np.kron(A, v),
    "atleast_2d": lambda v: np.atleast_2d(v),
    "atleast_3d": lambda v: np.atleast_3d(v),
    "diag": lambda v: np.diag(v),
    "diagflat": lambda v: np.diagflat(v, 1),
    "vander": lambda v: np.vander(v),
    "expand": lambda v: np.expand_dims(v, 0),
    "meshgrid": lambda v: np.meshgrid(v, v)[0],
    "full": lambda v: np.full((4, 3), v),
    "full_like": lambda v: np.full_like(A, v),
    "select": lambda v: np.select([c], [np.broadcast_to(v, (4, 3))], 0.0),
    "sel2": lambda v: np.select([c, ~c], [v, A]),
    "choose": lambda v: np.choose(c.astype(int), [v, A]),
    "einsum": lambda v: np.einsum("ij,j->ij", A, v),
    "tensordot": lambda v: np.tensordot(A3, v, 1),
    "inner": lambda v: np.inner(A3, v),
    "vdot": lambda v: np.vdot(v, A[0]),
    "convolve": lambda v: np.convolve(v, [1.0, 2.0]),
    "interp": lambda v: np.interp([0.5, 1.5], [0, 1, 2], v),
    "polyval": lambda v: np.polyval(v, A),
    "pad": lambda v: np.pad(v, 1),
    "roll": lambda v: np.roll(v, 1),
    "append": lambda v: np.append(A, v),
    "insert": lambda v: np.insert(A, 1, v, axis=0),
    "concat": lambda v: np.concatenate([v, A[0]]),
    "stack": lambda v: np.stack([v, A[0]]),
    "vstack": lambda v: np.vstack([v, A]),
    "column": lambda v: np.column_stack([v, v]),
    "cumsum": lambda v: np.cumsum(v),
    "diff": lambda v: np.diff(v),
    "power": lambda v: np.power(A + 2, v),
    "hypot": lambda v: np.hypot(A, v),
    "arctan2": lambda v: np.arctan2(v, A),
    "average": lambda v: np.average(A, axis=1, weights=v),
    "nan": lambda v: np.nan_to_num(v),
    "norm": lambda v: np.linalg.norm(v),
    "sort": lambda v: np.sort(v),
    "trapz": lambda v: np.trapezoid(A, v, axis=1),
    "trapz2": lambda v: np.trapezoid(v, [0.0, 1.0, 3.0]),
    "fft": lambda v: np.real(np.fft.fft(v)),
    "mean": lambda v: np.mean(v),
    "broadcast_arrays": lambda v: np.broadcast_arrays(v, A)[0],
    "gradient": lambda v: np.gradient(v),
    "solve2": lambda v: np.linalg.solve(S2, np.broadcast_to(v, (3,))[:, None]),
    "multi": lambda v: np.linalg.multi_dot([A, S, v]),
    "cov": lambda v: np.cov(v),
    "corr": lambda v: np.corrcoef(np.array(v), A[0]),
    "quant": lambda v: np.quantile(v, 0.3),
    "logaddexp": lambda v: np.logaddexp(A, v),
    "copysign": lambda v: np.copysign(v, A),
    "fmod": lambda v: np.fmod(A, v),
    "heav": lambda v: np.heaviside(A, v),
    "put_along": lambda v: np.take_along_axis(np.array(v), np.array([0, 2]), 0),
    "flip": lambda v: np.flip(v),
    "squeeze": lambda v: np.squeeze([v]),
    "ravel": lambda v: np.ravel([v, v]),
    "reshape": lambda v: np.reshape([v, v], (3, 2)),
    "transpose": lambda v: np.transpose([v, v]),
    "swap": lambda v: np.swapaxes([v, v], 0, 1),
    "tril2": lambda v: np.tril([v, v]),
    "sum2": lambda v: np.sum([v, v], axis=0),
    "prod2": lambda v: np.prod([v, v], axis=1),
    "det": lambda v: np.linalg.det([v, [1.0, 0, 0], [0, 1.0, 1.0]]),
    "inv": lambda v: np.linalg.inv([v, [1.0, 0, 0], [0, 1.0, 1.0]]),
    "max2": lambda v: np.max([v, A[0]], axis=0),
}
GIVEN = {
    "a list": lambda f, v: f([v[0], v[1], v[2]]),
    "a tuple": lambda f, v: f((v[0], v[1], v[2])),
    "as it is": lambda f, v: f(v),
}


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize("name", CALLS)
def test_as_the_array_that_they_make(name, mode):
    f = CALLS[name]
    out = np.asarray(f(X))
    weights = np.cos(np.arange(out.size) + 0.5).reshape(out.shape)
    steps = 1e-6 * np.eye(3)
    expected = [np.sum((f(X + s) - f(X - s)) * weights) / 2e-6 for s in steps]
    for give in GIVEN.values():
        for x in (X, X.tolist()):
            found = grad(lambda v, give=give: np.sum(give(f, v) * weights), mode=mode)(x)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
            assert type(found) is type(x)
