"""Memory: views and in-place writes, as NumPy has them.

A view is known by its *steps* from the whole array: the same calls (indexing, transposing,
reshaping, taking the real part ...) that made it, so that it can be taken again, of the array after a write or
of a cotangent. A write replaces what a view shows. As a map of (old content, new value) it is linear::

    content = erase(old) + place(value)

so its pullback sends `g` with the view erased to the old content and the view of `g` to the value. Three
maps, `extract` (see the view), `place` (its adjoint) and `erase` (a projection), are closed under
differentiation: that is all that higher derivatives need.

A write never changes an array that some node has saved: it moves the live content to a copy first.
"""

import operator
import weakref

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.runtime.arrays import add_at, is_differentiable, selects_once, unbroadcast
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.tensor import Storage, Tensor, traced

_ndarray = np.ndarray


class Step:
    """One call that makes a view: `function` with the array among its arguments, and which output is meant.

    Attributes
    ----------
    before, after : tuple
        The positional arguments before and after the array.
    kwargs : dict
    name : str or None
        The keyword that the array is passed by, if it is.
    output : int or None
    """

    __slots__ = ("function", "before", "after", "kwargs", "name", "output")

    def __init__(self, function, before=(), after=(), kwargs=None, name=None, output=None):
        self.function = function
        self.before = before
        self.after = after
        self.kwargs = kwargs or {}
        self.name = name
        self.output = output

    def __call__(self, array):
        args, kwargs = self.arguments(array)
        out = self.function(*args, **kwargs)
        return out if self.output is None else out[self.output]

    def arguments(self, array):
        """The arguments of the call for another `array`."""
        if self.name is not None:
            return self.before, {**self.kwargs, self.name: array}
        return (*self.before, array, *self.after), self.kwargs


def item_step(key):
    return Step(operator.getitem, (), (key,))


def along(steps, array):
    """Take the view `steps` of `array`."""
    for step in steps:
        array = step(array)
    return array


def duplicate(array):
    """A copy with the same strides: what is a view of the array, and what a copy, is so of the duplicate."""
    if array.flags.forc:
        return np.array(array)
    low, high = np.lib.array_utils.byte_bounds(array)
    start = array.__array_interface__["data"][0] - low
    twin = _ndarray(array.shape, array.dtype, np.empty(high - low, np.uint8), start, array.strides)
    twin[...] = array
    return twin


def overlaps_itself(array) -> bool:
    """Whether several elements of a view may lie at one place.

    Examples
    --------
    >>> overlaps_itself(np.zeros((2, 3)).T), overlaps_itself(np.broadcast_to(0.0, 3))
    (False, True)
    """
    reach = array.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach = stride * n
    return False


def lend(t):
    """The array of `t` for code that the tape does not see: it may read it, and sees writes only as long as none is."""
    storage = t.storage or attach(t)
    array = np.lib.stride_tricks.as_strided(t.primal, writeable=False)  # views of it keep it, and not the owner, alive
    storage.lent = weakref.ref(array)
    return array


# ---------------------------------------------------------------- the three linear maps


def _split(steps):
    """The steps that are views for sure, and the key of a last step that may be a copy."""
    if steps and steps[-1].function is operator.getitem:
        return steps[:-1], steps[-1].after[0]
    return steps, ...


def _zeros(like, g):
    dtype = like.dtype if like.dtype.kind in "fc" else np.result_type(g)
    return np.zeros_like(like, dtype=dtype)


def _raw_extract(g, steps):
    return np.array(along(steps, g))[()]


def _raw_erase(g, steps):
    buffer = np.array(g)  # keeps the memory order
    head, key = _split(steps)
    along(head, buffer)[key] = 0
    return buffer


def _raw_place(g, like, steps):
    buffer = _zeros(like, g)
    head, key = _split(steps)
    view = along(head, buffer)
    if np.iscomplexobj(g) and not np.iscomplexobj(view):
        g = np.real(g)
    add_at(view, key, g)
    return buffer


def _real(g):
    if not isinstance(g, Tensor):
        return np.real(g)
    from s2sgrad.runtime.record import apply

    return apply(np.real, (g,))


TO_COMPLEX = Form("ToComplex", _real)


def _typed(g, like):
    """The recorded `g`, complex if `like` is: the cotangent of what was real is real again."""
    if like.dtype.kind != "c" or np.iscomplexobj(g.primal):
        return g
    return traced(np.asarray(g.primal, like.dtype), g.node and make_node(TO_COMPLEX, (), g.node))


