"""`course.py build` mends every drift, `--check` names it, and outputs are nobody's business."""

import json
import subprocess

import pytest

from course_lib.building.notebook import code_cells, dumps, read, source
from course_lib.commands.build import build, check, expected_files, main, run_all

LIBRARY = """\
def start(lesson=""):
    print("emulator")

def check(name, kernel):
    print(name, "passed")
"""


@pytest.fixture
def built(course):
    assert build(course, say=lambda line: None) == 0
    return course


def said(command, *arguments) -> tuple[int, str]:
    lines: list[str] = []
    status = command(*arguments, say=lines.append)
    return status, "\n".join(lines)


def edit(path, change) -> None:
    notebook = read(path)
    change(notebook)
    path.write_text(dumps(notebook), encoding="utf-8")


def test_checking_changes_nothing(course):
    before = {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()}
    assert check(course, say=lambda line: None) == 1
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


HEADER = {"language_info": {"name": "python", "version": "3.13.1"}}
FOLDED = {"metadata": {"collapsed": True}}


@pytest.mark.parametrize(("name", "place", "change", "what"), [
    ("exercises/00_first.ipynb", 3, {"source": "x = 1"}, "the source of cell 4 (statement)"),
    ("exercises/00_first.ipynb", 2, {"id": "renamed"}, "the id of cell 3 (imports)"),
    ("exercises/00_first.ipynb", 2, FOLDED, "the metadata of cell 3"),
    ("notebooks/01_second.ipynb", 2, FOLDED, "the metadata of cell 3"),
    ("notebooks/01_second.ipynb", None, HEADER, "its metadata or layout differs"),
    ("solutions/00_first.ipynb", 1, {"source": "x = 1"}, "the source of cell 2 (setup)"),
])  # fmt: skip
def test_each_drift_is_named_and_mended(built, name, place, change, what):
    def drift(notebook):
        (notebook["metadata"] if place is None else notebook["cells"][place]).update(change)

    edit(built.root / name, drift)
    status, text = said(check, built)
    assert status == 1
    drifted = [line for line in text.splitlines() if line.startswith(name)]
    assert len(drifted) == 1 and what in drifted[0]
    assert f"wrote {name}" in said(build, built)[1]
    assert check(built, say=lambda line: None) == 0


@pytest.mark.parametrize("folder", ["notebooks", "solutions", "exercises"])
def test_outputs_are_no_drift(built, folder):
    def run(notebook):
        for number, cell in enumerate(code_cells(notebook), start=1):
            cell["execution_count"] = number
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": ["hello\n"]}]

    edit(built.root / folder / "00_first.ipynb", run)
    assert check(built, say=lambda line: None) == 0
    assert build(built, say=lambda line: None) == 0
    first, *_ = code_cells(read(built.root / folder / "00_first.ipynb"))
    assert first["execution_count"] == (None if folder == "exercises" else 1)


def test_missing_and_surplus_files(built):
    (built.root / "exercises/00_first.ipynb").unlink()
    (built.root / "exercises/07_gone.ipynb").write_text("{}")
    text = said(check, built)[1]
    assert "exercises/00_first.ipynb: it is not there" in text
    assert "exercises/07_gone.ipynb: it has no solution" in text
    lines = "wrote exercises/00_first.ipynb\nremoved exercises/07_gone.ipynb"
    assert said(build, built) == (0, lines)


def test_what_only_an_author_can_mend_is_said_and_fails(built):
    (built.root / "solutions/00_first.ipynb").unlink()
    (built.root / "notebooks/09_own.ipynb").write_text("{}")
    (built.root / "notebooks/01_second.ipynb").write_text("{}")
    expected = [
        "solutions/00_first.ipynb: it is not there",
        "notebooks/01_second.ipynb: 01_second.ipynb cannot be read",
        "notebooks/09_own.ipynb: it is not in the curriculum",
    ]
    problems = expected_files(built).problems
    assert [any(line.startswith(each) for line in problems) for each in expected] == [True] * 3
    assert check(built, say=lambda line: None) == build(built, say=lambda line: None) == 1
    # An author's file is never removed.
    assert (built.root / "notebooks/09_own.ipynb").exists()


