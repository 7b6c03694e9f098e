"""Functions as values: passed, returned, closed over, partially applied, held by lists and objects."""

import functools

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])


def square(v):
    return v * v


def power(v, n):
    return v**n


def apply2(g, v, *rest):
    return g(v, *rest)


def make(n):
    def inner(v):
        return v**n

    return inner


def compose(f, g):
    return lambda v: f(g(v))


def scaled(f, k=2.0):
    s = k * k

    def inner(v, *, t=1.0):
        return f(v) * s * t

    return inner


def counter(n):
    def rec(v):
        return v if v[0] > 100 else rec(v * n)

    return rec


def two(n):
    def a(v):
        return v * n

    def b(v):
        return a(v) + 1

    return b


@program(X, engine="compiled")
def function_and_partial_as_arguments(x):
    return np.sum(apply2(square, x) + apply2(power, x, 3) + apply2(functools.partial(power, n=2), x))


@program(X, engine="compiled")
def closures_of_one_maker(x):
    f = make(2)
    g = make(3)
    return np.sum(f(x) + g(x))


@program(X, engine="compiled")
def composition(x):
    return np.sum(compose(np.sin, square)(x) + compose(compose(square, np.cos), make(2))(x))


@program(X, engine="compiled")
def maker_inside_closes_over_a_derivative(x):
    s = np.sum(x)

    def mk(k):
        def h(v):
            return v * s * k

        return h

    return np.sum(mk(2.0)(x) + mk(s)(x))


@program(X, engine="compiled")
def closure_of_a_closure(x):
    f = scaled(square)
    g = scaled(f, k=np.sum(x))
    return np.sum(f(x) + g(x, t=x[0]))


@program(X, engine="compiled")
def closure_that_calls_itself(x):
    return np.sum(counter(3.0)(x))


@program(X, engine="compiled")
def closure_that_calls_another(x):
    return np.sum(two(3.0)(x) * two(x[0])(x))


@program(X, engine="compiled")
def partial_of_partial(x):
    f = functools.partial(power, x)
    g = functools.partial(functools.partial(power, n=3), x)
    return np.sum(f(2)) + np.sum(g())


@program(X, engine="compiled")
def partial_of_ufunc(x):
    f = functools.partial(np.multiply, x)
    return np.sum(f(x))


@program(X, engine="tape")
def maker_sees_a_later_value(x):
    k = 1.0

    def mk():
        def h(v):
            return v * k

        return h

    f = mk()
    k = x[0]
    g = mk()
    return np.sum(f(x) + g(x))


@program(X, engine="compiled")
def closures_made_in_a_loop(x):
    fs = []
    total = 0.0
    for n in range(3):
        f = make(n)
        total = total + np.sum(f(x))
    return total


@program(X, engine="tape")
def function_that_depends_on_a_test(x):
    f = make(2)
    if x[0] > 0:
        f = make(3)
    return np.sum(f(x))


@program(X, engine="tape")
def maker_called_at_once(x):
    y = x * 1.0
    f = (lambda a: lambda v: np.sum(a * v))(y)
    y[0] = 3.0
    return f(x)


@program(X, engine="tape")
def partial_of_an_array_that_is_changed(x):
    y = x * 1.0
    f = functools.partial(np.dot, y)
    y[0] = 3.0 * x[1]
    return f(x)


@program(X, engine="tape")
def closure_over_an_array_that_is_changed(x):
    def mk(a):
        def h(v):
            return np.sum(a * v)

        return h

    y = x * 1.0
    f = mk(y)
    y[0] = 3.0 * x[1]
    return f(x)


@program(X, engine="compiled")
def map_of_a_closure(x):
    return sum(map(make(2), x))


@program(X, engine="compiled")
def map_of_a_partial(x):
    return sum(map(functools.partial(power, n=3), x))


@program(X, engine="compiled")
def name_is_assigned_again_in_the_maker(x):
    def mk(k):
        k = k * 2

        def h(v):
            return v * k

        k = k * 3
        return h

    return np.sum(mk(x[0])(x))


@program(X, engine="compiled")
def keywords_for_maker_and_closure(x):
    f = make(n=2)
    return np.sum(f(v=x))


@program(X, engine="compiled")
def lambda_of_lambda(x):
    add = lambda a: lambda b: a + b
    return np.sum(add(x)(x * x))


@program(X, engine="tape")
def reduce_of_functions(x):
    return functools.reduce(lambda f, g: compose(f, g), [np.sin, square])(x)[0]


def layer(w):
    return lambda v: np.tanh(v * w)


@program(X, engine="tape")
def closures_in_a_list(x):
    for l in [layer(2.0), layer(x[0]), square]:
        x = l(x)
    return np.sum(x)


