"""The NumPy face of `Traced`: operators, methods, attributes and NumPy's protocols, all recording.

User code that the fallback runs sees these in place of arrays and numbers. What reads values
without a derivative (comparisons, truth, indices, printing) looks at the data; what would carry a
value out of sight (conversion by C code) raises and names the user's line.
"""

import builtins
import dis
import operator
import sys
import threading
from types import MethodType

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.rules.table import ATTRIBUTES, INACTIVE_ATTRIBUTES, INACTIVE_METHODS, METHODS
from s2sgrad.runtime.arguments import is_active, kept, plain, plain_slice
from s2sgrad.runtime.arrays import conjugate, is_differentiable
from s2sgrad.runtime.grad_mode import PAUSED, is_recording
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.operands import reflected_name, yields
from s2sgrad.runtime.record import apply, assign, call_plain, recorder
from s2sgrad.runtime.refusals import called_library, missing_method, require_no_arrays, require_numeric
from s2sgrad.runtime.results import is_view, wrap
from s2sgrad.runtime.shortcuts import binary, unary
from s2sgrad.runtime.tensor import Tensor, Traced, traced
from s2sgrad.runtime.views import ITEM, TO_COMPLEX, item_step, lend, link, refresh, write

_ndarray = np.ndarray
_SIMPLE_KEYS = (int, slice, type(None), type(Ellipsis))

# ---------------------------------------------------------------- operators

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "mod": operator.mod,
    "floordiv": operator.floordiv,
}
UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "pow": np.power,
    "matmul": np.matmul,
    "mod": np.mod,
    "floordiv": np.floor_divide,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
PLAIN = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}


def _in_place(ufunc, function):
    reflected = reflected_name(function)

    def forward(self, other):
        if type(self.primal) is not _ndarray:
            return function(self, other)
        if yields(self, other, reflected):
            return NotImplemented
        return assign(self, ufunc, (self, other))

    return forward


def _matmul_in_place(self, other):
    """``self @= other``, where ``np.matmul(self, other, out=self)`` would write one product to many places."""
    if type(self.primal) is _ndarray and np.ndim(plain(other)) < 2 and not yields(self, other, "__rmatmul__"):
        operator.imatmul(np.array(plain(self)), plain(other))  # raises
    return _in_place(np.matmul, operator.matmul)(self, other)


def _on_data(function, reflected=False):
    if reflected:
        return lambda self, other: wrap(function(plain(other), plain(self)))
    name = reflected_name(function)

    def forward(self, other):
        if yields(self, other, name):
            return NotImplemented
        out = function(plain(self), plain(other))
        if type(out) is _ndarray and self.node is not None:
            require_numeric(out.dtype)
        return wrap(out)

    return forward


