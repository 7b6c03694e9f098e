"""NumPy, SciPy and `math` as the fallback shows them to user code: every callable records.

A `Namespace` looks like the module; what is taken from it is turned into its recording version once
and kept. Classes that user code also uses for conversion (`float`, `np.float64`) become classes of
the same name that keep the derivative of what they convert.
"""

import builtins
import functools
import math
import types

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.arguments import is_active, plain
from s2sgrad.runtime.elementwise import elementwise_of
from s2sgrad.runtime.keywords import is_overwriting, positions
from s2sgrad.runtime.location import user_location
from s2sgrad.runtime.record import NATIVE, Traced, apply, call_plain
from s2sgrad.runtime.refusals import missing, unseen
from s2sgrad.runtime.results import wrap
from s2sgrad.runtime.shortcuts import binary, unary
from s2sgrad.runtime.tensor import STAND_INS, Tensor
from s2sgrad.runtime.traced import as_array, as_complex, as_given, as_number, lost, require_no_text

_FAMILY = {"numpy", "scipy", "math", "cmath"}


def in_family(module_name) -> bool:
    """Whether a module's callables are turned into recording versions one by one."""
    return str(module_name or "").partition(".")[0] in _FAMILY


class Namespace(types.ModuleType):
    """A module of NumPy, SciPy or `math`, recording."""

    __getattribute__ = object.__getattribute__  # a module's own is slower, and looks for what we do not have

    def __init__(self, module):
        super().__init__(module.__name__, module.__doc__)
        self.__dict__["__wrapped_module__"] = module

    def __getattr__(self, name):
        value = recording_version(getattr(self.__dict__["__wrapped_module__"], name))
        self.__dict__[name] = value
        return value

    def __dir__(self):
        return dir(self.__dict__["__wrapped_module__"])


_namespaces = {}
_versions = {}
_originals = {}  # from the id of a version, which lives on, to what it is the version of


def namespace_of(module) -> Namespace:
    if module not in _namespaces:
        _namespaces[module] = Namespace(module)
    return _namespaces[module]


def recording_version(value):
    """The recording version of what a module of the family holds: a module, a callable, a class or a constant."""
    if isinstance(value, types.ModuleType):
        return value if isinstance(value, Namespace) or not in_family(value.__name__) else namespace_of(value)
    if not callable(value):
        return JOINS.get(id(value), value)
    try:
        if value not in _versions:
            version = _versions[value] = _make_version(value)
            _originals[id(version)] = value
        return _versions[value]
    except TypeError:  # unhashable
        return value


def real_version(version):
    """What a recording version is the version of; all else as it is."""
    return _originals.get(id(version), version)


def _make_version(function):
    if isinstance(function, type):
        return CLASSES.get(function, function)
    if isinstance(function, np.ufunc):
        return _ufunc_version(function)
    rule = lookup(function)
    if rule is None and not isinstance(function, _FUNCTIONS):
        return Instance(function)
    operation = elementwise_of(function) if rule is not None else None

    if operation is not None and len(operation.partials) == 1:
        version = unary(function)
    else:

        def version(*args, **kwargs):
            return apply(function, args, kwargs)

    return _named_like(sparing(version, function), function)


def sparing(version, function):
    """A recording version that lets a function overwrite none of its arguments: the tape reads them again."""
    places = {i for name, i in positions(function).items() if is_overwriting(name)}

    def call(*args, **kwargs):
        args = [False if i in places else x for i, x in enumerate(args)]
        return version(*args, **{k: v for k, v in kwargs.items() if not is_overwriting(k)})

    return call if places else version


_FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    type(np.sum),
)


class Instance:
    """An object of the family that can be called (``scipy.stats.norm``): its methods record too."""

    def __init__(self, thing):
        self.__wrapped__ = thing

    @property
    def __class__(self):
        return type(self.__wrapped__)

    def __call__(self, *args, **kwargs):
        return apply(self.__wrapped__, args, {k: v for k, v in kwargs.items() if not is_overwriting(k)})

    def __getattr__(self, name):
        return recording_version(getattr(self.__wrapped__, name))

    def __repr__(self):
        return repr(self.__wrapped__)


