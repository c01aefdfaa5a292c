"""What makes a notebook one of the course's, beyond its form; each rule yields its complaints.

A rule says what is wrong in words that its author can act on. The tests hold every notebook to
them; `MAX_WORDS` and `MAX_LINES` are what a reader can take in at one glance.
"""

import ast
import re
from collections.abc import Iterator

from course_lib.book.site import NOTEBOOK_ONLY
from course_lib.building.notebook import (
    BEGIN,
    Cell,
    Notebook,
    answer_cells,
    code_cells,
    markdown_cells,
    source,
    tagged,
    tags,
)
from course_lib.building.outputs import COMPUTED, blemishes, text_of
from course_lib.building.placed import ANSWER, GUESS, MADE, prediction_placed, task_of, tasks_of
from course_lib.curriculum import EXERCISES, Exercise, Lesson, Task

MAX_WORDS, MAX_LINES = 120, 12
GENERATED = {"launch", "setup", "next"}
TAGS = GENERATED | {
    "figure",
    "count",
    "break",
    "quiz",
    "exercise",
    "check",
    "solution",
    COMPUTED,
    *MADE,
    ANSWER,
    GUESS,
}
# What nbval reads. It takes comments, too, and passes a misspelled one over in silence; a tag
# leaves the lesson's code alone, and an unknown tag is refused below.
COMPARED, IGNORED = "nbval-check-output", "nbval-ignore-output"
TAGS |= {COMPARED, IGNORED, NOTEBOOK_ONLY}
MOST_BEFORE_TYPING = 7  # cells that stand before the first task of a lesson
SETUP_LINES = 5
OF_BUGS = {"05c"}  # all its kernels are given whole, each with a bug
LATER = "02"  # from this lesson on a lesson looks back, breaks something and sums up
LAST_HINT = "Hint 3: the idea"  # hints rise; the last names the idea, never the code

