"""What an answer's text looks like as a tree: without names, comments and the order of operands.

The text is parsed and never executed. Two answers of one structure do the same in the same order,
whatever their variables are called. Names that mean something outside the answer stay: functions
of Numba and NumPy, attributes, and the names of builtins.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.emulator.budget import MAX_SOURCE_CHARACTERS

WINDOW = 6  # nodes of the tree that make one of its pieces
MOST_NODES = 5_000  # an answer of the course has some 600
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}


@dataclass(frozen=True)
class Structure:
    """An answer's structure.

    Attributes:
        whole: equal for two answers of one structure.
        pieces: every run of WINDOW nodes of the tree, its own names all alike.
        words: the text without white space and comments: equal where names are equal, too.
        remarks: its comments.
    """

    whole: str
    pieces: frozenset[str]
    words: str
    remarks: str


def structure_of(text: str) -> Structure | None:
    """The structure of a text; None where it is no Python, or too large to compare."""
    if len(text) > MAX_SOURCE_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
            return None
        plain = _in_one_order(_Plain().visit(tree))
        blind = [*_tokens(plain, _own_names(plain), {}, blind=True)]
        whole = " ".join(_tokens(plain, _own_names(plain), {}, blind=False))
        words, remarks = _words(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError):
        return None
    windows = range(max(len(blind) - WINDOW + 1, 0))
    pieces = frozenset(" ".join(blind[i : i + WINDOW]) for i in windows)
    return Structure(whole, pieces, words, remarks)


class _Plain(ast.NodeTransformer):
    """Without what does nothing, and with one spelling for what has several."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, [each for each in block if not _says_nothing(each)])
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a += b` is `a = a + b`."""
        self.generic_visit(node)
        return ast.Assign([node.target], ast.BinOp(node.target, node.op, node.value))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a > b` is `b < a`."""
        self.generic_visit(node)
        turned = _TURNED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if turned is None:
            return node
        return ast.Compare(node.comparators[0], [turned()], [node.left])


def _says_nothing(node: ast.AST) -> bool:
    """An import, `pass`, or a text that stands alone."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone or isinstance(node, ast.Import | ast.ImportFrom | ast.Pass)


def _in_one_order(tree: ast.AST) -> ast.AST:
    """Operands of +, * and `and`, and constants above a kernel, in an order of their own."""
    own = _own_names(tree)

    def key(node: ast.AST) -> str:
        return " ".join(_tokens(node, own, {}, blind=True))

    for node in [*ast.walk(tree)][::-1]:  # the innermost first
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            node.left, node.right = sorted((node.left, node.right), key=key)
        elif isinstance(node, ast.BoolOp):
            node.values.sort(key=key)
        elif isinstance(node, ast.Module):
            node.body.sort(key=lambda each: (not isinstance(each, ast.Assign), ""))
            constants = [each for each in node.body if isinstance(each, ast.Assign)]
            node.body = [*sorted(constants, key=key), *node.body[len(constants) :]]
    return tree


def _own_names(tree: ast.AST) -> frozenset[str]:
    """The names that the answer itself gives a meaning."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return frozenset(found)


def _tokens(
    node: ast.AST, own: frozenset[str], numbers: dict[str, int], blind: bool
) -> Iterator[str]:
    """The nodes of a tree from the top; its own names by a number, or all alike."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        match each:
            case ast.Load() | ast.Store() | ast.Del() | ast.arguments():
                pass
            case ast.Name(id=name) | ast.arg(arg=name):
                if name not in own:
                    yield name
                else:
                    yield "v" if blind else f"v{numbers.setdefault(name, len(numbers))}"
            case ast.Constant(value=value):
                yield repr(value)[:40]
            case ast.Attribute(attr=name):
                yield f".{name}"
            case _:
                yield type(each).__name__
        waiting += [*ast.iter_child_nodes(each)][::-1]


def _words(text: str) -> tuple[str, str]:
    """The tokens of a text, and its comments."""
    words, remarks = [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            remarks.append(token.string.strip("# \t"))
        elif token.string.strip():
            words.append(token.string)
    return " ".join(words), "\n".join(filter(None, remarks))
