"""The type of a call's result: a handler for each function, ufuncs and operators by NumPy's own promotion."""

import builtins
import functools
import operator
from dataclasses import replace

import numpy as np

from s2sgrad.rules.table import lookup
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import layout
from s2sgrad.transform.analysis.types.objects import (
    BOOL,
    COMPLEX,
    DOUBLE,
    EITHER,
    INTEGRAL,
    REAL,
    SAMPLES,
    WAYS,
    WHOLE,
    join,
    join_dtype,
    join_elements,
    of,
    sequence,
)
from s2sgrad.transform.analysis.types.operands import OPEN, constant, type_of
from s2sgrad.transform.analysis.types.promotion import array_like, broadcast, given_dtype, resolve
from s2sgrad.transform.ir import FLOAT, INT, UNKNOWN, Kind, Type


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
    vague = [a for a in args if isinstance(a, (ir.Value, ir.Code)) and a.type.dtype in WAYS]
    if vague:
        chosen = [like(vague[0], dtype) for dtype in WAYS[vague[0].type.dtype]]
        ways = [tuple([new if a is vague[0] else a for a in args]) for new in chosen]
        return functools.reduce(join, [infer(function, way, kwargs) for way in ways])
    found = _infer(function, args, kwargs)
    return found if found is UNKNOWN else layout.of_result(function, args, kwargs, [type_of(a) for a in args], found)


def like(operand, dtype: str):
    """An operand of the type of another one, but of a dtype that is known."""
    t = replace(operand.type, dtype=dtype)
    return ir.Code(operand.node, operand.reads, t) if isinstance(operand, ir.Code) else ir.Value(operand.name, t)


def _infer(function, args: tuple, kwargs: dict) -> Type:
    try:
        handler = HANDLERS.get(function)
    except TypeError:
        return UNKNOWN
    if isinstance(kwargs.get("out"), (ir.Value, ir.Code)):
        return kwargs["out"].type if kwargs["out"].type.kind is Kind.ARRAY else UNKNOWN  # it is that array
    other = ("where", "subok") if isinstance(function, np.ufunc) else ("subok",)  # a sum of some is a sum
    if kwargs and any(isinstance(kwargs.get(name), (ir.Value, ir.Code)) for name in other):
        return UNKNOWN
    try:
        if handler is not None:
            return handler(*args, **kwargs)
        ufunc = OPERATORS.get(function) or (function if isinstance(function, np.ufunc) else None)
        if ufunc is not None:
            return _ufunc(function, ufunc, args, kwargs)
        if getattr(function, "__module__", None) == "math":
            return _math(function, args)
        if getattr(function, "__module__", None) == "cmath":
            return _cmath(function)
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
                types = [array_like(t) for t in types]
            else:
                return _container_operator(function, types)
        dtypes = [t.dtype for t in types]
        if all(t.kind is Kind.NUMBER and t.dtype in (*SAMPLES, REAL) for t in types):
            return _python_operator(function, args, dtypes)
        arithmetic = function not in _COMPARISONS and all(t.kind is Kind.NUMBER for t in types)
        if arithmetic and dtypes == ["complex", "float64"]:
            return Type(Kind.NUMBER, "complex", 0, ())  # a np.float64 is a float to Python's complex numbers
    else:
        types = [array_like(t) for t in types]
    if ufunc.nout != 1 or ufunc.signature is not None or len(args) != ufunc.nin:
        return UNKNOWN
    kind, ndim, shape = broadcast(types)
    dtype = given_dtype(kwargs["dtype"]) if "dtype" in kwargs else resolve(ufunc, [t.dtype for t in types])
    if function is operator.pow and types[0].dtype == "bool":  # the array method has integer loops of its own for it
        small = types[1].kind is Kind.NUMBER and types[1].dtype in ("int", "bool")
        dtype = INTEGRAL if small else REAL if all(t.is_real for t in types) else None
    if function is not ufunc and kind is Kind.NUMBER and all(t.dtype in SAMPLES for t in types):
        dtype = join_dtype(dtype, _python_operator(function, args, dtypes).dtype)  # what may be an array may be none
    return Type(kind, dtype, ndim, shape)


