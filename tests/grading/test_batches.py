"""Batch notebooks under nbval: what is judged, what a crash costs, what the outside can do."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from child import python
from every_case import every_case
from grading_helpers import REPOSITORY, RIGHT, WRONG, has_ended, wait_for

from course_lib.grading import version
from course_lib.grading.judging import batches, worker
from course_lib.grading.judging.batches import METADATA, Item, read_tasks
from course_lib.grading.judging.worker import Batch, BatchLimits, read_result, run_batch
from course_lib.grading.records import AssignedExercise, CannotGrade, Judgement

NASTY = "\"'\\ \x00 \ud800 \u202e {0} %s\n# NBVAL_SKIP\n%%bash\n!touch here\n" + '"""' + "\n')\n"


@pytest.fixture(scope="module")
def tasks() -> dict[str, AssignedExercise]:
    return read_tasks(REPOSITORY / "exercises")


def items(*texts: str, exercise: str = "mat_add") -> tuple[Item, ...]:
    return tuple(
        Item(str(number), f"student-{number:02}::{exercise}", exercise, text)
        for number, text in enumerate(texts)
    )


def test_it_is_the_instructors_with_a_cell_for_each_answer(tasks):
    made = batches.batch_notebook(tasks, items(RIGHT, WRONG), seed=5)
    notebook = nbformat.reads(made, as_version=4)
    nbformat.validate(notebook)
    words = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert words[0].startswith("# Exercise 00") and words[-1].startswith("## Add two matrices")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    names = ["setup", "student-00::mat_add", "student-01::mat_add"]
    assert [cell.metadata[METADATA]["name"] for cell in code] == names
    assert "seed=5" in code[0].source and not any(cell.outputs for cell in code)


@pytest.mark.parametrize("text", [RIGHT, NASTY, "", "\n" * 1000, "x" * 10**6])
def test_an_answer_is_nothing_but_a_string_in_it(tasks, text):
    made = batches.batch_notebook(tasks, items(text), seed=1)
    assert made.isascii()
    source = json.loads(made)["cells"][-1]["source"]
    assert "\n" not in source, "so no line of it can be a marker or a magic"
    (statement,) = ast.parse(source).body
    arguments = [ast.literal_eval(each) for each in statement.value.args]
    assert ast.unparse(statement.value.func) == "desk.judge"
    assert arguments == ["0", "mat_add", text]


def test_every_exercise_has_its_task_and_what_stands_above_it_is_its_context(tasks):
    from course_lib.grading.records import GRADED
    from course_lib.grading.transfer import TESTS

    assert set(tasks) == set(GRADED)
    for name, task in tasks.items():
        assert task.statement.startswith("## ") and "Look at" not in task.statement, name
        assert task.notebook.startswith(GRADED[name].lesson) or task.notebook in TESTS
    context = tasks["matmul_tiled"].context
    assert "from numba import cuda, float32" in context
    for left_out in ("course_lib.start", "course_lib.check", "EXERCISE", "find_spec"):
        assert not any(left_out in task.context for task in tasks.values())


@pytest.mark.parametrize(("files", "said"), [
    ({}, "No notebook in"),
    ({"a.ipynb": "{"}, "a.ipynb is not a readable notebook"),
    ({"a.ipynb": '{"cells": [3]}'}, "a.ipynb is not a readable notebook"),
    ({"a.ipynb": "twin", "b.ipynb": "twin"}, "mat_add is in two notebooks"),
])  # fmt: skip
def test_a_folder_that_cannot_be_used(tmp_path: Path, files: dict[str, str], said: str) -> None:
    ours = (REPOSITORY / "exercises/00_start_here.ipynb").read_text(encoding="utf-8")
    for name, text in files.items():
        (tmp_path / name).write_text(ours if text == "twin" else text, encoding="utf-8")
    with pytest.raises(CannotGrade, match=said):
        read_tasks(tmp_path)


def test_a_judgement_is_short_whatever_the_answer() -> None:
    """Names and literals of a million letters stand in messages; many lines in many findings."""
    name = "n" * 10**6
    text = RIGHT.replace("A[y, x]", f"A[y, {name}]")
    long = batches.judge("mat_add", text, 1, "from numba import cuda")
    assert 0 < len(long.to_json()) < 50_000
    assert batches._shortened("ü" * 10**6).endswith(" …")


def test_a_desk_writes_first_and_fails_then(tmp_path, capsys):
    results = tmp_path / "results"
    desk = batches.Desk(str(results), 1, {"mat_add": "from numba import cuda"})
    desk.judge(0, "mat_add", RIGHT)
    assert capsys.readouterr().out.startswith("mat_add: passed\n")
    with pytest.raises(batches.NotPassed, match="not passed"):
        desk.judge(1, "mat_add", WRONG)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert [line["item"] for line in lines] == [0, 1]
    right, wrong = (Judgement.from_json(line["judgement"]) for line in lines)
    assert right.numbers_right and not right.findings and right.held
    assert not wrong.numbers_right and batches.has_errors(wrong)
    assert Judgement.from_json(wrong.to_json()) == wrong


