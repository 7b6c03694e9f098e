"""Whether operations are recorded: a switch per thread, as contexts and decorators.

Every recorded operation asks; nearly always the answer is yes. So a process-wide count of the
threads that have recording off is looked at first, and the thread's own switch only where some
thread has it off.
"""

import functools
import threading


class _Mode(threading.local):
    enabled = True


class _Paused:
    """How many `no_grad` contexts are open in the whole process: the operations' quick first look."""

    __slots__ = ("count", "lock")

    def __init__(self):
        self.count = 0
        self.lock = threading.Lock()

    def add(self, n):
        with self.lock:
            self.count += n


_mode = _Mode()
PAUSED = _Paused()


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded.

    Examples
    --------
    >>> is_grad_enabled()
    True
    """
    return _mode.enabled


class _Switch:
    """A context, and a decorator, that sets the thread's switch and puts it back."""

    target = True

    def __enter__(self):
        stack = _mode.__dict__.setdefault("stack", [])
        stack.append(_mode.enabled)
        PAUSED.add(1)
        _mode.enabled = self.target
        return self

    def __exit__(self, *exc_info):
        _mode.enabled = _mode.stack.pop()
        PAUSED.add(-1)

    def __call__(self, function):
        kind = type(self)

        @functools.wraps(function)
        def switched(*args, **kwargs):
            with kind():
                return function(*args, **kwargs)

        return switched


class no_grad(_Switch):  # noqa: N801 (torch's name)
    """Record nothing within: results are plain data.

    Examples
    --------
    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    target = False


class enable_grad(_Switch):  # noqa: N801 (torch's name)
    """Record again within a `no_grad`.

    Examples
    --------
    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """
