"""Says a `match` over literals, names, and tuples of them as a chain of `if`.

The user's ::

    match (n, n % 2):
        case (0, _):
            y = x
        case (k, 1) if k > 1:
            y = x * k
        case _:
            y = x + n

is lowered as if it were ::

    subject = n % 2
    if n == 0:
        y = x
    elif subject == 1 and n > 1:
        k = n
        y = x * k
    else:
        y = x + n

The names of a pattern are bound before its guard is asked, which asks for what they will be bound to. Where it comes
out false they stay bound: this is said, too, where somebody may see it.
"""

import copy
from collections import Counter
from collections.abc import Callable

import gast

from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.hoisting import locate


class NoChain(Exception):
    """A pattern that is not said as tests."""


def as_chain(s, fresh: Callable, counts: Counter, changing=frozenset()) -> list | None:
    """A `match` as a chain of `if`; None where it is not said so.

    Parameters
    ----------
    s : gast.Match
    fresh : callable
        Gives a name that nothing in the function has.
    counts : Counter
        How often each name stands in the function.
    changing : set of str
        The names that a call may bind anew.
    """
    before: list = []
    if any(
        isinstance(n, gast.NamedExpr) for case in s.cases if case.guard is not None for n in syntax.walk(case.guard)
    ):
        return None
    try:
        subject = evaluated(s.subject, captured(s.cases) | changing, before, fresh)
        found = [asked(case.pattern, subject) for case in s.cases]
    except NoChain:
        return None
    own = counted([case for case, (_, bound) in zip(s.cases, found, strict=True) if bound])
    chain: list = []
    for case, (tests, bound) in reversed(list(zip(s.cases, found, strict=True))):
        if case.guard is not None:
            seen = {name: value for name, value in bound.items() if counts[name] > own[name]}
            if seen:
                chain = [*guarded(tests, bindings(seen), []), *chain]
            tests = [*tests, with_values(case.guard, bound)]
        chain = guarded(tests, [*bindings(bound), *case.body], chain)
    return locate([*before, *chain], s)


def captured(cases: list) -> set:
    """The names that patterns bind."""
    return {n.name for case in cases for n in syntax.walk(case.pattern) if isinstance(n, gast.MatchAs)} - {None}


def counted(nodes: list) -> Counter:
    """How often names stand in pieces of syntax, those that are bound by patterns or declared among them.

    >>> counted(gast.parse("match n:\\n case k: y = k").body)["k"]
    2
    """
    names = Counter()
    for node in (n for one in nodes for n in gast.walk(one)):
        match node:
            case gast.Name(id=name) | gast.MatchAs(name=str(name)):
                names[name] += 1
            case gast.Nonlocal(names=declared) | gast.Global(names=declared):
                names.update(declared)
    return names


def evaluated(subject, bound: set, before: list, fresh: Callable):
    """What is matched, with names for its parts, as expressions that may be read again; `before` gives the names."""
    if isinstance(subject, gast.Tuple) and not any(isinstance(e, gast.Starred) for e in subject.elts):
        if any(isinstance(n, gast.NamedExpr) for n in syntax.walk(subject)):
            raise NoChain
        return gast.Tuple([evaluated(e, bound, before, fresh) for e in subject.elts], gast.Load())
    if isinstance(subject, gast.Name) and subject.id not in bound:
        return subject
    name = fresh("subject")
    before.append(gast.Assign([gast.Name(name, gast.Store(), None, None)], subject, None))
    return gast.Name(name, gast.Load(), None, None)


def asked(pattern, subject) -> tuple:
    """The tests that a pattern is, and what it binds names to."""
    whole = isinstance(subject, gast.Tuple)
    match pattern:
        case gast.MatchAs(pattern=None, name=None):
            return [], {}
        case gast.MatchAs(pattern=inner, name=name):
            tests, bound = asked(inner, subject) if inner is not None else ([], {})
            return tests, bound | {name: subject}
        case gast.MatchValue(value=value) if not whole:
            return [gast.Compare(subject, [gast.Eq()], [value])], {}
        case gast.MatchSingleton(value=value) if not whole:
            return [gast.Compare(subject, [gast.Is()], [gast.Constant(value, None)])], {}
        case gast.MatchOr(patterns=patterns):
            found = [asked(p, subject) for p in patterns]
            if all(tests and bound == found[0][1] for tests, bound in found):
                return [joined(gast.Or, [joined(gast.And, tests) for tests, _ in found])], found[0][1]
        case gast.MatchSequence(patterns=patterns) if whole and len(patterns) == len(subject.elts):
            if not any(isinstance(p, gast.MatchStar) for p in patterns):
                parts = [asked(p, e) for p, e in zip(patterns, subject.elts, strict=True)]
                return [t for tests, _ in parts for t in tests], {k: v for _, b in parts for k, v in b.items()}
    raise NoChain


def joined(operator, tests: list):
    return tests[0] if len(tests) == 1 else gast.BoolOp(operator(), tests)


def guarded(tests: list, then: list, orelse: list) -> list:
    return [gast.If(joined(gast.And, tests), then, orelse)] if tests else then


def bindings(bound: dict) -> list:
    return [gast.Assign([gast.Name(k, gast.Store(), None, None)], copy.deepcopy(v), None) for k, v in bound.items()]


def with_values(node, values: dict):
    """A copy of an expression with these values in the place of names."""

    class Placing(gast.NodeTransformer):
        def visit_Name(self, name):
            return copy.deepcopy(values.get(name.id, name))

    return Placing().visit(copy.deepcopy(node))
