"""A name of the user's that generated code uses for something else: the program is what it is by another name."""

import builtins
import functools
import re
import zlib

import numpy as np
import pytest

from s2sgrad import grad, hessian, value_and_grad
from tests.random_programs.programs import Program

NAMES = [
    "_", "__", "_1", "np", "math", "reversed", "zip", "enumerate", "range", "slice", "len", "float", "sum", "max",
    "type", "isinstance", "list", "tuple", "saved", "result", "seed", "t", "t1", "dt", "dx", "i", "x1",
    "f_forward", "f_backward", "part_forward", "part_backward", "times", "over", "unbroadcast", "scalar_seed",
]  # fmt: skip
ROLES = {
    "parameter": ("def f(x, NAME=0.3):", "NAME"),
    "number": ("def f(x):\n    NAME = x[1] * 2", "NAME"),
    "array": ("def f(x):\n    NAME = x * 2", "NAME[1]"),
    "list": ("def f(x):\n    NAME = [x[0], 0.5]", "NAME[1] * NAME[0]"),
    "turn": ("def f(x):\n    for NAME in (0.5, 0.7):\n        x = x * NAME", "NAME"),
    "import": ("def f(x):\n    import cmath as NAME", "NAME.pi"),
    "import from": ("def f(x):\n    from cmath import pi as NAME", "NAME"),
    "function": ("def f(x):\n    def NAME(v):\n        return v * 1.5", "NAME(x[0])"),
    "lambda": ("def f(x):\n    NAME = lambda v: v * 1.5", "NAME(x[0])"),
    "helper's": ("def f(x):", "part(x[2], 0.4)"),
    "global": ("NAME = 0.3\n\ndef f(x):", "NAME"),
}
BODIES = {
    "unpacked": ["a, b, c = x[1:]", "y = a * USE * c"],
    "unpacked call": ["s, b, c = several(x[0])", "y = s * USE * c"],
    "loop": ["y = x[0]", "for v in x:", "    y = y * v + USE"],
    "loops": ["y = x[0]", "for j, (v, w) in enumerate(zip(x[1:], x)):", "    y = y * v * j + w * USE * y"],
    "written": ["y = x * x", "y[1:3] *= USE", "for k in range(3):", "    y[k] += y[k + 1] * USE", "y = np.sum(y * y)"],
    "saved": ["y = x * USE", "y = np.sum(np.tanh(y)) * np.sum(y) * USE * np.max(y)"],
    "recursive": ["y = part(x[0] * x[1], USE, 3)"],
}
TEXT = """import builtins
import numpy
import numpy as np

def several(v):
    return v, v**2, np.sin(v)

def part(v, NAME, n=1):
    if n == 0:
        return v * NAME
    return part(v * 1.1, NAME * v, n - 1) * v

{head}
{body}
    return y
"""
X = np.array([0.7, -1.3, 2.1, 0.4])


def program(role: str, body: str, name: str) -> str:
    """The program's text; what it calls by `name` itself is spelled otherwise in it."""
    head, use = ROLES[role]
    text = TEXT.format(head=head, body="\n".join(f"    {line.replace('USE', use)}" for line in BODIES[body]))
    usual = "numpy" if name == "np" else f"builtins.{name}" if hasattr(builtins, name) else name
    return re.sub(rf"(?<![.\w]){name}\b(?!$)", usual, text).replace("NAME", name)


@functools.cache
def results(role: str, body: str, name: str) -> tuple:
    with Program(program(role, body, name), (0,)).load() as module:
        derivative = value_and_grad(module.f)
        value, gradient = derivative(X)
        assert value == module.f(X)
        return derivative.engine, value, gradient.tolist(), hessian(module.f)(X).tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", ROLES)
def test_a_name_of_the_users(role, name):
    for body in BODIES:
        if zlib.crc32(f"{role} {name} {body}".encode()) % 4 == 0:  # whichever, but always the same
            assert results(role, body, name) == results(role, body, "usual"), body


def test_a_file_that_needs_only_numpy(tmp_path):
    with Program(program("parameter", "loop", "reversed"), (0,)).load() as module:
        derivative = value_and_grad(module.f)
        found = derivative(X)
        path = tmp_path / "exported.py"
        derivative.export(path)
    names: dict = {}
    exec(path.read_text(), names)
    value, gradient = names["f_grad"](X)
    assert value == found[0] and np.array_equal(gradient, found[1])


def captured_in_a_pattern(x, k):
    def inner(a):
        for i in range(1):
            match (i, 0.5):
                case [0, _]:
                    y = k  # noqa: F823, F841
                case [k, 1]:  # noqa: F841
                    pass
        return 0.3 * a

    return inner(x)


def captured_by_a_star(x, k):
    def inner(a):
        match [a, a]:
            case [0, *_]:
                pass
            case [_, *k]:
                y = k  # noqa: F841
                return k[0] * 2.0
        return 0.3 * a

    return inner(x) * k


def test_a_name_that_a_pattern_binds_is_of_the_function_in_which_it_stands():
    with pytest.raises(UnboundLocalError):
        captured_in_a_pattern(1.5, 1.9)
    with pytest.raises(UnboundLocalError):
        grad(captured_in_a_pattern)(1.5, 1.9)
    assert grad(captured_by_a_star)(1.5, 1.9) == pytest.approx(3.8)
