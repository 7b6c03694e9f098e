"""Says `return` in a loop, `else` after one, what leaves a `with` or `try`, with `break` and flags: before all else.

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

So is what leaves a `with` or `try` block, which runs to its end then: what follows an `if` that leaves it moves into
the other branch, and the block is left after it.
"""

import itertools
from collections import Counter

import gast

from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.hoisting import Hoisting, changed
from s2sgrad.transform.frontend.matching import as_chain, counted
from s2sgrad.transform.frontend.scan import breaks
from s2sgrad.transform.frontend.steps import in_steps
from s2sgrad.transform.frontend.trying import changes_finally, going_on, is_attempt, is_passed_through, one_thing_each


def no(anything) -> bool:
    return False


class Leaving:
    """Rewrites the body of one function.

    Parameters
    ----------
    taken : set of str
        The names that stand in it.
    is_apart : callable
        Whether a node is a call that is to be said in a statement of its own.
    is_own : callable
        Whether it is a call of a function that is defined in the function: it is said apart where it stands in a test.
    is_outside : callable
        Whether a name is not one of the function's own.
    changing : set of str
        The names that functions inside of it bind anew (`nonlocal`).

    Attributes
    ----------
    results : set of str
        The names that were made up for results: bound only where their flag is set.
    parts : set of str
        The names that were made up for parts of expressions.
    read : dict
        The id of an augmented assignment -> the name of what its target was before its value was evaluated.
    """

    def __init__(self, taken, is_apart=no, is_own=no, is_outside=no, changing=frozenset()):
        self.taken = set(taken)
        self.results: set = set()
        self.parts: set = set()
        self.read: dict = {}
        self.result = self.returned = ""
        self.counts: Counter = Counter()
        self.is_apart = is_apart
        self.changing = changing
        wanted = lambda n: isinstance(n, gast.NamedExpr) or is_apart(n)  # noqa: E731
        self.hoisting = Hoisting(self.part, wanted, is_outside, changing)
        self.tests = Hoisting(self.part, lambda n: wanted(n) or is_own(n), is_outside, changing)

    def body(self, statements: list) -> list:
        """The body of the function, the `return` statements in its loops and the `else` of its loops said otherwise."""
        self.counts = counted(statements)
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
        for k, s in enumerate(statements):
            if isinstance(s, gast.Try) and is_attempt(s) and not s.finalbody:
                steps = in_steps(s, going_on(s), self.fresh, self.counts, self.is_apart)
                if steps is not None:
                    return [*found, *self.block([*steps, *statements[k + 1 :]], inside, flag)]
                return [*found, *self.attempt(s, statements[k + 1 :], inside, flag)]
            found += self.statement(s, inside, flag)
        return found

    def attempt(self, s, rest: list, inside: bool, flag) -> list:
        """A `try` with a handler that goes on, and what follows: a part of the one way where the other leaves."""
        handler = going_on(s)
        if syntax.ends(handler.body) or syntax.ends([*s.body, *s.orelse]):
            body = handler.body if syntax.ends(handler.body) else [*handler.body, *rest]
            orelse = s.orelse if syntax.ends([*s.body, *s.orelse]) else [*s.orelse, *rest]
            rest = []
        else:
            body, orelse = handler.body, s.orelse
        parts = [self.block(part, inside, flag) for part in (s.body, orelse, body)]

        def made(new: list):
            handlers = [changed(h, ("body",), new[2] or [gast.Pass()]) if h is handler else h for h in s.handlers]
            return [marked(placed(gast.Try(new[0] or [gast.Pass()], handlers, new[1], []), s), s)]

        return [*self.ways_out(s, parts, made, inside), *self.block(rest, inside, flag)]

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
            return [marked(placed(gast.If(s.test, *parts), s), s)]
        if isinstance(s, (gast.For, gast.While)):
            return self.loop(s, inside, flag)
        if isinstance(s, gast.Match):
            chain = as_chain(s, self.fresh, self.counts, self.changing)
            return [s] if chain is None else self.block(chain, inside, flag)
        if isinstance(s, gast.With):
            return self.with_(s, inside, flag)
        if isinstance(s, gast.Try) and changes_finally(s):
            return self.finally_(s, inside, flag)
        if isinstance(s, gast.Try) and (is_passed_through(s) or is_attempt(s)):
            first, *rest = one_thing_each(s)
            return [*self.with_(first, inside, flag), *self.block(rest, inside, flag)]
        return [s]

    def said_before(self, s) -> list | None:
        """A statement with what is said apart in front of it; None where nothing is."""
        match s:
            case gast.If():
                said = self.tests.said(s.test) if self.tests.is_in(s.test) else None
                return None if said is None else [*said[0], changed(s, ("test",), said[1])]
            case gast.For():
                place, whole = "iter", False
            case gast.AugAssign():
                return self.augmented(s)
            case gast.Return(value=gast.AST()) | gast.Expr() | gast.Assign():
                place, whole = "value", isinstance(s, (gast.Expr, gast.Assign))
            case _:
                return None
        value = getattr(s, place)
        inside = syntax.children(value) if whole and self.is_apart(value) else [value]
        if not any(self.hoisting.wanted(n) for one in inside for n in syntax.own_nodes(one)):
            return None
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.ListComp()) if not reads(value, name):
                return self.hoisting.built(name, value)
        found = self.hoisting.said(value, whole)
        return None if found is None else [*found[0], changed(s, (place,), found[1])]

    def augmented(self, s) -> list | None:
        """``target op= value``: the target is read before what is said apart in the value, and stored to after it.

        What the target was is changed in place, if it may be, and stored where it was read.
        """
        apart = self.hoisting.is_in(s.value)
        if not apart and not self.hoisting.is_in(s.target):
            return None
        before: list = []
        target = self.hoisting.held(s.target, before, s.value)
        if target is None:
            return None
        name = None
        if apart and not (isinstance(target, gast.Name) and self.hoisting.is_lasting(target)):
            name = self.part()
            before.append(assign(name, changed(target, ("ctx",), gast.Load()), s))
        found = self.hoisting.said(s.value)
        if found is None:
            return None
        said, value = found
        new = placed(gast.AugAssign(target, s.op, value), s)
        if name is None:
            return [*before, *said, new]
        if isinstance(target, gast.Subscript):  # of an array, it may be changed where it is
            self.read[id(new)] = name
            return [*before, *said, new]
        change = placed(gast.AugAssign(gast.Name(name, gast.Store(), None, None), s.op, value), s)
        return [*before, *said, change, placed(gast.Assign([target], load(name, s), None), s)]

    def while_(self, s, body: list):
        """A `while` loop with this body; what is said apart in its test is said at the beginning of each turn."""
        said = self.tests.said(s.test) if self.tests.is_in(s.test) else None
        if said is None:
            return placed(gast.While(s.test, body, []), s)
        first, test = said
        leave = placed(gast.If(placed(gast.UnaryOp(gast.Not(), test), s), [placed(gast.Break(), s)], []), s)
        turn = [*self.block(first, False, None), leave, *body]
        return placed(gast.While(placed(gast.Constant(True, None), s), turn, []), s)

    def with_(self, s, inside: bool, flag) -> list:
        """A `with`, or a `try`, whose block nothing leaves, and what leaves in its place."""
        body = self.block(s.body, inside, flag)
        return self.ways_out(s, [body], lambda new: [changed(s, ("body",), new[0] or [gast.Pass()])], inside)

    def finally_(self, s, inside: bool, flag) -> list:
        """``try: ... finally: x *= 2`` as ``try: ... except: x *= 2; raise``, and then the same."""
        tried = [placed(gast.Try(s.body, s.handlers, s.orelse, []), s)] if s.handlers else s.body
        then, otherwise = (self.block(s.finalbody, inside, flag) for _ in range(2))
        handler = placed(gast.ExceptHandler(None, None, [*otherwise, placed(gast.Raise(None, None), s)]), s)

        def made(new: list):
            return [placed(gast.Try(new[0] or [gast.Pass()], [handler], [], []), s), *then]

        return self.ways_out(s, [self.block(tried, inside, flag)], made, inside)

    def ways_out(self, s, parts: list, made, inside: bool) -> list:
        """The statements that are `made` of `parts` which nothing leaves, and what leaves in their place.

        The first two parts (if there are three) run one after the other, the third one in their place.
        """
        kinds = [k for k in (gast.Return, gast.Break, gast.Continue) if any(leaves(one, k) for p in parts for one in p)]
        if not kinds:
            return made(parts)
        wholes = [parts[0] + parts[1], parts[2]] if len(parts) > 1 else parts
        early = len(parts) > 1 and bool(parts[1]) and any(leaves(one, kind) for kind in kinds for one in parts[0])
        always = len(kinds) == 1 and all(map(syntax.ends, wholes))
        surely = always and not early and not any(goes_on(whole, kinds[0]) for whole in wholes)
        result = self.fresh("result")
        flags = {} if surely else {kind: self.fresh(FLAGS[kind]) for kind in kinds}
        ways = {kind: flags.get(kind) for kind in kinds}
        if not surely:
            self.results.add(result)
        if early:
            left = [load(name, s) for name in flags.values()]
            left = left[0] if len(left) == 1 else placed(gast.BoolOp(gast.Or(), left), s)
            parts[1] = [placed(gast.If(placed(gast.UnaryOp(gast.Not(), left), s), parts[1], []), s)]
        found = [assign(name, gast.Constant(False, None), s) for name in flags.values()]
        found += made([self.straight(part, ways, result, not inside) for part in parts])
        for kind, name in ways.items():
            leave = placed(gast.Return(load(result, s)) if kind is gast.Return else kind(), s)
            found.append(leave if always else placed(gast.If(load(name, s), [leave], []), s))
        return found

    def straight(self, statements: list, ways: dict, result: str, mark: bool) -> list:
        """`statements` that run to their end: what leaves them sets a flag, and nothing runs after it.

        `ways` has the flag of each kind of statement that leaves; None where there is no other way to the end. Where
        it is asked to `mark` them, what one branch does not bind that leaves is not read any more.
        """
        found: list = []
        for k, s in enumerate(statements):
            kind = next((kind for kind in ways if leaves(s, kind)), None)
            if kind is None:
                found.append(s)
                continue
            if isinstance(s, kind):
                if kind is gast.Return:
                    found.append(assign(result, s.value or gast.Constant(None, None), s))
                return found + ([assign(ways[kind], gast.Constant(True, None), s)] if ways[kind] else [])
            rest = statements[k + 1 :]
            then, orelse, rest = moved(s, rest)
            parts = [self.straight(part, ways, result, mark) for part in (then, orelse)]
            branch = placed(gast.If(s.test, parts[0] or [placed(gast.Pass(), s)], parts[1]), s)
            branch.leaves = mark
            found.append(branch)
            if rest:
                left = [load(name, s) for name in ways.values()]
                left = left[0] if len(left) == 1 else placed(gast.BoolOp(gast.Or(), left), s)
                test = placed(gast.UnaryOp(gast.Not(), left), s)
                branch = placed(gast.If(test, self.straight(rest, ways, result, mark), []), s)
                branch.leaves = mark
                found.append(branch)
            return found
        return found

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
            loop = self.while_(s, body)
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


