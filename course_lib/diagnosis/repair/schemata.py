"""Many variants of one kernel as the blocks of one launch: where they differ, `choose` chooses.

A launch costs NumPy about the same for one lane or for thousands. So the number of the variant is
put into the lanes: each place that some variant changes is rewritten once, and each variant has its
own blocks, its own shared memory and its own copy of the output.
"""

from __future__ import annotations

import ast
from collections import ChainMap, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from course_lib.diagnosis.repair.edits import Edit, StatementEdit
from course_lib.diagnosis.repairs.change import Path, copy_of
from course_lib.emulator import Kernel
from course_lib.emulator.functions.choice import CHOOSE
from course_lib.emulator.language.names import Reference

_CHOOSE, _BLOCK = "<choose>", "<blockIdx>"


def schemata(kernel: Kernel, edits: Sequence[Edit], most_turns: int) -> Kernel:
    """A kernel whose blocks of z = n run with the change edits[n], on copy n of the output."""
    builder = _Builder(edits, most_turns)
    assert isinstance(kernel.tree, ast.FunctionDef)
    tree = copy_of(kernel.tree)
    tree.body = builder.block(kernel.tree.body, (), "body")
    output = kernel.parameters[-1]
    all_outputs = f"<all {output}>"
    index = ast.Attribute(ast.Name(_BLOCK, ast.Load()), "z", ast.Load())
    own = ast.Subscript(ast.Name(all_outputs, ast.Load()), index, ast.Load())
    tree.body.insert(0, ast.Assign([ast.Name(output, ast.Store())], own))
    tree.args.args[-1].arg = all_outputs
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
            node.lineno, node.col_offset = kernel.tree.lineno, 0
            node.end_lineno, node.end_col_offset = kernel.tree.lineno, 0
    names = {_CHOOSE: Reference(CHOOSE), _BLOCK: Reference("numba.cuda.blockIdx")}
    around: Any = ChainMap(names, kernel.namespace)  # type: ignore[arg-type]
    parameters = (*kernel.parameters[:-1], all_outputs)
    return replace(kernel, tree=tree, parameters=parameters, namespace=around)


class _Builder:
    def __init__(self, edits: Sequence[Edit], most_turns: int) -> None:
        self.most_turns = most_turns
        self.loops = 0
        self.values: dict[Path, list[tuple[int, ast.expr]]] = defaultdict(list)
        self.statements: dict[Path, list[tuple[int, StatementEdit]]] = defaultdict(list)
        for number, edit in enumerate(edits):
            for path, value in edit.values.items():
                self.values[path].append((number, value))
            for path, change in edit.statements.items():
                self.statements[path].append((number, change))

    def block(self, body: Sequence[ast.stmt], path: Path, name: str) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for number, statement in enumerate(body):
            made += self.statement(statement, (*path, (name, number)))
        return made

    def statement(self, statement: ast.stmt, path: Path) -> list[ast.stmt]:
        changes = self.statements.get(path, [])
        made = [_only(number, change.before) for number, change in changes if change.before]
        usual = self.node(statement, path)
        loop = self._bounded(usual) if isinstance(usual, ast.For | ast.While) else [usual]
        left_out = [number for number, change in changes if change.instead is not None]
        if left_out:
            pairs = [(number, ast.Constant(False)) for number in left_out]
            loop = [ast.If(_choose(ast.Constant(True), pairs), loop, [])]
        made += loop
        for number, change in changes:
            if change.instead:
                made.append(_only(number, change.instead))
            if change.after:
                made.append(_only(number, change.after))
        return [ast.copy_location(each, statement) for each in made]

    def _bounded(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """A loop that a change may have made endless ends its threads after so many turns."""
        self.loops += 1
        name = f"<turns {self.loops}>"
        begin = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(0))
        count = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(1))
        test = ast.Compare(
            ast.Name(name, ast.Load()), [ast.Gt()], [ast.Constant(self.most_turns)]
        )
        loop.body = [count, ast.If(test, [ast.Return(None)], []), *loop.body]
        return [begin, loop]

    def node(self, node: Any, path: Path) -> Any:
        """A copy of a node in which every changed place chooses."""
        new = type(node)()
        for name, value in vars(node).items():
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                value = self.block(value, path, name)
            elif isinstance(value, list):
                value = [
                    self.node(each, (*path, (name, number))) if isinstance(each, ast.AST) else each
                    for number, each in enumerate(value)
                ]
            elif isinstance(value, ast.AST):
                value = self.node(value, (*path, (name, None)))
            setattr(new, name, value)
        pairs = self.values.get(path)
        if not pairs:
            return new
        return ast.copy_location(_choose(*self._loads_once(new, node, pairs)), node)

    def _loads_once(
        self, new: ast.expr, node: ast.expr, pairs: Sequence[tuple[int, ast.expr]]
    ) -> tuple[ast.expr, list[tuple[int, ast.expr]]]:
        """What is read from memory for the usual value, others use without reading it again."""
        parts = [name for name, value in vars(node).items() if isinstance(value, ast.expr)]
        kept: dict[ast.expr, str] = {}
        for name in parts:
            part = getattr(node, name)
            if any(isinstance(each, ast.Subscript) for each in ast.walk(part)) and not isinstance(
                node, ast.Subscript
            ):
                self.loops += 1
                kept[part] = f"<part {self.loops}>"
                named = ast.NamedExpr(ast.Name(kept[part], ast.Store()), getattr(new, name))
                setattr(new, name, ast.copy_location(named, part))
        if not kept:
            return new, list(pairs)
        return new, [(number, _with_names(value, kept)) for number, value in pairs]


def _with_names(value: ast.expr, kept: dict[ast.expr, str]) -> ast.expr:
    """A copy of an expression, with names in place of parts that have been worked out."""
    if value in kept:
        return ast.Name(kept[value], ast.Load())
    new = type(value)()
    for name, part in vars(value).items():
        if isinstance(part, ast.expr):
            part = _with_names(part, kept)
        elif isinstance(part, list):
            part = [_with_names(e, kept) if isinstance(e, ast.expr) else e for e in part]
        setattr(new, name, part)
    return new


def _choose(usual: ast.expr, pairs: Sequence[tuple[int, ast.expr]]) -> ast.Call:
    others = [part for number, value in pairs for part in (ast.Constant(number), copy_of(value))]
    return ast.Call(ast.Name(_CHOOSE, ast.Load()), [usual, *others], [])


def _only(number: int, body: Sequence[ast.stmt]) -> ast.If:
    """Statements that one variant alone runs."""
    test = _choose(ast.Constant(False), [(number, ast.Constant(True))])
    return ast.If(test, [copy_of(each) for each in body], [])
