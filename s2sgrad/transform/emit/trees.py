"""Expression trees from single-use temporaries: which statements are written inside the one that uses them.

The first step of emission. The IR has one operation a statement; a person writes ``k * (u[2:] - u[:-2])``.
A temporary that is used exactly once, in its own block, moves into its user where that changes nothing:

* a pure operation may move down past statements that do not mutate what it reads;
* anything with effects (a call, an impure expression) moves only where the order of evaluation
  stays as it was;
* a value that bears a user's name keeps its own line, and a line stays short enough to read;
* what takes the place of a cotangent that is still read is made where it is handed on, last of all.

In IR ::

    t* = operator.mul(x, x)
    u* = np.sin(t)
    -> u

becomes the one line ``return np.sin(x * x)``.
"""

import operator
import re
from collections import Counter
from dataclasses import dataclass, field

import gast
import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, spelling, walk
from s2sgrad.transform.aliases import Memory

WIDTH = 84  # an expression is not grown beyond this column

_TEMPORARY = re.compile(r"(d_*)*t\d*")
_PURE_BUILTINS = {
    "abs", "bool", "complex", "enumerate", "float", "getattr", "hasattr", "int", "isinstance", "issubclass",
    "len", "list", "max", "min", "range", "reversed", "round", "slice", "sorted", "str", "sum", "tuple",
    "type", "zip",
}  # fmt: skip
_WRITERS = {
    "at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "save", "savetxt", "seterr",
    "setbufsize", "shuffle",
}  # fmt: skip
_PURE_METHODS = {
    "all", "any", "argmax", "argmin", "astype", "conj", "copy", "cumsum", "dot", "flatten", "get", "item",
    "items", "keys", "lower", "max", "mean", "min", "prod", "ravel", "reshape", "split", "startswith",
    "endswith", "std", "sum", "swapaxes", "tolist", "transpose", "upper", "values", "var",
}  # fmt: skip

EVERYTHING = object()  # a statement that may mutate anything


def is_temporary(value: ir.Value) -> bool:
    """Has the value no name of the user's to keep? (``t``, ``t3``, ``dt``, or no wish at all)"""
    return not value.name or _TEMPORARY.fullmatch(value.name) is not None


def is_finish(statement, function: ir.Function) -> bool:
    """Does it only give a finished gradient its type, for no line of the user's in particular?"""
    return (
        isinstance(statement, ir.Op)
        and statement.function in (arrays.as_gradient, float)
        and statement.location == function.location
    )


def backward_values(function: ir.Function) -> set:
    """The values that the backward pass of a function defines."""
    at = function.backward_at
    return set() if at is None else walk.defined(ir.Block(function.body.statements[at:]))


@dataclass(slots=True, eq=False)
class Append:
    """``collected.append(operand)``: a loop's saving, put where its operand is ready."""

    collected: ir.Value
    operand: ir.Operand


@dataclass(slots=True)
class Trees:
    """The plan of a function's expressions.

    Attributes
    ----------
    read : set
        The values that anything reads.
    uses : Counter
        How often each value is read.
    inlined : dict
        A value that is written inside its user -> the statement that computes it.
    backward : set
        The values that the backward pass defines.
    lines : dict
        id of a block -> its statements that keep a line of their own, in order.
    """

    read: set = field(default_factory=set)
    uses: Counter = field(default_factory=Counter)
    named: set = field(default_factory=set)
    inlined: dict = field(default_factory=dict)
    lines: dict = field(default_factory=dict)
    backward: set = field(default_factory=set)

    def handed(self, statement, block: ir.Block) -> list:
        """What a block of an `If` or `For` hands on, as pairs of a value that is read and its operand."""
        if isinstance(statement, ir.If):
            return [(r, o) for r, o in zip(statement.results, block.results, strict=True) if r in self.read]
        pairs = zip(statement.carried, block.results, strict=False)
        return [(c.parameter, o) for c, o in pairs if c.parameter in self.read or c.result in self.read]

    def leaves(self, operand) -> list:
        """The named values that an operand reads when it is written out."""
        found: list = []
        self._leaves(operand, found)
        return found

    def _leaves(self, operand, found):
        if isinstance(operand, ir.Value):
            statement = self.inlined.get(operand)
            if statement is None:
                found.append(operand)
            else:
                for inner in operands(statement):
                    self._leaves(inner, found)
                if isinstance(statement, ir.If):
                    for inner in (*statement.then.results, *statement.orelse.results):
                        self._leaves(inner, found)
        elif isinstance(operand, ir.Code):
            found.extend(operand.reads.values())


