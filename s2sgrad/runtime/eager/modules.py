"""``torch.nn``: modules, which keep parameters, and the layers and losses that are functions with settings."""

import collections
import inspect
import math

from s2sgrad.runtime.eager import (  # noqa: F401 (the functions that there are modules of)
    activations,
    losses,
    neural,
    resampling,
    statistics,
    windows,
)
from s2sgrad.runtime.eager.creation import _source, ones, zeros
from s2sgrad.runtime.eager.modes import no_grad
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN
from s2sgrad.runtime.eager.tensor import Parameter, new

MODULES = {}  # name -> class of torch.nn
_KEPT = ("_parameters", "_buffers", "_modules")
Incompatible = collections.namedtuple("Incompatible", "missing_keys unexpected_keys")  # noqa: PYI024


def entered(cls):
    """Enter a class in ``torch.nn``."""
    MODULES[cls.__name__] = cls
    return cls


@entered
class Module:
    """Parameters, buffers and other modules by name; calling it calls ``forward``."""

    training = True

    def __init__(self):
        for kept in _KEPT:
            object.__setattr__(self, kept, {})

    def __setattr__(self, name, value):
        if "_modules" not in self.__dict__:
            if isinstance(value, Parameter | Module):
                raise AttributeError("cannot assign parameters or modules before Module.__init__() was called")
            object.__setattr__(self, name, value)
            return
        kind = "_parameters" if isinstance(value, Parameter) else "_modules" if isinstance(value, Module) else None
        if kind is None and name in self._parameters and value is not None:
            raise TypeError(
                f"cannot assign {type(value).__name__} as parameter {name!r}: nn.Parameter or None is expected"
            )
        if kind is None:
            kind = next((kept for kept in _KEPT if name in self.__dict__[kept]), None)
        if kind is None:
            object.__setattr__(self, name, value)
            return
        for kept in _KEPT:
            self.__dict__[kept].pop(name, None) if kept != kind else None
        self.__dict__.pop(name, None)
        self.__dict__[kind][name] = value

    def __getattr__(self, name):
        for kept in _KEPT:
            if name in self.__dict__.get(kept, ()):
                return self.__dict__[kept][name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name):
        holder = next((self.__dict__[kept] for kept in _KEPT if name in self.__dict__[kept]), self.__dict__)
        if name not in holder:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        del holder[name]

    def register_parameter(self, name, param):
        """Keep a parameter, or None in its place."""
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Keep a tensor that is no parameter."""
        self._buffers[name] = tensor

    def add_module(self, name, module):
        """Keep a module."""
        self._modules[name] = module

    register_module = add_module

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"module {type(self).__name__!r} is missing the required 'forward' function")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    # ------------------------------------------------------------ what it consists of

    def named_modules(self, memo=None, prefix=""):
        """This module and those in it, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def _named(self, kept, prefix, recurse):
        seen = set()
        for at, module in self.named_modules(prefix=prefix) if recurse else ((prefix, self),):
            for name, value in module.__dict__[kept].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{at}.{name}" if at else name), value

    def named_parameters(self, prefix="", recurse=True):
        """The parameters, each once."""
        return self._named("_parameters", prefix, recurse)

    def named_buffers(self, prefix="", recurse=True):
        """The buffers, each once."""
        return self._named("_buffers", prefix, recurse)

    def named_children(self):
        """The modules that this one keeps itself."""
        return iter(self._modules.items())

    def parameters(self, recurse=True):
        """The parameters, each once."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def buffers(self, recurse=True):
        """The buffers, each once."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def children(self):
        """The modules that this one keeps itself."""
        return iter(self._modules.values())

    def modules(self):
        """This module and those in it, each once."""
        return (module for _, module in self.named_modules())

    def state_dict(self):
        """The parameters and buffers by name, detached: they share their memory with the module."""
        state = collections.OrderedDict()
        for at, module in self.named_modules():
            for name, value in {**module._parameters, **module._buffers}.items():
                if value is not None:
                    state[f"{at}.{name}" if at else name] = value.detach()
        return state

    def load_state_dict(self, state_dict, strict=True):
        """Take over the content of a `state_dict`."""
        own = dict([*self.named_parameters(), *self.named_buffers()])
        missing, unexpected = [n for n in own if n not in state_dict], [n for n in state_dict if n not in own]
        wrong = [n for n in own if n in state_dict and own[n]._a.shape != state_dict[n]._a.shape]
        if wrong or strict and (missing or unexpected):
            raise RuntimeError(
                f"error in loading state_dict for {type(self).__name__}: missing keys {missing}, unexpected keys "
                f"{unexpected}, keys of another shape {wrong}"
            )
        with no_grad():
            for name in own:
                if name in state_dict:
                    own[name].copy_(state_dict[name])
        return Incompatible(missing, unexpected)

    # ------------------------------------------------------------ modes and types

    def train(self, mode=True):
        """Training mode, or evaluation: what dropout and batch norm look at. Gradients are recorded in both."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        """Evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Whether the parameters require grad."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """No gradients, or zeros in them."""
        clear_gradients(self.parameters(), set_to_none)

    def apply(self, fn):
        """Call `fn` on the modules in this one, and on it."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args, **kwargs):
        """Parameters and buffers in another type."""
        for value in [*self.parameters(), *self.buffers()]:
            if value.is_floating_point() or value.is_complex():
                value.data = value.data.to(*args, **kwargs)
        return self

    def double(self):
        """Parameters and buffers of float64."""
        return self.to(FUNCTIONS["zeros"](0).double().dtype)

    def float(self):
        """Parameters and buffers of float32."""
        return self.to(FUNCTIONS["zeros"](0).float().dtype)

    def cpu(self):
        """Where it is already."""
        return self

    # ------------------------------------------------------------ printing

    def extra_repr(self):
        """The settings, as printed."""
        return ""

    def __repr__(self):
        lines = [f"({name}): {module!r}".replace("\n", "\n  ") for name, module in self._modules.items()]
        if not lines:
            return f"{type(self).__name__}({self.extra_repr()})"
        return "\n  ".join([f"{type(self).__name__}(", *lines]) + "\n)"


