"""Arrays in containers and records that the function makes, and what becomes of both."""

from dataclasses import dataclass

import numpy as np

from tests.programs.corpus import program

X = np.array([1.0, 2.0, 3.0])
LINE = np.linspace(0.5, 1.7, 6)


@dataclass
class State:
    t: float
    u: object
    n: int = 0


@program(LINE, engine="compiled", smooth=True)
def array_in_a_list_changed(x):
    box = [x * 1.0]
    box[0][1] = 7.0
    return np.sum(box[0] ** 2)


@program(LINE, engine="compiled", smooth=True)
def dict_held(x):
    d = {"a": x * 1.0}
    v = d["a"]
    v[0] = x[1] * x[2]
    return np.sum(d["a"] * x)


@program(LINE, engine="compiled", smooth=True)
def tuple_held(x):
    u = x * 1.0
    p = (u, x)
    u[0] = u[1] * u[2]
    return np.sum(p[0] * p[1])


@program(LINE, engine="compiled", smooth=True)
def lists_of_arrays(x):
    xs = [x * 1.0, x * 2.0]
    for a in xs:
        a[0] = a[1] * 3.0
    return np.sum(xs[0] * xs[1])


@program(X, engine="compiled", smooth=True)
def box_work(x):
    box = {"a": np.zeros(3), "k": 2.0}
    box["a"][:] = x * box["k"]
    box["a"][0] *= x[1]
    box["k"] *= x[2]
    return np.sum(box["a"] ** 2) * box["k"]


@program(X, engine="compiled", smooth=True)
def stepping(x):
    state = [x * 1.0, np.zeros(3)]
    for i in range(4):
        state[0] += 0.1 * state[1]
        state[1] -= 0.1 * state[0] * x[0]
    return np.sum(state[0] * state[1])


@program(LINE, engine="compiled", smooth=True)
def records(x):
    s = State(0.0, x * 1.0)
    for i in range(3):
        s.u[1:] += s.u[:-1] * s.t
        s.t += 0.1 * x[0]
        s.n += 1
    return np.sum(s.u**2) * s.t * s.n


@program(LINE, engine="compiled", smooth=True)
def records_branch(x):
    s = State(0.0, x * 1.0)
    r = s
    if x[0] > 0.2:
        s.u[0] = x[1] * 2
        s.t = x[2]
    else:
        s.t = s.t + 1
    r.u = r.u * s.t
    return np.sum(s.u**2) * r.t


@program(LINE, engine="compiled")
def arr_of_caller(x):
    box = [x]
    box[0][1] = 7.0 * x[0]
    return np.sum(box[0] ** 2)


@program(LINE, engine="compiled", smooth=True)
def shared_array(x):
    u = x * 1.0
    a = [u, u]
    a[0][0] = x[1] * 3
    a[1][1] *= x[0]
    d = {"q": a[0], "r": a}
    d["r"][1][2] = d["q"][0] ** 2
    return np.sum(u * a[0]) + np.sum(d["q"])


@program(LINE, engine="compiled", smooth=True)
def nested(x):
    net = {"l1": {"w": x * 1.0, "b": 0.0}, "l2": [x * 2, x[0]]}
    for k in range(3):
        net["l1"]["w"] -= 0.1 * net["l2"][0] * net["l1"]["b"]
        net["l1"]["b"] += np.sum(net["l1"]["w"])
        net["l2"][1] = net["l2"][1] * 0.5
    return np.sum(net["l1"]["w"]) * net["l2"][1] + net["l1"]["b"]


@program(LINE, engine="compiled", smooth=True)
def swapped(x):
    b = [x * 1.0, x * 2.0]
    for i in range(3):
        b[0], b[1] = (b[1], b[0])
        b[0][i] = b[1][i] * x[0]
    return np.sum(b[0] * b[0] * x)


@program(LINE, engine="compiled", smooth=True)
def replaced(x):
    d = {"u": x * 1.0}
    for i in range(3):
        old = d["u"]
        d["u"] = old * x[i]
        old[0] = 5.0
        d["u"][1] += old[1]
    return np.sum(d["u"]) + np.sum(old)


@program(LINE, engine="compiled", smooth=True)
def zero_trips(x):
    d = {"u": x * 1.0, "s": 0.0}
    for i in range(0):
        d["u"][0] = 3.0 * x[1]
        d["s"] += x[0]
    return np.sum(d["u"] * x) + d["s"]


