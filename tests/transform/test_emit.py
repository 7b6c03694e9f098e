"""What the emitter writes, to the letter, and that it computes what the IR says."""

import math
import operator as o
import textwrap
from collections import namedtuple

import gast
import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.emit import emit
from s2sgrad.transform.emit.load import load
from s2sgrad.transform.emit.printer import show, unparse
from s2sgrad.transform.ir import Accumulate, Bind, Block, Call, Callee, Carried, For, If, Make, Op, Source, Unpack

from .builders import ARRAY, LIST, TUPLE, at, code, const, cut, function, value, values, verbatim


def text(source: str) -> str:
    return textwrap.dedent(source).lstrip("\n")


def check(f, expected: str, *arguments, result=None):
    emitted = emit([f])
    assert emitted.source == text(expected)
    if arguments:
        assert load(emitted)(*arguments) == pytest.approx(result)


# ------------------------------------------------------------------------------------ whole programs


def heat():
    u0, k, steps, u, u1, u2, u3 = (*values("u0 k steps"), *values("u u u u", ARRAY))
    lap, saved, t = value("lap", ARRAY), value("saved", LIST), values("t " * 20)
    inside = Block(
        [
            Op(t[0], o.getitem, (u1, cut(2, None))),
            Op(t[1], o.getitem, (u1, cut(1, -1))),
            Op(t[2], o.mul, (const(2), t[1])),
            Op(t[3], o.sub, (t[0], t[2])),
            Op(t[4], o.getitem, (u1, cut(-2))),
            Op(lap, o.add, (t[3], t[4])),
            Op(t[5], o.mul, (k, lap)),
            Accumulate(u2, u1, cut(1, -1), t[5]),
        ],
        (u2, lap),
    )
    du, du1, du2, du3, du4, du5 = values("du " * 6, ARRAY)
    dk, dk1, dk2 = values("dk dk dk", ir.FLOAT)
    lap1, dlap, pair = value("lap", ARRAY), value("dlap", ARRAY), value("t", TUPLE)
    product, stencil = at(4, "k * lap"), at(4, "u[2:] - 2 * u[1:-1] + u[:-2]")
    back = Block(
        [
            Op(t[6], o.getitem, (du1, cut(1, -1)), location=product),
            Op(t[7], o.mul, (t[6], lap1), location=product),
            Op(t[8], np.sum, (t[7],), location=product),
            Op(dk1, o.add, (dk, t[8]), location=product),
            Op(t[9], o.getitem, (du1, cut(1, -1)), location=product),
            Op(dlap, o.mul, (k, t[9]), location=product),
            Accumulate(du2, du1, cut(2, None), dlap, stencil),
            Op(t[10], o.mul, (const(2), dlap), location=stencil),
            Op(t[11], o.neg, (t[10],), location=stencil),
            Accumulate(du3, du2, cut(1, -1), t[11], stencil),
            Accumulate(du4, du3, cut(-2), dlap, stencil),
        ],
        (du4, dk1),
    )
    statements = [
        Op(u, np.copy, (u0,), spelling="copy()"),
        For([Source(value("_"), code("range(steps)", steps=steps))], [Carried(u1, u, u3)], inside, [saved]),
        Op(du, o.mul, (const(2), u3), location=at(5, "np.sum(u * u)")),
        For([Source(lap1, saved, reverse=True)], [Carried(du1, du, du5), Carried(dk, const(0.0), dk2)], back),
        Make(pair, (du5, dk2)),
    ]
    return function("heat_grad", [u0, k, steps], statements, pair, backward_at=2)


def test_heat_reads_as_the_design_promises():
    f = heat()
    check(
        f,
        """
        def heat_grad(u0, k, steps):
            # forward
            u = u0.copy()
            saved = []
            for _ in range(steps):
                lap = u[2:] - 2 * u[1:-1] + u[:-2]
                saved.append(lap)
                u[1:-1] += k * lap
            # backward
            du = 2 * u                        # line 5: np.sum(u * u)
            dk = 0.0
            for lap in reversed(saved):
                dk += np.sum(du[1:-1] * lap)  # line 4: k * lap
                dlap = k * du[1:-1]
                du[2:] += dlap
                du[1:-1] -= 2 * dlap
                du[:-2] += dlap
            return du, dk
        """,
    )
    du, dk = load(emit([f]))(np.arange(6.0) ** 2, 0.1, 3)
    assert dk == pytest.approx(346.6344)
    assert du[0] == pytest.approx(1.014852)


