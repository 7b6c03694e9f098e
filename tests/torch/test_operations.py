"""Operations: values and gradients of first and second order against finite differences; special points; errors."""

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import grad

F64 = torch.float64
F = torch.nn.functional
L = torch.linalg
I = torch.tensor  # noqa: E741

rng = np.random.default_rng(0)
POSITIVE = rng.uniform(0.1, 0.9, (3, 4))
SQUARE = rng.uniform(0.1, 0.9, (3, 3)) + 2 * np.eye(3)
IMAGE = rng.normal(size=(1, 2, 5, 5))


def weighted(out):
    """A number of all results, each element with its own weight."""
    outs = out if isinstance(out, tuple | list) else (out,)
    total = 0
    for o in outs:
        if o.requires_grad or o.is_floating_point():
            w = 1 + 0.3 * torch.arange(o.numel(), dtype=F64).reshape(o.shape)
            total = total + (o * w).sum()
    return total


def slope(f, data, i, at, step):
    up, down = [d.copy() for d in data], [d.copy() for d in data]
    up[i][at] += step
    down[i][at] -= step
    return (f(*up) - f(*down)) / (2 * step)


def check(f, *data, second=True):
    """Compare the gradients of `f` with finite differences."""

    def value(*arrays):
        return weighted(f(*[torch.tensor(a) for a in arrays])).item()

    def first(*arrays):
        leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
        found = grad(weighted(f(*leaves)), leaves, create_graph=second, materialize_grads=True)
        return leaves, found

    leaves, found = first(*data)
    assert all(g.shape == x.shape and g.dtype is x.dtype for g, x in zip(found, leaves, strict=True))
    for i, d in enumerate(data):
        for at in list(np.ndindex(d.shape))[:6]:
            assert found[i].detach().numpy()[at] == pytest.approx(slope(value, data, i, at, 1e-6), rel=1e-5, abs=1e-6)
    if not second or not any(g.requires_grad for g in found):
        return

    def squared(*arrays):
        return sum((g * g).sum().item() for g in first(*arrays)[1])

    total = sum((g * g).sum() for g in found if g.requires_grad)
    again = grad(total, leaves, materialize_grads=True, allow_unused=True)
    for i, d in enumerate(data):
        for at in list(np.ndindex(d.shape))[:3]:
            assert again[i].numpy()[at] == pytest.approx(slope(squared, data, i, at, 1e-5), rel=1e-4, abs=1e-5)


ONE = """
exp log sin cos tan asin acos atan sinh cosh tanh sqrt log1p expm1 log2 log10 exp2 asinh atanh sigmoid
rsqrt erf erfc logit deg2rad rad2deg sinc reciprocal neg square relu abs floor ceil trunc round sign
frac logsigmoid softplus sum mean prod var std max min median amax amin norm nansum
t flatten clone triu tril trace diagonal diag unbind cumsum1 logcumsumexp1 cumprod1 sort
"""
TWO = """
add sub mul div pow remainder fmod maximum minimum atan2 hypot logaddexp copysign fmax fmin
"""


@pytest.mark.parametrize("name", ONE.split())
def test_functions_of_one_tensor(name):
    name = name.rstrip("1") if name.startswith(("cum", "logcum")) else name
    function = getattr(torch, name, None) or getattr(torch.Tensor, name)
    check(lambda x: function(x, 1) if name.startswith(("cum", "logcum")) else function(x), POSITIVE)


def test_acosh():
    check(torch.acosh, POSITIVE + 1)