@program(X, engine="compiled")
def partial_of_a_nested_function(x):
    def f(v, n):
        return v * n

    h = functools.partial(f, n=x[0])
    return np.sum(h(x)) + np.sum(apply2(h, x))


@program(X, engine="tape")
def closure_in_a_closure_sees_a_later_value(x):
    k = 1.0

    def mk():
        def h(v):
            def inner(u):
                return u * k

            return inner(v)

        return h

    f = mk()
    k = x[0]
    return np.sum(f(x))


@program(X, engine="compiled")
def maker_without_arguments(x):
    k = x[0]

    def mk():
        def h(v):
            return v * k

        return h

    f = mk()
    return np.sum(f(x)) * np.sum(mk()(x))


@program(X, engine="tape")
def nonlocal_in_a_closure(x):
    def mk():
        n = 0.0

        def h(v):
            nonlocal n
            n = n + v[0]
            return n

        return h

    f = mk()
    return f(x) * f(x)


@program(X, engine="tape")
def list_of_lambdas(x):
    fs = [lambda v, k=k: v * k for k in range(3)]
    return np.sum(fs[0](x) + fs[2](x))


@program(X, engine="compiled")
def lambda_in_a_loop(x):
    total = 0.0
    for k in range(3):
        f = lambda v: v * k
        total = total + np.sum(f(x))
    return total


@program(X, engine="compiled")
def maker_computes(x):
    def mk(v):
        y = v * v

        def h(u):
            return np.sum(y * u)

        return h

    f = mk(x)
    return f(x) + f(2 * x)


@program(X, engine="compiled")
def maker_writes(x):
    def mk(v):
        v[0] = 3.0

        def h(u):
            return np.sum(v * u)

        return h

    y = x * 1.0
    f = mk(y)
    return f(x) + np.sum(y)


class Lin:
    def __init__(self, w):
        self.w = w

    def __call__(self, v):
        return self.w * v


class Net:
    def __init__(self):
        self.layers = [Lin(2.0), np.tanh, Lin(3.0)]
        self.act = {"a": np.sin}

    def __call__(self, v):
        for l in self.layers:
            v = l(v)
        return v

    def fwd(self, v):
        for i, l in enumerate(self.layers):
            v = l(v) * i
        return v


LAYERS = [Lin(2.5), square, np.tanh]
OPS = {"a": np.sin, "b": square}
NET = Net()


@program(X, engine="compiled")
def loop_over_a_global_list_of_functions(x):
    for layer in LAYERS:
        x = layer(x)
    return np.sum(x)


@program(X, engine="compiled")
def functions_of_global_containers(x):
    return np.sum(OPS["a"](x) + OPS["b"](x) + LAYERS[0](x) + LAYERS[-1](x))


@program(X, engine="compiled")
def object_with_layers(x):
    return np.sum(NET(x)) + np.sum(NET.act["a"](x))


@program(X, engine="tape")
def enumerate_layers(x):
    return np.sum(NET.fwd(x))


@program(X, engine="compiled")
def pairs_with_functions(x):
    for w, f in [(1.0, np.sin), (2.0, square)]:
        x = w * f(x)
    return np.sum(x)


@program(X, engine="compiled")
def reduce_over_global_functions(x):
    return np.sum(functools.reduce(lambda v, f: f(v), LAYERS, x))


@program(X, square, engine="compiled")
def function_is_an_argument(x, f):
    return np.sum(f(x) * f(2 * x))


@program(X, np.sin, engine="compiled")
def ufunc_is_an_argument(x, f):
    return np.sum(f(x))


@program(X, make(2), engine="tape")
def closure_is_an_argument(x, f):
    return np.sum(f(x))


TABLE = {"a": np.sin, "b": np.cos}


@program(X, engine="compiled", smooth=True)
def loops_over_lists_of_functions(x):
    acts = [np.tanh, np.sin]
    weights = [x, x * 2]
    h = x
    for act in acts:
        h = act(h) * x
    for w, act in zip(weights, acts, strict=True):
        h = act(h * w)
    return np.sum(h * acts[-1](x))


@program(X, engine="compiled", smooth=True)
def loops_over_tables_of_functions(x):
    s = 0.0
    for name, f in TABLE.items():
        s = s + np.sum(f(x)) * len(name)
    for name in TABLE:
        s = s * np.sum(TABLE[name](x))
    return s


@program(X, engine="tape", smooth=True)
def list_of_functions_that_changes(x):
    acts = [np.tanh, np.sin]
    others = acts
    others[0] = np.cos
    h = x
    for act in acts:
        h = act(h) * x
    return np.sum(h)
