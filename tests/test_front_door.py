"""course.py: what it installs, when it installs nothing, and what it says when it can't."""

import ast
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from by_path import module_at
from child import python
from every_case import every_case

REPOSITORY = Path(__file__).resolve().parents[1]
COURSE = REPOSITORY / "course.py"
AT_WORK = REPOSITORY / "course_lib/commands/front_door.py"
pytestmark = pytest.mark.workshop
posix = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


@pytest.fixture
def course() -> ModuleType:
    """What course.py runs, as a module of its own for each test."""
    return module_at(AT_WORK)


@pytest.fixture
def handed(course: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, list[str]]]:
    """What course.py hands over, and to which Python."""
    given: list[tuple[Path, list[str]]] = []
    monkeypatch.setattr(course, "hand_over", lambda *these: given.append(these) or 0)
    return given


def call(*arguments: str, course: Path = COURSE, **options: object) -> subprocess.CompletedProcess:
    command = [sys.executable, str(course), *arguments]
    return subprocess.run(command, capture_output=True, text=True, **options)


# Nothing but what has stood in Python's grammar since version 2.
OLD_GRAMMAR = """
    Module Expr Constant Import ImportFrom alias If Compare Eq Lt BinOp Mod Tuple Attribute
    Subscript Slice UnaryOp USub Call Name Load Store Assign
""".split()


def test_any_python_can_read_it_and_only_the_standard_library_is_imported() -> None:
    text = COURSE.read_text(encoding="ascii")
    assert {type(node).__name__ for node in ast.walk(ast.parse(text))} <= set(OLD_GRAMMAR)
    # By the front door and by what it imports of the course.
    looked_at: set[Path] = set()
    left = {COURSE}
    while left:
        path = left.pop()
        looked_at.add(path)
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module)
        ours = {name for name in names if name.startswith("course_lib.")}
        assert {name.split(".")[0] for name in names - ours} <= sys.stdlib_module_names
        left |= {REPOSITORY / f"{name.replace('.', '/')}.py" for name in ours} - looked_at
    assert AT_WORK in looked_at


def test_a_python_too_old_is_told_so_in_one_line() -> None:
    pretend = "import sys; sys.version_info = (3, 9, 1); exec(open(sys.argv[1]).read())"
    done = python("-c", pretend, COURSE, status=2)
    said = f"The course needs Python 3.11 or newer; this is 3.9 at {sys.executable}.\n"
    assert (done.stdout, done.stderr) == ("", said)


def test_commands_are_the_librarys_and_the_version_is_told_from_any_folder(course, tmp_path):
    from course_lib.cli import MODULES

    for name, (_, group) in course.COMMANDS.items():
        assert importlib.util.find_spec(f"course_lib.commands.{MODULES.get(name, name)}")
        assert group is None or course.lock_file(group).exists()
    assert call("--version", cwd=tmp_path).stdout == f"Matmul Ladder {course.project_version()}\n"


@every_case(("arguments", "told"), [
    (["lba"], "There is no command 'lba'; did you mean lab? The commands are: lab, prepare, "),
    (["prepare", "gradee"], "There is no command 'gradee'; did you mean grade? The commands"),
    (["xyz", "--help"], "There is no command 'xyz'; choose one of: lab, prepare, run, "),
])  # fmt: skip
def test_a_wrong_command_gets_one_sentence(arguments, told, capsys, course):
    assert course.main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(told) and said.count("\n") == 1 and "doctor" in said


ALL_HELP = """
import contextlib, io, json, sys
from course_lib.cli import main
from course_lib.commands.front_door import COMMANDS
pages = {}
for name in COMMANDS:
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        main([name, "--help"])
    pages[name] = said.getvalue()
print(json.dumps([pages, "numpy" in sys.modules]))
"""


def test_help_without_any_package_is_the_help_with_them() -> None:
    """-S: the standard library alone."""
    pages = []
    for switches in (["-S"], []):
        done = python(*switches, "-c", ALL_HELP, COLUMNS="80")
        pages.append(json.loads(done.stdout)[0])
    without, with_them = pages
    assert without == with_them
    for name, page in without.items():
        assert page.startswith(f"usage: course.py {name} ") and "--help" in page


@every_case("asked", [
    "bench --help", "grade x -h", "lab --port 1 --help", "prepare --help", "prepare --lab",
])  # fmt: skip
def test_asking_for_help_installs_nothing(asked, course, handed, monkeypatch):
    monkeypatch.setattr(course, "prepare", lambda group: pytest.fail("an installation"))
    assert course.main(asked.split()) == 0
    assert handed[-1] == (Path(sys.executable), asked.split())


