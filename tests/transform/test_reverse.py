"""Gradients of IR built by hand, run by the tests' own interpreter, against finite differences."""

import operator
from dataclasses import dataclass

import numpy as np
import pytest

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir, optimize
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Constant, Kind, Value
from s2sgrad.transform.reverse import gradient, pair
from s2sgrad.transform.show import show
from tests.transform.interpreter import Program, differences, leaves, run

add, sub, mul, div, neg, power = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.neg,
    operator.pow,
)
item = operator.getitem
random = np.random.default_rng(0)
X = random.uniform(0.5, 1.5, 4)
W = random.uniform(0.5, 1.5, (4, 3))


def agree(found, expected, tolerance=1e-6):
    assert len(leaves(found)) == len(expected)
    for a, b in zip(leaves(found), expected, strict=True):
        if b is None:
            continue
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def check(function, *args, second=True):
    """First and second order, for every argument, plain and optimised."""
    wrt = tuple(i for i, a in enumerate(args) if not isinstance(a, int) or isinstance(a, bool))
    plain = gradient(function, wrt, single=False)
    best = optimize.run(plain)
    primal = run(function, *args)
    for g in (plain, best):
        before = [np.copy(x) for x in leaves(list(args)) if isinstance(x, np.ndarray)]
        found = run(g, *args)
        for d, i in zip(found, wrt, strict=True):
            agree(d, differences(lambda *a: run(function, *a), args, i))
        after = [x for x in leaves(list(args)) if isinstance(x, np.ndarray)]
        assert all(map(np.array_equal, before, after))
        arrays = [x for x in [*leaves(list(found)), *after] if isinstance(x, np.ndarray)]
        assert not any(np.shares_memory(a, b) for n, a in enumerate(arrays) for b in arrays[:n])
    value, found = run(optimize.run(gradient(function, wrt, value=True, single=False)), *args)
    assert np.array_equal(value, primal)
    if second:
        check_second(function, args, wrt)
    return best


def check_second(function, args, wrt):
    """The gradient of the sum of squares of all gradients."""
    g = gradient(function, wrt, single=False)
    square = squares(g)
    again = gradient(square, wrt, single=False)
    for one in (again, optimize.run(again)):
        found = run(one, *args)
        for d, i in zip(found, wrt, strict=True):
            agree(d, differences(lambda *a: run(square, *a), args, i, 1e-5), 1e-4)


def squares(g: ir.Function) -> ir.Function:
    """The sum of the squares of the numbers in the result of `g`."""
    p = Program()
    total = [Constant(0.0)]

    def visit(x):
        t = types.type_of(x)
        if t.items is not None:
            for key in t.keys or range(len(t.items)):
                get = getattr if t.kind is Kind.RECORD else item
                visit(p.op(get, x, key))
        elif t.kind in (Kind.ARRAY, Kind.NUMBER):
            total[0] = p.op(add, total[0], p.op(np.sum, p.op(mul, x, x)))

    visit(g.body.results[0])
    body = ir.Block([*g.body.statements, *p.statements], (total[0],))
    return ir.Function("squares", g.parameters, body, g.namespace)


def test_straight_line():
    p = Program(x=2.0, y=0.5)
    t = p.op(mul, p.x, p.y)
    s = p.op(np.sin, t, name="s")
    best = check(p.function(p.op(add, p.op(mul, s, s), p.op(div, p.x, p.y))), 2.0, 0.5)
    assert len(best.parameters) == 2


def test_square_is_written_as_a_person_would():
    p = Program(x=2.0)
    f = p.function(p.op(mul, p.x, p.x))
    assert show(optimize.run(gradient(f, (0,)))) == "f_grad(x*):\n    dx = operator.mul(2, x*)\n    -> dx"


def test_power_with_literal_exponent():
    p = Program(x=2.0)
    best = check(p.function(p.op(power, p.x, 3)), 2.0)
    assert "power_base" not in show(best)