def _dress_operators():
    for name, function in BINARY.items():
        setattr(Traced, f"__{name}__", binary(function))
        setattr(Traced, f"__r{name}__", binary(function, reflected=True))
    for name, function in PLAIN.items():
        setattr(Traced, f"__{name}__", _on_data(function))
        if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(Traced, f"__r{name}__", _on_data(function, reflected=True))
    for name, ufunc in UFUNCS.items():
        function = BINARY.get(name) or PLAIN[name]
        setattr(Traced, f"__i{name}__", _in_place(ufunc, function))
    Traced.__imatmul__ = _matmul_in_place
    Traced.__divmod__ = lambda self, other: (self // other, self % other)
    Traced.__rdivmod__ = lambda self, other: (other // self, other % self)
    Traced.__neg__ = unary(operator.neg)
    Traced.__pos__ = unary(operator.pos)
    Traced.__abs__ = unary(builtins.abs)
    Traced.__invert__ = lambda self: wrap(~plain(self))


# ---------------------------------------------------------------- items


def plain_key(key):
    """An index without tensors, which nobody can change afterwards."""
    kind = type(key)
    if kind in _SIMPLE_KEYS:
        return key if kind is not slice else plain_slice(key)
    if kind is tuple:
        return tuple([k if type(k) in _SIMPLE_KEYS and type(k) is not slice else plain_key(k) for k in key])
    key = plain(key)
    if type(key) is _ndarray or type(key) is list:
        return np.array(key) if np.size(key) else key
    return key


def _getitem(self, key):
    if self.storage is not None:
        refresh(self)
    x = self.primal
    if type(key) is not int:
        key = plain_key(key)
    out = x[key]
    node = self.node
    if node is not None:
        if PAUSED.count and not is_recording():
            node = None
        elif type(x) is _ndarray:
            node = make_node(ITEM, (x, key), node)
        elif type(out) is _ndarray:  # ``x[None]`` of a NumPy number
            node = make_node(_PASS, ((),), node)
    if type(out) is not _ndarray:
        return out if node is None else traced(out, node)
    if out.base is not None and type(x) is _ndarray and np.may_share_memory(out, x):
        return link(out, self, item_step(key), node)
    return traced(out, node)


def _setitem(self, key, value):
    if type(self.primal) is not _ndarray:
        raise TypeError(f"{type(self.primal).__name__!r} object does not support item assignment")
    node = None
    if isinstance(value, Tensor):
        if value.storage is not None:
            refresh(value)
        node, value = value.node, value.primal
        if type(value) is _ndarray and np.may_share_memory(value, self.primal):
            value = np.array(value)
    elif type(value) in (list, tuple) and is_active(value):
        value = as_array(value)
        node, value = value.node, value.primal
    else:
        value = plain(value)
        if type(value) is _ndarray:
            value = kept(value)
    if node is not None and PAUSED.count and not is_recording():
        node = None
    write(self, plain_key(key), value, node)
    if type(value) is _ndarray:
        require_no_arrays(self.primal)


def _iterate(self):
    if np.ndim(self.primal) == 0:
        return iter(self.primal)
    return (self[i] for i in range(len(self.primal)))


class Flat:
    """``x.flat``: the elements of an array in reading order, readable and writable."""

    def __init__(self, array):
        self.array = array

    def _places(self, key):
        return np.unravel_index(np.arange(self.array.size)[plain_key(key)], self.array.shape)

    def __len__(self):
        return self.array.size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key):
        return self.array[self._places(key)]

    def __setitem__(self, key, value):
        require_apart(value, self.array)
        places = self._places(key)
        count = np.size(places[0]) if places else 1
        if np.size(plain(value)) not in (1, count):
            value = apply(np.resize, (value, np.shape(places[0])))
        self.array[places] = value


def require_apart(value, array):
    """Refuse what NumPy would read of an array after it has written some of it into `array`, which is the same."""
    value, content = plain(value), plain(array)
    if isinstance(value, _ndarray) and type(content) is _ndarray and np.may_share_memory(value, content):
        raise TapeError(
            f"what is written shares its memory with the array that it is written into: write a copy of it\n"
            f"  at {user_location()}"
        )


# ---------------------------------------------------------------- making arrays

_PASS = Form("Cast", lambda g, shape: _reshape(g, shape))


def _reshape(g, shape):
    return apply(np.reshape, (g, shape)) if isinstance(g, Tensor) else np.reshape(g, shape)


def _gather(value, path, found):
    if isinstance(value, Tensor):
        if value.storage is not None:
            refresh(value)
        if value.node is not None:
            found.append((path, value))
    elif type(value) in (list, tuple):
        for i, item in enumerate(value):
            _gather(item, (*path, i), found)


def _pull_parts(g, shape, paths, data):
    if np.shape(g) != shape:  # a number may stand for an array of dimension 0
        g = _reshape(g, shape)
    parts = []
    for path, x in zip(paths, data, strict=True):
        c = g[path] if path else g
        if np.iscomplexobj(plain(c)) and not np.iscomplexobj(x):
            c = apply(np.real, (c,)) if isinstance(c, Tensor) else np.real(c)
        if type(c) is _ndarray:
            c = np.array(c)
        parts.append(c)
    return tuple(parts)


_PARTS = Form("Array", _pull_parts)


def as_array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None, **device):
    """``np.array``: numbers and arrays, recorded or not, gathered into one array."""
    raw = np.array(plain(object), dtype, copy=copy, order=order, ndmin=ndmin, **device)
    found = []
    if not (PAUSED.count and not is_recording()):
        _gather(object, (), found)
    if isinstance(object, Tensor):
        if raw is object.primal:
            return object
        if type(object.primal) is _ndarray and raw.base is not None and np.may_share_memory(raw, object.primal):
            return _more_axes(object, ndmin)
    elif type(object) is _ndarray and is_view(raw, (object,)):
        return raw
    if found:
        require_numeric(raw.dtype)
    require_no_arrays(raw)
    if not found or not is_differentiable(raw):
        return traced(raw, None)
    shape = raw.shape[max(0, raw.ndim - np.ndim(np.array(plain(object)))) :] if ndmin else raw.shape
    node = make_node(
        _PARTS,
        (shape, [path for path, _ in found], [np.empty(0, np.asarray(t.primal).dtype) for _, t in found]),
        tuple(t.node for _, t in found),
    )
    return traced(raw, node)


