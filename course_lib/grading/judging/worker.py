"""Runs one batch in a worker: nbval in a child process, and again for what a crash took along.

`run_batch` takes a string and returns a string, so that any executor can carry it anywhere.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from course_lib.grading.judging import child
from course_lib.grading.judging.batches import RESULTS, AssignedExercise, Item, batch_notebook
from course_lib.grading.records import BadRecord, Judgement, Outcome
from course_lib.grading.version import grader_version

_OUTCOMES: dict[str, Outcome] = {"died": "died", "clock": "stopped-by-clock"}
MOST_BYTES_A_RESULT = 2**20
FOLDERS = "grading"  # how the names of the private folders begin; then comes whose they are


@dataclass(frozen=True)
class BatchLimits:
    """The clock and the memory that stop what the emulator's own budgets have missed."""

    seconds: float = 120.0  # of processor time, for one answer
    memory: int = 4 * 2**30  # bytes of address space for one kernel


@dataclass(frozen=True)
class Batch:
    """A job: answers to exercises of one notebook."""

    tasks: dict[str, AssignedExercise]
    items: tuple[Item, ...]
    seed: int
    limits: BatchLimits
    version: str = field(default_factory=grader_version)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Batch:
        fields = json.loads(text)
        return cls(
            tasks={name: AssignedExercise(**task) for name, task in fields["tasks"].items()},
            items=tuple(Item(**item) for item in fields["items"]),
            seed=fields["seed"],
            limits=BatchLimits(**fields["limits"]),
            version=fields["version"],
        )


@dataclass(frozen=True)
class BatchResult:
    """What came of a batch."""

    # by the item's number; every item's, unless there is a problem
    judgements: dict[int, Judgement] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what was found and ignored
    problem: str | None = None  # one sentence if the batch could not be run; never about an answer

    def to_json(self) -> str:
        judgements = [[number, each.to_json()] for number, each in sorted(self.judgements.items())]
        return json.dumps({"judgements": judgements, "notes": self.notes, "problem": self.problem})


def read_result(text: str, items: Sequence[Item]) -> BatchResult:
    """The result that `BatchResult.to_json` wrote; nothing in it is taken on trust."""
    fields = json.loads(text)
    judgements, notes = checked([tuple(each) for each in fields["judgements"]], items)
    return BatchResult(judgements, (*map(str, fields["notes"]), *notes), fields["problem"])


def checked(
    records: Sequence[tuple[Any, ...]], items: Sequence[Item]
) -> tuple[dict[int, Judgement], tuple[str, ...]]:
    """The records that are judgements of these items, and a note on each that is not."""
    exercises = {item.number: item.exercise for item in items}
    judgements: dict[int, Judgement] = {}
    notes = []
    for number, text in records:
        try:
            judgement = Judgement.from_json(text)
        except BadRecord as problem:
            notes.append(f"A result was ignored: {problem}"[:300])
            continue
        if type(number) is not int or number not in exercises:
            notes.append(f"A result was ignored: it is of no item of its batch ({number!r}).")
        elif judgement.exercise != exercises[number]:
            notes.append(f"A result was ignored: item {number} is of {exercises[number]}.")
        elif number in judgements:
            notes.append(f"A second result of item {number} was ignored.")
        else:
            judgements[number] = judgement
    return judgements, tuple(notes)


# --- running ----------------------------------------------------------------------------------


def run_batch(job: str) -> str:
    """Judge a batch. This is what an executor runs: `Batch` as JSON in, `BatchResult` out."""
    batch = Batch.from_json(job)
    if batch.version != grader_version():
        problem = "A worker has another version of the course; install the same one everywhere."
        return BatchResult(problem=problem).to_json()
    try:
        return _run(batch).to_json()
    except OSError as error:
        return BatchResult(problem=f"A batch could not be run: {error}.").to_json()


def _run(batch: Batch) -> BatchResult:
    """Run the batch until every item has a judgement, or it turns out that none can be had."""
    judgements: dict[int, Judgement] = {}
    notes: list[str] = []
    failures = 0
    while left := [item for item in batch.items if item.number not in judgements]:
        attempt = _attempt(batch, left)
        judgements |= attempt.judgements
        notes += attempt.notes
        if attempt.culprit is not None:
            alone = _alone(batch, attempt.culprit)
            judgements[attempt.culprit.number] = alone.judgements[attempt.culprit.number]
            notes += alone.notes
        elif not attempt.judgements:
            failures += 1
            if failures == 2:
                problem = f"nbval could not run a batch. It says: {attempt.said}"
                return BatchResult(judgements, tuple(notes), problem)
    return BatchResult(judgements, tuple(notes))


@dataclass(frozen=True)
class _Attempt:
    """One run of nbval; the culprit is the item at which it ended too early."""

    judgements: dict[int, Judgement]
    notes: tuple[str, ...] = ()
    culprit: Item | None = None
    why: str = ""
    said: str = ""


def _alone(batch: Batch, item: Item) -> _Attempt:
    """Run one item by itself; what then still ends too early is for a person to look at."""
    attempt = _attempt(batch, [item])
    if item.number in attempt.judgements:
        return attempt
    outcome = _OUTCOMES.get(attempt.why, "died")
    judgement = Judgement(item.exercise, needs_review=True, outcome=outcome)
    return _Attempt({item.number: judgement}, attempt.notes)


def _attempt(batch: Batch, items: Sequence[Item]) -> _Attempt:
    """Run nbval once over these items, in a folder that is gone afterwards."""
    prefix = f"{FOLDERS}-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        notebook = batch_notebook(batch.tasks, items, batch.seed)
        (folder / "batch.ipynb").write_text(notebook, encoding="ascii")
        limits = batch.limits
        ended = child.run(folder, len(items), limits.seconds, limits.memory)
        records, broken = _records(folder / RESULTS, len(items))
        judgements, notes = checked(records, items)
    culprits = [each for each in items if each.number == ended.item not in judgements]
    culprit = culprits[0] if culprits else None
    return _Attempt(judgements, (*broken, *notes), culprit, ended.why, ended.said)


def remove_leftovers() -> None:
    """Remove the folders of workers that were killed before they could tidy up."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}-*-*"):
        number = folder.name.split("-")[1]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _records(path: Path, items: int) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    """The lines that the cells wrote; a kernel that died may have left half of one."""
    if not path.exists():
        return [], ()
    with open(path, "rb") as file:
        lines = file.read(items * MOST_BYTES_A_RESULT).splitlines()
    records, notes = [], []
    for line in lines:
        try:
            fields = json.loads(line)
            records.append((fields["item"], fields["judgement"]))
        except (ValueError, TypeError, KeyError, RecursionError):
            notes.append("A line of results that cannot be read was ignored.")
    return records, tuple(notes)
