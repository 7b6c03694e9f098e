"""What the lowering of one function and of all functions that it calls has in common."""

from collections import Counter
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from s2sgrad.errors import CompileError, Location
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.classes import PLAIN, opaque
from s2sgrad.transform.frontend import effects, resolve, syntax
from s2sgrad.transform.frontend.giving import bare, is_certain
from s2sgrad.transform.frontend.kinds import carrying
from s2sgrad.transform.frontend.reach import reached

MOST_CALLEES = 150
MOST_STATEMENTS = 5_000  # that are lowered, those in loops anew each time: some seconds
DEEPEST = 12  # how often a function is lowered within itself, for ever new kinds of arguments
QUIET = {"numpy", "math", "operator", "_operator", "scipy", "cmath"}


@dataclass(slots=True, eq=False)
class Info:
    """What is known of a callee's result: `type` and `active` are None and True while it is being lowered."""

    type: ir.Type | None = None
    active: object = True
    recursive: bool = False
    writes_outside: bool = False
    sources: tuple | None = None  # the parameters that the result may share memory with, if with nothing else outside


@dataclass(frozen=True, slots=True)
class Row:
    """One line of ``explain()``: a function, where it stands, what became of it and why."""

    function: str
    file: str
    line: int
    engine: str
    reason: str = ""
    because: Location | None = None  # of what keeps it from being compiled


