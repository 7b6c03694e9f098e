"""Lists that a loop builds: no turn, forward or backward, copies the list."""

import operator
import re

import gast
import numpy as np
import pytest

from s2sgrad import grad, vjp
from s2sgrad.transform import ir
from s2sgrad.transform.optimize.stacks import stack
from s2sgrad.transform.show import show
from tests.transform.test_loops import checked

POINTS = np.random.default_rng(1).uniform(0, 1, 9)


def filtered(x):
    out = []
    for i in range(len(x)):
        v = x[i] * x[i]
        if v > 0.3:
            out.append(v)
    return sum(v * v for v in out)


def recurrence(x):
    out = [0.0]
    for i in range(len(x)):
        out.append(out[-1] * 0.5 + x[i])
    return sum(out)


def read_after(x):
    out = []
    s = 0.0
    for i in range(len(x)):
        out.append(np.sin(x[i]))
        s += out[-1] * out[0]
    return s + sum(out)


def records(x):
    out = [x[0]]
    for i in range(len(x)):
        if x[i] > out[-1]:
            out.append(x[i] * 2 - out[-1])
    return sum(o * o for o in out)


def states(x):
    found = [x]
    for i in range(len(x)):
        found.append(found[-1] + 0.1 * np.sin(found[-1]) * x[i])
    return np.sum(np.array(found) ** 2) + np.sum(found[-1])


def nested(x):
    out = []
    i = 0
    while i < len(x):
        for j in range(2):
            if x[i] > 0.3 * j:
                out.append(x[i] * (j + 1))
        i += 1
    t = 0.0
    for i in range(len(out)):
        t += out[i] ** 2
    return t


def two_lists(x):
    xs, ys = [], []
    for i in range(len(x)):
        if x[i] > 0.5:
            xs.append(x[i] ** 2)
        else:
            ys.append(x[i] ** 3)
            xs.append(x[i])
    return sum(xs) * sum(ys)


def leaving(x):
    out = []
    for i in range(len(x)):
        if x[i] > 0.94:
            break
        if x[i] < 0.1:
            continue
        out.append(x[i] ** 2)
        out.append(np.cos(x[i]))
    return np.sum(np.array(out) ** 2)


def pairs(x):
    out = []
    for i in range(len(x)):
        if x[i] > 0.3:
            out.append((x[i] ** 2, x[i]))
    return sum(a * b for a, b in out)


BUILDERS = [filtered, recurrence, read_after, records, states, nested, two_lists, leaving, pairs]


@pytest.mark.parametrize("function", BUILDERS, ids=lambda f: f.__name__)
def test_no_turn_copies_the_list(function):
    source = checked(function, POINTS).source
    assert not re.search(r"(\w+) = \1 \+ \[", source)
    assert ".pop()" in source
    for loop in re.findall(r"in reversed\(.*\):\n((?: {8,}.*\n)+)", source):
        assert not re.search(r"as_gradient|slots_of|:-1\]|-1:\]|\[:\]", loop)


@pytest.mark.parametrize("function", BUILDERS, ids=lambda f: f.__name__)
def test_the_second_derivative(function):
    first = grad(function)

    def twice(x):
        return np.sum(first(x) ** 2)

    checked(twice, POINTS[:5])


# ------------------------------------------------------------------------ where a copy has to stay


NUMBERS = ir.Type(ir.Kind.LIST, element=ir.FLOAT)


def built(statements, results):
    """The list ``xs + [x]`` in a function that begins with ``xs = []``, after the pass."""
    body = ir.Block([ir.Make(XS, ()), *statements], results)
    return show(stack(ir.Function("f", [ir.Parameter(X)], body, ir.Namespace({}))))


X = ir.Value("x", ir.FLOAT)
XS, ONE, MORE, PAIR = (ir.Value(name, NUMBERS) for name in ("xs", "t", "more", "pair"))
PUT = [ir.Make(ONE, (X,)), ir.Op(MORE, operator.concat, (XS, ONE))]


def test_a_list_that_nothing_reads_again_is_appended_to():
    assert "at its end" in built(PUT, (MORE,))


