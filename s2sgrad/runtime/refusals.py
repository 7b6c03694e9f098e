"""What the tape refuses, and how it says so."""

import sys
from types import ModuleType, NoneType

import numpy as np

from s2sgrad.errors import MissingRuleError, TapeError
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.location import is_our_file, is_users_file, user_location


def full_name(function) -> str:
    """What people call a callable, by the shortest module that has it.

    Examples
    --------
    >>> full_name(np.linalg.norm), full_name(np.random.normal), full_name(np.random.Generator.normal)
    ('numpy.linalg.norm', 'numpy.random.normal', 'numpy.random.Generator.normal')
    """
    name = getattr(function, "__name__", None) or type(function).__name__
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        homes = ("numpy", "scipy.special")
        module = next((m for m in homes if getattr(sys.modules.get(m), name, None) is function), "")
    parts = module.split(".")
    homes = [".".join(parts[:i]) for i in range(1, len(parts))]
    module = next((home for home in homes if getattr(sys.modules.get(home), name, None) is function), module)
    owner = getattr(function, "__self__", None)
    cls = type(owner)
    if isinstance(owner, (NoneType, type, ModuleType)):  # it is of no object, but may be a method
        holder = getattr(function, "__qualname__", "").rpartition(".")[0]
        cls = getattr(sys.modules.get(getattr(function, "__module__", None)), holder, None)
    if cls is not None and getattr(sys.modules.get(module), name, None) != function:
        return f"{full_name(cls)}.{name}"
    return f"{module}.{name}" if module else name


def missing(function, what=None, instead=None):
    """The error for a derivative that has to flow through something without a rule.

    Parameters
    ----------
    function : callable
    what : str
        What happened, where it is not that `function` has no rule.
    instead : str
        What to do, where it is not to give `function` a rule or to write something else.
    """
    detail = what or f"{full_name(function)} has no derivative rule, but a derivative has to flow through it"
    return MissingRuleError(f"{detail}\n  at {user_location()}\n{instead or _in_place_of(function)}")


def _in_place_of(function) -> str:
    """What to do where a function has no rule.

    Examples
    --------
    >>> import scipy.linalg
    >>> print(_in_place_of(scipy.linalg.inv).partition(", give")[0])
    Use numpy.linalg.inv, which has one (its conventions may differ)
    """
    module, _, name = full_name(function).rpartition(".")
    other = getattr(_SIBLINGS.get(module), name, None)
    if other is not None and lookup(other) is not None:
        instead = f"Use {full_name(other)}, which has one (its conventions may differ)"
    elif module.startswith("numpy.random"):
        instead = "Draw without it and use what is drawn (m + s * rng.normal(size=n), x[rng.permutation(n)])"
    else:
        instead = "Write it with functions that have one (docs/functions.md)"
    return (
        f"{instead}, give it one (s2sgrad.rules.table: elementwise, linear or vjp), "
        "or pass it stop_gradient(value) where that is meant to be constant."
    )


_SIBLINGS = {"scipy.linalg": np.linalg, "scipy.fft": np.fft}


def missing_method(function, what):
    """The error for a derivative that has to flow through a method or an attribute without a rule."""
    library = called_library()
    return missing(
        function,
        f"in {library}: {what}" if library else what,
        "Use functions of NumPy that have one (docs/functions.md), or take it of stop_gradient(value) where that is "
        "meant to be constant.",
    )


def not_covered(function, what):
    """The error for a call in a form that the rule of what is called does not cover."""
    return missing(
        function,
        f"the rule of {title(function)} does not cover {what}",
        "Write what it does with other functions, or pass stop_gradient(value) where all is meant to be constant.",
    )


def without_derivative_by(function, name):
    """The error for a derivative with respect to an argument by which the rule has none."""
    return missing(
        function,
        f"the rule of {title(function)} has no derivative for the argument {name!r}",
        "Pass it stop_gradient(value) where it is meant to be constant, or register a rule that has it "
        "(s2sgrad.rules.table).",
    )


def called_library() -> str:
    """The public function of a library that the user's innermost line called; "" where it called none."""
    frame, found = sys._getframe(1), ""
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        found = _public_name(frame) or found
        frame = frame.f_back
    return found if frame is not None else ""


def _public_name(frame) -> str:
    """The name of the function that runs in a frame, if it is a library's and people can call it."""
    module = sys.modules.get(frame.f_globals.get("__name__"))
    first, _, method = frame.f_code.co_qualname.partition(".")
    holder = getattr(module, first, None)
    if is_our_file(frame.f_code.co_filename) or holder is None or first.startswith("_") or "<" in method:
        return ""
    return full_name(holder) if not method or method.startswith("__") else f"{full_name(holder)}.{method}"


def is_numeric(dtype) -> bool:
    """Whether arrays of this type hold numbers: objects, records and text would take a derivative out of sight.

    Examples
    --------
    >>> is_numeric(np.dtype(float)), is_numeric(np.dtype(object)), is_numeric(np.dtype([("a", float)]))
    (True, False, False)
    """
    return dtype.kind in "biufc" or dtype.kind == "V" and not issubclass(dtype.type, np.void)


def require_no_arrays(array) -> None:
    """An array of objects may hold no arrays: what is written into them there would not be seen."""
    if array.dtype.kind == "O" and any(isinstance(item, np.ndarray) for item in array.flat):
        raise TapeError(
            f"arrays are put into an array of objects, where the tape does not see what is written into them\n"
            f"  at {user_location()}\nUse a list or a dict of arrays."
        )


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
