"""What belongs to one recorded call: functions, arrays, containers and globals as the function sees them.

A `Session` turns each value into what recorded code sees when it is first looked at. When the call is over, it gives
the real ones what the function has rebound, written or stored.
"""

import collections
import dataclasses
import functools
import operator
import types

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.arguments import is_active, plain
from s2sgrad.runtime.arrays import is_differentiable, is_promotable
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.methods import (
    Held,
    Seen,
    classes_to_watch,
    own_function,
    release,
    users_classes,
    watch,
    watch_attribute,
)
from s2sgrad.runtime.namespace import (
    CLASSES,
    JOINS,
    Namespace,
    drawing,
    in_family,
    namespace_of,
    real_version,
    recording_version,
    vectorize_version,
)
from s2sgrad.runtime.node import leaf
from s2sgrad.runtime.surroundings import STANDARD, Globals, Module, home_of, is_ours
from s2sgrad.runtime.tensor import Storage, Tensor, Traced, traced
from s2sgrad.runtime.trees import flatten
from s2sgrad.runtime.trees import only as _only
from s2sgrad.runtime.views import along, duplicate, refresh, require_as_shown, reveal

_ATOMS = frozenset((int, float, bool, complex, str, bytes, type(None), range, slice, type(...)))
_LRU = type(functools.lru_cache(lambda: None))
_HOLDERS = list, dict, collections.deque
_SCAN_LIMIT = 1_000  # objects looked through for recorded values that the function stored