def test_arrays_broadcast():
    p = Program(x=X, W=W, b=np.ones(3), k=2.0)
    h = p.op(np.tanh, p.op(add, p.op(operator.matmul, p.x, p.W), p.b), name="h")
    check(p.function(p.op(np.sum, p.op(mul, p.op(mul, h, h), p.k))), X, W, np.ones(3), 2.0)


def test_sum_of_squares_has_no_zeros_and_no_broadcast():
    p = Program(x=X)
    best = check(p.function(p.op(np.sum, p.op(mul, p.x, p.x))), X)
    assert "    dx = operator.mul(2, x*)\n    t = tuple(dx)" in show(best)
    assert len(best.body.statements) == 2


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
def test_reductions(axis):
    for function in (np.sum, np.mean, np.max, np.prod, np.var):
        p = Program(W=W)
        t = p.op(function, p.W, axis=axis)
        check(p.function(p.op(np.sum, p.op(mul, t, t))), W, second=function not in (np.max, np.prod))


def test_indexing_accumulates_into_one_buffer():
    p = Program(x=X)
    a, b = p.op(item, p.x, slice(1, None)), p.op(item, p.x, slice(None, -1))
    best = check(p.function(p.op(np.sum, p.op(mul, a, b))), X)
    text = show(best)
    assert text.count("zeros_like") == 1
    assert text.count("+=") == 1  # the first part is put in


def test_index_after_dense_use():
    p = Program(x=X)
    a = p.op(item, p.x, 0)
    check(p.function(p.op(add, p.op(np.sum, p.op(np.sin, p.x)), p.op(mul, a, a))), X)
    p = Program(x=X)
    a = p.op(item, p.x, Constant([0, 0, 2]))
    t = p.op(np.sum, p.op(mul, a, a))
    check(p.function(p.op(add, t, p.op(np.sum, p.op(np.exp, p.x)))), X)


def test_value_used_many_times_and_twice_in_one_call():
    p = Program(x=X, W=W)
    t = p.op(np.sin, p.x, name="s")
    u = p.op(mul, t, t)
    v = p.op(add, u, t)
    w = p.op(np.dot, v, v)
    check(p.function(p.op(add, w, p.op(np.sum, p.op(operator.matmul, t, p.W)))), X, W)


def test_result_is_an_argument_or_a_constant():
    p = Program(x=2.0, y=3.0)
    f = p.function(p.x)
    assert run(optimize.run(gradient(f, (0, 1), single=False)), 2.0, 3.0) == (1.0, 0.0)
    f = Program(x=2.0).function(Constant(3.0))
    assert run(optimize.run(gradient(f, (0,))), 2.0) == 0.0
    p = Program(x=X)
    f = p.function(Constant(3.0))
    np.testing.assert_array_equal(run(optimize.run(gradient(f, (0,))), X), np.zeros(4))


def test_the_result_has_to_be_a_real_scalar():
    p = Program(x=X)
    f = p.function(p.op(np.sin, p.x))
    for g in (gradient(f, (0,)), optimize.run(gradient(f, (0,)))):
        with pytest.raises(TypeError, match=r"shape \(4,\).*jacobian"):
            run(g, X)
    f = Program(x=2.0).function(Constant(None))
    with pytest.raises(TypeError, match="returned None"):
        run(optimize.run(gradient(f, (0,))), 2.0)
    p = Program(x=2.0)
    f = p.function(p.op(mul, p.x, 1j))
    with pytest.raises(TypeError, match="complex"):
        run(optimize.run(gradient(f, (0,))), 2.0)


def test_elementwise_seed():
    p = Program(x=X)
    f = p.function(p.op(np.sin, p.x))
    np.testing.assert_allclose(run(optimize.run(gradient(f, (0,), seed="ones")), X), np.cos(X))


def mystery(x):
    return x


def test_missing_rule_names_the_function():
    p = Program(x=X)
    t = p.op(mystery, p.x)
    f = p.function(p.op(np.sum, t))
    with pytest.raises(CompileError, match="mystery has no derivative rule"):
        gradient(f, (0,))


