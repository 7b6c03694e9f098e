"""``torch.optim``: steps of descent on parameters, not recorded."""

import math

from s2sgrad.runtime.eager.modes import enable_grad, no_grad
from s2sgrad.runtime.eager.modules import clear_gradients
from s2sgrad.runtime.eager.tensor import Tensor


class Optimizer:
    """Parameters in groups, each with its settings; the kinds of optimizers say what a step is."""

    def __init__(self, params, defaults):
        params = list(params)
        if not params:
            raise ValueError("optimizer got an empty parameter list")
        groups = params if isinstance(params[0], dict) else [{"params": params}]
        self.defaults = defaults
        self.param_groups = [{**defaults, **group, "params": _listed(group["params"])} for group in groups]
        self.state = {}

    def zero_grad(self, set_to_none=True):
        """No gradients, or zeros in them."""
        for group in self.param_groups:
            clear_gradients(group["params"], set_to_none)

    def step(self, closure=None):
        """One step down the gradients; `closure` computes them, and the loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.update(p, p.grad.detach(), self.state.setdefault(p, {}), group)
        return loss


def _listed(params):
    params = [params] if isinstance(params, Tensor) else list(params)
    for p in params:
        if not isinstance(p, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, not {type(p).__name__}")
        if not p.is_leaf:
            raise ValueError("can't optimize a non-leaf Tensor")
    return params


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    def __init__(
        self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, maximize=False
    ):
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        names = dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay)
        super().__init__(params, {**names, "nesterov": nesterov, "maximize": maximize})

    def update(self, p, g, state, group):
        """The step of one parameter."""
        g = -g if group["maximize"] else g
        g = g + group["weight_decay"] * p if group["weight_decay"] else g
        momentum = group["momentum"]
        if momentum:
            if "momentum_buffer" in state:
                state["momentum_buffer"].mul_(momentum).add_(g, alpha=1 - group["dampening"])
            else:
                state["momentum_buffer"] = g.clone()
            v = state["momentum_buffer"]
            g = g + momentum * v if group["nesterov"] else v
        p.add_(g, alpha=-group["lr"])


class Adam(Optimizer):
    """Gradients over the root of their mean squares, both means running."""

    decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, *, maximize=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize))

    def update(self, p, g, state, group):
        """The step of one parameter."""
        g = -g if group["maximize"] else g
        if self.decoupled:
            p.mul_(1 - group["lr"] * group["weight_decay"])
        elif group["weight_decay"]:
            g = g + group["weight_decay"] * p
        if not state:
            state.update(step=0, exp_avg=p.new_zeros(p._a.shape), exp_avg_sq=p.new_zeros(p._a.shape))
        state["step"] += 1
        first, second = group["betas"]
        m = state["exp_avg"].mul_(first).add_(g, alpha=1 - first)
        v = state["exp_avg_sq"].mul_(second).addcmul_(g, g, value=1 - second)
        root = v.sqrt() / math.sqrt(1 - second ** state["step"]) + group["eps"]
        p.addcdiv_(m, root, value=-group["lr"] / (1 - first ** state["step"]))


class AdamW(Adam):
    """`Adam`, whose weights decay apart from the gradients."""

    decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, *, maximize=False):
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)


class RMSprop(Optimizer):
    """Gradients over the root of their running mean squares."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum))

    def update(self, p, g, state, group):
        """The step of one parameter."""
        g = g + group["weight_decay"] * p if group["weight_decay"] else g
        if not state:
            state.update(square_avg=p.new_zeros(p._a.shape), momentum_buffer=p.new_zeros(p._a.shape))
        v = state["square_avg"].mul_(group["alpha"]).addcmul_(g, g, value=1 - group["alpha"])
        change = g / (v.sqrt() + group["eps"])
        if group["momentum"]:
            change = state["momentum_buffer"].mul_(group["momentum"]).add_(change)
        p.add_(change, alpha=-group["lr"])
