"""Runs notebooks, each in a process of its own that begins with the course's libraries loaded.

nbval starts Python, Jupyter and the libraries anew for each notebook, which takes as long as many a
lesson. The lessons as they are handed out run so; their solved forms run here, in a kernel that
answers in its own process.
"""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Cell = tuple[str, int]  # the stem of a notebook, and the number of a code cell, from 0
SECONDS = 1500


def errors_in(*notebooks: Path) -> dict[Cell, str]:
    """What each code cell of these notebooks raised; "" where it raised nothing."""
    quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT)}
    said = subprocess.run(
        [sys.executable, __file__, *map(str, notebooks)],
        env=os.environ | quiet,  # pytest's own variables say that this is a test
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=SECONDS,
    ).stdout
    return {(stem, number): error for stem, number, error in json.loads(said.splitlines()[-1])}


def main(notebooks: Sequence[str]) -> None:
    """Print what `errors_in` gives, as the last line: [stem, number, error] of each cell."""
    import ipykernel.inprocess  # noqa: F401 - a process that is forked has them all
    import matplotlib.pyplot  # noqa: F401

    import course_lib.checking
    import course_lib.figures  # noqa: F401

    start = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with start.Pool(1, maxtasksperchild=1) as processes:
        found = processes.map(_errors_in, notebooks, chunksize=1)
    print(json.dumps([row for rows in found for row in rows]))


def _errors_in(notebook: str) -> list[tuple[str, int, str]]:
    from ipykernel.inprocess import InProcessKernelManager

    path = Path(notebook)
    os.chdir(path.parent)
    manager = InProcessKernelManager()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [(path.stem, number, _error(client, text)) for number, text in enumerate(texts)]


def _error(client: Any, text: str) -> str:
    client.execute(text)
    reply = client.get_shell_msg()["content"]
    while client.iopub_channel.msg_ready():
        client.get_iopub_msg()
    return "" if reply["status"] == "ok" else "\n".join(reply["traceback"])


if __name__ == "__main__":
    main(sys.argv[1:])
