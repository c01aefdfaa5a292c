"""Where batches are run: a pool of processes here, or a Dask cluster; and what if a worker dies.

Both are executors as concurrent.futures defines them. A job is a string, and so is its result.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from course_lib.grading.judging.worker import remove_leftovers
from course_lib.grading.records import CannotGrade

if TYPE_CHECKING:
    from distributed import Client

WAIT_SECONDS = 0.5
CONNECT_SECONDS = 5
_ADDRESS = re.compile(
    r"((?:tcp|tls)://)?(?P<host>[^\s:/\[\]]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5})"
)
T = TypeVar("T")
MOST_PROCESSES = 61 if os.name == "nt" else 1000  # of a pool; Windows cannot wait for more


@dataclass(frozen=True)
class Workplace:
    """How to get an executor (again, if one breaks), and how to leave it."""

    start: Callable[[], Executor]  # makes an executor
    stop: Callable[[Executor], None]  # ends one without waiting for the jobs that it has
    width: int  # how many jobs it can use at a time
    # the errors that mean that the worker of a job died
    died: tuple[type[BaseException], ...] = (BrokenExecutor,)
    # what keeps all jobs from ever being done, as a sentence; "" if nothing does
    problem: Callable[[], str] = lambda: ""


def process_pool(workers: int | None = None) -> Workplace:
    """Processes on this machine, one for each processor unless told otherwise."""
    count = min(workers or _processors(), MOST_PROCESSES)

    def start() -> Executor:
        # Started afresh, they inherit nothing; it is also the only way that all systems have.
        context = multiprocessing.get_context("spawn")
        return _Pool(count, mp_context=context, initializer=_begin_worker)

    return Workplace(start, _stop_pool, count)


def _processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def dask_cluster(address: str) -> Workplace:
    """The workers of a Dask cluster whose scheduler has this address.

    Raises CannotGrade if this is no address, or nobody answers there, or it has no workers.
    """
    _check_address(address)
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise CannotGrade(
            "Dask is not installed here; `python3 course.py grade` installs it."
        ) from None
    try:
        client = Client(address, timeout="20s", set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise _no_scheduler(address, error) from None
    threads = sum(client.nthreads().values())
    if not threads:
        client.close()
        raise CannotGrade(
            f"The Dask cluster at {address} has no workers; start some there: "
            f"`dask worker {address}`."
        )
    return _of_client(client, address, threads, KilledWorker)


def _check_address(address: str) -> None:
    """Raise at once if nobody answers there: Dask's own client takes long to give up."""
    form = _ADDRESS.fullmatch(address)
    if form is None or not 0 < int(form["port"]) < 2**16:
        raise CannotGrade(
            f"--dask {address!r} is not the address of a scheduler; write tcp://HOST:PORT, as "
            "`dask scheduler` prints it."
        )
    try:
        where = (form["host"].strip("[]"), int(form["port"]))
        with socket.create_connection(where, CONNECT_SECONDS) as line:
            # A scheduler speaks first. Its dashboard does not, and Dask's client waits for ever.
            if not address.startswith("tls:") and not line.recv(1):
                raise OSError("whatever answers there is not a scheduler")
    except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host is as long
        raise _no_scheduler(address, error) from None


def _no_scheduler(address: str, error: Exception) -> CannotGrade:
    return CannotGrade(
        f"No Dask scheduler answers at {address} ({error}); start one with `dask scheduler`, and "
        "workers with `dask worker ADDRESS`."
    )


def _of_client(
    client: Client, address: str, threads: int, killed: type[BaseException]
) -> Workplace:
    """A cluster that has answered; `killed` is its error for a worker that died."""

    def stop(executor: Executor) -> None:
        if not problem():
            executor.shutdown(wait=False)  # for Dask, this cancels what runs
        client.close()

    def problem() -> str:
        if client.status != "closed":  # while it tries to connect again, there is hope
            return ""
        return (
            f"The Dask scheduler at {address} is gone. What has been judged is kept. Start the "
            "scheduler again, and the same command continues from there."
        )

    def start() -> Executor:
        result: Executor = client.get_executor(pure=False)
        return result

    return Workplace(start, stop, threads, (killed,), problem)


