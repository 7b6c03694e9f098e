"""What an assignment stores to, where its value binds the index, the container or the name anew: the order in which.

Python reads the target of ``t op= value`` before the value is evaluated, and that of ``t = value`` after it.
"""

import itertools
import zlib

import numpy as np
import pytest

from s2sgrad import value_and_grad
from tests.random_programs.programs import Program

HELD = {  # what is stored to: how it is made, and what reads all of it
    "t": ("t = x[0]", "t"),
    "u": ("u = first = x * 1.0; v = x * 2.0", "u @ x + first @ x**2 + v[0]"),
    "m": ("m = np.outer(x, x)", "np.sum(m * np.outer(x, x + 1))"),
    "l": ("l = first = [x[0], x[1], x[2]]; q = [x[3], x[1]]", "l[0] + 2 * l[1] + first[0] * first[2] + q[0]"),
    "rows": ("rows = [[x[0], x[1]], [x[2], x[3]]]", "rows[0][0] + rows[0][1] * rows[1][0] + rows[1][1]"),
    "arrays": ("arrays = [x * 1.0, x * 3.0]; first = arrays[0]", "(arrays[0] + first) @ x + arrays[1] @ x**2"),
    "d": ('d = {"a": x[0], "b": x[1]}; first = d; e = {"a": x[2], "b": x[3]}',
          'd["a"] * 3 + first["a"] * first["b"] + e["a"]'),
    "whole": ('whole = first = {"a": x * 1.0}; e = {"a": x * 2.0}', '(whole["a"] * first["a"]) @ x + e["a"][0]'),
    "s": ("s = first = Box(x[0], x * 1.0); r = Box(x[1], x * 2.0)",
          "s.t * first.t + r.t + (s.u * first.u) @ x + r.u[0]"),
    "c": ("c = 3", "c"),
    "n": ("n = [1, 2, 3, 4]", "n[0] + 2 * n[1] + 3 * n[2]"),
    "k": ("k = np.arange(1, 5)", "k[0] + 2 * k[1] + 3 * k[2]"),
    "g": ('g = {"a": 3, "b": 4}', 'g["a"] + 2 * g["b"]'),
}  # fmt: skip
TARGETS = {  # the target, the name in it that is bound anew, to what, and what is stored there
    "number": ("t", "t", "x[2] * 0.5", "x[1]"),
    "array": ("u", "u", "v", "(x + 1.0)"),
    "item": ("u[i]", "i", "2", "x[1]"),
    "slice": ("u[i : i + 2]", "i", "2", "x[1]"),
    "open slice": ("u[i:]", "i", "1", "x[1]"),
    "picked": ("u[[i, 3]]", "i", "2", "x[1]"),
    "masked": ("u[u > i]", "i", "1", "x[1]"),
    "item of another": ("u[1]", "u", "v", "x[1]"),
    "slice of another": ("u[1:]", "u", "v", "x[1]"),
    "row": ("m[i]", "i", "1", "x[1]"),
    "item of a row": ("m[i][i]", "i", "1", "x[1]"),
    "pair": ("m[i, i]", "i", "1", "x[1]"),
    "in a list": ("l[i]", "i", "2", "x[1]"),
    "in another list": ("l[0]", "l", "q", "x[1]"),
    "in a list of lists": ("rows[i][i]", "i", "1", "x[1]"),
    "array in a list": ("arrays[i]", "i", "1", "(x + 1.0)"),
    "in a dict": ("d[key]", "key", '"b"', "x[1]"),
    "in another dict": ('d["a"]', "d", "e", "x[1]"),
    "array in another dict": ('whole["a"]', "whole", "e", "(x + 1.0)"),
    "field": ("s.t", "s", "r", "x[1]"),
    "array in a field": ("s.u", "s", "r", "(x + 1.0)"),
    "item of a field": ("s.u[i]", "i", "2", "x[1]"),
    "item of another's field": ("s.u[1]", "s", "r", "x[1]"),
    "plain number": ("c", "c", "c + 5", "3"),
    "plain item": ("n[i]", "i", "2", "3"),
    "plain array item": ("k[i]", "i", "2", "3"),
    "plain key": ("g[key]", "key", '"b"', "3"),
}
VALUES = {
    "nonlocal": "bind()",
    "in a sum": "2 * bind() - 1",
    "inner": "outer()",
    "chosen": "bind() if x[0] > 0 else 2",
    "walrus": "({name} := {new}, {value})[1]",
    "walrus in a sum": "{value} * ({name} := {new}, {value})[1]",
}
FORMS = {
    "+=": "{target} += {how}",
    "*=": "{target} *= {how}",
    "=": "{target} = {how}",
    "several": "z = {target} = {how}",
    "before": "{name}, {target} = {new}, {value}",
    "after": "{target}, {name} = {value}, {new}",
    "unpacked": "both = {value}, {new}; {target}, {name} = both",
    "bound, unpacked": "both = {new}, {value}; {name}, {target} = both",
}
PLACES = {
    "body": [],
    "if": ["if x[0] > 0:"],
    "else": ["if x[0] < 0:", "    pass", "else:"],
    "for": ["for _ in range(2):"],
    "while": ["w = 0", "while w < 2:", "    w += 1"],
    "with": ['with np.errstate(all="ignore"):'],
    "try": ["try:"],
    "helper": ["def step():", "    nonlocal {names}"],
}
AFTERWARDS = {"try": ["except ValueError:", "    raise"], "helper": ["    count[0] += 1.0", "step()"]}
TEXT = """import numpy as np

class Box:
    def __init__(self, t, u):
        self.t = t
        self.u = u

def f(x):
    count = np.zeros(1)
    i = 0
    key = "a"
    z = 0.0
    {made}

    def bind():
        nonlocal {name}
        {name} = {new}
        return {value}

    def outer():
        return 2 * bind()

    {lines}
    return ({read}) * x[1] + (i + np.sum(z)) * x[2] + (x[0] if key == "a" else x[3]) + count[0]
"""
X, ALONG = np.array([0.77, 1.41, -0.29, 0.58]), np.array([0.3, -0.5, 0.7, 0.2])
WHOLE = list(itertools.product(TARGETS, PLACES, FORMS, VALUES))
SOME = [c for c in WHOLE if zlib.crc32(repr(c).encode()) % 32 == 0]  # whichever, but always the same


