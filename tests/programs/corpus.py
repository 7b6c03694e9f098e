"""What a program of the corpus is, and how a module registers one."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    """A function, a point, and what is expected of it there.

    Attributes
    ----------
    function : callable
        Written as users write, in a source file.
    args, kwargs : tuple, dict
        The point; copied for every use.
    engine : {"compiled", "tape", None}
        Which engine runs it in ``mode="auto"``; None where either may run it, or refuse it with an error.
    argnums : int, str or tuple of them
    taped : bool
        Some of its calls run on the tape; where all has to be compiled, it is refused.
    smooth : bool
        Twice differentiable at the point: second order is checked too.
    expect : gradient or None
        Given where finite differences do not know the answer: ties, singular points, conventions.
    """

    function: Callable
    args: tuple
    engine: str | None
    kwargs: dict = field(default_factory=dict)
    argnums: object = 0
    smooth: bool = False
    expect: object = None
    name: str = ""
    taped: bool = False


PROGRAMS: list[Program] = []


def program(*args, engine, kwargs=None, argnums=0, smooth=False, expect=None, name=None, taped=False):
    """Register the decorated function, which stays what it is, at the point `args`."""

    def register(function):
        label = f"{function.__module__.rsplit('.', 1)[-1]}-{name or function.__name__}"
        assert all(p.name != label for p in PROGRAMS), f"two programs are called {label}"
        PROGRAMS.append(Program(function, args, engine, kwargs or {}, argnums, smooth, expect, label, taped))
        return function

    return register
