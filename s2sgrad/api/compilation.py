"""How a derivative is run: by compiled source, or by the tape.

Both outcomes have the same face: ``run(*args, **kwargs)`` answers a call, `engine` names it, `guards`
is what it assumes, `source` what it consists of.
"""

import contextlib
import copy
import gc
import inspect
import itertools
import operator

import numpy as np

from s2sgrad.api import trees
from s2sgrad.api.arguments import Target, assembled, at_place, is_single, places, several
from s2sgrad.api.explain import Row, explained_loops
from s2sgrad.api.results import require_aux, require_elementwise, require_scalar
from s2sgrad.errors import CompileError, ExportError
from s2sgrad.runtime.arguments import plain
from s2sgrad.runtime.arrays import as_gradient, is_differentiable, is_promotable, part, scalar_seed, zeros_of
from s2sgrad.runtime.fallback import tape_vjp
from s2sgrad.runtime.trees import fields_by_name, flatten
from s2sgrad.transform import ir, optimize, pipeline, reverse, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.emit import emit
from s2sgrad.transform.emit.export import export
from s2sgrad.transform.emit.load import annotate, load
from s2sgrad.transform.frontend.guards import Guard
from s2sgrad.transform.frontend.resolve import is_definition

ASSUMED = object()  # stands for an argument that nobody has given yet


# ---------------------------------------------------------------------------------------- compiled


