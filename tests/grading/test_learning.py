"""The tests before and after a course: items, notebooks, and statistics that leave no names."""

import json
from pathlib import Path

import numpy as np
import pytest
from child import python
from every_case import every_case
from grading_helpers import lines_of, notebook
from made_up_class import TILED, kernel, key_to, write_class

from course_lib import cli
from course_lib.grading.learning.forms import FORMS, PRETEST, answers_to
from course_lib.grading.learning.item_pairs import NO_BARRIER, PAIRS, SUM
from course_lib.grading.records import Submission, SubmittedFile, TextCell
from course_lib.questions.kinds import Choose, Question, WhichLine
from course_lib.questions.runs import ones, run

GUIDE = Path(__file__).resolve().parents[2] / "docs/instructors.md"
BARRIER = "cuda.syncthreads()"
ITEMS = len(PAIRS)


@every_case("pair", PAIRS)
def test_a_pair_asks_in_one_way_for_two_answers(pair) -> None:
    first, second = pair.before, pair.after
    assert type(first) is type(second)
    assert (first.asks, first.code) != (second.asks, second.code)
    if isinstance(first, Choose):
        assert len(first.choices) == len(second.choices) == 4
    if not isinstance(first, WhichLine):
        assert key_to(first) != key_to(second)


@every_case("item", [item for form in FORMS.values() for item in form.items])
def test_the_key_is_what_the_emulator_says(item: Question) -> None:
    assert sum(right for _, right, _ in item.rows()) == 1
    if isinstance(item, WhichLine):
        assert key_to(item) == str(item.proof())


@every_case(("first", "second", "races"), [
    (BARRIER, BARRIER, set()),
    (NO_BARRIER, BARRIER, {"race-write-after-read"}),
    (BARRIER, NO_BARRIER, {"race-read-after-write"}),
])  # fmt: skip
def test_one_barrier_of_two_leaves_the_race_that_is_asked_for(first, second, races):
    text = SUM.format(first=first, second=second)
    found = run(text, 1, 64, ones(64, 128), ones(128), ones(64)).findings
    assert {each.code for each in found if each.code.startswith("race")} == races


@every_case(("item", "order"), [(PAIRS[3].before, "C"), (PAIRS[3].after, "F")])
def test_the_order_that_is_right_fetches_less(item: Choose, order: str) -> None:
    change = item.lettered()[key_to(item)].words.split("`")[1]
    was = next(line.strip() for line in item.code.splitlines() if "cuda.grid" in line)
    arrays = [np.zeros((64, 64), np.float32, order=order) for _ in range(2)]
    texts = (item.code, item.code.replace(was, change))
    runs = [run(text, (8, 8), (32, 8), *arrays) for text in texts]
    slow, fast = (each.global_load_sectors for each in runs)
    assert slow >= 4 * fast


@every_case(("written", "said"), [
    *((text, "b") for text in ("b", "**B)**", "b, because of x", "*Your answer: a letter.* b")),
    *((text, "") for text in ("A thread may wait", "no idea", "")),
    ("c", "c"),
])  # fmt: skip
def test_an_answer_is_read_with_or_without_its_reason(written: str, said: str) -> None:
    texts = ("<!-- QUESTION pretest-1 -->\n6", f"<!-- QUESTION pretest-4 -->\n{written}")
    cells = tuple(TextCell("markdown", text, place) for place, text in enumerate(texts))
    answers = answers_to(PRETEST, Submission("a", "a", (SubmittedFile("a.ipynb", cells),)))
    assert (answers[3].said, answers[3].right) == (said, said == "b")
    assert (answers[0].said, answers[0].right) == ("6", True)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "course"
    asked = ["release", "--out", str(out), "--lessons", "00", "--pretest", "--posttest"]
    assert cli.main(asked) == 0
    return out


@pytest.mark.slow
@every_case(("name", "printed"), [
    ("pretest", "[3. 0. 3. 6. 9.]"), ("posttest", "[ 3.  0.  3. 12. 27.]"),
])  # fmt: skip
def test_a_released_notebook_runs_and_tells_nothing(release: Path, name: str, printed: str) -> None:
    found = json.loads((release / f"exercises/{name}.ipynb").read_text(encoding="utf-8"))
    code = ["".join(c["source"]) for c in found["cells"] if c["cell_type"] == "code"]
    exercise = FORMS[name].exercise.id
    solved = [kernel(exercise, TILED) if "# EXERCISE" in text else text for text in code]
    script = release / f"{name}.py"
    script.write_text("\n".join([*solved, f"course_lib.check('{exercise}', {exercise})"]))
    ran = python(script, cwd=release, status=None, PYTHONPATH=str(release), PATH="")
    assert printed in ran.stdout, ran.stderr
    assert "There is no exercise" in ran.stdout
    assert not (release / "course_lib/grading").exists()


