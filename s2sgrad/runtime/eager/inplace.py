"""Writing into tensors: ``add_``, ``x[i] = v``, ``copy_`` and their kin.

The new content is computed as by the operation of the same name out of place, and then written into the
memory that all views of it share. What that means for the history: the tensor continues from the new
content; a view hands it to its base, whose other views follow when they are next used.
"""

import math

import numpy as np

from s2sgrad.runtime.eager import (  # noqa: F401 (what has variants in place)
    comparing,
    complexes,
    counting,
    dtypes,
    products,
    reductions,
    scattering,
    shapes,
    special,
    statistics,
)
from s2sgrad.runtime.eager.call import cast
from s2sgrad.runtime.eager.elementwise import UNARY, operand_of
from s2sgrad.runtime.eager.graph import count_write
from s2sgrad.runtime.eager.indexing import chooses, divided, plain_index
from s2sgrad.runtime.eager.keeping import like, stand_in
from s2sgrad.runtime.eager.layout import dense
from s2sgrad.runtime.eager.modes import is_inference_mode_enabled, set_grad_enabled
from s2sgrad.runtime.eager.naming import NAMING, rename, renamed
from s2sgrad.runtime.eager.registry import FUNCTIONS, method, sizes
from s2sgrad.runtime.eager.tensor import Tensor, family, new, node_of, refresh, set_node
from s2sgrad.runtime.general import GeneralForm
from s2sgrad.runtime.grad_mode import is_recording
from s2sgrad.runtime.node import COUNTER, make_node
from s2sgrad.runtime.views import WRITE, item_step

_ndarray = np.ndarray


_REFUSED = {  # by how a view was made, why a history cannot go through it
    "no_grad": "a view that was created in no_grad mode is being modified inplace with grad mode enabled: "
    "make the view in grad mode, or write within no_grad()",
    "inference": "a view that was created in inference mode is being modified inplace outside of it",
    "multi": "this view is one of several outputs of a function (unbind, split): it cannot be modified inplace",
    "custom": "this view is the output of a custom Function and is being modified inplace: "
    "return a clone() from forward",
}


def check_writable(t, value_recorded=False):
    """Refuse writes that would leave a history nobody can follow; the value written may have one of its own."""
    refresh(t)
    if t._inference and not is_inference_mode_enabled():
        raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed: clone() it first")
    if not is_recording():
        return
    made, base = t._made, t._base
    if base is None:
        if t._node is None and t._rg:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation: "
                "do it within no_grad(), or on a clone()"
            )
        return
    if made in _REFUSED and (value_recorded or base.requires_grad or t.requires_grad):
        raise RuntimeError(_REFUSED[made])
    if base._node is None and t.requires_grad:  # of the base, or of a view of it that is a leaf
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation: "
            "do it within no_grad(), or on a clone()"
        )


def count_if_needed(t):
    """Count a write."""
    if not t._inference:
        count_write(t)


def rebase(t, node):
    """Let the history of `t`, and of what it is a view of, continue from `node`."""
    f = family(t)
    f.history += 1
    base = t._base
    if base is None or base._family is not f:
        set_node(t, node)
        t._history = f.history
        return
    refresh(base)
    old = node_of(base) if base._node is not None else None
    steps = (*base._undo, *t._steps)
    set_node(base, make_node(WRITE, (like(base._a), steps, stand_in(t._a)), (old, node)))
    base._history = f.history
    t._history = -1
    t._seen = -1
    refresh(t)


def _overlaps(a):
    return a.size > 1 and any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True))


_WHOLE = object()


