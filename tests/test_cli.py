"""The commands behind the front door, the copies that lab makes, and what newer packages break."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import pytest
from child import python
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from packaging.requirements import Requirement

from course_lib import cli
from course_lib.commands import doctor, environments, lab, lock, prepare, run_lessons, run_tests
from course_lib.commands.lab import NOTE, make, told_of
from course_lib.curriculum import PATHFINDER
from course_lib.host import newer_packages
from course_lib.student import progress

pytestmark = pytest.mark.workshop

REPOSITORY = Path(__file__).resolve().parents[1]

CONTRASTS = {
    "00_well": ["print('Emulator: no GPU here')", "x = 1", "assert x == 1"],
    "01_wrong": ["y = 2", "raise ValueError('this went wrong')", "z = 3"],
}


@pytest.fixture
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two small lessons in place of the real ones."""
    for name, cells in CONTRASTS.items():
        write_notebook(tmp_path / f"{name}.ipynb", cells)
    monkeypatch.setattr(run_lessons, "NOTEBOOKS", tmp_path)
    return tmp_path


def write_notebook(path: Path, cells: list[str]) -> Path:
    all_cells = [new_markdown_cell("# A lesson"), *map(new_code_cell, cells)]
    nbformat.write(new_notebook(cells=all_cells), path)
    return path


def test_a_wrong_command_and_ctrl_c_end_without_a_traceback(capsys, monkeypatch):
    assert cli.main(["rnu"]) == 2
    assert "no command 'rnu'; did you mean run? " in capsys.readouterr().err
    assert cli.main([]) == 2
    assert cli.main(["--help"]) == 0

    def press(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_lessons, "main", press)
    assert cli.main(["run"]) == 130


def test_prepare_says_what_is_ready_and_what_comes_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab, "VENVS", (Path(sys.prefix),))
    monkeypatch.setattr(lab, "kernels_of", lambda prefix: None)
    monkeypatch.setattr(prepare, "HOME", tmp_path)
    assert cli.main(["prepare", "lab", "grade", "lab"]) == 0
    ready, head, *commands = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Ready for lab, grade: Python 3[\d.]+, \d+ packages in .+\.", ready)
    assert head == "Next, also without a network:"
    copy = tmp_path / "my/notebooks/00_start_here.ipynb"
    *commands, in_an_editor = commands
    assert commands == ["  python3 course.py lab", "  python3 course.py grade"]
    assert in_an_editor == f"or open {copy} in VS Code, with the kernel .venv." and copy.exists()
    # Nothing is promised of another environment.
    monkeypatch.setattr(lab, "VENVS", (tmp_path / ".venv",))
    assert cli.main(["prepare"]) == 1
    said = capsys.readouterr()
    assert not said.out and "`python3 course.py prepare` makes .venv" in said.err


