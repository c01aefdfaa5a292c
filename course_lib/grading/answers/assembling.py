"""The text of an answer, put together from its own cell and others; and answers in words."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from course_lib.building.notebook import BuildError, exercise_id, read, source
from course_lib.grading.answers.segments import Segment, read_code
from course_lib.grading.answers.statements import Statement, may_be_taken
from course_lib.grading.records import CannotGrade, FoundAnswer, Submission

MAX_PIECES = 60
MAX_PIECES_CHARACTERS = 20_000
MAX_NAMES = 500  # that are looked for
# What every exercise notebook imports; used where the instructor's own is not at hand.
USUAL_IMPORTS = frozenset(
    (
        "import numpy as np",
        "import math",
        "from numba import cuda",
        "from numba import float32",
    )
)

_Index = Mapping[str, Sequence[tuple[Segment, Statement]]]


@dataclass(frozen=True)
class Surroundings:
    """What the instructor's notebook defines around an answer."""

    names: frozenset[str]  # all that it defines
    shapes: frozenset[str]  # how; see Statement


@dataclass(frozen=True)
class Assembled:
    """An answer's text."""

    text: str  # the pieces, and then the cell
    first_line: int  # the line on which the cell begins
    notes: tuple[str, ...]  # what came from elsewhere, and what was left out
    needed: frozenset[str]  # the names that the answer needs, its own among them


@dataclass(frozen=True)
class _Piece:
    segment: Segment
    statement: Statement
    text: str
    names: tuple[str, ...] = ()


@lru_cache(maxsize=64)  # a whole class has the same ones
def surroundings(context: str) -> Surroundings:
    """What a text defines, if Python can read it."""
    statements = read_code(context).statements
    names = frozenset().union(*(statement.binds for statement in statements))
    return Surroundings(
        names, frozenset(statement.shape for statement in statements if statement.shape)
    )


def assemble(
    own: Segment,
    names: Iterable[str],
    segments: Sequence[Segment],
    given: Surroundings | None,
) -> Assembled:
    """The text of the answer in a segment that defines these names.

    Of all segments of the submission only those of the same file are looked at. `given` is what the
    instructor's notebook defines; None if that is not known.
    """
    joined = (own.cell, *own.continued_in)
    here = [segment for segment in segments if segment.file == own.file and segment.runs]
    others = [
        segment for segment in here if segment.order != own.order and segment.cell not in joined[1:]
    ]
    pieces, needed = _collect(own, names, others, given)
    after = _rebound_below(own, frozenset(names), here)
    lines = [piece.text for piece in pieces]
    first_line = sum(text.count("\n") + 1 for text in lines) + 1
    texts = [*lines, own.code.text, *(piece.text for piece in after)]
    notes = tuple(_notes([*pieces, *after]))
    return Assembled("\n".join(texts), first_line, notes, frozenset(needed))


def _collect(
    own: Segment, names: Iterable[str], others: Sequence[Segment], given: Surroundings | None
) -> tuple[list[_Piece], set[str]]:
    """The pieces in their order, and all names that were looked for."""
    found: dict[tuple[int, int, str], _Piece] = {}
    waiting = [(own, name) for name in names]
    seen: set[str] = set()
    index: _Index | None = None
    while waiting and len(seen) < MAX_NAMES:
        user, name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        local = own.binding(name)
        if local:
            waiting += [(own, use) for statement in local for use in sorted(statement.uses)]
            continue
        if index is None:
            index = _index_of(others)
        piece = _elsewhere(name, user, index, given)
        if piece is None or len(found) >= MAX_PIECES:
            continue
        key = (piece.segment.order, piece.statement.first, piece.text)
        names_so_far = found[key].names if key in found else ()
        found[key] = replace(piece, names=(*names_so_far, name))
        waiting += [(piece.segment, use) for use in sorted(piece.statement.uses)]
    ordered = [found[key] for key in sorted(found)]
    if sum(len(piece.text) for piece in ordered) > MAX_PIECES_CHARACTERS:
        ordered = []
    return ordered, seen


def _index_of(segments: Iterable[Segment]) -> _Index:
    index: dict[str, list[tuple[Segment, Statement]]] = {}
    for segment in segments:
        for statement in segment.code.statements:
            for name in statement.binds:
                index.setdefault(name, []).append((segment, statement))
    return index


def _elsewhere(
    name: str, user: Segment, index: _Index, given: Surroundings | None
) -> _Piece | None:
    """The place where Python would find a name if it ran the notebook from the top."""
    places = index.get(name, ())
    before = [place for place in places if place[0].order <= user.order]
    after = [place for place in places if place[0].order > user.order]
    for segment, statement in reversed(before):
        if piece := _piece(name, segment, statement, given):
            return piece
    for segment, statement in after:
        # A trial run further down may use the same name for something else.
        kinds = {neighbour.kind for neighbour in segment.code.statements}
        if statement.kind == "function" or "other" not in kinds:
            if piece := _piece(name, segment, statement, given):
                return piece
    return None


