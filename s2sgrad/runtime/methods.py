"""Methods of the user's classes, seen by the tape.

A method is found through its class, past the names that a session turns. So while a session runs that has met a
class, the functions of the class are replaced by ones that ask for the session of their thread.
"""

import abc
import functools
import inspect
import sys
import sysconfig
import threading
import types

import numpy as np

from s2sgrad.runtime.surroundings import home_of, is_ours

_LIBRARIES = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
_lock = threading.Lock()
_watched: dict = {}  # class -> [how many sessions have met it, its attributes that are replaced and what stands there]


class Seen:
    """A function in a class: what the session of the thread makes of it, bound as it would be.

    It is no function of its own, which calls would go through: those are as deep as without it.
    """

    __slots__ = ("attribute", "current")

    def __init__(self, attribute, current):
        self.attribute = attribute
        self.current = current

    def __get__(self, instance, owner=None):
        session = self.current.session
        attribute = self.attribute
        if session is not None:
            function = session.function(getattr(attribute, "__func__", attribute))
            attribute = function if attribute.__class__ is types.FunctionType else type(attribute)(function)
        return attribute.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        """As an entry of the dictionary of the class, where it is no method."""
        return self.__get__(None, object)(*args, **kwargs)


class Held:
    """An attribute by which objects of a class hold functions: what the session of the thread makes of these.

    `attribute` is what the class has there: a slot, the default of what objects hold, or `MISSING`.
    """

    __slots__ = ("attribute", "current", "name")

    def __init__(self, name, attribute, current):
        self.name = name
        self.attribute = attribute
        self.current = current

    def __get__(self, instance, owner=None):
        attribute = self.attribute
        if type(attribute) is not types.MemberDescriptorType and self.name in getattr(instance, "__dict__", ()):
            value = instance.__dict__[self.name]
        elif attribute is MISSING:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}")
        else:
            value = attribute.__get__(instance, owner) if hasattr(attribute, "__get__") else attribute
        session = self.current.session
        return value if session is None or instance is None else session.turn(value)

    def __set__(self, instance, value):
        if type(self.attribute) is types.MemberDescriptorType:
            self.attribute.__set__(instance, value)
        else:
            instance.__dict__[self.name] = value

    def __delete__(self, instance):
        if type(self.attribute) is types.MemberDescriptorType:
            self.attribute.__delete__(instance)
        elif self.name in instance.__dict__:
            del instance.__dict__[self.name]
        else:
            raise AttributeError(self.name)


MISSING = object()


def _part(function, current):
    """A function of a property: in a thread with a session, what this makes of it."""

    def part(*args):
        session = current.session
        return (function if session is None else session.function(function))(*args)

    return functools.wraps(function)(part)


_CODE = _part(len, None).__code__


def own_function(function):
    """The function of the user's that a part of a property stands for; all else as it is."""
    return function.__wrapped__ if function.__code__ is _CODE else function


def _is_seen(value) -> bool:
    return type(value) is types.FunctionType and not is_ours(value.__module__) and value.__code__ is not _CODE


def _replaced(attribute, current):
    """What stands for an attribute of a class; None for one that may stay."""
    if _is_seen(attribute):
        return Seen(attribute, current)
    if type(attribute) in (staticmethod, classmethod) and _is_seen(attribute.__func__):
        return Seen(attribute, current)
    if type(attribute) is property:
        parts = [attribute.fget, attribute.fset, attribute.fdel]
        return property(*[_part(f, current) if _is_seen(f) else f for f in parts], attribute.__doc__)
    if type(attribute) is functools.cached_property and _is_seen(attribute.func):
        new = functools.cached_property(_part(attribute.func, current))
        new.attrname = attribute.attrname
        return new
    if type(attribute) is functools.partialmethod and _is_seen(attribute.func):
        return functools.partialmethod(Seen(attribute.func, current), *attribute.args, **attribute.keywords)
    return None


@functools.lru_cache(256)  # classes that a function makes are made anew each time
def users_classes(cls) -> tuple:
    """A class of the user's and those of its bases that are."""
    return tuple([base for base in cls.__mro__ if _is_users(base)])


@functools.lru_cache(256)
def classes_to_watch(cls) -> tuple:
    """A class of the user's and those of its bases that are; none of a class of a library, or of another metaclass."""
    if type(cls) not in (type, abc.ABCMeta) or any(is_ours(base.__module__) for base in cls.__mro__):
        return ()
    if issubclass(cls, (np.ndarray, BaseException)):
        return ()
    return users_classes(cls)


def _is_users(cls) -> bool:
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    return home_of(cls.__module__) == "user" and not file.startswith(_LIBRARIES)


def watch(cls, current) -> None:
    """Replace the functions of a class, until `release` has been called as often."""
    with _lock:
        entry = _watched.get(cls)
        if entry is not None:
            entry[0] += 1
            return
        found = {name: _replaced(attribute, current) for name, attribute in vars(cls).items()}
        found = {name: new for name, new in found.items() if new is not None}
        _watched[cls] = [1, {name: (vars(cls)[name], new) for name, new in found.items()}]
        for name, new in found.items():
            type.__setattr__(cls, name, new)


def watch_attribute(cls, name, current) -> None:
    """Turn the functions that objects of a class hold under a name, while the class is watched."""
    if name.startswith("__"):
        return  # Python asks the class for what has such a name, past its objects
    with _lock:
        attribute = inspect.getattr_static(cls, name, MISSING)
        if type(attribute) is types.MemberDescriptorType or not hasattr(type(attribute), "__set__"):
            replaced = _watched[cls][1]
            before = replaced[name][0] if name in replaced else vars(cls).get(name, MISSING)
            replaced[name] = before, Held(name, attribute, current)
            type.__setattr__(cls, name, replaced[name][1])


def release(cls) -> None:
    """Give a class its functions back, but for those that the function has replaced itself."""
    with _lock:
        entry = _watched[cls]
        entry[0] -= 1
        if entry[0] == 0:
            del _watched[cls]
            for name, (attribute, new) in entry[1].items():
                if vars(cls).get(name) is new:
                    if attribute is MISSING:
                        type.__delattr__(cls, name)
                    else:
                        type.__setattr__(cls, name, attribute)
