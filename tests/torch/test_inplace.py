"""Writing into tensors: what is refused, what is detected, and whose history changes."""

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.runtime.eager.versions import STALE
from s2sgrad.torch.autograd import grad
from s2sgrad.torch.autograd.graph import allow_mutation_on_saved_tensors, increment_version

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def matrix():
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64, requires_grad=True)


def differentiated(f, *data):
    """The gradient of the sum of ``f`` where it writes, against finite differences."""
    data = [np.asarray(d, float) for d in data]

    def value(*arrays):
        return f(*[torch.tensor(a) for a in arrays]).sum().item()

    leaves = [torch.tensor(d, requires_grad=True) for d in data]
    found = grad(f(*leaves).sum(), leaves, allow_unused=True, materialize_grads=True)
    for i, (d, g) in enumerate(zip(data, found, strict=True)):
        for at in np.ndindex(d.shape):
            up, down = d.copy(), d.copy()
            up[at] += 1e-6
            down[at] -= 1e-6
            slope = (value(*data[:i], up, *data[i + 1 :]) - value(*data[:i], down, *data[i + 1 :])) / 2e-6
            assert g.numpy()[at] == pytest.approx(slope, rel=1e-6, abs=1e-6), (i, at)


def test_leaves_are_protected():
    x = leaf(1.0, 2.0)
    for write in (lambda: x.add_(1), lambda: x[0:1].mul_(2), lambda: x.view(2).add_(1), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(RuntimeError, match="leaf"):
            write()
    assert x.tolist() == [1, 2] and x._version == 0
    with torch.no_grad():
        x -= 0.5
        x[0] = 7
    assert x.tolist() == [7, 1.5] and x._version == 2 and x.is_leaf and x.requires_grad


def test_leaves_that_are_views_are_protected():
    x = torch.tensor([1.0, 2.0]).reshape(2, 1).requires_grad_()
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf"):
        x[0].add_(1)
    with torch.no_grad():
        x[0].add_(1)
    assert x.tolist() == [[2], [2]]


def test_one_of_several_views_can_be_detached_after_a_write():
    base = leaf(1.0, 2.0).clone()
    part = base.unbind()[1]
    base.mul_(3)
    assert part.detach().item() == 6
    with pytest.raises(RuntimeError, match="one of several outputs"):
        part * 2


def test_a_view_of_an_element_is_written():
    x = leaf(1.0, 2.0)
    y = x.clone()
    y[0].view(()).mul_(3)
    y[1].transpose_(0, -1).mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [3, 5]


def test_a_result_continues_from_what_was_written():
    x = leaf(1.0, 2.0)
    y = x * 2
    first = y.grad_fn
    assert y.mul_(3) is y and y.grad_fn is not first
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x * 1).exp_(),
        lambda x: (x * 1).sin_().square_(),
        lambda x: (x * 1).log_().abs_(),
        lambda x: (x * 1).reciprocal_(),
        lambda x: (x * 1).sub_(x * 3).div_(x).pow_(2).clamp_(-9.0, 9.0),
        lambda x: (x * 1).add_(x, alpha=-2),
        lambda x: (lambda y: y.add_(y))(x * 1),
        lambda x: (x * 1).masked_fill_(x > 1.5, 0.25).neg_(),
        lambda x: (x * 1).index_add_(0, torch.tensor([0, 0]), x * 2),
        lambda x: (x * 1).cumsum_(0),
    ],
)
def test_variants_in_place(f):
    differentiated(f, [0.5, 2.0])


def through_view(write, of=lambda x: x * 1):
    def f(x):
        y = of(x)
        write(y, x)
        return y * y

    return f