@every_case(("named", "groups"), [
    ("", ["lab"]), ("lab bench", ["lab"]), ("grade test doctor", ["grade", "test"]),
])  # fmt: skip
def test_prepare_installs_what_the_named_commands_need(named, groups, course, handed, monkeypatch):
    prepared = []
    monkeypatch.setattr(course, "prepare", lambda group: prepared.append(group) or True)
    assert course.main(["prepare", *named.split()]) == 0
    assert prepared == groups
    assert handed[-1] == (course.VENV_PYTHON, ["prepare", *named.split()])


def test_preparing_again_says_that_nothing_was_missing(course, handed, monkeypatch, capsys):
    monkeypatch.setattr(course, "prepare", lambda group: False)
    assert course.main(["prepare"]) == 0 and len(handed) == 1
    assert capsys.readouterr().err == "Nothing was missing.\n"
    assert course.main(["prepare", "doctor", "release"]) == 0 and len(handed) == 1
    assert capsys.readouterr().err == "No packages are needed for doctor, release.\n"


@pytest.fixture
def progress(course: ModuleType, tmp_path: Path) -> object:
    """The progress of an installation of three packages, of which one is for another system."""
    lock = tmp_path / "lab.txt"
    lock.write_text("# pins\none==1 \\\n    --hash=sha256:0\ntwo==2\nthree==3\n")
    return course.PipProgress(lock, tmp_path)


def test_progress_follows_pip(progress: object) -> None:
    assert progress.describe("") == "Fetching packages (lab): pip reads the list"
    ignored = "Ignoring three: markers 'sys_platform == \"win32\"' don't match"
    assert not re.search(r"\d", progress.describe(ignored)), "no total before it is known"
    assert "1 of 2 one" in progress.describe("Collecting one==1 (from -r lab.txt (line 2))")
    assert "one (12 MB)" in progress.describe("  Downloading one-1.whl (12 MB)")
    assert "2 of 2 two" in progress.describe("Requirement already satisfied: two==2 in /here")
    assert not progress.installing
    assert progress.done() == "Found all 2 packages (lab) installed"


@every_case("line", [
    "Collecting one==1 (from -r lab.txt (line 2))",
    "Processing /a/b/one-1-py3-none-any.whl (from -r lab.txt (line 2))",
    r"Processing c:\wheels\one-1-py3-none-any.whl",
    "Processing ./one-1-py3-none-any.whl",
    "Requirement already satisfied: one==1 in ./lib (from -r lab.txt (line 2)) (1)",
])  # fmt: skip
def test_each_way_to_a_package_is_counted(course: ModuleType, line: str, tmp_path: Path) -> None:
    lock = tmp_path / "lab.txt"
    lock.write_text("one==1\ntwo==2\n")
    progress = course.PipProgress(lock, tmp_path)
    assert progress.describe(line) == "Fetching packages (lab): 1 of 2 one"


def test_what_is_installed_is_counted_where_it_stands(progress: object, tmp_path: Path) -> None:
    def put(name: str) -> None:
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info/RECORD").touch()

    put("pip-23")
    progress.describe("Collecting one==1")
    first = progress.describe("Installing collected packages: two, one")
    assert progress.installing and first == "Installing packages (lab): 0 of 2"
    put("two-2")
    (tmp_path / "one-1.dist-info").mkdir()  # begun, and not whole
    assert progress.describe("") == "Installing packages (lab): 1 of 2"
    put("one-2")
    assert progress.describe("Successfully installed one-1 two-2").endswith("2 of 2")
    assert progress.done() == "Installed 2 packages (lab)"


def test_a_silent_command_is_asked_about_again(course: ModuleType) -> None:
    asked = []
    wait = [sys.executable, "-c", "import time; time.sleep(0.8)"]
    course.run_quietly(wait, lambda line: asked.append(line) or "")
    assert asked.count("") >= 2


@pytest.mark.parametrize(("said", "told"), [
    ("WARNING: Retrying (Retry(total=0)) after connection broken", "network"),
    ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "proxy"),
    ("OSError: [Errno 28] No space left on device", "disk is full"),
    ("ERROR: No matching distribution found for numba==1", "another Python"),
    ("SSL: CERTIFICATE_VERIFY_FAILED", "PIP_CERT"),
    ("something nobody foresaw", "install.log"),
])  # fmt: skip
def test_a_failure_of_pip_is_explained(course: ModuleType, said: str, told: str) -> None:
    text = course.explain_pip_failure(["Collecting x", said])
    assert f"pip: {said}" in text
    assert told in text.splitlines()[-1]


