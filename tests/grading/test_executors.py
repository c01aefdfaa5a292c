"""Batches on executors: nothing is lost when a worker dies, and the guilty batch is found."""

import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from grading_helpers import has_ended, threads, wait_for

from course_lib.grading.judging import executors
from course_lib.grading.judging.executors import Workplace, dask_cluster, process_pool, run_all
from course_lib.grading.records import CannotGrade

posix = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
REPOSITORY = Path(__file__).resolve().parents[2]


# Jobs; module-level, so that worker processes find them.


def shout(job: str) -> str:
    return job.upper()


def work(job: str) -> str:
    """Do what the job says: die always, die once (there is a file), or answer."""
    word, _, path = job.partition(" ")
    if word == "die" or (word == "once" and not Path(path).exists()):
        if path:
            Path(path).touch()
        os._exit(9)
    return f"{word} done"


def wait_long(job: str) -> str:
    Path(job).write_text(str(os.getpid()))
    time.sleep(60)
    return job


def results(workplace: Workplace, jobs: list[str], do=shout) -> dict[str, str | None]:
    queue = deque(jobs)
    done = list(run_all(do, workplace, lambda: queue.popleft() if queue else None))
    assert len(done) == len(jobs) == len(dict(done))
    return dict(done)


def test_jobs_are_asked_for_only_when_there_is_room() -> None:
    asked, done = 0, 0

    def next_job() -> str | None:
        nonlocal asked
        if asked == 20:
            return None
        asked += 1
        assert asked - done <= 3
        return str(asked)

    for _ in run_all(shout, threads(2), next_job):
        done += 1
    assert done == 20


class Fragile(Executor):
    """A pool that breaks, and takes everything along that it has, when a job says so."""

    def __init__(self, lethal: set[str], alone: list[set[str]]) -> None:
        self.lethal = lethal
        self.alone = alone
        self.held: dict[Future[str], str] = {}
        self.broken = False

    def submit(self, work, job: str) -> Future[str]:  # type: ignore[override]
        if self.broken:
            raise BrokenProcessPool("broken before")
        future: Future[str] = Future()
        self.held[future] = job
        if len(self.held) == 3 or job in self.lethal or job == "last":
            self.settle(work)
        return future

    def settle(self, work) -> None:
        jobs = set(self.held.values())
        self.broken = bool(jobs & self.lethal)
        if self.broken:
            self.alone.append(jobs)
        for future, job in self.held.items():
            if self.broken:
                future.set_exception(BrokenProcessPool("a worker died"))
            else:
                future.set_result(work(job))
        self.held.clear()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self.held:
            self.settle(shout)


def test_the_guilty_job_is_found_and_the_others_are_done() -> None:
    broken: list[set[str]] = []
    made = []

    def start() -> Executor:
        made.append(Fragile({"lethal"}, broken))
        return made[-1]

    place = Workplace(start, lambda pool: None, 1)
    # Each alone settles at once, as "last" does.
    found = results(place, ["last", "lethal", "last 2"][:2])
    assert found == {"last": "LAST", "lethal": None}
    assert broken[-1] == {"lethal"}, "tried again with nothing beside it"
    assert len(broken) == 3


def test_a_workplace_that_is_gone_is_no_endless_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course_lib.grading.judging.executors.WAIT_SECONDS", 0.01)

    class Silent(Executor):
        def submit(self, work, job: str) -> Future[str]:  # type: ignore[override]
            return Future()

    problems = iter(["", "", "The scheduler is gone."])
    stopped = []
    place = Workplace(Silent, stopped.append, 1, problem=lambda: next(problems, ""))
    with pytest.raises(CannotGrade, match="The scheduler is gone"):
        results(place, ["a", "b"])
    assert len(stopped) == 1


@pytest.mark.slow
def test_a_pool_survives_its_workers(tmp_path: Path) -> None:
    jobs = ["a", f"once {tmp_path / 'once'}", "b", f"die {tmp_path / 'die'}", "c", "d"]
    found = results(process_pool(2), jobs, work)
    assert found.pop(jobs[3]) is None
    assert found == {job: f"{job.split()[0]} done" for job in jobs if job != jobs[3]}


def number_in(path: Path) -> int:
    return int(wait_for(path.read_text))


def test_stopped_a_pool_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1)
    (tmp_path / f"grading-{int(gone.stdout)}-abc").mkdir()
    (tmp_path / f"grading-{os.getpid()}-abc").mkdir()  # of one that still works
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = process_pool(1)
    place.stop(place.start())
    assert [each.name for each in tmp_path.iterdir()] == [f"grading-{os.getpid()}-abc"]


@posix
@pytest.mark.slow
def test_stopped_a_pool_leaves_no_process(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    queue = deque([str(pid_file)])

    def next_job() -> str | None:
        if queue:
            return queue.popleft()
        number_in(pid_file)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_all(wait_long, process_pool(2), next_job))
    wait_for(lambda: has_ended(number_in(pid_file)))
    # A child that the pool's own thread has waited for is known as such a moment later.
    wait_for(lambda: not multiprocessing.active_children())


@posix
@pytest.mark.slow
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:4]\n"
        "if __name__ == '__main__':\n"
        "    import test_executors as t\n"
        "    t.results(t.process_pool(2), sys.argv[4:], t.wait_long)\n"
    )
    script = tmp_path / "run.py"
    script.write_text(code)
    files = [tmp_path / "one", tmp_path / "two"]
    here = Path(__file__).parent
    parent = subprocess.Popen([sys.executable, script, here, here.parent, REPOSITORY, *files])
    pids = [number_in(file) for file in files]
    parent.kill()
    parent.wait()
    wait_for(lambda: all(map(has_ended, pids)))


NO_ADDRESSES = ["foo", "", "nonsense://nowhere", "nonsense://here:1", "tcp://:1", "tcp://a:0",
                "a:65536", "a b:1", "tcp://a:1/x"]  # fmt: skip


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_is_refused_at_once(address, monkeypatch):
    monkeypatch.setattr(executors.socket, "create_connection", lambda *_: pytest.fail("tried"))
    said = "is not the address of a scheduler; write tcp://HOST:PORT"
    with pytest.raises(CannotGrade, match=said):
        dask_cluster(address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{}", "127.0.0.1:{}", "{}.invalid:1"])
def test_a_dask_scheduler_that_is_not_there(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = address.format(free.getsockname()[1])
    # Dask's own client would wait, and try again and again.
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("it waits"))
    with pytest.raises(CannotGrade, match=f"No Dask scheduler answers at {address} "):
        dask_cluster(address)


def test_what_is_not_dask_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CONNECT_SECONDS", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(CannotGrade, match="No Dask scheduler answers at"):
            dask_cluster(f"127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.slow
def test_dask_with_worker_processes(cluster, tmp_path: Path) -> None:
    place = dask_cluster(cluster.scheduler_address)
    assert place.width == 2
    jobs = ["a", "b", f"once {tmp_path / 'once'}", "c"]
    found = results(place, jobs, work)
    assert found == {job: f"{job.split()[0]} done" for job in jobs}
