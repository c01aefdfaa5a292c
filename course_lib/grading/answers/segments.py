"""The cells of a submission as Python, cut into segments where the answer to an exercise begins.

`intake/reading.py` makes cells of bytes; `search.py` chooses among the segments.

The text is parsed and never executed. What Jupyter does to a cell before Python sees it (magics,
prompts, a common indent) is undone line by line, so that line numbers stay those of the cell.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from course_lib.curriculum import Exercise
from course_lib.emulator.budget import MAX_SOURCE_CHARACTERS
from course_lib.emulator.language.bindings import ANY, Binding
from course_lib.grading.answers.statements import Statement, statements_of
from course_lib.grading.records import GRADED, Submission, SubmittedFile, TextCell

# Cell magics whose cell Python runs; below any other one, a cell is text.
# `%%timeit` runs it too, but in a function of its own, where nothing stays.
_RUNS = re.compile(r"(?:time|capture|prun|python3?|debug|script python3?)(?!\w)")
MAX_STATEMENTS = 1_000  # in one cell, not counting those in functions
_MAGIC = re.compile(r"[ \t]*(?:[%!?].*|[\w.%]+\?{1,2}[ \t]*)")
_BINDS = re.compile(r"[ \t]*%(?:run|store|macro|cython|autoreload)\b")  # whatever name
_GIVEN = re.compile(r"([ \t]*[\w, \t]+=[ \t]*)(?=[%!][\w!(])")  # files = !ls
_TIMED = re.compile(r"([ \t]*)%time(?:it)?[ \t]+(?=[^ \t-])")


@dataclass(frozen=True)
class CellCode:
    """A cell as Python."""

    text: str  # with what is no Python made a comment
    statements: tuple[Statement, ...] = ()  # what it says; empty if it is not valid
    error: str | None = None  # why it is not valid, in a few words with the line, or None
    is_too_long: bool = False  # it is not valid because no more than this is read
    was_run: bool = True  # Python would have run it, below its cell magic
    repairs: tuple[str, ...] = ()  # what was made a comment, one sentence each
    commands: tuple[Binding, ...] = ()  # what commands to Jupyter bind, such as `%run other.py`


def read_code(text: str) -> CellCode:
    """What a cell's text says to Python; never raises."""
    code = _read(text)
    if code.is_too_long:
        return code
    if code.error is None:
        return _unpacked_cell_magic(code)
    plain, was_run, changed = _without_jupyter(text)
    if plain == text:
        return code
    lines = text.split("\n")
    commands = tuple(
        Binding(ANY, number, f"by `{lines[number - 1].split()[0]}`")
        for number in changed
        if _BINDS.match(lines[number - 1])
    )
    repairs: tuple[str, ...] = ()
    if changed:
        repairs = (f"Commands to Jupyter were skipped ({listed_lines(changed)}).",)
    return replace(_read(plain), was_run=was_run, repairs=repairs, commands=commands)