@pytest.mark.parametrize(
    "write",
    [
        lambda y, x: y[0].mul_(x[1]),
        lambda y, x: y[:, 1].add_(x[0]).exp_(),
        lambda y, x: y.diagonal().mul_(10),
        lambda y, x: y.t()[0].copy_(x[1]),
        lambda y, x: y.view(4)[1:3].mul_(x.reshape(4)[:2]),
        lambda y, x: y[1][:1].fill_(3.0),
        lambda y, x: y.__setitem__((0, 1), x[1, 1] * x[0, 0]),
        lambda y, x: y.__setitem__(x > 2.5, 5.0),
        lambda y, x: y.__setitem__(torch.tensor([1]), x[0] * 2),
        lambda y, x: y.__setitem__(slice(None), x[1]),
        lambda y, x: y.unsqueeze(0).transpose(1, 2)[0, 1].mul_(x[0]),
        lambda y, x: y.zero_(),
        lambda y, x: y.copy_(x.t()),
    ],
)
def test_writing_through_views(write):
    differentiated(through_view(write), [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    "bounds", [lambda p: slice(p, None), lambda p: (..., slice(None, p)), lambda p: slice(None, None, p)]
)
@pytest.mark.parametrize("number", [np.array, torch.tensor])
def test_bounds_of_a_slice_that_change_later(bounds, number):
    def f(x):
        p = number(2)
        y = x * 2
        y[bounds(p)] *= x[1]
        v = y[bounds(p)]
        p[...] = 1
        y *= x[0]
        return v * v

    differentiated(f, [0.5, 1.0, 1.5])


def test_views_follow_their_base():
    def base_written(x):
        y = x.clone()
        v, w = y[1:], y[:2]
        y.mul_(x)
        w.exp_()
        return v * v

    differentiated(base_written, [0.5, 1.0, 1.5])


def test_second_order_through_a_view():
    x = leaf(1.0, 2.0, 3.0)
    y = x**2
    y[:2].mul_(x[1:])
    (g,) = grad((y**2).sum(), x, create_graph=True)
    (h,) = grad((g * g).sum(), x)

    def slope(values):
        a = leaf(*values)
        b = a**2
        b[:2].mul_(a[1:])
        (first,) = grad((b**2).sum(), a)
        return (first * first).sum().item()

    for i in range(3):
        up, down = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]
        up[i] += 1e-5
        down[i] -= 1e-5
        assert h[i].item() == pytest.approx((slope(up) - slope(down)) / 2e-5, rel=1e-6)


def test_what_is_needed_may_not_be_overwritten():
    x = leaf(1.0, 2.0)
    for use, write in (
        (lambda y: y * y, lambda y: y.mul_(1)),
        (lambda y: y.sin(), lambda y: y.zero_()),
        (lambda y: y * y, lambda y: y.detach().zero_()),
        (lambda y: y * y, lambda y: y[0].add_(1)),
        (lambda y: y[0] * y[1], lambda y: y[1].add_(1)),
        (lambda y: y @ y, lambda y: y.add_(1)),
        (lambda y: y * y, increment_version),
    ):
        y = x * 2
        z = use(y).sum()
        write(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation.*version"):
            z.backward()


def test_results_that_are_needed_may_not_be_overwritten():
    x = leaf(1.0, 2.0)
    for use in (torch.exp, torch.sigmoid, torch.tanh, torch.sqrt, torch.relu):
        y = use(x * 1)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified"):
            y.sum().backward()


def test_what_is_not_needed_may_be_overwritten():
    x = leaf(1.0, 2.0)
    c = torch.tensor([3.0, 4.0], dtype=F64)
    for use in (
        lambda y: y * c,
        lambda y: y + y,
        lambda y: y.sum(),
        lambda y: y.exp(),
        lambda y: y * 2.0,
        lambda y: y.view(2, 1),
        lambda y: y.mean(),
        lambda y: y / c,
        lambda y: y @ c,
    ):
        y = x * 1
        z = use(y).sum()
        with torch.no_grad():
            y.zero_()
        z.backward()
    w = x / x.exp()
    w += 1
    w.sum().backward()


def test_versions():
    x = torch.tensor([1.0, 2.0, 3.0])
    v, c, d, e = x[1:], x.clone(), x.detach(), x.data
    x.add_(1)
    assert [t._version for t in (x, v, c, d, e)] == [1, 1, 0, 1, 0]
    v.mul_(2)
    x[0] = 3.0
    assert x._version == d._version == 3
    assert x.sum() is not None and x._version == 3


def test_views_and_bases():
    y = torch.ones(2, 2)
    v = y[0][1:]
    assert v._is_view() and v._base is y and y._base is None and y.t()._base is y
    assert not any(t._is_view() for t in (y, y.clone(), y.detach(), y[[0]]))
    assert y.reshape(4)._is_view() and not y.t().reshape(4)._is_view()
    assert y.contiguous() is y and y.t().contiguous() is not y


def test_untracked_tensors_become_tracked():
    x = leaf(1.0, 2.0)
    a = torch.zeros(2, 2, dtype=F64)
    a[0].add_(x)
    assert a.requires_grad and not a.is_leaf
    (a * a).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_alias_of_a_later_leaf():
    b = torch.ones(3)
    v = b[:2]
    b.requires_grad_()
    with pytest.raises(RuntimeError):
        v.add_(1)


def test_types_and_shapes():
    i, f = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
    for write, words in (
        (lambda: i.add_(0.5), "can't be cast"),
        (lambda: i.mul_(f), "can't be cast"),
        (lambda: i.div_(2), "can't be cast"),
        (lambda: torch.tensor([True]).add_(1), "can't be cast"),
        (lambda: f.add_(torch.ones(2, 2)), "broadcast"),
        (lambda: torch.ones(1).expand(3).add_(1), "single memory location"),
        (lambda: f.__setitem__(0, torch.ones(2)), "shape"),
    ):
        with pytest.raises(RuntimeError, match=words):
            write()
    assert i.add_(2).tolist() == [3, 4]


def test_views_made_without_recording():
    x = leaf(1.0, 2.0)
    y = x.clone()
    with torch.no_grad():
        v = y[:1]
    assert v.requires_grad and v.is_leaf
    with pytest.raises(RuntimeError, match="no_grad"):
        v.mul_(2)


def test_nothing_flows_through_views_made_without_recording():
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        v, w = x[:1], x[0]
    y = (v * v).sum() + w + (x * 3).sum()
    assert (v * v).grad_fn.next_functions == ((None, 0), (None, 0))
    y.backward()
    assert x.grad.tolist() == [3, 3] and v.grad is None
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="no_grad"):
        v.sum()


