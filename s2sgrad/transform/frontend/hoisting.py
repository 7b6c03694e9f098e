"""Says parts of expressions in statements of their own, before the statement that they stand in.

Such parts are calls whose bodies are to be lowered in their place, and ``:=``. All is evaluated in the order
that Python evaluates it in: what comes before such a part, and might be another value after it, gets a name first. ::

    y = a[0] * fill(a) + (fill(b) if a[1] > 0 else 1.0)

is lowered as if it were ::

    t = a[0]
    t1 = fill(a)
    t2 = t * t1
    if a[1] > 0:
        t3 = fill(b)
    else:
        t3 = 1.0
    y = t2 + t3
"""

import gast

from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.scan import targets_of

OPEN = (gast.Tuple, gast.List, gast.Slice, gast.keyword)  # made of their parts when these are there
CONSUMING = frozenset({"sum", "list", "tuple", "max", "min", "sorted"})
CHANGING = frozenset({"pop", "popitem", "setdefault"})  # methods of containers that give something, too


class Inseparable(Exception):
    """What is to be taken out of an expression cannot be, without changing what is evaluated when."""


class Hoisting:
    """Takes parts out of expressions.

    Parameters
    ----------
    fresh : callable
        Gives a name that nothing has, like the one that it may be given.
    wanted : callable
        Whether a node is to be taken out.
    is_outside : callable
        Whether a name is not one of the function's own.
    changing : set of str
        The names of the function that what is taken out may bind anew.
    """

    def __init__(self, fresh, wanted, is_outside, changing=frozenset()):
        self.fresh = fresh
        self.wanted = wanted
        self.is_outside = is_outside
        self.changing = changing
        self.rebound: set = set()  # the names that the parts taken out bind

    def is_in(self, node) -> bool:
        """Does a part that is to be taken out stand in `node`, outside of functions in it?"""
        if isinstance(node, syntax.FUNCTIONS):
            return False
        return self.wanted(node) or any(map(self.is_in, syntax.children(node)))

    def said(self, node, whole: bool = False) -> tuple | None:
        """The statements that say the parts of `node` which are taken out, and what is left of it.

        None where that cannot be. A call that is the `whole` expression stays where it is.

        >>> is_fill = lambda n: isinstance(n, gast.Call) and n.func.id == "fill"
        >>> tree = gast.parse("a[0] * fill(a) + 1").body[0].value
        >>> statements, left = Hoisting(iter(["t", "t1"]).__next__, is_fill, "fill".__eq__).said(tree)
        >>> [gast.unparse(s).strip() for s in [*statements, left]]
        ['t = a[0]', 't1 = fill(a)', 't * t1 + 1']
        """
        found: list = []
        self.rebound = self.may_bind(node)
        try:
            left = self._whole(node, found) if whole else self._taken(node, found)
        except Inseparable:
            return None
        return locate(found, node), locate([left], node)[0]

    def may_bind(self, *nodes) -> set:
        """The names that the parts which are taken out of expressions may bind."""
        inside = (n for node in nodes for n in syntax.walk(node) if isinstance(n, gast.NamedExpr))
        return self.changing.union(n.target.id for n in inside if self.wanted(n))

    def held(self, node, found: list, then):
        """An expression whose parts have names, for `then` is evaluated after them; None where that cannot be."""
        self.rebound = self.may_bind(node, then)
        try:
            left = self._parts(node, found, held=True)
        except Inseparable:
            return None
        locate(found, node)
        return left

    def named(self, node, found: list):
        """A name of what `node` gives, which is evaluated now."""
        name = self.fresh()
        found.append(assign(name, node))
        return load(name)

    def is_lasting(self, node) -> bool:
        """Does an expression give the same after the parts that are taken out?"""
        match node:
            case gast.Constant() | gast.Lambda() | None:
                return True
            case gast.Name(id=name):
                return name not in self.rebound
            case gast.Attribute():
                while isinstance(node, gast.Attribute):
                    node = node.value
                return isinstance(node, gast.Name) and self.is_outside(node.id)
        return isinstance(node, OPEN) and all(self.is_lasting(part) for _, part in evaluated(node))

    def _whole(self, node, found: list):
        """What is left of all that a statement evaluates: a call stays where it is."""
        stays = self.wanted(node) and not isinstance(node, gast.NamedExpr)
        return self._parts(node, found) if stays else self._taken(node, found)

    def _taken(self, node, found: list, held: bool = False):
        """What is left of an expression; `held`: something that follows it is taken out, too."""
        if isinstance(node, OPEN):
            return self._parts(node, found, held)
        if isinstance(node, gast.Starred) and (held or self.is_in(node)):
            raise Inseparable
        if not self.is_in(node):
            return self.named(node, found) if held and not self.is_lasting(node) else node
        match node:
            case gast.IfExp():
                return self._chosen(node, found)
            case gast.BoolOp() if any(map(self.is_in, node.values[1:])):
                return self._in_turns(node, found)
            case gast.ListComp():
                return self._collected(node, found)
            case gast.NamedExpr(target=target, value=value) if self.wanted(node):
                found.append(assign(target.id, self._taken(value, found)))
                return self.named(load(target.id), found) if held else load(target.id)
        left = self._parts(node, found)
        return self.named(left, found) if held or self.wanted(node) else left

    def _parts(self, node, found: list, held: bool = False):
        """An expression whose parts are all evaluated, in order; each of them is to be `held`."""
        places = evaluated(node)
        inside = [i for i, (_, part) in enumerate(places) if self.is_in(part)]
        if len(inside) < sum(map(self.is_in, syntax.children(node))):
            raise Inseparable  # some are not always evaluated, or in another order
        last = inside[-1] if inside else -1
        for i, (place, part) in enumerate(places):
            if i > last and not held:
                break
            if place == ("func",) and isinstance(part, gast.Attribute) and not self.is_lasting(part):
                left = changed(part, ("value",), self._taken(part.value, found, i < last))
            elif isinstance(part, gast.GeneratorExp) and self._uses_up(node):
                left = self._collected(part, found)
            else:
                left = self._taken(part, found, held or i < last)
            node = changed(node, place, left)
        return node

    def _uses_up(self, node) -> bool:
        """Is it a call that uses up what it is given, before anything else happens?"""
        known = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in CONSUMING
        return known and self.is_outside(node.func.id)

    def _chosen(self, node, found: list):
        """``first if test else second``"""
        test, name = self._taken(node.test, found), self.fresh()
        found.append(gast.If(test, self._given(name, node.body), self._given(name, node.orelse)))
        return load(name)

    def _given(self, name: str, node) -> list:
        """The statements that give `name` what an expression gives."""
        found: list = []
        left = self._whole(node, found)
        return [*found, assign(name, left)]

    def _in_turns(self, node, found: list):
        """``first and second``"""
        first, *rest = node.values
        name = self.fresh()
        found += self._given(name, first)
        test = load(name) if isinstance(node.op, gast.And) else gast.UnaryOp(gast.Not(), load(name))
        after = rest[0] if len(rest) == 1 else gast.BoolOp(node.op, rest)
        found.append(gast.If(test, self._given(name, after), []))
        return load(name)

    def built(self, name: str, node) -> list | None:
        """The statements that build the list of a comprehension under a name; None where that cannot be."""
        found: list = []
        try:
            self._collected(node, found, name)
        except Inseparable:
            return None
        return locate(found, node)

    def _collected(self, node, found: list, name: str = ""):
        """``[element for ... in ...]`` as a loop that appends to a list."""
        own = [n.id for g in node.generators for n in targets_of(g.target) if isinstance(n, gast.Name)]
        names = {name: self.fresh(name) for name in own}
        first = self._taken(node.generators[0].iter, found)
        name, inner = name or self.fresh(), []
        element = self._taken(renamed(node.elt, names), inner)
        body = [*inner, gast.Expr(gast.Call(gast.Attribute(load(name), "append", gast.Load()), [element], []))]
        for i, generator in reversed(list(enumerate(node.generators))):
            if generator.is_async:
                raise Inseparable
            for condition in reversed(generator.ifs):
                inner = []
                test = self._taken(renamed(condition, names), inner)
                body = [*inner, gast.If(test, body, [])]
            inner = []
            over = first if i == 0 else self._taken(renamed(generator.iter, names), inner)
            body = [*inner, gast.For(renamed(generator.target, names), over, body, [], None)]
        found += [assign(name, gast.List([], gast.Load())), *body]
        return load(name)


