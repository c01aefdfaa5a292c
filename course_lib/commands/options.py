"""The options of a command, read from the table that tells a person what they are.

    SUBMISSIONS         a folder of notebooks
    --out DIR           where the gradebook goes
    --only [NAME …]     keep everybody else's rows
    --nbgrader DB NAME  also write the points there
    --nvcc              build the C++ twins, too

Two spaces or more begin the explanation, which goes on in the lines below, or begins there, where
they are indented.
`…` stands for several, `[ … ]` for several or none, and a word in capitals alone is an argument.
Standard library only: `--help` works before anything is installed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

# What a place in a table stands for, unless the command says how it is read.
KINDS: Mapping[str, Callable[[str], Any]] = dict.fromkeys(
    ("DIR", "FILE", "FOLDER", "SUBMISSIONS", "ZIP"), Path
)
_ROW = re.compile(r"^(\S+(?: \S+)*)(?:  +|\n +)(\S.*(?:\n +.*)*)", re.MULTILINE)


def read_options(
    command: str,
    about: str | None,
    table: str,
    required: Collection[str] = (),
    read: Mapping[str, Callable[[str], Any]] | None = None,
    **defaults: object,
) -> argparse.ArgumentParser:
    """The parser of a command's arguments.

    Args:
        command: its name.
        about: what its help begins with.
        table: its arguments and options, as above.
        required: options that have to be given, as they are called in the result: "out".
        read: how an option's words are read, by the same names.
        defaults: by the same names, what is not None (False, for an option that takes no words)
            where an option is not given.
    """
    made = argparse.ArgumentParser(prog=f"course.py {command}", description=about)
    kinds = {**KINDS, **(read or {})}
    for words, said in _ROW.findall(table):
        places = tuple(re.findall(r"[A-Z][A-Z/,]*", words))
        option = words.split()[0] if words.startswith("-") else ""
        name = option.strip("-").replace("-", "_") or places[0].lower()
        about_it: dict[str, Any] = {"help": " ".join(said.split())}
        if option and not places:
            made.add_argument(option, action="store_true", **about_it)
            continue
        if "…" in words:
            about_it["nargs"] = "*" if "[" in words else "+"
        elif len(places) > 1:
            about_it["nargs"] = len(places)
        if option:
            about_it["required"] = name in required
        kind = kinds.get(name) or kinds.get(places[0]) or str
        metavar = places if len(places) > 1 else places[0]
        made.add_argument(option or name, type=kind, metavar=metavar, **about_it)
    made.set_defaults(**defaults)
    return made
