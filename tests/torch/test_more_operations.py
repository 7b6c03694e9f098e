"""Special functions, order statistics, windows, arrangements, layers, losses: values, and gradients by differences."""

import math

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import gradcheck
from s2sgrad.torch.nn import functional

F64 = torch.float64


def random(*shape, low=0.1, high=0.9, seed=5):
    return np.random.default_rng(seed).uniform(low, high, shape)


def leaf(a):
    return torch.tensor(a, dtype=F64, requires_grad=True)


A, B, V, W = random(3, 4), random(3, 4, seed=6), random(4, seed=7), random(3, seed=8)
SPD = random(3, 3) @ random(3, 3).T + np.eye(3)
CLASSES = torch.tensor([0, 3, 1])
PART = torch.tensor([0, -100, 1])
SIGNS = torch.tensor([1.0, -1.0, 1.0], dtype=F64)

VALUES = {  # the operation on A (and B), and what NumPy says
    "lgamma": (lambda x: x.lgamma(), np.vectorize(math.lgamma)(A)),
    "mvlgamma": (
        lambda x: (x + 1).mvlgamma(2),
        0.5 * math.log(math.pi) + np.vectorize(math.lgamma)(A + 1) + np.vectorize(math.lgamma)(A + 0.5),
    ),
    "erfinv": (lambda x: x.erfinv().erf(), A),
    "unfold": (lambda x: x.unfold(1, 2, 1), np.stack([A[:, :-1], A[:, 1:]], -1)),
    "unfold with steps": (lambda x: x.unfold(0, 1, 2), A[::2, :, None]),
    "as_strided": (lambda x: x.as_strided((2, 2), (4, 1), 1), A[:2, 1:3]),
    "as_strided of a transpose": (lambda x: x.t().as_strided((3, 4), (4, 1)), A),
    "as_strided without strides": (lambda x: x.as_strided((3,), (0,), 5), np.full(3, A[1, 1])),
    "column_stack": (lambda x: torch.column_stack([x, x[:, 0]]), np.column_stack([A, A[:, 0]])),
    "dstack": (lambda x: torch.dstack([x, x]), np.dstack([A, A])),
    "atleast_3d": (lambda x: torch.atleast_3d(x), np.atleast_3d(A)),
    "block_diag": (
        lambda x: torch.block_diag(x[:1], x[:2, :1]),
        np.block([[A[:1], np.zeros((1, 1))], [np.zeros((2, 4)), A[:2, :1]]]),
    ),
    "cartesian_prod": (lambda x: torch.cartesian_prod(x[0, :2], x[1, :1]), [[A[0, 0], A[1, 0]], [A[0, 1], A[1, 0]]]),
    "combinations": (lambda x: torch.combinations(x[0, :3])[2], A[0, 1:3]),
    "diagflat": (lambda x: torch.diagflat(x, 1), np.diagflat(A, 1)),
    "vander": (lambda x: torch.vander(x[0]), np.vander(A[0])),
    "msort": (lambda x: x.msort(), np.sort(A, 0)),
    "quantile": (lambda x: x.quantile(0.3), np.quantile(A, 0.3)),
    "quantiles": (
        lambda x: x.quantile(torch.tensor([0.2, 0.75], dtype=F64), dim=1),
        np.quantile(A, [0.2, 0.75], axis=1),
    ),
    "quantile, kept": (lambda x: x.quantile(0.4, 0, True), np.quantile(A, 0.4, 0, keepdims=True)),
    "midpoint": (lambda x: x.quantile(0.4, 1, interpolation="midpoint"), np.quantile(A, 0.4, 1, method="midpoint")),
    "higher": (lambda x: x.quantile(0.4, 1, interpolation="higher"), np.quantile(A, 0.4, 1, method="higher")),
    "cov": (lambda x: x.cov(), np.cov(A)),
    "cov, weighted": (
        lambda x: torch.cov(x, fweights=torch.tensor([1, 2, 1, 3]), aweights=torch.tensor(V)),
        np.cov(A, fweights=[1, 2, 1, 3], aweights=V),
    ),
    "corrcoef": (lambda x: x.corrcoef(), np.corrcoef(A)),
    "cdist": (lambda x: torch.cdist(x, x[:2] + 1), np.linalg.norm(A[:, None] - A[:2] - 1, axis=-1)),
    "pdist": (lambda x: torch.pdist(x, 1.0), np.abs(A[[0, 0, 1]] - A[[1, 2, 2]]).sum(-1)),
    "trapezoid": (lambda x: torch.trapezoid(x, dx=0.5), np.trapezoid(A, dx=0.5)),
    "trapezoid at places": (lambda x: torch.trapz(x, torch.tensor(W), dim=0), np.trapezoid(A, W, axis=0)),
    "cumulative_trapezoid": (
        lambda x: torch.cumulative_trapezoid(x),
        np.cumsum((A[:, 1:] + A[:, :-1]) / 2, axis=1),
    ),
    "cond": (lambda x: torch.linalg.cond(x[:, :3] + 2 * torch.eye(3)), np.linalg.cond(A[:, :3] + 2 * np.eye(3))),
    "addr": (lambda x: torch.addr(x, x[:, 0], x[0], beta=2), 2 * A + np.outer(A[:, 0], A[0])),
    "ldexp": (lambda x: torch.ldexp(x, torch.tensor([1, 2, 3, 4])), np.ldexp(A, [1, 2, 3, 4])),
    "frexp": (lambda x: torch.frexp(x)[0], np.frexp(A)[0]),
    "hardswish": (lambda x: functional.hardswish(x - 0.4), (A - 0.4) * (A + 2.6) / 6),
    "softshrink": (lambda x: functional.softshrink(x, 0.3), np.where(A > 0.3, A - 0.3, 0)),
    "celu": (lambda x: functional.celu(x - 0.5, 0.7), np.where(A > 0.5, A - 0.5, 0.7 * np.expm1((A - 0.5) / 0.7))),
    "glu": (lambda x: functional.glu(x), A[:, :2] / (1 + np.exp(-A[:, 2:]))),
    "rms_norm": (lambda x: functional.rms_norm(x, (4,), eps=0.0), A / np.sqrt(np.mean(A * A, 1, keepdims=True))),
    "group_norm": (
        lambda x: functional.group_norm(x.reshape(1, 6, 2), 2, eps=0.0),
        ((A.reshape(2, 6) - A.reshape(2, 6).mean(1, keepdims=True)) / A.reshape(2, 6).std(1, keepdims=True)).reshape(
            1, 6, 2
        ),
    ),
    "batch_norm": (
        lambda x: functional.batch_norm(x, None, None, training=True, eps=0.0),
        (A - A.mean(0)) / A.std(0),
    ),
    "pixel_shuffle": (
        lambda x: functional.pixel_shuffle(x.reshape(1, 4, 3, 1), 2),
        A.reshape(2, 2, 3, 1).transpose(2, 0, 3, 1).reshape(1, 1, 6, 2),
    ),
    "pixel_unshuffle": (lambda x: functional.pixel_unshuffle(functional.pixel_shuffle(x.view(1, 4, 3, 1), 2), 2), A),
    "max_pool1d": (lambda x: functional.max_pool1d(x, 2), np.maximum(A[:, ::2], A[:, 1::2])),
    "avg_pool1d": (lambda x: functional.avg_pool1d(x, 2, 1), (A[:, 1:] + A[:, :-1]) / 2),
    "poisson_nll_loss": (
        lambda x: functional.poisson_nll_loss(x, torch.tensor(B), reduction="sum"),
        np.sum(np.exp(A) - B * A),
    ),
    "gaussian_nll_loss": (
        lambda x: functional.gaussian_nll_loss(x, torch.tensor(B), x + 1),
        np.mean(0.5 * (np.log(A + 1) + (A - B) ** 2 / (A + 1))),
    ),
    "soft_margin_loss": (
        lambda x: functional.soft_margin_loss(x[:, 0], SIGNS),
        np.mean(np.log1p(np.exp(-SIGNS.numpy() * A[:, 0]))),
    ),
    "multi_margin_loss": (
        lambda x: functional.multi_margin_loss(x, CLASSES),
        np.mean((np.maximum(1 - A[[0, 1, 2], [0, 3, 1]][:, None] + A, 0).sum(1) - 1) / 4),
    ),
    "cross_entropy of what counts": (
        lambda x: functional.cross_entropy(x, PART),
        np.mean(np.log(np.exp(A).sum(1))[[0, 2]] - A[[0, 2], [0, 1]]),
    ),
    "cross_entropy, weighted": (
        lambda x: functional.cross_entropy(x, CLASSES, torch.tensor(V)),
        np.average(np.log(np.exp(A).sum(1)) - A[[0, 1, 2], [0, 3, 1]], weights=V[[0, 3, 1]]),
    ),
    "cross_entropy, smoothed": (
        lambda x: functional.cross_entropy(x, CLASSES, label_smoothing=0.2),
        np.mean(np.log(np.exp(A).sum(1)) - 0.8 * A[[0, 1, 2], [0, 3, 1]] - 0.05 * A.sum(1)),
    ),
}
PAIRS = {
    "logaddexp2": (lambda x, y: torch.logaddexp2(x, y), np.logaddexp2(A, B)),
    "select_scatter": (lambda x, y: x.select_scatter(y[0], 0, 1), np.stack([A[0], B[0], A[2]])),
    "diagonal_scatter": (
        lambda x, y: x.diagonal_scatter(y[0, :3]),
        np.where(np.eye(3, 4), np.pad(np.diag(B[0, :3]), ((0, 0), (0, 1))), A),
    ),
    "slice_scatter": (
        lambda x, y: x.slice_scatter(y[:, :2], 1, 0, 4, 2),
        np.stack([B[:, 0], A[:, 1], B[:, 1], A[:, 3]], 1),
    ),
    "prelu": (lambda x, y: functional.prelu(x - 0.5, y[0]), np.where(A > 0.5, A - 0.5, B[0] * (A - 0.5))),
    "pairwise_distance": (
        lambda x, y: functional.pairwise_distance(x, y),
        np.linalg.norm(A - B + 1e-6, axis=-1),
    ),
    "attention": (
        lambda x, y: functional.scaled_dot_product_attention(x, y, x, is_causal=True)[0],
        A[0],
    ),
    "margin_ranking_loss": (
        lambda x, y: functional.margin_ranking_loss(x[:, 0], y[:, 0], SIGNS, 0.1),
        np.mean(np.maximum(-SIGNS.numpy() * (A - B)[:, 0] + 0.1, 0)),
    ),
    "triplet_margin_loss": (
        lambda x, y: functional.triplet_margin_loss(x, y, y * 2, margin=3.0),
        np.mean(np.linalg.norm(A - B + 1e-6, axis=1) - np.linalg.norm(A - 2 * B + 1e-6, axis=1) + 3),
    ),
    "cosine_embedding_loss": (
        lambda x, y: functional.cosine_embedding_loss(x, y, torch.ones(3, dtype=F64)),
        np.mean(1 - (A * B).sum(1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1)),
    ),
    "tensorsolve": (
        lambda x, y: torch.linalg.tensorsolve((x[:, :3] + 2 * torch.eye(3)).reshape(3, 1, 3), y[:, :1]),
        np.linalg.solve(A[:, :3] + 2 * np.eye(3), B[:, 0]),
    ),
    "cholesky_solve": (
        lambda x, y: torch.cholesky_solve(y, torch.linalg.cholesky(x @ x.mT + torch.eye(3))),
        np.linalg.solve(A @ A.T + np.eye(3), B),
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_functions_of_one_tensor(name):
    f, due = VALUES[name]
    assert np.allclose(f(leaf(A)).detach().numpy().reshape(np.shape(due)), due, rtol=1e-9)
    assert gradcheck(f, leaf(A))


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_tensors(name):
    f, due = PAIRS[name]
    assert np.allclose(f(leaf(A), leaf(B)).detach().numpy(), due, rtol=1e-9)
    assert gradcheck(f, (leaf(A), leaf(B)))


def test_the_family_of_the_gamma_function():
    x = torch.tensor([0.5, 1.0, 6.0], dtype=F64)
    gamma = 0.5772156649015329
    assert np.allclose(torch.digamma(x).numpy(), [-gamma - 2 * math.log(2), -gamma, 137 / 60 - gamma], rtol=1e-14)
    assert np.allclose(torch.polygamma(1, x[:2]).numpy(), [math.pi**2 / 2, math.pi**2 / 6], rtol=1e-14)
    assert np.allclose(x[:2].polygamma(2).numpy(), [-14 * 1.2020569031595942, -2 * 1.2020569031595942], rtol=1e-14)
    poles = torch.tensor([0.0, -0.0, -1.0], dtype=F64)
    assert torch.lgamma(poles).tolist() == [math.inf] * 3
    assert torch.digamma(poles).tolist()[:2] == [-math.inf, math.inf] and math.isnan(torch.digamma(poles)[2].item())
    assert torch.erfinv(torch.tensor([1.0, -1.0, 0.0])).tolist() == [math.inf, -math.inf, 0.0]
    x = leaf([0.7, 2.5])
    assert torch.autograd.gradgradcheck(lambda x: x.lgamma(), x)
    assert torch.lgamma(torch.tensor([3, 4])).dtype is torch.float32


def test_windows_and_strides_are_views():
    x = torch.zeros(6)
    x.unfold(0, 2, 2)[1].fill_(1)
    x.as_strided((2,), (5,)).add_(3)
    assert x.tolist() == [3, 0, 1, 1, 0, 3]
    y = leaf([1.0, 2.0, 3.0]) * 1
    y.unfold(0, 2, 1)[0].mul_(3)
    assert y.tolist() == [3, 6, 3]
    with pytest.raises(RuntimeError, match="does not fit"):
        x.unfold(0, 7, 1)
    with pytest.raises(RuntimeError, match="leave the memory"):
        x.as_strided((3,), (3,))
    with pytest.raises(RuntimeError, match="without gaps"):
        x[::2].as_strided((2,), (1,))


def test_tensors_without_dimensions_are_lines_of_one_element():
    x = leaf(0.5)
    found = x.index_select(0, torch.tensor([0])), *x.topk(1), x.movedim(0, -1), x.unfold(0, 1, 1)
    assert [t.tolist() for t in found] == [0.5, 0.5, 0, 0.5, [0.5]]
    (found[0] + found[1] + found[3] + found[4]).sum().backward()
    assert x.grad.item() == 4
    with pytest.raises(IndexError):
        x.movedim(0, 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i, v: x.index_fill(0, i, 3.0),
        lambda x, i, v: x.index_copy(0, i, v),
        lambda x, i, v: x.index_copy(0, i[0], v[0]),
        lambda x, i, v: x.index_add(0, i[0], v[0]) - 0.5,
        lambda x, i, v: x.scatter(0, i, v),
        lambda x, i, v: x.scatter(0, i, 3.0),
        lambda x, i, v: x.scatter_add(0, i, v) - 0.5,
        lambda x, i, v: x.clone().index_fill_(0, i, 3.0),
    ],
)
def test_places_in_tensors_without_dimensions(function):
    out = function(leaf(0.5), torch.tensor([0]), leaf([3.0]))
    assert out.shape == () and out.item() == 3
    assert leaf(0.5).gather(0, torch.tensor([0, 0])).tolist() == [0.5, 0.5]


def test_order_in_tensors_without_dimensions():
    x = leaf(0.5)
    for values, places in (x.median(0), x.kthvalue(1), x.cummax(0), x.cummin(0), x.mode(), x.nanmedian(0)):
        assert values.item() == 0.5 and places.item() == 0 and places.shape == ()
    assert x.argsort().shape == () and x.nonzero().shape == (1, 0)
    assert torch.hstack([x, leaf([1.0])]).tolist() == [0.5, 1] and torch.vstack([x, leaf([1.0])]).shape == (2, 1)
    with pytest.raises(RuntimeError, match="heaviside"):
        torch.heaviside(x, x).backward()


@pytest.mark.parametrize("number", [-1, 7])
@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x, i: x.gather(1, i), RuntimeError),
        (lambda x, i: x.scatter(1, i, 1.0), RuntimeError),
        (lambda x, i: x.scatter(1, i, 1.0, reduce="add"), RuntimeError),
        (lambda x, i: x.scatter_add(1, i, x), RuntimeError),
        (lambda x, i: x.scatter_reduce(1, i, x, "sum"), RuntimeError),
        (lambda x, i: x.index_add(1, i[0], x[:, :1]), RuntimeError),
        (lambda x, i: x.index_select(1, i[0]), IndexError),
        (lambda x, i: x.index_copy(1, i[0], x[:, :1]), IndexError),
        (lambda x, i: functional.nll_loss(x, torch.stack([i[0, 0] * 0, i[0, 0] * 0, i[0, 0]])), IndexError),
        (lambda x, i: functional.cross_entropy(x, torch.stack([i[0, 0] * 0, i[0, 0] * 0, i[0, 0]])), IndexError),
    ],
)
def test_numbers_of_places_are_not_counted_from_the_end(function, error, number):
    with pytest.raises(error, match="out of bounds"):
        function(leaf(A), torch.tensor([[number]]))


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: x.gather(1, torch.tensor([0])), RuntimeError),
        (lambda x: x.gather(1, torch.zeros(9, 1, dtype=torch.int64)), RuntimeError),
        (lambda x: x.gather(1, torch.zeros(1, 1)), RuntimeError),
        (lambda x: x.index_select(0, torch.tensor([[0]])), IndexError),
        (lambda x: x.index_select(0, torch.tensor([0.0])), RuntimeError),
        (lambda x: x[torch.tensor([0], dtype=torch.int8)], IndexError),
        (lambda x: x.masked_select(x), RuntimeError),
        (lambda x: x.masked_fill(x, 0.0), RuntimeError),
        (lambda x: x.masked_fill(x > 0, torch.ones(2)), RuntimeError),
        (lambda x: torch.where(x, x, x), RuntimeError),
        (lambda x: x.chunk(0), RuntimeError),
        (lambda x: x.roll(1, 5), IndexError),
        (lambda x: x.expand(-1, *x.shape), RuntimeError),
        (lambda x: x.flatten(1, 0), RuntimeError),
        (lambda x: x[0].mT, RuntimeError),
        (lambda x: x[0].mH, RuntimeError),
        (lambda x: x.repeat(2), RuntimeError),
        (lambda x: torch.cat([x, x], 2), IndexError),
        (lambda x: torch.broadcast_shapes((2,), (3,)), RuntimeError),
        (lambda x: functional.conv2d(x, x), RuntimeError),
        (lambda x: torch.nn.Parameter(torch.tensor([1])), RuntimeError),
    ],
)
def test_what_does_not_fit(function, error):
    with pytest.raises(error):
        function(leaf(A))


