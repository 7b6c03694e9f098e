"""Where in the user's source we are: for the tape's errors."""

import dataclasses
import itertools
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


def is_users_file(name: str) -> bool:
    """Whether a file is neither ours, NumPy's or SciPy's, nor of the standard library."""
    if name.startswith(_LIBRARIES) or _SCIPY in name or name.startswith(("<__array_function__", "<frozen ")):
        return False
    return not name.startswith(_STANDARD) or _INSTALLED in name


def is_our_file(name: str) -> bool:
    """Whether a file is one of this package."""
    return name.startswith(_OURS)


def user_location() -> Location:
    """The innermost running line that is neither ours nor a library's; of an installed package, and what calls it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    found, caller = _location(frame, frame.f_lineno, frame.f_lasti), None
    if _INSTALLED in found.file:
        while frame is not None and caller is None:
            file = frame.f_code.co_filename
            if is_users_file(file) and _INSTALLED not in file:
                caller = _location(frame, frame.f_lineno, frame.f_lasti)
            frame = frame.f_back
    return dataclasses.replace(found, caller=caller) if caller else found


def location_of(error: BaseException) -> Location | None:
    """The innermost of the user's lines that an exception came through; None where there is none."""
    trace, found, caller = error.__traceback__, None, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if is_users_file(file):
            found = trace
            caller = caller if _INSTALLED in file else trace
        trace = trace.tb_next
    places = [t and _location(t.tb_frame, t.tb_lineno, t.tb_lasti) for t in (found, caller)]
    return places[0] if found is caller else dataclasses.replace(places[0], caller=places[1])


def raised_in_library(error: BaseException) -> bool:
    """Whether the line that raised an exception is not the user's."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return not is_users_file(trace.tb_frame.f_code.co_filename)


def _location(frame, line: int, instruction: int) -> Location:
    code = frame.f_code
    text = linecache.getline(code.co_filename, line, frame.f_globals).rstrip()
    *_, column, _ = next(itertools.islice(code.co_positions(), instruction // 2, None), (0, 0))
    return Location(code.co_filename, line, text, code.co_name, column or 0)