def root():
    a, x, x1, x2, saved, result = values("a x x x saved t")
    t, u = values("t t")
    body = Block(
        [Op(t, o.truediv, (a, x)), Op(u, o.add, (x, t)), Op(x1, o.mul, (const(0.5), u))],
        (x1, x),
    )
    loop = For([Source(value("_"), code("range(3)"))], [Carried(x, a, x2)], body, [saved])
    result.type = TUPLE
    return function("root", [a], [loop, Make(result, (x2, saved))], result)


def test_a_value_is_saved_before_its_name_goes_to_the_next_version():
    f = root()
    check(
        f,
        """
        def root(a):
            x = a
            saved = []
            for _ in range(3):
                saved.append(x)
                x = 0.5 * (x + a / x)
            return x, saved
        """,
    )
    x, saved = load(emit([f]))(2.0)
    assert saved == pytest.approx([2.0, 1.5, 17 / 12])
    assert x == pytest.approx(math.sqrt(2), rel=1e-5)


def test_values_that_change_places():
    a, b, a1, b1, a2, b2, new = values("a b a b a b b")
    loop = For(
        [Source(value("i"), code("range(5)"))],
        [Carried(a1, a, a2), Carried(b1, b, b2)],
        Block([Op(new, o.add, (a1, b1))], (b1, new)),
    )
    check(
        function("fibonacci", [a, b], [loop], b2),
        """
        def fibonacci(a, b):
            for i in range(5):
                a, b = b, a + b
            return b
        """,
        *(1, 1),
        result=13,
    )


# ------------------------------------------------------------------------------------- expressions


def test_precedence():
    x, y, t, u, v, w, r = values("x y t t t t t")
    statements = [
        Op(t, o.sub, (x, y)),
        Op(u, o.pow, (t, const(-2))),
        Op(v, o.neg, (u,)),
        Op(w, o.sub, (x, v)),
        Op(r, o.matmul, (w, y)),
    ]
    check(
        function("f", [x, y], statements, r),
        """
        def f(x, y):
            return (x + (x - y) ** -2) @ y
        """,
    )


def test_a_named_value_keeps_its_line_and_long_expressions_are_split():
    x, y = values("x y")
    statements = [Op(y, np.sin, (x,))]
    last = y
    for _ in range(9):
        t, u = values("t t")
        statements += [Op(t, np.arctan2, (last, x)), Op(u, o.mul, (t, const(0.123456)))]
        last = u
    source = emit([function("f", [x], statements, last)]).source
    assert "    y = np.sin(x)\n" in source
    assert source.count("\n") > 3
    assert max(map(len, source.splitlines())) <= 100
    expected = np.sin(0.5)
    for _ in range(9):
        expected = np.arctan2(expected, 0.5) * 0.123456
    assert load(emit([function("f", [x], statements, last)]))(0.5) == expected


def test_a_temporary_does_not_move_past_a_write_to_what_it_reads():
    x, d, d1, t, r = values("x d d t t", ARRAY)
    statements = [
        Op(d, np.zeros_like, (x,)),
        Op(t, np.sum, (d,)),
        Accumulate(d1, d, const(0), const(3.0)),
        Op(r, o.add, (t, x)),
    ]
    check(
        function("f", [x], statements, r),
        """
        def f(x):
            d = np.zeros_like(x)
            t = np.sum(d)
            d[0] += 3.0
            return t + x
        """,
    )


def test_a_temporary_does_not_move_past_an_effect():
    x, t, r = values("x t t", ARRAY)
    statements = [Op(t, np.sum, (x,)), verbatim("x[0] = 7.0", {"x": x}, {}), Op(r, o.mul, (t, const(2.0)))]
    f = function("f", [x], statements, r)
    check(
        f,
        """
        def f(x):
            t = np.sum(x)
            x[0] = 7.0
            return t * 2.0
        """,
    )
    assert load(emit([f]))(np.ones(3)) == 6.0


