"""What dicts of known keys hold, one after the other, and loops over containers of arrays."""

import numpy as np

from tests.programs.corpus import program

LINE = np.linspace(0.52, 1.73, 6)
W = np.arange(1.0, 7.0)
INDEX = np.array([0, 2, 2, 5, 0])


@program(LINE, engine="compiled", smooth=True)
def of_items(x):
    p = {"w": x * 2, "b": x[0]}
    s = 0.0
    for k, v in p.items():
        if k == "b":
            s += v
        s += np.sum(v**2)
    return s


@program(LINE, engine="compiled", smooth=True)
def of_values(x):
    p = {"w": x * 2, "b": np.outer(x, x), "c": x[1]}
    return sum((np.sum(v**3) for v in p.values())) * len(p)


@program(LINE, engine="compiled", smooth=True)
def of_keys(x):
    p = {"w": x * 2, "b": x * x}
    s = 0.0
    for k in p.keys():
        s += np.sum(p[k])
    for k in p:
        s *= p[k][0]
    return s


@program(LINE, engine="compiled", smooth=True)
def changed_items(x):
    p = {"w": x * 2, "b": x * x}
    for k in ("w", "b"):
        p[k][0] = x[1]
    for k, v in p.items():
        v[1:] *= x[2]
        p[k] = v * 2
    return np.sum(p["w"] * p["b"])


@program(LINE, engine="compiled", smooth=True)
def got(x):
    p = {"w": x * 2, "b": x[0]}
    return np.sum(p.get("w")) * p.get("zz", 2.0) + p.get("b", x[3])


@program(LINE, engine="compiled", smooth=True)
def copied(x):
    p = {"w": x * 1.0, "n": x[0]}
    q = p.copy()
    q["w"][0] = x[1] * x[2]
    q["n"] = q["n"] * 2
    q["w"] = q["w"] * 2
    return np.sum(p["w"] * q["w"]) * p["n"]


@program(LINE, engine="compiled", smooth=True)
def loop_list(x):
    xs = [x * 1.0, np.zeros(6), x * 2]
    for a in xs:
        for i in range(3):
            a[i] += x[i + 1] * a[i + 2]
    for i, a in enumerate(xs):
        a *= i + 1
    return np.sum(xs[0] * xs[2]) + np.sum(xs[1] * W)


@program(LINE, engine="compiled", smooth=True)
def listvals(x):
    p = {"w": x * 1.0, "n": x * 3}
    q = [np.sum(v * v) for v in p.values()]
    return q[0] * q[1] + np.sum(np.stack([v for v in p.values()]))


@program(LINE, engine="compiled", smooth=True)
def sgd(x):
    p = {"w": x * 1.0, "b": x[1]}
    for t in range(3):
        g = {"w": 2 * p["w"] * p["b"], "b": np.sum(p["w"])}
        for k in p:
            p[k] = p[k] - 0.05 * g[k]
    return np.sum(p["w"] ** 2) + p["b"]


@program(LINE, engine="compiled", smooth=True)
def sgd_new(x):
    p = {"w": x * 1.0, "b": x[1]}
    for t in range(3):
        g = {"w": 2 * p["w"] * p["b"], "b": np.sum(p["w"])}
        p = {k: p[k] - 0.05 * g[k] for k in p}
    return np.sum(p["w"] ** 2) + p["b"]


@program({"w": LINE, "b": 2.0}, engine="compiled")
def arg_dict(p):
    s = 0.0
    for name, v in p.items():
        s += np.sum(v**2)
    return s + sum((np.sum(v) for v in p.values()))


@program(LINE, engine="compiled", smooth=True)
def comprehension_of_a_dict(x):
    v = x[0] * 2
    p = {"w": x * 2, "b": x[0]}
    q = {k: v * v for k, v in p.items()}
    r = {k: np.sum(v) for k, v in q.items()}
    return np.sum(q["w"]) * r["b"] + r["w"] * v


@program(LINE, LINE * 2, engine="compiled")
def argument_changed_by_what_is_read_outside(x, y):
    y[INDEX] = x[1:] ** 2
    return np.sum(y * y * W)


@program(LINE, engine="compiled")
def dict_that_loses_an_item(x):
    p = {"w": x * 2, "b": x[0]}
    v = p.pop("b")
    del p["w"]
    return v * len(p) + np.sum(x)
