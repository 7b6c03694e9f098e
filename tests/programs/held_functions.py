"""Functions that objects, lists and dicts hold: activations of layers, right-hand sides of integrators, tables."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0, 0.7])
W = np.linspace(-1.0, 1.0, 16).reshape(4, 4)


def square(v):
    return v * v


def cube(v):
    return v**3


def softplus(v):
    return np.log1p(np.exp(v))


class Layer:
    def __init__(self, w, b, act=np.tanh):
        self.w = w
        self.b = b
        self.act = act

    def __call__(self, x):
        return self.act(self.w @ x + self.b)


class Scaling:
    def __init__(self, w, act=softplus):
        self.w = w
        self.act = act

    def forward(self, x):
        return self.act(self.w * x)


class Network:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


class Euler:
    def __init__(self, f, dt):
        self.f, self.dt = f, dt

    def step(self, u):
        return u + self.dt * self.f(u)


def advanced(euler, u):
    return euler.f(u) if u[0] > 100 else u + euler.f(u) * euler.dt


class Integrator:
    def __init__(self, rhs, u):
        self.rhs = rhs
        self.u = u
        self.t = 0.0

    def step(self, dt):
        k = self.rhs(self.t, self.u)
        self.u = self.u + dt * self.rhs(self.t + 0.5 * dt, self.u + 0.5 * dt * k)
        self.t += dt


@dataclass
class Dense:
    w: np.ndarray
    act: object = np.tanh
    name: str = "dense"

    def __call__(self, x):
        return self.act(self.w * x)


@dataclass
class Recorder:
    f: object
    seen: list = field(default_factory=list)
    counts: dict = field(default_factory=dict)


class Stage(NamedTuple):
    w: np.ndarray
    act: object


# ------------------------------------------------------------------------------------------------ in objects


@program(X, engine="compiled", smooth=True)
def given_to_an_object(x):
    return np.sum(Layer(W, x, np.sin)(x))


@program(X, engine="compiled", smooth=True)
def defaults_of_parameters(x):
    layer, scaling = Layer(W, x), Scaling(x)
    return np.sum(layer(x)) * np.sum(scaling.forward(x))


@program(X, engine="compiled", smooth=True)
def network_of_unlike_layers(x):
    network = Network([Scaling(x), Scaling(x * 2, np.tanh), Scaling(x, lambda z: z * z)])
    return np.sum(network(x))


@program(X, engine="compiled", smooth=True)
def called_as_it_stands(x):
    layer = Layer(W, x, cube)
    return np.sum(layer.act(layer.b)) * layer.act(x[0])


@program(X, engine="compiled", smooth=True)
def set_later(x):
    layer = Scaling(x)
    y = layer.forward(x)
    layer.act = np.sin
    return np.sum(y * layer.forward(x))


@program(X, engine="tape", smooth=True)
def set_by_a_test(x):
    layer = Scaling(x)
    if x[0] > 0:
        layer.act = cube
    return np.sum(layer.act(x)) * layer.act(x[2])


@program(X, engine="tape", smooth=True)
def set_in_a_loop(x):
    layer = Scaling(x, np.sin)
    s = 0.0
    for i in range(3):
        s += np.sum(layer.forward(x) * i)
        layer.act = cube
    return s


@program(X, engine="compiled", smooth=True)
def right_hand_side_that_is_a_closure(x):
    def rhs(u):
        return -u * x + x[0]

    euler = Euler(rhs, 0.1)
    u = x
    for _ in range(5):
        u = euler.step(u)
    return np.sum(u * u)


@program(X, engine="compiled", smooth=True)
def right_hand_side_that_is_a_lambda(x):
    euler = Euler(lambda u: np.sin(u) * x[1], x[0])
    u = x[2:]
    for _ in range(5):
        u = euler.step(u)
    return np.sum(u)


@program(X, engine="compiled", smooth=True)
def integrator_with_a_state(x):
    k = x[0] * 2
    integrator = Integrator(lambda t, u: -k * u + np.cos(t), x)
    for _ in range(4):
        integrator.step(0.1)
    return np.sum(integrator.u) + integrator.t


@program(X, engine="compiled", smooth=True)
def closure_that_nothing_flows_to(x):
    """A derivative flows through the closure all the same."""
    euler = Euler(lambda u: u * x[1], 0.1)
    return euler.step(2.0) * euler.f(3.0)


@program(X, engine="tape", smooth=True)
def closure_of_a_name_bound_later(x):
    k = 2.0
    euler = Euler(lambda u: u * k, 0.1)
    y = euler.f(x[0])
    k = x[1]
    return y * euler.f(3.0)


@program(X, engine="compiled", smooth=True)
def object_with_a_closure_for_a_nested_function(x):
    def twice(euler, u):
        return euler.step(euler.step(u))

    return np.sum(twice(Euler(lambda u: u * x, 0.5), x))


@program(X, engine="compiled", smooth=True)
def object_with_a_closure_for_another_function(x):
    return np.sum(advanced(Euler(lambda u: u * x, 0.5), x))


@program(X, engine="compiled", smooth=True)
def object_with_a_function_for_another_function(x):
    return np.sum(advanced(Euler(square, 0.5), x))


@program(X, engine="compiled", smooth=True)
def dataclass_with_a_default(x):
    first, second = Dense(x), Dense(x * 2, square)
    return np.sum(second(first(x)))


@program(X, engine="compiled", smooth=True)
def other_function_in_a_copy(x):
    first = Dense(x, np.sin)
    second = replace(first, act=cube)
    return np.sum(second.act(first.act(x)) * second.w)


@program(X, engine="compiled", smooth=True)
def fields_that_are_made_anew(x):
    one, other = Recorder(square), Recorder(np.sin)
    one.seen.append(one.f(x[1]))
    one.seen.append(one.f(x[2]))
    other.counts["n"] = other.f(x[0])
    return sum(one.seen) * other.counts["n"] + len(other.seen) + len(one.counts)


@program(X, engine="compiled", smooth=True)
def in_named_tuples(x):
    stages = Stage(x, np.tanh), Stage(x * 2, square)
    h = x
    for stage in stages:
        h = stage.act(stage.w * h)
    return np.sum(h)


@program(Dense(X, square), X, engine="compiled", argnums=1, smooth=True)
def held_by_an_argument(dense, x):
    return np.sum(dense.act(dense.w * x))


@program([(X, np.tanh), (X * 2, square)], X, engine="compiled", argnums=1, smooth=True)
def pairs_in_an_argument(layers, x):
    for w, act in layers:
        x = act(w * x)
    return np.sum(x)


@program({"act": np.tanh, "scale": 2.0}, X, engine="compiled", argnums=1, smooth=True)
def options_in_an_argument(options, x):
    return np.sum(options["act"](x * options["scale"]))


@program([np.tanh, square], X, engine="tape", argnums=1)
def argument_that_is_changed(functions, x):
    y = functions[0](x)
    functions[0] = functions[1]
    return np.sum(y * functions[0](x))


@program([np.tanh, square], X, engine="tape", argnums=1)
def argument_that_is_changed_in_a_loop(functions, x):
    s = 0.0
    for _ in range(3):
        s += np.sum(functions[0](x))
        functions.reverse()
    return s


# --------------------------------------------------------------------------------------------- in containers


@program(X, engine="compiled", smooth=True)
def run_over(x):
    layers = [np.tanh, square, lambda z: z * z + 1]
    for f in layers:
        x = f(x)
    return np.sum(x)


@program(X, engine="compiled", smooth=True)
def chosen_by_what_a_loop_counts(x):
    functions = [np.tanh, square, lambda z: z * z + 1]
    s = 0.0
    for i in range(5):
        s += np.sum(functions[i % 3](x))
    return s


@program(X, engine="compiled", smooth=True)
def run_over_beside_weights(x):
    h = x
    for w, act in zip([x, x * 2, x[0]], [np.tanh, lambda z: z * z, softplus]):
        h = act(w * h)
    return np.sum(h)


@program(X, engine="compiled", smooth=True)
def pairs_written_where_they_are_run_over(x):
    h = x
    for w, act in [(x, np.tanh), (x * 2, lambda z: z * z)]:
        h = act(w * h)
    return np.sum(h)


@program(X, engine="compiled", smooth=True)
def numbered(x):
    s = 0.0
    for k, f in enumerate([np.sin, square]):
        s += np.sum(f(x)) * (k + 1)
    return s


@program(X, engine="compiled", smooth=True)
def in_pairs(x):
    layers = [(x, np.tanh), (x * 2, square)]
    h = x
    for w, act in layers:
        h = act(w * h)
    return np.sum(h)


@program(X, engine="compiled", smooth=True)
def appended(x):
    functions = []
    functions.append(np.tanh)
    functions.append(square)
    for f in functions:
        x = f(x)
    return np.sum(x)


@program(X, "softplus", engine="compiled", smooth=True)
def table_written_where_it_is_read(x, name):
    return np.sum({"softplus": softplus, "tanh": np.tanh}[name](x))


@program(X, "square", engine="compiled", smooth=True)
def table_of_its_own(x, name):
    table = {"softplus": softplus, "tanh": np.tanh, "square": lambda z: z * z}
    act = table[name]
    return np.sum(act(x)) * table["tanh"](x[0])


@program(X, engine="compiled", smooth=True)
def sum_over_a_table(x):
    table = {"softplus": softplus, "tanh": np.tanh}
    return sum(np.sum(f(x)) * len(name) for name, f in table.items())


@program(X, engine="compiled", smooth=True)
def table_of_closures(x):
    table = {"scale": lambda z: z * x[0], "shift": lambda z: z + x}
    y = table["shift"](x)
    for f in table.values():
        y = f(y)
    return np.sum(y)


@program(X, engine="compiled", smooth=True)
def composed(x):
    def compose(*functions):
        def composition(z):
            for f in functions:
                z = f(z)
            return z

        return composition

    return np.sum(compose(np.tanh, square, softplus)(x))


@program(X, engine="tape", smooth=True)
def changed_under_another_name(x):
    functions = [np.tanh, square]
    others = functions
    others[0] = np.sin
    return np.sum(functions[0](x))


@program(X, engine="tape", smooth=True)
def changed_through_what_holds_it(x):
    functions = [np.tanh, square]
    table = {"functions": functions}
    y = functions[0](x)
    table["functions"][0] = np.sin
    return np.sum(functions[0](x) * y)


@program(X, engine=None)
def changed_through_what_holds_it_in_a_loop(x):
    functions = [np.tanh, square]
    table = [functions]
    s = 0.0
    for _ in range(3):
        s += np.sum(functions[0](x))
        table[0][0] = np.sin
    return s


@program(X, engine=None)
def closures_that_see_the_last_turn(x):
    functions = []
    for k in range(3):
        functions.append(lambda z: z * x[k])
    return sum(f(x[0]) for f in functions)


@program(X, engine=None)
def closure_set_anew_in_each_turn(x):
    euler = Euler(np.sin, 0.1)
    u = x
    for k in range(3):
        u = euler.step(u)
        euler.f = lambda z: z * x[k]
    return np.sum(u)


@program(X, engine=None)
def closure_with_a_default_of_its_turn(x):
    functions = [lambda z, k=k: z * x[k] for k in range(3)]
    return sum(f(x[3]) for f in functions)


@program(X, engine="tape", smooth=True)
def object_with_a_closure_that_is_seen_as_a_whole(x):
    euler = Euler(lambda u: u * x, 0.5)
    return np.sum(euler.step(x)) * (2.0 if isinstance(euler, Euler) else 3.0)


@program(X, engine=None)
def in_a_list_with_a_closure(x):
    euler = Euler(lambda u: u * x[0], 0.1)
    seen = [euler]
    return np.sum(seen[0].f(x)) * seen[-1].step(x[1])


# ---------------------------------------------------------------------------- what they see, and when they change


class Box:
    def __init__(self, f, u=None):
        self.f = f
        self.u = u

    def call(self, v):
        return self.f(v)


@program(X, engine="tape")
def closure_of_a_dict_that_changes(x):
    d = {"b": 2.0}
    box = Box(lambda v: d["b"] * v)
    d["b"] = x[0]
    return box.f(3.0) + box.call(2.0)


@program(X, engine="tape")
def closure_of_an_array_that_changes(x):
    u = np.zeros(3)
    functions = [lambda v: u[0] * v]
    u[0] = x[0]
    return functions[0](2.0)


@program(X, engine="compiled")
def closure_of_a_list_that_changes(x):
    w = [x * 1.0]
    box = Box(lambda v: np.sum(w[0] * v))
    y = box.call(2.0)
    w[0] = w[0] * x
    w[0][1] = 7.0
    return y * box.call(3.0)


@program(X, engine="tape")
def closure_that_counts(x):
    n = 0.0

    def add(v):
        nonlocal n
        n += v * v
        return n

    functions = {"add": add}
    functions["add"](x[0])
    return n + functions["add"](x[1])


@program(X, engine="compiled", smooth=True)
def closure_of_a_function_that_is_another_later(x):
    f = np.sin
    box = Box(lambda v: f(v))
    y = box.call(x[0])
    f = square
    return y * box.call(x[0])


@program(X, engine="compiled", smooth=True)
def closures_with_defaults(x):
    w = 2.0

    def f(v, w=w, c=x[2]):
        return v * w + c

    w = x[1]
    box = Box(f)
    return box.call(x[0]) * w * box.f(2.0, w=x[2])


@program(X, engine="compiled", smooth=True)
def closure_made_in_each_turn(x):
    s = 0.0
    for k in range(3):
        box = Box(lambda v: v * x[k])
        s += box.call(2.0) * x[3]
    return s


@program(X, engine="tape", smooth=True)
def closure_of_the_turn_before(x):
    s, box = 0.0, Box(lambda v: v)
    for k in range(3):
        s += box.call(2.0) * x[3]
        box = Box(lambda v: v * x[k])
    return s


@program(X, engine="compiled", smooth=True)
def taken_out_before_it_changes(x):
    box = Box(np.sin)
    f = box.f
    box.f = square
    return f(x[0]) * box.f(x[1])


@program(X, engine="compiled", smooth=True)
def bound_method_before_it_changes(x):
    box = Box(np.sin)
    call = box.call
    box.f = square
    return call(x[0]) * box.f(x[1])


@program(X, engine="compiled", smooth=True)
def changed_by_a_nested_function(x):
    box = Box(np.sin)

    def change():
        box.f = np.cos

    y = box.call(x[0])
    change()
    return y * box.call(x[0])


@program(X, engine="tape", smooth=True)
def changed_under_another_name_in_a_loop(x):
    box = Box(np.sin)
    other = box
    s = 0.0
    for i in range(3):
        s += box.call(x[i])
        other.f = square
    return s


@program(X, engine="tape", smooth=True)
def exchanged_in_a_loop(x):
    boxes = [Box(np.sin), Box(square)]
    s = 0.0
    for i in range(3):
        for box in boxes:
            s += box.call(x[i])
        boxes[0].f, boxes[1].f = boxes[1].f, boxes[0].f
    return s


@program(X, engine="compiled", smooth=True)
def lists_that_change(x):
    functions, others, rest = [np.sin, square], [np.sin, square], [np.sin, square, np.cos]
    functions.reverse()
    others.append(np.cos)
    others.pop(0)
    del rest[0]
    return functions[0](x[0]) * functions[1](x[1]) + others[1](x[2]) * others[0](x[3]) + rest[0](x[0])


@program(X, engine="tape", smooth=True)
def list_turned_round_in_a_loop(x):
    functions = [np.sin, square]
    s = 0.0
    for v in x:
        s += functions[0](v)
        functions = functions[::-1]
    return s


@program(X, engine="compiled", smooth=True)
def table_that_a_helper_changes(x):
    table = {"f": np.sin}

    def change(t):
        t["f"] = square

    y = table["f"](x[0])
    change(table)
    return y * table["f"](x[0])


@program({"functions": [np.sin, square]}, X, engine="tape", argnums=1)
def list_in_an_argument_that_is_changed(table, x):
    y = table["functions"][0](x[0])
    functions = table["functions"]
    functions[0] = np.cos
    return y * table["functions"][0](x[0])


@program(Box([np.sin, square]), X, engine="tape", argnums=1)
def list_in_an_object_that_is_changed_in_a_loop(box, x):
    s = 0.0
    functions = box.f
    for v in x:
        s += box.f[0](v)
        functions[0] = np.cos
    return s


@program([Box(np.sin), Box(square)], X, engine="compiled", argnums=1)
def objects_in_an_argument_that_are_changed(boxes, x):
    s = 0.0
    for v in x:
        for box in boxes:
            s += box.f(v)
    boxes[0].f = np.cos
    return s * boxes[0].f(x[0])


@program([Box(np.sin), Box(square)], X, engine="tape", argnums=1)
def objects_in_an_argument_that_are_changed_in_a_loop(boxes, x):
    s = 0.0
    for v in x:
        for box in boxes:
            s += box.f(v)
        boxes[0].f = np.cos
    return s


@program(X, engine="tape", smooth=True)
def set_behind_its_back(x):
    box, other = Box(np.sin, x), Box(np.sin, x)
    setattr(box, "f", square)
    vars(other).update(f=cube)
    return np.sum(box.call(x) * other.call(x))


class Counting:
    def __init__(self, f):
        self.f = f
        self.n = 0

    def __call__(self, v):
        self.n += 1
        return self.f(v) * self.n


@program(X, engine="compiled", smooth=True)
def layers_of_constants(x):
    layer, dense, other = Layer(W, np.ones(4), np.tanh), Dense(np.arange(4.0)), Dense(np.arange(4.0), square)
    return np.sum(layer(layer(x)) * dense(x)) + np.sum(other(x))


@program(X, engine="compiled", smooth=True)
def call_that_changes_its_object(x):
    counting = Counting(np.sin)
    y = counting(x)
    return np.sum(counting(x) * y) * counting.n
