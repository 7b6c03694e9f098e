"""Samples of every differentiable rule: where its derivative is checked.

``SAMPLES["np.solve"]`` is a list of `Sample`; `resolve` turns a name into the callable. Each sample is
a point where the function is differentiable (kinks and singular points have tests of their own).
Samples marked `complex_too` are checked for complex arguments as well, see `Sample.as_complex`.
"""

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from s2sgrad.rules import bessel, factorizations, gaussian, neural, placing, special
from s2sgrad.rules.scipy import special as special_scipy
from s2sgrad.runtime import arrays
from tests.rules import samples_scipy

NAMESPACE = {"np": np, "math": math, "cmath": cmath, "operator": operator, "builtins": builtins, "arrays": arrays}
NAMESPACE.update(neural=neural, placing=placing, special=special)
NAMESPACE.update(scipy=scipy, special_scipy=special_scipy)
NAMESPACE.update(bessel=bessel, gaussian=gaussian, factorizations=factorizations)


@dataclass
class Sample:
    """One call: arguments, keywords, and what of it is differentiated.

    `active`: names of the arguments to differentiate (default: all that can be). `project` makes a
    direction one that the argument can move in (Hermitian matrices). `measure` maps the result to a real
    number and `gradient` to the cotangent of it, for results that are defined up to a phase only; by
    default the result is paired with a random cotangent. `once`: there is no rule for a second derivative.
    """

    args: tuple
    kwargs: dict = field(default_factory=dict)
    active: tuple | None = None
    complex_too: bool = False
    project: Callable | None = None
    measure: Callable | None = None
    gradient: Callable | None = None
    once: bool = False

    def as_complex(self):
        """The same call with an imaginary part added to each float array among the arguments."""
        return replace(self, args=_imaginary(self.args))


def _imaginary(x):
    if isinstance(x, (tuple, list)):
        return type(x)(_imaginary(item) for item in x)
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        return x + 0.3j * np.random.default_rng(x.size).uniform(-1, 1, x.shape)
    if isinstance(x, np.float64):
        return x + 0.21j
    return x


def resolve(name):
    """The callable that a sample's name spells."""
    return eval(name, NAMESPACE)


SAMPLES: dict[str, list[Sample]] = {}
_rng = np.random.default_rng(20)


def A(*shape, low=-1.5, high=1.5):
    """A random array without ties or zeros."""
    return _rng.uniform(low, high, shape)


_FIELDS = ("complex_too", "active", "project", "measure", "gradient", "once")


def sample(names, *args, **kwargs):
    """Add a sample to each of the names: a call, and what else a `Sample` says."""
    said = {name: kwargs.pop(name) for name in _FIELDS if name in kwargs}
    for name in names.split():
        SAMPLES.setdefault(name, []).append(Sample(args, kwargs, **said))


# ---------------------------------------------------------------- elementwise, unary

_ANY = "negative positive exp exp2 expm1 square sin cos tan arctan sinh cosh tanh arcsinh conjugate reciprocal sinc"
_UNIT = "arcsin arccos arctanh"
_POSITIVE = "sqrt log log2 log10 log1p"
_REAL = "fabs cbrt deg2rad rad2deg radians degrees nan_to_num unwrap"

for _names, _low, _high, _complex in [
    (_ANY, 0.2, 1.4, True),
    (_ANY, -1.4, -0.2, True),
    (_UNIT, -0.9, 0.9, True),
    (_POSITIVE, 0.3, 2.5, True),
    ("arccosh", 1.2, 3.0, True),
    (_REAL, 0.2, 1.4, False),
    (_REAL, -1.4, -0.2, False),
    ("absolute real imag angle sign", 0.3, 1.0, True),
    ("absolute real imag angle sign", -1.0, -0.3, True),
    ("real_if_close", -1.0, 1.0, False),
]:
    for _name in _names.split():
        for _shape in [(3,), (2, 3), (0, 2)]:
            sample(f"np.{_name}", A(*_shape, low=_low, high=_high), complex_too=_complex)
        if _name != "unwrap":
            sample(f"np.{_name}", np.float64(A(low=_low, high=_high)), complex_too=_complex)
            sample(f"np.{_name}", A(low=_low, high=_high), complex_too=_complex)
            sample(f"np.{_name}", float(A(low=_low, high=_high)))
sample("np.angle", A(3), deg=True)
sample("np.angle", A(3) + 1j * A(3), deg=True)
sample("np.nan_to_num", np.array([1.0, np.nan, np.inf, 2.0]))
sample("np.sinc", np.array([0.0, 1e-9, 0.04, 0.06, 3.0]), complex_too=True)
sample("builtins.abs", -1.5)
sample("builtins.abs", A(3))

# ---------------------------------------------------------------- elementwise, binary

_ARITHMETIC = ["add", "subtract", "multiply", "divide"]
_OPERATORS = ["add", "sub", "mul", "truediv"]
for _name in [*(f"np.{n}" for n in _ARITHMETIC), *(f"operator.{n}" for n in _OPERATORS)]:
    for _left, _right in [((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 2), (1, 2))]:
        sample(_name, A(*_left, low=0.5), A(*_right, low=0.5), complex_too=True)
    sample(_name, 1.3, -0.7)
    sample(_name, A(3), 2.0, complex_too=True)
    sample(_name, 2, A(3, low=0.5), complex_too=True)
for _name in ["np.power", "operator.pow", "builtins.pow"]:
    sample(_name, A(3, low=0.5), A(2, 3), complex_too=True)
    sample(_name, A(3), 2, active=("x",), complex_too=True)
    sample(_name, A(3), 1, active=("x",), complex_too=True)
    sample(_name, A(3), 0, active=("x",), complex_too=True)
    sample(_name, np.array([-1.5, 0.0, 2.0]), 3, active=("x",))
    sample(_name, np.array([-1.5, 0.0, 2.0]), np.array([2.0, 2.0, 3.0]), active=("x",))
    sample(_name, np.array([0.0, 0.0, 2.0]), np.array([2.0, 1.5, 3.0]), active=("y",))
    sample(_name, A(3, low=0.5), 0.5, complex_too=True)
    sample(_name, A(3, low=0.5), -2.5, complex_too=True)
    sample(_name, A(3, low=0.5), -1.0, complex_too=True)
    sample(_name, 2.0, A(3), complex_too=True)
    sample(_name, 1.3, 2.4)
    sample(_name, 1.3, -2.4)
    sample(_name, -1.3, 3, active=("x",))
