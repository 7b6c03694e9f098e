"""``torch.special``: names only."""

from s2sgrad.runtime.eager import ops as _ops  # noqa: F401
from s2sgrad.runtime.eager.registry import SPECIAL as _SPECIAL

globals().update(_SPECIAL)

__all__ = list(_SPECIAL)
