"""Difference quotients: what the derivative of a function is compared with."""

import math
import sys


def central(at, step):
    """The slope of `at` at 0 from a step to both sides; the error is of second order in the step.

    Examples
    --------
    >>> central(lambda h: (3 + h) ** 2, 0.5)
    6.0
    """
    return (at(step) - at(-step)) / (2 * step)


def extrapolated(at, step):
    """The slope of `at` at 0 from two steps to both sides; the error is of fourth order in the step.

    Examples
    --------
    >>> central(lambda h: (3 + h) ** 3, 1.0), extrapolated(lambda h: (3 + h) ** 3, 1.0)
    (28.0, 27.0)
    """
    return (4 * central(at, step) - central(at, 2 * step)) / 3


def obstacle(at, step, bound) -> str | None:
    """Why the function `at` has no derivative at 0, as far as that can be seen from steps to both sides.

    The slopes to both sides differ by less the smaller the step, where there is a derivative. At a kink they differ
    by the same, at a jump by more. A difference of less than `bound`, or one of rounding errors, says nothing.

    Examples
    --------
    >>> obstacle(lambda h: h * abs(h), 1e-4, 1e-3)
    >>> obstacle(lambda h: max(h, 0.0), 1e-4, 1e-3)
    'has a kink there: its slope is 0 to the one side and 1 to the other'
    >>> obstacle(lambda h: float(h >= 0), 1e-4, 1e-3)
    'jumps there, from 0 to 1'
    >>> obstacle(lambda h: math.nan if h < 0 else h, 1e-4, 1e-3)
    'is not finite to both sides of it'
    """
    here, near = at(0.0), step / 8
    if at(0.0) != here and math.isfinite(here):
        return "does not return the same value twice"
    sides = [(at(-h), at(h)) for h in (step, near)]
    if not all(map(math.isfinite, (here, *sides[0], *sides[1]))):
        return "is not finite to both sides of it"
    wide, narrow = [(after - 2 * here + before) / h for (before, after), h in zip(sides, (step, near), strict=True)]
    rounding = 16 * sys.float_info.epsilon * abs(here) / near
    if abs(narrow) <= max(bound, rounding, abs(wide) / 2):
        return None
    before, after = sides[1]
    if abs(narrow) > 4 * abs(wide):
        return f"jumps there, from {before:.4g} to {after:.4g}"
    left, right = (here - before) / near, (after - here) / near
    return f"has a kink there: its slope is {left:.4g} to the one side and {right:.4g} to the other"
