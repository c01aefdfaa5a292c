"""What a change that makes an answer right says of its cause: the code of the finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from course_lib.diagnosis.launches.outcome import OUTSIDE
from course_lib.diagnosis.repair.edit import Edit, Function
from course_lib.diagnosis.source.tree import (
    BLOCK,
    Assignment,
    asks_about_elements,
    last_name,
    names_bound,
    names_in,
    names_read,
    node_at,
    nodes_in,
    root_name,
    target_of,
    variables_in,
    wide_accesses,
)

INDEX, TEST, LOOP = "wrong-index", "wrong-bounds-check", "wrong-loop-bound"
SUM, MASK, FORMULA = "accumulator-error", "missing-mask", "wrong-formula"
# Where the code follows from the kind of the change alone.
OF_KIND = {
    "and/or": TEST,
    "clause left out": TEST,
    "clause missing": TEST,
    "guard left out": TEST,
    "guard missing": TEST,
    "= for +=": SUM,
    "sum from zero": SUM,
    "combined": FORMULA,
    "not kept": FORMULA,
    "+= for =": SUM,
    "indices": INDEX,
    "targets": INDEX,
    "part moved": INDEX,
    "block": INDEX,
    "array": FORMULA,
    "larger or smaller": FORMULA,
    "else missing": MASK,
    "ends the loop": LOOP,
    "narrow type": "index-overflow",
    "field": "hardcoded-answer",
    "padding": MASK,
    "other mask": TEST,
    "type": SUM,
    "total missing": SUM,
    "function": FORMULA,
    "step": LOOP,
    "tile number": INDEX,
    "stride": INDEX,
    "rescale": "missing-rescale",
    "axis missing": FORMULA,
    "axes kept": FORMULA,
    "call missing": FORMULA,
    "transposed": FORMULA,
    **dict.fromkeys(("tile term", "tile factor", "tile maximum"), FORMULA),
}
OF_KEYWORD = {
    "index": INDEX, "indices": INDEX, "shape": INDEX, "mask": TEST, "padding_mode": MASK,
    "other": MASK,
}  # fmt: skip
# Does a variable that this gives a value begin a sum?
OF_TILES = {"zeros": True, "full": True, "ones": True, "bid": False, "program_id": False}
TILE_ACCESSES = ("load", "store")
BY_ELEMENT = ("gather", "scatter")
OF_CLAUSES = ("and/or", "clause left out")
OF_A_FORMULA = ("operator", "surplus", "turned", "brackets")
MOVES = (
    *("in the loop", "behind the loop", "before the loop", "left out"),
    *("in the branch", "behind the branch", "before the branch"),
)
MOST_STEPS = 3  # from a variable to those that are worked out from it, and on to others


def code_of(edit: Edit, seen: str) -> str:
    """The code of what a change repairs; `seen` where the change does not tell."""
    if edit.kind in ("else missing", "+= for =") and seen == "uninitialised-read":
        return seen
    if edit.kind in ("order", "too late") and seen in (LOOP, INDEX):
        return FORMULA  # the loops and the indices are the same as before
    if edit.kind == "mask":
        return seen if seen in OUTSIDE else TEST
    if edit.kind in ("guard missing", "array too small") and seen in OUTSIDE:
        return seen  # there is no test, and no sum, that is wrong
    code = OF_KIND.get(edit.kind) or _of_value(edit) or _of_move(edit)
    code = code or (FORMULA if edit.kind in OF_A_FORMULA else seen)
    code = FORMULA if code == "wrong-result" else code
    changed = [*_comparisons_changed(edit)] if code == TEST else []
    clauses = [node_at(edit.tree, path) for path in edit.values if edit.kind in OF_CLAUSES]
    asked = changed or clauses  # as of `A[i] or B[i]`, without a comparison
    of_elements = asked and all(asks_about_elements(clause, edit.tree) for clause in asked)
    if code == TEST and seen == "incomplete-output":
        return code if _checks_bounds(edit, changed) and not of_elements else seen
    return FORMULA if of_elements else code


def _checks_bounds(edit: Edit, changed: Sequence[ast.Compare]) -> bool:
    """Does one of the comparisons that are changed ask whether a place lies inside an array?"""
    sizes = {
        name
        for node in nodes_in(edit.tree, ast.Assign)
        if "shape" in names_in(node.value)
        for name in names_bound(node)
    }
    return any(
        isinstance(operator, ast.Lt | ast.LtE)
        or (isinstance(operator, ast.Gt | ast.GtE) and ("shape" in names_in(part) or own & sizes))
        for part in changed
        for own in [variables_in(part)]
        for operator in part.ops
    )


def _comparisons_changed(edit: Edit) -> Iterator[ast.Compare]:
    """The comparisons that a change touches, or leaves out of several conditions."""
    for path in edit.paths:
        around = [node_at(edit.tree, path[:length]) for length in range(len(path) + 1)]
        innermost = [node for node in around if isinstance(node, ast.Compare)][-1:]
        if innermost:
            yield from innermost
            continue
        kept = {ast.dump(node) for node in ast.walk(edit.values.get(path, ast.Pass()))}
        whole = around[-1].test if isinstance(around[-1], ast.If) else around[-1]
        compares = nodes_in(whole, ast.Compare)
        yield from (part for part in compares if ast.dump(part) not in kept)


def _of_move(edit: Edit) -> str | None:
    moved = [node_at(edit.tree, path) for path in edit.statements]
    if any(isinstance(node, ast.If) and isinstance(node.body[-1], ast.Break) for node in moved):
        return LOOP
    return SUM if edit.kind in MOVES and any(map(_is_of_a_sum, moved)) else None


def _is_of_a_sum(node: ast.AST) -> bool:
    """Does it add to a variable, or give it a number to begin with, as 0 or float32(0)?"""
    match node:
        case ast.Assign(value=ast.Call(func=function)) if last_name(function) in OF_TILES:
            return OF_TILES[last_name(function)]
        case ast.Assign(value=ast.Call(func=function)) if last_name(function) in BLOCK:
            return False
        case ast.AugAssign() | ast.Assign(value=ast.Constant() | ast.Call(args=[ast.Constant()])):
            return True
    return False


def _of_value(edit: Edit) -> str | None:
    """By what the first expression that is changed is a part of, from the inside to the outside."""
    if not edit.values:
        return None
    path = next(iter(edit.values))
    changed = node_at(edit.tree, path)
    for length in reversed(range(len(path))):
        parent, part = node_at(edit.tree, path[:length]), path[length][0]
        code = _of_part(parent, part, changed) or _of_access(parent, path[length])
        if code:
            return code
        if isinstance(parent, ast.Assign | ast.AugAssign) and part == "value":
            around = [node_at(edit.tree, path[:n]) for n in range(length)]
            guarded = any(isinstance(node, ast.If) for node in around)
            whole = isinstance(changed, ast.Constant) and _is_of_a_sum(parent)
            if guarded and whole and not _sets_a_name(parent):
                return MASK
            return _of_assigned(edit, parent, changed)
    return None


def _of_part(parent: ast.AST, part: str, changed: ast.expr) -> str | None:
    match parent, part, changed:
        case ast.Subscript(), "slice", _:
            return INDEX
        case (ast.For(), "iter", _) | (ast.While(), "test", _):
            return LOOP
        case ast.If(body=[*_, ast.Break()]), "test", _:
            return LOOP
        case ast.IfExp(body=one, orelse=other), "test", _ if not _is_number(one, other):
            return FORMULA  # neither of the values is what stands where there is no element
        case ((ast.If() | ast.IfExp()), "test", _):
            return TEST
        case ((ast.If() | ast.IfExp()), _, ast.Constant()):
            return MASK  # what stands in a cell where there is no element
    return None


def _of_access(parent: ast.AST, place: tuple[str, int | None]) -> str | None:
    """What an argument of a tile's load or store is for, or of an atomic operation."""
    return dict(_arguments_of(parent)).get(place) if isinstance(parent, ast.Call) else None


