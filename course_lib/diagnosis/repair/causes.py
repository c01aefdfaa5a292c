"""What a change that makes an answer right says of its cause: the code of the finding."""

from __future__ import annotations

import ast

from course_lib.diagnosis.repair.edits import Edit, bound_in
from course_lib.diagnosis.repairs.change import Path, node_at

# Where the code follows from the kind of the change alone.
OF_KIND = {
    "and/or": "wrong-bounds-check",
    "clause left out": "wrong-bounds-check",
    "clause missing": "wrong-bounds-check",
    "guard left out": "wrong-bounds-check",
    "step missing": "wrong-loop-bound",
    "= for +=": "accumulator-error",
    "+= for =": "accumulator-error",
    "zero": "accumulator-error",
    "indices": "wrong-index",
    "targets": "wrong-index",
    "exchange": "wrong-index",
    "block": "wrong-index",
    "array": "wrong-formula",
    "else missing": "missing-mask",
    "condition left out": "wrong-bounds-check",
    "condition turned": "wrong-bounds-check",
}
MOVES = ("in the loop", "behind the loop", "before the loop", "left out")


def code_of(edit: Edit, seen: str) -> str:
    """The code of what a change repairs; `seen` where the change does not tell."""
    if edit.kind == "else missing" and seen == "uninitialised-read":
        return seen
    if edit.kind in OF_KIND:
        return OF_KIND[edit.kind]
    if edit.values:
        return _of_value(edit, next(iter(edit.values)), seen)
    moved = [node_at(edit.tree, path) for path in edit.statements]
    if edit.kind in MOVES and any(map(_is_of_a_sum, moved)):
        return "accumulator-error"
    return seen


def _is_of_a_sum(node: ast.AST) -> bool:
    """Does it add to a variable, or give it a number to begin with?"""
    if isinstance(node, ast.Assign):
        value = node.value
        if isinstance(value, ast.Call) and len(value.args) == 1:  # float32(0)
            value = value.args[0]
        return isinstance(value, ast.Constant)
    return isinstance(node, ast.AugAssign)


def _counts(statement: ast.Assign) -> bool:
    """Is a variable set to a whole number, as what counts the turns of a loop is?"""
    value = statement.value
    return isinstance(value, ast.Constant) and isinstance(statement.targets[0], ast.Name)


def _of_value(edit: Edit, path: Path, seen: str) -> str:
    parents = [node_at(edit.tree, path[:length]) for length in range(len(path))]
    steps = [name for name, _ in path]
    for parent, step in reversed(list(zip(parents, steps, strict=True))):
        if isinstance(parent, ast.Subscript) and step == "slice":
            return "wrong-index"
        if isinstance(parent, ast.For) and step == "iter":
            return "wrong-loop-bound"
        if isinstance(parent, ast.While) and step == "test":
            return "wrong-loop-bound"
        if isinstance(parent, ast.If | ast.IfExp) and step == "test":
            return "wrong-bounds-check"
        if isinstance(parent, ast.IfExp) and isinstance(node_at(edit.tree, path), ast.Constant):
            return "missing-mask"
        if isinstance(parent, ast.Assign | ast.AugAssign) and step == "value":
            return _of_variable(edit, parent, seen)
    return seen


def _of_variable(edit: Edit, statement: ast.Assign | ast.AugAssign, seen: str) -> str:
    """By what a variable is for: an index, the bound of a loop or of a test, or a number."""
    if _is_of_a_sum(statement) and isinstance(statement, ast.Assign) and not _counts(statement):
        return "accumulator-error"
    names, of = bound_in(statement), edit.tree
    uses = {"wrong-index": 0, "wrong-loop-bound": 0, "wrong-bounds-check": 0}
    # A variable that others are worked out from is for what they are for.
    for _ in range(3):
        names |= frozenset().union(
            *(
                bound_in(node)
                for node in ast.walk(of)
                if isinstance(node, ast.Assign) and _whole_names(node.value) & names
            )
        )
    for node in ast.walk(of):
        match node:
            case ast.Subscript(slice=part):
                uses["wrong-index"] += bool(_whole_names(part) & names)
            case ast.For(iter=part) | ast.While(test=part):
                uses["wrong-loop-bound"] += bool(_whole_names(part) & names)
            case ast.If(test=part) | ast.IfExp(test=part):
                uses["wrong-bounds-check"] += bool(_whole_names(part) & names)
    in_while = any(
        isinstance(node, ast.While) and _whole_names(node.test) & bound_in(statement)
        for node in ast.walk(of)
    )
    if in_while:
        return "wrong-loop-bound"
    used_as = next((code for code, count in uses.items() if count), None)
    if used_as:
        return used_as
    if edit.kind == "call left out":
        return "integer-arithmetic"
    if isinstance(statement.value, ast.Constant):
        return "accumulator-error"
    return "wrong-formula"


def _whole_names(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
