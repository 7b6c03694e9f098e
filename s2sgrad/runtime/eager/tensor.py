"""The tensor: an array, the node that made it, and what a user may ask of it.

A tensor is a leaf (no node: made by the user or unrecorded), or the result of a recorded operation. A
leaf that requires grad is met by the graph through its `AccumulateGrad` node, which holds the leaf; the
leaf holds that node weakly, so that no cycle forms.

A view knows the tensor whose memory it shows (`_base`) and the steps that lead there (`_steps`). When the
base is written, the view takes its new history from the base the next time it is used.

Arithmetic, methods and creation live in modules of their own and are put on the class there.
"""

import operator
import threading
import warnings
import weakref

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.modes import is_inference_mode_enabled
from s2sgrad.runtime.eager.versions import STALE, Family
from s2sgrad.runtime.grad_mode import PAUSED, enable_grad, is_recording
from s2sgrad.runtime.node import COUNTER, Form, Node, make_node
from s2sgrad.runtime.record import record_step
from s2sgrad.runtime.results import PICK

_ndarray = np.ndarray


_ONLY_LEAVES = "you can only change requires_grad flags of leaf variables"


class Tensor:
    """An array that records what is done with it.

    Attributes
    ----------
    grad : Tensor or None
        Of leaves, after a backward pass.
    grad_fn : Node or None
        The recorded operation that made it.
    """

    # Most tensors are plain results: an array, a node, and nothing else to ask for; `_plain` is then the array's type,
    # else None. What is rare stands on the class, and in the dictionary of a tensor for which it is set.
    __slots__ = ("_a", "_node", "_plain", "__dict__", "__weakref__")
    _rg = False  # a leaf that requires grad
    _accumulate = None  # a weak reference to the leaf's AccumulateGrad node
    _family = None
    _seen = 0
    _history = 0
    _base = None
    _steps = ()
    _undo = ()  # of a base whose axes were changed in place: the steps back to what its views start from
    _made = None  # how a view was made, where it may not be written: "no_grad", "inference", "multi", "custom"
    _grad = None
    _grad_type = ...  # the type of the gradient: that of the tensor, unless set
    _hooks = None  # of a leaf: tensor hooks by id
    _after = None  # of a leaf: post-accumulate hooks by id
    _retains = False
    _inference = False
    __array_priority__ = 1000

    def __new__(cls, data=None, **kwargs):
        if data is None:
            return bare(cls, None)
        from s2sgrad.runtime.eager.creation import tensor

        return tensor(data, dtype=dtypes.get_default_dtype()) if not isinstance(data, Tensor) else data.detach()

    # ------------------------------------------------------------ flags

    @property
    def requires_grad(self):
        if self._node is not None or self._rg:
            return True
        base = self._base
        return base is not None and dtypes.differentiable(self._a.dtype) and base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, bool):
            raise RuntimeError(f"requires_grad must be a bool, not {type(value).__name__}")
        if self._node is not None:
            raise RuntimeError(f"{_ONLY_LEAVES}: use detach() to get a constant")
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Set whether backward passes reach this leaf."""
        if not isinstance(requires_grad, bool):
            raise TypeError(f"requires_grad must be a bool, not {type(requires_grad).__name__}")
        refresh(self)
        if requires_grad:
            if self._node is not None:
                return self
            if not dtypes.differentiable(self._a.dtype):
                raise RuntimeError(
                    f"only tensors of floating point and complex dtype can require gradients, not {self.dtype!r}"
                )
            if self._inference and not is_inference_mode_enabled():
                raise RuntimeError("an inference tensor cannot require grad outside InferenceMode: clone() it first")
        elif self._node is not None:
            raise RuntimeError(f"{_ONLY_LEAVES}: use detach() to get a constant")
        self._rg = requires_grad
        self._plain = None
        return self

    @property
    def is_leaf(self):
        refresh(self)
        return self._node is None

    @property
    def grad_fn(self):
        refresh(self)
        node = self._node
        return None if node is None else faced(node.edges if node.form is PICK else node)

    @property
    def output_nr(self):
        refresh(self)
        node = self._node
        return node.saved[0] if node is not None and node.form is PICK else 0

    @property
    def retains_grad(self):
        return self._retains

    @property
    def grad(self):
        if self._grad is None and self._node is not None and not self._retains:
            warnings.warn(
                "the .grad of a non-leaf tensor is not filled by backward(): call retain_grad() on it first",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value):
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"a gradient is a Tensor or None, not {type(value).__name__}")
            if value is self:
                raise RuntimeError("a tensor cannot be its own gradient")
            wanted = self.dtype if self._grad_type is ... else self._grad_type
            if wanted is not None and value.dtype is not wanted:
                raise RuntimeError(f"assigned grad has dtype {value.dtype!r}, the tensor wants {wanted!r}")
            if value._a.shape != self._a.shape:
                raise RuntimeError(f"assigned grad has shape {value.shape}, the tensor has {self.shape}")
        self._grad = value

    @grad.deleter
    def grad(self):
        self._grad = None

    @property
    def grad_dtype(self):
        """The type that `.grad` has: the tensor's, unless set to another; None for whatever comes."""
        self._refuse_non_leaf()
        return self.dtype if self._grad_type is ... else self._grad_type

    def _refuse_non_leaf(self):
        if self._node is not None:
            raise RuntimeError("grad_dtype is of leaves only: set it before the tensor is computed with")

    @grad_dtype.setter
    def grad_dtype(self, value):
        if value is not None and not isinstance(value, dtypes.dtype):
            raise RuntimeError(f"grad_dtype is a dtype or None, not {type(value).__name__}")
        self._refuse_non_leaf()
        if self._grad is not None and value is not None and self._grad.dtype is not value:
            raise RuntimeError(f"the tensor has a .grad of {self._grad.dtype!r} already: set it to None first")
        self._grad_type = value

    def is_inference(self):
        return self._inference

    # ------------------------------------------------------------ memory

    @property
    def data(self):
        twin = new(self._a[...], None)
        twin._inference = self._inference
        twin._plain = None if self._inference else twin._a.dtype
        return twin

    @data.setter
    def data(self, value):
        if not isinstance(value, Tensor):
            raise TypeError(f".data is set to a Tensor, not {type(value).__name__}")
        if self.requires_grad and not dtypes.differentiable(value._a.dtype):
            raise RuntimeError(f"data of {value.dtype!r} cannot be set to a tensor that requires grad")
        self._stand_on(value._a[...])

    def _stand_on(self, array):
        """Let the tensor be of other memory than that it has been of; it counts its writes on."""
        version = 0 if self._family is None else self._family.version
        self._a = array
        self._plain = None
        self._family = self._base = None
        self._steps = self._undo = ()
        if version:
            family(self).version = self._seen = version

    @property
    def _version(self):
        if self._inference:
            raise RuntimeError("inference tensors do not track a version counter")
        return 0 if self._family is None else self._family.version

    def _is_view(self):
        return self._base is not None

    def detach(self):
        """The same memory without history: a write to it is still seen by backward passes."""
        renew(self)
        twin = new(self._a[...], None)
        share(self, twin)
        twin._inference = self._inference
        return twin

    def detach_(self):
        """Forget the history, in place."""
        if self._base is not None:
            raise RuntimeError("a view cannot be detached in place: use detach()")
        self._node = None
        self._rg = False
        return self

    def retain_grad(self):
        """Fill `.grad` of this non-leaf in backward passes."""
        refresh(self)
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on a tensor that has requires_grad=False")
        if self._node is not None and not self._retains:
            self._retains = True
            face(self._node).retain = weakref.ref(self)

    @property
    def dtype(self):
        return dtypes.of(self._a.dtype)

    @property
    def shape(self):
        return Size(self._a.shape)

    def __hash__(self):
        return id(self)


