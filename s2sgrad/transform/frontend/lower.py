"""Lowers a function: syntax tree in, intermediate language out.

One walk over the statements, in the order in which they run, with an environment that says what each
local name stands for at that point: a value with its type and activity, or something known at compile
time (`values`). Branches are walked one after the other and their environments merged; loops are walked
until the types and the activity of what they carry no longer change. What no derivative flows through
stays as the user wrote it.

The user's function ::

    def f(x, n):
        y = 0.0
        for i in range(n):
            y = y + np.sin(x[i])
        if y > 1:
            return y
        return y * y

is lowered to (see the doctest of `pipeline.lower`) ::

    f(x*, n):
        y = Code(0.0)
        for i in Code(range(n)) carrying y'* = 0.0:
            t* = operator.getitem(x*, i)
            t'* = np.sin(t*)
            y''* = operator.add(y'*, t'*)
            -> y''*
        => y'''*
        if Code(y > 1; y is y'''*):
            -> y'''*
        else:
            result* = operator.mul(y'''*, y'''*)
            -> result*
        => result'*
        -> result'*

Nobody else sees a name that is only possibly bound, a `return` in the middle of a block (what follows an
`if` that may return moves into its other branch), or an augmented assignment.
"""

import itertools
from contextlib import contextmanager
from types import FunctionType, MappingProxyType

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes, ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import effects, resolve, syntax, ways
from s2sgrad.transform.frontend.branches import Branches
from s2sgrad.transform.frontend.callees import Callees
from s2sgrad.transform.frontend.callers import Callers
from s2sgrad.transform.frontend.calls import Calls
from s2sgrad.transform.frontend.deques import Deques
from s2sgrad.transform.frontend.derivatives import Derivatives
from s2sgrad.transform.frontend.dicts import Dicts
from s2sgrad.transform.frontend.edits import Edits
from s2sgrad.transform.frontend.expressions import Expressions
from s2sgrad.transform.frontend.functions import Functions
from s2sgrad.transform.frontend.generators import Generators
from s2sgrad.transform.frontend.growing import Growing
from s2sgrad.transform.frontend.heap import Heap, said
from s2sgrad.transform.frontend.hoisting import perhaps_changing, with_lists, without_maps
from s2sgrad.transform.frontend.inheritance import Inheritance, written_out
from s2sgrad.transform.frontend.iterators import Iterators
from s2sgrad.transform.frontend.kinds import (
    LEFT,
    NEVER,
    any_active,
    carrying,
    text,
)
from s2sgrad.transform.frontend.leaving import Leaving
from s2sgrad.transform.frontend.lists import Lists
from s2sgrad.transform.frontend.loops import Loops
from s2sgrad.transform.frontend.managers import Managers
from s2sgrad.transform.frontend.memory import Writes, viewed_names
from s2sgrad.transform.frontend.methods import Methods
from s2sgrad.transform.frontend.optional import Optional
from s2sgrad.transform.frontend.parameters import Parameters
from s2sgrad.transform.frontend.positions import Positions
from s2sgrad.transform.frontend.records import Records
from s2sgrad.transform.frontend.scan import (
    count_bindings,
    defined_functions,
    handed_over,
    jumps,
    mutable_names,
)
from s2sgrad.transform.frontend.statements import Statements
from s2sgrad.transform.frontend.taping import Taping
from s2sgrad.transform.frontend.trying import Trying
from s2sgrad.transform.frontend.unsized import Unsized
from s2sgrad.transform.frontend.unused import with_holders, without_unused
from s2sgrad.transform.frontend.values import Nested
from s2sgrad.transform.frontend.ways import Ways
from s2sgrad.transform.frontend.work import WorkArrays
from s2sgrad.transform.ir import Kind

NUMBERS = (range, len, int, float, bool)  # they give numbers only


