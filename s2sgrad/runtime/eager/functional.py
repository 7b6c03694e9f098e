"""Derivatives of functions of tensors: products with Jacobians and Hessians, and these matrices whole."""

import numpy as np

from s2sgrad.runtime.eager.backward import grad
from s2sgrad.runtime.eager.modes import enable_grad
from s2sgrad.runtime.eager.ops import stack, zeros_like
from s2sgrad.runtime.eager.tensor import Tensor, new


def _tensors(values, what, function):
    """`values` as a tuple of tensors, and whether it was one."""
    several = isinstance(values, tuple)
    values = values if several else (values,)
    for i, v in enumerate(values):
        if not isinstance(v, Tensor):
            where = f" at position {i}" if several else ""
            raise TypeError(
                f"the {what} of {function} must be Tensors or tuples of Tensors, got {type(v).__name__}{where}"
            )
    return several, values


def _prepared(inputs, create_graph):
    """Fresh tensors for the inputs: connected to them only where the result shall be."""
    fresh = []
    for x in inputs:
        if create_graph and x.requires_grad:
            fresh.append(x.view_as(x))
        else:
            fresh.append(x.detach().requires_grad_())
    return tuple(fresh)


def _released(values, create_graph):
    if isinstance(values, tuple):
        return tuple([_released(v, create_graph) for v in values])
    return values if create_graph else values.detach()


