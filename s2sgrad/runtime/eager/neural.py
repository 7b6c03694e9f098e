"""``torch.nn.functional``: layers, pooling, convolution, attention."""

import math
import operator

import numpy as np

from s2sgrad.runtime.eager.call import call
from s2sgrad.runtime.eager.comparing import clamp, where
from s2sgrad.runtime.eager.creation import _source, made
from s2sgrad.runtime.eager.modes import no_grad
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, enter, nn
from s2sgrad.runtime.eager.tensor import new

# ---------------------------------------------------------------- layers


@nn()
def linear(input, weight, bias=None):
    """``input @ weight.T + bias``."""
    out = input @ weight.t()
    return out if bias is None else out + bias


@nn()
def dropout(input, p=0.5, training=True, inplace=False):
    """Elements set to zero with a probability, the others scaled up."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    keep = _source(None).random(input._a.shape) >= p
    scale = made((keep / (1 - p if p < 1 else 1)).astype(input._a.dtype))
    return input.mul_(scale) if inplace else input * scale


@nn()
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of a table, by their numbers; nothing flows to the row of the number `padding_idx`."""
    if scale_grad_by_freq:
        raise NotImplementedError("embedding: scale_grad_by_freq is not supported")
    if input._a.size and input._a.min() < 0:
        raise IndexError(f"index {input._a.min()} is out of bounds: it may not be negative")
    if max_norm is not None:
        with no_grad():
            used = FUNCTIONS["unique"](input)
            weight[used] = weight[used].renorm(norm_type, 0, max_norm)
    rows = weight[input]
    if padding_idx is None:
        return rows
    padding = input == padding_idx % weight._a.shape[0]
    return where(padding.unsqueeze(-1), rows.detach(), rows) if padding._a.any() else rows


@nn()
def one_hot(tensor, num_classes=-1):
    """Ones at the numbers of the classes."""
    n = int(tensor._a.max()) + 1 if num_classes == -1 else num_classes
    return new(np.eye(n, dtype=np.int64)[tensor._a], None)


@nn()
def pad(input, pad, mode="constant", value=0.0):
    """Elements around the tensor; `pad` counts from the last axis."""
    if len(pad) % 2 or len(pad) > 2 * input._a.ndim:
        raise RuntimeError(f"padding of {len(pad)} numbers: two are needed for each axis, of {input._a.ndim} at most")
    widths = [(0, 0)] * input._a.ndim
    for i in range(len(pad) // 2):
        widths[-1 - i] = (pad[2 * i], pad[2 * i + 1])
    cut = tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(widths, input._a.shape, strict=True))
    if any(a < 0 or b < 0 for a, b in widths):
        input = input[cut]
        widths = [(max(0, a), max(0, b)) for a, b in widths]
    kinds = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    options = {"constant_values": value} if mode == "constant" else {}
    return call("ConstantPadNd", np.pad, input, widths, kinds[mode], **options)


FUNCTIONS["constant_pad_nd"] = pad


@nn()
def normalize(input, p=2.0, dim=1, eps=1e-12):
    """Scaled to norm 1 along an axis."""
    return input / clamp(input.norm(p, dim, True), eps)


@nn()
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along an axis."""
    x1, x2 = FUNCTIONS["broadcast_tensors"](x1, x2)
    return (normalize(x1, dim=dim, eps=eps) * normalize(x2, dim=dim, eps=eps)).sum(dim)


@nn()
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Centred and scaled over the last axes."""
    return _scaled(_normalized(input, tuple(range(-len(normalized_shape), 0)), eps), weight, bias)


def _normalized(x, dims, eps):
    """Centred and scaled over axes."""
    centred = x - x.mean(dims, keepdim=True)
    return centred * ((centred * centred).mean(dims, keepdim=True) + eps).rsqrt()


def _scaled(x, weight, bias):
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _by_channel(x, weight, bias):
    shape = (1, -1, *[1] * (x._a.ndim - 2))
    return _scaled(x, *[None if v is None else v.reshape(*shape) for v in (weight, bias)])


