"""Doubts about an answer: where only a run could tell what a name holds; and why there is none.

An answer is judged with what Jupyter would hold after all cells had run from top to bottom. Where
the text does not tell that, the row needs a person, and this is the reason.
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from course_lib.curriculum import Exercise
from course_lib.emulator.language.bindings import ANY, Binding
from course_lib.grading.answers.segments import Segment
from course_lib.grading.answers.statements import Statement, may_be_taken
from course_lib.grading.records import FORMER, GRADED, FoundAnswer, Submission

Place = Callable[[Segment], str]


@dataclass(frozen=True)
class _Event:
    """A statement that binds a name, or may."""

    segment: Segment
    statement: Statement | None  # None: a command to Jupyter
    binding: Binding

    @property
    def is_sure(self) -> bool:
        return not self.binding.way

    def is_read(self, own: Segment) -> bool:
        """Does the examination itself find out what is bound here? It reads the answer's own cell,
        also an `if` with a constant test and a `try` in which nothing fails.
        """
        here = self.segment.order == own.order
        return self.is_sure or (here and self.binding.way in ("inside `if`", "inside `try`"))

    @property
    def meaning(self) -> object:
        """Two events of the same meaning give a name the same value."""
        if self.statement is None:
            return None
        return self.statement.imports.get(self.binding.name) or self.statement.shape


def doubt_about(
    exercise: Exercise,
    own: Segment,
    needed: Collection[str],
    cells: Sequence[Segment],
    place: Place,
) -> str | None:
    """Why a person has to look; None where the text tells what is held at the end.

    `own` is the answer's cell, joined with those over which it was split; `needed` are the names
    that the exercise asks for, and those that they need in turn; `place` says how a cell is called.
    """
    events = list(_events_in(_cells_of(exercise, own, cells)))
    asked = frozenset(exercise.names_to_define)
    doubts = {e.binding.name: e for e in _back_to_itself(asked, needed, events)}
    for name in sorted(needed, key=lambda name: (name not in asked, name)):
        # Of several definitions of a function that is asked for, the search has chosen one.
        chosen = exercise.kind.is_function and name in asked
        doubt = _doubt_about_name(name, own, chosen, events)
        if doubt:
            doubts[name] = doubt
    # What names its name says more than what may bind any.
    best = min(doubts, key=lambda name: doubts[name].binding.name == ANY, default=None)
    return None if best is None else _sentence(best, doubts[best], place)


def _back_to_itself(
    asked: Collection[str], needed: Collection[str], events: Sequence[_Event]
) -> Iterator[_Event]:
    """What keeps an answer under another name for a while: its own name means several things."""
    for event in events:
        uses = event.statement.uses if event.statement else frozenset()
        if event.binding.name in needed and event.binding.name not in asked and uses & set(asked):
            if event.statement and event.statement.kind != "function":
                yield replace(event, binding=replace(event.binding, way="to the answer itself"))


def doubt_without_answer(name: str, cells: Sequence[Segment], place: Place) -> str | None:
    """Where a name may be bound although no definition was found that can be judged."""
    for cell in cells:
        if cell.is_code and not cell.code.was_run and _defines_as_text(name, cell.text):
            return (
                f"{place(cell).capitalize()} has {name} below a cell magic, so Python does not run "
                "the cell as it is written."
            )
    runs = [cell for cell in cells if cell.runs and not cell.in_lesson]
    for event in _events_in(runs):
        if event.binding.way and event.binding.name in (name, ANY):
            return _sentence(name, event, place)
    return None


def _defines_as_text(name: str, text: str) -> bool:
    pattern = rf"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+{name}[ \t]*\(|{name}[ \t]*=)"
    return re.search(pattern, text, re.MULTILINE) is not None


def _sentence(name: str, event: _Event, place: Place) -> str:
    where = f"{place(event.segment)}, line {event.binding.line}"
    if event.is_sure:
        return (
            f"{name}, which the answer uses, gets another meaning below the answer, in {where}. A "
            "person has to decide which of the two counts."
        )
    may = "is bound" if event.binding.name == name else "may be bound"
    return (
        f"{name} {may} in {where}, {event.binding.way}: you would have to run the notebook to know "
        "its value at the end."
    )


def _doubt_about_name(
    name: str, own: Segment, is_chosen: bool, events: Sequence[_Event]
) -> _Event | None:
    mine = [event for event in events if event.binding.name in (name, ANY)]
    sure = [number for number, event in enumerate(mine) if event.is_read(own)]
    above = [number for number in sure if mine[number].segment.order <= own.order]
    # Where the answer takes the name from; what the instructor's notebook defines comes first.
    taken = max(above, default=min(sure, default=-1))
    if taken >= 0 and _is_untold(mine[taken], own):
        way = "to a value that the text does not tell"
        return replace(mine[taken], binding=replace(mine[taken].binding, way=way))
    for number, event in enumerate(mine[taken + 1 :], start=taken + 1):
        if not event.is_read(own) and number > max(sure, default=-1):
            return event
        if event.is_read(own) and not is_chosen and event.meaning != mine[taken].meaning:
            if not _are_usual(mine[taken], event):
                return event
    return None


def _is_untold(event: _Event, own: Segment) -> bool:
    """Whether the examination would miss a name: it is handed what defines it in other cells only
    where that is a function, a constant or an import."""
    other = event.statement is None or event.statement.kind == "other"
    return other and event.segment.order != own.order


def _are_usual(first: _Event, second: _Event) -> bool:
    """Do two imports give kernels the same thing, however they are written?"""
    imported = [
        event.statement.imports.get(event.binding.name, "") if event.statement else ""
        for event in (first, second)
    ]
    if not all(text and may_be_taken(text) for text in imported):
        return False
    one, other = map(_path, imported)
    return one == other


def _path(imported: str) -> str:
    """What `from numba import cuda as c` or `import numba.cuda as c` brings: "numba.cuda"."""
    words = imported.split(" as ")[0].split()
    return ".".join(words[1::2])


def _cells_of(exercise: Exercise, own: Segment, cells: Sequence[Segment]) -> Iterator[Segment]:
    """The cells whose names an answer may use, itself among them, in the order of a run."""
    for cell in cells:
        if cell.order == own.order:
            yield own
        elif cell.file != own.file or not cell.runs or cell.cell in own.continued_in:
            continue
        elif cell.is_experiment <= own.is_experiment and not _answers_another(cell, exercise):
            yield cell


def _answers_another(cell: Segment, exercise: Exercise) -> bool:
    """Whether it is the answer to another exercise, which has constants of its own."""
    if cell.marker:
        return cell.marker != exercise.id
    defined = functions_of(cell)
    return bool(defined & GRADED.keys()) and exercise.id not in defined


def _events_in(cells: Iterable[Segment]) -> Iterator[_Event]:
    setters: dict[str, tuple[Binding, ...]] = {}
    for cell in cells:
        commands = [_Event(cell, None, binding) for binding in cell.code.commands]
        for statement in cell.code.statements:
            while commands and commands[0].binding.line < statement.first:
                yield commands.pop(0)
            yield from (_Event(cell, statement, binding) for binding in statement.bindings)
            called = tuple(
                Binding(binding.name, statement.first, f"when {name} is called")
                for name in sorted(statement.uses & setters.keys())
                for binding in setters[name]
            )
            if statement.kind == "function":
                called += statement.by_calls
                setters.update((name, called) for name in statement.binds if called)
            else:
                called += statement.by_calls if not statement.binds else ()
                yield from (_Event(cell, statement, binding) for binding in called)
                setters.update(
                    (name, statement.by_calls) for name in statement.binds if statement.by_calls
                )
        yield from commands


# --- Why there is no answer to an exercise, and what was found instead ----------------------------


_MOST_NAMES = 3


def why_none(
    exercise: Exercise,
    submission: Submission,
    segments: Sequence[Segment],
    stubs: Sequence[Segment],
    place: Callable[[Segment], str],
    given: Collection[str] = (),
) -> FoundAnswer:
    """That there is no answer, and why, in one or two sentences.

    A person should look where there may be one all the same: a file that nobody could read, a
    whole function under another name, or the answer to the exercise that was graded in its place
    before. Then nobody should get 0 for nothing.

    `stubs` define what is asked for, but with nothing in it; `place` says how a segment is called;
    `given` are the shapes of the functions that stand in the instructor's notebook.
    """
    none = partial(FoundAnswer, exercise.id)
    unread = any(file.is_unread for file in submission.files)
    if submission.problem:
        return none(problem=submission.problem, needs_review=unread)
    former = _former(exercise, segments)
    if former and not stubs:
        reason = _of_an_earlier_edition(former, place)
        return none(problem=reason + _unread(submission), needs_review=True)
    reason = _where_it_should_be(exercise, segments, stubs, place)
    alike = [segment for segment in segments if _may_be_renamed(segment, exercise, given)]
    if alike and not alike[-1].marker:
        names = sorted({name for segment in alike for name in _whole(segment, exercise, given)})
        reason += (
            f" But {place(alike[-1])} contains {_listed(names)}, which may be the answer under "
            "another name."
        )
    return none(problem=reason + _unread(submission), needs_review=unread or bool(alike))


def _former(exercise: Exercise, segments: Sequence[Segment]) -> Segment | None:
    """The last answer to what was graded in an exercise's place in an earlier edition."""
    theirs = (
        segment
        for segment in segments
        if segment.marker and FORMER.get(segment.marker) == exercise.id
    )
    return max(theirs, key=lambda their: their.order, default=None)


