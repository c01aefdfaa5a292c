"""The tuner on a GPU of paper: who wins at which size, what is stored, what is launched then."""

from types import SimpleNamespace

import numpy as np
import pytest
from fake_gpu import FakeGpu

from course_lib.bench import contestants, fingerprints, tuner
from course_lib.commands import bench, bench_runs
from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS, InputsRefused
from course_lib.kernels.tuning import Tuned, tuned
from course_lib.measurements import tuning
from course_lib.measurements.tuning import TileTiming, Tuning

SMALL = {"WARPS_DOWN": 2, "WARPS_ACROSS": 2, "A_GROUPS": 1, "B_GROUPS": 2}
BLANK = Tuning("NVIDIA Example 1", "Example-1", "2026-11-23T10:00:00+00:00")


def tried(size: int, ms: float, constants: dict[str, int] | None = None) -> TileTiming:
    tile = (64, 64, 8) if constants else (128, 256, 8)
    return TileTiming(constants or {}, tile, 128 if constants else 256, size, (ms, ms, ms))


def found() -> Tuning:
    """The small tile is the faster one at 1024, the rung's own at 4096."""
    some = (tried(1024, 0.2), tried(1024, 0.1, SMALL), tried(4096, 2.0), tried(4096, 3.0, SMALL))
    return Tuning(
        BLANK.device,
        BLANK.short_name,
        BLANK.date,
        sources={"cp_async": fingerprints.of_python(RUNG_KERNELS["cp_async"].source)},
        tried={"cp_async": some},
        cublas_ms={"cp_async": {"1024": 0.08}},
    )


def candidate(gpu: FakeGpu, name: str, ms: float, constants: dict[str, int]) -> tuner._Candidate:
    return tuner._Candidate(constants, RUNG_KERNELS["cp_async"], gpu.contestant(name, ms))


def test_everyone_is_timed_beside_cublas_and_who_is_wrong_is_named():
    gpu = FakeGpu()
    wrong = gpu.contestant("wrong", error=lambda shape: 0.1)
    taking_part = [
        ("cp_async", candidate(gpu, "cp_async", 2.0, {})),
        ("cp_async", candidate(gpu, "cp_async small", 1.0, SMALL)),
        ("cp_async", tuner._Candidate({"STRIP": 8}, RUNG_KERNELS["cp_async"], wrong)),
    ]
    cublas = [gpu.contestant(name, ms, kind="cuBLAS") for name, ms in (("one", 0.8), ("two", 0.9))]
    made, said = tuner.tune(
        taking_part, cublas, gpu.problem, gpu, BLANK, sizes=(1024, 2048), rounds=3
    )
    best = made.at("cp_async", 1024)[0]
    assert best.constants == SMALL and len(best.samples_ms) == 3
    assert made.share_of_cublas("cp_async", best) == pytest.approx(0.8)
    assert made.sizes("cp_async") == (1024, 2048) and len(made.tried["cp_async"]) == 4
    assert len(said) == 1 and said[0].startswith("wrong: Wrong: the error is 0.1")
    assert made.sources == found().sources


@pytest.mark.parametrize(("shape", "tile"), [
    ((1024, 1024, 1024), (64, 64)),
    ((512, 2048, 64), (64, 64)),  # as many outputs
    ((1900, 1900, 64), (64, 64)),
    ((2100, 2100, 64), (128, 256)),
    ((8192, 8192, 64), (128, 256)),
    ((64, 10**6, 4), (64, 64)),  # has no room for the tile that would be faster
])  # fmt: skip
def test_the_tile_follows_the_number_of_outputs(shape, tile):
    chosen = Tuned(RUNG_KERNELS["cp_async"], found()).for_size(*shape)
    assert chosen.tile[:2] == tile


def test_where_nothing_was_tried_the_rung_has_its_own_tile():
    assert tuned("cp_async").for_size(1024, 1024, 1024) is RUNG_KERNELS["cp_async"]
    assert tuned("cp_async", "NVIDIA Example 2").found is None
    with pytest.raises(KeyError):
        tuned("tiled")


