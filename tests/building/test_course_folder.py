"""An installed package lays the course out: once, up to date, and nothing of yours is lost."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course_lib.commands import course_folder, front_door
from course_lib.commands.course_folder import NOTE, lay_out, place
from course_lib.curriculum import LESSONS

ROOT = Path(__file__).resolve().parents[2]
NOT_SHIPPED = (
    "tests", "solutions", "benchmarks", ".ci", ".devcontainer", ".github", "setup.py",
    "MANIFEST.in", ".pre-commit-config.yaml",
)  # fmt: skip


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package of three files; `update` in a test gives it another fingerprint."""
    library = tmp_path / "site-packages" / "course_lib"
    files = {"__init__.py": "library", "shipped/course.py": "front door"}
    for name, text in (files | {"shipped/notebooks/00.ipynb": "lesson"}).items():
        path = library / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(course_folder, "LIBRARY", library)
    monkeypatch.setattr(course_folder, "SHIPPED", library / "shipped")
    fingerprint = library / "__init__.py"
    monkeypatch.setattr(course_folder, "_fingerprint", fingerprint.read_text)
    return library


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != NOTE]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_a_course_is_laid_out_once(package: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    assert lay_out(folder) == (3, [])
    assert contents(folder) == {
        "course.py": "front door",
        "course_lib/__init__.py": "library",
        "notebooks/00.ipynb": "lesson",
    }
    (folder / "notebooks" / "00.ipynb").write_text("mine")
    assert lay_out(folder) == (0, [])
    assert contents(folder)["notebooks/00.ipynb"] == "mine"
    for damaged in ("", "{", "[]"):
        (folder / NOTE).write_text(damaged)
        assert lay_out(folder) == (0, ["notebooks/00.ipynb"])


def test_a_newer_package_keeps_what_somebody_changed(package: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    lay_out(folder)
    (folder / "notebooks" / "00.ipynb").write_text("mine")
    (folder / "notebooks" / "own.ipynb").write_text("mine, too")
    (package / "__init__.py").write_text("newer library")
    (package / "shipped" / "notebooks" / "00.ipynb").write_text("newer lesson")
    (package / "shipped" / "course.py").rename(package / "shipped" / "door.py")
    assert lay_out(folder) == (2, ["notebooks/00.ipynb"])
    assert contents(folder) == {
        "course_lib/__init__.py": "newer library",
        "door.py": "front door",
        "notebooks/00.ipynb": "mine",
        "notebooks/own.ipynb": "mine, too",
    }


def test_a_checkout_stays_as_it_is_and_elsewhere_the_course_has_its_place(package, tmp_path):
    folder = tmp_path / "checkout"
    (folder / "course_lib").mkdir(parents=True)
    (folder / "course.py").write_text("a checkout's")
    assert place(folder) == folder
    assert lay_out(folder) == (0, [])
    assert contents(folder) == {"course.py": "a checkout's"}
    empty = tmp_path / "empty"
    empty.mkdir()
    assert place(empty) == empty
    (empty / ".git").mkdir()
    assert place(empty) == empty
    (empty / "thesis.tex").touch()
    assert place(empty) == empty / "matmul-ladder"


def test_the_command_goes_on_in_the_folder(package, tmp_path, monkeypatch, capsys):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    became: list[list[str]] = []
    monkeypatch.setattr(front_door, "become", lambda command: became.append(command) or 0)
    assert course_folder.main(["run", "00"]) == 0
    assert became == [[sys.executable, str(here / "course.py"), "run", "00"]]
    assert f"The course is in {here}: 3 files." in capsys.readouterr().err
    assert course_folder.main(["rum"]) == 2
    assert "did you mean run?" in capsys.readouterr().err
    assert course_folder.main(["--help"]) == 0
    assert "usage: matmul-ladder COMMAND" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_cannot_be_written_is_said(package, tmp_path, monkeypatch, capsys):
    here = tmp_path / "here"
    here.mkdir(mode=0o500)
    monkeypatch.chdir(here)
    assert course_folder.main(["lab"]) == 1
    assert "Run this in a folder of your own." in capsys.readouterr().err


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course as a wheel, made from what git has."""
    folder = tmp_path_factory.mktemp("wheel")
    clone = ["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), str(folder / "clone")]
    subprocess.run(clone, check=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(folder / "clone")], check=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
@pytest.mark.workshop
def test_the_wheel_holds_the_course(wheel: Path) -> None:
    tracked = subprocess.check_output(["git", "-C", str(ROOT), "ls-files"], text=True).split("\n")
    wanted = {name for name in tracked if name and name.split("/")[0] not in NOT_SHIPPED}
    with zipfile.ZipFile(wheel) as archive:
        held = {name.removeprefix("course_lib/shipped/") for name in archive.namelist()}
    assert wanted - held == set()


@pytest.mark.long
@pytest.mark.workshop
def test_an_installed_package_is_the_course(wheel: Path, tmp_path: Path) -> None:
    """From a wheel in an environment of its own, in an empty folder: a run, a release, a grade."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    tools = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([str(tools / "python"), "-m", "pip", "install", "-q", str(wheel)], check=True)
    here = tmp_path / "here"
    here.mkdir()
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def said(*arguments: str) -> str:
        command = [str(tools / "matmul-ladder"), *arguments]
        done = subprocess.run(command, cwd=here, env=clean, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "1 of 1 ran to the end" in said("run", "00")
    assert f"{len(LESSONS)} lessons" in said("release", "--out", "class")
    (here / "in" / "ann").mkdir(parents=True)
    exercise = here / "exercises" / "02_naive_matmul.ipynb"
    (here / "in" / "ann" / exercise.name).write_bytes(exercise.read_bytes())
    assert "1 submission, 1 row: 1 missing." in said("grade", "in", "--out", "grades")
    assert "no broken link" in said("book")
