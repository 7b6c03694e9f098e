"""Loops over generators of the user's, as the generator's own statements with the loop's body where it yields.

``for u in steps(x, 3): total += f(u)``, where `steps` is ``for i in range(n): u = g(u); yield u``, is lowered as ::

    u_ = x
    n = 3
    for i in range(n):
        u_ = g(u_)
        u = u_
        total += f(u)

which is what Python does, in this order. A comprehension over a generator is such a loop that collects. Where it yields
in several places, the body stands in each of them; a `return` in the loop that it ends with is a `break`, and
``yield from xs`` a loop that yields.
"""

import builtins
import copy
import itertools
from types import FunctionType

import gast

from s2sgrad.transform.frontend import effects, resolve, source, syntax
from s2sgrad.transform.frontend.scan import LOOPS, WRITERS, breaks, is_pair, jumps

DEEPEST = 4  # generators that run over generators
MOST_YIELDS = 3  # each of which gets the body of the loop
YIELDS = (gast.Yield, gast.YieldFrom)
STRANGE = (gast.YieldFrom, gast.Return, gast.Await, gast.Global, gast.Nonlocal, gast.NamedExpr)
GUARDING = (gast.Try, gast.With)
CONSUMING = ("sum", "list", "tuple", "max", "min")
METHODS = ("prod", "fsum")  # those of `math` that use up what they are given
BLOCKS = ("body", "orelse", "finalbody")
PARTS = ("handlers", "cases")  # what has blocks of its own
APART = (gast.IfExp, gast.BoolOp, *syntax.FUNCTIONS, *syntax.COMPREHENSIONS)  # parts of them may not be evaluated


