"""What `explain` shows: which functions a derivative reached, how each one runs, and why."""

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
        The source line that keeps it from being compiled.
    """

    function: str
    engine: str
    reason: str = ""
    where: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer of ``explain()``: print it, or read `rows`.

    Attributes
    ----------
    title : str
    rows : tuple of Row
    guards : tuple of str
        What the compiled code assumes of names outside of the functions.
    """

    title: str
    rows: tuple[Row, ...]
    guards: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        lines = [self.title]
        for row in self.rows:
            lines.append(f"  {row.function}  {row.engine}  {row.where}".rstrip())
            lines += [f"      {text}" for text in row.reason.splitlines()]
            if row.line:
                lines.append(f"      > {row.line.strip()}")
        if self.guards:
            lines.append(f"  compiled again when this changes: {'; '.join(self.guards)}")
        return "\n".join(lines)

    __repr__ = __str__

    def __rich__(self) -> "Table":
        from rich.table import Table

        table = Table(title=self.title, title_justify="left", title_style="bold", caption_justify="left")
        if self.guards:
            table.caption = f"compiled again when this changes: {'; '.join(self.guards)}"
        for name in ("function", "engine", "where", "why"):
            table.add_column(name, overflow="fold")
        for row in self.rows:
            style = "green" if row.engine == "compiled" else "yellow"
            why = f"{row.reason}\n> {row.line.strip()}" if row.line else row.reason
            table.add_row(_plain(row.function), f"[{style}]{row.engine}[/]", _plain(row.where), _plain(why))
        return table

    def _repr_html_(self) -> str:
        from rich.console import Console

        console = Console(file=io.StringIO(), record=True, width=120)
        console.print(self)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def _plain(text: str) -> str:
    """Brackets in source lines are no markup."""
    return text.replace("[", r"\[")
