"""Lowers `with` blocks of context managers that let all exceptions through and change nothing but themselves.

The block of such a manager runs as it would run without it: once, to its end or to the first exception. So a
derivative flows through it as through any statements.
"""

import contextlib
import inspect
import threading
import warnings
from types import FunctionType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes, ir
from s2sgrad.transform.frontend import effects, resolve, source, syntax
from s2sgrad.transform.frontend.values import Inert
from s2sgrad.transform.ir import Kind

# Those that concern what runs within them, and nothing else.
SILENT = frozenset({np.errstate, warnings.catch_warnings})
# The others of the libraries, by their classes.
KNOWN = frozenset(
    {
        *(np.printoptions, contextlib.nullcontext, contextlib.redirect_stdout, contextlib.redirect_stderr),
        *(type(threading.Lock()), type(threading.RLock())),
    }
)
_WRAPPER = contextlib.contextmanager(lambda: iter(())).__code__  # what `contextlib.contextmanager` makes


class Managers:
    """The part of `Lowering` that deals with `with` blocks."""

    def statement_With(self, statement, after):
        (item, *more) = statement.items
        if more:
            inner = gast.copy_location(gast.With(more, statement.body, None), statement)
            statement = gast.copy_location(gast.With([item], [inner], None), statement)
        node = item.context_expr
        made = None if self.may_be_active(node) else self.maker(node)
        silent = made in SILENT and isinstance(node, gast.Call)
        followed = self.may_be_active(statement) or self.writes_arrays(statement) or self.has_apart(statement)
        if made is None or (silent and not followed):
            lower = None if made is None else lambda: self.within_silence(statement, after)
            self.verbatim(statement, lower, after)
            return
        self.assume(made)
        keeps = isinstance(node, gast.Call) and (made in KNOWN or generator_of(made) is not None)
        operand = self.kept(node) if keeps else self.inert(node).code()
        if item.optional_vars is not None:
            operand, node = self.entered(made, operand, item)
        changes = isinstance(made, type) and made not in KNOWN | SILENT and changes_itself(made, self.session.purity)
        if changes and not isinstance(node, gast.Call):
            self.write(node, statement)
        then, env, end = self.arm(statement.body, after)
        if end is not None:
            self.refuse("this `with` block is left in the middle, which is not compiled", statement)
        self.within(ir.With(operand, then, ir.Block(), (), self.found.location(statement), silent), env)

    def within_silence(self, statement, after) -> None:
        """The block of a `with` that concerns what runs within it, and nothing else, where it stands."""
        if self.walk(statement.body, after, tail=False) is not None:
            self.refuse("this `with` block is left in the middle, which is not compiled", statement)

    def maker(self, node):
        """The class of the manager that an expression gives, or the function that makes it; None for others."""
        if isinstance(node, gast.Call):
            known = self.static(node.func)
            made = known.value if known is not None and isinstance(known.value, (type, FunctionType)) else None
        else:
            known = self.static(node)
            followed = self.holder(node) is not None
            made = None if followed else type(known.value) if known is not None else self.facts(node, {})[0].cls
        return made if made is not None and is_transparent(made, self.session.purity) else None

    def kept(self, node) -> ir.Code:
        """A call that makes a manager and does nothing but keep its arguments."""
        reads: dict = {}
        for part in [*node.args, *(k.value for k in node.keywords)]:
            reads |= self.inert(part).reads
        return ir.Code(node, reads, ir.OTHER)

    def assume(self, made) -> None:
        """Assume that what makes a manager stays what it is."""
        if isinstance(made, type) and not resolve.is_trusted(made):
            for name in ("__enter__", "__exit__"):
                self.outside.method_of(made, name, vars_of(made, name))
        generator = generator_of(made)
        if generator is not None:
            self.outside.follow(generator)

    def entered(self, made, operand, item) -> tuple:
        """The manager of a ``with ... as t`` that gives itself to `t`, and the name."""
        own = isinstance(made, type) and made not in KNOWN | SILENT
        target = item.optional_vars
        if not own or not isinstance(target, gast.Name) or not returns_itself(vars_of(made, "__enter__")):
            self.refuse("what `with ... as` gives is not known", item.context_expr)
        t = ir.Type(Kind.OTHER, cls=made)
        self.assign_name(target.id, Inert(operand.node, operand.reads, t, False, False, self.regions_of(operand)))
        return self.env[target.id], gast.copy_location(gast.Name(target.id, gast.Load(), None, None), target)

    def within(self, block: ir.With, env: dict) -> None:
        """Add a `with` whose block ends with the environment `env`, which becomes the one after it."""
        before = self.env
        self.env = {name: thing for name, thing in before.items() if name in env}
        block.results, stale, views = self.handed_on(env, before, block.then, block.orelse)
        self.emit(block)
        self.env |= {name: self.view_again(view, base) for name, (view, base) in views.items()}
        self.renew_objects(stale=stale)


