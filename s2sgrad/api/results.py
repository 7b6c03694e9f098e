"""What a function returned: whether it can be differentiated in the way that was asked for."""

import numpy as np

from s2sgrad.errors import ArgumentError, NonScalarError
from s2sgrad.runtime.arrays import scalar_seed
from s2sgrad.runtime.trees import flatten
from s2sgrad.transform.classes import attributes
from s2sgrad.transform.emit.load import annotate


def require_scalar(value, name: str) -> None:
    """`value` must be one real number, or an array of dimension 0.

    Examples
    --------
    >>> require_scalar(np.ones(()), "f")
    """
    problem = _problem(value)
    if problem is None and np.shape(value) != ():
        problem = f"an array of shape {np.shape(value)}"
        hint = "Sum it in the function, or use vjp(f, ...) or elementwise_grad(f)"
    elif problem is None and np.iscomplexobj(value):
        problem = "a complex number"
        hint = "Take its .real or abs(...), or use vjp(f, ...)"
    elif isinstance(value, tuple):
        hint = "If only the first is to be differentiated, say has_aux=True; else use vjp(f, ...)"
    elif value is None:
        hint = "Does it lack a return statement?"
    else:
        hint = "Return a float"
    if problem is not None:
        raise NonScalarError(f"grad needs a function that returns a scalar, but {name} returned {problem}. {hint}")


def explain_failure(error: Exception, name: str) -> None:
    """Say of an exception in compiled code which line of the user's it comes from.

    Where no scalar was found to start from, that is said as `require_scalar` does.
    """
    annotate(error)
    if isinstance(error, TypeError):
        _explain_seed(error, name)


def explain_promotion(error: Exception, integers: list[str], name: str) -> None:
    """Say of an exception that these arguments, which are integers, were passed as floats: that may be its cause."""
    if integers and isinstance(error, (TypeError, IndexError, AttributeError)):
        them = " and ".join(map(repr, integers))
        error.add_note(
            f"{name} is differentiated by {them}: the integers there were passed as floats. A count or an index cannot "
            f"be differentiated: leave it out of argnums; for vjp, write vjp(lambda x: {name}(x, n), x)"
        )


def _explain_seed(error: TypeError, name: str) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and trace.tb_frame.f_code is scalar_seed.__code__:
        try:
            require_scalar(trace.tb_frame.f_locals["out"], name)
        except NonScalarError as explained:
            raise explained from None


def require_elementwise(value, name: str) -> None:
    """`value` must be a real array or number.

    Examples
    --------
    >>> require_elementwise("text", "f")
    Traceback (most recent call last):
    ...
    s2sgrad.errors.NonScalarError: elementwise_grad needs a function that returns a real array, but f returned a str
    """
    problem = _problem(value)
    if problem is None and np.iscomplexobj(value):
        problem = "complex numbers (use vjp)"
    if problem is not None:
        raise NonScalarError(
            f"elementwise_grad needs a function that returns a real array, but {name} returned {problem}"
        )


def require_aux(out, name: str) -> tuple:
    """`out` must be a pair of the value and what else the function returns."""
    if not (isinstance(out, tuple) and len(out) == 2):
        what = _problem(out) or ("an array" if np.shape(out) else "a number")
        raise NonScalarError(
            f"with has_aux=True the function must return a pair (value, aux), but {name} returned {what}"
        )
    return out


def require_parts(value, name: str) -> list:
    """The numbers and arrays that `value` consists of; it must not be an object of another class, or hold one.

    Examples
    --------
    >>> require_parts({"a": 1.0, "b": [2.0]}, "f")
    [1.0, 2.0]
    """
    parts = flatten(value)[0]
    for part in parts:
        if attributes(part) is not None:
            raise ArgumentError(
                f"{name} returned an object of class {type(part).__name__}, which no cotangent is given for: return "
                f"numbers and arrays, or tuples, lists, dicts, namedtuples or dataclasses of them"
            )
    return parts


def _problem(value) -> str | None:
    """What `value` is, if it is neither a number nor an array of numbers."""
    if value is None:
        return "None"
    dtype = getattr(value, "dtype", None)
    numeric = isinstance(value, (int, float, complex)) if dtype is None else dtype.kind in "iufcV"
    if isinstance(value, bool) or not numeric:
        if isinstance(value, (tuple, list)):
            return f"a {type(value).__name__} of {len(value)}"
        if dtype is not None and np.shape(value):
            return f"an array of dtype {dtype}"
        name = type(value).__name__
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    return None
