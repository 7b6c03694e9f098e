"""The passes one by one: what they take away, and what they must leave."""

import operator

import numpy as np
import pytest

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, optimize
from s2sgrad.transform.analysis import types
from s2sgrad.transform.build import Builder
from s2sgrad.transform.ir import Constant, Kind, Type, Value
from s2sgrad.transform.optimize import accumulate, fold, prune, share
from tests.transform.interpreter import Program, run

add, sub, mul, div, neg = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg


def array(name="x", token="n", dtype="float64", ndim=1):
    return Value(name, Type(Kind.ARRAY, dtype, ndim, token))


def generated(build, result, *parameters):
    body = ir.Block(build.statements, (result,))
    return ir.Function("f", [ir.Parameter(p) for p in parameters], body, ir.Namespace({}), backward_at=0)


# ---------------------------------------------------------------- fold


@pytest.mark.parametrize("one", [1, 1.0])
def test_factors_of_one_go(one):
    x = array()
    build = Builder()
    assert build.op(mul, Constant(one), x) is x
    assert build.op(mul, x, Constant(one)) is x
    assert build.op(div, x, Constant(one)) is x
    assert build.statements == []


def test_a_factor_of_one_stays_where_it_changes_the_dtype():
    x = array(dtype="int64")
    build = Builder()
    assert build.op(mul, Constant(1.0), x) is not x
    assert build.op(div, x, Constant(1)) is not x
    unknown = Value("u")
    assert build.op(mul, Constant(1.0), unknown) is not unknown


def test_zero_times_x_stays():
    x = array()
    assert isinstance(Builder().op(mul, Constant(0.0), x), Value)


def test_signs_are_pulled_up():
    x, y = array("x"), array("y")
    build = Builder()
    total = build.op(add, x, build.op(mul, build.op(neg, y), Constant(3.0)))
    assert build.definitions[total].function is sub
    assert build.op(neg, build.op(neg, x)) is x


def test_twice_the_same_is_two_times_it():
    x = array()
    build = Builder()
    op = build.definitions[build.op(add, x, x)]
    assert (op.function, op.args[0].value, op.args[1]) == (mul, 2, x)


def test_lists_are_not_multiplied():
    x = Value("x", Type(Kind.LIST))
    build = Builder()
    assert build.definitions[build.op(add, x, x)].function is add


def test_division_that_cannot_fail_is_plain():
    x = array()
    build = Builder()
    assert build.definitions[build.op(arrays.over, x, Constant(2.0))].function is div
    assert build.definitions[build.op(arrays.over, x, Constant(0.0))].function is arrays.over
    assert build.definitions[build.op(arrays.times, x, Constant(2.0))].function is mul
    assert build.definitions[build.op(arrays.times, x, Constant(float("inf")))].function is arrays.times


def test_nothing_to_sum_between_equal_shapes():
    x, y, other = array("x"), array("y"), array("other", "m")
    build = Builder()
    assert build.op(arrays.unbroadcast, x, y) is x
    assert build.op(arrays.unbroadcast, x, other) is not x
    z = array("z", dtype="complex128")
    assert build.definitions[build.op(arrays.unbroadcast, z, x)].function is np.real
    assert build.op(arrays.unbroadcast, z, array("w", dtype="complex64")) is z


def test_a_stretched_number_is_the_number_beside_an_array_of_that_shape():
    x, g = array("x"), Value("g", ir.FLOAT64)
    build = Builder()
    stretched = build.op(np.broadcast_to, g, build.op(np.shape, x))
    op = build.definitions[build.op(mul, stretched, x)]
    assert op.args == (g, x)
    other = array("other", "m")
    assert build.definitions[build.op(mul, stretched, other)].args == (stretched, other)


def test_a_literal_keeps_its_value():
    build = Builder()
    assert build.op(mul, Constant(2), Constant(0.5)).value == 1.0
    assert isinstance(build.op(div, Constant(1.0), Constant(0.0)), Value)


def test_fold_of_a_function_leaves_the_users_part():
    x, y = Value("x", ir.FLOAT), Value("y", ir.FLOAT)
    body = ir.Block([ir.Op(y, mul, (Constant(1.0), x))], (y,))
    f = ir.Function("f", [ir.Parameter(x)], body, ir.Namespace({}), backward_at=1)
    assert fold(f).body.statements == body.statements


# ---------------------------------------------------------------- share


def test_shared_with_the_forward_pass_and_by_commutation():
    x, y = array("x"), array("y")
    forward = ir.Op(array("c"), mul, (x, y))
    again = ir.Op(array("d"), np.multiply, (y, x))
    body = ir.Block([forward, again], (again.target,))
    f = ir.Function("f", [ir.Parameter(x), ir.Parameter(y)], body, ir.Namespace({}), backward_at=1)
    assert share(f).body.results == (forward.target,)


def test_values_of_a_branch_are_not_seen_outside():
    p = Program(x=2.0)
    (a,) = p.branch(p.code("x > 0", x=p.x), lambda: (p.op(np.sin, p.x),), lambda: (p.x,), "a")
    b = p.op(np.sin, p.x)
    f = p.function(p.op(add, a, b))
    f.backward_at = 0
    assert run(share(f), -2.0) == -2.0 + np.sin(-2.0)