def _more_axes(array, ndim):
    """The view of an array that has axes of length 1 in front, up to `ndim` in all."""
    return array[(None,) * max(0, ndim - array.ndim) + (Ellipsis,)]


def as_given(a, dtype=None, *args, **kwargs):
    """``np.asarray``: the array itself where it is one already."""
    data = plain(a)
    if type(data) is _ndarray:
        raw = np.asarray(data, dtype, *args, **{k: v for k, v in kwargs.items() if k != "like"})
        if raw is data:
            return a
    order = args[0] if args else kwargs.pop("order", None)
    return as_array(a, dtype, order=order or "K", **{k: v for k, v in kwargs.items() if k not in ("copy", "like")})


NUMBER = Form("Number", lambda g, shape: _reshape(g, shape))


def as_number(value, kind):
    """``float(value)`` or ``complex(value)`` that keeps the derivative."""
    if not isinstance(value, Tensor):
        return kind(value)
    if value.storage is not None:
        refresh(value)
    out = kind(value.primal)
    if value.node is None:
        return out
    if kind is float and np.iscomplexobj(value.primal):
        value = apply(np.real, (value,))
    node = make_node(NUMBER, (np.shape(value.primal),), value.node)
    if kind is complex and not np.iscomplexobj(value.primal):
        node = make_node(TO_COMPLEX, (), node)
    return traced(out, node)


def as_complex(real=0, imag=0):
    """``complex(real, imag)`` that keeps the derivative: that of ``real + 1j * imag``."""
    out = complex(plain(real), plain(imag))
    total = as_number(real, complex) + as_number(imag, complex) * 1j
    return traced(out, total.node) if isinstance(total, Tensor) else out


# ---------------------------------------------------------------- methods and attributes


def _item(self, *where):
    data = plain(self)
    if where:
        at = where[0] if len(where) == 1 else where
        element = self[tuple(plain_key(at)) if isinstance(at, tuple) else np.unravel_index(at, data.shape)]
    else:
        element = self
    if not isinstance(element, Tensor):
        return element.item()
    out = data.item(*plain(where)) if hasattr(data, "item") else data
    if element.node is None:
        return out
    return traced(out, make_node(NUMBER, (np.shape(element.primal),), element.node))


def _tolist(self):
    if not is_active(self):
        return plain(self).tolist()
    if np.ndim(self.primal) == 0:
        return _item(self)
    return [_tolist(row) if isinstance(row, Tensor) else row.tolist() for row in self]


def _sort(self, axis=-1, kind=None, order=None, *, stable=None):
    assign(self, np.sort, (self,), {"axis": axis, **({"kind": kind} if kind else {})})