def targets(statement) -> list:
    """The values that a line defines for those after it."""
    return [] if isinstance(statement, Append) else walk.defines(statement)


def with_expressions(block: ir.Block) -> ir.Block:
    """A block where ``t = expression``, which has its place among the statements, may be written where it is used."""
    statements = []
    for s in block.statements:
        match s:
            case ir.Verbatim(node=gast.Assign(targets=[gast.Name()], value=value), writes=writes) if len(writes) == 1:
                (target,) = writes.values()
                if is_unnamed(target) and not isinstance(value, gast.Constant):
                    s = ir.Bind(target, ir.Code(value, s.reads, target.type), s.location)
        inner = walk.blocks(s)
        statements.append(walk.with_blocks(s, list(map(with_expressions, inner))) if inner else s)
    return ir.Block(statements, block.results)


def is_unnamed(value: ir.Value) -> bool:
    """Is a value a temporary, or a test that the frontend has named?"""
    return is_temporary(value) or value.name == "test"


def operands(statement) -> list:
    """The operands of a line itself, in the order in which the written line evaluates them."""
    match statement:
        case Append():
            return [statement.operand]
        case ir.Store():
            place = [x for x in (statement.into, statement.through, statement.index) if x is not None]
            return [statement.value, *place] if statement.operator is None else [*place, statement.value]
        case ir.For():
            iterables = [s.iterable for s in statement.sources if s.iterable is not None]
            starts = [s.start for s in statement.sources if s.count]
            test = [statement.test] if isinstance(statement, ir.While) else []
            return [c.initial for c in statement.carried] + iterables + starts + test
    return walk.operands(statement)


def is_pure(node, namespace: ir.Namespace) -> bool:
    """Does evaluating the user's expression or statement surely change no array or container?"""
    for part in gast.walk(node):
        match part:
            case gast.Call():
                if not _is_pure_call(part, namespace):
                    return False
            case gast.Subscript() | gast.Attribute() if not isinstance(part.ctx, gast.Load):
                return False
            case gast.AugAssign() | gast.Delete() | gast.Await() | gast.Yield() | gast.YieldFrom() | gast.With():
                return False
            case gast.Raise() | gast.Assert() | gast.Import() | gast.ImportFrom() | gast.Global() | gast.Nonlocal():
                return False
    return True


def _is_pure_call(call, namespace) -> bool:
    if any(keyword.arg == "out" for keyword in call.keywords):
        return False
    function = call.func
    if isinstance(function, gast.Name):
        name = function.id
        if name not in namespace.globals:
            return name not in namespace.cells and name in _PURE_BUILTINS
        library = spelling.home(namespace.globals[name])
        return library is not None and library[1] not in _WRITERS
    if isinstance(function, gast.Attribute):
        root = function
        while isinstance(root, gast.Attribute):
            if root.attr == "random":  # what is drawn is drawn: the next draw is another one
                return False
            root = root.value
        if isinstance(root, gast.Name) and namespace.globals.get(root.id) is np:
            return function.attr not in _WRITERS
        return function.attr in _PURE_METHODS
    return False