def without_maps(body: list, is_apart, name: str) -> list:
    """``map(f, xs)`` as ``(f(item) for item in xs)``, where such a call of `f` is apart from the expression it is in.

    >>> [s] = without_maps(gast.parse("y = sum(map(f, xs, ys))").body, lambda call: call.func.id == "f", "item")
    >>> gast.unparse(s).strip()
    'y = sum((f(item, item1) for item, item1 in zip(xs, ys)))'
    """
    pass_ = _WithoutMaps(is_apart, name)
    return [locate([pass_.visit(s)], s)[0] for s in body]


class _WithoutMaps(gast.NodeTransformer):
    def __init__(self, is_apart, name: str):
        self.is_apart = is_apart
        self.name = name

    def visit_Call(self, node):
        self.generic_visit(node)
        if not isinstance(node.func, gast.Name) or node.func.id != "map" or node.keywords or len(node.args) < 2:
            return node
        function, *iterables = node.args
        names = [f"{self.name}{i or ''}" for i in range(len(iterables))]
        call = gast.copy_location(gast.Call(function, list(map(load, names)), []), node)
        if any(isinstance(a, gast.Starred) for a in node.args) or not self.is_apart(call):
            return node
        targets = [gast.Name(n, gast.Store(), None, None) for n in names]
        if len(iterables) == 1:
            turns = gast.comprehension(targets[0], iterables[0], [], 0)
        else:
            turns = gast.comprehension(gast.Tuple(targets, gast.Store()), gast.Call(load("zip"), iterables, []), [], 0)
        return gast.copy_location(gast.GeneratorExp(call, [turns]), node)


