"""What is wanted is what the task's own answer does: its numbers, and what they come from."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from every_case import every_case
from matplotlib.text import Annotation, Text
from sampling import one_in

from course_lib import figures
from course_lib.curriculum import TASKS, Task
from course_lib.figures import specification as module
from course_lib.figures.small_launch import NoPicture, launch_answer, origins, touches_of
from course_lib.problems.table import problem_of

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


@pytest.mark.parametrize(
    "name",
    one_in(3, [
        *("double_matrix", "stage_tile", "turn_tile", "swizzle_strip", "transposed_product"),
        *("sums_of_four", "strided_sums", "filter_bank", "outer_product", "naive_by_rows"),
    ]),
)  # fmt: skip
def test_no_line_crosses_a_number(name):
    """Neither an element of an array nor an index beside it; all in inches."""
    for axes in figures.wanted(name).figure.axes:
        arrows = [each for each in axes.texts if isinstance(each, Annotation)]
        ways = [(each.xyann, each.xy) for each in arrows]
        for line in axes.lines:
            ways += pairwise(np.column_stack(line.get_data()))
        numbers = [each for each in axes.texts if each.get_text().isdecimal()]
        near = [
            each.get_text()
            for each in numbers
            if any(_farness(each.get_position(), *way) < 0.09 for way in ways)
        ]
        assert ways and not near


@pytest.mark.parametrize(("name", "count"), [("running_totals", 0), ("reverse_sixteen", 1)])
def test_a_crowd_sends_no_arrow(name, count):
    """An array with another one between it and the output sends none, nor does a crowd."""
    drawn = figures.wanted(name).figure
    arrows = [each for axes in drawn.axes for each in axes.texts if isinstance(each, Annotation)]
    assert len(arrows) == count


def known(task: Task) -> str:
    """What the output is known to hold before a launch."""
    return f"holds {task.before:g}" if not problem_of(task).starts_blank else "may hold anything"


# One task for each such sentence and each number of arrays.
KINDS = {(known(each), len(each.parameters)): each for each in LAUNCHED}.values()


@pytest.mark.slow
@every_case("task", KINDS, ids=lambda each: each.id)
def test_the_picture_promises_no_zeros_that_the_judge_does_not_give(task: Task) -> None:
    """What stands below its title is what `C[row, column] +=` may count on."""
    (subtitle,) = (
        each.get_text()
        for each in figures.wanted(task.id).figure.findobj(Text)
        if "before the launch" in each.get_text()
    )
    assert subtitle.endswith(f"{task.output} {known(task)}")
