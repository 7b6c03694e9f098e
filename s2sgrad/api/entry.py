"""How calls of one kind run, and the short way that a call takes which is of the kind of the last one."""

from collections.abc import Callable

from s2sgrad.api import trees
from s2sgrad.api.results import explain_failure
from s2sgrad.runtime.fallback import running
from s2sgrad.transform.frontend.guards import Guard, passing, together

_nobody_records = Guard("not {running}", {"running": running})


class Entry:
    """How calls of one kind run.

    Attributes
    ----------
    run : callable
        Takes the arguments of the call.
    prepare : callable or None
        Applied to ``args, kwargs`` first; with these it gives what is handed back to the caller after the call.
    engine : {"compiled", "tape"}
    holds : callable
        Whether everything that was assumed of the world is still so.
    call : callable or None
        Takes the arguments of any call: it runs those of this kind, and hands others on.
    outcome : compilation.Compiled or compilation.Taped
    """

    __slots__ = ("run", "prepare", "engine", "holds", "call", "outcome")

    def __init__(self, outcome, prepare):
        self.run = outcome.run
        self.prepare = prepare
        self.engine = outcome.engine
        self.holds = together(outcome.guards)
        self.call = None
        self.outcome = outcome

    def expect(self, args: tuple, name: str, otherwise: Callable) -> None:
        """Make `call`, for calls that pass arguments like these by position; others go to `otherwise`."""
        alike = trees.likeness(args, "args")
        if alike is not None and self.prepare is None:
            guards = [Guard(*alike), _nobody_records, *self.outcome.guards]
            self.call = passing(self.run, guards, [f"args_{i}" for i in range(len(args))], otherwise, _explain(name))


def _explain(name: str) -> Callable:
    return lambda error: explain_failure(error, name)
