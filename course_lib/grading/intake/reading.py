"""From the bytes of one handed-in file to its cells: notebooks, and Python exported from them.

Any encoding is read, nothing is executed, and nothing hangs. `answers/segments.py` cuts the cells
into answers, `answers/search.py` chooses among these.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

from course_lib.emulator.budget import MAX_SOURCE_CHARACTERS
from course_lib.grading.records import CellKind, TextCell

_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
# What neither a page nor an XML file can show, and what different programs count as a new line.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]"
)
_FORM_FEED_AT_LINE_START = re.compile(r"^\f+", re.MULTILINE)
_NEW_LINE = re.compile("\r\n?")
_MOST_REPAIRS = 100_000  # so many bytes that are no UTF-8 are read one by one
_MARKED = "\ufffd"  # U+FFFD, the sign for a character that is none


def decode(data: bytes) -> str:
    """The text of a file, whatever program saved it; never raises.

    A byte that is no UTF-8 is read as Windows-1252, its neighbours are not touched by that.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding)
    return _decode(data, json.detect_encoding(data[:4]) if len(data) >= 4 else "utf-8")


def clean(text: str) -> str:
    """The same text with `\\n` for every new line, and U+FFFD for what is no printable character.

    Python would refuse such a character in code, and allows it in a comment; so it does U+FFFD.
    """
    if "\r" in text:
        text = _NEW_LINE.sub("\n", text)
    if "\f" in text:
        text = _FORM_FEED_AT_LINE_START.sub("", text).replace("\f", " ")
    return _UNPRINTABLE.sub(_MARKED, text)


def _decode(data: bytes, encoding: str) -> str:
    if not encoding.startswith("utf-8"):
        return data.decode(encoding, "replace")
    text = data.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", _from_windows, text, count=_MOST_REPAIRS)


def _from_windows(escaped: re.Match[str]) -> str:
    return bytes([ord(escaped[0]) - 0xDC00]).decode("cp1252", "replace")


# --- Python files that Jupyter, VS Code or Colab exported from a notebook -------------------------


# `# %%`, `# %% [markdown]` (VS Code, Jupytext), `# In[3]:` (Jupyter).
_BOUNDARY = re.compile(
    r"^#[ \t]*(?:%%(?P<rest>.*)|In[ \t]*\[[ \d*]*\]:?[ \t]*)$", re.MULTILINE | re.IGNORECASE
)
_LOOKS_LIKE_PYTHON = re.compile(
    r"^[ \t]*(?:def[ \t]+\w+[ \t]*\(|import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b|@cuda\b"
    r"|#+[ \t]*EXERCISE\b)",
    re.MULTILINE | re.IGNORECASE,
)


def cells_of_script(text: str) -> Iterator[TextCell] | None:
    """The cells of a Python file, or None if it does not look like Python."""
    if not _LOOKS_LIKE_PYTHON.search(text):
        return None
    return _between_boundaries(text) if _BOUNDARY.search(text) else _between_strings(text)


def _between_boundaries(text: str) -> Iterator[TextCell]:
    number, begin, kind = 1, 0, _CODE
    for boundary in _BOUNDARY.finditer(text):
        if text[begin : boundary.start()].strip():
            yield TextCell(kind, text[begin : boundary.start()].strip("\n"), number)
            number += 1
        begin, kind = boundary.end(), _cell_kind(boundary["rest"] or "")
    if text[begin:].strip():
        yield TextCell(kind, text[begin:].strip("\n"), number)


def _between_strings(text: str) -> Iterator[TextCell]:
    """Colab writes no boundaries, but each text cell as a string that is a statement by itself.

    Empty lines above each cell keep the line numbers of the file.
    """
    number, line, lines = 1, 1, text.split("\n")
    for string, words in _strings(text):
        code = lines[line - 1 : string.lineno - 1]
        if any(map(str.strip, code)):
            yield TextCell(_CODE, "\n" * (line - 1) + "\n".join(code).rstrip(), number)
            number += 1
        yield TextCell("markdown", words, number)
        number, line = number + 1, (string.end_lineno or string.lineno) + 1
    if any(map(str.strip, lines[line - 1 :])):
        yield TextCell(_CODE, "\n" * (line - 1) + "\n".join(lines[line - 1 :]), number)


