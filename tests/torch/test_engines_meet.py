"""A compiled function as one node of the tape, and derivatives of NumPy functions whatever the grad mode."""

import numpy as np
import pytest

import s2sgrad
import s2sgrad.torch as torch

F64 = torch.float64


def energy(x, k):
    return k * np.sum(np.sin(x) ** 2)


def both(a, b):
    return a @ b, a * 2


def unseen(x):
    total = 0.0
    for v in {"a": x, "b": x * 2}.values():
        total = total + np.sum(v**3)
    return total


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def test_one_node_with_derivatives_of_all_orders():
    x = leaf(1.0, 2.0)
    y = s2sgrad.compile(energy)(x, 3.0)
    assert type(y.grad_fn).__name__ == "CompiledFunctionBackward" and y.grad_fn.next_functions[2][0].variable is x
    found = y
    for expected in (
        3 * np.sin(2 * np.array([1.0, 2.0])),
        6 * np.cos(2 * np.array([1.0, 2.0])),
        -12 * np.sin(2 * np.array([1.0, 2.0])),
    ):
        (found,) = torch.autograd.grad(found.sum(), x, create_graph=True)
        np.testing.assert_allclose(found.detach().numpy(), expected)


def test_amid_other_operations():
    x = leaf(1.0, 2.0)
    (s2sgrad.compile(energy)(x * 2, 3.0) * 5).backward()
    np.testing.assert_allclose(x.grad.numpy(), 5 * 3 * 2 * np.sin(4 * np.array([1.0, 2.0])))


def test_several_results():
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64, requires_grad=True)
    p, q = s2sgrad.compile(both)(a, a)
    (p.sum() + q.sum()).backward()
    b = a.detach().requires_grad_()
    ((b @ b).sum() + (b * 2).sum()).backward()
    assert torch.allclose(a.grad, b.grad)
    (g,) = torch.autograd.grad((s2sgrad.compile(both)(a, a)[0] ** 2).sum(), a, create_graph=True)
    (h,) = torch.autograd.grad((g * g).sum(), a)
    (g,) = torch.autograd.grad(((b @ b) ** 2).sum(), b, create_graph=True)
    assert torch.allclose(h, torch.autograd.grad((g * g).sum(), b)[0])


def test_functions_that_run_on_the_tape():
    x = leaf(1.0, 2.0)
    (g,) = torch.autograd.grad(s2sgrad.compile(unseen)(x), x, create_graph=True)
    assert g.tolist() == [27, 108] and torch.autograd.grad(g.sum(), x)[0].tolist() == [54, 108]


def test_without_tensors_it_is_the_function():
    assert s2sgrad.compile(energy)(np.zeros(2), 3.0) == 0
    with pytest.raises(TypeError):
        s2sgrad.compile(3)


@pytest.mark.parametrize("mode", ["tape", "compiled"])
def test_gradients_do_not_depend_on_the_grad_mode(mode):
    with s2sgrad.no_grad():
        assert s2sgrad.grad(energy, mode=mode)(np.array([1.0]), 2.0) == pytest.approx(2 * np.sin(2.0))
