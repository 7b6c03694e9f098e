"""What functions look at outside of themselves: those, too, that the compiler does not look into.

A function that writes into an argument may call another one, which reads a global array, and that may be the
argument. So the data that functions reach are read at each call, and asked whether they share its memory.
"""

import functools
from types import FunctionType, MethodType, ModuleType

from s2sgrad.transform import ir
from s2sgrad.transform.classes import PLAIN, data_of
from s2sgrad.transform.frontend.resolve import MISSING, Outside, Place, Reader, is_definition, is_trusted

_CACHED = type(functools.lru_cache(lambda: None))


def reached(thing, seen: set, guards: dict):
    """What reads the data that a function, method or class may look at, itself or by what it calls.

    An object that holds them in a way of its own is such data itself. That the functions stay what they are is added
    to the `guards`.

    >>> import numpy as np
    >>> weights = np.ones(3)
    >>> def weighted(x, scale=[2.0]):
    ...     return scale[0] * x + weights[0]
    >>> weighted.__module__ = "program"
    >>> [read() for read in reached(weighted, set(), {})]
    [array([1., 1., 1.]), [2.0]]
    """
    if id(thing) in seen or isinstance(thing, ModuleType):
        return
    seen.add(id(thing))
    if isinstance(thing, MethodType):
        yield from _of_each([thing.__func__, thing.__self__], seen, guards)
    elif isinstance(thing, functools.partial):
        yield from _of_each([thing.func, *thing.args, *thing.keywords.values()], seen, guards)
    elif isinstance(thing, _CACHED):
        yield from reached(thing.__wrapped__, seen, guards)
    elif hasattr(thing, "__s2sgrad__"):
        yield from reached(thing.__s2sgrad__.function, seen, guards)
    elif is_trusted(thing):
        return
    elif isinstance(thing, FunctionType):
        yield from _of_function(thing, seen, guards)
    elif isinstance(thing, type):
        members = [v for cls in thing.__mro__ if not is_trusted(cls) for v in vars(cls).values()]
        called = [v for v in members if isinstance(v, (FunctionType, staticmethod, classmethod, property, type))]
        yield from _of_each([*called, *data_of(thing)], seen, guards)
    else:
        yield _constant(thing)


def _of_function(function, seen, guards):
    codes, names = [function.__code__], {}
    for code in codes:
        names |= dict.fromkeys([*code.co_freevars, *code.co_names])
        codes += [c for c in code.co_consts if hasattr(c, "co_names")]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    outside = Outside(ir.Namespace(function.__globals__, cells), guards, {})
    outside.follow(function)
    for name in names:
        place = outside.place(name)
        value = place.read()
        if is_definition(value):
            outside.name(name)
            yield from reached(value, seen, guards)
        elif value is not MISSING:
            yield Reader(place, (), place.key)
    yield from _of_each([*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()], seen, guards)


def _of_each(things, seen, guards):
    for thing in things:
        thing = thing.__func__ if isinstance(thing, (staticmethod, classmethod)) else thing
        if isinstance(thing, property):
            yield from _of_each([thing.fget], seen, guards)
        elif is_definition(thing):
            yield from reached(thing, seen, guards)
        elif not isinstance(thing, PLAIN):
            yield _constant(thing)


def _constant(value) -> Reader:
    place = Place("{value}", {"value": value})
    return Reader(place, (), place.key)