def clear_gradients(parameters, set_to_none):
    """Leave the parameters without gradients, or with zeros in them."""
    for p in parameters:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad = p.grad.detach().zero_()


# ---------------------------------------------------------------- functions with settings


def _of_function(name, function, inputs=1):
    """The class of modules that call a function with settings of their own."""
    parameters = list(inspect.signature(function).parameters.values())[inputs:]
    signature = inspect.Signature([p for p in parameters if p.name != "_stacklevel"])
    trained = "training" in signature.parameters

    class Layer(Module):
        def __init__(self, *args, **kwargs):
            super().__init__()
            self.options = dict(signature.bind(*args, **kwargs).arguments)

        def forward(self, *inputs):
            mode = {"training": self.training} if trained else {}
            return function(*inputs, **{**self.options, **mode})

        def __getattr__(self, name):
            options = self.__dict__.get("options", {})
            if name in options:
                return options[name]
            if name in signature.parameters and name != "training":
                return signature.parameters[name].default
            return super().__getattr__(name)

        def extra_repr(self):
            return ", ".join(f"{k}={v}" for k, v in self.options.items())

    Layer.__name__ = Layer.__qualname__ = name
    Layer.__doc__ = function.__doc__
    return entered(Layer)


_LAYERS = {
    "ReLU": "relu", "ReLU6": "relu6", "Tanh": "tanh", "Sigmoid": "sigmoid", "LeakyReLU": "leaky_relu", "ELU": "elu",
    "CELU": "celu", "SELU": "selu", "GELU": "gelu", "SiLU": "silu", "Mish": "mish", "Softplus": "softplus",
    "Softsign": "softsign", "Hardtanh": "hardtanh", "Hardswish": "hardswish", "Hardsigmoid": "hardsigmoid",
    "Hardshrink": "hardshrink", "Softshrink": "softshrink", "Tanhshrink": "tanhshrink", "LogSigmoid": "logsigmoid",
    "Threshold": "threshold", "GLU": "glu", "Softmax": "softmax", "LogSoftmax": "log_softmax", "Softmin": "softmin",
    "Dropout": "dropout", "Dropout1d": "dropout1d", "Dropout2d": "dropout2d", "AlphaDropout": "alpha_dropout",
    "AvgPool1d": "avg_pool1d", "AvgPool2d": "avg_pool2d", "AvgPool3d": "avg_pool3d", "MaxPool1d": "max_pool1d",
    "MaxPool2d": "max_pool2d", "MaxPool3d": "max_pool3d", "LPPool2d": "lp_pool2d",
    "AdaptiveAvgPool1d": "adaptive_avg_pool1d", "AdaptiveAvgPool2d": "adaptive_avg_pool2d",
    "AdaptiveMaxPool1d": "adaptive_max_pool1d", "AdaptiveMaxPool2d": "adaptive_max_pool2d",
    "Upsample": "interpolate", "PixelShuffle": "pixel_shuffle", "PixelUnshuffle": "pixel_unshuffle",
    "ChannelShuffle": "channel_shuffle", "Unfold": "unfold", "Fold": "fold", "LocalResponseNorm": "local_response_norm",
}  # fmt: skip
_OF_TWO = {
    "MSELoss": "mse_loss", "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "huber_loss",
    "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll_loss", "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "KLDivLoss": "kl_div",
    "SoftMarginLoss": "soft_margin_loss",
    "PoissonNLLLoss": "poisson_nll_loss", "HingeEmbeddingLoss": "hinge_embedding_loss",
    "MultiMarginLoss": "multi_margin_loss", "MultiLabelMarginLoss": "multilabel_margin_loss",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss", "CosineSimilarity": "cosine_similarity",
    "PairwiseDistance": "pairwise_distance",
}  # fmt: skip
_OF_THREE = {
    "TripletMarginLoss": "triplet_margin_loss", "MarginRankingLoss": "margin_ranking_loss",
    "CosineEmbeddingLoss": "cosine_embedding_loss", "GaussianNLLLoss": "gaussian_nll_loss",
}  # fmt: skip
for _inputs, _table in enumerate((_LAYERS, _OF_TWO, _OF_THREE), 1):
    for _name, _function in _table.items():
        _of_function(_name, NN[_function], _inputs)


