"""What is known of values before the program runs: the types of arguments, of calls, of joins.

The frontend asks here while it lowers a function: `of` gives the type of an actual argument or of a
captured datum, `infer` the type of a call's result from the types of its operands, `join` what two
branches (or two turns of a loop) have in common. Passes then ask the types whether a conjugate, an
`unbroadcast` or a conversion can be left out. What is claimed is always true of the value at run time;
what is not surely known is left open.

A shape is a tuple of one symbol per axis (see ``axes.py``), or, where the number of axes is not known, a
token: equal tokens, equal shapes. None equals nothing: compare with `same_shape`, ask with `axes_of`.

Beside NumPy's dtype names there is `REAL`: no complex numbers in it, nothing else known (a number that
is a Python float on one way and a ``np.float64`` on another). It equals nothing: compare with
`same_dtype`.

Examples
--------
>>> x = ir.Value("x", of(np.ones((2, 3))))
>>> infer(np.sin, (x,)) == x.type
True
>>> infer(np.sum, (x,)) == ir.FLOAT64
True
"""

import builtins
import dataclasses
import functools
import operator
from dataclasses import replace

import gast
import numpy as np

from s2sgrad.rules.linalg import cofactors
from s2sgrad.rules.table import lookup
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes, layout
from s2sgrad.transform.analysis.axes import Axis, fresh
from s2sgrad.transform.ir import FLOAT, INT, OTHER, UNKNOWN, Kind, Type

REAL = "real"
BOOL = Type(Kind.NUMBER, "bool", 0, ())
LONGEST = 32  # a longer list whose elements are all alike is known by its element only

_PYTHON_NUMBERS = {float: "float", int: "int", complex: "complex", bool: "bool"}
_BUILTIN_DTYPES = ("float", "int", "complex", "bool")
_WEAK = {"float": float, "int": int, "complex": complex}
_SAMPLES = {"float": 1.0, "int": 1, "complex": 1j, "bool": True}


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
    return a.dtype is not None and a.dtype != REAL and a.dtype == b.dtype


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
    return replace(t, shape=tuple([n if axes.is_older(n, mark) else axes.Axis(None, n.many) for n in t.shape]))


# ------------------------------------------------------------------------------------ runtime objects


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


def _of(value, seen: dict | None) -> Type:
    """`seen` holds the types of the arrays met before, where the same array is to have the same token."""
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
        return sequence(Kind.LIST if cls is list else Kind.TUPLE, [_of(item, seen) for item in value])
    if cls is dict:
        return Type(Kind.DICT, items=tuple(_of(item, seen) for item in value.values()), keys=tuple(value))
    if is_namedtuple(value):
        return Type(Kind.RECORD, items=tuple(_of(item, seen) for item in value), keys=cls._fields, cls=cls)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(f.name for f in dataclasses.fields(value) if hasattr(value, f.name))
        return Type(Kind.RECORD, items=tuple(_of(getattr(value, n), seen) for n in names), keys=names, cls=cls)
    if callable(value):
        return Type(Kind.CALLABLE, cls=cls)
    return OTHER if value is None else Type(Kind.OTHER, cls=cls)


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


# ---------------------------------------------------------------------------------------------- joins


def join(a: Type, b: Type) -> Type:
    """The least type that covers both.

    Examples
    --------
    >>> join(ir.FLOAT, ir.FLOAT64).dtype
    'real'
    >>> join(ir.FLOAT, of(np.ones(3))).kind
    <Kind.UNKNOWN: 'unknown'>
    """
    if a == b:
        return a
    dtype = _join_dtype(a.dtype, b.dtype)
    if a.kind is not b.kind:
        numeric = {a.kind, b.kind} <= {Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN}
        return Type(dtype=dtype) if numeric else UNKNOWN
    if a.kind in (Kind.TUPLE, Kind.LIST):
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            return Type(a.kind, items=tuple(map(join, a.items, b.items)))
        return Type(a.kind, element=_join_elements(a, b))
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


def _join_dtype(a, b):
    if a == b:
        return a
    if a is None or b is None or a.startswith("complex") or b.startswith("complex"):
        return None
    return REAL


def _join_elements(*containers) -> Type | None:
    """What every element of these containers is; None where nothing is known."""
    known: Type | None = None
    for container in containers:
        if container.items is None and container.element is None:
            return None
        for item in (container.element,) if container.items is None else container.items:
            known = item if known is None else join(known, item)
    return known


# ------------------------------------------------------------------------------------------- operands


_OPEN = object()  # the value of an operand that is not known before the program runs


def type_of(operand) -> Type:
    """The type of an IR operand.

    Examples
    --------
    >>> type_of(ir.Constant(2)) == ir.INT
    True
    """
    return of(operand.value) if isinstance(operand, ir.Constant) else operand.type


def constant(operand, unknown=_OPEN):
    """The value of an operand that is a literal, else `unknown`."""
    if isinstance(operand, ir.Constant):
        return operand.value
    if isinstance(operand, ir.Code):
        return _literal(operand.node, unknown)
    return unknown if isinstance(operand, ir.Value) else operand  # a default of the function itself


def _literal(node, unknown):
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = _literal(node.operand, unknown)
        return -value if isinstance(value, (int, float, complex)) else unknown
    if isinstance(node, gast.Tuple):
        values = tuple(_literal(item, unknown) for item in node.elts)
        return unknown if any(value is unknown for value in values) else values
    return unknown


def _shape_of(operand) -> tuple:
    """`(ndim, shape, dims)` of an operand that says a shape: ``3``, ``(3, 4)``, ``(n, 4)``, ``x.shape``."""
    value = constant(operand)
    if isinstance(value, (int, np.integer)):
        value = (value,)
    if isinstance(value, (tuple, list)) and all(isinstance(n, (int, np.integer)) for n in value):
        dims = tuple(int(n) for n in value)
        return len(dims), (dims if all(n >= 0 for n in dims) else None), dims
    if isinstance(operand, ir.Code):
        node = operand.node
        if isinstance(node, gast.Tuple) and not any(isinstance(n, gast.Starred) for n in node.elts):
            return len(node.elts), tuple([_length(n, operand.reads) for n in node.elts]), None
        if isinstance(node, gast.Attribute) and node.attr == "shape" and isinstance(node.value, gast.Name):
            array = operand.reads.get(node.value.id)
            if array is not None and array.type.kind is Kind.ARRAY:
                return array.type.ndim, array.type.shape, None
        one = _length(node, operand.reads)
        if axes.is_named(one):
            return 1, (one,), None
    known = type_of(operand) if isinstance(operand, (ir.Value, ir.Code)) else UNKNOWN
    if known.kind is Kind.TUPLE and known.items is not None:
        return len(known.items), None, None
    if known.kind is Kind.NUMBER:
        return 1, None, None
    return None, None, None


def _length(node, reads):
    """The length that ``3``, ``len(x)`` or ``x.shape[0]`` is."""
    literal = _literal(node, None)
    if type(literal) is int and literal >= 0:
        return literal
    array, axis = None, 0
    match node:
        case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)]) if "len" not in reads:
            array = reads.get(name)
        case gast.Subscript(value=gast.Attribute(value=gast.Name(id=name), attr="shape"), slice=place):
            array, axis = reads.get(name), _literal(place, None)
    shape = None if array is None or array.type.kind is not Kind.ARRAY else axes_of(array.type)
    if shape is None or not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        return axes.ANY
    return shape[axis]


