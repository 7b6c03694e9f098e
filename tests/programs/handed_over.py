"""Lists that a loop fills under one name and then gives to another one: ``values = new``."""

import math

import numpy as np

from tests.programs.corpus import program

FEW = [0.5, -1.5, 2.0]


@program(FEW, engine="compiled")
def filled_and_handed_over(values):
    for _ in range(3):
        new = []
        for i in range(len(values)):
            new.append(math.sin(values[i]) + values[i - 1])
        values = new
    return sum(values)


@program(FEW, engine="compiled")
def handed_over_once(values):
    new = []
    for i in range(len(values)):
        s = 0.0
        for j in range(len(values)):
            s += values[j] * values[i] ** 2
        new.append(s + values[i])
    values = new
    total = 0.0
    for v in values:
        total += v * v
    return total


@program(FEW, 2.0, engine="compiled", argnums=(0, 1))
def handed_over_in_a_branch(values, k):
    for n in range(3):
        if n != 1:
            new = []
            for v in values:
                new.append(v * k + n)
            values = new
        else:
            values = [v * v for v in values]
    return values[0] * values[-1]


@program(FEW, engine="compiled")
def the_one_before_is_kept(values):
    before = values
    for _ in range(2):
        new = []
        for i in range(len(values)):
            new.append(values[i] * before[i])
        before = values
        values = new
    return sum(values) + sum(before)


@program(FEW, engine=None)
def read_by_both_names(values):
    for _ in range(2):
        new = []
        for v in values:
            new.append(2.0 * v)
        values = new
        new.append(1.0)
    return sum(values) * len(values)


@program([np.array([0.5, 1.0]), np.array([2.0, -1.0])], engine=None)
def what_is_in_it_is_changed(arrays):
    arrays = [2.0 * a for a in arrays]
    for _ in range(2):
        new = []
        for a in arrays:
            new.append(a)
        new[0] *= 3.0
        new[1][0] = 5.0
        arrays = new
    return np.sum(arrays[0] * arrays[1])


@program([np.array([0.5, 1.0]), np.array([2.0, -1.0])], engine=None)
def what_is_in_it_is_changed_in_the_list_before(arrays):
    arrays = [2.0 * a for a in arrays]
    total = 0.0
    for _ in range(3):
        new = []
        new.append(arrays[1])
        new.append(arrays[0])
        new[0][0] *= 3.0
        total = total + np.sum(arrays[1] * arrays[0])
        arrays = new
    return total


@program(FEW, engine=None)
def changed_by_the_other_name(values):
    for _ in range(3):
        new = []
        for v in values:
            new.append(2.0 * v)
        values = new
        values.append(1.0)
        values[0] = 3.0
    return sum(values) * len(values)


@program(FEW, engine=None)
def numbers_of_the_other_name_are_set(values):
    before = values
    for _ in range(3):
        new = []
        for i in range(len(values)):
            new.append(values[i] * before[i])
        before = values
        values = new
        values[1] = values[0] * values[2]
        values[2] *= 0.5
    return sum(values) + sum(before)


@program(FEW, engine=None)
def handed_over_to_two_names(values):
    first = second = values
    for k in range(3):
        new = []
        for v in values:
            new.append(v * v + k)
        values = new
        if k == 0:
            first = values
        values[0] = 1.5
    return sum(values) * first[0] + first[1] * second[2]
