"""User-written operations: a forward, a backward, and the context that joins them, which is the node itself."""

import functools
import inspect
import warnings
import weakref

import numpy as np

from s2sgrad.errors import OnceDifferentiableError
from s2sgrad.runtime.arrays import unbroadcast
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.crossing import call_on_tape, holds_recorded
from s2sgrad.runtime.eager.engine import FUNCTION, typed
from s2sgrad.runtime.eager.modes import no_grad, saving
from s2sgrad.runtime.eager.node import GraphNode, as_tensor, as_traced
from s2sgrad.runtime.eager.saved import Packed
from s2sgrad.runtime.eager.tensor import Tensor, as_view, new, node_of, refresh
from s2sgrad.runtime.eager.versions import STALE, checked
from s2sgrad.runtime.grad_mode import is_recording
from s2sgrad.runtime.node import COUNTER, make_node
from s2sgrad.runtime.results import PICK


class FunctionCtx:
    """What ``ctx`` offers in forward and backward."""

    def save_for_backward(self, *tensors):
        """Keep tensors (or None) for backward, guarded against writes; the last call counts."""
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for ``jvp``."""
        for t in tensors:
            assert t is None or isinstance(t, Tensor), "save_for_forward takes Tensors or None"
        self._for_forward = tensors

    def mark_dirty(self, *tensors):
        """Say of inputs that forward has overwritten them; they must be returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *outputs):
        """Say of outputs that no gradient flows to them."""
        self._constant = outputs

    def set_materialize_grads(self, value=True):
        """Whether backward gets zeros (or None) for outputs that nothing flows to."""
        if not isinstance(value, bool):
            raise TypeError(f"set_materialize_grads takes a bool, not {type(value).__name__}")
        self._materialize = value

    def mark_shared_storage(self, *pairs):
        """Deprecated, and without effect."""
        warnings.warn("mark_shared_storage is deprecated: it has no effect", FutureWarning, stacklevel=2)


class _Saved:
    """A value saved by `save_for_backward`."""

    __slots__ = ("tensor", "array", "output", "packed")

    def __init__(self, t, output):
        self.packed = None
        self.array = t._a
        self.output = output
        self.tensor = t if output is None else None
        hooks = saving()
        if hooks is not None:
            self.packed = Packed(t if output is None else new(t._a, t._node), hooks.pack, hooks.unpack)
            self.array = self.tensor = None

    def restored(self, node):
        if self.packed is not None:
            return self.packed.restored()
        array = checked(self.array) if STALE else self.array
        if self.output is None:
            return self.tensor if array is self.array else new(array, self.tensor._node)
        return new(array, node.output(self.output))


class BackwardCFunction(GraphNode, FunctionCtx):
    """The node of a call of a `Function`: its context."""

    _to_save = _for_forward = _dirty = _constant = ()
    _materialize = True
    _released = False
    _values = None
    needs_input_grad = ()

    def name(self):
        return type(self).__name__

    __getattr__ = None
    __dir__ = object.__dir__

    @property
    def saved_tensors(self):
        if self._released:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or to access saved tensors after they have "
                "already been freed): say retain_graph=True in the first pass"
            )
        if self._values is None:
            return tuple(self._for_forward or self._to_save)
        out = tuple([None if v is None else v.restored(self) for v in self._values])
        if self._forward_cls.clear_saved_tensors_on_access:
            self.release()
        return out

    def output(self, i):
        """The node of one of the results."""
        return make_node(PICK, (i, len(self._results)), self)

    def release(self):
        self._released = True
        self._values = None

    def apply(self, *grads):
        """Call backward with the gradients of the results."""
        return _backward_of(self._forward_cls)(self, *grads)

    def run(self, parts, recording):
        """The gradients of the edges from those of the results."""
        cls = self._forward_cls
        parts = parts or (None,) * len(self._results)
        grads = [
            None if p is None else typed(as_tensor(p), meta[1]) for p, meta in zip(parts, self._results, strict=True)
        ]
        if self._materialize:
            grads = [self._zeros(i) if g is None else g for i, g in enumerate(grads)]
        backward = _backward_of(cls)
        out = backward(self, grads) if cls.boxed_grads_call else backward(self, *grads)
        return self._checked(out if isinstance(out, tuple) else (out,), recording)

    def _zeros(self, i):
        meta = self._results[i]
        return None if meta is None else new(np.zeros(*meta), None)

    def _checked(self, out, recording):
        expected = len(self._inputs)
        if len(out) > expected and any(o is not None for o in out[expected:]) or len(out) < expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(out)}): one per argument of forward"
            )
        found = []
        for i, (g, meta) in enumerate(zip(out, self._inputs, strict=False)):
            if meta is not None:
                found.append(None if g is None else self._one(i, g, meta, self.edges[len(found)], recording))
            elif g is not None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different from None at position {i + 1}, "
                    "but the corresponding forward input was not a Tensor"
                )
        return tuple(found)

    def _one(self, i, g, meta, edge, recording):
        if not isinstance(g, Tensor):
            raise RuntimeError(
                f"function {self.name()} returned {type(g).__name__} at position {i + 1}: a Tensor or None is expected"
            )
        if edge is None:
            return None
        shape, dtype = meta
        if g._a.shape != shape:
            if not _reducible(g._a.shape, shape):
                raise RuntimeError(
                    f"function {self.name()} returned an invalid gradient at index {i}: "
                    f"got {list(g._a.shape)} but expected shape compatible with {list(shape)}"
                )
            g = _sum_to(g, shape)
        if g._a.dtype != dtype:
            if g._a.dtype.kind == "c" and dtype.kind != "c":
                raise RuntimeError(
                    f"function {self.name()} returned an invalid gradient at index {i}: complex for a real input"
                )
            from s2sgrad.runtime.eager.call import cast

            g = cast(g, dtypes.of(dtype))
        if recording:
            return as_traced(g)
        refresh(g)
        return g._a


