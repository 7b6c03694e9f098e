"""Saved values and the hooks that may keep them in another form until the backward pass needs them."""

import numpy as np

from s2sgrad.runtime.eager.modes import MODE, Context, no_grad, saving, set_saving
from s2sgrad.runtime.eager.naming import NAMING
from s2sgrad.runtime.eager.tensor import ACCUMULATE, Tensor, face, new
from s2sgrad.runtime.eager.versions import CLEARED, STALE, Keeping, checked
from s2sgrad.runtime.fuse import unboxed
from s2sgrad.runtime.general import GeneralForm

_ndarray = np.ndarray


class Packed:
    """A saved array in the form that a pack hook gave it."""

    __slots__ = ("held", "unpack")

    def __init__(self, tensor, pack, unpack):
        version = None if tensor._family is None else tensor._family.version
        was = set_saving(None)
        try:
            with no_grad():
                self.held = pack(tensor)
        finally:
            set_saving(was)
        if tensor._family is not None and tensor._family.version != (version or 0):
            raise RuntimeError(
                "a saved tensor pack hook modified its input in place: it must return a new value instead"
            )
        self.unpack = unpack

    def restored(self):
        """The tensor again."""
        out = self.unpack(self.held)
        if not isinstance(out, Tensor):
            raise TypeError(f"an unpack hook must return a Tensor, not {type(out).__name__}")
        return out


def unpacked(node):
    """The saved values of a node with `Packed` ones among them, unpacked in the order in which they were packed."""
    saved = node.saved
    for path in _paths(node):
        value = _get(saved, path)
        if type(value) is Packed:
            saved = _put(saved, path, value.restored()._a)
        elif STALE:
            checked(value)
    return saved


# ---------------------------------------------------------------- where the saved values of a node are


def _paths(node):
    """The paths of the arrays among the saved values, in the order in which they are packed."""
    naming = NAMING.get(node.form)
    if naming is None or naming.reads is None:
        return []
    if isinstance(node.form, GeneralForm):
        out, args, kwargs = node.saved
        starts = [(0,) if r == "out" else (2, r) if isinstance(r, str) else (1, r) for r in naming.reads]
    else:
        starts = [(r,) for r in naming.reads]
    found = []
    for start in starts:
        value = _get(node.saved, start)
        if type(value) in (list, tuple):
            found += [(*start, i) for i, v in enumerate(value) if type(v) in (_ndarray, Packed)]
        elif type(value) in (_ndarray, Packed):
            found.append(start)
    return found


def _get(saved, path):
    for i in path:
        saved = saved[i]
    return saved


def _put(saved, path, value):
    if not path:
        return value
    head, *rest = path
    if type(saved) is dict:
        return {**saved, head: _put(saved[head], rest, value)}
    return type(saved)([_put(v, rest, value) if i == head else v for i, v in enumerate(saved)])


def _is_result(node, path):
    return path == (0,) if isinstance(node.form, GeneralForm) else path == (node.form.out,)


def _edge_of(node, path):
    """The node that a saved argument came from."""
    edges = node.edges if type(node.edges) is tuple else (node.edges,)
    if isinstance(node.form, GeneralForm):
        wanted = [path[1:] if path[0] == 1 else (path[1], *path[2:])]
        places = [tuple(p) for p in node.form.paths]
        return edges[places.index(wanted[0])] if wanted[0] in places else None
    links = node.form.links
    return edges[links.index(path[0])] if path[0] in links else None


def _as_tensor(node, path, array, tensors=()):
    """A saved array as the tensor it was saved from: the leaf itself, or one with the same history."""
    for t in tensors:
        if t._a is array:
            if t._node is None:
                return t
            twin = new(array, t._node)
            twin._family, twin._seen, twin._history = t._family, t._seen, t._history
            return twin
    if _is_result(node, path):
        return new(array, node)
    edge = _edge_of(node, path)
    if edge is not None and edge.form is ACCUMULATE:
        return edge._leaf
    return new(array, edge)


def pack_node(node, tensors, pack, unpack):
    """Pass what `node` saved through a pack hook."""
    paths = _paths(node)
    for path in paths:
        array = _get(node.saved, path)
        packed = Packed(_as_tensor(node, path, array, tensors), pack, unpack)
        node.saved = _put(node.saved, path, packed)
    if paths:
        face(node).packed = True


# ---------------------------------------------------------------- contexts


