"""Hooks of tensors and nodes: what they see, what they may change, and in which order they run."""

import gc
import weakref

import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import grad
from s2sgrad.torch.autograd.graph import register_multi_grad_hook

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def number(v):
    return torch.tensor(v, dtype=F64, requires_grad=True)


def test_tensor_hooks_chain_in_order():
    seen = []
    x = leaf(1.0)
    y = x * 1
    y.register_hook(lambda g: (seen.append(g.tolist()), g + 1)[1])
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert seen == [[1], [2]] and x.grad.tolist() == [20]


def test_hooks_run_once_with_the_total_of_this_pass():
    seen = []
    x = number(2.0)
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x + x * 3).backward()
    (x * 4).backward()
    assert seen == [7, 4] and x.grad.item() == 11


def test_handles():
    n = []
    x = leaf(1.0)
    y = (x + x).sum()
    handle = x.register_hook(lambda g: n.append("a"))
    with x.register_hook(lambda g: n.append("b")):
        y.backward()
    handle.remove()
    handle.remove()
    y.backward()
    assert n == ["a", "b"]


def test_a_hook_may_remove_itself():
    n = []
    x = leaf(1.0)
    box = []
    box.append(x.register_hook(lambda g: (n.append("once"), box[0].remove())[0]))
    x.register_hook(lambda g: n.append("always"))
    for _ in range(2):
        (x * 2).sum().backward()
    assert n == ["once", "always", "always"]


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        (lambda g: 3, TypeError),
        (lambda g: g[:1], RuntimeError),
        (lambda g: g.float(), RuntimeError),
        (lambda g: True, TypeError),
    ],
)
def test_bad_returns(returned, error):
    x = leaf(1.0, 2.0)
    x.register_hook(returned)
    with pytest.raises(error, match="hook"):
        (x * 2).sum().backward()


def test_exceptions_keep_their_type():
    x = leaf(1.0)

    def hook(g):
        raise KeyError("own")

    x.register_hook(hook)
    with pytest.raises(KeyError, match="own"):
        (x * 2).sum().backward()
    assert x.grad is None


def test_gradients_have_the_type_of_the_tensor():
    seen = []
    z = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True) * 1
    z.register_hook(lambda g: seen.append(g.dtype))
    z.real.sum().backward()
    assert seen == [torch.complex128]


def test_hooks_need_gradients():
    with pytest.raises(RuntimeError):
        torch.ones(1).register_hook(print)


def test_hooks_of_the_inputs_of_grad():
    x = number(2.0)
    h = x * 3
    h.register_hook(lambda g: g * 10)
    y = h * h
    assert grad(y, h, retain_graph=True)[0].item() == 120 and grad(y, x)[0].item() == 360


def test_order_around_a_result():
    log = []
    x = number(2.0)
    h = x * 3
    h.retain_grad()
    h.register_hook(lambda g: log.append("tensor"))
    h.grad_fn.register_prehook(lambda g: log.append(("pre", h.grad.item())))
    h.grad_fn.register_hook(lambda gi, go: log.append(("post", len(gi), go[0].item())))
    (h * h).backward()
    assert log == ["tensor", ("pre", 12), ("post", 2, 12)]


def test_order_around_a_leaf():
    log = []
    x = number(2.0)
    accumulate = x.view_as(x).grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda g: log.append(("pre", x.grad is None)))
    accumulate.register_hook(lambda gi, go: log.append(("post", gi, go[0].item(), x.grad.item())))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", p is x, p.grad.item())))
    x.register_hook(lambda g: log.append("tensor"))
    (x * x).backward()
    assert log == ["tensor", ("pre", True), ("accumulated", True, 4), ("post", (), 4, 4)]


def test_node_hooks_replace():
    a, b, c = number(2.0), number(3.0), torch.tensor(5.0, dtype=F64)
    y = a * b
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, gi[1] * 100))
    y.grad_fn.register_prehook(lambda go: (go[0] * 2,))
    z = y * c
    z.grad_fn.register_hook(lambda gi, go: seen.append([g is None for g in gi]))
    seen = []
    z.backward()
    assert (a.grad.item(), b.grad.item()) == (300, 2000) and seen == [[False, True]]
    y = a * b
    y.grad_fn.register_hook(lambda gi, go: [gi[0], gi[1]])
    with pytest.raises(TypeError):
        y.backward()
    y = a * b
    y.grad_fn.register_hook(lambda gi, go: (gi[0],))
    with pytest.raises(RuntimeError):
        y.backward()


def test_node_hooks_run_only_with_the_node():
    log = []
    x = number(2.0)
    h = x * 3
    h.grad_fn.register_hook(lambda gi, go: log.append("node"))
    h.register_hook(lambda g: log.append("tensor"))
    y = h * h
    grad(y, h, retain_graph=True)
    assert log == ["tensor"]
    y.backward(inputs=[x])
    assert log == ["tensor", "tensor", "node"]


def test_post_accumulate_hooks():
    x = leaf(1.0, 2.0)
    seen = []

    def step(p):
        seen.append(p.grad.tolist())
        p.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    grad((x * 3).sum(), x)
    handle.remove()
    (x * 3).sum().backward()
    assert seen == [[3, 3], [3, 3]] and x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(step)


