"""What comes of emission: functions, and the text that they stand in."""

from dataclasses import dataclass, field

from s2sgrad.transform import ir


@dataclass(slots=True)
class Unit:
    """One emitted function.

    Attributes
    ----------
    name : str
        In the source.
    function : ir.Function
    line : int
        Where its ``def`` stands in the source, from 1.
    bound : dict
        Name -> object that the code needs beside what the user's namespace has: helpers, modules.
    siblings : set of str
        Names of the emitted functions that it calls.
    outside : set of str
        Names that are looked up in the user's closure, globals and builtins.
    """

    name: str
    function: ir.Function
    line: int = 1
    bound: dict = field(default_factory=dict)
    siblings: set = field(default_factory=set)
    outside: set = field(default_factory=set)


@dataclass(slots=True)
class Emitted:
    """Source text, and what each function in it needs in order to run. The first unit is the one to call.

    `lines` has the place in the user's source (a `Location`) of the lines that come from one, by their numbers.
    """

    source: str
    units: list
    lines: dict = field(default_factory=dict)
