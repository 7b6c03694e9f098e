"""IR to Python source: the last pass, and what the user sees.

``trees`` decides which temporaries are written inside their users, ``naming`` gives the values Python
names, this module turns statements into syntax trees, and ``printer`` writes those down. `load` makes
the source run, `export` makes it stand alone.
"""

import builtins
import dataclasses
import keyword
import math
import operator
from dataclasses import replace
from types import SimpleNamespace

import gast
import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.runtime.fallback import tape_vjp
from s2sgrad.transform import ir, spelling, walk
from s2sgrad.transform.aliases import is_view
from s2sgrad.transform.emit.guarded import Guarded, test_of
from s2sgrad.transform.emit.indices import is_basic
from s2sgrad.transform.emit.naming import candidates, name_values
from s2sgrad.transform.emit.nodes import (
    LOAD,
    STORE,
    assignment,
    attribute,
    call,
    joined,
    name,
    negated,
    sliced,
    tuple_of,
)
from s2sgrad.transform.emit.printer import Docstring, Heading, Printer, Renamed, unparse
from s2sgrad.transform.emit.reading import codes_of, names_outside
from s2sgrad.transform.emit.trees import Append, gather, is_finish, operands, targets, with_expressions
from s2sgrad.transform.emit.unit import Unit

CONTAINERS = (ir.Kind.TUPLE, ir.Kind.LIST, ir.Kind.DICT, ir.Kind.RECORD)
TEXT = 48  # a comment quotes at most so much of the user's line


