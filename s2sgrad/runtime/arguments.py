"""The arguments of a call: plain data for the call itself, the nodes they came from, and what a node may hold."""

import numpy as np

from s2sgrad.runtime.grad_mode import PAUSED, is_recording
from s2sgrad.runtime.tensor import Tensor, Traced
from s2sgrad.runtime.views import refresh

_ndarray = np.ndarray
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
    """

    __slots__ = ("args", "kwargs", "paths", "nodes", "tensors")

    def __init__(self, args, kwargs):
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
        return slice(plain(a.start), plain(a.stop), plain(a.step))
    return a


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


def kept(a):
    """`a` as a node may hold it: nobody else will change it."""
    if isinstance(a, _IMMUTABLE):
        return a
    if type(a) is _ndarray:
        return keep_array(a)
    if type(a) in (list, tuple):
        return type(a)([kept(item) for item in a])
    if type(a) is dict:
        return {k: kept(item) for k, item in a.items()}
    return a


def kept_arguments(arguments):
    """The arguments as a node may hold them."""
    own = set()
    for _, t in arguments.tensors:
        own.add(id(t.primal))
        if t.storage is not None:
            t.storage.saved = True

    def keep(a):
        if isinstance(a, _IMMUTABLE) or id(a) in own:
            return a
        if type(a) in (list, tuple):
            return type(a)([keep(item) for item in a])
        return kept(a)

    return tuple([keep(a) for a in arguments.args]), {k: keep(a) for k, a in arguments.kwargs.items()}
