"""Which indices surely meet no element twice."""

import gast

from s2sgrad.transform import ir


def is_basic(index) -> bool:
    """Is an index surely made of integers, slices, None and Ellipsis, so that no element is met twice?"""
    match index:
        case ir.Constant(value=value):
            if isinstance(value, tuple):
                return all(is_basic(ir.Constant(v)) for v in value)
            return value is None or value is Ellipsis or isinstance(value, slice) or type(value) is int
        case ir.Value(type=kind):
            return _is_basic_type(kind)
        case ir.Code():
            return _is_basic_type(index.type) or _is_basic_node(index.node, index.reads)
    return False


def _is_basic_type(kind: ir.Type) -> bool:
    if kind.kind is ir.Kind.TUPLE and kind.items is not None:
        return all(map(_is_basic_type, kind.items))
    if kind.kind is ir.Kind.OTHER and kind.cls is slice:
        return True
    return kind.kind is ir.Kind.NUMBER and (kind.dtype or "").startswith(("int", "uint"))


def _is_basic_node(node, reads: dict) -> bool:
    match node:
        case gast.Slice():
            return True
        case gast.Constant(value=value):
            return value is None or value is Ellipsis or type(value) is int
        case gast.Attribute(attr="newaxis"):
            return True
        case gast.Name(id=identifier):
            return identifier in reads and _is_basic_type(reads[identifier].type)
        case gast.Tuple(elts=elements):
            return all(_is_basic_node(e, reads) for e in elements)
        case gast.UnaryOp(op=gast.USub() | gast.UAdd(), operand=operand):
            return _is_basic_node(operand, reads)
        case gast.BinOp(left=left, right=right) if not isinstance(node.op, (gast.Div, gast.Pow, gast.MatMult)):
            return _is_basic_node(left, reads) and _is_basic_node(right, reads)
        case gast.Call(func=gast.Name(id="slice" | "len" | "int")):
            return True
        case gast.Subscript(value=gast.Attribute(attr="shape"), slice=where):
            return _is_basic_node(where, reads)
    return False
