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

import sys
from contextlib import contextmanager
from types import ModuleType

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import effects, resolve, syntax
from s2sgrad.transform.frontend.calls import Calls, carrying
from s2sgrad.transform.frontend.expressions import (
    CONTAINERS,
    NUMERIC,
    SEQUENCES,
    Expressions,
    any_active,
    describe,
    either,
    is_active,
    is_live,
    item_type,
    text,
    tuple_union,
)
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import Bound, Inert, Nested, Unbound
from s2sgrad.transform.ir import Kind

NEVER = object()  # the result of a block that raises
MOST_COPIES = 12  # how often statements may be repeated in the branches of an early return
MOST_TURNS = 12  # of walking a loop until nothing changes

LOOPS = (gast.For, gast.While, gast.AsyncFor)


class Lowering(Calls, Expressions):
    """One function being lowered.

    Parameters
    ----------
    session : Session
        What is shared by all functions of one derivative.
    found : source.Found
    namespace : ir.Namespace
    outer_local : frozenset
        Names of enclosing functions that are local here by being passed.
    """

    def __init__(self, session, found, namespace, outer_local=frozenset()):
        self.session = session
        self.found = found
        self.names = session.names
        self.outside = resolve.Outside(namespace, session.guards, session.known)
        self.namespace = namespace
        self.current = found.node
        self.statements: list = []
        self.env: dict = {}
        self.parts: dict = {}
        self.regions: dict = {}
        self.constants: dict = {}
        self.temporaries: set = set()
        self.object_regions: dict = session.object_regions
        self.anywhere = effects.Region((), external=True)
        self.loops: tuple = ()
        self.copies = 0
        self.writes_outside = False
        self.returned: list = []
        self.parameter_names: set = set()
        body = [found.node.body] if isinstance(found.node, gast.Lambda) else found.node.body
        self.local = set(syntax.parameters(found.node)) | set(outer_local)
        self.identifiers: set = set(self.local)
        outer = set().union(*map(syntax.declared, body))
        for statement in body:
            self.local |= self.names.stores(statement)
            self.identifiers |= self.names.loads(statement) | self.names.stores(statement)
        if outer:
            self.refuse(f"{min(outer)} is rebound outside of the function (global or nonlocal)", found.node)
        self.bindings = count_bindings(body, syntax.parameters(found.node))
        self.mutable = mutable_names(body, self.names)
        self.body = body

    # ------------------------------------------------------------------------------------ the whole thing

    def parameter(self, name: str, type_: ir.Type, active) -> ir.Value:
        """A parameter of the generated function."""
        while name in self.parameter_names:
            name += "_"
        self.parameter_names.add(name)
        value = ir.Value(name, type_, any_active(active))
        if isinstance(active, tuple) and value.active:
            self.parts[value] = active
        if type_.kind is not Kind.NUMBER:
            container = type_.kind in (Kind.LIST, Kind.DICT, Kind.OTHER)
            self.regions[value] = effects.Region((), external=True, container=container)
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
        if isinstance(node, gast.AsyncFunctionDef):
            self.refuse("a coroutine is not compiled", node)
        if isinstance(node, gast.Lambda):
            result = self.operand(self.expression(node.body), "result")
        else:
            if any(syntax.contains(s, (gast.Yield, gast.YieldFrom)) for s in self.body):
                self.refuse("a generator is not compiled", node)
            result = self.walk(self.body, frozenset(), tail=True)
        if result is NEVER or result is None:
            result = ir.Constant(None)
        statements = without_unused_definitions(self.statements, result)
        return ir.Block(statements, (result,))

    def walk(self, statements: list, after: frozenset, tail: bool):
        """Lower statements; returns what they return, NEVER where they raise, None where control falls out.

        `after` are the names that may be read afterwards.
        """
        for k, statement in enumerate(statements):
            self.current = statement
            rest = statements[k + 1 :]
            if isinstance(statement, gast.Return):
                return self.return_(statement, tail)
            if isinstance(statement, gast.Raise):
                self.verbatim(statement)
                return NEVER
            if isinstance(statement, gast.If) and syntax.contains(statement, gast.Return):
                if not tail:
                    self.refuse("`return` inside of a loop is not compiled", statement)
                return self.if_returns(statement, rest, after)
            later = after.union(*map(self.names.loads, rest))
            self.statement(statement, later)
        return None

    def return_(self, statement, tail):
        if not tail:
            self.refuse("`return` inside of a loop is not compiled", statement)
        if statement.value is None:
            return ir.Constant(None)
        result = self.operand(self.expression(statement.value), "result")
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

    # ----------------------------------------------------------------------------------------- statements

    def statement(self, statement, after: frozenset) -> None:
        handler = getattr(self, f"statement_{type(statement).__name__}", None)
        if handler is not None:
            handler(statement, after)
        elif not isinstance(statement, gast.Pass):
            self.verbatim(statement)

    def statement_Expr(self, statement, after):
        if isinstance(statement.value, gast.Constant):
            return
        if self.may_be_active(statement.value):
            thing = self.expression(statement.value)
            if not isinstance(thing, Inert):
                return
        self.verbatim(statement)

    def statement_Import(self, statement, after):
        self.verbatim(statement)
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.imported(name, sys.modules.get(alias.name if alias.asname else name))

    def statement_ImportFrom(self, statement, after):
        self.verbatim(statement)
        module = sys.modules.get(statement.module or "") if not statement.level else None
        for alias in statement.names:
            self.imported(alias.asname or alias.name, getattr(module, alias.name, None))

    def imported(self, name: str, value) -> None:
        """A name that an import in the function binds to something of NumPy, SciPy or the standard library."""
        trusted = value.__name__.partition(".")[0] in resolve.TRUSTED if isinstance(value, ModuleType) else False
        if trusted or (resolve.is_definition(value) and resolve.is_trusted(value)):
            self.env[name] = Known(value, self.env[name])

    def statement_Assert(self, statement, after):
        test = self.inert(statement.test)
        if statement.msg is not None:
            self.inert(statement.msg)
        self.emit(ir.Verbatim(statement, test.reads | self.reads_of(statement), {}, self.found.location(statement)))

    def reads_of(self, statement) -> dict:
        return {n: self.data(self.env[n], statement) for n in self.names.loads(statement) if n in self.env}

    def statement_AnnAssign(self, statement, after):
        if statement.value is not None:
            if not isinstance(statement.target, gast.Name):
                self.store(statement.target, self.expression(statement.value), statement)
            else:
                self.assign(statement.target, self.expression(statement.value), statement)

    def statement_Assign(self, statement, after):
        thing = self.expression(statement.value)
        several = len(statement.targets) > 1
        if several and isinstance(thing, Inert):
            thing = self.bind(thing, target_name(statement.targets[-1]) or "t")
        for target in statement.targets:
            self.assign(target, thing, statement)

    def assign(self, target, thing, statement) -> None:
        """``target = thing``."""
        if isinstance(target, gast.Name):
            self.assign_name(target.id, thing)
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, thing, statement)
        else:
            self.store(target, thing, statement)

    def assign_name(self, name: str, thing) -> None:
        if isinstance(thing, Known):
            operand = thing.operand
            if isinstance(operand, ir.Code):
                inert = Inert(operand.node, operand.reads, operand.type, False, True, self.regions_of(thing))
                value = self.bind(inert, name)
                self.temporaries.discard(value)
                data = not resolve.is_definition(thing.value)
                thing = value if data else Known(thing.value, value)
        elif isinstance(thing, Inert):
            if isinstance(thing.node, gast.Name) and thing.node.id in thing.reads and name not in self.mutable:
                thing = thing.reads[thing.node.id]
            else:
                thing = self.bind(thing, name)
        elif isinstance(thing, (ir.Constant, ir.Code)):
            node = gast.Constant(thing.value, None) if isinstance(thing, ir.Constant) else thing.node
            thing = self.bind(Inert(node, getattr(thing, "reads", {}), self.type_of(thing), True, True, []), name)
        made = thing.value if isinstance(thing, Nested) else thing
        if made in self.temporaries:
            made.name = name
            self.temporaries.discard(made)
        self.env[name] = thing

    def unpack(self, target, thing, statement) -> None:
        t = self.type_of(thing)
        if isinstance(thing, (Nested, Bound)):
            self.refuse("a function is unpacked", statement)
        starred = any(isinstance(e, gast.Starred) for e in target.elts)
        if not is_active(thing):
            self.unpack_inert(target, thing, statement)
            return
        if starred:
            self.unpack_starred(target, thing, statement)
            return
        if t.kind is Kind.ARRAY and t.ndim is not None or t.kind in SEQUENCES or (t.kind is Kind.RECORD and issubclass(t.cls, tuple)):
            if t.items is not None and len(t.items) != len(target.elts):
                self.refuse(f"{len(t.items)} values are unpacked into {len(target.elts)} names", statement)
        else:
            self.refuse("what is unpacked here cannot be told", statement)
        targets = self.pattern(target, t, self.activity(thing), self.regions_of(thing), statement)
        self.emit(ir.Unpack(targets, thing, self.found.location(statement)))

    def unpack_starred(self, target, thing, statement) -> None:
        """``a, *b = thing`` for a container of known length."""
        t = self.type_of(thing)
        if t.kind not in SEQUENCES or t.items is None:
            self.refuse("`*` in the target of an assignment of values that carry a derivative", statement)
        items = self.items_of(thing, statement)
        i = next(i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred))
        last = len(items) - (len(target.elts) - i - 1)
        if last < i:
            self.refuse(f"{len(items)} values are unpacked into {len(target.elts) - 1} names", statement)
        middle = items[i:last]
        rest = self.make_container(types.sequence(Kind.LIST, list(map(self.type_of, middle))), middle, statement)
        plain = [e.value if isinstance(e, gast.Starred) else e for e in target.elts]
        for element, item in zip(plain, [*items[:i], rest, *items[last:]], strict=True):
            self.assign(element, item, statement)

    def pattern(self, target, t: ir.Type, active, regions, statement) -> tuple:
        """Values for the parts of what is unpacked, assigned to the names of `target`."""
        found = []
        if t.items is not None and len(t.items) != len(target.elts):
            self.refuse(f"{len(t.items)} values are unpacked into {len(target.elts)} names", statement)
        for i, element in enumerate(target.elts):
            if isinstance(element, gast.Starred):
                self.refuse("`*` in the target of an assignment of values that carry a derivative", statement)
            item = item_type(t, i)
            on = active[i] if isinstance(active, tuple) else active and carries(item)
            if isinstance(element, (gast.Tuple, gast.List)):
                if any_active(on) and item.kind not in (*SEQUENCES, Kind.ARRAY):
                    self.refuse("what is unpacked here cannot be told", statement)
                found.append(self.pattern(element, item, on, regions, statement))
            else:
                value = self.value(target_name(element) or "t", item, on, regions)
                if isinstance(element, gast.Name):
                    self.env[element.id] = value
                else:
                    self.store(element, value, statement)
                found.append(value)
        return tuple(found)

    def unpack_inert(self, target, thing, statement) -> None:
        t = self.type_of(thing)
        operand = self.operand(thing, "items")
        simple = all(isinstance(n, (gast.Name, gast.Tuple, gast.List)) for n in targets_of(target))
        regions = self.regions_of(operand)
        if simple and not self.is_changed(target):
            fine = t if t.kind in (*SEQUENCES, Kind.ARRAY) else ir.UNKNOWN
            targets = self.inert_pattern(target, fine, self.inside(regions))
            self.emit(ir.Unpack(targets, operand, self.found.location(statement)))
            return
        label = self.label(operand, ()) if isinstance(operand, ir.Value) else "items_"
        node = gast.Assign([target], gast.Name(label, gast.Load(), None, None), None)
        if not isinstance(operand, ir.Value):
            operand = self.bind(self.inert(statement.value), "items")
            label = self.label(operand, ())
            node = gast.Assign([target], gast.Name(label, gast.Load(), None, None), None)
        self.write_targets(target, statement)
        writes = {}
        for name, kind in self.target_types(target, t).items():
            writes[name] = self.env[name] = self.value(name, kind, False, self.inside(regions))
        reads = {label: operand} | self.reads_of(target)
        self.emit(ir.Verbatim(node, reads, writes, self.found.location(statement)))

    def is_changed(self, target) -> bool:
        return not self.mutable.isdisjoint(self.names.stores(target))

    def inert_pattern(self, target, t, regions) -> tuple:
        found = []
        for i, element in enumerate(target.elts):
            item = item_type(t, i) if t.items is None or i < len(t.items) else ir.UNKNOWN
            if isinstance(element, (gast.Tuple, gast.List)):
                found.append(self.inert_pattern(element, item, regions))
            else:
                value = self.env[element.id] = self.value(element.id, item, False, regions)
                found.append(value)
        return tuple(found)

    def write_targets(self, target, statement) -> None:
        for node in targets_of(target):
            if isinstance(node, (gast.Subscript, gast.Attribute)):
                self.write(node.value, statement)

    def store(self, target, thing, statement) -> None:
        """``target[...] = thing`` or ``target.name = thing``."""
        what = text(target)
        if is_live(thing, self):
            self.refuse(f"a value that carries a derivative is stored in {what}", statement)
        root = target
        while isinstance(root, (gast.Subscript, gast.Attribute)):
            root = root.value
        if isinstance(root, gast.Name) and is_active(self.env.get(root.id)):
            self.refuse(f"{root.id} carries a derivative and is changed in place", statement)
        operand = self.operand(thing)
        self.write(target.value, statement)
        for region in self.facts(target.value, {})[3]:
            for other in self.regions_of(operand):
                region.join(other)
        if isinstance(thing, Inert) and not isinstance(operand, ir.Value):
            node, reads = gast.Assign([target], thing.node, None), thing.reads
        else:
            label = self.label(operand, ()) if isinstance(operand, ir.Value) else None
            value = gast.Name(label, gast.Load(), None, None) if label else code_node(operand)
            node, reads = gast.Assign([target], value, None), ({label: operand} if label else getattr(operand, "reads", {}))
        reads = reads | self.reads_of(target)
        self.emit(ir.Verbatim(node, reads, {}, self.found.location(statement)))

    def statement_AugAssign(self, statement, after):
        target = statement.target
        if not isinstance(target, gast.Name):
            if self.may_be_active(statement.value) and not isinstance(self.expression_or_none(statement.value), Inert):
                self.refuse(f"a value that carries a derivative is stored in {text(target)}", statement)
            self.write(target.value, statement)
            inert = self.inert(statement.value)
            reads = inert.reads | self.reads_of(target)
            self.emit(ir.Verbatim(statement, reads, {}, self.found.location(statement)))
            return
        name = target.id
        if name not in self.env:
            self.refuse(f"{name} may have no value here", statement)
        kind = self.type_of(self.env[name]).kind
        load = gast.Name(name, gast.Load(), None, None)
        if kind is Kind.NUMBER or (kind in (Kind.TUPLE,)):
            binary = gast.BinOp(load, statement.op, statement.value)
            binary.lineno = statement.lineno
            self.assign_name(name, self.expression(binary))
            return
        live = is_live(self.env[name], self) or self.may_be_active(statement.value)
        if live:
            what = "an array" if kind is Kind.ARRAY else "a list" if kind is Kind.LIST else "perhaps an array"
            self.refuse(f"{name} is {what}: the augmented assignment changes it in place, which is not compiled", statement)
        if kind is Kind.OTHER and self.type_of(self.env[name]).cls in (None, str):
            self.verbatim(statement)
            return
        self.write(load, statement)
        inert = self.inert(statement.value)
        old = self.env[name]
        result = self.value(name, self.type_of(old) if kind is Kind.ARRAY else ir.UNKNOWN, False, self.regions_of(old))
        reads = inert.reads | {name: self.data(old, statement)}
        self.emit(ir.Verbatim(statement, reads, {name: result}, self.found.location(statement)))
        self.env[name] = result

    def expression_or_none(self, node):
        """`node` lowered on trial: an `Inert`, or None where anything else comes out."""
        block, result = self.branch(lambda: self.expression(node))
        return result if isinstance(result, Inert) and not block.statements else None

    def statement_FunctionDef(self, statement, after):
        if statement.decorator_list:
            self.verbatim(statement)
            return
        nested = self.nested(statement)
        self.env[statement.name] = nested

    def nested(self, node) -> Nested:
        """A function defined here."""
        args = node.args
        names = [a.id for a in [*args.posonlyargs, *args.args]]
        pairs = list(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
        pairs += [(a.id, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        defaults = {}
        for name, default in pairs:
            thing = self.expression(default)
            defaults[name] = self.operand(thing, name) if isinstance(thing, Inert) else thing
        found = Nested(node, self, defaults)
        captured = [n for n in self.names.captured(node) if n in self.local and n != found.name]
        live = any(is_live(self.env.get(n), self) for n in captured) or any(is_live(d, self) for d in defaults.values())
        if all(n in self.env for n in captured) and not live and not any(isinstance(self.env[n], Unbound) for n in captured):
            self.define(found, captured, pairs)
        return found

    def define(self, nested: Nested, captured: list, defaults: list) -> None:
        """Define the nested function in the generated code too, as a value; it is left out if nothing uses it."""
        node = nested.node
        try:
            reads = {n: self.data(self.env[n], node) for n in captured}
            for _, default in defaults:
                reads |= self.inert(default).reads
        except CompileError:
            return
        nested.value = self.value(getattr(node, "name", "function"), ir.Type(Kind.CALLABLE), False, [self.anywhere])
        place = self.found.location(node)
        if isinstance(node, gast.Lambda):
            self.emit(ir.Bind(nested.value, ir.Code(node, reads, nested.value.type), place))
            self.temporaries.add(nested.value)
        else:
            self.emit(ir.Verbatim(node, reads, {node.name: nested.value}, place))

    # ------------------------------------------------------------------------------------------- branches

    def test(self, node) -> tuple:
        """The operand of a test, and what it surely is (True, False, or None where only the run will tell)."""
        decided = self.decide(node)
        if decided is not None:
            return ir.Constant(decided), decided
        return self.place(self.inert(node), "test"), None

    def decide(self, node) -> bool | None:
        """The truth of a test that the types decide: ``x is None``, a literal."""
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            inner = self.decide(node.operand)
            return None if inner is None else not inner
        if isinstance(node, gast.Name) and isinstance(self.env.get(node.id), ir.Value):
            literal = self.constants.get(self.env[node.id])
            return bool(literal.value) if literal is not None and isinstance(literal.value, (bool, type(None))) else None
        if isinstance(node, gast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (gast.Is, gast.IsNot)):
            other = node.comparators[0]
            if isinstance(node.left, gast.Name) and isinstance(other, gast.Constant) and other.value is None:
                same = self.is_none(self.env.get(node.left.id))
                return None if same is None else same == isinstance(node.ops[0], gast.Is)
        return None

    def is_none(self, thing) -> bool | None:
        if isinstance(thing, (Nested, Bound)):
            return False
        if isinstance(thing, Known):
            return thing.value is None if resolve.is_definition(thing.value) else None
        if isinstance(thing, ir.Value):
            if thing in self.constants:
                return self.constants[thing].value is None
            if thing.type.kind in (Kind.NUMBER, Kind.ARRAY, *CONTAINERS):
                return False
        return None

    def statement_If(self, statement, after):
        test, decided = self.test(statement.test)
        if decided is not None:
            self.walk(statement.body if decided else statement.orelse, after, tail=False)
            return
        before = self.env
        then, env_then, end_then = self.arm(statement.body, after)
        orelse, env_else, end_else = self.arm(statement.orelse, after)
        if end_then is NEVER or end_else is NEVER:
            self.env = env_else if end_then is NEVER else env_then
            if end_then is NEVER and end_else is NEVER:
                self.env = before
            alive, env = (orelse, env_else) if end_then is NEVER else (then, env_then)
            self.hand_on(statement, test, then, orelse, alive, env, before)
            return
        results = []
        self.env = dict(before)
        for name in sorted({*env_then, *env_else}):
            a, b = env_then.get(name), env_else.get(name)
            if a is b:
                self.env[name] = a
                continue
            if name not in after:
                self.env.pop(name, None)
                continue
            merged = self.merge_entry(name, a, b, then, orelse, statement)
            self.env[name] = merged
            if isinstance(merged, ir.Value):
                results.append(merged)
        self.emit(ir.If(test, then, orelse, tuple(results), self.found.location(statement)))

    def arm(self, body: list, after: frozenset) -> tuple:
        """A branch: its block, the environment at its end, and NEVER where it raises."""
        block, env = ir.Block(), self.env
        self.env = dict(env)
        with self.inside_block(block):
            end = self.walk(body, after, tail=False)
        found, self.env = self.env, env
        return block, found, end

    def merge_entry(self, name, a, b, then: ir.Block, orelse: ir.Block, statement):
        """What `name` stands for after one of two branches; hands the value on from both."""
        if a is None or b is None or isinstance(a, Unbound) or isinstance(b, Unbound):
            reason = next((t.reason for t in (a, b) if isinstance(t, Unbound)), f"{name} may have no value here: it is assigned in one branch only")
            return Unbound(reason)
        if isinstance(a, Known) and isinstance(b, Known) and a.value is b.value and a.operand is b.operand:
            return a
        if not isinstance(a, ir.Value) or not isinstance(b, ir.Value):
            return Unbound(f"{name} is a function that depends on a test")
        merged = self.merged(name, a, b, statement)
        then.results = (*then.results, a)
        orelse.results = (*orelse.results, b)
        return merged

    def hand_on(self, statement, test, then, orelse, alive, env, before) -> None:
        """An `If` one branch of which raises: what the other one assigned goes on."""
        results = []
        dead = orelse if alive is then else then
        for name, thing in env.items():
            if thing is not before.get(name):
                if isinstance(thing, ir.Value):
                    after = self.value(name, thing.type, self.activity(thing), self.regions_of(thing))
                    results.append(after)
                    alive.results = (*alive.results, thing)
                    dead.results = (*dead.results, ir.Constant(None))
                    self.env[name] = after
        self.emit(ir.If(test, then, orelse, tuple(results), self.found.location(statement)))

    def if_returns(self, statement, rest: list, after: frozenset):
        """An `if` that may return: what follows it moves into the branches that go on."""
        test, decided = self.test(statement.test)
        goes_on = [not syntax.ends(statement.body), not syntax.ends(statement.orelse)]
        if decided is not None:
            body = statement.body if decided else statement.orelse
            return self.walk([*body, *rest] if goes_on[0 if decided else 1] else body, after, tail=True)
        if all(goes_on) and rest:
            self.copies += 1
            if self.copies > MOST_COPIES:
                self.refuse("too many `return` statements inside of `if` statements", statement)
        then = [*statement.body, *rest] if goes_on[0] else statement.body
        orelse = [*statement.orelse, *rest] if goes_on[1] else statement.orelse
        block_then, first = self.branch(lambda: self.walk(then, after, tail=True))
        block_else, second = self.branch(lambda: self.walk(orelse, after, tail=True))
        first = ir.Constant(None) if first is None else first
        second = ir.Constant(None) if second is None else second
        self.current = statement
        if first is NEVER and second is NEVER:
            self.emit(ir.If(test, block_then, block_else, (), self.found.location(statement)))
            return NEVER
        if first is NEVER or second is NEVER:
            alive, block, dead = (second, block_else, block_then) if first is NEVER else (first, block_then, block_else)
            result = self.value("result", self.type_of(alive), self.activity(alive), self.regions_of(alive))
            block.results, dead.results = (alive,), (ir.Constant(None),)
            self.emit(ir.If(test, block_then, block_else, (result,), self.found.location(statement)))
            return result
        result = self.choose(test, block_then, first, block_else, second, statement, "result")
        self.temporaries.discard(result)
        return result

    # ---------------------------------------------------------------------------------------------- loops

    def statement_For(self, statement, after):
        if syntax.contains(statement, gast.Return):
            self.refuse("`return` inside of a loop is not compiled", statement)
        if not self.may_be_active(statement):
            self.inert_loop(statement, after)
        elif isinstance(statement.iter, (gast.List, gast.Tuple)) and self.are_functions(statement.iter.elts):
            self.unrolled(statement, after)
        else:
            self.for_(statement, after)

    def are_functions(self, nodes) -> bool:
        """Is each of these a function that is known before the program runs?"""
        known = [isinstance(n, gast.Lambda) or self.static(n) for n in nodes]
        return bool(known) and all(k is True or (k and resolve.is_definition(k.value)) for k in known)

    def unrolled(self, statement, after) -> None:
        """A loop over a few functions: its body once for each."""
        if any(jumps(s) for s in statement.body):
            self.refuse("`break` and `continue` in a loop that a derivative flows through are not compiled", statement)
        for node in statement.iter.elts:
            self.assign(statement.target, self.expression(node), statement)
            self.walk(statement.body, after | self.names.loads(statement), tail=False)
        self.walk(statement.orelse, after, tail=False)

    def for_(self, statement, after) -> None:
        if any(jumps(s) for s in statement.body):
            self.refuse("`break` and `continue` in a loop that a derivative flows through are not compiled", statement)
        make_sources = self.sources(statement)
        stores = self.names.stores(statement)
        exposed = exposed_names([*statement.body], self.names)
        inner_after = after | exposed

        def turn():
            self.env.update({n: Unbound(f"{n} may have no value here") for n in stores if n not in self.env})
            sources = make_sources()
            end = self.walk(statement.body, inner_after, tail=False)
            if end is NEVER:
                self.refuse("`raise` at the end of a loop", statement)
            return sources

        after_loop = after.union(*map(self.names.loads, statement.orelse))
        sources, carried, body = self.fixpoint(stores, exposed, after_loop, turn, statement)
        self.emit(ir.For(sources, carried, body, [], self.found.location(statement)))
        if statement.orelse:  # there is no `break`
            self.walk(statement.orelse, after, tail=False)

    def fixpoint(self, stores, exposed, after, turn, statement) -> tuple:
        """Walk a loop until what it carries is stable: what `turn` gave, the carried values, the body.

        Afterwards the environment is that after the loop.
        """
        before = dict(self.env)
        names = sorted(n for n in stores if (n in before and (n in exposed or n in after)) or n in after)
        state = {}
        for name in names:
            thing = before.get(name)
            if isinstance(thing, ir.Value):
                state[name] = (thing.type, self.activity(thing))
        self.loops = (*self.loops, object())
        try:
            for _ in range(MOST_TURNS):
                self.env = dict(before)
                block = ir.Block()
                parameters = {}
                for name, (t, active) in state.items():
                    if isinstance(before.get(name), ir.Value):
                        value = ir.Value(name, t, any_active(active))
                        self.adopt(value, active, [r for r in self.regions_of(before[name])])
                        parameters[name] = self.env[name] = value
                with self.inside_block(block):
                    made = turn()
                end = self.env
                changed = self.next_state(state, names, before, end, statement)
                if not changed:
                    break
            else:
                self.refuse("what this loop carries from turn to turn has no stable type", statement)
        finally:
            self.loops = self.loops[:-1]
        self.env = dict(before)
        carried, results = [], []
        for name in names:
            if name in state:
                t, active = state[name]
                last = end[name]
                initial = before.get(name)
                parameter = parameters.get(name)
                if parameter is None:
                    parameter = self.value(name, t, active)
                for region in self.regions_of(last):
                    for other in self.regions_of(parameter):
                        region.join(other)
                start = self.literal(initial) if isinstance(initial, ir.Value) else ir.Constant(None)
                result = self.value(name, t, active, self.regions_of(last))
                carried.append(ir.Carried(parameter, start, result))
                results.append(last)
                self.env[name] = result
            elif name in end and end[name] is before.get(name):
                self.env[name] = end[name]
            else:
                thing = end.get(name)
                self.env[name] = thing if isinstance(thing, Unbound) else Unbound(f"{name} is a function that depends on a loop")
        for name in stores - set(names):
            self.env.pop(name, None)
        block.results = tuple(results)
        return made, carried, block

    def adopt(self, value, active, regions) -> None:
        """Take a value made elsewhere into account."""
        if isinstance(active, tuple) and value.active:
            self.parts[value] = active
        if value.type.kind is not Kind.NUMBER:
            region = effects.Region(self.loops[:-1])
            for other in regions:
                region = region.join(other)
            self.regions[value] = region
            if value.active:
                region.root().freeze(self.loops)

    def next_state(self, state, names, before, end, statement) -> bool:
        """Join what the end of a turn hands on into `state`; has it changed?"""
        changed = False
        for name in names:
            thing, start = end.get(name), before.get(name)
            if thing is None or isinstance(thing, (Unbound, Known, Nested, Bound)) or not isinstance(thing, ir.Value):
                if name in state:
                    if thing is start:
                        continue
                    self.refuse(f"{name} stands for different kinds of things in the turns of this loop", statement)
                continue
            if start is not None and not isinstance(start, (ir.Value, Unbound)):
                self.refuse(f"{name} stands for different kinds of things in the turns of this loop", statement)
            t, active = thing.type, self.activity(thing)
            if name in state:
                old, old_active = state[name]
                new, new_active = types.join(old, t), either(old_active, active)
                if any_active(new_active):
                    self.check_join(old, t, new, statement)
                changed = changed or (new, new_active) != (old, old_active)
            else:  # bound in the loop only: it is not carried, what it is at the end goes on
                new, new_active = t, active
            state[name] = (new, new_active)
        return changed

    def sources(self, statement):
        """Prepares the iterables of a loop; returns a function that binds the targets, one turn of the walk each."""
        plans: list = []
        self.plan(statement.iter, statement.target, plans, statement)
        return lambda: [self.source(plan, statement) for plan in plans]

    def plan(self, iterable, target, plans: list, statement, reverse=False) -> None:
        """Take ``enumerate``, ``zip`` and ``reversed`` of differentiated things apart."""
        if not self.may_be_active(iterable):
            operand = self.iterable(iterable)
            element = self.element_type(self.facts(iterable, {})[0], iterable)
            plans.append(("plain", operand, target, element, False, reverse))
            return
        if isinstance(iterable, gast.Call):
            known = self.static(iterable.func)
            function = known.value if known is not None else None
            if function is enumerate and len(iterable.args) in (1, 2) and is_pair(target) and not reverse:
                start = iterable.args[1] if len(iterable.args) == 2 else next((k.value for k in iterable.keywords), None)
                start = ir.Constant(0) if start is None else self.place(self.inert(start), "start")
                plans.append(("count", start, target.elts[0], ir.INT, False, False))
                self.plan(iterable.args[0], target.elts[1], plans, statement)
                return
            if function is zip and not iterable.keywords and not reverse and not any(isinstance(a, gast.Starred) for a in iterable.args):
                parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else []
                if len(parts) == len(iterable.args):
                    for argument, element in zip(iterable.args, parts, strict=True):
                        self.plan(argument, element, plans, statement)
                    return
            if function is reversed and len(iterable.args) == 1:
                self.plan(iterable.args[0], target, plans, statement, not reverse)
                return
            if function in (enumerate, zip, reversed, map, filter, iter, list, tuple, sorted):
                self.refuse(f"{text(iterable.func)}() over values that carry a derivative, in this form", statement)
        thing = self.expression(iterable)
        if not is_active(thing):
            plans.append(("plain", self.operand(thing), target, self.element_type(self.type_of(thing)), False, reverse))
            return
        t = self.type_of(thing)
        if t.kind is Kind.DICT:
            plans.append(("plain", self.operand(thing), target, ir.OTHER, False, reverse))
            return
        if not (t.kind is Kind.ARRAY and t.ndim or t.kind in SEQUENCES):
            self.refuse("what this loop iterates over cannot be told", statement)
        active = self.activity(thing)
        element = self.element_type(t)
        if t.kind in SEQUENCES:
            active = tuple_union(active) if isinstance(active, tuple) else active and carries(element)
            items = t.items or ()
            for item in items[1:]:
                self.check_join(items[0], item, types.join(items[0], item), statement)
            if any_active(active) and element == ir.UNKNOWN:
                self.refuse("what this loop iterates over cannot be told", statement)
        self.freeze([thing], statement)
        plans.append(("plain", thing, target, element, active, reverse))

    def iterable(self, node):
        """The operand that an inactive loop source is."""
        inert = self.inert(node)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and inert.pure:
            if node.func.id not in self.local and self.outside.name(node.func.id).value in (range, enumerate, zip, reversed):
                return inert.code()
        return self.operand(inert, "items")

    def source(self, plan, statement) -> ir.Source:
        kind, operand, target, element, active, reverse = plan
        regions = [] if kind == "count" else self.inside(self.regions_of(operand))
        bound = self.loop_target(target, element, active, regions, statement)
        if kind == "count":
            return ir.Source(bound, None, count=True, start=operand)
        return ir.Source(bound, operand, reverse)

    def loop_target(self, target, element, active, regions, statement):
        if isinstance(target, gast.Name):
            value = self.value(target.id, element, active, regions)
            self.env[target.id] = value
            return value
        if isinstance(target, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in target.elts):
            if any_active(active) and element.kind not in (*SEQUENCES, Kind.ARRAY):
                self.refuse("what is unpacked here cannot be told", statement)
            if any_active(active):
                return self.pattern(target, element, active, regions, statement)
            if all(isinstance(n, (gast.Name, gast.Tuple, gast.List)) for n in targets_of(target)):
                fine = element if element.kind in (*SEQUENCES, Kind.ARRAY) else ir.UNKNOWN
                return self.inert_pattern(target, fine, regions)
        self.refuse("this form of loop variable is not compiled", statement)

    def inert_loop(self, statement, after) -> None:
        """A loop that no derivative flows through: it stays as it is; only the types of its names are found."""
        known = self.attempt(statement, after)
        self.verbatim(statement, known)

    def attempt(self, statement, after) -> dict:
        """The types of the names that a loop binds, as far as they can be told by walking it."""
        outside = self.statements, self.env, self.current
        self.statements, self.env = [], dict(self.env)
        try:
            if isinstance(statement, gast.For):
                self.for_(statement, after | self.names.stores(statement))
            else:
                stores, exposed = self.names.stores(statement), exposed_names(statement.body, self.names)

                def turn():
                    self.env.update({n: Unbound("") for n in stores if n not in self.env})
                    self.inert(statement.test)
                    self.walk(statement.body, after | exposed | stores, tail=False)

                self.fixpoint(stores, exposed, after | stores, turn, statement)
            return {n: self.env[n].type for n in self.names.stores(statement) if isinstance(self.env.get(n), ir.Value)}
        except CompileError:
            return {}
        finally:
            self.statements, self.env, self.current = outside

    def statement_While(self, statement, after):
        if self.may_be_active(statement):
            self.refuse("a `while` loop that a derivative flows through is not compiled", statement)
        if syntax.contains(statement, gast.Return):
            self.refuse("`return` inside of a loop is not compiled", statement)
        self.inert_loop(statement, after)

    # -------------------------------------------------------------------------------- verbatim statements

    def verbatim(self, statement, known=None) -> None:
        """A statement of the user's that no derivative flows through."""
        simple = isinstance(statement, (gast.Expr, gast.Raise))
        if not simple and self.may_be_active(statement):
            self.refuse(f"{describe(statement)} that a derivative flows through is not compiled", statement)
        if not simple and syntax.contains(statement, (gast.Return, gast.Global, gast.Nonlocal)):
            self.refuse(f"`return` inside of {describe(statement)} is not compiled", statement)
        stores = self.names.stores(statement)
        bound = {name: (known or {}).get(name, ir.UNKNOWN) for name in stores if name not in self.env or name in (known or {})}
        self.effects_of(statement, bound)
        reads = {}
        for name in self.names.loads(statement):
            if name in self.env:
                if isinstance(self.env[name], Unbound) and name in stores:
                    continue
                reads[name] = self.data(self.env[name], statement)
            elif name in self.local and name not in stores:
                self.refuse(f"{name} may have no value here", statement)
        writes = {}
        regions = [r for v in reads.values() for r in self.regions_of(v)]
        for name in sorted(stores):
            t = (known or {}).get(name, ir.UNKNOWN)
            old = self.env.get(name)
            if known is None and isinstance(old, ir.Value) and isinstance(statement, LOOPS):
                t = ir.UNKNOWN
            writes[name] = self.value(name, t, False, [*regions, self.anywhere])
            self.env[name] = writes[name]
        self.emit(ir.Verbatim(statement, reads, writes, self.found.location(statement)))

    def effects_of(self, statement, bound: dict) -> None:
        """Registers what a statement writes to, and refuses what cannot be seen."""
        for node in gast.walk(statement):
            if isinstance(node, syntax.FUNCTIONS) and not isinstance(node, gast.Lambda) or isinstance(node, gast.ClassDef):
                self.refuse(f"{describe(node)} in this place is not compiled", statement)
            if isinstance(node, (gast.Yield, gast.YieldFrom, gast.Await, gast.NamedExpr)):
                self.refuse(f"{describe(node)} is not compiled", statement)
            if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
                self.write(node.value, statement, bound)
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                name = node.target.id
                t = bound.get(name) or self.type_of(self.env[name]) if name in self.env or name in bound else ir.UNKNOWN
                if t.kind is not Kind.NUMBER and not (t.kind is Kind.OTHER and t.cls in (None, str)):
                    self.write(gast.Name(name, gast.Load(), None, None), statement, bound)
        for node in expressions_of(statement):
            self.facts(node, bound)


# ---------------------------------------------------------------------------------------------- helpers


def carries(t: ir.Type) -> bool:
    """Can a derivative flow through a value of this type?"""
    if t.kind in CONTAINERS:
        return True
    return t.kind in NUMERIC and not (t.dtype is not None and t.dtype.startswith(("int", "uint", "bool")))


def expressions_of(statement):
    """The outermost expressions that a statement evaluates."""
    for child in gast.iter_child_nodes(statement):
        if isinstance(child, gast.expr):
            if isinstance(getattr(child, "ctx", None), (gast.Store, gast.Del)):
                yield from (c.slice for c in gast.walk(child) if isinstance(c, gast.Subscript))
                yield from (c.value for c in targets_of(child) if isinstance(c, (gast.Subscript, gast.Attribute)))
            else:
                yield child
        elif not isinstance(child, (gast.expr_context, gast.operator, gast.alias)):
            yield from expressions_of(child)


def targets_of(target):
    """The parts of an assignment target, itself included."""
    yield target
    if isinstance(target, (gast.Tuple, gast.List)):
        for element in target.elts:
            yield from targets_of(element)
    elif isinstance(target, gast.Starred):
        yield from targets_of(target.value)


def target_name(target) -> str:
    return target.id if isinstance(target, gast.Name) else ""


def is_pair(target) -> bool:
    return isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == 2


def code_node(operand):
    return gast.Constant(operand.value, None) if isinstance(operand, ir.Constant) else operand.node


def jumps(statement) -> bool:
    """Does a `break` or `continue` of the loop around it stand in `statement`?"""
    if isinstance(statement, (gast.Break, gast.Continue)):
        return True
    if isinstance(statement, (*LOOPS, *syntax.FUNCTIONS)):
        return False
    return any(jumps(child) for child in gast.iter_child_nodes(statement) if not isinstance(child, gast.expr))


def exposed_names(body: list, names: syntax.Names) -> frozenset:
    """The names that `body` may read before it has assigned them.

    >>> tree = gast.parse("y = x\\nz = y + z")
    >>> sorted(exposed_names(tree.body, syntax.Names()))
    ['x', 'z']
    """
    return frozenset(_exposed(body, names, set())[0])


def _exposed(body, names, done: set) -> tuple:
    found: set = set()
    done = set(done)
    for s in body:
        if isinstance(s, gast.If):
            found |= names.loads(s.test) - done
            first, done_then = _exposed(s.body, names, done)
            second, done_else = _exposed(s.orelse, names, done)
            found |= first | second
            if syntax.ends(s.body):
                done = done_else
            else:
                done = done_then if syntax.ends(s.orelse) else done_then & done_else
        elif isinstance(s, gast.For):
            found |= names.loads(s.iter) - done
            found |= _exposed(s.body, names, done | names.stores(s.target))[0]
            found |= _exposed(s.orelse, names, done)[0]
        else:
            found |= names.loads(s) - done
            if isinstance(s, (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.FunctionDef)):
                done |= names.stores(s)
    return found, done


def count_bindings(body: list, parameters: list) -> dict:
    """How often each local name is bound; a binding inside of a loop counts as many."""
    found = dict.fromkeys(parameters, 1)

    def visit(node, times):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            found[node.id] = found.get(node.id, 0) + times
        elif isinstance(node, syntax.FUNCTIONS):
            if not isinstance(node, gast.Lambda):
                found[node.name] = found.get(node.name, 0) + times
            return
        for child in gast.iter_child_nodes(node):
            visit(child, 2 if isinstance(node, LOOPS) else times)

    for statement in body:
        visit(statement, 1)
    return found


def mutable_names(body: list, names: syntax.Names) -> set:
    """The names whose objects the function changes, and those that may be other names of them."""
    found: set = set()
    assigned: list = []
    for statement in body:
        for node in gast.walk(statement):
            if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
                found |= root_names(node)
            elif isinstance(node, gast.Call):
                if isinstance(node.func, gast.Attribute) and node.func.attr in effects.MUTATING_METHODS:
                    found |= root_names(node.func)
                found |= set().union(*(root_names(k.value) for k in node.keywords if k.arg == "out"))
                if isinstance(node.func, gast.Attribute) and node.func.attr in WRITERS and node.args:
                    found |= root_names(node.args[0])
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                found.add(node.target.id)
            elif isinstance(node, gast.Assign):
                assigned.append((set().union(*map(names.stores, node.targets)), names.loads(node.value)))
            elif isinstance(node, gast.For):
                assigned.append((names.stores(node.target), names.loads(node.iter)))
    # `x += 1` of a number is no change: that the name is listed here costs nothing but a shared subexpression
    size = -1
    while size != len(found):
        size = len(found)
        for stores, loads in assigned:
            if loads & found:
                found |= stores
    return found


WRITERS = frozenset(f.__name__ for f in effects.MUTATORS)


def root_names(node) -> set:
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    return {node.id} if isinstance(node, gast.Name) else set()


def without_unused_definitions(statements: list, result) -> list:
    """Leaves out nested functions that are only called where they are followed."""
    used: set = {result} if isinstance(result, ir.Value) else set()

    def visit(items):
        for s in items:
            for operand in operands_of(s):
                if isinstance(operand, ir.Value):
                    used.add(operand)
                elif isinstance(operand, ir.Code):
                    used.update(operand.reads.values())
            if isinstance(s, ir.Verbatim):
                used.update(s.reads.values())
            for block in blocks_of(s):
                visit(block.statements)
                for operand in block.results:
                    used.update([operand] if isinstance(operand, ir.Value) else getattr(operand, "reads", {}).values())

    def keep(s) -> bool:
        if isinstance(s, ir.Bind) and isinstance(s.code.node, gast.Lambda):
            return s.target in used
        return not (isinstance(s, ir.Verbatim) and isinstance(s.node, gast.FunctionDef) and used.isdisjoint(s.writes.values()))

    def strip(items):
        kept = [s for s in items if keep(s)]
        for s in kept:
            for block in blocks_of(s):
                block.statements[:] = strip(block.statements)
        return kept

    visit(statements)
    return strip(statements)


def operands_of(s) -> list:
    if isinstance(s, ir.Op):
        spelling = [s.spelling] if isinstance(s.spelling, ir.Code) else []
        return [*s.args, *s.kwargs.values(), *spelling]
    if isinstance(s, ir.Bind):
        return [s.code]
    if isinstance(s, ir.Make):
        return list(s.items)
    if isinstance(s, ir.Unpack):
        return [s.source]
    if isinstance(s, ir.Call):
        return list(s.args)
    if isinstance(s, ir.If):
        return [s.test]
    if isinstance(s, ir.For):
        return [*(x.iterable for x in s.sources), *(x.start for x in s.sources), *(c.initial for c in s.carried)]
    return []


def blocks_of(s) -> list:
    if isinstance(s, ir.If):
        return [s.then, s.orelse]
    return [s.body] if isinstance(s, ir.For) else []
