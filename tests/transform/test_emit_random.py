"""Random programs: what the emitted source computes, bit for bit, is what the IR says, step by step.

This is what holds the names (a value overwritten while it is needed would be a silently wrong gradient)
and the expression trees (an operation moved past a write or an effect) to account.
"""

import ast
import operator as o
import random

import gast
import numpy as np
import pytest

from s2sgrad.transform import ir
from s2sgrad.transform.emit import emit
from s2sgrad.transform.emit.load import load

from .builders import LIST, TUPLE, code, const, function, value, verbatim


class Interpreter:
    """Runs the IR as it stands."""

    def __init__(self, log, names):
        self.env: dict = {}
        self.names = {**names, "log": log}

    def operand(self, x):
        if isinstance(x, ir.Value):
            return self.env[x]
        if isinstance(x, ir.Constant):
            return x.value
        scope = {n: self.env[v] for n, v in x.reads.items()}
        return eval(compile(_expression(x.node), "code", "eval"), dict(self.names), scope)

    def block(self, block):
        for statement in block.statements:
            self.statement(statement)
        return [self.operand(r) for r in block.results]

    def statement(self, s):
        match s:
            case ir.Op():
                self.env[s.target] = s.function(*map(self.operand, s.args))
            case ir.Bind():
                self.env[s.target] = self.operand(s.code)
            case ir.Make():
                self.env[s.target] = tuple(map(self.operand, s.items))
            case ir.Verbatim():
                scope = {n: self.env[v] for n, v in s.reads.items()}
                exec(compile(_module(s.node), "code", "exec"), dict(self.names), scope)
                self.env.update((v, scope[n]) for n, v in s.writes.items())
            case ir.Unpack():
                self.bind(s.targets, self.operand(s.source))
            case ir.Accumulate():
                self.env[s.into][self.operand(s.index)] += self.operand(s.value)
                self.env[s.target] = self.env[s.into]
            case ir.If():
                results = self.block(s.then if self.operand(s.test) else s.orelse)
                self.env.update(zip(s.results, results, strict=True))
            case ir.For():
                self.loop(s)

    def bind(self, pattern, x):
        if isinstance(pattern, tuple):
            for part, item in zip(pattern, x, strict=True):
                self.bind(part, item)
        elif pattern is not None:
            self.env[pattern] = x

    def loop(self, s):
        iterables = [list(self.operand(x.iterable)) for x in s.sources]
        iterables = [x[::-1] if source.reverse else x for x, source in zip(iterables, s.sources, strict=True)]
        state = [self.operand(c.initial) for c in s.carried]
        collected = [[] for _ in s.collected]
        for elements in zip(*iterables, strict=False):
            self.env.update(zip([c.parameter for c in s.carried], state, strict=True))
            for source, element in zip(s.sources, elements, strict=True):
                self.bind(source.element, element)
            results = self.block(s.body)
            state = results[: len(state)]
            for items, item in zip(collected, results[len(state) :], strict=True):
                items.append(item)
        self.env.update(zip([c.result for c in s.carried], state, strict=True))
        self.env.update(zip(s.collected, collected, strict=True))


def _expression(node):
    return ast.fix_missing_locations(ast.Expression(gast.gast_to_ast(node)))


def _module(node):
    return ast.fix_missing_locations(ast.Module([gast.gast_to_ast(node)], []))


