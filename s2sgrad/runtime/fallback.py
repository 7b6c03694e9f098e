"""The fallback: the user's unmodified function, run so that everything it does is recorded.

The function's code is run with other names around it: its globals and closure are live views in
which NumPy, SciPy and `math` are their recording versions, arrays are `Traced` on the same memory,
and Python functions are run in the same way when they are called. What the function rebinds, writes
or stores is there after the call as a plain call would have left it.

`tape_vjp` differentiates one call. It nests: an inner call within a recorded one ties its inputs to
the outer recording and records its own backward pass, so derivatives of derivatives are right and
perturbations are not confused (each backward pass looks only for its own inputs).
"""

import re
import struct
import threading
import types

import numpy as np

from s2sgrad.errors import MissingRuleError, Refusal, S2SGradError, TapeError
from s2sgrad.runtime import arguments, record
from s2sgrad.runtime.arguments import plain
from s2sgrad.runtime.arrays import as_gradient, unbroadcast
from s2sgrad.runtime.engine import backward
from s2sgrad.runtime.grad_mode import PAUSED, forced_recording
from s2sgrad.runtime.location import is_our_file, location_of, raised_in_library
from s2sgrad.runtime.namespace import CLASSES, in_family
from s2sgrad.runtime.record import apply, recorder
from s2sgrad.runtime.refusals import full_name, missing
from s2sgrad.runtime.results import wrap
from s2sgrad.runtime.session import Session
from s2sgrad.runtime.surroundings import is_ours
from s2sgrad.runtime.tensor import Tensor, Traced, traced
from s2sgrad.runtime.traced import CONVERT, LOST
from s2sgrad.runtime.trees import flatten
from s2sgrad.runtime.trees import only as _only
from s2sgrad.runtime.views import refresh

_REAL = frozenset((float, int, np.float64, np.float32))

# ---------------------------------------------------------------- the session of this thread


class _Current(threading.local):
    session = None
    refusals: list | None = None  # made while a recorded function runs; None where none runs


_current = _Current()


def _note(refusal):
    if _current.refusals is not None:
        _current.refusals.append(refusal)


Refusal.note = _note
_rules = Session(rules=True)
running: set = set()  # the sessions of all threads: where it is empty nobody needs to ask for their own


def is_recording() -> bool:
    """Whether a recorded function is running in this thread.

    Examples
    --------
    >>> is_recording()
    False
    """
    return _current.session is not None


def recording(value):
    """The version of `value` (a function, mostly) that recorded code sees."""
    return (_current.session or _rules).turn(value)


def recording_rule(function):
    """A rule's function, recording: for derivatives of derivatives."""
    return _rules.turn(function)


def _keep(array):
    session = _current.session
    return np.array(array) if session is None else session.keep(array)


arguments.keep_array = _keep


def _by_source(function):
    """A NumPy or SciPy function without a rule, run by its Python source; None where there is none."""
    dispatched = in_family(type(function).__module__)  # what other dispatchers wrap is no implementation
    implementation = getattr(function, "__wrapped__", function) if dispatched else function
    if type(implementation) is not types.FunctionType or not in_family(implementation.__module__):
        return None

    def call(args, kwargs):
        try:
            return (_current.session or _rules).rebind(implementation)(*args, **kwargs)
        except MissingRuleError as error:
            cause = error.__cause__ if isinstance(error.__cause__, MissingRuleError) else error  # the innermost
            what = str(cause).partition("\n")[0]
            name = what.partition(" has no ")[0]
            if "._" in name or "." not in name:  # a helper of a library's own: its name says nothing to the user
                raise missing(function) from None
            raise missing(function, f"in {full_name(function)}: {what}") from cause
        except Exception as error:
            if not isinstance(error, S2SGradError):
                function(*plain(tuple(args)), **plain(kwargs))  # a wrong call is told as without us
            raise missing(function) from error

    return call


record.by_source = _by_source


# ---------------------------------------------------------------- one call differentiated