def text(what, place, form, how) -> str:
    target, name, new, value = TARGETS[what]
    root = "".join(itertools.takewhile(str.isalpha, target))
    names = {"target": target, "name": name, "new": new, "value": value}
    written = FORMS[form].format(how=VALUES[how].format(**names), **names).split("; ")
    block = PLACES[place]
    inside = " " * (len(block[-1]) - len(block[-1].lstrip()) + 4 * block[-1].endswith(":")) if block else ""
    lines = [*block, *(inside + line for line in written), *AFTERWARDS.get(place, [])]
    lines = [line.replace("{names}", ", ".join(sorted({root, name, "z"}))) for line in lines]
    return TEXT.format(lines="\n    ".join(lines), made=HELD[root][0], read=HELD[root][1], **names)


def check(source: str) -> str:
    """Compares the engines and finite differences; gives the engine that ran."""
    with Program(source, (0,)).load() as module:
        up, down = (module.f(X + h * ALONG) for h in (1e-6, -1e-6))
        for mode in ("tape", "auto"):
            derivative = value_and_grad(module.f, mode=mode)
            value, gradient = derivative(X.copy())
            assert value == module.f(X.copy())
            assert gradient @ ALONG == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-6)
        return derivative.engine


@pytest.mark.parametrize("how", ["nonlocal", "walrus"])
@pytest.mark.parametrize("what", TARGETS)
def test_what_is_augmented_is_read_before_its_value_binds_anew(what, how):
    assert check(text(what, "body", "+=", how)) == ("tape" if what == "plain key" else "compiled")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", TARGETS)
