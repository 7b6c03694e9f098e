"""Tables: lists of lists whose elements are set by two indices."""

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0, 0.7])


@program(X, engine="compiled", smooth=True)
def set_by_two_indices(x):
    table = [[0.0] * 3 for _ in range(2)]
    for i in range(2):
        for j in range(len(table[i])):
            table[i][j] = x[i] * x[j]
    return sum(sum(row) ** 2 for row in table) * table[1][-1]


@program(X, engine="compiled", smooth=True)
def changed_in_many_turns(x):
    table = [[0.0 for _ in range(3)] for _ in range(2)]
    for _ in range(5):
        for i in range(2):
            for j in range(3):
                table[i][j] += table[i][j] * 0.5 + x[j] * x[i]
    return np.sum(np.array(table) ** 2)


@program(X, engine="compiled", smooth=True)
def rows_that_are_one_list(x):
    table = [[0.0] * 2] * 2
    for i in range(2):
        for j in range(2):
            table[i][j] += x[i] * x[j + 1]
    return table[0][0] * table[1][1] + sum(table[0])


@program(X, engine="compiled", smooth=True)
def rows_under_other_names(x):
    table = [[0.0] * 2 for _ in range(3)]
    for i in range(3):
        row = table[i]
        for j in range(2):
            table[i][j] = x[i] * x[j + 1]
        row[0] = row[0] * x[3]
    table[0], table[1] = table[1], table[0]
    for row in table:
        row[1] = row[1] * 2
    return table[0][0] ** 2 * table[1][1] + sum(sum(row) for row in table)


@program(X, engine="compiled", smooth=True)
def a_row_that_takes_the_place_of_another(x):
    table = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        table[i][0] = x[i]
    table[1] = table[0]
    for i in range(2):
        table[i][1] += x[2] * table[i][0]
    return table[0][1] * table[1][1]


@program(X, engine="compiled")
def arrays_in_a_table(x):
    table = [[None] * 2, [None] * 2]
    for i in range(2):
        for j in range(2):
            table[i][j] = x * i + j
    x[0] = 9.0
    table[0][0][1] = x[2]
    return np.sum(table[0][0] ** 2 * x) + np.sum(table[1][1] * table[0][1])


@program(X, engine="compiled", smooth=True)
def filled_by_a_helper(x):
    def fill(table):
        for i in range(2):
            for j in range(len(table[i])):
                table[i][j] = x[i] * x[j]

    table = [[0.0] * 3 for _ in range(2)]
    fill(table)
    return table[1][2] * table[0][1]


@program(X, engine="compiled")
def set_on_two_ways(x):
    table = [[1.0, 2.0], [3.0, 4.0]]
    for i in range(2):
        if x[i] > 0:
            table[i][0] = x[i]
        else:
            table[i][1] = table[i][0] * x[i] ** 2
    return sum(table[0]) * sum(table[1])


@program(X, engine="compiled")
def longest_way(x):
    best = [[0.0] * 3 for _ in range(3)]
    for i in range(1, 3):
        for j in range(1, 3):
            best[i][j] = x[i] * x[j] + max(best[i - 1][j], best[i][j - 1])
    return best[2][2]


@program(X, engine="tape")
def a_large_table(x):
    table = [[0.0] * 20 for _ in range(20)]
    for i in range(20):
        for j in range(20):
            table[i][j] = x[i % 4] * x[j % 4]
    return sum(table[0]) * sum(table[1])