def tape_vjp(function, args, kwargs, differentiate, *, once=False):
    """Call `function`, recording it, and return its result and its pullback.

    Parameters
    ----------
    function : callable
        Plain NumPy code, unmodified.
    args : tuple
    kwargs : dict
    differentiate : sequence of int or str
        Positions (in `args`) and keywords (in `kwargs`) of the arguments to differentiate. Each is a
        tree of numbers and arrays; integers are promoted to float64.
    once : bool
        The pullback is called at most once, and before the caller changes the result: it is not copied,
        and saved values are released as they are used.

    Returns
    -------
    out
        What `function` returns, plain.
    pullback : callable
        Takes a cotangent of the structure of `out`, returns a tuple of gradients, one per
        differentiated argument, each of the structure, shapes and dtypes of the argument.

    Examples
    --------
    >>> out, pullback = tape_vjp(lambda x, n: x**n, (3.0, 2), {}, [0])
    >>> out, pullback(1.0)
    (9.0, (6.0,))
    """
    outer = _current.session
    session = outer or Session(private=not once, current=_current)
    inputs = [kwargs[k] if isinstance(k, str) else args[k] for k in differentiate]
    _current.session = session
    running.add(session)
    if outer is None:
        _current.refusals, LOST.texts = [], {}
    try:
        leaves = []  # (value, node or None) of all differentiated leaves
        shapes = []  # per differentiated argument: how many leaves, and what rebuilds it of them
        turned = {}
        first = len(session.holders)
        for k, value in zip(differentiate, inputs, strict=True):
            before = len(leaves)
            turned[k], rebuild = session.differentiated(value, leaves)
            shapes.append((len(leaves) - before, rebuild))
        given = []
        if outer is not None:
            given, session.holders[first:] = session.holders[first:], []
        call_args = [turned[i] if i in turned else session.turn(a) for i, a in enumerate(args)]
        call_kwargs = {k: turned[k] if k in turned else session.turn(a) for k, a in kwargs.items()} if kwargs else {}
        try:
            call = _callable(session, function)
            if PAUSED.count:
                with forced_recording():
                    out = call(*call_args, **call_kwargs)
            else:
                out = call(*call_args, **call_kwargs)
            results, rebuild = flatten(out)
            nodes = [_node_of(result) for result in results]
            if outer is None:
                session.check()
                _refuse_caught()
            else:
                session.leave(given)
        except Exception as error:
            if outer is None and not isinstance(error, S2SGradError):
                _explain(error)
            raise
        finally:
            if outer is None:
                session.close()
        if outer is None:
            results = [session.settled(result) for result in results]
            out = rebuild(results)
    finally:
        _current.session = outer
        if outer is None:
            LOST.error = LOST.texts = _current.refusals = None
            running.discard(session)
            session.forget()
    pullback = _Pullback(leaves, shapes, nodes, results, outer is not None, once)
    return out, pullback


def _refuse_caught():
    """Raise what the tape has refused where code that is not ours has caught it and gone on in a way of its own."""
    for refusal in _current.refusals:
        if refusal.__traceback__ is None:
            continue
        code = refusal.__traceback__.tb_frame.f_code  # where it was caught; a conversion: by C code that called it
        if code is CONVERT or not is_our_file(code.co_filename):
            raise refusal


# What C code says that finds a recorded value where it wants plain data.
_FOREIGN = re.compile(
    "Traced|Supplied output array|not JSON serializable|"
    "required argument is not a|WRITEBACKIFCOPY|constructor input|invalid type for format|doesn't apply to a"
)


def _explain(error):
    """Where code that takes plain data only has refused a recorded value, say so as the tape does."""
    inner = error
    while inner is not None:  # C code puts an error of its own in place of ours, or goes on with ours pending
        inner = inner.__cause__ or inner.__context__
        if isinstance(inner, TapeError):
            raise inner from None
    if isinstance(error, AttributeError) and type(error.obj) is Traced and error.name is not None:
        getattr(plain(error.obj), error.name)  # in the words for what it stands for
    if LOST.error is not None and raised_in_library(error):
        raise LOST.error from error
    if isinstance(error, (TypeError, ValueError, struct.error)) and _FOREIGN.search(str(error)):
        raise TapeError(
            "a recorded value is given to code that takes plain numbers and arrays only "
            f"({type(error).__name__}: {str(error).strip().partition(chr(10))[0]})\n  at {location_of(error)}\n"
            "If a derivative flows through the value: use NumPy functions on it, or pass stop_gradient(value) where it "
            "is meant to be constant."
        ) from error


