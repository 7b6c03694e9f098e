"""Custom Functions: their arguments, the edges of their nodes, and what their contexts take."""

import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import Function
from s2sgrad.torch.autograd.function import FunctionCtx

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


class Scaled(Function):
    @staticmethod
    def forward(ctx, name, x, y, factor=1.0, *, sign=1):
        return x * y * factor * sign

    @staticmethod
    def backward(ctx, g):
        return None, g, 2 * g, None


def test_edges_and_node_hooks_are_of_the_tensors_among_the_arguments():
    x, y = leaf(1.0, 2.0), torch.ones(2, dtype=F64)
    seen = []
    z = Scaled.apply("a", x, y)
    assert [edge[0] is None for edge in z.grad_fn.next_functions] == [False, True]
    z.grad_fn.register_hook(lambda inputs, outputs: seen.append(len(inputs)))
    z.sum().backward()
    assert seen == [2] and x.grad.tolist() == [1.0, 1.0]
    Scaled.apply("a", y, x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_arguments_may_be_given_by_name_and_left_at_their_defaults():
    x = leaf(1.0, 2.0)
    z = Scaled.apply(name="a", x=x, y=x)
    assert z.tolist() == [1.0, 4.0] and len(z.grad_fn.next_functions) == 2
    assert Scaled.apply("a", x, y=x, factor=2.0).tolist() == [2.0, 8.0]
    with pytest.raises(TypeError, match="keyword-only"):
        Scaled.apply("a", x, x, sign=-1)


def test_what_a_context_takes():
    class Strict(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(3)

    with pytest.raises(TypeError, match="takes a bool"):
        Strict.apply(leaf(1.0))
    assert issubclass(Function, FunctionCtx)


def test_classes_of_nodes_print_as_their_names():
    assert str(type((leaf(1.0) * 2).grad_fn)) == "<class 'MulBackward0'>"


def test_a_called_accumulator_runs_the_hooks_after_it():
    x, seen = leaf(1.0, 2.0), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    x.view_as(x).grad_fn.next_functions[0][0](torch.ones(2, dtype=F64))
    assert seen == [[1.0, 1.0]]


def test_hooks_of_several_tensors_are_of_those_that_require_grad():
    with pytest.raises(AssertionError, match="require grad"):
        torch.autograd.graph.register_multi_grad_hook((leaf(1.0), torch.ones(1)), print)


def test_a_recorded_sum_of_gradients_keeps_the_layout_of_the_first():
    x = torch.ones(2, 3, dtype=F64, requires_grad=True)
    x.grad = torch.zeros(3, 2, dtype=F64).t()
    with pytest.warns(UserWarning, match="reference cycle"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad.stride() == (1, 2) and x.grad.tolist() == [[2.0] * 3] * 2


def test_an_overwritten_value_is_described():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.DoubleTensor \[2\]\] is at version 1; expected version 0"):
        y.sum().backward()
