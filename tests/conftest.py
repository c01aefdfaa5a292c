"""Settings for all tests: no window opens, and hypothesis draws the same examples everywhere."""

import atexit
import gc
import os
import shutil
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")
# nbformat imports jsonschema, which builds 38 parsers (two seconds in each worker) to check
# addresses that no notebook has. Without this package jsonschema does not check them.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# The twelve thousand files that tests write: to delete those of earlier sessions from a disk took
# 17 of 150 seconds, from memory less than one. Docker's /dev/shm is small, and runs no program.
_MEMORY = Path("/dev/shm")
if os.access(_MEMORY, os.W_OK) and not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC:
    if shutil.disk_usage(_MEMORY).free > 2**31:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# Whatever a shell starts with `&` has Ctrl-C ignored, and hands that on. Tests that press it in a
# process of their own mean one that listens.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Ten thousand tests and their modules outlive all that a test makes: to look through them for what
# is free, at every 700 objects, took a twentieth of the time.
gc.set_threshold(50_000, 20, 50)

# The same seed on every machine: a test that fails for one of us fails for all of us.
_COMMON = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}
settings.register_profile("fast", max_examples=25, **_COMMON)
settings.register_profile("thorough", max_examples=400, **_COMMON)
# Every night other examples; a failure prints how to draw it again.
settings.register_profile(
    "nightly", max_examples=2000, **(_COMMON | {"derandomize": False, "print_blob": True})
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

_EVIDENCE = {
    "test_mutants.py::test_caught": "wrong answers caught",
    "test_mutants.py::test_warned": "right but costly answers warned of",
    "test_styles.py::test_accepted": "right answers accepted",
    "test_hazards.py::test_named": "hazards named",
    "test_hazards.py::test_twin_is_clean": "repaired twins clean",
}


# A worker that begins one of these last works alone at the end: half a minute to a minute each.
_LONGEST = (
    "test_solved_lessons_pass_every_check",
    "test_attacks",
    "test_class_of_10",
    "test_life_of_an_installation",
    "test_some_tasks_are_judged_alike_and_all_else_is",
)


def pytest_collection_finish() -> None:
    """What has been collected stays to the end, so nobody need look through it again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """What is left goes with the process: to look through it again takes up to two seconds."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first; all others stay in their order."""
    items.sort(key=lambda item: item.name.split("[")[0] not in _LONGEST)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many wrong answers were caught, and how many right ones were accepted."""
    good: Counter[tuple[str, str]] = Counter()
    tried: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for test, title in _EVIDENCE.items():
                if f"{test}[" in report.nodeid and report.when == "call":
                    exercise = report.nodeid.split("[")[-1].split("-")[0]
                    tried[title, exercise] += 1
                    good[title, exercise] += outcome == "passed"
    if not tried:
        return
    terminalreporter.section("evidence")
    for (title, exercise), count in sorted(tried.items()):
        terminalreporter.write_line(f"{title:<35} {exercise:<17} {good[title, exercise]}/{count}")


@pytest.fixture
def session_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test begins as a session does in which nothing was passed yet."""
    from course_lib.student import progress  # late: most tests need none of the library for this

    monkeypatch.setattr(progress, "_session", progress._Session())


@pytest.fixture
def new_shell() -> Iterator[Callable[[], Any]]:
    """Makes IPython shells that end with the test.

    Left to the end of the process, each looks through all memory once more: half a minute for 22.
    """
    from IPython.core.interactiveshell import InteractiveShell

    shells: list[InteractiveShell] = []

    def make() -> InteractiveShell:
        shells.append(InteractiveShell())
        return shells[-1]

    yield make
    for each in shells:
        atexit.unregister(each.atexit_operations)
        each.history_manager.end_session()
        if hasattr(each.history_manager, "close"):  # not in IPython 7, which Colab has
            each.history_manager.close()