@dataclass(slots=True, eq=False)
class Session:
    """Shared by all functions of one derivative: guards, callees, and what has been found out before."""

    guards: dict = field(default_factory=dict)
    known: dict = field(default_factory=dict)
    names: syntax.Names = field(default_factory=syntax.Names)
    purity: effects.Purity = field(default_factory=effects.Purity)
    object_regions: dict = field(default_factory=dict)
    containers: int = 0  # those with slots
    filled: dict = field(default_factory=dict)  # a slot -> is nothing put into it but lists that the function makes?
    grown: set = field(default_factory=set)  # the slots of lists that change in ways that only the run knows
    writes: int = 0  # how often something was found that is written to
    lending: set = field(default_factory=set)  # the classes whose attributes are fields of the objects made of them
    apart: bool = False  # it writes into an argument
    in_one_piece: bool = False  # what it does depends on arrays being contiguous
    work: dict = field(default_factory=dict)  # the arrays outside that are written into
    written: dict = field(default_factory=dict)  # what reads them
    arrays: dict = field(default_factory=dict)  # what reads the arrays outside that are looked at
    reached: dict = field(default_factory=dict)  # what reads the data outside that functions may look at
    objects: list = field(default_factory=list)  # what is read from outside and may hold arrays
    strict: bool = False  # nothing may run on the tape
    callees: dict = field(default_factory=dict)
    statements: int = 0  # that have been lowered
    lowering: Counter = field(default_factory=Counter)  # which functions are being lowered, and how often
    kept: list = field(default_factory=list)
    given: dict = field(default_factory=dict)  # what calls that stay as they are give
    rows: dict = field(default_factory=dict)

    def count(self, lowering, statement) -> None:
        """Count a statement; each loop around one multiplies how often it is lowered until its types are stable."""
        self.statements += 1
        if self.statements > MOST_STATEMENTS:
            lowering.refuse("loops stand so deep in each other that this would take too long to compile", statement)

    def report(self, found) -> None:
        """Note that a function is compiled."""
        self.rows.setdefault(
            (found.file, found.node.lineno, found.name), Row(found.name, found.file, found.node.lineno, "compiled")
        )

    def report_taped(self, found, refusal: CompileError) -> None:
        """Note that the calls of a function run on the tape, and why."""
        row = Row(found.name, found.file, found.node.lineno, "tape", refusal.reason, refusal.location)
        self.rows[found.file, found.node.lineno, found.name] = row

    def see_reached(self) -> None:
        """Note what all functions that are known look at outside."""
        seen: set = set()
        for guard in list(self.guards.values()):
            thing = guard.objects.get("f", guard.objects.get("value"))
            for read in reached(thing, seen, self.guards) if resolve.is_definition(thing) else ():
                value = read()
                if read.key in self.written:
                    continue  # no function reads it that is called
                if read.key in self.guards and isinstance(value, PLAIN):
                    continue  # it stays one
                if (held := opaque(value)) is not None:
                    self.objects.append(type(held).__name__)
                self.reached.setdefault(read.key, read)

    @staticmethod
    def plain(functions, function):
        """`functions`, or nothing where `function` cannot be looked up in it."""
        try:
            hash(function)
        except TypeError:
            return ()
        return functions

    @staticmethod
    def is_effectless(function) -> bool:
        """May a call of it be left out, or made elsewhere?"""
        if isinstance(function, np.ufunc):
            return True
        module = getattr(function, "__module__", None) or ""
        return module.partition(".")[0] in QUIET and not module.startswith(("numpy.random", "scipy.stats"))

    @staticmethod
    def is_stop_gradient(function) -> bool:
        from s2sgrad.runtime.fallback import stop_gradient

        return function is stop_gradient

    def is_within(self, found) -> bool:
        """Is this the call of a function that is being lowered?"""
        return self.lowering[found.file, found.node.lineno, found.name] > 0

    def callee(self, key, found, given, passing, function, scope, specs) -> tuple:
        """The callee for a function with these arguments, and what is known of its result."""
        from s2sgrad.transform.frontend.lower import Lowering

        known = self.callees.get(key)
        if known is not None:
            callee, info = known
            if callee.function is None:
                info.recursive = True
            return callee, info
        place = found.file, found.node.lineno, found.name
        if len(self.callees) >= MOST_CALLEES or self.lowering[place] >= DEEPEST:
            passing.caller.refuse(f"{found.name} is called in too many different ways", passing.caller.current)
        label = found.name if found.name.isidentifier() else "function"
        callee = ir.Callee(label, ())
        info = Info()
        self.callees[key] = callee, info
        self.kept.extend((function, scope, given))
        namespace = scope.namespace if function is None else namespace_of(function)
        guess = None
        while True:
            info.recursive, info.type = False, guess
            lowering = Lowering(self, found, namespace, given)
            parameters: list = []
            memo: dict = {}
            for name, thing in given.items():
                lowering.env[name] = passing.enter(name, thing, lowering, parameters, memo)
            for name in {list(given)[i] for _, places in specs for i in places}:
                lowering.activate(lowering.env[name])
            self.lowering[place] += 1
            try:
                block = lowering.run()
            finally:
                self.lowering[place] -= 1
            result = block.results[0]
            type_, active = lowering.type_of(result), lowering.activity(result)
            stable = guess is not None and types.join(guess, type_) == guess and info.active == active
            if stable or not info.recursive:
                break
            if guess is None:
                clear = [t for t, _ in lowering.returned if t != ir.UNKNOWN]
                guess = clear[0] if clear else ir.UNKNOWN
            else:
                guess = types.join(guess, type_)
            info.active = active
        info.writes_outside = lowering.writes_outside
        info.sources = lowering.sources_of(result, dict(enumerate(parameters)))
        made = [ir.Parameter(p) for p in parameters]
        callee.active = tuple(p.active for p in parameters)
        callee.function = ir.Function(label, made, block, namespace, found.location())
        if specs:
            callee.function = differentiated(callee.function, specs)
            callee.name = callee.function.name
            type_ = lowering.type_of(callee.function.body.results[0])
            active = carrying(type_) if any(passing.caller.activity(o) for o in passing.operands) else False
        info.type, info.active = type_, active
        self.report(found)
        return callee, info

    def tried(self, found, namespace, given: dict, kinds: tuple) -> tuple | None:
        """The type of what a function gives that nothing flows through, and which parameters it may share memory with.

        None where it cannot be told. `kinds` says what is known of each thing that it is `given`.
        """
        from s2sgrad.transform.frontend.lower import Lowering

        before = {name: copy(getattr(self, name)) for name in ("callees", "rows", "objects", "arrays")}
        flags = self.apart, self.in_one_piece
        place = found.file, found.node.lineno, found.name
        self.lowering[place] += 1
        try:
            lowering = Lowering(self, found, namespace, given)
            for name, (kind, known) in kinds:
                if kind == "function":
                    lowering.env[name] = given[name]
                    continue
                t = known if kind == "value" else types.type_of(known)
                lowering.env[name] = value = lowering.parameter(name, t, False)
                if kind == "constant":
                    lowering.constants[value] = known
            given_there = dict(lowering.env)
            (result,) = lowering.run().results
        except CompileError:
            return None
        finally:
            self.lowering[place] -= 1
            for name, value in before.items():
                setattr(self, name, value)
            self.apart, self.in_one_piece = flags
        t = bare(lowering.type_of(result))
        if not is_certain(t):
            return (ir.UNKNOWN, ()) if isinstance(result, ir.Constant) else None  # None, or a text
        return t, lowering.sources_of(result, given_there)


def differentiated(function: ir.Function, specs) -> ir.Function:
    """The derivative that `specs`, from the outermost to the innermost, make of a function."""
    from s2sgrad.transform import optimize, reverse

    for spec, places in reversed(specs):
        function = reverse.gradient(
            function,
            places,
            value=spec.kind == "value_and_grad",
            has_aux=spec.has_aux,
            single=not isinstance(spec.argnums, (tuple, list)),
            seed="ones" if spec.kind == "elementwise_grad" else "scalar",
        )
        function = optimize.settle(function)
    return function


def namespace_of(function) -> ir.Namespace:
    """Where the global and closure names of a Python function live."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return ir.Namespace(function.__globals__, cells)