def _partition(self, kth, axis=-1, kind="introselect", order=None):
    assign(self, np.partition, (self, plain(kth)), {"axis": axis})


def _fill(self, value):
    if type(plain(self)) is _ndarray:  # a NumPy number stays as it is
        self[...] = value


def _put(self, indices, values, mode="raise"):
    if type(plain(self)) is _ndarray:
        apply(np.put, (self, indices, values, mode))


def _astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    data = plain(self)
    if not copy and data.dtype == dtype and type(data) is not _ndarray:
        return self
    raw = data.astype(dtype, order, casting, subok, copy)
    if raw is data:
        return self
    node = self.node
    if node is not None:
        require_numeric(raw.dtype)
    if node is None or not is_differentiable(raw) or PAUSED.count and not is_recording():
        return wrap(raw)
    if np.iscomplexobj(self.primal) and raw.dtype.kind == "f":
        node = apply(np.real, (self,)).node
    if raw.dtype.kind == "c" and not np.iscomplexobj(self.primal):
        return traced(raw, make_node(TO_COMPLEX, (), node))
    return traced(raw, make_node(_PASS, (raw.shape,), node))


def _conj(self):
    data = plain(self)
    return self if type(data) is _ndarray and data.dtype.kind not in "cO" else apply(conjugate, (self,))


def _clip(self, min=None, max=None, out=None, **kwargs):
    return apply(np.clip, (self, min, max), {**kwargs, "out": out} if out is not None else kwargs)


def _view(self, *args, **kwargs):
    data = plain(self)
    if kwargs or args and args not in ((data.dtype,), (_ndarray,)):
        return _method_without_rule(self, "view")(*args, **kwargs)
    return self[...] if type(data) is _ndarray else self


def _copy(self, order="C"):
    raw = plain(self)
    raw = raw.copy(order) if type(raw) is _ndarray else raw.copy()
    return traced(raw, self.node and make_node(_PASS, (np.shape(raw),), self.node))


OWN_METHODS = {
    "item": _item,
    "tolist": _tolist,
    "sort": _sort,
    "partition": _partition,
    "fill": _fill,
    "put": _put,
    "astype": _astype,
    "conj": _conj,
    "conjugate": _conj,
    "clip": _clip,
    "view": _view,
    "copy": _copy,
}


def _own_method(name, function):
    """An attribute that gives a method, where what is recorded has one: Python's numbers have few of an array's."""

    def method(self):
        if type(self.primal) is not _ndarray:
            getattr(self.primal, name)
        return MethodType(function, self)

    return property(method, doc=f"As `ndarray.{name}`.")


# What code in C takes the memory of an array by.
_BUFFERS = ("__array_interface__", "__array_struct__", "__dlpack__")
# Methods of an array that change it in ways that the tape does not follow.
_WRITERS = ("resize", "setfield", "byteswap", "setflags", "itemset")


def _attribute(self, name):
    """An attribute of the value that is not defined on `Traced` itself."""
    method = METHODS.get(name)
    data = plain(self)
    if method is not None:
        getattr(data, name)  # a Python number has no such method: say so as Python does
        return _bound(self, method)
    function = ATTRIBUTES.get(name)
    if function is not None:
        getattr(data, name)
        return apply(function, (self,))
    if name in _BUFFERS and is_active(self):
        raise lost("an array")
    if name.startswith("__"):
        raise AttributeError(f"{type(data).__name__!r} object has no attribute {name!r}")
    value = getattr(data, name)
    if name in INACTIVE_ATTRIBUTES:
        return wrap(value)
    if name in _WRITERS:
        raise TapeError(f"the method {name!r} of an array is not followed by the tape\n  at {user_location()}")
    if callable(value):
        return _method_without_rule(self, name)
    if self.node is not None and name not in INACTIVE_ATTRIBUTES:
        raise missing_method(value, f"the array attribute {name!r} has no derivative rule")
    return wrap(value)