@contextlib.contextmanager
def uncollected():
    """Without the cyclic garbage collector: syntax trees set it off, and it looks through all that the user holds."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@uncollected()
def compile(transform, bound, chosen: tuple[Target, ...]) -> "Compiled":  # noqa: A001
    """Compile the derivative for arguments like these, which are those that the call passes.

    Raises
    ------
    CompileError
        Where the compiler would not be sure of the derivative.
    """
    if transform.wraps:
        bound, chosen = _within_wrapper(transform, bound, chosen)
    passed = set(bound.arguments)
    bound.apply_defaults()
    # a function is known where the call leaves it to its default
    known = {n: v for n, v in bound.arguments.items() if n not in passed and is_definition(v)}
    for name, value in bound.arguments.items():
        if found := trees.hiding(value):
            holder, attribute = found
            what = "the object" if holder is value else f"an object of type {type(holder).__name__} in what is"
            raise CompileError(
                f"{what} passed as {name} has an attribute {attribute} of its own that hides the one of its class"
            )
    kinds = {name: _type_of(value) for name, value in bound.arguments.items()}
    for target in chosen:
        value = bound.arguments[target.parameter]
        cls = _unknown(value if target.item is None else value[target.item])
        if cls is not None:
            raise CompileError(f"{target.parameter} is or holds a {cls.__name__}, of which no derivatives are compiled")
    if not trees.are_in_one_piece(bound.arguments):
        kinds = {name: types.of_any_layout(kind) for name, kind in kinds.items()}
    active = _active(bound, chosen)
    assumed = any(value is ASSUMED for value in bound.arguments.values())
    compiled = _compiled(transform, kinds, active, chosen, known, assumed)
    compiled.assumed = assumed
    parameters = transform.own.parameters.items()
    compiled.leave([p.default for name, p in parameters if bound.arguments.get(name, p.empty) is p.default])
    general = {name: types.of_any(kind) for name, kind in kinds.items()}
    compiled.general = lambda: _compiled(transform, general, active, chosen, known)
    return compiled


def _compiled(transform, kinds: dict, active: dict, chosen, known: dict, assumed=False) -> "Compiled":
    lowered = pipeline.lower(transform.function, kinds, active, known, strict=transform.mode == "compiled")
    if assumed:
        _see_arrays(lowered.function)
    for target in chosen:
        if lowered.function.parameters[target.index].value.name != target.parameter:
            raise CompileError(
                f"the signature of {transform.name} is not that of its source", lowered.function.location
            )
    return (CompiledPair if transform.kind == "vjp" else CompiledGradient)(transform, lowered, chosen)


def _within_wrapper(transform, bound, chosen):
    """The call as a wrapper itself takes it, which shows the signature of what it wraps."""
    inner = transform.own.bind(*bound.args, **bound.kwargs)
    located = [places(target, bound) for target in chosen]
    if any(len(group) != 1 for group in located):
        raise CompileError(
            f"{transform.name} is a wrapper of a function of which all *args or **kwargs are differentiated"
        )
    return inner, tuple(at_place(group[0], inner) for group in located)


def _active(bound, chosen) -> dict:
    """For each parameter what a derivative flows from: all of it, or which items of ``*args`` and ``**kwargs``."""
    active: dict = {}
    for target in chosen:
        if target.item is None:
            active[target.parameter] = True
        elif active.get(target.parameter) is not True:
            active.setdefault(target.parameter, {})[target.item] = True
    for name, items in active.items():
        if isinstance(items, dict) and isinstance(bound.arguments[name], tuple):
            active[name] = tuple(i in items for i in range(len(bound.arguments[name])))
    return active


def _unknown(value) -> type | None:
    """The class of something in what is differentiated through which the compiler would see no derivative flow."""
    t = _type_of(value)
    if t.kind in (ir.Kind.OTHER, ir.Kind.CALLABLE):
        return None if t == ir.NONE else t.cls
    if t.kind is ir.Kind.RECORD:
        inner = [getattr(value, name) for name in t.keys]
    elif isinstance(value, list | tuple | dict):
        inner = value.values() if isinstance(value, dict) else value
    else:
        return None
    return next(filter(None, map(_unknown, inner)), None)


def _type_of(value) -> ir.Type:
    return ir.Type(ir.Kind.ARRAY, "float64", None, types.fresh()) if value is ASSUMED else types.of(value)


class Compiled:
    """A derivative that is generated source.

    Attributes
    ----------
    rows : tuple of Row
        The functions that went into it.
    general : callable
        Compiles the same for arguments of which no axis is known to be, or not to be, of length 1.
    assumed : bool
        Whether there was no call, and the kinds of the arguments are assumed.
    """

    engine = "compiled"
    general = None
    assumed = False

    def __init__(self, transform, lowered):
        self.function = transform.function
        self.fits = [
            test
            for test, asked in ((self.are_apart, lowered.apart), (self.are_in_one_piece, lowered.in_one_piece))
            if asked
        ]
        self.arrays, self.reached, self.written = lowered.arrays, lowered.reached, lowered.written
        self.left = ()
        self.guards = tuple(lowered.guards)
        self.report = tuple(lowered.report)

    @property
    def rows(self) -> tuple:
        """The functions that went into it, with what their loops save."""
        loops = explained_loops(self.units)
        return tuple([_row(found, loops) for found in self.report])

    @property
    def units(self) -> list:
        """The functions that were generated."""
        emitted = self.emitted if isinstance(self.emitted, tuple) else (self.emitted,)
        return [unit.function for one in emitted for unit in one.units]

    def leave(self, defaults: list) -> None:
        """Note the defaults that calls leave their arguments to: what is in them may change, but not in its kind."""
        self.left = [value for value in defaults if type(value) not in trees.PLAIN and not is_definition(value)]
        if self.left:
            test = "{kinds}({left}) == {before}"
            objects = {"kinds": trees.kinds, "left": self.left, "before": trees.kinds(self.left)}
            self.guards += (Guard(test, objects, "the kinds of the values in defaults"),)

    def are_apart(self, call) -> bool:
        """Do the arrays of a call share no memory, neither with each other nor with those that are read outside?"""
        given = call, self.left
        apart = trees.are_apart((given, [read() for read in self.arrays]))
        if not apart or not self.reached:
            return apart
        return not trees.share_memory((given, [r() for r in self.written]), [r() for r in self.reached])

    def are_in_one_piece(self, call) -> bool:
        """Are all arrays of a call contiguous?"""
        return trees.are_in_one_piece((call, self.left))

    def exported(self) -> str:
        taped = next((row for row in self.rows if row.engine == "tape"), None)
        if taped is not None:
            raise ExportError(
                f"an exported file needs NumPy only, but the calls of {taped.function} run on the tape: {taped.reason}"
                f"\n  at {taped.where}"
            )
        try:
            emitted = self.general().emitted
        except CompileError as error:
            reason = "a file is made for arguments of any layout, length and content, for which this is not compiled:"
            raise CompileError(f"{reason} {error.reason}", error.location) from error
        return export(emitted, self.function, self.assumed)


class CompiledGradient(Compiled):
    """Forward and backward pass in one function."""

    def __init__(self, transform, lowered, chosen):
        super().__init__(transform, lowered)
        if transform.has_aux:
            _see_pair(lowered)
        if _value_type(lowered, transform.has_aux).dtype == "bool":
            raise CompileError("the result is a bool", lowered.function.location)
        elementwise = transform.kind == "elementwise_grad"
        if elementwise:
            _see_real(lowered, transform.has_aux)
        derivative = reverse.gradient(
            lowered.function,
            tuple(target.wrt for target in chosen),
            value=transform.kind == "value_and_grad",
            has_aux=transform.has_aux,
            single=is_single(transform.argnums),
            seed="ones" if elementwise else "scalar",
        )
        self.emitted = emit([optimize.run(derivative)])
        self.run = _with_defaults(load(self.emitted), lowered, transform)

    @property
    def source(self) -> str:
        return self.emitted.source


class CompiledPair(Compiled):
    """Forward and backward pass in two functions, for `vjp`."""

    def __init__(self, transform, lowered, chosen):
        super().__init__(transform, lowered)
        chosen_parameters = {target.index for target in chosen}
        active = tuple(i in chosen_parameters for i in range(len(lowered.function.parameters)))
        forward, backward = map(optimize.run, reverse.pair(lowered.function, active))
        self.several = sum(active) > 1
        self.apart = lowered.apart
        self.chosen = chosen
        self.order = sorted(chosen_parameters)
        self.emitted = emit([forward]), emit([backward])
        self.forward = _with_defaults(load(self.emitted[0]), lowered, transform)
        self.backward = load(self.emitted[1])

    @property
    def source(self) -> str:
        return "\n\n".join(emitted.source for emitted in self.emitted)

    def run(self, *args, **kwargs):
        before = trees.map_leaves(lambda leaf: leaf, args) if self.apart else args  # containers as they are now
        out, saved = self.forward(*args, **kwargs)
        saved = _owned(saved)
        results, rebuild = flatten(out)

        def pullback(parts):
            given = [
                zeros_of(x) if d is None and is_differentiable(x) else d for d, x in zip(parts, results, strict=True)
            ]
            try:
                found = self.backward(saved, fields_by_name(rebuild(given)))
            except Exception as error:
                annotate(error)
                raise
            by_parameter = dict(zip(self.order, found if self.several else (found,), strict=True))
            return tuple(
                [as_gradient(_cotangent(by_parameter, t), before[t.index + (t.item or 0)]) for t in self.chosen]
            )

        return out, pullback


def _row(found: pipeline.Row, loops: dict) -> Row:
    """A line of `explain()`, which shows the place of a function, or of what keeps it from being compiled."""
    place = found.because
    where = f"{found.file}:{found.line}" if place is None else f"{place.file}:{place.line}"
    line = "" if place is None else place.excerpt
    return Row(found.function, found.engine, found.reason, where, line, loops.get((found.file, found.function), ()))


def _with_defaults(run, lowered, transform):
    """Give a generated function the very default values of the user's."""
    defaults = {name: p.default for name, p in transform.own.parameters.items() if p.default is not p.empty}
    names = [(p.value.name, p.keyword_only) for p in lowered.function.parameters if not p.spelling]
    positional = [name for name, keyword_only in names if not keyword_only]
    at_end = list(itertools.takewhile(lambda name: name in defaults, reversed(positional)))[::-1]
    if any(name in defaults for name in positional[: len(positional) - len(at_end)]):
        raise CompileError("a partial gives an argument that others come after", lowered.function.location)
    run.__defaults__ = tuple(defaults[name] for name in at_end)
    run.__kwdefaults__ = {name: defaults[name] for name, keyword_only in names if keyword_only and name in defaults}
    return run