def _arguments_of(access: ast.Call) -> Iterator[tuple[tuple[str, int | None], str]]:
    """The arguments of a call that accesses memory, each with the code of what it is for.

    By place it is a tuple that is the index, in cuTile, or the address in the first place, in
    Triton; and the second of `cuda.atomic.add(array, index, value)` and `ct.gather(array, index)`.
    """
    if "atomic" in names_in(access.func) or last_name(access.func) in BY_ELEMENT:
        yield ("args", 1), INDEX
    if last_name(access.func) not in TILE_ACCESSES:
        return
    for number, argument in enumerate(access.args):
        if isinstance(argument, ast.Tuple) or (not number and not isinstance(argument, ast.Name)):
            yield ("args", number), INDEX
    for number, keyword in enumerate(access.keywords):
        if keyword.arg in OF_KEYWORD:
            yield ("keywords", number), OF_KEYWORD[keyword.arg]


def _is_number(*values: ast.expr) -> bool:
    """Is one of them a number, as 0 or float32(0)?"""
    plain = (
        value.args[0] if isinstance(value, ast.Call) and value.args else value for value in values
    )
    return any(isinstance(value, ast.Constant) for value in plain)


def _sets_a_name(statement: ast.Assign | ast.AugAssign) -> bool:
    return _root_of(statement) in names_bound(statement)