@program(LINE, engine="compiled", smooth=True)
def whiled(x):
    s = {"t": 0.0, "u": x * 1.0}
    while s["t"] < 1.0:
        s["u"] *= 1.1
        s["t"] += 0.31 * x[0]
        if s["t"] > 0.77:
            break
    return np.sum(s["u"]) + s["t"]


@program(LINE, engine="compiled", smooth=True)
def early(x):
    s = State(x[0], x * 1.0)
    for i in range(5):
        s.u[i] = s.u[i] * s.t
        if s.u[i] > 1.0:
            s.t = 0.5
            return np.sum(s.u) * s.t
        s.t += s.u[i]
    return s.t


def helper(s, x):
    s["u"][0] = x[1] ** 2
    s["n"] = s["n"] + x[0]


@program(LINE, engine="compiled", smooth=True)
def helped(x):
    s = {"u": x * 1.0, "n": 0.0}
    for i in range(2):
        helper(s, x)
    return np.sum(s["u"]) * s["n"]


@program(LINE, engine="compiled", smooth=True)
def stacked(x):
    rows = [x * 1.0, x * 2.0, x * 3.0]
    rows[1][0] = x[2] ** 2
    a = np.stack(rows)
    rows[0][:] = 0.0
    return np.sum(a * a) + np.sum(np.array(rows))


@program(LINE, engine="compiled", smooth=True)
def returned(x):
    d = {"a": x * 1.0}
    d["a"][0] = x[1] * x[1]
    e = d
    e["b"] = e["a"] * 2
    return np.sum(d["b"])


@program(LINE, engine="compiled", smooth=True)
def unpacked(x):
    p = [x * 1.0, x * 2.0]
    a, b = p
    a[0] = b[1] * 3
    p[1][2] = a[0]
    return np.sum(a * b)


@program(X, engine="compiled", smooth=True)
def inact(x):
    w = {"k": np.ones(3), "c": 0}
    for i in range(3):
        w["k"][i] = i + 1.0
        w["c"] += 1
    return np.sum(w["k"] * x) * w["c"]


@program(LINE, engine="compiled", smooth=True)
def cont(x):
    s = {"u": x * 1.0, "c": 0.0}
    for i in range(6):
        if x[i] > 1.2:
            continue
        s["u"][i] *= x[0]
        s["c"] += s["u"][i]
    return np.sum(s["u"]) * s["c"]


@program(LINE, engine="compiled", smooth=True)
def errst(x):
    s = {"u": x * 1.0, "c": 0.0}
    with np.errstate(all="ignore"):
        s["u"][0] = x[1] / x[2]
        s["c"] = x[0]
    return np.sum(s["u"]) * s["c"]


def get(d):
    return d["u"]


@program(LINE, engine="tape")
def got(x):
    d = {"u": x * 1.0}
    v = get(d)
    v[0] = x[1] * 2
    return np.sum(d["u"] * x)


@program(LINE, engine="tape")
def doubled(x):
    d = [x * 1.0]
    e = d * 2
    e[0][0] = x[2] ** 2
    return np.sum(d[0] * e[1])


@program(LINE, engine="tape")
def added(x):
    d = [x * 1.0]
    e = d + d
    e[0][0] = x[2] ** 2
    return np.sum(d[0] * e[1])


@program(LINE, engine="compiled", smooth=True)
def copied(x):
    d = {"u": x * 1.0}
    e = d.copy()
    e["u"][0] = x[2] ** 2
    e["u"] = x
    return np.sum(d["u"] * e["u"])


@program(LINE, engine="compiled", smooth=True)
def closed(x):
    d = {"u": x * 1.0, "t": 0.0}

    def inner(i):
        d["u"][i] = d["u"][i + 1] ** 2
        d["t"] = d["t"] + x[i]

    for i in range(3):
        inner(i)
    inner(1)
    return np.sum(d["u"] * x) * d["t"]


@program(LINE, engine="tape")
def cond(x):
    d = {"u": x * 1.0, "v": x * 2.0}
    c = d["u"] if x[0] > 0.1 else d["v"]
    c[0] = x[1] ** 2
    return np.sum(d["u"] * d["v"])


