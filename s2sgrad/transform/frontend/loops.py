"""Lowers loops: the body is walked until the types and the activity of what it carries no longer change.

A loop that no derivative flows through stays as it is.
"""

import dataclasses
import functools

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.frontend import effects, resolve, syntax
from s2sgrad.transform.frontend.heap import is_slot, keys_of, said
from s2sgrad.transform.frontend.kinds import (
    NEVER,
    NUMERIC,
    SEQUENCES,
    any_active,
    either,
    holds_numbers,
    is_active,
    is_live,
    numeric,
    text,
    tuple_union,
)
from s2sgrad.transform.frontend.optional import is_optional
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.rows import Rows
from s2sgrad.transform.frontend.scan import (
    assignments,
    exposed_names,
    is_pair,
    jumps,
    root_names,
    targets_of,
)
from s2sgrad.transform.frontend.unrolling import Unrolling
from s2sgrad.transform.frontend.values import FUNCTIONS, Bound, Unbound, functions_held, held_values, is_lost
from s2sgrad.transform.ir import Kind

MOST_TURNS = 12  # of walking a loop until nothing changes


def tested_inside(statement):
    """``while True: if not test: break`` for ``while test``: the test is evaluated inside of the loop."""
    leave = gast.If(gast.UnaryOp(gast.Not(), statement.test), [gast.Break()], [])
    made = gast.While(gast.Constant(True, None), [leave, *statement.body], [])
    for node in (made, made.test, leave, leave.test, leave.body[0]):
        gast.copy_location(node, statement)
    return made


def runs(head, namespace: ir.Namespace) -> bool:
    """Does a loop with these sources, or with this test, surely run a turn?"""
    if isinstance(head, list):
        return all(source.count or has_entries(source.iterable, namespace) for source in head)
    return head == ir.Constant(True)


def has_entries(operand, namespace: ir.Namespace) -> bool:
    """Is there surely something to run over?"""
    t = types.type_of(operand)
    if t.kind is Kind.ARRAY:
        shape = types.axes_of(t)
        return bool(shape) and axes.is_some(shape[0])
    if t.kind in SEQUENCES and t.items is not None:
        return len(t.items) > 0
    if not (isinstance(operand, ir.Code) and walk.is_range(operand, namespace)):
        return False
    node = operand.node
    if all(isinstance(bound, gast.Constant) for bound in node.args):
        return len(range(*[bound.value for bound in node.args])) > 0
    match node.args:
        case [gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)])]:
            return name in operand.reads and has_entries(operand.reads[name], namespace)
    return False


def of_last_turn(carried: ir.Type, last: ir.Type) -> ir.Type:
    """What a loop that runs gives, of what it carries: it is of the dtype that the end of a turn gives it."""
    alike = carried.kind is last.kind and carried.kind in (Kind.NUMBER, Kind.ARRAY)
    return dataclasses.replace(carried, dtype=last.dtype) if alike else carried