def _callable(session, function):
    """The function to call: of an object with a Python ``__call__``, that method."""
    turned = session.turn(function)
    if turned is function and not isinstance(function, type):
        call = vars(type(function)).get("__call__")
        if type(call) is types.FunctionType and not is_ours(call.__module__):
            return types.MethodType(session.function(call), function)
    return turned


def _node_of(result):
    if not isinstance(result, Tensor):
        return None
    if result.storage is not None:
        refresh(result)
    return result.node


class _Pullback:
    """The pullback of one recorded call."""

    def __init__(self, leaves, shapes, nodes, results, nested, once):
        self.plain = [part for part, _ in leaves]
        self.targets = [node for _, node in leaves]
        self.shapes = shapes
        self.nodes = nodes
        self.nested = nested
        self.once = once
        self.real = [type(x) in _REAL or not np.iscomplexobj(plain(x)) for x in results]

    def __call__(self, cotangent):
        """The gradients for a cotangent of the result."""
        parts = flatten(cotangent)[0]
        nodes, nested = self.nodes, self.nested
        if len(parts) != len(nodes):
            raise TypeError(f"a cotangent of {len(nodes)} leaves is due, not of {len(parts)}")
        roots = []
        for node, g, real in zip(nodes, parts, self.real, strict=True):
            if node is None or g is None:
                continue
            if type(g) not in _REAL:
                if real and np.iscomplexobj(plain(g)):
                    g = g.real
                if nested and type(g) is np.ndarray:
                    g = traced(g, None)
            roots.append((node, g))
        if nested:
            found = backward(roots, self.targets, create_graph=True, retain=not self.once)
            gradients = [_recorded_gradient(g, x) for g, x in zip(found, self.plain, strict=True)]
        else:
            gradients = backward(roots, self.targets, retain=not self.once, like=self.plain)
        if len(self.shapes) == 1 and self.shapes[0][1] is _only:
            return tuple(gradients)
        gradients = iter(gradients)
        return tuple([rebuild([next(gradients) for _ in range(count)]) for count, rebuild in self.shapes])


def _recorded_gradient(d, x):
    """The gradient of a leaf within a recorded function: it may itself be recorded, and is in memory of its own.

    It is of the class that it has in a plain call: a Python float divides by zero in another way than one of NumPy's.
    """
    model = plain(x)
    zero = as_gradient(None, model)
    if d is None:
        return wrap(zero)
    data = plain(d)
    if np.shape(data) != np.shape(model) or np.iscomplexobj(data) and not np.iscomplexobj(model):
        d = apply(unbroadcast, (d, model))
    if type(zero) is np.ndarray:
        d = apply(np.copy, (d,))  # it may be the cotangent of something else, too, or a number everywhere
        if d.dtype != zero.dtype:
            d = d.astype(zero.dtype)
    elif type(plain(d)) is not type(zero):
        d = CLASSES.get(type(zero), type(zero))(d)
    return d if isinstance(d, Tensor) else wrap(d)


def stop_gradient(x):
    """`x` itself, as a constant: no derivative flows through it.

    Parameters
    ----------
    x : number, array, or a container of them

    Examples
    --------
    >>> from s2sgrad import grad, stop_gradient
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    leaves, rebuild = flatten(x)
    if not any(isinstance(part, Tensor) for part in leaves):
        return x
    return rebuild([_stopped(part) for part in leaves])


def _stopped(part):
    if not isinstance(part, Tensor):
        return part
    data = plain(part)
    return traced(np.array(data), None) if type(data) is np.ndarray else data


__all__ = ["is_recording", "recorder", "recording", "recording_rule", "stop_gradient", "tape_vjp", "TapeError"]
