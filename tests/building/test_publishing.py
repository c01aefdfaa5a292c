"""`build --repository` and `--ref` end with the steps that only a maintainer can take."""

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from course_lib.building.project import Project
from course_lib.building.release import is_tag, steps_left

HOME = "https://github.com/some-one/course"
PUBLIC = f"{HOME} must be public: Colab asks without a password."


@pytest.fixture
def placed(course: Project) -> Project:
    """The tiny course, all of it committed on the branch main, with an address."""
    git(course, "init", "-q", "-b", "main")
    commit(course)
    return dataclasses.replace(course, repository="some-one/course")


def git(project: Project, *words: str) -> None:
    names = {
        f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    command = ["git", "-C", str(project.root), *words]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | names)


def commit(project: Project) -> None:
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "x")


def pushed(project: Project, folder: Path) -> None:
    """As if `origin` were GitHub: a bare repository whose address is replaced afterwards."""
    bare = folder / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    git(project, "remote", "add", "origin", str(bare))
    git(project, "push", "-q", "origin", "HEAD:main")
    git(project, "remote", "set-url", "origin", f"{HOME}.git")


def test_without_an_address_that_comes_first(course: Project) -> None:
    assert steps_left(course) == ["python3 course.py build --repository OWNER/NAME"]


def test_a_branch_needs_no_tag(placed: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert steps_left(placed) == [
        f"git remote add origin {HOME}.git", "git push origin main", PUBLIC,
    ]  # fmt: skip
    pushed(placed, tmp_path_factory.mktemp("github"))
    assert steps_left(placed) == [PUBLIC]
    (placed.root / "README.md").write_text("changed")
    assert [each.split(" --message")[0] for each in steps_left(placed)] == [
        "git commit --all", "git push origin main", PUBLIC,
    ]  # fmt: skip
    commit(placed)
    assert steps_left(placed) == ["git push origin main", PUBLIC]
    git(placed, "switch", "-q", "-c", "draft")
    assert steps_left(placed) == ["git push origin HEAD:main", PUBLIC]


def test_a_tag_is_made_and_pushed(placed, tmp_path_factory):
    pushed(placed, tmp_path_factory.mktemp("github"))
    project = dataclasses.replace(placed, ref="v1.2.3")
    assert steps_left(project) == ["git tag v1.2.3", "git push origin v1.2.3", PUBLIC]
    git(project, "tag", "v1.2.3")
    assert steps_left(project) == ["git push origin v1.2.3    (unless it is there)", PUBLIC]
    (project.root / "README.md").write_text("changed")
    commit(project)
    assert steps_left(project) == [
        "git tag --force v1.2.3", "git push --force origin v1.2.3", PUBLIC,
    ]  # fmt: skip


def test_another_remote_is_told(placed: Project) -> None:
    git(placed, "remote", "add", "origin", "https://github.com/other/place.git")
    assert steps_left(placed)[0] == (
        f"git remote set-url origin {HOME}.git    (it is https://github.com/other/place.git)"
    )


@pytest.mark.parametrize(
    ("ref", "tag"), [("main", False), ("v1.2.3", True), ("1.0", True), ("spring", False)]
)
def test_what_is_not_there_yet_is_a_tag_if_it_looks_like_a_version(placed, ref, tag):
    project = dataclasses.replace(placed, ref=ref)
    assert is_tag(project) == tag
    if tag:
        git(project, "branch", ref)
        assert not is_tag(project)
    elif ref != "main":
        git(project, "tag", ref)
        assert is_tag(project)
