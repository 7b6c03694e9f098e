"""The rule table read in the plainest way: a VJP and a JVP of one call, on NumPy arrays.

Neither engine is involved, so that a wrong rule cannot hide behind an engine.
"""

import inspect

import numpy as np

from s2sgrad.runtime.arrays import is_differentiable, tree_add, unbroadcast


def bind(rule, args, kwargs):
    """The call's arguments by the names that the rule gives them, as ``inspect.BoundArguments``."""
    if rule.kind == "elementwise":
        parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in rule.parameters]
        return inspect.Signature(parameters).bind(*args, **kwargs)
    pullback = rule.joint or next(iter(rule.pullbacks.values()))
    parameters = list(inspect.signature(pullback).parameters.values())
    return inspect.Signature(parameters[1 if rule.kind == "linear" else 2 :]).bind(*args, **kwargs)


def call(function, bound):
    return function(*bound.args, **bound.kwargs)


def any_complex(*trees):
    return any(np.iscomplexobj(leaf) for tree in trees for leaf in leaves(tree))


def leaves(tree):
    """The differentiable leaves of nested tuples and lists."""
    if isinstance(tree, (tuple, list)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree] if is_differentiable(tree) else []


def vjp(rule, g, out, bound, names):
    """The cotangents of the named arguments."""
    if rule.joint is not None:
        cotangents = dict(zip(rule.joint_names, rule.joint(g, out, *bound.args, **bound.kwargs), strict=True))
        return {name: cotangents[name] for name in names}
    return {name: _pullback(rule, name, g, out, bound) for name in names}


def _pullback(rule, name, g, out, bound):
    if rule.kind == "linear":
        return rule.pullbacks[name](g, *bound.args, **bound.kwargs)
    if rule.kind == "general":
        return rule.pullbacks[name](g, out, *bound.args, **bound.kwargs)
    d = _partial(rule, name, np.conj(g) if any_complex(g, bound.args) else g, out, bound)
    return unbroadcast(np.conj(d) if np.iscomplexobj(d) else d, bound.arguments[name])


def _partial(rule, name, t, out, bound):
    i = rule.parameters.index(name)
    return rule.partials[i](t, *bound.args, *([out] if rule.uses_out[i] else []))


def jvp(rule, tangents, out, bound):
    """The change of the result, for tangents given by name."""
    total = None
    for name, t in tangents.items():
        if rule.kind == "elementwise":
            change = np.broadcast_to(_partial(rule, name, t, out, bound), np.shape(out))
        elif rule.kind == "linear":
            changed = inspect.BoundArguments(bound.signature, bound.arguments | {name: t})
            change = call(rule.function, changed)
        else:
            change = rule.pushforwards[name](t, out, *bound.args, **bound.kwargs)
        total = tree_add(total, change)
    return total
