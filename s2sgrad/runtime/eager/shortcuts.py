"""The short ways of the common operations on tensors: of float64 and float32, of one shape.

What is unusual about a call sends it the general way (`call.call`). What can be decided once for an operation is: its
short way is written from a template. Nothing is a function of its own that would cost as much as what it does.
"""

import linecache
import textwrap

import numpy as np

from s2sgrad.rules.table import lookup
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import Naming, call, cast, describe, elementwise_reads, floating, renamed, stand_in
from s2sgrad.runtime.eager.tensor import Tensor, new, node_of
from s2sgrad.runtime.fuse import box
from s2sgrad.runtime.grad_mode import PAUSED
from s2sgrad.runtime.node import COUNTER, Form, Node
from s2sgrad.runtime.record import elementwise_of

_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)

# what the templates use
_COMMON = {
    **{"np": np, "ndarray": np.ndarray, "float64": _F64, "float32": _F32, "box": box, "PAUSED": PAUSED},
    **{"Tensor": Tensor, "make": object.__new__, "node_of": node_of, "Node": Node, "COUNTER": COUNTER},
    **{"call": call, "floating": floating},
}


def _into(out, function, x):
    from s2sgrad.runtime.eager.out import into

    return into(out, function, x)


_COMMON["into"] = _into


def _forms(operation, name, active, arity, number=None):
    """The forms of an operation under its name, in general and for float64 arrays of one shape; what they keep."""
    form, keep, out = operation.fitting(active)
    reads = elementwise_reads(operation, active)  # a number counts as saved, though it is no tensor
    naming = Naming(active, arity, not reads, tuple([r for r in reads if r != number]))
    exact = operation.exact(active, number)
    return renamed(form, name, naming), renamed(exact, name, naming), keep, out


def _generated(name, source, names):
    """The function that `source` defines. What it uses are its globals: cells of a closure would be copied per call."""
    file = f"<s2sgrad short way of {name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = {**_COMMON, **names}
    exec(compile(source, file, "exec"), namespace)
    return namespace["forward"]


def _filled(template, **parts):
    """`template` with parts of one or more lines in place of the names in braces, indented as these."""
    lines = []
    for line in template.strip().splitlines():
        text = line.lstrip()
        if text.startswith("{") and text.endswith("}"):
            lines += textwrap.indent(parts[text[1:-1]].strip(), line[: -len(text)]).splitlines()
        else:
            lines.append(line.format(**parts))
    return "\n".join(lines) + "\n"


def _kept(values):
    """The source of the tuple that a node saves: by name, whether it keeps the value."""
    names = [name if keep else "None" for name, keep in values]
    return ", ".join(names) if len(names) > 1 else f"({names[0]},)"


# how the argument `x` of a short way is brought up to date, and its node found
_NODE = """
if {x}._simple:
    {node} = {x}._node
elif {x}._inference:
    return {otherwise}
else:
    {node} = node_of({x})
"""

# how a result is recorded
_RESULT = """
t = make(Tensor)
t._a = z
t._simple = True
if edges is None:
    t._node = None
    return t
t._node = n = Node()
n.form = form
n.saved = saved
n.edges = edges
n.number = next(COUNTER)
return t
"""

_UNARY = """
def forward(x, *, out=None):
    if out is not None:
        return into(out, forward, x)
    if PAUSED.count or type(x) is not Tensor and not isinstance(x, Tensor):
        return call(name, function, floating(x))
    {node_of_x}
    a = x._a
    dtype = a.dtype
    if dtype is float64:
        form = exact_form
    elif dtype is float32:
        form = general_form
    else:
        return call(name, function, floating(x))
    z = function(a)
    if type(z) is not ndarray:
        z = np.asarray(z)
        form = general_form
    {check_type}
    saved = {saved}
    {result}
"""


def unary(name, function):
    """The operation of one tensor, by a NumPy function with an elementwise rule."""
    form, exact, (keep,), out = _forms(elementwise_of(function), name, (0,), 1)
    ufunc = isinstance(function, np.ufunc)
    otherwise = "call(name, function, floating(x))"
    source = _filled(
        _UNARY,
        node_of_x=_NODE.format(x="x", node="edges", otherwise=otherwise),
        # what a Python function returns is not known to be of the same type
        check_type="" if ufunc else f"if z.dtype is not dtype:\n    return {otherwise}",
        saved=_kept([("a", keep)] + [("z", True)] * out),
        result=_RESULT,
    )
    names = {"name": name, "function": function, "general_form": form, "exact_form": exact if ufunc else form}
    return _generated(name, source, names)


def operands(*values):
    """Tensors and numbers as operands of one type: what each is turned into before the operation."""
    d = dtypes.result_type(*values)
    return [cast(v, d) if isinstance(v, Tensor) else d.numpy.type(v) for v in values], d


_BINARY = """
def forward(x, y):
    if {unusual}:
        return general(x, y)
    {node_of_x}
    a = x._a
    dtype = a.dtype
    exact = dtype is float64
    if not exact and dtype is not float32:
        return general(x, y)
    kind = type(y)
    if kind is Tensor or kind is not float and kind is not int and isinstance(y, Tensor):
        {node_of_y}
        b = y._a
        if a is not b and (b.dtype is not dtype or a.shape != b.shape):
            return careful(x, y) if b.dtype is not dtype else broadcast(x, y)
        z = function(a, b)
        if type(z) is not ndarray:
            z = np.asarray(z)
            exact = False
        if other is None:
            form = exact_x if exact else form_x
            edges = node
            saved = {saved_x}
        elif node is None:
            form = exact_y if exact else form_y
            edges = other
            saved = {saved_y}
        else:
            form = exact_xy if exact else form_xy
            edges = node, other
            saved = {saved_xy}
    elif kind is float or kind is int:
        {boxed}
        z = function(a, b)
        if type(z) is not ndarray:
            z = np.asarray(z)
            exact = False
        form = exact_n if exact else form_n
        edges = node
        saved = {saved_n}
    else:
        return general(x, y)
    {check_type}
    {result}
"""