def test_effects_keep_their_order():
    calls = []

    def first():
        calls.append("first")
        return 1.0

    def second():
        calls.append("second")
        return 2.0

    t, u, r = values("t t t")
    statements = [Bind(t, code("first()")), Bind(u, code("second()")), Op(r, o.sub, (u, t))]
    f = function("f", [], statements, r, names={"first": first, "second": second})
    assert load(emit([f]))() == 1.0
    assert calls == ["first", "second"]
    swapped = function("g", [], [*statements[:2], Op(r, o.sub, (t, u))], r)
    assert emit([swapped]).source == "def g():\n    return first() - second()\n"


@pytest.mark.parametrize(
    ("index", "shown"),
    [
        (cut(None, None, -1), "d[::-1] += x"),
        (const((slice(1, None), None, ..., -1)), "d[1:, None, ..., -1] += x"),
        (code("slice(1, n)", n=value("n", ir.INT)), "d[1:n] += x"),
        (code("(slice(None, n), 0)", n=value("n", ir.INT)), "d[:n, 0] += x"),
        (code("(i + 1, -1)", i=value("i", ir.INT)), "d[i + 1, -1] += x"),
        (code("rows", rows=value("rows", ARRAY)), "add_at(d, rows, x)"),
        (code("(rows, slice(1, 2))", rows=value("rows")), "add_at(d, (rows, slice(1, 2)), x)"),
        (const(True), "add_at(d, True, x)"),
    ],
)
def test_accumulation_by_index(index, shown):
    d, d1, x, r = values("d d x t", ARRAY)
    reads = list(index.reads.values()) if isinstance(index, ir.Code) else []
    statements = [Op(d, np.zeros_like, (x,)), Accumulate(d1, d, index, x), Op(r, o.neg, (d1,))]
    source = emit([function("f", [x, *reads], statements, r)]).source
    assert source.splitlines()[2].strip() == shown


def test_accumulation_into_containers():
    d, d1, d2 = values("d d d", ir.Type(ir.Kind.LIST, items=(ir.FLOAT,), element=ir.FLOAT))
    x = value("x")
    statements = [Make(d, (ir.ZERO, x)), Accumulate(d1, d, const(0), x), Accumulate(d2, d1, None, d1)]
    check(
        function("f", [x], statements, d2),
        """
        def f(x):
            d = [None, x]
            d[0] = tree_add(d[0], x)
            d = tree_add(d, d)
            return d
        """,
        *(2.0,),
        result=[4.0, 4.0],
    )


def test_make():
    x, t, u, v, r = values("x t t t t")
    point = namedtuple("point", "a b")
    t.type = ir.Type(ir.Kind.DICT, keys=("w", 3))
    u.type = ir.Type(ir.Kind.RECORD, keys=("a", "b"), cls=point)
    v.type = r.type = TUPLE
    statements = [Make(t, (x, ir.ZERO)), Make(u, (x, const(1.5))), Make(v, (x,)), Make(r, (t, u, v))]
    f = function("f", [x], statements, r)
    check(
        f,
        """
        def f(x):
            return {"w": x, 3: None}, point(a=x, b=1.5), (x,)
        """,
    )
    assert load(emit([f]))(2) == ({"w": 2, 3: None}, point(2, 1.5), (2,))


@pytest.mark.parametrize(
    ("constant", "shown"),
    [
        (-2.0, "-2.0"),
        (0.1, "0.1"),
        (math.inf, "np.inf"),
        (-math.inf, "-np.inf"),
        (math.nan, "np.nan"),
        (1j, "1j"),
        ("it's", '"it\'s"'),
        ((1, "a", None), '(1, "a", None)'),
        (np.float32(0.5), "np.float32(0.5)"),
        (np.float64, "np.float64"),
        (slice(None, 3), "slice(3)"),
        (..., "..."),
    ],
)
def test_constants(constant, shown):
    x, r = values("x t")
    statements = [Op(r, np.multiply, (x, const(constant)))]
    assert emit([function("f", [x], statements, r)]).source == f"def f(x):\n    return np.multiply(x, {shown})\n"


