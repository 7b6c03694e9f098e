"""What a program under construction knows of its names: an example of what each one holds.

Statements are executed on the examples as soon as they are written, each once, whatever loop or branch they stand in.
So shapes, dtypes, lengths and aliases of what is written next are looked up, not inferred, and a statement that fails
on the examples is left out. The numbers in the examples mean nothing.
"""

import numpy as np


def is_number(example) -> bool:
    if isinstance(example, np.ndarray):
        return example.ndim == 0 and example.dtype.kind == "f"
    return isinstance(example, (float, np.floating))


def is_array(example) -> bool:
    return isinstance(example, np.ndarray) and example.ndim > 0 and example.dtype.kind == "f"


def kind(example):
    """What a name keeps when it is bound again in a branch or loop."""
    if is_number(example):
        return "number"
    if isinstance(example, np.ndarray):
        return example.shape, example.dtype.kind
    if isinstance(example, (list, tuple)):
        return type(example), len(example), tuple({kind(item) for item in example})
    if isinstance(example, dict):
        return dict, tuple(example), tuple(kind(item) for item in example.values())
    return type(example)


class Scope:
    """Names in sight, the lines written so far, and the draws that decide what comes next.

    Attributes
    ----------
    below : callable
        ``below(n)`` draws one of the numbers from 0 to ``n - 1``.
    examples : dict
        An example of what each local name holds, and of what a closure sees around it.
    bounds : dict
        For each name of an index one more than the largest value that it takes.
    fixed : set
        Names that may be read and written into but not bound: those of the function around, and loop variables.
    varying : set
        Lists whose length is not that of the example.
    gone_through : list
        What the loops around go through, and which must not grow.
    namespace : dict
        The module.
    """

    def __init__(self, below, namespace: dict):
        self.below = below
        self.namespace = namespace
        self.examples: dict = {}
        self.bounds: dict = {}
        self.fixed: set = set()
        self.varying: set = set()
        self.gone_through: list = []
        self.lines: list = []
        self.indent = 1
        self.depth = 0  # of blocks
        self.counters: dict = {}

    # ------------------------------------------------------------------------------------------ draws

    def pick(self, options):
        return options[self.below(len(options))]

    def happens(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent  # what does not happen is simpler

    def one_of(self, forms):
        """One of pairs of a weight and a form; the first ones are the simplest."""
        at = self.below(sum(weight for weight, _ in forms))
        for weight, form in forms:
            at -= weight
            if at < 0:
                return form
        raise AssertionError

    # ------------------------------------------------------------------------------------------ names

    def names(self, holds) -> list:
        return [name for name, example in self.examples.items() if holds(example)]

    def arrays(self, shape=None) -> list:
        return self.names(lambda e: is_array(e) and (shape is None or e.shape == shape))

    def fresh(self, stem: str) -> str:
        count = self.counters[stem] = self.counters.get(stem, -1) + 1
        return f"{stem}{count}"

    def evaluate(self, text: str):
        return eval(text, {**self.namespace, **self.examples})

    # ------------------------------------------------------------------------------------------ lines

    def write(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def execute(self, text: str) -> bool:
        """Write a statement and run it on the examples; whether it could be."""
        after = {**self.namespace, **self.examples}
        try:
            exec(text, after)
        except Exception:
            return False
        for name, example in self.examples.items():
            rebound = after.get(name) is not example
            if rebound and (name in self.fixed or self.depth and kind(after[name]) != kind(example)):
                return False
        self.examples = {n: e for n, e in after.items() if n not in self.namespace and n != "__builtins__"}
        for line in text.splitlines():
            self.write(line)
        return True

    def block(self, fill, **bound) -> list:
        """Write an indented block; the names that it binds, which are out of sight after it."""
        before, bounds, varying = self.examples, dict(self.bounds), set(self.varying)
        self.examples = {**before, **{n: e for n, e in bound.items() if e is not None}}
        self.indent += 1
        self.depth += 1
        start = len(self.lines)
        fill()
        if len(self.lines) == start:
            self.write("pass")
        self.indent -= 1
        self.depth -= 1
        inner = self.examples
        self.examples = {name: inner[name] for name in before}
        self.bounds = bounds
        self.varying |= varying
        return {name: example for name, example in inner.items() if name not in before and name not in bound}
