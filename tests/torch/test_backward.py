"""`backward` and `autograd.grad`: what they accept, refuse, add up and leave alone; order, depth, threads, memory."""

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import Function, backward, grad

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def number(v):
    return torch.tensor(v, dtype=F64, requires_grad=True)


def test_gradient_is_needed_unless_one_real_element():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="scalar outputs"):
        (x * 2).backward()
    (leaf(3.0) * 2).backward()
    z = torch.tensor(1 + 2j, dtype=torch.complex128, requires_grad=True)
    with pytest.raises(RuntimeError, match="real scalar outputs"):
        (z * z).backward()


@pytest.mark.parametrize("g", [torch.ones(3), torch.ones(1), torch.ones(1, 2), torch.tensor(1.0)])
def test_gradients_do_not_broadcast(g):
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (leaf(1.0, 2.0) * 2).backward(g.double())


def test_gradient_types():
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(torch.ones(2, dtype=F64))
    assert x.grad.dtype is torch.float32
    with pytest.raises(RuntimeError, match="same dtype"):
        (x * 2).backward(torch.ones(2, dtype=torch.complex64))
    with pytest.raises(TypeError):
        (x * 2).backward(1.0)


def test_roots_without_history():
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        backward([leaf(1.0) * 1, torch.ones(1)])


def test_a_leaf_as_root():
    x = number(3.0)
    x.backward()
    g = torch.tensor(2.0, dtype=F64)
    x.backward(g)
    assert x.grad.item() == 3 and x.grad is not g
    x.grad.zero_()
    assert g.item() == 2


def test_roots_are_summed_and_run_once():
    x = number(2.0)
    seen = []
    h = x * x
    h.register_hook(lambda g: seen.append(g.item()))
    backward([h, h * 3, h], [None, None, torch.tensor(10.0, dtype=F64)])
    assert seen == [14] and x.grad.item() == 56


def test_inputs_select():
    x, z = leaf(1.0, 2.0), leaf(3.0, 4.0)
    h = x * z
    y = (h * h).sum()
    y.backward(inputs=[x, h], retain_graph=True)
    assert x.grad.tolist() == [18, 64] and z.grad is None and h.grad.tolist() == [6, 16]
    for f in (lambda: y.backward(inputs=[]), lambda: grad(y, ())):
        with pytest.raises(RuntimeError, match="cannot be empty"):
            f()


def test_grad_touches_no_grad():
    a, b = number(2.0), number(0.5)
    c = a * b
    d = c.exp()
    found = grad(d, (c, a, d, a))
    np.testing.assert_allclose([g.item() for g in found], [np.e, np.e / 2, 1, np.e / 2])
    assert a.grad is None
    assert grad((a * b).sum(), {"left": a, "right": b})["right"].item() == 2


def test_unused_inputs():
    x, z, c = leaf(1.0), leaf(1.0, 1.0), torch.ones(1)
    with pytest.raises(RuntimeError, match="not have been used"):
        grad((x * x).sum(), (x, z))
    assert grad((x * x).sum(), (x, z), allow_unused=True)[1] is None
    zero = grad((x * x).sum(), (x, z), materialize_grads=True, create_graph=True)[1]
    assert zero.tolist() == [0, 0] and zero.requires_grad
    with pytest.raises(ValueError):
        grad((x * x).sum(), x, materialize_grads=True, allow_unused=False)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad((x * x).sum(), c, allow_unused=True)


def test_deprecated_arguments():
    x = leaf(1.0)
    with pytest.warns(FutureWarning):
        backward(x * 2, grad_variables=torch.ones(1, dtype=F64))
    with pytest.warns(FutureWarning):
        grad(x * 2, x, only_inputs=False)


def test_what_saved_nothing_runs_again():
    x = leaf(1.0, 2.0)
    linear = (x.view(2, 1) + x + 1).sum()
    linear.backward()
    linear.backward()
    assert x.grad.tolist() == [8, 8]
    scaled = (x * 3).sum()  # a number counts as saved
    scaled.backward()
    with pytest.raises(RuntimeError, match="second time"):
        scaled.backward()
    square = (x * x).sum()
    square.backward()
    with pytest.raises(RuntimeError, match="second time"):
        square.backward()
    square = (x * x).sum()
    square.backward(retain_graph=True)
    square.backward()