@nn()
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Scaled over the last axes to a root mean square of 1."""
    dims = tuple(range(-len(normalized_shape), 0))
    eps = np.finfo(input._a.dtype).eps if eps is None else eps
    return _scaled(input * ((input * input).mean(dims, keepdim=True) + float(eps)).rsqrt(), weight, None)


@nn()
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Centred and scaled over all axes but the second, by the batch's moments or by running ones."""
    dims = (0, *range(2, input._a.ndim))
    if not training:
        shape = (1, -1, *[1] * (input._a.ndim - 2))
        out = (input - running_mean.reshape(*shape)) * (running_var.reshape(*shape) + eps).rsqrt()
        return _by_channel(out, weight, bias)
    with no_grad():
        for running, moment in ((running_mean, input.mean(dims)), (running_var, input.var(dims))):
            if running is not None:
                running.mul_(1 - momentum).add_(momentum * moment)
    return _by_channel(_normalized(input, dims, eps), weight, bias)


@nn()
def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    """Centred and scaled over the axes behind the second, by the input's moments."""
    if not use_input_stats or running_mean is not None or running_var is not None:
        raise NotImplementedError("instance_norm with running moments is left out: normalise by the input's own")
    return _by_channel(_normalized(input, tuple(range(2, input._a.ndim)), eps), weight, bias)