def _of_assigned(
    edit: Edit, statement: ast.Assign | ast.AugAssign, changed: ast.expr
) -> str | None:
    """By what a variable is for: an index, the bound of a loop or of a test, or a number."""
    begins = isinstance(statement, ast.Assign) and _is_of_a_sum(statement)
    counts = isinstance(statement.value, ast.Constant) and _sets_a_name(statement)
    if begins and not counts:
        return SUM if _is_added_to(edit.tree, _root_of(statement)) else FORMULA
    own = names_bound(statement)
    if any(variables_in(loop.test) & own for loop in nodes_in(edit.tree, ast.While)):
        return LOOP
    names = _worked_out_from(edit.tree, own)
    used_as = {code for code, part in _uses(edit.tree) if variables_in(part) & names}
    if any(n.value and variables_in(n.value) & names for n in nodes_in(edit.tree, ast.Return)):
        used_as -= {TEST}  # it is a number that counts, and is tested as well
    for code in (INDEX, LOOP, TEST):
        if code in used_as:
            return code
    if edit.kind == "call left out" and "int" in ast.unparse(changed):
        return "integer-arithmetic"
    if isinstance(statement, ast.Assign) and _is_added_to(edit.tree, _root_of(statement)):
        return SUM
    if isinstance(statement.value, ast.Constant):
        return SUM if isinstance(statement, ast.AugAssign) else FORMULA
    return None


def _root_of(statement: Assignment) -> str | None:
    """The variable or array that is set."""
    return root_name(target_of(statement))


def _is_added_to(tree: Function, name: str | None) -> bool:
    """Does a statement take what this variable or array holds, and store there again?"""
    return any(
        isinstance(node, ast.AugAssign) or name in names_read(node.value)
        for node in nodes_in(tree, ast.Assign, ast.AugAssign)
        if _root_of(node) == name
    )


def _worked_out_from(tree: Function, names: frozenset[str]) -> frozenset[str]:
    """Some variables, and those that are worked out from them: they are for the same."""
    made = nodes_in(tree, ast.Assign)
    for _ in range(MOST_STEPS):
        names |= frozenset().union(
            *(names_bound(node) for node in made if variables_in(node.value) & names)
        )
    return names


def _uses(tree: Function) -> Iterator[tuple[str, ast.expr]]:
    """The indices, bounds of loops and tests of a function, each with its code."""
    for node in ast.walk(tree):
        yield from ((INDEX, index) for _, index, _ in wide_accesses(node))
        match node:
            case ast.Subscript(slice=index):
                yield INDEX, index
            case ast.Call():
                for (name, number), code in _arguments_of(node):
                    part = getattr(node, name)[number]
                    yield code, part.value if isinstance(part, ast.keyword) else part
            case ast.For(iter=bound) | ast.While(test=bound):
                yield LOOP, bound
            case ast.If(test=test) | ast.IfExp(test=test):
                yield TEST, test
