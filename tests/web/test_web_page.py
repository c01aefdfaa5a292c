"""What every HTML output shares: nothing of it can break out, and it starts wherever it is run."""

import json
import re

import pytest

from course_lib.web import escape, fragment, json_for_html, read_beside

START = "function start(card, data) {}"


def test_data_cannot_end_the_script_and_comes_back_whole():
    data = {"words": "</script><b> & \u2028", "numbers": [1, 2.5, None]}
    text = json_for_html(data)
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == data
    assert escape('<a title="x">&') == "&lt;a title=&quot;x&quot;&gt;&amp;"
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_for_html(float("nan"))


def test_a_fragment_is_one_card_with_its_parts_in_order():
    html = fragment("demo", ".ml-demo b {}", "<p>body</p>", START, [1])
    parts = [
        '<div class="ml ml-demo', "<style>", ".ml-demo b {}", "</style>", "<p>body</p>",
        'class="ml-data">[1]</script>', START, '".ml-demo:not([data-started])"', "</div>",
    ]  # fmt: skip
    places = [html.index(part) for part in parts[:-1]] + [html.rindex(parts[-1])]
    assert places == sorted(places)
    assert not re.search(r"https?:|\bid=|innerHTML|\beval\b", html)


@pytest.mark.parametrize(
    ("kind", "css", "script"),
    [("Demo", "", START), ("demo", "</STYLE>", START), ("demo", "", "'</script>'")],
)
def test_what_would_break_a_fragment_is_refused(kind, css, script):
    with pytest.raises(ValueError):
        fragment(kind, css, "", script)


def test_the_theme_touches_nothing_but_cards():
    css = re.sub(r"/\*.*?\*/", "", read_beside("course_lib.web", "theme.css"), flags=re.DOTALL)
    selectors = re.findall(r"([^{}]+)\{", css)
    assert len(selectors) > 10
    for selector in selectors:
        if not selector.strip().startswith("@media"):
            last = re.split(r",(?![^(\[]*[)\]])", selector)[-1]
            assert re.search(r"\.ml\b", last), selector


@pytest.mark.parametrize("sign", [
    'data-jp-theme-light="false"', "vscode-dark", 'html[theme="dark"]', '[data-theme="dark"]',
    '[data-bs-theme="dark"]', "prefers-color-scheme: dark",
])  # fmt: skip
def test_each_front_end_has_its_dark_theme(sign):
    assert sign in read_beside("course_lib.web", "theme.css")
