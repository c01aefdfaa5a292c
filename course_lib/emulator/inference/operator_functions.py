"""The functions of Python's module operator: each is another way to write an operator."""

from __future__ import annotations

import ast

_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "and_": ast.BitAnd,
    "floordiv": ast.FloorDiv,
    "lshift": ast.LShift,
    "mod": ast.Mod,
    "mul": ast.Mult,
    "or_": ast.BitOr,
    "pow": ast.Pow,
    "rshift": ast.RShift,
    "sub": ast.Sub,
    "truediv": ast.Div,
    "xor": ast.BitXor,
}
_COMPARING: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq,
    "ge": ast.GtE,
    "gt": ast.Gt,
    "is_": ast.Is,
    "is_not": ast.IsNot,
    "le": ast.LtE,
    "lt": ast.Lt,
    "ne": ast.NotEq,
}
_UNARY: dict[str, type[ast.unaryop]] = {
    "inv": ast.Invert,
    "invert": ast.Invert,
    "neg": ast.USub,
    "not_": ast.Not,
    "pos": ast.UAdd,
}


def as_operator(path: str, call: ast.Call) -> ast.expr | None:
    """The expression that a call of `operator.add` and its like stands for; None if it is none.

    Of numbers, the functions that change their operand in place (`iadd`) compute the same.
    """
    module, _, name = path.rpartition(".")
    arguments = call.args
    if module != "operator" or call.keywords:
        return None
    plain = name[1:] if name[:1] == "i" and name[1:] in {n.rstrip("_") for n in _BINARY} else name
    binary = _BINARY.get(name) or _BINARY.get(plain) or _BINARY.get(plain + "_")
    made: ast.expr | None = None
    if binary is not None and len(arguments) == 2:
        made = ast.BinOp(arguments[0], binary(), arguments[1])
    elif name in _COMPARING and len(arguments) == 2:
        made = ast.Compare(arguments[0], [_COMPARING[name]()], [arguments[1]])
    elif name == "contains" and len(arguments) == 2:
        made = ast.Compare(arguments[1], [ast.In()], [arguments[0]])
    elif name == "getitem" and len(arguments) == 2:
        made = ast.Subscript(arguments[0], arguments[1], ast.Load())
    elif name in _UNARY and len(arguments) == 1:
        made = ast.UnaryOp(_UNARY[name](), arguments[0])
    return None if made is None else ast.copy_location(made, call)
