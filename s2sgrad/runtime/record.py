"""Recording one call: run it on the plain data, and keep what its pullback will need.

Here the rule table meets the graph. `apply` is the general way: any callable, any arguments, values
nested in lists. `unary` and `binary` make the short cuts that operators and ufuncs take: what can be
decided once per callable is decided when they are made, and a call does its arithmetic, writes a
node and returns.
"""

import dis
import inspect
import operator
import sys

import numpy as np

from s2sgrad.errors import MissingRuleError, TapeError
from s2sgrad.rules.table import Rule, lookup
from s2sgrad.runtime.arrays import unbroadcast
from s2sgrad.runtime.fuse import fused
from s2sgrad.runtime.grad_mode import PAUSED, is_recording
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.operands import as_data
from s2sgrad.runtime.tensor import Tensor, Traced, traced
from s2sgrad.runtime.views import ITEM, Step, along, duplicate, link, refresh, replace, write

_ndarray = np.ndarray
_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)
_NUMBERS = frozenset((float, int, np.float64, np.float32, bool, np.int64, np.bool_))
_REAL = frozenset((float, np.float64, np.float32))
_IMMUTABLE = (float, int, complex, bool, str, np.generic, type(None), slice, type(...), np.dtype, type)

_WRITEABLE = 0x400  # in `flags.num`: `flags.writeable` warns of what `np.broadcast_arrays` returns
_HELPERS = unbroadcast.__module__  # of their arguments that have no derivative, only shape and type count

NATIVE = {}  # callables that the tape handles by itself: callable -> replacement taking tensors


def keep_array(array):
    """A plain array as a node may hold it. The fallback puts its own in place: one copy of each content."""
    return np.array(array)


def by_source(function):
    """A recording version of a callable without a rule, by its Python source. The fallback puts its own in place."""
    return None


# ---------------------------------------------------------------- reading rules


def parameters_read(function) -> frozenset:
    """The names of the parameters whose values `function` looks at."""
    code = getattr(function, "__code__", None)
    if code is None:
        return frozenset(range(0))
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    read = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith(("LOAD_FAST", "LOAD_CLOSURE", "LOAD_DEREF")):
            loaded = instruction.argval
            read.update(loaded if isinstance(loaded, tuple) else (loaded,))
    return frozenset(n for n in names if n in read)


def _is_identity(partial) -> bool:
    """Whether a partial gives the change of its argument as it is."""
    code = getattr(partial, "__code__", None)
    return code is not None and code.co_code == (lambda t: t).__code__.co_code


