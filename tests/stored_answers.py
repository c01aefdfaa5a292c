"""Read right and wrong answers, many of which are stored as what they change in another one.

A file of tests/styles/answers holds the right ones to one exercise, a file of tests/mutants/answers
the wrong ones, each under its name:

    === _base_1
    import numpy as np
    …                                             the whole text
    === assigned_not_added: _base_1
    ~ acc += => acc =  # <- accumulator-error
    === no_barrier: assigned_not_added
    -        cuda.syncthreads()
             for k in range(TILE):
    @@
    +    C[y, x] = acc
         return

What begins with an underscore is no answer, only a base of others. A wrong answer may change a
right one to the same exercise. The marks (`# <- …`) of a base are not those of its change.

A row with a tilde writes something else in place of a part of a line that stands once in the
base, `~2` in the second of its places. Where there is no arrow, the row only marks its line; where
nothing is behind the arrow, the line goes. Other edits are written as `diff` writes them: a space,
a minus or a plus, and then the line. Lines with a space or a minus stand together in the base, in
one place; those with a minus go, those with a plus come. A line `@@` parts one such edit from the
next. Blank lines around an answer don't count, and the two above a function are left out.

A file of tests/tasks changes the answers of a lesson's tasks in the same way. There a head names
the task, and the edits up to the one with a mark are a slip: the mark says what it must be told and
at which line (with `(shows)`, the cause is another one), and goes from the text. A line that begins
with `# ` is a comment.

So do the files of tests/diagnosis; there a head names a base, too. Behind a mark's colon, or below
it behind `? `, stand words that the message must hold, behind `?? ` those of the hint, and behind
`?! ` such as the message must not hold. The code `passed` is that of an answer that is right.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent
RIGHT, WRONG = TESTS / "styles/answers", TESTS / "mutants/answers"
_HEAD = re.compile(r"=== (?P<name>\w+)(?:: (?P<base>\w+))?")
_EXCHANGE = re.compile(
    r"~(?P<place>\d*) (?P<old>.+?)(?P<arrow> =>(?: (?P<new>.+?))?)?(?P<mark>  # <- .+)?"
)
_MARK = re.compile(
    r"\s*# <- (?P<code>[\w-]+)(?: \(seed (?P<seed>\d+)\))?"
    r"(?P<flag> \([a-z ]+\))?(?:: (?P<says>.+))?.*"
)
_FUNCTION = re.compile(r"\n((?:@.*\n)*def )")
NEXT = "@@"

# The exercises by what it costs to judge an answer, the cheapest first.
BY_COST = (
    "mat_add matmul_naive matmul_coalesced pick_a_tile transpose_tiled block_scan "
    "matmul_column_major matmul_tiled blocks_per_sm matmul_1d matmul_wide matmul_2d "
    "matmul_warp_tiled matmul_two_buffers matmul_async matmul_mma matmul_tma "
    "attention_mma attention"
).split()
# Whose answers are judged in well under a second.
CHEAP = frozenset(BY_COST[:6])


class UnreadableAnswers(ValueError):
    """A file of answers says something that can't be read; the message says what."""


def right_answers() -> dict[tuple[str, str], str]:
    """Exercise and name -> text, of all right answers, sorted."""
    return _all(RIGHT)


def wrong_answers() -> dict[tuple[str, str], str]:
    """Exercise and name -> text, of all wrong answers, sorted."""
    return _all(WRONG)


def right_answers_to(exercise: str) -> Mapping[str, str]:
    """Name -> text, of the right answers to one exercise, sorted by name."""
    return _of(RIGHT, exercise)


def wrong_answers_to(exercise: str) -> Mapping[str, str]:
    """Name -> text, of the wrong answers to one exercise, sorted by name."""
    return _of(WRONG, exercise)


class Slip(NamedTuple):
    """A wrong answer to a task, and what it must be told at which line."""

    text: str
    code: str
    line: int
    seed: int
    flag: str
    says: list[str]  # with the `? `, `?? ` or `?! ` in front


def slips_in(file: str, answers: Mapping[str, str]) -> dict[str, list[Slip]]:
    """Task -> its slips, as one file has them.

    Args:
        file: its text.
        answers: the right one of each task, and other bases.
    """
    found: dict[str, list[Slip]] = {}
    for task, name, lines in _parts(file):
        base, edits = answers[name or task].splitlines(), []
        slips = found.setdefault(task, [])
        for edit in _edits(line for line in lines if not line.startswith("# ")):
            if edit[0].startswith("?"):
                slips[-1].says.append(edit[0])
                continue
            edits.append(edit)
            if "# <- " in "".join(edit):
                marked, edits = _changed(base, edits), []
                found_at = enumerate(map(_MARK.search, marked), 1)
                [(line, mark)] = [(at, each) for at, each in found_at if each]
                text = _MARK.sub("", "\n".join(marked)) + "\n"
                says = ["? " + mark["says"]] if mark["says"] else []
                flag = (mark["flag"] or "").strip(" ()")
                slips.append(Slip(text, mark["code"], line, int(mark["seed"] or 0), flag, says))
    return found