@pytest.mark.parametrize("name", TWO.split())
def test_functions_of_two_tensors(name):
    check(getattr(torch, name), POSITIVE[:, :1], POSITIVE[0] * 0.7 + 0.05)
    check(getattr(torch, name), POSITIVE, np.array(0.37))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 1 - x,
        lambda x: 2 / x,
        lambda x: 2**x,
        lambda x: x**3,
        lambda x: x % 0.25,
        lambda x: 3 * x + 1,
        lambda x: -x / 4,
        lambda x: torch.add(x, x, alpha=3),
        lambda x: x.clamp(0.3, 0.6),
        lambda x: torch.clamp(x, torch.full((4,), 0.3, dtype=F64)),
        lambda x: torch.where(x > 0.5, x * 2, 1.0),
        lambda x: x.masked_fill(x > 0.5, 2.0),
        lambda x: torch.lerp(x, x * x, 0.3),
        lambda x: torch.addcmul(x, x, x, value=2) + torch.addcdiv(x, x, x + 1),
        lambda x: torch.round(x, decimals=1),
        lambda x: torch.div(x, 0.3, rounding_mode="floor") + torch.div(x, 0.3, rounding_mode="trunc"),
        lambda x: x.nan_to_num(),
        lambda x: torch.complex(x, x * 2).abs(),
        lambda x: torch.view_as_real(torch.polar(x, x)),
        lambda x: x.sum(0, keepdim=True) * x.mean((0, 1)) + x.var(1, correction=0).sum(),
        lambda x: x.logsumexp(1) + x.norm(1, 1) + x.norm(3, 1) + x.norm(float("inf"), 1),
        lambda x: (x.max(1)[0], x.min(0, keepdim=True)[0], x.median(1)[0], x.kthvalue(2, 1)[0], x.topk(2)[0]),
        lambda x: (x.sort(0, descending=True)[0], x.cummax(1)[0], x.cummin(0)[0], torch.diff(x)),
        lambda x: torch.softmax(x, 1) + torch.log_softmax(x, 0),
        lambda x: torch.var_mean(x, dim=0) + torch.std_mean(x, dim=0),
    ],
)
def test_other_elementwise_and_reductions(f):
    check(f, POSITIVE)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.view(4, 3).t().reshape(-1),
        lambda x: x.permute(1, 0).contiguous().view(12),
        lambda x: x.unsqueeze(0).expand(2, -1, 4).squeeze(),
        lambda x: x.repeat(2, 1) + torch.tile(x, (2, 1)),
        lambda x: x.repeat_interleave(2, 1).flip(0, 1).roll(1, 1),
        lambda x: x.rot90().movedim(0, 1),
        lambda x: torch.cat([x, x * x], 1),
        lambda x: torch.stack([x, x * x], -1),
        lambda x: torch.hstack([x, x]) * torch.hstack([x, x]),
        lambda x: [a * b for a, b in zip(x.split(2, 1), x.split([2, 2], 1), strict=True)],
        lambda x: [a * a for a in x.chunk(3, 1)] + [a * a for a in torch.tensor_split(x, 3, 1)],
        lambda x: torch.diag_embed(x * x, 1),
        lambda x: [a * a for a in torch.meshgrid(x[0], x[1], indexing="xy")],
        lambda x: x.unflatten(1, (2, 2)).flatten(1) * x.narrow(1, 0, 4) * x.select(1, 2).unsqueeze(1),
        lambda x: torch.broadcast_tensors(x * x, x[:1])[0],
        lambda x: x[0] * x[1, 2] + x[..., None].sum() + x[None][0, 0],
        lambda x: x[1:, ::2] * x[[0, 0]][:, [1, 1]],
        lambda x: x[I([0, 1]), I([1, 1])] * x[x > 0.2].sum() + x[I([True, False, True])].sum(),
        lambda x: x.gather(1, I([[0, 1], [2, 0], [3, 3]])) ** 2,
        lambda x: x.index_select(1, I([0, 0, 2])) ** 2,
        lambda x: torch.take(x, I([0, 5, 5])) ** 2,
        lambda x: torch.take_along_dim(x, I([[0], [1], [0]]), 1) ** 2,
        lambda x: x.masked_select(x > 0.5) ** 2,
        lambda x: x.scatter(1, I([[0], [1], [2]]), x * x),
        lambda x: x.scatter_add(1, I([[0, 0], [1, 0], [1, 1]]), x * x),
        lambda x: x.index_add(0, I([0, 0]), x[:2] * x[1:], alpha=2),
        lambda x: x.index_copy(0, I([1, 0]), x[:2] ** 2) + x.index_fill(0, I([1]), 3.0),
        lambda x: x.index_put((I([0, 0]), I([1, 1])), x[0, :2] ** 2, accumulate=True),
        lambda x: x.masked_scatter(x > 0.5, x * x),
        lambda x: sum(row * row for row in x),
    ],
)
def test_shapes_and_indices(f):
    check(f, POSITIVE)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: a @ b + a @ b[0] + b[1] @ a,
        lambda a, b: torch.mm(a, b) + torch.bmm(a[None], b[None])[0],
        lambda a, b: torch.dot(a[0], b[0]) * torch.outer(a[0], b[0]),
        lambda a, b: torch.einsum("ij,kj->ik", a, b) + torch.tensordot(a, b, 1) + torch.inner(a, b),
        lambda a, b: torch.kron(a, b).sum() + torch.addmm(a, a, b, beta=2, alpha=3),
        lambda a, b: L.cross(a, b),
        lambda a, b: L.solve(a, b) + L.solve(a, b, left=False) + L.solve_triangular(a, b, upper=True),
        lambda a, b: L.multi_dot([a, b, a]) + torch.matrix_power(a, 3),
    ],
)
def test_products(f):
    check(f, SQUARE, rng.uniform(0.1, 0.9, (3, 3)))