class Session:
    """What belongs to one recorded call: the turned functions, arrays and globals, and what to put back."""

    def __init__(self, private=False, rules=False, current=None):
        self.private = private  # results are copied: pullbacks may run after the caller has changed them
        self.rules = rules  # rule functions are turned too
        self.closed = False
        self.globals = {}
        self.functions = {}
        self.cells = {}
        self.arrays = {}
        self.owners = {}
        self.twins = {}
        self.copies = {}
        self.holders = []  # (container of the caller's, what the function sees, the contents of this and of that)
        self.containers = []
        self.reached = {}  # the containers and objects that the function sees themselves, by their ids
        self.classes = {}  # those of the user's that it has met, and whether it watches them
        self.current = current  # the session of each thread

    # -- turning values into what recorded code sees

    def turn(self, value):
        """The version of `value` that recorded code sees."""
        kind = type(value)
        if kind in _ATOMS or kind is Traced:
            return value
        if kind is np.ndarray:
            return self.array(value)
        if kind is types.FunctionType:
            return self.function(value)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if kind is types.MethodType:
            if lookup(value) is not None:
                return recording_version(value)
            self.turn(value.__self__)
            function = self.turn(value.__func__)
            return value if function is value.__func__ else types.MethodType(function, value.__self__)
        if isinstance(value, type):
            self.meet_class(value)
            return CLASSES.get(value, value)
        if kind is np.random.Generator:
            return drawing(value)
        if kind is functools.partial:
            args = [self.turn(a) for a in value.args]
            keywords = {k: self.turn(a) for k, a in value.keywords.items()}
            return functools.partial(self.turn(value.func), *args, **keywords)
        if kind is tuple:
            items = [self.turn(item) for item in value]
            return value if all(a is b for a, b in zip(items, value, strict=True)) else tuple(items)
        if kind is _LRU:
            return self._cached(value)
        if id(value) in JOINS:
            return JOINS[id(value)]
        if kind is np.vectorize and (version := vectorize_version(value)) is not None:
            return version
        if (
            isinstance(value, np.ufunc)
            or callable(value)
            and not is_ours(kind.__module__)  # the derivative of one has the name of its module
            and (lookup(value) is not None or in_family(getattr(value, "__module__", None)))
        ):
            return recording_version(value)
        if kind is list or kind is dict:
            return self.container(value)
        if isinstance(value, _HOLDERS) or _has_attributes(value) and not is_ours(kind.__module__):
            self.meet(value)
            self.containers.append(value)
        return value

    def meet_class(self, cls):
        """Watch what the methods of a class of the user's do."""
        if self.current is None or cls in self.classes:
            return
        watched = classes_to_watch(cls)
        for one in users_classes(cls):
            if one in self.classes:
                continue
            self.classes[one] = one in watched
            if one in watched:
                watch(one, self.current)
            self.containers.append(one)
            for value in list(vars(one).values()):
                if isinstance(value, type):
                    self.meet_class(value)
                elif type(value) not in _DESCRIPTORS and _may_hold_objects(value):
                    self.meet(value)

    def meet(self, value, itself=True):
        """Watch what the methods of an object do, and those of the objects that it holds; or of a twin of `itself`."""
        queue, seen = [(value, itself)], set()
        while queue and len(seen) < _SCAN_LIMIT:
            holder, itself = queue.pop()
            if id(holder) in seen:
                continue
            seen.add(id(holder))
            if itself:
                self.reached[id(holder)] = holder
            if isinstance(holder, (*_HOLDERS, tuple)):
                queue += [(item, itself) for _, item in _items(holder) if _may_hold_objects(item)]
            if type(holder) in (*_HOLDERS, tuple):
                continue
            self.meet_class(type(holder))
            held = {name: getattr(holder, name, None) for name in _slots_of(type(holder))}
            held |= vars(holder) if hasattr(holder, "__dict__") else {}
            for name, item in held.items():
                turned = self.classes.get(type(holder)) and _is_function(item)
                if turned:  # so the function sees its twin
                    watch_attribute(type(holder), name, self.current)
                if _may_hold_objects(item):
                    queue.append((item, itself and not turned))

    def _module(self, module):
        if isinstance(module, (Namespace, Module)):
            return module
        name = module.__name__
        if in_family(name):
            return namespace_of(module)
        if name.partition(".")[0] in STANDARD or is_ours(name):
            return module
        return Module(module, self.view(module.__dict__))

    def function(self, function):
        """A Python function, recorded when it is called."""
        if type(function.__globals__) is Globals:
            return function
        function = own_function(function)
        if lookup(function) is not None:
            return recording_version(function)
        home = home_of(function.__module__ or function.__globals__.get("__name__"))
        if home == "family":
            return recording_version(function)
        if home == "standard" or home == "ours" and not self.rules:
            return function
        return self.rebind(function)

    def rebind(self, function):
        """The same code, with the names around it turned."""
        entry = self.functions.get(id(function))
        if entry is not None:
            return entry[1]
        closure = function.__closure__ and tuple([self._cell(cell) for cell in function.__closure__])
        twin = types.FunctionType(function.__code__, self.view(function.__globals__), function.__name__, None, closure)
        self.functions[id(function)] = function, twin
        if function.__defaults__:
            twin.__defaults__ = tuple([self.turn(value) for value in function.__defaults__])
        if function.__kwdefaults__:
            twin.__kwdefaults__ = {name: self.turn(value) for name, value in function.__kwdefaults__.items()}
        twin.__dict__ = function.__dict__
        self.containers.append(function.__dict__)
        twin.__qualname__ = function.__qualname__
        twin.__module__ = function.__module__
        twin.__doc__ = function.__doc__
        return twin

    def _cell(self, cell):
        entry = self.cells.get(id(cell))
        if entry is None:
            twin = types.CellType()
            entry = self.cells[id(cell)] = [cell, twin, twin]
            try:
                twin.cell_contents = entry[2] = self.turn(cell.cell_contents)
            except ValueError:  # empty: not assigned yet
                entry[2] = None
        return entry[1]

    def view(self, real):
        if type(real) is Globals:
            return real
        view = self.globals.get(id(real))
        if view is None:
            view = self.globals[id(real)] = Globals(self, real)
        return view

    def _cached(self, cached):
        """An `lru_cache`: its memory knows plain values only, so recorded arguments go past it."""
        function = self.turn(cached.__wrapped__)

        @functools.wraps(cached.__wrapped__)
        def call(*args, **kwargs):
            if is_active(args) or is_active(kwargs):
                return function(*args, **kwargs)
            return self.turn(cached(*plain(args), **plain(kwargs)))

        return call

    def array(self, array):
        """An array of the world outside as `Traced`: always the same one for the same array."""
        entry = self.arrays.get(id(array))
        if entry is not None:
            return entry[1]
        if self.rules or array.dtype.kind not in "biufc":
            if array.dtype.kind == "O":
                self.containers.append(array)
            return array
        t = traced(array, None)
        self._adopt(t, array)
        self.arrays[id(array)] = array, t
        return t

    def _adopt(self, t, array):
        """Tie `t` to the caller's `array`, so that writes show there."""
        data = duplicate(array)
        if not array.flags.writeable:
            data.flags.writeable = False
        storage = t.storage = Storage(data, t.node, saved=False, outer=array)
        t.primal = data
        t.steps = ()
        t.seen = 0
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        others = self.owners.setdefault(id(owner), [])
        for other in others:
            if np.may_share_memory(other.outer, array):
                if other.hidden:
                    raise TapeError(
                        "recorded values were written into an array and are now read through another array object "
                        f"on the same memory, which the tape cannot follow\n  at {user_location()}"
                    )
                storage.frozen = other.frozen = (
                    "an array is written that is also reached as another array object on the same memory, "
                    "which the tape cannot follow: make a copy of one of them"
                )
        others.append(storage)

    def leaf(self, value):
        """A differentiated argument: a tensor of its own, and what its gradient looks like."""
        if isinstance(value, Tensor):
            data = plain(value)
            outer_node = value.node
            if not isinstance(data, (float, complex, np.inexact)) and getattr(data, "dtype", _OBJECT).kind not in "fc":
                data = _promoted(data)
            t = traced(data, leaf(outer_node if outer_node is not None else ()))
            if type(data) is np.ndarray:
                t.storage = Storage(data, t.node)
                t.steps, t.seen = (), 0
                t.storage.frozen = (
                    "the argument of an inner derivative is written in place within a recorded function, "
                    "which the tape cannot follow: write to a copy"
                )
            return t
        if is_promotable(value):
            return traced(_promoted(value), leaf())
        if not is_differentiable(value):
            return None
        t = traced(value, leaf())
        if type(value) is np.ndarray:
            self._adopt(t, value)
        return t

    def keep(self, array):
        """A plain array as a node may hold it: one copy of each content."""
        if not array.flags.writeable and array.base is None:
            return array
        entry = self.copies.get(id(array))
        if entry is not None and _same_bits(entry[1], array):
            return entry[1]
        copy = np.array(array)
        self.copies[id(array)] = array, copy
        return copy

    # -- arguments

    def container(self, value):
        """A list or dict with the arrays and functions in it turned; the caller's own is kept up to date with it."""
        items = value.values() if type(value) is dict else value
        if _ATOMS.issuperset(map(type, items)):
            self.reached[id(value)] = value
            self.containers.append(value)
            return value
        entry = self.twins.get(id(value))
        if entry is not None:
            return entry[1]
        twin = type(value)()
        self.twins[id(value)] = value, twin
        if type(value) is dict:
            twin.update((k, self.turn(item)) for k, item in value.items())
            same = all(twin[k] is item for k, item in value.items())
        else:
            twin.extend([self.turn(item) for item in value])
            same = all(a is b for a, b in zip(twin, value, strict=True))
        if same:
            twin = value
            self.twins[id(value)] = value, value
            self.reached[id(value)] = value
            self.containers.append(value)
        else:
            self.holders.append((value, twin, _contents(twin), _contents(value)))
        return twin

    def differentiated(self, value, leaves):
        """A differentiated argument, and what rebuilds it; its leaves are appended to `leaves` with their nodes."""
        if type(value) is float or type(value) is np.ndarray and value.dtype.kind == "f":
            t = traced(value, leaf())
            leaves.append((value, t.node))
            if type(value) is np.ndarray:
                self._adopt(t, value)
            return t, _only
        parts, rebuild = flatten(value)
        turned = []
        for part in parts:
            t = self.leaf(part)
            leaves.append((part, None if t is None else t.node))
            turned.append(self.turn(part) if t is None else t)
        twin = rebuild(turned)
        self._hold(value, twin)
        return twin, rebuild

    def _hold(self, value, twin):
        if type(value) is list or isinstance(value, dict) or dataclasses.is_dataclass(value):
            self.holders.append((value, twin, _contents(twin), _contents(value)))
        if isinstance(value, dict):
            for k in value:
                self._hold(value[k], twin[k])
        elif isinstance(value, (list, tuple)):
            for a, b in zip(value, twin, strict=True):
                self._hold(a, b)
        elif dataclasses.is_dataclass(value):
            self.meet(value, itself=False)
            for field in dataclasses.fields(value):
                self._hold(getattr(value, field.name), getattr(twin, field.name))

    # -- the end of the call

    def settled(self, value):
        """`value` as the world outside sees it after the call."""
        kind = type(value)
        if kind is Traced:
            return self._settled_tensor(value)
        if kind is list or kind is dict:
            for own, twin in self.twins.values():
                if twin is value:
                    return own
        if kind is list or kind is tuple:
            items = [self.settled(item) for item in value]
            if all(a is b for a, b in zip(items, value, strict=True)):
                return value
            return items if kind is list else tuple(items)
        if kind is dict:
            items = {k: self.settled(item) for k, item in value.items()}
            return value if all(items[k] is value[k] for k in value) else items
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*[self.settled(item) for item in value])
        if kind is types.FunctionType and type(value.__globals__) is Globals:
            for function, twin in self.functions.values():
                if twin is value:
                    return function
            return value
        if kind is types.MethodType:
            function = self.settled(value.__func__)
            return value if function is value.__func__ else types.MethodType(function, value.__self__)
        if kind is types.FunctionType or isinstance(value, type):
            return real_version(value)
        if isinstance(value, Namespace):
            return value.__dict__["__wrapped_module__"]
        if isinstance(value, Module):
            return value.__dict__["__real__"]
        return value

    def _settled_tensor(self, t):
        if t.storage is None:
            return np.array(t.primal) if self.private and type(t.primal) is np.ndarray else t.primal
        refresh(t)
        outer = t.storage.outer
        if outer is not None:
            return along(t.steps, outer)
        return np.array(t.primal) if self.private and type(t.primal) is np.ndarray else t.primal

    def check(self):
        """Raise where code that the tape does not see has written to an array that it has read.

        And where a container that is reached in two ways was changed, which the function saw as two.
        """
        first: dict = {}
        several = {id(value) for value, twin, *_ in self.holders if first.setdefault(id(value), twin) is not twin}
        several.update(self.reached)
        for value, twin, shown, before in self.holders:
            if _is_changed(value, before) or id(value) in several and _is_changed(twin, shown):
                raise TapeError(
                    f"the same {type(value).__name__} is passed twice, or is an argument and is reached otherwise too, "
                    "and the function changes it, which the tape cannot follow: pass a copy of it"
                )
        for storages in self.owners.values():
            for storage in storages:
                require_as_shown(storage)

    def leave(self, holders: list):
        """Let go of what an inner call was given, which must not have changed it: the outer function would not see it.

        What the outer function does to it afterwards is no matter of the inner call.
        """
        for value, twin, shown, before in holders:
            if _is_changed(twin, shown) or _is_changed(value, before):
                raise TapeError(
                    f"the function of an inner derivative changes the {type(value).__name__} that it is given, within "
                    "a recorded function, which the tape cannot follow: pass a copy of it"
                )

    def close(self):
        """Leave everything outside as a plain call would have left it."""
        for storages in self.owners.values():
            for storage in storages:
                if storage.hidden:
                    reveal(storage)
        self.closed = True
        for view in self.globals.values():
            view.write_back()
        for cell, twin, shown in self.cells.values():
            try:
                content = twin.cell_contents
            except ValueError:
                continue
            if content is not shown:
                cell.cell_contents = self.settled(content)
            elif type(content) is types.FunctionType:
                twin.cell_contents = cell.cell_contents  # a function that knows itself would be a cycle
        for value, twin, shown, _ in self.holders:
            self._sync(value, twin, shown)
            self.containers.append(value)
        if self.containers:
            self._clean()

    def forget(self):
        """Let go of everything: a closed session must not keep the graph, nor be part of a cycle."""
        for table in (self.globals, self.functions, self.cells, self.arrays, self.owners, self.copies, self.twins):
            table.clear()
        self.holders.clear()
        self.containers.clear()
        self.reached.clear()
        for cls, is_watched in self.classes.items():
            if is_watched:
                release(cls)
        self.classes.clear()

    def _sync(self, value, twin, shown):
        """Bring a container of the caller up to date with the one that the function saw."""
        if not _is_changed(twin, shown):
            return
        if type(value) is list:
            known = {id(s): v for s, v in zip(shown, list(value), strict=False)}
            value[:] = [known[id(item)] if id(item) in known else self.settled(item) for item in twin]
        elif not isinstance(value, dict):
            for name, before in shown.items():
                if getattr(twin, name) is not before:
                    object.__setattr__(value, name, self.settled(getattr(twin, name)))
        else:
            items = {k: value[k] if k in shown and shown[k] is item else self.settled(item) for k, item in twin.items()}
            value.clear()
            value.update(items)

    def _clean(self):
        """Replace recorded values that the function has stored in containers and objects by plain ones."""
        queue = list(self.containers)
        seen = set()
        while queue and len(seen) < _SCAN_LIMIT:
            holder = queue.pop()
            if id(holder) in seen:
                continue
            seen.add(id(holder))
            if isinstance(holder, _HOLDERS):  # whatever its class does where an item is set
                put = next(base for base in _HOLDERS if isinstance(holder, base)).__setitem__
                for k, item in _items(holder):
                    self._clean_item(holder, k, item, queue, put)
            if type(holder) is np.ndarray:
                for k, item in np.ndenumerate(holder):
                    self._clean_item(holder, k, item, queue)
            elif isinstance(holder, type):
                for k, item in list(vars(holder).items()) if holder in self.classes else ():
                    if k != "__dict__" and type(item) not in _DESCRIPTORS:
                        self._clean_item(holder, k, item, queue, type.__setattr__)
                continue
            elif hasattr(holder, "__dict__") and not isinstance(holder, (types.ModuleType, types.FunctionType)):
                attributes = holder.__dict__
                if type(attributes) is dict:
                    queue.append(attributes)
            for name in _slots_of(type(holder)):
                if hasattr(holder, name):
                    self._clean_item(holder, name, getattr(holder, name), queue, object.__setattr__)

    def _clean_item(self, holder, k, item, queue, put=operator.setitem):
        kind = type(item)
        if kind in _ATOMS or kind is np.ndarray:
            return
        settled = self.settled(item) if isinstance(item, _STAND_INS) else item
        if settled is not item:
            put(holder, k, settled)
        elif isinstance(item, _HOLDERS) or kind not in _FUNCTIONS and _has_attributes(item):
            queue.append(item)


