"""The engine: every answer gets its row, whatever happens to the batch that it is in."""

import json
import random
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from grading_helpers import RIGHT, UNBOUNDED, WRONG, judge_here, look_at, threads, write_class

from course_lib.curriculum import TASKS
from course_lib.grading import engine
from course_lib.grading.engine import Grader, Progress
from course_lib.grading.intake.submissions import each_submission
from course_lib.grading.judging import worker
from course_lib.grading.judging.executors import Workplace
from course_lib.grading.judging.worker import Batch, BatchResult
from course_lib.grading.records import CannotGrade, GradebookRow, Judgement
from course_lib.grading.run_folder import Journal
from course_lib.grading.settings import load_settings

JOBS: list[Batch] = []


@pytest.fixture(autouse=True)
def no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are judged in this process; JOBS is what was given out."""
    JOBS.clear()
    judge_with(monkeypatch, judge_here)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, no_kernels: None) -> None:
    """Where it does not matter how answers are judged: by a look at them."""
    judge_with(monkeypatch, look_at)


def judge_with(monkeypatch: pytest.MonkeyPatch, do: Callable[[str], str]) -> None:
    def run(job: str) -> str:
        JOBS.append(Batch.from_json(job))
        return do(job)

    monkeypatch.setattr(engine, "run_batch", run)


def rows_of(
    folder: Path,
    out: Path,
    exercises: Sequence[str] | None = ("mat_add",),
    place: Workplace | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[GradebookRow]:
    """The rows of a class, with the journal in `out`."""
    out.mkdir(exist_ok=True)
    journal = Journal(out / "journal.txt")
    grader = Grader(load_settings(None), 7, journal, place or threads(), report)
    try:
        return grader.rows(grader.find(each_submission(folder), exercises))
    finally:
        journal.close()


def verdicts(rows: Sequence[GradebookRow]) -> dict[str, str]:
    return {row.submission.student: row.verdict for row in rows}


def several(count: int) -> dict[str, str]:
    """Answers that differ in a comment."""
    kinds = (RIGHT, WRONG, UNBOUNDED)
    return {f"s{i:02}": f"{kinds[i % 3]}# variant {i}" for i in range(count)}


def test_every_submission_gets_its_row(tmp_path: Path, quick: None) -> None:
    folder = write_class(tmp_path / "class", {"s1": RIGHT, "s2": WRONG, "s3": "x = 1"})
    (folder / "s4.ipynb").write_bytes(b"\x00 no notebook")
    rows = rows_of(folder, tmp_path)
    left = {"s3": "missing", "s4": "needs review"}  # nobody has seen what is in s4
    assert verdicts(rows) == {"s1": "passed", "s2": "failed", **left}
    assert [row.points for row in rows] == [10, 0, 0, None]
    assert all(row.reason for row in rows)
    assert not any(file.cells for row in rows for file in row.submission.files), "memory"


def test_an_earlier_editions_answer_earns_its_old_points(tmp_path: Path) -> None:
    right = f"# EXERCISE matmul_coalesced\n{TASKS['matmul_coalesced'].answer}"
    wide = right.replace("float32(0)", "0.0")
    folder = write_class(tmp_path / "class", {"s1": right, "s2": wide, "s3": RIGHT})
    for expected in (None, ("matmul_coalesced",)):
        rows = rows_of(folder, tmp_path, exercises=expected)
        theirs = [(row.points, row.max_points) for row in rows[:2]]
        assert [row.exercise for row in rows[:2]] == ["matmul_coalesced"] * 2
        assert theirs == [(10, 10), (9, 10)]
        assert rows[2].exercise == (expected[0] if expected else "mat_add")


def test_an_exercise_without_a_notebook(tmp_path: Path) -> None:
    folder = write_class(tmp_path / "class", {"s1": RIGHT})
    with pytest.raises(CannotGrade, match="has the exercise nothing; there are mat_add"):
        rows_of(folder, tmp_path, exercises=("nothing",))


def test_equal_answers_are_judged_once(tmp_path: Path, quick: None) -> None:
    folder = write_class(tmp_path / "class", {"s1": RIGHT, "s2": WRONG, "s3": RIGHT})
    assert set(verdicts(rows_of(folder, tmp_path)).values()) == {"passed", "failed"}
    assert sum(len(job.items) for job in JOBS) == 2


@pytest.mark.slow
def test_a_row_depends_on_its_own_answer_alone(tmp_path: Path) -> None:
    """Alone, in other company, in another order, in batches of another size: the same row."""
    answers = several(9)
    together = rows_of(write_class(tmp_path / "class", answers), tmp_path / "a")
    for number, row in enumerate(together[:3]):
        student = row.submission.student
        folder = write_class(tmp_path / f"alone{number}", {student: answers[student]})
        (alone,) = rows_of(folder, tmp_path / f"out{number}")
        assert alone == row
    turned = dict(zip(answers, reversed(answers.values()), strict=True))
    other = rows_of(write_class(tmp_path / "turned", turned), tmp_path / "b", place=threads(1))
    by_text = {row.answer.text: row.judgement for row in other}
    assert all(by_text[row.answer.text] == row.judgement for row in together)


def test_stopped_anywhere_the_next_run_goes_on(tmp_path, quick, monkeypatch):
    """Ctrl-C after every batch there is; the rows are those of an undisturbed run."""
    folder = write_class(tmp_path / "class", several(20))
    undisturbed = rows_of(folder, tmp_path / "a")
    monkeypatch.setattr(engine, "MOST_A_BATCH", 4)
    monkeypatch.setattr(engine, "FEWEST_A_BATCH", 2)
    done = [0]

    def press(now: Progress) -> None:
        if now.done > max(now.known, done[-1]):
            done.append(now.done)
            raise KeyboardInterrupt

    for _ in range(30):
        try:
            rows = rows_of(folder, tmp_path / "b", report=press)
        except KeyboardInterrupt:
            continue
        break
    assert rows == undisturbed
    assert len(done) > 4


class OneFails(Executor):
    """A pool that breaks whenever a certain text is in a job."""

    def submit(self, work: Callable[[str], str], job: str) -> Future[str]:  # type: ignore[override]
        future: Future[str] = Future()
        if "LETHAL" in job:
            future.set_exception(BrokenProcessPool("a worker died"))
        else:
            future.set_result(work(job))
        return future


def test_a_worker_that_always_dies_costs_one_row(tmp_path: Path, quick: None) -> None:
    answers = several(12) | {"s05": RIGHT + "# LETHAL"}
    folder = write_class(tmp_path / "class", answers)
    place = Workplace(OneFails, lambda pool: None, 2)
    rows = rows_of(folder, tmp_path, place=place)
    (row,) = [row for row in rows if row.submission.student == "s05"]
    assert row.verdict == "needs review" and row.points is None
    assert row.judgement.outcome == "died"
    others = [row for row in rows if row.submission.student != "s05"]
    assert len(others) == 11 and not [row for row in others if row.verdict == "needs review"]


def test_what_cannot_be_judged_needs_review(tmp_path, monkeypatch):
    def stopped(job: str) -> str:
        outcome = Judgement("mat_add", needs_review=True, outcome="stopped-by-clock")
        return BatchResult({Batch.from_json(job).items[0].key: outcome}).to_json()

    judge_with(monkeypatch, stopped)
    folder = write_class(tmp_path / "class", {"s1": RIGHT})
    (row,) = rows_of(folder, tmp_path)
    assert row.verdict == "needs review" and row.points is None
    judge_with(monkeypatch, judge_here)
    (row,) = rows_of(folder, tmp_path)
    assert row.verdict == "passed", "the next run tries again"


def test_tools_that_do_not_work_stop_the_run(tmp_path, monkeypatch):
    def first_alone(job: str) -> str:
        return BatchResult({Batch.from_json(job).items[0].key: Judgement("mat_add")}).to_json()

    folder = write_class(tmp_path / "class", several(3))
    judge_with(monkeypatch, lambda job: BatchResult(problem="No kernel starts.").to_json())
    with pytest.raises(CannotGrade, match=r"No kernel starts\."):
        rows_of(folder, tmp_path)
    judge_with(monkeypatch, first_alone)
    with pytest.raises(CannotGrade, match="A worker left out 2 of 3 answers"):
        rows_of(folder, tmp_path)


def test_a_lying_worker_gets_nothing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes back is looked at: of another exercise, twice, of no item."""
    passed = Judgement("matmul_1d", numbers_right=True).to_json()

    def lie(job: str) -> str:
        honest = worker.read_result(look_at(job), Batch.from_json(job).items)
        fields = json.loads(honest.to_json())
        good = Judgement("mat_add", numbers_right=True).to_json()
        ours = Batch.from_json(job).items[0].key
        fields["judgements"] += [[ours, passed], ["99", good], [ours, good], [0, good]]
        return json.dumps(fields)

    judge_with(monkeypatch, lie)
    notes: list[str] = []
    folder = write_class(tmp_path / "class", {"s1": WRONG})
    (row,) = rows_of(folder, tmp_path, report=lambda now: notes.__setitem__(slice(None), now.notes))
    assert row.verdict == "failed" and row.points == 0
    assert len(notes) == 4 and all("ignored" in note for note in notes)


