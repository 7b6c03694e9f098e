"""The short ways of the common operations on tensors: of float64 and float32, of one shape.

What is unusual about a call sends it the general way (`call.call`). As in the other ``shortcuts.py``, what can be
decided once for an operation is, and nothing is a function of its own that would cost as much as what it does.
"""

import numpy as np

from s2sgrad.rules.table import lookup
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import Naming, call, cast, describe, elementwise_reads, floating, renamed, stand_in
from s2sgrad.runtime.eager.tensor import Tensor, accumulator, node_of, refresh
from s2sgrad.runtime.fuse import box
from s2sgrad.runtime.grad_mode import PAUSED
from s2sgrad.runtime.node import Form, Node, next_number
from s2sgrad.runtime.record import elementwise_of

_ndarray = np.ndarray
_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)
_NUMBERS = frozenset((float, int))  # of bools, each operation thinks otherwise
_make = object.__new__


def _forms(operation, name, active, arity, number=None):
    """The forms of an operation under its name, in general and for float64 arrays of one shape; what they keep."""
    form, keep, out = operation.fitting(active)
    reads = elementwise_reads(operation, active)  # a number counts as saved, though it is no tensor
    naming = Naming(active, arity, not reads, tuple([r for r in reads if r != number]))
    exact = operation.exact(active, number)
    return renamed(form, name, naming), renamed(exact, name, naming), keep, out


def unary(name, function):
    """The operation of one tensor, by a NumPy function with an elementwise rule."""
    form, exact, (keep,), out = _forms(elementwise_of(function), name, (0,), 1)
    if not isinstance(function, np.ufunc):
        exact = form

    def forward(x):
        if type(x) is not Tensor or PAUSED.count:
            return call(name, function, floating(x))
        if not x._simple:
            if x._inference:
                return call(name, function, floating(x))
            if x._family is not None and x._seen != x._family.version:
                refresh(x)
        a = x._a
        z = function(a)
        if type(z) is _ndarray:
            fits = exact
        else:
            z = np.asarray(z)
            fits = form
        dtype = z.dtype
        if dtype is not _F64:
            if dtype is not _F32:
                return call(name, function, floating(x))
            fits = form
        if a.dtype is not dtype:
            return call(name, function, floating(x))
        t = _make(Tensor)
        t._a = z
        t._simple = True
        node = x._node
        if node is None:
            if x._rg:
                node = x._accumulate and x._accumulate() or accumulator(x)
            elif x._base is None or (node := node_of(x)) is None:
                return t
        n = t._node = Node()
        n.form = fits
        n.saved = (a if keep else None, z) if out else (a if keep else None,)
        n.edges = node
        n.number = next_number()
        return t

    return forward


def operands(*values):
    """Tensors and numbers as operands of one type: what each is turned into before the operation."""
    d = dtypes.result_type(*values)
    return [cast(v, d) if isinstance(v, Tensor) else d.numpy.type(v) for v in values], d


