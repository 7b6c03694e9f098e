"""Finite differences over pytrees: the judge of the corpus, which shares nothing with the engines."""

import copy
import dataclasses
import inspect

import numpy as np

STEP = 2e-4


def flatten(tree):
    """The leaves of `tree`, in order, and a function that builds the tree of other leaves."""
    if isinstance(tree, (list, tuple)):
        parts = [flatten(item) for item in tree]
        make = type(tree)._make if hasattr(tree, "_fields") else type(tree)
    elif isinstance(tree, dict):
        parts = [flatten(item) for item in tree.values()]
        keys = list(tree)
        make = lambda items: type(tree)(zip(keys, items, strict=True))  # noqa: E731
    elif dataclasses.is_dataclass(tree):
        names = [f.name for f in dataclasses.fields(tree)]
        parts = [flatten(getattr(tree, name)) for name in names]
        make = lambda items: type(tree)(**dict(zip(names, items, strict=True)))  # noqa: E731
    else:
        return [tree], lambda leaves: leaves[0]

    def rebuild(leaves):
        items, start = [], 0
        for own, build in parts:
            items.append(build(leaves[start : start + len(own)]))
            start += len(own)
        return make(items)

    return [leaf for own, _ in parts for leaf in own], rebuild


def widest(leaf):
    """A leaf in double precision, in which differences are taken."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return np.array(leaf, dtype=complex if np.iscomplexobj(leaf) else float)[()]
    return complex(leaf) if isinstance(leaf, complex) else float(leaf)


def difference(scalar, leaf):
    """The derivative of the scalar function `scalar` at one leaf, fourth-order central differences.

    For a complex leaf the gradient is that of steepest ascent, d/d(re) + i d/d(im).
    """
    leaf = widest(leaf)
    flat = np.array(leaf).reshape(-1)
    out = np.zeros_like(flat)

    def at(index, change):
        moved = flat.copy()
        moved[index] += change
        moved = moved.reshape(np.shape(leaf))
        return complex(scalar(type(leaf)(moved) if np.ndim(leaf) == 0 else moved))

    def along(index, unit):
        near = at(index, unit * STEP) - at(index, -unit * STEP)
        far = at(index, 2 * unit * STEP) - at(index, -2 * unit * STEP)
        return ((8 * near - far) / (12 * STEP)).real

    for index in range(flat.size):
        out[index] = along(index, 1)
        if np.iscomplexobj(flat):
            out[index] += 1j * along(index, 1j)
    return out.reshape(np.shape(leaf))


def replace_argument(function, args, kwargs, which, value):
    """The arguments of a call with the argument `which` (a position or a name) set to `value`."""
    args, kwargs = list(copy.deepcopy(args)), copy.deepcopy(kwargs)
    if isinstance(which, str) and which not in kwargs:
        which = list(inspect.signature(function).parameters).index(which)
    if isinstance(which, str):
        kwargs[which] = value
    else:
        args[which] = value
    return tuple(args), kwargs


def argument(function, args, kwargs, which):
    """The argument `which` (a position or a name) of a call."""
    if isinstance(which, str):
        if which in kwargs:
            return kwargs[which]
        which = list(inspect.signature(function).parameters).index(which)
    return args[which]


def gradient(function, args, kwargs, which):
    """The gradient of ``function(*args, **kwargs)`` by one argument, as a tree like that argument."""
    leaves, rebuild = flatten(argument(function, args, kwargs, which))

    def moved(position, value):
        changed = rebuild(copy.deepcopy([*leaves[:position], value, *leaves[position + 1 :]]))
        new_args, new_kwargs = replace_argument(function, args, kwargs, which, changed)
        return function(*new_args, **new_kwargs)

    return rebuild([difference(lambda v, i=i: moved(i, v), leaf) for i, leaf in enumerate(leaves)])
