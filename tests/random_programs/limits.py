"""Leaves what does not end."""

import contextlib
import signal

LONGEST = 20  # seconds of the processor that a program may take


class Endless(BaseException):
    """Not an `Exception`, which programs and what runs them may catch."""


@contextlib.contextmanager
def limited(seconds=LONGEST):
    def stop(*_):
        raise Endless(f"not done after {seconds} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