@pytest.mark.parametrize(
    "statements, results",
    [
        (PUT, (XS, MORE)),
        ([*PUT, ir.Make(PAIR, (XS, MORE))], (PAIR,)),
        ([ir.Make(PAIR, (XS,)), *PUT], (PAIR,)),
        ([ir.For([ir.Source(ir.Value("i"), ir.Constant((1, 2)))], [], ir.Block(PUT), [])], (X,)),
        ([ir.For([ir.Source(ir.Value("v", ir.FLOAT), XS)], [], ir.Block(PUT), [])], (X,)),
        ([ir.Bind(PAIR, ir.Code(gast.parse("lambda: xs[0]").body[0].value, {"xs": XS})), *PUT], (PAIR,)),
        ([ir.Bind(PAIR, ir.Code(gast.parse("xs").body[0].value, {"xs": XS})), *PUT], (PAIR,)),
    ],
)
def test_a_list_that_something_else_refers_to_is_copied(statements, results):
    assert "at its end" not in built(statements, results)


def test_a_list_that_is_carried_twice_is_copied():
    a, b, c, d, i = (ir.Value(n, NUMBERS) for n in "abcdi")
    carried = [ir.Carried(a, XS, c), ir.Carried(b, XS, d)]
    loop = ir.For(
        [ir.Source(i, ir.Constant((1, 2)))],
        carried,
        ir.Block([PUT[0], ir.Op(MORE, operator.concat, (a, ONE))], (MORE, b)),
    )
    assert "at its end" not in built([loop], (c, d))


def test_a_list_that_begins_anew():
    def groups(x):
        out = []
        s = 0.0
        for i in range(len(x)):
            if x[i] > 0.8:
                s = s + sum(out) ** 2
                out = []
            out.append(x[i])
        return s + sum(out) ** 3

    checked(groups, POINTS)


def test_lists_that_are_exchanged():
    def exchanged(x):
        a = [x[0]]
        b = [x[1], x[2]]
        for i in range(len(x)):
            if x[i] > 0.3:
                a.append(x[i] * b[-1])
            else:
                b.append(x[i] + a[-1])
        return sum(a) * sum(b) + a[-1] * b[0]

    checked(exchanged, POINTS)


def test_no_turn_and_no_element():
    for function in (filtered, read_after, two_lists):
        for x in (np.zeros(0), np.full(3, 1e-3)):
            np.testing.assert_allclose(
                grad(function, mode="compiled")(x), grad(function, mode="tape")(x), rtol=1e-12, atol=1e-15
            )


def test_early_return():
    def until(x):
        out = [1.0]
        for i in range(len(x)):
            out.append(out[-1] * x[i] + 1)
            if out[-1] > 1.9:
                return sum(out) * x[0]
        return out[-1]

    checked(until, POINTS)
    checked(until, POINTS * 0.1)


def test_arrays_of_cotangents_that_all_are_the_same_are_not_added_to():
    def total(x):
        out = [x[0]]
        for i in range(1, len(x)):
            out.append(out[-1] * x[i])
        return sum(out)

    expected = grad(total, mode="tape")(POINTS)
    seed = np.array(1.0)
    _, pull = vjp(total, POINTS)
    for _ in range(2):
        np.testing.assert_allclose(pull(seed)[0], expected, rtol=1e-12)
    assert seed == 1.0


def test_the_same_list_from_a_helper_called_twice():
    def running(x, n):
        out = [x[0]]
        for i in range(1, n):
            if x[i] > 0.2:
                out.append(out[-1] + x[i] ** 2)
        return out[-1] * sum(out)

    def both(x):
        return running(x, len(x)) * running(x, 4) + running(2 * x, 3)

    checked(both, POINTS)


def test_an_error_midway_is_the_error_of_the_plain_call():
    def failing(x):
        out = []
        for i in range(len(x) + 1):
            if i != 2:
                out.append(x[i] ** 2)
        return sum(out)

    with pytest.raises(IndexError):
        grad(failing, mode="compiled")(POINTS)


def test_float32_and_integers():
    for x in (POINTS.astype(np.float32), np.arange(5)):
        for function in (filtered, recurrence, read_after):
            found, expected = grad(function, mode="compiled")(x), grad(function, mode="tape")(x)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-5)
