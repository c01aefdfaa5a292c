"""What lessons and their questions say in numbers, worked out or looked up once more."""

import json
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from course_lib import quiz
from course_lib.building import notebook
from course_lib.building.placed import in_markdown
from course_lib.curriculum import TASKS
from course_lib.emulator import Profile
from course_lib.measurements.memory import forms, levels
from course_lib.questions import of_lesson, predictions
from course_lib.questions.kinds import Number
from course_lib.questions.lesson_03 import RUN_SUMS, STRIDED_SUMS, WHO_AM_I
from course_lib.questions.prediction_card import html_of
from course_lib.questions.runs import ones, run
from course_lib.questions.slow_kernels import KERNELS, source, symptoms

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "03_coalescing.ipynb"
CELLS = {cell["id"]: notebook.source(cell) for cell in notebook.read(LESSON)["cells"]}
ASKS = {name: question.asks for name, question in of_lesson("03").items()}


def of_one_block(task: str) -> Profile:
    """One block of 32 × 32 threads multiplies 32 × 32 by 32 × 32."""
    return run(TASKS[task].answer, 1, (32, 32), *(ones(32, 32) for _ in range(3)))


def test_the_fall_in_sectors_is_the_one_that_was_counted() -> None:
    """Counted here, and by Nsight Compute; how much time it saves is another number."""
    before, after = of_one_block("naive_by_rows"), of_one_block("matmul_coalesced")
    fall = before.global_load_sectors / after.global_load_sectors
    assert f"{fall:.1f} times fewer sectors" in ASKS["03-faster"]
    assert levels("naive").l1_gb / levels("coalesced").l1_gb == pytest.approx(fall, rel=1e-3)
    saved = forms("naive")["Numba, range"].ms / forms("coalesced")["Numba, range"].ms
    assert saved < fall / 2