def with_lists(body: list, is_builtin) -> list:
    """Iterators that are taken apart at once, as lists: ``a, b = map(f, xs)`` as ``a, b = list(map(f, xs))``.

    >>> tree = gast.parse("a, b = map(f, xs)\\nc, (d, e) = tuple(f(x) for x in xs)\\ng = map(f, xs)")
    >>> [gast.unparse(s).strip() for s in with_lists(tree.body, lambda name, function: True)]
    ['a, b = list(map(f, xs))', 'c, (d, e) = [f(x) for x in xs]', 'g = map(f, xs)']
    """
    pass_ = _WithLists(is_builtin)
    return [locate([pass_.visit(s)], s)[0] for s in body]


class _WithLists(gast.NodeTransformer):
    def __init__(self, is_builtin):
        self.is_builtin = is_builtin

    def visit(self, node):
        return node if isinstance(node, (*syntax.FUNCTIONS, gast.ClassDef)) else super().visit(node)

    def visit_Assign(self, node):
        target, *others = node.targets
        if others or not isinstance(target, (gast.Tuple, gast.List)):  # another one would get what is left
            return node
        return changed(node, ("value",), self.taken_apart(target, node.value))

    def taken_apart(self, target, value):
        """`value`, whose items go to `target`, each to its own."""
        displays = isinstance(target, (gast.Tuple, gast.List)) and isinstance(value, (gast.Tuple, gast.List))
        if not displays or len(target.elts) != len(value.elts):
            return self.listed(value)
        if any(isinstance(e, gast.Starred) for e in (*target.elts, *value.elts)):
            return value
        items = [
            self.taken_apart(t, v) if isinstance(t, OPEN) else v for t, v in zip(target.elts, value.elts, strict=True)
        ]
        return gast.copy_location(type(value)(items, value.ctx), value)

    def listed(self, value):
        """`value`, or what gives the same items in a list."""
        if isinstance(value, gast.GeneratorExp):
            return gast.copy_location(gast.ListComp(value.elt, value.generators), value)
        if self.calls(value, tuple) and len(value.args) == 1:
            inner = self.listed(value.args[0])
            return value if inner is value.args[0] and not isinstance(inner, gast.ListComp) else inner
        if self.calls(value, map) and self.is_builtin("list", list):
            return gast.copy_location(gast.Call(load("list"), [value], []), value)
        return value

    def calls(self, node, function) -> bool:
        """Is it a call of this function of Python's own?"""
        if not isinstance(node, gast.Call) or node.keywords or not isinstance(node.func, gast.Name):
            return False
        return node.func.id == function.__name__ and self.is_builtin(node.func.id, function)


