"""Names that may be None: what is None where the derivative needs a number is an error, never a zero."""

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.errors import CompileError

X = np.array([0.5, -1.5, 2.0])


def found(x, limit):
    best = None
    for v in x:
        if v > limit and (best is None or v > best):
            best = v
    return best


def found_and_used(x, limit):
    best = None
    for v in x:
        if v > limit:
            best = v
    return best * 2


def stored(x):
    best = None
    for v in x:
        if v > 0:
            best = v
    return [best, x[0]][1]


class Best:
    value = None


def found_by_an_object(x, limit):
    best = Best()
    for v in x:
        if v > limit and (best.value is None or v > best.value):
            best.value = v
    return best.value * 2


def found_in_a_dict(x, limit):
    best = {"value": None}
    for v in x:
        if v > limit:
            best["value"] = v
    return best["value"] * 2


@pytest.mark.parametrize("function", [found, found_and_used, found_by_an_object, found_in_a_dict])
def test_none_is_an_error_as_in_a_plain_call(function):
    derivative = grad(function)
    assert derivative(X, 1.0)[2] == (1.0 if function is found else 2.0)
    assert derivative.engine == "compiled"
    with pytest.raises(TypeError):
        derivative(X, 100.0)


def test_it_is_not_stored():
    with pytest.raises(CompileError, match="best may be None here"):
        grad(stored, mode="compiled")(X)


def test_the_source_says_what_the_function_says():
    derivative = grad(found)
    derivative(X, 0.0)
    assert "    best = None\n" in derivative.source
    assert "(best is None or v > best)" in derivative.source
