"""Difference quotients: what the derivative of a function is compared with."""


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
