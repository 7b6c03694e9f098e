"""Says `return` inside of a loop, and `else` after one, with `break` and flags: before anything else looks at the text.

What is to be said in a statement of its own (`hoisting`) is put before the statement that it stands in.

The user's ::

    for x in xs:
        if x > a:
            return x * a
    return a

is lowered as if it were ::

    returned = False
    for x in xs:
        if x > a:
            result = x * a
            returned = True
            break
    if returned:
        return result
    return a
"""

import itertools

import gast

from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.hoisting import Hoisting, changed
from s2sgrad.transform.frontend.scan import breaks


class Leaving:
    """Rewrites the body of one function.

    Parameters
    ----------
    taken : set of str
        The names that stand in it.
    is_apart : callable
        Whether a node is a call that is to be said in a statement of its own.
    is_outside : callable
        Whether a name is not one of the function's own.

    Attributes
    ----------
    results : set of str
        The names that were made up for results: bound only where their flag is set.
    parts : set of str
        The names that were made up for parts of expressions.
    read : dict
        The id of an augmented assignment -> the name of what its target was before its value was evaluated.
    """

    def __init__(self, taken, is_apart=lambda node: False, is_outside=lambda name: False):
        self.taken = set(taken)
        self.results: set = set()
        self.parts: set = set()
        self.read: dict = {}
        self.result = self.returned = ""
        self.is_apart = is_apart
        self.hoisting = Hoisting(self.part, lambda n: isinstance(n, gast.NamedExpr) or is_apart(n), is_outside)

    def body(self, statements: list) -> list:
        """The body of the function, the `return` statements in its loops and the `else` of its loops said otherwise."""
        return self.block(statements, False, None)

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def part(self, wish: str = "t") -> str:
        """A name for a part of an expression."""
        numbered = (f"{wish}{i or ''}" for i in itertools.count())
        name = next(n for n in numbered if n not in self.taken)
        self.taken.add(name)
        self.parts.add(name)
        return name

    def block(self, statements: list, inside: bool, flag: str | None) -> list:
        """`statements`, which stand `inside` of a loop whose `break` is to set `flag`."""
        found: list = []
        for s in statements:
            found += self.statement(s, inside, flag)
        return found

    def statement(self, s, inside: bool, flag) -> list:
        if isinstance(s, gast.Return) and inside:
            value = gast.Constant(None, None) if s.value is None else s.value
            found = self.statement(assign(self.result, value, s), inside, flag)
            return [*found, assign(self.returned, gast.Constant(True, None), s), placed(gast.Break(), s)]
        if isinstance(s, gast.Break) and flag:
            return [assign(flag, gast.Constant(True, None), s), s]
        said = self.said_before(s)
        if said is not None:
            return self.block(said, inside, flag)
        if isinstance(s, gast.If):
            parts = self.block(s.body, inside, flag), self.block(s.orelse, inside, flag)
            return [placed(gast.If(s.test, *parts), s)]
        if isinstance(s, (gast.For, gast.While)):
            return self.loop(s, inside, flag)
        if isinstance(s, gast.Match) and all(is_simple(c.pattern) and c.guard is None for c in s.cases):
            return self.block(self.match(s), inside, flag)
        if isinstance(s, gast.With) and isinstance(s.body[-1], gast.Return) and s.body[-1].value is not None:
            *body, last = s.body
            if any(syntax.contains(one, gast.Return) for one in body):
                return [s]
            result = self.fresh("result")
            inner = self.block([*body, assign(result, last.value, last)], inside, flag)
            leave = self.statement(placed(gast.Return(load(result, last)), last), inside, flag)
            return [placed(gast.With(s.items, inner, s.type_comment), s), *leave]
        if isinstance(s, gast.With):
            return [placed(gast.With(s.items, self.block(s.body, inside, flag), s.type_comment), s)]
        return [s]

    def said_before(self, s) -> list | None:
        """A statement with what is said apart in front of it; None where nothing is."""
        match s:
            case gast.If() | gast.While():
                return self.test_before(s) if self.hoisting.is_in(s.test) else None
            case gast.For():
                place, whole = "iter", False
            case gast.Return(value=gast.AST()) | gast.Expr() | gast.Assign() | gast.AugAssign():
                place, whole = "value", isinstance(s, (gast.Expr, gast.Assign))
            case _:
                return None
        value = getattr(s, place)
        inside = syntax.children(value) if whole and self.is_apart(value) else [value]
        if not any(map(self.has_apart, inside)):
            return None
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.ListComp()) if not reads(value, name):
                return self.hoisting.built(name, value)
        before, target = [], getattr(s, "target", None)
        if isinstance(s, gast.AugAssign) and not isinstance(target, gast.Name):
            target = self.hoisting.held(target, before) if isinstance(target, gast.Subscript) else None
            if target is None:
                return None
            s = changed(s, ("target",), target)
            before.append(assign(self.part(), gast.Subscript(target.value, target.slice, gast.Load()), s))
        found = self.hoisting.said(value, whole)
        if found is None:
            return None
        new = changed(s, (place,), found[1])
        if before:
            self.read[id(new)] = before[-1].targets[0].id
        return [*before, *found[0], new]

    def has_apart(self, node) -> bool:
        """Does a call that is said apart stand in a piece of syntax, outside of functions in it?"""
        if isinstance(node, syntax.FUNCTIONS):
            return False
        return self.is_apart(node) or any(map(self.has_apart, syntax.children(node)))

    def test_before(self, s) -> list | None:
        """An `if` or `while` with what is said apart in its test in front of it."""
        found = self.hoisting.said(s.test)
        if found is None or (isinstance(s, gast.While) and s.orelse):
            return None
        first, test = found
        if isinstance(s, gast.If):
            return [*first, placed(gast.If(test, s.body, s.orelse), s)]
        leave = placed(gast.If(placed(gast.UnaryOp(gast.Not(), test), s), [placed(gast.Break(), s)], []), s)
        return [placed(gast.While(placed(gast.Constant(True, None), s), [*first, leave, *s.body], []), s)]

    def match(self, s) -> list:
        """A `match` over literals as a chain of `if`."""
        name = s.subject.id if isinstance(s.subject, gast.Name) else self.fresh("subject")
        first = [] if isinstance(s.subject, gast.Name) else [assign(name, s.subject, s)]
        chain: list = []
        for case in reversed(s.cases):
            body, test = case.body, tested(case.pattern, name)
            if isinstance(case.pattern, gast.MatchAs) and case.pattern.name is not None:
                body = [assign(case.pattern.name, load(name, s), s), *body]
            if test is None:
                chain = body
            else:
                chain = [placed(gast.If(test, body, chain), s)]
                for part in syntax.walk(test):
                    placed(part, s)
        return [*first, *chain]

    def loop(self, s, inside: bool, outer_flag) -> list:
        returns = any(syntax.contains(one, gast.Return) for one in s.body)
        if returns and not inside:
            self.result, self.returned = self.fresh("result"), self.fresh("returned")
            self.results.add(self.result)
        left = bool(s.orelse) and any(map(breaks, s.body))
        flag = self.fresh("broke") if left else None
        names = self.result, self.returned
        body = self.block(s.body, True, flag)
        orelse = self.block(s.orelse, inside, outer_flag)
        self.result, self.returned = names
        if isinstance(s, gast.While):
            loop = placed(gast.While(s.test, body, []), s)
        else:
            loop = placed(gast.For(s.target, s.iter, body, [], s.type_comment), s)
        before, after = [], [] if left else orelse  # without a `break` there is no way around the `else`
        if left:
            before.append(assign(flag, gast.Constant(False, None), s))
            after.append(placed(gast.If(gast.UnaryOp(gast.Not(), load(flag, s)), orelse, []), s))
        if returns:
            if not inside:
                before.append(assign(self.returned, gast.Constant(False, None), s))
            leave = placed(gast.Break(), s) if inside else placed(gast.Return(load(self.result, s)), s)
            endless = isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and s.test.value
            only_returns = endless and not any(map(breaks, s.body))
            after.insert(0, leave if only_returns else placed(gast.If(load(self.returned, s), [leave], []), s))
        return [*before, loop, *after]


