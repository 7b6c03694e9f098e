"""The backward pass of the eager tape.

The nodes that are reached run newest first, and so each once, after all its gradients were summed: the edges of a
node lead to older ones. With `inputs`, only what leads to them runs.

A pass of first order computes with plain arrays; tensors are made only where a user looks (hooks,
Functions). With `create_graph` the same pullbacks run on recorded arrays, so that the pass is itself a
part of the graph. The state of a pass lives in a `Run`: several threads may pass through one graph.
"""

import threading
from heapq import heappop, heappush

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.allocator import keep_freed_memory
from s2sgrad.runtime.arrays import unbroadcast
from s2sgrad.runtime.eager import dtypes, layout
from s2sgrad.runtime.eager.call import cast
from s2sgrad.runtime.eager.hooks import run_after, run_before, run_tensor_hooks
from s2sgrad.runtime.eager.modes import set_grad
from s2sgrad.runtime.eager.naming import NAMING
from s2sgrad.runtime.eager.node import as_tensor, as_traced, restored, saved_of
from s2sgrad.runtime.eager.tensor import ACCUMULATE, DEAD_END, Tensor, family, gradient_type, new
from s2sgrad.runtime.eager.versions import STALE, written
from s2sgrad.runtime.grad_mode import is_recording, no_grad
from s2sgrad.runtime.node import Form, Node
from s2sgrad.runtime.results import PICK, Parts
from s2sgrad.runtime.tensor import Traced

_ndarray = np.ndarray
np_add = np.add


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
        By number: what waits for its turn, as a list of the node, the sum of the gradients that have come for it, and
        of a sum that nobody else holds the type, where it is surely of the shape of the node's value, else False.
        None stands for the type of a sum that somebody else may hold.
    heap : list of int
        The negative numbers of these nodes.
    needed : set or None
        The numbers of the nodes that lead to the inputs asked for; None for all.
    captured : dict
        By node number: the gradient of each input asked for.
    runs_inputs : bool
        Whether the nodes of inputs that are not leaves run too, with their hooks.
    mode : bool or None
        Whether the thread recorded before, if the pass has set it otherwise.
    """

    def __init__(self, roots, inputs, retain, create_graph, runs_inputs=False):
        self.roots = roots
        self.runs_inputs = runs_inputs
        self.retain = retain
        self.create_graph = create_graph
        self.waiting = {}
        self.heap = []
        self.captured = {}
        self.mode = None
        self.inputs = self.needed = None
        if inputs is not None:
            self.inputs = {n.number for n in inputs}
            self.needed = self._lead_to_inputs()

    def _reached(self):
        """The nodes that the roots lead to, by number."""
        reached = {node.number: node for node, _ in self.roots}
        found = list(reached.values())
        for node in found:  # which grows meanwhile
            for edge in _tuple(node.edges):
                if edge is not None and edge.number not in reached:
                    reached[edge.number] = edge
                    found.append(edge)
        return reached

    def _lead_to_inputs(self):
        """The numbers of nodes that lead to inputs; as numbers grow along the graph, one look at each node will do."""
        leads = set()
        for number, node in sorted(self._reached().items()):
            if number in self.inputs or any(e is not None and e.number in leads for e in _tuple(node.edges)):
                leads.add(number)
        return leads

    def reaches(self, node):
        """Whether this pass computes the gradient that flows to `node`."""
        if node is None:
            return False
        return node.number in (self._reached() if self.needed is None else self.needed)

    # ------------------------------------------------------------ running

    def start(self):
        keep_freed_memory()
        before = _current.run
        _current.run = self
        if self.create_graph:
            self._set_mode()
        try:
            for node, g in self.roots:
                self._send(node, g, None)
            self._loop()
        finally:
            _current.run = before
            if self.mode is not None:
                set_grad(self.mode)

    def _set_mode(self):
        """Set the mode in which code of the user's runs, at the latest before it does."""
        if self.mode is None:
            self.mode = set_grad(self.create_graph)

    def _loop(self):
        waiting, heap = self.waiting, self.heap
        plain, release = not self.create_graph and self.needed is None, not self.retain
        while heap:
            node, g, mine = waiting.pop(-heappop(heap))
            while node is not None:  # straight on while the newest of the nodes that wait is one just reached
                form = node.form
                if plain and type(node) is Node and g is not None:
                    saved = node.saved
                    if saved is None or STALE:
                        saved = saved_of(node)
                    if not form.passes:
                        pull = form.over if mine is form.fresh else form.pull
                        mine = form.fresh
                        width = form.width  # calls spelt out: a starred one costs as much as the arithmetic
                        if width == 2:
                            g = pull(g, saved[0], saved[1])
                        elif width == 1:
                            g = pull(g, saved[0])
                        else:
                            g = pull(g, *saved)
                    if release and not form.light:
                        node.saved = None
                else:
                    g = self._careful(node, g, mine)
                    mine = None
                edges = node.edges
                if type(edges) is tuple:
                    node, g = self._share(edges, g, mine)
                    if node is None:
                        break
                else:
                    node = edges
                if heap and node.number <= -heap[0]:
                    self._send(node, g, mine)
                    break

    def _share(self, edges, cotangents, mine):
        """Collect the gradients of several edges but that of the newest, which is returned with its edge."""
        newest = part = None
        waiting = self.waiting
        if cotangents is None:
            cotangents = (None,) * len(edges)
        for edge, c in zip(edges, cotangents, strict=True):
            if edge is None:
                continue
            if edge.number in waiting:
                _add(waiting[edge.number], c, mine)
            elif newest is None:
                newest, part = edge, c
            elif edge.number > newest.number:
                self._send(newest, part, mine)
                newest, part = edge, c
            else:
                self._send(edge, c, mine)
        return newest, part

    def _send(self, node, c, mine):
        """Collect `c` for a node; `mine` as in `waiting`."""
        number = node.number
        entry = self.waiting.get(number)
        if entry is None:
            self.waiting[number] = [node, c, mine]
            heappush(self.heap, -number)
        else:
            _add(entry, c, mine)

    def _careful(self, node, g, mine):
        """Run a node with all that may be attached to it; return the gradients of its edges."""
        number = node.number
        if self.needed is not None and number not in self.needed or g is None and node.form is not FUNCTION:
            return None
        attached = getattr(node, "face", None) if type(node) is not Node else None
        leaf = node.form is ACCUMULATE
        if leaf and attached is None and self.inputs is None and not node._leaf._hooks and not node._leaf._after:
            accumulate(node._leaf, g, self.create_graph, mine is not None)
            return ()
        self._set_mode()
        hooks = node._leaf._hooks if leaf else attached and attached.tensor_hooks
        if hooks and g is not None:
            dtype = gradient_type(node._leaf) if leaf else attached.dtype
            g = self._value(run_tensor_hooks(hooks, typed(as_tensor(g), dtype)))
            mine = None
        if attached is not None and attached.retain is not None:
            tensor = attached.retain()
            if tensor is not None and g is not None:
                retain(tensor, g, self.create_graph)
        if self.inputs is not None:
            if number in self.inputs:
                self.captured[number] = g
            edges = _tuple(node.edges)
            if not self.runs_inputs and not any(e is not None and e.number in self.needed for e in edges):
                return None
        outputs = None
        if attached is not None and (attached.before or attached.after):
            mine = None  # what hooks were shown, or gave, is theirs too
            outputs = self._tensors(g)
            if attached.before:
                outputs = run_before(attached.before, outputs)
                g = self._gathered(node, outputs)
                if g is None and node.form is not FUNCTION:
                    return None
        if leaf:
            accumulate(node._leaf, g, self.create_graph, mine is not None)
            _run_after_accumulation(node._leaf)
            if attached is not None and attached.after:
                run_after(attached.after, (), outputs)
            return ()
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

    # ------------------------------------------------------------ what users see

    def _value(self, t):
        if t is None:
            return None
        return as_traced(t) if self.create_graph else t._a

    def _tensors(self, g):
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


