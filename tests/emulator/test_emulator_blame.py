"""What the machine noticed, or could not read, is told as what it is: which cell, name or line."""

import numpy as np
import pytest
from emulator_helpers import as_program, refusal, run, run_clean
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.emulator import KernelRejected, Profile, emulate, load_program
from course_lib.emulator.language.intrinsics import ATTRIBUTES, INTRINSICS
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line, facts_of

PARAMETERS = "out, m, k, t, r, n, x, q"
ARGUMENTS = (
    np.zeros(4, np.float32), np.zeros((4, 4), np.float32), np.zeros(4, np.int32), (1, 2), (1, 2.5),
    2, np.float32(1.5), True,
)  # fmt: skip
FLOAT = "`//` of whole numbers is a whole number, too. int(…) converts a float."
BOOL = "int(…) turns it into 0 or 1."
ONE_AXIS = "needs a number as the index of an array with one axis, not a tuple"

REFUSED = {
    "out[x] = 1": ("float32 cannot be an index.", FLOAT),
    "out[x // 1] = 1": ("float64 cannot be an index.", FLOAT),
    "out[q] = 1": ("bool cannot be an index.", BOOL),
    "m[n, 1.5] = 1": ("float64 cannot be an index.", FLOAT),
    "m[r] = 1": ("float64 cannot be an index.", FLOAT),
    "m[q, q] = 1": ("bool cannot be an index.", BOOL),
    "out[0] = t[1.5]": ("float64 cannot be an index.", FLOAT),
    "out[0] = r[x]": ("float32 cannot be an index.", FLOAT),
    "out[0] = t[q]": ("bool cannot be an index.", BOOL),
    "out[0] = r[n]": (
        "An index of a tuple must be a constant, unless all its items have the same type.", ""),
    "cuda.atomic.add(out, (n,), 1)": (f"cuda.atomic.add {ONE_AXIS}.", "Leave out the brackets."),
    "cuda.atomic.max(out, t, 1)": (f"cuda.atomic.max {ONE_AXIS}.",
        "There are several numbers in the brackets, as in a shape. Which one do you mean?"),
    "cuda.atomic.add(m, n, 1)": ("cuda.atomic.add needs 2 indices.",
        "Write them as a tuple, in brackets, with one index for each axis."),
    "cuda.atomic.cas(k, None, 1, 2)": ("cuda.atomic.cas needs a number as its index.", ""),
    "cuda.atomic.add(out, m, 1)": ("cuda.atomic.add needs a number as its index.",
        "An array holds many numbers. Do you mean its length, or one of its elements?"),
    "cuda.atomic.inc(k, 0, 1)": ("cuda.atomic.inc does not exist for elements of int32.",
        "There is one for elements of uint32, uint64."),
}  # fmt: skip


@pytest.mark.parametrize("line", REFUSED)
def test_a_refused_index(line: str) -> None:
    finding = refusal(as_program(line, PARAMETERS), *ARGUMENTS)
    assert (finding.code, finding.message, finding.hint) == ("compile-error", *REFUSED[line])


@pytest.mark.parametrize("name", ["add", "sub", "max", "min", "nanmax", "nanmin", "exch", "cas"])
def test_an_atomics_index_is_cut_off_to_a_whole_number_as_numba_does(name: str) -> None:
    """Unlike a subscript, an atomic takes any real number: its cast to an integer is Numba's."""
    array, values = ("k", "0, 1") if name == "cas" else ("k", "1")
    if name not in ("exch", "cas"):
        array = "out"
    indices = {"1.9": 1, "x": 1, "q": 1, "n": 2, "np.uint8(3)": 3, "-0.9": 0, "x / 2": 0}
    for index, cell in indices.items():
        arrays = [np.zeros_like(each) if i < 3 else each for i, each in enumerate(ARGUMENTS)]
        arrays[0][:], arrays[2][:] = np.nan if name.startswith("nan") else 0, 0
        value = "-1" if name == "min" else values
        call = f"cuda.atomic.{name}({array}, {index}, {value})"
        run_clean(call, 1, 1, *arrays, parameters=PARAMETERS)
        changed = arrays[2] if array == "k" else arrays[0]
        is_new = ~np.isnan(changed) if name.startswith("nan") else changed != 0
        assert np.flatnonzero(is_new).tolist() == [cell], call
    run_clean(f"cuda.atomic.add(m, ({2.9}, q), 1)", 1, 1, *arrays, parameters=PARAMETERS)
    assert np.argwhere(arrays[1]).tolist() == [[2, 1]]


HEAD = "import numpy as np\nfrom numba import cuda, float32, float64\n\n@cuda.jit\n"
OUTSIDE = "out-of-bounds-write"


