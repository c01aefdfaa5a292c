"""Somebody waits for a launch: it gives up, can be interrupted, and what it says is shown."""

import subprocess
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from child import python

pytest.importorskip("numba")
import numba
from numba import cuda

import course_lib
from course_lib import emulator
from course_lib.emulator.machine.load_store import LoadStoreUnit
from course_lib.host import runtime
from course_lib.wording.errors import LaunchRefused, LaunchStopped, PlainError

FEW = replace(emulator.INTERACTIVE, steps=5_000)


@pytest.fixture(autouse=True)
def started(capsys: pytest.CaptureFixture) -> None:
    if runtime.on_gpu():
        pytest.skip("launches run on the GPU here")
    course_lib.start()
    capsys.readouterr()


@cuda.jit
def never_ends(x):
    k = 0
    while k < x.shape[0]:
        x[0] += 1


@cuda.jit
def counts(x, turns):
    for _ in range(turns):
        x[0] += 1


@cuda.jit
def says(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        print("element", i, "is", x[i])


@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = 2 * x[i]


LAUNCHES = {
    "emulate": lambda kernel, *args: course_lib.emulate(kernel)[1, 1](*args),
    "kernel": lambda kernel, *args: kernel[1, 1](*args),
    "run": lambda kernel, *args: runtime.run(kernel, 1, 1, *args),
}
launches = pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES)


@launches
def test_a_launch_gives_up_and_says_why_and_how_to_go_on(launch, monkeypatch, capsys) -> None:
    monkeypatch.setattr(emulator, "INTERACTIVE", FEW)
    x = np.zeros(4, np.float32)
    try:
        launch(never_ends, x)
        said = capsys.readouterr().out.splitlines()[0]
    except LaunchStopped as stopped:  # nobody asked for a profile, and nobody goes on unawares
        said = str(stopped)
        assert stopped._render_traceback_() == [said]
    line = never_ends.py_func.__code__.co_firstlineno + 3
    turns = course_lib.last_profile().stopped_in.turns
    assert said.replace(" was stopped. Line", ", line") == (
        f"never_ends, line {line}: The loop in line {line} had made {turns:,} iterations when the "
        "5,000 steps of this launch were used up. Does the condition of this loop ever become "
        "false? If the launch is only long, course_lib.emulate(never_ends, steps=50_000)[grid, "
        "block](…) allows more."
        + " What it had written by then is still in its arrays."
        * said.endswith("arrays.")
    )
    assert x[0] in (turns - 1, turns)
    assert course_lib.last_profile().steps == 5_000


def test_what_is_only_long_is_allowed_more(monkeypatch, capsys) -> None:
    monkeypatch.setattr(emulator, "INTERACTIVE", FEW)
    x = np.zeros(1, np.float32)
    assert not course_lib.emulate(counts)[1, 1](x, 1000).finished
    assert "steps=50_000" in capsys.readouterr().out
    x[0] = 0
    assert course_lib.emulate(counts, steps=50_000)[1, 1](x, 1000).finished
    assert x[0] == 1000
    assert not capsys.readouterr().out
    budget = emulator.Budget(steps=20)
    assert course_lib.emulate(counts, budget=budget)[1, 1](x, 1000).steps == 20


@pytest.mark.slow
def test_a_few_seconds_worth_are_bounded_work() -> None:
    """What a step stands for: statements and accesses, however many lanes take part."""
    told = []
    original = LoadStoreUnit.observe
    try:
        LoadStoreUnit.observe = lambda *args: told.append(1) or original(*args)
        profile = course_lib.emulate(never_ends)[1024, 256](np.zeros(4, np.float32))
    finally:
        LoadStoreUnit.observe = original
    assert not profile.finished
    assert len(told) <= emulator.INTERACTIVE.steps // emulator.INTERACTIVE.access_steps


INTERRUPTED = """
import os, signal
import numpy as np
from numba import cuda
import course_lib
from course_lib.emulator import budget

def never_ends(x):
    while True:
        x[0] += 1

# Ctrl-C in the middle: at the thousandth time that steps are spent.
spend, spent = budget.StepCounter.spend, []
def interrupted(self, steps, line):
    spent.append(steps)
    if len(spent) == 1000:
        os.kill(os.getpid(), signal.SIGINT)
    spend(self, steps, line)
budget.StepCounter.spend = interrupted

x = np.zeros(1, np.float32)
{code}
"""
SENTENCE = "Interrupted: never_ends did not end, and its arrays may be half written."
LAUNCH = "course_lib.emulate(never_ends, steps=10**12, schedule={!r})[1, 64](x)"


def interrupted(code: str, folder: Path) -> subprocess.CompletedProcess:
    """Run a script that gets Ctrl-C while its kernel runs; a clock ends what hangs."""
    script = folder / "script.py"
    script.write_text(INTERRUPTED.replace("{code}", textwrap.dedent(code)))
    return python(script, status=None)


