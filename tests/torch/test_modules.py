"""Modules, their parameters and states, and optimizers."""

import copy
import math

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch import nn, optim

F64 = torch.float64


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.rest = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.shift = nn.Parameter(torch.ones(2))
        self.register_buffer("count", torch.zeros(1))
        self.plain = 5

    def forward(self, x):
        return self.rest(self.first(x)) + self.shift.sum()


def test_what_a_module_consists_of():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == [
        *("shift", "first.weight", "first.bias", "rest.0.weight", "rest.0.bias")
    ]
    assert [n for n, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert [n for n, _ in net.named_children()] == ["first", "rest"] and len(list(net.modules())) == 5
    assert list(net.state_dict()) == [*("shift", "count", "first.weight", "first.bias", "rest.0.weight", "rest.0.bias")]
    tied = nn.Sequential(net.first, net.first)
    assert len(list(tied.parameters())) == 2
    del net.first
    assert not hasattr(net, "first") and net.plain == 5


def test_states_are_copied():
    one, other, x = Net(), Net(), torch.ones(1, 2)
    assert not torch.equal(one(x), other(x))
    assert other.load_state_dict(one.state_dict()).missing_keys == []
    assert torch.equal(one(x), other(x)) and other.first.weight is not one.first.weight
    with pytest.raises(RuntimeError, match="missing keys"):
        other.load_state_dict({"shift": torch.ones(2)})
    with pytest.raises(RuntimeError, match=r"another shape \['shift'\]"):
        other.load_state_dict({**one.state_dict(), "shift": torch.ones(3)})
    twin = copy.deepcopy(one)
    assert twin.first.weight is not one.first.weight and torch.equal(twin(x), one(x))


def test_modes_gradients_and_types():
    net, x = Net(), torch.ones(1, 2)
    assert not net.eval().rest[0].training and net.train().rest.training
    net(x).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all((p.grad == 0).all() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    assert net.double().first.weight.dtype is F64 and isinstance(net.first.weight, nn.Parameter)
    assert not net.requires_grad_(False)(x.double()).requires_grad
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "Net"]
    assert repr(net.rest) == ("Sequential(\n  (0): Linear(in_features=3, out_features=3, bias=True)\n  (1): ReLU()\n)")


def test_what_is_refused():
    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\)"):
        Early()
    net = Net()
    with pytest.raises(TypeError, match="as parameter 'shift'"):
        net.shift = torch.ones(2)
    with pytest.raises(NotImplementedError, match="forward"):
        nn.Module()(1)
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        net.nothing  # noqa: B018
    with pytest.raises(ValueError, match="dimensions"):
        nn.BatchNorm2d(2)(torch.ones(2, 2))


def test_layers_call_their_functions():
    x = torch.tensor(np.random.default_rng(1).normal(size=(2, 4, 6, 6)), requires_grad=True)
    for module, expected in (
        (nn.AvgPool2d(2, stride=1), nn.functional.avg_pool2d(x, 2, 1)),
        (nn.LeakyReLU(0.3), nn.functional.leaky_relu(x, 0.3)),
        (nn.Softmax(dim=1), torch.softmax(x, 1)),
        (nn.Flatten(), x.reshape(2, -1)),
        (nn.Upsample(scale_factor=2), nn.functional.interpolate(x, scale_factor=2)),
        (nn.GroupNorm(2, 4).double(), nn.functional.group_norm(x, 2)),
        (nn.LayerNorm(6).double(), nn.functional.layer_norm(x, (6,))),
        (nn.Identity(), x),
    ):
        assert torch.equal(module(x), expected)
    conv = nn.Conv2d(4, 2, 3, padding=1, groups=2).double()
    assert torch.equal(conv(x), nn.functional.conv2d(x, conv.weight, conv.bias, padding=1, groups=2))
    back = nn.ConvTranspose2d(4, 2, 2, stride=2).double()
    assert back(x).shape == (2, 2, 12, 12) and nn.LeakyReLU(0.3).negative_slope == 0.3
    assert torch.autograd.gradcheck(conv, x[:1].detach().requires_grad_())
    target = torch.zeros(2, 4, 6, 6, dtype=F64)
    assert torch.equal(nn.MSELoss(reduction="sum")(x, target), (x**2).sum())
    assert nn.CrossEntropyLoss()(x[:, :, 0, 0], torch.tensor([0, 3])).ndim == 0
    assert abs(nn.Linear(100, 100).weight.abs().max().item() - 0.1) < 1e-3


