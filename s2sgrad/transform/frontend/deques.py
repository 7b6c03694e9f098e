"""Deques that a function makes for itself, as the lists that they behave like.

``u = deque([a, b], maxlen=2)`` and what is done with it is lowered as ::

    u = [a, b]
    u.append(v)                                        # u.append(v)
    del u[:-2]
    w = u.pop(0) * u[-1]                               # w = u.popleft() * u[-1]

Only where nobody can tell the one from the other: a deque that is returned, printed or sliced stays one.
"""

import builtins
import collections
import copy

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.kinds import MISSING, constant_of

# Methods that lists have as well, or nearly so: the number of their arguments.
METHODS = {"append": 1, "appendleft": 1, "extend": 1, "pop": 0, "popleft": 0, "clear": 0, "reverse": 0}
LENGTHENING = frozenset({"append", "appendleft", "extend"})
READERS = ("len", "sum", "list", "tuple", "max", "min", "sorted", "any", "all")
ITERATORS = ("enumerate", "zip", "reversed")


class Deques:
    """The part of `Lowering` that looks for such deques, before all else.

    `names`, `local` and `found` are those of the `Lowering`.
    """

    def without_deques(self, body: list) -> list:
        """Statements in which such deques are lists."""
        found: dict = {}
        for node in (n for s in body for n in syntax.walk(s)):
            match node:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as call):
                    if is_named(call.func, "deque"):
                        found.setdefault(name, []).append(call)
        lengths = {name: self.longest(calls) for name, calls in found.items()}
        own = self.local - set(syntax.parameters(self.found.node))
        lengths = {
            n: k for n, k in lengths.items() if k is not MISSING and n in own and self.is_like_a_list(n, k, body)
        }
        if not lengths:
            return body
        rewrite = _AsLists(lengths)
        return [new for s in body for new in rewrite.statements(copy.deepcopy(s))]

    def longest(self, calls: list):
        """The number of elements that deques may have which these calls make; MISSING where that is not known."""
        lengths = set()
        for call in calls:
            given = [*call.args[1:], *(k.value for k in call.keywords)]
            made = call.args[0] if call.args else gast.List([], gast.Load())
            known = constant_of(given[0], MISSING) if given else None
            plain = len(given) < 2 and all(k.arg == "maxlen" for k in call.keywords) and is_list(made)
            lengths.add(known if plain and (known is None or (type(known) is int and known > 0)) else MISSING)
        return lengths.pop() if len(lengths) == 1 and all(map(self.makes_deque, calls)) else MISSING

    def makes_deque(self, call) -> bool:
        try:
            known = self.static(call.func)
        except CompileError:
            return False
        return known is not None and known.value is collections.deque

    def is_like_a_list(self, name: str, longest, body: list) -> bool:
        """Is nothing done with the deque of a name but what a list would do as well?"""

        def fine(node, parents) -> bool:
            if isinstance(node, gast.Name):
                return node.id != name or self.is_list_like_use(node, parents, longest)
            return all(fine(child, (*parents, node)) for child in syntax.children(node))

        return all(fine(s, (None, None)) for s in body)

    def is_list_like_use(self, node, parents: tuple, longest) -> bool:
        parent, above = parents[-1], parents[-2]
        if any(isinstance(p, (*syntax.FUNCTIONS, gast.Global, gast.Nonlocal)) for p in parents):
            return False
        match parent:
            case gast.Assign(targets=[target], value=gast.Call(func=made)) if target is node:
                return is_named(made, "deque")
            case gast.Attribute(attr=method) if isinstance(above, gast.Call) and above.func is parent:
                plain = len(above.args) == METHODS.get(method) and not above.keywords
                plain = plain and not any(isinstance(a, gast.Starred) for a in above.args)
                apart = longest is None or method not in LENGTHENING or isinstance(parents[-3], gast.Expr)
                return plain and apart and not self.is_within_its_loop(node.id, parents)
            case gast.Subscript(value=base, slice=place) if base is node:
                changes = isinstance(parent.ctx, gast.Del) and self.is_within_its_loop(node.id, parents)
                return not isinstance(place, (gast.Slice, gast.Tuple)) and not changes
            case gast.Call(func=gast.Name(id=reader), args=[_]) if reader in READERS and node in parent.args:
                return self.is_builtin(reader, getattr(builtins, reader))
            case gast.Call(func=gast.Name(id=reader)) if reader in ITERATORS and node in parent.args:
                run_over = isinstance(above, (gast.For, gast.comprehension)) or (
                    isinstance(above, gast.Call) and getattr(above.func, "id", "") in (*READERS, *ITERATORS)
                )
                return run_over and self.is_builtin(reader, getattr(builtins, reader))
            case gast.Call(func=gast.Attribute()) if node in parent.args:
                return self.is_numpy(parent.func)
            case gast.For() | gast.comprehension():
                return parent.iter is node
            case gast.Starred() | gast.UnaryOp(op=gast.Not()):
                return True
            case gast.If() | gast.While() | gast.IfExp():
                return parent.test is node
            case gast.BoolOp():
                return isinstance(above, (gast.If, gast.While)) and above.test is parent
        return False

    def is_numpy(self, function) -> bool:
        try:
            known = self.static(function)
        except CompileError:
            return False
        return known is not None and (getattr(known.value, "__module__", None) or "").startswith("numpy")

    def is_within_its_loop(self, name: str, parents: tuple) -> bool:
        """Does what stands among these run in a loop over the deque, which may not change then?"""
        return any(
            self.runs_over(g.iter, name)
            for p in parents
            for g in ([p] if isinstance(p, gast.For) else getattr(p, "generators", ()))
        )


