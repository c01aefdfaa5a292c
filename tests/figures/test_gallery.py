"""What holds for every picture: words, size, nothing cut off, nothing written over something."""

import inspect
import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from sampling import marks

from course_lib import figures
from course_lib.answer_text.context import our_kernel, used_by
from course_lib.curriculum import RUNGS, TASKS
from course_lib.devices import Ceilings
from course_lib.emulator import emulate, load_program, names_around
from course_lib.figures.small_launch import NoPicture
from course_lib.kernels import RUNG_KERNELS
from course_lib.measurements import Cell, Entry, Measurements
from course_lib.measurements.memory import in_flight
from course_lib.own_ladder import whole_ladder
from course_lib.registry.kinds import TileKind
from course_lib.roofline import Point
from course_lib.shown_answers import ours

A = np.arange(16).reshape(4, 4)
WIDEST = ("T4", "5090")  # the longest names, the extremes of every number
MEASURED = Ceilings("some GPU, measured here", 7000.0, 250.0, "measured here", "data sheet")
POINTS = [
    Point("naive", 0.25, 309.0, "requested", "published: somewhere"),
    Point("coalesced", 0.25, 1986.5, "requested", "published: somewhere"),
    Point("tiled", 8, 2980.3, "requested", "published: somewhere"),
    Point("coalesced", 18, 1986.5, "DRAM", "published: somewhere"),
    Point("through L1", 3, None, "through L1"),
]
# The last one stands beside the ridge's own label.
HOLLOW = [Point(f"T = {T}", T / 4, None, "requested") for T in (1, 16, 32, 128)]
STAIRS = figures.Request("sA[x, x]", figures.addresses_of(range(32), range(32), 32), array="sA")
BANKED = figures.Request("sB[x, 0]", figures.addresses_of(range(32), 0, 32), array="sB")
WIDE = figures.Request("16 bytes a lane", figures.addresses_of(0, range(0, 128, 4), 128))
FEW = figures.Request("three lanes", (1 << 30, (1 << 30) + 64, (1 << 30) + 4), lanes=(0, 5, 31))
THREAD, LARGE = ((1, 0), (2, 3)), ((2, 3), (32, 32), (64, 96))
COLUMN = figures.Request("down a column", figures.addresses_of(range(32), 0, 4096), array="A")
ROW = figures.Request("along a row", figures.addresses_of(0, range(32), 4096), array="B")
MISALIGNED = figures.Request("misaligned", figures.addresses_of(0, range(3, 35), 4096))
LOOPS = {
    "coalesced": {"integer": 122, "global load": 8, "FFMA": 4, "control": 1},
    "register_2d": {"FFMA": 512, "shared load": 32, "global load": 8, "integer": 40},
    "16 x 16": {"FFMA": 256, "shared load": 20, "local": 66, "integer": 17, "move": 6},
}

MADE_UP = {  # milliseconds at 4096, and the tile
    "naive": (300.0, (32, 32, 1)), "coalesced": (100.0, (32, 32, 1)), "tiled": (18.0, (32, 32, 32)),
    "register_1d": (9.0, (64, 64, 8)), "register_2d": (4.2, (128, 128, 8)),
    "double_buffered": (3.4, (128, 128, 8)), "cp_async": (2.9, (128, 128, 16)),
    "cuBLAS float32": (2.7, ()),
}  # fmt: skip
CLIMBED = Measurements(
    device="NVIDIA Example",
    short_name="H200",
    date="2026-11-20",
    measured_roofs={"fp32_gflops": 65000.0, "dram_gb_per_s": 4200.0},
    entries=tuple(
        Entry(name, "cuBLAS" if " " in name else "rung", "float32", (Cell(4096, (ms,)),), tile)
        for name, (ms, tile) in MADE_UP.items()
    ),
)


def climbed(count, of="product"):
    """A student's ladder with so many rungs, with the widest numbers and a time."""
    timed = {"milliseconds": 0.123456, "gpu": "GeForce RTX 4070 Ti SUPER Laptop", "passed": True}
    rungs, counts = [*whole_ladder(of=of)], itertools.cycle((262_144, 32_768, 64))
    for place, sectors in zip(range(min(count, len(rungs))), counts, strict=False):
        rungs[place] = replace(rungs[place], yours={"global_load_sectors": sectors}, **timed)
    return rungs


