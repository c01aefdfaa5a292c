"""One notebook file as text cells, whatever is in it: nothing is executed, and nothing hangs.

Sources alone are read. Outputs, attachments and metadata are not: they are the student's to
write, and prove nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from course_lib.grading.intake import decoding, exported_scripts
from course_lib.grading.records import CellKind, TextCell

# A notebook of the course has 30 cells and 20,000 characters; with its figures it takes 1 MB.
MAX_FILE_BYTES = 20_000_000
MAX_VALUES = 1_000_000  # lists, objects, numbers and strings in the file, outputs included
MAX_CELLS = 5_000
MAX_CODE_CHARACTERS = 250_000  # of all code cells together; Python needs seconds for more
MAX_TEXT_CHARACTERS = 250_000  # of all other cells together; what is beyond is left empty

_KINDS: dict[str, CellKind] = {
    "code": "code",
    "markdown": "markdown",
    "heading": "markdown",  # format 3
    "html": "markdown",  # format 2
    "raw": "raw",
}
# How a file begins that is something else.
_OTHER_FORMATS = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"{\\rtf", "a text document (RTF)"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
)
_INLINE_IMAGE = re.compile(r"data:[\w.+/-]{1,80};base64,[A-Za-z0-9+/=]+")


class Unreadable(Exception):
    """What was handed in is no notebook that can be read; the message is one sentence."""


class NothingThere(Unreadable):
    """The file could be read, and no Python stands in it."""


def read_cells(data: bytes) -> tuple[TextCell, ...]:
    """The cells of a notebook file, or of a Python file that was exported from one.

    Raises:
        Unreadable: with one sentence that says why; nothing else is raised, whatever the bytes.
    """
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(
            f"The file has {len(data):,} bytes, and {MAX_FILE_BYTES:,} are read: "
            "clear the outputs of all cells, and save again."
        )
    _refuse_other_formats(data)
    text = decoding.decode(data).lstrip("\ufeff")
    if not text.strip("\0 \t\r\n"):
        raise NothingThere("The file is empty.")
    if text.lstrip().startswith(("{", "[")):
        return _checked(_cells_of_notebook(_parsed(text)))
    is_short = len(text) <= MAX_CODE_CHARACTERS
    cells = exported_scripts.cells(decoding.clean(text)) if is_short else None
    if cells is None:
        raise _why_no_notebook(text)
    return _checked(cells)


def _refuse_other_formats(data: bytes) -> None:
    for beginning, what in _OTHER_FORMATS:
        if data.startswith(beginning):
            raise Unreadable(
                f"The file is {what} and not a notebook, whatever its name says: "
                "hand in the .ipynb file itself."
            )


def _why_no_notebook(text: str) -> Unreadable:
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml", "<head")):
        return Unreadable(
            "The file is a web page and not a notebook: download the .ipynb file itself, "
            "not the page that shows it."
        )
    if start.startswith(("<<<<<<<", ">>>>>>>")):
        return Unreadable(_MERGE_CONFLICT)
    if len(text) > MAX_CODE_CHARACTERS:
        most = f"{MAX_CODE_CHARACTERS:,}"
        return Unreadable(f"The file is no notebook, and longer than {most} characters.")
    return NothingThere("The file is neither a notebook nor Python code exported from one.")


_TOO_MUCH_CODE = f"The code cells hold more than {MAX_CODE_CHARACTERS:,} characters together."
_MERGE_CONFLICT = (
    "The file holds the two sides of an unfinished merge (`<<<<<<<`): finish the merge, and save "
    "the notebook again."
)


def _parsed(text: str) -> Any:
    values = sum(map(text.count, ",[{"))
    if values > MAX_VALUES:
        raise Unreadable(
            f"The file holds more than {MAX_VALUES:,} values: clear the outputs of all cells, "
            "and save again."
        )
    try:
        # Numbers mean nothing here; as floats, huge ones cost no time.
        return json.loads(text, strict=False, parse_int=float)
    except json.JSONDecodeError as error:
        raise Unreadable(_why_no_json(text, error)) from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable("The file is nested too deeply to be a notebook.") from None


def _why_no_json(text: str, error: json.JSONDecodeError) -> str:
    if re.search(r"^(<{7}|>{7})", text, re.MULTILINE):
        return _MERGE_CONFLICT
    if error.pos >= len(text.rstrip("\0 \t\r\n")) or error.msg.startswith("Unterminated"):
        return "The file ends in the middle: save or download the notebook again."
    return f"The file is no valid notebook (line {error.lineno} of it: {error.msg})."


def _cells_of_notebook(root: Any) -> Iterator[TextCell]:
    text_left = MAX_TEXT_CHARACTERS
    for number, (cell, kind) in enumerate(_raw_cells(root), start=1):
        if number > MAX_CELLS:
            raise Unreadable(f"The notebook has more than {MAX_CELLS:,} cells.")
        source = _source(cell)
        if kind != "code":
            source = _INLINE_IMAGE.sub("data:", source) if "base64" in source else source
            source = source if len(source) <= text_left else ""
            text_left -= len(source)
        elif len(source) > MAX_CODE_CHARACTERS:
            raise Unreadable(_TOO_MUCH_CODE)
        yield TextCell(kind, decoding.clean(source), number)


def _raw_cells(root: Any) -> Iterator[tuple[Any, CellKind]]:
    """The cells as they are in the file; something that is no cell counts as an empty one."""
    lists = list(_lists_of_cells(root))
    if not lists:
        raise Unreadable("The file is JSON but no notebook: there is no list of cells in it.")
    for cells in lists:
        for cell in cells:
            yield (cell, _kind(cell)) if isinstance(cell, dict) else ({}, "raw")


def _lists_of_cells(root: Any) -> Iterator[list[Any]]:
    if isinstance(root, list):
        has_cells = any(isinstance(each, dict) and "cell_type" in each for each in root)
        root = {"cells": root} if has_cells else {}
    if isinstance(root, dict) and isinstance(root.get("content"), dict):
        root = {**root["content"], **root}  # as Jupyter's contents service wraps it
    if isinstance(root, dict):
        worksheets = root.get("worksheets")  # format 3
        sheets = worksheets if isinstance(worksheets, list) else []
        for sheet in [root, *sheets]:
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
                yield sheet["cells"]


def _kind(cell: dict[str, Any]) -> CellKind:
    name = cell.get("cell_type")
    if isinstance(name, str):
        return _KINDS.get(name.strip().lower(), "raw")
    return "code" if "outputs" in cell or "input" in cell else "raw"


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))  # "input": format 3
    if isinstance(source, list):
        source = "".join(each for each in source if isinstance(each, str))
    return source if isinstance(source, str) else ""


def _checked(cells: Iterator[TextCell]) -> tuple[TextCell, ...]:
    read, characters = [], 0
    for cell in cells:
        characters += len(cell.text) if cell.kind == "code" else 0
        if characters > MAX_CODE_CHARACTERS:
            raise Unreadable(_TOO_MUCH_CODE)
        read.append(cell)
    return tuple(read)
