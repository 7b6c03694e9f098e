"""Random numbers: floats, one or an array of them."""

import numpy as np

from s2sgrad.transform.analysis.types.calls import handles
from s2sgrad.transform.analysis.types.operands import shape_of, type_of
from s2sgrad.transform.analysis.types.promotion import one_array
from s2sgrad.transform.ir import FLOAT, UNKNOWN, Kind, Type

GENERATORS = (np.random.Generator, np.random.RandomState)

# Where a method takes the size of what it draws, behind the parameters of the distribution.
_SIZES = {
    "random": 0, "random_sample": 0, "standard_normal": 0, "standard_cauchy": 0, "exponential": 1, "chisquare": 1,
    "rayleigh": 1, "standard_t": 1, "weibull": 1, "normal": 2, "uniform": 2, "gamma": 2, "beta": 2, "laplace": 2,
    "lognormal": 2, "gumbel": 2, "logistic": 2, "triangular": 3,
}  # fmt: skip


@handles(np.random.default_rng)
def _generator(*seed, **keywords) -> Type:
    return Type(Kind.OTHER, cls=np.random.Generator)


@handles(np.random.RandomState)
def _state(*seed, **keywords) -> Type:
    return Type(Kind.OTHER, cls=np.random.RandomState)


def _drawn(at: int, args, keywords) -> Type:
    if "dtype" in keywords or len(args) > at + 1:
        return UNKNOWN
    size = args[at] if len(args) > at else keywords.get("size")
    if size is None:
        kinds = [type_of(a).kind for a in (*args, *keywords.values())]
        return FLOAT if all(kind is Kind.NUMBER for kind in kinds) else Type(dtype="float64")
    ndim, token, _ = shape_of(size)
    return Type(dtype="float64") if not ndim else one_array("float64", ndim, token)


@handles(np.random.rand, np.random.randn)
def _drawn_of_lengths(*lengths) -> Type:
    return one_array("float64", len(lengths)) if lengths else FLOAT


for cls in GENERATORS:
    for name in ("rand", "randn"):
        if hasattr(cls, name):
            handles(getattr(cls, name))(lambda state, *lengths: _drawn_of_lengths(*lengths))
    for name, at in _SIZES.items():
        if hasattr(cls, name):
            handles(getattr(cls, name))(lambda state, *args, at=at, **keywords: _drawn(at, args, keywords))
for name, at in _SIZES.items():
    handles(getattr(np.random, name))(lambda *args, at=at, **keywords: _drawn(at, args, keywords))