class Elementwise:
    """What recording needs to know of an elementwise rule."""

    def __init__(self, rule: Rule):
        self.rule = rule
        self.name = getattr(rule.function, "__name__", str(rule.function))
        self.partials = rule.partials
        self.uses_out = rule.uses_out
        self.passes = tuple([_is_identity(partial) for partial in rule.partials])
        self.reads = []
        for partial in rule.partials:
            code = getattr(partial, "__code__", None)
            if code is None:
                self.reads.append((True,) * len(rule.partials))
            else:
                names = code.co_varnames[1 : 1 + len(rule.partials)]
                read = parameters_read(partial)
                self.reads.append(tuple(n in read for n in names))
        self._forms = {}

    def fitting(self, active) -> tuple:
        """Form for real values of the result's own shape, and which of (arguments, out) to save."""
        key = ("fit", active)
        if key not in self._forms:
            partials = [self.partials[i] for i in active]
            arity = len(self.partials)
            out = any(self.uses_out[i] for i in active)
            keep = tuple(any(self.reads[i][j] for i in active) for j in range(arity))
            pull = partials[0] if len(active) == 1 else _both(partials, [self.uses_out[i] for i in active], out)

            def make_twin():
                from s2sgrad.runtime.fallback import recording_rule

                if len(active) == 1:
                    return recording_rule(partials[0])
                return _both([recording_rule(p) for p in partials], [self.uses_out[i] for i in active], out)

            passes = len(active) == 1 and self.passes[active[0]]
            form = Form(self.name, pull, active, arity if out else None, make_twin, arity + out, passes=passes)
            self._forms[key] = form, keep, out
        return self._forms[key]

    def exact(self, active, number=None, dtype=_F64) -> Form:
        """The same for arrays of one shape and type, of which the argument `number` may be a boxed number instead."""
        key = ("exact", active, number, dtype)
        if key not in self._forms:
            form, _, out = self.fitting(active)
            partials = [self.partials[i] for i in active]
            pull = None
            if all(getattr(p, "__module__", "").startswith("s2sgrad.rules.") for p in partials):
                names = ["x", "y", "z"][: len(self.partials)]
                numbers = () if number is None else (names[number],)
                pull, over = fused(partials, names, [self.uses_out[i] for i in active], form.pull, numbers, dtype)
            if pull is not None:
                form = Form(self.name, pull, active, form.out, form.twin, form.width, over, fresh=dtype)
            self._forms[key] = form
        return self._forms[key]

    def general(self, active) -> tuple:
        """Form for any shapes and types: conjugation, and sums over broadcast axes."""
        key = ("any", active)
        if key not in self._forms:
            arity = len(self.partials)
            out = any(self.uses_out[i] for i in active)

            def make(partials, unbroadcast, conj, iscomplex):
                def pull(g, *saved):
                    args = saved[:arity]
                    cotangents = []
                    for i, partial in zip(active, partials, strict=True):
                        called = saved if self.uses_out[i] else args
                        if iscomplex(g) or any(iscomplex(a) for a in called):
                            c = conj(partial(conj(g), *called))
                        else:
                            c = partial(g, *called)
                        cotangents.append(unbroadcast(c, args[i]))
                    return tuple(cotangents)

                return pull

            def make_twin():
                from s2sgrad.runtime.fallback import recording_rule

                return make(
                    [recording_rule(self.partials[i]) for i in active],
                    recorder(unbroadcast),
                    recorder(np.conjugate),
                    lambda a: np.iscomplexobj(a.primal if isinstance(a, Tensor) else a),
                )

            pull = make([self.partials[i] for i in active], unbroadcast, np.conjugate, np.iscomplexobj)
            self._forms[key] = Form(self.name, pull, active, arity if out else None, make_twin), out
        return self._forms[key]


def _both(partials, uses_out, out):
    """One pullback of several partials."""
    if len(partials) == 2:
        first, second = partials
        if not out:
            return lambda g, x, y: (first(g, x, y), second(g, x, y))
        if not uses_out[0]:
            return lambda g, *args: (first(g, *args[:-1]), second(g, *args))
        if not uses_out[1]:
            return lambda g, *args: (first(g, *args), second(g, *args[:-1]))
        return lambda g, *args: (first(g, *args), second(g, *args))

    def pull(g, *args):
        inputs = args[:-1] if out else args
        return tuple(p(g, *(args if u else inputs)) for p, u in zip(partials, uses_out, strict=True))

    return pull


_elementwise = {}


def elementwise_of(function):
    """The `Elementwise` of a callable, or None where its rule is of another kind."""
    operation = _elementwise.get(function)
    if operation is None:
        rule = lookup(function)
        if rule is not None and rule.kind == "elementwise":
            operation = _elementwise[function] = Elementwise(rule)
    return operation


# ---------------------------------------------------------------- the general way


class Arguments:
    """The arguments of a call, unwrapped.

    Attributes
    ----------
    args, kwargs
        Plain, of the shape of the call.
    paths : list of tuple
        Where the differentiated ones stand: ``(position or keyword, index, index, ...)``.
    nodes : list of Node
        Their nodes.
    tensors : list of (path, Tensor)
        All tensors among them.
    """

    __slots__ = ("args", "kwargs", "paths", "nodes", "tensors")

    def __init__(self, args, kwargs):
        self.paths = []
        self.nodes = []
        self.tensors = []
        self.args = tuple([self._plain(a, (i,)) for i, a in enumerate(args)])
        self.kwargs = {k: self._plain(a, (k,)) for k, a in kwargs.items()} if kwargs else {}
        if PAUSED.count and not is_recording():
            self.paths, self.nodes = [], []

    def _plain(self, a, path):
        kind = type(a)
        if kind is Traced or isinstance(a, Tensor):
            if a.storage is not None:
                refresh(a)
            self.tensors.append((path, a))
            if a.node is not None:
                self.paths.append(path)
                self.nodes.append(a.node)
            return a.primal
        if kind is list or kind is tuple:
            items = [self._plain(item, (*path, i)) for i, item in enumerate(a)]
            return items if kind is list else tuple(items)
        if kind is dict:
            return {k: self._plain(item, (*path, k)) for k, item in a.items()}
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return kind(*[self._plain(item, (*path, i)) for i, item in enumerate(a)])
        return a


