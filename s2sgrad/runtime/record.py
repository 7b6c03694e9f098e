"""Recording one call: run it on the plain data, and keep what its pullback will need.

Here the rule table meets the graph. `apply` is the general way: any callable, any arguments, values
nested in lists. The short ways of the common calls are in ``shortcuts.py``.
"""

import operator

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.rules.table import lookup, unknown
from s2sgrad.runtime.arguments import Arguments, is_active, kept_arguments, plain
from s2sgrad.runtime.elementwise import elementwise_of
from s2sgrad.runtime.general import FORMS, general_node
from s2sgrad.runtime.grad_mode import PAUSED
from s2sgrad.runtime.keywords import by_name, keyword_names
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.operands import as_data
from s2sgrad.runtime.refusals import missing, not_covered, unseen, without_derivative_by
from s2sgrad.runtime.results import carries, without_derivative, wrap, wrap_views
from s2sgrad.runtime.tensor import Tensor, Traced, traced
from s2sgrad.runtime.views import ITEM, along, duplicate, refresh, replace, write

_ndarray = np.ndarray
_F64 = np.dtype(np.float64)
_REAL = frozenset((float, np.float64, np.float32))

NATIVE = {}  # callables that the tape handles by itself: callable -> replacement taking tensors


def by_source(function):
    """A recording version of a callable without a rule, by its Python source. The fallback puts its own in place."""
    return None


def call_plain(function, args, kwargs, arguments=None):
    """Call a `function` without a rule on the data of its arguments; what it writes into them is recorded.

    The arrays are lent read-only. Where the function wants to write, it gets copies, and what it has changed there is
    written into the arrays by the tape.
    """
    arguments = arguments or Arguments(args, kwargs)
    arrays = [t for _, t in arguments.tensors if type(t.primal) is _ndarray and t.primal.flags.writeable]
    if not arrays:
        return wrap_views(function(*arguments.args, **arguments.kwargs), function, arguments)
    lent = {}
    for t in arrays:
        lent[id(t.primal)] = view = t.primal.view()
        view.flags.writeable = False
    try:
        out = function(*_swapped(arguments.args, lent), **_swapped(arguments.kwargs, lent))
    except ValueError as error:
        if not any(word in str(error) for word in ("read-only", "writeable", "writable")):
            raise
        copies = {id(t.primal): duplicate(t.primal) for t in arrays}
        originals = [(t, t.primal, copies[id(t.primal)]) for t in arrays]
        out = function(*_swapped(arguments.args, copies), **_swapped(arguments.kwargs, copies))
        for t, data, copy in originals:
            if out is copy:
                out = t
            if copy.tobytes() != data.tobytes():
                write(t, Ellipsis, copy, None)
        return out if isinstance(out, Tensor) else wrap(out)
    return wrap_views(out, function, arguments)


def _swapped(a, arrays):
    """`a` with other arrays in place of those that `arrays` knows by identity."""
    kind = type(a)
    if kind is _ndarray:
        return arrays.get(id(a), a)
    if kind is tuple or kind is list:
        return kind([_swapped(item, arrays) for item in a])
    if kind is dict:
        return {k: _swapped(item, arrays) for k, item in a.items()}
    return a


