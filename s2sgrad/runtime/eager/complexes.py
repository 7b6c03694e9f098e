"""Complex numbers: their parts, and tensors put together of them."""

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.rules.placing import complex_of, complex_of_pairs, pairs_of
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, floating
from s2sgrad.runtime.eager.elementwise import UNARY, mul
from s2sgrad.runtime.eager.registry import enter, op
from s2sgrad.runtime.eager.tensor import Tensor, refresh


@op()
def real(input):
    """The real part: a view."""
    return call("Real", np.real, input) if input._a.dtype.kind == "c" else input


@op()
def imag(input):
    """The imaginary part: a view."""
    if input._a.dtype.kind != "c":
        raise RuntimeError("imag is of complex tensors only")
    return call("Imag", np.imag, input)


Tensor.real = property(real, lambda self, value: real(self).copy_(value))
Tensor.imag = property(imag, lambda self, value: imag(self).copy_(value))


@op("conj_physical", "resolve_conj", method=False)
def conj(input):
    """The complex conjugate."""
    return call("Conj", np.conjugate, input) if input._a.dtype.kind == "c" else input


Tensor.conj = Tensor.conj_physical = conj
Tensor.resolve_conj = Tensor.resolve_neg = lambda self: self
enter("is_conj", lambda input: False)  # conjugates are computed at once
enter("is_neg", lambda input: False)


@op("arg")
def angle(input):
    """The angle of complex numbers."""
    return call("Angle", neural.angle, floating(input))


@op(method=False)
def complex(real, imag):  # noqa: A001
    """A complex tensor of real and imaginary parts."""
    if real._a.dtype != imag._a.dtype:
        raise RuntimeError("real and imag must have the same dtype")
    return call("Complex", complex_of, real, imag)


@op(method=False)
def polar(abs, angle):
    """A complex tensor of absolute values and angles."""
    return complex(mul(abs, UNARY["cos"](angle)), mul(abs, UNARY["sin"](angle)))


@op()
def view_as_real(input):
    """Complex numbers as pairs of real ones: a view."""
    if not input.dtype.is_complex:
        raise RuntimeError(f"view_as_real is of complex tensors only, not of {input.dtype!r}")
    return call("ViewAsReal", pairs_of, input)


@op()
def view_as_complex(input):
    """Pairs of real numbers as complex ones: a view."""
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"view_as_complex is of float32 and float64 tensors only, not of {input.dtype!r}")
    refresh(input)
    a = input._a
    if a.ndim == 0 or a.shape[-1] != 2:
        raise RuntimeError(f"view_as_complex needs a last dimension of size 2, the tensor has shape {list(a.shape)}")
    if a.size and (a.strides[-1] != a.itemsize or any(s % (2 * a.itemsize) for s in a.strides[:-1])):
        raise RuntimeError("view_as_complex needs the two parts of each number side by side: use contiguous()")
    return call("ViewAsComplex", complex_of_pairs, input)


@op()
def is_complex(input):
    """Whether the elements are complex."""
    return input.dtype.is_complex


@op()
def is_floating_point(input):
    """Whether the elements are floating point numbers."""
    return input.dtype.is_floating_point
