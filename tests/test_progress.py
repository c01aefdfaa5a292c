"""What a student has passed is kept: whole or not at all, for nobody but a student."""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from course_lib.student import front_end, progress

ROOT = Path(__file__).parents[1]


pytestmark = pytest.mark.usefixtures("session_of_its_own")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of progress, and a student to keep it for."""
    monkeypatch.setattr(front_end, "has_a_student", lambda: True)
    monkeypatch.setenv(progress.SETTING, str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def new_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_session", progress._Session())


def test_what_was_passed_is_there_in_the_next_session(file, monkeypatch):
    progress.note_failure("put_seven")
    progress.note_passed("put_seven", "out[2] = 7\n", {"flops": 3}, {"NVIDIA H200": 0.25})
    new_session(monkeypatch)
    known = progress.entry("put_seven")
    assert known.passed and known.text == "out[2] = 7\n"
    assert (known.counts, known.milliseconds) == ({"flops": 3}, {"NVIDIA H200": 0.25})
    assert (known.failures, known.in_a_row) == (1, 0)
    assert set(os.listdir(file.parent)) == {"progress.json", ".progress.json.lock"}


NO_STUDENT = ("CI", "PYTEST_VERSION", "PYTEST_CURRENT_TEST")


@pytest.mark.parametrize("name", NO_STUDENT)
def test_tests_and_servers_touch_no_file(name, tmp_path, monkeypatch):
    for each in NO_STUDENT:
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setattr(front_end, "shell", lambda: object())
    monkeypatch.setenv(progress.SETTING, str(tmp_path / "progress.json"))
    assert progress.is_kept(), "a student in a notebook"
    monkeypatch.setenv(name, "1")
    progress.note_passed("put_seven", "")
    progress.note_failure("sectors")
    assert os.listdir(tmp_path) == []
    assert progress.entry("put_seven").passed, "the session remembers it all the same"


def test_a_script_has_no_progress_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in NO_STUDENT:
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setattr(front_end, "shell", lambda: None)
    monkeypatch.delattr(sys, "ps1", raising=False)
    assert not progress.is_kept()
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert progress.is_kept()
    monkeypatch.setenv(progress.SETTING, "off")
    assert not progress.is_kept()


def test_it_lies_beside_the_course_or_where_one_works(tmp_path, monkeypatch):
    monkeypatch.delenv(progress.SETTING, raising=False)
    monkeypatch.chdir(tmp_path)
    assert progress.path() == ROOT / "progress.json"
    installed = tmp_path / "site-packages/course_lib/student/progress.py"
    monkeypatch.setattr(progress, "__file__", str(installed))
    assert progress.path() == tmp_path / "progress.json"


DEEP = '{"answers": ' + "[" * 100_000
DAMAGED = {
    "cut off": '{"answers": {"put_seven": {"pas',
    "no json": "import os; os.system('true')",
    "a list": "[]",
    "no answers": '{"answers": 7}',
    "deep": DEEP,
    "deep but whole": '{"answers": {}, "more": ' + "[" * 900 + "]" * 900 + "}",
    "binary": "\x00\x01",
    "empty": "",
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_kept_aside_and_told_once(text, file, capsys):
    file.write_text(text)
    progress.note_passed("put_seven", "mine")
    progress.note_passed("sectors", "mine, too")
    said = capsys.readouterr().out
    kept = file.with_name("progress-damaged-1.json")
    if text == DAMAGED["deep but whole"] and not kept.exists():
        assert said == ""  # this Python can read and write it
    else:
        assert kept.read_text() == text
        assert said.count("\n") == 1 and "progress-damaged-1.json" in said
    assert progress.entry("put_seven").passed and progress.entry("sectors").passed
    assert json.loads(file.read_text())["answers"]["sectors"]["text"] == "mine, too"


HOSTILE = {
    "../../evil": {"passed": True},
    "<script>": {"passed": True},
    "wrong_type": {"passed": "yes"},
    "negative": {"failures": -1},
    "infinite": {"milliseconds": {"gpu": float("inf")}},
    "not_a_number": {"milliseconds": {"gpu": float("nan")}},
    "a_lesson": {"shown_in": "<b>"},
    "long": {"text": "x" * 50_000},
    "no_dict": 3,
}


def test_what_is_sound_in_a_hostile_file_goes_on(file, capsys):
    sound = {"put_seven": {"passed": True, "text": "\ud800", "of_a_newer_course": [1]}}
    before = json.dumps({"answers": HOSTILE | sound, "newer": 1})
    file.write_text(before)
    assert list(progress.entries()) == ["put_seven"]
    assert file.with_name("progress-damaged-1.json").read_text() == before
    file.write_text(before)
    progress.note_failure("sectors")
    assert file.with_name("progress-damaged-2.json").read_text() == before
    written = json.loads(file.read_text())
    assert set(written["answers"]) == {"put_seven", "sectors"}
    assert written["answers"]["put_seven"]["of_a_newer_course"] == [1]
    assert capsys.readouterr().out.count("is damaged") == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has none")
def test_a_pipe_in_its_place_is_not_read(file: Path) -> None:
    os.mkfifo(file)
    assert progress.entries() == {}


def test_where_nothing_can_be_written_the_session_goes_on(file, monkeypatch, capsys):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    progress.note_passed("put_seven", "mine")
    before = file.read_text()
    replace = os.replace
    monkeypatch.setattr(os, "replace", refuse)
    progress.note_passed("sectors", "mine")
    progress.note_passed("sectors", "mine")
    assert file.read_text() == before
    assert set(os.listdir(file.parent)) == {"progress.json", ".progress.json.lock"}
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and "No space left on device" in said
    assert progress.entry("sectors").passed, "the session remembers it"
    monkeypatch.setattr(os, "replace", replace)
    progress.note_failure("put_seven")
    assert set(json.loads(file.read_text())["answers"]) == {"put_seven", "sectors"}


def _fail_often(file: str, name: str) -> None:
    os.environ[progress.SETTING] = file
    front_end.has_a_student = lambda: True  # type: ignore[assignment]
    for _ in range(25):
        progress.note_failure(name)
        progress.note_failure("both")


def test_two_notebooks_lose_nothing_of_each_other(file: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        for each in [pool.submit(_fail_often, str(file), name) for name in ("one", "two")]:
            each.result(timeout=60)
    known = progress.entries()
    assert {name: each.failures for name, each in known.items()} == {
        "one": 25, "two": 25, "both": 50,
    }  # fmt: skip


def test_what_was_shown_is_owed_until_it_is_passed_in_a_later_lesson() -> None:
    progress.begin("00")
    progress.note_shown("put_seven", "00")
    progress.note_passed("put_seven", "as it was shown")
    assert progress.owed("00") == [] and progress.owed("") == []
    assert progress.owed("01") == progress.owed("05b") == ["put_seven"]
    progress.begin("01")
    progress.note_passed("put_seven", "unaided")
    assert progress.owed("02") == []


def test_the_file_is_ignored_by_git() -> None:
    names = ["progress.json", ".progress.json.lock", "progress-damaged-1.json", "my/notebooks/x"]
    done = subprocess.run(
        ["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 128:
        pytest.skip("no checkout of git")
    assert done.stdout.split() == names


HERE = {"add_ten": {"passed": True, "text": "here", "counts": {"flops": 1}, "failures": 4}}
THERE = {
    "add_ten": {"passed": True, "text": "there", "failures": 2, "milliseconds": {"H200": 0.5}},
    "sectors": {"passed": True, "text": "there", "note": "of a newer version"},
    "put_seven": {"failures": 3, "in_a_row": 3, "shown_in": "00"},
}


def record(answers: object, **others: object) -> str:
    return json.dumps({"matmul_ladder": 1, **others, "answers": answers})


def restored(*files: str) -> dict[str, object]:
    for file in files:
        progress.restore(file)
    return json.loads(progress.exported())["answers"]


@pytest.mark.parametrize("is_kept", [False, True])
def test_restoring_keeps_what_either_side_has_passed(is_kept, file, monkeypatch):
    monkeypatch.setattr(progress, "is_kept", lambda: is_kept)
    known = restored(record(HERE), record(THERE))
    assert known["add_ten"] == {
        "passed": True, "text": "here", "counts": {"flops": 1}, "failures": 4,
        "milliseconds": {"H200": 0.5},
    }  # fmt: skip
    assert known["sectors"] == THERE["sectors"] and known["put_seven"] == THERE["put_seven"]
    assert restored(record(THERE)) == known, "a second time changes nothing"
    assert file.exists() == is_kept


@pytest.mark.parametrize(("one", "other", "owed"), [
    ({"shown_in": "05"}, {}, "05"),
    ({"shown_in": "05"}, {"passed": True, "shown_in": "03"}, "05"),
    ({"passed": True, "shown_in": "05"}, {"passed": True}, ""),
    ({"shown_in": "05"}, {"passed": True, "shown_in": ""}, ""),
])  # fmt: skip
def test_what_is_owed_is_owed_until_it_was_passed_unaided(one, other, owed):
    for files in ((one, other), (other, one)):
        progress._session = progress._Session()
        known = restored(*(record({"add_ten": each}) for each in files))
        assert known["add_ten"]["shown_in"] == owed


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", "null", '{"answers": []}', "[" * 100_000, "1e999", "x" * 9_000_000]
)
def test_a_damaged_file_is_told_in_one_sentence_and_changes_nothing(damaged: str) -> None:
    restored(record(HERE))
    before = progress.exported()
    with pytest.raises(ValueError, match=r"^This is not a record [^.]*\.$"):
        progress.restore(damaged)
    assert progress.exported() == before


def test_of_a_file_that_is_damaged_in_part_the_rest_is_taken_over() -> None:
    said = progress.restore(record({**THERE, "add_ten": {"passed": 3}, "no id!": {}}))
    assert said.startswith("The file is damaged. The part that can be read (2 tasks")
    assert set(progress.entries()) == {"sectors", "put_seven"}
