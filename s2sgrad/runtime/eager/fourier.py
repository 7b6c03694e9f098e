"""``torch.fft``: the transforms, their grids, and shifts."""

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, floating
from s2sgrad.runtime.eager.creation import made
from s2sgrad.runtime.eager.registry import FFT, fft


def _transform(name, title, kinds):
    function = getattr(np.fft, name)

    def prepared(input):
        x = floating(input)
        if x.is_complex() and "c" not in kinds:
            raise RuntimeError(f"{name} is of real tensors: take the real part, or use {name.removeprefix('r')}")
        return x

    def of_one(input, n=None, dim=-1, norm=None):
        return call(title, function, prepared(input), n, dim, norm)

    def of_several(input, s=None, dim=None, norm=None):
        return call(title, function, prepared(input), *_named(input, s, dim), norm)

    def of_two(input, s=None, dim=(-2, -1), norm=None):
        return of_several(input, s, dim, norm)

    forward = {"2": of_two, "n": of_several}.get(name[-1], of_one)
    forward.__name__ = forward.__qualname__ = name
    forward.__doc__ = f"The transform ``np.fft.{name}``."
    FFT[name] = forward


def _named(x, s, dim):
    """Lengths and axes as NumPy wants them: lengths with axes only, -1 for the length that is there."""
    if s is None:
        return None, dim
    axes = tuple(range(-len(s), 0)) if dim is None else dim
    return [x._a.shape[a] if n == -1 else n for n, a in zip(s, axes, strict=True)], axes


for _end in ("", "2", "n"):
    for _name, _title, _kinds in (
        ("fft", "FftC2C", "rc"),
        ("ifft", "FftC2C", "rc"),
        ("rfft", "FftR2C", "r"),
        ("irfft", "FftC2R", "rc"),
    ):
        _transform(_name + _end, _title, _kinds)
_OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


@fft()
def hfft(input, n=None, dim=-1, norm=None):
    """The transform of what is Hermitian in time: real in frequency."""
    return FFT["irfft"](input.conj(), n, dim, _OPPOSITE[norm])


@fft()
def ihfft(input, n=None, dim=-1, norm=None):
    """The inverse of `hfft`."""
    return FFT["rfft"](input, n, dim, _OPPOSITE[norm]).conj()


def _grid(name):
    function = getattr(np.fft, name)

    def forward(n, d=1.0, *, dtype=None, device=None, requires_grad=False):
        out = made(function(n, d).astype((dtypes.get_default_dtype() if dtype is None else dtype).numpy))
        return out.requires_grad_() if requires_grad else out

    forward.__name__ = forward.__qualname__ = name
    forward.__doc__ = f"The frequencies of ``np.fft.{name}``."
    FFT[name] = forward


_grid("fftfreq")
_grid("rfftfreq")


@fft()
def fftshift(input, dim=None):
    """The frequency zero in the middle."""
    return _turned(input, dim, lambda n: n // 2)


@fft()
def ifftshift(input, dim=None):
    """The frequency zero in front."""
    return _turned(input, dim, lambda n: -(n // 2))


def _turned(input, dim, steps):
    dims = range(input._a.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    return input.roll(tuple([steps(input._a.shape[d]) for d in dims]), tuple(dims))
