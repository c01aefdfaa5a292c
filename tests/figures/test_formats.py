"""Roofs and errors of number formats stand where the data sheet and the measurements put them."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from course_lib import figures
from course_lib.devices import device
from course_lib.roofline import Point

COUNTED = {"tf32": {32: 6e-4, 512: 7e-4}, "float32": {32: 1e-7, 512: 4e-7}}
MEASURED = {"tf32": {1024: 6.9e-4, 8192: 7.0e-4}}


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


def test_a_format_that_a_gpu_lacks_has_no_roof_and_the_picture_says_so():
    picture = figures.roofs_of_formats("T4")
    assert "TF32" not in " ".join(labels_of(picture))
    assert any("T4 has no TF32" in each.get_text() for each in picture.figure.texts)


@pytest.mark.parametrize("gpu", ["H100", "H200", "B200", "A6000", "T4", "3090"])
def test_no_name_of_a_roof_touches_a_roof(gpu):
    figure = figures.roofs_of_formats(gpu).figure
    (axes,) = figure.axes
    figure.draw_without_rendering()
    roofs = [line for line in axes.lines if len({*line.get_ydata()}) == 1 < len(line.get_ydata())]
    assert len(roofs) >= 2
    for text in (each for each in axes.texts if "TFLOP/s" in each.get_text()):
        box = text.get_window_extent()
        for line in roofs:
            height = line.get_transform().transform((1.0, line.get_ydata()[0]))[1]
            room = (line.get_linewidth() / 2 + 1) * figure.dpi / 72
            assert not box.y0 - room < height < box.y1 + room, (text.get_text(), line.get_ydata())


def test_equal_roofs_share_a_line():
    assert "float32, TF32 35.6 TFLOP/s" in labels_of(figures.roofs_of_formats("3090"))


def test_a_hollow_dot_hangs_under_the_highest_roof_and_a_measured_one_stands_alone():
    points = [
        Point("slope", 64, None, "requested"),
        Point("flat", 1000, None, "requested"),
        Point("measured", 64, 433_000.0, "requested", "measured here"),
    ]
    picture = figures.roofs_of_formats("H100", points)
    dots = lines_of(picture)
    assert dots["slope"].get_ydata()[0] == 64 * 3350
    assert dots["flat"].get_ydata()[0] == 989_400
    assert dots["measured"].get_ydata()[0] == 433_000
    assert dots["slope"].get_markerfacecolor() != dots["measured"].get_markerfacecolor()
    assert "measured at 64 FLOP per requested byte, 433 TFLOP/s" in picture.alt


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


def test_errors_are_drawn_as_they_are_and_the_words_say_where_they_are_from():
    picture = figures.errors_of_formats(COUNTED, MEASURED, measured_on="some GPU")
    lines = lines_of(picture)
    assert list(lines["tf32 counted"].get_ydata()) == [6e-4, 7e-4]
    assert list(lines["tf32 measured"].get_xdata()) == [1024, 8192]
    hollow, filled = (lines[f"tf32 {each}"] for each in ("counted", "measured"))
    assert hollow.get_markerfacecolor() != filled.get_markerfacecolor()
    assert "Measured on some GPU: tf32 6.9e-04 at K = 1024" in picture.alt
    assert "Measured" not in figures.errors_of_formats(COUNTED).alt


def test_the_interactive_roofline_can_start_at_another_data_type():
    roofs = figures.explore_roofline("H100", tile=(128, 256), data_type="FP16/BF16")
    assert "Tile 128 × 256 in FP16/BF16 at 85.3 FLOP per requested byte" in roofs.still.alt
    assert [each.start for each in roofs.controls if each.key == "type"] == [2]
