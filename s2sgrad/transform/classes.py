"""What is known of classes: whose code their objects run, and whose are nothing but their fields or attributes."""

import abc
import dataclasses
import functools
import inspect
from collections import namedtuple
from types import BuiltinFunctionType, FunctionType, SimpleNamespace

import numpy as np

from s2sgrad.runtime.trees import is_dataclass, tops

TRUSTED = {
    "numpy", "scipy", "math", "cmath", "operator", "builtins", "_operator", "random", "time", "_random",
    "functools", "itertools", "copy", "warnings", "logging", "collections", "statistics", "s2sgrad", "sys", "os",
    "bisect", "heapq", "numbers", "fractions", "decimal", "json", "re", "string", "types", "typing",
}  # fmt: skip

FUNCTIONS = frozenset([FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum)])  # each equals itself only

NAMEDTUPLE = ("_replace", "_asdict")  # methods that every namedtuple has

_DATA = (bool, int, float, complex, str, type(None))

# What makes objects of a class more than a place for attributes.
_OWN_WAYS = frozenset(
    ["__new__", "__slots__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__"]
)


def is_trusted(function) -> bool:
    """Is `function` part of NumPy, SciPy or the standard library, which change nothing behind one's back?"""
    if isinstance(function, functools.partial):
        return is_trusted(function.func)
    if isinstance(function, np.ufunc):
        return True
    module = getattr(function, "__module__", None)
    if module is None:
        owner = getattr(function, "__self__", None)
        module = getattr(type(owner), "__module__", None) if owner is not None else type(function).__module__
    return isinstance(module, str) and module.partition(".")[0] in TRUSTED


def is_plain_class(cls) -> bool:
    """Is an object of this class a place for attributes, and its making nothing but the call of its `__init__`?

    >>> is_plain_class(SimpleNamespace), is_plain_class(dict)
    (True, False)
    """
    if cls is SimpleNamespace or cls is None:
        return cls is not None
    own = [c for c in cls.__mro__ if c not in (object, abc.ABC)]
    return type(cls) in (type, abc.ABCMeta) and not any(is_trusted(c) or _OWN_WAYS & vars(c).keys() for c in own)


def takes_attribute(cls, attr: str) -> bool:
    """Does ``self.attr = value`` of an object of a plain class store the value, and run no code of the user's?"""
    return is_plain_class(cls) and not hasattr(type(inspect.getattr_static(cls, attr, None)), "__set__")


def is_static(cls, attr: str) -> bool:
    """Is it a static method, which does not get its object?"""
    return isinstance(inspect.getattr_static(cls, attr, None), staticmethod)


def inherited(cls, home, attr: str) -> FunctionType | None:
    """The user's method that ``super(home, self).attr`` is, of an instance of `cls`; None where it is none.

    >>> class Base:
    ...     def step(self): ...
    >>> class Fast(Base):
    ...     def step(self): ...
    >>> Base.__module__ = Base.step.__module__ = "program"
    >>> inherited(Fast, Fast, "step") is Base.step, inherited(Fast, Base, "step")
    (True, None)
    """
    order = cls.__mro__
    above = order[order.index(home) + 1 :] if home in order else ()
    method = next((vars(c)[attr] for c in above if attr in vars(c)), None)
    return method if isinstance(method, FunctionType) and not is_trusted(method) else None


def getter(cls, attr: str) -> FunctionType | None:
    """The function of the user's that a property of a class calls; None where there is no such property."""
    found = inspect.getattr_static(cls, attr, None) if cls is not None else None
    function = found.fget if type(found) is property else None
    return function if isinstance(function, FunctionType) and not is_trusted(function) else None


