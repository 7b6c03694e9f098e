"""Views that are made with arrays (an order of axes, an axis, a bound), which are changed afterwards.

A view stays what it was made as, whatever becomes of what it was made with; or the compiler refuses.
"""

import zlib

import numpy as np
import pytest

from s2sgrad import CompileError, hessian, value_and_grad
from tests.random_programs.programs import Program

ORDER, AXIS = "np.array([1, 0])", "np.array(1)"
VIEWS = {
    "np.transpose(a, p)": ORDER, "np.transpose(a, axes=p)": ORDER, "a.transpose(p)": ORDER,
    "np.moveaxis(a, p, [0, 1])": ORDER, "np.moveaxis(a, source=p, destination=(0, 1))": ORDER,
    "np.rot90(a, axes=p)": ORDER, "np.transpose(a, (p[0], p[1]))": ORDER,
    "np.flip(a, p)": AXIS, "np.flip(a, axis=p)": AXIS, "np.swapaxes(a, p, 0)": AXIS, "a.swapaxes(0, p)": AXIS,
    "np.rollaxis(a, p)": AXIS, "np.squeeze(a[:, None], p)": AXIS, "np.rot90(a, k=p)": AXIS,
    "np.expand_dims(a, p)": AXIS,
    "a[p:]": AXIS, "a[:p]": AXIS, "a[:, ::p]": AXIS, "a[:, p:]": AXIS, "a[..., p:]": AXIS, "a[p:, 0]": AXIS,
    "a.reshape(-1)[p:]": AXIS, "a.T[p:].T": AXIS, "a[:, p:][p:]": AXIS, "np.asarray(a)[:, p:]": AXIS,
    "a.reshape(p, 6)": AXIS, "np.broadcast_to(a, (p, 2, 3))": AXIS, "np.diagonal(a, offset=p)": AXIS,
    "np.transpose(a, (p, 0))": AXIS, "a[slice(p)]": AXIS, "a[:, slice(p, None)]": AXIS, "a[np.s_[:, p:]]": AXIS,
}  # fmt: skip
MAY_BE_REFUSED = {
    "np.broadcast_to(a, (p, 2, 3))", "np.diagonal(a, offset=p)", "a.reshape(p, 6)", "np.rot90(a, k=p)",
    "np.transpose(a, (p, 0))", "np.transpose(a, (p[0], p[1]))", "a[slice(p)]", "a[:, slice(p, None)]",
    "a[np.s_[:, p:]]", "np.rollaxis(a, p)",
}  # fmt: skip
READ_ONLY = {"np.broadcast_to(a, (p, 2, 3))", "np.diagonal(a, offset=p)"}
CHANGES = [
    "p[...] = 0", "p -= 1", "p += 1", "p *= 0", "p.fill(0)", "q = p; q[...] = 0", "q = p[...]; q *= 0",
    "np.copyto(p, 0)", "np.subtract(p, 1, out=p)", "changed(p)", "if x[0, 0] > 0: p[...] = 0",
    "for _ in range(2): p -= 1",
]  # fmt: skip
PLACES = {
    "local": ("x", "p = {p}"),
    "argument": ("x, p", ""),
    "global": ("x", "p = GLOBAL"),
    "dict": ("x", 'd = {{"p": {p}}}'),
    "argument's": ("x, d", ""),
}
AFTERWARDS = ["", "a *= x", "a[0, 0] = x[1, 1]", "for _ in range(2): a *= 2.0", "v *= 2.0"]
TEXT = """import numpy as np

GLOBAL = {p}

def changed(w):
    w[...] = 0

def f({parameters}):
{lines}
    return np.sum(v * v * np.arange(1.0, v.size + 1).reshape(v.shape)) + np.sum(a)

def arguments():
    GLOBAL[...] = {p}
    return {given}
"""
X = np.array([[0.7, 1.3, 0.4], [1.9, 0.6, 1.1]])
ALONG = np.array([[0.3, -0.5, 0.7], [0.2, 0.9, -0.4]])


def text(view: str, change: str, place: str, afterwards: str) -> str:
    p, (parameters, before) = VIEWS[view], PLACES[place]
    given = {"x, p": f"({p},)", "x, d": f'({{"p": {p}}},)'}.get(parameters, "()")
    lines = ["a = x * 2.0", before.format(p=p), f"v = {view}", *change.split("; "), afterwards]
    if "d" in parameters or before.startswith("d"):
        lines[1:2] = [before.format(p=p), "p = d['p']"]
    return TEXT.format(p=p, parameters=parameters, given=given, lines="\n".join(f"    {line}" for line in lines))