def plain(a):
    """`a` without tensors, deep in lists, tuples and dicts."""
    kind = type(a)
    if kind is Traced or isinstance(a, Tensor):
        if a.storage is not None:
            refresh(a)
        return a.primal
    if kind is list or kind is tuple:
        return kind([plain(item) for item in a])
    if kind is dict:
        return {k: plain(item) for k, item in a.items()}
    if kind is slice:
        return slice(plain(a.start), plain(a.stop), plain(a.step))
    return a


def is_active(a) -> bool:
    """Whether a derivative flows through `a`, or something in it."""
    if isinstance(a, Tensor):
        if a.storage is not None:
            refresh(a)
        return a.node is not None
    if type(a) in (list, tuple):
        return any(is_active(item) for item in a)
    if type(a) is dict:
        return any(is_active(item) for item in a.values())
    return False


def kept(a):
    """`a` as a node may hold it: nobody else will change it."""
    if isinstance(a, _IMMUTABLE):
        return a
    if type(a) is _ndarray:
        return keep_array(a)
    if type(a) in (list, tuple):
        return type(a)([kept(item) for item in a])
    if type(a) is dict:
        return {k: kept(item) for k, item in a.items()}
    return a


def _keep(arguments):
    """The arguments as a node may hold them."""
    own = set()
    for _, t in arguments.tensors:
        own.add(id(t.primal))
        if t.storage is not None:
            t.storage.saved = True

    def keep(a):
        if isinstance(a, _IMMUTABLE) or id(a) in own:
            return a
        if type(a) in (list, tuple):
            return type(a)([keep(item) for item in a])
        return kept(a)

    return tuple([keep(a) for a in arguments.args]), {k: keep(a) for k, a in arguments.kwargs.items()}


def full_name(function) -> str:
    """What people call a callable, by the shortest module that has it.

    Examples
    --------
    >>> full_name(np.linalg.norm), full_name(np.add)
    ('numpy.linalg.norm', 'numpy.add')
    """
    name = getattr(function, "__name__", None) or type(function).__name__
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        homes = ("numpy", "scipy.special")
        module = next((m for m in homes if getattr(sys.modules.get(m), name, None) is function), "")
    parts = module.split(".")
    for i in range(1, len(parts)):
        if parts[i].startswith("_"):
            shown = sys.modules.get(".".join(parts[:i]))
            module = shown.__name__ if getattr(shown, name, None) is function else module
            break
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (type, type(sys))):
        name = f"{type(owner).__name__}.{name}"
    return f"{module}.{name}" if module else name


def missing(function, what=None):
    """The error for a derivative that has to flow through something without a rule."""
    detail = what or f"{full_name(function)} has no derivative rule, but a derivative has to flow through it"
    return MissingRuleError(
        f"{detail}\n  at {user_location()}\n"
        f"Register one with s2sgrad.rules.table (elementwise, linear or vjp), "
        f"or pass it stop_gradient(value) if it is constant."
    )


def wrap(out):
    """The result of a call that carries no derivative: arrays as `Traced`, numbers as they are."""
    kind = type(out)
    if kind is _ndarray:
        return traced(out, None)
    if kind is tuple or kind is list:
        return kind([wrap(item) for item in out])
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return kind(*[wrap(item) for item in out])
    return out


_keyword_names = {}  # callable -> what `keyword_names` says of it