def test_has_aux():
    p = Program(x=2.0)
    t = p.op(mul, p.x, p.x)
    f = p.function(p.make(t, p.op(np.sin, p.x)))
    assert run(optimize.run(gradient(f, (0,), has_aux=True)), 2.0) == (4.0, np.sin(2.0))
    assert run(optimize.run(gradient(f, (0,), has_aux=True, value=True)), 2.0) == ((4.0, np.sin(2.0)), 4.0)


def test_complex():
    z = np.array([1 + 2j, 0.5 - 1j])
    p = Program(z=z, x=np.array([1.0, 2.0]))
    t = p.op(mul, p.op(np.exp, p.z), p.x)
    f = p.function(p.op(np.sum, p.op(np.real, p.op(mul, t, p.op(np.conjugate, t)))))
    best = gradient(f, (0, 1), single=False)
    for g in (best, optimize.run(best)):
        found = run(g, z, np.array([1.0, 2.0]))
        assert found[0].dtype == complex
        assert found[1].dtype == float
        for i in (0, 1):
            agree(found[i], differences(lambda *a: run(f, *a), (z, np.array([1.0, 2.0])), i), 1e-5)


def test_float32_stays():
    x = X.astype(np.float32)
    p = Program(x=x)
    f = p.function(p.op(np.mean, p.op(mul, p.op(np.sin, p.x), p.x)))
    assert run(optimize.run(gradient(f, (0,))), x).dtype == np.float32


def test_containers():
    pairs = [(W, np.ones(3)), (W.T.copy(), np.ones(4))]
    p = Program(layers=pairs, x=X)
    h = p.x
    for i in range(2):
        w, b = p.unpack(p.op(item, p.layers, i), "W", "b")
        h = p.op(np.tanh, p.op(add, p.op(operator.matmul, h, w), b), name="h")
    check(p.function(p.op(np.sum, p.op(mul, h, h))), pairs, X)


def test_container_leaves_without_cotangent():
    tree = {"a": 2.0, "unused": X, "name": "text", "n": (1.0, 3)}
    p = Program(tree=tree)
    a = p.op(item, p.tree, "a")
    f = p.function(p.op(mul, a, a))
    for g in (gradient(f, (0,)), optimize.run(gradient(f, (0,)))):
        d = run(g, tree)
        assert d["a"] == 4.0
        np.testing.assert_array_equal(d["unused"], np.zeros(4))
        assert d["name"] is None
        assert d["n"][0] == 0.0


@dataclass
class Point:
    x: float
    y: np.ndarray


def test_records():
    point = Point(2.0, X)
    p = Program(point=point)
    t = p.op(mul, p.op(getattr, p.point, "x"), p.op(getattr, p.point, "y"))
    f = p.function(p.op(np.sum, p.op(np.sin, t)))
    d = run(optimize.run(gradient(f, (0,))), point)
    assert isinstance(d, Point)
    agree([d.x, d.y], differences(lambda *a: run(f, *a), (point,), 0))


def test_concatenate_and_make():
    p = Program(x=X, y=X)
    t = p.op(np.concatenate, p.make(p.x, p.op(np.sin, p.y), p.x, kind=Kind.LIST))
    check(p.function(p.op(np.sum, p.op(mul, t, t))), X, 2 * X)


def test_unpack_array():
    p = Program(x=X)
    a, b, c, d = p.unpack(p.x, "a", "b", "c", "d")
    check(p.function(p.op(mul, p.op(add, p.op(mul, a, b), d), d)), X)


# ---------------------------------------------------------------- branches


@pytest.mark.parametrize("x", [0.7, -0.7])
def test_branch(x):
    p = Program(x=x, y=2.0)
    test = p.code("x > 0", x=p.x)
    (z,) = p.branch(test, lambda: (p.op(mul, p.op(np.sin, p.x), p.y),), lambda: (p.op(mul, p.x, p.x),), "z")
    check(p.function(p.op(mul, z, z)), x, 2.0)


