"""File names as learning platforms write them: whose a file is, and whether it may hold answers.

The patterns follow the platforms' own code and exports: Canvas (lib/content_zipper.rb), Moodle
(mod/assign/classes/downloader.php), Blackboard and Brightspace (what their downloads look like).
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from course_lib.curriculum import LESSONS
from course_lib.grading.intake.listing import JUNK, FileEntry, empty_folder

MAX_DISPLAY = 80
MAX_LABEL = 200
_MAX_SLUG = 60
_MAX_PLATFORM_NAME = 300

# lastnamefirstname_LATE_12345_67890_notebook-1.ipynb; without a name where grading is anonymous.
_CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_(?:\d|anon_))\w+?)_)?(?P<late>LATE_)?(?P<id>[1-9]\d{1,19}|anon_[0-9A-Za-z]{3,20})_"
    r"(?:(?P<order>[1-9]\d{2,19})_.+|(?:text|link)\.html)",
    re.DOTALL,
)
# Full Name_12345_assignsubmission_file_/notebook.ipynb, or flat: …_assignsubmission_file_notebook.
_MOODLE = re.compile(
    r"(?P<name>.+?)(?:_(?P<id>\d{1,20}))?_assignsubmission_[a-z]+(?:_.*)?", re.DOTALL
)
# Assignment 1_username_attempt_2026-01-31-12-30-00_notebook.ipynb, and ….txt with the comments.
_BLACKBOARD = re.compile(
    r".*_(?P<name>[^_]+)_attempt_(?P<order>\d{4}(?:-\d\d){5})(?:_.+|\.txt)", re.DOTALL
)
# 12345-67890 - Full Name - 31 January, 2026 1230 PM/notebook.ipynb
_BRIGHTSPACE = re.compile(
    r"(?P<id>\d+)-\d+ ?- (?P<name>.+?) ?- (?P<order>[^/]*\d{4} \d{3,4} [AP]M)(?: - .*)?", re.DOTALL
)
_PLATFORMS = (
    ("canvas", _CANVAS),
    ("moodle", _MOODLE),
    ("blackboard", _BLACKBOARD),
    ("brightspace", _BRIGHTSPACE),
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Owner:
    """Whose submission a file belongs to."""

    student: str  # the name for people to read
    platform: str | None = None  # the learning platform whose pattern the name follows, if any
    platform_id: str | None = None  # the platform's number of the student, if it is in the name
    raw: str = ""  # what tells this owner from another one
    is_late: bool = False  # the platform says so; Canvas alone does, in the name

    @property
    def identity(self) -> object:
        """What one owner's files share: a platform's number, or "ada" of ada.py."""
        if self.platform_id:
            return self.platform, self.platform_id
        is_plain = not self.platform and self.raw.lower().endswith((".ipynb", ".py"))
        return stem_of(self.raw) if is_plain else self

    @property
    def digest(self) -> str:
        identity = "\0".join((self.platform or "", self.platform_id or "", self.raw))
        return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def owner_of(name: str, is_folder: bool) -> Owner:
    """The owner of a file or folder at the top of the submissions, by its name."""
    for platform, pattern in _PLATFORMS:
        found = _match(pattern, name)
        if found and not (platform == "canvas" and is_folder):
            fields = found.groupdict()
            student = fields["name"] or fields.get("id") or ""
            late = bool(fields.get("late"))
            return Owner(displayed(student), platform, fields.get("id"), student, late)
    stem = name if is_folder else stem_of(name)
    return Owner(displayed(stem), raw=name)


def order_of(name: str) -> tuple[object, ...]:
    """A key that sorts a student's files by the time of handing in, as far as names tell it."""
    for platform, pattern in _PLATFORMS:
        found = _match(pattern, name)
        order = found.groupdict().get("order") if found else None
        if order and platform == "brightspace":
            return (1, _moment(order))
        if order:
            return (1, tuple(map(int, order.split("-"))))
    return (0, ())


def _match(pattern: re.Pattern[str], name: str) -> re.Match[str] | None:
    return pattern.fullmatch(name) if len(name) <= _MAX_PLATFORM_NAME else None


def natural(text: str) -> tuple[object, ...]:
    """Sorts "hw" before "hw-1", and "hw-2" before "hw-10"."""
    pieces = re.split(r"(\d{1,20})", text[:_MAX_PLATFORM_NAME].casefold())
    return tuple((int(array), "") if array.isdecimal() else (-1, array) for array in pieces)


def stem_of(name: str) -> str:
    """A file's name without the parts that say that it is a notebook."""
    found = re.search(r"\.(?:ipynb.*|py|zip)\Z", name, re.IGNORECASE | re.DOTALL)
    return name[: found.start()] if found and found.start() else name


