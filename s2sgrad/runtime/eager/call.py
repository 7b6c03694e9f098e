"""One operation on tensors, recorded by the rule table.

`call` is the general way: any function with a rule, any arguments. The short ways for the common kinds of tensors
are in ``shortcuts.py``.

What a node keeps is decided here as well: an argument of which the pullback reads only the shape is
replaced by a stand-in of that shape, so that it may be freed, or overwritten, before the backward pass.
"""

import copy
import functools
from inspect import signature

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.rules.placing import pieces
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.crossing import refuse_recorded
from s2sgrad.runtime.eager.modes import is_inference_mode_enabled, saving
from s2sgrad.runtime.eager.tensor import DEAD_END, Tensor, new, node_of, share
from s2sgrad.runtime.grad_mode import PAUSED, is_recording
from s2sgrad.runtime.node import COUNTER, Node
from s2sgrad.runtime.record import PICK, GeneralForm, apply, elementwise_of, parameters_read
from s2sgrad.runtime.tensor import Traced
from s2sgrad.runtime.views import ITEM, WRITE, Step

_ndarray = np.ndarray
_F64, _F32, _BF16 = np.dtype(np.float64), np.dtype(np.float32), dtypes.bfloat16.numpy
_NUMBERS = frozenset((float, int, bool))

# parameters of which a pullback reads the shape and type only, where its code does not show it
SHAPE_ONLY = {}  # function -> names


def shape_only(function, *names, of=None):
    """Say of which arguments ("out": the result) the pullback of `function` (to `of`) reads only the shape."""
    SHAPE_ONLY[function, of] = frozenset(names)


shape_only(np.sum, "a", "out")
shape_only(np.mean, "a", "out")
shape_only(np.concatenate, "arrays", "out")
shape_only(np.stack, "arrays", "out")
shape_only(np.pad, "array", "out")
shape_only(np.full, "fill_value", "out")
shape_only(np.copy, "a", "out")
shape_only(pieces, "a", "out")
shape_only(np.matmul, "x1", "out", of="x1")
shape_only(np.matmul, "x2", "out", of="x2")

# ---------------------------------------------------------------- forms under the names of the operations


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
_renamed = {}


def renamed(form, name, naming):
    """`form` under another name."""
    twin = copy.copy(form)
    twin.name = name or form.name
    return describe(twin, naming)


_nothing = bytes(16)
_stand_ins = {}  # (shape, type) -> the array, which nobody can write to


def stand_in(a):
    """An array of the shape and type of `a`, of no memory."""
    key = a.shape, a.dtype
    found = _stand_ins.get(key)
    if found is None:
        if len(_stand_ins) > 1000:
            _stand_ins.clear()
        found = _stand_ins[key] = _ndarray(a.shape, a.dtype, _nothing, 0, (0,) * a.ndim)
    return found


def _like(a):
    """An array of the layout of `a`, whose content does not matter."""
    return stand_in(a) if a.flags.c_contiguous else np.empty_like(a)


def _light(value):
    kind = type(value)
    if kind is _ndarray:
        return stand_in(value)
    if kind is list or kind is tuple:
        return kind([_light(v) for v in value])
    return value


# ---------------------------------------------------------------- what elementwise nodes keep


def elementwise_reads(operation, active):
    """The positions among (arguments, out) that the partials of `active` read, in the order of packing."""
    order = []
    arity = len(operation.partials)
    for i in active:
        for j in sorted(range(arity), key=lambda j: (j == i, j)):
            if operation.reads[i][j] and j not in order:
                order.append(j)
        if operation.uses_out[i] and arity not in order:
            order.append(arity)
    return tuple(order)


# operations in which a number stands for a tensor: it has a place among the arguments, without a derivative
_OF_TENSORS = frozenset(("Add", "Sub", "Mul", "Div", "Where"))
_CONDITIONS = {"Where": (0,), "MaskedFill": (0,)}  # arguments that never have a derivative


def _counted(name, args):
    """The arguments of an elementwise operation that have a place in ``next_functions``."""
    never = _CONDITIONS.get(name, ())
    return [i for i, a in enumerate(args) if i not in never and (name in _OF_TENSORS or isinstance(a, Tensor))]


def _trim_elementwise(node, operation, name, args):
    form = node.form
    counted = range(len(operation.partials)) if args is None else _counted(name, args)
    key = (form, name, *counted)
    twin = _renamed.get(key)
    if twin is None:
        active = form.links
        reads = elementwise_reads(operation, active)
        places = tuple([counted.index(i) for i in active])
        twin = _renamed[key] = renamed(form, name, Naming(places, len(counted), not reads, reads))
    reads = NAMING[twin].reads
    node.saved = tuple([v if i in reads or type(v) is not _ndarray else stand_in(v) for i, v in enumerate(node.saved)])
    node.form = twin


