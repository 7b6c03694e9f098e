"""The backward pass writes into gradients that nobody else holds, and into no other."""

import numpy as np
import pytest

import s2sgrad.torch as torch


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def test_a_gradient_that_is_given_is_not_written_to():
    for f in (
        lambda x: -x,
        lambda x: x * 3,
        lambda x: (x * 2).cos(),
        lambda x: x * x,
        lambda x: x + 1,
        lambda x: x + x,
    ):
        x = leaf(0.5, 1.5)
        g = torch.tensor([1.0, 2.0], dtype=torch.float64)
        f(x).backward(g, retain_graph=True)
        first = x.grad.tolist()
        assert g.tolist() == [1.0, 2.0]
        assert not np.shares_memory(x.grad.numpy(), g.numpy())
        x.grad = None
        y = f(x)
        y.backward(g)
        assert x.grad.tolist() == first


def test_leaves_get_gradients_of_their_own():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    ((x + y) * 2).sum().backward()
    assert not np.shares_memory(x.grad.numpy(), y.grad.numpy())
    x.grad.mul_(0)
    assert y.grad.tolist() == [2, 2]


def test_what_hooks_were_shown_stays_as_it_was():
    seen = []
    x = leaf(0.3, 0.7)
    y = x * 2
    y.register_hook(lambda g: seen.append(g))
    z = y * 3
    z.register_hook(lambda g: seen.append(g))
    (z * 5).sum().backward()
    assert [g.tolist() for g in seen] == [[5, 5], [15, 15]]
    assert x.grad.tolist() == [30, 30]


def test_retained_gradients_stay_as_they_were():
    x = leaf(0.3, 0.7)
    y = x * 2
    y.retain_grad()
    z = -(y * 3)
    z.retain_grad()
    (z * 5 + y * 7).sum().backward()
    assert z.grad.tolist() == [5, 5] and y.grad.tolist() == [-8, -8] and x.grad.tolist() == [-16, -16]


def test_gradients_that_meet_are_summed_once_each():
    x = leaf(0.3, 0.7)
    a, b = x * 2, x * 3
    c = a * b + a + b * b + a * 1.5
    c.sum().backward()
    v = np.array([0.3, 0.7])
    np.testing.assert_allclose(x.grad.numpy(), 12 * v + 2 + 18 * v + 3, rtol=1e-14)


@pytest.mark.parametrize("retain", [True, False])
def test_a_pass_leaves_what_was_saved(retain):
    x = leaf(0.3, 0.7)
    y = (x.sin() * 2).tanh()
    kept = y.tolist()
    y.sum().backward(retain_graph=retain)
    assert y.tolist() == kept and x.tolist() == [0.3, 0.7]
    if retain:
        first = x.grad.tolist()
        x.grad = None
        y.sum().backward()
        assert x.grad.tolist() == first


def test_grad_of_inputs_within_the_graph():
    x = leaf(0.3, 0.7)
    y = x * 2
    z = (y * 3).sin()
    dy, dx = torch.autograd.grad(z.sum(), (y, x))
    np.testing.assert_allclose(dy.numpy(), 3 * np.cos(6 * x.detach().numpy()), rtol=1e-14)
    np.testing.assert_allclose(dx.numpy(), 2 * dy.numpy(), rtol=1e-14)
    assert not np.shares_memory(dy.numpy(), dx.numpy())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3)])
def test_numbers_keep_type_and_shape(dtype, shape):
    x = torch.full(shape, 0.5, dtype=dtype, requires_grad=True)
    y = (2 * x - 1.5) * x + x * True - 3
    y.sum().backward()
    assert y.dtype is dtype and x.grad.dtype is dtype and x.grad.shape == shape
    assert np.allclose(x.grad.numpy(), 2 * 2 * 0.5 - 1.5 + 1)


def test_saved_numbers_are_numbers():
    x = leaf(1.0, 2.0)
    assert (x * 2.5).grad_fn._saved_other == 2.5 and isinstance((x * 2.5).grad_fn._saved_other, float)
    assert (x * -0.0).tolist() == [-0.0, -0.0] and str((x * -0.0).tolist()) == "[-0.0, -0.0]"


def test_second_derivatives_through_numbers():
    x = leaf(0.3, 0.7)
    (g,) = torch.autograd.grad((2.0 * (x * 3).sin()).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), -18 * np.sin(3 * x.detach().numpy()), rtol=1e-14)


def test_the_gradient_of_a_sum_is_expanded_and_not_written_to():
    seen = []
    x = leaf(0.3, 0.7)
    y = x * 2
    y.register_hook(lambda g: seen.append(g))
    y.sum().backward()
    assert seen[0].stride() == (0,) and not seen[0].numpy().flags.writeable and x.grad.tolist() == [2, 2]


def test_what_hooks_of_a_leafs_node_were_shown_or_gave_stays_as_it_was():
    seen = []
    given = torch.tensor([5.0, 5.0], dtype=torch.float64)
    for attach in (
        lambda node: node.register_prehook(lambda grads: seen.append(grads[0])),
        lambda node: node.register_hook(lambda _, grads: seen.append(grads[0])),
        lambda node: node.register_prehook(lambda grads: (given,)),
    ):
        x = leaf(1.0, 2.0)
        node = x.view_as(x).grad_fn.next_functions[0][0]
        attach(node)
        for _ in range(2):
            (x * 2 * 3).sum().backward()
    assert [g.tolist() for g in seen] == [[6, 6]] * 4
    assert given.tolist() == [5, 5] and x.grad.tolist() == [10, 10]


def test_a_number_added_hands_the_gradient_on_as_it_is():
    x = leaf(0.3, 0.7)
    y = torch.sin(x)
    ((y + 1).tanh() * 2 + (y - 3)).sum().backward()
    s = np.sin([0.3, 0.7])
    due = (2 * (1 - np.tanh(s + 1) ** 2) + 1) * np.cos([0.3, 0.7])
    assert np.allclose(x.grad.numpy(), due)


def test_gradients_that_meet_late_are_summed_into_either():
    x = leaf(0.3, 0.7)
    y = torch.sin(x)
    for parts in (
        lambda: (y.tanh(), y.exp()),
        lambda: (y, y.exp()),
        lambda: (y.exp(), y),
        lambda: (y, y.exp(), y * 3, y + y),
    ):
        total = sum(parts())
        x.grad = None
        total.sum().backward(retain_graph=True)
        grads = [torch.autograd.grad(p.sum(), x, retain_graph=True)[0] for p in parts()]
        assert np.allclose(x.grad.numpy(), sum(g.numpy() for g in grads))
        first = x.grad.clone()
        total.sum().backward(retain_graph=True)
        assert torch.equal(x.grad, first * 2)
