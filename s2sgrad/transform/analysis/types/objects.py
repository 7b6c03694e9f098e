"""The types of runtime objects, what two types have in common, and what is asked of one type."""

import dataclasses
from dataclasses import replace

import numpy as np

from s2sgrad.transform.analysis import axes, layout
from s2sgrad.transform.analysis.axes import Axis, fresh
from s2sgrad.transform.classes import MOST_ITEMS, attributes, identity, reads_as_tuple
from s2sgrad.transform.ir import OTHER, UNKNOWN, Kind, Type

REAL = "real"
DOUBLE = "float or float64"  # of a number that is Python's on one way and NumPy's on another
WHOLE = "int or int64"  # the same of integers
WIDE = "real of 64 bits"  # one or the other
COMPLEX = "complex or complex128"  # the same of complex numbers
EITHER = "complex or float"  # of a number of Python's, as the power of a float by a float is
FLOATING = "float, float32 or float64"  # of what is in single precision on one way
INTEGRAL = "int8 or int64"  # of a power of truth values
WAYS = {
    DOUBLE: ("float", "float64"),
    WHOLE: ("int", np.dtype(int).name),
    FLOATING: ("float", "float32", "float64"),
    INTEGRAL: ("int8", np.dtype(int).name),
    WIDE: ("int", np.dtype(int).name, "float", "float64"),
    COMPLEX: ("complex", "complex128"),
    EITHER: ("float", "complex"),
}
VAGUE = (REAL, *WAYS)
BOOL = Type(Kind.NUMBER, "bool", 0, ())
LONGEST = 32  # a longer list whose elements are all alike is known by its element only
_PYTHON_NUMBERS = {float: "float", int: "int", complex: "complex", bool: "bool"}
BUILTIN_DTYPES = ("float", "int", "complex", "bool")
WEAK = {"float": float, "int": int, "complex": complex}
SAMPLES = {"float": 1.0, "int": 1, "complex": 1j, "bool": True}


def axes_of(t: Type) -> tuple | None:
    """The symbols of the axes of a number or array; None where their number is not known."""
    if t.ndim is None or t.kind not in (Kind.NUMBER, Kind.ARRAY):
        return None
    if isinstance(t.shape, tuple) and len(t.shape) == t.ndim:
        return t.shape
    return tuple([Axis(None if t.shape is None else (t.shape, i)) for i in range(t.ndim)])


def same_shape(a: Type, b: Type) -> bool:
    """Surely the same shape at run time."""
    if a.shape is None or a.shape != b.shape:
        return False
    return not isinstance(a.shape, tuple) or all(map(axes.is_named, a.shape))


def with_names(t: Type) -> Type:
    """The type with a name for each length that has none: for a value that is one array, not any of several."""
    if t.kind is not Kind.ARRAY:
        return t
    if t.ndim is None:
        return replace(t, shape=fresh()) if t.shape is None else t
    shape = axes_of(t)
    return t if all(map(axes.is_named, shape)) and isinstance(t.shape, tuple) else replace(t, shape=axes.named(shape))


def same_dtype(a: Type, b: Type) -> bool:
    """Surely the same dtype at run time, and the same strength in promotion."""
    return a.dtype not in (None, *VAGUE) and a.dtype == b.dtype


def of_any_length(t: Type) -> Type:
    """The type with nothing known of the lengths of axes, nor of where their elements are.

    Examples
    --------
    >>> of_any_length(of(np.ones((2, 1)))).ndim
    2
    """
    if t.items is not None:
        return replace(t, items=tuple(map(of_any_length, t.items)))
    if t.element is not None:
        return replace(t, element=of_any_length(t.element))
    return with_names(replace(t, shape=None, contiguous=False)) if t.kind is Kind.ARRAY else t


def of_any(t: Type) -> Type:
    """The type with nothing known of lengths and layouts, nor of which functions are in it.

    Examples
    --------
    >>> of_any(of([np.sin])).items[0].function is None
    True
    """
    if t.items is not None:
        return replace(t, items=tuple(map(of_any, t.items)))
    if t.element is not None:
        return replace(t, element=of_any(t.element))
    return replace(t, function=None) if t.kind is Kind.CALLABLE else of_any_length(t)