def _trim_general(node, function, rule, name):
    form = node.form
    out, args, kwargs = node.saved
    key = (form, name, *[len(a) for a in args if type(a) is list])  # each tensor of a list has its place
    twin = _renamed.get(key)
    if twin is None:
        twin = _renamed[key] = renamed(form, name, _general_naming(form, function, rule, args, kwargs))
    reads = NAMING[twin].reads
    node.form = twin
    node.saved = (
        out if "out" in reads else _light(out),
        tuple([a if i in reads else _light(a) for i, a in enumerate(args)]),
        {k: a if k in reads else _light(a) for k, a in kwargs.items()},
    )


def _general_naming(form, function, rule, args, kwargs):
    names = rule.parameters
    paths = form.paths
    star = _starred(rule)
    if star is not None:  # all that follow are of the one name
        names = (*names[:star], *[names[star]] * (len(args) - star))
    heads = [names[p[0]] if isinstance(p[0], int) and p[0] < len(names) else p[0] for p in paths]
    if rule.kind == "linear":
        read = set(names[1:])
    else:
        read = set()
        for head in heads:
            pullback = rule.pullbacks.get(head) or rule.joint
            if pullback is not None:
                read |= set(parameters_read(pullback)) - _skipped(function, head)
                read |= {n for n, p in signature(pullback).parameters.items() if p.kind in (p.VAR_POSITIONAL,)}
    reads = ["out"] if "out" in read else []
    reads += [i for i in range(len(args)) if i >= len(names) or names[i] in read]
    reads += [k for k in kwargs if k in read]
    held = [out_or_arg for out_or_arg in reads if out_or_arg == "out" or _has_array(args, kwargs, out_or_arg)]
    if paths and all(len(p) == 2 for p in paths):
        return Naming(tuple(p[1] for p in paths), len(args[paths[0][0]]), not held, tuple(reads))
    if star is not None and all(isinstance(p[0], int) for p in paths):
        return Naming(tuple(p[0] - star for p in paths), len(args) - star, not held, tuple(reads))
    differentiable = [n for n in names if n in rule.differentiable] or list(heads)
    places = tuple(differentiable.index(h) if h in differentiable else i for i, h in enumerate(heads))
    present = [n for i, n in enumerate(names) if n in differentiable and (i < len(args) or n in kwargs)]
    return Naming(places, max(len(present), max(places, default=0) + 1), not held, tuple(reads))


def _starred(rule):
    """The position of the parameter that stands for any number of arguments, or None."""
    for pullback in rule.pullbacks.values():
        for name, p in signature(pullback).parameters.items():
            if p.kind is p.VAR_POSITIONAL and name in rule.parameters:
                return rule.parameters.index(name)
    return None


def _skipped(function, head):
    return SHAPE_ONLY.get((function, head)) or SHAPE_ONLY.get((function, None), frozenset())


def _has_array(args, kwargs, where):
    value = args[where] if isinstance(where, int) else kwargs[where]
    if type(value) in (tuple, list):
        return any(type(v) is _ndarray for v in value)
    return type(value) is _ndarray


# ---------------------------------------------------------------- the general way


class _Arguments:
    """The tensors of a call as recorded arrays."""

    __slots__ = ("args", "tensors", "recording")

    def __init__(self, args):
        self.args = args
        self.tensors = []
        self.recording = is_recording()

    def traced(self, a):
        kind = type(a)
        if isinstance(a, Tensor):
            node = node_of(a)
            t = Traced()
            t.primal = a._a
            t.node = node if self.recording and dtypes.differentiable(a._a.dtype) else None
            t.storage = None
            self.tensors.append(a)
            return t
        if kind is list or kind is tuple:
            return kind([self.traced(item) for item in a])
        refuse_recorded(a)
        return a


def call(name, function, *args, **kwargs):
    """Call `function` of tensors, recorded as an operation called `name`.

    Returns
    -------
    Tensor, or a tuple or list of them as `function` returns
    """
    if not PAUSED.count:
        out = _by_plan(name, function, args, kwargs)
        if out is not None:
            return _narrowed(out, function, args) if out._a.dtype is _F32 else out
    arguments = _Arguments(args)
    traced_args = tuple([arguments.traced(a) for a in args])
    traced_kwargs = {k: arguments.traced(a) for k, a in kwargs.items()} if kwargs else kwargs
    before = next(COUNTER)
    try:
        out = apply(function, traced_args, traced_kwargs)
    except TypeError as error:
        if "not supported for the input types" in str(error) or "did not contain a loop" in str(error):
            raise NotImplementedError(f"{name}: not defined for tensors of {_types(arguments.tensors)}") from None
        raise
    out = _wrap(out, name, function, arguments, before, True)
    if not PAUSED.count and type(out) is Tensor and out._node is not None and out._node.number > before:
        _remember(name, function, args, kwargs, out)
    return _narrowed(out, function, args) if type(out) is Tensor and out._a.dtype is _F32 else out


