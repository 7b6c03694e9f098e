"""What compiled code assumes of the names outside of it, and one predicate that asks whether it still holds.

A guard is an expression over a few objects (``names["np"] is value``). Those of a derivative are joined
into one function, since they are asked before every call.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """Something that compiled code assumes.

    Attributes
    ----------
    test : str
        An expression that is true while it holds, its objects written as fields: ``{names}['np'] is {value}``.
    objects : dict
        The objects that the fields stand for.
    text : str
        What is assumed, for people.
    """

    test: str
    objects: dict = field(default_factory=dict)
    text: str = ""

    def check(self) -> bool:
        """Is it still so?"""
        return together([self])()


def always() -> bool:
    """Nothing is assumed."""
    return True


def together(guards, takes: str = "") -> Callable[..., bool]:
    """One predicate for all guards. What raises (a name is gone, a cell is empty) does not hold.

    Parameters
    ----------
    guards : iterable of Guard
    takes : str
        The parameter of the predicate, where the guards are about one.

    Examples
    --------
    >>> names = {"k": 2.0}
    >>> guard = Guard("type({names}['k']) is float", {"names": names}, "k is a float")
    >>> holds = together([guard])
    >>> holds()
    True
    >>> del names["k"]
    >>> holds()
    False
    """
    if not guards:
        return always
    objects: dict = {}
    tests = []
    for number, guard in enumerate(guards):
        fields = {name: f"{name}{number}" for name in guard.objects}
        objects.update({fields[name]: value for name, value in guard.objects.items()})
        tests.append(guard.test.format(**fields))
    condition = " and ".join(tests)
    # defaults are locals: the fastest names
    parameters = ", ".join([*([takes] if takes else []), *(f"{name}={name}" for name in objects)])
    asks = f"try:\n        return {condition}\n    except Exception:\n        return False\n"
    exec(f"def holds({parameters}):\n    {asks}", objects)
    return objects["holds"]
