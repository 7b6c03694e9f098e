"""Two hundred random programs a run, always the same ones; ``python -m tests.random_programs`` runs more."""

import ast

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from .judge import Fault, judge
from .programs import Program, numbered, programs
from .reduce import reduced

PHASES = [Phase.generate, Phase.shrink]


@settings(
    max_examples=200, derandomize=True, database=None, deadline=None, phases=PHASES, suppress_health_check=HealthCheck
)
@given(programs())
def test_random_programs(program):
    judge(program, second=True)


def test_a_program_can_be_had_again():
    assert numbered(3, 14) == numbered(3, 14) != numbered(3, 15)


WRONG = Program(
    """import numpy as np

RUNS = []

def f(x, y):
    u = x * y
    for i in range(2):
        if u[i] > 0.1:
            u[i] = np.sin(u[i])
            RUNS.append(1)
    s = np.sum(y)
    return np.sum(u) * len(RUNS) + s

def arguments():
    x = np.array([0.3, 1.2])
    y = np.array([0.7, 0.9])
    return x, y
""",
    (0,),
)


def test_a_fault_is_found_and_made_small():
    with pytest.raises(Fault, match="value: auto") as caught:
        judge(WRONG)
    small = reduced(WRONG, caught.value.kind)
    with pytest.raises(Fault, match="value: auto"):
        judge(small)
    assert len(ast.unparse(ast.parse(small.text))) < 0.6 * len(WRONG.text)


def test_a_function_that_raises():
    text = "import numpy as np\ndef f(x):\n    return x[3]\ndef arguments():\n    return np.ones(2),\n"
    assert judge(Program(text, (0,))).outcome == "raises"


KINKS = ["np.sum(np.where(x > 1, 2 * x, x))", "np.sum(x * (x > 1))", "x[0] if x[0] < 1 else 3 * x[0]"]
KINKS += ["np.min(np.maximum(x * np.array([1.0, 0.5]), 1.0))"]


@pytest.mark.parametrize("text", KINKS)
def test_a_kink_is_no_fault(text):
    text = f"import numpy as np\ndef f(x):\n    return {text}\ndef arguments():\n    return np.ones(2),\n"
    assert judge(Program(text, (0,))).outcome == "kink"