def write(t, value, key=_WHOLE, name="Write"):
    """Make `value` the content of `t`.

    Without `key`, it is the new content computed from the old. With `key`, it is a tensor or a number that
    replaces the old content there.
    """
    if _overlaps(t._a):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location: "
            "clone() the tensor before"
        )
    if not t._a.flags.writeable:
        raise RuntimeError("the memory of this tensor is read-only: clone() it first")
    raw, node = value, None
    recording = is_recording() and dtypes.differentiable(t._a.dtype)
    if isinstance(value, Tensor):
        value = cast(value, t.dtype)
        raw = value._a
        node = node_of(value) if recording else None
        if node is not None:
            check_writable(t, True)
        if np.may_share_memory(raw, t._a):
            raw = np.array(raw)
    own = node_of(t) if recording else None
    if key is _WHOLE and node is None:
        key = ...
    count_if_needed(t)  # before it, no name here stands for the array
    a = t._a
    a[... if key is _WHOLE else key] = raw
    if node is None and own is None:
        return t
    if key is not _WHOLE:
        model = stand_in(raw) if isinstance(raw, _ndarray) else stand_in(np.asarray(stand_in(a)[key]))
        form = WRITE if name == "Write" else _written_whole(name)
        node = make_node(form, (like(a), (item_step(key),), model), (own, node))
    rebase(t, node)
    if key is _WHOLE and value._a.shape == a.shape:
        _resave(node, value._a, t._a)
    return t


_forms = {}


def _written_whole(name):
    if name not in _forms:
        _forms[name] = renamed(WRITE, name, NAMING[WRITE])
    return _forms[name]


def _resave(node, value, own):
    """Let a node that saved its result save the memory it was written to."""
    node.saved = _swapped(node.saved, value, own)


def _swapped(saved, value, own):
    if saved is value:
        return own
    if type(saved) is tuple:
        return tuple([_swapped(s, value, own) for s in saved])
    return saved


def assigned(t, value):
    """Write the result of an operation, whose type and shape must fit."""
    have, want = dtypes.of(value._a.dtype), t.dtype
    if have.rank > want.rank:
        raise RuntimeError(f"result type {have.name} can't be cast to the desired output type {want.name}")
    if value._a.shape != t._a.shape:
        raise RuntimeError(
            f"output with shape {list(t._a.shape)} doesn't match the broadcast shape {list(value._a.shape)}"
        )
    return write(t, value)


def _keep_old_content(node, a, before):
    """Let nodes made after `before` that saved the content to be overwritten keep a copy of it, as one argument."""
    saved = node.saved
    if isinstance(node.form, GeneralForm):
        node.saved = (saved[0], _with_copy(saved[1], a), saved[2])
    elif saved is not None:
        node.saved = _with_copy(saved, a)
    for edge in node.edges if type(node.edges) is tuple else (node.edges,):
        if edge is not None and edge.number > before and edge.edges:
            _keep_old_content(edge, a, before)


def _with_copy(saved, a):
    at = next((i for i, s in enumerate(saved) if s is a), None)
    return saved if at is None else (*saved[:at], a.copy(), *saved[at + 1 :])


def _check_overlap(t, others):
    """Refuse operands that lie partly on the memory to be written."""
    a = t._a
    for other in others:
        if not isinstance(other, Tensor) or other is t:
            continue
        refresh(other)
        b = other._a
        if (
            b.shape == a.shape
            and b.strides == a.strides
            and b.__array_interface__["data"] == a.__array_interface__["data"]
        ):
            continue
        if np.may_share_memory(a, b) and dense(a) and dense(b):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location: clone() one of them before"
            )


def in_place(function):
    """The variant of an operation that writes its result into its first argument."""

    def forward(self, *args, **kwargs):
        check_writable(self)
        _check_overlap(self, args)
        before = next(COUNTER)
        value = function(self, *args, **kwargs)
        if value._node is not None and value._node.number > before:
            _keep_old_content(value._node, self._a, before)
        return assigned(self, value)

    return forward