sample("np.float_power", A(3, low=0.5), A(2, 3), complex_too=True)
sample("np.arctan2 np.hypot np.logaddexp np.logaddexp2", A(2, 3), A(3))
sample("np.arctan2 np.hypot np.logaddexp np.logaddexp2", 0.4, -1.2)
sample("np.maximum np.minimum np.fmax np.fmin", A(2, 3), A(3), complex_too=True)
sample("np.maximum np.minimum np.fmax np.fmin", 0.3, 0.7)
sample("np.maximum np.minimum", A(4), 0.0)
sample("np.fmax np.fmin", np.array([np.nan, 1.0]), np.array([2.0, np.nan]))
sample("np.copysign", A(3), np.array([-1.0, 2.0, -3.0]), active=("x",))
sample("np.ldexp", A(3), np.array([1, -2, 3]))
sample("np.heaviside", np.array([-1.0, 0.0, 2.0]), 0.5, active=("y",))
sample("np.mod operator.mod np.fmod", A(3, low=2.0, high=3.0), np.array([0.7, -0.9, 1.3]))
sample("np.mod np.fmod", A(2, 1, low=-3.0, high=-2.0), np.array([0.7, 0.9]))
sample("np.divmod builtins.divmod", A(3, low=2.1, high=2.6), np.array([0.7, 0.9, 2.0]))
sample("np.modf", np.array([1.3, -2.4]))
sample("np.where", np.array([True, False, True]), A(3), A(2, 3), complex_too=True)
sample("np.where", np.array([[True], [False]]), A(3), 1.0)
sample("operator.neg operator.pos", A(3), complex_too=True)
for _bounds in [(-0.5, 0.5), (None, 0.2), (-0.2, None), (A(3, low=-1, high=0), A(2, 1, low=0, high=1)), (1.0, -1.0)]:
    sample("np.clip", A(2, 3), *_bounds)
sample("np.clip", A(5), min=-0.5, max=A(5, low=0.0))
sample("np.clip", 2.0, 0.0, 1.0)

# ---------------------------------------------------------------- math

_ENTIRE = "exp expm1 sin cos tan atan sinh cosh tanh asinh degrees radians fabs erf erfc cbrt exp2"
for _name in _ENTIRE.split():
    sample(f"math.{_name}", 0.7)
    sample(f"math.{_name}", -1.1)
for _name in ["sqrt", "log2", "log10", "log1p"]:
    sample(f"math.{_name}", 0.7)
for _name in ["asin", "acos", "atanh"]:
    sample(f"math.{_name}", 0.4)
sample("math.acosh", 1.7)
for _name in [
    *("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"),
    *("acosh", "atanh", "phase", "polar"),
]:
    sample(f"cmath.{_name}", 0.4 + 0.7j)
    sample(f"cmath.{_name}", -1.3 - 0.2j)
sample("cmath.log", 0.4 + 0.7j, 0.3 - 1.2j)
sample("cmath.exp cmath.sin cmath.sqrt cmath.atan", 0.7)
sample("cmath.rect", 0.7, -1.1)
sample("builtins.complex", 0.7)
sample("builtins.complex", 0.7, -1.1)
sample("builtins.complex", 0.7 - 0.2j, -1.1 + 0.4j)
sample("math.log", 1.7)
sample("math.log", 1.7, 3.0)
sample("math.atan2 math.hypot", 0.7, -0.4)
sample("math.pow", 0.7, -0.4)
sample("math.pow", -0.7, 3.0, active=("x",))
sample("math.copysign", -0.7, 2.0, active=("x",))
sample("math.fmod math.remainder", 5.3, 1.7)
sample("math.ldexp", 1.3, 3)
sample("math.fsum", [0.3, 0.4, 1.2])
sample("math.fsum", A(3))
sample("math.dist", [1.0, 2.0], (0.3, 0.9))
sample("math.dist", A(3), A(3))
sample("math.prod", [2.0, 0.0, 3.0])
sample("math.prod", (2.0, 1.5), start=2)
sample("math.prod", A(3), complex_too=True)
sample("math.prod", [2.0, 0.5 + 1j, 3.0 - 0.2j], start=1 + 1j)
sample("math.prod", (1.5j, 0.0, 2.0))

# ---------------------------------------------------------------- reductions

_REDUCTIONS = [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": 1, "keepdims": True}, {"keepdims": True}]
for _options in [*_REDUCTIONS, {"axis": ()}, {"axis": (-1, 0), "keepdims": True}]:
    for _name in ["sum", "mean", "prod", "var", "std", "nansum", "nanmean", "nanprod", "nanvar", "nanstd"]:
        if _options.get("axis") != () or "std" not in _name and "var" not in _name:
            sample(f"np.{_name}", A(2, 3, 4), complex_too=True, **_options)
    for _name in ["max", "min", "amax", "amin", "nanmax", "nanmin", "ptp"]:
        if _options.get("axis") != () or _name != "ptp":
            sample(f"np.{_name}", A(2, 3, 4), **_options)
for _name in ["sum", "mean", "prod", "var", "std"]:
    sample(f"np.{_name}", A(3, 4), where=np.array([True, False, True, True]), complex_too=True)
    sample(f"np.{_name}", A(3, 4), axis=1, where=A(3, 4) > -0.8)
    sample(f"np.{_name}", 1.4) if _name in "sum mean prod" else None
    sample(f"np.{_name}", A()) if _name in "sum mean prod" else None
sample("np.sum np.prod np.mean np.max np.min", A(0, 3), axis=1)
sample("np.sum np.prod", A(0, 3))
sample("np.sum np.prod", A(0, 3), axis=0)
sample("np.sum np.mean", A(2, 3), axis=0, dtype=complex)
sample("np.sum np.mean", [1.0, 2.0])
sample("np.sum", A(2, 3), axis=0, initial=1.5)
sample("np.max np.min", A(3, 4), axis=0, where=A(3, 4) > -0.9, initial=0.1)
sample("np.max", A(3), initial=7.0)
sample("np.var np.std", A(5), ddof=1)
sample("np.var np.std", A(3, 4), axis=1, ddof=2, where=np.array([True, False, True, True]))
_gaps = np.array([[1, np.nan, 2.5], [3, 4, 7]])
sample("np.nansum np.nanmean np.nanprod np.nanmax np.nanmin np.nanvar np.nanstd", _gaps)
sample("np.nansum np.nanmean np.nanprod np.nanmax np.nanvar", _gaps, axis=1)
sample("np.average", A(3, 4), complex_too=True)
sample("np.average", A(3, 4), axis=0, keepdims=True)
sample("np.average", A(3, 4), weights=A(3, 4, low=0.5), complex_too=True)
sample("np.average", A(3, 4), axis=1, weights=A(4, low=0.5), complex_too=True)
sample("np.average", A(3, 4, 2), axis=0, weights=A(3, low=0.5), keepdims=True)
sample("np.prod", np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), axis=1)
sample("np.prod", np.array([2.0, 0.0, 3.0]))
sample("np.cumprod", np.array([2.0, 0.0, 3.0, 4.0]))
sample("np.cumsum np.cumprod", A(3), complex_too=True)
sample("np.cumsum np.cumprod", A(2, 3), complex_too=True)
sample("np.cumsum np.cumprod", A(2, 3), axis=0, complex_too=True)
sample("np.cumsum np.cumprod", A(2, 3, 2), axis=-2)
sample("np.cumsum np.cumprod", A(0, 3), axis=0)
sample("np.trace", A(3, 4), complex_too=True)
sample("np.trace", A(2, 3, 4), offset=1, axis1=1, axis2=2)
sample("np.trace", A(2, 3, 4), -1, 2, 0)