@program(LINE, engine="compiled")
def lambdas(x):
    d = {"u": x * 1.0}
    f = lambda: np.sum(d["u"] ** 2)
    a = f()
    d["u"][0] = a
    d["u"] = d["u"] * 2
    return f()


@program(LINE, engine="compiled", smooth=True)
def outer(x):
    box = {"in": {"u": x * 1.0}}
    inn = box["in"]
    inn["u"][0] = x[1] * 3
    inn["w"] = x[2]
    box["in"]["u"] = box["in"]["u"] * inn["w"]
    return np.sum(inn["u"]) + box["in"]["w"]


@program(LINE, engine="compiled", smooth=True)
def replaced_inner(x):
    box = {"in": [x * 1.0]}
    old = box["in"]
    box["in"] = [x * 2.0]
    old[0][0] = 5.0 * x[1]
    box["in"][0][1] = x[3]
    return np.sum(old[0] * box["in"][0])


@program(LINE, engine="compiled", smooth=True)
def alias_in_loop(x):
    d = {"u": x * 1.0, "c": x[0]}
    e = d
    for i in range(3):
        e["u"][i] *= d["c"]
        d["c"] = d["c"] * e["u"][i]
        if i == 1:
            e["c"] = x[4]
    return np.sum(d["u"]) * e["c"]


@program(LINE, engine="compiled", smooth=True)
def rebound_in_loop(x):
    d = {"u": x * 1.0}
    for i in range(3):
        d = {"u": d["u"] * x[i]}
        d["u"][i] = 2.0
    return np.sum(d["u"])


@program(LINE, engine="compiled", smooth=True)
def made_in_loop(x):
    s = 0.0
    for i in range(3):
        d = {"u": x * 1.0, "k": 0.0}
        d["u"][i] = x[i + 1] ** 2
        d["k"] += d["u"][i]
        s += np.sum(d["u"]) * d["k"]
    return s + d["k"]


@program(LINE, engine="tape")
def made_in_branch(x):
    if x[0] > 0.2:
        d = {"u": x * 1.0}
        d["u"][0] = x[1] * x[2]
    else:
        d = {"u": x * 2.0}
    d["u"][1] *= 2
    return np.sum(d["u"] * x)


@program(LINE, engine="compiled", smooth=True)
def swapped_buffers(x):
    s = {"new": np.zeros(6), "old": x * 1.0}
    for t in range(4):
        s["new"][1:-1] = s["old"][1:-1] + 0.1 * (s["old"][2:] - s["old"][:-2]) * x[0]
        s["new"], s["old"] = (s["old"], s["new"])
    return np.sum(s["old"] ** 2) + np.sum(s["new"])


@program(LINE, engine="compiled", smooth=True)
def same_number_twice(x):
    k = x[0] * 1.0
    d = {"a": k, "b": k}
    for i in range(3):
        d["a"] = d["a"] * 2
        d["b"] = d["b"] + x[i]
    return d["a"] * d["b"]


@program(LINE, engine="compiled", smooth=True)
def same_constant_twice(x):
    d = [0.0, 0.0]
    for i in range(3):
        d[0] += x[i]
        d[1] += d[0] * x[i]
    return d[0] * d[1]


@program(LINE, engine="compiled", smooth=True)
def two_records(x):
    a = State(x[0], x * 1.0)
    b = State(x[1], a.u)
    for i in range(2):
        b.u[i] = a.u[i + 1] * b.t
        a.t, b.t = (b.t, a.t)
    return np.sum(a.u) * a.t + b.t**2


def rec_arg(s, x):
    s.u[0] = x[0] * s.u[1]
    s.t = s.t * x[1]
    return s.t


@program(LINE, engine="compiled", smooth=True)
def rec_helper(x):
    s = State(x[2], x * 1.0)
    a = rec_arg(s, x)
    b = rec_arg(s, x)
    return a * b * np.sum(s.u)


@program(LINE, engine="compiled", smooth=True)
def listed(x):
    d = {"u": x * 1.0, "l": [x * 2.0, x * 3.0]}
    for w in d["l"]:
        w[0] = d["u"][1]
    d["l"][0] += d["l"][1]
    return np.sum(d["l"][0] * d["l"][1])


