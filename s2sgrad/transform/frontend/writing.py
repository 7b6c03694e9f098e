"""Lowers calls that write their result into an array: methods, `out=`, ``np.add.at``, ``np.copyto`` and their kin."""

import copy
import dataclasses
import functools
import operator

import gast
import numpy as np

from s2sgrad.rules import table
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.frontend import resolve
from s2sgrad.transform.frontend.kinds import SEQUENCES, constant_of, is_active, text
from s2sgrad.transform.frontend.values import Inert
from s2sgrad.transform.ir import Kind

FILLING = {np.putmask, np.fill_diagonal, np.put, np.place}
AT = {np.add.at: np.add, np.subtract.at: np.subtract}
JOINING = (np.concatenate, np.stack)  # NumPy's ufuncs see to it that they read before they write
ORDERING = {"sort": np.sort, "partition": np.partition}


def placed(node, like):
    """A piece of syntax that stands where `like` does."""
    return gast.copy_location(node, like)


def attribute(node, name: str):
    """``np.where`` for ``np.copyto``."""
    return gast.Attribute(node.value, name, gast.Load())


def fits(thing: ir.Type, array: ir.Type) -> bool:
    """May a call write a thing into an array where an assignment may, as far as that is known? Else it may raise.

    >>> counts = ir.Type(Kind.ARRAY, "int64", 1)
    >>> fits(ir.INT, counts), fits(ir.FLOAT, counts)
    (True, False)
    """
    floats = (array.dtype or "").startswith(("float", "complex"))
    whole = (array.dtype or "").startswith(("int", "uint")) and thing.dtype == "int"
    return floats or whole or types.same_dtype(thing, array)


def adds_no_axes(thing: ir.Type, array: ir.Type) -> bool:
    """Has what an array is combined with surely no more axes than the array itself?

    >>> adds_no_axes(ir.FLOAT, ir.Type(Kind.ARRAY)), adds_no_axes(ir.Type(Kind.ARRAY), ir.Type(Kind.ARRAY, ndim=1))
    (True, False)
    """
    return thing.ndim == 0 or None not in (thing.ndim, array.ndim) and thing.ndim <= array.ndim


