"""Making tensors: from data, filled, random, and from other tensors."""

import pickle
import warnings

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.crossing import refuse_recorded
from s2sgrad.runtime.eager.methods import Device
from s2sgrad.runtime.eager.modes import is_inference_mode_enabled
from s2sgrad.runtime.eager.registry import enter, method, op, sizes
from s2sgrad.runtime.eager.tensor import Tensor, new, refresh
from s2sgrad.runtime.grad_mode import PAUSED


def made(array, requires_grad=False, device=None):
    """A leaf of a fresh array."""
    if device is not None:
        Device(device)  # there is the CPU only
    t = new(array, None)
    if PAUSED.count and is_inference_mode_enabled():
        t._inference = True
        t._plain = None
    if requires_grad:
        if not dtypes.differentiable(array.dtype):
            raise RuntimeError(
                f"Only Tensors of floating point and complex dtype can require gradients, not {t.dtype!r}"
            )
        t._rg = True
        t._plain = None
    return t


def _array_of(data):
    """Numbers, nested lists of numbers and tensors, and arrays as a new array."""
    if isinstance(data, np.ndarray | np.generic):
        return np.array(data, dtypes.of(data.dtype).numpy)
    a = np.array(_plain(data))
    if a.dtype == object or a.dtype.kind in "US":
        error = RuntimeError if a.dtype == object else ValueError if a.ndim else TypeError
        raise error(f"cannot make a tensor of {type(data).__name__}: numbers in nested lists of equal lengths are")
    if a.dtype.kind == "f" and not _has_arrays(data):
        return a.astype(dtypes.get_default_dtype().numpy)
    if a.dtype.kind == "c" and not _has_arrays(data):
        return a.astype(dtypes.get_default_dtype().to_complex().numpy)
    if a.size == 0 and a.dtype == np.float64:
        return a.astype(dtypes.get_default_dtype().numpy)
    return a.astype(dtypes.of(a.dtype).numpy)


def _plain(data):
    if isinstance(data, Tensor):
        refresh(data)
        return data._a
    if isinstance(data, list | tuple):
        return [_plain(d) for d in data]
    return data


def _has_arrays(data):
    if isinstance(data, list | tuple):
        return any(_has_arrays(d) for d in data)
    return isinstance(data, np.ndarray | np.generic | Tensor)


@op(method=False)
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor with a copy of `data`.

    Examples
    --------
    >>> tensor([1.0, 2.0]), tensor([1, 2]).dtype
    (tensor([1., 2.]), torch.int64)
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "to copy a tensor, use x.detach().clone() or x.detach().clone().requires_grad_()", UserWarning, stacklevel=2
        )
        a = np.array(data._a)
    elif dtype is not None and isinstance(data, list | tuple | int | float | complex) and not _has_arrays(data):
        d = dtypes.of(dtype)
        try:
            a = np.array(data, d.numpy)
        except OverflowError as error:
            raise RuntimeError(f"cannot make a tensor of {d!r}: {error}") from None
        except (TypeError, ValueError):
            a = _array_of(data)
    else:
        a = _array_of(data)
    if dtype is not None:
        a = a.astype(dtypes.of(dtype).numpy, copy=False)
    return made(a, requires_grad, device)


@op(method=False)
def as_tensor(data, dtype=None, device=None):
    """A tensor on the memory of `data` where that is an array or a tensor already."""
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    if isinstance(data, np.ndarray):
        d = dtypes.of(data.dtype if dtype is None else dtype)
        return made(data[...] if data.dtype == d.numpy else data.astype(d.numpy), device=device)
    return tensor(data, dtype=dtype, device=device)


@op(method=False)
def asarray(data, *, dtype=None, device=None, copy=None, requires_grad=False):
    """A leaf, or a constant, on the memory of `data` where that is an array or a tensor already, unless `copy`."""
    out = as_tensor(data, dtype, device)
    shared = out is data or isinstance(data, np.ndarray) and np.may_share_memory(out._a, data)
    if copy is False and not shared:
        raise ValueError("asarray: the data must be copied, and copy=False forbids it")
    if copy and shared:
        out = out.clone()
    return out.requires_grad_() if requires_grad and not out.requires_grad else out


