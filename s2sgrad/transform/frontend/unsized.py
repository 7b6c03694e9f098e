"""Lowers what changes a list of which only the run knows how long it is, or where it is changed.

``xs[i] = v`` of a list of numbers is a `Store`, as of an array; all else gives the name another list, which is put
together of parts of the one before. `optimize.stacks` says in place again what it can.
"""

import operator

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.kinds import MISSING, SEQUENCES, constant_of, is_active, numeric, text
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spelling import OPERATORS

STORED = (operator.add, operator.sub)  # what a `Store` itself can do


class Unsized:
    """The part of `Lowering` that deals with lists of unknown length."""

    def is_placed(self, name: str) -> bool:
        """Does a statement change elements of a list of the function's own in places that only the run knows?"""
        if name not in self.placed:
            self.placed[name] = any(is_place(node, name) for s in self.body for node in syntax.walk(s))
        return self.placed[name]

    def is_stored_to(self, name: str, t: ir.Type) -> bool:
        """Does a list of type `t`, the function's own, change as an array does: a number at a place the run knows?"""
        numbers = t.items is None or all(item.kind is Kind.NUMBER for item in t.items)
        return t.kind is Kind.LIST and numbers and self.is_own(name) and self.is_placed(name)

    def placed_list(self, target) -> ir.Value | None:
        """The list of the function's own whose element ``xs[i]`` is, if only the run knows which."""
        base = self.own_list(target.value) if isinstance(target, gast.Subscript) else None
        if base is None or isinstance(target.slice, (gast.Slice, gast.Tuple)):
            return None
        return base if base.type.items is None or self.is_stored_to(target.value.id, base.type) else None

    def put_element(self, target, thing, statement, function=None) -> None:
        """``xs[i] = thing``; `function`: what an augmented assignment does."""
        before = self.own_list(target.value)
        thing = self.placed_before(thing, target.slice)
        index = self.index(target.slice)
        if self.type_of(index).kind is not Kind.NUMBER:
            self.refuse(f"which element {text(target)} is cannot be told", statement)
        element = self.element_type(before.type)
        if function is not None and function not in STORED:
            item = self.value("t", element, before.active)
            self.emit(ir.Op(item, operator.getitem, (before, index), {}, None, self.found.location(statement)))
            thing, function = self.op(function, [item, thing], {}, statement), None
        element = types.join(element, self.type_of(thing))
        if element.kind is not Kind.NUMBER or not element.is_real:
            self.refuse(f"{text(target)} may be no real number", statement)
        value = self.operand(thing)
        self.freeze([index, value], statement)
        active = is_active(value) or before.active
        after = self.value(before.name, ir.Type(Kind.LIST, element=element), active, self.regions_of(before))
        self.emit(ir.Store(after, before, index, value, function, location=self.found.location(statement)))
        self.rebind(target.value.id, after)

    def augmented_element(self, statement) -> bool:
        """``xs[i] += v``; False where it is none of a list whose length is not known."""
        target, before = statement.target, self.placed_list(statement.target)
        if before is None:
            return False
        thing = self.expression(statement.value)
        if self.own_list(target.value) is not before:
            self.refuse(f"what is put into {text(target)} changes the list", statement)
        self.put_element(target, thing, statement, OPERATORS[type(statement.op)])
        return True

    def lengthened(self, method: str, base: ir.Value, nodes: list, things: list, statement) -> tuple:
        """A list of unknown length after a method was called, and what that returns."""
        at = constant_of(nodes[0], MISSING) if nodes else MISSING
        nothing = ir.Constant(None)
        match method, things:
            case "append", [_]:
                return self.chained(base, self.new_list(things, statement), statement), nothing
            case "insert", [_, thing] if at == 0:
                return self.chained(self.new_list([thing], statement), base, statement), nothing
            case "extend", [thing] if (t := self.type_of(thing)).kind is Kind.LIST or t.kind in SEQUENCES and t.items:
                known = t.items is not None
                more = self.new_list(self.items_of(thing, statement), statement) if known else self.operand(thing)
                return self.chained(base, more, statement), nothing
            case "insert", [_, thing] if isinstance(nodes[0], gast.Name):
                front, back = gast.Slice(None, nodes[0], None), gast.Slice(nodes[0], None, None)
                front, back = (
                    self.cut(base, self.index(self.located(part, statement)), statement) for part in (front, back)
                )
                first = self.chained(front, self.new_list([thing], statement), statement)
                return self.chained(first, back, statement), nothing
            case "clear", []:
                return self.new_list([], statement), nothing
            case "reverse", []:
                return self.cut(base, ir.Constant(slice(None, None, -1)), statement), nothing
            case "pop", _ if not nodes or at in (0, -1):
                last = at != 0
                item = self.element_at(base, ir.Constant(-1 if last else 0), statement)
                return self.cut(base, ir.Constant(slice(None, -1) if last else slice(1, None)), statement), item
        self.refuse(f"`.{method}()` of a list whose length is not known before the program runs", statement)

    def element_at(self, base: ir.Value, at: ir.Constant, node) -> ir.Value:
        """An element of a list."""
        element = self.item(base.type, at)
        if base.active and element == ir.UNKNOWN:
            self.refuse("what this element is cannot be told", node)
        return self.read_out(base, at, element, node)

    def spliced(self, target, thing, statement) -> ir.Value | None:
        """The list ``xs`` after ``xs[:] = thing``, ``xs[i:] = thing`` or ``xs[:i] = thing``; None where it is none."""
        base, piece = self.env[target.value.id], target.slice
        if self.type_of(thing).kind is not Kind.LIST or piece.step is not None or (piece.lower and piece.upper):
            return None
        given = self.operand(thing)
        if not is_new_list(statement.value):  # the list goes on under another name
            given = self.cut(given, ir.Constant(slice(None)), statement)
        if piece.lower is None and piece.upper is None:
            return given
        rest = gast.Slice(piece.upper, None, None) if piece.lower is None else gast.Slice(None, piece.lower, None)
        rest = self.cut(base, self.index(self.located(rest, statement)), statement)
        return self.chained(given, rest, statement) if piece.lower is None else self.chained(rest, given, statement)

    def cut(self, base: ir.Value, bounds, node) -> ir.Value:
        """A part of a list, as a list of its own."""
        t = base.type  # of an empty list a later turn of the loop around it will tell
        element = self.element_type(t) if t.items else self.item(t, ir.Constant(0))
        return self.read_out(base, bounds, ir.Type(Kind.LIST, element=element), node)

    def read_out(self, base: ir.Value, at, t: ir.Type, node) -> ir.Value:
        self.freeze([base], node)
        result = self.value("t", t, base.active and numeric(t), self.regions_of(base))
        self.emit(ir.Op(result, operator.getitem, (base, at), {}, None, self.found.location(node)))
        self.temporaries.add(result)
        return result

    def shortened(self, target, statement) -> bool:
        """``del xs[0]``, ``del xs[n:]``; False where it is none of a list of the function's own."""
        base = self.own_list(target.value) if isinstance(target, gast.Subscript) else None
        grown = self.growing(target.value) if isinstance(target, gast.Subscript) else None
        base = base if grown is None else grown[1]
        if base is None or base in self.objects:
            return False
        if grown is not None:
            self.check_own(*grown, statement)
        match target.slice:
            case gast.Slice(lower=None, upper=at, step=None) if at is not None:
                rest = gast.Slice(at, None, None)
            case gast.Slice(lower=at, upper=None, step=None) if at is not None:
                rest = gast.Slice(None, at, None)
            case _ if constant_of(target.slice, MISSING) in (0, -1):
                rest = None
            case _:
                self.refuse(
                    f"`del {text(target)}` of a list of values that carry a derivative is not compiled", statement
                )
        if rest is None:
            last = constant_of(target.slice, MISSING) == -1
            self.element_at(base, ir.Constant(-1 if last else 0), statement)  # it is an error where there is none
            rest = ir.Constant(slice(None, -1) if last else slice(1, None))
        else:
            rest = self.index(self.located(rest, statement))
        now = self.cut(base, rest, statement)
        if grown is None:
            self.rebind(target.value.id, now)
        else:
            self.put_grown(target.value, now)
        return True


def is_new_list(node) -> bool:
    """Is it an expression that makes a list?"""
    sliced = isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice)
    return sliced or isinstance(node, (gast.List, gast.ListComp, gast.BinOp))


def is_place(node, name: str) -> bool:
    """Does a piece of syntax store to ``name[i]``, or ``name[i][j]``, where `i` or `j` is no literal?"""
    if not isinstance(node, gast.Subscript) or not isinstance(node.ctx, gast.Store):
        return False
    known = True
    while isinstance(node, gast.Subscript):
        known = known and (constant_of(node.slice, MISSING) is not MISSING or isinstance(node.slice, gast.Slice))
        node = node.value
    return isinstance(node, gast.Name) and node.id == name and not known
