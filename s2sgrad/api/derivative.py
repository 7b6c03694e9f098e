"""The object that `grad` and its siblings return: one call's way from function to answer.

A call is looked up by the kinds of its arguments (`trees.kinds`). The first call of a kind compiles the
derivative for it, or, where the compiler refuses, settles on the tape; later ones run what was found.
Nothing of the user's has run when the compiler refuses, so that nothing runs twice.
"""

import functools
import inspect
import sys
import threading
import warnings
import weakref

from s2sgrad.api import compilation, trees
from s2sgrad.api.arguments import is_single, name_of, several, signature_of, targets
from s2sgrad.api.check import Agreement, check
from s2sgrad.api.entry import Entry
from s2sgrad.api.explain import Explanation, Row
from s2sgrad.api.results import explain_failure, explain_promotion
from s2sgrad.api.trees import kinds
from s2sgrad.errors import CompileError
from s2sgrad.runtime.allocator import keep_freed_memory
from s2sgrad.runtime.arrays import is_promotable
from s2sgrad.runtime.fallback import is_recording, running
from s2sgrad.transform.spec import Spec

MODES = ("auto", "compiled", "tape")
MOST = 256  # kinds of calls that are remembered
_compiling = threading.RLock()


class Transform:
    """What is to be differentiated, and all that was found out about it so far.

    Attributes
    ----------
    function : callable
        The primal.
    kind : {"grad", "value_and_grad", "elementwise_grad", "vjp"}
    argnums : int, str or sequence of them
    has_aux : bool
    mode : {"auto", "compiled", "tape"}
    signature : inspect.Signature
        What `argnums` is understood by: for a wrapper (``functools.wraps``) that of what it wraps.
    own : inspect.Signature
        That of the function itself: for a wrapper mostly ``(*args, **kwargs)``.
    wraps : bool
        Whether those two differ.
    skip : int
        1 where the first parameter is the object that a method is bound to.
    entries : dict
        The kinds of a call -> how it runs.
    last : Entry or None
        How the last call ran.
    face : weakref or None
        To the `Derivative` that is called with all arguments of the function: it takes the short way of `last`.
    """

    def __init__(self, function, kind, argnums, has_aux, mode, skip=0):
        self.function = function
        self.kind = kind
        self.argnums = argnums
        self.has_aux = has_aux
        self.mode = mode
        self.skip = skip
        self.name = name_of(function)
        self.look()
        self.entries: dict = {}
        self.last: Entry | None = None
        self.face: weakref.ref | None = None
        self._method: Transform | None = None
        if skip == 0:
            targets(argnums, function, self.signature)

    def look(self) -> None:
        """See how the function is called at present."""
        self.signature = signature_of(self.function)
        self.own = signature_of(self.function, follow_wrapped=False)
        self.wraps = _form(self.own) != _form(self.signature)

    @property
    def as_method(self) -> "Transform":
        """The same, the first parameter being the object that the method belongs to."""
        if self.skip:
            return self
        if self._method is None:
            self._method = Transform(self.function, self.kind, self.argnums, self.has_aux, self.mode, skip=1)
        return self._method

    def answer(self, args, kwargs):
        """Answer a call: with what is known for its kinds, if everything is still as it was then."""
        key = kinds(args)
        if kwargs:
            names = sorted(kwargs)
            key = key, *names, kinds([kwargs[name] for name in names])
        entry = self.entries.get(key)
        if entry is None or not entry.holds() or (running and is_recording()):
            entry = self.entry(key, args, kwargs)
        self.last = entry
        face = self.face and self.face()
        if face is not None:
            face.__call__ = entry.call or functools.partial(_call, self, ())
        given, pairs = (args, kwargs), ()
        if entry.prepare is not None:
            args, kwargs, pairs = entry.prepare(args, kwargs)
        try:
            answer = entry.run(*args, **kwargs)
            if pairs:
                trees.require_alone(pairs, given, self.name)
            return answer
        except Exception as error:
            explain_failure(error, self.name)
            if pairs:
                explain_promotion(error, self.integers(*given), self.name)
            raise
        finally:
            if pairs:
                trees.hand_back(pairs)

    def entry(self, key, args, kwargs) -> "Entry":
        """Settle how calls of this kind run."""
        if is_recording():
            return self.settle(args, kwargs, recorded=True)
        with _compiling:
            entry = self.entries.get(key)
            if entry is None or not entry.holds():
                self.look()  # the function may have other defaults than before
                if len(self.entries) >= MOST:
                    self.entries.pop(next(iter(self.entries)))
                entry = self.entries[key] = self.settle(args, kwargs)
                if self.face is not None and not kwargs:
                    entry.expect(args, self.name, functools.partial(_call, self, ()))
        return entry

    def bind(self, args, kwargs) -> tuple[inspect.BoundArguments, tuple]:
        """The arguments by their names, and which of them are differentiated.

        What the call leaves to a default stays out, unless it is differentiated.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}() {error}") from None
        chosen = targets(self.argnums, self.function, self.signature, bound, self.skip)
        if any(target.parameter not in bound.arguments for target in chosen):
            bound.apply_defaults()
        return bound, chosen

    def takes_positions(self, chosen) -> bool:
        """Whether a call without keywords passes each of these arguments at its own position."""
        parameters = list(self.signature.parameters.values())
        return all(
            parameters[t.index].kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for t in chosen
        )

    def settle(self, args, kwargs, recorded=False) -> "Entry":
        """Find out how calls like this one run: on the tape where they are `recorded` in another function."""
        keep_freed_memory()
        bound, chosen = self.bind(args, kwargs)
        for target in chosen:
            trees.require_differentiable(target.get(bound.arguments), str(target), self.name)
        promoted = tuple(t for t in chosen if trees.needs_promotion(t.get(bound.arguments)))
        prepare = functools.partial(self.prepare, promoted) if promoted or self.wraps else None
        if recorded:
            reason = CompileError("it is called by a function that runs on the tape")
            return Entry(compilation.Taped(self, chosen, reason), prepare)
        for target in promoted:
            target.put(bound.arguments, trees.promote(target.get(bound.arguments)))
        return self.engine_for(bound, chosen, prepare)

    def prepare(self, promoted, args, kwargs):
        """The arguments as the function is to see them: integers that are differentiated become floats.

        To a wrapper they are passed in one way, however the call was written. With them comes what `trees.hand_back`
        needs: what the function does to containers that were made anew, it does to the caller's.
        """
        bound, _ = self.bind(args, kwargs)
        pairs = []
        for target in promoted:
            given = target.get(bound.arguments)
            seen = trees.promote(given)
            target.put(bound.arguments, seen)
            pairs += trees.promoted_pairs(given, seen)
        return bound.args, bound.kwargs, pairs

    def integers(self, args, kwargs) -> list[str]:
        """The names of the differentiated arguments that are integers, or hold some."""
        bound, chosen = self.bind(args, kwargs)
        return [str(t) for t in chosen if any(is_promotable(leaf) for leaf in trees.leaves(t.get(bound.arguments)))]

    def guarded(self, outcome, chosen):
        """A compiled derivative; where it depends on how arguments lie in memory, others go to the tape."""
        if outcome.fits:
            compiled, taped = outcome.run, None

            def run(*args, **kwargs):
                nonlocal taped
                if all([fits((args, kwargs)) for fits in outcome.fits]):
                    return compiled(*args, **kwargs)
                if taped is None:
                    taped = compilation.Taped(self, chosen, CompileError("arguments share memory, or are in pieces"))
                return taped.run(*args, **kwargs)

            outcome.run = run
        return outcome

    def engine_for(self, bound, chosen, prepare) -> "Entry":
        """Compiled if that can be, else the tape, which remembers why."""
        reason = None
        if self.mode == "tape":
            reason = CompileError('mode="tape" was asked for')
        else:
            try:
                return Entry(self.guarded(compilation.compile(self, bound, chosen), chosen), prepare)
            except CompileError as error:
                if self.mode == "compiled":
                    raise
                reason = error
            except Exception as error:
                if self.mode == "compiled":
                    raise
                reason = CompileError(f"internal error of the compiler: {type(error).__name__}: {error}")
                reason.__cause__ = error
                warnings.warn(
                    f"s2sgrad could not compile {self.name} because of a mistake of its own, and runs it on the tape "
                    f"(the gradient is right, only slower). Please report it: {type(error).__name__}: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return Entry(compilation.Taped(self, chosen, reason), prepare)

    def assumed(self, owner: tuple) -> "Entry":
        """The entry for arguments that nobody has given yet: real arrays where there is no default."""
        key = "assumed", kinds(owner)
        entry = self.entries.get(key)
        if entry is None or not entry.holds():
            arguments = compilation.assumed_arguments(self, owner)
            bound = inspect.BoundArguments(self.signature, arguments)
            chosen = targets(self.argnums, self.function, self.signature, bound, self.skip)
            for target in chosen:
                target.put(arguments, compilation.assumed_leaf(target.get(arguments)))
            with _compiling:
                entry = self.entries[key] = self.engine_for(bound, chosen, None)
                entry.outcome.assumed = True
        return entry

    def present(self, owner: tuple) -> "Entry":
        """The entry that speaks for this derivative: that of the last call."""
        return self.last or self.assumed(owner)


def _form(signature) -> list:
    return [(parameter.name, parameter.kind) for parameter in signature.parameters.values()]


_TITLES = {
    "grad": "The gradient of `{}` (by s2sgrad).",
    "value_and_grad": "The value and the gradient of `{}` (by s2sgrad).",
    "elementwise_grad": "The elementwise derivative of `{}` (by s2sgrad).",
}


class Derivative:
    """A function's derivative: call it with the arguments of the function.

    Made by `grad`, `value_and_grad` and `elementwise_grad`. It has the name and the signature of the
    function, says in the first line of its documentation what it is, above that of the function, and can
    be pickled where the function can.

    Attributes
    ----------
    primal : callable
        The function itself.
    engine : {"compiled", "tape"} or None
        What the last call ran on; None before the first.
    source : str
        The generated Python source.

    Examples
    --------
    >>> import s2sgrad
    >>> square = s2sgrad.grad(lambda x: x * x)
    >>> square(3.0), square.primal(3.0)
    (6.0, 9.0)
    """

    # a call runs what the slot holds, with no frame in between
    __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(self, function, kind, argnums=0, has_aux=False, mode="auto"):
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, not {mode!r}")
        if not callable(function):
            raise TypeError(f"{kind} takes a function, not {function!r}")
        if isinstance(argnums, list):
            argnums = tuple(argnums)
        owner = ()
        if inspect.ismethod(function):
            function, owner = function.__func__, (function.__self__,)
        if owner:
            transform = Transform(function, kind, argnums, has_aux, mode, skip=1)
            targets(argnums, function, transform.signature, skip=1)
        else:
            transform = Transform(function, kind, argnums, has_aux, mode)
            transform.face = weakref.ref(self)
        functools.update_wrapper(self, function)
        documentation = inspect.cleandoc(getattr(function, "__doc__", None) or "")
        self.__doc__ = f"{_TITLES[kind].format(transform.name)}\n\n{documentation}".rstrip()
        self._become(transform, owner)

    def _become(self, transform, owner: tuple) -> None:
        self._transform = transform
        self._owner = owner
        self.__call__ = functools.partial(_call, transform, owner)

    # ---------------------------------------------------------------------------- in a class

    def __get__(self, owner, cls=None):
        if owner is None or self._owner:
            return self
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound._become(self._transform.as_method, (owner,))
        return bound

    def __set_name__(self, cls, name):
        """Defined by a decorator in the body of a class: it is a method."""
        function = self._transform.function
        if getattr(function, "__qualname__", None) == f"{cls.__qualname__}.{name}":
            self._become(self._transform.as_method, ())

    # ------------------------------------------------------------------------------- what it is

    @property
    def primal(self):
        """The function itself."""
        function = self._transform.function
        return function.__get__(self._owner[0]) if self._owner else function

    @property
    def __s2sgrad__(self) -> Spec:
        """For the compiler, which differentiates derivatives again."""
        if self._owner:
            raise AttributeError("a derivative that is bound to an object is more than its function")
        t = self._transform
        argnums = t.argnums
        if t.skip:
            shifted = [n + 1 if not isinstance(n, str) and n >= 0 else n for n in several(argnums)]
            argnums = shifted[0] if is_single(argnums) else tuple(shifted)
        return Spec(t.kind, t.function, argnums, t.has_aux)

    @property
    def __signature__(self) -> inspect.Signature:
        signature = self._transform.signature
        if not self._owner:
            return signature
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    @property
    def engine(self) -> str | None:
        """``"compiled"`` or ``"tape"``: what the last call ran on; None before the first."""
        return self._transform.last and self._transform.last.engine

    @property
    def source(self) -> str:
        """The generated source of the last call; before any call, that for real arrays.

        Raises
        ------
        CompileError
            Where there is none: the function runs on the tape; the error says why.

        Examples
        --------
        >>> import s2sgrad
        >>> def area(r):
        ...     return 3.14159 * r * r
        >>> "def area_grad(r):" in s2sgrad.grad(area).source
        True
        """
        return self._transform.present(self._owner).outcome.source

    def explain(self) -> Explanation:
        """Which functions the derivative reached, how each one runs, and why.

        Returns
        -------
        Explanation
            Prints as a text, in rich and notebooks as a table; `rows` for programs.
        """
        transform = self._transform
        outcome = transform.present(self._owner).outcome
        when = "" if transform.last else ", for real arrays (no call yet)"
        title = f"{transform.kind} of {transform.name}: {outcome.engine}{when}"
        if isinstance(outcome, compilation.Compiled):
            return Explanation(title, outcome.rows, tuple(dict.fromkeys(guard.text for guard in outcome.guards)))
        reason = outcome.reason
        place = reason.location
        where = f"{place.file}:{place.line}" if place else compilation.place(transform.function)
        return Explanation(title, (Row(transform.name, "tape", reason.reason, where, place.excerpt if place else ""),))

    def check(self, *args, **kwargs) -> Agreement:
        """Compare the derivative with finite differences at these arguments.

        Differences are central, of fourth order, in double precision. Arrays of more than 200 entries
        are sampled, and compared along a random direction in full. The function is called on copies. Where
        they disagree, smaller steps are tried. Where `stop_gradient` is used, they disagree by right.

        Raises
        ------
        GradientCheckError
            Where they disagree; it names the worst entry, and says so where the function has a jump or a kink there.

        Examples
        --------
        >>> import s2sgrad
        >>> print(s2sgrad.grad(lambda x: x**3).check(2.0).entries)
        1
        """
        return compilation.compare(self._transform, self._owner + args, kwargs, check)

    def export(self, path) -> None:
        """Write the derivative to a Python file that needs NumPy only, and SciPy where the function does.

        Parameters
        ----------
        path : str or path
            The file, which is replaced.

        Raises
        ------
        CompileError
            Where there is no source: the function runs on the tape, or would with arguments that are not known as well
            as those of the last call.
        """
        text = self._transform.present(self._owner).outcome.exported()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __repr__(self) -> str:
        t = self._transform
        options = [self.engine or "not called yet"]
        if t.argnums != 0:
            options.append(f"argnums={t.argnums!r}")
        if t.has_aux:
            options.append("has_aux=True")
        if t.mode != "auto":
            options.append(f"mode={t.mode!r}")
        owner = f" bound to {self._owner[0]!r}" if self._owner else ""
        return f"<{t.kind} of {getattr(self, '__qualname__', t.name)}{owner}: {', '.join(options)}>"

    def __reduce__(self):
        if self._owner:
            return _bind, (self._unbound(), self._owner[0])
        found = sys.modules.get(getattr(self, "__module__", None))
        for part in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, part, None)
        if found is self:
            return self.__qualname__  # a decorated function: by its name, as functions are
        t = self._transform
        return Derivative, (t.function, t.kind, t.argnums, t.has_aux, t.mode)

    def _unbound(self) -> "Derivative":
        """The derivative that this one was bound from, or one like it."""
        t = self._transform
        found = getattr(type(self._owner[0]), getattr(self, "__name__", ""), None)
        if isinstance(found, Derivative) and found._transform is t:
            return found
        return Derivative(t.function, t.kind, t.argnums, t.has_aux, t.mode)


def _call(transform, owner: tuple, /, *args, **kwargs):
    """Answer any call of the derivative of a function, or of a method that is bound to an owner."""
    if args and isinstance(args[0], type):
        transform = _seen_in(transform, args[0])
    return transform.answer(owner + args, kwargs)


def _seen_in(transform, cls):
    """Where it is called on a class that holds the derivative as a classmethod (which need not bind it): its method."""
    held = inspect.getattr_static(cls, transform.name, None)
    derivative = held.__func__ if isinstance(held, classmethod) else None
    if not isinstance(derivative, Derivative) or derivative._transform not in (transform, transform.as_method):
        return transform
    if derivative._transform is transform:
        derivative._become(transform.as_method, ())
    return transform.as_method


def _bind(derivative, owner):
    return derivative.__get__(owner)
