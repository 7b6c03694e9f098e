"""Questions about syntax trees that need no knowledge of values: which names a piece of code reads and binds."""

import functools

import gast

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
HOME = "__class__"  # the name of the cell that holds the class in whose body a function stands
MARKS = {"ctx", "op", "ops", "id", "attr", "kind", "type_comment"}  # fields that no name stands in
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def children(node):
    """The nodes directly in `node`."""
    for name in _inner_fields(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, list):
            for item in value:
                if isinstance(item, gast.AST):
                    yield item
        elif isinstance(value, gast.AST):
            yield value


@functools.cache
def _inner_fields(kind: type) -> tuple:
    return tuple(name for name in kind._fields if name not in MARKS)


def walk(node):
    """`node` and all nodes in it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


class Names:
    """The names that trees read and bind, each tree looked at once.

    Examples
    --------
    >>> names = Names()
    >>> tree = gast.parse("y = [x * i for i in range(n)]").body[0]
    >>> sorted(names.loads(tree)), sorted(names.stores(tree))
    (['n', 'range', 'x'], ['y'])
    """

    def __init__(self):
        self._known: dict[int, tuple] = {}

    def loads(self, node) -> frozenset:
        """The free names that `node` reads: those of lambdas and comprehensions in it without their own variables."""
        return self._of(node)[0]

    def stores(self, node) -> frozenset:
        """The names that `node` binds in the scope it stands in."""
        return self._of(node)[1]

    def _of(self, node) -> tuple:
        known = self._known.get(id(node))
        if known is None:
            loads, stores = self._find(node)
            known = self._known[id(node)] = frozenset(loads), frozenset(stores), node
        return known

    def _find(self, node) -> tuple:
        if isinstance(node, gast.Name):
            loaded = not isinstance(node.ctx, gast.Store)
            return ((node.id,) if loaded else ()), (() if isinstance(node.ctx, gast.Load) else (node.id,))
        loads, stores = set(), set()
        if isinstance(node, FUNCTIONS):
            self._function(node, loads, stores)
            return loads, stores
        for child in children(node):
            inner_loads, inner_stores, _ = self._of(child)
            loads |= inner_loads
            stores |= inner_stores
        if isinstance(node, COMPREHENSIONS):  # the first iterable is evaluated outside of it
            return (loads - stores) | self.loads(node.generators[0].iter), set()
        if isinstance(node, gast.ExceptHandler) and node.name is not None:
            loads.discard(node.name.id)
        elif isinstance(node, gast.ClassDef):
            stores.add(node.name)
        elif isinstance(node, (gast.Import, gast.ImportFrom)):
            stores.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            loads.add(node.target.id)
        elif isinstance(node, gast.MatchAs | gast.MatchStar | gast.MatchMapping):
            captured = node.rest if isinstance(node, gast.MatchMapping) else node.name
            stores |= {captured} - {None}
        return loads, stores

    def _walk(self, node, loads: set, stores: set) -> None:
        inner_loads, inner_stores, _ = self._of(node)
        loads |= inner_loads
        stores |= inner_stores

    def _function(self, node, loads: set, stores: set) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self._walk(default, loads, stores)
        if not isinstance(node, gast.Lambda):
            stores.add(node.name)
            for decorator in node.decorator_list:
                self._walk(decorator, loads, stores)
        loads |= self.captured(node)

    def captured(self, node) -> frozenset:
        """The names that the body of a function reads and does not bind itself."""
        key = -id(node)
        known = self._known.get(key)
        if known is None:
            loads, stores, outer = set(), set(), set()
            body = [node.body] if isinstance(node, gast.Lambda) else node.body
            for child in body:
                self._walk(child, loads, stores)
                outer |= declared(child)
            own = (stores | set(parameters(node))) - outer
            known = self._known[key] = (frozenset(loads | outer) - own, node)
        return known[0]


def blocks(statements: list):
    """A list of statements, and those of the statements in it."""
    yield statements
    for statement in statements:
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and not isinstance(statement, FUNCTIONS):
                yield from blocks(inner)


def parameters(node) -> list[str]:
    """The names of all parameters of a function, in the order in which they are declared."""
    args = node.args
    given = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [a.id for a in given if a is not None]


def declared(node) -> set:
    """The names that ``global`` and ``nonlocal`` statements in `node` (not in functions in it) declare."""
    if isinstance(node, (gast.Global, gast.Nonlocal)):
        return set(node.names)
    if isinstance(node, (*FUNCTIONS, gast.expr)):
        return set()
    return set().union(*map(declared, children(node)))


def written(node) -> set:
    """All names that stand in a piece of syntax, in functions in it, too.

    >>> sorted(written(gast.parse("def f(a, b=c):\\n    nonlocal d\\n    return a")))
    ['a', 'b', 'c', 'd']
    """
    nodes = list(gast.walk(node))
    names = {n.id for n in nodes if isinstance(n, gast.Name)}
    return names.union(*(n.names for n in nodes if isinstance(n, (gast.Global, gast.Nonlocal))))


def rebound(node) -> frozenset:
    """The names of enclosing functions that ``nonlocal`` statements in a function, at any depth, let it bind anew."""
    return frozenset(name for n in walk(node) if isinstance(n, gast.Nonlocal) for name in n.names)


def contains(node, kinds) -> bool:
    """Does a node of one of `kinds` stand in `node`, outside of functions in it?"""
    if isinstance(node, kinds):
        return True
    if isinstance(node, FUNCTIONS):
        return False
    return any(contains(child, kinds) for child in children(node))


def own_nodes(node):
    """`node` and all nodes in it that belong to no function inside of it."""
    yield node
    if not isinstance(node, FUNCTIONS):
        for child in children(node):
            yield from own_nodes(child)


def is_super(node) -> bool:
    """Is it ``super()``, with its arguments or without?"""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id == "super"
        and len(node.args) in (0, 2)
        and not node.keywords
    )


def is_inherited(called) -> bool:
    """Is what is called a method of ``super()``?"""
    return isinstance(called, gast.Attribute) and is_super(called.value)


def ends(body: list) -> bool:
    """Does control surely never fall out of the end of these statements?"""
    for statement in body:
        if isinstance(statement, (gast.Return, gast.Raise, gast.Break, gast.Continue)):
            return True
        if isinstance(statement, gast.If) and ends(statement.body) and ends(statement.orelse):
            return True
    return False