# ---------------------------------------------------------------------------------- dtypes and shapes


def _weak_name(dtype: str) -> str:
    """What a NumPy function makes of a Python number."""
    return {"float": "float64", "int": np.dtype(int).name, "complex": "complex128"}.get(dtype, dtype)


def _resolve(ufunc, dtypes) -> str | None:
    """The dtype of a ufunc's (first) result, as NumPy itself promotes."""
    return _resolved(ufunc, tuple(dtypes))


@functools.cache
def _resolved(ufunc, dtypes: tuple) -> str | None:
    if any(d is None for d in dtypes):
        if ufunc.nin == 2 and all(t[-1] == "?" for t in ufunc.types):
            return "bool"
        return None
    vague = REAL in dtypes
    given = [_WEAK.get(d) or np.dtype("float64" if d == REAL else d) for d in dtypes]
    try:
        result = dtype_name(ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))[ufunc.nin])
    except TypeError:  # the call itself will fail, or gives objects
        return None
    if vague and result != "bool":
        return None if result is None or result.startswith("complex") else REAL
    return result


def _array_like(t: Type) -> Type:
    """What ``np.asarray`` makes of a value of type `t`: lists and tuples of numbers become arrays."""
    if t.kind not in (Kind.LIST, Kind.TUPLE):
        return t
    element = _join_elements(t)
    if element is None:
        return UNKNOWN
    elements = [_array_like(item) for item in (t.items if t.items is not None else (element,))]
    inner = elements[0]
    for item in elements[1:]:
        inner = join(inner, item)
    dtype = _promote([item.dtype for item in elements])
    if inner.kind not in (Kind.NUMBER, Kind.ARRAY) or inner.ndim is None:
        return Type(dtype=dtype)
    length = axes.ANY if t.items is None else len(t.items)
    return one_array(dtype, shape=(length, *axes_of(inner)))


def _promote(dtypes) -> str | None:
    """The dtype of an array that holds values of these dtypes together."""
    if not dtypes or any(d is None for d in dtypes):
        return None
    if REAL in dtypes:
        return None if any(d.startswith("complex") for d in dtypes) else REAL
    try:
        return dtype_name(np.result_type(*[np.dtype(_weak_name(d)) for d in dtypes]))
    except TypeError:
        return None


def _broadcast(types) -> tuple:
    """`(kind, ndim, token)` of what elementwise functions make of values of these types.

    Where there is no array of dimension one or more for sure, the result may be a scalar: the kind is
    open then, but the shape need not be.
    """
    present = []
    for t in types:
        if t.kind is Kind.ARRAY or (t.kind is Kind.UNKNOWN and t.dtype is not None):
            if t.ndim != 0:
                present.append(t)
        elif t.kind is not Kind.NUMBER:
            return Kind.UNKNOWN, None, None
    if not present:
        return Kind.NUMBER, 0, ()
    surely = any(t.kind is Kind.ARRAY and t.ndim for t in present)
    ndim = max(t.ndim for t in present) if all(t.ndim is not None for t in present) else None
    kind = Kind.ARRAY if surely else Kind.UNKNOWN
    shapes = [axes_of(t) for t in present]
    if all(shape is not None for shape in shapes):
        return kind, ndim, axes.named(axes.broadcast(shapes))
    if any(t.shape is None for t in present):
        return kind, ndim, fresh() if surely and ndim is None else None
    parts: set = set()
    for t in present:
        parts |= t.shape if isinstance(t.shape, frozenset) else {t.shape}
    return kind, ndim, parts.pop() if len(parts) == 1 else frozenset(parts)


def one_array(dtype, ndim=None, shape=None) -> Type:
    """One array, of dimension zero included, with names for the lengths that are not given."""
    if ndim is None and isinstance(shape, tuple):
        ndim = len(shape)
    return with_names(Type(Kind.ARRAY, dtype, ndim, shape))


def _strong(dtype):
    return dtype and _weak_name(dtype)


def _given_dtype(dtype) -> str | None:
    """What a ``dtype=`` argument says, where it is a literal (``np.float32`` is code: open)."""
    value = constant(dtype)
    if isinstance(dtype, ir.Value) and dtype.type.kind is Kind.OTHER:
        return dtype.type.dtype
    if isinstance(value, str):
        try:
            return dtype_name(np.dtype(value))
        except TypeError:
            return None
    if isinstance(dtype, ir.Code):
        node = dtype.node
        if not isinstance(getattr(node, "value", node), gast.Name):
            return None
        if isinstance(node, gast.Name) and node.id in _BUILTIN_DTYPES and node.id not in dtype.reads:
            return np.dtype(getattr(builtins, node.id)).name
        if isinstance(node, gast.Attribute) and node.value.id in ("np", "numpy"):
            scalar = getattr(np, node.attr, None)
            if isinstance(scalar, type) and issubclass(scalar, np.generic):
                return dtype_name(np.dtype(scalar))
        if isinstance(node, gast.Attribute) and node.attr == "dtype":
            array = dtype.reads.get(node.value.id)
            if array is not None and array.type.kind is Kind.ARRAY:
                return array.type.dtype
    return None


# --------------------------------------------------------------------------------------------- calls


def infer(function, args: tuple = (), kwargs: dict | None = None) -> Type:
    """The type of ``function(*args, **kwargs)``, the operands being IR operands.

    Examples
    --------
    >>> x = ir.Value("x", of(np.ones((2, 3), "f4")))
    >>> infer(operator.mul, (ir.Constant(2), x)).dtype
    'float32'
    >>> infer(np.linalg.eig, (x,)) == UNKNOWN
    True
    """
    kwargs = kwargs or {}
    found = _infer(function, args, kwargs)
    return found if found is UNKNOWN else layout.of_result(function, args, kwargs, [type_of(a) for a in args], found)


def _infer(function, args: tuple, kwargs: dict) -> Type:
    try:
        handler = _HANDLERS.get(function)
    except TypeError:
        return UNKNOWN
    if kwargs and any(isinstance(kwargs.get(name), (ir.Value, ir.Code)) for name in ("out", "where", "subok")):
        return UNKNOWN
    try:
        if handler is not None:
            return handler(*args, **kwargs)
        ufunc = _OPERATORS.get(function) or (function if isinstance(function, np.ufunc) else None)
        if ufunc is not None:
            return _ufunc(function, ufunc, args, kwargs)
        if getattr(function, "__module__", None) == "math":
            return _math(function, args)
        rule = lookup(function)
        if rule is not None and rule.kind == "elementwise" and not kwargs:
            return _elementwise(args)
    except (TypeError, AttributeError, ValueError, LookupError, ArithmeticError):  # a call that does not fit: it fails
        return UNKNOWN
    return UNKNOWN


