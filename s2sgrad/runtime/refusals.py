"""What the tape refuses, and how it says so."""

import sys

import numpy as np

from s2sgrad.errors import MissingRuleError, TapeError
from s2sgrad.runtime.location import user_location


def full_name(function) -> str:
    """What people call a callable, by the shortest module that has it.

    Examples
    --------
    >>> full_name(np.linalg.norm), full_name(np.add)
    ('numpy.linalg.norm', 'numpy.add')
    """
    name = getattr(function, "__name__", None) or type(function).__name__
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        homes = ("numpy", "scipy.special")
        module = next((m for m in homes if getattr(sys.modules.get(m), name, None) is function), "")
    parts = module.split(".")
    for i in range(1, len(parts)):
        if parts[i].startswith("_"):
            shown = sys.modules.get(".".join(parts[:i]))
            module = shown.__name__ if getattr(shown, name, None) is function else module
            break
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (type, type(sys))):
        name = f"{type(owner).__name__}.{name}"
    return f"{module}.{name}" if module else name


def missing(function, what=None):
    """The error for a derivative that has to flow through something without a rule."""
    detail = what or f"{full_name(function)} has no derivative rule, but a derivative has to flow through it"
    return MissingRuleError(
        f"{detail}\n  at {user_location()}\n"
        f"Register one with s2sgrad.rules.table (elementwise, linear or vjp), "
        f"or pass it stop_gradient(value) if it is constant."
    )


def is_numeric(dtype) -> bool:
    """Whether arrays of this type hold numbers: objects, records and text would take a derivative out of sight.

    Examples
    --------
    >>> is_numeric(np.dtype(float)), is_numeric(np.dtype(object)), is_numeric(np.dtype([("a", float)]))
    (True, False, False)
    """
    return dtype.kind in "biufc" or dtype.kind == "V" and not issubclass(dtype.type, np.void)


def require_numeric(dtype) -> None:
    """Recorded values may not be stored in an array that does not hold numbers."""
    if not is_numeric(dtype):
        kind = {"O": "an array of objects", "V": "a structured array"}.get(dtype.kind, f"an array of {dtype}")
        raise TapeError(
            f"recorded values are put into {kind}: their derivative would be lost\n  at {user_location()}\n"
            "Use a list or a dict of arrays, or stop_gradient(value) where it is meant to be constant."
        )


def title(function):
    return getattr(function, "__name__", repr(function))


def unseen() -> TapeError:
    """The error about a recorded value that would be lost in an array of which the tape knows nothing."""
    return TapeError(
        "a recorded value is written into a plain array that the tape does not see\n"
        f"  at {user_location()}\n"
        "Make the array within the function, or pass it as an argument."
    )