def _all(folder: Path) -> dict[tuple[str, str], str]:
    exercises = sorted(path.stem for path in folder.glob("*.txt"))
    return {
        (exercise, name): text
        for exercise in exercises
        for name, text in _of(folder, exercise).items()
    }


@cache
def _of(folder: Path, exercise: str) -> Mapping[str, str]:
    """Without what is only a base."""
    texts = _stored(folder, exercise)
    return {
        name: _FUNCTION.sub(r"\n\n\n\1", texts[name])
        for name in sorted(texts)
        if not name.startswith("_")
    }


@cache
def _stored(folder: Path, exercise: str) -> Mapping[str, str]:
    others = _stored(RIGHT, exercise) if folder == WRONG else {}
    return read((folder / f"{exercise}.txt").read_text(encoding="utf-8"), others)


def read(file: str, others: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Name -> text, of the answers in one file, without blank lines above functions.

    Args:
        file: its text.
        others: what they may change besides those that stand above them.

    Raises:
        UnreadableAnswers: naming the answer.
    """
    found: dict[str, str] = {}
    for name, base, lines in _parts(file):
        if name in found:
            raise UnreadableAnswers(f"{name} stands there twice")
        text = found.get(base, others.get(base)) if base else ""
        if text is None:
            raise UnreadableAnswers(f"{name} changes {base}, which does not stand above it")
        try:
            old = _MARK.sub("", text).splitlines()
            whole = _changed(old, _edits(lines)) if base else lines
        except UnreadableAnswers as problem:
            raise UnreadableAnswers(f"{name}: {problem}") from None
        found[name] = "\n".join(whole) + "\n"
    return found


def _parts(file: str) -> Iterator[tuple[str, str | None, list[str]]]:
    """Name, base and lines of each answer."""
    heads = [*re.finditer(rf"^{_HEAD.pattern}$", file, re.M)]
    ends = [each.start() for each in heads[1:]] + [len(file)]
    for head, end in zip(heads, ends, strict=True):
        yield head["name"], head["base"], file[head.end() : end].strip("\n").split("\n")


def _changed(base: list[str], edits: Iterable[list[str]]) -> list[str]:
    """The lines of a base after its edits.

    Raises:
        UnreadableAnswers: if an edit's old lines stand nowhere in the base, or several times.
    """
    whole = list(base)
    for edit in edits:
        if edit[0].startswith("~"):
            _exchange(whole, edit[0])
            continue
        old = [line[1:] for line in edit if line[:1] != "+"]
        new = [line[1:] for line in edit if line[:1] != "-"]
        places = places_of(old, whole)
        if len(places) != 1:
            raise UnreadableAnswers(f"these lines stand {len(places)} times in the base: {old}")
        whole[places[0] : places[0] + len(old)] = new
    return whole


def _exchange(whole: list[str], row: str) -> None:
    """Change the line that a row with a tilde names."""
    found = _EXCHANGE.fullmatch(row)
    if not found:
        raise UnreadableAnswers(f"this row says nothing: {row!r}")
    old = found["old"]
    places = [
        (number, each.start())
        for number, line in enumerate(whole)
        for each in re.finditer(re.escape(old), line)
    ]
    place = int(found["place"] or 1)
    if place > len(places) or (not found["place"] and len(places) > 1):
        raise UnreadableAnswers(f"this stands {len(places)} times in the base: {old}")
    number, start = places[place - 1]
    new = found["new"] or "" if found["arrow"] else old
    line = whole[number]
    line = line[:start] + new + line[start + len(old) :] + (found["mark"] or "")
    whole[number : number + 1] = [line] if line.strip() else []


def _edits(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines of each edit; a row with a tilde is one alone."""
    edit: list[str] = []
    for line in [*lines, NEXT]:
        if line[:1] in ("+", "-", " ", ""):
            edit.append(line)
            continue
        if edit:
            yield edit
        edit = []
        if line[:1] in ("~", "?"):
            yield [line]
        elif line != NEXT:
            raise UnreadableAnswers(f"a line of an edit begins with none of ~, +, -: {line!r}")


def places_of(old: list[str], whole: list[str]) -> list[int]:
    """Where these lines stand together."""
    return [at for at in range(len(whole) - len(old) + 1) if whole[at : at + len(old)] == old]