@nn()
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Centred and scaled over groups of channels."""
    n, channels, *rest = input._a.shape
    if channels % num_groups:
        raise RuntimeError(f"group_norm: {channels} channels cannot be divided into {num_groups} groups")
    grouped = input.reshape(n, num_groups, -1)
    return _by_channel(_normalized(grouped, (-1,), eps).reshape(n, channels, *rest), weight, bias)


@nn()
def bilinear(input1, input2, weight, bias=None):
    """``input1 @ weight[k] @ input2`` for each ``k``."""
    out = FUNCTIONS["einsum"]("...i,kij,...j->...k", input1, weight, input2)
    return out if bias is None else out + bias


@nn()
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """``softmax(query @ key.mT * scale + mask) @ value``."""
    scale = 1 / math.sqrt(query._a.shape[-1]) if scale is None else scale
    if enable_gqa:
        times = query._a.shape[-3] // key._a.shape[-3]
        key, value = [t.repeat_interleave(times, -3) for t in (key, value)]
    weights = (query @ key.mT) * scale
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("scaled_dot_product_attention takes attn_mask or is_causal=True, not both")
        attn_mask = new(np.tril(np.ones(weights._a.shape[-2:], bool)), None)
    if attn_mask is not None:
        weights = where(attn_mask, weights, -math.inf) if attn_mask._a.dtype == bool else weights + attn_mask
    nothing = np.isneginf(weights._a).all(-1, keepdims=True)
    if nothing.any():  # nothing to look at: zero
        nothing = new(nothing, None)
        weights = where(nothing, 0.0, NN["softmax"](where(nothing, 0.0, weights), -1))
    else:
        weights = NN["softmax"](weights, -1)
    return (dropout(weights, dropout_p) if dropout_p else weights) @ value


@nn()
def pixel_shuffle(input, upscale_factor):
    """Channels spread over finer images."""
    *lead, c, h, w = input._a.shape
    r = upscale_factor
    out = input.reshape(*lead, c // (r * r), r, r, h, w)
    n = len(lead)
    return out.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


@nn()
def pixel_unshuffle(input, downscale_factor):
    """Images gathered into channels of coarser ones."""
    *lead, c, h, w = input._a.shape
    r = downscale_factor
    out = input.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    return out.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


for _f in (rms_norm, batch_norm, instance_norm, group_norm, bilinear, pixel_shuffle, pixel_unshuffle):
    enter(_f.__name__, _f, method=False)


# ---------------------------------------------------------------- windows


def _pair(v):
    return (v, v) if isinstance(v, int) else tuple(v)


def _windows(x, kernel, stride, dilation=(1, 1)):
    """All windows of the last two axes, by an index: shape ``(..., rows, columns, kh, kw)``."""
    (kh, kw), (sh, sw), (dh, dw) = kernel, stride, dilation
    h, w = x._a.shape[-2:]
    rows = (h - dh * (kh - 1) - 1) // sh + 1
    columns = (w - dw * (kw - 1) - 1) // sw + 1
    i = (np.arange(rows) * sh)[:, None] + np.arange(kh) * dh
    j = (np.arange(columns) * sw)[:, None] + np.arange(kw) * dw
    return call("Unfold", operator.getitem, x, (..., i[:, None, :, None], j[None, :, None, :]))


@nn()
def avg_pool2d(input, kernel_size, stride=None, padding=0):
    """Means over windows."""
    kernel = _pair(kernel_size)
    x = pad(input, (_pair(padding)[1],) * 2 + (_pair(padding)[0],) * 2) if padding else input
    return _windows(x, kernel, _pair(stride or kernel)).mean((-2, -1))


@nn()
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1):
    """The largest of windows; the first of equal ones takes the gradient."""
    kernel = _pair(kernel_size)
    p = _pair(padding)
    if any(2 * n > d * (k - 1) + 1 for n, k, d in zip(p, kernel, _pair(dilation), strict=True)):
        raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={padding}")
    x = pad(input, (p[1],) * 2 + (p[0],) * 2, value=-np.inf) if padding else input
    return _windows(x, kernel, _pair(stride or kernel), _pair(dilation)).flatten(-2).max(-1)[0]


@nn()
def avg_pool1d(input, kernel_size, stride=None, padding=0):
    """Means over windows of a sequence."""
    kernel, stride = (1, _one(kernel_size)), stride and (1, _one(stride))
    return avg_pool2d(input.unsqueeze(-2), kernel, stride, (0, _one(padding))).squeeze(-2)


@nn()
def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1):
    """The largest of windows of a sequence."""
    kernel, stride = (1, _one(kernel_size)), stride and (1, _one(stride))
    return max_pool2d(input.unsqueeze(-2), kernel, stride, (0, _one(padding)), (1, _one(dilation))).squeeze(-2)


def _one(v):
    return v if isinstance(v, int) else v[0]


def _around(padding, kernel, stride, dilation):
    """The widths that `pad` takes, of ``padding=`` of a convolution."""
    if padding == "valid":
        return (0, 0, 0, 0)
    if padding == "same":
        if stride != (1, 1):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        spread = [d * (n - 1) for d, n in zip(dilation, kernel, strict=True)]
        return tuple([w for n in reversed(spread) for w in (n // 2, n - n // 2)])
    if isinstance(padding, str):
        raise RuntimeError(f"padding is numbers, 'valid' or 'same', not {padding!r}")
    rows, columns = _pair(padding)
    return (columns, columns, rows, rows)


@nn()
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of images with kernels."""
    if input._a.ndim == 3:
        return conv2d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
    around = _around(padding, weight._a.shape[-2:], _pair(stride), _pair(dilation))
    x = pad(input, around) if any(around) else input
    w = _windows(x, weight._a.shape[-2:], _pair(stride), _pair(dilation))
    einsum = FUNCTIONS["einsum"]
    if groups == 1:
        out = einsum("ncijkl,ockl->noij", w, weight)
    else:
        n, _, i, j, k, m = w._a.shape
        w = w.reshape(n, groups, -1, i, j, k, m)
        v = weight.reshape(groups, -1, *weight._a.shape[1:])
        out = einsum("ngcijkl,gockl->ngoij", w, v).flatten(1, 2)
    return out if bias is None else out + bias.reshape(1, -1, 1, 1)


@nn()
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of sequences with kernels."""
    stride, dilation = [(1, n[0] if isinstance(n, tuple | list) else n) for n in (stride, dilation)]
    if not isinstance(padding, str):
        padding = (0, padding[0] if isinstance(padding, tuple | list) else padding)
    out = conv2d(input.unsqueeze(-2), weight.unsqueeze(-2), bias, stride, padding, dilation, groups)
    return out.squeeze(-2)