def driver(version: int, *capabilities: tuple[int, int]) -> SimpleNamespace:
    """A stand-in for NVIDIA's library."""

    def store(pointer: object, value: int) -> int:
        pointer._obj.value = value
        return 0

    return SimpleNamespace(
        cuDriverGetVersion=lambda out: store(out, version),
        cuInit=lambda flags: 0 if capabilities else 100,
        cuDeviceGetCount=lambda out: store(out, len(capabilities)),
        cuDeviceGetAttribute=lambda out, which, device: store(
            out, capabilities[device][{75: 0, 76: 1}[which]]
        ),
    )


@pytest.mark.parametrize(("version", "capabilities", "group"), [
    (12040, [(7, 5)], "gpu-cu12"),
    (13000, [(9, 0)], "gpu-cu13"),
    (14010, [(10, 0)], "gpu-cu13"),
    (13000, [(7, 0)], "gpu-cu12"),  # Volta, which CUDA 13 no longer compiles for
    (13000, [(9, 0), (7, 0)], "gpu-cu12"),
    (11080, [(7, 5)], None),
    (13000, [], None),
])  # fmt: skip
def test_gpu_packages_follow_driver_and_gpu(course, monkeypatch, version, capabilities, group):
    monkeypatch.delenv(course.GPU_SWITCH, raising=False)
    monkeypatch.setattr(course, "load_driver", lambda: driver(version, *capabilities))
    monkeypatch.setattr(course, "read_stamp", lambda: {"gpu": {}})
    monkeypatch.setattr(course.sys, "version_info", (3, 13))
    assert course.gpu_group()[0] == group


def test_the_gpu_can_be_left_alone(course: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "load_driver", lambda: driver(13000, (9, 0)))
    monkeypatch.setenv(course.GPU_SWITCH, "off")
    assert course.gpu_group() == (None, 0)
    monkeypatch.setenv(course.GPU_SWITCH, "cu13")
    with pytest.raises(course.CannotContinue, match="gpu-cu12 or gpu-cu13"):
        course.gpu_group()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """course.py beside a course of one command, whose lock asks for one tiny package."""
    root = tmp_path_factory.mktemp("a folder with späces") / "course"
    (root / "course_lib/commands").mkdir(parents=True)
    shutil.copy(COURSE, root)
    for name in ("__init__.py", "front_door.py", "progress.py", "places.py"):
        shutil.copy(AT_WORK.with_name(name), root / "course_lib/commands")
    shutil.copy(REPOSITORY / "pyproject.toml", root)
    (root / "course_lib/__init__.py").touch()
    (root / "course_lib/cli.py").write_text(
        "import os, sys, tiny\n"
        "from importlib.metadata import version\n"
        "print('ran', sys.argv[1:], tiny.NUMBER, version('matmul-ladder'), os.getcwd())\n"
    )
    write_lock(root, 1)
    return root


def write_lock(root: Path, number: int) -> None:
    """Make a wheel of this version and pin it."""
    wheels = root / "wheels"
    wheels.mkdir(exist_ok=True)
    wheel = wheels / f"tiny-{number}-py3-none-any.whl"
    info = f"tiny-{number}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", f"NUMBER = {number}\n")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {number}"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    (root / "locks").mkdir(exist_ok=True)
    pin = f"tiny=={number} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
    (root / "locks/lab.txt").write_text(pin)


def environment(root: Path, **changes: str) -> dict[str, str]:
    """No index but the wheels of the small course, and no GPU."""
    names = [name for name in os.environ if not name.startswith(("PIP_", "PYTHON"))]
    kept = {name: os.environ[name] for name in names} | {"MATMUL_LADDER_GPU": "off"}
    wheels = (root / "wheels").as_uri()  # pip splits at spaces
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels, "PIP_CONFIG_FILE": os.devnull}
    return {**kept, **pip, **changes}


def copied(small: Path, place: Path) -> Path:
    """The small course elsewhere, with nothing installed."""
    kept = shutil.ignore_patterns(".venv", ".course.lock", "__pycache__")
    root = shutil.copytree(small, place, ignore=kept)
    write_lock(root, 1)
    return root


