"""What came of a launch in the playground, or of a whole program, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from course_lib.emulator.profile import annotate
from course_lib.tab.launches import Played
from course_lib.tab.programs.run import LaunchSite, ProgramRun
from course_lib.verdicts import page
from course_lib.web import escape
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import whole
from course_lib.wording.words import counted, joined, span

MOST_PRINTED = 40  # lines


def of(played: Played, is_brief: bool = False) -> str:
    """Findings, what the orders of the warps made of it, and the kernel line by line.

    A brief one has the findings alone.
    """
    found = played.findings
    errors = sum(finding.severity == "error" for finding in found)
    name = played.wanted.kernel.name
    orders = _orders(len(played.runs), "its")
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


def of_refusal(said: str) -> str:
    """A sentence in the place of a verdict."""
    return page.card(_title(said, "✗", "wrong"))


def of_program(came: ProgramRun, chosen: LaunchSite | None, is_brief: bool = False) -> str:
    """A whole program: what was found, what was not run, what it printed, and a launch in full."""
    more = () if is_brief else _of_run(came, chosen)
    return page.card("\n".join([*_of_findings(_headline(came), came.findings, came), *more]))


def _headline(came: ProgramRun) -> str:
    errors = sum(finding.severity == "error" for finding in came.findings)
    warnings = len(came.findings) - errors
    found = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
    launches = sum(site.count for site in came.sites)
    if not launches:
        return f"No launch has run: {found if came.findings else 'nothing is known of the kernels'}"
    names = dict.fromkeys(site.played.wanted.kernel.name for site in came.sites)
    said = f"{launches:,} {'launch' if launches == 1 else 'launches'} of {joined(names)}"
    if came.findings:
        return f"{said}: {found}"
    return f"{said}: no findings in {_orders(min(site.orders for site in came.sites), 'the')}"


def _orders(count: int, whose: str) -> str:
    return f"{count} orders of {whose} warps" if count > 1 else f"one order of {whose} warps"


def _of_run(came: ProgramRun, chosen: LaunchSite | None) -> Iterator[str]:
    if came.left_out:
        rows = "".join(
            f"<li>{escape(whole(passage.said, 'student'))}</li>" for passage in came.left_out
        )
        yield f'<ul class="not-run">{rows}</ul>'
    if came.held:
        lines = span("line", sorted(set(came.held)))
        verb, noun = ("holds", "assertion") if len(set(came.held)) == 1 else ("hold", "assertions")
        yield f"<p>The {noun} in {lines} {verb}.</p>"
    yield from _printed(came.printed, 0)
    for site in came.sites:
        yield from _of_site(site, site is chosen)


def _of_site(site: LaunchSite, is_open: bool) -> Iterator[str]:
    """The launches of a line: what the orders made of it, and the last one line by line."""
    name = site.played.wanted.kernel.name
    times = f", the last of {site.count:,}" if site.count > 1 else ""
    opened = " open" if is_open else ""
    yield (
        f"<details{opened}><summary>Line {site.line}: the launch of <code>{escape(name)}</code>"
        f"{times}</summary>"
    )
    yield from _of_orders([*site.differing], site.orders)
    yield annotate.as_html(replace(site.played.first.profile, findings=[]))
    yield "</details>"


def _title(said: str, sign: str, kind: str) -> str:
    return (
        f'<p class="ml-title" data-said="{kind}"><span class="sign" aria-hidden="true">{sign}'
        f"</span> {escape(said)}</p>"
    )


def _of_findings(
    said: str, findings: Sequence[Finding], came: ProgramRun | None = None
) -> Iterator[str]:
    wrong = any(finding.severity == "error" for finding in findings)
    has_run = came is None or came.sites
    sign, kind = ("✗", "wrong") if wrong else ("✓", "right") if has_run else ("…", "open")
    yield _title(said, sign, kind)
    for finding in findings:
        where = "" if finding.line is None else f"Line {finding.line}: "
        yield f'<div class="note" data-is="{finding.severity}">{page.note_of(finding, where)}</div>'


def _parts(played: Played) -> Iterator[str]:
    profile = played.first.profile
    yield from _of_orders(played.differing(), len(played.runs))
    yield annotate.as_html(replace(profile, findings=[]))
    yield from _printed(profile.output, profile.unkept_lines)


def _of_orders(differing: Sequence[str], orders: int) -> Iterator[str]:
    if differing:
        names = escape(", ".join(differing))
        yield f"<p>The order of the warps decides what is in {names} in the end.</p>"
    elif orders > 1:
        yield "<p>Every order of the warps leaves the same numbers.</p>"


def _printed(output: Sequence[str], unkept: int) -> Iterator[str]:
    if output:
        lines = output[:MOST_PRINTED]
        left = len(output) + unkept - len(lines)
        more = f"\n… and {left:,} more lines" if left else ""
        yield f"<p>Printed:</p><pre>{escape(chr(10).join(lines) + more)}</pre>"
