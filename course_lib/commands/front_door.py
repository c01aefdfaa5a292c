"""What course.py does: prepare .venv and become the command that was asked for.

Standard library only, because it runs before anything is installed. What a command needs is pinned
with hashes in locks/. A stamp in .venv remembers what is installed, so later runs start at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from course_lib.commands.places import HOME, HOME_SWITCH, REPOSITORY, put
from course_lib.commands.progress import PipProgress, run_quietly, say

VENV = HOME / ".venv"
WINDOWS = os.name == "nt"
VENV_PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
STAMP = VENV / "course-stamp.json"
UNFINISHED = VENV / "course-unfinished"
LOG = VENV / "install.log"
THIS_PYTHON = "{}.{}".format(*sys.version_info[:2])

# What each command does, and which file of locks/ it needs; None: it runs with what there is.
COMMANDS = {
    "lab": ("open JupyterLab at the first lesson", "lab"),
    "prepare": ("install what lab (or the commands that you name) will need; open nothing", None),
    "run": ("run lessons from top to bottom and report on each", "lab"),
    "test": ("run the fast tests; --all adds the slow ones", "test"),
    "doctor": ("say what this machine can do, and how to fix what it can't", None),
    "bench": ("measure the ladder's kernels and cuBLAS on this GPU", "lab"),
    "build": ("maintainers: update exercises, notebooks, outputs and links", "test"),
    "book": ("build the lessons into a static site to read", "book"),
    "grade": ("instructors: grade a folder of submissions", "grade"),
    "release": ("instructors: make the course for students, without the solutions", None),
    "autograder": ("instructors: make the zip file with which Gradescope grades", "grade"),
    "board": ("rank kernels by their counted cost, on a web page", "compiler"),
    "lock": ("maintainers: update the pinned packages in locks/", "lab"),
}
OF_THE_REPOSITORY = ("test", "build", "lock")  # what they work on is in no package
CONTAINS = {"test": ("lab", "grade")}  # every package of the second is in the first
GPU_SWITCH = "MATMUL_LADDER_GPU"  # "off", or the group to use whatever the driver says


class CannotContinue(Exception):
    """Something that the user has to mend; the message says what and how."""


class NoNetwork(CannotContinue):
    """pip could not reach the package index, and has changed nothing."""


def main(arguments: list[str]) -> int:
    if (status := answered(arguments, project_version)) is not None:
        return status
    command, *rest = arguments
    options = [argument for argument in rest if argument.startswith("-")]
    if command == "prepare" and not options and (unknown := [n for n in rest if n not in COMMANDS]):
        return no_such_command(unknown[0])
    # The parsers of options need the standard library only; prepare has no option but --help.
    if asks_for_help(rest) or (command == "prepare" and options):
        return hand_over(Path(sys.executable), arguments)
    try:
        return prepare_and_hand_over(command, rest)
    except CannotContinue as problem:
        say(str(problem))
        return 1
    except OSError as problem:
        say(
            f"{problem.strerror}: {problem.filename}. The course writes only below {HOME}; to use "
            f"another folder, set {HOME_SWITCH}."
        )
        return 1
    except KeyboardInterrupt:
        say("Stopped. The same command continues from here.")
        return 130


def answered(
    arguments: list[str], version: Callable[[], str], program: str = "python3 course.py"
) -> int | None:
    """Answer what needs no command: help, the version, a word that is none; None for a command."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage(program))
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        print("Matmul Ladder", version())
        return 0
    return None if arguments[0] in COMMANDS else no_such_command(arguments[0])


def no_such_command(name: str) -> int:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    meant = f"did you mean {near[0]}? The commands are" if near else "choose one of"
    say(f"There is no command {name!r}; {meant}: {', '.join(COMMANDS)}.")
    return 2


def asks_for_help(rest: list[str]) -> bool:
    """Will the command only show its options? After `--` come no options any more."""
    before = rest[: rest.index("--")] if "--" in rest else rest
    return "-h" in before or "--help" in before


