"""A picture shows itself with its words, the same way every time, without pyplot."""

import base64
import subprocess
import sys

import IPython.display
import matplotlib
import pytest
from matplotlib.figure import Figure

from course_lib import figures
from course_lib.figures.style import short_bytes


@pytest.fixture
def shown(monkeypatch):
    """What was displayed: (data, metadata) of each output."""
    outputs = []
    monkeypatch.setattr(
        IPython.display,
        "display",
        lambda data, metadata=None, raw=False: outputs.append((data, metadata)) if raw else None,
    )
    return outputs


def test_the_bundle_holds_image_and_words():
    picture = figures.ladder("tiled")
    data, metadata = picture._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == picture.png()
    assert data["text/plain"] == picture.alt == repr(picture)
    assert metadata == {"image/png": {"alt": picture.alt}}


def test_a_cell_shows_the_image_and_a_fold_with_its_words(shown):
    picture = figures.ladder("tiled")
    picture._ipython_display_()
    (image, metadata), (fold, _) = shown
    assert image["image/png"]
    assert metadata["image/png"]["alt"] == picture.alt
    assert fold["text/html"].startswith("<details>")
    assert picture.alt in fold["text/html"]


def test_any_figure_can_be_shown_but_not_without_words(shown):
    figures.show(Figure(), alt="an empty figure")
    assert shown[0][0]["text/plain"] == "an empty figure"
    with pytest.raises(ValueError, match="needs words"):
        figures.show(Figure())


def test_a_figure_to_play_with_is_shown_in_the_middle_of_a_cell_too(shown):
    figures.show(figures.explore_banks())
    assert any("text/html" in data for data, _ in shown)


def test_a_picture_is_the_same_whatever_the_notebook_has_set():
    plain = figures.roofline_plot("T4").png()
    wild = {"font.size": 30, "axes.facecolor": "red", "lines.linewidth": 9, "savefig.dpi": 20}
    with matplotlib.rc_context(wild):
        assert figures.roofline_plot("T4").png() == plain


def test_the_file_says_nothing_of_when_or_by_what_it_was_made(tmp_path):
    path = figures.ladder().save(tmp_path / "ladder.png")
    png = path.read_bytes()
    assert png == figures.ladder().png()
    assert b"Software" not in png
    assert b"tIME" not in png


@pytest.mark.slow
def test_drawing_needs_no_pyplot():
    code = (
        "import sys, course_lib.figures as f; f.ladder().png(); print('pyplot' in str(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("count", "text"), [(96, "96 B"), (131_072, "131.1 kB"), (549.8e9, "549.8 GB"), (17e9, "17 GB")]
)
def test_short_bytes(count, text):
    assert short_bytes(count) == text