def keyword_names(function) -> tuple:
    """Which positional arguments of `function` its rule knows by keyword only, and `out` wherever it stands.

    Returns
    -------
    count : int
        How many arguments stay positional.
    names : tuple of str
        Those of the arguments from there on.
    defaults : dict
    """
    if isinstance(function, np.ufunc):
        return function.nin, (("out",) if function.nout == 1 else ()), {}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return sys.maxsize, (), {}
    rule = lookup(function)
    covered = sys.maxsize
    if rule is not None and rule.kind != "inactive":
        if rule.kind == "elementwise":
            covered = len(rule.partials)
        elif _variadic(rule) is None:
            code = getattr(_pullback_of(rule), "__code__", None)
            covered = code.co_argcount - (1 if rule.kind == "linear" else 2) if code is not None else sys.maxsize
    names = []
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            break
        names.append(parameter.name)
    writes = "out" in names and (rule is None or "out" not in rule.parameters)
    count = min(covered, names.index("out") if writes else sys.maxsize)
    if count >= len(names) or any(p.kind is p.POSITIONAL_ONLY for p in parameters[count : len(names)]):
        return sys.maxsize, (), {}
    return count, tuple(names[count:]), {p.name: p.default for p in parameters}


def _by_name(args, kwargs, count, names, defaults):
    """The arguments of a call with those after the first `count` passed by name, and defaults left away."""
    if len(args) - count > len(names):
        return args, kwargs  # too many: the call will say so
    more = {k: a for k, a in zip(names, args[count:], strict=False) if a is not defaults.get(k)}
    if "out" in more and more["out"] is None:
        del more["out"]
    if more.keys() & kwargs.keys():
        return args, kwargs
    return args[:count], {**kwargs, **more}


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
        named = _keyword_names.get(function)
        if named is None:
            named = keyword_names(function)
            if isinstance(getattr(function, "__self__", sys), type(sys)):  # no object is kept alive for its methods
                _keyword_names[function] = named
        if len(args) > named[0]:
            args, kwargs = _by_name(args, kwargs or {}, *named)
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
    if not _carries(out):
        return _without_derivative(out)
    for a in (*arguments.args, *arguments.kwargs.values()):
        if type(a) is not _ndarray and isinstance(a, _ndarray):
            as_data(a, function)
    return wrap_views(out, function, arguments, _general_node(function, rule, arguments, out))


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
        form = _general_forms.get((function, 1, (), ((0,),)))
        if form is not None:
            if x.storage is not None:
                x.storage.saved = True
            return traced(out, make_node(form, (out, (data,), {}), (x.node,)))
    arguments = Arguments((x,), {})
    if not _carries(out) or not arguments.nodes:
        return wrap_views(out, function, arguments)
    return wrap_views(out, function, arguments, _general_node(function, rule, arguments, out))


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


def is_numeric(dtype) -> bool:
    """Whether arrays of this type hold numbers: objects, records and text would take a derivative out of sight.

    Examples
    --------
    >>> is_numeric(np.dtype(float)), is_numeric(np.dtype(object)), is_numeric(np.dtype([("a", float)]))
    (True, False, False)
    """
    return dtype.kind in "biufc" or dtype.kind == "V" and not issubclass(dtype.type, np.void)


def require_numeric(dtype) -> None:
    """Recorded values may not be stored in an array that does not hold numbers."""
    if not is_numeric(dtype):
        kind = {"O": "an array of objects", "V": "a structured array"}.get(dtype.kind, f"an array of {dtype}")
        raise TapeError(
            f"recorded values are put into {kind}: their derivative would be lost\n  at {user_location()}\n"
            "Use a list or a dict of arrays, or stop_gradient(value) where it is meant to be constant."
        )


def _without_derivative(out):
    """The result of a call with recorded arguments that cannot carry their derivative: integers, mostly."""
    if isinstance(out, (_ndarray, np.void)):
        require_numeric(out.dtype)
    return wrap(out)


