"""Each answer is found by its marker and its name, as Jupyter would hold it at the end."""

import contextlib
import random
import sys

import pytest
from counted_work import counted_calls
from every_case import every_case
from notebook_texts import REPOSITORY, code, handed_in, notebook_file, prose, solution, tasks
from sampling import few

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, LESSONS
from course_lib.grading.answers.search import find_answers, recognised_exercises
from course_lib.grading.intake.reading import read_cells
from course_lib.grading.records import FoundAnswer, Submission, SubmittedFile

TILED = solution("matmul_tiled")
BODY = TILED.split("\n\n\n", 1)[1]  # from @cuda.jit on
IMPORTS = code("import numpy as np\nfrom numba import cuda, float32")
CHECK = code('course_lib.check("matmul_tiled", matmul_tiled)')
BREAK_IT = prose("## Break it\n\nCopy your kernel into a new cell.")
NEXT = prose("**Next:** lesson 06")


def find(*cells, exercise: str = "matmul_tiled", known: bool = True) -> FoundAnswer:
    (answer,) = find_answers(handed_in(cells), [exercise], tasks() if known else None)
    return answer


def said(answer: FoundAnswer) -> str:
    return " ".join(answer.notes)


def other(text: str, number: int) -> str:
    """The same answer in a version of its own."""
    return f"{text}\n# version {number}"


@every_case("path", sorted((REPOSITORY / "solutions").glob("*.ipynb")), ids=str)
def test_solved_notebooks_are_handed_on_as_they_are(path):
    cells = read_cells(path.read_bytes())
    submission = Submission("s", "s", (SubmittedFile(path.name, cells),))
    expected = {cell.text.split()[2]: cell for cell in cells if cell.text.startswith("# EXERCISE")}
    assert recognised_exercises(submission) == tuple(e for e in EXERCISES if e in expected)
    for answer in find_answers(submission, list(expected), tasks()):
        cell = expected[answer.exercise]
        assert answer == FoundAnswer(answer.exercise, cell.text, file=path.name, cell=cell.number)


@every_case("path", sorted((REPOSITORY / "exercises").glob("*.ipynb")), ids=str)
def test_untouched_exercises_have_no_answer(path):
    submission = Submission("s", "s", (SubmittedFile(path.name, read_cells(path.read_bytes())),))
    recognised = recognised_exercises(submission)
    assert recognised
    for answer in find_answers(submission, recognised, tasks()):
        assert answer.text == "" and not answer.needs_review
        assert "still" in answer.problem


@pytest.mark.parametrize("marker", [
    "#EXERCISE matmul_tiled", "  ## exercise   Matmul_Tiled  ", "# Exercise: matmul_tiled",
    "#\tEXERCISE - matmul_tiled.", "# EXERCISE matmul_tiled (my second try)",
    "\n# my name\n# EXERCISE matmul_tiled",
])  # fmt: skip
def test_the_marker_in_other_spellings(marker):
    answer = find(IMPORTS, code(TILED.replace("# EXERCISE matmul_tiled", marker)), CHECK)
    assert answer.problem is None and answer.notes == () and answer.cell == 2


@pytest.mark.parametrize("first", ["", "# EXERCISE matmul_tilde\n", "# EXERCISE mat_add\n"])
def test_without_the_marker_the_name_is_enough(first):
    answer = find(IMPORTS, code(first + TILED.split("\n", 1)[1]), CHECK)
    assert (answer.problem, answer.cell) == (None, 2)
    assert "found by its name" in said(answer)


def test_two_answers_in_one_cell_are_cut_apart():
    both = solution("matmul_1d") + "\n" + solution("matmul_2d")
    first, second = find_answers(handed_in([code(both)]), ["matmul_1d", "matmul_2d"], tasks())
    assert "TM = 8" in first.text and "TM, TN = 4, 4" not in first.text
    assert "TM, TN = 4, 4" in second.text and "matmul_1d" not in second.text
    begins = both.split("\n").index("# EXERCISE matmul_2d")
    assert second.text.split("\n")[begins] == "# EXERCISE matmul_2d"


