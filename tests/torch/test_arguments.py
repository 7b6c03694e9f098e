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
        lambda x: x.sum().transpose(0, 1),
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
        lambda x: x.permute(0),
        lambda x: torch.nn.functional.layer_norm(x, (2,)),
        lambda x: x.sum().narrow(0, 0, 1),
        lambda x: x.sum().chunk(2),
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


FROM_FLOATS = torch.ones(3)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.index_add(0, torch.tensor([0]), FROM_FLOATS[:1]),
        lambda x: x.index_copy(0, torch.tensor([0]), FROM_FLOATS[:1]),
        lambda x: x.index_put((torch.tensor([0]),), FROM_FLOATS[:1]),
        lambda x: x.scatter(0, torch.tensor([0]), FROM_FLOATS[:1]),
        lambda x: x.scatter_add(0, torch.tensor([0]), FROM_FLOATS[:1]),
        lambda x: x.scatter_reduce(0, torch.tensor([0]), FROM_FLOATS[:1], "sum"),
        lambda x: x.index_reduce(0, torch.tensor([0]), FROM_FLOATS[:1], "prod"),
        lambda x: x.masked_scatter(x > 1, FROM_FLOATS),
        lambda x: x.put(torch.tensor([0]), FROM_FLOATS[:1]),
        lambda x: x.lerp(FROM_FLOATS, 0.5),
        lambda x: x.lerp_(x, FROM_FLOATS),
        lambda x: x.cross(FROM_FLOATS, dim=0),
    ],
)
def test_what_is_put_into_a_tensor_is_of_its_type(f):
    with pytest.raises(RuntimeError, match="one dtype"):
        f(torch.ones(3, dtype=F64))


def test_a_mask_takes_no_more_than_the_source_has():
    with pytest.raises(RuntimeError, match="the mask holds at 3 places"):
        torch.ones(3).masked_scatter(torch.ones(3) > 0, torch.ones(2))


def test_integers_are_not_divided_in_a_sum():
    ones = torch.ones(3, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="does not divide integers"):
        torch.ones(3).addcdiv(ones, ones)


def test_kronecker_products_promote():
    assert torch.kron(torch.ones(2), torch.ones(2, dtype=F64)).dtype is F64


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.normal_(0, -1),
        lambda x: x.uniform_(1, 0),
        lambda x: x.exponential_(0),
        lambda x: x.geometric_(2),
        lambda x: x.cauchy_(0, -1),
        lambda x: x.log_normal_(0, -1),
        lambda x: x.bernoulli_(2),
        lambda x: x.random_(5, 2),
    ],
)
def test_parameters_of_random_numbers(f):
    with pytest.raises(RuntimeError, match="there are no"):
        f(torch.ones(3))


def test_random_numbers_name_their_nodes():
    for name in ("normal_", "uniform_", "exponential_", "cauchy_", "log_normal_"):
        x = leaf(X) * 1
        title = "".join([part.capitalize() for part in name.split("_")])
        assert getattr(x, name)().grad_fn.name() == f"{title}Backward0"
        with pytest.raises(NotImplementedError, match="numbers are not of torch.int64"):
            getattr(torch.ones(2, dtype=torch.int64), name)()
    assert (leaf(X) * 1).bernoulli_(torch.full((2, 3), 0.5, dtype=F64)).grad_fn.name() == "BernoulliBackward2"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda x: x.t_(), "TBackward1"),
        (lambda x: x.transpose_(0, 1), "TransposeBackward1"),
        (lambda x: x.unsqueeze_(0), "UnsqueezeBackward1"),
        (lambda x: x.squeeze_(), "SqueezeBackward3"),
        (lambda x: x.fill_(2.0), "FillBackward2"),
        (lambda x: x.scatter_(0, torch.tensor([[0, 0]]), 1.0), "ScatterBackward1"),
        (lambda x: x.put_(torch.tensor([0]), torch.zeros(1, dtype=F64)), "PutBackward0"),
        (lambda x: x.renorm(2, 0, 1.0), "RenormBackward0"),
        (lambda x: torch.cdist(x, x), "CdistBackward0"),
        (lambda x: x.logcumsumexp(0), "LogcumsumexpBackward0"),
    ],
)
def test_variants_name_their_nodes(change, name):
    assert change(leaf(X) * 1).grad_fn.name() == name


def test_shifts_in_place_keep_the_type():
    x = torch.tensor([1, 2], dtype=torch.int32)
    same = x
    x <<= torch.tensor([1, 2])
    x >>= 1
    assert x is same and x.tolist() == [1, 4] and x.dtype is torch.int32


