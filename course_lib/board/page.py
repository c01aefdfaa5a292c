"""The board as one static page: who is ranked where, by which counts, and how far to trust that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from course_lib.board.entries import BoardEntry, BoardSettings
from course_lib.measurements import counted_cost
from course_lib.measurements.counted_cost import SUM, correlation, faster_half, wrong_pairs
from course_lib.own_ladder import LADDERS
from course_lib.web import escape, still

APART = 1.3  # costs that differ by less are not told apart
HEADS = ("", "entry", "answers", "cost", "instructions", "sectors", "wavefronts")
_CSS = """
.ml-board { max-width: 60rem; margin: 0 auto; }
.ml-board table { border-collapse: collapse; width: 100%; margin: 12px 0; }
.ml-board :is(th, td) { padding: 4px 10px; text-align: right; }
.ml-board tr { border-bottom: 1px solid var(--ml-line); }
.ml-board :is(th, td):is(:nth-child(2), :nth-child(3)) { text-align: left; }
.ml-board a { color: var(--ml-a-ink); }
"""


def page_of(settings: BoardSettings, entries: Sequence[BoardEntry]) -> str:
    """A whole HTML file, which links to the entries' texts beside it and to nothing else.

    Args:
        entries: ranked, those that are not ranked last.
    """
    title = escape(settings.title)
    inside = "\n".join(_parts(settings, entries))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{title}</title></head><body>\n{still('board', _CSS, inside)}\n</body></html>\n"
    )


def _parts(settings: BoardSettings, entries: Sequence[BoardEntry]) -> Iterator[str]:
    size = f"{settings.size} x {settings.size}"
    problem = escape(LADDERS[settings.ladder].problem.format(size=size))
    yield f"<h1>{escape(settings.title)}</h1>"
    yield (
        f"<p>Whose kernel computes {problem} at the lowest cost? Nothing is timed here. Each text "
        f"is judged and compiled for compute capability {escape(settings.cc)}, and its machine "
        "code is followed instruction by instruction. The cost is the number of cycles that one "
        "SM would need to issue the instructions first, and then to serve the sectors and "
        "wavefronts: instructions / 4 + sectors / 4 + wavefronts.</p>"
    )
    ranked = [entry for entry in entries if not entry.refused]
    heads = "".join(f'<th scope="col">{head or "place"}</th>' for head in HEADS)
    rows = "".join(_row(place, entry) for place, entry in enumerate(ranked, 1))
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    if refused := [entry for entry in entries if entry.refused]:
        yield "<h2>Not ranked</h2><ul>"
        for entry in refused:
            yield f"<li>{_link(entry)}: {escape(entry.refused)}</li>"
        yield "</ul>"
    yield f"<p>{escape(trust())}</p>"
    compilers = sorted({entry.compiler for entry in ranked})
    yield (
        f'<p class="ml-muted">Seed {settings.seed}; compiled by {escape("; ".join(compilers))}. '
        "<code>course.py board FOLDER --check</code> judges and counts everything again, and "
        "tells you whether the result is the same, byte for byte.</p>"
    )


def trust() -> str:
    """How well this cost ranks kernels, as measured."""
    costs = counted_cost.load()
    everybody, half = costs.kernels, faster_half(costs.kernels)
    wrong, pairs = wrong_pairs(everybody, APART)
    near_wrong, near_pairs = wrong_pairs(half, 1.0)
    return (
        f"How well does this cost predict the time? We measured {len(everybody)} kernels for a "
        "product of float32 matrices on an H200. The rank correlation (Spearman's) of cost and "
        f"time is {correlation(everybody, SUM):.2f} for all of them, and "
        f"{correlation(half, SUM):.2f} for the faster half. In this half, the kernel with the "
        f"lower cost was slower in {near_wrong} of {near_pairs} pairs. If one kernel costs at "
        f"least {APART} times as much as the other, this happened in {wrong} of {pairs:,} pairs. "
        "So if two costs are closer than that, the ranking does not tell you which kernel is "
        "faster."
    )


def _row(place: int, entry: BoardEntry) -> str:
    counts = (entry.cost, entry.instructions, entry.sectors, entry.wavefronts)
    cells = "".join(f"<td>{count:,.0f}</td>" for count in counts)
    rung = f"<code>{escape(entry.rung)}</code>"
    return f"<tr><td>{place}</td><td>{_link(entry)}</td><td>{rung}</td>{cells}</tr>"


def _link(entry: BoardEntry) -> str:
    name = escape(entry.name)
    return f'<a href="{name}.py">{name}</a>'
