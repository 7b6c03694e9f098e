"""Names for values: from single assignment back to Python variables.

The second step of emission, after `trees`. Versions of one name share it wherever their live ranges
do not conflict::

    y: 0.0 -> loop parameter y -> y' (body) -> y'' (after)          all of them `y`

and where they do (a version that the backward pass still needs, when the next one is made) the later
one is called ``y1``. This is register colouring on a structured program: liveness is one backward walk,
two values conflict when one is assigned while the other is still needed, the two ends of a hand-over
(loop-carried values, the results of branches, buffers written in place) are merged when they may be,
and every class then gets the first free name among its wishes.
"""

import keyword
from collections import defaultdict
from itertools import chain

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.emit.guarded import Guarded
from s2sgrad.transform.emit.printer import LATER, SCOPES, bound_names
from s2sgrad.transform.emit.trees import Append, Trees, is_temporary, operands, targets


def is_one_value(statement) -> bool:
    """Is it a line that can only raise before it gives its value a name?"""
    return isinstance(statement, (ir.Op, ir.Make, ir.Bind, ir.Call))


class _Naming:
    def __init__(self, function: ir.Function, trees: Trees, reserved: set[str], guarded: Guarded):
        self.function = function
        self.guarded = guarded
        self.trees = trees
        self.reserved = reserved
        self.conflicts: defaultdict[ir.Value, set] = defaultdict(set)
        self.parent: dict[ir.Value, ir.Value] = {}
        self.members: dict[ir.Value, list] = {}
        self.forbidden: dict[ir.Value, set] = {}
        self.order: list[ir.Value] = []
        self.twins: dict[ir.Value, ir.Value] = {}  # what is unpacked from a saved list -> what was saved
        self.saved: dict[ir.Value, tuple] = {}

    # ---- conflicts: one backward walk

    def conflict(self, value, others) -> None:
        mine = self.conflicts[value]
        mine.update(others)
        for other in others:
            self.conflicts[other].add(value)
        mine.discard(value)

    def define(self, values, live: set) -> None:
        """`values` are assigned together, while `live` is needed."""
        for value in values:
            self.conflict(value, live)
            self.conflict(value, values)

    def leaves(self, items) -> set:
        return {leaf for item in items for leaf in self.trees.leaves(item)}

    def block(self, block: ir.Block, live: set) -> set:
        """The values live before the block, from those live after it."""
        for statement in reversed(self.trees.lines[id(block)]):
            live = self.statement(statement, live)
        return live

    def statement(self, statement, live: set) -> set:
        match statement:
            case ir.If():
                return self.branch(statement, live)
            case ir.For():
                return self.loop(statement, live)
            case Append():
                return live | self.leaves(operands(statement)) | {statement.collected}
            case ir.Verbatim():
                return self.verbatim(statement, live)
        assigned = targets(statement)
        self.define(assigned, live)
        return (live - set(assigned)) | self.leaves(operands(statement))

    def verbatim(self, statement: ir.Verbatim, live: set) -> set:
        writes = statement.writes
        self.define(list(writes.values()), live)
        for name, value in writes.items():  # it may write one name before it reads another
            self.conflict(value, [v for n, v in statement.reads.items() if n != name])
        return (live - set(writes.values())) | self.leaves(statement.reads.values())

    def branch(self, statement: ir.If, live: set) -> set:
        self.define([r for r in statement.results if r in self.trees.read], live)
        variables = defaultdict(list)
        for first, second in self.guarded.twins(statement):
            variables[first].append(second)
        for one in ([first, *others] for first, others in variables.items()):
            for value in one:
                self.conflicts[value].difference_update(one)
        after = live - set(statement.results)
        before = self.leaves([statement.test])
        for block in (statement.orelse, statement.then):
            handed = self.leaves(operand for _, operand in self.trees.handed(statement, block))
            if isinstance(statement, ir.Attempt) and block is statement.then:
                before = before | self.attempted(block, after | handed, before)
                continue
            kept = before if isinstance(statement, ir.Try) else set()  # its handlers read it
            before = before | self.block(block, after | handed | kept)
        return before

    def attempted(self, block: ir.Block, live: set, kept: set) -> set:
        """The same of a block that begins with what is tried: what is `kept` is read where that raises."""
        tried, *others = self.trees.lines[id(block)]
        for statement in reversed(others):
            live = self.statement(statement, live)
        self.define([r for r in tried.results if r in self.trees.read], live)
        live = live - set(tried.results) | self.leaves(operand for _, operand in self.trees.handed(tried, tried.then))
        for k, statement in enumerate(reversed(self.trees.lines[id(tried.then)])):
            if k or not is_one_value(statement):
                live = live | kept
            live = self.statement(statement, live)
        return live | kept

    def loop(self, statement: ir.For, live: set) -> set:
        pairs = self.trees.handed(statement, statement.body)
        parameters = [parameter for parameter, _ in pairs]
        handed = [operand for _, operand in pairs]
        carried = [c for c in statement.carried if c.parameter in parameters]
        iterables = self.leaves(o for s in statement.sources for o in (s.iterable, s.start) if o is not None)
        elements = [e for s in statement.sources for e in walk.pattern(s.element)]
        after = live - {c.result for c in statement.carried} - set(statement.collected)
        inside, made = set(), set()
        self.free(statement.body, inside, made)
        inside |= self.leaves(handed)
        if isinstance(statement, ir.While):
            inside |= self.leaves([statement.test])
        header = after | (inside - made - set(elements) - set(parameters)) | set(statement.collected)
        self.define(parameters, header)
        for carry in carried:
            self.conflict(carry.parameter, iterables - {carry.initial})
        self.define(elements, header | set(parameters) | iterables)
        self.block(statement.body, header | self.leaves(handed))
        before = header | iterables
        self.define(statement.collected, before | set(parameters))
        return (before - set(statement.collected)) | self.leaves(c.initial for c in carried)

    def free(self, block: ir.Block, read: set, made: set) -> None:
        """What the lines of a block read, and what they define, at any depth."""
        for statement in self.trees.lines[id(block)]:
            read |= self.leaves(operands(statement))
            made.update(targets(statement))
            match statement:
                case ir.If():
                    for inner in (statement.then, statement.orelse):
                        read |= self.leaves(inner.results)
                        self.free(inner, read, made)
                case ir.For():
                    made.update(walk.enters(statement))
                    read |= self.leaves(statement.body.results[: len(statement.carried)])
                    self.free(statement.body, read, made)

    # ---- merging

    def find(self, value):
        while self.parent.get(value, value) is not value:
            value = self.parent[value]
        return value

    def group(self, value) -> list:
        return self.members.get(value) or [value]

    def merge(self, a, b, always: bool = False) -> None:
        a, b = self.find(a), self.find(b)
        if a is b:
            return
        mine, other = self.conflicts[a], self.conflicts[b]
        if not always and (not mine.isdisjoint(self.group(b)) or (a in self.fixed and b in self.fixed)):
            return
        if b in self.fixed:
            a, b, mine, other = b, a, other, mine
        self.parent[b] = a
        self.members[a] = self.group(a) + self.group(b)
        mine |= other  # a root knows all that its members conflict with

    def alike(self, a, b) -> bool:
        """Do they wish for one name, or one of them for none in particular?"""
        passing = a in self.trees.backward and self.trees.uses[a] == 1
        return a.name == b.name or is_temporary(a) or is_temporary(b) or passing

    def coalesce(self, block: ir.Block, must: bool) -> None:
        for statement in self.trees.lines[id(block)]:
            match statement:
                case ir.Accumulate() | ir.Store() | ir.Push() | ir.Pop():
                    if must:
                        self.merge(statement.target, statement.into, always=True)
                case ir.Same():
                    if must and statement.results:
                        self.merge(statement.results[0], statement.orelse.results[0], always=True)
                case ir.Verbatim() if not must:
                    for name, value in statement.writes.items():
                        if name in statement.reads:
                            self.merge(value, statement.reads[name])
                case ir.For():
                    for carry, handed in zip(statement.carried, statement.body.results, strict=False):
                        if must:
                            self.merge(carry.parameter, carry.result, always=True)
                        else:
                            self.hand_over(handed, carry.parameter)
                    self.coalesce(statement.body, must)
                    for carry in statement.carried:
                        if not must:
                            self.hand_over(carry.initial, carry.parameter)
                case ir.If():
                    for first, second in self.guarded.twins(statement) if not must else ():
                        self.merge(first, second)
                    self.coalesce(statement.then, must)
                    self.coalesce(statement.orelse, must)
                    if not must:
                        for block in (statement.then, statement.orelse):
                            for operand, result in zip(block.results, statement.results, strict=True):
                                self.hand_over(operand, result)

    def hand_over(self, operand, value) -> None:
        if isinstance(operand, ir.Value) and operand not in self.trees.inlined and self.alike(operand, value):
            self.merge(value, operand)

    # ---- colours

    def survey(self, block: ir.Block) -> None:
        """The values in the order in which they appear, and the names that the user's code forbids to some."""
        for statement in self.trees.lines[id(block)]:
            if isinstance(statement, ir.For):
                self.order += statement.collected
                self.pair_off(statement)
            if isinstance(statement, Append):
                make = self.trees.inlined.get(statement.operand)
                self.saved[statement.collected] = make.items if isinstance(make, ir.Make) else (statement.operand,)
            self.order += walk.enters(statement)
            for inner in walk.blocks(statement):
                self.survey(inner)
            self.order += targets(statement)

    def pair_off(self, loop: ir.For) -> None:
        """A temporary is best called in the backward loop what it was called when it was saved."""
        for source in loop.sources:
            elements = source.element if isinstance(source.element, tuple) else (source.element,)
            saved = self.saved.get(self.twins.get(source.iterable, source.iterable), ())
            pairs = zip(elements, saved, strict=False)
            self.twins.update((e, item) for e, item in pairs if isinstance(e, ir.Value) and isinstance(item, ir.Value))

    def forbid(self, code) -> None:
        """A value read under a comprehension or lambda must not be called what that binds for itself."""
        for part in gast.walk(code.node):
            if isinstance(part, SCOPES):
                bound = bound_names(part)
                for value in code.reads.values():
                    self.forbidden.setdefault(value, set()).update(bound - {value.name})

    def kept(self, code) -> set:
        """The values that a lambda, nested function or generator reads: whenever it runs, so up to the end."""
        later = [part for part in gast.walk(code.node) if isinstance(part, LATER)]
        names = {n.id for part in later for n in gast.walk(part) if isinstance(n, gast.Name)}
        return self.leaves(value for name, value in code.reads.items() if name in names)

    def run(self, codes) -> dict[ir.Value, str]:
        parameters = [p.value for p in self.function.parameters]
        self.fixed = {p: p.name for p in parameters}
        live = self.leaves(self.function.body.results).union(*map(self.kept, codes))
        live = self.block(self.function.body, live)
        self.define(parameters, live)
        self.coalesce(self.function.body, must=True)
        self.coalesce(self.function.body, must=False)
        for code in codes:
            self.forbid(code)
        self.order = list(parameters)
        self.survey(self.function.body)
        roots = list(dict.fromkeys(self.find(v) for v in self.order))
        colours: dict = {}
        for root in sorted(roots, key=self.priority):
            colours.update(dict.fromkeys(self.group(root), self.colour(root, colours)))
        return {value: colours[value] for value in self.order}

    def priority(self, root) -> int:
        if any(v in self.fixed for v in self.group(root)):
            return 0
        return 2 if is_temporary(self.wish(root)) else 1

    def wish(self, root) -> ir.Value:
        group = self.group(root)
        return next((v for v in group if not is_temporary(v)), group[0])

    def colour(self, root, colours: dict) -> str:
        group = self.group(root)
        for value in group:
            if value in self.fixed:
                return self.fixed[value]
        taken = {colours[v] for v in self.conflicts[root] if v in colours}
        for value in group:
            taken |= self.forbidden.get(value, set())
        wish = self.wish(root)
        base = wish.name or "t"
        if is_temporary(wish):
            base = base.rstrip("0123456789")
        if not base.isidentifier() or keyword.iskeyword(base):
            base = "t"
        twins = [colours.get(self.twins[v]) for v in group if v in self.twins and is_temporary(wish)]
        names = chain(filter(None, twins), candidates(base))
        return next(n for n in names if n not in taken and n not in self.reserved)


def candidates(base: str):
    """The names that a wish may become.

    >>> from itertools import islice
    >>> list(islice(candidates("y"), 3)), list(islice(candidates("x1"), 3))
    (['y', 'y1', 'y2'], ['x1', 'x1_1', 'x1_2'])
    """
    yield base
    joint = "_" if base[-1].isdigit() else ""
    count = 1
    while True:
        yield f"{base}{joint}{count}"
        count += 1


def name_values(
    function: ir.Function, trees: Trees, reserved: set[str], guarded: Guarded, codes=()
) -> dict[ir.Value, str]:
    """A Python name for every value of `function` that has a line of its own.

    `reserved` are the names that mean something else in the code (globals, helpers, siblings);
    `codes` the user's expressions and statements in it.
    """
    return _Naming(function, trees, reserved, guarded).run(codes)
