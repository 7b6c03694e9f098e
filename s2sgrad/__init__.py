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
from s2sgrad.errors import (
    ArgumentError,
    CompileError,
    GradientCheckError,
    MissingRuleError,
    NonScalarError,
    S2SGradError,
    TapeError,
)

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "CompileError",
    "Derivative",
    "GradientCheckError",
    "MissingRuleError",
    "NonScalarError",
    "S2SGradError",
    "TapeError",
    "elementwise_grad",
    "grad",
    "hessian",
    "jacobian",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
