"""``backward`` and ``autograd.grad``: what is asked, checked, and handed to the engine."""

import warnings
from collections.abc import Mapping

import numpy as np

from s2sgrad.runtime.eager.engine import Run, typed
from s2sgrad.runtime.eager.graph import GradientEdge, edge_node
from s2sgrad.runtime.eager.node import as_tensor, as_traced
from s2sgrad.runtime.eager.tensor import Tensor, gradient_type, new, node_of

_ROOTS = Tensor, GradientEdge


def _sequence(values):
    if isinstance(values, _ROOTS):
        return (values,)
    return tuple(values)


def _roots(values):
    roots = _sequence(values)
    for root in roots:
        if not isinstance(root, _ROOTS):
            raise AssertionError(f"backward passes start from Tensors or gradient edges, not {type(root).__name__}")
    return roots


def _root_node(i, root):
    if isinstance(root, GradientEdge):
        return edge_node(root)
    node = node_of(root)
    if node is None:
        raise RuntimeError(
            f"element {i} of tensors does not require grad and does not have a grad_fn: nothing was recorded for it"
        )
    return node


def _seed(root, g, batched=False):
    """The gradient that a root starts with, as a tensor."""
    if batched and g is None:
        raise RuntimeError("with is_grads_batched, gradients are batches of vectors: None is not")
    if batched and isinstance(g, Tensor) and g._a.ndim == 0:
        raise IndexError("with is_grads_batched, the first axis of a gradient counts vectors: this one has no axes")
    if isinstance(root, GradientEdge):
        if g is not None:
            return g
        if root.like is None:
            raise RuntimeError("grad can be implicitly created only for scalar outputs: give one for this edge")
        a = root.like
    else:
        a = root._a
    if g is None:
        if a.size != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs: "
                f"this one has shape {list(a.shape)}; pass gradient="
            )
        if a.dtype.kind == "c":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs: this one is complex; pass gradient="
            )
        ones = a.copy()
        ones.fill(1)
        return new(ones, None)
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients are Tensors or None, not {type(g).__name__}")
    shape = g._a.shape[1:] if batched else g._a.shape
    if shape != a.shape:
        raise RuntimeError(f"Mismatch in shape: grad_output has {list(shape)} and the output has {list(a.shape)}")
    if (g._a.dtype.kind == "c") != (a.dtype.kind == "c"):
        raise RuntimeError(
            "for complex tensors, grad and output must have the same dtype: "
            f"grad has {g.dtype!r} and output has {root.dtype!r}"
        )
    return g


def _seeds(roots, grads, batched=False):
    if grads is None:
        grads = (None,) * len(roots)
    elif isinstance(grads, Tensor):
        grads = (grads,)
    else:
        grads = tuple(grads)
    if len(grads) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    return [_seed(r, g, batched) for r, g in zip(roots, grads, strict=True)]


def _start(roots, seeds, targets, retain, create_graph, runs_inputs=False):
    nodes = [_root_node(i, r) for i, r in enumerate(roots)]
    started = []
    for node, root, g in zip(nodes, roots, seeds, strict=True):
        if not isinstance(root, GradientEdge):
            g = typed(g, gradient_type(root))
        started.append((node, as_recorded(g) if create_graph else g._a))
    run = Run(started, targets, retain, create_graph, runs_inputs)
    run.start()
    return run


def as_recorded(g):
    from s2sgrad.runtime.eager.modes import enable_grad

    with enable_grad():
        return as_traced(g)


