"""Finds the line to blame once the slip is known: walks the syntax tree of the kernel.

Numbers say what went wrong; these functions only say where such a thing is written. When they
cannot tell, they return None, and the finding has no line.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

_UNRELATED = 100  # more steps than between any two variables
THREAD, BLOCK = {"threadIdx"}, {"blockIdx", "blockDim", "grid", "gridsize", "gridDim"}


@dataclass(frozen=True)
class Source:
    """The functions of an answer: the kernel first, then its device functions.

    Attributes:
        functions: their syntax trees; line numbers are those of the cell, file or text.
        parameters: the kernel's own names for the exercise's arrays, in order.
        constants: the numbers outside the functions that they use, by name.
    """

    functions: tuple[ast.FunctionDef, ...]
    parameters: tuple[str, ...] = ()
    constants: Mapping[str, object] = field(default_factory=dict, repr=False)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for function in self.functions:
            for node in ast.walk(function):
                for child in ast.iter_child_nodes(node):
                    self.parents[child] = node

    @property
    def kernel(self) -> ast.FunctionDef:
        return self.functions[0]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of every function, the outer ones first."""
        return tuple(node for function in self.functions for node in ast.walk(function))

    def walk(self) -> Iterator[ast.AST]:
        return iter(self.nodes)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    # --- accesses ---------------------------------------------------------------------------

    def accesses(self, array: str, store: bool) -> list[ast.Subscript]:
        """Where an array is read, or written, by this name."""
        wanted = ast.Store if store else ast.Load
        return [
            node
            for node in self._subscripts.get(array, ())
            if isinstance(node.ctx, wanted) or self._is_augmented(node)
        ]

    def store_lines(self, arrays: Collection[str]) -> set[int]:
        """The lines that write one of these arrays."""
        return {node.lineno for array in arrays for node in self.accesses(array, store=True)}

    @cached_property
    def _subscripts(self) -> dict[str, list[ast.Subscript]]:
        """The accesses of each array, in the order of the text."""
        found: dict[str, list[ast.Subscript]] = {}
        for node in self.walk():
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                found.setdefault(node.value.id, []).append(node)
        for accesses in found.values():
            accesses.sort(key=lambda node: (node.lineno, node.col_offset))
        return found

    def calls(self, functions: Collection[str]) -> bool:
        """Is one of these called, by its last name?"""
        calls = (node.func for node in self.walk() if isinstance(node, ast.Call))
        return any(
            (func.attr if isinstance(func, ast.Attribute) else root_name(func)) in functions
            for func in calls
        )

    def _is_augmented(self, node: ast.AST) -> bool:
        """`C[i] += x` reads C as well as it writes it."""
        parent = self.parents.get(node)
        return isinstance(parent, ast.AugAssign) and parent.target is node

    def shared_names(self) -> set[str]:
        """The variables that hold shared arrays."""
        names = set()
        for node in self.walk():
            if isinstance(node, ast.Assign) and "shared" in names_in(node.value):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return names

    def handed_over(self, array: str) -> list[ast.Call]:
        """The calls of device functions that are given an array."""
        functions = {function.name for function in self.functions}
        return sorted(
            (
                node
                for node in self.walk()
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in functions
                and any(isinstance(each, ast.Name) and each.id == array for each in node.args)
            ),
            key=lambda node: node.lineno,
        )

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

    def _function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function that a node stands in."""
        return next((each for each in self.ancestors(node) if each in self.functions), None)

    def calls_by_name(self, function: str) -> list[ast.Call]:
        """The calls of a device function, in the order of their lines."""
        calls = [node for node in self.walk() if isinstance(node, ast.Call)]
        named = [each for each in calls if root_name(each.func) == function]
        return sorted(named, key=lambda node: node.lineno)

    def own_arrays(self) -> set[str]:
        """The variables that hold shared or local arrays."""
        return {
            target.id
            for node in self.walk()
            if isinstance(node, ast.Assign) and self.makes_array(node)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def makes_array(self, statement: ast.stmt | None) -> bool:
        """Does a statement make a shared or a local array?"""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            return False
        names = names_in(statement.value.func)
        return "array" in names and bool(names & {"shared", "local"})

    def parameters_and_tiles(self) -> list[str]:
        """The names of all arrays that are passed in or shared."""
        return [*self.parameters, *sorted(self.shared_names())]

    def staged(self, operand: str) -> set[str]:
        """The shared arrays that elements of `operand` are put into."""
        found = set()
        for name in self.shared_names():
            for access in self.accesses(name, store=True):
                statement = self.statement(access)
                if statement is not None and operand in names_in(statement):
                    found.add(name)
        return found

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node belongs to."""
        if isinstance(node, ast.stmt):
            return node
        return next((each for each in self.ancestors(node) if isinstance(each, ast.stmt)), None)

    def at_line(self, line: int) -> ast.stmt | None:
        """The innermost statement on a line."""
        found = [
            node
            for node in self.walk()
            if isinstance(node, ast.stmt)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        return min(found, key=lambda n: (n.end_lineno or 0) - n.lineno, default=None)

    # --- variables --------------------------------------------------------------------------

    def assignments(self, name: str) -> list[ast.Assign | ast.AugAssign | ast.AnnAssign]:
        """The statements that give a variable its value."""
        return self._assignments.get(name, [])

    @cached_property
    def _assignments(self) -> dict[str, list[ast.Assign | ast.AugAssign | ast.AnnAssign]]:
        found: dict[str, list[ast.Assign | ast.AugAssign | ast.AnnAssign]] = {}
        for node in self.walk():
            if isinstance(node, ast.Assign):
                targets: list[ast.AST] = [t for target in node.targets for t in _flat(target)]
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

    def origins(self, expression: ast.AST, depth: int = 4) -> set[str]:
        """Every name that an expression depends on, through variables set in one place."""
        names = names_in(expression)
        if depth:
            for name in sorted(names):
                value = self.value_of(name)
                if value is not None:
                    names |= self.origins(value, depth - 1)
        return names

    def origins_there(self, expression: ast.AST, depth: int = 4) -> set[str]:
        """The same through the last values that the variables got before, as lines go; a variable
        may have served something else further up."""
        names = names_in(expression)
        for name in (part for part in ast.walk(expression) if isinstance(part, ast.Name) and depth):
            before = self.last_assignment(name)
            value = part_of(before, name.id) if before is not None else None
            if value is not None:
                names |= self.origins_there(value, depth - 1)
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

    # --- control flow -----------------------------------------------------------------------

    def loops(self) -> list[ast.For | ast.While]:
        """All loops, in the order of their lines."""
        found = [node for node in self.walk() if isinstance(node, (ast.For, ast.While))]
        return sorted(found, key=lambda node: node.lineno)

    def loop_variables(self, node: ast.AST) -> set[str]:
        """The variables that change from one round to the next of the loops around a node."""
        names = set()
        for loop in self.loops_around(node):
            if isinstance(loop, ast.For):
                names |= {t.id for t in _flat(loop.target) if isinstance(t, ast.Name)}
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

    def loops_around(self, node: ast.AST) -> list[ast.For | ast.While]:
        """The loops around a node, outermost first."""
        around = [each for each in self.ancestors(node) if isinstance(each, (ast.For, ast.While))]
        return around[::-1]

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
        """Those of an access's guards that test what its index along an axis is made of."""
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
        if isinstance(test, ast.Name):
            before = self.last_assignment(test)
            test = before.value if before is not None else test
        axes: set[int] = set()
        slots = indices_of(access)
        for part in ast.walk(test):
            if isinstance(part, ast.Compare):
                far = [self._steps_between(part, slot) for slot in slots]
                axes |= {axis for axis, steps in enumerate(far) if steps == min(far) < _UNRELATED}
        return axes

    def _steps_between(self, one: ast.expr, other: ast.expr) -> int:
        """Through how many assignments two expressions come to share a variable.

        Of indices of threads, `k0 + x` and `k0 + y`, the step that all threads share says nothing.
        """
        layers = [self._layers(each) for each in (one, other)]
        if all(set().union(*each) - self._steps_of_all for each in layers):
            layers = [[names - self._steps_of_all for names in each] for each in layers]
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
            names = {name for each in waiting for name in _moving(each)} - known
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
        return {each.arg for function in self.functions[1:] for each in function.args.args}

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

    def heads_a_loop(self, node: ast.AST) -> bool:
        """Does it decide, itself or by the variable that it gives a value, how often a loop turns?

        `range(min(K, 64))`; `last = min(K, 64)`, and then `range(last)`.
        """
        statement = self.statement(node)
        given = {
            name.id
            for target in getattr(statement, "targets", [])
            for name in _flat(target)
            if isinstance(name, ast.Name)
        }
        heads = [loop.iter if isinstance(loop, ast.For) else loop.test for loop in self.loops()]
        return any(
            part is node or (isinstance(part, ast.Name) and part.id in given)
            for head in heads
            for part in ast.walk(head)
        )

    def _tests_of(self, assignment: ast.Assign) -> int:
        """How many tests consist of the variable that an assignment sets."""
        tests = (node.test for node in self.walk() if isinstance(node, (ast.If, ast.IfExp)))
        return sum(
            isinstance(test, ast.Name) and self.last_assignment(test) is assignment
            for test in tests
        )

    def joins_bits(self, line: int | None) -> bool:
        """Does a comparison on this line have a `&` in it, which is worked out first?"""
        return any(
            isinstance(each, ast.BinOp) and isinstance(each.op, ast.BitAnd)
            for part in ast.walk(self.kernel)
            if isinstance(part, ast.Compare) and part.lineno == line
            for each in ast.walk(part)
        )

    def letter_of(
        self, index: ast.expr, access: ast.AST, letters: Mapping[str, Sequence[str]]
    ) -> str:
        """Which size an index is kept below, by a test or a loop around an access; "" if unknown.

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

    def index_behind_a_right_test(
        self, output: str, letters: Mapping[str, Sequence[str]]
    ) -> ast.expr | ast.stmt | None:
        """Where the output's index is worked out, if the test before its store is as it should be.

        The store itself if it changes what stands there instead of writing it anew.
        """
        stores = self.accesses(output, store=True)
        if not stores or not self._all_axes_fit(stores[-1], output, letters):
            return None
        changes = isinstance(self.parents.get(stores[-1]), ast.AugAssign)
        index = indices_of(stores[-1])[0]
        sets = self.assignments(index.id) if isinstance(index, ast.Name) else []
        return stores[-1] if changes or not sets else sets[0]

    def stands_on_another_axis(
        self, access: ast.Subscript, array: str, axis: int, letters: Mapping[str, Sequence[str]]
    ) -> bool:
        """Is an index kept below the length of another axis, and is that not the test's fault?

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

    def counts_back_behind_right_tests(
        self, access: ast.Subscript, axis: int, letters: Mapping[str, Sequence[str]]
    ) -> bool:
        """Does an index subtract the thread's place, where only threads with an element come?"""
        stores = self.accesses(list(letters)[-1], store=True) if letters else []
        slot = indices_of(access)[axis]
        return (
            any(
                isinstance(part, ast.BinOp)
                and isinstance(part.op, ast.Sub)
                and self.differs_between_threads(part.right)
                for part in ast.walk(slot)
            )
            and bool(stores)
            and self.conditions(stores[-1]) == self.conditions(access)
            and self._all_axes_fit(stores[-1], list(letters)[-1], letters)
        )

    def _all_axes_fit(
        self, access: ast.Subscript, array: str, letters: Mapping[str, Sequence[str]]
    ) -> bool:
        """Is each index tested against the length of the axis it stands on, and all by `and`?"""
        slots, own = indices_of(access), letters.get(array, ())
        tests = [test for test, _ in self.conditions(access)]
        if any(isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) for test in tests):
            return False
        parts = [p for test in tests for p in getattr(test, "values", [test])]  # joined by `and`
        if not all(map(self.tests_a_size, parts)):
            return False
        return bool(own) and [self.letter_of(each, access, letters) for each in slots] == list(own)

    def tests_a_size(self, test: ast.expr) -> bool:
        """Does it compare something with the size of an array?"""
        if isinstance(test, ast.Name):  # inside = row < M and col < N
            before = self.last_assignment(test)
            return before is not None and self.tests_a_size(before.value)
        compares = any(isinstance(part, ast.Compare) for part in ast.walk(test))
        return compares and bool(self.origins(test) & {"shape", "size", "len"})

    def last_assignment(self, name: ast.Name) -> ast.Assign | None:
        """The last statement before a variable's use that sets it."""
        before = [
            each
            for each in self.assignments(name.id)
            if isinstance(each, ast.Assign) and each.lineno < name.lineno
        ]
        return before[-1] if before else None

    def conditions(self, node: ast.AST) -> list[tuple[ast.expr, int]]:
        """The tests that decide whether a node is reached, innermost first, with their lines."""
        found: list[tuple[ast.expr, int]] = []
        inner = node
        for each in self.ancestors(node):
            if isinstance(each, (ast.If, ast.IfExp)) and inner is not each.test:
                found.append((each.test, each.test.lineno))
            found += self._early_exits(each, inner)
            inner = each
        return found

    def _early_exits(self, block: ast.AST, inner: ast.AST) -> list[tuple[ast.expr, int]]:
        """Tests before a statement of a block that leave the kernel, or skip a loop's round."""
        for name in ("body", "orelse"):
            statements = getattr(block, name, None)
            if isinstance(statements, list) and inner in statements:
                before = statements[: statements.index(inner)]
                return [
                    (each.test, each.lineno)
                    for each in reversed(before)
                    if isinstance(each, ast.If)
                    and isinstance(each.body[-1], (ast.Return, ast.Continue, ast.Break))
                ]
        return []

    # --- sums -------------------------------------------------------------------------------

    def additions(self) -> list[ast.Assign | ast.AugAssign]:
        """The statements that combine elements, deepest in loops first: where the sum is made."""
        tiles = self.shared_names()
        found = []
        for node in self.walk():
            if not isinstance(node, (ast.Assign, ast.AugAssign)):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            collects = isinstance(node, ast.AugAssign) or any(map(_multiplies, outside(node.value)))
            if collects and root_name(target) not in tiles and self._uses_elements(node):
                found.append(node)
        found.sort(key=lambda node: (-len(self.loops_around(node)), node.lineno))
        return found

    def _uses_elements(self, statement: ast.Assign | ast.AugAssign) -> bool:
        arrays = self.shared_names() | set(self.parameters)
        names = {node.id for node in outside(statement.value) if isinstance(node, ast.Name)}
        values = (self.value_of(name) for name in names)
        kept = (each.value for name in names for each in self.local_stores(name))
        copied = {
            part.id
            for value in (*values, *kept)
            if value
            for part in outside(value)
            if isinstance(part, ast.Name)
        }
        return bool((names | copied) & arrays)

    def local_stores(self, name: str) -> list[ast.Assign]:
        """Where elements of a thread's own array are set."""
        value = self.value_of(name)
        if value is None or "local" not in names_in(value):
            return []
        statements = (self.statement(access) for access in self.accesses(name, store=True))
        return [each for each in statements if isinstance(each, ast.Assign)]

    def sums(self) -> list[str]:
        """The variables (or arrays) that sums are collected in."""
        names = []
        for statement in self.additions():
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                name = root_name(target)
                if name and name not in names:
                    names.append(name)
        return names

    def starts(self, name: str) -> list[ast.stmt]:
        """Where a sum is set to something that does not contain the sum itself."""
        return [
            statement
            for statement in self.local_stores(name) or self.assignments(name)
            if isinstance(statement, (ast.Assign, ast.AnnAssign))
            and statement.value is not None
            and name not in names_in(statement.value)
            and not any(_multiplies(part) for part in outside(statement.value))
        ]


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


