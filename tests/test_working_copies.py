"""Students work in copies: made once, never written over, told of updates, their links alive."""

import json
from pathlib import Path

import pytest

from course_lib.commands import lab
from course_lib.commands.lab import NOTE, make, told_of
from course_lib.curriculum import PATHFINDER
from course_lib.student import progress

ROOT = Path(__file__).parents[1]
LESSON = "notebooks/00_start_here.ipynb"


def notebook(*sources: str, output: str = "") -> str:
    cells = [{"cell_type": "code", "source": each, "outputs": [output]} for each in sources]
    return json.dumps({"cells": cells})


def sources(copy: Path) -> list[str]:
    return ["".join(each["source"]) for each in json.loads(copy.read_text())["cells"]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A course with one lesson and its exercise."""
    for folder in ("notebooks", "exercises"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "00_start_here.ipynb").write_text(notebook("1"))
    return tmp_path


def test_copies_are_made_at_first_use_and_not_again(root: Path) -> None:
    assert make(root) == []
    copy = root / "my" / LESSON
    assert sources(copy) == ["1"]
    assert (root / "my/exercises/00_start_here.ipynb").is_file()
    copy.write_text("my own work")
    assert make(root) == [] and copy.read_text() == "my own work"
    left = {path.name for path in (root / "my").rglob("*") if path.is_file()}
    assert left == {"00_start_here.ipynb", NOTE}, "nothing unfinished stays behind"


def test_above_its_first_task_a_lesson_shows_no_sign_of_a_run() -> None:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        tagged = ["task" in cell["metadata"].get("tags", []) for cell in cells]
        for cell in cells[: tagged.index(True) if True in tagged else 0]:
            if "setup" in cell["metadata"].get("tags", []):
                assert not cell["outputs"], path.name
            # nbval takes no outputs without a count.
            assert (cell.get("execution_count") is None) == (not cell.get("outputs")), path.name


def test_what_leads_copies_to_the_library_is_as_new_as_the_course(root: Path) -> None:
    for text in ("old", "new"):
        (root / "notebooks" / PATHFINDER).write_text(text)
        assert make(root) == []
        assert (root / "my/notebooks" / PATHFINDER).read_text() == text


def test_an_updated_lesson_is_told_until_it_is_taken(root: Path) -> None:
    make(root)
    copy = root / "my" / LESSON
    copy.write_text("my own work")
    (root / LESSON).write_text(notebook("2"))
    for _ in range(2):
        updated = make(root)
        assert updated == [f"my/{LESSON}"] and copy.read_text() == "my own work"
    line = told_of(updated)
    assert line.count("\n") == 0 and f"my/{LESSON}" in line and "rename" in line
    copy.rename(copy.with_name("mine.ipynb"))
    assert make(root) == []
    assert sources(copy) == ["2"]
    assert copy.with_name("mine.ipynb").read_text() == "my own work"
    assert make(root) == [] and told_of([]) == ""


@pytest.mark.parametrize(
    "note", ["", "[]", "{", '{"notebooks/00_start_here.ipynb": 7}', "[" * 99999]
)
def test_a_damaged_note_costs_nothing_but_a_reminder(note: str, root: Path) -> None:
    make(root)
    (root / "my" / LESSON).write_text("my own work")
    (root / "my" / NOTE).write_text(note)
    assert make(root) == []
    assert (root / "my" / LESSON).read_text() == "my own work"


def test_lab_opens_the_copy_or_says_that_there_is_none(monkeypatch, capsys):
    monkeypatch.setattr(lab, "make", lambda root, home: [f"my/{LESSON}"])
    assert lab.first_lesson() == (ROOT, f"my/{LESSON}")
    assert "Updated since you began" in capsys.readouterr().out

    def refuse(root: Path, home: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", "my")

    monkeypatch.setattr(lab, "make", refuse)
    assert lab.first_lesson() == (ROOT, LESSON)
    assert "Permission denied" in capsys.readouterr().out
    command = lab.command(False, [], f"my/{LESSON}", ROOT)
    assert f"--LabApp.default_url=/lab/tree/my/{LESSON}" in command


def test_copies_and_progress_can_lie_elsewhere(root, tmp_path, monkeypatch):
    """As for a course in a folder that cannot be written."""
    elsewhere = tmp_path / "not there yet" / "matmul-ladder"
    assert lab.make(root, elsewhere) == []
    assert (elsewhere / "my" / LESSON).exists() and not (root / "my").exists()
    monkeypatch.delenv("MATMUL_LADDER_PROGRESS", raising=False)
    monkeypatch.setenv("MATMUL_LADDER_HOME", str(elsewhere))
    assert progress.path() == elsewhere / "progress.json"