def _carries(out):
    """Whether a result can carry a derivative: floats and complex numbers do."""
    if type(out) is _ndarray:
        return out.dtype.kind in "fcV" and is_numeric(out.dtype)
    if isinstance(out, (tuple, list)):
        return any(_carries(item) for item in out)
    return isinstance(out, (float, complex, np.inexact)) or getattr(out, "dtype", _F64).kind in "fcV"


def _apply_elementwise(function, rule, args, kwargs, arguments):
    arity = len(rule.partials)
    if kwargs and "where" in kwargs and kwargs["where"] is not True:
        raise missing(function, f"{rule.function!r} with where= and no out= leaves elements undefined")
    named = {k: v for k, v in kwargs.items() if k in rule.parameters}
    if named:
        names = rule.parameters
        rest = {k: v for k, v in kwargs.items() if k not in named}
        return apply(function, (*args, *(kwargs[n] for n in names[len(args) :] if n in named)), rest)
    unknown = sorted(set(kwargs) - {"dtype", "casting", "order", "subok", "where"})
    if len(args) != arity or unknown:
        what = f"the keyword {unknown[0]!r}" if unknown else f"{len(args)} arguments"
        raise missing(function, f"the rule of {_title(function)} does not cover {what}")
    out = function(*arguments.args, **arguments.kwargs)
    if not _carries(out):
        return _without_derivative(out)
    active, nodes = [], []
    for path, node in zip(arguments.paths, arguments.nodes, strict=True):
        if len(path) > 1:
            raise missing(function, f"{rule.function!r} of a list of recorded values: stack them with np.array first")
        if rule.partials[path[0]] is not None:
            active.append(path[0])
            nodes.append(node)
    if not active:
        return wrap(out)
    arguments.args = tuple([as_data(a, function) for a in arguments.args])
    form, uses_out = elementwise_of(function).general(tuple(active))
    saved, _ = _keep(arguments)
    node = make_node(form, (*saved, out) if uses_out else saved, tuple(nodes))
    return traced(out, node)


class GeneralForm(Form):
    """How a call with a linear or general rule is pulled back; `saved` is (out, args, kwargs)."""

    __slots__ = ("paths",)

    def restore(self, node, tensor):
        out, args, kwargs = node.saved
        args, kwargs = list(args), dict(kwargs)
        for path, edge in zip(self.paths, node.edges, strict=True):
            holder = args if isinstance(path[0], int) else kwargs
            _put(holder, path, tensor, edge)
        if isinstance(out, (tuple, list)):
            items = [
                tensor(item, make_node(PICK, (i, len(out)), node)) if _carries(item) else item
                for i, item in enumerate(out)
            ]
            out = type(out)(*items) if hasattr(out, "_fields") else type(out)(items)
        else:
            out = tensor(out, node)
        return out, tuple(args), kwargs


def _put(holder, path, tensor, edge):
    for i in path[:-1]:
        inner = holder[i]
        inner = dict(inner) if type(inner) is dict else list(inner)
        holder[i] = inner
        holder = inner
    holder[path[-1]] = tensor(holder[path[-1]], edge)


def _dig(value, path):
    for i in path:
        if value is None:
            return None
        value = value[i]
    return value


def _named(rule, arguments, function):
    """The name of each differentiated argument, and where in its cotangent it is found."""
    names = rule.parameters
    variadic = _variadic(rule)
    for k in arguments.kwargs:
        if k not in names and not _takes_any_keyword(rule):
            raise missing(function, f"the rule of {_title(function)} does not cover the keyword {k!r}")
    if len(arguments.args) > len(names) and variadic is None:
        raise missing(function, f"the rule of {_title(function)} covers {len(names)} arguments")
    found = []
    for path in arguments.paths:
        head, rest = path[0], path[1:]
        if isinstance(head, int):
            if variadic is not None and head >= names.index(variadic):
                rest = (head - names.index(variadic), *rest)
                head = variadic
            else:
                head = names[head]
        if head not in rule.differentiable:
            if getattr(function, "__module__", None) == _HELPERS:
                found.append(None)  # only its shape and type count
                continue
            raise missing(
                function,
                f"the rule of {_title(function)} has no derivative for the argument {head!r}",
            )
        found.append((head, rest))
    return found