@pytest.mark.parametrize("k", [1.0, -1.0])
def test_branch_on_arrays_with_outer_uses(k):
    p = Program(x=X, k=k)
    before = p.op(np.exp, p.x, name="e")
    test = p.code("k > 0", k=p.k)

    def then():
        t = p.op(mul, before, p.x)
        a = p.op(item, p.x, slice(1, None))
        return p.op(np.sum, p.op(mul, t, t)), p.op(np.sum, p.op(mul, a, a))

    a, b = p.branch(test, then, lambda: (p.op(np.sum, before), Constant(0.0)), "a", "b")
    c = p.op(item, p.x, 0)
    check(p.function(p.op(add, p.op(mul, a, b), p.op(mul, a, c))), X, k)


@pytest.mark.parametrize("k", [1.0, -1.0])
def test_branch_that_leaves_a_value(k):
    p = Program(x=X, k=k)
    (y,) = p.branch(p.code("k > 0", k=p.k), lambda: (p.op(mul, p.x, p.k),), lambda: (p.x,), "y")
    check(p.function(p.op(np.sum, p.op(np.sin, y))), X, k)


# ---------------------------------------------------------------- loops


@pytest.mark.parametrize("n", [0, 1, 3])
def test_loop_with_carried_number(n):
    p = Program(x=0.5, k=1.1, n=n)
    i = Value("i", ir.INT)

    def body(y):
        return (p.op(add, p.op(mul, p.op(np.sin, y), p.k), p.x),)

    (y,) = p.loop([(i, p.code("range(n)", n=p.n))], {"y": p.x}, body)
    best = check(p.function(p.op(mul, y, y)), 0.5, 1.1, n)
    assert show(best).count("saved") == 2  # saved once, read once


def test_loop_that_needs_its_index_saves_nothing():
    p = Program(x=X, n=4)
    i = Value("i", ir.INT)

    def body(y):
        return (p.op(add, y, p.op(mul, p.op(item, p.x, i), p.code("i + 1", ir.INT, i=i))),)

    (y,) = p.loop([(i, p.code("range(n)", n=p.n))], {"y": 0.0}, body)
    best = check(p.function(p.op(mul, y, y)), X, 4)
    assert "saved" not in show(best)


def test_loop_over_rows_and_reassigned_names():
    p = Program(W=W, x=np.ones(3))
    row = Value("row", types.infer(item, (p.W, Constant(0))))

    def body(y, z):
        t = p.op(np.sum, p.op(mul, row, p.x))
        return p.op(add, p.op(mul, y, t), z), p.op(np.sin, y)

    y, z = p.loop([(row, p.W)], {"y": 1.0, "z": 0.0}, body)
    check(p.function(p.op(mul, y, z)), W, np.ones(3))


def test_loop_over_layers():
    pairs = [(np.eye(3) + 0.1, np.ones(3)), (np.eye(3) - 0.2, np.ones(3)), (np.eye(3), np.zeros(3))]
    p = Program(layers=pairs, x=np.ones(3))
    t = p.layers.type.items[0].items
    w, b = Value("W", types.join(t[0], p.layers.type.items[1].items[0])), Value("b", ir.Type(Kind.ARRAY, "float64", 1))

    def body(h):
        return (p.op(np.tanh, p.op(add, p.op(operator.matmul, h, w), b)),)

    (h,) = p.loop([((w, b), p.layers)], {"h": p.x}, body)
    check(p.function(p.op(np.sum, p.op(mul, h, h))), pairs, np.ones(3))


def test_loop_over_zip_and_enumerate():
    p = Program(x=X, y=X, k=2.0)
    a, b, i = Value("a", ir.FLOAT64), Value("b", ir.FLOAT64), Value("i", ir.INT)

    def body(s):
        return (p.op(add, s, p.op(mul, p.op(mul, a, p.op(mul, b, b)), p.op(power, p.k, i))),)

    (s,) = p.loop([(i, None), (a, p.x), (b, p.y)], {"s": 0.0}, body)
    check(p.function(s), X, X[:3].copy(), 2.0, second=False)