def test_partly_released_graph():
    x = leaf(1.0, 2.0)
    h = x.exp()
    a, b = (h * h).sum(), (h + 1).sum()
    a.backward()
    with pytest.raises(RuntimeError, match="second time"):
        b.backward()


def test_higher_derivatives():
    x = number(2.0)
    found = x**4
    for expected in (32, 48, 48, 24):
        (found,) = grad(found, x, create_graph=True)
        assert found.item() == pytest.approx(expected)


def test_derivative_of_a_linear_map_is_constant():
    x = leaf(1.0, 2.0)
    (g,) = grad((x * 3).sum(), x, create_graph=True)
    assert not g.requires_grad and g.grad_fn is None


def test_create_graph_retains_and_works_under_no_grad():
    x = number(2.0)
    y = x * x
    with torch.no_grad():
        (g,) = grad(y, x, create_graph=True)
    assert g.requires_grad
    assert grad(y, x)[0].item() == 4
    with pytest.warns(UserWarning, match="cycle"):
        (x**3).backward(create_graph=True)
    x.grad = None


def test_jvp_by_two_backward_passes():
    x = leaf(1.0, 2.0)
    v = torch.zeros(2, dtype=F64, requires_grad=True)
    (g,) = grad(x**3, x, v, create_graph=True)
    assert grad(g, v, torch.tensor([1.0, 10.0], dtype=F64))[0].tolist() == [3, 120]


def test_batched_gradients():
    x = leaf(1.0, 2.0, 3.0)
    (j,) = grad(x * x, x, torch.eye(3, dtype=F64), is_grads_batched=True)
    assert j.tolist() == np.diag([2.0, 4.0, 6.0]).tolist()
    with pytest.raises(RuntimeError):
        grad(x * x, x, torch.ones(3, 2, dtype=F64), is_grads_batched=True)


def test_nothing_is_aliased():
    x, z = leaf(1.0, 2.0), leaf(3.0, 4.0)
    g = torch.ones(2, dtype=F64)
    (x + z).backward(g)
    x.grad.mul_(7)
    assert z.grad.tolist() == g.tolist() == [1, 1]
    m = torch.ones(2, 2, requires_grad=True)
    m.sum().backward()
    m.grad[0, 0] = 9
    assert m.grad.tolist() == [[9, 1], [1, 1]]
    first, second = grad(x + z, (x, z), g)
    first.zero_()
    assert second.tolist() == g.tolist() == [1, 1]


def test_grad_keeps_its_object():
    x = leaf(1.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first and first.tolist() == [5]


def test_newest_first():
    x, order = number(1.0), []
    a, b = x * 2, x * 3
    a.register_hook(lambda g: order.append("a"))
    b.register_hook(lambda g: order.append("b"))
    backward([a, b])
    assert order == ["b", "a"]


def test_errors_keep_their_type_and_the_engine_goes_on():
    class Own(Exception):
        pass

    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise Own

    x = leaf(1.0)
    with pytest.raises(Own):
        Fails.apply(x).sum().backward()
    assert torch.is_grad_enabled()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2]


