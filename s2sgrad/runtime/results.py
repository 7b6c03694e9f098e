"""What a call gives, as recorded values: with its node, and on the memory that it is a view of."""

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.arguments import kept_arguments
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.refusals import is_numeric, require_numeric, title
from s2sgrad.runtime.tensor import traced
from s2sgrad.runtime.views import Step, duplicate, link

_ndarray = np.ndarray
_F64 = np.dtype(np.float64)
_WRITEABLE = 0x400  # in `flags.num`: `flags.writeable` warns of what `np.broadcast_arrays` returns


def wrap(out):
    """The result of a call that carries no derivative: arrays as `Traced`, numbers as they are."""
    kind = type(out)
    if kind is _ndarray:
        return traced(out, None)
    if kind is tuple or kind is list:
        return kind([wrap(item) for item in out])
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return kind(*[wrap(item) for item in out])
    return out


def without_derivative(out):
    """The result of a call with recorded arguments that cannot carry their derivative: integers, mostly."""
    if isinstance(out, (_ndarray, np.void)):
        require_numeric(out.dtype)
    return wrap(out)


def carries(out):
    """Whether a result can carry a derivative: floats and complex numbers do."""
    if type(out) is _ndarray:
        return out.dtype.kind in "fcV" and is_numeric(out.dtype)
    if isinstance(out, (tuple, list)):
        return any(carries(item) for item in out)
    return isinstance(out, (float, complex, np.inexact)) or getattr(out, "dtype", _F64).kind in "fcV"


# the cotangents of a call with several results meet in the call's node as a tuple
class PickForm(Form):
    """One of several results: its cotangent enters the call's at its place."""

    __slots__ = ()


def _pick(g, i, n):
    return Parts(i, n, g)


class Parts(tuple):
    """The cotangents of a tuple of results; None where nothing has arrived."""

    __slots__ = ()

    def __new__(cls, i, n, g):
        return tuple.__new__(cls, [g if j == i else None for j in range(n)])

    def __add__(self, other):
        return tuple.__new__(
            Parts, [b if a is None else a if b is None else a + b for a, b in zip(self, other, strict=True)]
        )


PICK = PickForm("Pick", _pick)


def wrap_views(out, function, arguments, node=None):
    """The result as `Traced`, on the storage of the argument that it is a view of, if it is one."""
    kind = type(out)
    if kind is _ndarray:
        return _wrap_array(out, function, arguments, node, None)
    if kind is tuple or kind is list or isinstance(out, tuple):
        n = len(out)
        items = []
        for i, item in enumerate(out):
            part = node if node is None or not carries(item) else make_node(PICK, (i, n), node)
            if not carries(item):
                part = None
            if type(item) is _ndarray:
                items.append(_wrap_array(item, function, arguments, part, i))
            else:
                items.append(item if part is None else traced(item, part))
        return kind(*items) if hasattr(out, "_fields") else kind(items)
    return out if node is None else traced(out, node)


def _wrap_array(out, function, arguments, node, output):
    near = []
    for path, t in arguments.tensors:
        data = t.primal
        if data is out or (
            out.base is not None and type(data) is _ndarray and len(path) == 1 and np.may_share_memory(out, data)
        ):
            near.append((path, t))
    if not near:
        if node is None and is_view(out, (*arguments.args, *arguments.kwargs.values())):
            return out
        return traced(out, node)
    (path, t), *others = near
    if others:
        path, t = _source(near, function, arguments, output)
    data = t.primal
    if data is out:
        return t
    step = _step(function, arguments, path[0], output)
    if node is not None and t.storage is not None:
        t.storage.saved = True
    if data.flags.writeable and not out.flags.num & _WRITEABLE and lookup(function) is None:
        out = step(data)  # it was made of an array lent read-only
        if out is data:
            return t
    return link(out, t, step, node)


def _step(function, arguments, at, output):
    """The call as a step from the argument at `at` to one of its results."""
    args, kwargs = arguments.args, arguments.kwargs
    if len(args) + len(kwargs) > 1:
        args, kwargs = kept_arguments(arguments, at)
    if isinstance(at, int):
        return Step(function, args[:at], args[at + 1 :], kwargs, output=output)
    return Step(function, args, kwargs=kwargs, name=at, output=output)


def _source(near, function, arguments, output):
    """Which of several arguments of one memory a result is (a view of): that with which it moves elsewhere."""
    for path, t in near:
        if len(path) == 1:
            elsewhere = duplicate(t.primal)
            out = _step(function, arguments, path[0], output)(elsewhere)
            if out is elsewhere or np.may_share_memory(out, elsewhere):
                return path, t
    raise TapeError(
        f"{title(function)} gives a view of one of several arrays of the same memory, and it cannot be told of which: "
        f"make copies of them\n  at {user_location()}"
    )


def is_view(out, args):
    """Whether `out` is (a view of) a plain array among `args`: the tape, which does not hold that, holds no view."""
    return any(type(a) is _ndarray and (a is out or out.base is not None and np.may_share_memory(a, out)) for a in args)
