"""The tests before and after a course: items, notebooks, and statistics that leave no names."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case
from grading_helpers import judge_here, notebook, threads
from made_up_class import MadeUpClass, kernel, key_to, write_class

from course_lib import cli
from course_lib.grading import engine
from course_lib.grading.judging import executors
from course_lib.grading.learning.forms import FORMS, PRETEST, answers_to
from course_lib.grading.learning.item_pairs import PAIRS, SUM
from course_lib.grading.records import Submission, SubmittedFile, TextCell
from course_lib.questions.kinds import Choose, Question, WhichLine
from course_lib.questions.runs import ones, run

ROOT = Path(__file__).resolve().parents[2]
BARRIER = "cuda.syncthreads()"


# --- the items ----------------------------------------------------------------------------------


def test_the_items_of_a_pair_are_of_one_kind_and_have_other_answers() -> None:
    assert 8 <= len(PAIRS) <= 10
    for pair in PAIRS:
        first, second = pair.before, pair.after
        assert (
            type(first) is type(second) and first.asks != second.asks
        ) or first.code != second.code
        if isinstance(first, Choose) and isinstance(second, Choose):
            assert len(first.choices) == len(second.choices) == 4
        if not isinstance(first, WhichLine):
            assert key_to(first) != key_to(second), pair.idea


@every_case("item", [item for form in FORMS.values() for item in form.items])
def test_the_key_is_what_the_emulator_says(item: Question) -> None:
    assert sum(right for _, right, _ in item.rows()) == 1
    if isinstance(item, WhichLine):
        assert key_to(item) == str(item.proof())


@every_case(("place", "code"), [("second", "race-write-after-read"), ("first", "race-read")])
def test_one_barrier_of_two_leaves_the_race_that_is_asked_for(place: str, code: str) -> None:
    both = {"first": BARRIER, "second": BARRIER}
    for text, races in ((both, False), ({**both, "first": "t += 0"}, place == "second")):
        found = run(SUM.format(**text), 1, 64, ones(64, 128), ones(128), ones(64)).findings
        if place == "second":
            assert any(each.code.startswith(code) for each in found) == races
    if place == "first":
        one = SUM.format(first=BARRIER, second="t += 0")
        found = run(one, 1, 64, ones(64, 128), ones(128), ones(64)).findings
        assert any(each.code.startswith(code) for each in found)


@every_case("pair", [pair for pair in PAIRS if pair.idea == "coalescing"])
def test_the_order_that_is_right_fetches_less(pair) -> None:
    for item, order in ((pair.before, "C"), (pair.after, "F")):
        change = item.choices[ord(key_to(item)) - ord("a")].words.split("`")[1]
        was = next(line for line in item.code.splitlines() if "cuda.grid" in line)
        A, C = (np.zeros((64, 64), np.float32, order=order) for _ in range(2))
        fetched = [
            run(text, (2, 8), (32, 8), A, C).global_load_sectors
            for text in (item.code, item.code.replace(was.strip(), change))
        ]
        assert fetched[0] >= 4 * fetched[1], fetched


@every_case(
    ("written", "said", "right"),
    [
        ("b", "b", True),
        ("**B)**", "b", True),
        ("b, because neighbours meet", "b", True),
        ("a", "a", False),
        ("A thread may wait", "", False),
        ("no idea", "", False),
        ("", "", False),
    ],
)
def test_an_answer_is_read_with_or_without_its_reason(written: str, said: str, right: bool) -> None:
    cells = [TextCell("markdown", "<!-- QUESTION pretest-1 -->\n6", 1)]
    cells.append(TextCell("markdown", f"<!-- QUESTION pretest-4 -->\n{written}", 2))
    answers = answers_to(PRETEST, Submission("a", "a", (SubmittedFile("a.ipynb", tuple(cells)),)))
    assert (answers[3].said, answers[3].right) == (said, right)
    assert (answers[0].said, answers[0].right) == ("6", True)


# --- the notebooks ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "course"
    asked = ["release", "--out", str(out), "--lessons", "00", "--pretest", "--posttest"]
    assert cli.main(asked) == 0
    return out


def test_a_released_notebook_runs_and_tells_nothing(release: Path) -> None:
    printed = {"pretest": "[3. 0. 3. 6. 9.]", "posttest": "[ 3.  0.  3. 12. 27.]"}
    for name, form in FORMS.items():
        found = json.loads((release / f"exercises/{name}.ipynb").read_text(encoding="utf-8"))
        code = ["".join(c["source"]) for c in found["cells"] if c["cell_type"] == "code"]
        assert not any("check(" in text or "answer(" in text for text in code)
        exercise = form.exercise.id
        solved = [kernel(exercise, "tiled") if "# EXERCISE" in text else text for text in code]
        solved.append(f"course_lib.check('{exercise}', {exercise})")
        script = release / f"{name}.py"
        script.write_text("\n".join(solved), encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, str(script)],
            cwd=release,
            env={"PYTHONPATH": str(release), "PATH": ""},
            capture_output=True,
            text=True,
        )
        assert printed[name] in ran.stdout, ran.stderr
        assert "There is no exercise" in ran.stdout + ran.stderr
    assert not (release / "course_lib/grading").exists()


# --- the statistics -----------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in; kernels are judged in this process."""
    monkeypatch.setattr(engine, "run_batch", judge_here)
    monkeypatch.setattr(executors, "process_pool", lambda workers: threads(1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def items(place: str, *arguments: str, out: str = "grades") -> list[dict[str, str]]:
    """The table that a command writes."""
    asked = ["grade", place, "--out", out, "--seed", "3", "--items", "items.csv"]
    assert cli.main([*asked, *arguments]) == 0
    with open("items.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def independently(right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Difficulty and corrected point-biserial correlation, by the textbook's formula."""
    difficulty = right.mean(axis=0)
    correlations = []
    for item in range(right.shape[1]):
        rest = np.delete(right, item, axis=1).sum(axis=1)
        passed, failed = rest[right[:, item] == 1], rest[right[:, item] == 0]
        p = difficulty[item]
        correlations.append((passed.mean() - failed.mean()) / rest.std() * np.sqrt(p * (1 - p)))
    return difficulty, np.array(correlations)


def near(text: str, number: float) -> bool:
    return abs(float(text) - number) <= 0.0005 + 1e-9


def of_form(table: list[dict[str, str]], form: str) -> list[dict[str, str]]:
    return [line for line in table if line["test"] == form]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_numbers_are_numpys(here: Path, release: Path, seed: int) -> None:
    made = write_class(release, here, 60, seed)
    for name in made.names[:4]:  # who came too late for the first test, or left before the second
        (here / f"pre/{name}.ipynb").unlink()
    for name in made.names[-3:]:
        (here / f"post/{name}.ipynb").unlink()
    table = items("post", "--exercises", "posttest", "--pretest", "pre")
    both = slice(4, -3)
    shares = {}
    for form in FORMS:
        right = made.right[form][both]
        difficulty, discrimination = independently(right)
        lines = of_form(table, form)
        shares[form] = [*right.T, right.mean(axis=1), np.array(made.kernels[form][both])]
        assert [line["students"] for line in lines] == [str(len(right))] * (len(PAIRS) + 2)
        for item, line in enumerate(lines[: len(PAIRS)]):
            assert near(line["right"], difficulty[item])
            if min(right[:, item].sum(), (1 - right[:, item]).sum()) < 5:
                assert line["discrimination"] == "<5"
            else:
                assert near(line["discrimination"], discrimination[item])
    for line, first, second in zip(
        of_form(table, "posttest"), shares["pretest"], shares["posttest"], strict=True
    ):
        assert near(line["right"], second.mean())
        assert near(line["gain"], (second.mean() - first.mean()) / (1 - first.mean()))
    assert not any(line["gain"] for line in of_form(table, "pretest"))


def test_the_guides_table_is_that_of_a_class_made_up_by_a_seed(here: Path, release: Path) -> None:
    write_class(release, here, 40, 1)
    items("post", "--exercises", "posttest", "--pretest", "pre")
    guide = (ROOT / "docs/instructors.md").read_text(encoding="utf-8")
    shown = guide.partition("## Before and after")[2].partition("```csv\n")[2].partition("```")[0]
    assert set(shown.splitlines()) <= set(Path("items.csv").read_text("utf-8").splitlines())
    assert len(shown.splitlines()) > 5


def test_one_test_alone_has_its_table(here: Path, release: Path) -> None:
    made = write_class(release, here, 30)
    table = items("pre")  # what it is about is seen in it
    assert [line["test"] for line in table] == ["pretest"] * (len(PAIRS) + 2)
    assert near(table[0]["right"], made.right["pretest"][:, 0].mean())
    assert near(table[-1]["right"], float(np.mean(made.kernels["pretest"])))


@pytest.mark.parametrize(("students", "shown"), [(4, False), (5, True)])
def test_nothing_stands_for_fewer_than_five(
    here: Path, release: Path, students: int, shown: bool
) -> None:
    write_class(release, here, students)
    for line in items("post", "--pretest", "pre"):
        assert line["students"] == (str(students) if shown else "<5")
        assert (line["right"] != "<5") == shown
        # Of five, fewer than five are right or wrong, unless all are.
        assert line["discrimination"] in ("<5", "") and line["most_wrong"] in ("", *"abcd64123")
        if not shown:
            assert line["gain"] in ("<5", "") and line["unanswered"] in ("<5", "0", "")


def test_no_name_is_in_it_and_no_order(here: Path, release: Path) -> None:
    made: MadeUpClass = write_class(release, here, 24)
    items("post", "--pretest", "pre")
    first = Path("items.csv").read_bytes()
    for name, other in zip(made.names, reversed(made.names), strict=True):
        for place in ("pre", "post"):
            to = here / f"again/{place}/Person {other}.ipynb"
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(here / f"{place}/{name}.ipynb", to)
    items("again/post", "--pretest", "again/pre", out="others")
    assert Path("items.csv").read_bytes() == first
    assert not any(word in first.decode() for word in ("Student", "Person"))


def test_two_of_one_name_are_told_apart_by_canvas_and_left_out_for_moodle(
    here: Path, release: Path
) -> None:
    write_class(release, here, 6)
    for number in range(6):
        for place, of_moodle in (("pre", number), ("post", number + 50)):
            text = (here / f"{place}/Student {number:02}.ipynb").read_text()
            canvas = here / f"canvas/{place}/lee_{100 + number}_{of_moodle + 9000}_test.ipynb"
            moodle = here / f"moodle/{place}/Lee_{of_moodle + 1}_assignsubmission_file_/t.ipynb"
            for path in (canvas, moodle):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    assert items("canvas/post", "--pretest", "canvas/pre")[0]["students"] == "6"
    asked = ["grade", "moodle/post", "--out", "other", "--items", "items.csv"]
    assert cli.main([*asked, "--pretest", "moodle/pre"]) == 1


@every_case(
    ("arguments", "status", "said"),
    [
        (["--pretest", "class"], 2, "--pretest goes with --items FILE"),
        (["--items", "items.csv"], 1, "class holds no answers to a test"),
        (["--items", "i.csv", "--pretest", "class"], 1, "class holds no answers to the pretest"),
    ],
)
def test_what_holds_no_test_is_said(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
    said: str,
) -> None:
    (here / "class").mkdir(exist_ok=True)
    (here / "class/a.ipynb").write_text(notebook("# EXERCISE mat_add\n1"))
    assert cli.main(["grade", "class", "--out", "grades", *arguments]) == status
    assert said in capsys.readouterr().err


def test_a_course_of_ones_own_has_the_tests_too(here: Path, release: Path) -> None:
    write_class(release, here, 5)
    Path("course.toml").write_text('exercises = ["02"]\n')
    assert items("pre", "--settings", "course.toml", "--exercises", "pretest")
    Path("bad.toml").write_text('exercises = ["distance_sum"]\n')
    assert cli.main(["grade", "pre", "--out", "bad", "--settings", "bad.toml"]) == 1
