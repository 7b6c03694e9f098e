"""Deques: windows that move, histories of methods of several steps, queues."""

import collections
from collections import deque

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0, 0.7])


@program(X, engine="compiled", smooth=True)
def moving_mean(x):
    window = deque(maxlen=3)
    s = 0.0
    for v in x:
        window.append(v * v)
        s += sum(window) / len(window)
    return s


@program(X, engine="compiled", smooth=True)
def newest_first(x):
    window = deque(maxlen=3)
    s = 0.0
    for v in x:
        window.appendleft(v)
        s += sum(k * w for k, w in enumerate(window)) * v
    return s


@program(X, engine="compiled", smooth=True)
def three_step_method(x):
    slopes = deque([np.zeros(4)] * 3, maxlen=3)
    u = x
    for _ in range(6):
        slopes.append(np.sin(u))
        u = u + 0.1 * (23 * slopes[-1] - 16 * slopes[-2] + 5 * slopes[-3]) / 12
    return np.sum(u)


@program(X, engine="compiled", smooth=True)
def recurrence_of_the_last_three(x):
    history = deque([x[0], x[1], x[2]], maxlen=3)
    for _ in range(10):
        history.append(0.5 * history[-1] + 0.2 * history[-2] * x[3] + 0.1 * history[0])
    return history[-1] * history[0]


@program(X, engine="compiled", smooth=True)
def queue_of_tasks(x):
    tasks = collections.deque()
    tasks.append((x[0], 1))
    tasks.append((x[1], 2))
    s = 0.0
    while tasks:
        v, depth = tasks.popleft()
        s += v * v * depth
        if depth < 4:
            tasks.append((v * 0.5, depth + 1))
            tasks.append((v + 0.5, depth + 2))
    return s


@program(X, engine="compiled", smooth=True)
def queue_that_empties(x):
    queue = deque([x[0], x[1]])
    s = 0.0
    while queue:
        v = queue.popleft()
        s += v * v
        if s < 3:
            queue.append(v * 0.5)
    return s


@program(X, engine="compiled", smooth=True)
def both_ends(x):
    q = deque([x[0]])
    q.appendleft(x[1] * 2)
    q.append(x[2])
    q.reverse()
    return q[0] * q[1] * q[-1] + q.pop() * q.popleft() * len(q)


@program(X, engine="compiled", smooth=True)
def turned_round(x):
    q = deque([x[0], x[1], x[2]])
    for _ in range(len(q)):
        q.append(q.popleft() * 2)
    del q[1]
    return q[0] * q[1]


@program(X, engine="compiled", smooth=True)
def longer_than_it_may_be(x):
    first = deque([1.0, 2.0, 3.0, x[3]], maxlen=2)
    second = deque([v * v for v in x], 3)
    third = deque([x[0]] * 5, maxlen=3)
    first.append(x[0])
    third.append(x[1])
    return first[0] * first[1] + sum(second) * sum(third) + len(first)


@program(X, engine="compiled", smooth=True)
def elements_set_and_looked_at(x):
    q = deque([x[0], x[1]])
    before = np.array(list(q))
    q[0] = x[2]
    q[1] += x[3]
    return np.sum(before * np.array(list(q))) + max(q) + [*q][0]


@program(X, engine="compiled", smooth=True)
def made_in_each_turn(x):
    s = 0.0
    for k in range(3):
        pair = deque(maxlen=2)
        for v in x:
            pair.append(v * v)
            if len(pair) == 2:
                s += pair[0] * pair[1] * k
    return s


@program(X, engine="tape", smooth=True)
def under_another_name(x):
    q = deque([x[0], x[1]], maxlen=2)
    other = q
    other.append(x[2])
    return q[0] * q[1]


@program(X, engine="tape", smooth=True)
def seen_to_be_no_list(x):
    q = deque([x[0], x[1]])
    return q[0] * (2.0 if isinstance(q, list) else 3.0)


@program(X, engine="tape", smooth=True)
def of_another_length_later(x):
    q = deque([x[0]], maxlen=2)
    q.append(x[1])
    y = q[0]
    q = deque([x[1], x[2]])
    q.append(x[3])
    return q[0] * q[2] * y


@program(X, engine="tape", smooth=True)
def changed_while_it_is_run_over(x):
    q = deque([x[0], x[1], x[2]])
    s = 0.0
    try:
        for v in q:
            s += v
            if v > 1:
                q.append(v)
    except RuntimeError:
        s = s * 7
    return s


@program(X, engine="tape", smooth=True)
def turned_by_rotate(x):
    q = deque([x[0], x[1], x[2]])
    q.rotate(1)
    return q[0] * 3 + q[1] * x[0]


@program(X, engine="tape", smooth=True)
def filled_by_a_nested_function(x):
    q = deque([x[0], x[1]], maxlen=3)

    def push(v):
        q.append(v)

    push(x[2])
    push(x[3])
    return q[0] * 3 + q[1]
