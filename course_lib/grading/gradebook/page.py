"""Fills the templates of grading's pages; what a template says of a value is always escaped.

A page has no script and asks for nothing: its own policy forbids both, so even text that had
escaped its escaping would stay text.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from course_lib.grading.gradebook.safe_text import as_html
from course_lib.web import read_beside
from course_lib.words import decimal

GENERATOR = "matmul-ladder grade"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

HOME = "course_lib.grading.gradebook"


def filled(template: str, title: str, **values: object) -> str:
    """A whole page.

    Args:
        template: the name of a file in `templates`.
        title: what the browser's tab says.
        values: what the template shows. Text is escaped, and what cannot be seen in it is marked;
            HTML of ours comes as Markup.
    """
    style = Markup(read_beside("course_lib.web", "theme.css") + read_beside(HOME, "page.css"))
    page = _templates().get_template(template)
    policy = Markup(POLICY)
    return page.render(title=title, style=style, policy=policy, generator=GENERATOR, **values)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader(HOME),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"points": decimal, "source": _source}
    return environment


def _shown(value: object) -> Markup:
    """What stands on the page for a value."""
    return (
        value
        if isinstance(value, Markup)
        else Markup(as_html(value if isinstance(value, str) else str(value)))
    )


def _source(text: str) -> Markup:
    """A line of code: of white space it keeps tabs alone."""
    return Markup(as_html(text, keep="\t"))
