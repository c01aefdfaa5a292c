"""One batch in a worker: nbval in a child process, run again for items that a crash left without.

`run_batch` takes a string and returns a string, so that any executor can carry it anywhere. The
child is pytest with nbval, in a clean environment and a private folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from course_lib.grading.judging import limited_kernel as kernel
from course_lib.grading.judging.batches import RESULTS, Item, batch_notebook
from course_lib.grading.records import AssignedExercise, BadRecord, Judgement, Outcome
from course_lib.grading.version import LIBRARY, grader_version

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

    item: str | None  # the key of the last item that was begun
    why: str  # what was wrong with it: "died", "clock", "setup", or nothing that nbval knows of
    said: str  # the last of what was printed


def run(folder: Path, cells: int, seconds: float, memory: int) -> Ended:
    """Run batch.ipynb, with so many answers, in a private folder; results and notes stay there.

    The clock stops a cell after so many seconds of processor time; the kernel may have so many
    bytes of memory as address space.
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


# --- Jobs and their results -----------------------------------------------------------------------


_OUTCOMES: dict[str, Outcome] = {"died": "died", "clock": "stopped-by-clock"}
MOST_BYTES_A_RESULT = 2**20
FOLDERS = "grading"  # how the names of the private folders begin; then comes whose they are


@dataclass(frozen=True)
class BatchLimits:
    """The clock and the memory that stop what the emulator's own budgets have missed."""

    seconds: float = 120.0  # of processor time, for one answer
    memory: int = 4 * 2**30  # bytes of address space for one kernel


@dataclass(frozen=True)
class Batch:
    """A job: answers to exercises of one notebook."""

    tasks: dict[str, AssignedExercise]
    items: tuple[Item, ...]
    seed: int
    limits: BatchLimits
    version: str = field(default_factory=grader_version)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Batch:
        fields = json.loads(text)
        return cls(
            tasks={name: AssignedExercise(**task) for name, task in fields["tasks"].items()},
            items=tuple(Item(**item) for item in fields["items"]),
            seed=fields["seed"],
            limits=BatchLimits(**fields["limits"]),
            version=fields["version"],
        )


@dataclass(frozen=True)
class BatchResult:
    """The result of a batch."""

    # by the item's key; every item's, unless there is a problem
    judgements: dict[str, Judgement] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what was found and ignored
    problem: str | None = None  # one sentence if the batch could not be run; never about an answer

    def to_json(self) -> str:
        judgements = [[key, judgement.to_json()] for key, judgement in self.judgements.items()]
        return json.dumps({"judgements": judgements, "notes": self.notes, "problem": self.problem})


def read_result(text: str, items: Sequence[Item]) -> BatchResult:
    """The result that `BatchResult.to_json` wrote; nothing in it is taken on trust."""
    fields = json.loads(text)
    judgements, notes = checked([tuple(pair) for pair in fields["judgements"]], items)
    return BatchResult(judgements, (*map(str, fields["notes"]), *notes), fields["problem"])


def checked(
    records: Sequence[tuple[Any, ...]], items: Sequence[Item]
) -> tuple[dict[str, Judgement], tuple[str, ...]]:
    """The records that are judgements of these items, and a note on each that is not."""
    known = {item.key: item for item in items}
    judgements: dict[str, Judgement] = {}
    notes = []
    for key, text in records:
        try:
            judgement = Judgement.from_json(text)
        except BadRecord as problem:
            notes.append(f"A result was ignored: {problem}"[:300])
            continue
        if type(key) is not str or key not in known:
            notes.append(f"A result was ignored: it belongs to no item of its batch ({key!r}).")
        elif judgement.exercise != known[key].exercise:
            notes.append(f"A result was ignored: it does not belong to {known[key].name}.")
        elif key in judgements:
            notes.append(f"A second result of {known[key].name} was ignored.")
        else:
            judgements[key] = judgement
    return judgements, tuple(notes)


# --- Attempts, until every item has a judgement ------------------------------------------------


def run_batch(job: str) -> str:
    """Judge a batch. This is what an executor runs: `Batch` as JSON in, `BatchResult` out."""
    batch = Batch.from_json(job)
    if batch.version != grader_version():
        problem = "A worker has another version of the course; install the same one everywhere."
        return BatchResult(problem=problem).to_json()
    try:
        return _run(batch).to_json()
    except OSError as error:
        return BatchResult(problem=f"A batch could not be run: {error}.").to_json()


def _run(batch: Batch) -> BatchResult:
    """Run the batch until every item has a judgement, or it turns out that none can be had."""
    judgements: dict[str, Judgement] = {}
    notes: list[str] = []
    failures = 0
    while left := [item for item in batch.items if item.key not in judgements]:
        found, ended = _attempt(batch, left)
        judgements |= found.judgements
        notes += found.notes
        culprits = [item for item in left if item.key == ended.item not in judgements]
        for culprit in culprits:
            alone = _alone(batch, culprit)
            judgements |= alone.judgements
            notes += alone.notes
        if not culprits and not found.judgements:
            failures += 1
            if failures == 2:
                problem = f"nbval could not run a batch. It says: {ended.said}"
                return BatchResult(judgements, tuple(notes), problem)
    return BatchResult(judgements, tuple(notes))


def _alone(batch: Batch, item: Item) -> BatchResult:
    """Run one item by itself; what then still ends too early is for a person to look at."""
    found, ended = _attempt(batch, [item])
    if item.key in found.judgements:
        return found
    outcome = _OUTCOMES.get(ended.why, "died")
    judgement = Judgement(item.exercise, needs_review=True, outcome=outcome)
    return BatchResult({item.key: judgement}, found.notes)


def _attempt(batch: Batch, items: Sequence[Item]) -> tuple[BatchResult, Ended]:
    """Run nbval once over these items, in a folder that is gone afterwards."""
    prefix = f"{FOLDERS}-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        notebook = batch_notebook(batch.tasks, items, batch.seed)
        (folder / "batch.ipynb").write_text(notebook, encoding="ascii")
        limits = batch.limits
        ended = run(folder, len(items), limits.seconds, limits.memory)
        records, broken = _records(folder / RESULTS, len(items))
        judgements, notes = checked(records, items)
    return BatchResult(judgements, (*broken, *notes)), ended


def remove_leftovers() -> None:
    """Remove the folders of workers that were killed before they could tidy up."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}-*-*"):
        number = folder.name.split("-")[1]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _records(path: Path, items: int) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    """The lines that the cells wrote; a kernel that died may have left half of one."""
    if not path.exists():
        return [], ()
    with open(path, "rb") as file:
        lines = file.read(items * MOST_BYTES_A_RESULT).splitlines()
    records, notes = [], []
    for line in lines:
        try:
            fields = json.loads(line)
            records.append((fields["item"], fields["judgement"]))
        except (ValueError, TypeError, KeyError, RecursionError):
            notes.append("A line of results was ignored because it cannot be read.")
    return records, tuple(notes)
