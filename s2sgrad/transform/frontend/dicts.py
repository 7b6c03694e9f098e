"""Lowers what reads dicts of known keys: ``items``, ``values``, ``get``, copies, comprehensions over them."""

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.kinds import MISSING, is_active
from s2sgrad.transform.frontend.scan import targets_of
from s2sgrad.transform.frontend.unrolling import MOST_ITEMS, assignments, is_plain_key, literal
from s2sgrad.transform.ir import Kind

READING_DICTS = frozenset({"items", "values", "keys", "get", "copy"})


class Dicts:
    """The part of `Lowering` that deals with dicts that are read."""

    def dict_method(self, base, attr: str, node):
        """``d.items()`` and the like of differentiated values; what it gives is a list of what is there now."""
        if attr == "keys":
            return self.inert(node)
        if attr == "get":
            return self.got(base, node)
        if attr == "copy" and base.type.keys is not None and not node.args and not node.keywords:
            return self.make_container(base.type, self.items_of(base, node), node)
        keys = base.type.keys
        if node.args or node.keywords or keys is None or not all(map(is_plain_key, keys)):
            self.refuse(f"this call of .{attr}() of a dict of values that carry a derivative is not compiled", node)
        if id(node) not in self.used_up:
            self.refuse(f"the view that .{attr}() of a dict gives is held", node)
        things = self.items_of(base, node)
        if attr == "items":
            pairs = [(ir.Constant(key), thing) for key, thing in zip(keys, things, strict=True)]
            things = [self.sequence_of(Kind.TUPLE, pair, node) for pair in pairs]
        return self.sequence_of(Kind.LIST, things, node)

    def sequence_of(self, kind, things, node):
        return self.make_container(types.sequence(kind, [self.type_of(t) for t in things]), list(things), node)

    def got(self, base, node):
        """``d.get(key)``, ``d.get(key, default)`` for a literal key."""
        if node.keywords or len(node.args) not in (1, 2) or base.type.keys is None:
            self.refuse("this call of .get() of a dict of values that carry a derivative is not compiled", node)
        key = self.literal_key(node.args[0])
        if key is MISSING:
            self.refuse(".get() of a key that is not known before the program runs", node)
        default = self.operand(self.expression(node.args[1])) if len(node.args) == 2 else ir.Constant(None)
        if key not in base.type.keys:
            return default
        found = gast.Subscript(node.func.value, literal(key), gast.Load())
        return self.expression(self.located(found, node))

    def dict_copy(self, node):
        """``dict(d)``."""
        thing = self.expression(node.args[0])
        if not is_active(thing):
            return self.inert(node)
        if thing.type.kind is not Kind.DICT or thing.type.keys is None:
            self.no_rule(dict, node)
        return self.make_container(thing.type, self.items_of(thing, node), node)

    def expression_DictComp(self, node):
        """``{k: e for k, v in d.items()}``: the items one by one."""
        generator, *more = node.generators
        rounds = self.rounds(generator.iter, generator.target, counted=True)
        rounds = None if rounds is None or len(rounds) > MOST_ITEMS else rounds
        if more or generator.ifs or generator.is_async or rounds is None or syntax.contains(node, gast.NamedExpr):
            self.refuse("this form of dict comprehension of values that carry a derivative is not compiled", node)
        targets = {n.id for n in targets_of(generator.target) if isinstance(n, gast.Name)}
        if targets & self.names.loads(generator.iter):
            self.refuse("a comprehension over what is named like one of its variables", node)
        hidden = {n: self.env.pop(n) for n in targets & self.env.keys()}
        local, self.local = self.local, self.local | targets
        found: dict = {}
        try:
            for expression in rounds:
                for s in assignments(generator.target, expression):
                    self.statement(self.located(s, node), frozenset(targets))
                key = self.index(node.key)
                if not isinstance(key, ir.Constant) or not isinstance(key.value, (str, int)):
                    self.refuse("a dict of values that carry a derivative needs keys that are known", node)
                found[key.value] = self.operand(self.expression(node.value))
        finally:
            self.local = local
        for n in targets:
            self.env.pop(n, None)
        self.env |= hidden
        t = ir.Type(Kind.DICT, items=tuple(map(self.type_of, found.values())), keys=tuple(found))
        return self.make_container(t, list(found.values()), node)
