"""What options of NumPy and SciPy allow to be written over: `overwrite_b=True`, `output=w`, `out` by position.

The array has been read before: its derivative is that of what it was.
"""

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.ndimage

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
W = np.array([1.0, 3.0, 2.0])
A = np.diag([2.0, 3.0, 4.0])


def solved(b):
    return scipy.linalg.solve(A, b, overwrite_b=True)


@program(X, engine="tape")
def a_right_hand_side(x):
    w = W.copy()
    y = x * w
    r = scipy.linalg.solve(A, w, overwrite_b=True)
    return np.sum(y * y) + np.sum(r * x)


@program(X, engine="tape")
def a_right_hand_side_by_position(x):
    w = W.copy()
    y = x * w
    r = scipy.linalg.solve(A, w, False, True, True)
    return np.sum(y * y) + np.sum(r * x)


@program(X, engine="tape")
def in_a_helper(x):
    w = W.copy()
    y = x * w
    return np.sum(y * y) + np.sum(solved(w) * x)


@program(X, engine="tape")
def a_transform(x):
    w = W.copy()
    y = x * w
    r = scipy.fft.dct(w, overwrite_x=True)
    return np.sum(y * y) + np.sum(r * x)


@program(X, engine="tape")
def a_median(x):
    w = W.copy()
    y = x * w
    m = np.median(w, overwrite_input=True)
    return np.sum(y * y) * m


@program(X, engine="tape")
def a_median_of_what_is_differentiated(x):
    y = x * x
    z = np.sin(y)
    return np.median(y, overwrite_input=True) * np.sum(z)


@program(X, engine="compiled")
def what_nobody_else_reads(x):
    r = scipy.linalg.solve(A, W.copy(), overwrite_b=True)
    return np.sum(x * x * r)


@program(X, engine="compiled")
def what_may_not_be_overwritten(x):
    y = x * W
    r = scipy.linalg.solve(A, W, overwrite_b=False)
    return np.sum(y * y * r)


@program(X, W, engine="tape")
def a_filter(x, w):
    y = x * w
    scipy.ndimage.convolve(w, np.ones(3), w)
    return np.sum(y * y) + np.sum(w * x)


@program(X, W, engine="tape")
def a_filter_by_name(x, w):
    y = x * w
    scipy.ndimage.uniform_filter(w, 3, output=w)
    return np.sum(y * y) + np.sum(w * x)


@program(X, W, engine="tape")
def a_method(x, w):
    y = x * w
    (A[0] * 0.7).round(1, w)
    return np.sum(y * y) + np.sum(w * x)
