"""What may stand beside a recorded value in an operator or an elementwise call.

Numbers, arrays, and what NumPy makes arrays of are data. An object with operators of its own is asked
first, as Python and NumPy would; and an array whose operators mean something else (`np.matrix`, masked
arrays) is refused, since the rules speak of elementwise operators.
"""

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.tensor import Tensor

_ndarray = np.ndarray
_NUMBERS = (int, float, complex)
_DATA = frozenset((*_NUMBERS, bool, str, bytes, type(None), list, tuple, _ndarray, np.float64, np.float32, np.int64))
_STANDARD_NUMBERS = ("fractions", "decimal")
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_OPERATORS = ("__add__", "__mul__", "__matmul__", "__array_ufunc__")


def reflected_name(function) -> str:
    """The method that Python asks the right operand for, where the left one does not know it.

    Examples
    --------
    >>> import operator
    >>> reflected_name(operator.mul), reflected_name(operator.lt)
    ('__rmul__', '__gt__')
    """
    name = function.__name__.strip("_")
    if name in ("eq", "ne", *_SWAPPED):
        return f"__{_SWAPPED.get(name, name)}__"
    return f"__r{name}__"


def yields(first, second, name) -> bool:
    """Whether the recorded `first` leaves an operator to the method `name` of `second`, as what it stands for would."""
    kind = type(second)
    if kind in _DATA or isinstance(second, (np.generic, Tensor, _ndarray)) or kind.__module__ in _STANDARD_NUMBERS:
        return False
    base = next((b for b in _NUMBERS if isinstance(second, b)), object)
    own = getattr(kind, name, None)
    own = own is not None and own is not getattr(base, name, None)
    if type(first.primal) is not _ndarray:
        return own
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None
    return own and getattr(second, "__array_priority__", -1.0) > 0.0


def as_data(a, function):
    """An argument of an elementwise call as its partials can calculate with it: a number or an array of numbers."""
    kind = type(a)
    if kind in _DATA and kind is not list and kind is not tuple or isinstance(a, np.generic):
        return a
    if isinstance(a, _ndarray):
        if all(getattr(kind, name) is getattr(_ndarray, name) for name in _OPERATORS):
            return a
        raise TapeError(
            f"{_title(function)} of a recorded value and a {kind.__name__}, whose operators are its own, "
            f"is not followed by the tape: convert it with np.asarray first\n  at {user_location()}"
        )
    if kind.__module__ in _STANDARD_NUMBERS:
        return a
    array = np.asarray(a)
    return a if array.dtype.hasobject else array[()]


def _title(function):
    return getattr(function, "__name__", repr(function))