def extract(g, steps, like):
    """What the view `steps` shows of `g`."""
    if not isinstance(g, Tensor):
        return _raw_extract(_laid_out(g, like), steps)
    g = _typed(g, like)
    out = _raw_extract(_laid_out(g.primal, like), steps)
    return traced(out, g.node and make_node(EXTRACT, (like, steps), g.node))


def place(g, like, steps):
    """Zeros like `like`, with `g` added where the view `steps` looks."""
    if not isinstance(g, Tensor):
        return _raw_place(g, like, steps)
    g = _typed(g, like)
    return traced(_raw_place(g.primal, like, steps), g.node and make_node(PLACE, (like, steps), g.node))


def erase(g, steps, like):
    """`g` with zeros where the view `steps` looks."""
    if not isinstance(g, Tensor):
        return _raw_erase(_laid_out(g, like), steps)
    g = _typed(g, like)
    return traced(_raw_erase(_laid_out(g.primal, like), steps), g.node and make_node(ERASE, (like, steps), g.node))


EXTRACT = Form("Extract", lambda g, like, steps: place(g, like, steps))
PLACE = Form("Place", lambda g, like, steps: extract(g, steps, like))
ERASE = Form("Erase", lambda g, like, steps: erase(g, steps, like))


def _laid_out(g, like):
    """`g` as an array of the type and memory order of `like`, so that the same steps are views of it."""
    if (
        type(g) is _ndarray
        and g.shape == like.shape
        and g.strides == like.strides
        and (g.dtype is like.dtype or g.dtype == like.dtype)
    ):
        return g
    buffer = np.empty_like(like)
    if np.iscomplexobj(g) and like.dtype.kind != "c":
        g = np.real(g)
    buffer[...] = g
    return buffer


# ---------------------------------------------------------------- reading an item

# saved: (x, key); the pullback is ``place``, done in place by `add_item` where nothing is recorded
ITEM = Form("GetItem", lambda g, x, key: place(g, x, (item_step(key),)))


def add_item(g, saved, parent, run):
    """Add the cotangent `g` of ``x[key]`` into that of `x`, in the engine's own buffer."""
    x, key = saved
    buffer = run.buffer(parent, lambda old: _zeros(x, g) if old is None else np.array(_laid_out(old, x)))
    if buffer.dtype.kind != "c" and np.iscomplexobj(g):
        g = np.real(g)
    add_at(buffer, key, g)


# ---------------------------------------------------------------- writing


def _winners(steps, like):
    """Which values of a write with repeated indices stay: the last of each, as a mask (None: all)."""
    head, key = _split(steps)
    if selects_once(key):
        return None
    stamps = np.zeros(np.shape(along(head, like)), np.intp)
    ids = np.arange(np.size(stamps[key])).reshape(np.shape(stamps[key]))
    stamps[key] = ids
    return stamps[key] == ids


def pull_write(g, like, steps, value, run=None, owned=False, edges=None):
    """The cotangents of (old content, written value); an `owned` buffer `g` becomes that of the old content."""
    mask = _winners(steps, like)
    if isinstance(g, Tensor) or run is None:
        from s2sgrad.runtime.record import apply  # the recorded np.where and unbroadcast

        shown = extract(g, steps, like)
        if mask is not None:
            shown = apply(np.where, (mask, shown, 0.0), {})
        return erase(g, steps, like), apply(unbroadcast, (shown, value), {})
    laid = _laid_out(g, like)
    owned = (owned or laid is not g) and laid.flags.writeable
    to_value = None
    if edges[1] is not None:
        to_value = _raw_extract(laid, steps)
        if mask is not None:
            to_value = np.where(mask, to_value, 0.0)
        to_value = unbroadcast(to_value, value)
    if edges[0] is not None:
        if owned:
            head, key = _split(steps)
            along(head, laid)[key] = 0
        else:
            laid = _raw_erase(laid, steps)
        run.give(edges[0], laid)
    return None, to_value


# saved: (like, steps, value); edges: (old content, value), either may be None
WRITE = Form("Write", pull_write)


def attach(t):
    """Give `t` a storage of its own."""
    t.storage = Storage(t.primal, t.node)
    t.steps = ()
    t.seen = 0
    return t.storage