def _method_without_rule(self, name):
    def call(*args, **kwargs):
        if name not in INACTIVE_METHODS and (is_active(self) or is_active(args) or is_active(kwargs)):
            raise missing_method(getattr(plain(self), name), f"the array method {name!r} has no derivative rule")
        return call_plain(getattr(type(plain(self)), name), (self, *args), kwargs)

    return call


def _bound(self, method):
    function = method.function
    if not method.variadic:
        return lambda *args, **kwargs: apply(function, (self, *args), kwargs)

    def call(*args, **kwargs):
        if len(args) > 1:
            args = (args,)
        return apply(function, (self, *args), kwargs)

    return call


def _setattr_shape(self, shape):
    if type(self.primal) is not _ndarray:
        self.primal.shape = shape  # which cannot be, and says so
    raise TapeError(f"setting the shape of an array in place is not followed; use reshape\n  at {user_location()}")


def _setattr_dtype(self, dtype):
    if type(self.primal) is not _ndarray:
        self.primal.dtype = dtype
    raise TapeError(f"setting the type of an array in place is not followed; use astype\n  at {user_location()}")


def _set_part(name, function):
    def put(self, value):
        apply(function, (self,))[...] = value

    return property(lambda self: apply(function, (self,)), put, doc=f"As `ndarray.{name}`.")


def _get_flat(self):
    if type(self.primal) is not _ndarray:
        _ = self.primal.flat  # Python's numbers have none
    return Flat(self)


def _set_flat(self, value):
    require_apart(value, self)
    self[...] = apply(np.reshape, (value, self.primal.shape)) if np.size(plain(value)) == self.primal.size else value


# ---------------------------------------------------------------- NumPy's protocols


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    from s2sgrad.runtime.stand_ins import ufunc_method

    if kwargs.get("out") is not None and len(kwargs["out"]) == 1:
        kwargs["out"] = kwargs["out"][0]
    if method == "__call__":
        return apply(ufunc, inputs, kwargs)
    return ufunc_method(ufunc, method)(*inputs, **kwargs)


def _array_function(self, function, types, args, kwargs):
    return apply(function, args, kwargs)


def _array(self, dtype=None, copy=None):
    if is_active(self):
        raise lost("an array")
    data = plain(self)
    out = np.array(data, dtype, copy=copy)
    if type(data) is _ndarray and np.may_share_memory(out, data):
        return lend(self) if out is data else np.array(lend(self), dtype, copy=copy)
    return out


class _Lost(threading.local):
    """How recorded values get lost in this thread.

    Attributes
    ----------
    error : TapeError or None
        The last that `lost` has made: C code may put one of its own in its place.
    texts : dict or None
        The texts of recorded values, by their ids, while a recorded function runs.
    """

    error = None
    texts = None


LOST = _Lost()


def lost(kind):
    library = called_library()
    LOST.error = TapeError(
        f"a recorded value is converted to {kind} by {library or 'code that the tape does not see'}: its derivative "
        f"would be lost\n  at {user_location()}\n"
        + (
            f"Write what {library} does with NumPy functions, give the function that calls it a rule of its own "
            "(s2sgrad.rules.table.vjp), or use stop_gradient(value) where it is meant to be constant."
            if library
            else "Use NumPy functions and operators on it, or stop_gradient(value) where it is meant to be constant. "
            "Where the line stores into an array that an object holds, give the attribute a new array instead."
        )
    )
    return LOST.error


def _convert(kind):
    def convert(self):
        if is_active(self) and not _formats(sys._getframe(1)):
            raise lost(f"a plain {kind.__name__}")
        return kind(self.primal)

    return convert


CONVERT = _convert(float).__code__  # of all conversions to Python's numbers


def _formats(frame) -> bool:
    """Is a frame about to write a text, as in ``"%.3f" % x``? No other `%` of C code's converts what it is given."""
    code = frame.f_code.co_code[frame.f_lasti :]
    return dis.opname[code[0]] == "BINARY_OP" and code[1] in _REMAINDERS