@pytest.mark.parametrize(
    "f",
    [
        L.inv,
        L.det,
        lambda a: L.slogdet(a)[1] + torch.logdet(a),
        lambda a: L.cholesky(a @ a.mT),
        lambda a: L.eigh(a + a.mT)[0],
        lambda a: L.eigh(a + a.mT)[1] ** 2,
        L.eigvalsh,
        L.svdvals,
        lambda a: L.qr(a)[1].abs(),
        L.pinv,
        lambda a: torch.matrix_exp(a / 4),
        lambda a: L.matrix_norm(a) + L.matrix_norm(a, "nuc") + L.matrix_norm(a, 1) + L.matrix_norm(a, 2),
        lambda a: L.norm(a) + L.vector_norm(a, 3, dim=1).sum(),
    ],
)
def test_linear_algebra(f):
    check(lambda a: f(a @ a.mT / 3 if f is L.eigvalsh else a), SQUARE)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.leaky_relu(x, 0.1) + F.elu(x) + F.gelu(x) + F.gelu(x, approximate="tanh") + F.silu(x) + F.mish(x),
        lambda x: F.softplus(x, 2.0) + F.relu6(x * 4) + F.hardtanh(x),
        lambda x: F.pad(x, (1, 2, 0, 1)),
        lambda x: F.pad(x, (1, 1), mode="reflect") * 2,
        lambda x: F.avg_pool2d(x, 2) ** 2,
        lambda x: F.max_pool2d(x, 3, 2, 1) ** 2,
        lambda x: F.conv2d(x, x[:, :, :2, :2], stride=2, padding=1),
        lambda x: F.conv2d(x, torch.ones(4, 1, 2, 2, dtype=F64), groups=2, dilation=2) ** 2,
        lambda x: F.normalize(x) + F.layer_norm(x, (5,)),
        lambda x: F.dropout(x, 0.5, training=False),
    ],
)
def test_layers(f):
    check(f, IMAGE)