def test_operands_may_not_lie_partly_on_what_is_written():
    y = torch.ones(2, 3)
    for write in (lambda: y[0].add_(y.view(6)[1:4]), lambda: y.add_(y[0]), lambda: y[0].copy_(y.view(6)[2:5])):
        with pytest.raises(RuntimeError, match="memory location"):
            write()
    assert y.mul_(y).add_(y).tolist() == [[2] * 3] * 2


def test_views_are_taken_anew_in_any_mode():
    x = leaf(1.0, 2.0)
    base = torch.zeros(2, dtype=F64)
    v = base.unsqueeze(0)
    base.add_(x)
    with torch.no_grad():
        v.mul_(2)
    v.sum().backward()
    assert v.tolist() == [[2, 4]] and x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("write", [lambda b: b.mul_(2), lambda b: b.fill_(2), lambda b: b[1:].fill_(2)])
def test_a_view_of_what_has_become_a_leaf_follows_it_after_a_write(write):
    base = torch.ones(3)
    v, w = base[1:], base[1:].sin()
    base.requires_grad_()
    with torch.no_grad():
        write(base)
    assert v.requires_grad and not v.is_leaf and not w.requires_grad
    (v * v + w).sum().backward()
    assert base.grad.tolist() == [0, 4, 4]


def test_the_sign_of_the_tensor_itself():
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    v = x * 1
    v.copysign_(v)
    assert v.tolist() == [1, -2, 3]
    v.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_a_view_that_cannot_be_used_any_more_can_be_shown():
    base = torch.ones(2, 2, requires_grad=True) * 1
    part = base.unbind(0)[0]
    base.mul_(2)
    assert repr(part) == str(part) == "tensor([2., 2.], grad_fn=<Invalid>)"
    with pytest.raises(RuntimeError, match="several outputs"):
        part * 2


def test_an_index_out_of_range_counts_no_write():
    y = torch.ones(2)
    with pytest.raises(IndexError):
        y[5] = 1.0
    assert y._version == 0


def test_several_views_of_one_operation():
    y = matrix().clone()
    a, b = y.unbind(0)
    with pytest.raises(RuntimeError, match="several outputs"):
        a.mul_(2)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="several outputs"):
        b.sum()


def test_a_constant_blocks_and_a_copy_reroutes():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * 2
    y.zero_()
    z = x * 2
    z.copy_(w)
    (y + z * z).sum().backward()
    assert x.grad.tolist() == [0, 0] and w.grad.tolist() == [6, 8]


def test_repeated_places_keep_the_last_value():
    def f(x):
        y = x * 1
        y[torch.tensor([0, 0])] = x[1:] * 2
        return y * y

    differentiated(f, [1.0, 2.0, 3.0])


