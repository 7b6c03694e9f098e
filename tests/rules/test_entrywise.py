"""Functions of one number, of whole arrays."""

import importlib
import math

import numpy as np
import pytest

from s2sgrad.rules.entrywise import entrywise
from s2sgrad.rules.neural import erf, erfc

X = np.array([[-np.inf, -3.5, -0.2], [0.0, 1e-9, 20.0]])


def missing(name):
    raise ImportError(name)


@pytest.mark.parametrize("one", [math.erf, math.erfc])
def test_with_and_without_scipy(one, monkeypatch):
    fast = entrywise(one.__name__, one)(X)
    monkeypatch.setattr(importlib, "import_module", missing)
    slow = entrywise(one.__name__, one)(X)
    np.testing.assert_allclose(fast, slow, rtol=1e-14)
    assert slow.dtype == fast.dtype == np.float64


@pytest.mark.parametrize("function", [erf, erfc])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_the_type_and_shape_of_the_argument_stay(function, kind, shape):
    out = function(np.ones(shape, kind))
    assert np.shape(out) == shape
    assert out.dtype == (kind if kind.startswith("float") else "float64")
