"""The backward pass: cotangents from a result back to the leaves, newest operation first.

A node's edges lead to smaller numbers only, so a heap of numbers visits every node after all that
its cotangent is made of. Nothing recurses; the state of a run lives in the run, so that threads may
run at the same time; saved values are released as soon as they are used, unless retained.
"""

from heapq import heappop, heappush

import numpy as np

from s2sgrad.errors import TapeError
from s2sgrad.runtime.arrays import as_gradient
from s2sgrad.runtime.grad_mode import forced_recording
from s2sgrad.runtime.node import LEAF
from s2sgrad.runtime.tensor import traced
from s2sgrad.runtime.views import ITEM, WRITE, add_item, pull_write

_ndarray = np.ndarray


def backward(roots, targets, *, create_graph=False, retain=False, like=None):
    """Pull cotangents back.

    Parameters
    ----------
    roots : list of (Node, cotangent)
    targets : list of (Node or None)
        Only what leads to them is visited. None, which nothing flows to, stands for a constant.
    create_graph : bool
        Record the pass itself; cotangents are then `Traced`.
    retain : bool
        Keep saved values for another pass.
    like : list, optional
        The values of the targets: what is returned are gradients of them, in memory of their own.

    Returns
    -------
    list
        The cotangent of each target; None where nothing flows to it.
    """
    numbers = [None if node is None else node.number for node in targets]
    wanted = set(numbers)
    wanted.discard(None)
    owned = ()
    found = {}
    if wanted and roots:
        run = _Run(min(wanted))
        (node, g), *others = roots
        for other in others:
            run.add(*other)
        if create_graph:
            run.add(node, g)
            with forced_recording():
                found = _run_recorded(run, wanted)
        else:
            if others:
                run.add(node, g)
                node = None
            leaves_only = all([node is None or node.form is LEAF for node in targets])
            found = _run(run, wanted, not retain, leaves_only, node, g)
        owned = run.owned
    if like is None:
        return [found.get(number) for number in numbers]
    return [as_gradient(found.get(n), x, n in owned) for n, x in zip(numbers, like, strict=True)]


def _run(run, wanted, release, leaves_only, node, g):
    """First order: plain arrays, cotangents of memory added in place. It begins with `node`, if that is given."""
    floor, nodes, pending, owned, heap, add = run.floor, run.nodes, run.pending, run.owned, run.heap, run.add
    found = {}
    if node is not None:
        number = node.number
        if number < floor:
            return found
    while node is not None or heap:
        if node is None:
            number = -heappop(heap)
            node = nodes.pop(number)
            g = pending.pop(number)
        mine = None  # the type of g, where it is surely an array that nobody else holds and of the value's shape
        while True:  # straight on while the newest pending node is the one just reached
            form = node.form
            saved = node.saved
            edges = node.edges
            if saved is None:
                raise _released()
            if not leaves_only and number in wanted:
                found[number] = g
                owned.discard(number)
                mine = None
            pull = form.over if mine is form.fresh else form.pull
            lone = form.lone  # calls spelt out: a starred one costs as much as the arithmetic
            if lone == 2:
                g = pull(g, saved[0], saved[1])
            elif lone == 1:
                g = pull(g, saved[0])
            elif form is LEAF:
                if number in wanted:
                    found[number] = g
                    if mine is not None:
                        owned.add(number)
                break
            else:
                if form is ITEM:
                    if edges.number >= floor:
                        add_item(g, saved, edges, run)
                    break
                if form is WRITE:
                    g = pull_write(g, *saved, run=run, owned=number in owned, edges=edges)
                else:
                    g = pull(g, *saved)
                if type(edges) is tuple:
                    edges, g = _share(edges, g, add)
                if g is None or edges is None:
                    if release:
                        node.saved = None
                    break
            mine = form.fresh
            if release:
                node.saved = None
            node = edges
            number = node.number
            if number < floor:
                break
            if nodes and (number in nodes or number < -heap[0]):
                add(node, g)
                break
        node = None
    return found


def _share(edges, cotangents, add):
    """Collect the cotangents of several edges but that of the newest, which is returned with its edge."""
    newest = part = None
    for edge, c in zip(edges, cotangents, strict=True):
        if edge is None or c is None:
            continue
        if newest is None:
            newest, part = edge, c
        elif edge is newest:
            part = part + c
        elif edge.number > newest.number:
            add(newest, part)
            newest, part = edge, c
        else:
            add(edge, c)
    return newest, part


def _run_recorded(run, wanted):
    """Derivatives of derivatives: cotangents are tensors, and the pullbacks are recorded themselves."""
    found = {}
    while run.heap:
        number = -heappop(run.heap)
        node = run.nodes.pop(number)
        g = run.pending.pop(number)
        if number in wanted:
            found[number] = g
        if node.form is LEAF:
            continue
        if node.saved is None:
            raise _released()
        c = node.form.twin()(g, *node.form.restore(node, traced))
        for edge, part in zip(node.edges, c, strict=True) if type(node.edges) is tuple else ((node.edges, c),):
            if edge is not None and part is not None:
                run.add(edge, part)
    return found


def _released():
    return TapeError("the values saved for the backward pass were released by an earlier pass: retain them")


class _Run:
    """The state of one backward pass.

    Attributes
    ----------
    nodes, pending : dict
        By number: the nodes reached, and the cotangents collected for them so far.
    owned : set of int
        Whose cotangent is a buffer made here that nobody else holds, and may be added to in place.
    heap : list of int
        The negative numbers of the nodes reached.
    """

    __slots__ = ("floor", "nodes", "pending", "owned", "heap")

    def __init__(self, floor):
        self.floor = floor
        self.nodes = {}
        self.pending = {}
        self.owned = set()
        self.heap = []

    def add(self, node, c):
        """Collect the cotangent `c` for `node`."""
        number = node.number
        if number < self.floor:
            return
        if number not in self.nodes:
            self.nodes[number] = node
            self.pending[number] = c
            heappush(self.heap, -number)
            return
        old = self.pending[number]
        if number in self.owned and type(c) is _ndarray and c.dtype is old.dtype and c.shape == old.shape:
            old += c
            return
        total = self.pending[number] = old + c
        if type(total) is _ndarray:
            self.owned.add(number)
        else:
            self.owned.discard(number)

    def give(self, node, buffer):
        """Collect a fresh `buffer` for `node`."""
        fresh = node.number not in self.nodes and node.number >= self.floor
        self.add(node, buffer)
        if fresh:
            self.owned.add(node.number)

    def buffer(self, node, make):
        """The buffer of `node`'s cotangent to add to in place; ``make(old)`` gives one where there is none."""
        number = node.number
        old = self.pending.get(number)
        if old is None:
            self.give(node, make(None))
        elif number not in self.owned:
            self.pending[number] = make(old)
            self.owned.add(number)
        return self.pending[number]
