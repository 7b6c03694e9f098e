"""Arguments as trees: what can be differentiated in them, integers made floats, and the kinds of a call.

Tuples, lists, dicts, namedtuples and dataclasses are containers, through optree; floats, complex numbers
and arrays of them are leaves; None is an empty container.
"""

import dataclasses
import functools
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType

import numpy as np

from s2sgrad.errors import ArgumentError
from s2sgrad.runtime.arrays import is_differentiable, is_promotable
from s2sgrad.runtime.tensor import Tensor
from s2sgrad.runtime.trees import flatten
from s2sgrad.transform import classes
from s2sgrad.transform.analysis.axes import LONG, remembered
from s2sgrad.transform.analysis.types import LONGEST, is_namedtuple
from s2sgrad.transform.classes import MOST_ITEMS, attributes

_INSIDE = " in a container of another class"


def leaves_with_paths(tree) -> list[tuple[str, object]]:
    """The leaves of `tree`, each with the way to it as one writes it: ``[0].w``, ``['b']``.

    Examples
    --------
    >>> leaves_with_paths({"w": [1.0, 2.0]})
    [("['w'][0]", 1.0), ("['w'][1]", 2.0)]
    """
    parts, rebuild = flatten(tree)
    paths = dict(_places(rebuild(list(range(len(parts)))), ""))
    return [(paths.get(i, _INSIDE), part) for i, part in enumerate(parts) if part is not None]


def _places(tree, path: str):
    """For a tree of numbered leaves: each number with the way to it."""
    if isinstance(tree, int):
        yield tree, path
        return
    if isinstance(tree, dict):
        children = [(f"[{key!r}]", child) for key, child in tree.items()]
    elif names := (tree._fields if is_namedtuple(tree) else fields_of(type(tree))):
        children = [(f".{name}", getattr(tree, name)) for name in names]
    elif type(tree) in (list, tuple):
        children = [(f"[{i}]", child) for i, child in enumerate(tree)]
    else:
        children = []
    for step, child in children:
        yield from _places(child, path + step)