def test_spellings():
    x, t, u, v, w, z, r = values("x t t t t t t")
    statements = [
        Op(t, np.sum, (x,), {"axis": const(0)}, spelling="sum()"),
        Op(u, np.transpose, (t,), spelling="T"),
        Op(v, np.sin, (u,), spelling=code("mysin")),
        Op(w, np.absolute, (v,)),
        Op(z, np.linalg.det, (w,)),
        Op(r, abs, (z,)),
    ]
    check(
        function("f", [x], statements, r, names={"mysin": np.sin}),
        """
        def f(x):
            return abs(np.linalg.det(np.abs(mysin(x.sum(axis=0).T))))
        """,
    )


def test_the_users_own_name_for_numpy():
    x, r = values("x t")
    f = function("f", [x], [Op(r, np.sin, (x,))], r)
    f.namespace.globals.pop("np")
    assert "np.sin" in emit([f]).source  # bound by the closure
    assert load(emit([f]))(0.0) == 0.0
    f.namespace.globals["num"] = np
    assert "num.sin" in emit([f]).source
    f.namespace.globals["np"] = object()
    assert "num.sin" in emit([f]).source


def test_a_parameter_called_np():
    x, r = values("np t")
    f = function("f", [x], [Op(r, np.sin, (x,))], r)
    assert load(emit([f]))(0.0) == 0.0


# ------------------------------------------------------------------------------------------- names


def test_versions_share_a_name_unless_both_are_needed():
    x, y, y1, y2, r, t = values("x y y y t t")
    statements = [
        Op(y, np.sin, (x,)),
        Op(y1, np.cos, (y,)),
        Op(y2, np.exp, (y1,)),
        Op(t, o.mul, (y1, y2)),
        Op(r, o.add, (t, y2)),
    ]
    check(
        function("f", [x], statements, r),
        """
        def f(x):
            y = np.sin(x)
            y = np.cos(y)
            y1 = np.exp(y)
            return y * y1 + y1
        """,
    )


def test_names_avoid_what_the_code_means_by_them():
    x, scale, over, t = values("x scale over t")
    statements = [
        Op(scale, o.mul, (x, code("scale"))),
        Op(over, arrays.over, (scale, x)),
        Op(t, o.add, (over, scale)),
    ]
    f = function("f", [x], statements, t, names={"scale": 3.0})
    check(
        f,
        """
        def f(x):
            scale1 = x * scale
            over1 = over(scale1, x)
            return over1 + scale1
        """,
        *(2.0,),
        result=9.0,
    )


def test_user_code_is_renamed_where_its_variables_are():
    x, y, y1, r = values("x y y t")
    read = ir.Bind(value("z"), code("[y + 1 for y in [y]] + [(lambda y, z=y: y + z)(y)]", y=y1))
    statements = [Op(y, np.sin, (x,)), Op(y1, np.cos, (y,)), read]
    total = value("t", TUPLE)
    statements.append(Make(total, (read.target, y)))
    f = function("f", [x], statements, total)
    z, y = load(emit([f]))(0.5)
    cosine = np.cos(np.sin(0.5))
    assert z == [cosine + 1, cosine + cosine]
    assert y == np.sin(0.5)
    assert r.name == "t"


def test_verbatim_statements_use_one_variable_for_what_they_read_and_write():
    x, n, n1, r = values("x n n t")
    r.type = TUPLE
    statements = [Bind(n, code("len(x)", x=x)), verbatim("n += 1", {"n": n}, {"n": n1}), Make(r, (n, n1))]
    check(
        function("f", [x], statements, r),
        """
        def f(x):
            n = len(x)
            n1 = n
            n1 += 1
            return n, n1
        """,
        *([1, 2],),
        result=(2, 3),
    )


# ------------------------------------------------------------------------------- branches and loops


def branch(then, orelse):
    x, c, y, y2, r = values("x t y y t")
    statements = [
        Op(c, o.gt, (x, const(0))),
        Op(y, o.mul, (x, x)),
        If(c, then(y), orelse(y), (y2,)),
        Op(r, np.sin, (y2,)),
    ]
    return function("f", [x], statements, r)


