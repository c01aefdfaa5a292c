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

from course_lib.diagnosis.repair.edit import Edit, Function, StatementEdit
from course_lib.diagnosis.source.tree import Path, copy_of, last_name, names_read
from course_lib.emulator import Kernel
from course_lib.emulator.functions.registers import COPY
from course_lib.emulator.language.kernel import every_node
from course_lib.emulator.language.names import Reference
from course_lib.emulator.machine.choice import CHOOSE

MOST_AT_ONCE = 31  # a call has at most 64 arguments
_CHOOSE, _COPY, _TURNS, _RANGE = "<choose>", "<copy>", "<turns>", "<range>"


def schemata(
    kernel: Kernel,
    variants: Sequence[Sequence[Edit]],
    own: Sequence[str],
    most_turns: int | None = None,
) -> Kernel:
    """A kernel that runs in copy n of a launch (`LaunchShape.of_copies`) with variants[n], on copy
    n of the arrays that it calls `own`, and leaves all loops together after so many turns."""
    changed = _rewritten(kernel, variants, most_turns, {})
    tree = changed.tree
    assert isinstance(tree, ast.FunctionDef)
    stacked = {name: f"<all {name}>" for name in own}
    copy = ast.Attribute(ast.Name(_COPY, ast.Load()), "number", ast.Load())
    tree.body[:0] = [
        ast.Assign(
            [ast.Name(name, ast.Store())],
            ast.Subscript(ast.Name(whole, ast.Load()), copy, ast.Load()),
        )
        for name, whole in stacked.items()
    ]
    for argument in tree.args.args:
        argument.arg = stacked.get(argument.arg, argument.arg)
    _place(tree)
    parameters = tuple(stacked.get(name, name) for name in kernel.parameters)
    return replace(changed, parameters=parameters, declared=None, jit_call=None)


def _rewritten(
    kernel: Kernel,
    variants: Sequence[Sequence[Edit]],
    most_turns: int | None,
    done: dict[ast.AST, Kernel],
) -> Kernel:
    """A function that chooses wherever a change touches it, and calls others that do."""
    if kernel.tree in done:
        return done[kernel.tree]
    tree = _Builder(kernel.tree, variants, most_turns).node(kernel.tree, ())
    if isinstance(tree, ast.FunctionDef) and most_turns is not None:
        tree.body.insert(0, ast.Assign([ast.Name(_TURNS, ast.Store())], ast.Constant(0)))
    _place(tree)
    names: dict[str, Any] = {
        _CHOOSE: Reference(CHOOSE),
        _COPY: Reference(COPY),
        _RANGE: Reference("builtins.range"),
    }
    around: Any = ChainMap(names, kernel.namespace)  # type: ignore[arg-type]
    done[kernel.tree] = replace(kernel, tree=tree, namespace=around)
    for name in names_read(kernel.tree) if any(variants) else ():
        called = kernel.namespace.get(name)
        if isinstance(called, Kernel):
            names[name] = _rewritten(called, variants, most_turns, done)
    return done[kernel.tree]


def _place(tree: Function) -> None:
    """Give the new nodes the line of the function."""
    for node in every_node(tree):
        if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
            node.lineno, node.col_offset = tree.lineno, 0
            node.end_lineno, node.end_col_offset = tree.lineno, 0


