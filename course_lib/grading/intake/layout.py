"""Which entries of a folder or an archive belong to whom, and which may hold answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from course_lib.curriculum import LESSONS
from course_lib.grading.intake.naming import Owner, displayed, order_of, owner_of, stem_of
from course_lib.grading.intake.zips import Entry, empty_folder

_NOTEBOOK, _SCRIPT, _ARCHIVE = ".ipynb", ".py", ".zip"
# What students hand in by mistake, where nothing else says that a file is a submission.
_MISTAKES = (".html", ".htm", ".pdf", ".doc", ".docx", ".rar", ".7z", ".gz", ".tgz", ".tar")
JUNK = frozenset(
    (
        ".ds_store .git .ipynb_checkpoints __macosx __pycache__ desktop.ini node_modules "
        "site-packages thumbs.db index.html"
    ).split()
)
_LESSON_STEMS = frozenset(lesson.stem for lesson in LESSONS)
# What browsers, file managers and Jupyter add to the name of a copy.
_COPY = re.compile(r"(?:[ _]?\(\d{1,3}\)|-copy\d{0,3}|[ _]-[ _]copy|[ _]copy| \d)+", re.IGNORECASE)
_COPY_BEFORE = re.compile(r"(?:(?:copy of|copy_of|kopie von)[ _])+", re.IGNORECASE)
_COURSE_FOLDERS = frozenset(("exercises", "notebooks", "solutions", "executed"))
# What a copy of the course holds in Python, beside course_lib; it is nobody's answer.
_LIBRARY, _COURSES = "course_lib", frozenset(("tests", "benchmarks", "docs", "course.py"))


def unwrapped(entries: list[Entry], in_archive: bool) -> list[Entry]:
    """Without the one folder that only wraps the submissions, as many archives have it.

    Several notebooks in one folder are those of one student, unless the folder is all that is in
    an archive.
    """
    tricks = [entry for entry in entries if entry.is_trick]
    entries = without_junk(entries)
    kept = [entry for entry in entries if not entry.is_trick and _is_submitted(entry)]
    tops = {entry.parts[0] for entry in kept}
    if len(tops) != 1 or any(len(entry.parts) == 1 for entry in kept):
        return entries
    inner = [replace(each, parts=each.parts[1:]) for each in kept if each.parts[1:] != ("",)]
    if owner_of(tops.pop(), is_folder=True).platform or not holds_students(inner, in_archive):
        return entries
    beside = [entry for entry in entries if not entry.is_trick and not _is_submitted(entry)]
    return unwrapped(inner, in_archive) + tricks + beside


def without_junk(entries: list[Entry]) -> list[Entry]:
    """The entries, with the folder that lies around it in the place of what programs left behind.

    So a student's folder that holds nothing else does not vanish.
    """
    kept: dict[tuple[str, ...], Entry] = {}
    clean: list[Entry] = []
    for entry in entries:
        place = next((i for i, part in enumerate(entry.parts) if _is_left_behind(part)), None)
        if place is None:
            clean.append(entry)
        elif place and not entry.is_trick:
            around = entry.parts[:place]
            kept.setdefault(around, empty_folder(around, "The folder holds no work of a student."))
    return clean + list(kept.values())


def holds_students(entries: list[Entry], in_archive: bool) -> bool:
    """Whether these are the files of several students rather than those of one."""
    tops = {(entry.parts[0], len(entry.parts) > 1) for entry in entries if _may_answer(entry)}
    if any(owner_of(name, is_folder).platform for name, is_folder in tops):
        return True
    if any(name.lower() in _COURSE_FOLDERS for name, is_folder in tops if is_folder):
        return False
    if _are_lessons(tops):
        return False
    if len(tops) == 1 and all(is_folder for _, is_folder in tops):
        below = [replace(each, parts=each.parts[1:]) for each in entries if len(each.parts) > 1]
        return holds_students(below, in_archive)
    return len(tops) > 1 and (in_archive or all(is_folder for _, is_folder in tops))


def _are_lessons(tops: set[tuple[str, bool]]) -> bool:
    """Whether all are called as lessons are, as in one student's folder; a script may be there.

    "05_shared_memory_tiling_alice" is no such name, but a student's: two students in one row would
    cost one of them the grade, and nobody would see it.
    """
    named = {top for top in tops if _is_lesson(*top)}
    others = [top for top in tops if top not in named]
    helpers = [name for name, is_folder in others if not is_folder and name.lower().endswith(".py")]
    return bool(named) and len(others) == len(helpers) <= 1


def _is_lesson(name: str, is_folder: bool) -> bool:
    """Whether this is exactly a lesson's name, or that of a copy of it."""
    stem = name if is_folder else stem_of(name)
    before = _COPY_BEFORE.match(stem)
    stem = stem[before.end() :] if before else stem
    return any(
        stem.startswith(lesson) and (stem == lesson or _COPY.fullmatch(stem, len(lesson)))
        for lesson in _LESSON_STEMS
    )


