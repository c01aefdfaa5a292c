"""Draws the two pictures of the class report as SVG that stands in the page itself.

Each has its words, which say every number in it, for who cannot see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.grading.gradebook.safe_text import as_html
from course_lib.grading.records import VERDICTS, Verdict

WIDTH = 640
BINS = 10


def histogram(shares: Sequence[float]) -> str:
    """How many submissions have which share of the points, in ten columns.

    Args:
        shares: from 0 to 1, one for each submission whose points are all decided.
    """
    counts = [0] * BINS
    for share in shares:
        counts[min(int(share * BINS + 1e-9), BINS - 1)] += 1
    top, left, bottom, high = 26, 30, 40, 150
    step = (WIDTH - left - 10) / BINS
    tallest = max([*counts, 1])
    parts = []
    for place, count in enumerate(counts):
        height = high * count / tallest
        x, y = left + place * step, top + high - height
        parts.append(
            f'<rect class="bar" x="{x + 3:.1f}" y="{y:.1f}" width="{step - 6:.1f}" '
            f'height="{height:.1f}" rx="2"/>'
        )
        middle = x + step / 2
        if count:
            parts.append(_text(middle, y - 6, str(count)))
        parts.append(_text(middle, top + high + 18, _bin(place), "quiet"))
    base = top + high
    parts.append(
        f'<line class="axis" x1="{left}" y1="{base}" x2="{WIDTH - 10}" y2="{base}" '
        'stroke-width="1.5"/>'
    )
    parts.append(_text(WIDTH / 2, base + 36, "share of all points, in per cent", "quiet"))
    said = ", ".join(f"{_bin(place)} per cent: {count}" for place, count in enumerate(counts))
    return _picture("Submissions by their share of the points", said, base + bottom, parts)


def verdict_bars(counts: Mapping[str, Mapping[Verdict, int]]) -> str:
    """A bar for each exercise, cut by verdict.

    Each part is labelled by its place in the order of VERDICTS and by its number, so colours only
    help.

    Args:
        counts: for each exercise, how many answers got which verdict.
    """
    left, row, bar = 150, 30, 20
    parts, said = [], []
    for place, (exercise, by_verdict) in enumerate(counts.items()):
        y = 6 + place * row
        parts.append(_text(left - 10, y + 15, exercise, anchor="end"))
        whole = sum(by_verdict.values()) or 1
        x = float(left)
        for verdict in VERDICTS:
            count = by_verdict.get(verdict, 0)
            wide = (WIDTH - left - 6) * count / whole
            if not count:
                continue
            kind = verdict.replace(" ", "-")
            parts.append(
                f'<rect class="of-{kind}" x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{bar}"/>'
            )
            if wide > 22:
                parts.append(_text(x + wide / 2, y + 15, str(count), "on"))
            x += wide
        said.append(f"{exercise}: {_in_words(by_verdict)}")
    y = 10 + len(counts) * row
    x = float(left)
    for verdict in VERDICTS:
        kind = verdict.replace(" ", "-")
        parts.append(
            f'<rect class="of-{kind}" x="{x:.1f}" y="{y + 2}" width="13" height="13"/>'
            + _text(x + 19, y + 13, verdict, "quiet", anchor="start")
        )
        x += 42 + 7.2 * len(verdict)
    return _picture("Verdicts by exercise", "; ".join(said), y + 24, parts)


def _bin(place: int) -> str:
    return f"{place * 10}–{place * 10 + 10}"


def _in_words(by_verdict: Mapping[Verdict, int]) -> str:
    return ", ".join(f"{by_verdict[each]} {each}" for each in VERDICTS if by_verdict.get(each))


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    chosen = f' class="{kind}"' if kind else ""
    return f'<text{chosen} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{as_html(words)}</text>'


def _picture(title: str, said: str, height: float, parts: Sequence[str]) -> str:
    """An SVG, and what a screen reader says in its place."""
    label = f"{as_html(title)}. {as_html(said)}."
    size = f"0 0 {WIDTH} {height:.0f}"
    return f'<svg viewBox="{size}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
