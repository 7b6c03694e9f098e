"""Lowers `try` blocks: those whose handlers do nothing but raise, or that have something to do finally, and attempts.

What is tried runs as it stands, in the block: what it binds is handed on after it. What happens elsewhere stays as the
user wrote it, so that the derivative raises what the function raises.

An attempt is a `try` with one handler that goes on: to the flow of values it is an `if`, with what is tried in one
branch and what the handler does in the other. A part of what is tried may have run before that. So it may change an
array or container last of all, and a name that it may have bound when it raises something is lost to the handler: what
does more is tried in steps (`steps`).
"""

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.heap import said
from s2sgrad.transform.frontend.kinds import is_live
from s2sgrad.transform.frontend.scan import expressions_of, jumps
from s2sgrad.transform.frontend.values import Unbound

CHANGES = (ir.Store, ir.Accumulate, ir.Push, ir.Pop)
NARROW = (ValueError, TypeError, LookupError, IndexError, KeyError, ZeroDivisionError, AttributeError, AssertionError)


def is_passed_through(s) -> bool:
    """Does control leave a `try` block only as it leaves what is tried, or by raising?

    >>> one = gast.parse("try: y = f(x)\\nexcept ValueError as e: raise KeyError(x) from e").body[0]
    >>> other = gast.parse("try: y = f(x)\\nexcept ValueError: y = 0.0").body[0]
    >>> is_passed_through(one), is_passed_through(other)
    (True, False)
    """
    return all(map(is_raising, s.handlers)) and all(map(is_plain, s.finalbody))


def is_raising(handler) -> bool:
    """Does a handler do nothing but raise?"""
    return isinstance(handler.body[-1], gast.Raise) and all(map(is_plain, handler.body[:-1]))


def is_attempt(s) -> bool:
    """Does one handler of a `try` go on, while the others do nothing but raise?

    >>> is_attempt(gast.parse("try: y = f(x)\\nexcept ValueError: y = 0.0").body[0])
    True
    """
    return sum(not is_raising(h) for h in s.handlers) == 1 and all(map(is_plain, s.finalbody))


def going_on(s):
    """The handler of an attempt that goes on."""
    return next(h for h in s.handlers if not is_raising(h))


def half_bound(body: list, names, later: bool = False) -> set:
    """The names that statements may have bound before one of them, or one that comes `later`, raises something.

    >>> sorted(half_bound(gast.parse("a = f(x)\\nb, c = g(a)\\nd = True").body, syntax.Names()))
    ['a']
    """
    found: set = set()
    for s in reversed(body):
        match s:
            case gast.Assign(targets=targets, value=value) if all(isinstance(t, gast.Name) for t in flat(targets)):
                found |= names.stores(s) if later else set()
                later = later or not isinstance(value, gast.Constant)
            case gast.AugAssign(target=gast.Name()):
                found |= names.stores(s) if later else set()
                later = True
            case gast.If():
                found |= half_bound(s.body, names, later) | half_bound(s.orelse, names, later) | names.stores(s.test)
                later = True
            case gast.Pass():
                pass
            case _:
                found |= names.stores(s)
                later = True
        found |= set().union(*(names.stores(e) for e in expressions_of(s)))  # walrus
    return found


def flat(targets: list) -> list:
    """The one target of an assignment, or those in it if it is a tuple."""
    if len(targets) == 1 and isinstance(targets[0], (gast.Tuple, gast.List)):
        return targets[0].elts
    return targets


def is_plain(s) -> bool:
    """Is it one expression that is evaluated, or something that is assigned to no local name?"""
    stores = [t for t in getattr(s, "targets", []) if not isinstance(t, (gast.Attribute, gast.Subscript))]
    return isinstance(s, (gast.Expr, gast.Assign, gast.Pass)) and not stores and not jumps(s)


def changes_finally(s) -> bool:
    """Has a `try` something to do finally that may change what a derivative flows through?

    >>> changes_finally(gast.parse("try: y = f(x)\\nfinally: x *= 2").body[0])
    True
    """
    leaves = any(jumps(one) or syntax.contains(one, gast.Return) for one in s.finalbody)
    return not all(map(is_plain, s.finalbody)) and not leaves