_FAMILY = (
    *UNARY,
    *("add", "sub", "mul", "div", "pow", "remainder", "fmod", "floor_divide", "subtract", "multiply", "divide"),
    *("true_divide", "clamp", "clip", "clamp_min", "clamp_max", "atan2", "hypot", "copysign", "lerp", "addcmul"),
    *("addcdiv", "addmm", "addmv", "baddbmm", "masked_fill", "nan_to_num", "tril", "triu", "cumsum", "cumprod", "frac"),
    *("scatter", "scatter_add", "index_add", "index_copy", "index_fill", "index_put", "masked_scatter"),
    *("scatter_reduce", "index_reduce", "put", "xlogy", "float_power", "arctan2", "renorm", "polygamma", "mvlgamma"),
    *("igamma", "igammac", "conj_physical", "addr", "addbmm", "heaviside", "ldexp", "gcd", "lcm", "nextafter"),
    *("less", "less_equal", "greater", "greater_equal", "not_equal", "bitwise_left_shift", "bitwise_right_shift"),
    *("lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_xor", "logical_not"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
)  # fmt: skip

_FUNCTIONS_TOO = {  # of those in place that torch offers as functions
    *UNARY,
    *("addmv", "clamp", "clamp_max", "clamp_min", "clip", "conj_physical", "frac", "gcd", "index_put", "lcm", "ldexp"),
    *("nan_to_num", "xlogy"),
}

for _name in _FAMILY:
    _f = getattr(Tensor, _name)
    setattr(Tensor, f"{_name}_", in_place(_f))
    if _name in _FUNCTIONS_TOO:
        FUNCTIONS[f"{_name}_"] = getattr(Tensor, f"{_name}_")

for _name, _function in (
    ("add", "add"),
    ("sub", "sub"),
    ("mul", "mul"),
    ("truediv", "div"),
    ("pow", "pow"),
    ("floordiv", "floor_divide"),
    ("mod", "remainder"),
    ("and", "bitwise_and"),
    ("or", "bitwise_or"),
    ("xor", "bitwise_xor"),
    ("lshift", "bitwise_left_shift"),
    ("rshift", "bitwise_right_shift"),
):
    setattr(Tensor, f"__i{_name}__", getattr(Tensor, f"{_function}_"))


@method("zero_")
def zero_(self):
    """Zeros everywhere."""
    check_writable(self)
    return write(self, 0, ..., "Zero")


@method("fill_")
def fill_(self, value):
    """One value everywhere."""
    check_writable(self)
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise RuntimeError("fill_ takes a number or a tensor without dimensions")
        value = cast(value, self.dtype).expand(*self._a.shape)
    else:
        _check_number(self, value)
    return write(self, value, ..., "Fill.2" if not isinstance(value, Tensor) else "Fill")


@method("copy_")
def copy_(self, src, non_blocking=False):
    """The content of another tensor, broadcast and converted."""
    check_writable(self)
    src = operand_of(src)
    if not isinstance(src, Tensor):
        return write(self, src, ..., "Copy")
    _check_overlap(self, (src,))
    if src._a.shape != self._a.shape:
        src = src.expand(*self._a.shape)
    return write(self, cast(src, self.dtype), ..., "Copy")


@method("__setitem__")
def setitem(self, key, value):
    key = plain_index(key)
    parts = divided(key)
    if parts is not None:
        return setitem(self[parts[0]], parts[1], value)
    target = np.shape(stand_in(self._a)[key])  # which raises where the index leaves the tensor
    check_writable(self)
    if isinstance(value, np.ndarray):
        value = FUNCTIONS["as_tensor"](value)
    if isinstance(value, Tensor):
        while value._a.ndim > len(target) and value._a.shape[0] == 1:
            value = value.squeeze(0)
        try:
            np.broadcast_to(stand_in(value._a), target)
        except ValueError:
            raise RuntimeError(
                f"shape mismatch: a value of shape {list(value._a.shape)} cannot be broadcast to {list(target)}"
            ) from None
    else:
        _check_number(self, value)
    write(self, value, key, "IndexPut" if chooses(key) else "Write")


def _check_number(t, value):
    """Refuse what is not a number that fits the type of `t`."""
    if not isinstance(value, int | float | complex | np.number | np.bool_):
        raise TypeError(f"cannot assign {type(value).__name__}: a number, a Tensor or an array can be assigned")
    if isinstance(value, int) and t._a.dtype.kind in "iu" and not np.can_cast(np.min_scalar_type(value), t._a.dtype):
        raise RuntimeError(f"{value} cannot be converted to {t.dtype!r} without overflow")
    if isinstance(value, complex | np.complexfloating) and not t.dtype.is_complex:
        raise RuntimeError(f"a complex number cannot be converted to {t.dtype!r}: take its real part")


def _viewing(function, variant):
    """The variant of a view operation that changes the tensor itself, whose node has a number of its own."""

    def forward(self, *args):
        check_writable(self)
        shape = self._a.shape
        with set_grad_enabled(self._node is not None):  # in any mode: a history must fit the shape
            out = function(self, *args)
        if self._base is None:
            added = out._steps[len(self._steps) :]
            self._undo = (*[_opposite(step, shape) for step in added], *self._undo)
        if out._node is not None:
            name = out._node.form.name.partition(".")[0]
            rename(out._node, f"{name}.{variant + (name == 'Squeeze' and bool(args))}")
            set_node(self, out._node)
        self._a, self._steps = out._a, out._steps
        count_write(self)
        return self

    return forward


def _opposite(step, shape):
    """The step back to an array of `shape`."""
    if step.function is np.squeeze:
        (axes,) = step.after
        return item_step(tuple([None if i in axes else slice(None) for i in range(len(shape))]))
    if step.function is np.expand_dims:
        (axis,) = step.after
        return item_step((*(slice(None),) * (axis % (len(shape) + 1)), 0, ...))
    return step  # an exchange of axes


for _name in ("t", "transpose", "squeeze", "unsqueeze", "swapaxes", "swapdims"):
    setattr(Tensor, f"{_name}_", _viewing(getattr(Tensor, _name), 3 if _name == "squeeze" else 1))


def _random_fill(title, draw, fits=lambda *parameters: True, of_integers=False):
    """A method that fills a tensor by ``draw(source, shape, parameters)``; `fits` says which parameters are such."""

    def forward(self, *args, generator=None, **kwargs):
        from s2sgrad.runtime.eager.creation import random_source

        check_writable(self)
        name = title.partition(".")[0].lower()
        if not of_integers and self._a.dtype.kind in "bui":
            raise NotImplementedError(f"{name} numbers are not of {self.dtype!r}")
        if not fits(*args, **kwargs):
            raise RuntimeError(f"there are no {name} numbers with the parameters {(*args, *kwargs.values())}")
        return write(self, np.asarray(draw(random_source(generator), self._a.shape, *args, **kwargs)), ..., title)

    return forward


def _positive_width(center=0.0, width=1.0, **named):
    return width > 0 and all(named.get(name, 1.0) > 0 for name in ("sigma", "std"))


def _interval(low=0.0, high=1.0, **named):
    """The bounds of a uniform distribution, under either of their names."""
    return named.get("a", named.get("from", low)), named.get("b", named.get("to", high))


def _in_order(*args, **kwargs):
    low, high = _interval(*args, **kwargs)
    return low <= high


Tensor.normal_ = _random_fill(
    "Normal", lambda r, s, mean=0.0, std=1.0: r.normal(mean, std, s), lambda mean=0.0, std=1.0: std >= 0
)
Tensor.uniform_ = _random_fill(
    "Uniform", lambda r, s, *args, **kwargs: r.uniform(*_interval(*args, **kwargs), s), _in_order
)
Tensor.exponential_ = _random_fill(
    "Exponential", lambda r, s, lambd=1.0: r.exponential(1 / lambd, s), lambda lambd=1.0: lambd > 0
)
Tensor.geometric_ = _random_fill("Geometric", lambda r, s, p: r.geometric(p, s), lambda p: 0 < p < 1, True)
Tensor.cauchy_ = _random_fill(
    "Cauchy", lambda r, s, median=0.0, sigma=1.0: median + sigma * r.standard_cauchy(s), _positive_width
)
Tensor.log_normal_ = _random_fill(
    "LogNormal", lambda r, s, mean=1.0, std=2.0: r.lognormal(mean, std, s), _positive_width
)
_bernoulli = _random_fill(
    "Bernoulli.2", lambda r, s, p: r.random(s) < p, lambda p: bool(np.all((p >= 0) & (p <= 1))), True
)


@method("bernoulli_")
def bernoulli_(self, p=0.5, *, generator=None):
    """Ones with probability `p`, a number or one for each element; zeros elsewhere."""
    return _bernoulli(self, np.asarray(p._a if isinstance(p, Tensor) else p), generator=generator)


@method("random_")
def random_(self, *bounds, generator=None, **named):
    """Integers from a range; without one, as many as the type holds exactly."""
    low, high = (0, *bounds) if len(bounds) == 1 else bounds or (0, None)
    low, high = named.get("from", low), named.get("to", high)
    if high is None:
        n = self._a.dtype
        high = np.iinfo(n).max if n.kind in "iu" else 2 if n.kind == "b" else 2 ** (dtypes.finfo(n).mantissa + 1)
    return _random_integers(self, low, high, generator=generator)


_random_integers = _random_fill(
    "Random.2", lambda r, s, low, high: r.integers(low, high, s), lambda low, high: low < high, True
)


@method("fill_diagonal_")
def fill_diagonal_(self, fill_value, wrap=False):
    """One value on the main diagonal; of a tall matrix, on those that follow below with `wrap`."""
    shape = self._a.shape
    if len(shape) < 2 or len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"fill_diagonal_: a matrix, or axes of one length are expected, not the shape {list(shape)}")
    if len(shape) == 2 and wrap:
        rows = np.arange(shape[0])
        rows = rows[rows % (shape[1] + 1) < shape[1]]
        key = rows, rows % (shape[1] + 1)
    else:
        key = (np.arange(min(shape)),) * len(shape)
    check_writable(self)
    _check_number(self, fill_value)
    return write(self, fill_value, key)


