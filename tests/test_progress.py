"""What a student has passed is kept, shown, offered again and climbed: whole or not at all."""

import inspect
import json
import linecache
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32
from sampling import few

import course_lib
from course_lib import own_ladder as ladder
from course_lib import shown_answers as helping
from course_lib.building.notebook import answer_cells, read, source
from course_lib.curriculum import EXERCISES, LESSONS, RUNGS, TASKS, Exercise
from course_lib.host import runtime
from course_lib.student import front_end, progress
from course_lib.timing import Timing, TimingUnavailable
from course_lib.wording.errors import PlainError

pytestmark = pytest.mark.usefixtures("session_of_its_own")

ROOT = Path(__file__).parents[1]


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


def test_a_script_has_no_progress_to_keep_and_it_lies_beside_the_course(monkeypatch, tmp_path):
    for each in NO_STUDENT:
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setattr(front_end, "shell", lambda: None)
    monkeypatch.delattr(sys, "ps1", raising=False)
    assert not progress.is_kept()
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert progress.is_kept()
    monkeypatch.setenv(progress.SETTING, "off")
    assert not progress.is_kept()
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
    failures = {name: each.failures for name, each in known.items()}
    assert failures == {"one": 25, "two": 25, "both": 50}


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


def test_a_damaged_file_is_told_in_one_sentence_and_changes_nothing() -> None:
    restored(record(HERE))
    before = progress.exported()
    damaged = ["", "{", "[]", "null", '{"answers": []}', "[" * 100_000, "1e999", "x" * 9_000_000]
    for text in damaged:
        with pytest.raises(ValueError, match=r"^This is not a record [^.]*\.$"):
            progress.restore(text)
        assert progress.exported() == before


def test_of_a_file_that_is_damaged_in_part_the_rest_is_taken_over() -> None:
    said = progress.restore(record({**THERE, "add_ten": {"passed": 3}, "no id!": {}}))
    assert said.startswith("The file is damaged. The part that can be read (2 tasks")
    assert set(progress.entries()) == {"sectors", "put_seven"}


assert float32  # the answers below use it


@cuda.jit
def unguarded(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10


@cuda.jit
def guarded(a, out):
    i = cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10


@cuda.jit
def still_given(a, out):
    """out[i] = a[i] + 10, for each of the four elements."""
    i = cuda.threadIdx.x  # noqa: F841
    ...


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_three_failures_in_a_row_offer_an_answer_and_what_passes_is_the_students_own(capsys):
    offer = 'Stuck? course_lib.show_answer("add_ten_guarded") shows an answer.'
    course_lib.check("add_ten_guarded", still_given)
    for _ in range(2):
        course_lib.check("add_ten_guarded", unguarded)
        assert "Stuck?" not in said(capsys)
    course_lib.check("add_ten_guarded", unguarded)
    assert offer in said(capsys)
    course_lib.check("add_ten_guarded", guarded)
    course_lib.check("add_ten_guarded", unguarded)
    assert "Stuck?" not in said(capsys)
    assert course_lib.yours_or_ours("add_ten_guarded", guarded) is guarded
    assert said(capsys) == "add_ten_guarded: yours, since it passes.\n"


def test_an_answer_is_shown_and_asked_for_again(capsys: pytest.CaptureFixture[str]) -> None:
    runtime.start("00")
    course_lib.show_answer("add_ten_guarded")
    assert TASKS["add_ten_guarded"].answer.strip() in said(capsys)
    again = 'unaided, in a cell of your own, and run course_lib.check("add_ten_guarded", add_ten'
    for lesson in ("00", ""):
        runtime.start(lesson)
        assert "unaided" not in said(capsys)
    runtime.start("01")
    assert again in said(capsys)
    course_lib.check("add_ten_guarded", helping.ours("add_ten_guarded"))
    runtime.start("01")
    assert again in said(capsys), "ours is nobody's own answer"
    course_lib.check("add_ten_guarded", guarded)
    said(capsys)
    runtime.start("02")
    assert "unaided" not in said(capsys)


def test_what_is_graded_is_never_shown_nor_offered_nor_replaced(capsys):
    course_lib.show_answer("matmul_tiled")
    text = said(capsys)
    assert text.startswith("matmul_tiled is graded") and text.count("\n") == 1
    course_lib.show_answer("add_ten_garded")
    assert "Did you mean add_ten_guarded" in said(capsys)
    assert progress.entries() == {}
    for _ in range(4):
        with pytest.raises(PlainError):
            course_lib.check("mat_add", unguarded)
    assert "Stuck?" not in said(capsys)
    with pytest.raises(PlainError, match="is graded"):
        course_lib.yours_or_ours("mat_add", guarded)


@pytest.mark.parametrize(("yours", "why"), [
    (unguarded, "does not pass yet (line {}, read outside an array)"),
    (still_given, "is not written yet"),
    (None, "does not pass yet"),
])  # fmt: skip
def test_ours_stands_in_and_says_why(yours, why, capsys):
    line = inspect.getsourcelines(unguarded.py_func)[1] + 3
    kernel = course_lib.yours_or_ours("add_ten_guarded", yours)
    text = said(capsys)
    assert text.startswith("add_ten_guarded: ours stands in, since yours " + why.format(line))
    assert text.count("\n") == 1
    a, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert not course_lib.emulate(kernel)[1, 8](a, out).errors
    assert out.tolist() == [10, 11, 12, 13]


# Its source is the task's answer, which passes as text: tests/tasks. A few pass as objects here.
JUDGED_AS_OBJECTS = {name for number, name in enumerate(TASKS) if number % 16 == 0}


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_ours_is_a_real_object_with_a_source(task) -> None:
    answer = course_lib.yours_or_ours(task.id)
    if not task.kind.is_function:
        assert set(answer) == set(task.names_to_define)
        return
    function = getattr(answer, "py_func", answer)
    assert inspect.getsource(function).strip() in task.answer
    assert hasattr(answer, "targetoptions") == task.kind.is_launched
    if task.id in JUDGED_AS_OBJECTS:
        assert course_lib.examine(task.id, answer).passed


HEAD = "from numba import cuda, float32\nimport numpy as np\n"
ASKED = [each for each in (*TASKS.values(), *EXERCISES.values()) if each.rung]


def solution(exercise: Exercise) -> Any:
    """The course's answer as an object."""
    if exercise.id in TASKS:
        text = TASKS[exercise.id].answer
    else:
        stem = next(each.stem for each in LESSONS if each.number == exercise.lesson)
        cells = answer_cells(read(ROOT / "solutions" / f"{stem}.ipynb"))
        text = source(cells[exercise.id])
    return defined(text, exercise.id)


def defined(text: str, name: str) -> Any:
    filename = f"<answer {hash(text)}>"
    linecache.cache[filename] = (len(text), None, (HEAD + text).splitlines(True), filename)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(HEAD + text, filename, "exec"), names)
    return names[name]