@entered
class Identity(Module):
    """The input."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


@entered
class Flatten(Module):
    """The axes behind the first as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


# ---------------------------------------------------------------- layers with parameters


def uniform(shape, bound, dtype=None):
    """A parameter of random numbers between ``-bound`` and `bound`."""
    a = _source(None).uniform(-bound, bound, shape)
    return Parameter(new(a.astype(zeros(0, dtype=dtype)._a.dtype), None))


@entered
class Linear(Module):
    """``input @ weight.T + bias``."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = uniform((out_features, in_features), bound, dtype)
        self.register_parameter("bias", uniform((out_features,), bound, dtype) if bias else None)

    def forward(self, input):
        return NN["linear"](input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


@entered
class LazyLinear(Linear):
    """`Linear`, whose `in_features` are those of its first input."""

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        Module.__init__(self)
        self._later = out_features, bias, device, dtype

    def forward(self, input):
        if "weight" not in self._parameters:
            Linear.__init__(self, input._a.shape[-1], *self._later)
        return super().forward(input)


class _Convolution(Module):
    def _settle(self, name, channels, kernel_size, outputs, bias, dtype, options):
        super().__init__()
        n = int(name[-2])
        self.function = NN[name]
        self.kernel_size = (kernel_size,) * n if isinstance(kernel_size, int) else tuple(kernel_size)
        self.options = options
        bound = 1 / math.sqrt(channels[1] * math.prod(self.kernel_size))
        self.weight = uniform((*channels, *self.kernel_size), bound, dtype)
        self.register_parameter("bias", uniform((outputs,), bound, dtype) if bias else None)

    def forward(self, input):
        return self.function(input, self.weight, self.bias, **self.options)

    def extra_repr(self):
        settings = ", ".join(f"{k}={v}" for k, v in self.options.items())
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, {settings}"


def _convolution(n):
    class Plain(_Convolution):
        def __init__(
            self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
            dtype=None,
        ):  # fmt: skip
            options = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
            channels = out_channels, in_channels // groups
            self._settle(f"conv{n}d", channels, kernel_size, out_channels, bias, dtype, options)
            self.in_channels, self.out_channels = in_channels, out_channels

    class Transposed(_Convolution):
        def __init__(
            self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
            dilation=1, dtype=None,
        ):  # fmt: skip
            options = dict(stride=stride, padding=padding, output_padding=output_padding, groups=groups)
            channels = in_channels, out_channels // groups
            options["dilation"] = dilation
            self._settle(f"conv_transpose{n}d", channels, kernel_size, out_channels, bias, dtype, options)
            self.in_channels, self.out_channels = in_channels, out_channels

    for cls, name in ((Plain, f"Conv{n}d"), (Transposed, f"ConvTranspose{n}d")):
        cls.__name__ = cls.__qualname__ = name
        cls.__doc__ = f"Kernels of {n} axes, as parameters."
        entered(cls)


for _n in (1, 2, 3):
    _convolution(_n)


@entered
class Embedding(Module):
    """Rows of a table of parameters, by their numbers."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, dtype=None):
        super().__init__()
        self.options = dict(padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = Parameter(FUNCTIONS["randn"](num_embeddings, embedding_dim, dtype=dtype))
        if padding_idx is not None:
            with no_grad():
                self.weight[padding_idx] = 0.0

    def forward(self, input):
        return NN["embedding"](input, self.weight, **self.options)

    def extra_repr(self):
        return f"{self.num_embeddings}, {self.embedding_dim}"


@entered
class PReLU(Module):
    """The input where positive, elsewhere scaled by a parameter."""

    def __init__(self, num_parameters=1, init=0.25, dtype=None):
        super().__init__()
        self.weight = Parameter(FUNCTIONS["full"]((num_parameters,), init, dtype=dtype))

    def forward(self, input):
        return NN["prelu"](input, self.weight)


def _scales(module, shape, affine, bias, dtype):
    module.register_parameter("weight", Parameter(ones(*shape, dtype=dtype)) if affine else None)
    module.register_parameter("bias", Parameter(zeros(*shape, dtype=dtype)) if affine and bias else None)


@entered
class LayerNorm(Module):
    """Centred and scaled over the last axes, with parameters for scale and shift."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        _scales(self, self.normalized_shape, elementwise_affine, bias, dtype)

    def forward(self, input):
        return NN["layer_norm"](input, self.normalized_shape, self.weight, self.bias, self.eps)


@entered
class GroupNorm(Module):
    """Centred and scaled over groups of channels, with parameters for scale and shift."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, dtype=None):
        super().__init__()
        self.num_groups, self.eps = num_groups, eps
        _scales(self, (num_channels,), affine, True, dtype)

    def forward(self, input):
        return NN["group_norm"](input, self.num_groups, self.weight, self.bias, self.eps)


class _BatchNorm(Module):
    """Centred and scaled by the moments of the batch in training, by running ones in evaluation."""

    dimensions = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, dtype=None):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        _scales(self, (num_features,), affine, True, dtype)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", FUNCTIONS["tensor"](0) if tracked else None)

    def forward(self, input):
        if input._a.ndim not in self.dimensions:
            raise ValueError(f"expected an input of {self.dimensions} dimensions, not of {input._a.ndim}")
        by_batch = self.training or self.running_mean is None
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        return NN["batch_norm"](
            input, self.running_mean, self.running_var, self.weight, self.bias, by_batch, self.momentum, self.eps
        )

    def extra_repr(self):
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