def test_what_is_stored_to_is_what_python_stores_to(what, place):
    for case in SOME:
        if case[:2] == (what, place):
            check(text(*case))


ALONE = {  # statements, what they read in the end, and the engine
    "last, popped": ("l = [v * 1.0 for v in x]; l[-1] -= 2 * l.pop()", "sum(l) * l[0]", "compiled"),
    "first, popped": ("l = [v * 1.0 for v in x]; l[0] *= l.pop(0)", "sum(l) * l[0]", "compiled"),
    "plain, popped": ("l = [1, 2, 3]; i = 0; l[i] += 1; l[-1] -= 2 * l.pop()", "l[0] * x[0] + l[1] * x[1]", "compiled"),
    "arrays, popped": ("l = [x * 1.0, x * 2.0]; b = l[1]; l[-1] *= l.pop()", "l[0] @ x + len(l) * b[0]", "compiled"),
    "out of a dict": ('d = {"a": x * 1.0}; b = d["a"]; d["a"] *= d.pop("a")', 'd["a"] @ x * b[1]', "compiled"),
    "popped twice": ("u = x * 1.0; l = [0, 1, 2]; u[l.pop()] *= x[l.pop()] + x[len(l)]", "u @ x", "compiled"),
    "alias in a dict": ('a = x * 1.0; d = {"a": a}; d["a"] += turned(d["a"])', "a @ x * a[1]", "compiled"),
    "another in a dict": ('a = x * 1.0; d = {"a": a}; d["a"] += other(d)', 'a @ x * d["a"][0]', "compiled"),
    "indices bound": ("i = 0; m = np.outer(x, x); m[i, (i := 1)] += (i := 2) * x[0]", "m[i] @ m[0]", "compiled"),
    "index bound": ("i = 0; u = x * 1.0; u[(i := 1)] += x[i]; u[i] *= x[i - 1]", "u @ x", "compiled"),
    "plain index bound": ("i = 0; n = [1, 2, 3]; n[(i := 1)] += n[i]", "n[1] * x[0]", "compiled"),
    "list": ("l = m = [x[0]]; l += (l := [x[1], x[2]])", "l[0] * len(m) + m[-1] * x[3]", "compiled"),
    "text": ('s = "a"; s += (s := "bc")', "x[0] ** len(s)", "compiled"),
    "one after another": ("i = 0; u = x * 1.0; p = x[0], 3; u[i], i = p; i, u[i] = p[1], x[1]", "u @ x", "compiled"),
    "one in another": ("i = 0; u = x * 1.0; (u[i], i), u[i] = (x[1] * 2, 2), x[3]", "u @ x", "compiled"),
    "in a dict": ('t = x[0]; d = {}; t += {**d, "b": (t := x[1])}["b"]', "t * x[0]", "tape"),
    "in a comparison": ("t = x[0]; t += 1.0 if -9 < (t := t * 2) < (t := t * 3) else t", "t * x[1]", "tape"),
    "outside": ("u = x * 1.0; u[PLACE[0]] += moved() * x[1]; PLACE[0] = 0", "u @ x", "tape"),
    "global": ("to(0); u = x * 1.0; u[AT] += to(1) * x[1]", "u @ x", "tape"),
}  # fmt: skip
ALONE_TEXT = """import numpy as np

PLACE, AT = [0], 0

def to(place):
    global AT
    AT = place
    return 2.0

def moved():
    PLACE[0] = 1
    return 2.0

def turned(a):
    a[0] *= a[1]
    return a[::-1] * 2.0

def other(d):
    d["a"] = d["a"] * 2.0
    return d["a"]

def f(x):
    {lines}
    return {read}
"""


@pytest.mark.parametrize("name", ALONE)
def test_what_the_value_changes_is_stored_to_as_python_does(name):
    statements, read, engine = ALONE[name]
    assert check(ALONE_TEXT.format(lines=statements.replace("; ", "\n    "), read=read)) == engine
