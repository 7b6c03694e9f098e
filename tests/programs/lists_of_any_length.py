"""Lists of which only the run knows how long they are, or where they are changed: stacks, queues, tables, histories."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0, 0.7])


@program(X, engine="compiled", smooth=True)
def appended_in_a_while(x):
    xs = [x[0]]
    while len(xs) < 5:
        xs.append(xs[-1] * x[1] + 0.1)
    return xs[-1] * xs[-2]


@program(X, engine="compiled", smooth=True)
def last_element_set(x):
    xs = []
    i = 0
    while i < 4:
        xs.append(x[i] ** 2)
        i += 1
    xs[-1] = xs[-1] * 3.0
    return sum(xs)


@program(X, engine="compiled", smooth=True)
def appended_or_added_to(x):
    xs = [x[0]]
    for v in x[1:]:
        if v > xs[-1]:
            xs.append(v)
        else:
            xs[-1] = xs[-1] + 0.5 * v * v
    return xs[-1] ** 2


@program(X, engine="compiled", smooth=True)
def popped_and_summed(x):
    xs = []
    for v in x:
        if v > 0:
            xs.append(v * v)
    last = xs.pop()
    return last * sum(xs)


@program(X, engine="compiled", smooth=True)
def popped_within_an_expression(x):
    xs = []
    for v in x:
        if v > 0:
            xs.append(v * v)
    return xs[-1] * 3 + xs.pop() * xs[-1] - xs.pop()


@program(X, engine="compiled", smooth=True)
def popped_on_one_way(x):
    xs = [x[0], x[2]]
    v = xs.pop() if x[3] > 0.1 else 0.0
    return v + sum(xs) ** 2


@program(X, engine="compiled", smooth=True)
def popped_in_turns(x):
    xs = [x[0], x[2]]
    v = x[3] > 0.1 and xs.pop()
    return v + xs[0] ** 2 * len(xs)


@program(X, engine="tape", smooth=True)
def popped_from_a_dict_on_one_way(x):
    d = {"a": x[0] * 2, "b": x[1] ** 2}
    v = d.pop("a") if x[2] > 1 else 3.0
    return v + d["b"] ** 2 * len(d)


@program(X, engine="compiled", smooth=True)
def popped_where_there_is_one(x):
    st = [x[0], x[1]]
    s = 1.0
    for v in x:
        w = st.pop() if st else v
        s = s * w + (v and st.pop(0) if st else 0.0)
    return s


@program(X, engine="compiled", smooth=True)
def reversed_in_place(x):
    xs = []
    for v in x:
        if v > 0:
            xs.append(v * v)
    xs.reverse()
    s = 0.0
    for i, v in enumerate(xs):
        s += (i + 1) * v
    return s


@program(X, engine="compiled", smooth=True)
def window_of_the_last(x):
    xs = []
    s = 0.0
    for v in x:
        xs.append(v * v)
        if len(xs) > 2:
            s += xs.pop(0) * v
    return s


@program(X, engine="compiled", smooth=True)
def window_by_del(x):
    xs = []
    for v in x:
        xs.append(v * v)
        if len(xs) > 2:
            del xs[0]
    return xs[0] * xs[1]


@program(X, engine="compiled", smooth=True)
def parts_deleted(x):
    xs = []
    for v in x:
        xs.append(v)
        xs.append(v * v)
    n = 6
    del xs[n:]
    del xs[:2]
    del xs[-1]
    del xs[0]
    return xs[0] * xs[1] + len(xs)


@program(X, engine="compiled", smooth=True)
def buffer_cleared(x):
    s = 0.0
    buf = []
    for v in x:
        buf.append(v * v)
        if len(buf) == 2:
            s += buf[0] * buf[1]
            buf.clear()
    return s


@program(X, engine="compiled", smooth=True)
def inserted_in_order(x):
    xs = []
    for v in x:
        i = 0
        while i < len(xs) and xs[i] < v:
            i += 1
        xs.insert(i, v)
    return xs[0] * 2 + xs[1] * 3 + xs[3] ** 2


@program(X, engine="compiled", smooth=True)
def extended_by_a_list(x):
    xs, ys = [x[0]], [v * v for v in x]
    for v in x:
        if v > 0:
            xs.extend(ys)
    return sum(xs) * xs[-1]


@program(X, engine="compiled", smooth=True)
def history_if_there_is_one(x):
    hist = []
    for v in x:
        if hist:
            v = v + 0.5 * hist[-1]
        hist.append(v * v)
    return hist[-1]


@program(X, engine="compiled", smooth=True)
def history_of_arrays(x):
    hist = []
    for v in x:
        a = x * v
        if len(hist) > 1:
            a = a + 0.5 * hist[-1] * hist[-2]
        hist.append(a)
    return np.sum(hist[-1])


@program(X, engine="compiled", smooth=True)
def history_that_is_not_read_to_its_end(x):
    hist = [x]
    s = 0.0
    for v in x:
        if v > 0:
            s += np.sum(hist[-1]) * v
            hist.append(x * v)
        else:
            hist.append(x * s)
            hist.append(x * s)
    return s


@program("3 4 + 2 *", X, engine="compiled", argnums=1, smooth=True)
def calculator(expression, x):
    stack = []
    i = 0
    for word in expression.split():
        if word == "+":
            b = stack.pop()
            a = stack.pop()
            stack.append(a + b)
        elif word == "*":
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b)
        else:
            stack.append(x[i] * float(word))
            i += 1
    return stack[0]


@program(X, engine="compiled", smooth=True)
def tree_walk(x):
    tree = {0: [1, 2], 1: [3], 2: [], 3: []}
    stack = [(0, 1.0)]
    total = 0.0
    while stack:
        node, w = stack.pop()
        total += w * x[node]
        for c in tree[node]:
            stack.append((c, w * x[node]))
    return total


@program(X, engine="compiled", smooth=True)
def tree_walk_that_is_left(x):
    tree = {0: [1, 2], 1: [3], 2: [], 3: []}
    stack = [(0, 1.0)]
    total = 0.0
    while stack:
        node, w = stack.pop()
        total += w * x[node]
        if node == 2:
            break
        for c in tree[node]:
            stack.append((c, w * x[node]))
    return total


@program(X, engine="compiled", smooth=True)
def halves_on_a_stack(x):
    stack = [x]
    total = 0.0
    while stack:
        a = stack.pop()
        if len(a) > 1:
            m = len(a) // 2
            stack.append(a[:m] * 2.0)
            stack.append(a[m:])
        else:
            total += a[0] ** 2
    return total


@program(X, engine="compiled", smooth=True)
def queue_of_pairs(x):
    queue = [(x[0], x)]
    s = 0.0
    for v in x:
        queue.append((v, x * v))
        if v > 0:
            w, a = queue.pop(0)
            s += np.sum(a * w)
    return s


@program(X, engine="compiled", smooth=True)
def table_by_index(x):
    xs = [0.0] * len(x)
    for i in range(len(x)):
        xs[i] = x[i] ** 2
    for i in range(1, len(xs)):
        xs[i] += xs[i - 1]
    return xs[-1]


@program(X, engine="compiled", smooth=True)
def two_tables(x):
    n = len(x)
    a = [0.0] * n
    b = [0] * n
    for _ in range(3):
        for i in range(1, n - 1):
            b[i] = a[i - 1] + x[i] * a[i + 1] + x[0]
        for i in range(n):
            a[i] = b[i]
    return sum(a)


@program(X, engine="compiled", smooth=True)
def table_backwards(x):
    a = [0.0] * 4
    for i in range(3, -1, -1):
        a[i] = x[i] + (a[i + 1] if i < 3 else 0.0) * x[0]
    return a[0]


@program(X, engine="compiled", smooth=True)
def elements_changed_in_every_way(x):
    xs = [0.0] * 4
    for i in range(4):
        xs[i] = x[i]
    a = xs[1] * 2 + 1.0
    b = xs[:]
    xs[1] = xs[2] * a
    c = xs[1]
    xs[1] *= xs[0]
    xs[1] -= c
    xs[2] /= x[0]
    return sum(xs) + sum(b) * c


@program(X, engine="compiled", smooth=True)
def known_elements_by_index(x):
    xs = [x[0], x[1], 3]
    for i in range(2):
        xs[i] = xs[i] * x[2]
    xs[2] = xs[0] * xs[1]
    return xs[2] + xs[0]


@program(X, engine="compiled")
def bubble_sort(x):
    xs = [v * v for v in x]
    n = len(xs)
    for i in range(n):
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs[0] * 3 + xs[1]


@program(X, engine="compiled", smooth=True)
def table_that_is_returned(x):
    def run(n):
        out = [0.0] * n
        for i in range(n):
            out[i] = x[i] * n * x[0]
        return out

    return sum(run(3)) + np.sum(np.array(run(2)) ** 2)


@program(X.astype(np.float32), engine="compiled")
def table_of_single_precision(x):
    xs = [0.0] * 4
    for i in range(4):
        xs[i] = x[i] * x[0]
    return sum(xs)


@program(X + 0.5j, engine="tape")
def table_of_complex_numbers(x):
    xs = [0.0] * 4
    for i in range(4):
        xs[i] = x[i] * x[0]
    return abs(sum(xs))


@program(X, engine="tape")
def table_with_another_name(x):
    xs = [0.0] * 4
    ys = xs
    for i in range(4):
        xs[i] = x[i] * x[0]
        ys[0] = ys[0] + x[1]
    return sum(ys)


@program(np.array([0.5, 0.3]), engine="compiled", smooth=True)
def residuals_one_after_the_other(p):
    data = np.array([1.0, 0.5, -0.2, 0.3])
    e = [data[0]]
    for t in range(1, len(data)):
        e.append(data[t] - p[0] * data[t - 1] - p[1] * e[-1])
    return sum(v**2 for v in e)


# ------------------------------------------------------------- set at a known place first, then in a loop


@program(X, 12, engine="compiled", smooth=True)
def recurrence_in_a_list(x, n):
    u = [0.0] * n
    u[0] = x[0]
    for i in range(1, n):
        u[i] = u[i - 1] * x[1] * 0.3 + np.sin(u[i - 1])
    return u[-1] + u[n // 2]


@program(X, 11, engine="compiled", smooth=True)
def recurrence_of_two_terms_in_a_list(x, n):
    u = [0.0] * (n + 1)
    u[0], u[1] = x[0], x[1]
    for i in range(2, n + 1):
        u[i] = u[i - 1] * 0.5 + u[i - 2] * x[2]
    return u[n]


@program(X, 12, engine="compiled", smooth=True)
def sweeps_over_a_list_with_borders(x, n):
    u = [0.0] * n
    u[0] = x[0]
    u[1] = x[1] * u[0]
    for _ in range(3):
        for i in range(1, n - 1):
            u[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u[0] = x[2] * u[1]
    return sum(u)


@program(X, 12, engine="compiled", smooth=True)
def list_filled_from_its_end(x, n):
    u = [1.0] * n
    u[-1] = x[0]
    for i in range(n - 2, -1, -1):
        u[i] = u[i + 1] * x[2] * 0.5
    u[2] += x[2]
    u[0] *= x[0]
    return sum(v * v for v in u)


@program(X, 12, engine="compiled", smooth=True)
def two_lists_beside_each_other(x, n):
    u = [0.0] * n
    v = [0.0] * n
    u[0], v[0] = x[0], x[1]
    for i in range(n - 1):
        u[i + 1] = u[i] + 0.1 * v[i]
        v[i + 1] = v[i] - 0.1 * u[i] * x[2]
    return u[-1] * v[n - 1]


@program(X, 12, engine="compiled", smooth=True)
def list_set_before_and_after_a_loop_that_is_left(x, n):
    u = [0] * n
    u[0] = x[0]
    for i in range(1, n):
        u[i] = u[i - 1] * x[2] + 1.0
        if u[i] > 6:
            break
    u[1] = x[2] * u[2]
    return u[-1] + u[3] + u[1]


@program(X, 12, engine="compiled", smooth=True)
def list_made_in_each_turn(x, n):
    s = 0.0
    for k in range(3):
        u = [0.0] * n
        u[0] = x[k]
        for i in range(1, n):
            u[i] = u[i - 1] * x[1] * 0.5 + 1.0
        s += u[-1]
    return s


@program(X, engine="compiled")
def turned_round_in_place(x):
    xs = [v * 2 for v in x]
    ys = [v * v for v in x]
    xs[:] = xs[::-1]
    xs.append(x[0])
    xs[:] = [*xs, *ys]
    return xs[0] * xs[1] + sum(ys[1:]) * xs[-1]


@program(X, engine="compiled")
def another_list_in_its_place(x):
    xs = [v * 2 for v in x]
    ys = [v * v for v in x]
    xs[:] = ys
    for i in range(len(xs)):
        xs[i] = xs[i] * 3.0
    return sum(xs) * sum(ys)


@program(X, engine="compiled")
def ends_that_are_replaced(x):
    xs = [v * 2 for v in x]
    n = len(xs) // 2
    for i in range(3):
        xs[-1:] = [xs[0] * x[i]]
        xs[:1] = [xs[-1], x[1], xs[1]]
    xs[n:] = [x[0], xs[n]]
    xs[: n - 1] = [x[1] * v for v in xs]
    xs[70:] = [x[1]]
    return sum([v**2 for v in xs]) * len(xs)


@program(X, engine="tape")
def the_middle_replaced(x):
    xs = [v * 2 for v in x]
    xs[1:2] = [x[0], x[1]]
    return sum([v**2 for v in xs]) * len(xs)


@program(X, engine="compiled")
def the_last_left_out(x):
    xs = [x * k for k in range(5)]
    xs[:] = xs[::-1]
    xs[-1:] = []
    return np.sum(np.array(xs) ** 2)


@program(X, engine="compiled")
def put_together_with_nothing(x):
    xs, none = [v * 2 for v in x], []
    ys = xs + none
    zs = [v * v for v in ys]
    zs.extend([])
    return sum([v**2 for v in none + zs]) * len(ys)


@program(X, 1, engine="compiled")
@program(X, -1, engine="compiled", name="grown_in_two_loops_where_it_is_made-grown")
def grown_in_two_loops_where_it_is_made(x, k):
    with np.errstate(all="ignore"):
        if k > 0:
            return 0.0
        xs = [None, None]
        for i in range(2):
            xs[i] = x[i]
    for i in range(2):
        for j in range(2):
            xs.append(x[i] * x[j])
    return sum(xs)


@program(X, 1, engine="compiled")
@program(X, 0, engine="compiled", name="perhaps_replaced_and_then_set_by_index-replaced")
def perhaps_replaced_and_then_set_by_index(x, k):
    xs = [x.max(), x[0]]
    if k:
        pass
    else:
        xs[:] = xs[::1]
    for i in range(3):
        xs[i % 2] = xs[i % 2] * x[i % 2]
    return sum(xs)


@program(X, engine="compiled", smooth=True)
def elements_picked_by_the_turn_replace_the_first(x):
    xs = [x * 2, x * 3]
    for i in range(3):
        xs.append(xs[i % 2] * x)
        xs.pop(0)
    return sum([np.sum(v * v) for v in xs])


@program(X, engine="compiled", smooth=True)
def elements_picked_by_the_turn_of_pairs(x):
    pairs = [(x * 2, x[0]), (x * 3, x[1])]
    for i in range(3):
        u, k = pairs[i % 2]
        pairs = [pairs[1], (u * k, k * k)]
    return np.sum(pairs[0][0] * pairs[1][1])


@program(X, 0, engine="compiled", smooth=True)
def an_element_picked_by_the_run_is_added_to_what_was_written(x, k):
    xs = [None] * 3
    u = x * 1
    for i in range(3):
        xs[i] = u * 2
    u[1] = 0.5
    u += xs[k]
    return np.sum(u**2)


@program(X, 0.9, engine="compiled")
def numbers_until_another_comes_to_them(x, k):
    a = np.ones((2, 4))
    xs = [np.inner(x, x) for _ in x]
    for i in range(3):
        a[1:] += xs[i]
    xs.append(np.where(k >= 0.5, k, a[-1, 3]))
    del xs[0]
    return sum(xs)