for _options in [{}, {"axis": 1}, {"axis": None}, {"axis": (0, 2), "keepdims": True}]:
    sample("np.add.reduce np.multiply.reduce", A(2, 3, 4), complex_too=True, **_options)
    sample("np.maximum.reduce np.minimum.reduce", A(2, 3, 4), **_options)
    if type(_options.get("axis")) is not tuple:
        mask = np.arange(24).reshape(2, 3, 4) % 3 > 0
        sample("np.maximum.reduce np.minimum.reduce", A(2, 3, 4), **_options, initial=0.3, where=mask)
sample("np.add.accumulate np.multiply.accumulate", A(3, 4), complex_too=True)
sample("np.add.accumulate np.multiply.accumulate", A(3, 4), axis=-1)
sample("np.maximum.accumulate np.minimum.accumulate", A(3, 4))
sample("np.maximum.accumulate np.minimum.accumulate", A(3, 4), axis=-1)
sample("np.add.reduceat", A(5, 2), [0, 3, 1, 1], complex_too=True)
sample("np.add.reduceat", A(2, 5), np.array([0, 2, 4]), axis=1)
sample("np.add.outer np.subtract.outer np.multiply.outer", A(2), A(3, 2), complex_too=True)
sample("np.add.outer np.subtract.outer np.multiply.outer", 1.5, A(3))
sample("np.add.outer np.subtract.outer np.multiply.outer", A(2), A(3) + 1j)

# ---------------------------------------------------------------- shapes

sample("np.reshape", A(2, 6), (3, 4), complex_too=True)
sample("np.reshape", A(2, 6), (3, -1), order="F")
sample("np.reshape", A(2, 0), (0, 5))
sample("np.reshape", 2.0, (1, 1))
sample("np.ravel np.ndarray.flatten", A(2, 3), complex_too=True)
sample("np.ravel np.ndarray.flatten", A(2, 3), order="F")
sample("np.transpose", A(2, 3, 4), complex_too=True)
sample("np.transpose", A(2, 3, 4), (1, -1, 0))
sample("np.matrix_transpose np.linalg.matrix_transpose", A(2, 3, 4))
sample("np.swapaxes", A(2, 3, 4), 0, -1)
sample("np.moveaxis", A(2, 3, 4), 0, -1)
sample("np.moveaxis", A(2, 3, 4), (0, 1), (-1, 0))
for _axis, _start in [(2, 0), (0, 3), (1, 0), (-1, -2), (0, 2), (1, -1)]:
    sample("np.rollaxis", A(2, 3, 4), _axis, _start)
sample("np.expand_dims", A(2, 3), (0, -1))
sample("np.expand_dims", 2.0, 0)
sample("np.squeeze", A(1, 3, 1))
sample("np.squeeze", A(1, 3, 1), axis=0)
sample("np.flip", A(2, 3))
sample("np.flip", A(2, 3), axis=(0, 1))
sample("np.fliplr np.flipud np.rot90 np.tril np.triu np.diag", A(3, 4), complex_too=True)
sample("np.rot90", A(3, 4, 2), 3, (1, 2))
sample("np.tril np.triu", A(2, 3, 4), -1)
sample("np.diag np.diagflat", A(3), k=1, complex_too=True)
sample("np.diag", A(3, 4), k=-1)
sample("np.diagflat", A(2, 2))
sample("np.diagonal", A(3, 4), complex_too=True)
sample("np.diagonal", A(2, 3, 4), -1, 2, 0)
sample("np.diagonal", A(2, 3), 7)
sample("np.roll", A(2, 3), 1)
sample("np.roll", A(2, 3), (1, -2), axis=(0, 1))
sample("np.roll", A(2, 3), -4, axis=1)
sample("np.atleast_1d np.atleast_2d np.atleast_3d", 2.0)
sample("np.atleast_1d np.atleast_2d np.atleast_3d", A(2, 3))
sample("np.array np.asarray np.asanyarray np.copy", A(2, 3), complex_too=True)
sample("np.ascontiguousarray np.asfortranarray", A(2, 3), complex_too=True)
sample("np.array np.asarray np.asanyarray np.copy", 2.0)
sample("np.array np.asarray", [1.0, 2, 3.5])
sample("np.array np.asarray", [[1.0, np.float64(2.0)], (3.0, 4.0)])
sample("np.array", [A(2), A(2)], complex_too=True)
sample("np.array", A(2), ndmin=3)
sample("np.array np.asarray", [A(2), A(2)], dtype=complex)
sample("np.astype", A(2), complex)
sample("np.astype", A(2), float)
sample("np.full", (2, 3), 1.5)
sample("np.full", (2, 3), A(3), complex_too=True)
sample("np.full_like", A(2, 3), 1.5)
sample("np.full_like", A(2, 3), A(2, 1))
sample("np.broadcast_to", A(3, 1), (2, 3, 4), complex_too=True)
sample("np.broadcast_to", 2.0, (2,))
sample("np.tile", A(2, 3), 2, complex_too=True)
sample("np.tile", A(2, 3), (2, 1, 3))
sample("np.tile", A(2, 1, 3), (2,))
sample("np.tile", A(2), (0, 2))
sample("np.repeat", A(2, 3), 2, complex_too=True)
sample("np.repeat", A(2, 3), 2, axis=-1)
sample("np.repeat", A(2, 3), np.array([1, 0, 2]), axis=1)
sample("np.repeat", A(3), [1, 2, 0])
sample("np.resize", A(2, 3), (4, 2))
sample("np.resize", A(2, 3), (2, 2))
sample("np.delete", A(4, 3), [0, 2], axis=0)
sample("np.delete", A(4), 1)
sample("np.insert", A(4, 3), 1, 5.0, axis=0)
sample("np.insert", A(4), [0, 2], A(2), complex_too=True)
sample("np.insert", A(2, 3), [1, 3], A(2, 1), axis=1)
for _mode in ["constant", "edge", "reflect", "symmetric", "wrap"]:
    sample("np.pad", A(3, 4), ((1, 2), (0, 3)), mode=_mode)
    sample("np.pad", A(4), 2, mode=_mode, complex_too=True)
