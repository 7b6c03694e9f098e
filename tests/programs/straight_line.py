"""Programs without branches and loops: names, assignments, operators, elementwise functions."""

import math

import numpy as np
import numpy as xnp
from numpy import cos, sin
from numpy.linalg import norm as length

from tests.programs.corpus import program

X = np.linspace(0.3, 1.7, 4)
Y = np.array([1.2, -0.7, 0.4, 2.1])


@program(X, engine="compiled", smooth=True)
def one_line(x):
    return np.sum(np.sin(x) * x)


@program(0.7, engine="compiled", smooth=True)
def python_float(x):
    return x * x - 3 * x + 1 / x


@program(0.7, engine="compiled", smooth=True)
def with_math(x):
    return math.sin(x) * math.exp(-x) + math.log(x) ** 2 + math.sqrt(x) - math.atan2(x, 2.0)


@program(0.7, engine="compiled", smooth=True)
def numpy_on_float(x):
    return np.sin(x) * np.exp(-x) + np.log1p(x)


@program(X, engine="compiled", smooth=True)
def value_used_many_times(x):
    a = np.tanh(x)
    b = a * a + a
    c = b * a - b
    return np.sum(a + b * c + a / (1 + c * c))


@program(X, engine="compiled", smooth=True)
def name_assigned_again(x):
    x = x * 2
    x = np.sin(x) + x
    x = x * x
    return np.sum(x)


@program(X, Y, engine="compiled", argnums=(0, 1))
def names_swapped(x, y):
    x, y = y * 2, x * x
    x, y = y, x
    return np.sum(x * np.cos(y))


@program(X, engine="compiled")
def chained_assignment(x):
    a = b = x * 3
    a = a + 1
    return np.sum(a * b)


@program(1.3, engine="compiled")
def augmented_number(x):
    s = x
    s += x * x
    s *= 3
    s -= x / 2
    s /= x + 1
    s **= 2
    return s


@program(X, Y, engine="compiled", argnums=(0, 1))
def nested_unpacking(x, y):
    (a, b), c = (x * 2, y), x * y
    return np.sum(a * b + c * c)


@program((X, Y, 3.0), engine="compiled")
def starred_unpacking(p):
    first, *rest = p
    return np.sum(first * rest[0]) * rest[1]


@program(X, engine="compiled", smooth=True)
def module_under_another_name(x):
    return xnp.sum(xnp.exp(-x) * x)


@program(X, engine="compiled", smooth=True)
def functions_imported_by_name(x):
    return sin(x) @ cos(x) + length(x)


@program(X, engine="compiled")
def user_takes_generated_names(x):
    dx = np.sin(x)
    saved = dx * x
    t = saved + dx
    g = t * t
    out = g - saved
    dout = out * dx
    tmp = dout * g
    return np.sum(tmp + t)


@program(X, Y, engine="compiled", argnums=(0, 1))
def arguments_with_generated_names(dx, x):
    d_x = dx * x
    ddx = d_x * dx
    return np.sum(ddx + x)


@program(X, engine="compiled")
def helper_names_shadowed(x):
    unbroadcast = np.sum(x)
    over = unbroadcast * x
    times = over / 2
    zeros = times + 1.0
    accumulate = zeros * over
    return np.sum(accumulate)


@program(X, Y, engine="compiled", argnums=(0, 1))
def argument_not_used(x, y):
    return np.sum(x**2)


@program(X, engine="compiled")
def constant_returned(x):
    return 3.5


@program(X, engine="compiled")
def argument_used_for_its_shape_only(x):
    return np.sum(np.ones(x.shape[0])) * len(x)


@program(2.5, engine="compiled")
def argument_returned(x):
    return x


@program(X, X, engine="compiled", argnums=(0, 1))
def same_array_twice(x, y):
    return np.sum(x * y * y)


@program(X, engine="compiled")
def dead_code(x):
    y = np.exp(x)
    z = y * 2
    y = x
    return np.sum(y * x)


@program(X, Y, engine="compiled", argnums=(0, 1), smooth=False)
def division_and_power(x, y):
    return np.sum(x / (y * y + 1) + x**3 + x**y + 2.0**x)


@program(np.array([0.2, -0.4]), engine="compiled", smooth=True)
def inverse_functions(x):
    return np.sum(np.arcsin(x) + np.arccos(x) * np.arctan(x) + np.arctanh(x) + np.arcsinh(x))


@program(X, engine="compiled", smooth=True)
def hyperbolic(x):
    return np.sum(np.sinh(x) / np.cosh(x) + np.arccosh(x + 2) * np.tan(x / 2))


@program(X, engine="compiled", smooth=True)
def logarithms(x):
    return np.sum(np.log2(x) * np.log10(x) + np.log(x) + np.expm1(x) + np.exp2(x))


@program(X, Y, engine="compiled", argnums=(0, 1))
def two_argument_functions(x, y):
    return np.sum(np.arctan2(x, y) + np.hypot(x, y) + np.logaddexp(x, y))


@program(X, engine="compiled")
def floor_and_mod(x):
    return np.sum(np.floor(x * 3) * x + np.mod(x, 0.7) * x + (x * 3) // 1 * x + x % 0.7)


@program(X, engine="compiled")
def rounding_carries_no_derivative(x):
    return np.sum(np.round(x) * x + np.sign(x) * x**2)


@program(X, engine="compiled")
def unary(x):
    return np.sum(-x * +x) + abs(np.sum(-x)) + np.sum(abs(x - 1))


@program(X, engine="compiled", smooth=True)
def operations_without_names(x):
    return (((x - x.mean()) ** 2).sum() / (x.size - 1)) ** 0.5


@program(X, engine="compiled")
def conditional_expression(x):
    y = np.sin(x) if np.sum(x) > 1 else np.cos(x)
    return np.sum(y) if len(x) > 100 else np.sum(y * x)


@program(X, engine="compiled")
def annotated(x: np.ndarray) -> float:
    """Docstring, annotations, pass and assert."""
    y: np.ndarray = x * 2
    pass
    assert y.ndim == 1, "a vector"
    return np.sum(y * x)


@program(X, engine="compiled")
def strings_and_printing(x):
    label = f"{len(x)} entries"
    scale = len(label) + 0.0
    return np.sum(x * x) * scale


@program(X, engine="compiled")
def constants_of_every_kind(x):
    none, yes, text, many = None, True, "text", (1, 2.5, 3j)
    return np.sum(x) * many[1] * yes + (none is None) * x[0]


@program(X, engine="compiled")
def long_sum(x):
    return np.sum(x + x + x + x * x + x * x + x * x * x - x - x * x)


@program(X, engine="compiled")
def walrus(x):
    return np.sum((y := x * x) + y * x)


@program(np.array([0.5, 2.0, 1.5]), engine="compiled", smooth=True)
def functions_of_lists(x):
    parts = [x[0], x[1] * x[2], 2.0]
    return np.sum(np.log(parts)) + np.sum(np.add(parts, [1.0, 2.0, x[0]]) ** 2)


@program(np.array([0.5, 2.0, 1.5, 1.0, 3.0]), engine="compiled", smooth=True)
def running_extrema_and_runs(x):
    drawdown = np.maximum.accumulate(x) - x
    return np.sum(drawdown**2) + np.sum(np.minimum.accumulate(x) * x) + np.prod(np.add.reduceat(x, [0, 2, 1]))
