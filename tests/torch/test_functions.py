"""Custom Functions and their context."""

import gc
import warnings
import weakref

import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import Function, grad
from s2sgrad.torch.autograd.function import once_differentiable
from s2sgrad.torch.autograd.graph import Node

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def function(forward, backward, **more):
    """A Function of two plain functions."""
    return type("Made", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward), **more})


def test_values_and_derivatives():
    x = leaf(0.5, 1.0)
    (g,) = grad(Exp.apply(x).sum() + Square.apply(x).sum(), x, create_graph=True)
    (h,) = grad(g.sum(), x)
    torch.allclose(g, x.exp() + 2 * x)
    assert torch.allclose(h, x.detach().exp() + 2)


def test_the_node_is_the_context():
    y = Exp.apply(leaf(1.0))
    node = y.grad_fn
    assert type(node).__name__ == node.name() == "ExpBackward" and isinstance(node, Node)
    node.note = "kept"
    assert y.grad_fn.note == "kept" and len(node.next_functions) == 1 and len(node.saved_tensors) == 1


def test_needs_input_grad():
    log = []
    f = function(
        lambda ctx, a, b, c: (log.append(ctx.needs_input_grad), a * b)[1],
        lambda ctx, g: (log.append(ctx.needs_input_grad), (g, g, None))[1],
    )
    f.apply(leaf(1.0), torch.ones(1, dtype=F64), "text").sum().backward()
    assert log == [(True, False, False)] * 2


def test_several_outputs_and_materialized_zeros():
    log = []

    def forward(ctx, x):
        return x * 1, x.sum() * 2, 7

    def backward(ctx, a, b, c):
        log.append([a.tolist(), b.item(), c])
        return a + b

    x = leaf(1.0, 2.0)
    p, q, seven = function(forward, backward).apply(x)
    assert seven == 7 and p.grad_fn is q.grad_fn and (p.output_nr, q.output_nr) == (0, 1)
    q.backward()
    p.sum().backward()
    assert log == [[[0, 0], 1, None], [[1, 1], 0, None]]


def test_without_materialized_zeros():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    x = leaf(1.0)
    _, q = function(forward, lambda ctx, a, b: b * 2 if a is None else None).apply(x)
    q.sum().backward()
    assert x.grad.tolist() == [2]


def test_setup_context_defaults_and_keywords():
    class Mul(Function):
        @staticmethod
        def forward(a, b=3.0):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def vjp(ctx, g):
            return g * ctx.factor, None

    x = leaf(2.0)
    Mul.apply(x).sum().backward()
    Mul.apply(x, b=5.0).sum().backward()
    assert x.grad.tolist() == [8]


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        (lambda g: g, RuntimeError),
        (lambda g: (g, g, g), RuntimeError),
        (lambda g: [g, g], RuntimeError),
        (lambda g: (g, 3.0), RuntimeError),
        (lambda g: (g[:1], None), RuntimeError),
        (lambda g: (g.to(torch.complex128), None), RuntimeError),
    ],
)
def test_bad_results_of_backward(returned, error):
    f = function(lambda ctx, a, b: a * b, lambda ctx, g: returned(g))
    with pytest.raises(error):
        f.apply(leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0)).sum().backward()


def test_good_results_of_backward():
    a, b = leaf(1.0), leaf(1.0)
    function(lambda ctx, a, b: a * b, lambda ctx, g: (None, g.float().expand(3, 1), None)).apply(a, b).sum().backward()
    assert a.grad is None and b.grad.tolist() == [3] and b.grad.dtype is F64


def test_missing_and_double_methods():
    x = leaf(1.0)
    with pytest.raises(NotImplementedError):
        type("A", (Function,), {}).apply(x)
    forward_only = type("B", (Function,), {"forward": staticmethod(lambda ctx, x: x * 1)})
    y = forward_only.apply(x)
    with pytest.raises(NotImplementedError):
        y.sum().backward()
    both = function(lambda ctx, x: x * 1, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    with pytest.raises(RuntimeError):
        both.apply(x).sum().backward()
    with pytest.warns(DeprecationWarning):
        made = forward_only()
    with pytest.raises(RuntimeError):
        made(x)


def test_mark_dirty():
    class Triple(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(1.0, 2.0)
    h = x * 1
    before = h * h
    assert Triple.apply(h) is h and type(h.grad_fn).__name__ == "TripleBackward"
    h.sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="modified"):
        before.sum().backward()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        Triple.apply(leaf(1.0))
    lost = function(lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1], lambda ctx, g: g)
    with pytest.raises(RuntimeError):
        lost.apply(x * 1)


