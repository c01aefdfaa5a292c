"""Launches a tile kernel on a task's inputs; and looks for the change that makes it right."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from course_lib.curriculum import Task
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.repair.all_edits import edits_of
from course_lib.diagnosis.repair.edit import Edit, first_that_repairs
from course_lib.diagnosis.repair.of_tiles import TileChanges
from course_lib.diagnosis.source.tree import variables_in
from course_lib.emulator import Kernel, KernelRejected
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.problems.described import TaskProblem, with_fixed
from course_lib.problems.inputs import as_held, expected_of, make_inputs
from course_lib.problems.problem import NAN, ODD, Case, Geometry, make_cases
from course_lib.registry import entry_checks as entries
from course_lib.tiles import EmulatedTiles, TileCounts
from course_lib.tiles.machine import Steps, TileMachine
from course_lib.tiles.memory import ArrayArgument
from course_lib.tiles.triton_language import Pointers
from course_lib.tiles.values import TileValue
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line

STEPS = 20_000  # statements of one launch; a right answer takes some hundred
TILES_EACH_WAY = 2  # in the launch whose sizes all tiles divide
Constants = Mapping[str, int]


@dataclass(frozen=True)
class TileCase:
    """One launch to try: the sizes and inputs, and what is known when it is compiled."""

    case: Case
    constants: Constants


@dataclass(frozen=True)
class TileTrial:
    """What a launch showed.

    Attributes:
        tried: what was launched.
        grid: programs, first axis first.
        outcome: the numbers beside the right ones.
        findings: what is wrong, the most important first.
        steps: statements that were carried out.
        counts: what was moved and computed; None if the launch did not end.
        changed: the inputs that were written to.
    """

    tried: TileCase
    grid: tuple[int, ...]
    outcome: Outcome
    findings: tuple[Finding, ...]
    steps: int
    counts: TileCounts | None = None
    changed: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.severity == "warning")

    @property
    def right(self) -> bool:
        """Are the numbers right, and nothing is found?"""
        return not self.errors and not self.changed and bool(self.outcome.right.all())

    @property
    def right_as_far_as_written(self) -> bool:
        """The same, of one program alone, which writes a part."""
        written = ~self.outcome.untouched
        clean = not self.errors and not self.changed
        return clean and bool(written.any() and self.outcome.right[written].all())

    @property
    def size(self) -> int:
        """How much there is to launch, with all programs."""
        return self.outcome.expected.size + 64 * int(np.prod(self.grid)) + self.steps


@dataclass(frozen=True)
class TileLauncher:
    """Launches kernels for one task.

    Attributes:
        task: what is asked.
        seed: draws the inputs and one of the shapes.
    """

    task: Task
    seed: int = 0
    _begun: dict[Case, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def problem(self) -> TaskProblem:
        return TaskProblem(self.task)

    def cases(self) -> list[TileCase]:
        """The launches of every answer: at sizes that tiles divide, at odd ones, and at long ones.

        Each set of constants has its turn, so that none may be written out.
        """
        every = (self.task.constants, *self.task.other_constants)
        problem, largest = self.problem, max(max(sizes.values(), default=1) for sizes in every)
        first = with_fixed(problem.sizes, [TILES_EACH_WAY * largest] * len(problem.sizes))
        cases: Sequence[Case] = [
            Case(first, poison=(ODD, NAN)[number % 2], draw=number) for number in range(2)
        ]
        if problem.sizes_vary:
            made = [case for case in make_cases(problem, first, self.seed) if not case.further]
            cases = sorted(made, key=lambda case: not case.exact)
        found = []
        for number in range(max(len(cases), len(every))):
            case = replace(cases[number % len(cases)], schedule="lockstep")
            found.append(TileCase(case, every[number % len(every)]))
        return found

    def label(self, tried: TileCase) -> str:
        """The sizes of a launch, and its constants: "M = 33, N = 19, TM = 16"."""
        constants = [f"{name} = {size}" for name, size in tried.constants.items()]
        return ", ".join([self.problem.label(tried.case.shape), *constants])

    def run(
        self, tried: TileCase, kernel: EmulatedTiles, steps: int = STEPS, only: int | None = None
    ) -> TileTrial:
        """One launch of a kernel, or of one of its programs."""
        problem, case = self.problem, tried.case
        if case not in self._begun:
            inputs = make_inputs(problem, case, self.seed)
            self._begun[case] = (inputs, *expected_of(problem, case, inputs))
        inputs, expected, tolerance = self._begun[case]
        held = as_held(problem, inputs)
        before = [np.array(array) for array in held]
        output = np.full(expected.shape, case.poison, np.float32)
        grid = self.task.launch(expected.shape, tried.constants).grid
        findings: tuple[Finding, ...] = ()
        counts = None
        budget = Steps(steps)
        limited = replace(kernel, budget=budget, only=only)
        try:
            profile = limited.launch(grid, *self.arguments(tried, held, output))
            findings, counts = profile.findings, profile.counts
        except KernelRejected as rejected:
            findings = tuple(rejected.findings)
        letters = self.task.parameters
        outcome = Outcome(
            inputs, expected, output, tolerance, Geometry(1, 1), case.poison, letters[-1],
            letters[:-1],
        )  # fmt: skip
        changed = tuple(
            name
            for name, one, other in zip(letters, before, held, strict=False)
            if not np.array_equal(one, other)
        )
        return TileTrial(
            tried, grid, outcome, findings, steps - max(budget.left, 0), counts, changed
        )

    def arguments(self, tried: TileCase, held: Sequence[Any], output: Any) -> tuple[Any, ...]:
        """What a launch is given: arrays, numbers, sizes, constants."""
        size_of = dict(zip(self.problem.sizes, tried.case.shape, strict=True))
        inputs = (array if np.ndim(array) else float(array) for array in held)
        scalars = (size_of[name] for name in self.task.scalars)
        return (*inputs, output, *scalars, *tried.constants.values())


def launched(
    launcher: TileLauncher, kernel: EmulatedTiles, stop: frozenset[str]
) -> Iterator[TileTrial]:
    """Every launch of an answer, until one ends with a finding that no other can better."""
    for tried in launcher.cases():
        trial = launcher.run(tried, kernel)
        yield trial
        if any(found.code in stop for found in trial.errors):
            return


# --- The one small change with which every launch is right ----------------------------------------


STEPS_OF_ALL_CHANGES = 100_000  # statements
STEPS_WITH_AN_IDEA = 30_000  # where it is known what the numbers are, and a change adds the line
STEPS_OF_A_LAUNCH = 25  # what it costs beside its statements
MORE_STEPS = 500  # of one program, than all take without a change
FARTHEST = 3  # from what was written, that a change may be
OF_KIND = {"bool": T.BOOL, "int": T.INT64, "float": T.FLOAT32}
Types = dict[ast.AST, T.Type]


def edit_that_repairs(
    launcher: TileLauncher,
    kernel: EmulatedTiles,
    trials: Sequence[TileTrial],
    suspect: int | None,
    steps: int = STEPS_OF_ALL_CHANGES,
) -> Edit | None:
    """The smallest change with which every launch is right; None if none is found.

    One program of one launch sifts them, one of which nothing is right; then come all launches,
    those as well that were not made after one that did not end.

    Args:
        launcher: launches the kernel.
        kernel: the kernel.
        trials: what its launches showed, one of them wrong.
        suspect: the line to which a finding points, if one does.
        steps: of the machine, that may be spent.
    """
    order = sorted(trials, key=lambda trial: (trial.right, trial.size))
    first, only = _telling(launcher, kernel, order)
    made = [trial.tried for trial in order]

    def attempts(edit: Edit) -> Iterator[tuple[bool, int]]:
        changed = _changed(kernel, edit)
        most = STEPS if only is None else first.steps + MORE_STEPS
        part = launcher.run(first.tried, changed, most, only)
        is_right = part.right if only is None else part.right_as_far_as_written
        yield is_right, part.steps + STEPS_OF_A_LAUNCH
        for tried in (*made, *(case for case in launcher.cases() if case not in made)):
            again = launcher.run(tried, changed)
            yield again.right, again.steps + STEPS_OF_A_LAUNCH

    def distance(edit: Edit) -> tuple[float, int]:
        """Of two changes that are alike the later one: a tile is to fit those before it."""
        return edit.cost - (0.5 if edit.line == suspect else 0), -edit.line

    edits = _edits(launcher, kernel, types_seen(launcher, kernel, first))
    near = sorted((edit for edit in edits if edit.cost <= FARTHEST), key=distance)
    return first_that_repairs(near, attempts, steps)


def _telling(
    launcher: TileLauncher, kernel: EmulatedTiles, order: Sequence[TileTrial]
) -> tuple[TileTrial, int | None]:
    """The wrong launch with which changes are sifted, and one of its programs; None for all.

    Larger launches than the smallest have more to say, and one program costs no more in them.
    """
    wrong = [trial for trial in order if not trial.right]
    wrong = [trial for trial in wrong if trial.tried.case.along is None] or wrong
    for trial in sorted(wrong, key=lambda trial: trial.outcome.expected.size == 1):
        count = prod(trial.grid)
        for number in dict.fromkeys((count - 1, 0, count // 2)):
            again = launcher.run(trial.tried, kernel, only=number)
            if not again.right_as_far_as_written:
                return trial, number
    return wrong[0], None


def _changed(kernel: EmulatedTiles, edit: Edit) -> EmulatedTiles:
    """The kernel with a change in itself, or in a function that it calls."""
    tree = edit.changed()
    assert isinstance(tree, ast.FunctionDef)
    functions = {
        name: replace(function, tree=tree) if function.tree is edit.tree else function
        for name, function in kernel.program.functions.items()
    }
    program = replace(kernel.program, functions=functions)
    return replace(kernel, program=program, function=functions[kernel.function.name])


def _edits(launcher: TileLauncher, kernel: EmulatedTiles, seen: Types) -> Iterator[Edit]:
    """The changes of the kernel, and of the functions of the text that it calls."""
    task, program = launcher.task, kernel.program
    given, answer = ({line.rstrip() for line in text.splitlines()} for text in
                     (task.given, task.answer))  # fmt: skip
    for function in program.functions.values():
        tree = function.tree
        if not any(node in seen for node in ast.walk(tree)):
            continue
        numbers = function.parameters[len(task.parameters) :] if function.is_kernel else ()
        arrays = function.parameters[: len(task.parameters)] if function.is_kernel else ()
        axes = [1 if function.language == "triton" else len(entries.axes(shape))
                for shape in task.shapes]  # fmt: skip
        named = variables_in(tree)
        numbers = (*numbers, *(k for k, v in program.constants.items() if type(v) is int))
        source = Kernel(function.name, function.parameters, tree, "", 1, {})
        typing = Typing(source, seen)
        constants = [name for name in numbers if name in named or name in function.parameters]
        axes_of = dict(zip(arrays, axes, strict=False))
        of_tiles = TileChanges(typing, constants, axes_of, has_masks=function.language == "triton")
        for edit in (*edits_of(typing, constants, given & answer), *of_tiles):
            if edit.line < Line.FIRST_AROUND:
                yield edit


def types_seen(launcher: TileLauncher, kernel: EmulatedTiles, trial: TileTrial) -> Types:
    """What kind of value each expression had in a launch."""
    seen: Types = {}

    class Watching(TileMachine):
        def value(self, node: ast.expr, names: dict[str, Any]) -> Any:
            value = super().value(node, names)
            if node not in seen and (kind := _kind(value)) is not None:
                seen[node] = kind
            return value

        def _bind(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:
            super()._bind(target, value, names)
            if isinstance(target, ast.Name) and (kind := _kind(value)) is not None:
                seen.setdefault(target, kind)

    launcher.run(trial.tried, replace(kernel, machine=Watching))
    return seen


def _kind(value: Any) -> T.Type | None:
    match value:
        case TileValue():
            return OF_KIND[value.dtype.kind]
        case ArrayArgument():
            return T.ArrayType(T.FLOAT32, len(value.shape))
        case Pointers():
            return T.ArrayType(T.FLOAT32, 1)
        case bool():
            return T.BOOL
        case int():
            return T.INT64
        case float():
            return T.FLOAT32
        case range():
            return T.RangeType(T.INT64)
    return None
