"""The types of results of further NumPy functions: each claim is compared with what NumPy really returns."""

import itertools

import numpy as np
import pytest

from tests.rules.samples import SAMPLES, resolve
from tests.transform.test_types import check

NAMED = ("slogdet", "qr", "svd", "eigh")  # named tuples, of which the elements are claimed: tested with the types

R = np.random.default_rng(3)
ARRAYS = [
    R.normal(size=6),
    R.normal(size=6).astype("f4"),
    np.arange(6),
    np.arange(6) > 2,
    R.normal(size=6) + 1j,
    (R.normal(size=6) + 1j).astype("c8"),
    R.normal(size=(3, 4)),
    R.normal(size=(1, 3)).astype("f4"),
    R.normal(size=(2, 3, 4)),
    R.normal(size=1),
    np.array(2.0),
]
NUMBERS = [1.5, 2, np.float32(0.5), np.float64(0.5), True]


def tried(function, *args, **kwargs):
    """Check a call, if NumPy takes it."""
    try:
        with np.errstate(all="ignore"):
            function(*args, **kwargs)
    except (TypeError, ValueError, AttributeError, IndexError, np.linalg.LinAlgError, np.exceptions.AxisError):
        return
    check(function, *args, known=False, **kwargs)


OF_ONE = [
    *(np.diff, np.ediff1d, np.gradient, np.trapezoid, np.unwrap, np.median, np.nanmedian, np.ptp, np.average),
    *(np.cov, np.corrcoef, np.histogram, np.unique, np.argsort, np.nonzero, np.flatnonzero, np.argwhere),
    *(np.triu_indices_from, np.tril_indices_from, np.fliplr, np.flipud, np.rot90, np.atleast_1d, np.atleast_2d),
    *(np.atleast_3d, np.diagflat, np.meshgrid, np.vander, np.linalg.eigvalsh, np.linalg.pinv),
    *(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.fftn, np.fft.rfftn, np.fft.fftshift, np.fft.fft2),
    *(np.hstack, np.vstack, np.dstack, np.column_stack, np.float64, np.float32, np.int64, np.complex128, np.isin),
]


@pytest.mark.parametrize("function", OF_ONE, ids=lambda f: f.__name__)
def test_of_one(function):
    for x in [*ARRAYS, *NUMBERS, [1.0, 2.0], [1, 2.5], [[1.0, 2.0], [3.0, 4.0]], (ARRAYS[0], ARRAYS[1])]:
        more = ([0],) if function is np.isin else ()
        tried(function, x, *more)
        for options in ({"axis": 0}, {"axis": -1}, {"axis": None}, {"axis": (0, 1)}, {"n": 2}, {"n": 1, "axis": 0}):
            tried(function, x, *more, **options)


OF_TWO = [
    *(np.append, np.kron, np.cross, np.tensordot, np.isclose, np.take, np.repeat, np.tile, np.delete, np.resize),
    *(np.quantile, np.percentile, np.nanquantile, np.searchsorted, np.digitize, np.polyval, np.pad, np.bincount),
    *(np.compress, np.extract, np.gradient, np.trapezoid, np.average, np.cov, np.partition, np.take_along_axis),
    *(np.logspace, np.geomspace, np.linspace, np.fft.fft, np.fft.rfft, np.linalg.lstsq, np.linalg.matrix_power),
    *(np.lib.stride_tricks.sliding_window_view, np.meshgrid, np.hstack),
]
SECOND = [0.5, 1, 2, 3, [1, 0], [0.25, 0.5], np.array([1, 0]), np.array([True, False, True])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", OF_TWO, ids=lambda f: f.__name__)
def test_of_two(function):
    firsts = [*ARRAYS, *NUMBERS, [1.0, 2.0, 4.0], [1, 2, 3], [[1.0, 2.0], [3.0, 4.0]]]
    for x, y in itertools.product(firsts, [*SECOND, *ARRAYS]):
        tried(function, x, y)
        for options in ({"axis": 0}, {"axis": -1}, {"keepdims": True}, {"retstep": True}):
            tried(function, x, y, **options)


def test_of_three():
    for x, fp in itertools.product([*ARRAYS, *NUMBERS, [0.5, 1.5]], [np.arange(3.0), np.arange(3), np.arange(3) * 1j]):
        tried(np.interp, x, np.arange(3.0), fp)
    for x, y in itertools.product(ARRAYS, ARRAYS):
        tried(np.polyfit, x, y, 1)
        tried(np.histogram, x, 3, None, True)
        tried(np.histogram, x, 3, weights=y)
        tried(np.bincount, np.arange(6), x)
        tried(np.take, x, np.array([0, 0]), 0)
        tried(np.insert, x, 1, y)
        tried(np.linspace, x, y, 5)
    for options in ({"endpoint": False}, {"retstep": True}, {"dtype": np.float32}):
        tried(np.linspace, 0.0, 1.0, 5, **options)
    tried(np.tri, 3)
    for x in np.ones(3, "f4"), np.arange(3), np.array([True, False]):
        for options in ({"prepend": 0.0}, {"append": x}, {"prepend": np.float32(1.0), "n": 2}, {"append": 1.0, "n": 0}):
            tried(np.diff, x, **options)
    tried(np.tri, 3, 2, dtype=int)
    tried(np.indices, (2, 3))
    tried(np.fft.fftfreq, 8, 0.5)
    tried(np.diag_indices, 3)
    tried(np.triu_indices, 3, 1)


SURE = [
    (np.diff, (ARRAYS[0],)),
    (np.fft.fft, (ARRAYS[0],)),
    (np.fft.irfft, (ARRAYS[4],)),
    (np.gradient, (ARRAYS[0], 0.1)),
    (np.interp, (ARRAYS[0], ARRAYS[0], ARRAYS[0])),
    (np.quantile, (ARRAYS[0], [0.1, 0.9])),
    (np.percentile, (ARRAYS[0], 50)),
    (np.cov, (ARRAYS[6],)),
    (np.vstack, ([ARRAYS[0], ARRAYS[0]],)),
    (np.float32, (0.5,)),
]


@pytest.mark.parametrize("function, args", SURE, ids=[f.__name__ for f, _ in SURE])
def test_much_is_known_of_what_is_common(function, args):
    check(function, *args)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_of_the_rules(name):
    for s in SAMPLES[name]:
        if not name.endswith(NAMED):
            tried(resolve(name), *s.args, **s.kwargs)