def record_fields(cls) -> list | None:
    """The fields of a dataclass or namedtuple whose constructor does nothing but store them."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return list(cls._fields) if is_namedtuple(cls) else None
    return None if hasattr(cls, "__post_init__") else fields_stored(cls)


def fields_stored(cls) -> list | None:
    """The fields that the constructor of a dataclass stores, before `__post_init__` where there is one."""
    if not dataclasses.is_dataclass(cls) or not stores_plainly(cls) or not cls.__dataclass_params__.init:
        return None
    fields = dataclasses.fields(cls)
    code = cls.__init__.__code__
    names = [f.name for f in fields if f.init and not f.kw_only]
    plain = len(names) == len(fields) and [*code.co_varnames[1 : code.co_argcount]] == names
    return names if plain else None  # else some are only passed on to `__post_init__`


def is_namedtuple(cls) -> bool:
    """Is it a namedtuple that makes its instances, and copies of them, itself?"""
    plain = reads_as_tuple(cls) and cls.__new__.__module__.startswith("namedtuple_")
    return plain and all(getattr(cls, name).__module__ == "collections" for name in NAMEDTUPLE)


def reads_as_tuple(cls) -> bool:
    """Is it a namedtuple of which no method of the user's says what its items are?

    >>> from collections import namedtuple
    >>> Pair = namedtuple("Pair", "a b")
    >>> class Swapped(Pair):
    ...     a = property(lambda self: self[1])
    >>> reads_as_tuple(Pair), reads_as_tuple(Swapped)
    (True, False)
    """
    if not issubclass(cls, tuple) or not isinstance(getattr(cls, "_fields", None), tuple):
        return False
    fields = [inspect.getattr_static(cls, name, None) for name in cls._fields]
    own = all(getattr(cls, name) is getattr(tuple, name) for name in ("__getitem__", "__iter__", "__len__"))
    return own and all(type(field) is _FIELD for field in fields) and cls.__getattribute__ is tuple.__getattribute__


_FIELD = type(vars(namedtuple("_Pair", "a b"))["a"])


def stores_plainly(cls) -> bool:
    """Is it no code of the user's that makes an instance of a dataclass, and sets and gets its attributes?"""
    methods = [getattr(cls, n, None) for n in ("__init__", "__setattr__")]
    generated = [f is object.__setattr__ or f.__code__.co_filename == "<string>" for f in methods]
    asked = cls.__getattribute__ is object.__getattribute__ and not hasattr(cls, "__getattr__")
    return all(generated) and asked and cls.__new__ is object.__new__


