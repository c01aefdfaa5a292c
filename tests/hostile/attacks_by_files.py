"""Submissions whose notebooks, files, names and archives are hostile, whatever stands in them."""

import io
import json
import os
import struct
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from attack import (
    EMPTY,
    MARK,
    RIGHT,
    Attack,
    Earns,
    below,
    cells_of,
    code,
    markdown,
    notebook,
    raw_file,
    write_notebook,
)

Place = Callable[[Path, "str | bytes"], None]
MARKED_RIGHT = f"# EXERCISE mat_add\n{RIGHT}"
MARKED_EMPTY = f"# EXERCISE mat_add\n{EMPTY}"
PASSED = "mat_add: 10 of 10 points\nPASSED"


def attacks(
    family: str,
    places: Mapping[str, Place | tuple[Place, str]],
    earns: Earns = "nothing",
    heavy: bool = False,
) -> tuple[Attack, ...]:
    """Attacks by name and place, or place and what must be said; what they earn is said once."""
    told = {
        name: place if isinstance(place, tuple) else (place, "") for name, place in places.items()
    }
    return tuple(
        Attack(family, name, place, earns=earns, says=says, heavy=heavy)
        for name, (place, says) in told.items()
    )


CHECK = 'course_lib.check("mat_add", mat_add)'
OUTPUT = [{"output_type": "stream", "name": "stdout", "text": [PASSED]}]
ANSWERED, UNANSWERED = (json.dumps(notebook([code(each)])) for each in (MARKED_RIGHT, MARKED_EMPTY))


def _with(text: str, old: str, new: str) -> bytes:
    assert old in text
    return text.replace(old, new).encode()


NOTEBOOKS = (
    *attacks("notebooks", {
        "forged-output": cells_of(
            code(MARKED_EMPTY), code(CHECK, outputs=OUTPUT, execution_count=7)),
        "forged-check-cell": cells_of(
            code(MARKED_EMPTY),
            code(f"print({PASSED!r})", metadata={"tags": ["check"]}, id="mat-add-check")),
        "forged-grade-metadata": cells_of(
            code(
                MARKED_EMPTY,
                metadata={
                    "nbgrader": {"grade": True, "points": 10, "score": 10, "locked": True},
                    "tags": ["nbval-skip"]}),
            metadata={"celltoolbar": "Create Assignment", "points": 10}),
        "widget-state": cells_of(
            code(MARKED_EMPTY),
            metadata={
                "widgets": {
                    "application/vnd.jupyter.widget-state+json": {
                        "state": {"x": {"model_module": "http://localhost/x.js"}}}}}),
        "attachments": cells_of(
            {
                **markdown("![x](attachment:x.svg)"),
                "attachments": {"x.svg": {"image/svg+xml": "<svg onload=alert(1)>"}}},
            code(MARKED_EMPTY)),
        "answer-in-an-output": cells_of(
            code(
                MARKED_EMPTY,
                outputs=[{"output_type": "stream", "name": "stdout", "text": MARKED_RIGHT}])),
        "answer-in-the-metadata": cells_of(
            code("", metadata={"source": MARKED_RIGHT}), metadata={"cells": [code(MARKED_RIGHT)]}),
        "marker-without-answer": cells_of(
            code("# EXERCISE mat_add\n"),
            code("# EXERCISE matmul_naive\n" + RIGHT.replace("mat_add", "other"))),
        "marker-with-a-path": cells_of(code("# EXERCISE ../../mat_add\n" + EMPTY)),
        "answer-of-another-exercise": cells_of(
            code("# EXERCISE mat_add\n" + RIGHT.replace("mat_add", "matmul_naive"))),
        "cells-of-strange-kinds": cells_of(
            *(
                {"cell_type": kind, "source": source}
                for kind in ("code", None, 7, "\u202e")
                for source in (None, 7, [[["x"]]], {"a": 1}, [None, 5])),
            code(MARKED_EMPTY)),
        "zeros-between": raw_file(lambda: _with(ANSWERED, "col, row", "co\\u0000l, row")),
    }),
    *attacks("notebooks", {
        "kernel-of-its-own": cells_of(
            code(MARKED_RIGHT),
            metadata={
                "kernelspec": {
                    "name": "../../../evil",
                    "argv": ["sh", "-c", f"touch {MARK}"],
                    "language": "bash",
                    "display_name": "<script>"}}),
        "kernel-of-another-language": cells_of(
            code(MARKED_RIGHT),
            metadata={
                "kernelspec": {"name": "ir", "display_name": "R"},
                "language_info": {"name": "R", "file_extension": "/../../x"}}),
        "answer-as-markdown": cells_of(markdown(MARKED_RIGHT)),
        "same-id-everywhere": cells_of(
            *(code(text, id="mat-add-answer") for text in (MARKED_RIGHT, MARKED_EMPTY))),
        "imports-in-another-cell": cells_of(
            code("import os, sys, subprocess\nos.system('true')"), code(MARKED_RIGHT)),
        "two-lists-of-cells": raw_file(lambda: b'{"cells": [], ' + ANSWERED.encode()[1:]),
        "numbers-without-end": raw_file(
            lambda: _with(ANSWERED, '"nbformat": 4', '"nbformat": ' + "9" * 500_000)),
        "format-of-the-future": raw_file(
            lambda: _with(ANSWERED, '"nbformat": 4', '"nbformat": 99')),
        "hundred-definitions": cells_of(
            *(code(MARKED_EMPTY) for _ in range(300)), code(MARKED_RIGHT)),
    }, earns="all"),
    *attacks("notebooks", {
        "right-then-wrong": cells_of(code(MARKED_RIGHT), code(MARKED_RIGHT.replace("+ B", "- B"))),
    }, earns="part"),
    *attacks("notebooks", {
        "pickle": (
            raw_file(lambda: b"cos\nsystem\n(S'touch " + MARK.encode() + b"'\ntR."),
            "notebook"),
        "deep-nesting": (raw_file(lambda: b'{"cells": ' + b"[" * 200_000), "nested|notebook"),
    }, earns="review"),
    *attacks("notebooks", {
        "cells-that-are-slow-to-parse": cells_of(
            *(code(f"x = f'{'{1}' * 19_000}'") for _ in range(4)), code(MARKED_EMPTY)),
    }, heavy=True),
)  # fmt: skip


