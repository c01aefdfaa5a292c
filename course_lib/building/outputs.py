"""Executed outputs: run a notebook as a laptop without a GPU would, and store what it printed.

Stored outputs must come out the same on every machine, so nothing in them may depend on a clock,
an address in memory, or a folder. `blemishes` names what does.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from course_lib.building.notebook import BuildError, Notebook, code_cells, dumps, source, tags

SECONDS_PER_CELL = 300

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_PATH = re.compile(
    r"(?<![\w.:/])/(?:content|home|mnt|opt|private|root|tmp|usr|Users|var|work)/\w|\b[A-Z]:\\\w"
)
_TIME = re.compile(r"\b\d[\d_,.]*\s?(?:ns|µs|us|ms|s|sec|seconds?|milliseconds|microseconds)\b")
COMPUTED = "computed"  # the tag of cells whose times are arithmetic or published, not clocked


def environment(root: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run that is the same everywhere: emulated, with plain inline plots."""
    names = {name: value for name, value in inherited.items() if name != "MPLBACKEND"}
    paths = [str(root), *filter(None, [inherited.get("PYTHONPATH", "")])]
    fixed = {
        "CUDA_VISIBLE_DEVICES": "-1",
        "MATMUL_LADDER_PROGRESS": "off",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    return names | fixed


def execute(notebook: Notebook, folder: Path, root: Path) -> Notebook:
    """The notebook with the outputs of a fresh run from top to bottom, in that folder.

    Raises:
        BuildError: with the first cell that failed, or if Jupyter's packages are not there.
    """
    try:
        import nbformat
        from nbclient import NotebookClient
        from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    except ImportError as error:
        raise BuildError(f"running notebooks needs the `lab` extra: {error}") from error
    copy = nbformat.reads(dumps(notebook), as_version=4)
    client = NotebookClient(
        copy,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute(env=environment(root, os.environ))
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise BuildError(f"{_failed_cell(copy)} failed: {_last_line(error)}") from error
    for cell in code_cells(copy):
        cell["outputs"] = _merged(cell["outputs"])
    result: Notebook = json.loads(nbformat.writes(copy))  # long text is a list of lines again
    return result


def stored_outputs(notebook: Notebook) -> dict[str, dict[str, Any]]:
    """What running has left in a notebook, by cell id: count and outputs."""
    return {
        cell["id"]: {key: cell[key] for key in ("execution_count", "outputs")}
        for cell in code_cells(notebook)
        if "id" in cell and "outputs" in cell
    }


def blemishes(notebook: Notebook) -> Iterator[str]:
    """Why stored outputs could differ on the next machine, or leave somebody out; one a line."""
    for cell in code_cells(notebook):
        for output in cell.get("outputs", []):
            for complaint in _complaints(output, tags(cell)):
                yield f"cell {cell['id']}: {complaint}"


def text_of(output: Mapping[str, Any]) -> str:
    """What an output says in words."""
    plain = output.get("data", {}).get("text/plain", "")
    found = output.get("text", plain)
    return found if isinstance(found, str) else "".join(found)


def alt_text(output: Mapping[str, Any]) -> str:
    """What an image output says to somebody who cannot see it; empty if nothing."""
    metadata = output.get("metadata", {})
    alt = metadata.get("image/png", {}).get("alt") or metadata.get("alt") or text_of(output)
    return "" if alt.startswith("<") else alt


def _complaints(output: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    text = text_of(output)
    if output["output_type"] == "error":
        yield f"an exception is stored: {output.get('ename')}"
    if output.get("name") == "stderr":
        yield f"something was written to stderr: {text.strip()[:80]!r}"
    if found := _ADDRESS.search(text):
        yield f"an address in memory: {found.group()}"
    if found := _PATH.search(text):
        yield f"a path of this machine: {text[found.start() : found.start() + 40]!r}"
    if COMPUTED not in names and (found := _TIME.search(text)):
        yield f"a time (tag the cell `{COMPUTED}` if no clock was read): {found.group()!r}"
    if "image/png" in output.get("data", {}) and len(alt_text(output)) < 20:
        yield "a picture without alt text"


def _merged(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outputs with what was printed in several goes in one piece."""
    merged: list[dict[str, Any]] = []
    for output in outputs:
        last = merged[-1] if merged else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] += output["text"]
        else:
            merged.append(output)
    return merged


def _failed_cell(notebook: Notebook) -> str:
    """The cell that holds the error, else the last one that began to run."""
    ran = [cell for cell in code_cells(notebook) if cell.get("execution_count") is not None]
    for cell in code_cells(notebook):
        if any(output["output_type"] == "error" for output in cell["outputs"]):
            ran = [cell]
            break
    if not ran:
        return "the first cell"
    return f"cell {ran[-1]['id']} ({source(ran[-1]).splitlines()[0]})"


def _last_line(error: Exception) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    return plain.splitlines()[-1] if plain else type(error).__name__
