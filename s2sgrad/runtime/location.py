"""Where in the user's source we are: for the tape's errors."""

import linecache
import os
import sys

import numpy as np

from s2sgrad.errors import Location

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = (_OURS, os.path.dirname(os.path.abspath(np.__file__)) + os.sep, os.sep + os.path.join("scipy", ""))


def user_location() -> Location:
    """The innermost running line that is neither ours nor NumPy's."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        if not (name.startswith(_LIBRARIES[:2]) or _LIBRARIES[2] in name or name.startswith("<__array_function__")):
            break
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Location(file, line, linecache.getline(file, line, frame.f_globals).strip(), frame.f_code.co_name)