@method("resize_")
def resize_(self, *shape, memory_format=None):
    """Another shape, on the elements that are there in reading order; what is added is zero."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad: make a new tensor of the part you want")
    if self._base is not None:
        raise RuntimeError("cannot resize a view: clone() it first")
    shape = sizes(shape)
    refresh(self)
    flat = self._a.reshape(-1)
    n = math.prod(shape)
    self._a = (flat[:n] if n <= flat.size else np.concatenate([flat, np.zeros(n - flat.size, flat.dtype)])).reshape(
        shape
    )
    return self


@method("set_")
def set_(self, source=None):
    """Let the tensor be of the memory of another, or of none: its old memory stays with its views."""
    check_writable(self)
    if source is None:
        source = new(np.empty(0, self._a.dtype), None)
    if not isinstance(source, Tensor):
        raise TypeError(f"set_ takes a Tensor, not {type(source).__name__}")
    if source._a.dtype != self._a.dtype:
        raise RuntimeError(f"set_: a tensor of {self.dtype!r} cannot be of the memory of one of {source.dtype!r}")
    if is_recording() and (self._node is not None or source.requires_grad):
        raise RuntimeError("set_ has no derivative: use it on constants, or within no_grad()")
    refresh(source)
    count_if_needed(self)
    self._stand_on(source._a[...])
    return self


for _name in ("zero", "fill", "detach"):
    FUNCTIONS[f"{_name}_"] = getattr(Tensor, f"{_name}_")


def _by_python(name):
    """A method that writes what a Python function makes of each element, and of that of another tensor."""

    def forward(self, *args):
        *others, function = args
        check_writable(self)
        if any(t.requires_grad for t in (self, *others)):
            raise RuntimeError(f"{name} has no derivative: it is of tensors that do not require grad")
        for t in (self, *others):
            refresh(t)
        values = [function(*row) for row in zip(*[t._a.reshape(-1).tolist() for t in (self, *others)], strict=True)]
        return write(self, np.array(values, self._a.dtype).reshape(self._a.shape), ..., "Fill")

    return forward


Tensor.apply_, Tensor.map_ = _by_python("apply_"), _by_python("map_")

method("resize_as_")(lambda self, other: resize_(self, *other._a.shape))
