"""Launches that cost the host little: what is looked at once, and what is handed on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from on_gpu import OnGpu

from course_lib.kernels import RUNG_KERNELS, InputsRefused, hopper_launch, tma_launch
from course_lib.kernels.hopper_launch import Described, described

RUNG = RUNG_KERNELS["tma_bf16"]


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The launches that were prepared; each is then called by its number."""
    found: list[tuple[Any, ...]] = []

    def ready(*given: Any, **named: Any) -> Callable[[], None]:
        found.append((*given, named))
        return lambda: None

    monkeypatch.setattr(tma_launch, "ReadyLaunch", ready)
    work = type("Work", (), {"workers": 132, "table": "table", "shared": None, "most": 1})
    monkeypatch.setattr(tma_launch, "work_on_gpu", lambda *given: work)
    monkeypatch.setattr(hopper_launch, "tensor_map", lambda array, box: (array, box))
    monkeypatch.setattr(hopper_launch, "multiprocessors", lambda: 132)
    monkeypatch.setattr(hopper_launch, "current_gpu", lambda: 0)
    tma_launch._prepared.cache_clear()
    return found


def test_arrays_are_looked_at_once(prepared: list[tuple[Any, ...]]) -> None:
    A, B, C = OnGpu(256, 64), OnGpu(64, 512, address=4096), OnGpu(256, 512, address=8192)
    for _ in range(3):
        RUNG.launch(A, B, C)
    assert len(prepared) == 1
    RUNG.launch(A, B, OnGpu(256, 512, address=16_384))  # another place, another map
    RUNG.launch(A, B, C, stream=7)
    RUNG.prepare(A, B, C)()  # as the first
    assert len(prepared) == 3
    _, _, arguments, stream, shared_bytes, *_ = prepared[0]
    assert (stream, prepared[2][3], shared_bytes) == (0, 7, tma_launch.SHARED)
    assert arguments[2][0] == Described(8192, "<u2", (256, 512))


def test_what_does_not_fit_is_refused_in_the_callers_words(
    prepared: list[tuple[Any, ...]],
) -> None:
    A, C = OnGpu(256, 64), OnGpu(256, 512)
    for launch in (RUNG.launch, RUNG.prepare):
        with pytest.raises(InputsRefused, match=r"B has shape \(64,\), and a matrix has two"):
            launch(A, OnGpu(64), C)
        with pytest.raises(InputsRefused, match=r"ascontiguousarray\(B.copy_to_host\(\)\)"):
            launch(A, OnGpu(64, 512, strides=(2, 128)), C)
        with pytest.raises(InputsRefused, match="N = 508 is no multiple of 8"):
            launch(A, OnGpu(64, 508), OnGpu(256, 508))
    assert not prepared


def test_an_array_is_described_by_what_a_launch_needs() -> None:
    array = described(OnGpu(3, 5, strides=(2, 6)))
    assert array == Described(1024, "<u2", (3, 5), (2, 6)) and hash(array)
    assert array.dtype == np.uint16 and not array.is_c_contiguous()
    assert described(array) == array
    assert described(np.zeros(3)) is None


def test_a_launch_may_begin_while_the_one_before_ends() -> None:
    driver = pytest.importorskip("cuda.bindings.driver")
    config = hopper_launch._config((132, 2), 288, 1024, 7, overlap=True)
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (132, 2, 1)
    assert (config.blockDimX, config.sharedMemBytes, int(config.hStream)) == (288, 1024, 7)
    (attribute,) = config.attrs
    kinds = driver.CUlaunchAttributeID
    assert attribute.id == kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert attribute.value.programmaticStreamSerializationAllowed == 1
    alone = hopper_launch._config((132, 2), 288, 1024, 0, overlap=False)
    assert alone.numAttrs == 0