def test_layers_that_know_whether_they_are_trained():
    x = torch.tensor(np.random.default_rng(2).normal(size=(50, 3)))
    norm = nn.BatchNorm1d(3, momentum=0.5).double()
    trained = norm(x)
    assert np.allclose(trained.mean(0).tolist(), 0) and norm.num_batches_tracked.item() == 1
    assert np.allclose(norm.running_mean.tolist(), (x.mean(0) / 2).tolist())
    assert not torch.equal(norm.eval()(x), trained) and norm(x).requires_grad
    drop = nn.Dropout(0.5)
    assert (drop(x) == 0).any() and drop.eval()(x) is x
    lazy = nn.LazyLinear(2)
    assert list(lazy.parameters()) == [] and lazy(x.float()).shape == (50, 2) and lazy.in_features == 3


def test_containers():
    layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    assert len(layers) == 3 and len(list(layers.parameters())) == 6 and layers[-1] is list(layers)[2]
    chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    assert len(chain[:2]) == 2 and chain[:2][1] is chain[1]
    named = nn.ModuleDict({"a": nn.Linear(1, 1)})
    assert list(named) == ["a"] and [n for n, _ in named.named_parameters()] == ["a.weight", "a.bias"]
    assert len(list(nn.ParameterList([torch.ones(1), torch.zeros(2)]).parameters())) == 2


def descend(make, steps=3):
    w = torch.tensor([1.0, -2.0], dtype=F64, requires_grad=True)
    optimizer = make([w])
    for _ in range(steps):
        optimizer.zero_grad()
        (w**2).sum().backward()
        optimizer.step()
    return w.detach().numpy()


def test_steps_of_optimizers():
    w, v = np.array([1.0, -2.0]), np.zeros(2)
    for _ in range(3):
        g = 2 * w + 0.1 * w
        v = 0.9 * v + g
        w = w - 0.01 * v
    assert np.allclose(descend(lambda p: optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=0.1)), w)
    w, m, s = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    for t in range(1, 4):
        g = 2 * w
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
    assert np.allclose(descend(lambda p: optim.Adam(p, lr=0.1)), w)
    assert np.allclose(descend(lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.0)), w)
    w, s = np.array([1.0, -2.0]), np.zeros(2)
    for _ in range(3):
        s = 0.99 * s + 0.01 * 4 * w * w
        w = w - 0.01 * 2 * w / (np.sqrt(s) + 1e-8)
    assert np.allclose(descend(optim.RMSprop), w)


def test_groups_closures_and_refusals():
    a, b = [torch.ones(1, dtype=F64, requires_grad=True) for _ in range(2)]
    optimizer = optim.SGD([{"params": [a], "lr": 0.1}, {"params": b}], lr=0.2)

    def closure():
        optimizer.zero_grad()
        loss = (a * b).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1 and math.isclose(a.item(), 0.9) and math.isclose(b.item(), 0.8)
    for refused, error, match in (
        (lambda: optim.SGD([]), ValueError, "empty"),
        (lambda: optim.SGD([a * 2]), ValueError, "non-leaf"),
        (lambda: optim.SGD([3.0]), TypeError, "Tensors, not float"),
        (lambda: optim.SGD([a], nesterov=True), ValueError, "Nesterov"),
    ):
        with pytest.raises(error, match=match):
            refused()


def test_memory_of_views():
    a = torch.ones(4)
    assert a[1:].untyped_storage().data_ptr() == a.data_ptr() and a[1:].untyped_storage().nbytes() == 16