GOOD = Judgement("mat_add", numbers_right=True)


@every_case(("records", "said"), [
    ([("0", GOOD.to_json()), ("0", Judgement("mat_add").to_json())], "second result of student-00"),
    ([("0", GOOD.to_json()), ("7", GOOD.to_json())], "to no item"),
    ([("0", GOOD.to_json()), (True, GOOD.to_json())], "to no item"),
    ([("0", GOOD.to_json()), (0, GOOD.to_json())], "to no item"),
    ([("0", GOOD.to_json()), ("1", Judgement("matmul_1d").to_json())], "not belong to student-01"),
    ([("0", GOOD.to_json()), ("1", '{"points": 10}')], "ignored: this is no judgement"),
    ([("0", GOOD.to_json()), ("1", "[" * 10**5)], "ignored: this is no judgement"),
    ([("0", GOOD.to_json()), ("1", None)], "ignored: this is no judgement"),
])  # fmt: skip
def test_what_is_no_result_is_ignored_and_said(records: list, said: str) -> None:
    judgements, notes = worker.checked(records, items(RIGHT, WRONG))
    assert judgements == {"0": GOOD}
    assert len(notes) == 1 and said in notes[0]


def test_half_a_line_costs_one_result(tmp_path: Path) -> None:
    path = tmp_path / "results"
    line = json.dumps({"item": 0, "judgement": GOOD.to_json()})
    path.write_text(f'{line}\nnull\n{{"item": 1}}\n{line[:50]}')
    records, notes = worker._records(path, 3)
    assert records == [(0, GOOD.to_json())] and len(notes) == 3


def test_another_version_is_refused(tasks: dict[str, AssignedExercise]) -> None:
    batch = Batch(tasks, items(RIGHT), 1, BatchLimits(), version="older")
    result = read_result(run_batch(batch.to_json()), batch.items)
    assert not result.judgements and "another version" in result.problem


@pytest.mark.slow
def test_all_that_decides_is_in_the_version() -> None:
    """Every module of ours that the kernel has when it judges."""
    code = "import sys, course_lib.grading.judging.batches as b; b.judge('mat_add', '', 1)\n"
    code += "print(*[getattr(m, '__file__', '') for n, m in sys.modules.items() if 'course' in n])"
    used = {Path(name) for name in python("-c", code).stdout.split() if "course_lib" in name}
    packages = ("", "grading", "grading/judging")
    harmless = {version.LIBRARY / name / "__init__.py" for name in packages}
    assert used and used - harmless <= set(version.deciding_files())


FAULTS = r"""
import os
real = batches.judge
def judge(exercise, text, seed, context):
    if "KILL" in text:
        os.kill(os.getpid(), 9)
    while "ENDLESS" in text:
        pass
    if "FORGE" in text:
        with open(desk._results, "a") as file:
            file.write('{"item": 0, "judgement": "{}"}\n[[[[\n')
    if "ONCE" in text:
        path = os.path.expanduser(text.split()[-1])
        if not os.path.exists(path):
            open(path, "w").close()
            os._exit(1)
    return real(exercise, text, seed, context)
batches.judge = judge
"""


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """Let some texts bring their kernel down; what pytest said of each run, and its notes."""
    setup = batches.SETUP + FAULTS.replace("{", "{{").replace("}", "}}")
    monkeypatch.setattr(batches, "SETUP", setup)
    runs = []
    end = worker._end

    def note(process: subprocess.Popen, folder: Path) -> None:
        end(process, folder)
        runs.append(((folder / worker.LOG).read_text().splitlines(), str(folder)))

    monkeypatch.setattr(worker, "_end", note)
    return runs


@pytest.mark.slow
def test_a_crash_costs_only_its_own_answer(tasks, faults):
    texts = [RIGHT, WRONG, NASTY, "# FORGE", "# KILL", RIGHT, "# ENDLESS", WRONG]
    batch = Batch({"mat_add": tasks["mat_add"]}, items(*texts), 3, BatchLimits(seconds=2))
    result = read_result(run_batch(batch.to_json()), batch.items)
    assert result.problem is None
    found = {int(key): each for key, each in result.judgements.items()}
    outcomes = {number: each.outcome for number, each in found.items()}
    assert outcomes == {**dict.fromkeys(range(8), "judged"), 4: "died", 6: "stopped-by-clock"}
    assert found[4].needs_review and found[6].needs_review
    assert found[0].numbers_right and found[0] == found[5]
    assert not found[1].numbers_right and found[1] == found[7]
    assert not found[2].numbers_right and batches.has_errors(found[2])
    assert found[0] == batches.judge("mat_add", RIGHT, 3, tasks["mat_add"].context)
    assert any("ignored" in note for note in result.notes)
    first, folder = faults[0]
    assert "batch.ipynb::student-00::mat_add PASSED" in first
    assert "batch.ipynb::student-01::mat_add FAILED" in first
    assert not [line for line in first if "student-05" in line], "it ended with the kernel"
    assert not Path(folder).exists()


