"""The arguments of a call: plain data for the call itself, the nodes they came from, and what a node may hold."""

import operator

import numpy as np

from s2sgrad.runtime.grad_mode import PAUSED, is_recording
from s2sgrad.runtime.tensor import Tensor, Traced
from s2sgrad.runtime.views import refresh

_ndarray = np.ndarray
_BOUNDS = frozenset((int, type(None)))
CONSTANTS = frozenset((int, float, bool, str, type(None)))
_IMMUTABLE = (float, int, complex, bool, str, np.generic, type(None), slice, type(...), np.dtype, type)


def keep_array(array):
    """A plain array as a node may hold it. The fallback puts its own in place: one copy of each content."""
    return np.array(array)


class Arguments:
    """The arguments of a call, unwrapped.

    Attributes
    ----------
    args, kwargs
        Plain, of the shape of the call.
    paths : list of tuple
        Where the differentiated ones stand: ``(position or keyword, index, index, ...)``.
    nodes : list of Node
        Their nodes.
    tensors : list of (path, Tensor)
        All tensors among them.
    kept : tuple or None
        The arguments as a node may hold them, once `kept_arguments` has made them.
    """

    __slots__ = ("args", "kwargs", "kept", "paths", "nodes", "tensors")

    def __init__(self, args, kwargs):
        self.kept = None
        self.paths = []
        self.nodes = []
        self.tensors = []
        self.args = tuple([self._plain(a, (i,)) for i, a in enumerate(args)])
        self.kwargs = {k: self._plain(a, (k,)) for k, a in kwargs.items()} if kwargs else {}
        if PAUSED.count and not is_recording():
            self.paths, self.nodes = [], []

    def _plain(self, a, path):
        kind = type(a)
        if kind is Traced or isinstance(a, Tensor):
            if a.storage is not None:
                refresh(a)
            self.tensors.append((path, a))
            if a.node is not None:
                self.paths.append(path)
                self.nodes.append(a.node)
            return a.primal
        if kind is list or kind is tuple:
            items = [self._plain(item, (*path, i)) for i, item in enumerate(a)]
            return items if kind is list else tuple(items)
        if kind is dict:
            return {k: self._plain(item, (*path, k)) for k, item in a.items()}
        if kind is slice:
            return plain_slice(a)
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return kind(*[self._plain(item, (*path, i)) for i, item in enumerate(a)])
        return a


def plain(a):
    """`a` without tensors, deep in lists, tuples and dicts."""
    kind = type(a)
    if kind is Traced or isinstance(a, Tensor):
        if a.storage is not None:
            refresh(a)
        return a.primal
    if kind is list or kind is tuple:
        return kind([plain(item) for item in a])
    if kind is dict:
        return {k: plain(item) for k, item in a.items()}
    if kind is slice:
        return plain_slice(a)
    return a


def plain_slice(a):
    """A slice without tensors, which nobody can change afterwards: arrays without axes are numbers there."""
    bounds = a.start, a.stop, a.step
    return a if _BOUNDS.issuperset(map(type, bounds)) else slice(*[_bound(b) for b in bounds])


def _bound(b):
    b = plain(b)
    return operator.index(b) if type(b) is _ndarray else b


def is_active(a) -> bool:
    """Whether a derivative flows through `a`, or something in it."""
    if isinstance(a, Tensor):
        if a.storage is not None:
            refresh(a)
        return a.node is not None
    if type(a) in (list, tuple):
        return any(is_active(item) for item in a)
    if type(a) is dict:
        return any(is_active(item) for item in a.values())
    return False


def kept(a, own=()):
    """`a` as a node may hold it: nobody else will change it. The tape itself holds what has its id in `own`."""
    kind = type(a)
    if kind in CONSTANTS or id(a) in own or isinstance(a, _IMMUTABLE):
        return a
    if kind is _ndarray:
        return keep_array(a)
    if kind is list or kind is tuple:
        return kind([kept(item, own) for item in a])
    if kind is dict:
        return {k: kept(item, own) for k, item in a.items()}
    return a


def kept_arguments(arguments, but=None):
    """The arguments as a node or a step of a view may hold them; of that at `but`, content may change."""
    own = set()
    for path, t in arguments.tensors:
        own.add(id(t.primal))
        if t.storage is not None and path[0] != but:
            t.storage.saved = True
    if arguments.kept is None:
        kwargs = arguments.kwargs
        arguments.kept = (
            tuple([a if id(a) in own else kept(a, own) for a in arguments.args]),
            {k: a if id(a) in own else kept(a, own) for k, a in kwargs.items()} if kwargs else kwargs,
        )
    return arguments.kept