def _read(text: str) -> CellCode:
    if len(text) > MAX_SOURCE_CHARACTERS:
        return _too_long(text, f"{MAX_SOURCE_CHARACTERS:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if len(tree.body) > MAX_STATEMENTS:
            return _too_long(text, f"{MAX_STATEMENTS:,} statements")
        return CellCode(text, tuple(statements_of(tree)))
    except SyntaxError as error:
        return CellCode(text, error=f"line {error.lineno}: {error.msg}")
    except (ValueError, MemoryError, RecursionError):
        return CellCode(text, error="it is nested too deeply")


def _too_long(text: str, most: str) -> CellCode:
    return CellCode(text, error=f"it has more than {most}", is_too_long=True)


# --- Without Jupyter's magics, prompts and indents ---------------------------------------------


def _without_jupyter(text: str) -> tuple[str, bool, list[int]]:
    """The cell as Python, whether it is run, and the lines that were changed."""
    lines = _without_prompts(text.split("\n"))
    lines = _without_indent(lines)
    was_run, first, changed = True, True, []
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if first and stripped.startswith("%%"):
            was_run = bool(_RUNS.match(stripped[2:].strip())) or stripped == "%%"
        first = first and (not stripped or stripped.startswith(("%%", "#")))
        timed = _TIMED.match(line)
        given = _GIVEN.match(line)
        if timed and not stripped.startswith("%%"):
            lines[number - 1] = timed[1] + line[timed.end() :]
        elif given:  # IPython puts a call there, too
            lines[number - 1] = f"{given[1]}get_ipython()  # {line[given.end() :]}"
        elif _MAGIC.fullmatch(line):
            lines[number - 1] = "# " + line
        else:
            continue
        changed.append(number)
    return "\n".join(lines), was_run, changed


def listed_lines(numbers: Sequence[int]) -> str:
    """ "line 3", or "lines 3, 4 and 9", or the first few of many."""
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if len(numbers) > 6:
        return f"lines {', '.join(map(str, numbers[:5]))} and {len(numbers) - 5} more"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _without_prompts(lines: list[str]) -> list[str]:
    first = next((line for line in lines if line.strip()), "")
    if not first.startswith(">>>"):
        return lines
    return [re.sub(r"^(?:>>>|\.\.\.) ?", "", line) for line in lines]


def _without_indent(lines: list[str]) -> list[str]:
    """Without the first line's indent on all lines, as IPython does it."""
    first = next((line for line in lines if line.strip() and line.strip()[0] not in "#%!"), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return lines
    return [line.removeprefix(indent) for line in lines]


def _unpacked_cell_magic(code: CellCode) -> CellCode:
    """A script exported by Jupyter holds a cell with a cell magic as one long string."""
    if "run_cell_magic" not in code.text or len(code.statements) != 1:
        return code
    match ast.parse(code.text).body:
        case [ast.Expr(ast.Call(ast.Attribute(attr="run_cell_magic"), [name, _, body]))]:
            if isinstance(name, ast.Constant) and isinstance(body, ast.Constant):
                if isinstance(body.value, str):
                    was_run = bool(_RUNS.match(str(name.value)))
                    return replace(_read(body.value), was_run=was_run)
    return code


# --- Segments, cut at the markers of exercises, in their order ------------------------------------


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
    """A cell, or the part of one that begins at a marker."""

    order: int  # its place among all segments of the submission
    file: int  # the place of its file
    label: str  # the label of its file
    cell: int  # the number of its cell
    text: str  # of the whole segment; lines of the cell above it are empty, so that lines agree
    marker: str | None  # the exercise that it says it answers
    is_code: bool  # the front end takes it for code
    in_lesson: bool = False  # it stands in a notebook of a lesson, whose kernels are ours
    # it stands below "Break it", where the exercise asks for broken copies
    is_experiment: bool = False
    continued_in: tuple[int, ...] = ()  # the cells that were joined to it, because it was split

    @cached_property
    def code(self) -> CellCode:
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
        return [statement for statement in self.code.statements if name in statement.binds]


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
    return next(
        (known_name for known_name in GRADED if known_name.casefold() == name.casefold()), None
    )


def _breaks_apart(text: str, parts: list[str]) -> bool:
    """Whether a text that Python understands would be cut in the middle of a statement."""
    return read_code(text).error is None and any(read_code(part).error for part in parts)


def _unfenced(text: str) -> str:
    """A text cell with all lines emptied that are not between fences (``` or ~~~)."""
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


# --- How an answer is recognised: one function, or some constants ---------------------------------


class Form:
    """How to recognise the answer to an exercise: a function of its name, or some numbers."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.names = exercise.names_to_define
        # It may be found by its name anywhere.
        self.is_one_function = exercise.kind.is_function

    def _definitions(self, segment: Segment) -> list[Statement]:
        bound = segment.binding(self.exercise.id)
        return [statement for statement in bound if statement.kind == "function" or statement.makes]

    def is_defined_in(self, segment: Segment) -> bool:
        """Whether everything that is asked for is there, complete or not."""
        if self.is_one_function:
            return bool(self._definitions(segment))
        if not all(map(segment.mentions, self.names)):
            return False
        statements = segment.code.statements
        bound = frozenset[str]().union(*(statement.binds for statement in statements))
        # With a kernel in it, it is the answer to another exercise that has such constants.
        return bound.issuperset(self.names) and not any(
            statement.kind == "function" for statement in statements
        )

    def is_changed_in(self, segment: Segment, given: frozenset[str]) -> bool:
        """Whether what is defined there is more than what was given."""
        if self.is_one_function:
            last = self._definitions(segment)[-1]
            return not last.is_stub and last.shape not in given
        return not given or shapes_of(self.names, segment.code) != given

    def is_attempted_in(self, segment: Segment, marked: bool) -> bool:
        """Whether a cell without the definition still tries to answer."""
        if self.is_one_function:
            return bool(segment.binding(self.exercise.id)) or self.is_begun_in(segment)
        return marked and any(map(segment.binding, self.names))

    def is_begun_in(self, segment: Segment) -> bool:
        """Whether the first line of a function is there, readable or not."""
        pattern = rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{self.exercise.id}[ \t]*\("
        return self.is_one_function and bool(re.search(pattern, segment.text, re.MULTILINE))


def shapes_of(names: Collection[str], code: CellCode) -> frozenset[str]:
    """What tells whether an answer is still the one that was given."""
    return frozenset(
        statement.shape for statement in code.statements if statement.binds.intersection(names)
    )