class saved_tensors_hooks(Context):  # noqa: N801
    """Within, what operations save for the backward pass goes through ``pack_hook``, and comes back by ``unpack_hook``.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.detach().numpy() * 3, torch.from_numpy):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([6., 6.])
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        message = getattr(MODE, "saving_disabled", None)
        if message is not None:
            raise RuntimeError(message)
        pack, unpack = self.pack_hook, self.unpack_hook
        if not callable(pack) or not callable(unpack):
            raise TypeError("pack_hook and unpack_hook must be callable")
        self.was = set_saving(_Saving(pack, unpack))
        return self

    def __exit__(self, *exc_info):
        set_saving(self.was)

    def again(self):
        return saved_tensors_hooks(self.pack_hook, self.unpack_hook)


class _Saving:
    """The pair of hooks in force."""

    def __init__(self, pack, unpack):
        self.pack = pack
        self.unpack = unpack

    def __call__(self, node, tensors):
        pack_node(node, tensors, self.pack, self.unpack)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """Keep saved values in the memory of the CPU. NumPy arrays are there already: nothing is copied."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: t.detach(), lambda t: t)

    def again(self):
        return save_on_cpu()


class disable_saved_tensors_hooks(Context):  # noqa: N801
    """Within, `saved_tensors_hooks` cannot be entered: a RuntimeError with ``error_message``."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        if saving() is not None:
            raise RuntimeError(self.error_message)
        self.was = getattr(MODE, "saving_disabled", None)
        MODE.saving_disabled = self.error_message

    def __exit__(self, *exc_info):
        MODE.saving_disabled = self.was

    def again(self):
        return disable_saved_tensors_hooks(self.error_message)


class allow_mutation_on_saved_tensors:  # noqa: N801
    """Within, saved values may be overwritten: a copy is made before. Backward must run within too."""

    def __enter__(self):
        if Keeping.copies:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        Keeping.copies = True
        return self

    def __exit__(self, *exc_info):
        Keeping.copies = False

    def clear(self):
        """Forget the copies made so far: what was overwritten cannot be had again."""
        for entry in list(STALE.values()):
            if entry.copy is not None:
                entry.copy = CLEARED


# ---------------------------------------------------------------- looking at saved values

_ARGUMENTS = {
    "Pow": ("self", "exponent"),
    "Mm": ("self", "mat2"),
    "Mv": ("self", "vec"),
    "Dot": ("self", "tensor"),
    "Where": ("condition", "self", "other"),
    "Clamp": ("self", "min", "max"),
    "Index": ("self", "indices"),
    "Gather": ("self", "index"),
    "IndexSelect": ("self", "index"),
    "MaskedSelect": ("self", "mask"),
    "MaskedFill": ("mask", "value", "self"),
    **dict.fromkeys(("Max", "Min", "Sort", "Topk", "Mode", "Cummax", "Cummin"), ("self", "indices")),
}


def saved_names(node):
    """The names of what a node saved, and their paths; of a product, also of the factor that it did not need."""
    if node.saved is None:
        return {}
    name = node.form.name.partition(".")[0]
    arguments = _ARGUMENTS.get(name, ("self", "other"))
    found = {}
    for path in _paths(node):
        if _is_result(node, path):
            found["result"] = path
        else:
            i = path[1] if isinstance(node.form, GeneralForm) else path[0]
            found[arguments[i] if isinstance(i, int) and i < len(arguments) else str(i)] = path
    if not isinstance(node.form, GeneralForm):
        for i, v in enumerate(map(unboxed, node.saved)):
            if (isinstance(v, np.number | float | int) or v is None and name == "Mul") and i < len(arguments):
                found.setdefault(arguments[i], (i,))
    return found


def saved_attribute(node, attribute):
    """``node._saved_NAME`` and ``node._raw_saved_NAME``."""
    raw = attribute.startswith("_raw")
    if node.saved is None:
        if raw:
            return SavedTensor(node, None)
        raise RuntimeError(
            "Trying to access saved tensors after they have already been freed: "
            "say retain_graph=True in the backward pass"
        )
    name = attribute.removeprefix("_raw_saved_" if raw else "_saved_")
    path = saved_names(node).get(name)
    if path is None:
        raise AttributeError(f"{type(node).__name__!r} object has no attribute {attribute!r}")
    value = _get(node.saved, path)
    if raw:
        return SavedTensor(node, path)
    if type(value) is Packed:
        return value.restored()
    value = unboxed(value)
    if type(value) is not _ndarray:
        return value.item() if isinstance(value, np.generic) else value
    if STALE:
        checked(value)
    return _as_tensor(node, path, value)


class SavedTensor:
    """A place where a node keeps a value; hooks can be put on it once."""

    def __init__(self, node, path):
        self._node = node
        self._path = path

    def register_hooks(self, pack_hook, unpack_hook):
        """Pack the value now, and unpack it when it is needed."""
        node, path = self._node, self._path
        if node.saved is None:
            raise RuntimeError("the saved value has been freed: hooks can be registered before the backward pass only")
        value = _get(node.saved, path)
        if type(value) is Packed:
            raise RuntimeError("hooks are registered on this saved value already")
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("hooks must be callable")
        node.saved = _put(node.saved, path, Packed(_as_tensor(node, path, value), pack_hook, unpack_hook))
        face(node).packed = True
