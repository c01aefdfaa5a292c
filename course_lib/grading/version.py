"""Which grader this is: a hash of everything that decides a verdict."""

import functools
import hashlib
from importlib.metadata import version
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1]

# What a judgement is computed from, files and folders; a test holds this against what is imported.
DECIDES = (
    "answer_text",
    "checking.py",
    "curriculum.py",
    "devices",
    "diagnosis",
    "emulator",
    "exercises",
    "grading/judging/batches.py",
    "grading/records.py",
    "grading/transfer.py",
    "host",
    "problems",
    "registry",
    "student",
    "tasks",
    "tiles",
    "wording",
)


@functools.cache
def grader_version() -> str:
    """Equal for two graders that judge alike: the same sources and the same NumPy."""
    digest = hashlib.sha256(f"numpy {version('numpy')}".encode())
    for path in deciding_files():
        digest.update(path.relative_to(LIBRARY).as_posix().encode() + b"\0")
        # A checkout on Windows may end its lines in another way; that decides nothing.
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:16]


def deciding_files() -> list[Path]:
    """The sources that decide verdicts, in an order that is the same everywhere."""
    paths = (LIBRARY / name for name in DECIDES)
    files = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
    return sorted(files, key=lambda file: file.relative_to(LIBRARY).as_posix())