def one_thing_each(s) -> list:
    """A `try` as one that has only handlers, inside of one that has only something to do finally."""
    if s.handlers and s.finalbody:
        inner = gast.copy_location(gast.Try(s.body, s.handlers, s.orelse, []), s)
        return [gast.copy_location(gast.Try([inner], [], [], s.finalbody), s)]
    return [gast.copy_location(gast.Try(s.body, s.handlers, [], s.finalbody), s), *s.orelse]


def runs_on_tape(block: ir.Block, seen: set) -> bool:
    """May a part of a block run on the tape, or of a function that it calls?"""
    for s in walk.statements(block):
        if isinstance(s, ir.PlainCall):
            return True
        if isinstance(s, ir.Call) and s.callee not in seen:
            seen.add(s.callee)
            if s.callee.function is None or runs_on_tape(s.callee.function.body, seen):
                return True
    return False


def is_done_at_once(s) -> bool:
    """Is it a statement that changes an array or container, and fails before that if it does?"""
    match s:
        case gast.Assign(targets=[gast.Subscript() | gast.Attribute()]) | gast.AugAssign():
            return True
        case gast.Expr(value=gast.Call(func=gast.Attribute(attr="fill" | "sort" | "append" | "copyto" | "putmask"))):
            return True
        case gast.Expr(value=gast.Call(keywords=keywords)):
            return any(k.arg == "out" for k in keywords)
    return False


def written_halfway(statement):
    """A handler of what arithmetic raises when it has written its results already."""
    text = """
try: pass
except (FloatingPointError, Warning) as error:
    raise RuntimeError("no derivative where an array has been written to before arithmetic raised this") from error
"""
    (handler,) = gast.parse(text).body[0].handlers
    for node in gast.walk(handler):
        gast.copy_location(node, statement)
    return handler


