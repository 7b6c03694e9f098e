"""Lists of a few arrays whose elements are set by index, in loops that count: weights, layers, moments."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.3, -0.7, 1.2])
PAIR = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
V = np.array([0.5, 0.2])
LAYERS = [np.full((2, 3), 0.3), np.full((3, 1), 0.7)]


@program(PAIR, V, engine="compiled", argnums=0)
@program(PAIR, V, engine="compiled", argnums=1, name="step_down_the_slope_x")
def step_down_the_slope(ws, x):
    lr = 0.1
    for i in range(len(ws)):
        ws[i] = ws[i] - lr * x
    s = 0.0
    for w in ws:
        s = s + np.sum(w**2)
    return s


@program(LAYERS, V, 3, engine="compiled", argnums=0)
@program(LAYERS, V, 3, engine="compiled", argnums=1, smooth=True, name="steps_of_layers_of_different_shapes_x")
def steps_of_layers_of_different_shapes(ws, x, steps):
    vs = [w * 1.0 for w in ws]
    n = len(vs)
    for _ in range(steps):
        for i in range(n):
            vs[i] = vs[i] - 0.1 * np.sum(x) * np.sin(vs[i])
    h = x
    for w in vs:
        h = np.tanh(h @ w)
    return np.sum(h)


@program(PAIR, V, 3, engine="compiled", argnums=0)
@program(PAIR, V, 3, engine="compiled", argnums=1, smooth=True, name="gradients_in_a_comprehension_x")
def gradients_in_a_comprehension(ws, x, steps):
    ws = [w.copy() for w in ws]
    for _ in range(steps):
        gs = [2 * (w - x) * w for w in ws]
        for i in range(len(ws)):
            ws[i] = ws[i] - 0.1 * gs[i]
    return sum(np.sum(w**2) for w in ws)


@program(PAIR, V, 2, engine="compiled", argnums=0)
@program(PAIR, V, 2, engine="compiled", argnums=1, smooth=True, name="set_while_enumerated_x")
def set_while_enumerated(ws, x, steps):
    ws = list(ws)
    for _ in range(steps):
        for i, w in enumerate(ws):
            ws[i] = w - 0.1 * (w - x) * w
    return sum(np.sum(w**2) for w in ws)


@program(LAYERS, V, 3, engine="compiled", argnums=(0, 1))
def moments(ws, x, steps):
    m = [np.zeros_like(w) for w in ws]
    v = [np.zeros_like(w) for w in ws]
    p = [w.copy() for w in ws]
    for t in range(1, steps + 1):
        for i in range(len(p)):
            g = np.cos(p[i]) * x[0]
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.99 * v[i] + 0.01 * g**2
            p[i] = p[i] - 0.1 * m[i] / (1 - 0.9**t) / (np.sqrt(v[i]) + 1e-3)
    return np.sum(p[0]) + np.sum(p[1] ** 2)


@program(LAYERS, V, engine="compiled", argnums=0)
@program(LAYERS, V, engine="compiled", argnums=1, smooth=True, name="backpropagation_by_hand_x")
def backpropagation_by_hand(ws, x):
    n = len(ws)
    acts = [None] * (n + 1)
    acts[0] = x
    for k in range(n):
        acts[k + 1] = np.tanh(acts[k] @ ws[k])
    grads = [None] * n
    delta = acts[n] - 1.0
    for k in reversed(range(n)):
        grads[k] = np.outer(acts[k], delta)
        delta = (ws[k] @ delta) * (1 - acts[k] ** 2)
    return sum(np.sum(g**2) for g in grads)


@program(LAYERS, V, engine="compiled", argnums=0)
@program(LAYERS, V, engine="compiled", argnums=1, smooth=True, name="counted_down_x")
def counted_down(ws, x):
    acts = [x]
    for w in ws:
        acts.append(np.tanh(acts[-1] @ w))
    grads = [None] * len(ws)
    delta = acts[-1] - 1.0
    for k in range(len(ws) - 1, -1, -1):
        grads[k] = np.outer(acts[k], delta)
        delta = (ws[k] @ delta) * (1 - acts[k] ** 2)
    return sum(np.sum(g**2) for g in grads)


@program(PAIR, V, engine="compiled", argnums=(0, 1))
@program(PAIR, V, engine="compiled", argnums=1, smooth=True, name="set_in_a_copy_x")
def set_in_a_copy_of_the_list(ws, x):
    vs = ws.copy()
    us = ws[:]
    for i in range(len(vs)):
        vs[i] = vs[i] * x
        us[-1 - i] = vs[i] * us[-i]
    return np.sum(vs[0] * vs[1] * ws[0]) + np.sum(us[0] * us[1])


@program(X, engine="compiled", smooth=True)
def list_with_two_names(x):
    ws = [x * 1.0, x * 2.0]
    us = ws
    for i in range(2):
        us[i] = ws[i] * x
    return np.sum(ws[0] * ws[1])


@program(X, engine="compiled", smooth=True)
def array_set_and_written_into(x):
    ws = [x * 1.0, x * 2.0]
    u = ws[1]
    for i in range(2):
        ws[i] += x
        ws[i][0] = ws[1 - i][1]
    ws[1] = ws[1] * 3.0
    return np.sum(ws[0] * ws[1] * u)


@program(X, engine="compiled", smooth=True)
def one_array_in_all_places(x):
    ws = [x * 1.0] * 3
    for i in range(1, 3):
        ws[i] = ws[i - 1] * 2.0
    ws[0][0] = 5.0
    return np.sum(ws[0] * ws[1] * ws[2])


@program(X, engine="compiled", smooth=True)
def one_array_of_zeros_written_into(x):
    ws = [np.zeros(3)] * 3
    ws[0][0] = x[0]
    for i in range(1, 3):
        ws[i] = ws[i] + x
    return np.sum(ws[0] * ws[1] * ws[2])


@program(X, engine="compiled")
def set_in_a_branch(x):
    ws = [x, x * 2.0]
    for i in range(2):
        if x[i] > 0:
            ws[i] = ws[1 - i] * x
    return np.sum(ws[0] * ws[1])


@program(X, engine="compiled", smooth=True)
def counter_changed_and_read_afterwards(x):
    ws = [x, x * 2.0]
    for i in range(len(ws)):
        i = 1 - i
        ws[i] = ws[i] * x + ws[1 - i]
    return np.sum(ws[i] * (i + 1)) + np.sum(ws[1] ** 2)


@program(X, engine="compiled", smooth=True)
def lengthened_after_its_length_was_asked(x):
    ws = [x, x * 2.0]
    n = len(ws)
    ws.append(x * x)
    for i in range(n):
        ws[i] = ws[i] * ws[len(ws) - 1]
    return np.sum(ws[0] * ws[1] * ws[2])


@program(X, engine="compiled", smooth=True)
def swapped_by_index(x):
    ws = [x, x * 2.0, x**2]
    for i in range(2):
        ws[i], ws[i + 1] = ws[i + 1], ws[i] * 0.5
    return np.sum(ws[0] * ws[1] ** 2 * ws[2] ** 3)


@program(X, engine="compiled", smooth=True)
def set_by_a_helper_within(x):
    ws = [x, x * 2.0]

    def double(i):
        ws[i] = ws[i] * 2.0 * x

    for i in range(2):
        ws[i] = ws[i] + 1.0
    double(1)
    return np.sum(ws[0] * ws[1])


@program(X, engine="compiled", smooth=True)
def empty_arrays_and_numbers_among_them(x):
    ws = [x[:0], np.sum(x), x[0], x]
    for i in range(len(ws)):
        ws[i] = ws[i] * 2.0 + 1.0
    return np.sum(ws[0]) + ws[1] * ws[2] * np.sum(ws[3])


@program(np.array(0.7), engine="compiled", smooth=True)
def arrays_of_no_dimension(x):
    ws = [x, x * x, np.reshape(x, (1,))]
    for i in range(3):
        ws[i] = ws[i] * x
    return ws[0] * ws[1] + np.sum(ws[2])


@program([], V, engine="compiled", argnums=1, smooth=True)
def no_weights_at_all(ws, x):
    for i in range(len(ws)):
        ws[i] = ws[i] * x
    return np.sum(x**2) + len(ws)


@program(X, engine="compiled", smooth=True)
def dict_with_counted_keys(x):
    d = {}
    for i in range(3):
        d[i] = x * (i + 1)
    for i in range(1, 3):
        d[i] = d[i] * d[i - 1]
    return np.sum(d[0] + d[2])


@program(X, 1, engine="tape", smooth=True)
def place_that_only_the_run_knows(x, k):
    ws = [x, 2.0 * x, x * x]
    ws[k] = ws[k] * 3.0
    return np.sum(ws[0] * ws[1] + ws[2])


@program(X, engine="tape", smooth=True)
def more_than_stand_well_in_the_code(x):
    ws = [None] * 12
    for i in range(12):
        ws[i] = x * i
    return np.sum(ws[3] * ws[11])


@program(X, engine="tape", smooth=True)
def counted_in_a_while(x):
    ws = [x, x * 2.0]
    i = 0
    while i < 2:
        ws[i] = ws[i] * x
        i += 1
    return np.sum(ws[0] * ws[1])


@program(PAIR, engine="tape")
def lengthened_while_enumerated(ws):
    ws = [w.copy() for w in ws]
    for i, w in enumerate(ws):
        ws[i] = w * 2.0
        if len(ws) < 3:
            ws.append(w * w)
    return sum(np.sum(w**2) for w in ws)


@program(X, engine="compiled", smooth=True)
def slices_of_a_list_of_numbers(x):
    xs = [x[0], x[1], x[0] * x[1]]
    second = xs
    for i in range(3):
        xs[1:] = [xs[0] * x[i % 2], xs[1]]
    xs[:0] = (x[1], 2.0)
    xs[-1:] = xs
    xs[:] = xs[::-1]
    return second[0] * second[1] + second[2] ** 2 * len(second)


@program(X, engine="compiled", smooth=True)
def slices_of_a_list_that_grows(x):
    xs = [x[0]]
    for v in x:
        xs.append(v * xs[-1])
    xs[2:] = [x[1]]
    return xs[0] * xs[1] * xs[2]


@program(np.array([0.63]), 0.6, engine="compiled", argnums=(0, 1))
def set_at_the_end_and_then_appended_to(x, k):
    xs = [x[0] * 2, k, k]
    for i in range(len(x)):
        xs[i + 1] *= k + k
        x[i - 1] = xs[1] - k
    xs[-1] = x[-1] * k
    xs.append(np.sum(x))
    return x.max()


@program(np.array([0.63, 0.5, 0.2]), 0.6, engine="compiled", argnums=(0, 1))
def set_from_behind_by_a_loop_and_appended_to_later(x, k):
    xs = [v * k for v in x]
    for i in range(2):
        xs[i - 1] *= k
    r = xs[0] * 1.0
    xs[-1] = r
    xs.append(np.sum(x))
    return r + x.max()


@program(np.array([0.63, 0.5, 0.2]), 0.6, engine="compiled", argnums=(0, 1))
def set_from_behind_by_a_loop_and_shortened_later(x, k):
    xs = [v * k for v in x]
    for i in range(2):
        xs[i - 1] *= k
    r = xs[-1] * 1.0
    xs[-1] = r
    q = xs.pop()
    return r + x.max() * q
