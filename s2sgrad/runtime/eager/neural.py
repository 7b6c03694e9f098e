"""``torch.nn.functional``: layers and attention."""

import math

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call
from s2sgrad.runtime.eager.comparing import clamp, where
from s2sgrad.runtime.eager.creation import made, random_source
from s2sgrad.runtime.eager.modes import no_grad
from s2sgrad.runtime.eager.naming import under
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, enter, nn
from s2sgrad.runtime.eager.tensor import new

# ---------------------------------------------------------------- layers


@nn()
def linear(input, weight, bias=None):
    """``input @ weight.T + bias``."""
    out = input @ weight.t()
    return out if bias is None else _with_bias(out, bias) if out._a.ndim == 2 else out + bias


@under("Addmm")
def _with_bias(out, bias):
    return out + bias


@nn()
def dropout(input, p=0.5, training=True, inplace=False):
    """Elements set to zero with a probability, the others scaled up."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    keep = random_source(None).random(input._a.shape) >= p
    scale = made((keep / (1 - p if p < 1 else 1)).astype(input._a.dtype))
    return input.mul_(scale) if inplace else input * scale


def _of_channels(n):
    def forward(input, p=0.5, training=True, inplace=False):
        if not training:
            return input
        shape = [*input._a.shape[: input._a.ndim - n], *[1] * n]
        return input * dropout(new(np.ones(shape, input._a.dtype), None), p)

    forward.__doc__ = f"Channels of {n} axes set to zero with a probability, the others scaled up."
    return nn(f"dropout{n}d")(forward)


for _n in (1, 2, 3):
    _of_channels(_n)


@nn()
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Elements set to the limit of `selu` with a probability, so that a mean of 0 and a variance of 1 stay."""
    return _alpha_dropout(input, p, training, input._a.shape)


@nn()
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """`alpha_dropout` of whole channels."""
    return _alpha_dropout(input, p, training, [*input._a.shape[:2], *[1] * (input._a.ndim - 2)])


def _alpha_dropout(input, p, training, shape):
    if not training or p == 0:
        return input
    limit = -1.7580993408473766
    scale = 1 / math.sqrt((1 - p) * (1 + p * limit**2)) if p < 1 else 0.0
    keep = new(random_source(None).random(shape) >= p, None)
    return scale * (where(keep, input, limit) - p * limit)


@nn()
def gumbel_softmax(logits, tau=1.0, hard=False, eps=1e-10, dim=-1):
    """`softmax` of logits with random numbers added: a sample of classes that a gradient flows through."""
    noise = new(random_source(None).gumbel(size=logits._a.shape).astype(logits._a.dtype), None)
    soft = NN["softmax"]((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, True)[1]
    return (soft * 0).detach().scatter(dim, index, 1.0) - soft.detach() + soft


@nn()
def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Sums, means or the largest of rows of a table, of each bag of numbers."""
    if padding_idx is not None:
        raise NotImplementedError("embedding_bag: padding_idx is left out")
    if offsets is None:
        bags = list(zip(input, [None] * len(input) if per_sample_weights is None else per_sample_weights, strict=True))
    else:
        ends = [*offsets.tolist(), *([] if include_last_offset else [input._a.size])]
        spans = [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]
        bags = [(input[s], None if per_sample_weights is None else per_sample_weights[s]) for s in spans]
    return FUNCTIONS["stack"]([_bag(numbers, weight, max_norm, norm_type, mode, w) for numbers, w in bags])


def _bag(numbers, weight, max_norm, norm_type, mode, weights):
    rows = embedding(numbers, weight, None, max_norm, norm_type)
    if weights is not None:
        if mode != "sum":
            raise NotImplementedError("embedding_bag: per_sample_weights go with mode='sum' only")
        rows = rows * weights.unsqueeze(1)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, not {mode!r}")
    if mode == "sum" or not numbers._a.size:
        return rows.sum(0)
    return rows.mean(0) if mode == "mean" else rows.max(0)[0]


@nn()
@under("Embedding")
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
@under("NativeLayerNorm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Centred and scaled over the last axes."""
    shape = tuple(normalized_shape)
    if not shape or input._a.shape[-len(shape) :] != shape:
        raise RuntimeError(f"layer_norm: a tensor of shape {list(input._a.shape)} does not end with {list(shape)}")
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
    eps = dtypes.finfo(input._a.dtype).eps if eps is None else eps
    return _scaled(input * ((input * input).mean(dims, keepdim=True) + float(eps)).rsqrt(), weight, None)


@nn()
@under("NativeBatchNorm")
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
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if running_mean is not None or running_var is not None:
        raise NotImplementedError("instance_norm that updates running moments is left out: update them yourself")
    return _by_channel(_normalized(input, tuple(range(2, input._a.ndim)), eps), weight, bias)


@nn()
@under("NativeGroupNorm")
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


@nn()
def channel_shuffle(input, groups):
    """Channels in another order: the first of each group, the second of each, and so on."""
    return input.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)


for _f in (layer_norm, dropout, alpha_dropout, feature_alpha_dropout, cosine_similarity, channel_shuffle):
    enter(_f.__name__, _f, method=False)
enter("embedding", lambda weight, indices, *args: embedding(indices, weight, *args), method=False)
for _f in (rms_norm, batch_norm, instance_norm, group_norm, bilinear, pixel_shuffle, pixel_unshuffle):
    enter(_f.__name__, _f, method=False)
