"""Lowering: what is compiled, what it looks like, and what is refused with which reason."""

import functools
import itertools
import math
from collections import deque
from dataclasses import dataclass

import gast
import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.errors import CompileError
from s2sgrad.transform import ir, pipeline
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import session
from s2sgrad.transform.show import show
from s2sgrad.transform.spec import Spec

X = np.array([0.3, -0.4, 1.2])
OUTSIDE = np.array([1.0, 2.0, 3.0])
LOG: list = []


def lower(function, *args, active=None):
    names = [a for a in function.__code__.co_varnames[: function.__code__.co_argcount]]
    kinds = dict(zip(names, types.of_all(args), strict=True))
    return pipeline.lower(function, kinds, names[:1] if active is None else active)


def statements(block):
    for s in block.statements:
        yield s
        for inner in (s.then, s.orelse) if isinstance(s, ir.If) else (s.body,) if isinstance(s, ir.For) else ():
            yield from statements(inner)


def of_kind(function, kind):
    return [s for s in statements(function.body) if isinstance(s, kind)]


# ------------------------------------------------------------------------------------- what is compiled


def test_straight_line():
    def f(x):
        y = np.sin(x) * x
        return y.sum()

    assert show(lower(f, X).function).split("\n") == [
        "f(x*):",
        "    t* = np.sin(x*)",
        "    y* = operator.mul(t*, x*)",
        "    result* = np.sum[.sum()](y*)",
        "    -> result*",
    ]


def test_inactive_expressions_stay_as_they_are():
    def f(x, n):
        k = n * 2 + 1
        w = np.linspace(0.0, 1.0, k)[:3]
        return np.sum(x * w) if len(x) > 2 else np.sum(x)

    shown = show(lower(f, X, 1).function)
    assert "k = Code(n * 2 + 1)" in shown
    assert "w = Code(np.linspace(0.0, 1.0, k)[:3])" in shown
    assert "if Code(len(x) > 2" in shown


def test_a_loop_carries_what_changes_and_nothing_else():
    def f(x):
        s, k = 0.0, 2.0
        for i in range(3):
            t = x[i] * k
            s = s + t
        return s

    (loop,) = of_kind(lower(f, X).function, ir.For)
    assert [c.parameter.name for c in loop.carried] == ["s"]
    assert loop.carried[0].parameter.active


def test_activity_of_a_carried_value_is_found_in_a_later_turn():
    def f(x):
        a, b, c = 1.0, 2.0, 3.0
        for _ in range(3):
            a, b, c = b, c, x[0]
        return a

    (loop,) = of_kind(lower(f, X).function, ir.For)
    assert {c.parameter.name: c.parameter.active for c in loop.carried} == {"a": True, "b": True, "c": True}


def test_an_early_return_moves_what_follows_into_the_other_branch():
    def f(x):
        if x[0] > 1:
            return x[0]
        y = x[1] * 2
        return y

    (branch,) = of_kind(lower(f, X).function, ir.If)
    assert len(branch.orelse.statements) == 2
    assert len(branch.results) == 1


def test_tests_on_none_are_decided_by_the_types():
    def helper(x, scale=None):
        if scale is None:
            return x
        return x * scale

    def f(x):
        return np.sum(helper(x) + helper(x, 2.0))

    lowered = lower(f, X)
    assert len(lowered.callees) == 2
    assert not any(of_kind(c.function, ir.If) for c in lowered.callees)


def test_a_nested_function_gets_what_it_captures_as_arguments():
    def f(x):
        k = x[0]

        def inner(v):
            return v * k

        k = x[1]
        return inner(x[2])

    lowered = lower(f, X)
    (call,) = of_kind(lowered.function, ir.Call)
    assert [a.name for a in call.args] == ["t", "k"]
    (binding,) = [s for s in of_kind(lowered.function, ir.Op) if s.target is call.args[1]]
    assert binding.args[1] == ir.Constant(1)  # late binding: the last value


def test_recursion_is_one_callee():
    def f(x):
        return power(x[0], 5)

    lowered = lower(f, X)
    assert [c.name for c in lowered.callees] == ["power"]
    assert lowered.callees[0].function.body.results[0].type.kind is ir.Kind.NUMBER


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def test_equal_arguments_share_a_callee():
    def f(x):
        for _ in range(4):
            x = step(x)
        return np.sum(step(x))

    assert [c.name for c in lower(f, X).callees] == ["step"]


def step(v):
    return np.tanh(v) * 0.5


@dataclass
class Weights:
    w: np.ndarray
    b: float


def test_containers_keep_the_activity_of_their_items():
    def f(x):
        pair = (x, 3, {"a": x[0], "b": "text"})
        return np.sum(pair[0]) * pair[1] * pair[2]["a"]

    function = lower(f, X).function
    made = {s.target.type.kind: s.target for s in of_kind(function, ir.Make)}
    assert made[ir.Kind.TUPLE].active and made[ir.Kind.DICT].active
    assert not any(s.target.active for s in of_kind(function, ir.Op) if s.args[1:] == (ir.Constant(1),))


