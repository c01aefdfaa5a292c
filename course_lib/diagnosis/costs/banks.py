"""Bank conflicts: which access, on which line, how many wavefronts, and what makes it so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.costs.measured import Measured
from course_lib.diagnosis.source.in_a_thread import Threads, value_in
from course_lib.diagnosis.source.nodes import indices_of, root_name
from course_lib.diagnosis.source.source import Source
from course_lib.findings import Finding, Severity, finding
from course_lib.sentences import say

BANKS = 32


def bank_conflicts(measured: Measured, severity: Severity) -> Iterator[Finding]:
    """Accesses to shared memory that are served in more wavefronts than needed.

    Those that cost most wavefronts come first. Where the exercise forbids them, every line is told;
    else the worst, which is a hint at speed.
    """
    found = []
    for number, each in measured.profile.lines.items():
        reads = (each.shared_load_requests, each.shared_load_wavefronts)
        writes = (each.shared_store_requests, each.shared_store_wavefronts)
        found += [
            (conflicts, number, store, wavefronts / requests, (wavefronts - conflicts) / requests)
            for store, conflicts, (requests, wavefronts) in (
                (False, each.shared_load_bank_conflicts, reads),
                (True, each.shared_store_bank_conflicts, writes),
            )
            if conflicts and requests
        ]
    found.sort(key=lambda each: (-each[0], each[1]))
    for _, number, store, wavefronts, least in found if severity == "error" else found[:1]:
        verb = "write" if store else "read"
        each = _conflict(measured, number, verb, store, wavefronts, severity)
        if least > 1:
            message = say(
                "{seen} An access that wide takes {least} wavefronts at best.",
                seen=each.message,
                least=f"{least:.3g}",
            )
            each = replace(each, message=message)
        yield each


def _conflict(
    measured: Measured, line: int, verb: str, store: bool, wavefronts: float, severity: Severity
) -> Finding:
    accesses = shared_accesses(measured.source, line, store)
    if len(accesses) != 1 or wavefronts != int(wavefronts):
        message = say(
            "A warp's {verb} of shared memory takes {wavefronts} wavefronts on average: lanes ask "
            "one bank for different words.",
            verb=verb,
            wavefronts=f"{wavefronts:.3g}",
        )
        hint = "By how many words do the addresses of neighbouring lanes differ?"
        return finding("bank-conflict", message, line, hint, severity)
    why, hint = _why(measured, accesses[0], int(wavefronts))
    message = say(
        "A warp's {verb} of {access} takes {wavefronts} wavefronts: {why}",
        verb=verb,
        access=ast.unparse(accesses[0]),
        wavefronts=int(wavefronts),
        why=why,
    )
    return finding("bank-conflict", message, line, hint, severity)


def shared_accesses(source: Source, line: int, store: bool) -> list[ast.Subscript]:
    """The accesses to shared arrays that begin on a line."""
    return [
        access
        for name in sorted(source.shared_names())
        for access in source.accesses(name, store)
        if access.lineno <= line <= (access.end_lineno or access.lineno)
    ]


def _why(measured: Measured, access: ast.Subscript, lanes: int) -> tuple[str, str]:
    """What brings the lanes to one bank, and what to look at."""
    name = root_name(access.value) or ""
    shape = _shape(measured, name)
    if _has_xor(measured.source, access.slice):
        why = say(
            "the XOR moves the words of a column to only {banks} of the {all} banks, so {lanes} "
            "lanes meet in each of them.",
            banks=BANKS // lanes,
            all=BANKS,
            lanes=lanes,
        )
        return why, "How many different values does the number take that the XOR mixes in?"
    hint = "By how many words do the addresses of neighbouring lanes differ?"
    if len(shape) != 2:
        return say("{lanes} lanes ask one bank for different words.", lanes=lanes), hint
    width = shape[-1]
    if measured.thread_tile != (1, 1) and isinstance(access.ctx, ast.Load):
        down, across = measured.thread_tile
        steps = f"{down} rows" if across == 1 else f"{down} rows or {across} columns"
        why = say(
            "the outputs of neighbouring threads lie {steps} apart, and with rows of {width} "
            "words {lanes} addresses of a warp fall into one bank.",
            steps=steps,
            width=width,
            lanes=lanes,
        )
        return why, hint
    if measured.thread_tile != (1, 1):
        return say("{lanes} lanes ask one bank for different words.", lanes=lanes), hint
    if measured.profile.block[0] < BANKS:  # a warp is several rows of threads
        why = say(
            "with rows of {width} words, {lanes} of its lanes ask one bank for different words.",
            width=width,
            lanes=lanes,
        )
        return why, hint
    if not _walks_down(measured, access):
        why = say("{lanes} of its lanes ask one bank for different words.", lanes=lanes)
        return why, hint
    why = say(
        "its lanes walk down a column, where words lie {width} apart, so {lanes} of them ask one "
        "of the {all} banks for different words.",
        width=width,
        lanes=lanes,
        all=BANKS,
    )
    if width % BANKS == 0 and shape[0] > BANKS:
        why = say("{why} More rows do not change that.", why=why)
        hint = say("Which of the two sizes in {shape} says how long a row is?", shape=_sizes(shape))
    return why, hint


def _walks_down(measured: Measured, access: ast.Subscript) -> bool:
    """Does each lane of the first warp take another row, and all of them one column?"""
    source, lanes = measured.source, np.arange(BANKS)
    warp = Threads((lanes, 0, 0), (0, 0, 0), measured.profile.block, measured.profile.grid)
    indices = indices_of(access)
    if len(indices) != 2 or source.differs_between_threads(indices[1]):
        column = value_in(source, indices[-1], warp)
        if column is None or np.unique(column).size > 1:
            return False
    row = value_in(source, indices[0], warp)
    return row is None or np.unique(row).size == BANKS


def _shape(measured: Measured, name: str) -> Sequence[int]:
    arrays = measured.profile.shared_arrays
    return next((array.shape for array in arrays if array.name == name), ())


def _sizes(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))})"


def _has_xor(source: Source, index: ast.AST, depth: int = 4) -> bool:
    """Does an index mix bits, here or where its variables get their values?"""
    nodes = list(ast.walk(index))
    if any(isinstance(node, ast.BitXor) for node in nodes):
        return True
    values = [source.value_of(node.id) for node in nodes if isinstance(node, ast.Name)]
    return depth > 0 and any(_has_xor(source, value, depth - 1) for value in values if value)
