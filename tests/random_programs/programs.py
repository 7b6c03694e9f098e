"""A whole program: arguments, helpers, the function, and which arguments it is differentiated by."""

import itertools
import linecache
import math
import random
import warnings
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from .expressions import Expressions
from .functions import Functions, outcome_of
from .objects import CLASSES, KINDS
from .scope import is_array, is_number

_numbers = itertools.count(1)
HEADER = """import math

import numpy as np

K = 0.7
W = np.array([0.4, 1.1, 0.8, 0.2])
"""


@dataclass
class Program:
    """The text of a module with functions `f` and `arguments`, and what `f` is differentiated by."""

    text: str
    argnums: tuple

    def __repr__(self):
        return f"{self.text}\n# differentiated by {self.argnums}"

    def load(self, double=False) -> "Module":
        return Module(self.text.replace("float32", "float64") if double else self.text)

    @property
    def is_single(self) -> bool:
        return "float32" in self.text


@dataclass
class Module:
    """A program's text, compiled as if it stood in a file."""

    text: str
    names: dict = field(default_factory=dict)

    def __enter__(self):
        self.file = f"<random program {next(_numbers)}>"
        linecache.cache[self.file] = (len(self.text), None, self.text.splitlines(keepends=True), self.file)
        self.names["__name__"] = "random_program"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of `0.5()`, which a program may become while it is made small
            exec(compile(self.text, self.file, "exec"), self.names)
        return self

    def __exit__(self, *error):
        linecache.cache.pop(self.file, None)

    def __getattr__(self, name):
        return self.names[name]


