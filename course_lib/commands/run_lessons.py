"""`course.py run`: run lessons from top to bottom and report on each."""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.commands import progress
from course_lib.commands.options import read_options
from course_lib.commands.places import HOME, NOTEBOOKS, REPOSITORY

SECONDS_PER_CELL = 300
OPTIONS = f"""\
[LESSON …]           number, name or path of a notebook; all
--out DIR            where executed copies go (executed/)
--timeout SECONDS    how long one cell may take ({SECONDS_PER_CELL})
"""


@dataclass(frozen=True)
class LessonRun:
    """How the run of one notebook went."""

    name: str
    cells: int
    seconds: float
    machine: str
    verdict: str

    @property
    def ok(self) -> bool:
        return self.verdict == "ok"


def main(arguments: list[str]) -> int:
    """Run the lessons that were named, or all; 0 if every one ran through."""
    about = "Run lessons from top to bottom and report on each."
    parser = read_options("run", about, OPTIONS, read={"timeout": int}, timeout=SECONDS_PER_CELL)
    options = parser.parse_args(arguments)
    try:
        paths = [_find(name) for name in options.lesson] or sorted(NOTEBOOKS.glob("*.ipynb"))
    except LookupError as problem:
        print(problem.args[0], file=sys.stderr)
        return 2
    out = options.out.resolve() if options.out else HOME / "executed"
    width = max((len(path.stem) for path in paths), default=6)
    print(f"{'lesson':{width}}  cells  seconds  ran on    result", flush=True)
    outcomes = []
    for path in paths:
        outcome = run(path, out, options.timeout)
        progress.clear()
        print(
            f"{outcome.name:{width}}  {outcome.cells:5}  {outcome.seconds:7.1f}  "
            f"{outcome.machine:8}  {outcome.verdict}",
            flush=True,
        )
        outcomes.append(outcome)
    failed = sum(not outcome.ok for outcome in outcomes)
    total = sum(outcome.seconds for outcome in outcomes)
    print(
        f"{len(outcomes) - failed} of {len(outcomes)} ran to the end in {total:.0f} s; the "
        f"executed copies are in {out}"
    )
    return 1 if failed else 0


def run(path: Path, out: Path, timeout: int = SECONDS_PER_CELL) -> LessonRun:
    """Run one notebook in a fresh kernel and write the executed copy below `out`."""
    import nbformat

    started = time.monotonic()
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as problem:  # nbformat has many ways to say that a file is no notebook
        return LessonRun(path.stem, 0, 0.0, "-", f"not a readable notebook: {problem}")
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    verdict = _execute(notebook, path, len(code), timeout)
    copy = out / path.name if path.parent == NOTEBOOKS else out / path.parent.name / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, copy)
    seconds = time.monotonic() - started
    return LessonRun(path.stem, len(code), seconds, _machine(notebook), verdict)


def _execute(notebook: Any, path: Path, cells: int, timeout: int) -> str:
    """Run every cell; "ok", or the first cell that failed and why."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    started = time.monotonic()
    running: dict[str, Any] = {"cell": None, "number": 0}

    def begin(cell: Any, cell_index: int) -> None:
        if cell.cell_type == "code" and cell.source.strip():
            running.update(cell=cell, number=running["number"] + 1)
            spent = time.monotonic() - started
            progress.show(f"{path.stem}: cell {running['number']} of {cells} ({spent:.0f} s)")

    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=begin,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    known = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *known])}
    environment["MATMUL_LADDER_PROGRESS"] = "off"  # nobody types here
    try:
        client.execute(env=environment)
    except CellExecutionError as problem:
        words = _plain(f"{problem.ename}: {problem.evalue}" if problem.evalue else problem.ename)
    except CellTimeoutError:
        words = f"ran longer than {timeout} s (--timeout allows more)"
    except DeadKernelError:
        words = "its Python process died"
    else:
        return "ok"
    cell = running["cell"]
    first = cell.source.strip().splitlines()[0] if cell else ""
    return f"cell {running['number']} [{first[:40]}]: {words}"


def _plain(text: str) -> str:
    """The first line of an error, without terminal colours."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()
    return lines[0][:200] if lines else ""


def _machine(notebook: Any) -> str:
    """What the banner of the setup cell said: "GPU", "emulator", or "-" without one."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            said = output.get("text", "") if output.output_type == "stream" else ""
            if found := re.search(r"^(GPU|Emulator):", said, re.MULTILINE):
                return {"GPU": "GPU", "Emulator": "emulator"}[found.group(1)]
    return "-"


def _find(name: str) -> Path:
    """The notebook of a number, a name or a path.

    Raises:
        LookupError: with the lessons that there are.
    """
    path = Path(name)
    for candidate in (path, REPOSITORY / path):
        if path.suffix == ".ipynb" and candidate.is_file():
            return candidate.resolve()
    lessons = sorted(NOTEBOOKS.glob("*.ipynb"))
    stem = path.name.removesuffix(".ipynb")
    for lesson in lessons:
        number, _, slug = lesson.stem.partition("_")
        if stem in (lesson.stem, slug) or stem.casefold().zfill(len(number)) == number:
            return lesson
    names = ", ".join(lesson.stem for lesson in lessons)
    raise LookupError(f"There is no lesson {name!r}; there are {names}.")
