"""Loops over a few values that are known one by one, as the statements that they are.

``for W, b in params[:-1]: h = np.tanh(h @ W + b)`` over a list of three pairs is lowered as ::

    W, b = params[0]
    h = np.tanh(h @ W + b)
    W, b = params[1]
    h = np.tanh(h @ W + b)

so that each layer has shapes of its own, nothing is saved in lists, and what no derivative flows to is not
computed. Only short loops: the code has to stay readable.
"""

import copy

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.kinds import SEQUENCES, constant_of, is_active
from s2sgrad.transform.frontend.scan import is_pair, jumps
from s2sgrad.transform.ir import Kind

MOST_ROUNDS = 4
MOST_STATEMENTS = 12
MOST_ITEMS, MOST_STATEMENTS_OF_ITEMS = 8, 40  # of what could not be a loop
PLAIN = (Kind.NUMBER, Kind.ARRAY)
DISPLAYS = (gast.List, gast.Tuple)
NEVER_TWICE = (gast.For, gast.While, gast.Try, gast.With, *syntax.FUNCTIONS, *syntax.COMPREHENSIONS)


class Unrolling:
    """The part of `Lowering` that unrolls loops."""

    def unrollable(self, statement, needed=False) -> list | None:
        """What is assigned to the target in each round of a loop, as expressions; None where it stays a loop.

        `needed`: as a loop, it could not be followed.
        """
        nodes = [n for s in statement.body for n in syntax.walk(s)]
        size = sum(isinstance(n, gast.stmt) for n in nodes)
        if any(map(jumps, statement.body)) or self.names.loads(statement.iter) & self.names.stores(statement):
            return None
        needed = needed or self.is_unlike(statement.iter) or self.counts_slots(statement)
        never = self.sees_turn(statement) if needed else lambda n: isinstance(n, NEVER_TWICE)
        if any(map(never, nodes)):
            return None
        rounds = self.rounds(statement.iter, statement.target, needed)
        most = (MOST_ITEMS, MOST_STATEMENTS_OF_ITEMS) if needed else (MOST_ROUNDS, MOST_STATEMENTS)
        if rounds is None or not (0 if needed else 1) <= len(rounds) <= most[0] or len(rounds) * size > most[1]:
            return None
        return rounds

    def sees_turn(self, statement):
        """Whether a node in a loop is a function that sees in which turn it is called, or that gets a name."""
        bound = self.names.stores(statement)

        def sees(node) -> bool:
            if isinstance(node, gast.Lambda):
                return bool(self.names.captured(node) & bound)
            return isinstance(node, syntax.FUNCTIONS)

        return sees

    def counts_slots(self, statement) -> bool:
        """Does what a loop counts say which slot it fills, or which one of a dict it looks up?"""
        counted = self.fed_names(statement.body, self.names.stores(statement.target))

        def says(node, place, kinds) -> bool:
            held = self.holder(node) if self.names.loads(place) & counted else None
            return held in self.objects and held.type.kind in kinds

        def fills(node) -> bool:
            if not isinstance(node, (gast.Subscript, gast.Attribute)):
                return False
            here = isinstance(node, gast.Subscript) and says(node.value, node.slice, (Kind.LIST, Kind.DICT))
            return here or fills(node.value)

        def asks(node) -> bool:
            match node:
                case gast.Subscript(ctx=gast.Store()):
                    return fills(node)
                case gast.Subscript(value=held, slice=key):
                    return says(held, key, (Kind.DICT,))
                case gast.Call(func=gast.Attribute(value=held), args=[key, *_]):
                    return says(held, key, (Kind.DICT,))
                case gast.Compare(left=key, comparators=[held]):
                    return says(held, key, (Kind.DICT,))
            return False

        return any(asks(node) for s in statement.body for node in syntax.walk(s))

    def over_named(self, statement):
        """The loop with names for the lists in it that are in slots, or hold functions: ``for body in system.bodies``.

        Something else may be put there in the loop, which goes on over the list that it has begun with.
        """
        whole = statement.iter
        displays = [n for n in (whole.args if isinstance(whole, gast.Call) else [whole]) if isinstance(n, DISPLAYS)]
        if any(map(holds_text, displays)) or (displays and self.counts_slots(statement)):
            return self.over_said(statement, displays)
        displays = displays if any(map(self.writes_functions, displays)) else []

        def named(node):
            held = self.held_item(node)
            slots = isinstance(held, ir.Value) and held in self.objects and held.type.kind in SEQUENCES
            t = None if slots or isinstance(node, gast.Name) else self.type_at(node)
            if node in displays or (t is not None and t.kind in SEQUENCES and holds_functions(t)):
                held = self.operand(self.expression(node), "items")
            elif not slots:
                return node
            name = self.new_name("items")
            self.env[name] = held
            return gast.copy_location(gast.Name(name, gast.Load(), None, None), node)

        return over_others(statement, named)

    def over_said(self, statement, displays: list):
        """The loop with names for what is computed in lists and tuples that are written down with keys in them."""
        if any(isinstance(n, gast.Starred) for display in displays for n in syntax.walk(display)):
            return statement

        def said(node):
            if isinstance(node, DISPLAYS):
                return gast.copy_location(type(node)(list(map(said, node.elts)), node.ctx), node)
            if is_literal(node):
                return node
            if self.is_named_function(node):
                found = copy.copy(node)
            else:
                found = gast.copy_location(gast.Name(self.new_name("item"), gast.Load(), None, None), node)
                self.assign_name(found.id, self.expression(node))
            found.said = True
            return found

        return over_others(statement, lambda node: said(node) if node in displays else node)

    def writes_functions(self, display) -> bool:
        """Does a list or tuple that is written down hold functions, or pairs with functions?"""
        return any(
            self.writes_functions(e) if isinstance(e, DISPLAYS) else self.is_named_function(e) for e in display.elts
        )

    def is_unlike(self, iterable) -> bool:
        """Is it what a dict holds, or a container with slots: values that need not be alike, or are written into?"""
        thing = self.env.get(iterable.id) if isinstance(iterable, gast.Name) else None
        if thing in self.objects or (isinstance(thing, ir.Value) and holds_functions(thing.type)):
            return True
        given = iterable.args if isinstance(iterable, gast.Call) else ()
        if any(isinstance(a, (gast.Name, gast.Call)) and self.is_unlike(a) for a in given):
            return True
        texts = isinstance(iterable, DISPLAYS) and bool(iterable.elts) and all(map(holds_text, iterable.elts))
        view = isinstance(iterable, gast.Call) and not iterable.args and self.rounds_of_dict(iterable.func) is not None
        return texts or view or self.keys_of_dict(iterable) is not None

    def rounds(self, iterable, target, counted=False) -> list | None:
        """The elements of an iterable, as expressions; those of a `range`, if they are to be `counted`."""
        if isinstance(iterable, gast.Name):
            keys = self.keys_of_dict(iterable)
            if keys is not None:
                return list(map(literal, keys))
            n = self.fixed_length(iterable) if counted else self.length_of(iterable)
            return None if n is None else [element(iterable, i) for i in range(n)]
        if isinstance(iterable, gast.Subscript) and isinstance(iterable.slice, gast.Slice):
            n, bounds = self.length_of(iterable.value), literal_slice(iterable.slice)
            return None if n is None or bounds is None else [element(iterable.value, i) for i in range(n)[bounds]]
        if (
            isinstance(iterable, DISPLAYS)
            and iterable.elts
            and all(map(is_literal if counted else is_text, iterable.elts))
        ):
            return iterable.elts
        in_order = self.sorted_rounds(iterable)
        if in_order is not None:
            return in_order
        if not isinstance(iterable, gast.Call) or any(k.arg != "strict" for k in iterable.keywords):
            return None
        if not iterable.args:
            return self.rounds_of_dict(iterable.func)
        known = self.static(iterable.func)
        function = known.value if known is not None else None
        if function is range and counted:
            bounds = [self.literal_key(a) for a in iterable.args]
            known = all(type(b) is int for b in bounds) and 0 not in bounds[2:]
            counts = range(*bounds) if known else None
            return None if counts is None or len(counts) > MOST_ITEMS else list(map(number, counts))
        if function is reversed and len(iterable.args) == 1:
            inner = self.rounds(iterable.args[0], target, counted)
            return None if inner is None else inner[::-1]
        if function is enumerate and len(iterable.args) == 1 and is_pair(target):
            inner = self.rounds(iterable.args[0], target.elts[1], counted)
            return None if inner is None else [tuple_of([number(i), e]) for i, e in enumerate(inner)]
        if function is zip and isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == len(iterable.args):
            parts = [self.rounds(a, t, counted) for a, t in zip(iterable.args, target.elts, strict=True)]
            if None in parts or len({len(p) for p in parts}) != 1:
                return None
            return [tuple_of(list(row)) for row in zip(*parts, strict=True)]
        return None

    def rounds_of_dict(self, function) -> list | None:
        """The elements of ``d.items()``, ``d.values()``, ``d.keys()``."""
        keys = self.keys_of_dict(function.value) if isinstance(function, gast.Attribute) else None
        if keys is None or function.attr not in ("items", "values", "keys"):
            return None
        names = list(map(literal, keys))
        values = [gast.Subscript(function.value, name, gast.Load()) for name in names]
        if function.attr == "items":
            return [tuple_of([name, value]) for name, value in zip(names, values, strict=True)]
        return names if function.attr == "keys" else values

    def sorted_rounds(self, iterable) -> list | None:
        """The elements of ``sorted(d)`` or ``sorted(d.items())``: no two keys are equal, and no value is compared."""
        match iterable:
            case gast.Call(args=[gast.Name() as held], keywords=[]):
                keys, rounds = self.keys_of_dict(held), self.rounds(held, None)
            case gast.Call(
                args=[gast.Call(func=gast.Attribute(value=held, attr="items" | "keys"), args=[])], keywords=[]
            ):
                keys, rounds = self.keys_of_dict(held), self.rounds_of_dict(iterable.args[0].func)
            case _:
                return None
        alike = keys is not None and set(map(type, keys)) in ({int}, {str})
        known = self.static(iterable.func) if alike else None
        if known is None or known.value is not sorted:
            return None
        return [rounds[i] for i in sorted(range(len(keys)), key=keys.__getitem__)]

    def keys_of_dict(self, node) -> tuple | None:
        """The keys of a dict of differentiated values, of functions, or with slots, where they are known."""
        known = self.static(node) if isinstance(node, gast.Name) and node.id not in self.mutable else None
        if known is not None and type(known.value) is dict and self.outside.elements(known) is not None:
            return tuple(known.value)
        thing = self.env.get(node.id) if isinstance(node, gast.Name) else None
        if not isinstance(thing, ir.Value) or thing.type.kind is not Kind.DICT:
            return None
        if not is_active(thing) and thing not in self.objects and not self.holds_sure_functions(node):
            return None
        keys = thing.type.keys
        return keys if keys and all(map(is_plain_key, keys)) else None

    def length_of(self, node, kinds=SEQUENCES) -> int | None:
        """The length of a container of differentiated values that is of one of these kinds, where it is known."""
        thing = self.env.get(node.id) if isinstance(node, gast.Name) else self.held_item(node)
        if not isinstance(thing, ir.Value) or thing.type.kind not in kinds:
            return None
        if not is_active(thing) and thing not in self.objects and not self.holds_sure_functions(node):
            return None
        return None if thing.type.items is None else len(thing.type.items)

    def holds_sure_functions(self, node) -> bool:
        """Is a name one of a container that nobody changes and that holds functions which are known?"""
        return isinstance(node, gast.Name) and node.id not in self.mutable and holds_functions(self.env[node.id].type)

    def fixed_length(self, node, kinds=SEQUENCES) -> int | None:
        """The length of such a list or tuple, or of an argument that nobody changes while the function runs."""
        n = self.length_of(node, kinds)
        thing = self.env.get(node.id) if n is None and isinstance(node, gast.Name) else None
        if thing not in self.parameters or thing.type.kind not in kinds or thing.type.items is None:
            return n
        changed = (self.env.get(name) for name in self.mutable if name in syntax.parameters(self.found.node))
        alone = all(isinstance(t, ir.Value) and (t in self.objects or t.type.kind in PLAIN) for t in changed)
        return len(thing.type.items) if alone and self.is_only_read(node.id) else None

    def is_only_read(self, name: str) -> bool:
        """Is what a name stands for looked at only, and given to nobody who might change it?"""

        def found(node, parents) -> bool:
            if isinstance(node, gast.Name):
                return node.id != name or (isinstance(node.ctx, gast.Load) and self.only_reads(node, parents))
            return all(found(child, (*parents, node)) for child in syntax.children(node))

        return name not in self.mutable and all(found(s, (None,)) for s in self.body)

    def unrolled(self, statement, rounds: list, after) -> None:
        """A loop, as its body once for each of the expressions `rounds`."""
        later = after | self.names.loads(statement)
        before = self.contents_of_names(statement.iter)
        copied = syntax.contains(statement.iter, gast.Slice) or self.sorted_rounds(statement.iter) is not None
        for expression in rounds:
            first = assignments(statement.target, expression)
            for node in (n for s in first for n in syntax.walk(s)):
                gast.copy_location(node, statement)
            self.walk([*first, *statement.body], later, tail=False)
            self.see_iterated(statement.iter, before, statement, lively=not copied)
        self.walk(statement.orelse, after, tail=False)


