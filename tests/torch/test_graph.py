"""Nodes and edges as users walk them."""

import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import grad
from s2sgrad.torch.autograd.graph import GradientEdge, Node, get_gradient_edge

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def title(node):
    return type(node).__name__


def test_neighbours():
    a, b, e = leaf(2.0), leaf(0.5), leaf(1.0)
    c = a * b
    d = c.exp()
    f = d + e
    found = f.grad_fn.next_functions
    assert isinstance(found, tuple) and found[0] == (d.grad_fn, 0) and title(found[1][0]) == "AccumulateGrad"
    assert found[1][0].variable is e and d.grad_fn.next_functions[0][0] is c.grad_fn and a.grad_fn is None
    assert f.grad_fn is f.grad_fn and found[1][0].next_functions == ()


def test_places_of_constants_are_kept():
    x, c = leaf(1.0), torch.ones(1, dtype=F64)
    for y, expected in (
        (x * c, [False, True]),
        (c * x, [True, False]),
        (x * 3, [False, True]),
        (x**3, [False]),
        (torch.cat([c, x]), [True, False]),
    ):
        assert [n is None for n, _ in y.grad_fn.next_functions] == expected


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: x + 1, "AddBackward0"),
        (lambda x: x - 1, "SubBackward0"),
        (lambda x: x / 2, "DivBackward0"),
        (lambda x: -x, "NegBackward0"),
        (lambda x: x**2, "PowBackward0"),
        (lambda x: x**x, "PowBackward1"),
        (lambda x: x.exp(), "ExpBackward0"),
        (lambda x: x.log1p(), "Log1PBackward0"),
        (lambda x: x.sum(), "SumBackward0"),
        (lambda x: x.sum(0), "SumBackward1"),
        (lambda x: x.mean(), "MeanBackward0"),
        (lambda x: x @ x, "DotBackward0"),
        (lambda x: x.view(2, 1) @ x.view(1, 2), "MmBackward0"),
        (lambda x: x.view(2, 1), "ViewBackward0"),
        (lambda x: x[0], "SelectBackward0"),
        (lambda x: x[:1], "SliceBackward0"),
        (lambda x: x[[0]], "IndexBackward0"),
        (lambda x: x.expand(3, 2), "ExpandBackward0"),
        (lambda x: x.clone(), "CloneBackward0"),
        (lambda x: x.float(), "ToCopyBackward0"),
        (lambda x: x.to(F64, copy=True), "ToCopyBackward0"),
        (lambda x: torch.stack([x, x]), "StackBackward0"),
        (lambda x: torch.maximum(x, x), "MaximumBackward0"),
        (lambda x: x.relu(), "ReluBackward0"),
        (lambda x: x.softmax(0), "SoftmaxBackward0"),
        (lambda x: x.clamp(0, 1), "ClampBackward1"),
        (lambda x: x.max(), "MaxBackward1"),
        (lambda x: x.max(0)[0], "MaxBackward0"),
        (lambda x: x.unbind()[1], "UnbindBackward0"),
        (lambda x: x.split(1)[1], "SplitBackward0"),
        (lambda x: torch.std_mean(x)[0], "StdMeanBackward0"),
        (lambda x: torch.std_mean(x)[1], "StdMeanBackward0"),
        (lambda x: torch.var_mean(x, 0)[0], "VarMeanBackward0"),
        (lambda x: x.aminmax().min, "AminmaxBackward0"),
        (lambda x: x.aminmax(dim=0).max, "AminmaxBackward0"),
        (lambda x: x.nanmedian(), "NanmedianBackward0"),
        (lambda x: x.nanmedian(0).values, "NanmedianBackward0"),
    ],
)
def test_names(f, name):
    y = f(leaf(1.0, 2.0))
    assert title(y.grad_fn) == y.grad_fn.name() == name and f"grad_fn=<{name}>" in repr(y)


def test_copy_slices_and_copies():
    y = leaf(1.0, 2.0) * 1
    y[:1].mul_(2)
    assert y.grad_fn.name() == "torch::autograd::CopySlices" and title(y.grad_fn) == "CopySlices"
    z = leaf(1.0, 2.0) * 1
    z.copy_(y)
    assert title(z.grad_fn) == "CopyBackwards"