WITH_PICTURE = [name for name, task in TASKS.items() if task.has_picture]
# Every public picture, in the forms that the lessons use and at the edges of what it takes.
GALLERY = {
    "ladder": lambda: figures.ladder(),
    "ladder-measured": lambda: figures.ladder("cp_async", speeds=CLIMBED.speeds()),
    "measured_roofline": lambda: figures.measured_roofline(CLIMBED),
    "measured_roofline-data-sheet": lambda: figures.measured_roofline(
        replace(CLIMBED, measured_roofs={}), rungs=["naive", "tiled", "cp_async"]
    ),
    "ladder-last": lambda: figures.ladder(RUNGS[-1].name),
    "threads_in_flight": lambda: figures.threads_in_flight(in_flight()),
    **{f"memory_places-{name}": lambda n=name: figures.memory_places(n) for name in WIDEST},
    **{f"roofline_plot-{name}": lambda n=name: figures.roofline_plot(n) for name in WIDEST},
    "roofline_plot-points": lambda: figures.roofline_plot("A6000", POINTS),
    "roofline_plot-hollow": lambda: figures.roofline_plot("H100", HOLLOW),
    "roofline_plot-measured": lambda: figures.roofline_plot(MEASURED, POINTS[:2]),
    "grid_of_threads": lambda: figures.grid_of_threads((3, 2), (4, 4), (7, 10), thread=THREAD),
    "grid_of_threads-flat": lambda: figures.grid_of_threads((3, 1), (4, 1), (1, 10)),
    "grid_of_threads-large": lambda: figures.grid_of_threads(*LARGE, x_is="row"),
    "grid_of_threads-missed": lambda: figures.grid_of_threads((1, 1), (4, 4), (5, 7)),
    "warp_access": lambda: figures.warp_access(COLUMN, ROW),
    "warp_access-one": lambda: figures.warp_access(MISALIGNED),
    "lane_to_bank": lambda: figures.lane_to_bank(STAIRS),
    "lane_to_bank-worst": lambda: figures.lane_to_bank(BANKED),
    "lane_to_bank-wide": lambda: figures.lane_to_bank(WIDE, itemsize=16),
    "lane_to_bank-few": lambda: figures.lane_to_bank(FEW),
    "matrix_reads": lambda: figures.matrix_reads({"A": A, "B": A[:, :3], "C": np.ones((5, 6))}),
    "matrix_reads-large": lambda: figures.matrix_reads({"A": np.full((64, 64), 16)}),
    "strips_fit": lambda: figures.strips_fit(),
    "swizzled_rows": lambda: figures.swizzled_rows(lambda r, piece: r * 64 + (piece ^ r % 8) * 8),
    "sharing": lambda: figures.sharing(),
    "sharing-largest": lambda: figures.sharing((16, 16, 16)),
    "block_tiles": lambda: figures.block_tiles((64, 96, 64), 16, block=(2, 1), step=1),
    "block_tiles-uneven": lambda: figures.block_tiles((8, 8, 8), (4, 4, 2), block=(1, 0)),
    "climb": lambda: figures.climb(),
    "funnel": lambda: figures.funnel(),
    "sm_budget": lambda: figures.sm_budget("A6000", (1024, 37, 8192)),
    "sm_budget-fails": lambda: figures.sm_budget("A6000", (1024, 65, 8192)),
    "sm_budget-many": lambda: figures.sm_budget("H100", (32, 16, 0)),
    "sm_budget-three": lambda: figures.sm_budget(
        "H100", {"T = 16": (256, 38, 2048), "T = 32": (1024, 37, 8192), "async": (384, 168, 196608)}
    ),
    "instruction_mix": lambda: figures.instruction_mix(LOOPS),
    "instruction_mix-one": lambda: figures.instruction_mix({"coalesced": LOOPS["coalesced"]}),
    "attention_tiles": lambda: figures.attention_tiles(),
    "roofs_of_formats": lambda: figures.roofs_of_formats("T4"),
    "roofs_of_formats-points": lambda: figures.roofs_of_formats(
        "H200", [Point("a", 85, None, "requested"), Point("b", 85, 7e5, "requested", "somewhere")]
    ),
    "errors_of_formats": lambda: figures.errors_of_formats({"tf32": {32: 6e-4, 512: 7e-4}}),
    "errors_of_formats-measured": lambda: figures.errors_of_formats(
        {"float32": {32: 1e-7}, "own": {32: 1e-3}}, {"bfloat16": {8192: 2e-3}}, measured_on="GPU"
    ),
    **{f"wanted-{name}": lambda n=name: figures.wanted(n) for name in WITH_PICTURE},
    "my_ladder": lambda: figures.my_ladder(climbed(0)),
    "my_ladder-half": lambda: figures.my_ladder(climbed(3)),
    "my_ladder-whole": lambda: figures.my_ladder(climbed(99)),
    "my_ladder-softmax": lambda: figures.my_ladder(climbed(3, "row softmax"), of="row softmax"),
}
NARROW = ("own_run", "wanted", "warp_pieces")  # as wide as what they show; others fill the column
# Of the tasks, with their pictures: a kind of picture shows many of them. `--long` looks at all.
FAST_ONE_IN, SLOW_ONE_IN = 40, 8
FROM_RUNS = (
    "barrier_timeline", "line_counters", "tiles_in_time", "warp_access", "warp_pieces",
    "matrix_reads", "own_run",
)  # fmt: skip


