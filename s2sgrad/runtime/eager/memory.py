"""The memory that tensors lie in: storages, strides of the user's choice, buffers of other libraries."""

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.creation import made
from s2sgrad.runtime.eager.registry import method, op, sizes
from s2sgrad.runtime.eager.tensor import refresh


class Storage:
    """The memory that a tensor shares with its views.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> x = torch.zeros(4)
    >>> x[2:].untyped_storage().data_ptr() == x.data_ptr(), x[2:].untyped_storage().nbytes()
    (True, 16)
    """

    def __init__(self, a):
        while isinstance(a.base, np.ndarray):
            a = a.base
        self._owner = a

    def data_ptr(self):
        """The address of the memory."""
        return self._owner.__array_interface__["data"][0]

    def nbytes(self):
        """How many bytes there are."""
        return self._owner.nbytes

    size = __len__ = nbytes


@method("untyped_storage")
def untyped_storage(self):
    refresh(self)
    return Storage(self._a)


@method("is_set_to")
def is_set_to(self, tensor):
    """Whether both are the same elements of the same memory."""
    a, b = self._a, tensor._a
    return self.data_ptr() == tensor.data_ptr() and a.shape == b.shape and a.strides == b.strides


@op(method=False)
def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of the strides given, counted in elements; its content is not set."""
    d = (dtypes.get_default_dtype() if dtype is None else dtypes.of(dtype)).numpy
    shape, strides = sizes((size,)), sizes((stride,))
    if len(shape) != len(strides):
        raise RuntimeError(f"empty_strided: {len(shape)} sizes and {len(strides)} strides: one is needed for each")
    if any(n < 0 for n in shape + strides):
        raise RuntimeError("empty_strided: sizes and strides are not negative")
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if all(shape) else 0
    return made(np.ndarray(shape, d, np.empty(extent, d), 0, [s * d.itemsize for s in strides]), requires_grad, device)


@method("new_empty_strided")
def new_empty_strided(self, size, stride, dtype=None, device=None, requires_grad=False):
    return empty_strided(size, stride, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


@op(method=False)
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor on the memory of an object that shows its bytes: a copy where it may not be written."""
    try:
        a = np.frombuffer(buffer, dtypes.of(dtype).numpy, count, offset)
    except TypeError as error:
        raise ValueError(f"frombuffer: the object does not show its memory: {error}") from None
    return made(a if a.flags.writeable else a.copy(), requires_grad)


@op(method=False)
def from_dlpack(ext_tensor):
    """A tensor on the memory of another library's array."""
    return made(np.from_dlpack(ext_tensor))


@method("__dlpack__")
def dlpack(self, **kwargs):
    refresh(self)
    if self.requires_grad:
        raise BufferError("the memory of a Tensor that requires grad is not shown: use detach()")
    return self._a.__dlpack__(**kwargs)


@method("__dlpack_device__")
def dlpack_device(self):
    return self._a.__dlpack_device__()
