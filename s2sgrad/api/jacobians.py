"""`jacobian` and `hessian`: all rows of a derivative at once, one pullback a row."""

import functools
import inspect

import numpy as np

from s2sgrad.api.arguments import is_single
from s2sgrad.api.derivative import MODES, Derivative, Transform
from s2sgrad.api.results import require_parts
from s2sgrad.errors import ArgumentError
from s2sgrad.runtime.arguments import plain
from s2sgrad.runtime.arrays import is_differentiable
from s2sgrad.runtime.trees import flatten


class Jacobian:
    """All partial derivatives of a function: call it with the arguments of the function.

    Made by `jacobian` and `hessian`.

    Attributes
    ----------
    primal : callable
        The function itself.
    engine : {"compiled", "tape"} or None
        What the last call ran on; None before the first.
    """

    def __init__(self, function, argnums, mode):
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, not {mode!r}")
        if not callable(function):
            raise TypeError(f"jacobian takes a function, not {function!r}")
        functools.update_wrapper(self, function, updated=())
        self.primal = function
        self._owner = ()
        skip = 0
        if inspect.ismethod(function):
            function, self._owner, skip = function.__func__, (function.__self__,), 1
        self._transform = Transform(function, "vjp", argnums, False, mode, skip)

    def __repr__(self):
        kind = "hessian" if isinstance(self.primal, Derivative) else "jacobian"
        return f"<{kind} of {self._transform.name}>"

    @property
    def engine(self) -> str | None:
        last = self._transform.last
        return last and last.engine

    def __call__(self, *args, **kwargs):
        transform = self._transform
        out, pull = transform.answer(self._owner + args, kwargs)
        results = require_parts(out, transform.name)
        rebuild = flatten(out)[1]
        shapes = [np.shape(plain(result)) for result in results]
        for result in results:
            if result is not None and (not is_differentiable(plain(result)) or np.iscomplexobj(plain(result))):
                raise ArgumentError(f"{transform.name} returned {_what(result)}")
        single = is_single(transform.argnums)
        rows = []
        for number, shape in enumerate(shapes):
            cotangents = [np.zeros(s)[()] for s in shapes]
            structure = pull(cotangents) if 0 in shape else None  # no row tells it
            found = []
            for index in np.ndindex(shape):
                cotangents[number] = _unit(shape, index)
                found.append(pull(cotangents))
            block = _stacked(found, shape, structure or found[0], transform.name)
            rows.append(block[0] if single else block)
        return rebuild(rows)


def _what(result) -> str:
    if np.iscomplexobj(plain(result)):
        return "complex numbers: jacobian takes real functions; use vjp"
    return "no floats: return floats, or arrays of them"


def _unit(shape, index):
    """The array of this shape that is one at `index` and zero elsewhere."""
    unit = np.zeros(shape)
    unit[index] = 1.0
    return unit[()]


def _stacked(rows: list, shape: tuple, structure: tuple, name: str) -> tuple:
    """Gradients of the single entries of a result of this shape, as one tree of arrays per argument."""
    blocks = []
    for number, like in enumerate(structure):
        leaves, rebuild = flatten(like)
        if any(np.iscomplexobj(plain(leaf)) for leaf in leaves):
            raise ArgumentError(f"{name} has a complex argument: jacobian takes real functions; use vjp")
        if shape:
            columns = zip(*[flatten(row[number])[0] for row in rows], strict=True) if rows else ([] for _ in leaves)
            leaves = [
                np.reshape(np.stack(column) if column else np.zeros(0), shape + np.shape(leaf))
                for column, leaf in zip(columns, leaves, strict=True)
            ]
        blocks.append(rebuild(leaves))
    return tuple(blocks)


def jacobian(f, argnums=0, *, mode="auto"):
    """The Jacobian of a function of real arrays, by one pullback per entry of the result.

    Parameters
    ----------
    f : callable
        Plain Python and NumPy, returning real numbers and arrays, or a pytree of them.
    argnums : int, str, or tuple of them
        The arguments to differentiate, as in `grad`.
    mode : {"auto", "compiled", "tape"}
        As in `grad`.

    Returns
    -------
    callable
        Takes the arguments of `f`. Returns, for a result of shape ``m`` and an argument of shape ``n``, an
        array of shape ``m + n``; where they are pytrees, the tree of the result with the tree of the
        argument in each place (a tuple of such where `argnums` is one).

    Raises
    ------
    ArgumentError
        Where the result or the argument is complex, or cannot be differentiated.

    Examples
    --------
    >>> import numpy as np
    >>> from s2sgrad import jacobian
    >>> jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 6.]])
    """
    return Jacobian(f, argnums, mode)


def hessian(f, argnums=0, *, mode="auto"):
    """The Hessian of a scalar-valued function: the Jacobian of its gradient.

    Parameters
    ----------
    f : callable
        As for `grad`.
    argnums : int, str, or tuple of them
        The arguments to differentiate, as in `grad`; several give a tuple of tuples of blocks.
    mode : {"auto", "compiled", "tape"}
        As in `grad`.

    Returns
    -------
    callable
        Takes the arguments of `f`. Returns, for an argument of shape ``n``, an array of shape ``n + n``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2sgrad import hessian
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return Jacobian(Derivative(f, "grad", argnums, False, mode), argnums, mode)
