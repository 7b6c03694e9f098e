"""Every exception class of s2sgrad, and what each one tells the user.

The ground floor of the house: nothing here imports anything else of the package. A message says
what happened, where (file, line and the source line itself, when there is one) and what to do.
"""

from dataclasses import dataclass, field

LONGEST = 100  # of a line that is shown


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source: where an error, a reason or a derivative line comes from.

    `text` is the line as it stands in the file; `column` says where in it, in bytes, as syntax trees do. Where the
    line is an installed package's, `caller` is the place outside of it that calls it.
    """

    file: str
    line: int
    text: str = ""
    function: str = ""
    column: int = field(default=0, compare=False)
    caller: "Location | None" = field(default=None, compare=False)

    @property
    def excerpt(self) -> str:
        """The line, or the part of a long one that matters.

        Examples
        --------
        >>> Location("model.py", 3, "    return " + "x + " * 30 + "str(x)", column=131).excerpt
        '... + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + str(x)'
        """
        text = self.text.strip()
        if len(text) <= LONGEST:
            return text
        margin = len(self.text) - len(self.text.lstrip())
        column = len(self.text.encode()[: self.column].decode(errors="ignore")) - margin
        shown = LONGEST - 8  # with dots at both ends
        start = max(0, min(column - shown // 3, len(text) - shown))
        while 0 < start < column and text[start - 1] != " ":
            start += 1
        cut = text[start : start + shown]
        return "... " * (start > 0) + cut.strip() + " ..." * (start + shown < len(text))

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        if self.function:
            where += f", in {self.function}"
        if self.excerpt:
            where += f"\n    {self.excerpt}"
        return f"{where}\n  called at {self.caller}" if self.caller else where


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
    file, source_line, function : str or None
        The parts of `location`: the path, the line itself, and the name of the function that it is in.
    line : int or None
        The number of the line.

    Examples
    --------
    >>> error = CompileError("`yield` is not compiled", Location("model.py", 3, "    yield x", "rows"))
    >>> print(error)
    `yield` is not compiled
      at model.py:3, in rows
        yield x
    >>> error.line, error.function
    (3, 'rows')
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


class Refusal(S2SGradError, TypeError):
    """The derivative of what a program does is not known.

    The plain program goes on there. A handler in it that catches the refusal would take it another way, so that the
    tape has each one noted, and raises it again at the end.
    """

    note = None

    def __init__(self, *args):
        super().__init__(*args)
        if self.note is not None:
            self.note()


class MissingRuleError(Refusal):
    """A derivative has to flow through a callable that has no rule."""


class TapeError(Refusal):
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
