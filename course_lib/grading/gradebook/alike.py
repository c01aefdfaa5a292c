"""Answers of several students that are equal, or nearly so, in what is unusual about them.

A hint for a person, and never a verdict. Most right answers to a small task look alike, and so do
many wrong ones; that two of them agree says nothing then. So a piece of an answer counts only if
neither the course's own code has it nor many others in the class, and two answers are named only if
they share enough of what is left. How many have the same answer is said beside it.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from course_lib.building.exercises import answer_cells
from course_lib.building.notebook import BuildError, read, source
from course_lib.curriculum import TASKS
from course_lib.grading.gradebook.safe_text import for_spreadsheet
from course_lib.grading.gradebook.structure import Structure, structure_of
from course_lib.grading.graded import GRADED
from course_lib.grading.records import GradebookRow
from course_lib.grading.settings import OUR_NOTEBOOKS, Settings

FEW = 24  # pieces, some four places: who shares fewer unusual ones may have had the same idea
SHARE = 0.8  # of the unusual pieces that either has
COMMON_SHARE, COMMON_LEAST = 0.25, 2  # more different answers than that have a piece: it is usual
STANDARD_LEAST = 3  # more equal answers than that, and than COMMON_SHARE, are simply the usual one
MOST_OF_A_CLASS = 200  # hints; in a larger list nobody would look
WORD_FOR_WORD = "names and comments"
COLUMNS = ("exercise", "submissions", "alike", "also", "with_this_answer", "answers")


@dataclass(frozen=True)
class Alike:
    """Some answers that a person may want to compare.

    Attributes:
        exercise: the id.
        keys: of the submissions, sorted.
        share: of the unusual pieces that either has, how many both have; 1 if they are equal.
        equal: they have one structure.
        also: what agrees besides: "names", or "names and comments".
        usual: how many answers have this structure, if they are equal.
        answers: how many of the class were compared.
    """

    exercise: str
    keys: tuple[str, ...]
    share: float
    equal: bool
    also: str
    usual: int
    answers: int

    @property
    def said(self) -> str:
        """How alike they are, in a few words."""
        return "equal" if self.equal else f"{100 * self.share:.0f} % of what is unusual"


def alike(rows: Iterable[GradebookRow], settings: Settings) -> list[Alike]:
    """Everything that is worth a look, exercise by exercise, what agrees most first."""
    ours = _own_texts(settings.notebooks)
    answers: dict[str, dict[str, Structure]] = defaultdict(dict)
    for row in rows:
        if row.answer is not None and row.answer.problem is None and row.exercise in GRADED:
            found = structure_of(row.answer.text)
            if found is not None:
                answers[row.exercise][row.submission.key] = found
    hints = [
        hint
        for exercise in sorted(answers, key=settings.place)
        for hint in _of_exercise(exercise, answers[exercise], ours.get(exercise, []))
    ]
    return hints[:MOST_OF_A_CLASS]


def _own_texts(exercises: Path) -> dict[str, list[str]]:
    """What the course itself gives or publishes for each exercise: stubs and solutions."""
    found: dict[str, list[str]] = defaultdict(list)
    theirs = {exercises, exercises.parent / "solutions"}
    for folder in sorted(theirs | {OUR_NOTEBOOKS, OUR_NOTEBOOKS.parent / "solutions"}):
        for path in sorted(folder.glob("*.ipynb")):
            try:
                cells = answer_cells(read(path))
            except (OSError, BuildError):
                continue
            for name, cell in cells.items():
                found[name].append(source(cell))
    for name, task in TASKS.items():
        found[name] += [task.given, task.answer, task.another]
    return found


def _of_exercise(
    exercise: str, answers: Mapping[str, Structure], ours: Sequence[str]
) -> list[Alike]:
    """The hints about one exercise."""
    known = [each for text in ours if (each := structure_of(text))]
    published = {each.whole for each in known}
    given = frozenset[str]().union(*(each.pieces for each in known))
    groups: dict[str, list[str]] = defaultdict(list)
    for key, each in answers.items():
        groups[each.whole].append(key)
    own = {  # what is left of each different answer
        whole: answers[keys[0]].pieces - given
        for whole, keys in groups.items()
        if whole not in published
    }
    found = []
    for whole, keys in groups.items():
        also = _also(answers, keys)
        many = len(keys) > max(STANDARD_LEAST, COMMON_SHARE * len(answers))
        usual = many and also != WORD_FOR_WORD
        if len(keys) > 1 and len(own.get(whole, ())) >= FEW and not usual:
            group = tuple(sorted(keys))
            found.append(Alike(exercise, group, 1.0, True, also, len(keys), len(answers)))
    for one, other, share in _near(own):  # groups of equal answers are named by themselves
        pair = tuple(sorted((min(groups[one]), min(groups[other]))))
        found.append(Alike(exercise, pair, share, False, "", 1, len(answers)))
    return sorted(found, key=lambda each: (not each.equal, -each.share, each.keys))


def _near(own: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str, float]]:
    """Pairs of different answers that share most of what few have, and how much of it."""
    count = Counter(piece for pieces in own.values() for piece in pieces)
    most = max(COMMON_LEAST, COMMON_SHARE * len(own))
    rare = {
        whole: frozenset(piece for piece in pieces if count[piece] <= most)
        for whole, pieces in own.items()
    }
    holders: dict[str, list[str]] = defaultdict(list)
    for whole in sorted(rare):
        for piece in rare[whole]:
            holders[piece].append(whole)
    shared = Counter(pair for each in holders.values() for pair in combinations(each, 2))
    for (one, other), both in shared.items():
        share = both / len(rare[one] | rare[other])
        if both >= FEW and share >= SHARE:
            yield one, other, share


def _also(answers: Mapping[str, Structure], keys: Sequence[str]) -> str:
    first, *others = (answers[key] for key in keys)
    if any(each.words != first.words for each in others):
        return ""
    if first.remarks and all(each.remarks == first.remarks for each in others):
        return WORD_FOR_WORD
    return "names"


def alike_csv(hints: Sequence[Alike], called: Mapping[str, str]) -> str | None:
    """The hints as a table; None if there are none."""
    if not hints:
        return None
    text = io.StringIO()
    table = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    table.writerow(COLUMNS)
    for each in hints:
        names = for_spreadsheet("; ".join(called[key] for key in each.keys))
        usual = each.usual if each.equal else ""
        table.writerow([each.exercise, names, each.said, each.also, usual, each.answers])
    return text.getvalue()
