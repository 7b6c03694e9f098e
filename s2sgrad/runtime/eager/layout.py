"""The memory layout of a leaf's gradient: that of the leaf where the leaf is dense, rows first otherwise."""

import numpy as np

from s2sgrad.runtime.eager.modes import Context


class _Policy:
    enforced = True


class enforce_grad_layout_policy(Context):  # noqa: N801
    """Whether fresh gradients are brought into the layout of their leaf; at once, or within the context."""

    def __init__(self, enable=True):
        self.enable = enable
        self.was = _Policy.enforced
        _Policy.enforced = enable

    def __enter__(self):
        _Policy.enforced = self.enable

    def __exit__(self, *exc_info):
        _Policy.enforced = self.was

    def again(self):
        return enforce_grad_layout_policy(self.enable)


def dense(a) -> bool:
    """Whether the elements of `a` fill their memory without gaps or overlaps, in any order of axes."""
    if a.flags.c_contiguous or a.flags.f_contiguous:
        return True
    expected = a.itemsize
    for stride, n in sorted((s, n) for s, n in zip(a.strides, a.shape, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= n
    return True


def _like(a, dtype):
    return np.empty_like(a, dtype) if dense(a) else np.empty(a.shape, dtype)


def laid_out(g, a):
    """A copy of `g` in the layout that a gradient of `a` has."""
    out = _like(a, g.dtype)
    out[...] = g
    return out


def fresh(g, a, owned):
    """`g` as a gradient of `a` that shares memory with nothing; an `owned` one is taken as it is."""
    if owned and g.flags.writeable and (not _Policy.enforced or g.strides == a.strides and dense(a)):
        return g
    return laid_out(g, a)