def _of_an_earlier_edition(former: Segment, place: Callable[[Segment], str]) -> str:
    assert former.marker
    return (
        f"{former.marker} in {place(former)} is from an earlier edition of the course; "
        f"{FORMER[former.marker]} is graded instead."
    )


def _where_it_should_be(
    exercise: Exercise,
    segments: Sequence[Segment],
    stubs: Sequence[Segment],
    place: Callable[[Segment], str],
) -> str:
    marked = [segment for segment in segments if segment.marker == exercise.id and segment.is_code]
    if stubs:
        return _as_given(exercise, place(stubs[-1]))
    if marked and exercise.kind.is_function and functions_of(marked[-1]):
        return (
            f"Below `# EXERCISE {exercise.id}` in {place(marked[-1])} there is "
            f"{_listed(sorted(functions_of(marked[-1])))}, but no function called {exercise.id}."
        )
    if marked:
        return (
            f"{place(marked[-1]).capitalize()} has the line `# EXERCISE {exercise.id}`, but no "
            "answer below it."
        )
    return _nothing(exercise, segments, place)


def _may_be_renamed(segment: Segment, exercise: Exercise, given: Collection[str]) -> bool:
    """Whether a cell may hold the answer under another name: it answers no other exercise."""
    if not exercise.kind.is_function or segment.marker not in (None, exercise.id):
        return False
    if not segment.is_code or segment.in_lesson or segment.is_experiment:
        return False
    if "def" not in segment.text:  # much faster
        return False
    return bool(_whole(segment, exercise, given))