def _cotangent(by_parameter: dict, target: Target):
    d = by_parameter[target.index]
    return d if target.item is None else part(d, target.item)


def _owned(saved):
    """What the backward pass needs, in memory that the caller cannot change before it runs."""
    parts, rebuild = flatten(saved)
    return rebuild([np.array(p) if isinstance(p, np.ndarray) else p for p in parts])


def _result_type(lowered) -> ir.Type:
    return types.type_of(lowered.function.body.results[0])


def _value_type(lowered, has_aux: bool) -> ir.Type:
    return _result_type(lowered).items[0] if has_aux else _result_type(lowered)


def _see_arrays(function: ir.Function, seen=()) -> None:
    """What is assumed to be an array must not be read as a dict."""
    if function in seen:
        return
    queue = [function.body]
    for block in queue:
        for s in block.statements:
            queue += walk.blocks(s)
            if isinstance(s, ir.Call) and s.callee.function is not None:
                _see_arrays(s.callee.function, (*seen, function))
            if not isinstance(s, ir.Op) or s.function is not operator.getitem:
                continue
            key = s.args[1]
            if isinstance(key, ir.Constant) and isinstance(key.value, str):
                raise CompileError(
                    f"before any call the arguments are taken to be arrays, but one is read by the string "
                    f"{key.value!r}: call the derivative first, then ask for its source",
                    s.location,
                )