def _narrowed(out, function, args):
    """`out` as bfloat16 where that is the operands' type: some NumPy functions answer in float32."""
    if function is neural.cast or not any(type(a) is Tensor and a._a.dtype == _BF16 for a in args):
        return out
    return cast(out, dtypes.bfloat16)


# ---------------------------------------------------------------- the same call again

_plans = {}  # what a call looks like -> (form, whether it is elementwise, what to save)
_CONSTANTS = frozenset(
    (int, float, bool, str, type(None), slice, type(...), np.dtype, np.float64, np.float32, np.int64, np.bool_)
)


def _constant(a):
    kind = type(a)
    return kind in _CONSTANTS or kind is _ndarray or kind is tuple and all(map(_constant, a)) or isinstance(a, type)


def _look(name, function, args, kwargs, active):
    """What a call looks like; a list can only be the first argument."""
    return name, function, len(args), len(args[0]) if type(args[0]) is list else None, *active, *kwargs


def _by_plan(name, function, args, kwargs):
    """The call by the plan of one before that looked the same; None where there is no plan that fits."""
    data, nodes, active = [], [], []
    for i, a in enumerate(args):
        kind = type(a)
        if kind is Tensor or isinstance(a, Tensor):
            if a._plain is not None:
                node = a._node
            elif a._inference:
                return None
            else:
                node = node_of(a)
            data.append(a._a)
            if node is not None:
                nodes.append(node)
                active.append(i)
        elif kind is list and i == 0:
            items = []
            for j, item in enumerate(a):
                if not isinstance(item, Tensor) or item._inference:
                    return None
                node = node_of(item)
                items.append(item._a)
                if node is not None:
                    nodes.append(node)
                    active.append((i, j))
            data.append(items)
        elif kind in _CONSTANTS or _constant(a):
            data.append(a)
        else:
            return None
    if kwargs and not all(map(_constant, kwargs.values())):
        return None
    plan = _plans.get(_look(name, function, args, kwargs, active))
    if plan is None:
        return None
    out = function(*data, **kwargs)
    base = None
    if type(out) is not _ndarray:
        if not isinstance(out, np.generic):
            return None
        out = np.asarray(out)
    elif out.base is not None:
        base = _viewed(out, args, data)
        if base is not None and (base is not args[0] or out is base._a):
            return None
    form, elementwise, reads = plan
    node = None
    if dtypes.differentiable(out.dtype):
        node = Node()
        node.form = form
        if elementwise:
            saved = [a if i in reads or type(a) is not _ndarray else stand_in(a) for i, a in enumerate(data)]
            if form.out is not None:
                saved.append(out)
            node.saved = tuple(saved)
        else:
            node.saved = (
                out if "out" in reads else stand_in(out),
                tuple([a if i in reads else _light(a) for i, a in enumerate(data)]),
                kwargs,
            )
        node.edges = tuple(nodes)
        node.number = next(COUNTER)
    t = new(out, node)
    if base is not None:
        as_view(base, t, (Step(function, (), tuple(data[1:]), kwargs),))
    return t


def _viewed(out, args, data):
    """The tensor among `args` that `out` is a view of, or None."""
    for t, a in zip(args, data, strict=True):
        if type(a) is _ndarray and (out.base is a or out.base is a.base or np.may_share_memory(a, out)):
            return t
    return None


def _remember(name, function, args, kwargs, t):
    """Keep the plan of a call that has just been made."""
    node = t._node
    if node.form is PICK or node.form not in NAMING or type(node.edges) is not tuple:
        return
    general = isinstance(node.form, GeneralForm)
    if not general and node.form.links is None:
        return
    active = []
    for i, a in enumerate(args):
        if isinstance(a, Tensor):
            active += [i] if node_of(a) is not None else []
        elif type(a) is list and i == 0 and all([isinstance(item, Tensor) for item in a]):
            active += [(i, j) for j, item in enumerate(a) if node_of(item) is not None]
        elif not _constant(a):
            return
    if len(active) != len(node.edges):
        return
    _plans[_look(name, function, args, kwargs, active)] = node.form, not general, NAMING[node.form].reads


