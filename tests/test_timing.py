"""Timing on a made-up CuPy; that CUDA's events and NVML answer so is assumed, not tested."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import timing
from course_lib.host import runtime
from course_lib.questions import two_copies
from course_lib.timing import TimingUnavailable
from course_lib.wording.errors import EmulatedTimingRefused, PlainError

L2_BYTES = 4096


class FakeGpu:
    """A virtual clock: a launch takes `gpu_seconds` of it, and `host_seconds` to issue."""

    def __init__(self) -> None:
        self.gpu_seconds = 50e-6
        self.host_seconds = 5e-6
        self.launches = 0

    def launch(self) -> None:
        self.launches += 1

    def benchmark(self, func, n_repeat=10000, *, name, n_warmup=10, max_duration=np.inf):
        for _ in range(n_warmup):
            func()
        gpu, host = [], []
        for number in range(n_repeat):
            before = self.launches
            func()
            count = self.launches - before
            # Every third sample is a straggler, so that median and mean differ.
            slow = 1.5 if number % 3 == 2 else 1.0
            gpu.append(max(self.gpu_seconds, self.host_seconds) * count * slow)
            host.append(self.host_seconds * count * slow)
            if sum(gpu) > max_duration:
                break
        return SimpleNamespace(gpu_times=np.array([gpu]), cpu_times=np.array(host))


@pytest.fixture
def gpu(monkeypatch):
    """A machine that has a GPU and CuPy, as far as timing.py can tell."""
    fake = FakeGpu()
    cuda_runtime = SimpleNamespace(
        getDevice=lambda: 0,
        getDeviceProperties=lambda _: {"l2CacheSize": L2_BYTES, "multiProcessorCount": 4},
        deviceGetPCIBusId=lambda _: "0000:00:04.0",
        deviceSynchronize=lambda: None,
    )
    cupy = SimpleNamespace(
        float32=np.float32, uint8=np.uint8, zeros=np.zeros,
        copyto=lambda target, source: fake.launch(),
        RawKernel=lambda source, name: lambda grid, block, arguments: fake.launch(),
        cuda=SimpleNamespace(runtime=cuda_runtime),
    )  # fmt: skip
    profiler = SimpleNamespace(benchmark=fake.benchmark)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupyx.profiler", profiler)
    monkeypatch.setattr(runtime, "is_emulated", lambda kernel: False)
    monkeypatch.setattr(runtime, "on_gpu", lambda: True)
    monkeypatch.setattr(runtime, "device_name", lambda: "Fake T4")
    monkeypatch.setattr(timing, "_can_read_clock", lambda: True)
    monkeypatch.setattr(timing, "sm_clock_mhz", lambda: 1590)
    monkeypatch.setattr(timing, "_to_device", lambda argument: argument)
    return fake


class FakeKernel:
    """Stands for a compiled kernel; a launch moves the fake GPU's clock."""

    def __init__(self, fake: FakeGpu) -> None:
        self.fake = fake
        self.py_func = matmul_naive

    def __getitem__(self, configuration):
        assert configuration == ((2, 2), (16, 16))
        return lambda *args: self.fake.launch()


def matmul_naive(A, B, C):
    """Only its name is used."""


def time_it(gpu, **options):
    return timing.time_kernel(FakeKernel(gpu), (2, 2), (16, 16), 1, 2, 3, **options)


def test_without_a_gpu_nothing_is_timed_and_missing_cupy_is_one_sentence(monkeypatch):
    monkeypatch.setattr(runtime, "is_emulated", lambda kernel: True)
    with pytest.raises(EmulatedTimingRefused) as caught:
        timing.time_kernel(matmul_naive, 1, 32)
    (sentence,) = caught.value._render_traceback_()
    assert sentence.startswith("matmul_naive cannot be timed here")
    assert "\n" not in sentence
    monkeypatch.setattr(runtime, "on_gpu", lambda: False)
    with pytest.raises(EmulatedTimingRefused):
        timing.measured_ceilings()
    monkeypatch.setattr(runtime, "is_emulated", lambda kernel: False)
    monkeypatch.setitem(sys.modules, "cupy", None)  # as Python marks what is not there
    with pytest.raises(TimingUnavailable) as caught:
        timing.time_kernel(matmul_naive, 1, 32)
    (sentence,) = caught.value._render_traceback_()
    assert "pip install cupy-cuda12x" in sentence