sample("np.pad", A(2), (1, 2), constant_values=3.0, active=("array",))
sample("np.concatenate", [A(2, 3), A(4, 3)], complex_too=True)
sample("np.concatenate", (A(2, 3), A(2, 0), A(2, 1)), axis=-1)
sample("np.concatenate", [A(2, 3), A(2)], axis=None)
sample("np.concatenate np.vstack np.hstack", A(2, 3, 2))
sample("np.stack", [A(2, 3), A(2, 3)], complex_too=True)
sample("np.stack", [A(2, 3), A(2, 3)], axis=-1)
sample("np.stack", A(2, 3), axis=1)
sample("np.stack", [1.0, 2.0])
sample("np.hstack np.vstack np.dstack np.column_stack", [A(3), A(3)], complex_too=True)
sample("np.hstack np.column_stack", [A(2, 3), A(2, 1)])
sample("np.hstack", [1.0, 2.0])
sample("np.hstack", [1.0, A(2)])
sample("np.vstack", [A(2, 3), A(3)])
sample("np.dstack", [A(2, 3, 2), A(2, 3)])
sample("np.column_stack", [A(2), A(2, 3)])
sample("np.block", [[A(2, 2), A(2, 3)], [A(1, 3), A(1, 2)]], complex_too=True)
sample("np.block", [A(2), 1.0, A(3)])
sample("np.block", [[A(2)], [A(2)]])
sample("np.block", A(2))
sample("np.ndarray.item", A(1, 1), complex_too=True)
sample("np.ndarray.item", A(2, 3), 4)
sample("np.ndarray.item", A(2, 3), (1, 0))
sample("np.append", A(2, 3), A(4), complex_too=True)
sample("np.append", A(2, 3), A(2, 1), axis=1)
sample("np.append", A(3), 2.0)
sample("np.split np.array_split np.vsplit", A(4, 2), 2, complex_too=True)
sample("np.split np.array_split", A(2, 5), [1, 3], axis=1)
sample("np.array_split", A(5), 3)
sample("np.hsplit", A(4), 2)
sample("np.hsplit", A(3, 4), [1])
sample("np.dsplit", A(2, 2, 4), 2)
sample("np.unstack", A(2, 3))
sample("np.unstack", A(2, 3), axis=1)
sample("np.meshgrid", A(2), A(3), complex_too=True)
sample("np.meshgrid", A(2), A(3), A(4), indexing="ij", sparse=True)
sample("np.meshgrid", A(2), A(3), A(1))
sample("np.meshgrid", A(2))
sample("np.broadcast_arrays", A(2, 1), A(3), 1.0)
sample("np.diff", A(5), complex_too=True)
sample("np.diff", A(5, 3), 2, axis=0)
sample("np.diff", A(2, 3), 4)
sample("np.diff", A(2, 3), 3)
sample("np.trapezoid", A(5), complex_too=True)
sample("np.trapezoid", A(3, 5), dx=0.5, axis=0)
sample("np.trapezoid", A(5), A(5), complex_too=True)
sample("np.trapezoid", A(3, 5), A(3), axis=0)
sample("np.trapezoid", A(3, 5), A(3, 5), axis=1)
sample("np.trapezoid", A(3, 1), axis=1)
_knots = np.array([-1.0, -0.3, 0.4, 1.0])
sample("np.interp", np.array([-2.0, -0.7, 0.1, 0.35, 0.9, 3.0]), _knots, A(4))
sample("np.interp", 0.1, _knots, A(4))
sample("np.interp", A(2, 3), _knots, A(4) + 1j * A(4))
sample("np.linspace", 0.3, 1.7, 5)
sample("np.linspace", A(3), A(2, 1), 4, endpoint=False, complex_too=True)

# ---------------------------------------------------------------- indexing

for _index in [
    (1, slice(None)),
    (slice(1, None), None, Ellipsis, 0),
    2,
    -1,
    slice(None, None, -2),
    ([0, 0, 2],),
    [0, 0, 2],
    ([0, 0, 2], [1, 1, 0]),
    (slice(None), np.array([[0, 1], [1, 1]])),
    (np.array([True, False, True]), 1),
    np.arange(12).reshape(3, 4) % 3 == 0,
    (None, np.array([True, False, True]), [0, 3]),
]:
    sample("operator.getitem", A(3, 4), _index, complex_too=True)
sample("np.take", A(3, 4), [0, 0, 11])
sample("np.take", A(3, 4), (1, 1), axis=-1, complex_too=True)
sample("np.take", A(3, 4), np.array([[0, 0], [1, 2]]), axis=0)
sample("np.take", A(3, 4), 2)
sample("np.take", A(3, 4), [0, 0], axis=np.array(1))
sample("np.take_along_axis", A(3, 4), np.array([[0], [3], [1]]), 1)
sample("np.take_along_axis", A(3, 4), np.array([[0, 0, 3, 1]]), axis=-1)
sample("np.compress", [True, False, True], A(3, 4), axis=0)
sample("np.compress", [True, False, True], A(3, 4))
sample("np.extract", A(3, 4) > 0, A(3, 4), active=("arr",))
sample("np.choose", np.array([0, 1, 0]), [A(3), A(3)], complex_too=True)
sample("np.choose", np.array([[0], [1]]), [A(3), 2.0])
sample("np.select", [A(4) > 0, A(4) > -0.7], [A(4), A(4)], 1.5, complex_too=True)
sample("np.select", [A(3, 4) > 0, A(4) > -0.7], [A(4), 2.0], A(3, 1))

# ---------------------------------------------------------------- products

for _left, _right in [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
]:
    sample("np.matmul operator.matmul", A(*_left), A(*_right), complex_too=True)
    if len(_left) < 4:
        sample("np.dot", A(*_left), A(*_right), complex_too=True)
sample("np.dot", 2.0, A(2, 3), complex_too=True)
sample("np.dot np.inner", A(2, 3), 2.0)
sample("np.dot", A(4, 2, 3), A(5, 3, 2), complex_too=True)
sample("np.dot", 1.5, 2.0)
sample("np.dot np.matmul", A(2, 3), A(3, 2) + 1j * A(3, 2))
for _left, _right in [((3,), (3,)), ((2, 3), (4, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 4, 3), (5, 3))]:
    sample("np.inner", A(*_left), A(*_right), complex_too=True)
