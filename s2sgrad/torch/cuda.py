"""``torch.cuda``: names only. Tensors live on the CPU."""

from s2sgrad.runtime.eager.methods import cuda_device_count as device_count
from s2sgrad.runtime.eager.methods import cuda_is_available as is_available

__all__ = ["device_count", "is_available"]