class Lowering(
    Deques,
    Generators,
    Statements,
    Writes,
    Ways,
    Heap,
    Edits,
    Growing,
    Callers,
    Records,
    Inheritance,
    WorkArrays,
    Branches,
    Managers,
    Trying,
    Optional,
    Loops,
    Positions,
    Iterators,
    Dicts,
    Lists,
    Unsized,
    Calls,
    Methods,
    Callees,
    Parameters,
    Derivatives,
    Functions,
    Taping,
    Expressions,
):
    """One function being lowered.

    Parameters
    ----------
    session : Session
        What is shared by all functions of one derivative.
    found : source.Found
    namespace : ir.Namespace
    given : dict
        What parameters, and names of enclosing functions that are local here by being passed, stand for.
    rebound : set of str
        The names of enclosing functions that it may bind anew.
    free : dict
        From the names of enclosing functions that it reads to the lowerings whose variables they are.
    kinds : dict
        The types of parameters that stand for nothing yet.
    """

    def __init__(
        self,
        session,
        found,
        namespace,
        given=MappingProxyType({}),
        rebound=frozenset(),
        free=MappingProxyType({}),
        kinds=None,
    ):
        self.session = session
        self.free = free
        self.found = found
        self.names = session.names
        self.outside = resolve.Outside(namespace, session.guards, session.known)
        self.namespace = namespace
        self.home = namespace.cells[syntax.HOME].cell_contents if syntax.HOME in namespace.cells else None
        self.current = found.node
        self.statements: list = []
        self.env: dict = {}
        self.parts: dict = {}
        self.regions: dict = {}
        self.ways: dict = {}  # an array -> how it may look at one that is no part of another (`ways`)
        self.earlier: dict = {}  # an array that was written to -> itself before that
        self.carried_on: dict = {}  # arrays before the loop walked last -> after it
        self.made: dict = {}  # a container -> what is in it, where that is known
        self.objects: dict = {}  # a container with slots -> the object that it is
        self.grown: list = []  # the memory of lists in slots that have changed in ways that only the run knows
        self.grown_values: set = set()  # these lists, after such changes
        self.opaque: dict = {}
        self.placed: dict = {}  # the name of a list -> whether elements are changed where only the run knows
        self.apart_items: set = set()  # the ids of items of lists that are known one by one, and are lists, too
        self.unplaced: dict = {}  # what stands in a container for a function that exists while compiling only -> where
        self.lambdas: dict = {}  # the ids of those that stay as they are -> what calls of them call
        self.work: dict = {}  # the names of arrays outside that are written to
        self.work_values: set = set()
        self.again: set = set()  # views looked up again
        self.unchanging: set = set()  # copies of arrays that say how a view is made
        self.looked: set = set()  # views looked up again at the beginning of a turn of a loop
        self.caller = None  # the lowering in whose place a call's body is lowered
        self.bodies: tuple = ()  # the functions whose bodies stand in place of calls around this one
        self.gives_function = False  # what is returned is a function, for the caller to follow
        self.is_top = False  # the function that is differentiated, not one that it calls
        self.parameters: list = []
        self.written_arguments: set = set()
        self.handed_out: list = []  # the memory of what has been put into containers of the caller's
        self.leaves: list = []  # what is in the caller's containers that the function changes
        self.views: dict = {}  # a value that is surely a view -> the operation that gives it
        self.constants: dict = {}
        self.true_types: dict = {}  # what `and` or `or` gives -> its type where it is true
        self.temporaries: set = set()
        self.object_regions: dict = session.object_regions
        self.anywhere = effects.Region((), external=True)
        self.loops: tuple = ()
        self.copies = 0
        self.own_lists = None
        self.maybe: set = set()  # values that may be None
        self.sure: dict = {}  # the id of a branch -> names that are no None at its end, for its test says so
        self.asked: set = set()  # values of which it was asked whether they are None, with the block where
        self.renaming: set = set()  # the ids of names that get another name
        self.needed: set = set()  # the ids of names that must not be None where they stand
        self.used_up: set = set()  # the ids of expressions whose value is used up at once
        self.at_once: set = set()  # those of them that are so before anything else happens, and functions called so
        self.written_names = None  # all that stand in the text, those of inner scopes too
        self.collecting: dict = {}
        self.changing: set = set()
        self.writes_outside = False
        self.returned: list = []
        self.parameter_names: set = set()
        self.given = given
        self.look_through(rebound, kinds or {})

    def look_through(self, rebound, kinds: dict) -> None:
        """Note what the names of the body are, and say it in fewer forms."""
        found, given = self.found, self.given
        body = found.node.body
        if isinstance(found.node, gast.Lambda):
            body = [gast.copy_location(gast.Return(body), body)]
        body = written_out(body, next(iter(syntax.parameters(found.node)), ""))
        self.local = (set(syntax.parameters(found.node)) | given.keys()).union(*map(self.names.stores, body))
        self.mutable: set = set()
        body = self.without_deques(body)
        self.defined = dict(defined_functions(body))
        self.bindings = count_bindings(body, syntax.parameters(found.node))
        self.made_names: set = set()
        outer = set().union(*map(syntax.declared, body))
        self.identifiers: set = self.local | outer
        body = self.without_generators(body)
        for statement in body:
            self.local |= self.names.stores(statement)
            self.identifiers |= self.names.loads(statement) | self.names.stores(statement)
        self.classes = self.classes_of_names(body, kinds)
        self.handed: set = set()  # the names that are handed over where they stand (`scan.handed_over`)
        self.apart: dict = {}  # the name of a function -> whether it may write into what it is given
        self.perhaps_changing = perhaps_changing(body)
        taken = self.identifiers | {n.id for s in body for n in syntax.walk(s) if isinstance(n, gast.Name)}
        inside = (n for s in body for n in syntax.walk(s) if isinstance(n, syntax.FUNCTIONS))
        shared = (name for name, owner in self.free.items() if name in owner.rebound_names)
        self.rebound_names = frozenset(shared).union(*map(syntax.rebound, inside))  # by functions that it may call
        if "map" in self.identifiers and self.is_builtin("map", map) and self.is_builtin("zip", zip):
            item = next(name for name in (f"item{'_' * i}" for i in itertools.count()) if name not in taken)
            body = without_maps(body, self.is_apart, item)
        body = with_lists(body, self.is_builtin)
        leaving = Leaving(
            taken, self.is_apart, self.is_own_call, lambda name: name not in self.local, self.rebound_names
        )
        body = leaving.body(body)
        bound = set().union(*map(self.names.stores, body))
        self.local |= bound
        self.identifiers |= bound
        self.read_names = frozenset().union(*map(self.names.loads, body))
        self.part_names = leaving.parts
        self.read_before = leaving.read
        self.partial = leaving.results  # names that are bound only where a flag says so
        if outer - rebound:
            name = min(outer - rebound)
            saying = [n for n in syntax.walk(found.node) if isinstance(n, (gast.Global, gast.Nonlocal))]
            place = next((n for n in saying if name in n.names), found.node)
            self.refuse(f"{name} is rebound outside of the function (global or nonlocal)", place)
        self.bindings = count_bindings(body, syntax.parameters(found.node))
        plain = [f for f in NUMBERS if f.__name__ in self.identifiers - self.local and self.is_builtin(f.__name__, f)]
        self.numbers = {f.__name__ for f in plain}
        self.handed = handed_over(body)
        self.mutable = mutable_names(body, self.names, self.numbers, self.given_away(body), handed=self.handed)
        self.body = body

    def is_apart(self, node) -> bool:
        """Is it the call of a function that may write into what it is given, or into what it captures?

        Or of a method that changes its list or dict, if it may not be evaluated.
        """
        if id(node) in self.perhaps_changing:
            return True
        if not isinstance(node, gast.Call) or not isinstance(node.func, (gast.Name, gast.Attribute)):
            return False
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return False
        if syntax.is_inherited(node.func):
            return True
        if isinstance(node.func, gast.Attribute) or node.func.id in self.classes:
            return self.changes_record(node.func)
        name = node.func.id
        if name not in self.apart:
            try:
                self.apart[name] = self.may_write(name)
            except CompileError:  # a name inside of a nested function
                self.apart[name] = False
        return self.apart[name]

    def is_own_call(self, node) -> bool:
        """Is it the call of a function that is defined here and reads what is local here?"""
        tree = (
            self.defined.get(node.func.id) if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) else None
        )
        return tree is not None and not self.names.captured(tree).isdisjoint(self.local)

    def has_apart(self, node) -> bool:
        """Does such a call stand in a piece of syntax, outside of functions in it?"""
        return any(map(self.is_apart, syntax.own_nodes(node)))

    def may_write(self, name: str) -> bool:
        """Is a name that of a function whose body is lowered in the place of its calls?"""
        if name in self.local:
            thing = self.given.get(name)
            tree = thing.node if isinstance(thing, Nested) else self.defined.get(name)
            return tree is not None and self.problem_of(tree) is not None
        known = self.outside.name(name).value
        return isinstance(known, FunctionType) and self.may_be_inlined(known)

    def given_away(self, body: list) -> set:
        """The names of what is given to functions which may write into it, and of objects that are called."""
        found: set = set()
        for call in (n for s in body for n in syntax.walk(s) if isinstance(n, gast.Call)):
            if isinstance(call.func, gast.Name) and (call.func.id in self.local or self.is_apart(call)):
                found |= set().union(*map(viewed_names, [*call.args, *(k.value for k in call.keywords)]))
                found |= {call.func.id} & self.classes.keys() if self.is_apart(call) else set()
            else:
                found |= set().union(*map(viewed_names, self.written_by(call)))
        return found

    def written_by(self, call) -> list:
        """The arguments that a function of Python's, NumPy's or SciPy's writes to."""
        function = self.glimpse(call.func)
        where = effects.mutator(function)
        written = [] if where is None else call.args[where : where + 1]
        return written + effects.overwritten(function, call)

    def glimpse(self, node):
        """What a dotted name stands for at present, if it is one of what is outside; MISSING for all else."""
        if isinstance(node, gast.Name) and node.id not in self.local:
            return self.outside.place(node.id).read()
        base = self.glimpse(node.value) if isinstance(node, gast.Attribute) else resolve.MISSING
        return resolve.MISSING if base is resolve.MISSING else resolve.plain_attribute(base, node.attr)

    # ------------------------------------------------------------------------------------ the whole thing

    def parameter(self, name: str, type_: ir.Type, active) -> ir.Value:
        """A parameter of the generated function."""
        while name in self.parameter_names:
            name += "_"
        self.parameter_names.add(name)
        value = ir.Value(name, types.with_names(type_), any_active(active))
        self.parameters.append(value)
        if isinstance(active, tuple) and value.active:
            self.parts[value] = active
        if type_.kind is not Kind.NUMBER:
            object_ = type_.kind is Kind.RECORD and classes.is_plain_class(type_.cls)
            container = type_.kind in (Kind.LIST, Kind.DICT, Kind.OTHER) or object_
            self.regions[value] = effects.Region((), external=True, container=container)
            if type_.kind is Kind.ARRAY:
                self.ways[value] = ways.ITSELF
            if value.active:
                self.regions[value].freeze(())
        return value

    def activate(self, parameter: ir.Value) -> None:
        """A derivative flows from this parameter, whatever the caller's."""
        active = carrying(parameter.type)
        parameter.active = any_active(active)
        if isinstance(active, tuple):
            self.parts[parameter] = active

    def run(self):
        """Lower the body; returns the block. What the function returns is the block's one result."""
        node = self.found.node
        if self.is_top and not isinstance(node, gast.Lambda):
            self.work = self.work_names(self.body)
            self.local |= self.work.keys()
            self.bind_work_arrays()
            self.open_arguments()
        if isinstance(node, gast.AsyncFunctionDef):
            self.refuse("a coroutine is not compiled", node)
        if any(syntax.contains(s, (gast.Yield, gast.YieldFrom)) for s in self.body):
            self.refuse("a generator is not compiled", node)
        result = self.walk(self.body, self.called_later(), tail=True)
        if result is NEVER or result is None:
            result = ir.Constant(None)
        hollow = with_holders(self.unplaced, self.statements)
        block = ir.Block(without_unused(self.statements, result, self.again, hollow), (result,))
        for value in hollow.keys() & walk.read(block).keys():
            raise CompileError("a function that is not called but passed on, stored or returned", hollow[value])
        return block

    def called_later(self) -> frozenset:
        """The names that functions defined in the body read when they are called."""
        nested = [n for s in self.body for n in syntax.walk(s) if isinstance(n, syntax.FUNCTIONS)]
        return frozenset().union(*map(self.names.captured, nested)) & self.local

    def walk(self, statements: list, after: frozenset, tail: bool):
        """Lower statements; returns what they return, NEVER where they raise, None where control falls out.

        LEFT where they leave the iteration of the loop that they stand in: by `break` or by `continue`.

        `after` are the names that may be read afterwards.
        """
        afters = [after]
        for statement in reversed(statements[1:]):
            read = self.read_before.get(id(statement))
            afters.append(afters[-1] | self.names.loads(statement) | ({read} if read else set()))
        for k, statement in enumerate(statements):
            later = afters[-1 - k]
            self.current = statement
            self.session.count(self, statement)
            if isinstance(statement, gast.Return):
                return self.return_(statement, tail)
            if isinstance(statement, gast.Raise):
                self.verbatim(statement)
                return NEVER
            if isinstance(statement, (gast.Break, gast.Continue)):
                if isinstance(statement, gast.Break):
                    self.emit(ir.Exit(self.found.location(statement)))
                return LEFT
            if isinstance(statement, gast.If) and jumps(statement):
                return self.if_jumps(statement, statements[k + 1 :], after)
            if isinstance(statement, gast.If) and syntax.contains(statement, gast.Return):
                if not tail:
                    self.refuse("`return` in this place is not compiled", statement)
                return self.if_returns(statement, statements[k + 1 :], after)
            self.statement(statement, later)
        return None

    def return_(self, statement, tail):
        if not tail:
            self.refuse("`return` in this place is not compiled", statement)
        if statement.value is None:
            return ir.Constant(None)
        function = self.function_named(statement.value) if self.gives_function else None
        if function is not None:
            return function
        self.need_returned(statement.value)
        result = self.operand(self.expression(statement.value), "result")
        if not self.bodies and self.holds_callers(result):
            self.refuse("a container of the caller's that is changed is returned", statement)
        if result in self.temporaries:
            result.name = "result"
            self.temporaries.discard(result)
        self.returned.append((self.type_of(result), self.activity(result)))
        return result

    @contextmanager
    def inside_block(self, block: ir.Block):
        """Add statements to `block`."""
        outside, self.statements = self.statements, block.statements
        try:
            yield
        finally:
            self.statements = outside

    def branch(self, lower) -> tuple:
        """What `lower()` adds, in a block of its own, and its result; the environment stays as it is."""
        block, env = ir.Block(), dict(self.env)
        with self.inside_block(block):
            result = lower()
        self.env = env
        return block, result

    def perhaps(self, lower, node) -> tuple:
        """What `lower()` adds for a part of an expression that may not be evaluated, and its result."""

        def lowered():
            before = dict(self.env)
            found = lower()
            changed = [name for name, thing in before.items() if self.env.get(name) is not thing]
            if changed:
                self.refuse(f"{text(node)} changes {said(changed[0])}, and may not be evaluated", node)
            return found

        return self.branch(lowered)