sample("np.outer", A(2, 2), A(3), complex_too=True)
sample("np.outer", 2.0, A(3))
sample("np.linalg.outer", A(2), A(3), complex_too=True)
sample("np.vdot", A(2, 3), A(2, 3), complex_too=True)
sample("np.vecdot np.linalg.vecdot", A(2, 3), A(3), complex_too=True)
sample("np.vecdot", A(3, 2), A(3, 1), axis=0, complex_too=True)
sample("np.matvec", A(5, 2, 3), A(3), complex_too=True)
sample("np.matvec", A(2, 3), A(5, 3), complex_too=True)
sample("np.vecmat", A(3), A(5, 3, 2), complex_too=True)
sample("np.vecmat", A(5, 3), A(3, 2), complex_too=True)
sample("np.tensordot", A(2, 3, 4), A(3, 4, 5), complex_too=True)
sample("np.tensordot", A(2, 3), A(4, 5), 0)
sample("np.tensordot", A(2, 3, 4), A(4, 5, 2), ((0, -1), (2, 0)), complex_too=True)
sample("np.tensordot", A(2, 3, 4), A(4, 3), ([1, 2], [1, 0]))
sample("np.tensordot", A(3), A(3), 1)
sample("np.tensordot", A(2, 3), A(5, 3), (1, 1))
for _subscripts, *_shapes in [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ba,ca", (2, 3), (4, 3)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("ij->", (2, 3)),
    ("ij->ji", (2, 3)),
    ("ij", (2, 3)),
    ("i,i,i->", (3,), (3,), (3,)),
    ("i,j,k->ik", (2,), (3,), (4,)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...i,...i", (5, 3), (1, 3)),
    ("i...->...", (2, 3)),
    ("i...,j->j...", (2, 3), (4,)),
    ("ij,ij->i", (2, 3), (1, 3)),
    (" i , i -> ", (3,), (3,)),
    ("ijj,j->i", (2, 3, 3), (3,)),
    (",i->i", (), (3,)),
]:
    sample("np.einsum", _subscripts, *(A(*s) for s in _shapes), complex_too=True)
sample("np.einsum", "ij,jk,kl->il", A(2, 3), A(3, 4), A(4, 2), optimize=True)
sample("np.kron", A(2), A(3), complex_too=True)
sample("np.kron", A(2, 3), A(2), complex_too=True)
sample("np.kron", A(2), A(2, 2, 2))
sample("np.cross", A(3), A(3), complex_too=True)
sample("np.cross", A(2, 3), A(3))
sample("np.cross", A(3, 2), A(3, 2), axis=0)
sample("np.cross", A(3, 2), A(2, 3), axisa=0, axisc=0)
sample("np.linalg.multi_dot", [A(2, 3), A(3, 4), A(4, 2)], complex_too=True)
sample("np.linalg.multi_dot", [A(3), A(3, 4), A(4, 2), A(2)])
sample("np.linalg.multi_dot", [A(2, 3), A(3, 2)])
for _mode in ["full", "same", "valid"]:
    for _n, _m in [(5, 3), (5, 4), (3, 5), (2, 5), (4, 4), (3, 1)]:
        sample("np.convolve np.correlate", A(_n), A(_m), mode=_mode, complex_too=True)

# ---------------------------------------------------------------- linear algebra


def square(*shape):
    """Well-conditioned square matrices."""
    return A(*shape) / 2 + 2 * np.eye(shape[-1])


def spd(n, *stack):
    a = A(*stack, n, n)
    return a @ np.swapaxes(a, -1, -2) + np.diag(np.arange(1.0, n + 1))


sample("np.linalg.inv", square(3, 3), complex_too=True)
sample("np.linalg.inv", square(2, 3, 3), complex_too=True)
sample("np.linalg.pinv", A(4, 3), complex_too=True)
sample("np.linalg.pinv", A(2, 2, 3), complex_too=True)
sample("np.linalg.solve", square(3, 3), A(3), complex_too=True)
sample("np.linalg.solve", square(3, 3), A(3, 2), complex_too=True)
sample("np.linalg.solve", square(2, 3, 3), A(3), complex_too=True)
sample("np.linalg.solve", square(3, 3), A(4, 3, 2), complex_too=True)
sample("np.linalg.matrix_power", square(3, 3), 3, complex_too=True)
sample("np.linalg.matrix_power", square(2, 3, 3), -2)
sample("np.linalg.matrix_power", square(3, 3), 0)
sample("np.linalg.matrix_power", square(3, 3), 1)
sample("np.linalg.det np.linalg.slogdet", square(3, 3), complex_too=True)
sample("np.linalg.det np.linalg.slogdet", square(2, 3, 3), complex_too=True)
sample("np.linalg.det", np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]), complex_too=True)
sample("np.linalg.det", np.zeros((2, 2)))
sample("np.linalg.det", np.array([[1.0, 2.0], [0.0, 0.0]]))
sample("np.linalg.trace", A(2, 3, 4), offset=1)
sample("np.linalg.diagonal", A(2, 3, 4), offset=-1)
sample("np.linalg.qr", A(4, 3), complex_too=True)
sample("np.linalg.qr", A(2, 3, 3))
sample("np.linalg.qr", A(4, 3), mode="r", complex_too=True)
sample("np.linalg.qr", A(3, 3), mode="complete")
for _shape in [(4, 3), (3, 4), (3, 3), (2, 4, 3)]:
    sample("np.linalg.svdvals", A(*_shape), complex_too=True)
    sample("np.linalg.svd", A(*_shape), compute_uv=False, complex_too=True)
    sample("np.linalg.svd", A(*_shape), full_matrices=False)
sample("np.linalg.svd", A(3, 3))


def hermitian(a):
    return (a + np.conj(np.swapaxes(a, -1, -2))) / 2 if np.ndim(a) >= 2 else a


def phaseless_eigh(out):
    """A function of eigenvalues and eigenvectors that no phase of the vectors changes."""
    w, v = out
    first = v[..., :1, :]
    return np.sum(np.sin(w)) + np.sum(np.abs(v) ** 4) + np.sum(np.real(np.conj(first) * v)[..., 1, :] * w)


def phaseless_eigh_gradient(out):
    w, v = out
    gw, gv = np.cos(w) + np.real(np.conj(v[..., 0, :]) * v[..., 1, :]), 4 * np.abs(v) ** 2 * v
    gv[..., 1, :] += v[..., 0, :] * w
    gv[..., 0, :] += v[..., 1, :] * w
    return gw, gv