def _types(tensors):
    return " and ".join(repr(t.dtype) for t in tensors)


def _wrap(out, name, function, arguments, before, whole):
    kind = type(out)
    if kind is Traced:
        node = out.node
        if whole and node is not None and node.number > before:
            finish(node, name, function, arguments)
        return _wrap_array(out, arguments, node)
    if kind is tuple or kind is list or isinstance(out, tuple):
        for item in out:
            if type(item) is Traced and item.node is not None and item.node.form is PICK and whole:
                if item.node.edges.number > before:
                    finish(item.node.edges, name, function, arguments)
                break
        items = [_wrap(item, name, function, arguments, before, False) for item in out]
        for item in items:
            if isinstance(item, Tensor) and item._base is not None and item._made is None:
                item._made = "multi"
        return tuple(items)
    if kind is _ndarray or isinstance(out, np.generic):
        return _marked(new(np.asarray(out), None))
    return out


def _marked(t):
    if PAUSED.count and is_inference_mode_enabled():
        t._inference = True
        t._plain = None
    return t


def _wrap_array(out, arguments, node):
    data = out.primal
    if type(data) is not _ndarray:
        return _marked(new(np.asarray(data), node))
    steps = ()
    source = None
    if out.storage is not None:
        for t in arguments.tensors:
            if np.may_share_memory(t._a, data):
                source, steps = t, out.steps
                break
    elif any(data is t._a for t in arguments.tensors):
        source = next(t for t in arguments.tensors if data is t._a)
        data = data[...]
    if source is None:
        return _marked(new(data, node))
    t = new(data, node)
    as_view(source, t, steps)
    return t


def as_view(source, t, steps):
    """Make `t` a view of `source`."""
    t._inference = source._inference
    share(source, t)
    t._base = source if source._base is None else source._base
    t._steps = (*source._steps, *steps)
    if source._made is not None:
        t._made = source._made
    elif PAUSED.count and not is_recording():
        t._made = "inference" if is_inference_mode_enabled() else "no_grad"


def finish(node, name, function, arguments=None):
    """Give a fresh `node` the operation's name, drop what its pullback will not read, and pack the rest."""
    form = node.form
    rule = lookup(function)
    if form is ITEM:
        node.saved = (_like(node.saved[0]), *node.saved[1:])
        return
    if rule is not None and isinstance(form, GeneralForm):
        _trim_general(node, function, rule, name)
    elif rule is not None and rule.kind == "elementwise" and form.links is not None:
        _trim_elementwise(node, elementwise_of(function), name, arguments and arguments.args)
    elif name is not None:
        _rename(node, name)
    tensors = arguments.tensors if arguments is not None else ()
    if any(t._inference for t in tensors):
        _refuse_inference(node, tensors)
    if PAUSED.count and saving() is not None:
        saving()(node, tensors)


def under(title):
    """Let the last node of a composition bear the name of the operation."""

    def decorate(function):
        @functools.wraps(function)
        def forward(*args, **kwargs):
            before = next(COUNTER)
            out = function(*args, **kwargs)
            node = out._node
            if node is not None and node.number > before:
                _rename(node, title)
            return out

        return forward

    return decorate


def _rename(node, name):
    key = (node.form, name)
    if key not in _renamed:
        naming = NAMING.get(node.form) or Naming(tuple(range(9)), 1, False, None)
        _renamed[key] = renamed(node.form, name, naming)
    node.form = _renamed[key]


def _refuse_inference(node, tensors):
    own = {id(t._a) for t in tensors if t._inference}
    if _holds(node.saved, own):
        raise RuntimeError("an inference tensor cannot be saved for backward: clone() it outside inference mode first")


def _holds(saved, ids):
    if type(saved) in (tuple, list):
        return any(_holds(v, ids) for v in saved)
    if type(saved) is dict:
        return any(_holds(v, ids) for v in saved.values())
    return id(saved) in ids


# ---------------------------------------------------------------- conversions


def floating(x):
    """`x` as a tensor of floating point or complex type."""
    if not isinstance(x, Tensor):
        raise TypeError(f"expected a Tensor, not {type(x).__name__}")
    if dtypes.differentiable(x._a.dtype):
        return x
    return cast(x, dtypes.get_default_dtype())


def cast(x, dtype):
    """`x` in another type; itself where it has that type."""
    if x._a.dtype == dtype.numpy:
        return x
    if x._a.dtype.kind == "c" and not dtype.is_complex:
        return call("ToCopy", neural.cast, call("Real", np.real, x), dtype.numpy)
    return call("ToCopy", neural.cast, x, dtype.numpy)