def _title(function):
    return getattr(function, "__name__", repr(function))


def _pullback_of(rule):
    return rule.joint or next(iter(rule.pullbacks.values()))


def _variadic(rule):
    code = getattr(_pullback_of(rule), "__code__", None)
    if code is None or not code.co_flags & 0x04:
        return None
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount]


def _takes_any_keyword(rule):
    code = getattr(_pullback_of(rule), "__code__", None)
    return code is not None and bool(code.co_flags & 0x08)


_general_forms = {}


def _general_node(function, rule, arguments, out):
    """The node of a call whose rule is linear or general."""
    key = (function, len(arguments.args), tuple(arguments.kwargs), tuple(arguments.paths))
    form = _general_forms.get(key)
    if form is None:
        form = _general_forms[key] = _general_form(function, rule, arguments)
    if rule.kind == "linear" and len(arguments.args) == 1:
        # an adjoint looks at the shape and type of its argument only: it need not be kept from change
        args, kwargs = arguments.args, arguments.kwargs
    else:
        args, kwargs = _keep(arguments)
    return make_node(form, (out, args, kwargs), tuple(arguments.nodes))


def _pullbacks(rule):
    return [*rule.pullbacks.values(), *([rule.joint] if rule.joint else [])]


def _fit(c, x):
    c = unbroadcast(c, x)
    return np.asarray(c, x.dtype) if type(x) is _ndarray and x.dtype.kind in "fc" else c


def _fitted(pull, fit, paths):
    """A pullback whose cotangents are like their arguments: a rule may be content with what broadcasts or converts."""

    def fitted(g, out, args, kwargs):
        values = [_dig(args[path[0]] if isinstance(path[0], int) else kwargs[path[0]], path[1:]) for path in paths]
        found = pull(g, out, args, kwargs)
        return tuple([None if c is None else fit(c, value) for c, value in zip(found, values, strict=True)])

    return fitted


def _general_form(function, rule, arguments):
    found = _named(rule, arguments, function)
    linear = rule.kind == "linear"
    names = {entry[0] for entry in found if entry is not None}
    joint = rule.joint if any(name not in rule.pullbacks for name in names) else None

    def make(pullbacks, joint):
        if len(found) == 1 and found[0] is not None and not found[0][1] and joint is None:
            (name, _), *_ = found
            pullback = pullbacks[name]
            if linear:
                return lambda g, out, args, kwargs: (pullback(g, *args, **kwargs),)
            return lambda g, out, args, kwargs: (pullback(g, out, *args, **kwargs),)

        def pull(g, out, args, kwargs):
            done = {}
            if joint is not None:
                done.update(zip(rule.joint_names, joint(g, out, *args, **kwargs), strict=True))
            cotangents = []
            for entry in found:
                if entry is None:
                    cotangents.append(None)
                    continue
                name, rest = entry
                if name not in done:
                    pullback = pullbacks[name]
                    done[name] = pullback(g, *args, **kwargs) if linear else pullback(g, out, *args, **kwargs)
                cotangents.append(_dig(done[name], rest))
            return tuple(cotangents)

        return pull

    def make_twin():
        from s2sgrad.runtime.fallback import recording_rule

        needed = {name: recording_rule(rule.pullbacks[name]) for name in names if name in rule.pullbacks}
        return fitted(make(needed, joint and recording_rule(joint)), recorder(unbroadcast))

    paths = tuple(arguments.paths)
    of_the_house = all([getattr(p, "__module__", "").startswith("s2sgrad.rules.") for p in _pullbacks(rule)])
    fitted = (lambda pull, _: pull) if of_the_house else (lambda pull, fit: _fitted(pull, fit, paths))
    form = GeneralForm(_title(function), fitted(make(rule.pullbacks, joint), _fit), make_twin=make_twin)
    form.paths = arguments.paths
    return form


# the cotangents of a call with several results meet in the call's node as a tuple
class PickForm(Form):
    """One of several results: its cotangent enters the call's at its place."""

    __slots__ = ()


