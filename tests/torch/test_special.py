"""``torch.special`` and ``torch.fft``: values at known points, and gradients by differences."""

import math

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import gradcheck, gradgradcheck

F64 = torch.float64


def leaf(*values):
    return torch.tensor(values, dtype=F64, requires_grad=True)


POINTS = (-1.3, -0.2, 0.4, 2.5)
PHI = [0.5 * math.erfc(-x / math.sqrt(2)) for x in POINTS]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("erfcx", [math.exp(x * x) * math.erfc(x) for x in POINTS]),
        ("ndtr", PHI),
        ("log_ndtr", np.log(PHI)),
        ("i0", np.i0(POINTS)),
        ("i0e", np.i0(POINTS) * np.exp(-np.abs(POINTS))),
        ("expit", [1 / (1 + math.exp(-x)) for x in POINTS]),
        ("sinc", np.sinc(POINTS)),
        ("expm1", np.expm1(POINTS)),
    ],
)
def test_functions_of_one_tensor(name, expected):
    function, x = getattr(torch.special, name), leaf(*POINTS)
    assert np.allclose(function(x).tolist(), expected, rtol=1e-13)
    assert gradcheck(function, x) and gradgradcheck(function, x)


@pytest.mark.parametrize("name", ["lgamma", "digamma", "erfinv", "i0", "logcumsumexp"])
def test_functions_of_real_numbers_refuse_complex_ones(name):
    z = torch.tensor([0.5 + 0.2j])
    arguments = (0,) if name == "logcumsumexp" else ()
    for x in (z, z.requires_grad_()):
        with pytest.raises(NotImplementedError, match="complex"):
            getattr(torch, name)(x, *arguments)


def test_the_scaled_and_the_tail_of_the_normal_distribution():
    far = leaf(-40.0, 30.0)
    # log_ndtr(-x) is about -x^2/2 - log(x sqrt(2 pi)), erfcx(x) about 1 / (x sqrt(pi))
    low = torch.special.log_ndtr(far)
    assert (
        abs(low[0].item() + 800 + math.log(40 * math.sqrt(2 * math.pi)) + 1 / 1600) < 1e-5
        and -1e-190 < low[1].item() < 0
    )
    (g,) = torch.autograd.grad(low.sum(), far)
    assert abs(g[0].item() - 40.025) < 1e-3 and g[1].item() < 1e-190
    assert abs(torch.special.erfcx(leaf(1e5)).item() * 1e5 * math.sqrt(math.pi) - 1) < 1e-9


def test_the_inverse_of_the_normal_distribution():
    p = leaf(1e-300, 1e-10, 0.3, 0.975)
    x = torch.special.ndtri(p)
    assert np.allclose(torch.special.ndtr(x).tolist(), p.tolist(), rtol=1e-10)
    assert gradcheck(torch.special.ndtri, leaf(0.1, 0.6))
    assert torch.special.ndtri(torch.tensor([0.0, 1.0])).tolist() == [-math.inf, math.inf]


def test_the_modified_bessel_functions():
    x = leaf(-2.0, 0.0, 0.5, 50.0)
    for first, of in ((torch.special.i0, torch.special.i1), (torch.special.i0e, torch.special.i1e)):
        assert gradgradcheck(first, leaf(-2.0, 0.5, 3.0)) and gradcheck(of, leaf(-2.0, 0.0, 0.5))
    (slope,) = torch.autograd.grad(torch.special.i0(x).sum(), x)
    assert np.allclose(slope.tolist(), torch.special.i1(x).tolist(), rtol=1e-13)
    assert abs(torch.special.i0e(leaf(1e6)).item() * math.sqrt(2 * math.pi * 1e6) - 1) < 1e-6


def test_logarithms_where_their_factor_is_zero():
    x, y = leaf(0.0, 1.0, 0.0), leaf(0.5, 2.0, 0.0)
    out = torch.xlogy(x, y)
    gx, gy = torch.autograd.grad(out.sum(), (x, y))
    assert np.allclose(out.tolist(), [0, math.log(2), 0])
    assert np.allclose(gx.tolist(), [math.log(0.5), math.log(2), 0]) and np.allclose(gy.tolist(), [0, 0.5, 0])
    assert gradcheck(torch.special.xlog1py, (leaf(0.0, 1.5), leaf(0.5, 2.0)))
    assert torch.special.entr(torch.tensor([0.0, -1.0, 1.0])).tolist() == [0, -math.inf, 0]
    assert gradcheck(torch.special.entr, leaf(0.3, 2.0))


