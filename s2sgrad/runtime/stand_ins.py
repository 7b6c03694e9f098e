"""Plain NumPy in place of what C code would do out of sight.

The functions here write into arrays or call the user's function back. Each is written on ``np.``
names; the fallback runs it with those names bound to recording versions, as it does user code.
"""

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.arguments import is_active, kept, plain
from s2sgrad.runtime.arrays import unbroadcast
from s2sgrad.runtime.grad_mode import is_recording
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.record import apply, call_plain
from s2sgrad.runtime.refusals import missing
from s2sgrad.runtime.tensor import Tensor
from s2sgrad.runtime.traced import as_array, plain_key, require_apart
from s2sgrad.runtime.views import extract, item_step, replace


def copyto(dst, src, casting="same_kind", where=True):
    kind, whole = np.asarray(plain(src)).dtype, type(src) is int and dst.dtype.kind in "iu"
    if not whole and not np.can_cast(kind, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {kind!r} to {dst.dtype!r} according to the rule {casting!r}")
    if where is True:
        if src is dst:
            return  # NumPy does not ask whether it may be written to
        dst[...] = src
    else:
        dst[...] = np.where(where, src, dst)


def put(a, ind, v, mode="raise"):
    ind = np.ravel(np.asarray(ind))
    if not ind.size or not np.size(plain(v)):
        return
    if mode == "wrap":
        ind = ind % a.size
    elif mode == "clip":
        ind = np.clip(ind, 0, a.size - 1)
    else:
        outside = np.flatnonzero((ind < -a.size) | (ind >= a.size))
        if outside.size and plain(a).flags.c_contiguous:  # `np.put` writes as far as it comes
            put(a, ind[: outside[0]], v)
        ind = np.arange(a.size)[ind]  # which raises what `np.put` does
    a[np.unravel_index(ind, a.shape)] = np.resize(v, ind.size)


def _require_safe(target, values):
    """`np.place` and `np.putmask` take arrays of no wider a kind than their target is of; numbers and lists they do."""
    values = plain(values)
    if isinstance(values, np.ndarray) and not np.can_cast(values.dtype, target.dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to {target.dtype!r} according to the rule 'safe'"
        )


def place(arr, mask, vals):
    mask = np.asarray(mask, bool)
    _require_safe(arr, vals)
    if not np.size(plain(vals)) and np.any(mask):
        raise ValueError("Cannot insert from an empty array!")
    require_apart(vals, arr)
    arr[mask] = np.resize(vals, np.count_nonzero(mask))


def putmask(a, mask, values):
    _require_safe(a, values)
    if not np.size(plain(values)):
        return
    a[...] = np.where(np.reshape(np.asarray(mask, bool), a.shape), np.resize(values, a.shape), a)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = np.asarray(arr)
    moved = np.moveaxis(arr, axis, -1)
    outer = moved.shape[:-1]
    results = [np.asarray(func1d(moved[i], *args, **kwargs)) for i in np.ndindex(*outer)]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    inner = results[0].shape
    out = np.reshape(np.stack(results), outer + inner)
    at = axis % arr.ndim
    for k in range(len(inner)):
        out = np.moveaxis(out, len(outer) + k, at + k)
    return out


def vectorized(pyfunc, otypes, *arrays, **kwargs):
    """What ``np.vectorize(pyfunc, otypes)`` does with a call.

    Without `otypes` the function is called once more, and what it gives then tells the types of all results.
    """
    arrays = [np.asarray(a) for a in (*arrays, *kwargs.values())]
    positional = len(arrays) - len(kwargs)

    def call(items):
        return pyfunc(*items[:positional], **dict(zip(kwargs, items[positional:], strict=True)))

    if otypes is None:
        if not all(a.size for a in arrays):
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = call([np.ravel(a)[0] for a in arrays])
        several = isinstance(first, tuple)
        otypes = [np.asarray(plain(out)).dtype for out in (first if several else (first,))]
    else:
        several = len(otypes) > 1
    shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
    flat = [np.ravel(np.broadcast_to(a, shape)).tolist() for a in arrays]  # the function is given Python's numbers
    results = [call(items) for items in zip(*flat, strict=True)]
    columns = zip(*results, strict=True) if several and results else [results] * len(otypes)
    made = [np.reshape(np.array(list(c)), shape).astype(t) for c, t in zip(columns, otypes, strict=True)]
    return tuple(made) if several else made[0]


def piecewise(x, condlist, funclist, *args, **kw):
    x = np.asarray(x)
    if isinstance(condlist, (bool, np.bool_)) or (np.ndim(condlist[0]) == 0 and x.ndim > 0):
        condlist = [condlist]
    condlist = [np.asarray(c, bool) for c in condlist]
    if len(funclist) == len(condlist) + 1:
        otherwise = ~condlist[0]
        for c in condlist[1:]:
            otherwise = otherwise & ~c
        condlist = [*condlist, otherwise]
    y = np.zeros(x.shape, x.dtype)
    for condition, f in zip(condlist, funclist, strict=True):
        if callable(f):
            if np.any(condition):
                y[condition] = f(x[condition], *args, **kw)
        else:
            y[condition] = f
    return y


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    return function(*np.indices(shape, dtype=dtype), **kwargs)


# ---------------------------------------------------------------- methods of ufuncs


def r_(*parts):
    return np.concatenate([np.atleast_1d(part) for part in parts])


def c_(*parts):
    columns = [part if np.ndim(part) > 1 else np.reshape(part, (-1, 1)) for part in parts]
    return np.concatenate(columns, axis=-1)


def _pull_at(g, like, steps, b, sign):
    shown = extract(g, steps, like)
    if sign < 0:
        shown = -shown
    return g, apply(unbroadcast, (shown, b)) if isinstance(g, Tensor) else unbroadcast(shown, b)


_AT = Form("AddAt", _pull_at)


def _unseen_target(ufunc) -> TapeError:
    return TapeError(f"np.{ufunc.__name__}.at on an array that the tape does not see\n  at {user_location()}")


def _at(ufunc, target, indices, b, sign):
    """``np.add.at`` and ``np.subtract.at``: linear in the array and in what is added."""
    if not isinstance(target, Tensor) or type(plain(target)) is not np.ndarray:
        if is_active(b):
            raise _unseen_target(ufunc)
        return ufunc.at(plain(target), plain_key(indices), plain(b))
    if isinstance(b, (list, tuple)):
        b = as_array(b)
    content = np.array(plain(target))
    raw = kept(plain(b))
    ufunc.at(content, plain_key(indices), raw)
    edges = (target.node, b.node if is_active(b) else None)
    node = None
    if edges != (None, None) and is_recording() and content.dtype.kind in "fc":
        node = make_node(_AT, (content, (item_step(plain_key(indices)),), raw, sign), edges)
    return replace(target, content, node)


REDUCE = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
ACCUMULATE = {np.add: np.cumsum, np.multiply: np.cumprod}


_POSITIONAL = {
    "reduce": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("axis", "dtype", "out"),
    "reduceat": ("indices", "axis", "dtype", "out"),
}


def ufunc_method(ufunc, method):
    """The recording version of ``ufunc.method``."""

    def call(*args, **kwargs):
        active = is_active(args) or is_active(kwargs)
        if method in _POSITIONAL:
            names = _POSITIONAL[method]
            kwargs = {**dict(zip(names, args[1:], strict=False)), **kwargs}
            args = (*args[:1], *args[1 + len(names) :])
            own = getattr(ufunc, method)
            known = {"reduce": REDUCE, "accumulate": ACCUMULATE}.get(method, {}).get(ufunc, own)
            if method == "accumulate" and "axis" in kwargs and kwargs["axis"] is None and np.ndim(plain(args[0])) > 1:
                own(plain(args[0]), axis=None)  # which raises
            if lookup(known) is not None:
                kwargs = {k: a for k, a in kwargs.items() if a is not None or k == "axis"}
                return apply(known, args, {"axis": 0, **kwargs})
        if method == "outer":
            a, b = args
            b = b if isinstance(plain(b), (np.ndarray, np.generic)) else apply(np.asarray, (b,))  # of a type of its own
            a = apply(np.reshape, (a, np.shape(plain(a)) + (1,) * np.ndim(plain(b))))
            return apply(ufunc, (a, b), kwargs)
        if method == "at":
            if ufunc in (np.add, np.subtract) and len(args) == 3:
                return _at(ufunc, *args, 1 if ufunc is np.add else -1)
            return _at_in_rounds(ufunc, *args)
        if active:
            raise missing(ufunc, f"np.{ufunc.__name__}.{method} has no derivative rule")
        return call_plain(getattr(ufunc, method), args, kwargs)

    return call


def _at_in_rounds(ufunc, target, indices, *b):
    """``ufunc.at``: a place that is named several times is written to in as many rounds, each an assignment."""
    content = plain(target)
    after = np.array(content)
    ufunc.at(after, plain_key(indices), *plain(b))  # raises what is wrong
    if not is_active((target, *b)):
        target[...] = after
        return
    if not isinstance(target, Tensor):
        raise _unseen_target(ufunc)
    places = np.arange(content.size).reshape(content.shape)[plain_key(indices)]
    b = [apply(np.copy, (one,)) if np.may_share_memory(plain(one), content) else one for one in b]  # as it was before
    given = [apply(np.reshape, (apply(np.broadcast_to, (one, places.shape)), -1)) for one in b]
    rounds = _occurrences(places.ravel())
    for number in range(np.max(rounds, initial=-1) + 1):
        now = rounds == number
        where = np.unravel_index(places.ravel()[now], content.shape)
        target[where] = apply(ufunc, (target[where], *[one[now] for one in given]))


def _occurrences(places):
    """For each entry how many equal ones there are before it.

    >>> _occurrences(np.array([4, 1, 4, 4, 1]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    found = np.empty_like(order)
    found[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return found