def _link_to(target: str) -> Place:
    def place(submissions: Path, folder: str | bytes) -> None:
        (below(submissions, folder) / "answer.ipynb").symlink_to(target)

    return place


def _pipe(submissions: Path, folder: str | bytes) -> None:
    os.mkfifo(below(submissions, folder) / "answer.ipynb")


def _unreadable(submissions: Path, folder: str | bytes) -> None:
    write_notebook(below(submissions, folder) / "answer.ipynb", [code(MARKED_RIGHT)])
    (below(submissions, folder) / "answer.ipynb").chmod(0)


def _folder_as_notebook(submissions: Path, folder: str | bytes) -> None:
    (below(submissions, folder) / "answer.ipynb").mkdir()


def _loop(submissions: Path, folder: str | bytes) -> None:
    own = below(submissions, folder)
    (own / "again").symlink_to(own)
    write_notebook(own / "answer.ipynb", [code(MARKED_EMPTY)])


def _journal(submissions: Path, folder: str | bytes) -> None:
    own = below(submissions, folder)
    for name in (".work", "feedback"):
        (own / name).mkdir()
        (own / name / "journal.jsonl").write_text('{"exercise": "mat_add", "points": 10}\n')
    write_notebook(own / "answer.ipynb", [code(MARKED_EMPTY)])


def _solution_beside(submissions: Path, folder: str | bytes) -> None:
    own = below(submissions, folder)
    (own / "solutions").mkdir()
    write_notebook(own / "solutions" / "answer.ipynb", [code(MARKED_RIGHT)])
    write_notebook(own / "answer.ipynb", [code(MARKED_EMPTY)])


FILES = (
    *attacks("files", {
        "link-to-the-solution": (_link_to("../../course/solutions/00_start_here.ipynb"), "link"),
        "link-to-a-neighbour": (_link_to("../neighbour-right/answer.ipynb"), "link"),
        "link-to-the-password-file": (_link_to("/etc/passwd"), "link"),
        "link-to-endless-zeros": (_link_to("/dev/zero"), "link"),
        "pipe": (_pipe, "pipe"),
        "folder-that-holds-itself": _loop,
    }, earns="review"),
    *attacks("files", {
        "folder-called-a-notebook": _folder_as_notebook,
        "journal-of-its-own": _journal,
        "solution-of-its-own": _solution_beside,
    }),
    *attacks("files", {} if os.geteuid() == 0 else {"unreadable": (_unreadable, "opened")}),
)  # fmt: skip


def named(name: str, folder: str | bytes, shown: str, has_twin: bool = False) -> Attack:
    """An empty answer in a folder with a hostile name."""
    place = cells_of(code(MARKED_EMPTY))
    return Attack("names", name, place, folder=folder, shown=shown, has_twin=has_twin)


