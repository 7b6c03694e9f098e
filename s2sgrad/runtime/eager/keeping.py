"""What a node keeps: the least that its pullback reads.

An argument of which only the shape counts is replaced by a stand-in of that shape, so that it may be freed, or
overwritten, before the backward pass.
"""

from inspect import signature

import numpy as np

from s2sgrad.rules.placing import pieces
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.eager.modes import saving
from s2sgrad.runtime.eager.naming import NAMING, Naming, rename, renamed
from s2sgrad.runtime.eager.tensor import Tensor
from s2sgrad.runtime.elementwise import elementwise_of, parameters_read
from s2sgrad.runtime.general import GeneralForm
from s2sgrad.runtime.grad_mode import PAUSED
from s2sgrad.runtime.views import ITEM

_ndarray = np.ndarray

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


_nothing = bytes(16)
_renamed = {}  # a form, a name, and what else tells its twins apart -> the twin under the name
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


def like(a):
    """An array of the layout of `a`, whose content does not matter."""
    return stand_in(a) if a.flags.c_contiguous else np.empty_like(a)


def light(value):
    kind = type(value)
    if kind is _ndarray:
        return stand_in(value)
    if kind is list or kind is tuple:
        return kind([light(v) for v in value])
    return value


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
        out if "out" in reads else light(out),
        tuple([a if i in reads else light(a) for i, a in enumerate(args)]),
        {k: a if k in reads else light(a) for k, a in kwargs.items()},
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


def finish(node, name, function, arguments=None):
    """Give a fresh `node` the operation's name, drop what its pullback will not read, and pack the rest."""
    form = node.form
    rule = lookup(function)
    if form is ITEM:
        node.saved = (like(node.saved[0]), *node.saved[1:])
        return
    if rule is not None and isinstance(form, GeneralForm):
        _trim_general(node, function, rule, name)
    elif rule is not None and rule.kind == "elementwise" and form.links is not None:
        _trim_elementwise(node, elementwise_of(function), name, arguments and arguments.args)
    elif name is not None:
        rename(node, name)
    tensors = arguments.tensors if arguments is not None else ()
    if any(t._inference for t in tensors):
        _refuse_inference(node, tensors)
    if PAUSED.count and saving() is not None:
        saving()(node, tensors)


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
