"""Links of a finished site: what leads nowhere is named, and so is what is fetched elsewhere."""

from pathlib import Path

import pytest

from course_lib.book.finished import links_out, problems
from course_lib.commands import book

GOOD = {
    "index.html": '<h1 id="top">x</h1><a href="b/two.html#part">b</a><a href="#top">up</a>'
    '<img src="p.png"><img src="data:image/png;base64,AA"><a href="b/">folder</a>'
    '<link rel="stylesheet" href="s.css?v=1"><a href="https://example.org/">out</a>',
    "b/two.html": '<a name="part"></a><a href="../index.html">home</a><a href="two.html">me</a>',
    "b/index.html": "<p>empty</p>",
    "p.png": "picture",
    "s.css": "a { background: url(data:image/png;base64,AA) }",
    "_static/template.html": '<script src="{{ nowhere }}"></script>',
}


def site(folder: Path, **changes: str) -> Path:
    for name, text in {**GOOD, **{k.replace("__", "."): v for k, v in changes.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_sound_site_has_no_problem(tmp_path: Path) -> None:
    assert problems(site(tmp_path)) == []
    assert links_out(tmp_path) == {"https://example.org/"}


@pytest.mark.parametrize(("page", "said"), [
    ('<a href="gone.html">x</a>', "extra.html links to gone.html: there is no such file."),
    ('<a href="b/two.html#nope">x</a>',
     "extra.html links to b/two.html#nope: there is no such place on that page."),
    ('<a href="#nope">x</a>', "extra.html links to #nope: there is no such place on that page."),
    ('<a href="../../etc/passwd">x</a>',
     "extra.html links to ../../etc/passwd: that lies outside the site."),
    ('<img src="gone.png">', "extra.html fetches gone.png: there is no such file."),
    ('<script src="https://cdn.example/x.js"></script>',
     "extra.html fetches https://cdn.example/x.js, which lies outside the site."),
    ('<link rel="preconnect stylesheet" href="//fonts.example/f">',
     "extra.html fetches //fonts.example/f, which lies outside the site."),
    ("<style>@import 'https://cdn.example/a.css'; b { color: red }</style>",
     "extra.html fetches https://cdn.example/a.css, which lies outside the site."),
    ('<p style="background: url(https://cdn.example/a.png)">x</p>',
     "extra.html fetches https://cdn.example/a.png, which lies outside the site."),
    ('<img srcset="p.png 1x, https://cdn.example/2x.png 2x">',
     "extra.html fetches https://cdn.example/2x.png, which lies outside the site."),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, page: str, said: str) -> None:
    assert problems(site(tmp_path, extra__html=page)) == [said]


def test_a_style_sheet_that_fetches_elsewhere_is_named(tmp_path: Path) -> None:
    css = "@font-face { src: url('https://fonts.example/a.woff2') }"
    assert problems(site(tmp_path, s__css=css)) == [
        "s.css fetches https://fonts.example/a.woff2, which lies outside the site."
    ]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert book.main(["--out", str(tmp_path)]) == 2
    assert "contains other files; name an empty folder" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
