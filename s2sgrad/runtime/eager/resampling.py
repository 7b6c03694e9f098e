"""``torch.nn.functional``: other sizes of sequences, images and volumes, one axis after the other."""

import math

import numpy as np

from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, nn
from s2sgrad.runtime.eager.tensor import new

# ---------------------------------------------------------------- adaptive pooling


def _sizes(input, output_size, n):
    wanted = (output_size,) * n if isinstance(output_size, int) else tuple(output_size) * (n // len(output_size))
    return [m if w is None else w for m, w in zip(input._a.shape[-n:], wanted, strict=True)]


def _ranges(n, count):
    """Where the windows that divide an axis of length `n` among `count` places begin and end."""
    i = np.arange(count)
    return i * n // count, -(-(i + 1) * n // count)


def _weighted(x, axis, weights):
    """`x` times a matrix of weights along an axis."""
    return (x.movedim(axis, -1) @ new(weights.T.astype(x._a.dtype), None)).movedim(-1, axis)


def _average(n):
    def pool(input, output_size):
        x = input
        for axis, count in zip(range(-n, 0), _sizes(input, output_size, n), strict=True):
            m = x._a.shape[axis]
            begin, end = _ranges(m, count)
            inside = (np.arange(m) >= begin[:, None]) & (np.arange(m) < end[:, None])
            x = _weighted(x, axis, inside / (end - begin)[:, None])
        return x

    pool.__doc__ = f"Means over windows that divide {n} axes among as many places as asked for."
    return nn(f"adaptive_avg_pool{n}d")(pool)


def _largest(n):
    def pool(input, output_size, return_indices=False):
        x, shape = input, input._a.shape
        places = np.broadcast_to(np.arange(math.prod(shape[-n:])).reshape(shape[-n:]), shape)
        for axis, count in reversed(list(zip(range(-n, 0), _sizes(input, output_size, n), strict=True))):
            begin, end = _ranges(x._a.shape[axis], count)
            table = np.minimum(begin[:, None] + np.arange((end - begin).max()), end[:, None] - 1)
            x, which = x.movedim(axis, -1)[..., new(table, None)].max(-1)
            places = np.moveaxis(places, axis, -1)[..., table]
            places = np.moveaxis(np.take_along_axis(places, which._a[..., None], -1)[..., 0], -1, axis)
            x = x.movedim(-1, axis)
        return (x, new(np.ascontiguousarray(places), None)) if return_indices else x

    def with_indices(input, output_size, return_indices=True):
        return pool(input, output_size, True)

    pool.__doc__ = f"The largest of windows that divide {n} axes among as many places as asked for."
    with_indices.__doc__ = f"`adaptive_max_pool{n}d`, and where in the input they are."
    nn(f"adaptive_max_pool{n}d_with_indices")(with_indices)
    return nn(f"adaptive_max_pool{n}d")(pool)


for _n in (1, 2, 3):
    _average(_n), _largest(_n)
FUNCTIONS["adaptive_avg_pool1d"] = NN["adaptive_avg_pool1d"]
FUNCTIONS["adaptive_max_pool1d"] = NN["adaptive_max_pool1d_with_indices"]

# ---------------------------------------------------------------- interpolation


def _nearest(n, count, step, aligned):
    return _rows(n, [(np.floor(np.arange(count) * step), 1.0)])


def _nearest_exact(n, count, step, aligned):
    return _rows(n, [(np.floor((np.arange(count) + 0.5) * step), 1.0)])


def _places(n, count, step, aligned):
    if aligned:
        return np.arange(count) * ((n - 1) / (count - 1) if count > 1 else 0.0)
    return (np.arange(count) + 0.5) * step - 0.5


def _linear(n, count, step, aligned):
    at = np.maximum(_places(n, count, step, aligned), 0)
    below = np.floor(at)
    return _rows(n, [(below, below + 1 - at), (below + 1, at - below)])


def _cubic(n, count, step, aligned):
    """The cubic convolution with the constant -3/4."""
    at = _places(n, count, step, aligned)
    below = np.floor(at)
    t = at - below
    near = [(1.25 * s - 2.25) * s * s + 1 for s in (t, 1 - t)]
    far = [((-0.75 * s + 3.75) * s - 6) * s + 3 for s in (1 + t, 2 - t)]
    return _rows(n, [(below - 1, far[0]), (below, near[0]), (below + 1, near[1]), (below + 2, far[1])])


def _rows(n, terms):
    """The matrix of weights; places beyond the ends are those at the ends."""
    count = len(terms[0][0])
    out = np.zeros((count, n))
    for places, weights in terms:
        np.add.at(out, (np.arange(count), np.clip(places, 0, n - 1).astype(int)), weights)
    return out


_MODES = {
    "nearest": _nearest, "nearest-exact": _nearest_exact, "linear": _linear, "bilinear": _linear,
    "trilinear": _linear, "bicubic": _cubic,
}  # fmt: skip
_AXES = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}


@nn()
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Another size, by the values in between."""
    n = input._a.ndim - 2
    if antialias:
        raise NotImplementedError("interpolate: antialias=True is left out")
    if mode not in (*_MODES, "area") or _AXES.get(mode, n) != n:
        raise NotImplementedError(f"interpolate: no mode {mode!r} for tensors of {input._a.ndim} dimensions")
    if align_corners is not None and mode not in _AXES:
        raise ValueError("align_corners goes with the modes linear, bilinear, trilinear and bicubic only")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: either size or scale_factor has to be given")
    lengths = input._a.shape[2:]
    if size is not None:
        counts = _sizes(input, size, n)
        steps = [m / count for m, count in zip(lengths, counts, strict=True)]
    else:
        factors = (scale_factor,) * n if isinstance(scale_factor, int | float) else tuple(scale_factor)
        counts = [math.floor(m * f) for m, f in zip(lengths, factors, strict=True)]
        steps = [1 / f for f in factors]
        if recompute_scale_factor:
            steps = [m / count for m, count in zip(lengths, counts, strict=True)]
    if mode == "area":
        return NN[f"adaptive_avg_pool{n}d"](input, counts)
    for axis, count, step in zip(range(2, n + 2), counts, steps, strict=True):
        input = _weighted(input, axis, _MODES[mode](input._a.shape[axis], count, step, bool(align_corners)))
    return input


@nn()
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` by its old name."""
    return interpolate(input, size, scale_factor, mode, align_corners)