class _AsLists(gast.NodeTransformer):
    """Statements with lists in the place of the deques of some names, each with its greatest length."""

    def __init__(self, lengths: dict):
        self.lengths = lengths

    def statements(self, statement) -> list:
        found = self.visit(statement)
        return found if isinstance(found, list) else [found]

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if not isinstance(target, gast.Name) or target.id not in self.lengths or len(node.targets) > 1:
            return node
        made = node.value.args[0] if node.value.args else gast.List([], gast.Load())
        node.value = gast.copy_location(made, node.value)
        return [node, *self.trimmed(target.id, node)] if getattr(made, "elts", True) else node

    def visit_Expr(self, node):
        self.generic_visit(node)
        match node.value:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=method)) if name in self.lengths:
                if method in ("append", "extend", "insert"):
                    return [node, *self.trimmed(name, node, front=method == "insert")]
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        match node.func:
            case gast.Attribute(value=gast.Name(id=name), attr="popleft" | "appendleft" as method):
                if name in self.lengths:
                    node.func.attr = "pop" if method == "popleft" else "insert"
                    node.args = [gast.copy_location(gast.Constant(0, None), node), *node.args]
        return node

    def trimmed(self, name: str, like, front=False) -> list:
        """``del q[:-k]``, or ``del q[k:]`` where something came in at the front."""
        if self.lengths[name] is None:
            return []
        k = gast.Constant(self.lengths[name], None)
        rest = gast.Slice(k, None, None) if front else gast.Slice(None, gast.UnaryOp(gast.USub(), k), None)
        made = gast.Delete([gast.Subscript(gast.Name(name, gast.Load(), None, None), rest, gast.Del())])
        for part in gast.walk(made):
            gast.copy_location(part, like)
        return [made]


def is_named(function, name: str) -> bool:
    """Is an expression a name, or an attribute, of this name?"""
    return getattr(function, "id", None) == name or getattr(function, "attr", None) == name


def is_list(node) -> bool:
    """Is it a list that is made on the spot?"""
    repeated = isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult) and isinstance(node.left, gast.List)
    return repeated or isinstance(node, (gast.List, gast.ListComp))