def test_losses_and_tables():
    x, y = POSITIVE, POSITIVE[::-1].copy()
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"):
        for reduction in ("mean", "sum", "none"):
            check(lambda a, b, n=name, r=reduction: getattr(F, n)(a, b, reduction=r), x, y, second=False)
    check(lambda a: F.cross_entropy(a, I([0, 2, 1])) + F.nll_loss(F.log_softmax(a, 1), I([0, 2, 1])), x)
    check(lambda w, b: F.linear(torch.ones(2, 4, dtype=F64), w, b) ** 2, x, x[:, 0].copy())
    check(lambda w: F.embedding(I([[0, 2], [0, 1]]), w) ** 2, x)
    assert F.one_hot(I([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


def at(f, values, dtype=F64):
    x = torch.tensor(values, dtype=dtype, requires_grad=True)
    return grad(f(x).sum(), x)[0].tolist()


@pytest.mark.parametrize(
    ("f", "values", "expected"),
    [
        (torch.relu, [-1.0, 0.0, 1.0], [0, 0, 1]),
        (torch.abs, [-1.0, 0.0, 1.0], [-1, 0, 1]),
        (torch.relu, [np.inf, -np.inf], [1, 0]),
        (F.softplus, [np.inf, -np.inf], [1, 0]),
        (torch.sigmoid, [np.inf, -np.inf, -800.0], [0, 0, 0]),
        (lambda x: x.logsumexp(0), [-np.inf, 0.0], [0, 1]),
        (lambda x: x.clamp(0.0, 1.0), [-1.0, 0.0, 0.5, 1.0, 2.0], [0, 1, 1, 1, 0]),
        (F.relu6, [0.0, 6.0, 7.0], [0, 0, 0]),
        (lambda x: F.leaky_relu(x, 0.5), [-1.0, 0.0, 1.0], [0.5, 0.5, 1]),
        (lambda x: x.max(), [1.0, 3.0, 3.0], [0, 0.5, 0.5]),
        (lambda x: x.amin(0), [1.0, 1.0, 3.0], [0.5, 0.5, 0]),
        (lambda x: x.max(0)[0], [1.0, 3.0, 3.0], [0, 1, 0]),
        (lambda x: x.median(), [1.0, 2.0, 2.0, 3.0], [0, 0.5, 0.5, 0]),
        (lambda x: torch.maximum(x, torch.ones(2, dtype=F64)), [1.0, 2.0], [0.5, 1]),
        (lambda x: x.cummax(0)[0], [1.0, 3.0, 2.0, 3.0], [1, 2, 0, 1]),
        (torch.sqrt, [0.0, 4.0], [np.inf, 0.25]),
        (lambda x: x**0, [0.0, 2.0], [0, 0]),
        (lambda x: x**2, [0.0, 2.0], [0, 4]),
        (lambda x: 0.0**x, [0.0, 1.0], [0, 0]),
        (torch.log, [0.0, 1.0], [np.inf, 1]),
        (lambda x: x.norm(), [0.0, 0.0], [0, 0]),
        (lambda x: x.norm(3), [0.0, 0.0], [0, 0]),
        (lambda x: x.norm(1), [0.0, -2.0], [0, -1]),
        (lambda x: x.norm(float("inf")), [3.0, -3.0, 1.0], [0.5, -0.5, 0]),
        (lambda x: x.prod(), [0.0, 0.0, 4.0], [0, 0, 0]),
        (lambda x: x.prod(), [2.0, 0.0, 4.0], [0, 8, 0]),
        (lambda x: x.std(), [2.0, 2.0], [0, 0]),
        (lambda x: torch.floor(x) + torch.sign(x), [0.3, -1.7], [0, 0]),
        (lambda x: torch.where(x > 0, x.sqrt(), torch.zeros_like(x)), [0.0, 4.0, -1.0], [0, 0.25, 0]),
        (lambda x: F.max_pool2d(x.view(1, 1, 2, 2), 2), [1.0, 1.0, 1.0, 1.0], [1, 0, 0, 0]),
        (lambda x: torch.sgn(torch.complex(x, x)).real, [0.0], [0]),
        (lambda x: torch.complex(x, x).abs(), [0.0], [0]),
        (lambda x: torch.complex(x, 0 * x).angle(), [0.0], [0]),
    ],
)
def test_special_points(f, values, expected):
    assert at(f, values) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: x @ x.float(), RuntimeError),
        (lambda x: x @ x.t() @ x.t(), RuntimeError),
        (lambda x: torch.mm(x, x[0]), RuntimeError),
        (lambda x: x + torch.ones(5), RuntimeError),
        (lambda x: x.view(5), RuntimeError),
        (lambda x: x.t().view(12), RuntimeError),
        (lambda x: x.reshape(-1, 5), RuntimeError),
        (lambda x: x.expand(3, 3), RuntimeError),
        (lambda x: x.sum(5), IndexError),
        (lambda x: x[9], IndexError),
        (lambda x: x[1.0], IndexError),
        (lambda x: x[::-1], ValueError),
        (lambda x: x[I([9])], IndexError),
        (lambda x: torch.cat([x, x.t()]), RuntimeError),
        (lambda x: x.permute(0, 0), RuntimeError),
        (lambda x: I([1, 2]).mean(), RuntimeError),
        (lambda x: x.amax(0) if x.numel() == 0 else torch.zeros(0, 2).amax(0), IndexError),
        (lambda x: L.inv(x), RuntimeError),
        (lambda x: L.inv(torch.zeros(2, 2)), RuntimeError),
        (lambda x: torch.complex(x, x) > 0, NotImplementedError),
        (lambda x: x & x, NotImplementedError),
        (lambda x: torch.sin(3.0), TypeError),
        (lambda x: x + "text", TypeError),
        (lambda x: (x // 2).sum().backward(), RuntimeError),
        (lambda x: x.unique().sum().backward(), RuntimeError),
    ],
)
def test_errors(f, error):
    with pytest.raises(error):
        f(torch.tensor(POSITIVE, requires_grad=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_types(dtype):
    x = torch.tensor([0.5, 0.25], dtype=dtype, requires_grad=True)
    y = (x * 2 + x.exp() * x.sigmoid()).softmax(0).sum() + (x @ x) + x.mean()
    y.backward()
    reference = torch.tensor([0.5, 0.25], dtype=F64, requires_grad=True)
    (reference @ reference + reference.mean()).backward()
    assert y.dtype is x.grad.dtype is dtype
    np.testing.assert_allclose(x.grad.double().numpy(), reference.grad.numpy(), rtol=0.05)


def test_complex_numbers_as_pairs_are_views():
    z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
    y = z * 1
    pairs = torch.view_as_real(y)
    assert pairs._is_view() and pairs.tolist() == [[1, 2], [3, -1]] and pairs.grad_fn.name() == "ViewAsRealBackward0"
    pairs[:, 0].mul_(10)
    assert y.tolist() == [10 + 2j, 30 - 1j]
    (pairs * torch.tensor([1.0, 5.0], dtype=F64)).sum().backward()
    assert z.grad.tolist() == [10 + 5j, 10 + 5j]
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64, requires_grad=True)
    w = x * 1
    c = torch.view_as_complex(w)
    assert c._is_view() and c.tolist() == [1 + 2j, 3 + 4j]
    c.mul_(1j)
    assert w.tolist() == [[-2, 1], [-4, 3]]
    (grad_x,) = grad((w[:, 0] * 3 + c.imag).sum(), x)
    assert grad_x.tolist() == [[1, -3], [1, -3]]
    for bad, text in (
        (lambda: torch.view_as_complex(x[:, :1]), "last dimension of size 2"),
        (lambda: torch.view_as_complex(x.t()), "side by side"),
        (lambda: torch.view_as_complex(torch.zeros(2, dtype=torch.int64)), "float32 and float64"),
        (lambda: torch.view_as_real(x), "complex tensors only"),
    ):
        with pytest.raises(RuntimeError, match=text):
            bad()


@pytest.mark.parametrize("shape", [(), (0,), (2,), (2, 3)])
def test_pairs_there_and_back(shape):
    z = torch.tensor(rng.normal(size=shape) + 1j * rng.normal(size=shape), requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: torch.view_as_complex(torch.view_as_real(z) * 2) * z, z)
    assert torch.autograd.gradgradcheck(lambda z: torch.view_as_complex(torch.view_as_real(z) * 2) * z, z)


def test_complex_of_parts():
    inf = float("inf")
    assert torch.complex(torch.tensor(1.0), torch.tensor(inf)).real.item() == 1.0
    a, b = [torch.tensor(rng.normal(size=s), requires_grad=True) for s in ((2, 1), (3,))]
    assert torch.autograd.gradcheck(lambda a, b: torch.complex(a, b) ** 2, (a, b))
    assert torch.complex(torch.ones(2), torch.ones(2)).dtype is torch.complex64


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("f", "value", "gradient"),
    [
        (lambda x: x.nanmean(), [1.0, NAN, 3.0], [0.5, 0, 0.5]),
        (F.softsign, [0.0, 1.0, -3.0], [1, 0.25, 0.0625]),
        (lambda x: F.huber_loss(x, x.detach() * 0), [0.5, 1.0, 2.0], [0.5 / 3, 1 / 3, 1 / 3]),
        (lambda x: F.huber_loss(x, x.detach() * 0, "sum", 0.5), [0.25, 2.0], [0.25, 0.5]),
        (lambda x: F.kl_div(x, I([0.0, 1.0], dtype=F64), reduction="sum"), [0.1, 0.2], [0, -1]),
        (lambda x: F.kl_div(x, x.detach(), reduction="sum", log_target=True), [0.0, 0.0], [-1, -1]),
        (lambda x: F.cosine_similarity(x, I([1.0, 0.0], dtype=F64), dim=0), [3.0, 4.0], [0.128, -0.096]),
        (lambda x: torch.xlogy(x, I([0.0, 2.0], dtype=F64)), [0.0, 1.0], [0, np.log(2)]),
        (lambda x: torch.xlogy(I([0.0, 2.0], dtype=F64), x), [0.0, 4.0], [0, 0.5]),
    ],
)
def test_more_functions(f, value, gradient):
    x = torch.tensor(value, dtype=F64, requires_grad=True)
    np.testing.assert_allclose(grad(f(x).sum(), x)[0].numpy(), gradient, atol=1e-12)


def test_values_of_more_functions():
    assert torch.xlogy(I([0.0, 0.0, 2.0]), I([0.0, NAN, 1.0])).isnan().tolist() == [False, True, False]
    assert I([1.0, NAN, 3.0]).nanmean().item() == 2 and I([[1, 3, 2]]).median().item() == 2
    assert F.cosine_similarity(I([3.0, 4.0]), I([6.0, 8.0]), dim=0).item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda z: z.sort(), RuntimeError),
        (lambda z: z.argsort(), RuntimeError),
        (lambda z: z.topk(1), RuntimeError),
        (lambda z: z.max(0), RuntimeError),
        (lambda z: z.argmax(), RuntimeError),
        (lambda z: z.max(), NotImplementedError),
        (lambda z: z.median(), NotImplementedError),
        (lambda z: z.cummax(0), NotImplementedError),
        (lambda z: z.clamp(0, 1), NotImplementedError),
        (lambda z: z // 2, NotImplementedError),
        (lambda z: z < z, NotImplementedError),
    ],
)
def test_complex_numbers_have_no_order(f, error):
    with pytest.raises(error):
        f(torch.tensor([1j, 2.0]))


