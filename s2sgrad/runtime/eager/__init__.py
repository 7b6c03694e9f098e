"""The tape used directly: tensors with their own semantics of views, writes, hooks and backward passes.

The graph is the one of ``runtime.node`` and the derivatives are the rule table's. What is here is the
face: a tensor that *is* recorded memory (where `Traced` stands in for an array of somebody else's
program), and an engine with the order, the hooks and the accumulation that such tensors need.
"""
