"""What an attack is: a submission that somebody hands in, what it earns, and what it is told."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

# "all" where the answer itself is right and what is hostile about it is never executed; "part" for
# properties that it may have all the same, but no point for the one that it pretends to; "review"
# where a person has to look: never 0, and never points.
Earns = Literal["nothing", "part", "all", "review"]
MARK = "pwned-by-a-submission"  # the file that an attack leaves if it gets anywhere

RIGHT = """\
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
"""
EMPTY = RIGHT.partition("    col")[0] + "    pass\n"
RIGHT_BLOCKS = """\
def blocks_per_sm(device, threads, registers, shared_bytes):
    warps = -(-threads // device.warp_size)
    per_warp = -(-registers * device.warp_size // device.register_unit) * device.register_unit
    shared = shared_bytes + device.shared_reserved_bytes
    shared = -(-shared // device.shared_unit_bytes) * device.shared_unit_bytes
    if threads > device.threads_per_block or registers > device.registers_per_thread:
        return 0
    if shared_bytes > device.shared_per_block_bytes:
        return 0
    if -(-warps // device.partitions) * device.partitions * per_warp > device.registers_per_sm:
        return 0
    by_warps = device.warps_per_sm // warps
    per_partition = device.registers_per_sm // device.partitions // per_warp
    by_registers = device.partitions * per_partition // warps
    by_shared = device.shared_per_sm_bytes // shared if shared else device.blocks_per_sm
    return min(by_warps, by_registers, by_shared, device.blocks_per_sm)
"""


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
        family: the kind of attack.
        name: what it tries, in a few words with hyphens.
        place: puts it into the folder of submissions, given that folder and its own name there.
        exercise: the exercise whose points it is after.
        earns: what it is worth.
        pretends: the property that it does not have, where it earns a part.
        says: must stand in the reason of its row.
        folder: its name in the folder of submissions; of the family and the name if there is none.
        shown: the name in the gradebook, where it differs from that.
        has_twin: another attack has nearly the same name, and what it is called follows from that.
        heavy: costs more than a second to grade, so that only the long set tries it.
    """

    family: str
    name: str
    place: Callable[[Path, str | bytes], None]
    exercise: str = "mat_add"
    earns: Earns = "nothing"
    pretends: str = "right"
    says: str = ""
    folder: str | bytes = ""
    shown: str = ""
    has_twin: bool = False
    heavy: bool = False

    @property
    def id(self) -> str:
        return f"{self.family}-{self.name}"

    @property
    def submission(self) -> str:
        """What the gradebook calls it."""
        return self.shown or (self.folder if isinstance(self.folder, str) else "") or self.id

    def hand_in(self, submissions: Path) -> None:
        """Put it beside the others."""
        self.place(submissions, self.folder or self.id)


def answer(
    family: str,
    name: str,
    text: str,
    earns: Earns = "nothing",
    says: str = "",
    exercise: str = "mat_add",
    heavy: bool = False,
    pretends: str = "right",
    **beside: str,
) -> Attack:
    """An attack by the text of an answer; `beside` names files in its folder, `_` for a dot."""

    def place(submissions: Path, folder: str | bytes) -> None:
        own = below(submissions, folder)
        write_notebook(own / "answer.ipynb", [code(f"# EXERCISE {exercise}\n{text}")])
        for file, content in beside.items():
            (own / file.replace("_", ".")).write_text(content, encoding="utf-8")

    return Attack(family, name, place, exercise, earns, pretends, says, heavy=heavy)


def answers(
    family: str,
    texts: Mapping[str, str],
    earns: Earns = "nothing",
    says: str = "",
    exercise: str = "mat_add",
    pretends: str = "right",
) -> tuple[Attack, ...]:
    """Attacks of one kind by name and text; what all of them earn is said once."""
    return tuple(
        answer(family, name, text, earns, says, exercise, pretends=pretends)
        for name, text in texts.items()
    )


def kernel(body: str, before: str = "") -> str:
    """A kernel `mat_add` with this body, after the imports and what stands before it."""
    lines = "\n".join("    " + line for line in body.splitlines())
    imports = "import numpy as np\nfrom numba import cuda\n"
    return f"{imports}{before}\n@cuda.jit\ndef mat_add(A, B, C):\n{lines}\n"


def function(body: str, before: str = "") -> str:
    """A plain function `blocks_per_sm` with this body."""
    lines = "\n".join("    " + line for line in body.splitlines())
    return f"{before}\ndef blocks_per_sm(device, threads, registers, shared_bytes):\n{lines}\n"


def below(submissions: Path, folder: str | bytes) -> Path:
    """The folder of one submission, made."""
    path = os.path.join(os.fsencode(submissions), os.fsencode(folder))
    os.makedirs(path, exist_ok=True)
    return Path(os.fsdecode(path))


def code(source: str, **changes: Any) -> dict[str, Any]:
    """A code cell."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return cell | {"source": source.splitlines(keepends=True)} | changes


def markdown(source: str) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def notebook(cells: Sequence[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A notebook as a front end saves it."""
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    whole = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return whole | changes


def write_notebook(path: Path, cells: Sequence[dict[str, Any]], **changes: Any) -> None:
    """Save a notebook."""
    path.write_text(json.dumps(notebook(cells, **changes)), encoding="utf-8")


def raw_file(
    content: Callable[[], bytes], name: str = "answer.ipynb"
) -> Callable[[Path, str | bytes], None]:
    """A submission of one file; its bytes are made only when it is handed in, for some are many."""

    def place(submissions: Path, folder: str | bytes) -> None:
        (below(submissions, folder) / name).write_bytes(content())

    return place


def cells_of(*cells: dict[str, Any], **changes: Any) -> Callable[[Path, str | bytes], None]:
    """A submission of one notebook with these cells."""

    def place(submissions: Path, folder: str | bytes) -> None:
        write_notebook(below(submissions, folder) / "answer.ipynb", cells, **changes)

    return place