def more(y):
    y1 = value("y")
    return Block([Op(y1, o.add, (y, const(1.0)))], (y1,))


def same(y):
    return Block([], (y,))


def test_an_empty_branch_is_dropped():
    check(
        branch(more, same),
        """
        def f(x):
            y = x * x
            if x > 0:
                y = y + 1.0
            return np.sin(y)
        """,
        *(2.0,),
        result=np.sin(5.0),
    )
    check(
        branch(same, more),
        """
        def f(x):
            y = x * x
            if not x > 0:
                y = y + 1.0
            return np.sin(y)
        """,
        *(2.0,),
        result=np.sin(4.0),
    )


def test_placeholders_that_nothing_reads_are_left_out():
    x, c, t, t1, y, y1, y2, dx, dx1, dx2, copy = values("x t t t y y y dx dx dx t")
    test = code("x > 0", x=x)
    statements = [
        If(test, Block([Op(t, np.sin, (x,)), Op(y, o.mul, (t, x))], (y, t)), Block([], (x, const(None))), (y1, t1)),
        If(test, Block([Op(dx, o.mul, (t1, y1))], (dx,)), Block([], (y1,)), (dx1,)),
    ]
    check(
        function("f", [x], statements, dx1),
        """
        def f(x):
            if x > 0:
                t = np.sin(x)
                y = t * x
            else:
                y = x
            if x > 0:
                dx = t * y
            else:
                dx = y
            return dx
        """,
        *(-2.0,),
        result=-2.0,
    )
    other = code("x > 1", x=x)
    statements[1] = If(other, Block([Op(dx, o.mul, (t1, y1))], (dx,)), Block([], (y1,)), (dx1,))
    assert "        t = None\n" in emit([function("f", [x], statements, dx1)]).source


def test_one_value_handed_on_twice_is_one_variable():
    x, y, z, y1, again, dx, dx1 = values("x y z y y dx dx")
    test = code("x > 0", x=x)
    statements = [
        If(test, Block([Op(y, o.mul, (x, x))], (y, y)), Block([Op(z, np.sin, (x,))], (z, const(None))), (y1, again)),
        If(test, Block([Op(dx, o.mul, (again, y1))], (dx,)), Block([], (y1,)), (dx1,)),
    ]
    check(
        function("f", [x], statements, dx1),
        """
        def f(x):
            if x > 0:
                y = x * x
            else:
                z = np.sin(x)
                y = z
            if x > 0:
                dx = y * y
            else:
                dx = y
            return dx
        """,
        *(2.0,),
        result=16.0,
    )


def test_a_cotangent_is_finished_where_it_is_returned_and_added_up_in_one_line():
    x, y, dx, dx1, dx2, dx3, dy, both = values("x y dx dx dx dx dy t")
    both.type = TUPLE
    here, head = at(2, "return x * y + x"), at(1, "def user(x, y):")
    statements = [
        Op(dx, o.mul, (y, const(2.0)), location=here),
        Op(dx1, np.sin, (y,), location=here),
        Op(dx2, o.add, (dx, dx1), location=here),
        Op(dy, o.mul, (x, const(2.0)), location=here),
        Op(dx3, arrays.as_gradient, (dx2, x), location=head),
        Make(both, (dx3, dy)),
    ]
    f = function("f", [x, y], statements, both, backward_at=0, location=head)
    check(
        f,
        """
        def f(x, y):
            dx = y * 2.0 + np.sin(y)  # line 2: x * y + x
            dy = x * 2.0
            return as_gradient(dx, x), dy
        """,
    )


