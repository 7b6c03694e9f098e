"""Elementwise operations: operators, functions of one and two tensors."""

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast, floating, of_one_type
from s2sgrad.runtime.eager.naming import under
from s2sgrad.runtime.eager.registry import enter, method, nn, op
from s2sgrad.runtime.eager.shortcuts import binary, reflected, unary
from s2sgrad.runtime.eager.tensor import Tensor, new, refresh

_PYTHON = (int, float, complex)
_NUMBERS = (*_PYTHON, np.number, np.bool_)


def promoting(x, y):
    """Operands of one type; the operands must broadcast."""
    if type(x) is type(y) is Tensor and x._a.dtype is y._a.dtype and x._a.shape == y._a.shape:
        return [x, y], dtypes.of(x._a.dtype)
    d = dtypes.result_type(x, y)
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        try:
            np.broadcast_shapes(x._a.shape, y._a.shape)
        except ValueError:
            raise RuntimeError(
                f"The size of tensor a {list(x._a.shape)} must match the size of tensor b {list(y._a.shape)}: "
                "dimensions must be equal or 1"
            ) from None
    return [_of_type(v, d) for v in (x, y)], d


def _of_type(v, d):
    """An operand in another type: of Python's integers as of the elements, the lowest bits stay."""
    if isinstance(v, Tensor):
        return cast(v, d)
    return np.asarray(v).astype(d.numpy)[()] if type(v) is int else np.asarray(v, d.numpy)[()]


def promoting_to_float(x, y):
    """Operands of one floating point or complex type."""
    both, d = promoting(x, y)
    if d.rank < 2:
        d = dtypes.get_default_dtype()
        both = [_of_type(v, d) for v in (x, y)]
    return both, d


def _subtractable(x, y):
    if any(v._a.dtype == bool if isinstance(v, Tensor) else isinstance(v, bool) for v in (x, y)):
        raise RuntimeError("subtraction of bool tensors is not defined: use logical_xor or ~")
    return promoting(x, y)


def _checked(f):
    """Refuse operands that are neither tensors nor numbers."""

    def forward(x, y):
        x, y = operand_of(x), operand_of(y)
        if type(x) is not Tensor and not isinstance(x, Tensor) and not isinstance(y, Tensor):
            raise TypeError("one of the operands must be a Tensor")
        return f(x, y)

    return forward


def operand_of(x):
    if type(x) is Tensor or isinstance(x, (Tensor, *_PYTHON)):
        return x
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        from s2sgrad.runtime.eager.creation import tensor

        return tensor(x)
    raise TypeError(f"unsupported operand of type {type(x).__name__}: Tensors and numbers are")


# ---------------------------------------------------------------- operators

_add = binary("Add", np.add, promoting)
_sub = binary("Sub", np.subtract, _subtractable)
_mul = binary("Mul", np.multiply, promoting)
_div = binary("Div", neural.quotient, promoting_to_float)
_pow = binary("Pow.1", np.power, promoting, 1, "Pow")
_maximum = binary("Maximum", np.maximum, promoting)
_minimum = binary("Minimum", np.minimum, promoting)


def _scaled(x, y, alpha):
    """`y` times `alpha`, in the type that it has beside `x`."""
    if alpha == 1 and type(alpha) is int:
        return y
    return mul(promoting(x, y)[0][1] if isinstance(y, Tensor) else y, alpha)


@op()
def add(input, other, *, alpha=1):
    """``input + alpha * other``."""
    x, y = operand_of(input), operand_of(other)
    return _add(x, _scaled(x, y, alpha))


@op("subtract")
def sub(input, other, *, alpha=1):
    """``input - alpha * other``."""
    x, y = operand_of(input), operand_of(other)
    return _sub(x, _scaled(x, y, alpha))


@op()
def rsub(input, other, *, alpha=1):
    """``other - alpha * input``."""
    if isinstance(other, Tensor):
        return sub(other, input, alpha=alpha)
    (y, x), _ = _subtractable(other, _scaled(other, operand_of(input), alpha))
    return call("Rsub.1", np.subtract, y, x)


@op("multiply")
def mul(input, other):
    """``input * other``."""
    return _mul(operand_of(input), operand_of(other))