@pytest.fixture
def here(judged_here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


BOTH = ("posttest", "--pretest", "pretest")


def items(*arguments: str, out: str = "grades") -> list[dict[str, str]]:
    """The table that a command writes."""
    asked = ["grade", *arguments, "--out", out, "--seed", "3", "--items", "items.csv"]
    assert cli.main(asked) == 0
    return lines_of(Path("items.csv"))


def discrimination(right: np.ndarray, item: int) -> float:
    """The corrected point-biserial correlation, by the textbook's formula."""
    rest = np.delete(right, item, axis=1).sum(axis=1)
    own, p = right[:, item], right[:, item].mean()
    return (rest[own == 1].mean() - rest[own == 0].mean()) / rest.std() * np.sqrt(p * (1 - p))


def near(text: str, number: float) -> bool:
    return abs(float(text) - number) <= 0.0005 + 1e-9


@pytest.mark.slow
def test_the_numbers_are_numpys(here: Path, release: Path) -> None:
    made = write_class(release, here, 60)
    for name in ("00", "01", "02"):  # who came too late for the first test
        (here / f"pretest/Student {name}.ipynb").unlink()
    (here / "posttest/Student 59.ipynb").unlink()
    table = items(*BOTH, "--exercises", "posttest")
    shares = {}
    for name, (everybody, kernels) in made.items():
        right, lines = everybody[3:-1], [line for line in table if line["test"] == name]
        shares[name] = [*right.T, right.mean(axis=1), kernels[3:-1]]
        assert {line["students"] for line in lines} == {"56"}
        for item, line in enumerate(lines[:ITEMS]):
            if min(right[:, item].sum(), (1 - right[:, item]).sum()) < 5:
                assert line["discrimination"] == "<5"
            else:
                assert near(line["discrimination"], discrimination(right, item))
        pairs = zip(lines, shares[name], strict=True)
        assert all(near(line["right"], x.mean()) for line, x in pairs)
    gains = [line["gain"] for line in table[ITEMS + 2 :]]
    for gain, first, second in zip(gains, shares["pretest"], shares["posttest"], strict=True):
        assert near(gain, (second.mean() - first.mean()) / (1 - first.mean()))
    alone = items("pretest", out="first")
    assert [line["test"] for line in alone] == ["pretest"] * (ITEMS + 2)
    assert near(alone[0]["right"], made["pretest"][0][3:, 0].mean())


@pytest.mark.slow
def test_the_guides_table_is_that_of_a_class_made_up_by_a_seed(here: Path, release: Path) -> None:
    write_class(release, here, 40, 1)
    items(*BOTH)
    section = GUIDE.read_text(encoding="utf-8").partition("## Before and after")[2]
    shown = section.partition("```csv\n")[2].partition("```")[0].splitlines()
    assert len(shown) > 5 and set(shown) <= set(Path("items.csv").read_text("utf-8").splitlines())


@pytest.mark.parametrize(("students", "shown"), [(4, False), (5, True)])
def test_nothing_stands_for_fewer_than_five(here, release, students, shown):
    write_class(release, here, students)
    for line in items(*BOTH):
        assert line["students"] == (str(students) if shown else "<5")
        assert (line["right"] != "<5") == shown
        # Of five, neither five are right and five wrong nor five wrong in one way.
        assert line["discrimination"] in ("<5", "") and not line["most_wrong"]
        assert line["unanswered"] in ("<5", "0", "") and (shown or line["gain"] in ("<5", ""))


@pytest.mark.slow
def test_no_name_is_in_it_and_no_order(here: Path, release: Path) -> None:
    write_class(release, here, 10)
    items(*BOTH)
    first = Path("items.csv").read_text()
    for path in here.glob("*test/*.ipynb"):
        path.rename(path.with_name(f"Person {99 - int(path.stem[-2:])}.ipynb"))
    for name in ("pretest", "posttest"):  # two of one name, in one of the tests: nobody knows who
        for number, platform in (("4", "1_9001"), ("5", "2_9002")):
            text = (here / f"{name}/Person 99.ipynb").read_text()
            if name == "pretest" or number == "4":
                (here / f"{name}/lee_10{platform}_x{number}.ipynb").write_text(text)
    assert items(*BOTH, out="others") and Path("items.csv").read_text() == first
    assert not any(word in first for word in ("Student", "Person", "lee"))


@every_case(("arguments", "status", "said"), [
    (["--pretest", "class"], 2, "--pretest needs --items FILE"),
    (["--items", "items.csv"], 1, "class contains no answers to a test"),
    (["--items", "i.csv", "--pretest", "class"], 1, "Nobody has answered the pretest in class"),
    (["--settings", "bad.toml"], 1, "`exercises` has distance_sum, which belongs to a test"),
    (["--settings", "own.toml", "--exercises", "pretest"], 0, ""),
])  # fmt: skip
def test_what_holds_no_test_is_said(here, capsys, arguments, status, said):
    (here / "class").mkdir(exist_ok=True)
    (here / "class/a.ipynb").write_text(notebook("# EXERCISE mat_add\n1"))
    (here / "bad.toml").write_text('exercises = ["distance_sum"]\n')
    (here / "own.toml").write_text('exercises = ["02"]\n')
    assert cli.main(["grade", "class", "--out", f"grades{status}{len(said)}", *arguments]) == status
    assert said in capsys.readouterr().err
