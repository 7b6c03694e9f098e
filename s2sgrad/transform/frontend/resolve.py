"""What the global, closure and builtin names of a function stand for, and what is assumed about them.

Names are resolved while a function is lowered, which is at its first call. What the compiler concludes
from an object that it found is only true as long as the name stands for it (a function, a module, a
class) or for an object of the same type (data): each conclusion leaves a `Guard`, and data are read
where they live whenever the generated code runs.
"""

import builtins
import dataclasses
import dis
import functools
import inspect
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.classes import FUNCTIONS, inherited, is_trusted
from s2sgrad.transform.frontend.guards import Guard

MISSING = object()


def function_type(value, cls=None) -> ir.Type:
    """The type of a value that is surely this definition."""
    return ir.Type(ir.Kind.CALLABLE, cls=cls, function=value if type(value) in FUNCTIONS else None)


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


def is_code(value) -> bool:
    """Is it a function that is no memory of data: what it may look at is known otherwise?

    >>> is_code(np.sin), is_code(is_code), is_code(np.ones(2))
    (True, True, False)
    """
    return is_definition(value) and (isinstance(value, FunctionType) or is_trusted(value))


class Outside:
    """The names outside of one function: closure cells, module globals, builtins.

    Examples
    --------
    >>> outside = Outside(ir.Namespace({"np": np, "k": 2.0}), guards={}, known={})
    >>> outside.name("np").value is np, outside.name("k").operand.type.dtype
    (True, 'float')
    >>> [guard.text for guard in outside.guards.values()]
    ['np', 'k (a float)']
    """

    def __init__(self, namespace: ir.Namespace, guards: dict, known: dict):
        self.namespace = namespace
        self.guards = guards
        self.known = known
        self.names: dict[str, Known] = {}
        self.attributes: dict = {}
        self.items: dict = {}
        self.places: dict = {}  # the id of a `Known` -> where it is read

    def place(self, name: str) -> "Place":
        """Where what `name` stands for is read."""
        cell = self.namespace.cells.get(name)
        if cell is not None:
            return Place("{cell}.cell_contents", {"cell": cell})
        names = self.namespace.globals
        if name in names:
            return Place(f"{{names}}[{name!r}]", {"names": names})
        builtin = getattr(builtins, name, MISSING)
        return Place(f"{{names}}.get({name!r}, {{builtin}})", {"names": names, "builtin": builtin})

    def name(self, name: str) -> Known:
        """What `name` stands for."""
        known = self.names.get(name)
        if known is None:
            place = self.place(name)
            value = place.read()
            if value is MISSING:
                raise CompileError(f"the name {name} is not defined")
            known = self.names[name] = self._know(value, gast.Name(name, gast.Load(), None, None), place, name)
        return known

    def means_the_same(self, function, names) -> bool:
        """Do the names outside of a function, which are `names`, stand for the same here as where it is defined?

        Of one that another module defines they have to be functions, classes or modules, which this module has under
        the same names. It is assumed that they stay what they are there.
        """
        there = function.__globals__
        if there is self.namespace.globals:
            return True
        own = Outside(ir.Namespace(there), self.guards, self.known)
        places = [(own.place(name), self.place(name)) for name in names]
        values = [place.read() for place, _ in places]
        same = all(place.read() is value for value, (_, place) in zip(values, places, strict=True))
        if not same or not all(value is not MISSING and is_definition(value) for value in values):
            return False
        for name in names:
            own.name(name)
        return True

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
        place = Place(f"{{attribute}}({{owner}}, {attr!r})", {"attribute": plain_attribute, "owner": owner})
        if isinstance(owner, ModuleType) and attr in vars(owner):
            place = Place(f"{{names}}[{attr!r}]", {"names": vars(owner)})  # the usual case, and the fast one
        return self._know(value, node, place, text, holder.reads)

    def item(self, base: Known, key) -> Known | None:
        """The function or class that a list, tuple or dict outside holds under `key`."""
        place, container = self.places.get(id(base)), base.value
        if place is None or type(container) not in (list, tuple, dict):
            return None
        if (id(base), key) not in self.items:
            value = container[key] if type(container) is dict and key in container else MISSING
            if type(container) is not dict and type(key) is int and -len(container) <= key < len(container):
                value = container[key]
            if value is MISSING or not is_definition(value):
                return None
            holder = as_code(base.operand)
            node = gast.Subscript(holder.node, gast.Constant(key, None), gast.Load())
            inner = Place(f"{place.expression}[{key!r}]", place.objects)
            self.items[id(base), key] = self._know(value, node, inner, gast.unparse(node), holder.reads)
        return self.items[id(base), key]

    def elements(self, base: Known) -> list | None:
        """The functions that a list, tuple or dict outside holds, if it holds nothing else."""
        if id(base) not in self.places or type(base.value) not in (list, tuple, dict):
            return None
        named = type(base.value) is dict
        found = [self.item(base, key) for key in (base.value if named else range(len(base.value)))]
        if not found or None in found:
            return None
        place, text = self.places[id(base)], gast.unparse(as_code(base.operand).node)
        if named:
            keys = Place(f"list({place.expression})", place.objects)
            self._guard(keys, "{now} == {keys}", {"keys": list(base.value)}, f"the keys of {text}")
            return found
        length = Place(f"len({place.expression})", place.objects)
        self._guard(length, "{now} == {n}", {"n": len(found)}, f"the length of {text}")
        return found

    def _know(self, value, node, place: "Place | None", text: str, reads=None) -> Known:
        """`value`, with a guard that it stays what the compiler takes it for; none where it cannot change."""
        known = self._guarded(value, node, place, text, reads)
        if place is not None:
            self.places[id(known)] = place
        return known

    def _guarded(self, value, node, place: "Place | None", text: str, reads) -> Known:
        reads = reads or {}
        if is_definition(value):
            kind = type(value).__name__
            what = getattr(value, "__name__", None) or f"a {kind}"
            kind = "the function" if isinstance(value, FunctionType) else f"the {kind}"
            # a bound method (`np.add.reduce` too) is a new object each time it is looked up
            bound = not isinstance(getattr(value, "__self__", None), (NoneType, ModuleType))
            test = "{now} == {value}" if bound else "{now} is {value}"
            told = isinstance(value, ModuleType) or is_trusted(value)  # its name says it
            self._guard(place, test, {"value": value}, text if told else f"{text} ({kind} {what})")
            self.follow(value)
            plain = isinstance(value, (ModuleType, type, FunctionType, MethodType)) or is_trusted(value)
            return Known(value, ir.Code(node, reads, function_type(value, None if plain else type(value))))
        cls = type(value)
        found = self._type(value, text)
        if isinstance(value, np.ndarray):
            sample = np.empty([min(n, 2) for n in value.shape], value.dtype)
            test, objects = "{same}({now}, {value})", {"same": alike, "value": sample}
            if cls is not np.ndarray:
                objects["value"] = objects["value"].view(cls)
            note = f"{text} (an array of {value.dtype} with {value.ndim} axes)"
        elif found.kind is ir.Kind.OTHER and not isinstance(value, (str, bytes)):
            # what its attributes are is looked up in this very object
            test, objects = "{now} is {value}", {"value": value}
            note = f"{text} (None)" if value is None else f"{text} (this {cls.__name__})"
        else:
            test, objects = "type({now}) is {cls}", {"cls": cls}
            note = f"{text} (a {cls.__name__})"
        self._guard(place, test, objects, note)
        return Known(value, ir.Code(node, reads, found))

    def reader(self, operand) -> "Reader | None":
        """What reads the object of a dotted name that begins outside of the function."""
        names, node = [], getattr(operand, "node", None)
        while isinstance(node, gast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, gast.Name) or operand.reads:
            return None
        place, names = self.place(node.id), tuple(names[::-1])
        return Reader(place, names, (*place.key, *names))

    def follow(self, function) -> None:
        """Assume that a function of the user's stays what it is: its code and its defaults."""
        function = getattr(function, "__func__", function)
        key = "code", id(function)
        if not isinstance(function, FunctionType) or is_trusted(function) or key in self.guards:
            return
        test, objects = "{f}.__code__ is {code}", {"f": function, "code": function.__code__}
        if function.__defaults__ is not None:  # where it has none, every argument was passed
            test += " and {f}.__defaults__ is {defaults}"
            objects["defaults"] = function.__defaults__
        if function.__code__.co_kwonlyargcount:
            test += " and {f}.__kwdefaults__ is {named}"
            objects["named"] = function.__kwdefaults__
        self.guards[key] = Guard(test, objects, f"the code and the defaults of {function.__name__}")

    def method_of(self, cls, attr: str, function, above=None) -> None:
        """Assume that `function` is what a class has under the name `attr`, or what its property there calls.

        Or what its objects have under that name from the classes that come after one, `above`.
        """
        key = cls, attr, above
        if isinstance(function, FunctionType) and not is_trusted(function) and key not in self.guards:
            test = f"{{attribute}}({{cls}}, {attr!r}, None) is {{function}}"
            held = inspect.getattr_static(cls, attr, None)
            held = held if type(held) is property else function
            objects = {"attribute": inspect.getattr_static, "cls": cls, "function": held}
            if above is not None:
                test = f"{{inherited}}({{cls}}, {{above}}, {attr!r}) is {{function}}"
                objects = {"inherited": inherited, "cls": cls, "above": above, "function": function}
            elif getattr(cls, attr, None) is function:
                test = f"{{cls}}.{attr} is {{function}}"
                del objects["attribute"]
            what = f"{cls.__name__}.{attr}" if above is None else f"what {above.__name__}.{attr} inherits"
            self.guards[key] = Guard(test, objects, f"{what} (the function {function.__name__})")
            self.follow(function)

    def _type(self, value, text: str) -> ir.Type:
        # by the place: what is the same object in two places now, may be two objects at the next call
        key = text, id(self.namespace), id(value)
        if key not in self.known:
            found = types.of(value)
            if found.kind in (ir.Kind.LIST, ir.Kind.TUPLE, ir.Kind.DICT):
                found = ir.Type(found.kind)  # what is in it may change from call to call
            elif found.kind in (ir.Kind.RECORD, ir.Kind.OTHER):
                found = ir.Type(ir.Kind.OTHER, cls=type(value))
            found = dataclasses.replace(found, contiguous=False)  # nobody looks at it again
            self.known[key] = found, value, self.namespace  # both are kept alive: their ids are the key
        return self.known[key][0]

    def _guard(self, place: "Place | None", test: str, objects: dict, note: str) -> None:
        if place is None:
            return
        if place.key not in self.guards:
            self.guards[place.key] = Guard(test.replace("{now}", place.expression), {**place.objects, **objects}, note)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where an object is read: an expression over a few objects, as in a `Guard`."""

    expression: str
    objects: dict

    @property
    def key(self) -> tuple:
        """What places have in common that are one."""
        return self.expression, *map(id, self.objects.values())

    def read(self):
        """What is there at present, or MISSING."""
        fields = {name: name for name in self.objects}
        try:
            return eval(self.expression.format(**fields), dict(self.objects))
        except (KeyError, ValueError):  # no such name, an empty cell
            return MISSING


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Reads an object where it lives, at the time of a call."""

    place: Place
    names: tuple
    key: tuple

    def __call__(self):
        found = self.place.read()
        for name in self.names:
            found = getattr(found, name)
        return found


def alike(now, value) -> bool:
    """Is `now` an array of the class, dtype and number of axes of `value`, with the same axes of length 0 and 1?"""
    if type(now) is not type(value) or now.dtype != value.dtype or now.ndim != value.ndim:
        return False
    return [min(n, 2) for n in now.shape] == [min(n, 2) for n in value.shape]


def as_code(operand) -> ir.Code:
    """An operand that is a value, as an expression."""
    if isinstance(operand, ir.Value):
        return ir.Code(gast.Name(operand.name, gast.Load(), None, None), {operand.name: operand}, operand.type)
    return operand


def attribute_code(operand, attr: str) -> ir.Code:
    """The attribute `attr` of an operand."""
    code = as_code(operand)
    return ir.Code(gast.Attribute(code.node, attr, gast.Load()), code.reads)


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


def is_computed(cls, attr: str) -> bool:
    """Does reading this attribute of an instance of `cls` run code of the user's?"""
    if any(isinstance(inspect.getattr_static(cls, n, None), FunctionType) for n in ("__getattr__", "__getattribute__")):
        return True
    found = inspect.getattr_static(cls, attr, None)
    return hasattr(type(found), "__get__") and not is_trusted(cls) and not isinstance(found, FunctionType)


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
