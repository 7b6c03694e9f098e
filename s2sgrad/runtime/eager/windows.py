"""``torch.nn.functional``: pooling and convolution, of sequences, images and volumes."""

import math

import numpy as np

from s2sgrad.rules.placing import sliding
from s2sgrad.runtime.eager.call import call
from s2sgrad.runtime.eager.creation import zeros
from s2sgrad.runtime.eager.neural import pad
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, nn
from s2sgrad.runtime.eager.tensor import new


def _each(v, n):
    """One number for each of `n` axes."""
    return (v,) * n if isinstance(v, int) else tuple(v) * (n if len(v) == 1 else 1)


def _windows(x, kernel, stride, dilation):
    """All windows of the last axes: a view of shape ``(..., places in each axis, elements of each axis)``."""
    first = x._a.ndim - len(kernel)
    for i, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = call("Unfold", sliding, x, first + i, d * (k - 1) + 1, s)
        x = x if d == 1 else x[..., ::d]
    return x


def _widths(around):
    """Widths before and behind each axis, as `pad` takes them: the last axis first."""
    return tuple([w for pair in reversed(around) for w in pair])


# ---------------------------------------------------------------- pooling


class _Pool:
    """The places of the windows of a pool along each axis."""

    def __init__(self, shape, kernel_size, stride, padding, dilation, ceil_mode):
        n = len(shape)
        self.shape, self.kernel = shape, _each(kernel_size, n)
        self.stride = self.kernel if stride is None or stride == () else _each(stride, n)
        self.padding, self.dilation = _each(padding, n), _each(dilation, n)
        if any(2 * p > d * (k - 1) + 1 for p, k, d in zip(self.padding, self.kernel, self.dilation, strict=True)):
            raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={padding}")
        self.reach = [d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]
        self.counts = []
        for n, p, s, r in zip(shape, self.padding, self.stride, self.reach, strict=True):
            count = (n + 2 * p - r + (s - 1 if ceil_mode else 0)) // s + 1
            if ceil_mode and (count - 1) * s >= n + p:  # a window must begin in the input, or before it
                count -= 1
            if count < 1:
                raise RuntimeError(f"a window of {r} elements does not fit into {n} and a padding of {p}")
            self.counts.append(count)

    def windows(self, x, value):
        around = [
            (p, (count - 1) * s + r - n - p)
            for n, p, s, r, count in zip(self.shape, self.padding, self.stride, self.reach, self.counts, strict=True)
        ]
        if any(after or before for before, after in around):
            x = pad(x, _widths(around), value=value)
        return _windows(x, self.kernel, self.stride, self.dilation)

    def sizes(self, include_pad):
        """The number of elements in each window that count."""
        out = np.ones(())
        for n, p, s, r, count in zip(self.shape, self.padding, self.stride, self.reach, self.counts, strict=True):
            begin = np.arange(count) * s - p
            end = np.minimum(begin + r, n + p)
            if not include_pad:
                begin, end = np.maximum(begin, 0), np.minimum(end, n)
            out = np.multiply.outer(out, end - begin)
        return out

    def places(self, which):
        """The number in the input, in reading order, of the element `which` of each window."""
        out = 0
        offsets = np.unravel_index(which, self.kernel)
        rest = len(self.shape)
        for n, p, s, d, count, at in zip(
            self.shape, self.padding, self.stride, self.dilation, self.counts, offsets, strict=True
        ):
            rest -= 1
            begin = (np.arange(count) * s - p).reshape(-1, *[1] * rest)
            out = out * n + begin + at * d
        return out