@pytest.mark.slow
def test_run_reports_on_each_lesson(lessons: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_lessons.main(["--out", str(lessons / "done")]) == 1
    head, well, wrong, last = capsys.readouterr().out.strip().splitlines()
    assert head.split() == ["lesson", "cells", "seconds", "ran", "on", "result"]
    assert re.fullmatch(r"00_well +3 +[\d.]+  emulator  ok", well)
    wanted = r"01_wrong +3 +[\d.]+  - +cell 2 \[raise ValueError\(.*\]: ValueError: this went wrong"
    assert re.fullmatch(wanted, wrong)
    assert last.startswith("1 of 2 ran to the end")
    done = nbformat.read(lessons / "done/01_wrong.ipynb", as_version=4)
    assert done.cells[2].outputs[0].ename == "ValueError"


def test_a_wrong_lesson_or_a_file_that_is_no_notebook_gets_one_sentence(lessons, capsys):
    for name in ("0", "well", "00_well.ipynb"):
        assert run_lessons._find(name) == lessons / "00_well.ipynb"
    assert run_lessons.main(["7"]) == 2
    assert capsys.readouterr().err == "There is no lesson '7'; there are 00_well, 01_wrong.\n"
    path = lessons / "02_odd.ipynb"
    path.write_text("{")
    assert "not a readable notebook" in run_lessons.run(path, lessons / "done").verdict


@pytest.mark.parametrize(("cell", "verdict"), [
    ("import time; time.sleep(60)", "ran longer than 2 s"),
    ("import os; os._exit(3)", "its Python process died"),
])  # fmt: skip
@pytest.mark.slow
def test_nothing_hangs(lessons: Path, cell: str, verdict: str) -> None:
    path = write_notebook(lessons / "02_odd.ipynb", ["1", cell])
    assert verdict in run_lessons.run(path, lessons / "done", timeout=2).verdict


@pytest.mark.parametrize(("arguments", "some"), [
    ([], {"lint", "types", "fast tests"}),
    (["--all"], {"lint", "types", "fast and slow tests", "machine code", "Colab: notebooks"}),
])  # fmt: skip
def test_which_steps_are_run(monkeypatch, arguments, some):
    ran = []
    monkeypatch.setattr(run_tests, "_run_step", lambda step, *_: ran.append(step.name) or 0)
    assert run_tests.main(arguments) == 0
    assert some <= set(ran)
    assert ("fast and slow tests" in ran) == bool(arguments)
    assert len(ran) == len(set(ran))


def test_steps_beside_others_are_told_in_one_piece_and_begin_no_more_when_stopped(capfd):
    def says(name: str, *words: str, status: int = 0) -> run_tests.TestStep:
        text = f"import sys; print(*{words!r}, sep=chr(10)); sys.exit({status})"
        return run_tests.TestStep(name, [sys.executable, "-c", text])

    front = [says("first", "a"), says("second", "b", status=3)]
    beside = [says("third", "c", "d", status=4), says("fourth", "e")]
    rows = run_tests.in_two_lanes(front, beside)
    assert [(name, status) for name, _, status in rows] == [
        ("first", 0), ("second", 3), ("third", 4), ("fourth", 0)
    ]  # fmt: skip
    said = capfd.readouterr().out
    assert "== third\nc\nd\n" in said and "== fourth\ne\n" in said
    assert said.index("== first") < said.index("== second")
    ran: list[str] = []

    def stop() -> None:
        raise KeyboardInterrupt

    def step(name: str) -> run_tests.TestStep:
        return run_tests.TestStep(name, lambda: time.sleep(0.2) or ran.append(name))

    with pytest.raises(KeyboardInterrupt):
        run_tests.in_two_lanes([run_tests.TestStep("stopped", stop)], [step("a"), step("b")])
    assert ran == ["a"]


def test_every_test_is_run_by_one_step() -> None:
    """The marks split the tests without a gap: fast and slow, long."""
    steps = [*run_tests.all_steps(), *run_tests.steps_beside(), *run_tests.long_steps()]
    commands = [step.command for step in steps if not callable(step.command)]
    commands = [command for command in commands if {"pytest", "tests"} <= set(command)]
    marks = [command[command.index("-m", 3) + 1] for command in commands]
    for marked in ((), ("slow",), ("long",)):
        names = {name: name in marked for name in ("slow", "long")}
        assert len([mark for mark in marks if eval(mark, dict(names))]) == 1, marked


def test_other_arguments_go_to_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    monkeypatch.setattr(run_tests, "_run", lambda command: ran.append(command) or 0)
    assert run_tests.main(["-k", "tiled"]) == 0
    assert ran == [[sys.executable, "-m", "pytest", "-m", run_tests.FAST, "-k", "tiled"]]


def test_newest_versions_of_colab_are_taken_from_its_list_and_a_python_is_found() -> None:
    freeze = "absl-py==1.4\nnumpy==2.2.0\nnumba-cuda==0.23\njupyter-client==7.5\nx @ file:///x\n"
    lines = environments.newest(freeze).splitlines()
    assert lines[:3] == ["numpy==2.2.0", "numba-cuda==0.23", "jupyter-client==7.5"]
    assert "nbval" in lines and "absl-py==1.4" not in lines
    with pytest.raises(environments.CannotMake):
        environments.newest("absl-py==1.4")
    assert Path(environments.find_python([(3, 13), (2, 0)])).exists()
    assert environments.find_python([(2, 0)]) == environments.this_python()


def test_doctor_always_ends_well(monkeypatch, capsys):
    def nothing_installed(name: str) -> str:
        raise doctor.PackageNotFoundError(name)

    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(doctor, "version", nothing_installed)
    monkeypatch.setattr(doctor, "_ask", lambda code, lines=1: (False, "it broke"))
    monkeypatch.setattr(doctor.front_door, "load_driver", lambda: None)
    assert doctor.main([]) == 0
    said = capsys.readouterr().out
    assert "numpy, numba, matplotlib, ipython" in said
    assert "> `python3 course.py lab` installs what is missing." in said
    assert "Things to fix: 2" in said


def test_doctor_without_any_package() -> None:
    """As on a fresh machine: only the standard library can be imported."""
    code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
    code += "from course_lib.commands import doctor\n"
    code += "doctor._ask = lambda *a, **k: (False, 'no'); sys.exit(doctor.main([]))"
    assert "not installed: numpy" in python("-I", "-S", "-c", code).stdout
    check = doctor.emulator()
    assert check.good and not check.mend, check.says


def test_lab_shows_line_numbers_and_asks_nobody_about_news(monkeypatch: pytest.MonkeyPatch) -> None:
    settings_utils = pytest.importorskip("jupyterlab_server.settings_utils")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "elsewhere")
    environment = lab.environment("a token")
    assert environment["JUPYTER_TOKEN"] == "a token"
    assert environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)[1:] == ["elsewhere"]
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", environment["JUPYTER_CONFIG_PATH"])
    settings, error = settings_utils._get_overrides("")
    assert not error
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert settings["@jupyterlab/notebook-extension:tracker"]["codeCellConfig"]["lineNumbers"]


