"""One operation on tensors, recorded by the rule table.

`call` is the general way: any function with a rule, any arguments. The short ways for the common kinds of tensors
are in ``shortcuts.py``.
"""

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.crossing import refuse_recorded
from s2sgrad.runtime.eager.keeping import finish
from s2sgrad.runtime.eager.modes import is_inference_mode_enabled
from s2sgrad.runtime.eager.plans import by_plan, remember
from s2sgrad.runtime.eager.tensor import Tensor, as_view, new, node_of
from s2sgrad.runtime.grad_mode import PAUSED, is_recording
from s2sgrad.runtime.node import COUNTER
from s2sgrad.runtime.record import apply
from s2sgrad.runtime.results import PICK
from s2sgrad.runtime.tensor import Traced

_ndarray = np.ndarray
_F32, _BF16 = np.dtype(np.float32), dtypes.bfloat16.numpy


# ---------------------------------------------------------------- the general way


class _Arguments:
    """The tensors of a call as recorded arrays."""

    __slots__ = ("args", "tensors", "recording")

    def __init__(self, args):
        self.args = args
        self.tensors = []
        self.recording = is_recording()

    def traced(self, a):
        kind = type(a)
        if isinstance(a, Tensor):
            node = node_of(a)
            t = Traced()
            t.primal = a._a
            t.node = node if self.recording and dtypes.differentiable(a._a.dtype) else None
            t.storage = None
            self.tensors.append(a)
            return t
        if kind is list or kind is tuple:
            return kind([self.traced(item) for item in a])
        refuse_recorded(a)
        return a


def call(name, function, *args, **kwargs):
    """Call `function` of tensors, recorded as an operation called `name`.

    Returns
    -------
    Tensor, or a tuple or list of them as `function` returns
    """
    try:
        if not PAUSED.count:
            out = by_plan(name, function, args, kwargs)
            if out is not None:
                return _narrowed(out, function, args) if out._a.dtype is _F32 else out
        arguments = _Arguments(args)
        traced_args = tuple([arguments.traced(a) for a in args])
        traced_kwargs = {k: arguments.traced(a) for k, a in kwargs.items()} if kwargs else kwargs
        before = next(COUNTER)
        out = apply(function, traced_args, traced_kwargs)
    except (TypeError, ValueError, IndexError) as error:
        raise _in_words(error, name, args) from None
    out = _wrap(out, name, function, arguments, before, True)
    if not PAUSED.count and type(out) is Tensor and out._node is not None and out._node.number > before:
        remember(name, function, args, kwargs, out)
    return _narrowed(out, function, args) if type(out) is Tensor and out._a.dtype is _F32 else out


def _in_words(error, name, args):
    """NumPy's complaint about the arguments of an operation, of the class that users of torch expect."""
    title = (name or "NumPy").partition(".")[0].lower()
    if isinstance(error, np.exceptions.AxisError):
        return IndexError(f"{title}: Dimension out of range ({error})")
    if isinstance(error, IndexError):
        masked = "boolean index" in str(error)
        what = "the shape of the mask does not match the shape of the tensor" if masked else "index out of range"
        return IndexError(f"{title}: {what}: {error}")
    if isinstance(error, np.linalg.LinAlgError):
        return error
    if isinstance(error, ValueError):
        return RuntimeError(f"{title}: {error}")
    if "ufunc" in str(error) or "did not contain a loop" in str(error) or "numpy boolean subtract" in str(error):
        types = _types([a for a in args if isinstance(a, Tensor)])
        return NotImplementedError(f"{name}: not defined for tensors of {types}")
    return error


def _narrowed(out, function, args):
    """`out` as bfloat16 where that is the operands' type: some NumPy functions answer in float32."""
    if function is neural.cast or not any(type(a) is Tensor and a._a.dtype == _BF16 for a in args):
        return out
    return cast(out, dtypes.bfloat16)


def _types(tensors):
    return " and ".join(repr(t.dtype) for t in tensors)


def _wrap(out, name, function, arguments, before, whole):
    kind = type(out)
    if kind is Traced:
        node = out.node
        if whole and node is not None and node.number > before:
            finish(node, name, function, arguments)
        return _wrap_array(out, arguments, node)
    if kind is tuple or kind is list or isinstance(out, tuple):
        for item in out:
            if type(item) is Traced and item.node is not None and item.node.form is PICK and whole:
                if item.node.edges.number > before:
                    finish(item.node.edges, name, function, arguments)
                break
        items = [_wrap(item, name, function, arguments, before, False) for item in out]
        for item in items:
            if isinstance(item, Tensor) and item._base is not None and item._made is None:
                item._made = "multi"
        return tuple(items)
    if kind is _ndarray or isinstance(out, np.generic):
        return _marked(new(np.asarray(out), None))
    return out


def _marked(t):
    if PAUSED.count and is_inference_mode_enabled():
        t._inference = True
        t._plain = None
    return t


def _wrap_array(out, arguments, node):
    data = out.primal
    if type(data) is not _ndarray:
        return _marked(new(np.asarray(data), node))
    steps = ()
    source = None
    if out.storage is not None:
        for t in arguments.tensors:
            if np.may_share_memory(t._a, data):
                source, steps = t, out.steps
                break
    elif any(data is t._a for t in arguments.tensors):
        source = next(t for t in arguments.tensors if data is t._a)
        data = data[...]
    if source is None:
        return _marked(new(data, node))
    t = new(data, node)
    as_view(source, t, steps)
    return t


# ---------------------------------------------------------------- conversions


def floating(x):
    """`x` as a tensor of floating point or complex type."""
    if not isinstance(x, Tensor):
        raise TypeError(f"expected a Tensor, not {type(x).__name__}")
    if dtypes.differentiable(x._a.dtype):
        return x
    return cast(x, dtypes.get_default_dtype())


def cast(x, dtype):
    """`x` in another type; itself where it has that type."""
    if x._a.dtype == dtype.numpy:
        return x
    if x._a.dtype.kind == "c" and not dtype.is_complex:
        return call("ToCopy", neural.cast, call("Real", np.real, x), dtype.numpy)
    return call("ToCopy", neural.cast, x, dtype.numpy)


def of_one_type(*tensors):
    """Refuse tensors of several types."""
    if len({x._a.dtype for x in tensors}) > 1:
        raise RuntimeError(
            f"expected tensors of one dtype, but found {' and '.join(repr(x.dtype) for x in tensors)}: convert one"
        )
