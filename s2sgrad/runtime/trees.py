"""Containers of values: tuples, lists, dicts, named tuples, dataclasses, taken apart and rebuilt."""

import dataclasses

import numpy as np
import optree

from s2sgrad.runtime.tensor import Traced

_LEAVES = frozenset((np.ndarray, float, int, complex, np.float64, np.float32, Traced))
_OPTIONS = {"none_is_leaf": True, "namespace": "s2sgrad"}


def is_dataclass(x) -> bool:
    """Is it an instance of a dataclass?"""
    return hasattr(type(x), "__dataclass_fields__") and not isinstance(x, type)


def tops(tree) -> list:
    """The leaves of `tree`, dataclasses taken for such."""
    return optree.tree_leaves(tree, is_leaf=is_dataclass, **_OPTIONS)


def flatten(tree):
    """The leaves of `tree` and a function that rebuilds it from leaves.

    Examples
    --------
    >>> leaves, rebuild = flatten({"w": 1.0, "b": [2.0, 3.0]})
    >>> sorted(leaves), rebuild([x * 2 for x in leaves])
    ([1.0, 2.0, 3.0], {'w': 2.0, 'b': [4.0, 6.0]})
    """
    if type(tree) in _LEAVES:
        return [tree], only
    tops, spec = optree.tree_flatten(tree, is_leaf=is_dataclass, **_OPTIONS)
    if not any(is_dataclass(top) for top in tops):
        return tops, spec.unflatten
    parts = []
    leaves = []
    for top in tops:
        if is_dataclass(top):
            names = [f.name for f in dataclasses.fields(top)]
            inner, rebuild = flatten([getattr(top, n) for n in names])
            parts.append((len(inner), _rebuilder(top, names, rebuild)))
            leaves += inner
        else:
            parts.append((1, None))
            leaves.append(top)

    def unflatten(leaves):
        leaves = list(leaves)
        tops = []
        for n, rebuild in parts:
            tops.append(leaves[0] if rebuild is None else rebuild(leaves[:n]))
            leaves = leaves[n:]
        return spec.unflatten(tops)

    return leaves, unflatten


def fields_by_name(tree):
    """`tree` with a dict of its fields in place of each dataclass: so generated code takes cotangents.

    Examples
    --------
    >>> Pair = dataclasses.make_dataclass("Pair", ["a", "b"])
    >>> fields_by_name([Pair(1.0, Pair(2.0, 3.0))])
    [{'a': 1.0, 'b': {'a': 2.0, 'b': 3.0}}]
    """

    def named(top):
        if not is_dataclass(top):
            return top
        return {f.name: fields_by_name(getattr(top, f.name)) for f in dataclasses.fields(top)}

    return optree.tree_map(named, tree, is_leaf=is_dataclass, **_OPTIONS)


def only(leaves):
    """Rebuild a tree that is a leaf itself."""
    (leaf,) = leaves
    return leaf


def _rebuilder(instance, names, rebuild):
    def build(leaves):
        twin = object.__new__(type(instance))
        if hasattr(instance, "__dict__"):
            twin.__dict__.update(instance.__dict__)
        for name, value in zip(names, rebuild(leaves), strict=True):
            object.__setattr__(twin, name, value)
        return twin

    return build
