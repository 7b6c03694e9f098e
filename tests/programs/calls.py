"""Calls: helpers, closures, recursion, lambdas, factories, keywords, stars, defaults."""

import functools

import numpy as np

from tests.programs import helpers
from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
SCALE = np.array([1.0, 2.0, 3.0])


def square(v):
    return v * v


def weighted(v, weight=2.0, *, shift=0.0):
    return weight * v + shift


def pair(v):
    return np.sin(v), v * 2


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return -x if n == 0 else even(np.sin(x), n - 1)


def norm_of(*parts, scale=1.0):
    total = 0.0
    for part in parts:
        total = total + np.sum(part**2)
    return scale * np.sqrt(total)


@program(X, engine="compiled", smooth=True)
def helper(x):
    return np.sum(square(np.sin(x)) + square(x))


@program(X, engine="compiled", smooth=True)
def helper_of_another_module(x):
    return helpers.softplus(x) + helpers.energy(x, helpers.STIFFNESS)


@program(X, 0.3, engine="compiled", argnums=(0, 1))
def helper_with_keywords(x, s):
    return np.sum(weighted(x, shift=s) * weighted(x, 3.0) + weighted(shift=1.0, v=x, weight=s))


@program(X, engine="compiled")
def helper_returns_a_tuple(x):
    a, b = pair(x)
    return np.sum(a * b) + np.sum(pair(x * 2)[1])


@program(1.1, 5, engine="compiled", smooth=True)
def recursion(x, n):
    return power(x, n) + power(x, 2)


@program(0.7, engine="compiled", smooth=True)
def mutual_recursion(x):
    return even(x, 4) * odd(x, 2)


@program(X, engine="compiled", smooth=True)
def nested_function(x):
    scale = np.sum(x)

    def inner(v):
        return v * scale + x

    return np.sum(inner(x) * inner(x * x))


@program(X, engine="compiled")
def closure_sees_the_last_binding(x):
    a = x

    def inner(v):
        return v * a

    a = x * 3
    return np.sum(inner(x))


@program(X, engine="compiled")
def local_lambda(x):
    twice = lambda v: v + v  # noqa: E731
    return np.sum(twice(x) * x)


@program(X, engine="compiled")
def helper_ignores_an_argument(x):
    def first(a, b):
        return a

    return np.sum(first(x * x, np.exp(x)))


@program(X, engine="compiled")
def helper_called_with_inactive(x):
    return np.sum(square(SCALE) * square(x)) + square(3.0) * square(x[0])


@program(X, 2.0, engine="compiled", argnums=(0, 1))
def starred_call(x, y):
    return norm_of(x, y, scale=2.0) + norm_of(*(x * 2, y)) * norm_of(*[x], **{"scale": y})


@program(X, 2.0, np.ones(2), engine="compiled", argnums=(0, 1, 2), kwargs={"scale": 0.5})
def star_arguments(*parts, scale):
    s = 0.0
    for part in parts:
        s = s + np.sum(part * part)
    return s * scale


@program(X, engine="compiled", kwargs={"a": 2.0, "b": np.ones(3)}, argnums="b")
def keyword_arguments(x, **options):
    return np.sum(x * options["a"] * options["b"] ** 2)


@program(X, engine="compiled")
def default_argument(x, weight=SCALE, power=2):
    return np.sum(weight * x**power)


@program(X, engine="compiled", kwargs={"y": 0.7}, argnums=("x", "y"))
def keyword_only(x, *, y, z=3.0):
    return np.sum(x * y) * y + z


@program(X, 0.7, engine="compiled", argnums="y")
def by_name(x, y):
    return np.sum(np.sin(x * y))


@program(X, 0.7, SCALE, engine="compiled", argnums=(2, 0))
def argnums_out_of_order(x, y, z):
    return np.sum(x * z * z) * y


@program(X, engine="compiled")
def keyword_of_numpy(x):
    return np.sum(a=x * x, axis=0) + np.mean(x, dtype=float, keepdims=False)


def make(scale, function=np.sin):
    def made(x):
        return np.sum(scale * function(x))

    return made


def make_from_lambda(k):
    return lambda x: np.sum(x**k)


program(X, engine="compiled", smooth=True, name="made_by_a_factory")(make(SCALE))
program(X, engine="compiled", smooth=True, name="made_with_another_function")(make(2.0, np.cos))
program(X, engine="compiled", smooth=True, name="made_with_a_helper")(make(2.0, square))
program(X, engine="compiled", smooth=True, name="lambda_of_a_factory")(make_from_lambda(3))

# fmt: off
first, second, third = lambda x: np.sum(x), lambda x: np.sum(x * x), lambda x: np.sum(np.sin(x) * (lambda y: y + x)(x))
# fmt: on
program(X, engine="compiled", name="first_lambda_of_a_line")(first)
program(X, engine="compiled", name="second_lambda_of_a_line", smooth=True)(second)
program(X, engine="compiled", name="lambda_in_a_lambda", smooth=True)(third)
program(X, engine="compiled", name="lambda_over_lines")(
    lambda x: (
        np.sum(x) * np.max(x)  #
        + x[0]
    )
)
program(X, engine="compiled", name="lambda_with_default")(lambda x, k=3: np.sum(x**k))


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2.0 * function(*args, **kwargs)

    return wrapper


@program(X, engine="compiled")
@logged
def wrapped(x):
    return np.sum(x**3)


@program(X, engine="compiled")
def function_as_argument(x):
    def apply(function, v):
        return function(v) + function(2 * v)

    return np.sum(apply(np.sin, x) * apply(square, x))


@program(X, engine="compiled")
def functions_in_a_list(x):
    y = x
    for function in [np.sin, np.exp, square]:
        y = function(y)
    return np.sum(y)


@program(X, engine="compiled")
def argument_rebound_in_helper(x):
    def doubled(v):
        v = v * 2
        return v * v

    y = doubled(x)
    return np.sum(y * x)


@program(X, engine="compiled")
def same_names_in_caller_and_callee(x):
    def inner(y):
        x = y * 3
        z = x * y
        return z

    z = inner(x * 2)
    y = inner(z)
    return np.sum(y * z * x)


@program(X, engine="compiled")
def helper_without_derivative(x):
    def mask(v):
        return v > 0

    return np.sum(mask(x) * x**2)


@program(0.6, engine="compiled")
def loop_calls_branching_helper(x):
    def step(v, k):
        if k % 2:
            return np.sin(v)
        return v * x

    for k in range(4):
        x = step(x, k) + 0.1
    return x


def grid(n, step=0.5):
    found = np.zeros((n, n))
    for i in range(n):
        found[i, i] = step * i
    return found


@program(np.array([0.5, 1.5, 2.0]), engine="compiled", smooth=True)
def a_new_array_of_a_helper(x):
    m = grid(3)
    m[0] = x * x
    m[1:, 1:] *= x[1]
    return np.sum(m @ x)


@program(np.array([0.5, 1.5, 2.0]), engine="compiled", smooth=True)
def a_number_of_a_closure(x):
    k = 2.0
    half = lambda v: v * k / 4
    n = half(3.0)
    n += half(n)
    return np.sum(x * x) * n
