"""Jacobians, Hessians and products with them."""

import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

F64 = torch.float64


def tensor(*values):
    return torch.tensor(list(values), dtype=F64)


x, v = tensor(1.0, 2.0), tensor(1.0, 10.0)


def cube(x):
    return (x**3).sum()


def test_jacobian():
    A = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=F64)
    assert jacobian(lambda x: A @ x, x).tolist() == A.tolist()
    assert jacobian(cube, x).tolist() == [3, 12]
    assert jacobian(lambda x: torch.outer(x, x), x).shape == (2, 2, 2)
    assert jacobian(lambda x: x**2, torch.tensor(3.0, dtype=F64)).item() == 6


def test_structure_of_the_jacobian():
    b = tensor(3.0, 4.0)
    one = jacobian(lambda a, b: a * b, (x, b))
    assert isinstance(one, tuple) and one[1].tolist() == [[1, 0], [0, 2]]
    both = jacobian(lambda a, b: (a * b, a.sum()), (x, b))
    assert both[1][0].tolist() == [1, 1] and both[1][1].tolist() == [0, 0]
    assert isinstance(jacobian(lambda a: a, (x,)), tuple) and isinstance(jacobian(lambda a: (a,), x), tuple)


def test_options_of_the_jacobian():
    leaf = tensor(1.0, 2.0).requires_grad_()
    j = jacobian(lambda a: a**3, leaf, create_graph=True)
    j.sum().backward()
    assert leaf.grad.tolist() == [6, 12] and not jacobian(lambda a: a**3, leaf).requires_grad
    assert jacobian(cube, x, vectorize=True, strategy="forward-mode").tolist() == [3, 12]
    for options, error in (
        ({"strategy": "forward-mode"}, NotImplementedError),
        ({"strategy": "forward-mode", "vectorize": True, "create_graph": True}, NotImplementedError),
        ({"strategy": "sideways"}, AssertionError),
        ({"strict": True, "vectorize": True}, RuntimeError),
    ):
        with pytest.raises(error):
            jacobian(cube, x, **options)
    with pytest.raises(RuntimeError):
        jacobian(lambda x: torch.ones(1), x, strict=True)
    with pytest.raises(TypeError):
        jacobian(lambda x: 3.0, x)
    with pytest.raises(RuntimeError):
        jacobian(lambda z: z * z, torch.tensor([1j]))


def test_captured_tensors_are_constants_unless_a_graph_is_made():
    w = tensor(3.0, 4.0).requires_grad_()
    assert not jacobian(lambda x: x * w, x).requires_grad and w.grad is None and not x.requires_grad
    jacobian(lambda x: x**2 * w, x, create_graph=True).sum().backward()
    assert w.grad.tolist() == [2, 4]


def test_under_no_grad():
    with torch.no_grad():
        assert jacobian(cube, x).tolist() == [3, 12]


def test_hessian():
    assert hessian(cube, x).tolist() == [[6, 0], [0, 12]]
    assert hessian(lambda x: cube(x).reshape(1), x, vectorize=True).tolist() == [[6, 0], [0, 12]]
    h = hessian(lambda a, b: (a**2).sum() * b.sum(), (x, tensor(3.0)))
    assert h[0][0].tolist() == [[6, 0], [0, 6]] and h[0][1].tolist() == [[2], [4]] and h[1][1].tolist() == [[0]]
    assert hessian(lambda x: x.sum(), x).tolist() == [[0, 0], [0, 0]]
    assert hessian(lambda x: torch.tensor(3.0), x).tolist() == [[0, 0], [0, 0]]
    assert hessian(cube, x.clone().requires_grad_(), create_graph=True).requires_grad
    assert hessian(cube, x, vectorize=True, outer_jacobian_strategy="forward-mode").tolist() == [[6, 0], [0, 12]]


def test_errors_of_the_hessian():
    for f, words in ((lambda x: x * x, "single element"), (lambda x: (x.sum(), x.sum()), "single Tensor")):
        with pytest.raises(RuntimeError, match=words):
            hessian(f, x)
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function"):
        hessian(lambda x: x.sum(), x, strict=True)