def test_of_several_answers_the_last_complete_one_counts_and_no_experiment():
    answer = find(code(TILED), code(other(TILED, 2)), code(other(TILED, 3)))
    assert answer.cell == 3 and answer.text.endswith("# version 3")
    assert "3 answers (cell 1, cell 2, cell 3): the last one counts, cell 3." in said(answer)
    answer = find(CHECK, BREAK_IT, NEXT, code(TILED), IMPORTS)
    assert (answer.text, answer.notes, answer.cell) == (TILED, (), 4)
    answer = find(code(TILED), CHECK, BREAK_IT, code(other(TILED, 2)), NEXT)
    assert answer.cell == 1 and "experiment" in said(answer)
    assert find(BREAK_IT, code(other(TILED, 2)), NEXT).cell == 2
    answer = find(code(TILED), BREAK_IT, code(other(TILED, 2)), NEXT, code(other(TILED, 3)))
    assert answer.cell == 5


@pytest.mark.parametrize(("later", "note"), [
    (tasks()["matmul_tiled"].stub, None),
    (TILED.replace("C):", "C)"), "A later answer in cell 2 cannot be read: line"),
    ("# EXERCISE matmul_tiled\n", None),
    ("def matmul_tiled(A, B, C):\n    pass", None),
    ("def matmul_tiled(A, B, C):\n    raise NotImplementedError('later')", None),
])  # fmt: skip
def test_what_is_not_complete_does_not_count(later, note):
    answer = find(code(TILED), code(later))
    assert answer.cell == 1 and answer.text == TILED
    assert said(answer).startswith(note) if note else answer.notes == ()


def test_of_several_notebooks_the_last_with_a_complete_answer_counts():
    stub = [code(tasks()["matmul_tiled"].stub)]
    submission = handed_in([code(TILED)], [code(other(TILED, 2))], stub)
    (answer,) = find_answers(submission, ["matmul_tiled"], tasks())
    assert (answer.file, answer.cell) == ("notebook-2.ipynb", 1)
    assert "cell 1 of notebook-1.ipynb, cell 1 of notebook-2.ipynb" in said(answer)
    assert "notebook-3.ipynb, which comes later, is not complete" in said(answer)


def test_a_notebook_with_the_marker_goes_before_one_without():
    scratch = [code(BODY.replace("TILE", "16"))]
    submission = handed_in([code(TILED)], scratch)
    (answer,) = find_answers(submission, ["matmul_tiled"], tasks())
    assert answer.file == "notebook-1.ipynb"
    submission = handed_in([code(tasks()["matmul_tiled"].stub)], scratch)
    (answer,) = find_answers(submission, ["matmul_tiled"])
    assert answer.file == "notebook-2.ipynb"


@every_case("number", [each.number for each in LESSONS])
def test_the_kernels_of_a_lesson_are_nobodys_answer(number):
    lesson = read_cells(notebook_file("notebooks", number).read_bytes())
    submission = Submission("s", "s", (SubmittedFile(f"{number}.ipynb", lesson),))
    assert recognised_exercises(submission) == ()


@pytest.mark.parametrize("after", [False, True], ids=["above", "below"])
def test_a_constant_in_another_cell(after):
    cells = [code("# EXERCISE matmul_tiled\nTILE = 16\nOTHER = 3"), code(BODY)]
    answer = find(IMPORTS, *(reversed(cells) if after else cells), CHECK)
    assert answer.text == "TILE = 16\n" + BODY and answer.first_line == 2
    assert f"Taken from cell {3 if after else 2}, because the answer uses it: TILE." in answer.notes