def test_elif():
    x, c, d, y, y1, y2, y3, y4 = values("x t t y y y y y")
    inner = If(
        d,
        Block([Op(y1, np.cos, (x,)), Op(y2, np.exp, (y1,))], (y2,)),
        Block([Op(y3, np.tan, (x,))], (y3,)),
        (y4,),
    )
    outer = If(
        c,
        Block([Op(y, np.sin, (x,))], (y,)),
        Block([Op(d, o.lt, (x, const(-1)))] + [inner], (y4,)),
        (result := value("y"),),
    )
    check(
        function("f", [x], [Op(c, o.gt, (x, const(0))), outer], result),
        """
        def f(x):
            if x > 0:
                y = np.sin(x)
            elif x < -1:
                y = np.cos(x)
                y = np.exp(y)
            else:
                y = np.tan(x)
            return y
        """,
        *(-2.0,),
        result=np.exp(np.cos(2.0)),
    )


def test_a_conditional_expression():
    x, c, a, b, choice, y = values("x t t t t y")
    statements = [
        Op(c, o.gt, (x, const(0))),
        If(c, Block([Op(a, o.mul, (x, x))], (a,)), Block([Op(b, o.neg, (x,))], (b,)), (choice,)),
        Op(y, o.mul, (choice, const(2.0))),
    ]
    check(
        function("f", [x], statements, y),
        """
        def f(x):
            y = (x * x if x > 0 else -x) * 2.0
            return y
        """,
        *(-3.0,),
        result=6.0,
    )


def test_branches_that_exchange_values():
    x, y, x1, y1, c, r = values("x y x y t t")
    r.type = TUPLE
    statements = [
        Op(c, o.gt, (x, y)),
        If(c, Block([], (y, x)), Block([], (x, y)), (x1, y1)),
        Make(r, (x1, y1)),
    ]
    check(
        function("f", [x, y], statements, r),
        """
        def f(x, y):
            if x > y:
                x, y = y, x
            return x, y
        """,
        *(3.0, 1.0),
        result=(1.0, 3.0),
    )


def test_zip_and_enumerate():
    a, b, i, x, y, total, total1, total2, t, u = values("a b i x y s s s t t")
    loop = For(
        [Source(i, None, count=True, start=const(1)), Source(x, a), Source((y, None), b, reverse=True)],
        [Carried(total, const(0.0), total2)],
        Block([Op(t, o.mul, (x, y)), Op(u, o.mul, (i, t)), Op(total1, o.add, (total, u))], (total1,)),
    )
    check(
        function("f", [a, b], [loop], total2),
        """
        def f(a, b):
            s = 0.0
            for i, (x, (y, _)) in enumerate(zip(a, reversed(b)), 1):
                s = s + i * (x * y)
            return s
        """,
        *([1.0, 2.0], [(3.0, 0), (4.0, 0)]),
        result=16.0,
    )


def test_a_number_is_incremented():
    x, total, total1, total2 = values("x s s s", ir.FLOAT)
    loop = For(
        [Source(x, a := value("a"))],
        [Carried(total, const(0.0), total2)],
        Block([Op(total1, o.sub, (total, x))], (total1,)),
    )
    source = emit([function("f", [a], [loop], total2)]).source
    assert "        s -= x\n" in source


def test_nested_loops_and_tuples_of_saved_values():
    a, row, x, total, total1, total2, outer, outer1, outer2 = values("a row x s s s s s s", ir.FLOAT)
    saved, inner, pair, result, new = values("saved saved t t y")
    pair.type = result.type = TUPLE
    inside = For(
        [Source(x, row)],
        [Carried(total, outer, total2)],
        Block([Op(new, np.sin, (x,)), Op(total1, o.add, (total, new)), Make(pair, (x, new))], (total1, pair)),
        [inner],
    )
    loop = For([Source(row, a)], [Carried(outer, const(0.0), outer2)], Block([inside], (total2, inner)), [saved])
    f = function("f", [a], [loop, Make(result, (outer2, saved))], result)
    check(
        f,
        """
        def f(a):
            s = 0.0
            saved = []
            for row in a:
                saved1 = []
                for x in row:
                    y = np.sin(x)
                    saved1.append((x, y))
                    s += y
                saved.append(saved1)
            return s, saved
        """,
    )
    total, lists = load(emit([f]))([[1.0, 2.0], [3.0]])
    assert total == pytest.approx(np.sin([1.0, 2.0, 3.0]).sum())
    assert lists == [[(1.0, np.sin(1.0)), (2.0, np.sin(2.0))], [(3.0, np.sin(3.0))]]


