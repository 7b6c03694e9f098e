"""``torch.linalg``: names only."""

from s2sgrad.runtime.eager import ops as _ops  # noqa: F401
from s2sgrad.runtime.eager.registry import LINALG as _LINALG

globals().update(_LINALG)

__all__ = list(_LINALG)