def refresh(t):
    """Bring `t` up to date with the writes to its storage."""
    storage = t.storage
    if t.seen == storage.version:
        return
    t.seen = storage.version
    t.node = storage.node
    if not t.steps:
        t.primal = storage.data
        return
    if storage.node is None:
        t.primal = along(t.steps, storage.data)
        return
    from s2sgrad.runtime.record import record_step

    data, node = storage.data, storage.node
    for step in t.steps:
        data, node = record_step(step, data, node)
    t.primal, t.node = data, node


def _storage(t):
    """The storage of `t`, which is about to be written: a write that the tape has not seen would be lost now."""
    storage = t.storage or attach(t)
    if storage.outer is not None and not storage.hidden:
        require_as_shown(storage)
    return storage


def _writable(t):
    """The storage of `t`, ready to be written: its memory is not saved by a node."""
    storage = _storage(t)
    if storage.frozen is not None:
        raise TapeError(f"{storage.frozen}\n  at {user_location()}")
    if storage.lent is not None and storage.lent() is not None:
        raise TapeError(
            "an array is written while code that the tape does not see holds its memory: give that code a copy"
            f"\n  at {user_location()}"
        )
    if t.steps and any(step.function is not operator.getitem for step in t.steps) and overlaps_itself(t.primal):
        raise TapeError(
            "a view is written in which several elements share their memory, which the tape cannot follow: "
            f"make a copy of it\n  at {user_location()}"
        )
    if t.seen != storage.version:
        refresh(t)
    if not t.primal.flags.writeable:
        raise ValueError("assignment destination is read-only")
    if storage.saved:
        storage.data = duplicate(storage.data)
        storage.saved = False
        t.primal = along(t.steps, storage.data)
    return storage


def write(t, key, value, value_node):
    """``t[key] = value`` for an array `t`, recorded where a derivative flows."""
    storage = _writable(t)
    if value_node is not None and storage.data.dtype.kind not in "fc" and not is_differentiable(storage.data):
        from s2sgrad.runtime.refusals import require_numeric

        require_numeric(storage.data.dtype)
        value_node = None
    steps = t.steps if key is Ellipsis else (*t.steps, item_step(key))
    try:
        t.primal[key] = value
    except Exception:
        storage.version += 1  # others that show its memory look again: it may have been copied for this write
        raise
    old = storage.node
    if value_node is not None or old is not None:
        like = storage.data
        storage.node = make_node(WRITE, (like, steps, value), (old, value_node))
    _written(t, storage)


def replace(t, value, node):
    """``t[...] = value`` where `value` is a fresh array that becomes the new content."""
    storage = _storage(t)
    if (
        t.steps
        or type(value) is not _ndarray
        or value.shape != storage.data.shape
        or value.dtype != storage.data.dtype
        or value.strides != storage.data.strides
        or storage.frozen is not None
        or storage.lent is not None
        or not storage.data.flags.writeable
    ):
        return write(t, Ellipsis, value, node)
    storage.data = value
    storage.saved = True
    storage.node = node
    _written(t, storage)
    return None


def _written(t, storage):
    """Count the write, and show it to (or hide it from) the world outside the recording."""
    storage.version += 1
    outer = storage.outer
    if outer is not None:
        if storage.node is None:
            outer[...] = storage.data
            storage.hidden = False
        elif not storage.hidden:
            storage.hidden = True
            outer[...] = np.nan  # recorded content must not be read as plain data: nobody gets a silent zero
    refresh(t)


def reveal(storage):
    """Show the final content to the world outside."""
    if storage.hidden:
        storage.outer[...] = storage.data
        storage.hidden = False


def _is_as_shown(storage):
    outer, data = storage.outer, storage.data
    if storage.hidden:
        return bool(np.isnan(outer).all())
    if outer.nbytes < 4096:
        return outer.tobytes() == data.tobytes()
    return bool((outer == data).all()) or outer.tobytes() == data.tobytes()


def require_as_shown(storage):
    """Raise where the caller's array no longer holds what the tape has put there: somebody else has written to it."""
    if not _is_as_shown(storage):
        raise TapeError(
            f"while the recorded function ran, an array of shape {storage.outer.shape} that it uses was written "
            "through an attribute of an object, or by code that the tape does not see. Write to it by the name that "
            "it is read by"
        )


def link(out, source, step, node):
    """`out`, a view of the array of `source` made by `step`, as a tensor on the same storage."""
    storage = source.storage or attach(source)
    t = traced(out, node)
    t.storage = storage
    t.steps = (*source.steps, step)
    t.seen = storage.version
    return t
