"""What a derivative object says of itself, so that the compiler can differentiate it again."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spec:
    """A derivative object carries one as its attribute ``__s2sgrad__``.

    Attributes
    ----------
    kind : {"grad", "value_and_grad", "elementwise_grad"}
    function : callable
        The primal.
    argnums : int, str or tuple of them
    has_aux : bool
    """

    kind: str
    function: Callable
    argnums: object = 0
    has_aux: bool = False
