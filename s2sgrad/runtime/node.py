"""The graph: a node per recorded operation, pointing at the nodes of the values it came from.

A node holds what its pullback needs, and no way back to the tensors made from it: the graph has no
reference cycles and is freed by reference counting alone. What all nodes of one kind of call share
(the pullback, a name, where the differentiated arguments stand among the saved values) is a `Form`,
made once, so that recording a call writes four slots and nothing else.
"""

from itertools import count

from s2sgrad.runtime.fuse import unboxed

COUNTER = count(1)  # `next(COUNTER)` is faster than a bound `__next__`


class Form:
    """How calls of one kind are pulled back.

    Attributes
    ----------
    name : str
    pull : callable
        ``pull(g, *node.saved)``: the cotangent of the only edge, or a tuple, one per edge.
    over : callable
        The same where `g` is of nobody else's: it may write into it.
    passes : bool
        Whether the cotangent of the only edge is that of the result, as it is.
    fresh : numpy.dtype or None
        Where the cotangents are surely arrays that nobody else holds: their type.
    twin : callable
        Returns the recording version of `pull`, for derivatives of derivatives.
    links : tuple
        Per edge, the position in `saved` of the value that came along it, or None.
    out : int or None
        The position in `saved` of the call's own result.
    width : int or None
        The length of `saved`, where it is fixed.
    lone : int
        The width, where there is one edge and surely a cotangent for it: the common kinds of calls. Else 0.
    light : bool
        Nothing is saved but shapes and numbers: on the eager tape the node survives a pass that releases.
    """

    __slots__ = (
        *("name", "pull", "over", "passes", "fresh", "lone", "light", "links", "out", "width"),
        *("_twin", "_make_twin"),
    )

    def __init__(self, name, pull, links=(), out=None, make_twin=None, width=None, over=None, passes=False, fresh=None):
        self.name = name
        self.pull = pull
        self.over = over or pull
        self.passes = passes
        self.fresh = fresh
        self.light = False
        self.lone = width if width and len(links) == 1 else 0
        self.links = links
        self.out = out
        self.width = width
        self._twin = None
        self._make_twin = make_twin

    def twin(self):
        if self._make_twin is None:
            return self.pull
        if self._twin is None:
            self._twin = self._make_twin()
        return self._twin

    def restore(self, node, tensor):
        """The saved values as recorded tensors again: ``tensor(data, node)`` makes one."""
        saved = [unboxed(value) for value in node.saved] if self.links else list(node.saved)
        edges = node.edges if type(node.edges) is tuple else (node.edges,)
        for edge, at in zip(edges, self.links, strict=False):
            if at is not None and edge is not None and saved[at] is not None:
                saved[at] = tensor(saved[at], edge)
        if self.out is not None:
            saved[self.out] = tensor(saved[self.out], node)
        return saved


class Node:
    """One recorded operation.

    Attributes
    ----------
    form : Form
    saved : tuple or None
        The values that the pullback needs; None once they are released.
    edges : Node, or tuple of (Node or None)
        The operations that made the differentiated arguments. A leaf has none.
    number : int
        Grows with time: a node's edges lead to smaller numbers only.
    """

    # no __init__: Node() and four writes are faster. `face` stays unset unless somebody looks at the node itself.
    __slots__ = ("form", "saved", "edges", "number", "face")

    @property
    def name(self) -> str:
        return self.form.name

    def __repr__(self) -> str:
        return f"<{self.form.name} #{self.number}>"


def make_node(form, saved, edges):
    node = Node()
    node.form = form
    node.saved = saved
    node.edges = edges
    node.number = next(COUNTER)
    return node


LEAF = Form("Leaf", None)


def leaf(edges=()):
    """A node that stands for an input; `edges` may tie it to an outer recording."""
    return make_node(LEAF if edges == () else _TIED, (), edges)


_TIED = Form("Leaf", lambda g: g)
