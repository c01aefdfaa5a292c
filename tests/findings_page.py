"""Writes docs/findings.md: every code, everything that can be said with it, and an example.

    python tests/findings_page.py [--examples]

The sentences are read from the library's own source. The examples come from the wrong answers of
the tests; judging them takes a minute, so they are stored and renewed with `--examples` alone: a
file for each code, with the words that each reader is told, which the tests hold to.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from stored_answers import wrong_answers  # noqa: E402
from templates_of_sentences import ANY, templates  # noqa: E402

from course_lib.curriculum import EXERCISES  # noqa: E402
from course_lib.problems.resident_blocks import resident_ideas  # noqa: E402
from course_lib.problems.table import problems  # noqa: E402
from course_lib.wording.findings import CODES, Finding  # noqa: E402
from course_lib.wording.sentences import AUDIENCES, told, whole  # noqa: E402

PAGE, EXAMPLES = "docs/findings.md", "tests/golden/findings"
Example = Mapping[str, str]
Templates = dict[str, tuple[list[str], list[str]]]
# What an idea counts with: one of many numbers.
_NUMBERS = re.compile(
    r"(?<=here they are ).*|(?<=tile of )\d+|(?<=stride is )\d+|(?<=start at )\d+"
    r"|(?<=groups of )\d+|\d+(?= steps)|(?<=lane )\d+(?= of)"
    r"|(?<=after )\d+(?= elements)|(?<=go up to )\d+"
)

WARNING = "A warning, or an error where the exercise asks for more"

_MARK = re.compile(r"\s*# <- ([a-z0-9, -]+).*$", re.M)
_FACT = re.compile(r"\{(\w+)\}")
_HEAD = """\
# Findings

The checker looked at your kernel and told you something. This page lists everything that it can
tell you, in the order in which it does so: first what kept the kernel from running, then causes,
then symptoms, and last what costs more than it needs to. For each code you see the headline, and
below it the sentences that can follow, and the hints. A ‹name› stands for something that the
checker fills in, such as a thread, an array or a line. If the checker knows the cause, its
sentence may contain the sentence of another finding.

