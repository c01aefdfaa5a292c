"""What is drawn are the numbers that were given: heights, positions, counts."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import curriculum, figures, measurements
from course_lib.devices import device
from course_lib.emulator.profile.request_costs import global_cost, shared_cost
from course_lib.figures import ladders
from course_lib.figures.accesses import element_counts
from course_lib.roofline import Point
from course_lib.wording.findings import finding


def bars_of(picture):
    """Name -> width of every bar that has a name."""
    (axes,) = picture.figure.axes
    return {
        bar.get_label(): bar.get_width()
        for bar in axes.patches
        if bar.get_label() and not bar.get_label().startswith("_")
    }


def words_of(picture):
    """All that is written in a picture, one text a line."""
    texts = [*picture.figure.texts]
    for axes in picture.figure.axes:
        texts += axes.texts
    return "\n".join(each.get_text() for each in texts)


def test_bars_of_the_ladder_are_shares_of_cublas():
    picture = figures.ladder("tiled")
    bars = bars_of(picture)
    longest = bars["warp_tiled"] / 0.9368
    for rung in curriculum.RUNGS:
        assert bars[rung.name] / longest == pytest.approx(rung.share_of_cublas, rel=0.01)
    assert "309 (1.3%)" in picture.alt
    assert "×6.4" in words_of(picture)
    assert "not measured by us" in words_of(picture)


def test_one_rung_is_lit_or_none():
    assert words_of(figures.ladder("coalesced")).count("◀") == 1
    assert words_of(figures.ladder()).count("◀") == 0
    with pytest.raises(ValueError, match="No rung 'tilde'"):
        figures.ladder("tilde")


@pytest.mark.parametrize("name", ["T4", "A6000", "H100", "B200"])
def test_the_places_quote_the_data_sheet(name):
    row, words = device(name), words_of(figures.memory_places(name))
    assert f"{row.dram_gb_per_s:,.0f} GB/s" in words
    assert f"{row.shared_tb_per_s:.1f} TB/s" in words
    assert f"{row.capability.l1_and_shared_kib} KiB per SM" in words
    assert f"up to {row.capability.shared_per_sm_kib}" in words
    # Stars stand exactly where the data sheet is unsure.
    assert ("GB/s *" in words) == ("dram_gb_per_s" in row.unconfirmed)
    stars = words.count("*") - words.count("* second-hand")
    assert bool(stars) == ("* second-hand" in words)


@pytest.mark.slow
def test_strips_of_32_fit_nowhere_and_tiles_everywhere():
    alt = figures.strips_fit().alt
    assert "two tiles, 32 × 32, 8 KiB: fit everywhere" in alt
    assert "both strips, BM = 4, 128 KiB: fit A100-80, H100" in alt
    assert "both strips, BM = 32, 1 MiB: fit nowhere" in alt


def dots_of(picture):
    (axes,) = picture.figure.axes
    return {
        line.get_gid(): (line.get_xdata()[0], line.get_ydata()[0], line.get_marker(),
                         line.get_markerfacecolor() == line.get_markeredgecolor())
        for line in axes.lines
        if line.get_gid()
    }  # fmt: skip


def test_dots_stand_where_they_were_measured_or_hollow_on_the_roof():
    picture = figures.roofline_plot(
        "A6000",
        [
            Point("coalesced", 0.25, 1986.5, "requested", "published"),
            Point("DRAM bytes", 18, 1986.5, "DRAM", "published"),
            Point("naive", 0.25, None, "requested"),
            Point("beyond the ridge", 100, None, "through L1"),
        ],
    )
    dots = dots_of(picture)
    assert dots["coalesced"] == (0.25, 1986.5, "o", True)
    assert dots["DRAM bytes"] == (18, 1986.5, "D", True)
    assert dots["naive"] == (0.25, 192, "o", False)
    assert dots["beyond the ridge"] == (100, 38_700, "s", False)
    assert "50.4 FLOP per byte" in picture.alt


def test_threads_out_of_range_are_counted():
    picture = figures.grid_of_threads((3, 2), (4, 4), (7, 10), thread=((2, 1), (1, 2)))
    assert f"{12 * 8 - 7 * 10} threads are out of range" in picture.alt
    assert "column = 2 times 4 + 1 = 9, row = 1 times 4 + 2 = 6" in picture.alt
    assert "→ element [6, 9]" in words_of(picture)
    small = figures.grid_of_threads((1, 1), (4, 4), (5, 7))
    assert f"{5 * 7 - 16} elements have no thread" in small.alt
    outside = figures.grid_of_threads((1, 1), (4, 4), (3, 3), thread=((0, 0), (3, 3)))
    assert "[3, 3] is outside" in words_of(outside)


def test_requests_come_out_of_a_launch(strided, rows):
    down, along = figures.request_of(strided, "A"), figures.request_of(rows, "B")
    assert len(down.footprint().sectors) == 32
    assert len(along.footprint().sectors) == 4
    assert list(down.lanes) == list(range(32))
    broadcast = figures.request_of(rows, "A", warp=3, occurrence=5)
    assert len(broadcast.footprint().sectors) == 1
    # Row 3 of A, k = 5, in a matrix 8 wide.
    base = int(figures.request_of(rows, "A").addresses[0])
    assert int(broadcast.addresses[0]) - base == (3 * 8 + 5) * 4


def test_what_is_not_in_the_trace_is_named(rows):
    assert len(figures.request_of(rows, "C", kind="store").footprint().sectors) == 4
    with pytest.raises(ValueError, match="no load number 8 of A"):
        figures.request_of(rows, "A", occurrence=8)
    with pytest.raises(ValueError, match="trace=True"):
        figures.request_of(SimpleNamespace(trace=[]), "A")
    with pytest.raises(ValueError, match="One or two requests"):
        figures.warp_access()


def test_every_element_of_a_is_loaded_once_per_column_of_c(ragged):
    counts = element_counts(ragged)
    assert (counts["A"] == 5).all() and counts["A"].shape == (3, 7)
    assert (counts["B"] == 3).all() and counts["B"].shape == (7, 5)
    assert counts["A"].sum() == ragged.arrays["A"].loaded_elements
    alt = figures.matrix_reads(ragged).alt
    assert "A, 3 by 7: each loaded 5 times, 105 loaded in all" in alt
    alt = figures.matrix_reads(ragged, kind="store").alt
    assert "C, 3 by 5: each stored once" in alt and "A," not in alt


def test_a_value_of_a_feeds_a_row():
    assert "all 4 outputs in row 0 of C" in figures.sharing().alt
    assert "all 8 outputs in row 0 of C" in figures.sharing((5, 8, 6)).alt
    with pytest.raises(ValueError, match="too long"):
        figures.sharing((4, 40, 4))


def test_instructions_are_drawn_for_one_multiply_add():
    picture = figures.instruction_mix(
        {"plain": {"FFMA": 4, "integer": 6, "move": 2}, "lean": {"FFMA": 8, "shared load": 2}}
    )
    bars = bars_of(picture)
    work = bars["plain: multiply-adds"]
    assert bars["lean: multiply-adds"] == pytest.approx(work)
    assert bars["plain: integers: indices, mostly"] == pytest.approx(1.5 * work, rel=0.01)
    assert bars["plain: the rest"] == pytest.approx(0.5 * work, rel=0.01)
    assert bars["lean: shared loads"] == pytest.approx(0.25 * work, rel=0.01)
    assert "lean: 1.25 instructions, 80% of them multiply-adds; shared loads 0.25" in picture.alt
    with pytest.raises(ValueError, match="no multiply-add"):
        figures.instruction_mix({"copy": {"global load": 4}})


def test_line_counters_are_those_of_the_profile(race):
    names = ("global_load_sectors", "shared_load_wavefronts", "flops")
    bars = bars_of(figures.line_counters(race, names))
    for name in names:
        drawn = {
            int(label.split("line ")[1]): width
            for label, width in bars.items()
            if label.startswith(f"{name},")
        }
        counted = {
            number: getattr(counters, name)
            for number, counters in race.lines.items()
            if getattr(counters, name)
        }
        assert drawn.keys() == counted.keys()
        longest = max(counted, key=counted.get)
        for number, value in counted.items():
            assert drawn[number] / drawn[longest] == pytest.approx(
                value / counted[longest], rel=0.01
            )


def test_only_the_kernel_is_shown_of_a_cell_that_holds_more():
    source = (
        "TILE = 16\n\n\n@cuda.jit\ndef copy(A, B):\n"
        '    """Copy.\n\n    More words.\n    """\n    i = cuda.grid(1)\n\n    B[i] = A[i]\n\n\n'
        "copy[1, 32](A, B)\n"
    )
    profile = SimpleNamespace(
        source=source, first_line=1, kernel_name="copy", lines={12: SimpleNamespace(flops=7)}
    )
    words = words_of(figures.line_counters(profile, ("flops",)))
    assert "B[i] = A[i]" in words
    assert "@cuda.jit" in words
    assert "More words" not in words
    assert "TILE" not in words
    assert "copy[1, 32]" not in words
    assert "\n12\n" in words


def test_the_needed_order_is_the_programs_and_the_feared_one_its_reverse(race):
    found = next(each for each in race.findings if each.code == "race-read-after-write")
    picture = figures.barrier_timeline(found, race)
    writer, reader = found.threads[0][:2], found.threads[1][:2]
    assert (
        f"thread {reader} reads it at line {found.line} before thread {writer} writes it at "
        f"line {found.other_line}"
    ) in picture.alt
    words = words_of(picture)
    assert "acc += sA[ty, k] * sB[k, tx]" in words
    assert "cuda.syncthreads()" in words
    assert "warp 0" in words


def test_other_findings_are_no_race():
    other = finding("barrier-divergence", "told elsewhere", 5, threads=((0, 0, 0), (1, 0, 0)))
    with pytest.raises(ValueError, match="not a race"):
        figures.barrier_timeline(other)


def test_what_no_barrier_can_mend_is_not_told_to_take_one(races):
    one_line, two_lines, blocks_write, blocks_read = (
        figures.barrier_timeline(each.findings[0], each) for each in races
    )
    assert "cuda.syncthreads()" in two_lines.alt
    for picture in (one_line, blocks_write, blocks_read):
        assert "syncthreads" not in picture.alt + words_of(picture)
    assert "atomic" in one_line.alt
    assert "atomic" in blocks_write.alt
    assert "two launches" in blocks_read.alt
    assert "block (1, 0) reads it" in blocks_read.alt
    assert "before block (0, 0) writes it" in blocks_read.alt


@pytest.mark.parametrize("width", [1, 2, 3, 8, 32, 33])
def test_the_picture_of_banks_counts_as_the_emulator_does(width):
    addresses = figures.addresses_of(range(32), 0, width)
    cost = shared_cost(addresses[None], np.ones((1, 32), bool), 4)
    alt = figures.lane_to_bank(figures.Request("a column", addresses)).alt
    assert f"{cost.wavefronts} wavefront" in alt
    assert (f"{cost.bank_conflicts + 1}-way bank conflict" in alt) == (cost.bank_conflicts > 0)


@pytest.mark.parametrize(("stride", "share"), [(1, "100 %"), (2, "50 %"), (8, "12.5 %")])
def test_the_picture_of_sectors_counts_as_the_emulator_does(stride, share):
    addresses = figures.addresses_of(range(32), 0, stride)
    sectors = global_cost(addresses[None], np.ones((1, 32), bool), 4).sectors
    alt = figures.warp_access(figures.Request("a column", addresses)).alt
    assert f"{sectors} sectors in" in alt and f"128 of them used, {share}." in alt


def test_a_launch_that_fails_fills_no_budget():
    picture = figures.sm_budget("A6000", (1024, 65, 8192))
    assert "the launch fails" in words_of(picture) and "0 of 65,536" in words_of(picture)
    with pytest.raises(ValueError, match="not 0"):
        figures.sm_budget("A6000", {})


def test_the_climb_gives_every_measured_rung_its_reason_and_its_limit():
    picture = figures.climb()
    words = " ".join(words_of(picture).split())
    measured = measurements.load("H200")
    steps = ladders.steps(measured)
    for step in steps:
        assert f"{step.name} {step.tflops:.3g}: {step.why} {step.binds}" in picture.alt
        assert step.why in words and step.binds.replace("`", "") in words
    gains = [f"× {after.tflops / before.tflops:.2f}" for before, after in pairwise(steps)]
    assert measured.label in words and all(gain in words for gain in gains)
    shown = {step.name for step in ladders.steps(measured)}
    other_formats = {"tensor_core_f16", "tensor_core_tf32"}
    other_ways = {"tma_bf16"}  # of `tma`, as the `_while` rungs are of theirs
    rungs = {each.name.removesuffix("_while") for each in measured.entries if each.kind == "rung"}
    assert rungs - other_formats - other_ways == shown
