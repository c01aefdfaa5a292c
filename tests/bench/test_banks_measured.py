"""What was measured of banks: the stored numbers belong together, and to the machine code."""

from __future__ import annotations

import pytest

from course_lib.measurements.banks import transpose


def test_the_transposes_lie_between_a_copy_and_no_tile() -> None:
    seen = transpose()
    assert seen.size == 16384 and seen.label.startswith("NVIDIA H200")
    order = ["copy", "padded", "row & 31", "row & 7", "tile", "no tile"]
    assert sorted(seen.ms, key=seen.ms.__getitem__) == order
    assert seen.gb_per_s["copy"] == pytest.approx(2 * 4 * 16384**2 / (seen.ms["copy"] / 1e3) / 1e9)


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(KeyError, match="there are: H200"):
        transpose("T4")