def run_all(
    work: Callable[[str], str], workplace: Workplace, next_job: Callable[[], str | None]
) -> Generator[tuple[str, str | None], None, None]:
    """Run jobs until none is left; yield each with its result, in the order of completion.

    A job whose worker dies is run again with nothing beside it, so that it is certain whose fault
    it was; twice, because a death may also come from outside. If its worker dies each time, its
    result is None. Jobs are asked for only when there is room, and may be added while others run.
    """
    crew = _Crew(work, workplace)
    try:
        while True:
            while crew.has_room() and (job := next_job()) is not None:
                crew.submit(job)
            if crew.is_idle():
                break
            yield from crew.finished()
    except BaseException:
        crew.leave(at_once=True)
        raise
    crew.leave()


class _Crew:
    """An executor, the jobs that it has, and those whose worker has died once."""

    def __init__(self, work: Callable[[str], str], workplace: Workplace) -> None:
        self._work = work
        self._workplace = workplace
        self._died: tuple[type[BaseException], ...] = (*workplace.died, CancelledError)
        self._executor = workplace.start()
        self._running: dict[Future[str], str] = {}
        self._suspects: deque[str] = deque()
        self._alone = False  # what runs is a suspect
        self._died_alone: set[str] = set()

    def has_room(self) -> bool:
        # One job more than workers, so that no worker waits for its next one.
        return (
            not self._suspects and not self._alone and len(self._running) <= self._workplace.width
        )

    def is_idle(self) -> bool:
        return not self._running and not self._suspects

    def submit(self, job: str) -> None:
        try:
            self._running[self._executor.submit(self._work, job)] = job
        except self._died:  # it broke just now, and nobody has noticed yet
            self._suspects.append(job)

    def finished(self) -> Iterator[tuple[str, str | None]]:
        """Wait for something to happen; yield what is done."""
        if self._suspects and not self._running:
            self._begin_suspect()
        done, _ = wait(self._running, WAIT_SECONDS, FIRST_COMPLETED)
        if problem := self._workplace.problem():
            raise CannotGrade(problem)
        dead = []
        for future in done:
            job = self._running.pop(future)
            try:
                yield job, future.result()
            except self._died:
                dead.append(job)
        was_alone, self._alone = self._alone, self._alone and bool(self._running)
        for job in dead:
            if was_alone and job in self._died_alone:
                yield job, None
                continue
            if was_alone:
                self._died_alone.add(job)
            self._suspects.append(job)

    def _begin_suspect(self) -> None:
        self._alone = True
        job = self._suspects.popleft()
        self._renew()
        self._running[self._executor.submit(self._work, job)] = job

    def _renew(self) -> None:
        """Another executor in place of one that may be broken."""
        with contextlib.suppress(Exception):
            self._executor.shutdown(wait=False)
        self._executor = self._workplace.start()

    def leave(self, at_once: bool = False) -> None:
        if not at_once:
            self._executor.shutdown(wait=True)
        self._workplace.stop(self._executor)


# --- The processes of the pool -----------------------------------------------------------------


class _Pool(ProcessPoolExecutor):
    def submit(self, fn: Callable[..., T], /, *args: object, **kwargs: object) -> Future[T]:
        """Here processes and threads begin: cut short, they would leave tracebacks behind."""
        with _signals_wait():
            return super().submit(fn, *args, **kwargs)


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    """Ctrl-C and SIGTERM count once this is over.

    Processes that start meanwhile are blocked for Ctrl-C, which a terminal sends to them as well,
    until they say otherwise. Blocking this thread would not do for ourselves, since a signal goes
    to any thread that takes it, and Python then calls its handler here.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handled = (signal.SIGINT, signal.SIGTERM)
    before = {
        signum: signal.signal(signum, lambda number, _: came.append(number)) for signum in handled
    }
    _let_ctrl_c_through(False)
    try:
        yield
    finally:
        _let_ctrl_c_through(True)
        for signum, handler in before.items():
            signal.signal(signum, handler)
        if came:
            signal.raise_signal(came[0])


def _let_ctrl_c_through(yes: bool) -> None:
    """For this thread; Windows has no such thing."""
    if os.name != "nt":
        how = signal.SIG_UNBLOCK if yes else signal.SIG_BLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _begin_worker() -> None:
    """A worker leaves Ctrl-C to its parent, and ends when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _let_ctrl_c_through(True)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    remove_leftovers()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _stop_pool(executor: Executor) -> None:
    """End the workers now; what they have started ends with them, and their folders go."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    manager = getattr(executor, "_executor_manager_thread", None)
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5)
    if manager is not None:  # it waits for them, too; whoever comes second learns nothing
        manager.join(5)
    remove_leftovers()