def displayed(name: str, limit: int = MAX_DISPLAY) -> str:
    """A name for people to read: composed, on one line, without control or bidi characters."""
    composed = unicodedata.normalize("NFC", name[: 4 * limit])
    kept = "".join(_shown(character) for character in composed)
    tidy = " ".join(kept.split()) or "(no name)"
    return tidy if len(tidy) <= limit else tidy[: limit - 1] + "…"


def keys_of(owners: Sequence[Owner]) -> list[str]:
    """One key for each owner: unique whatever the disk thinks of case, and safe as a file name.

    A key follows from its owner alone, unless two owners would have the same one.
    """
    keys = [_key(owner) for owner in owners]
    for length in (8, 16, 64):
        count = Counter(key.casefold() for key in keys)
        keys = [
            key if count[key.casefold()] == 1 else f"{_key(owner)}-{owner.digest[:length]}"
            for key, owner in zip(keys, owners, strict=True)
        ]
    return keys


def _key(owner: Owner) -> str:
    name = owner.student if owner.platform else stem_of(owner.raw)
    slug = _slug(name)
    if owner.platform_id:
        return f"{slug}-{_slug(owner.platform_id)}" if owner.platform_id != name else slug
    return slug if slug == name else f"{slug}-{owner.digest[:8]}"


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", plain)[:_MAX_SLUG].strip("-._")
    return f"name-{slug}" if not slug or _RESERVED.fullmatch(slug) else slug


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cs", "Co", "Cn"):
        return "\ufffd"
    if category in ("Zl", "Zp", "Zs") or character in "\t\n\r":
        return " "
    return "" if category.startswith("C") else character


def _moment(text: str) -> tuple[int, ...]:
    """A date as Brightspace writes it ("Jan 31, 2026 1230 PM", or the day first), to compare."""
    month = next((i for i, name in enumerate(_MONTHS) if name in text.lower()), 0)
    numbers = [int(digits) for digits in re.findall(r"\d{1,4}", text)]
    if len(numbers) < 3:
        return (0,)
    day, year, clock = numbers[0], numbers[-2], numbers[-1]
    afternoon = 1200 if text.rstrip().endswith("PM") else 0
    return (year, month, day, clock % 1200 + afternoon)


# --- The files of a folder or archive, owner by owner ---------------------------------------------


_NOTEBOOK, _SCRIPT, _ARCHIVE = ".ipynb", ".py", ".zip"
# What students hand in by mistake, where nothing else says that a file is a submission.
_MISTAKES = (".html", ".htm", ".pdf", ".doc", ".docx", ".rar", ".7z", ".gz", ".tgz", ".tar")
_LESSON_STEMS = frozenset(lesson.stem for lesson in LESSONS)
# What browsers, file managers and Jupyter add to the name of a copy.
_COPY = re.compile(r"(?:[ _]?\(\d{1,3}\)|-copy\d{0,3}|[ _]-[ _]copy|[ _]copy| \d)+", re.IGNORECASE)
_COPY_BEFORE = re.compile(r"(?:(?:copy of|copy_of|kopie von)[ _])+", re.IGNORECASE)
_COURSE_FOLDERS = frozenset(("exercises", "notebooks", "solutions", "executed"))
# What a copy of the course holds in Python, beside course_lib; it is nobody's answer.
_LIBRARY, _COURSES = "course_lib", frozenset(("tests", "benchmarks", "docs", "course.py"))


def unwrapped(entries: list[FileEntry], in_archive: bool) -> list[FileEntry]:
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
    inner = [replace(entry, parts=entry.parts[1:]) for entry in kept if entry.parts[1:] != ("",)]
    if owner_of(tops.pop(), is_folder=True).platform or not holds_students(inner, in_archive):
        return entries
    beside = [entry for entry in entries if not entry.is_trick and not _is_submitted(entry)]
    return unwrapped(inner, in_archive) + tricks + beside


def without_junk(entries: list[FileEntry]) -> list[FileEntry]:
    """The entries, with the folder that lies around it in the place of what programs left behind.

    So a student's folder that holds nothing else does not vanish.
    """
    kept: dict[tuple[str, ...], FileEntry] = {}
    clean: list[FileEntry] = []
    for entry in entries:
        place = next((i for i, part in enumerate(entry.parts) if _is_left_behind(part)), None)
        if place is None:
            clean.append(entry)
        elif place and not entry.is_trick:
            around = entry.parts[:place]
            kept.setdefault(
                around, empty_folder(around, "The folder does not contain any student's work.")
            )
    return clean + list(kept.values())


