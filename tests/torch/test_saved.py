"""Saved values: hooks on them, their attributes, what each operation saves."""

import threading

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import Function, grad
from s2sgrad.torch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def counted(f):
    """How many tensors `f` saves."""
    n = []
    with saved_tensors_hooks(lambda t: (n.append(1), t.detach())[1], lambda t: t):
        f()
    return len(n)


def test_pack_and_unpack():
    log = []
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0) * 1
    with saved_tensors_hooks(
        lambda t: (log.append(("pack", t is a, t.requires_grad, t.tolist())), t.detach().numpy().tobytes())[1],
        lambda raw: (log.append("unpack"), torch.from_numpy(np.frombuffer(raw).copy()))[1],
    ):
        y = a * b
    assert log == [("pack", False, True, [3, 4]), ("pack", True, True, [1, 2])]
    y.sum().backward()
    assert log[2:] == ["unpack", "unpack"] and a.grad.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x, c: x + c, 0),
        (lambda x, c: x * c, 1),
        (lambda x, c: x * 3, 0),
        (lambda x, c: x / c, 1),
        (lambda x, c: x.exp(), 1),
        (lambda x, c: x.sin(), 1),
        (lambda x, c: x @ c, 1),
        (lambda x, c: x @ x, 2),
        (lambda x, c: x.sum(), 0),
        (lambda x, c: x.mean(0), 0),
        (lambda x, c: x.view(4), 0),
        (lambda x, c: x[0], 0),
        (lambda x, c: x.clone(), 0),
        (lambda x, c: torch.cat([x, x]), 0),
        (lambda x, c: torch.where(c > 1, x, c), 1),
        (lambda x, c: torch.softmax(x, 1), 1),
        (lambda x, c: c * c, 0),
    ],
)
def test_what_is_saved(f, expected):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64, requires_grad=True)
    c = torch.ones(2, 2, dtype=F64)
    assert counted(lambda: f(x, c)) == expected
    with torch.no_grad():
        assert counted(lambda: f(x, c)) == 0


def test_the_innermost_pair_counts():
    log = []

    def pair(name):
        return saved_tensors_hooks(lambda t: (log.append(name), t.detach())[1], lambda t: t)

    x = leaf(1.0)
    with pair("outer"):
        x.exp()
        with pair("inner"):
            x.exp()
        x.exp()
    x.exp()
    assert log == ["outer", "inner", "outer"]


def test_errors_in_hooks():
    def fails(t):
        raise KeyError("own")

    x = leaf(2.0)
    with pytest.raises(KeyError), saved_tensors_hooks(fails, lambda t: t):
        x.exp()
    with saved_tensors_hooks(lambda t: t.detach(), fails):
        y = x.exp()
    with pytest.raises(KeyError):
        y.backward()
    with saved_tensors_hooks(lambda t: t.detach(), lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError):
        y.backward()
    with pytest.raises(RuntimeError, match="in place"), saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        (x * 1).exp()
    assert counted(lambda: x.exp()) == 1


def test_hooks_and_higher_derivatives():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        (g,) = grad((x**3).sum(), x, create_graph=True)
        (h,) = grad(g.sum(), x)
    assert h.tolist() == [12]


def test_hooks_see_what_functions_save():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = leaf(3.0)
    with saved_tensors_hooks(lambda t: t.tolist(), lambda v: torch.tensor(v, dtype=F64) * 10):
        y = Square.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [60]


def test_hooks_belong_to_the_thread():
    def work():
        leaf(1.0).exp()

    def run():
        t = threading.Thread(target=work)
        t.start()
        t.join()

    assert counted(run) == 0


def test_save_on_cpu():
    x = leaf(1.0, 2.0)
    with save_on_cpu(pin_memory=True):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2, 4]


def test_disabling():
    def enter():
        with save_on_cpu():
            pass

    with disable_saved_tensors_hooks("outer words"):
        with disable_saved_tensors_hooks("inner words"), pytest.raises(RuntimeError, match="inner words"):
            enter()
        with pytest.raises(RuntimeError, match="outer words"):
            enter()
        leaf(1.0).exp()
    enter()
    with pytest.raises(RuntimeError, match="late"), save_on_cpu(), disable_saved_tensors_hooks("late"):
        pass


def test_saved_attributes():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0) * 1
    y = x.exp()
    assert y.grad_fn._saved_result.tolist() == y.tolist() and "_saved_result" in dir(y.grad_fn)
    node = (x * w).grad_fn
    assert node._saved_self is x and node._saved_other.tolist() == [3, 4] and node._saved_other.grad_fn is w.grad_fn
    assert (x**3).grad_fn._saved_exponent == 3
    with pytest.raises(AttributeError):
        node._saved_nothing  # noqa: B018
    y.sum().backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        y.grad_fn._saved_result  # noqa: B018


def test_hooks_on_one_saved_value():
    x = leaf(1.0, 2.0)
    y = x.exp()
    raw = y.grad_fn._raw_saved_result
    raw.register_hooks(lambda t: t.tolist(), lambda v: torch.tensor(v, dtype=F64) * 0 + 7)
    with pytest.raises(RuntimeError):
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(TypeError):
        x.exp().grad_fn._raw_saved_result.register_hooks(1, 2)
    y.sum().backward()
    assert x.grad.tolist() == [7, 7]


def test_hooks_see_results_with_their_history():
    seen = []

    def pack(t):
        seen.append((t.requires_grad, t.is_leaf))
        return t.detach()

    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = x.exp()
        z = y * x
    assert seen == [(True, False), (True, True), (True, False)]
    (g,) = torch.autograd.grad(z, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    e = x.detach().exp()
    assert torch.allclose(g, e * 1.5) and torch.allclose(h, e * 2.5)


def test_what_cannot_be_a_hook():
    for pair in ((3, lambda t: t), (lambda t: t, None)):
        with pytest.raises(TypeError, match="callable"), torch.autograd.graph.saved_tensors_hooks(*pair):
            pass


def test_names_of_saved_values():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    assert (
        (x**x).grad_fn._saved_exponent is x and (m @ x).grad_fn._saved_vec is x and (x @ x).grad_fn._saved_tensor is x
    )
    assert x.clamp(0, 1).grad_fn._saved_max == 1 and x[[1]].grad_fn._saved_indices.tolist() == [1]
    y = x * x
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_what_hooks_packed_is_used_as_it_is():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 10, lambda t: t):
        y = x * x
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [20, 40]
    z = x * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = z * z
    z.add_(1)  # what hooks keep is not looked at for writes
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [2, 4]


class Checkpoint(torch.autograd.Function):
    """Computes `f` again in backward instead of keeping what it saves."""

    @staticmethod
    def forward(ctx, f, x):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = ctx.f(x)
        return None, *torch.autograd.grad(y, x, g)


def test_computing_again_instead_of_saving():
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    f = lambda t: (t.sin() * t).exp()  # noqa: E731
    (found,) = torch.autograd.grad(Checkpoint.apply(f, x).sum(), x)
    assert torch.allclose(found, torch.autograd.grad(f(x).sum(), x)[0])
