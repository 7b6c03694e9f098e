"""What compiled code assumes of the names outside of it, and one predicate that asks whether it still holds.

A guard is an expression over a few objects (``names["np"] is value``). Those of a derivative are joined
into one function, since they are asked before every call.
"""

import builtins
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, SimpleNamespace


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
        What is assumed not to change, for people.
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


def together(guards) -> Callable[[], bool]:
    """One predicate for all guards. What raises (a name is gone, a cell is empty) does not hold.

    Examples
    --------
    >>> names = {"k": 2.0}
    >>> guard = Guard("type({names}['k']) is float", {"names": names}, "k (a float)")
    >>> holds = together([guard])
    >>> holds()
    True
    >>> del names["k"]
    >>> holds()
    False
    """
    if not guards:
        return always
    condition, objects, names = _joined(guards)
    text = f"""
    def holds():
        try:
            return {condition}
        except {{rare}}.Exception:
            return False
    return holds
"""
    return _made(text, objects, names)


def passing(run: Callable, guards, parameters: list[str], otherwise: Callable, explain: Callable) -> Callable:
    """A function that passes its arguments to `run` where all guards hold.

    Parameters
    ----------
    run : callable
    guards : sequence of Guard
        They may be about the parameters.
    parameters : list of str
        What it takes by position. Calls that pass less, or more, go elsewhere.
    otherwise : callable
        Takes all other calls.
    explain : callable
        Takes what `run` raises, before it is raised.

    Examples
    --------
    >>> is_number = Guard("type(x) is {float}", {"float": float})
    >>> double = passing(lambda x: 2 * x, [is_number], ["x"], lambda *args, **named: (args, named), print)
    >>> double(1.5), double("text"), double(1.5, y=2)
    (3.0, (('text',), {}), ((1.5,), {'y': 2}))
    """
    condition, objects, names = _joined(guards)
    objects |= {"run": run, "missing": MISSING}
    rare = {"otherwise": otherwise, "explain": explain, "given": _given}
    given = ", ".join(parameters)
    text = f"""
    def call({"".join(f"{p}={{missing}}, " for p in parameters)}{"/, " if parameters else ""}*rest, **named):
        try:
            fits = not (rest or named) and {condition}
        except {{rare}}.Exception:
            fits = False
        if fits:
            try:
                return {{run}}({given})
            except {{rare}}.Exception as error:
                {{rare}}.explain(error)
                raise
        return {{rare}}.otherwise(*{{rare}}.given({given}), *rest, **named)
    return call
"""
    return _made(text, objects, names, **rare)


MISSING = object()  # in place of an argument that is not passed


def _given(*args) -> tuple:
    return tuple([a for a in args if a is not MISSING])


def _joined(guards) -> tuple[str, dict, dict]:
    """The tests of all guards as one, the objects that its fields stand for, and the names that most are about.

    Those names are written as they are, for a function among whose globals they are: the fastest way to ask.
    """
    spaces = {id(g.objects["names"]): g.objects["names"] for g in guards if type(g.objects.get("names")) is dict}
    counts = Counter(id(g.objects.get("names")) for g in guards)
    common = max(spaces, key=counts.get, default=None)
    objects: dict = {}
    tests = []
    for number, guard in enumerate(guards):
        test = guard.test
        if id(guard.objects.get("names")) == common:
            test = _BY_NAME.sub(r"\1", test)
        for name in guard.objects:
            test = test.replace(f"{{{name}}}", f"{{{name}{number}}}")
        tests.append(test)
        objects.update({f"{name}{number}": value for name, value in guard.objects.items()})
    return " and ".join(tests), objects, spaces.get(common, {})


_BY_NAME = re.compile(r"\{names\}\['([a-zA-Z]\w*)'\]")


def _made(text: str, objects: dict, names: dict, **rare) -> Callable:
    """What a text makes whose fields are `objects`, among the globals `names`; `rare` is what it seldom needs."""
    objects["rare"] = SimpleNamespace(Exception=Exception, **rare)
    objects |= {name: getattr(builtins, name) for name in _BUILTINS.findall(text)}
    text = _BUILTINS.sub(r"{\1}(", text)
    fields = {name: f"_s2sgrad_{name}" for name in objects}
    found: dict = {}
    exec(f"def make({', '.join(fields.values())}):{text.format(**fields)}", found)
    return FunctionType(found["make"].__code__, names)(*objects.values())


_BUILTINS = re.compile(r"\b(type|len|list|set|map)\(")
