"""Who was graded in a folder, and on which answers: what a later run may add to, and never loses.

The answers stand in it as text, without points or verdicts. So whoever is not in the input of a run
is judged and weighed like all others: by the journal where nothing has changed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from course_lib.grading.errors import CannotGrade
from course_lib.grading.records import FoundAnswer, Submission, SubmittedFile
from course_lib.words import counted

Graded = tuple[Submission, tuple[FoundAnswer, ...]]
MOST_NAMES = 5
HOW_TO_ADD = (
    "With `--only`, a run grades what it is given and keeps everybody else; another --out starts "
    "afresh."
)


def read_class(path: Path) -> list[Graded]:
    """Whom the last complete run has graded; nobody if there was none.

    Raises:
        CannotGrade: if the list is there but cannot be read: then nobody knows what would be lost.
    """
    try:
        return [_graded(*each) for each in json.loads(path.read_text(encoding="ascii"))]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError, AttributeError):
        raise CannotGrade(
            f"{path} is damaged, and it says who has been graded there; choose another --out."
        ) from None


def write_class(path: Path, graded: Sequence[Graded]) -> None:
    """Replace the list in one step."""
    listed = [
        [asdict(submission), [asdict(each) for each in answers]] for submission, answers in graded
    ]
    fresh = path.with_suffix(".new")
    with fresh.open("w", encoding="ascii") as file:
        json.dump(listed, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def _graded(submission: dict[str, Any], answers: list[dict[str, Any]]) -> Graded:
    files = tuple(_record(SubmittedFile, each) for each in submission["files"])
    whose = _record(Submission, {**submission, "files": files})
    return whose, tuple(_record(FoundAnswer, each) for each in answers)


def _record(kind: Any, values: dict[str, Any]) -> Any:
    """A record whose lists are tuples again."""
    known = {each.name for each in fields(kind)}
    if set(values) != known:
        raise ValueError(f"no {kind.__name__}")
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


# --- joining two runs ---------------------------------------------------------------------------


def chosen(
    found: Sequence[Graded], names: Sequence[str], earlier: Sequence[Graded]
) -> list[Graded]:
    """Those of `found` that are called so, by key or by name; all if there are no names.

    What was handed in apart from the platform is taken for that of whoever is called so in the
    class; so is a single submission whose name is nobody's, such as 05.ipynb.

    Raises:
        CannotGrade: for a name that nobody has, or that several have.
    """
    if not names:
        return list(found)
    if len(names) == len(found) == 1 and not called(found[0][0].student, earlier):
        if len(called(names[0], earlier)) == 1:
            return [_theirs(found[0], names[0], earlier)]
    wanted = dict.fromkeys(_apart(names, found))
    return [_theirs(_the_one(name, found), name, earlier) for name in wanted]


def _theirs(graded: Graded, name: str, earlier: Sequence[Graded]) -> Graded:
    """A submission under the number that the platform has for its student."""
    submission, answers = graded
    known = called(name, earlier)
    if submission.platform_id or len(known) != 1:
        return graded
    theirs = known[0][0]
    return replace(theirs, files=submission.files, problem=submission.problem), answers


def _apart(names: Sequence[str], found: Sequence[Graded]) -> Iterator[str]:
    """The names, those taken apart that have commas between them: "ada,bo", but not "Bo, Ada"."""
    for name in names:
        if called(name, found):
            yield name
        else:
            yield from filter(None, map(str.strip, name.split(","))) if "," in name else [name]


def called(name: str, found: Sequence[Graded]) -> list[Graded]:
    """Those who are called so: by key, which only one is, or by name."""
    folded = name.casefold()
    by_key = [each for each in found if each[0].key.casefold() == folded]
    return by_key or [each for each in found if each[0].student.casefold() == folded]


def _the_one(name: str, found: Sequence[Graded]) -> Graded:
    meant = called(name, found)
    if len(meant) == 1:
        return meant[0]
    if not meant:
        raise CannotGrade(f"--only: nothing was handed in by {name!r}.")
    keys = ", ".join(each.key for each, _ in meant)
    raise CannotGrade(
        f"--only: {name!r} is the name of {len(meant)} submissions; name one: {keys}."
    )


def with_earlier(now: Sequence[Graded], earlier: Sequence[Graded]) -> list[Graded]:
    """These, and everything that is known of others and of their other exercises.

    Raises:
        CannotGrade: if two different submissions would have one name.
    """
    before = {identity(submission): (submission, answers) for submission, answers in earlier}
    joined = []
    for submission, answers in now:
        _, old = before.pop(identity(submission), (None, ()))
        there = {each.exercise for each in answers} | {""}  # "": about no exercise
        joined.append((submission, answers + tuple(a for a in old if a.exercise not in there)))
    joined += before.values()
    keys = Counter(submission.key.casefold() for submission, _ in joined)
    for submission, _ in now:
        if keys[submission.key.casefold()] > 1:  # as a folder that is called like a number there
            raise CannotGrade(
                f"{submission.key} is another submission than the one that was graded under this "
                "name; choose another --out."
            )
    return joined


def what_changes(now: Sequence[Graded], earlier: Sequence[Graded]) -> str:
    """Who is graded anew, who comes in, and how many stay, as a sentence."""
    before = {identity(who) for who, _ in earlier}
    there = {identity(who) for who, _ in now}
    again = [who.student for who, _ in now if identity(who) in before]
    fresh = [who.student for who, _ in now if identity(who) not in before]
    parts = [f"graded again: {_some(again)}"] if again else []
    parts += [f"new: {_some(fresh)}"] if fresh else []
    stay = counted(len(before - there), "other submission")
    return f"{'; '.join([*parts, f'{stay} kept'])}."


def identity(submission: Submission) -> object:
    """What a student's submissions to several runs have in common."""
    if submission.platform_id:
        return submission.platform, submission.platform_id
    return submission.key


def refuse_losses(now: Sequence[Graded], earlier: Sequence[Graded], out: Path) -> None:
    """See that a run without `--only` replaces no row that it does not make anew.

    Raises:
        CannotGrade: with one sentence about what would be lost, and what to do.
    """
    rows = {(identity(who), answer.exercise) for who, answers in now for answer in answers}
    there = {identity(who) for who, _ in now}
    gone = [who.student for who, _ in earlier if identity(who) not in there]
    if gone:
        raise CannotGrade(
            f"{out} also holds grades of {counted(len(gone), 'submission')} that this run was not "
            f"given ({_some(gone)}), so nothing was changed. {HOW_TO_ADD}"
        )
    lost = dict.fromkeys(_lost_exercises(rows, earlier))
    if lost:
        raise CannotGrade(
            f"{out} also holds grades for {_some(list(lost))}, which this run was not asked for, "
            "so nothing was changed. Name all exercises, or choose another --out."
        )


def _lost_exercises(rows: set[tuple[object, str]], earlier: Sequence[Graded]) -> Iterator[str]:
    for who, answers in earlier:
        for each in answers:
            if each.exercise and (identity(who), each.exercise) not in rows:
                yield each.exercise


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def without_cells(submission: Submission) -> Submission:
    """A submission without the text that nobody looks at once its answers are found."""
    return replace(submission, files=tuple(replace(each, cells=()) for each in submission.files))