def plain_defaults(cls) -> dict:
    """The fields of a dataclass whose default is a number, a text or None."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {f.name: f.default for f in fields if isinstance(f.default, _DATA)}


def plain_attributes(cls, spoken: frozenset) -> list:
    """The attributes of a plain class itself that are numbers, texts or None, and that it or somebody else speaks of.

    >>> class Net:
    ...     rate, name = 0.5, "net"
    ...     def step(self, w): return w * self.rate
    >>> plain_attributes(Net, frozenset())
    ['rate']
    """
    members = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    functions = [getattr(m, "__func__", m) for base in cls.__mro__ for m in vars(base).values()]
    spoken = spoken.union(*(f.__code__.co_names for f in functions if isinstance(f, FunctionType)))
    return [n for n in members if n in spoken and holds_plainly(cls, n) and not n.startswith("__")]


def holds_plainly(cls, attr: str) -> bool:
    """Is an attribute of a class itself a number, a text or None?

    >>> class Net:
    ...     rate = 0.5
    ...     def step(self, w): return w * self.rate
    >>> holds_plainly(Net, "rate"), holds_plainly(Net, "step"), holds_plainly(Net, "steps")
    (True, False, False)
    """
    return type(inspect.getattr_static(cls, attr, ...)) in _DATA


def attributes(value, within: int = 0) -> dict | None:
    """What an object of a plain class holds, by attribute; None for all else, and for objects `within` many others.

    Reading one of them runs no code of the user's.

    >>> attributes(SimpleNamespace(w=1.5)), attributes(np.ones(2))
    ({'w': 1.5}, None)
    """
    cls = type(value)
    if cls in LEAVES or within >= DEEPEST or not _holds_attributes(cls):
        return None
    own = getattr(value, "__dict__", None)
    plain = own is not None and own.keys().isdisjoint(_computed(cls)) and all(map(str.isidentifier, own))
    return own if plain else None


def leaves(tree) -> list:
    """The leaves of a tree, and what the dataclasses and the objects of plain classes hold that are in it.

    Their classes may hold arrays, too, and lists of such.

    >>> leaves([SimpleNamespace(w=1.5), 2.5])[1:]
    [2.5, 1.5]
    >>> class Net:
    ...     rate, scales = 0.5, [2.0, 3.0]
    >>> Net.__module__ = "program"
    >>> leaves([Net(), Net()])[2:]
    [2.0, 3.0]
    """
    found, queue, seen = [], tops(tree), set()
    for x in queue:
        cls = type(x)
        if cls in LEAVES:
            found.append(x)
            continue
        if is_dataclass(x):
            fields = {f.name: getattr(x, f.name) for f in dataclasses.fields(x) if hasattr(x, f.name)}
            own = {**getattr(x, "__dict__", {}), **fields}
        else:
            found.append(x)
            own = attributes(x)
        if own is None or id(x) in seen:
            continue
        queue += tops([*own.values()] if cls in seen else [*own.values(), *data_of(cls)])
        seen |= {id(x), cls}
    return found


def data_of(cls) -> list:
    """What a class holds that may be, or hold, an array.

    >>> class Net:
    ...     rate, scales = 0.5, [2.0, 3.0]
    ...     def step(self, w): return w * self.rate
    >>> Net.__module__ = "program"
    >>> data_of(Net)
    [[2.0, 3.0]]
    """
    members = [item for c in cls.__mro__ if not is_trusted(c) for item in vars(c).items()]
    return [v for name, v in members if type(v) not in _NO_DATA and name[:2] != "__" and name != "_abc_impl"]


def identity(value):
    """What tells a function that is passed from others, for code that is compiled for it; None where nothing does.

    Functions that are defined anew for each call and close over something are not told apart: each of them would be
    compiled for.

    Examples
    --------
    >>> identity(np.sin)
    <ufunc 'sin'>
    >>> def scaled(k):
    ...     return lambda x: k * x
    >>> identity(lambda x: x) is None, identity(scaled(2.0)) is None
    (False, True)
    """
    cls = type(value)
    if cls is FunctionType:
        plain = value.__closure__ is None and not value.__defaults__ and not value.__kwdefaults__
        return (value.__code__, id(value.__globals__)) if plain else None
    return value if cls in FUNCTIONS else None


def opaque(tree, plain: tuple = ()):
    """The first thing in some data that may hold arrays in a way that is not known; None where there is none.

    Objects of classes that are `plain` hold none.

    >>> opaque({"w": [np.ones(3), 2.0, {"a", "b"}]}), opaque([1.0, bytearray(b"a")])
    (None, bytearray(b'a'))
    """
    return opaque_among(leaves(tree), plain)


def opaque_among(found: list, plain: tuple):
    """The first of some `leaves` that may hold arrays in a way that is not known; None where there is none."""
    for x in found:
        if isinstance(x, np.ndarray):
            if x.dtype.hasobject:
                return x
        elif isinstance(x, (set, frozenset)):
            if (held := opaque(list(x), plain)) is not None:
                return held
        elif type(x) not in LEAVES and not isinstance(x, (*PLAIN, *plain)) and attributes(x) is None:
            return x
    return None


# What holds no arrays, or is looked at by its calls and reads.
_NO_DATA = FUNCTIONS | {*_DATA, staticmethod, classmethod, property, functools.cached_property, type, abc.ABCMeta}

# The commonest leaves, of which nothing needs to be asked.
LEAVES = frozenset(
    [np.ndarray, float, int, complex, bool, str, bytes, type(None), np.float64, np.float32, np.int64, np.bool_]
)
# What holds no arrays; of random numbers, those that draw them.
PLAIN = (
    int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), slice, range, np.generic,
    np.random.Generator, np.random.RandomState,
)  # fmt: skip
DEEPEST = 3  # objects in objects
MOST_ITEMS = 8  # a list in an object that has more is not looked into: it may have more at each call


@functools.cache
def _holds_attributes(cls) -> bool:
    return is_plain_class(cls) and not dataclasses.is_dataclass(cls)


@functools.cache
def _computed(cls) -> frozenset:
    """The attributes of objects of a class that are read by code, whatever the object itself holds."""
    members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
    return frozenset([name for name, member in members.items() if hasattr(type(member), "__set__")])
