"""``torch.autograd.graph``: names only."""

from s2sgrad.runtime.eager.graph import GradientEdge, get_gradient_edge, increment_version
from s2sgrad.runtime.eager.hooks import register_multi_grad_hook
from s2sgrad.runtime.eager.node import AnyNode as Node
from s2sgrad.runtime.eager.saved import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
