"""Tensors with the names of torch, on NumPy arrays: ``import s2sgrad.torch as torch``.

Names only: what they stand for lives in ``s2sgrad.runtime.eager``. Where something behaves otherwise than
in torch, ``docs/torch.md`` says so and why.
"""

from s2sgrad.runtime.eager import ops as _ops  # noqa: F401
from s2sgrad.runtime.eager.creation import Generator
from s2sgrad.runtime.eager.dtypes import (
    ALL as _ALL,
)
from s2sgrad.runtime.eager.dtypes import (
    bool_ as bool,  # noqa: A001
)
from s2sgrad.runtime.eager.dtypes import (
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    set_default_dtype,
)
from s2sgrad.runtime.eager.methods import Device as device
from s2sgrad.runtime.eager.methods import Layout as layout
from s2sgrad.runtime.eager.modes import (
    enable_grad,
    inference_mode,
    is_inference,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from s2sgrad.runtime.eager.registry import FUNCTIONS as _FUNCTIONS
from s2sgrad.runtime.eager.shapes import CONTIGUOUS as _CONTIGUOUS
from s2sgrad.runtime.eager.shapes import PRESERVE as _PRESERVE
from s2sgrad.runtime.eager.tensor import Size, Tensor
from s2sgrad.runtime.grad_mode import is_grad_enabled
from s2sgrad.torch import autograd, cuda, fft, linalg, nn, special

globals().update({d.name: d for d in _ALL if d.name != "bool"})
globals().update(_FUNCTIONS)
half, float, double = float16, float32, float64  # noqa: A001, F821
short, int, long = int16, int32, int64  # noqa: A001, F821
cfloat, cdouble = complex64, complex128  # noqa: F821

inf, nan, pi, e = [__import__("math").__dict__[name] for name in ("inf", "nan", "pi", "e")]
newaxis = None
contiguous_format, preserve_format = _CONTIGUOUS, _PRESERVE
strided = Tensor.layout
__version__ = "2.13"


__all__ = [
    *[d.name for d in _ALL],
    *_FUNCTIONS,
    "Generator",
    "Size",
    "Tensor",
    "autograd",
    "bool",
    "cuda",
    "device",
    "dtype",
    "enable_grad",
    "fft",
    "finfo",
    "get_default_dtype",
    "iinfo",
    "inference_mode",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "layout",
    "linalg",
    "nn",
    "no_grad",
    "set_default_dtype",
    "set_grad_enabled",
    "special",
]
