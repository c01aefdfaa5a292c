"""What is drawn are the numbers that were given, with words, the same every time."""

import base64
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace

import IPython.display
import matplotlib
import numpy as np
import pytest
from child import python
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course_lib import curriculum, figures, measurements
from course_lib.devices import device
from course_lib.emulator.profile.request_costs import global_cost, shared_cost
from course_lib.figures import ladders
from course_lib.figures.accesses import element_counts
from course_lib.figures.interactive import still
from course_lib.figures.interactive.scene import known_classes
from course_lib.figures.stored import STORED, markdown, write_stored
from course_lib.figures.style import short_bytes
from course_lib.own_ladder import OwnRung, whole_ladder
from course_lib.roofline import Point
from course_lib.wording.findings import finding


@pytest.fixture
def shown(monkeypatch):
    """What was displayed: (data, metadata) of each output."""
    outputs = []

    def display(data, metadata=None, raw=False):
        outputs.extend([(data, metadata)] if raw else [])

    monkeypatch.setattr(IPython.display, "display", display)
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


def test_a_picture_is_the_same_whatever_is_set_and_says_nothing_of_when_it_was_made(tmp_path):
    plain = figures.roofline_plot("T4").png()
    wild = {"font.size": 30, "axes.facecolor": "red", "lines.linewidth": 9, "savefig.dpi": 20}
    with matplotlib.rc_context(wild):
        assert figures.roofline_plot("T4").png() == plain
    path = figures.ladder().save(tmp_path / "ladder.png")
    png = path.read_bytes()
    assert png == figures.ladder().png() and b"Software" not in png and b"tIME" not in png


@pytest.mark.slow
def test_drawing_needs_no_pyplot():
    code = "import sys, course_lib.figures as f; f.ladder().png()\n"
    assert python("-c", f"{code}print('pyplot' in str(sys.modules))").stdout.strip() == "False"


@pytest.mark.parametrize(
    ("count", "text"), [(96, "96 B"), (131_072, "131.1 kB"), (549.8e9, "549.8 GB"), (17e9, "17 GB")]
)
def test_short_bytes(count, text):
    assert short_bytes(count) == text


ROOT = Path(__file__).parents[2]


