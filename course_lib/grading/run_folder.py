"""The folder that a run writes to: is it usable, is it free, which seed has it, what is known."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from course_lib.grading.errors import CannotGrade
from course_lib.grading.gradebook.class_list import Graded, read_class, write_class
from course_lib.grading.gradebook.hand_changes import Written
from course_lib.grading.gradebook.outputs import FILES
from course_lib.grading.judging.journal import Journal

WORK = ".work"
MOST_SEED = 2**32 - 1


class RunFolder:
    """OUT, for as long as one run uses it. The system takes the lock back from a killed run."""

    def __init__(self, out: Path, submissions: Path) -> None:
        """Claim the folder.

        Raises:
            CannotGrade: if it cannot be used; the message says why.
        """
        self.out = out
        self._work = out / WORK
        self._run = self._work / "run.json"
        self._class = self._work / "class.json"
        self.written = Written(out, self._work / "written.txt")
        self._kept = False
        _check_place(out, submissions)
        try:
            self._work.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(self._work / "lock")
            _remove_parts(out)
            self.journal = Journal(self._work / "journal.txt")
        except OSError as problem:
            raise CannotGrade(
                f"{out} cannot be written to ({problem.strerror}); choose another --out."
            ) from None

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
        stored = _stored_seed(self._run)
        if stored is None and wanted is None and not may_draw:
            raise CannotGrade(f"Nothing is graded in {self.out} yet; do that first.")
        if stored is not None and wanted not in (None, stored):
            raise CannotGrade(
                f"{self.out} was graded with --seed {stored}; leave --seed {wanted} out to go on "
                "with that, or choose another --out."
            )
        if stored is not None:
            return stored
        if not self._run.exists():
            _check_files_of_others(self.out)
        return int.from_bytes(os.urandom(4), "little") if wanted is None else wanted

    def keep(
        self,
        seed: int,
        exercises: Sequence[str] | None,
        settings: Mapping[str, object] | None = None,
        overrides: Path | None = None,
    ) -> None:
        """Remember what this run grades by, once. Before that, a run has left nothing behind."""
        if self._kept:
            return
        known: dict[str, object] = {"seed": seed}
        known["exercises"] = None if exercises is None else list(exercises)
        if settings:
            known["settings"] = dict(settings)
        if overrides is not None:
            known["overrides"] = str(overrides.resolve())
        fresh = self._run.with_suffix(".new")
        fresh.write_text(json.dumps(known) + "\n", encoding="ascii")
        os.replace(fresh, self._run)
        self._kept = True

    def graded(self) -> list[Graded]:
        """Whom the last complete run has graded, and on which answers.

        Raises:
            CannotGrade: if there are grades, but nothing that says whose.
        """
        if not self._class.exists() and self._run.exists() and (self.out / "grades.csv").exists():
            raise CannotGrade(
                f"{self.out} holds grades, but {self._class} is gone, which says on what; choose "
                "another --out."
            )
        return read_class(self._class)

    def remember(self, graded: Sequence[Graded]) -> None:
        """Keep what the next run must not lose; before anything is written from it."""
        write_class(self._class, graded)

    def settings(self) -> dict[str, object]:
        """The choices of the course that the last run was given; see Settings.to_json."""
        found = _stored(self._run).get("settings")
        return found if isinstance(found, dict) else {}

    def overrides(self) -> Path | None:
        """The file that the last run took from what is set by hand."""
        found = _stored(self._run).get("overrides")
        return Path(found) if isinstance(found, str) else None

    def exercises(self) -> tuple[str, ...] | None:
        """What everyone was graded on last; None if each was on what they handed in."""
        found = _stored(self._run).get("exercises")
        return tuple(map(str, found)) if isinstance(found, list) else None


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


def _remove_parts(out: Path) -> None:
    """Remove what a killed run has left half written; see outputs."""
    for folder in (out, out / "feedback"):
        for part in folder.glob(".part-*"):
            part.unlink(missing_ok=True)


def _check_files_of_others(out: Path) -> None:
    """A first run must not replace or remove what somebody else has put there."""
    pages = (path.relative_to(out) for path in sorted((out / "feedback").glob("*.html")))
    there = [name for name in FILES if os.path.lexists(out / name)] + [str(each) for each in pages]
    if there:
        raise CannotGrade(
            f"{out} holds {there[0]}, which no run of the grader has written there; choose another "
            "--out, or move that file away."
        )


def _stored(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _stored_seed(path: Path) -> int | None:
    seed = _stored(path).get("seed")
    return seed if type(seed) is int and 0 <= seed <= MOST_SEED else None


def _lock(path: Path) -> IO[bytes]:
    """Hold the file's lock until it is closed, or this process is gone."""
    file = open(path, "ab")  # noqa: SIM115 (held until the run ends)
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
