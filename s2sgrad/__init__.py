"""Gradients of plain NumPy programs, as readable Python source."""

from s2sgrad.api import (
    Derivative,
    elementwise_grad,
    grad,
    hessian,
    jacobian,
    stop_gradient,
    value_and_grad,
    vjp,
)
from s2sgrad.api.tensors import compile  # noqa: A004
from s2sgrad.errors import (
    ArgumentError,
    CompileError,
    ExportError,
    GradientCheckError,
    MissingRuleError,
    NonScalarError,
    S2SGradError,
    TapeError,
)
from s2sgrad.runtime.eager.function import Function
from s2sgrad.runtime.eager.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from s2sgrad.runtime.eager.ops import Tensor

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "CompileError",
    "Derivative",
    "ExportError",
    "Function",
    "GradientCheckError",
    "MissingRuleError",
    "NonScalarError",
    "S2SGradError",
    "TapeError",
    "Tensor",
    "compile",
    "elementwise_grad",
    "enable_grad",
    "grad",
    "hessian",
    "inference_mode",
    "jacobian",
    "no_grad",
    "set_grad_enabled",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
