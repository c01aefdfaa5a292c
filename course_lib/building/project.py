"""The course as a folder: where its notebooks lie, and its one address.

The address of the repository is written in pyproject.toml, under [project.urls], and read from
there by everything that needs it; so is, under [tool.matmul-ladder], the one branch or tag that
badges open and setup cells install from, so that notebooks and library cannot drift apart.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from course_lib.building.notebook import BuildError, write_text
from course_lib.curriculum import EXERCISES, LESSONS, Lesson
from course_lib.wording.words import decimal, plural

PLACEHOLDER = "OWNER/NAME"
REF = "main"
TITLE = "Matmul Ladder"
_NAME = r"[A-Za-z0-9_.-]+"
_GITHUB = re.compile(rf"(?:https://|ssh://git@|git@)github\.com[/:]({_NAME}/{_NAME}?)(?:\.git)?/?")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # no slash: not all addresses take one
_REF_TABLE = re.compile(r'^\[tool\.matmul-ladder\]\nref\s*=\s*"[^"\n]*"', re.MULTILINE)
_REPOSITORY_LINE = re.compile(r'^Repository\s*=\s*"[^"\n]*"', re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """A checkout of the course."""

    root: Path  # the folder that holds pyproject.toml
    repository: str = PLACEHOLDER  # "owner/name" on GitHub, or PLACEHOLDER while there is none
    lessons: tuple[Lesson, ...] = LESSONS  # the lessons that this checkout should hold
    ref: str = REF  # the branch or tag that a click leads to
    title: str = TITLE  # the course's name
    # the tasks of lessons that a course of one's own keeps; None: all
    tasks: frozenset[str] | None = None
    # what each exercise counts in a course of one's own; nothing is said of the others
    points: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def is_own(self) -> bool:
        """Whether somebody has chosen lessons, exercises, tasks and points for a course."""
        return self.tasks is not None or bool(self.points)

    def worth(self, exercise: str) -> str:
        """What an exercise counts in a course of one's own, for the end of a phrase."""
        points = self.points.get(exercise)
        return "" if points is None else f" ({decimal(points)} {plural('point', points)})"

    def points_of(self, exercise: str) -> float:
        """How many points an exercise is worth, in a course of one's own or in this one."""
        chosen = self.points.get(exercise)
        return float(sum(EXERCISES[exercise].points.values()) if chosen is None else chosen)

    @property
    def has_address(self) -> bool:
        return self.repository != PLACEHOLDER

    @property
    def archive(self) -> str:
        """Where the library that belongs to the notebooks can be installed from."""
        return f"https://github.com/{self.repository}/archive/{self.ref}.zip"

    def colab(self, path: str) -> str:
        """The address that opens a notebook on Colab; the path counts from the root."""
        at = f"{self.repository}/blob/{self.ref}"
        return f"https://colab.research.google.com/github/{at}/{path}"

    @property
    def binder(self) -> str:
        at = f"{self.repository}/{self.ref}"
        return f"https://mybinder.org/v2/gh/{at}?urlpath=lab/tree/notebooks"


def open_project(root: Path, lessons: tuple[Lesson, ...] = LESSONS) -> Project:
    """The project in a folder, as its pyproject.toml describes it."""
    everything = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    table, ours = everything["project"], everything.get("tool", {}).get("matmul-ladder", {})
    address = table.get("urls", {}).get("Repository", "")
    repository = repository_of(address) or PLACEHOLDER
    return Project(root, repository, lessons, ours.get("ref", REF))


def repository_of(address: str) -> str | None:
    """The "owner/name" in a GitHub address of any spelling; None for any other address."""
    found = _GITHUB.fullmatch(address.strip())
    return found.group(1) if found else None


def repository_of_remote(root: Path) -> str | None:
    """The repository that `git remote get-url origin` names, if it is one on GitHub."""
    return repository_of(git(root, "remote", "get-url", "origin") or "")


def git(root: Path, *words: str) -> str | None:
    """What git answers, without the line's end; None where it refuses, or is not there."""
    command = ["git", "-C", str(root), *words]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def set_repository(root: Path, repository: str) -> None:
    """Write the address into pyproject.toml; nothing else in the file changes.

    Raises:
        BuildError: if it is not "owner/name", or the file has no place for it.
    """
    if not re.fullmatch(f"{_NAME}/{_NAME}", repository):
        raise BuildError(f"a repository is written OWNER/NAME, not {repository!r}")
    path = root / "pyproject.toml"
    line = f'Repository = "https://github.com/{repository.removesuffix(".git")}"'
    text, found = _REPOSITORY_LINE.subn(line, path.read_text(encoding="utf-8"))
    if found != 1:
        raise BuildError("pyproject.toml needs one line `Repository = …` under [project.urls]")
    write_text(path, text)


def set_ref(root: Path, ref: str) -> None:
    """Write the branch or tag into pyproject.toml; nothing else in the file changes.

    Raises:
        BuildError: if no badge could name it.
    """
    if not _REF.fullmatch(ref):
        raise BuildError(f"a branch or tag for badges is one word without a slash, not {ref!r}")
    path = root / "pyproject.toml"
    before = path.read_text(encoding="utf-8")
    table = f'[tool.matmul-ladder]\nref = "{ref}"'
    text, found = _REF_TABLE.subn(table, before)
    write_text(path, text if found else f"{before.rstrip()}\n\n{table}\n")
