"""``torch.autograd``: names only."""

from s2sgrad.runtime.eager.backward import backward, grad
from s2sgrad.runtime.eager.function import Function, NestedIOFunction
from s2sgrad.runtime.eager.graph import Variable
from s2sgrad.runtime.eager.graph import deprecated_variable_function as variable
from s2sgrad.runtime.eager.layout import enforce_grad_layout_policy
from s2sgrad.runtime.eager.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from s2sgrad.torch.autograd import function, functional, grad_mode, graph
from s2sgrad.torch.autograd.gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "enable_grad",
    "enforce_grad_layout_policy",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