def test_helpers_and_what_they_need_in_turn():
    helpers = code(
        "from numba import int32\nHALF = np.int32(8)\nTILE = 2 * HALF\nUNUSED = 1\n\n\n"
        "@cuda.jit(device=True)\ndef inside(y, x, array):\n    # a comment\n"
        "    return y < array.shape[0] and x < int32(array.shape[1])"
    )
    text = BODY.replace("C.shape", "C.shape if inside(0, 0, C) else C.shape", 1)
    answer = find(IMPORTS, helpers, code("print('hello')"), code(text), known=False)
    pieces = answer.text.removesuffix(text)
    assert pieces == (
        "from numba import int32\nHALF = np.int32(8)\nTILE = 2 * HALF\n"
        "@cuda.jit(device=True)\ndef inside(y, x, array):\n    # a comment\n"
        "    return y < array.shape[0] and x < int32(array.shape[1])\n"
    )
    assert answer.first_line == 8 and answer.text.split("\n")[7] == "@cuda.jit"
    assert "HALF, TILE, inside, int32" in said(answer)


def test_the_nearest_definition_above_counts_and_no_trial_run_below():
    cells = [code(f"TILE = {size}") for size in (4, 8, 16)]
    assert find(cells[0], cells[1], code(BODY)).text.startswith("TILE = 8\n")
    assert find(cells[0], cells[1], code(BODY), cells[2]).needs_review
    text = TILED.replace("TILE = 16", "TILE = N_ROWS")
    assert find(code(text), code("N_ROWS = 40\nprint(matmul_tiled)")).text == text
    assert find(code(text), code("N_ROWS = 40")).text == f"N_ROWS = 40\n{text}"


def test_an_import_that_the_instructor_does_not_have_is_taken():
    imports = code("import os\nimport numpy as np\nfrom numba import cuda, float32, int64")
    text = TILED.replace("float32(0", "float32(int64(0) + 0", 1)
    answer = find(imports, code(text))
    assert answer.text == f"from numba import int64\n{text}"
    imports = code("from math import *\nfrom os import *")
    text = solution("blocks_per_sm").replace("return 0", "return floor(0.5)", 1)
    answer = find(imports, code(text), exercise="blocks_per_sm")
    assert answer.text == f"from math import *\n{text}"
    assert find(imports, code(TILED)).text == TILED


@every_case("line", [
    "from course_lib import figures as helper",
    "import os as helper",
    "helper = 1; print(open('x'))",
])  # fmt: skip
def test_what_is_never_taken_from_another_cell(line):
    text = TILED + "\n    helper()"
    assert find(code(line), code(text)).text == text


@every_case("line", [
    "import matplotlib.pyplot as helper", "helper = open('secret').read()",
    "helper = __import__('os').system", "helper = [print(x) for x in range(3)]",
    "for helper in range(3): pass", "class helper: pass", "with open('x') as helper: pass",
])  # fmt: skip
def test_a_value_from_another_cell_that_only_a_run_could_tell(line):
    answer = find(code(line), code(TILED + "\n    helper()"))
    assert answer.needs_review and "helper" in answer.problem


@pytest.mark.parametrize(
    "between", [[], [code("")], [prose("Now the loop.")], [code("# now the loop")] * 9]
)
@pytest.mark.parametrize("place", [8, 12, 15])
def test_a_function_that_a_cell_ends_in_the_middle_of_is_for_a_person(place, between):
    """Jupyter runs no function over two cells, so nobody's check has seen such an answer."""
    lines = TILED.split("\n")
    first, second = code("\n".join(lines[:place])), code("\n".join(lines[place:]))
    answer = find(IMPORTS, first, *between, second, CHECK)
    assert (answer.text, answer.needs_review) == ("", True)
    assert f"Cell {3 + len(between)} begins indented" in answer.problem


@pytest.mark.parametrize("below", [
    [prose("Try it."), code("    matmul_tiled[1, (16, 16)](A, B, C)")],
    [BREAK_IT, code("    C[0, 0] = 1")],
    [code("print(1)"), code("    C[0, 0] = 1")],
], ids=["a launch", "an experiment", "behind other code"])  # fmt: skip
def test_what_is_not_the_rest_of_an_answer(below):
    answer = find(IMPORTS, code(TILED), *below)
    assert (answer.text, answer.notes) == (TILED, ())


