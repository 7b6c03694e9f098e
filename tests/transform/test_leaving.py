"""What is said with flags before anything else looks at the text, and the code that comes of it."""

import inspect
import textwrap

import gast
import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.transform import show
from s2sgrad.transform.frontend.leaving import Leaving


def rewritten(text):
    tree = gast.parse(textwrap.dedent(text))
    names = {n.id for n in gast.walk(tree) if isinstance(n, gast.Name)}
    return [line for s in Leaving(names).body(tree.body[0].body) for line in show.code(s).split("\n")]


def test_return_in_nested_loops():
    found = rewritten(
        """
        def f(xs):
            for x in xs:
                while x > 1:
                    if x > 2:
                        return x
            return 0
        """
    )
    assert found == [
        "returned = False",
        "for x in xs:",
        "    while x > 1:",
        "        if x > 2:",
        "            result = x",
        "            returned = True",
        "            break",
        "    if returned:",
        "        break",
        "if returned:",
        "    return result",
        "return 0",
    ]


def test_endless_loop_that_only_returns():
    found = rewritten("def f(x):\n    while True:\n        return x\n")
    assert found[-1] == "return result"


def test_else_of_a_loop_with_a_break():
    found = rewritten(
        """
        def f(xs, broke):
            for x in xs:
                if x > broke:
                    break
            else:
                x = 1
            return x
        """
    )
    assert found == [
        "broke_ = False",
        "for x in xs:",
        "    if x > broke:",
        "        broke_ = True",
        "        break",
        "if not broke_:",
        "    x = 1",
        "return x",
    ]


def test_else_of_a_loop_without_one():
    found = rewritten("def f(xs):\n    for x in xs:\n        y = x\n    else:\n        y = 2\n    return y\n")
    assert found == ["for x in xs:", "    y = x", "y = 2", "return y"]


def test_match():
    found = rewritten(
        """
        def f(n):
            match n + 1:
                case 1 | 2:
                    y = 1
                case None:
                    y = 2
                case other:
                    y = other
            return y
        """
    )
    assert found == [
        "subject = n + 1",
        "if subject == 1 or subject == 2:",
        "    y = 1",
        "elif subject is None:",
        "    y = 2",
        "else:",
        "    other = subject",
        "    y = other",
        "return y",
    ]


def newton(a):
    x = a
    for _ in range(50):
        step = (x * x - a) / (2 * x)
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


def test_what_a_loop_with_a_break_becomes():
    derivative = grad(newton, mode="compiled")
    assert derivative(2.0) == pytest.approx(0.5 / np.sqrt(2.0))
    first = inspect.getsourcelines(newton)[1]
    assert derivative.source == textwrap.dedent(
        f'''\
        def newton_grad(a):
            """The gradient of `newton` with respect to `a`."""
            # forward
            x = a
            saved = []
            for _ in range(50):
                t = 2 * x
                step = (x * x - a) / t
                saved.append((x, t, step))
                x -= step
                if abs(step) < 1e-12:
                    break
            # backward
            dx = 1.0
            da = 0.0
            for x, t, step in reversed(saved):
                t = dx / t if dx else 0.0  # line {first + 3}: step = (x * x - a) / (2 * x)
                da += t
                dx = dx + 2 * (t * step if t else 0.0) - 2 * t * x
            da += dx                       # line {first + 2}: for _ in range(50):
            return float(da)
        '''
    )


def test_the_array_that_a_loop_changes_and_returns_is_refused():
    def changed(x):
        u = x * 2
        j = 0
        while u.sum() < 10 and j < 4:
            j += 1
            if j == 2:
                return u
            u[0] = x[1]
        return u * u

    def f(x):
        return np.sum(changed(x))

    derivative = grad(f)
    assert derivative(np.ones(3)) == pytest.approx([0.0, 3.0, 2.0])
    assert "may have no value" in derivative.explain().rows[0].reason
