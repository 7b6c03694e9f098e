"""The one table of derivative rules: what a callable's derivative is, said once, for both engines.

A rule is plain Python on ``np.`` names, written in the language that the compiler accepts. The
compiler parses its source and inlines it into the code it generates; the tape calls it. There are
three kinds, and one remark:

``elementwise(f, partial, ...)``
    One line per positional argument: what a small change `t` of that argument does to the result,
    ``lambda t, x, y: t * y``; a last parameter named `out` receives the result of the call. Such a
    map is diagonal, so the same line is its own adjoint (up to conjugation, which the engines add),
    and broadcasting, VJP, JVP and second order all follow from it. ``None`` stands for an argument
    that nothing flows to, `unknown` for one whose derivative the rule does not know.

``linear(f, adjoint)``
    `f` is linear in its first argument: ``adjoint(g, x, ...)`` takes the cotangent of the result to
    the cotangent of that argument; the JVP is `f` itself.

``vjp(f, x=pullback, ...)`` and ``jvp(f, x=pushforward, ...)``
    Everything else: per differentiable argument, by its name, ``pullback(g, out, <arguments of f>)``
    gives that argument's cotangent and ``pushforward(t, out, <arguments of f>)`` the change of the
    result. Or, where the cotangents share work, ``@vjp(f, "a", "b")`` on one function that returns a
    tuple of the cotangents of the named arguments.

``inactive(f, ...)``
    No derivative flows through `f` (``np.shape``, ``np.argmax``, comparisons): its result is plain
    data even when its arguments are differentiated.

The parameters of pullbacks, adjoints and pushforwards bear the names that `f` itself uses, in its
order, with its defaults, so that a keyword of the call finds its place (bind a call by the signature
of the pullback: some parameters are keyword-only there, because one between is not covered). A keyword
that the rule does not list is not covered by it, and neither is a derivative to a listed argument that
has no pullback; a partial that is None says that there is none: zero.

Lists. Where an argument or a result is a list of arrays (``np.concatenate``, ``np.split``), so is its
cotangent or tangent, and an entry that is None is zero; given one array for the list, an array. A
parameter ``*operands`` (``np.einsum``, ``np.meshgrid``) is such a list under its one name, ``operands``.

Conjugation (complex values, gradients being conjugate Wirtinger derivatives): the engines conjugate
around elementwise lines; in all other rules the author writes ``np.conj`` where the formula has it.
Shapes: the engines sum an elementwise cotangent back to its argument's shape; other rules return it
in the right shape themselves. Partials that can be singular are written with `over` and `times`
(``runtime.arrays``), which keep a zero cotangent zero.
"""

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Rule:
    """What is known of the derivative of one callable.

    Attributes
    ----------
    function : callable
        The callable that the rule is about.
    kind : {"elementwise", "linear", "general", "inactive"}
    partials : tuple of (callable or None)
        Elementwise only: ``partial(t, *args)``, or ``partial(t, *args, out)`` where `uses_out` says so.
    uses_out : tuple of bool
        Elementwise only: which partials take the result.
    parameters : tuple of str
        The names of the arguments of `function` that the rule covers, in order.
    pullbacks : dict of str to callable
        Linear: ``{first: adjoint(g, *args, **kwargs)}``. General: ``pullback(g, out, *args, **kwargs)``.
    joint : callable or None
        ``joint(g, out, *args, **kwargs)``: the cotangents of `joint_names`, in a tuple.
    joint_names : tuple of str
    pushforwards : dict of str to callable
        General only: ``pushforward(t, out, *args, **kwargs)``.
    """

    function: Callable
    kind: str
    partials: tuple = ()
    uses_out: tuple = ()
    parameters: tuple = ()
    pullbacks: dict = field(default_factory=dict)
    joint: Callable | None = None
    joint_names: tuple = ()
    pushforwards: dict = field(default_factory=dict)

    @property
    def differentiable(self) -> tuple:
        """The names of the arguments that a derivative can flow to."""
        if self.kind == "elementwise":
            return tuple(n for n, p in zip(self.parameters, self.partials, strict=True) if p not in (None, unknown))
        return tuple(self.pullbacks) or self.joint_names

    @property
    def constant(self) -> tuple:
        """The names of the arguments that surely have no derivative: a small change of them does nothing."""
        return tuple(n for n, p in zip(self.parameters, self.partials, strict=False) if p is None)


@dataclass(frozen=True, slots=True)
class Method:
    """An array method as a call of a function: ``x.name(*args)`` is ``function(x, *args)``.

    `variadic`: ``x.reshape(2, 3)`` means ``np.reshape(x, (2, 3))``.
    """

    function: Callable
    variadic: bool = False


