"""Calls that run on the tape within compiled code: what is shown of them, and what they leave alone."""

import numpy as np
import pytest

from s2sgrad import grad, jacobian, value_and_grad, vjp
from s2sgrad.errors import CompileError, ExportError
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend.giving import result_type
from s2sgrad.transform.frontend.lower import Lowering
from s2sgrad.transform.frontend.session import Session, namespace_of
from s2sgrad.transform.frontend.source import find

X = np.array([0.5, -1.5, 2.0])
EVENTS = []
WEIGHT = 2.0


def noisy(v, name):
    try:
        print(f"in {name}")
        return np.sum(v * v) * WEIGHT
    except ValueError:
        return 0.0
    except OSError:
        return 0.0


def failing(v):
    try:
        return np.sum(v) * (1 // len(v[:0]))
    except KeyError:
        return 0.0
    except OSError:
        return 0.0


def loss(x):
    print("first")
    a = noisy(x, "a")
    print("between")
    return a * noisy(2 * x, "b")


def with_failing(x):
    return failing(x) + np.sum(x)


def test_the_source_shows_the_call_and_explain_says_why():
    derivative = grad(loss)
    derivative(X)
    assert 'a, pull_noisy = tape_vjp(noisy, (x, "a"), {}, (0,))' in derivative.source
    row = next(row for row in derivative.explain().rows if row.engine == "tape")
    assert row.function == "noisy"
    assert "`try` block" in row.reason
    assert row.line.strip() == "try:"
    assert row.where.endswith(f"test_taping.py:{noisy.__code__.co_firstlineno + 1}")
    assert derivative.engine == "compiled"


def test_effects_happen_once_and_in_order(capsys):
    value, _ = value_and_grad(loss)(X)
    got = capsys.readouterr().out
    assert value == loss(X)
    assert got == capsys.readouterr().out == "first\nin a\nbetween\nin b\n"


def test_nothing_is_on_the_tape_where_all_has_to_be_compiled():
    with pytest.raises(CompileError, match="a `try` block"):
        grad(loss, mode="compiled")(X)


def test_an_exported_file_would_need_more_than_numpy(tmp_path):
    derivative = grad(loss)
    derivative(X)
    with pytest.raises(ExportError) as caught:
        derivative.export(tmp_path / "loss.py")
    expected = "an exported file needs NumPy only, but the calls of noisy run on the tape: a `try` block"
    assert str(caught.value).startswith(expected)


def test_an_exception_goes_through():
    with pytest.raises(ZeroDivisionError):
        grad(with_failing)(X)


def test_pullbacks_may_run_again_and_later():
    out, pullback = vjp(loss, X)
    first, second = pullback(1.0)[0], pullback(2.0)[0]
    np.testing.assert_allclose(second, 2 * first)
    np.testing.assert_allclose(first, grad(loss, mode="tape")(X))


def test_derivatives_of_derivatives_run_on_the_tape():
    second = jacobian(grad(loss))
    np.testing.assert_allclose(second(X), jacobian(grad(loss, mode="tape"), mode="tape")(X))


def test_globals_stay_live(monkeypatch):
    derivative = grad(lambda x: noisy(x, "a") * 1.0)
    before = derivative(X)
    monkeypatch.setitem(globals(), "WEIGHT", 6.0)
    np.testing.assert_allclose(derivative(X), 3 * before)


def told(function, *args):
    lowering = Lowering(Session(), find(function), namespace_of(function))
    names = function.__code__.co_varnames
    return result_type(lowering, dict(zip(names, map(types.of, args), strict=False)))


def overwritten(v):
    total = 0.0
    for i, row in enumerate(v):
        total = total + i * row
    return total


def grown(v):
    found = []
    found.append(v)
    return found


def read_from_a_list(v):
    found = [1.0]
    found.append(v)
    return found[0]


def not_always(v):
    if v > 0:
        return v
    raise ValueError


def falls_out(v):
    if v > 0:
        return v


def two_kinds(v):
    return v if v > 0 else "no"


@pytest.mark.parametrize(
    "function, argument, kind",
    [
        (overwritten, 2 * X, "number"),
        (overwritten, np.ones((2, 3)), None),
        (not_always, 1.0, "number"),
        (falls_out, 1.0, None),
        (two_kinds, 1.0, None),
        (grown, 1.0, None),
        (read_from_a_list, 1.0, None),
    ],
)
def test_what_a_function_gives(function, argument, kind):
    found = told(function, argument)
    assert (found and found.kind.value) == kind