def test_lists_of_lists_are_keys_as_tuples_are():
    x = leaf(A)
    assert x[[[0, 1]]].tolist() == x[[0, 1]].tolist() and x[[torch.tensor(0), torch.tensor(1)]].item() == x[0, 1].item()
    assert x[range(2)].tolist() == x[:2].tolist()
    assert x.tile(2).tolist() == x.repeat(1, 2).tolist() and x.roll(1, -1).tolist() == x.roll(1, 1).tolist()
    assert torch.ones(0, 3).stride() == (3, 1) and torch.ones(3, 0).stride() == (1, 1)
    assert torch.nn.Parameter().shape == (0,)


def test_turned_axes_are_named():
    line = torch.arange(3.0)
    assert line.flipud().tolist() == [2, 1, 0]
    for f, error in (
        (line.fliplr, RuntimeError),
        (torch.tensor(1.0).flipud, RuntimeError),
        (line.flip, TypeError),
    ):
        with pytest.raises(error):
            f()


def test_counted_numbers_and_powers():
    for numbers, error in (
        ([0.5], NotImplementedError),
        ([True], NotImplementedError),
        ([[1]], RuntimeError),
        ([-1], RuntimeError),
    ):
        with pytest.raises(error):
            torch.tensor(numbers).bincount()
    bytes_ = torch.tensor([20, 3], dtype=torch.uint8)
    assert torch.vander(bytes_, 3).tolist() == [[400, 20, 1], [9, 3, 1]]
    assert torch.linalg.vander(bytes_.reshape(1, 2)).tolist() == [[[1, 20], [1, 3]]]
    with pytest.raises(RuntimeError, match="a vector is needed"):
        torch.vander(torch.ones(2, 2))