@op("divide", "true_divide")
def div(input, other, *, rounding_mode=None):
    """``input / other``, or rounded to the integer below ("floor") or towards zero ("trunc")."""
    x, y = operand_of(input), operand_of(other)
    if rounding_mode is None:
        return _div(x, y)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(f"rounding_mode is None, 'floor' or 'trunc', not {rounding_mode!r}")
    (x, y), d = _divided(x, y)
    if d.rank < 2:
        out = np.floor_divide(array_of(x), array_of(y))
        if rounding_mode == "trunc":
            out = out + ((out < 0) & (out * array_of(y) != array_of(x)))
        return new(np.asarray(out, d.numpy), None)
    if rounding_mode == "floor":
        return call("Div", neural.floor_quotient, x, y)
    return trunc(_div(x, y))


def _divided(x, y):
    """`promoting`; integers are not divided by zero."""
    both, d = promoting(x, y)
    if d.rank == 0:
        raise NotImplementedError("division is not defined for bool tensors")
    if d.rank == 1 and not np.all(array_of(both[1])):
        raise RuntimeError("ZeroDivisionError: integers are divided by zero")
    return both, d


def array_of(x):
    return x._a if isinstance(x, Tensor) else x


@op()
def floor_divide(input, other):
    """``input // other``: no derivative flows through it."""
    (x, y), d = _divided(operand_of(input), operand_of(other))
    if d.is_complex:
        raise NotImplementedError(f"floor_divide is not defined for {d!r}")
    out = new(np.asarray(np.floor_divide(array_of(x), array_of(y))), None)
    return undifferentiable("floor_divide", out, (x, y))


def undifferentiable(name, out, inputs):
    """`out`, a result of an operation that has no derivative: an error where one is asked for."""
    tensors = [v for v in inputs if isinstance(v, Tensor)]
    if not any(t.requires_grad for t in tensors):
        return out
    from s2sgrad.runtime.eager.function import Function

    class Undifferentiable(Function):
        @staticmethod
        def forward(ctx, *tensors):
            return out

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError(f"derivative for {name} is not implemented: it is not differentiable")

    return Undifferentiable.apply(*tensors)


@op()
def remainder(input, other):
    """The remainder with the sign of `other`, as ``%``."""
    (x, y), _ = _divided(operand_of(input), operand_of(other))
    return call("Remainder.1" if isinstance(y, Tensor) else "Remainder", np.remainder, x, y)


@op()
def fmod(input, other):
    """The remainder with the sign of `input`."""
    (x, y), _ = _divided(operand_of(input), operand_of(other))
    return call("Fmod.1" if isinstance(y, Tensor) else "Fmod", np.fmod, x, y)


@op()
def float_power(input, exponent):
    """``input ** exponent`` in double precision."""
    x, y = [
        cast(v, dtypes.complex128 if v.is_complex() else dtypes.float64) if isinstance(v, Tensor) else v
        for v in (input, exponent)
    ]
    return pow(x, float(y) if isinstance(y, int) else y)


@op()
def pow(input, exponent):
    """``input ** exponent``."""
    x, y = operand_of(input), operand_of(exponent)
    if isinstance(y, int) and y < 0 and isinstance(x, Tensor) and x._a.dtype.kind in "iu":
        raise RuntimeError("integers to negative integer powers are not allowed: convert the base to floating point")
    d = dtypes.result_type(x, y)
    if d.rank == 0:
        raise NotImplementedError("pow is not defined for bool tensors")
    if d.rank == 1:
        return _integer_pow(x, y)
    return _pow(x, y) if isinstance(x, Tensor) else call("Pow.2", np.power, *promoting(x, y)[0])


def _integer_pow(x, y):
    """Integer powers; a negative one of anything but 1 and -1 is zero."""
    (x, y), _ = promoting(x, y)
    x, y = array_of(x), array_of(y)
    out = np.power(x, np.abs(y))
    return new(np.asarray(np.where((y < 0) & (np.abs(x) != 1), 0, out).astype(out.dtype)), None)


def _ordered(x):
    x = operand_of(x)
    if isinstance(x, Tensor) and x._a.dtype.kind == "c":
        raise RuntimeError("complex numbers have no order: maximum and minimum are not defined for them")
    return x