def phaseless_svd(out):
    u, s, vh = out
    return np.sum(np.sin(s)) + np.sum(np.abs(u) ** 4) + np.sum(np.real((u * np.arange(s.shape[-1])) @ vh))


def phaseless_svd_gradient(out):
    u, s, vh = out
    k = np.arange(s.shape[-1])
    one = np.ones(u.shape[:-1] + vh.shape[-1:])
    gu = 4 * np.abs(u) ** 2 * u + k * (one @ np.conj(np.swapaxes(vh, -1, -2)))
    return gu, np.cos(s), k[:, None] * (np.conj(np.swapaxes(u, -1, -2)) @ one)


sample("np.linalg.cholesky", spd(3), project=hermitian)
sample("np.linalg.cholesky", spd(3), upper=True, project=hermitian)
_skew = np.triu(np.ones((3, 3)), 1) - np.tril(np.ones((3, 3)), -1)
sample("np.linalg.cholesky", spd(3, 2) + 0.2j * _skew, project=hermitian)
_hermitian = hermitian(A(3, 3) + 1j * A(3, 3))
sample("np.linalg.eigh", hermitian(A(2, 3, 3)), project=hermitian)
sample("np.linalg.eigh", hermitian(A(3, 3)), UPLO="U", project=hermitian)
sample("np.linalg.eigh", _hermitian, project=hermitian, measure=phaseless_eigh, gradient=phaseless_eigh_gradient)
sample("np.linalg.eigvalsh", hermitian(A(2, 3, 3)), project=hermitian)
sample("np.linalg.eigvalsh", _hermitian, project=hermitian)


def phaseless_eig(out):
    """A function of eigenvalues and eigenvectors of any matrix that no phase of the vectors changes."""
    w, v = out
    return np.sum(np.real(np.sin(w))) + np.sum(np.abs(v) ** 4)


def phaseless_eig_gradient(out):
    w, v = out
    return np.conj(np.cos(w)), 4 * np.abs(v) ** 2 * v


_spread = np.diag([1.0, 2.0, 3.5])  # real eigenvalues, which do not meet
sample("np.linalg.eig np.linalg.eigvals", _spread + 0.2 * A(3, 3))
sample("np.linalg.eigvals", np.array([[1.0, 2.0], [-3.0, 1.5]]))
sample("np.linalg.eigvals", _spread + 0.2 * A(2, 3, 3), complex_too=True)
for _matrix in (A(3, 3) + 1j * A(3, 3), np.array([[1.0, 2.0], [-3.0, 1.5]])):
    sample("np.linalg.eig", _matrix, measure=phaseless_eig, gradient=phaseless_eig_gradient)
for _shape in [(4, 3), (3, 4), (3, 3)]:
    sample(
        "np.linalg.svd",
        A(*_shape) + 1j * A(*_shape),
        full_matrices=False,
        measure=phaseless_svd,
        gradient=phaseless_svd_gradient,
    )
for _axis in [None, 0, -1]:
    for _ord in [None, 1, 2, 3, 2.5, 0.5, np.inf, -np.inf, -1]:
        if _axis is not None or _ord is None:
            sample("np.linalg.norm", A(3, 4), ord=_ord, axis=_axis, complex_too=True)
        elif _axis is None:
            sample("np.linalg.norm", A(4), ord=_ord, complex_too=True)
    sample("np.linalg.norm", A(3, 4), axis=_axis, keepdims=True, complex_too=True)
for _ord in [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]:
    sample("np.linalg.norm", A(3, 4), ord=_ord, complex_too=True)
    sample("np.linalg.norm", A(4, 3, 2), ord=_ord, axis=(0, 2), complex_too=True)
    sample("np.linalg.norm", A(4, 2, 3), ord=_ord, axis=(-1, 1), keepdims=True)
sample("np.linalg.norm", A(2, 3, 4))

# ---------------------------------------------------------------- Fourier transforms

for _norm in [None, "ortho", "forward"]:
    for _name in ["fft", "ifft"]:
        sample(f"np.fft.{_name}", A(2, 5), norm=_norm, complex_too=True)
    sample("np.fft.rfft", A(2, 5), norm=_norm)
    sample("np.fft.irfft", A(2, 4), norm=_norm, complex_too=True)
    sample("np.fft.fftn np.fft.ifftn np.fft.irfftn", A(2, 4, 3), norm=_norm, complex_too=True)
    sample("np.fft.rfftn", A(2, 3, 4), norm=_norm)
for _n in [3, 4, 5, 8]:
    sample("np.fft.fft np.fft.ifft np.fft.irfft", A(5), n=_n, complex_too=True)
    sample("np.fft.rfft", A(5, 2), n=_n, axis=0)
    sample("np.fft.irfft", A(3, 2), n=_n, axis=0, complex_too=True)
for _norm in (None, "ortho", "forward"):
    sample("np.fft.hfft", A(2, 4), norm=_norm, complex_too=True)
    sample("np.fft.ihfft", A(2, 4), norm=_norm)
sample("np.fft.hfft np.fft.ihfft", A(5), n=7)
sample("np.fft.hfft np.fft.ihfft", A(5, 2), n=4, axis=0)
sample("np.fft.fft2 np.fft.ifft2 np.fft.irfft2", A(2, 4, 3), complex_too=True)
sample("np.fft.fft2 np.fft.ifft2 np.fft.irfft2", A(4, 3), s=(3, 5), axes=(0, 1), complex_too=True)
sample("np.fft.rfft2", A(2, 4, 3))
sample("np.fft.rfft2", A(4, 5), s=(3, 4), axes=(1, 0))
sample("np.fft.fftshift np.fft.ifftshift", A(5), complex_too=True)
sample("np.fft.fftshift np.fft.ifftshift", A(2, 5, 3), axes=(1, 2))

# ---------------------------------------------------------------- sorting

for _axis in [-1, 0, None]:
    sample("np.sort", A(3, 4), axis=_axis)
    sample("np.partition", A(6, 4), 2, axis=_axis)
    sample("np.median", A(3, 4), axis=_axis)
    sample("np.median", A(3, 4), axis=_axis, keepdims=True)
    for _q in [0.3, np.array([0.1, 0.5, 1.0]), np.array([[0.1, 0.5]])]:
        sample("np.quantile", A(3, 4), _q, axis=_axis, active=("a",))
        sample("np.quantile", A(3, 4), _q, axis=_axis, keepdims=True, active=("a",))
        sample("np.percentile", A(3, 4), 100 * _q, axis=_axis, active=("a",))

