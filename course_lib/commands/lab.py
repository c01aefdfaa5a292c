"""The student's copies of the notebooks in my/, and `course.py lab`, which opens JupyterLab there.

A copy is made once, as never run, and never overwritten. The lessons themselves stay as published,
so an update of the course meets no changes of a student. A note beside the copies says what each
was copied from; by it an updated lesson is told from one that the student has worked in.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from course_lib.commands.options import read_options
from course_lib.commands.places import FIRST_LESSON, HOME, REPOSITORY, put
from course_lib.curriculum import PATHFINDER
from course_lib.student.unrun_cells import kernels_of

VENVS = (HOME / ".venv", REPOSITORY / ".venv")
FOLDERS = ("notebooks", "exercises")
NOTE = ".copied_from.json"


def make(root: Path = REPOSITORY, home: Path | None = None) -> list[str]:
    """Copy every notebook that has no copy yet, and name the lessons that have changed.

    Args:
        root: the course's folder.
        home: where to put my/; by default there.

    Returns:
        The paths of the copies whose lesson was updated since, such as "my/notebooks/03_….ipynb".

    Raises:
        OSError: if nothing can be written there.
    """
    mine = (home or root) / "my"
    mine.mkdir(parents=True, exist_ok=True)
    noted = _read_note(mine / NOTE)
    before = dict(noted)
    updated = []
    for name, original in _originals(root):
        text = original.read_bytes()
        print_of_it = _fingerprint(text)
        if not os.path.lexists(mine / name):
            put(mine / name, _never_run(text))
            noted[name] = print_of_it
        elif noted.setdefault(name, print_of_it) != print_of_it:
            updated.append(f"my/{name}")
    _lead_to_the_library(root, mine)
    if runs_in_venv():
        kernels_of(Path(sys.prefix))
    if noted != before:
        put(mine / NOTE, json.dumps(noted, indent=1).encode())
    return updated


def runs_in_venv() -> bool:
    """Is this the course's own .venv, which nobody else uses?"""
    return Path(sys.prefix).resolve() in [venv.resolve() for venv in VENVS]


def told_of(updated: list[str]) -> str:
    """One line on lessons that were updated, and what to do; "" if there are none."""
    if not updated:
        return ""
    names = ", ".join(updated[:3]) + (f" and {len(updated) - 3} more" if len(updated) > 3 else "")
    return (
        f"Updated since you began: {names}. Your copies stay as they are; rename one, and the next "
        "`python3 course.py lab` puts the new lesson in its place."
    )


def _originals(root: Path) -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.ipynb")):
            yield f"{folder}/{path.name}", path


def _lead_to_the_library(root: Path, mine: Path) -> None:
    """What lets a copy find the library is nobody's work, and is kept as new as the course."""
    for folder in FOLDERS:
        original, copy = root / folder / PATHFINDER, mine / folder / PATHFINDER
        if original.exists() and copy.parent.exists():
            copy.write_bytes(original.read_bytes())


def _never_run(text: bytes) -> bytes:
    """A notebook without counts and outputs: a fresh copy does not look as if it had been run."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        notebook = json.loads(text)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"execution_count": None, "outputs": []}
        # As Jupyter itself writes it.
        return (json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
    return text


def _fingerprint(text: bytes) -> str:
    """What an author changes in a notebook: its cells, and not what they have printed."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        cells = json.loads(text)["cells"]
        authored = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
        text = json.dumps(authored).encode()
    return hashlib.sha256(text).hexdigest()[:16]


def _read_note(note: Path) -> dict[str, str]:
    """What was noted; nothing if the note is lost or damaged, which costs a reminder only."""
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {name: value for name, value in known if isinstance(value, str)}


# --- JupyterLab, opened at the student's copy of the first lesson ---------------------------------


DEFAULTS = Path(__file__).with_name("jupyter_config")  # labconfig/ in it, as JupyterLab reads it
START_SECONDS = 90
# Like `python -m jupyterlab`, three seconds sooner: a package that could check web addresses in
# Jupyter's schemas builds its parsers when it is imported; where that fails, it is left out.
START = """\
import sys
sys.modules.setdefault("rfc3987_syntax", None)
from jupyterlab.labapp import main
main()"""
OPTIONS = "--no-browser  print the address, and do not open a browser"