FLAGS = {gast.Return: "returned", gast.Break: "broke", gast.Continue: "continued"}


def leaves(s, kind) -> bool:
    """May a statement end what it stands in by a `return`, `break` or `continue` of its own?"""
    if isinstance(s, gast.If):
        return any(leaves(one, kind) for one in [*s.body, *s.orelse])
    return isinstance(s, kind)


def moved(s, rest: list) -> tuple:
    """The branches of an `if`, one with what follows where the other surely leaves, and what still follows."""
    ends = syntax.ends(s.body), syntax.ends(s.orelse)
    if not any(ends):
        return s.body, s.orelse, rest
    return s.body if ends[0] else [*s.body, *rest], s.orelse if ends[1] else [*s.orelse, *rest], []


def goes_on(statements: list, kind) -> bool:
    """Does something follow an `if` either branch of which may leave, or not?"""
    for k, s in enumerate(statements):
        if isinstance(s, gast.If) and leaves(s, kind):
            then, orelse, rest = moved(s, statements[k + 1 :])
            return bool(rest) or goes_on(then, kind) or goes_on(orelse, kind)
    return False


def placed(node, like):
    """`node`, and what is new in it, at the place of `like` in the user's text."""
    for part in [node, *gast.iter_child_nodes(node)]:
        if not hasattr(part, "lineno"):
            gast.copy_location(part, like)
    return node


def marked(new, old):
    """A statement in the place of an old one: what one way does not bind is not read after it, if it is not there."""
    new.leaves = getattr(old, "leaves", False)
    return new


def load(name: str, like):
    return placed(gast.Name(name, gast.Load(), None, None), like)


def assign(name: str, value, like):
    return placed(gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None), like)
