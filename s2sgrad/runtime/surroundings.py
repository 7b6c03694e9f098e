"""What a recorded function sees around it: its globals and modules, and what it imports, in recording versions."""

import builtins
import functools
import sys
import types

from s2sgrad.runtime.namespace import BUILTINS, in_family

STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}


def is_ours(module_name) -> bool:
    name = str(module_name or "")
    return name == "s2sgrad" or name.startswith("s2sgrad.")


@functools.cache
def home_of(module_name) -> str:
    """Whose code a module is: NumPy's and its family's, ours, the standard library's, or a user's."""
    if in_family(module_name):
        return "family"
    if is_ours(module_name) and module_name != "s2sgrad.runtime.stand_ins":
        return "ours"
    return "standard" if str(module_name).partition(".")[0] in STANDARD else "user"


def _import(name, namespace=None, *args):
    """An ``import`` statement of recorded code: it gets the recording version of the module."""
    from s2sgrad.runtime.fallback import recording

    if type(namespace) is Globals:
        namespace = namespace.real
    return recording(builtins.__import__(name, namespace, *args))


def _build_class(body, name, *bases, **kwargs):
    """A ``class`` statement of recorded code: its body looks names up past `Globals.__missing__`."""
    around = body.__globals__
    if type(around) is Globals:
        for used in _names_in(body.__code__):
            if used not in around and (used in around.real or used in BUILTINS):
                around[used]
    return builtins.__build_class__(body, name, *bases, **kwargs)


@functools.cache
def _names_in(code) -> frozenset:
    return frozenset(code.co_names)


_BUILTINS = {**builtins.__dict__, "__import__": _import, "__build_class__": _build_class}


# Builtins that find names otherwise than by `Globals.__missing__`.
_LOOKING = (globals, eval, exec)


class Globals(dict):
    """A function's globals while it is recorded: names are looked up in the real ones once, and turned."""

    __slots__ = ("session", "real", "shown", "filled")

    def __init__(self, session, real):
        self.session = session
        self.real = real
        self.shown = {"__builtins__": _BUILTINS}
        self["__builtins__"] = _BUILTINS
        self.filled = False  # are all names of the real ones here, and no others?

    def __missing__(self, name):
        if name in self.real:
            value = self.real[name] if self.session.closed else self.session.turn(self.real[name])
        elif name in BUILTINS and not self.session.closed and "__builtins__" in self.real:
            value = BUILTINS[name]
        elif name == "__import__" and not self.session.closed:
            value = _import
        else:
            real = self.real.get("__builtins__", builtins)
            real = real if isinstance(real, dict) else real.__dict__
            value = real[name]
            if value in _LOOKING and not self.session.closed:
                self.fill()
        if not self.filled or name in self.real:
            self.shown[name] = value
            dict.__setitem__(self, name, value)
        return value

    def fill(self):
        """Look every name up, in their order: for code that looks at the dictionary itself."""
        for name in list(self.real):
            if name not in self.shown:
                self[name]
        seen = {n for n in self.shown if n not in self.real and self.get(n) is self.shown[n]} - {"__builtins__"}
        items = {name: self[name] for name in self.real if name in self}
        items |= {name: value for name, value in self.items() if name not in seen}
        for name in seen:
            del self.shown[name]
        dict.clear(self)
        dict.update(self, items)
        self.filled = True

    def write_back(self):
        """Give the real globals what the function has rebound or deleted, and forget what was turned."""
        for name, value in self.items():
            if name not in self.shown or self.shown[name] is not value:
                self.real[name] = self.session.settled(value)
        for name in self.shown:
            if name not in self and name in self.real:
                del self.real[name]
        dict.clear(self)  # functions that outlive the call find plain values from now on
        self.shown.clear()


class Module(types.ModuleType):
    """A user's module while it is recorded: its attributes are its `Globals`."""

    def __init__(self, module, view):
        super().__init__(module.__name__)
        self.__dict__["__view__"] = view
        self.__dict__["__real__"] = module

    def __getattr__(self, name):
        try:
            real = self.__dict__["__real__"]
            if name in real.__dict__ or name in self.__dict__["__view__"]:
                return self.__dict__["__view__"][name]
            return getattr(real, name)
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self.__dict__["__view__"][name] = value