def test_types_that_operations_refuse():
    whole, truth = I([1, 2]), I([True])
    for f, error in (
        (lambda: truth - truth, RuntimeError),
        (lambda: truth // truth, NotImplementedError),
        (lambda: whole.norm(), RuntimeError),
        (lambda: whole.softmax(0), NotImplementedError),
        (lambda: whole.topk(3), RuntimeError),
        (lambda: whole.kthvalue(0), RuntimeError),
    ):
        with pytest.raises(error):
            f()
    assert whole.norm(dtype=F64).item() == 5**0.5 and whole.softmax(0, dtype=F64).sum() == 1


def test_elements_chosen_by_arrays_lie_row_by_row():
    x = torch.arange(6, dtype=F64).reshape(2, 3).requires_grad_()
    y = x[:, [1, 0, 2, 2]]
    assert y.is_contiguous() and y.view(8).tolist() == [1, 0, 2, 2, 4, 3, 5, 5]
    assert grad((y.view(2, 4) ** 2).sum(), x)[0].tolist() == [[0, 2, 8], [6, 8, 20]]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.clamp(0.0, 1.0),
        lambda x: F.hardtanh(x, 0.0, 1.0),
        lambda x: x.masked_fill((x < 0) | (x > 1), 2.0),
        lambda x: x.index_fill(0, I([0, 2]), 1.0),
        lambda x: torch.relu(x - 4 * (x > 1)),
    ],
)
@pytest.mark.parametrize("infinite", [float("inf"), float("nan")])
def test_what_is_cut_off_gets_no_gradient_even_of_what_is_infinite(f, infinite):
    x = I([2.0, 0.5, -3.0], dtype=F64, requires_grad=True)
    weights = I([infinite, 2.0, infinite], dtype=F64)
    assert grad(f(x), x, weights)[0].tolist() == [0, 2, 0]


