"""``torch.optim``: names only."""

from s2sgrad.runtime.eager.optimizers import SGD, Adam, AdamW, Optimizer, RMSprop

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop"]
