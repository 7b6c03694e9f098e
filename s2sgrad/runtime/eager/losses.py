"""``torch.nn.functional``: losses."""

import math

import numpy as np

from s2sgrad.runtime.eager.activations import logsigmoid, soft
from s2sgrad.runtime.eager.comparing import clamp, clamp_min, where
from s2sgrad.runtime.eager.elementwise import UNARY
from s2sgrad.runtime.eager.naming import under
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, enter, nn
from s2sgrad.runtime.eager.statistics import pairwise_distance
from s2sgrad.runtime.eager.tensor import new


def _reduced(x, reduction):
    if reduction == "none":
        return x
    if reduction not in ("mean", "sum"):
        raise ValueError(f"reduction is 'none', 'mean' or 'sum', not {reduction!r}")
    return x.mean() if reduction == "mean" else x.sum()


@nn()
@under("MseLoss")
def mse_loss(input, target, reduction="mean"):
    """The squared difference."""
    return _reduced((input - target) ** 2, reduction)


@nn()
def l1_loss(input, target, reduction="mean"):
    """The absolute difference."""
    return _reduced((input - target).abs(), reduction)


@nn()
@under("SmoothL1Loss")
def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    """The squared difference where small, the absolute one where large."""
    difference = input - target
    d = difference.abs()
    squared = 0.5 * difference * difference  # of `d`, its curvature would be lost at 0
    return _reduced(where(d < beta, squared / beta, d - 0.5 * beta), reduction)


@nn()
@under("HuberLoss")
def huber_loss(input, target, reduction="mean", delta=1.0):
    """The squared difference where small, the absolute one where large, of one slope where they meet."""
    return delta * smooth_l1_loss(input, target, reduction, delta)


@nn()
def kl_div(input, target, reduction="mean", log_target=False):
    """How far a distribution is from the one with the logarithms `input`."""
    entropy = target.exp() * target if log_target else FUNCTIONS["xlogy"](target, target)
    loss = entropy - (target.exp() if log_target else target) * input
    return loss.sum() / loss._a.shape[0] if reduction == "batchmean" else _reduced(loss, reduction)


@nn()
@under("NllLoss")
def nll_loss(input, target, weight=None, *, ignore_index=-100, reduction="mean"):
    """Minus the logarithms of the probabilities of the targets, weighted by their classes."""
    axis = 1 if input._a.ndim > 1 else 0
    counts = target != ignore_index
    index = where(counts, target, 0)
    classes = input._a.shape[axis]
    for i in (index._a.min(initial=0), index._a.max(initial=0)):
        if not 0 <= i < classes:
            raise IndexError(f"target {i} is out of bounds: there are {classes} classes")
    loss = -input.gather(axis, index.unsqueeze(axis)).squeeze(axis)
    if weight is None and counts._a.all():
        return _reduced(loss, reduction)
    weights = counts.to(input.dtype) if weight is None else where(counts, weight[index], 0.0)
    loss = where(counts, loss, 0.0) * weights
    return loss.sum() / weights.sum() if reduction == "mean" else _reduced(loss, reduction)