def _named_like(version, function):
    version.__name__ = getattr(function, "__name__", "function")
    version.__qualname__ = version.__name__
    version.__doc__ = getattr(function, "__doc__", None)
    version.__wrapped__ = function
    return version


def _two(function, short, reflected):
    def version(x, y, *rest, **kwargs):
        if rest or kwargs:
            return apply(function, (x, y, *rest), kwargs)
        if type(x) is Traced:
            return short(x, y)
        if type(y) is Traced:
            return reflected(y, x)
        return apply(function, (x, y))

    return version


def _ufunc_version(ufunc):
    from s2sgrad.runtime.stand_ins import ufunc_method

    if ufunc.nin == 1 and ufunc.nout == 1:
        version = unary(ufunc)
    elif ufunc.nin == 2 and ufunc.nout == 1:
        version = _two(ufunc, binary(ufunc), binary(ufunc, reflected=True))
    else:

        def version(*args, **kwargs):
            return apply(ufunc, args, kwargs)

    for method in ("reduce", "accumulate", "outer", "at", "reduceat"):
        setattr(version, method, ufunc_method(ufunc, method))
    for name in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
        setattr(version, name, getattr(ufunc, name))
    return _named_like(version, ufunc)


# ---------------------------------------------------------------- classes that convert


class _Converting(type):
    """The class of classes that stand in for a number type: calls convert and record."""

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs and isinstance(args[0], Tensor):
            return cls.convert(args[0])
        for value in args:
            require_no_text(value)
        out = cls.real(*plain(args), **plain(kwargs))
        if not (is_active(args) or is_active(kwargs)):
            return out
        if not issubclass(cls.real, complex):
            raise lost(f"a plain {cls.__name__}")
        pair = as_complex(*args, **kwargs)
        return pair if cls.real is complex else cls.convert(pair)

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass):
        return issubclass(getattr(subclass, "real", subclass) if type(subclass) is _Converting else subclass, cls.real)

    def __eq__(cls, other):
        return other is cls or other is type.__getattribute__(cls, "real")

    def __hash__(cls):
        return hash(type.__getattribute__(cls, "real"))


def _converting(real, convert):
    stand_in = _Converting(
        real.__name__,
        (real,),
        {"real": real, "convert": staticmethod(convert), "dtype": np.dtype(real), "__doc__": real.__doc__},
    )
    return stand_in


def _scalar(kind):
    def convert(t):
        return apply(_astype_scalar, (t, kind))

    return convert


def _astype_scalar(t, kind):
    """``np.float64(t)``: the cast, of a number or an array."""
    raise TypeError("only called with recorded values")


def _cast(t, kind):
    data = plain(t)
    if type(data) is np.ndarray:
        out = t.astype(kind, copy=False)  # as NumPy has it: of an array of this dtype it is that array
        return out[()] if out.ndim == 0 else out
    from s2sgrad.runtime.node import make_node
    from s2sgrad.runtime.tensor import traced
    from s2sgrad.runtime.traced import NUMBER
    from s2sgrad.runtime.views import TO_COMPLEX

    if np.iscomplexobj(data) and issubclass(kind, np.floating):
        t = apply(np.real, (t,))
    out = kind(data)
    if t.node is None or not isinstance(out, np.inexact):
        return out
    if issubclass(kind, np.complexfloating) and not np.iscomplexobj(data):
        return traced(out, make_node(TO_COMPLEX, (), t.node))
    return traced(out, make_node(NUMBER, ((),), t.node))


NATIVE[_astype_scalar] = _cast


def _make_vectorize(*args, **options):
    made = np.vectorize(*args, **options)
    return vectorize_version(made) or made


def vectorize_version(made):
    """The recording version of what `np.vectorize` has made; None where there is none."""
    from s2sgrad.runtime.fallback import recording
    from s2sgrad.runtime.stand_ins import vectorized

    if made.signature is not None or made.excluded or made.cache or not callable(made.pyfunc):
        return None
    return lambda *arrays, **kwargs: recording(vectorized)(recording(made.pyfunc), made.otypes, *arrays, **kwargs)