class Loops(Unrolling, Rows):
    """The part of `Lowering` that deals with loops."""

    def statement_For(self, statement, after):
        if self.is_inert(statement):
            self.inert_loop(statement, after)
        elif (functions := self.functions_of(statement.iter)) is not None:
            self.over_functions(statement, functions, after)
        elif (indexed := self.by_index(statement)) is not None:
            self.for_(indexed, after)
        elif (other := self.by_positions(statement)) is not None:
            self.for_(other, after)
        else:
            statement = self.over_named(statement)
            rounds = self.unrollable(statement)
            self.for_(statement, after) if rounds is None else self.unrolled(statement, rounds, after)

    def functions_of(self, iterable) -> list | None:
        """The functions that a loop runs over, if they are known before the program runs."""
        if isinstance(iterable, (gast.List, gast.Tuple)):
            known = [isinstance(n, gast.Lambda) or self.static(n) for n in iterable.elts]
            known = bool(known) and all(k is True or (k and resolve.is_definition(k.value)) for k in known)
            return [functools.partial(self.expression, n) for n in iterable.elts] if known else None
        base = self.static(iterable)
        if base is None or type(base.value) is dict or root_names(iterable) & self.mutable:
            return None
        found = self.outside.elements(base)
        return None if found is None else [lambda known=known: known for known in found]

    def over_functions(self, statement, functions: list, after) -> None:
        """A loop over a few functions: its body once for each."""
        if any(jumps(s) for s in statement.body):
            self.refuse("`break` and `continue` in a loop that a derivative flows through are not compiled", statement)
        for function in functions:
            self.assign(statement.target, function(), statement)
            self.walk(statement.body, after | self.names.loads(statement), tail=False)
        self.walk(statement.orelse, after, tail=False)

    def for_(self, statement, after) -> None:
        views = [n for n in syntax.walk(statement.iter) if isinstance(n, gast.Call)]
        views = [n.func for n in views if getattr(n.func, "attr", "") in ("items", "values")]
        if any(root_names(view) & self.mutable for view in views):
            self.refuse("a loop over the view of a dict that the function changes", statement)
        held = self.contents_of_names(statement.iter)
        make_sources = self.sources(statement)
        exposed = exposed_names(statement.body, self.names)
        appends = self.appends_of(statement)
        self.collecting |= dict.fromkeys(appends)
        mark, grown = axes.fresh(), len(self.grown)
        sources, carried, body = self.turns(statement, exposed, after, make_sources)
        collected = self.collected(appends, body, mark, statement)
        self.see_sources(sources, body, grown, statement)
        self.emit(ir.For(sources, carried, body, collected, self.found.location(statement)))
        self.look_again_after()
        self.see_iterated(statement.iter, held, statement)
        self.join_collected(appends, collected, statement)
        self.walk(statement.orelse, after, tail=False)  # there is no `break` where there is an `else`

    def while_(self, statement, after) -> None:
        if not statement.orelse and any(self.env.get(n) in self.views for n in self.names.loads(statement.test)):
            statement = tested_inside(statement)
        exposed = exposed_names(statement.body, self.names) | self.names.loads(statement.test)
        appends = self.appends_of(statement)
        self.collecting |= dict.fromkeys(appends)
        mark = axes.fresh()
        test, carried, body = self.turns(statement, exposed, after, lambda: self.loop_test(statement.test))
        collected = self.collected(appends, body, mark, statement)
        self.emit(ir.While([], carried, body, collected, self.found.location(statement), test))
        self.look_again_after()
        self.join_collected(appends, collected, statement)
        self.walk(statement.orelse, after, tail=False)

    def loop_test(self, node):
        """The test of a `while`, to be evaluated before each turn."""
        decided = self.decide(node)
        if decided is not None:
            return ir.Constant(decided)
        before = len(self.statements)
        test = self.inert(node).code()
        if len(self.statements) > before or not self.looked.isdisjoint(test.reads.values()):
            self.refuse("this test of a `while` loop is not compiled", node)
        return test

    def turns(self, statement, exposed: frozenset, after: frozenset, head) -> tuple:
        """Walk a loop; `head` evaluates what stands at its head, once a turn."""
        stores = self.names.stores(statement)
        inner_after = after | exposed

        def turn():
            self.env.update(
                {n: Unbound(f"{said(n)} may have no value here", True) for n in stores if n not in self.env}
            )
            found = head()
            if self.walk(statement.body, inner_after, tail=False) is NEVER:
                self.refuse("`raise` at the end of a loop", statement)
            return found

        after_loop = after.union(*map(self.names.loads, statement.orelse))
        return self.fixpoint(stores, exposed, after_loop, turn, statement)

    def fixpoint(self, stores, exposed, after, turn, statement) -> tuple:
        """Walk a loop until what it carries is stable: what `turn` gave, the carried values, the body.

        Afterwards the environment is that after the loop.
        """
        before = dict(self.env)
        names = sorted(n for n in stores if (n in before and (n in exposed or n in after)) or n in after)
        names += self.other_names(names, before, statement)
        state = {}
        for name in names:
            thing = before.get(name)
            if isinstance(thing, ir.Value):
                state[name] = (thing.type, self.activity(thing))
        self.foresee(names, state, before, statement)
        together = {n: self.first_name(n, names, before) for n in names}
        lost: set = set()
        shared: set = set()
        others: set = set()
        later: dict = {}  # the names of arrays -> what they are after a turn
        optional = {n for n in names if isinstance(before.get(n), ir.Value) and before[n] in self.maybe}
        bound: set = set()  # names that are None before the loop and something else after a turn
        earliest = types.fresh()
        self.loops = (*self.loops, object())
        try:
            for _ in range(MOST_TURNS):
                self.env = dict(before)
                block = ir.Block()
                parameters = {}
                for name, (t, active) in state.items():
                    if self.is_none(before.get(name)) is True and not any_active(active) and name not in bound:
                        continue  # so it is at first: what it is later is found by walking on
                    if isinstance(before.get(name), ir.Value):
                        first = together.get(name, name)
                        if first not in parameters:
                            value = ir.Value(first.partition("@")[0], types.with_names(t), any_active(active))
                            self.adopt(value, active, [r for r in self.regions_of(before[name])])
                            self.see_ways(value, before[name], *later.get(name, ()))
                            parameters[first] = value
                            if name in optional:
                                self.maybe.add(value)
                        parameters[name] = self.env[name] = parameters[first]
                self.env.update(
                    (name, Unbound(f"{said(name)} may share memory with what a loop changes")) for name in lost
                )
                for one, other in shared:
                    for r in self.regions_of(parameters[one]):
                        for q in self.regions_apart(self.env.get(other)):
                            r.join(q)
                with self.inside_block(block):
                    self.look_again(before, parameters, others)
                    start = dict(self.env)
                    made = turn()
                end = self.env
                changed = self.memory_of_turn(
                    names, state, before, start, end, parameters, together, lost, shared, others
                )
                changed = self.functions_of_turn(before, start, block, lost) or changed
                changed = self.next_state(state, names, before, end, statement, optional) or changed
                now = {n for n in names if self.is_none(before.get(n)) is True and end.get(n) is not before[n]}
                changed, bound = changed or not now <= bound, bound | now
                changed = self.ways_of_turn(parameters, end, later) or changed
                changed = self.outside_of_turn(parameters, end) or changed
                if not changed:
                    break
            else:
                self.refuse("what this loop carries from turn to turn has no stable type", statement)
        finally:
            self.loops = self.loops[:-1]
        self.env = dict(before)
        carried, results = [], []
        carried_on = {}
        last_names: dict = {}
        for name in names:
            if together.get(name, name) != name:
                self.env[name] = self.env[together[name]]
            elif is_lost(before.get(name)):  # it may run no turn
                self.env[name] = before[name]
            elif isinstance(before.get(name), Unbound) and name not in self.partial and not runs(made, self.namespace):
                self.env[name] = Unbound(
                    f"{said(name)} may be what an earlier turn of the loop around this one has left"
                )
            elif name in state:
                t, active = state[name]
                last = end[name]
                initial = before.get(name)
                parameter = parameters.get(name)
                if parameter is None:  # what the turn before has bound, which may have other lengths
                    parameter = self.value(name, types.of_each(t, earliest), active)
                    t = types.of_last(t, earliest, last_names)
                for region in self.regions_of(last):
                    for other in self.regions_of(parameter):
                        region.join(other)
                start = self.literal(initial) if isinstance(initial, ir.Value) else ir.Constant(None)
                given = of_last_turn(t, last.type) if runs(made, self.namespace) else t
                result = self.value(name, given, active, self.regions_of(last))
                self.see_ways(parameter, last, *([initial] if isinstance(initial, ir.Value) else []))
                self.see_ways(result, parameter)
                parameter.partial = result.partial = name in self.partial
                if name in optional:
                    self.maybe.add(result)
                carried.append(ir.Carried(parameter, start, result))
                if name in parameters and name not in others:
                    self.earlier[result] = initial
                    carried_on[initial] = result
                results.append(last)
                self.env[name] = result
            elif name in end and end[name] is before.get(name):
                self.env[name] = end[name]
            else:
                thing = end.get(name)
                self.env[name] = (
                    thing
                    if isinstance(thing, Unbound)
                    else Unbound(f"{said(name)} is a function that depends on a loop")
                )
        for name in stores - set(names):
            self.env.pop(name, None)
        self.env.update((name, Unbound(f"{said(name)} may share memory with what a loop changes")) for name in lost)
        self.carried_on = carried_on
        block.results = tuple(results)
        return made, carried, block

    @staticmethod
    def other_names(names: list, before: dict, statement) -> list:
        """The other names of the arrays that a loop changes by ``name += ...``: they are carried as one."""
        statements = [n for n in syntax.walk(statement) if isinstance(n, gast.AugAssign)]
        augmented = {n.target.id for n in statements if isinstance(n.target, gast.Name)}
        changed = {before.get(n) for n in names if n in augmented}
        changed = {v for v in changed if isinstance(v, ir.Value) and v.type.kind is Kind.ARRAY}
        return [n for n, thing in before.items() if n not in names and isinstance(thing, ir.Value) and thing in changed]

    def functions_of_turn(self, before: dict, start: dict, block: ir.Block, lost: set) -> bool:
        """Note which functions hold something that a turn of a loop has changed; are there new ones?"""
        stored = {r.root() for s in walk.statements(block) if isinstance(s, ir.Store) for r in self.regions_of(s.into)}
        slots = {n for n, thing in self.env.items() if is_slot(n) and start.get(n) is not thing}
        found = set()
        for name, thing in before.items():
            if isinstance(thing, Bound) and thing.instance in self.objects:
                continue  # it is looked up again
            held = held_values(thing) if isinstance(thing, FUNCTIONS) else functions_held(thing)
            regions = {r.root() for value in held for r in self.regions_under(value)}
            if not regions.isdisjoint(stored) or any(self.is_in(value, slots) for value in held):
                found.add(name)
        new = found - lost
        lost |= new
        return bool(new)

    def is_in(self, container: ir.Value, slots: set) -> bool:
        """Is one of these slots a container's, or one of a container's that it holds?"""
        made = self.objects.get(container)
        own = made is not None and any(made.slot(key) in slots for key in keys_of(container.type))
        return own or any(self.is_in(item, slots) for item in self.made.get(container, ()))

    def foresee(self, names: list, state: dict, before: dict, statement) -> None:
        """Say of floats that a turn will give a derivative, by the text, that they have one in the first turn already.

        What is not active stays the user's own text, of which less is known: the result of a helper, say.
        """
        reached: set = set()
        found = list(assignments(statement))
        count = -1
        while count != len(reached):
            count = len(reached)
            for targets, value in found:
                if not targets <= reached and (self.may_be_active(value) or self.names.loads(value) & reached):
                    reached |= targets
        written = self.names.stores(statement)
        coming = [before[name] for name in reached if isinstance(before.get(name), ir.Value)]
        coming = [v for v in coming if v.type.kind in NUMERIC and (v.type.dtype or "").startswith("float")]
        coming = {v for v in coming if v not in self.views}
        for name, thing in before.items():
            if not isinstance(thing, ir.Value) or thing not in coming:
                continue
            if name not in state and name not in written and thing.type.kind is Kind.ARRAY:
                names.append(name)  # an array that is written to
                state[name] = thing.type, True
            elif name in state and name in reached:
                state[name] = thing.type, True

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

    def next_state(self, state, names, before, end, statement, optional) -> bool:
        """Join what the end of a turn hands on into `state`; has it changed?"""
        changed = False
        for name in names:
            thing, start = end.get(name), before.get(name)
            if not isinstance(thing, ir.Value):
                if thing is start or (
                    isinstance(thing, Known) and isinstance(start, Known) and thing.value is start.value
                ):
                    continue
                if name in state or self.is_function(start):
                    self.refuse(
                        f"{said(name)} stands for different kinds of things in the turns of this loop", statement
                    )
                continue
            if start is not None and not isinstance(start, (ir.Value, Unbound)):
                self.refuse(f"{said(name)} stands for different kinds of things in the turns of this loop", statement)
            if (self.holds_callers(thing) or self.holds_callers(start)) and self.same_object(thing, start) is None:
                self.refuse(f"{said(name)} stands for different containers in the turns of this loop", statement)
            t, active = thing.type, self.activity(thing)
            none = self.is_none(start) is True and any_active(active) and is_optional(t)
            if (none or thing in self.maybe) and name not in optional:
                optional.add(name)
                changed = True
                state.pop(name, None)
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
        self.used_up.add(id(iterable))
        if not self.may_be_active(iterable):
            operand = self.iterable(iterable)
            element = self.element_type(self.facts(iterable, {})[0], iterable)
            plans.append(("plain", operand, target, element, False, reverse, self.element_regions(iterable)))
            return
        if isinstance(iterable, gast.Call):
            known = self.static(iterable.func)
            function = known.value if known is not None else None
            if function is enumerate and len(iterable.args) in (1, 2) and is_pair(target) and not reverse:
                start = (
                    iterable.args[1] if len(iterable.args) == 2 else next((k.value for k in iterable.keywords), None)
                )
                start = ir.Constant(0) if start is None else self.place(self.inert(start), "start")
                plans.append(("count", start, target.elts[0], ir.INT, False, False, []))
                self.plan(iterable.args[0], target.elts[1], plans, statement)
                return
            if (
                function is zip
                and not iterable.keywords
                and not reverse
                and not any(isinstance(a, gast.Starred) for a in iterable.args)
            ):
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
            operand, t = self.operand(thing), self.type_of(thing)
            inside = self.inside(t, self.regions_of(operand))
            plans.append(("plain", operand, target, self.element_type(t), False, reverse, inside))
            return
        t = self.type_of(thing)
        if t.kind is Kind.DICT:
            plans.append(("plain", self.operand(thing), target, ir.OTHER, False, reverse, []))
            return
        if not (t.kind is Kind.ARRAY and t.ndim or t.kind in SEQUENCES):
            self.refuse("what this loop iterates over cannot be told", statement)
        active = self.activity(thing)
        element = self.element_type(t)
        if t.kind in SEQUENCES:
            active = tuple_union(active) if isinstance(active, tuple) else active and numeric(element)
            items = t.items or ()
            for item in items[1:]:
                self.check_join(items[0], item, types.join(items[0], item), statement)
            if any_active(active) and element == ir.UNKNOWN:
                self.refuse("what this loop iterates over cannot be told", statement)
        self.freeze([thing], statement)
        inside = self.inside(t, self.regions_of(thing))
        plans.append(("plain", thing, target, element, active, reverse, inside))

    def element_regions(self, iterable) -> list:
        """The memory that the elements of what is iterated over, which no derivative flows through, may be in."""
        known = self.static(iterable.func) if isinstance(iterable, gast.Call) else None
        if known is not None and known.value in (enumerate, zip, reversed):
            return [r for argument in iterable.args for r in self.element_regions(argument)]
        t, _, _, regions = self.facts(iterable, {})
        numbers = t.kind is Kind.ARRAY and t.ndim == 1 and holds_numbers(t)
        text_keys = t.kind is Kind.DICT and t.keys is not None and all(isinstance(k, str) for k in t.keys)
        return [] if numbers or text_keys else self.inside(t, regions)

    def iterable(self, node):
        """The operand that an inactive loop source is."""
        inert = self.inert(node)
        known = self.static(node.func) if isinstance(node, gast.Call) and inert.pure else None
        if known is not None and known.value in (range, enumerate, zip, reversed):
            return inert.code()
        return self.operand(inert, "items")

    def source(self, plan, statement) -> ir.Source:
        kind, operand, target, element, active, reverse, regions = plan
        self.freeze([operand], statement)  # the backward loop may run over it again
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
        """A loop that no derivative flows through: it stays as it is; only what its names come to be is found."""
        lower = self.for_ if isinstance(statement, gast.For) else self.while_
        self.verbatim(statement, lambda: lower(statement, after), after)

    def is_inert(self, statement) -> bool:
        """Does no derivative flow through a loop, nor past it through a name that it may not come to bind?

        A loop with a call whose body is lowered in its place is none.
        """
        if self.may_be_active(statement) or self.touches_objects(statement) or self.writes_arrays(statement):
            return False
        if self.has_apart(statement):
            return False
        return not any(is_live(self.env.get(name), self) for name in self.names.stores(statement))

    def statement_While(self, statement, after):
        if not self.is_inert(statement):
            self.while_(statement, after)
        else:
            self.inert_loop(statement, after)
