"""`course.py grade`: its arguments, what it says, how it ends, and that a killed run resumes."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from child import python
from every_case import every_case
from grading_helpers import (
    REPOSITORY,
    RIGHT,
    UNBOUNDED,
    WRONG,
    Desk,
    files_in,
    wait_for,
    write_class,
)
from sampling import few

from course_lib import cli
from course_lib.commands import grade, grade_says
from course_lib.grading import engine, run_folder
from course_lib.grading.run_folder import RunFolder

posix = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


@pytest.fixture
def of_two(looked_at: None, desk: Desk) -> Desk:
    """A class of two, judged by a look."""
    desk.hand_in("s1", RIGHT)
    desk.hand_in("s2", WRONG)
    return desk


def test_a_class_is_graded(of_two: Desk) -> None:
    said = of_two.grade("class", "--seed", "5", "--exercises", "00")
    assert "2 submissions, 2 rows: 1 passed, 1 failed." in said
    assert "grades/grades.csv" in said and "Seed 5" in said and "--exercises ID" not in said
    for name in ("grades.csv", "report.html", "junit.xml", "feedback/s1.html"):
        assert (of_two.out / name).is_file(), name
    row = of_two.rows()["s1", "mat_add"]
    assert (row["points"], row["max"], row["verdict"]) == ("10", "10", "passed")
    assert "name them: --exercises" in of_two.grade("class", out="without")


@pytest.mark.slow
def test_a_fresh_seed_is_kept(of_two: Desk) -> None:
    said = [of_two.grade("class", out=out) for out in ("a", "a", "b")]
    first, again, other = (re.findall(r"Seed (\d+)", each)[0] for each in said)
    assert first == again != other
    of_two.grade("class", "--seed", first, out="a")
    assert f"--seed {first};" in of_two.grade("class", "--seed", int(first) + 1, out="a", status=1)


def test_explain(of_two: Desk) -> None:
    explain = ("class", "--explain", "S2", "mat_add")
    assert "Nothing has been graded in" in of_two.grade(*explain, status=1)
    of_two.grade("class", "--exercises", "00")
    before = files_in(of_two.out)
    assert "s2 · mat_add: failed" in of_two.grade(*explain)
    said = of_two.grade("class", "--explain", "s9", "mat_add", status=2)
    assert "no submission of 's9'" in said and files_in(of_two.out) == before


def test_a_run_that_found_nothing_keeps_no_seed(of_two: Desk) -> None:
    (of_two.place / "empty").mkdir()
    of_two.grade("empty", status=1)
    of_two.grade("class", "--seed", "2026")
    said = of_two.grade("class", "--seed", "2027", status=1)
    assert "was graded with --seed 2026" in said


@pytest.mark.parametrize("named", [("--exercises", "00"), ()])
def test_what_was_not_asked_for_has_no_verdict(of_two: Desk, named: tuple[str, ...]) -> None:
    of_two.grade("class", *named)
    said = of_two.grade("class", "--explain", "s2", "matmul_tiled", status=2)
    assert "graded only on mat_add, so there is no verdict on matmul_tiled." in said


@every_case(("arguments", "out", "status", "said"), [
    ("", "grades", 2, "SUBMISSIONS"),
    ("class --seed -1", "grades", 2, "a seed is a whole number"),
    ("class --seed x", "grades", 2, "a seed is a whole number"),
    ("class --seed 4294967296", "grades", 2, "a seed is a whole number"),
    ("class --workers 0", "grades", 2, "number of workers"),
    ("class --exercises mat_ad", "grades", 2, "did you mean mat_add"),
    ("class --explain s1 05x", "grades", 2, "05x"),
    ("class --explain s1 06", "grades", 2, "name one"),
    ("class/none", "grades", 1, "does not exist"),
    ("class", "class/s1.ipynb", 1, "is a file"),
    ("class", "class/deep/out", 1, "is among the submissions"),
    ("class", "class", 1, "is among the submissions"),
    ("class --settings no.toml", "grades", 1, "cannot be read"),
    ("class --notebooks no", "grades", 1, "no folder"),
    ("class --notebooks .", "grades", 1, "No notebook in"),
])  # fmt: skip
def test_arguments_that_cannot_be_used(of_two, arguments, out, status, said):
    """One sentence each, and the exit status says whose turn it is."""
    assert said in of_two.grade(*arguments.split(), out=out, status=status)


def test_a_disk_that_cannot_be_written(of_two: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_folder.Path, "mkdir", full)
    assert "cannot be written to (No space left" in of_two.grade("class", status=1)


def test_an_output_that_cannot_be_written(of_two: Desk) -> None:
    of_two.grade("class")
    (of_two.out / "grades.csv").unlink()
    (of_two.out / "grades.csv/deep").mkdir(parents=True)
    assert "grades.csv cannot be written" in of_two.grade("class", status=1)
    shutil.rmtree(of_two.out / "grades.csv")
    assert "2 of 2 answers were judged" in of_two.grade("class")


@pytest.mark.parametrize("name", few(["feedback/s1.html", "moodle_feedback.zip", "grades.csv"]))
def test_files_of_others_stay(of_two: Desk, name: str) -> None:
    theirs = of_two.write(f"grades/{name}", "mine")
    for _ in range(2):  # the first try makes the folder ours in nothing
        said = of_two.grade("class", status=1)
        assert f"contains {Path(name)}, which the grader" in said and "another --out" in said
    assert theirs.read_text() == "mine"
    theirs.unlink()
    for _ in range(2):
        of_two.grade("class")


def test_what_a_killed_run_left_half_written_goes(of_two: Desk) -> None:
    for name in ("new", "copying", "done"):
        of_two.write(f"grades/.work/{name}/grades.csv", "half")
    of_two.grade("class")
    assert {path.name for path in (of_two.out / ".work").iterdir()} == {
        "counted.json", "journal.txt", "lock", "run.json",
    }  # fmt: skip


def test_two_runs_at_a_time_and_a_package_that_is_missing(of_two, monkeypatch):
    with RunFolder(of_two.out, of_two.place / "class"):
        assert "Another run is grading into" in of_two.grade("class", status=1)
    of_two.grade("class")
    monkeypatch.setattr(grade, "PACKAGES", ("pytest", "no_such_package"))
    said = of_two.grade("class", status=1)
    assert "no_such_package" in said and "course.py grade" in said


def test_the_line_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    line = grade_says.ProgressLine()
    line.begin()
    line._began -= 60
    line._said -= 60
    line.show(engine.Progress(total=500, known=20, done=140))
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "20 of 500 answers were judged in an earlier run."
    assert said[1] == "140 of 500 answers · 120 a minute · about 3 min left"
    assert line.so_far == "140 of 500 answers have been judged."


@pytest.mark.parametrize(
    ("stop", "status"), [(KeyboardInterrupt, 130), (grade_says.Terminated, 143)]
)
def test_stopped_it_says_how_far_it_is(of_two, monkeypatch, stop, status):
    def press(job: str) -> str:
        raise stop

    monkeypatch.setattr(engine, "run_batch", press)
    said = of_two.grade("class", status=status)
    judged = "0 of 2 answers have been judged"
    assert f"Stopped. {judged}. The same command continues from there." in said


@pytest.mark.long
def test_kept_batches_can_be_run_by_hand(of_two: Desk) -> None:
    """With plain nbval: an item for each answer, and it fails if the answer did."""
    of_two.grade("class", "--keep-batches")
    (kept,) = (of_two.out / "batches").iterdir()
    assert kept.name == "00_start_here-batch-001.ipynb"
    command = ("-m", "pytest", "--nbval-lax", "--nbval-current-env", kept.name)
    assert "1 failed, 2 passed" in python(*command, cwd=kept.parent, status=1).stdout


@posix
def test_a_signal_that_got_lost_is_heard_later(of_two, monkeypatch):
    """As when the handler runs in a finaliser, where Python drops what it raises."""

    def lose(*_: object) -> tuple[str, ...]:
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
        return ("mat_add",)

    monkeypatch.setattr(engine, "run_batch", lambda job: pytest.fail("judged"))
    monkeypatch.setattr(engine, "recognised_exercises", lose)
    of_two.grade("class", status=130)


CLASS = {f"s{i:02}": f"{(RIGHT, WRONG, UNBOUNDED)[i % 3]}# variant {i}" for i in range(6)}


def command(submissions: Path, out: Path) -> list[str]:
    """The real thing, with small batches, so that there is something to interrupt."""
    code = (
        "import sys\n"
        "from course_lib import cli\n"
        "from course_lib.grading import engine\n"
        "engine.MOST_A_BATCH = 2\n"
        "engine.FEWEST_A_BATCH = 2\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(cli.main(sys.argv[1:]))\n"
    )
    arguments = ["grade", submissions, "--out", out, "--seed", "11", "--exercises", "mat_add"]
    return [sys.executable, "-c", code, *map(str, [*arguments, "--workers", 2])]


def interrupted(submissions: Path, out: Path) -> subprocess.CompletedProcess:
    """Kill a run once something was written down, and let one go through."""
    journal = out / ".work/journal.txt"
    run = command(submissions, out)
    with subprocess.Popen(run, cwd=REPOSITORY, stdout=-1, stderr=-1) as process:
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            if journal.exists() and journal.stat().st_size:
                break
            time.sleep(0.02)
        process.kill()
    return subprocess.run(run, cwd=REPOSITORY, capture_output=True, text=True)


@posix
@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_bytes(judged_here: None, tmp_path: Path) -> None:
    """Those of a run without kernels, and so without a worker that can die."""
    submissions = write_class(tmp_path / "class", CLASS)
    undisturbed = command(submissions, tmp_path / "a")
    assert cli.main(undisturbed[undisturbed.index("grade") :]) == 0
    done = interrupted(submissions, tmp_path / "b")
    assert done.returncode == 0, done.stderr
    assert "were judged in an earlier run" in done.stdout
    assert files_in(tmp_path / "a", but=".work") == files_in(tmp_path / "b", but=".work") != {}
    assert len(files_in(tmp_path / "b", but=".work")) == len(CLASS) + 3


@posix
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.02, 0.05, 0.08, 1.0])
def test_ctrl_c_ends_it_at_once(tmp_path: Path, seconds: float) -> None:
    """As a terminal does it: the signal goes to the whole group, and to workers that only begin."""
    submissions = write_class(tmp_path / "class", CLASS)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    run = command(submissions, tmp_path / "out")
    process = subprocess.Popen(run, cwd=REPOSITORY, start_new_session=True, **pipes)
    lock = tmp_path / "out/.work/run.json"
    timer = threading.Timer(600, process.kill)  # for what hangs: then the status is another
    timer.start()
    while not lock.exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate()
    timer.cancel()
    assert process.returncode == 130, error
    assert error.strip().startswith("Stopped.") and "Traceback" not in error
    wait_for(lambda: not exists(process.pid))


def exists(group: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


@pytest.mark.long
def test_a_dask_cluster_gives_the_same_bytes(cluster, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", CLASS)
    plain = ["grade", submissions, "--seed", "11", "--exercises", "mat_add", "--out"]
    assert cli.main([*map(str, [*plain, tmp_path / "a"])]) == 0
    address = cluster.scheduler_address
    assert cli.main([*map(str, [*plain, tmp_path / "b", "--dask", address])]) == 0
    assert files_in(tmp_path / "a", but=".work") == files_in(tmp_path / "b", but=".work") != {}
    kept = json.loads((tmp_path / "b/.work/run.json").read_text())
    assert kept["holds"] == {"seed": 11, "exercises": ["mat_add"]}
