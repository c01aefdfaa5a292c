"""A set of files is replaced as a whole or not at all, wherever it fails or is killed."""

import builtins
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sampling import few

from course_lib.grading import sealed
from course_lib.grading.sealed import Damaged, FileSet, checksum, write_sealed

OLD = {"a.csv": b"old a", "b.csv": b"old b", "feedback/x.html": b"old x", ".work/c.json": b"1"}
NEW = {
    "a.csv": b"new a",
    "feedback/x.html": b"new x",
    "feedback/y.html": b"y",
    ".work/c.json": b"2",
}


def files(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def write(folder: Path, given: dict[str, bytes]) -> None:
    for name, data in given.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        sealed.write_whole(folder / name, data)


def known(given: dict[str, bytes]) -> dict[str, list[str]]:
    return {name: [checksum(data)] for name, data in given.items()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    write(tmp_path / "out", OLD)
    return tmp_path / "out"


def replace(out: Path, said: Callable[[list[str]], None] = lambda kept: None) -> None:
    """One run, as far as files go; like RunFolder.replace it takes back what failed."""
    there = FileSet(out, out / ".work")
    try:
        write(there.begin(), NEW)
        there.replace(known(OLD), ["b.csv"], said)
    except BaseException:
        with contextlib.suppress(OSError):
            there.undo()
        raise


STEPS: list[tuple[Any, str]] = [
    (os, "replace"), (os, "fsync"), (os, "chmod"), (Path, "unlink"), (Path, "mkdir"),
    (builtins, "open"), (Path, "open"), (Path, "read_bytes"),
]  # fmt: skip


class Killed(BaseException):
    """In the place of a signal that no process survives."""


class Steps:
    """Counts what is done to files; at one of these steps something happens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException) -> None:
        self.count, self.at, self.error = 0, at, error
        self.for_good = isinstance(error, Killed)
        for place, name in STEPS:
            monkeypatch.setattr(place, name, self.counted(getattr(place, name)))

    def counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **more: Any) -> Any:
            self.count += 1
            if self.count == self.at or (self.for_good and self.count > self.at > 0):
                raise self.error
            return real(*arguments, **more)

        return step


@pytest.mark.parametrize(
    "error", few([OSError(28, "No space left on device"), Killed()], 1), ids=type
)
def test_wherever_it_ends_there_is_one_set(tmp_path, monkeypatch, error):
    """A full disk leaves the old set at once; after a kill the next run finds one of the two."""
    with monkeypatch.context() as patched:
        write(tmp_path / "counting", OLD)
        steps = Steps(patched, 0, error)
        replace(tmp_path / "counting")
        total = steps.count
    assert total > 40
    seen = set()  # whether it was the new set
    for at in range(1, total + 1):
        out = tmp_path / str(at)
        write(out, OLD)
        with monkeypatch.context() as patched:
            Steps(patched, at, error)
            with contextlib.suppress(OSError, Killed):  # what only tidies up may fail
                replace(out)
        if isinstance(error, Killed):
            FileSet(out, out / ".work")
        there = files(out)
        assert there in (OLD, NEW), (at, there)
        seen.add(there == NEW)
        replace(out)
        assert files(out) == NEW
    assert False in seen


def test_what_was_said_is_taken_back_with_the_files(out: Path) -> None:
    def stop(kept: list[str]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace(out, stop)
    assert files(out) == OLD


def test_what_was_changed_by_hand_after_a_kill_is_kept(out, monkeypatch):
    def killed(self: FileSet, names: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(FileSet, "_settle", killed)
        with pytest.raises(Killed):
            there = FileSet(out, out / ".work")
            write(there.begin(), NEW)
            there.replace(known(OLD), ["b.csv"], lambda kept: None)
    assert (out / "a.csv").read_bytes() == b"new a"
    (out / "a.csv").write_bytes(b"mine")
    FileSet(out, out / ".work")
    assert files(out) == {**OLD, "changed_by_hand/a-1.csv": b"mine"}


def test_every_changed_bit_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_sealed(path, {"seed": 7, "name": "Zoë"})
    whole = path.read_bytes()
    assert sealed.unsealed(whole) == {"seed": 7, "name": "Zoë"}
    for place in range(len(whole)):
        for bit in range(8):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            with pytest.raises(Damaged):
                sealed.unsealed(bytes(data))
        with pytest.raises(Damaged):
            sealed.unsealed(whole[:place])