def main(arguments: list[str]) -> int:
    """Start JupyterLab and stay until it ends or Ctrl-C is pressed."""
    parser = read_options("lab", "Open JupyterLab at the first lesson.", OPTIONS)
    parser.epilog = "Any other option is passed to JupyterLab, e.g. --port 9000."
    options, others = parser.parse_known_args(arguments)
    browser = not options.no_browser and has_screen()
    token = secrets.token_hex(16)
    root, lesson = first_lesson()
    asked: list[int] = []
    # A handler that raises can be lost, where Python is in a finaliser; one that notes can't. Noted
    # from here on: a signal while the server begins would leave it behind.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: asked.append(received))
    print("Starting JupyterLab …", flush=True)
    server = subprocess.Popen(
        command(browser, others, lesson, root), env=environment(token), cwd=root
    )
    address = wait_for_address(server, token, asked, lesson)
    if address is None and not asked:
        print("JupyterLab did not start; its own message is above.", file=sys.stderr)
        stop(server)
        return 1
    if address is not None:
        print(f"The first lesson: {address}\nCtrl-C here ends it.", flush=True)
    while server.poll() is None and not asked:
        time.sleep(0.2)
    stop(server)
    if signal.SIGINT in asked:
        print("\nJupyterLab has ended; notebooks that were saved are safe.")
    return 0 if asked or server.returncode in (0, -signal.SIGTERM) else server.returncode


def first_lesson() -> tuple[Path, str]:
    """A folder, and in it the student's copy of the first lesson; the lesson itself where no copies
    can be made."""
    original = FIRST_LESSON.relative_to(REPOSITORY).as_posix()
    try:
        updated = make(REPOSITORY, HOME)
    except OSError as problem:
        print(
            f"The lessons cannot be copied for you here ({problem}), so this opens the lessons "
            "themselves."
        )
        return REPOSITORY, original
    if HOME != REPOSITORY:
        print(f"Your copies of the lessons, and what you have passed: {HOME}")
    if line := told_of(updated):
        print(line)
    return HOME, f"my/{original}"


def command(browser: bool, others: list[str], lesson: str, root: Path) -> list[str]:
    """The command that starts JupyterLab, quiet but for errors."""
    import zmq

    words = [sys.executable, "-c", START]
    if not any("root_dir" in option for option in others):  # it takes one folder only
        words.append(f"--ServerApp.root_dir={root}")
    words += [f"--LabApp.default_url=/lab/tree/{lesson}", "--ServerApp.answer_yes=True"]
    words += ["--ServerApp.log_level=ERROR", "--LabApp.log_level=ERROR"]
    if zmq.has("curve"):  # an unencrypted kernel warns of it in the terminal at each start
        words.append("--KernelManager.transport_encryption=auto")
    if not browser:
        words.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in most containers
        words.append("--allow-root")
    return words + others


def environment(token: str) -> dict[str, str]:
    """What JupyterLab finds around it: the token, and the course's defaults for its settings.

    The defaults show line numbers, because reports name lines, and ask nobody about Jupyter news.
    A user's own settings still come first.
    """
    paths = [str(DEFAULTS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    config = os.pathsep.join(path for path in paths if path)
    return {**os.environ, "JUPYTER_TOKEN": token, "JUPYTER_CONFIG_PATH": config}


def has_screen() -> bool:
    """Is there a desktop here on which a browser could open?"""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return not os.environ.get("SSH_CONNECTION")


def wait_for_address(
    server: subprocess.Popen[bytes], token: str, asked: Sequence[int], lesson: str
) -> str | None:
    """The address of the first lesson, as soon as the server has written down its own.

    None if it ends before, takes too long, or someone has asked for the end.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    notes = Path(jupyter_runtime_dir()) / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None and not asked:
        try:
            note = json.loads(notes.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            time.sleep(0.1)
            continue
        token = note.get("token", token)
        return f"{note['url']}lab/tree/{lesson}" + (f"?token={token}" if token else "")
    return None


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server and its kernels; insist after a while."""
    if server.poll() is not None:
        return
    server.terminate()
    try:
        server.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
