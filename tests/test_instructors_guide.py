"""docs/instructors.md and CONTRIBUTING.md are followed to the letter: commands, outputs, files."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from stored_answers import right_answers_to, wrong_answers_to

from course_lib.checking import examine_source
from course_lib.commands import build, grade
from course_lib.grading.gradebook.tables import COLUMNS, MOODLE_COLUMNS

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "docs/instructors.md").read_text(encoding="utf-8")
EXERCISE = "05_shared_memory_tiling.ipynb"
TIDIED = re.compile(r"[ \t]*# <- .*$", re.MULTILINE)  # a mutant says what it has to be told

pytestmark = pytest.mark.workshop
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")


def section(title: str) -> str:
    """What stands below a heading of the guide; a code block may have headings of its own."""
    lines: list[str] = []
    inside = fenced = False
    for line in GUIDE.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            inside = line[3:].strip() == title
        elif inside:
            lines.append(line)
    assert lines, f"the guide has no section {title!r}"
    return "".join(lines)


def blocks(text: str, kind: str) -> list[str]:
    """The fenced blocks of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def sessions(text: str) -> list[tuple[str, str]]:
    """The commands of the console blocks, each with what it is said to print."""
    whole = "".join(blocks(text, "console"))
    assert whole.startswith("$ ")
    steps = [each.partition("\n") for each in re.split(r"^\$ ", whole, flags=re.MULTILINE)[1:]]
    return [(command, printed) for command, _, printed in steps]


def says(pattern: str, text: str) -> bool:
    """Whether a text is as the guide has it, where … stands for anything."""
    parts = map(re.escape, pattern.strip().split("…"))
    return bool(re.fullmatch(".*?".join(parts), text.strip(), re.DOTALL))


