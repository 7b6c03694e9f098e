"""Edges of the graph, and the small tools of ``autograd.graph``."""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

from s2sgrad.runtime.eager.engine import FUNCTION
from s2sgrad.runtime.eager.keeping import stand_in
from s2sgrad.runtime.eager.node import faced
from s2sgrad.runtime.eager.tensor import Tensor, family, node_of, refresh
from s2sgrad.runtime.eager.versions import written
from s2sgrad.runtime.node import Node
from s2sgrad.runtime.results import PICK


class _Edge(NamedTuple):
    node: object
    output_nr: int
    ownership_token: object = None


class GradientEdge(_Edge):
    """Where a gradient flows to: one result of a node. It stays valid when the tensor is overwritten."""

    like = None  # an array of the shape and type of the result, where they are known


def get_gradient_edge(tensor):
    """The edge that the gradient of `tensor` flows along.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> y = torch.ones(1, requires_grad=True) * 2
    >>> get_gradient_edge(y).node is y.grad_fn
    True
    """
    node = node_of(tensor)
    if node is None:
        raise RuntimeError("this tensor does not require gradients: it has no gradient edge")
    if node.form is PICK:
        edge = GradientEdge(faced(node.edges), node.saved[0], node)
    else:
        edge = GradientEdge(faced(node), 0, node)
    edge.like = stand_in(tensor._a)
    return edge


def edge_node(edge):
    """The node of the graph that an edge means."""
    token = edge.ownership_token
    if isinstance(token, Node):
        return token
    node = edge.node
    if node.form is FUNCTION:
        return node.output(edge.output_nr)
    return node


def increment_version(tensor):
    """Count a write that was made behind the tensor's back, so that backward passes notice."""
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError(f"increment_version takes Tensors, not {type(tensor).__name__}")
    for t in tensors:
        if t._inference:
            continue
        refresh(t)
        count_write(t)


def count_write(t):
    """Count a write to the memory of `t`."""
    written(family(t), t)


def deprecated_variable_function(*args):
    raise RuntimeError("autograd.variable() is deprecated and does nothing: use torch.tensor(..., requires_grad=...)")


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """The old name of a tensor: ``Variable(tensor, requires_grad)`` gives a Tensor."""

    def __new__(cls, data, requires_grad=False, volatile=None):
        if volatile is not None:
            warnings.warn("volatile is gone: use no_grad()", UserWarning, stacklevel=2)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable takes a Tensor, not {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
