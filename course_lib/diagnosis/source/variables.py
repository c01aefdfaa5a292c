"""The variables of an answer: how they get their values, and what an expression depends on."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from course_lib.diagnosis.source.tree import (
    AnswerTree,
    flat,
    head_of,
    names_bound,
    names_in,
    names_read,
    nodes_in,
    part_of,
    variables_in,
    wide_accesses,
)


class Variables(AnswerTree):
    """An answer's functions, and how their variables get their values."""

    def assignments(self, name: str) -> list[ast.Assign | ast.AugAssign | ast.AnnAssign]:
        """The statements that give a variable its value."""
        return self._assignments.get(name, [])

    def lines_of_test(self, test: ast.AST, line: int) -> list[int]:
        """Where what a test says is made: a bare name is set elsewhere; the test comes last."""
        made = self.assignments(test.id) if isinstance(test, ast.Name) else []
        return [*(statement.lineno for statement in made), line]

    @cached_property
    def _assignments(self) -> dict[str, list[ast.Assign | ast.AugAssign | ast.AnnAssign]]:
        found: dict[str, list[ast.Assign | ast.AugAssign | ast.AnnAssign]] = {}
        for node in self.walk():
            if isinstance(node, ast.Assign):
                targets: list[ast.AST] = [t for target in node.targets for t in flat(target)]
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
                targets = [node.target]
            else:
                continue
            for name in {target.id for target in targets if isinstance(target, ast.Name)}:
                found.setdefault(name, []).append(node)
        return {name: sorted(nodes, key=lambda node: node.lineno) for name, nodes in found.items()}

    def value_of(self, name: str) -> ast.expr | None:
        """What a variable is set to, if it is set in one place."""
        found = self.assignments(name)
        if len(found) == 1 and isinstance(found[0], (ast.Assign, ast.AnnAssign)):
            return found[0].value
        return None

    def last_assignment(self, name: ast.Name) -> ast.Assign | None:
        """The last statement before a variable's use that sets it."""
        before = [
            assignment
            for assignment in self.assignments(name.id)
            if isinstance(assignment, ast.Assign) and assignment.lineno < name.lineno
        ]
        return before[-1] if before else None

    def staged(self, operand: str) -> set[str]:
        """The shared arrays that get elements of `operand`, perhaps through a variable."""
        found = set()
        for name in self.shared_names():
            for access in self.accesses(name, store=True):
                statement = self.statement(access)
                if statement is not None and operand in self._names_behind(statement):
                    found.add(name)
        return found

    def held(self, operand: str) -> set[str]:
        """The variables that hold several elements of `operand` at once, from a wide load."""
        return {
            target.id
            for node in self.all(ast.Assign)
            if any(array == operand for array, _, _ in wide_accesses(node.value))
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def _names_behind(self, statement: ast.stmt) -> set[str]:
        """The names in a statement, and in what has set its variables last above it."""
        found = _names_of_values(statement)
        for name in names_read(statement):
            above = [
                assignment
                for assignment in self.assignments(name)
                if assignment.lineno < statement.lineno
            ]
            if above:
                found |= _names_of_values(above[-1])
        return found

    def everything_behind(self, expression: ast.AST) -> set[str]:
        """Every name that an expression may depend on, through all that sets its variables."""
        found: set[str] = set()
        waiting: list[ast.AST] = [expression]
        for node in waiting:  # grows on the way
            new = names_in(node) - found
            found |= new
            for name in sorted(new):
                waiting += [
                    part_of(assignment, name) or assignment for assignment in self.assignments(name)
                ]
                waiting += [
                    loop.iter
                    for loop in self.loops()
                    if isinstance(loop, ast.For) and name in names_in(loop.target)
                ]
        return found

    def heads_a_loop(self, node: ast.AST) -> bool:
        """Does it decide, itself or through the variable that it sets, how many rounds a loop
        makes?

        `range(min(K, 64))`; `last = min(K, 64)`, and then `range(last)`.
        """
        statement = self.statement(node)
        given = {
            name.id
            for target in getattr(statement, "targets", [])
            for name in flat(target)
            if isinstance(name, ast.Name)
        }
        return any(
            part is node or (isinstance(part, ast.Name) and part.id in given)
            for loop in self.loops()
            for part in ast.walk(head_of(loop))
        )

    def steps_of(self, loop: ast.For | ast.While) -> set[str]:
        """The variables that tell one turn of a loop from the next."""
        if isinstance(loop, ast.For):
            return variables_in(loop.target)
        return variables_in(loop.test) & set().union(*map(names_bound, loop.body))

    def moves_with(self, expressions: Sequence[ast.AST]) -> set[str]:
        """What indices are worked out from: threadIdx.x, threadIdx.y, and variables of loops."""
        counted = {name for loop in self.loops() for name in self.steps_of(loop)}
        found: set[str] = set()
        seen: set[str] = set()
        waiting = [*expressions]
        for part in (part for node in waiting for part in ast.walk(node)):
            match part:
                case ast.Attribute(value=ast.Attribute(attr="threadIdx"), attr=axis):
                    found.add(f"threadIdx.{axis}")
                case ast.Attribute(attr="grid"):  # of one dimension; of others, see `_given`
                    found.add("threadIdx.x")
                case ast.Name(id=name) if name in counted:
                    found.add(name)
                case ast.Name(id=name) if name not in seen:
                    seen.add(name)
                    waiting += [_given(assignment, name) for assignment in self.assignments(name)]
        return found


def _given(statement: ast.stmt, name: str) -> ast.AST:
    """What a statement gives a variable; of `x, y = cuda.grid(2)`, the thread along that axis."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Call(func=function)):
            if "grid" in names_in(function):
                axis = next(n for n, target in enumerate(targets) if name in variables_in(target))
                return ast.parse(f"cuda.threadIdx.{'xyz'[axis]}")
    return part_of(statement, name) or statement


def _names_of_values(node: ast.AST) -> set[str]:
    """The names in a piece of the tree, without arrays of which it only asks the shape."""
    asked = [part.value for part in nodes_in(node, ast.Attribute) if part.attr == "shape"]
    return {part.id for part in nodes_in(node, ast.Name) if part not in asked}