class Emitter:
    """One function."""

    def __init__(self, unit: Unit, siblings: dict):
        self.unit = unit
        self.function = replace(unit.function, body=with_expressions(unit.function.body))
        self.namespace = unit.function.namespace
        self.siblings = siblings
        self.trees = gather(self.function)
        self.fixed = {p.value.name for p in self.function.parameters}
        self.bound: dict = {}  # id of object -> name
        self.codes = codes_of(self.function)
        self.unit.outside |= names_outside(self.codes)
        self.parts: dict = {}  # a view of a part of an array -> the statement that takes it
        self.commenting = False
        self.quoted = None  # the line that the last comment spoke of
        for statement in walk.statements(self.function.body):
            self.announce(statement)
        taken = self.unit.outside | set(self.bound.values()) | self.unit.siblings
        self.guarded = Guarded(self.function)
        self.names = name_values(self.function, self.trees, taken, self.guarded, self.codes)
        taken |= self.fixed.union(self.names.values())
        self.unread = next(n for n in candidates("_") if n not in taken)  # what nobody reads is unpacked to

    # ---- the names that mean something already

    def announce(self, statement) -> None:
        """Choose the names of what the statement will mention, before the values are named."""
        match statement:
            case ir.Op(function=function, spelling=None):
                if function not in _SYMBOLS:
                    self.reference(function)
                if function is operator.getitem and _is_part(statement):
                    self.parts[statement.target] = statement
            case ir.PlainCall(recorded=recorded):
                if recorded is not None:
                    self.reference(tape_vjp)
            case ir.Call():
                self.unit.siblings.add(self.siblings[id(statement.callee.function)])
            case ir.Make(target=target) if target.type.kind is ir.Kind.RECORD:
                self.reference(target.type.cls)
                if not takes_fields(target.type):
                    self.reference(arrays.instance)
            case ir.For(sources=sources):
                if sum(not s.count for s in sources) > 1:
                    self.reference(zip)
                if any(s.count for s in sources):
                    self.reference(enumerate)
                if any(s.reverse for s in sources):
                    self.reference(reversed)
            case ir.Accumulate():
                helper = self.accumulator(statement)
                if helper is not None:
                    self.reference(helper)
        for operand in operands(statement):
            if isinstance(operand, ir.Constant):
                if _needs_numpy(operand.value):
                    self.module(np, "np")
                if _has_slice(operand.value):
                    self.reference(slice)

    def reference(self, function):
        """The expression for a callable: ``np.sin``, ``abs``, ``unbroadcast``."""
        if spelling.is_builtin(function) and self.free(function.__name__, function):
            self.unit.outside.add(function.__name__)
            return name(function.__name__)
        found = spelling.home(function)
        if found is None:
            return name(self.bind(function, getattr(function, "__name__", "function")))
        module, own = found
        root = np if module.__name__.startswith("numpy") else module
        node = name(self.module(root, "np" if root is np else module.__name__.rpartition(".")[2]))
        for part in module.__name__.split(".")[1:] if root is np else ():
            node = attribute(node, part)
        return attribute(node, own)

    def free(self, identifier: str, thing) -> bool:
        """Does `identifier`, in the user's namespace, mean `thing`?"""
        if identifier in self.fixed or identifier in self.namespace.cells:
            return False
        return self.namespace.globals.get(identifier, getattr(builtins, identifier, None)) is thing

    def module(self, module, usual: str) -> str:
        """What a module is called here: the user's own name for it, if there is one."""
        if id(module) in self.bound:
            return self.bound[id(module)]
        for identifier in (usual, *(k for k, v in self.namespace.globals.items() if v is module)):
            if self.namespace.globals.get(identifier) is module and self.free(identifier, module):
                self.unit.outside.add(identifier)
                self.bound[id(module)] = identifier
                return identifier
        return self.bind(module, usual)

    def bind(self, thing, wish: str) -> str:
        """Give an object that the user's namespace lacks a name in the generated code."""
        if id(thing) not in self.bound:
            if self.free(wish, thing):
                self.unit.outside.add(wish)
                self.bound[id(thing)] = wish
                return wish
            if not wish.isidentifier() or keyword.iskeyword(wish):
                wish = "rule"
            taken = self.unit.outside | self.fixed | set(self.bound.values()) | set(self.siblings.values())
            chosen = next(n for n in candidates(wish) if n not in taken and n not in self.namespace.cells)
            self.bound[id(thing)] = chosen
            self.unit.bound[chosen] = thing
        return self.bound[id(thing)]

    # ---- the function

    def text(self) -> str:
        function = self.function
        body = [Docstring(function.doc)] if function.doc else []
        body += self.body()
        node = gast.FunctionDef(self.unit.name, self.signature(), body or [gast.Pass()], [], None, None, [])
        printer = Printer()
        printer.dispatch(node)
        self.origins = printer.origins
        return printer.text()

    def signature(self):
        positional, keyword_only, vararg, kwarg = [], [], None, None
        for parameter in self.function.parameters:
            node = gast.Name(parameter.value.name, gast.Param(), None, None)
            if parameter.spelling == "*":
                vararg = node
            elif parameter.spelling == "**":
                kwarg = node
            elif parameter.keyword_only:
                keyword_only.append((node, parameter.default))
            else:
                positional.append((node, parameter.default))
        return gast.arguments(
            [n for n, _ in positional],
            [],
            vararg,
            [n for n, _ in keyword_only],
            [d and d.node for _, d in keyword_only],
            kwarg,
            [d.node for _, d in positional if d is not None],
        )

    def body(self) -> list:
        block, at = self.function.body, self.function.backward_at
        result = block.results[0] if block.results else ir.Constant(None)
        if at is None:
            return self.lines(block) + self.result(result)
        position = {id(s): i for i, s in enumerate(block.statements)}
        lines = self.trees.lines[id(block)]
        split = next((i for i, s in enumerate(lines) if position[id(s)] >= at), len(lines))
        forward = self.emit_all(lines[:split])
        self.commenting = True
        backward = self.emit_all(lines[split:]) + self.result(result)
        backward = joined(backward)
        if forward:
            return [Heading("forward"), *forward, Heading("backward"), *backward]
        return backward

    def result(self, operand) -> list:
        if operand == ir.Constant(None):
            return []
        node = gast.Return(self.expression(operand))
        if operand in self.trees.inlined:
            node.origin = self.origin(self.trees.inlined[operand])
            self.explain(node, self.trees.inlined[operand])
        return [node]

    def lines(self, block: ir.Block) -> list:
        return self.emit_all(self.trees.lines[id(block)])

    def emit_all(self, statements) -> list:
        found, views = [], {}
        for statement in statements:
            nodes = self.statement(statement)
            if self.is_there(statement, nodes, views):
                continue
            is_choice = isinstance(statement, ir.If) and len(nodes) == 1 and isinstance(nodes[0], gast.Assign)
            if nodes and (is_choice or not isinstance(statement, (ir.If, ir.For, Append))):
                self.explain(nodes[0], statement)
            for node in nodes:
                if getattr(node, "origin", None) is None:
                    node.origin = self.origin(statement)
            found += nodes
        return found

    def is_there(self, statement, nodes: list, views: dict) -> bool:
        """Does a line only look up a view again that its name stands for already?

        `views` is kept from line to line: for such names the text of the view, and the names that are in it.
        """
        if not isinstance(statement, (ir.Op, ir.Make, ir.Call, ir.Bind, ir.Unpack, ir.Store, ir.Accumulate)):
            views.clear()
            return False
        if isinstance(statement, (ir.Store, ir.Accumulate)):  # the name stands for the same array afterwards
            return False
        bound = {self.names[v] for v in targets(statement) if v in self.names}
        text, read = self.looked_up(statement, nodes)
        if text is not None and views.get(*bound, (None,))[0] == text:
            return True
        for label in [label for label, (_, names) in views.items() if label in bound or bound & names]:
            del views[label]
        if text is not None and not bound & read:
            views.update(dict.fromkeys(bound, (text, read)))
        return False

    def looked_up(self, statement, nodes: list) -> tuple:
        """The text of a line that gives a name to a part of an array, by numbers that have names, and what it reads."""
        if not isinstance(statement, ir.Op) or statement.function is not operator.getitem or not is_view(statement):
            return None, set()
        array, index = statement.args
        numbers = self.trees.leaves(index)
        if not self.trees.uses[statement.target] or any(v.type.kind is not ir.Kind.NUMBER for v in numbers):
            return None, set()
        return unparse(nodes[0]), {self.names[v] for v in (*self.trees.leaves(array), *numbers)}

    # ---- comments

    def explain(self, node, statement) -> None:
        """Tie a line of the backward pass to the user's line that it comes from."""
        self.tie(node, self.origin(statement))

    def tie(self, node, location) -> None:
        if location is None or not self.commenting:
            return
        key = (location.file, location.line)
        if key != self.quoted:
            self.quoted = key
            node.comment = self.quote(location)

    def origin(self, statement):
        """The user's line that a statement comes from."""
        if isinstance(statement, Append):
            return None
        if not is_finish(statement, self.function) and not isinstance(statement, ir.Make):
            return statement.location
        for operand in operands(statement):
            if isinstance(operand, ir.Value) and operand in self.trees.inlined:
                found = self.origin(self.trees.inlined[operand])
                if found is not None:
                    return found
        return None

    def quote(self, location) -> str:
        text = " ".join(location.text.split())
        text = text.rpartition("return ")[2] if text.startswith(("return ", "def ")) else text
        if len(text) > TEXT:
            text = text[: TEXT - 3].rstrip() + "..."
        home = self.function.location
        elsewhere = home is not None and location.function and location.function != home.function
        where = f"{location.function}, line {location.line}" if elsewhere else f"line {location.line}"
        return f"{where}: {text}" if text else where

    # ---- statements

    def statement(self, statement) -> list:
        match statement:
            case ir.Op() | ir.Make() | ir.Call() | ir.Bind():
                return [self.compute(statement)]
            case ir.Verbatim():
                return [*self.copies_before(statement), Renamed(statement.node, self.renaming(statement))]
            case ir.Unpack():
                return [assignment(self.pattern(statement.targets), self.expression(statement.source))]
            case ir.Accumulate():
                return [self.accumulate(statement)]
            case ir.Store():
                return [self.store(statement)]
            case ir.Push():
                append = attribute(name(self.names[statement.into]), "append")
                return [gast.Expr(call(append, [self.expression(statement.item)]))]
            case ir.Pop():
                pop = call(attribute(name(self.names[statement.into]), "pop"), [])
                if statement.item is None:
                    return [gast.Expr(pop)]
                return [assignment(self.pattern(statement.item), pop)]
            case ir.If():
                return self.branch(statement)
            case ir.For():
                return self.loop(statement)
            case Append():
                append = attribute(name(self.names[statement.collected]), "append")
                return [gast.Expr(call(append, [self.expression(statement.operand)]))]
        raise TypeError(f"not a statement: {statement!r}")

    def compute(self, statement):
        if not self.trees.uses[statement.target]:
            line = gast.Expr(self.tree(statement))
            if isinstance(statement, ir.Op):
                line.comment = "kept: it may raise"
            return line
        return self.computed(self.names[statement.target], statement)

    def computed(self, target: str, statement):
        """``target = ...``: what a statement computes."""
        value = self.tree(statement)
        if self.is_increment(statement, target) and isinstance(value, gast.BinOp):
            return gast.AugAssign(name(target, store=True), value.op, value.right)
        return assignment(name(target, store=True), value)

    def is_increment(self, statement, target: str) -> bool:
        """Is it ``x = x + ...`` of a number, which ``x += ...`` says as well?"""
        return (
            isinstance(statement, ir.Op)
            and statement.spelling is None
            and statement.function in (operator.add, operator.sub)
            and isinstance(statement.args[0], ir.Value)
            and statement.args[0].type.kind is ir.Kind.NUMBER
            and self.is_called(statement.args[0], target)
        )

    def renaming(self, code) -> dict:
        names = {old: self.names[value] for old, value in code.reads.items() if self.names[value] != old}
        if isinstance(code, ir.Verbatim):
            for old, value in code.writes.items():
                names.pop(old, None)
                if self.names[value] != old:
                    names[old] = self.names[value]
        return names

    def copies_before(self, statement: ir.Verbatim) -> list:
        """A name that the statement reads and writes is one variable to it."""
        both = [(v, statement.reads[n]) for n, v in statement.writes.items() if n in statement.reads]
        return self.assign(both)

    def pattern(self, pattern):
        if isinstance(pattern, tuple):
            return tuple_of(self.pattern(part) for part in pattern)
        return name(self.unread if pattern is None else self.names[pattern], store=True)

    def assign(self, pairs) -> list:
        """Assign values together, in an order in which none is overwritten before it is read."""
        waiting = []
        for value, operand in pairs:
            target = self.names[value]
            if not self.is_called(operand, target):
                waiting.append((target, operand, {self.names[leaf] for leaf in self.trees.leaves(operand)}))
        found = []
        while waiting:
            ready = next(
                (w for w in waiting if not any(w[0] in other[2] for other in waiting if other is not w)),
                None,
            )
            if ready is None:
                targets = tuple_of(name(target, store=True) for target, _, _ in waiting)
                return [*found, assignment(targets, tuple_of(self.expression(o) for _, o, _ in waiting))]
            waiting.remove(ready)
            found.append(self.move(*ready[:2]))
        return found

    def move(self, target: str, operand):
        """The line that gives an operand a name; what is computed there comes from a line of the user's."""
        made = self.trees.inlined.get(operand) if isinstance(operand, ir.Value) else None
        if made is None:
            return assignment(name(target, store=True), self.expression(operand))
        node = self.computed(target, made)
        node.origin = self.origin(made)
        self.tie(node, node.origin)
        return node

    def is_called(self, operand, identifier: str) -> bool:
        return isinstance(operand, ir.Value) and operand not in self.trees.inlined and self.names[operand] == identifier

    def accumulator(self, statement: ir.Accumulate):
        """The helper that adds, where an augmented assignment would not do."""
        into = statement.into.type
        numbers = into.kind is ir.Kind.LIST and into.element is not None and into.element.kind is ir.Kind.NUMBER
        value = statement.value.type if isinstance(statement.value, ir.Value) else ir.FLOAT
        is_number = statement.index is not None and numbers and value.kind is ir.Kind.NUMBER
        if into.kind in CONTAINERS and not is_number:
            return arrays.tree_add
        if statement.index is not None and not is_basic(statement.index):
            return arrays.add_at
        return None

    def accumulate(self, statement: ir.Accumulate):
        helper = self.accumulator(statement)
        buffer = name(self.names[statement.into])
        place = buffer
        if statement.index is not None:
            place = gast.Subscript(buffer, self.index(statement.index), STORE)
        if helper is None:
            sign, value = self.signed(statement.value)
            into = statement.into.type
            if into.kind is ir.Kind.LIST and into.element.ndim is None:  # the element may be an array of dimension 0
                return assignment(place, gast.BinOp(place, sign, value))
            return gast.AugAssign(place, sign, value)
        value = self.expression(statement.value)
        if helper is arrays.add_at:
            return gast.Expr(call(self.reference(helper), [buffer, self.expression(statement.index), value]))
        return assignment(place, call(self.reference(helper), [place, value]))

    def store(self, statement: ir.Store):
        array = statement.into if statement.through is None else statement.through
        place = self.expression(array)
        if isinstance(statement.operator, np.ufunc):
            at = attribute(self.reference(statement.operator), "at")
            return gast.Expr(call(at, [place, self.expression(statement.index), self.expression(statement.value)]))
        if statement.index is not None:
            place = gast.Subscript(place, self.index(statement.index), gast.Store())
        elif statement.operator is None and self.changed(statement) is None:
            place = gast.Subscript(place, gast.Constant(Ellipsis, None), gast.Store())
        if statement.operator is not None:
            sign = gast.Add() if statement.operator is operator.add else gast.Sub()
            return gast.AugAssign(place, sign, self.expression(statement.value))
        change = self.changed(statement)
        if change is not None:
            return gast.AugAssign(place, spelling.BINARY[change.function](), self.expression(change.args[1]))
        return assignment(place, self.expression(statement.value))

    def changed(self, statement: ir.Store):
        """The operation on what was there before that ``x[i] *= v`` stores, where it is that."""
        change = self.trees.inlined.get(statement.value) if isinstance(statement.value, ir.Value) else None
        if not isinstance(change, ir.Op) or change.spelling is not None or change.function not in _CHANGES:
            return None
        array, before = (statement.through or statement.into), change.args[0]
        if not (array.type.dtype or "").startswith(("float", "complex")):
            return None
        if statement.index is None:
            return change if before is array else None
        read = self.trees.inlined.get(before, self.parts.get(before)) if isinstance(before, ir.Value) else None
        same = isinstance(read, ir.Op) and read.function is operator.getitem and read.spelling is None
        return change if same and read.args[0] is array and read.args[1] is statement.index else None

    def signed(self, operand):
        """The operator that adds an operand, and what stands to the right of it: ``- x`` for ``+ (-x)``."""
        statement = self.trees.inlined.get(operand) if isinstance(operand, ir.Value) else None
        if isinstance(statement, ir.Op) and statement.spelling is None:
            if statement.function is operator.neg:
                return gast.Sub(), self.expression(statement.args[0])
            if statement.function is operator.mul:
                first, second = statement.args
                if isinstance(first, ir.Constant) and type(first.value) in (int, float) and first.value < 0:
                    positive = self.constant(-first.value)
                    return gast.Sub(), gast.BinOp(positive, gast.Mult(), self.expression(second))
        return gast.Add(), self.expression(operand)

    def branch(self, statement: ir.If) -> list:
        if isinstance(statement, ir.Same):
            return []
        if isinstance(statement, ir.Attempt):
            return self.attempt(statement)
        before = self.quoted
        then = self.lines(statement.then)
        moves = self.assign(self.defined(statement, statement.then))
        if isinstance(statement, ir.Try):
            node, names = statement.test.node, self.renaming(statement.test)
            handlers, finally_ = ([Renamed(part, names) for part in one] for one in (node.handlers, node.finalbody))
            return [gast.Try(then + moves or [gast.Pass()], handlers, [], finally_)]
        if isinstance(statement, ir.With):
            item = gast.withitem(self.expression(statement.test), None)
            body = then + moves or ([] if statement.again else [gast.Pass()])
            return [gast.With([item], body, None)] if body else []
        quoted, self.quoted = self.quoted, None
        orelse = self.lines(statement.orelse)
        others = self.assign(self.defined(statement, statement.orelse))
        self.quoted = quoted
        if len(moves) == len(others) == 1 and not then and not orelse and self.fits(moves[0], others[0]):
            self.quoted = before
            value = gast.IfExp(self.expression(statement.test), moves[0].value, others[0].value)
            return [assignment(moves[0].targets[0], value)]
        then, orelse = then + moves, orelse + others
        if not then and not orelse and statement.results:
            return []
        test = self.expression(statement.test)
        if not then and not orelse:  # it is there for what is asked
            return [gast.If(test, [gast.Pass()], [])]
        if not then:
            return [gast.If(negated(test), orelse, [])]
        return [gast.If(test, then, orelse)]

    def attempt(self, statement: ir.Attempt) -> list:
        """``try: ... except E: ... else: ...``; what only hands on values needs no ``else``."""
        code, names = statement.test.node, self.renaming(statement.test)
        pairs = self.defined(statement, statement.then)
        tried, *then = self.lines(statement.then)
        body, moves = tried.body, self.assign(pairs)
        if then or any(operand in self.trees.inlined for _, operand in pairs if isinstance(operand, ir.Value)):
            then, moves = then + moves, []
        orelse = self.lines(statement.orelse)
        if not walk.raises(statement.orelse):
            orelse += self.assign(self.defined(statement, statement.orelse))
        handlers = []
        for one in code.handlers:
            kept = [Renamed(part, names) for part in one.body]
            goes_on = not one.body or not isinstance(one.body[-1], gast.Raise)
            lines = kept + orelse if goes_on else kept
            handlers.append(gast.ExceptHandler(one.type and Renamed(one.type, names), one.name, lines or [gast.Pass()]))
        if moves:
            body = moves if isinstance(body[-1], gast.Pass) else body + moves
        return [gast.Try(body, handlers, then, [])]

    def defined(self, statement: ir.If, block: ir.Block) -> list:
        """What a branch hands on, without the placeholders that nothing reads."""
        other = block is statement.orelse
        return [
            (result, operand)
            for result, operand in self.trees.handed(statement, block)
            if operand != ir.ZERO or not self.guarded.is_idle(result, test_of(statement), other, self.names)
        ]

    def fits(self, one, other) -> bool:
        """Are two assignments to the same name short enough for a conditional expression?"""
        if not isinstance(one, gast.Assign) or not isinstance(other, gast.Assign):
            return False
        names = [getattr(move.targets[0], "id", None) for move in (one, other)]  # a swap has a tuple
        printer = Printer()
        printer.dispatch(one)
        printer.dispatch(other)
        return names[0] is not None and names[0] == names[1] and sum(map(len, printer.lines)) <= 56

    def loop(self, statement: ir.For) -> list:
        handed = self.trees.handed(statement, statement.body)
        live = {parameter for parameter, _ in handed}
        before = self.assign([(c.parameter, c.initial) for c in statement.carried if c.parameter in live])
        for collected in statement.collected:
            if collected in self.trees.read:
                before.append(assignment(name(self.names[collected], store=True), gast.List([], LOAD)))
        self.quoted = None
        if walk.exits(statement):
            body = self.paths(statement.body, lambda given: self.handed_on(handed, given), {})
        else:
            body = self.lines(statement.body) + self.assign(handed)
        body = body or [gast.Pass()]
        self.quoted = None
        if isinstance(statement, ir.While):
            return [*before, gast.While(self.expression(statement.test), body, [])]
        target, iterable = self.iteration(statement.sources)
        return [*before, gast.For(target, iterable, body, [], None)]

    def handed_on(self, pairs: list, given: dict) -> list:
        return self.assign([(parameter, self.on_this_way(operand, given)) for parameter, operand in pairs])

    def paths(self, block: ir.Block, ending, given: dict) -> list:
        """The lines of the body of a loop, each way through it followed by what `ending(given)` gives.

        `given` says what the results of the branches around are on this way: they need not be assigned.
        """
        lines = self.trees.lines[id(block)]
        last = next((s for s in lines if isinstance(s, ir.Exit) or (isinstance(s, ir.If) and walk.exits(s))), None)
        if last is None:
            return self.emit_all(lines) + ending(given)
        at = lines.index(last)
        found = self.emit_all(lines[:at])

        def rest(given):
            return self.emit_all([self.statement_on_this_way(s, given) for s in lines[at + 1 :]]) + ending(given)

        if isinstance(last, ir.Exit):
            return [*found, *rest(given), gast.Break()]
        then, orelse = (
            self.paths(inner, rest, {**given, **dict(zip(last.results, inner.results, strict=True))})
            for inner in (last.then, last.orelse)
        )
        test = self.expression(last.test)
        if then and isinstance(then[-1], gast.Break):
            return [*found, gast.If(test, then, []), *orelse]
        if orelse and isinstance(orelse[-1], gast.Break):
            return [*found, gast.If(negated(test), orelse, []), *then]
        return [*found, gast.If(test, then or [gast.Pass()], orelse)]

    def statement_on_this_way(self, s, given: dict):
        """What follows a branch that may leave the loop (saves, views looked up), what is `given` put in its place."""
        if isinstance(s, Append):
            return Append(s.collected, self.on_this_way(s.operand, given))
        return walk.substituted(s, self.changed_on_this_way(s, given))

    def changed_on_this_way(self, s, given: dict) -> dict:
        """What is to be put in the place of values that a statement reads."""
        found = {v: self.on_this_way(v, given) for v in walk.uses(s)}
        return {v: new for v, new in found.items() if new is not v}

    def on_this_way(self, operand, given: dict):
        """An operand, what is `given` put in its place."""
        inside = self.trees.inlined.get(operand) if isinstance(operand, ir.Value) else None
        if inside is None:
            return walk.replaced(operand, given)
        found = self.changed_on_this_way(inside, given)
        if not found:
            return operand
        copy = ir.Value(operand.name, operand.type)
        self.trees.inlined[copy] = replace(walk.substituted(inside, found), target=copy)
        return copy

    def iteration(self, sources: list) -> tuple:
        """The pattern and the iterable of a loop over `sources`."""
        counts = [s for s in sources if s.count]
        others = [s for s in sources if not s.count]
        pattern = [self.pattern(s.element) for s in others]
        iterables = [self.iterable(s) for s in others]
        target = pattern[0] if len(pattern) == 1 else tuple_of(pattern)
        iterable = iterables[0] if len(iterables) == 1 else call(self.reference(zip), iterables)
        for count in reversed(counts):
            start = [] if count.start == ir.Constant(0) else [self.expression(count.start)]
            target = tuple_of([self.pattern(count.element), target])
            iterable = call(self.reference(enumerate), [iterable, *start])
        return target, iterable

    def iterable(self, source: ir.Source):
        node = self.expression(source.iterable)
        return call(self.reference(reversed), [node]) if source.reverse else node

    # ---- expressions

    def expression(self, operand):
        match operand:
            case ir.Value():
                statement = self.trees.inlined.get(operand)
                return name(self.names[operand]) if statement is None else self.tree(statement)
            case ir.Constant(value=value):
                return self.constant(value)
            case ir.Code():
                names = self.renaming(operand)
                return Renamed(operand.node, names) if names else operand.node
        raise TypeError(f"not an operand: {operand!r}")

    def tree(self, statement):
        match statement:
            case ir.Op():
                return self.operation(statement)
            case ir.Make():
                return self.make(statement)
            case ir.Bind():
                return self.expression(statement.code)
            case ir.PlainCall():
                return self.plain_call(statement)
            case ir.Call():
                callee = self.siblings[id(statement.callee.function)]
                return call(name(callee), [self.expression(a) for a in statement.args])
            case ir.If():
                return gast.IfExp(
                    self.expression(statement.test),
                    self.expression(statement.then.results[0]),
                    self.expression(statement.orelse.results[0]),
                )
        raise TypeError(f"not an expression: {statement!r}")

    def operation(self, op: ir.Op):
        function, arguments = op.function, op.args
        keywords = [(k, self.expression(v)) for k, v in op.kwargs.items()]
        if isinstance(op.spelling, str):
            receiver = self.expression(arguments[0])
            if op.spelling.endswith("()"):
                method = attribute(receiver, op.spelling[:-2])
                return call(method, [self.expression(a) for a in arguments[1:]], keywords)
            return attribute(receiver, op.spelling)
        if isinstance(op.spelling, ir.Code):
            return call(self.expression(op.spelling), [self.expression(a) for a in arguments], keywords)
        if function in (operator.add, operator.sub):
            sign, right = self.signed(arguments[1])
            if function is operator.sub:
                sign = gast.Add() if isinstance(sign, gast.Sub) else gast.Sub()
            return gast.BinOp(self.expression(arguments[0]), sign, right)
        if function is operator.getitem:
            return gast.Subscript(self.expression(arguments[0]), self.index(arguments[1]), LOAD)
        if function is getattr and isinstance(arguments[1], ir.Constant) and len(arguments) == 2:
            return attribute(self.expression(arguments[0]), arguments[1].value)
        nodes = [self.expression(a) for a in arguments]
        if function in spelling.BINARY:
            return gast.BinOp(nodes[0], spelling.BINARY[function](), nodes[1])
        if function in spelling.UNARY:
            return gast.UnaryOp(spelling.UNARY[function](), nodes[0])
        if function in spelling.COMPARE:
            return gast.Compare(nodes[0], [spelling.COMPARE[function]()], [nodes[1]])
        return call(self.reference(function), nodes, keywords)

    def plain_call(self, statement: ir.PlainCall):
        function = self.expression(statement.function)
        arguments = [self.expression(a) for a in statement.args]
        n = len(arguments) - len(statement.keywords)
        named = list(zip(statement.keywords, arguments[n:], strict=True))
        if statement.recorded is None:
            return call(function, arguments[:n], named)
        keywords = gast.Dict([gast.Constant(k, None) for k, _ in named], [a for _, a in named])
        differentiated = self.constant(statement.recorded)
        return call(self.reference(tape_vjp), [function, tuple_of(arguments[:n]), keywords, differentiated])

    def make(self, statement: ir.Make):
        kind = statement.target.type.kind
        items = [self.expression(item) for item in statement.items]
        if kind is ir.Kind.LIST:
            return gast.List(items, LOAD)
        if kind is ir.Kind.DICT:
            return gast.Dict([self.constant(k) for k in statement.target.type.keys], items)
        if kind is ir.Kind.RECORD:
            cls, fields = statement.target.type.cls, zip(statement.target.type.keys, items, strict=True)
            if takes_fields(statement.target.type):
                return call(self.reference(cls), (), fields)
            return call(self.reference(arrays.instance), [self.reference(cls)], fields)
        return tuple_of(items)

    def index(self, operand):
        """An operand as it stands between brackets."""
        if isinstance(operand, ir.Value) and isinstance(self.trees.inlined.get(operand), ir.Make):
            items = self.trees.inlined[operand].items
            if items and operand.type.kind is not ir.Kind.LIST:
                return tuple_of(self.index(item) for item in items)
        if isinstance(operand, ir.Constant):
            return self.constant(operand.value, index=True)
        node = self.expression(operand)
        if isinstance(node, Renamed):
            return Renamed(sliced(node.node), node.names)
        return sliced(node)

    def constant(self, value, index: bool = False):
        match value:
            case slice():
                parts = [None if p is None else self.constant(p) for p in (value.start, value.stop, value.step)]
                if index:
                    return gast.Slice(*parts)
                while len(parts) > 1 and parts[-1] is None:
                    parts.pop()
                if len(parts) == 2 and parts[0] is None:
                    parts = parts[1:]
                return call(self.reference(slice), [p or gast.Constant(None, None) for p in parts])
            case tuple():
                return tuple_of(self.constant(v, index and len(value) > 0) for v in value)
            case bool() | str() | bytes() | None:
                return gast.Constant(value, None)
            case np.generic():
                return call(attribute(name(self.module(np, "np")), type(value).__name__), [self.constant(value.item())])
            case int():
                return self.number(value, value < 0)
            case float():
                if math.isnan(value) or math.isinf(value):
                    found = attribute(name(self.module(np, "np")), "nan" if math.isnan(value) else "inf")
                    return gast.UnaryOp(gast.USub(), found) if value == -math.inf else found
                return self.number(value, math.copysign(1.0, value) < 0)
            case type() if issubclass(value, np.generic):
                return attribute(name(self.module(np, "np")), value.__name__)
            case np.dtype():
                return gast.Constant(value.name, None)
        return gast.Constant(value, None)

    def number(self, value, negative: bool):
        if negative:
            return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
        return gast.Constant(value, None)