def test_integers_and_questions():
    line = torch.tensor([1.0, 3.0, 5.0])
    assert torch.searchsorted(line, torch.tensor([3.0, 6.0])).tolist() == [1, 3]
    assert torch.bucketize(torch.tensor([[3.0]]), line, right=True).tolist() == [[2]]
    assert torch.searchsorted(torch.stack([line, line + 1]), torch.tensor([[2.0], [2.0]])).tolist() == [[1], [0]]
    n = torch.tensor([1, 1, 3, 3, 1])
    assert n.bincount().tolist() == [0, 3, 0, 2]
    assert [t.tolist() for t in n.unique_consecutive(True, True)] == [[1, 3, 1], [0, 0, 1, 1, 2], [2, 2, 1]]
    assert torch.histc(line, 2).tolist() == [1, 2] and torch.isin(n, torch.tensor([3])).tolist()[2] is True
    assert torch.gcd(n * 4, torch.tensor(6)).tolist() == [2, 2, 6, 6, 2] and (n << 2).tolist()[0] == 4
    assert torch.lcm(torch.tensor(4), torch.tensor(6)).item() == 12 and (8 >> n).tolist()[2] == 1
    assert torch.isposinf(line * math.inf).all() and not torch.isneginf(line).any()
    assert torch.mode(n).values.item() == 1 and torch.mode(n).indices.item() == 4
    assert [i.tolist() for i in torch.unravel_index(torch.tensor([5]), (2, 3))] == [[1], [2]]
    assert torch.broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(RuntimeError, match="not differentiable"):
        torch.histc(leaf([0.1, 0.2]), 2).sum().backward()