def _average(n):
    def pool(
        input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        p = _Pool(input._a.shape[-n:], kernel_size, stride, padding, 1, ceil_mode)
        inner = tuple(range(-n, 0))
        if divisor_override is not None:
            return p.windows(input, 0.0).sum(inner) / divisor_override
        sizes = p.sizes(count_include_pad)
        if np.all(sizes == math.prod(p.kernel)):
            return p.windows(input, 0.0).mean(inner)
        return p.windows(input, 0.0).sum(inner) / new(sizes.astype(input._a.dtype), None)

    pool.__doc__ = f"Means over windows of {n} axes."
    return nn(f"avg_pool{n}d")(pool)


def _largest(n):
    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        p = _Pool(input._a.shape[-n:], kernel_size, stride, padding, dilation, ceil_mode)
        values, which = p.windows(input, -np.inf).flatten(-n).max(-1)
        return (values, new(p.places(which._a), None)) if return_indices else values

    def with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=True):
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    def unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel, padding = _each(kernel_size, n), _each(padding, n)
        stride = kernel if stride is None else _each(stride, n)
        shape = [
            (m - 1) * s - 2 * p + k for m, s, p, k in zip(input._a.shape[-n:], stride, padding, kernel, strict=True)
        ]
        shape = shape if output_size is None else output_size[-n:]
        lead = input._a.shape[:-n]
        empty = zeros(*lead, math.prod(shape), dtype=input.dtype)
        return empty.scatter(-1, indices.flatten(-n), input.flatten(-n)).reshape(*lead, *shape)

    pool.__doc__ = f"The largest of windows of {n} axes; the first of equal ones takes the gradient."
    with_indices.__doc__ = f"`max_pool{n}d`, and where in the input they are."
    unpool.__doc__ = f"The largest back at their places, zeros elsewhere: the way back of `max_pool{n}d`."
    nn(f"max_pool{n}d_with_indices")(with_indices)
    nn(f"max_unpool{n}d")(unpool)
    return nn(f"max_pool{n}d")(pool)


def _of_powers(n):
    average = NN[f"avg_pool{n}d"]

    def pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        power = float(norm_type)
        out = average(input**power, kernel_size, stride, 0, ceil_mode)
        return (out.sign() * out.abs().relu() * math.prod(_each(kernel_size, n))) ** (1 / power)

    pool.__doc__ = f"Norms of windows of {n} axes."
    nn(f"lp_pool{n}d")(pool)


for _n in (1, 2, 3):
    FUNCTIONS[f"avg_pool{_n}d"] = _average(_n)
    FUNCTIONS[f"max_pool{_n}d"] = _largest(_n)
    _of_powers(_n)
del FUNCTIONS["avg_pool2d"], FUNCTIONS["avg_pool3d"]


@nn()
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Scaled down by the mean square of the neighbouring channels."""
    squares = (input * input).movedim(1, -1)
    means = _windows(pad(squares, (size // 2, (size - 1) // 2)), (size,), (1,), (1,)).mean(-1)
    return input / (means.movedim(-1, 1) * alpha + k) ** beta


# ---------------------------------------------------------------- windows as columns


@nn()
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """All windows of images, as the columns of matrices."""
    p = _Pool(_padded_shape(input._a.shape[-2:], padding), kernel_size, _each(stride, 2), 0, dilation, False)
    x = pad(input, _widths([(w, w) for w in _each(padding, 2)]))
    windows = _windows(x, p.kernel, p.stride, p.dilation)
    lead = windows._a.ndim - 5
    out = windows.permute(*range(lead + 1), lead + 3, lead + 4, lead + 1, lead + 2)
    return out.reshape(*input._a.shape[:lead], -1, math.prod(p.counts))


def _padded_shape(shape, padding):
    return tuple([n + 2 * w for n, w in zip(shape, _each(padding, 2), strict=True)])


@nn()
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Images that the columns of matrices are added up to: what `unfold` took apart."""
    h, w = _padded_shape(_each(output_size, 2), padding)
    p = _Pool((h, w), kernel_size, _each(stride, 2), 0, dilation, False)
    i, j = [
        (np.arange(k) * d)[:, None] + np.arange(count) * s
        for k, d, count, s in zip(p.kernel, p.dilation, p.counts, p.stride, strict=True)
    ]
    places = i[:, None, :, None] * w + j[None, :, None, :]
    lead, channels = input._a.shape[:-2], input._a.shape[-2] // math.prod(p.kernel)
    flat = zeros(*lead, channels, h * w, dtype=input.dtype)
    flat = flat.index_add(-1, new(places.reshape(-1), None), input.reshape(*lead, channels, -1))
    return pad(flat.reshape(*lead, channels, h, w), _widths([(-q, -q) for q in _each(padding, 2)]))


