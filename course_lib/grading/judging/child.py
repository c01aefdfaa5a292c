"""The child process of a batch: pytest with nbval, in a clean environment and a private folder."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.grading.judging import limited_kernel as kernel
from course_lib.grading.version import LIBRARY

NOTES = "notes.jsonl"  # what the plugin leaves in the folder
GOODBYE = b"q"  # said to the child by a parent that is not simply gone
KERNEL = "grading"
STARTING_SECONDS = 120.0
BUSY = 5  # a clock counts processor time, and this many times as much where others use the machine
CLOSING_SECONDS = 5.0
LOG = "log.txt"
MOST_LOG_BYTES = 2**16
# Taken over from this process: without these, Python does not start on some system.
_KEPT = ("PATH", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Ended:
    """How a run of nbval ended."""

    item: int | None  # the number of the last item that was begun
    why: str  # what was wrong with it: "died", "clock", "setup", or nothing that nbval knows of
    said: str  # the last of what was printed


def run(folder: Path, cells: int, seconds: float, memory: int) -> Ended:
    """Run batch.ipynb of this folder.

    Args:
        folder: a private folder; results and notes are left there.
        cells: how many answers the notebook has.
        seconds: processor time after which the clock stops a cell.
        memory: how much address space the kernel may have, in bytes.
    """
    whole = STARTING_SECONDS + cells * seconds
    _write_settings(folder)
    with open(folder / LOG, "wb") as log:
        process = subprocess.Popen(
            _command(seconds),
            cwd=folder,
            env=environment(folder, whole, memory),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            late = not _ended(process, folder / NOTES, STARTING_SECONDS + seconds * BUSY)
        finally:
            _end(process, folder)
    notes = _notes(folder) or [{}]
    why = notes[-1].get("why", "")
    if why == "started":  # the end of a run that went well, or no more could be noted
        why = "clock" if late else ""
    return Ended(notes[-1].get("item"), why, _last_words(folder / LOG))


def _command(seconds: float) -> list[str]:
    command = [sys.executable, "-P", "-s", "-m", "course_lib.grading.judging.nbval_run"]
    command += ["batch.ipynb", "--nbval-lax"]
    command += ["-p", "nbval.plugin", "-p", "course_lib.grading.judging.nbval_plugin"]
    command += ["-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=no", "--tb=line"]
    command += ["--color=no", "-c", "pytest.ini", "--rootdir=.", "-v"]
    command += [f"--nbval-kernel-name={KERNEL}", f"--nbval-cell-timeout={seconds}"]
    command += [f"--nbval-kernel-startup-timeout={STARTING_SECONDS}"]
    return command


def _ended(process: subprocess.Popen[bytes], notes: Path, patience: float) -> bool:
    """Wait for the end for as long as there is progress; no if there is none for too long."""
    deadline, size = time.monotonic() + patience, 0
    while time.monotonic() < deadline:
        try:
            process.wait(min(patience, 1.0))
            return True
        except subprocess.TimeoutExpired:
            grown = notes.stat().st_size if notes.exists() else 0
            if grown > size:
                deadline, size = time.monotonic() + patience, grown
    return False


def _last_words(log: Path) -> str:
    with open(log, "rb") as file:
        file.seek(max(0, os.path.getsize(log) - MOST_LOG_BYTES))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return " / ".join(errors[-2:] or lines[-2:])


def environment(folder: Path, seconds: float, memory: int) -> dict[str, str]:
    """Everything that the child sees of the outside."""
    here = str(folder)
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    homes = ["HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR", "JUPYTER_CONFIG_DIR"]
    homes += ["JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR", "XDG_CONFIG_HOME"]
    return {
        **kept,
        **dict.fromkeys(homes, here),
        "JUPYTER_PATH": here,
        "JUPYTER_NO_CONFIG": "1",
        "PYTHONPATH": str(LIBRARY.parent),
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "CUDA_VISIBLE_DEVICES": "",  # grades are the same with a GPU and without
        # One answer, one processor: the answers themselves are spread over the processors.
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        kernel.MEMORY: str(memory),
        kernel.SECONDS: str(int(seconds) + 1),
    }


def _write_settings(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="ascii")
    start = [sys.executable, "-P", "-s", "-m", "course_lib.grading.judging.limited_kernel"]
    start += ["-f", "{connection_file}", "--HistoryManager.enabled=False"]
    spec = {"argv": start, "display_name": KERNEL, "language": "python"}
    kernels = folder / "kernels" / KERNEL
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text(json.dumps(spec), encoding="ascii")


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Leave no process behind, whatever state they are in."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):  # it may have ended by itself
            process.stdin.write(GOODBYE)
            process.stdin.close()  # the plugin then ends the kernel, and itself
    try:
        process.wait(CLOSING_SECONDS)
    except subprocess.TimeoutExpired:
        _kill_group(process.pid)
        process.kill()
        process.wait()
        for pid in {note.get("kernel") for note in _notes(folder)}:
            _kill_group(pid)


def _kill_group(pid: object) -> None:
    if os.name == "posix" and type(pid) is int and pid > 1:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def _notes(folder: Path) -> list[dict[str, Any]]:
    """The plugin's notes, as far as they can be read."""
    notes = []
    if (folder / NOTES).exists():
        for line in (folder / NOTES).read_text(encoding="ascii", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                note = json.loads(line)
                if isinstance(note, dict):
                    notes.append(note)
    return notes