@pytest.mark.long
def test_a_crash_that_was_no_fault_of_the_answer(tasks, faults, tmp_path):
    texts = [RIGHT, f"{RIGHT}# ONCE {tmp_path / 'once'}", RIGHT]
    batch = Batch({"mat_add": tasks["mat_add"]}, items(*texts), 3, BatchLimits())
    result = read_result(run_batch(batch.to_json()), batch.items)
    assert all(each.numbers_right for each in result.judgements.values())
    assert len(result.judgements) == 3 and len(faults) == 3


@pytest.mark.long
def test_a_result_that_cannot_be_read_is_tried_once_more(tasks, monkeypatch):
    """Here half a line is written before each of its results; it never gets one."""
    code = FAULTS.replace("[[[[\\n')", "[[[[')").replace("{", "{{").replace("}", "}}")
    assert code.count("[[[[')") == 1
    monkeypatch.setattr(batches, "SETUP", batches.SETUP + code)
    batch = Batch({"mat_add": tasks["mat_add"]}, items(RIGHT, "# FORGE", WRONG), 3, BatchLimits())
    found = read_result(run_batch(batch.to_json()), batch.items).judgements
    assert [found[key].outcome for key in "012"] == ["judged", "died", "judged"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_a_killed_worker_leaves_nothing_and_shows_nothing(tasks, tmp_path):
    """The kernel sees none of the environment, and ends with the worker; so does their folder."""
    told = tmp_path / "told"
    batch = Batch({"mat_add": tasks["mat_add"]}, items(RIGHT), 3, BatchLimits())
    command = [sys.executable, "-c", WORKER_WITH_A_SPY, str(told), batch.to_json()]
    environment = {**os.environ, "A_SECRET": "of the instructor", "PYTHONSTARTUP": "start.py"}
    process = subprocess.Popen(command, cwd=REPOSITORY, env=environment)
    try:
        kernel, parent, seen, path, folder = wait_for(lambda: json.loads(told.read_text()))
        assert parent != process.pid and Path(folder).is_dir()
    finally:
        process.kill()
        process.wait()
    assert "A_SECRET" not in seen and "PYTHONSTARTUP" not in seen
    assert seen["HOME"] == seen["TMPDIR"] == folder != str(Path.home())
    assert seen["PYTHONHASHSEED"] == "0" and seen["CUDA_VISIBLE_DEVICES"] == ""
    assert not [each for each in path if ".local" in each]
    for pid in (kernel, parent):
        wait_for(lambda pid=pid: has_ended(pid))
    wait_for(lambda: not Path(folder).exists())


WORKER_WITH_A_SPY = """
import sys
from course_lib.grading.judging import batches
from course_lib.grading.judging import worker
spy = '''
import json, os, sys, time
with open(%r, "w") as file:
    json.dump([os.getpid(), os.getppid(), dict(os.environ), sys.path, os.getcwd()], file)
time.sleep(1000)
''' % sys.argv[1]
batches.SETUP += spy
worker.run_batch(sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_kernel_has_limits(tasks: dict[str, AssignedExercise], tmp_path: Path) -> None:
    """Memory that no budget has refused ends in a judgement, not in a dead machine."""
    resource = pytest.importorskip("resource")
    code = "from course_lib.grading.judging import limited_kernel\n"
    code += "limited_kernel.limit_resources()\n"
    code += "import resource as r; print(*[r.getrlimit(x)[0] for x in (r.RLIMIT_AS, r.RLIMIT_CPU)])"
    done = python("-c", code, **worker.environment(tmp_path, 77.0, 2**31))
    assert done.stdout.split() == [str(2**31), "78"]
    assert resource.getrlimit(resource.RLIMIT_AS)[0] != 2**31, "only the kernel is limited"


def test_what_cannot_be_run_is_said(tasks, monkeypatch):
    """Two attempts that reach no answer: then the tools are at fault, and no row is written."""
    tries = []

    def broken(folder: Path, *_: object) -> worker.Ended:
        tries.append(folder)
        return worker.Ended(None, "setup", "no space left")

    monkeypatch.setattr(worker, "run", broken)
    batch = Batch(tasks, items(RIGHT), 1, BatchLimits())
    result = read_result(run_batch(batch.to_json()), batch.items)
    assert result.problem == "nbval could not run a batch. It says: no space left"
    assert len(tries) == 2 and not result.judgements


def test_a_judgement_says_how_the_answer_was_launched_and_what_it_shares():
    text = RIGHT.replace("# EXERCISE mat_add\n", "from numba import cuda\nBLOCK = (32, 8)\n")
    judged = Judgement.from_json(batches.judge("mat_add", text, 0).to_json())
    assert judged.launched == "Launched in blocks of 32 x 8 threads (BLOCK = (32, 8))."
    assert not judged.shares
