"""Every program of the corpus inside of one other function, and the gradient of that."""

from dataclasses import replace

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad
from s2sgrad.errors import S2SGradError
from tests.programs import differences
from tests.programs.frames import framed, frames_of
from tests.programs.test_programs import SURE, argnums, assert_same, is_single, per_argument, promoted, quiet  # noqa: F401

PAIRS = []
for k, program in enumerate(SURE):
    names = frames_of(program)
    if names:
        PAIRS.append((program, names[k % len(names)]))


@pytest.mark.parametrize(("program", "frame"), PAIRS, ids=[f"{p.name}-{frame}" for p, frame in PAIRS])
def test_inside_of_another_function(program, frame):
    function = framed(program, frame)
    inside = replace(program, function=function)
    plain_args, _ = promoted(inside)
    try:
        plain = function(*plain_args)
    except Exception as error:
        with pytest.raises(type(error)):
            value_and_grad(function, program.argnums)(*promoted(inside)[0])
        return
    args, _ = promoted(inside)
    derivative = value_and_grad(function, program.argnums)
    try:
        value, got = derivative(*args)
    except S2SGradError:
        return
    assert_same(value, plain)
    assert_same(args, plain_args)
    rtol = 1e-3 if is_single(program) else 1e-6
    got = per_argument(program, got)
    if derivative.engine == "compiled" and is_near(got, on_the_tape(inside), rtol):
        return
    if derivative.engine == "compiled" or program.smooth:  # differences stumble at kinks
        assert is_near(got, by_differences(inside), rtol)


def by_differences(program):
    return [differences.gradient(program.function, promoted(program)[0], {}, n) for n in argnums(program)]


def on_the_tape(program):
    return per_argument(program, grad(program.function, program.argnums, mode="tape")(*promoted(program)[0]))


def is_near(got, right, rtol):
    """Closeness relative to the largest entry: frames multiply values that are large already."""
    got, right = differences.flatten(got)[0], differences.flatten(right)[0]
    scale = max([1.0, *(np.max(np.abs(r)) for r in right if np.size(r))])
    return all(np.allclose(a, b, rtol=rtol, atol=rtol * scale, equal_nan=True) for a, b in zip(got, right, strict=True))
