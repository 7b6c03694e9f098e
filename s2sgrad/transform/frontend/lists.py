"""Lowers lists that a function builds: by methods, in loops, by comprehensions.

A list that the function makes itself and that has one name only behaves like a value: ``xs.append(v)`` gives
`xs` another value. ``values = xs`` hands it over, where `xs` is not read again. Where each turn of a loop appends
once, the list is what the loop collects (`ir.For.collected`); elsewhere it is put together anew, which
`optimize.stacks` says in place again. All other lists stay objects of the user's.
"""

import functools
import itertools
import operator

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import resolve, syntax
from s2sgrad.transform.frontend.kinds import (
    BOOL,
    CONTAINERS,
    NUMERIC,
    SEQUENCES,
    any_active,
    constant_of,
    is_active,
    is_one_number,
    text,
)
from s2sgrad.transform.frontend.scan import jumps, targets_of
from s2sgrad.transform.frontend.unrolling import MOST_ITEMS, literal_slice
from s2sgrad.transform.frontend.values import Inert
from s2sgrad.transform.ir import Kind

BUILDING = frozenset({"append", "extend", "insert", "pop", "reverse", "clear"})
READING = frozenset({"index", "count", "copy", "items", "values", "keys", "get"})


def method_of(statement, name: str = "append"):
    """``(list name, argument)`` of the statement ``xs.append(argument)``; None where it is none."""
    call = statement.value if isinstance(statement, gast.Expr) else None
    if not (isinstance(call, gast.Call) and len(call.args) == 1 and not call.keywords):
        return None
    function = call.func
    if isinstance(function, gast.Attribute) and function.attr == name and isinstance(function.value, gast.Name):
        return None if isinstance(call.args[0], gast.Starred) else (function.value.id, call.args[0])
    return None


