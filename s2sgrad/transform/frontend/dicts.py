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
        """``{k: e for k, v in d.items() if ...}``: the items one by one; what is chosen has to be known."""
        if any(g.is_async for g in node.generators) or syntax.contains(node, gast.NamedExpr):
            self.refuse_form(node)
        targets = {n.id for g in node.generators for n in targets_of(g.target) if isinstance(n, gast.Name)}
        if any(targets & self.names.loads(g.iter) & self.env.keys() for g in node.generators):
            self.refuse("a comprehension over what is named like one of its variables", node)
        hidden = {n: self.env.pop(n) for n in targets & self.env.keys()}
        local, self.local = self.local, self.local | targets
        found: dict = {}
        try:
            self.fill_dict(found, node, node.generators, frozenset(targets))
        finally:
            self.local = local
        for n in targets:
            self.env.pop(n, None)
        self.env |= hidden
        t = ir.Type(Kind.DICT, items=tuple(map(self.type_of, found.values())), keys=tuple(found))
        return self.make_container(t, list(found.values()), node)

    def fill_dict(self, found: dict, node, generators: list, targets: frozenset) -> None:
        """Run the rest of the loops of a dict comprehension, which puts what it gives into `found`."""
        if not generators:
            key = self.literal_key(node.key)
            if key is MISSING or not is_plain_key(key):
                self.refuse("a dict of values that carry a derivative needs keys that are known", node)
            found[key] = self.operand(self.expression(node.value))
            return
        generator, *rest = generators
        rounds = self.rounds(generator.iter, generator.target, counted=True)
        if rounds is None:
            self.refuse_form(node)
        for expression in rounds:
            for s in assignments(generator.target, expression):
                self.statement(self.located(s, node), targets)
            decided = [self.decide(test) for test in generator.ifs]
            if False not in decided:
                if None in decided or len(found) > MOST_ITEMS:
                    self.refuse_form(node)
                self.fill_dict(found, node, rest, targets)

    def refuse_form(self, node):
        self.refuse("this form of dict comprehension of values that carry a derivative is not compiled", node)
