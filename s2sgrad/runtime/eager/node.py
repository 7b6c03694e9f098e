"""Nodes as users see them: ``y.grad_fn``, its name, its neighbours, its hooks, its saved values.

A recorded operation is a plain `Node`. When somebody looks at it, it becomes an instance of a class that
bears the operation's name (``MulBackward0``); the classes are made as they are needed.
"""

import numpy as np

from s2sgrad.runtime.eager.tensor import DEAD_END, AccumulateGrad, Tensor, face, faced, new, node_of
from s2sgrad.runtime.eager.versions import STALE, checked
from s2sgrad.runtime.general import GeneralForm
from s2sgrad.runtime.grad_mode import is_recording
from s2sgrad.runtime.node import Node
from s2sgrad.runtime.results import PICK
from s2sgrad.runtime.tensor import Traced, traced

# NumPy's names of the operations, where the derivative of a derivative records them
NAMES = {
    "multiply": "Mul",
    "subtract": "Sub",
    "divide": "Div",
    "truediv": "Div",
    "negative": "Neg",
    "power": "Pow",
    "absolute": "Abs",
    "reshape": "View",
    "broadcast_to": "Expand",
    "conjugate": "Conj",
    "GetItem": "Index",
    "getitem": "Index",
    "unbroadcast": "SumToSize",
    "cast": "ToCopy",
    "astype": "ToCopy",
}


class GraphNode(Node):
    """A recorded operation.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> y = torch.ones(2, requires_grad=True) * 3
    >>> y.grad_fn.name(), len(y.grad_fn.next_functions)
    ('MulBackward0', 2)
    """

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        raise TypeError("graph nodes are made by recorded operations only")

    def name(self):
        return _title(self.form)

    @property
    def next_functions(self):
        from s2sgrad.runtime.eager.engine import arity_of, places_of

        found = [(None, 0)] * arity_of(self)
        for place, edge in zip(places_of(self), edges_of(self), strict=True):
            found[place] = _edge(edge)
        return tuple(found)

    @property
    def metadata(self):
        f = face(self)
        if f.metadata is None:
            f.metadata = {}
        return f.metadata

    def _sequence_nr(self):
        return self.number

    def register_hook(self, hook):
        """Call ``hook(grad_inputs, grad_outputs)`` after the node; a tuple returned replaces the former."""
        from s2sgrad.runtime.eager.hooks import attach

        return attach(face(self), "after", hook)

    def register_prehook(self, hook):
        """Call ``hook(grad_outputs)`` before the node; a tuple returned replaces them."""
        from s2sgrad.runtime.eager.hooks import attach

        return attach(face(self), "before", hook)

    def __call__(self, *grads):
        from s2sgrad.runtime.eager.engine import call_node

        return call_node(self, grads)

    def __getattr__(self, name):
        if name.startswith("_saved_") or name.startswith("_raw_saved_"):
            from s2sgrad.runtime.eager.saved import saved_attribute

            return saved_attribute(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self):
        from s2sgrad.runtime.eager.saved import saved_names

        return [*object.__dir__(self), *(f"{p}{n}" for n in saved_names(self) for p in ("_saved_", "_raw_saved_"))]

    def __repr__(self):
        return f"<{type(self).__name__} object at {hex(id(self))}>"


def _dress_accumulators():
    AccumulateGrad.next_functions = ()
    AccumulateGrad.name = lambda self: "torch::autograd::AccumulateGrad"
    AccumulateGrad._sequence_nr = lambda self: 2**64 - 1
    for name in ("metadata", "register_hook", "register_prehook", "__call__", "__repr__"):
        setattr(AccumulateGrad, name, GraphNode.__dict__[name])


_dress_accumulators()


class _NodeMeta(type):
    def __instancecheck__(cls, instance):
        return (
            isinstance(instance, GraphNode | AccumulateGrad)
            or isinstance(instance, Node)
            and type(instance) is not Node
        )

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, Node)


class AnyNode(metaclass=_NodeMeta):
    """The class of all graph nodes, for `isinstance`; it cannot be made."""

    def __new__(cls):
        raise TypeError("graph nodes are made by recorded operations only")


AnyNode.__name__ = AnyNode.__qualname__ = "Node"

_classes = {}


def _title(form):
    title = class_of(form).__name__
    return f"torch::autograd::{title}" if title in ("CopySlices", "CopyBackwards") else title


_TITLES = {"Write": "CopySlices", "Copy": "CopyBackwards"}


def class_of(form):
    """The class of the nodes of a form."""
    name = form.name
    found = _classes.get(name)
    if found is None:
        name, _, variant = name.partition(".")
        title = _TITLES.get(name) or NAMES.get(name, name[:1].upper() + name[1:]) + "Backward" + (variant or "0")
        found = _classes[form.name] = type(title, (GraphNode,), {"__slots__": (), "__module__": "builtins"})
    return found


def edges_of(node):
    return node.edges if type(node.edges) is tuple else (node.edges,)


def _edge(node):
    if node is None or node is DEAD_END:
        return (None, 0)
    if node.form is PICK:
        return (faced(node.edges), node.saved[0])
    return (faced(node), 0)


def as_traced(t):
    """A tensor as the recorded array that the rules compute with."""
    node = node_of(t) if is_recording() else None
    out = Traced()
    out.primal = t._a
    out.node = node
    out.storage = None
    return out


def as_tensor(out):
    """What a rule computed, as a tensor."""
    if isinstance(out, Tensor) or out is None:
        return out
    if isinstance(out, Traced):
        return new(np.asarray(out.primal), out.node)
    return new(np.asarray(out), None)


def restored(node, saved):
    """The saved values of `node` as recorded arrays, for a derivative of the derivative."""
    if saved is node.saved:
        return node.form.restore(node, traced)
    shadow = Node()
    shadow.form, shadow.saved, shadow.edges, shadow.number = node.form, saved, node.edges, node.number
    if isinstance(node.form, GeneralForm):
        out, *rest = node.form.restore(shadow, traced)
        return (_rooted(out, shadow, node), *rest)
    values = node.form.restore(shadow, traced)
    if node.form.out is not None:
        values[node.form.out] = traced(saved[node.form.out], node)
    return values


def _rooted(out, shadow, node):
    """`out` as made by `node` instead of by its `shadow`."""
    if isinstance(out, Traced):
        return traced(out.primal, node if out.node is shadow else out.node)
    if isinstance(out, tuple | list):
        for item in out:
            if isinstance(item, Traced) and item.node is not None and item.node.form is PICK:
                item.node.edges = node
    return out


def saved_of(node):
    """What a node saved: unpacked, and not overwritten since."""
    saved = node.saved
    if saved is None:
        raise RuntimeError(
            "Trying to backward through the graph a second time (or to access saved tensors after they have already "
            "been freed): the values saved for it were released. Say retain_graph=True in the first pass."
        )
    if getattr(node, "face", None) is not None and node.face.packed:
        from s2sgrad.runtime.eager.saved import unpacked

        return unpacked(node)
    return checked(saved) if STALE and not node.form.light else saved