def _see_pair(lowered) -> None:
    t = _result_type(lowered)
    if t.kind is not ir.Kind.TUPLE or t.items is None or len(t.items) != 2:
        raise CompileError("has_aux=True, but it is not seen that a pair is returned", lowered.function.location)


def _see_real(lowered, has_aux: bool) -> None:
    t = _value_type(lowered, has_aux)
    if not t.is_real or t.kind not in (ir.Kind.NUMBER, ir.Kind.ARRAY, ir.Kind.UNKNOWN):
        raise CompileError("it is not seen that the result is a real array", lowered.function.location)


# ---------------------------------------------------------------------------------------- the tape


class Taped:
    """A derivative that runs the unmodified function and records what it does.

    Attributes
    ----------
    reason : CompileError
        Why it is not compiled.
    single : bool
        Whether the gradient of one argument is asked for, not a tuple.
    assumed : bool
        As that of `Compiled`.
    """

    engine = "tape"
    guards = ()
    assumed = False

    def __init__(self, transform, chosen: tuple[Target, ...], reason: CompileError):
        self.transform = transform
        self.chosen = chosen
        self.reason = reason
        self.run = {"vjp": self.vjp}.get(transform.kind, self.gradient)
        plainly = all(target.item is None for target in chosen) and transform.takes_positions(chosen)
        self.positions = [target.index for target in chosen] if plainly else None
        self.single = is_single(transform.argnums)
        self.most = max((target.index for target in chosen), default=0)

    @property
    def source(self) -> str:
        raise self.refusal()

    def exported(self) -> str:
        raise self.refusal()

    def refusal(self) -> CompileError:
        """What is said where source is asked for."""
        name, reason = self.transform.name, self.reason
        kinds = " for real arrays, which are assumed before any call" if self.assumed else ""
        refusal = CompileError(
            f"there is no source: {name} runs on the tape{kinds} (its gradient is right all the same; explain() says "
            f"what runs on which engine), because\n  {reason.reason}",
            reason.location,
        )
        refusal.__cause__ = reason.__cause__
        return refusal

    def record(self, args, kwargs, once):
        """The result of the function, and the pullback to the chosen arguments."""
        t = self.transform
        if self.positions is not None and not kwargs and self.most < len(args):
            return tape_vjp(t.function, args, kwargs, self.positions, once=once)
        bound, chosen = t.bind(args, kwargs)
        differentiate = [place for target in chosen for place in places(target, bound)]
        out, pull = tape_vjp(t.function, bound.args, bound.kwargs, differentiate, once=once)

        def pullback(cotangent):
            found = iter(pull(cotangent))
            return tuple([assembled(target, bound, found) for target in chosen])

        return out, pullback

    def gradient(self, *args, **kwargs):
        t = self.transform
        out, pullback = self.record(args, kwargs, once=True)
        value, aux = require_aux(out, t.name) if t.has_aux else (out, None)
        if type(out) is float or type(out) is np.float64:
            seed = type(out)(1.0)
        elif t.kind == "elementwise_grad":
            require_elementwise(plain(value), t.name)
            seed = np.ones(np.shape(plain(value)), getattr(plain(value), "dtype", float))[()]
        else:
            require_scalar(plain(value), t.name)
            seed = scalar_seed(plain(value))
        if t.has_aux:
            seed = [seed] + [None] * (len(flatten(out)[0]) - 1)
        gradients = pullback(seed)
        result = gradients[0] if self.single else gradients
        if t.kind == "value_and_grad":
            return (out, result)
        return (result, aux) if t.has_aux else result

    def vjp(self, *args, **kwargs):
        return self.record(args, kwargs, once=False)


