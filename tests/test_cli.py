"""The commands behind the front door: run, test, doctor, lab, lock."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from child import python
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib import cli
from course_lib.commands import doctor, environments, lab, lock, prepare, run_lessons, run_tests

REPOSITORY = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.workshop

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


def test_wrong_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rnu"]) == 2
    assert "no command 'rnu'; did you mean run? " in capsys.readouterr().err
    assert cli.main([]) == 2
    assert cli.main(["--help"]) == 0


def test_prepare_says_what_is_ready_and_what_comes_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab, "VENVS", (Path(sys.prefix),))
    monkeypatch.setattr(lab, "kernels_of", lambda prefix: None)
    monkeypatch.setattr(prepare, "HOME", tmp_path)
    assert cli.main(["prepare", "lab", "grade", "lab"]) == 0
    ready, head, *commands = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Ready for lab, grade: Python 3[\d.]+, \d+ packages in .+\.", ready)
    assert head == "Next, also without a network:"
    copy = tmp_path / "my/notebooks/00_start_here.ipynb"
    assert commands == [
        "  python3 course.py lab",
        "  python3 course.py grade",
        f"or open {copy} in VS Code, with the kernel .venv.",
    ]
    assert copy.exists()


def test_prepare_promises_nothing_of_another_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab, "VENVS", (tmp_path / ".venv",))
    assert cli.main(["prepare"]) == 1
    said = capsys.readouterr()
    assert not said.out and "`python3 course.py prepare` makes .venv" in said.err


def test_ctrl_c_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_lessons, "main", press)
    assert cli.main(["run"]) == 130


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


def test_a_wrong_lesson_gets_one_sentence(lessons, capsys):
    assert run_lessons.main(["7"]) == 2
    assert capsys.readouterr().err == "There is no lesson '7'; there are 00_well, 01_wrong.\n"


@pytest.mark.parametrize("name", ["0", "well", "00_well.ipynb"])
def test_names_of_a_lesson(lessons: Path, name: str) -> None:
    assert run_lessons._find(name) == lessons / "00_well.ipynb"


def test_a_file_that_is_no_notebook(lessons: Path) -> None:
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


def test_what_steps_beside_others_say_is_told_in_one_piece(capfd):
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


def test_stopped_it_begins_no_further_step_beside() -> None:
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


def test_newest_versions_of_colab_are_taken_from_its_list() -> None:
    freeze = "absl-py==1.4\nnumpy==2.2.0\nnumba-cuda==0.23\njupyter-client==7.5\nx @ file:///x\n"
    lines = environments.newest(freeze).splitlines()
    assert lines[:3] == ["numpy==2.2.0", "numba-cuda==0.23", "jupyter-client==7.5"]
    assert "nbval" in lines and "absl-py==1.4" not in lines
    with pytest.raises(environments.CannotMake):
        environments.newest("absl-py==1.4")


def test_a_python_is_always_found() -> None:
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
    code = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
        "from course_lib.commands import doctor\n"
        "doctor._ask = lambda *a, **k: (False, 'no')\n"
        "sys.exit(doctor.main([]))"
    )
    assert "not installed: numpy" in python("-I", "-S", "-c", code).stdout


def test_doctor_knows_that_the_emulator_works() -> None:
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
