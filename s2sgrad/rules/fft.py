"""Derivatives of the Fourier transforms: linear maps whose adjoints are the transforms the other way.

The adjoint of a transform runs with the opposite normalization, on as many points; what padding added
is dropped again and what truncation dropped is zero. A half spectrum stands for its mirror image too:
`irfft` counts all but its ends twice.
"""

import numpy as np

from s2sgrad.errors import MissingRuleError
from s2sgrad.rules.table import linear
from s2sgrad.runtime.arrays import unbroadcast


def opposite(norm):
    """The normalization under which the inverse transform is the adjoint of the forward one."""
    if norm == "ortho":
        return "ortho"
    return "backward" if norm == "forward" else "forward"


def fitted(g, a, axes):
    """`g` cut, or padded with zeros, at the end of each axis to the length it has in `a`."""
    for axis in axes:
        n, m = np.shape(a)[axis], np.shape(g)[axis]
        if m > n:
            g = np.split(g, [n], axis)[0]
        elif m < n:
            g = np.pad(g, [(0, n - m) if i == axis % np.ndim(a) else (0, 0) for i in range(np.ndim(a))])
    return unbroadcast(g, a)


def transformed_axes(a, s, axes):
    """The axes of an n-dimensional transform."""
    if axes is not None:
        return axes
    return tuple(range(-np.ndim(a) if s is None else -len(s), 0))


def fft_adjoint(g, a, n=None, axis=-1, norm=None):
    return fitted(np.fft.ifft(g, axis=axis, norm=opposite(norm)), a, (axis,))


def ifft_adjoint(g, a, n=None, axis=-1, norm=None):
    return fitted(np.fft.fft(g, axis=axis, norm=opposite(norm)), a, (axis,))


def rfft_adjoint(g, a, n=None, axis=-1, norm=None):
    n = np.shape(a)[axis] if n is None else n
    return fitted(np.real(np.fft.ifft(g, n, axis, opposite(norm))), a, (axis,))


def twice_within(g, n, axis):
    """A half spectrum of `n` points with all but its ends counted twice."""
    k = np.arange(np.shape(g)[axis])
    weights = np.where((k == 0) | (2 * k == n), 1.0, 2.0).astype(np.real(g).dtype)
    return g * np.moveaxis(np.reshape(weights, (1,) * (np.ndim(g) - 1) + (-1,)), -1, axis)


def irfft_adjoint(g, a, n=None, axis=-1, norm=None):
    spectrum = np.fft.rfft(g, axis=axis, norm=opposite(norm))
    return fitted(twice_within(spectrum, np.shape(g)[axis], axis), a, (axis,))


def hfft_adjoint(g, a, n=None, axis=-1, norm=None):
    return np.conj(irfft_adjoint(g, a, n, axis, opposite(norm)))


def ihfft_adjoint(g, a, n=None, axis=-1, norm=None):
    return rfft_adjoint(np.conj(g), a, n, axis, opposite(norm))


def fftn_adjoint(g, a, s=None, axes=None, norm=None):
    axes = transformed_axes(a, s, axes)
    return fitted(np.fft.ifftn(g, axes=axes, norm=opposite(norm)), a, axes)


def ifftn_adjoint(g, a, s=None, axes=None, norm=None):
    axes = transformed_axes(a, s, axes)
    return fitted(np.fft.fftn(g, axes=axes, norm=opposite(norm)), a, axes)


def different_axes(a, s, axes):
    """The axes of a transform of which one is halved: it cannot be transformed again."""
    axes = transformed_axes(a, s, axes)
    if len({axis % np.ndim(a) for axis in axes}) < len(axes):
        raise MissingRuleError(
            "transforms between real and complex numbers that repeat an axis have no derivative rule"
        )
    return axes


def rfftn_adjoint(g, a, s=None, axes=None, norm=None):
    axes = different_axes(a, s, axes)
    n = np.shape(a)[axes[-1]] if s is None else s[-1]
    full = np.fft.ifft(g, n, axes[-1], opposite(norm))
    return fitted(np.real(np.fft.ifftn(full, axes=axes[:-1], norm=opposite(norm))), a, axes)


def irfftn_adjoint(g, a, s=None, axes=None, norm=None):
    axes = different_axes(a, s, axes)
    spectrum = np.fft.rfftn(g, axes=axes, norm=opposite(norm))
    return fitted(twice_within(spectrum, np.shape(g)[axes[-1]], axes[-1]), a, axes)


linear(np.fft.fft, fft_adjoint)
linear(np.fft.ifft, ifft_adjoint)
linear(np.fft.rfft, rfft_adjoint)
linear(np.fft.irfft, irfft_adjoint)
linear(np.fft.hfft, hfft_adjoint)
linear(np.fft.ihfft, ihfft_adjoint)
linear(np.fft.fftn, fftn_adjoint)
linear(np.fft.ifftn, ifftn_adjoint)
linear(np.fft.rfftn, rfftn_adjoint)
linear(np.fft.irfftn, irfftn_adjoint)
linear(np.fft.fft2, lambda g, a, s=None, axes=(-2, -1), norm=None: fftn_adjoint(g, a, s, axes, norm))
linear(np.fft.ifft2, lambda g, a, s=None, axes=(-2, -1), norm=None: ifftn_adjoint(g, a, s, axes, norm))
linear(np.fft.rfft2, lambda g, a, s=None, axes=(-2, -1), norm=None: rfftn_adjoint(g, a, s, axes, norm))
linear(np.fft.irfft2, lambda g, a, s=None, axes=(-2, -1), norm=None: irfftn_adjoint(g, a, s, axes, norm))
linear(np.fft.fftshift, lambda g, x, axes=None: np.fft.ifftshift(g, axes))
linear(np.fft.ifftshift, lambda g, x, axes=None: np.fft.fftshift(g, axes))
