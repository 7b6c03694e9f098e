"""All operations: importing this module puts them on the tensor."""

from s2sgrad.runtime.eager import (  # noqa: F401
    backward,
    creation,
    elementwise,
    hooks,
    indexing,
    inplace,
    methods,
    neural,
    products,
    reductions,
    shapes,
)
from s2sgrad.runtime.eager.creation import zeros_like  # noqa: F401
from s2sgrad.runtime.eager.shapes import stack  # noqa: F401
from s2sgrad.runtime.eager.tensor import Tensor  # noqa: F401
