"""The variables of an answer and its tests: what an expression depends on, what bounds an index."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from course_lib.diagnosis.source.tree import (
    BLOCK,
    THREAD,
    AnswerTree,
    flat,
    indices_of,
    loop_names,
    names_in,
    names_read,
    part_of,
    wide_accesses,
)


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
            given = [keyword.value for keyword in call.keywords if keyword.arg == value.id]
            given += call.args[place : place + 1]
            for argument in given[:1]:
                caller = self._function_of(call)
                for assignment in self.assignments(getattr(argument, "id", "")):
                    if self._function_of(assignment) is caller and isinstance(
                        assignment, ast.Assign
                    ):
                        return self.set_by_caller(assignment)
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
            assignment
            for assignment in self.assignments(name.id)
            if isinstance(assignment, ast.Assign) and assignment.lineno < name.lineno
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
            for node in self.walk()
            if isinstance(node, ast.Assign)
            and any(array == operand for array, _, _ in wide_accesses(node.value))
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def _names_behind(self, statement: ast.stmt) -> set[str]:
        """The names in a statement, and in what has set its variables last above it."""
        found = _names_of_values(statement)
        for name in names_read(statement):
            above = [each for each in self.assignments(name) if each.lineno < statement.lineno]
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
        heads = [loop.iter if isinstance(loop, ast.For) else loop.test for loop in self.loops()]
        return any(
            part is node or (isinstance(part, ast.Name) and part.id in given)
            for head in heads
            for part in ast.walk(head)
        )


# --- Tests and loops that bound an index ----------------------------------------------------------


_UNRELATED = 100  # more steps than between any two variables


class Bounds(Variables):
    """An answer's functions, and which tests and loops bound their indices."""

    def guards(self, node: ast.AST) -> list[tuple[ast.expr, int]]:
        """The tests against a size that decide whether a node is reached, innermost first."""
        found = []
        for test, line in self.conditions(node):
            if self.tests_a_size(test):
                named = self.last_assignment(test) if isinstance(test, ast.Name) else None
                once = named is not None and self._tests_of(named) == 1
                found.append((test, named.lineno if named and once else line))
        return found

    def guards_of(self, access: ast.Subscript, axis: int) -> list[tuple[ast.expr, int]]:
        """Those guards of an access that test the variables of its index along an axis."""
        return [
            (test, line)
            for test, line in self.guards(access)
            if axis in self._axes_tested(test, access)
        ]

    def _axes_tested(self, test: ast.expr, access: ast.Subscript) -> set[int]:
        """The axes of an access that a test is about: those whose indices it shares names with.

        `row < M` is about the index `row`, and about `i` if `row = top + i`; but where `left + i`
        stands on another axis, `row` is nearer to the first.
        """
        axes: set[int] = set()
        slots = indices_of(access)
        for part in self._comparisons(test):
            far = [self._steps_between(part, slot) for slot in slots]
            axes |= {axis for axis, steps in enumerate(far) if steps == min(far) < _UNRELATED}
        return axes

    def _comparisons(self, test: ast.expr, depth: int = 4) -> Iterator[ast.Compare]:
        """The comparisons in a test, also those behind a name: `inside = row < M`."""
        for part in ast.walk(test):
            if isinstance(part, ast.Compare):
                yield part
        named = [test, *getattr(test, "values", ()), getattr(test, "operand", None)]
        for part in named if depth else ():
            before = self.last_assignment(part) if isinstance(part, ast.Name) else None
            if before is not None:
                yield from self._comparisons(part_of(before, part.id) or before.value, depth - 1)

    def _steps_between(self, one: ast.expr, other: ast.expr) -> int:
        """The number of assignments after which two expressions share a variable.

        Of indices of threads, `k0 + x` and `k0 + y`, the step that all threads share says nothing.
        """
        layers = [self._layers(each) for each in (one, other)]
        if all(set().union(*layer) - self._steps_of_all for layer in layers):
            layers = [[names - self._steps_of_all for names in layer] for layer in layers]
        return min(
            (
                steps + more
                for steps, names in enumerate(layers[0])
                for more, others in enumerate(layers[1])
                if names & others
            ),
            default=_UNRELATED,
        )

    def _layers(self, expression: ast.expr) -> list[set[str]]:
        """The variables of an expression, then those that they are made of, and so on.

        Sizes and constants are none; a thread's or a block's number counts with its axis.
        """
        layers: list[set[str]] = []
        known: set[str] = set()
        waiting: list[ast.AST] = [expression]
        while waiting:
            names = {name for node in waiting for name in _moving(node)} - known
            names = {name for name in names if not self._is_a_size(name)}
            layers.append(names)
            known |= names
            waiting = [
                part
                for name in sorted(names)
                if len(assigned := self.assignments(name)) == 1
                and (part := part_of(assigned[0], name)) is not None
            ]
        return layers

    def _is_a_size(self, name: str) -> bool:
        """Is it an array, or a variable that holds a size or a constant of the launch?"""
        if name in self.parameters:
            return True
        if "." in name or name in self._passed_on:
            return False
        behind = self.everything_behind(ast.Name(name))
        return not behind & (THREAD | BLOCK) and not behind & self._counters

    @cached_property
    def _passed_on(self) -> set[str]:
        """The parameters of the device functions."""
        return {argument.arg for function in self.functions[1:] for argument in function.args.args}

    @cached_property
    def _counters(self) -> set[str]:
        """The variables that loops count with."""
        return set().union(*(self.loop_variables(loop.body[0]) for loop in self.loops()), set())

    @cached_property
    def _steps_of_all(self) -> set[str]:
        """The variables that loops count with alike in all threads."""
        return {
            name
            for name in self._counters
            if not self.everything_behind(ast.Name(name)) & (THREAD | BLOCK)
        }

    def _tests_of(self, assignment: ast.Assign) -> int:
        """How many tests consist of the variable that an assignment sets."""
        tests = (node.test for node in self.walk() if isinstance(node, (ast.If, ast.IfExp)))
        return sum(
            isinstance(test, ast.Name) and self.last_assignment(test) is assignment
            for test in tests
        )

    def letter_of(
        self, index: ast.expr, access: ast.AST, letters: Mapping[str, Sequence[str]]
    ) -> str:
        """The size below which a test or a loop keeps an index of an access; "" if unknown.

        Known are `index < A.shape[1]` as a test or part of one with `and`, and loops over range().
        """
        if not isinstance(index, ast.Name):
            return ""
        for loop in self.loops_around(access):
            if isinstance(loop, ast.For) and index.id in loop_names(loop):
                bounds = loop.iter.args[:2] if isinstance(loop.iter, ast.Call) else []
                return _size_named(bounds[-1], letters) if bounds else ""
        for test, _ in self.conditions(access):
            for part in test.values if isinstance(test, ast.BoolOp) else [test]:
                if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt):
                    if isinstance(part.left, ast.Name) and part.left.id == index.id:
                        return _size_named(part.comparators[0], letters)
        return ""

    def stands_on_another_axis(
        self, access: ast.Subscript, array: str, axis: int, letters: Mapping[str, Sequence[str]]
    ) -> bool:
        """Is an index kept below the length of another axis, although the test is right?

        A loop is innocent if the axis that it counts has no index of its own; a test, if it is
        right for the output.
        """
        slots, own = indices_of(access), letters.get(array, ())
        counted = self.letter_of(slots[axis], access, letters)
        if len(own) != len(slots) or counted in ("", own[axis]):
            return False
        if self.origins(slots[axis]) & self.loop_variables(access):
            return any(
                letter == counted and self.letter_of(slot, access, letters) != letter
                for letter, slot in zip(own, slots, strict=True)
            )
        output = list(letters)[-1]
        stores = self.accesses(output, store=True)
        return bool(stores) and self._all_axes_fit(stores[-1], output, letters)

    def _all_axes_fit(
        self, access: ast.Subscript, array: str, letters: Mapping[str, Sequence[str]]
    ) -> bool:
        """Is each index tested against the length of its own axis, and all by `and`?"""
        slots, own = indices_of(access), letters.get(array, ())
        tests = [test for test, _ in self.conditions(access)]
        if any(isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) for test in tests):
            return False
        parts = [p for test in tests for p in getattr(test, "values", [test])]  # joined by `and`
        if not all(map(self.tests_a_size, parts)):
            return False
        return bool(own) and [self.letter_of(slot, access, letters) for slot in slots] == list(own)

    def tests_a_size(self, test: ast.expr) -> bool:
        """Does it compare something with the size of an array?"""
        return any(
            bool(self.origins(part) & {"shape", "size", "len"}) for part in self._comparisons(test)
        )


