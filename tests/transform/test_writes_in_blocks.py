"""Arrays without a derivative, changed in a block before an active operation reads them and a store destroys them."""

import numpy as np
import pytest

from s2sgrad import value_and_grad
from tests.random_programs.programs import Program

WRITES = [
    "u[0] = 0.5", "u[:2] = u[1:].copy()", "u[u > 0] = 0.5", "u[[0]] = 0.5", "u += 1.0", "u *= 2.0", "u.fill(0.5)",
    "u.sort()", "u.partition(1)", "u.put([0], 0.5)", "u.flat[0] = 0.5", "np.copyto(u, 0.5)", "np.put(u, [0], 0.5)",
    "np.add(u, 1.0, out=u)", "np.add.at(u, [0], 0.5)", "changed(u)", "u = changed(u)", "v = u[:2]; v[0] = 0.5",
    "v = u; v[0] = 0.5", "u[0], u[1] = u[1], u[0]", "box = [u]; box[0][0] = 0.5", "[changed(u) for _ in range(2)]",
    "(lambda w: w.fill(0.5))(u)", "g = u.fill; g(0.5)",
]  # fmt: skip
BLOCKS = {
    "if": ["if x[0] > 0:"],
    "else": ["if x[0] < 0:", "    pass", "else:"],
    "with": ['with np.errstate(all="ignore"):'],
    "for": ["for _ in range(2):"],
    "if in with": ['with np.errstate(all="ignore"):', "    if x[0] > 0:"],
}
TEXT = """import numpy as np

def changed(w):
    w[0] = 0.5
    return w

def f(x, a):
    u = a - 1
{lines}
    return np.sum(u * np.arange(1.0, 4.0))
"""
X, A, ALONG = np.array([0.77, 1.41, 0.29]), np.array([1.28, 0.78, 0.4]), np.array([0.3, -0.5, 0.7])


def body(write, block) -> str:
    inside = " " * (len(block[-1]) - len(block[-1].lstrip()) + 4)
    statements = write.split("; ") + ["u[2] = np.dot(u, np.log1p(x**2))"]
    return "\n".join("    " + line for line in [*block, *(inside + s for s in statements)])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("write", WRITES)
def test_what_is_saved_is_what_was_read(write, block):
    with Program(TEXT.format(lines=body(write, BLOCKS[block])), (0,)).load() as module:
        up, down = (module.f(X + h * ALONG, A.copy()) for h in (1e-6, -1e-6))
        for mode in ("auto", "tape"):
            value, gradient = value_and_grad(module.f, mode=mode)(X.copy(), A.copy())
            assert value == module.f(X.copy(), A.copy())
            assert gradient @ ALONG == pytest.approx((up - down) / 2e-6, rel=1e-7)


def test_most_of_them_are_compiled():
    engines = []
    for block in BLOCKS.values():
        for write in WRITES:
            with Program(TEXT.format(lines=body(write, block)), (0,)).load() as module:
                derivative = value_and_grad(module.f)
                derivative(X.copy(), A.copy())
                engines.append(derivative.engine)
    assert engines.count("compiled") > 0.6 * len(engines)