def is_transparent(manager, purity: effects.Purity) -> bool:
    """Is a `with` block of what a class, or a function under `contextmanager`, makes run as it is?

    >>> class Quiet:
    ...     def __enter__(self): ...
    ...     def __exit__(self, *exc): ...
    >>> is_transparent(np.errstate, effects.Purity()), is_transparent(contextlib.suppress, effects.Purity())
    (True, False)
    """
    if manager in SILENT or manager in KNOWN:
        return True
    if resolve.is_trusted(manager):
        return False
    if isinstance(manager, type):
        ends = [vars_of(manager, name) for name in ("__enter__", "__exit__")]
        if not classes.is_plain_class(manager) or not all(isinstance(f, FunctionType) for f in ends):
            return False
        return not any(purity.reason_of_method(end, manager) for end in ends) and lets_through(ends[1])
    generator = generator_of(manager)
    return generator is not None and yields_once(generator) and purity.reason_of_generator(generator) is None


def vars_of(cls, name: str):
    """What a class has under a name, without looking at what it is."""
    return inspect.getattr_static(cls, name, None)


def changes_itself(cls, purity: effects.Purity) -> bool:
    """May a manager of this class, which changes nothing else, change itself?"""
    return any(purity.reason(vars_of(cls, name)) for name in ("__enter__", "__exit__"))


def generator_of(function):
    """The generator function that `contextlib.contextmanager` has made a function of; None for another function."""
    made = isinstance(function, FunctionType) and function.__code__ is _WRAPPER
    return function.__wrapped__ if made and isinstance(function.__wrapped__, FunctionType) else None


def lets_through(function) -> bool:
    """Does an `__exit__` surely give nothing that is true?"""
    tree = tree_of(function)
    returns = [] if tree is None else [n for s in tree.body for n in syntax.own_nodes(s) if isinstance(n, gast.Return)]
    false = (None, False)
    return tree is not None and all(
        r.value is None or (isinstance(r.value, gast.Constant) and r.value.value in false) for r in returns
    )


def returns_itself(function) -> bool:
    """Is what a method gives surely the object that it is a method of?"""
    tree = tree_of(function)
    if tree is None or not isinstance(tree.body[-1], gast.Return):
        return False
    returns = [n for s in tree.body for n in syntax.own_nodes(s) if isinstance(n, gast.Return)]
    first = syntax.parameters(tree)[0]
    bound = syntax.Names().stores(gast.Module(tree.body, []))
    return first not in bound and all(isinstance(r.value, gast.Name) and r.value.id == first for r in returns)


def yields_once(function) -> bool:
    """Does a generator function yield at one place that it comes to once, and catch no exception there?"""
    tree = tree_of(function)
    if tree is None:
        return False
    body = tree.body
    while True:
        holding = [s for s in body if any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in syntax.own_nodes(s))]
        if len(holding) != 1 or any(syntax.contains(s, gast.Return) for s in body[: body.index(holding[0]) + 1]):
            return False
        (s,) = holding
        match s:
            case gast.Expr(value=gast.Yield()):
                return True
            case gast.Try(handlers=[], orelse=[]) if not any(map(ends, s.finalbody)):
                body = s.body
            case gast.With():
                return False
            case _:
                return False


def ends(statement) -> bool:
    """May a statement of a `finally` put an end to the exception that it runs for?"""
    return syntax.contains(statement, (gast.Return, gast.Break, gast.Continue))


def tree_of(function):
    try:
        tree = source.find(function).node
    except CompileError:
        return None
    return tree if isinstance(tree, gast.FunctionDef) else None