class Author(Expressions):
    """Writes a module."""

    def module(self) -> Program:
        names = {"np": np, "math": math, "K": 0.7, "W": np.array([0.4, 1.1, 0.8, 0.2])}
        texts = [HEADER]
        if self.happens(15):
            texts.append(CLASSES)
            exec(CLASSES, names)
        parameters, values = self.parameters(names)
        helpers: dict = {}
        shapes = [e.shape for e in values.values() if is_array(e)] or [(3,)]
        while len(helpers) < 3 and self.happens(35):
            text, name, signature = self.helper(len(helpers), names, helpers, shapes)
            together = dict(names)
            try:
                exec(text, together)
                result = outcome_of(together[name], signature)
            except Exception:
                continue
            names[name] = together[name]
            helpers[name] = signature, result
            texts.append(text)
        texts.append(self.function(values, names, helpers))
        texts.append("def arguments():\n" + "\n".join(f"    {line}" for line in parameters) + "\n")
        active = [i for i, e in enumerate(values.values()) if differentiable(e)]
        chosen = tuple(i for i in active if self.happens(70)) or tuple(active[:1])
        return Program("\n\n".join(texts), self.with_twins(parameters, list(values), chosen))

    # -------------------------------------------------------------------------------------- arguments

    def parameters(self, names):
        """The lines that make the arguments, and an example of each."""
        n = self.one_of([(10, 3), (10, 4), (2, 2), (1, 1), (1, 0), (2, 6)])
        m = self.one_of([(6, 2), (4, n), (1, 1)])
        makers = {"x": self.entries(n)}
        options = {
            "y": self.entries(n),
            "k": self.literal(),
            "a": f"np.array([{', '.join(self.entries(n, '{}') for _ in range(m))}])" if m and n else self.entries(n),
            "w": self.pick(["x", "x[::-1]", self.entries(n), self.entries(n, "np.array({}, dtype=np.float32)")]),
            "n": str(self.below(4)),
            "z": self.pick(["np.array(0.8)", "np.float32(0.5)", "2"]),
            "b": f"np.array([{', '.join(self.pick(['True', 'False']) for _ in range(n))}], dtype=bool)",
            "j": f"np.array([{', '.join(str(self.below(max(n, 1))) for _ in range(3))}])" if n else "np.arange(0)",
            "q": f"[{self.entries(n)}, {self.entries(n)}]",
            "d": f'{{"a": {self.entries(n)}, "b": {self.literal()}}}',
        }
        likely = {"y": 45, "k": 60, "a": 35, "n": 25, "w": 12, "z": 8, "b": 8, "j": 8, "q": 6, "d": 6}
        makers |= {name: options[name] for name in options if self.happens(likely[name])}
        if "P" in names and self.happens(40):
            makers["o"] = f"{self.pick(KINDS)}({self.literal()}, {self.entries(n)})"
        lines = [f"{name} = {text}" for name, text in makers.items()]
        values: dict = {}
        exec("\n".join(lines), names, values)
        return [*lines, f"return {', '.join(makers)}{',' if len(makers) == 1 else ''}"], values

    def entries(self, n: int, form="np.array({})") -> str:
        numbers = [f"{self.pick(['', '', '-'])}{(self.below(180) + 11) / 100}" for _ in range(n)]
        return form.format(f"[{', '.join(numbers)}]")

    def with_twins(self, lines, names, chosen) -> tuple:
        """Arguments that are the same array are differentiated together."""
        if any(line.startswith("w = x") for line in lines) and {names.index("x"), names.index("w")} & set(chosen):
            return tuple(sorted({*chosen, names.index("x"), names.index("w")}))
        return chosen

    # -------------------------------------------------------------------------------------- functions

    def inside(self, examples: dict, names: dict, helpers: dict) -> Functions:
        author = Functions(self.below, names, helpers)
        author.examples = {n: np.copy(e) if isinstance(e, np.ndarray) else e for n, e in examples.items()}
        author.bounds = {n: e + 1 for n, e in examples.items() if type(e) is int and n == "n"}
        author.fixed = {n for n in author.bounds}
        return author

    def helper(self, number, names, helpers, shapes):
        name = f"h{number}"
        shape = self.pick(shapes)
        form = self.one_of([(8, "plain"), (1, "recursive"), (1, "applies")])
        if form == "recursive":
            inside = self.inside({"a": np.float64(0.5), "n": 2}, names, {})
            step, last, around = inside.number(), inside.number(), inside.number(1)
            text = f"def {name}(a, n):\n    if n <= 0:\n        return {last}\n"
            text += f"    return {self.pick([around, '0.5'])} + {name}({step}, n - 1)\n"
            return text, name, {"a": np.float64(0.5), "n": 1}
        if form == "applies":
            text = f"def {name}(g, a):\n    return {self.pick(['g(a)', 'g(g(a))', 'g(a) * a', 'a + g(0.5 * a)'])}\n"
            return text, name, {"g": np.sin, "a": np.float64(0.5) if self.happens(50) else np.ones(shape)}
        signature = {"a": np.ones(shape) if self.happens(60) else np.float64(0.6)}
        if self.happens(60):
            signature["b"] = np.ones(self.pick(shapes)) if self.happens(40) else np.float64(0.6)
        if self.happens(40):
            signature["k"] = np.float64(0.5)
        inside = self.inside(signature, names, dict(helpers))
        writer = Functions(self.below, names, {})
        writer.indent = 0
        outcome = self.one_of([(4, "number"), (3, shape), (2, None), (1, "pair"), (1, "yields")])
        if outcome == "yields" and is_number(signature["a"]):
            signature["n"] = 2
        writer.define(name, signature, inside, outcome)
        return "\n".join(writer.lines) + "\n", name, signature

    def function(self, values, names, helpers) -> str:
        inside = self.inside(values, names, helpers)
        inside.result = lambda: inside.number(1)
        inside.statement()
        while self.happens(82):
            inside.statement()
        inside.write(f"return {inside.whole()}")
        return "\n".join([f"def f({', '.join(values)}):", *inside.lines]) + "\n"


def differentiable(example) -> bool:
    if isinstance(example, (list, dict)):
        return True
    return is_number(example) or is_array(example)


NUMBERS = [None, *(st.integers(0, n - 1) for n in range(1, 200))]


@st.composite
def programs(draw) -> Program:
    """The strategy."""
    return written(lambda n: draw(NUMBERS[n]))


def numbered(seed: int, number: int) -> Program:
    """One of an endless row of programs, each of which can be had again."""
    return written(random.Random(f"{seed} {number}").randrange)


def written(below) -> Program:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Author(below, {}).module()