@op(method=False)
def from_numpy(array):
    """A tensor on the memory of an array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy takes an ndarray, not {type(array).__name__}")
    dtypes.of(array.dtype)
    return made(array[...])


def _dtype(dtype):
    return (dtypes.get_default_dtype() if dtype is None else dtypes.of(dtype)).numpy


def _filled(maker):
    def make(*size, dtype=None, device=None, requires_grad=False, layout=None, out=None, memory_format=None):
        shape = sizes(size) if size else ()
        if any(n < 0 for n in shape):
            raise RuntimeError(f"a tensor cannot have a negative dimension: {list(shape)}")
        return made(maker(shape, _dtype(dtype)), requires_grad, device)

    def like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None):
        d = input._a.dtype if dtype is None else dtypes.of(dtype).numpy
        return made(_in_order_of(input._a, maker(input._a.shape, d)), requires_grad, device)

    def as_method(self, *size, dtype=None, device=None, requires_grad=False):
        return made(
            maker(sizes(size), self._a.dtype if dtype is None else dtypes.of(dtype).numpy), requires_grad, device
        )

    return make, like, as_method


def _in_order_of(model, a):
    out = np.empty_like(model, dtype=a.dtype)
    out[...] = a
    return out


for _name, _maker in (("zeros", np.zeros), ("ones", np.ones), ("empty", np.zeros)):
    _make, _like, _method = _filled(_maker)
    enter(_name, _make, method=False)
    enter(f"{_name}_like", _like, method=False)
    setattr(Tensor, f"new_{_name}", _method)
    globals()[_name], globals()[f"{_name}_like"] = _make, _like


@op(method=False)
def full(size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """A tensor filled with one number."""
    refuse_recorded(fill_value)
    d = dtypes.of_number(fill_value) if dtype is None else dtypes.of(dtype)
    return made(_full(sizes((size,)), fill_value, d), requires_grad, device)


def _full(shape, value, d):
    try:
        return np.full(shape, value, d.numpy)
    except OverflowError as error:
        raise RuntimeError(f"{value} cannot be converted to {d!r}: {error}") from None


@op(method=False)
def full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False, memory_format=None):
    """A tensor of the shape of another, filled with one number."""
    refuse_recorded(fill_value)
    return made(
        np.full_like(input._a, fill_value, None if dtype is None else dtypes.of(dtype).numpy), requires_grad, device
    )


@method("new_full")
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False):
    refuse_recorded(fill_value)
    return made(
        _full(sizes((size,)), fill_value, self.dtype if dtype is None else dtypes.of(dtype)), requires_grad, device
    )


@method("new_tensor")
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    return tensor(data, dtype=self.dtype if dtype is None else dtype, requires_grad=requires_grad, device=device)


@op(method=False)
def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    """Ones on the diagonal."""
    return made(np.eye(n, m, dtype=_dtype(dtype)), requires_grad, device)


@op(method=False)
def arange(start, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """Numbers from `start` up to `end`, which is not among them."""
    if end is None:
        start, end = 0, start
    start, end, step = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
    whole = all(isinstance(v, int) for v in (start, end, step))
    if not step or (end - start) / step < 0:
        raise RuntimeError(f"arange: steps of {step} do not lead from {start} to {end}")
    d = dtypes.of(dtype) if dtype is not None else dtypes.int64 if whole else dtypes.get_default_dtype()
    return made(np.arange(start, end, step).astype(d.numpy), requires_grad, device)


@op(method=False)
def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False):
    """Numbers at equal distances, both ends among them."""
    return made(np.linspace(start, end, steps).astype(_dtype(dtype)), requires_grad, device)


@op(method=False)
def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False):
    """Numbers at equal ratios."""
    return made(np.logspace(start, end, steps, base=base).astype(_dtype(dtype)), requires_grad, device)


@op(method=False)
def scalar_tensor(value, *, dtype=None, device=None, requires_grad=False):
    """A tensor without dimensions."""
    return tensor(value, dtype=dtype, requires_grad=requires_grad, device=device)


# ---------------------------------------------------------------- random numbers


class Generator:
    """A source of random numbers of its own."""

    def __init__(self, device=None):
        Device(device or "cpu")
        self.seed()

    def manual_seed(self, seed):
        """Start over from `seed`."""
        self._seed = int(seed)
        self.random = np.random.default_rng(self._seed)
        return self

    def seed(self):
        """Start over from a seed of chance, which is returned."""
        self.manual_seed(np.random.SeedSequence().entropy % 2**63)
        return self._seed

    def initial_seed(self):
        """The seed started from."""
        return self._seed

    def get_state(self):
        """Where the numbers stand, as a tensor of bytes."""
        return made(np.frombuffer(bytearray(pickle.dumps((self._seed, self.random.bit_generator.state))), np.uint8))

    def set_state(self, new_state):
        """Go on from where `get_state` was called."""
        self._seed, self.random.bit_generator.state = pickle.loads(new_state._a.tobytes())


_default = Generator()


@op(method=False)
def manual_seed(seed):
    """Start the random numbers over from `seed`."""
    return _default.manual_seed(seed)


op(method=False)(_default.seed)
op(method=False)(_default.initial_seed)
enter("get_rng_state", _default.get_state, method=False)
enter("set_rng_state", _default.set_state, method=False)


def random_source(generator):
    return (generator or _default).random


def _random(draw):
    def make(*size, dtype=None, device=None, requires_grad=False, generator=None, layout=None):
        shape = sizes(size) if size else ()
        d = dtypes.get_default_dtype() if dtype is None else dtypes.of(dtype)
        a = draw(random_source(generator), shape)
        if d.is_complex:
            a = (a + 1j * draw(random_source(generator), shape)) / np.sqrt(2)
        return made(np.asarray(a).astype(d.numpy), requires_grad, device)

    def like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None):
        return make(
            input._a.shape, dtype=input.dtype if dtype is None else dtype, requires_grad=requires_grad, device=device
        )

    return make, like


for _name, _draw in (("rand", lambda r, s: r.random(s)), ("randn", lambda r, s: r.standard_normal(s))):
    _make, _like = _random(_draw)
    enter(_name, _make, method=False)
    enter(f"{_name}_like", _like, method=False)


@op(method=False)
def randint(low, high=None, size=None, *, dtype=None, device=None, requires_grad=False, generator=None):
    """Random integers from `low` up to `high`, which is not among them."""
    if size is None:
        low, high, size = 0, low, high
    d = dtypes.int64 if dtype is None else dtypes.of(dtype)
    return made(random_source(generator).integers(low, high, sizes((size,))).astype(d.numpy), requires_grad, device)


@op(method=False)
def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False):
    """The numbers below `n` in random order."""
    d = dtypes.int64 if dtype is None else dtypes.of(dtype)
    return made(random_source(generator).permutation(n).astype(d.numpy), requires_grad, device)


@op(method=False)
def normal(mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, device=None, requires_grad=False):
    """Random numbers of the normal distribution."""
    mean, std = [v._a if isinstance(v, Tensor) else v for v in (mean, std)]
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std)) if size is None else sizes((size,))
    return made(
        np.asarray(mean + std * random_source(generator).standard_normal(shape)).astype(_dtype(dtype)),
        requires_grad,
        device,
    )


@op(method=False)
def binomial(count, prob, generator=None):
    """How many of `count` tries succeed, each with the probability `prob`."""
    return made(random_source(generator).binomial(count._a.astype(np.int64), prob._a).astype(count._a.dtype))


@op()
def bernoulli(input, *, generator=None):
    """Ones with the probabilities given, zeros else."""
    return made((random_source(generator).random(input._a.shape) < input._a).astype(input._a.dtype))


@op(method=False)
def randint_like(input, low, high=None, *, dtype=None, requires_grad=False):
    """Random integers in the shape of `input`."""
    return randint(low, high, input._a.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


@op(method=False)
def poisson(input, generator=None):
    """Counts of random events, of the rates given."""
    return made(random_source(generator).poisson(input._a).astype(input._a.dtype))


@op()
def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Numbers of elements drawn by their weights, in each row."""
    weights = input._a.astype(np.float64)
    rows = [
        random_source(generator).choice(len(w), num_samples, replacement, w / w.sum())
        for w in weights.reshape(-1, weights.shape[-1])
    ]
    return made(np.array(rows, np.int64).reshape(*weights.shape[:-1], num_samples))
