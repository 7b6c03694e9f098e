"""The short ways: what operators and ufuncs of one or two recorded values do.

What can be decided once for a callable is decided when `unary` and `binary` are called; what they return does its
arithmetic, writes a node and returns, and leaves to `record.apply` whatever is unusual about a call. Nothing here is
told twice for beauty's sake: a call of a helper would cost as much as what it does.
"""

import operator

import numpy as np

from s2sgrad.rules.table import unknown
from s2sgrad.runtime.elementwise import elementwise_of
from s2sgrad.runtime.fuse import BOXES
from s2sgrad.runtime.grad_mode import PAUSED, is_recording
from s2sgrad.runtime.node import COUNTER, Node
from s2sgrad.runtime.operands import reflected_name, yields
from s2sgrad.runtime.record import apply, recorder
from s2sgrad.runtime.tensor import Traced, traced
from s2sgrad.runtime.views import refresh

_ndarray = np.ndarray
_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)
_NUMBERS = frozenset((float, int, np.float64, np.float32, bool, np.int64, np.bool_))
_REAL = frozenset((float, np.float64, np.float32))

# operators that are a ufunc on arrays
_EXACT = {operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.divide}
_EXACT |= {ufunc: ufunc for ufunc in _EXACT.values()}
_boxes, _boxes32 = BOXES[_F64], BOXES[_F32]


def unary(function):
    """The recording version of a function of one argument, for `Traced`."""
    operation = elementwise_of(function)
    if operation is None or len(operation.partials) != 1 or operation.partials[0] is None:
        return recorder(function)
    form, (keep,), out = operation.fitting((0,))
    exact = exact32 = form
    if isinstance(function, np.ufunc) or function is operator.neg:
        exact, exact32 = [operation.exact((0,), None, dtype) for dtype in (_F64, _F32)]
    (passes,) = operation.passes

    def forward(x, *rest, **kwargs):
        if type(x) is not Traced or rest or kwargs:
            return apply(function, (x, *rest), kwargs)
        storage = x.storage
        if storage is not None and x.seen != storage.version:
            refresh(x)
        data = x.primal
        node = x.node
        z = function(data)
        kind = type(z)
        if node is None or PAUSED.count and not is_recording():
            return traced(z, None) if kind is _ndarray else z
        fits = form
        if kind is _ndarray:
            if z.dtype is _F64:
                fits = exact
            elif z.dtype is _F32:
                fits = exact32
            else:
                return apply(function, (x,))
        elif kind not in _REAL:
            return apply(function, (x,))
        t = Traced()
        t.primal = z
        t.storage = None
        if passes:
            t.node = node  # the cotangent of the result is that of the argument
            return t
        if storage is not None and keep:
            storage.saved = True
        t.node = n = Node()
        n.form = fits
        n.saved = (data, z) if out else (data if keep else None,)
        n.edges = node
        n.number = next(COUNTER)
        return t

    return forward


def binary(function, reflected=False):
    """The recording version of a function of two arguments, the first (or second) of them `Traced`."""
    operation = elementwise_of(function)
    name = None if isinstance(function, np.ufunc) else reflected_name(function)

    def general(x, y):
        if name is not None and yields(x, y, name):
            return NotImplemented
        return apply(function, (x, y))

    if operation is None or len(operation.partials) != 2 or not {None, unknown}.isdisjoint(operation.partials):
        return (lambda y, x: apply(function, (x, y))) if reflected else general
    if reflected:  # only reached with a first operand that is not Traced
        return _with_number(function, operation, reflected, lambda second, first: apply(function, (first, second)))
    return _with_number(function, operation, reflected, _of_two(function, operation, general))


