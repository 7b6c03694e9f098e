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


@dataclass(frozen=True)
class Kernel:
    """A loop as textbooks write it, at a size at which its gradient can be timed.

    Attributes
    ----------
    function : callable
    args : tuple
    argnums : int or tuple of int
    group : {"slices", "loops"}
        Whether a step works on slices of arrays or on single numbers.
    """

    function: Callable
    args: tuple
    argnums: object
    group: str


KERNELS: list[Kernel] = []


def kernel(group, *, small, large, argnums=0, smooth=True):
    """Register the decorated function as a compiled program at the point `small`, and to be timed at `large`."""

    def register(function):
        KERNELS.append(Kernel(function, large, argnums, group))
        return program(*small, engine="compiled", argnums=argnums, smooth=smooth and argnums == 0)(function)

    return register