def _flat(target: ast.AST) -> Iterator[ast.AST]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _flat(each)
    else:
        yield target


def outside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression, without those that only compute an index."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Subscript) and child is node.slice):
            yield from outside(child)


def _multiplies(node: ast.AST) -> bool:
    """Is it a product of numbers, and not one of thread and block numbers?"""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    elements = any(isinstance(part, ast.Subscript) for part in outside(node))
    return elements or not names_in(node) & {"threadIdx", "blockIdx"}


def part_of(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement gives a variable: for `y, x = a, b` and "x", that is b."""
    value = getattr(statement, "value", None)
    for target in statement.targets if isinstance(statement, ast.Assign) else []:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for each, part in zip(target.elts, value.elts, strict=False):
                if isinstance(each, ast.Name) and each.id == name:
                    return part
    return value


def names_in(node: ast.AST) -> set[str]:
    """Every variable and attribute name in a piece of the tree."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def root_name(target: ast.AST) -> str | None:
    """The variable behind `C[y, x]` or `acc`."""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def loop_names(loop: ast.For | ast.While) -> set[str]:
    """The variables that a loop counts with."""
    return names_in(loop.target if isinstance(loop, ast.For) else loop.test)


def indices_of(access: ast.Subscript) -> Sequence[ast.expr]:
    """The index expressions: two for `A[y, x]`, and for `A[y][x]` those of the last."""
    return access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]