def test_the_rest_of_a_stub_is_for_a_person():
    stub = code("# EXERCISE matmul_tiled\ndef matmul_tiled(A, B, C):\n    pass")
    answer = find(IMPORTS, stub, prose("and"), code("    x = = 1"))
    assert answer.needs_review and "is still empty. Cell 4 begins indented" in answer.problem


PROMPTS = "\n".join((">>> " if n == 0 else "... ") + x for n, x in enumerate(TILED.split("\n")))
QUESTIONS = ("cuda.jit?", "?cuda", "    !nvidia-smi", "cuda??")
INSIDE = [TILED.replace("TILE = 16", f"{{}}{line}\nTILE = 16") for line in QUESTIONS]
KERNEL = "    def matmul_tiled(A, B, C):\n        C[0, 0] = 1"


@every_case(("written", "read", "noted"), [
    *((f"{line}\n{TILED}", f"# {line}\n{TILED}", "line 1")
          for line in ("%%time", "%%capture out", "!pip install numba", "%matplotlib inline")),
    *((text.format(""), text.format("# "), "line 2") for text in INSIDE),
    (TILED.replace("TILE = 16", "%time TILE = 16"), TILED, ""),
    (PROMPTS, TILED, ""),
    (f"import os\nimport sys\n{TILED}", f"\n\n{TILED}", ""),
])  # fmt: skip
def test_what_python_does_not_run_is_left_out_and_lines_stay(written, read, noted):
    answer = find(code(written))
    assert answer.text == read and noted in said(answer)


def test_an_answer_without_its_marker_and_a_colon_is_recognised_and_a_pasted_indent():
    submission = handed_in([code("@cuda.jit\ndef mat_add(A, B, C)\n    C[0, 0] = A[0, 0]\n")])
    assert recognised_exercises(submission) == ("mat_add",)
    (answer,) = find_answers(submission, ["mat_add"], None)
    assert answer.text and not answer.problem
    indented = "\n".join("    " + line for line in TILED.split("\n"))
    assert find(code(indented)).text.split() == TILED.split()


@every_case("text", [
    TILED.replace("\n    ", "\n# exercise mat_add\n    ", 2),
    TILED.replace("TILE = 16", "TILE = (80\n% 64)"),
    TILED.replace("C):", "C)"),
    "# EXERCISE matmul_tiled\ndef kernel(A, B, C):\n    C[0, 0] = 1\nmatmul_tiled = kernel",
    f"# EXERCISE matmul_tiled\nclass X:\n{KERNEL}",
    TILED.replace("TILE = 16", "import os\nTILE = os.cpu_count()"),
    TILED.replace("TILE = 16", "import os; TILE = 16"),
])  # fmt: skip
def test_what_is_handed_on_as_it_is(text):
    answer = find(IMPORTS, code(text), CHECK)
    assert (answer.text, answer.problem, answer.cell) == (text, None, 2)


@pytest.mark.parametrize("magic", ["%%writefile kernel.py", "%%bash", "%%html", "%%javascript"])
def test_a_cell_that_python_does_not_run_is_text(magic):
    answer = find(code(f"{magic}\n{TILED}"))
    assert answer.needs_review and "below a cell magic" in answer.problem
    assert find(code(TILED), code(f"{magic}\n{other(TILED, 2)}")).text == TILED


def find_in_script(script: str) -> FoundAnswer:
    submission = Submission("s", "s", (SubmittedFile("x.py", read_cells(script.encode())),))
    (answer,) = find_answers(submission, ["matmul_tiled"], tasks())
    return answer


