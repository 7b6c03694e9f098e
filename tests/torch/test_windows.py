"""Pooling, convolution and resampling, by loops and known values; what layers and losses there are besides."""

import math

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import gradcheck, gradgradcheck
from s2sgrad.torch.nn import functional

F64 = torch.float64
GENERATOR = np.random.default_rng(3)


def leaf(a):
    return torch.tensor(np.asarray(a, float), dtype=F64, requires_grad=True)


IMAGES, VOLUME, SERIES = GENERATOR.normal(size=(2, 2, 5, 4)), GENERATOR.normal(size=(1, 2, 3, 4, 3)), None
SERIES = GENERATOR.normal(size=(2, 2, 7))


def pooled(a, kernel, stride, padding, reduce, ceil_mode=False, include_pad=True):
    """Windows of the last two axes, one after another."""
    h, w = a.shape[-2:]
    shape = []
    for n, k, s, p in zip((h, w), kernel, stride, padding, strict=True):
        count = (n + 2 * p - k) / s + 1
        count = math.ceil(count) if ceil_mode else math.floor(count)
        shape.append(count - 1 if ceil_mode and (count - 1) * s >= n + p else count)
    out = np.zeros((*a.shape[:-2], *shape))
    for i in range(shape[0]):
        for j in range(shape[1]):
            top, left = i * stride[0] - padding[0], j * stride[1] - padding[1]
            bottom, right = min(top + kernel[0], h + padding[0]), min(left + kernel[1], w + padding[1])
            part = a[..., max(top, 0) : min(bottom, h), max(left, 0) : min(right, w)]
            size = (bottom - top) * (right - left) if include_pad else part.shape[-1] * part.shape[-2]
            out[..., i, j] = part.max((-2, -1)) if reduce == "max" else part.sum((-2, -1)) / size
    return out


POOLS = [
    dict(kernel_size=2),
    dict(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0)),
    dict(kernel_size=3, stride=2, ceil_mode=True),
    dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
]


@pytest.mark.parametrize("options", POOLS)
@pytest.mark.parametrize("kind", ["avg", "max", "avg without padding"])
def test_pools_of_images(options, kind):
    pair = {k: (v, v) if type(v) is int else v for k, v in options.items()}
    plain = pooled(
        IMAGES,
        pair["kernel_size"],
        pair.get("stride", pair["kernel_size"]),
        pair.get("padding", (0, 0)),
        kind[:3],
        options.get("ceil_mode", False),
        kind == "avg",
    )
    more = {"count_include_pad": False} if kind == "avg without padding" else {}
    function = functional.max_pool2d if kind == "max" else functional.avg_pool2d
    assert np.allclose(function(torch.tensor(IMAGES), **options, **more).tolist(), plain)
    assert gradcheck(lambda x: function(x, **options, **more), leaf(IMAGES[:1, :1]))


def test_pools_of_series_and_volumes():
    x, v = leaf(SERIES), leaf(VOLUME)
    assert np.allclose(
        functional.avg_pool1d(x, 3, 2).tolist(), [[[r[i : i + 3].mean() for i in (0, 2, 4)] for r in m] for m in SERIES]
    )
    assert np.allclose(functional.max_pool3d(v, (3, 4, 3)).tolist(), VOLUME.max((2, 3, 4), keepdims=True))
    assert np.allclose(
        functional.avg_pool3d(v, 3, divisor_override=2)[0, 0, 0].tolist(), [[VOLUME[0, 0, :, :3].sum() / 2]]
    )
    assert np.allclose(functional.lp_pool1d(x, 2, 7).tolist(), np.sqrt((SERIES**2).sum(-1, keepdims=True)))
    assert gradcheck(lambda v: functional.avg_pool3d(v, 2, 1), v) and gradcheck(
        lambda v: functional.max_pool3d(v, 2), v
    )
    assert gradcheck(lambda x: functional.local_response_norm(x, 2), x)
    with pytest.raises(RuntimeError, match="at most half of effective kernel size"):
        functional.max_pool1d(x, 2, padding=2)
    with pytest.raises(RuntimeError, match="does not fit"):
        functional.avg_pool1d(x, 9)


def test_where_the_largest_are_and_back():
    x = leaf(IMAGES)
    values, places = functional.max_pool2d(x, (2, 3), stride=(2, 1), padding=(1, 1), return_indices=True)
    flat = IMAGES.reshape(2, 2, -1)
    assert np.array_equal(np.take_along_axis(flat, places.numpy().reshape(2, 2, -1), -1), values.flatten(2).tolist())
    values, places = functional.max_pool2d(x, 2, return_indices=True)
    back = functional.max_unpool2d(values, places, 2, output_size=(5, 4))
    assert np.array_equal(back.tolist(), np.where(np.isin(IMAGES, values.tolist()), IMAGES, 0))
    assert gradcheck(lambda x: functional.max_unpool2d(*functional.max_pool2d(x, 2, return_indices=True), 2), x)


