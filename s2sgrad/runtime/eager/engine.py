"""The backward pass of the eager tape.

First the nodes that the roots lead to are counted: how many gradients each will receive. Then they run,
newest first, each once, after all its gradients were summed; a leaf is served as soon as its last gradient
has come. With `inputs`, only what leads to them runs.

A pass of first order computes with plain arrays; tensors are made only where a user looks (hooks,
Functions). With `create_graph` the same pullbacks run on recorded arrays, so that the pass is itself a
part of the graph. The state of a pass lives in a `Run`: several threads may pass through one graph.
"""

import threading
from heapq import heappop, heappush

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.arrays import unbroadcast
from s2sgrad.runtime.eager import dtypes, layout
from s2sgrad.runtime.eager.call import NAMING, cast
from s2sgrad.runtime.eager.hooks import run_after, run_before, run_tensor_hooks
from s2sgrad.runtime.eager.modes import set_grad
from s2sgrad.runtime.eager.node import as_tensor, as_traced, restored, saved_of
from s2sgrad.runtime.eager.tensor import ACCUMULATE, DEAD_END, Tensor, family, gradient_type, new
from s2sgrad.runtime.eager.versions import STALE, written
from s2sgrad.runtime.grad_mode import is_grad_enabled, is_recording, no_grad
from s2sgrad.runtime.node import Form, Node
from s2sgrad.runtime.record import PICK, Parts, recorder
from s2sgrad.runtime.tensor import Traced

_ndarray = np.ndarray
_recorded_unbroadcast = recorder(unbroadcast)


def _run_function(g, reference):
    with no_grad():
        return reference().run(g, False)


# the form of a custom Function's node, which runs itself; it saves a weak reference to itself for the other engine
FUNCTION = Form("Function", _run_function, make_twin=lambda: lambda g, reference: reference().run(g, True))


class _Current(threading.local):
    run = None


_current = _Current()


def current_run():
    """The pass that runs on this thread."""
    return _current.run


