"""The same functions for the other libraries; one that is not installed is left out."""

import importlib
import os
import types

from benchmarks import functions


def available():
    """``{name: module}`` of the peers that can be imported, each held to one thread."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    found = {}
    for name in ("autograd", "torch", "jax"):
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            continue
    if "torch" in found:
        found["torch"].set_num_threads(1)
    if "jax" in found:
        found["jax"].config.update("jax_enable_x64", True)
    return found


def rebound(function, namespace):
    """`function` with its name `np` bound to another NumPy-shaped module."""
    names = {**function.__globals__, "np": namespace}
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def numpy_written(function):
    """The NumPy version of a function that is written with `math`: peers do not take `math`."""
    return functions.scalar if function is functions.scalar_math else function


def hips(function, args, argnums=0):
    """A call of HIPS autograd's value and gradient."""
    import autograd.numpy as anp
    from autograd import value_and_grad

    derivative = value_and_grad(rebound(numpy_written(function), anp), argnums)
    return lambda: derivative(*args)


def jax(function, args, argnums=0):
    """A call of ``jax.jit(jax.value_and_grad(...))``, compiled before it is timed."""
    import jax
    import jax.numpy as jnp

    derivative = jax.jit(jax.value_and_grad(rebound(numpy_written(function), jnp), argnums))
    args = jax.tree.map(jnp.asarray, args)
    return lambda: jax.block_until_ready(derivative(*args))


def torch(function, args, argnums=0):
    """A call of eager torch: forward and backward."""
    import torch

    argnums = argnums if isinstance(argnums, tuple) else (argnums,)
    program = TORCH.get(function) or rebound(numpy_written(function), torch)
    tensors = tree(lambda leaf: torch.tensor(leaf, dtype=torch.double if isinstance(leaf, float) else None), args)
    leaves = []
    for n in argnums:
        tree(lambda leaf: leaves.append(leaf.requires_grad_()), tensors[n])

    def call():
        value = program(*tensors)
        return value, torch.autograd.grad(value, leaves)

    return call


def tree(function, value):
    """`function` of every leaf of nested tuples and lists."""
    if isinstance(value, (tuple, list)):
        return type(value)(tree(function, item) for item in value)
    return function(value)


def torch_network(params, x, labels):
    import torch

    h = x
    for W, b in params[:-1]:
        h = torch.tanh(h @ W + b)
    W, b = params[-1]
    return torch.nn.functional.cross_entropy(h @ W + b, labels)


TORCH = {functions.network: torch_network}  # what torch users write where it is not NumPy's spelling