class Trying:
    """The part of `Lowering` that deals with `try` blocks."""

    def statement_Try(self, statement, after):
        followed = self.may_be_active(statement) or self.writes_arrays(statement) or self.has_apart(statement)
        followed = followed or any(is_live(self.env.get(name), self) for name in self.names.stores(statement))
        lower = None
        if is_attempt(statement) and not statement.finalbody:
            lower = self.lower_attempt
        elif is_passed_through(statement) and not statement.orelse:
            lower = self.lower_passed_through
        if followed and lower is not None:
            lower(statement, after)
        else:
            self.verbatim(statement, lower and (lambda: lower(statement, after)), after)

    def lower_passed_through(self, statement, after: frozenset) -> None:
        """A `try` whose handlers end by raising."""
        elsewhere = self.elsewhere(statement, statement.handlers)
        then, env = self.tried(statement, after)
        self.within(ir.Try(elsewhere, then, ir.Block(), (), self.found.location(statement)), env)

    def elsewhere(self, statement, handlers: list) -> ir.Code:
        """What a `try` does where it raises, and finally, as far as it stays as the user wrote it."""
        rest = gast.copy_location(gast.Try([], handlers, [], statement.finalbody), statement)
        own = {h.name.id: ir.UNKNOWN for h in handlers if h.name is not None}
        reads = self.names.loads(rest) & self.local - own.keys()
        bound = set().union(*map(self.names.stores, statement.body))
        if reads & bound or not self.mutable.isdisjoint(reads):
            self.refuse("what a `try` block does elsewhere reads what is changed in it", statement)
        if self.touches_objects(rest) or syntax.contains(rest, syntax.FUNCTIONS):
            self.refuse("what a `try` block does elsewhere cannot be seen", statement)
        self.effects_of(rest, own)
        known = {name: value for n in reads if n in self.env for name, value in self.held(n, statement).items()}
        return ir.Code(rest, known)

    def tried(self, statement, after: frozenset) -> tuple:
        """What a `try` tries: its block, and the environment at its end."""
        then, env, end = self.arm(statement.body, after)
        if end is not None:
            self.refuse("this `try` block is left in the middle, which is not compiled", statement)
        return then, env

    def lower_attempt(self, statement, after: frozenset) -> None:
        """A `try` with one handler that goes on."""
        before, place = self.env, self.found.location(statement)
        handler = going_on(statement)
        first, others = self.told_of_exception(handler)
        kept = gast.copy_location(gast.ExceptHandler(handler.type, handler.name, first), handler)
        test = self.elsewhere(statement, [kept if h is handler else h for h in statement.handlers])
        self.env = dict(before)
        then = ir.Block()
        with self.inside_block(then):
            later = after.union(*map(self.names.loads, statement.orelse))
            block, env = self.tried_or_undone(statement, later)
            if runs_on_tape(block, set()):  # what that refuses would be taken for what the function raises
                self.refuse("what is tried here runs on the tape", statement)
            goes_on = not isinstance(handler.body[-1], gast.Raise) and not self.is_narrow(handler.type)
            if goes_on and any(isinstance(s, ir.Store) for s in walk.statements(block)):
                rest = test.node
                test = ir.Code(
                    gast.Try([], [written_halfway(statement), *rest.handlers], [], rest.finalbody), test.reads
                )
            nothing = ir.Code(gast.Try([], [], [], []), {})
            self.within(ir.Try(nothing, block, ir.Block(), (), place), env)
            end = self.walk(statement.orelse, after, tail=False)
        env_then, self.env = self.env, dict(before)
        for name in half_bound(statement.body, self.names):
            reason = f"{name} may have been bound before what is tried raised an exception"
            self.env[name] = Unbound(reason, unset=getattr(statement, "leaves", False))  # after a step nobody asks
        otherwise = self.arm(others, after)
        self.env, self.current = before, statement
        self.merge_arms(statement, test, (then, env_then, end), otherwise, after, ir.Attempt)

    def told_of_exception(self, handler) -> tuple:
        """What a handler does first that reads the exception, which stays as the user wrote it, and all the rest."""
        if handler.name is None:
            return [], handler.body
        error, count = handler.name.id, 0
        while count < len(handler.body) and is_plain(handler.body[count]):
            count += 1
        while count and error not in self.names.loads(handler.body[count - 1]):
            count -= 1
        first, others = handler.body[:count], handler.body[count:]
        elsewhere = [n for n in syntax.walk(gast.Module(others, [])) if isinstance(n, gast.Name) and n.id == error]
        if elsewhere or error in self.env or any(map(self.may_be_active, first)):
            self.refuse(f"what is done here with the exception {error} is not compiled", handler)
        return first, others

    def tried_or_undone(self, statement, after: frozenset) -> tuple:
        """What an attempt tries: its block, and the environment at its end.

        Nothing stays changed of it where it raises: if it changes something, then last of all, and at once.
        """
        first, last = statement.body[:-1], statement.body[-1:]
        if not is_done_at_once(last[0]) or self.has_apart(last[0]):
            first, last = statement.body, []
        block, before = ir.Block(), self.env
        self.env = dict(before)
        with self.inside_block(block):
            end = self.walk(first, after.union(*map(self.names.loads, last)), tail=False)
            self.check_undone(statement, block, before)
            done = len(block.statements)
            if end is None and last:
                end = self.walk(last, after, tail=False)
        env, self.env = self.env, before
        if end is not None:
            self.refuse("this `try` block is left in the middle, which is not compiled", statement)
        changing = [
            any(isinstance(t, CHANGES) for t in walk.statements(ir.Block([s]))) for s in block.statements[done:]
        ]
        if any(changing):
            change, *later = block.statements[done + changing.index(True) :]
            if not isinstance(change, CHANGES) or not all(map(self.is_renewal, later)):
                self.refuse(f"what is tried here changes {change.into.name}", statement)
        return block, env

    def is_renewal(self, s) -> bool:
        """Is it a view that is looked up again, or an object put together again, after something has changed?"""
        if isinstance(s, ir.Make):
            return s.target in self.objects
        return isinstance(s, ir.Op) and s.target in self.again

    def check_undone(self, statement, block: ir.Block, before: dict) -> None:
        """Refuse what is tried if something else than names stays changed of it."""
        bound = set().union(*map(self.names.stores, statement.body))
        for name, thing in before.items():
            if self.env.get(name) is not thing and name not in bound:
                self.refuse(f"what is tried here changes {said(name)}", statement)
        for s in walk.statements(block):
            if isinstance(s, CHANGES):
                self.refuse(f"what is tried here changes {s.into.name}", statement)

    def is_narrow(self, kind) -> bool:
        """Does a handler of this type surely catch nothing that arithmetic raises after it has written its results?"""
        if isinstance(kind, gast.Tuple):
            return all(map(self.is_narrow, kind.elts))
        if isinstance(kind, gast.Attribute):
            return kind.attr == "LinAlgError"
        return isinstance(kind, gast.Name) and any(self.is_builtin(kind.id, one) for one in NARROW)