class Generators:
    """The part of `Lowering` that looks for such loops, before all else.

    `session`, `names`, `namespace`, `outside` and `found` are those of the `Lowering`.
    """

    def without_generators(self, body: list, depth: int = 0) -> list:
        """Statements in which no loop runs over a generator that can be said in its place."""
        if depth > DEEPEST:
            return body
        found: list = []
        for s in body:
            found += self.without_generator(s, depth)
        return found

    def without_generator(self, s, depth: int) -> list:
        if isinstance(s, (*syntax.FUNCTIONS, gast.ClassDef)):
            return [s]
        if isinstance(s, (gast.Assign, gast.AugAssign, gast.Return, gast.Expr)) and s.value is not None:
            before, value = self.collected_first(s)
            if before and self.may_come_first(s):
                s = replaced(s, value=value)
                return [*self.without_generators(before, depth), s]
        if isinstance(s, gast.For):
            inner = self.in_its_loop(s)
            if inner is not None:
                return self.without_generators(inner, depth + 1)
        changed: dict = {}
        for name in BLOCKS:
            old = getattr(s, name, [])
            if (new := self.without_generators(old, depth)) != old:
                changed[name] = new
        for name in PARTS:
            old = getattr(s, name, [])
            new = [self.without_generators(part.body, depth) for part in old]
            if new != [part.body for part in old]:
                changed[name] = [replaced(part, body=body) for part, body in zip(old, new, strict=True)]
        return [replaced(s, **changed) if changed else s]

    def generator_called(self, call) -> tuple | None:
        """The generator function that a call is one of: its syntax tree, and the function itself if it is outside."""
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name):
            return None
        if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return None
        name = call.func.id
        if name in self.local:
            tree, function = self.defined.get(name), None
            if not isinstance(tree, gast.FunctionDef) or self.bindings.get(name) != 1:
                return None
        else:
            function = self.glimpse(call.func)
            if not isinstance(function, FunctionType) or function.__closure__ or hasattr(function, "__wrapped__"):
                return None
            if resolve.is_trusted(function) or not self.means_the_same(function):
                return None
            tree = source.find(function).node
        if not isinstance(tree, gast.FunctionDef) or tree.decorator_list:
            return None
        if syntax.contains(gast.Module(tree.body, []), gast.YieldFrom):
            names = {n.id for n in gast.walk(tree) if isinstance(n, gast.Name)}
            item = next(name for name in (f"item{'_' * i}" for i in itertools.count()) if name not in names)
            tree = replaced(tree, body=without_delegating(tree.body, item))
        return (tree, function) if is_simple_generator(tree) else None

    def in_its_loop(self, s) -> list | None:
        """A loop over a generator, as the statements of that with the body of the loop in it; None for other loops."""
        call, target, first, body = s.iter, s.target, [], s.body
        if isinstance(call, gast.Call) and isinstance(call.func, gast.Name) and call.func.id == "enumerate":
            plain = self.is_builtin("enumerate", enumerate) and len(call.args) in (1, 2) and not call.keywords
            start = call.args[1] if len(call.args) > 1 else gast.Constant(0, None)
            if not plain or not is_pair(target) or not isinstance(start, gast.Constant):
                return None
            if any(isinstance(n, (gast.Subscript, gast.Attribute)) for n in syntax.walk(target)):
                return None  # where it is put may be read after the number is bound
            number, target = target.elts
            call = call.args[0]
            counter = self.free_name("count")
            first = [assign(counter, start)]
            count = gast.BinOp(load(counter), gast.Add(), gast.Constant(1, None))
            body = [gast.Assign([number], load(counter), None), assign(counter, count), *body]
        found = self.generator_called(call)
        if found is None or not fits(found[0], s):
            return None
        given = self.parameters_given(found[0], call)
        if given is None:
            return None
        text = returning(found[0])
        own = set(syntax.parameters(found[0])).union(*map(self.names.stores, text))
        free = self.names.captured(found[0])
        if found[1] is not None and not free.isdisjoint(self.local | self.made_names):
            return None
        named = {name: self.free_name(name, free) for name in sorted(own)}
        statements = [renamed(one, named) for one in text]
        start = [assign(named[name], value) for name, value in given]
        turn = [gast.Assign([target], None, None), *body]
        whole = [*first, *start, *(one for t in statements for one in yielding(t, turn)), *s.orelse]
        if found[1] is not None:
            self.outside.name(call.func.id)
            self.outside.follow(found[1])
            self.session.report(source.find(found[1]))
        for one in whole:
            for node in syntax.walk(one):
                if not hasattr(node, "lineno"):
                    gast.copy_location(node, s)
        return whole

    def parameters_given(self, tree, call) -> list | None:
        """What each parameter of a generator gets, in the order in which it is evaluated."""
        args = tree.args
        if args.vararg is not None or args.kwarg is not None:
            return None
        positional = [a.id for a in [*args.posonlyargs, *args.args]]
        if len(call.args) > len(positional):
            return None
        given = list(zip(positional, call.args, strict=False)) + [(k.arg, k.value) for k in call.keywords]
        defaults = dict(zip(positional[::-1], args.defaults[::-1], strict=False))
        defaults |= {a.id: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
        for name in syntax.parameters(tree):
            if sum(name == one for one, _ in given) != 1:
                if any(name == one for one, _ in given) or not isinstance(defaults.get(name), gast.Constant):
                    return None
                given.append((name, defaults[name]))
        return given if {name for name, _ in given} == set(syntax.parameters(tree)) else None

    def collected_first(self, s) -> tuple:
        """What collects the elements of generators that a statement uses up, and its value without these."""
        before: list = []
        alone = [] if isinstance(s, gast.AugAssign) else [s.value]  # nothing else is evaluated before it
        if alone and self.uses_up(s.value):
            alone.append(s.value.args[0])

        def collected(node):
            """The list of all that a generator, or a comprehension over one, gives; None where it is none."""
            if isinstance(node, gast.ListComp | gast.GeneratorExp) and len(node.generators) == 1:
                (clause,) = node.generators
                first = self.is_used_up_first(clause.iter, node in alone) and not clause.is_async
                return self.collected_in(before, node, clause) if first else None
            if not self.is_used_up_first(node, node in alone):
                return None
            item = self.free_name("item")
            clause = gast.comprehension(store(item), node, [], 0)
            return self.collected_in(before, gast.copy_location(gast.ListComp(load(item), [clause]), node), clause)

        def rebuilt(node):
            items = collected(node.args[0]) if self.uses_up(node) else None
            if items is not None:
                return self.called_on(node, items)
            items = collected(node) if isinstance(node, gast.ListComp) else None
            if items is not None:
                return items
            if isinstance(node, APART):
                return node
            fields = {name: rebuilt_field(old) for name, old in gast.iter_fields(node)}
            same = all(fields[name] is old for name, old in gast.iter_fields(node))
            return node if same else replaced(node, **fields)

        def rebuilt_field(old):
            if isinstance(old, list):
                now = [rebuilt(one) if isinstance(one, gast.AST) else one for one in old]
                return old if all(a is b for a, b in zip(now, old, strict=True)) else now
            return rebuilt(old) if isinstance(old, gast.expr | gast.keyword) else old

        new = rebuilt(s.value)
        return before, new

    def uses_up(self, node) -> bool:
        """Is it a call that uses up its argument, all of it?"""
        if not isinstance(node, gast.Call) or len(node.args) != 1 or isinstance(node.args[0], gast.Starred):
            return False
        if isinstance(node.func, gast.Attribute):
            return node.func.attr in METHODS and not node.keywords
        if not isinstance(node.func, gast.Name) or node.func.id not in CONSUMING:
            return False
        name, plain = node.func.id, not node.keywords
        if name in ("max", "min") and len(node.keywords) == 1 and node.keywords[0].arg == "default":
            plain = isinstance(node.keywords[0].value, gast.Constant) and self.is_builtin("len", len)
        return plain and self.is_builtin(name, getattr(builtins, name))

    def called_on(self, node, items):
        """A call that uses up what is in a list now; ``max(xs, default=c)`` is ``max(xs) if len(xs) else c``."""
        call = replaced(node, args=[items], keywords=[])
        if not node.keywords:
            return call
        length = gast.Call(load("len"), [items], [])
        return gast.copy_location(gast.IfExp(length, call, node.keywords[0].value), node)

    def is_used_up_first(self, node, alone: bool) -> bool:
        """Is it the call of a generator that may run before what it stands in?

        It changes nothing, or all else is evaluated after it: it stands there `alone`.
        """
        found = self.generator_called(node)
        return found is not None and (alone or not changes_arrays(found[0]))

    def may_come_first(self, s) -> bool:
        """May the generators that a statement uses up run before all else that it evaluates?

        They may where nothing is evaluated before them, and where no call changes what another one sees.
        """
        value = s.value
        first = value.args[0] if isinstance(value, gast.Call) and value.args else value
        over = first.generators[0].iter if isinstance(first, gast.ListComp | gast.GeneratorExp) else first
        called = [n for n in syntax.walk(value) if self.generator_called(n) is not None]
        before = isinstance(s, gast.AugAssign) or first is not value and syntax.contains(value.func, gast.Call)
        if not before and over in called and set(called) <= set(syntax.walk(first)):
            return True
        clauses = [n.target for n in syntax.walk(value) if isinstance(n, gast.comprehension)]
        parts = [(value, frozenset().union(*map(self.names.stores, clauses)))]
        for tree, _ in map(self.generator_called, called):
            own = frozenset(syntax.parameters(tree)).union(*map(self.names.stores, tree.body))
            parts += [(one, own) for one in tree.body]
        return all(self.changes_nothing(n, own) for part, own in parts for n in syntax.walk(part) if n not in called)

    def changes_nothing(self, node, own: frozenset) -> bool:
        """Does a node of an expression, or of a generator, surely change nothing? `own`: names not of the function.

        What methods do is not known here: an object of the user's may have one of any name.
        """
        if not isinstance(node, gast.Call):
            return not isinstance(node, gast.NamedExpr)
        name = getattr(node.func, "id", None)
        if name in CONSUMING and name not in own and self.is_builtin(name, getattr(builtins, name)):
            return True
        return self.static(node.func, own) is not None and self.is_quiet_call(node, own)

    def collected_in(self, before: list, node, clause):
        """The name of a list that statements `before` fill with what a comprehension over a generator gives."""
        items = self.free_name("items")
        own = {name: self.free_name(name) for name in sorted(self.names.stores(clause.target))}
        element = gast.Call(gast.Attribute(load(items), "append", gast.Load()), [renamed(node.elt, own)], [])
        body = [gast.Expr(element)]
        for test in reversed(clause.ifs):
            body = [gast.If(renamed(test, own), body, [])]
        loop = gast.For(renamed(clause.target, own), clause.iter, body, [], None)
        before += [assign(items, gast.List([], gast.Load())), loop]
        for one in before[-2:]:
            for part in syntax.walk(one):
                if not hasattr(part, "lineno"):
                    gast.copy_location(part, node)
        return gast.copy_location(load(items), node)

    def free_name(self, wish: str, others=frozenset()) -> str:
        """A name that nothing in the function has, and that is none of `others`."""
        if self.written_names is None:
            self.written_names = syntax.written(self.found.node)
        while wish in self.written_names or wish in self.made_names or wish in others:
            wish += "_"
        self.made_names.add(wish)
        return wish


def is_simple_generator(tree) -> bool:
    """Does a function yield in statements of their own, and otherwise do what can be done in its caller's place?"""
    nodes = [n for s in returning(tree) for n in syntax.walk(s)]
    yields = [n for n in nodes if isinstance(n, YIELDS)]
    alone = [n.value for n in nodes if isinstance(n, gast.Expr) and isinstance(n.value, gast.Yield)]
    strange = any(isinstance(n, (*STRANGE, *syntax.FUNCTIONS, gast.ClassDef)) for n in nodes)
    strange = strange or any(isinstance(n, GUARDING) and syntax.contains(n, YIELDS) for n in nodes)
    return 1 <= len(yields) == len(alone) <= MOST_YIELDS and not strange


def without_delegating(body: list, item: str) -> list:
    """Statements with a loop that yields `item` in the place of each `yield from`.

    >>> tree = gast.parse("def f(x):\\n yield from x").body[0]
    >>> (loop,) = without_delegating(tree.body, "item")
    >>> isinstance(loop, gast.For) and isinstance(loop.body[0].value, gast.Yield)
    True
    """
    found = []
    for s in body:
        if isinstance(s, gast.Expr) and isinstance(s.value, gast.YieldFrom):
            turn = [gast.Expr(gast.Yield(load(item)))]
            found.append(gast.copy_location(gast.For(store(item), s.value.value, turn, [], None), s))
        else:
            blocks = {name: without_delegating(getattr(s, name), item) for name in BLOCKS if hasattr(s, name)}
            found.append(replaced(s, **blocks) if blocks and not isinstance(s, syntax.FUNCTIONS) else s)
    return found


def returning(tree) -> list:
    """The statements of a generator; a bare `return` that ends the loop at its end is a `break`.

    >>> tree = gast.parse("def halved(x):\\n while True:\\n  yield x\\n  if x < 1: return").body[0]
    >>> isinstance(returning(tree)[0].body[-1].body[0], gast.Break)
    True
    """
    last = tree.body[-1]
    if not isinstance(last, LOOPS) or last.orelse:
        return tree.body
    return [*tree.body[:-1], replaced(last, body=[leaving(s) for s in last.body])]


def leaving(s):
    """A statement of a loop that nothing follows, with `break` in the place of `return`."""
    if isinstance(s, gast.Return) and s.value is None:
        return gast.copy_location(gast.Break(), s)
    if isinstance(s, gast.If):
        return replaced(s, body=list(map(leaving, s.body)), orelse=list(map(leaving, s.orelse)))
    return s


def fits(tree, s) -> bool:
    """Does a body of a loop that stands where a generator yields leave the loop, and its turns, as it should?"""
    left, goes_on = any(map(breaks, s.body)), any(map(jumps, s.body))
    if left and s.orelse:
        return False
    if not goes_on:
        return True
    last = tree.body[-1]
    yields = sum(isinstance(n, YIELDS) for one in tree.body for n in syntax.walk(one))
    return isinstance(last, LOOPS) and not last.orelse and yields_at_end(last.body) == yields


def yields_at_end(body: list) -> int:
    """How often a block yields as the last thing that it does, on all of its ways."""
    last = body[-1]
    if isinstance(last, gast.If):
        return sum(yields_at_end(part) for part in (last.body, last.orelse) if part)
    return isinstance(last, gast.Expr) and isinstance(last.value, gast.Yield)


def yielding(s, turn: list) -> list:
    """A statement of a generator with the statements `turn` in the place of its `yield`."""
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Yield):
        value = s.value.value if s.value.value is not None else gast.Constant(None, None)
        first, *others = copy.deepcopy(turn)
        return [replaced(first, value=value), *others]
    blocks = {name: [one for t in getattr(s, name) for one in yielding(t, turn)] for name in BLOCKS if hasattr(s, name)}
    return [replaced(s, **blocks) if blocks else s]