def test_adaptive_pools():
    x = leaf(IMAGES)
    assert np.allclose(functional.adaptive_avg_pool2d(x, 1).tolist(), IMAGES.mean((2, 3), keepdims=True))
    out = functional.adaptive_avg_pool2d(x, (2, None))
    assert np.allclose(out[:, :, 0].tolist(), IMAGES[:, :, :3].mean(2)) and out.shape == (2, 2, 2, 4)
    values, places = functional.adaptive_max_pool2d(x, (3, 3), return_indices=True)
    assert np.allclose(values[:, :, 1, 1].tolist(), IMAGES[:, :, 1:4, 1:3].max((2, 3)))
    assert np.array_equal(
        np.take_along_axis(IMAGES.reshape(2, 2, -1), places.flatten(2).numpy(), -1), values.flatten(2).tolist()
    )
    for f in (functional.adaptive_avg_pool1d, functional.adaptive_max_pool1d):
        assert gradcheck(lambda x, f=f: f(x, 3), leaf(SERIES))


def correlated(x, w, stride, padding, dilation):
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    reach = [d * (k - 1) + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    shape = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *shape))
    for at in np.ndindex(*shape):
        window = x[(..., *[slice(i * s, i * s + r, d) for i, s, r, d in zip(at, stride, reach, dilation, strict=True)])]
        axes = tuple(range(1, w.ndim))
        out[(slice(None), slice(None), *at)] = np.tensordot(window, w, (axes, axes))
    return out


KERNELS = GENERATOR.normal(size=(3, 2, 2, 3))


@pytest.mark.parametrize("options", [{}, {"stride": (2, 1), "padding": (1, 0)}, {"dilation": (2, 1)}])
def test_convolutions(options):
    settings = [
        options.get(name, default) for name, default in (("stride", (1, 1)), ("padding", (0, 0)), ("dilation", (1, 1)))
    ]
    x, w = leaf(IMAGES), leaf(KERNELS)
    out = torch.conv2d(x, w, **options)
    assert np.allclose(out.tolist(), correlated(IMAGES, KERNELS, *settings))
    assert gradcheck(lambda x, w: functional.conv2d(x, w, **options), (x, w))
    # the transpose is the adjoint
    g = torch.tensor(GENERATOR.normal(size=tuple(out.shape)))
    (back,) = torch.autograd.grad(out, x, g)
    missing = [n - m for n, m in zip(x.shape[2:], functional.conv_transpose2d(g, w, **options).shape[2:], strict=True)]
    assert np.allclose(
        functional.conv_transpose2d(g, w, output_padding=tuple(missing), **options).tolist(), back.tolist()
    )
    assert gradcheck(lambda g, w: functional.conv_transpose2d(g, w, **options), (g.requires_grad_(), w))


def test_convolutions_of_series_and_volumes_and_in_groups():
    x, w = leaf(SERIES), leaf(GENERATOR.normal(size=(4, 1, 3)))
    out = functional.conv1d(x, w, leaf([1.0, 2.0, 3.0, 4.0]), groups=2)
    assert np.allclose(
        out[:, 3].tolist(), correlated(SERIES[:, 1:], w.detach().numpy()[3:], (1,), (0,), (1,))[:, 0] + 4
    )
    assert gradcheck(lambda x, w: functional.conv_transpose1d(x, w[:2], stride=2, groups=2), (x, w))
    v, u = leaf(VOLUME), leaf(GENERATOR.normal(size=(1, 2, 2, 2, 2)))
    assert np.allclose(
        functional.conv3d(v, u).tolist(), correlated(VOLUME, u.detach().numpy(), (1,) * 3, (0,) * 3, (1,) * 3)
    )
    assert functional.conv1d(x[0], w, groups=2).shape == (4, 5)
    with pytest.raises(RuntimeError, match="do not fit an input of 2 channels"):
        functional.conv1d(x, w)


def test_windows_as_columns():
    x = leaf(IMAGES)
    columns = functional.unfold(x, (2, 3), padding=(1, 0), stride=(1, 1))
    assert columns.shape == (2, 12, 12) and columns[0, 3:6, 0].tolist() == IMAGES[0, 0, 0, :3].tolist()
    counts = functional.fold(functional.unfold(torch.ones(1, 1, 5, 4), 2), (5, 4), 2)
    assert np.allclose(functional.fold(functional.unfold(x, 2), (5, 4), 2).tolist(), IMAGES * counts.numpy())
    assert gradcheck(lambda x: functional.unfold(x, 2, 2, 1, 2), x)
    assert gradcheck(
        lambda c: functional.fold(c, (4, 4), 2, padding=1, stride=2), leaf(GENERATOR.normal(size=(1, 4, 9)))
    )


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
def test_interpolation(mode):
    x = leaf(IMAGES)
    assert np.allclose(functional.interpolate(x, size=(5, 4), mode=mode).tolist(), IMAGES)
    ones = functional.interpolate(torch.ones(1, 1, 3, 4, dtype=F64), scale_factor=(1.5, 2), mode=mode)
    assert ones.shape == (1, 1, 4, 8) and np.allclose(ones.tolist(), 1)
    assert gradcheck(lambda x: functional.interpolate(x, scale_factor=1.5, mode=mode), leaf(IMAGES[:1, :1]))