class WritingCalls:
    """The part of `Lowering` that deals with calls that write into an array."""

    def written_call(self, call, statement):
        """``a.fill(v)``, ``np.copyto(a, v)``, ``np.add(x, y, out=a)``, ``np.add.at(a, i, v)``: what it gives.

        An expression: that of the array that it writes into, or of None. None where it is no call that is followed.
        """
        if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
            return None
        if any(k.arg is None for k in call.keywords):
            return None
        target, *said = self.writing(call) or (None,) * 4
        array = None if target is None else self.written_array(target)
        if array is None:
            return None
        self.write_said(array, *said, call, statement)
        known = self.static(call.func)
        gives = any(k.arg == "out" for k in call.keywords) or (known is not None and isinstance(known.value, np.ufunc))
        return target if gives else gast.Constant(None, None)

    def write_said(self, array, index, value, function, call, statement):
        """What a call says that it writes into `array`, written: the array that it is then."""
        place = (None if array.type.ndim else ir.Constant(Ellipsis)) if index is None else self.index(index)
        thing = value(array, place) if callable(value) else self.expression(value)
        if not fits(self.type_of(thing), array.type):
            self.refuse(f"what {text(call.func)} does with an array that may hold no floats", statement)
        known = self.static(call.func)
        if index is None and known is not None and known.value is not np.copyto:
            elementwise, given = isinstance(known.value, np.ufunc), self.type_of(thing)
            if not elementwise and not types.same_dtype(given, array.type):
                self.refuse(f"what {text(call.func)} does with an array of another dtype to write into", statement)
            if not (adds_no_axes(given, array.type) if elementwise else given.ndim == array.type.ndim):
                self.refuse(f"what {text(call.func)} does with an array of other axes to write into", statement)
        return self.write_into(array, place, thing, function, statement)

    def written_anew(self, call):
        """The array that ``np.add(x, y, out=np.empty(3))`` makes and gives; None where the call is none."""
        out = next((k.value for k in call.keywords if k.arg == "out"), None)
        if not isinstance(out, gast.Call) or any(k.arg is None for k in call.keywords) or not self.may_be_active(call):
            return None
        if any(k.arg == "where" for k in call.keywords):
            new = not self.may_be_active(out) and not self.facts(out, {})[3]
            return self.masked(call) if new else None
        target, *said = self.writing(call) or (None,) * 4
        if target is not out:
            return None
        thing = self.expression(out)
        if self.type_of(thing).kind is not Kind.ARRAY or thing in self.views:
            self.refuse(f"what is written to in {text(call)} cannot be told", call)
        array = self.bind(thing, "out") if isinstance(thing, Inert) else thing
        return self.write_said(array, *said, call, call)

    def writing(self, call) -> tuple | None:
        """Where a call writes, at which index, what, and by which function: of the syntax of the call.

        What no expression says is a function, which gives it from the array that is written into and the index.
        """
        known = self.static(call.func)
        known = known.value if known is not None else None
        args, words = call.args, [k.arg for k in call.keywords]
        if known is None and isinstance(call.func, gast.Attribute):
            attr, own = call.func.attr, call.func.value
            if attr == "put" and len(args) == 2 and not words:
                return self.flat(own, call), args[0], self.repeated(args[1], call), None
            if attr == "fill" and len(args) == 1 and not words:
                return own, None, args[0], None
            plain = words in ([], ["axis"]) and not any(
                map(self.may_be_active, [*args, *(k.value for k in call.keywords)])
            )
            return (own, None, self.ordered(ORDERING[attr], call), None) if attr in ORDERING and plain else None
        if known is np.copyto and len(args) == 2 and words in ([], ["where"]):
            if not words:
                return args[0], None, args[1], None
            return self.chosen(call, call.keywords[0].value, args[1], args[0])
        if self.session.plain(FILLING, known) and known in FILLING and not words:
            return self.filling(known, call, args)
        if known is np.put_along_axis:
            return self.along_axis(call, args, {k.arg: k.value for k in call.keywords})
        if known in self.session.plain(AT, known) and len(args) == 3 and not words:
            return args[0], args[1], args[2], AT[known]
        if known is None or not resolve.is_trusted(known):
            return None  # what a parameter `out` of a user's function is for, its body says
        if isinstance(known, np.ufunc) and sorted(words) == ["out", "where"]:
            (out,) = (k.value for k in call.keywords if k.arg == "out")
            return out, None, lambda array, place: self.masked(call, array), None
        if words.count("out") == 1 and "where" not in words:
            others = [k for k in call.keywords if k.arg != "out"]
            (out,) = (k.value for k in call.keywords if k.arg == "out")
            if known in JOINING and args:  # NumPy reads the parts while it writes
                parts, array = (self.branch(functools.partial(self.expression, n))[1] for n in (args[0], out))
                self.see_apart(parts, array, call)
            return out, None, placed(gast.Call(call.func, args, others), call), None
        if isinstance(known, np.ufunc) and known.nout == 1 and len(args) == known.nin + 1 and not words:
            return args[-1], None, placed(gast.Call(call.func, args[:-1], []), call), None
        return None

    def masked(self, call, array=None):
        """``np.sqrt(x, out=array, where=mask)``: as what that gives, which is not yet written into `array`.

        Where `array` is None, `out` is an array of nobody else's.
        """
        known = self.static(call.func)
        keywords = {k.arg: k.value for k in call.keywords}
        mask = self.operand(self.expression(keywords["where"]))
        operands = [self.operand(self.expression(a)) for a in call.args]
        out = self.operand(self.expression(keywords["out"])) if array is None else self.op(np.copy, [array], {}, call)
        rule, kinds = table.lookup(known.value), [self.type_of(o) for o in operands]
        fits = rule is not None and rule.kind == "elementwise" and len(operands) == known.value.nin
        if not fits or not all(t.kind in (Kind.NUMBER, Kind.ARRAY) and t.is_real for t in [*kinds, self.type_of(out)]):
            self.refuse(f"{text(call.func)}(..., where=...) of these is not compiled", call)
        self.freeze([mask, *operands], call)
        result = self.value("t", self.type_of(out), any(map(is_active, [*operands, out])))
        place = self.found.location(call)
        named = {"out": out, "where": mask}
        self.emit(ir.Op(result, known.value, tuple(operands), named, known.operand, place))
        self.temporaries.add(result)
        return result

    def chosen(self, call, mask, value, array) -> tuple | None:
        """``array[...] = np.where(mask, value, array)``."""
        where = attribute(call.func, "where") if isinstance(call.func, gast.Attribute) else None
        known = None if where is None else self.static(where)
        if known is None or known.value is not np.where:
            return None
        return array, None, placed(gast.Call(where, [mask, value, array], []), call), None

    def ordered(self, function, call):
        """What ``a.sort()`` and ``a.partition(k)`` write into `a`."""

        def make(array, place):
            arguments = self.arguments(call)
            thing = self.op(function, [array, *arguments.positional], arguments.keywords, call)
            thing.type = dataclasses.replace(array.type, contiguous=False)
            return thing

        return make

    def repeated(self, node, call, apart: bool = False):
        """What is written at an index, where it is repeated as often as there are places.

        `apart`: NumPy reads it while it writes.
        """

        def make(array, place):
            thing = self.expression(node)
            if apart:
                self.see_apart(thing, array, call)
            if self.type_of(thing).kind is Kind.NUMBER:
                return thing
            return self.resized(thing, self.op(operator.getitem, [array, place], {}, call), call)

        return make

    def see_apart(self, thing, array, node) -> None:
        """Refuse what may be read of an array after some of it has been written into `array`, which is the same."""
        own = {id(r.root()) for r in self.regions_of(array)}
        if any(id(r.root()) in own for r in self.regions_of(thing)):
            self.refuse(f"{text(node)} may read what it has written before", node)

    def resized(self, thing, places, call):
        """What fills `places`, of an array that is repeated or cut off."""
        if types.same_shape(self.type_of(thing), self.type_of(places)):
            return thing
        return self.op(np.resize, [thing, self.op(np.shape, [places], {}, call)], {}, call)

    def filling(self, function, call, args: list) -> tuple | None:
        """``np.put(a, index, v)``, ``np.putmask(a, mask, v)``, ``np.place(a, mask, v)``, ``np.fill_diagonal(a, v)``."""
        if function is np.putmask and len(args) == 3:
            number = self.is_number(args[2])
            return self.chosen(call, args[1], args[2], args[0]) if number else self.mask_put(call, args)
        if function is np.put and len(args) == 3:
            return self.flat(args[0], call), args[1], self.repeated(args[2], call), None
        if function is np.place and len(args) == 3 and self.is_mask(args[1]) and self.has_entries(args[2]):
            return args[0], args[1], self.repeated(args[2], call, apart=True), None
        if function is not np.fill_diagonal or len(args) != 2 or not isinstance(args[0], gast.Name):
            return None
        t = self.type_of(self.expression(args[0])) if args[0].id in self.env else ir.UNKNOWN
        if t.ndim != 2:
            return None
        if not t.contiguous and isinstance(call.func, gast.Attribute):  # its `ravel()` may be a copy
            each = gast.parse(f"arange(min({args[0].id}.shape))").body[0].value
            each.func, each.args[0].func = attribute(call.func, "arange"), attribute(call.func, "min")
            index = placed(gast.Tuple([each, copy.deepcopy(each)], gast.Load()), call)
            return args[0], index, self.repeated(args[1], call, apart=True), None
        column = gast.parse(f"{args[0].id}.shape[1]").body[0].value
        step = placed(gast.BinOp(column, gast.Add(), gast.Constant(1, None)), call)
        end = placed(gast.BinOp(column, gast.Mult(), column), call)
        return self.flat(args[0], call), gast.Slice(None, end, step), self.repeated(args[1], call, apart=True), None

    def along_axis(self, call, args: list, words: dict) -> tuple | None:
        """``np.put_along_axis(a, i, v, 1)`` as ``a[np.arange(len(a))[:, None], i] = v``."""
        given = dict(zip(("arr", "indices", "values", "axis"), args, strict=False)) | words
        array, axis = given.get("arr"), constant_of(given.get("axis"), None)
        if len(given) != 4 or not isinstance(call.func, gast.Attribute) or not isinstance(array, gast.Name):
            return None
        ndim = self.type_of(self.expression(array)).ndim if array.id in self.env else None
        if not ndim or type(axis) is not int or not -ndim <= axis < ndim:
            return None
        parts = []
        for d in range(ndim):
            others = ", ".join(":" if k == d else "None" for k in range(ndim))
            row = gast.parse(f"arange({array.id}.shape[{d}])[{others}]").body[0].value
            row.value.func = attribute(call.func, "arange")
            parts.append(given["indices"] if d == axis % ndim else row)
        index = placed(gast.Tuple(parts, gast.Load()), call)
        return array, parts[0] if ndim == 1 else index, given["values"], None

    def mask_put(self, call, args: list) -> tuple:
        """``array[...] = np.where(mask, v, array)``, `v` repeated to the shape of the array."""

        def make(array, place):
            mask, thing = (self.operand(self.expression(a)) for a in args[1:])
            thing = self.op(np.where, [mask, self.resized(thing, array, call), array], {}, call)
            thing.type = dataclasses.replace(array.type, contiguous=False)
            return thing

        return args[0], None, make, None

    def is_mask(self, node) -> bool:
        """Does an expression give an array of truth values?"""
        t = self.facts(node, {})[0]
        return t.kind is Kind.ARRAY and t.dtype == "bool"

    def has_entries(self, node) -> bool:
        """Is there surely something in what an expression gives?"""
        _, thing = self.branch(lambda: self.expression(node))
        t = self.type_of(thing)
        shape = types.axes_of(t)
        listed = t.kind in SEQUENCES and bool(t.items)
        return (
            t.kind is Kind.NUMBER or listed or (t.kind is Kind.ARRAY and bool(shape) and all(map(axes.is_some, shape)))
        )

    def flat(self, array, call):
        """``array.ravel()``; the array itself where it has one axis."""
        known = self.view_of(array)
        if known is not None and known.type.ndim == 1:
            return array
        return placed(gast.Call(gast.Attribute(array, "ravel", gast.Load()), [], []), call)

    def is_number(self, node) -> bool:
        """Does an expression give one number?"""
        _, thing = self.branch(lambda: self.expression(node))
        return self.type_of(thing).kind is Kind.NUMBER