def binary(name, function, prepare=operands, with_number=2, number_name=None, otherwise=None):
    """The operation of two tensors (or a tensor and a number), by a NumPy function with an elementwise rule.

    `with_number` says how many arguments could have a derivative where the second is a number, and
    `number_name` is the operation's name there. `otherwise` takes operands of other kinds.
    """
    operation = elementwise_of(function)
    form_x, exact_x, (x_x, x_y), x_out = _forms(operation, name, (0,), 2)
    form_y, exact_y, (y_x, y_y), y_out = _forms(operation, name, (1,), 2)
    form_xy, exact_xy, (xy_x, xy_y), xy_out = _forms(operation, name, (0, 1), 2)
    form_n, exact_n, _, _ = _forms(operation, number_name or name, (0,), with_number, number=1)
    boxes = function in (np.add, np.subtract, np.multiply)
    if not boxes:  # what a Python function returns is not known to be an array
        exact_x, exact_y, exact_xy = form_x, form_y, form_xy
    last = None, None  # a number and its box

    def careful(x, y):
        (x, y), _ = prepare(x, y)
        return call(name if isinstance(y, Tensor) else number_name or name, function, x, y)

    def forward(x, y):
        nonlocal last
        if type(x) is not Tensor or PAUSED.count:
            return (otherwise or careful)(x, y)
        if not x._simple:
            if x._inference:
                return (otherwise or careful)(x, y)
            if x._family is not None and x._seen != x._family.version:
                refresh(x)
        a = x._a
        dtype = a.dtype
        if dtype is not _F64 and dtype is not _F32:
            return (otherwise or careful)(x, y)
        other = None
        if type(y) is Tensor:
            if not y._simple:
                if y._inference:
                    return careful(x, y)
                if y._family is not None and y._seen != y._family.version:
                    refresh(y)
            b = y._a
            if a is not b and (b.dtype is not dtype or a.shape != b.shape):
                return careful(x, y)
            z = function(a, b)
            other = y._node
            if other is None:
                if y._rg:
                    other = y._accumulate and y._accumulate() or accumulator(y)
                elif y._base is not None:
                    other = node_of(y)
        elif type(y) in _NUMBERS:
            if boxes and dtype is _F64:
                known, b = last
                if known is not y:
                    b = box(y)
                    last = y, b
            else:
                b = float(y)
            z = function(a, b)
        else:
            return (otherwise or careful)(x, y)
        exact = dtype is _F64
        if type(z) is not _ndarray:
            z = np.asarray(z)
            exact = False
        if not boxes and z.dtype is not dtype:
            return careful(x, y)
        t = _make(Tensor)
        t._a = z
        t._simple = True
        node = x._node
        if node is None:
            if x._rg:
                node = x._accumulate and x._accumulate() or accumulator(x)
            elif x._base is not None:
                node = node_of(x)
        if other is None:
            if node is None:
                return t
            edges, keeps_x, keeps_y, out = node, x_x, x_y, x_out
            if type(y) is Tensor:
                form = exact_x if exact else form_x
            else:
                form = exact_n if exact and boxes else form_n
                keeps_y = True
        elif node is None:
            form, edges, keeps_x, keeps_y, out = exact_y if exact else form_y, other, y_x, y_y, y_out
        else:
            form, keeps_x, keeps_y, out = exact_xy if exact else form_xy, xy_x, xy_y, xy_out
            edges = node, other
        n = t._node = Node()
        n.form = form
        a = a if keeps_x else None
        b = b if keeps_y else None
        n.saved = (a, b, z) if out else (a, b)
        n.edges = edges
        n.number = next_number()
        return t

    return forward


def product(name, function, otherwise):
    """The operation of two matrices or vectors of one type, by a NumPy function with a pullback for each.

    `otherwise` takes all other operands.
    """
    first, second = lookup(function).pullbacks.values()

    def forms(active, make):
        def make_twin():
            from s2sgrad.runtime.fallback import recording_rule

            return make(recording_rule(first), recording_rule(second))

        reads = tuple([1 - i for i in active])
        form = Form(name, make(first, second), active, None, make_twin, 2)
        return describe(form, Naming(active, 2, False, reads))

    form_x = forms((0,), lambda first, second: lambda g, x, y: first(g, None, x, y))
    form_y = forms((1,), lambda first, second: lambda g, x, y: second(g, None, x, y))
    form_xy = forms((0, 1), lambda f, s: lambda g, x, y: (f(g, None, x, y), s(g, None, x, y)))

    def forward(x, y):
        if PAUSED.count or type(x) is not Tensor or type(y) is not Tensor or x._inference or y._inference:
            return otherwise(x, y)
        node, other = node_of(x), node_of(y)
        a, b = x._a, y._a
        if a.dtype is not b.dtype or a.dtype is not _F64 and a.dtype is not _F32 or a.ndim != 2 or b.ndim != 2:
            return otherwise(x, y)
        if a.shape[1] != b.shape[0]:
            return otherwise(x, y)
        t = _make(Tensor)
        t._a = function(a, b)
        if node is None and other is None:
            return t
        n = t._node = Node()
        if other is None:
            n.form, n.edges, n.saved = form_x, node, (stand_in(a), b)
        elif node is None:
            n.form, n.edges, n.saved = form_y, other, (a, stand_in(b))
        else:
            n.form, n.edges, n.saved = form_xy, (node, other), (a, b)
        n.number = next_number()
        return t

    return forward


__all__ = ["binary", "operands", "product", "unary"]