`python tests/findings_page.py` makes this page from the source of the library. It leaves
out sentences that come from Python itself, or that are put together from several tables.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page; with `--examples`, judge the answers anew before."""
    arguments = sys.argv[1:] if argv is None else argv
    if "--examples" in arguments:
        for code in CODES:
            if example := example_of(code):
                (ROOT / EXAMPLES / f"{code}.txt").write_text(as_text(example), encoding="utf-8")
    (ROOT / PAGE).write_text(page(ROOT), encoding="utf-8")
    return 0


def page(root: Path) -> str:
    """The page, of the source and the stored examples below `root`."""
    said = _with_ideas(templates(root / "course_lib"))
    examples = stored_examples(root)
    parts = [_HEAD]
    for code, known in CODES.items():
        kind = "An error" if known.severity == "error" else WARNING
        parts.append(f"## {code}: {known.title}\n\n{known.explanation} {kind}.\n")
        parts += _lists(*said.get(code, ([], [])))
        if code in examples:
            parts.append(_shown(examples[code]))
    parts.append("## With several codes\n\nThese explain a finding, whichever code it has.\n")
    parts += _lists(*said.get(ANY, ([], [])))
    return "\n".join(parts)


def _with_ideas(said: Templates) -> Templates:
    """And what is known of each kind of problem: an idea is data, and has its sentence."""
    ideas = [
        ("{{output}} holds the wrong numbers: {says}.", idea)
        for problem in problems(EXERCISES).values()
        for idea in problem.wrong_ideas()
    ]
    ideas += [("{{compared}}: {says}.", idea) for idea in resident_ideas()]
    for around, idea in ideas:
        code = idea.code or "wrong-formula"
        sentences, hints = said.get(code, ([], []))
        sentence = around.format(says=_NUMBERS.sub("‹number›", idea.says))
        said[code] = (sorted({*sentences, sentence}), sorted({*hints, idea.hint}))
    return said


def stored_examples(root: Path) -> dict[str, Example]:
    """Code -> its example, of all codes that have one."""
    files = sorted((root / EXAMPLES).glob("*.txt"))
    return {each.stem: from_text(each.read_text(encoding="utf-8")) for each in files}


def as_text(example: Example) -> str:
    """An example as it is stored: "name: value", a line each."""
    return "".join(f"{name}: {value}\n" for name, value in example.items())


def from_text(stored: str) -> Example:
    """What `as_text` made a text of."""
    return dict(line.split(": ", 1) for line in stored.splitlines())


def example_of(code: str) -> Example | None:
    """Of the wrong answers marked with a code, what is said of the first that is told it; or None.

    Those to the exercises that come first: they are short, and soon judged.
    """
    order = {exercise: place for place, exercise in enumerate(EXERCISES)}
    marked = [where for where, text in wrong_answers().items() if code in _marks(text)]
    marked.sort(key=lambda where: order.get(where[0], len(order)))
    examples = (example_from(f"{exercise}/{name}", code) for exercise, name in marked)
    return next(filter(None, examples), None)


def example_from(where: str, code: str) -> Example | None:
    """What is said with a code of a wrong answer, "exercise/name"; None where it is not told it.

    Its "answer" and "line"; the message to a "student" and the "hint to student"; and the same for
    each other reader who is told something else.
    """
    exercise, name = where.split("/")
    answer = _MARK.sub("", wrong_answers()[exercise, name])
    for found in _findings_on(exercise, answer):
        if found.code == code:
            line = answer.splitlines()[found.line - 1].strip() if found.line else ""
            said = _different({who: whole(found.message, who) for who in AUDIENCES})
            hints = _different({f"hint to {who}": told(found.hint, who) for who in AUDIENCES})
            return {"answer": where, "line": line} | said | hints
    return None


@cache
def _findings_on(exercise: str, answer: str) -> Sequence[Finding]:
    """What is said of an answer, which may be marked with several codes."""
    from course_lib.checking import examine_source

    return examine_source(exercise, answer).findings


def _different(said: dict[str, str]) -> dict[str, str]:
    """What the first reader is told, and the others where it is not the same."""
    first = next(iter(said))
    return {who: text for who, text in said.items() if who == first or text != said[first]}


def _marks(text: str) -> set[str]:
    return {name.strip() for mark in _MARK.findall(text) for name in mark.split(",")}


def _lists(said: Sequence[str], hints: Sequence[str]) -> Iterator[str]:
    for title, texts in (("Said:", said), ("Hints:", hints)):
        if texts:
            yield "\n".join((f"{title}\n", *(f"- {_as_markdown(each)}" for each in texts), ""))


def _shown(example: Example) -> str:
    """An example: the line, and what is said of it."""
    where = f"`{example['line']}`" if example["line"] else "the answer as a whole"
    lines = [f"Example, of {where} in `{example['answer']}`:\n", f"> {_plain(example['student'])}"]
    if hint := example["hint to student"]:
        lines += [">", f"> Hint: {_plain(hint)}"]
    return "\n".join([*lines, ""])


def _as_markdown(template: str) -> str:
    parts = _FACT.split(template)
    for place, part in enumerate(parts):
        parts[place] = f"‹{part.replace('_', ' ')}›" if place % 2 else part
    return _plain("".join(parts).strip())


def _plain(text: str) -> str:
    """Text in which no character means anything to markdown, but those between backticks."""
    pieces = text.split("`")
    return "`".join(
        re.sub(r"([*_<>\\|\[\]])", r"\\\1", piece) if number % 2 == 0 else piece
        for number, piece in enumerate(pieces)
    )


if __name__ == "__main__":
    sys.exit(main())
