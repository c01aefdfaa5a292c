"""Bytes that a student handed in, as text: any encoding, no control characters."""

from __future__ import annotations

import json
import re

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