def test_pictures_are_written_where_they_belong_and_markdown_carries_the_words(tmp_path):
    paths = write_stored(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == list(STORED)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    line = markdown("docs/images/ladder.png")
    assert line.startswith("![The ladder of kernels from slow to fast")
    assert line.endswith("](docs/images/ladder.png)")


@pytest.mark.workshop
@pytest.mark.parametrize("name", STORED)
def test_the_stored_picture_is_not_of_yesterday(name):
    # Bytes differ between versions of matplotlib; width and height do not.
    size_of = slice(16, 24)
    assert (ROOT / name).read_bytes()[size_of] == STORED[name]().png()[size_of]


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


def labels_of(picture):
    (axes,) = picture.figure.axes
    return {each.get_text(): each.xy for each in axes.texts}


@pytest.mark.parametrize("gpu", ["H100", "H200", "B200", "A6000"])
def test_each_roof_stands_at_its_height_and_each_ridge_below_its_corner(gpu):
    row, labels = device(gpu), labels_of(figures.roofs_of_formats(gpu))
    rates = {"float32": row.fp32_tflops, "TF32": row.tf32_tflops, "16 bits": row.fp16_tflops}
    for name, tera in rates.items():
        assert labels[f"{name} {tera:,.1f} TFLOP/s"][1] == tera * 1000
        ridge = tera * 1000 / row.dram_gb_per_s
        assert labels[f"{ridge:.0f}"][0] == pytest.approx(ridge)


def test_the_labels_of_equally_fast_kernels_stand_apart():
    fast = (748, 431, 778, 694)
    points = [Point(f"rung {tera}", 85, 1000.0 * tera, "requested") for tera in fast]
    picture = figures.roofs_of_formats("H200", points)
    renderer = FigureCanvasAgg(picture.figure).get_renderer()
    rungs = (t for t in picture.figure.axes[0].texts if t.get_text().startswith("rung"))
    boxes = [text.get_window_extent(renderer) for text in rungs]
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


def bars_of(picture):
    """Name -> width of every bar that has a name."""
    (axes,) = picture.figure.axes
    named = (bar for bar in axes.patches if bar.get_label() and bar.get_label()[0] != "_")
    return {bar.get_label(): bar.get_width() for bar in named}


def words_of(picture):
    """All that is written in a picture, one text a line."""
    texts = [*picture.figure.texts]
    for axes in picture.figure.axes:
        texts += axes.texts
    return "\n".join(each.get_text() for each in texts)


def test_bars_of_the_ladder_are_shares_of_cublas_and_one_rung_is_lit_or_none():
    picture = figures.ladder("tiled")
    bars = bars_of(picture)
    longest = bars["warp_tiled"] / 0.9368
    for rung in curriculum.RUNGS:
        assert bars[rung.name] / longest == pytest.approx(rung.share_of_cublas, rel=0.01)
    assert "309 (1.3%)" in picture.alt
    assert "×6.4" in words_of(picture)
    assert "not measured by us" in words_of(picture)
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
    points = {
        Point("coalesced", 0.25, 1986.5, "requested", "published"): (0.25, 1986.5, "o", True),
        Point("DRAM bytes", 18, 1986.5, "DRAM", "published"): (18, 1986.5, "D", True),
        Point("naive", 0.25, None, "requested"): (0.25, 192, "o", False),
        Point("beyond the ridge", 100, None, "through L1"): (100, 38_700, "s", False),
    }
    picture = figures.roofline_plot("A6000", list(points))
    dots = dots_of(picture)
    assert all(dots[point.label] == dot for point, dot in points.items())
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


def test_requests_come_out_of_a_launch_and_what_is_not_traced_is_named(strided, rows):
    down, along = figures.request_of(strided, "A"), figures.request_of(rows, "B")
    assert len(down.footprint().sectors) == 32
    assert len(along.footprint().sectors) == 4
    assert list(down.lanes) == list(range(32))
    broadcast = figures.request_of(rows, "A", warp=3, occurrence=5)
    assert len(broadcast.footprint().sectors) == 1
    # Row 3 of A, k = 5, in a matrix 8 wide.
    base = int(figures.request_of(rows, "A").addresses[0])
    assert int(broadcast.addresses[0]) - base == (3 * 8 + 5) * 4
    assert len(figures.request_of(rows, "C", kind="store").footprint().sectors) == 4
    with pytest.raises(ValueError, match="no load number 8 of A"):
        figures.request_of(rows, "A", occurrence=8)
    with pytest.raises(ValueError, match="trace=True"):
        figures.request_of(SimpleNamespace(trace=[]), "A")
    with pytest.raises(ValueError, match="One or two requests"):
        figures.warp_access()


def test_each_element_is_loaded_as_often_as_it_feeds_an_output(ragged):
    counts = element_counts(ragged)
    assert (counts["A"] == 5).all() and counts["A"].shape == (3, 7)
    assert (counts["B"] == 3).all() and counts["B"].shape == (7, 5)
    assert counts["A"].sum() == ragged.arrays["A"].loaded_elements
    alt = figures.matrix_reads(ragged).alt
    assert "A, 3 by 7: each loaded 5 times, 105 loaded in all" in alt
    alt = figures.matrix_reads(ragged, kind="store").alt
    assert "C, 3 by 5: each stored once" in alt and "A," not in alt
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
        own = [label for label in bars if label.startswith(f"{name},")]
        drawn = {int(label.split("line ")[1]): bars[label] for label in own}
        counted = {number: getattr(counters, name) for number, counters in race.lines.items()}
        counted = {number: value for number, value in counted.items() if value}
        most = max(counted.values())
        widest = max(drawn.values())
        shares = {number: width / widest for number, width in drawn.items()}
        assert shares == pytest.approx({n: value / most for n, value in counted.items()}, rel=0.01)


def test_only_the_kernel_is_shown_of_a_cell_that_holds_more():
    source = (
        "TILE = 16\n\n\n@cuda.jit\ndef copy(A, B):\n"
        '    """Copy.\n\n    More words.\n    """\n    i = cuda.grid(1)\n\n    B[i] = A[i]\n\n\n'
        "copy[1, 32](A, B)\n"
    )
    lines = {12: SimpleNamespace(flops=7)}
    profile = SimpleNamespace(source=source, first_line=1, kernel_name="copy", lines=lines)
    words = words_of(figures.line_counters(profile, ("flops",)))
    assert "B[i] = A[i]" in words and "@cuda.jit" in words and "\n12\n" in words
    assert not any(left_out in words for left_out in ("More words", "TILE", "copy[1, 32]"))


def test_the_needed_order_is_the_programs_and_the_feared_one_its_reverse(race):
    found = next(each for each in race.findings if each.code == "race-read-after-write")
    picture = figures.barrier_timeline(found, race)
    writer, reader = found.threads[0][:2], found.threads[1][:2]
    said = f"thread {reader} reads it at line {found.line} before thread {writer} writes it at "
    assert f"{said}line {found.other_line}" in picture.alt
    written = words_of(picture)
    drawn = ("total += sA[ty, k] * sB[k, tx]", "cuda.syncthreads()", "warp 0")
    assert all(words in written for words in drawn)
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
    assert "atomic" in one_line.alt and "atomic" in blocks_write.alt
    for words in ("two launches", "block (1, 0) reads it", "before block (0, 0) writes it"):
        assert words in blocks_read.alt


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
    # Other formats, and another way of `tma`, as the `_while` rungs are of theirs.
    others = {"tensor_core_f16", "tensor_core_tf32", "tma_bf16"}
    rungs = {each.name.removesuffix("_while") for each in measured.entries if each.kind == "rung"}
    assert rungs - others == {step.name for step in steps}