class Size(tuple):
    """The shape of a tensor."""

    __slots__ = ()

    def numel(self):
        return int(np.prod(self, dtype=int))

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, key):
        out = tuple.__getitem__(self, key)
        return Size(out) if isinstance(key, slice) else out


class Parameter(Tensor):
    """A leaf that requires grad, marked as belonging to a model."""

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = new(np.empty(0, dtypes.get_default_dtype().numpy), None)
        if requires_grad and not dtypes.differentiable(data._a.dtype):
            raise RuntimeError(f"a Parameter of {data.dtype!r} cannot require gradients")
        out = bare(cls, data._a[...])
        out._rg = requires_grad
        return out


def bare(kind, array):
    """A tensor of a class, of which more is to be set."""
    t = object.__new__(kind)
    t._a = array
    t._node = None
    t._plain = None
    return t


def new(array, node):
    """A tensor of `array`, made by `node`, of which nothing else is set: else it is not plain."""
    t = object.__new__(Tensor)
    t._a = array
    t._node = node
    t._plain = array.dtype
    return t


def gradient_type(t):
    """The NumPy type of the gradient of `t`; None where any will do."""
    d = t._grad_type
    return t._a.dtype if d is ... else d and d.numpy


# ---------------------------------------------------------------- the node of a tensor


class Face:
    """What users have attached to a node: hooks, a retained gradient, notes.

    Attributes
    ----------
    tensor_hooks, before, after : dict or None
        Hooks by id: of the result's gradient, and before and after the node.
    retain : weakref or None
        To the tensor whose `.grad` the gradient of the result becomes.
    packed : bool
        Whether saved values are `Packed`.
    dtype : NumPy dtype or None
        The result's, where it has hooks.
    """

    __slots__ = ("tensor_hooks", "before", "after", "retain", "packed", "metadata", "dtype")

    def __init__(self):
        self.tensor_hooks = self.before = self.after = self.retain = self.metadata = self.dtype = None
        self.packed = False


def faced(node):
    """`node` as users see it: of a class that bears the operation's name."""
    if type(node) is Node:
        from s2sgrad.runtime.eager.node import class_of

        node.__class__ = class_of(node.form)
    return node


