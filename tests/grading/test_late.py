"""What Canvas's download says of who was late: shown, and charged where the settings say so."""

import csv
import zipfile
from pathlib import Path

import pytest
from every_case import every_case
from grading_helpers import RIGHT, lines_of, notebook

from course_lib import cli

# As Canvas's "Download Submissions" writes them: Bo was late, Cy in time at first and late with
# the second attempt, Dee is graded without a name, and Eve has typed into the text box.
FILES = {
    "lovelaceada_101_9001_00_start_here.ipynb": RIGHT,
    "bo_LATE_102_9002_00_start_here.ipynb": RIGHT,
    "cy_103_9003_00_start_here.ipynb": "# EXERCISE mat_add",
    "cy_LATE_103_9104_00_start_here-1.ipynb": RIGHT,
    "LATE_anon_Xy12Z_9005_00_start_here.ipynb": RIGHT,
    "eve_LATE_106_text.html": "<p>I can't.</p>",
}


@pytest.fixture
def canvas(looked_at: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The zip file; every answer that is there is right."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "submissions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text if name.endswith("html") else notebook(text))
    return path


def graded(*arguments: str) -> dict[str, dict[str, str]]:
    """The gradebook's lines, by name."""
    asked = ["submissions.zip", "--out", "grades", "--exercises", "mat_add", "--seed", "1"]
    assert cli.main(["grade", *asked, *arguments]) == 0
    return {line["submission"]: line for line in lines_of(Path("grades/grades.csv"))}


LATE = {"bo", "cy", "anon_Xy12Z", "eve"}


def test_the_flag_stands_in_the_table_and_costs_nothing(canvas, capsys):
    lines = graded()
    assert {name for name, line in lines.items() if line["late"] == "yes"} == LATE
    assert {line["late_days"] for line in lines.values()} == {"0"}
    assert [lines[name]["points"] for name in ("lovelaceada", "bo", "cy", "eve")] == ["10"] * 3 + [
        "0"
    ]
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Late, according to the file names: anon_Xy12Z, bo, cy, eve (this alone costs no points)"
        in said
    )
    assert "Handed in late." in Path("grades/feedback/bo-102.html").read_text()
    assert "in late" not in Path("grades/feedback/lovelaceada-101.html").read_text()


@pytest.mark.slow
@every_case(("rule", "noted", "points"), [
    ("flat = 0.2", "", {"lovelaceada": "10", "bo": "8", "cy": "8"}),
    ("per_day = 0.1", "", {"lovelaceada": "10", "bo": "10", "cy": "10"}),
    ("per_day = 0.1", "[bo]\nlate_days = 3\n", {"lovelaceada": "10", "bo": "7", "cy": "10"}),
    ("flat = 0.2", "[bo]\nlate_days = 0\n", {"bo": "10", "cy": "8"}),
    ("flat = 0.2", "[lovelaceada]\nlate_days = 1\n", {"lovelaceada": "8", "bo": "8"}),
    ("flat = 0.2\nper_day = 0.1", "[bo]\nlate_days = 2\n", {"bo": "6", "cy": "8"}),
    ("flat = 0.2\nper_day = 0.3\nat_most = 0.5", "[bo]\nlate_days = 2\n", {"bo": "5"}),
])  # fmt: skip
def test_it_costs_what_the_rule_says(canvas, rule, noted, points):
    Path("course.toml").write_text(f"[late]\n{rule}\n")
    Path("overrides.toml").write_text(noted)
    lines = graded("--settings", "course.toml")
    assert {name: lines[name]["points"] for name in points} == points
    with open("grades/canvas.csv", newline="", encoding="utf-8") as file:
        imported = {line[0]: line[-1] for line in csv.reader(file)}
    assert {name: imported[name] for name in points} == points
    assert lines["bo"]["late"] == ("" if "late_days = 0" in noted else "yes")