def _pick(g, i, n):
    return Parts(i, n, g)


class Parts(tuple):
    """The cotangents of a tuple of results; None where nothing has arrived."""

    __slots__ = ()

    def __new__(cls, i, n, g):
        return tuple.__new__(cls, [g if j == i else None for j in range(n)])

    def __add__(self, other):
        return tuple.__new__(
            Parts, [b if a is None else a if b is None else a + b for a, b in zip(self, other, strict=True)]
        )


PICK = PickForm("Pick", _pick)


def wrap_views(out, function, arguments, node=None):
    """The result as `Traced`, on the storage of the argument that it is a view of, if it is one."""
    kind = type(out)
    if kind is _ndarray:
        return _wrap_array(out, function, arguments, node, None)
    if kind is tuple or kind is list or isinstance(out, tuple):
        n = len(out)
        items = []
        for i, item in enumerate(out):
            part = node if node is None or not _carries(item) else make_node(PICK, (i, n), node)
            if not _carries(item):
                part = None
            if type(item) is _ndarray:
                items.append(_wrap_array(item, function, arguments, part, i))
            else:
                items.append(item if part is None else traced(item, part))
        return kind(*items) if hasattr(out, "_fields") else kind(items)
    return out if node is None else traced(out, node)


def _wrap_array(out, function, arguments, node, output):
    for path, t in arguments.tensors:
        data = t.primal
        if data is out:
            return t
        if out.base is not None and type(data) is _ndarray and len(path) == 1 and np.may_share_memory(out, data):
            at = path[0]
            args, kwargs = arguments.args, arguments.kwargs
            if isinstance(at, int):
                step = Step(function, args[:at], args[at + 1 :], kwargs, output=output)
            else:
                step = Step(function, args, kwargs=kwargs, name=at, output=output)
            if node is not None and t.storage is not None:
                t.storage.saved = True
            if data.flags.writeable and not out.flags.num & _WRITEABLE and lookup(function) is None:
                out = step(data)  # it was made of an array lent read-only
                if out is data:
                    return t
            return link(out, t, step, node)
    if node is None and is_view(out, (*arguments.args, *arguments.kwargs.values())):
        return out
    return traced(out, node)


def is_view(out, args):
    """Whether `out` is (a view of) a plain array among `args`: the tape, which does not hold that, holds no view."""
    return any(type(a) is _ndarray and (a is out or out.base is not None and np.may_share_memory(a, out)) for a in args)


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
    for a in args:
        if type(a) in (list, tuple) and any(type(i) is _ndarray and np.may_share_memory(i, written) for i in plain(a)):
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
        raise TapeError(
            "a recorded value is written into a plain array that the tape does not see\n"
            f"  at {user_location()}\n"
            "Make the array within the function, or pass it as an argument."
        )
    assign(target, function, args, kwargs, mask)
    return target


def assign(target, function, args, kwargs=None, mask=True):
    """Write ``function(*args)`` into the array `target`, as ``out=target, where=mask`` would."""
    kwargs = kwargs or {}
    with np.errstate(all="ignore") if mask is not True else np.errstate():
        value = apply(function, args, kwargs)
    raw = plain(value)
    if not np.can_cast(np.asarray(raw).dtype, target.dtype, kwargs.get("casting", "same_kind")):
        function(*plain(tuple(args)), **plain(kwargs), out=plain(target))  # raises as NumPy does
    if mask is not True:
        value = apply(np.where, (mask, value, target))
        raw = plain(value)
    node = value.node if isinstance(value, Tensor) else None
    if np.shape(raw) != target.shape:
        if np.broadcast_shapes(np.shape(raw), target.shape) != target.shape:
            function(*plain(tuple(args)), **plain(kwargs), out=plain(target))  # raises as NumPy does
        write(target, Ellipsis, raw, node)
    elif isinstance(value, Traced) and value.storage is None:
        replace(target, raw, node)
    else:
        write(target, Ellipsis, raw, node)
    return target


def recorder(function):
    """The recording version of any callable that a rule may cover."""
    return lambda *args, **kwargs: apply(function, args, kwargs)
