"""What holds a contestant back: told by seconds at the limit of power."""

from types import SimpleNamespace

import pytest
from canned import measurements as canned
from fake_gpu import FakeGpu

from course_lib import measurements
from course_lib.bench import gpu, held_back
from course_lib.bench.nvml import Nvml

SEEN = {"seconds": 2.0, "ms": 0.25, "sm_clock_mhz": 1500.0, "watts": 699.6, "at_power_limit": 1.0}


class Hot(FakeGpu):
    """Runs for seconds, and fails where it is told to."""

    def __init__(self, fails: str = "") -> None:
        super().__init__()
        self.fails, self.asked = fails, []

    def sustain(self, launch, ms, seconds):
        launch()
        name = self.running[0]
        self.asked.append((name, ms, seconds))
        if name == self.fails:
            raise RuntimeError("the GPU is gone")
        return dict(SEEN)


def look(device: Hot, seconds: float = 2.0):
    """At five entries of 4096: one that is slow, one that is a twin."""
    measured = canned()
    people = [device.contestant(each.name, kind=each.kind) for each in measured.entries]
    return held_back.look(
        measured, people, device.problem, device, seconds, lambda text, left: None
    )


def test_the_fast_ones_run_alone_at_one_size():
    device = Hot()
    found, notes = look(device)
    fast = {
        each.name
        for each in found.entries
        if each.kind != "twin" and each.cell(4096).median_ms <= held_back.MOST_MS
    }
    assert fast and {name for name, _, _ in device.asked} == fast and not notes
    assert {seconds for _, _, seconds in device.asked} == {2.0}
    held = found.entry("tensor_core_bf16")
    assert held.sustained == {"size": 4096, **SEEN} and held.at_power_limit
    assert not found.entry("naive").sustained and not found.entry("tiled", "twin").sustained
    read = measurements.parse(found.as_json()).entry("tensor_core_bf16")
    assert read.sustained == held.sustained and read.at_power_limit
    device = Hot()
    assert look(device, seconds=0) == (canned(), []) and not device.asked


def test_a_failure_costs_nothing_that_was_measured():
    found, notes = look(Hot(fails="tensor_core_bf16"))
    assert notes == ["tensor_core_bf16 could not be kept running: the GPU is gone"]
    assert [each.cells for each in found.entries] == [each.cells for each in canned().entries]


def an_nvml(**answers: int) -> Nvml:
    """The management library where these functions fill in these numbers."""

    def fill(number):
        def function(_, pointer):
            pointer._obj.value = number
            return 0

        return function

    made = Nvml.__new__(Nvml)
    made._gpu = None
    made._library = SimpleNamespace(**{name: fill(number) for name, number in answers.items()})
    return made


def test_the_last_quarter_is_timed():
    launched, events = [], []

    class Event:
        def record(self):
            events.append(len(launched))

        def query(self):
            return True

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return 10.0 * (events[-1] - events[-2])

    clock = gpu.EventClock.__new__(gpu.EventClock)
    clock._cuda = SimpleNamespace(synchronize=lambda: None)
    clock._nvml = an_nvml(nvmlDeviceGetPowerUsage=500_000)
    clock._nvml.sm_clock_mhz = lambda: 1980
    clock._start, clock._end = Event(), Event()
    found = clock.sustain(lambda: launched.append(1), 10.0, 2.0)
    assert found == {"seconds": 2.0, "ms": 10.0, "sm_clock_mhz": 1980.0, "watts": 500.0}
    assert len(launched) == 200 and events == [150, 200]


@pytest.mark.parametrize(("reasons", "held"), [(0x4, True), (0x84, True), (0x1, False), (0, False)])
def test_the_driver_says_why_it_holds_the_clock_down(reasons, held):
    nvml = an_nvml(
        nvmlDeviceGetPowerUsage=699_600,
        nvmlDeviceGetEnforcedPowerLimit=700_000,
        nvmlDeviceGetCurrentClocksThrottleReasons=reasons,
    )
    assert (nvml.watts(), nvml.watts_allowed(), nvml.at_power_limit()) == (699.6, 700.0, held)