_CLOCKS = re.compile(r"\btime_kernel\b|\bperf_counter\b|%time|\btimeit\b|\btime\.time\b")
_HINT = re.compile(r"<summary>(Hint[^<]*)</summary>")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\]\(")
_MARKER_LIKE = re.compile(r"#?\s*\bnbval", re.IGNORECASE)


def common_rules(notebook: Notebook) -> Iterator[str]:
    """Small cells, tags and markers that do what they say, pictures for everybody."""
    for cell in notebook["cells"]:
        name = f"cell {cell['id']}"
        for tag in set(tags(cell)) - TAGS:
            yield f"{name}: nothing knows the tag {tag!r}"
        rules = _code_rules if cell["cell_type"] == "code" else _prose_rules
        for complaint in rules(cell):
            yield f"{name}: {complaint}"
    yield from blemishes(notebook)


def lesson_rules(notebook: Notebook, lesson: Lesson) -> Iterator[str]:
    """The anatomy of a lesson, whose student types at once."""
    placed = tasks_of(notebook["cells"])
    if placed:
        yield from _do_first_rules(notebook, lesson, placed)
    else:
        yield "it places no task"
    for cell in tagged(notebook, "count"):
        if not _has_assert(source(cell)):
            yield f"cell {cell['id']}: tagged `count`, and asserts nothing"
    compared = any(COMPARED in tags(cell) for cell in code_cells(notebook))
    if lesson.number >= LATER and not compared:
        yield f"no output is compared: tag a cell that prints counts `{COMPARED}`"
    if tagged(notebook, "exercise") or tagged(notebook, "check"):
        yield "exercises stand in solutions/, not in a lesson"


def _do_first_rules(notebook: Notebook, lesson: Lesson, placed: list[Task]) -> Iterator[str]:
    """The student types at once; a later lesson looks back first, breaks a kernel and sums up."""
    cells = notebook["cells"]
    yield from _opening_rules(cells)
    lesson_alone = [cell for cell in cells if NOTEBOOK_ONLY not in tags(cell)]
    before = next(place for place, cell in enumerate(lesson_alone) if task_of(cell))
    if before > MOST_BEFORE_TYPING:
        yield f"{before} cells stand before the first task; {MOST_BEFORE_TYPING} are enough"
    for cell in tagged(notebook, "predict"):
        if prediction_placed(cell) is None:
            yield f"cell {cell['id']}: a prediction is a question, placed by `# PREDICT NN-name`"
    if lesson.number < LATER:
        return
    if not is_empty(placed[0].given) and lesson.number not in OF_BUGS:
        yield f"it opens with {placed[0].id}, which is not written from an empty cell"
    for tag in ("count", "break"):
        if not any(cell["cell_type"] == "code" for cell in tagged(notebook, tag)):
            yield f"there is no code cell tagged `{tag}`"
    if not any("you can now teach" in source(cell).casefold() for cell in markdown_cells(notebook)):
        yield "no cell says what “You can now teach”"
    if "](" not in source(cells[-1]) or "next" not in tags(cells[-1]):
        yield "its last cell does not lead on"


def _opening_rules(cells: list[Cell]) -> Iterator[str]:
    """A title and one line, a badge only where one leads somewhere, and no plumbing."""
    title, *rest = source(cells[0]).strip().split("\n\n")
    has_badge = bool(rest) and rest[0].startswith("[![")
    words_below = rest[has_badge:]
    if not title.startswith("# ") or len(words_below) != 1 or "\n" in words_below[0]:
        yield f"cell {cells[0]['id']}: the header is the title and one line"
    setup = next(cell for cell in cells if cell["cell_type"] == "code")
    lines = [line for line in source(setup).splitlines() if line.strip()]
    if "setup" not in tags(setup) or len(lines) > SETUP_LINES:
        yield f"cell {setup['id']}: {len(lines)} lines of setup; {SETUP_LINES} are enough"


def is_empty(given: str) -> bool:
    """Whether the given code of a task has nothing but the function's name and what is asked."""
    functions = [node for node in ast.parse(given).body if isinstance(node, ast.FunctionDef)]
    bodies = [node.body[ast.get_docstring(node) is not None :] for node in functions]
    return all(ast.unparse(line) == "..." for body in bodies for line in body)


def solution_rules(notebook: Notebook, lesson: Lesson) -> Iterator[str]:
    """Each exercise of the lesson once and in order: answer, check, three hints."""
    answers = answer_cells(notebook)
    if tuple(answers) != lesson.exercises:
        yield f"it answers {', '.join(answers)} instead of {', '.join(lesson.exercises)}"
    for name, cell in answers.items():
        if name in EXERCISES:
            yield from _answer_rules(cell, EXERCISES[name])
            yield from _check_and_hint_rules(notebook, cell, name)
        if BEGIN not in source(cell):
            yield f"the answer to {name} has nothing between markers"


def words(text: str) -> int:
    """How many words a reader has to read; addresses and code blocks are not counted."""
    text = re.sub(r"\]\([^)]*\)|<[^>]+>", " ", _FENCE.sub(" ", text))
    return len(re.findall(r"\w[\w.,'’*×/-]*", text))


def _prose_rules(cell: Cell) -> Iterator[str]:
    text = source(cell)
    if words(text) > MAX_WORDS:
        yield f"{words(text)} words; {MAX_WORDS} are enough"
    if "launch" not in tags(cell) and re.search(r"^# ", _FENCE.sub("", text), re.MULTILINE):
        yield "the only heading of the first level is the title"
    if any(not alt.strip() for alt in _IMAGE.findall(text)):
        yield "an image without alt text"
    if text.count("<details") != text.count("</details>"):
        yield "a fold is not closed"


def _code_rules(cell: Cell) -> Iterator[str]:
    text = source(cell)
    lines = [line for line in text.splitlines() if line.strip()]
    exempt = "@cuda.jit" in text or (GENERATED | {"exercise"}) & set(tags(cell))
    if len(lines) > MAX_LINES and not exempt:
        yield f"{len(lines)} lines; {MAX_LINES} are enough where there is no kernel"
    for line in text.splitlines():
        if _MARKER_LIKE.match(line):
            yield f"{line!r}: tell nbval by a tag"
    if {COMPARED, IGNORED} <= set(tags(cell)):
        yield "its output cannot be both compared and ignored"
    if COMPARED in tags(cell):
        if any("image/png" in output.get("data", {}) for output in cell["outputs"]):
            yield f"nbval cannot compare pictures: no tag `{COMPARED}` here"
        if cell["execution_count"] is not None and not any(map(text_of, cell["outputs"])):
            yield f"tagged `{COMPARED}`, and nothing is printed"
    # Stored outputs come from the emulator, where a clock behind on_gpu() is never read.
    if COMPUTED in tags(cell) and _CLOCKS.search(text) and "on_gpu()" not in text:
        yield f"it reads a clock, so it cannot be tagged `{COMPUTED}`"


def _answer_rules(cell: Cell, exercise: Exercise) -> Iterator[str]:
    """The function that the check looks for is there before and after solving."""
    tree = ast.parse(source(cell))
    if "exercise" not in tags(cell):
        yield f"the answer to {exercise.id} is not tagged `exercise`"
    if not exercise.kind.is_function:
        stored = (
            n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        missing = set(exercise.parameters) - {node.id for node in stored}
        if missing:
            yield f"the answer to {exercise.id} does not set {', '.join(sorted(missing))}"
        return
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if exercise.id not in functions:
        yield f"the answer to {exercise.id} defines no function of that name"
        return
    arguments = tuple(each.arg for each in functions[exercise.id].args.args)
    if arguments != exercise.parameters:
        yield f"the answer should read {exercise.signature}"
    if ast.get_docstring(functions[exercise.id]) is None:
        yield f"{exercise.id} needs a docstring: it says what is asked"


def _check_and_hint_rules(notebook: Notebook, answer: Cell, name: str) -> Iterator[str]:
    cells = [cell for cell in notebook["cells"] if "solution" not in tags(cell)]
    after = cells[next(i for i, cell in enumerate(cells) if cell is answer) + 1 :]
    ends = next((i for i, cell in enumerate(after) if "exercise" in tags(cell)), len(after))
    after = after[:ends]
    checks = [cell for cell in after[:2] if "check" in tags(cell)]
    call = EXERCISES[name].check_call
    if [source(cell) for cell in checks] != [call]:
        yield f"after the answer: one cell, tagged `check`: {call}"
    hints = [source(cell) for cell in after if "<summary>Hint" in source(cell)]
    titles = [title for hint in hints for title in _HINT.findall(hint)]
    if len(titles) != len(hints):
        yield f"two hints for {name} share a cell"
    elif [title.partition(":")[0] for title in titles] != ["Hint 1", "Hint 2", "Hint 3"]:
        yield f"{name} has {len(titles)} hints; Hint 1, 2 and 3 are needed, in this order"
    elif titles[2] != LAST_HINT:
        yield f"the last hint for {name} is called {titles[2]!r} instead of {LAST_HINT!r}"
    if any("```" in hint for hint in hints):
        yield f"a hint for {name} shows code"


def _has_assert(text: str) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(text)))