# a number as an array; of bools, each operation thinks otherwise
_BOXED = """
if exact:
    global last
    known, b = last
    if known is not y:
        b = box(y)
        last = y, b
else:
    b = float(y)
"""


def binary(name, function, prepare=operands, with_number=2, number_name=None, otherwise=None):
    """The operation of two tensors (or a tensor and a number), by a NumPy function with an elementwise rule.

    `with_number` says how many arguments could have a derivative where the second is a number, and
    `number_name` is the operation's name there. `otherwise` takes operands of other kinds.
    """
    operation = elementwise_of(function)
    form_x, exact_x, (x_x, x_y), x_out = _forms(operation, name, (0,), 2)
    form_y, exact_y, (y_x, y_y), y_out = _forms(operation, name, (1,), 2)
    form_xy, exact_xy, (xy_x, xy_y), xy_out = _forms(operation, name, (0, 1), 2)
    form_n, exact_n, _, _ = _forms(operation, number_name or name, (0,), with_number, number=1)
    boxes = function in (np.add, np.subtract, np.multiply)
    if not boxes:  # what a Python function returns is not known to be an array
        exact_x, exact_y, exact_xy, exact_n = form_x, form_y, form_xy, form_n

    def careful(x, y):
        (x, y), _ = prepare(x, y)
        return call(name if isinstance(y, Tensor) else number_name or name, function, x, y)

    def broadcast(x, y):
        try:
            return call(name, function, x, y)
        except ValueError:
            return careful(x, y)  # which says what does not fit

    kept = {"x": [("a", x_x), ("b", x_y)], "y": [("a", y_x), ("b", y_y)], "xy": [("a", xy_x), ("b", xy_y)]}
    outs = {"x": x_out, "y": y_out, "xy": xy_out}
    no_tensor = "type(x) is not Tensor and not isinstance(x, Tensor)"
    source = _filled(
        _BINARY,
        unusual="PAUSED.count" if otherwise else f"PAUSED.count or {no_tensor}",  # operators are of tensors
        node_of_x=_NODE.format(x="x", node="node", otherwise="general(x, y)"),
        node_of_y=_NODE.format(x="y", node="other", otherwise="careful(x, y)"),
        boxed=_BOXED if boxes else "b = float(y)",
        check_type="" if boxes else "if z.dtype is not dtype:\n    return careful(x, y)",
        saved_n=_kept([("a", x_x), ("b", True)] + [("z", True)] * x_out),
        **{f"saved_{which}": _kept(kept[which] + [("z", True)] * outs[which]) for which in kept},
        result=_RESULT,
    )
    names = {
        **{"function": function, "last": (None, None)},
        **{"general": otherwise or careful, "careful": careful, "broadcast": broadcast},
        **{"form_x": form_x, "form_y": form_y, "form_xy": form_xy, "form_n": form_n},
        **{"exact_x": exact_x, "exact_y": exact_y, "exact_xy": exact_xy, "exact_n": exact_n},
    }
    return _generated(name, source, names)


def product(name, function, otherwise):
    """The operation of two matrices or vectors of one type, by a NumPy function with a pullback for each.

    `otherwise` takes all other operands.
    """
    first, second = lookup(function).pullbacks.values()

    def forms(active, make):
        def make_twin():
            from s2sgrad.runtime.fallback import recording_rule

            return make(recording_rule(first), recording_rule(second))

        reads = tuple([1 - i for i in active])
        form = Form(name, make(first, second), active, None, make_twin, 2)
        return describe(form, Naming(active, 2, False, reads))

    form_x = forms((0,), lambda first, second: lambda g, x, y: first(g, None, x, y))
    form_y = forms((1,), lambda first, second: lambda g, x, y: second(g, None, x, y))
    form_xy = forms((0, 1), lambda f, s: lambda g, x, y: (f(g, None, x, y), s(g, None, x, y)))

    def forward(x, y):
        if PAUSED.count or not isinstance(x, Tensor) or not isinstance(y, Tensor):
            return otherwise(x, y)
        if not x._simple and x._inference or not y._simple and y._inference:
            return otherwise(x, y)
        node, other = node_of(x), node_of(y)
        a, b = x._a, y._a
        if a.dtype is not b.dtype or a.dtype is not _F64 and a.dtype is not _F32 or a.ndim != 2 or b.ndim != 2:
            return otherwise(x, y)
        if a.shape[1] != b.shape[0]:
            return otherwise(x, y)
        t = new(function(a, b), None)
        if node is None and other is None:
            return t
        n = t._node = Node()
        if other is None:
            n.form, n.edges, n.saved = form_x, node, (stand_in(a), b)
        elif node is None:
            n.form, n.edges, n.saved = form_y, other, (a, stand_in(b))
        else:
            n.form, n.edges, n.saved = form_xy, (node, other), (a, b)
        n.number = next(COUNTER)
        return t

    return forward


__all__ = ["binary", "operands", "product", "unary"]
