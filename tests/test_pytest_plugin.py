"""`pytest --cuda-emulate` on a small project: what passes, what fails, with which words."""

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import pytest
from child import ROOT, python
from every_case import every_case

pytest.importorskip("numba.cuda")


KERNELS = """\
import numpy as np
from numba import cuda
from numba.cuda import is_available, to_device

AT_IMPORT = cuda.is_available() and is_available()

@cuda.jit
def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += x[i]

@cuda.jit
def outside(x):
    i = cuda.grid(1)
    x[i] = 1  # line: outside

@cuda.jit
def racy(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    out[t] = s[63 - t]  # line: racy

@cuda.jit
def strided(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i % 32 * 32 + i // 32]  # line: strided

@cuda.jit
def imports(x):
    import os  # line: imports
    x[0] = os.getpid()

@cuda.jit
def endless(x):
    while x[0] == 0:
        x[1] += 1
"""

HELPERS = """\
from numba import cuda

@cuda.jit(device=True)
def store_behind(x, i):
    x[i + 1] = 1  # line: helper
"""

TESTS = """\
import unittest
import numpy as np
import pytest
from numba import cuda
import kernels
from helpers import store_behind
from kernels import *

pytestmark = pytest.mark.skipif(not cuda.is_available(), reason="no GPU")
ones = np.ones(100, np.float32)

def test_right():
    assert kernels.AT_IMPORT
    on_device = to_device(ones)
    doubled[1, 128, cuda.stream()](on_device)
    assert (on_device.copy_to_host() == 2).all()

def test_host_api():
    with cuda.gpus[0]:
        assert [gpu.id for gpu in cuda.list_devices()] == [0] and len(cuda.gpus) == 1
        gpu = cuda.get_current_device()
        assert gpu.compute_capability >= (7, 0) and gpu.MULTIPROCESSOR_COUNT > 0
        assert gpu.WARP_SIZE == 32 and gpu.MAX_THREADS_PER_BLOCK == 1024
        assert cuda.current_context().get_memory_info().free > 0
        cuda.current_context().deallocations.clear()
        assert cuda.cudadrv.devices.get_context().device.compute_capability >= (7, 0)
        start, end = cuda.event(), cuda.event()
        start.record(); end.record(); end.synchronize()
        assert isinstance(cuda.device_array(3), cuda.cudadrv.devicearray.DeviceNDArray)
        managed = cuda.managed_array(4, np.float32)
        managed[:] = 1
        doubled.forall(4)(managed)
        assert managed.sum() == 8
        assert cuda.reduce(lambda a, b: a + b)(np.arange(200.0)) == 19900

def test_outside():
    outside[1, 128](ones.copy())

def test_caught():
    try:
        outside[1, 128](ones.copy())
    except Exception:
        pass

class TestOfUnittest(unittest.TestCase):
    def test_of_unittest(self):
        outside[1, 128](ones.copy())

@cuda.jit
def from_the_end(x):
    i = cuda.grid(1) - 1
    x[i] = 2

def test_from_the_end():
    from_the_end[1, 64](np.ones(64, np.float32))

def test_racy():
    racy[1, 64](np.ones(64, np.float32), np.zeros(64, np.float32))

@cuda.jit
def calls(x):
    store_behind(x, cuda.grid(1))

def test_helper():
    calls[1, 100](ones.copy())

def test_strided():
    for _ in range(3):
        strided[4, 256](np.ones(1024, np.float32), np.zeros(1024, np.float32))

def test_refused():
    imports[1, 1](np.zeros(1))

def test_endless():
    endless[1, 1](np.zeros(2))
"""


COMMAND = ("-m", "pytest", "-p", "course_lib.pytest_plugin")
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


class Session(NamedTuple):
    """What a run of the project's tests said: the message of each test that failed, or None."""

    failures: dict[str, str | None]
    output: str