def test_what_is_measured_is_kept_with_its_spread_and_labelled(gpu):
    result = time_it(gpu, samples=9)
    assert result.name == "matmul_naive"
    assert result.median_ms == pytest.approx(0.050)
    assert result.quartiles_ms == pytest.approx((0.050, 0.075))
    assert result.sm_clock_mhz == 1590
    assert not result.launch_bound
    gpu.gpu_seconds, gpu.host_seconds = 2e-6, 30e-6
    result = time_it(gpu)
    assert result.launch_bound
    assert "host's launch time" in str(result)
    gpu.gpu_seconds = 1e-3
    ceilings = timing.measured_ceilings()
    assert ceilings.fp32_source == ceilings.dram_source == "measured here"
    assert "Fake T4" in ceilings.name
    assert ceilings.dram_gb_per_s == pytest.approx(2 * 256 * 1024**2 / 1e-3 / 1e9)
    assert ceilings.fp32_gflops == pytest.approx(2 * 8 * 16 * 2000 * 64 * 256 / 1e-3 / 1e9)


@pytest.fixture
def real_clock_reader(monkeypatch):
    monkeypatch.setattr(timing, "_bus_id", lambda: "0000:00:04.0")
    return timing.sm_clock_mhz


def test_the_clock_is_read_through_nvml(real_clock_reader, monkeypatch):
    nvml = SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByPciBusId=lambda bus: f"handle of {bus}",
        nvmlDeviceGetClockInfo=lambda handle, which: 1410 if handle.endswith("04.0") else 0,
        NVML_CLOCK_SM=1,
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    assert real_clock_reader() == 1410


@pytest.mark.parametrize(("answer", "clock"), [("1380\n", 1380), ("[N/A]\n", None), (None, None)])
def test_or_through_nvidia_smi_or_not_at_all(real_clock_reader, monkeypatch, answer, clock):
    def run(command, **_):
        assert "--id=0000:00:04.0" in command
        if answer is None:
            raise FileNotFoundError(command[0])
        return SimpleNamespace(stdout=answer)

    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(subprocess, "run", run)
    assert real_clock_reader() == clock


def test_arrays_are_moved_once_and_never_per_launch(monkeypatch):
    class CupyLike:
        __cuda_array_interface__ = None

    cuda = SimpleNamespace(
        to_device=lambda array: ("moved", array.shape), as_cuda_array=lambda array: "wrapped"
    )
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(cuda=cuda))
    assert timing._to_device(np.zeros((2, 3))) == ("moved", (2, 3))
    assert timing._to_device(CupyLike()) == "wrapped"
    assert timing._to_device(7) == 7


def test_without_a_gpu_both_are_asked_for_alone(capsys: pytest.CaptureFixture[str]) -> None:
    two_copies.two_copies()
    printed = [" ".join(row.split()) for row in capsys.readouterr().out.splitlines()]
    assert printed == ["asked for moved", "copy 1 524 kB 524 kB", "copy 2 524 kB 4,194 kB"]


def test_on_a_gpu_both_are_timed_as_far_as_that_is_possible(monkeypatch, capsys):
    monkeypatch.setattr(runtime, "on_gpu", lambda: True)

    def fake(kernel: object, *_: object, **__: object) -> SimpleNamespace:
        if kernel is two_copies.copy_2:
            raise PlainError("no CuPy")
        return SimpleNamespace(median_ms=0.25)

    monkeypatch.setattr(timing, "time_kernel", fake)
    two_copies.two_copies()
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.endswith("time at 4096 × 4096")
    assert first.endswith("0.25 ms") and second.endswith("not measured")