def _ufunc(function, ufunc, args, kwargs) -> Type:
    types = [type_of(a) for a in args]
    if function is not ufunc:
        kinds = {t.kind for t in types}
        if not kinds <= {Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN}:
            if kinds & {Kind.ARRAY} and kinds <= {Kind.NUMBER, Kind.ARRAY, Kind.LIST, Kind.TUPLE}:
                types = [_array_like(t) for t in types]
            else:
                return _container_operator(function, types)
        dtypes = [t.dtype for t in types]
        if all(t.kind is Kind.NUMBER and t.dtype in (*_SAMPLES, REAL) for t in types):
            return _python_operator(function, args, dtypes)
        if all(t.kind is Kind.NUMBER for t in types) and set(dtypes) == {"complex", "float64"}:
            return Type(Kind.NUMBER, None, 0, ())  # a np.float64 is a float to Python's complex, not always to NumPy
    else:
        types = [_array_like(t) for t in types]
    if ufunc.nout != 1 or ufunc.signature is not None or len(args) != ufunc.nin:
        return UNKNOWN
    kind, ndim, shape = _broadcast(types)
    dtype = _given_dtype(kwargs["dtype"]) if "dtype" in kwargs else _resolve(ufunc, [t.dtype for t in types])
    if function is operator.pow and types[0].dtype == "bool":
        dtype = REAL if all(t.is_real for t in types) else None  # the array method has integer loops of its own for it
    return Type(kind, dtype, ndim, shape)


def _python_operator(function, args, dtypes) -> Type:
    """An operator on Python's own numbers, which has Python's meaning: ``1 / 2``, ``2 ** -1``, ``(-8.0) ** 0.5``."""
    is_power = function in (operator.pow, operator.ipow)
    if is_power and dtypes[1] in ("int", "bool") and dtypes[0] != "complex" and constant(args[1]) is _OPEN:
        # by a whole number: nothing complex comes of it
        return FLOAT if dtypes[0] == "float" else Type(Kind.NUMBER, REAL, 0, ())
    if REAL in dtypes:
        comparison = function in _COMPARISONS
        if function in (operator.pow, operator.ipow):
            exponent = constant(args[1])
            if not (isinstance(exponent, (int, float)) and exponent == int(exponent)):
                return Type(Kind.NUMBER, None, 0, ())
        if any(d.startswith("complex") for d in dtypes):
            return Type(Kind.NUMBER, None, 0, ())
        return BOOL if comparison else Type(Kind.NUMBER, REAL, 0, ())
    if function in (operator.pow, operator.ipow) and "complex" not in dtypes:
        exponent = constant(args[1])
        if not isinstance(exponent, (int, float)) or exponent != int(exponent):
            return Type(Kind.NUMBER, None, 0, ())
        integer = dtypes[0] in ("int", "bool") and isinstance(exponent, int) and exponent >= 0
        return INT if integer else FLOAT
    try:
        return of(function(*[_SAMPLES[d] for d in dtypes]))
    except TypeError:
        return UNKNOWN


def _container_operator(function, types) -> Type:
    if function in _COMPARISONS:
        return BOOL if all(t.kind in (Kind.TUPLE, Kind.LIST, Kind.DICT, Kind.NUMBER) for t in types) else UNKNOWN
    if len(types) != 2:
        return UNKNOWN
    a, b = types
    if function is operator.add and a.kind is b.kind and a.kind in (Kind.LIST, Kind.TUPLE):
        if a.items is not None and b.items is not None:
            return sequence(a.kind, a.items + b.items)
        return Type(a.kind, element=_join_elements(a, b))
    if function is operator.mul and a.kind in (Kind.LIST, Kind.TUPLE) and b.kind is Kind.NUMBER:
        return Type(a.kind, element=_join_elements(a))
    return UNKNOWN


def _math(function, args) -> Type:
    name = function.__name__
    if name in ("floor", "ceil", "trunc", "gcd", "lcm", "factorial", "comb", "perm", "isqrt"):
        return INT
    if name in ("isnan", "isinf", "isfinite", "isclose"):
        return BOOL
    if name in ("modf", "frexp", "prod", "sumprod"):
        return UNKNOWN
    return FLOAT


def _elementwise(args) -> Type:
    """A function of the rule table that is no ufunc: its dtype is the promotion of its arguments' inexact types."""
    types = [_array_like(type_of(a)) for a in args]
    kind, ndim, shape = _broadcast(types)
    real = all(t.is_real for t in types)
    return Type(kind if kind is Kind.ARRAY else Kind.UNKNOWN, REAL if real else None, ndim, shape)


_OPERATORS = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.abs: np.absolute,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.invert: np.invert,
    operator.lshift: np.left_shift,
    operator.rshift: np.right_shift,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    builtins.abs: np.absolute,
}
_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
_HANDLERS: dict = {}


def _handles(*functions):
    def register(handler):
        for function in functions:
            _HANDLERS[function] = handler
        return handler

    return register


# ------------------------------------------------------------------------------------------ reductions


def _axes(axis, ndim) -> tuple | None:
    """The axes that are reduced, normalised; None where they or `ndim` are not known."""
    value = constant(axis)
    if ndim is None or value is _OPEN:
        return None
    if value is None:
        return tuple(range(ndim))
    values = value if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(a, (int, np.integer)) and -ndim <= a < ndim for a in values):
        return None
    return tuple(sorted({int(a) % ndim for a in values}))


def _reduced(x, axis, keepdims, dtype) -> Type:
    """The type of a reduction over `axis`; `dtype` is that of the result."""
    t = _array_like(type_of(x))
    keep, everything = constant(keepdims), constant(axis) is None
    if t.kind not in (Kind.NUMBER, Kind.ARRAY) and not (t.kind is Kind.UNKNOWN and t.dtype is not None):
        if everything and keep is False and t.kind in (Kind.LIST, Kind.TUPLE, Kind.UNKNOWN):
            return Type(dtype=dtype)
        return UNKNOWN
    if everything and keep is False:
        return Type(Kind.NUMBER, dtype, 0, ())
    reduced = _axes(axis, t.ndim if t.kind is Kind.ARRAY else (0 if t.kind is Kind.NUMBER else None))
    if keep is True and t.kind is Kind.ARRAY and t.ndim:
        known = [1 if i in reduced else n for i, n in enumerate(axes_of(t))] if reduced is not None else None
        return one_array(dtype, t.ndim, known and tuple(known))
    if reduced is None or keep is not False:
        return Type(dtype=dtype)
    if t.ndim == len(reduced):
        return Type(Kind.NUMBER, dtype, 0, ())
    return one_array(dtype, shape=tuple([n for i, n in enumerate(axes_of(t)) if i not in reduced]))


def _summed(dtype):
    """Sums and products of small integers are taken in NumPy's long integer."""
    name = _strong(dtype)
    if name in (None, REAL):
        return name
    kind = np.dtype(name).kind
    if kind in "bi":
        return np.result_type(name, np.dtype(int)).name
    return np.result_type(name, np.dtype("uint")).name if kind == "u" else name


def _averaged(dtype):
    name = _strong(dtype)
    if name in (None, REAL):
        return name
    return "float64" if np.dtype(name).kind in "biu" else name


def _modulus(dtype):
    """The dtype of magnitudes: complex64 has float32 ones."""
    name = _averaged(dtype)
    if name in (None, REAL) or not name.startswith("complex"):
        return name
    return np.empty(0, name).real.dtype.name


@_handles(np.sum, np.prod, np.nansum, np.nanprod)
def _sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Type:
    result = _summed(_array_like(type_of(a)).dtype) if dtype is None else _given_dtype(dtype)
    return _reduced(a, axis, keepdims, result if initial is None else None)


@_handles(np.mean, np.nanmean)
def _mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None) -> Type:
    result = _averaged(_array_like(type_of(a)).dtype) if dtype is None else _given_dtype(dtype)
    return _reduced(a, axis, keepdims, result)