# ----------------------------------------------------------------------------- functions and comments


def test_a_function_and_those_it_calls():
    x, y, u, out, saved, result = values("x y u t saved t")
    forward = function("g_forward", [u], [Op(out, np.sin, (u,))], out)
    name_clash = function("g_forward", [u], [Op(out, np.cos, (u,))], out)
    statements = [Call(y, Callee("g", (True,), forward), (x,)), Call(saved, Callee("g", (True,), name_clash), (y,))]
    statements.append(Op(result, o.mul, (y, saved)))
    emitted = emit([function("f", [x], statements, result)])
    assert emitted.source == text(
        """
        def f(x):
            y = g_forward(x)
            saved = g_forward1(y)
            return y * saved


        def g_forward(u):
            return np.sin(u)


        def g_forward1(u):
            return np.cos(u)
        """
    )
    assert load(emitted)(0.5) == np.sin(0.5) * np.cos(np.sin(0.5))
    assert [unit.line for unit in emitted.units] == [1, 7, 11]


def test_the_two_halves_of_a_derivative_stand_together():
    x, a, b = values("x a b")
    halves = {n: function(n, [x], [], x) for n in ("g_forward", "h_forward", "h_backward", "g_backward")}
    last, statements = x, []
    for half in halves.values():
        new = value("a")
        statements.append(Call(new, Callee(half.name, (True,), half), (last,)))
        last = new
    emitted = emit([function("f", [x], statements, last)])
    assert [u.name for u in emitted.units] == ["f", "g_forward", "g_backward", "h_forward", "h_backward"]


def test_signs_stay():
    """The negative of the negative is an array of its own, which `x` is not."""
    x, t, u, r = values("x t t t")
    statements = [Op(t, o.neg, (x,)), Op(u, o.neg, (t,)), Op(r, o.add, (u, x))]
    assert emit([function("f", [x], statements, r)]).source == "def f(x):\n    return --x + x\n"


def test_recursion():
    n, c, r, t, u, v, w = values("n t t t t t t")
    me = Callee("down", (True,))
    f = function(
        "down",
        [n],
        [
            Op(c, o.le, (n, const(0))),
            If(
                c,
                Block([], (const(0.5),)),
                Block([Op(t, o.sub, (n, const(1))), Call(u, me, (t,)), Op(v, o.mul, (u, const(2.0)))], (v,)),
                (w,),
            ),
        ],
        w,
    )
    me.function = f
    check(
        f,
        """
        def down(n):
            return 0.5 if n <= 0 else down(n - 1) * 2.0
        """,
        *(3,),
        result=4.0,
    )
    assert r.name == "t"


def test_a_call_is_unpacked_where_it_is_made():
    x, out, saved, both, r = values("x y saved t t")
    g = function("g", [u := value("u")], [Make(t := value("t", TUPLE), (u, const(2.0)))], t)
    statements = [Call(both, Callee("g", (True,), g), (x,)), Unpack((out, saved), both), Op(r, o.mul, (out, saved))]
    source = emit([function("f", [x], statements, r)]).source
    assert source.startswith("def f(x):\n    y, saved = g(x)\n    return y * saved\n")


def test_signatures():
    x, args, scale, options = values("x args scale options")
    parameters = [
        ir.Parameter(x),
        ir.Parameter(args, "*"),
        ir.Parameter(scale, keyword_only=True, default=code("1.0")),
        ir.Parameter(options, "**"),
    ]
    f = function("f", parameters, [], x, doc="The first of its arguments.")
    assert emit([f]).source == text(
        '''
        def f(x, *args, scale=1.0, **options):
            """The first of its arguments."""
            return x
        '''
    )
    bare = [ir.Parameter(x, default=code("3")), ir.Parameter(scale, keyword_only=True)]
    assert emit([function("f", bare, [], x)]).source.startswith("def f(x=3, *, scale):\n")


