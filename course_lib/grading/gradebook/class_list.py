"""The class: what counted of each student, with its history, and who is who from run to run."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from course_lib.grading.gradebook.tables import one_line
from course_lib.grading.records import CannotGrade, FoundAnswer, Submission, SubmittedFile
from course_lib.grading.sealed import checksum
from course_lib.wording.words import counted

SHOWN_DIGITS = 8  # of an answer's checksum
Graded = tuple[Submission, tuple[FoundAnswer, ...]]


@dataclass(frozen=True)
class Event:
    """When and why something about a row became what it is."""

    when: str  # a time in UTC, as ISO 8601 has it
    command: str  # what was typed
    file: str | None  # where the answer stood
    digest: str  # its checksum; empty if there was none
    points: str | None  # what counts of it, as decimal digits; None while they are open
    verdict: str  # the row's
    # what else than the verdict has made the points what they are, a few words each
    why: tuple[str, ...] = ()

    def since(self, before: Event | None) -> str:
        """The verdict, and why the points are others than before."""
        now = [_beginning(reason) for reason in self.why]
        gone = [_beginning(reason) for reason in (before.why if before else ())]
        no_longer = [f"no longer {reason}" for reason in gone if reason not in now]
        return "; ".join([self.verdict, *self.why, *no_longer])

    @property
    def is_like(self) -> tuple[object, ...]:
        """What two events share if nothing happened between them."""
        return self.digest, self.points, self.verdict


@dataclass(frozen=True)
class Counted:
    """What counts of one student."""

    submission: Submission  # whose it is; its files are those in which the answers stand
    answers: tuple[FoundAnswer, ...] = ()  # one for each exercise
    named: frozenset[str] = frozenset()  # the exercises whose answer was given with `--only`
    in_class: bool = True  # the command of the class was given something by this student
    # what happened to each row, the oldest first
    history: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    # the answers that counted before, by their checksums: the file may be gone
    replaced: Mapping[str, str] = field(default_factory=dict)

    @property
    def graded(self) -> Graded:
        return self.submission, self.answers

    def answer(self, exercise: str) -> FoundAnswer | None:
        return next((answer for answer in self.answers if answer.exercise == exercise), None)

    def stored(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "named": sorted(self.named)}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Counted:
        """The object that `stored` wrote down; errors of any kind where it is something else."""
        return cls(
            *_graded(stored["submission"], stored["answers"]),
            frozenset(stored["named"]),
            stored["in_class"],
            {
                name: tuple(_record(Event, event) for event in events)
                for name, events in stored["history"].items()
            },
            stored["replaced"],
        )


def _graded(submission: dict[str, Any], answers: list[dict[str, Any]]) -> Graded:
    files = tuple(_record(SubmittedFile, file) for file in submission["files"])
    whose = _record(Submission, {**submission, "files": files})
    return whose, tuple(_record(FoundAnswer, answer) for answer in answers)


def _record(kind: Any, values: dict[str, Any]) -> Any:
    """A record whose lists have become tuples again."""
    if not set(values) <= {field.name for field in fields(kind)}:
        raise ValueError(f"no {kind.__name__}")
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


def digest_of(answer: FoundAnswer | None) -> str:
    """The checksum of an answer that can be judged; empty for any other."""
    if answer is None or answer.problem is not None:
        return ""
    return checksum(answer.text.encode("utf-8", "surrogatepass"))


def _beginning(reason: str) -> str:
    return reason.partition(":")[0]


def shown(points: str | None) -> str:
    return "open" if points is None else points


def history_lines(events: Sequence[Event]) -> Iterator[str]:
    """A history in words, the oldest first: "8 → 10 points (passed), when, which, by what"."""
    before: Event | None = None
    for event in events:
        changed = before is not None and before.points != event.points
        from_ = f"{shown(before.points)} → " if before is not None and changed else ""
        where = f"{event.file or 'no answer'}"
        digest = f" [{event.digest[:SHOWN_DIGITS]}]" if event.digest else ""
        when = event.when.replace("T", " ").removesuffix("+00:00")
        yield (
            f"{when} UTC: {from_}{shown(event.points)} points ({event.since(before)}), "
            f"{one_line(where)}{digest}, by `{one_line(event.command)}`"
        )
        before = event


MOST_NAMES = 5
HOW_TO_ADD = (
    "With `--only`, a run grades only what you give it and keeps everybody else's grades. A new "
    "answer then counts until you give another one with `--only`. To start again from nothing, "
    "choose another --out."
)


# --- Who is who in the submissions to several runs ----------------------------------------------


def chosen(
    found: Sequence[Graded], names: Sequence[str], earlier: Sequence[Graded]
) -> list[Graded]:
    """Those of `found` that are called so, by key or by name; all if there are no names.

    What was handed in apart from the platform is taken for that of whoever is called so in the
    class; so is a single submission whose name is nobody's, such as 05.ipynb. Raises CannotGrade
    for a name that nobody has, or that several have.
    """
    if not names:
        return list(found)
    if len(names) == len(found) == 1 and len(meant := called(names[0], earlier)) == 1:
        others = called(found[0][0].student, earlier)
        if not others or meant[0] in others:
            return [_theirs(found[0], names[0], earlier)]
    wanted = list(dict.fromkeys(_apart(names, found)))
    for name in wanted:
        if not called(name, found):
            raise CannotGrade(f"--only: {_why_nobody(name, wanted, found, earlier)}")
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
    """The students of this key, which only one has, or of this name."""
    folded = name.casefold()
    by_key = [graded for graded in found if graded[0].key.casefold() == folded]
    return by_key or [graded for graded in found if graded[0].student.casefold() == folded]


def _the_one(name: str, found: Sequence[Graded]) -> Graded:
    meant = called(name, found)
    if len(meant) == 1:
        return meant[0]
    keys = ", ".join(submission.key for submission, _ in meant)
    raise CannotGrade(
        f"--only: {name!r} is the name of {len(meant)} submissions; name one: {keys}."
    )


def _why_nobody(
    name: str, wanted: Sequence[str], found: Sequence[Graded], earlier: Sequence[Graded]
) -> str:
    """Why nothing that was given is taken for that of this name."""
    if not called(name, earlier):
        known = list(dict.fromkeys(submission.student for submission, _ in (*earlier, *found)))
        near = " or ".join(difflib.get_close_matches(name, known, n=2))
        there = f"did you mean {near}?" if near else f"there are {some(known)}."
        return f"nobody is called {name!r}; {there}"
    if len(found) == 1 and called(found[0][0].student, earlier):
        return (
            f"the file that you gave has the name of {found[0][0].student}, not of {name!r}; "
            "rename it if it belongs to that student."
        )
    if len(found) == 1:
        return f"you gave one submission, so name one student, not {len(wanted)}."
    return f"nothing was handed in by {name!r}."


def matched(
    found: Sequence[Graded], earlier: Sequence[Counted], by_name: bool
) -> tuple[list[tuple[Graded, Counted | None]], list[Counted]]:
    """What was handed in with what counted of the same student, and what counted of others.

    A platform's number tells who it is, else the name of a file or folder. Where only one of the
    two has a number, a name that nobody else has tells it, too: then the number stays. Raises
    CannotGrade if something was given with `--only` under a name that several have.
    """
    rest = {identity(record.submission): record for record in earlier}
    names = Counter(record.submission.student.casefold() for record in earlier)
    given = Counter(submission.student.casefold() for submission, _ in found)
    befores = [rest.pop(identity(submission), None) for submission, _ in found]
    pairs: list[tuple[Graded, Counted | None]] = []
    for (submission, answers), before in zip(found, befores, strict=True):
        name = submission.student.casefold()
        if before is None and names[name] == given[name] == 1:
            before = next((e for e in rest.values() if _are_one(e.submission, submission)), None)
            if before is not None:
                del rest[identity(before.submission)]
        elif before is None and by_name and names[name] > 1 and not submission.platform_id:
            keys = [e.submission.key for e in earlier if e.submission.student.casefold() == name]
            raise CannotGrade(
                f"--only: {submission.student!r} is the name of {len(keys)} students in the class; "
                f"give the file alone, and name one: {', '.join(keys)}."
            )
        if before is not None and not submission.platform_id:
            there = before.submission
            submission = replace(there, files=submission.files, problem=submission.problem)
        pairs.append(((submission, answers), before))
    return pairs, list(rest.values())


def _are_one(there: Submission, here: Submission) -> bool:
    """Of one name, and at most one of them with a number."""
    is_one_name = there.student.casefold() == here.student.casefold()
    return is_one_name and not (there.platform_id and here.platform_id)


def identity(submission: Submission) -> object:
    """What a student's submissions to several runs have in common."""
    if submission.platform_id:
        return submission.platform, submission.platform_id
    return submission.key


