"""The ablation of rung 12: who takes part, how shares come about, and what is stored."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from by_path import module_at

from course_lib.measurements import ablation as stored
from course_lib.measurements import files
from course_lib.measurements.ablation import SAMPLES, STEPS, ablation

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "tma_ablation.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return module_at(SCRIPT)


def test_a_share_is_of_the_same_round(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that falls from round to round changes the times, and no share."""
    clock = (1.0, 1.5, 2.0)
    ms = {"cublas_bf16": clock, "tma": [2 * t for t in clock], "bf16": [0.5 * t for t in clock]}
    results = {"cublas_bf16": "bfloat16", "tma": "float32", "bf16": "bfloat16"}
    rows = list(benchmark.rows(1024, SAMPLES, ms, results))
    assert [row["share"] for row in rows] == [[1, 1], [0.5, 0.5], [2, 2]]
    assert rows[1]["ms"] == 3 and rows[1]["tflops"] == pytest.approx(2 * 1024**3 / 3e9, abs=0.1)
    head = {"device": "NVIDIA Example", "timed": "2026-11-23", "kernel": "rung"}
    files.store(tmp_path, "Example", {**head, "rows": rows[1:]})
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    read = ablation(1024, device="Example")
    assert [each.name for each in read.steps] == ["tma", "bf16"]
    assert read.step("bf16").middle == 2 and read.label == "NVIDIA Example, 2026-11-23"


def test_under_load_only_what_follows_the_warm_up_counts(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU that takes 1 ms for a product, and 2 ms once it has worked for two seconds."""
    now = 0.0

    class Event:
        def record(self) -> None:
            self.at = now

        def synchronize(self) -> None: ...

        def elapsed_time(self, later: Event) -> float:
            return later.at - self.at

    def launch() -> None:
        nonlocal now
        now += 1.0 if now < benchmark.WARM_UP_MS else 2.0

    monkeypatch.setattr(benchmark, "cuda", SimpleNamespace(event=Event))
    assert benchmark.loaded_ms(launch, ms=1.0) == 2.0
    assert now >= benchmark.WARM_UP_MS + benchmark.COUNTED_MS


@pytest.mark.parametrize("size", [4096, 8192])
def test_what_is_stored_has_every_step(size: int) -> None:
    found = ablation(size)
    assert [each.name for each in found.steps] == [*STEPS, "cublas_f32"]
    assert all(0.5 < each.share[0] <= each.share[1] < 1.5 for each in found.steps)
    assert all(each.name in str(found) for each in found.steps)
    assert [each.result for each in found.steps[-3:]] == ["bfloat16", "bfloat16", "float32"]


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(KeyError, match=r"there are: .*4096"):
        ablation(77)
    with pytest.raises(KeyError, match="there are: H200"):
        ablation(4096, device="T4")
