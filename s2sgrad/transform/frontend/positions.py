"""Lowers what iterates over differentiated values in ways of Python's own: by the positions of the values.

``sorted``, ``filter``, ``itertools.product``, comprehensions with conditions: all of them choose and order
elements, and no derivative flows through the choice. So they are made to choose among positions, which no
derivative flows through at all, and the loop reads the elements there ::

    sum(v * v for v in x if v > 0)             for v in sorted(x, key=abs): ...

is lowered as ::

    chosen = [i for i, v in enumerate(x) if v > 0]
    sum(x[i] * x[i] for i in chosen)           for i in sorted(range(len(x)), key=lambda i: abs(x[i])): v = x[i]; ...

Each function of the user's is called as often as it would be, in the same order, with the same values.
"""

import builtins
import copy
import functools
import itertools
import math

import gast

from s2sgrad.rules import table
from s2sgrad.transform.frontend import effects, syntax
from s2sgrad.transform.frontend.kinds import EFFECTLESS, SEQUENCES, is_active
from s2sgrad.transform.frontend.scan import targets_of
from s2sgrad.transform.frontend.values import Nested
from s2sgrad.transform.ir import Kind

# What takes iterables and gives tuples of their elements, or elements of the first in another order or number.
TUPLES = {itertools.product, itertools.combinations, itertools.combinations_with_replacement, itertools.permutations}
TUPLES |= {itertools.pairwise, zip}
CHOOSING = {sorted, filter, reversed, itertools.islice, itertools.takewhile, itertools.dropwhile, itertools.cycle}
CALLING_FIRST = {filter, itertools.takewhile, itertools.dropwhile}
WHOLE = {itertools.product, zip}  # all of their arguments are iterables
OTHERS = {enumerate, map, itertools.starmap}
LISTED = {itertools.accumulate, itertools.chain, itertools.repeat}
CONSUMING = {sum, max, min, list, tuple, sorted, functools.reduce, math.prod, math.fsum}


def name(identifier: str) -> gast.Name:
    return gast.Name(identifier, gast.Load(), None, None)


def stored(identifier: str) -> gast.Name:
    return gast.Name(identifier, gast.Store(), None, None)


def read(identifier: str, i: str) -> gast.Subscript:
    return gast.Subscript(name(identifier), name(i), gast.Load())


def call(function, *arguments, keywords=()) -> gast.Call:
    return gast.Call(function, list(arguments), list(keywords))


def choice(node):
    """`node`, which gives positions."""
    node.chooses = True
    return node


def pair(*elements, store=False) -> gast.Tuple:
    return gast.Tuple(list(elements), gast.Store() if store else gast.Load())


def assign(target, value) -> gast.Assign:
    return gast.Assign([target], value, None)


def as_loaded(target):
    """A target of an assignment, as an expression."""
    if isinstance(target, gast.Name):
        return name(target.id)
    return pair(*map(as_loaded, target.elts))


def parameters_of(names: list) -> gast.arguments:
    return gast.arguments([gast.Name(n, gast.Param(), None, None) for n in names], [], None, [], [], None, [])


def applied(function, value):
    """``function(value)``; of a lambda its body, with `value` (which may be read several times) in it."""
    if not isinstance(function, gast.Lambda):
        return call(function, value)
    args = function.args
    plain = len(args.args) == 1 and not (args.posonlyargs or args.vararg or args.kwonlyargs or args.kwarg)
    inner = any(isinstance(n, (*syntax.FUNCTIONS, *syntax.COMPREHENSIONS)) for n in gast.walk(function.body))
    if not plain or args.defaults or inner or not isinstance(value, gast.Subscript):
        return call(function, value)
    return _Substituted(args.args[0].id, value).visit(copy.deepcopy(function.body))


class _Substituted(gast.NodeTransformer):
    """An expression with another one in the place of a name."""

    def __init__(self, identifier: str, value):
        self.identifier = identifier
        self.value = value

    def visit_Name(self, node):
        return self.value if node.id == self.identifier else node


