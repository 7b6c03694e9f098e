"""What the global, closure and builtin names of a function stand for, and what is assumed about them.

Names are resolved while a function is lowered, which is at its first call. What the compiler concludes
from an object that it found is only true as long as the name stands for it (a function, a module, a
class) or for an object of the same type (data): each conclusion leaves a `Guard`, and data are read
where they live whenever the generated code runs.
"""

import builtins
import dis
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types

MISSING = object()
TRUSTED = {
    "numpy", "scipy", "math", "cmath", "operator", "builtins", "_operator", "random", "time", "_random",
    "functools", "itertools", "copy", "warnings", "logging", "collections", "statistics", "s2sgrad", "sys", "os",
    "bisect", "heapq", "numbers", "fractions", "decimal", "json", "re", "string", "types", "typing",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guard:
    """Something that compiled code assumes of a name outside of the function.

    Attributes
    ----------
    check : callable
        Is it still so? Called before each run of the compiled code.
    text : str
        What is assumed, for people.
    """

    check: Callable[[], bool]
    text: str


@dataclass(slots=True, eq=False)
class Known:
    """An object that is known before the program runs, and the operand that reads it when it runs."""

    value: object
    operand: ir.Operand


def is_definition(value) -> bool:
    """Functions, classes and modules: what programs are made of, as opposed to data."""
    return isinstance(
        value, (ModuleType, type, FunctionType, BuiltinFunctionType, MethodType, np.ufunc, functools.partial)
    ) or (callable(value) and not isinstance(value, np.ndarray))


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


class Outside:
    """The names outside of one function: closure cells, module globals, builtins.

    Examples
    --------
    >>> outside = Outside(ir.Namespace({"np": np, "k": 2.0}), guards={}, known={})
    >>> outside.name("np").value is np, outside.name("k").operand.type.dtype
    (True, 'float')
    >>> [guard.text for guard in outside.guards.values()]
    ['np is the module numpy', 'k is a float']
    """

    def __init__(self, namespace: ir.Namespace, guards: dict, known: dict):
        self.namespace = namespace
        self.guards = guards
        self.known = known
        self.names: dict[str, Known] = {}
        self.attributes: dict = {}

    def reader(self, name: str):
        """A function that gives what `name` stands for at present, or MISSING."""
        cell = self.namespace.cells.get(name)
        if cell is not None:

            def read():
                try:
                    return cell.cell_contents
                except ValueError:
                    return MISSING

            return read
        names, fallback = self.namespace.globals, getattr(builtins, name, MISSING)
        return lambda: names.get(name, fallback)

    def name(self, name: str) -> Known:
        """What `name` stands for."""
        known = self.names.get(name)
        if known is None:
            read = self.reader(name)
            value = read()
            if value is MISSING:
                raise CompileError(f"the name {name} is not defined")
            known = self.names[name] = self._know(value, gast.Name(name, gast.Load(), None, None), read, name)
        return known

    def attribute(self, base: Known, attr: str) -> Known | None:
        """What ``base.attr`` stands for, if that can be told without running code of the user's."""
        key = id(base), attr
        if key not in self.attributes:
            self.attributes[key] = self._attribute(base, attr), base
        return self.attributes[key][0]

    def _attribute(self, base: Known, attr: str) -> Known | None:
        value = plain_attribute(base.value, attr)
        if value is MISSING:
            return None
        holder = as_code(base.operand)
        node = gast.Attribute(holder.node, attr, gast.Load())
        owner, text = base.value, f"{getattr(base.value, '__name__', type(base.value).__name__)}.{attr}"
        trusted = isinstance(owner, ModuleType) and owner.__name__.partition(".")[0] in TRUSTED
        read = None if trusted else lambda: plain_attribute(owner, attr)
        return self._know(value, node, read, text, holder.reads)

    def _know(self, value, node, read, text: str, reads=None) -> Known:
        reads = reads or {}
        if is_definition(value):
            kind = type(value).__name__
            what = getattr(value, "__name__", None) or f"a {kind}"
            kind = "the function" if isinstance(value, FunctionType) else f"the {kind}"
            bound = type(value) is MethodType  # a new object each time it is looked up

            def stays(now):
                return now is value or (bound and type(now) is MethodType and now == value)

            self._guard(read, value, text, stays, f"{text} is {kind} {what}")
            operand = ir.Code(node, reads, ir.Type(ir.Kind.CALLABLE))
            return Known(value, operand)
        cls = type(value)
        if isinstance(value, np.ndarray):
            dtype, ndim = value.dtype, value.ndim
            note = f"{text} is an array of {dtype} with {ndim} axes"

            def same(now):
                return type(now) is cls and now.dtype == dtype and now.ndim == ndim

            self._guard(read, value, text, same, note)
            return Known(value, ir.Code(node, reads, self._type(value)))
        if self._type(value).kind is ir.Kind.OTHER and not isinstance(value, (str, bytes)):
            # what its attributes are is looked up in this very object
            note = f"{text} is None" if value is None else f"{text} is this {cls.__name__}"
            self._guard(read, value, text, lambda now: now is value, note)
        else:
            self._guard(read, value, text, lambda now: type(now) is cls, f"{text} is a {cls.__name__}")
        return Known(value, ir.Code(node, reads, self._type(value)))

    def _type(self, value) -> ir.Type:
        if id(value) not in self.known:
            found = types.of(value)
            if found.kind in (ir.Kind.LIST, ir.Kind.TUPLE, ir.Kind.DICT):
                found = ir.Type(found.kind)  # what is in it may change from call to call
            elif found.kind in (ir.Kind.RECORD, ir.Kind.OTHER):
                found = ir.Type(ir.Kind.OTHER, cls=type(value))
            self.known[id(value)] = found, value
        return self.known[id(value)][0]

    def _guard(self, read, value, text, same, note) -> None:
        if read is not None and (text, id(self.namespace.globals)) not in self.guards:
            self.guards[text, id(self.namespace.globals)] = Guard(lambda: same(read()), note)


def as_code(operand) -> ir.Code:
    """An operand that is a value, as an expression."""
    if isinstance(operand, ir.Value):
        return ir.Code(gast.Name(operand.name, gast.Load(), None, None), {operand.name: operand}, operand.type)
    return operand


@functools.cache
def sets_attribute(cls, attr: str) -> bool:
    """May instances of `cls` have an attribute of their own that hides the one of the class?"""
    for base in cls.__mro__:
        for function in vars(base).values():
            function = getattr(function, "__func__", function)
            if isinstance(function, FunctionType) and attr in function.__code__.co_names:
                code = function.__code__
                store = dis.opmap["STORE_ATTR"]
                if any(
                    op == store and code.co_names[arg] == attr
                    for op, arg in zip(code.co_code[::2], code.co_code[1::2], strict=True)
                ):
                    return True
    return False


def plain_attribute(owner, attr: str):
    """``owner.attr`` where reading it runs no code of the user's; MISSING elsewhere."""
    if isinstance(owner, ModuleType):
        return getattr(owner, attr, MISSING)
    if isinstance(owner, (np.ndarray, np.generic, int, float, complex, str, list, tuple, dict)):
        return MISSING
    if isinstance(owner, np.ufunc):
        return getattr(owner, attr, MISSING)
    found = inspect.getattr_static(owner, attr, MISSING)
    if isinstance(owner, type):
        if isinstance(found, staticmethod):
            return found.__func__
        if isinstance(found, classmethod):
            return MethodType(found.__func__, owner)
        return MISSING if hasattr(type(found), "__get__") and not isinstance(found, FunctionType) else found
    own = getattr(owner, "__dict__", None)
    if isinstance(own, dict) and attr in own:
        return own[attr] if not hasattr(type(inspect.getattr_static(type(owner), attr, None)), "__set__") else MISSING
    if isinstance(found, FunctionType):
        return MethodType(found, owner)
    if isinstance(found, classmethod):
        return MethodType(found.__func__, type(owner))
    if isinstance(found, staticmethod):
        return found.__func__
    return MISSING if found is MISSING or hasattr(type(found), "__get__") else found