@pytest.mark.parametrize("schedule", ["warps", pytest.param("lockstep", marks=pytest.mark.slow)])
def test_ctrl_c_in_a_script_is_one_line(schedule: str, tmp_path: Path) -> None:
    done = interrupted(f"{LAUNCH.format(schedule)}\nprint('went on')", tmp_path)
    assert done.stderr == f"{SENTENCE}\n"
    assert done.returncode != 0 and not done.stdout


@pytest.mark.slow
def test_ctrl_c_while_an_answer_is_judged_is_one_line(tmp_path: Path) -> None:
    code = """
    @cuda.jit
    def mat_add(A, B, C):
        while True:
            C[0, 0] = 1

    course_lib.check("mat_add", mat_add)
    """
    done = interrupted(code, tmp_path)
    assert done.stderr == "Interrupted: the answer has not been judged.\n"


def test_lines_that_are_not_kept_are_counted_and_judging_prints_none(capsys) -> None:
    profile = course_lib.emulate(says)[40, 64](np.zeros(2500, np.float32))
    shown = capsys.readouterr().out.splitlines()
    assert len(profile.output) == 1000
    assert shown[:-1] == profile.output
    assert shown[-1] == "… and 1,500 more lines, which are not kept."

    @cuda.jit
    def mat_add(A, B, C):
        col, row = cuda.grid(2)
        if row < C.shape[0] and col < C.shape[1]:
            print("printed by it")
            C[row, col] = A[row, col] + B[row, col]

    course_lib.check("mat_add", mat_add)
    assert "printed by it" not in capsys.readouterr().out


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.ones(8, np.float32), np.zeros(8, np.float32)


def test_a_launch_has_a_grid_and_no_named_arguments():
    with pytest.raises(PlainError, match=r"course_lib\.emulate\(double\)\[grid, block\]"):
        course_lib.emulate(double)(*arrays())
    x, y = arrays()
    for kernel in (double, course_lib.emulate(double)):
        with pytest.raises(PlainError, match="by position: y has a name"):
            kernel[1, 8](x, y=y)


@pytest.mark.parametrize(
    "thing", [42, "text", None, print, np.add, [double]], ids=lambda thing: type(thing).__name__
)
def test_what_is_no_kernel_is_refused_at_once(thing) -> None:
    with pytest.raises(PlainError, match=f"type {type(thing).__name__}"):
        course_lib.emulate(thing)


@pytest.mark.parametrize("kernel", [double, course_lib.emulate(double)], ids=["kernel", "emulate"])
@pytest.mark.parametrize(("configuration", "sentence"), [
    ((0, 0), "The grid must be one to three whole numbers above zero, not 0."),
    ((1, 0), "The block must be one to three whole numbers above zero, not 0."),
    ((1.5, 8), "The grid must be whole numbers, but it is 1.5."),
    (8, "A launch needs its grid and its block"),
])  # fmt: skip
def test_an_impossible_launch(kernel, configuration, sentence: str) -> None:
    if configuration == 8 and kernel is double:
        pytest.skip("Numba itself refuses this one")
    with pytest.raises(LaunchRefused) as refused:
        kernel[configuration](*arrays())
    assert str(refused.value).startswith(f"double did not run. {sentence}")


REFUSED = {
    "a list": ([1.0, 2.0], "Argument x is of type list, but a kernel takes only NumPy arrays"),
    "a text": ("abc", "Argument x is of type str"),
    "nothing": (None, "Argument x is of type NoneType"),
    "texts": (np.array(["a"]), "Argument x is an array of <U1, which the emulator"),
    "objects": (np.array([print]), "Argument x is an array of object, which no kernel takes"),
    "other byte order": (np.ones(8, ">f4"), "an array of >f4, which no kernel takes"),
    "masked": (np.ma.array([1.0, 2.0]), "Argument x is a masked array, which Numba does not take"),
    "gaps": (np.ones(16, np.float32)[::2], "An array with gaps between its elements"),
    "gaps in rows": (np.ones((8, 8), np.float32)[:, :5], "An array with gaps"),
}


@launches
@pytest.mark.parametrize(("thing", "sentence"), REFUSED.values(), ids=REFUSED)
def test_an_argument_that_is_refused(launch, thing, sentence: str) -> None:
    y = np.zeros(8, np.float32)
    with pytest.raises(PlainError) as refused:
        launch(double, thing, y)
    assert sentence in str(refused.value)
    assert not y.any()


@pytest.mark.parametrize("name", ["other byte order", "masked"])
def test_numba_refuses_the_same_arguments(name: str) -> None:
    """What is said of all kernels is held against Numba's own typing of arguments."""
    with pytest.raises(numba.core.errors.NumbaError):
        numba.typeof(REFUSED[name][0])


@launches
def test_arguments_that_are_fine(launch) -> None:
    for x in (
        cuda.to_device(np.ones(16, np.float32))[::2],  # a view on the device has strides there
        np.ones((2, 4), np.float32).T[0].copy(),
        np.zeros(0, np.float32),
        np.broadcast_to(np.float32(1), 8),
        np.ones(8, np.float16),
    ):
        y = np.zeros(8, np.float32)
        launch(double, x, y)
        assert y[0] == (2 if x.shape[0] else 0)
