"""Helpers in the module, nested functions and lambdas, recursion, functions that are passed on."""

import inspect

import numpy as np

from .objects import Objects
from .scope import is_array, is_number

PASSED = ["np.sin", "np.tanh", "lambda v: 0.7 * v", "lambda v: v * v"]


def is_function(example) -> bool:
    return inspect.isfunction(example)


class Functions(Objects):
    """`helpers` says of each function that may be called the examples of its parameters and result."""

    def __init__(self, below, namespace, helpers):
        super().__init__(below, namespace)
        self.helpers: dict = helpers

    def more_statements(self) -> list:
        forms = super().more_statements()
        if not self.depth:
            forms += [(1, self.nested), (1, self.lambda_)]
        if self.helpers:
            forms.append((3, self.call_statement))
        return forms

    def more_numbers(self) -> list:
        forms = super().more_numbers()
        names = [name for name, (_, result) in self.helpers.items() if is_number(result)]
        return forms + ([(4, lambda depth: self.call(self.pick(names), depth))] if names else [])

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
                text = self.pick(PASSED)
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

    def call_statement(self) -> None:
        name = self.pick(list(self.helpers))
        _, result = self.helpers[name]
        text = self.call(name, 1)
        if result is None:
            self.execute(text)
        elif isinstance(result, tuple):
            self.execute(f"{', '.join(self.fresh('u' if is_array(r) else 's') for r in result)} = {text}")
        else:
            self.execute(f"{self.fresh('u' if is_array(result) else 's')} = {text}")

    # ---------------------------------------------------------------------------------------- defined

    def define(self, name: str, parameters: dict, inside: "Functions", outcome) -> None:
        """Write the body of a function; `outcome` is what it returns: a number, an array's shape, a pair, None."""
        self.write(f"def {name}({', '.join('k=0.5' if p == 'k' else p for p in parameters)}):")
        inside.indent = self.indent + 1
        start = len(inside.lines)
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

    def nested(self) -> None:
        """A function inside of the function, which reads and writes what is around it."""
        name = self.fresh("g")
        parameters = {"a": np.float64(0.6)} if self.happens(60) else {"a": np.ones(self.pick(self.shapes()))}
        inside = type(self)(self.below, self.namespace, {})
        inside.examples = {**self.examples, **parameters}
        inside.bounds = dict(self.bounds)
        inside.fixed = set(self.examples)
        inside.varying, inside.loose = set(self.varying), set(self.loose)
        inside.gone_through = [e for e in self.examples.values() if isinstance(e, list)]
        inside.counters = self.counters
        outcome = self.one_of([(5, "number"), (2, self.some_shape()), (2, None)])
        self.varying |= {n for n, e in self.examples.items() if isinstance(e, list)}
        before = len(self.lines)
        self.define(name, parameters, inside, outcome)
        self.learn(name, parameters, self.lines[before:])

    def learn(self, name, parameters, lines) -> None:
        """Define the function for the examples, call it once, and allow calls of it."""
        text = "\n".join(line[4 * self.indent :] for line in lines)
        after = dict(self.examples)
        try:
            # one dictionary for both: the function then sees the examples as its globals
            together = {**self.namespace, **after}
            exec(text, together)
            result = together[name](*[np.copy(e)[()] if is_array(e) else e for e in parameters.values()])
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
