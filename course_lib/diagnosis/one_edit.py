"""Which single edit of a plain function would make every call right: parentheses, an operator, a
number too many.

Each is tried out on a copy of the function, so that what is said of it has been seen to be true.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from course_lib.emulator import Kernel
from course_lib.sentences import Sentence, say

MOST_TRIED = 100
PRODUCTS = (ast.Mult, ast.Div, ast.FloorDiv)
OPERATORS = (ast.Mult, ast.Div, ast.Add, ast.Sub, ast.FloorDiv)
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}
OPPOSITE = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


@dataclass(frozen=True)
class Edit:
    """An edit that makes all calls right.

    Attributes:
        line: of what is edited.
        says: what is wrong there, as a sentence without its full stop.
        hint: what to look at.
        decides: whether it alone says why the results are wrong; otherwise what the results mean
            says more, and the edit only where. In a loop an edit may be right by chance.
    """

    line: int
    says: Sentence
    hint: str
    decides: bool


def find_edit(function: Kernel, is_right: Callable[[Kernel], bool]) -> Edit | None:
    """The first edit with which `is_right` holds; None if there is none."""
    nodes = list(ast.walk(function.tree))
    loops = (each for each in nodes if isinstance(each, (ast.For, ast.While, ast.comprehension)))
    in_loops = {part for loop in loops for part in ast.walk(loop)}
    tries = (
        (place, change, edit)
        for kind in (_grouped, _without_number, _other_operator, _other_way)
        for place, node in enumerate(nodes)
        for change, edit in kind(node)
    )
    for (place, change, edit), _ in zip(tries, range(MOST_TRIED), strict=False):
        tree = copy.deepcopy(function.tree)
        change(list(ast.walk(tree))[place])
        if is_right(replace(function, tree=tree)):
            return replace(edit, decides=edit.decides and nodes[place] not in in_loops)
    return None


Change = Callable[[ast.AST], None]


def _becomes(new: ast.AST) -> Change:
    """The change of a node of a kind into another node of the same kind."""

    def change(node: ast.AST) -> None:
        for name, value in ast.iter_fields(new):
            setattr(node, name, copy.deepcopy(value))

    return change


def _grouped(node: ast.AST) -> Iterator[tuple[Change, Edit]]:
    """`a * b + c` for `a * (b + c)`: what stands on the left of an operator is taken apart."""
    if not isinstance(node, ast.BinOp):
        return
    says = say(
        "`{whole}` is worked out as `({left}) {sign} {right}`",
        whole=ast.unparse(node),
        left=ast.unparse(node.left),
        sign=SIGNS.get(type(node.op), ""),
        right=ast.unparse(node.right),
    )
    hint = "Which part should be worked out first? What do parentheses do?"
    spine: list[ast.BinOp] = []  # what is worked out before, the last operation first
    left = node.left
    while isinstance(left, ast.BinOp) and {type(left.op), type(node.op)} <= SIGNS.keys():
        if isinstance(node.op, PRODUCTS) and not isinstance(left.op, PRODUCTS):
            return  # it stands in parentheses
        part = left.right
        for each in reversed(spine):
            part = ast.BinOp(part, each.op, each.right)
        group = ast.BinOp(part, node.op, node.right)
        new = ast.fix_missing_locations(
            ast.copy_location(ast.BinOp(left.left, left.op, group), node)
        )
        yield _becomes(new), Edit(node.lineno, says, hint, True)
        spine.append(left)
        left = left.left


def _without_number(node: ast.AST) -> Iterator[tuple[Change, Edit]]:
    """`4 * a` for `a`."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, PRODUCTS)):
        return
    for number, other in ((node.right, node.left), (node.left, node.right)):
        if isinstance(number, ast.Constant) and (
            number is node.right or isinstance(node.op, ast.Mult)
        ):
            says = say(
                "the {number} in `{whole}` is too much",
                number=ast.unparse(number),
                whole=ast.unparse(node),
            )
            alone = ast.BinOp(other, ast.Mult(), ast.copy_location(ast.Constant(1), node))
            hint = "Which units have the numbers that come in, and which one does the result have?"
            yield _becomes(alone), Edit(node.lineno, says, hint, True)


def _other_operator(node: ast.AST) -> Iterator[tuple[Change, Edit]]:
    """`a + b` for `a * b`."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in SIGNS:
        return
    whole = isinstance(node.op, ast.FloorDiv)
    says = say("the operator in `{whole}` is another one than it needs", whole=ast.unparse(node))
    hint = "What should become of these two numbers?"
    if whole:
        says = say("`//` rounds `{whole}` down to a whole number", whole=ast.unparse(node))
        hint = "What does // do, and / not?"
    for operator in (ast.Div,) if whole else OPERATORS:
        new = ast.copy_location(ast.BinOp(node.left, operator(), node.right), node)
        yield _becomes(new), Edit(node.lineno, says, hint, False)


def _other_way(node: ast.AST) -> Iterator[tuple[Change, Edit]]:
    """`a < b` for `a > b`, and `min` for `max`."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITE:
        new = ast.Compare(node.left, [OPPOSITE[type(node.ops[0])]()], node.comparators)
        says = say("the test `{test}` sends it the wrong way", test=ast.unparse(node))
        hint = "For which calls is this test true, and for which should it be?"
        yield _becomes(ast.copy_location(new, node)), Edit(node.lineno, says, hint, False)
    if isinstance(node, ast.Name) and node.id in ("min", "max"):
        new_name = ast.Name("max" if node.id == "min" else "min", ast.Load())
        says = say("`{name}` takes the wrong one", name=node.id)
        hint = "Which one counts, the smaller or the larger?"
        yield _becomes(ast.copy_location(new_name, node)), Edit(node.lineno, says, hint, False)