def launch_blame(text: str, *arrays: np.ndarray, block: object = 32, grid: object = 1) -> Profile:
    kernel = load_program(HEAD + text).kernel("k")
    names = kernel.parameters
    return emulate(kernel, outputs=(names[-1],))[grid, block](*arrays)


def only(profile: Profile, code: str) -> Finding:
    found = [each for each in profile.findings if each.code == code]
    assert len(found) == 1, profile.findings
    return found[0]


def zeros(n: int = 32, dtype: type = np.float32) -> np.ndarray:
    return np.zeros(n, dtype)


def test_the_cell_that_is_quoted_reaches_the_output() -> None:
    text = "def k(x, y):\n    s = cuda.shared.array(32, float32)\n    t = cuda.threadIdx.x\n"
    text += "    if t % 2:\n        s[t] = x[t]\n    cuda.syncthreads()\n    value = s[t]\n"
    text += "    if t == 6:\n        y[t] = value\n"
    found = only(launch_blame(text, zeros(), zeros()), "uninitialised-read")
    assert (found.cell, found.threads) == ("s[6]", ((6, 0, 0),))


@pytest.mark.parametrize("space", ["shared", "local"])
def test_outside_an_array_of_its_own_the_size_is_the_question(space: str) -> None:
    text = f"def k(y):\n    s = cuda.{space}.array(8, float32)\n    t = cuda.threadIdx.x\n"
    found = only(launch_blame(f"{text}    s[t] = 1\n    y[t] = 2\n", zeros()), OUTSIDE)
    facts = facts_of(found.hint)
    assert (facts["array"], facts["line"], facts["elements"]) == ("s", Line(6), 8)


def test_outside_an_argument_the_test_is_the_question() -> None:
    found = only(launch_blame("def k(y):\n    y[cuda.threadIdx.x] = 1\n", zeros(8)), OUTSIDE)
    assert found.hint and not facts_of(found.hint)  # nothing of its size


@pytest.mark.parametrize(("dtypes", "phrase"), [
    ((np.float32, np.float32), "although the arrays are float32"),
    ((np.uint8, np.uint8), "although the arrays are uint8"),
    ((np.uint8, np.float32), "although none of the arrays is"),
])  # fmt: skip
def test_float64_is_set_against_the_arrays_that_there_are(dtypes: tuple, phrase: str) -> None:
    text = "def k(x, y):\n    t = cuda.threadIdx.x\n    y[t] = x[t] * 0.1\n"
    arrays = [zeros(dtype=each) for each in dtypes]
    assert phrase in only(launch_blame(text, *arrays), "float64-arithmetic").message


@pytest.mark.parametrize(("count", "verb"), [(1, "was"), (2, "were")])
def test_how_many_arguments_were_passed(count: int, verb: str) -> None:
    with pytest.raises(KernelRejected, match=f"but {count} {verb} passed"):
        launch_blame("def k(x, y, z):\n    z[0] = 1\n", *[zeros()] * count)
    with pytest.raises(KernelRejected, match=r"k takes 1 argument \(x\), but 2 were passed"):
        launch_blame("def k(x):\n    x[0] = 1\n", zeros(), zeros())


START = """\
s = cuda.shared.array(4, {kind})
i = cuda.threadIdx.x
if i < 3:
    s[i] = i
cuda.syncthreads()
"""
HARMLESS = {
    "not stored": "x = s[i] * 2\nif i < 3:\n    out[i] = x",
    "summed, not stored": "x = s[i]\nx += s[i]\nif i < 3:\n    out[i] = x",
    "stored in another lane's local array": (
        "l = cuda.local.array(2, float32)\nl[0] = s[i]\nl[1] = 1\nif i < 3:\n    out[i] = l[0]"
    ),
    "not chosen": "x = s[i]\nout[i] = x if i < 3 else 0",
    "a variable": "if i < 3:\n    x = 1\ny = x + 1\nif i < 3:\n    out[i] = y",
    "written over": "x = s[i]\nx = 3\nout[i] = x",
}
REACHING = {
    "stored": "out[i] = s[i]",
    "summed": "x = s[i] + 1\nout[i] = x",
    "of another lane": "out[i] = s[(i + 1) % 4]",
    "decides": "if s[i] > 100:\n    out[i] = 1",
    "decides downwards": "if s[i] < -100:\n    out[i] = 1",
    "is a maximum": "out[i] = max(s[i], 1)",
    "is a minimum": "out[i] = min(s[i], 1)",
    "is not": "out[i] = not s[i]",
    "counts a loop": "for j in range(s[i] % 7):\n    out[i] = j",
    "is an index": "out[int(s[i]) % 4] = i + 5",
    "through memory": (
        "t = cuda.shared.array(4, float32)\nt[i] = s[i]\ncuda.syncthreads()\nout[i] = t[3]"),
    "by an atomic": "cuda.atomic.add(s, i, 1)\nout[i] = s[i]",
    "a variable": "if i < 3:\n    x = 1\nout[i] = x",
    "is printed": "print(s[i])",
}  # fmt: skip


