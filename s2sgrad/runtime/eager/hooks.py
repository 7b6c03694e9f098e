"""Hooks: what users attach to gradients and nodes, and the handle that takes it off again."""

import itertools
import threading
import weakref

from s2sgrad.runtime.eager.tensor import Tensor, face, refresh

_ids = itertools.count()


class RemovableHandle:
    """What registering a hook returns: `remove()` takes it off; as a context it does so at the end."""

    def __init__(self, hooks, key, extra=()):
        self._hooks = hooks
        self._extra = extra
        self.id = key

    def remove(self):
        """Take the hook off. It may be off already, or be running just now."""
        self._hooks.pop(self.id, None)
        for handle in self._extra:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.remove()


def _add(hooks, hook):
    key = next(_ids)
    hooks[key] = hook
    return RemovableHandle(hooks, key)


def attach(f, kind, hook):
    """Attach `hook` to a node's `Face`."""
    hooks = getattr(f, kind)
    if hooks is None:
        hooks = {}
        setattr(f, kind, hooks)
    return _add(hooks, hook)


def register_hook(t, hook):
    """Call ``hook(grad)`` with the gradient of this tensor in each backward pass; what it returns replaces it.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 10)
    >>> (x * 3).sum().backward()
    >>> x.grad
    tensor([30., 30.])
    """
    refresh(t)
    if not t.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if t._node is None:
        if t._hooks is None:
            t._hooks = {}
        return _add(t._hooks, hook)
    attached = face(t._node)
    attached.dtype = t._a.dtype
    return attach(attached, "tensor_hooks", hook)


def register_post_accumulate_grad_hook(t, hook):
    """Call ``hook(leaf)`` each time after its ``.grad`` was updated by a backward pass."""
    refresh(t)
    if not t.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if t._node is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if t._after is None:
        t._after = {}
    return _add(t._after, hook)


Tensor.register_hook = register_hook
Tensor.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook


# ---------------------------------------------------------------- running them


def run_tensor_hooks(hooks, grad):
    """Pass `grad` through hooks of a tensor, in the order of their registration."""
    for hook in list(hooks.values()):
        out = hook(grad)
        if out is not None:
            grad = _replacement(grad, out, "hook")
    return grad


def _replacement(grad, out, what):
    if not isinstance(out, Tensor):
        raise TypeError(f"a {what} must return a Tensor or None, not {type(out).__name__}")
    if grad is not None:
        if out._a.shape != grad._a.shape:
            raise RuntimeError(f"a {what} has changed the size of its gradient: {grad.shape} to {out.shape}")
        if out._a.dtype != grad._a.dtype:
            raise RuntimeError(f"a {what} has changed the dtype of its gradient: {grad.dtype!r} to {out.dtype!r}")
    return out


def run_before(hooks, grads):
    """Pass the gradients of a node's results through its pre-hooks."""
    for hook in list(hooks.values()):
        out = hook(grads)
        if out is not None:
            grads = _several(grads, out, "pre-hook")
    return grads


def run_after(hooks, inputs, outputs):
    """Pass the gradients of a node's arguments through its post-hooks."""
    for hook in list(hooks.values()):
        out = hook(inputs, outputs)
        if out is not None:
            inputs = _several(inputs, out, "hook")
    return inputs


def _several(grads, out, what):
    if not isinstance(out, tuple):
        raise TypeError(f"a node {what} must return a tuple of gradients or None, not {type(out).__name__}")
    if len(out) != len(grads):
        raise RuntimeError(f"a node {what} must return {len(grads)} gradients, not {len(out)}")
    return tuple([o if o is None else _replacement(g, o, what) for g, o in zip(grads, out, strict=True)])


# ---------------------------------------------------------------- hooks of several tensors


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call `fn` once per backward pass: with all gradients when the last has come, or with the first of any.

    Parameters
    ----------
    tensors : sequence of Tensor
    fn : callable
        Of a list of gradients, None for those not computed (mode "all"); of one gradient (mode "any").
    mode : {"all", "any"}
    """
    if mode not in ("all", "any"):
        raise ValueError(f"mode is 'all' or 'any', not {mode!r}")
    from s2sgrad.runtime.eager import engine
    from s2sgrad.runtime.eager.tensor import node_of

    tensors = tuple(tensors)
    assert all(t.requires_grad for t in tensors), "a multi-grad hook is of tensors that require grad"
    lock = threading.Lock()
    runs = weakref.WeakKeyDictionary()
    nodes = [node_of(t) for t in tensors]

    def one(i):
        def hook(grad):
            run = engine.current_run()
            with lock:
                state = runs.get(run)
                if state is None:
                    expected = len(tensors) if mode == "any" else sum(run.reaches(n) for n in nodes)
                    state = runs[run] = [expected, [None] * len(tensors)]
                state[0] -= 1
                state[1][i] = grad
                fire = state[0] == 0 if mode == "all" else state[1].count(None) == len(tensors) - 1
            if fire:
                fn(state[1] if mode == "all" else grad)

        return hook

    handles = [t.register_hook(one(i)) for i, t in enumerate(tensors)]
    return RemovableHandle({}, next(_ids), handles)
