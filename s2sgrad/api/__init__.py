"""The function transformations: `grad`, `value_and_grad`, `elementwise_grad`, `vjp`, `jacobian`, `hessian`.

``arguments`` makes out which arguments are meant, ``trees`` what they hold, ``derivative`` takes a call
to its answer, ``compilation`` runs compiled source or the tape, ``entry`` is the short way of a call like the
last one, ``results`` asks whether what came out can be differentiated; ``products`` is `vjp`, ``jacobians`` is
`jacobian` and `hessian`, ``tensors`` is `compile`, ``check`` and ``explain`` are what their names say.
"""

import functools

from s2sgrad.api.derivative import Derivative
from s2sgrad.api.jacobians import hessian, jacobian
from s2sgrad.api.products import value_and_pullback
from s2sgrad.runtime.fallback import stop_gradient

__all__ = [
    "Derivative",
    "elementwise_grad",
    "grad",
    "hessian",
    "jacobian",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]


def _transformation(kind, function, argnums, has_aux, mode):
    """The derivative of `function`, or the decorator that makes one."""
    if function is None:
        return functools.partial(Derivative, kind=kind, argnums=argnums, has_aux=has_aux, mode=mode)
    return Derivative(function, kind, argnums, has_aux, mode)


def grad(f=None, argnums=0, *, has_aux=False, mode="auto"):
    """The gradient of a scalar-valued function.

    Parameters
    ----------
    f : callable
        Plain Python and NumPy, returning a real number or an array of dimension 0. Without it, a
        decorator is returned: ``@grad(argnums="w")``.
    argnums : int, str, or tuple of them
        The arguments to differentiate, by position (negative ones count from the end) or by name. In a
        method, position 0 is the first argument after ``self``.
    has_aux : bool
        Whether `f` returns a pair ``(value, aux)`` of which `aux` is passed through.
    mode : {"auto", "compiled", "tape"}
        ``"auto"`` compiles, and runs on the tape what cannot be compiled; ``"compiled"`` raises instead.

    Returns
    -------
    Derivative
        Takes the arguments of `f`. Returns the gradient of the differentiated argument (a tuple of them
        where `argnums` is one), or ``(gradient, aux)``. A gradient has the structure, shapes and dtypes
        of its argument; integers count as float64.

    Raises
    ------
    ArgumentError
        Where `argnums` names what does not exist, or an argument that is differentiated holds anything
        but real and complex numbers and arrays.
    NonScalarError
        Where `f` does not return a real scalar.
    CompileError
        In ``mode="compiled"``, where `f` cannot be compiled.

    Examples
    --------
    >>> import numpy as np
    >>> from s2sgrad import grad
    >>> def loss(w, x):
    ...     return np.sum((w * x) ** 2)
    >>> grad(loss)(np.array([1.0, 2.0]), 3.0)
    array([18., 36.])
    >>> grad(loss, argnums=("w", "x"))(2.0, 3.0)
    (36.0, 24.0)
    """
    return _transformation("grad", f, argnums, has_aux, mode)


def value_and_grad(f=None, argnums=0, *, has_aux=False, mode="auto"):
    """The value of a function and its gradient, in one pass.

    As `grad`; returns ``(value, gradient)``, or ``((value, aux), gradient)``.

    Examples
    --------
    >>> from s2sgrad import value_and_grad
    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _transformation("value_and_grad", f, argnums, has_aux, mode)


def elementwise_grad(f=None, argnums=0, *, has_aux=False, mode="auto"):
    """The derivative of a function that acts on each entry of its arguments by itself.

    It is the gradient of the sum of all entries of the result, which for such a function is its
    derivative, entry by entry. As `grad`; the function returns a real array.

    Examples
    --------
    >>> import numpy as np
    >>> from s2sgrad import elementwise_grad
    >>> elementwise_grad(lambda x: x**3)(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    return _transformation("elementwise_grad", f, argnums, has_aux, mode)


def vjp(f, *args, has_aux=False):
    """The value of a function, and the pullback of cotangents: vector-Jacobian products.

    Parameters
    ----------
    f : callable
        Plain Python and NumPy; may return arrays and containers of them.
    *args
        The arguments, all differentiated.
    has_aux : bool
        Whether `f` returns a pair ``(value, aux)``.

    Returns
    -------
    out
        What `f` returns (the value of the pair).
    pullback : callable
        Takes a cotangent, of the structure and shapes of `out`, to the tuple of the cotangents of the
        arguments. May be called several times.
    aux
        Only with `has_aux`.

    Raises
    ------
    ArgumentError
        Where an argument holds anything but real and complex numbers and arrays; and, by the pullback, where the
        cotangent has not the structure and shapes of `out`.

    Examples
    --------
    >>> import numpy as np
    >>> from s2sgrad import vjp
    >>> out, pullback = vjp(np.multiply, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.ones(2))
    (array([3., 3.]), 3.0)
    """
    return value_and_pullback(f, args, has_aux)
