"""Tuples, lists, dicts, named tuples, dataclasses: as arguments and built on the way."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
Y = np.array([1.5, 0.25])
Layer = namedtuple("Layer", "weight bias")


@program((X, Y), engine="compiled")
def tuple_argument(p):
    a, b = p
    return np.sum(a * a) * np.sum(b)


@program([X, 0.5, [Y, Y * 2]], engine="compiled")
def nested_list_argument(p):
    return np.sum(p[0]) * p[1] + np.sum(p[2][0] * p[2][1])


@program({"w": X, "b": 0.5, "unused": Y}, engine="compiled")
def dict_argument(p):
    return np.sum(np.tanh(p["w"] * 2 + p["b"]))


@program({"outer": {"w": X, "list": [0.5, Y]}, "b": 2.0}, engine="compiled")
def nested_dict_argument(p):
    q = p["outer"]
    return np.sum(q["w"]) * p["b"] + q["list"][0] * np.sum(q["list"][1] ** 2)


@program(Layer(np.outer(X, X), X), engine="compiled")
def named_tuple_argument(layer):
    return np.sum((layer.weight @ X + layer.bias) ** 2) * layer[1][0]


@program((), X, engine="compiled", argnums=(0, 1))
def empty_tuple_argument(p, x):
    return np.sum(x * x) + len(p)


@program([X], X, engine="compiled", argnums=(0, 1))
def pytree_and_array(p, x):
    return np.sum(p[0] * x)


@program([(X, Y), (X + 1, Y + 1)], engine="compiled")
def list_of_pairs(p):
    s = 0.0
    for a, b in p:
        s = s * np.sum(a) + np.sum(b**2)
    return s


@program([X, X * 3], engine="compiled")
def list_indexed_in_a_loop(p):
    s = 0.0
    for i in range(len(p)):
        s = s + np.sum(p[i] * p[-1])
    return s


@program([X, X + 1, X + 2, X + 3], engine="compiled")
def list_sliced(p):
    head, tail = p[:2], p[::-2]
    return np.sum(head[0] * tail[0]) + np.sum(head[1] * tail[1]) + len(head)


@program(X, engine="compiled")
def tuple_built(x):
    pair = (x * 2, np.sin(x))
    return np.sum(pair[0] * pair[1])


@program(X, engine="compiled")
def list_built(x):
    parts = [x, x * x, 3.0]
    other = [parts[1], parts[0]]
    return np.sum(parts[0] * other[0]) * parts[2]


@program(X, engine="compiled")
def lists_added(x):
    parts = [x[0], x[1]] + [x[2] * 2]
    return np.sum(np.stack(parts) ** 2)


@program(X, engine="compiled")
def array_of_entries(x):
    return np.sum(np.array([x[0] * x[1], x[2], 1.0]) ** 2)


@program(X, engine="compiled")
def matrix_of_entries(x):
    m = np.array([[x[0], -x[1]], [x[1], x[2] * 2]])
    return np.sum(m @ m)


@program(0.4, engine="compiled", smooth=True)
def rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return (np.array([[c, -s], [s, c]]) @ Y) @ np.array([1.0, 2.0]) ** 2


@program(X, engine="compiled")
def dict_built(x):
    d = {"a": x * 2, "b": x[0]}
    return np.sum(d["a"] * d["b"])


@program(X, engine="compiled")
def list_appended(x):
    parts = []
    for i in range(3):
        parts.append(x[i] ** (i + 1))
    return np.sum(np.array(parts))


@program(X, engine="compiled")
def comprehension(x):
    return sum([v * v for v in x])


@program(X, engine="compiled")
def generator(x):
    return sum(i * v for i, v in enumerate(x) if i != 1)


@program(X, engine="compiled")
def dict_changed(x):
    state = {"s": 0.0}
    for v in x:
        state["s"] = state["s"] * v + v
    return state["s"]


@program([X, Y], engine="compiled")
def list_argument_copied_and_changed(p):
    q = list(p)
    q[0] = q[0] * 2
    q.append(q[0] * p[0])
    return np.sum(q[0]) + np.sum(q[2]) + np.sum(q[1])


@program(X, engine="compiled")
def list_popped(x):
    stack = [x, x * 2]
    top = stack.pop()
    return np.sum(top * stack[-1])


@program(X, engine="tape")
def dataclass_built(x):
    @dataclass
    class State:
        position: object
        speed: object

    state = State(x, x * 2)
    state.position = state.position + 0.1 * state.speed
    return np.sum(state.position**2)


@program((X, X), engine="compiled")
def same_leaf_twice(p):
    return np.sum(p[0] * p[1] * p[1])


@program(X, engine="compiled")
def result_of_a_tuple_is_not_used(x):
    a, b, c = x, np.exp(x), x * 2
    return np.sum(c)


@program(X, engine="compiled", smooth=True)
def list_methods(x):
    out = []
    out.append(x[0] * 2)
    out.append(x[1] ** 2)
    out.insert(0, x[2])
    out[1] = out[1] * out[0]
    top = out.pop()
    out.extend([top * 3, 1.0])
    return np.sum(np.array(out) ** 2) * out[-2]


@program(X, engine="compiled", smooth=True)
def states_collected(x):
    states = [x]
    s = x
    for _ in range(4):
        s = np.sin(s) * x
        states.append(s)
    a = np.stack(states)
    return np.sum(a[1:] * a[:-1]) + np.sum(states[-1])


@program(X, engine="compiled", smooth=True)
def comprehensions(x):
    table = np.array([[x[i] * x[j] for j in range(2)] for i in range(3)])
    return np.sum(table**2) + np.sum(np.concatenate([x * k for k in range(3) if k != 1]) ** 3)


@program(X, engine="compiled", smooth=True)
def comprehension_hides_a_name(x):
    i = x[0] * 3
    squares = [i * i for i in x]
    return sum(squares) * i


@program(X, engine="compiled", smooth=True)
def appended_under_a_condition(x):
    out = [x[0]]
    for i in range(3):
        if x[i] > 0:
            out.append(x[i] * out[-1])
    return np.sum(np.array(out)) + len(out)


@program(X, engine="compiled", smooth=True)
def collected_by_a_while(x):
    h = []
    t = x[0]
    while abs(t) > 0.01:
        t = t * 0.5 * x[1]
        h.append(t)
        if len(h) > 20:
            break
    s = 0.0
    for v in h:
        s = s * v + v
    return s + h[0] * h[-1]


@program(X, engine="compiled", smooth=True)
def two_lists_at_once(x):
    pos, vel = [0.0], [x[0]]
    for _ in range(4):
        vel.append(vel[-1] - 0.1 * pos[-1] * x[1])
        pos.append(pos[-1] + 0.1 * vel[-1])
    return pos[-1] ** 2 + np.sum(np.array(vel)) * x[2]


@program(X, engine="tape")
def list_under_two_names(x):
    a = []
    b = a
    a.append(x[0])
    b.append(x[1] ** 2)
    return a[1] * b[0]


@program(X, engine="tape")
def list_changed_while_iterated(x):
    queue = [x[0]]
    for v in queue:
        if len(queue) < 4:
            queue.append(v * x[1])
    return queue[-1]


@program(X, engine="tape")
def appended_array_changed_afterwards(x):
    u = x * 1.0
    seen = []
    for i in range(3):
        seen.append(u)
        u[i] = u[i] * 2
    return np.sum(seen[0] * x) + np.sum(seen[1] ** 2)


@program(X, engine="tape")
def list_changed_by_a_helper(x):
    def push(items, v):
        items.append(v)

    out = []
    for v in x:
        push(out, v * v)
    return out[0] * out[2]


@program(X, engine="compiled")
def largest_of_numbers(x):
    return max(0.0, x[0]) * 2 + min(x[1], x[2], 1) * x[0] + max(x[0] * 2, x[1]) ** 2


@program((0.5, 2.0), engine="compiled")
def sum_of_python_numbers(p):
    return sum(p) ** 2 + sum([v * v for v in p]) * sum(v for v in p)


@program(X, engine="compiled", smooth=True)
def python_numbers(x):
    return x[0].item() * x[1] + float(x[2]) ** 2


@program(X, engine="compiled", smooth=True)
def dict_filled_and_changed(x):
    p = {}
    p["w"] = x * 2
    p["b"] = np.sum(p["w"])
    for k in range(3):
        if k == 1:
            p["w"] = p["w"] * p["b"]
        p["b"] += np.sum(p["w"]) * 0.1
    return p["b"]


@program(X, engine="compiled", smooth=True)
def elements_augmented(x):
    xs = [0.0, x[0]]
    xs[0] += x[1]
    for _ in range(2):
        xs[1] *= x[2]
        xs[-2] += xs[1]
    return xs[0] * xs[1]


@program(X, engine="compiled")
def dict_under_two_names(x):
    c = {"n": x}
    d = c
    c["n"] = x * 2
    return np.sum(d["n"] * x)


@program(X, engine="compiled")
def array_in_a_dict_changed(x):
    c = {"n": x * 1.0}
    c["n"] += 1
    c["n"][0] = 3.0
    return np.sum(c["n"] ** 2)


def filled(q):
    q.append(2.0)


@program(X, 3, engine="tape")
def list_of_constants_filled_in_a_loop(x, n):
    xs = []
    for _ in range(n):
        xs.append(1.5)
    ys = xs
    ys.append(0.5)
    filled(xs)
    xs = xs + [x[0]]
    return sum(xs) * sum(ys + [x[1]])


@program(X, 3, engine="tape")
def dict_of_constants_filled_in_a_branch(x, n):
    d = {}
    if n > 2:
        d["a"] = 2.5
    d = {**d, "b": x[0]}
    return sum(d.values())


@program(X, 3, engine="compiled")
def table_of_constants_is_only_read(x, n):
    xs = [1.0, 2.0]
    a, b, c = xs + [x[0]]
    return a * b * c * sum(xs)


class Holder:
    pass


@program(X, 3, engine="tape")
def list_changed_under_another_name(x, n):
    h, k, m = [1.0], [1.0], [1.0]
    holder = Holder()
    holder.h = h
    holder.h.append(2.0)
    (k if n > 2 else []).append(3.0)
    max([m, [0.0]]).append(4.0)
    return sum(h + [x[0]]) * sum(k + [x[1]]) * sum(m + [x[2]])


@program(X, 3, engine="tape")
def list_of_an_object_filled_in_a_loop(x, n):
    holder = Holder()
    holder.h = []
    for _ in range(n):
        holder.h.append(1.0)
    holder.h = holder.h + [x[0]]
    return sum(holder.h) * x[1]


@program(np.array([0.5, 1.5, 0.7]), 0.4, engine="compiled", argnums=(0, 1))
def largest_of_a_list_that_no_derivative_flows_through(x, k):
    bounds = [0.3 + float(i) for i in range(len(x))]
    y = x * 1.0
    y[0] *= max(bounds)
    y[1] *= min(bounds) * k
    return np.sum(y)


@program(X, engine="tape", smooth=True)
def taken_out_in_a_comprehension(x):
    xs = [x[0], x[1], x[2]]
    xs[1] = x[2] * xs[0]
    ys = [xs.pop() * len(xs) for _ in range(2)]
    return ys[0] * ys[1] * xs[0]
