"""Remembers judgements from run to run: a line for each, added when it is known.

A run may be killed at any moment. What stands in the journal completely is used by the next run,
and anything else in it is passed over: each line begins with a checksum of the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from course_lib.grading.records import BadRecord, Judgement
from course_lib.grading.sealed import PRIVATE
from course_lib.grading.version import grader_version

MOST_BYTES_A_LINE = 2**22
_DIGITS = 32


def key_of(exercise: str, text: str, context: str, seed: int) -> str:
    """The name of everything that a judgement depends on."""
    parts = json.dumps([exercise, text, context, seed, grader_version()])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:_DIGITS]


class Journal:
    """The judgements of all runs so far, by key."""

    def __init__(self, path: Path) -> None:
        """Read what there is; `dropped` counts the lines that could not be used."""
        self.path = path
        self._file: IO[bytes] | None = None
        self._known: dict[str, Judgement] = {}
        self.dropped = 0
        if path.exists():
            self._read()

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Judgement:
        return self._known[key]

    def add(self, judgements: Mapping[str, Judgement]) -> None:
        """Remember these; they are on the disk when this returns.

        What a crash or a clock ended is remembered for this run only: the next one tries again.
        """
        self._known.update(judgements)
        lines = [
            _line(key, judgement)
            for key, judgement in judgements.items()
            if judgement.outcome == "judged"
        ]
        if lines:
            file = self._open()
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self) -> None:
        with open(self.path, "rb") as file:
            while line := file.readline(MOST_BYTES_A_LINE):
                try:
                    key, judgement = _record(line)
                except BadRecord:
                    self.dropped += 1
                else:
                    self._known[key] = judgement

    def _open(self) -> IO[bytes]:
        if self._file is None:
            self._file = open(self.path, "a+b")  # noqa: SIM115 (closed by close)
            os.chmod(self.path, PRIVATE)
            # The run before this one may have been killed in the middle of a line.
            if self._file.tell():
                self._file.seek(-1, os.SEEK_END)
                if self._file.read(1) != b"\n":
                    self._file.write(b"\n")
        return self._file


def _line(key: str, judgement: Judgement) -> bytes:
    record = f"{key} {judgement.to_json()}".encode("ascii")
    return _checksum(record) + b" " + record + b"\n"


def _record(line: bytes) -> tuple[str, Judgement]:
    checksum, _, record = line.rstrip(b"\n").partition(b" ")
    if checksum != _checksum(record):
        raise BadRecord("this line was not written completely, or was changed")
    key, _, text = record.decode("ascii").partition(" ")
    return key, Judgement.from_json(text)


def _checksum(record: bytes) -> bytes:
    return hashlib.sha256(record).hexdigest()[:_DIGITS].encode("ascii")