def test_steps_have_no_derivative_even_of_what_is_infinite():
    x = I([2.5, -3.5], dtype=F64, requires_grad=True)
    weights = I([float("inf"), float("nan")], dtype=F64)
    for f in (torch.floor, torch.ceil, torch.trunc, torch.round, torch.sign):
        assert grad(f(x), x, weights)[0].tolist() == [0, 0]


def test_squeezing_nothing_gives_a_view_with_a_node_of_its_own():
    x = I([1.0, 2.0], dtype=F64, requires_grad=True)
    for y, name in ((x.squeeze(), "SqueezeBackward0"), (x.squeeze(0), "SqueezeBackward1")):
        x.grad = None
        y.register_hook(lambda g: g * 2)
        (y * 3 + x).sum().backward()
        assert y.grad_fn.name() == name and y._base is x and x.grad.tolist() == [7, 7]


def test_a_tensor_without_dimensions_is_a_line_of_one_element():
    x = I(3.0, dtype=F64, requires_grad=True)
    for f in (lambda x: x.cumsum(0), lambda x: x.cumprod(-1), lambda x: x.flip(0)):
        y = f(x * x)
        (first,) = grad(y, x, create_graph=True)
        assert (y.shape, y.item(), first.item()) == ((), 9, 6)
        assert grad(first, x)[0].item() == 2


