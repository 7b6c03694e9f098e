"""Lowers writes into arrays that exist outside of the function: global work arrays, arrays of an enclosing function.

Such an array becomes a variable of the function, bound at its beginning (``buffer = BUFFER``): what is written into
it and read from it afterwards is followed like an array of the function's own, and is there when the function is
over. This is so where nobody else in the program looks at the array meanwhile: no function that is called or
defined reads it, and no other array shares its memory, which is asked at each call.
"""

from types import BuiltinFunctionType, FunctionType, ModuleType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes
from s2sgrad.transform.frontend import effects, resolve, syntax, ways
from s2sgrad.transform.frontend.scan import WRITERS
from s2sgrad.transform.frontend.values import Inert

PLAIN = (int, float, complex, str, bool, type(None), np.generic, np.ndarray, BuiltinFunctionType)


class WorkArrays:
    """The part of `Lowering` that deals with arrays outside that are written to."""

    def work_names(self, body: list) -> dict:
        """The names of arrays outside that the function writes into, each with the object it stands for now."""
        found: dict = {}
        names = {name for s in body for node in syntax.walk(s) for name in written_names(node, self.mutable)}
        for name in sorted(names - self.local):
            try:
                known = self.outside.name(name)
            except CompileError:
                continue
            if type(known.value) is np.ndarray:
                found[name] = known
        arrays = [known.value for known in found.values()]
        seen = not found or not self.is_seen_by_nobody(body, arrays)
        return {} if seen or len(set(map(id, arrays))) < len(arrays) else found

    def bind_work_arrays(self) -> None:
        """Make the arrays outside that the function writes into its variables."""
        for name, known in self.work.items():
            region = effects.Region((), external=True)
            inert = Inert(known.operand.node, {}, known.operand.type, False, True, [region])
            value = self.bind(inert, self.new_name(name.lower() if name.lower() != name else f"{name}_"))
            value.own = False
            self.temporaries.discard(value)
            self.env[name] = value
            self.work_values.add(value)
            self.ways[value] = ways.ITSELF
            read = self.outside.reader(known.operand)
            self.session.arrays[read.key] = self.session.written[read.key] = read
            self.session.work[id(known.value)] = known.value

    def is_seen_by_nobody(self, body: list, arrays: list) -> bool:
        """Does no function that this one calls, passes on or defines read one of these arrays?"""
        for name in set().union(*map(self.names.loads, body)) - self.local:
            value = self.outside.place(name).read()
            if callable(value) and not resolve.is_trusted(value) and reads_outside(value, arrays, set()):
                return False
        for node in (n for s in body for n in syntax.walk(s)):
            if isinstance(node, syntax.FUNCTIONS):
                return False
            if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
                known = self.static(node.func)
                if known is None and node.func.attr not in effects.known_methods() | effects.MUTATING_METHODS:
                    return False
                own = known is not None and not resolve.is_trusted(known.value)
                if own and reads_outside(known.value, arrays, set()):
                    return False
            elif isinstance(node, gast.Call) and not isinstance(node.func, gast.Name):
                return False
        return True


def written_names(node, mutable: set) -> set:
    """The names of arrays that a piece of syntax writes into, or gives to one of the names `mutable`."""
    targets = []
    match node:
        case gast.Subscript(ctx=gast.Store(), value=value):
            targets = [value]
        case gast.Call(func=gast.Attribute(value=value, attr="fill" | "sort" | "put")):
            targets = [value]
        case gast.Call(func=gast.Attribute(attr=attr), args=[first, *_]) if attr in WRITERS:
            targets = [first]
        case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in mutable:
            targets = [value]
    if isinstance(node, gast.Call):
        targets += [k.value for k in node.keywords if k.arg == "out"]
    found = set()
    for target in targets:
        while isinstance(target, (gast.Subscript, gast.Attribute)):
            target = target.value
        found |= {target.id} if isinstance(target, gast.Name) else set()
    return found


def reads_outside(function, arrays: list, seen: set) -> bool:
    """May a function of the user's read one of these arrays, itself or by what it calls?"""
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        return True
    if function in seen:
        return False
    seen.add(function)
    codes, names = [function.__code__], set()
    for code in codes:
        names |= {*code.co_names, *code.co_freevars}
        codes += [c for c in code.co_consts if hasattr(c, "co_names")]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    held = [cells[name].cell_contents if name in cells else function.__globals__.get(name) for name in names]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for value in held:
        if any(value is array for array in arrays):
            return True
        trusted = isinstance(value, PLAIN) or resolve.is_trusted(value)
        if isinstance(value, ModuleType):
            trusted = value.__name__.partition(".")[0] in classes.TRUSTED
        if not trusted and reads_outside(value, arrays, seen):
            return True
    return False