def one_tile(rung):
    """A traced run of a rung on one tile of C, two tiles deep."""
    rows, columns, depth = RUNG_KERNELS[rung].tile
    A, B = np.ones((rows, 2 * depth), np.float32), np.ones((2 * depth, columns), np.float32)
    C = np.empty((rows, columns), np.float32)
    return emulate(RUNG_KERNELS[rung].kernel, trace=True)[1, RUNG_KERNELS[rung].block](A, B, C)


def from_runs(race, rows, strided, ragged):
    """The same, drawn from launches."""
    return {
        "tiles_in_time": figures.tiles_in_time({"vectorised": one_tile("vectorised")}, steps=8),
        "warp_pieces": figures.warp_pieces({"rows": rows, "strided": strided}),
        "warp_pieces-three": figures.warp_pieces({"a": ragged, "b": race, "c": rows}),
        "barrier_timeline": figures.barrier_timeline(race.findings[0], race),
        "line_counters": figures.line_counters(
            race, ("global_load_sectors", "shared_load_wavefronts", "flops")
        ),
        "line_counters-untitled": figures.line_counters(
            race, ("shared_load_requests", "shared_store_requests", "active_lanes", "flops")
        ),
        "warp_access": figures.warp_access(
            figures.request_of(strided, "A"), figures.request_of(rows, "A")
        ),
        "matrix_reads": figures.matrix_reads(ragged),
    }


def picture_functions() -> set[str]:
    public = ((name, getattr(figures, name)) for name in figures.__all__)
    made = {name: inspect.signature(each) for name, each in public if inspect.isfunction(each)}
    return {name for name, each in made.items() if "Picture" in str(each.return_annotation)}


def test_every_picture_is_in_the_gallery():
    assert picture_functions() == {name.split("-")[0] for name in (*GALLERY, *FROM_RUNS)}


# Each of these is drawn as no other task is.
ONE_OF_A_KIND = (
    "bytes_in_flight", "convolve", "eight_by_eight", "share_of_peak", "stage_a", "staged_bytes",
    "tl_copy",
)  # fmt: skip
OF_TASKS = {n: marks(at, fast=FAST_ONE_IN, slow=SLOW_ONE_IN) for at, n in enumerate(TASKS)}
OF_TASKS |= {name: [pytest.mark.slow] for name in ONE_OF_A_KIND}
# The first form of each picture is in the fast set; the others stand beside it in `--all`.
FIRST_FORMS = {name.split("-")[0]: name for name in reversed(GALLERY)}.values()


def marks_of(name):
    kind, _, form = name.partition("-")
    if name in FIRST_FORMS:
        return []
    return OF_TASKS[form] if kind == "wanted" else [pytest.mark.slow]


