"""A run's folder: a set of files is replaced as a whole or not at all, and its journal holds."""

import builtins
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from grading_helpers import files_in
from hypothesis import given
from hypothesis import strategies as st
from sampling import few

from course_lib.grading import sealed
from course_lib.grading.records import Judgement
from course_lib.grading.run_folder import Journal, key_of
from course_lib.grading.sealed import Damaged, FileSet, checksum, write_sealed
from course_lib.wording.findings import finding

OLD = {"a.csv": b"old a", "b.csv": b"old b", "feedback/x.html": b"old x", ".work/c.json": b"1"}
NEW = {"a.csv": b"new a", "feedback/x.html": b"new x", "feedback/y.html": b"y"}
NEW[".work/c.json"] = b"2"


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
        there = files_in(out)
        assert there in (OLD, NEW), (at, there)
        seen.add(there == NEW)
        replace(out)
        assert files_in(out) == NEW
    assert False in seen


def test_what_was_said_is_taken_back_with_the_files(out: Path) -> None:
    def stop(kept: list[str]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace(out, stop)
    assert files_in(out) == OLD


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
    assert files_in(out) == {**OLD, "changed_by_hand/a-1.csv": b"mine"}


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


ONE = Judgement("mat_add", numbers_right=True, held=("float32 throughout",))
TWO = Judgement("mat_add", (finding("wrong-index", "Übel \udc80 \x00 {1}", 3, "Look."),))


def filled(path: Path) -> Path:
    journal = Journal(path)
    journal.add({"one": ONE})
    journal.add({"two": TWO})
    journal.close()
    return path


def judged_before(path: Path) -> dict[str, Judgement]:
    journal = Journal(path)
    return {key: journal[key] for key in ("one", "two", "three") if key in journal}


def test_cut_off_anywhere_it_holds_whole_records_only(tmp_path: Path) -> None:
    """As a kill leaves it; and what is added after that is there, too."""
    path = filled(tmp_path / "journal")
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for length in {*range(0, len(whole), 5), first, first + 1, len(whole) - 1}:
        path.write_bytes(whole[:length])
        expected = {"one": ONE} if length >= first else {}
        if length == len(whole) - 1:  # only the end of the line is missing
            expected["two"] = TWO
        assert judged_before(path) == expected, length
        if length % 3 == 0:
            journal = Journal(path)
            journal.add({"three": TWO})
            journal.close()
            assert judged_before(path) == {**expected, "three": TWO}, length


@given(st.binary(max_size=200), st.integers(0, 2000), st.integers(1, 255))
def test_a_changed_byte_is_noticed(tmp_path_factory, junk, place, change):
    path = filled(tmp_path_factory.mktemp("journal") / "journal")
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= change
    path.write_bytes(junk + bytes(data))
    found = judged_before(path)
    assert found.items() <= {"one": ONE, "two": TWO}.items()


def test_a_record_with_a_right_checksum_is_looked_at_too(tmp_path: Path) -> None:
    from course_lib.grading import run_folder

    record = b'one {"exercise": "mat_add", "points": 10}'
    (tmp_path / "journal").write_bytes(run_folder._checksum(record) + b" " + record + b"\n")
    assert judged_before(tmp_path / "journal") == {}
    assert Journal(tmp_path / "journal").dropped == 1


def test_every_part_of_a_key_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    base = ("mat_add", "text", "context", 1)
    others = [("mat_mul", *base[1:]), ("mat_add", "text ", *base[2:]), (*base[:2], "", 1)]
    others += [(*base[:3], 2), ("mat_add", "\udc80", "\x00", 3)]
    keys = [key_of(*each) for each in [base, *others]]
    assert len(set(keys)) == len(keys)
    assert key_of(*base) == keys[0]
    monkeypatch.setattr("course_lib.grading.run_folder.grader_version", lambda: "another")
    assert key_of(*base) != keys[0]