def test_batches_get_smaller_towards_the_end(tmp_path: Path, quick: None, monkeypatch) -> None:
    monkeypatch.setattr(engine, "MOST_A_BATCH", 8)
    monkeypatch.setattr(engine, "FEWEST_A_BATCH", 2)
    rows_of(write_class(tmp_path / "class", several(40)), tmp_path)
    sizes = [len(job.items) for job in JOBS]
    assert sum(sizes) == 40 and max(sizes) == 8 and max(sizes[-2:]) <= 2
    names = [item.name for job in JOBS for item in job.items]
    assert len(set(names)) == 40 and names[0] == "s00::mat_add"


@pytest.mark.parametrize("seed", range(3))
def test_answers_of_any_text_get_a_row(tmp_path: Path, seed: int) -> None:
    """Noise in place of an answer; nothing is lost, and nothing stops the class."""
    draw = random.Random(seed)
    letters = "abc(){}[]:=\n\t \\\"'#%!?\x00\ud800\u202e,;<&>@=+-"
    noise = ["".join(draw.choices(letters, k=draw.randrange(80))) for _ in range(6)]
    answers = {f"s{i}": f"# EXERCISE mat_add\n{text}" for i, text in enumerate(noise)}
    rows = rows_of(write_class(tmp_path / "class", answers), tmp_path)
    assert len(rows) == 6
    assert {row.verdict for row in rows} <= {"failed", "missing"}