@op()
def maximum(input, other):
    """The larger of two, elementwise."""
    return _maximum(_ordered(input), _ordered(other))


@op()
def minimum(input, other):
    """The smaller of two, elementwise."""
    return _minimum(_ordered(input), _ordered(other))


for _name, _function, _title in (
    ("atan2", np.arctan2, "Atan2"),
    ("hypot", np.hypot, "Hypot"),
    ("logaddexp", np.logaddexp, "Logaddexp"),
):
    enter(_name, _checked(binary(_title, _function, promoting_to_float)))
enter("arctan2", Tensor.atan2)


@op()
def copysign(input, other):
    """The size of one with the sign of the other."""
    (x, y), _ = promoting_to_float(operand_of(input), operand_of(other))
    return call("Copysign", neural.copysign, x, y)


def as_reflected(f):
    return lambda self, other: f(other, self)


def as_operator(f):
    """The function as an operator: an operand that it does not know may know better."""

    def forward(self, other):
        if type(other) is not Tensor and not isinstance(other, (*_NUMBERS, Tensor, np.ndarray)):
            return NotImplemented
        return f(self, other)

    return forward


for _name, _function in (
    ("add", add),
    ("sub", sub),
    ("mul", mul),
    ("truediv", div),
    ("pow", pow),
    ("floordiv", floor_divide),
    ("mod", remainder),
):
    setattr(Tensor, f"__{_name}__", as_operator(_function))
    setattr(Tensor, f"__r{_name}__", as_operator(as_reflected(_function)))
Tensor.__rtruediv__ = as_operator(lambda self, other: UNARY["reciprocal"](self) * other)


# the common operands go the short way
for _name, *_options in (
    ("add", "Add", np.add, promoting),
    ("sub", "Sub", np.subtract, _subtractable),
    ("mul", "Mul", np.multiply, promoting),
    ("truediv", "Div", neural.quotient, promoting_to_float),
    ("pow", "Pow.1", np.power, promoting, 1, "Pow"),
):
    setattr(Tensor, f"__{_name}__", binary(*_options, otherwise=getattr(Tensor, f"__{_name}__")))
Tensor.__radd__, Tensor.__rmul__ = Tensor.__add__, Tensor.__mul__
Tensor.__rsub__ = reflected("Rsub.1", np.subtract, as_operator(rsub))

# ---------------------------------------------------------------- functions of one tensor

_UNARY = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sqrt": np.sqrt, "log1p": np.log1p,
    "expm1": np.expm1, "log2": np.log2, "log10": np.log10, "exp2": np.exp2,
    "sigmoid": neural.sigmoid, "rsqrt": neural.rsqrt, "erf": neural.erf, "erfc": neural.erfc, "logit": neural.logit,
    "deg2rad": np.deg2rad, "rad2deg": np.rad2deg, "sinc": np.sinc, "reciprocal": neural.reciprocal,
}  # fmt: skip
_SAME = {"neg": np.negative, "square": np.square, "relu": neural.relu}
_STEPS = {
    "floor": neural.floor, "ceil": neural.ceil, "trunc": neural.trunc, "round": neural.round_half_even,
    "sign": neural.sign,
}  # fmt: skip
_ALIASES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "negative": "neg", "fix": "trunc", "absolute": "abs", "expit": "sigmoid",
}  # fmt: skip
UNARY = {}  # name -> function, for the in-place variants and nn.functional


_TITLES = {"log1p": "Log1P", "deg2rad": "Deg2Rad", "rad2deg": "Rad2Deg", "square": "Pow"}
_NOT_OF = {
    "erf": "c", "erfc": "c", "logit": "c", "relu": "bc", "floor": "bc", "ceil": "bc", "trunc": "bc", "round": "bc",
    "sign": "c", "neg": "b", "abs": "b", "deg2rad": "c", "rad2deg": "c",
}  # fmt: skip
_NOT_ALLOWED = {("neg", "b"), ("relu", "b"), ("deg2rad", "c"), ("rad2deg", "c")}  # others are not implemented
_KINDS = {"b": "bool", "c": "complex"}