# ---------------------------------------------------------------- the house's helpers

sample("arrays.over arrays.times", A(2, 3, low=0.5), A(3, low=0.5), complex_too=True)
sample("arrays.over arrays.times", 1.5, -0.4)
sample("arrays.widened", A(2, 3), 1.0, active=("x",), complex_too=True)
sample("arrays.where_less", A(2, 3), A(2, 3), A(2, 3))
sample("arrays.where_less", 1.5, 0.4, 0.7)
sample("arrays.part_where arrays.part_where_not", A(2, 3), np.eye(2, 3) > 0, active=("g",))
sample("arrays.part_where arrays.part_where_not", A(4), np.arange(4, dtype=np.int8), active=("g",))
sample("arrays.unbroadcast", A(2, 3, 4), A(3, 1), active=("g",), complex_too=True)
sample("arrays.unbroadcast", A(2, 3, 4) + 1j, A(3, 1), active=("g",))
sample("arrays.unbroadcast", A(3, 1), A(1, 4), active=("g",))
sample("arrays.embed", A(3), A(4), [0, 0, 2], active=("g",), complex_too=True)
sample("arrays.embed", A(2, 3), A(4, 3), slice(1, 3), active=("g",))
sample("arrays.embed_diagonal", A(2, 3), A(3, 4, 2), 1, 0, 1, active=("g",))
sample("arrays.gather_adjoint", A(2, 2), A(2, 3), np.array([[0, 5], [5, 1]]), active=("g",))
sample("arrays.filled", A(3), A(3), active=("g",))
sample("arrays.as_gradient", A(2, 3), A(3), active=("d",))
sample("arrays.from_rows", [A(3), A(3)], A(3, 3), active=("rows",))
sample("arrays.part", [A(3), A(2)], 1)
sample("arrays.tree_add", A(3), A(3), complex_too=True)
sample("arrays.embed_item", A(3), A(2, 3), 1, active=("g",))
sample("arrays.embed_item", 1.5, A(3), 1, active=("g",))
sample("arrays.rows_of", A(3))
sample("arrays.rows_of", A(3, 2))
sample("arrays.shared_out", A(3), [A(3), A(3)], active=("g",))
sample("arrays.from_items", [A(2), A(2)], A(3, 2), active=("items",))
sample("arrays.from_items", [A(2)], A(3, 2), True, active=("items",))

# ---------------------------------------------------------------- what models and tensors are made of

sample("neural.relu neural.erf neural.erfc neural.softplus neural.magnitude neural.sgn neural.floor", A(3, 4))
sample("neural.ceil neural.trunc neural.round_half_even neural.sign neural.angle", A(3, 4))
sample("neural.sigmoid neural.reciprocal", A(3, 4), complex_too=True)
sample("neural.rsqrt", A(3, low=0.3), complex_too=True)
sample("neural.logit", A(3, low=0.1, high=0.9))
sample("neural.sgn neural.angle", A(3, 2) + 1j * A(3, 2))
sample("neural.leaky_relu", A(3, 4), 0.1)
sample("neural.gate", A(3, 4), A(3, 4))
sample("neural.clamp neural.open_clamp", A(3, 4), -0.7, 0.8)
sample("neural.clamp", A(3, 4), None, 0.8)
sample("neural.quotient", A(3, 1), A(4, low=0.3), complex_too=True)
sample("neural.floor_quotient", A(3, 4), A(4, low=0.3))
sample("neural.logsumexp", A(3, 4), (1,), True, complex_too=True)
sample("neural.logsumexp", A(3, 4), (0, 1), False)
sample("neural.softmax neural.log_softmax", A(3, 4), 1, complex_too=True)
sample("neural.cast", A(3), np.float64)
for _order in (1, 2, 3, np.inf, -np.inf):
    sample("neural.norm", A(3, 4), _order, (1,), True, complex_too=_order in (1, 2))
    sample("neural.norm", A(3, 4), _order, (0, 1), False)
sample("neural.matrix_exp", A(3, 3), complex_too=True)
sample("neural.matrix_exp", A(2, 3, 3))
sample("placing.writable_diagonal", A(3, 4), 1, complex_too=True)
sample("placing.kept_copy placing.row_copy", A(3, 4), complex_too=True)
sample("placing.sliding", A(3, 5), 1, 3, 1, complex_too=True)
sample("placing.sliding", A(5, 2), 0, 2, 2)
sample("placing.strided", A(7), (2, 3), (1, 2), 1, complex_too=True)
sample("placing.strided", A(7), (2, 3), (0, 2), 0)
sample("special.lgamma special.digamma", A(3, 4, low=0.3))
sample("special.lgamma special.digamma", -0.7)
sample("special.polygamma", 1, A(3, 4, low=0.3))
sample("special.polygamma", 2, A(3, low=0.3))
sample("special.zeta", 2.5, A(3, 4, low=0.3))
sample("special.gammainc special.gammaincc special.gamma_density", 1.5, A(3, 4, low=0.3))
sample("special.gammainc special.gammaincc", A(4, low=0.3), A(3, 4, low=0.3, high=9.0), active=("x",))
sample("gaussian.erfinv", A(3, 4, low=-0.9, high=0.9))
sample("gaussian.ndtri", A(3, 4, low=0.05, high=0.95))
sample("gaussian.erfcx gaussian.ndtr gaussian.log_ndtr", A(3, 4, low=-3.0, high=3.0))
sample("gaussian.erfcx gaussian.log_ndtr", A(3, low=10.0, high=20.0))
sample("bessel.iv bessel.ive", 0, A(3, 4, low=-3.0, high=3.0))
sample("bessel.iv bessel.ive", 1, A(3, 4, low=-3.0, high=3.0))
sample("bessel.iv bessel.ive", 3, A(3, 4, low=0.5, high=3.0))
sample("bessel.ive", 1, A(3, low=40.0, high=50.0))
sample("np.i0", A(3, 4, low=-3.0, high=3.0))
sample("neural.xlogy neural.xlog1py", A(3, 1), A(4, low=0.3))
sample("neural.entropy", A(3, 4, low=0.3))
sample("factorizations.lu_factors", A(3, 3) + 3 * np.eye(3), complex_too=True)
sample("factorizations.lu_factors", A(2, 3, 3) + 3 * np.eye(3))
sample("placing.pieces", A(3, 4), [(0,), (slice(None), 1), (slice(1, 3),), (0, 1)])
sample("placing.flipped_copy", A(3, 4), (0, 1), complex_too=True)
sample("placing.turned_copy", A(3, 4), 1, (0, 1), complex_too=True)
sample("placing.expanded", A(3, 1), (2, 3, 4), complex_too=True)
sample("placing.complex_of", A(3, 1), A(4))
sample("placing.pairs_of", A(3) + 1j * A(3))
sample("placing.complex_of_pairs", A(3, 2))
sample("placing.put_at placing.add_to", A(3, 4), A(4), (np.array([0, 2]),), complex_too=True)
sample("placing.add_to", A(3, 4), A(2, 4), (np.array([1, 1]),))
sample("placing.take_line", A(3, 4), np.array([0, 3, 1]), 1, False, complex_too=True)
sample("placing.take_line", A(3, 4), np.array([0, 2, 1, 1]), 0, True)
sample("placing.shared_value", np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0]))

