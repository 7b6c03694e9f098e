"""``torch.autograd.gradcheck``: names only."""

from s2sgrad.errors import GradcheckError
from s2sgrad.runtime.eager.gradcheck import gradcheck, gradgradcheck
from s2sgrad.runtime.eager.jacobians import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]