def test_mark_non_differentiable():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return x * 1, y

    p, y = function(forward, lambda ctx, a, b: a + b).apply(leaf(1.0))
    assert p.requires_grad and not y.requires_grad


def test_returning_an_input():
    f = function(lambda ctx, x: x, lambda ctx, g: g * 5)
    x = leaf(1.0, 2.0)
    y = f.apply(x)
    assert y is not x and x.is_leaf and type(y.grad_fn).__name__ == "MadeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_views_from_forward_may_not_be_written():
    y = function(lambda ctx, x: x[:1], lambda ctx, g: torch.cat([g, g])).apply(leaf(1.0, 2.0))
    with pytest.raises(RuntimeError, match="custom Function"):
        y.add_(1)


def test_only_direct_arguments_and_outputs_are_tracked():
    a = leaf(1.0)
    f = function(lambda ctx, xs: xs[0] * 2, lambda ctx, g: None)
    assert not f.apply([a]).requires_grad
    f = function(lambda ctx, a: (a * 1, [a * 2]), lambda ctx, g, _: g)
    first, second = f.apply(a)
    assert first.requires_grad and not second[0].requires_grad
    with torch.no_grad():
        assert not Exp.apply(a).requires_grad


def test_saving():
    log = []

    def forward(ctx, x, c):
        y = x * c
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, c, y, None)
        return y

    def backward(ctx, g):
        x_, c_, y_, nothing = ctx.saved_tensors
        log.append([x_ is x, c_ is c, y_.grad_fn is y.grad_fn, nothing is None])
        return g * c_, None

    x, c = leaf(1.0, 2.0), torch.tensor([3.0, 4.0], dtype=F64)
    y = function(forward, backward).apply(x, c)
    y.sum().backward()
    assert log == [[True] * 4]
    with pytest.raises(TypeError):
        function(lambda ctx, x: (ctx.save_for_backward(3), x * 1)[1], backward).apply(x)


def test_saved_tensors_are_guarded_and_released():
    h = leaf(2.0) * 1
    y = Square.apply(h).sum()
    node = y.grad_fn.next_functions[0][0]
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    y = Square.apply(leaf(2.0)).sum()
    y.backward()
    node = y.grad_fn.next_functions[0][0]
    for f in (y.backward, lambda: node.saved_tensors):
        with pytest.raises(RuntimeError, match="second time"):
            f()


def test_flags_of_2_13():
    log = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1, x * 2

    def backward(ctx, grads):
        log.append((type(grads), len(ctx.saved_tensors)))
        with pytest.raises(RuntimeError):
            ctx.saved_tensors  # noqa: B018
        return grads[0] + 2 * grads[1]

    x = leaf(1.0)
    a, b = function(forward, backward, boxed_grads_call=True, clear_saved_tensors_on_access=True).apply(x)
    (a + b).sum().backward()
    assert log == [(list, 1)] and x.grad.tolist() == [3]


