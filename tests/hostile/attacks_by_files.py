"""Submissions whose notebooks, files, names and archives are hostile, whatever stands in them."""

from __future__ import annotations

import io
import json
import os
import socket
import struct
import warnings
import zipfile
from collections.abc import Callable
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


def attack(
    family: str,
    name: str,
    place: Place,
    earns: Earns = "nothing",
    says: str = "",
    heavy: bool = False,
) -> Attack:
    return Attack(family, name, place, earns=earns, says=says, heavy=heavy)


# --- Notebooks --------------------------------------------------------------------------------

CHECK = 'course_lib.check("mat_add", mat_add)'
OUTPUT = [{"output_type": "stream", "name": "stdout", "text": [PASSED]}]
ANSWERED = json.dumps(notebook([code(MARKED_RIGHT)]))


def _with(text: str, old: str, new: str) -> bytes:
    assert old in text
    return text.replace(old, new).encode()


NOTEBOOKS = (
    attack(
        "notebooks",
        "forged-output",
        cells_of(code(MARKED_EMPTY), code(CHECK, outputs=OUTPUT, execution_count=7)),
    ),
    attack(
        "notebooks",
        "forged-check-cell",
        cells_of(
            code(MARKED_EMPTY),
            code(f"print({PASSED!r})", metadata={"tags": ["check"]}, id="mat-add-check"),
        ),
    ),
    attack(
        "notebooks",
        "forged-grade-metadata",
        cells_of(
            code(
                MARKED_EMPTY,
                metadata={
                    "nbgrader": {"grade": True, "points": 10, "score": 10, "locked": True},
                    "tags": ["nbval-skip"],
                },
            ),
            metadata={"celltoolbar": "Create Assignment", "points": 10},
        ),
    ),
    attack(
        "notebooks",
        "kernel-of-its-own",
        cells_of(
            code(MARKED_RIGHT),
            metadata={
                "kernelspec": {
                    "name": "../../../evil",
                    "argv": ["sh", "-c", f"touch {MARK}"],
                    "language": "bash",
                    "display_name": "<script>",
                }
            },
        ),
        earns="all",
    ),
    attack(
        "notebooks",
        "kernel-of-another-language",
        cells_of(
            code(MARKED_RIGHT),
            metadata={
                "kernelspec": {"name": "ir", "display_name": "R"},
                "language_info": {"name": "R", "file_extension": "/../../x"},
            },
        ),
        earns="all",
    ),
    attack(
        "notebooks",
        "widget-state",
        cells_of(
            code(MARKED_EMPTY),
            metadata={
                "widgets": {
                    "application/vnd.jupyter.widget-state+json": {
                        "state": {"x": {"model_module": "http://localhost/x.js"}}
                    }
                }
            },
        ),
    ),
    attack(
        "notebooks",
        "attachments",
        cells_of(
            {
                **markdown("![x](attachment:x.svg)"),
                "attachments": {"x.svg": {"image/svg+xml": "<svg onload=alert(1)>"}},
            },
            code(MARKED_EMPTY),
        ),
    ),
    attack("notebooks", "answer-as-markdown", cells_of(markdown(MARKED_RIGHT)), earns="all"),
    attack(
        "notebooks",
        "answer-in-an-output",
        cells_of(
            code(
                MARKED_EMPTY,
                outputs=[{"output_type": "stream", "name": "stdout", "text": MARKED_RIGHT}],
            )
        ),
    ),
    attack(
        "notebooks",
        "answer-in-the-metadata",
        cells_of(
            code("", metadata={"source": MARKED_RIGHT}), metadata={"cells": [code(MARKED_RIGHT)]}
        ),
    ),
    attack(
        "notebooks",
        "right-then-wrong",
        cells_of(code(MARKED_RIGHT), code(MARKED_RIGHT.replace("+ B", "- B"))),
        earns="part",
    ),
    attack(
        "notebooks",
        "marker-without-answer",
        cells_of(
            code("# EXERCISE mat_add\n"),
            code("# EXERCISE matmul_naive\n" + RIGHT.replace("mat_add", "other")),
        ),
    ),
    attack("notebooks", "marker-with-a-path", cells_of(code("# EXERCISE ../../mat_add\n" + EMPTY))),
    attack(
        "notebooks",
        "answer-of-another-exercise",
        cells_of(code("# EXERCISE mat_add\n" + RIGHT.replace("mat_add", "matmul_naive"))),
    ),
    attack(
        "notebooks",
        "same-id-everywhere",
        cells_of(*(code(text, id="mat-add-answer") for text in (MARKED_RIGHT, MARKED_EMPTY))),
        earns="all",
    ),
    attack(
        "notebooks",
        "imports-in-another-cell",
        cells_of(code("import os, sys, subprocess\nos.system('true')"), code(MARKED_RIGHT)),
        earns="all",
    ),
    attack(
        "notebooks",
        "not-json",
        raw_file(lambda: b"\x00\x01\xff not a notebook"),
        says="notebook",
        earns="review",
    ),
    attack("notebooks", "empty-file", raw_file(lambda: b""), says="empty", earns="review"),
    attack(
        "notebooks",
        "cut-off",
        raw_file(lambda: ANSWERED[:-40].encode()),
        says="end",
        earns="review",
    ),
    attack(
        "notebooks",
        "pickle",
        raw_file(lambda: b"cos\nsystem\n(S'touch " + MARK.encode() + b"'\ntR."),
        says="notebook",
        earns="review",
    ),
    attack(
        "notebooks",
        "deep-nesting",
        raw_file(lambda: b'{"cells": ' + b"[" * 200_000),
        says="nested|notebook",
        earns="review",
    ),
    attack(
        "notebooks",
        "deep-metadata",
        raw_file(
            lambda: _with(
                ANSWERED, '"metadata": {}', '"metadata": ' + '{"a": ' * 50_000 + "1" + "}" * 50_000
            )
        ),
        says="nested|notebook",
        earns="review",
    ),
    attack(
        "notebooks",
        "cells-that-are-no-list",
        raw_file(lambda: b'{"cells": {"0": {"cell_type": "code", "source": "x"}}, "nbformat": 4}'),
        says="cells",
        earns="review",
    ),
    attack(
        "notebooks",
        "cells-of-strange-kinds",
        cells_of(
            *(
                {"cell_type": kind, "source": source}
                for kind in ("code", None, 7, "\u202e")
                for source in (None, 7, [[["x"]]], {"a": 1}, [None, 5])
            ),
            code(MARKED_EMPTY),
        ),
    ),
    attack(
        "notebooks",
        "two-lists-of-cells",
        raw_file(lambda: b'{"cells": [], ' + ANSWERED.encode()[1:]),
        earns="all",
    ),
    attack(
        "notebooks",
        "numbers-without-end",
        raw_file(lambda: _with(ANSWERED, '"nbformat": 4', '"nbformat": ' + "9" * 500_000)),
        earns="all",
    ),
    attack(
        "notebooks",
        "not-a-number",
        raw_file(lambda: _with(ANSWERED, '"nbformat": 4', '"nbformat": NaN, "x": -Infinity')),
        earns="all",
    ),
    attack(
        "notebooks",
        "format-of-the-future",
        raw_file(lambda: _with(ANSWERED, '"nbformat": 4', '"nbformat": 99')),
        earns="all",
    ),
    attack(
        "notebooks", "another-encoding", raw_file(lambda: ANSWERED.encode("utf-16")), earns="all"
    ),
    attack(
        "notebooks",
        "zeros-between",
        raw_file(lambda: _with(ANSWERED, "col, row", "co\\u0000l, row")),
    ),
    attack(
        "notebooks",
        "thirty-thousand-cells",
        raw_file(lambda: json.dumps(notebook([code("x")] * 30_000)).encode()),
        says="cells",
        earns="review",
    ),
    attack(
        "notebooks",
        "gigantic-output",
        raw_file(
            lambda: json.dumps(
                notebook(
                    [
                        code(
                            MARKED_RIGHT,
                            outputs=[
                                {
                                    "output_type": "stream",
                                    "name": "stdout",
                                    "text": "x" * 21_000_000,
                                }
                            ],
                        )
                    ]
                )
            ).encode()
        ),
        says="bytes",
        heavy=True,
        earns="review",
    ),
    attack(
        "notebooks",
        "million-values",
        raw_file(
            lambda: json.dumps(
                notebook([code(MARKED_RIGHT, metadata={"x": [1] * 1_100_000})])
            ).encode()
        ),
        says="values",
        heavy=True,
        earns="review",
    ),
    attack(
        "notebooks",
        "megabyte-of-code",
        cells_of(code("x = 1\n" * 200_000), code(MARKED_RIGHT)),
        says="characters",
        earns="review",
    ),
    attack(
        "notebooks",
        "cells-that-are-slow-to-parse",
        cells_of(*(code(f"x = f'{'{1}' * 19_000}'") for _ in range(4)), code(MARKED_EMPTY)),
        heavy=True,
    ),
    attack(
        "notebooks",
        "hundred-definitions",
        cells_of(*(code(MARKED_EMPTY) for _ in range(300)), code(MARKED_RIGHT)),
        earns="all",
    ),
)