@contextlib.contextmanager
def started_lab(home: Path) -> Iterator[subprocess.Popen[str]]:
    """JupyterLab as it starts, in a folder of its own; it has to end at Ctrl-C."""
    command = [sys.executable, "-m", "course_lib.cli", "lab", "--no-browser", "--port=0"]
    own = {"JUPYTER_RUNTIME_DIR": str(home), "MATMUL_LADDER_HOME": str(home)}
    environment = {**os.environ, **own, "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert server.stdout.readline() == (
            f"Your copies of the lessons, and what you have passed: {home}\n"
        )
        assert server.stdout.readline().startswith("Starting JupyterLab")
        yield server
    finally:
        server.send_signal(signal.SIGINT)
        rest, _ = server.communicate(timeout=300)
    assert server.returncode == 0
    assert "JupyterLab has ended" in rest and "WARNING" not in rest


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C as POSIX has it")
def test_lab_says_its_address_and_a_kernel_starts_without_a_warning(tmp_path: Path) -> None:
    """The kernel's connection is encrypted, and it answers through that."""
    from jupyter_client import BlockingKernelClient

    with started_lab(tmp_path) as server:
        said = server.stdout.readline()
        root, token = re.search(
            r"The first lesson: (http://\S+?/)lab/tree/my/notebooks/00_start_here.ipynb\?token=(\w+)",
            said,
        ).groups()
        assert "JupyterLab" in fetch(f"{root}lab?token={token}")
        assert fetch(f"{root}api/status?token={token}")
        asked = urllib.request.Request(f"{root}api/kernels?token={token}", b"{}", method="POST")
        with urllib.request.urlopen(asked, timeout=60) as answer:
            kernel = json.load(answer)["id"]
        client = BlockingKernelClient(connection_file=str(tmp_path / f"kernel-{kernel}.json"))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=120)
        client.stop_channels()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C as POSIX has it")
@pytest.mark.parametrize("seconds", [0, 0.3])
def test_ctrl_c_while_lab_starts_leaves_no_server_behind(tmp_path: Path, seconds: float) -> None:
    with started_lab(tmp_path):
        time.sleep(seconds)


def fetch(address: str) -> str:
    """The page, as soon as the server answers."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(address, timeout=10) as page:
                return page.read().decode()
        except urllib.error.URLError:
            time.sleep(0.1)
    return ""


def test_every_lock_has_a_recipe_and_as_a_constraint_no_hashes(tmp_path):
    text = lock._versions_only("lab", tmp_path).read_text()
    assert re.search(r"^numba==\S+ ; \S+", text, re.MULTILINE)
    assert "hash" not in text and "\\" not in text
    recipes = {recipe.group for recipe in lock.LOCKS}
    assert recipes == {path.stem for path in (REPOSITORY / "locks").glob("*.txt")}


LESSON = "notebooks/00_start_here.ipynb"


def copied_notebook(*sources_in: str, output: str = "") -> str:
    cells = [{"cell_type": "code", "source": each, "outputs": [output]} for each in sources_in]
    return json.dumps({"cells": cells})


def sources_in(copy: Path) -> list[str]:
    return ["".join(each["source"]) for each in json.loads(copy.read_text())["cells"]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A course with one lesson and its exercise."""
    for folder in ("notebooks", "exercises"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "00_start_here.ipynb").write_text(copied_notebook("1"))
    return tmp_path


