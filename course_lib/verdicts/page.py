"""A verdict as HTML: the lines that are wrong, what is wrong with each, and where to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from course_lib.diagnosis.report import Tried
from course_lib.own_ladder import COLUMNS, OwnRung
from course_lib.verdicts import share_card
from course_lib.verdicts.typed import FunctionListing
from course_lib.verdicts.verdict import Verdict
from course_lib.web import escape, read_beside, still
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import whole
from course_lib.wording.words import plural


@dataclass
class Marked:
    """A function with what is said of its lines.

    Attributes:
        listing: the function's text.
        said: findings by the number of their line.
        others: lines that a finding of another line names as well, as the second one of a race.
    """

    listing: FunctionListing
    said: dict[int, list[Finding]] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)


def placed(
    findings: Sequence[Finding], listings: Sequence[FunctionListing]
) -> tuple[list[Marked], list[Finding]]:
    """The functions with findings on their lines, and the findings without a certain line.

    Numbers of lines are those of a cell. Where a kernel and the function that it calls stand in
    two cells, and both have a line of that number, nobody can say which is meant.
    """
    marked = [Marked(listing) for listing in listings]
    elsewhere = []
    for finding in findings:
        home = _only(marked, finding.line)
        if home is None or finding.line is None:
            elsewhere.append(finding)
            continue
        home.said.setdefault(finding.line, []).append(finding)
        other = _only(marked, finding.other_line)
        if (
            other is not None
            and finding.other_line is not None
            and finding.other_line != finding.line
        ):
            other.others.add(finding.other_line)
    return [function for function in marked if function.said], elsewhere


def _only(marked: Sequence[Marked], line: int | None) -> Marked | None:
    """The one function that has this line."""
    homes = [function for function in marked if line is not None and function.listing.has(line)]
    return homes[0] if len(homes) == 1 else None


# --- The whole verdict ----------------------------------------------------------------------------
# It is made from the report's facts. Everything that a student has written goes through `escape`,
# nothing is fetched, and without its style it is still a table that can be read.


ERROR, WARNING, OTHER = "✗", "▲", "↔"
AROUND = 1  # lines before and after each that a finding names
GAP = '<span class="line gap">⋮\n</span>'
_CODE = re.compile(r"`([^`]+)`")
_STRESSED = re.compile(r"(?<![\w*])(\*\*?)(?=\S)([^*]+)(?<=\S)\1(?![\w*])")
_UNLIKE_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def html_of(verdict: Verdict) -> str:
    """The whole verdict, in one piece."""
    return card("\n".join(_parts(verdict)))


def card(inside: str) -> str:
    """HTML with the looks of a verdict."""
    return still("verdict", read_beside("course_lib.verdicts", "verdict.css"), inside)


def _parts(verdict: Verdict) -> Iterator[str]:
    report = verdict.report
    yield _headline(verdict)
    for said in verdict.stands_in:
        yield f'<p class="ml-muted">{_inline(said)}</p>'
    if report.held:
        yield f'<p><span class="ml-muted">Holds:</span> {_inline("; ".join(report.held))}.</p>'
    if report.launched:
        yield f"<p>{_inline(str(report.launched))}</p>"
    if report.note:
        yield f"<p>{_inline(report.note)}</p>"
    yield from _findings(verdict)
    if report.passed:
        yield from _of_passing(verdict)
    if verdict.offer:
        yield f'<p class="offer">{_inline(verdict.offer)}</p>'
    if report.tried:
        yield _tried(report.tried)


def _headline(verdict: Verdict) -> str:
    report = verdict.report
    if report.passed:
        said, sign = "right", "✓"
    elif report.needs_review or verdict.waits:
        said, sign = "open", "…"
    else:
        said, sign = "wrong", ERROR
    return (
        f'<p class="ml-title" data-said="{said}"><span class="sign" aria-hidden="true">{sign}'
        f"</span> {escape(report.headline())}</p>"
    )


# --- Findings, each below its line --------------------------------------------------------------


def _findings(verdict: Verdict) -> Iterator[str]:
    report = verdict.report
    listings = () if verdict.waits else verdict.listings
    marked, elsewhere = placed(report.shown, listings)
    for finding in elsewhere:
        where = "" if finding.line is None or verdict.waits else f"Line {finding.line}: "
        kind = "open" if verdict.waits else finding.severity
        yield f'<div class="note" data-is="{kind}">{note_of(finding, where)}</div>'
    for listing in marked:
        yield _listing(listing)
    if report.left_out:
        yield f'<p class="ml-muted">{escape(report.left_out)}</p>'


def note_of(finding: Finding, where: str = "", ask: bool = True) -> str:
    """What is said of one finding."""
    kind = "" if finding.severity == "error" else " (a warning)"
    sentence = whole(finding.message, "student")
    title = whole(f"{where}{CODES[finding.code].title}{kind}", "student")
    asked = f'<span class="ml-muted">Hint:</span> {_inline(finding.hint)}'
    hint = f"<p>{asked}</p>" if finding.hint and ask else ""
    code = f'<span class="ml-muted code">{escape(finding.code)}</span>'
    return f"<p><strong>{escape(title)}</strong> {code}</p><p>{_inline(sentence)}</p>{hint}"


def _listing(marked: Marked) -> str:
    """The lines that are spoken of, each with what is said of it right below."""
    begin = f'<pre class="lines" aria-label="{escape(marked.listing.name)}">'
    parts, rows = [], ""
    shown = list(_numbers_shown(marked))
    for before, number in zip([shown[0] - 1, *shown], shown, strict=False):
        rows += GAP * (number > before + 1) + _row(marked, number)
        if notes := "".join(_notes(marked, number)):
            parts += [f"{begin}{rows}</pre>", notes]
            rows = ""
    parts += [f"{begin}{rows}</pre>"] * bool(rows)
    return f'<div class="excerpt">{"".join(parts)}</div>'


def _notes(marked: Marked, number: int) -> Iterator[str]:
    said = marked.said.get(number, ())
    # A question is asked once for a line.
    first = {finding.hint: finding for finding in reversed(said)}
    for finding in said:
        note = note_of(finding, f"Line {number}: ", ask=first[finding.hint] is finding)
        yield f'<div class="note" data-is="{finding.severity}">{note}</div>'


def _row(marked: Marked, number: int) -> str:
    text = marked.listing.lines[number - marked.listing.first]
    sign = kind = ""
    if number in marked.said:
        kind = marked.said[number][0].severity
        sign = ERROR if kind == "error" else WARNING
    elif number in marked.others:
        sign, kind = OTHER, "other"
    # A front end that drops the style still shows these as lines of text.
    return (
        f'<span class="line" data-is="{kind}"><span class="sign">{sign or " "}</span>'
        f'<span class="number">{number:>4} </span><code>{_source(text)}</code>\n</span>'
    )


def _numbers_shown(marked: Marked) -> Iterator[int]:
    """The lines that findings name, and those around each."""
    first, count = marked.listing.first, len(marked.listing.lines)
    near = {*marked.said, *marked.others}
    for number in range(first, first + count):
        if any(abs(number - line) <= AROUND for line in near):
            yield number


# --- What passing means -------------------------------------------------------------------------


def _of_passing(verdict: Verdict) -> Iterator[str]:
    task = verdict.task
    if task is not None and task.meaning:
        yield f'<p class="meaning">{_rich(task.meaning)}</p>'
    if verdict.par:
        yield f"<p>{escape(verdict.par)}</p>"
    if verdict.rungs:
        yield _ladder(verdict.rungs)
        if shared := share_card.image_of(verdict.rungs):
            yield f"<details><summary>A card to share; it names nobody</summary>{shared}</details>"
    if task is not None and task.another:
        yield (
            "<details><summary>Another solution</summary>"
            f"<p>{_rich(task.compared)}</p><pre>{_source(task.another.strip())}</pre></details>"
        )
    if verdict.onwards:
        words, target = verdict.onwards
        link = f'<a href="{escape(target)}">{_inline(words)}</a>' if target else _inline(words)
        yield f"<p><strong>Next:</strong> {link}</p>"


def _ladder(rungs: Sequence[OwnRung]) -> str:
    """The student's rungs beside the reference's, the newest one on top."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in COLUMNS)
    rows = "".join(_rung(rung) for rung in reversed(rungs))
    ladder = rungs[0].ladder
    least = f"; any kernel loads {ladder.least_sectors:,} sectors" if ladder.least_sectors else ""
    return (
        f'<table class="ladder"><caption>Your ladder, for {escape(ladder.phrase)}; '
        f"in grey, ours{least}</caption><thead><tr><th></th>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _rung(rung: OwnRung) -> str:
    cells = "".join(
        f"<td>{_counted(rung.yours.get(counter))}<br>"
        f'<span class="ml-muted">{_counted(rung.ours.get(counter))}</span></td>'
        for counter in COLUMNS.values()
    )
    here = ' data-is="here"' if rung.is_new else ""
    mark = "→ " if rung.is_new else ""
    on = f"{rung.time} at {rung.ladder.timed_size}, {rung.gpu}"
    time = f'<br><span class="ml-muted">{escape(on)}</span>' if rung.time else ""
    return f'<tr{here}><th scope="row">{mark}{escape(rung.title)}{time}</th>{cells}</tr>'


def _counted(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


# --- What was tried -----------------------------------------------------------------------------


def _tried(tried: Sequence[Tried]) -> str:
    right = sum(attempt.right for attempt in tried)
    what = "launches" if tried[0].block else "calls"
    how_many = f"all {len(tried)}" if right == len(tried) else f"{right} of {len(tried)}"
    rows = "".join(_try(attempt) for attempt in tried)
    return (
        f"<details><summary>What was tried: {how_many} {what} passed</summary>"
        f'<table class="tried"><tbody>{rows}</tbody></table></details>'
    )


def _try(attempt: Tried) -> str:
    sign = "✓" if attempt.right else ERROR
    launch = ""
    if attempt.block:
        grid, block = _sizes(attempt.grid), _sizes(attempt.block)
        blocks = plural("block", 1 if grid == "1" else 2)
        threads = plural("thread", 1 if block == "1" else 2)
        launch = f"<td>{grid} {blocks} of {block} {threads}</td>"
        launch += f"<td>warps {_ORDERS.get(attempt.schedule, escape(attempt.schedule))}</td>"
    return f"<tr><td>{sign}</td><td>{escape(attempt.what)}</td>{launch}</tr>"


_ORDERS = {"lockstep": "in step", "warps": "one after another"}


def _sizes(sizes: Sequence[int]) -> str:
    """ "3 × 2" of (3, 2, 1)."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " × ".join(map(str, kept))


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(_UNLIKE_TEXT.sub(" ", text)))


def _rich(text: str) -> str:
    """Words of the course's own, with what they stress."""
    return _STRESSED.sub(r"<em>\2</em>", _inline(text))


def _source(text: str) -> str:
    """A student's text; what would turn or break the line is shown as a box."""
    return escape(_UNLIKE_TEXT.sub("\N{WHITE SQUARE}", text))


# --- Findings beside the lines of a whole text, for an editor to mark: facts, and no HTML ---------


@dataclass(frozen=True)
class Mark:
    """What an editor shows at a line.

    Attributes:
        line: its number, from 1 on.
        severity: "error", "warning", or "other" for a line that a finding of another line names,
            such as the second one of a race.
        title: a few words.
        message: what happens there.
        hint: what to look at next; or "".
    """

    line: int
    severity: str
    title: str
    message: str
    hint: str = ""


def marks(findings: Sequence[Finding], text: str) -> list[Mark]:
    """The marks of a text, line by line; of one line, in the order of the findings."""
    found = []
    for marked in placed(findings, [FunctionListing("", tuple(text.split("\n")), 1)])[0]:
        for line, said in marked.said.items():
            for finding in said:
                title, message = CODES[finding.code].title, whole(finding.message, "student")
                found.append(Mark(line, finding.severity, title, message, finding.hint))
        for line in sorted(marked.others - marked.said.keys()):
            first = next(finding for finding in findings if finding.other_line == line)
            message = whole(first.message, "student")
            found.append(Mark(line, "other", f"see line {first.line}", message))
    return sorted(found, key=lambda mark: mark.line)
