"""Every exception class of s2sgrad, and what each one tells the user.

The ground floor of the house: nothing here imports anything else of the package. A message says
what happened, where (file, line and the source line itself, when there is one) and what to do.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source: where an error, a reason or a derivative line comes from."""

    file: str
    line: int
    text: str = ""
    function: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        if self.function:
            where += f", in {self.function}"
        return f"{where}\n    {self.text.strip()}" if self.text.strip() else where


class S2SGradError(Exception):
    """Base class of all errors that s2sgrad raises on its own account."""


class CompileError(S2SGradError):
    """The compiler refuses a function: it would not be sure of the derivative.

    In ``mode="auto"`` nobody sees it (the tape runs instead, and ``explain()`` shows the reason); in
    ``mode="compiled"`` it is raised.

    Attributes
    ----------
    reason : str
        What is not understood, and what to write instead where there is something.
    location : Location or None
        Where it stands in the user's source.
    """

    def __init__(self, reason: str, location: Location | None = None):
        self.reason = reason
        self.location = location
        super().__init__(reason if location is None else f"{reason}\n  at {location}")

    @property
    def file(self) -> str | None:
        return self.location and self.location.file

    @property
    def line(self) -> int | None:
        return self.location and self.location.line

    @property
    def source_line(self) -> str | None:
        return self.location and self.location.text

    @property
    def function(self) -> str | None:
        return self.location and self.location.function

    def __reduce__(self):
        return type(self), (self.reason, self.location)


class MissingRuleError(S2SGradError, TypeError):
    """A derivative has to flow through a callable that has no rule."""


class TapeError(S2SGradError, TypeError):
    """The tape cannot follow what the program does with a recorded value."""


class NonScalarError(S2SGradError, TypeError):
    """`grad` was asked of a function whose result is not a scalar."""


class ArgumentError(S2SGradError, TypeError):
    """An argument cannot be differentiated, or `argnums` names one that does not exist."""


class GradientCheckError(S2SGradError, AssertionError):
    """`check` found a derivative that disagrees with finite differences."""


class GradcheckError(S2SGradError, RuntimeError):
    """`gradcheck` found that a function of tensors and its backward disagree."""


class OnceDifferentiableError(S2SGradError, RuntimeError):
    """The derivative was asked of a backward that is marked `once_differentiable`."""


class ExportError(S2SGradError):
    """A gradient uses something that cannot be written into a file of its own."""
