"""``torch.nn``: names only."""

from s2sgrad.runtime.eager.tensor import Parameter
from s2sgrad.torch.nn import functional

__all__ = ["Parameter", "functional"]
