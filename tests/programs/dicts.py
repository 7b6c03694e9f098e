"""Dicts that are read: items, values, keys, get, copies, comprehensions."""

import math

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
PAIR = {"a": X, "b": 2 * X}
WEIGHTS = {"W1": np.ones((3, 2)), "b1": np.ones(2), "W2": np.ones((2,)), "b2": 0.5}
FIVE = {k: float(i + 1) for i, k in enumerate("abcde")}


@program(PAIR, engine="compiled")
def sum_over_items(d):
    return sum(np.sum(v * v) for k, v in d.items())


@program(PAIR, engine="compiled")
def loop_over_items(d):
    t = 0.0
    for k, v in d.items():
        t += np.sum(v * v) * (2 if k == "a" else 1)
    return t


@program(WEIGHTS, engine="compiled")
def sum_over_values_of_different_shapes(d):
    return sum(np.sum(v**2) for v in d.values())


@program(PAIR, engine="compiled")
def get_with_defaults(d):
    return np.sum(d.get("a") * d.get("b")) + np.sum(d.get("c", d["a"]))


@program(PAIR, engine="compiled")
def dict_comprehension(d):
    e = {k: v * 2 for k, v in d.items()}
    return np.sum(e["a"] * e["b"])


@program(WEIGHTS, engine="compiled")
def items_chosen_by_name(d):
    l2 = 0.0
    for k, v in d.items():
        if k.startswith("W"):
            l2 = l2 + np.sum(v**2)
    return l2


@program(WEIGHTS, engine="compiled")
def loop_over_keys(d):
    l2 = 0.0
    for k in d:
        l2 = l2 + np.sum(d[k] ** 2)
    return l2


@program(WEIGHTS, engine="compiled")
def loop_over_some_names(d):
    l2 = 0.0
    for k in ("W1", "b1"):
        l2 = l2 + np.sum(d[k] ** 2)
    return l2


@program(WEIGHTS, engine="compiled")
def updated_parameters(d):
    new = {k: v - 0.1 * np.sin(v) for k, v in d.items()}
    return np.sum(np.tanh(X @ new["W1"] + new["b1"]) @ new["W2"] + new["b2"])


@program(WEIGHTS, engine="compiled")
def array_of_values(d):
    return np.sum(np.array([np.sum(v) for v in d.values()]) ** 2)


@program(WEIGHTS, engine="compiled")
def max_over_values(d):
    return max(np.sum(v) for v in d.values())


@program([WEIGHTS, WEIGHTS], engine="compiled")
def items_of_dicts_in_a_list(ds):
    t = 0.0
    for d in ds:
        for k, v in d.items():
            t = t + np.sum(v * v)
    return t


@program(PAIR, engine="compiled")
def zip_of_items(d):
    t = 0.0
    for (k, v), i in zip(d.items(), range(2)):
        t = t + np.sum(v * v) * i
    return t


@program(PAIR, engine="compiled")
def enumerate_items(d):
    t = 0.0
    for i, (k, v) in enumerate(d.items()):
        t = t + np.sum(v * v) * i
    return t


@program(PAIR, engine="compiled")
def values_unpacked(d):
    a, b = d.values()
    return np.sum(a * b)


@program(PAIR, engine="compiled")
def sorted_keys(d):
    return sum(np.sum(d[k]) for k in sorted(d))


@program(PAIR, engine="compiled")
def enumerate_keys(d):
    return sum(np.sum(d[k] * i) for i, k in enumerate(d.keys()))


@program(PAIR, engine="compiled")
def copy_that_is_changed(d):
    e = dict(d)
    e["c"] = d["a"] * 2
    return sum(np.sum(v * v) for v in e.values())


@program(PAIR, engine="compiled")
def built_in_a_loop_over_items(d):
    e = {}
    for k, v in d.items():
        e[k] = v * v
    return np.sum(e["a"] * e["b"])


@program(PAIR, PAIR, engine="compiled")
def two_dicts_by_key(d, g):
    return sum(np.sum(d[k] * g[k]) for k in d)


@program(PAIR, engine="compiled")
def dict_with_another_spread(d):
    e = {**d, "c": d["a"] ** 2}
    return np.sum(e["c"] * e["b"])


@program({str(i): float(i + 1) for i in range(8)}, engine="compiled")
def many_values(d):
    return sum(v * v for v in d.values()) + sum(v for k, v in d.items() if k > "3")


@program(PAIR, engine="tape")
def spread_and_written_to(d):
    e = {**d, "a": d["a"] ** 2}
    e["b"][0] = 3.0
    return np.sum(e["a"] * e["b"]) + np.sum(d["b"])


@program(PAIR, engine="tape")
def values_of_a_copy_changed_in_place(d):
    e = dict(d)
    e["a"] = e["a"] + 1
    for v in e.values():
        v[0] = 2.0
    return np.sum(e["a"] * e["b"]) + np.sum(d["a"] * d["b"])


@program(PAIR, engine="tape")
def view_held_while_the_dict_changes(d):
    vs = d.values()
    d["a"] = d["a"] * 3
    return sum(np.sum(v * v) for v in vs)


@program(PAIR, engine="tape")
def items_held_while_the_dict_changes(d):
    e = {"a": d["a"] * 2, "b": d["b"] * 1}
    its = e.items()
    e["b"] = e["a"] * 5
    return sum(np.sum(v * v) for k, v in its)


