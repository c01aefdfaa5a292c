"""The host's side of numba.cuda without a GPU: what a lesson's cell may do, and the undo."""

import asyncio
import math

import numpy as np
import pytest

pytest.importorskip("numba")
from numba import cuda, float32, void

from course_lib.host import device_array, host_api, runtime
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.wording.errors import NoGpuHere


def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@pytest.fixture(autouse=True)
def _numba_as_it_comes():
    """Another test may have left `course_lib.start()` in force."""
    runtime.stop()


@pytest.fixture
def launches():
    """The stand-ins are in place, and every launch is noted instead of run."""
    noted = []
    undo = host_api.install(cuda, lambda *launch: noted.append(launch))
    yield noted
    undo()


def test_a_launch_configured_before_start_is_emulated_too() -> None:
    kernel = cuda.jit(add_one)
    noted = []
    undo = host_api.install(cuda, lambda *launch: noted.append(launch))
    try:
        type(kernel).call(kernel, ("argument",), (1, 1, 1), (32, 1, 1), 0, 0)
    finally:
        undo()
    assert noted == [(kernel, (1, 1, 1), (32, 1, 1), 0, 0, ("argument",))]


def test_jit_in_all_its_spellings(launches) -> None:
    text = "void(float32[:])"
    spellings = [cuda.jit, cuda.jit(), cuda.jit(fastmath=True), cuda.jit(void(float32[:]))]
    for jit in (*spellings, cuda.jit(text), cuda.jit([text, "void(float64[:])"])):
        assert jit(add_one).py_func is add_one

    def twice(x):
        return 2 * x

    for jit in (cuda.jit(device=True), cuda.jit("float32(float32)", device=True)):
        assert jit(twice).py_func is twice


def test_forall_covers_every_element(launches) -> None:
    kernel = cuda.jit(add_one)
    kernel.forall(1000)("x")
    kernel.forall(1000, 64, 0, 128)("x")
    kernel.forall(0)("x")
    assert [launch[1:5] for launch in launches] == [(4, 256, 0, 0), (16, 64, 0, 128)]
    with pytest.raises(ValueError, match="not -1"):
        kernel.forall(-1)


def test_arrays_go_to_the_device_and_back(launches):
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    device = cuda.to_device(host)
    host[0, 0] = 99
    assert isinstance(device, EmulatedDeviceArray)
    back = device.copy_to_host()
    assert back[0, 0] == 0
    assert (device.shape, device.dtype, device.ndim) == ((3, 4), np.float32, 2)
    assert (device.size, device.strides, device.nbytes, len(device)) == (12, (16, 4), 48, 3)
    device.copy_to_device(host)
    assert device.copy_to_host(host) is host
    assert host[0, 0] == 99
    assert cuda.to_device(device) is device
    assert cuda.to_device(host, to=device) is device
    device = cuda.to_device(np.arange(5.0))
    assert [len(piece) for piece in device.split(2)] == [2, 2, 1]
    first, *_ = device.split(3)
    first.setitem(0, 7.0)
    assert device.getitem(0) == device.bind(cuda.stream())[0] == 7
    assert cuda.to_device(np.ones((1, 3, 1))).squeeze().shape == (3,)
    assert device.flags["C_CONTIGUOUS"] and device.is_c_contiguous()


def test_device_arrays_can_be_sliced_reshaped_and_transposed(launches) -> None:
    device = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    row = device[1]
    assert isinstance(row, EmulatedDeviceArray)
    row[0] = 50
    device[2] = row
    assert device[1, 0] == device[2, 0] == 50
    assert device.T.shape == device.transpose().shape == (4, 3)
    assert device.reshape(4, 3).shape == device.reshape((4, 3)).shape == (4, 3)
    assert device.ravel().shape == (12,)
    assert np.asarray(device).sum() == device.copy_to_host().sum()
    with pytest.raises(NotImplementedError, match="gaps"):
        device[:, ::3].reshape(6)


def test_what_numba_does_not_copy_is_refused(launches):
    device = cuda.device_array((2, 2), np.float32)
    with pytest.raises(TypeError, match="differ in type"):
        device.copy_to_device(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="differ in shape"):
        device.copy_to_host(np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="ascontiguousarray"):
        cuda.to_device(np.zeros((4, 4))[:, ::2])
    host_api.must_be_contiguous(np.zeros((4, 4)).T)
    host_api.must_be_contiguous(np.broadcast_to(np.zeros(4), (4, 4)))