def _whole(segment: Segment, exercise: Exercise, given: Collection[str]) -> list[str]:
    """The student's own functions in a cell that are complete and look like what is asked for."""

    def looks_like_it(statement: Statement) -> bool:
        if segment.marker == exercise.id:
            return True
        is_kernel = not exercise.kind.is_launched or "cuda" in statement.uses
        return is_kernel and statement.parameters == len(exercise.parameters)

    return [
        name
        for statement in segment.code.statements
        if statement.kind == "function" and not statement.is_stub and statement.shape not in given
        if looks_like_it(statement)
        for name in statement.binds - GRADED.keys()
    ]


def functions_of(segment: Segment) -> set[str]:
    """The functions that a segment defines."""
    return {
        name
        for statement in segment.code.statements
        if statement.kind == "function"
        for name in statement.binds
    }


def _as_given(exercise: Exercise, place: str) -> str:
    if not exercise.kind.is_function:
        return f"The numbers in {place} are still those of the exercise."
    return f"{exercise.id} in {place} is still empty."


def _nothing(
    exercise: Exercise, segments: Sequence[Segment], place: Callable[[Segment], str]
) -> str:
    what = exercise.kind.asked_for(exercise)
    sentence = f"There is no cell with `# EXERCISE {exercise.id}`, and no {what}."
    for segment in segments:
        if segment.in_lesson and segment.is_code and segment.binding(exercise.id):
            return f"{sentence} (The one in {place(segment)} is the lesson's.)"
    names = {name for segment in segments if segment.is_code for name in functions_of(segment)}
    near = difflib.get_close_matches(exercise.id, sorted(names)[:200], n=1, cutoff=0.7)
    return f"{sentence} (There is a function called {near[0]}.)" if near else sentence


def _unread(submission: Submission) -> str:
    unread = [file for file in submission.files if file.problem]
    return f" And {unread[0].label} could not be read: {unread[0].problem}" if unread else ""


def _listed(names: Sequence[str]) -> str:
    some = names[:_MOST_NAMES]
    return ", ".join(some) + (", …" if len(names) > _MOST_NAMES else "")