def apply(function, args, kwargs=None):
    """Call `function` and record it.

    Parameters
    ----------
    function : callable
        With a rule in the table where a derivative flows.
    args : tuple
    kwargs : dict

    Returns
    -------
    Traced, number, or a tuple or list of them

    Raises
    ------
    MissingRuleError
        Where a derivative would flow through what has no rule, or through an argument or with a
        keyword that the rule does not cover.
    """
    native = NATIVE.get(function)
    if native is not None:
        return native(*args, **kwargs) if kwargs else native(*args)
    if len(args) > 1:
        named = keyword_names(function)
        if len(args) > named[0]:
            args, kwargs = by_name(args, kwargs or {}, *named)
    if not kwargs:
        kwargs = {}
        if len(args) == 1 and type(args[0]) is Traced and args[0].node is not None and not PAUSED.count:
            rule = lookup(function)
            if rule is not None and (rule.kind == "general" or rule.kind == "linear"):
                return _apply_to_one(function, rule, args[0])
    elif "out" in kwargs:
        kwargs = dict(kwargs)
        target = kwargs.pop("out")
        if type(target) is tuple and len(target) == 1:
            (target,) = target
        if target is not None:
            return _into(function, args, kwargs, target)
    arguments = Arguments(args, kwargs)
    rule = lookup(function)
    if not arguments.nodes or rule is not None and rule.kind == "inactive":
        if rule is None:
            return call_plain(function, args, kwargs, arguments)
        return wrap_views(function(*arguments.args, **arguments.kwargs), function, arguments)
    if rule is None:
        unrolled = by_source(function)
        if unrolled is None:
            raise missing(function)
        return unrolled(args, kwargs)
    if rule.kind == "elementwise":
        return _apply_elementwise(function, rule, args, kwargs, arguments)
    out = function(*arguments.args, **arguments.kwargs)
    if not carries(out):
        return without_derivative(out)
    for a in (*arguments.args, *arguments.kwargs.values()):
        if type(a) is not _ndarray and isinstance(a, _ndarray):
            as_data(a, function)
    return wrap_views(out, function, arguments, general_node(function, rule, arguments, out))


def _apply_to_one(function, rule, x):
    """The short way for ``np.sum(x)`` and its like, of a recorded array and nothing else."""
    if x.storage is not None:
        refresh(x)
    data = x.primal
    if function is np.sum and type(data) is _ndarray and data.dtype.kind == "f" and x.node is not None:
        form = SUM_EXACT if data.dtype is _F64 else SUM
        return traced(np.add.reduce(data, None), make_node(form, (data.shape,), x.node))
    out = function(data)
    if type(out) in _REAL and x.node is not None:
        form = FORMS.get((function, 1, (), ((0,),)))
        if form is not None:
            if x.storage is not None:
                x.storage.saved = True
            return traced(out, make_node(form, (out, (data,), {}), (x.node,)))
    arguments = Arguments((x,), {})
    if not carries(out) or not arguments.nodes:
        return wrap_views(out, function, arguments)
    return wrap_views(out, function, arguments, general_node(function, rule, arguments, out))


def spread(g, shape):
    """The cotangent of an array of float64 of which the sum of all elements has the cotangent `g`."""
    out = np.empty(shape)
    try:
        out.fill(g)
    except TypeError:  # complex
        return np.full(shape, g)
    return out


def _spread_recorded():
    return lambda g, shape: apply(np.broadcast_to, (g, shape))


# the sum of all elements, the commonest last step, needs the shape only
SUM = Form("sum", lambda g, shape: np.full(shape, g), make_twin=_spread_recorded, width=1, links=(None,))
SUM_EXACT = Form("sum", spread, make_twin=_spread_recorded, width=1, over=spread, links=(None,))


def _apply_elementwise(function, rule, args, kwargs, arguments):
    arity = len(rule.partials)
    if kwargs and "where" in kwargs and kwargs["where"] is not True:
        raise missing(
            function,
            f"{rule.function!r} with where= and no out= leaves elements undefined",
            "Pass out=, too, or use np.where.",
        )
    named = {k: v for k, v in kwargs.items() if k in rule.parameters}
    if named:
        names = rule.parameters
        rest = {k: v for k, v in kwargs.items() if k not in named}
        return apply(function, (*args, *(kwargs[n] for n in names[len(args) :] if n in named)), rest)
    others = sorted(set(kwargs) - {"dtype", "casting", "order", "subok", "where"})
    if len(args) != arity or others:
        what = f"the keyword {others[0]!r}" if others else f"{len(args)} arguments"
        raise not_covered(function, what)
    out = function(*arguments.args, **arguments.kwargs)
    if not carries(out):
        return without_derivative(out)
    active, nodes = [], []
    for path, node in zip(arguments.paths, arguments.nodes, strict=True):
        if len(path) > 1:  # lists are arrays to a ufunc
            args = [apply(np.array, (a,)) if isinstance(a, (list, tuple)) else a for a in args]
            return apply(function, tuple(args), kwargs)
        partial = rule.partials[path[0]]
        if partial is unknown:
            raise without_derivative_by(function, rule.parameters[path[0]])
        if partial is not None:
            active.append(path[0])
            nodes.append(node)
    if not active:
        return wrap(out)
    arguments.args = tuple([as_data(a, function) for a in arguments.args])
    form, uses_out = elementwise_of(function).general(tuple(active))
    saved, _ = kept_arguments(arguments)
    node = make_node(form, (*saved, out) if uses_out else saved, tuple(nodes))
    return traced(out, node)


