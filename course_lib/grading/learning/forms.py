"""The two forms of the test: a notebook of each, and what somebody has answered in it.

A notebook holds the questions and no answers to them, so nothing in it can tell whether an answer
is right. A student writes into cells of text that bear a mark, as for answers in words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.building.generated import setup_cell
from course_lib.building.notebook import Notebook, canonical, code, markdown, new
from course_lib.building.project import Project
from course_lib.curriculum import Exercise
from course_lib.grading.answers.assembling import TextQuestion, text_answer
from course_lib.grading.learning.item_pairs import AFTER, BEFORE, items
from course_lib.grading.records import Submission
from course_lib.grading.transfer import TESTS, TRANSFER
from course_lib.questions.judging import CannotRead, judge, read
from course_lib.questions.kinds import Choose, Question, WhichLine

HEAD = """\
# {title}

{count} questions and a kernel. We want to find out what a course changes, so we ask what you \
think, and not what you can look up. Work alone, and guess if you don't know. Nothing here says \
whether an answer is right. Double-click a cell that begins with *Your answer*, and replace these \
words with your answer. Save the notebook, and hand it in."""
KERNEL = """\
## {title}

**Write** `{name}(x, z, y)`: `{formula}`.

- `x` and `y` have M numbers, `z` has N; float32, **any** M and N.
- Blocks of 64 threads, a grid of ⌈M/64⌉; one thread computes one number of `y`.
- Each block fetches each number of `z` from global memory once, through shared memory.

Write as much as you can: a kernel that is right but fetches more also earns points. `numpy` and \
`cuda` are already imported. The cell below yours runs your kernel on a few numbers; there is no \
other help."""
STUB = "# EXERCISE {name}\n@cuda.jit\ndef {name}(x, z, y):\n    ..."
TRIAL = """\
x = np.arange(5, dtype=np.float32)
y = np.zeros_like(x)
{name}[1, 64](x, np.ones(3, np.float32), y)
print(y)"""
GIVEN = "*Your answer: {}.*"
_BEFORE_A_REASON = re.compile(
    r"((?:line )?[\w.,/]+)(?:\s*[):;,.–-]|(?<=[.,]) | (?:because|since|as)\b)", re.I
)


@dataclass(frozen=True)
class ItemForm:
    """One of the two tests."""

    name: str  # "pretest" or "posttest"
    items: tuple[Question, ...]
    exercise: Exercise  # the transfer kernel

    @property
    def title(self) -> str:
        return f"{'Before' if self.name == 'pretest' else 'After'} the course"


PRETEST, POSTTEST = (
    ItemForm(name, items(name, end), TRANSFER[TESTS[name]])
    for name, end in (("pretest", BEFORE), ("posttest", AFTER))
)
FORMS = {form.name: form for form in (PRETEST, POSTTEST)}


def notebook_of(form: ItemForm, project: Project) -> Notebook:
    """The notebook of a form, as students get it."""
    kernel = form.exercise
    cells = [markdown(HEAD.format(title=form.title, count=len(form.items))), setup_cell(project)]
    for number, item in enumerate(form.items, 1):
        cells.append(markdown(f"## Question {number}\n\n{_asked(item)}"))
        cells.append(markdown(f"<!-- QUESTION {item.id} -->\n{_given(item)}"))
    cells += [
        markdown(KERNEL.format(title=kernel.title, name=kernel.id, formula=kernel.formula)),
        code("import numpy as np\nfrom numba import cuda, float32"),
        code(STUB.format(name=kernel.id), "exercise"),
        code(TRIAL.format(name=kernel.id)),
    ]
    return canonical(new(cells))


def _asked(item: Question) -> str:
    """The question, with its listing and its choices."""
    parts = [item.asks]
    if item.code:
        numbered = enumerate(item.code.splitlines(), 1)
        lines = [f"{number:2}  {text}" for number, text in numbered]
        parts.append("```text\n" + "\n".join(lines) + "\n```")
    if isinstance(item, Choose):
        parts += [f"{letter}) {choice.words}" for letter, choice in item.lettered().items()]
    return "\n\n".join(parts)


def _given(item: Question) -> str:
    """What stands in an answer's cell beforehand."""
    if isinstance(item, Choose):
        return GIVEN.format("a letter")
    return GIVEN.format("the number of a line" if isinstance(item, WhichLine) else "a number")


@dataclass(frozen=True)
class AnsweredItem:
    """What somebody has answered."""

    said: str = ""  # a letter, a line or a number, in one form; empty if nothing can be read
    right: bool = False


def answers_to(form: ItemForm, submission: Submission) -> tuple[AnsweredItem, ...]:
    """The answers to the items in their order; empty if none of them says anything."""
    found = tuple(_answered(form, item, submission) for item in form.items)
    return found if any(answer.said for answer in found) else ()


def _answered(form: ItemForm, item: Question, submission: Submission) -> AnsweredItem:
    given = _given(item)
    question = TextQuestion(item.id, form.name, item.asks, given, frozenset())
    text = text_answer(submission, question).text.replace(given, "").strip()
    for written in _readings(text):
        try:
            said = read(item, written)
            shown = f"{said:.10g}" if isinstance(said, float) else said
            return AnsweredItem(shown, judge(item, said).right)
        except CannotRead:
            continue
    return AnsweredItem()


def _readings(text: str) -> Iterator[str]:
    """An answer as it stands, and what stands before a reason that somebody has added."""
    bare = " ".join(text.replace("*", " ").replace("`", " ").removeprefix("Your answer:").split())
    yield bare
    if found := _BEFORE_A_REASON.match(bare):
        yield found[1].strip(".,")