def test_comments_are_said_once_kept_short_and_name_other_functions():
    x, y, z, w, r = values("x dy dz dw t")
    long = "np.sum(x * np.sin(x) + np.cos(x) ** 2 - np.exp(x))"
    statements = [
        Op(y, np.sin, (x,), location=at(3, long)),
        Op(z, np.sin, (y,), location=at(3, long)),
        Op(w, np.sin, (z,), location=at(4, "z  =   w")),
        Op(r, np.sin, (w,), location=at(3, "x")),
    ]
    f = function("f", [x], statements, r, backward_at=0, location=at(1, "def user(x):"))
    assert emit([f]).source == text(
        """
        def f(x):
            dy = np.sin(x)     # line 3: np.sum(x * np.sin(x) + np.cos(x) ** 2 - np.ex...
            dz = np.sin(dy)
            dw = np.sin(dz)    # line 4: z = w
            return np.sin(dw)  # line 3: x
        """
    )
    f.location = ir.Location("user.py", 1, "", "caller")
    assert "# user, line 4: z = w\n" in emit([f]).source


# ----------------------------------------------------------------------------------------- printing


@pytest.mark.parametrize(
    "source",
    [
        "a ** -b ** c",
        "(a ** b) ** c",
        "-a ** b",
        "(-a) ** b",
        "a - (b - c)",
        "a / (b * c)",
        "not a == b",
        "(not a) == b",
        "a < b <= c",
        "(a < b) < c",
        "(a and b or c) and d",
        "(a if b else c) if d else e",
        "a if b else c if d else e",
        "lambda x, *y, z=1, **k: x + z",
        "(lambda: a)()",
        "f(*a, b, c=d, **e)",
        "f(x for x in y if x)",
        "f((x for x in y), 1)",
        "[x + y for x, y in zip(a, b) if x if y]",
        "{k: v for k, v in d.items()}",
        "{1, 2}",
        "{**a, 'b': 1}",
        "x[1:2, ::3, None, ...]",
        "x[()]",
        "x[(1,)]",
        "(1).real",
        "(1.5).real",
        "'a' 'b'",
        "'\\n\"'",
        "b'x'",
        "1e400",
        "-1j",
        "f'{a!r:>{w}} {{x}} {b[\"k\"]}\\n'",
        "f'{ {1: 2}[1] }'",
        "(yield_ := 3)",
        "await_ @ b",
        "a << b | c & d ^ e",
        "~a",
        "(a, b)[0]",
        "(*a, b)",
    ],
)
def test_printed_expressions_mean_the_same(source):
    tree = gast.parse(source, mode="eval").body
    again = gast.parse(show(source), mode="eval").body
    assert gast.dump(again) == gast.dump(tree)


@pytest.mark.parametrize(
    "source",
    [
        "for a, b in c:\n    break\nelse:\n    pass",
        "try:\n    a\nexcept (B, C) as e:\n    raise D from e\nelse:\n    f\nfinally:\n    g",
        "with open(f) as g, h:\n    i",
        "def f(a, /, b: int=2, *, c, d=3, **e) -> int:\n    nonlocal g\n    return a",
        "@d\nclass A(B, metaclass=C):\n    x: int = 3",
        "if a:\n    b\nelif c:\n    d\nelse:\n    e",
        "while a:\n    continue",
        "a = b = c, d",
        "a, = b",
        "x[1:2] += 3",
        "del a, b[0]",
        "assert a, b",
        "import a.b as c",
        "match a:\n    case [1, *b]:\n        c",
    ],
)
def test_printed_statements_mean_the_same(source):
    tree = gast.parse(source)
    assert gast.dump(gast.parse(unparse(tree))) == gast.dump(tree)


def test_functions_of_one_text_are_written_once():
    def inner(a, k=2.0):
        s = 0.0
        for i in range(len(a)):
            s = s + np.sin(a[i]) * k
        return s

    def f(x, w):
        return inner(x) * inner(x[1:]) + inner(w) * inner(np.cumsum(x)) + inner(np.array([x[0], x[1]]))

    derivative = grad(f, (0, 1))
    derivative(np.ones(3), np.ones(3))
    assert derivative.engine == "compiled"
    assert derivative.source.count("\ndef inner_forward") == derivative.source.count("\ndef inner_backward") == 1