def prepare_and_hand_over(command: str, rest: list[str]) -> int:
    """Install what the command needs, then become it."""
    if command in OF_THE_REPOSITORY and not (REPOSITORY / "tests").is_dir():
        raise CannotContinue(
            f"`{command}` works on the course's repository, and {REPOSITORY} is not a copy of it. "
            "`doctor` tells you what this machine can do."
        )
    asked = [command] if command != "prepare" else rest or ["lab"]
    groups = list(dict.fromkeys(group for name in asked if (group := COMMANDS[name][1])))
    if HOME == REPOSITORY and not os.access(REPOSITORY, os.W_OK):
        os.environ[HOME_SWITCH] = str(Path.home() / "matmul-ladder")
        if not all(is_ready(with_gpu(group)) for group in groups):
            return become([sys.executable, str(REPOSITORY / "course.py"), command, *rest])
    installed = [prepare(group) for group in groups]
    if command == "prepare" and not any(installed):
        say("Nothing was missing." if groups else f"No packages are needed for {', '.join(asked)}.")
        if not groups:
            return 0
    usable = groups or (VENV_PYTHON.exists() and not UNFINISHED.exists())
    return hand_over(VENV_PYTHON if usable else Path(sys.executable), [command, *rest])


def usage(program: str) -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {summary}" for name, (summary, _) in COMMANDS.items()]
    first = f"usage: {program} COMMAND [arguments]\n\n"
    return first + "\n".join(lines) + f"\n\n`{program} COMMAND --help` says more."


def hand_over(python: Path, arguments: list[str]) -> int:
    """Become the command that the arguments name, run by this Python."""
    if not STAMP.exists() or python != VENV_PYTHON:  # course_lib is not installed there
        os.environ["PYTHONPATH"] = str(REPOSITORY)
    return become([str(python), "-P", "-m", "course_lib.cli", *arguments])


def become(command: list[str]) -> int:
    """Become another process. On Windows, where none can become another, wait for it."""
    sys.stdout.flush()
    environment = dict(os.environ)
    # Packages are installed without bytecode; every kernel would compile them anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if HOME != REPOSITORY:  # nothing can be kept beside the course's own files
        environment.setdefault("PYTHONPYCACHEPREFIX", str(HOME / ".bytecode"))
    if not WINDOWS:
        os.execve(command[0], command, environment)
    import signal
    import subprocess

    environment.setdefault("PYTHONUTF8", "1")  # notebooks and sources are UTF-8 everywhere
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the command's to answer
    return subprocess.call(command, env=environment)


# --- What is installed, and what has to be -----------------------------------------------------


def prepare(group: str) -> bool:
    """Install what is missing: the group, the packages for a GPU, the course itself.

    Returns whether something was.
    """
    groups = with_gpu(group)
    if is_ready(groups):
        return False
    gpu, driver_version = gpu_group()
    if HOME != REPOSITORY:
        say(
            f"{REPOSITORY} is left unchanged: packages, your copies and your progress go into "
            f"{HOME}."
        )
        HOME.mkdir(parents=True, exist_ok=True)
    with only_one_at_a_time():
        if is_ready(groups):  # another run was faster
            return False
        make_venv()
        if gpu:
            write_stamp(gpu={"driver": driver_version, "group": gpu})
        missing = [name for name in groups if read_stamp()["groups"].get(name) != lock_hash(name)]
        for name in missing:
            try:
                install(name)
            except CannotContinue as problem:
                if name == gpu:
                    say(f"{problem}\nUntil then the lessons use the emulator.")
                elif isinstance(problem, NoNetwork) and read_stamp()["groups"].get(name):
                    say(f"{problem}\nUntil then the packages that are installed are used.")
                else:
                    raise
        install_project()
    return True


def with_gpu(group: str) -> list[str]:
    """The group, and the one with the packages for this machine's GPU, if it has one."""
    gpu, _ = gpu_group()
    return [group, *([gpu] if gpu else [])]


def is_ready(groups: list[str]) -> bool:
    stamp = read_stamp()
    return (
        stamp["python"] == THIS_PYTHON
        and stamp["folder"] == str(VENV)
        and stamp["project"] == file_hash(REPOSITORY / "pyproject.toml")
        and all(stamp["groups"].get(name) == lock_hash(name) for name in groups)
        and VENV_PYTHON.exists()
        and not UNFINISHED.exists()
    )


def read_stamp() -> dict[str, Any]:
    empty: dict[str, Any] = {"python": "", "folder": "", "project": "", "groups": {}, "gpu": {}}
    try:
        return {**empty, **json.loads(STAMP.read_text(encoding="utf-8"))}
    except (OSError, ValueError):
        return empty


def write_stamp(**changes: object) -> None:
    """Change the stamp in one step, so that a reader never meets half of it."""
    put(STAMP, json.dumps({**read_stamp(), **changes}, indent=1).encode())


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lock_file(group: str) -> Path:
    return REPOSITORY / "locks" / f"{group}.txt"


