"""Dicts that are filled key by key: keys that are literal, or that short loops count."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0, 0.7])


@program(X, engine="compiled", smooth=True)
def counted_keys(x):
    d = {}
    for i in range(3):
        d[i] = x[i] * x[i + 1]
    s = 0.0
    for i in range(3):
        s += d[i] ** 2 * (i + 1)
    return s


@program(X, engine="compiled", smooth=True)
def dict_made_by_a_call(x):
    d = dict()
    for i in reversed(range(3)):
        d[i] = x[i] ** 2
    s = 0.0
    for k, v in d.items():
        s = s * 0.5 + v * (k + 1)
    return s


@program(X, engine="compiled", smooth=True)
def dict_made_by_a_call_with_words(x):
    d = dict(a=x[0], b=2.0)
    d["b"] = d["b"] * d["a"] * x[1]
    return d["a"] * d["b"]


@program(X, engine="compiled", smooth=True)
def keys_that_are_texts(x):
    d = {}
    for i in range(3):
        d[f"k{i}"] = np.sin(x) * i
    s = 0.0
    for i in range(3):
        s = s * 0.7 + np.sum(d.pop(f"k{i}") * x)
    return s + len(d)


@program(X, engine="compiled", smooth=True)
def keys_that_are_pairs(x):
    d = {}
    for i in range(2):
        for j in range(2):
            d[i, j] = x[i] * x[j + 1]
    s = 0.0
    for (i, j), v in d.items():
        s = s * 0.5 + v * (i - j)
    return s + d[0, 1] * d[(1, 1)] + sum(d[k] * k[1] for k in d)


@program(X, engine="compiled", smooth=True)
def keys_that_are_calculated(x):
    d = {}
    for i in range(4):
        k = i % 3
        d[k] = d.get(k, 1.0) * x[i] + d.get(k - 1, 0.5) + d.setdefault(i // 2, x[0])
    return d[0] * d[1] + d[2]


@program(X, engine="compiled", smooth=True)
def asked_for_keys(x):
    d = {}
    for i in range(4):
        key = i // 2
        if key not in d:
            d[key] = x[i]
        else:
            d[key] = d[key] * x[i]
    return d[0] + (d[5] if 5 in d else d[1] ** 2)


@program(X, engine="compiled", smooth=True)
def filled_anew_in_each_turn(x):
    for _ in range(5):
        d = {}
        for i in range(3):
            d[i] = x[i] * 0.5
        x = np.tanh(x) + sum(d.values())
    return np.sum(x)


@program(X, engine="compiled", smooth=True)
def accumulated(x):
    d = {}
    for key in ("even", "odd"):
        d[key] = 0.0
    d["even"] += x[0] * x[2]
    d["odd"] += x[1] * x[3]
    for i in range(30):
        d["odd"] = d["odd"] * 0.9 + d["even"]
    return d["even"] * d["odd"]


@program(X, engine="compiled", smooth=True)
def filled_by_helpers(x):
    def put(key, value):
        d[key] = value

    def put_both(table, value):
        table["b"] = value
        table["c"] = value * 2

    d = {}
    put("a", x)
    put_both(d, x * x)
    e = d
    e["a"] = e["a"] * 3
    return np.sum(d["a"] * d["b"] * d["c"])


@program(X, engine="compiled", smooth=True)
def lambdas_in_the_loop(x):
    d = {}
    for i in range(3):
        d[i] = sum(map(lambda v: v * v, x)) * x[i]
    return d[0] * d[2]


@program(X, engine="compiled")
def keys_that_are_equal(x):
    d = {1: x[0]}
    d[True] = x[1] ** 2
    d[1.0] = d[1] * x[2]
    return d[1] * len(d)


@program(X, engine="compiled")
def order_of_the_keys(x):
    d = {}
    for i in range(3):
        d[i] = x[i]
    d[0] = x[0] * 2  # it stays the first
    del d[1]
    d[1] = x[3]  # it is the last
    s = 0.0
    for k, v in d.items():
        s = s * 0.5 + v**2 * (k + 1)
    return s


@program(X, engine="compiled")
def arrays_written_to_afterwards(x):
    d = {}
    for i in range(3):
        d[i] = x
    u = d[1] * 2
    d[1] = u
    u[0] = x[3] ** 2
    x[1] = 3.0
    d[2][2] = x[3] * 4
    return np.sum(d[0] ** 2) + np.sum(d[1] * x) + np.sum(u)


@program(X, engine="tape")
def key_that_only_the_run_knows(x):
    d = {}
    for i in range(4):
        d[int(x[i] > 0.6)] = x[i] ** 2
    return d[0] * d[1]


@program(X, engine="tape")
def key_that_may_be_missing(x):
    d = {}
    for i in range(3):
        if x[i] > 0:
            d[i] = x[i] ** 2
    return sum(d.values())


@program(X, engine="tape")
def views_of_a_dict_that_is_filled(x):
    d = {}
    keys, values = d.keys(), d.values()
    for i in range(3):
        d[i] = x[i] ** 2
    return len(keys) * sum(values)


@program(X, engine="tape")
def functions_that_see_in_which_turn_they_are_called(x):
    d, functions = {}, []
    for i in range(3):
        functions.append(lambda v: v * (i + 1))
        d[i] = functions[0](x[i])
    return d[0] + d[2] * functions[0](x[0])


@program(X, 2, engine="compiled")
def counts_that_no_derivative_flows_through(x, n):
    seen = {}
    for i in range(n):
        seen[i % 2] = i
    total = 0.0
    for v in x:
        total = total + v * v * len(seen)
    return total


@program(X, engine="compiled")
def taken_out_where_no_derivative_flows_yet(x):
    s = 0.0
    for _ in range(3):
        d = {}
        for i in range(3):
            d[i] = 0.5 * i * s
        part = 0.0
        for i in range(3):
            part = np.sum(d.pop(i)) + part * part + len(d)
        s = s + x[0] * part + x[1]
    return s


@program(X, engine="compiled")
def taken_out_in_the_middle_of_an_expression(x):
    d = {"a": x[0], "b": x[1], "n": 1.5, "u": np.ones(2)}
    s = len(d) * d["a"] * np.sum(d.pop("u")) * d.pop("n") * len(d)
    u = np.ones(4) * 2
    s += u[1] * d.setdefault("c", 3.0) * len(d)
    return s * d["a"] * d.pop("b") * len(d) + (d.pop("a") if len(d) == 2 else 0.0)


@program(X, engine="compiled", smooth=True)
def texts_that_are_put_together(x):
    cache = {}
    cache["A0"] = x
    for i in range(1, 4):
        cache["Z" + str(i)] = 0.5 * cache["A" + str(i - 1)] + i
        cache["A" + str(i)] = np.tanh(cache["Z" + str(i)])
    return np.sum(cache["A3"] * cache["Z2"])


@program(X, engine="compiled", smooth=True)
def listed_texts(x):
    d = {}
    for key in ["a", "b"]:
        d[key] = x * (len(d) + 1)
    return np.sum(d["a"] + d["b"] ** 2)


@program(X, engine="compiled", smooth=True)
def comprehension_that_counts(x):
    d = {i: x[i] for i in range(3)}
    d[1] = d[0] * d[2]
    return sum(v**2 for v in d.values())


@program(X, engine="compiled", smooth=True)
def differences_in_a_table(x):
    table = {}
    for i in range(3):
        for j in range(3):
            if j < i:
                table[i, j] = table[i - 1, j] + table[j, j] * x[i]
            elif j == i:
                table[i, j] = x[j] ** 2
            else:
                table[i, j] = x[j]
    return table[2, 1] * table[2, 0]


@program(X, engine="compiled", smooth=True)
def lists_in_a_dict(x):
    groups = {"all": [], "two": [0.0] * 2}
    for i in range(4):
        groups.setdefault(i % 2, []).append(x[i])
        groups["all"].append(x[i] ** 2)
    groups["two"][1] = x[0] * 3
    kept = groups["all"]
    kept.append(x[3])
    return sum(groups[0]) * sum(groups[1]) * sum(groups["all"]) + sum(groups["two"]) * len(kept)


@program(X, engine="compiled", smooth=True)
def dicts_in_a_dict(x):
    d = {"a": {}, "b": {"n": 1.0}}
    for key in d:
        for i in range(2):
            d[key][i] = x[i] * len(d[key])
    d["c"] = {}
    d["c"]["v"] = x[3]
    return d["a"][0] * d["b"][1] * d["b"]["n"] * d["c"]["v"]


LAYERS = {"W1": np.full((4, 3), 0.3), "b1": np.zeros(3), "W2": np.full((3, 1), 0.2), "b2": np.zeros(1)}


@program(LAYERS, X, engine="compiled")
def layers_that_are_counted(params, x):
    cache = {"A0": x}
    depth = len(params) // 2
    for i in range(1, depth + 1):
        cache[f"Z{i}"] = cache[f"A{i - 1}"] @ params[f"W{i}"] + params["b" + str(i)]
        cache[f"A{i}"] = np.tanh(cache[f"Z{i}"])
    return np.sum(cache[f"A{depth}"])