def test_scripts_that_jupyter_and_colab_exported():
    magic = f"get_ipython().run_cell_magic('time', '', {TILED!r})\n"
    script = f"# In[1]:\nfrom numba import cuda\n\n# In[2]:\n{magic}"
    assert find_in_script(script).text == TILED
    script = f'import numpy as np\n"""Statement\n"""\n\n{TILED}\n\n"""## Break it\n\n"""\n\n{BODY}'
    answer = find_in_script(script)
    assert answer.text == "\n" * 4 + TILED and "experiment" in said(answer)


@pytest.mark.parametrize(
    "text", [TILED, f"My answer:\n\n```python\n{TILED}\n```\nIt is *fast*.", f"~~~\n{TILED}\n~~~"]
)
def test_code_in_a_text_cell_counts_where_no_code_has_it(text):
    answer = find(IMPORTS, prose(text), CHECK)
    assert answer.problem is None and "is not a code cell" in said(answer)
    line = text.split("\n").index("TILE = 16")
    assert answer.text.split("\n")[line] == "TILE = 16"
    assert find(code(other(TILED, 2)), prose(text)).text == other(TILED, 2)
    stub = code(tasks()["matmul_tiled"].stub)
    assert find(stub, prose(text)).text == answer.text
    broken = TILED.replace("C):", "C)")
    assert find(code(broken), prose(text)).text == broken


def test_a_renamed_function_is_named():
    answer = find(code(TILED.replace("def matmul_tiled", "def my_kernel")))
    assert answer.text == ""
    said = "Below `# EXERCISE matmul_tiled` in cell 1 there is my_kernel, but no function called "
    assert answer.problem == f"{said}matmul_tiled."


@every_case(("cells", "problem"), [
    ([], "no cell with `# EXERCISE matmul_tiled`, and no function matmul_tiled."),
    ([code("def matmul_tile(A): A[0] = 1")], "(There is a function called matmul_tile.)"),
    ([code("# EXERCISE matmul_tiled\n# soon")], "Cell 1 has the line"),
    ([code("# EXERCISE matmul_tiled\nTILE = 16")], "Cell 1 has the line"),
    ([prose("# EXERCISE matmul_tiled\n\nI do not know.")], "There is no cell"),
    ([code(tasks()["matmul_tiled"].stub)], "matmul_tiled in cell 1 is still empty."),
    ([code("def matmul_tiled(a, b): ...")], "is still empty"),
    ([code("# EXERCISE matmul_tiled\n" + "x = 1\n" * 40_000)], "cannot be judged: it has more"),
])  # fmt: skip
def test_why_there_is_no_answer(cells, problem):
    answer = find(*cells)
    assert answer.text == "" and problem in answer.problem


TILE = solution("pick_a_tile")
OLD = "# EXERCISE matmul_coalesced\n@cuda.jit\ndef matmul_coalesced(A, B, C):\n    C[0, 0] = 1\n"


@pytest.mark.parametrize("beside", [[], [code("def helper(A, B, C):\n    C[0, 0] = 1\n")]])
def test_an_answer_of_an_earlier_edition_is_named_and_reviewed(beside):
    """Whoever is asked for what is graded now and has the old one: no 0 without words."""
    submission = handed_in([code(OLD), *beside])
    assert recognised_exercises(submission) == ("matmul_coalesced",)
    (answer,) = find_answers(submission, ["matmul_column_major"], tasks())
    assert (answer.text, answer.needs_review) == ("", True)
    assert answer.problem == (
        "matmul_coalesced in cell 1 is from an earlier edition of the course; matmul_column_major "
        "is graded instead."
    )
    (other_answer,) = find_answers(submission, ["mat_add"], tasks())
    assert "matmul_coalesced" not in str(other_answer.problem)
    assert recognised_exercises(handed_in([code(OLD.split("\n", 1)[1])])) == ()
    new = code(solution("matmul_column_major"))
    (answer,) = find_answers(handed_in([code(OLD), new]), ["matmul_column_major"], tasks())
    assert answer.problem is None and answer.cell == 2