def lock_hash(group: str) -> str:
    return file_hash(lock_file(group))


@contextlib.contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Hold a lock that the system gives back even when this process is killed."""
    with open(HOME / ".course.lock", "a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            def take() -> None:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            def take() -> None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

            os.set_inheritable(file.fileno(), True)  # pip holds it too, should it outlive us
        waiting = False
        while True:
            try:
                take()
                break
            except OSError:
                if not waiting:
                    say("Another run is installing; waiting for it to finish.")
                waiting = True
                time.sleep(0.5)
        yield


# --- The environment -------------------------------------------------------------------------


def make_venv() -> None:
    """Make .venv, unless there is a usable one; say why where one has to go."""
    why = why_rebuild()
    if why is None:
        return
    if VENV.exists():
        say(f"{why} So .venv is made again.")
        import shutil

        try:
            shutil.rmtree(VENV)
        except OSError as problem:
            raise CannotContinue(
                f"{VENV} could not be removed ({problem.strerror}: {problem.filename}).\n"
                "Close what uses it (JupyterLab, an editor), remove the folder, and run again."
            ) from None
    VENV.mkdir()
    UNFINISHED.touch()
    base = getattr(sys, "_base_executable", None) or sys.executable
    code, output = run_quietly([base, "-m", "venv", str(VENV)], lambda _: "Making .venv")
    if code:
        mend = f"{VENV} could not be made; Python's message is above."
        if "ensurepip" in "".join(output):
            package = f"python{THIS_PYTHON}-venv"
            mend = f"Python's venv is incomplete. On Debian and Ubuntu: sudo apt install {package}"
        raise CannotContinue("\n".join([*output[-8:], mend]))
    UNFINISHED.unlink()
    write_stamp(python=THIS_PYTHON, folder=str(VENV))


def why_rebuild() -> str | None:
    """Why .venv can't be used as it is, as a sentence; None where it can."""
    if not VENV.exists():
        return "There is no .venv."
    if UNFINISHED.exists():
        return "An earlier installation was interrupted."
    stamp = read_stamp()
    if not stamp["python"]:
        return adopt_venv()
    if stamp["folder"] != str(VENV):
        return "The course's folder was moved or copied, and a .venv works only where it was made."
    if stamp["python"] != THIS_PYTHON:
        return f"The .venv was made with Python {stamp['python']}, and this is {THIS_PYTHON}."
    if not VENV_PYTHON.exists():
        return "The Python that .venv was made with is gone."
    return None


def adopt_venv() -> str | None:
    """Use a .venv that someone else made (an editor, say), if it has this Python and pip."""
    ask = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
    code, output = 1, [""]
    if VENV_PYTHON.exists():
        code, output = run_quietly([str(VENV_PYTHON), "-c", ask], lambda _: "Looking at .venv")
    if code or output[-1:] != [THIS_PYTHON]:
        return f"The .venv here does not work with Python {THIS_PYTHON}."
    write_stamp(python=THIS_PYTHON, folder=str(VENV))
    return None


# --- Installing ------------------------------------------------------------------------------


def install(group: str) -> None:
    """Let pip install one lock, with one line of progress instead of pip's many."""
    progress = PipProgress(lock_file(group), site_packages())
    command = [str(VENV_PYTHON), "-m", "pip", "install", "--require-hashes"]
    # Bytecode is written when a module is first imported: half the time, and only what is used.
    command += ["--only-binary", ":all:", "--no-compile", "--no-input", "--no-color"]
    # Without a network six attempts, the usual number, take a quarter of a minute.
    command += ["--disable-pip-version-check", "--progress-bar", "off", "--retries", "1"]
    command += ["--requirement", str(lock_file(group))]
    UNFINISHED.touch()
    started = time.monotonic()
    code, output = run_quietly(command, progress.describe)
    if code == 0 or not progress.installing:  # otherwise a package may be half there
        UNFINISHED.unlink()
    with open(LOG, "a", encoding="utf-8") as log:
        log.write("\n".join(output) + "\n")
    if code:
        unreached = not progress.installing and any("Retrying" in line for line in output)
        raise NoNetwork(UNREACHED) if unreached else CannotContinue(explain_pip_failure(output))
    say(f"{progress.done()} in {time.monotonic() - started:.0f} s.")
    groups = dict.fromkeys((group, *CONTAINS.get(group, ())))
    write_stamp(groups={**read_stamp()["groups"], **{name: lock_hash(name) for name in groups}})


