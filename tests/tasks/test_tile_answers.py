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


@pytest.mark.parametrize(("name", "old", "new", "words"), [
    ("ct_row_sum", "axis=1)\n    ct", "axis=0)\n    ct", "other axis in `ct.sum(tile, axis=0)`"),
    ("tl_row_sum", "range(0, N, TN):\n        ks = first +",
            "range(tl.cdiv(N, TN)):\n        ks = first +", "multiply or divide `first` by"),
    ("ct_softmax", "        total = total * ct.exp(top - new) +",
            "        top = new\n        total = total * ct.exp(top - new) +",
            "swap `top = new` and the next statement"),
])  # fmt: skip
def test_what_is_quoted_is_what_has_to_change(name: str, old: str, new: str, words: str) -> None:
    text = TASKS[name].answer.replace(old, new)
    if name == "ct_softmax":  # and no longer below
        text = text.replace("keepdims=True)\n        top = new\n", "keepdims=True)\n")
    assert words in examine_source(name, text).errors[0].message


def test_two_numbers_that_differ_are_shown_as_different() -> None:
    text = TASKS["ct_bias_relu"].answer.replace("dtype=ct.float32", "dtype=ct.float16")
    told = examine_source("ct_bias_relu", text).errors[0].message
    got, wanted = re.findall(r"is (\S+) and should be (\S+)\.", told)[0]
    assert got != wanted


@pytest.mark.parametrize("name", few(THIRD, 3))
def test_a_third_style_passes(name: str) -> None:
    report = examine_source(name, THIRD[name], seed=11, debug=True)
    assert report.passed and not report.findings, str(report)


ENDLESS = "@ct.kernel\ndef ct_copy(x, out, TILE):\n    while True:\n        pass\n"
COPY = TASKS["ct_copy"].answer
NO_ANSWERS = {
    "another language": (THIRD["tl_copy"].replace("tl_copy", "ct_copy"), "missing-answer"),
    "no decorator": (COPY.replace("@ct.kernel\n", ""), "invalid-launch"),
    "no kernel but a function": (COPY.replace("ct.kernel", "ct.function"), "invalid-launch"),
    "numba's decorator": (COPY.replace("@ct.kernel", "@cuda.jit"), "invalid-launch"),
    "other parameters": (COPY.replace("x, out, TILE", "x, TILE"), "invalid-launch"),
    "empty": ("@ct.kernel\ndef ct_copy(x, out, TILE):\n    pass\n", "missing-answer"),
    "another name": (COPY.replace("ct_copy", "copy"), "missing-answer"),
    "no text": ("", "missing-answer"),
    "no Python": ("@ct.kernel\ndef ct_copy(x, out, TILE)\n", "compile-error"),
    "deleted": (COPY + "\ndel ct_copy\n", "unsupported"),
    "an endless loop": (ENDLESS, "timeout"),
    "a call of itself": (COPY.replace("i = ct.bid(0)", "ct_copy(x, out, TILE)"), "compile-error"),
    "a giant tile": (COPY.replace("i = ct.bid(0)", "i = ct.zeros((1 << 30,), ct.int8)"),
                     "compile-error"),
    "a giant number": (COPY.replace("ct.bid(0)", "9 ** 9 ** 9"), "not-allowed"),
    "a file": (COPY.replace("ct.bid(0)", "open('x')"), "compile-error"),
    "an import": ("import os\n" + COPY.replace("ct.bid(0)", "os.system('x')"), "compile-error"),
    "what it does not know": (COPY.replace("ct.bid(0)", "ct.atomic_cas(0)"), "unsupported"),
    "deep nesting": (COPY.replace("ct.bid(0)", "-" * 5000 + "1"), None),
}  # fmt: skip


@pytest.mark.parametrize("case", NO_ANSWERS)
def test_what_is_no_answer_is_refused_in_a_sentence(case: str) -> None:
    text, code = NO_ANSWERS[case]
    report = examine_source("ct_copy", text)
    assert report.errors and code in (None, report.errors[0].code), str(report)
    assert "checker itself" not in str(report)


@pytest.mark.parametrize(("old", "new", "words"), [
    ("index=(i,), shape", "index=(i * TILE,), shape", r"only a part of `i \* TILE`"),
    ("ct.store", "ct.save", "but only .*, store, "),
    ("i = ct.bid(0)", "i = ct.PaddingMode.ZER0", r"but only PaddingMode.NAN, .* and PaddingMo"),
    ("ct.store(out, index=(i,), tile=tile)", "out[i] = tile", "out is an array: cuTile writes"),
    ("ct.store(out, index=(i,), tile=tile)", "tile[i] += 1", "tile is a value: no part of it"),
    ("i = ct.bid(0)", "i, j = ct.bid(0)", "2 names are given 1 value"),
])  # fmt: skip
def test_a_sentence_is_true_of_what_stands_there(old: str, new: str, words: str) -> None:
    told = examine_source("ct_copy", COPY.replace(old, new)).errors[0].message
    assert re.search(words, told), told


@pytest.mark.parametrize("name", ["tl_product", "tl_bias_relu"])
def test_a_product_that_triton_rounds_passes_with_a_warning_at_its_line(name: str) -> None:
    text = TASKS[name].answer.replace(', input_precision="ieee"', "")
    rounds = name == "tl_product"  # the other one is of float16, which is exact
    report = examine_source(name, text)
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "tl.dot" in line)
    told = [(finding.code, finding.line) for finding in report.findings]
    assert report.passed and told == [("rounded-inputs", line)] * rounds


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
    assert f"Line {line}: a wrong index [wrong-index]" in capsys.readouterr().out
