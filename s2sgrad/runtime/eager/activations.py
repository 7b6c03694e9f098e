"""``torch.nn.functional``: activations."""

import functools
import inspect

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.eager.call import call, floating
from s2sgrad.runtime.eager.comparing import clamp, where
from s2sgrad.runtime.eager.creation import random_source
from s2sgrad.runtime.eager.elementwise import UNARY
from s2sgrad.runtime.eager.inplace import assigned, check_writable
from s2sgrad.runtime.eager.naming import under
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, enter, nn
from s2sgrad.runtime.eager.tensor import new


def _in_place_too(function):
    """`function`, which writes its result into the input where its last argument, ``inplace``, says so."""
    last = len(inspect.signature(function).parameters) - 1

    @functools.wraps(function)
    def forward(input, *args, inplace=False, **kwargs):
        if len(args) == last:
            *args, inplace = args
        if not inplace:
            return function(input, *args, **kwargs)
        check_writable(input)
        return assigned(input, function(input.clone(), *args, **kwargs))

    return forward


@nn()
@_in_place_too
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """`input` where positive, scaled elsewhere."""
    return call("LeakyRelu", neural.leaky_relu, floating(input), negative_slope)


@nn()
@_in_place_too
def relu6(input, inplace=False):
    """`input` within 0 and 6; no gradient at the bounds."""
    return hardtanh(input, 0.0, 6.0)


@nn()
@_in_place_too
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """`input` within bounds; no gradient at the bounds."""
    if input._a.dtype.kind in "iu":
        return clamp(input, int(min_val), int(max_val))
    return call("Hardtanh", neural.open_clamp, floating(input), min_val, max_val)


@nn()
@_in_place_too
@under("Elu")
def elu(input, alpha=1.0, inplace=False):
    """`input` where positive, ``alpha * (exp(input) - 1)`` elsewhere."""
    low = alpha * UNARY["expm1"](clamp(input, max=0.0))
    return where(input > 0, input, low)


@nn()
def softplus(input, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta * input)) / beta``; the input where ``beta * input`` is above `threshold`."""
    x = floating(input)
    out = soft(x) if beta == 1 else soft(x * beta) / beta
    above = np.asarray(x._a * beta > threshold)
    return where(new(above, None), x, out) if above.any() else out


def soft(x):
    """``log(1 + exp(x))``."""
    return call("Softplus", neural.softplus, floating(x))


@nn("logsigmoid")
@under("LogSigmoid")
def logsigmoid(input):
    """The logarithm of `sigmoid`."""
    return -soft(-input)


@nn("silu", "swish")
@_in_place_too
@under("Silu")
def silu(input, inplace=False):
    """``input * sigmoid(input)``."""
    return input * UNARY["sigmoid"](input)


@nn()
@_in_place_too
@under("Mish")
def mish(input, inplace=False):
    """``input * tanh(softplus(input))``."""
    return input * UNARY["tanh"](soft(input))


@nn()
@under("Gelu")
def gelu(input, approximate="none"):
    """``input`` times the normal distribution function."""
    if approximate == "tanh":
        inner = np.sqrt(2 / np.pi) * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + UNARY["tanh"](inner))
    return input * (0.5 * (1 + UNARY["erf"](input * float(1 / np.sqrt(2)))))


FUNCTIONS["logsigmoid"] = logsigmoid
FUNCTIONS["softplus"] = softplus


@nn()
def softsign(input):
    """``x / (1 + |x|)``."""
    return input / (1 + input.abs())


@nn()
@_in_place_too
@under("Celu")
def celu(input, alpha=1.0, inplace=False):
    """`input` where positive, ``alpha * (exp(input / alpha) - 1)`` elsewhere."""
    return where(input > 0, input, alpha * UNARY["expm1"](clamp(input, max=0.0) / alpha))


@nn()
@_in_place_too
@under("Elu")
def selu(input, inplace=False):
    """`elu`, scaled so that a mean of 0 and a variance of 1 stay."""
    return 1.0507009873554805 * elu(input, 1.6732632423543772)


@nn()
@under("PreluKernel")
def prelu(input, weight):
    """`input` where positive, elsewhere scaled by `weight`: one number, or one for each channel."""
    if weight._a.size > 1:
        weight = weight.reshape(-1, *[1] * (input._a.ndim - 2))
    return where(input > 0, input, weight * input)


@nn()
@_in_place_too
@under("Threshold")
def threshold(input, threshold, value, inplace=False):
    """`input` where larger than `threshold`, `value` elsewhere."""
    return where(input > threshold, input, value)


@nn()
@_in_place_too
@under("Hardsigmoid")
def hardsigmoid(input, inplace=False):
    """``relu6(input + 3) / 6``."""
    return relu6(input + 3) / 6


@nn()
@_in_place_too
@under("Hardswish")
def hardswish(input, inplace=False):
    """``input * hardsigmoid(input)``."""
    return input * hardsigmoid(input)


@nn()
@under("Hardshrink")
def hardshrink(input, lambd=0.5):
    """Zero within `lambd` of zero, `input` elsewhere."""
    return where(UNARY["abs"](input) > lambd, input, 0.0)


@nn()
@under("Softshrink")
def softshrink(input, lambd=0.5):
    """`input` moved towards zero by `lambd`."""
    return where(input > lambd, input - lambd, where(input < -lambd, input + lambd, input * 0.0))


@nn()
def tanhshrink(input):
    """``input - tanh(input)``."""
    return input - UNARY["tanh"](input)


@nn()
@under("Glu")
def glu(input, dim=-1):
    """One half of the axis times the sigmoid of the other."""
    if input._a.shape[dim] % 2:
        raise RuntimeError(f"glu: the halves of an axis of {input._a.shape[dim]} are not of one size")
    first, second = input.chunk(2, dim)
    return first * UNARY["sigmoid"](second)


@nn()
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """`softmax` of ``-input``."""
    return NN["softmax"](-input, dim, dtype=dtype)


for _f in (logsigmoid, softplus, celu, selu, threshold):
    enter(_f.__name__, _f, method=False)
for _f in (prelu, hardshrink):
    enter(_f.__name__, _f)


@nn()
@_in_place_too
def relu(input, inplace=False):
    """`input` where positive, 0 elsewhere."""
    return UNARY["relu"](input)


@nn()
@_in_place_too
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """`leaky_relu` with a random slope while training, with the mean one else."""
    if not training:
        return leaky_relu(input, (lower + upper) / 2)
    slopes = random_source(None).uniform(lower, upper, input._a.shape).astype(input._a.dtype)
    return where(input > 0, input, input * new(slopes, None))


def _into_input(function):
    def forward(input, *args, **kwargs):
        return function(input, *args, inplace=True, **kwargs)

    forward.__doc__ = f"`{function.__name__}`, written into the input."
    return forward


for _f in (relu, elu, leaky_relu, hardtanh, celu, selu, threshold, rrelu):
    nn(f"{_f.__name__}_")(_into_input(_f))
for _name in ("celu_", "selu_", "threshold_", "rrelu_"):
    enter(_name, NN[_name], method=False)
enter("rrelu", rrelu, method=False)
