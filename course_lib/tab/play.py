"""What came of a launch in the playground, as HTML."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from course_lib.emulator import KernelRejected
from course_lib.emulator.profile import annotate
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch.kernels import MOST_BARRIERS, barrier_lines, shared_shapes, tile_of
from course_lib.figures.watch.ownership import LONGEST_SIDE, who_owns_what
from course_lib.figures.watch.race import watch_race
from course_lib.figures.watch.stepping import step_through_k
from course_lib.tab.checks import OFFERS, html_of, of_launch
from course_lib.tab.fields import Fields, Refused, text
from course_lib.tab.launches import BUDGET, Played, Ran, Wanted, play, wanted_launch
from course_lib.verdicts import page
from course_lib.verdicts.marks import marks
from course_lib.web import escape
from course_lib.wording.findings import Finding
from course_lib.wording.words import counted

MOST_PRINTED = 40  # lines


def of(played: Played, is_brief: bool = False) -> str:
    """Findings, what the orders of the warps made of it, and the kernel line by line.

    A brief one has the findings alone.
    """
    found = played.findings
    errors = sum(finding.severity == "error" for finding in found)
    name = played.wanted.kernel.name
    several = len(played.runs) > 1
    orders = f"{len(played.runs)} orders of its warps" if several else "the one run that was made"
    if not found:
        said = f"{name}: no findings in {orders}"
    else:
        warnings = len(found) - errors
        said = f"{name}: {counted(errors, 'error')}, {counted(warnings, 'warning')} in {orders}"
    more = () if is_brief else _parts(played)
    return page.card("\n".join([*_of_findings(said, found), *more]))


def of_findings(said: str, findings: Sequence[Finding]) -> str:
    """A headline and what was found, where nothing ran."""
    return page.card("\n".join(_of_findings(said, findings)))


def _of_findings(said: str, findings: Sequence[Finding]) -> Iterator[str]:
    wrong = any(finding.severity == "error" for finding in findings)
    sign, kind = ("✗", "wrong") if wrong else ("✓", "right")
    yield (
        f'<p class="ml-title" data-said="{kind}"><span class="sign" aria-hidden="true">{sign}'
        f"</span> {escape(said)}</p>"
    )
    for finding in findings:
        where = "" if finding.line is None else f"Line {finding.line}: "
        yield f'<div class="note" data-is="{finding.severity}">{page.note_of(finding, where)}</div>'


def _parts(played: Played) -> Iterator[str]:
    profile = played.first.profile
    differing = played.differing()
    if differing:
        names = escape(", ".join(differing))
        yield f"<p>The order of the warps decides what stands in {names} in the end.</p>"
    elif len(played.runs) > 1:
        yield "<p>Every order of the warps leaves the same numbers.</p>"
    yield annotate.as_html(replace(profile, findings=[]))
    if profile.output:
        lines = profile.output[:MOST_PRINTED]
        left = len(profile.output) + profile.unkept_lines - len(lines)
        more = f"\n… and {left:,} more lines" if left else ""
        yield f"<p>Printed:</p><pre>{escape(chr(10).join(lines) + more)}</pre>"


# --- Answers the playground: any kernel and launch, run in every order of its warps ---------------


TRACED_REQUESTS = 50_000  # a request of a warp takes some 2.5 kB of a trace
PREVIEWED = 64  # elements of an array that are shown in full


def answer_play(fields: Fields) -> dict[str, Any]:
    """What came of a launch; or one figure of it, if the page asks for one."""
    try:
        wanted = wanted_launch(fields)
        if fields.get("figure") is not None:
            return {"html": html_of(lambda: _drawn(wanted, text(fields, "figure")))}
        played = play(wanted)
    except KernelRejected as rejected:
        return _refused(rejected.findings, text(fields, "text"))
    profile = played.first.profile
    return {
        "html": of(played, is_brief=fields.get("brief") is True),
        "marks": [asdict(mark) for mark in marks(played.findings, wanted.text)],
        "lines": [
            {"line": line, "counters": _counted(each)}
            for line, each in sorted(profile.lines.items())
        ],
        "figures": [
            {"id": each.id, "title": each.title}
            for each in OFFERS
            if each.id in set(_figures(wanted, played.first))
        ],
        "outputs": [*_outputs(played)],
    }


def _refused(findings: Sequence[Finding], typed: str) -> dict[str, Any]:
    """The answer where nothing could be launched."""
    return {
        "html": of_findings("It cannot be launched", findings),
        "marks": [asdict(mark) for mark in marks(findings, typed)],
        "lines": [],
        "figures": [],
        "outputs": [],
    }


def _counted(counters: Any) -> dict[str, int]:
    """The counters that have counted something."""
    return {name: int(value) for name, value in asdict(counters).items() if value}


def _outputs(played: Played) -> Iterator[dict[str, Any]]:
    """Each array after the launch, and its first and last elements."""
    differing = played.differing()
    for name, array in played.first.arguments.items():
        if isinstance(array, np.ndarray):
            yield {
                "name": name,
                "shape": list(array.shape),
                "dtype": str(array.dtype),
                "changed": array.tobytes() != played.wanted.arguments[name].tobytes(),
                "same_in_every_order": name not in differing,
                "preview": np.array2string(
                    array,
                    threshold=PREVIEWED,
                    edgeitems=4,
                    precision=5,
                    suppress_small=True,
                    max_line_width=76,
                ),
            }


# --- figures ------------------------------------------------------------------------------------


def _figures(wanted: Wanted, ran: Ran) -> Iterator[str]:
    """The figures that fit this run."""
    profile, kernel = ran.profile, wanted.kernel
    of_global = profile.global_load_requests + profile.global_store_requests
    of_shared = profile.shared_load_requests + profile.shared_store_requests
    if profile.finished and of_global + of_shared <= TRACED_REQUESTS:
        yield from ["sectors"] * bool(of_global) + ["banks"] * bool(of_shared)
    if not _is_product(wanted, ran):
        return
    rows, columns = ran.arguments[kernel.parameters[2]].shape
    if max(rows, columns) <= LONGEST_SIDE:
        yield "owners"
    if shared_shapes(kernel) and _tiles_are_named(wanted):
        yield "step"
        if len(barrier_lines(kernel)) <= MOST_BARRIERS:
            yield "race"


def _is_product(wanted: Wanted, ran: Ran) -> bool:
    """Has the run left the product of its first two arguments in its third and last?"""
    arrays = list(wanted.arguments.values())
    if len(arrays) != 3 or not all(isinstance(argument, np.ndarray) for argument in arrays):
        return False
    a, b, c = arrays
    if any(argument.ndim != 2 for argument in arrays) or a.shape[1] != b.shape[0]:
        return False
    if c.shape != (a.shape[0], b.shape[1]) or np.array_equal(c, list(ran.arguments.values())[2]):
        return False
    with np.errstate(all="ignore"):
        right = a.astype(np.float64) @ b.astype(np.float64)
    return np.allclose(list(ran.arguments.values())[2], right, rtol=1e-3, atol=1e-3)


def _tiles_are_named(wanted: Wanted) -> bool:
    """Are the tiles square, one thread an output, with a name for their size?"""
    sides = {side for shape in shared_shapes(wanted.kernel) for side in shape}
    block = wanted.block if isinstance(wanted.block, tuple) else (wanted.block,)
    if len(sides) != 1 or tuple(block)[:2] != (*sides, *sides):
        return False
    tile = tile_of(wanted.kernel)
    names = wanted.kernel.namespace
    return any(names.get(name) == tile for name in _names_of(wanted))


def _names_of(wanted: Wanted) -> set[str]:
    return {node.id for node in ast.walk(wanted.kernel.tree) if isinstance(node, ast.Name)}


def _drawn(wanted: Wanted, figure: str) -> Interactive:
    ran = wanted.run("lockstep", 0, BUDGET)
    if figure not in set(_figures(wanted, ran)):
        raise Refused("There is no such figure of this launch.")
    if figure in ("sectors", "banks"):
        profile = wanted.run("lockstep", 0, BUDGET, trace=True).profile
        return of_launch(replace(profile, source=wanted.text, first_line=1), figure)
    if figure == "owners":
        a, b, _ = wanted.arguments.values()
        shape = (a.shape[0], b.shape[1], a.shape[1])
        return who_owns_what(shape, wanted.block, kernel=wanted.kernel, grid=wanted.grid)
    return step_through_k(wanted.kernel) if figure == "step" else watch_race(wanted.kernel)