class Positions:
    """The part of `Lowering` that deals with iterators over differentiated values."""

    # ---------------------------------------------------------------------------------------- small things

    def new_name(self, wish: str) -> str:
        """A name that nothing in the function has, to be assigned once."""
        if self.written_names is None:
            self.written_names = syntax.written(self.found.node)
        while wish in self.written_names or wish in self.identifiers or wish in self.env or wish in self.local:
            wish += "_"
        self.local.add(wish)
        self.identifiers.add(wish)
        self.bindings[wish] = 1
        return wish

    def builtin(self, function, node) -> gast.Name:
        """The name of a builtin function, which has to mean that here."""
        wish = function.__name__
        if wish in self.local or self.outside.name(wish).value is not function or not hasattr(builtins, wish):
            self.refuse(f"{wish} is something else than Python's own function of that name", node)
        return name(wish)

    def iterator_of(self, node):
        """The function that a call is one of, if it is one that makes an iterator of others; else None."""
        known = self.static(node.func) if isinstance(node, gast.Call) else None
        found = self.session.plain(TUPLES | CHOOSING | OTHERS, None if known is None else known.value)
        if known is None or known.value not in found or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        return known.value

    def goes_by_positions(self, iterable, target) -> bool:
        """Is it an iterator over differentiated values that no loop runs over by itself?"""
        function = self.iterator_of(iterable)
        if function is None or not self.may_be_active(iterable) or self.sorted_rounds(iterable) is not None:
            return False
        if function in (enumerate, reversed) and iterable.args:
            inner = target.elts[-1] if function is enumerate and isinstance(target, gast.Tuple) else target
            return self.goes_by_positions(iterable.args[0], inner)
        if function is zip and isinstance(target, gast.Tuple) and len(target.elts) == len(iterable.args):
            return any(map(self.goes_by_positions, iterable.args, target.elts))
        return True

    # ------------------------------------------------------------------------------------------- positions

    def positions(self, iterable, target, taken: dict) -> tuple:
        """What a loop over `iterable` iterates over instead, its target, and the assignments to `target` in it.

        `taken` are the names that the loops around it bind (to what a derivative flows through, or not): what reads
        them is not evaluated before.
        """
        live = [n for n, active in taken.items() if active and n in self.names.loads(iterable)]
        if not live and not self.may_be_active(iterable):
            return iterable, target, []
        function = self.iterator_of(iterable)
        if function is None:
            return self.plain_positions(iterable, target, taken)
        args = iterable.args
        if function in (map, itertools.starmap):
            return self.mapped(function, args, target, taken, iterable)
        if function is enumerate and len(args) <= 2 and isinstance(target, gast.Tuple) and len(target.elts) == 2:
            inner, element, reads = self.positions(args[0], target.elts[1], taken)
            new = call(iterable.func, inner, *args[1:], keywords=iterable.keywords)
            return new, pair(target.elts[0], element, store=True), reads
        if function in TUPLES:
            return self.tuples(function, iterable, target, taken)
        if function in CALLING_FIRST and len(args) == 2:
            inner, element, reads = self.positions(args[1], target, taken)
            i = self.single(element, iterable)
            condition = self.expressed(reads, target)
            if not (isinstance(args[0], gast.Constant) and args[0].value is None):
                condition = applied(args[0], condition)
            return call(iterable.func, gast.Lambda(parameters_of([i]), condition), inner), element, reads
        if function is sorted and len(args) == 1 and all(k.arg in ("key", "reverse") for k in iterable.keywords):
            inner, element, reads = self.positions(args[0], target, taken)
            i = self.single(element, iterable)
            key = next((k.value for k in iterable.keywords if k.arg == "key"), None)
            value = self.expressed(reads, target)
            value = value if key is None else applied(key, value)
            keywords = [gast.keyword("key", gast.Lambda(parameters_of([i]), value))]
            keywords += [k for k in iterable.keywords if k.arg != "key"]
            return call(iterable.func, inner, keywords=keywords), element, reads
        if function in (reversed, itertools.islice) and args:
            inner, element, reads = self.positions(args[0], target, taken)
            return call(iterable.func, inner, *args[1:]), element, reads
        self.refuse(
            f"{gast.unparse(iterable.func).strip()}() over values that carry a derivative, in this form", iterable
        )

    def plain_positions(self, iterable, target, taken) -> tuple:
        """The positions of an array or list itself."""
        of, i = self.held_sequence(iterable, taken), self.new_name("i")
        return (
            call(self.builtin(range, iterable), call(self.builtin(len, iterable), name(of))),
            stored(i),
            [assign(target, read(of, i))],
        )

    def held_sequence(self, iterable, taken) -> str:
        """A name of an array or list."""
        self.used_up.add(id(iterable))
        if isinstance(iterable, gast.Name) and iterable.id in taken:
            return iterable.id
        if not self.names.loads(iterable).isdisjoint(taken):
            self.refuse("an iterator that depends on the loops around it", iterable)
        thing = self.as_list(iterable) if isinstance(iterable, gast.GeneratorExp) else self.expression(iterable)
        if isinstance(thing, Nested) or not is_active(thing):
            self.refuse("what is iterated over here cannot be told", iterable)
        t = self.type_of(thing)
        if not (t.kind is Kind.ARRAY and t.ndim or t.kind in SEQUENCES):
            self.refuse("what is iterated over here cannot be told", iterable)
        of = iterable.id if isinstance(iterable, gast.Name) else self.new_name("values")
        if not isinstance(iterable, gast.Name):
            self.assign_name(of, thing)
        elif self.bindings.get(of, 0) != 1:
            of = self.new_name(of)
            self.env[of] = thing
        return of

    def as_list(self, node):
        """A generator expression that is used up at once, as a list."""
        return self.comprehension(gast.copy_location(gast.ListComp(node.elt, node.generators), node))

    def single(self, element, node) -> str:
        """The name of the one position that a loop goes by."""
        if not isinstance(element, gast.Name):
            self.refuse("a choice among tuples of values that carry a derivative is not compiled", node)
        return element.id

    def expressed(self, reads: list, target):
        """What the assignments `reads` make of `target`, as one expression."""
        if len(reads) == 1 and isinstance(target, gast.Name):
            return reads[0].value
        self.refuse("a choice among tuples of values that carry a derivative is not compiled", target)

    def mapped(self, function, args, target, taken, node) -> tuple:
        """``map(f, xs)``: the elements of `xs`, and a call for each."""
        if function is itertools.starmap and len(args) == 2 and self.iterator_of(args[1]) is zip:
            function, args = map, [args[0], *args[1].args]
        given = [stored(self.new_name("item")) for _ in args[1:]]
        if function is not map or not given:
            self.refuse("this way of calling a function for each element is not compiled", node)
        whole = args[1] if len(given) == 1 else call(self.builtin(zip, node), *args[1:])
        inner, element, reads = self.positions(whole, given[0] if len(given) == 1 else pair(*given, store=True), taken)
        return inner, element, [*reads, assign(target, call(args[0], *map(as_loaded, given)))]

    def tuples(self, function, iterable, target, taken) -> tuple:
        """``product(a, b)``, ``combinations(a, 2)``, …: the same of positions."""
        args, whole = iterable.args, function in WHOLE
        if iterable.keywords and function is not itertools.product or not isinstance(target, gast.Tuple):
            self.refuse("this iterator over tuples of values that carry a derivative is not compiled", iterable)
        if whole and not iterable.keywords:
            parts = [
                self.positions(a, t, taken) for a, t in zip(args, target.elts, strict=len(args) == len(target.elts))
            ]
            if len(parts) != len(target.elts):
                self.refuse("this iterator over tuples of values that carry a derivative is not compiled", iterable)
            new = call(iterable.func, *(p[0] for p in parts))
            return new, pair(*(p[1] for p in parts), store=True), [r for p in parts for r in p[2]]
        if len(args) > 1 and whole:
            self.refuse("this iterator over tuples of values that carry a derivative is not compiled", iterable)
        of = self.held_sequence(args[0], taken)
        places = [self.new_name("i") for _ in target.elts]
        inner = call(self.builtin(range, iterable), call(self.builtin(len, iterable), name(of)))
        reads = [assign(t, read(of, i)) for t, i in zip(target.elts, places, strict=True)]
        new = call(iterable.func, inner, *args[1:], keywords=iterable.keywords)
        return new, pair(*map(stored, places), store=True), reads

    # ---------------------------------------------------------------------------------------------- loops

    def by_positions(self, statement):
        """A loop over an iterator of differentiated values as one over positions; None where it needs none."""
        if not self.goes_by_positions(statement.iter, statement.target):
            return None
        inner, target, reads = self.positions(statement.iter, statement.target, {})
        read_names = frozenset().union(*(self.names.loads(r.value) for r in reads))
        if not read_names.isdisjoint(self.mutable) or any(map(self.is_own, read_names)):
            self.refuse("an iterator over values that the function changes", statement)
        loop = gast.For(target, choice(inner), [*reads, *statement.body], statement.orelse, None)
        return self.located(loop, statement)

    def located(self, node, like):
        """`node`, with all that is new in it, at the place of `like` in the user's text."""
        for part in gast.walk(node):
            if not hasattr(part, "lineno"):
                gast.copy_location(part, like)
        return node

    def comprehension_loop(self, node, body: list) -> gast.For:
        """The loop that a comprehension is, which runs `body` each time."""
        first, *more = node.generators
        plain = not more and not first.ifs and not self.goes_by_positions(first.iter, first.target)
        if plain:
            return self.located(gast.For(first.target, first.iter, body, [], None), node)
        conditions = [c for g in node.generators for c in g.ifs]
        own = frozenset().union(*(self.names.stores(g.target) for g in node.generators))
        if conditions and not self.is_quiet(conditions, own) and not self.is_quiet([node.elt], own):
            self.refuse("the conditions and the elements of a comprehension may have effects in turns", node)
        taken: dict = {}
        generators, places, reads = [], [], []
        for generator in node.generators:
            if generator.is_async:
                self.refuse("an asynchronous comprehension", node)
            inner, target, assigns = self.positions(generator.iter, generator.target, taken)
            generators += self.choosing(inner, target, assigns, generator.ifs)
            bound = [n.id for n in targets_of(generator.target) if isinstance(n, gast.Name)]
            read = [m for a in assigns for m in targets_of(a.targets[0])]
            taken |= {n: n in {m.id for m in read if isinstance(m, gast.Name)} for n in bound}
            places.append(target)
            reads += assigns
        target = places[0] if not more else pair(*places, store=True)
        chosen = bool(more or first.ifs)
        iterable = gast.ListComp(as_loaded(target), generators) if chosen else generators[0].iter
        return self.located(gast.For(target, choice(iterable), [*reads, *body], [], None), node)

    def is_quiet(self, nodes: list, own: frozenset) -> bool:
        """Is the order in which these are evaluated surely not seen from outside? `own`: names of theirs."""
        calls = [n for node in nodes for n in gast.walk(node) if isinstance(n, gast.Call)]
        return all(self.is_quiet_call(call, own) for call in calls)

    def is_quiet_call(self, node, own: frozenset) -> bool:
        """Does a call change nothing? `own`: the names in it that are not the function's."""
        known = self.static(node.func, own)
        function = None if known is None else known.value
        if effects.writes_out(function, node) or any(k.arg in (None, "out") for k in node.keywords):
            return False
        if known is None:  # objects of the user's whose methods write have them said apart before
            attr = node.func.attr if isinstance(node.func, gast.Attribute) else ""
            return attr in table.METHODS or attr in table.INACTIVE_METHODS
        if effects.mutator(function) is not None:
            return False
        quiet = self.session.plain(EFFECTLESS | {abs, float, int, round, sum, max, min, pow, complex}, function)
        return function in quiet or self.session.is_effectless(function)

    def choosing(self, iterable, target, reads: list, conditions: list) -> list:
        """The part of a comprehension that gives the positions for which `conditions` hold of the elements there."""
        match iterable, target, [(r.targets[0], r.value) for r in reads]:
            case gast.Call(args=[gast.Call(args=[gast.Name() as of])]), gast.Name(), [(item, gast.Subscript())]:
                both = pair(target, item, store=True)  # the iterable is `range(len(of))`
                return [gast.comprehension(both, call(self.builtin(enumerate, iterable), of), conditions, 0)]
        found = [gast.comprehension(target, iterable, [], 0)]
        found += [gast.comprehension(r.targets[0], gast.List([r.value], gast.Load()), [], 0) for r in reads]
        found[-1].ifs = conditions
        return found

    # ------------------------------------------------------------------------------------------ consumers

    def consumed(self, node):
        """A call that uses up an iterator over differentiated values, with a list in its place."""
        at = 1 if self.static(node.func).value is functools.reduce else 0
        if len(node.args) <= at or any(isinstance(a, gast.Starred) for a in node.args):
            return node
        argument, v = node.args[at], None
        if isinstance(argument, gast.GeneratorExp):
            made = gast.ListComp(argument.elt, argument.generators)
        elif self.iterator_of(argument) is not None and self.may_be_active(argument):
            v = self.elements_of(argument)
            made = gast.ListComp(as_loaded(v), [gast.comprehension(v, argument, [], 0)])
        else:
            return node
        arguments = [*node.args[:at], self.located(made, argument), *node.args[at + 1 :]]
        return gast.copy_location(gast.Call(node.func, arguments, node.keywords), node)

    def elements_of(self, iterable):
        """A target for the elements of an iterator."""
        function = self.iterator_of(iterable)
        n = 1
        if function in TUPLES:
            n = 2 if function is itertools.pairwise else len(iterable.args)
            if function not in WHOLE and function is not itertools.pairwise:
                size = iterable.args[1] if len(iterable.args) > 1 else None
                n = size.value if isinstance(size, gast.Constant) and type(size.value) is int else 1
        elif function is enumerate:
            n = 2
        names = [stored(self.new_name("item")) for _ in range(n)]
        return names[0] if n == 1 else pair(*names, store=True)

    def sorted_list(self, node):
        """``sorted(xs)`` of differentiated values."""
        v = stored(self.new_name("item"))
        made = gast.ListComp(name(v.id), [gast.comprehension(v, node, [], 0)])
        return self.comprehension(self.located(made, node))

    def list_of(self, node):
        """``list(xs)`` of differentiated values."""
        (iterable,) = node.args
        v = stored(self.new_name("item"))
        made = gast.ListComp(name(v.id), [gast.comprehension(v, iterable, [], 0)])
        return self.comprehension(self.located(made, node))

    def extreme_of(self, function, node):
        """``max(xs)`` and ``min(xs, key=f)``: the element at the position that has the first extreme value."""
        if [k.arg for k in node.keywords] not in ([], ["key"]) or len(node.args) != 1:
            self.refuse(f"this form of {function.__name__}() of values that carry a derivative is not compiled", node)
        of, i, where = self.held_sequence(node.args[0], {}), self.new_name("i"), self.new_name("i")
        value = read(of, i)
        value = applied(node.keywords[0].value, value) if node.keywords else value
        places = call(self.builtin(range, node), call(self.builtin(len, node), name(of)))
        key = gast.keyword("key", gast.Lambda(parameters_of([i]), value))
        found = choice(call(node.func, places, keywords=[key]))
        self.statement(self.located(assign(stored(where), found), node), frozenset({where, of}))
        return self.expression(self.located(read(of, where), node))

    def reduced(self, node):
        """``functools.reduce(f, xs)``: a loop that calls `f`."""
        if node.keywords or len(node.args) not in (2, 3):
            self.refuse("this form of reduce() is not compiled", node)
        function, iterable, *first = node.args
        total, item = self.new_name("total"), self.new_name("item")
        rest = iterable
        if not first:
            of = self.held_sequence(iterable, {})
            first = [gast.Subscript(name(of), gast.Constant(0, None), gast.Load())]
            rest = gast.Subscript(name(of), gast.Slice(gast.Constant(1, None), None, None), gast.Load())
        step = assign(stored(total), call(function, name(total), name(item)))
        loop = gast.For(stored(item), rest, [step], [], None)
        statements = [assign(stored(total), first[0]), loop]
        with self.changing_nothing(node):
            self.walk([self.located(s, node) for s in statements], frozenset({total}), tail=False)
        return self.env.pop(total)
