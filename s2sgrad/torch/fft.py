"""``torch.fft``: names only."""

from s2sgrad.runtime.eager import ops as _ops  # noqa: F401
from s2sgrad.runtime.eager.registry import FFT as _FFT

globals().update(_FFT)

__all__ = list(_FFT)
