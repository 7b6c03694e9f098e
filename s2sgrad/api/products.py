"""`vjp`: the value of a function, and the pullback of cotangents."""

import functools
import inspect

import numpy as np

from s2sgrad.api.derivative import Transform
from s2sgrad.api.results import require_aux, require_parts
from s2sgrad.errors import ArgumentError
from s2sgrad.runtime.arguments import plain
from s2sgrad.runtime.trees import flatten


def value_and_pullback(f, args: tuple, has_aux: bool):
    """What `vjp` returns."""
    if not callable(f):
        raise TypeError(f"vjp takes a function, not {f!r}")
    count, skip = len(args), 0
    if inspect.ismethod(f):
        f, args, skip = f.__func__, (f.__self__, *args), 1
    if not count:
        raise ArgumentError("vjp needs arguments to differentiate: vjp(f, x, ...)")
    try:
        transform = _transform(f, count, has_aux, skip)
    except TypeError:  # f cannot be hashed
        transform = _transform.__wrapped__(f, count, has_aux, skip)
    out, pull = transform.answer(args, {})
    value, aux = require_aux(out, transform.name) if has_aux else (out, None)
    beside = len(flatten(aux)[0]) if has_aux else 0
    expected = [(np.shape(plain(part)), part is None) for part in require_parts(value, transform.name)]
    del out

    def pullback(cotangent):
        """The cotangents of the arguments, from that of the result."""
        parts = _matching(cotangent, expected, transform.name)
        return pull(parts + [None] * beside)

    if has_aux:
        return value, pullback, aux
    return value, pullback


@functools.lru_cache(maxsize=256)
def _transform(f, count: int, has_aux: bool, skip: int) -> Transform:
    return Transform(f, "vjp", tuple(range(count)), has_aux, "auto", skip)


def _matching(cotangent, expected, name: str) -> list:
    """The leaves of a cotangent, which must have the structure and the shapes of the result."""
    parts = flatten(cotangent)[0]
    if len(parts) != len(expected):
        raise ArgumentError(
            f"the cotangent must have the structure of what {name} returned: "
            f"{len(expected)} numbers or arrays, not {len(parts)}"
        )
    for part, (shape, empty) in zip(parts, expected, strict=True):
        if not empty and part is not None and np.shape(plain(part)) != shape:
            raise ArgumentError(
                f"the cotangent must have the shape of what {name} returned: {shape}, not {np.shape(plain(part))}"
            )
    return parts
