"""Grad mode, inference mode, and which saved-tensor hooks are in force: switches of each thread.

Operations ask one process-wide count first (`PAUSED`); only where it is not zero does a switch of some
thread stand otherwise than usual, and the operation takes the careful way.
"""

import functools
import inspect

from s2sgrad.runtime.grad_mode import PAUSED, _mode, is_grad_enabled


def _set(name, value, usual):
    """Set a switch of this thread, and count it where it is not as usual."""
    was = getattr(_mode, name, usual)
    PAUSED.add((value is not usual) - (was is not usual))
    setattr(_mode, name, value)
    return was


def set_grad(enabled):
    return _set("enabled", enabled, True)


def set_inference(enabled):
    return _set("inference", enabled, False)


def set_saving(hooks):
    """Set the pair of saved-tensor hooks, or whatever decides how values are saved."""
    return _set("saving", hooks, None)


def saving():
    return getattr(_mode, "saving", None)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return getattr(_mode, "inference", False)


def is_inference(tensor) -> bool:
    """Whether `tensor` was made in inference mode."""
    return tensor.is_inference()


class Context:
    """A context that is a decorator too: of functions, generators, coroutines and classes' methods."""

    def again(self):
        """A context like this one, for one call of a decorated function."""
        return type(self)()

    def __call__(self, function):
        if inspect.isgeneratorfunction(function):
            return self._around_generator(function)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args, **kwargs):
                with self.again():
                    return await function(*args, **kwargs)

            return awaited

        @functools.wraps(function)
        def called(*args, **kwargs):
            with self.again():
                return function(*args, **kwargs)

        return called

    def _around_generator(self, function):
        @functools.wraps(function)
        def generator(*args, **kwargs):
            inner = function(*args, **kwargs)
            step, value = inner.send, None
            while True:
                try:
                    with self.again():
                        item = step(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    step, value = inner.send, (yield item)
                except GeneratorExit:
                    with self.again():
                        inner.close()
                    raise
                except BaseException as error:
                    step, value = inner.throw, error

        return generator


class _GradSwitch(Context):
    enabled = True

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else self(function)

    def __enter__(self):
        self.was = set_grad(self.enabled)

    def __exit__(self, *exc_info):
        set_grad(self.was)


class no_grad(_GradSwitch):  # noqa: N801
    """Record nothing within: results are plain.

    Examples
    --------
    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    enabled = False


class enable_grad(_GradSwitch):  # noqa: N801
    """Record again within `no_grad`.

    Examples
    --------
    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """

    def __enter__(self):
        self.was = set_grad(not is_inference_mode_enabled())


class set_grad_enabled(Context):  # noqa: N801
    """Switch recording at once; as a context, put it back at the end.

    Examples
    --------
    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode):
        self.mode = bool(mode)
        self.was = set_grad(self.mode)

    def __enter__(self):
        set_grad(self.mode)

    def __exit__(self, *exc_info):
        set_grad(self.was)

    def again(self):
        return set_grad_enabled(self.mode)

    def __call__(self, function):
        set_grad(self.was)
        return super().__call__(function)


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
