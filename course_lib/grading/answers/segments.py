"""The cells of a submission, cut where the marker of another exercise begins, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from course_lib.grading.answers.cell_code import Code, read_code
from course_lib.grading.answers.statements import Statement
from course_lib.grading.graded import GRADED
from course_lib.grading.records import Submission, SubmittedFile, TextCell

_MARKER = re.compile(
    r"^[ \t]*#+[ \t]*exercise\b[ \t:.#-]*(?P<id>[A-Za-z_]\w*)(?P<rest>.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_MOST_MARKERS = 20  # in one cell; with more of them, it is no longer cut
_NOTHING = re.compile(r"[ \t]*(?:[#%!].*)?")
_EXPERIMENTS = re.compile(r"^[ \t]*#+[ \t]*break it\b", re.MULTILINE | re.IGNORECASE)
_HEADING = re.compile(r"^[ \t]*(?:#|\*\*Next:)", re.MULTILINE)
_LESSON_TITLE = re.compile(r'^(?:"""|# )?# \d\d[a-z]? · ', re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")


@dataclass(frozen=True)
class Segment:
    """A cell, or the part of one that begins at a marker.

    Attributes:
        order: its place among all segments of the submission.
        file: the place of its file.
        label: the label of its file.
        cell: the number of its cell.
        text: of the whole segment; lines of the cell above it are empty, so that lines agree.
        marker: the exercise that it says it answers.
        is_code: the front end takes it for code.
        in_lesson: it stands in a notebook of a lesson, whose kernels are ours.
        is_experiment: it stands below "Break it", where the exercise asks for broken copies.
        continued_in: the cells that were joined to it, because it was split.
    """

    order: int
    file: int
    label: str
    cell: int
    text: str
    marker: str | None
    is_code: bool
    in_lesson: bool = False
    is_experiment: bool = False
    continued_in: tuple[int, ...] = ()

    @cached_property
    def code(self) -> Code:
        return read_code(self.text)

    @property
    def runs(self) -> bool:
        """Python runs it."""
        return self.is_code and self.code.was_run

    def mentions(self, name: str) -> bool:
        """Whether a name may occur as a word; much faster than to parse.

        Python takes some letters of other alphabets for the ones that look like them.
        """
        if not self.text.isascii():
            return True
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.text) is not None

    def joined(self, following: Segment) -> Segment:
        """This segment with a later one below it."""
        text = f"{self.text}\n{following.text.lstrip(chr(10))}"
        return replace(self, text=text, continued_in=(*self.continued_in, following.cell))

    def binding(self, name: str) -> list[Statement]:
        """The statements that define a name."""
        if not self.mentions(name):
            return []
        return [each for each in self.code.statements if name in each.binds]


def segments_of(submission: Submission) -> list[Segment]:
    """All segments of all files."""
    found: list[Segment] = []
    for number, file in enumerate(submission.files):
        found += _segments_of_file(file, number)
    return [replace(segment, order=order) for order, segment in enumerate(found)]


def _segments_of_file(file: SubmittedFile, number: int) -> Iterator[Segment]:
    in_lesson = any(_LESSON_TITLE.search(cell.text) for cell in file.cells[:10])
    experimenting = False
    for cell in file.cells:
        if cell.kind == "markdown" and _HEADING.search(cell.text):
            experimenting = _EXPERIMENTS.search(cell.text) is not None
        is_code = cell.kind == "code"
        for marker, text in _cut(cell):
            yield Segment(
                0, number, file.label, cell.number, text, marker, is_code, in_lesson, experimenting
            )


def _cut(cell: TextCell) -> Iterable[tuple[str | None, str]]:
    """The parts of a cell, each with its marker."""
    text = cell.text if cell.kind == "code" else _unfenced(cell.text)
    lines = text.split("\n")
    places = _places(text, lines)
    if not places:
        return [(None, text)]
    begins = [line for line, _ in places]
    if all(_NOTHING.fullmatch(line) for line in lines[: begins[0]]):
        begins[0] = 0  # a cell magic or a comment above the marker belongs to it
    markers: list[str | None] = [marker for _, marker in places]
    if begins[0] > 0:
        begins, markers = [0, *begins], [None, *markers]
    parts = [
        "\n" * begin + "\n".join(lines[begin:end])
        for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True)
    ]
    if len(parts) > 1 and _breaks_apart(text, parts):
        return [(places[0][1], text)]
    return zip(markers, parts, strict=True)


def _places(text: str, lines: list[str]) -> list[tuple[int, str]]:
    """The lines at which an answer to another exercise begins."""
    if not _MARKER.search(text):
        return []
    places: list[tuple[int, str]] = []
    on_top = True
    for number, line in enumerate(lines):
        found = _MARKER.match(line)
        marker = _exercise(found["id"]) if found else None
        # In the middle of a cell, a comment that goes on is a comment.
        ends = found is not None and not found["rest"].strip(" \t.:!)-")
        if marker and (on_top or ends) and not (places and places[-1][1] == marker):
            places.append((number, marker))
        on_top = on_top and _NOTHING.fullmatch(line) is not None
    return places[:1] if len(places) > _MOST_MARKERS else places


def _exercise(name: str) -> str | None:
    """The exercise of this name, however it is written; it may be one of an earlier edition."""
    return next((each for each in GRADED if each.casefold() == name.casefold()), None)


def _breaks_apart(text: str, parts: list[str]) -> bool:
    """Whether a text that Python understands would be cut in the middle of a statement."""
    return read_code(text).error is None and any(read_code(part).error for part in parts)


def _unfenced(text: str) -> str:
    """A text cell with what stands outside its fences (``` or ~~~) made empty lines."""
    if not _FENCE.search(text):
        return text
    lines, inside, kept = text.split("\n"), False, []
    for line in lines:
        if _FENCE.match(line):
            inside = not inside
            kept.append("")
        else:
            kept.append(line if inside or _MARKER.match(line) else "")
    return "\n".join(kept)