def _strings(text: str) -> Iterator[tuple[ast.Expr, str]]:
    """The strings at the top level that take whole lines, each as a statement and as its text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the student's code
            body = ast.parse(text).body if len(text) <= MAX_SOURCE_CHARACTERS else []
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for statement in body:
        match statement:
            case ast.Expr(ast.Constant(str(words))) if statement.lineno != statement.end_lineno:
                yield statement, words


_CODE: CellKind = "code"


def _cell_kind(rest: str) -> CellKind:
    rest = rest.lower()
    if "[markdown]" in rest or "[md]" in rest:
        return "markdown"
    return "raw" if "[raw]" in rest else "code"


# --- The cells of a file --------------------------------------------------------------------------
# Sources alone are read. Outputs, attachments and metadata are not: they are the student's to
# write, and prove nothing.


# A notebook of the course has 30 cells and 20,000 characters; with its figures it takes 1 MB.
MAX_FILE_BYTES = 20_000_000
MAX_VALUES = 1_000_000  # lists, objects, numbers and strings in the file, outputs included
MAX_CELLS = 5_000
MAX_CODE_CHARACTERS = 250_000  # of all code cells together; Python needs seconds for more
MAX_TEXT_CHARACTERS = 250_000  # of all other cells together; what is beyond is left empty

_KINDS: dict[str, CellKind] = {"code": "code", "markdown": "markdown"}
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
    """The file could be read, but it holds no Python."""


def read_cells(data: bytes) -> tuple[TextCell, ...]:
    """The cells of a notebook file, or of a Python file that was exported from one.

    Raises Unreadable with one sentence that says why; nothing else is raised, whatever the bytes.
    """
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(
            f"The file has {len(data):,} bytes, but at most {MAX_FILE_BYTES:,} are read: clear the "
            "outputs of all cells, and save again."
        )
    _refuse_other_formats(data)
    text = decode(data).lstrip("\ufeff")
    if not text.strip("\0 \t\r\n"):
        raise NothingThere("The file is empty.")
    if text.lstrip().startswith(("{", "[")):
        return _checked(_cells_of_notebook(_parsed(text)))
    is_short = len(text) <= MAX_CODE_CHARACTERS
    cells = cells_of_script(clean(text)) if is_short else None
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
        return Unreadable(f"The file is not a notebook, and it is longer than {most} characters.")
    return NothingThere("The file is neither a notebook nor Python code exported from one.")


_TOO_MUCH_CODE = f"The code cells together contain more than {MAX_CODE_CHARACTERS:,} characters."
_MERGE_CONFLICT = (
    "The file contains the two sides of an unfinished merge (`<<<<<<<`): finish the merge, and "
    "save the notebook again."
)


def _parsed(text: str) -> Any:
    values = sum(map(text.count, ",[{"))
    if values > MAX_VALUES:
        raise Unreadable(
            f"The file contains more than {MAX_VALUES:,} values: clear the outputs of all cells, "
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
    return f"The file is not a valid notebook (line {error.lineno}: {error.msg})."


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
        yield TextCell(kind, clean(source), number)


def _raw_cells(root: Any) -> Iterator[tuple[Any, CellKind]]:
    """The cells as they are in the file; something that is no cell counts as an empty one."""
    cells = root.get("cells") if isinstance(root, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("The file is JSON but not a notebook: there is no list of cells in it.")
    for cell in cells:
        yield (cell, _kind(cell)) if isinstance(cell, dict) else ({}, "raw")


def _kind(cell: dict[str, Any]) -> CellKind:
    name = cell.get("cell_type")
    if isinstance(name, str):
        return _KINDS.get(name.strip().lower(), "raw")
    return "code" if "outputs" in cell else "raw"


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _checked(cells: Iterator[TextCell]) -> tuple[TextCell, ...]:
    read, characters = [], 0
    for cell in cells:
        characters += len(cell.text) if cell.kind == "code" else 0
        if characters > MAX_CODE_CHARACTERS:
            raise Unreadable(_TOO_MUCH_CODE)
        read.append(cell)
    return tuple(read)