def test_numbers_that_are_no_answer():
    numbers = "BM, BN, BK, TM, TN = 64, 64, 8, 4, 4\n\n\ndef f(): 1"
    cells = [code(solution("matmul_2d")), code(numbers)]
    assert "pick_a_tile" not in recognised_exercises(handed_in(cells))
    assert "no cell that sets BM, BN, BK, TM, TN" in find(*cells, exercise="pick_a_tile").problem
    stub = tasks()["pick_a_tile"].stub
    changed = stub.replace("BK = 32 ", "BK  =  32")
    assert "still those" in find(code(changed + "\n# hm"), exercise="pick_a_tile").problem
    assert find(code(stub.replace("BK = 32", "BK = 16")), exercise="pick_a_tile").problem is None


def test_constants_over_several_cells():
    for text in (TILE, TILE.split("\n", 1)[1], "# EXERCISE pick_a_tile\nBM, BN = 96, 96"):
        assert find(code(text), exercise="pick_a_tile").text == text
    assert recognised_exercises(handed_in([code(TILE.split("\n", 1)[1])])) == ("pick_a_tile",)
    first, second = code("# EXERCISE pick_a_tile\nBM, BN = 96, 96\nBK = 8"), code("TM, TN = 8, 4")
    answer = find(first, second, exercise="pick_a_tile")
    assert answer.text == "# EXERCISE pick_a_tile\nBM, BN = 96, 96\nBK = 8\nTM, TN = 8, 4"
    stub = tasks()["pick_a_tile"].stub
    answer = find(code(stub), code("BM, BN = 96, 96"), exercise="pick_a_tile")
    assert answer.text.endswith("\nBM, BN = 96, 96")
    check = code('course_lib.check("pick_a_tile", {"BM": BM})')
    assert find(code(TILE), check, exercise="pick_a_tile").text == TILE
    assert find(code(TILE), check, code("BM = 1"), exercise="pick_a_tile").needs_review


def test_what_the_answer_does_not_need_stays_and_findings_are_on_the_cells_lines():
    extra = "import pandas as pd\ndata = open('x').read()\ndef plot(*all):\n    pass\nprint(pd)"
    answer = find(code(f"{TILED}\n{extra}"))
    assert answer.text == f"{TILED}\n{extra}" and answer.notes == ()
    context = tasks()["matmul_tiled"].context
    assert examine_source("matmul_tiled", answer.text, context=context).passed
    wrong = BODY.replace("cuda.syncthreads()", "pass  # no barrier", 1)
    answer = find(IMPORTS, code("# EXERCISE matmul_tiled\nTILE = 16"), code(wrong))
    report = examine_source("matmul_tiled", answer.text, context=tasks()["matmul_tiled"].context)
    (finding,) = report.findings
    assert (finding.code, answer.first_line) == ("race-read-after-write", 2)
    assert "sA[ty, k]" in answer.text.split("\n")[finding.line - 1]


_HEAD = "# EXERCISE matmul_tiled\n@cuda.jit\ndef matmul_tiled(A, B, C):\n    "


