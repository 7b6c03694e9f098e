"""Calls with a linear or general rule: their forms and nodes."""

import numpy as np

from s2sgrad.runtime.arguments import CONSTANTS, kept_arguments, plain
from s2sgrad.runtime.arrays import unbroadcast
from s2sgrad.runtime.keywords import starred, takes_any_keyword
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.refusals import not_covered, title, without_derivative_by
from s2sgrad.runtime.results import PICK, carries

_ndarray = np.ndarray
_HELPERS = unbroadcast.__module__  # of their arguments that have no derivative, only shape and type count


class GeneralForm(Form):
    """How a call with a linear or general rule is pulled back; `saved` is (out, args, kwargs).

    Attributes
    ----------
    paths : list of tuple
        Where the differentiated arguments stand.
    flows : bool
        Whether a derivative flows to any of them; else only their shapes and types count.
    """

    __slots__ = ("flows", "paths")

    def restore(self, node, tensor):
        out, args, kwargs = node.saved
        args, kwargs = list(args), dict(kwargs)
        for path, edge in zip(self.paths, node.edges, strict=True):
            holder = args if isinstance(path[0], int) else kwargs
            _put(holder, path, tensor, edge)
        if isinstance(out, (tuple, list)):
            items = [
                tensor(item, make_node(PICK, (i, len(out)), node)) if carries(item) else item
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
    variadic = starred(rule)
    for k in arguments.kwargs:
        if k not in names and not takes_any_keyword(rule):
            raise not_covered(function, f"the keyword {k!r}")
    if len(arguments.args) > len(names) and variadic is None:
        raise not_covered(function, f"{len(arguments.args)} arguments by position")
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
            raise without_derivative_by(function, head)
        found.append((head, rest))
    return found


FORMS = {}  # what a call looks like -> its form


def general_node(function, rule, arguments, out):
    """The node of a call whose rule is linear or general; None where no derivative flows through it."""
    key = (function, len(arguments.args), tuple(arguments.kwargs), tuple(arguments.paths))
    form = FORMS.get(key)
    if form is None:
        form = FORMS[key] = _general_form(function, rule, arguments)
    if not form.flows:
        return None
    args, kwargs = arguments.args, arguments.kwargs
    linear = rule.kind == "linear"  # an adjoint looks at the shape and type of its argument only
    if not linear or len(args) != 1 or not CONSTANTS.issuperset(map(type, kwargs.values())):
        args, kwargs = kept_arguments(arguments, 0 if linear and args else None)
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


def _real_where_real(pull, real, paths):
    """A pullback whose cotangents of real arguments are real, where what comes in is complex."""

    def pulled(g, out, args, kwargs):
        found = pull(g, out, args, kwargs)
        if type(g) is _ndarray and g.dtype.kind != "c":
            return found
        values = [_dig(args[path[0]] if isinstance(path[0], int) else kwargs[path[0]], path[1:]) for path in paths]
        return tuple(
            [
                c if c is None or np.iscomplexobj(plain(x)) or not np.iscomplexobj(plain(c)) else real(c)
                for c, x in zip(found, values, strict=True)
            ]
        )

    return pulled


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
        from s2sgrad.runtime.record import recorder

        needed = {name: recording_rule(rule.pullbacks[name]) for name in names if name in rule.pullbacks}
        return fitted(make(needed, joint and recording_rule(joint)), recorder(unbroadcast), recorder(np.real))

    paths = tuple(arguments.paths)
    of_the_house = all([getattr(p, "__module__", "").startswith("s2sgrad.rules.") for p in _pullbacks(rule)])
    alone = linear and len(arguments.args) == 1  # nothing else makes its result complex

    def fitted(pull, fit, real):
        if not of_the_house:
            return _fitted(pull, fit, paths)
        return pull if alone else _real_where_real(pull, real, paths)

    form = GeneralForm(title(function), fitted(make(rule.pullbacks, joint), _fit, np.real), make_twin=make_twin)
    form.paths = arguments.paths
    form.flows = bool(names)
    return form
