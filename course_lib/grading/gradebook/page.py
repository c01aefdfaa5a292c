"""Wraps the body of a grading page into a document that needs nothing from anywhere.

A page has no script and asks for nothing: its own policy forbids both, so even text that had
escaped its escaping would stay text.
"""

from __future__ import annotations

from course_lib.grading.gradebook.safe_text import as_html
from course_lib.web import read_beside

GENERATOR = "matmul-ladder grade"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_DOCUMENT = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="{generator}">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main class="ml ml-grades">
{body}
</main>
</body>
</html>
"""


def document(title: str, body: str) -> str:
    """A whole page; the title is text, the body HTML."""
    ours = read_beside("course_lib.grading.gradebook", "page.css")
    style = read_beside("course_lib.web", "theme.css") + ours
    return _DOCUMENT.format(
        policy=POLICY, generator=GENERATOR, title=as_html(title), style=style, body=body
    )


def verdict_badge(verdict: str) -> str:
    """The verdict as a word with a border."""
    return f'<span class="verdict {verdict.replace(" ", "-")}">{verdict}</span>'