def test_comprehension_and_stack():
    p = Program(x=X)
    a = Value("a", ir.FLOAT64)
    (ys,) = p.loop([(a, p.x)], {}, lambda: (p.op(mul, a, p.op(np.sin, a)),))
    first = p.op(item, ys, 0)
    t = p.op(np.array, ys)
    check(p.function(p.op(add, p.op(np.sum, p.op(mul, t, t)), first)), X, second=False)


def test_collected_list_read_in_another_loop():
    p = Program(x=X, k=2.0)
    a, b = Value("a", ir.FLOAT64), Value("b", ir.FLOAT64)
    (ys,) = p.loop([(a, p.x)], {}, lambda: (p.op(mul, a, p.k),))
    (s,) = p.loop([(b, ys)], {"s": 1.0}, lambda s: (p.op(add, p.op(mul, s, b), b),))
    check(p.function(s), X, 2.0)


def test_nested_loops_with_outer_arrays():
    p = Program(W=W, x=X, n=2)
    i, j = Value("i", ir.INT), Value("j", ir.INT)

    def outer(y):
        def inner(z):
            t = p.op(item, p.W, p.code("i, j", i=i, j=j))
            return (p.op(add, p.op(mul, z, t), p.op(np.sum, p.op(mul, p.x, y))),)

        (z,) = p.loop([(j, p.code("range(3)"))], {"z": y}, inner)
        return (p.op(np.sin, z),)

    (y,) = p.loop([(i, p.code("range(n)", n=p.n))], {"y": 0.5}, outer)
    check(p.function(y), W, X / 4, 2)


def test_branch_in_loop_and_loop_in_branch():
    p = Program(x=X, k=1.5, n=5)
    i, j = Value("i", ir.INT), Value("j", ir.INT)

    def body(y):
        t = p.op(np.sin, y, name="s")

        def then():
            (z,) = p.loop([(j, p.code("range(2)"))], {"z": t}, lambda z: (p.op(mul, p.op(mul, z, z), p.k),))
            return (p.op(add, z, p.op(item, p.x, 0)),)

        return p.branch(p.code("i % 2 == 0", i=i), then, lambda: (p.op(mul, t, p.op(np.sum, p.x)),), "y")

    (y,) = p.loop([(i, p.code("range(n)", n=p.n))], {"y": p.k}, body)
    check(p.function(y), X / 4, 1.5, 5)


def test_carried_array_from_outside_is_not_written_into():
    p = Program(x=X, n=3)
    i = Value("i", ir.INT)

    def body(u):
        return (p.op(add, u, p.op(mul, 0.1, p.op(np.sin, u))),)

    (u,) = p.loop([(i, p.code("range(n)", n=p.n))], {"u": p.x}, body)
    a = p.op(item, u, 0)
    check(p.function(p.op(add, p.op(np.sum, p.op(mul, u, u)), a)), X, 3)


def test_carried_tuple():
    p = Program(x=0.3, v=X, n=3)
    i = Value("i", ir.INT)
    state = p.make(p.x, p.v)

    def body(state):
        x, v = p.unpack(state, "x", "v")
        return (p.make(p.op(add, x, p.op(np.sum, p.op(mul, v, v))), p.op(mul, v, x)),)

    (state,) = p.loop([(i, p.code("range(n)", n=p.n))], {"state": state}, body)
    x, v = p.unpack(state, "x", "v")
    check(p.function(p.op(add, x, p.op(np.sum, v))), 0.3, X / 5, 3)


