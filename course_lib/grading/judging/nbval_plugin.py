"""The pytest plugin for batches: names the items, watches nbval's kernel, ends with its parent.

nbval on its own waits a cell's whole time for a kernel that is dead, and then goes on with the next
cell. Here the session stops at once; what happened to which item is noted in a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from queue import Empty
from typing import Any

import nbval.plugin
import psutil
import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

from course_lib.grading.judging.batches import METADATA
from course_lib.grading.judging.worker import BUSY, GOODBYE, NOTES, STARTING_SECONDS

POLL_SECONDS = 0.1


class KernelDied(Exception):
    """The kernel ended while it ran a cell."""


class ClockRanOut(Exception):
    """A cell ran for longer than it may."""


class WatchedKernel(RunningKernel):  # type: ignore[misc]  # nbval has no types
    """nbval's kernel, except that a dead one and a slow one are told at once."""

    now: WatchedKernel | None = None
    is_starting = True  # the setup cell is on, or none yet

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        WatchedKernel.now = self

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the end of a cell. Raises KernelDied, ClockRanOut if it does not come."""
        patience = STARTING_SECONDS if self.is_starting else timeout or STARTING_SECONDS
        most_spent = self._processor_seconds() + patience
        deadline = time.monotonic() + patience * BUSY
        while True:
            try:
                super().await_reply(msg_id, timeout=POLL_SECONDS)
                return
            except Empty:
                if not self.is_alive():
                    raise KernelDied from None
                if self._processor_seconds() > most_spent or time.monotonic() > deadline:
                    self.kill()
                    raise ClockRanOut from None

    def _processor_seconds(self) -> float:
        """What the kernel has used so far; on a busy machine that is less than has passed."""
        try:
            times = psutil.Process(self.km.provisioner.process.pid).cpu_times()
        except psutil.Error:  # it has ended; that is found out elsewhere
            return 0.0
        return float(times.user + times.system)

    def kill(self) -> None:
        """End the kernel at once, whatever it is doing."""
        process = self.km.provisioner.process
        with contextlib.suppress(OSError, AttributeError):
            if os.name == "posix":  # a kernel leads a session of its own
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


class Notes:
    """What happened to which item, one line of JSON at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, **what: Any) -> None:
        with open(self._path, "a", encoding="ascii") as file:
            file.write(json.dumps(what) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Take the place of nbval's kernel and items, and watch whether the parent still lives."""
    nbval.plugin.RunningKernel = WatchedKernel
    IPyNbCell.from_parent = classmethod(_named)  # type: ignore[arg-type]  # given by name, too
    IPyNbCell.reportinfo = lambda item: (item.path, 0, item.name)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


_from_parent = IPyNbCell.from_parent.__func__


def _named(cls: type[IPyNbCell], parent: Any, **given: Any) -> IPyNbCell:
    """nbval's item, with the name that the cell has: student and exercise."""
    name = _about(given["cell"]).get("name", given["name"])
    return _from_parent(cls, parent, **given | {"name": name})


def _about(cell: Any) -> dict[str, Any]:
    """What the metadata of a cell say: its name and number, or that it is the setup cell."""
    return dict(cell.metadata.get(METADATA, {}))


def _end_with_the_parent() -> None:
    """The parent holds the other end of stdin. When that is closed, everything ends."""
    said = b""
    with contextlib.suppress(OSError):
        while more := os.read(0, 1024):
            said = more
    if WatchedKernel.now is not None:
        WatchedKernel.now.kill()
    if said != GOODBYE:  # it was killed, and cannot tidy up
        shutil.rmtree(os.getcwd(), ignore_errors=True)
    os._exit(3)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: IPyNbCell, call: pytest.CallInfo[None]) -> Any:
    """Note what stops the session, and stop it."""
    report = yield
    why = _why_to_stop(call, is_setup=bool(_about(item.cell).get("setup")))
    if why:
        Notes(item.path.parent / NOTES).add(item=_about(item.cell).get("item"), why=why)
        item.session.shouldstop = why
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: IPyNbCell) -> None:
    """Note which item is on, and which process runs it."""
    kernel = WatchedKernel.now
    process = kernel.km.provisioner.process if kernel else None
    pid = process.pid if process else None
    if kernel:
        kernel.is_starting = "item" not in _about(item.cell)
    Notes(item.path.parent / NOTES).add(
        item=_about(item.cell).get("item"), why="started", kernel=pid
    )


def _why_to_stop(call: pytest.CallInfo[None], is_setup: bool) -> str:
    """ "died", "clock", "setup", or nothing."""
    error = call.excinfo
    if error is None or call.when == "teardown":
        return ""
    if call.when == "setup" or is_setup:
        return "setup"
    if error.errisinstance(ClockRanOut):
        return "clock"
    kernel = WatchedKernel.now
    if error.errisinstance(KernelDied) or kernel is None or not kernel.is_alive():
        return "died"
    return ""