@pytest.mark.slow
def test_life_of_an_installation(small: Path, tmp_path: Path) -> None:
    def lab(where: Path = small, **changes: str) -> subprocess.CompletedProcess:
        settings = environment(where, **changes)
        return call("lab", "--x", course=where / "course.py", cwd=tmp_path, env=settings)

    first = lab(PYTHONDONTWRITEBYTECODE="1")
    assert first.returncode == 0, first.stderr
    assert list((small / ".venv").rglob("tiny.*.pyc")), "compiled once, not at each start"
    assert first.stdout.startswith("ran ['lab', '--x'] 1 ")
    assert str(tmp_path) in first.stdout, "the user's folder is kept"
    assert "Installed 1 package (lab)" in first.stderr

    settings = environment(small, PIP_FIND_LINKS="nowhere")
    again = call("prepare", course=small / "course.py", env=settings)
    assert again.stdout.startswith("ran ['prepare'] 1 ") and again.stderr.startswith("Nothing was")
    assert lab(PIP_FIND_LINKS="nowhere").stderr == "", "nothing is left to do, so nothing is said"

    write_lock(small, 2)
    again = lab()
    assert again.stdout.startswith("ran ['lab', '--x'] 2 "), "a changed lock is installed"
    assert "anew" not in again.stderr

    write_lock(small, 3)
    shutil.rmtree(small / "wheels")
    failed = lab()
    assert failed.returncode == 1 and not failed.stdout
    assert "No matching distribution" in failed.stderr and "Traceback" not in failed.stderr

    write_lock(small, 3)
    (small / ".venv/course-unfinished").touch()
    mended = lab()
    assert mended.stdout.startswith("ran ['lab', '--x'] 3 ")
    assert "was interrupted" in mended.stderr

    moved = tmp_path / "moved"
    shutil.copytree(small, moved, symlinks=True)
    elsewhere = lab(moved)
    assert elsewhere.stdout.startswith("ran ['lab', '--x'] 3 ")
    assert elsewhere.stderr.count("moved or copied") == 1


@pytest.mark.slow
def test_an_index_out_of_reach_is_told_in_one_sentence(small: Path, tmp_path: Path) -> None:
    """pip's own words go into the log, and it knocks twice, not six times."""
    root = copied(small, tmp_path / "offline")
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = f"http://127.0.0.1:{server.getsockname()[1]}/simple"
    offline = environment(root, PIP_INDEX_URL=closed, PIP_NO_INDEX="0", PIP_FIND_LINKS="")
    done = call("lab", course=root / "course.py", env=offline)
    said = [line for line in done.stderr.splitlines() if not re.search(r"\(\d+ s\)$", line)]
    assert (done.returncode, done.stdout) == (1, "")
    assert said == [
        "pip could not reach the package index. Check the network (behind a proxy: set "
        "HTTPS_PROXY) and run the same command again; it continues from there."
    ]
    log = (root / ".venv/install.log").read_text()
    assert log.count("Retrying") == 1 and "No matching distribution" in log


@pytest.mark.slow
def test_a_folder_of_ones_own_leaves_the_courses_as_it_is(small: Path, tmp_path: Path) -> None:
    """As where the course's folder cannot be written; the start after that says nothing."""
    root = copied(small, tmp_path / "shared")
    before = sorted(root.rglob("*"))
    settings = environment(root, MATMUL_LADDER_HOME=str(tmp_path / "a home" / "ladder"))
    first, again = (
        call("lab", course=root / "course.py", cwd=tmp_path, env=settings) for _ in range(2)
    )
    assert first.stdout.startswith("ran ['lab'] 1 ") and again.stdout == first.stdout
    assert f"{root} is left unchanged" in first.stderr and again.stderr == ""
    assert sorted(root.rglob("*")) == before
    assert (tmp_path / "a home/ladder/.venv/course-stamp.json").exists()


def test_without_a_network_what_is_installed_is_used(course, monkeypatch, capsys, tmp_path):
    """After an update of the course, whose lock is newer than what is there."""
    stamp = {"groups": {"lab": "an older lock"}}
    said = ["WARNING: Retrying (Retry(total=0)) after connection broken", "ERROR: No matching …"]
    monkeypatch.setattr(course, "gpu_group", lambda: (None, 0))
    monkeypatch.setattr(course, "is_ready", lambda groups: False)
    monkeypatch.setattr(course, "only_one_at_a_time", contextlib.nullcontext)
    monkeypatch.setattr(course, "read_stamp", lambda: stamp)
    monkeypatch.setattr(course, "run_quietly", lambda command, describe: (1, said))
    for name in ("make_venv", "install_project"):
        monkeypatch.setattr(course, name, lambda: None)
    for name in ("UNFINISHED", "LOG"):
        monkeypatch.setattr(course, name, tmp_path / name)
    assert course.prepare("lab")
    assert "installed are used" in capsys.readouterr().err
    stamp["groups"] = {}
    with pytest.raises(course.CannotContinue, match="could not reach the package index"):
        course.prepare("lab")


