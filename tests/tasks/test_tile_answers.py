"""Tile kernels as answers: a third style passes, and what is no answer is refused."""

import re
import types

import numpy as np
import pytest
from passing import passes
from sampling import few, marks

import course_lib
from course_lib.checking import examine, examine_source
from course_lib.curriculum import TASKS
from course_lib.registry.kinds import TileKind
from course_lib.tiles import emulate_tiles, stand_ins, tl, triton
from course_lib.tiles.stand_ins import PACKAGES, KeptKernel
from course_lib.wording.errors import PlainError

TILE_TASKS = [name for name, task in TASKS.items() if isinstance(task.kind, TileKind)]
# Beside `answer` and `another` of a task: positions for names, `while`, helpers, gather, masks
# that are built otherwise, sums that begin elsewhere.
THIRD = {
    "ct_add": """
import cuda.tile as tile_language
@tile_language.kernel
def ct_add(A, B, C, H, W):
    at = tile_language.bid(0), tile_language.bid(1)
    total = tile_language.load(B, at, (H, W))
    total += tile_language.load(A, at, (H, W))
    tile_language.store(C, at, total)
""",
    "ct_row_sum": """
def part(A, i, k, TM, TN):
    tile = ct.load(A, index=(i, k), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
    return ct.sum(tile, axis=-1)

@ct.kernel
def ct_row_sum(A, y, TM: ct.Constant[int], TN: ct.Constant[int]):
    k, total = 0, ct.full((TM,), 0.0, ct.float32)
    while k * TN < A.shape[1]:
        total = part(A, ct.bid(0), k, TM, TN) + total
        k += 1
    ct.store(y, (ct.bid(0),), total)
""",
    "ct_product": """
@ct.kernel
def ct_product(A, B, C, m, n, kk):
    row, column = ct.bid(0), ct.bid(1)
    steps = (A.shape[1] + kk - 1) // kk
    total = ct.full((m, n), 0, dtype=np.float32)
    for step in range(steps - 1, -1, -1):
        left = ct.load(A, (row, step), (m, kk), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(B, (step, column), (kk, n), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(left, right, total)
    ct.store(C, (row, column), total)
""",
    "ct_bias_relu": """
@ct.kernel
def ct_bias_relu(A, B, bias, C, TM, TN, TK):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.cdiv(A.shape[1], TK)):
        a = ct.load(A, (i, k), (TM, TK), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, (k, j), (TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    acc = acc + ct.load(bias, (j,), (TN,), padding_mode=ct.PaddingMode.ZERO)[None, :]
    ct.store(C, (i, j), ct.where(acc < 0.0, 0.0, acc))
""",
    "tl_copy": """
@triton.jit
def tl_copy(source, target, SIZE: tl.constexpr):
    source += tl.program_id(0) * SIZE
    target += tl.program_id(0) * SIZE
    tl.store(target + tl.arange(0, SIZE), tl.load(source + tl.arange(0, SIZE)))
""",
    "tl_row_sum": """
@triton.jit
def tl_row_sum(A, y, M, N, TM: tl.constexpr, TN: tl.constexpr):
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    total = tl.zeros([TM], tl.float32)
    for tile in range(tl.cdiv(N, TN)):
        ks = tile * TN + tl.arange(0, TN)
        a = tl.load(A + rows[:, None] * N + ks, mask=(rows < M)[:, None] & (ks < N), other=0.0)
        total = total + tl.sum(a, 1)
    tl.store(y + rows, total, rows < M)
""",
    "tl_bias_relu": """
@triton.jit
def relu(x):
    return tl.where(x > 0, x, 0.0)

@triton.jit
def tl_bias_relu(A, B, bias, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    columns = tl.program_id(1) * TN + tl.arange(0, TN)
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for first in range(0, K, TK):
        ks = first + tl.arange(0, TK)
        a = tl.load(A + rows[:, None] * K + ks[None, :],
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(B + ks[:, None] * N + columns[None, :],
                    mask=(ks[:, None] < K) & (columns[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    acc = relu(acc + tl.load(bias + columns, mask=columns < N, other=0.0)[None, :])
    fits = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(C + rows[:, None] * N + columns[None, :], acc, mask=fits)
""",
    "tl_softmax": """
@triton.jit
def tl_softmax(x, out, M, N, TM: tl.constexpr, TN: tl.constexpr):
    for row in range(tl.program_id(0) * TM, min(M, tl.program_id(0) * TM + TM)):
        top, total = -float("inf"), 0.0
        for first in range(0, N, TN):
            ks = first + tl.arange(0, TN)
            tile = tl.load(x + row * N + ks, mask=ks < N, other=-float("inf"))
            new = tl.maximum(tl.max(tile, axis=0), top)
            total = total * tl.exp(top - new) + tl.sum(tl.exp(tile - new), axis=0)
            top = new
        for first in range(0, N, TN):
            ks = first + tl.arange(0, TN)
            tile = tl.load(x + row * N + ks, mask=ks < N, other=0.0)
            tl.store(out + row * N + ks, tl.exp(tile - top) / total, mask=ks < N)
""",
}