_REMAINDERS = {i.arg for text in ("a % b", "a %= b") for i in dis.get_instructions(text) if i.opname == "BINARY_OP"}


def _text(self, write=repr):
    """The text of a value; which texts are those of recorded values is remembered."""
    text = write(plain(self))
    if LOST.texts is not None and is_active(self):
        LOST.texts[id(text)] = text
    return text


def require_no_text(value) -> None:
    """A number may not be made of the text of a recorded value."""
    if type(value) is str and LOST.texts is not None and LOST.texts.get(id(value)) is value:
        raise TapeError(
            "a number is made of the text of a recorded value: its derivative would be lost\n"
            f"  at {user_location()}\n"
            "Use the value itself, or the text of stop_gradient(value) where it is meant to be constant."
        )


def _hash(self):
    if is_active(self):
        hash(self.primal)  # arrays: unhashable, as ever
        raise TapeError(
            "a recorded number is used as a key of a dict or set: equal numbers with different derivatives "
            f"would be taken for each other\n  at {user_location()}\nUse stop_gradient(value) as the key."
        )
    return hash(plain(self))


def _dress():
    _dress_operators()
    protocols = {
        "__getitem__": _getitem,
        "__setitem__": _setitem,
        "__delitem__": lambda self, key: operator.delitem(plain(self), plain_key(key)),
        "__iter__": _iterate,
        "__len__": lambda self: len(plain(self)),
        "__bool__": lambda self: bool(plain(self)),
        "__int__": lambda self: int(plain(self)),
        "__index__": lambda self: operator.index(plain(self)),
        "__float__": _convert(float),
        "__complex__": _convert(complex),
        "__round__": lambda self, n=None: wrap(round(plain(self), n) if n is not None else round(plain(self))),
        "__trunc__": lambda self: int(plain(self)),
        "__floor__": lambda self: plain(self).__floor__(),
        "__ceil__": lambda self: plain(self).__ceil__(),
        "__contains__": lambda self, item: plain(item) in plain(self),
        "__hash__": _hash,
        "__repr__": _text,
        "__str__": lambda self: _text(self, str),
        "__format__": lambda self, spec: format(plain(self), spec) if spec else str(self),
        "__array__": _array,
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
        "__array_priority__": 1000.0,
        "__reduce__": _reduce,
        "__reduce_ex__": _reduce,
        "shape": property(lambda self: self.primal.shape, _setattr_shape),
        "ndim": property(lambda self: self.primal.ndim),
        "size": property(lambda self: self.primal.size),
        "dtype": property(lambda self: self.primal.dtype, _setattr_dtype),
        "flat": property(_get_flat, _set_flat),
        "real": _set_part("real", np.real),
        "imag": _set_part("imag", np.imag),
        **{name: _own_method(name, function) for name, function in OWN_METHODS.items()},
        "__copy__": lambda self: _copy(self) if type(plain(self)) is _ndarray else self,
        "__deepcopy__": lambda self, memo: _copy(self, "K") if type(plain(self)) is _ndarray else self,
    }
    for name, value in protocols.items():
        setattr(Traced, name, value)
    # A property each: `__getattr__` on the class would make every read of a slot slow.
    for name in {name for kind in _KINDS for name in dir(kind) if not name.startswith("__")}.union(_BUFFERS):
        if not hasattr(Traced, name):
            setattr(Traced, name, property(lambda self, name=name: _attribute(self, name)))


# what a recorded value may stand for
_KINDS = (_ndarray, np.float64, np.float32, np.complex128, np.int64, np.bool_, float, complex, int, bool)


def _same(value):
    return value


def _reduce(self, protocol=None):
    if is_active(self):
        raise lost("bytes (pickled)")
    return _same, (plain(self),)


_dress()
__all__ = ["Traced", "as_array", "as_given", "as_number", "recorder"]
