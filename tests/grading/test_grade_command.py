"""`course.py grade`: its arguments, what it says, how it ends, and that a killed run resumes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from grading_helpers import REPOSITORY, RIGHT, UNBOUNDED, WRONG, judge_here, threads, write_class

from course_lib import cli
from course_lib.commands import grade, grade_says
from course_lib.grading import engine, run_folder
from course_lib.grading.judging import executors
from course_lib.grading.run_folder import RunFolder

posix = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge in this process, without kernels."""
    monkeypatch.setattr(engine, "run_batch", judge_here)
    monkeypatch.setattr(executors, "process_pool", lambda workers: threads(2))


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    return write_class(tmp_path / "class", {"s1": RIGHT, "s2": WRONG})


def run(*arguments: object) -> int:
    return cli.main(["grade", *map(str, arguments)])


# --- what it does -----------------------------------------------------------------------------


def test_a_class_is_graded(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(submissions, "--out", out, "--seed", "5", "--exercises", "00") == 0
    said = capsys.readouterr().out
    assert "2 submissions, 2 rows: 1 passed, 1 failed." in said
    assert f"{out / 'grades.csv'}" in said and "Seed 5" in said
    assert "--exercises ID" not in said
    for name in ("grades.csv", "report.html", "junit.xml", "feedback/s1.html"):
        assert (out / name).is_file(), name
    assert '"s1","mat_add",10,10,"passed"' in (out / "grades.csv").read_text(encoding="utf-8")


def test_without_exercises_it_recommends_to_name_them(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(submissions, "--out", tmp_path / "out") == 0
    assert "--exercises" in capsys.readouterr().out.splitlines()[0]


def test_the_settings_may_name_the_exercises(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "grading.toml"
    settings.write_text('exercises = ["mat_add", "02"]\n[points]\nmat_add = 20\n')
    assert run(submissions, "--out", tmp_path / "out", "--settings", settings) == 0
    assert "4 rows" in capsys.readouterr().out
    assert '"s1","mat_add",20,20' in (tmp_path / "out/grades.csv").read_text(encoding="utf-8")


def test_a_fresh_seed_is_kept(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = []
    for name in ("a", "a", "b"):
        assert run(submissions, "--out", tmp_path / name) == 0
        seeds.append(int(re.search(r"Seed (\d+)", capsys.readouterr().out).group(1)))
    assert seeds[0] == seeds[1] != seeds[2]
    assert run(submissions, "--out", tmp_path / "a", "--seed", seeds[0]) == 0
    assert run(submissions, "--out", tmp_path / "a", "--seed", seeds[0] + 1) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"--seed {seeds[0]};" in said


def test_explain(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(submissions, "--out", out, "--explain", "s2", "mat_add") == 1
    assert "Nothing is graded in" in capsys.readouterr().err
    assert run(submissions, "--out", out, "--exercises", "00") == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert run(submissions, "--out", out, "--explain", "S2", "mat_add") == 0
    said = capsys.readouterr().out
    assert "s2" in said and "mat_add" in said and "failed" in said
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert run(submissions, "--out", out, "--explain", "s9", "mat_add") == 2
    assert "no submission of 's9'" in capsys.readouterr().err


def test_a_run_that_found_nothing_keeps_no_seed(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", "--out", tmp_path / "out") == 1
    assert run(submissions, "--out", tmp_path / "out", "--seed", "2026") == 0
    assert run(submissions, "--out", tmp_path / "out", "--seed", "2027") == 1
    assert "was graded with --seed 2026" in capsys.readouterr().err


@pytest.mark.parametrize("named", [("--exercises", "00"), ()])
def test_what_was_not_asked_for_has_no_verdict(
    here: None,
    submissions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    named: tuple[str, ...],
) -> None:
    out = tmp_path / "out"
    assert run(submissions, "--out", out, *named) == 0
    capsys.readouterr()
    assert run(submissions, "--out", out, "--explain", "s2", "matmul_tiled") == 2
    said = capsys.readouterr()
    assert not said.out and said.err.count("\n") == 1
    assert "graded only on mat_add, so there is no verdict on matmul_tiled." in said.err
    assert run(submissions, "--out", out, "--explain", "s2", "mat_add") == 0
    assert "s2 · mat_add: failed" in capsys.readouterr().out


# --- what it refuses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["{class}"], 2, "--out"),
        (["--out", "{out}"], 2, "SUBMISSIONS"),
        (["{class}", "--out", "{out}", "--seed", "-1"], 2, "a seed is a whole number"),
        (["{class}", "--out", "{out}", "--seed", "x"], 2, "a seed is a whole number"),
        (["{class}", "--out", "{out}", "--seed", "4294967296"], 2, "a seed is a whole number"),
        (["{class}", "--out", "{out}", "--workers", "0"], 2, "number of workers"),
        (["{class}", "--out", "{out}", "--exercises", "mat_ad"], 2, "did you mean mat_add"),
        (["{class}", "--out", "{out}", "--explain", "s1", "05x"], 2, "05x"),
        (["{class}", "--out", "{out}", "--explain", "s1", "06"], 2, "name one"),
        (["{class}/none", "--out", "{out}"], 1, "does not exist"),
        (["{class}", "--out", "{class}/s1.ipynb"], 1, "is a file"),
        (["{class}", "--out", "{class}/deep/out"], 1, "lies among the submissions"),
        (["{class}", "--out", "{class}"], 1, "lies among the submissions"),
        (["{class}", "--out", "{out}", "--settings", "{out}/no.toml"], 1, "cannot be read"),
        (["{class}", "--out", "{out}", "--notebooks", "{out}/no"], 1, "no folder"),
        (["{class}", "--out", "{out}", "--notebooks", "{class}/.."], 1, "No notebook in"),
    ],
)
def test_arguments_that_cannot_be_used(
    here: None,
    submissions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
    said: str,
) -> None:
    """One sentence each, no traceback, and the exit status says whose turn it is."""
    filled = [each.format(**{"class": submissions, "out": tmp_path / "out"}) for each in arguments]
    by_argparse = False
    try:
        found = run(*filled)
    except SystemExit as exit:
        found, by_argparse = exit.code, True
    error = capsys.readouterr().err
    assert found == status
    assert said in error and "Traceback" not in error
    assert by_argparse or error.count("\n") == 1


@pytest.mark.skipif(os.name == "nt" or not os.getuid(), reason="root may write everywhere")
def test_an_out_that_is_not_writable(submissions: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    assert run(submissions, "--out", tmp_path / "closed/out") == 1


def test_a_disk_that_cannot_be_written(
    submissions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_folder.Path, "mkdir", full)
    assert run(submissions, "--out", tmp_path / "out") == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "cannot be written to (No space left" in said


def test_an_output_that_cannot_be_written(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(submissions, "--out", out) == 0
    (out / "grades.csv").unlink()
    (out / "grades.csv/deep").mkdir(parents=True)
    capsys.readouterr()
    assert run(submissions, "--out", out) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "grades.csv cannot be written" in said
    (out / "grades.csv/deep").rmdir()
    (out / "grades.csv").rmdir()
    assert run(submissions, "--out", out) == 0
    assert "2 of 2 answers are known" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["grades.csv", "report.html", "moodle_feedback.zip", "canvas.csv", "feedback/s1.html"]
)
def test_files_of_others_stay(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    theirs = tmp_path / "out" / name
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    for _ in range(2):  # the first try makes the folder ours in nothing
        assert run(submissions, "--out", tmp_path / "out") == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"holds {Path(name)}, which no run" in said
        assert "another --out" in said
    assert theirs.read_text() == "mine"
    theirs.unlink()
    assert run(submissions, "--out", tmp_path / "out") == 0
    assert run(submissions, "--out", tmp_path / "out") == 0


def test_what_a_killed_run_left_half_written_goes(
    here: None, submissions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for name in ("new", "copying", "done"):
        (out / ".work" / name).mkdir(parents=True)
        (out / ".work" / name / "grades.csv").write_text("half")
    assert run(submissions, "--out", out) == 0
    assert {path.name for path in (out / ".work").iterdir()} == {
        "counted.json", "journal.txt", "lock", "run.json",
    }  # fmt: skip


def test_a_package_that_is_missing(
    submissions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grade, "PACKAGES", ("pytest", "no_such_package"))
    assert run(submissions, "--out", tmp_path / "out") == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "no_such_package" in said and "course.py grade" in said


def test_two_runs_at_a_time(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with RunFolder(out, submissions):
        assert run(submissions, "--out", out) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "Another run is grading into" in said
    assert run(submissions, "--out", out) == 0


def test_a_broken_journal_is_said(
    here: None, submissions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(submissions, "--out", out) == 0
    journal = out / ".work/journal.txt"
    journal.write_bytes(b"nonsense\n" + journal.read_bytes()[:-40])
    assert run(submissions, "--out", out) == 0
    assert "journal.txt are damaged" in capsys.readouterr().out
    (out / ".work/run.json").write_text('{"seed": "x"')
    capsys.readouterr()
    assert run(submissions, "--out", out, "--seed", "3") == 1
    assert "run.json is damaged" in capsys.readouterr().err


# --- progress ---------------------------------------------------------------------------------


def test_the_line_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    line = grade_says.ProgressLine()
    line.begin()
    line._began -= 60
    line._said -= 60
    line.show(engine.Progress(total=500, known=20, done=140))
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "20 of 500 answers are known from an earlier run."
    assert said[1] == "140 of 500 answers · 120 a minute · about 3 min left"
    assert line.so_far == "140 of 500 answers are judged."


# --- interrupted ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stop", "status"), [(KeyboardInterrupt, 130), (grade_says.Terminated, 143)]
)
def test_stopped_it_says_how_far_it_is(
    here: None,
    submissions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    stop: type[BaseException],
    status: int,
) -> None:
    def press(job: str) -> str:
        raise stop

    monkeypatch.setattr(engine, "run_batch", press)
    assert run(submissions, "--out", tmp_path / "out") == status
    said = capsys.readouterr().err
    assert "Stopped. 0 of 2 answers are judged. The same command goes on from there." in said


@pytest.mark.long
def test_kept_batches_can_be_run_by_hand(here: None, submissions: Path, tmp_path: Path) -> None:
    """With plain nbval: an item for each answer, and it fails if the answer did."""
    assert run(submissions, "--out", tmp_path / "out", "--keep-batches") == 0
    (kept,) = (tmp_path / "out/batches").iterdir()
    assert kept.name == "00_start_here-batch-001.ipynb"
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", kept.name]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=kept.parent, env=environment, capture_output=True, text=True)
    assert "1 failed, 2 passed" in done.stdout, done.stdout


@posix
def test_a_signal_that_got_lost_is_heard_later(
    here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the handler runs in a finaliser, where Python drops what it raises."""
    judged = []

    def judge(job: str) -> str:
        judged.append(job)
        return judge_here(job)

    def lose(*_: object) -> tuple[str, ...]:
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        return ("mat_add",)

    monkeypatch.setattr(engine, "run_batch", judge)
    monkeypatch.setattr(engine, "recognised_exercises", lose)
    submissions = write_class(tmp_path / "class", {"s1": RIGHT})
    assert run(submissions, "--out", tmp_path / "out") == 130
    assert not judged


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


def written(out: Path) -> dict[str, bytes]:
    """Everything that an instructor gets."""
    files = {str(path.relative_to(out)): path for path in out.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(".work")}


def interrupted(
    submissions: Path, out: Path, kills: int, number: int, seed: int
) -> subprocess.CompletedProcess:
    """Stop a run at random moments, then let one go through."""
    draw = random.Random(seed)
    journal = out / ".work/journal.txt"
    for _ in range(kills):
        size = journal.stat().st_size if journal.exists() else 0
        process = subprocess.Popen(
            command(submissions, out),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        # At least once after something was written down, and at any moment from then on.
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            if journal.exists() and journal.stat().st_size > size:
                break
            time.sleep(0.02)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0, 1.5))
        process.send_signal(number)
        process.communicate(timeout=300)
    return subprocess.run(command(submissions, out), cwd=REPOSITORY, capture_output=True, text=True)


@posix
@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", CLASS)
    undisturbed = subprocess.run(command(submissions, tmp_path / "a"), cwd=REPOSITORY)
    assert undisturbed.returncode == 0
    done = interrupted(submissions, tmp_path / "b", 1, signal.SIGKILL, seed=1)
    assert done.returncode == 0, done.stderr
    assert "are known from an earlier run" in done.stdout
    assert written(tmp_path / "a") == written(tmp_path / "b") != {}
    assert len(written(tmp_path / "b")) == len(CLASS) + 3


@posix
@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "seed"),
    [(signal.SIGKILL, 1), (signal.SIGKILL, 2), (signal.SIGINT, 3), (signal.SIGTERM, 4)],
)
def test_stopped_again_and_again(tmp_path: Path, number: int, seed: int) -> None:
    submissions = write_class(tmp_path / "class", CLASS)
    subprocess.run(command(submissions, tmp_path / "a"), cwd=REPOSITORY, check=True)
    done = interrupted(submissions, tmp_path / "b", 3, number, seed)
    assert done.returncode == 0, done.stderr
    assert written(tmp_path / "a") == written(tmp_path / "b") != {}


@posix
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.02, 0.05, 0.08, 1.0])
def test_ctrl_c_ends_it_at_once(tmp_path: Path, seconds: float) -> None:
    """As a terminal does it: the signal goes to the whole group, and to workers that only begin.

    No traceback, no process left.
    """
    submissions = write_class(tmp_path / "class", CLASS)
    process = subprocess.Popen(
        command(submissions, tmp_path / "out"),
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
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
    assert has_ended(process.pid)


def has_ended(group: int, seconds: float = 120) -> bool:
    """Is no process of the group left, within some seconds?"""
    for _ in range(int(seconds * 20)):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.long
def test_a_dask_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    submissions = write_class(tmp_path / "class", CLASS)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        local_directory=str(tmp_path / "dask"),
    ) as cluster:
        plain = ["grade", submissions, "--seed", "11", "--exercises", "mat_add", "--out"]
        assert cli.main([*map(str, [*plain, tmp_path / "a"])]) == 0
        address = cluster.scheduler_address
        assert cli.main([*map(str, [*plain, tmp_path / "b", "--dask", address])]) == 0
    assert written(tmp_path / "a") == written(tmp_path / "b") != {}
    kept = json.loads((tmp_path / "b/.work/run.json").read_text())
    assert kept["holds"] == {"seed": 11, "exercises": ["mat_add"]}
