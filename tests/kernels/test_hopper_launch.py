"""Launches that overlap, without a GPU: what cuda.core is asked for, and an older one's way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from course_lib.kernels import hopper_launch

SHAPE, ARGUMENTS = ((132, 1), 288), ("A", 7)


class Kernel:
    """A kernel that notes how it is launched by `kernel[...]`."""

    def __init__(self) -> None:
        self.launched: list[Any] = []
        self.compiled = SimpleNamespace(
            argument_types=("array", "uint32"),
            _prepare_args=lambda kind, value, stream, back, plain: plain.append((kind, value)),
            _codelibrary=SimpleNamespace(get_cufunc=lambda: SimpleNamespace(kernel="function")),
        )

    def __getitem__(self, configuration: Any) -> Any:
        return lambda *given: self.launched.append((configuration, given))


@pytest.fixture
def by_cuda_core(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Launches that went through a stand-in for cuda.core, which knows overlap."""
    launched: list[Any] = []
    core: Any = ModuleType("cuda.core")
    core.LaunchConfig = lambda **named: named
    core.launch = lambda *given: launched.append(given)
    driver: Any = ModuleType("numba.cuda.cudadrv.driver")
    driver._to_core_stream = lambda stream: f"stream {stream}"
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.core", core)
    monkeypatch.setitem(sys.modules, driver.__name__, driver)
    monkeypatch.setattr(sys.modules["numba.cuda.cudadrv"], "driver", driver, raising=False)
    monkeypatch.setattr(hopper_launch, "prepare", lambda kernel, *given: kernel.compiled)
    hopper_launch._overlapping.cache_clear()
    yield launched
    hopper_launch._overlapping.cache_clear()


def test_a_launch_may_begin_while_the_one_before_ends(by_cuda_core: list[Any]) -> None:
    kernel = Kernel()
    hopper_launch.launch(kernel, SHAPE, ARGUMENTS, stream=3, shared_bytes=1024, cluster=2)
    ((stream, config, function, *plain),) = by_cuda_core
    assert (stream, function, kernel.launched) == ("stream 3", "function", [])
    assert config == {
        "grid": (132, 1),
        "block": 288,
        "shmem_size": 1024,
        "programmatic_stream_serialization": True,
    }
    assert plain == [("array", "A"), ("uint32", 7)]


def test_without_overlap_it_is_launched_as_any_kernel(by_cuda_core: list[Any]) -> None:
    kernel = Kernel()
    hopper_launch.launch(kernel, SHAPE, ARGUMENTS, stream=3, shared_bytes=1024, overlap=False)
    assert kernel.launched == [(((132, 1), 288, 3, 1024), ARGUMENTS)] and not by_cuda_core


def test_an_older_cuda_core_lets_launches_follow_each_other(by_cuda_core: list[Any]) -> None:
    def older(grid: Any, block: int, shmem_size: int) -> None:
        raise AssertionError("it is asked for more than it knows")

    sys.modules["cuda.core"].LaunchConfig = older  # type: ignore[attr-defined]
    kernel = Kernel()
    hopper_launch.launch(kernel, SHAPE, ARGUMENTS)
    assert kernel.launched == [(((132, 1), 288, 0, 0), ARGUMENTS)] and not by_cuda_core