for _n, _dimensions in ((1, (2, 3)), (2, (4,)), (3, (5,))):
    entered(type(f"BatchNorm{_n}d", (_BatchNorm,), {"dimensions": _dimensions, "__doc__": _BatchNorm.__doc__}))

# ---------------------------------------------------------------- modules of modules


class _Numbered(Module):
    """Modules by their numbers."""

    def __getitem__(self, at):
        found = list(self._modules.values())[at]
        return type(self)(*found) if isinstance(at, slice) and isinstance(self, Sequential) else found

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        """Keep one more."""
        self.add_module(str(len(self)), module)
        return self


@entered
class Sequential(_Numbered):
    """Modules one after another, each called with the result of the one before."""

    def __init__(self, *modules):
        super().__init__()
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], dict) else dict(enumerate(modules))
        for name, module in named.items():
            self.add_module(str(name), module)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


@entered
class ModuleList(_Numbered):
    """A list of modules."""

    def __init__(self, modules=()):
        super().__init__()
        for module in modules:
            self.append(module)


@entered
class ModuleDict(Module):
    """A dict of modules."""

    def __init__(self, modules=None):
        super().__init__()
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __getitem__(self, name):
        return self._modules[name]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def items(self):
        """Names and modules."""
        return self._modules.items()


@entered
class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values=()):
        super().__init__()
        for i, value in enumerate(values):
            self.register_parameter(str(i), value if isinstance(value, Parameter) else Parameter(value))

    def __getitem__(self, at):
        return list(self._parameters.values())[at]

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())