def assignments(target, expression) -> list:
    """``target = expression``, a tuple element by element."""
    alike = isinstance(target, (gast.Tuple, gast.List)) and isinstance(expression, gast.Tuple)
    alike = alike and len(target.elts) == len(expression.elts)
    if alike and not any(isinstance(e, gast.Starred) for e in (*target.elts, *expression.elts)):
        pairs = zip(target.elts, expression.elts, strict=True)
        return [s for t, e in pairs for s in assignments(t, e)]
    return [gast.Assign([target], expression, None)]


def over_others(statement, other):
    """A loop over what `other` makes of each argument of its iterator, or of what it runs over."""
    whole = statement.iter
    if isinstance(whole, gast.Call):
        iterable = gast.Call(whole.func, list(map(other, whole.args)), whole.keywords)
    else:
        iterable = other(whole)
    fields = dict(gast.iter_fields(statement)) | {"iter": gast.copy_location(iterable, whole)}
    return gast.copy_location(gast.For(*[fields[name] for name in gast.For._fields]), statement)


def holds_functions(t: ir.Type) -> bool:
    """Is a function that is known among the items of a container, or in one of these?"""
    return any(item.function is not None or holds_functions(item) for item in t.items or ())


def is_plain_key(key) -> bool:
    """Can a key of a dict be written down, and is it no other one's equal?"""
    return all(map(is_plain_key, key)) if type(key) is tuple else type(key) in (str, int)


def literal(key):
    """A key as an expression."""
    return tuple_of(list(map(literal, key))) if type(key) is tuple else gast.Constant(key, None)


def is_text(node) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)


def holds_text(node) -> bool:
    return is_text(node) or (isinstance(node, DISPLAYS) and any(map(holds_text, node.elts)))


def is_literal(node) -> bool:
    """Is it a number, a text or a tuple of such that is written down, or a name of what was computed before?"""
    if isinstance(node, gast.Tuple):
        return all(map(is_literal, node.elts))
    return getattr(node, "said", False) or isinstance(constant_of(node, None), (str, int, float))


def element(node, i: int):
    return gast.Subscript(node, number(i), gast.Load())


def number(i: int):
    return gast.Constant(i, None)


def tuple_of(nodes: list):
    return gast.Tuple(nodes, gast.Load())


def literal_slice(node) -> slice | None:
    """The slice that a node surely is."""
    bounds = [None if b is None else constant_of(b, "") for b in (node.lower, node.upper, node.step)]
    return slice(*bounds) if all(b is None or type(b) is int for b in bounds) and bounds[2] != 0 else None
