"""Arrays without a derivative that are written to: the way of writing, its place, and what reads them around it.

What the backward pass needs of them is what the forward pass read, whatever they are later.
"""

import itertools
import zlib

import numpy as np
import pytest

from s2sgrad import value_and_grad
from tests.random_programs.programs import Program

WRITES = [
    "u[0] = 0.5", "u[:2] = u[1:].copy()", "u[u > 0] = 0.5", "u[[0]] = 0.5", "u += 1.0", "u *= 2.0", "u[1:] **= 2",
    "u.fill(0.5)", "u.sort()", "u.partition(1)", "u.put([0], 0.5)", "u.flat[0] = 0.5", "np.copyto(u, 0.5)",
    "np.copyto(u, 0.5, where=u > 0)", "np.put(u, [0], 0.5)", "np.putmask(u, u > 0, 0.5)", "np.place(u, u < 9, [0.5])",
    "np.add(u, 1.0, out=u)", "np.subtract(u, 0.4, u)", "np.cumsum(u, out=u)", "np.add.at(u, [0], 0.5)",
    "np.maximum.at(u, [0], 3.5)", "changed(u)", "u = changed(u)", "v = u[:2]; v[0] = 0.5", "v = u; v[0] = 0.5",
    "u.reshape(3, 1)[0] = 0.5", "u[0], u[1] = u[1], u[0]", "u[0], s = divmod(7.5, 2.0)", "box = [u]; box[0][0] = 0.5",
    'box = {"a": u}; box["a"][0] = 0.5', "box = list((u,)); box[0][0] = 0.5", "[changed(u) for _ in range(2)]",
    "(lambda w: w.fill(0.5))(u)", "g = u.fill; g(0.5)",
    "for i in range(2): u[i] = 0.5", "for i, e in enumerate(u): u[i] = 2 * e", "for w in (u, u[1:]): w[0] = 0.5",
    "while u[0] > 0.1: u[0] -= 0.5", "if a[0] > 0: u[0] = 0.5",
    "try:|    u[0] = 0.5|finally:|    pass", "try:|    u[0] = 0.5|except ValueError:|    u[1] = 0.5",
    'with np.errstate(all="ignore"):|    u[0] = 0.5',
]  # fmt: skip
ON_THE_TAPE = {
    "np.maximum.at(u, [0], 3.5)", "box = list((u,)); box[0][0] = 0.5", "(lambda w: w.fill(0.5))(u)",
    "g = u.fill; g(0.5)", "[changed(u) for _ in range(2)]", "for w in (u, u[1:]): w[0] = 0.5",
}  # fmt: skip
PLACES = {
    "body": [],
    "if": ["if x[0] > 0:"],
    "else": ["if x[0] < 0:", "    pass", "else:"],
    "with": ['with np.errstate(all="ignore"):'],
    "for": ["for _ in range(2):"],
    "while": ["k = 0", "while k < 2:", "    k += 1"],
    "if in with": ['with np.errstate(all="ignore"):', "    if x[0] > 0:"],
    "turn": ["for k in range(2):", "    u = a - 1 + k", "    t = x * (2 + k)"],  # of a loop that makes both arrays
}
READS = {
    "product": "np.sum(u * t * np.arange(1.0, 4.0))",
    "comparison": "np.sum(np.minimum(u, t) * np.arange(1.0, 4.0))",
    "choice": "np.sum(np.where(u > 0.45, t, t * t) * np.arange(1.0, 4.0))",
    "index": "np.sum(t[np.argsort(u)] * np.arange(1.0, 4.0))",
    "part": "np.prod(t[:2] + u[:2]) + u[0] * t[2]",
    "callee": "scaled(t, u)",
}
AFTERWARDS = {
    "nothing": [],
    "store": ["u[2] = np.dot(u, np.log1p(x**2))"],
    "constant": ["u[1] = 0.7"],
    "loop": ["for i in range(2):", "    u[i] = 0.7 + i"],
}
BEFORE = {"nothing": [], "read": ["y = y + np.dot(u, t)"]}
TEXT = """import numpy as np

def changed(w):
    w[0] = 0.5
    return w

def scaled(t, u):
    return np.sum(t**2 * u)

def f(x, a):
    u = a - 1
    t = x * 2
    y = 0.0
{lines}
    return y + np.sum(u * np.arange(1.0, 4.0))
"""
X, A, ALONG = np.array([0.77, 1.41, 0.29]), np.array([1.28, 0.78, 2.4]), np.array([0.3, -0.5, 0.7])
WHOLE = list(itertools.product(WRITES, PLACES, READS, AFTERWARDS, BEFORE))
SOME = [c for c in WHOLE if zlib.crc32(repr(c).encode()) % 32 == 0]  # whichever, but always the same


def text(write, place, read, afterwards, before) -> str:
    block = PLACES[place]
    inside = " " * (len(block[-1]) - len(block[-1].lstrip()) + 4 * block[-1].endswith(":")) if block else ""
    written = write.replace("; ", "|").split("|") if not write.startswith(("for", "while", "if")) else [write]
    statements = [*BEFORE[before], *written, f"y = y + {READS[read]}", *AFTERWARDS[afterwards]]
    lines = [*block, *(inside + s for s in statements)]
    return TEXT.format(lines="\n".join("    " + line for line in lines))


def check(source: str) -> str:
    """Compares the engines and finite differences; gives the engine that ran."""
    with Program(source, (0,)).load() as module:
        up, down = (module.f(X + h * ALONG, A.copy()) for h in (1e-6, -1e-6))
        for mode in ("tape", "auto"):
            derivative = value_and_grad(module.f, mode=mode)
            value, gradient = derivative(X.copy(), A.copy())
            assert value == module.f(X.copy(), A.copy())
            assert gradient @ ALONG == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-6)
        return derivative.engine


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("write", WRITES)
def test_what_is_saved_is_what_was_read(write, place):
    engines = [check(text(*case)) for case in SOME if case[:2] == (write, place)]
    assert set(engines) <= {"tape" if write in ON_THE_TAPE else "compiled"}