class _Gather:
    """Plans one function."""

    def __init__(self, function: ir.Function):
        self.function = function
        self.namespace = function.namespace
        self.trees = Trees(set(walk.read(function.body)), backward=backward_values(function))
        self.widths: dict = {}
        self.effects: dict = {}
        self.memory = Memory(function.body)
        self.pending: dict = {}
        self.unnamed: set = set()  # values whose names are not worth a line
        self.lines: dict = {}  # what an operation defines -> the user's line that it is for

    def run(self) -> Trees:
        self.count(self.function.body, self.function.body.results)
        for statement in self.function.body.statements:
            if isinstance(statement, ir.Make) and statement.target in self.function.body.results:
                self.unnamed.add(statement.target)
        self.block(self.function.body, 1, None)
        return self.trees

    # ---- how often is each value read?

    def count(self, block: ir.Block, results) -> None:
        for operand in results:
            self.read(operand)
        before = None
        for statement in block.statements:
            for operand in operands(statement):
                self.read(operand, named=isinstance(statement, ir.Verbatim))
            if isinstance(statement, ir.Accumulate | ir.Store | ir.Push | ir.Pop):
                self.trees.named.add(statement.into)
            if isinstance(statement, ir.Same):
                self.trees.named.update(v for block in walk.blocks(statement) for v in walk.values(block.results[0]))
            if isinstance(statement, ir.Store) and statement.through is not None and statement.index is None:
                self.trees.named.add(statement.through)
            if isinstance(statement, ir.While):
                self.trees.named.update(walk.values(statement.test))
            if isinstance(statement, ir.If):
                self.unnamed.update(filter(is_unnamed, walk.values(statement.test)))
            if isinstance(statement, ir.Unpack) and isinstance(before, (ir.Call, ir.Make)):
                self.unnamed.add(before.target)
            before = statement
            self.pass_on(statement)
            match statement:
                case ir.If():
                    for inner in (statement.then, statement.orelse):
                        self.count(inner, [operand for _, operand in self.trees.handed(statement, inner)])
                case ir.For():
                    pairs = self.trees.handed(statement, statement.body)
                    appended = statement.body.results[len(statement.carried) :]
                    kept = [o for c, o in zip(statement.collected, appended, strict=True) if c in self.trees.read]
                    self.count(statement.body, [operand for _, operand in pairs] + kept)

    def pass_on(self, statement) -> None:
        """A cotangent that only makes the next version of itself, for the same line of the user's, needs no name."""
        if (
            not isinstance(statement, (ir.Op, ir.Call, ir.Accumulate, ir.Store))
            or statement.target not in self.trees.backward
        ):
            return
        self.lines[statement.target] = statement.location
        if is_finish(statement, self.function):
            self.unnamed.add(statement.target)
        for operand in operands(statement):
            same = isinstance(operand, ir.Value) and operand.name == statement.target.name
            if same and operand in self.lines and self.lines[operand] == statement.location:
                self.unnamed.add(operand)

    def read(self, operand, named=False) -> None:
        if isinstance(operand, ir.Value):
            self.trees.uses[operand] += 1
            if named:
                self.trees.named.add(operand)
        elif isinstance(operand, ir.Code):
            for value in operand.reads.values():
                self.trees.uses[value] += 1
                self.trees.named.add(value)

    # ---- the plan of a block

    def block(self, block: ir.Block, depth: int, loop: ir.For | None) -> None:
        for statement in block.statements:
            if isinstance(statement, ir.If):
                self.block(statement.then, depth + 1, None)
                self.block(statement.orelse, depth + 1, None)
            elif isinstance(statement, ir.For):
                self.block(statement.body, depth + 1, statement)
        order = [s for s in block.statements if not self.is_idle(s)]
        results = list(block.results)
        if loop is not None:
            carried = len(loop.carried)
            for collected, operand in zip(loop.collected, results[carried:], strict=True):
                if collected in self.trees.read:
                    self.place(Append(collected, operand), order)
            results = results[:carried]
            self.unnamed |= self.exchanged(loop, results)
        self.unnamed |= self.superseding(order, results) & self.trees.backward
        _Stack(self, order, depth).run(results)
        self.trees.lines[id(block)] = [s for s in order if not self.is_inlined(s)]

    def is_idle(self, statement) -> bool:
        """Is it ``s = 0.0``, and nobody reads `s`?"""
        return (
            isinstance(statement, ir.Verbatim)
            and isinstance(statement.node, gast.Assign)
            and isinstance(statement.node.value, gast.Constant)
            and all(isinstance(target, gast.Name) for target in statement.node.targets)
            and self.trees.read.isdisjoint(statement.writes.values())
        )

    def exchanged(self, loop: ir.For, results: list) -> set:
        """The values of ``a, b = b, a + b``: the old `b` is handed on as `a` when the new one is made."""
        passed = {p for c, p in zip(loop.carried, results, strict=True) if p is not c.parameter}
        return {
            result
            for carry, result in zip(loop.carried, results, strict=True)
            if carry.parameter in passed and isinstance(result, ir.Value) and result.name == carry.parameter.name
        }

    def superseding(self, order: list, results: list) -> set:
        """The values that a block hands on under a name of which lines after them read the value before.

        They are best made last of all: ``dx += ds * s; ds = ds * x``, not ``ds1 = ds * x; dx += ds * s; ds = ds1``.
        """
        found, read = set(), {}
        for statement in reversed(order):
            found.update(v for v in targets(statement) if v in results and read.get(v.name, {v}) != {v})
            for operand in operands(statement):
                for v in walk.values(operand):
                    read.setdefault(v.name, set()).add(v)
            for inner in walk.blocks(statement):
                for v in walk.read(inner):
                    read.setdefault(v.name, set()).add(v)
        return found

    def place(self, append: Append, order: list) -> None:
        """Put the saving of a value right after what it reads is ready."""
        make = next((s for s in order if isinstance(s, ir.Make) and s.target is append.operand), None)
        single = make is not None and self.trees.uses[make.target] == 1
        if single:
            order.remove(make)
        needed = set()
        for operand in make.items if single else (append.operand,):
            needed.update(operand.reads.values() if isinstance(operand, ir.Code) else (operand,))
        at = 0
        for i, statement in enumerate(order):
            if any(target in needed for target in targets(statement)):
                at = i + 1
        if single:
            self.unnamed.add(make.target)
        order[at:at] = [make, append] if single else [append]

    def is_inlined(self, statement) -> bool:
        found = targets(statement)
        return len(found) == 1 and self.trees.inlined.get(found[0]) is statement

    # ---- what may move

    def is_candidate(self, statement) -> bool:
        match statement:
            case ir.Op() | ir.Make() | ir.Bind() | ir.Call():
                target = statement.target
            case ir.If() if len(statement.results) == 1 and self.is_expression(statement) and type(statement) is ir.If:
                target = statement.results[0]
            case _:
                return False
        wished = is_temporary(target) or target in self.unnamed
        return wished and self.trees.uses[target] == 1 and target not in self.trees.named

    def is_expression(self, statement: ir.If) -> bool:
        """Is it short and made of nothing but its two results, so that ``a if test else b`` says it?"""
        for block in (statement.then, statement.orelse):
            if self.trees.lines[id(block)] or block.results[0] == ir.ZERO:
                return False
        return self.width(statement) <= 72

    def is_movable(self, statement) -> bool:
        """May it be evaluated later, if what it reads stays as it is?"""
        match statement:
            case ir.Op() | ir.Make():
                return True
            case ir.Bind():
                return is_pure(statement.code.node, self.namespace)
            case ir.If():
                return all(
                    self.is_movable(self.trees.inlined[value])
                    for block in (statement.then, statement.orelse)
                    for value in block.results
                    if value in self.trees.inlined
                )
        return False

    def mutated(self, statement):
        """The values that a statement may write into; EVERYTHING where that is not known."""
        found = self.effects.get(id(statement))
        if found is None:
            found = self.effects[id(statement)] = self._mutated(statement)
        return found

    def _mutated(self, statement):
        match statement:
            case ir.Accumulate() | ir.Store() | ir.Push() | ir.Pop():
                return self.memory.changed_with(statement.into)
            case ir.Call():
                return EVERYTHING
            case ir.Bind():
                return set() if is_pure(statement.code.node, self.namespace) else EVERYTHING
            case ir.Verbatim():
                return set() if is_pure(statement.node, self.namespace) else EVERYTHING
            case ir.With(again=False):
                return EVERYTHING
            case ir.If() | ir.For():
                found = set()
                if isinstance(statement, ir.For):
                    found.update(c.initial for c in statement.carried if isinstance(c.initial, ir.Value))
                for block in walk.blocks(statement):
                    for inner in block.statements:
                        more = self.mutated(inner)
                        if more is EVERYTHING:
                            return EVERYTHING
                        found |= more
                return found
        return set()

    # ---- how wide an expression would be

    def width(self, operand, names: bool = False) -> int:
        match operand:
            case ir.Constant(value=value):
                return _literal_width(value)
            case ir.Code(node=node):
                if getattr(node, "end_lineno", None) == getattr(node, "lineno", 0):
                    return node.end_col_offset - node.col_offset
                return 24
            case ir.Value():
                return len(operand.name) + 1
            case ir.Op():
                return self._op_width(operand)
            case ir.Make():
                return 2 + sum(2 + self.full(item) for item in operand.items)
            case ir.Bind():
                return self.width(operand.code)
            case ir.Call():
                return len(operand.callee.name) + 12 + sum(2 + self.full(a) for a in operand.args)
            case ir.If():
                return 10 + sum(self.full(o) for o in (operand.test, *operand.then.results, *operand.orelse.results))
        return 24

    def _op_width(self, op: ir.Op) -> int:
        inner = [self.full(a) for a in op.args] + [len(k) + 1 + self.full(v) for k, v in op.kwargs.items()]
        if op.function in spelling.BINARY or op.function in spelling.COMPARE:
            return sum(inner) + 4
        if op.function in spelling.UNARY:
            return sum(inner) + 1
        if op.function is operator.getitem and op.spelling is None:
            return sum(inner) + 2
        if isinstance(op.spelling, ir.Code):
            name = self.width(op.spelling)
        elif isinstance(op.spelling, str):
            name = len(op.spelling)
        else:
            name = spelling.length(op.function)
        return name + 2 + sum(n + 2 for n in inner) - 2 * bool(inner)

    def full(self, operand) -> int:
        """The width of an operand with every candidate below it written out."""
        if not isinstance(operand, ir.Value):
            return self.width(operand)
        statement = self.trees.inlined.get(operand) or self.pending.get(operand)
        if statement is None:
            return self.width(operand)
        if operand not in self.widths:
            self.widths[operand] = self.width(statement)
        return self.widths[operand]