def face(node):
    """The attachments of a node."""
    faced(node)
    try:
        return node.face
    except AttributeError:
        node.face = Face()
        return node.face


class AccumulateGrad(Node):
    """Where the graph meets a leaf: the gradient is added to its ``.grad``."""

    __slots__ = ("_leaf", "__weakref__")
    variable = property(operator.attrgetter("_leaf"))


class _Row:
    """The leaves that the graph met last, with no node made between them.

    They are numbered downwards: of the leaves that one operation meets, the first has its turn first.
    """

    __slots__ = ("last", "tick", "left")
    step = 2.0**-10  # what lies between two numbers is divided among a row

    def __init__(self):
        self.last = self.tick = -1
        self.left = 0

    def number(self):
        """The number of the next leaf."""
        number = tick = next(COUNTER)
        if tick == self.tick and self.left:
            number = self.last - self.step
            self.left -= 1
        else:
            self.left = 1023
        self.tick = tick + 1  # what the counter says next if no node is made before
        self.last = number
        return number


ACCUMULATE = Form("AccumulateGrad", None)
# a view taken without recording of what requires grad: its results require grad, but nothing flows back
DEAD_END = make_node(Form("DeadEnd", lambda g: ()), (), ())
_making = threading.Lock()
_row = _Row()


def accumulator(leaf):
    """The node of a leaf that requires grad: one at a time, alive as long as a graph leads to it."""
    known = leaf._accumulate
    if known is not None and (node := known()) is not None:
        return node
    with _making:
        node = leaf._accumulate and leaf._accumulate()
        if node is None:
            node = AccumulateGrad()
            node.form = ACCUMULATE
            node.saved = ()
            node.edges = ()
            node.number = _row.number()
            node._leaf = leaf
            leaf._accumulate = weakref.ref(node)
        return node


def node_of(t):
    """The node that the gradient of `t` flows to, or None; `t` is brought up to date."""
    if t._plain is not None:
        return t._node
    if t._family is not None:
        refresh(t)
    if t._node is not None:
        return t._node
    if t._rg:
        return accumulator(t)
    if t._base is not None and t.requires_grad:
        return DEAD_END
    return None


# ---------------------------------------------------------------- sharing memory


def family(t):
    """The family of `t`, made at its first use."""
    f = t._family
    if f is None:
        f = t._family = Family()
        t._plain = None
        f.use(t._a)
        t._seen = 0
        t._history = 0
    return f


def share(source, t):
    """Let `t` be in the family of `source`."""
    f = t._family = family(source)
    t._plain = None
    f.use(t._a)
    t._seen = f.version
    t._history = f.history


def as_view(source, t, steps):
    """Make `t` a view of `source`."""
    t._inference = source._inference
    share(source, t)
    t._base = source if source._base is None else source._base
    t._steps = (*source._steps, *steps)
    if source._made is not None:
        t._made = source._made
    elif PAUSED.count and not is_recording():
        t._made = "inference" if is_inference_mode_enabled() else "no_grad"


_FIXED = {  # views that cannot be taken anew, by how they were made
    "multi": "this view is one of several outputs of a function (unbind, split),",
    "custom": "this view was made inside of a custom Function, or is an input that it returned as it is,",
}


def renew(t):
    """Let `t` have an array object that nobody saved before the last write."""
    if id(t._a) in STALE:
        t._a = t._a[...]


def refresh(t):
    """Bring `t` up to date with the writes to its memory."""
    f = t._family
    if f is None or t._seen == f.version:
        return
    t._seen = f.version
    renew(t)
    f.use(t._a)
    if t._made == "no_grad" and t._base.requires_grad and is_recording():
        t._seen -= 1
        raise RuntimeError(
            "this view was created in no_grad mode, and its memory has been modified inplace since: "
            "take the view anew, in the mode in which it is used"
        )
    base = t._base
    if t._history == f.history and (t._node is not None or t._rg or base is None or not base.requires_grad):
        return  # what has no history may be of a base that has become a leaf since
    if base is None or base._family is not f or not dtypes.differentiable(t._a.dtype):
        t._history = f.history
        return
    if t._made in _FIXED and base._node is not None and is_recording():
        t._seen -= 1
        raise RuntimeError(f"{_FIXED[t._made]} and its base has been modified inplace: write before taking the view")
    t._history = f.history
    source = base._node
    if source is None:
        source = accumulator(base) if base._rg else None
    if source is None:
        if t._node is not None:
            t._node = None
        return
    set_node(t, _retaken(t, base, source))


def _retaken(t, base, node):
    """The node of the view `t`, taken of its base anew."""
    from s2sgrad.runtime.eager.keeping import finish

    data = base._a
    with enable_grad():
        for step in (*base._undo, *t._steps):
            data, node = record_step(step, data, node)
            finish(node, None, step.function)
    return node


def set_node(t, node):
    """Give `t` a new history; a retained gradient moves along."""
    if t._retains and t._node is not None:
        old = face(t._node)
        if old.retain is not None and old.retain() is t:
            old.retain = None
        face(node).retain = weakref.ref(t)
    t._node = node
    t._rg = False