def test_parts_of_the_gamma_function():
    x = leaf(0.3, 1.0, 7.0)
    below, above = torch.igamma(torch.tensor([1.0] * 3, dtype=F64), x), torch.special.gammaincc(1.0, x)
    assert np.allclose(below.tolist(), 1 - np.exp(-np.array(x.tolist())), rtol=1e-14)
    assert np.allclose(above.tolist(), np.exp(-np.array(x.tolist())), rtol=1e-14)
    half = torch.tensor(0.5, dtype=F64)
    assert np.allclose(torch.igamma(half, x).tolist(), [math.erf(math.sqrt(v)) for v in x.tolist()], rtol=1e-14)
    assert gradcheck(lambda x: torch.igamma(half, x), x) and gradcheck(lambda x: torch.igammac(half, x), x)
    with pytest.raises(NotImplementedError, match="igamma: input"):
        torch.igamma(x, x)
    assert np.allclose(torch.special.zeta(2.0, leaf(1.0, 2.0)).tolist(), [math.pi**2 / 6, math.pi**2 / 6 - 1])
    assert gradcheck(lambda x: torch.special.zeta(2.5, x), x)
    below = leaf(-0.5, -3.3, -1e-3, -1e6 - 0.25, -1e20, -float("inf"))
    assert torch.special.zeta(3.0, below[4:]).tolist() == [math.inf, math.inf]
    assert math.isnan(torch.special.zeta(0.5, x)[0].item())
    assert np.allclose(torch.special.zeta(3.0, below[:2]).tolist(), [0.41439832211716, -34.3847227387426])
    assert torch.special.zeta(2.5, below[:2]).isnan().all()
    assert gradcheck(lambda x: torch.polygamma(2, x), below[:2].detach().requires_grad_())
    assert torch.polygamma(2, below[3:]).tolist() == pytest.approx([124.02510672, -math.inf, -math.inf])


def test_logit_within_bounds():
    x = leaf(0.1, 0.5, 0.95)
    out = torch.logit(x, eps=0.2)
    assert np.allclose(out.tolist(), [-math.log(4), 0, math.log(4)])
    assert np.allclose(torch.autograd.grad(out.sum(), x)[0].tolist(), [0, 4, 0])
    y = x * 1
    y.logit_(0.2)
    assert np.allclose(torch.autograd.grad(y.sum(), x)[0].tolist(), [0, 4, 0])


X = leaf(1.0, 2.0, 0.0, -1.0, 3.0, 0.5)
PLANE = torch.tensor([[1.0, 2.0, 0.0], [3.0, 1.0, 1.5]], dtype=F64, requires_grad=True)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 4, 9])
def test_transforms_of_one_axis(name, norm, n):
    function = getattr(torch.fft, name)
    assert np.allclose(function(X, n, norm=norm).tolist(), getattr(np.fft, name)(X.detach().numpy(), n, norm=norm))
    assert gradcheck(lambda x: function(x, n, norm=norm), X)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_of_several_axes(name):
    function = getattr(torch.fft, name)
    plain = getattr(np.fft, name)
    assert np.allclose(function(PLANE).tolist(), plain(PLANE.detach().numpy()))
    assert np.allclose(function(PLANE, (2, -1)).tolist(), plain(PLANE.detach().numpy(), (2, 3), (-2, -1)))
    assert gradcheck(lambda x: function(x, (2, 4)), PLANE)


def test_frequencies_and_their_order():
    assert torch.fft.fftfreq(5, 0.5).tolist() == np.fft.fftfreq(5, 0.5).astype(np.float32).tolist()
    assert torch.fft.rfftfreq(4).dtype is torch.float32
    assert torch.fft.fftshift(X).tolist() == np.fft.fftshift(X.detach().numpy()).tolist()
    assert torch.fft.ifftshift(torch.fft.fftshift(PLANE, 1), 1).tolist() == PLANE.tolist()
    assert gradcheck(torch.fft.fftshift, X)
    with pytest.raises(RuntimeError, match="rfft is of real tensors"):
        torch.fft.rfft(X + 0j)