def test_a_launch_takes_the_tile_and_refuses_as_the_rung_does():
    random = np.random.default_rng(5)
    A, B = (random.random(shape, np.float32) for shape in ((66, 8), (8, 68)))
    C = np.full((66, 68), np.nan, np.float32)
    Tuned(RUNG_KERNELS["cp_async"], found()).launch(A, B, C)
    assert np.allclose(C, A @ B, atol=1e-5)
    with pytest.raises(InputsRefused, match="M = 66 is less than a tile's 128"):
        tuned("cp_async").launch(A, B, C)
    with pytest.raises(InputsRefused, match="A is no array, but of type list"):
        tuned("cp_async").launch(A.tolist(), B, C)


@pytest.fixture
def on_a_gpu(monkeypatch, tmp_path):
    """A GPU whose tuner finds what `found` says; where it is kept."""
    asked = SimpleNamespace(names=None, stored=tmp_path / "tuning")
    monkeypatch.setattr(runtime, "on_gpu", lambda: True)
    monkeypatch.setattr(bench_runs, "LAST_RUNS", tmp_path / "last")
    monkeypatch.setattr(bench_runs, "STORED", tmp_path)

    def here(names, sizes, rounds, say):
        asked.names, asked.sizes, asked.rounds = names, sizes, rounds
        return found(), []

    monkeypatch.setattr(tuner, "tune_here", here)
    return asked


def test_the_command_tries_and_stores(on_a_gpu, capsys):
    assert bench.main(["--tune", "--store", "--rounds", "7"]) == 0
    assert on_a_gpu.names == list(tuner.CANDIDATES) and on_a_gpu.rounds == 7
    assert tuning.load("Example-1", on_a_gpu.stored) == found()
    assert "80.0% of cuBLAS" in capsys.readouterr().out


def test_what_was_stored_is_not_lost(on_a_gpu, capsys, monkeypatch):
    bench.main(["--tune", "--store"])
    less = Tuning(**{**vars(found()), "tried": {"cp_async": (tried(1024, 0.2),)}})
    monkeypatch.setattr(tuner, "tune_here", lambda *_: (less, []))
    bench.main(["--tune", "--store"])
    assert (
        "Not stored: the stored file of Example-1 has cp_async at 4096" in capsys.readouterr().out
    )
    assert tuning.load("Example-1", on_a_gpu.stored) == found()


def test_without_a_gpu_or_a_tile_to_choose_it_says_so(capsys):
    assert bench.main(["--tune"]) == 1
    assert "can only be measured on a GPU" in capsys.readouterr().out
    assert bench.main(["--tune", "--rungs", "tiled"]) == 1
    assert "Rungs with several tiles are cp_async" in capsys.readouterr().out


@pytest.mark.parametrize("device", tuning.devices())
def test_what_is_stored_was_tried_with_these_kernels(device):
    stored = tuning.load(device)
    for rung, source in stored.sources.items():
        assert source == fingerprints.of_python(RUNG_KERNELS[rung].source), rung
    assert (tuning.FOLDER / f"{device}.json").read_text(encoding="utf-8") == stored.as_json()


def test_a_tuned_rung_takes_part_in_the_bench_where_it_was_tuned(monkeypatch):
    monkeypatch.setattr(tuning, "of_device", lambda name: found() if "1" in name else None)
    (tuned_one,) = contestants.tuned_rungs(RUNG_KERNELS, "NVIDIA Example 1")
    assert (tuned_one.name, tuned_one.kind, tuned_one.tile) == ("cp_async", "tuned", ())
    assert tuned_one.source == found().sources["cp_async"] and tuned_one.most_error == 1e-4
    assert list(contestants.tuned_rungs(RUNG_KERNELS, "NVIDIA Example 2")) == []
    assert list(contestants.tuned_rungs({}, "NVIDIA Example 1")) == []
