"""Elements reduced into places, written by number, and tensors resized and filled."""

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import gradcheck, gradgradcheck

F64 = torch.float64
OWN, SOURCE = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 0.5, 2.0]
PLACES = [0, 1, 0, 2]
PLAIN = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}


def leaf(values):
    return torch.tensor(values, dtype=F64, requires_grad=True)


def expected(reduce, include_self):
    out = []
    for i, own in enumerate(OWN):
        terms = [v for v, p in zip(SOURCE, PLACES, strict=True) if p == i]
        out.append(PLAIN[reduce]([own] * (include_self or not terms) + terms))
    return out


@pytest.mark.parametrize("reduce", PLAIN)
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce(reduce, include_self):
    def f(x, s):
        return x.scatter_reduce(0, torch.tensor(PLACES), s, reduce, include_self=include_self)

    x, s = leaf(OWN), leaf(SOURCE)
    assert f(x, s).tolist() == expected(reduce, include_self)
    assert gradcheck(f, (x, s)) and gradgradcheck(f, (x, s))
    y = x * 1
    y.scatter_reduce_(0, torch.tensor(PLACES), s, reduce, include_self=include_self)
    assert y.tolist() == expected(reduce, include_self)
    assert [g.tolist() for g in torch.autograd.grad(y.sum(), (x, s))] == [
        g.tolist() for g in torch.autograd.grad(f(x, s).sum(), (x, s))
    ]


def test_scatter_reduce_along_an_axis_and_of_integers():
    x = torch.zeros(2, 3, dtype=torch.int64)
    index = torch.tensor([[0, 2, 2], [1, 1, 1]])
    source = torch.tensor([[3, 4, 5], [7, 6, 8]])
    assert x.scatter_reduce(1, index, source, "amax").tolist() == [[3, 0, 5], [0, 8, 0]]
    assert x.scatter_reduce(1, index, source, "mean", include_self=False).tolist() == [[3, 0, 4], [0, 7, 0]]


def test_equal_extremes_share_and_products_of_zeros_are_exact():
    x, s = leaf([2.0, 0.0]), leaf([2.0, 3.0, 0.0])
    index = torch.tensor([0, 1, 1])
    gx, gs = torch.autograd.grad(x.scatter_reduce(0, index, s, "amax").sum(), (x, s))
    assert gx.tolist() == [0.5, 0] and gs.tolist() == [0.5, 1, 0]
    gx, gs = torch.autograd.grad(x.scatter_reduce(0, index, s, "prod", include_self=False).sum(), (x, s))
    assert gx.tolist() == [0, 0] and gs.tolist() == [1, 0, 3]


@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_index_reduce(reduce):
    def f(x, s):
        return x.index_reduce(1, torch.tensor([2, 0, 2]), s, reduce)

    x, s = leaf(np.arange(6.0).reshape(2, 3) + 1.2), leaf(np.arange(6.0)[::-1].reshape(2, 3) + 0.7)
    out, a, b = f(x, s).detach().numpy(), x.detach().numpy(), s.detach().numpy()
    assert np.allclose(out[:, 2], PLAIN[reduce]([a[:, 2], b[:, 0], b[:, 2]], axis=0))
    assert np.array_equal(out[:, 1], a[:, 1])
    assert gradcheck(f, (x, s))


def test_what_is_refused():
    x = leaf(OWN)
    with pytest.raises(RuntimeError, match="reduce argument must be one of sum, prod"):
        x.scatter_reduce(0, torch.tensor(PLACES), x, "add")
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.scatter_reduce(0, torch.tensor([-1]), x, "sum")


def test_put():
    def f(x, s):
        return x.put(torch.tensor([3, 0]), s), x.put(torch.tensor([1, 1]), s, accumulate=True)

    x, s = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    put, added = f(x, s)
    assert put.tolist() == [[6, 2], [3, 5]] and added.tolist() == [[1, 13], [3, 4]]
    assert gradcheck(f, (x, s))
    y = x * 1
    y.put_(torch.tensor([0]), s[:1])
    assert [g.tolist() for g in torch.autograd.grad(y.sum(), (x, s))] == [[[0, 1], [1, 1]], [1, 0]]


def test_the_diagonal_is_filled():
    x = leaf(np.ones((3, 2)))
    y = x * 2
    assert y.fill_diagonal_(7.0) is y and y.tolist() == [[7, 2], [2, 7], [2, 2]]
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [[0, 2], [2, 0], [2, 2]]
    assert torch.zeros(5, 2).fill_diagonal_(1, wrap=True).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]
    assert torch.zeros(2, 2, 2).fill_diagonal_(3).sum().item() == 6
    with pytest.raises(RuntimeError, match="axes of one length"):
        torch.zeros(2, 2, 3).fill_diagonal_(1)


