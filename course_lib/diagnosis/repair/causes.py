"""What a change that makes an answer right says of its cause: the code of the finding."""

from __future__ import annotations

import ast

from course_lib.diagnosis.repair.edits import Edit, bound_in
from course_lib.diagnosis.repairs.change import Path, node_at

TEST = "wrong-bounds-check"
# Where the code follows from the kind of the change alone.
OF_KIND = {
    "and/or": TEST,
    "clause left out": TEST,
    "clause missing": TEST,
    "guard left out": TEST,
    "step missing": "wrong-loop-bound",
    "= for +=": "accumulator-error",
    "+= for =": "accumulator-error",
    "zero": "accumulator-error",
    "indices": "wrong-index",
    "targets": "wrong-index",
    "block": "wrong-index",
    "array": "wrong-formula",
    "else missing": "missing-mask",
    "condition left out": TEST,
    "condition turned": TEST,
}
MOVES = ("in the loop", "behind the loop", "before the loop", "left out")


def code_of(edit: Edit, seen: str) -> str:
    """The code of what a change repairs; `seen` where the change does not tell."""
    code = _by_place(edit, seen)
    if code == TEST and not _orders(edit):
        return seen if seen == "incomplete-output" else TEST
    return code


def _orders(edit: Edit) -> bool:
    """Does a test that is changed ask which of two numbers is larger? Equality checks no bounds."""
    for path in (*edit.values, *edit.statements):
        for length in range(len(path) + 1):
            test = getattr(node_at(edit.tree, path[:length]), "test", None)
            compared = [
                part for part in ast.walk(test or ast.Pass()) if isinstance(part, ast.Compare)
            ]
            if any(not isinstance(op, ast.Eq | ast.NotEq) for each in compared for op in each.ops):
                return True
    return False


def _by_place(edit: Edit, seen: str) -> str:
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
    changed = node_at(edit.tree, path)
    for parent, step in reversed(list(zip(parents, steps, strict=True))):
        if isinstance(parent, ast.Subscript) and step == "slice":
            return "wrong-index"
        if isinstance(parent, ast.For) and step == "iter":
            return "wrong-loop-bound"
        if isinstance(parent, ast.While) and step == "test":
            return "wrong-loop-bound"
        if isinstance(parent, ast.If | ast.IfExp) and step == "test":
            ends = isinstance(parent, ast.If) and isinstance(parent.body[-1], ast.Break)
            return "wrong-loop-bound" if ends else TEST
        if isinstance(parent, ast.IfExp | ast.If) and isinstance(changed, ast.Constant):
            return "missing-mask"  # what stands in a cell where there is no element
        if isinstance(parent, ast.Assign | ast.AugAssign) and step == "value":
            inside = any(isinstance(each, ast.If) for each in parents)
            if (
                inside
                and isinstance(changed, ast.Constant)
                and not isinstance(
                    parent.targets[0] if isinstance(parent, ast.Assign) else parent.target, ast.Name
                )
            ):
                return "missing-mask"
            return _of_variable(edit, parent, seen)
    return seen


def _of_variable(edit: Edit, statement: ast.Assign | ast.AugAssign, seen: str) -> str:
    """By what a variable is for: an index, the bound of a loop or of a test, or a number."""
    if _is_of_a_sum(statement) and isinstance(statement, ast.Assign) and not _counts(statement):
        return "accumulator-error"
    names, of = bound_in(statement), edit.tree
    uses = {"wrong-index": 0, "wrong-loop-bound": 0, TEST: 0}
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
                uses[TEST] += bool(_whole_names(part) & names)
    in_while = any(
        isinstance(node, ast.While) and _whole_names(node.test) & bound_in(statement)
        for node in ast.walk(of)
    )
    if in_while:
        return "wrong-loop-bound"
    used_as = next((code for code, count in uses.items() if count), None)
    if used_as:
        return used_as
    if edit.kind == "call left out" and "int" in ast.unparse(
        node_at(edit.tree, next(iter(edit.values)))
    ):
        return "integer-arithmetic"
    if isinstance(statement.value, ast.Constant):
        return "accumulator-error"
    return "wrong-formula"


def _whole_names(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
