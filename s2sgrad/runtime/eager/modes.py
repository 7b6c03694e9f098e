"""Grad mode, inference mode, and which saved-tensor hooks are in force: switches of each thread.

Operations ask one process-wide count first (`PAUSED`); only where it is not zero does a switch of some
thread stand otherwise than usual, and the operation takes the careful way.
"""

from s2sgrad.runtime.grad_mode import (
    MODE,
    Context,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad,
    set_grad_enabled,
    set_switch,
)

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad", "set_grad_enabled"]


def set_inference(enabled):
    return set_switch("inference", enabled, False)


def set_saving(hooks):
    """Set the pair of saved-tensor hooks, or whatever decides how values are saved."""
    return set_switch("saving", hooks, None)


def saving():
    return getattr(MODE, "saving", None)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return MODE.inference


def is_inference(tensor) -> bool:
    """Whether `tensor` was made in inference mode."""
    return tensor.is_inference()


class inference_mode(Context):  # noqa: N801
    """Neither record nor count writes within; tensors made within can never be saved for a backward pass.

    Examples
    --------
    >>> with inference_mode():
    ...     is_inference_mode_enabled(), is_grad_enabled()
    (True, False)
    """

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode=True):
        self.mode = bool(mode)

    def __enter__(self):
        self.was = set_inference(self.mode), set_grad(not self.mode)

    def __exit__(self, *exc_info):
        set_inference(self.was[0])
        set_grad(self.was[1])

    def again(self):
        return inference_mode(self.mode)


class set_multithreading_enabled(Context):  # noqa: N801
    """Accepted for programs that say it: a backward pass always runs on the thread that asks for it."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        return None

    def __exit__(self, *exc_info):
        return None

    def again(self):
        return self