def test_backward_within_backward():
    inner = number(5.0)
    q = inner * inner

    class Reenters(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            assert not torch.is_grad_enabled()
            q.backward()
            return g * inner.grad

    x = number(2.0)
    (Reenters.apply(x * 2) * 3).backward()
    assert x.grad.item() == 60


def test_requires_grad_switched_off_after_recording():
    x, z = leaf(1.0), leaf(1.0)
    y = (x * z).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None and z.grad.tolist() == [1]


def test_empty_and_shapeless():
    x = torch.zeros(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.shape == (0, 3)


def test_depth_and_memory():
    """A chain of 100,000 nodes is built, differentiated and freed without recursion and without the collector."""
    gc.collect()
    gc.disable()
    try:
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        x = number(1.0)
        y = x
        for _ in range(100_000):
            y = y * 1.0
        y.backward()
        assert x.grad.item() == 1
        del y
        x.grad = None
        assert tracemalloc.get_traced_memory()[0] - before < 300_000
    finally:
        tracemalloc.stop()
        gc.enable()


def test_wide_graph():
    x = number(1.0)
    torch.stack([x * i for i in range(3000)]).sum().backward()
    assert x.grad.item() == 3000 * 2999 / 2


def test_graphs_die_by_reference_counting():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        h = x.exp()
        (g,) = grad((h * h).sum(), x, create_graph=True)
        alive = [weakref.ref(h), weakref.ref(g)]
        del h, g
        assert [r() for r in alive] == [None, None]
    finally:
        gc.enable()


def test_threads_on_shared_leaves():
    x = torch.zeros(3, dtype=F64, requires_grad=True)

    def work():
        for _ in range(1000):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.tolist() == [16000] * 3


def test_threads_through_one_graph():
    x = leaf(1.0, 2.0)
    y = (x.exp() * x).sum()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(grad(y, x, retain_graph=True)[0].tolist())) for _ in range(8)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 8 and all(f == found[0] for f in found)


# ---------------------------------------------------------------- layout and complex numbers


def test_a_gradient_has_the_layout_of_its_dense_leaf():
    p = torch.zeros(2, 3, 4, dtype=F64).permute(2, 0, 1).requires_grad_()
    (p * 2).sum().backward()
    assert p.grad.stride() == p.stride() == (1, 12, 4)
    sparse = torch.zeros(4, 6, dtype=F64)[:, ::2].requires_grad_()
    (sparse * 2).sum().backward()
    assert sparse.grad.is_contiguous()


def test_an_existing_grad_keeps_its_layout():
    p = torch.ones(3, 4, dtype=F64, requires_grad=True)
    p.grad = torch.zeros(4, 3, dtype=F64).t()
    kept = p.grad
    (p * 2).sum().backward()
    assert p.grad is kept and kept.stride() == (1, 3) and kept.sum().item() == 24
    with pytest.warns(UserWarning):
        (p * p).sum().backward(create_graph=True)
    assert p.grad is not kept and kept.sum().item() == 24 and p.grad.sum().item() == 48
    p.grad = None


@pytest.mark.parametrize(
    "f",
    [
        lambda z: (z * z.conj()).real,
        lambda z: z.abs() ** 2,
        lambda z: z.real * 3,
        lambda z: z.imag,
        lambda z: (z * z).real,
        lambda z: z.exp().imag,
        lambda z: z.angle(),
        lambda z: (1 / z).imag,
        lambda z: torch.sgn(z).real,
        lambda z: (z**3).real,
    ],
)
def test_complex_gradients_point_uphill(f):
    z = torch.tensor(1 + 2j, dtype=torch.complex128, requires_grad=True)
    f(z).backward()
    step = 1e-7
    numeric = [
        (f(torch.tensor(1 + 2j + d * step, dtype=torch.complex128)) - f(z.detach())).item() / step for d in (1, 1j)
    ]
    assert z.grad.item() == pytest.approx(complex(*numeric), abs=1e-5)


def test_real_leaf_of_a_complex_product():
    x = leaf(1.0, 2.0)
    z = torch.tensor([1 + 1j, 2 - 1j], dtype=torch.complex128, requires_grad=True)
    (x * z).abs().sum().backward()
    assert x.grad.dtype is F64
    np.testing.assert_allclose(x.grad.numpy(), np.abs([1 + 1j, 2 - 1j]))


def test_writing_the_real_part_of_a_complex_tensor():
    x = leaf(1.0, 2.0)
    z = torch.complex(x, x * 3)
    z.real.mul_(10)
    (z.real + z.imag).sum().backward()
    assert x.grad.tolist() == [13, 13]


def test_what_backward_passes_start_from_and_lead_to():
    x = leaf(1.0)
    for bad in ([3.0], {"a": x}, ["x"]):
        with pytest.raises(AssertionError, match="Tensors or gradient edges"):
            torch.autograd.backward(bad)
    with pytest.raises(RuntimeError, match="inputs are Tensors"):
        torch.autograd.backward((x * 2).sum(), inputs=["a"])


def test_batches_must_have_one_size():
    x = leaf(1.0, 2.0)
    eye, three = torch.eye(2, dtype=F64), torch.ones(3, 2, dtype=F64)
    with pytest.raises(ValueError, match="differ in size"):
        grad([x * x, x * 3], x, [eye, three], is_grads_batched=True)
    with pytest.raises(IndexError, match="no axes"):
        grad(x * x, x, torch.tensor(1.0), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        grad(x * x, x, torch.ones(2, 3, dtype=F64), is_grads_batched=True)


def test_gradients_may_keep_their_layout():
    def fresh(enforce):
        x = torch.zeros(2, 3, dtype=F64, requires_grad=True)
        with torch.autograd.enforce_grad_layout_policy(enforce):
            (x.t() * torch.arange(6, dtype=F64).reshape(3, 2)).sum().backward()
        return x.grad

    assert fresh(True).stride() == (3, 1) and torch.equal(fresh(False), fresh(True))
    was = torch.autograd.enforce_grad_layout_policy(False)
    torch.autograd.enforce_grad_layout_policy(True)
    assert was is not None and fresh(True).stride() == (3, 1)


def test_backward_in_another_thread():
    x = leaf(2.0)
    y = x**3
    found = []

    def work():
        try:
            torch.ones(1).backward()
        except RuntimeError as error:
            found.append(str(error))
        with torch.no_grad():
            y.backward()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "does not require grad" in found[0] and x.grad.tolist() == [12] and torch.is_grad_enabled()


def test_a_hook_that_changes_its_gradient_in_place():
    x = leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: [g.mul_(10), None][1])
    (y * 2).sum().backward()
    assert x.grad.tolist() == [60, 60]


def test_complex_points_without_a_direction():
    z = torch.tensor([0j], dtype=torch.complex128, requires_grad=True)
    for f in (lambda z: z.abs(), lambda z: z.angle(), lambda z: z.sgn().real, lambda z: z.norm()):
        assert grad(f(z).sum(), z)[0].tolist() == [0]


def test_a_loop_of_training():
    w, b = torch.zeros(1, dtype=F64, requires_grad=True), torch.zeros(1, dtype=F64, requires_grad=True)
    x = torch.arange(8, dtype=F64) / 8
    for _ in range(400):
        loss = ((w * x + b - (2 * x - 1)) ** 2).mean()
        w.grad = b.grad = None
        loss.backward()
        with torch.no_grad():
            w -= 0.5 * w.grad
            b -= 0.5 * b.grad
    assert torch.allclose(w, torch.tensor([2.0], dtype=F64), atol=1e-3)
    assert torch.allclose(b, torch.tensor([-1.0], dtype=F64), atol=1e-3)


def test_batches_of_no_vectors():
    x = leaf(1.0, 2.0)
    with pytest.raises(IndexError, match="no vectors"):
        grad(x * x, x, torch.ones(0, 2), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="None is not"):
        grad((x * x).sum(), x, is_grads_batched=True)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.expand(3, 2),
        lambda x: x + torch.ones(3, 2, dtype=F64),
        lambda x: x * torch.ones(3, 2, dtype=F64),
        lambda x: x - x.mean(),
        lambda x: x.sort()[0],
        lambda x: x.gather(0, torch.tensor([0, 0])),
        lambda x: x.index_select(0, torch.tensor([0])),
        lambda x: x.median(),
        lambda x: x.take(torch.tensor([1, 1])),
    ],
)
def test_a_constant_gradient_does_not_require_grad_where_only_shapes_of_the_inputs_count(f):
    x = leaf(1.0, 2.0)
    (g,) = grad(f(x).sum(), x, create_graph=True)
    assert not g.requires_grad and g.grad_fn is None
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(g.sum(), x)
