"""Hold the elements that a wrong sum was made of against those that the task's own answer reads.

For tasks that add up elements of one array, each thread for itself: both kernels are followed on
the same numbers, and what differs is told as it is. A task's answer ships with the course, so this
gives nothing away that is to be kept.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.callers import our_kernel
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.source.source import Source
from course_lib.emulator import Budget, Kernel, emulate
from course_lib.exercise import Launch, Task
from course_lib.findings import Finding, finding
from course_lib.number_formats import encoded
from course_lib.sentences import say
from course_lib.words import element as named

Index = tuple[int, ...]
MOST_NAMED = 4  # elements that a sentence lists
NEARLY = 1e-4  # of sums of some hundred terms in float32
CLOSE = 1e-6  # relative: a sum that is one element, but for rounding


@dataclass(frozen=True)
class ElementRead:
    """One element that a thread has read, and on which line."""

    index: Index
    line: int


def wrongly_made_of(
    task: Task, kernel: Kernel, source: Source, launch: Launch, outcome: Outcome, fewest: int = 2
) -> Finding | None:
    """What the first wrong element is made of and what not, if that can be told."""
    answer = our_kernel(task)
    if len(answer.parameters) != 2 or len(kernel.parameters) != 2 or outcome.right.all():
        return None
    element = tuple(int(each) for each in np.argwhere(~outcome.right)[0])
    mine = _read_for(element, kernel, launch, outcome, task.formats)
    wanted = _read_for(element, answer, launch, outcome, task.formats)
    if not mine or not wanted or len(wanted) < fewest:
        return None
    read, needed = ([each.index for each in some] for some in (mine, wanted))
    if sorted(read) == sorted(needed):
        return _not_added(task, element, mine[-1], outcome)
    if sorted(read) == sorted(index[::-1] for index in needed) != sorted(needed):
        return None  # the indices are exchanged, and there is a better sentence for that
    if not _adds_up(outcome, element, read, needed):
        return None
    array = task.parameters[0]
    message = say(
        "{result} is made of {read}; it should be made of {needed}.",
        result=named(task.output, element),
        read=_list(array, read),
        needed=_list(array, needed),
    )
    hint = say(
        "From which element of {array} to which does a thread step in its loop?", array=array
    )
    loop = _loop_that_counts(source, mine[-1].line)
    if loop is not None:
        return finding("wrong-loop-bound", message, loop.lineno, hint, "error")
    code = "wrong-index" if len(read) > 1 or len(wanted) == 1 else "wrong-formula"
    hint = say("Which elements of {array} does this thread need, one after the other?", array=array)
    if len(wanted) == 1:
        hint = say("Which element of {array} does this thread need?", array=array)
    return finding(code, message, mine[-1].line, hint, "error")


def _read_for(
    element: Index, kernel: Kernel, launch: Launch, outcome: Outcome, formats: Sequence[str]
) -> list[ElementRead] | None:
    """What the thread that wrote an element last has read of the input for it, in its order.

    None if nobody wrote it, if threads hand numbers to each other, or if the kernel takes others.
    """
    if len(kernel.parameters) != 2:
        return None
    source, target = kernel.parameters
    inputs = [encoded(each, form) for each, form in zip(outcome.inputs, formats, strict=True)]
    output = np.full(outcome.expected.shape, outcome.poison, np.float32)
    run = emulate(kernel, trace=True, budget=Budget(printed_lines=0))
    profile = run[launch.grid, launch.block](*inputs, output)
    if profile.shared_arrays:
        return None
    trace = [each for each in profile.trace if each.space == "global"]
    stores = [each for each in trace if each.array == target and each.kind == "store"]
    threads = [each.threads[(each.indices == element).all(axis=1)] for each in stores]
    writers = [found[-1] for found in threads if len(found)]
    if not writers:
        return None
    reads: list[ElementRead] = []
    for access in trace:
        lanes = (access.threads == writers[-1]).all(axis=1)
        for index in map(tuple, access.indices[lanes].tolist()):
            if access.array == source and access.kind == "load":
                reads.append(ElementRead(index, access.line))
            elif access.array == target and access.kind == "store" and index != element:
                reads = []  # these went into another element
    return reads


def _adds_up(
    outcome: Outcome, element: Index, read: Sequence[Index], needed: Sequence[Index]
) -> bool:
    """Is the result to what was read as the right one is to what should be read?

    A kernel may well read elements and not use them. A task may ask for a sum of them times a
    number, or plus one.
    """
    [array] = outcome.inputs
    mine, wanted = (sum(float(array[index]) for index in some) for some in (read, needed))
    got, right = float(outcome.got[element]), float(outcome.expected[element])
    pairs = (mine * right, wanted * got), (mine + right, wanted + got)
    return any(np.isclose(*pair, rtol=NEARLY, atol=NEARLY) for pair in pairs)


def _not_added(task: Task, element: Index, last: ElementRead, outcome: Outcome) -> Finding | None:
    """The right elements were read: is the result the last of them alone?"""
    value, got = float(outcome.inputs[0][last.index]), float(outcome.got[element])
    if not np.isclose(got, value, rtol=CLOSE):
        return None
    message = say(
        "{result} is {last} alone, the last number that the thread reads: each one replaces the "
        "sum instead of being added.",
        result=named(task.output, element),
        last=named(task.parameters[0], last.index),
    )
    hint = "What happens to the sum on the way, from one iteration of the loop to the next?"
    return finding("accumulator-error", message, last.line, hint, "error")


def _loop_that_counts(source: Source, line: int) -> ast.For | ast.While | None:
    """The loop around a read whose counter stands in the index, if there is one."""
    for access in (each for node in source.walk() if (each := _element(node, line)) is not None):
        names = {part.id for part in ast.walk(access.slice) if isinstance(part, ast.Name)}
        for loop in reversed(source.loops_around(access)):
            counters = loop.target if isinstance(loop, ast.For) else loop.test
            counted = {part.id for part in ast.walk(counters) if isinstance(part, ast.Name)}
            if names & counted:
                return loop
    return None


def _element(node: ast.AST, line: int) -> ast.Subscript | None:
    is_read = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    return node if is_read and node.lineno == line else None  # type: ignore[attr-defined, return-value]


def _list(array: str, read: Sequence[Index]) -> str:
    """Elements as a phrase: "x[0], x[32], x[64], … (7 of them)"."""
    times: Mapping[Index, int] = {index: read.count(index) for index in dict.fromkeys(read)}
    if len(times) == 1 and len(read) > 1:
        return f"{named(array, read[0])}, {len(read)} times over"
    shown = ", ".join(named(array, index) for index in read[:MOST_NAMED])
    if len(read) <= MOST_NAMED:
        return shown if len(read) > 1 else f"{shown} alone"
    return f"{shown}, … ({len(read)} of them)"