def check(source: str) -> bool:
    """Compares a compiled derivative with the plain call and finite differences; is there one?"""
    with Program(source, (0,)).load() as module:
        value, up, down = (module.f(X + h * ALONG, *module.arguments()) for h in (0.0, 1e-6, -1e-6))
        try:
            found, gradient = value_and_grad(module.f, mode="compiled")(X.copy(), *module.arguments())
        except CompileError:
            return False
        assert found == value
        assert np.sum(gradient * ALONG) == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-6)
        return True


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_stays_what_it_was_made_as(view, change):
    plain = check(text(view, change, "local", "")), check(text(view, change, "argument", "a *= x"))
    assert view in MAY_BE_REFUSED or change == "q = p[...]; q *= 0" or all(plain)
    for place in PLACES:
        for afterwards in AFTERWARDS:
            if "v" in afterwards and view in READ_ONLY:
                continue
            case = text(view, change, place, afterwards)
            if zlib.crc32(case.encode()) % 16 == 0:  # whichever, but always the same
                check(case)


STATEMENTS = {
    "turn of a loop": "v = a[:, p:]\nfor _ in range(2):\n    a *= x\n    p -= 1",
    "made in each turn": "for _ in range(2):\n    v = a[:, p:]\n    p[...] = 0\n    a *= x",
    "written in each turn": "v = a\nfor k in range(2):\n    a[p:, p:] *= x[k, 0]\n    p -= 1",
    "branch": "v = a[:, p:]\nif x[0, 0] > 0:\n    p[...] = 0\n    a *= x",
    "made in a branch": "if x[0, 0] > 0:\n    v = a[:, p:]\nelse:\n    v = a[p:]\np[...] = 0\na *= x",
    "made where it may fail": "try:\n    v = a[:, p:]\nexcept ValueError:\n    v = a\np[...] = 0\na *= x",
    "two views": "v, w = a[:, p:], a[p:]\np[...] = 0\na *= x\nv = v * w[0, 0]",
    "view of a view": "w = a[:, p:]\np -= 1\nv = w[:, p:]\np += 2\na *= x",
    "slice": "i = slice(p, None)\nv = a[i]\np[...] = 0",
    "slice again": "i = slice(p, None)\nw = a[i]\np[...] = 0\nv = a[i] * w[0, 0]",
    "slice in a tuple": "i = (slice(None), slice(p, None))\nv = a[i]\np[...] = 0\na *= x",
    "index that is made": "i = np.s_[:, p:]\nv = a[i]\np[...] = 0\na *= x",
    "number of turns": "v = a\nfor i in range(p + 1):\n    v = v * a[i]\n    p[...] = 0",
    "test of a loop": "v = a\nwhile p > -1:\n    v = v * a[p, 0]\n    p -= 1",
    "axis of a sum": "v = np.sum(a, axis=p)\np[...] = 0\na *= x",
    "exponent": "v = a ** (p + 1) * a**p\np[...] = 0\na *= x",
}
REFUSED = {
    "slice", "slice again", "slice in a tuple", "index that is made",  # they have the array in them
    "made in a branch", "made where it may fail",
}  # fmt: skip


@pytest.mark.parametrize("case", STATEMENTS)
def test_what_reads_an_array_reads_it_as_it_is_then(case):
    lines = "\n".join(f"    {line}" for line in ["a = x * 2.0", *STATEMENTS[case].split("\n")])
    source = TEXT.format(p=AXIS, parameters="x, p", given=f"({AXIS},)", lines=lines)
    assert check(source) is (case not in REFUSED)


def test_nothing_is_copied_where_the_array_stays():
    def f(x, p):
        a = x * 2.0
        v = np.transpose(a, p)
        return np.sum(v[0] * v[1])

    def g(x, p):
        a = x * 2.0
        v = np.transpose(a, p)
        p.sort()
        a *= x
        return np.sum(v[0] * v[1])

    for function, copies in ((f, 0), (g, 1)):
        derivative = value_and_grad(function, mode="compiled")
        derivative(X.copy(), np.array([1, 0]))
        assert derivative.source.count("np.copy(p)") == copies


def test_second_derivatives_of_views_that_are_made_with_arrays():
    def f(x, p):
        a = x * 2.0
        v = a[p:]
        p[...] = 0
        a *= x
        return np.sum(v**2)

    found = hessian(f, mode="compiled")(np.array([0.7, 1.3, 0.4]), np.array(1))
    np.testing.assert_allclose(found, np.diag([0.0, 48 * 1.3**2, 48 * 0.4**2]))
