"""The PTX of each warpgroup product does what the emulator's twin does.

What stands in the text is carried out as the PTX ISA has it ("Asynchronous Warpgroup Level Matrix
Multiply-Accumulate": matrix descriptor, strides, 128-byte swizzle, register fragments, major-ness)
on memory full of small whole numbers, so that all sums are exact.
"""

import re

import numpy as np
import pytest

from course_lib.emulator.functions import attention_functions, warpgroup_products
from course_lib.emulator.functions.warpgroup_products import ProductForm, matrix_product
from course_lib.intrinsics import wgmma, wgmma_attention

SHARED = 227 * 1024  # bytes of a block
THREAD = np.arange(128)
# Of each thread: its row in a fragment, but for the half, and its first column, but for the eight.
ROW, COLUMN = THREAD // 32 * 16 + THREAD % 32 // 4, THREAD % 4 * 2
MULTIPLY = re.compile(
    r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.bf16\.bf16 "
    r"\{([^}]*)\}, (a|b|\{[^}]*\}), (a|b), (.*);"
)


def numbers(shared: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """bfloat16 at these addresses; the swizzle is one of addresses: bits 4 to 6 XOR bits 7 to 9."""
    places = addresses ^ (addresses >> 7 & 7) << 4
    return (shared.view(np.uint16)[places // 2].astype(np.uint32) << 16).view(np.float32)


def described(shared: np.ndarray, descriptor: int, rows: int, transposed: bool) -> np.ndarray:
    """The rows x 16 matrix that a descriptor stands for."""
    assert descriptor >> 62 == 1, "not the 128-byte swizzle"
    assert not descriptor >> 49 & 7, "the tile begins within eight rows"
    start, panel, eight = ((descriptor >> at & 0x3FFF) * 16 for at in (0, 16, 32))
    row, k = np.arange(rows)[:, None], np.arange(16)
    if transposed:  # a row of 64 for each k
        at = row // 64 * panel + row % 64 * 2 + k // 8 * eight + k % 8 * 128
    else:
        at = row // 8 * eight + row % 8 * 128 + 2 * k
    return numbers(shared, start + at)


def fragment(words: list[np.ndarray]) -> np.ndarray:
    """The 64 x 16 matrix of which each thread holds four words."""
    matrix = np.empty((64, 16), np.float32)
    for i, word in enumerate(words):
        for half in range(2):
            bits = (word >> np.uint32(16 * half)) << np.uint32(16)
            matrix[ROW + 8 * (i % 2), COLUMN + 8 * (i // 2) + half] = bits.view(np.float32)
    return matrix


def carry_out(text: str, operands: list[np.ndarray], shared: np.ndarray) -> None:
    """Do what the text says; operand i is what all threads hold of `$i`."""
    held: dict[str, int] = {}
    value = {f"${i}": operand for i, operand in enumerate(operands)}
    lines = [line for line in text.splitlines() if line not in "{}" and not line.startswith(".reg")]
    for line in lines:
        name, *given = re.split(r"[ ,{};]+", line)[:4]
        if name == "add.u32":
            held["word"] = int(value[given[1]][0]) + int(line.split()[-1][:-1])
        elif name == "mov.b64":
            held[given[0]] = held["word"] | int(given[2]) << 32
        elif name == "setp.ne.u32":
            held["add"] = int(value[given[1]][0] != 0)
        elif found := MULTIPLY.fullmatch(line):
            columns, sums, left, right, rest = found.groups()
            add, negated_a, negated_b, *transposed = rest.split(", ")
            assert (negated_a, negated_b) == ("1", "1")
            names = left.strip("{}").split(", ")
            if left.startswith("{"):
                a = fragment([value[each] for each in names])
            else:
                a = described(shared, held[left], 64, transposed[0] == "1")
            b = described(shared, held[right], int(columns), transposed[-1] == "1")
            product = a @ b.T
            places = sums.split(", ")
            assert len(places) == int(columns) // 2
            for i, place in enumerate(places):
                new = product[ROW + i // 2 % 2 * 8, i // 4 * 8 + COLUMN + i % 2]
                adds = held["add"] if add == "add" else int(add)
                value[place][:] = new + (value[place] if adds else 0)
        else:
            assert name in ("wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned",
                            "wgmma.wait_group.sync.aligned"), line  # fmt: skip
    order = [line.split(".")[1] for line in lines if line.startswith("wgmma")]
    assert order[0] == "fence" and order.count("commit_group") == 1
    assert set(order[order.index("commit_group") + 1 :]) <= {"wait_group"}


def by_twin(
    form: ProductForm, begins: list[int], shared: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """What the emulator gives each thread: shape (sums, 128)."""
    results = []
    for left, right in form.parts:
        a = warpgroup_products.gathered(words)
        if left is not None:
            a = left.numbers(shared, begins[left.word])
        product = a @ right.numbers(shared, begins[right.word])
        results.append(warpgroup_products.dealt_out(product))
    return np.concatenate(results)


FORMS = [
    *(
        (wgmma.product_text(n, "add", turned, panels), matrix_product(n, turned, panels),
         (wgmma.LOWER_A, wgmma.LOWER_B))
        for n, turned, panels in (
            (8, False, 1), (72, False, 1), (192, False, 1), (256, False, 1), (8, True, 1),
            (176, True, 1), (152, True, 2), (256, True, 1),
        )
    ),
    *(
        (wgmma_attention.scores_text(head, keys), attention_functions.scores(head, keys),
         (wgmma.LOWER_A, wgmma.LOWER_A))
        for head, keys in ((64, 128), (128, 160), (128, 128), (64, 64), (192, 176))
    ),
    *(
        (wgmma_attention.output_text(head, keys), attention_functions.output(head, keys),
         (wgmma_attention.lower_v(keys),))
        for head, keys in ((64, 128), (128, 160), (128, 128), (64, 64), (192, 176))
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "form", "lower"), FORMS)
@pytest.mark.parametrize("adds", (0, 1))
def test_text_and_twin_agree(text, form, lower, adds) -> None:
    random = np.random.default_rng(form.sums)
    whole = random.integers(-4, 5, SHARED // 2).astype(np.float32)
    shared = (whole.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    begins = [3 * 1024, 101 * 1024][: len(lower)]
    before = random.integers(-9, 10, (form.sums, 128)).astype(np.float32)
    words = random.integers(-4, 5, (form.depth // 4, 2, 128)).astype(np.float32).view(np.uint32)
    words = words[:, 0] >> 16 | words[:, 1]
    named = [np.full(128, begin // 16 | half) for begin, half in zip(begins, lower, strict=True)]
    in_registers = form.parts[0][0] is None
    sums = before.copy()
    more = list(words) if in_registers else [np.full(128, adds)]
    carry_out(text, [*sums, *named, *more], shared)
    forgets = form.replaces or not (adds or in_registers)
    expected = by_twin(form, begins, shared, words) + (0 if forgets else before)
    np.testing.assert_array_equal(sums, expected)


def test_words_are_the_same() -> None:
    twins = warpgroup_products.LOWER_A, warpgroup_products.LOWER_B
    assert twins == (wgmma.LOWER_A, wgmma.LOWER_B)
