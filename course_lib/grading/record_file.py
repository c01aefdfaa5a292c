"""The two sealed files of a folder of grades, and how the version before has kept the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.grading.errors import CannotGrade
from course_lib.grading.gradebook.class_list import Counted, without_history
from course_lib.grading.sealed import Damaged, checksum, sealed, unsealed

WORK = ".work"
COUNTED = "counted.json"
MOST_SEED = 2**32 - 1
ABOUT = {"seed", "exercises", "settings", "overrides"}
# The version before had the class here without a history, and each file that it ever wrote.
CLASS_BEFORE, WRITTEN_BEFORE = "class.json", "written.txt"
OF_THE_VERSION_BEFORE = (f"{WORK}/{CLASS_BEFORE}", f"{WORK}/{WRITTEN_BEFORE}")


@dataclass(frozen=True)
class RunRecord:
    """What the last complete run has left.

    Attributes:
        about: its seed, exercises, settings, and where points are set by hand.
        counted: what counted of each student.
        files: the checksums of what stands at each name.
    """

    about: Mapping[str, Any] = field(default_factory=dict)
    counted: tuple[Counted, ...] = ()
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def sealed(self) -> bytes:
        counted = [each.stored() for each in self.counted]
        return sealed({"about": self.about, "counted": counted, "files": self.files})


def read_about(path: Path) -> dict[str, Any]:
    """What the runs into a folder are about.

    Raises:
        Damaged: if the file is not as a run has written it.
        FileNotFoundError: if there is none.
    """
    data = path.read_bytes()
    try:
        return _about(unsealed(data))
    except Damaged:
        return _about(_plain(data))  # the version before kept no checksum


def _plain(data: bytes) -> object:
    try:
        return json.loads(data.decode("ascii"))
    except (ValueError, RecursionError):
        raise Damaged from None


def _about(found: object) -> dict[str, Any]:
    if not isinstance(found, dict) or not {"seed"} <= set(found) <= ABOUT:
        raise Damaged
    if type(found["seed"]) is not int or not 0 <= found["seed"] <= MOST_SEED:
        raise Damaged
    return found


def read_record(out: Path, work: Path) -> RunRecord:
    """What the last complete run has left; nothing if there was none.

    Raises:
        CannotGrade: if it is damaged or gone: then nobody knows what would be lost.
    """
    path = work / COUNTED
    try:
        found = unsealed(path.read_bytes())
        counted = tuple(Counted.restored(each) for each in found["counted"])
        return RunRecord(_about(found["about"]), counted, found["files"])
    except FileNotFoundError:
        return _of_the_version_before(out, work)
    except (ValueError, TypeError, KeyError, AttributeError):  # Damaged is a ValueError
        raise _unreadable(path) from None


def _of_the_version_before(out: Path, work: Path) -> RunRecord:
    path = work / CLASS_BEFORE
    try:
        listed = json.loads(path.read_text(encoding="ascii"))
        counted = tuple(without_history(*each) for each in listed)
    except FileNotFoundError:
        if (work / "run.json").exists() and (out / "grades.csv").exists():
            raise CannotGrade(
                f"{out} holds grades, but {work / COUNTED} is gone, which says on what; put back a "
                "copy, or choose another --out."
            ) from None
        return RunRecord()
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _unreadable(path) from None
    return RunRecord({}, counted, _written_before(out, work / WRITTEN_BEFORE))


def _written_before(out: Path, log: Path) -> dict[str, list[str]]:
    written: dict[str, list[str]] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        digits, _, name = line.partition(" ")
        written.setdefault(name, []).append(digits)
    archive = out / "moodle_feedback.zip"  # the one file that was not in the log
    if archive.is_file():
        written[archive.name] = [checksum(archive.read_bytes())]
    return written


def _unreadable(path: Path) -> CannotGrade:
    return CannotGrade(
        f"{path} is damaged, and it says who has been graded there, and on what, so nothing was "
        "changed; put back a copy, or choose another --out."
    )
