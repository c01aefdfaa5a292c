"""A picture shows itself with its words, the same every time; stored ones, ladders, formats."""

import base64
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import IPython.display
import matplotlib
import pytest
from child import python
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course_lib import figures
from course_lib.devices import device
from course_lib.figures.interactive import still
from course_lib.figures.interactive.scene import known_classes
from course_lib.figures.stored import STORED, markdown, write_stored
from course_lib.figures.style import short_bytes
from course_lib.own_ladder import OwnRung, whole_ladder
from course_lib.roofline import Point


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


def test_a_cell_shows_the_image_and_a_fold_with_its_words(shown):
    picture = figures.ladder("tiled")
    data, metadata = picture._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == picture.png()
    assert data["text/plain"] == picture.alt == repr(picture)
    assert metadata == {"image/png": {"alt": picture.alt}}
    picture._ipython_display_()
    image, (fold, _) = shown
    assert image == (data, metadata)
    assert fold["text/html"].startswith("<details>") and picture.alt in fold["text/html"]


def test_any_figure_can_be_shown_but_not_without_words(shown):
    figures.show(Figure(), alt="an empty figure")
    assert shown[0][0]["text/plain"] == "an empty figure"
    with pytest.raises(ValueError, match="needs words"):
        figures.show(Figure())
    figures.show(figures.who_owns_what((4, 4), (2, 2)))
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
    assert python("-c", code).stdout.strip() == "False"


@pytest.mark.parametrize(
    ("count", "text"), [(96, "96 B"), (131_072, "131.1 kB"), (549.8e9, "549.8 GB"), (17e9, "17 GB")]
)
def test_short_bytes(count, text):
    assert short_bytes(count) == text


ROOT = Path(__file__).parents[2]


def test_pictures_are_written_where_they_belong(tmp_path):
    paths = write_stored(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == list(STORED)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


@pytest.mark.workshop
@pytest.mark.parametrize("name", STORED)
def test_the_stored_picture_is_not_of_yesterday(name):
    # Bytes differ between versions of matplotlib; width and height do not.
    size_of = slice(16, 24)
    assert (ROOT / name).read_bytes()[size_of] == STORED[name]().png()[size_of]


def test_markdown_carries_the_words():
    line = markdown("docs/images/ladder.png")
    assert line.startswith("![The ladder of kernels from slow to fast")
    assert line.endswith("](docs/images/ladder.png)")


def steps(passed: int, of: str = "product") -> list[OwnRung]:
    return [
        replace(each, passed=place < passed, yours={"global_load_sectors": 1234})
        for place, each in enumerate(whole_ladder(of=of))
    ]


def test_a_ladder_that_nobody_has_climbed_is_a_short_picture() -> None:
    empty, begun = (figures.my_ladder(steps(count)) for count in (0, 1))
    assert empty.figure.get_figheight() < 2 < begun.figure.get_figheight()
    shown = " ".join(each.get_text() for axes in empty.figure.axes for each in axes.texts)
    assert all(each.rung in shown for each in steps(0))
    assert "not counted" not in shown and "1,234" not in shown


def lines_of(picture):
    (axes,) = picture.figure.axes
    return {line.get_gid(): line for line in axes.lines if line.get_gid()}


def labels_of(picture):
    (axes,) = picture.figure.axes
    return {each.get_text(): each.xy for each in axes.texts}


@pytest.mark.parametrize("gpu", ["H100", "H200", "B200", "A6000"])
def test_each_roof_stands_at_its_height_and_each_ridge_below_its_corner(gpu):
    row, labels = device(gpu), labels_of(figures.roofs_of_formats(gpu))
    for name, tera in (
        ("float32", row.fp32_tflops),
        ("TF32", row.tf32_tflops),
        ("16 bits", row.fp16_tflops),
    ):
        assert labels[f"{name} {tera:,.1f} TFLOP/s"][1] == tera * 1000
        ridge = tera * 1000 / row.dram_gb_per_s
        assert labels[f"{ridge:.0f}"][0] == pytest.approx(ridge)


def test_the_labels_of_equally_fast_kernels_stand_apart():
    points = [
        Point(f"rung {tera}", 85, 1000.0 * tera, "requested") for tera in (748, 431, 778, 694)
    ]
    picture = figures.roofs_of_formats("H200", points)
    canvas = FigureCanvasAgg(picture.figure)
    boxes = [
        text.get_window_extent(canvas.get_renderer())
        for text in picture.figure.axes[0].texts
        if text.get_text().startswith("rung")
    ]
    assert len(boxes) == 4
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_interactive_roofline_can_start_at_another_data_type():
    roofs = figures.explore_roofline("H100", tile=(128, 256), data_type="FP16/BF16")
    assert "Tile 128 × 256 in FP16/BF16 at 85.3 FLOP per requested byte" in roofs.still.alt
    assert [each.start for each in roofs.controls if each.key == "type"] == [2]


# What these do to words, and what is for pages only: motion, clicks.
OF_WORDS = {*still._SIZES, *still._ON, "bold", "mono", "halo"}
OF_PAGES = {"moves", "through"}


def test_a_still_knows_every_class_that_a_page_knows() -> None:
    def looks(classes: list[str]) -> list[object]:
        return [still._looks(classes, False), still._looks(classes, True), still._ink(classes)]

    unseen = {each for each in known_classes() if looks(["lit", each]) == looks(["lit"])}
    unseen &= {each for each in known_classes() if looks([each]) == looks([])}
    assert unseen - OF_WORDS == OF_PAGES