@pytest.mark.parametrize("name", [pytest.param(each, marks=marks_of(each)) for each in GALLERY])
def test_picture(name):
    first = name.split("-")[0]
    more = {"words": 1800, "height": 800} if first == "climb" else {}
    more |= {"height": 850} if first == "my_ladder" else {}  # twelve rungs, each with its bar
    more |= {"height": 740} if first in ("warp_access", "lane_to_bank") else {}  # 32 rows of boxes
    look_at(GALLERY[name](), is_narrow=first in NARROW, **more)


@pytest.mark.slow
def test_pictures_from_runs(race, rows, strided, ragged, write_after_read, races):
    drawn = from_runs(race, rows, strided, ragged)
    drawn["barrier_timeline-bare"] = figures.barrier_timeline(write_after_read)
    for place, each in enumerate(races):
        drawn[f"barrier_timeline-{place}"] = figures.barrier_timeline(each.findings[0], each)
    for name, picture in drawn.items():
        is_narrow = name.split("-")[0] in NARROW
        look_at(picture, is_narrow, height=1100 if name.startswith("warp_pieces") else 700)


@pytest.mark.parametrize("name", [pytest.param(n, marks=each) for n, each in OF_TASKS.items()])
def test_own_runs(name):
    task = TASKS[name]
    if task.is_large and task.values is None and not isinstance(task.kind, TileKind):
        with pytest.raises(NoPicture, match="too many elements"):
            figures.own_run(name, own_answer(task))
        return
    look_at(figures.own_run(name, own_answer(task)), is_narrow=task.values is None)


def own_answer(task):
    """The answer to a task as a student's own; where it is called, the function itself."""
    if isinstance(task.kind, TileKind):
        return ours(task.id)
    if task.values is None and not task.caller:
        return our_kernel(task)
    around = names_around(used_by(task)) if task.caller else None
    text = f"from numba import cuda, float32\n{task.answer}"
    return load_program(text, surroundings=around).kernel(task.id)


def look_at(picture, is_narrow=False, words=1200, height=700):
    """All that can be seen without eyes. The climb says two sentences of each of its rungs, and
    maps of lanes stand one below the other."""
    assert isinstance(picture, figures.Picture)
    assert 20 < len(picture.alt) < words
    assert "\n" not in picture.alt
    assert "  " not in picture.alt
    # PNG's own bytes: width and height stand at a fixed place.
    png = picture.png()
    assert len(png) < 180_000  # the page of the whole climb is mostly words
    width = int.from_bytes(png[16:20], "big")
    assert 400 < width <= 836 if is_narrow else width == 836
    assert int.from_bytes(png[20:24], "big") < height
    boxes = written(picture)
    assert boxes
    assert_inside(picture, boxes)
    assert_apart(boxes)


def written(picture):
    """(text, extent) of everything that is written in a picture."""
    renderer = FigureCanvasAgg(picture.figure).get_renderer()
    unused = switched_off(picture.figure)
    texts = [each for each in picture.figure.findobj(Text) if id(each) not in unused]
    texts = [each for each in texts if each.get_visible() and each.get_text().strip()]
    # A cell has room for three digits of that size; a fourth one, or a point, makes them smaller.
    for each in texts:
        is_number = each.get_text().replace(".", "", 1).isdigit()
        assert each.get_fontsize() >= (6.5 if is_number else 9), each.get_text()
    return [(each, each.get_window_extent(renderer)) for each in texts]


def switched_off(figure):
    """The texts that aren't drawn: axes that are switched off still own those of their scales."""
    return {
        id(text)
        for axes in figure.axes
        if not axes.axison
        for text in (*axes.xaxis.findobj(Text), *axes.yaxis.findobj(Text), axes.title)
    }


def assert_inside(picture, boxes):
    card = picture.figure.bbox
    for text, box in boxes:
        inside = box.x0 >= 1 and box.y0 >= 1 and box.x1 <= card.x1 - 1 and box.y1 <= card.y1 - 1
        assert inside, f"{text.get_text()!r} is cut off"


def assert_apart(boxes):
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        if one.get_rotation() % 90 or other.get_rotation() % 90:
            continue  # a slanted text's extent is far larger than the text
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Boxes around letters have air at the top and at the bottom.
        assert wide < 2 or high < 4, f"{one.get_text()!r} is written over {other.get_text()!r}"