def severities(body: str, kind: str) -> set[str]:
    out = np.zeros(4, np.float32)
    profile = run(START.format(kind=kind) + body, 1, 4, out)
    return {each.severity for each in profile.findings if each.code == "uninitialised-read"}


@every_case("kind", ["float32", "int64", "uint32"])
@every_case("name", HARMLESS)
def test_what_reaches_no_result_is_a_warning(name: str, kind: str) -> None:
    assert severities(HARMLESS[name], kind) <= {"warning"}
    if name not in ("a variable", "not chosen"):
        assert severities(HARMLESS[name], kind) == {"warning"}


@pytest.mark.parametrize("kind", ["float32", "int32"])
@pytest.mark.parametrize("name", REACHING)
def test_what_reaches_a_result_is_an_error(name: str, kind: str) -> None:
    if (name, kind) == ("counts a loop", "float32"):
        pytest.skip("range takes no float")
    assert severities(REACHING[name], kind) == {"error"}


def test_each_line_is_judged_by_itself() -> None:
    body = START.format(kind="float32") + "x = s[i]\ny = s[i]\nout[i] = y"
    profile = run(body, 1, 4, np.zeros(4, np.float32))
    found = {each.line: each.severity for each in profile.findings}
    first = min(found)
    assert found == {first: "warning", first + 1: "error"}


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "shuffled"])
def test_under_every_schedule(schedule: str) -> None:
    body = (START.format(kind="float32") + HARMLESS["not stored"]).replace("< 3", "< 40")
    body, out = body.replace("array(4", "array(64"), np.zeros(64, np.float32)
    profile = run(body, 1, 64, out, schedule=schedule)
    assert {each.severity for each in profile.findings} == {"warning"}


HEAD_NEAR_NAMES = "import math\nimport numpy as np\nfrom numba import cuda, float32\n\n\n"
KERNEL = """\
@cuda.jit
def mat_add(A, B, C):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = A[row, column] + B[row, column]
"""
TYPOS = {
    "cuda.grid(2)": {
        "cuda.gird(2)": "cuda.grid", "cuda.Grid(2)": "cuda.grid", "cdua.grid(2)": "cuda",
        "cuda.threadldx.x, 0": "cuda.threadIdx", "cuda.grid(2)\n    cuda.syncthread()":
        "cuda.syncthreads", "cuda.grid(2)\n    cuda.sync_threads()": "cuda.syncthreads",
        "cuda.grid(2)\n    t = cuda.shared.aray(9, float32)": "cuda.shared.array",
        "cuda.grid(2)\n    t = cuda.shared.array(9, flaot32)": "float32",
        "cuda.grid(2)\n    cuda.atomic.ad(C, 0, 1)": "cuda.atomic.add",
        "cuda.grid(2)\n    unused = cuda.blockldx.x": "cuda.blockIdx"},
    "C.shape[1]": {"C.shpae[1]": ".shape", "C.Shape[1]": ".shape", "c.shape[1]": "C"},
    "if row <": {"if rwo <": "row", "if Row <": "row"},
    "B[row, column]": {
        "B[row, colum]": "column", "math.sqr(B[row, column])": "math.sqrt",
        "np.flaot32(B[row, column])": "np.float32", "b[row, column]": "B"},
    "@cuda.jit": {"@cuda.jti": "cuda.jit", "@cdua.jit": "cuda"},
}  # fmt: skip


@every_case(("old", "new"), [(old, new) for old in TYPOS for new in TYPOS[old]])
def test_the_name_that_was_meant(old: str, new: str) -> None:
    text = HEAD_NEAR_NAMES + KERNEL.replace(old, new, 1)
    error = examine_source("mat_add", text, debug=True).errors[0]
    assert error.hint == f"Did you mean {TYPOS[old][new]}?"
    wrong = new.rpartition("\n")[2].strip()
    assert wrong in text.splitlines()[(error.line or 0) - 1]


def test_a_parameter_of_a_task() -> None:
    task = TASKS["double_matrix"]
    text = HEAD_NEAR_NAMES + task.answer.replace("out[y, x] =", "ouy[y, x] =")
    assert examine_source(task.id, text, debug=True).errors[0].hint == "Did you mean out?"


