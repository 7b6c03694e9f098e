"""The value that is recorded: an array or number together with the node that made it.

`Tensor` is the graph-carrying core. `Traced` is its NumPy face, which the fallback hands to user
code in place of arrays and numbers; its operators are put on in ``traced.py``.

Arrays that have views, or are written in place, share a `Storage` between all tensors on the same
memory. A tensor without storage has never been viewed or written: the common, fast case.
"""


class Storage:
    """Memory that several tensors look at, or that is written in place.

    Attributes
    ----------
    data : ndarray
        The whole array.
    node : Node or None
        What made its present content.
    version : int
        Counts the writes; a tensor that has seen fewer brings itself up to date when it is used.
    saved : bool
        Whether some node may hold `data` (or a view of it): then the next write moves to a copy.
    outer : ndarray or None
        The caller's array that shows the content to the world outside the recording: other memory than `data`,
        since code that the tape does not see may write to it.
    frozen : str or None
        Why the memory may not be written, where the tape could not follow a write.
    lent : weakref or None
        The array that code out of the tape's sight was given last: while it lives, the memory may not be written.
    """

    __slots__ = ("data", "node", "version", "saved", "outer", "hidden", "frozen", "lent")

    def __init__(self, data, node=None, saved=True, outer=None):
        self.data = data
        self.node = node
        self.version = 0
        self.saved = saved
        self.outer = outer
        self.hidden = False
        self.frozen = None
        self.lent = None


class Tensor:
    """An array or number, and the node that made it.

    Attributes
    ----------
    primal : array or number
        Not `data`: arrays have an attribute of that name, which is not this
    node : Node or None
        None where no derivative flows.
    storage : Storage or None
        None where the memory was never viewed or written; then `steps` and `seen` mean nothing.
    steps : tuple of Step
        How the tensor is seen in its storage: () for all of it.
    seen : int
        The storage's version that `primal` and `node` belong to.
    grad : Tensor or None
    """

    # No __init__: every recorded operation makes one, and `Traced()` with three writes is faster.
    __slots__ = ("primal", "node", "storage", "steps", "seen", "grad", "__weakref__")

    @property
    def requires_grad(self) -> bool:
        return self.node is not None

    @property
    def is_leaf(self) -> bool:
        return self.node is None or self.node.edges == ()

    @property
    def grad_fn(self):
        return None if self.is_leaf else self.node

    def detach(self):
        """The same memory, without history."""
        twin = tensor_like(self, self.primal, None)
        if self.storage is not None:
            twin.storage, twin.steps, twin.seen = self.storage, self.steps, self.seen
        return twin


STAND_INS: dict = {}  # of classes of arrays and numbers: what recorded code finds under their names


class Traced(Tensor):
    """A tensor that behaves as the array or number it wraps."""

    __slots__ = ()

    @property
    def __class__(self):
        kind = type(self.primal)
        return STAND_INS.get(kind, kind)


def tensor_like(model, data, node):
    t = type(model)()
    t.primal = data
    t.node = node
    t.storage = None
    return t


def traced(data, node):
    t = Traced()
    t.primal = data
    t.node = node
    t.storage = None
    return t