def _with_number(function, operation, reflected, otherwise):
    """The version for a `Traced` and a number, which comes first where `reflected`; `otherwise` takes all else."""
    at = 1 if reflected else 0
    form, keep, out = operation.fitting((at,))
    keep = keep[at]
    exact, exact32 = [operation.exact((at,), 1 - at, dtype) for dtype in (_F64, _F32)]
    passes = operation.passes[at]
    ufunc = _EXACT.get(function)

    def forward(x, number):
        kind = type(number)
        if kind is Traced:
            return otherwise(x, number)
        simple = kind is float or kind is int
        if not simple and kind not in _NUMBERS:
            return otherwise(x, number)
        storage = x.storage
        if storage is not None and x.seen != storage.version:
            refresh(x)
        data = x.primal
        node = x.node
        boxes = None
        if simple and ufunc is not None and type(data) is _ndarray:
            if data.dtype is _F64:
                boxes, fits = _boxes, exact
            elif data.dtype is _F32:
                boxes, fits = _boxes32, exact32
        if boxes is not None:
            boxed = boxes[number]
            z = ufunc(boxed, data) if reflected else ufunc(data, boxed)
            kind = type(z)
            if kind is not _ndarray:
                fits, boxed = form, number
        else:
            boxed = number
            z = function(number, data) if reflected else function(data, number)
            kind = type(z)
            fits = form
            if node is not None and (
                (z.dtype is not _F64 and z.dtype is not _F32) if kind is _ndarray else kind not in _REAL
            ):
                return apply(function, (number, x) if reflected else (x, number))
        if node is None or PAUSED.count and not is_recording():
            return traced(z, None) if kind is _ndarray else z
        t = Traced()
        t.primal = z
        t.storage = None
        if passes:
            t.node = node  # the cotangent of the result is that of the argument
            return t
        if not keep:
            data = None
        elif storage is not None:
            storage.saved = True
        t.node = n = Node()
        n.form = fits
        if out:
            n.saved = (boxed, data, z) if reflected else (data, boxed, z)
        else:
            n.saved = (boxed, data) if reflected else (data, boxed)
        n.edges = node
        n.number = next(COUNTER)
        return t

    return forward


def _of_two(function, operation, general):
    """The version for two `Traced`; a second operand that is none is left to `general`."""
    actives = (0,), (1,), (0, 1)
    form_x, (x_x, x_y), x_out = operation.fitting((0,))
    form_y, (y_x, y_y), y_out = operation.fitting((1,))
    form_xy, (xy_x, xy_y), xy_out = operation.fitting((0, 1))
    general_forms = exact_forms = exact_forms32 = form_x, form_y, form_xy
    if function in _EXACT:
        exact_forms = [operation.exact(active) for active in actives]
        exact_forms32 = [operation.exact(active, None, _F32) for active in actives]
    x_passes, y_passes = operation.passes

    def forward(first, second):
        if type(second) is not Traced:
            return general(first, second)
        storage = first.storage
        if storage is not None and first.seen != storage.version:
            refresh(first)
        if second.storage is not None and second.seen != second.storage.version:
            refresh(second)
        x = first.primal
        node = first.node
        y = second.primal
        other = second.node
        z = function(x, y)
        kind = type(z)
        if node is None and other is None or PAUSED.count and not is_recording():
            return traced(z, None) if kind is _ndarray else z
        forms = general_forms
        if kind is _ndarray:
            dtype = z.dtype
            if dtype is not _F64 and dtype is not _F32:
                return apply(function, (first, second))
            if x is not y:
                shape = z.shape
                if type(x) is not _ndarray or type(y) is not _ndarray or x.shape != shape or y.shape != shape:
                    return apply(function, (first, second))
            if x.dtype is dtype and y.dtype is dtype:
                forms = exact_forms if dtype is _F64 else exact_forms32
        elif kind not in _REAL:
            return apply(function, (first, second))
        t = Traced()
        t.primal = z
        t.storage = None
        if other is None:
            if x_passes:
                t.node = node
                return t
            form, edges, keeps_x, keeps_y, out = forms[0], node, x_x, x_y, x_out
        elif node is None:
            if y_passes:
                t.node = other
                return t
            form, edges, keeps_x, keeps_y, out = forms[1], other, y_x, y_y, y_out
        else:
            form, keeps_x, keeps_y, out = forms[2], xy_x, xy_y, xy_out
            edges = node, other
        t.node = n = Node()
        n.form = form
        n.saved = (x, y, z) if out else (x if keeps_x else None, y if keeps_y else None)
        n.edges = edges
        n.number = next(COUNTER)
        if keeps_x and storage is not None:
            storage.saved = True
        if keeps_y and second.storage is not None:
            second.storage.saved = True
        return t

    return forward


__all__ = ["binary", "unary"]