def test_interpolation_of_a_line_is_on_the_line():
    line = torch.arange(5.0, dtype=F64).reshape(1, 1, 5)
    assert functional.interpolate(line, size=9, mode="linear", align_corners=True).flatten().tolist() == [
        i / 2 for i in range(9)
    ]
    assert functional.interpolate(line, scale_factor=2, mode="linear").flatten().tolist()[:4] == [0, 0.25, 0.75, 1.25]
    with pytest.raises(ValueError, match="align_corners"):
        functional.interpolate(line, size=3, align_corners=True)
    with pytest.raises(ValueError, match="either size or scale_factor"):
        functional.interpolate(line)
    with pytest.raises(NotImplementedError, match="bilinear"):
        functional.interpolate(line, size=3, mode="bilinear")


def test_layers_that_drop_and_draw():
    x = leaf(np.ones((3, 4, 2)))
    torch.manual_seed(1)
    assert functional.dropout1d(x, 0.5, False) is x and functional.alpha_dropout(x) is x
    dropped = functional.dropout1d(x, 0.5).detach().numpy()
    assert np.array_equal(dropped[..., 0], dropped[..., 1]) and set(dropped.ravel()) == {0, 2}
    assert functional.feature_alpha_dropout(x, 0.5, True).unique().numel() == 2
    logits = leaf([[0.1, 2.0, -1.0]])
    hard = functional.gumbel_softmax(logits, hard=True)
    assert (
        sorted(hard[0].tolist()) == [0, 0, 1]
        and torch.autograd.grad((hard * logits.detach()).sum(), logits)[0].abs().sum() > 0
    )
    assert functional.rrelu(leaf([-1.0, 2.0])).tolist() == pytest.approx([-11 / 48, 2])
    assert -1 / 3 <= functional.rrelu(leaf([-1.0]), training=True).item() <= -1 / 8


def test_bags_of_rows():
    table, numbers, ends = leaf(np.arange(6.0).reshape(3, 2)), torch.tensor([0, 2, 1]), torch.tensor([0, 2])
    for mode, expected in (("sum", [[4, 6], [2, 3]]), ("mean", [[2, 3], [2, 3]]), ("max", [[4, 5], [2, 3]])):
        assert functional.embedding_bag(numbers, table, ends, mode=mode).tolist() == expected
    assert gradcheck(lambda t: functional.embedding_bag(torch.tensor([[0, 2], [1, 1]]), t, mode="sum"), table)


def test_losses_over_several_classes():
    x = leaf([[1.0, 2.0, 0.5], [0.3, 0.1, 2.0]])
    loss = functional.multilabel_margin_loss(x, torch.tensor([[1, -1, 0], [0, 2, -1]]), "none")
    # 1 - (x of a target - x of another class), where that is positive
    assert np.allclose(loss.tolist(), [0.0, 0.8 / 3])
    assert np.allclose(torch.autograd.grad(loss.sum(), x)[0].tolist(), [[0, 0, 0], [-1 / 3, 1 / 3, 0]])
    a, b = leaf([[1.0, 2.0], [0.5, 1.0]]), leaf([[2.0, 1.0], [1.0, 3.0]])
    assert (
        functional.triplet_margin_with_distance_loss(a, b, a * b).item()
        == functional.triplet_margin_loss(a, b, a * b).item()
    )


def test_activations_that_write_into_their_input():
    x = leaf([-1.0, 0.5])
    y = x * 1
    assert functional.leaky_relu_(y, 0.2) is y and y.tolist() == [-0.2, 0.5]
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0.2, 1]
    assert torch.selu_(x * 1).tolist() == torch.selu(x).tolist()


def test_channels_in_another_order():
    x = leaf(np.arange(4.0).reshape(1, 4, 1))
    assert functional.channel_shuffle(x, 2).flatten().tolist() == [0, 2, 1, 3]
    assert gradgradcheck(lambda x: functional.channel_shuffle(x, 2) ** 2, x)


@pytest.mark.parametrize(
    "operation, name",
    [
        (lambda x: functional.gelu(x), "GeluBackward0"),
        (lambda x: functional.elu(x), "EluBackward0"),
        (lambda x: functional.silu(x), "SiluBackward0"),
        (lambda x: functional.mse_loss(x, x * 2), "MseLossBackward0"),
        (lambda x: functional.linear(x, x, x[:, 0]), "AddmmBackward0"),
        (lambda x: functional.layer_norm(x, (2,)), "NativeLayerNormBackward0"),
        (lambda x: x.lerp(x * 2, 0.5), "LerpBackward0"),
        (lambda x: torch.addcmul(x, x, x), "AddcmulBackward0"),
        (lambda x: torch.addmm(x, x, x), "AddmmBackward0"),
    ],
)
def test_compositions_bear_the_name_of_the_operation(operation, name):
    x = leaf([[0.3, -0.2], [1.0, 2.0]])
    out = operation(x)
    assert out.grad_fn.name() == name and gradcheck(operation, x)
    assert x.grad_fn is None and functional.mse_loss(x.detach(), x.detach()).grad_fn is None
