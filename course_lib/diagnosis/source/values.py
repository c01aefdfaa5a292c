"""The variables of an answer: what each is set to, and what an expression depends on."""

from __future__ import annotations

import ast
from functools import cached_property

from course_lib.diagnosis.source.nodes import BLOCK, THREAD, flat, names_in, part_of
from course_lib.diagnosis.source.tree import AnswerTree


class Variables(AnswerTree):
    """An answer's functions, and how their variables get their values."""

    def set_by_caller(self, statement: ast.Assign) -> ast.stmt:
        """Where the value of a statement comes from: `best = start` in a device function has that
        of the call's argument, which the caller may have set itself; else the statement."""
        function = self._function_of(statement)
        value = statement.value
        names = [each.arg for each in function.args.args] if function else []
        if function is None or not isinstance(value, ast.Name) or value.id not in names:
            return statement
        place = names.index(value.id)
        for call in self.calls_by_name(function.name):
            given = [each.value for each in call.keywords if each.arg == value.id]
            given += call.args[place : place + 1]
            for argument in given[:1]:
                caller = self._function_of(call)
                for each in self.assignments(getattr(argument, "id", "")):
                    if self._function_of(each) is caller and isinstance(each, ast.Assign):
                        return self.set_by_caller(each)
                return self.statement(call) or statement
        return statement

    def assignments(self, name: str) -> list[ast.Assign | ast.AugAssign | ast.AnnAssign]:
        """The statements that give a variable its value."""
        return self._assignments.get(name, [])

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
        return {name: sorted(each, key=lambda node: node.lineno) for name, each in found.items()}

    def value_of(self, name: str) -> ast.expr | None:
        """What a variable is set to, if it is set in one place."""
        found = self.assignments(name)
        if len(found) == 1 and isinstance(found[0], (ast.Assign, ast.AnnAssign)):
            return found[0].value
        return None

    def last_assignment(self, name: ast.Name) -> ast.Assign | None:
        """The last statement before a variable's use that sets it."""
        before = [
            each
            for each in self.assignments(name.id)
            if isinstance(each, ast.Assign) and each.lineno < name.lineno
        ]
        return before[-1] if before else None

    def origins(self, expression: ast.AST, depth: int = 4) -> set[str]:
        """Every name that an expression depends on, through variables set in one place."""
        names = names_in(expression)
        if depth:
            for name in sorted(names):
                value = self.value_of(name)
                if value is not None:
                    names |= self.origins(value, depth - 1)
        return names

    def everything_behind(self, expression: ast.AST) -> set[str]:
        """Every name that an expression may depend on, through all that sets its variables."""
        found: set[str] = set()
        waiting: list[ast.AST] = [expression]
        for node in waiting:  # grows on the way
            new = names_in(node) - found
            found |= new
            for name in sorted(new):
                waiting += [part_of(each, name) or each for each in self.assignments(name)]
                waiting += [
                    loop.iter
                    for loop in self.loops()
                    if isinstance(loop, ast.For) and name in names_in(loop.target)
                ]
        return found

    def differs_between_threads(self, index: ast.expr) -> bool:
        """Do the numbers of threads or blocks take part in an index?

        A loop's variable is that of the loop around the index, where several count with one name.
        """
        counters = {
            name: loop.iter
            for loop in self.loops_around(index)
            if isinstance(loop, ast.For)
            for name in names_in(loop.target)
        }
        behind = (counters.get(name, ast.Name(name)) for name in names_in(index))
        return any(self.everything_behind(each) & (THREAD | BLOCK) for each in behind)

    def loop_variables(self, node: ast.AST) -> set[str]:
        """The variables that change from one round to the next of the loops around a node."""
        names = set()
        for loop in self.loops_around(node):
            if isinstance(loop, ast.For):
                names |= {t.id for t in flat(loop.target) if isinstance(t, ast.Name)}
            else:
                tested = names_in(loop.test)
                changed = {
                    s.target.id
                    for s in ast.walk(loop)
                    if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)
                }
                names |= {
                    name
                    for name in changed
                    if name in tested or isinstance(loop.test, ast.Constant)
                }
        return names

    def heads_a_loop(self, node: ast.AST) -> bool:
        """Does it decide, itself or by the variable that it gives a value, how often a loop turns?

        `range(min(K, 64))`; `last = min(K, 64)`, and then `range(last)`.
        """
        statement = self.statement(node)
        given = {
            name.id
            for target in getattr(statement, "targets", [])
            for name in flat(target)
            if isinstance(name, ast.Name)
        }
        heads = [loop.iter if isinstance(loop, ast.For) else loop.test for loop in self.loops()]
        return any(
            part is node or (isinstance(part, ast.Name) and part.id in given)
            for head in heads
            for part in ast.walk(head)
        )