def _python_operator(function, args, dtypes) -> Type:
    """An operator on Python's own numbers, which has Python's meaning: ``1 / 2``, ``2 ** -1``, ``(-8.0) ** 0.5``."""
    is_complex = any(d.startswith("complex") for d in dtypes)
    is_power = function in (operator.pow, operator.ipow) and not is_complex
    if is_power and not _is_real_power(args, dtypes):
        return Type(Kind.NUMBER, None if REAL in dtypes else EITHER, 0, ())
    if is_power and "bool" in dtypes:
        return Type(Kind.NUMBER, REAL, 0, ())
    if is_power and dtypes[1] == "int" and constant(args[1]) is OPEN:
        return FLOAT if dtypes[0] == "float" else Type(Kind.NUMBER, REAL, 0, ())
    if REAL in dtypes:
        if is_complex:
            return Type(Kind.NUMBER, None, 0, ())
        return BOOL if function in _COMPARISONS else Type(Kind.NUMBER, REAL, 0, ())
    if is_power:
        exponent = constant(args[1])
        integer = dtypes[0] in ("int", "bool") and isinstance(exponent, int) and exponent >= 0
        return INT if integer else FLOAT
    try:
        found = of(function(*[SAMPLES[d] for d in dtypes]))
    except TypeError:
        return UNKNOWN
    return _of_either(found, dtypes) if "bool" in dtypes else found


def _of_either(t: Type, dtypes: list) -> Type:
    """The type of what an operator gives where truth values may be NumPy's, that is a `t` where they are Python's.

    The sum of two of NumPy's is another one, and one of them makes any other number NumPy's.
    """
    if t.dtype == "bool":
        return t
    alone = set(dtypes) == {"bool"}
    return replace(t, dtype=REAL if alone else {"int": WHOLE, "float": DOUBLE, "complex": COMPLEX}[t.dtype])


def _is_real_power(args, dtypes) -> bool:
    """Is a power of real numbers surely real? By whole numbers, and of numbers that are not negative."""
    base, exponent = map(constant, args)
    if dtypes[1] in ("int", "bool") or (isinstance(exponent, float) and exponent.is_integer()):
        return True
    return isinstance(base, (int, float)) and base >= 0


def _container_operator(function, types) -> Type:
    if function in _COMPARISONS:
        return BOOL if all(t.kind in (Kind.TUPLE, Kind.LIST, Kind.DICT, Kind.NUMBER) for t in types) else UNKNOWN
    if len(types) != 2:
        return UNKNOWN
    a, b = types
    if function is operator.add and a.kind is b.kind and a.kind in (Kind.LIST, Kind.TUPLE):
        if a.items is not None and b.items is not None:
            return sequence(a.kind, a.items + b.items)
        return Type(a.kind, element=join_elements(a, b))
    if function is operator.mul and a.kind in (Kind.LIST, Kind.TUPLE) and b.kind is Kind.NUMBER:
        return Type(a.kind, element=join_elements(a))
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


def _cmath(function) -> Type:
    name = function.__name__
    if name.startswith("is"):
        return BOOL
    if name == "polar":
        return Type(Kind.TUPLE, items=(FLOAT, FLOAT))
    return FLOAT if name == "phase" else Type(Kind.NUMBER, "complex", 0, ())


def _elementwise(args) -> Type:
    """A function of the rule table that is no ufunc: its dtype is the promotion of its arguments' inexact types."""
    types = [array_like(type_of(a)) for a in args]
    kind, ndim, shape = broadcast(types)
    real = all(t.is_real for t in types)
    return Type(kind if kind is Kind.ARRAY else Kind.UNKNOWN, REAL if real else None, ndim, shape)


OPERATORS = {
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
HANDLERS: dict = {}


def handles(*functions):
    def register(handler):
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register
