"""Says what a line does to a cell that it reads and writes back: adds to it, exchanges it, …

Only then can it be said what a race there loses, and which atomic operation would lose nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

# What stands for an operator among the functions of `cuda.atomic`.
ATOMIC_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
SWAP = "swap"
DRAW = "draw"  # a random number, by which a generator's state goes on


def change_in(line: int, trees: Iterable[ast.AST]) -> str:
    """What the assignment in a line does to a cell that it reads, too.

    That is the name of an atomic operation, SWAP, or "" where there is no name for it.
    """
    changes = {_change(each) for tree in trees for each in _assignments(tree, line)}
    return changes.pop() if len(changes) == 1 else ""


def is_swap(lines: tuple[int, int], trees: Iterable[ast.AST]) -> bool:
    """Whether two lines are of one exchange of two elements: `t = a; a = b; b = t`."""
    return any(set(lines) <= swap for tree in trees for swap in _swaps(tree))


def _swaps(tree: ast.AST) -> Iterator[set[int]]:
    """The lines of each exchange by way of a third variable."""
    bodies = [getattr(node, of, None) for node in ast.walk(tree) for of in ("body", "orelse")]
    for body in bodies:
        if not isinstance(body, list):  # a lambda and a conditional expression have one value there
            continue
        for three in zip(body, body[1:], body[2:], strict=False):
            match three:
                case (
                    ast.Assign(targets=[kept], value=first),
                    ast.Assign(targets=[to], value=second),
                    ast.Assign(targets=[at], value=back),
                ):
                    texts = _texts([kept, to, at]), _texts([back, first, second])
                    if texts[0] == texts[1]:
                        yield {each.lineno for each in three}


def _assignments(tree: ast.AST, line: int) -> Iterator[ast.Assign | ast.AugAssign]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                yield node


def _change(statement: ast.Assign | ast.AugAssign) -> str:
    if isinstance(statement, ast.AugAssign):
        return ATOMIC_OPERATORS.get(type(statement.op), "")
    match statement:
        case ast.Assign(targets=[ast.Tuple() as to], value=ast.Tuple() as taken):
            crossed = zip(_texts(to.elts), _texts(taken.elts), strict=False)
            moved = [target for target, value in crossed if target != value]
            return SWAP if moved and set(moved) <= set(_texts(taken.elts)) else ""
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=operator, right=right)):
            turned = [right] if isinstance(operator, ast.Add) else []
            same = _is_among(target, [left, *turned])
            return ATOMIC_OPERATORS.get(type(operator), "") if same else ""
        case ast.Assign(targets=[target], value=ast.Call(func=function, args=arguments)):
            name = ast.unparse(function)
            return name if name in ("min", "max") and _is_among(target, arguments) else ""
    return ""


def _is_among(target: ast.expr, given: Iterable[ast.expr]) -> bool:
    return ast.unparse(target) in _texts(given)


def _texts(nodes: Iterable[ast.expr]) -> list[str]:
    return [ast.unparse(node) for node in nodes]