def test_unrecorded_writes_keep_history():
    x = leaf(1.0, 2.0)
    y = x * 2
    node = y.grad_fn
    with torch.no_grad():
        y.add_(100)
    assert y.grad_fn is node and y._version == 1
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_allowed_mutation():
    x = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y**2).sum()
        y.sin_()
        z.backward()
        with pytest.raises(RuntimeError), allow_mutation_on_saved_tensors():
            pass
    assert x.grad.tolist() == [2, 4]
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y**2).sum()
        y.sin_()
    with pytest.raises(AssertionError):
        z.backward()


def test_training_step():
    x = leaf(1.0, 2.0)
    for _ in range(3):
        (x * x).sum().backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
        x.grad = None
    np.testing.assert_allclose(x.tolist(), [0.512, 1.024])


# ---------------------------------------------------------------- views without axes, and axes changed in place


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize(
    "take", [lambda x: x[0], lambda x: x.unbind(0)[0], lambda x: list(x)[0], lambda x: x.select(0, 0)]
)
def test_single_elements_are_views(mode, take):
    x = torch.zeros(2, dtype=F64)
    with mode():
        v = take(x)
        v.fill_(3)
    assert x.tolist() == [3, 0] and v._is_view() and v._base is x and v.shape == ()


def test_an_element_written_in_a_view_without_axes():
    def f(x):
        y = x * 1
        v = y[1]
        v.mul_(x[0])
        y[0].copy_(v * 2)
        return y * y + v

    differentiated(f, [2.0, 3.0])


def test_a_new_axis_as_the_place_of_a_write():
    def f(x):
        y = x * 1
        y[None] = x.flip(0) * 2
        y[0, None] = x[1] * x[0]
        return y * x

    differentiated(f, [2.0, 3.0])


def test_one_position_of_an_expanded_tensor_may_be_written():
    def f(x):
        y = x * 1
        y.expand(1, 2).mul_(x)
        return y * y

    differentiated(f, [2.0, 3.0])
    x = torch.ones(1, 1)
    x.expand(1, 1).mul_(3)
    assert x.tolist() == [[3]]
    with pytest.raises(RuntimeError, match="single memory location"):
        x.expand(2, 1).mul_(3)


TURNS = [
    lambda y: y.t_(),
    lambda y: y.transpose_(0, 1),
    lambda y: y.swapaxes_(1, 0),
    lambda y: y.unsqueeze_(-1),
    lambda y: y.unsqueeze_(0).squeeze_(),
    lambda y: y.unsqueeze_(1).transpose_(0, 2).squeeze_(1),
]


