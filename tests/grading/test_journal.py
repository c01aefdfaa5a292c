"""The journal: what is written completely is there again, and nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.grading.records import Judgement
from course_lib.grading.run_folder import Journal, key_of
from course_lib.wording.findings import finding

ONE = Judgement("mat_add", numbers_right=True, held=("float32 throughout",))
TWO = Judgement("mat_add", (finding("wrong-index", "Übel \udc80 \x00 {1}", 3, "Look."),))


def filled(path: Path) -> Path:
    journal = Journal(path)
    journal.add({"one": ONE})
    journal.add({"two": TWO})
    journal.close()
    return path


def known(path: Path) -> dict[str, Judgement]:
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
        assert known(path) == expected, length
        if length % 3 == 0:
            journal = Journal(path)
            journal.add({"three": TWO})
            journal.close()
            assert known(path) == {**expected, "three": TWO}, length


@given(st.binary(max_size=200), st.integers(0, 2000), st.integers(1, 255))
def test_a_changed_byte_is_noticed(tmp_path_factory, junk, place, change):
    path = filled(tmp_path_factory.mktemp("journal") / "journal")
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= change
    path.write_bytes(junk + bytes(data))
    found = known(path)
    assert found.items() <= {"one": ONE, "two": TWO}.items()


def test_a_record_with_a_right_checksum_is_looked_at_too(tmp_path: Path) -> None:
    from course_lib.grading import run_folder

    record = b'one {"exercise": "mat_add", "points": 10}'
    (tmp_path / "journal").write_bytes(run_folder._checksum(record) + b" " + record + b"\n")
    assert known(tmp_path / "journal") == {}
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