def test_fields_of_a_dataclass():
    def f(p):
        q = Weights(p.w * 2, p.b)
        return np.sum(q.w) * q.b

    shown = show(lower(f, Weights(X, 2.0)).function)
    assert "getattr[.w](p*, 'w')" in shown and "= record(" in shown


def test_methods_and_attributes_are_the_functions_of_the_table():
    def f(x):
        return x.reshape(3, 1).T.sum(axis=0).dot(x)

    found = [s.function for s in of_kind(lower(f, X).function, ir.Op)]
    assert found == [np.reshape, np.transpose, np.sum, np.dot]


def test_a_local_name_hides_a_builtin():
    def f(x):
        sum = 0
        for i in np.arange(x.shape[0]):
            sum = sum + x[i]
        return sum

    assert of_kind(lower(f, X).function, ir.For)


def test_an_array_that_is_filled_before_it_is_used():
    def f(x):
        w = np.zeros(3)
        for i in range(3):
            w[i] = i * 2.0
        return np.sum(x * w)

    assert of_kind(lower(f, X).function, ir.Verbatim)


def test_partials_bound_methods_and_callable_instances():
    class Model:
        scale = 2.0

        def __call__(self, x):
            return np.sum(x) * self.scale

        def loss(self, x):
            return self(x) * 3.0

    model = Model()
    t = {"x": types.of(X)}
    assert [p.value.name for p in pipeline.lower(model, t, {"x"}).function.parameters] == ["x"]
    assert pipeline.lower(model.loss, t, {"x"}).callees[0].name == "__call__"

    def scaled(k, x):
        return np.sum(x) * k

    assert [p.value.name for p in pipeline.lower(functools.partial(scaled, 2.0), t, {"x"}).function.parameters] == ["x"]


def test_functions_that_are_passed():
    def apply(function, x):
        return function(x)

    kinds = {"function": ir.Type(ir.Kind.CALLABLE), "x": types.of(X)}
    with pytest.raises(CompileError, match="not known which function"):
        pipeline.lower(apply, kinds, {"x"})
    lowered = pipeline.lower(apply, kinds, {"x"}, known={"function": np.sin})
    assert of_kind(lowered.function, ir.Op)[0].function is np.sin


def test_numpy_takes_deques_as_it_takes_lists():
    def of_a_deque(x):
        q = deque([x[0], x[1] * x[2]], maxlen=3)
        return np.sum(np.array(q) ** 2) + np.mean(q) + np.dot(q, q)

    def of_a_list(x):
        q = [x[0], x[1] * x[2]]
        return np.sum(np.array(q) ** 2) + np.mean(q) + np.dot(q, q)

    derivative = grad(of_a_deque, mode="compiled")
    np.testing.assert_array_equal(derivative(X), grad(of_a_list)(X))
    assert of_a_deque(X) == of_a_list(X)


def test_a_derivative_of_a_derivative():
    def cube(t, s):
        return t**3 * s

    def derivative(t, s):
        raise AssertionError("nothing of the user's runs")

    derivative.__s2sgrad__ = Spec("grad", cube)

    def f(x):
        return derivative(x, x)

    assert [c.name for c in lower(f, 1.5).callees] == ["cube_grad"]
    assert lower(derivative, 1.5, 2.0).function.name == "cube_grad"


def test_guards_say_what_is_assumed(monkeypatch):
    def f(x):
        return np.sum(x * OUTSIDE) + math.sin(x[0])

    guards = {g.text: g for g in lower(f, X).guards}
    assert {
        "the code and the defaults of f",
        "np",
        "OUTSIDE (an array of float64 with 1 axes)",
        "math",
    } <= guards.keys()
    data = guards["OUTSIDE (an array of float64 with 1 axes)"]
    assert data.check()
    monkeypatch.setitem(f.__globals__, "OUTSIDE", np.ones(5))
    assert data.check()
    monkeypatch.setitem(f.__globals__, "OUTSIDE", 1.0)
    assert not data.check()


# -------------------------------------------------------------------------------------- what is refused


def changed_in_turns(x):
    w, s = np.ones(3), 0.0
    for i in range(3):
        w[i] = i + 2.0
        s = s + np.sum(x * w)
    return s


def poke(a):
    a[0] = 100.0


def changed_outside(x):
    OUTSIDE[0] = 1.0
    return np.sum(x * OUTSIDE) * read_outside()


def read_outside():
    return OUTSIDE[1]


def appended(x):
    out = []
    again = out
    out.append(x[0])
    return again[0]


def logged_outside(x):
    LOG.append(x)
    return np.sum(x)


def converted(x):
    return float(x[:1]) * x[1]


def item(x):
    return x.item(0) * x[1]