RULES: dict = {}  # callable -> Rule; ask `lookup`
LATER = {  # libraries whose rules are read once the library itself has been imported
    f"scipy.{name}": f"s2sgrad.rules.scipy.{name}" for name in ("special", "stats")
}
METHODS: dict[str, Method] = {}  # array method name -> Method
ATTRIBUTES: dict[str, Callable] = {}  # array attribute name -> function of the array
INACTIVE_METHODS: set[str] = set()  # array methods whose result carries no derivative
INACTIVE_ATTRIBUTES: set[str] = set()  # array attributes that carry no derivative


def lookup(function) -> Rule | None:
    """The rule of `function`, or None where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> import s2sgrad.rules
    >>> lookup(np.multiply).kind
    'elementwise'
    """
    try:
        rule = RULES.get(function)
    except TypeError:  # unhashable callable: certainly none of ours
        return None
    if rule is None and LATER and any([library in sys.modules for library in LATER]):
        read_imported()
        rule = RULES.get(function)
    return rule


def read_imported() -> None:
    """Read the rules of the libraries that have been imported since."""
    for library, module in list(LATER.items()):
        if library in sys.modules:
            importlib.import_module(module)
            LATER.pop(library, None)


def unknown(t, *args):
    """Stands for the partial by an argument whose derivative a rule does not know: asked for, it is an error."""
    raise TypeError("no derivative is known")


def _names(function, skip: int) -> tuple:
    return tuple(inspect.signature(function).parameters)[skip:]


def _as_tuple(functions) -> tuple:
    return functions if isinstance(functions, tuple) else (functions,)


def _enter(rule: Rule, functions: tuple) -> None:
    for function in functions:
        if function in RULES:
            raise ValueError(f"{function!r} has a rule already")
        RULES[function] = rule


def elementwise(functions, *partials) -> None:
    """Register `functions` (one or a tuple of synonyms) by one partial per positional argument."""
    functions = _as_tuple(functions)
    named = next(p for p in partials if p not in (None, unknown))
    uses_out = tuple(p is not None and _names(p, 1)[-1:] == ("out",) for p in partials)
    names = tuple(n for n in _names(named, 1) if n != "out")
    if len(names) != len(partials):
        raise ValueError(f"{functions[0]!r}: {len(partials)} partials for arguments {names}")
    _enter(Rule(functions[0], "elementwise", partials, uses_out, names), functions)


def linear(functions, adjoint) -> None:
    """Register `functions`, linear in their first argument, by the adjoint map."""
    functions = _as_tuple(functions)
    names = _names(adjoint, 1)
    _enter(Rule(functions[0], "linear", parameters=names, pullbacks={names[0]: adjoint}), functions)


def _general(functions) -> Rule:
    functions = _as_tuple(functions)
    rule = RULES.get(functions[0])
    if rule is None:
        rule = Rule(functions[0], "general")
        _enter(rule, functions)
    if rule.kind != "general":
        raise ValueError(f"{functions[0]!r} has a rule already")
    return rule


def _require_names(rule: Rule, names: tuple, pullback) -> None:
    """A pullback takes ``(g, out, ...)``, and then what the function takes, under the same names."""
    takes = tuple(inspect.signature(pullback).parameters)
    for name in names:
        if name not in takes[2:]:
            raise ValueError(
                f"the pullback of {rule.function!r} for {name!r} takes ({', '.join(takes)}): it must take (g, out), "
                f"and then what the function takes, under the same names, {name} among them"
            )


def vjp(functions, *joint_names, **pullbacks):
    """Register pullbacks by argument name, or, as a decorator, one joint pullback."""
    rule = _general(functions)
    known = rule.pullbacks.keys() & pullbacks.keys()
    if known or rule.joint_names and joint_names:
        raise ValueError(f"{rule.function!r} has a rule for {', '.join(sorted(known) or rule.joint_names)} already")
    if pullbacks:
        for name, pullback in pullbacks.items():
            _require_names(rule, (name,), pullback)
        rule.pullbacks.update(pullbacks)
        rule.parameters = _names(next(iter(pullbacks.values())), 2)
        return None

    def register(joint):
        _require_names(rule, joint_names, joint)
        rule.joint, rule.joint_names = joint, joint_names
        rule.parameters = _names(joint, 2)
        return joint

    return register


def jvp(functions, **pushforwards) -> None:
    """Register pushforwards by argument name for a callable that has a general rule."""
    _general(functions).pushforwards.update(pushforwards)


def inactive(*functions) -> None:
    """Say of callables that no derivative flows through them."""
    for function in functions:
        _enter(Rule(function, "inactive"), (function,))


def alias(function, *synonyms) -> None:
    """Give `synonyms` the rule of `function` (``operator.mul`` that of ``np.multiply``)."""
    _enter(RULES[function], synonyms)


def method(name: str, function, *, variadic: bool = False) -> None:
    """Say which function of the array a method is."""
    METHODS[name] = Method(function, variadic)


def attribute(name: str, function) -> None:
    """Say which function of the array an attribute is."""
    ATTRIBUTES[name] = function