class Run:
    """One backward pass.

    Attributes
    ----------
    waiting : dict
        By node number: how many gradients have yet to come.
    pending : dict
        By node number: the sum of the gradients that have come.
    owned, exact : set
        The numbers of those sums that nobody else holds, and of those among them that are surely float64 arrays of
        the shape of the node's value.
    needed : set or None
        The numbers of the nodes that lead to the inputs asked for; None for all.
    captured : dict
        By node number: the gradient of each input asked for.
    runs_inputs : bool
        Whether the nodes of inputs that are not leaves run too, with their hooks.
    """

    def __init__(self, roots, inputs, retain, create_graph, runs_inputs=False):
        self.runs_inputs = runs_inputs
        self.retain = retain
        self.create_graph = create_graph
        self.pending = {}
        self.owned = set()
        self.exact = set()
        self.captured = {}
        self.inputs = None if inputs is None else {n.number for n in inputs}
        reached = self._count([node for node, _ in roots])
        self.needed = None if inputs is None else self._lead_to_inputs(reached)

    def _count(self, roots):
        """Count the gradients that each node will receive; return the nodes."""
        waiting = self.waiting = {}
        reached = []
        for node in roots:
            if node.number not in waiting:
                waiting[node.number] = 0
                reached.append(node)
        for node in reached:  # which grows meanwhile
            edges = node.edges
            if type(edges) is not tuple:
                number = edges.number
                if number in waiting:
                    waiting[number] += 1
                else:
                    waiting[number] = 1
                    reached.append(edges)
                continue
            for edge in edges:
                if edge is not None:
                    number = edge.number
                    if number in waiting:
                        waiting[number] += 1
                    else:
                        waiting[number] = 1
                        reached.append(edge)
        return reached

    def _lead_to_inputs(self, reached):
        """Numbers grow along the graph, leaves aside, which lead nowhere: one look at each node will do."""
        inputs = self.inputs
        leads = {n.number for n in reached if n.edges == () and n.number in inputs}
        for node in sorted(reached, key=lambda n: n.number):
            number = node.number
            if number in inputs or any(e is not None and e.number in leads for e in _tuple(node.edges)):
                leads.add(number)
        return leads

    def reaches(self, node):
        """Whether this pass computes the gradient that flows to `node`."""
        if node is None or node.number not in self.waiting:
            return False
        return self.needed is None or node.number in self.needed

    # ------------------------------------------------------------ running

    def start(self, roots):
        before, mode = _current.run, is_grad_enabled()
        _current.run = self
        if mode is not self.create_graph:
            set_grad(self.create_graph)
        try:
            heap = []
            for node, g in roots:
                self._add(node, g)
            for number, node in {node.number: node for node, _ in roots}.items():
                if self.waiting[number] == 0:
                    heappush(heap, (-number, node))
            self._loop(heap)
        finally:
            _current.run = before
            if is_grad_enabled() is not mode:
                set_grad(mode)

    def _loop(self, heap):
        waiting, pending, needed, exact = self.waiting, self.pending, self.needed, self.exact
        inputs = self.inputs or ()
        plain, release = not self.create_graph, not self.retain
        node = None
        mine = False  # whether g is surely an array that nobody else holds, of the value's shape and type float64
        while True:
            if node is None:
                if not heap:
                    return
                number, node = heappop(heap)
                number = -number
                g = pending.pop(number, None)
                mine = number in exact
            form = node.form
            if (
                plain
                and type(node) is Node
                and g is not None
                and (needed is None or number in needed and number not in inputs)
            ):
                saved = node.saved
                if saved is None or STALE:
                    saved = saved_of(node)
                pull = form.over if mine else form.pull
                mine = form.fresh
                lone = form.lone  # calls spelt out: a starred one costs as much as the arithmetic
                if lone == 2:
                    c = pull(g, saved[0], saved[1])
                elif lone == 1:
                    c = pull(g, saved[0])
                else:
                    c = pull(g, *saved)
                if release and not form.light:
                    node.saved = None
            else:
                mine = False
                if needed is not None and number not in needed or g is None and form is not FUNCTION:
                    c = None
                else:
                    c = self._careful(node, number, g)
            edges = node.edges
            if type(edges) is not tuple:
                number = edges.number
                left = waiting[number] - 1
                if (
                    not left
                    and edges.form is not ACCUMULATE
                    and number not in pending
                    and (not heap or number > -heap[0][0])
                ):
                    node, g = edges, c  # straight on: it is the newest of those that are ready
                    continue
                waiting[number] = left
                self._send(edges, number, c, left, mine, heap)
            else:
                for edge, part in zip(edges, c if c is not None else (None,) * len(edges), strict=True):
                    if edge is not None:
                        number = edge.number
                        left = waiting[number] = waiting[number] - 1
                        self._send(edge, number, part, left, mine, heap)
            node = None

    def _send(self, node, number, c, left, mine, heap):
        """Give `c` to a node that then waits for `left` more; `mine` as in `_loop`."""
        pending = self.pending
        if c is not None:
            if number in pending or node is DEAD_END:
                self._add(node, c)
            else:
                pending[number] = c
                if mine:
                    self.owned.add(number)
                    self.exact.add(number)
        if not left:
            if node.form is not ACCUMULATE:
                heappush(heap, (-number, node))
            elif number in pending:
                self._careful(node, number, pending.pop(number))

    def _add(self, node, c):
        if node is DEAD_END:
            return
        number = node.number
        pending = self.pending
        old = pending.get(number)
        if old is None:
            pending[number] = c
        elif number in self.owned and type(c) is _ndarray and c.dtype is old.dtype:
            old += c
        else:
            total = pending[number] = old + c
            self.exact.discard(number)
            if type(total) is _ndarray:
                self.owned.add(number)

    def _careful(self, node, number, g):
        """Run a node with all that may be attached to it; return the gradients of its edges."""
        if self.needed is not None and number not in self.needed:
            return None
        attached = getattr(node, "face", None) if type(node) is not Node else None
        leaf = node.form is ACCUMULATE
        hooks = node.variable._hooks if leaf else attached and attached.tensor_hooks
        if hooks and g is not None:
            dtype = gradient_type(node.variable) if leaf else attached.dtype
            g = self._value(run_tensor_hooks(hooks, typed(as_tensor(g), dtype)))
            self.owned.discard(number)
            self.exact.discard(number)
        if attached is not None and attached.retain is not None:
            tensor = attached.retain()
            if tensor is not None and g is not None:
                accumulate(tensor, g, self.create_graph)
        if self.inputs is not None:
            if number in self.inputs:
                self.captured[number] = g
            edges = _tuple(node.edges)
            if not self.runs_inputs and not any(e is not None and e.number in self.needed for e in edges):
                return None
        outputs = None
        if attached is not None and (attached.before or attached.after):
            self.owned.discard(number)  # what hooks were shown, or gave, is theirs too
            outputs = self._tensors(node, g)
            if attached.before:
                outputs = run_before(attached.before, outputs)
                g = self._gathered(node, outputs)
                if g is None and node.form is not FUNCTION:
                    return None
        if leaf:
            accumulate(node.variable, g, self.create_graph, number in self.owned)
            self._after_accumulation(node.variable)
            if attached is not None and attached.after:
                run_after(attached.after, (), outputs)
            return None
        c = pull(node, g, self.create_graph)
        if attached is not None and attached.after:
            inputs = run_after(attached.after, self._inputs(node, c), outputs)
            c = tuple([self._value(inputs[p]) for p in places_of(node)])
            c = c if type(node.edges) is tuple else c[0]
        if not self.retain:
            if node.form is FUNCTION:
                node.release()
            elif node.form is not PICK and not node.form.light:
                node.saved = None
        return c

    def _after_accumulation(self, variable):
        if variable._after:
            for hook in list(variable._after.values()):
                hook(variable)

    # ------------------------------------------------------------ what users see

    def _value(self, t):
        if t is None:
            return None
        return as_traced(t) if self.create_graph else t._a

    def _tensors(self, node, g):
        if isinstance(g, Parts):
            return tuple([as_tensor(part) for part in g])
        return (as_tensor(g),)

    def _gathered(self, node, outputs):
        if len(outputs) == 1 and node.form is not FUNCTION:
            return self._value(outputs[0])
        return tuple.__new__(Parts, [self._value(o) for o in outputs])

    def _inputs(self, node, c):
        c = c if type(node.edges) is tuple else (c,)
        places = places_of(node)
        inputs = [None] * arity_of(node)
        for p, part in zip(places, c or (None,) * len(places), strict=False):
            inputs[p] = as_tensor(part)
        return tuple(inputs)