# ---------------------------------------------------------------- windows, counts, fits

_windows = "np.lib.stride_tricks.sliding_window_view"
sample(_windows, A(6), 3, complex_too=True)
sample(_windows, A(4, 5), (2, 3), complex_too=True)
sample(_windows, A(2, 4, 5), (2, 2), axis=(1, 2))
sample("np.bincount", np.array([0, 2, 2, 1]), A(4), active=("weights",))
sample("np.bincount", np.array([0, 2, 2, 1]), A(4), active=("weights",), minlength=6)
sample("np.linalg.lstsq", A(5, 3), A(5), complex_too=True)
sample("np.linalg.lstsq", A(5, 3), A(5, 2), complex_too=True)
sample("np.linalg.lstsq", A(3, 5), A(3))
sample("np.polyval", A(4), A(3), complex_too=True)
sample("np.polyval", A(4), A(2, 3), complex_too=True)
sample("np.polyval", A(4), 0.7)
sample("np.vander", A(4), complex_too=True)
sample("np.vander", A(4), 3, complex_too=True)
sample("np.vander", A(3), 5, increasing=True, complex_too=True)
sample("np.vander", np.array([0.0, -1.5, 2.0]), N=3)
sample("np.vander", A(3), 1)
sample("np.vander", A(3), 0)
sample("np.polyder", A(5), complex_too=True)
sample("np.polyder", A(5), 2)
sample("np.polyder", A(1), 1)
sample("np.polyfit", A(6), A(6), 2, complex_too=True)
sample("np.polyfit", A(6), A(6, 2), 1, complex_too=True)
sample("np.polyfit", A(6), A(6), 2, w=A(6, low=0.5), complex_too=True)
for _name in ("np.cov", "np.corrcoef"):
    sample(_name, A(3, 5), complex_too=True)
    sample(_name, A(5), A(5), complex_too=True)
    sample(_name, A(2, 5), A(5))
    sample(_name, A(5, 3), None, False)
    sample(_name, A(5, 3), A(5, 2), rowvar=False)
sample("np.cov", A(5))
sample("np.cov", A(3, 5), bias=True)
sample("np.cov", A(3, 5), ddof=0)

# ---------------------------------------------------------------- ends, initial values, numbers among nan

sample("np.diff", A(3, 4), prepend=A(3, 1), append=0.5)
sample("np.diff", A(3, 4), n=2, axis=0, prepend=0.25, append=A(2, 4))
sample("np.diff", A(4), append=A(2), complex_too=True)
sample("np.ediff1d", A(3, 4), active=("ary",))
sample("np.ediff1d", A(4), to_end=np.array([1.0, 2.0]), to_begin=3.0, active=("ary",))
sample("np.cumulative_sum np.cumulative_prod", A(4))
sample("np.cumulative_sum np.cumulative_prod", A(3, 4), axis=1, include_initial=True)
sample("np.nancumsum np.nancumprod", np.array([[1.0, np.nan, 2.0], [0.5, 3.0, np.nan]]), axis=1)
sample("np.nancumsum np.nancumprod", np.array([1.0, np.nan, 2.0, 0.5]))
sample("np.logaddexp.reduce", A(3, 4))
sample("np.logaddexp.reduce", A(3, 4), axis=1, keepdims=True)
sample("np.linspace", A(2, 3), A(2, 3), num=4, axis=1)
sample("np.linspace", A(3), 2.0, num=4, axis=-1, endpoint=False)
sample("np.take", A(3, 4), np.array([5, -2]), axis=0, mode="wrap")
for _method in ("lower", "midpoint", "median_unbiased", "hazen", "nearest"):
    sample("np.quantile", A(3, 5), [0.3, 0.65], axis=1, method=_method)
sample("np.percentile", A(7), 30, method="higher")
_gaps = np.array([[1.0, np.nan, 2.0, 0.5], [0.7, 3.0, np.nan, np.nan]])
sample("np.nanmedian", _gaps)
sample("np.nanmedian", _gaps, axis=1, keepdims=True)
sample("np.nanquantile", _gaps, [0.2, 0.7], axis=1)
sample("np.nanquantile", _gaps.T, 0.4, axis=0)
sample("np.nanpercentile", _gaps, 35)
sample("np.median", A(2, 3, 4), axis=(0, 2))
sample("np.quantile", A(2, 3, 4), [0.3, 0.8], axis=(-1, 0), keepdims=True)
sample("np.percentile", A(2, 3, 4), 30, axis=(1, 2), method="lower")
sample("np.nanmedian", _gaps, axis=(0, 1))
sample("np.nanquantile", np.stack([_gaps, _gaps + 0.1]), [0.3, 0.83], axis=(0, 2), keepdims=True)
sample("np.linalg.tensorsolve", A(2, 3, 6) + np.eye(6).reshape(2, 3, 6), A(2, 3), complex_too=True)
sample("np.frexp", A(3, 4, low=0.6, high=0.9))
sample("np.polymul", A(3), A(4), complex_too=True)
sample("math.lgamma math.gamma", 1.7)
sample("math.lgamma math.gamma", -0.6)
sample("np.pad", A(3, 4), ((1, 0), (2, 1)), constant_values=0.7)
sample("np.prod", A(3, 4), axis=1, initial=2.0, complex_too=True)
sample("np.multiply.reduce", A(3, 4), axis=1, initial=2.0)
sample("np.var np.std", A(3, 4), axis=1, correction=1)
sample("np.interp", A(3), np.array([-0.5, 0.1, 0.6]), A(3), left=np.float64(0.3), right=np.float64(0.4))
sample("np.ndarray.compress", A(3, 4), np.array([True, False, True]), axis=0)
sample("np.linalg.pinv", A(4, 3), rtol=1e-12, complex_too=True)

samples_scipy.add(sample, A)