@pytest.mark.parametrize("exercise", few(ASKED, 5))
def test_the_stored_counts_are_those_of_the_answer(exercise: Exercise) -> None:
    counted = ladder.counts_on_ladder(exercise, solution(exercise))
    assert counted
    columns = {name: counted[name] for name in ladder.COLUMNS.values()}
    assert columns == ladder.REFERENCE[exercise.id]


@pytest.mark.parametrize("name", ladder.LADDERS)
def test_a_ladder_has_the_rungs_that_a_student_writes_from_the_bottom_up(name: str) -> None:
    asked = [exercise.rung for exercise in ASKED if exercise.ladder == name]
    names = dict.fromkeys([*(rung.name for rung in RUNGS), *asked])
    rungs = [step.rung for step in ladder.whole_ladder(of=name)]
    assert rungs == [rung for rung in names if rung in asked]
    assert ladder.own_ladder(of=name) == ()


def test_a_wrong_kernel_and_one_that_cannot_run_count_nothing() -> None:
    exercise = EXERCISES["matmul_naive"]
    right = solution(exercise)
    assert ladder.counts_on_ladder(exercise, right, block=(2048, 2)) == {}
    zeros = "@cuda.jit\ndef zeros(A, B, C):\n    C[cuda.grid(2)] = 0\n"
    assert ladder.counts_on_ladder(exercise, defined(zeros, "zeros")) == {}
    assert ladder.counts_on_ladder(EXERCISES["mat_add"], right) == {}


def test_a_gpu_times_a_larger_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock itself is tested in test_timing.py, and needs a GPU."""
    kernel = solution(EXERCISES["matmul_tiled"])
    assert ladder.milliseconds_on_ladder(EXERCISES["matmul_tiled"], kernel) == {}
    asked = []

    def clock(kernel: object, grid: object, block: object, *matrices: Any, **more: Any) -> Timing:
        asked.append((kernel, grid, block, [each.shape for each in matrices]))
        return Timing("matmul_tiled", (3.0, 1.0, 2.0), 1, "NVIDIA X")

    monkeypatch.setattr("course_lib.host.runtime.on_gpu", lambda: True)
    monkeypatch.setattr("course_lib.host.runtime.device_name", lambda: "NVIDIA X")
    monkeypatch.setattr("course_lib.timing.time_kernel", clock)
    exercise = EXERCISES["matmul_tiled"]
    assert ladder.milliseconds_on_ladder(exercise, kernel) == {"NVIDIA X": 2.0}
    assert asked == [(kernel, (64, 64), (16, 16), [(1024, 1024)] * 3)]

    def refuse(*_: object, **__: object) -> None:
        raise TimingUnavailable("CuPy is missing")

    monkeypatch.setattr("course_lib.timing.time_kernel", refuse)
    assert ladder.milliseconds_on_ladder(exercise, kernel) == {}
