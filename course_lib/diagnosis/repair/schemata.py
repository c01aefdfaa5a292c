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

MOST_AT_ONCE = 31  # a call has at most 64 arguments
_CHOOSE, _BLOCK, _TURNS = "<choose>", "<blockIdx>", "<turns>"


def schemata(kernel: Kernel, edits: Sequence[Edit], most_turns: int) -> Kernel:
    """A kernel whose blocks of z = n run with the change edits[n], on copy n of the output."""
    changed = _rewritten(kernel, edits, most_turns, {})
    tree = changed.tree
    assert isinstance(tree, ast.FunctionDef)
    output = kernel.parameters[-1]
    all_outputs = f"<all {output}>"
    index = ast.Attribute(ast.Name(_BLOCK, ast.Load()), "z", ast.Load())
    own = ast.Subscript(ast.Name(all_outputs, ast.Load()), index, ast.Load())
    tree.body.insert(0, ast.Assign([ast.Name(output, ast.Store())], own))
    tree.args.args[-1].arg = all_outputs
    _place(tree)
    parameters = (*kernel.parameters[:-1], all_outputs)
    return replace(changed, parameters=parameters, declared=None, jit_call=None)


def _rewritten(
    kernel: Kernel, edits: Sequence[Edit], most_turns: int, done: dict[ast.AST, Kernel]
) -> Kernel:
    """A function that chooses wherever a change touches it, and calls others that do."""
    if kernel.tree in done or not isinstance(kernel.tree, ast.FunctionDef):
        return done.get(kernel.tree, kernel)
    builder = _Builder(kernel.tree, edits, most_turns)
    tree = copy_of(kernel.tree)
    begin = ast.Assign([ast.Name(_TURNS, ast.Store())], ast.Constant(0))
    tree.body = [begin, *builder.block(kernel.tree.body, (), "body")]
    _place(tree)
    names: dict[str, Any] = {_CHOOSE: Reference(CHOOSE), _BLOCK: Reference("numba.cuda.blockIdx")}
    around: Any = ChainMap(names, kernel.namespace)  # type: ignore[arg-type]
    done[kernel.tree] = replace(kernel, tree=tree, namespace=around)
    for node in ast.walk(kernel.tree):
        called = kernel.namespace.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(called, Kernel):
            names[node.id] = _rewritten(called, edits, most_turns, done)  # type: ignore[union-attr]
    return done[kernel.tree]


def _place(tree: ast.FunctionDef) -> None:
    """Give the new nodes the line of the function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
            node.lineno, node.col_offset = tree.lineno, 0
            node.end_lineno, node.end_col_offset = tree.lineno, 0


class _Builder:
    def __init__(self, tree: ast.FunctionDef, edits: Sequence[Edit], most_turns: int) -> None:
        self.most_turns = most_turns
        self.values: dict[Path, list[tuple[int, ast.expr]]] = defaultdict(list)
        self.statements: dict[Path, list[tuple[int, StatementEdit]]] = defaultdict(list)
        for number, edit in enumerate(edits):
            for change in (part for part in edit.parts if part.tree is tree):
                for path, value in change.values.items():
                    self.values[path].append((number, value))
                for path, statement in change.statements.items():
                    self.statements[path].append((number, statement))

    def block(self, body: Sequence[ast.stmt], path: Path, name: str) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for number, statement in enumerate(body):
            made += self.statement(statement, (*path, (name, number)))
        return made

    def statement(self, statement: ast.stmt, path: Path) -> list[ast.stmt]:
        changes = self.statements.get(path, [])
        made = [_only(number, change.before) for number, change in changes if change.before]
        usual = self.node(statement, path)
        loop = [self._bounded(usual) if isinstance(usual, ast.For | ast.While) else usual]
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

    def _bounded(self, loop: ast.For | ast.While) -> ast.stmt:
        """A loop that a change may have made endless ends after so many turns of all loops."""
        count = ast.AugAssign(ast.Name(_TURNS, ast.Store()), ast.Add(), ast.Constant(1))
        most = ast.Constant(self.most_turns)
        test = ast.Compare(ast.Name(_TURNS, ast.Load()), [ast.Gt()], [most])
        loop.body = [count, ast.If(test, [ast.Break()], []), *loop.body]
        return loop

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
        return ast.copy_location(_choose(new, pairs), node)


def _choose(usual: ast.expr, pairs: Sequence[tuple[int, ast.expr]]) -> ast.expr:
    chosen = usual
    for start in range(0, len(pairs), MOST_AT_ONCE):
        others = [
            part
            for number, value in pairs[start : start + MOST_AT_ONCE]
            for part in (ast.Constant(number), copy_of(value))
        ]
        chosen = ast.Call(ast.Name(_CHOOSE, ast.Load()), [chosen, *others], [])
    return chosen


def _only(number: int, body: Sequence[ast.stmt]) -> ast.If:
    """Statements that one variant alone runs."""
    test = _choose(ast.Constant(False), [(number, ast.Constant(True))])
    return ast.If(test, [copy_of(each) for each in body], [])