@program(PAIR, engine="compiled")
def comprehension_of_tuples(d):
    e = {k: (k, v * v) for k, v in d.items()}
    return np.sum(e["a"][1]) * len(e["b"][0])


@program({"x": 1.0, "y": 2.0}, engine="compiled")
def get_of_what_is_not_there(d):
    x, y = d.values()
    for k in d:
        x = x * d[k]
    return x * y * d.get("z", 3.0) * (d.get("q") is None)


@program({0: 1.0, 1: 2.0}, engine="compiled")
def keys_that_are_numbers(d):
    return sum(d[k] * k for k in d.keys()) + sum(v * k for k, v in d.items())


@program(PAIR, engine="compiled")
def updated_by_another(d):
    e = {}
    e.update(d)
    return np.sum(e["a"] * e["b"])


@program(FIVE, engine="compiled")
def changed_in_a_loop_over_items(d):
    e = {"a": d["a"] * 2, "b": d["b"], "c": d["c"], "d": d["d"], "e": d["e"]}
    t = 0.0
    for k, v in e.items():
        t = t + v * v
        e["e"] = t
    return t


@program(FIVE, engine="compiled")
def changed_in_a_short_loop_over_items(d):
    e = {"a": d["a"] * 2, "b": d["b"], "c": d["c"]}
    t = 0.0
    for k, v in e.items():
        t = t + v * v
        e["c"] = t
    return t + e["c"]


@program(FIVE, engine="tape")
def sorted_items(d):
    t = 0.0
    for k, v in sorted(d.items(), reverse=True):
        t = t * 2 + v * v
    return t


@program(FIVE, engine="compiled")
def items_with_continue(d):
    t = 0.0
    for k, v in d.items():
        if k == "c":
            continue
        t = t * 2 + v * v
    return t


# --------------------------------------------------------------------------------------------- sorted by keys

PARTS = {"w": np.array([0.5, -1.5, 2.0]), "b": 1.5, "a": 0.3}


@program(PARTS, engine="compiled")
def items_in_order(d):
    s = 0.0
    for key, value in sorted(d.items()):
        s = s * 0.5 + np.sum(value**2) * len(key)
    return s


@program(PARTS, engine="compiled")
def keys_in_order(d):
    s = 0.0
    for key in sorted(d):
        s = s * 0.5 + np.sum(d[key] ** 2)
    for key in sorted(d.keys()):
        s = s * 0.5 + np.sum(d[key])
    return s


@program(PARTS, engine="compiled")
def items_in_order_that_are_numbered(d):
    s = 0.0
    for i, (_, value) in enumerate(sorted(d.items())):
        s = s * 0.5 + np.sum(value**2) * i
    return s + sum(np.sum(v) ** 2 * k for k, (_, v) in enumerate(sorted(d.items())))


@program(PARTS, engine="compiled")
def list_of_items_in_order(d):
    items = sorted(d.items())
    flat = np.concatenate([np.ravel(value) for _, value in sorted(d.items())])
    return items[0][1] * np.sum(items[2][1]) + flat @ np.arange(5.0)


@program(np.array([0.5, -1.5, 2.0]), engine="compiled", smooth=True)
def numbers_as_keys_in_order(x):
    d = {3: x[0], 1: x[1], 2: x[2]}
    s = 0.0
    for key, value in sorted(d.items()):
        s = s * 0.5 + value**2 * key
    return s


@program(np.array([0.5, -1.5, 2.0]), engine="compiled", smooth=True)
def arrays_in_order_that_are_written_to(x):
    d = {"b": x * 1.0, "a": x * 2}
    s = 0.0
    for _, value in sorted(d.items()):
        value[0] = s + 1.0
        d["b"][1] = 7.0
        s += np.sum(value * x)
    return s


@program(PARTS, engine="tape")
def items_in_order_of_a_dict_that_changes(d):
    s = 0.0
    for _, value in sorted(d.items()):
        s = s * 0.5 + np.sum(value**2)
        d["w"] = d["w"] * 2.0
    return s


@program(np.array([0.5, -1.5, 2.0]), engine="tape", smooth=True)
def items_in_the_order_of_their_values(x):
    d = {3: x[0], 1: x[1], 2: x[2]}
    s = 0.0
    for key, value in sorted(d.items(), key=lambda item: item[1]):
        s = s * 0.5 + value**2 * key
    return s


# --------------------------------------------------------------------------------------------- keys where items go


@program(1.1, engine="tape")
def largest_and_smallest_key(x):
    d = {}
    d[5] = x
    d[7] = x**2
    return max(d) * x + min(d) * x**2 + max(d.values())


@program(1.1, engine="tape")
def largest_of_keys_that_are_tuples(x):
    d = {(1, 2): x}
    d[0, 1] = x**2
    return d[max(d)] * max(d)[0] + min(d)[1] * x


@program(1.1, engine=None)
def keys_put_into_lists(x):
    d = {5: x, 7: x**2}
    xs = [x * i for i in range(3)]
    xs.extend(d)
    ys = [x]
    ys += d
    a, b = d
    return (sum(xs) + sum(ys)) * x + sum([*d]) * a + b * math.prod(d)
