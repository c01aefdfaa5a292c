"""Whose submission is what, in folders and archives of every kind; and nothing harms anything."""

import io
import os
import socket
import struct
import sys
import unicodedata
import zipfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from every_case import every_case
from notebook_texts import saved

from course_lib.grading.intake import layout, listing, submissions
from course_lib.grading.intake.layout import Owner, displayed, keys_of, owner_of
from course_lib.grading.intake.submissions import each_submission
from course_lib.grading.records import CannotGrade, Submission

NOTEBOOK = saved([("code", "# EXERCISE mat_add\n")])
STAMP = (2026, 1, 31, 12, 30, 0)


def write(folder: Path, *names: str, data: bytes = NOTEBOOK) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def zipped(*names: str, data: bytes = NOTEBOOK, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in names:
            inside = b"" if name.endswith("/") else data
            archive.writestr(zipfile.ZipInfo(name, STAMP), inside, method)
    return file.getvalue()


def found(path: Path) -> dict[str, Submission]:
    return {each.key: each for each in each_submission(path)}


def labels(submission: Submission) -> list[str]:
    return [file.label for file in submission.files]


def problems(submission: Submission) -> list[str]:
    return [file.problem for file in submission.files if file.problem]


def in_zip(tmp_path: Path, data: bytes) -> dict[str, Submission]:
    return found(write(tmp_path, "all.zip", data=data) / "all.zip")


def all_labels(class_: dict[str, Submission]) -> dict[str, list[str]]:
    return {key: labels(each) for key, each in class_.items()}


def test_what_programs_leave_behind_is_ignored_and_backslashes_are_read(tmp_path):
    names = "s12/x.ipynb s12/.ipynb_checkpoints/x-checkpoint.ipynb __MACOSX/s12/._x.ipynb .DS_Store"
    names += " s12/._x.ipynb s12/.venv/lib/y.ipynb .ipynb_checkpoints/s12-checkpoint.ipynb"
    write(tmp_path / "a", *names.split())
    assert all_labels(found(tmp_path / "a")) == {"s12": ["s12/x.ipynb"]}
    class_ = in_zip(tmp_path, zipped("s12\\05.ipynb", "s7\\05.ipynb", "./s8/05.ipynb"))
    assert all_labels(class_) == {key: [f"{key}/05.ipynb"] for key in ("s12", "s7", "s8")}


@pytest.mark.parametrize(("names", "students"), [
    (["all/s1/x.ipynb", "all/s2/x.ipynb"], ["s1", "s2"]),
    (["all/week 5/s1/x.ipynb", "all/week 5/s2/x.ipynb"], ["s1", "s2"]),
    (["s1/x.ipynb"], ["s1"]),
    (["s1/05_shared_memory_tiling.ipynb", "s1/06_tile_size_and_occupancy.ipynb"], ["s1"]),
    (["s1/exercises/a.ipynb", "s1/notebooks/a.ipynb"], ["s1"]),
    (["all/anna_123_4567_x.ipynb"], ["anna-123"]),
    (["Some One_123_assignsubmission_file_/deep/x.ipynb"], ["Some-One-123"]),
])  # fmt: skip
def test_a_folder_around_everything(tmp_path, names, students):
    assert list(in_zip(tmp_path, zipped(*names))) == students
    assert list(found(write(tmp_path / "folder", *names))) == students


def test_notebooks_and_scripts_in_one_folder_are_a_students_or_in_an_archive_a_class(tmp_path):
    names = ["all/s1.ipynb", "all/s2.ipynb"]
    assert list(in_zip(tmp_path, zipped(*names))) == ["s1", "s2"]
    assert list(found(write(tmp_path / "folder", *names))) == ["all"]
    alone = [f"s1/{STEM}.ipynb", "s1/helper.py"]
    assert list(in_zip(tmp_path, zipped(*alone))) == ["s1"]
    several = [f"all/{STEM}.ipynb", "all/s1.py", "all/s2.py"]
    assert list(in_zip(tmp_path, zipped(*several))) == [STEM, "s1", "s2"]


STEM = "05_shared_memory_tiling"


@pytest.mark.parametrize(("names", "students"), [
    ([f"{STEM}_alice", f"{STEM}_bob"], [f"{STEM}_alice", f"{STEM}_bob"]),
    (["05_alice", "05_bob", STEM], ["05_alice", "05_bob", STEM]),
    ([STEM, f"{STEM}_alice"], [STEM, f"{STEM}_alice"]),
    ([STEM, "06_tile_size_and_occupancy"], ["class"]),
    ([f"{STEM} (1)", f"{STEM}-Copy1", f"{STEM} - Copy (2)", f"Copy of {STEM}"], ["class"]),
])  # fmt: skip
def test_only_what_is_called_as_the_lessons_are_is_one_students(tmp_path, names, students):
    assert list(in_zip(tmp_path, zipped(*(f"class/{name}.ipynb" for name in names)))) == students


@pytest.mark.parametrize("wrapping", ["", "class/"])
def test_every_students_folder_gets_a_row(tmp_path, wrapping):
    names = "s1/x.ipynb s1/empty/ s2/x.ipynb s3/.DS_Store s4/notes.txt s5/ s6/a/ "
    names += "__MACOSX/s1/._x.ipynb .idea/ .ipynb_checkpoints/"
    wrapped = [wrapping + name for name in names.split()]
    class_, on_disk = in_zip(tmp_path, zipped(*wrapped)), tmp_path / "folder"
    for name in wrapped:
        if name.endswith("/"):
            (on_disk / name).mkdir(parents=True)
        else:
            write(on_disk, name)
    assert class_ == found(on_disk)
    assert list(class_) == ["s1", "s2", "s3", "s4", "s5", "s6"]
    assert problems(class_["s1"]) == [] and class_["s1"].problem is None
    assert "not contain any student's work" in class_["s3"].problem
    assert "there is notes.txt" in class_["s4"].problem
    assert "empty" in class_["s5"].problem and "empty" in class_["s6"].problem


def test_files_that_are_nobodys_are_named_in_one_note(tmp_path, caplog):
    write(tmp_path / "a", "s1.ipynb", "s2.json", "README.md", "no\u202eend", ".DS_Store", ".hidden")
    assert list(found(tmp_path / "a")) == ["s1"]
    assert caplog.messages == [
        "Note: 3 files were ignored (not a notebook, and not in a student's folder): "
        "README.md, noend, s2.json."
    ]
    caplog.clear()
    write(tmp_path / "b", "all/s1/x.ipynb", "all/s2/x.ipynb", "all/inner.csv", "outer.txt")
    assert list(found(tmp_path / "b")) == ["s1", "s2"]
    assert "2 files were" in caplog.text and "inner.csv, outer.txt." in caplog.text
    caplog.clear()
    write(tmp_path / "c", "s1/notes.txt", "s2.pdf", "s3.ipynb")
    assert len(found(tmp_path / "c")) == 3 and not caplog.messages


def test_one_strange_entry_does_not_keep_the_others_in_their_wrapping(tmp_path):
    names = ["all/s1/x.ipynb", "all/s2/x.ipynb", "all/s3/y.ipynb", "../evil.ipynb", "README.md"]
    class_ = in_zip(tmp_path, patched(zipped(*names), b"all/s3/y.ipynb", 8, b"\1\0"))
    assert [key for key in class_ if "evil" not in key] == ["s1", "s2", "s3"]
    assert "encrypted" in class_["s3"].problem and len(class_) == 4


def test_a_folder_that_holds_nothing_but_the_archive_of_a_class(tmp_path):
    write(tmp_path, "download.zip", data=zipped("anna_12_3456_a.ipynb", "bert_13_3457_a.ipynb"))
    assert list(found(tmp_path)) == ["anna-12", "bert-13"]
    write(tmp_path, "download.zip", data=zipped("05.ipynb", "06.ipynb"))
    assert list(found(tmp_path)) == ["download"]


def test_archives_that_programs_write_in_their_own_way(tmp_path):
    file = io.BytesIO()
    # A file that can only be written on and on, as a web server writes an archive.
    stream = SimpleNamespace(write=file.write, flush=file.flush)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("s1/x.ipynb", "w", force_zip64=True) as entry:
            entry.write(NOTEBOOK)
        archive.writestr("s2/", "")
        archive.writestr("s2/x.ipynb", NOTEBOOK)
    data = file.getvalue() + b"a comment"
    macos = zipped("MXXller.ipynb").replace(b"MXXller", "Müller".encode())
    assert [each.problem for each in in_zip(tmp_path, data).values()] == [None, None]
    assert [each.student for each in in_zip(tmp_path, macos).values()] == ["Müller"]


def test_a_zip_in_a_students_folder_or_instead_of_it(tmp_path):
    inner = zipped("05.ipynb", "sub/06.ipynb", "__MACOSX/._05.ipynb")
    write(tmp_path, "s12/work.zip", "s7.zip", data=inner)
    files = {"s12": "s12/work.zip", "s7": "s7.zip"}
    assert all_labels(found(tmp_path)) == {
        key: [f"{name}/05.ipynb", f"{name}/sub/06.ipynb"] for key, name in files.items()
    }


SCRIPT = b"# EXERCISE mat_add\ndef mat_add(): pass\n"


def test_scripts_count_alone_and_beside_notebooks(tmp_path):
    """Of two that were handed in together, the notebook's answer comes later and so counts."""
    write(tmp_path, "s1/a.py", "s2/z.py", "s3/b.py", "s4.py", data=SCRIPT)
    write(tmp_path, "s2/a.ipynb", "s4.ipynb")
    write(tmp_path, "s3/a.ipynb", data=b"")
    class_ = found(tmp_path)
    assert [len(file.cells) for file in class_.pop("s3").files] == [1, 0]
    assert all_labels(class_) == {
        "s1": ["s1/a.py"], "s2": ["s2/z.py", "s2/a.ipynb"], "s4": ["s4.py", "s4.ipynb"],
    }  # fmt: skip


def test_a_script_that_says_nothing_is_no_answer_that_nobody_could_read(tmp_path):
    write(tmp_path, "s1/a.ipynb")
    write(tmp_path, "s1/__init__.py", "s2/__init__.py", "s3/a.ipynb", data=b"")
    class_ = found(tmp_path)
    assert labels(class_["s1"]) == ["s1/a.ipynb"]
    unread = {key: [file.is_unread for file in each.files] for key, each in class_.items()}
    assert unread == {"s1": [False], "s2": [False], "s3": [True]}


def test_the_courses_own_python_and_solutions_are_not_an_answer(tmp_path):
    """In a repository of GitHub Classroom lies the course, with kernels that are right."""
    ours = ["course.py", "course_lib/figures/watch/kernels.py", "tests/styles/answers/mat_add/a.py"]
    write(tmp_path, *(f"s1/{name}" for name in ours), "s1/exercises/a.py", data=SCRIPT)
    write(tmp_path, "s1/exercises/05.ipynb")
    write(tmp_path, *(f"s2/repo/{name}" for name in ours), data=SCRIPT)
    write(tmp_path, "s3/tests/mine.py", data=SCRIPT)
    exercises = ["s1/exercises/a.py", "s1/exercises/05.ipynb"]
    assert all_labels(found(tmp_path)) == {"s1": exercises, "s2": [], "s3": ["s3/tests/mine.py"]}
    names = ["s1/exercises/05.ipynb", "s1/solutions/05.ipynb", "s2/Solutions/05.ipynb"]
    class_ = found(write(tmp_path / "with solutions", *names))
    assert [len(file.cells) for file in class_["s1"].files] == [1, 0]
    assert "solutions" in problems(class_["s1"])[0]
    assert problems(class_["s2"]) == []


def test_one_who_handed_in_something_else_gets_a_row(tmp_path):
    write(tmp_path, "s1/report.docx", "s2.pdf", "s3/a.ipynb", data=b"%PDF")
    (tmp_path / "s4").mkdir()
    (tmp_path / "s5.ipynb").mkdir()
    class_ = found(tmp_path)
    assert "there is report.docx" in class_["s1"].problem
    assert "No notebook" in class_["s2.pdf"].problem
    assert class_["s3"].problem == (
        "s3/a.ipynb cannot be read. The file is a PDF and not a notebook, whatever its name says: "
        "hand in the .ipynb file itself."
    )
    assert "empty" in class_["s4"].problem and "empty" in class_["s5"].problem


@every_case(("name", "is_folder", "student", "platform", "number"), [
    ("lastfirst_12345_67890_hw.ipynb", False, "lastfirst", "canvas", "12345"),
    ("lastfirst_LATE_12345_67890_hw-1.ipynb", False, "lastfirst", "canvas", "12345"),
    ("lastfirst_12345_67890_x_99_100_y.ipynb", False, "lastfirst", "canvas", "12345"),
    ("müller_a_b_12345_67890_hw.ipynb", False, "müller_a_b", "canvas", "12345"),
    ("anon_Xy12Z_67890_hw.ipynb", False, "anon_Xy12Z", "canvas", "anon_Xy12Z"),
    ("LATE_anon_Xy12Z_67890_hw.ipynb", False, "anon_Xy12Z", "canvas", "anon_Xy12Z"),
    ("lastfirst_12345_text.html", False, "lastfirst", "canvas", "12345"),
    ("Some One_123_assignsubmission_file_", True, "Some One", "moodle", "123"),
    ("Some One_123_assignsubmission_file", True, "Some One", "moodle", "123"),
    ("Some One_123_assignsubmission_onlinetext_", True, "Some One", "moodle", "123"),
    ("Some One_123_assignsubmission_file_hw.ipynb", False, "Some One", "moodle", "123"),
    ("Team A_assignsubmission_file_hw.ipynb", False, "Team A", "moodle", None),
    ("Lab 1_s12_attempt_2026-01-31-12-30-00_hw.ipynb", False, "s12", "blackboard", None),
    ("1234-99 - Some One - Jan 31, 2026 1230 PM", True, "Some One", "brightspace", "1234"),
    ("1234-99 - Some One - 31 January, 2026 930 AM", True, "Some One", "brightspace", "1234"),
    ("lab_01_02_s7.ipynb", False, "lab_01_02_s7", None, None),
    ("s12_5.ipynb", False, "s12_5", None, None),
    ("2026_10_hw.ipynb", False, "2026_10_hw", None, None),
])  # fmt: skip
def test_names_of_platforms(name, is_folder, student, platform, number):
    owner = owner_of(name, is_folder)
    assert (owner.student, owner.platform, owner.platform_id) == (student, platform, number)


def test_names_on_canvas_and_what_looks_like_them_by_chance(tmp_path):
    names = "annas_12345_99_hw.ipynb annas_LATE_12345_9990_hw-2.ipynb annas_12345_12345_hw-1.ipynb "
    names += "annas_LATE_12345_7000_other.ipynb annas_54321_8000_hw.ipynb bert_777_text.html"
    class_ = found(write(tmp_path / "a", *names.split()))
    assert list(class_) == ["annas-12345", "annas-54321", "annas_12345_99_hw", "bert-777"]
    orders = [label.split("_")[-2] for label in labels(class_["annas-12345"])]
    assert orders == ["7000", "9990", "12345"]
    assert "No notebook" in class_["bert-777"].problem
    names = [f"lab_10_2026_s{number}.ipynb" for number in range(3)]
    class_ = found(write(tmp_path / "b", *names, "bert_777_text.html", "carl_778_link.html"))
    students = ["bert", "carl", *(name.removesuffix(".ipynb") for name in names)]
    assert [each.student for each in class_.values()] == students


def test_attempts_of_blackboard_and_brightspace_are_in_their_order(tmp_path):
    write(tmp_path, "b/L_s1_attempt_2026-10-01-09-00-00_a.ipynb")
    write(tmp_path, "b/L_s1_attempt_2026-09-30-23-59-59_b.ipynb")
    write(tmp_path, "b/L_s1_attempt_2026-09-30-23-59-59.txt")
    assert [label[-7] for label in labels(found(tmp_path / "b")["s1"])] == ["b", "a"]
    write(tmp_path, "d/7-1 - Some One - Feb 1, 2026 1205 AM/b.ipynb")
    write(tmp_path, "d/7-1 - Some One - Jan 31, 2026 1130 PM/a.ipynb")
    write(tmp_path, "d/7-1 - Some One - Feb 1, 2026 115 PM/c.ipynb", "d/index.html")
    assert [label[-7] for label in labels(found(tmp_path / "d")["Some-One-7"])] == ["a", "b", "c"]


HARD_NAMES = [
    "con", "AUX", "nul.tar", "COM1", "lpt9", ".", "..", "...", "-", "a b", "a/b", "a\\b", "a:b",
    "a\0b", "a\nb", "=1+1", "@x", "<script>", "é", unicodedata.normalize("NFD", "é"), "e", "E",
    "ß", "ss", "大", "小", "\u202egnp.exe", "x\u200b", "x", "X", "x.", "x ", " x", "x" * 5000,
    "x" * 5001, "\udce9", "🙂", "%00", "~", "$HOME", "`id`", "a;b", "name-x",
]  # fmt: skip


def test_keys_are_unique_and_safe_and_follow_from_their_owner():
    owners = [Owner(displayed(name), raw=name + ".ipynb") for name in HARD_NAMES]
    keys = keys_of(owners)
    assert len({key.casefold() for key in keys}) == len(owners)
    for key in keys:
        assert key.isascii() and key == key.strip("-._ ") and 0 < len(key) <= 140
        assert not set(key) & set('<>:"/\\|?*\0 %$`;~')
        assert not layout._RESERVED.fullmatch(key)
    together = dict(zip(owners, keys_of(owners), strict=True))
    alone = {owner: keys_of([owner])[0] for owner in owners}
    differ = {owner.raw for owner in owners if together[owner] != alone[owner]}
    assert differ == {"e.ipynb", "E.ipynb", "x.ipynb", "X.ipynb"}
    assert keys_of(owners[::-1]) == keys_of(owners)[::-1]


@every_case(("name", "shown"), [
    ("a\u202eb\u200bc\x07d", "abcd"),
    ("a\n\tb\u2003 c", "a b c"),
    ("e\u0301", "é"),
    ("", "(no name)"),
    ("\u200b", "(no name)"),
    ("x" * 100, "x" * 79 + "…"),
    ("\udce9x", "�x"),
])  # fmt: skip
def test_names_for_people(name, shown):
    assert displayed(name) == shown


def test_two_students_or_two_entries_of_one_name(tmp_path):
    composed, split = "Ren\u00e9", unicodedata.normalize("NFD", "Ren\u00e9")
    names = [f"{composed}.ipynb", f"{split}.ipynb", "ann.ipynb", "Ann.ipynb", "ann/x.ipynb"]
    class_ = in_zip(tmp_path, zipped(*names))
    assert sorted(each.student for each in class_.values()) == ["Ann", "René", "René", "ann", "ann"]
    assert all(each.problem is None for each in class_.values())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, pytest.warns(UserWarning):
        archive.writestr("s1.ipynb", saved([("code", "first")]))
        archive.writestr("s1.ipynb", saved([("code", "second")]))
    cells = [each.cells[0].text for each in in_zip(tmp_path, file.getvalue())["s1"].files]
    assert cells == ["first", "second"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_unicode(tmp_path):
    write(tmp_path, "s1.ipynb")
    with open(os.fsencode(tmp_path) + b"/\xff\xfe.ipynb", "wb") as file:
        file.write(NOTEBOOK)
    class_ = found(tmp_path)
    assert [each.student for each in class_.values()] == ["��", "s1"]
    assert all(each.problem is None for each in class_.values())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes on this system")
def test_links_pipes_and_sockets_are_neither_followed_nor_opened(tmp_path):
    secret = write(tmp_path / "outside", "secret.ipynb") / "secret.ipynb"
    class_folder = write(tmp_path / "class", "s1.ipynb", "s2/x.ipynb")
    (class_folder / "s3.ipynb").symlink_to(secret)
    (class_folder / "s4").symlink_to(secret.parent)
    (class_folder / "s4.ipynb").symlink_to("/dev/zero")
    (class_folder / "s2" / "y.ipynb").symlink_to(secret)
    (class_folder / "s2" / "deep").symlink_to(class_folder)
    os.mkfifo(class_folder / "s5.ipynb")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(class_folder / "s6.ipynb"))
        class_ = found(class_folder)
    assert list(class_) == ["s1", "s2", "s3", "s4", "s5", "s6"]
    assert [key for key, each in class_.items() if each.problem is None] == ["s1", "s2"]
    assert "link" in class_["s3"].problem and "pipe" in class_["s5"].problem
    assert len(problems(class_["s2"])) == 2 and "link" in problems(class_["s2"])[0]
    assert sum(len(file.cells) for each in class_.values() for file in each.files) == 2


def test_a_file_that_becomes_a_pipe_while_it_is_listed_does_not_block(tmp_path, monkeypatch):
    write(tmp_path, "s1.ipynb")
    entry = next(listing.entries_of_folder(tmp_path))
    (tmp_path / "s1.ipynb").unlink()
    os.mkfifo(tmp_path / "s1.ipynb")
    with pytest.raises(submissions.Unreadable, match="not a file"):
        entry.read()


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    write(tmp_path, "s1.ipynb", "s2.ipynb")
    opened = os.open

    def refusing(path, *arguments, **options):
        if str(path).endswith("s1.ipynb"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refusing)
    class_ = found(tmp_path)
    assert "Permission denied" in class_["s1"].problem and class_["s2"].problem is None


def test_folders_beyond_all_measure(tmp_path, monkeypatch):
    monkeypatch.setattr(listing, "MAX_ENTRIES", 10)
    write(tmp_path, *(f"s1/{number}.ipynb" for number in range(11)))
    write(tmp_path, "s2/" + "d/" * 14 + "x.ipynb", "s3/x.ipynb")
    write(tmp_path, *(f"s4/{number}/{x}.ipynb" for number in range(4) for x in range(4)))
    class_ = found(tmp_path)
    assert "more than 10" in class_["s1"].problem
    assert "nested" in class_["s2"].problem
    assert class_["s3"].problem is None
    assert class_["s4"].problem is None and "more than 10" in problems(class_["s4"])[-1]


def test_too_many_and_too_large_notebooks(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "MAX_NOTEBOOKS", 3)
    monkeypatch.setattr(submissions, "_Budget", partial(submissions._Budget, notebooks=3))
    write(tmp_path, *(f"s1/{number}.ipynb" for number in range(5)))
    with open(tmp_path / "s2.ipynb", "wb") as file:
        file.truncate(3_000_000_000)  # takes no room on the disk
    class_ = found(tmp_path)
    assert len(class_["s1"].files) == 4 and "more than 3" in problems(class_["s1"])[0]
    assert "3,000,000,000 bytes" in class_["s2"].problem


def test_much_text_over_many_notebooks(tmp_path):
    write(tmp_path, *(f"s1/{n}.ipynb" for n in range(4)), data=saved([("code", "x" * 250_000)]))
    write(tmp_path, "s1/small.ipynb")
    assert [len(file.cells) for file in found(tmp_path)["s1"].files] == [1, 1, 0, 0, 1]


def test_paths_that_are_tricks_and_null_characters_have_rows_of_their_own(tmp_path):
    names = ["../s1.ipynb", "s1/../../s2.ipynb", "/etc/s3.ipynb", "C:\\s4.ipynb"]
    names += ["\\\\host\\s5.ipynb", "x" * 2000 + ".ipynb"]
    names += ["../Some One_12_assignsubmission_file_/x.ipynb"]
    honest = ["s1.ipynb", "s2/x.ipynb", "Some One_12_assignsubmission_file_/x.ipynb"]
    class_ = in_zip(tmp_path, zipped(*honest, *names))
    good = {key for key, each in class_.items() if each.problem is None}
    assert good == {"s1", "s2", "Some-One-12"}
    assert len(class_) == len(honest) + len(names)
    assert [each.platform for each in class_.values()].count("moodle") == 1
    assert sorted(os.listdir(tmp_path)) == ["all.zip"]
    data = zipped("s1.ipynb", "s2.ipynbXtxt").replace(b"ipynbXtxt", b"ipynb\0txt")
    class_ = in_zip(tmp_path, data)
    assert [each.problem is None for each in class_.values()] == [True, False]
    assert any("null" in (each.problem or "") for each in class_.values())


def patched(data: bytes, name: bytes, offset: int, value: bytes) -> bytes:
    """An archive with something else in an entry of its list."""
    place = data.index(name, data.index(b"PK\x01\x02")) - 46
    assert data[place : place + 4] == b"PK\x01\x02"
    return data[: place + offset] + value + data[place + offset + len(value) :]


@pytest.mark.parametrize(("offset", "value", "said"), [
    (8, struct.pack("<H", 1), "encrypted"),
    (10, struct.pack("<H", 12), "ordinary ZIP"),  # bzip2
    (10, struct.pack("<H", 99), "ordinary ZIP"),
    (16, struct.pack("<I", 5), "damaged"),  # the checksum
    (24, struct.pack("<I", 10), "damaged"),  # the size: smaller than it is
    (24, struct.pack("<I", 19_000_000), "cut off"),  # larger
    (24, struct.pack("<I", 4_000_000_000), "4,000,000,000 bytes"),
    (42, struct.pack("<I", 3), "shares its bytes"),  # the place in the archive
    (42, struct.pack("<I", 2_000_000_000), "damaged"),
])  # fmt: skip
def test_one_entry_that_lies(tmp_path, offset, value, said):
    data = patched(zipped("s0.ipynb", "s1.ipynb", "s2.ipynb"), b"s1.ipynb", offset, value)
    class_ = in_zip(tmp_path, data)
    assert said in class_["s1"].problem
    others = {key: each.problem for key, each in class_.items() if key != "s1"}
    assert all(problem is None for problem in others.values()) or "shares" in others["s0"]


VERSION, UTF8, EXTRA = (6, b"\xff\0"), (8, b"\0\x08"), (30, b"\x09\0\0\0")


@pytest.mark.parametrize(("offset", "value"), [VERSION, UTF8, EXTRA])
def test_one_entry_that_zipfile_would_refuse_all_for(tmp_path, offset, value):
    name = b"s\xff.ipynb"
    file = zipped("s0.ipynb", "sX.ipynb", "s2.ipynb").replace(b"sX.ipynb", name)
    if offset == 30:  # nine bytes more, which are no extra field
        place = file.index(name, file.index(b"PK\x01\x02")) + len(name)
        file = file[:place] + b"\1\0\xff\xffgarba" + file[place:]
        end = file.index(b"PK\x05\x06")
        (size,) = struct.unpack_from("<I", file, end + 12)
        file = file[: end + 12] + struct.pack("<I", size + 9) + file[end + 16 :]
    class_ = in_zip(tmp_path, patched(file, name, offset, value))
    assert len(class_) == 3
    assert class_["s0"].problem is None and class_["s2"].problem is None


def test_entries_that_share_their_bytes(tmp_path):
    data = zipped("s0.ipynb", "s1.ipynb", "s2.ipynb")
    (place,) = struct.unpack_from("<I", data, data.index(b"s0.ipynb", data.index(b"PK\1\2")) - 4)
    class_ = in_zip(tmp_path, patched(data, b"s1.ipynb", 42, struct.pack("<I", place)))
    assert "ZIP bomb" in class_["s0"].problem and "ZIP bomb" in class_["s1"].problem
    assert class_["s2"].problem is None


def test_a_bomb_or_many_archives_in_a_students_folder(tmp_path):
    bomb = zipped("a.ipynb", data=b"\0" * 30_000_000)
    assert len(bomb) < 40_000
    write(tmp_path, "s1/bomb.zip", data=bomb)
    write(tmp_path, "s2/nested.zip", data=zipped("bomb.zip", "ok.ipynb", data=NOTEBOOK))
    write(tmp_path, "s3.ipynb")
    class_ = found(tmp_path)
    assert "30,000,000 bytes" in class_["s1"].problem
    assert class_["s2"].problem is None and "inside another" in problems(class_["s2"])[0]
    assert class_["s3"].problem is None
    write(tmp_path / "b", *(f"s1/{number:02}.zip" for number in range(15)), data=zipped("a.ipynb"))
    files = found(tmp_path / "b")["s1"].files
    assert sum(len(file.cells) for file in files) == 10
    (problem,) = (file.problem for file in files if file.problem)
    assert problem == "The submission contains more than 10 ZIP archives."


@pytest.mark.slow
def test_archives_of_many_entries(tmp_path, monkeypatch):
    many = zipped(*(f"{number}.txt" for number in range(6000)), data=b"")
    write(tmp_path / "class", "s1/many.zip", data=many)
    write(tmp_path / "class", "s2.ipynb")
    class_ = found(tmp_path / "class")
    assert "5,000" in class_["s1"].problem and class_["s2"].problem is None
    monkeypatch.setattr(listing, "MOST_LISTED", 5000)
    with pytest.raises(CannotGrade, match="lists more than 5,000 files"):
        in_zip(tmp_path, many)


def test_a_list_of_entries_that_claims_to_be_huge(tmp_path):
    data = bytearray(zipped("a.ipynb") + b"\0" * 3_000_000)
    end = data.index(b"PK\x05\x06")
    data[end:end] = b"\0" * 2_500_000
    end += 2_500_000
    data[end + 12 : end + 16] = struct.pack("<I", 2_400_000)
    write(tmp_path, "s1/x.zip", data=bytes(data[: end + 22]))
    assert "5,000" in found(tmp_path)["s1"].problem


@pytest.mark.parametrize("cut", [0, 1, 10, 100, 200, 300])
def test_a_truncated_archive(tmp_path, cut):
    whole = zipped("s1.ipynb", "s2.ipynb")
    write(tmp_path / "class", "s1/x.zip", data=whole[: max(len(whole) - cut - 1, 0)])
    write(tmp_path / "class", "s2.ipynb")
    class_ = found(tmp_path / "class")
    assert class_["s1"].problem and class_["s2"].problem is None
    with pytest.raises(CannotGrade, match="damaged"):
        in_zip(tmp_path, whole[: len(whole) - cut - 1])


def test_what_cannot_be_graded_at_all(tmp_path):
    write(tmp_path, "empty.zip", data=zipped())
    write(tmp_path, "text.zip", "notes.txt", data=b"hello")
    (tmp_path / "nothing").mkdir()
    write(tmp_path / "lists", "README.md", "grades.csv")
    for name, said in [
        ("missing", "does not exist"),
        ("nothing", "contains no submissions"),
        ("lists", "contains no submissions"),
        ("empty.zip", "contains no submissions"),
        ("text.zip", "damaged"),
        ("notes.txt", "not a folder, a ZIP archive or a notebook: give a folder"),
        ("x\0y", "does not exist"),
    ]:
        with pytest.raises(CannotGrade, match=said):
            list(each_submission(tmp_path / name))


def test_what_a_file_is_called(tmp_path):
    write(tmp_path, "Some One_12_assignsubmission_file_/05.ipynb")
    write(tmp_path, "Some One_13_assignsubmission_file_/a/b.ipynb")
    write(tmp_path, "s14/c.ipynb")
    told = {"Some-One-12": ["05.ipynb"], "Some-One-13": ["a/b.ipynb"], "s14": ["s14/c.ipynb"]}
    assert all_labels(found(tmp_path)) == told
    names = [f"12-34 - Some One - Jan 31, 2026 {time} AM/05.ipynb" for time in (900, 1000)]
    (one,) = found(write(tmp_path / "b", *names)).values()
    assert labels(one) == names


@pytest.mark.long
def test_an_archive_of_a_hundred_thousand_entries(tmp_path):
    names = [f"s{number % 500}/{number}.txt" for number in range(99_000)]
    class_ = in_zip(tmp_path, zipped(*names, "s1/x.ipynb", data=b"", method=zipfile.ZIP_STORED))
    assert len(class_) == 500 and len(class_["s1"].files) == 1