class Program:
    """Makes a random program out of everything that the language has."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.box = value("box", LIST)
        self.lists: list = []
        self.once: list = []  # temporaries read from memory, to be used once, later in the same block
        self.optional: list = []  # (test, way, value): values defined only where the test went that way

    def pick(self, scope):
        if self.once and self.random.random() < 0.4:
            return self.once.pop(0)
        r = self.random.random()
        if r < 0.1:
            return const(self.random.choice([0.5, -2.0, 3.0]))
        chosen = self.random.choice(scope[-6:] if r < 0.7 else scope)
        if r > 0.93:
            return code("x + 0.25", x=chosen)
        return chosen

    def new(self):
        kind = self.random.choice([ir.UNKNOWN, ir.FLOAT64])
        return value(self.random.choice(["t", "t", "t", "t", "t", "x", "y", "z", "dx", "dt", "s"]), kind)

    def block(self, scope, buffer, depth, length):
        """Statements over the values in scope; the buffer's last version comes back."""
        statements, scope, outer, once = [], list(scope), list(self.optional), self.once
        self.once = []
        for _ in range(length):
            buffer = self.statement(statements, scope, buffer, depth)
        self.optional, self.once = outer, once
        return statements, scope, buffer

    def statement(self, statements, scope, buffer, depth):
        r = self.random.random()
        new = self.new()
        if r < 0.45:
            one, two = self.pick(scope), self.pick(scope)
            which = self.random.choice([o.add, o.sub, o.mul, np.sin, np.cos, o.neg, np.arctan])
            binary = which in (o.add, o.sub, o.mul)
            middle = value("t", ir.FLOAT64)
            statements.append(ir.Op(middle if binary else new, which, (one, two) if binary else (one,)))
            if binary:
                statements.append(ir.Op(new, np.sin, (middle,)))
            scope.append(new)
        elif r < 0.52:
            statements.append(ir.Op(new, o.getitem, (self.box, const(0))))
            self.keep(new, scope)
        elif r < 0.57:
            statements.append(verbatim("box[0] = x", {"box": self.box, "x": self.random.choice(scope)}, {}))
        elif r < 0.62:
            statements.append(ir.Bind(new, code("log(x)", x=self.random.choice(scope))))
            scope.append(new)
        elif r < 0.66:
            old = self.random.choice(scope)
            statements.append(verbatim("x = x * 0.5 + y", {"x": old, "y": self.random.choice(scope)}, {"x": new}))
            scope.append(new)
        elif r < 0.72 and buffer is not None:
            after = value("d", buffer.type)
            statements.append(ir.Accumulate(after, buffer, const(self.random.randrange(3)), self.pick(scope)))
            buffer = after
        elif r < 0.78 and buffer is not None:
            statements.append(ir.Op(new, o.getitem, (buffer, const(self.random.randrange(3)))))
            self.keep(new, scope)
        elif r < 0.82:
            pair, other = value("t", TUPLE), self.new()
            statements.append(ir.Make(pair, (self.pick(scope), self.pick(scope))))
            statements.append(ir.Unpack((new, other), pair))
            scope += [new, other]
        elif r < 0.92 and depth < 3:
            buffer = self.branch(statements, scope, buffer, depth)
        elif depth < 3:
            buffer = self.loop(statements, scope, buffer, depth)
        return buffer

    def keep(self, new, scope):
        if new.name == "t":
            self.once.append(new)
        else:
            scope.append(new)

    def branch(self, statements, scope, buffer, depth):
        if self.optional and self.random.random() < 0.6:
            test = self.random.choice(self.optional)[0]
        else:
            test = value("t")
            statements.append(ir.Op(test, o.gt, (self.pick(scope), self.pick(scope))))
        count = self.random.randrange(3)
        blocks, buffers, outer = [], [], list(self.lists)
        way, optional, given = self.random.random() < 0.5, self.random.randrange(3), None
        for here in (True, False):
            known = [v for t, w, v in self.optional if t is test and w is here]
            inside, inner, after = self.block(scope + known, buffer, depth + 1, self.random.randrange(3))
            given = inner if here is way else given
            blocks.append(ir.Block(inside, tuple(self.pick(inner) for _ in range(count))))
            buffers.append(after)
            self.lists = list(outer)
        results = [self.new() for _ in range(count)]
        scope += results
        for _ in range(optional):
            new, twice = self.new(), count and self.random.random() < 0.5
            defined, other = blocks if way else reversed(blocks)
            same = defined.results[0] if twice and isinstance(defined.results[0], ir.Value) else given[-1]
            defined.results, other.results = (*defined.results, same), (*other.results, const(None))
            results.append(new)
            self.optional.append((test, way, new))
        if buffers[0] is not buffer or buffers[1] is not buffer:
            for block, after in zip(blocks, buffers, strict=True):
                block.results = (*block.results, after)
            results.append(value("d", buffer.type))
            buffer = results[-1]
        statements.append(ir.If(test, *blocks, tuple(results)))
        return buffer

    def loop(self, statements, scope, buffer, depth):
        carried = []
        for _ in range(self.random.randrange(4)):
            name = self.random.choice(["x", "y", "z", "s", "dx"])
            carried.append(ir.Carried(value(name), self.pick(scope), value(name)))
        parameters = [c.parameter for c in carried]
        into = None
        if buffer is not None and self.random.random() < 0.5:
            into = ir.Carried(value("d", buffer.type), buffer, value("d", buffer.type))
        element = self.new()
        source = ir.Source(element, code("(0.1, 0.7, 1.3)"))
        used = [element]
        if self.lists and self.random.random() < 0.6:
            saved, width = self.random.choice(self.lists)
            parts = tuple(self.new() for _ in range(width))
            source = ir.Source(parts if width > 1 else parts[0], saved, reverse=self.random.random() < 0.7)
            used = list(parts)
        outer = list(self.lists)
        inside, inner, after = self.block(
            scope + parameters + used, into and into.parameter, depth + 1, 1 + self.random.randrange(4)
        )
        self.lists = outer
        results = [self.pick(inner[-5:] + parameters) for _ in carried]
        if into is not None:
            carried.append(into)
            results.append(after)
        collected, widths = [], []
        for _ in range(self.random.randrange(3)):
            width = 1 + self.random.randrange(3)
            if width > 1:
                made = value("t", TUPLE)
                inside.append(ir.Make(made, tuple(self.random.choice(inner) for _ in range(width))))
                results.append(made)
            else:
                results.append(self.random.choice(inner))
            collected.append(value(self.random.choice(["saved", "t"]), LIST))
            widths.append(width)
        statements.append(ir.For([source], carried, ir.Block(inside, tuple(results)), collected))
        self.lists += zip(collected, widths, strict=True)
        scope += [c.result for c in carried if c is not into]
        return into.result if into is not None else buffer

    def function(self):
        x, y = value("x"), value("y")
        buffer = value("d", ir.Type(ir.Kind.ARRAY, "float64", 1))
        statements = [ir.Op(buffer, np.zeros, (const(3),))]
        more, scope, buffer = self.block([x, y], buffer, 0, 12)
        result = value("t", TUPLE)
        items = [self.random.choice(scope) for _ in range(4)] + [buffer, *(saved for saved, _ in self.lists[:2])]
        statements += [*more, ir.Make(result, tuple(items))]
        return function("f", [self.box, x, y], statements, result)


def same(a, b) -> bool:
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("seed", range(100))
def test_source_and_program_agree(seed):
    f = Program(seed).function()
    first, second = [], []

    def logging(into):
        def log(x):
            into.append(float(x))
            return x * 0.5 + len(into)

        return log

    interpreter = Interpreter(logging(first), {"np": np})
    box = [0.3]
    interpreter.env.update(zip([p.value for p in f.parameters], (box, 0.4, -1.1), strict=True))
    (expected,) = interpreter.block(f.body)
    f.namespace.globals["log"] = logging(second)
    emitted = emit([f])
    other = [0.3]
    found = load(emitted)(other, 0.4, -1.1)
    assert same(found, expected), emitted.source
    assert first == second, emitted.source
    assert same(other, box), emitted.source