def run_pytest(folder: Path, *options: str) -> Session:
    """Run the tests in a folder by pytest, with this plugin and nothing else of the course."""
    options = ("--junitxml=all.xml", "-p", "no:cacheprovider", "--tb=short", "-q", *options)
    done = python(*COMMAND, *options, cwd=folder, status=None, COLUMNS="400", **ALONE)
    failures = {}
    for case in ET.parse(folder / "all.xml").iter("testcase"):
        message = None
        for child in case:
            message = child.get("message", "") if child.tag != "properties" else message
        failures[case.get("name", "")] = message
    return Session(failures, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in {"kernels": KERNELS, "helpers": HELPERS, "test_kernels": TESTS}.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


@pytest.fixture(scope="module")
def emulated(project: Path) -> Session:
    return run_pytest(project, "--cuda-emulate", "--cuda-emulate-steps=2_000")


def line_of(name: str, text: str = KERNELS) -> int:
    lines = text.splitlines()
    return next(number for number, line in enumerate(lines, 1) if f"# line: {name}" in line)


PASSED = "test_right test_host_api test_strided test_from_the_end".split()
OUTSIDE = f"kernels.py:{line_of('outside')}: in outside: thread 100 writes x at index 100"
FAILED = {
    "test_outside": OUTSIDE,
    "test_caught": OUTSIDE,
    "test_of_unittest": OUTSIDE,
    "test_racy": f"kernels.py:{line_of('racy')}: in racy: thread 63 reads s[0]",
    "test_helper": f"helpers.py:{line_of('helper', HELPERS)}: in calls: thread 99 writes x",
    "test_refused": f"kernels.py:{line_of('imports')}: imports did not run. Line",
    "test_endless": "pytest --cuda-emulate --cuda-emulate-steps=20000 allows more",
}


@every_case("name", FAILED)
def test_what_fails(emulated: Session, name: str) -> None:
    message = emulated.failures[name]
    assert message is not None and FAILED[name] in message
    assert FAILED[name] in emulated.output


def test_what_passes_and_that_a_failure_ends_at_the_launch(emulated: Session) -> None:
    assert [emulated.failures[name] for name in PASSED] == [None] * len(PASSED)
    assert "course_lib/" not in emulated.output.replace("course_lib/wording", "")


def test_the_summary(emulated: Session) -> None:
    lines = emulated.output.splitlines()
    assert sum("in strided: Loads from x take 32 sectors" in line for line in lines) == 1
    assert any(line.startswith("warning (3 launches): kernels.py:") for line in lines)
    refused = [line for line in lines if line.startswith("refused (1 launch): kernels.py:")]
    assert len(refused) == 1 and "import" in refused[0]
    assert any(", with errors: 6, refused: 1; warnings: " in line for line in lines)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="needs pytest-xdist")
def test_two_workers_tell_the_same_but_for_what_is_to_be_a_warning(project, emulated):
    workers = ("-p", "xdist", "-n", "2", "--cuda-emulate-warn=race-read-after-write")
    shared = run_pytest(project, "--cuda-emulate", "--cuda-emulate-steps=2_000", *workers)
    assert shared.failures == {**emulated.failures, "test_racy": None}
    assert "thread 63 reads s[0]" in shared.output
    assert "warning (3 launches): kernels.py:" in shared.output


@pytest.mark.slow
def test_a_code_that_no_finding_has(project: Path) -> None:
    asked = [*COMMAND, "--cuda-emulate", "--cuda-emulate-warn=race"]
    done = python(*asked, cwd=project, status=pytest.ExitCode.USAGE_ERROR, **ALONE)
    assert "--cuda-emulate-warn: No finding has the code race" in done.stderr


def test_without_the_option_nothing_is_imported(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n"
        "def test_nothing():\n"
        "    loaded = {name for name in sys.modules if name.startswith('course_lib.')}\n"
        "    assert loaded == {'course_lib.pytest_plugin'} and 'numpy' not in sys.modules\n"
    )
    session = run_pytest(tmp_path)
    assert session.failures == {"test_nothing": None}, session.output
    assert "emulator" not in session.output


def test_the_package_says_where_the_plugin_is() -> None:
    import tomllib

    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert package["entry-points"]["pytest11"] == {"cuda_emulate": "course_lib.pytest_plugin"}
