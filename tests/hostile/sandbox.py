"""A place to grade in, and what has to be looked at afterwards: files, processes, rows, pages."""

import csv
import hashlib
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Graded:
    """What one run of the command left behind."""

    out: Path
    status: int
    said: str
    seconds: float
    left_running: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    def row(self, submission: str, exercise: str) -> dict[str, str]:
        """The one row of a submission and an exercise."""
        wanted = submission, exercise
        found = [row for row in self.rows if (row["submission"], row["exercise"]) == wanted]
        assert len(found) == 1, f"{len(found)} rows for {submission!r}"
        return found[0]


def grade(
    submissions: Path,
    out: Path,
    exercises: Sequence[str],
    seed: int = 7,
    home: Path | None = None,
    patience: float = 600,
) -> Graded:
    """Run the real command, as an instructor does who stands in the folder of submissions."""
    token = uuid.uuid4().hex
    # Kernels get an environment of their own, but their home lies in this folder: so its name
    # stands in the environment of every process of the run.
    temporary = out.parent / f"temporary-{token}"
    temporary.mkdir(parents=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(REPOSITORY)}
    environment |= {"HOME": str(home)} if home else {}
    command = [sys.executable, "-P", "-m", "course_lib.cli", "grade", str(submissions)]
    command += ["--out", str(out), "--seed", str(seed), "--exercises", *exercises]
    started = time.monotonic()
    ran = subprocess.run(
        command, cwd=submissions if submissions.is_dir() else submissions.parent, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=patience, start_new_session=True,
    )  # fmt: skip
    seconds = time.monotonic() - started
    time.sleep(0.2)  # a process that is just ending is none that was left
    rows = read_rows(out / "grades.csv") if (out / "grades.csv").exists() else ()
    said = ran.stdout.decode("utf-8", "replace")
    left = (*processes_of(token), *(f"folder {each.name}" for each in temporary.iterdir()))
    return Graded(out, ran.returncode, said, seconds, left, rows)


def read_rows(path: Path) -> tuple[dict[str, str], ...]:
    """The gradebook, row by row."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return tuple(csv.DictReader(file))


def processes_of(token: str) -> tuple[str, ...]:
    """Every process with this in its environment, whoever its parent is by now."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            if token.encode() in environment:
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it has ended, or is somebody else's
    return tuple(found)


def fingerprint(*folders: Path) -> dict[str, str]:
    """What each file, link and folder below some folders is, and holds."""
    prints = {}
    for top in folders:
        for folder, folders_in, files in os.walk(os.fsencode(top)):
            folders_in[:] = [each for each in folders_in if each != b"__pycache__"]
            for name in (*folders_in, *files):
                path = os.path.join(folder, name)
                prints[os.fsdecode(path)] = _print_of(path)
    return prints


def _print_of(path: bytes) -> str:
    status = os.lstat(path)
    if os.path.islink(path):
        return f"link to {os.fsdecode(os.readlink(path))}"
    if os.path.isfile(path) and status.st_size < 100_000_000:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    return f"mode {status.st_mode}" + (f", {status.st_size} bytes" if os.path.isfile(path) else "")
