"""A call that looks like one before goes by its plan: with the same value, graph, gradients and memory."""

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.runtime.eager import plans
from s2sgrad.torch.autograd import grad

F64 = torch.float64

ONE = {
    "T": lambda x: x.T,
    "reshape": lambda x: x.reshape(3, 2),
    "reshape of a transpose": lambda x: x.T.reshape(6),
    "flatten": lambda x: x.flatten(),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "movedim": lambda x: x.movedim(0, 1),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "expand": lambda x: x.unsqueeze(0).expand(4, 2, 3),
    "diagonal": lambda x: x.diagonal(),
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(1, 0),
    "tril": lambda x: x.tril(),
    "clone": lambda x: x.clone(),
    "sum of an axis": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "mean of an axis": lambda x: x.mean(1, keepdim=True),
    "var": lambda x: x.var(1),
    "max of an axis": lambda x: x.max(1).values,
    "cumsum": lambda x: x.cumsum(0),
    "softmax": lambda x: x.softmax(1),
    "logsumexp": lambda x: x.logsumexp(1),
    "index": lambda x: x[[1, 0]],
    "index_select": lambda x: x.index_select(1, torch.tensor([2, 0])),
    "clamp": lambda x: x.clamp(0.2, 0.4),
    "reflected": lambda x: 1 - x,
    "copysign": lambda x: x.copysign(torch.tensor(-1.0, dtype=F64)),
}
TWO = {
    "broadcast sum": lambda x, y: x + y[0],
    "broadcast product": lambda x, y: x * y[:, :1],
    "both are broadcast": lambda x, y: x[:1] * y[:, :1],
    "broadcast quotient": lambda x, y: x / y[1],
    "where": lambda x, y: torch.where(x > 0.3, x, y),
    "cat": lambda x, y: torch.cat([x, y]),
    "cat of another axis": lambda x, y: torch.cat([x, y, x], 1),
    "stack": lambda x, y: torch.stack([x, y]),
    "matmul": lambda x, y: x @ y.T,
    "matmul of a vector": lambda x, y: x @ y[0],
    "atan2": lambda x, y: torch.atan2(x, y[0]),
    "lerp": lambda x, y: torch.lerp(x, y[0], 0.3),
}


def inputs():
    r = np.random.default_rng(3)
    return [torch.tensor(r.uniform(0.1, 0.9, (2, 3)), dtype=F64, requires_grad=True) for _ in range(2)]


def graph(node, depth=3):
    if node is None or not depth:
        return None
    return node.name(), [graph(edge, depth - 1) for edge, _ in node.next_functions]


def story(f, tracked):
    """All that a user can see of a call."""
    x, y = inputs()
    operands = [t if i in tracked else t.detach() for i, t in enumerate((x, y))]
    out = f(*operands)
    told = [out.numpy(force=True).tolist(), out._is_view(), out.stride(), graph(out.grad_fn)]
    wanted = [operands[i] for i in tracked]
    weights = torch.tensor(np.linspace(0.5, 1.5, out.numel()), dtype=F64).reshape(*out.shape)
    first = grad((out * weights).sin().sum(), wanted, create_graph=True, allow_unused=True)
    told += [None if g is None else g.tolist() for g in first]
    total = sum((g * g).sum() for g in first if g is not None)
    if isinstance(total, torch.Tensor) and total.requires_grad:
        told += [None if g is None else g.tolist() for g in grad(total, wanted, allow_unused=True)]
    return told


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch):
    monkeypatch.setattr(plans, "PLANS", {})


def check(f, tracked):
    first = story(f, tracked)
    known = dict(plans.PLANS)
    assert story(f, tracked) == first
    assert story(f, tracked) == first
    assert known == plans.PLANS, "what was called before has its plan"


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_tensor(name):
    check(lambda x, y: ONE[name](x), (0,))


@pytest.mark.parametrize("tracked", [(0, 1), (0,), (1,)], ids=str)
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_tensors(name, tracked):
    check(TWO[name], tracked)


def test_lists_of_different_lengths_have_plans_of_their_own():
    x, c = torch.ones(2, requires_grad=True), torch.zeros(2)
    for items in ([x, c], [x, c, c], [x, c], [x, c, c]):
        assert len(torch.cat(items).grad_fn.next_functions) == len(items)


@pytest.mark.parametrize("view", [lambda b: b.T, lambda b: b.reshape(3, 2), lambda b: b.unsqueeze(0), lambda b: b[1]])
def test_views_by_plan_are_written_through(view):
    for _ in range(3):
        x, _ = inputs()
        base = x * 1
        v = view(base)
        assert v._base is base and np.shares_memory(v.detach().numpy(), base.detach().numpy())
        v.mul_(3)
        base.sin().sum().backward()
        factor = np.ones((2, 3))
        view(torch.tensor(factor)).mul_(3)
        mask = torch.ones(2, 3, dtype=F64)
        view(mask).mul_(3)
        due = np.cos(x.detach().numpy() * mask.numpy()) * mask.numpy()
        assert np.allclose(x.grad.numpy(), due)


def test_a_copy_by_the_plan_of_a_view_is_a_copy():
    for lies_in_a_row in (True, False, True, False):
        x, _ = inputs()
        y = x * 1 if lies_in_a_row else (x * 1).T
        z = y.reshape(6)
        assert z._is_view() is lies_in_a_row
        z.sum().backward()
        assert x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]