def bound_line(source: Source, loop: ast.For | ast.While) -> int:
    """The line of a loop, or of the variable that holds its bound and is no index as well."""
    if isinstance(loop, ast.For):
        arguments = loop.iter.args if isinstance(loop.iter, ast.Call) else [loop.iter]
        bounds = arguments[:1] if len(arguments) == 1 else arguments[1:2]
    else:
        bounds = [
            part
            for test in ast.walk(loop.test)
            if isinstance(test, ast.Compare)
            for part in test.comparators
        ]
    return _worked_out_at(source, bounds) or loop.lineno


def _worked_out_at(source: Source, bounds: Sequence[ast.expr]) -> int | None:
    """The line of the first of some variables that is worked out in one place."""
    for bound in bounds:
        if (
            isinstance(bound, ast.Name)
            and isinstance(source.value_of(bound.id), (ast.BinOp, ast.Call))
            and not _is_an_index(source, bound.id)
        ):
            return source.assignments(bound.id)[0].lineno
    return None


def _is_an_index(source: Source, name: str) -> bool:
    """Does a variable also say which elements of an input or of the output are meant?"""
    return any(
        name in names_in(access.slice)
        for array in source.parameters
        for store in (False, True)
        for access in source.accesses(array, store)
    )


def loop_start_line(source: Source, loop: ast.For | ast.While, after: int = 0) -> int:
    """Where a loop gets its first number: of a `while`, the last line before it, behind `after`."""
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and len(loop.iter.args) > 1:
        return _worked_out_at(source, loop.iter.args[:1]) or loop.lineno
    if isinstance(loop, ast.While):
        starts = [
            statement.lineno
            for name in sorted(source.loop_variables(loop.body[0]))
            for statement in source.assignments(name)
            if after < statement.lineno < loop.lineno
        ]
        if starts:
            return max(starts)
    return bound_line(source, loop)


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


def depends_on(source: Source, value: ast.expr, numbers: set[str], depth: int = 4) -> bool:
    """Do thread or block numbers take part in a value, perhaps by way of variables?"""
    if names_in(value) & numbers:
        return True
    parts = [
        part_of(assigned[0], name)
        for name in variables_in(value)
        if len(assigned := source.assignments(name)) == 1
    ]
    return depth > 0 and any(depends_on(source, part, numbers, depth - 1) for part in parts if part)


def is_number(value: ast.expr) -> bool:
    """Is it `cuda.threadIdx.x` and nothing else, perhaps in another type?"""
    if isinstance(value, ast.Call) and len(value.args) == 1:
        value = value.args[0]
    return isinstance(value, ast.Attribute)


def variables_in(node: ast.AST) -> set[str]:
    """The variables in an expression; the x of `cuda.threadIdx.x` is none."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
