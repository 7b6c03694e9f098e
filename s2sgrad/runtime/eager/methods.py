"""What a tensor offers besides mathematics: numbers, arrays, types, copying, storing."""

import copy
import io
import operator
import pickle

import numpy as np

from s2sgrad.rules.placing import kept_copy
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast
from s2sgrad.runtime.eager.registry import FUNCTIONS, method, op
from s2sgrad.runtime.eager.tensor import Tensor, bare, refresh

# ---------------------------------------------------------------- numbers and arrays


@method("item")
def item(self):
    """The number of a tensor of one element."""
    if self._a.size != 1:
        raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to a number")
    return self._a.item()


@method("tolist")
def tolist(self):
    return self._a.tolist()


def _number(kind, error):
    def convert(self):
        if self._a.size != 1:
            raise error(f"only one element tensors can be converted to Python numbers, this has {self._a.size}")
        value = self._a.item()
        if isinstance(value, complex) and kind is not complex:
            if not value.imag:
                return kind(value.real)
            raise RuntimeError(f"the number {value} is complex: take its real part to get a {kind.__name__}")
        return kind(value)

    return convert


Tensor.__float__ = _number(float, ValueError)
Tensor.__int__ = _number(int, ValueError)
Tensor.__complex__ = _number(complex, ValueError)


@method("__reversed__")
def backwards(self):
    return FUNCTIONS["flip"](self, tuple(range(self._a.ndim)))


@method("__index__")
def index(self):
    if self._a.dtype.kind not in "iub" or self._a.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self._a.item())


@method("__bool__")
def truth(self):
    if self._a.size != 1:
        raise RuntimeError("the truth value of a Tensor with no or several elements is ambiguous: use any() or all()")
    return bool(self._a.item())


@method("numpy")
def numpy(self, *, force=False):
    """The array itself: the memory is shared."""
    refresh(self)
    if force:
        return self._a[...]
    if self.requires_grad:
        raise RuntimeError("can't call numpy() on a Tensor that requires grad: use tensor.detach().numpy()")
    return self._a[...]


@method("__array__")
def as_array(self, dtype=None, copy=None):
    a = numpy(self)
    return a if dtype is None else a.astype(dtype)


# NumPy functions of tensors: those of the table record, the operators' ufuncs among them
@method("__array_ufunc__")
def array_ufunc(self, ufunc, kind, *inputs, **kwargs):
    if kind != "__call__" or kwargs:
        return NotImplemented
    if any(isinstance(x, np.ndarray) for x in inputs):
        raise TypeError("an array and a Tensor do not mix here: make the array a tensor with from_numpy")
    return _by_numpy(ufunc, inputs)


@method("__array_function__")
def array_function(self, function, types, args, kwargs):
    return _by_numpy(function, args, kwargs)


def _by_numpy(function, args, kwargs=None):
    args = [a.item() if isinstance(a, np.generic) else a for a in args]
    if function in _OPERATORS and not kwargs:
        return _OPERATORS[function](*args)
    own = (
        FUNCTIONS.get(_TORCH_NAMES.get(function.__name__, function.__name__))
        if isinstance(function, np.ufunc)
        else None
    )
    if own is not None and not kwargs:
        return own(*args)
    return call(None, function, *args, **(kwargs or {}))


_OPERATORS = {  # what NumPy's numbers call for them
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
}
_TORCH_NAMES = {"power": "pow", "absolute": "abs", "conjugate": "conj"}


# ---------------------------------------------------------------- types and devices


class Device:
    """Where a tensor lives: the CPU."""

    def __init__(self, kind="cpu", index=None):
        self.type, self.index = str(kind).partition(":")[0], index
        if self.type != "cpu":
            raise RuntimeError(f"there is no device {kind!r}: tensors live on the CPU")

    def __eq__(self, other):
        return isinstance(other, Device) and other.type == self.type or other == self.type

    def __hash__(self):
        return hash(self.type)

    def __repr__(self):
        return f"device(type='{self.type}')"

    __str__ = lambda self: self.type  # noqa: E731


CPU = Device()
Tensor.device = property(lambda self: CPU)
Tensor.is_cpu = True
Tensor.is_cuda = Tensor.is_sparse = Tensor.is_quantized = Tensor.is_meta = Tensor.is_nested = False


class Layout:
    """How a tensor lies in memory: by strides."""

    __repr__ = __str__ = lambda self: "torch.strided"


Tensor.layout = Layout()