@program(LINE, engine="compiled", smooth=True)
def printed(x):
    d = {"u": x * 1.0, "k": 1}
    d["u"][0] = x[1] * 2
    msg = f"{d['u'][0]} {d['k']} {d}"
    return np.sum(d["u"]) * len(msg) / len(msg)


@program(LINE, engine="tape")
def ret_tuple(x):
    u = x * 1.0

    def both():
        return (u, x * 2.0)

    a, b = both()
    a[0] = x[1] * x[1]
    return np.sum(u * b)


@program(LINE, engine="compiled", smooth=True)
def noncontainer(x):
    d = {"u": x * 1.0}
    d["u"] = np.sum(d["u"])
    d["u"] *= 2
    return d["u"]


@program(LINE, engine="compiled", smooth=True)
def tupleaug(x):
    p = (x * 1.0, 2)
    p[0][0] = x[1]
    q = p
    q[0][:] *= p[1]
    return np.sum(p[0] * x)


@program(LINE, engine="compiled", smooth=True)
def while_break(x):
    s = {"u": x * 1.0, "i": 0}
    while True:
        s["u"][s["i"]] *= x[0]
        s["i"] += 1
        if s["i"] >= 4:
            break
    return np.sum(s["u"])


@program(LINE, engine="compiled", smooth=True)
def escaped(x):
    d = {"t": 0.0, "u": np.zeros(6)}
    h = []
    h.append(d)
    d["t"] = 5.0
    d["u"][0] = 2.0
    return h[0]["t"] * x[0] + np.sum(h[0]["u"] * x)


@program(LINE, engine="compiled", smooth=True)
def escaped2(x):
    d = {"t": 0.0, "u": np.zeros(6)}
    h = {}
    h["q"] = d
    d["t"] = 5.0
    return h["q"]["t"] * x[0]


@program(LINE, engine="tape")
def escaped_loop(x):
    d = {"t": 0.0, "u": np.zeros(6)}
    h = []
    for i in range(3):
        h.append(d)
        d["t"] = i + 1.0
    return h[0]["t"] * x[0] + h[2]["t"] * x[1]


def ident(d):
    return d


@program(LINE, engine="tape")
def called(x):
    d = {"t": 0.0, "u": x * 1.0}
    e = ident(d)
    d["t"] = 5.0 * x[0]
    return e["t"] * x[0]


@program(LINE, engine="compiled")
def frozen_(x):
    d = {"t": 0.0, "u": x * 1.0}

    def peek():
        return d["t"] * np.sum(d["u"])

    a = peek()
    d["t"] = x[0]
    d["u"][1] = 4.0
    return a + peek()


@dataclass
class Own:
    a: float
    b: object

    def __init__(self, a, b):
        self.a = a * 2
        self.b = b


@program(LINE, engine="compiled", smooth=True)
def owninit(x):
    s = Own(x[0], x * 1.0)
    s.b[0] = s.a
    return np.sum(s.b) * s.a


@dataclass
class Spy:
    a: float
    b: object

    def __setattr__(self, k, v):
        object.__setattr__(self, k, v * 2)


@program(LINE, engine="tape")
def spy(x):
    s = Spy(x[0], x * 1.0)
    s.b[0] = s.a
    s.a = s.a * 3
    return np.sum(s.b) * s.a


@program(LINE, engine="compiled", smooth=True)
def starred(x):
    a, *r = [x * 1.0, x * 2.0, x * 3.0]
    r[0][0] = a[1]
    a[1] = 5.0
    return np.sum(a * r[0] * r[1])


@program(LINE, engine="compiled", smooth=True)
def if_twice(x):
    d = {"u": x * 1.0, "k": x[0]}
    for i in range(4):
        if i % 2:
            d["k"] = d["k"] * x[1]
        else:
            d["u"][i] = d["k"]
            if x[i] > 0.6:
                d["k"] = d["k"] + 1.0
    return np.sum(d["u"]) * d["k"]


@program(LINE, engine="compiled", smooth=True)
def two_loops(x):
    d = {"u": x * 1.0, "k": x[0]}
    for i in range(2):
        for j in range(3):
            d["u"][j] *= d["k"]
            d["k"] *= x[j]
        d["k"] += np.sum(d["u"])
    return np.sum(d["u"]) * d["k"]