class Lists:
    """The part of `Lowering` that deals with lists that are built."""

    # -------------------------------------------------------------------------------- which lists are values

    def is_own(self, name: str) -> bool:
        """Is a name the only one of a list that the function has made, and changes?"""
        if self.own_lists is None:
            self.own_lists = self.find_own_lists()
        return name in self.own_lists

    def find_own_lists(self) -> frozenset:
        made: set = set()
        other = {n for n in self.local if n in syntax.parameters(self.found.node)}
        changed: set = set()

        def visit(node, parents):
            if isinstance(node, gast.Name):
                parent = parents[-1]
                if isinstance(parent, gast.AugAssign):
                    (changed if isinstance(parent.op, gast.Add) else other).add(node.id)
                elif not isinstance(node.ctx, gast.Load):
                    (made if self.is_made(node, parents) else other).add(node.id)
                elif node in self.handed:
                    pass
                elif any(isinstance(p, syntax.FUNCTIONS) for p in parents) or not self.only_reads(node, parents):
                    other.add(node.id)
                elif (isinstance(parent, gast.Attribute) and parent.attr in BUILDING) or (
                    isinstance(parent, gast.Subscript) and not isinstance(parent.ctx, gast.Load)
                ):
                    iterated = [p.iter for p in parents if isinstance(p, gast.For)]
                    (other if any(self.runs_over(i, node.id) for i in iterated) else changed).add(node.id)
                return
            for child in syntax.children(node):
                visit(child, (*parents, node))

        for statement in self.body:
            visit(statement, (None,))
        return frozenset((made & changed) - other)

    def is_made(self, node, parents) -> bool:
        """Is the name `node` assigned a list or dict that is made on the spot?"""
        match parents[-1], parents[-2:]:
            case gast.Assign(targets=[target], value=value), _ if target is node:
                repeated = isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult)
                lists = [value.left, value.right] if repeated else [value]
                return any(isinstance(v, (gast.List, gast.ListComp)) for v in lists) or self.is_new_dict(value)
            case gast.Tuple(elts=targets), [gast.Assign(targets=[_], value=gast.Tuple(elts=values)), _]:
                pairs = zip(targets, values, strict=False)
                return len(targets) == len(values) and any(t is node and isinstance(v, gast.List) for t, v in pairs)
        return False

    def runs_over(self, iterable, name: str) -> bool:
        """May a loop over `iterable` read the list of this name while it runs?"""
        is_range = (
            isinstance(iterable, gast.Call)
            and getattr(iterable.func, "id", "") == "range"
            and self.is_builtin("range", range)
        )
        return name in self.names.loads(iterable) and not is_range

    def only_reads(self, node, parents) -> bool:
        """Does the expression around the name of a list look at it, or change it, without giving it another name?"""
        parent = parents[-1]
        match parent:
            case gast.Attribute():
                return parent.attr in BUILDING | READING and isinstance(parents[-2], gast.Call)
            case gast.Subscript():
                return parent.value is node
            case gast.Call():
                return node in parent.args and self.is_trusted_function(parent.func)
            case gast.For() | gast.comprehension():
                return parent.iter is node
            case gast.Tuple():
                return isinstance(parents[-2], gast.Return)
        return isinstance(parent, (gast.Return, gast.BinOp, gast.Starred, gast.If, gast.While, gast.UnaryOp))

    def is_trusted_function(self, node) -> bool:
        try:
            known = self.static(node)
        except CompileError:
            return False
        return known is not None and resolve.is_trusted(known.value)

    def changed_lists(self, statement) -> set:
        """The lists of the function's own that a statement of the user's changes."""
        found = set()
        for node in syntax.walk(statement):
            changes = isinstance(node, gast.Attribute) and node.attr in BUILDING
            changes = changes or (isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load))
            if changes and self.own_list(node.value) is not None:
                found.add(node.value.id)
        return found

    # ------------------------------------------------------------------------------------------- statements

    def list_statement(self, statement) -> bool:
        """Lower ``xs = [...]``, ``xs.append(v)`` or ``xs[i] = v`` of a list of the function's own; False for others."""
        if isinstance(statement, gast.Assign):
            (target, *more) = statement.targets
            if more:
                return False
            if isinstance(target, gast.Tuple) and any(
                isinstance(t, gast.Name) and self.is_own(t.id) for t in target.elts
            ):
                return self.several_lists(target.elts, statement.value.elts, statement)
            if isinstance(target, gast.Name) and isinstance(statement.value, gast.List) and self.is_own(target.id):
                if any(isinstance(e, gast.Starred) for e in statement.value.elts):
                    return False
                self.assign_name(target.id, self.new_list(self.expressions(statement.value.elts), statement))
                return True
            if isinstance(target, gast.Name) and target.id in self.mutable:
                made = self.few_items(target.id, statement.value, statement)
                if made is not None:
                    self.assign_name(target.id, made)
                    return True
            if not isinstance(target, gast.Subscript) or not isinstance(target.value, gast.Name):
                return False
            return self.is_own(target.value.id) and self.set_item(target, statement.value, statement)
        if isinstance(statement, gast.AugAssign):
            return self.augmented_item(statement)
        call = statement.value if isinstance(statement, gast.Expr) else None
        return isinstance(call, gast.Call) and self.edit(call, statement) is not None

    def edit(self, call, statement):
        """The result of ``xs.append(v)``, ``d.pop("a")`` and the like, of what is followed; None where it is none."""
        if not isinstance(call.func, gast.Attribute):
            return None
        ways = self.list_method, self.edited_object, self.grown_by
        return next((found for way in ways if (found := way(call, statement)) is not None), None)

    def few_items(self, name: str, node, statement) -> ir.Value | None:
        """``[None] * 3``, ``[w.copy() for w in ws]``, ``list(ws)`` as a list of items that are known one by one.

        Only what goes to a name whose elements are set otherwise than at literal places; None where it is none.
        """
        placed = self.is_placed(name) and not isinstance(node, gast.Dict)
        if placed and (self.is_own(name) or name in self.reached_names()):
            made = self.item_by_item(node, statement)
            if made is not None:
                return made
        copied = self.copied_list(node)
        if copied is None or self.length_of(copied) is None:
            return None
        return self.new_list(self.items_of(self.env[copied.id], statement), statement)

    def item_by_item(self, node, statement) -> ir.Value | None:
        """A list or dict that is made on the spot, and those in it, with items that are known one by one; else None."""
        match node:
            case gast.BinOp(left=gast.List(elts=[element]), op=gast.Mult(), right=times):
                n = self.literal_key(times)
                if type(n) is not int or not 0 < n <= MOST_ITEMS or isinstance(element, gast.Starred):
                    return None
                return self.new_list([self.item_apart(element, statement)] * n, statement)  # the same n times
            case gast.List(elts=elements) if not any(isinstance(e, gast.Starred) for e in elements):
                return self.new_list([self.item_apart(e, statement) for e in elements], statement)
            case gast.ListComp(generators=[gast.comprehension(ifs=[])]):
                self.apart_items.add(id(node.elt))
                return self.comprehension(node, apart=True)
            case gast.Dict(keys=keys, values=values) if self.is_new_dict(node):
                return self.new_dict(
                    {k.value: self.item_apart(v, statement) for k, v in zip(keys, values, strict=True)}, statement
                )
        return None

    def with_slots_of_its_own(self, thing, statement):
        """What goes into a slot: a list or dict that is made of constants on the spot may be filled there."""
        if not isinstance(thing, Inert) or self.names.loads(thing.node):
            return thing
        return self.item_by_item(thing.node, statement) or thing

    def item_apart(self, node, statement) -> ir.Value:
        """An item of such a list."""
        return self.item_by_item(node, statement) or self.place_value(self.expression(node))

    def copied_list(self, node):
        """The name of the list or tuple of which an expression is a new list of the same things; None for all else."""
        match node:
            case gast.Call(func=gast.Name(id="list"), args=[gast.Name() as copied], keywords=[]):
                return copied if self.is_builtin("list", list) else None
            case gast.Call(func=gast.Attribute(value=gast.Name() as copied, attr="copy"), args=[], keywords=[]):
                pass
            case gast.Subscript(value=gast.Name() as copied, slice=gast.Slice(lower=None, upper=None, step=None)):
                pass
            case _:
                return None
        thing = self.env.get(copied.id)
        return copied if isinstance(thing, ir.Value) and thing.type.kind is Kind.LIST else None

    def several_lists(self, targets: list, nodes: list, statement) -> bool:
        """``xs, ys = [], []``."""
        things = [
            self.new_list(self.expressions(n.elts), statement) if isinstance(n, gast.List) else self.expression(n)
            for n in nodes
        ]
        for target, thing in zip(targets, things, strict=True):
            self.assign(target, thing, statement)
        return True

    def new_list(self, things: list, node) -> ir.Value:
        """A list of known length."""
        return self.make_container(types.sequence(Kind.LIST, [self.type_of(t) for t in things]), things, node)

    def new_dict(self, things: dict, node) -> ir.Value:
        """A dict of known keys."""
        kinds = tuple(map(self.type_of, things.values()))
        return self.make_container(ir.Type(Kind.DICT, items=kinds, keys=tuple(things)), list(things.values()), node)

    def own_list(self, node) -> ir.Value | None:
        """The list that an expression names, if it is one of the function's own."""
        if not isinstance(node, gast.Name) or not self.is_own(node.id):
            return None
        thing = self.env.get(node.id)
        return thing if isinstance(thing, ir.Value) and thing.type.kind is Kind.LIST else None

    def list_method(self, call, statement):
        """The result of ``xs.append(v)`` and the like; None where it is nothing of the kind."""
        function = call.func
        if not isinstance(function, gast.Attribute) or function.attr not in BUILDING or call.keywords:
            return None
        base = self.own_list(function.value)
        if base is None or any(isinstance(a, gast.Starred) for a in call.args):
            return None
        if id(statement) in self.collecting:
            thing = self.operand(self.expression(call.args[0]), "item")
            self.freeze([thing], statement)
            self.collecting[id(statement)] = thing
            return ir.Constant(None)
        name = function.value.id
        apart = [id(a) in self.apart_items for a in call.args]
        arguments = [self.item_apart(*call.args, statement)] if any(apart) else self.expressions(call.args)
        base = self.own_list(function.value)  # an argument may have changed it
        edited = None
        if base.type.items is not None and not self.is_stored_to(name, base.type):
            edited = self.edited_items(function.attr, base, call.args, arguments, statement)
        if edited is None:
            now, result = self.lengthened(function.attr, base, call.args, arguments, statement)
        else:
            now, result = self.new_list(edited[0], statement), edited[1]
        self.rebind(name, now)
        return result

    def edited_items(self, method: str, base: ir.Value, nodes: list, things: list, statement) -> tuple | None:
        """The items of a list after a method was called, and what that returns; None where only the run knows."""
        items = self.items_of(base, statement)
        positions = [self.literal_key(n) for n in nodes]
        match method, things:
            case "append", [thing]:
                return [*items, thing], ir.Constant(None)
            case "extend", [thing] if self.type_of(thing).kind in SEQUENCES:
                if self.type_of(thing).items is None:
                    return None
                return [*items, *self.items_of(thing, statement)], ir.Constant(None)
            case "reverse", []:
                return items[::-1], ir.Constant(None)
            case "clear", []:
                return [], ir.Constant(None)
            case "insert", [_, thing] if type(positions[0]) is int:
                items = list(items)
                items.insert(positions[0], thing)
                return items, ir.Constant(None)
            case "pop", _ if len(things) < 2 and (not things or type(positions[0]) is int):
                at = positions[0] if things else -1
                if -len(items) <= at < len(items):
                    rest = list(items)
                    item = rest.pop(at)  # the same value may be in the list twice
                    return rest, item
        return None

    def set_item(self, target, value, statement) -> bool:
        """``xs[i] = v``"""
        if self.placed_list(target) is not None:
            self.put_element(target, self.expression(value), statement)
            return True
        base = self.own_list(target.value)
        if base is None:
            return False
        if isinstance(target.slice, gast.Slice):
            self.set_slice(target, self.expression(value), statement)
            return True
        at, t = self.literal_key(target.slice), base.type
        if type(at) is not int or t.items is None or not -len(t.items) <= at < len(t.items):
            self.refuse(f"which element {text(target)} is, is not known before the program runs", statement)
        thing = self.expression(value)
        if self.put(target, thing, statement):
            return True
        items = self.items_of(self.env[target.value.id], statement)
        items[at] = thing
        self.rebind(target.value.id, self.new_list(items, statement))
        return True

    def set_slice(self, target, thing, statement) -> None:
        """``xs[1:] = [a, b]``, which may change the length."""
        piece, base, given = literal_slice(target.slice), self.env[target.value.id], self.type_of(thing)
        known = base.type.items is not None and given.kind in SEQUENCES and given.items is not None
        if known and piece is not None and piece.step is None:
            items = list(self.items_of(base, statement))
            items[piece] = self.items_of(thing, statement)
            now = self.new_list(items, statement)
        else:
            now = self.spliced(target, thing, statement)
        if now is None:
            self.refuse(f"which elements {text(target)} are, is not known before the program runs", statement)
        self.rebind(target.value.id, now)

    def augmented_item(self, statement) -> bool:
        """``xs[i] += v`` for an element that is a number; ``xs += [v]``."""
        target = statement.target
        if self.own_list(target) is not None and isinstance(statement.op, gast.Add):
            extend = gast.Call(gast.Attribute(target, "extend", gast.Load()), [statement.value], [])
            return self.edit(self.located(extend, statement), statement) is not None
        if self.augmented_element(statement):
            return True
        if not isinstance(target, gast.Subscript) or not isinstance(target.slice, (gast.Constant, gast.UnaryOp)):
            return False
        base = self.own_list(target.value)
        if base is None:
            return False
        if self.item(base.type, ir.Constant(constant_of(target.slice, None))).kind is not Kind.NUMBER:
            self.refuse("an element of a container that may be no number is changed in place", statement)
        before = gast.Subscript(target.value, target.slice, gast.Load())
        after = gast.BinOp(before, statement.op, statement.value)
        for node in (before, after):
            gast.copy_location(node, statement)
        return self.set_item(target, after, statement)

    def rebind(self, name: str, value: ir.Value) -> None:
        """Let the name of a list stand for what the list is now."""
        value.name = name
        self.temporaries.discard(value)
        self.env[name] = value
        self.track(name, value)

    def chained(self, first: ir.Value, second: ir.Value, node) -> ir.Value:
        """Two lists put together."""
        filled = [t for t in (first.type, second.type) if t.items != ()] or [first.type]
        element = functools.reduce(types.join, map(self.element_type, filled))
        active = is_active(first) or is_active(second)
        if active and element == ir.UNKNOWN:
            self.refuse("the elements of this list are of different kinds", node)
        self.freeze([first, second], node)
        regions = self.regions_of(first) + self.regions_of(second)
        result = self.value("t", ir.Type(Kind.LIST, element=element), active, regions)
        self.emit(ir.Op(result, operator.concat, (first, second), {}, None, self.found.location(node)))
        self.temporaries.add(result)
        return result

    # ------------------------------------------------------------------------------------------------ loops

    def appends_of(self, statement) -> dict:
        """The lists that each turn of a loop appends to exactly once, and does not look at: by statement."""
        found = {}
        for s in statement.body:
            appended = method_of(s)
            base = self.own_list(s.value.func.value) if appended else None
            if base is not None and base.type.items is not None:
                name = appended[0]
                mentions = [n for n in syntax.walk(statement) if isinstance(n, gast.Name) and n.id == name]
                if len(mentions) == 1:
                    found[id(s)] = name
            if jumps(s):
                break
        return found

    def collected(self, appends: dict, body: ir.Block, mark: int, statement) -> list:
        """Have a loop collect what it appends; the values that hold the lists after the loop.

        Lengths that have their names since `mark` may be others in each turn.
        """
        stores = [s for s in walk.statements(body) if isinstance(s, ir.Store)]
        written = {r.root() for s in stores for r in self.regions_of(s.into)}
        found = []
        for key, name in appends.items():
            item = self.collecting.pop(key)
            if item is None:
                self.refuse(f"this way of appending to {name} is not compiled", statement)
            if any(r.root() in written for r in self.regions_of(item)) or self.is_object(item):
                self.refuse(f"what is appended to {name} may be changed afterwards", statement)
            t, active = self.type_of(item), self.activity(item)
            if any_active(active) and (t == ir.UNKNOWN or (t.kind in CONTAINERS and isinstance(active, tuple))):
                active = any_active(active)
            t = types.of_each(t, mark)
            value = self.value(name, ir.Type(Kind.LIST, element=t), any_active(active), self.regions_of(item))
            body.results = (*body.results, item)
            found.append(value)
        return found

    def join_collected(self, appends: dict, values: list, statement) -> None:
        """After the loop: what was in the lists before stands in front of what was collected."""
        for name, value in zip(appends.values(), values, strict=True):
            before = self.env[name]
            if before.type.items == ():
                self.env[name] = value
            else:
                value.name = "t"
                self.rebind(name, self.chained(before, value, statement))

    def extreme(self, function, node):
        """``max(a, b)`` and ``min(a, b)`` of numbers, Python's own: the first of the largest."""
        things = self.expressions(node.args)
        if len(things) == 1 and is_active(things[0]):
            t = self.type_of(things[0])
            if t.kind not in SEQUENCES or not t.items:
                values = self.new_name("values")
                self.assign_name(values, things[0])
                argument = gast.Name(values, gast.Load(), None, None)
                return self.extreme_of(function, gast.copy_location(gast.Call(node.func, [argument], []), node))
            things = self.items_of(things[0], node)
        elif self.only_inert(things):
            return self.inert(node)
        if not all(is_one_number(self.type_of(t)) for t in things):
            self.refuse(f"{function.__name__}() of what may be no numbers", node)
        first, *others = (self.place_value(t) for t in things)
        sign = gast.Gt() if function is max else gast.Lt()
        for other in others:
            compared = gast.Compare(
                gast.Name("other", gast.Load(), None, None), [sign], [gast.Name("first", gast.Load(), None, None)]
            )
            test = ir.Code(compared, {"other": other, "first": first}, BOOL)
            first = self.choose(test, ir.Block(), other, ir.Block(), first, node)
        return first

    def place_value(self, thing) -> ir.Value:
        """A value that holds what a thing is."""
        return self.held_by_value(self.operand(thing), "t")

    def sum_of(self, thing, node):
        """``sum(thing)``, Python's own."""
        if not is_active(thing):
            return self.inert(node)
        t = self.type_of(thing)
        if not (t.kind is Kind.ARRAY and t.ndim or t.kind in (Kind.LIST, Kind.TUPLE)):
            self.refuse("sum() of this kind of value is not compiled", node)
        items = t.items if t.items is not None else (self.element_type(t),)
        if not all(item.kind in NUMERIC and item != ir.UNKNOWN for item in items):
            self.refuse("sum() of elements of different kinds", node)
        result_type = types.infer(sum, (thing,))
        self.freeze([thing], node)
        result = self.value("t", result_type, True)
        spelling = ir.Code(node.func, {}, ir.Type(Kind.CALLABLE))
        self.emit(ir.Op(result, sum, (thing,), {}, spelling, self.found.location(node)))
        self.temporaries.add(result)
        return result

    # ------------------------------------------------------------------------ displays and comprehensions

    def starred(self, kind, node):
        """``[*xs, y]``: the items one by one, where all are known; else what a list is put together of."""
        things = self.expressions([e.value if isinstance(e, gast.Starred) else e for e in node.elts])
        things = [self.place_value(t) if isinstance(t, Inert) else t for t in things]
        parts = []
        for element, thing in zip(node.elts, things, strict=True):
            t = self.type_of(thing)
            if not isinstance(element, gast.Starred):
                parts.append([thing])
            elif t.kind in SEQUENCES and t.items is not None:
                parts.append(self.items_of(thing, node))
            elif kind is Kind.LIST and (t.kind in SEQUENCES or (t.kind is Kind.ARRAY and t.ndim)):
                parts.append(self.list_made_of(thing, node))
            else:
                self.refuse(f"`*` in front of {text(element.value)}, of which it is not known how long it is", node)
        if all(isinstance(part, list) for part in parts):
            return self.sequence_of(kind, [item for part in parts for item in part], node)
        lists: list = []
        for few, run in itertools.groupby(parts, lambda part: isinstance(part, list)):
            known = list(run)
            lists += [self.new_list([item for part in known for item in part], node)] if few else known
        return functools.reduce(lambda first, second: self.chained(first, second, node), lists)

    def list_made_of(self, thing, node) -> ir.Value:
        """``list(thing)``"""
        values = self.new_name("values")
        self.assign_name(values, thing)
        given = gast.copy_location(gast.Name(values, gast.Load(), None, None), node)
        return self.list_of(gast.copy_location(gast.Call(given, [given], []), node))

    def expression_ListComp(self, node):
        return self.comprehension(node)

    def comprehension(self, node, apart=False):
        """``[e for x in xs]``: a loop that collects; the elements one by one, if they are asked for `apart`."""
        if syntax.contains(node, gast.NamedExpr):
            self.refuse("`:=` in a comprehension over values that carry a derivative", node)
        targets = {n.id for g in node.generators for n in targets_of(g.target) if isinstance(n, gast.Name)}
        name = self.unused_name("items")
        while name in self.env:
            name += "_"
        append = gast.Call(
            gast.Attribute(gast.Name(name, gast.Load(), None, None), "append", gast.Load()), [node.elt], []
        )
        statement = gast.Expr(append)
        loop = self.comprehension_loop(node, [self.located(statement, node)])
        hidden = {n: self.env.pop(n) for n in (targets & self.env.keys())}
        own, self.own_lists = self.own_lists, frozenset({name}) | (self.own_lists or self.find_own_lists())
        local, self.local = self.local, self.local | targets
        try:
            self.env[name] = self.new_list([], node)
            self.env |= {n: thing for n, thing in hidden.items() if n in self.names.loads(loop.iter)}
            rounds = self.unrollable(loop, needed=True) if apart or self.is_unlike(loop.iter) else None
            with self.changing_nothing(node, targets | {name}):
                self.for_(loop, frozenset()) if rounds is None else self.unrolled(loop, rounds, frozenset())
            result = self.env.pop(name)
        finally:
            self.own_lists, self.local = own, local
        for n in targets:
            self.env.pop(n, None)
        self.env |= hidden
        result.name = "t"
        self.temporaries.add(result)
        return result