@method("to")
def to(self, *args, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
    """The tensor in another type; itself where nothing changes."""
    for a in args:
        if isinstance(a, Tensor):
            dtype = a.dtype
        elif isinstance(a, dtypes.dtype | type | np.dtype):
            dtype = a
        elif isinstance(a, str | Device):
            device = a
    if device is not None and not isinstance(device, Device):
        Device(device)
    out = self if dtype is None else cast(self, dtypes.of(dtype))
    return call("ToCopy", kept_copy, out) if copy and out is self else out


for _name, _dtype in (
    ("double", dtypes.float64),
    ("float", dtypes.float32),
    ("half", dtypes.float16),
    ("bfloat16", dtypes.bfloat16),
    ("long", dtypes.int64),
    ("int", dtypes.int32),
    ("short", dtypes.int16),
    ("char", dtypes.int8),
    ("byte", dtypes.uint8),
    ("bool", dtypes.bool_),
    ("cfloat", dtypes.complex64),
    ("cdouble", dtypes.complex128),
):
    setattr(Tensor, _name, lambda self, _d=_dtype: cast(self, _d))


_OF_OLD_NAMES = {d.tensor_type: d for d in dtypes.ALL}


@method("type")
def type_(self, dtype=None):
    """The name of the type, as it used to be; or the tensor in another type."""
    if dtype is None:
        return self.dtype.tensor_type
    return cast(self, dtypes.of(_OF_OLD_NAMES.get(dtype, dtype)))


@method("type_as")
def type_as(self, other):
    return cast(self, other.dtype)


@method("cpu")
def cpu(self):
    return self


@method("cuda")
def cuda(self, device=None):
    raise RuntimeError("there is no CUDA device here: tensors live on the CPU")


@op(method=False)
def detach(input):
    """`Tensor.detach`."""
    return input.detach()


@op()
def get_device(input):
    """The number of the device: -1, which is the CPU."""
    return -1


def cuda_is_available():
    """No: tensors live on the CPU."""
    return False


def cuda_device_count():
    """None: tensors live on the CPU."""
    return 0


@op(method=False)
def result_type(a, b):
    """The type that an operation on both computes in."""
    return dtypes.result_type(a, b)


@op(method=False)
def promote_types(a, b):
    """The smallest type that holds both."""
    return dtypes.promote(dtypes.of(a), dtypes.of(b))


@op(method=False)
def can_cast(from_, to):
    """Whether in-place results of one type may be written into another."""
    return dtypes.of(from_).rank <= dtypes.of(to).rank


@op(method=False)
def is_tensor(obj):
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


@method("is_pinned", "is_shared")
def no(self):
    """No: the memory is the process's own."""
    return False


@op()
def is_same_size(input, other):
    """Whether two tensors are of one shape."""
    return input._a.shape == other._a.shape


@op()
def is_signed(input):
    """Whether the type has negative numbers."""
    return input.dtype.is_signed


@op()
def is_nonzero(input):
    """Whether a tensor of one element is not zero."""
    return truth(input)


# ---------------------------------------------------------------- copying and storing


def _attributes(t):
    """What the user has set on a tensor."""
    return {name: value for name, value in vars(t).items() if not hasattr(Tensor, name)}


def _memory(a):
    """The array that owns the memory of `a`, and where in it `a` lies: what shares memory shares it when copied."""
    owner = a
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not owner.flags.forc:
        return np.array(a), 0, a.shape, a.strides
    return owner, a.__array_interface__["data"][0] - owner.__array_interface__["data"][0], a.shape, a.strides


def _rebuilt(kind, owner, offset, shape, strides, dtype, requires_grad, attributes):
    buffer = owner if owner.flags.c_contiguous else owner.T
    out = bare(kind, np.ndarray(shape, dtype, buffer, offset, strides))
    out._rg = requires_grad
    vars(out).update(attributes)
    return out


@method("__reduce_ex__")
def reduce(self, protocol):
    refresh(self)
    return _rebuilt, (type(self), *_memory(self._a), self._a.dtype, self.requires_grad, _attributes(self))


@method("__deepcopy__")
def deepcopy(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol: detach() first"
        )
    out = memo[id(self)] = _rebuilt(type(self), *copy.deepcopy(_memory(self._a), memo), self._a.dtype, self._rg, {})
    vars(out).update(copy.deepcopy(_attributes(self), memo))
    out._grad_type = self._grad_type
    out._grad = copy.deepcopy(self._grad, memo)
    return out


@method("__copy__")
def shallow(self):
    refresh(self)
    out = bare(type(self), self._a[...])
    out._rg = self.requires_grad
    vars(out).update(_attributes(self))
    return out


@op(method=False)
def save(obj, f):
    """Write an object with tensors to a file."""
    if isinstance(f, io.IOBase) or hasattr(f, "write"):
        pickle.dump(obj, f)
        return
    with open(f, "wb") as file:
        pickle.dump(obj, file)


@op(method=False)
def load(f, map_location=None, weights_only=True):
    """Read an object that `save` wrote. Only read what you wrote yourself: the format can run code."""
    if hasattr(f, "read"):
        return pickle.load(f)
    with open(f, "rb") as file:
        return pickle.load(file)