# --- Files ------------------------------------------------------------------------------------


def _link_to(target: str) -> Place:
    def place(submissions: Path, folder: str | bytes) -> None:
        (below(submissions, folder) / "answer.ipynb").symlink_to(target)

    return place


def _pipe(submissions: Path, folder: str | bytes) -> None:
    os.mkfifo(below(submissions, folder) / "answer.ipynb")


def _socket(submissions: Path, folder: str | bytes) -> None:
    own, here = below(submissions, folder), os.getcwd()
    os.chdir(own)  # the name of a socket may only be short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("answer.ipynb")
    finally:
        os.chdir(here)


def _unreadable(submissions: Path, folder: str | bytes) -> None:
    write_notebook(below(submissions, folder) / "answer.ipynb", [code(MARKED_RIGHT)])
    (below(submissions, folder) / "answer.ipynb").chmod(0)


def _folder_as_notebook(submissions: Path, folder: str | bytes) -> None:
    (below(submissions, folder) / "answer.ipynb").mkdir()


def _holes(submissions: Path, folder: str | bytes) -> None:
    with open(below(submissions, folder) / "answer.ipynb", "wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no room


def _loop(submissions: Path, folder: str | bytes) -> None:
    own = below(submissions, folder)
    (own / "again").symlink_to(own)
    write_notebook(own / "answer.ipynb", [code(MARKED_EMPTY)])


def _deep(submissions: Path, folder: str | bytes) -> None:
    own = below(submissions, folder)
    deep = own / "/".join(["d"] * 60)
    deep.mkdir(parents=True)
    write_notebook(deep / "answer.ipynb", [code(MARKED_RIGHT)])


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


def _many_files(submissions: Path, folder: str | bytes) -> None:
    own = below(submissions, folder)
    for number in range(70):
        write_notebook(own / f"{number}.ipynb", [code(MARKED_EMPTY)])


FILES = (
    attack(
        "files",
        "link-to-the-solution",
        _link_to("../../course/solutions/00_start_here.ipynb"),
        says="link",
        earns="review",
    ),
    attack(
        "files",
        "link-to-a-neighbour",
        _link_to("../neighbour-right/answer.ipynb"),
        says="link",
        earns="review",
    ),
    attack(
        "files", "link-to-the-password-file", _link_to("/etc/passwd"), says="link", earns="review"
    ),
    attack("files", "link-to-endless-zeros", _link_to("/dev/zero"), says="link", earns="review"),
    attack("files", "pipe", _pipe, says="pipe", earns="review"),
    attack("files", "socket", _socket, says="pipe|socket", earns="review"),
    attack("files", "folder-called-a-notebook", _folder_as_notebook),
    attack("files", "terabyte-of-holes", _holes, says="bytes", earns="review"),
    attack("files", "folder-that-holds-itself", _loop, earns="review"),
    attack("files", "sixty-folders-deep", _deep, says="deep", earns="review"),
    attack("files", "journal-of-its-own", _journal),
    attack("files", "solution-of-its-own", _solution_beside),
    attack("files", "seventy-notebooks", _many_files, earns="review"),
    *([] if os.geteuid() == 0 else [attack("files", "unreadable", _unreadable, says="opened")]),
)


# --- Names ------------------------------------------------------------------------------------


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
)


