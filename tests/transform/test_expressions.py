"""What has no value raises, whatever becomes of it; what surely has one may go."""

import linecache
import math

import gast
import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.expressions import may_raise

# The arguments x and y are ones(3), z ones(2), m ones((2, 3)), d {'a': 1}, t (1, 2), n 0, k 5, r 1.5, o None.
WITHOUT_VALUE = [
    "y[5] > 2", "y[k] > 0", "x[7] > 0", "t[4] > 1", "t[k] > 0", "d['q'] > 1", "'abc'[k]", "m[0, 5]", "m[:, 7]",
    "1 // n > 2", "1 % n > 2", "y > 0.5", "x > 0.5", "y[:2] > z", "not y", "y @ z", "y + z", "y.foo > 1", "o.a", "-d",
    "~r > 1", "2 ** d", "y[0] in 3", "y[0] < 'a'", "t < 3", "t + [1]", "t * 1.5", "y in [1, 2]", "len(o) > 1",
    "isinstance(1, 2)", "int('a') > 1", "float(y)", "max(y)", "max([])", "np.zeros(-k)", "np.sum(y, axis=2)",
    "y.sum(axis=3)", "math.log(n)", "y[::n]", "range(0, 3, n)", "(y[0] > 2) or (y[7] > 1)", "(1 if y > 0.5 else 2)",
    "f'{y[6]}'", "[v // n for v in y]", "sorted([1, 'a'])", "np.array([y, z])", "m.T[2, 1] * m[2, 2]",
]  # fmt: skip

FRAMES = [
    "if {e}:\n        w = x",
    "if {e}:\n        pass",
    "w = {e}",
    "w = 1 if {e} else 2",
    "w = x if y[0] > 5 or {e} else y",
    "for i in range(2):\n        if {e}:\n            w = x",
    "w = [x]\n    w.append({e})",
    "w = ({e}) is None",
    "for i in {e}:\n        w = x",
]


def written(statement: str, number: int):
    """A function of all the arguments, with this statement, of which it needs nothing."""
    text = f"def f(x, y, z, m, d, t, n, k, r, o):\n    {statement}\n    return np.sum(x)\n"
    file = f"<expressions {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"np": np, "math": math}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def arguments():
    return np.ones(3), np.ones(3), np.ones(2), np.ones((2, 3)), {"a": 1}, (1, 2), 0, 5, 1.5, None


@pytest.mark.parametrize("frame", FRAMES)
def test_what_has_no_value_raises_though_nobody_needs_it(frame):
    missed = []
    for i, expression in enumerate(WITHOUT_VALUE):
        f = written(frame.format(e=expression), FRAMES.index(frame) * len(WITHOUT_VALUE) + i)
        try:
            f(*arguments())
        except Exception as error:
            plain = error
        else:
            continue
        gradient = grad(f)
        try:
            gradient(*arguments())
        except type(plain):
            continue
        missed.append((expression, gradient.engine, plain))
    assert missed == []


WITH_VALUE = [
    "y[1] > 2", "m[1, -1] * 2 > n", "t[1] + 1", "m[:, :n]", "y[:k]", "k // 2", "n % 3", "n and k", "not n", "-k + r",
    "y.size > 2", "y.shape", "m.T", "len(y) > 2 or len(t)", "np.sum(y) > 0", "y.sum() > 0", "np.max(m)", "abs(r)",
    "isinstance(r, float)", "r is None", "o == 1", "(1 if r > 2 else 2)", "(k, [r, {'a': n}])", "np.zeros(len(y))",
    "np.ones((2, y.shape[0]))", "int(r)", "k in (1, 2)", "f'{k} of {n}'", "np.pi * 2", "lambda v: v", "max(n, k)",
    "math.sin(r)", "2 * y > 1", "1 < k < r",
]  # fmt: skip


@pytest.mark.parametrize("expression", WITH_VALUE)
def test_what_surely_has_a_value(expression):
    reads = {name: ir.Value(name, types.of(value)) for name, value in zip("xyzmdtnkro", arguments(), strict=True)}
    code = ir.Code(gast.parse(expression).body[0].value, reads)
    assert not may_raise(code, ir.Namespace({"np": np, "math": math}))


@pytest.mark.parametrize(
    "statement",
    [
        "if k > 2:\n        w = x",
        "for i in range(k):\n        w = x",
        "for v in t:\n        w = x",
        "w = [x]\n    w.append(y[1] > k)",
        "w = [x]\n    w.append(m[:, :n])",
    ],
)
def test_what_surely_runs_is_left_out(statement):
    gradient = grad(written(statement, -2), mode="compiled")
    gradient(*arguments())
    assert "# forward" not in gradient.source


def test_the_test_alone_is_left_of_a_branch():
    gradient = grad(written("if y > 0.5:\n        w = x\n    else:\n        w = y", -3), mode="compiled")
    with pytest.raises(ValueError, match="truth value"):
        gradient(*arguments())
    assert "if y > 0.5:\n        pass\n" in gradient.source