def record_step(step, data, node):
    """Take one step of a view of a recorded array again: its data and node."""
    source = traced(data, node)
    if step.function is operator.getitem:
        out = step(data)
        return out, make_node(ITEM, (data, step.after[0]), node)
    out = apply(step.function, *step.arguments(source))
    out = out if step.output is None else out[step.output]
    return along((step,), data), out.node


# ---------------------------------------------------------------- writing results into arrays


def _into(function, args, kwargs, target):
    """``function(..., out=target)``."""
    if type(target) is tuple:
        raise TapeError(f"out= of several arrays is not followed\n  at {user_location()}")
    written = plain(target)
    for a in map(plain, args):
        parts = a if type(a) in (list, tuple) else (a,) if function in (np.concatenate, np.stack) else ()
        if any(type(i) is _ndarray and np.may_share_memory(i, written) for i in parts):
            raise TapeError(f"out= shares its memory with the arrays that are joined\n  at {user_location()}")
    mask = kwargs.pop("where", True)
    where = {} if mask is True else {"where": plain(mask)}
    idle = not is_active((*args, *kwargs.values()))
    if isinstance(target, Tensor):
        if idle and (mask is True or not is_active(target)) and type(plain(target)) is _ndarray:
            content = duplicate(plain(target))
            function(*plain(tuple(args)), **plain(kwargs), **where, out=content)
            write(target, Ellipsis, content, None)
            return target
    else:
        if idle:
            return function(*plain(tuple(args)), **plain(kwargs), **where, out=target)
        raise unseen()
    assign(target, function, args, kwargs, mask)
    return target


def assign(target, function, args, kwargs=None, mask=True):
    """Write ``function(*args)`` into the array `target`, as ``out=target, where=mask`` would."""
    kwargs = kwargs or {}
    with np.errstate(all="ignore") if mask is not True else np.errstate():
        value = apply(function, args, kwargs)
    raw = plain(value)
    # NumPy may compute in the type of what it writes to, and raises where that is no type to cast to. Of one complex
    # number in place the last bit may be another one.
    anew = np.asarray(raw).dtype != target.dtype or (target.size == 1 and target.dtype.kind == "c")
    if mask is not True:
        value = apply(np.where, (mask, value, target))
        raw = plain(value)
    if anew:
        raw = duplicate(plain(target))
        operands = [raw if a is target else plain(a) for a in args]
        function(*operands, **plain(kwargs), **({} if mask is True else {"where": plain(mask)}), out=raw)
    node = value.node if isinstance(value, Tensor) and carries(raw) else None
    if np.shape(raw) != target.shape:
        elementwise = isinstance(function, np.ufunc) and function.signature is None
        if not elementwise or np.broadcast_shapes(np.shape(raw), target.shape) != target.shape:
            function(*plain(tuple(args)), **plain(kwargs), out=duplicate(plain(target)))  # raises where NumPy does
        write(target, Ellipsis, raw, node)
    elif isinstance(value, Traced) and value.storage is None:
        replace(target, raw, node)
    else:
        write(target, Ellipsis, raw, node)
    return target


def recorder(function):
    """The recording version of any callable that a rule may cover."""
    return lambda *args, **kwargs: apply(function, args, kwargs)
