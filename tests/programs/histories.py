"""Lists held by objects and dicts that loops append to: histories of losses, states and times."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.4, 1.2, 0.8])


class Pendulums:
    def __init__(self, angles):
        self.angles = angles
        self.history = []
        self.times = [0.0]

    def step(self, dt):
        self.angles = self.angles - dt * np.sin(self.angles)
        self.history.append(self.angles)
        self.times.append(self.times[-1] + dt)

    def step_in_place(self, dt):
        self.angles[1:] += dt * np.sin(self.angles[:-1])
        self.history.append(self.angles)

    def step_and_copy(self, dt):
        self.angles[1:] += dt * np.sin(self.angles[:-1])
        self.history.append(self.angles.copy())

    def forget(self):
        self.history = []


class Pair:
    def __init__(self, x):
        self.first, self.second = Pendulums(x), Pendulums(2 * x)

    def step(self, dt):
        self.first.step(dt)
        self.second.step(dt * np.sum(self.first.history[-1]))


@program(X, engine="compiled", smooth=True)
def losses_in_a_dict(x):
    out = {"loss": [], "x": []}
    for _ in range(5):
        x = x - 0.1 * np.sin(x)
        out["loss"].append(np.sum(x * x))
        out["x"].append(x)
    return np.sum(np.array(out["loss"])) + np.sum(out["x"][-1] * out["x"][0]) * len(out["x"])


@program(X, engine="compiled", smooth=True)
def history_of_an_object(x):
    pendulums = Pendulums(x)
    for _ in range(6):
        pendulums.step(0.1)
    return np.sum(np.array(pendulums.history) ** 2) * sum(pendulums.times)


@program(X, engine="compiled", smooth=True)
def history_of_copies(x):
    pendulums = Pendulums(x.copy())
    for _ in range(4):
        pendulums.step_and_copy(0.1)
    return np.sum(np.array(pendulums.history) ** 2)


@program(X, engine="compiled", smooth=True)
def histories_of_objects_in_an_object(x):
    pair = Pair(x)
    for _ in range(5):
        pair.step(0.1)
    return np.sum(np.array(pair.first.history) * np.stack(pair.second.history))


@program(X, engine="compiled")
def history_of_no_turns(x):
    pendulums = Pendulums(x)
    for _ in range(len(x) - 3):
        pendulums.step(0.1)
    return np.sum(x) + len(pendulums.history) + np.sum(np.array(pendulums.history)) + sum(pendulums.history)


@program(X, engine="compiled", smooth=True)
def every_second_loss(x):
    out = {"loss": []}
    for k in range(7):
        x = x - 0.1 * np.sin(x)
        if k % 2 == 0:
            out["loss"].append(np.sum(x * x))
    return np.sum(np.array(out["loss"])) + out["loss"][-1] * len(out["loss"])


@program(X, engine="compiled", smooth=True)
def history_left_early(x):
    pendulums, k = Pendulums(x), 0
    while True:
        pendulums.step(0.1)
        k += 1
        if np.sum(pendulums.history[-1]) < 2.0 or k > 10:
            break
        if k % 2:
            continue
        pendulums.history.append(pendulums.angles * 2)
    return np.sum(pendulums.history[-1]) + np.sum(pendulums.history[len(pendulums.history) // 2])


@program(X, engine="compiled", smooth=True)
def history_that_is_read_on_its_way(x):
    out = {"u": [x]}
    for _ in range(5):
        out["u"].append(np.sin(out["u"][-1]) + out["u"][0] * len(out["u"]))
    return np.sum(out["u"][-1])


@program(X, engine="compiled", smooth=True)
def numbers_first_that_carry_no_derivative(x):
    out = {"a": [0.0]}
    for k in range(5):
        out["a"].append(out["a"][-1] + k)
    for k in range(3):
        out["a"].append(x[0] * out["a"][k])
    return np.sum(out["a"])


@program(X, engine="compiled", smooth=True)
def stack_in_a_dict(x):
    work = {"stack": []}
    total = 0.0
    for v in x:
        work["stack"] += [v, v * v]
        work["stack"].extend([np.sin(v)])
    while work["stack"]:
        total = total * 0.5 + work["stack"].pop() ** 2
    return total


@program(X, engine="compiled", smooth=True)
def pairs_in_a_dict(x):
    out = {"states": []}
    for k in range(3):
        x = np.sin(x)
        out["states"].append((k, x))
    return sum(k * np.sum(v) for k, v in out["states"])


@program(X, engine="compiled", smooth=True)
def loss_by_a_function_that_keeps_it(x):
    out = {"loss": []}

    def keep(value):
        out["loss"].append(value)

    for _ in range(3):
        x = np.sin(x)
        keep(np.sum(x))
    return sum(out["loss"])


@program(X, engine="compiled")
def histories_by_name(x):
    out = {"a": [x[0]], "bb": []}
    for k in range(3):
        for key in ("a", "bb"):
            out[key].append(x[k] * k)
    total = 0.0
    for key, values in out.items():
        total = total + sum(values) * len(key)
    return total


# ---- the list has other names, or what is in it changes


@program(X, engine=None)
def array_of_a_history_that_is_written_to(x):
    pendulums = Pendulums(x.copy())
    for _ in range(4):
        pendulums.step_in_place(0.1)
    return np.sum(np.array(pendulums.history) ** 2)


@program(X, engine=None)
def last_state_is_written_to_later(x):
    pendulums = Pendulums(x)
    for _ in range(4):
        pendulums.step(0.1)
    pendulums.angles[1] *= 2
    return np.sum(np.array(pendulums.history) ** 2)


@program(X, engine=None)
def states_of_a_history_are_written_to(x):
    pendulums = Pendulums(x)
    for _ in range(4):
        pendulums.step(0.1)
    for angles in pendulums.history:
        angles *= 2
    return np.sum(np.array(pendulums.history) ** 2)


@program(X, engine=None)
def another_name_before(x):
    pendulums = Pendulums(x)
    seen = pendulums.history
    for _ in range(4):
        pendulums.step(0.1)
    return np.sum(np.array(seen)) + np.sum(seen[-1] * pendulums.history[0])


@program(X, engine=None)
def another_name_between(x):
    pendulums = Pendulums(x)
    for _ in range(3):
        pendulums.step(0.1)
    seen = pendulums.history
    for _ in range(3):
        pendulums.step(0.1)
    return np.sum(np.array(seen)) + len(seen) * np.sum(x)


@program(X, engine=None)
def another_dict_has_it(x):
    one = {"h": []}
    other = {"h": one["h"]}
    for k in range(3):
        one["h"].append(np.sum(x) * k)
    return np.sum(np.array(other["h"])) + len(other["h"]) * x[0]


@program(X, engine=None)
def perhaps_another_name(x):
    out = {"a": []}
    for k in range(3):
        out["a"].append(x[0] * k)
    seen = out["a"] if x[0] > 0 else [x[1]]
    for k in range(3):
        out["a"].append(x[0] * k)
    return sum(out["a"]) + 2 * sum(seen)


@program(X, engine=None)
def tuple_that_holds_it(x):
    out = {"a": []}
    for k in range(3):
        out["a"].append(x[0] * k)
    pair = (out["a"], x[2])
    for k in range(3):
        out["a"].append(x[0] * k)
    return sum(out["a"]) + 2 * sum(pair[0])


@program(X, engine=None)
def history_that_is_replaced_on_the_way(x):
    pendulums = Pendulums(x)
    seen = pendulums.history
    for k in range(4):
        pendulums.step(0.1)
        if k == 1:
            pendulums.forget()
    return np.sum(np.array(pendulums.history)) * np.sum(np.array(seen))


@program(X, engine=None)
def another_list_is_put_there(x):
    other = [x[0]]
    pendulums = Pendulums(x)
    for k in range(4):
        pendulums.history.append(x[1] * k)
        pendulums.history = other
    return sum(other) * sum(pendulums.history)


@program(X, engine=None)
def two_keys_of_one_list(x):
    out = {"a": [x[0]]}
    out["b"] = out["a"]
    for k in range(3):
        out["a"].append(x[2] * k)
        out["b"].append(x[1] * k)
    return sum(out["a"]) + 2 * sum(out["b"])


@program(X, engine=None)
def histories_that_are_exchanged(x):
    out = {"a": [x[0]], "b": [x[1]]}
    for k in range(3):
        out["a"].append(x[2] * k)
        out["a"], out["b"] = out["b"], out["a"]
    return sum(out["a"]) + 2 * sum(out["b"])


@program(X, engine=None)
def loop_over_a_history_that_it_lengthens(x):
    out = {"a": [x[0]]}
    for k in range(2):
        out["a"].append(x[k])
    seen = out["a"]
    for v in seen:
        if len(out["a"]) > 8:
            break
        out["a"].append(v * 2)
    return sum(out["a"])


SEEN: dict = {}


@program(X, engine=None)
def times_that_are_seen_outside(x):
    pendulums = Pendulums(x)
    for _ in range(3):
        pendulums.times.append(1.0)
    SEEN["times"] = pendulums.times
    for _ in range(3):
        pendulums.times.append(1.0)
    return np.sum(x) * len(SEEN["times"]) * len(pendulums.times)


@program(X, engine="compiled", smooth=True)
def the_last_states_are_kept(x):
    pendulums = Pendulums(x)
    for _ in range(6):
        pendulums.step(0.1)
        if len(pendulums.history) > 2:
            del pendulums.history[0]
        pendulums.times.pop()
    return np.sum(pendulums.history[0] * pendulums.history[-1]) * len(pendulums.times)