class _TypeOf(type):
    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs:
            kind = args[0].__class__ if isinstance(args[0], Tensor) else builtins.type(args[0])
            return CLASSES.get(kind, kind)
        return builtins.type(*args, **kwargs)

    def __instancecheck__(cls, instance):
        return isinstance(instance, builtins.type)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, builtins.type)


class _Type(metaclass=_TypeOf):
    """`type` that knows what a `Traced` stands for."""

    def __class_getitem__(cls, item):
        return builtins.type[item]


CLASSES = {
    float: _converting(float, lambda t: as_number(t, float)),
    complex: _converting(complex, lambda t: as_number(t, complex)),
    np.vectorize: _make_vectorize,
}
for _kind in (np.float64, np.float32, np.complex128, np.complex64):
    CLASSES[_kind] = _converting(_kind, _scalar(_kind))


class _Making(type):
    """The class of the class of arrays: the tape holds those that it makes."""

    def __new__(meta, name, bases, namespace, **kwargs):
        """A class of the function's that is of arrays is so of NumPy's own."""
        if any(type(base) is _Making for base in bases):
            return types.new_class(
                name,
                tuple([np.ndarray if type(base) is _Making else base for base in bases]),
                kwargs,
                lambda body: body.update(namespace),
            )
        return super().__new__(meta, name, bases, namespace)

    def __call__(cls, *args, **kwargs):
        if isinstance(args[2] if len(args) > 2 else kwargs.get("buffer"), Tensor):
            raise lost("a buffer")
        return call_plain(np.ndarray, args, kwargs)

    def __instancecheck__(cls, instance):
        return isinstance(instance, np.ndarray)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, np.ndarray)

    def __eq__(cls, other):
        return other is cls or other is np.ndarray

    def __hash__(cls):
        return hash(np.ndarray)


CLASSES[np.ndarray] = _Making("ndarray", (np.ndarray,), {"__doc__": np.ndarray.__doc__, "__module__": "numpy"})
STAND_INS.update({kind: CLASSES[kind] for kind in CLASSES if isinstance(kind, type) and kind is not np.vectorize})


def _hasattr(obj, name):
    """`hasattr` that knows what a `Traced` stands for."""
    return hasattr(obj.primal if type(obj) is Traced else obj, name)


def _getattr(obj, name, *default):
    """`getattr` that knows what a `Traced` stands for."""
    if type(obj) is Traced and not hasattr(obj.primal, name):
        return getattr(obj.primal, name, *default)
    return getattr(obj, name, *default)


def _isinstance(obj, kind):
    """`isinstance` that knows what a `Traced` stands for."""
    return isinstance(obj.primal if type(obj) is Traced else obj, kind)


BUILTINS = {
    "float": CLASSES[float],
    "complex": CLASSES[complex],
    "type": _Type,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "isinstance": _isinstance,
}
_originals.update({id(version): getattr(builtins, name) for name, version in BUILTINS.items()})


def _stand_in(name, writes):
    function = getattr(np, name)

    def call(*args, **kwargs):
        from s2sgrad.runtime import stand_ins
        from s2sgrad.runtime.fallback import recording

        if writes and args and type(args[0]) is np.ndarray:
            if is_active((args, kwargs)):
                raise unseen()
            return call_plain(function, args, kwargs)
        return recording(getattr(stand_ins, name))(*map(recording, args), **kwargs)

    return call


for _name in ("copyto", "put", "place", "putmask"):
    NATIVE[getattr(np, _name)] = _stand_in(_name, writes=True)
for _name in ("apply_along_axis", "piecewise", "fromfunction"):
    NATIVE[getattr(np, _name)] = _stand_in(_name, writes=False)


