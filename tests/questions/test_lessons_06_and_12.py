"""The numbers of lessons 06 and 12, worked out apart from the course's own formulas."""

import json
from pathlib import Path
from statistics import median

import pytest

from course_lib.questions import of_lesson
from course_lib.questions.kinds import Number

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