def _moving(node: ast.AST) -> Iterator[str]:
    """The variables in an expression, and the numbers of threads and blocks with their axes."""
    waiting = [node]
    for each in waiting:  # grows on the way
        if isinstance(each, ast.Attribute) and names_in(each) & (THREAD | BLOCK):
            yield ast.unparse(each)
        elif isinstance(each, ast.Name):
            yield each.id
        else:
            waiting += ast.iter_child_nodes(each)


def _size_named(bound: ast.expr, letters: Mapping[str, Sequence[str]]) -> str:
    """The letter of the size that A.shape[1], len(A) or A.size says; "" if it is none of these."""
    match bound:
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
            slice=ast.Constant(value=int(axis)),
        ):
            own = letters.get(name, ())
            return own[axis] if 0 <= axis < len(own) else ""
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return letters[name][0] if letters.get(name) else ""
        case ast.Attribute(value=ast.Name(id=name), attr="size"):
            return letters[name][0] if len(letters.get(name, ())) == 1 else ""
    return ""


def _names_of_values(node: ast.AST) -> set[str]:
    """The names in a piece of the tree, without arrays of which it only asks the shape."""
    parts = list(ast.walk(node))
    asked = [
        part.value for part in parts if isinstance(part, ast.Attribute) and part.attr == "shape"
    ]
    return {part.id for part in parts if isinstance(part, ast.Name) and part not in asked}