class _Join:
    """`np.r_` or `np.c_`: what is between its brackets, put together."""

    def __init__(self, real, name):
        self._real, self._join = real, _stand_in(name, writes=False)

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        if is_active([end for part in parts if isinstance(part, slice) for end in (part.start, part.stop, part.step)]):
            raise missing(
                np.arange,
                "np.r_ and np.c_ have no derivative with respect to the ends of a range",
                "Write start + step * np.arange(n), or use stop_gradient(value) where they are meant to be constant.",
            )
        out = self._real[plain(key)]
        if not is_active(key):
            return out
        if isinstance(parts[0], str):
            raise TapeError(
                f"np.r_ with directions in a string is not followed by the tape: use np.concatenate or np.stack\n"
                f"  at {user_location()}"
            )
        joined = self._join(*[self._real[part] if isinstance(part, slice) else part for part in parts])
        return joined if plain(joined).dtype == out.dtype else joined.astype(out.dtype)


JOINS = {id(real): _Join(real, name) for real, name in ((np.r_, "r_"), (np.c_, "c_"))}
NATIVE[np.array] = as_array
NATIVE[np.asarray] = as_given
NATIVE[np.asanyarray] = as_given


def _contiguous(a, dtype=None, *, like=None):
    out = as_given(a, dtype)
    if type(plain(out)) is np.ndarray and plain(out).flags.c_contiguous and plain(out).ndim:
        return out
    return as_array(out, dtype, order="C", ndmin=1)


NATIVE[np.ascontiguousarray] = _contiguous


def _from_iter(iter, dtype, count=-1, *, like=None):
    """`np.fromiter` of recorded numbers."""
    values = list(iter) if count < 0 else [value for value, _ in zip(iter, range(count), strict=False)]
    return as_array(values, dtype)


NATIVE[np.fromiter] = _from_iter


def _fsum(values):
    """`math.fsum`: the exactly rounded sum; its derivative is that of the sum."""
    values = list(values)
    total = as_array(values)
    raw = math.fsum(plain(values))
    if total.node is None:
        return raw
    from s2sgrad.runtime.tensor import traced

    return traced(raw, apply(np.sum, (total,)).node)


NATIVE[math.fsum] = _fsum


def _iterator(op, flags=None, op_flags=None, *args, **kwargs):
    """`np.nditer`, which is C code: over plain arrays, and not to write to them."""
    if is_active(op):
        raise lost("an array")
    if "write" in str(op_flags):
        raise TapeError(
            f"writing through np.nditer is not followed by the tape: loop over np.ndindex\n  at {user_location()}"
        )
    return np.nditer(plain(op), flags or [], op_flags, *args, **kwargs)


def _enumerated(arr):
    """`np.ndenumerate`: the indices of an array, each with the entry there."""
    arr = as_given(arr)
    for index in np.ndindex(np.shape(plain(arr))):
        yield index, arr[index]


CLASSES[np.nditer] = _iterator
CLASSES[np.ndenumerate] = _enumerated

# ---------------------------------------------------------------- random numbers


class _Drawing(type):
    """The class of generators whose arrays the tape holds, so that it sees what is written to them."""

    def __new__(cls, real):
        names = [name for name, method in vars(real).items() if callable(method) and not name.startswith("_")]
        return super().__new__(cls, real.__name__, (real,), {name: _draw(real, name) for name in names})

    def __init__(cls, real):
        cls.real = real

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls.real)


def _draw(real, name):
    method = getattr(real, name)

    @functools.wraps(method)
    def draw(self, *args, **kwargs):
        from s2sgrad.runtime.fallback import is_recording

        if not is_recording():
            return method(self, *args, **kwargs)
        if is_active(args) or is_active(kwargs):
            raise missing(method)
        return call_plain(functools.partial(method, self), args, kwargs)

    return draw


for _real in (np.random.Generator, np.random.RandomState):
    CLASSES[_real] = _Drawing(_real)


def drawing(generator):
    """A generator on the same stream of random numbers, the arrays of which the tape holds."""
    return CLASSES[np.random.Generator](generator.bit_generator)


NATIVE[np.random.default_rng] = lambda *args, **kwargs: drawing(np.random.default_rng(*plain(args), **plain(kwargs)))
__all__ = ["BUILTINS", "CLASSES", "Namespace", "drawing", "in_family", "namespace_of", "recording_version", "wrap"]
