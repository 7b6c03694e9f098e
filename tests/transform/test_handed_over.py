"""An array that an expression picks or looks at, handed to what writes into it: its other names see the write.

The array is an argument of the caller's, differentiated or not, and it is read under its own name afterwards.
"""

import numpy as np
import pytest

from s2sgrad import value_and_grad
from tests.random_programs.programs import Program

PICKED = [
    "z", "z if k > 0 else v", "z if x > 0 else v", "(z if k > 0 else v)[:1]", "(z if k > 0 else v) if x > 0 else zs[1]",
    "zs[0] if k > 0 else table['b']", "(z, v)[0]", "k < 1 or z", "k > 0 and z", "z or v", "{'a': z}['a']", "zs[k - 1]",
    "table.get('a')", "z.T", "z.reshape(1)", "z[None][0]", "np.asarray(z)", "picked(z, v, k)", "(lambda q: q)(z)",
    "next(iter(zs))", "WORK if k < 0 else z",
]  # fmt: skip
HANDED = {
    "name": ["b = {}", "b *= 0.5"],
    "two names": ["b, c = {}, v", "b *= 0.5"],
    "call": ["halved({})"],
    "call twice": ["halved({0}, {0})"],
    "keyword": ["halved(b={})"],
    "starred": ["starred({})"],
    "result": ["b = same({})", "b *= 0.5"],
    "nested": ["def inner(b):", "    b *= 0.5", "inner({})"],
    "default": ["def inner(b={}):", "    b *= 0.5", "inner()"],
    "lambda": ["put = lambda b: halved(b)", "put({})"],
    "list": ["b = [{}]", "b[0] *= 0.5"],
    "tuple": ["b = ({}, v)", "b[0][:] *= 0.5"],
    "dict": ["b = {{'q': {}}}", "halved(b['q'])"],
    "appended": ["b = []", "b.append({})", "b[-1] *= 0.5"],
    "object": ["b = Box({})", "b.u *= 0.5"],
    "method": ["Box({}).halve()"],
    "loop": ["for _ in range(2):", "    halved({})"],
    "branch": ["if k:", "    halved({})"],
    "with": ['with np.errstate(all="ignore"):', "    halved({})"],
}
AFTERWARDS = {"read": "x * z[0] * v[0]", "not read": "0.5 * x"}
TEXT = """import numpy as np

WORK = np.ones(1)

def halved(b, c=None):
    b *= 0.5
    if c is not None:
        c += 0.25

def starred(*arrays):
    arrays[0][:] *= 0.5

def same(b):
    return b

def picked(a, b, k):
    return a if k > 0 else b

class Box:
    def __init__(self, u):
        self.u = u

    def halve(self):
        self.u *= 0.5

def f(x, z, v, zs, table, k):
{lines}
    return {result}
"""


def arguments(together: bool) -> list:
    z, v = np.array([0.8]), np.array([0.3])
    others = [z, v] if together else [np.array([0.5]), np.array([0.6])]
    return [1.2, z, v, others, dict(zip("ab", others, strict=True)), 1]


def difference(f, at: int) -> float:
    """A central difference; of a product, so that any step will do."""
    results = []
    for step in (0.125, -0.125):
        given = arguments(together=at == 0)
        given[at] = given[at] + step
        results.append(float(f(*given)))
    return (results[0] - results[1]) / 0.25


@pytest.mark.parametrize("afterwards", AFTERWARDS)
@pytest.mark.parametrize("way", HANDED)
@pytest.mark.parametrize("picked", PICKED)
def test_what_is_written_under_another_name(picked, way, afterwards):
    lines = "\n".join("    " + line.format(picked) for line in HANDED[way])
    with Program(TEXT.format(lines=lines, result=AFTERWARDS[afterwards]), (0, 1)).load() as module:
        for at in (0, 1):  # the containers hold the array where it is not differentiated
            plain, given = arguments(together=at == 0), arguments(together=at == 0)
            value, slope = value_and_grad(module.f, at)(*given)
            assert value == module.f(*plain)
            assert float(np.sum(slope)) == pytest.approx(difference(module.f, at), abs=1e-12)
            for one, other in zip(plain[1:3] + plain[3], given[1:3] + given[3], strict=True):
                assert np.array_equal(one, other)
