"""What the compiler says of values is true of them; ``python -m tests.random_programs.claims`` runs more programs."""

import operator
import warnings

import numpy as np
import pytest

from s2sgrad import value_and_grad
from s2sgrad.transform import emit, ir
from s2sgrad.transform.analysis import types
from tests.programs.test_programs import SURE, call

from .claims import Checker, checked, untrue_of
from .programs import numbered

SHARE = 9  # of so many programs of the corpus one is looked at, but for those whose types are the point
COMPILED = [p for p in SURE if p.engine == "compiled"]
COMPILED = [p for i, p in enumerate(COMPILED) if p.name.startswith("dtypes-") or i % SHARE == 0]


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_random_programs(start):
    assert not [untrue for number in range(start, start + 20) for untrue in untrue_of(numbered(0, number))]


@pytest.mark.parametrize("start", range(0, len(COMPILED), 50))
def test_programs_of_the_corpus(start):
    with np.errstate(all="ignore"), warnings.catch_warnings(), checked() as untrue:
        warnings.simplefilter("ignore")
        for program in COMPILED[start : start + 50]:
            call(value_and_grad(program.function, program.argnums), program)
    assert not untrue


def looked_at(said: ir.Type, *args):
    """What is found of ``x + y``, where that is said to be a `said`."""
    checker = Checker()
    x, y = (ir.Value(name, t) for name, t in zip("xy", types.of_all(args), strict=True))
    total = ir.Op(ir.Value("t", said), operator.add, (x, y))
    parameters = [ir.Parameter(x), ir.Parameter(y)]
    function = ir.Function("f", parameters, ir.Block([total], (total.target,)), ir.Namespace({}))
    emit.load.load(emit.emit([checker.function(function)]))(*args)
    return [untrue.found for untrue in checker.untrue]


VECTOR = types.of(np.ones(3))


@pytest.mark.parametrize(
    ("said", "args", "found"),
    [
        (ir.FLOAT, (1.0, 2.0), []),
        (ir.FLOAT64, (1.0, 2.0), ["float number"]),
        (ir.Type(dtype="float64", ndim=0, shape=()), (1.0, np.float64(2.0)), []),
        (VECTOR, (np.ones(3), np.ones(3)), []),
        (VECTOR, (np.ones(3), np.float64(1.0)), []),
        (VECTOR, (np.ones(3, "f4"), 1.0), ["float32 array of 1 axes in one piece"]),
        (types.one_array("float64", 1, (4,)), (np.ones(3), 1.0), ["of shape (3,)"]),
        (ir.Type(ir.Kind.LIST, items=(ir.FLOAT, ir.FLOAT)), ([1.0], [np.float64(2.0)]), ["float64 number"]),
    ],
)
def test_what_is_not_true_is_found(said, args, found):
    assert looked_at(said, *args) == found


def test_one_name_is_one_length_in_a_call():
    x, y = np.ones((1, 3)), np.ones((4, 1))
    rows, columns = types.of(np.ones((4, 3))).shape
    assert looked_at(types.one_array("float64", 2, (rows, rows)), x, y) == ["of shape (4, 3)"]
    assert looked_at(types.one_array("float64", 2, (rows, columns)), x, y) == []
