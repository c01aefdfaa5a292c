"""The smallest change that makes an answer right: found, told at its line, and never invented."""

from __future__ import annotations

import ast
import random

import numpy as np
import pytest
from sampling import few
from stored_answers import right_answers_to, wrong_answers_to

from course_lib.answer_text import context as callers
from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.diagnosis.answer import Answer, choices, source_of
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import Trial
from course_lib.diagnosis.provenance.dependence import experiment
from course_lib.diagnosis.repair.all_edits import Edit
from course_lib.diagnosis.repair.search import Search
from course_lib.diagnosis.repair.words import SAYS, said_of
from course_lib.emulator import Budget, KernelRejected, emulate, load_program
from course_lib.emulator.language.kernel import every_node

HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float32\n\n\n"
NAIVE = right_answers_to("matmul_naive")["grid"]
TILED = right_answers_to("matmul_tiled")["if_else_padding"]
HELPED = (
    HEAD
    + """@cuda.jit(device=True)
def product(A, B, row, col):
    total = float32(0)
    k = 0
    while k < A.shape[1]:
        total += A[row, k] * B[k, col]
        k += 1
    return total


@cuda.jit
def matmul_naive(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = product(A, B, row, col)
"""
)


def launched(exercise: str, text: str) -> tuple[Launcher, list[Trial]]:
    entry = {**TASKS, **EXERCISES}[exercise]
    kernel = callers.as_launched(entry, load_program(text).kernel(exercise))
    choice = next(iter(choices(entry, source_of(kernel), kernel.namespace, None)))
    launcher = Launcher(entry, Answer(kernel), None, 0, choice)
    return launcher, [launcher.run(case) for case in launcher.cases() if case.is_counted]


def test_the_nodes_of_a_tree_come_in_the_order_of_ast_walk() -> None:
    tree = ast.parse(TILED)
    assert every_node(tree) == [*ast.walk(tree)]


@pytest.mark.parametrize(
    ("old", "new", "in_step"),
    [("acc +=", "acc =", True), ("        cuda.syncthreads()\n    if", "    if", False)],
)
def test_experiments_run_in_step_where_that_is_wrong(old: str, new: str, in_step: bool) -> None:
    """A barrier that is missing shows warp by warp alone."""
    assert TILED.count(old) == 1
    launcher, trials = launched("matmul_tiled", TILED.replace(old, new))
    found = experiment(launcher, [trial for trial in trials if trial.case.schedule != "lockstep"])
    assert found
    assert (found.case.schedule == "lockstep") is in_step


@pytest.mark.slow
def test_a_number_that_has_to_vary_is_said_so_and_an_element_is_named_once() -> None:
    text = HEAD + TASKS["prefix_sums"].answer.replace("step *= 2", "step += 1")
    (error, *_) = examine_source("prefix_sums", text).errors
    assert "use a variable instead of `1`" in error.message
    assert error.message.count("and should be") == 1


def _alone(launcher: Launcher, trial: Trial, edit: Edit) -> np.ndarray | None:
    launch = launcher.launch(trial.case)
    arguments = Search(launcher, [trial]).arguments(trial)
    budget = Budget(20_000, 1 << 30, printed_lines=0)  # a change may make a loop without end
    kernel = edit.applied(launcher.answer.kernel)
    emulation = emulate(kernel, counters=False, races=False, budget=budget)
    try:
        profile = emulation[launch.grid, launch.block](*arguments)
    except KernelRejected:
        return None
    outside = {"out-of-bounds-read", "out-of-bounds-write", "timeout"}
    if outside & {each.code for each in profile.findings}:
        return None
    return np.asarray(arguments[-1])


@pytest.mark.parametrize(
    ("exercise", "text"),
    few([("matmul_naive", NAIVE), ("matmul_naive", HELPED), ("matmul_tiled", TILED)], 1),
)
def test_changes_tried_together_do_what_each_does_alone(exercise: str, text: str) -> None:
    """The emulator, running one changed kernel by itself, is the peer."""
    launcher, trials = launched(exercise, text)
    trial = min(trials, key=lambda each: (max(each.case.shape) < 3, each.profile.steps))
    search = Search(launcher, [trial], steps=10**7)
    edits = random.Random(5).sample(search.edits(trial), 60)
    together = {id(each.edit): each.outcome.right for each in search.tried(edits, trial)}
    compared = 0
    for edit in edits:
        output = _alone(launcher, trial, edit)
        if output is None or id(edit) not in together:
            continue
        alone = np.abs(output - trial.outcome.expected) <= trial.outcome.tolerance
        assert np.array_equal(together[id(edit)], alone), (edit.kind, edit.line)
        compared += 1
    assert compared > 20


def test_what_counts_along_the_grid_is_tried_within_the_block() -> None:
    grid_wide = "range(cuda.grid(1), K, cuda.gridsize(1))"
    launcher, trials = launched("matmul_naive", NAIVE.replace("range(K)", grid_wide))
    edits = Search(launcher, trials).edits(trials[0])
    texts = [[ast.unparse(new) for new in edit.values.values()] for edit in edits]
    assert ["cuda.threadIdx.x", "cuda.blockDim.x"] in texts


@pytest.mark.slow
def test_a_verdict_names_the_line_of_the_change_and_keeps_what_was_seen() -> None:
    text = TILED.replace("        else:\n            sB[ty, tx] = 0\n", "")
    report = examine_source("matmul_tiled", text)
    [error] = [each for each in report.errors if each.code == "uninitialised-read"]
    assert "One change here would make it right" in str(error.message)
    assert "no thread has written" in str(error.message)


@pytest.mark.parametrize(
    "index", few([":, j", "i, :", "1:, j", "..., j", "*(i, j),", "i:i+1, j:j+1"], 1)
)
def test_parts_of_arrays_are_no_hindrance(index: str) -> None:
    text = HEAD + (
        "@cuda.jit\ndef mat_add(A, B, C):\n    j, i = cuda.grid(2)\n"
        "    if i < A.shape[0] and j < A.shape[1]:\n"
        f"        part = A[{index}]\n        C[i, j] = A[i, j] - B[i, j]\n"
    )
    report = examine_source("mat_add", text, debug=True)  # a mistake of the checker's is raised
    assert not report.passed


@pytest.mark.slow
def test_the_search_ends_and_is_the_same_each_time() -> None:
    text = next(iter(wrong_answers_to("matmul_2d").values()))
    launcher, trials = launched("matmul_2d", text)
    found: list[object] = []
    for _ in range(2):
        search = Search(launcher, trials)
        edit = search.repair()
        found.append(edit and (edit.kind, edit.line))
        assert search.steps > -80_000
    assert found[0] == found[1]


def test_nothing_is_changed_where_the_numbers_are_right() -> None:
    launcher, trials = launched("matmul_naive", NAIVE)
    assert Search(launcher, trials).repair() is None


def test_every_kind_of_change_has_words_that_do_not_give_it_away() -> None:
    launcher, trials = launched("matmul_tiled", TILED)
    kinds = set()
    for edit in Search(launcher, trials).edits(trials[0]):
        says, hint = said_of(edit)
        assert str(says) and str(hint)
        kinds.add(edit.kind)
    assert kinds <= SAYS.keys()