@_handles(np.var, np.std, np.nanvar, np.nanstd)
def _var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **others) -> Type:
    return _reduced(a, axis, keepdims, _modulus(_array_like(type_of(a)).dtype) if dtype is None else None)


@_handles(np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)
def _max(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Type:
    return _reduced(a, axis, keepdims, _strong(_array_like(type_of(a)).dtype) if initial is None else None)


@_handles(np.all, np.any)
def _all(a, axis=None, out=None, keepdims=False, *, where=None) -> Type:
    return _reduced(a, axis, keepdims, "bool")


@_handles(np.argmax, np.argmin)
def _argmax(a, axis=None, out=None, *, keepdims=False) -> Type:
    return _reduced(a, axis, keepdims, np.dtype(np.intp).name)


@_handles(np.count_nonzero)
def _count_nonzero(a, axis=None, *, keepdims=False) -> Type:
    t = _reduced(a, axis, keepdims, np.dtype(np.intp).name)
    return replace(t, dtype=REAL) if t.kind is Kind.NUMBER else t  # a Python int or, by version, a NumPy one


@_handles(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=False) -> Type:
    t = type_of(x)
    return _reduced(x, axis, keepdims, _modulus(t.dtype)) if t.kind is Kind.ARRAY else UNKNOWN


@_handles(np.diag)
def _diag(v, k=0) -> Type:
    t = type_of(v)
    return one_array(t.dtype, 3 - t.ndim) if t.kind is Kind.ARRAY and t.ndim in (1, 2) else UNKNOWN


@_handles(np.cumsum, np.cumprod)
def _cumsum(a, axis=None, dtype=None, out=None) -> Type:
    t = type_of(a)
    result = _summed(t.dtype) if dtype is None else _given_dtype(dtype)
    if t.kind is not Kind.ARRAY or not t.ndim:
        return Type(dtype=result)
    if constant(axis) is None:
        return one_array(result, shape=(axes.size(axes_of(t)),))
    return one_array(result, t.ndim, t.shape)


@_handles(np.dot)
def _dot(a, b, out=None) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = _promote([s.dtype, t.dtype])
    if s.kind not in (Kind.NUMBER, Kind.ARRAY) or t.kind not in (Kind.NUMBER, Kind.ARRAY):
        return Type(dtype=dtype)
    if s.ndim is None or t.ndim is None:
        return Type(dtype=dtype)
    if s.ndim == 0 or t.ndim == 0:
        kind, ndim, shape = _broadcast((s, t))
        return Type(kind, dtype, ndim, shape)
    ndim = s.ndim + t.ndim - 2
    if ndim == 0:
        return Type(Kind.NUMBER, dtype, 0, ())
    left, right = axes_of(s), axes_of(t)
    return one_array(dtype, shape=left[:-1] + right[:-2] + right[-1:] * (len(right) > 1))


@_handles(np.matmul, operator.matmul)
def _matmul(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = _resolve(np.multiply, [s.dtype, t.dtype])
    if s.kind is not Kind.ARRAY or t.kind is not Kind.ARRAY or not s.ndim or not t.ndim:
        return Type(dtype=dtype)
    if s.ndim == t.ndim == 1:
        return Type(Kind.NUMBER, dtype, 0, ())
    left, right = axes_of(s), axes_of(t)
    stack = axes.broadcast([left[:-2], right[:-2]])
    return one_array(dtype, shape=stack + left[-2:-1] + right[-1:] * (len(right) > 1))


@_handles(np.vdot)
def _vdot(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    return Type(Kind.NUMBER, _promote([s.dtype, t.dtype]), 0, ())


@_handles(np.inner)
def _inner(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = _promote([s.dtype, t.dtype])
    if s.kind is Kind.ARRAY and t.kind is Kind.ARRAY and s.ndim and t.ndim:
        ndim = s.ndim + t.ndim - 2
        return one_array(dtype, shape=axes_of(s)[:-1] + axes_of(t)[:-1]) if ndim else Type(Kind.NUMBER, dtype, 0, ())
    return Type(dtype=dtype)


@_handles(np.convolve, np.correlate)
def _convolve(a, v, mode="full") -> Type:
    return one_array(_promote([_array_like(type_of(x)).dtype for x in (a, v)]), 1)


@_handles(np.outer)
def _outer(a, b, out=None) -> Type:
    s, t = _array_like(type_of(a)), _array_like(type_of(b))
    known = [x.kind in (Kind.ARRAY, Kind.NUMBER) and x.ndim is not None for x in (s, t)]
    shape = tuple([axes.size(axes_of(x)) for x in (s, t)]) if all(known) else None
    return one_array(_promote([s.dtype, t.dtype]), 2, shape)


@_handles(np.einsum)
def _einsum(subscripts, *operands, **options) -> Type:
    types = [type_of(o) for o in operands]
    dtype = _promote([t.dtype for t in types]) if set(options) <= {"optimize"} else None
    text = constant(subscripts)
    if not isinstance(text, str) or "->" not in text or "..." in text:
        return Type(dtype=dtype)
    inputs, result = text.replace(" ", "").split("->")
    if not result:
        return Type(dtype=dtype)  # a 0-d array or a scalar, as the inputs are
    lengths: dict = {}
    for letters, t in zip(inputs.split(","), types, strict=False):
        for letter, n in zip(letters, axes_of(t) or (), strict=False):
            lengths[letter] = axes.both(lengths.get(letter, 1), n)
    return one_array(dtype, shape=tuple([lengths.get(letter, axes.ANY) for letter in result]))


# ----------------------------------------------------------------------------------- linear algebra


@_handles(np.linalg.inv, np.linalg.cholesky, cofactors)
def _square(a, **options) -> Type:
    t = type_of(a)
    return replace(t, dtype=_averaged(t.dtype)) if t.kind is Kind.ARRAY else UNKNOWN


@_handles(np.linalg.solve)
def _solve(a, b) -> Type:
    s, t = type_of(a), type_of(b)
    dtype = _averaged(_promote([s.dtype, t.dtype]))
    if s.kind is Kind.ARRAY and t.kind is Kind.ARRAY and s.ndim == 2 and t.ndim:
        return one_array(dtype, t.ndim, t.shape)
    return Type(dtype=dtype)


@_handles(np.linalg.det)
def _det(a) -> Type:
    t = type_of(a)
    dtype = _averaged(t.dtype)
    if t.kind is not Kind.ARRAY or t.ndim is None:
        return Type(dtype=dtype)
    return Type(Kind.NUMBER, dtype, 0, ()) if t.ndim == 2 else one_array(dtype, shape=axes_of(t)[:-2])


# ------------------------------------------------------------------------------------------- shapes


@_handles(np.reshape)
def _reshape(a, shape=None, order="C", *, copy=None) -> Type:
    t = _array_like(type_of(a))
    dtype = _strong(t.dtype)
    if t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return Type(Kind.ARRAY if t.dtype is not None else Kind.UNKNOWN, dtype)
    ndim, given, dims = _shape_of(shape)
    if given is None and dims is not None and (whole := axes_of(t)) is not None and all(map(axes.is_named, whole)):
        given = tuple([n if n >= 0 else Axis(("rest", whole, dims)) for n in dims])
        if dims == (-1,):
            given = (axes.size(whole),)
    return one_array(dtype, ndim, given)


@_handles(np.ravel)
def _ravel(a, order="C") -> Type:
    t = _array_like(type_of(a))
    if t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return Type(Kind.ARRAY, _strong(t.dtype), 1, fresh()) if t.dtype is not None else UNKNOWN
    whole = axes_of(t)
    return one_array(_strong(t.dtype), 1, None if whole is None else (axes.size(whole),))


@_handles(np.transpose)
def _transpose(a, axes=None) -> Type:
    t = type_of(a)
    if t.kind is not Kind.ARRAY:
        return Type(dtype=_strong(t.dtype)) if t.kind in (Kind.NUMBER, Kind.UNKNOWN) else UNKNOWN
    order = constant(axes)
    if t.ndim == 1:
        return t
    return one_array(t.dtype, t.ndim, _permuted(t, np.transpose, order))


def _permuted(t: Type, function, *places):
    """The shape of an array of type `t` with its axes in another order; None where it is not known."""
    if t.ndim is None or any(p is _OPEN for p in places):
        return None
    try:
        order = function(np.broadcast_to(0, tuple(range(2, t.ndim + 2))), *places).shape
    except (ValueError, TypeError):
        return None
    return tuple([axes_of(t)[n - 2] for n in order])


@_handles(np.swapaxes)
def _swapaxes(a, axis1, axis2) -> Type:
    return _moved(np.swapaxes, a, axis1, axis2)


@_handles(np.moveaxis)
def _moveaxis(a, source, destination) -> Type:
    return _moved(np.moveaxis, a, source, destination)


@_handles(np.flip)
def _flip(m, axis=None) -> Type:
    return type_of(m) if type_of(m).kind is Kind.ARRAY else UNKNOWN


def _moved(function, a, *places) -> Type:
    t = type_of(a)
    if t.kind is not Kind.ARRAY:
        return UNKNOWN
    return one_array(t.dtype, t.ndim, _permuted(t, function, *map(constant, places)))


@_handles(np.expand_dims)
def _expand_dims(a, axis) -> Type:
    t, where = _array_like(type_of(a)), constant(axis)
    if t.kind not in (Kind.ARRAY, Kind.NUMBER) or t.ndim is None or where is _OPEN:
        return Type(Kind.ARRAY, _strong(t.dtype)) if t.kind in (Kind.ARRAY, Kind.NUMBER) else UNKNOWN
    places = where if isinstance(where, (tuple, list)) else (where,)
    ndim = t.ndim + len(places)
    new = {p % ndim for p in places}
    rest = iter(axes_of(t))
    return one_array(_strong(t.dtype), shape=tuple([1 if i in new else next(rest) for i in range(ndim)]))


@_handles(np.squeeze)
def _squeeze(a, axis=None) -> Type:
    t, where = type_of(a), constant(axis)
    if t.kind is not Kind.ARRAY or t.ndim is None or where is None or where is _OPEN:
        return Type(Kind.ARRAY, t.dtype) if t.kind is Kind.ARRAY else UNKNOWN
    gone = {p % t.ndim for p in (where if isinstance(where, (tuple, list)) else (where,))}
    return one_array(t.dtype, shape=tuple([n for i, n in enumerate(axes_of(t)) if i not in gone]))


@_handles(np.triu, np.tril)
def _triangle(m, k=0) -> Type:
    t = type_of(m)
    return t if t.kind is Kind.ARRAY and (t.ndim or 0) >= 2 else Type(dtype=t.dtype)


@_handles(np.sort)
def _sort(a, axis=-1, kind=None) -> Type:
    t = type_of(a)
    return t if t.kind is Kind.ARRAY and t.ndim and isinstance(constant(axis), int) else Type(dtype=t.dtype)


@_handles(np.roll)
def _roll(a, shift, axis=None) -> Type:
    t = type_of(a)
    return t if t.kind is Kind.ARRAY and t.ndim else Type(dtype=t.dtype)


@_handles(np.diag)
def _diag(v, k=0) -> Type:
    t = type_of(v)
    if t.kind is not Kind.ARRAY or t.ndim not in (1, 2):
        return Type(dtype=t.dtype)
    middle = constant(k) == 0
    if t.ndim == 1:
        return one_array(t.dtype, 2, axes_of(t) * 2 if middle else None)
    rows, columns = axes_of(t)
    return one_array(t.dtype, 1, (rows,) if middle and rows == columns else None)


@_handles(np.diagonal)
def _diagonal(a, offset=0, axis1=0, axis2=1) -> Type:
    t = type_of(a)
    known = t.kind is Kind.ARRAY and t.ndim is not None
    return one_array(t.dtype, t.ndim - 1) if known else Type(dtype=t.dtype)


@_handles(np.trace)
def _trace(a, offset=0, axis1=0, axis2=1) -> Type:
    t = type_of(a)
    return Type(Kind.NUMBER, _summed(t.dtype), 0, ()) if t.kind is Kind.ARRAY and t.ndim == 2 else UNKNOWN


@_handles(np.broadcast_to)
def _broadcast_to(array, shape, subok=False) -> Type:
    ndim, token, dims = _shape_of(shape)
    return one_array(_strong(_array_like(type_of(array)).dtype), ndim, token)


def _elements(sequence_) -> tuple:
    t = type_of(sequence_)
    return t.items if t.items is not None else (t.element,)


def _parts(arrays_) -> Type | None:
    """What the elements of a sequence of arrays have in common."""
    t = type_of(arrays_)
    if t.kind not in (Kind.LIST, Kind.TUPLE):
        return None
    elements = _elements(arrays_)
    if not elements or None in elements:
        return None
    common = _array_like(elements[0])
    for item in elements[1:]:
        common = join(common, _array_like(item))
    if common.kind is Kind.NUMBER or common.kind is Kind.ARRAY:
        dtypes = [_array_like(item).dtype for item in elements]
        return replace(common, dtype=_promote(dtypes) if t.items is not None else _strong(common.dtype))
    return None


@_handles(np.concatenate)
def _concatenate(arrays_, axis=0, **options) -> Type:
    common = _parts(arrays_)
    if common is None or options:
        return UNKNOWN
    place = constant(axis)
    if place is None:
        return one_array(common.dtype, 1)
    if not common.ndim or not isinstance(place, int) or not -common.ndim <= place < common.ndim:
        return one_array(common.dtype, common.ndim or None)
    first = _elements(arrays_)[0]  # the others have its lengths, but for this axis
    shape = list(axes_of(_array_like(first)))
    lengths = [axes_of(_array_like(t))[place] for t in _elements(arrays_)]
    counted = type_of(arrays_).items is not None and all(isinstance(n, int) for n in lengths)
    shape[place] = sum(lengths) if counted else axes.ANY
    return one_array(common.dtype, shape=tuple(shape))


@_handles(np.stack)
def _stack(arrays_, axis=0, **options) -> Type:
    common = _parts(arrays_)
    if common is None or options:
        return UNKNOWN
    place = constant(axis)
    if common.ndim is None or not isinstance(place, int) or not -common.ndim - 1 <= place <= common.ndim:
        return one_array(common.dtype, None if common.ndim is None else common.ndim + 1)
    shape = list(axes_of(_array_like(_elements(arrays_)[0])))
    length = axes.ANY if type_of(arrays_).items is None else len(type_of(arrays_).items)
    shape.insert(place % (common.ndim + 1), length)
    return one_array(common.dtype, shape=tuple(shape))


@_handles(np.split, np.array_split)
def _split(ary, indices_or_sections, axis=0) -> Type:
    t = type_of(ary)
    if t.kind is not Kind.ARRAY:
        return Type(Kind.LIST)
    return Type(Kind.LIST, element=Type(Kind.ARRAY, t.dtype, t.ndim))


# ---------------------------------------------------------------------- elementwise, but no ufuncs


@_handles(np.where)
def _where(condition, x=None, y=None) -> Type:
    if x is None or y is None:
        return UNKNOWN
    types = [_array_like(type_of(a)) for a in (condition, x, y)]
    # any function of two arguments that promotes as they do: Python's numbers stay weak
    dtype = _strong(_resolve(np.add, ["uint8" if t.dtype == "bool" else t.dtype for t in types[1:]]))
    if any(t.dtype == "bool" for t in types[1:]):
        dtype = types[1].dtype if types[1].dtype == types[2].dtype else (dtype and REAL)
        if any(t.dtype is None or t.dtype.startswith("complex") for t in types[1:]):
            dtype = None
    kind, ndim, shape = _broadcast(types)
    if kind is Kind.NUMBER:
        return Type(Kind.ARRAY, dtype, 0, ())
    return Type(Kind.ARRAY, dtype, ndim, shape) if kind is Kind.ARRAY else Type(dtype=dtype)


@_handles(np.clip)
def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None) -> Type:  # noqa: A002 - NumPy's names
    bounds = [b for b in (a_min, a_max, min, max) if b is not None and constant(b) is not None]
    types = [_array_like(type_of(b)) for b in (a, *bounds)]
    dtype = types[0].dtype
    for t in types[1:]:
        dtype = _resolve(np.maximum, [dtype, t.dtype])
    kind, ndim, shape = _broadcast(types)
    return Type(kind, _strong(dtype), ndim, shape)


@_handles(np.real, np.imag)
def _real(val) -> Type:
    t = type_of(val)
    if t.kind is Kind.ARRAY:
        return replace(t, dtype=_part(t.dtype))
    if t.kind is Kind.NUMBER:
        return replace(t, dtype=REAL)
    return UNKNOWN


def _part(dtype):
    if dtype in (None, REAL) or not dtype.startswith("complex"):
        return dtype
    return _modulus(dtype)


@_handles(np.round, np.around, np.nan_to_num)
def _round(a, *options, **keywords) -> Type:
    t = type_of(a)
    dtype = None if t.dtype == "bool" else _strong(t.dtype)
    if t.kind is Kind.ARRAY and t.ndim:
        return replace(t, dtype=dtype)
    return Type(dtype=dtype) if t.kind in (Kind.ARRAY, Kind.NUMBER) else UNKNOWN


# ---------------------------------------------------------------------------------------- creation


@_handles(np.zeros, np.ones, np.empty)
def _zeros(shape, dtype=None, order="C", **options) -> Type:
    ndim, token, _ = _shape_of(shape)
    return one_array("float64" if dtype is None else _given_dtype(dtype), ndim, token)


@_handles(np.full)
def _full(shape, fill_value, dtype=None, order="C", **options) -> Type:
    ndim, token, _ = _shape_of(shape)
    filled = _strong(_array_like(type_of(fill_value)).dtype)
    return one_array(filled if dtype is None else _given_dtype(dtype), ndim, token)


@_handles(np.zeros_like, np.ones_like, np.empty_like)
def _zeros_like(a, dtype=None, *options, **keywords) -> Type:
    t = _array_like(type_of(a))
    if options or keywords or t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return UNKNOWN
    return one_array(_strong(t.dtype) if dtype is None else _given_dtype(dtype), t.ndim, t.shape)


@_handles(np.full_like)
def _full_like(a, fill_value, dtype=None, *options, **keywords) -> Type:
    return _zeros_like(a, dtype, *options, **keywords)


@_handles(np.array, np.asarray, np.copy)
def _asarray(a, dtype=None, *options, **keywords) -> Type:
    t = _array_like(type_of(a))
    if options or not set(keywords) <= {"copy", "order"}:
        return UNKNOWN
    result = _strong(t.dtype) if dtype is None else _given_dtype(dtype)
    if t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return Type(dtype=result)
    return one_array(result, t.ndim, t.shape)


@_handles(np.ascontiguousarray)
def _ascontiguousarray(a, dtype=None) -> Type:
    t = _asarray(a, dtype)
    return t if t.kind is Kind.ARRAY and t.ndim else Type(dtype=t.dtype)  # makes 0-d arrays 1-d


@_handles(np.eye, np.identity)
def _eye(n, *options, dtype=None, **keywords) -> Type:
    result = "float64" if dtype is None else _given_dtype(dtype)
    return one_array(None if options else result, 2, None if options or keywords else _square_of(n))


@_handles(np.result_type)
def _result_type(*arrays_) -> Type:
    """A dtype: an object that has no dtype, but is one, which is noted as if it had."""
    given = [type_of(a) for a in arrays_]
    return Type(Kind.OTHER, _promote([t.dtype for t in given]) if all(t.kind is Kind.ARRAY for t in given) else None)


def _square_of(n) -> tuple | None:
    shape = _shape_of(n)[1]
    return None if shape is None or len(shape) != 1 else shape * 2


@_handles(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0) -> Type:
    ends = [type_of(start), type_of(stop)]
    if not all(t.kind is Kind.NUMBER and t.is_real for t in ends) or dtype is not None or constant(axis) != 0:
        return UNKNOWN
    double = {t.dtype for t in ends} <= {"int", "float", "bool", "int64", "float64"}
    points = one_array("float64" if double else REAL, 1)
    if constant(retstep) is True:
        return _several(points, Type(Kind.NUMBER, REAL, 0, ()))
    return points if constant(retstep) is False else UNKNOWN


@_handles(np.argsort, np.argpartition)
def _argsort(a, *options, axis=-1, **keywords) -> Type:
    t = type_of(a)
    known = t.kind is Kind.ARRAY and not options and axis == -1
    return Type(Kind.ARRAY, np.dtype(np.intp).name, t.ndim, t.shape) if known else UNKNOWN


@_handles(np.flatnonzero)
def _flatnonzero(a) -> Type:
    return one_array(np.dtype(np.intp).name, 1)


@_handles(np.arange)
def _arange(*args, **keywords) -> Type:
    types = [type_of(a) for a in args]
    plain = all(t.kind is Kind.NUMBER and t.is_real for t in types) and not keywords
    dtype = (_promote([t.dtype for t in types]) if plain else None) or None
    return one_array(dtype, 1, _shape_of(args[0])[1] if len(args) == 1 and dtype == np.dtype(int).name else None)


# --------------------------------------------------------------------------------- Python's own


@_handles(len, np.ndim, np.size, hash, id, int, ord)
def _integer(*args, **kwargs) -> Type:
    return INT


@_handles(float)
def _float(*args) -> Type:
    return FLOAT


@_handles(complex)
def _complex(*args, **kwargs) -> Type:
    return Type(Kind.NUMBER, "complex", 0, ())


@_handles(bool, isinstance, issubclass, callable, hasattr, all, any, np.isscalar, np.iscomplexobj, np.isrealobj)
@_handles(operator.is_, operator.is_not, operator.not_, np.allclose, np.array_equal)
def _bool(*args, **kwargs) -> Type:
    return BOOL


@_handles(operator.contains)
def _contains(container, item) -> Type:
    return BOOL


@_handles(slice)
def _slice(*bounds) -> Type:
    return Type(Kind.OTHER, cls=slice)


@_handles(str, repr, format, type, ascii, print)
def _other(*args, **kwargs) -> Type:
    return OTHER


@_handles(max, min)
def _extreme(*args, **kwargs) -> Type:
    types = [type_of(a) for a in args]
    if kwargs or len(types) < 2 or not all(t.kind is Kind.NUMBER for t in types):
        return UNKNOWN
    known = types[0]
    for t in types[1:]:
        known = join(known, t)
    return known


@_handles(np.shape)
def _shape(a) -> Type:
    t = type_of(a)
    if t.kind in (Kind.ARRAY, Kind.NUMBER) and t.ndim is not None:
        return Type(Kind.TUPLE, items=(INT,) * t.ndim)
    return Type(Kind.TUPLE, element=INT)


@_handles(getattr)
def _getattr(value, name, *default) -> Type:
    t, attribute = type_of(value), constant(name)
    if default:
        return UNKNOWN
    if t.kind is Kind.RECORD:
        return t.items[t.keys.index(attribute)] if t.keys is not None and attribute in t.keys else UNKNOWN
    if t.kind in (Kind.ARRAY, Kind.NUMBER):
        if attribute == "shape":
            return _shape(value)
        if attribute in ("ndim", "size", "itemsize", "nbytes"):
            return INT
        if attribute in ("real", "imag"):
            return _real(value)
        if attribute == "T":
            return _transpose(value)
        if attribute == "dtype":
            return Type(Kind.OTHER, t.dtype if t.kind is Kind.ARRAY and t.dtype != REAL else None)
    return UNKNOWN


# ----------------------------------------------------------------------------------------- indexing


@_handles(operator.getitem)
def _getitem(container, index) -> Type:
    t = type_of(container)
    if t.kind in (Kind.LIST, Kind.TUPLE) or (t.kind is Kind.RECORD and t.cls is not None and issubclass(t.cls, tuple)):
        return _element(t, index)
    if t.kind is Kind.DICT:
        key = constant(index)
        if t.keys is None:
            return UNKNOWN
        try:
            return t.items[t.keys.index(key)] if key in t.keys else _join_elements(t) or UNKNOWN
        except ValueError:
            return UNKNOWN
    if t.kind is Kind.ARRAY:
        return _indexed(t, index)
    return Type(dtype=t.dtype) if t.kind is Kind.UNKNOWN else UNKNOWN


def _element(t: Type, index) -> Type:
    place = constant(index)
    kind = Kind.TUPLE if t.kind is Kind.RECORD else t.kind
    if isinstance(place, slice):
        return Type(kind, element=t.element) if t.items is None else Type(kind, items=t.items[place])
    if isinstance(place, int) and t.items is not None:
        return t.items[place] if -len(t.items) <= place < len(t.items) else UNKNOWN
    if isinstance(index, ir.Code) and isinstance(index.node, gast.Slice):
        bounds = [b if b is None else _literal(b, _OPEN) for b in (index.node.lower, index.node.upper, index.node.step)]
        if t.items is not None and _OPEN not in bounds:
            return Type(kind, items=t.items[slice(*bounds)])
        return Type(kind, element=_join_elements(t))
    if place is _OPEN and type_of(index).kind is not Kind.NUMBER:
        return UNKNOWN  # may be a slice
    return _join_elements(t) or UNKNOWN


# What one entry of an index is: one of these, a slice (its bounds literal or _OPEN), or the type of an index array.
_INTEGER, _NEW, _ELLIPSIS = "integer", "new", "ellipsis"


def _indexed(t: Type, index) -> Type:
    entries = _entries(index)
    if entries is None or None in entries or t.ndim is None:
        return Type(dtype=t.dtype)
    consumed = sum([_consumed(entry) for entry in entries])
    if consumed > t.ndim:
        return UNKNOWN
    dotted = _ELLIPSIS in entries
    entries = entries if dotted else [*entries, _ELLIPSIS]
    is_advanced = any(isinstance(entry, Type) for entry in entries)
    shape: list = []
    chosen: list = []  # the shapes of the index arrays
    place, apart, last = None, False, None  # where their axes go; whether something stands between them
    axis = 0
    for i, entry in enumerate(entries):
        if entry is _ELLIPSIS:
            rest = t.ndim - consumed
            shape += axes_of(t)[axis : axis + rest]
            axis += rest
        elif entry is _NEW:
            shape.append(1)
        elif isinstance(entry, slice):
            n = axes_of(t)[axis]
            bounds = (entry.start, entry.stop, entry.step)
            shape.append(axes.ANY if _OPEN in bounds else axes.part(n, *bounds))
            axis += 1
        else:
            if is_advanced:
                place = len(shape) if place is None else place
                apart = apart or (last is not None and last != i - 1)
                last = i
            if isinstance(entry, Type):
                chosen.append((axes.ANY,) if entry.dtype == "bool" else axes_of(entry))
            axis += _consumed(entry)
    if is_advanced:
        place = 0 if apart else place
        shape[place:place] = axes.broadcast(chosen)
    if not shape:
        return Type(dtype=t.dtype) if dotted or is_advanced else Type(Kind.NUMBER, t.dtype, 0, ())
    return one_array(t.dtype, shape=tuple(shape))


def slices_of(index) -> list | None:
    """What a basic index takes of each axis: None for an integer, else the bounds of a slice.

    A bound is a literal, or what its code is made of: the syntax and the values that it reads. Ellipsis stands for
    bounds of which nothing is known. None where the index is something else.
    """
    if not isinstance(index, ir.Code):
        return None
    nodes = index.node.elts if isinstance(index.node, gast.Tuple) else [index.node]
    found: list = []
    for node in nodes:
        if isinstance(node, gast.Slice):
            bounds = tuple([_bound(b, index.reads) for b in (node.lower, node.upper, node.step)])
            found.append(Ellipsis if Ellipsis in bounds else bounds)
        elif _node_entry(node, index.reads) is _INTEGER:
            found.append(None)
        else:
            return None
    return found


_ONE_MORE = gast.dump(gast.BinOp("low", gast.Add(), gast.Constant(1, None)))


def is_single(bounds) -> bool:
    """Are the bounds those of ``i:i + 1``, which is one entry, or none?"""
    if bounds is Ellipsis or bounds[2] is not None or None in bounds[:2]:
        return False
    (low, reads), (high, others) = bounds[:2]
    return reads == others and high == _ONE_MORE.replace("'low'", low)


def _bound(node, reads: dict):
    """A bound of a slice as something that is equal where the bounds surely are."""
    parts = list(gast.walk(node)) if node is not None else []
    names = [part.id for part in parts if isinstance(part, gast.Name)]
    plain = gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop, gast.expr_context
    if not all(isinstance(part, plain) for part in parts) or not reads.keys() >= set(names):
        return Ellipsis
    if any(reads[name].type.kind is not Kind.NUMBER for name in names):
        return Ellipsis
    return None if node is None else (gast.dump(node), tuple([reads[name] for name in names]))


def _consumed(entry) -> int:
    """How many axes an entry of an index takes."""
    if entry is _NEW or entry is _ELLIPSIS:
        return 0
    return entry.ndim if isinstance(entry, Type) and entry.dtype == "bool" else 1


def _entries(index) -> list | None:
    """What each entry of an index is; None for an entry that is not known."""
    value = constant(index)
    if value is not _OPEN:
        values = value if isinstance(value, tuple) else (value,)
        return [_literal_entry(v) for v in values]
    if isinstance(index, ir.Code):
        node = index.node
        nodes = node.elts if isinstance(node, gast.Tuple) else [node]
        if len(nodes) == 1 and nodes[0] is node:
            by_type = _typed_entry(index.type)
            if by_type is not None:
                return [by_type]
            if index.type.kind is Kind.TUPLE and index.type.items is not None:
                return [_typed_entry(item) for item in index.type.items]
            if isinstance(node, gast.Name) and node.id in index.reads:
                return _entries(index.reads[node.id])
        return [_node_entry(n, index.reads) for n in nodes]
    t = type_of(index)
    if t.kind is Kind.TUPLE:
        return [_typed_entry(item) for item in t.items] if t.items is not None else None
    return [_typed_entry(t)]


def _literal_entry(value):
    if value is None:
        return _NEW
    if value is Ellipsis:
        return _ELLIPSIS
    return value if isinstance(value, slice) else _typed_entry(of(value))


def _typed_entry(t: Type):
    if t.kind is Kind.OTHER and t.cls is slice:
        return slice(_OPEN, _OPEN, _OPEN)
    t = _array_like(t)
    if t.dtype in (None, REAL):
        return None
    if t.dtype != "bool" and np.dtype(_weak_name(t.dtype)).kind not in "iu":
        return None
    if t.kind is Kind.NUMBER:
        return None if t.dtype == "bool" else _INTEGER
    if t.kind is Kind.ARRAY and t.ndim:
        return t
    return None


def _node_entry(node, reads):
    if isinstance(node, gast.Slice):
        return slice(*[None if b is None else _literal(b, _OPEN) for b in (node.lower, node.upper, node.step)])
    if isinstance(node, gast.Constant):
        return _literal_entry(node.value)
    if isinstance(node, gast.Attribute) and node.attr == "newaxis":
        return _NEW
    if isinstance(node, gast.Name):
        return _typed_entry(reads[node.id].type) if node.id in reads else None
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _node_entry(node.operand, reads)
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)):
        sides = {_node_entry(node.left, reads), _node_entry(node.right, reads)}
        return _INTEGER if sides == {_INTEGER} else None
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "len":
        return _INTEGER
    return None


# --------------------------------------------------------------------------------- several results


def _stacked(t: Type, ndim: int, dtype) -> Type:
    """One array of `ndim` axes per matrix of a stack of type `t`."""
    if t.ndim is None:
        return Type(dtype=dtype)
    ndim += t.ndim - 2
    return one_array(dtype, ndim) if ndim else Type(Kind.NUMBER, dtype, 0, ())


def _several(*types) -> Type:
    return Type(Kind.TUPLE, items=types)


@_handles(np.linalg.slogdet)
def _slogdet(a) -> Type:
    t = type_of(a)
    return _several(_stacked(t, 0, _averaged(t.dtype)), _stacked(t, 0, _modulus(t.dtype)))


@_handles(np.linalg.eigh)
def _eigh(a, UPLO="L") -> Type:  # noqa: N803
    t = type_of(a)
    return _several(_stacked(t, 1, _modulus(t.dtype)), _stacked(t, 2, _averaged(t.dtype)))


@_handles(np.linalg.qr)
def _qr(a, mode="reduced") -> Type:
    t = type_of(a)
    if constant(mode) not in ("reduced", "complete"):
        return UNKNOWN
    return _several(_stacked(t, 2, _averaged(t.dtype)), _stacked(t, 2, _averaged(t.dtype)))


@_handles(np.linalg.svd)
def _svd(a, full_matrices=True, compute_uv=True, hermitian=False) -> Type:
    t = type_of(a)
    values = _stacked(t, 1, _modulus(t.dtype))
    if constant(compute_uv) is False:
        return values
    vectors = _stacked(t, 2, _averaged(t.dtype))
    return _several(vectors, values, vectors) if constant(compute_uv) is True else UNKNOWN


@_handles(np.modf)
def _modf(x) -> Type:
    kind, ndim, shape = _broadcast([_array_like(type_of(x))])
    part = Type(kind, _averaged(type_of(x).dtype), ndim, shape)
    return _several(part, part)


@_handles(np.divmod, builtins.divmod)
def _divmod(x, y) -> Type:
    return _several(infer(operator.floordiv, (x, y)), infer(operator.mod, (x, y)))


# --------------------------------------------------------------- the helpers of runtime/arrays.py


def _like_second(d, x, *others) -> Type:
    """A cotangent in the form of its argument: of its shape, its dtype where that is known."""
    t = type_of(x)
    if t.kind is Kind.ARRAY:
        return replace(t, shape=fresh() if t.shape is None else t.shape)
    return t


def _unbroadcast(g, x) -> Type:
    s, t = type_of(g), type_of(x)
    dtype = s.dtype if s.is_real or not t.is_real else None
    if dtype is None and t.is_real:
        dtype = REAL
    if t.kind is Kind.NUMBER and s.kind is Kind.NUMBER:
        return Type(Kind.NUMBER, dtype, 0, ())
    if t.kind is Kind.NUMBER:
        return Type(dtype=_strong(dtype))
    return Type(t.kind, dtype, t.ndim, t.shape) if t.kind is Kind.ARRAY else Type(dtype=dtype)


def _guarded(g, d) -> Type:
    """`over` and `times`: as the operator, but arrays of dimension 0 may stand for numbers."""
    types = [type_of(g), type_of(d)]
    kind, ndim, shape = _broadcast(types)
    dtype = _resolve(np.divide, [t.dtype for t in types])
    if kind is Kind.NUMBER and all(t.dtype == "float" for t in types):
        return FLOAT
    if kind is Kind.NUMBER:
        return Type(dtype=REAL if dtype and all(t.is_real for t in types) else None)
    return Type(kind, dtype, ndim, shape)


def _where_less(g, x, y) -> Type:
    types = [type_of(g), type_of(x), type_of(y)]
    kind, ndim, shape = _broadcast(types)
    if kind is Kind.NUMBER and not all(t.dtype == "float" for t in types):
        return Type(dtype=REAL if types[0].is_real else None)
    return Type(kind, types[0].dtype, ndim, shape)


def _reached(x, top) -> Type:
    kind, ndim, shape = _broadcast([type_of(x), type_of(top)])
    return Type(kind, "bool", ndim, shape)


def _hit_count(hits, axis, x) -> Type:
    return _reduced(hits, axis, ir.Constant(constant(axis) is not None), _strong(_array_like(type_of(x)).dtype))


_HELPERS = {
    "where_less": _where_less,
    "reached": _reached,
    "hit_count": _hit_count,
    "unbroadcast": _unbroadcast,
    "over": _guarded,
    "times": _guarded,
    "as_gradient": _like_second,
}
for _name, _handler in _HELPERS.items():
    if hasattr(arrays, _name):
        _HANDLERS[getattr(arrays, _name)] = _handler
