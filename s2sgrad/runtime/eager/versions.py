"""Who has written what: version counters, and saved values that were overwritten.

Tensors on the same memory share a `Family`. Nodes save arrays, and neither look for versions nor
register: a write to a family that somebody may have saved from declares the array *objects* in use
stale, and the tensors take new ones for the same memory. So saving costs nothing, and a backward pass
through a program without writes finds an empty `STALE` and checks nothing.
"""

import sys
import weakref

import numpy as np

from s2sgrad.runtime.eager import dtypes

STALE = {}  # id of an array object -> Stale

_ndarray = np.ndarray


class Family:
    """What tensors on the same memory share.

    Attributes
    ----------
    version : int
        Counts the writes.
    history : int
        Counts the writes that changed what made the content.
    arrays : list of weakref
        The array objects in use for this memory.
    """

    __slots__ = ("version", "history", "arrays")

    def __init__(self):
        self.version = 0
        self.history = 0
        self.arrays = []

    def use(self, array):
        arrays = self.arrays
        if len(arrays) > 16 and not len(arrays) & (len(arrays) - 1):
            arrays[:] = [r for r in arrays if r() is not None]
        arrays.append(weakref.ref(array))


class Stale:
    """An array object whose memory was written after it may have been saved."""

    __slots__ = ("key", "family", "version", "reference", "copy")

    def __init__(self, array, family, copy):
        key = self.key = id(array)
        self.family = family
        self.version = family.version
        self.copy = copy
        self.reference = weakref.ref(array, lambda _: STALE.pop(key, None))


CLEARED = object()  # instead of a copy that was forgotten


class Keeping:
    copies = False  # whether a write keeps a copy of what nodes may have saved


def _references(t):
    return sys.getrefcount(t._a)


class _Sample:
    def __init__(self):
        self._a = np.empty(0)


_ALONE = _references(_Sample())  # what is counted of an array that nobody but one tensor refers to


def written(family, t):
    """Count a write to `family` by the tensor `t`; callers have no reference to its array.

    The array object of `t` is stale only if somebody else has it: a node that saved it, or a view.
    """
    arrays, family.arrays = family.arrays, []
    own = id(t._a)
    if _references(t) > _ALONE:
        _declare_stale(t._a, family)
    for reference in arrays:
        array = reference()
        if array is not None and id(array) != own:
            _declare_stale(array, family)
    family.version += 1
    if own in STALE:
        t._a = t._a[...]
    family.use(t._a)
    t._seen = family.version


def _declare_stale(array, family):
    if id(array) not in STALE:
        STALE[id(array)] = Stale(array, family, np.array(array) if Keeping.copies else None)


def overwritten(entry, array):
    return RuntimeError(
        "a value needed for the backward pass was modified by an inplace operation: "
        f"[{dtypes.of(array.dtype).tensor_type} {list(array.shape)}] is at version {entry.family.version}; "
        f"expected version {entry.version} instead. Write to a clone() of it, or move the write after backward."
    )


def checked(saved):
    """The saved values of a node, none of them overwritten since."""
    kind = type(saved)
    if kind is _ndarray:
        entry = STALE.get(id(saved))
        if entry is None:
            return saved
        if entry.copy is not None:
            if not Keeping.copies or entry.copy is CLEARED:
                raise AssertionError(
                    "run backward within the allow_mutation_on_saved_tensors() context of the forward, before clear()"
                )
            return entry.copy
        raise overwritten(entry, saved)
    if kind is tuple or kind is list:
        return kind([checked(item) for item in saved])
    if kind is dict:
        return {k: checked(item) for k, item in saved.items()}
    return saved