def changes_arrays(tree) -> bool:
    """May a generator change what it has yielded, or anything else?"""
    nodes = [n for s in tree.body for n in syntax.walk(s)]
    stores = any(isinstance(n, (gast.Subscript, gast.Attribute)) and not isinstance(n.ctx, gast.Load) for n in nodes)
    methods = {n.func.attr for n in nodes if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute)}
    writes = any(k.arg == "out" for n in nodes if isinstance(n, gast.Call) for k in n.keywords)
    added = {n.target.id for n in nodes if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)}
    pairs = [(names_in(t), n.value) for n in nodes if isinstance(n, gast.Assign) for t in n.targets]
    numbers = added <= set().union(*(names for names, _ in pairs))  # where `t += dt` changes nothing
    numbers = numbers and all(isinstance(value, gast.Constant) for names, value in pairs if names & added)
    return stores or writes or not numbers or not methods.isdisjoint(effects.MUTATING_METHODS | WRITERS)


def names_in(target) -> set:
    return {n.id for n in syntax.walk(target) if isinstance(n, gast.Name)}


def renamed(node, names: dict):
    """A copy of a piece of syntax with other names, without its place."""
    new = copy.deepcopy(node)
    for part in gast.walk(new):
        if isinstance(part, gast.Name):
            part.id = names.get(part.id, part.id)
        for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            part.__dict__.pop(place, None)
    return new


def replaced(node, **fields):
    """A copy of a node with other children."""
    return gast.copy_location(type(node)(*[fields.get(n, getattr(node, n, None)) for n in node._fields]), node)


def load(name: str):
    return gast.Name(name, gast.Load(), None, None)


def store(name: str):
    return gast.Name(name, gast.Store(), None, None)


def assign(name: str, value):
    return gast.Assign([store(name)], value, None)
