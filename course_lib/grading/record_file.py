"""The two sealed files of a folder of grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.grading.errors import CannotGrade
from course_lib.grading.gradebook.class_list import Counted
from course_lib.grading.sealed import Damaged, sealed, unsealed

WORK = ".work"
COUNTED = "counted.json"
MOST_SEED = 2**32 - 1
ABOUT = {"seed", "exercises", "settings", "overrides"}


@dataclass(frozen=True)
class RunRecord:
    """What the last complete run has left."""

    # its seed, exercises, settings, and where points are set by hand
    about: Mapping[str, Any] = field(default_factory=dict)
    counted: tuple[Counted, ...] = ()  # what counted of each student
    # the checksums of what stands at each name
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
    return _about(unsealed(path.read_bytes()))


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
        if (work / "run.json").exists() and (out / "grades.csv").exists():
            raise CannotGrade(
                f"{out} holds grades, but {path} is gone, which says on what; put back a copy, or "
                "choose another --out."
            ) from None
        return RunRecord()
    except (ValueError, TypeError, KeyError, AttributeError):  # Damaged is a ValueError
        raise CannotGrade(
            f"{path} is damaged, and it says who has been graded there, and on what, so nothing "
            "was changed; put back a copy, or choose another --out."
        ) from None