def test_tensors_are_resized():
    x = torch.arange(4.0)
    assert x.resize_(2, 1) is x and x.tolist() == [[0], [1]]
    assert x.resize_(3).tolist() == [0, 1, 0]
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf(OWN).resize_(2)
    with pytest.raises(RuntimeError, match="view"):
        torch.arange(4.0)[:2].resize_(1)


def test_what_reads_its_input_twice_may_write_into_it():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    for in_place, plain in (
        (lambda y: y.renorm_(2, 0, 1.0), lambda y: y.renorm(2, 0, 1.0)),
        (lambda y: y.polygamma_(1), lambda y: y.polygamma(1)),
        (
            lambda y: y.div_(y.detach() + 1, rounding_mode="trunc"),
            lambda y: y.div(y.detach() + 1, rounding_mode="trunc"),
        ),
    ):
        (a,) = torch.autograd.grad(in_place(x * 1).sum(), x)
        (b,) = torch.autograd.grad(plain(x * 1).sum(), x)
        assert a.tolist() == b.tolist()
    y = x * 1
    y.mul_(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_random_fillings():
    torch.manual_seed(0)
    t = torch.zeros(1000)
    assert set(t.random_(3).tolist()) == {0, 1, 2} and set(t.random_(5, 7).tolist()) == {5, 6}
    assert t.exponential_(2.0).min().item() >= 0 and abs(t.mean().item() - 0.5) < 0.1
    assert t.geometric_(0.5).min().item() == 1 and t.cauchy_().isfinite().all() and t.log_normal_().min().item() > 0
    assert torch.zeros(9, dtype=torch.bool).random_().any()
    weights = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    drawn = torch.multinomial(weights, 50, replacement=True)
    assert set(drawn[0].tolist()) == {1, 2} and set(drawn[1].tolist()) == {0}
    assert torch.poisson(torch.full((500,), 4.0)).mean().item() == pytest.approx(4, abs=0.5)
    assert torch.randint_like(t, 2).dtype is torch.float32


def test_differences_with_ends_and_gradients_along_axes():
    x, ends = leaf([[1.0, 2.0, 4.0], [4.0, 1.0, 6.0], [0.0, 1.0, 2.0]]), leaf([[0.0], [1.0], [2.0]])
    a, e = x.detach().numpy(), ends.detach().numpy()
    assert torch.diff(x, prepend=ends, append=ends).tolist() == np.diff(a, prepend=e, append=e).tolist()
    assert gradcheck(lambda x, e: torch.diff(x, prepend=e), (x, ends))
    places = torch.tensor([0.0, 1.0, 3.0], dtype=F64)
    for got, want in (
        (torch.gradient(x), np.gradient(a)),
        (torch.gradient(x, spacing=2.0, dim=1), [np.gradient(a, 2.0, axis=1)]),
        (torch.gradient(x, spacing=(places,), dim=0), [np.gradient(a, [0, 1, 3], axis=0)]),
        (torch.gradient(x, dim=1, edge_order=2), [np.gradient(a, axis=1, edge_order=2)]),
    ):
        assert isinstance(got, tuple) and np.allclose([g.tolist() for g in got], want)
    assert gradcheck(lambda x: torch.gradient(x, spacing=(places,), dim=0), x)


def test_rows_that_are_there_more_than_once():
    values, inverse, counts = torch.unique(
        torch.tensor([[1, 1], [3, 2], [1, 1]]), dim=0, return_inverse=True, return_counts=True
    )
    assert values.tolist() == [[1, 1], [3, 2]] and inverse.tolist() == [0, 1, 0] and counts.tolist() == [2, 1]


def test_a_vector_of_nothing_is_part_of_the_graph():
    nothing, x = torch.zeros(0, dtype=F64, requires_grad=True), leaf([[1.0, 2.0]])
    torch.cat([nothing, x]).sum().backward()
    assert nothing.grad.tolist() == [] and x.grad.tolist() == [[1, 1]]


def test_memory_of_what_is_put_together_and_of_axes_of_one_element():
    x = torch.arange(24.0).reshape(2, 3, 4).transpose(0, 1)
    assert torch.cat([x, x]).stride() == (8, 4, 1) and torch.stack([x, x]).stride() == (24, 8, 4, 1)
    assert x.contiguous()[None].stride() == (24, 8, 4, 1) and torch.ones(3).expand(1, 3).stride() == (3, 1)