def test_fresh_memory_is_not_zero(launches) -> None:
    fresh = cuda.device_array((2, 3), np.float32)
    assert np.isnan(fresh.copy_to_host()).all()
    assert (cuda.device_array(2, np.int32).copy_to_host() == -1).all()
    transposed = cuda.device_array_like(np.zeros((3, 2), np.float32).T)
    assert (transposed.shape, transposed.strides) == ((2, 3), (4, 8))
    assert cuda.device_array((2, 3), np.float32, order="F").is_f_contiguous()


def test_pinned_mapped_and_managed_arrays_and_blocks(launches) -> None:
    for make in (cuda.pinned_array, cuda.mapped_array, cuda.managed_array):
        array = make((2, 2), dtype=np.float32)
        assert isinstance(array, np.ndarray) and array.shape == (2, 2)
    host = np.zeros(3)
    with cuda.pinned(host):
        pass
    with cuda.mapped(host) as device:
        device[0] = 5
    assert host[0] == 5


def test_streams_are_run_awaited_and_recorded_by_events(launches):
    stream = cuda.stream()
    called = []
    stream.add_callback(lambda *arguments: called.append(arguments), "word")
    with stream.auto_synchronize():
        device = cuda.to_device(np.zeros(3), stream=stream)
        device.copy_to_host(stream=stream)
    stream.synchronize()
    cuda.synchronize()
    assert called == [(stream, 0, "word")]
    first, last = cuda.event(), cuda.event(timing=True)
    first.record()
    last.record(stream)
    last.synchronize()
    last.wait(stream)
    assert last.query()

    async def copied() -> np.ndarray:
        stream = cuda.stream()
        device = cuda.to_device(np.arange(4), stream=stream)
        assert await stream.async_done() is stream
        return device.copy_to_host(stream=stream)

    assert asyncio.run(copied()).tolist() == [0, 1, 2, 3]


def test_no_time_is_invented_and_the_cell_goes_on(launches, capsys) -> None:
    device_array._say_once.cache_clear()
    first, last = cuda.event(), cuda.event()
    first.record()
    last.record()
    for took in (cuda.event_elapsed_time(first, last), first.elapsed_time(last)):
        assert math.isnan(took)
    (said,) = capsys.readouterr().out.splitlines()
    assert "cannot be timed here" in said


def test_an_array_may_be_wrapped_as_other_libraries_share_theirs(launches) -> None:
    class Wrapped:
        def __init__(self, array) -> None:
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    array = cuda.to_device(np.arange(8.0))
    wrapped = Wrapped(array)
    told = wrapped.__cuda_array_interface__
    assert (told["shape"], told["typestr"], told["version"]) == ((8,), "<f8", 3)
    assert cuda.is_cuda_array(wrapped) and cuda.is_cuda_array(array)
    assert not cuda.is_cuda_array(np.arange(8.0))
    assert cuda.as_cuda_array(wrapped) is array


def test_there_is_no_gpu_and_of_a_device_only_what_all_have_is_told(launches, capsys):
    assert cuda.is_available() is False
    assert len(cuda.gpus) == 0 and list(cuda.gpus) == []
    with pytest.raises(IndexError, match="emulator"):
        cuda.gpus[0]
    assert cuda.detect() is False
    assert "emulator" in capsys.readouterr().out
    for device in (cuda.get_current_device(), cuda.select_device(0), cuda.current_context().device):
        assert (device.WARP_SIZE, device.MAX_THREADS_PER_BLOCK) == (32, 1024)
        assert device.name == b"emulator"
        for name in ("MULTIPROCESSOR_COUNT", "compute_capability", "uuid"):
            with pytest.raises(NoGpuHere, match=f"{name} of a device needs a GPU"):
                getattr(device, name)
    with cuda.current_context() as context:
        context.synchronize()
    with pytest.raises(NoGpuHere, match="get_memory_info"):
        context.get_memory_info()
    with pytest.raises(NoGpuHere, match="select_device"):
        cuda.select_device(1)
    with pytest.raises(NoGpuHere, match="get_regs_per_thread"):
        cuda.jit(add_one).get_regs_per_thread()
