"""Helpers in the module, nested functions and lambdas, generators, recursion, functions that are passed on."""

import inspect
from dataclasses import dataclass

import numpy as np

from .expressions import is_vector
from .flow import DEEPEST
from .objects import Objects
from .scope import is_array, is_number

PASSED = ["np.sin", "np.tanh", "lambda v: 0.7 * v", "lambda v: v * v"]


def is_function(example) -> bool:
    return inspect.isfunction(example)


@dataclass
class Yields:
    """What a generator function gives: one after another of such."""

    example: object


def outcome_of(function, parameters: dict):
    """What a function gives for its examples."""
    result = function(*[np.copy(e)[()] if is_array(e) else e for e in parameters.values()])
    return Yields(next(result)) if inspect.isgenerator(result) else result


class Functions(Objects):
    """`helpers` says of each function that may be called the examples of its parameters and result."""

    def __init__(self, below, namespace, helpers):
        super().__init__(below, namespace)
        self.helpers: dict = helpers

    def more_statements(self) -> list:
        forms = super().more_statements()
        if not self.depth:
            forms += [(2, self.nested), (1, self.lambda_), (1, self.nested_generator)]
        if self.helpers:
            forms.append((3, self.call_statement))
        return forms

    def more_numbers(self) -> list:
        forms = super().more_numbers()
        names = [name for name, (_, result) in self.helpers.items() if is_number(result)]
        forms += [(4, lambda depth: self.call(self.pick(names), depth))] if names else []
        return forms + ([(1, self.mapped)] if self.names(is_vector) else [])

    def more_arrays(self, shape) -> list:
        forms = super().more_arrays(shape)
        names = [name for name, (_, result) in self.helpers.items() if is_array(result) and result.shape == shape]
        return forms + ([(5, lambda depth: self.call(self.pick(names), depth))] if names else [])

    def call(self, name: str, depth: int) -> str:
        parameters, _ = self.helpers[name]
        given, by_name = [], False
        for parameter, example in parameters.items():
            by_name = by_name or self.happens(10)
            if callable(example):
                text = self.pick(self.passed())
            elif is_array(example):
                text = self.array(example.shape, 0 if self.happens(70) else depth)
            elif type(example) is int:
                text = str(self.below(3))
            else:
                text = self.number(min(depth, 1))
            given.append(f"{parameter}={text}" if by_name else text)
        if by_name and given[-1].startswith("k="):
            given.pop()  # it has a default
        return f"{name}({', '.join(given)})"

    def passed(self) -> list:
        """Functions of a number."""
        own = [n for n, (signature, result) in self.helpers.items() if [*signature] == ["a"] and is_number(result)]
        numbers = [n for n in own if is_number(self.helpers[n][0]["a"])]
        return [*PASSED, *numbers, *numbers, *self.objects(), *(f"{name}.energy" for name in self.objects())]

    def mapped(self, depth) -> str:
        over, function = self.pick(self.names(is_vector)), self.pick(self.passed())
        return self.pick([f"sum(map({function}, {over}))", f"sum(list(map({function}, {over}))[:2])"])

    def call_statement(self) -> None:
        name = self.pick(list(self.helpers))
        _, result = self.helpers[name]
        text = self.call(name, 1)
        if isinstance(result, Yields):
            self.consume(text, result.example)
        elif result is None:
            self.execute(text)
        elif isinstance(result, tuple):
            self.execute(f"{', '.join(self.fresh('u' if is_array(r) else 's') for r in result)} = {text}")
        else:
            self.execute(f"{self.fresh('u' if is_array(result) else 's')} = {text}")

    # ---------------------------------------------------------------------------------------- defined

    def define(self, name: str, parameters: dict, inside: "Functions", outcome, outer="") -> None:
        """Write a function; `outcome` is what it gives: a number, an array's shape, a pair, None; `"yields"`."""
        self.write(f"def {name}({', '.join('k=0.5' if p == 'k' else p for p in parameters)}):")
        inside.indent = self.indent + 1
        start = len(inside.lines)
        if outer:
            inside.write(f"nonlocal {outer}")
        if outcome == "yields":
            inside.yields(parameters)
            self.lines += inside.lines[start:]
            return
        if outcome == "number":
            inside.result = lambda: inside.number(1)
        elif isinstance(outcome, tuple):
            inside.result = lambda: inside.array(outcome, 1)
        inside.body()
        if outcome == "pair":
            inside.write(f"return {inside.number()}, {inside.value()[0]}")
        elif isinstance(outcome, tuple):
            inside.write(f"return {inside.array(outcome)}")
        elif outcome is not None:
            inside.write(f"return {inside.number()}")
        self.lines += inside.lines[start:]

    def yields(self, parameters) -> None:
        """The body of a generator, with one loop."""
        if self.happens(50):
            self.statement()
        a = parameters["a"]
        i = self.fresh("i")
        if is_array(a):
            value = self.number if a.ndim == 1 else lambda depth: self.array(a.shape[1:], depth)
            bound, head = {i: self.element(a)}, f"for {i} in a:"
        else:
            value, bound, head = self.number, {i: 0}, f"for {i} in range(n):"

        def turn():
            self.statement()
            self.write(f"yield {value(2)}")
            if self.happens(40):
                self.statement()

        self.write(head)
        self.turns(bound, {} if is_array(a) else {i: 3}, turn)

    def consume(self, generator: str, example) -> None:
        """Use up a generator in place."""
        v, s = self.fresh("v"), self.fresh("s")
        if self.depth < DEEPEST and self.happens(50):
            i = self.fresh("i")
            head = self.pick([f"for {v} in {generator}:", f"for {i}, {v} in enumerate({generator}, 1):"])
            self.write(head)
            self.turns({v: example, i: 0} if i in head else {v: example}, {i: 5} if i in head else {})
        elif self.happens(40):
            xs = self.fresh("xs")
            if self.execute(f"{xs} = list({generator})"):
                self.varying.add(xs)
                self.examples[xs] = self.examples[xs] or [example]
        elif is_number(example):
            text = self.within(v, example, lambda: self.number(1))
            forms = [f"sum({generator})", f"max({generator}, default=0.5)", f"next({generator}, 0.5)"]
            self.execute(f"{s} = {self.pick([*forms, f'sum({text} for {v} in {generator})'])}")
        else:
            self.execute(
                f"{s} = {self.pick([f'np.sum(sum({generator}))', f'sum(np.sum({v}) for {v} in {generator})'])}"
            )

    def nested_generator(self) -> None:
        name = self.fresh("g")
        parameters = {"a": np.ones(self.pick(self.shapes()))} if self.happens(50) else {"a": np.float64(0.6), "n": 2}
        before = len(self.lines)
        self.define(name, parameters, self.within_function(parameters), "yields")
        self.learn(name, parameters, self.lines[before:])

    def nested(self) -> None:
        """A function inside of the function, which reads and writes what is around it, and may bind a number anew."""
        name = self.fresh("g")
        parameters = {"a": np.float64(0.6)} if self.happens(60) else {"a": np.ones(self.pick(self.shapes()))}
        inside = self.within_function(parameters)
        free = [n for n in self.free(is_number) if n not in parameters]
        outer = self.pick(free) if free and self.happens(35) else ""
        inside.fixed -= {outer}
        outcome = self.one_of([(5, "number"), (2, self.some_shape()), (2, None)])
        self.varying |= {n for n, e in self.examples.items() if isinstance(e, list)}
        before = len(self.lines)
        self.define(name, parameters, inside, outcome, outer)
        self.learn(name, parameters, self.lines[before:])

    def within_function(self, parameters) -> "Functions":
        """The writer of a function that stands here."""
        inside = type(self)(self.below, self.namespace, dict(self.helpers) if self.happens(50) else {})
        inside.examples = {**self.examples, **parameters}
        inside.bounds = {n: bound for n, bound in self.bounds.items() if n not in parameters}  # those hide others
        inside.fixed = set(self.examples)
        inside.varying, inside.loose = set(self.varying), set(self.loose)
        inside.gone_through = [e for e in self.examples.values() if isinstance(e, list)]
        inside.counters = self.counters
        return inside

    def learn(self, name, parameters, lines) -> None:
        """Define the function for the examples, call it once, and allow calls of it."""
        text = "\n".join(line[4 * self.indent :] for line in lines).replace("nonlocal ", "global ")
        after = dict(self.examples)
        try:
            # one dictionary for both: the function then sees the examples as its globals
            together = {**self.namespace, **after}
            exec(text, together)
            result = outcome_of(together[name], parameters)
        except Exception:
            del self.lines[len(self.lines) - len(lines) :]
            return
        self.examples[name] = together[name]
        self.fixed.add(name)
        self.helpers = {**self.helpers, name: (parameters, result)}

    def lambda_(self) -> None:
        name = self.fresh("g")
        text = self.within("a", np.float64(0.6), lambda: self.number(2))
        if self.execute(f"{name} = lambda a: {text}"):
            self.fixed.add(name)
            self.helpers = {**self.helpers, name: ({"a": np.float64(0.6)}, np.float64(0.5))}

    def terms_of(self, name, example) -> list:
        if is_function(example) and name in self.helpers and is_number(self.helpers[name][1]):
            return [self.call(name, 0)]
        return super().terms_of(name, example)
