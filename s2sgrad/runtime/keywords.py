"""Which argument is which: by the signature of a callable and by the parameters of its rule."""

import functools
import inspect
import sys

import numpy as np

from s2sgrad.rules.table import lookup

_known = {}  # callable -> what `keyword_names` says of it


def keyword_names(function) -> tuple:
    """Which positional arguments of `function` its rule knows by keyword only, and `out` wherever it stands.

    Returns
    -------
    count : int
        How many arguments stay positional.
    names : tuple of str
        Those of the arguments from there on.
    defaults : dict
    """
    found = _known.get(function)
    if found is None:
        found = _read_names(function)
        if isinstance(getattr(function, "__self__", sys), type(sys)):  # no object is kept alive for its methods
            _known[function] = found
    return found


def _read_names(function):
    if isinstance(function, np.ufunc):
        return function.nin, (("out",) if function.nout == 1 else ()), {}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return sys.maxsize, (), {}
    rule = lookup(function)
    covered = sys.maxsize
    if rule is not None and rule.kind != "inactive":
        if rule.kind == "elementwise":
            covered = len(rule.partials)
        elif starred(rule) is None:
            code = getattr(pullback_of(rule), "__code__", None)
            covered = code.co_argcount - (1 if rule.kind == "linear" else 2) if code is not None else sys.maxsize
    names = []
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            break
        names.append(parameter.name)
    writes = "out" in names and (rule is None or "out" not in rule.parameters)
    count = min(covered, names.index("out") if writes else sys.maxsize)
    if count >= len(names) or any(p.kind is p.POSITIONAL_ONLY for p in parameters[count : len(names)]):
        return sys.maxsize, (), {}
    return count, tuple(names[count:]), {p.name: p.default for p in parameters}


@functools.cache
def positions(function) -> dict:
    """The parameters of a function that can be passed by position, by name; none where nothing tells.

    >>> positions(np.median)["overwrite_input"]
    3
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: i for i, p in enumerate(parameters) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)}


def is_overwriting(name: str) -> bool:
    """Does a parameter of NumPy's or SciPy's of this name allow a function to write into another argument?

    >>> is_overwriting("overwrite_b"), is_overwriting("out")
    (True, False)
    """
    return name.startswith("overwrite_")


def by_name(args, kwargs, count, names, defaults):
    """The arguments of a call with those after the first `count` passed by name, and defaults left away."""
    if len(args) - count > len(names):
        return args, kwargs  # too many: the call will say so
    more = {k: a for k, a in zip(names, args[count:], strict=False) if a is not defaults.get(k)}
    if "out" in more and more["out"] is None:
        del more["out"]
    if more.keys() & kwargs.keys():
        return args, kwargs
    return args[:count], {**kwargs, **more}


def pullback_of(rule):
    return rule.joint or next(iter(rule.pullbacks.values()))


def starred(rule):
    code = getattr(pullback_of(rule), "__code__", None)
    if code is None or not code.co_flags & 0x04:
        return None
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount]


def takes_any_keyword(rule):
    code = getattr(pullback_of(rule), "__code__", None)
    return code is not None and bool(code.co_flags & 0x08)
