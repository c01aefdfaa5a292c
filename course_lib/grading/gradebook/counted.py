"""What counted of each student, as a folder of grades keeps it, with the history of every row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from course_lib.grading.gradebook.safe_text import one_line
from course_lib.grading.records import FoundAnswer, Submission, SubmittedFile
from course_lib.grading.sealed import checksum

SHOWN_DIGITS = 8  # of an answer's checksum
Graded = tuple[Submission, tuple[FoundAnswer, ...]]


@dataclass(frozen=True)
class Event:
    """Since when something about a row is as it is.

    Attributes:
        when: a time in UTC, as ISO 8601 has it.
        command: what was typed.
        file: where the answer stood.
        digest: its checksum; empty if there was none.
        points: what counts of it, as decimal digits; None while they are open.
        verdict: the row's.
        why: what else than the verdict has made the points what they are, a few words each.
    """

    when: str
    command: str
    file: str | None
    digest: str
    points: str | None
    verdict: str
    why: tuple[str, ...] = ()

    def since(self, before: Event | None) -> str:
        """The verdict, and why the points are others than before."""
        now = [_beginning(each) for each in self.why]
        gone = [_beginning(each) for each in (before.why if before else ())]
        no_longer = [f"no longer {each}" for each in gone if each not in now]
        return "; ".join([self.verdict, *self.why, *no_longer])

    @property
    def is_like(self) -> tuple[object, ...]:
        """What two events have in common between which nothing happened."""
        return self.digest, self.points, self.verdict


@dataclass(frozen=True)
class Counted:
    """What counts of one student.

    Attributes:
        submission: whose it is; its files are those in which the answers stand.
        answers: one for each exercise.
        named: the exercises whose answer was given with `--only`.
        in_class: the command of the class was given something by this student.
        history: what happened to each row, the oldest first.
        replaced: the answers that counted before, by their checksums: the file may be gone.
    """

    submission: Submission
    answers: tuple[FoundAnswer, ...] = ()
    named: frozenset[str] = frozenset()
    in_class: bool = True
    history: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)

    @property
    def graded(self) -> Graded:
        return self.submission, self.answers

    def answer(self, exercise: str) -> FoundAnswer | None:
        return next((each for each in self.answers if each.exercise == exercise), None)

    def stored(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "submission": asdict(self.submission),
            "answers": [asdict(each) for each in self.answers],
            "named": sorted(self.named),
            "in_class": self.in_class,
            "history": {
                name: [asdict(event) for event in events] for name, events in self.history.items()
            },
            "replaced": dict(self.replaced),
        }

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Counted:
        """What `stored` has put down; errors of any kind where it is something else."""
        return cls(
            *_graded(stored["submission"], stored["answers"]),
            frozenset(stored["named"]),
            stored["in_class"],
            {
                name: tuple(_record(Event, each) for each in events)
                for name, events in stored["history"].items()
            },
            stored["replaced"],
        )


def without_history(submission: dict[str, Any], answers: list[dict[str, Any]]) -> Counted:
    """As the version before has put it down, which kept no history and knew no `named`."""
    return Counted(*_graded(submission, answers))


def _graded(submission: dict[str, Any], answers: list[dict[str, Any]]) -> Graded:
    files = tuple(_record(SubmittedFile, each) for each in submission["files"])
    whose = _record(Submission, {**submission, "files": files})
    return whose, tuple(_record(FoundAnswer, each) for each in answers)


def _record(kind: Any, values: dict[str, Any]) -> Any:
    """A record whose lists are tuples again."""
    if not set(values) <= {each.name for each in fields(kind)}:
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