@nn()
@under("NllLoss")
def cross_entropy(input, target, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """`nll_loss` of `log_softmax`; the targets are classes, or their probabilities."""
    axis = 1 if input._a.ndim > 1 else 0
    logs = NN["log_softmax"](input, axis)
    classes = input._a.shape[axis]
    by_class = None if weight is None else weight.reshape(-1, *[1] * (input._a.ndim - 1 - axis))
    if target.is_floating_point():
        target = target * (1 - label_smoothing) + label_smoothing / classes
        loss = -((logs if weight is None else logs * by_class) * target).sum(axis)
        return loss.sum() / (loss._a.size or 1) if reduction == "mean" else _reduced(loss, reduction)
    hard = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return hard
    counts = target != ignore_index
    smooth = where(counts, -(logs if weight is None else logs * by_class).sum(axis), 0.0)
    if reduction == "mean":
        total = counts.sum() if weight is None else where(counts, weight[where(counts, target, 0)], 0.0).sum()
        smooth = smooth.sum() / total
    else:
        smooth = _reduced(smooth, reduction)
    return (1 - label_smoothing) * hard + label_smoothing / classes * smooth


@nn()
@under("BinaryCrossEntropy")
def binary_cross_entropy(input, target, weight=None, *, reduction="mean"):
    """Minus the logarithms of probabilities of yes or no."""
    if not np.all((input._a >= 0) & (input._a <= 1)):
        raise RuntimeError("binary_cross_entropy: all elements of input should be between 0 and 1")
    log = UNARY["log"]
    loss = -(target * clamp(log(input), -100) + (1 - target) * clamp(log(1 - input), -100))
    return _reduced(loss if weight is None else loss * weight, reduction)


@nn()
@under("BinaryCrossEntropyWithLogits")
def binary_cross_entropy_with_logits(input, target, weight=None, *, reduction="mean", pos_weight=None):
    """`binary_cross_entropy` of `sigmoid`."""
    if pos_weight is None:
        loss = soft(input) - input * target
    else:
        loss = (1 - target) * input + (1 + (pos_weight - 1) * target) * soft(-input)
    return _reduced(loss if weight is None else loss * weight, reduction)


@nn()
@under("SoftMarginLoss")
def soft_margin_loss(input, target, reduction="mean"):
    """``log(1 + exp(-target * input))``, for targets of 1 and -1."""
    return _reduced(soft(-target * input), reduction)


@nn()
def margin_ranking_loss(input1, input2, target, margin=0.0, reduction="mean"):
    """By how much the first is not larger than the second, or not smaller where the target is -1."""
    return _reduced(clamp_min(-target * (input1 - input2) + margin, 0.0), reduction)


@nn()
def hinge_embedding_loss(input, target, margin=1.0, reduction="mean"):
    """`input` for targets of 1, how far it is below `margin` for targets of -1."""
    near = where(target == 1, input, 0.0)
    far = where(target == -1, clamp_min(margin - input, 0.0), 0.0)
    return _reduced(near + far, reduction)


@nn()
def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction="mean"):
    """How far an angle is from 0 for targets of 1, how far its cosine is above `margin` for targets of -1."""
    cosine = NN["cosine_similarity"](input1, input2, -1)
    return _reduced(where(target == 1, 1 - cosine, clamp_min(cosine - margin, 0.0)), reduction)


@nn()
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean"):
    """By how much the negative is not farther from the anchor than the positive."""
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = FUNCTIONS["minimum"](far, pairwise_distance(positive, negative, p, eps))
    return _reduced(clamp_min(near - far + margin, 0.0), reduction)


@nn()
def poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-8, reduction="mean"):
    """Minus the logarithms of Poisson probabilities."""
    log = UNARY["log"]
    loss = input.exp() - target * input if log_input else input - target * log(input + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        loss = loss + where(target > 1, stirling, 0.0)
    return _reduced(loss, reduction)


@nn()
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Minus the logarithms of normal densities."""
    var = where(var.detach() < eps, eps - var.detach() + var, var)
    loss = 0.5 * (UNARY["log"](var) + (input - target) ** 2 / var)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@nn()
def multilabel_soft_margin_loss(input, target, weight=None, reduction="mean"):
    """`binary_cross_entropy_with_logits`, averaged over the classes."""
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return _reduced(loss.mean(-1), reduction)


@nn()
@under("MultiMarginLoss")
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, reduction="mean"):
    """By how much other classes come within `margin` of the target's."""
    x = input if input._a.ndim == 2 else input.unsqueeze(0)
    target = target.reshape(-1, 1)
    gaps = UNARY["relu"](margin - x.gather(1, target) + x) ** p
    if weight is not None:
        gaps = gaps * weight[target]
    loss = gaps.scatter(1, target, 0.0).sum(1) / x._a.shape[1]
    return _reduced(loss if input._a.ndim == 2 else loss[0], reduction)


@nn()
def multilabel_margin_loss(input, target, reduction="mean"):
    """By how much other classes come within 1 of any of the targets', which a -1 ends."""
    x, y = (input, target) if input._a.ndim == 2 else (input.unsqueeze(0), target.unsqueeze(0))
    given = np.cumprod(y._a >= 0, axis=1).astype(bool)
    rows, order = np.nonzero(given)
    wanted = np.zeros(x._a.shape, bool)
    wanted[rows, y._a[rows, order]] = True
    own = x.gather(1, clamp(y, min=0)).unsqueeze(2)
    counts = new(given[:, :, None] & ~wanted[:, None, :], None)
    gaps = where(counts, UNARY["relu"](1 - own + x.unsqueeze(1)), 0.0).sum((1, 2)) / x._a.shape[1]
    return _reduced(gaps if input._a.ndim == 2 else gaps[0], reduction)


@nn()
def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """`triplet_margin_loss` with distances of another kind."""
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS["minimum"](far, distance(positive, negative))
    return _reduced(clamp_min(near - far + margin, 0.0), reduction)


for _name in ("margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss", "triplet_margin_loss", "kl_div"):
    enter(_name, NN[_name], method=False)
for _name in ("binary_cross_entropy_with_logits", "poisson_nll_loss"):
    enter(_name, NN[_name], method=False)