# ---------------------------------------------------------------- convolution


def _around(padding, kernel, stride, dilation):
    """The widths before and behind each axis, of ``padding=`` of a convolution."""
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if padding == "same":
        if any(s != 1 for s in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        spread = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        return [(w // 2, w - w // 2) for w in spread]
    if isinstance(padding, str):
        raise RuntimeError(f"padding is numbers, 'valid' or 'same', not {padding!r}")
    return [(w, w) for w in _each(padding, len(kernel))]


def _convolution(n):
    places, inner = "xyz"[:n], "uvw"[:n]
    plain = f"nc{places}{inner},oc{inner}->no{places}"
    grouped = f"ngc{places}{inner},goc{inner}->ngo{places}"

    def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if input._a.ndim == n + 1:
            return conv(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
        kernel = weight._a.shape[2:]
        if input._a.ndim != n + 2 or weight._a.ndim != n + 2:
            raise RuntimeError(f"conv{n}d: images of {n} dimensions and channels are expected, and kernels for them")
        if input._a.shape[1] != weight._a.shape[1] * groups:
            raise RuntimeError(
                f"conv{n}d: {groups} groups of kernels for {weight._a.shape[1]} channels do not fit an input "
                f"of {input._a.shape[1]} channels"
            )
        stride, dilation = _each(stride, n), _each(dilation, n)
        around = _widths(_around(padding, kernel, stride, dilation))
        windows = _windows(pad(input, around) if any(around) else input, kernel, stride, dilation)
        if groups == 1:
            out = FUNCTIONS["einsum"](plain, windows, weight)
        else:
            windows = windows.unflatten(1, (groups, -1))
            out = FUNCTIONS["einsum"](grouped, windows, weight.unflatten(0, (groups, -1))).flatten(1, 2)
        return out if bias is None else out + bias.reshape(1, -1, *[1] * n)

    def transpose(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        if input._a.ndim == n + 1:
            return transpose(
                input.unsqueeze(0), weight, bias, stride, padding, output_padding, groups, dilation
            ).squeeze(0)
        stride, dilation, padding = _each(stride, n), _each(dilation, n), _each(padding, n)
        x = _spread(input, stride)
        x = pad(
            x,
            _widths(
                [
                    (d * (k - 1) - p, d * (k - 1) - p + more)
                    for k, d, p, more in zip(
                        weight._a.shape[2:], dilation, padding, _each(output_padding, n), strict=True
                    )
                ]
            ),
        )
        turned = weight.flip(tuple(range(2, n + 2))).unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1)
        return conv(x, turned, bias, 1, 0, dilation, groups)

    conv.__doc__ = f"Cross-correlation with kernels of {n} axes."
    transpose.__doc__ = f"The adjoint of `conv{n}d`: each element of the input times the kernels, added up."
    for name, function in ((f"conv{n}d", conv), (f"conv_transpose{n}d", transpose)):
        FUNCTIONS[name] = nn(name)(function)


def _spread(x, stride):
    """`x` with zeros between its elements."""
    for i, s in zip(range(-len(stride), 0), stride, strict=True):
        if s > 1:
            axis = x._a.ndim + i
            fine = pad(x.unsqueeze(axis + 1).movedim(axis + 1, -1), (0, s - 1)).movedim(-1, axis + 1)
            x = pad(fine.flatten(axis, axis + 1), (*[0] * (2 * (-i - 1)), 0, 1 - s))
    return x


for _n in (1, 2, 3):
    _convolution(_n)
