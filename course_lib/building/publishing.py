"""What a maintainer must still do before a click on a badge works, as far as this copy knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from course_lib.building.project import Project, git

_VERSION = re.compile(r"v?\d+(\.\d+)*")


def steps_left(project: Project) -> list[str]:
    """The steps in their order; none where GitHub has all of it.

    Nothing is asked of the network. What lies on GitHub is what the last fetch or push has seen of
    a branch; whether it has a tag cannot be known, so that one is always named.
    """
    if not project.has_address:
        return ["python3 course.py build --repository OWNER/NAME"]
    return [*_of_git(project), *_of_github(project)]


def _of_git(project: Project) -> Iterator[str]:
    root, ref = project.root, project.ref
    home = f"https://github.com/{project.repository}"
    remote = git(root, "remote", "get-url", "origin")
    if remote is None:
        yield f"git remote add origin {home}.git"
    elif project.repository not in remote:
        yield f"git remote set-url origin {home}.git    (it is {remote})"
    changed = git(root, "status", "--porcelain") != ""
    if changed:
        yield f'git commit --all --message "Notebooks of {project.repository}, {ref}"'
    if is_tag(project):
        if changed or git(root, "rev-parse", f"{ref}^{{commit}}") != git(root, "rev-parse", "HEAD"):
            moved = "--force " if git(root, "tag", "--list", ref) else ""
            yield f"git tag {moved}{ref}"
            yield f"git push {moved}origin {ref}"
        else:
            yield f"git push origin {ref}    (unless it is there)"
    elif changed or git(root, "merge-base", "--is-ancestor", "HEAD", f"origin/{ref}") is None:
        on = git(root, "branch", "--show-current")
        yield f"git push origin {ref}" if on == ref else f"git push origin HEAD:{ref}"


def _of_github(project: Project) -> Iterator[str]:
    yield f"https://github.com/{project.repository} must be public: Colab asks without a password."


def is_tag(project: Project) -> bool:
    """Whether badges lead to a tag; a ref that is not there yet is one if it looks like a version.

    Where a branch and a tag have one name, GitHub's archive is the branch's.
    """
    if git(project.root, "branch", "--list", project.ref):
        return False
    known = bool(git(project.root, "tag", "--list", project.ref))
    return known or bool(_VERSION.fullmatch(project.ref))
