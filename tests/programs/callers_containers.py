"""Lists and dicts of the caller's that the function changes; and its own, under several names, by every method."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, 0.5, 0.7])
LISTED = [X + 1, X + 2]
NAMED = {"a": X + 1, "b": 2.0}


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def item_replaced(x, q):
    q[0] = x * 2.0
    return np.sum(q[0] * q[1])


@program(X, NAMED, engine="compiled", argnums=(0, 1))
def items_put_into_a_dict(x, d):
    d["b"] = np.sum(x) * d["b"]
    d["new"] = x
    return np.sum(d["a"] * d["new"]) * d["b"]


@program(X, NAMED, engine="compiled")
def stored_in_a_container_without_derivative(x, d):
    d["a"][1] = x[0] * x[1]
    d["b"] *= x[2]
    return np.sum(d["a"] ** 2) * d["b"]


@program(X, NAMED, engine="compiled", argnums=(0, 1))
def nothing_read_again(x, d):
    d["a"] = x * 2
    d["a"][0] = 5.0
    return np.sum(x)


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def changed_by_every_method_of_lists(x, q):
    q.append(x)
    q.reverse()
    q[0] *= 2.0
    y = q.pop()
    q += [y, x * 3.0]
    q.insert(1, y * x)
    del q[2]
    q[1:2] = [x, y]
    q.extend((x, x + 1))
    return sum(np.sum(v * v) for v in q) + len(q)


@program(X, NAMED, engine="compiled", argnums=(0, 1))
def changed_by_every_method_of_dicts(x, d):
    d.update(a=x * 2, c=np.sum(x))
    d.update({"e": x})
    del d["b"]
    d["a"][1] = d["c"]
    z = d.setdefault("z", 1.5)
    s = d.setdefault("c", 3.0) + d.pop("q", 1.0)
    k, e = d.popitem()
    d |= {"w": x * e}
    return np.sum(d["a"]) * z + d.pop("c") * s + np.sum(d["w"]) + len(k)


@program(X, NAMED, engine="compiled", argnums=(0, 1))
def changed_in_branches_of_a_loop(x, d):
    for i in range(3):
        if x[i] > 0.4:
            d["a"] = d["a"] * x
        else:
            d["a"][0] += x[1]
    return np.sum(d["a"] * d["b"])


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def emptied_and_filled(x, q):
    for v in q:
        x = x * v
    q.clear()
    q.append(x)
    return np.sum(q[0])


@program(X, [[1.0, 2.0], {"k": X * 1.0}], engine="compiled", argnums=(0, 1))
def containers_in_a_container(x, q):
    q[0][1] = x[0] * q[0][0]
    q[1]["k"][0] = q[0][1]
    q[1]["m"] = x
    return np.sum(q[1]["k"] * q[1]["m"]) * q[0][1]


@program(X, (X + 1, X + 2), engine="compiled", argnums=(0, 1))
def arrays_in_a_tuple_written(x, p):
    p[0][1] = x[0]
    u, v = p
    v *= u
    return np.sum(p[1] * x)


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def arrays_written_in_a_loop_over_them(x, q):
    for v in q:
        v[0] = x[0] * v[1]
        x = x * v
    return np.sum(x)


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def written_after_it_was_put(x, q):
    u = x * 1.0
    q[1] = u
    u[2] = 4.0
    return np.sum(x * q[0])


@program(X, NAMED, engine="compiled", argnums=(0, 1))
def under_another_name(x, d):
    e = d
    e["b"] = d["b"] * x[0]
    d["a"] = e["a"] * e["b"]
    return np.sum(e["a"])


def put(d, v):
    d["a"] = d["a"] * v
    d["b"] = v[0]


@program(X, NAMED, engine="compiled", argnums=(0, 1))
def changed_by_a_helper(x, d):
    put(d, x * 2)
    return np.sum(d["a"]) * d["b"]


@program(X, NAMED, engine="compiled", argnums=(0, 1))
def new_key_inside_of_a_with_block(x, d):
    with np.errstate(all="ignore"):
        d["c"] = np.log(x)
        d["b"] = d["b"] * x[0]
    d["c"][0] = x[1]
    return np.sum(d["c"] * d["a"]) * d["b"]


@program(X, NAMED, engine="tape", argnums=(0, 1))
def new_key_in_one_branch(x, d):
    if x[0] > 0.0:
        d["c"] = x * 2
    return np.sum(d["c"] * d["a"])


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def changed_and_given_back_by_a_helper(x, q):
    def changed(q):
        q[0] = x * q[1]
        return q

    return np.sum(changed(q)[0])


@program(X, LISTED, engine="tape")
def another_list_in_one_branch(x, q):
    if x[0] > 5.0:
        q = [x, x * 2]
    q[0] = x * 3
    return np.sum(q[0] * q[1])


@program(X, [1.0], engine="compiled")
def log_of_what_carries_no_derivative(x, log):
    for i in range(len(x)):
        log.append(i)
    return np.sum(x * x)


@program(X, LISTED, engine="tape", argnums=(0, 1))
def copy_gone_through_while_the_list_changes(x, q):
    for v in q[:]:
        q[1] = x * 2
        x = x * v
    return np.sum(x)


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def list_gone_through_while_it_changes(x, q):
    for v in q:
        q[1] = x * 2
        x = x * v
    return np.sum(x)


@program(X, LISTED, engine="tape", argnums=(0, 1))
def list_that_gets_longer_while_gone_through(x, q):
    for v in q:
        if len(q) < 4:
            q.append(x)
        x = x * v
    return np.sum(x)


@program(X, engine="compiled")
def own_list_under_two_names_changed(x):
    xs = [x, x * 2]
    ys = xs
    ys.append(np.sin(x))
    ys.reverse()
    del xs[1]
    zs = ys * 2
    zs += [x]
    zs[1:3] = [x, x, x]
    return sum(np.sum(v * v) for v in zs) + len(xs) + np.sum(xs[0])


@program(X, engine="compiled")
def dicts_put_together(x):
    d = {"a": x * 2, "b": x[0]} | {"b": x[1]}
    e = d
    e |= {"c": x * d["b"]}
    return np.sum(d["c"] * d["a"])


@program(X, engine="compiled")
def list_that_grows_by_several(x):
    xs = [x[0]]
    for v in x:
        if v > 0.4:
            xs += [v * v, v]
        xs.extend([v])
    return sum(xs) * xs[0]


@program(np.array([0.47, 1.77]), engine="compiled")
def views_looked_up_after_a_loop_is_left(x):
    m = x.reshape(1, -1)
    for i in range(2):
        if x[1] > 5.0:
            continue
        p = (m[0], x[0] * 2)
        u, s = p
        u[1:] += s * u[:-1]
        k = 0
        while k < 2:
            k += 1
            if m[0, 1] > 9.0:
                break
            u[0] *= 1.5
    return np.sum(x)


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def names_of_a_function_inside(x, q):
    def inside(v):
        double = lambda a: a * 2
        q[0] = double(v) * q[1]
        return np.sum(double(x))

    s = inside(x)
    return np.sum(q[0]) * s


@program(X, LISTED, engine="compiled", argnums=(0, 1))
def lists_of_arrays_whose_lengths_only_the_run_tells(x, q):
    q[0] = x[q[1] > 0]
    return np.sum(q) * np.mean([x, q[0]]) + np.max([x[:2], x[1:]])


@program(X, [X + 1, 2.0], engine="tape")
def list_that_no_array_can_be_made_of(x, q):
    q[1] = x[0]
    try:
        return np.sum(q) + np.sum(x)
    except ValueError:
        return np.sum(x * q[1])


@program(1.3, [1.6, 1.0], {"a": X, "b": 0.8}, engine="compiled", argnums=1)
def function_reads_a_dict_that_changes_later(x, q, d):
    s = np.sum(d["a"])
    read = lambda a: d["b"]
    d["b"] += 0.5
    return sum((np.sum(v) ** 2 for v in q)) * read(x) + s


@program(1.3, [1.6, 1.0], {"a": X, "b": 0.8}, engine="compiled", argnums=1)
def function_in_a_list_reads_a_dict_that_changes_later(x, q, d):
    readers = [lambda a: d["b"] * a]
    s = np.sum(d["a"])
    d["b"] += 0.5
    return sum(v * v for v in q) * readers[0](x) + s


@program(X[0], {"a": np.ones(4), "b": 1.3}, engine="compiled", argnums=(0, 1))
def put_into_a_dict_and_written_to_later(x, d):
    u = np.ones(4)
    d.update({"a": u})
    u[1] = 1.5
    u[1] = 0.5
    return 0.5 * x


@program(X[0], {"a": np.ones(4), "b": 1.3}, engine="compiled", argnums=(0, 1))
def put_into_a_dict_by_another_name(x, d):
    u = np.ones(4)
    d["a"] = (u, 3)[0]
    u[2] = 1.5
    u[2] = 0.5
    return 0.5 * x