def test_order_statistics_where_there_is_nan():
    x = leaf([[0.4, math.nan, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4]])
    assert math.isnan(x.quantile(0.5, 1)[0].item()) and np.allclose(x.nanquantile(0.5, 1).tolist(), [0.3, 0.25])
    assert np.allclose(x.nanmedian(1).values.tolist(), [0.3, 0.2]) and x.nanmedian(1).indices.tolist() == [3, 1]
    x.nanquantile(0.5, 1).sum().backward()
    assert np.allclose(x.grad.tolist(), [[0, 0, 0, 1], [0, 0.5, 0.5, 0]])


def test_nan_is_the_median_and_a_running_extreme():
    x = leaf([[0.4, math.nan, 0.2], [0.1, 0.2, 0.3]])
    assert math.isnan(x.median().item()) and x.median(1).indices.tolist() == [1, 1]
    assert x.cummax(1).indices.tolist() == [[0, 1, 1], [0, 1, 2]] and math.isnan(x.cummin(1).values[0, 2].item())
    assert math.isnan(torch.zeros(0).median().item())


def test_spread_and_mean_along_an_axis():
    x = torch.tensor(A)
    for found in (torch.var_mean(x, 1), torch.var_mean(x, dim=1, correction=1), torch.var_mean(x, (1,), True)):
        assert np.allclose(found[0].numpy(), A.var(1, ddof=1)) and np.allclose(found[1].numpy(), A.mean(1))
    spread, mean = torch.std_mean(x, 0, False, keepdim=True)
    assert np.allclose(spread.numpy(), A.std(0, keepdims=True)) and mean.shape == (1, 4)


