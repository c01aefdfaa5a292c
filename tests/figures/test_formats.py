"""Roofs and errors of number formats stand where the data sheet and the measurements put them."""

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from course_lib import figures
from course_lib.devices import device
from course_lib.roofline import Point


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
