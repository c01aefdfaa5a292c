"""What is wanted is what the task's answer does; a student's run shows who wrote what in it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from every_case import every_case
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.text import Text
from numba import cuda, float32
from sampling import one_in

from course_lib import figures
from course_lib.answer_text.context import used_by
from course_lib.curriculum import TASKS, Task
from course_lib.emulator import Kernel, load_program
from course_lib.figures import specification as module
from course_lib.figures import student_run
from course_lib.figures.small_launch import NoPicture, launch_answer, origins, touches_of
from course_lib.problems.table import problem_of
from course_lib.registry.kinds import TileKind
from course_lib.shown_answers import ours
from course_lib.tiles import tl, triton

PRODUCT = TASKS["naive_by_rows"]
LAUNCHED = [
    each
    for each in TASKS.values()
    if each.kind.is_launched and each.picture not in ("lanes", "buffers") and not each.is_large
]
STAGED = replace(
    PRODUCT,
    id="staged",
    grid=(),
    block=(2, 2),
    given="def staged(): ...",
    another="",
    answer="""\
@cuda.jit
def staged(A, B, C):
    sA = cuda.shared.array((2, 2), float32)
    sB = cuda.shared.array((2, 2), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for t in range((A.shape[1] + 1) // 2):
        sA[ty, tx] = A[y, 2 * t + tx] if y < A.shape[0] and 2 * t + tx < A.shape[1] else 0
        sB[ty, tx] = B[2 * t + ty, x] if x < B.shape[1] and 2 * t + ty < B.shape[0] else 0
        cuda.syncthreads()
        for k in range(2):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = total
""",
)


def kernel_task(answer: str, shapes: tuple[str, ...], name: str = "t", **more: object) -> Task:
    parameters = (*("x", "y")[: len(shapes) - 1], "out")
    body = f"@cuda.jit\ndef {name}({', '.join(parameters)}):\n"
    body += "".join(f"    {line}\n" for line in answer.splitlines())
    return Task(
        id=name, title="A task", lesson="00", parameters=parameters, output="out", shapes=shapes,
        reference=lambda *inputs: inputs[0], hints=("A hint.",), answer=body,
        given=f"def {name}(): ...", **{"block": (4,), **more},
    )  # fmt: skip


def sources(task: Task, element: tuple[int, ...]) -> set[tuple[str, tuple[int, ...]]]:
    return origins(touches_of(launch_answer(task, "reading")), task.output, element)


@pytest.mark.parametrize("task", [PRODUCT, STAGED], ids=lambda each: each.id)
def test_an_element_of_a_product_comes_from_a_row_and_a_column(task: Task) -> None:
    row = {("A", (2, k)) for k in range(4)}
    column = {("B", (k, 3)) for k in range(4)}
    assert sources(task, (2, 3)) == row | column


def test_what_passes_through_shared_memory_is_followed_to_its_origin() -> None:
    assert sources(TASKS["reverse_sixteen"], (5,)) == {("x", (10,))}
    four = {("x", (64 * t + 42,)) for t in range(4)}
    assert sources(TASKS["place_the_barriers"], (21,)) == four


@pytest.mark.slow
@every_case("task", TASKS.values(), ids=lambda each: each.id)
def test_the_picture_says_what_the_reference_computes(task: Task) -> None:
    if not task.kind.is_launched or task.reference is None:
        return
    ran = launch_answer(task, "reading")
    assert np.allclose(ran.output, task.reference(*ran.inputs.values()))


def test_there_is_no_picture_of_a_task_that_is_unknown_or_has_nothing_to_show(monkeypatch):
    with pytest.raises(NoPicture, match="no task 'put_eight'"):
        figures.wanted("put_eight")
    idle = kernel_task("pass", ("4", "4"), "idle", grid=(1,))
    monkeypatch.setattr(module, "TASKS", {"idle": idle})
    with pytest.raises(NoPicture, match="nothing is written"):
        figures.wanted("idle")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"), [("running_totals", 8), ("grid_stride", 1), ("naive_by_rows", 4)]
)
def test_what_a_thread_keeps_from_earlier_elements_is_a_source_too(name, count):
    """A running total is made of all that came before; another element of a loop is not. A row
    and a column count as a whole: no zero hides the number that it meets."""
    rule = module._rule(launch_answer(TASKS[name], "reading"))
    assert {len(each) for each in rule.sources.values()} == {count}


def _farness(point, start, end):
    """How far a point is from the line between two others."""
    along = np.subtract(end, start)
    share = np.clip(np.dot(np.subtract(point, start), along) / max(along @ along, 1e-9), 0, 1)
    return float(np.linalg.norm(np.subtract(point, start) - share * along))


@pytest.mark.parametrize("name", one_in(3, [
    *("double_matrix", "stage_tile", "turn_tile", "swizzle_strip", "transposed_product"),
    *("sums_of_four", "strided_sums", "filter_bank", "outer_product", "naive_by_rows"),
]))  # fmt: skip
def test_no_line_crosses_a_number(name):
    """Neither an element of an array nor an index beside it; all in inches."""
    (axes,) = figures.wanted(name).figure.axes
    ways = []
    for arrow in arrows_of(axes):
        points = axes.transData.inverted().transform(
            arrow.get_transform().transform(arrow.get_path().vertices)
        )
        # What comes after the first two points of an arrow is its head.
        ways += pairwise(points if len(points) < 5 else points[:2])
    near = [
        each.get_text()
        for each in axes.texts
        if each.get_text().isdecimal()  # written on a line a little below its middle
        for middle in [np.subtract(each.get_position(), (0, 0.045))]
        if any(_farness(middle, *way) < 0.09 for way in ways)
    ]
    assert ways and not near


def arrows_of(axes):
    return [each for each in axes.patches if str(each.get_gid()).startswith("arrow")]


@pytest.mark.parametrize(("name", "count"), [("running_totals", 0), ("reverse_sixteen", 1)])
def test_a_crowd_sends_no_arrow(name, count):
    """An array with another one between it and the output sends none, nor does a crowd."""
    (axes,) = figures.wanted(name).figure.axes
    assert len(arrows_of(axes)) == count


def known(task: Task) -> str:
    """What the output is known to hold before a launch."""
    return f"holds {task.before:g}" if not problem_of(task).starts_blank else "may hold anything"


# One task for each such sentence and each number of arrays.
KINDS = {(known(each), len(each.parameters)): each for each in LAUNCHED}.values()


@pytest.mark.slow
@every_case("task", KINDS, ids=lambda each: each.id)
def test_the_picture_promises_no_zeros_that_the_judge_does_not_give(task: Task) -> None:
    """What stands below its title is what `C[row, column] +=` may count on."""
    texts = [each.get_text() for each in figures.wanted(task.id).figure.findobj(Text)]
    (subtitle,) = (each for each in texts if "before the launch" in each)
    assert subtitle.endswith(f"{task.output} {known(task)}")


IMPORTS = "from numba import cuda, float32\n"


def kernel_of(name: str, text: str) -> Kernel:
    return load_program(IMPORTS + text).kernel(name)


def answer_of(name: str) -> Kernel:
    return kernel_of(name, TASKS[name].answer)


def hatched(picture: figures.Picture) -> int:
    patches = picture.figure.axes[0].patches
    return sum(isinstance(each, Rectangle) and bool(each.get_hatch()) for each in patches)


@cuda.jit
def add_ten_guarded(numbers, result):
    i = 3 - cuda.threadIdx.x
    if i >= 0:
        result[i] = numbers[i] + float32(10)


def squares(stride, offset):
    return stride * stride + offset + 0.5


def test_of_a_plain_function_its_own_values_are_drawn_and_every_task_has_a_picture() -> None:
    picture = figures.own_run("sectors", squares)
    assert "offset 4: 4.5 at 0, 8.5 at 2, 20.5 at 4" in picture.alt
    written = [each.get_text() for each in picture.figure.axes[0].texts]
    for offset in (0, 1, 4, 8):
        assert f"{3 * 3 + offset + 0.5:.3g}" in written
    # Kernels by their launch; plain functions by the calls that their task chooses.
    for task in TASKS.values():
        launched = task.kind.is_launched or isinstance(task.kind, TileKind)
        assert launched == (task.values is None), task.id


@pytest.mark.parametrize(
    "text", ["return 'a'", "return None", "return True", "return 1 / stride", "return 1e999"]
)
def test_values_that_are_no_numbers_are_not_drawn(text: str) -> None:
    function = load_program(f"def sectors(stride, offset):\n    {text}").kernel("sectors")
    with pytest.raises(NoPicture):
        figures.own_run("sectors", function)


def test_threads_that_write_nothing_are_counted_and_who_loads_the_same_is_said() -> None:
    picture = figures.own_run("add_ten_guarded", answer_of("add_ten_guarded"))
    assert hatched(picture) == 4
    assert "4 threads write nothing" in picture.alt
    assert hatched(figures.own_run("put_seven", answer_of("put_seven"))) == 0
    picture = figures.own_run("column_plus_row", answer_of("column_plus_row"))
    assert "wrote out[2, 4] from a[2] and b[4] (yellow: who loads one of them)." in picture.alt
    alone = figures.own_run("double_matrix", answer_of("double_matrix"))
    assert "yellow" not in alone.alt


@pytest.mark.long
def test_no_two_tasks_of_a_lesson_end_with_the_same_picture() -> None:
    """What is drawn of a run shows what its own task is about."""
    seen: dict[tuple[str, str], str] = {}
    for task in TASKS.values():
        if task.picture != "elements" or not task.kind.is_launched or task.is_large or task.caller:
            continue
        kernel = kernel_of(task.id, f"import numpy as np\n{used_by(task)}\n{task.answer}")
        key = task.lesson, figures.own_run(task.id, kernel).alt
        assert key not in seen, f"{task.id} and {seen[key]} end with the same picture"
        seen[key] = task.id


def test_shared_memory_and_its_barrier_stand_between() -> None:
    picture = figures.own_run("reverse_sixteen", answer_of("reverse_sixteen"))
    assert "16 shared cells · 1 barrier" in picture.alt
    assert "with what thread 5 had put into buffer[5]" in picture.alt
    written = {each.get_text() for each in picture.figure.axes[0].texts}
    assert {"thread", "buffer", "barrier", "y"} <= written
    # From 16 threads to the buffer, from the buffer to 16 elements, and the barrier.
    assert sum(isinstance(each, PathPatch) for each in picture.figure.axes[0].patches) == 33


def copy_task(body: str) -> tuple[Task, Kernel]:
    head = "@cuda.jit\ndef copy(x, out):\n    i = cuda.grid(1)\n"
    text = f"{head}    if i < x.shape[0]:\n        {body}\n"
    task = Task(
        id="copy", title="A copy", lesson="03", position=2, parameters=("x", "out"), output="out",
        grid=("N",), block=(32,), shapes=("N", "N"), reference=lambda x: x, hints=("A hint.",),
        asks=("coalesced",), given="def copy(): ...", answer=text,
    )  # fmt: skip
    return task, kernel_of("copy", text)


@pytest.mark.parametrize(("body", "told"), [
    ("out[i] = x[i]", "load of x, 4 sectors; store of out, 4 sectors"),
    ("out[i] = x[8 * i % 48]", "load of x, 6 sectors; store of out, 4 sectors"),
    ("out[i] = x[16 * (i % 32) % 48]", "load of x, 3 sectors; store of out, 4 sectors"),
    ("out[i] = x[0]", "load of x, 1 sector; store of out, 4 sectors"),
])  # fmt: skip
def test_the_sectors_that_the_first_warp_touches(body, told, monkeypatch):
    task, kernel = copy_task(body)
    monkeypatch.setattr(student_run, "TASKS", {"copy": task})
    assert told in figures.own_run("copy", kernel).alt
    monkeypatch.setattr(student_run, "TASKS", {"copy": replace(task, lesson="01")})
    assert "sector" not in figures.own_run("copy", kernel).alt  # nobody knows them yet


def test_what_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoPicture, match="cannot be read"):
        figures.own_run("sectors", len)
    unknown = kernel_of("put_seven", "def put_seven(out):\n    out[2] = y\n")
    with pytest.raises(NoPicture, match="does not run"):
        figures.own_run("put_seven", unknown)
    huge = replace(TASKS["add_ten_guarded"], shapes=("13000", "13000"))
    monkeypatch.setattr(student_run, "TASKS", {"add_ten_guarded": huge})
    with pytest.raises(NoPicture, match="too many"):
        figures.own_run("add_ten_guarded", answer_of("add_ten_guarded"))


@triton.jit
def tl_add(A, B, C, M, N, TM: tl.constexpr, TN: tl.constexpr):
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    places = rows * N + columns
    inside = (rows < M - 2) & (columns < N)
    tl.store(C + places, tl.load(A + places, mask=inside), mask=inside)


def test_of_a_tile_kernel_the_programs_are_drawn_and_what_is_wrong() -> None:
    right = figures.own_run("tl_add", ours("tl_add"))
    assert "stored by 4 programs. All of them are right." in right.alt
    wrong = figures.own_run("tl_add", tl_add)
    assert "576 elements wrong (crossed), the first C[0, 0]." in wrong.alt  # B is left out
    with pytest.raises(NoPicture):
        figures.own_run("tl_add", 7)