def _refusing(name, f):
    """`f`, saying so where it does not take a kind of elements."""
    kinds = _NOT_OF.get(name)
    if kinds is None:
        return f

    def forward(input):
        if isinstance(input, Tensor) and (kind := input._a.dtype.kind) in kinds:
            error = RuntimeError if (name, kind) in _NOT_ALLOWED else NotImplementedError
            raise error(f"{name} is not defined for {_KINDS[kind]} tensors")
        return f(input)

    return forward


def _entered(name, f):
    f.__name__ = f.__qualname__ = name
    UNARY[name] = enter(name, f)


def _keeping_type(name, function):
    title = _TITLES.get(name, name.capitalize())

    def general(input):
        if not isinstance(input, Tensor):
            raise TypeError(f"expected a Tensor, not {type(input).__name__}")
        refresh(input)
        if input._a.dtype.kind == "b":
            return cast(input, dtypes.int64) if name == "square" else input
        return call(title, function, input)

    return unary(title, function, _refusing(name, general))


def _made_floating(name, function):
    title = _TITLES.get(name, name.capitalize())
    return unary(title, function, _refusing(name, lambda input: call(title, function, floating(input))))


for _name, _function in _UNARY.items():
    _entered(_name, _made_floating(_name, _function))
for _name, _function in {**_SAME, **_STEPS}.items():
    _entered(_name, _keeping_type(_name, _function))
trunc = UNARY["trunc"]


def abs(input):  # noqa: A001
    """The absolute value."""
    if isinstance(input, Tensor) and dtypes.differentiable(input._a.dtype) and input._a.dtype.kind != "c":
        return _magnitude(input)
    return call("Abs", np.absolute, input)


_magnitude = unary("Abs", neural.magnitude)


def sgn(input):
    """``z / |z|``, zero at zero."""
    return new(input._a.copy(), None) if input._a.dtype.kind == "b" else call("Sgn", neural.sgn, input)


_entered("abs", _refusing("abs", abs))
_entered("sgn", _refusing("sgn", sgn))
for _name, _function in _ALIASES.items():
    if _function in UNARY and _name != "expit":
        UNARY[_name] = enter(_name, UNARY[_function])

Tensor.__neg__ = UNARY["neg"]
Tensor.__abs__ = abs


@method("__pos__")
def positive(self):
    if self._a.dtype.kind == "b":
        raise RuntimeError("positive is not defined for bool tensors")
    return self


enter("positive", positive)


@op()
def round(input, *, decimals=0):
    """To the nearest integer, or to a number of decimals; halves to even."""
    if decimals == 0:
        return UNARY["round"](input)
    return div(UNARY["round"](mul(input, 10.0**decimals)), 10.0**decimals)


@op()
@under("Frac")
def frac(input):
    """The part behind the point."""
    if not dtypes.differentiable(input._a.dtype):
        raise NotImplementedError(f"frac is not defined for {input.dtype!r}: it is zero for whole numbers")
    return sub(input, trunc(input))


@op()
def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    """Numbers in place of nan and the infinities."""
    if input._a.dtype.kind == "c":
        raise RuntimeError("nan_to_num is not defined for complex tensors: their parts can be taken one by one")
    return call("NanToNum", np.nan_to_num, input, nan=nan, posinf=posinf, neginf=neginf)


@op()
@under("Lerp")
def lerp(input, end, weight):
    """``input + weight * (end - input)``."""
    of_one_type(*[x for x in (input, end, weight) if isinstance(x, Tensor)])
    return add(input, mul(sub(end, input), weight))


@op()
@under("Addcmul")
def addcmul(input, tensor1, tensor2, *, value=1):
    """``input + value * tensor1 * tensor2``."""
    (_, tensor1), _ = promoting(input, tensor1)
    return add(input, mul(tensor1, tensor2), alpha=value)


@op()
@under("Addcdiv")
def addcdiv(input, tensor1, tensor2, *, value=1):
    """``input + value * tensor1 / tensor2``."""
    if not any(dtypes.differentiable(x._a.dtype) for x in (tensor1, tensor2)):
        raise RuntimeError("addcdiv does not divide integers: convert one of the tensors to floating point")
    (_, tensor1), _ = promoting(input, tensor1)
    return add(input, div(tensor1, tensor2), alpha=value)


nn("sigmoid")(UNARY["sigmoid"])
nn("tanh")(UNARY["tanh"])
