"""The types of a tensor's elements, and which type an operation computes in.

Promotion asks for the *kind* first (bool, integer, float, complex). Within the highest kind, arrays with
axes decide before arrays without, and those before Python numbers: ``ones(2) * 0.1`` keeps its type.
"""

import ml_dtypes
import numpy as np


class dtype:  # noqa: N801 (the name users know)
    """The type of a tensor's elements."""

    __slots__ = ("name", "numpy", "rank", "is_floating_point", "is_complex", "is_signed", "itemsize")

    def __init__(self, name, numpy, rank):
        self.name = name
        self.numpy = np.dtype(numpy)
        self.rank = rank
        self.is_floating_point = rank == 2
        self.is_complex = rank == 3
        self.is_signed = self.numpy.kind != "u" and rank > 0
        self.itemsize = self.numpy.itemsize

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return of, (self.name,)

    @property
    def tensor_type(self):
        """The name that the type of tensors with such elements used to have."""
        return f"torch.{_OLD_NAMES[self.name]}Tensor"

    def to_complex(self):
        return self if self.is_complex else complex64 if self.itemsize <= 4 else complex128

    def to_real(self):
        return {"complex64": float32, "complex128": float64}.get(self.name, self)


_OLD_NAMES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip

bool_ = dtype("bool", np.bool_, 0)
uint8, int8 = dtype("uint8", np.uint8, 1), dtype("int8", np.int8, 1)
int16, int32, int64 = dtype("int16", np.int16, 1), dtype("int32", np.int32, 1), dtype("int64", np.int64, 1)
float16, bfloat16 = dtype("float16", np.float16, 2), dtype("bfloat16", ml_dtypes.bfloat16, 2)
float32, float64 = dtype("float32", np.float32, 2), dtype("float64", np.float64, 2)
complex64, complex128 = dtype("complex64", np.complex64, 3), dtype("complex128", np.complex128, 3)


class finfo:  # noqa: N801
    """What numbers of a floating point type are like; of a complex type, their parts."""

    def __init__(self, type=None):  # noqa: A002
        d = of(get_default_dtype() if type is None else type).to_real()
        if not d.is_floating_point:
            raise TypeError(f"finfo is of floating point types, not of {d!r}: use iinfo")
        of_numpy = ml_dtypes.finfo(d.numpy)  # which knows bfloat16, too
        for name in ("eps", "max", "min", "tiny", "smallest_normal", "resolution"):
            setattr(self, name, float(getattr(of_numpy, name)))
        self.bits, self.dtype, self.mantissa = of_numpy.bits, d.name, of_numpy.nmant

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801
    """The range of an integer type."""

    def __init__(self, type):  # noqa: A002
        d = of(type)
        if d.rank != 1:
            raise TypeError(f"iinfo is of integer types, not of {d!r}: use finfo")
        of_numpy = np.iinfo(d.numpy)
        self.bits, self.min, self.max, self.dtype = of_numpy.bits, int(of_numpy.min), int(of_numpy.max), d.name

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


ALL = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128)
_BY_NUMPY = {d.numpy: d for d in ALL}
_BY_NAME = {d.name: d for d in ALL}
_OTHERS = {np.dtype(np.uint16): int32, np.dtype(np.uint32): int64, np.dtype(np.uint64): int64}


class _Default:
    dtype = float32


def get_default_dtype():
    """The type of tensors made from Python floats."""
    return _Default.dtype


def set_default_dtype(d):
    """Set the type of tensors made from Python floats."""
    if not of(d).is_floating_point:
        raise TypeError(f"the default dtype must be a floating point type, not {d!r}")
    _Default.dtype = of(d)


def of(d):
    """Anything that names a type, as a `dtype`.

    Examples
    --------
    >>> of(np.float32), of("int64"), of(float)
    (torch.float32, torch.int64, torch.float32)
    """
    if type(d) is dtype:
        return d
    if d is float:
        return _Default.dtype
    if d is complex:
        return _Default.dtype.to_complex()
    found = _BY_NAME.get(d) if isinstance(d, str) else None
    if found is None:
        n = np.dtype(d)
        found = _BY_NUMPY.get(n) or _OTHERS.get(n)
    if found is None:
        raise TypeError(f"tensors cannot hold elements of type {d!r}: numbers and bools only")
    return found


def differentiable(n) -> bool:
    """Whether arrays of NumPy type `n` can carry a derivative."""
    return n.kind in "fc" or n == bfloat16.numpy


def of_number(x):
    """The type of a Python number."""
    kind = type(x)
    if kind is bool or isinstance(x, np.bool_):
        return bool_
    if isinstance(x, int | np.integer):
        return int64
    if isinstance(x, complex | np.complexfloating):
        return _Default.dtype.to_complex()
    return _Default.dtype


def promote(a, b):
    """The smallest type that holds both.

    Examples
    --------
    >>> promote(int64, float16), promote(uint8, int8), promote(float16, bfloat16)
    (torch.float16, torch.int16, torch.float32)
    """
    if a is b:
        return a
    if a.rank != b.rank:
        high, low = (a, b) if a.rank > b.rank else (b, a)
        if high.rank == 3 and low.rank == 2:
            return complex128 if low is float64 else high
        return high
    if {a, b} == {float16, bfloat16}:
        return float32
    if a.rank == 2:
        return a if a.itemsize >= b.itemsize else b
    return of(np.promote_types(a.numpy, b.numpy))


def result_type(*values):
    """The type that an operation on tensors and numbers computes in.

    Tensors are anything with ``dtype`` and ``ndim``; the rest are Python numbers.
    """
    shaped = scalar = number = None
    for v in values:
        a = getattr(v, "_a", None)
        if a is None:
            d = of_number(v)
            number = d if number is None else promote(number, d)
        elif a.ndim:
            d = of(a.dtype)
            shaped = d if shaped is None else promote(shaped, d)
        else:
            d = of(a.dtype)
            scalar = d if scalar is None else promote(scalar, d)
    out = shaped
    for weaker in (scalar, number):
        if weaker is None:
            continue
        if out is None:
            out = weaker
        elif weaker.rank > out.rank:
            out = out.to_complex() if weaker.rank == 3 and out.rank == 2 else weaker
    return out