# --- Archives ---------------------------------------------------------------------------------


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


def _lying(size: int) -> bytes:
    """An archive whose only entry says that it has another size than it has."""
    data = bytearray(archive(("answer.ipynb", ANSWERED.encode())))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(signature) + offset, size)
    return bytes(data)


def _overlapping(count: int) -> bytes:
    """A list of entries that all point at the same bytes: small on the disk, huge when unpacked."""
    data = archive(("a.ipynb", b" " * 10_000_000))
    directory = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    listed = data[directory:end] * count
    tail = bytearray(data[end:])
    struct.pack_into("<HHII", tail, 8, count, count, len(listed), directory)
    return data[:directory] + listed + bytes(tail)


def _encrypted() -> bytes:
    data = bytearray(archive(("answer.ipynb", ANSWERED.encode())))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    return bytes(data)


def zipped(
    name: str,
    content: Callable[[], bytes],
    earns: Earns = "nothing",
    says: str = "",
    heavy: bool = False,
) -> Attack:
    return Attack(
        "archives", name, raw_file(content, "work.zip"), earns=earns, says=says, heavy=heavy
    )


RIGHT_FILE = ANSWERED.encode()
ARCHIVES = (
    zipped(
        "up-and-out",
        lambda: archive((f"../../{MARK}.ipynb", RIGHT_FILE), (f"../{MARK}", b"x")),
        says=r"leads out|\.\.",
        earns="review",
    ),
    zipped(
        "absolute",
        lambda: archive((f"/tmp/{MARK}.ipynb", RIGHT_FILE)),
        says="absolute",
        earns="review",
    ),
    zipped(
        "drive-letter",
        lambda: archive((f"C:\\{MARK}.ipynb", RIGHT_FILE)),
        says="absolute",
        earns="review",
    ),
    zipped(
        "link-entry",
        lambda: archive((_entry("answer.ipynb", 0o120777), b"/etc/passwd")),
        says="link",
        earns="review",
    ),
    zipped(
        "device-entry",
        lambda: archive((_entry("answer.ipynb", 0o020666), RIGHT_FILE)),
        says="device",
        earns="review",
    ),
    zipped(
        "bomb",
        lambda: archive(("answer.ipynb", b" " * 200_000_000)),
        says="bytes",
        heavy=True,
        earns="review",
    ),
    zipped(
        "small-bomb",
        lambda: archive(("answer.ipynb", b" " * 25_000_000)),
        says="bytes",
        earns="review",
    ),
    zipped("overlapping-bomb", lambda: _overlapping(400), says="shares its bytes", earns="review"),
    zipped("says-that-it-is-small", lambda: _lying(10), says="damaged|cut off", earns="review"),
    zipped(
        "says-that-it-is-huge", lambda: _lying(0xFFFFFFF0), says="bytes|damaged", earns="review"
    ),
    zipped("encrypted", lambda: _encrypted(), says="encrypted|password", earns="review"),
    zipped("no-archive", lambda: b"PK\x03\x04 but nothing more", says="damaged", earns="review"),
    zipped(
        "archives-in-archives",
        lambda: archive(("a.zip", archive(("b.zip", archive(("answer.ipynb", RIGHT_FILE)))))),
        says="within another",
        earns="review",
    ),
    zipped(
        "same-name-twice",
        lambda: archive(
            ("answer.ipynb", RIGHT_FILE),
            ("answer.ipynb", json.dumps(notebook([code(MARKED_EMPTY)])).encode()),
        ),
        earns="all",
    ),
    zipped(
        "hundred-thousand-entries",
        lambda: archive(*((f"{i}", b"") for i in range(100_000)), method=zipfile.ZIP_STORED),
        says="more than",
        heavy=True,
        earns="review",
    ),
    zipped(
        "names-of-control-characters",
        lambda: archive(("\x1b[2J\n=1+1\u202e.ipynb", RIGHT_FILE)),
        earns="all",
    ),
    zipped(
        "start-up-files",
        lambda: archive(
            ("conftest.py", b"open('" + MARK.encode() + b"', 'w')"),
            ("answer.ipynb", json.dumps(notebook([code(MARKED_EMPTY)])).encode()),
        ),
    ),
    zipped(
        "quine-like",
        lambda: archive(
            ("work.zip", _overlapping(3)),
            ("answer.ipynb", json.dumps(notebook([code(MARKED_EMPTY)])).encode()),
        ),
        earns="review",
    ),
)

ATTACKS: tuple[Attack, ...] = (*NOTEBOOKS, *FILES, *NAMES, *ARCHIVES)
