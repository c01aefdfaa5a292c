"""Which entries of a folder or an archive belong to whom, and which may hold answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from course_lib.curriculum import LESSONS
from course_lib.grading.naming import Owner, displayed, order_of, owner_of, stem_of
from course_lib.grading.zips import Entry

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
_COURSE_FOLDERS = frozenset(("exercises", "notebooks", "solutions", "executed"))


def unwrapped(entries: list[Entry], in_archive: bool) -> list[Entry]:
    """Without the one folder that only wraps the submissions, as many archives have it.

    Several notebooks in one folder are those of one student, unless the folder is all that is in
    an archive.
    """
    tricks = [entry for entry in entries if entry.is_trick]
    kept = [entry for entry in entries if not entry.is_trick and _is_submitted(entry)]
    tops = {entry.parts[0] for entry in kept}
    if len(tops) != 1 or any(len(entry.parts) == 1 for entry in kept):
        return entries
    inner = [replace(each, parts=each.parts[1:]) for each in kept]
    if owner_of(tops.pop(), is_folder=True).platform or not holds_students(inner, in_archive):
        return entries
    return unwrapped(inner, in_archive) + tricks


def holds_students(entries: list[Entry], in_archive: bool) -> bool:
    """Whether these are the files of several students rather than those of one."""
    tops = {(entry.parts[0], len(entry.parts) > 1) for entry in entries if _may_answer(entry)}
    if any(owner_of(name, is_folder).platform for name, is_folder in tops):
        return True
    if any(name.lower() in _COURSE_FOLDERS for name, is_folder in tops if is_folder):
        return False
    if any(name.startswith(tuple(_LESSON_STEMS)) for name, _ in tops):
        return False
    if len(tops) == 1 and all(is_folder for _, is_folder in tops):
        below = [replace(each, parts=each.parts[1:]) for each in entries if len(each.parts) > 1]
        return holds_students(below, in_archive)
    return len(tops) > 1 and (in_archive or all(is_folder for _, is_folder in tops))


def by_owner(entries: Iterable[Entry]) -> dict[Owner, list[Entry]]:
    """The entries of each student who handed something in."""
    submitted = [entry for entry in entries if _is_submitted(entry)]
    chance = _like_canvas_by_chance(submitted)
    groups: dict[Owner, list[Entry]] = {}
    for entry in submitted:
        top = entry.parts[0]
        owner = owner_of(top, is_folder=len(entry.parts) > 1)
        # A trick must not pass for somebody else's submission.
        if entry.is_trick or top in chance:
            owner = Owner(displayed(stem_of(top)), raw=top)
        groups.setdefault(owner, []).append(entry)
    return groups


def _like_canvas_by_chance(entries: Iterable[Entry]) -> set[str]:
    """Names such as lab_10_2026_s12.ipynb: Canvas gives a number to one file only."""
    files = {entry.name for entry in entries if len(entry.parts) == 1}
    names = [name for name in files if owner_of(name, is_folder=False).platform == "canvas"]
    numbers = Counter(order_of(name) for name in names)
    return {name for name in names if numbers[order_of(name)] > 1 and any(order_of(name))}


def _is_submitted(entry: Entry) -> bool:
    """Whether an entry makes its owner appear; an instructor's own list beside them does not."""
    if is_junk(entry):
        return False
    if entry.is_trick or len(entry.parts) > 1 or owner_of(entry.name, False).platform:
        return True
    return _may_answer(entry) or entry.name.lower().endswith(_MISTAKES)


def is_junk(entry: Entry) -> bool:
    return any(
        part.lower() in JUNK or part.startswith("._") or part.startswith(".~lock")
        for part in entry.parts
    )


def _may_answer(entry: Entry) -> bool:
    return is_notebook(entry) or is_archive(entry) or is_script(entry)


def is_archive(entry: Entry) -> bool:
    return entry.name.lower().endswith(_ARCHIVE)


def is_script(entry: Entry) -> bool:
    return entry.name.lower().endswith(_SCRIPT)


def is_notebook(entry: Entry) -> bool:
    """Also "x.ipynb.txt", as some browsers save it; what it is, its content decides."""
    return _NOTEBOOK in entry.name.lower()
