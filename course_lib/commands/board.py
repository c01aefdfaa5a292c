"""`course.py board`: rank the kernels of a folder by what they cost as counted."""

from __future__ import annotations

import sys
from pathlib import Path

from course_lib.commands import progress
from course_lib.commands.options import read_options
from course_lib.wording.words import counted

SETTINGS, BOARD = "board.toml", "board.json"
PAGE = "index.html"
NEW = """\
# A board: `python3 course.py board FOLDER` ranks the files NAME.py beside this one.
title = "The board"
ladder = "product"  # or "row softmax": whose rungs may enter
seed = 0            # draws the launches on which an entry is judged; publish it
size = 256          # rows and columns of the matrices on which an entry is counted
cc = "9.0"          # the compute capability that it is compiled for
"""
OPTIONS = f"""\
FOLDER     with {SETTINGS} and NAME.py
--new      only write a first {SETTINGS}
--check    write nothing; check whether this machine produces the same board
"""


def main(arguments: list[str]) -> int:
    """Write the board; 0 if it is there, 1 if --check finds another one, 2 if there can be none."""
    options = read_options("board", __doc__, OPTIONS).parse_args(arguments)
    # Imported late: help needs the standard library alone.
    from course_lib.board.entries import NoBoard
    from course_lib.machine_code.front_ends import CompilerMissing

    folder: Path = options.folder
    try:
        if options.new:
            return _begin(folder)
        return _check(folder) if options.check else _write(folder)
    except (NoBoard, CompilerMissing) as problem:
        print(f"The board was not made: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"The board was not made: {problem.strerror}: {problem.filename}", file=sys.stderr)
    return 2


def _begin(folder: Path) -> int:
    from course_lib.board.entries import NoBoard

    path = folder / SETTINGS
    if path.exists():
        raise NoBoard(f"{path} is there already.")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(NEW, encoding="utf-8")
    print(
        f"{path} says what the board asks for. Put the entries beside it, each as a file NAME.py."
    )
    return 0


def _made(folder: Path) -> str:
    """The board's text, worked out here and now."""
    from course_lib.board.entries import board_text, entries_of, read_settings

    settings = read_settings(folder)
    found = []
    for entry in entries_of(folder, settings):
        progress.show(f"{entry.name}: {entry.refused or f'{entry.cost:,.0f}'}")
        found.append(entry)
    progress.clear()
    return board_text(settings, found)


def _write(folder: Path) -> int:
    from course_lib.board.entries import read_board
    from course_lib.board.page import page_of

    text = _made(folder)
    settings, entries = read_board(text)
    (folder / BOARD).write_text(text, encoding="utf-8")
    (folder / PAGE).write_text(page_of(settings, entries), encoding="utf-8")
    ranked = [entry for entry in entries if not entry.refused]
    print(f"{len(ranked)} of {counted(len(entries), 'text')} ranked: {folder / PAGE}")
    for entry in entries:
        if entry.refused:
            print(f"{entry.name} is not ranked: {entry.refused}")
    return 0


def _check(folder: Path) -> int:
    from course_lib.board.entries import read_board
    from course_lib.board.page import page_of

    stored = (folder / BOARD).read_text(encoding="utf-8")
    made = _made(folder)
    same_page = (folder / PAGE).read_text(encoding="utf-8") == page_of(*read_board(made))
    if stored == made and same_page:
        print("This machine produces the same board, byte for byte.")
        return 0
    before = {entry.name: entry for entry in read_board(stored)[1]}
    now = {entry.name: entry for entry in read_board(made)[1]}
    names = sorted(before.keys() | now.keys())
    others = [name for name in names if before.get(name) != now.get(name)]
    print(
        "This machine produces a different board; look at "
        f"{', '.join(others) or 'the settings and page'}."
    )
    return 1