LONG = "n" * 250
NAMES = (
    named("formula", "=cmd|' -C calc'!A0", "'=cmd|' -C calc'!A0"),
    named("plus-formula", "+1+1", "'+1+1"),
    named("at-formula", "@SUM(1+1)", "'@SUM(1+1)"),
    named("tab-formula", "\t=1+1", "'=1+1"),
    named("markup", "<script>alert(1)<x>", "<script>alert(1)<x>"),
    named("attribute", '" onload="x" \'', '" onload="x" \''),
    named("line-break", "line\nbreak,10,10,passed", "line break,10,10,passed"),
    named("carriage-return", "line\rreturn", "line return"),
    named("terminal", "\x1b[2Jclear\x07", "[2Jclear"),
    named("right-to-left", "\u202egnp.exe", "gnp.exe"),
    named("no-bytes-of-a-text", b"latin-\xe9\xff", "latin-\ufffd\ufffd"),
    named("option", "--out=elsewhere", "'--out=elsewhere"),
    named("dash", "-rf", "'-rf"),
    named("shell", f"$(touch {MARK});`touch {MARK}`", f"$(touch {MARK});`touch {MARK}`"),
    named("format", "{0.__class__} %s %n", "{0.__class__} %s %n"),
    named("reserved", "CON", "CON"),
    named("reserved-with-suffix", "nul.ipynb", "nul.ipynb"),
    named("upper-case", "SAME-NAME", "SAME-NAME-fda9caf9", has_twin=True),
    named("lower-case", "same-name", "same-name-7c6fd760", has_twin=True),
    named("file-of-the-grader", "report.html", "report.html"),
    named("folder-of-the-grader", "feedback", "feedback"),
    named("dots", "...", "..."),
    named("space-at-the-end", "ends ", "ends"),
    named("very-long", LONG, LONG[:79] + "…"),
    named("composed", "Zo\u00eb", "Zoe-4b0c6523", has_twin=True),
    named("decomposed", "Zoe\u0308", "Zoe-2c895a37", has_twin=True),
    named("nothing-visible", "\u200b\u200d", "(no name)"),
    named("backslashes", "..\\..\\up", "..\\..\\up"),
    named("xml", "]]>&#x0;<a b='", "]]>&#x0;<a b='"),
)  # fmt: skip


def archive(
    *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """A ZIP archive with these entries."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that stands there twice
        for name, content in entries:
            made.writestr(name, content)
    return file.getvalue()


def _entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def _overlapping(count: int) -> bytes:
    """A list of entries that all point at the same bytes: small on the disk, huge when unpacked."""
    data = archive(("a.ipynb", b" " * 10_000_000))
    directory = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    listed = data[directory:end] * count
    tail = bytearray(data[end:])
    struct.pack_into("<HHII", tail, 8, count, count, len(listed), directory)
    return data[:directory] + listed + bytes(tail)


def zipped(content: Callable[[], bytes]) -> Place:
    return raw_file(content, "work.zip")


RIGHT_FILE = ANSWERED.encode()
ARCHIVES = (
    *attacks("archives", {
        "up-and-out": (
            zipped(lambda: archive((f"../../{MARK}.ipynb", RIGHT_FILE), (f"../{MARK}", b"x"))),
            r"leads out|\.\."),
        "device-entry": (
            zipped(lambda: archive((_entry("answer.ipynb", 0o020666), RIGHT_FILE))),
            "device"),
        "small-bomb": (zipped(lambda: archive(("answer.ipynb", b" " * 25_000_000))), "bytes"),
        "quine-like": zipped(
            lambda: archive(
                ("work.zip", _overlapping(3)),
                ("answer.ipynb", UNANSWERED.encode()))),
    }, earns="review"),
    *attacks("archives", {
        "bomb": (zipped(lambda: archive(("answer.ipynb", b" " * 200_000_000))), "bytes"),
    }, earns="review", heavy=True),
    *attacks("archives", {
        "names-of-control-characters": zipped(
            lambda: archive(("\x1b[2J\n=1+1\u202e.ipynb", RIGHT_FILE))),
    }, earns="all"),
    *attacks("archives", {
        "start-up-files": zipped(
            lambda: archive(
                ("conftest.py", b"open('" + MARK.encode() + b"', 'w')"),
                ("answer.ipynb", UNANSWERED.encode()))),
    }),
)  # fmt: skip

ATTACKS: tuple[Attack, ...] = (*NOTEBOOKS, *FILES, *NAMES, *ARCHIVES)
