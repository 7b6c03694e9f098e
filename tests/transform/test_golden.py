"""The generated source of some kernels, word for word: it is read by people, so it is changed on purpose only.

``python -m tests.transform.test_golden`` writes the files anew. Line numbers in them count from the kernel's first
line.
"""

import inspect
import pathlib
import re

import pytest

from s2sgrad import value_and_grad
from tests.programs import factorizations, recurrences, stencils
from tests.programs.corpus import KERNELS

FOLDER = pathlib.Path(__file__).with_name("golden")
CHOSEN = [
    stencils.heat_1d,
    stencils.fdtd_2d,
    factorizations.cholesky,
    factorizations.conjugate_gradients,
    recurrences.kalman_scalar,
    recurrences.kepler,
    recurrences.recurrent_network,
]


def generated(function) -> str:
    kernel = next(k for k in KERNELS if k.function is function)
    derivative = value_and_grad(function, kernel.argnums, mode="compiled")
    derivative(*kernel.args)
    first = inspect.getsourcelines(function)[1]
    return re.sub(r"# line (\d+)", lambda found: f"# line {int(found[1]) - first + 1}", derivative.source)


def path_of(function) -> pathlib.Path:
    return FOLDER / f"{function.__name__}.txt"


@pytest.mark.parametrize("function", CHOSEN, ids=lambda f: f.__name__)
def test_generated_source(function):
    assert generated(function) == path_of(function).read_text()


if __name__ == "__main__":
    for chosen in CHOSEN:
        path_of(chosen).write_text(generated(chosen))
