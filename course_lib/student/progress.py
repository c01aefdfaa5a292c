"""The record of what a student has passed, kept in one file beside the course: progress.json.

The file holds, for each task and exercise, whether it is passed, the text of the answer, what its
run counted, how often the check said no, and whether an answer was shown. It is data: nothing in
it is ever executed. Only a person in a notebook or at a prompt has such a file; tests and servers
neither read nor write it, and then all this is remembered for the session alone.

To carry it along, copy the file: on Colab it lies in the file browser on the left, and is
downloaded and uploaded there.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import math
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from course_lib.student import front_end

SETTING = "MATMUL_LADDER_PROGRESS"  # "off", or the file to use
HOME_SETTING = "MATMUL_LADDER_HOME"
NAME = "progress.json"
LARGEST = 8 << 20  # bytes; a student's answers have a hundredth of it
LONGEST = 40_000  # characters of an answer
_ID = re.compile(r"[A-Za-z_]\w{0,79}", re.ASCII)
_LESSON = re.compile(r"\d\d[a-z]?", re.ASCII)
_ANSWERS = "answers"

Raw = dict[str, Any]


@dataclass(frozen=True)
class ExerciseProgress:
    """What is known of one task or exercise.

    Attributes:
        passed: it was, at least once.
        text: the answer that passed last.
        counts: what a run of that answer counted, by the names of the emulator's counters.
        milliseconds: how long a run took, by the name of the GPU, the last one used at the end.
        failures: checks that did not pass, in all.
        in_a_row: those since the last one that passed.
        shown_in: the lesson of a task whose answer was shown and that is owed unaided; or "".
    """

    passed: bool = False
    text: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    failures: int = 0
    in_a_row: int = 0
    shown_in: str = ""


class _Session:
    """What is known without a file."""

    def __init__(self) -> None:
        self.answers: dict[str, Raw] = {}
        self.unsaved: dict[str, Raw] = {}  # what could not be written
        self.others: Raw = {}  # what else a restored file held
        self.lesson = ""
        self.said: set[str] = set()

    def say(self, sentence: str) -> None:
        """Print a sentence, once."""
        if sentence not in self.said:
            self.said.add(sentence)
            print(sentence)


_session = _Session()


# --- What is known -----------------------------------------------------------------------------


def entry(name: str) -> ExerciseProgress:
    """What is known of a task or an exercise."""
    return _entry(_answers().get(name, {}))


def entries() -> dict[str, ExerciseProgress]:
    """Everything that is known, by id."""
    return {name: _entry(raw) for name, raw in _answers().items()}


def owed(lesson: str) -> list[str]:
    """Tasks of earlier lessons whose answer was shown, and that were not passed since."""
    return [name for name, entry in entries().items() if entry.shown_in and entry.shown_in < lesson]


# --- Changes: a lesson begun, an answer passed, a failure, an answer shown ---------------------


def begin(lesson: str) -> None:
    """The student works in this lesson from now on ("05b"); "" means no lesson."""
    _session.lesson = lesson if _LESSON.fullmatch(lesson) else ""


def note_passed(
    name: str,
    text: str,
    counts: Mapping[str, int] | None = None,
    milliseconds: Mapping[str, float] | None = None,
) -> None:
    """An answer passed. In a later lesson than the one that showed an answer, nothing is owed."""

    def change(raw: Raw) -> None:
        raw |= {"passed": True, "text": text[:LONGEST], "in_a_row": 0}
        raw["counts"] = {key: int(value) for key, value in (counts or {}).items()}
        times = {key: float(value) for key, value in (milliseconds or {}).items()}
        before = raw.get("milliseconds", {})
        raw["milliseconds"] = {
            key: duration for key, duration in before.items() if key not in times
        } | times
        if raw.get("shown_in", "") < _session.lesson:
            raw["shown_in"] = ""

    _change(name, change)


def note_failure(name: str) -> None:
    """A check did not pass."""

    def change(raw: Raw) -> None:
        raw["failures"] = raw.get("failures", 0) + 1
        raw["in_a_row"] = raw.get("in_a_row", 0) + 1

    _change(name, change)


def note_shown(name: str, lesson: str) -> None:
    """An answer was shown to a task of this lesson, or of the later one that is open."""
    _change(name, lambda raw: raw.update(shown_in=max(lesson, _session.lesson)))


# --- From one machine to another ---------------------------------------------------------------


def exported() -> str:
    """Everything that is known, as the text of a file of progress."""
    if is_kept():
        everything = _read(path())
        return _as_text(_session.others | everything | {_ANSWERS: _answers()})
    return _as_text(_record(_session.answers, _session.others))


def restore(text: str) -> str:
    """Take over what the text of a file of progress holds, beside what is known already.

    What was passed on either side stays passed. An answer that passed here keeps its place: the
    file still holds the other one.

    Returns:
        one sentence on what was taken over.

    Raises:
        ValueError: with a sentence, if the text is no record of progress.
    """
    try:
        found, is_whole = _sound(text)
    except (ValueError, RecursionError):
        raise ValueError(
            "This is not a record of your progress, or it is damaged; nothing was changed."
        ) from None
    answers = found.pop(_ANSWERS)
    for name, raw in answers.items():
        _change(name, functools.partial(_join, raw))
    _session.others = found | _session.others
    taken = "1 task or exercise" if len(answers) == 1 else f"{len(answers)} tasks and exercises"
    if not is_whole:
        return (
            f"The file is damaged. The part that can be read ({taken}) was added to your progress."
        )
    return f"Added to your progress: {taken}."


def _join(theirs: Raw, ours: Raw) -> None:
    """Add to what is known of one id what another record knows of it."""
    passed = [record for record in (ours, theirs) if record.get("passed")]
    shown = [record.get("shown_in", "") for record in (ours, theirs)]
    unaided = any(not record.get("shown_in") for record in passed)
    failures = [record.get("failures", 0) for record in (ours, theirs)]
    kept = {**theirs, **ours, **(passed[0] if passed else {})}
    if times := theirs.get("milliseconds", {}) | ours.get("milliseconds", {}):
        kept["milliseconds"] = times
    if any(failures):
        kept["failures"] = max(failures)
    if any(shown):
        kept["shown_in"] = "" if unaided else max(shown)
    ours |= kept


# --- The file ----------------------------------------------------------------------------------


def is_kept() -> bool:
    """Is there a student whose progress is kept in a file?"""
    return os.environ.get(SETTING) != "off" and front_end.has_a_student()


def path() -> Path:
    """The file: beside the course where that is a checkout, otherwise in the working directory.

    The settings name another file, or another folder for all that the course writes.
    """
    chosen, elsewhere = os.environ.get(SETTING, ""), os.environ.get(HOME_SETTING)
    if chosen not in ("", "off"):
        return Path(chosen)
    if elsewhere:
        return Path(elsewhere).expanduser() / NAME
    home = Path(__file__).resolve().parents[2]
    return (home if (home / "course.py").is_file() else Path.cwd()) / NAME


def _entry(raw: Raw) -> ExerciseProgress:
    return ExerciseProgress(
        **{name: raw[name] for name in ExerciseProgress.__dataclass_fields__ if name in raw}
    )


def _answers() -> dict[str, Raw]:
    if not is_kept():
        return _session.answers
    result: dict[str, Raw] = _read(path())[_ANSWERS] | _session.unsaved
    return result


def _change(name: str, change: Callable[[Raw], None]) -> None:
    """Change what is known of one id; what others have written meanwhile stays."""
    if not _ID.fullmatch(name):
        return
    if is_kept():
        _change_file(path(), name, change)
    change(_session.answers.setdefault(name, {}))


def _change_file(file: Path, name: str, change: Callable[[Raw], None]) -> None:
    try:
        with _alone(file):
            everything = _read(file)
            everything[_ANSWERS] |= _session.unsaved
            change(everything[_ANSWERS].setdefault(name, {}))
            _write(file, everything)
    except OSError as error:
        change(_session.unsaved.setdefault(name, copy.deepcopy(_answers().get(name, {}))))
        _session.say(
            f"Your progress cannot be kept in {file} ({error.strerror or error}): the course "
            "remembers it only until this session ends."
        )
    else:
        _session.unsaved.clear()


def _read(file: Path) -> Raw:
    """What the file holds that is sound.

    A file that is damaged is kept aside under another name, and what this session knows goes on.
    """
    known = copy.deepcopy(_session.answers)
    try:
        found, is_whole = _sound(_text_of(file))
    except FileNotFoundError:
        return _record(known)
    except (OSError, ValueError, RecursionError):
        _keep_aside(file)
        return _record(known)
    if is_whole:
        return found
    _keep_aside(file)
    return _record(known | found[_ANSWERS])


def _record(answers: Raw, others: Raw | None = None) -> Raw:
    """What a file holds; `others` is what only a newer version of the course may understand."""
    return {"matmul_ladder": 1, **(others or {}), _ANSWERS: answers}


def _as_text(everything: Raw) -> str:
    return json.dumps(everything, indent=1) + "\n"


def _sound(text: str) -> tuple[Raw, bool]:
    """What a file's text holds that is sound, and whether that is all of it.

    Raises:
        ValueError, RecursionError: if it is no record of progress at all.
    """
    if len(text) > LARGEST:
        raise ValueError("too long")
    found = json.loads(text)
    _as_text(found)  # what goes on in the file has to fit into one
    answers = found.get(_ANSWERS) if isinstance(found, dict) else None
    if not isinstance(answers, dict):
        raise ValueError("no record of progress")
    sound = {name: raw for name, raw in answers.items() if _ID.fullmatch(name) and _fits(raw)}
    return _record(sound, found), len(sound) == len(answers)


def _text_of(file: Path) -> str:
    """The text of an ordinary file of ordinary size.

    Raises:
        OSError, ValueError: if it is none.
    """
    facts = file.stat()
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
        raise ValueError("no file of progress")
    return file.read_text(encoding="utf-8")


def _fits(raw: object) -> bool:
    """Does an entry have the form that is written here? What else it holds is left alone."""
    if not isinstance(raw, dict):
        return False
    return all(fits(raw[name]) for name, fits in _FORMS.items() if name in raw)


def _numbers(raw: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(raw, dict) and all(
        type(number) in kinds and 0 <= number < math.inf for number in raw.values()
    )


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "passed": lambda raw: isinstance(raw, bool),
    "text": lambda raw: isinstance(raw, str) and len(raw) <= LONGEST,
    "counts": lambda raw: _numbers(raw, (int,)),
    "milliseconds": lambda raw: _numbers(raw, (int, float)),
    "failures": lambda raw: type(raw) is int and raw >= 0,
    "in_a_row": lambda raw: type(raw) is int and raw >= 0,
    "shown_in": lambda raw: raw == "" or (isinstance(raw, str) and bool(_LESSON.fullmatch(raw))),
}


def _keep_aside(file: Path) -> None:
    """Give a damaged file another name, so that nothing of it is lost."""
    numbers = range(1, 1000)
    aside = next(
        (
            path
            for n in numbers
            if not (path := file.with_name(f"{file.stem}-damaged-{n}.json")).exists()
        ),
        None,
    )
    try:
        if aside is None:
            raise OSError("a thousand damaged ones are there already")
        os.replace(file, aside)
    except FileNotFoundError:
        return  # another notebook has just done it
    except OSError:
        _session.say(f"{file} cannot be read as a record of your progress.")
        return
    _session.say(
        f"{file.name} is damaged: it is now called {aside.name}, and a new file contains what can "
        "be read of it."
    )


def _write(file: Path, everything: Raw) -> None:
    """Write the whole file or none of it."""
    text = _as_text(everything)
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, new = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(new, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Only one notebook writes at a time, where the system can ensure it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file.with_name(f".{file.name}.lock"), "a", encoding="utf-8") as held:
        with contextlib.suppress(OSError):  # some network drives have no locks
            _lock(held)
        yield


def _lock(held: IO[str]) -> None:
    """Wait until nobody else has this file locked; closing it ends the lock."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(held.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(held, fcntl.LOCK_EX)