def passed_over(entries: Iterable[Entry]) -> list[str]:
    """The files beside the submissions that are taken for nobody's, as an instructor's list is."""
    names = {entry.name for entry in entries if len(entry.parts) == 1 and not _is_submitted(entry)}
    return sorted(name for name in names if not _is_left_behind(name) and name[:1] != ".")


def by_owner(entries: Iterable[Entry]) -> dict[Owner, list[Entry]]:
    """The entries of each student who handed something in."""
    submitted = [entry for entry in entries if _is_submitted(entry)]
    chance = _like_canvas_by_chance(submitted)
    groups: dict[object, list[tuple[Owner, Entry]]] = {}
    for entry in submitted:
        top = entry.parts[0]
        owner = owner_of(top, is_folder=len(entry.parts) > 1)
        # A trick must not pass for somebody else's submission.
        if entry.is_trick or top in chance:
            owner = Owner(displayed(stem_of(top)), raw=top)
        groups.setdefault(owner.identity, []).append((owner, entry))
    return dict(_one_owner(group) for group in groups.values())


def _one_owner(group: list[tuple[Owner, Entry]]) -> tuple[Owner, list[Entry]]:
    """Whose these are: a platform's number is one student's, who may have changed the name."""
    latest, _ = max(group, key=lambda each: (order_of(each[1].parts[0]), each[1].parts[0]))
    return latest, _without_empty_folders([entry for _, entry in group])


def _without_empty_folders(group: list[Entry]) -> list[Entry]:
    """What is in a student's folders; if that is nothing, one entry that says so."""
    filled = [entry for entry in group if not entry.is_empty_folder]
    if filled:
        return filled
    # Where several are empty, an outer one may hold something that does not count.
    first = min(group, key=lambda entry: len(entry.parts))
    return [replace(first, parts=(first.parts[0], ""))]


def without_the_courses(scripts: list[Entry]) -> list[Entry]:
    """The scripts of a submission without those of the course, of which it may hold a copy."""
    copies = {
        entry.parts[: entry.parts.index(_LIBRARY)] for entry in scripts if _LIBRARY in entry.parts
    }

    def is_courses(entry: Entry) -> bool:
        parts = entry.parts
        return _LIBRARY in parts[:-1] or any(
            parts[: len(top)] == top and parts[len(top)] in _COURSES for top in copies
        )

    return [entry for entry in scripts if not is_courses(entry)]


def _like_canvas_by_chance(entries: Iterable[Entry]) -> set[str]:
    """Names such as lab_10_2026_s12.ipynb: Canvas gives a number to one file only."""
    files = {entry.name for entry in entries if len(entry.parts) == 1}
    names = [name for name in files if owner_of(name, is_folder=False).platform == "canvas"]
    numbers = Counter(order_of(name) for name in names)
    return {name for name in names if numbers[order_of(name)] > 1 and any(order_of(name))}


def _is_submitted(entry: Entry) -> bool:
    """Whether an entry makes its owner appear; an instructor's own list beside them does not."""
    if is_junk(entry) or (entry.is_empty_folder and entry.parts[0].startswith(".")):
        return False
    if entry.is_trick or len(entry.parts) > 1 or owner_of(entry.name, False).platform:
        return True
    return _may_answer(entry) or entry.name.lower().endswith(_MISTAKES)


def is_junk(entry: Entry) -> bool:
    return any(_is_left_behind(part) for part in entry.parts)


def _is_left_behind(name: str) -> bool:
    return name.lower() in JUNK or name.startswith(("._", ".~lock"))


def _may_answer(entry: Entry) -> bool:
    return is_notebook(entry) or is_archive(entry) or is_script(entry)


def is_archive(entry: Entry) -> bool:
    return entry.name.lower().endswith(_ARCHIVE)


def is_script(entry: Entry) -> bool:
    return entry.name.lower().endswith(_SCRIPT)


def is_notebook(entry: Entry) -> bool:
    """Also "x.ipynb.txt", as some browsers save it; what it is, its content decides."""
    return _NOTEBOOK in entry.name.lower()