@every_case("ready", [False, True])
def test_whoever_goes_on_is_told_of_an_unwritable_folder(course, monkeypatch, tmp_path, ready):
    """Nothing is installed there: course.py starts again, with a folder in the user's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("MATMUL_LADDER_HOME", "")  # put back when the test ends
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(course, "gpu_group", lambda: (None, 0))
    monkeypatch.setattr(course, "is_ready", lambda groups: ready)
    monkeypatch.setattr(course, "make_venv", lambda: pytest.fail("it would write there"))
    became = []
    monkeypatch.setattr(course, "become", lambda command: became.append(command) or 0)
    assert course.main(["lab", "--x"]) == 0
    assert os.environ["MATMUL_LADDER_HOME"] == str(tmp_path / "matmul-ladder")
    (command,) = became
    assert command[-2:] == ["lab", "--x"]
    assert (str(COURSE) in command) is not ready


@posix
@pytest.mark.long
def test_two_at_once(small: Path, tmp_path: Path) -> None:
    root = copied(small, tmp_path / "twice")
    command = [sys.executable, str(root / "course.py"), "lab"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    runs = [subprocess.Popen(command, env=environment(root), **pipes) for _ in range(2)]
    said = [run.communicate(timeout=600) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert all(out.startswith("ran ['lab'] 1 ") for out, _ in said)
    errors = sorted(err for _, err in said)
    assert "waiting" in errors[0] and "Installed" in errors[1]


@pytest.fixture
def silent_index() -> Iterator[str]:
    """An index that accepts a connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/simple"


@posix
@pytest.mark.slow
def test_ctrl_c_and_again(small: Path, tmp_path: Path, silent_index: str) -> None:
    root = copied(small, tmp_path / "stopped")
    hanging = environment(root, PIP_INDEX_URL=silent_index, PIP_NO_INDEX="0", PIP_FIND_LINKS="")
    command = [sys.executable, str(root / "course.py"), "lab"]
    run = subprocess.Popen(command, env=hanging, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 600
    while not (root / ".venv/course-stamp.json").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=300)
    assert run.returncode == 130
    assert said.strip().endswith("Stopped. The same command continues from here.")
    assert "Traceback" not in said
    done = call("lab", course=root / "course.py", env=environment(root))
    assert done.stdout.startswith("ran ['lab'] 1 "), done.stderr


class _HandedOver(Exception):
    """In place of becoming another process."""


def test_a_ready_course_is_only_handed_over(course, monkeypatch):
    """What the front door adds: a look at the stamp. No process, no installation, no package."""

    def become(program: str, command: list[str], environment: dict[str, str]) -> None:
        raise _HandedOver(program, *command[3:])

    stamp = {"python": course.THIS_PYTHON, "folder": str(course.VENV), "gpu": {}}
    stamp["project"] = course.file_hash(COURSE.parent / "pyproject.toml")
    groups = [group for _, group in course.COMMANDS.values() if group]
    stamp["groups"] = {group: course.lock_hash(group) for group in groups}
    hashed = []
    monkeypatch.setattr(course, "gpu_group", lambda: ("", ""))
    monkeypatch.setattr(course, "read_stamp", lambda: stamp)
    monkeypatch.setattr(course, "VENV_PYTHON", Path(sys.executable))
    monkeypatch.setattr(course, "file_hash", _noting(hashed, course.file_hash))
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process"))
    monkeypatch.setattr(os, "execve", become)
    before = set(sys.modules)
    with pytest.raises(_HandedOver) as handed:
        course.main(["run", "03"])
    assert handed.value.args == (sys.executable, "course_lib.cli", "run", "03")
    assert not set(sys.modules) - before
    assert len(hashed) <= 2  # pyproject.toml and the lock of the command's group


def _noting(calls: list, function: Callable[..., object]) -> Callable[..., object]:
    return lambda *args: (calls.append(args), function(*args))[1]
