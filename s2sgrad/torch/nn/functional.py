"""``torch.nn.functional``: names only."""

from s2sgrad.runtime.eager import ops as _ops  # noqa: F401
from s2sgrad.runtime.eager.registry import NN as _NN

globals().update(_NN)

__all__ = list(_NN)
