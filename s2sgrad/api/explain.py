"""What `explain` shows: which functions a derivative reached, how each one runs, and why."""

import io
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2sgrad.transform import ir, walk

if TYPE_CHECKING:  # rich is slow to import, and few programs ask for explanations
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Row:
    """One function that the derivative reached.

    Attributes
    ----------
    function : str
    engine : {"compiled", "tape"}
    reason : str
        Why it runs on the tape; "" where it is compiled without remark.
    where : str
        ``file:line`` of the function, or of what keeps it from being compiled.
    line : str
        The source line that keeps it from being compiled, cut where it is long.
    loops : tuple of (int, int)
        For each loop its line, and how many values each iteration saves for the backward pass.
    """

    function: str
    engine: str
    reason: str = ""
    where: str = ""
    line: str = ""
    loops: tuple = ()

    def remarks(self) -> list[str]:
        """What is to be said of it."""
        said = self.reason.splitlines()
        if self.line:
            said.append(f"> {self.line}")
        for line, count in self.loops:
            what = "nothing" if not count else "1 value" if count == 1 else f"{count} values"
            said.append(f"the loop in line {line} saves {what} per iteration")
        return said


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer of ``explain()``: print it, or read `rows`.

    Attributes
    ----------
    title : str
    rows : tuple of Row
    guards : tuple of str
        What the compiled code assumes to stay as it was outside of the functions: what names stand for, and what kind
        of value that is.
    """

    title: str
    rows: tuple[Row, ...]
    guards: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        lines = [self.title]
        for row in self.rows:
            lines.append(f"  {row.function}  {row.engine}  {row.where}".rstrip())
            lines += [f"      {text}" for text in row.remarks()]
        if self.guards:
            lines += textwrap.wrap(self._assumed(), 120, initial_indent="  ", subsequent_indent="      ")
        return "\n".join(lines)

    __repr__ = __str__

    def _assumed(self) -> str:
        return f"compiled again when one of these is not what it was: {', '.join(self.guards)}"

    def __rich__(self) -> "Table":
        from rich.table import Table

        table = Table(title=self.title, title_justify="left", title_style="bold", caption_justify="left")
        if self.guards:
            table.caption = _plain(self._assumed())
        for name in ("function", "engine", "where", "why"):
            table.add_column(name, overflow="fold")
        for row in self.rows:
            style = "green" if row.engine == "compiled" else "yellow"
            why = "\n".join(row.remarks())
            table.add_row(_plain(row.function), f"[{style}]{row.engine}[/]", _plain(row.where), _plain(why))
        return table

    def _repr_html_(self) -> str:
        from rich.console import Console

        console = Console(file=io.StringIO(), record=True, width=120)
        console.print(self)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def explained_loops(functions) -> dict:
    """For each function of the user's, by file and name, the lines of its loops and how many values each saves."""
    found: dict = {}
    for function in functions:
        forward = ir.Block(function.body.statements[: function.backward_at])
        for s in walk.statements(forward):
            if isinstance(s, ir.For) and s.location is not None:
                made = {m.target: len(m.items) for m in s.body.statements if isinstance(m, ir.Make)}
                saved = zip(s.collected, s.body.results[len(s.carried) :], strict=True)
                count = sum(made.get(operand, 1) for value, operand in saved if value.name == "saved")
                found.setdefault((s.location.file, s.location.function), {}).setdefault(s.location.line, count)
    return {key: tuple(sorted(loops.items())) for key, loops in found.items()}


def _plain(text: str) -> str:
    """Brackets in source lines are no markup."""
    return text.replace("[", r"\[")
