"""All operations: importing this module puts them on the tensor."""

from s2sgrad.runtime.eager import (  # noqa: F401
    activations,
    arranging,
    backward,
    comparing,
    complexes,
    counting,
    creation,
    elementwise,
    fourier,
    hooks,
    indexing,
    inplace,
    losses,
    matrices,
    memory,
    methods,
    neural,
    out,
    printing,
    products,
    reductions,
    resampling,
    scattering,
    shapes,
    special,
    statistics,
    windows,
)
from s2sgrad.runtime.eager.creation import zeros_like  # noqa: F401
from s2sgrad.runtime.eager.shapes import stack  # noqa: F401
from s2sgrad.runtime.eager.tensor import Tensor  # noqa: F401