def refuse_two_of_a_name(everybody: Sequence[Submission], graded: Collection[str]) -> None:
    """Make sure that nobody's files would replace another student's.

    Raises CannotGrade if two different submissions would have one name.
    """
    keys = Counter(submission.key.casefold() for submission in everybody)
    for key in graded:
        if keys[key.casefold()] > 1:  # as a folder that is called like a number there
            raise CannotGrade(
                f"{key} is not the submission that was graded under this name; choose another "
                "--out."
            )


def refuse_losses(
    pairs: Sequence[tuple[Graded, Counted | None]], rest: Sequence[Counted], out: object
) -> None:
    """Make sure that a run without `--only` leaves out no row that the class had.

    Raises CannotGrade with one sentence about what would be lost, and what to do.
    """
    gone = [record.submission.student for record in rest if record.in_class]
    if gone:
        raise CannotGrade(
            f"{out} also contains grades of {counted(len(gone), 'submission')} that this run was "
            f"not given ({some(gone)}), so nothing was changed. {HOW_TO_ADD}"
        )
    lost = list(dict.fromkeys(_lost_exercises(pairs)))
    if lost:
        raise CannotGrade(
            f"{out} also contains grades for {some(lost)}, which you did not name this time, so "
            "nothing was changed. Name all exercises, or choose another --out."
        )


def _lost_exercises(pairs: Sequence[tuple[Graded, Counted | None]]) -> Iterator[str]:
    for (_, answers), before in pairs:
        asked = {answer.exercise for answer in answers} | {""}
        for answer in before.answers if before else ():
            if before and answer.exercise not in asked | before.named:
                yield answer.exercise


def some(names: Sequence[str], between: str = ", ") -> str:
    """The first of these, and how many more there are."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return between.join(names[:MOST_NAMES]) + more


def without_cells(submission: Submission) -> Submission:
    """A submission without the text that nobody looks at once its answers are found."""
    return replace(submission, files=tuple(replace(file, cells=()) for file in submission.files))