def _run_after_accumulation(variable):
    if variable._after:
        for hook in list(variable._after.values()):
            out = hook(variable)
            if out is not None and not isinstance(out, Tensor):
                raise TypeError(f"a post-accumulate hook returns nothing, not {type(out).__name__}")


def _add(entry, c, mine):
    """Add `c` to the sum of a node that waits."""
    node, old, owned = entry
    if c is None or node is DEAD_END:
        return
    if old is None:
        entry[1], entry[2] = c, mine
    elif owned is not None and type(c) is _ndarray and c.dtype is old.dtype:
        np_add(old, c, old)
    elif mine is not None and type(old) is _ndarray and c.dtype is old.dtype:
        np_add(c, old, c)
        entry[1], entry[2] = c, mine
    else:
        total = entry[1] = old + c
        entry[2] = False if type(total) is _ndarray else None


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
            try:
                accumulate(node._leaf, as_traced(grad) if recording else grad._a, recording and grad.requires_grad)
            except ValueError as error:
                raise RuntimeError(f"AccumulateGrad: the gradient does not fit its leaf: {error}") from None
            _run_after_accumulation(node._leaf)
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
                variable._grad = total = old + as_tensor(g)
                if total._a.strides != old._a.strides:
                    total._a = layout.laid_out(total._a, old._a)
            return
        g = fitted(np.asarray(g), a, gradient_type(variable))
        if old is None:
            variable._grad = new(layout.fresh(g, a, owned), None)
        else:
            written(family(old), old)
            old._a += g


def retain(tensor, g, create_graph):
    """Add `g` to the ``.grad`` of a tensor that is not a leaf: what was retained before is left as it is."""
    old = tensor._grad
    if old is None or create_graph:
        accumulate(tensor, g, create_graph)
    else:
        tensor._grad = new(np.asarray(old._a + fitted(np.asarray(g), tensor._a, gradient_type(tensor))), None)


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
