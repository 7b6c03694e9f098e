"""Comparisons and logic, and what chooses by them: ``where``, ``clamp``, the larger of two."""

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast
from s2sgrad.runtime.eager.elementwise import (
    array_of,
    as_operator,
    as_reflected,
    maximum,
    minimum,
    operand_of,
    promoting,
    undifferentiable,
)
from s2sgrad.runtime.eager.registry import enter, method, op
from s2sgrad.runtime.eager.tensor import Tensor, new, refresh


def _plain(function, name, complex_too=True, of_integers=False):
    def forward(input, other):
        if isinstance(input, Tensor):  # the common operands: what NumPy compares as they are
            refresh(input)
            a = input._a
            if a.dtype.char in "df" and not of_integers:
                if type(other) is float:
                    return new(np.asarray(function(a, other)), None)
                if type(other) is Tensor and other._plain is a.dtype and other._a.shape == a.shape:
                    return new(np.asarray(function(a, other._a)), None)
        x, y = operand_of(input), operand_of(other)
        if not complex_too and any(
            v._a.dtype.kind == "c" if isinstance(v, Tensor) else type(v) is complex for v in (x, y)
        ):
            raise NotImplementedError(f"{name} is not defined for complex tensors: they have no order")
        (x, y), _ = promoting(x, y)
        for v in (x, y):
            if isinstance(v, Tensor):
                refresh(v)
        try:
            return new(np.asarray(function(array_of(x), array_of(y))), None)
        except TypeError:
            raise NotImplementedError(
                f"{name} is not defined for these types: {_described(x)} and {_described(y)}"
            ) from None

    return forward


def _described(v):
    return repr(v.dtype) if isinstance(v, Tensor) else type(v).__name__


for _name, _function, _complex in (
    ("lt", np.less, False),
    ("le", np.less_equal, False),
    ("gt", np.greater, False),
    ("ge", np.greater_equal, False),
    ("eq", np.equal, True),
    ("ne", np.not_equal, True),
):
    _f = enter(_name, _plain(_function, _name, _complex))
    setattr(Tensor, f"__{_name}__", as_operator(_f))
for _name, _function in (
    ("logical_and", np.logical_and),
    ("logical_or", np.logical_or),
    ("logical_xor", np.logical_xor),
    ("bitwise_and", np.bitwise_and),
    ("bitwise_or", np.bitwise_or),
    ("bitwise_xor", np.bitwise_xor),
):
    _f = enter(_name, _plain(_function, _name, of_integers=_name.startswith("bitwise")))
    if _name.startswith("bitwise"):
        _short = _name.removeprefix("bitwise_")
        setattr(Tensor, f"__{_short}__", as_operator(_f))
        setattr(Tensor, f"__r{_short}__", as_operator(as_reflected(_f)))
for _name, _alias in (
    ("greater", "gt"),
    ("less", "lt"),
    ("greater_equal", "ge"),
    ("less_equal", "le"),
    ("not_equal", "ne"),
):
    enter(_name, getattr(Tensor, _alias))
for _name, _function in (
    ("isnan", np.isnan),
    ("isinf", np.isinf),
    ("isfinite", np.isfinite),
    ("logical_not", np.logical_not),
    ("bitwise_not", np.bitwise_not),
    ("signbit", np.signbit),
):
    enter(_name, lambda input, _f=_function: new(np.asarray(_f(input._a)), None))
Tensor.__invert__ = Tensor.bitwise_not


def _tensors(*operands):
    for x in operands:
        if not isinstance(x, Tensor):
            raise TypeError(f"a Tensor is expected, not {type(x).__name__}")
        refresh(x)


@op(method=True)
def equal(input, other):
    """Whether two tensors have the same shape and elements."""
    _tensors(input, other)
    return input._a.shape == other._a.shape and bool(np.all(input._a == other._a))


@op()
def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether two tensors agree within tolerances."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._a))