def test_running_logarithms_of_sums_far_apart():
    x = leaf([-1000.0, 0.0, 1000.0, -math.inf])
    assert x.logcumsumexp(0).tolist() == [-1000, 0, 1000, 1000]
    x[:3].logcumsumexp(0).sum().backward()
    assert x.grad.tolist() == [1, 1, 1, 0]
    assert leaf([-math.inf, -math.inf]).logcumsumexp(0).tolist() == [-math.inf, -math.inf]


def test_scatter_that_multiplies():
    x, i = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1, 1, 0])
    assert x.scatter(0, i, torch.tensor([5.0, 7.0, 2.0]), reduce="multiply").tolist() == [2, 70, 3]
    assert x.scatter(0, i, 2.0, reduce="add").tolist() == [3, 6, 3]
    with pytest.raises(RuntimeError, match="not implemented"):
        x.requires_grad_().scatter(0, i, 2.0, reduce="multiply").sum().backward()
    with pytest.raises(RuntimeError, match="either add or multiply"):
        x.scatter(0, i, 2.0, reduce="mean")


def test_what_losses_and_layers_refuse_or_stretch():
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        functional.binary_cross_entropy(leaf([1.5]), torch.tensor([1.0], dtype=F64))
    with pytest.raises(RuntimeError, match="two are needed"):
        functional.pad(leaf(A), (1,))
    x, y = leaf(A), leaf(B[0])
    assert functional.cosine_similarity(x, y).shape == (3,)
    assert torch.zeros(0, 3).softmax(0).shape == (0, 3)
    image, kernel = leaf(A)[None], leaf(B)[None, None, :2, :2]
    assert functional.conv2d(image, kernel, padding="same").shape == (1, 3, 4)
    assert functional.conv2d(image, kernel, padding="valid").shape == (1, 2, 3)
    assert functional.conv1d(leaf(A), leaf(B)[None, :, :3], padding="same", dilation=2).shape == (1, 4)
    assert torch.bincount(torch.tensor([1]), torch.tensor([0.5])).dtype is torch.float32