def test_no_name_that_exists_is_called_a_slip() -> None:
    known = [path for path in (*INTRINSICS, *ATTRIBUTES) if path.startswith("numba.cuda.")]
    assert len(known) > 200
    known = [path.removeprefix("numba.") for path in known if "libdevice" not in path]
    for part in np.array_split(known, 8):
        lines = "".join(f"    each = {path}\n" for path in part)
        body = KERNEL.replace("    column, row", f"{lines}    column, row", 1)
        found = examine_source("mat_add", HEAD_NEAR_NAMES + body, debug=True).findings
        assert not any("does not exist" in each.message for each in found)


HEAD_UNREADABLE = "from numba import cuda\n\n\n"
KERNEL_UNREADABLE = """\
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
"""
TEXT = HEAD_UNREADABLE + KERNEL_UNREADABLE
PROMPTS = "".join(f"{'>>>' if line[:1].strip() else '...'} {line}\n" for line in TEXT.split("\n"))
ODD = {
    "%%time": (f"%%time\n{TEXT}", 1, "a command of Jupyter"),
    "%matplotlib": (f"%matplotlib inline\n{TEXT}", 1, "a command of Jupyter"),
    "!pip": (f"!pip list\n{TEXT}", 1, "a command of the shell"),
    "a fence": (f"```python\n{TEXT}```\n", 1, "the text around a program"),
    "its end": (f"{TEXT}```\n", 9, "the text around a program"),
    "prompts": (PROMPTS, 1, "a console's prompt"),
    "In": (f"In [3]: {TEXT}", 1, "a notebook's label of a cell"),
    "Out": (f"{TEXT}Out[3]: <function>\n", 9, "a notebook's label of a cell"),
    "numbers": ("1 x = 3\n2 @cuda.jit\n", 1, "a number stands before the line"),
    "a hard space": (TEXT.replace("x] + B", "x]\u00a0+ B"), 8, "no-break space (U+00A0)"),
    "nothing seen": (TEXT.replace("x] + B", "x]\u200b + B"), 8, "zero width space (U+200B)"),
    "a minus": (TEXT.replace("x] + B", "x] − B"), 8, "− (U+2212) only looks like -"),
    "quotes": (f"{TEXT}x = “a”\n", 9, 'only looks like "'),
    "a wide comma": (TEXT.replace("B[y, x]", "B[y，x]"), 8, "only looks like ,"),
    "else if": (f"{TEXT}    else if x:\n        pass\n", 9, "`else if`"),
    "&&": (TEXT.replace(" and ", " && "), 7, "&& is C"),
    "++": (f"{TEXT}    x++\n", 9, "++ and -- are C"),
    "a type first": (f"{TEXT}    float t = 3\n", 9, "a type stands before the name"),
    "too far left": (TEXT.replace("    if y", "  if y"), 7, "matches none of the blocks"),
    "too far right": (TEXT.replace("    if y", "      if y"), 7, "is indented further"),
    "tabs": (TEXT.replace("        C[y", "\tC[y"), 8, "tabs and spaces are mixed"),
    "no body": (f"{HEAD_UNREADABLE}def mat_add(A, B, C):\n", 4, "a colon opens a block here"),
    "no colon": (TEXT.replace("B, C):", "B, C)"), 5, "a colon is missing"),
    "open": (TEXT.replace("grid(2)", "grid(2"), 6, "( is opened here but never closed"),
    "closed twice": (TEXT.replace("grid(2)", "grid(2))"), 6,
        ") closes something that was never opened"),
    "a text": (f"{TEXT}    s = 'abc\n", 9, "no quote closes it"),
    "a number": (f"{TEXT}    s = 012\n", 9, "a number begins with 0"),
    "=": (TEXT.replace("if y <", "if y = 3 and y <"), 7, "nothing can be stored here"),
    "?": (TEXT.replace("x < C", "x ? C"), 7, "it cannot be read from ? on"),
}  # fmt: skip


@every_case("name", ODD)
def test_why_it_cannot_be_read(name: str) -> None:
    text, line, said = ODD[name]
    [error] = examine_source("mat_add", text, debug=True).errors
    assert (error.code, error.line) == ("compile-error", line)
    assert said in error.message and "invalid" not in error.message


def test_what_python_reads_in_a_file_is_read() -> None:
    for text in (f"\ufeff{TEXT}", TEXT.replace("\n", "\r\n"), f"\n\n{TEXT}\n\t\n"):
        assert examine_source("mat_add", text, debug=True).passed


def test_a_long_text_without_a_loop_is_right_if_its_numbers_are() -> None:
    lines = "    t = x + y\n" * 1200  # more than Python nests calls
    long = KERNEL_UNREADABLE.replace("    if y", f"{lines}    if y")
    assert examine_source("mat_add", HEAD_UNREADABLE + long, debug=True).passed