def _target_node(t):
    if isinstance(t, GradientEdge):
        return edge_node(t)
    if not isinstance(t, Tensor):
        raise RuntimeError(f"inputs are Tensors or gradient edges, not {type(t).__name__}")
    node = node_of(t)
    if node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return node


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Add the gradients of the sum of `tensors` to the ``.grad`` of the leaves.

    Parameters
    ----------
    tensors : Tensor, gradient edge, or a sequence of them
    grad_tensors : Tensor or sequence of (Tensor or None), optional
        The gradients to start with; ones where left out, for tensors of one element.
    retain_graph : bool, optional
        Keep what was saved for another pass; by default, `create_graph`.
    create_graph : bool
        Record the pass itself.
    inputs : Tensor, edge, or a sequence or dict of them, optional
        Only these receive a gradient.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.backward([(x * x).sum()])
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        warnings.warn("grad_variables is deprecated: use grad_tensors", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("grad_tensors and grad_variables were both given: use grad_tensors alone")
        grad_tensors = grad_variables
    roots = _roots(tensors)
    targets = None
    if inputs is not None:
        if isinstance(inputs, Mapping):
            if not isinstance(inputs, dict):
                raise TypeError("inputs is a Tensor, a sequence or a dict")
            inputs = tuple(inputs.values())
        inputs = _sequence(inputs)
        if not inputs:
            raise RuntimeError("inputs argument to backward() cannot be empty")
        targets = [_target_node(t) for t in inputs]
    if create_graph:
        warnings.warn(
            "backward() with create_graph=True makes a reference cycle between a leaf and its .grad: "
            "use autograd.grad, or reset .grad to None",
            UserWarning,
            stacklevel=2,
        )
    retain = create_graph if retain_graph is None else retain_graph
    run = _start(roots, _seeds(roots, grad_tensors), targets, retain, create_graph, True)
    if inputs is not None:
        _fill(run, inputs, targets, create_graph)


def _fill(run, inputs, targets, create_graph):
    from s2sgrad.runtime.eager.engine import accumulate
    from s2sgrad.runtime.eager.tensor import ACCUMULATE

    done = set()
    for t, node in zip(inputs, targets, strict=True):
        if node.number in done:
            continue
        done.add(node.number)
        if isinstance(t, Tensor) and node.form is not ACCUMULATE and not t._retains:
            accumulate(t, run.captured.get(node.number), create_graph)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """The gradients of the sum of `outputs` with respect to `inputs`; no ``.grad`` is touched.

    Parameters
    ----------
    outputs, grad_outputs, retain_graph, create_graph
        As in `backward`.
    inputs : Tensor, edge, sequence, or dict of them
        Leaves or intermediate results.
    allow_unused : bool, optional
        Give None for an input that the outputs do not depend on, instead of raising.
    is_grads_batched : bool
        The first axis of each of `grad_outputs` counts vectors, each pulled back by itself.
    materialize_grads : bool
        Give zeros for an input that the outputs do not depend on.

    Returns
    -------
    tuple of Tensor, or dict for a dict

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("materialize_grads gives zeros for unused inputs: allow_unused=False contradicts it")
    if allow_unused is None:
        allow_unused = materialize_grads
    if not only_inputs:
        warnings.warn(
            "only_inputs is deprecated and ignored: use backward() for all leaves", FutureWarning, stacklevel=2
        )
    if isinstance(inputs, Mapping):
        keys = list(inputs)
        found = grad(
            outputs,
            tuple(inputs.values()),
            grad_outputs,
            retain_graph,
            create_graph,
            True,
            allow_unused,
            is_grads_batched,
            materialize_grads,
        )
        return dict(zip(keys, found, strict=True))
    outputs, inputs = _roots(outputs), _sequence(inputs)
    if not inputs:
        raise RuntimeError("inputs argument to grad() cannot be empty")
    for i, root in enumerate(outputs):
        _root_node(i, root)
    seeds = _seeds(outputs, grad_outputs, is_grads_batched)
    retain = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched(outputs, inputs, seeds, retain, create_graph, allow_unused, materialize_grads)
    targets = [_target_node(t) for t in inputs]
    run = _start(outputs, seeds, targets, retain, create_graph)
    taken = {id(g._a) for g in seeds}
    return tuple(
        [
            _result(t, run.captured.get(n.number), taken, allow_unused, materialize_grads, create_graph)
            for t, n in zip(inputs, targets, strict=True)
        ]
    )


def _result(t, g, taken, allow_unused, materialize, create_graph):
    if g is None:
        if not allow_unused:
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph. "
                "Set allow_unused=True to get None for it, or materialize_grads=True to get zeros."
            )
        if not materialize:
            return None
        if isinstance(t, GradientEdge):
            raise RuntimeError(
                "materialize_grads needs Tensors as inputs: an edge does not tell the shape of its zeros"
            )
        zeros = new(np.zeros(t._a.shape, t._a.dtype), None)
        zeros._rg = create_graph
        zeros._plain = None if create_graph else zeros._a.dtype
        return zeros
    if not isinstance(t, GradientEdge):
        g = _fit(g, t)
    out = as_tensor(g)
    a = out._a
    if id(a) in taken or not a.flags.writeable or a.base is not None:
        out = new(np.array(a), out._node)
    taken.add(id(out._a))
    return out


def _fit(g, t):
    from s2sgrad.runtime.eager.engine import fitted, fitted_recorded
    from s2sgrad.runtime.eager.modes import enable_grad
    from s2sgrad.runtime.tensor import Traced

    if type(g) is Traced:
        with enable_grad():
            return fitted_recorded(g, t._a, gradient_type(t))
    return fitted(np.asarray(g), t._a, gradient_type(t))


def _batched(outputs, inputs, seeds, retain, create_graph, allow_unused, materialize):
    from s2sgrad.runtime.eager.ops import stack

    counts = {g._a.shape[0] for g in seeds}
    if len(counts) != 1:
        raise ValueError(f"the batches of grad_outputs differ in size: {sorted(counts)}")
    (count,) = counts
    if not count:
        raise IndexError("is_grads_batched: the batches of grad_outputs have no vectors")
    rows = [
        grad(
            outputs,
            inputs,
            [g[i] for g in seeds],
            retain or i < count - 1,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize,
        )
        for i in range(count)
    ]
    return tuple([None if column[0] is None else stack(column) for column in zip(*rows, strict=True)])


def _tensor_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add the gradients of this tensor to the ``.grad`` of the leaves: see `backward`."""
    if gradient is not None and not isinstance(gradient, Tensor):
        raise TypeError(f"gradient must be a Tensor or None, not {type(gradient).__name__}")
    if gradient is None and inputs is None and not create_graph:  # the commonest call
        Run([(_root_node(0, self), _seed(self, None)._a)], None, bool(retain_graph), False).start()
        return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


Tensor.backward = _tensor_backward
