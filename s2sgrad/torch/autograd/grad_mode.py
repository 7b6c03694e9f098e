"""``torch.autograd.grad_mode``: names only."""

from s2sgrad.runtime.eager.layout import enforce_grad_layout_policy
from s2sgrad.runtime.eager.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
