"""Functions that change what they are given, handed to functions of Python's, NumPy's and SciPy's that call them.

The array is changed after the derivative has read it: it has to be read as it was.
"""

import functools
import itertools
import operator

import numpy as np
from scipy import optimize

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
W = np.array([1.0, 3.0, 2.0])
TABLE = np.ones(3)


def double(v):
    v *= 2.0
    return 1


def doubled(k, v):
    v *= k
    return v


def by_way_of_another(v):
    return sorted([v], key=double)


def filled(v):
    return list(map(v.fill, [2.0]))


def applied(f, vs):
    return list(map(f, vs))


def root_of(f):
    return optimize.brentq(f, -1.0, 2.0)


def counted(t):
    TABLE[0] += 1.0
    return t


def double_and_call_back(v, n):
    if n > 0:
        call_back(v, n - 1)
    v *= 2.0
    return 1


def call_back(v, n):
    return double_and_call_back(v, n)


def maker():
    return double


class Doubling:
    def __init__(self):
        self.times = 2.0

    def __call__(self, v):
        v *= self.times
        return 1

    def once(self, v):
        v *= self.times
        return 1

    @staticmethod
    def twice(v):
        v *= 4.0
        return 1


DOUBLING = Doubling()
APPLIED_TO_NOTHING = functools.partial(double)
FILL = functools.partial(np.copyto, TABLE)


@program(X, W, engine="tape")
def key_of_sorted(x, w):
    y = x * w
    sorted([w], key=double)
    return np.sum(y * y)


@program(X, W, engine="tape")
def key_of_max(x, w):
    y = x * w
    k = max([w, w], key=double)
    return np.sum(y * y) * k[1]


@program(X, W, engine="tape")
def key_by_way_of_another(x, w):
    y = x * w
    sorted([w], key=by_way_of_another)
    return np.sum(y * y)


@program(X, W, engine="tape")
def mapped(x, w):
    y = x * w
    list(map(double, [w]))
    return np.sum(y * y)


@program(X, W, engine="tape")
def filtered(x, w):
    y = x * w
    n = len(list(filter(double, [w])))
    return np.sum(y * y) * n


@program(X, W, engine="tape")
def asked_of_any(x, w):
    y = x * w
    if any(map(double, (w,))):
        y = y * w
    return np.sum(y * y)


@program(X, W, engine="tape")
def asked_of_a_differentiated_array(x, w):
    y = x * 1.0
    z = np.sin(y) * w
    if any(map(double, [y])):
        z = z * y
    return np.sum(z * y)


@program(X, W, engine="tape")
def a_loop_over_a_map(x, w):
    y = x * w
    for n in map(double, [w]):
        y = y * n
    return np.sum(y * y)


@program(X, W, engine="tape")
def unpacked_from_a_map(x, w):
    y = x * w
    (n,) = map(double, [w])
    return np.sum(y * y) * n


@program(X, W, engine="tape")
def a_method_of_an_array(x, w):
    y = x * w
    list(map(w.fill, [2.0]))
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_method_of_an_array_in_a_helper(x, w):
    y = x * w
    list(map(filled, [w]))
    return np.sum(y * y)


@program(X, W, engine="tape")
def an_operator(x, w):
    y = x * w
    list(map(operator.imul, [w], [2.0]))
    return np.sum(y * y)


@program(X, W, engine="tape")
def accumulated(x, w):
    y = x * w
    list(itertools.starmap(doubled, [(2.0, w)]))
    return np.sum(y * y)


@program(X, W, engine="tape")
def along_an_axis(x, w):
    y = x * w
    np.apply_along_axis(double, 0, w)
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_callable_object(x, w):
    y = x * w
    sorted([w], key=DOUBLING)
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_bound_method(x, w):
    y = x * w
    sorted([w], key=DOUBLING.once)
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_static_method(x, w):
    y = x * w
    sorted([w], key=Doubling.twice)
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_method_of_a_new_object(x, w):
    y = x * w
    d = Doubling()
    sorted([w], key=d.once)
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_partial_from_outside(x, w):
    y = x * w
    sorted([w], key=APPLIED_TO_NOTHING)
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_partial_in_a_loop(x, w):
    y = x * w
    for _ in range(2):
        f = functools.partial(doubled, 2.0)
        list(map(f, [w]))
    return np.sum(y * y)


@program(X, W, engine="tape")
def one_of_two(x, w):
    y = x * w
    for _ in range(1):
        f = double if x[0] > 0 else by_way_of_another
        list(map(f, [w]))
    return np.sum(y * y)


@program(X, W, engine="tape")
def from_a_list(x, w):
    y = x * w
    functions = [double]
    sorted([w], key=functions[0])
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_lambda_that_calls_it(x, w):
    y = x * w
    f = lambda v: double(v)  # noqa: E731
    sorted([w], key=f)
    return np.sum(y * y)


@program(X, W, engine="tape")
def two_that_call_each_other(x, w):
    y = x * w
    double_and_call_back(w, 1)
    return np.sum(y * y)


@program(X, W, engine="tape")
def what_a_call_gives(x, w):
    y = x * w
    sorted([w], key=maker())
    return np.sum(y * y)


@program(X, W, engine="tape")
def what_a_call_gives_mapped(x, w):
    y = x * w
    np.apply_along_axis(maker(), 0, w)
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_method_by_its_name(x, w):
    y = x * w
    sorted([w], key=operator.methodcaller("fill", 2.0))
    return np.sum(y * y)


@program(X, W, engine="tape")
def a_method_by_its_name_in_a_helper(x, w):
    y = x * w
    applied(operator.methodcaller("fill", 2.0), [w])
    return np.sum(y * y)


@program(X, W, engine="tape")
def to_a_helper_that_maps(x, w):
    y = x * w
    applied(double, [w])
    return np.sum(y * y)


@program(X, engine="tape")
def a_root_of_what_counts(x):
    TABLE[:] = 1.0
    y = x * TABLE
    r = root_of(counted)
    return np.sum(y * y) + r


@program(X, engine="tape")
def a_partial_of_numpys(x):
    TABLE[:] = 1.0
    y = x * TABLE
    list(map(FILL, [3.0]))
    return np.sum(y * y)


@program(X, engine="tape")
def a_method_of_a_class(x):
    ks = [1.0, 2.0, 3.0]
    y = x * ks[0]
    list(map(list.reverse, [ks]))
    return np.sum(y * y) * ks[0]


@program(X, W, engine="compiled")
def what_changes_nothing(x, w, key=None):
    y = x * w
    names = list(map(str.upper, sorted("ab", key=key)))
    firsts = list(map(operator.itemgetter(0), names))
    y = y * len(names) * len(firsts)
    order = sorted(range(3), key=w.__getitem__)
    n = sum(map(float, w))
    k = max([w, 2 * w], key=np.sum)
    return np.sum(y[order] * k) * n
