"""Does an exercise's entry in the registry hold together? If not: file, line and what to write.

A mistake in an entry would show up late, as wrong points for a whole class. So each entry is looked
at when it is made, and all together when the registry is complete. What only its reference can
tell, problems/described.py adds.
"""

from __future__ import annotations

import ast
import keyword
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

POINTS_IN_ALL = 10
MOST_LETTERS = 3
MOST_THREADS = 1024
MOST_HINTS = 3
AXES = ("M", "N", "K")  # of a family's sizes, in order
DTYPES = ("float32", "float16", "bfloat16")
Fault = tuple[str, str]  # the field, and what is wrong with it


class BadEntry(ValueError):
    """An entry that cannot be used; the message is one sentence with the file and the line."""

    def _render_traceback_(self) -> list[str]:  # how a notebook shows it
        return [str(self)]


class EntryLocation:
    """Where an entry is written: the call that made it."""

    def __init__(self) -> None:
        """The call that is going on, seen from within an entry's own making."""
        frame = sys._getframe(1)
        inside = ("__init__", "__post_init__", "replace")
        while frame.f_back and frame.f_code.co_name in inside:
            frame = frame.f_back
        self._file, self._line = frame.f_code.co_filename, frame.f_lineno

    def of(self, field: str) -> str:
        """The file and the line of one field: "curriculum.py, line 412"."""
        line = _lines_of(self._file).get((self._line, field), self._line)
        return f"{Path(self._file).name}, line {line}"


@cache
def _lines_of(file: str) -> dict[tuple[int, str], int]:
    """For each call in a file, by its first line: the lines of its keywords."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):  # made in a notebook, or a prompt
        return {}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        (call.lineno, keyword.arg): keyword.value.lineno
        for call in calls
        for keyword in call.keywords
        if keyword.arg
    }


def refuse(exercise: Any, field: str, why: str) -> BadEntry:
    """The error for one field of an entry."""
    return BadEntry(f"{exercise.place.of(field)}: {exercise.id}: {why}.")


def check_entry(exercise: Any, properties: Sequence[str]) -> None:
    """See that an entry holds together by itself, and asks for nothing but these properties.

    Raises:
        BadEntry: for the first thing that does not.
    """
    for field, why in _faults(exercise, properties):
        raise refuse(exercise, field, why)


def _faults(exercise: Any, properties: Sequence[str]) -> Iterator[Fault]:
    names = (exercise.id, *exercise.parameters)
    for field, name in zip(("id", *["parameters"] * len(names)), names, strict=False):
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            yield field, f"{name!r} is no name in Python"
    if len(set(exercise.parameters)) < len(exercise.parameters):
        yield "parameters", "two parameters have one name"
    if exercise.is_graded:
        yield from _faults_of_points(exercise, properties)
    else:
        yield from _faults_of_task(exercise, properties)
    yield from exercise.kind.faults(exercise)


def _faults_of_task(task: Any, known: Sequence[str]) -> Iterator[Fault]:
    for name in task.asks:
        if name not in known or name == "right":
            yield "asks", f"a {task.kind.name} is not judged by {name!r}, but by {', '.join(known)}"
    if not 1 <= len(task.hints) <= MOST_HINTS:
        yield "hints", f"a task has one to {MOST_HINTS} hints, not {len(task.hints)}"
    for field in ("given", "answer", *["another"] * bool(task.another)):
        try:
            tree = ast.parse(getattr(task, field))
        except SyntaxError as error:
            yield field, f"`{field}` is no Python (its line {error.lineno}: {error.msg})"
            continue
        missing = set(task.names_to_define) - _names_defined(tree)
        if missing:
            yield field, f"`{field}` does not define {', '.join(sorted(missing))}"
    for size in task.grid:
        if isinstance(size, str) and size not in axes(task.shapes[-1] if task.shapes else ""):
            yield "grid", f"the output has no axis {size}"
    if task.grid and len(task.grid) != len(task.block):
        yield "grid", "grid and block need one size for each direction"
    if not task.kind.is_launched and task.reference is None:
        yield "reference", "a task without a kernel needs a `reference`"
    for name in set(task.uses) & {task.id}:
        yield "uses", f"{name} cannot use itself"
    if task.caller and "def caller(" not in task.caller:
        yield "caller", "`caller` has to define a kernel of this name"
    if task.replaced_by and not task.replaced_by.isidentifier():
        yield "replaced_by", f"{task.replaced_by!r} is no name in Python"
    if task.replaced_by and tuple(task.once_worth) != ("right", *task.asks):
        yield "once_worth", "an exercise of an earlier edition needs the points that it had"


def _names_defined(tree: ast.Module) -> set[str]:
    """The functions and variables that a cell defines."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    nodes = (
        node
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for node in ast.walk(statement)
    )
    return functions | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def faults_of_kernel(exercise: Any) -> Iterator[Fault]:
    """What is wrong with the launch and the arrays of an entry."""
    if exercise.output not in exercise.parameters:
        given = ", ".join(exercise.parameters)
        yield "output", f"the output {exercise.output} is none of the parameters ({given})"
    yield from _faults_of_sizes(exercise)
    yield from _faults_of_shapes(exercise)
    for name, multiple in exercise.multiples.items():
        if not exercise.family or name not in AXES or type(multiple) is not int or multiple < 1:
            yield "multiples", f"{name}: {multiple!r} is no multiple of one of {', '.join(AXES)}"
    for name in exercise.wide:
        if name not in exercise.parameters:
            yield "wide", f"{name} is none of the parameters"
    if "wide" in exercise.points and not exercise.wide:
        yield "wide", "`wide` has to name the parameters that are moved 16 bytes at a time"
    for name, dtype in exercise.dtypes.items():
        if name not in exercise.parameters or name == exercise.output:
            yield "dtypes", f"{name} is none of the inputs"
        if dtype not in DTYPES:
            yield "dtypes", f"{name} is {dtype!r}; inputs are {', '.join(DTYPES)}"
    for name in exercise.boxes:
        if name not in exercise.parameters or name == exercise.output:
            yield "boxes", f"{name} is none of the inputs"