def perhaps_changing(body: list) -> set:
    """The ids of the calls of methods like ``xs.pop()`` that stand where an expression may not be evaluated.

    Or after an item was read that is stored to after them: ``xs[-1] += xs.pop()``.

    >>> tree = gast.parse("v = xs.pop() if xs else ys.pop()").body
    >>> len(perhaps_changing(tree)), perhaps_changing(gast.parse("v = xs.pop() + 1.0").body)
    (2, set())
    """
    found: set = set()
    for node in (n for s in body for n in syntax.own_nodes(s)):
        parts = [node.body, node.orelse] if isinstance(node, gast.IfExp) else []
        parts += node.values[1:] if isinstance(node, gast.BoolOp) else []
        parts += [node.value] if isinstance(node, gast.AugAssign) and not isinstance(node.target, gast.Name) else []
        calls = (n for part in parts for n in syntax.own_nodes(part) if isinstance(n, gast.Call))
        found |= {id(n) for n in calls if isinstance(n.func, gast.Attribute) and n.func.attr in CHANGING}
    return found


def evaluated(node) -> list:
    """The parts of an expression that are surely evaluated, first and in this order, each with its place.

    >>> [place for place, _ in evaluated(gast.parse("f(x[i], k=y)").body[0].value)]
    [('func',), ('args', 0), ('keywords', 0)]
    """
    match node:
        case gast.IfExp():
            return [(("test",), node.test)]
        case gast.BoolOp():
            return [(("values", 0), node.values[0])]
        case gast.Compare():
            return [(("left",), node.left), (("comparators", 0), node.comparators[0])]
        case gast.Dict(keys=keys) if all(isinstance(key, gast.Constant) for key in keys):
            return [(("values", i), part) for i, part in enumerate(node.values)]
    if isinstance(node, (gast.Dict, gast.Starred, *syntax.COMPREHENSIONS)):
        return []
    found = []
    for name in node._fields:
        value = getattr(node, name)
        for i, part in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(part, (gast.expr, *OPEN)):
                found.append(((name, i) if isinstance(value, list) else (name,), part))
    return found


def changed(node, place: tuple, child):
    """A copy of a node with another child."""
    fields = {name: getattr(node, name) for name in node._fields}
    if len(place) == 1:
        fields[place[0]] = child
    else:
        items = list(fields[place[0]])
        items[place[1]] = child
        fields[place[0]] = items
    return gast.copy_location(type(node)(*[fields[name] for name in node._fields]), node)


def renamed(node, names: dict):
    """A copy of a piece of syntax with other names, which do not stand in functions and comprehensions in it."""
    if isinstance(node, list):
        return [renamed(one, names) for one in node]
    if isinstance(node, gast.Name):
        return gast.copy_location(gast.Name(names.get(node.id, node.id), node.ctx, None, None), node)
    if isinstance(node, (*syntax.FUNCTIONS, *syntax.COMPREHENSIONS)):
        if any(isinstance(n, gast.Name) and n.id in names for n in gast.walk(node)):
            raise Inseparable
        return node
    if not isinstance(node, gast.AST):
        return node
    return gast.copy_location(type(node)(*[renamed(getattr(node, f), names) for f in node._fields]), node)


def locate(nodes: list, like) -> list:
    """`nodes`, with all that is new in them at the place of `like` in the user's text."""
    for part in (p for node in nodes for p in gast.walk(node)):
        if not hasattr(part, "lineno"):
            gast.copy_location(part, like)
    return nodes


def load(name: str):
    return gast.Name(name, gast.Load(), None, None)


def assign(name: str, value):
    return gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None)