@pytest.mark.slow
@pytest.mark.parametrize("cells", [
    [_HEAD + "C[0] = 1"] * 500,
    [""] * 500,
    ["# EXERCISE matmul_tiled\n# EXERCISE matmul_2d\n" * 300] * 5,
    [_HEAD + "C[0] = n0"] + [f"n{number} = n{number + 1}" for number in range(500)],
    ["matmul_tiled = 1\n" * 900] * 4,
    [_HEAD + "C[0] = 1", *["    def matmul_tiled(A):\n    x = 1\n  y" + " + 1" * 2000] * 20],
    ["    def matmul_tiled(A):\n        x = 1\n" + "    y = 1\n" * 200] * 14,
    *[[_HEAD + each * (59_000 // len(each)) + "1"] * 2 for each in ("x=", "(", "not ")],
    *[[_HEAD + "x = " + each * (50_000 // len(each)) + "1"] for each in ("-", "1+")],
    ["%time " * 9000, "!x\n" * 19_000, "a." * 29_000 + "?\n)", "@a\n" * 19_000 + _HEAD],
], ids=lambda cells: repr(cells[-1][:12]))  # fmt: skip
def test_hostile_cells_cost_little(cells):
    """A bound on all of it, and one on how it grows: with twice the cells, 2.5 times at most."""
    whole = calls_to_read(cells)
    # Of a few unlike cells, half are not half of the work.
    assert len(cells) <= 4 or whole < 2.5 * calls_to_read(cells[: 1 + len(cells) // 2]) + 100_000


def calls_to_read(cells: list[str]) -> int:
    submission = handed_in([code(cell) for cell in cells])
    with counted_calls(20_000_000) as calls:  # 6.5 million at most, in November 2026
        recognised_exercises(submission)
        find_answers(submission, list(EXERCISES), tasks())
    return calls.count


ASKED = "blocks_per_sm"
# {name} is bound to a function, or to a number: {value} is an expression for it.
WAYS = r"""
{name} = {value}
{name}: object = {value}
{name}: object
unused, {name} = 0, {value}
unused, *{name} = 0, {value}
({name} := {value})
[({name} := each) for each in [{value}]]
[{name} for {name} in [{value}]]
if flag: {name} = {value}
if not flag: {name} = {value}
if True: {name} = {value}
for {name} in [{value}]: pass
for {name} in []: pass
for unused in [1]: {name} = {value}
while flag: {name} = {value}; break
try: {name} = {value}\nexcept Exception: pass
try: nowhere\nexcept NameError: {name} = {value}
try: nowhere\nexcept NameError as {name}: pass
with nothing({value}) as {name}: pass
match {value}:\n    case {name}: pass
match {{"a": {value}}}:\n    case {{"a": {name}}}: pass
match {{"a": {value}}}:\n    case {{**{name}}}: pass
match [{value}]:\n    case [*{name}]: pass
exec("{name} = {value}")
exec(f"{name} = {{"{value}"}}")
run = exec\nrun("{name} = {value}")
eval("({name} := {value})")
globals()["{name}"] = {value}
globals().update({name}={value})
vars()["{name}"] = {value}
globals().pop("{name}", None)
names = globals()\nnames["{name}"] = {value}
setattr(sys.modules[__name__], "{name}", {value})
def change():\n    global {name}\n    {name} = {value}
def change():\n    global {name}\n    {name} = {value}\nchange()
def change():\n    global {name}\n    def {name}(*all): return -1\ndef again(): change()\nagain()
class Change:\n    global {name}\n    {name} = {value}
class Change:\n    {name} = {value}
class {name}: pass
def other(default=({name} := {value})): pass
async def {name}(): pass
import math as {name}
from math import pi as {name}
del {name}
(lambda: exec("{name} = {value}", globals()))()
print("{name}" in globals(), globals().get("{name}"))
"""


def ways() -> list[str]:
    return [line.replace("\\n", "\n") for line in WAYS.strip().split("\n")]


def bound(way: str, name: str, version: int) -> str:
    value = str(version) if name == "LIMIT" else f"(lambda *all: {version})"
    return way.format(name=name, value=value)


def find_asked(*texts: str) -> FoundAnswer:
    (answer,) = find_answers(handed_in([code(each) for each in texts]), [ASKED])
    return answer


class nothing:
    def __init__(self, value: object) -> None:
        self.value = value

    def __enter__(self) -> object:
        return self.value

    def __exit__(self, *_: object) -> None:
        return None


def at_the_end(cells: list[str]) -> object:
    """What calling the answer gives once all cells have run; a cell that raises ends early."""
    held: dict[str, object] = {"__name__": "a_notebook", "nothing": nothing, "sys": sys, "flag": 1}
    module = type(sys)("a_notebook")
    module.__dict__.update(held)
    sys.modules["a_notebook"] = module
    for text in cells:
        with contextlib.suppress(Exception):
            exec(compile(text, "cell", "exec"), module.__dict__)
    try:
        return module.__dict__[ASKED](None, 0, 0, 0)
    except Exception as error:
        return type(error).__name__


ANSWER = f"""
def {ASKED}(device, threads, registers, shared_bytes):
    return 100 * LIMIT + helper()
"""
SETUP = "LIMIT = 1\ndef helper(*all):\n    return 2"


def is_judged_as_held(cells: list[str]) -> bool:
    """Whether a notebook is judged; it has to be as Python would have it at the end."""
    answer = find_asked(*cells)
    if answer.needs_review:
        assert answer.problem and "cell " in answer.problem.lower()
        return False
    assert answer.problem is None
    assert at_the_end([answer.text]) == at_the_end(cells), answer.text
    return True


@every_case("name", [ASKED, "helper", "LIMIT"])
@every_case("place", [0, 1, 2, 3])
def test_one_more_binding_anywhere(name, place):
    for way in ways():
        cells = [SETUP, ANSWER, "print(1)"]
        cells.insert(place, bound(way, name, 7))
        is_judged_as_held(cells)


@pytest.mark.parametrize("seed", few(range(30), 3))
def test_several_bindings(seed):
    draw = random.Random(seed)
    judged = 0
    for _ in range(40):
        cells = [SETUP, ANSWER]
        for version in range(draw.randint(1, 4)):
            name = draw.choice([ASKED, "helper", "LIMIT"])
            cells.insert(draw.randint(0, len(cells)), bound(draw.choice(ways()), name, version))
        judged += is_judged_as_held(cells)
    assert judged  # not everything is a person's to look at


@every_case("texts", [
    [SETUP, ANSWER, "print(LIMIT, helper())"],
    [SETUP, ANSWER, "for number in range(3): print(number)"],
    [SETUP, ANSWER, SETUP],  # run again
    ["exec(open('own.py').read())", SETUP, ANSWER],  # what follows settles it
    ["import numpy as np", SETUP, ANSWER, "import numpy as np\nfrom math import floor"],
    [SETUP, ANSWER, "'helper' in globals(), vars(print)"],
    [SETUP, ANSWER, "!pip install cupy\n%timeit helper()\nfiles = !ls"],
], ids=str)  # fmt: skip
def test_what_changes_nothing_is_judged(texts):
    answer = find_asked(*texts)
    assert answer.problem is None and answer.text


@every_case(("texts", "says"), [
    ([SETUP, ANSWER, "LIMIT = 3"], "LIMIT, which the answer uses, gets another meaning below"),
    ([SETUP, ANSWER, "%run other.py"], "cell 3, line 1, by `%run`"),
    ([SETUP, ANSWER, "\nfor LIMIT in range(3): pass"], "cell 3, line 2, in a loop"),
    ([SETUP, ANSWER, "helper = !ls"], "helper, which the answer uses, gets another meaning"),
    (["%%writefile own.py\n" + ANSWER, "from own import *"], "below a cell magic"),
    (["%%writefile own.py\n" + ANSWER, f"from own import {ASKED}"], "by an import from own"),
    ([f"exec('''{ANSWER}''')"], "line 1, by `exec`"),
    ([f"text = '''{ANSWER}'''", "exec(text)"], f"{ASKED} may be bound in cell 2, line 1, by"),
    (["LIMIT = 1\nif True:\n    def helper(): return 2", ANSWER], "inside `if`"),
    ([f"{ASKED} = eval('lambda *all: 1')"], "eval"),
], ids=str)  # fmt: skip
def test_what_a_person_is_asked_to_look_at(texts, says):
    answer = find_asked(*texts)
    assert answer.needs_review and says in answer.problem
    assert find_asked("# EXERCISE blocks_per_sm\n" + texts[0], *texts[1:]).needs_review
