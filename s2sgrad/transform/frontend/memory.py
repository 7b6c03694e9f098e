"""Lowers writes into arrays: ``x[i] = v``, ``x[i] += v``, ``x *= v``.

A write gives the array a new value (`ir.Store`), which every name of it stands for from then on. A name
of a view is looked up again in the new value; what may share memory with the array in a way that is not
known stands for nothing any more. So everybody else sees arrays that never change.
"""

import operator
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType, MappingProxyType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.rules import table
from s2sgrad.transform import aliases, ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import resolve, source, syntax
from s2sgrad.transform.frontend.heap import is_slot, keys_of, said
from s2sgrad.transform.frontend.kinds import NEVER, NUMERIC, SEQUENCES, is_active, text
from s2sgrad.transform.frontend.scan import mutable_names
from s2sgrad.transform.frontend.values import Bound, Choice, Inert, Nested, Partial, Unbound, functions_held
from s2sgrad.transform.frontend.writing import WritingCalls, adds_no_axes
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spelling import OPERATORS

# What the lowering of a function whose body stands in place of its call has in common with that of the caller.
SHARED = (
    "statements", "again", "unchanging", "made", "objects", "parts", "regions", "earlier", "views", "looked",
    "constants", "temporaries", "anywhere", "ways", "work_values", "loops", "parameters", "leaves", "written_arguments",
    "is_top", "maybe", "unplaced", "handed_out", "grown", "grown_values",
)  # fmt: skip
VIEWING = {"T": np.transpose, "mT": np.matrix_transpose}  # attributes that are views of the array
DEEPEST = 8  # how many bodies may stand in each other
WRITTEN = {operator.add, operator.sub, np.add, np.subtract}  # what a `Store` itself can do


def is_plain_body(tree) -> bool:
    """Does a function do nothing but run its statements, without global names that it binds?"""
    strange = (gast.Yield, gast.YieldFrom, gast.Await, gast.Global)
    body = [tree.body] if isinstance(tree, gast.Lambda) else tree.body
    return not isinstance(tree, gast.AsyncFunctionDef) and not any(syntax.contains(s, strange) for s in body)


def is_simple(tree) -> bool:
    """Does a function do nothing but run its statements, and return at their end if at all?"""
    if not isinstance(tree, gast.FunctionDef) or not is_plain_body(tree):
        return False
    last = () if isinstance(tree.body[-1], gast.Return) else tree.body[-1:]
    return not any(syntax.contains(s, gast.Return) for s in [*tree.body[:-1], *last])


def outer_name(name: str) -> str:
    """What a name of a caller is called while a body that stands in place of the call is lowered."""
    return name if is_slot(name) else f"{name}@"


def viewed_names(node) -> set:
    """The names that an expression may be a view of."""
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    if isinstance(node, gast.Call):
        return viewed_names(node.func).union(*map(viewed_names, node.args))
    return {node.id} if isinstance(node, gast.Name) else set()


def makes_function(tree) -> bool:
    """Does a function do nothing but run its statements and return a function that it defines?

    >>> source = "def power(n):\\n    def f(x):\\n        return x**n\\n    return f"
    >>> makes_function(gast.parse(source).body[0])
    True
    """
    if isinstance(tree, gast.Lambda):
        return isinstance(tree.body, gast.Lambda)
    if not is_simple(tree) or not isinstance(tree.body[-1], gast.Return):
        return False
    result = tree.body[-1].value
    defined = {s.name for s in tree.body if isinstance(s, gast.FunctionDef) and not s.decorator_list}
    return isinstance(result, gast.Lambda) or (isinstance(result, gast.Name) and result.id in defined)