def reads(node, name: str) -> bool:
    """Does a piece of syntax name `name`?"""
    return any(isinstance(n, gast.Name) and n.id == name for n in gast.walk(node))


def is_simple(pattern) -> bool:
    """Is it a literal, some of them, or what matches anything?"""
    match pattern:
        case gast.MatchValue() | gast.MatchSingleton():
            return True
        case gast.MatchOr(patterns=patterns):
            return all(is_simple(p) and not isinstance(p, gast.MatchAs) for p in patterns)
    return isinstance(pattern, gast.MatchAs) and pattern.pattern is None


def tested(pattern, name: str):
    """The test that a simple pattern is; None for one that matches anything."""
    subject = gast.Name(name, gast.Load(), None, None)
    match pattern:
        case gast.MatchValue(value=value):
            return gast.Compare(subject, [gast.Eq()], [value])
        case gast.MatchSingleton(value=value):
            return gast.Compare(subject, [gast.Is()], [gast.Constant(value, None)])
        case gast.MatchOr(patterns=patterns):
            return gast.BoolOp(gast.Or(), [tested(p, name) for p in patterns])
    return None


def placed(node, like):
    """`node`, and what is new in it, at the place of `like` in the user's text."""
    for part in [node, *gast.iter_child_nodes(node)]:
        if not hasattr(part, "lineno"):
            gast.copy_location(part, like)
    return node


def load(name: str, like):
    return placed(gast.Name(name, gast.Load(), None, None), like)


def assign(name: str, value, like):
    return placed(gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None), like)