_OBJECT = np.dtype(object)
_FUNCTIONS = frozenset((types.FunctionType, types.MethodType, types.BuiltinFunctionType))
_DESCRIPTORS = frozenset(
    (Held, Seen, staticmethod, classmethod, property, types.MemberDescriptorType, types.GetSetDescriptorType)
)
_STAND_INS = (
    Traced,
    tuple,
    types.FunctionType,
    types.MethodType,
    types.ModuleType,
    type,
)  # what the tape may have put there, or in it


def _has_attributes(value) -> bool:
    return hasattr(value, "__dict__") or bool(_slots_of(type(value)))


def _is_function(item) -> bool:
    """Is it a function, or something made of one, that recorded code sees otherwise?"""
    kind = type(item)
    if kind in (list, tuple, dict):
        return any(map(_is_function, item.values() if kind is dict else item))
    return kind in _FUNCTIONS or kind in (functools.partial, np.ufunc, np.vectorize, _LRU)


def _may_hold_objects(item) -> bool:
    kind = type(item)
    if kind in _ATOMS or isinstance(item, (np.ndarray, np.generic, type, types.ModuleType, types.FunctionType)):
        return False
    return isinstance(item, (*_HOLDERS, tuple)) or _has_attributes(item)


@functools.lru_cache(256)
def _slots_of(cls) -> tuple:
    """The attributes of objects of a class that are not in a dictionary."""
    members = [(name, m) for base in cls.__mro__ if "__slots__" in vars(base) for name, m in vars(base).items()]
    return tuple([name for name, member in members if isinstance(member, types.MemberDescriptorType)])