def test_literals_of_other_types_are_other_literals():
    x = Value("x", ir.INT)
    build = Builder()
    a = build.plain(Value("a"), mul, (Constant(2), x), {})
    b = build.plain(Value("b"), mul, (Constant(2.0), x), {})
    f = share(generated(build, build.sequence([a, b]), x))
    assert [type(v) for v in run(f, 3)] == [int, float]


def test_buffers_are_never_shared():
    x = array("x")
    a, b = array("a"), array("b")
    c, d = array("c"), array("d")
    statements = [
        ir.Op(a, np.zeros_like, (x,)),
        ir.Op(b, np.zeros_like, (x,)),
        ir.Accumulate(c, a, Constant(0), Constant(1.0)),
        ir.Accumulate(d, b, Constant(1), Constant(2.0)),
    ]
    result = Value("r", types.sequence(Kind.TUPLE, [c.type, d.type]))
    statements.append(ir.Make(result, (c, d)))
    f = ir.Function("f", [ir.Parameter(x)], ir.Block(statements, (result,)), ir.Namespace({}), backward_at=0)
    first, second = run(optimize.run(f), np.ones(2))
    np.testing.assert_array_equal(first, [1.0, 0.0])
    np.testing.assert_array_equal(second, [0.0, 2.0])


# ---------------------------------------------------------------- prune


def test_unread_operations_and_what_they_read_go():
    p = Program(x=2.0)
    p.op(np.sin, p.op(np.cos, p.x))
    f = prune(p.function(p.op(mul, p.x, p.x)))
    assert len(f.body.statements) == 1


def test_effects_stay():
    p = Program(x=2.0)
    noisy = Value("r")
    p.statements.append(ir.Bind(noisy, p.code("np.random.normal()")))
    printed = Value("n")
    p.statements.append(ir.Bind(printed, p.code("print(x)", x=p.x)))
    silent = Value("s")
    p.statements.append(ir.Bind(silent, p.code("x + 1", x=p.x)))
    kept = prune(p.function(p.x)).body.statements
    assert silent not in [s.target for s in kept]
    assert printed in [s.target for s in kept]


def test_results_of_branches_and_loops_go_one_by_one():
    p = Program(x=2.0, n=3)
    a, b = p.branch(p.code("x > 0", x=p.x), lambda: (p.op(np.sin, p.x), p.x), lambda: (p.x, p.x), "a", "b")
    i = Value("i", ir.INT)

    def body(y, z, w):
        return p.op(add, y, z), p.op(np.sin, z), p.op(np.cos, w), p.op(mul, z, 2.0)

    y, z, w, kept = p.loop([(i, p.code("range(n)", n=p.n))], {"y": b, "z": 1.0, "w": 1.0}, body)
    f = prune(p.function(y))
    branch, loop = f.body.statements
    assert branch.results == (b,)
    assert branch.then.statements == []
    assert [c.parameter.name for c in loop.carried] == ["y", "z"]
    assert loop.collected == []
    assert run(f, 2.0, 3) == run(p.function(y), 2.0, 3)


# ---------------------------------------------------------------- accumulate


def test_addition_to_a_fresh_array_is_in_place():
    x, y = array("x"), array("y")
    build = Builder()
    total = build.op(add, build.op(mul, x, y), y)
    f = accumulate(generated(build, total, x, y))
    assert isinstance(f.body.statements[-1], ir.Accumulate)
    given = np.ones(2), np.full(2, 3.0)
    np.testing.assert_array_equal(run(f, *given), [6.0, 6.0])
    np.testing.assert_array_equal(given[1], [3.0, 3.0])


@pytest.mark.parametrize("case", ["argument", "used again", "other shape", "other dtype", "view"])
def test_no_addition_in_place(case):
    x, y = array("x"), array("y", "m" if case == "other shape" else "n")
    build = Builder()
    if case == "argument":
        a = x
    elif case == "view":
        a = build.op(operator.getitem, x, Constant(slice(None)))
    elif case == "other dtype":
        z = array("z", dtype="float32")
        a = build.op(mul, z, z)
    else:
        a = build.op(mul, x, x)
    total = build.op(add, a, y)
    if case == "used again":
        total = build.op(mul, total, a)
    f = accumulate(generated(build, total, x, y))
    assert not any(isinstance(s, ir.Accumulate) for s in f.body.statements)


def test_a_gradient_that_is_held_twice_is_copied():
    x, y = array("x"), array("y")
    build = Builder()
    d = build.op(mul, x, y)
    both = build.sequence([build.op(arrays.as_gradient, d, x), build.op(arrays.as_gradient, d, y)])
    first, second = run(accumulate(generated(build, both, x, y)), np.ones(2), np.ones(2))
    assert not np.shares_memory(first, second)


def test_a_gradient_in_an_array_from_before_the_loop_is_copied_each_time():
    x = array("x")
    build = Builder()
    d = build.op(mul, x, x)
    i = Value("i", ir.INT)
    rows = Value("rows", Type(Kind.LIST))
    source = ir.Source(i, Constant((0, 1)))
    build.add(ir.For([source], [], ir.Block([], (d,)), [rows]))
    a, b = Value("a", x.type), Value("b", x.type)
    build.add(ir.Unpack((a, b), rows))
    both = build.sequence([build.op(arrays.as_gradient, a, x), build.op(arrays.as_gradient, b, x)])
    first, second = run(accumulate(generated(build, both, x)), np.ones(2))
    assert not np.shares_memory(first, second)