def test_retain_grad():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    y.register_hook(lambda g: g * 3)
    z = (y * y).sum()
    grad(z, x, retain_graph=True)
    assert y.grad.tolist() == [12, 24]
    z.backward()
    assert y.grad.tolist() == [24, 48]
    with pytest.raises(RuntimeError):
        torch.ones(1).retain_grad()


def test_hooks_stay_with_the_old_value_and_retain_grad_moves():
    seen = []
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("old", g.tolist())))
    y.mul_(10)
    y.register_hook(lambda g: seen.append(("new", g.tolist())))
    y.sum().backward()
    assert seen == [("new", [1, 1]), ("old", [10, 10])] and y.grad.tolist() == [1, 1]


def test_views_and_bases_have_hooks_of_their_own():
    log = []
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[:1]
    v.register_hook(lambda g: log.append(("view", g.tolist())))
    y.register_hook(lambda g: log.append(("base", g.tolist())))
    (y.sum() + v.sum() * 2).backward()
    assert log == [("view", [2]), ("base", [3, 1])]


def test_multi_grad_hooks():
    log, any_of = [], []
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    c, d = a * b, a * b
    handle = register_multi_grad_hook((a, b, c, d), lambda gs: log.append([g is not None for g in gs]))
    register_multi_grad_hook((a, b), lambda g: any_of.append(g.tolist()), mode="any")
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    handle.remove()
    c.sum().backward()
    assert log == [[True, True, True, False], [True, False, True, False]] and len(any_of) == 3
    with pytest.raises(ValueError):
        register_multi_grad_hook((a,), print, mode="some")


def test_hook_arithmetic_is_recorded_with_create_graph():
    x = number(2.0)
    y = x * x
    y.register_hook(lambda g: g * g)
    (g,) = grad(y * 3, x, create_graph=True)
    assert g.item() == 36 and grad(g, x)[0].item() == 18


def test_hooks_outlive_the_tensor_and_make_no_cycle():
    log = []
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: log.append(g.tolist()))
    gone = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()
    z.sum().backward()
    assert log == [[3]]


def test_hooks_of_leaves_that_were_not_asked_for():
    seen = []
    x, y = leaf(2.0), leaf(3.0)
    x.register_hook(lambda g: seen.append("x"))
    y.register_hook(lambda g: seen.append("y"))
    (x * y).backward(inputs=[y])
    assert seen == ["y"] and x.grad is None and y.grad.tolist() == [2]
    grad(x * y, [y])
    assert seen == ["y", "y"]


def test_all_hooks_of_a_leaf_run_when_it_is_asked_for():
    seen = []
    x = leaf(1.0)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_prehook(lambda outputs: seen.append("before"))
    node.register_hook(lambda inputs, outputs: seen.append("after"))
    x.register_hook(lambda g: seen.append("hook"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    (x * 2).backward(inputs=[x])
    assert seen == ["hook", "before", "accumulated", "after"] and x.grad.tolist() == [2]
    grad(x * 2, x)
    assert seen[4:] == ["hook"]


def test_results_of_prehooks():
    for bad in (lambda outputs: outputs[0], lambda outputs: [outputs[0]], lambda outputs: 3):
        y = leaf(1.0) * 2
        y.grad_fn.register_prehook(bad)
        with pytest.raises(TypeError, match="tuple"):
            y.backward()
    x = leaf(1.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda outputs: (None,))
    (y + x).backward()
    assert x.grad.tolist() == [1]


def order_of_leaves(f, count):
    seen = []
    leaves = [number(i + 1.0) for i in range(count)]
    for i, x in enumerate(leaves):
        x.register_hook(lambda g, i=i: seen.append(i))
    f(*leaves).backward()
    return seen


@pytest.mark.parametrize(
    ("f", "order"),
    [
        (lambda a, b: a * b, [0, 1]),
        (lambda a, b: b * a, [1, 0]),
        (lambda a, b, c: a * b * c, [2, 0, 1]),
        (lambda a, b, c: a * (b * c), [0, 1, 2]),
        (lambda a, b, c, d: (a * b).exp() + (c * d).exp(), [2, 3, 0, 1]),
        (lambda a, b, c: a.exp() * b.exp() * c, [2, 1, 0]),
        (lambda *leaves: torch.stack(leaves).sum(), [*range(2000)]),
    ],
)
def test_leaves_of_one_operation_have_their_turns_in_its_order(f, order):
    if len(order) < 2000:
        assert order_of_leaves(f, len(order)) == order
    else:  # as many as are numbered in a row, and then the next ones before them
        assert sorted(order_of_leaves(f, 2000)) == order


def test_what_a_hook_after_accumulation_returns():
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda p: p * 3)
    x.sum().backward()
    assert x.grad.tolist() == [1]
    x.register_post_accumulate_grad_hook(lambda p: 3)
    with pytest.raises(TypeError, match="returns nothing"):
        x.sum().backward()


def test_what_was_retained_before_is_left_as_it_is():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad
    y.sum().backward()
    assert first.tolist() == [1] and y.grad.tolist() == [2]


def test_a_number_is_retained_pass_after_pass():
    x = torch.tensor([1.0, 3.0], dtype=F64, requires_grad=True)
    y = x.max()
    y.retain_grad()
    for expected in (3.0, 6.0, 9.0):
        (y * 3).backward(retain_graph=True)
        assert y.grad.item() == expected and y.grad.add_(0).shape == ()
