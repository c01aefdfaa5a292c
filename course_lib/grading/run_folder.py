"""The folder that a run writes to: is it usable, is it free, which seed has it, what is known."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from course_lib.grading.errors import CannotGrade
from course_lib.grading.gradebook.class_list import Counted, some
from course_lib.grading.gradebook.outputs import FEEDBACK, FILES, FOR_MOODLE
from course_lib.grading.gradebook.which_counts import WhatCounts, what_changed, with_history
from course_lib.grading.judging.journal import Journal
from course_lib.grading.record_file import (
    COUNTED,
    WORK,
    RunRecord,
    read_about,
    read_record,
)
from course_lib.grading.records import GradebookRow
from course_lib.grading.sealed import (
    CHANGED_BY_HAND,
    PRIVATE,
    Damaged,
    FileSet,
    private_folder,
    sealed,
    write_sealed,
    write_whole,
)


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

        Args:
            out: the folder.
            submissions: what is graded, which must not lie in it.
            command: what was typed, for the history.

        Raises:
            CannotGrade: if it cannot be used; the message says why.
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

        Raises:
            CannotGrade: if another one is wanted than it has, or none may be drawn, or if this
                would be its first run and it holds files of others.
        """
        stored = self._about.get("seed")
        if stored is None:
            _check_files_of_others(self.out)
        if stored is None and wanted is None and not may_draw:
            raise CannotGrade(f"Nothing is graded in {self.out} yet; do that first.")
        if stored is not None and wanted not in (None, stored):
            raise CannotGrade(
                f"{self.out} was graded with --seed {stored}; leave --seed {wanted} out to go on "
                "with that, or choose another --out."
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
        """Remember what this run grades by. Before that, a run has left nothing behind.

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
        """Put what a run has come to in the place of what was there, all of it or nothing.

        Args:
            write: writes the files for the instructor into a folder.
            choice: what counts now.
            rows: the gradebook.
            say: told every change of what counted, and what was changed by hand.
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

        Raises:
            CannotGrade: if the file that says so is damaged: then another seed would be drawn, and
                what was set by hand be left out.
        """
        try:
            return read_about(self._run)
        except FileNotFoundError:
            if self._record.counted and not self._record.about:
                raise CannotGrade(
                    f"{self.out} holds grades, but {self._run} is gone, which says with which "
                    "seed and settings; put back a copy, or choose another --out."
                ) from None
            return dict(self._record.about)
        except Damaged:
            raise CannotGrade(f"{self._run} is damaged, {self._way_on()}") from None

    def _way_on(self) -> str:
        if self._record.about:
            return (
                f"so nothing was changed; delete it, and the same command goes on with seed and "
                f"settings from {self._work / COUNTED}, which holds them, too."
            )
        if self._record.counted or (self.out / "grades.csv").exists():
            return (
                "and it alone says with which seed and settings was graded, so nothing was "
                "changed; put back a copy, or choose another --out."
            )
        return "and nothing is graded there yet; delete it, and the same command begins anew."


def _not_usable(out: Path, problem: OSError) -> CannotGrade:
    path = Path(str(problem.filename or out))
    if out / WORK in path.parents:
        return CannotGrade(
            f"{path} cannot be read or written ({problem.strerror}); put that right, and give the "
            "same command again."
        )
    return CannotGrade(f"{out} cannot be written to ({problem.strerror}); choose another --out.")


def _make_private(out: Path) -> None:
    """Shut what somebody has opened to others."""
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
            f"{out} lies among the submissions; choose an --out that is not inside {submissions}."
        )
    if here / WORK in (there, *there.parents):
        raise CannotGrade(f"{submissions} lies in {out / WORK}, which belongs to the grader.")


def _check_files_of_others(out: Path) -> None:
    """A first run must not replace or remove what somebody else has put there."""
    pages = (path.relative_to(out) for path in sorted((out / "feedback").glob("*.html")))
    there = [name for name in FILES if os.path.lexists(out / name)] + [str(each) for each in pages]
    if len(there) > 1:
        raise CannotGrade(
            f"{out} holds grades ({some(there)}), but {out / WORK}, which holds seed, appeals and "
            "history, is gone; put back a copy, or choose another --out."
        )
    if there:
        raise CannotGrade(
            f"{out} holds {there[0]}, which no run of the grader has written there; choose another "
            "--out, or move that file away."
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