def faults_of_tile_kernel(task: Any) -> Iterator[Fault]:
    """What is wrong with the launch and the arrays of a tile kernel."""
    if task.is_graded or task.reference is None:
        yield "reference", "a tile kernel is a task, and has a `reference`"
        return
    yield from _faults_of_shapes(task)
    letters = {letter for shape in task.shapes for letter in axes(shape)}
    for name in task.scalars:
        if name not in letters:
            yield "scalars", f"{name} is no letter of `shapes`"
    for field, sizes in (("constants", task.constants), *(
        ("other_constants", others) for others in task.other_constants)):  # fmt: skip
        if sizes.keys() != task.constants.keys():
            yield (
                field,
                f"these name {', '.join(sizes)}, and `constants` {', '.join(task.constants)}",
            )
        for name, size in sizes.items():
            if type(size) is not int or size < 1 or size & (size - 1):
                yield field, f"{name} is {size!r}; the side of a tile is a power of two"
    for size in task.block:
        if isinstance(size, str) and size not in task.constants:
            yield "block", f"{size} is none of the constants"
    if not task.grid:
        yield "grid", "a tile kernel needs the axes along which its programs lie"


def _faults_of_points(exercise: Any, known: Sequence[str]) -> Iterator[Fault]:
    for name, points in exercise.points.items():
        if name not in known:
            yield (
                "points",
                f"a {exercise.kind.name} is not judged by {name!r}, but by {', '.join(known)}",
            )
        if type(points) is not int or points < 1:
            yield "points", f"{name} has {points!r} points; write a whole number from 1 on"
    if next(iter(exercise.points), None) != "right":
        yield "points", "`right` has to come first among the points"
    total = sum(exercise.points.values())
    if total != POINTS_IN_ALL:
        yield "points", f"the points sum to {total}, and every exercise has {POINTS_IN_ALL}"


