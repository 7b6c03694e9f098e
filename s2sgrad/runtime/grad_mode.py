"""Whether operations are recorded: a switch per thread, as contexts and decorators.

Every recorded operation asks; nearly always the answer is yes. So a process-wide count of the
threads that have recording off is looked at first, and the thread's own switch only where some
thread has it off.
"""

import functools
import inspect
import threading


class _Mode(threading.local):
    enabled = True
    inference = False


class _Paused:
    """How many `no_grad` contexts are open in the whole process: the operations' quick first look."""

    __slots__ = ("count", "lock")

    def __init__(self):
        self.count = 0
        self.lock = threading.Lock()

    def add(self, n):
        with self.lock:
            self.count += n


MODE = _Mode()
PAUSED = _Paused()


def is_grad_enabled() -> bool:
    """Whether this thread asks for operations to be recorded.

    Examples
    --------
    >>> is_grad_enabled()
    True
    """
    return MODE.enabled


def is_recording() -> bool:
    """Whether operations of this thread are recorded: in inference mode they never are."""
    return MODE.enabled and not MODE.inference


def set_switch(name, value, usual):
    """Set a switch of this thread, and count it where it is not as usual."""
    was = getattr(MODE, name, usual)
    if value is not was:
        PAUSED.add((value is not usual) - (was is not usual))
        setattr(MODE, name, value)
    return was


def set_grad(enabled):
    """Set whether this thread records; return what was."""
    return set_switch("enabled", enabled, True)


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

    enabled = True


class forced_recording(Context):  # noqa: N801
    """Record within, whatever the mode around: where a derivative is asked for, its absence would be a silent zero."""

    def __enter__(self):
        self.was = set_switch("inference", False, False), set_grad(True)

    def __exit__(self, *exc_info):
        set_switch("inference", self.was[0], False)
        set_grad(self.was[1])


class set_grad_enabled(Context):  # noqa: N801
    """Switch recording at once; as a context, put it back at the end.

    Examples
    --------
    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled takes a bool, not {type(mode).__name__}")
        self.mode = mode
        self.was = set_grad(mode)

    def __enter__(self):
        set_grad(self.mode)

    def __exit__(self, *exc_info):
        set_grad(self.was)

    def again(self):
        return set_grad_enabled(self.mode)

    def __call__(self, function):
        set_grad(self.was)
        return super().__call__(function)
