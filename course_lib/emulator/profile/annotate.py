"""Sets a kernel's source beside what each of its lines cost: a table for notebooks, or text.

The table is plain HTML: no script, no colour of its own for words, nothing fetched. Every bar
stands behind its number, so that nothing hangs on seeing the bar.
"""

from __future__ import annotations

import ast
import contextlib
import html
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.emulator.profile.counters import Counters
    from course_lib.emulator.profile.profile import Profile
    from course_lib.wording.findings import Finding


@dataclass(frozen=True)
class CounterColumn:
    """One counter, or the sum of several, beside the source."""

    title: str  # heading of the table
    short: str  # heading of the text
    unit: str  # what is counted, in words
    counters: tuple[str, ...]  # names of the counters that are added up
    meaning: str  # what one of them is, in a line for the legend
    kept_with: tuple[str, ...] = ()  # a counter beside which this column's zeros mean something

    def of(self, counters: Counters) -> int:
        """This column's number for a line, or for the launch."""
        return sum(getattr(counters, name) for name in self.counters)

    def worth_showing(self, totals: Counters) -> bool:
        """Whether the kernel has anything to do with it."""
        return any(getattr(totals, name) for name in self.counters + self.kept_with)


_WAVEFRONTS = ("shared_load_wavefronts", "shared_store_wavefronts")
_CONFLICTS = ("shared_load_bank_conflicts", "shared_store_bank_conflicts")
COLUMNS = (
    CounterColumn(
        "sectors loaded", "ld sectors", "sectors loaded", ("global_load_sectors",),
        "pieces of 32 bytes that a warp's loads touch; 32 neighbouring float32 lie in 4",
    ),
    CounterColumn(
        "sectors stored", "st sectors", "sectors stored", ("global_store_sectors",),
        "pieces of 32 bytes that a warp's stores touch; 32 neighbouring float32 lie in 4",
    ),
    CounterColumn(
        "shared wavefronts", "wavefronts", "wavefronts of shared memory", _WAVEFRONTS,
        "passes through shared memory; 32 lanes at 4 bytes, each in a bank of its own, take 1",
    ),
    CounterColumn(
        "bank conflicts", "conflicts", "bank conflicts", _CONFLICTS,
        "wavefronts beyond what the width needs: lanes ask a bank for different words",
        _WAVEFRONTS,
    ),
    CounterColumn(
        "FLOP", "FLOP", "FLOP", ("flops",),
        "+ - * / and math functions on floats, of every active lane; a multiply–add is 2",
    ),
)  # fmt: skip


def show(profile: Profile) -> None:
    """Display the table where there is a notebook, print the text elsewhere."""
    display(as_html(profile), as_text(profile))


def display(table: str, text: str) -> None:
    """Display an HTML table where there is a notebook, print the text elsewhere."""
    displayed = _notebook_display()
    if displayed is None:
        print(text)
    else:
        displayed({"text/html": table, "text/plain": text}, raw=True)


def _notebook_display() -> Any:
    """IPython's display function if IPython runs this code; IPython is never loaded for it."""
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        return None
    return ipython.display.display


# -- what is shown -------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceLine:
    """One line of the source; `counters` is None where nothing was executed."""

    number: int
    text: str
    counters: Counters | None


def lines_of(profile: Profile) -> list[SourceLine]:
    """The lines of the kernel and of the functions that it called, whole and in order."""
    source = textwrap.dedent(profile.source)
    texts = source.splitlines()
    shown: set[int] = set()
    for span in _functions(source, profile):
        shown.update(span)
    numbers, counted = sorted(shown) or range(len(texts)), _counted(profile)
    first = int(profile.first_line)
    return [SourceLine(first + at, texts[at], counted.get(first + at)) for at in numbers]


def _counted(profile: Profile) -> dict[int, Counters]:
    """What was counted in the lines of the file that the source is of."""
    file = getattr(profile.first_line, "file", None)
    return {
        int(line): counters
        for line, counters in profile.lines.items()
        if file is None or file == getattr(line, "file", file)
    }


def _functions(source: str, profile: Profile) -> Iterator[range]:
    """The functions of the source in which something was counted, and the kernel itself."""
    counted = {number - profile.first_line for number in _counted(profile)}
    spans = []
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                spans.append((node.name, range(first - 1, node.end_lineno or first)))
    ran = [span for _, span in spans if counted.intersection(span)]
    # A kernel that did nothing is still shown; of several with its name, the last is in force.
    named = [span for name, span in spans if name == profile.kernel_name]
    yield from ran or named[-1:]


def heading(profile: Profile) -> str:
    """What was launched, in one line."""
    grid = " x ".join(str(size) for size in _axes(profile.grid))
    block = " x ".join(str(size) for size in _axes(profile.block))
    return (
        f"{profile.kernel_name}: {profile.threads} threads "
        f"(grid {grid}, block {block}), {profile.schedule}"
    )


def _axes(sizes: Sequence[int]) -> Sequence[int]:
    """The sizes without the axes of length 1 at the end; at least one of them."""
    last = max((axis for axis, size in enumerate(sizes) if size > 1), default=0)
    return sizes[: last + 1]


def _most(profile: Profile, column: CounterColumn) -> str:
    """The line on which most of a column's counts fall, in words."""
    total = column.of(profile)
    if not total:
        return f"No {column.unit}."
    counts = {number: column.of(counters) for number, counters in profile.lines.items()}
    line = max(counts, key=lambda number: (counts[number], -number))
    return f"{total:,} {column.unit}, {100 * counts[line] / total:.0f} % of them at line {line}."


# -- as text -------------------------------------------------------------------------------------


