"""Where in the user's source we are: for the tape's errors."""

import linecache
import os
import sys

import numpy as np

from s2sgrad.errors import Location

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = (_OURS, os.path.dirname(os.path.abspath(np.__file__)) + os.sep)
_SCIPY = os.sep + os.path.join("scipy", "")
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = os.sep + os.path.join("site-packages", "")


def _is_users(name: str) -> bool:
    """Whether a file is neither ours, NumPy's or SciPy's, nor of the standard library."""
    if name.startswith(_LIBRARIES) or _SCIPY in name or name.startswith(("<__array_function__", "<frozen ")):
        return False
    return not name.startswith(_STANDARD) or _INSTALLED in name


def user_location() -> Location:
    """The innermost running line that is neither ours nor a library's."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if _is_users(frame.f_code.co_filename):
            break
        frame = frame.f_back
    return _location(frame, frame.f_lineno)


def location_of(error: BaseException) -> Location | None:
    """The innermost of the user's lines that an exception came through; None where there is none."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if _is_users(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    return found and _location(found.tb_frame, found.tb_lineno)


def _location(frame, line: int) -> Location:
    file = frame.f_code.co_filename
    return Location(file, line, linecache.getline(file, line, frame.f_globals).strip(), frame.f_code.co_name)