def _tuple(edges):
    return edges if type(edges) is tuple else (edges,)


def typed(t, dtype):
    """A gradient as users see it: of the type of what it is the gradient of."""
    return t if dtype is None or t._a.dtype == dtype else cast(t, dtypes.of(dtype))


def places_of(node):
    """The argument that each edge of a node belongs to."""
    naming = NAMING.get(node.form)
    if naming is None or node.form is FUNCTION:
        return tuple(range(len(_tuple(node.edges))))
    return naming.places[: len(_tuple(node.edges))]


def arity_of(node):
    naming = NAMING.get(node.form)
    return len(_tuple(node.edges)) if naming is None else max(naming.arity, max(places_of(node), default=-1) + 1)


def pull(node, g, recording):
    """The gradients of a node's edges from that of its result."""
    form = node.form
    if form is FUNCTION:
        return node.run(g, recording)
    if form is PICK:
        return Parts(*node.saved, g)
    saved = saved_of(node)
    if not recording:
        return form.pull(g, *saved)
    if type(g) is not Traced and not isinstance(g, Parts):
        g = as_traced(as_tensor(g))
    return form.twin()(g, *restored(node, saved))


def call_node(node, grads):
    """``node(*grads)``: the pullback in the caller's grad mode, outside any pass."""
    if node.form is ACCUMULATE:
        (grad,) = grads
        if grad is not None:
            recording = is_recording()
            accumulate(node.variable, as_traced(grad) if recording else grad._a, recording and grad.requires_grad)
        return ()
    recording = is_recording()
    if not grads or any(g is not None and not isinstance(g, Tensor) for g in grads):
        raise TypeError(f"{type(node).__name__} takes the gradients of its results: Tensors or None")
    values = [None if g is None else as_traced(g) if recording else g._a for g in grads]
    inputs = [None] * arity_of(node)
    if node.form is FUNCTION or any(v is not None for v in values):
        g = tuple.__new__(Parts, values) if node.form is FUNCTION or len(values) > 1 else values[0]
        c = pull(node, g, recording)
        c = c if type(node.edges) is tuple else (c,)
        for p, part in zip(places_of(node), c, strict=True):
            inputs[p] = as_tensor(part)
    return inputs[0] if len(inputs) == 1 else tuple(inputs)


# ---------------------------------------------------------------- leaves

_adding = threading.Lock()


def accumulate(variable, g, create_graph, owned=False):
    """Add `g` to the ``.grad`` of `variable`, by the layout rules."""
    if not variable._rg and variable._node is None or g is None:
        return
    a = variable._a
    with _adding:
        old = variable._grad
        if create_graph:
            g = fitted_recorded(g, a, gradient_type(variable))
            if old is None:
                variable._grad = new(layout.laid_out(np.asarray(g.primal), a), g.node)
            else:
                variable._grad = old + as_tensor(g)
            return
        g = fitted(np.asarray(g), a, gradient_type(variable))
        if old is None:
            variable._grad = new(layout.fresh(g, a, owned), None)
        else:
            written(family(old), old._a)
            if id(old._a) in STALE:
                old._a = old._a[...]
            family(old).use(old._a)
            old._seen = old._family.version
            old._a += g


def fitted(g, a, dtype):
    """`g` in the shape of `a` and of type `dtype`, where that is not None."""
    if g.shape != a.shape:
        g = np.asarray(unbroadcast(g, a))
    if dtype is not None and g.dtype != dtype:
        if g.dtype.kind == "c" and dtype.kind != "c":
            g = np.real(g)
        g = g.astype(dtype)
    return g


def fitted_recorded(g, a, dtype):
    from s2sgrad.runtime.record import apply

    if type(g) is not Traced:
        g = as_traced(as_tensor(g))
    if np.shape(g.primal) != a.shape:
        g = apply(unbroadcast, (g, a))
    if dtype is not None and np.asarray(g.primal).dtype != dtype:
        if np.iscomplexobj(g.primal) and dtype.kind != "c":
            g = apply(np.real, (g,))
        g = apply(neural.cast, (g, dtype))
    return g if type(g) is Traced else as_traced(as_tensor(g))
