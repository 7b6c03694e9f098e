"""Several targets of one value that is a view of what the first of them writes into: each gets what it has become."""

import numpy as np
import pytest

from s2sgrad import value_and_grad
from tests.random_programs.programs import Program

VIEWS = [
    "u[1:3]", "u[::-1][:2]", "u[2:]", "np.flip(u)[1:3]", "np.asarray(u[1:3])", "u.reshape(2, 2)[1]", "same(u)[1:3]",
    "(u if x[0] > 0 else v)[1:3]", "[u[1:3], u[2:]][0]", "(s := u[1:3])", "u[1:3] * 1.0", "u[[1, 2]]", "v[1:3]",
]  # fmt: skip
TARGETS = [
    "u[:2] = u[2:] = VIEW", "u[:2] = u[1:3] = u[2:] = VIEW", "u[:2] = t = VIEW", "t = u[:2] = VIEW",
    "u[:2] = v[2:] = t = VIEW", "u[:2] = (t[0], t[1]) = VIEW", "u[:2] = (a, b) = VIEW; t = t * a * b",
    "u[:2] = a, *b = VIEW; t = t * a * b[0]", "u[:2] = box.u = VIEW; t = box.u", "u[:2] = d['k'] = VIEW; t = d['k']",
    "xs = [t, v]; u[:2] = xs[0] = VIEW; t = xs[0]", "u[0], *b = x[3], VIEW; t = b[0]",
    "u[:2], *b = VIEW, u[2:]; t = b[0]",
    "q = (x[3], VIEW); u[1], *b = q; t = b[0]", "u[1], t = x[3], VIEW", "u[1], (t, *b) = x[3], (VIEW, u[:2])",
    "(u[1], t) = (u[2], t) = x[3], VIEW", "*b, u[1] = VIEW, x[3]; t = b[0]", "u[1], (u[2], t) = x[3], (x[0], VIEW)",
    "for r in (u, v): r[:2] = r[2:] = VIEW",
]  # fmt: skip
TEXT = """import numpy as np

class Box:
    pass

def same(q):
    return q

def f(x, u, v):
{lines}
    return np.sum(t * t) + np.dot(np.sin(u), [0.5, -1.1, 2.0, 0.3]) + np.prod(v)
"""
X = np.array([0.7, -1.3, 1.9, 0.4])


def arguments(step=0.0) -> tuple:
    return X + step, np.array([0.4, 1.2, -0.6, 0.8]), np.array([1.1, 0.9, -0.7, 1.3])


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("targets", TARGETS)
def test_each_gets_what_the_view_has_become(targets, own):
    given = ["u, v = x * 1.5, x + 0.5"] if own else []
    for view in VIEWS:
        statements = [*given, "t, box, d = x[:2] * 2.0, Box(), {}", *targets.replace("VIEW", view).split("; ")]
        source = TEXT.format(lines="\n".join("    " + s for s in statements))
        with Program(source, (0,)).load() as module:
            plain, found = arguments(), arguments()
            value, gradient = value_and_grad(module.f)(*found)
            assert value == module.f(*plain)
            assert all(map(np.array_equal, plain, found))
            steps = 1e-6 * np.eye(4)
            change = [(module.f(*arguments(s)) - module.f(*arguments(-s))) / 2e-6 for s in steps]
            assert gradient == pytest.approx(change, rel=1e-6, abs=1e-7), source
