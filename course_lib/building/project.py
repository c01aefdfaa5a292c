"""The course as a folder: where its notebooks lie, its version, and its one address.

The address of the repository is written in pyproject.toml, under [project.urls], and read from
there by everything that needs it.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

from course_lib.building.notebook import BuildError, write_text
from course_lib.curriculum import LESSONS, Lesson

PLACEHOLDER = "OWNER/NAME"
_NAME = r"[A-Za-z0-9_.-]+"
_GITHUB = re.compile(rf"(?:https://|ssh://git@|git@)github\.com[/:]({_NAME}/{_NAME}?)(?:\.git)?/?")
_REPOSITORY_LINE = re.compile(r'^Repository\s*=\s*"[^"\n]*"', re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """A checkout of the course.

    Attributes:
        root: the folder that holds pyproject.toml.
        repository: "owner/name" on GitHub, or PLACEHOLDER while there is none.
        version: the version in pyproject.toml; its tag is `v` and the version.
        lessons: the lessons that this checkout should hold.
    """

    root: Path
    repository: str = PLACEHOLDER
    version: str = "0.0.0"
    lessons: tuple[Lesson, ...] = LESSONS

    @property
    def has_address(self) -> bool:
        return self.repository != PLACEHOLDER

    @property
    def archive(self) -> str:
        """Where the library of this version can be installed from."""
        return f"https://github.com/{self.repository}/archive/refs/tags/v{self.version}.zip"

    def colab(self, path: str) -> str:
        """The address that opens a notebook on Colab; the path counts from the root."""
        return f"https://colab.research.google.com/github/{self.repository}/blob/main/{path}"

    @property
    def binder(self) -> str:
        return f"https://mybinder.org/v2/gh/{self.repository}/main?urlpath=lab/tree/notebooks"


def open_project(root: Path, lessons: tuple[Lesson, ...] = LESSONS) -> Project:
    """The project in a folder, as its pyproject.toml describes it."""
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = table.get("urls", {}).get("Repository", "")
    version = table.get("version") or _version_of_library(root)
    return Project(root, repository_of(address) or PLACEHOLDER, version, lessons)


def repository_of(address: str) -> str | None:
    """The "owner/name" in a GitHub address of any spelling; None for any other address."""
    found = _GITHUB.fullmatch(address.strip())
    return found.group(1) if found else None


def repository_of_remote(root: Path) -> str | None:
    """The repository that `git remote get-url origin` names, if it is one on GitHub."""
    command = ["git", "-C", str(root), "remote", "get-url", "origin"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return repository_of(answer.stdout) if answer.returncode == 0 else None


def _version_of_library(root: Path) -> str:
    """The version as the library states it, for a pyproject.toml that reads it from there."""
    text = (root / "course_lib" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    if not found:
        raise BuildError("neither pyproject.toml nor course_lib states a version")
    return found.group(1)


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