@op()
def isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Where two tensors agree within tolerances."""
    _tensors(input, other)
    if input._a.dtype != other._a.dtype:
        raise RuntimeError(
            f"tensors of one type are compared within tolerances, not of {input.dtype!r} and {other.dtype!r}"
        )
    (x, y), _ = promoting(input, other)
    return new(np.asarray(np.isclose(x._a, y._a, rtol, atol, equal_nan)), None)


# ---------------------------------------------------------------- choices


@op(method=False)
def where(condition, input=None, other=None):
    """`input` where the condition holds, `other` elsewhere."""
    if input is None:
        from s2sgrad.runtime.eager.indexing import nonzero

        return nonzero(condition, as_tuple=True)
    if condition._a.dtype not in (np.bool_, np.uint8):
        raise RuntimeError(f"where: the condition is of bools, not of {condition.dtype!r}")
    (x, y), _ = promoting(operand_of(input), operand_of(other))
    return call("Where", np.where, condition, x, y)


@method("where")
def _where(self, condition, other):
    return where(condition, self, other)


@op()
def masked_fill(input, mask, value):
    """`input` with `value` where `mask` holds."""
    if mask._a.dtype != bool:
        raise RuntimeError(f"masked_fill: the mask is of bools, not of {mask.dtype!r}")
    if isinstance(value, complex) and input._a.dtype.kind != "c":
        raise RuntimeError(f"masked_fill: {value} is complex, the tensor is of {input.dtype!r}")
    v = value if isinstance(value, Tensor) else np.asarray(value, input._a.dtype)
    if np.ndim(v._a if isinstance(v, Tensor) else v):
        raise RuntimeError("masked_fill: the value is a number or a tensor without dimensions")
    return call("MaskedFill", np.where, mask, cast(v, input.dtype) if isinstance(v, Tensor) else v, input)


@op()
def heaviside(input, values):
    """0 below zero, 1 above, `values` at zero."""
    _tensors(input, values)
    if input._a.dtype != values._a.dtype or input._a.dtype.kind == "c":
        raise RuntimeError(f"heaviside is of two real tensors of one type, not of {input.dtype!r} and {values.dtype!r}")
    (x, y), d = promoting(input, values)
    return undifferentiable("heaviside", new(np.asarray(np.heaviside(x._a, y._a), d.numpy), None), (x, y))


def _comparable(*operands):
    _tensors(*operands)
    if any(x._a.dtype.kind == "c" for x in operands):
        raise RuntimeError("complex numbers have no order: fmax and fmin are not defined for them")


@op()
def fmax(input, other):
    """The larger of two, a number rather than nan; of equal ones, the first."""
    _comparable(input, other)
    return where((input >= other) | other.isnan(), input, other)


@op()
def fmin(input, other):
    """The smaller of two, a number rather than nan; of equal ones, the first."""
    _comparable(input, other)
    return where((input <= other) | other.isnan(), input, other)


@op("clip")
def clamp(input, min=None, max=None):
    """`input` within bounds. The gradient passes at the bounds themselves."""
    if min is None and max is None:
        raise RuntimeError("clamp needs at least one of min and max")
    if any(isinstance(v, Tensor) and v.dtype.is_complex for v in (input, min, max)):
        raise NotImplementedError("clamp is not defined for complex tensors: they have no order")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if min is not None:
            input = where(input >= min, input, min)
        return input if max is None else where(input <= max, input, max)
    return _clamped("Clamp.1", input, min, max)


def _clamped(name, input, min, max):
    d = dtypes.result_type(input, *[v for v in (min, max) if v is not None])
    return call(name, neural.clamp, cast(input, d), min, max)


@op()
def clamp_min(input, min):
    """`input`, at least `min`."""
    return maximum(input, min) if isinstance(min, Tensor) else _clamped("ClampMin", input, min, None)


@op()
def clamp_max(input, max):
    """`input`, at most `max`."""
    return minimum(input, max) if isinstance(max, Tensor) else _clamped("ClampMax", input, None, max)
