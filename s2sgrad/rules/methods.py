"""Methods and attributes of arrays, said as functions of the array.

``x.sum(axis=0)`` is ``np.sum(x, axis=0)``, ``x.T`` is ``np.transpose(x)``: one rule serves both. What
is not listed (``tolist``, ``view``) is not understood, and is an error on an active array.
"""

import numpy as np

from s2sgrad.rules.shapes import ravel_adjoint
from s2sgrad.rules.table import INACTIVE_ATTRIBUTES, INACTIVE_METHODS, attribute, linear, method
from s2sgrad.runtime.arrays import conjugate, embed, gather_adjoint, indices_like


def item_adjoint(g, a, index=None):
    if index is None:
        return np.reshape(g, np.shape(a))
    if isinstance(index, tuple):
        return embed(g, a, index)
    return gather_adjoint(g, a, index)


linear(np.ndarray.flatten, ravel_adjoint)
linear(np.ndarray.item, item_adjoint)
linear(
    np.ndarray.compress,
    lambda g, a, condition, axis=None: gather_adjoint(g, a, np.compress(condition, indices_like(a), axis)),
)

for function in (
    *(np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.cumsum, np.cumprod, np.trace),
    *(np.ravel, np.squeeze, np.swapaxes, np.diagonal, np.dot, np.clip, np.take, np.repeat, np.copy, np.astype),
):
    method(function.__name__, function)
method("flatten", np.ndarray.flatten)
method("item", np.ndarray.item)
method("compress", np.ndarray.compress)
method("conj", np.conjugate)
method("conjugate", conjugate)
method("reshape", np.reshape, variadic=True)
method("transpose", np.transpose, variadic=True)

attribute("T", np.transpose)
attribute("mT", np.matrix_transpose)
attribute("real", np.real)
attribute("imag", np.imag)

INACTIVE_METHODS.update(("any", "all", "argmax", "argmin", "argsort", "argpartition"))
INACTIVE_METHODS.add("is_integer")  # of Python's numbers
INACTIVE_METHODS.update(("nonzero", "searchsorted", "round"))
INACTIVE_ATTRIBUTES.update(("shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags", "device"))
