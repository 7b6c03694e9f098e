"""The forms of the eager tape: under the names of their operations, and with what only this tape asks."""

import copy
import functools

from s2sgrad.runtime.eager.tensor import DEAD_END
from s2sgrad.runtime.node import COUNTER
from s2sgrad.runtime.results import PICK
from s2sgrad.runtime.views import ITEM, WRITE


class Naming:
    """What a form of the eager tape knows besides how to pull back.

    Attributes
    ----------
    places : tuple
        The argument that each edge belongs to.
    arity : int
        How many arguments could have a derivative.
    light : bool
        Nothing is saved but shapes and numbers: the node survives a pass that releases.
    reads : tuple
        The paths of the arrays among the saved values, in the order in which they are packed.
    """

    __slots__ = ("places", "arity", "light", "reads")

    def __init__(self, places, arity, light, reads):
        self.places = places
        self.arity = arity
        self.light = light
        self.reads = reads


NAMING = {}  # Form -> Naming


def describe(form, naming):
    """Enter what the eager tape knows of a form."""
    NAMING[form] = naming
    form.light = naming.light
    return form


describe(PICK, Naming((0,), 1, True, ()))
describe(ITEM, Naming((0,), 1, True, ()))
describe(WRITE, Naming((0, 1), 2, True, ()))
describe(DEAD_END.form, Naming((), 0, True, ()))


def renamed(form, name, naming):
    """`form` under another name."""
    twin = copy.copy(form)
    twin.name = name or form.name
    return describe(twin, naming)


_renamed = {}  # (form, name) -> the form under the name


def rename(node, name):
    """Let a fresh node bear the name of an operation."""
    key = node.form, name
    if key not in _renamed:
        _renamed[key] = renamed(*key, NAMING.get(node.form) or Naming(tuple(range(9)), 1, False, None))
    node.form = _renamed[key]


def under(title):
    """Let the last node of a composition bear the name of the operation; of several results, the last of each."""

    def decorate(function):
        @functools.wraps(function)
        def forward(*args, **kwargs):
            before = next(COUNTER)
            out = function(*args, **kwargs)
            for result in out if isinstance(out, tuple) else (out,):
                node = result._node
                if node is not None and node.number > before:
                    rename(node, title)
            return out

        return forward

    return decorate