def test_functions_in_place():
    x = leaf(X) * 1
    assert torch.clamp_(x, 2.0, 5.0) is x and x.grad_fn.name() == "ClampBackward1"
    assert torch.zero_(x).tolist() == [[0.0] * 3] * 2
    assert torch.detach_(x).grad_fn is None
    z = torch.tensor([1 + 2j])
    assert z.conj_physical_().tolist() == [1 - 2j]


def test_python_functions_of_elements():
    x = torch.tensor([1.0, 2.0])
    assert x.apply_(lambda v: v + 1).tolist() == [2.0, 3.0]
    assert x.map_(torch.tensor([10.0, 20.0]), lambda a, b: a + b).tolist() == [12.0, 23.0]
    with pytest.raises(RuntimeError, match="apply_ has no derivative"):
        (leaf(X) * 1).apply_(abs)


def test_sums_to_a_shape():
    x = leaf(X)
    assert x.sum_to_size(1, 3).tolist() == [[5.0, 7.0, 9.0]] and x.sum_to_size(3).tolist() == [5.0, 7.0, 9.0]
    assert x.sum_to_size(2, 3) is x
    (g,) = grad(x.sum_to_size(2, 1)[0].sum(), x)
    assert g.tolist() == [[1.0] * 3, [0.0] * 3]
    with pytest.raises(RuntimeError, match="not expandable"):
        x.sum_to_size(2, 2)


def test_what_types_of_numbers_are_like():
    assert torch.finfo(torch.float32).eps == np.finfo(np.float32).eps and torch.finfo(torch.complex128).bits == 64
    assert torch.finfo().dtype == "float32" and torch.finfo(torch.bfloat16).max > 3e38
    assert (torch.iinfo(torch.int8).min, torch.iinfo(torch.int8).max) == (-128, 127)
    assert repr(torch.iinfo(torch.uint8)) == "iinfo(min=0, max=255, dtype=uint8)"
    assert repr(torch.finfo(F64)).startswith("finfo(resolution=1e-15, min=-1.79769e+308")
    for wrong in (lambda: torch.finfo(torch.int64), lambda: torch.iinfo(torch.float32)):
        with pytest.raises(TypeError, match="types, not of"):
            wrong()


def test_names_of_arguments():
    x = leaf(X)
    assert torch.flip(x, dims=(0,)).tolist() == torch.flip(x, [0]).tolist() == x.flip(0).tolist()
    assert x[0].broadcast_to(4, 3).shape == x[0].broadcast_to((4, 3)).shape == (4, 3)
    assert torch.concatenate([x, x], axis=1).shape == (2, 6)
    assert torch.repeat_interleave(torch.tensor([1, 2])).tolist() == [0, 1, 1]
    assert repr(x.layout) == "torch.strided" and x.layout is torch.strided


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.max(0)[0],
        lambda x: x.sort()[0],
        lambda x: x.topk(1)[0],
        lambda x: x.cumsum(0),
        lambda x: x.mode()[0],
        lambda x: x.index_select(0, torch.tensor([0])),
        lambda x: x.scatter(0, torch.tensor([0]), 1.0),
    ],
)
def test_results_without_axes_share_no_memory(f):
    x = torch.tensor(3.0, dtype=F64, requires_grad=True)
    y = f(x * 1)
    assert not y._is_view() and y.shape == () and not y.grad_fn.name().startswith("View")
    z = x.detach()
    f(z).add_(5)
    assert z.item() == 3.0
    p = (x * 1).softmax(0)
    p.add_(1)
    p.backward()
    assert x.grad.item() == 0.0


def test_scattered_reductions_are_no_views():
    x = leaf(X)
    for y in (
        x.scatter_reduce(0, torch.tensor([[0, 0, 0]]), x, "mean"),
        x.index_reduce(0, torch.tensor([0]), x[:1], "prod"),
    ):
        assert not y._is_view() and y.grad_fn.name() in ("ScatterReduceBackward0", "IndexReduceBackward0")


def test_indices_out_of_range_say_so():
    x = leaf(X)
    for refused, match in (
        (lambda: x[torch.tensor([5])], "index out of range"),
        (lambda: x.index_select(0, torch.tensor([5])), "index out of range"),
        (lambda: x[torch.tensor([True, False, True])], "the shape of the mask"),
    ):
        with pytest.raises(IndexError, match=match):
            refused()


def test_pieces_of_nothing():
    assert [part.shape for part in torch.zeros(0, 3).chunk(2)] == [(0, 3), (0, 3)]