def test_list_indexed_in_a_loop():
    weights = [1.5, 0.5, 2.0]
    p = Program(ws=weights, x=2.0)
    i = Value("i", ir.INT)

    def body(y):
        w = p.op(item, p.ws, i)
        w.type = ir.FLOAT
        return (p.op(mul, p.op(np.sin, y), w),)

    (y,) = p.loop([(i, p.code("range(len(ws))", ws=p.ws))], {"y": p.x}, body)
    check(p.function(p.op(mul, y, y)), weights, 2.0, second=False)


def test_carried_value_that_only_its_last_turn_gives():
    p = Program(x=X)
    a = Value("a", ir.FLOAT64)
    y, z = p.loop([(a, p.x)], {"y": 0.0, "z": 1.0}, lambda y, z: (p.op(np.sin, a), p.op(add, z, y)))
    check(p.function(p.op(mul, y, z)), X)


# ---------------------------------------------------------------- calls


def test_call():
    q = Program(a=X, b=2.0)
    helper = q.function(q.op(mul, q.op(np.sin, q.a), q.b), name="helper")
    p = Program(x=X, k=2.0)
    y = p.call(helper, p.x, p.k, type=p.x.type)
    z = p.call(helper, y, Constant(3.0), type=p.x.type)
    check(p.function(p.op(np.sum, p.op(mul, z, p.x))), X, 2.0)


def test_recursion():
    callee = ir.Callee("power", (True, True, False))
    q = Program(a=1.0, b=1.0, n=3)

    def again():
        rest = q.call(None, q.a, q.op(mul, q.b, q.a), q.code("n - 1", ir.INT, n=q.n), callee=callee, type=ir.FLOAT)
        return (q.op(mul, q.op(np.sin, q.a), rest),)

    (y,) = q.branch(q.code("n == 0", n=q.n), lambda: (q.b,), again, "y", type=ir.FLOAT)
    callee.function = q.function(y, name="power")
    p = Program(x=0.7, n=3)
    check(p.function(p.call(None, p.x, p.x, p.n, callee=callee, type=ir.FLOAT)), 0.7, 3)


def test_pair():
    p = Program(x=X, k=2.0)
    f = p.function(p.op(mul, p.op(np.sin, p.x), p.k))
    forward, backward = (optimize.run(one) for one in pair(f, (True, True)))
    out, saved = run(forward, X, 2.0)
    np.testing.assert_array_equal(out, np.sin(X) * 2.0)
    g = np.ones(4)
    dx, dk = run(backward, saved, g)
    np.testing.assert_allclose(dx, np.cos(X) * 2.0)
    np.testing.assert_allclose(dk, np.sum(np.sin(X)))


def test_items_of_variadic_parameters():
    p = Program(args=(2.0, X))
    a, b = p.unpack(p.args, "a", "b")
    f = p.function(p.op(np.sum, p.op(mul, a, b)))
    np.testing.assert_allclose(run(optimize.run(gradient(f, ((0, 1),))), (2.0, X)), np.full(4, 2.0))


@pytest.mark.parametrize("index", [0, -2, slice(0, 1)])
def test_items_of_variadic_parameters_by_any_index(index):
    p = Program(args=(2.0, X))
    a = p.op(item, p.args, index)
    if isinstance(index, slice):
        (a,) = p.unpack(a, "a")
    b = p.op(item, p.args, 1)
    f = p.function(p.op(np.sum, p.op(mul, a, b)))
    assert run(optimize.run(gradient(f, ((0, 0),))), (2.0, X)) == pytest.approx(np.sum(X))


def test_slices_of_lists():
    layers = [2.0, 3.0, 4.0]
    p = Program(layers=layers)
    a, b = p.unpack(p.op(item, p.layers, slice(None, -1)), "a", "b")
    check(p.function(p.op(mul, p.op(mul, a, a), b)), layers)


def test_an_item_that_is_not_there_is_refused():
    p = Program(pair=(2.0, 3.0))
    t = p.op(item, p.pair, 5)
    with pytest.raises(CompileError, match="not there"):
        gradient(p.function(p.op(np.sin, t)), (0,))
