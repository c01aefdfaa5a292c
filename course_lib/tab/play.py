"""Answers the playground: a kernel and its launch, or a program, in every order of the warps."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from course_lib.emulator import KernelRejected
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch.kernels import MOST_BARRIERS, barrier_lines, shared_shapes, tile_of
from course_lib.figures.watch.ownership import LONGEST_SIDE, who_owns_what
from course_lib.figures.watch.race import watch_race
from course_lib.figures.watch.stepping import step_through_k
from course_lib.tab import reports
from course_lib.tab.checks import OFFERS, html_of, of_launch
from course_lib.tab.fields import Fields, Refused, text
from course_lib.tab.launches import BUDGET, NO_KERNEL, Played, Ran, Wanted, play, wanted_launch
from course_lib.tab.programs.run import ProgramRun, launches_something, run_program
from course_lib.verdicts.page import marks
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import whole

TRACED_REQUESTS = 50_000  # a request of a warp takes some 2.5 kB of a trace
PREVIEWED = 64  # elements of an array that are shown in full


def answer_play(fields: Fields) -> dict[str, Any]:
    """The result of a launch, or of a program; or one figure of it, if the page asks for one."""
    typed = text(fields, "text")
    try:
        if launches_something(typed):
            return _of_program(fields, run_program(typed))
        wanted = wanted_launch(fields)
        if fields.get("figure") is not None:
            return _figure(fields, wanted)
        played = play(wanted)
    except KernelRejected as rejected:
        return _refused(rejected.findings, typed)
    except Refused as refused:
        if fields.get("figure") is not None:
            raise
        return {"html": reports.of_refusal(str(refused)), **_nothing(), "status": str(refused)}
    return {
        "html": reports.of(played, is_brief=fields.get("brief") is True),
        "marks": [asdict(mark) for mark in marks(played.findings, wanted.text)],
        "lines": _lines([played]),
        **_of_arrays(played),
        "status": _status(len(played.runs)),
    }


def _status(orders: int) -> str:
    """What the page says where there is no mark to speak of."""
    if orders == 1:
        return "Ran with the warps in one order, since others take too long; nothing was found."
    return "Ran under every schedule; nothing was found." if orders else "No launch has run."


def _of_program(fields: Fields, came: ProgramRun) -> dict[str, Any]:
    """The answer for a whole program; arrays and figures are those of one launch, see `chosen`."""
    if not came.kernels and not came.sites and not came.stopped:
        raise Refused(NO_KERNEL)
    chosen = came.chosen(text(fields, "kernel", ""))
    if fields.get("figure") is not None:
        if chosen is None:
            raise Refused("No launch has run, so there is nothing to draw.")
        return _figure(fields, chosen.played.wanted)
    return {
        "html": reports.of_program(came, chosen, is_brief=fields.get("brief") is True),
        **_nothing(),
        "marks": [asdict(mark) for mark in marks(came.findings, came.text)],
        "lines": _lines([site.played for site in came.sites]),
        **(_of_arrays(chosen.played) if chosen else {}),
        "printed": came.printed,
        "not_run": [
            {"line": passage.first, "last": passage.last, "said": whole(passage.said, "student")}
            for passage in came.left_out
        ],
        "status": whole(came.left_out[0].said, "student")
        if came.left_out
        else _status(min((site.orders for site in came.sites), default=0)),
    }


def _figure(fields: Fields, wanted: Wanted) -> dict[str, Any]:
    return {"html": html_of(lambda: _drawn(wanted, text(fields, "figure")))}


def _lines(played: Sequence[Played]) -> list[dict[str, Any]]:
    """The counts of each line, in all of these launches together."""
    counters: dict[int, Counter[str]] = {}
    for launch in played:
        for line, line_counters in launch.first.profile.lines.items():
            counters.setdefault(line, Counter()).update(_counted(line_counters))
    return [{"line": line, "counters": counters[line]} for line in sorted(counters)]


def _of_arrays(played: Played) -> dict[str, Any]:
    """The figures that fit a launch, and its arrays."""
    fitting = set(_figures(played.wanted, played.first))
    return {
        "figures": [
            {"id": offer.id, "title": offer.title} for offer in OFFERS if offer.id in fitting
        ],
        "outputs": [*_outputs(played)],
    }


def _refused(findings: Sequence[Finding], typed: str) -> dict[str, Any]:
    """The answer where nothing could be launched."""
    return {
        "html": reports.of_findings("It cannot be launched", findings),
        **_nothing(),
        "marks": [asdict(mark) for mark in marks(findings, typed)],
    }


def _nothing() -> dict[str, Any]:
    """The parts of an answer where nothing was launched."""
    return {"marks": [], "lines": [], "figures": [], "outputs": [], "status": ""}


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


# --- Figures ------------------------------------------------------------------------------------


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
    return any(_is_tile(names.get(name), tile) for name in _names_of(wanted))


def _is_tile(value: Any, tile: int) -> bool:
    return isinstance(value, int) and value == tile


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