def test_several_results_share_a_node():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr, x.output_nr) == (0, 1, 0)
    assert (a * b).grad_fn.next_functions == ((a.grad_fn, 0), (a.grad_fn, 1))
    assert a.grad_fn(torch.tensor(5.0, dtype=F64), None).tolist() == [5, 0]


def test_nodes_cannot_be_made():
    with pytest.raises(TypeError):
        Node()
    assert not isinstance(3, Node) and isinstance((leaf(1.0) * 2).grad_fn, Node)


def test_numbers_and_notes():
    x = leaf(1.0)
    a = x * 2
    b = x * 3
    assert b.grad_fn._sequence_nr() > a.grad_fn._sequence_nr()
    assert a.grad_fn.next_functions[0][0]._sequence_nr() > b.grad_fn._sequence_nr()
    a.grad_fn.metadata["note"] = 3
    assert a.grad_fn.metadata == {"note": 3}


def test_calling_nodes():
    x = leaf(3.0)
    y = x**2
    ones = torch.ones(1, dtype=F64)
    first = y.grad_fn(ones)
    assert first.tolist() == [6] and first.requires_grad and y.grad_fn(ones * 2).tolist() == [12]
    with torch.no_grad():
        assert not y.grad_fn(ones).requires_grad
    left, right = (y + x).grad_fn(torch.tensor(1))
    assert left.dtype is right.dtype is torch.int64
    with pytest.raises(TypeError):
        y.grad_fn()
    (x * 1).grad_fn.next_functions[0][0](ones)
    assert x.grad.tolist() == [1]


def test_walking_the_graph_by_hand_gives_the_gradient():
    w, x = torch.tensor([[1.0, -2.0], [0.5, 1.0]], dtype=F64, requires_grad=True), leaf(1.0, 2.0)
    y = (torch.relu(w @ x + 0.1) * x).sum()
    found, todo = {}, [(y.grad_fn, torch.tensor(1.0, dtype=F64))]
    while todo:
        node, g = todo.pop()
        grads = node(g)
        for part, (following, _) in zip(
            grads if isinstance(grads, tuple) else (grads,), node.next_functions, strict=True
        ):
            if following is not None and part is not None:
                if title(following) == "AccumulateGrad":
                    found[following.variable] = found.get(following.variable, 0) + part
                else:
                    todo.append((following, part))
    y.backward()
    assert torch.allclose(found[w], w.grad) and torch.allclose(found[x], x.grad)


def test_edges():
    x = leaf(1.0, 2.0)
    h = x * 3
    y = (h * h).sum()
    edge = get_gradient_edge(h)
    assert edge.node is h.grad_fn and edge.output_nr == 0 and edge._fields[:2] == ("node", "output_nr")
    g, gx = grad(y, (edge, get_gradient_edge(x)), retain_graph=True)
    assert g.tolist() == [6, 12] and gx.tolist() == [18, 36]
    assert grad(GradientEdge(h.grad_fn, 0), x, torch.ones(2, dtype=F64), retain_graph=True)[0].tolist() == [3, 3]
    y.backward(inputs=[get_gradient_edge(x)])
    assert x.grad.tolist() == [18, 36]
    with pytest.raises(RuntimeError):
        get_gradient_edge(torch.ones(1))
    with pytest.raises(RuntimeError):
        grad(y, edge, materialize_grads=True)


def test_an_edge_of_one_element_needs_no_gradient():
    x = leaf(1.0, 2.0)
    h = x * 3
    y = (h * h).sum()
    edge = get_gradient_edge(y)
    assert grad(edge, x, retain_graph=True)[0].tolist() == [18, 36]
    torch.autograd.backward([edge, edge])
    assert x.grad.tolist() == [36, 72]
    for unclear in (get_gradient_edge(h), GradientEdge(h.grad_fn, 0)):
        with pytest.raises(RuntimeError, match="scalar outputs"):
            grad(unclear, x)


def test_an_accumulator_refuses_what_does_not_fit():
    x = leaf(1.0, 2.0)
    node = get_gradient_edge(x).node
    with pytest.raises(RuntimeError, match="does not fit its leaf"):
        node(torch.ones(3, dtype=F64))
    assert x.grad is None