def test_once_differentiable():
    class Once(Square):
        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            assert not torch.is_grad_enabled()
            return 2 * ctx.saved_tensors[0] * g

    x = leaf(3.0)
    (h,) = grad(Once.apply(x).sum(), x, create_graph=True)
    assert h.tolist() == [6] and not h.requires_grad
    (g,) = grad((Once.apply(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_saving_an_intermediate_loses_the_second_derivative():
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        return e * 2

    x = leaf(1.0)
    (g,) = grad(function(forward, lambda ctx, g: g * ctx.saved_tensors[0] * 2).apply(x).sum(), x, create_graph=True)
    assert not g.requires_grad


def test_modes_within():
    log = []
    f = function(
        lambda ctx, x: (log.append((torch.is_grad_enabled(), x.requires_grad)), x * 2)[1],
        lambda ctx, g: (log.append(torch.is_grad_enabled()), g * 2)[1],
    )
    x = leaf(1.0)
    f.apply(x).sum().backward()
    grad(f.apply(x).sum(), x, create_graph=True)
    assert log == [(False, True), False, (False, True), True]


def test_nothing_keeps_the_graph_alive():
    gc.collect()
    gc.disable()
    try:
        y = Exp.apply(leaf(1.0, 2.0))
        note = type("Note", (), {})()
        y.grad_fn.note = note
        gone = weakref.ref(note)
        del y, note
        assert gone() is None
    finally:
        gc.enable()


def test_deprecated_context_method():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function(lambda ctx, x: (ctx.mark_shared_storage(), x * 1)[1], lambda ctx, g: g).apply(leaf(1.0))
    assert [w.category for w in seen] == [FutureWarning]


def test_an_input_that_is_returned_as_it_is_may_not_be_written():
    same = function(lambda ctx, x: x, lambda ctx, g: g * 100)
    inner = function(lambda ctx, x: x.view(2), lambda ctx, g: g * 100)
    for f in (same, inner):
        x = leaf(1.0, 2.0)
        y = x * 1
        v = f.apply(y)
        assert v is not y and v._is_view() and v._base is y
        with pytest.raises(RuntimeError, match="custom Function"):
            v.mul_(2)
        assert grad(v.sum() + y.sum(), x)[0].tolist() == [101, 101]
        y = x * 1
        v = f.apply(y)
        y.mul_(2)
        with pytest.raises(RuntimeError, match="custom Function.*modified inplace"):
            v.sum()
        assert grad(y.sum(), x)[0].tolist() == [2, 2]


def test_results_that_are_constants():
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf(1.0)
    y = function(forward, lambda ctx, g: g).apply(x)
    assert not y.requires_grad and y is not x and y.tolist() == [1]

    def wrong(ctx, x):
        ctx.mark_non_differentiable(3)
        return x * 1

    with pytest.raises(RuntimeError, match="mark_non_differentiable takes Tensors"):
        function(wrong, lambda ctx, g: g).apply(x)


def test_what_is_saved_is_looked_at_when_recorded():
    def forward(ctx, x):
        ctx.save_for_backward(3)
        return x * 1

    f = function(forward, lambda ctx, g: g)
    assert f.apply(torch.ones(1)).tolist() == [1]
    with pytest.raises(TypeError, match="save_for_backward takes Tensors or None, not int"):
        f.apply(leaf(1.0))


def test_methods_for_other_modes_are_never_called():
    class Jvp(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            raise AssertionError

        @staticmethod
        def vmap(info, in_dims, x):
            raise AssertionError

    x = leaf(1.0, 2.0)
    assert grad(Jvp.apply(x), x, torch.eye(2, dtype=F64), is_grads_batched=True)[0].tolist() == [[2, 0], [0, 2]]
    assert torch.autograd.functional.jvp(Jvp.apply, x, torch.ones(2, dtype=F64))[1].tolist() == [2, 2]


def test_a_second_derivative_that_is_refused_is_refused_everywhere():
    f = function(
        lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
        once_differentiable(lambda ctx, g: 2 * ctx.saved_tensors[0] * g),
    )
    x = leaf(1.0)
    (g,) = grad(f.apply(x) * x, x, create_graph=True)
    for options in ({}, {"allow_unused": True}, {"materialize_grads": True}):
        with pytest.raises(RuntimeError, match="once_differentiable"):
            grad(g, x, retain_graph=True, **options)
    (g,) = grad(f.apply(x), x, create_graph=True)  # nothing that comes in has a derivative
    assert not g.requires_grad


def test_old_names_and_classes():
    from s2sgrad.torch.autograd import NestedIOFunction
    from s2sgrad.torch.autograd import function as f

    assert issubclass(f.InplaceFunction, Function) and issubclass(NestedIOFunction, Function)
    assert type(Square) is f.FunctionMeta and isinstance(Square.apply(leaf(1.0)).grad_fn, f.BackwardCFunction)
    assert issubclass(f.BackwardCFunction, f.FunctionCtx) and f.NestedIOFunction is NestedIOFunction


def test_a_result_kept_on_the_context_is_collected():
    def forward(ctx, x):
        ctx.kept = x * 2
        return ctx.kept

    f = function(forward, lambda ctx, g: g * 2)
    y = f.apply(leaf(1.0))
    seen = weakref.ref(y)
    del y
    gc.collect()
    assert seen() is None


def test_saved_tensors_are_gone_after_a_pass_even_if_there_were_none():
    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors == ()
            return g * 2

    y = Plain.apply(torch.ones(1, requires_grad=True))
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_view_that_is_overwritten_must_be_the_only_result():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            return x, x.sum()

        @staticmethod
        def backward(ctx, g, total):
            return 2 * g

    base = torch.ones(2, 2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="more than the view"):
        Twice.apply(base[0])