def test_vjp():
    value, product = vjp(lambda x: x**2, x, v)
    assert value.tolist() == [1, 4] and product.tolist() == [2, 40] and not value.requires_grad
    assert vjp(cube, x)[1].tolist() == [3, 12]
    unused = vjp(lambda a, b: a * 2, (x, tensor(3.0)), v)[1]
    assert unused[1].tolist() == [0]
    for call, words in (
        (lambda: vjp(lambda x: x**2, x), "single element"),
        (lambda: vjp(lambda x: x**2, x, v[:1]), "invalid size"),
        (lambda: vjp(lambda x: (x, x), x, v), "length"),
        (lambda: vjp(lambda a, b: a * 2, (x, tensor(3.0)), v, strict=True), "independent"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


def test_jvp():
    value, change = jvp(lambda x: (x.sum(), x**3), x, v)
    assert value[0].item() == 3 and change[0].item() == 11 and change[1].tolist() == [3, 120]
    assert jvp(lambda x: torch.ones(2), x, v)[1].tolist() == [0, 0]
    assert jvp(lambda x: x**2, x.clone().requires_grad_(), v, create_graph=True)[1].requires_grad
    with pytest.raises(RuntimeError, match="single element"):
        jvp(lambda x: x**2, x)
    with pytest.raises(RuntimeError):
        jvp(lambda x: torch.ones(2), x, v, strict=True)


@pytest.mark.parametrize("product", [vhp, hvp])
def test_hessian_products(product):
    value, found = product(cube, x, v)
    assert value.item() == 9 and found.tolist() == [6, 120]
    w = tensor(2.0, 3.0)
    pair = product(lambda a, b: (a**2 * b).sum(), (x, tensor(3.0, 4.0)), (v, w))[1]
    assert pair[0].tolist() == [2 * 3 * 1 + 2 * 1 * 2, 2 * 4 * 10 + 2 * 2 * 3] and pair[1].tolist() == [2, 40]
    assert product(lambda x: x.sum(), x, v)[1].tolist() == [0, 0]
    for call in (
        lambda: product(lambda x: x**2, x, v),
        lambda: product(cube, x),
        lambda: product(cube, x, v[:1]),
        lambda: product(lambda x: x.sum(), x, v, strict=True),
        lambda: product(lambda x: (x.sum(), x.sum()), x, v),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_types_of_the_blocks():
    single, double = torch.tensor([1.0, 2.0]), tensor(3.0, 4.0)
    blocks = jacobian(lambda a, b: a.double() * b, (single, double))
    assert [b.dtype for b in blocks] == [torch.float32, torch.float64]
    assert jacobian(lambda a: a.double() * 2, single).dtype is torch.float32
    assert hessian(lambda a: (a.double() ** 3).sum(), single).dtype is torch.float32


def test_complex_values_have_products_but_no_jacobian():
    z = torch.tensor([1 + 1j, 2.0], dtype=torch.complex128)
    value, product = vjp(lambda z: z * z, z, torch.ones(2, dtype=torch.complex128))
    assert value.tolist() == [2j, 4] and product.tolist() == [2 - 2j, 4]
    assert jacobian(lambda z: z.abs(), torch.tensor([3 + 4j])).tolist() == [[pytest.approx(0.6 + 0.8j)]]
    with pytest.raises(RuntimeError, match="real"):
        jacobian(lambda z: z * z, z)


@pytest.mark.parametrize("product", [vhp, hvp])
def test_the_value_has_the_shape_that_the_function_gives(product):
    value, found = product(lambda x: cube(x).reshape(1), x, v)
    assert value.shape == (1,) and found.tolist() == [6, 120]


@pytest.mark.parametrize(
    "f", [torch.nn.functional.leaky_relu, torch.nn.functional.relu6, torch.nn.functional.hardtanh, torch.relu]
)
def test_what_is_linear_by_parts_has_second_derivatives_of_zero(f):
    (nan,) = torch.autograd.grad(f(no_number := tensor(float("nan")).requires_grad_()).sum(), no_number)
    assert nan.item() in (1, 0.01)
    leaf = tensor(2.0, -3.0).requires_grad_()
    (g,) = torch.autograd.grad(f(leaf).sum(), leaf, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), leaf)
    assert second.tolist() == [0, 0] and hessian(lambda x: f(x).sum(), x).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("loss", [torch.nn.functional.smooth_l1_loss, torch.nn.functional.huber_loss])
def test_losses_are_curved_where_the_difference_is_zero(loss):
    assert hessian(lambda x: loss(x, v, reduction="sum"), v).tolist() == [[1, 0], [0, 1]]