def test_an_edge_survives_writes():
    x = leaf(1.0, 2.0)
    h = x * 1
    edge = get_gradient_edge(h)
    h.mul_(3)
    assert grad(h.sum(), edge)[0].tolist() == [3, 3]


def test_places_and_names_of_operations_with_numbers():
    x = leaf(1.0, 2.0)
    for y, name, places in (
        (1 + x, "AddBackward0", ["AccumulateGrad", None]),
        (2 * x, "MulBackward0", ["AccumulateGrad", None]),
        (3 - x, "RsubBackward1", ["AccumulateGrad"]),
        (2 / x, "MulBackward0", ["ReciprocalBackward0", None]),
        (x**2, "PowBackward0", ["AccumulateGrad"]),
        (x.clamp(0, 1), "ClampBackward1", ["AccumulateGrad"]),
        (x.clamp_min(0), "ClampMinBackward0", ["AccumulateGrad"]),
        (torch.where(x > 1, x, 0.0), "WhereBackward0", ["AccumulateGrad", None]),
        (x.masked_fill(x > 1, 0.0), "MaskedFillBackward0", ["AccumulateGrad"]),
        (torch.nn.functional.leaky_relu(x), "LeakyReluBackward0", ["AccumulateGrad"]),
        (torch.complex(x, x), "ComplexBackward0", ["AccumulateGrad", "AccumulateGrad"]),
        (x.view(1, 2).T, "PermuteBackward0", ["ViewBackward0"]),
    ):
        assert y.grad_fn.name() == name
        assert [n and title(n) for n, _ in y.grad_fn.next_functions] == places
    with torch.no_grad():
        assert (3 - x).tolist() == [2, 1] and (3 / x).tolist() == [3, 1.5]
        assert torch.rsub(x, 3, alpha=2).tolist() == [1, -1]
        assert torch.rsub(x, x * 3).tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="bool"):
        1 - torch.tensor([True])


def test_a_number_over_a_tensor_keeps_the_result_only():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = 2 / y
    y.zero_()
    assert grad(z.sum(), x)[0].tolist() == [-2, -0.5]


def test_calling_a_node_with_nothing():
    x = leaf(1.0, 2.0)
    node = (x * x).grad_fn
    assert node(None) == (None, None) and (x * 2).grad_fn(None) == (None, None) and x.exp().grad_fn(None) is None
    for bad in ((), (3.0,)):
        with pytest.raises(TypeError, match="Tensors or None"):
            node(*bad)
    assert issubclass(type(node), Node) and not issubclass(torch.Tensor, Node)


def test_zeros_for_an_edge_have_no_shape():
    x, y = leaf(1.0), leaf(2.0)
    edge = get_gradient_edge(y)
    assert grad(x * y, [x, edge], materialize_grads=True)[1].tolist() == [1]
    with pytest.raises(RuntimeError, match="does not tell the shape"):
        grad(x * 2, [x, edge], materialize_grads=True)


def test_accumulators_show_their_leaf_and_keep_it():
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node.variable is x
    with pytest.raises(AttributeError):
        node.variable = 3


def test_names_of_saved_values():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    i = torch.tensor([0])
    assert (x * x.detach()).grad_fn._saved_self is None and (x * 3).grad_fn._saved_self is None
    assert x.gather(0, i).grad_fn._saved_index.tolist() == [0]
    assert x.index_select(0, i).grad_fn._saved_index.tolist() == [0]
    assert x.masked_fill(x > 1, 0.0).grad_fn._saved_mask.tolist() == [False, True]
    assert x.sort()[0].grad_fn._saved_indices.tolist() == [0, 1]


def test_names_of_writes_by_numbers_or_masks():
    for key, name in (
        ([0, 1], "IndexPutBackward0"),
        (torch.tensor([True, False]), "IndexPutBackward0"),
        ((slice(None), [0]), "IndexPutBackward0"),
        ((0, [0]), "torch::autograd::CopySlices"),
        (0, "torch::autograd::CopySlices"),
    ):
        y = torch.ones(2, 2, requires_grad=True) * 1
        y[key] = 3.0
        assert y.grad_fn.name() == name


def test_versions_are_counted_of_tensors():
    with pytest.raises(RuntimeError, match="takes Tensors"):
        torch.autograd.graph.increment_version(3)
