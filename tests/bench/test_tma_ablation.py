"""The ablation of rung 12: who takes part, how shares come about, and what is stored."""

from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from by_path import module_at

from course_lib.measurements.ablation import STEPS, ablation

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "tma_ablation.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return module_at(SCRIPT)


def test_under_load_only_what_follows_the_warm_up_counts(benchmark, monkeypatch):
    """A GPU that takes 1 ms for a product, and 2 ms once it has worked for two seconds."""
    now = 0.0

    class Event:
        def record(self) -> None:
            self.at = now

        def synchronize(self) -> None: ...

        def elapsed_time(self, later: "Event") -> float:
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
