"""Where the fallback's recorded arrays meet tensors: a custom Function called in a function under differentiation.

Recorded arrays become tensors within the Function, and arrays again outside; the nodes are of one kind on both
tapes. Everywhere else a recorded array among tensors is an error: a tensor's own ways out of the recording,
``item()`` and ``detach()``, would lose the derivative in silence.
"""

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.runtime.eager.tensor import Tensor, new
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.tensor import Traced, traced
from s2sgrad.runtime.views import refresh


def holds_recorded(value):
    """Whether a value is, or a container has within, an array or number that the fallback records."""
    if type(value) in (list, tuple, set):
        return any(map(holds_recorded, value))
    if type(value) is dict:
        return any(map(holds_recorded, value.values()))
    return type(value) is Traced


def refuse_recorded(value):
    """Refuse a recorded array or number as an argument of an operation on tensors."""
    if type(value) is Traced:
        raise TapeError(
            "an operation on tensors was given an array or number of a function under differentiation: "
            f"use NumPy's functions on it, or a Function\n  at {user_location()}"
        )


def call_on_tape(function, args, kwargs):
    """``function.apply`` of arguments some of which are recorded."""
    inputs = []

    def entered(value):
        if type(value) is Traced:
            inputs.append(value)
            return _tensor(value)
        if holds_recorded(value):
            raise TapeError(
                f"{function.__name__}.apply was given a {type(value).__name__} with differentiated arrays in it, "
                f"and looks at its own arguments only: pass the arrays themselves\n  at {user_location()}"
            )
        return value

    out = function.apply(*[entered(a) for a in args], **{k: entered(a) for k, a in kwargs.items()})
    if isinstance(out, tuple):
        return tuple([_left(t, inputs) for t in out])
    return _left(out, inputs)


def _tensor(value):
    """A recorded array or number as a tensor with its node; it cannot be written, the recording would not see it."""
    storage = value.storage
    if storage is not None:
        if value.seen != storage.version:
            refresh(value)
        storage.saved = True
    a = np.asarray(value.primal)[...]
    a.flags.writeable = False
    return new(a, value.node)


def _left(t, inputs):
    """A result as the program goes on with it: an array or number, recorded where a derivative flows."""
    if not isinstance(t, Tensor):
        return t
    a = t._a
    if any(np.may_share_memory(a, np.asarray(x.primal)) for x in inputs):
        a = np.array(a)
        a.flags.writeable = False  # a write would have to reach the argument: it is refused
    a = a if a.ndim else a[()]
    return a if t._node is None else traced(a, t._node)
