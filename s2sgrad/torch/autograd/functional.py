"""``torch.autograd.functional``: names only."""

from s2sgrad.runtime.eager.functional import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
