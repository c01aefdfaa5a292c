"""Whose file it is: names as learning platforms write them, cleaned for display and for disks.

The patterns follow the platforms' own code and exports: Canvas (lib/content_zipper.rb), Moodle
(mod/assign/classes/downloader.php), Blackboard and Brightspace (what their downloads look like).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MAX_DISPLAY = 80
MAX_LABEL = 200
_MAX_SLUG = 60
_MAX_PLATFORM_NAME = 300

# lastnamefirstname_LATE_12345_67890_notebook-1.ipynb; without a name where grading is anonymous.
_CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_(?:\d|anon_))\w+?)_)?(?:LATE_)?(?P<id>[1-9]\d{1,19}|anon_[0-9A-Za-z]{3,20})_"
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

    @property
    def identity(self) -> object:
        """What one owner's files have in common: a platform's number, or "ada" of ada.py."""
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
            return Owner(displayed(student), platform, fields.get("id"), student)
    stem = name if is_folder else stem_of(name)
    return Owner(displayed(stem), raw=name)


def order_of(name: str) -> tuple[object, ...]:
    """What sorts a student's files by the time of handing in, as far as names tell it."""
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
    return tuple((int(each), "") if each.isdecimal() else (-1, each) for each in pieces)


def stem_of(name: str) -> str:
    """A file's name without what says that it is a notebook."""
    found = re.search(r"\.(?:ipynb.*|py|zip)\Z", name, re.IGNORECASE | re.DOTALL)
    return name[: found.start()] if found and found.start() else name


def displayed(name: str, limit: int = MAX_DISPLAY) -> str:
    """A name for people to read: composed, on one line, without control or bidi characters."""
    composed = unicodedata.normalize("NFC", name[: 4 * limit])
    kept = "".join(_shown(each) for each in composed)
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
    numbers = [int(each) for each in re.findall(r"\d{1,4}", text)]
    if len(numbers) < 3:
        return (0,)
    day, year, clock = numbers[0], numbers[-2], numbers[-1]
    afternoon = 1200 if text.rstrip().endswith("PM") else 0
    return (year, month, day, clock % 1200 + afternoon)
