"""Lowers `try` blocks whose handlers do nothing but raise, and those that have something to do finally.

What is tried runs as it stands, in the block: what it binds is handed on after it. What happens elsewhere stays as the
user wrote it, so that the derivative raises what the function raises.
"""

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.kinds import is_live
from s2sgrad.transform.frontend.scan import jumps


def is_passed_through(s) -> bool:
    """Does control leave a `try` block only as it leaves what is tried, or by raising?

    >>> one = gast.parse("try: y = f(x)\\nexcept ValueError as e: raise KeyError(x) from e").body[0]
    >>> other = gast.parse("try: y = f(x)\\nexcept ValueError: y = 0.0").body[0]
    >>> is_passed_through(one), is_passed_through(other)
    (True, False)
    """
    raising = all(isinstance(h.body[-1], gast.Raise) and all(map(is_plain, h.body[:-1])) for h in s.handlers)
    return raising and all(map(is_plain, s.finalbody))


def is_plain(s) -> bool:
    """Is it one expression that is evaluated, or something that is assigned to no local name?"""
    stores = [t for t in getattr(s, "targets", []) if not isinstance(t, (gast.Attribute, gast.Subscript))]
    return isinstance(s, (gast.Expr, gast.Assign, gast.Pass)) and not stores and not jumps(s)


def one_thing_each(s) -> list:
    """A `try` as one that has only handlers, inside of one that has only something to do finally."""
    if s.handlers and s.finalbody:
        inner = gast.copy_location(gast.Try(s.body, s.handlers, s.orelse, []), s)
        return [gast.copy_location(gast.Try([inner], [], [], s.finalbody), s)]
    return [gast.copy_location(gast.Try(s.body, s.handlers, [], s.finalbody), s), *s.orelse]


class Trying:
    """The part of `Lowering` that deals with `try` blocks."""

    def statement_Try(self, statement, after):
        followed = self.may_be_active(statement) or self.writes_arrays(statement) or self.has_apart(statement)
        followed = followed or any(is_live(self.env.get(name), self) for name in self.names.stores(statement))
        if not followed or not is_passed_through(statement) or statement.orelse:
            self.verbatim(statement, after=after)
            return
        rest = gast.copy_location(gast.Try([], statement.handlers, [], statement.finalbody), statement)
        own = {h.name.id: ir.UNKNOWN for h in statement.handlers if h.name is not None}
        reads = self.names.loads(rest) & self.local - own.keys()
        bound = set().union(*map(self.names.stores, statement.body))
        if reads & bound or not self.mutable.isdisjoint(reads):
            self.refuse("what a `try` block does elsewhere reads what is changed in it", statement)
        if self.touches_objects(rest) or syntax.contains(rest, syntax.FUNCTIONS):
            self.refuse("what a `try` block does elsewhere cannot be seen", statement)
        self.effects_of(rest, own)
        known = {name: value for n in reads if n in self.env for name, value in self.held(n, statement).items()}
        then, env, end = self.arm(statement.body, after)
        if end is not None:
            self.refuse("this `try` block is left in the middle, which is not compiled", statement)
        elsewhere = ir.Code(rest, known)
        self.within(ir.Try(elsewhere, then, ir.Block(), (), self.found.location(statement)), env)