class _Builder:
    """Builds the text of a function with all changes in it."""

    def __init__(
        self, tree: Function, variants: Sequence[Sequence[Edit]], most_turns: int | None
    ) -> None:
        self.most_turns = most_turns
        self.values: dict[Path, list[tuple[int, ast.expr]]] = defaultdict(list)
        self.statements: dict[Path, list[tuple[int, StatementEdit]]] = defaultdict(list)
        for number, edits in enumerate(variants):
            for edit in edits:
                if edit.tree is tree:
                    for path, value in edit.values.items():
                        self.values[path].append((number, value))
                    for path, statement in edit.statements.items():
                        self.statements[path].append((number, statement))

    def block(self, body: Sequence[ast.stmt], path: Path, name: str) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for number, statement in enumerate(body):
            made += self.statement(statement, (*path, (name, number)))
        return made

    def statement(self, statement: ast.stmt, path: Path) -> list[ast.stmt]:
        changes = self.statements.get(path, [])
        usual = self.node(statement, path)
        if isinstance(usual, ast.For) and isinstance(usual.iter, ast.Call):
            if last_name(usual.iter.func) == "unroll":  # which allows less than a change may need
                usual.iter.func = ast.Name(_RANGE, ast.Load())
        if isinstance(usual, ast.For | ast.While) and self.most_turns is not None:
            self._bound(usual, self.most_turns)
        left_out = [number for number, change in changes if change.instead is not None]
        if left_out:
            pairs = [(number, ast.Constant(False)) for number in left_out]
            usual = ast.If(_choose(ast.Constant(True), pairs), [usual], [])
        made = [_only(number, change.before) for number, change in changes if change.before]
        made.append(usual)
        for number, change in changes:
            made += [_only(number, new) for new in (change.instead, change.after) if new]
        return [ast.copy_location(new, statement) for new in made]

    def _bound(self, loop: ast.For | ast.While, most_turns: int) -> None:
        """End a loop that a change may have made endless after so many turns of all loops."""
        count = ast.AugAssign(ast.Name(_TURNS, ast.Store()), ast.Add(), ast.Constant(1))
        most = ast.Constant(most_turns)
        test = ast.Compare(ast.Name(_TURNS, ast.Load()), [ast.Gt()], [most])
        loop.body = [count, ast.If(test, [ast.Break()], []), *loop.body]

    def node(self, node: Any, path: Path) -> Any:
        """A copy of a node in which every changed place chooses."""
        new = ast.AST.__new__(type(node))  # as in `copy_of`
        for name in (*node._fields, *node._attributes):
            value = getattr(node, name, None)
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                value = self.block(value, path, name)
            elif isinstance(value, list):
                value = [
                    self.node(part, (*path, (name, number))) if isinstance(part, ast.AST) else part
                    for number, part in enumerate(value)
                ]
            elif isinstance(value, ast.AST):
                value = self.node(value, (*path, (name, None)))
            setattr(new, name, value)
        pairs = self.values.get(path)
        if not pairs:
            return new
        return ast.copy_location(_choose(new, pairs), node)


def _choose(usual: ast.expr, pairs: Sequence[tuple[int, ast.expr]]) -> ast.expr:
    if isinstance(pairs[0][1], ast.Tuple):  # of several numbers each is chosen for itself
        return _choose_each(usual, pairs)
    chosen = usual
    for start in range(0, len(pairs), MOST_AT_ONCE):
        others = [
            part
            for number, value in pairs[start : start + MOST_AT_ONCE]
            for part in (ast.Constant(number), copy_of(value))
        ]
        chosen = ast.Call(ast.Name(_CHOOSE, ast.Load()), [chosen, *others], [])
    return chosen


def _choose_each(usual: ast.expr, pairs: Sequence[tuple[int, ast.expr]]) -> ast.expr:
    """A tuple that chooses between the items of tuples; of all others there is one usual value."""
    tuples = [(number, value) for number, value in pairs if isinstance(value, ast.Tuple)]
    chosen = [
        _choose(
            ast.Subscript(copy_of(usual), ast.Constant(item), ast.Load()),
            [(number, value.elts[item]) for number, value in tuples],
        )
        for item in range(len(tuples[0][1].elts))
    ]
    return ast.Tuple(chosen, ast.Load())


def _only(number: int, body: Sequence[ast.stmt]) -> ast.stmt:
    """Statements that one variant alone runs."""
    test = _choose(ast.Constant(False), [(number, ast.Constant(True))])
    return ast.If(test, [copy_of(statement) for statement in body], [])