def test_shapes_that_operations_refuse():
    s, x, m = I(2.0, dtype=F64), I([1.0, 2.0], dtype=F64), I([[1.0, 2.0], [3.0, 4.0]], dtype=F64)
    twice = I([0, 0])
    for f, error in (
        (lambda: x.index_add(0, twice, m), RuntimeError),
        (lambda: x.index_add(0, twice, x[:1]), RuntimeError),
        (lambda: m.clone().index_add_(0, twice, x), RuntimeError),
        (lambda: x.index_copy(0, twice, x[:1]), IndexError),
        (lambda: x.outer(m), RuntimeError),
        (lambda: torch.outer(x, s), RuntimeError),
        (lambda: x.diagonal(), IndexError),
        (lambda: x.tril(), RuntimeError),
        (lambda: s.unbind(), IndexError),
        (lambda: s.split(1), RuntimeError),
        (lambda: s.flip(1), IndexError),
        (lambda: x.flip(0, 0), RuntimeError),
        (lambda: x - True, RuntimeError),
    ):
        with pytest.raises(error):
            f()


def test_numbers_of_numpy_are_numbers():
    x = I([1.0, 2.0], dtype=F64, requires_grad=True)
    for f in (lambda c: c + x, lambda c: c - x, lambda c: c * x, lambda c: c / x):
        mine, due = f(np.float64(1.5)).grad_fn, f(1.5).grad_fn
        assert mine.name() == due.name()
        assert [node is None for node, _ in mine.next_functions] == [node is None for node, _ in due.next_functions]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x**2,
        lambda x: x**3,
        lambda x: x.abs() ** 0.5,
        lambda x: x.abs() ** x,
        lambda x: 2**x,
        lambda x: torch.atan2(x, x + 1),
        lambda x: torch.hypot(x, x),
        lambda x: F.mse_loss(x, x * 2),
        lambda x: F.rms_norm(x, (3,)),
        lambda x: x.mode()[0],
        lambda x: x.norm(),
        lambda x: x.softmax(0).square(),
    ],
)
def test_bfloat16(f):
    values = [0.5, -1.5, 2.0]
    gradients = []
    for dtype in (torch.bfloat16, torch.float32):
        x = torch.tensor(values, dtype=dtype, requires_grad=True)
        out = f(x)
        gradients += grad(out.sum(), x)
        assert out.dtype is dtype and gradients[-1].dtype is dtype
    assert np.allclose(*[g.float().tolist() for g in gradients], rtol=2e-2, atol=1e-2)  # of eight bits each


def test_random_integers_of_bfloat16():
    assert torch.ones(9, dtype=torch.bfloat16).random_().max().item() <= 256


def test_no_gradient_flows_through_the_number_of_elements_that_are_not_zero():
    x = torch.tensor([[0.0, 2.0], [-1.0, 3.0]], dtype=F64, requires_grad=True)
    assert x.norm(0).item() == 3 and L.vector_norm(x, 0, dim=0).tolist() == [1, 2]
    with pytest.raises(RuntimeError):
        grad(x.norm(0), x)
