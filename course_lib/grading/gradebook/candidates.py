"""Collects answers that the judge could not explain, without names: candidates for new cases.

Such an answer is wrong and nobody has said why, or the emulator does not know what it uses, or a
clock or a crash ended it. Comments and texts that stand alone, in which people sign their work, are
taken out, and every line keeps its number. An answer is left out where its author's name is still
in it.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from course_lib.findings import CODES
from course_lib.grading.gradebook.safe_text import one_line
from course_lib.grading.gradebook.structure import structure_of
from course_lib.grading.records import GradebookRow, Judgement, Submission
from course_lib.grading.version import grader_version
from course_lib.sentences import whole

SHORTEST_NAME = 3  # letters: a shorter word is in any answer


def candidates(rows: Iterable[GradebookRow], seed: int) -> dict[str, str]:
    """A text for each such answer, by the name of its file; one for each structure.

    Each text is the answer as Python, and below it as comments what was judged and said.
    """
    found: dict[str, str] = {}
    known: set[tuple[str, str]] = set()
    for row in rows:
        if row.answer is None or row.judgement is None or not is_unexplained(row.judgement):
            continue
        code, structure = without_texts(row.answer.text), structure_of(row.answer.text)
        if code is None or structure is None or (row.exercise, structure.whole) in known:
            continue
        said = "\n".join(_report(row.judgement, seed))
        if _names_its_author(f"{code}\n{said}", row.submission):
            continue
        known.add((row.exercise, structure.whole))
        digest = hashlib.sha256(structure.whole.encode()).hexdigest()[:8]
        found[f"{row.exercise}-{digest}.py"] = f"{code}\n\n{said}\n"
    return found


def write_candidates(folder: Path, texts: dict[str, str]) -> None:
    """Write the files into a folder, beside those of other classes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def is_unexplained(judgement: Judgement) -> bool:
    """Whether the tools have found no cause."""
    errors = [each for each in judgement.findings if each.severity == "error"]
    wrong = bool(errors) and errors[0].code == "wrong-result"
    return judgement.outcome != "judged" or judgement.needs_review or wrong


def without_texts(text: str) -> str | None:
    """The code without comments, and with texts that stand alone empty; None if it is no Python."""
    try:
        tree = ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError):
        return None
    alone = {
        (each.lineno, each.col_offset)
        for each in ast.walk(tree)
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }
    lines = text.splitlines(keepends=True)
    for token in reversed(tokens):  # from the end, so that places above stay
        if token.type == tokenize.COMMENT:
            _replace(lines, token, "")
        elif token.type == tokenize.STRING and token.start in alone:
            breaks = "\n" * token.string.count("\n")
            _replace(lines, token, f'"""{breaks}"""')
    return "".join(lines).rstrip()


def _replace(lines: list[str], token: tokenize.TokenInfo, by: str) -> None:
    (first, left), (last, right) = token.start, token.end
    joined = lines[first - 1][:left] + by + lines[last - 1][right:]
    lines[first - 1 : last] = joined.splitlines(keepends=True)


def _report(judgement: Judgement, seed: int) -> Iterator[str]:
    """What was tried and said, as comments."""
    yield f"# exercise {judgement.exercise}, seed {seed}, grader {grader_version()}"
    yield f"# judging: {judgement.outcome}" + ("; needs review" if judgement.needs_review else "")
    if judgement.launched:
        yield f"# {one_line(judgement.launched)}"
    for each in judgement.held:
        yield f"# holds: {one_line(each)}"
    for found in judgement.findings:
        where = f"line {found.line}" if found.line is not None else "the answer"
        yield f"# {where}: {CODES[found.code].title} [{found.code}]"
        yield f"#   {one_line(whole(found.message, 'instructor'))}"


def _names_its_author(text: str, submission: Submission) -> bool:
    """Whether a word of the author's name is a word, or a part of a name, in the text."""
    words = set(re.findall(r"[^\W\d_]+", text.casefold()))
    names = re.findall(r"[^\W\d_]+", f"{submission.student} {submission.key}".casefold())
    return any(len(name) >= SHORTEST_NAME and name in words for name in names)