# A slip in one of these, or in an answer of the course: the code and the line that say so.
IN_OTHER_STYLES = {
    "a step of addresses without its stride": (
        "tl_product", "another", "b_at += TK * N", "b_at += TK", "wrong-index", "b_at += TK"),
    "rows without their stride": ("tl_bias_relu", "third", "ks[:, None] * N +", "ks[:, None] +",
        "wrong-index", "b = tl.load"),
    "a mask of the whole array": (
        "tl_bias_relu", "third", "(rows[:, None] < M) & (columns[None, :] < N)\n    tl",
        "rows[:, None] * N + columns[None, :] < M * N\n    tl", "wrong-bounds-check", "fits ="),
    "a place that gather takes": (
        "ct_copy", "another", "ct.bid(0) * TILE +", "ct.bid(0) +", "wrong-index", "places ="),
    "a transposition that lacks": ("ct_product", "third", "ct.mma(left, right, total)",
        "ct.mma(left, ct.transpose(right), total)", "compile-error", "total = ct.mma"),
    "a function that lacks": ("tl_softmax", "third", "tl.sum(tl.exp(tile - new), axis=0)",
        "tl.sum(tile - new, axis=0)", "wrong-formula", "total = total"),
    "names imported by themselves": ("ct_row_sum", "names", ", padding_mode=PaddingMode.ZERO",
        ", padding_mode=PaddingMode.NAN", "missing-mask", "tile = load"),
    "a loop that does not advance": (
        "ct_row_sum", "third", "        k += 1\n", "", "timeout", "while"),
}  # fmt: skip


NAMES = """from cuda.tile import PaddingMode, bid, float32, kernel
from cuda.tile import load, num_tiles, store, sum, zeros
"""


@pytest.mark.parametrize("case", few(IN_OTHER_STYLES))
def test_a_slip_in_another_style_is_told_at_its_line(case: str) -> None:
    name, style, old, new, code, shown = IN_OTHER_STYLES[case]
    text = THIRD.get(name, "") if style == "third" else getattr(TASKS[name], style, "")
    if style == "names":
        text = NAMES + TASKS[name].answer.replace("ct.Constant[int]", "int").replace("ct.", "")
    assert text.count(old) == 1
    text = text.replace(old, new)
    first = examine_source(name, text).errors[0]
    assert (first.code, text.splitlines()[(first.line or 1) - 1].strip()[: len(shown)]) == (
        code, shown), str(first)  # fmt: skip


def test_two_numbers_that_differ_are_shown_as_different() -> None:
    text = TASKS["ct_bias_relu"].answer.replace("dtype=ct.float32", "dtype=ct.float16")
    told = examine_source("ct_bias_relu", text).errors[0].message
    got, wanted = re.findall(r"is (\S+) and should be (\S+)\.", told)[0]
    assert got != wanted


@pytest.mark.parametrize("name", few(THIRD, 3))
def test_a_third_style_passes(name: str) -> None:
    report = examine_source(name, THIRD[name], seed=11, debug=True)
    assert report.passed and not report.findings, str(report)


COPY = TASKS["ct_copy"].answer


@pytest.mark.parametrize("text", ["", COPY.replace("ct.bid(0)", "-" * 5000 + "1")])
def test_what_is_no_answer_is_refused_in_a_sentence(text: str) -> None:
    report = examine_source("ct_copy", text)
    assert report.errors and "checker itself" not in str(report)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=marks(number, slow=6)) for number, name in enumerate(TILE_TASKS)],
)
def test_the_sides_of_the_tiles_of_one_launch_written_out_pass_nowhere(name: str) -> None:
    """Each launch has others. How deep a step along k is, a kernel may decide itself."""
    for side in TASKS[name].block:
        head, body = TASKS[name].answer.split('"""\n', 1)
        text = f'{head}"""\n{body.replace(str(side), str(TASKS[name].constants[str(side)]))}'
        assert not passes(name, text), side


def test_names_stand_in_for_packages_that_are_not_installed(monkeypatch):
    def missing(name: str) -> types.ModuleType:
        raise ImportError(name)

    monkeypatch.setattr(stand_ins.importlib, "import_module", missing)
    ct, tl, triton = (stand_ins.module.__wrapped__(name) for name in PACKAGES)
    block = tl.constexpr(16)

    @ct.kernel(occupancy=2)
    def ct_copy(x, out, TILE: ct.Constant[int], mode=ct.PaddingMode.ZERO):
        ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,), padding_mode=mode))

    @triton.jit
    def tl_copy(x, out, TILE: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(out + at, tl.load(x + at))

    x = np.arange(32, dtype=np.float32)
    for kernel in (ct_copy, tl_copy):
        assert isinstance(kernel, KeptKernel)
        out = np.zeros_like(x)
        emulate_tiles(kernel)[2](x, out, 16)
        assert np.array_equal(out, x)
    assert examine("ct_copy", ct_copy).errors[0].code == "invalid-launch"  # a parameter more
    assert not examine("tl_copy", tl_copy).passed  # the size of a tile is written out
    with pytest.raises(PlainError, match="emulate_tiles"):
        tl_copy[2](x, out, 16)
    with pytest.raises(PlainError, match="is for kernels"):
        ct.load(x, (0,), (16,))


def test_check_takes_the_kernel_itself_and_shows_its_line(capsys):
    @triton.jit
    def tl_copy(x, out, TILE: tl.constexpr):
        places = tl.program_id(1) * TILE + tl.arange(0, TILE)
        tl.store(out + places, tl.load(x + places))

    line = tl_copy.fn.__code__.co_firstlineno + 2
    course_lib.check("tl_copy", tl_copy)
    told = f"Line {line}: the wrong element is read or written [wrong-index]"
    assert told in capsys.readouterr().out