def of_any_layout(t: Type) -> Type:
    """The type with nothing known of where the elements of arrays are.

    Examples
    --------
    >>> of_any_layout(of([np.ones(2)])).items[0].contiguous
    False
    """
    return layout.unknown(t)


def of_each(t: Type, mark: int) -> Type:
    """The type of any of several values, one of which is a `t`: lengths named since `mark` may differ.

    Examples
    --------
    >>> x, mark = of(np.ones(3)), axes.fresh()
    >>> of_each(x, mark) == x, of_each(of(np.ones(3)), mark).shape
    (True, (None,))
    """
    if t.items is not None:
        return replace(t, items=tuple([of_each(item, mark) for item in t.items]))
    if t.element is not None:
        return replace(t, element=of_each(t.element, mark))
    if t.kind is not Kind.ARRAY:
        return t
    if not isinstance(t.shape, tuple):
        return t if t.shape is None or axes.is_older(axes.Axis(t.shape), mark) else replace(t, shape=None)
    return replace(t, shape=tuple([n if axes.is_older(n, mark) else axes.Axis(None, n.least) for n in t.shape]))


def of_last(t: Type, mark: int, names: dict) -> Type:
    """The type of the last of several values, of which a `t` is any: lengths named since `mark` get names of its own.

    `names` has them, for what else is the last.

    Examples
    --------
    >>> x, mark = of(np.ones(3)), axes.fresh()
    >>> y = of(np.ones(3))
    >>> of_last(x, mark, {}) == x, of_last(y, mark, {}) == y
    (True, False)
    """
    if t.items is not None:
        return replace(t, items=tuple([of_last(item, mark, names) for item in t.items]))
    if t.element is not None:
        return replace(t, element=of_last(t.element, mark, names))
    if t.kind is not Kind.ARRAY or t.shape is None:
        return t
    if not isinstance(t.shape, tuple):
        return with_names(of_each(t, mark))

    def last(n: Axis) -> Axis:
        return n if axes.is_older(n, mark) else replace(n, name=names.setdefault(n.name, fresh()))

    return replace(t, shape=tuple([axes.renamed(n, last) for n in t.shape]))


def dtype_name(dtype) -> str | None:
    """The name that a `Type` has for a NumPy dtype; None for what is not a number (objects, text, records).

    Examples
    --------
    >>> dtype_name(np.dtype("f4")), dtype_name(np.dtype(object))
    ('float32', None)
    """
    if not dtype.isnative:  # NumPy's results are native: no name is the right one for both
        return REAL if dtype.kind in "biuf" else None
    if dtype.kind in "biufc":
        return dtype.name
    extended = dtype.kind == "V" and dtype.fields is None and dtype.subdtype is None and dtype.type is not np.void
    return dtype.name if extended else None  # the small floats of ml_dtypes


def of(value) -> Type:
    """The type of a runtime object.

    Each array gets names of its own for the lengths of its axes, in whatever places it stands; of the
    lengths it is known which are 0 and which 1.

    Examples
    --------
    >>> from s2sgrad.transform import ir
    >>> of(1.5) == ir.FLOAT
    True
    >>> of((1, np.ones(3))).items[1].ndim
    1
    """
    return _of(value, None)


def of_all(values) -> list[Type]:
    """The types of several objects; the same array in two places has one shape."""
    seen: dict = {}
    return [_of(value, seen) for value in values]