def holds_students(entries: list[FileEntry], in_archive: bool) -> bool:
    """Whether these are the files of several students rather than those of one."""
    tops = {(entry.parts[0], len(entry.parts) > 1) for entry in entries if _may_answer(entry)}
    if any(owner_of(name, is_folder).platform for name, is_folder in tops):
        return True
    if any(name.lower() in _COURSE_FOLDERS for name, is_folder in tops if is_folder):
        return False
    if _are_lessons(tops):
        return False
    if len(tops) == 1 and all(is_folder for _, is_folder in tops):
        below = [replace(entry, parts=entry.parts[1:]) for entry in entries if len(entry.parts) > 1]
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


def passed_over(entries: Iterable[FileEntry]) -> list[str]:
    """The files beside the submissions that belong to nobody, such as an instructor's list."""
    names = {entry.name for entry in entries if len(entry.parts) == 1 and not _is_submitted(entry)}
    return sorted(name for name in names if not _is_left_behind(name) and name[:1] != ".")


def by_owner(entries: Iterable[FileEntry]) -> dict[Owner, list[FileEntry]]:
    """The entries of each student who handed something in."""
    submitted = [entry for entry in entries if _is_submitted(entry)]
    chance = _like_canvas_by_chance(submitted)
    groups: dict[object, list[tuple[Owner, FileEntry]]] = {}
    for entry in submitted:
        top = entry.parts[0]
        owner = owner_of(top, is_folder=len(entry.parts) > 1)
        # A trick must not pass for somebody else's submission.
        if entry.is_trick or top in chance:
            owner = Owner(displayed(stem_of(top)), raw=top)
        groups.setdefault(owner.identity, []).append((owner, entry))
    return dict(_one_owner(group) for group in groups.values())


def _one_owner(group: list[tuple[Owner, FileEntry]]) -> tuple[Owner, list[FileEntry]]:
    """Whose these are: a platform's number is one student's, who may have changed the name."""
    latest, _ = max(group, key=lambda owned: (order_of(owned[1].parts[0]), owned[1].parts[0]))
    return latest, _without_empty_folders([entry for _, entry in group])


def _without_empty_folders(group: list[FileEntry]) -> list[FileEntry]:
    """What is in a student's folders; if that is nothing, one entry that says so."""
    filled = [entry for entry in group if not entry.is_empty_folder]
    if filled:
        return filled
    # Where several are empty, an outer one may hold something that does not count.
    first = min(group, key=lambda entry: len(entry.parts))
    return [replace(first, parts=(first.parts[0], ""))]


def without_the_courses(scripts: list[FileEntry]) -> list[FileEntry]:
    """The scripts of a submission without those of the course, in case it holds a copy of them."""
    copies = {
        entry.parts[: entry.parts.index(_LIBRARY)] for entry in scripts if _LIBRARY in entry.parts
    }

    def is_courses(entry: FileEntry) -> bool:
        parts = entry.parts
        return _LIBRARY in parts[:-1] or any(
            parts[: len(top)] == top and parts[len(top)] in _COURSES for top in copies
        )

    return [entry for entry in scripts if not is_courses(entry)]


def _like_canvas_by_chance(entries: Iterable[FileEntry]) -> set[str]:
    """Names such as lab_10_2026_s12.ipynb: Canvas gives a number to one file only."""
    files = {entry.name for entry in entries if len(entry.parts) == 1}
    names = [name for name in files if owner_of(name, is_folder=False).platform == "canvas"]
    numbers = Counter(order_of(name) for name in names)
    return {name for name in names if numbers[order_of(name)] > 1 and any(order_of(name))}


def _is_submitted(entry: FileEntry) -> bool:
    """Whether an entry makes its owner appear; an instructor's own list beside them does not."""
    if is_junk(entry) or (entry.is_empty_folder and entry.parts[0].startswith(".")):
        return False
    if entry.is_trick or len(entry.parts) > 1 or owner_of(entry.name, False).platform:
        return True
    return _may_answer(entry) or entry.name.lower().endswith(_MISTAKES)


def is_junk(entry: FileEntry) -> bool:
    return any(_is_left_behind(part) for part in entry.parts)


def _is_left_behind(name: str) -> bool:
    return name.lower() in JUNK or name.startswith(("._", ".~lock"))


def _may_answer(entry: FileEntry) -> bool:
    return is_notebook(entry) or is_archive(entry) or is_script(entry)


def is_archive(entry: FileEntry) -> bool:
    return entry.name.lower().endswith(_ARCHIVE)


def is_script(entry: FileEntry) -> bool:
    return entry.name.lower().endswith(_SCRIPT)


def is_notebook(entry: FileEntry) -> bool:
    """Also "x.ipynb.txt", as some browsers save it; what it is, its content decides."""
    return _NOTEBOOK in entry.name.lower()