def test_nothing_to_look_at_and_nothing_kept():
    q, mask = leaf(A), torch.tensor([[False] * 3, [True] * 3, [True] * 3])
    out = functional.scaled_dot_product_attention(q, leaf(B), leaf(B), attn_mask=mask)
    assert out[0].tolist() == [0] * 4 and not out.isnan().any()
    out.sum().backward()
    assert q.grad[0].tolist() == [0] * 4 and not q.grad.isnan().any()
    assert functional.dropout(leaf(A), 1.0).tolist() == (A * 0).tolist()
    x = torch.ones(3)
    assert functional.dropout(x, 1.0, inplace=True) is x and x.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="between 0 and 1"):
        functional.dropout(x, 1.5)


def test_rows_of_a_table():
    table, numbers = leaf(A), torch.tensor([0, 2, 2])
    functional.embedding(numbers, table, padding_idx=-1).sum().backward()
    assert table.grad.tolist() == [[1] * 4, [0] * 4, [0] * 4]
    functional.embedding(numbers, table, max_norm=0.5)
    assert np.allclose(np.linalg.norm(table.detach().numpy(), axis=1)[[0, 2]], 0.5)
    with pytest.raises(IndexError, match="index -1"):
        functional.embedding(torch.tensor([-1]), table)
    with pytest.raises(NotImplementedError):
        functional.embedding(numbers, table, scale_grad_by_freq=True)


