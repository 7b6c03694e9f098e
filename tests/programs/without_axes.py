"""Arrays without axes: numbers that can be written to, and parts of arrays that are."""

import numpy as np

from tests.programs.corpus import program

LINE = np.array([0.3, 0.5, 0.9])
SINGLE = LINE.astype(np.float32)
POINT = np.array(0.5)


def written(x):
    s = np.zeros(())
    s[...] = x[0]
    s[()] += x[1] ** 2
    s *= 2
    s.fill(s * x[2])
    return s * x[0]


program(LINE, engine="compiled", smooth=True, name="written")(written)
program(SINGLE, engine="compiled", name="written_single")(written)


def as_array_of_a_number(x):
    s = np.asarray(x[0])
    s *= np.where(x[0] > 0.1, np.sum(x), 1.4)
    r = s * x[1]
    s[...] = np.sum(x[:0])
    return s + np.sum(x) + r


program(LINE, engine="compiled", smooth=True, name="as_array_of_a_number")(as_array_of_a_number)
program(SINGLE, engine="compiled", name="as_array_of_a_number_single")(as_array_of_a_number)


@program(LINE, engine="compiled", smooth=True)
def parts_of_arrays(x):
    y = x * 1.0
    s = y[1, ...]
    t = s[()] * x[0]
    s[...] = 3 * x[0]
    return s * t + y[1]


@program(LINE, engine="compiled", smooth=True)
def everything_of_one(x):
    s = np.zeros(())
    t = s[...]
    t += x[0]
    s[...] = s * x[1]
    return t + s


@program(LINE, engine="compiled")
def the_number_in_one(x):
    s = np.zeros(())
    t = s[()]
    s += x[0]
    return t + s


def argument(z, x):
    z[...] = z * x[0]
    x[0, ...] *= z
    for i in range(3):
        x[i, ...] += z * i
        z[...] += x[i]
    return z + np.sum(x**2)


EXPECTED = (11.2518, np.array([23.091, 15.11, 6.36]))
program(POINT, LINE, engine="compiled", argnums=(0, 1), expect=EXPECTED, name="argument")(argument)
program(POINT.astype(np.float32), LINE, engine="compiled", argnums=(0, 1), expect=EXPECTED, name="argument_single")(
    argument
)


@program(LINE, engine="compiled", smooth=True)
def complex_one(x):
    s = np.ones((), complex)
    s[...] = x[0] * 3j
    s *= x[1]
    return (s * s).real


@program(LINE, 2, engine="compiled")
def everything_of_one_or_two_axes(x, n):
    w = x if n > 1 else np.tanh(x.reshape(1, -1))
    w[...] = np.sum(x[np.where(x > 0.4)[0]] * 1.7)
    return np.sum(w) + np.sum(x**2)


@program(LINE, 1, engine="compiled", smooth=True)
def sums_without_axes(x, i):
    a = x[i]
    for _ in range(2):
        a /= 1.5
        a = np.einsum("i,j->", x, x) * a
    a *= np.where(x[np.argmin(x)] > 1.1, a, np.outer(x, x)[0, np.argmax(x)])
    return a