def run(command: str, root: Path, folder: Path, notes: bool = False) -> str:
    """What one command of the guide prints in a folder, with this Python and the course at `root`.

    With `notes` also what is said beside it.
    """
    python, script, *arguments = shlex.split(command)
    assert python == ("python3" if script == "course.py" else ".venv/bin/python"), command
    words = ["-m", "course_lib.cli"] if script == "course.py" else [script]
    environment = {**os.environ, "PYTHONPATH": str(root), "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, *words, *arguments], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if notes else subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + (done.stderr or "")
    return done.stdout


def wrong(name: str) -> str:
    return TIDIED.sub("", wrong_answers_to("matmul_tiled")[name])


RIGHT = TIDIED.sub("", right_answers_to("matmul_tiled")["if_else_padding"])
CLASS = {
    "student-01": RIGHT,
    "student-02": wrong("second_barrier_missing"),
    "student-03": wrong("float64_sum"),
    "student-04": wrong("last_partial_tile_left_out"),
    "student-05": None,  # handed in as it was handed out
    "student-06": RIGHT.replace("sA[ty, k]", "next(iter((sA[ty, k],)))"),
}


def answered(notebook: Path, exercise: str, text: str | None) -> str:
    """The exercise notebook with an answer in its cell."""
    whole = json.loads(notebook.read_text(encoding="utf-8"))
    marker = f"# EXERCISE {exercise}\n"
    (cell,) = [each for each in whole["cells"] if "".join(each["source"]).startswith(marker)]
    if text is not None:
        cell["source"] = marker + text
    return json.dumps(whole)


def hand_in(archive: Path) -> None:
    """The class as Moodle's "Download all submissions" has it."""
    with zipfile.ZipFile(archive, "w") as zipped:
        for number, (student, text) in enumerate(CLASS.items(), 4001):
            place = f"{student}_{number}_assignsubmission_file_/{EXERCISE}"
            zipped.writestr(place, answered(ROOT / "exercises" / EXERCISE, "matmul_tiled", text))
        zipped.writestr("student-07_4007_assignsubmission_file_/essay.pdf", b"%PDF-1.7 no notebook")


def test_options_exist_and_the_tables_name_what_the_code_names() -> None:
    options = set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", GUIDE))
    parsers = (grade._parser(), build._parser())
    known = {option for parser in parsers for option in parser._option_string_actions}
    assert {"--seed", "--workers", "--dask", "--lessons"} <= options
    # The first three are those of `release`; the last is nbval's own.
    assert options <= known | {"--lessons", "--zip", "--exam", "--posttest", "--nbval-lax"}
    from course_lib.curriculum import EXERCISES
    from course_lib.grading.records import VERDICTS

    points = section("Points")
    rows = re.findall(r"^\| ([a-z ]+) \| (?:all|some|0|none yet) \|", points, re.MULTILINE)
    assert rows == list(VERDICTS)
    kernels = [each for each in EXERCISES.values() if each.kind.name == "kernel"]
    asked = {name for each in kernels for name in each.points}
    (listed,) = re.findall(r"over properties: ([^.]+)\.", points)
    assert set(listed.split(", ")) == asked
    assert {each.max_points for each in EXERCISES.values()} == {10}
    columns = ", ".join(f"`{each}`" for each in COLUMNS)
    assert columns in section("What comes out")


def test_the_course_of_ones_own_can_be_made(tmp_path: Path) -> None:
    """The guide's file names what there is, and its bundle is whole."""
    (text,) = blocks(section("A course of your own"), "toml")
    (tmp_path / "course.toml").write_text(text, encoding="utf-8")
    said = run("python3 course.py release --settings course.toml --out course", ROOT, tmp_path)
    assert said.startswith("8 lessons (00, 01, 02, 03, 05, 05b, 05c, 07), 3 exercises, ")
    readme = (tmp_path / "course/README.md").read_text(encoding="utf-8")
    assert readme.startswith("# GPU programming, autumn\n") and "(20 points)" in readme


@pytest.mark.slow
def test_ten_minutes(tmp_path: Path) -> None:
    """From release to gradebook on the class of seven: the guide's commands, in its order."""
    hand_in(tmp_path / "submissions.zip")
    (settings,) = blocks(section("Points"), "toml")
    (tmp_path / "course.toml").write_text(settings, encoding="utf-8")
    follow(tmp_path, "Ten minutes", "Points")
    out = tmp_path / "grades"
    at_home = examine_source("matmul_tiled", CLASS["student-02"], seed=2026)
    assert (at_home.points, at_home.errors[0].code) == (5, "race-write-after-read")
    (last_lines,) = blocks(section("Needs review"), "csv")
    assert (out / "grades.csv").read_text(encoding="utf-8").endswith(last_lines)
    written = {path.relative_to(out).parts[0] for path in out.iterdir()}
    listed = set(re.findall(r"`([\w.]+?)(?:/NAME\.html)?`", section("What comes out")))
    assert written - listed == set()
    assert len(list((out / "feedback").glob("*.html"))) == len(CLASS) + 1
    header, *lines = (out / "moodle.csv").read_text(encoding="utf-8").splitlines()
    assert header == ",".join(f'"{each}"' for each in MOODLE_COLUMNS)
    assert len(lines) == len(CLASS)  # and the one without a notebook, but not the one to review
    assert not (out / "canvas.csv").exists()
    pages = "".join(path.read_text(encoding="utf-8") for path in (out / "feedback").iterdir())
    assert "2026" not in pages and "2026" in (out / "report.html").read_text(encoding="utf-8")
    set_by_hand(tmp_path)
    appealed(tmp_path)


def appealed(folder: Path) -> None:
    """An answer that came by mail counts, also after the command of the class."""
    given = answered(ROOT / "exercises" / EXERCISE, "matmul_tiled", RIGHT)
    (folder / "that_file.ipynb").write_text(given, encoding="utf-8")
    follow(folder, "Long runs and large classes", notes=True)
    moodle = (folder / "grades/moodle.csv").read_text(encoding="utf-8")
    assert '"Participant 4004","student-04",10,' in moodle and '"student-02",7.2,10' in moodle


def follow(folder: Path, *titles: str, notes: bool = False) -> None:
    """Give the commands of these sections in a folder, and hold what they print against them."""
    for title in titles:
        for command, printed in sessions(section(title)):
            said = run(command, ROOT, folder, notes)
            assert says(printed, said), f"{command}\n{said}"


def set_by_hand(folder: Path) -> None:
    """The guide's two files, and what student-02 reads of them."""
    for text in blocks(section("Set by hand"), "toml"):
        (name,) = re.findall(r"^# ([a-z.]+)", text)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(text)
    follow(folder, "Set by hand")
    (promised,) = re.findall(r"`([^`]*days late[^`]*)`", section("Set by hand"))
    (path,) = (folder / "grades/feedback").glob("student-02*.html")
    page = path.read_text(encoding="utf-8")
    assert promised in page and "As we said on Monday." in page
    assert "gave 4 (partly)" in page
    moodle = (folder / "grades/moodle.csv").read_text(encoding="utf-8")
    assert '"student-02",7.2,10' in moodle and '"student-06",10,10' in moodle


@posix
@pytest.mark.slow
def test_whoever_reads_may_stop_reading(tmp_path: Path) -> None:
    """`grade … --explain … | head` ends without a word."""
    submissions = tmp_path / "class"
    submissions.mkdir()
    (submissions / "student-01.ipynb").write_text("{}")
    main = [sys.executable, "-m", "course_lib.cli", "grade", submissions, "--out", tmp_path / "out"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*main, "--seed", "1"], cwd=ROOT, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


COPIED = ("course_lib", "notebooks", "exercises", "solutions")
COPIED_FILES = ("README.md", "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml", "course.py")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What `build` and `grade` need of the repository, to change it."""
    root = tmp_path / "course"
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for name in COPIED_FILES:
        shutil.copy(ROOT / name, root / name)
    return root


@pytest.mark.slow
def test_an_exercise_of_ones_own(copy: Path) -> None:
    own = section("An exercise of your own")
    entry, writes_solution, tries = blocks(own, "python")
    (copy / "course_lib/exercises/times_table.py").write_text(entry, encoding="utf-8")
    (copy / "write_solution.py").write_text(writes_solution, encoding="utf-8")
    (copy / "try_it.py").write_text(tries, encoding="utf-8")
    *before, (last, graded) = sessions(own)
    for command, printed in before:
        said = run(command, copy, copy)
        assert says(printed, said), f"{command}\n{said}"

    notebook = copy / "exercises/04_reuse_by_hand.ipynb"
    (right,) = re.findall(r'RIGHT = """\\\n(.*?)"""', tries, re.DOTALL)
    (old,) = re.findall(r'RIGHT\.replace\("(.*?)", ""\)', tries)
    (copy / "handed_in").mkdir()
    for student, text in (("student-01", right), ("student-02", right.replace(old, ""))):
        path = copy / "handed_in" / f"{student}.ipynb"
        path.write_text(answered(notebook, "times_table", text), encoding="utf-8")
    said = run(last, copy, copy)
    assert says(graded, said), said
    assert '"student-01","times_table",10,10,"passed"' in (copy / "grades/grades.csv").read_text()
    # Hints of the new notebook stand on the page of the one who needs them.
    page = (copy / "grades/feedback/student-02.html").read_text(encoding="utf-8")
    assert "Hint 2: 33 columns" in page
    assert run("python3 course.py build --check", copy, copy)


TRIED = """
from course_lib import check, examine_source
from course_lib.curriculum import TASKS
task = TASKS["double_it"]
head = "from numba import cuda\\n"
for text in (task.answer, task.given, task.answer.replace("= 2 * a[i]\\n", "= a[i]\\n")):
    report = examine_source("double_it", head + text, debug=True)
    print(report.passed, *(each.code for each in report.errors))
check("double_it", None)
"""


@pytest.mark.slow
def test_a_task_in_ten_minutes(copy: Path) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.split("## A task in ten minutes\n")[1].split("\n## ")[0]
    (file,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (line,) = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    (copy / "course_lib/tasks/double_it.py").write_text(file, encoding="utf-8")
    place(copy / "notebooks/00_start_here.ipynb", line.strip())

    said = run("python3 course.py build", copy, copy)
    assert "wrote notebooks/00_start_here.ipynb" in said
    cells = json.loads((copy / "notebooks/00_start_here.ipynb").read_text())["cells"]
    ids = [cell["id"] for cell in cells]
    first = ids.index("task-double_it")
    assert ids[first : first + 3] == ["task-double_it", "check-double_it", "hints-double_it"]
    assert run("python3 course.py build --check", copy, copy)
    (copy / "tried.py").write_text(TRIED, encoding="utf-8")
    verdicts = run(".venv/bin/python tried.py", copy, copy).splitlines()
    assert verdicts[:3] == ["True", "False missing-answer", "False wrong-formula"]


def place(path: Path, line: str) -> None:
    """Put a cell with one line above the last cell of a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = {"cell_type": "code", "execution_count": None, "id": "new", "metadata": {}}
    notebook["cells"].insert(-1, {**cell, "outputs": [], "source": [line]})
    path.write_text(json.dumps(notebook), encoding="utf-8")
