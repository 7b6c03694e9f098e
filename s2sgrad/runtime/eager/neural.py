"""``torch.nn.functional``: activations, layers, pooling, losses, as functions of tensors."""

import operator

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.eager.call import call, floating
from s2sgrad.runtime.eager.creation import _source, made
from s2sgrad.runtime.eager.elementwise import UNARY, clamp, where
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, nn
from s2sgrad.runtime.eager.tensor import new


@nn()
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """`input` where positive, scaled elsewhere."""
    return call("LeakyRelu", neural.leaky_relu, input, negative_slope)


@nn()
def relu6(input, inplace=False):
    """`input` within 0 and 6; no gradient at the bounds."""
    return call("Hardtanh", neural.open_clamp, input, 0.0, 6.0)


@nn()
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """`input` within bounds; no gradient at the bounds."""
    return call("Hardtanh", neural.open_clamp, input, min_val, max_val)


@nn()
def elu(input, alpha=1.0, inplace=False):
    """`input` where positive, ``alpha * (exp(input) - 1)`` elsewhere."""
    low = alpha * UNARY["expm1"](clamp(input, max=0.0))
    return where(input > 0, input, low)


@nn()
def softplus(input, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta * input)) / beta``."""
    if beta == 1:
        return call("Softplus", neural.softplus, floating(input))
    return call("Softplus", neural.softplus, floating(input) * beta) / beta


@nn("logsigmoid")
def logsigmoid(input):
    """The logarithm of `sigmoid`."""
    return -softplus(-input)


@nn("silu", "swish")
def silu(input, inplace=False):
    """``input * sigmoid(input)``."""
    return input * UNARY["sigmoid"](input)


@nn()
def mish(input, inplace=False):
    """``input * tanh(softplus(input))``."""
    return input * UNARY["tanh"](softplus(input))


@nn()
def gelu(input, approximate="none"):
    """``input`` times the normal distribution function."""
    if approximate == "tanh":
        inner = np.sqrt(2 / np.pi) * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + UNARY["tanh"](inner))
    return input * (0.5 * (1 + UNARY["erf"](input * float(1 / np.sqrt(2)))))


FUNCTIONS["logsigmoid"] = logsigmoid
FUNCTIONS["softplus"] = softplus


# ---------------------------------------------------------------- layers


@nn()
def linear(input, weight, bias=None):
    """``input @ weight.T + bias``."""
    out = input @ weight.t()
    return out if bias is None else out + bias


@nn()
def dropout(input, p=0.5, training=True, inplace=False):
    """Elements set to zero with a probability, the others scaled up."""
    if not training or p == 0:
        return input
    keep = _source(None).random(input._a.shape) >= p
    return input * made((keep / (1 - p)).astype(input._a.dtype))


@nn()
def embedding(input, weight, padding_idx=None, **options):
    """Rows of a table, by their numbers."""
    return weight[input]


@nn()
def one_hot(tensor, num_classes=-1):
    """Ones at the numbers of the classes."""
    n = int(tensor._a.max()) + 1 if num_classes == -1 else num_classes
    return new(np.eye(n, dtype=np.int64)[tensor._a], None)


@nn()
def pad(input, pad, mode="constant", value=0.0):
    """Elements around the tensor; `pad` counts from the last axis."""
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
    return (normalize(x1, dim=dim, eps=eps) * normalize(x2, dim=dim, eps=eps)).sum(dim)


@nn()
def softsign(input):
    """``x / (1 + |x|)``."""
    return input / (1 + input.abs())


@nn()
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Centred and scaled over the last axes."""
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - input.mean(dims, keepdim=True)
    out = centred * ((centred * centred).mean(dims, keepdim=True) + eps).rsqrt()
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


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
    x = pad(input, (p[1],) * 2 + (p[0],) * 2, value=-np.inf) if padding else input
    return _windows(x, kernel, _pair(stride or kernel), _pair(dilation)).flatten(-2).max(-1)[0]


@nn()
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of images with kernels."""
    p = _pair(padding)
    x = pad(input, (p[1],) * 2 + (p[0],) * 2) if padding else input
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
    out = conv2d(input.unsqueeze(-2), weight.unsqueeze(-2), bias, (1, stride), (0, padding), (1, dilation), groups)
    return out.squeeze(-2)


# ---------------------------------------------------------------- losses


def _reduced(x, reduction):
    if reduction == "none":
        return x
    if reduction not in ("mean", "sum"):
        raise ValueError(f"reduction is 'none', 'mean' or 'sum', not {reduction!r}")
    return x.mean() if reduction == "mean" else x.sum()


@nn()
def mse_loss(input, target, reduction="mean"):
    """The squared difference."""
    return _reduced((input - target) ** 2, reduction)


@nn()
def l1_loss(input, target, reduction="mean"):
    """The absolute difference."""
    return _reduced((input - target).abs(), reduction)


@nn()
def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    """The squared difference where small, the absolute one where large."""
    d = (input - target).abs()
    return _reduced(where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)


@nn()
def huber_loss(input, target, reduction="mean", delta=1.0):
    """The squared difference where small, the absolute one where large, of one slope where they meet."""
    return delta * smooth_l1_loss(input, target, reduction, delta)


@nn()
def kl_div(input, target, reduction="mean", log_target=False):
    """How far a distribution is from the one with the logarithms `input`."""
    if log_target:
        return _reduced(target.exp() * (target - input), reduction)
    return _reduced(FUNCTIONS["xlogy"](target, target) - target * input, reduction)


@nn()
def nll_loss(input, target, reduction="mean"):
    """Minus the logarithms of the probabilities of the targets."""
    return _reduced(-input.gather(1, target.unsqueeze(1)).squeeze(1), reduction)


@nn()
def cross_entropy(input, target, reduction="mean"):
    """`nll_loss` of `log_softmax`."""
    logs = NN["log_softmax"](input, 1)
    if target.is_floating_point():
        return _reduced(-(logs * target).sum(1), reduction)
    return nll_loss(logs, target, reduction)


@nn()
def binary_cross_entropy(input, target, reduction="mean"):
    """Minus the logarithms of probabilities of yes or no."""
    log = UNARY["log"]
    return _reduced(-(target * clamp(log(input), -100) + (1 - target) * clamp(log(1 - input), -100)), reduction)


@nn()
def binary_cross_entropy_with_logits(input, target, reduction="mean"):
    """`binary_cross_entropy` of `sigmoid`."""
    return _reduced(softplus(input) - input * target, reduction)
