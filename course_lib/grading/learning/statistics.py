"""What a class has learned, item by item, in a table that leaves no names.

For each item: the share that answered it rightly (its difficulty), how well it tells those who did
well on all other items from those who did not (the point-biserial correlation with the sum of the
others), and, from test to test, the share of what was lacking that was gained: (after - before) /
(1 - before), Hake's normalised gain. A number that stands for fewer than five people is left out.
"""

import csv
import io
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.grading.engine import Grader
from course_lib.grading.intake.submissions import each_submission
from course_lib.grading.learning.forms import (
    FORMS,
    POSTTEST,
    PRETEST,
    AnsweredItem,
    ItemForm,
    answers_to,
)
from course_lib.grading.learning.item_pairs import PAIRS
from course_lib.grading.records import CannotGrade, GradebookRow

FEWEST = 5  # people that a number stands for
FEW, UNDEFINED = f"<{FEWEST}", "undefined"
COLUMNS = "test item idea students unanswered right discrimination most_wrong gain".split()
ALL, KERNEL = "all items", "kernel"


@dataclass(frozen=True)
class Sitting:
    """A test that somebody has taken."""

    student: str  # the name
    answers: tuple[AnsweredItem, ...]
    kernel: float | None = None  # the share of its points; None while they are open

    @property
    def share(self) -> float:
        """Of the items that are right."""
        return sum(answer.right for answer in self.answers) / len(self.answers)


def write_items(
    path: Path,
    grader: Grader,
    given: Path,
    rows: Sequence[GradebookRow],
    pretest: Path | None = None,
) -> str:
    """Write the table, and return a sentence on whom it is about.

    `pretest` is what the same class had handed in before the course, whose kernels are judged; None
    for one test alone. Raises CannotGrade if there is no test in what was given, or nobody took
    both.
    """
    if pretest is None:
        form = next((form for form in FORMS.values() if _taken(form, given)), None)
        if form is None:
            raise CannotGrade(f"{given} contains no answers to a test, so nothing was written.")
        tests = {form.name: _taken(form, given, rows)}
        about = f"{len(tests[form.name])} who took the {form.name}"
    else:
        submissions = list(each_submission(pretest))
        earlier = grader.rows(grader.find(submissions, (PRETEST.exercise.id,)))
        before, after = _taken(PRETEST, pretest, earlier), _taken(POSTTEST, given, rows)
        both = sorted(_only_ones(before) & _only_ones(after))
        if not both:
            raise CannotGrade(
                f"Nobody has answered the pretest in {pretest} and, under the same name, the "
                f"posttest in {given}, so nothing was written."
            )
        tests = {
            form.name: [sitting for name in both for sitting in taken if sitting.student == name]
            for form, taken in ((PRETEST, before), (POSTTEST, after))
        }
        about = f"{len(both)} who took both tests, of {len(before)} and {len(after)}"
    path.write_text(_table(tests), encoding="utf-8", newline="")
    return f"Item statistics of {about}, without names: {path}."


def _taken(form: ItemForm, path: Path, rows: Sequence[GradebookRow] = ()) -> list[Sitting]:
    """The students who have answered something, with the result of their kernel."""
    shares = {
        row.submission.key: float(row.points / row.max_points)
        for row in rows
        if row.exercise == form.exercise.id and row.points is not None
    }
    found = ((submission, answers_to(form, submission)) for submission in each_submission(path))
    return [
        Sitting(submission.student.casefold(), answers, shares.get(submission.key))
        for submission, answers in found
        if answers
    ]


def _only_ones(sittings: Iterable[Sitting]) -> set[str]:
    """The names that one student has: a platform's numbers may change from test to test."""
    times = Counter(sitting.student for sitting in sittings)
    return {name for name in times if times[name] == 1}


# --- The table ----------------------------------------------------------------------------------


def _table(tests: Mapping[str, Sequence[Sitting]]) -> str:
    """The file's text: a line for each item, one for all of them, one for the kernel."""
    text = io.StringIO(newline="")
    lines = csv.DictWriter(text, COLUMNS, restval="")
    lines.writeheader()
    for name, sittings in tests.items():
        # Where there are two tests, they have the same students in the same order.
        earlier = tests.get(PRETEST.name, []) if name == POSTTEST.name else []
        lines.writerows({"test": name, **line} for line in _lines(sittings, earlier))
    return text.getvalue()


def _lines(sittings: Sequence[Sitting], earlier: Sequence[Sitting]) -> Iterator[dict[str, str]]:
    for place, pair in enumerate(PAIRS):
        answers = [sitting.answers[place] for sitting in sittings]
        right = [float(answer.right) for answer in answers]
        others = [
            float(sum(answer.right for answer in sitting.answers)) - own
            for sitting, own in zip(sittings, right, strict=True)
        ]
        before = [float(first.answers[place].right) for first in earlier]
        wrong = Counter(answer.said for answer in answers if answer.said and not answer.right)
        yield {
            "item": str(place + 1),
            "idea": pair.idea,
            "unanswered": _people(sum(not answer.said for answer in answers)),
            "discrimination": _discrimination(right, others),
            "most_wrong": _most(wrong),
            **_shares(right, before),
        }
    whole = [sitting.share for sitting in sittings]
    yield {"item": ALL, **_shares(whole, [first.share for first in earlier])}
    both = zip(sittings, earlier or sittings, strict=True)
    kernels = [(now.kernel, first.kernel) for now, first in both]
    known = [(now, first) for now, first in kernels if now is not None and first is not None]
    were = [first for _, first in known]
    yield {"item": KERNEL, **_shares([now for now, _ in known], were if earlier else [])}


def _shares(shares: Sequence[float], before: Sequence[float]) -> dict[str, str]:
    """The number of students, their mean share, and what they have gained since before."""
    line = {"students": _people(len(shares)), "right": _mean(shares)}
    return line if not before else {**line, "gain": _gain(before, shares)}


def _people(number: int) -> str:
    return FEW if 0 < number < FEWEST else str(number)


def _mean(shares: Sequence[float]) -> str:
    return FEW if len(shares) < FEWEST else _shown(statistics.fmean(shares))


def _discrimination(right: Sequence[float], others: Sequence[float]) -> str:
    """The corrected point-biserial correlation, of at least five right and five wrong answers."""
    if min(right.count(1), right.count(0)) < FEWEST:
        return FEW
    return UNDEFINED if len(set(others)) == 1 else _shown(statistics.correlation(right, others))


def _gain(before: Sequence[float], after: Sequence[float]) -> str:
    """The normalised gain, if at least five were not all right before."""
    if sum(share < 1 for share in before) < FEWEST:
        return FEW
    first, second = statistics.fmean(before), statistics.fmean(after)
    return _shown((second - first) / (1 - first))


def _most(wrong: Counter[str]) -> str:
    """The wrong answer that most students have given, if at least five have."""
    common = [answer for answer, times in sorted(wrong.items()) if times >= FEWEST]
    return max(common, key=lambda answer: wrong[answer], default="")


def _shown(number: float) -> str:
    return f"{number:.3f}"