class Writes(WritingCalls):
    """The part of `Lowering` that deals with writes into arrays."""

    def written_array(self, node):
        """The array that the target of a store is part of, where it is one that can be followed."""
        if isinstance(node, gast.Attribute) and node.attr == "flat":
            array = self.view_of(node.value)
            return None if array is None else self.view(np.ravel, (array,), "ravel()", node)
        found = self.view_of(node)
        return found if found is not None and found.type.kind is Kind.ARRAY else None

    def view_of(self, node):
        """The value of a name of an array, or of a view of one."""
        if isinstance(node, gast.Name):
            thing = self.env.get(node.id)
            return thing if isinstance(thing, ir.Value) and thing.type.kind is Kind.ARRAY else None
        item = self.held_item(node)
        if item is not None:
            return item if isinstance(item, ir.Value) and item.type.kind is Kind.ARRAY else None
        if isinstance(node, gast.Subscript):
            base = self.view_of(node.value)
            if base is None or self.place_type(base, node.slice).kind is not Kind.ARRAY:
                return None
            if not self.inert(node.slice).pure:
                return None  # its index is not to be evaluated twice
            return self.view(operator.getitem, (base, self.index(node.slice)), None, node)
        if isinstance(node, gast.Attribute) and node.attr in VIEWING:
            base = self.view_of(node.value)
            return None if base is None else self.view(VIEWING[node.attr], (base,), node.attr, node)
        return self.view_called(node) if isinstance(node, gast.Call) and not node.keywords else None

    def view_called(self, node):
        """The view that ``a.reshape(2, -1)`` or ``np.transpose(a)`` gives."""
        known = self.static(node.func)
        given, spelling = node.args, None
        if known is None and isinstance(node.func, gast.Attribute) and node.func.attr in table.METHODS:
            method, spelling = table.METHODS[node.func.attr], f"{node.func.attr}()"
            function, base = method.function, node.func.value
            if method.variadic and len(given) > 1:
                given = [gast.copy_location(gast.Tuple(given, gast.Load()), node)]
        elif known is not None and given:
            function, (base, *given), spelling = known.value, given, known.operand
        else:
            return None
        if not aliases.may_view(function):
            return None
        things = [self.inert(n) for n in given if not self.may_be_active(n) and not isinstance(n, gast.Starred)]
        array = self.view_of(base) if len(things) == len(given) and all(t.pure for t in things) else None
        return None if array is None else self.view(function, (array, *map(self.operand, things)), spelling, node)

    def place_type(self, base: ir.Value, node) -> ir.Type:
        """The type of ``base[node]``, without evaluating the index."""
        return types.infer(operator.getitem, (base, self.sample(node, self.facts(node, {})[0], {})))

    def assigned_view(self, node, targets: list):
        """What ``targets = node`` makes names of, where that is an array that is written to or a view of one."""
        names = viewed_names(node).union(*map(self.names.stores, targets))
        return self.view_of(node) if not isinstance(node, gast.Name) and not names.isdisjoint(self.mutable) else None

    def in_its_place(self, call):
        """What a call gives of a function that writes into what it is given: its body is lowered in place of the call.

        None where the call is none of that kind. Only for a call that is all that a statement evaluates.
        """
        if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
            return None
        call = self.as_method_call(call)
        inherited = self.inherited_here(call)
        if inherited is not None:
            return inherited
        method = self.method_of_record(call)
        if method is not None:
            return self.method_here(*method, self.arguments(call), call)
        callee = self.env.get(call.func.id) if isinstance(call.func, gast.Name) else None
        if isinstance(callee, Nested):
            if self.nested_problem(callee) is None:
                return None
            captured = self.seen_by(callee)
            if captured is None:
                return None
            tree, at = callee.node, callee.scope.found
            found = source.Found(tree, callee.name, at.file, at.lines, at.first_line)
            rebound = syntax.rebound(tree) & self.names.captured(tree)
            if rebound and (callee.captured is not None or self.mark_of(callee.scope) is None):
                return None  # what it binds is kept from call to call
            free = self.free_in(callee)
        else:
            callee = self.static(call.func)
            if callee is None or not isinstance(callee.value, FunctionType) or not self.may_be_inlined(callee.value):
                return None
            found, captured, rebound, free = source.find(callee.value), {}, frozenset(), {}
            tree = found.node
        if not self.fits_here(tree, captured):
            return None
        defaults = callee.defaults if isinstance(callee, Nested) else self.function_defaults(callee, tree)
        given = captured | self.assign_parameters(tree, self.arguments(call), defaults, call)
        return self.result_here(found, tree, given, rebound, free)

    def fits_here(self, tree, captured=()) -> bool:
        """Can a body stand in place of its call, and mean the same by the names that are not its own?"""
        if not is_plain_body(tree) or makes_function(tree):
            return False
        if any(one is tree for one in self.bodies) or len(self.bodies) > DEEPEST:
            return False
        own = self.names.captured(tree) - set(captured)
        return not own & (self.local | {name.partition("@")[0] for name in self.env})

    def result_here(self, found, tree, given: dict, rebound=frozenset(), free=MappingProxyType({}), home=None):
        """What a body returns that is lowered in place of its call."""
        _, result = self.lowered_here(found, tree, given, rebound, free, home=home)
        return ir.Constant(None) if result is None or result is NEVER else result

    def seen_by(self, nested: Nested) -> dict | None:
        """What the free names of a nested function stand for now, as far as they do; None where that is not known."""
        if nested.captured is not None:
            return nested.captured
        mark = self.mark_of(nested.scope)
        names = sorted(self.names.captured(nested.node) & nested.scope.local)
        if mark is None:
            return None if names else {}
        slots = {name: self.slots_of_variable(name, nested.scope.owner(name))[0] for name in names}
        return {name: self.env[slot] for name, slot in slots.items() if slot in self.env}

    def free_in(self, nested: Nested) -> dict:
        """The names of enclosing functions that a nested one reads, each with the lowering of its function."""
        names = self.names.captured(nested.node) & nested.scope.local if nested.captured is None else ()
        return {name: nested.scope.owner(name) for name in names}

    def owner(self, name: str):
        """The lowering of the function whose variable a name is."""
        return self.free.get(name, self)

    def slots_of_variable(self, name: str, owner) -> list:
        """What a variable of a function is called here, by the bodies lowered in place of calls and by the function."""
        here, mark, found = self, "", []
        while here is not None:
            if here.owner(name) is owner:
                found.append(name + mark)
            here, mark = here.caller, f"{mark}@"
        return found

    def mark_of(self, scope) -> str | None:
        """What names of a scope have at their ends here: it is that of this body, or of a caller around it."""
        here, mark = self, ""
        while here is not None and here is not scope:
            here, mark = here.caller, f"{mark}@"
        return None if here is None else mark

    def lowered_here(
        self, found, tree, given: dict, rebound=frozenset(), free=MappingProxyType({}), gives_function=False, home=None
    ) -> tuple:
        """The lowering of a body in place of its call, and what it returns.

        `free` has the names of enclosing functions that it reads, each with the lowering of its function, and `rebound`
        those of them that it binds anew; `home` is the class that it stands in, if it asks for that.
        """
        inner = type(self)(self.session, found, self.namespace, given, rebound, free)
        for shared in SHARED:
            setattr(inner, shared, getattr(self, shared))
        inner.caller, inner.bodies = self, (*self.bodies, tree)
        inner.gives_function, inner.home = gives_function, home
        given = {n: self.place(t, n) if isinstance(t, Inert) else t for n, t in given.items()}
        inner.env = {outer_name(name): thing for name, thing in self.env.items()}
        for name, thing in given.items():
            inner.assign_name(name, thing)
        result = inner.walk(inner.body, inner.called_later().union(rebound), tail=True)
        lost = {name: Unbound(f"{said(name)} may have no value here") for name in self.env}
        now = {name: inner.env.get(outer_name(name), lost[name]) for name in self.env}
        self.env = now | {name: thing for name, thing in inner.env.items() if is_slot(name)}
        for name in rebound:
            now = inner.env.get(name, Unbound(f"{name} may have no value here"))
            self.env |= dict.fromkeys(self.slots_of_variable(name, free[name]), now)
        self.writes_outside = self.writes_outside or inner.writes_outside
        self.session.report(found)
        return inner, result

    @contextmanager
    def changing_nothing(self, node, but=frozenset()):
        """Statements that stand for a part of an expression: what they write to, other parts may have read before."""
        before = dict(self.env)
        yield
        changed = [n for n, thing in before.items() if n not in but and self.env.get(n) is not thing]
        if changed:
            self.refuse(f"{min(changed).partition('@')[0]} is changed in the middle of an expression", node)

    def may_be_inlined(self, function) -> bool:
        """Does a function write into something, and mean by its names what they mean here?"""
        known = resolve.is_trusted(function) or hasattr(function, "__s2sgrad__") or hasattr(function, "__wrapped__")
        if known or function.__closure__ or self.session.purity.reason(function) is None:
            return False
        return self.means_the_same(function)

    def means_the_same(self, function) -> bool:
        """Does the body of a function mean the same here as where it is defined? It must have a source."""
        try:
            found = source.find(function)
        except CompileError:
            return False
        free = self.names.captured(found.node) - set(function.__code__.co_freevars)
        return self.outside.means_the_same(function, sorted(free))

    def view(self, function, args: tuple, spelling, node, kwargs=MappingProxyType({})):
        """The view of an array that an operation gives; None where it may be none."""
        base = args[0]
        result = ir.Value("t", types.infer(function, args, dict(kwargs)))
        op = ir.Op(result, function, args, dict(kwargs), spelling, self.found.location(node))
        if result.type.kind is not Kind.ARRAY or not aliases.is_view(op):
            return None
        if function in aliases.RESHAPED:
            self.session.in_one_piece = True
        result = self.value("t", result.type, base.active, self.regions_of(base))
        op.target = result
        self.see_view(op)
        self.emit(op)
        self.temporaries.add(result)
        return result

    def see_view(self, op: ir.Op) -> None:
        """Note how a view is made: with copies of the arrays that say how (axes, bounds), which may change later."""
        base, *args = op.args
        how = [v for x in (*args, *op.kwargs.values()) for v in walk.values(x)]
        copies = {v: self.unchanging_copy(v) for v in how if v.type.kind is Kind.ARRAY and v not in self.unchanging}
        args = [walk.replaced(x, copies) for x in args]
        kwargs = {name: walk.replaced(x, copies) for name, x in op.kwargs.items()}
        self.views[op.target] = replace(op, args=(base, *args), kwargs=kwargs) if copies else op

    def unchanging_copy(self, array: ir.Value) -> ir.Value:
        """A copy of an array, which nothing changes; it is left out where nothing reads it."""
        copy = self.value(array.name, array.type)
        self.emit(ir.Op(copy, np.copy, (array,), {}, None, self.found.location(self.current), again=True))
        self.unchanging.add(copy)
        self.again.add(copy)
        return copy

    def see_rows(self, targets: tuple, array, statement, place=()) -> None:
        """Note that what an array is unpacked to are views of it."""
        if not isinstance(array, ir.Value) or array.type.kind is not Kind.ARRAY:
            return
        for i, target in enumerate(targets):
            if isinstance(target, tuple):
                self.see_rows(target, array, statement, (*place, i))
            elif isinstance(target, ir.Value) and target.type.kind is Kind.ARRAY:
                index = ir.Constant((*place, i) if place else i)
                self.views[target] = ir.Op(
                    target, operator.getitem, (array, index), {}, None, self.found.location(statement)
                )

    def writes_arrays(self, statement) -> bool:
        """May a statement write into arrays: those that names stand for here, or what it gives names to itself?"""
        changed = [self.env.get(name) for name in mutable_names([statement], self.names) & self.local]
        return any(v is None or (isinstance(v, ir.Value) and v.type.kind is Kind.ARRAY) for v in changed)

    def owners(self, array: ir.Value) -> list:
        """The arguments of the differentiated function, or arrays outside, one of which `array` is memory of.

        None where it may be memory of anything else outside.
        """
        region = self.regions[array].root()
        if not self.is_top or not region.external or self.anywhere.root() is region:
            return []
        works = [v for v in self.work_values if self.regions[v].root() is region]
        given = [*self.parameters, *self.leaves]
        owners = [p for p in given if p in self.regions and self.regions[p].root() is region]
        if owners and any(r.root() is region for r in self.session.object_regions.values()):
            return []
        return owners + works if all(p.type.kind is Kind.ARRAY for p in owners) else []

    def is_view(self, thing) -> bool:
        """Is something known as a view of an array that is followed, and can be made again?"""
        op = self.views.get(thing) if isinstance(thing, ir.Value) else None
        return op is not None and not any(map(self.may_be_written, (*op.args[1:], *op.kwargs.values())))

    def may_be_written(self, thing) -> bool:
        """May what a thing looks into be written to anywhere up to here?"""
        return any(r.root().stored or r.root().writes for r in self.regions_of(thing))

    def root(self, array: ir.Value) -> ir.Value:
        """The array that a view is a view of."""
        while array in self.views:
            if self.views[array].function in aliases.RESHAPED:
                self.session.in_one_piece = True
            array = self.views[array].args[0]
        return array

    def write_into(self, array: ir.Value, index, thing, function, statement) -> ir.Value:
        """``array[index] = thing``: the array afterwards; `function`: what an augmented assignment does."""
        what = text(
            statement.targets[0] if isinstance(statement, gast.Assign) else getattr(statement, "target", statement)
        )
        self.session.writes += 1
        owners = self.owners(array)
        self.written_arguments.update(owners)
        if not owners and self.regions[array].root().external:
            reason = "may be seen from outside of the function, or be another name of an array that is differentiated"
            self.refuse(f"{what} {reason}", statement)
        t = array.type
        if self.type_of(thing).kind in SEQUENCES and is_active(thing):
            thing = self.op(np.array, [thing], {}, statement)
        value = self.operand(thing)
        active = is_active(value) or array.active
        if not (t.dtype or "").startswith(("float", "complex")):
            if active and not (t.dtype or "").startswith(("int", "uint", "bool")):
                self.refuse(
                    f"a value that carries a derivative is stored in {what}, an array that may hold no floats",
                    statement,
                )
            active = False  # what is stored there is cut off: it takes steps
        if index is not None:
            place = types.infer(operator.getitem, (array, index))
            known = place.kind in (Kind.NUMBER, Kind.ARRAY)
            if not known and (active or function not in (None, *WRITTEN)):
                self.refuse(f"what {what} is cannot be told", statement)
        if function in (operator.matmul, np.matmul):
            self.refuse(f"{what} is changed by a product of matrices, which may be of another shape", statement)
        if function is not None and function not in WRITTEN:
            before = array
            if index is not None:
                before = self.value("t", place, array.active, self.regions_of(array))
                self.emit(ir.Op(before, operator.getitem, (array, index), {}, None, self.found.location(statement)))
                self.temporaries.add(before)
            by, value, function = value, self.op(function, [before, value], {}, statement), None
            self.see_fitting(before, by, value, what, statement)
        v = self.type_of(value)
        if is_active(value) and (v.kind not in NUMERIC or (t.is_real and not v.is_real)):
            self.refuse(f"what is stored in {what} may be complex, or no number", statement)
        if active:
            self.freeze([value] if index is None else [index, value], statement)
        into = self.root(array)
        self.regions[into].root().stored = True
        after = self.value(into.name, into.type, active or into.active, self.regions_of(into))
        self.see_ways(after, into)
        through = None if into is array else array
        lasting, place = bool(owners) or self.is_held_outside(into), self.found.location(statement)
        self.emit(ir.Store(after, into, index, value, function, through, lasting, place))
        self.earlier[after] = into
        self.renew(into, after)
        return after

    def see_fitting(self, before: ir.Value, by, after: ir.Value, what: str, statement) -> None:
        """Refuse what NumPy may not write into an array in place, where an assignment would: other types, more axes."""
        t = before.type
        if t.kind is not Kind.ARRAY:
            return
        if not adds_no_axes(self.type_of(by), t):
            self.refuse(f"{what} is changed in place by what may have more axes", statement)
        if not (t.dtype or "").startswith(("float", "complex")) and after.type.dtype != t.dtype:
            self.refuse(f"{what} holds no floats, and what changes it in place may be of another type", statement)

    def origin(self, value):
        """The array that `value` is, as it was when it was made (or came into the loop that is walked)."""
        while value in self.earlier:
            value = self.earlier[value]
        return value

    def renew(self, old: ir.Value, new: ir.Value) -> None:
        """Let all names of an array that has been written to, and what may be that array, stand for what it is now."""
        done = {old: new}
        for name, thing in list(self.env.items()):
            if not (isinstance(thing, ir.Value) and thing in self.objects) and self.meet(old, thing):
                self.compare(thing, old, new, done)
                again = self.renewed(thing, done)
                reason = f"{said(name)} may share memory with an array that is changed"
                self.env[name] = Unbound(reason) if again is None else again
        self.renew_objects()

    def regions_under(self, thing, seen=()) -> list:
        """The memory that a name gives access to."""
        if isinstance(thing, ir.Value):
            held = (r for value in functions_held(thing) for r in self.regions_under(value, seen))
            return [*self.regions_of(thing), *held]
        if isinstance(thing, Bound):
            return self.regions_under(thing.instance, seen)
        if isinstance(thing, (Partial, Choice)):
            return [r for one in thing.parts() for r in self.regions_under(one, seen)]
        if isinstance(thing, Nested) and thing not in seen:
            inner = [*thing.defaults.values(), *(thing.captured or {}).values()]
            return [r for one in inner for r in self.regions_under(one, (*seen, thing))]
        return []

    def regions_apart(self, thing) -> list:
        """The memory that a name itself gives access to: what is in slots has names of its own."""
        return [self.regions[thing]] if thing in self.objects else self.regions_under(thing)

    def renewed(self, thing, done: dict):
        """What a value is after what it is a view of has become another value; None where it is no such view."""
        if thing not in done and isinstance(thing, ir.Value):
            base = self.renewed(self.views[thing].args[0], done) if self.is_view(thing) else None
            done[thing] = None if base is None else self.view_again(thing, base)
        return done.get(thing)

    def view_again(self, view: ir.Value, base: ir.Value):
        """Another array looked at as `view` looks at the one that it is a view of."""
        op = self.views[view]
        again = self.view(op.function, (base, *op.args[1:]), op.spelling, self.current, op.kwargs)
        if again is not None:
            self.statements[-1].again = True
            again.name = view.name
            self.temporaries.discard(again)
            self.again.add(again)
        return again

    def augmented(self, statement) -> bool:
        """``target op= value`` into an array that is followed; False where it is none."""
        target, function = statement.target, OPERATORS[type(statement.op)]
        if isinstance(target, gast.Name) or self.held_item(target) is not None:
            array, index = self.written_array(target), None
            if array is None:
                return False
        elif isinstance(target, gast.Subscript):
            array = self.written_array(target.value)
            if array is None:
                return False
            index = self.index(target.slice)
        else:
            return False
        self.write_into(array, index, self.expression(statement.value), function, statement)
        return True

    # ------------------------------------------------------------------------------------------- loops

    @staticmethod
    def first_name(name: str, names: list, before: dict) -> str:
        """The first of the names of the array that `name` stands for: all of them are carried as one."""
        thing = before.get(name)
        if not isinstance(thing, ir.Value) or thing.type.kind is not Kind.ARRAY:
            return name
        return next(n for n in names if before.get(n) is thing)

    def look_again(self, before: dict, parameters: dict, others: set) -> None:
        """At the beginning of a turn: what is a view of an array that is carried is one of what it is now.

        `others` are the names that may stand for another array in the next turn.
        """
        done = {before[name]: value for name, value in parameters.items() if name not in others}
        for name, thing in before.items():
            if name not in parameters and isinstance(thing, ir.Value) and thing in self.views:
                again = self.renewed(thing, done)
                if again is not None:
                    self.env[name] = again
                    self.looked.add(again)
        self.renew_objects()

    def look_again_after(self) -> None:
        """After a loop: the same, of what it was carried to."""
        done = self.carried_on
        for name, thing in list(self.env.items()):
            if isinstance(thing, ir.Value) and thing in self.views:
                again = self.renewed(thing, done)
                if again is not None:
                    self.env[name] = again
        self.renew_objects()

    def memory_of_turn(self, names, state, before, start, end, parameters, together, lost, shared, others) -> bool:
        """Note what a turn of a loop did to arrays that it does not name as its own; is there anything new?"""
        changed = False
        views = [n for n, thing in before.items() if isinstance(thing, ir.Value) and thing in self.views]
        for name, thing in [*((n, t) for n, t in before.items() if n not in views), *((n, before[n]) for n in views)]:
            now = end.get(name)
            if name in names or name in lost or now is start.get(name) or not isinstance(thing, ir.Value):
                continue
            if name in views and self.is_looked_up(thing, now, [n for n in names if n not in others], before, end):
                continue  # in each turn
            same = self.same_object(thing, now)
            if same is not None and all(same.slot(key) in before for key in keys_of(thing.type)):
                continue  # put together again in each turn
            changed = True
            if isinstance(now, ir.Value):
                names.append(name)
                state[name] = thing.type, self.activity(thing)
                together[name] = self.first_name(name, names, before)
            else:
                lost.add(name)
        for name, first in together.items():
            if first != name and end.get(name) is not end.get(first):
                together[name], changed = name, True
        for name, parameter in parameters.items():
            if name not in others and self.origin(end.get(name)) is not parameter:
                others.add(name)
                changed = True
        for one in parameters:
            for other, thing in start.items():
                if other == one or (one, other) in shared or together.get(other) == together.get(one, one):
                    continue
                ends, starts = (end.get(one), end.get(other)), (parameters[one], thing)
                if self.overlap(*map(self.regions_apart, ends)) and not self.overlap(*map(self.regions_apart, starts)):
                    shared.add((one, other))
                    changed = True
        return changed

    def outside_of_turn(self, parameters: dict, end: dict) -> bool:
        """Note that a turn leaves an array of the outside in a name, which the next one may write into; is it new?"""
        grown = False
        for name, parameter in parameters.items():
            for region in self.regions_of(end.get(name)):
                mine = {r.root() for r in self.regions_of(parameter)}
                if region.root().external and region.root() not in mine:
                    grown = True
                    for other in mine:
                        region.join(other)
        return grown

    def is_looked_up(self, view: ir.Value, now, names: list, before: dict, end: dict) -> bool:
        """Is `now` the view, of an array that a loop carries under one of `names`, that `view` was before the loop?"""
        root = self.root(view)
        name = next((n for n in names if before.get(n) is root), None)
        while name is not None and self.is_same_view({"": view}, {"": now}, ""):
            view, now = self.views[view].args[0], self.views[now].args[0]
            if view is root:
                return now is end.get(name)
        return False

    def see_sources(self, sources: list, body: ir.Block, mark: int, statement) -> None:
        """Refuse a loop over what it changes: an array, or a list that `grown` has from `mark` on."""
        over = {r.root() for s in sources if s.iterable is not None for r in self.regions_of(s.iterable)}
        for s in walk.statements(body):
            if isinstance(s, ir.Store) and any(r.root() in over for r in self.regions_of(s.into)):
                self.refuse("a loop over an array that is changed in the loop", statement)
        lists = [
            s.iterable for s in sources if s.iterable is not None and self.type_of(s.iterable).kind is not Kind.ARRAY
        ]
        lists = [x for x in lists if not (isinstance(x, ir.Code) and walk.is_range(x, self.namespace))]
        over = {r.root() for x in lists for r in self.regions_of(x)}
        if any(r.root() in over for r in self.grown[mark:]):
            self.refuse("a loop over a list that is changed in the loop", statement)

    def meet(self, one, other) -> bool:
        """May two things share memory?"""
        return self.overlap(self.regions_under(one), self.regions_under(other))

    def overlap(self, first: list, second: list) -> bool:
        """May some of these regions be one?"""
        mine, theirs = {r.root() for r in first}, {r.root() for r in second}
        anywhere = self.anywhere.root()
        if (anywhere in mine and any(r.external for r in theirs)) or (
            anywhere in theirs and any(r.external for r in mine)
        ):
            return True
        return not mine.isdisjoint(theirs)