def place(function) -> str:
    """``file:line`` of a function; "" for what has none."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


# ------------------------------------------------------------------------------- finite differences


def compare(transform, args, kwargs, check):
    """Check the gradients at these arguments; `check` compares trees with differences of a real function."""
    t = transform
    answer = t.answer(*copy.deepcopy((args, kwargs)))
    if t.kind == "value_and_grad":
        answer = answer[1]
    elif t.has_aux:
        answer = answer[0]
    bound, chosen = t.bind(*copy.deepcopy((args, kwargs)))

    def primal(values) -> float:
        again, _ = t.bind(*copy.deepcopy((args, kwargs)))
        for target, value in zip(chosen, values, strict=True):
            target.put(again.arguments, value)
        out = t.function(*again.args, **again.kwargs)
        return np.sum(out[0] if t.has_aux else out)

    arguments = [(str(target), target.get(bound.arguments)) for target in chosen]
    return check(primal, [answer] if is_single(t.argnums) else list(answer), arguments, t.name)


# ------------------------------------------------------------------------------ before any call


def assumed_arguments(transform, owner: tuple) -> dict:
    """Arguments to compile for before any call: a real array for each parameter without a default.

    ``*args`` and ``**kwargs`` hold what `argnums` mentions. A method belongs to `owner`, if that is known.
    """
    parameters = list(transform.signature.parameters.values())
    positional = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    mentioned = several(transform.argnums)
    numbers = [n + transform.skip if n >= 0 else positional for n in mentioned if not isinstance(n, str)]
    arguments: dict = {}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            arguments[parameter.name] = (ASSUMED,) * max([0, *(n + 1 - positional for n in numbers)])
        elif parameter.kind is parameter.VAR_KEYWORD:
            named = {p.name for p in parameters}
            arguments[parameter.name] = {n: ASSUMED for n in mentioned if isinstance(n, str) and n not in named}
        elif parameter.default is parameter.empty:
            arguments[parameter.name] = ASSUMED
        elif not is_definition(parameter.default):  # a function is known where the call leaves it to its default
            arguments[parameter.name] = parameter.default
    if transform.skip:
        arguments[parameters[0].name] = owner[0] if owner else None
    return arguments


def assumed_leaf(value):
    """A differentiated argument's default, or a real array where that could not be differentiated."""
    if value is ASSUMED or not all(is_differentiable(x) or is_promotable(x) for x in flatten(value)[0]):
        return ASSUMED
    return trees.promote(value)