def test_softplus_is_the_input_above_its_threshold():
    x = leaf([0.1, 3.0])
    y = functional.softplus(x, 2.0, 1.0)
    assert np.allclose(y.tolist(), [np.log1p(np.exp(0.2)) / 2, 3.0], rtol=1e-15)
    y[1].backward()
    assert x.grad.tolist() == [0, 1]


def test_integers_are_not_divided_by_zero():
    n = torch.tensor([7, -7])
    for function in (torch.remainder, torch.fmod, torch.floor_divide):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            function(n, 0)
    big = 2**60 + 1
    assert torch.tensor([big, -7]).div(torch.tensor([1, 2]), rounding_mode="trunc").tolist() == [big, -3]


def test_what_is_scaled_by_zero_is_not_looked_at():
    x = leaf([[math.nan]])
    out = torch.addmm(x, leaf([[2.0]]), leaf([[3.0]]), beta=0)
    out.sum().backward()
    assert out.tolist() == [[6]] and x.grad.tolist() == [[0]]
    assert [t.shape for t in torch.atleast_2d(x[0], x[0, 0])] == [(1, 1), (1, 1)]
    with pytest.raises(RuntimeError, match="at most one axis"):
        leaf([1.0]).quantile(torch.tensor([[0.5]], dtype=F64))
    with pytest.raises(RuntimeError, match="at most half"):
        functional.max_pool2d(leaf(A)[None], 2, padding=2)


@pytest.mark.parametrize("which", [(0,), (1,), (2,), (0, 2), (1, 2)])
def test_einsum_of_tensors_of_which_some_are_constants(which):
    arrays = [A, B[0], A[:, 0]]
    tensors = [leaf(a) if i in which else torch.tensor(a) for i, a in enumerate(arrays)]
    torch.einsum("ij,j,i->", *tensors).backward()
    wanted = [np.outer(A[:, 0], B[0]), A.T @ A[:, 0], A @ B[0]]
    for i in which:
        assert np.allclose(tensors[i].grad.numpy(), wanted[i])


@pytest.mark.parametrize(
    "name",
    ["relu", "relu6", "hardtanh", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "hardsigmoid", "hardswish"],
)
def test_activations_in_place(name):
    function = getattr(functional, name)
    x, y = leaf(A), leaf(A)
    content = x.clone()
    part = content[0]
    assert function(content, inplace=True) is content
    wanted = function(y)
    assert np.array_equal(part.detach().numpy(), wanted[0].detach().numpy())
    (content * content).sum().backward()
    (wanted * wanted).sum().backward()
    assert np.allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-14)
    with pytest.raises(RuntimeError, match="leaf"):
        function(x, inplace=True)


def test_running_moments():
    mean, var = torch.zeros(4, dtype=F64), torch.ones(4, dtype=F64)
    functional.batch_norm(leaf(A), mean, var, training=True, momentum=0.5)
    assert np.allclose(mean.numpy(), A.mean(0) / 2) and np.allclose(var.numpy(), 0.5 + A.var(0, ddof=1) / 2)
    out = functional.batch_norm(leaf(A), mean, var, eps=0.0)
    assert np.allclose(out.detach().numpy(), (A - mean.numpy()) / np.sqrt(var.numpy()))


def test_results_into_tensors_that_are_there():
    x, y = torch.tensor(A), torch.tensor(B)
    out = torch.empty(3, 4, dtype=F64)
    assert torch.add(x, y, out=out) is out and np.array_equal(out.numpy(), A + B)
    assert np.array_equal(torch.sin(x, out=out).numpy(), np.sin(A))
    torch.mul(out, out, out=out)
    assert np.array_equal(out.numpy(), np.sin(A) ** 2)
    whole = torch.zeros(2, 4, dtype=F64)
    torch.sum(x, 0, out=whole[1])
    assert np.array_equal(whole.numpy(), np.stack([np.zeros(4), A.sum(0)]))
    empty = torch.empty(0, dtype=F64)
    assert torch.cat([x, y], out=empty).shape == (6, 4)
    values, places = torch.zeros(3, dtype=F64), torch.zeros(3, dtype=torch.int64)
    torch.max(x, 1, out=(values, places))
    assert np.array_equal(values.numpy(), A.max(1)) and np.array_equal(places.numpy(), A.argmax(1))
    single = torch.empty(3, 4)
    assert torch.tanh(x, out=single).dtype is torch.float32