def _reducible(shape, target):
    if len(shape) < len(target):
        return False
    return all(t == 1 or s == t for s, t in zip(shape[len(shape) - len(target) :], target, strict=True))


def _sum_to(g, shape):
    from s2sgrad.runtime.eager.call import call

    return call("SumToSize", unbroadcast, g, np.broadcast_to(np.zeros((), g._a.dtype), shape))


# ---------------------------------------------------------------- the class users derive from


def _has(cls, name):
    return getattr(cls, name, None) is not getattr(Function, name, None)


def _backward_of(cls):
    own, alias = _has(cls, "backward"), _has(cls, "vjp")
    if own and alias:
        raise RuntimeError(f"{cls.__name__} implements both backward and vjp: they are two names of one method")
    if not own and not alias:
        raise NotImplementedError(f"{cls.__name__} has no backward: write it to take gradients through the function")
    return cls.vjp if alias else cls.backward


class FunctionMeta(type):
    """Gives each `Function` the class of its nodes."""

    def __init__(cls, name, bases, attributes):
        super().__init__(name, bases, attributes)
        cls._backward_cls = type(
            name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__getattr__": _missing}
        )


def _missing(self, name):
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base class of operations with a derivative of their own.

    Derive, write ``forward(ctx, ...)`` and ``backward(ctx, *grads)`` as static methods, and call `apply`.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> class Exp(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         y, = ctx.saved_tensors
    ...         return g * y
    >>> x = torch.zeros(2, requires_grad=True)
    >>> Exp.apply(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    boxed_grads_call = False
    clear_saved_tensors_on_access = False
    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        warnings.warn(
            f"{type(self).__name__} should not be instantiated: its methods are static, call apply",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError("instances of a Function cannot be called: write static forward and backward, call apply")

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the results; here lies what the operation does."""
        raise NotImplementedError("write a static forward for the Function")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Prepare `ctx` after a forward that does not take it."""
        raise NotImplementedError("write setup_context, or a forward that takes ctx")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """From the gradients of the results to those of the arguments."""
        raise NotImplementedError("write a static backward for the Function")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """From changes of the arguments to those of the results."""
        raise NotImplementedError("write a static jvp for the Function")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Call the operation, and record it where an argument requires grad."""
        if holds_recorded((args, kwargs)):
            return call_on_tape(cls, args, kwargs)
        separate = _has(cls, "setup_context")
        if kwargs or separate:
            args = _bound(cls.forward, args, kwargs, not separate)
        ctx = object.__new__(cls._backward_cls)
        tensors = [a if isinstance(a, Tensor) else None for a in args]
        nodes = [None if t is None else node_of(t) for t in tensors]
        ctx.needs_input_grad = tuple([n is not None for n in nodes])
        recording = is_recording() and any(ctx.needs_input_grad)
        with no_grad():
            out = cls.forward(*args) if separate else cls.forward(ctx, *args)
            if separate:
                cls.setup_context(ctx, args, out)
        return _finished(ctx, args, tensors, nodes, out, recording)


def _bound(forward, args, kwargs, with_ctx):
    signature = inspect.signature(forward)
    bound = signature.bind(None, *args, **kwargs) if with_ctx else signature.bind(*args, **kwargs)
    if bound.kwargs:
        raise TypeError("keyword-only arguments of forward cannot be passed through apply")
    if kwargs or not with_ctx:
        bound.apply_defaults()
    return bound.args[1:] if with_ctx else bound.args


def _finished(ctx, args, tensors, nodes, out, recording):
    """Tie the results to the node."""
    ctx.form = FUNCTION
    ctx.edges = tuple([n for t, n in zip(tensors, nodes, strict=True) if t is not None]) if recording else ()
    ctx.saved = (weakref.ref(ctx),)
    ctx.number = next(COUNTER)
    ctx._inputs = [None if t is None else (t._a.shape, t._a.dtype) for t in tensors]
    outputs = out if isinstance(out, tuple) else (out,)
    ctx._results = [(o._a.shape, o._a.dtype) if isinstance(o, Tensor) else None for o in outputs]
    for t in ctx._dirty:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_dirty takes Tensors, not {type(t).__name__}")
        if not any(t is o for o in outputs):
            raise RuntimeError("a tensor marked dirty must be returned from forward")
        if recording and t._base is not None and len(outputs) > 1:
            raise RuntimeError("a Function that overwrites a view cannot return more than the view")
    for t in ctx._constant:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_non_differentiable takes Tensors, not {type(t).__name__}")
    results = tuple([_result(ctx, i, o, tensors, recording) for i, o in enumerate(outputs)])
    if recording:
        ctx._values = [_saved(t, outputs, results, tensors) for t in ctx._to_save]
    ctx._to_save = ctx._dirty = ctx._constant = ()
    return results if isinstance(out, tuple) else results[0]


def _saved(t, outputs, results, tensors):
    if t is None:
        return None
    if not isinstance(t, Tensor):
        raise TypeError(f"save_for_backward takes Tensors or None, not {type(t).__name__}")
    for i, o in enumerate(outputs):
        made_here = isinstance(results[i], Tensor) and results[i]._node is not None
        if t is o and made_here and (results[i] is t or not any(t is x for x in tensors)):
            return _Saved(results[i], i)
    return _Saved(t, None)


def _result(ctx, i, o, tensors, recording):
    if not isinstance(o, Tensor):
        return o
    is_input = any(o is t for t in tensors)
    dirty = any(o is t for t in ctx._dirty)
    constant = not recording or any(o is t for t in ctx._constant) or not dtypes.differentiable(o._a.dtype)
    if dirty:
        from s2sgrad.runtime.eager.inplace import check_writable, count_if_needed, rebase

        if recording:
            check_writable(o)
        count_if_needed(o)
        if recording:
            rebase(o, ctx.output(i))
        return o
    if constant and o.requires_grad:
        o = o.detach()
    elif is_input:
        o = _alias(o)
    if o._base is not None:
        o._made = "custom"
    if constant:
        return o
    o._node = ctx.output(i)  # of one tensor returned twice, the last place counts
    o._rg = False
    return o


def _alias(t):
    """Another tensor on the memory of `t`: a view of the whole."""
    out = new(t._a[...], None)
    as_view(t, out, ())
    return out


def once_differentiable(backward):
    """Mark a backward whose own derivative must not be taken: it runs unrecorded, and says so when asked.

    Examples
    --------
    >>> class Double(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, g):
    ...         return g * 2
    """

    @functools.wraps(backward)
    def wrapper(ctx, *grads):
        with no_grad():
            out = backward(ctx, *grads)
        if not is_recording():
            return out
        incoming = [g for g in grads if isinstance(g, Tensor) and g.requires_grad]
        if not incoming:
            return out
        several = out if isinstance(out, tuple) else (out,)
        refused = tuple([o if o is None else _Refusing.apply(o, *incoming) for o in several])
        return refused if isinstance(out, tuple) else refused[0]

    return wrapper


class _Refusing(Function):
    @staticmethod
    def forward(ctx, out, *incoming):
        return out.detach()

    @staticmethod
    def backward(ctx, *grads):
        raise OnceDifferentiableError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


InplaceFunction = Function
NestedIOFunction = Function
