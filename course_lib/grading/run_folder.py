"""The folder that a run writes to: its journal, its sealed files, its lock, and its record."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from course_lib.grading.gradebook.class_list import Counted, some
from course_lib.grading.gradebook.outputs import FEEDBACK, FILES, FOR_MOODLE
from course_lib.grading.gradebook.which_counts import WhatCounts, what_changed, with_history
from course_lib.grading.records import MOST_SEED, BadRecord, CannotGrade, GradebookRow, Judgement
from course_lib.grading.sealed import (
    CHANGED_BY_HAND,
    PRIVATE,
    Damaged,
    FileSet,
    private_folder,
    sealed,
    unsealed,
    write_sealed,
    write_whole,
)
from course_lib.grading.version import grader_version

# --- The journal: judgements kept from run to run, one a line -------------------------------------
# A run may be killed at any moment. What stands in the journal completely is used by the next run,
# and anything else in it is passed over: each line begins with a checksum of the rest.


MOST_BYTES_A_LINE = 2**22
_DIGITS = 32


def key_of(exercise: str, text: str, context: str, seed: int) -> str:
    """A hash of everything that a judgement depends on."""
    parts = json.dumps([exercise, text, context, seed, grader_version()])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:_DIGITS]


class Journal:
    """The judgements of all runs so far, by key."""

    def __init__(self, path: Path) -> None:
        """Read what there is; `dropped` counts the lines that could not be used."""
        self.path = path
        self._file: IO[bytes] | None = None
        self._known: dict[str, Judgement] = {}
        self.dropped = 0
        if path.exists():
            self._read()

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Judgement:
        return self._known[key]

    def add(self, judgements: Mapping[str, Judgement]) -> None:
        """Remember these; they are on the disk when this returns.

        What a crash or a clock ended is remembered for this run only: the next one tries again.
        """
        self._known.update(judgements)
        lines = [
            _line(key, judgement)
            for key, judgement in judgements.items()
            if judgement.outcome == "judged"
        ]
        if lines:
            file = self._open()
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self) -> None:
        with open(self.path, "rb") as file:
            while line := file.readline(MOST_BYTES_A_LINE):
                try:
                    key, judgement = _record(line)
                except BadRecord:
                    self.dropped += 1
                else:
                    self._known[key] = judgement

    def _open(self) -> IO[bytes]:
        if self._file is None:
            self._file = open(self.path, "a+b")  # noqa: SIM115 (closed by close)
            os.chmod(self.path, PRIVATE)
            # The run before this one may have been killed in the middle of a line.
            if self._file.tell():
                self._file.seek(-1, os.SEEK_END)
                if self._file.read(1) != b"\n":
                    self._file.write(b"\n")
        return self._file


def _line(key: str, judgement: Judgement) -> bytes:
    record = f"{key} {judgement.to_json()}".encode("ascii")
    return _checksum(record) + b" " + record + b"\n"


def _record(line: bytes) -> tuple[str, Judgement]:
    checksum, _, record = line.rstrip(b"\n").partition(b" ")
    if checksum != _checksum(record):
        raise BadRecord("this line was not written completely, or was changed")
    key, _, text = record.decode("ascii").partition(" ")
    return key, Judgement.from_json(text)


def _checksum(record: bytes) -> bytes:
    return hashlib.sha256(record).hexdigest()[:_DIGITS].encode("ascii")


# --- The two sealed files -------------------------------------------------------------------------


WORK = ".work"
COUNTED = "counted.json"
ABOUT = {"seed", "exercises", "settings", "overrides"}


@dataclass(frozen=True)
class RunRecord:
    """What the last complete run left."""

    # its seed, exercises, settings, and where points are set by hand
    about: Mapping[str, Any] = field(default_factory=dict)
    counted: tuple[Counted, ...] = ()  # what counted of each student
    # the checksums of what stands at each name
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def sealed(self) -> bytes:
        counted = [record.stored() for record in self.counted]
        return sealed({"about": self.about, "counted": counted, "files": self.files})


def read_about(path: Path) -> dict[str, Any]:
    """What the runs into a folder are about.

    Raises Damaged if the file is not as a run has written it, FileNotFoundError if there is none.
    """
    return _about(unsealed(path.read_bytes()))


def _about(found: object) -> dict[str, Any]:
    if not isinstance(found, dict) or not {"seed"} <= set(found) <= ABOUT:
        raise Damaged
    if type(found["seed"]) is not int or not 0 <= found["seed"] <= MOST_SEED:
        raise Damaged
    return found


def read_record(out: Path, work: Path) -> RunRecord:
    """What the last complete run left; nothing if there was none.

    Raises CannotGrade if it is damaged or gone: then nobody knows what would be lost.
    """
    path = work / COUNTED
    try:
        found = unsealed(path.read_bytes())
        counted = tuple(Counted.restored(record) for record in found["counted"])
        return RunRecord(_about(found["about"]), counted, found["files"])
    except FileNotFoundError:
        if (work / "run.json").exists() and (out / "grades.csv").exists():
            raise CannotGrade(
                f"{out} contains grades, but {path} is gone, which says what was graded. Put back "
                "a copy, or choose another --out."
            ) from None
        return RunRecord()
    except (ValueError, TypeError, KeyError, AttributeError):  # Damaged is a ValueError
        raise CannotGrade(
            f"{path} is damaged. It says who has been graded there and on which exercises, so "
            "nothing was changed. Put back a copy, or choose another --out."
        ) from None


# --- The folder itself ----------------------------------------------------------------------------


class RunFolder:
    """OUT, for as long as one run uses it. The system takes the lock back from a killed run.

    What it holds in `.work`, for its owner's eyes alone:

        run.json      what a run is about: seed, exercises, settings, where points are set by hand
        counted.json  what the last complete run was about, what counted, which files it wrote
        journal.txt   all judgements so far
        lock          held while a run goes on
    """

    def __init__(self, out: Path, submissions: Path, command: str = "") -> None:
        """Claim the folder, and see that it is as the last complete run has left it.

        Submissions must not lie in it; `command` was typed, and goes into the history. Raises
        CannotGrade if it cannot be used; the message says why.
        """
        self.out = out
        self._command = command
        self._work = out / WORK
        self._run = self._work / "run.json"
        _check_place(out, submissions)
        if not self._work.exists():
            _check_files_of_others(out)
        try:
            private_folder(self._work)
            self._lock = _lock(self._work / "lock")
        except OSError as problem:
            raise _not_usable(out, problem) from None
        try:
            self._open()
        except OSError as problem:
            self._lock.close()
            raise _not_usable(out, problem) from None
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        _make_private(self.out)
        self._files = FileSet(self.out, self._work)
        self._record = read_record(self.out, self._work)
        self._about = self._known_about()
        self.journal = Journal(self._work / "journal.txt")

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()
        self._lock.close()

    def seed(self, wanted: int | None, may_draw: bool = True) -> int:
        """The seed of this folder: the one it has had since its first run, the wanted, a fresh one.

        Raises CannotGrade if another one is wanted than it has, or none may be drawn, or if this
        would be its first run and it holds files of others.
        """
        stored = self._about.get("seed")
        if stored is None:
            _check_files_of_others(self.out)
        if stored is None and wanted is None and not may_draw:
            raise CannotGrade(f"Nothing has been graded in {self.out} yet; do that first.")
        if stored is not None and wanted not in (None, stored):
            raise CannotGrade(
                f"{self.out} was graded with --seed {stored}; to continue with that seed, leave "
                f"out --seed {wanted}, or else choose another --out."
            )
        if stored is not None:
            return int(stored)
        return int.from_bytes(os.urandom(4), "little") if wanted is None else wanted

    def keep(
        self,
        seed: int,
        exercises: Sequence[str] | None,
        settings: Mapping[str, object] | None = None,
        overrides: Path | None = None,
    ) -> None:
        """Remember by what this run grades. Before that, a run has left nothing behind.

        A first run remembers it at once, so that the same command goes on with its seed; later ones
        when they come to their end: until then the tables are those of the run before.
        """
        about: dict[str, Any] = {"seed": seed}
        about["exercises"] = None if exercises is None else list(exercises)
        if settings:
            about["settings"] = dict(settings)
        if overrides is not None:
            about["overrides"] = str(overrides.resolve())
        if not self._run.exists():
            write_sealed(self._run, about if not self._record.about else self._record.about)
        self._about = about

    def counted(self) -> list[Counted]:
        """What counted in the last complete run."""
        return list(self._record.counted)

    def replace(
        self,
        write: Callable[[Path], None],
        choice: WhatCounts,
        rows: Sequence[GradebookRow],
        say: Callable[[str], None],
    ) -> None:
        """Put the results of a run in the place of what was there, all of them or none.

        `write` writes the files for the instructor into a folder; `say` is told every change of
        what counted, and what was changed by hand.
        """
        when = datetime.now(UTC).isoformat(timespec="seconds")
        counted = with_history(choice.counted, rows, when, self._command)

        def said(kept: list[str]) -> None:
            if kept:
                say(f"changed by hand since the last run, and kept: {', '.join(kept)}.")
            for sentence in what_changed(choice, counted):
                say(sentence)

        try:
            new = self._files.begin()
            write(new)
            record = RunRecord(self._about, tuple(counted), self._files.checksums())
            private_folder(new / WORK)
            write_whole(new / WORK / self._run.name, sealed(self._about))
            write_whole(new / WORK / COUNTED, record.sealed())
            known = self._record.files
            gone = [name for name in known if name not in record.files]
            self._files.replace(known, gone, said)
        except BaseException:
            with suppress(OSError):  # then the next run does it
                self._files.undo()
            raise

    def settings(self) -> dict[str, object]:
        """The choices of the course that the last run was given; see Settings.to_json."""
        found = self._about.get("settings")
        return found if isinstance(found, dict) else {}

    def overrides(self) -> Path | None:
        """The file that the last run took from what is set by hand."""
        found = self._about.get("overrides")
        return Path(found) if isinstance(found, str) else None

    def exercises(self) -> tuple[str, ...] | None:
        """What everyone was graded on last; None if each was on what they handed in."""
        found = self._about.get("exercises")
        return tuple(map(str, found)) if isinstance(found, list) else None

    def _known_about(self) -> dict[str, Any]:
        """What the runs here are about; nothing before the first one.

        Raises CannotGrade if the file that says so is damaged: then another seed would be drawn,
        and what was set by hand be left out.
        """
        try:
            return read_about(self._run)
        except FileNotFoundError:
            if self._record.counted and not self._record.about:
                raise CannotGrade(
                    f"{self.out} contains grades, but {self._run}, which contains their seed and "
                    "settings, is gone. Put back a copy, or choose another --out."
                ) from None
            return dict(self._record.about)
        except Damaged:
            raise CannotGrade(f"{self._run} is damaged, {self._way_on()}") from None

    def _way_on(self) -> str:
        if self._record.about:
            return (
                "so nothing was changed. Delete it, and the same command continues with the seed "
                f"and settings in {self._work / COUNTED}, which contains them as well."
            )
        if self._record.counted or (self.out / "grades.csv").exists():
            return (
                "and no other file contains the seed and the settings, so nothing was changed. Put "
                "back a copy, or choose another --out."
            )
        return (
            "and nothing has been graded there yet. Delete it, and the same command starts again."
        )


def _not_usable(out: Path, problem: OSError) -> CannotGrade:
    path = Path(str(problem.filename or out))
    if out / WORK in path.parents:
        return CannotGrade(
            f"{path} cannot be read or written ({problem.strerror}); fix this, and give the same "
            "command again."
        )
    return CannotGrade(f"{out} cannot be written to ({problem.strerror}); choose another --out.")


def _make_private(out: Path) -> None:
    """Close to others what somebody has opened."""
    paths = [out / FOR_MOODLE]
    for folder in (out / WORK, out / FEEDBACK, out / CHANGED_BY_HAND):
        if folder.is_dir() and not folder.is_symlink():
            private_folder(folder)
            paths += folder.iterdir()
    for path in paths:
        if path.is_file() and not path.is_symlink():
            path.chmod(PRIVATE)


def _check_place(out: Path, submissions: Path) -> None:
    if out.exists() and not out.is_dir():
        raise CannotGrade(f"{out} is a file; --out names a folder.")
    here, there = out.resolve(), submissions.resolve()
    if here == there or there in here.parents:
        raise CannotGrade(
            f"{out} is among the submissions; choose an --out that is not inside {submissions}."
        )
    if here / WORK in (there, *there.parents):
        raise CannotGrade(f"{submissions} is inside {out / WORK}, which belongs to the grader.")


def _check_files_of_others(out: Path) -> None:
    """A first run must not replace or remove what somebody else has put there."""
    pages = (path.relative_to(out) for path in sorted((out / "feedback").glob("*.html")))
    there = [name for name in FILES if os.path.lexists(out / name)] + [str(page) for page in pages]
    if len(there) > 1:
        raise CannotGrade(
            f"{out} contains grades ({some(there)}), but {out / WORK}, which contains the seed, "
            "the appeals and the history, is gone. Put back a copy, or choose another --out."
        )
    if there:
        raise CannotGrade(
            f"{out} contains {there[0]}, which the grader did not write. Choose another --out, or "
            "move that file away."
        )


def _lock(path: Path) -> IO[bytes]:
    """Hold the file's lock until it is closed, or this process is gone."""
    file = open(path, "ab")  # noqa: SIM115 (held until the run ends)
    os.chmod(path, PRIVATE)
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise CannotGrade(
            f"Another run is grading into {path.parent.parent}; wait for it, or choose another "
            "--out."
        ) from None
    return file