def test_copies_are_made_at_first_use_and_not_again(root: Path) -> None:
    assert make(root) == []
    copy = root / "my" / LESSON
    assert sources_in(copy) == ["1"]
    assert (root / "my/exercises/00_start_here.ipynb").is_file()
    copy.write_text("my own work")
    assert make(root) == [] and copy.read_text() == "my own work"
    left = {path.name for path in (root / "my").rglob("*") if path.is_file()}
    assert left == {"00_start_here.ipynb", NOTE}, "nothing unfinished stays behind"


def test_above_its_first_task_a_lesson_shows_no_sign_of_a_run() -> None:
    for path in sorted((REPOSITORY / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        tagged = ["task" in cell["metadata"].get("tags", []) for cell in cells]
        for cell in cells[: tagged.index(True) if True in tagged else 0]:
            if "setup" in cell["metadata"].get("tags", []):
                assert not cell["outputs"], path.name
            # nbval takes no outputs without a count.
            assert (cell.get("execution_count") is None) == (not cell.get("outputs")), path.name


def test_what_leads_copies_to_the_library_is_as_new_as_the_course(root: Path) -> None:
    for text in ("old", "new"):
        (root / "notebooks" / PATHFINDER).write_text(text)
        assert make(root) == []
        assert (root / "my/notebooks" / PATHFINDER).read_text() == text


def test_an_updated_lesson_is_told_until_it_is_taken(root: Path) -> None:
    make(root)
    copy = root / "my" / LESSON
    copy.write_text("my own work")
    (root / LESSON).write_text(copied_notebook("2"))
    for _ in range(2):
        updated = make(root)
        assert updated == [f"my/{LESSON}"] and copy.read_text() == "my own work"
    line = told_of(updated)
    assert line.count("\n") == 0 and f"my/{LESSON}" in line and "rename" in line
    copy.rename(copy.with_name("mine.ipynb"))
    assert make(root) == []
    assert sources_in(copy) == ["2"]
    assert copy.with_name("mine.ipynb").read_text() == "my own work"
    assert make(root) == [] and told_of([]) == ""


def test_a_damaged_note_costs_nothing_but_a_reminder(root: Path) -> None:
    make(root)
    for note in ("", "[]", "{", '{"notebooks/00_start_here.ipynb": 7}', "[" * 99999):
        (root / "my" / LESSON).write_text("my own work")
        (root / "my" / NOTE).write_text(note)
        assert make(root) == []
        assert (root / "my" / LESSON).read_text() == "my own work"


def test_lab_opens_the_copy_or_says_that_there_is_none(monkeypatch, capsys):
    monkeypatch.setattr(lab, "make", lambda root, home: [f"my/{LESSON}"])
    assert lab.first_lesson() == (REPOSITORY, f"my/{LESSON}")
    assert "Updated since you began" in capsys.readouterr().out

    def refuse(root: Path, home: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", "my")

    monkeypatch.setattr(lab, "make", refuse)
    assert lab.first_lesson() == (REPOSITORY, LESSON)
    assert "Permission denied" in capsys.readouterr().out
    command = lab.command(False, [], f"my/{LESSON}", REPOSITORY)
    assert f"--LabApp.default_url=/lab/tree/my/{LESSON}" in command


def test_copies_and_progress_can_lie_elsewhere(root, tmp_path, monkeypatch):
    """As for a course in a folder that cannot be written."""
    elsewhere = tmp_path / "not there yet" / "matmul-ladder"
    assert lab.make(root, elsewhere) == []
    assert (elsewhere / "my" / LESSON).exists() and not (root / "my").exists()
    monkeypatch.delenv("MATMUL_LADDER_PROGRESS", raising=False)
    monkeypatch.setenv("MATMUL_LADDER_HOME", str(elsewhere))
    assert progress.path() == elsewhere / "progress.json"


PYPROJECT = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
PAGE = (REPOSITORY / "docs" / "upstream.md").read_text(encoding="utf-8")
NEW_NUMPY = "AttributeError: module 'numpy' has no attribute 'row_stack'"


@pytest.fixture
def new_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy as it is from 2.5 on."""
    monkeypatch.delitem(vars(np), "row_stack", raising=False)
    monkeypatch.setattr(np, "__getattr__", _missing)


def _missing(name: str) -> None:
    raise AttributeError(f"module 'numpy' has no attribute {name!r}")


def test_numba_cuda_alone_finds_what_numpy_no_longer_has(new_numpy):
    with newer_packages.numpy_of_numba_cuda():
        assert np.array_equal(np.row_stack(([1, 2], [3, 4])), [[1, 2], [3, 4]])
    assert not hasattr(np, "row_stack")
    with pytest.raises(ZeroDivisionError), newer_packages.numpy_of_numba_cuda():
        raise ZeroDivisionError
    assert not hasattr(np, "row_stack")


def test_a_breakage_is_known_by_its_sign() -> None:
    (found,) = newer_packages.named(f"E   {NEW_NUMPY}\n")
    assert "NumPy 2.5" in found.packages
    assert newer_packages.named("E   AttributeError: module 'numpy' has no attribute 'x'") == []


def test_the_page_says_what_the_table_says() -> None:
    rows = re.findall(r"^\| ((?:numba-cuda|numba|NumPy).+?) \| .+? \| .+? \|$", PAGE, re.MULTILINE)
    for each in newer_packages.BREAKAGES:
        assert each.packages in rows and each.sign in PAGE
    for module, name in re.findall(r"`(newer_packages)\.(\w+)`", PAGE):
        assert module and hasattr(newer_packages, name)


def test_nothing_is_held_back_and_bounds_and_pre_releases_can_be_asked_for() -> None:
    lines = environments.requirements(PYPROJECT, [], pre=False).split()
    wanted = [Requirement(line) for line in lines]
    assert {spec.operator for each in wanted for spec in each.specifier} == {">="}
    names = {each.name for each in wanted}
    assert set(environments.WATCHED) | {"nbval", "nvidia-cuda-nvdisasm", "pytest"} <= names
    assert tomllib.loads(PYPROJECT)["project"]["name"] not in names
    assert {"nvcc"} in [each.extras for each in wanted]
    lines = environments.requirements(PYPROJECT, ["numpy<2.5"], pre=True).splitlines()
    assert lines[0] == "--pre" and "numpy<2.5" in lines


def _lane(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, status: int
) -> tuple[int, str]:
    """The lane with one step, which says this and ends so."""
    monkeypatch.setattr(environments, "make_newest", lambda bounds, pre: Path(sys.executable))
    monkeypatch.setattr(environments, "versions", lambda python: ["numpy 9.9"])
    code = f"print({said!r}); raise SystemExit({status})"
    step = run_tests.TestStep("newest: tests", [sys.executable, "-c", code])
    monkeypatch.setattr(run_tests, "upstream_steps", lambda python: [step])
    return run_tests.main(["--upstream"]), capsys.readouterr().out


def test_what_breaks_is_named_with_its_mend_or_said_to_be_new(monkeypatch, capsys):
    status, told = _lane(monkeypatch, capsys, NEW_NUMPY, 1)
    assert status == 1 and "numpy 9.9" in told
    assert f"Known: {newer_packages.BREAKAGES[0].packages}. " in told
    assert newer_packages.BREAKAGES[0].mend in told
    status, told = _lane(monkeypatch, capsys, "E   something else", 1)
    assert status == 1 and "Known:" not in told and "add a line for each" in told


def test_packages_that_do_not_go_together_are_told(monkeypatch, capsys):
    def refuse(bounds: list[str], pre: bool) -> Path:
        raise environments.CannotMake("ERROR: ResolutionImpossible")

    monkeypatch.setattr(environments, "make_newest", refuse)
    assert run_tests.main(["--upstream", "numpy<1"]) == 1
    said = "could not be installed together:\nERROR: ResolutionImpossible"
    assert said in capsys.readouterr().out