@pytest.mark.parametrize("turn", TURNS)
def test_axes_changed_in_place_keep_the_history_of_views(turn):
    def f(x):
        y = x * 1
        before = y[1]
        turn(y)
        after = y[0]
        y.mul_(torch.arange(1.0, 7.0, dtype=F64).reshape(y.shape))
        after.pow_(2)
        before.mul_(x[0] + 1)
        return (y.sum() + (before * 3).sum() + (after**2).sum()) * x[0, 0]

    differentiated(f, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("turn", TURNS)
def test_axes_of_a_view_changed_in_place(turn):
    def f(x):
        y = x * 1
        v = y[:2]
        turn(v)
        y.mul_(2)
        v.mul_(torch.arange(1.0, 7.0, dtype=F64).reshape(v.shape))
        return (y**2).sum() + v.sum() * x[2, 2]

    differentiated(f, np.arange(9.0).reshape(3, 3))


def test_axes_changed_in_place_are_writes():
    x = matrix()
    for turn in (lambda t: t.t_(), lambda t: t.unsqueeze_(0), lambda t: t.squeeze_()):
        with pytest.raises(RuntimeError, match="leaf Variable"):
            turn(x)
    y = x * 1
    z = y * y
    y.t_()
    assert y._version == 1 and y.stride() == (1, 2)
    with pytest.raises(RuntimeError, match="inplace"):
        z.sum().backward()
    with torch.no_grad():
        assert x.t_() is x
    (x * x).sum().backward()
    assert x.is_leaf and x.grad.tolist() == [[2, 6], [4, 8]]


# ---------------------------------------------------------------- what may be assigned


def test_values_of_writes():
    y = torch.zeros(2, 2)
    for bad in ([1.0, 2.0], "a", None, (1.0,)):
        with pytest.raises(TypeError, match="cannot assign"):
            y[0] = bad
        with pytest.raises(TypeError, match="cannot assign"):
            y.fill_(bad)
    for write in (lambda: y.__setitem__(0, 1j), lambda: y.fill_(1j)):
        with pytest.raises(RuntimeError, match="complex number cannot be converted"):
            write()
    y[0] = np.array([1.0, 2.0])
    y[1] = True
    assert y.tolist() == [[1, 2], [1, 1]]
    with pytest.raises(RuntimeError, match="bool"):
        torch.tensor([True]).sub_(True)


def test_comparisons_in_place_leave_a_constant():
    x = leaf(1.0, 2.0)
    y = x * 1
    y.gt_(1.5)
    z = x * 1
    z.logical_and_(torch.ones(2))
    assert y.tolist() == [0, 1] and y.requires_grad and z.requires_grad
    assert grad((y * 3 + z).sum(), x)[0].tolist() == [0, 0]


@pytest.mark.parametrize("made", ["no_grad", "inference", "multi", "custom"])
def test_tracked_values_are_refused_before_they_are_written(made):
    class Through(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.view(2)

        @staticmethod
        def backward(ctx, g):
            return g, g

    x, base = leaf(1.0, 2.0), torch.zeros(2, dtype=F64)
    if made == "custom":
        v = Through.apply(base, x)
    elif made == "multi":
        (v,) = base.split(2)
    else:
        with torch.no_grad() if made == "no_grad" else torch.inference_mode():
            v = base.view(2)
    with pytest.raises(RuntimeError):
        v.copy_(x)
    assert base.tolist() == [0, 0] and not base.requires_grad


def test_parts_made_each_by_itself_may_be_written():
    def f(x):
        y = x * 1
        for part in (*y.tensor_split(2), *torch.hsplit(y, 2), *torch.vsplit(y, 2)):
            part.mul_(x[0, 0])
        return y

    differentiated(f, [[1.0, 2.0], [3.0, 4.0]])
    y = matrix() * 1
    with pytest.raises(RuntimeError, match="several outputs"):
        y.split(2)[0].mul_(2)  # one piece, but of a function that may give several
    with pytest.raises(RuntimeError, match="does not divide"):
        torch.hsplit(y, 3)
    with pytest.raises(RuntimeError, match="2 or more dimensions"):
        torch.vsplit(y[0], 1)
    with pytest.raises(RuntimeError, match="larger than 0"):
        y.tensor_split(0)
    assert [p.tolist() for p in torch.arange(5).tensor_split(3)] == [[0, 1], [2, 3], [4]]
    assert [p.tolist() for p in torch.arange(5).tensor_split((1, 3))] == [[0], [1, 2], [3, 4]]
    assert torch.dsplit(torch.zeros(1, 1, 4), 2)[0].shape == (1, 1, 2)


def test_copies_that_were_cleared_are_gone():
    x = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors() as kept:
        y = x * 1
        z = (y**2).sum()
        y.zero_()
        kept.clear()
        with pytest.raises(AssertionError, match="before clear"):
            z.backward()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.flip(0),
        lambda x: x.flip(0, 1),
        lambda x: torch.fliplr(x),
        lambda x: torch.flipud(x),
        lambda x: torch.rot90(x),
        lambda x: torch.rot90(x, 2),
        lambda x: x.roll(0),
        lambda x: x.diag(),
        lambda x: x.tril(5),
        lambda x: x.repeat(1, 1),
    ],
)
def test_what_torch_copies_is_a_copy(f):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64)
    f(x).zero_()
    assert x.tolist() == [[1, 2], [3, 4]] and not f(x)._is_view()

    def g(x):
        y = x * 1
        z = f(y)
        z.mul_(3)
        y.mul_(2)
        return (z**2).sum() + (y**2).sum()

    differentiated(g, [[1.0, 2.0], [3.0, 4.0]])


def test_a_write_to_what_nobody_else_holds_makes_nothing_stale():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        loss = (w * w).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.sin().sum().backward()  # a second gradient, added to the first
        assert not any(entry.family in (w._family, w.grad._family) for entry in STALE.values())
        w.grad.zero_()
    assert w._version == 3 and w.grad._version == 5 + 3


def test_a_write_to_what_a_node_saved_is_noticed_however_often_it_was_written():
    w = torch.tensor([1.0, 2.0])
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    for save in (lambda: x * w, lambda: x * w.detach(), lambda: x * w[:], lambda: x @ w):
        w.add_(1)
        y = save()
        w.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
        save().sum().backward()


def test_a_gradient_that_a_graph_has_saved_is_stale_when_more_is_added():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = torch.tensor([1.0, 1.0], requires_grad=True)
    z = y * x.grad
    (x * x).sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
