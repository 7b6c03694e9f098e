"""``torch.nn``: names only."""

from s2sgrad.runtime.eager import ops as _ops  # noqa: F401
from s2sgrad.runtime.eager.modules import MODULES as _MODULES
from s2sgrad.runtime.eager.tensor import Parameter
from s2sgrad.torch.nn import functional

globals().update(_MODULES)

__all__ = [*_MODULES, "Parameter", "functional"]
