"""The vocabulary of what can be wrong with a kernel: findings and their codes.

Every part of the course that judges a kernel (the emulator, the checks, the grader) speaks in
findings. A finding has a code from the table below, a sentence for the student, and the line
it is about. This module imports nothing else of the course.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Code:
    """What one finding code means.

    Attributes:
        title: a short phrase, used as the headline of a finding.
        explanation: one sentence that explains the term to a student.
        severity: how serious a finding of this code is unless its author says otherwise.
        rank: the place in a report; a cause ranks before its symptoms.
    """

    title: str
    explanation: str
    severity: Severity
    rank: int


# Title, explanation and usual severity. The order is the order in which findings are reported:
# what kept the kernel from running, then causes, then symptoms, then cost.
_TABLE: tuple[tuple[str, str, str, Severity], ...] = (
    (
        "missing-answer",
        "no answer yet",
        "The exercise's function is not there, or it is still empty.",
        "error",
    ),
    (
        "not-allowed",
        "not allowed here",
        "An answer may only do arithmetic on arrays. It cannot import, open or run anything else.",
        "error",
    ),
    (
        "compile-error",
        "the compiler rejects this",
        "The language's own compiler would reject this line on a GPU, too.",
        "error",
    ),
    (
        "unsupported",
        "the emulator cannot run this",
        "Numba could compile this line, but the course's emulator does not support it.",
        "error",
    ),
    (
        "invalid-launch",
        "the launch is not possible",
        "A GPU would reject this grid, this block or these arguments.",
        "error",
    ),
    (
        "timeout",
        "it takes too many steps",
        "The kernel used up its budget of steps. Usually this means that a loop never ends.",
        "error",
    ),
    (
        "raised-exception",
        "a thread raised an exception",
        "A thread that raises an exception ends at once, and the host learns of it only with "
        "debug=True.",
        "error",
    ),
    (
        "no-effect",
        "a line that does nothing",
        "A value on a line of its own changes nothing, and a function is not called without "
        "parentheses.",
        "warning",
    ),
    (
        "barrier-divergence",
        "a barrier is used in a wrong way",
        "All threads of a block must reach the same cuda.syncthreads(), and a thread that waits at "
        "an mbarrier needs all of its arrivals and bytes.",
        "error",
    ),
    (
        "race-read-after-write",
        "race: perhaps read before it was written",
        "One thread reads a cell that another one writes, with no barrier in between.",
        "error",
    ),
    (
        "race-write-after-read",
        "race: overwritten before it was read",
        "One thread overwrites a cell that another one may still have to read.",
        "error",
    ),
    (
        "race-write-after-write",
        "race: two threads write one cell",
        "Two threads write the same cell in no fixed order, so either value may survive.",
        "error",
    ),
    (
        "wrong-bounds-check",
        "the bounds check is wrong",
        "The test that should keep threads inside the array lets the wrong ones through.",
        "error",
    ),
    (
        "out-of-bounds-read",
        "read outside an array",
        "A thread reads past the end of an array (or of one of its rows).",
        "error",
    ),
    (
        "out-of-bounds-write",
        "write outside an array",
        "A thread writes past the end of an array (or of one of its rows).",
        "error",
    ),
    (
        "uninitialised-read",
        "read before anything was written there",
        "When a kernel starts, the contents of shared memory, of local memory and of the output "
        "are unknown.",
        "error",
    ),
    (
        "stale-shared-read",
        "a cell still holds a value of an earlier tile",
        "The cell was not written in this step, so it still holds the previous tile's value.",
        "error",
    ),
    (
        "index-overflow",
        "an index overflows",
        "The index does not fit its integer type and wraps around.",
        "error",
    ),
    (
        "wrong-index",
        "the wrong element is read or written",
        "A value is read from, or written to, the wrong place.",
        "error",
    ),
    (
        "wrong-loop-bound",
        "the loop does not make the right steps",
        "The loop leaves out terms of the sum, or adds some that do not belong to it.",
        "error",
    ),
    (
        "accumulator-error",
        "the running sum is wrong",
        "The sum does not start at zero, is reset on the way, or is overwritten instead of added "
        "to.",
        "error",
    ),
    (
        "integer-arithmetic",
        "a fraction is lost or rounded in a wrong way",
        "Integers drop the fraction.",
        "error",
    ),
    (
        "missing-mask",
        "values past the end take part",
        "Cells outside the problem must not get into the result.",
        "error",
    ),
    (
        "missing-rescale",
        "the running result is not rescaled",
        "When the running maximum changes, you have to rescale the sums so far.",
        "error",
    ),
    (
        "numerical-overflow",
        "a number leaves the range of its type",
        "Ordinary inputs gave infinity, not-a-number, or zeros where small numbers should be.",
        "error",
    ),
    (
        "wrong-formula",
        "a different formula",
        "The kernel computes a different formula from the one in the task.",
        "error",
    ),
    (
        "hardcoded-answer",
        "the output does not depend on the input",
        "The output is the same for other inputs.",
        "error",
    ),
    (
        "incomplete-output",
        "part of the output was never written",
        "Some elements of the output still hold what was there before the launch.",
        "error",
    ),
    (
        "wrong-result",
        "the result is wrong",
        "The numbers differ, and no more specific cause could be found.",
        "error",
    ),
    (
        "not-used",
        "a required tool is not used",
        "The exercise asks for a technique that this answer does not use.",
        "error",
    ),
    (
        "float64-arithmetic",
        "float64 arithmetic",
        "The kernel computes in double precision, which most GPUs do far more slowly.",
        "warning",
    ),
    (
        "rounded-inputs",
        "inputs rounded to a shorter format",
        "The tensor cores round the factors of this product before they multiply them.",
        "warning",
    ),
    (
        "uncoalesced-load",
        "uncoalesced loads",
        "The 32 lanes of a warp read from more 32-byte sectors than they need.",
        "warning",
    ),
    (
        "uncoalesced-store",
        "uncoalesced stores",
        "The 32 lanes of a warp write to more 32-byte sectors than they need.",
        "warning",
    ),
    (
        "excess-global-traffic",
        "more global memory traffic than needed",
        "The same elements are fetched from global memory again and again.",
        "warning",
    ),
    (
        "bank-conflict",
        "shared-memory bank conflicts",
        "Lanes of a warp need different words from the same bank, so the access takes "
        "several wavefronts.",
        "warning",
    ),
    (
        "serial-work",
        "work is done one step at a time",
        "Threads do one after the other what they could do at the same time.",
        "warning",
    ),
    (
        "excess-barriers",
        "more barriers than needed",
        "A barrier that orders nothing only makes warps wait.",
        "warning",
    ),
)

CODES: dict[str, Code] = {
    code: Code(title, explanation, severity, rank)
    for rank, (code, title, explanation, severity) in enumerate(_TABLE)
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel, or could be better.

    Attributes:
        code: one of `CODES`.
        severity: "error" (wrong result, fault, race, or a requirement missed) or "warning".
        message: one or two sentences: what happens, where, to whom.
        line: the line of the cell, file or text that holds the kernel; None if no line is to blame.
        hint: what to look at next; never the solution.
        other_line: the second line of a race.
        threads: the threads concerned, as (x, y, z) indices within their block.
        cell: the array element concerned, as a student would write it: "sA[3, 4]".
        blocks: the blocks of the threads, as (x, y, z), where they are different ones.
        order: of a race, where in the program's order its line was reached (memory.py, `Access`).
    """

    code: str
    severity: Severity
    message: str
    line: int | None = None
    hint: str = ""
    other_line: int | None = None
    threads: tuple[tuple[int, ...], ...] = ()
    cell: str = ""
    blocks: tuple[tuple[int, ...], ...] = ()
    order: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown finding code {self.code!r}")

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        return f"{where}{self.message}"


def finding(
    code: str,
    message: str,
    line: int | None = None,
    hint: str = "",
    severity: Severity | None = None,
    **details: object,
) -> Finding:
    """A Finding whose severity is the usual one of its code unless given.

    Raises:
        ValueError: if the code is not in the vocabulary.
    """
    if code not in CODES:
        raise ValueError(f"unknown finding code {code!r}")
    return Finding(code, severity or CODES[code].severity, message, line, hint, **details)  # type: ignore[arg-type]


def by_importance(findings: Iterable[Finding]) -> list[Finding]:
    """Errors before warnings, causes before symptoms; otherwise in the order given."""
    return sorted(
        findings, key=lambda finding: (finding.severity != "error", CODES[finding.code].rank)
    )
