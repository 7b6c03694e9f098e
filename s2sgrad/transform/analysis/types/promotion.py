"""The dtype and the shape of what operands are made by together, as NumPy promotes and broadcasts."""

import builtins
import functools

import gast
import numpy as np

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes
from s2sgrad.transform.analysis.axes import fresh
from s2sgrad.transform.analysis.types.objects import (
    BUILTIN_DTYPES,
    COMPLEX,
    DOUBLE,
    EITHER,
    REAL,
    WAYS,
    WEAK,
    WHOLE,
    WIDE,
    axes_of,
    dtype_name,
    join,
    join_dtype,
    join_elements,
    with_names,
)
from s2sgrad.transform.analysis.types.operands import constant
from s2sgrad.transform.ir import UNKNOWN, Kind, Type


def weak_name(dtype: str) -> str:
    """What a NumPy function makes of a Python number."""
    strong = {"float": "float64", DOUBLE: "float64", WIDE: REAL, "int": np.dtype(int).name, WHOLE: np.dtype(int).name}
    return {**strong, "complex": "complex128", COMPLEX: "complex128", EITHER: None}.get(dtype, dtype)


def agreed(dtypes: set) -> str | None:
    """The dtype that a result has on whichever way it is computed, of which these are the dtypes."""
    return functools.reduce(join_dtype, sorted(dtypes, key=str))


def on_all_ways(rule):
    """A rule that gives the dtype of a result from the dtype of an argument, for what may be of several."""

    @functools.wraps(rule)
    def applied(dtype):
        return agreed(set(map(rule, WAYS[dtype]))) if dtype in WAYS else rule(dtype)

    return applied


def resolve(ufunc, dtypes) -> str | None:
    """The dtype of a ufunc's (first) result, as NumPy itself promotes."""
    return _resolved(ufunc, tuple(dtypes))


@functools.cache
def _resolved(ufunc, dtypes: tuple) -> str | None:
    i = next((i for i, dtype in enumerate(dtypes) if dtype in WAYS), None)
    if i is not None:
        ways = {_resolved(ufunc, (*dtypes[:i], d, *dtypes[i + 1 :])) for d in WAYS[dtypes[i]]}
        return agreed(ways)
    if any(d is None for d in dtypes):
        if ufunc.nin == 2 and all(t[-1] == "?" for t in ufunc.types):
            return "bool"
        return None
    vague = REAL in dtypes
    given = [WEAK.get(d) or np.dtype("float64" if d == REAL else d) for d in dtypes]
    try:
        result = dtype_name(ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))[ufunc.nin])
    except TypeError:  # the call itself will fail, or gives objects
        return None
    if vague and result != "bool":
        return None if result is None or result.startswith("complex") else REAL
    return result


def array_like(t: Type) -> Type:
    """What ``np.asarray`` makes of a value of type `t`: lists and tuples of numbers become arrays."""
    if t.kind not in (Kind.LIST, Kind.TUPLE):
        return t
    element = join_elements(t)
    if element is None:
        return UNKNOWN
    elements = [array_like(item) for item in (t.items if t.items is not None else (element,))]
    inner = elements[0]
    for item in elements[1:]:
        inner = join(inner, item)
    dtype = promote([item.dtype for item in elements])
    if inner.kind not in (Kind.NUMBER, Kind.ARRAY) or inner.ndim is None:
        return Type(dtype=dtype)
    length = axes.ANY if t.items is None else len(t.items)
    return one_array(dtype, shape=(length, *axes_of(inner)))


def promote(dtypes) -> str | None:
    """The dtype of an array that holds values of these dtypes together."""
    if not dtypes or any(d is None for d in dtypes):
        return None
    vague = next((d for d in dtypes if d in WAYS), None)
    if vague is not None:
        rest = [d for d in dtypes if d != vague]
        return agreed({promote([*rest, d]) for d in WAYS[vague]})
    if REAL in dtypes:
        return None if any(d.startswith("complex") for d in dtypes) else REAL
    try:
        return dtype_name(np.result_type(*[np.dtype(weak_name(d)) for d in dtypes]))
    except TypeError:
        return None


def broadcast(types) -> tuple:
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


def strong(dtype):
    return dtype and weak_name(dtype)


def given_dtype(dtype) -> str | None:
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
        if isinstance(node, gast.Name) and node.id in BUILTIN_DTYPES and node.id not in dtype.reads:
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