def test_what_a_step_touched_before() -> None:
    traffic = of_one_block("naive_by_rows").arrays
    per_request = {name: traffic[name].load_sectors // traffic[name].load_requests for name in "AB"}
    assert "{A} sectors of A and {B} of B".format(**per_request) in ASKS["03-step"]


def test_both_ways_of_adding_up_load_as_often() -> None:
    mine, theirs = (run(text, 2, 32, ones(1024), ones(64)) for text in (STRIDED_SUMS, RUN_SUMS))
    assert mine.global_load_requests == theirs.global_load_requests
    assert mine.global_load_bytes == theirs.global_load_bytes == 4 * 1024
    assert "1,024 numbers" in ASKS["03-own-run"]


def test_the_first_warp_of_a_block_is_two_rows() -> None:
    lanes = np.zeros((16, 16), np.int32)
    run(WHO_AM_I, 1, (16, 16), lanes)
    assert sorted(lanes[:2].reshape(-1)) == list(range(32))
    assert "`threadIdx.y` 0 and 1" in CELLS["lanes"]


def test_bytes_are_merged_in_the_warp_before_any_cache() -> None:
    """37.5 % of them along a row; the review found this share credited to the caches."""
    seen, counted = levels("coalesced"), of_one_block("matmul_coalesced")
    merged = 1 - 32 * counted.global_load_sectors / counted.global_load_bytes
    assert 1 - seen.l1_gb / seen.requested_gb == pytest.approx(merged, abs=1e-3)
    assert "**before** they reach any cache" in CELLS["h200-read"]


@pytest.mark.parametrize("kernel", ["naive", "coalesced"])
def test_dram_had_little_to_do(kernel: str) -> None:
    seen = levels(kernel)
    assert seen.dram_ms < seen.ms / 20
    assert seen.dram_gb < seen.requested_gb / 50
    assert "DRAM had little to do in either kernel" in CELLS["h200-read"]


def test_what_can_be_taught_is_what_the_function_counts() -> None:
    sectors = TASKS["sectors"].reference
    assert sectors is not None
    neighbours, column = sectors(1, 0), sectors(64, 0)
    taught = CELLS["teach"]
    assert f"{neighbours} sectors if the lanes read 32 neighbouring float32 numbers" in taught
    assert f"{column} sectors if they read down a column" in taught


ROOT = Path(__file__).resolve().parents[2]
BENCH = json.loads((ROOT / "course_lib/measurements/H200.json").read_text())


def gflops(name):
    """Of a rung in Python, at 4096 x 4096."""
    (entry,) = [e for e in BENCH["entries"] if (e["name"], e["kind"]) == (name, "rung")]
    samples = next(c for c in entry["cells"] if c["size"] == 4096)["samples_ms"]
    return 2 * 4096**3 / median(samples) / 1e6


CUBLAS_MS = min(
    median(cell["samples_ms"])
    for entry in BENCH["entries"]
    if entry["kind"] == "cuBLAS" and entry["precision"] == "bfloat16"
    for cell in entry["cells"]
    if cell["size"] == 4096
)
WORKED_OUT = {
    "06-few-tiles": 100 * 256 / (132 * 8),
    "06-blocks": min(64 // 32, 4 * (16_384 // 1024) // 32, 233_472 // (8192 + 1024), 32),
    "06-dynamic": 2,  # both arrays are the launch's one piece of memory: the last store counts
    "06-one-more": min(64 // 32, 4 * (16_384 // 1280) // 32, 233_472 // (8192 + 1024), 32),
    "06-means": gflops("register_1d") / gflops("tiled"),
    "12-naive": 2 / (4 + 4),
    "12-sectors": len({(4 * 1024 * lane + 28) // 32 for lane in range(32)}),
    "12-requested": 4096 / 32,
    "12-h100": 100 * 32 / 64,
    "12-stride": max([24 * lane % 32 for lane in range(32)].count(bank) for bank in range(32)),
    "12-eight-by-eight": 16 / 64,
    "12-climb": gflops("tma_bf16") / gflops("naive"),
    "12-funnel": 989.4 * 2 / (132 * 128 * 1980e6 / 1e12),
    "12-fuse": 100
    / (1 + CUBLAS_MS / (2 * 2 * 2 * 4096**2 / BENCH["measured_roofs"]["dram_gb_per_s"] / 1e6)),
    "12-fragment": 8 / 2,
    "12-rescale": 0.1353352832,
    "12-unfused": 129,
    "12-merge": 100 / (1 + 0.1353352832),
}


def test_the_numbers_are_what_they_should_be():
    asked = {**of_lesson("06"), **of_lesson("12")}
    numbers = {name: each.value() for name, each in asked.items() if isinstance(each, Number)}
    assert numbers == pytest.approx(WORKED_OUT)


RIGHT = (
    lambda A: A.sum(axis=1),
    lambda x: x.reshape(-1, 16).sum(axis=1),
    lambda x: np.convolve(x, np.ones(32) / 32, "valid"),
)


@pytest.mark.parametrize("number", (1, 2, 3))
def test_it_is_right_and_without_findings_of_order_or_memory(number: int) -> None:
    kernel = KERNELS[number - 1]
    given = np.random.default_rng(number).random(kernel.reads, np.float32)
    out = np.zeros(kernel.writes, np.float32)
    profile = run(source(number), kernel.grid, kernel.block, given, out)
    assert np.allclose(out, RIGHT[number - 1](given.astype(np.float64)), rtol=1e-5)
    assert not [each for each in profile.findings if each.severity == "error"]


def test_each_report_has_one_line_that_stands_out() -> None:
    first, second, third = map(symptoms, (1, 2, 3))
    assert (first.load_sectors, first.times_loaded, first.wavefronts) == (32, 1, 0)
    assert (second.load_sectors, second.times_loaded, second.wavefronts) == (4, 1, 16)
    assert third.times_loaded == pytest.approx(32, rel=1e-2)  # those at the ends fewer times
    assert third.wavefronts == 0 and third.load_sectors < 5
    for each in (first, second, third):
        assert (each.store_sectors, each.branch_efficiency) == (4, 1)


def test_rows_of_17_words_leave_no_queue() -> None:
    kernel = KERNELS[1]
    mended = source(2).replace("(128, 16)", "(128, 17)")
    given, out = np.ones(kernel.reads, np.float32), np.zeros(kernel.writes, np.float32)
    profile = run(mended, kernel.grid, kernel.block, given, out)
    assert profile.shared_load_bank_conflicts == 0


@pytest.mark.parametrize("number, name", [*enumerate(("first", "second", "third"), 1)])
def test_its_source_comes_only_with_the_answer(
    number: int, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    asked, listing = f"08b-{name}-unknown", source(number).strip()
    question = predictions("08b")[asked]
    quiz.predict(asked, ...)
    assert not shown and listing not in capsys.readouterr().out + in_markdown(question)
    quiz.predict(asked, "d")
    assert listing in repr(shown[0])
    card = html_of(question)
    assert card.index('<details class="fold">') < card.index(listing.splitlines()[-1].strip())