def _literal_width(value) -> int:
    if isinstance(value, slice):
        return 1 + sum(_literal_width(part) for part in (value.start, value.stop, value.step) if part is not None)
    if isinstance(value, tuple):
        return sum(2 + _literal_width(part) for part in value)
    return 3 if value is Ellipsis else len(repr(value))


class _Stack:
    """The statements of one block, taken from the end: each pulls in the temporaries that only it uses."""

    def __init__(self, gather: _Gather, order: list, depth: int):
        self.gather = gather
        self.inlined = gather.trees.inlined
        self.order = order
        self.depth = depth
        self.taken = [False] * len(order)
        self.defined = {}
        gather.pending = {}
        for i, statement in enumerate(order):
            if gather.is_candidate(statement):
                target = targets(statement)[0]
                self.defined[target] = i
                gather.pending[target] = statement

    def run(self, results: list) -> None:
        room = WIDTH - 4 * self.depth - 8
        self.pull(results, len(self.order), max(room, 24))
        for i in reversed(range(len(self.order))):
            if self.taken[i]:
                continue
            statement = self.order[i]
            if isinstance(statement, (ir.Verbatim, ir.Bind)):
                continue
            found = targets(statement)
            read = operands(statement)
            room = WIDTH - 4 * self.depth - 3 - sum(len(t.name) + 2 for t in found[:3])
            if isinstance(statement, ir.Op):
                room -= self.gather.width(statement) - sum(self.gather.full(o) for o in read)
            self.pull(read, i, max(room, 24))

    def pull(self, read: list, user: int, room: int) -> None:
        """Inline what `read` names, right to left, as far as `room` and the order of effects allow.

        Where not all has room, the longest operand gets what the others leave, and is split further down.
        """
        inner = [o for o in read if isinstance(o, ir.Value) and o in self.defined]
        if not inner:
            return
        extra = {o: self.gather.full(o) - self.gather.width(o) for o in inner}
        room -= sum(self.gather.width(o) for o in read)
        longest = max(extra, key=extra.get)
        rest = room - sum(extra.values()) + extra[longest]
        for operand in reversed(read):
            at = self.defined[operand] if operand in inner else user
            if at >= user or self.taken[at] or not self.may_move(at, user):
                continue
            statement = self.order[at]
            budget = room if extra[operand] <= room else rest
            if extra[operand] > budget:
                own = self.gather.width(statement) - sum(self.gather.full(o) for o in operands(statement))
                if operand is not longest or isinstance(statement, ir.If) or own + 16 > budget:
                    continue
                self.take(statement, user, budget - own)
                room -= budget
            else:
                self.take(statement, user, 10**6)
                room -= extra[operand]

    def take(self, statement, user: int, room: int) -> None:
        self.taken[self.defined[targets(statement)[0]]] = True
        self.inlined[targets(statement)[0]] = statement
        if not isinstance(statement, ir.Bind):
            self.pull(operands(statement), user, room)

    def may_move(self, at: int, user: int) -> bool:
        statement = self.order[at]
        between = [self.order[i] for i in range(at + 1, user) if not self.taken[i]]
        if not between:
            return True
        if not self.gather.is_movable(statement):
            return False
        read = set(self.reads(statement))
        for other in between:
            mutated = self.gather.mutated(other)
            if mutated is EVERYTHING or not read.isdisjoint(mutated):
                return False
        return True

    def reads(self, statement) -> list:
        """All that a statement would read if every candidate below it were written out."""
        found = []
        inner = operands(statement)
        if isinstance(statement, ir.If):
            inner = [*inner, *statement.then.results, *statement.orelse.results]
        for operand in inner:
            if isinstance(operand, ir.Code):
                found += operand.reads.values()
            elif isinstance(operand, ir.Value):
                at = self.defined.get(operand)
                below = self.inlined.get(operand) or (self.order[at] if at is not None else None)
                found.append(operand)
                if below is not None:
                    found += self.reads(below)
        return found


def gather(function: ir.Function) -> Trees:
    """Plan the expression trees of a function."""
    return _Gather(function).run()
