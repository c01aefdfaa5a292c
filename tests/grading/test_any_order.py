"""Commands into one folder, in any order: no counted answer is lost, or changes without a word."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from grading_helpers import RIGHT, WRONG, files_in, lines_of, notebook
from sampling import marks

from course_lib import cli
from course_lib.grading.sealed import FileSet, checksum

CLASS = {"Ada King": 11, "Bo": 12, "Cara": 13}
pytestmark = pytest.mark.usefixtures("looked_at")


def counted(out: Path) -> dict[str, dict[str, Any]]:
    path = out / ".work/counted.json"
    if not path.exists():
        return {}
    students = json.loads(path.read_text())["holds"]["counted"]
    return {each["submission"]["student"]: each for each in students}


def texts(record: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: each["answers"][0]["text"] for name, each in record.items()}


class Office:
    """An instructor's desk: the class's folder, files that came by mail, and one --out."""

    def __init__(self, place: Path, draw: random.Random, caplog: pytest.LogCaptureFixture) -> None:
        self.place, self.draw, self.caplog = place, draw, caplog
        self.out, self.overrides = place / "out", place / "overrides.toml"
        self.number = 0
        self.named: dict[str, str] = {}  # the answers given with --only
        self.points: dict[str, int] = {}  # set by hand
        self.overrides.write_text("")
        for name in CLASS:
            self.hand_in(name)

    # --- what happens before a command ------------------------------------------------------------

    def answer(self) -> str:
        self.number += 1
        return f"{self.draw.choice((RIGHT, WRONG))}# number {self.number}\n"

    def hand_in(self, name: str, text: str | None = None) -> None:
        folder = self.place / "class" / f"{name}_{CLASS[name]}_assignsubmission_file_"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.ipynb").write_text(notebook(self.answer()) if text is None else text)

    def mail(self, path: str) -> str:
        text = self.answer()
        (self.place / path).parent.mkdir(parents=True, exist_ok=True)
        (self.place / path).write_text(notebook(text))
        return text

    # --- commands ---------------------------------------------------------------------------------

    def of_the_class(self) -> list[object]:
        return [self.place / "class"]

    def resubmitted(self) -> list[object]:
        self.hand_in(self.draw.choice(list(CLASS)))
        return self.of_the_class()

    def cut_off(self) -> list[object]:
        self.hand_in(self.draw.choice(list(CLASS)), notebook(RIGHT)[:-30])
        return self.of_the_class()

    def emptied(self) -> list[object]:
        self.hand_in(self.draw.choice(list(CLASS)), notebook("x = 1"))
        return self.of_the_class()

    def appeal(self) -> list[object]:
        name, path = self.draw.choice(list(CLASS)), f"mail/{self.number}.ipynb"
        self.named[name] = self.mail(path)
        return [self.place / path, "--only", name]

    def folder_of_the_name(self) -> list[object]:
        name, top = self.draw.choice(list(CLASS)), f"mail/box{self.number}"
        self.named[name] = self.mail(f"{top}/{name}/05.ipynb")
        return [self.place / top, "--only"]

    def late(self) -> list[object]:
        top = f"mail/late{self.number}"
        self.named["dee"] = self.mail(f"{top}/dee.ipynb")
        return [self.place / top, "--only"]

    def back_to_the_class(self) -> list[object]:
        name = self.draw.choice(list(CLASS))
        self.named.pop(name, None)
        self.asked_back = name
        return [self.place / "class", "--only", name]

    def set_by_hand(self) -> list[object]:
        self.points[self.draw.choice(list(CLASS))] = self.draw.randint(0, 9)
        tables = [f'["{name}".mat_add]\npoints = {n}\n' for name, n in self.points.items()]
        self.overrides.write_text("".join(tables))
        return self.of_the_class()

    def part_of_the_class(self) -> list[object]:
        """Refused: the others would be lost."""
        self.mail("part/Bo_12_assignsubmission_file_/a.ipynb")
        return [self.place / "part"]

    COMMANDS = (
        of_the_class, resubmitted, cut_off, emptied, appeal, folder_of_the_name, late,
        back_to_the_class, set_by_hand, part_of_the_class,
    )  # fmt: skip

    # --- giving them ------------------------------------------------------------------------------

    def run(self, arguments: list[object]) -> tuple[int, str]:
        self.caplog.clear()
        status = cli.main(["grade", *map(str, arguments), "--out", str(self.out)])
        return status, self.caplog.text

    def interrupted(self, arguments: list[object], patched: pytest.MonkeyPatch) -> None:
        """The same command on a disk that is full from some moment on, for good."""
        real, left = os.replace, [self.draw.randint(0, 12)]

        def replace(*paths: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
            real(*paths)

        patched.setattr(os, "replace", replace)
        self.run(arguments)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=marks(seed, fast=12, slow=4)) for seed in range(12)]
)
def test_any_order(tmp_path, caplog, monkeypatch, seed):
    office = begun(tmp_path, caplog, seed)
    for _ in range(10):
        command = office.draw.choice(Office.COMMANDS)
        before = counted(office.out)
        arguments = command(office)
        if office.draw.random() < 0.3:
            with monkeypatch.context() as patched:
                office.interrupted(arguments, patched)
            if (office.out / ".work/before").exists():
                FileSet(office.out, office.out / ".work")  # as any next command begins
        there = counted(office.out)  # an interrupted run may have come to its end
        status, said = office.run(arguments)
        after = counted(office.out)
        assert status == (command is Office.part_of_the_class), said
        check_changes(there, after, said)
        check_grades(office, after)
        check_rules(office, before, after)
        all_files = files_in(office.out)
        office.run(arguments)
        assert files_in(office.out) == all_files, command


def check_changes(before: dict[str, Any], after: dict[str, Any], said: str) -> None:
    """Each change of what counted is said and remembered; nobody and no history is lost."""
    assert set(before) <= set(after)
    for name, old in before.items():
        new = after[name]
        history, longer = old["history"]["mat_add"], new["history"]["mat_add"]
        assert longer[: len(history)] == history
        was, now = old["answers"][0], new["answers"][0]
        if (was["text"], was["problem"]) != (now["text"], now["problem"]):
            assert f"{name}, mat_add: {now['file']} [" in said and "counts now" in said
            assert len(longer) == len(history) + 1
        if len(longer) > len(history) and len(longer) > 1:
            assert f"{name}, mat_add" in said


def check_grades(office: Office, after: dict[str, Any]) -> None:
    """The tables are those of the record; seed and points set by hand are as they were."""
    assert json.loads((office.out / ".work/run.json").read_text())["holds"]["seed"] == 7
    rows = {row["submission"]: row for row in lines_of(office.out / "grades.csv")}
    assert set(rows) == set(after)
    for name, row in rows.items():
        event = after[name]["history"]["mat_add"][-1]
        text, problem = (after[name]["answers"][0][each] for each in ("text", "problem"))
        assert event["digest"] == ("" if problem else checksum(text.encode()))
        assert (row["points"], row["verdict"]) == (event["points"] or "", event["verdict"])
    for name, points in office.points.items():
        assert rows[name]["set"] == rows[name]["points"] == str(points)


def check_rules(office: Office, before: dict[str, Any], after: dict[str, Any]) -> None:
    """What was given with --only counts, and no answer has given way to none."""
    now = texts(after)
    for name, text in office.named.items():
        assert text.strip() in now[name], name
    for name, text in texts(before).items():
        assert bool(now[name]) >= bool(text)


def begun(place: Path, caplog: pytest.LogCaptureFixture, seed: int = 1) -> Office:
    """A desk whose class is graded."""
    office = Office(place, random.Random(seed), caplog)
    first = [*office.of_the_class(), "--seed", 7, "--overrides", office.overrides]
    assert office.run([*first, "--exercises", "mat_add"])[0] == 0
    return office


@pytest.fixture
def graded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Office:
    return begun(tmp_path, caplog)


def test_a_file_about_one_exercise_leaves_the_others_to_the_class(tmp_path, caplog):
    """An appeal over one answer neither drops the answers to others nor holds on to them."""
    other = RIGHT.replace("mat_add", "matmul_naive").replace("+ B", "* B")
    office = Office(tmp_path, random.Random(1), caplog)
    office.hand_in("Bo", notebook(WRONG, other))
    first = [*office.of_the_class(), "--exercises", "mat_add", "matmul_naive", "--seed", 7]
    assert office.run(first)[0] == 0
    office.mail("that_file.ipynb")
    status, said = office.run([tmp_path / "that_file.ipynb", "--only", "Bo"])
    assert status == 0 and "Bo, mat_add: that_file.ipynb [" in said
    assert "Bo, matmul_naive: a.ipynb [" in said and "there is no answer to it" in said
    office.hand_in("Bo", notebook(WRONG, other + "# better"))
    status, said = office.run(office.of_the_class())
    assert status == 0 and "Bo, mat_add: that_file.ipynb [" in said
    (naive,) = [line for line in said.splitlines() if "Bo, matmul_naive:" in line]
    assert "counts now" in naive and "until now a.ipynb [" in naive
    record = counted(office.out)["Bo"]
    assert record["named"] == ["mat_add"]
    assert record["answers"][1]["text"].endswith("# better")


def damaged(data: bytes) -> list[bytes]:
    """What is left of a record; that every changed bit is noticed is held in test_replacing."""
    wrong_sum = data.replace(b'"checksum": "', b'"checksum": "0', 1)
    other = data.replace(b'"seed": 7', b'"seed": 8')
    return [b"", data[: len(data) // 2], b"{}", b"[]", wrong_sum, *[other] * (other != data)]


@pytest.mark.parametrize("name", ["run.json", "counted.json"])
def test_a_damaged_record_stops_the_run(graded, capsys, name):
    path = graded.out / ".work" / name
    whole, before = path.read_bytes(), files_in(graded.out)
    for data in damaged(whole):
        path.write_bytes(data)
        for more in ([], ["--explain", "Bo", "mat_add"], ["--only", "Bo"]):
            capsys.readouterr()
            assert graded.run([*graded.of_the_class(), *more])[0] == 1
            said = capsys.readouterr().err
            assert said.count("\n") == 1 and f"{name} is damaged" in said
            assert files_in(graded.out) == {**before, f".work/{name}": data}
    if name == "run.json":
        assert "Delete it, and the same command continues" in said
        path.unlink()
        assert graded.run(graded.of_the_class())[0] == 0
        assert files_in(graded.out) == before


def test_the_history_is_told(graded: Office, capsys: pytest.CaptureFixture[str]) -> None:
    graded.named["Bo"] = graded.mail("that_file.ipynb")
    assert graded.run([graded.place / "that_file.ipynb", "--only", "Bo"])[0] == 0
    graded.points["Bo"] = 9
    graded.overrides.write_text("[Bo.mat_add]\npoints = 9\n")
    assert graded.run(graded.of_the_class())[0] == 0
    capsys.readouterr()
    assert graded.run([*graded.of_the_class(), "--explain", "Bo", "mat_add"])[0] == 0
    explained, _, history = " ".join(capsys.readouterr().out.split()).partition("History: ")
    assert "that_file.ipynb" in explained  # and not what the folder of the class holds
    first, second, third = history.split(" UTC: ")[1:]
    assert "points (" in first and "a.ipynb [" in first and "by `grade " in first
    assert "that_file.ipynb [" in second and "--only Bo" in second
    assert "→ 9 points" in third and "that_file.ipynb [" in third
    assert "which counted before: 1 | # EXERCISE mat_add" in third and "# number 2" in third


@pytest.mark.skipif(os.name == "nt", reason="permissions as POSIX has them")
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_what_is_private_stays_private(graded: Office, umask: int) -> None:
    archive = graded.out / "moodle_feedback.zip"
    tables = "grades.csv moodle.csv report.html".split()
    archive.chmod(0o644)
    for path in (graded.out / ".work", graded.out / "feedback"):
        path.chmod(0o755)
        for below in path.iterdir():
            below.chmod(0o644)
    (graded.out / "feedback/Bo-12.html").write_text("Well done, Bo")
    graded.hand_in("Cara")
    before = os.umask(umask)
    try:
        assert graded.run(graded.of_the_class())[0] == 0
    finally:
        os.umask(before)
    assert archive.stat().st_mode & 0o777 == 0o600
    assert {(graded.out / name).stat().st_mode & 0o777 for name in tables} == {0o644}
    for name in (".work", "feedback", "changed_by_hand"):
        assert (graded.out / name).stat().st_mode & 0o777 == 0o700
        for path in (graded.out / name).iterdir():
            assert path.stat().st_mode & 0o777 == 0o600, path