def _faults_of_sizes(exercise: Any) -> Iterator[Fault]:
    for name, value in exercise.constants.items():
        if type(value) is not int or value < 1:
            yield "constants", f"{name} is {value!r}; write a whole number from 1 on"
    sizes = {"block": exercise.block, "tile": exercise.tile, "thread_tile": exercise.thread_tile}
    for field, given in sizes.items():
        for size in given or ():
            if isinstance(size, str) and size not in exercise.constants:
                yield field, f"{size} is none of the constants"
            elif not isinstance(size, str) and (type(size) is not int or size < 1):
                yield field, f"a size is a whole number from 1 on, not {size!r}"
    threads = 1
    for size in exercise.block:
        threads *= exercise.constants[size] if isinstance(size, str) else size
    if not 1 <= len(exercise.block) <= 3 or threads > MOST_THREADS:
        yield "block", f"a block has one to three sizes and at most {MOST_THREADS:,} threads"


def _faults_of_shapes(exercise: Any) -> Iterator[Fault]:
    if exercise.reference is None:
        if exercise.shapes and not exercise.family:
            yield "shapes", "there are shapes but no `reference`, so nothing can be compared"
        return
    if not callable(exercise.reference):
        yield "reference", "`reference` has to be a function of the inputs"
    if len(exercise.shapes) != len(exercise.parameters):
        names = ", ".join(exercise.parameters)
        yield "shapes", f"`shapes` needs one entry for each of {names}"
    if exercise.output != exercise.parameters[-1]:
        yield "output", "the last parameter has to be the output"
    output = axes(exercise.shapes[-1])
    letters = {letter for shape in exercise.shapes for letter in axes(shape) if is_free(letter)}
    if not 1 <= len(output) <= 2 or len(letters) > MOST_LETTERS:
        yield "shapes", "an output has one or two axes, and all arrays three letters together"
    if len(set(output)) < len(output) and is_free(output[0]):
        yield "shapes", "the two axes of the output need letters of their own"


def axes(letters: str) -> tuple[str, ...]:
    """The letters of "M,N"; none for a number."""
    return tuple(array.strip() for array in letters.split(",") if array.strip())


def is_free(axis: str) -> bool:
    """Whether an axis may have any size; a number, "4", is the size of one that may not."""
    return not axis.isdecimal()


def by_id(
    exercises: Iterable[Any], lessons: Iterable[Any], taken: Collection[str] = ()
) -> dict[str, Any]:
    """The entries by their ids: lesson by lesson, in the order of their positions.

    Ids that are `taken` belong to others.

    Raises:
        BadEntry: if two have one id, or the lesson of one does not exist.
    """
    numbers = [lesson.number for lesson in lessons]
    found: dict[str, Any] = {}
    for exercise in exercises:
        if exercise.id in found or exercise.id in taken:
            raise refuse(exercise, "id", "there is another exercise of this id")
        if exercise.lesson not in numbers:
            raise refuse(exercise, "lesson", f"there is no lesson {exercise.lesson!r}")
        found[exercise.id] = exercise

    for exercise in found.values():
        if exercise.starts_from and exercise.starts_from not in found:
            why = f"there is no exercise {exercise.starts_from!r} to start from"
            raise refuse(exercise, "starts_from", why)

    def order(exercise: Any) -> tuple[int, int, str]:
        return (numbers.index(exercise.lesson), exercise.position, exercise.id)

    return {exercise.id: exercise for exercise in sorted(found.values(), key=order)}


def of_lesson(exercises: Iterable[Any], number: str) -> Iterator[str]:
    """The ids of the exercises that name this lesson."""
    return (exercise.id for exercise in exercises if exercise.lesson == number)
