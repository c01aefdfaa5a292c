"""The changes for which tile kernels give reason: what is past an edge, axes, types, functions."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import Ingredients, expression, named
from course_lib.diagnosis.source.tree import Path, last_name, names_read
from course_lib.emulator.language import types as T

ACCESSES = ("load", "store")
# What stands in the place of an element past the edge, by the keyword of each language.
PADDING = {
    "padding_mode": ("{ct}.PaddingMode.ZERO", "{ct}.PaddingMode.NEG_INF"),
    "other": ("0.0", "float('-inf')"),
}
INSTEAD = {
    "max": ("sum", "min"), "sum": ("max",), "min": ("max",), "maximum": ("minimum",),
    "minimum": ("maximum",), "exp2": ("exp",), "exp": ("exp2",), "log2": ("log",),
    "store": ("atomic_add",), "atomic_add": ("store",), "load": (),
}  # fmt: skip
FLOATS = ("float16", "bfloat16", "float32", "float64")
MOST_CONDITIONS = 12  # that are tried as a mask


def of_tile_expressions(function: Ingredients) -> Iterator[Edit]:
    """What a part of a tile kernel can be, in the order of its text."""
    conditions = _conditions(function)
    for node, path in function.nodes:
        if not path or not isinstance(node, ast.expr) or not function.is_read(node, path):
            continue
        if isinstance(node, ast.Call):
            yield from _of_call(node, function, path, conditions)
        if isinstance(node, ast.Attribute):
            yield from _other_type(node, function, path)
        if isinstance(node, ast.Name) and node.id in function.arrays:
            for other, axes in function.arrays.items():
                if other != node.id and axes == function.arrays[node.id]:
                    yield function.value("array", 2, path, named(other))
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and path[-1][0] != "slice":
            new: dict[Path, ast.expr] = {
                (*path, ("elts", 0)): node.elts[1],
                (*path, ("elts", 1)): node.elts[0],
            }
            yield function.values("indices", 1, new, function.line(path))
        if T.is_float(function.kind_of(node)) and not isinstance(node, ast.Constant):
            yield from _with_another(node, function, path)
        if function.is_whole(node) and isinstance(node, ast.Call | ast.BinOp | ast.Subscript):
            yield from _with_program(node, function, path)


def _of_call(
    node: ast.Call, function: Ingredients, path: Path, conditions: list[str]
) -> Iterator[Edit]:
    name = last_name(node.func)
    if isinstance(node.func, ast.Attribute):
        for other in INSTEAD.get(name, ()):
            place: Path = (*path, ("func", None))
            new = ast.Attribute(node.func.value, other, ast.Load())
            yield function.value("function", 1, place, new)
    if name in ACCESSES:
        yield from _at_edges(node, function, path, conditions, is_load=name == "load")
    if name in ("full", "where"):
        for number, argument in enumerate(node.args):
            if number and isinstance(argument, ast.expr) and _is_number(argument):
                for other in (0.0, 1.0, -math.inf):
                    there: Path = (*path, ("args", number))
                    yield function.value("zero", 2, there, ast.Constant(other))
    if name in ("mma", "dot") and len(node.args) == 2 and not node.keywords:
        for total in function.real:
            if total in function.known_at(path):
                more = ast.Call(node.func, [*node.args, named(total)], [])
                yield function.value("total missing", 1, path, more)
    if name in ("zeros", "full"):  # a sum of its own where one is given
        return
    if name in ("exp", "trans", "transpose", "sqrt") and node.args:
        yield function.value("call left out", 2, path, node.args[0])


def _is_number(node: ast.expr) -> bool:
    kept = {type(part) for part in ast.walk(node)}
    return not kept & {ast.Attribute, ast.Subscript} or "inf" in ast.unparse(node)


def _at_edges(
    node: ast.Call, function: Ingredients, path: Path, conditions: list[str], *, is_load: bool
) -> Iterator[Edit]:
    """Another value past the edge, or a mask, where there is none; or another one."""
    there = {each.arg: number for number, each in enumerate(node.keywords)}
    is_triton = "index" not in there and len(node.args) < 3 and function.masks
    usual = "other" if is_triton else "padding_mode"
    module = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    for text in PADDING[usual] if is_load else ():
        value = expression(text.format(ct=module))
        if usual in there:
            place: Path = (*path, ("keywords", there[usual]), ("value", None))
            if ast.dump(value) != ast.dump(node.keywords[there[usual]].value):
                yield function.value("padding", 1, place, value)
        else:
            yield _with_keyword("padding", 1, node, function, path, usual, value)
    known = function.known_at(path)
    for text in conditions if is_triton else ():
        condition = expression(text)
        if not names_read(condition) & function.variables <= known:
            continue
        if "mask" not in there:
            yield _with_keyword("mask", 2, node, function, path, "mask", condition)
            continue
        place = (*path, ("keywords", there["mask"]), ("value", None))
        own = node.keywords[there["mask"]].value
        if ast.dump(own) != ast.dump(condition):
            yield function.value("other mask", 2, place, condition)
            both = ast.BinOp(own, ast.BitAnd(), condition)
            yield function.value("clause missing", 2, place, both)


def _with_keyword(
    kind: str, cost: int, node: ast.Call, function: Ingredients, path: Path, name: str,
    value: ast.expr,
) -> Edit:  # fmt: skip
    more = ast.Call(node.func, node.args, [*node.keywords, ast.keyword(name, value)])
    return function.value(kind, cost, path, more)


def _conditions(function: Ingredients) -> list[str]:
    """The conditions of the text, and comparisons of its places with sizes."""
    found = dict.fromkeys(
        ast.unparse(node)
        for node, path in function.nodes
        if isinstance(node, ast.Compare | ast.BinOp | ast.Name)
        and function.kind_of(node) == T.BOOL
    )
    indexed = dict.fromkeys(
        ast.unparse(node)
        for node, path in function.nodes
        if isinstance(node, ast.Name | ast.Subscript)
        and function.is_whole(node)
        and function.is_read(node, path)
        and isinstance(getattr(node, "ctx", None), ast.Load)
        and ast.unparse(node).split("[")[0] not in function.bounds
    )
    for place in indexed:
        for bound in sorted(function.bounds):
            found[f"({place}) < {bound}"] = None
    return list(found)[: MOST_CONDITIONS * 4]


def _other_type(node: ast.Attribute, function: Ingredients, path: Path) -> Iterator[Edit]:
    """Another type of elements: `ct.float32` for `ct.float16`."""
    for other in FLOATS[:3] if node.attr in (*FLOATS, "int32", "int16", "int8") else ():
        if other != node.attr:
            new = ast.Attribute(node.value, other, ast.Load())
            yield function.value("type", 1, path, new)


def _with_another(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    """A float tile with another one: a factor, a divisor or a term that is missing."""
    if path[-1][0] not in ("value", "args", "left", "right"):
        return
    text, known = ast.unparse(node), function.known_at(path)
    for name in function.real:
        if name in known and name != text:
            for shape in ("", "[:, None]", "[None, :]") if function.masks else ("",):
                for kind, template in (
                    ("factor", "({}) * {}"), ("term", "({}) + {}"), ("term", "({}) - {}"),
                    ("factor", "({}) / {}"),
                ):  # fmt: skip
                    new = expression(template.format(text, name + shape))
                    yield function.value(kind, 3, path, new)


def _with_program(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    """The place of the program, where it is missing: `+ tl.program_id(0) * TILE`."""
    if not function.masks or path[-1][0] not in ("value", "left", "right"):
        return
    called = (
        ast.unparse(each.func)
        for each, _ in function.nodes
        if isinstance(each, ast.Call) and last_name(each.func) in ("arange", "program_id")
    )
    module = next(called, "tl.").rpartition(".")[0]
    for axis in (0, 1):
        for side in function.sides:
            new = expression(f"({ast.unparse(node)}) + {module}.program_id({axis}) * {side}")
            yield function.value("block", 3, path, new)