def as_text(profile: Profile) -> str:
    """The source with the counts of each line in columns, the columns' legend, the findings."""
    columns = " ".join(f"{column.short:>10}" for column in COLUMNS)
    rows = [heading(profile), f"{columns}  line"]
    for line in lines_of(profile):
        counts = [column.of(line.counters) if line.counters else 0 for column in COLUMNS]
        numbers = " ".join(f"{count or '':>10}" for count in counts)
        rows.append(f"{numbers} {line.number:5d}  {line.text}".rstrip())
    legend = [column for column in COLUMNS if column.worth_showing(profile)]
    rows.extend(["", *(f"{column.short:>10}: {column.meaning}" for column in legend)])
    rows.extend(f"  {finding.severity}: {finding.code}: {finding}" for finding in profile.findings)
    return "\n".join(rows)


# -- as HTML -------------------------------------------------------------------------------------

# Half-transparent colours over whatever the page has, so that a dark theme works like a light one.
_BAR = "rgba(0,114,178,.3)"
_BAR_END = "rgb(0,114,178)"
_EDGE = "1px solid rgba(128,128,128,.45)"
_CELL = "padding:.1em .6em;border:0;vertical-align:middle;"
NUMBER = _CELL + "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;"
CODE = _CELL + "text-align:left;white-space:pre;font-family:monospace;"
_CAPTION = "text-align:left;color:inherit;padding:.3em .6em;caption-side:top;"
_WORDS = "text-align:left;white-space:normal;max-width:60em;"
_MARK = {"error": "✗ error", "warning": "⚠ warning"}


def as_html(profile: Profile) -> str:
    """The same as a table that can be read on any background, and read aloud."""
    columns = [column for column in COLUMNS if column.worth_showing(profile)]
    told = {line.number for line in lines_of(profile)}
    rows = "".join(_row(line, columns, profile) for line in lines_of(profile))
    words = "".join(f"<li>{html.escape(_most(profile, column))}</li>" for column in columns)
    rest = "".join(
        f"<p>{_finding(finding)}</p>" for finding in profile.findings if finding.line not in told
    )
    words = f'<ul style="margin:.5em 0;">{words}</ul>'
    title = html.escape(heading(profile))
    body = f"<tbody>{rows}</tbody>{_totals(profile, columns)}"
    return table_of(title, f"{title}, counts line by line", columns, body, words) + f"{rest}</div>"


def table_of(
    title: str, label: str, columns: Sequence[CounterColumn], body: str, words: str = ""
) -> str:
    """A table and what its columns count, `words` in between, in a box that is still open."""
    legend = "".join(f"<li><b>{column.title}</b>: {column.meaning}</li>" for column in columns)
    return (
        f'<div role="region" tabindex="0" aria-label="{label}" '
        'style="overflow-x:auto;color:inherit;">'
        '<table style="border-collapse:collapse;font-size:90%;color:inherit;margin:0;">'
        f'<caption style="{_CAPTION}"><b>{title}</b></caption>'
        f"<thead>{_header(columns)}</thead>{body}</table>{words}"
        f'<ul style="margin:.5em 0;" aria-label="What the columns count">{legend}</ul>'
    )


def _header(columns: Sequence[CounterColumn]) -> str:
    """The row of titles."""
    style = _CELL + f"border-bottom:{_EDGE};text-align:right;vertical-align:bottom;"
    cells = "".join(f'<th scope="col" style="{style}">{column.title}</th>' for column in columns)
    line = f'<th scope="col" style="{style}">line</th>'
    source = f'<th scope="col" style="{style}text-align:left;">source</th>'
    return f'<tr style="background:none;">{cells}{line}{source}</tr>'


def _row(line: SourceLine, columns: Sequence[CounterColumn], profile: Profile) -> str:
    """A line with its numbers, and under it what was found there."""
    cells = "".join(_count(line, column, profile) for column in columns)
    number = f'<th scope="row" style="{NUMBER}font-weight:normal;">{line.number}</th>'
    code = f'<td style="{CODE}">{html.escape(line.text)}</td>'
    found = "".join(
        f'<tr style="background:none;"><td colspan="{len(columns) + 1}" style="{_CELL}"></td>'
        f'<td style="{_CELL}{_WORDS}">{_finding(finding)}</td></tr>'
        for finding in profile.findings
        if finding.line == line.number
    )
    return f'<tr style="background:none;">{cells}{number}{code}</tr>{found}'


def _count(line: SourceLine, column: CounterColumn, profile: Profile) -> str:
    count = column.of(line.counters) if line.counters else 0
    if not count:
        return f'<td style="{NUMBER}"></td>'
    most = max(column.of(counters) for counters in profile.lines.values())
    width = f"{100 * count / most:.1f}%"
    inside = f"calc({width} - 2px)"
    share = f"{100 * count / column.of(profile):.1f} % of all {column.unit}"
    bar = (
        f"background:linear-gradient(to left,{_BAR} {inside},{_BAR_END} {inside},"
        f"{_BAR_END} {width},transparent {width}) padding-box;border-left:.7em solid transparent;"
    )
    number = f"<b>{count:,}</b>" if count == most else f"{count:,}"
    return f'<td title="{share}" style="{NUMBER}{bar}">{number}</td>'


def _totals(profile: Profile, columns: Sequence[CounterColumn]) -> str:
    style = NUMBER + f"border-top:{_EDGE};"
    cells = "".join(f'<td style="{style}">{column.of(profile):,}</td>' for column in columns)
    title = f'<th scope="row" style="{style}">all</th><td style="{style}"></td>'
    return f'<tfoot><tr style="background:none;">{cells}{title}</tr></tfoot>'


def _finding(found: Finding) -> str:
    return f"<b>{_MARK[found.severity]}</b> {html.escape(f'{found.code}: {found}')}"