def _of(value, seen: dict | None, within: int = 0) -> Type:
    """`seen` holds the types of the arrays met before, where the same array is to have the same token.

    The value is in `within` objects, each in the one before.
    """
    cls = type(value)
    if cls in _PYTHON_NUMBERS:
        return Type(Kind.NUMBER, _PYTHON_NUMBERS[cls], 0, ())
    if cls is np.ndarray:
        name = dtype_name(value.dtype)
        found = Type(Kind.ARRAY, name, value.ndim, axes.of(value.shape), contiguous=value.flags.c_contiguous)
        return found if seen is None else seen.setdefault(id(value), found)
    if isinstance(value, np.generic) and cls.__module__.partition(".")[0] in ("numpy", "ml_dtypes"):
        name = dtype_name(value.dtype)
        return OTHER if name is None else Type(Kind.NUMBER, name, 0, ())
    if cls is list or cls is tuple:
        kind = Kind.LIST if cls is list else Kind.TUPLE
        many = within and len(value) > MOST_ITEMS
        return Type(kind) if many else sequence(kind, [_of(item, seen, within) for item in value])
    if cls is dict:
        if within and len(value) > MOST_ITEMS:
            return Type(Kind.DICT)
        return Type(Kind.DICT, items=tuple(_of(item, seen, within) for item in value.values()), keys=tuple(value))
    if reads_as_tuple(cls):
        return Type(Kind.RECORD, items=tuple(_of(item, seen, within) for item in value), keys=cls._fields, cls=cls)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(f.name for f in dataclasses.fields(value) if hasattr(value, f.name))
        return Type(Kind.RECORD, items=tuple(_of(getattr(value, n), seen, within) for n in names), keys=names, cls=cls)
    own = attributes(value, within)
    if own is not None:
        held = tuple(_of(item, seen, within + 1) for item in own.values())
        return Type(Kind.RECORD, items=held, keys=tuple(own), cls=cls)
    if callable(value):
        return Type(Kind.CALLABLE, cls=cls, function=value if identity(value) is not None else None)
    return Type(Kind.OTHER, cls=cls)


def sequence(kind: Kind, items) -> Type:
    """The type of a list or tuple with these elements."""
    if len(items) > LONGEST:
        element = items[0]
        for item in items[1:]:
            element = join(element, item)
        return Type(kind, element=element)
    return Type(kind, items=tuple(items))


def is_namedtuple(value) -> bool:
    return isinstance(value, tuple) and isinstance(getattr(type(value), "_fields", None), tuple)


def join(a: Type, b: Type) -> Type:
    """The least type that covers both.

    Examples
    --------
    >>> from s2sgrad.transform import ir
    >>> join(ir.FLOAT, ir.FLOAT64).dtype, join(ir.FLOAT, of(np.float16(1.0))).dtype
    ('float or float64', 'real')
    >>> join(ir.FLOAT, of(np.ones(3))).kind, join(ir.FLOAT, of(np.array(1.0))).ndim
    (<Kind.UNKNOWN: 'unknown'>, 0)
    """
    if a == b:
        return a
    dtype = join_dtype(a.dtype, b.dtype)
    if a.kind is not b.kind:
        if not {a.kind, b.kind} <= {Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN}:
            return UNKNOWN
        return Type(dtype=dtype, ndim=0, shape=()) if a.ndim == b.ndim == 0 else Type(dtype=dtype)
    if a.kind in (Kind.TUPLE, Kind.LIST):
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            return Type(a.kind, items=tuple(map(join, a.items, b.items)))
        return Type(a.kind, element=join_elements(a, b))
    if a.kind in (Kind.DICT, Kind.RECORD):
        if a.keys == b.keys and a.cls is b.cls and a.keys is not None:
            return Type(a.kind, items=tuple(map(join, a.items, b.items)), keys=a.keys, cls=a.cls)
        return Type(a.kind)
    ndim = a.ndim if a.ndim == b.ndim else None
    whole = a.contiguous and b.contiguous
    if a.shape == b.shape:
        return Type(a.kind, dtype, ndim, a.shape, contiguous=whole)
    if ndim is None or a.shape is None or b.shape is None:
        return Type(a.kind, dtype, ndim, contiguous=whole)
    shape = tuple(map(axes.join, axes_of(a), axes_of(b)))
    return Type(a.kind, dtype, ndim, None if all(s == axes.ANY for s in shape) else shape, contiguous=whole)


def join_dtype(a, b):
    """The least dtype that covers both; None where there is none.

    Examples
    --------
    >>> join_dtype("float32", "float64"), join_dtype("float32", "complex64")
    ('float, float32 or float64', None)
    """
    if a == b:
        return a
    if a is None or b is None:
        return None
    both = {*WAYS.get(a, (a,)), *WAYS.get(b, (b,))}
    other = None if any(dtype.startswith("complex") for dtype in both) else REAL
    return next((dtype for dtype, ways in WAYS.items() if both <= {*ways}), other)


def join_elements(*containers) -> Type | None:
    """What every element of these containers is; None where nothing is known."""
    known: Type | None = None
    for container in containers:
        if container.items is None and container.element is None:
            return None
        for item in (container.element,) if container.items is None else container.items:
            known = item if known is None else join(known, item)
    return known