def test_a_solution_with_a_lost_marker_leaves_the_exercise_alone(built):
    def lose(notebook):
        notebook["cells"][4]["source"] = source(notebook["cells"][4]).replace("# END SOLUTION", "")

    before = (built.root / "exercises/00_first.ipynb").read_bytes()
    edit(built.root / "solutions/00_first.ipynb", lose)
    status, text = said(build, built)
    assert status == 1
    assert "exercises/00_first.ipynb: the answer to mat_add: `# BEGIN SOLUTION` has no" in text
    assert (built.root / "exercises/00_first.ipynb").read_bytes() == before


def addresses(root) -> str:
    paths = [*root.glob("*/*.ipynb"), *root.glob("*.*")]
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


@pytest.fixture
def as_project(monkeypatch, built):
    """main() with the tiny curriculum."""
    import course_lib.commands.build as module

    real = module.open_project
    monkeypatch.setattr(module, "open_project", lambda root: real(root, built.lessons))
    return built.root


def test_a_new_address_reaches_every_file(as_project, capsys):
    assert main(["--root", str(as_project), "--repository", "some-one/course"]) == 0
    text = addresses(as_project)
    assert "OWNER/NAME" not in text and "no address yet" not in text
    assert text.count("github.com/some-one/course/archive/main.zip") == 4
    assert main(["--root", str(as_project), "--check"]) == 0
    assert main(["--root", str(as_project), "--repository", "other/place"]) == 0
    assert "some-one" not in addresses(as_project)


def test_the_remotes_address_is_taken_while_there_is_none(as_project, capsys):
    def git(*words):
        subprocess.run(["git", "-C", str(as_project), *words], check=True, capture_output=True)

    git("init", "-q")
    git("remote", "add", "origin", "https://github.com/some-one/course.git")
    assert main(["--root", str(as_project), "--check"]) == 0  # checking changes nothing
    assert main(["--root", str(as_project)]) == 0
    assert "The address of the course is now some-one/course" in capsys.readouterr().out
    git("remote", "set-url", "origin", "https://github.com/a/fork.git")
    assert main(["--root", str(as_project)]) == 0
    assert "some-one/course" in (as_project / "README.md").read_text()


def test_a_new_ref_reaches_badges_and_setup_cells(as_project, capsys):
    words = ["--root", str(as_project), "--repository", "some-one/course"]
    assert main([*words, "--ref", "v1.2.3"]) == 0
    text = addresses(as_project)
    assert "/blob/main/" not in text and "/archive/main.zip" not in text
    assert text.count("github.com/some-one/course/archive/v1.2.3.zip") == 4
    assert text.count("/some-one/course/blob/v1.2.3/") > 4
    assert main(["--root", str(as_project), "--check"]) == 0
    assert "git push origin v1.2.3" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--repository", "nonsense"], ["77"], ["--ref", "a b"]])
def test_a_wrong_argument_is_told_in_one_line(as_project, capsys, words):
    assert main(["--root", str(as_project), *words]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.notebook
def test_executing_stores_outputs_that_are_the_same_next_time(built):
    (built.root / "course_lib").mkdir()
    (built.root / "course_lib/__init__.py").write_text(LIBRARY)
    names = ["01_second"]
    assert said(run_all, built, names) == (0, "ran notebooks/01_second.ipynb")
    first = (built.root / "notebooks/01_second.ipynb").read_bytes()
    setup, *_ = code_cells(json.loads(first))
    assert setup["execution_count"] == 1
    assert setup["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["emulator\n"]}]
    assert check(built, say=lambda line: None) == 0
    assert run_all(built, names, say=lambda line: None) == 0
    assert (built.root / "notebooks/01_second.ipynb").read_bytes() == first


@pytest.mark.slow
@pytest.mark.notebook
def test_a_cell_that_fails_is_named_and_the_file_stays(built):
    (built.root / "course_lib").mkdir()
    (built.root / "course_lib/__init__.py").write_text(LIBRARY)
    path = built.root / "notebooks/01_second.ipynb"

    def fail(notebook):
        notebook["cells"][4]["source"] = "print(1 / 0)"

    edit(path, fail)
    before = path.read_bytes()
    why = "cell run (print(1 / 0)) failed: ZeroDivisionError: division by zero"
    assert said(run_all, built, ["01_second"]) == (1, f"notebooks/01_second.ipynb: {why}")
    assert path.read_bytes() == before