# What pip says, and what to do about it.
AGAIN = "run the same command again"
UNREACHED = (
    "pip could not reach the package index. Check the network (behind a proxy: set HTTPS_PROXY) "
    f"and {AGAIN}; it continues from there."
)
PIP_FAILURES = {
    "DO NOT MATCH THE HASHES": "A file that pip was given is not the one that locks/ names. A "
    f"proxy or mirror in front of the package index may have changed it; {AGAIN}.",
    "No space left": f"The disk is full. Make room (2 GB; with GPU packages 5 GB) and {AGAIN}.",
    "CERTIFICATE_VERIFY_FAILED": "There is a proxy in front of the package index, and pip does "
    f"not trust it. Set PIP_CERT to the proxy's certificate and {AGAIN}.",
    "Retrying": UNREACHED,
    "No matching distribution": f"There is no ready-made package for Python {THIS_PYTHON} on "
    f"{platform.system()} {platform.machine()}. Try another Python from 3.11 to 3.14.",
}


def explain_pip_failure(output: list[str]) -> str:
    """pip's last words and what to do about them."""
    text = "\n".join(output)
    mends = [mend for sign, mend in PIP_FAILURES.items() if sign in text]
    mend = mends[0] if mends else f"pip failed; its whole output is in {LOG}."
    return "\n".join([*("  pip: " + line for line in output[-6:]), mend])


def project_version() -> str:
    import tomllib

    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def site_packages() -> Path:
    """The folder of .venv that packages are installed into."""
    import sysconfig

    here = {"base": str(VENV), "platbase": str(VENV)}
    return Path(sysconfig.get_path("purelib", scheme="venv", vars=here))


def install_project() -> None:
    """Make `import course_lib` work in .venv, and its version known, without a build.

    This is what an editable installation leaves behind. In the course's folder the path in the .pth
    file is relative, so that no encoding of a folder's name can break it.
    """
    import shutil

    packages = site_packages()
    for old in packages.glob("matmul_ladder-*.dist-info"):
        shutil.rmtree(old)
    here = HOME == REPOSITORY
    path = os.path.relpath(REPOSITORY, packages) if here else str(REPOSITORY)
    (packages / "matmul_ladder.pth").write_text(path + "\n")
    info = packages / f"matmul_ladder-{project_version()}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: matmul-ladder\nVersion: {project_version()}\n"
    (info / "METADATA").write_text(metadata)
    (info / "INSTALLER").write_text("course.py\n")
    names = [
        "matmul_ladder.pth",
        *(f"{info.name}/{n}" for n in ("METADATA", "INSTALLER", "RECORD")),
    ]
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in names))
    write_stamp(project=file_hash(REPOSITORY / "pyproject.toml"))


# --- The GPU ---------------------------------------------------------------------------------


def gpu_group() -> tuple[str | None, int]:
    """The lock with this machine's GPU packages (None: none needed), and the driver's version."""
    switch = os.environ.get(GPU_SWITCH, "")
    if switch == "off":
        return None, 0
    if switch:
        if not lock_file(switch).exists():
            raise CannotContinue(f"{GPU_SWITCH} can be off, gpu-cu12 or gpu-cu13, not {switch!r}.")
        return switch, 0
    driver = load_driver()
    version = ctypes.c_int(0)
    if driver is None or driver.cuDriverGetVersion(ctypes.byref(version)):
        return None, 0
    if version.value < 12000 or sys.version_info >= (3, 15):  # no numba-cuda for these
        return None, version.value
    known = read_stamp()["gpu"]  # starting the driver takes a second: once for each is enough
    if known.get("driver") == version.value:
        return known["group"], version.value
    capability = oldest_capability(driver)
    if capability is None:
        return None, version.value
    # CUDA 13 no longer compiles for GPUs before Turing.
    new = version.value >= 13000 and capability >= (7, 5)
    return ("gpu-cu13" if new else "gpu-cu12"), version.value


def load_driver() -> ctypes.CDLL | None:
    """NVIDIA's driver library, where there is one."""
    names = ["nvcuda.dll"] if WINDOWS else ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"]
    for name in names if sys.platform != "darwin" else []:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def oldest_capability(driver: ctypes.CDLL) -> tuple[int, int] | None:
    """The lowest compute capability among the GPUs here; None where there are none."""
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return None
    found = []
    for device in range(count.value):
        major, minor = ctypes.c_int(0), ctypes.c_int(0)
        driver.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        driver.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        found.append((major.value, minor.value))
    return min(found, default=None)