def _vector(v, like, several, name):
    """`v` checked against the tensors `like`; ones where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0]._a.size != 1:
            raise RuntimeError(
                f"the vector v can only be left out if the {name} is a single Tensor with a single element"
            )
        return (new(np.ones_like(like[0]._a), None),)
    _, v = _tensors(v, "vector v", "the function")
    if len(v) != len(like):
        raise RuntimeError(f"v has invalid length: {len(v)} instead of {len(like)}, that of the {name}")
    for i, (a, b) in enumerate(zip(v, like, strict=True)):
        if a._a.shape != b._a.shape:
            raise RuntimeError(f"v has invalid size at position {i}: {list(a._a.shape)} instead of {list(b._a.shape)}")
    return v


def _check_graph(outputs, strict, what):
    if strict:
        for i, o in enumerate(outputs):
            if not o.requires_grad:
                raise RuntimeError(
                    f"output {i} of the {what} does not require gradients: it is independent of the inputs"
                )


def _filled(found, inputs, strict, create_graph, stage):
    """Zeros for what is None, or an error where `strict`."""
    out = []
    for i, (g, x) in enumerate(zip(found, inputs, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(f"the {stage} is independent of input {i}; this is not allowed in strict mode")
            g = zeros_like(x)
        elif strict and create_graph and not g.requires_grad:
            raise RuntimeError(
                f"the {stage} is independent of input {i} in its first derivative; this is not allowed in strict mode"
            )
        out.append(g)
    return tuple(out)


def _grad(outputs, inputs, vectors=None, create_graph=False, retain=None):
    """Gradients with None for what is not connected."""
    vectors = vectors if vectors is not None else (None,) * len(outputs)
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outputs, vectors = zip(*pairs, strict=True)
    return grad(outputs, inputs, vectors, allow_unused=True, create_graph=create_graph, retain_graph=retain)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func` and the product of the vector `v` with its Jacobian.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> vjp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        several, inputs = _tensors(inputs, "inputs", "vjp")
        inputs = _prepared(inputs, create_graph)
        several_out, outputs = _tensors(func(*inputs), "outputs of func", "vjp")
        _check_graph(outputs, strict, "function given to vjp")
        v = _vector(v, outputs, several_out, "output of the function")
        found = _filled(_grad(outputs, inputs, v, create_graph), inputs, strict, create_graph, "output of the function")
    out = _released(outputs if several_out else outputs[0], create_graph)
    return out, _released(found if several else found[0], create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func` and the product of its Jacobian with the vector `v`: two backward passes."""
    with enable_grad():
        several, inputs = _tensors(inputs, "inputs", "jvp")
        inputs = _prepared(inputs, create_graph)
        v = _vector(v, inputs, several, "input")
        several_out, outputs = _tensors(func(*inputs), "outputs of func", "jvp")
        _check_graph(outputs, strict, "function given to jvp")
        dummies = tuple([zeros_like(o).requires_grad_() for o in outputs])
        pulled = _filled(_grad(outputs, inputs, dummies, True), inputs, strict, False, "output of the function")
        found = _grad(pulled, dummies, v, create_graph)
        found = _filled(found, outputs, strict, create_graph, "output of the function")
    out = _released(outputs if several_out else outputs[0], create_graph)
    return out, _released(found if several_out else found[0], create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian of `func`: for each output and input a tensor of shape ``output.shape + input.shape``.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    assert strategy in ("reverse-mode", "forward-mode"), "strategy is 'reverse-mode' or 'forward-mode'"
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError("create_graph=True is not there for the forward-mode strategy: use reverse-mode")
        if not vectorize:
            raise NotImplementedError("the forward-mode strategy needs vectorize=True")
    if vectorize and strict:
        raise RuntimeError("strict=True cannot be combined with vectorize=True")
    with enable_grad():
        several, inputs = _tensors(inputs, "inputs", "jacobian")
        inputs = _prepared(inputs, create_graph)
        several_out, outputs = _tensors(func(*inputs), "outputs of func", "jacobian")
        _check_graph(outputs, strict, "function given to jacobian")
        blocks = tuple([_rows(o, inputs, create_graph, strict) for o in outputs])
    blocks = _released(blocks, create_graph)
    if not several:
        blocks = tuple([b[0] for b in blocks])
    return blocks if several_out else blocks[0]


def _rows(output, inputs, create_graph, strict):
    """The blocks of one output: one per input."""
    if output._a.dtype.kind == "c" and output._a.size:
        raise RuntimeError("the outputs of func must be real: complex Jacobians are not defined here")
    flat = output.reshape(-1)
    columns = [[] for _ in inputs]
    for i in range(output._a.size):
        found = _grad((flat[i],), inputs, None, create_graph, True)
        for column, g in zip(
            columns, _filled(found, inputs, strict, create_graph, f"output of the function, element {i},"), strict=True
        ):
            column.append(g)
    shape = tuple(output._a.shape)
    return tuple(
        [
            stack(column).reshape(shape + tuple(x._a.shape))
            if column
            else new(np.zeros(shape + x._a.shape, x._a.dtype), None)
            for column, x in zip(columns, inputs, strict=True)
        ]
    )


def _scalar(func, name):
    """`func`, with its result checked to be one tensor of one element."""

    def checked(*args):
        out = func(*args)
        several, outputs = _tensors(out, "outputs of func", name)
        if several:
            raise RuntimeError(f"the function given to {name} should return a single Tensor")
        if outputs[0]._a.size != 1:
            raise RuntimeError(f"the Tensor returned by the function given to {name} should contain a single element")
        return outputs[0]

    return checked


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The matrix of second derivatives of a function with one number as its result.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    assert outer_jacobian_strategy in ("reverse-mode", "forward-mode"), "a strategy is 'reverse-mode' or 'forward-mode'"
    several, inputs = _tensors(inputs, "inputs", "hessian")
    value = _scalar(func, "hessian")

    def gradient(*args):
        args = tuple([a if a.requires_grad else a.requires_grad_() for a in args])
        out = value(*args)
        _check_graph((out,), strict, "function given to hessian")
        found = _grad((out,), args, None, True)
        found = _filled(found, args, strict, False, "output of the function")
        if strict:
            for i, g in enumerate(found):
                if not g.requires_grad:
                    raise RuntimeError(f"the jacobian of the user-provided function is independent of input {i}")
        return found if several else found[0]

    out = jacobian(
        gradient,
        inputs if several else inputs[0],
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return out


def _first(func, inputs, strict, name, create_graph):
    inputs = _prepared(inputs, create_graph)
    out = _scalar(func, name)(*inputs)
    _check_graph((out,), strict, f"function given to {name}")
    found = _filled(_grad((out,), inputs, None, True), inputs, strict, False, "output of the function")
    if strict:
        for i, g in enumerate(found):
            if not g.requires_grad:
                raise RuntimeError(f"the jacobian of the user-provided function is independent of input {i}")
    return inputs, out, found


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func` and the product of the vector `v` with its Hessian."""
    with enable_grad():
        several, inputs = _tensors(inputs, "inputs", "vhp")
        v = _vector(v, inputs, several, "input")
        inputs, out, first = _first(func, inputs, strict, "vhp", create_graph)
        found = _filled(_grad(first, inputs, v, create_graph), inputs, strict, create_graph, "jacobian of the function")
    return _released(out, create_graph), _released(found if several else found[0], create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func` and the product of its Hessian with the vector `v`: three passes."""
    with enable_grad():
        several, inputs = _tensors(inputs, "inputs", "hvp")
        v = _vector(v, inputs, several, "input")
        inputs, out, first = _first(func, inputs, strict, "hvp", create_graph)
        dummies = tuple([zeros_like(x).requires_grad_() for x in inputs])
        second = _filled(_grad(first, inputs, dummies, True), inputs, strict, False, "jacobian of the function")
        found = _filled(
            _grad(second, dummies, v, create_graph), inputs, strict, create_graph, "hessian of the function"
        )
    return _released(out, create_graph), _released(found if several else found[0], create_graph)
