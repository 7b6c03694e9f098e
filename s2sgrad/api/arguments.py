"""Which arguments are differentiated: `argnums` made out against a signature and an actual call."""

import inspect
from dataclasses import dataclass
from numbers import Integral

from s2sgrad.errors import ArgumentError

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ANYTHING = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]
)


@dataclass(frozen=True, slots=True)
class Target:
    """One differentiated argument.

    Attributes
    ----------
    parameter : str
        The parameter that holds it.
    index : int
        The place of that parameter in the signature.
    item : int, str or None
        Where the parameter is ``*args`` or ``**kwargs``: which element of it; None for the whole.
    """

    parameter: str
    index: int
    item: int | str | None = None

    @property
    def wrt(self):
        """As the reverse pass names it."""
        return self.index if self.item is None else (self.index, self.item)

    def __str__(self) -> str:
        if self.item is None:
            return self.parameter
        return self.item if isinstance(self.item, str) else f"{self.parameter}[{self.item}]"

    def get(self, arguments: dict):
        """Its value in the arguments of a bound call."""
        value = arguments[self.parameter]
        return value if self.item is None else value[self.item]

    def put(self, arguments: dict, value) -> None:
        """Replace its value in the arguments of a bound call."""
        if self.item is None:
            arguments[self.parameter] = value
        elif isinstance(self.item, str):
            arguments[self.parameter] = {**arguments[self.parameter], self.item: value}
        else:
            items = arguments[self.parameter]
            arguments[self.parameter] = (*items[: self.item], value, *items[self.item + 1 :])


def signature_of(function, follow_wrapped: bool = True) -> inspect.Signature:
    """The signature of `function`; ``(*args, **kwargs)`` for built-ins that have none."""
    try:
        return inspect.signature(function, follow_wrapped=follow_wrapped)
    except (TypeError, ValueError):
        return _ANYTHING


def places(target: Target, bound: inspect.BoundArguments) -> list:
    """Where an argument stands in ``bound.args`` (a position) or ``bound.kwargs`` (a name).

    The whole of ``*args`` or ``**kwargs`` stands in several places.
    """
    parameter = list(bound.signature.parameters.values())[target.index]
    if parameter.kind is parameter.VAR_POSITIONAL:
        items = range(len(bound.arguments[target.parameter])) if target.item is None else (target.item,)
        return [target.index + i for i in items]
    if parameter.kind is parameter.VAR_KEYWORD:
        return list(bound.arguments[target.parameter]) if target.item is None else [target.item]
    return [target.parameter if target.parameter in bound.kwargs else target.index]


def assembled(target: Target, bound: inspect.BoundArguments, parts):
    """The gradient of an argument from an iterator over those of its places."""
    kind = bound.signature.parameters[target.parameter].kind
    if target.item is None and kind is inspect.Parameter.VAR_POSITIONAL:
        return tuple([next(parts) for _ in bound.arguments[target.parameter]])
    if target.item is None and kind is inspect.Parameter.VAR_KEYWORD:
        return {name: next(parts) for name in bound.arguments[target.parameter]}
    return next(parts)


def at_place(place, bound: inspect.BoundArguments) -> Target:
    """The target that stands in a place of ``bound.args`` or ``bound.kwargs``."""
    for i, parameter in enumerate(bound.signature.parameters.values()):
        name = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL and isinstance(place, int) and place >= i:
            return Target(name, i, place - i)
        if parameter.kind is parameter.VAR_KEYWORD and place in bound.arguments.get(name, ()):
            return Target(name, i, place)
        if place in (i, name):
            return Target(name, i)
    raise LookupError(place)


def name_of(function) -> str:
    """What people call `function`.

    Examples
    --------
    >>> name_of(len)
    'len'
    """
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def is_single(argnums) -> bool:
    return isinstance(argnums, (Integral, str)) and not isinstance(argnums, bool)


def several(argnums) -> tuple:
    """`argnums` as a tuple, whether it is one or many."""
    return (argnums,) if is_single(argnums) else argnums


def targets(argnums, function, signature, bound: inspect.BoundArguments | None = None, skip: int = 0) -> tuple:
    """The targets that `argnums` names.

    Parameters
    ----------
    argnums : int, str, or tuple or list of them
    function : callable
        For its name in messages.
    signature : inspect.Signature
    bound : inspect.BoundArguments or None
        The actual call. Without one, what only a call can tell (elements of ``*args`` and ``**kwargs``)
        is left out and everything else checked.
    skip : int
        Positions count from here: 1 in a method.

    Raises
    ------
    ArgumentError
        Where there is no such argument.
    """
    chosen = several(argnums)
    if not isinstance(chosen, (tuple, list)) or not all(map(is_single, chosen)):
        raise ArgumentError(f"argnums must be a position, a name, or a tuple of them, not {argnums!r}")
    if not chosen:
        raise ArgumentError("argnums names no argument to differentiate")
    name = name_of(function)
    found = []
    for which in chosen:
        one = _named if isinstance(which, str) else _numbered
        target = one(which, name, list(signature.parameters.values()), bound, skip)
        if target is not None:
            if target in found:
                raise ArgumentError(f"argnums={argnums!r} names argument {str(target)!r} of {name} twice")
            found.append(target)
    return tuple(found)


def _listed(parameters) -> str:
    return ", ".join(str(p) if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) else p.name for p in parameters) or "none"


def _numbered(which, name, parameters, bound, skip) -> Target | None:
    positional = [i for i, p in enumerate(parameters) if p.kind in _POSITIONAL]
    rest = next((i for i, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL), None)
    if rest is not None and bound is None and not -1 < which + skip < len(positional):
        return None
    passed = 0 if rest is None or bound is None else len(bound.arguments.get(parameters[rest].name, ()))
    total = len(positional) + passed
    place = int(which) + (skip if which >= 0 else total)
    if skip <= place < len(positional):
        return Target(parameters[positional[place]].name, positional[place])
    if len(positional) <= place < total:
        return Target(parameters[rest].name, rest, place - len(positional))
    if rest is not None:
        raise ArgumentError(
            f"argnums={which} is out of range: {name} was called with {total - skip} positional arguments"
        )
    hint = " (name keyword-only arguments by their name)" if any(p.kind is p.KEYWORD_ONLY for p in parameters) else ""
    count = len(positional) - skip
    after = f" after {parameters[0].name} (in a method argnums=0 is the first of those)" if skip else ""
    raise ArgumentError(
        f"argnums={which} is out of range: {name} takes {count} positional argument{'s' * (count != 1)}{after}; "
        f"{'they' if skip else 'its parameters'} are {_listed(parameters[skip:])}{hint}"
    )


def _named(which, name, parameters, bound, skip) -> Target | None:
    for i, p in enumerate(parameters):
        if p.name == which:
            return Target(which, i)
    rest = next((i for i, p in enumerate(parameters) if p.kind is p.VAR_KEYWORD), None)
    if rest is None:
        raise ArgumentError(
            f"argnums={which!r}: {name} has no parameter of that name; its parameters are {_listed(parameters)}"
        )
    if bound is None:
        return None
    passed = bound.arguments.get(parameters[rest].name, {})
    if which not in passed:
        known = ", ".join([*(p.name for p in parameters if p.kind is not p.VAR_KEYWORD), *passed]) or "none"
        raise ArgumentError(f"argnums={which!r}: this call of {name} passes no argument of that name; it has {known}")
    return Target(parameters[rest].name, rest, which)
