"""A function with one thing changed, and where in a function a change can be made."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from course_lib.diagnosis.source.tree import Path, copy_of, node_at, replace_node, walk
from course_lib.sentences import Sentence, say

Edit = Callable[[ast.FunctionDef], None]
LOOPS = (ast.For, ast.While)
Node = TypeVar("Node", bound=ast.AST)
Other = TypeVar("Other", bound=ast.AST)


@dataclass(frozen=True)
class Change:
    """A function with one thing changed.

    Attributes:
        original: the function.
        edit: makes the change in a copy of it.
        line: where the change is.
        code: what the finding is called, if this is the cause.
        says: what is wrong, as a sentence without its full stop.
        hint: a question that leads to it.
        kind: a word for the kind of change, such as "brackets".
        in_loop: whether it lies in a loop, where a change may come out right by chance.
    """

    original: ast.FunctionDef
    edit: Edit
    line: int
    code: str
    says: Sentence | str
    hint: Sentence | str
    kind: str
    in_loop: bool

    @property
    def tree(self) -> ast.FunctionDef:
        """The changed function, made when it is asked for: few of all changes are tried."""
        tree = copy_of(self.original)
        self.edit(tree)
        return tree


@dataclass(frozen=True)
class EditSite(Generic[Node]):
    """A node, and the way to it from the function."""

    node: Node
    path: Path


AnyEditSite = EditSite[Any]


class Original:
    """A function as it was written, and the places where it can be changed.

    `numbers` are tried in place of a number.
    """

    def __init__(self, tree: ast.FunctionDef, numbers: Sequence[int] = ()) -> None:
        self.tree = tree
        self.numbers = tuple(dict.fromkeys(numbers))
        self.places = [
            EditSite(node, path)
            for node, path in walk(tree)
            if all(name != "decorator_list" for name, _ in path)
        ]
        self.own_names = {each.arg for each in tree.args.args} | {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }

    def all(self, kind: type[Other]) -> Iterator[EditSite[Other]]:
        """The places with nodes of a kind, in the order of the text."""
        return (
            EditSite(each.node, each.path) for each in self.places if isinstance(each.node, kind)
        )

    def with_node(
        self,
        place: AnyEditSite,
        new: ast.expr,
        code: str,
        says: Sentence | str,
        hint: Sentence | str,
        kind: str,
        at: Path = (),
    ) -> Change:
        """The change of one node into another; `at` leads on from the place to the node."""

        def put(tree: ast.FunctionDef) -> None:
            replace_node(tree, (*place.path, *at), copy_of(new))

        return self.with_edit(place, put, code, says, hint, kind)

    def with_edit(
        self,
        place: AnyEditSite,
        edit: Edit,
        code: str,
        says: Sentence | str,
        hint: Sentence | str,
        kind: str,
    ) -> Change:
        """The change that `edit` makes in a copy of the function, told at the line of a place."""
        line = getattr(place.node, "lineno", self.tree.lineno)
        in_loop = any(isinstance(each, (*LOOPS, ast.comprehension)) for each in self.above(place))
        return Change(self.tree, edit, line, code, says, hint, kind, in_loop)

    def above(self, place: AnyEditSite) -> Iterator[ast.AST]:
        """The nodes that a place lies in, from the inside to the outside."""
        for length in range(len(place.path) - 1, 0, -1):
            yield node_at(self.tree, place.path[:length])

    def about(self, place: AnyEditSite) -> tuple[Sentence, Sentence]:
        """Words for a name or number that should be another one."""
        parts: tuple[type[ast.AST], ...] = (ast.BinOp, ast.Subscript, ast.Compare, ast.Call)
        parts += (ast.Assign, ast.AugAssign, ast.Return)
        around = next((each for each in self.above(place) if isinstance(each, parts)), place.node)
        leaf = quoted(place.node)
        says = "another number belongs in the place of {leaf} in {around}"
        if isinstance(place.node, ast.Name):
            says = "{leaf} is the wrong one in {around}"
        hint = say("What should stand where {leaf} stands?", leaf=leaf)
        return say(says, leaf=leaf, around=quoted(around)), hint

    def is_called(self, place: AnyEditSite) -> bool:
        """Is it the name of a function that is called, or of a module?"""
        return place.path[-1][0] in ("func", "value")


def code_of_place(function: Original, place: AnyEditSite) -> str:
    """What it is called that something is wrong here: in a test, a loop's bound, a formula."""
    above = [*function.above(place)]
    for level, (node, (field, _)) in enumerate(zip(above, place.path[:0:-1], strict=True)):
        outside = above[level + 1] if level + 1 < len(above) else None
        is_a_loops = isinstance(outside, ast.While) and place.path[-level - 2][0] == "test"
        if isinstance(node, ast.Compare) and not is_a_loops:
            return "wrong-bounds-check"
        if isinstance(node, LOOPS):
            return "wrong-loop-bound" if field in ("iter", "test") else "wrong-formula"
    return "wrong-formula"


def symbol(operator: ast.operator) -> str:
    return ast.unparse(ast.BinOp(ast.Name("a"), operator, ast.Name("b")))[2:-2]


def quoted(node: ast.AST) -> str:
    return f"`{ast.unparse(node)}`"