def break_in_a_with(x):
    for v in x:
        with open("nowhere") as file:
            file.write(str(v))
            break
    return v


def comprehension(x):
    return sum([v * w for v in x for w in itertools.cycle(x)])


def one_branch_only(x):
    if x[0] > 0:
        y = x[0]
    return y


def without_rule(x):
    return np.sum(np.busday_count(x, x))


def unknown_keyword(x):
    return np.sum(np.multiply(x, 2, where=x > 0))


def rebinds_a_global(x):
    global OUTSIDE
    OUTSIDE = x
    return np.sum(OUTSIDE)


def hidden_read(x):
    y = x * 2
    return np.sum(locals()["y"])


def lists_or_arrays(x):
    y = [x[0], x[1]] if x[0] > 0 else x
    return y[0]


def generator(x):
    yield x


def grouped(x):
    return sum(sum(g) ** 2 for _, g in itertools.groupby(x))


HAT = np.vectorize(lambda v: max(1 - abs(v), 0.0))


def vectorized(x):
    return np.sum(HAT(x))


def choice_in_a_loop(x):
    f = np.sin
    s = 0.0
    for v in x:
        s += f(v)
        f = np.cos
    return s


def tries(x):
    try:
        y = x[0]
    except IndexError:
        y = 0.0
    except TypeError:
        y = 1.0
    return y


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (changed_outside, "OUTSIDE may be seen from outside"),
        (appended, r"stored by .append\(\)"),
        (logged_outside, r"stored by .append\(\)"),
        (converted, "the builtin float of values"),
        (item, r"\.item\(\) makes plain data"),
        (break_in_a_with, "what open does cannot be seen"),
        (comprehension, r"itertools.cycle\(\) over values that carry a derivative, in this form"),
        (one_branch_only, "y may have no value here: it is assigned in one branch only"),
        (without_rule, "busday_count has no derivative rule"),
        (grouped, r"groupby\(\) of values that carry a derivative is not compiled"),
        (vectorized, "HAT, which np.vectorize makes"),
        (choice_in_a_loop, "f stands for different kinds of things in the turns of this loop"),
        (unknown_keyword, "the derivative rule of multiply does not cover this call"),
        (rebinds_a_global, "OUTSIDE is rebound outside of the function"),
        (hidden_read, r"locals\(\) reaches local variables"),
        (lists_or_arrays, "a number or array on one way and something else on another"),
        (generator, "a generator is not compiled"),
        (tries, "a `try` block that a derivative flows through"),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_refused(function, reason):
    with pytest.raises(CompileError, match=reason) as caught:
        lower(function, X)
    assert caught.value.file == __file__
    first = function.__code__.co_firstlineno
    assert first <= caught.value.line <= first + 12
    assert caught.value.source_line and caught.value.function == function.__name__


def test_unknown_parameters_are_not_silently_inactive():
    def f(x):
        return x

    with pytest.raises(CompileError, match="f has no parameter y"):
        pipeline.lower(f, {"x": types.of(X)}, {"y"})


def test_lowering_leaves_the_tree_as_it_was():
    from s2sgrad.transform.frontend.source import find

    before = gast.dump(find(changed_in_turns).node)
    lower(changed_in_turns, X)
    assert gast.dump(find(changed_in_turns).node) == before


def test_sources_of_many_functions_are_forgotten(monkeypatch, tmp_path):
    import importlib.util

    from s2sgrad.transform.frontend import source

    monkeypatch.setattr(source, "MOST", 3)
    monkeypatch.setattr(source, "_CACHE", {})
    monkeypatch.setattr(source, "_MODULES", {})
    for number in range(8):
        path = tmp_path / f"forgotten{number}.py"
        path.write_text(f"f, g = (lambda x: x * {number}), (lambda x: x + {number})\n")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert source.find(module.f).lines == [path.read_text()]
        assert source.find(module.f) is source.find(module.f)
    assert len(source._CACHE) == 3
    assert len(source._MODULES) <= 3


def seven_deep(x):
    s = x[0]
    for _ in range(1):
        a = s
        for _ in range(1):
            b = a
            for _ in range(1):
                c = b
                for _ in range(1):
                    d = c
                    for _ in range(1):
                        e = d
                        for _ in range(1):
                            f = e
                            for _ in range(1):
                                s = s * f
                            e = s
                        d = e
                    c = d
                b = c
            a = b
    return s


def test_loops_too_deep_in_each_other_run_on_the_tape(monkeypatch):
    monkeypatch.setattr(session, "MOST_STATEMENTS", 100)
    gradient = grad(seven_deep)
    np.testing.assert_allclose(gradient(X), [2 * X[0], 0, 0])
    assert gradient.engine == "tape"
    assert "too long to compile" in gradient.explain().rows[0].reason


def test_loops_in_each_other_are_compiled():
    gradient = grad(seven_deep, mode="compiled")
    np.testing.assert_allclose(gradient(X), [2 * X[0], 0, 0])
