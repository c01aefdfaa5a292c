"""The picture of a student's run shows who wrote what in that run, and nothing else."""

from dataclasses import replace

import pytest
from matplotlib.patches import Rectangle
from numba import cuda, float32

from course_lib import figures
from course_lib.answer_text.context import used_by
from course_lib.curriculum import TASKS, Task
from course_lib.emulator import Kernel, load_program
from course_lib.figures import student_run
from course_lib.figures.small_launch import NoPicture
from course_lib.registry.kinds import TileKind
from course_lib.shown_answers import ours
from course_lib.tiles import tl, triton

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


def test_of_a_plain_function_its_own_values_are_drawn_right_or_not() -> None:
    picture = figures.own_run("sectors", squares)
    assert "offset 4: 4.5 at 0, 8.5 at 2, 20.5 at 4" in picture.alt
    written = [each.get_text() for each in picture.figure.axes[0].texts]
    for offset in (0, 1, 4, 8):
        assert f"{3 * 3 + offset + 0.5:.3g}" in written


def test_every_task_has_a_picture_of_what_the_students_own_did() -> None:
    """Kernels by their launch; plain functions by the calls that their task chooses."""
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


def test_threads_that_write_nothing_are_hatched_and_counted() -> None:
    picture = figures.own_run("add_ten_guarded", answer_of("add_ten_guarded"))
    assert hatched(picture) == 4
    assert "4 threads write nothing" in picture.alt
    assert hatched(figures.own_run("put_seven", answer_of("put_seven"))) == 0


def test_who_loads_the_same_element_is_shown_and_said() -> None:
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
    assert len(picture.figure.axes[0].lines) == 33


def copy_task(body: str) -> tuple[Task, Kernel]:
    head = "@cuda.jit\ndef copy(x, out):\n    i = cuda.grid(1)\n"
    text = f"{head}    if i < x.shape[0]:\n        {body}\n"
    task = Task(
        id="copy", title="A copy", lesson="03", position=2, parameters=("x", "out"), output="out",
        grid=("N",), block=(32,), shapes=("N", "N"), reference=lambda x: x, hints=("A hint.",),
        asks=("coalesced",), given="def copy(): ...", answer=text,
    )  # fmt: skip
    return task, kernel_of("copy", text)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("out[i] = x[i]", "load of x, 4 sectors; store of out, 4 sectors"),
        ("out[i] = x[8 * i % 48]", "load of x, 6 sectors; store of out, 4 sectors"),
        ("out[i] = x[16 * (i % 32) % 48]", "load of x, 3 sectors; store of out, 4 sectors"),
        ("out[i] = x[0]", "load of x, 1 sector; store of out, 4 sectors"),
    ],
)
def test_the_sectors_that_the_first_warp_touches(body, told, monkeypatch):
    task, kernel = copy_task(body)
    monkeypatch.setattr(student_run, "TASKS", {"copy": task})
    assert told in figures.own_run("copy", kernel).alt
    monkeypatch.setattr(student_run, "TASKS", {"copy": replace(task, lesson="01")})
    assert "sector" not in figures.own_run("copy", kernel).alt  # nobody knows them yet


def test_what_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoPicture, match="cannot be read"):
        figures.own_run("sectors", len)
    with pytest.raises(NoPicture, match="does not run"):
        figures.own_run(
            "put_seven", kernel_of("put_seven", "def put_seven(out):\n    out[2] = y\n")
        )
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