_CHANGES = {operator.add, operator.sub, operator.mul, operator.truediv, operator.pow}
_SYMBOLS = {*spelling.BINARY, *spelling.UNARY, *spelling.COMPARE, operator.getitem, getattr}


def takes_fields(t: ir.Type) -> bool:
    """Is a record of this type what its class makes of its fields?"""
    if dataclasses.is_dataclass(t.cls):
        fields = dataclasses.fields(t.cls)
        made = t.cls.__init__.__code__.co_filename == "<string>" and not hasattr(t.cls, "__post_init__")
        return made and all(f.init for f in fields) and {f.name for f in fields} == set(t.keys)
    return issubclass(t.cls, (tuple, SimpleNamespace))


def _is_part(statement: ir.Op) -> bool:
    """Is what an index takes of an array surely a view of a part of it?"""
    array, index = statement.args
    both = isinstance(array, ir.Value) and array.type.kind is statement.target.type.kind is ir.Kind.ARRAY
    return both and is_basic(index)


def _has_slice(value) -> bool:
    return any(map(_has_slice, value)) if isinstance(value, tuple) else isinstance(value, slice)


def _needs_numpy(value) -> bool:
    if isinstance(value, tuple):
        return any(map(_needs_numpy, value))
    if isinstance(value, float) and not isinstance(value, np.generic):
        return not math.isfinite(value)
    return isinstance(value, np.generic) or (isinstance(value, type) and issubclass(value, np.generic))