def test_results_that_do_not_fit_or_would_lose_a_derivative():
    x = leaf(A)
    for function, out in ((torch.exp, torch.empty(3, 4)), (torch.relu, torch.empty(3, 4))):
        with pytest.raises(RuntimeError, match="requires grad"):
            function(x, out=out)
        with torch.no_grad():
            function(x, out=out)
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.add(torch.ones(2), 1, out=torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.exp(torch.ones(2), out=torch.zeros(2, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.exp(torch.ones(2), out=torch.zeros(3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(
    "f, derivative, name",
    [
        (lambda x: 1.1 - x, lambda a: -1.0 + 0 * a, "RsubBackward1"),
        (lambda x: 3 * x, lambda a: 3.0 + 0 * a, "MulBackward0"),
        (lambda x: x / 1.1, lambda a: 1 / 1.1 + 0 * a, "DivBackward0"),
        (lambda x: 1.1 / x, lambda a: -1.1 / a**2, "MulBackward0"),
        (lambda x: x**2, lambda a: 2 * a, "PowBackward0"),
        (lambda x: x**0.5, lambda a: 0.5 / a**0.5, "PowBackward0"),
        (lambda x: -x, lambda a: -1.0 + 0 * a, "NegBackward0"),
        (lambda x: x.mean() * 2, lambda a: 2 / a.size + 0 * a, "MulBackward0"),
    ],
)
def test_operators_with_numbers(f, derivative, name, dtype):
    x = torch.tensor([0.5, 1.5, 2.5], dtype=dtype, requires_grad=True)
    for shape in (3,), (3, 1), (1, 3, 1):
        y = f(x.reshape(shape))
        assert y.dtype is dtype and y.grad_fn.name() == name
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        assert g.dtype is dtype
        np.testing.assert_allclose(g.detach().numpy(), derivative(x.detach().numpy()), rtol=1e-6)
    y = f(x[1])
    assert y.shape == () and y.dtype is dtype
    (g,) = torch.autograd.grad(y, x[1].detach().requires_grad_(), allow_unused=True)
    assert g is None


def test_numbers_that_a_node_saved_are_those_of_the_user():
    x = torch.ones(2, requires_grad=True)
    assert x.dtype is torch.float32
    assert (x * 1.1).grad_fn._saved_other == 1.1
    exponent = (x**2).grad_fn._saved_exponent
    assert exponent == 2 and type(exponent) is int


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_that_are_equal_and_not_the_same(dtype):
    x = torch.ones(2, dtype=dtype, requires_grad=True)
    for zero in (0.0, -0.0, 0, -0.0):
        g = torch.autograd.grad((x * zero).sum(), x)[0].numpy()
        assert np.array_equal(np.signbit(g), np.signbit(np.full(2, zero, float)))
    nan = float("nan")
    for number in (nan, 1.0, 1, nan, 2.0):
        (g,) = torch.autograd.grad((x * number).sum(), x)
        np.testing.assert_array_equal(g.numpy(), np.full(2, number))
    assert (x * True).dtype is dtype


def test_a_gradient_of_another_type_is_not_narrowed_on_its_way():
    x = torch.full((3,), 0.3, dtype=torch.float64, requires_grad=True)
    y = (-torch.sin(x * 1.1)).to(torch.float32) * 1.1
    (-y.to(torch.float64).exp()).sum().backward()
    a = x.detach().numpy()
    due = np.exp(np.float32(-np.sin(a * 1.1)) * 1.1) * 1.1 * np.cos(a * 1.1) * 1.1
    np.testing.assert_allclose(x.grad.numpy(), due, rtol=1e-6)
    assert x.grad.dtype is torch.float64


def test_narrow_integers_are_scaled_in_the_type_that_they_have_beside_the_other():
    x, q = leaf([0.1, 0.2]), torch.tensor([200, 100], dtype=torch.uint8)
    np.testing.assert_allclose(torch.add(x, q, alpha=2).detach().numpy(), [400.1, 200.2])
    np.testing.assert_allclose(torch.sub(x, q, alpha=-3).detach().numpy(), [600.1, 300.2])
    np.testing.assert_allclose(torch.addcmul(x, q, q, value=2).detach().numpy(), [80000.1, 20000.2])
    np.testing.assert_allclose(x.detach().clone().add_(q, alpha=2).numpy(), [400.1, 200.2])


def test_ldexp_has_a_derivative_by_the_exponent():
    assert gradcheck(torch.ldexp, (leaf(random(3)), leaf(random(3, seed=6))))
    assert torch.ldexp(leaf([3.0]), torch.tensor([-1])).item() == 1.5


def test_no_difference_at_all_is_the_array_without_ends():
    x = leaf(random(4, 3))
    y = torch.diff(x, n=0, prepend=x[:, :1])
    assert y.shape == x.shape and y is not x
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.ones((4, 3)))
