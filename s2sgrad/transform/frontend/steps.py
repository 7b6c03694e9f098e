"""Says a `try` whose block changes something on its way as one `try` for each step, none of which is done by half.

The user's ::

    try:
        x = x * w
        y[0] = np.sum(x)
    except ValueError:
        y = y * x

is lowered as if it were ::

    failed = False
    try:
        x = x * w
    except ValueError:
        failed = True
    else:
        try:
            y[0] = np.sum(x)
        except ValueError:
            failed = True
    if failed:
        y = y * x

A step ends with a statement that binds or changes what may be read when the block has been left, and does so last of
all. What only the block itself reads may be done by half.
"""

from collections import Counter
from collections.abc import Callable

import gast

from s2sgrad.transform.frontend import effects, syntax
from s2sgrad.transform.frontend.hoisting import assign, load, locate
from s2sgrad.transform.frontend.matching import counted
from s2sgrad.transform.frontend.scan import WRITERS, exposed_names, is_call_of, jumps

MOST_STEPS = 8
READERS = {"exc_info", "exception", "print_exc", "format_exc", "print_exception", "format_exception"}
SIMPLE = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.Pass, gast.Raise, gast.Assert)


class NoSteps(Exception):
    """What is tried is not said so."""


def in_steps(s, handler, fresh: Callable, counts: Counter, is_apart: Callable) -> list | None:
    """A `try` with one handler that goes on, in steps; None where it needs none, or is not said so.

    Parameters
    ----------
    s : gast.Try
    handler : gast.ExceptHandler
        The one that goes on.
    fresh : callable
        Gives a name that nothing in the function has.
    counts : Counter
        How often each name stands in the function.
    is_apart : callable
        Whether a node is a call that may change something.
    """
    inside = [n for one in handler.body for n in outside_of_others(one)]
    reads_error = any(getattr(n, "id", getattr(n, "attr", None)) in READERS for n in inside)
    if getattr(s, "leaves", False):  # a step
        return None
    if handler.name is not None or reads_error or any(isinstance(n, gast.Raise) for n in inside):
        return None
    names = syntax.Names()
    steps = Steps(s, handler, fresh, kept_names(s, handler, names, counts), names, is_apart)
    try:
        tried = steps.chain(s.body)
    except NoSteps:
        return None
    if steps.count < 2:
        return None
    start = gast.Pass()
    start.unbinds = frozenset().union(*map(names.stores, s.body))  # what is bound only where nothing has failed
    whole = gast.If(load(steps.failed), [start, *handler.body], s.orelse)
    return locate([assign(steps.failed, gast.Constant(False, None)), *tried, whole], s)


def outside_of_others(node):
    """A statement and what is in it, but for what other `try` blocks try, which may raise what they catch."""
    yield node
    for child in syntax.children(node):
        if not isinstance(node, gast.Try) or child not in node.body:
            yield from outside_of_others(child)


def jumps_or_returns(s) -> bool:
    """Does it leave what it stands in, or is it a loop that is left?"""
    inner = s.body if isinstance(s, gast.For) else [s]
    return any(jumps(one) or syntax.contains(one, gast.Return) for one in inner)


def kept_names(s, handler, names: syntax.Names, counts: Counter) -> set:
    """The names of what is tried that may be read when it has been left in the middle."""
    bound = frozenset().union(*map(names.stores, s.body))
    own, early = counted(s.body), exposed_names(s.body, names)
    read = exposed_names(handler.body, names)
    anew = frozenset().union(*(names.stores(one) for one in handler.body if isinstance(one, gast.Assign))) - read
    if isinstance(handler.body[-1], gast.Return):
        return bound & read
    return {name for name in bound if name not in anew and (counts[name] > own[name] or name in early)}


def is_count(node) -> bool:
    """Is it a `range`, which gives the same when it is evaluated again, and raises nothing when it is run through?"""
    if is_call_of(node, ("reversed",)):
        return len(node.args) == 1 and is_count(node.args[0])
    calls = [n for n in syntax.walk(node) if isinstance(n, gast.Call)]
    return is_call_of(node, ("range",)) and all(is_call_of(n, ("len",)) for n in calls if n is not node)


class Steps:
    """The steps of one `try`.

    Attributes
    ----------
    failed : str
        The name of the flag that says that the handler is to run.
    count : int
        How many there are.
    """

    def __init__(self, s, handler, fresh, kept: set, names, is_apart):
        self.s = s
        self.handler = handler
        self.fresh = fresh
        self.kept = kept
        self.names = names
        self.is_apart = is_apart
        self.failed = fresh("failed")
        self.count = 0

    def chain(self, statements: list) -> list:
        """Statements, in steps."""
        step: list = []
        for k, one in enumerate(statements):
            rest = statements[k + 1 :]
            if not self.changes(one):
                step.append(one)
            elif isinstance(one, SIMPLE):
                return [self.step([*step, one], self.chain(rest))]
            elif isinstance(one, gast.If) and not jumps_or_returns(one):
                test = self.fresh("test")
                holds = gast.IfExp(one.test, gast.Constant(True, None), gast.Constant(False, None))
                step.append(assign(test, holds))
                parts = self.chain(one.body), self.chain(one.orelse)
                self.count += 1
                return [self.step(step, [gast.If(load(test), *parts), *self.unless_failed(rest)])]
            elif isinstance(one, gast.For) and is_count(one.iter) and not jumps_or_returns(one):
                if any(not isinstance(a, gast.Constant) for a in one.iter.args):
                    step.append(gast.Expr(one.iter))  # its numbers may be none
                leave = gast.If(load(self.failed), [gast.Break()], [])
                loop = gast.For(one.target, one.iter, [*self.chain(one.body), leave], [], None)
                self.count += 1
                rest = [loop, *self.unless_failed([*one.orelse, *rest])]
                return [self.step(step, rest)] if step else rest
            else:
                raise NoSteps
        return [self.step(step, [])] if step else []

    def step(self, body: list, rest: list):
        """A `try` of one step, and what is done after it."""
        self.count += 1
        if self.count > MOST_STEPS:
            raise NoSteps
        failed = assign(self.failed, gast.Constant(True, None))
        handlers = [
            gast.ExceptHandler(h.type, h.name, [failed] if h is self.handler else h.body) for h in self.s.handlers
        ]
        found = gast.Try(body, handlers, rest, [])
        found.leaves = True
        return found

    def unless_failed(self, statements: list) -> list:
        if not statements:
            return []
        branch = gast.If(gast.UnaryOp(gast.Not(), load(self.failed)), self.chain(statements), [])
        branch.leaves = True
        return [branch]

    def changes(self, s) -> bool:
        """May a statement change what may be read when what is tried has been left after it?"""
        if not self.kept.isdisjoint(self.names.stores(s)):
            return True
        return any(self.is_change(n) for n in syntax.walk(s))

    def is_change(self, node) -> bool:
        if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
            return True
        if isinstance(node, gast.AugAssign) or self.is_apart(node):
            return True
        if not isinstance(node, gast.Call):
            return False
        method = node.func.attr if isinstance(node.func, gast.Attribute) else None
        return method in effects.MUTATING_METHODS | WRITERS or any(k.arg == "out" for k in node.keywords)
