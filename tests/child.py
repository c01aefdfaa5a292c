"""Another Python, as a user starts one, with the course on its path: what it says, how it ends."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def python(
    *words: object, cwd: Path = ROOT, status: int | None = 0, said: str = "", **around: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with these words.

    Args:
        words: what follows `python`.
        cwd: the folder it is started in.
        status: with which it has to end; None if that is the caller's to judge.
        said: what it reads on standard input.
        around: variables of its environment, besides those that are there.
    """
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **around},
        input=said,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert status is None or done.returncode == status, done.stdout[-3000:] + done.stderr
    return done
