"""Leaves what does not end."""

import contextlib
import signal

LONGEST = 20  # seconds that a program may take


class Endless(BaseException):
    """Not an `Exception`, which programs and what runs them may catch."""


@contextlib.contextmanager
def limited(seconds=LONGEST):
    def stop(*_):
        raise Endless(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