def _items(holder) -> list:
    """What is in a list, tuple, dict or deque, each with its place, whatever its class says to who runs over it."""
    if isinstance(holder, dict):
        return list(dict.items(holder))
    base = next(base for base in (list, tuple, collections.deque) if isinstance(holder, base))
    return list(enumerate(base.__iter__(holder)))


def _contents(container):
    """What is in a list, a dict, or the fields of a dataclass."""
    if type(container) is list or isinstance(container, dict):
        return container.copy()
    return {field.name: getattr(container, field.name) for field in dataclasses.fields(container)}


def _is_changed(container, before) -> bool:
    """Is something else in a container than what was there `before`?"""
    if type(container) is list:
        return len(container) != len(before) or any(a is not b for a, b in zip(container, before, strict=True))
    items = container if isinstance(container, dict) else {name: getattr(container, name) for name in before}
    return list(items) != list(before) or any(items[k] is not before[k] for k in items)


def _promoted(value):
    return value.astype(np.float64) if isinstance(value, (np.ndarray, np.generic)) else float(value)


def _same_bits(a, b):
    if a.shape != b.shape or a.dtype != b.dtype or a.dtype.hasobject:
        return False
    if a.dtype.kind in "fc":
        return bool(np.array_equal(a, b, equal_nan=True))
    return bool(np.array_equal(a, b))