@functools.cache
def fields_of(cls: type) -> tuple | None:
    """The field names of a dataclass; None for another class."""
    return tuple(f.name for f in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else None


def leaves(tree) -> list:
    return [part for part in flatten(tree)[0] if part is not None]


def map_leaves(function, tree):
    """`tree` with `function` of each leaf in its place."""
    parts, rebuild = flatten(tree)
    return rebuild([None if part is None else function(part) for part in parts])


# -------------------------------------------------------------------------------- differentiation


def _instead(leaf, path: str) -> str:
    """What to pass in place of a leaf that has no gradient.

    Examples
    --------
    >>> _instead(True, ""), _instead("relu", "['act']"), _instead({1.0}, ""), _instead("relu", "")
    ('convert it to float', 'leave it out of the container', 'pass a list or tuple', 'pass a number or an array')
    """
    if isinstance(leaf, (bool, np.bool_, np.ndarray)):
        return "convert it to float"
    if isinstance(leaf, (set, frozenset)):
        return "pass a list or tuple"
    if path:
        return "leave it out of the container"
    if getattr(leaf, "__dict__", None):
        return "pass the arrays that it holds (in a list, dict or dataclass)"
    return "pass a number or an array"


def require_differentiable(value, name: str, function: str) -> None:
    """Raise an `ArgumentError` that names the first leaf that no derivative can be taken of."""
    if value is None:
        raise ArgumentError(f"argument {name!r} of {function} is None, which cannot be differentiated")
    for path, leaf in leaves_with_paths(value):
        if path is _INSIDE:
            raise ArgumentError(
                f"argument {name!r} of {function} holds {_article(type(leaf))}{path}: only tuples, lists, dicts, "
                f"namedtuples and dataclasses have gradients"
            )
        if isinstance(leaf, Tensor):
            continue
        cls = type(leaf)
        if isinstance(leaf, np.ndarray) and cls not in (np.ndarray, np.memmap):
            raise ArgumentError(
                f"argument {name + path!r} of {function} is {_article(cls)}, whose operators have a meaning of their "
                f"own; pass a plain array: np.asarray({name}{path})"
            )
        if not (is_differentiable(leaf) or is_promotable(leaf)):
            array = isinstance(leaf, np.ndarray)
            what = f"an array of dtype {leaf.dtype}" if array else f"{_article(cls)} ({_short(leaf)})"
            raise ArgumentError(
                f"argument {name + path!r} of {function} is {what}: only real and complex numbers and arrays, and "
                f"containers of them, can be differentiated. "
                f"Choose other arguments by argnums, or {_instead(leaf, path)}"
            )


def _article(cls) -> str:
    return f"{'an' if cls.__name__[0] in 'aeiouAEIOU' else 'a'} {cls.__name__}"


def _short(value) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def needs_promotion(tree) -> bool:
    """Whether `promote` would change anything."""
    return any(_promoted(leaf) is not leaf for leaf in leaves(tree))


def promote(tree):
    """`tree` with its integers made float64; a memory map is seen as the plain array it is.

    Examples
    --------
    >>> promote((1, [np.arange(2), 0.5]))
    (1.0, [array([0., 1.]), 0.5])
    """
    return map_leaves(_promoted, tree)


def _promoted(leaf):
    if isinstance(leaf, Tensor) or not is_promotable(leaf):
        return np.asarray(leaf) if type(leaf) is np.memmap else leaf
    if isinstance(leaf, np.ndarray):
        return leaf.astype(np.float64)
    return np.float64(leaf) if isinstance(leaf, np.generic) else float(leaf)


def promoted_pairs(tree, twin) -> list:
    """What `hand_back` needs: each container and leaf of a tree, what was promoted of it, and what was in both."""
    items = None if tree is twin else _items_of(tree)
    if items is None:
        before = twin.copy() if tree is not twin and type(tree) is np.ndarray else None
        return [(tree, twin, before, before)]
    inside = _items_of(twin)
    found = [(tree, twin, dict(inside), items)]
    for key, item in items.items():
        found += promoted_pairs(item, inside[key])
    return found


def hand_back(pairs: list) -> None:
    """Change the containers of the caller's as those were changed that were passed in their place.

    Examples
    --------
    >>> given = {"n": 1, "xs": [2, 3.0]}
    >>> seen = promote(given)
    >>> pairs = promoted_pairs(given, seen)
    >>> seen["xs"].append(seen["n"] * 2)
    >>> seen["m"] = seen["xs"]
    >>> hand_back(pairs)
    >>> given
    {'n': 1, 'xs': [2, 3.0, 2.0], 'm': [2, 3.0, 2.0]}
    """
    own = {id(twin): mine for mine, twin, *_ in pairs}
    for mine, twin, before, _ in pairs:
        if isinstance(twin, tuple) or not _is_changed(twin, before):
            continue
        if isinstance(mine, np.ndarray):
            changed = twin != before
            mine[changed] = twin[changed]
            continue
        after = _items_of(twin)
        now = {key: own.get(id(item), item) for key, item in after.items()}
        if isinstance(mine, list):
            mine[:] = now.values()
        elif isinstance(mine, dict):
            mine.clear()
            mine.update(now)
        else:
            for name in [name for name in before if name not in now]:
                object.__delattr__(mine, name)
            for name, item in now.items():
                object.__setattr__(mine, name, item)


def require_alone(pairs: list, arguments, name: str) -> None:
    """What was changed in the place of the caller's containers and arrays must be in the `arguments` once.

    Examples
    --------
    >>> given = np.arange(2)
    >>> seen = promote(given)
    >>> pairs = promoted_pairs(given, seen)
    >>> seen[1] = 5.0
    >>> require_alone(pairs, (given,), "f")
    >>> require_alone(pairs, (given, given), "f")
    Traceback (most recent call last):
    ...
    s2sgrad.errors.ArgumentError: f changes a ndarray with integers that is also in another argument, shares memory \
with one, or is reached otherwise: f is differentiated by it, so that it got a copy of floats. Pass a copy of it
    """
    changed = [mine for mine, twin, before, _ in pairs if _is_changed(twin, before)]
    shared = _shared(changed, arguments) if changed else []
    shared += [mine for mine, _, _, own in pairs if _is_changed(mine, own)]
    if shared:
        raise ArgumentError(
            f"{name} changes {_article(type(shared[0]))} with integers that is also in another argument, shares memory "
            f"with one, or is reached otherwise: {name} is differentiated by it, so that it got a copy of floats. "
            f"Pass a copy of it"
        )


def _shared(parts: list, tree) -> list:
    """Those of some lists, dicts, objects and arrays in a tree that are in it twice, or share memory there."""
    met: dict = {}
    for x in _changeable(tree):
        met.setdefault(id(x), []).append(x)
    twice = [x for x, *more in met.values() if more]
    inside = {id(x) for one in twice for x in (*_changeable(one), *arrays_in(one))}
    everything = arrays_in(tree)
    return [
        part
        for part in parts
        if id(part) in inside
        or (isinstance(part, np.ndarray) and sum(np.may_share_memory(part, x) for x in everything) > 1)
    ]


def _is_changed(tree, before) -> bool:
    """Is something else in a container or an array than what was there `before`? None: it is none."""
    if before is None:
        return False
    if isinstance(before, np.ndarray):
        return not np.array_equal(tree.astype(before.dtype, copy=False), before, equal_nan=True)
    after = _items_of(tree)
    return list(after) != list(before) or any(item is not before[key] for key, item in after.items())


def _items_of(tree) -> dict | None:
    """What is in a container, by its keys; None for what is none."""
    if isinstance(tree, dict):
        return dict(tree)
    if isinstance(tree, (list, tuple)):
        return dict(enumerate(tree))
    names = fields_of(type(tree))
    if names is None:
        return None
    return {**getattr(tree, "__dict__", {}), **{name: getattr(tree, name) for name in names if hasattr(tree, name)}}


# ------------------------------------------------------------------------------- kinds of a call

# Types that decide alone what an operation on their values means.
PLAIN = frozenset({float, int, complex, bool, str, bytes, NoneType, np.float64, np.float32, np.int64, np.bool_})


_CODE = (FunctionType, BuiltinFunctionType, MethodType, np.ufunc, type)

_LONGEST_TEST = 200  # comparisons in a `likeness`
_SHORT = 4  # so many numbers in a list are asked one by one


def kinds(values, within: int = 0) -> tuple:
    """What decides the code that is compiled for arguments: equal kinds, equal code.

    The type of a number, dtype and dimension of an array and which of its axes are short (that decides how it
    is broadcast), the kinds of the items of a container and of the attributes of an object of
    a plain class, the class of another object and which of its class's attributes it hides by its own. On the
    way of every call. The values are in `within` objects, each in the one before.

    Examples
    --------
    >>> kinds([1.5, np.ones((20, 30))])
    (<class 'float'>, (dtype('float64'), 2))
    >>> kinds([np.ones((20, 1))])
    ((dtype('float64'), (8, 1)),)
    """
    return tuple([cls if (cls := type(value)) in PLAIN else _kind(value, cls, within) for value in values])


def _kind(value, cls, within: int):
    """The kind of a value that is no plain number or text."""
    if cls is np.ndarray:
        shape = value.shape
        return value.dtype, tuple(map(remembered, shape)) if shape and min(shape) < LONG else len(shape)
    if within and cls in (list, tuple, dict) and len(value) > MOST_ITEMS:
        return (cls,)
    if cls is list or cls is tuple:
        if len(value) > LONGEST:
            found = set(map(type, value))
            plain = found <= PLAIN
            return cls, LONGEST, frozenset(found) if plain else frozenset([kinds((item,)) for item in value])
        return cls, kinds(value, within)
    if isinstance(value, dict):
        return cls, tuple(value), tuple(map(type, value)), kinds(value.values(), within)  # 1 == True == 1.0
    if is_namedtuple(value):
        return cls, kinds(value, within)
    names = fields_of(cls)
    if names is not None:
        return cls, kinds([getattr(value, name, None) for name in names], within), hidden(value)
    if isinstance(value, np.ndarray):
        return cls, value.dtype, tuple([min(n, 2) for n in value.shape])
    if cls in classes.FUNCTIONS:
        return cls, classes.identity(value)
    own = attributes(value, within)
    return (cls, hidden(value)) if own is None else (cls, tuple(own), kinds(own.values(), within + 1))


def likeness(values: tuple, name: str) -> tuple[str, dict] | None:
    """An expression that is true of values of the kinds of these (`kinds`), and the objects in it.

    It asks less than `kinds` computes, and of one kind only: the short way to "as in the last call". None
    where there is no such expression: for objects, and containers of many values.

    Parameters
    ----------
    values : tuple
    name : str
        The values are called ``{name}_0``, ``{name}_1``, ...

    Examples
    --------
    >>> likeness((1.5,), "x")
    ('type(x_0) is {builtins_float}', {'builtins_float': <class 'float'>})
    >>> test, _ = likeness(([np.ones((2, 1))],), "x")
    >>> print(test.replace(" and ", "\\n"))
    type(x_0) is {builtins_list}
    len(x_0) == 1
    type(x_0_0 := x_0[0]) is {numpy_ndarray}
    x_0_0.dtype is {dtype_float64}
    len(x_0_0_ := x_0_0.shape) == 2
    2 <= x_0_0_[0] < 4
    x_0_0_[1] == 1
    """
    tests: list[str] = []
    objects: dict = {}
    told = all(_tell(value, f"{name}_{i}", f"{name}_{i}", tests, objects) for i, value in enumerate(values))
    return (" and ".join(tests) or "True", objects) if told else None


def _tell_items(places, count: int, name: str, tests: list, objects: dict) -> bool:
    tests.append(f"len({name}) == {count}")
    return all(
        _tell(item, f"{name}_{i} := {name}[{key!r}]", f"{name}_{i}", tests, objects)
        for i, (key, item) in enumerate(places)
    )


def _tell(value, spelling: str, name: str, tests: list, objects: dict) -> bool:
    """Add to `tests` what tells values of the kind of this one; False where nothing does."""
    cls = type(value)
    if len(tests) > _LONGEST_TEST:
        return False
    named = f"{cls.__module__}_{cls.__name__}"
    tests.append(f"type({spelling}) is {{{named}}}")
    objects[named] = cls
    if cls in PLAIN:
        return True
    if cls is np.ndarray:
        element = f"dtype_{value.dtype}"
        objects[element] = value.dtype
        lengths = [_like(f"{name}_[{i}]", n) for i, n in enumerate(value.shape)]
        of_that_many = f"len({name}_ := {name}.shape) == {value.ndim}" if value.ndim else f"not {name}.ndim"
        tests.extend([f"{name}.dtype is {{{element}}}", of_that_many, *lengths])
        return element.isidentifier()
    if (cls is list or cls is tuple) and len(value) > _SHORT and _is_uniform(value):
        of = type(value[0])
        inside = f"only_{of.__module__}_{of.__name__}"
        objects.update({"builtins_type": type, inside: {of}})
        tests.append(f"len({name}) {f'== {len(value)}' if len(value) <= LONGEST else f'> {LONGEST}'}")
        tests.append(f"set(map({{builtins_type}}, {name})) == {{{inside}}}")
        return True
    if (cls is list or cls is tuple) and len(value) <= LONGEST:
        return _tell_items(enumerate(value), len(value), name, tests, objects)
    if cls is dict and all(type(key) is str and key.isidentifier() for key in value):
        tests.append(f"list({name}) == {list(value)!r}")
        return _tell_items(value.items(), len(value), name, tests, objects)
    return False


def _is_uniform(values) -> bool:
    """Are these numbers of one class?"""
    return len(classes := set(map(type, values))) == 1 and classes <= PLAIN


def _like(length: str, n: int) -> str:
    """A test that is true of lengths of which the same is remembered as of `n`."""
    if n < 2:
        return f"{length} == {n}"
    return f"{length} >= {LONG}" if n >= LONG else f"{remembered(n)} <= {length} < {2 * remembered(n)}"


def hidden(value) -> tuple:
    """The attributes of the class of `value` that are hidden by attributes of the object itself, which are no fields.

    Examples
    --------
    >>> class Model:
    ...     def step(self): ...
    >>> model = Model()
    >>> model.step = print
    >>> hidden(model)
    ('step',)
    """
    own = getattr(value, "__dict__", None)
    if not own or isinstance(value, type | ModuleType | FunctionType | np.ufunc):
        return ()
    told = (*functools.WRAPPER_ASSIGNMENTS, *(fields_of(type(value)) or ()))
    return tuple([name for name in own if hasattr(type(value), name) and name not in told])


def hiding(tree) -> tuple | None:
    """The first object in a tree that hides an attribute of its class in a way that its type does not tell, and which.

    >>> class Model:
    ...     __slots__ = "__dict__"
    ...     def step(self): ...
    >>> model = Model()
    >>> model.step = print
    >>> hiding({"models": [model]})[1], hiding([np.ones(2)])
    ('step', None)
    """
    for value in [*_changeable(tree), *classes.leaves(tree)]:
        if attributes(value) is None and (names := hidden(value)):
            return value, names[0]
    return None


def are_in_one_piece(tree) -> bool:
    """Are all arrays in a tree contiguous?

    >>> are_in_one_piece([np.ones(3)]), are_in_one_piece({"x": np.ones((3, 2)).T})
    (True, False)
    """
    return all([x.flags.c_contiguous for x in arrays_in(tree)])


def are_apart(tree) -> bool:
    """Is there surely no memory that two arrays in a tree share, and no list, dict or object that is in it twice?

    There is none where an object may hold arrays in a way of its own.

    >>> x, q = np.ones(3), [1.0]
    >>> are_apart((x, {"y": np.ones(3)})), are_apart([x, x[1:]]), are_apart((q, [q]))
    (True, False, False)
    """
    parts = classes.leaves(tree)
    if classes.opaque_among(parts, _CODE) is not None:
        return False
    arrays = [x for x in parts if isinstance(x, np.ndarray)]
    changeable = [id(x) for x in _changeable(tree)]
    if len(set(changeable)) < len(changeable):
        return False
    return not any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def share_memory(tree, other) -> bool:
    """May an array in a tree share memory with one in another tree, or is a list, dict or object in both?

    >>> x, q = np.ones(3), [1.0]
    >>> share_memory([x], {"y": x[1:]}), share_memory([x], [np.ones(3), np.ones(3)]), share_memory([q], q)
    (True, False, True)
    """
    mine, others = arrays_in(tree), arrays_in(other)
    changeable, seen = ({id(x) for x in _changeable(t)} for t in (tree, other))
    return not changeable.isdisjoint(seen) or any(np.may_share_memory(a, b) for a in mine for b in others)


def arrays_in(tree) -> list:
    """The arrays in a tree, those that objects of plain classes hold included.

    >>> from types import SimpleNamespace
    >>> arrays_in([SimpleNamespace(w=np.ones(2)), 1.5])
    [array([1., 1.])]
    """
    return [x for x in classes.leaves(tree) if isinstance(x, np.ndarray)]


def _changeable(tree):
    """The lists, dicts, dataclasses and objects in a tree, itself included, each as often as it is met."""
    seen, queue = set(), [tree]
    for one in queue:
        if type(one) in classes.LEAVES:
            continue
        own = attributes(one)
        inner = _items_of(one) if own is None else own
        if inner is None:
            continue
        if not isinstance(one, tuple):
            yield one
        if id(one) not in seen:
            seen.add(id(one))
            queue += inner.values()
