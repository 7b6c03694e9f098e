"""What operations accept as arguments, and of which class the error is where they do not."""

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import grad

F64 = torch.float64


def leaf(values):
    return torch.tensor(values, dtype=F64, requires_grad=True)


X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.sum(2),
        lambda x: x.permute(1, 2),
        lambda x: torch.stack([x, x], 5),
        lambda x: x.sum().sum(1),
        lambda x: x.sum().softmax(1),
        lambda x: x.unsqueeze(4),
    ],
)
def test_a_dimension_out_of_range_is_an_index_error(f):
    with pytest.raises(IndexError):
        f(leaf(X))


@pytest.mark.parametrize("dim", [1.5, "a", True])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, dim: x.sum(dim),
        lambda x, dim: x.cumsum(dim),
        lambda x, dim: x.sort(dim),
        lambda x, dim: x.unsqueeze(dim),
        lambda x, dim: x.flatten(dim),
    ],
)
def test_a_dimension_is_an_integer(f, dim):
    with pytest.raises(TypeError, match="a dimension is an integer"):
        f(leaf(X), dim)


def test_dimensions_may_be_integers_of_numpy():
    assert leaf(X).sum(np.int64(1)).tolist() == [6.0, 15.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.view(torch.complex128),
        lambda x: x.diagonal(0, 0, 0),
        lambda x: x.rot90(1, (0, 0)),
        lambda x: x[None].diag(),
        lambda x: x.sum().diff(),
        lambda x: torch.isclose(x, torch.ones(4)),
        lambda x: torch.allclose(x, torch.ones(4)),
        lambda x: torch.heaviside(x, torch.ones(4, dtype=F64)),
    ],
)
def test_what_numpy_refuses_is_a_runtime_error(f):
    with pytest.raises(RuntimeError):
        f(leaf(X))


@pytest.mark.parametrize(
    ("key", "numbers", "rest"),
    [
        ((0, slice(None), [0, 1]), (0,), (slice(None), [0, 1])),
        ((0, None, slice(None), [0, 1]), (0,), (None, slice(None), [0, 1])),
        ((slice(None), [0, 1], slice(None), 0), (..., 0), (slice(None), [0, 1])),
        ((0, slice(None), slice(None), [0]), (0,), (slice(None), slice(None), [0])),
        ((..., [0, 1], slice(None), 1), (..., 1), (..., [0, 1], slice(None))),
        ((0, ..., torch.tensor([True, False])), (0,), (..., torch.tensor([True, False]))),
    ],
)
def test_numbers_in_a_key_choose_before_arrays_do(key, numbers, rest):
    x = torch.arange(48.0, dtype=F64).reshape(2, 3, 4, 2).requires_grad_()
    y = x[key]
    assert torch.equal(y, x[numbers][rest])
    weights = torch.arange(1.0, y.numel() + 1, dtype=F64).reshape(*y.shape)
    (g,) = grad((y * weights).sum(), x)
    z = torch.zeros_like(x)
    z[key] = weights
    assert torch.equal(g, z)


def test_axes_of_sums_of_products_have_letters_or_numbers():
    x = leaf(X)
    assert torch.equal(torch.einsum(x, [0, 1], x, [2, 1], [2, 0]), torch.einsum("ab,cb->ca", x, x))
    assert torch.equal(torch.einsum(x, [0, 1]), x)


@pytest.mark.parametrize("name", ["fmax", "fmin", "isclose", "allclose", "equal", "heaviside"])
def test_tensors_are_compared_with_tensors(name):
    with pytest.raises(TypeError, match="a Tensor is expected"):
        getattr(torch, name)(leaf(X), 2.0)


def test_heaviside_is_of_one_type():
    assert torch.heaviside(torch.tensor([-1, 0, 2]), torch.tensor([5, 6, 7])).tolist() == [0, 6, 1]
    with pytest.raises(RuntimeError, match="one type"):
        torch.heaviside(torch.ones(2), torch.ones(2, dtype=F64))


def test_complex_numbers_have_no_order():
    z = torch.tensor([1j])
    for refused in (lambda: leaf(X) < 1j, lambda: torch.lt(z, 1)):
        with pytest.raises(NotImplementedError, match="no order"):
            refused()
    with pytest.raises(RuntimeError, match="no order"):
        torch.fmax(z, z)