def _piece(
    name: str, segment: Segment, statement: Statement, given: Surroundings | None
) -> _Piece | None:
    if statement.is_stub or statement.kind == "other":
        return None
    if statement.kind == "import":
        text = statement.imports.get(name) or statement.imports["*"]
        is_given = text in USUAL_IMPORTS if given is None else name in given.names
        return None if is_given or not may_be_taken(text) else _Piece(segment, statement, text)
    if given and name in given.names and statement.shape in given.shapes:
        return None
    if not statement.is_alone and _shares_lines(segment, statement):
        return None
    lines = segment.code.text.split("\n")[statement.first - 1 : statement.last]
    return _Piece(segment, statement, "\n".join(lines))


def _shares_lines(segment: Segment, statement: Statement) -> bool:
    """Whether the lines of a statement hold anything but constants beside it."""
    return any(
        neighbour.kind != "constant"
        and neighbour.first <= statement.last
        and neighbour.last >= statement.first
        for neighbour in segment.code.statements
    )


def _rebound_below(
    own: Segment, names: frozenset[str], segments: Sequence[Segment]
) -> list[_Piece]:
    """Statements below an answer that make something else of it: `k = cuda.jit(k)`, `del k`."""
    made = (statement for name in names for statement in own.binding(name))
    if not any(statement.kind == "function" or statement.makes for statement in made):
        return []
    found = []
    for segment in segments:
        if segment.order <= own.order or segment.is_experiment != own.is_experiment:
            continue
        lines = segment.code.text.split("\n")
        for statement in segment.code.statements:
            if statement.binds & names and statement.kind != "function" and statement.is_alone:
                text = "\n".join(lines[statement.first - 1 : statement.last])
                found.append(
                    _Piece(segment, statement, text, tuple(sorted(statement.binds & names)))
                )
    return found


def _notes(pieces: Sequence[_Piece]) -> Iterator[str]:
    by_cell: dict[int, set[str]] = {}
    for piece in pieces:
        by_cell.setdefault(piece.segment.cell, set()).update(piece.names)
    for cell, names in by_cell.items():
        yield f"Taken from cell {cell}, because the answer uses it: {', '.join(sorted(names))}."


# --- Answers in words, from cells that an instructor has marked -----------------------------------
# A cell of the exercise notebook holds `<!-- QUESTION why-two-barriers -->`, which a browser
# doesn't show, and perhaps a line to write below. What a student leaves in the cell of this mark
# is the answer. Nobody judges it here; the course's file says what it is worth.


MARK = re.compile(r"<!--\s*QUESTION\s+([A-Za-z0-9_-]{1,60})\s*-->")
MOST_CHARACTERS = 20_000  # of an answer


@dataclass(frozen=True)
class TextQuestion:
    """A question that is answered in words."""

    id: str  # the word in its mark
    notebook: str  # the name of the file it stands in, without the suffix
    statement: str  # the cell of text above its own
    given: str  # what stands in its cell before a student writes
    # the exercises of its notebook; it is asked with these, or always if there are none
    beside: frozenset[str]


def read_questions(folder: Path, ids: Collection[str]) -> dict[str, TextQuestion]:
    """The questions of these ids, from the instructor's exercise notebooks.

    Raises CannotGrade if one stands in no notebook, or in two places.
    """
    found: dict[str, TextQuestion] = {}
    for path in sorted(folder.glob("*.ipynb")) if ids else ():
        for question in _of_notebook(path):
            if question.id in found:
                raise CannotGrade(
                    f"The question {question.id} is in {folder} twice: in "
                    f"{found[question.id].notebook}.ipynb and in {path.name}. Keep only one of "
                    "them."
                )
            found[question.id] = question
    lost = next((name for name in ids if name not in found), None)
    if lost is not None:
        raise CannotGrade(
            f"No notebook in {folder} asks {lost}: write <!-- QUESTION {lost} --> into the text "
            "cell for the answer, or remove the question from [questions]."
        )
    return {name: found[name] for name in ids}


def _of_notebook(path: Path) -> Iterator[TextQuestion]:
    try:
        cells = read(path)["cells"]
        beside = frozenset(filter(None, map(exercise_id, cells)))
        texts = [source(cell) if cell["cell_type"] == "markdown" else "" for cell in cells]
    except (OSError, BuildError, KeyError, TypeError):
        return  # the assignment, which is read first, has complained
    above = ""
    for text in texts:
        mark = MARK.search(text)
        if mark:
            yield TextQuestion(mark[1], path.stem, above, _written(text), beside)
        elif text:
            above = text


def _written(text: str) -> str:
    """What a cell says without its mark."""
    return MARK.sub("", text).strip()


def asked_of(
    questions: Mapping[str, TextQuestion], exercises: Collection[str]
) -> Iterator[TextQuestion]:
    """The questions that go with these exercises."""
    for question in questions.values():
        if not question.beside or question.beside & set(exercises):
            yield question


def text_answer(submission: Submission, question: TextQuestion) -> FoundAnswer:
    """What a student has written; of several marked cells, the last that is not empty."""
    for file in reversed(submission.files):
        for cell in reversed(file.cells):
            marks = MARK.findall(cell.text)
            text = _written(cell.text)
            if question.id not in marks or not text or text.split() == question.given.split():
                continue
            found = text[:MOST_CHARACTERS]
            return FoundAnswer(question.id, found, file=file.label, cell=cell.number)
    unread: Sequence[str] = [
        file.problem for file in submission.files if file.is_unread and file.problem
    ]
    if unread:
        return FoundAnswer(question.id, problem=unread[0], needs_review=True)
    return FoundAnswer(question.id, problem=f"There is no answer to {question.id}.")
