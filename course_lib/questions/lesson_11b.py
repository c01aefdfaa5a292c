"""Predictions of lesson 11b: a causal mask, what exponentials cost, what fusing alone is worth."""

from __future__ import annotations

from course_lib.devices import device
from course_lib.measurements import attention
from course_lib.questions.kinds import Choice, Choose, Number, Trap

TOKENS = 4096
EXPONENTIALS = 16  # of an SM in a clock, sm_90: CUDA C++ Programming Guide, throughput table
HEAD = 64
LOADS_OF_A_SOLUTION = 3  # from shared memory, for each multiply-add: counted by the emulator


def visited_share() -> float:
    """Of all tiles those that a causal mask leaves the blocks, in per cent; both have 128 rows."""
    blocks = TOKENS // 128
    return 100 * sum(block + 1 for block in range(blocks)) / blocks**2


def multiply_adds_a_clock() -> float:
    """Of the tensor cores of one SM, in bfloat16, at the clock that their peak is quoted for."""
    h100 = device("H100")
    return round(h100.fp16_tflops * 1e12 / (2 * h100.sms * 1830e6))


def exponential_over_products() -> float:
    """Time of a score's exponential over the time of its share of both products."""
    return (1 / EXPONENTIALS) / (2 * HEAD / multiply_adds_a_clock())


def tensor_facts() -> dict[str, object]:
    return {"products": 2 * HEAD}


def in_float32(name: str) -> float:
    """Milliseconds of one contestant in float32, on an H200."""
    seen = attention.load("H200")
    (problem,) = seen.problems("float32")
    return seen.find(name, problem).median_ms


def fused_over_unfused() -> float:
    """The solution of exercise 11 against PyTorch's three kernels."""
    return in_float32(attention.SOLUTION) / in_float32(attention.UNFUSED)


def fused_facts() -> dict[str, object]:
    """The times, and what they would be if only DRAM or only the multiply units bound."""
    seen, h200 = attention.load("H200"), device("H200")
    (problem,) = seen.problems("float32")
    bytes_of_scores = 4 * problem.length**2
    return {
        "label": seen.label,
        "fused": f"{in_float32(attention.SOLUTION):.2f}",
        "unfused": f"{in_float32(attention.UNFUSED):.2f}",
        "both": f"{in_float32(attention.OURS_IN_FLOAT32):.2f}",
        "moved": f"{4 * bytes_of_scores / h200.dram_gb_per_s / 1e6:.2f}",
        "multiplied": f"{problem.flops / h200.fp32_gflops / 1e6:.2f}",
        "loads": LOADS_OF_A_SOLUTION,
    }


QUESTIONS = (
    Number(
        id="11b-causal",
        asks="There are 4096 tokens, each of which sees itself and those before it. A block has "
        "128 queries, and a tile has 128 keys. What share of its tiles does the grid have to "
        "visit, in percent?",
        value=visited_share,
        unit="%",
        within=0.01,
        slips=(
            Trap(
                lambda: 50,
                "That leaves out the diagonal, whose tiles are visited although half of each is "
                "hidden.",
            ),
            Trap(lambda: 100, "Must a block fetch a tile of which it may see no key?"),
        ),
        reveal="{answer} %: half, and half of the diagonal on top. Only tiles on the diagonal need "
        "the mask at all; those before it are seen whole.",
        spoilers=("half of the diagonal",),
    ),
    Number(
        id="11b-exponential",
        asks="In one clock cycle, an SM of an H100 starts 16 exponentials, and its tensor cores do "
        "2,048 multiply-adds in bfloat16. At d = 64, a score needs multiply-adds in both products, "
        "and one exponential. How many times as long as these multiply-adds does the exponential "
        "take?",
        value=exponential_over_products,
        unit="times",
        within=0.02,
        slips=(
            Trap(
                lambda: 128, "That compares their speeds. How many multiply-adds does a score take?"
            ),
            Trap(lambda: 2, "One product with K. And the one with V?"),
            Trap(
                lambda: 1 / 128,
                "Upside down, and for one multiply-add. How many does a score take?",
            ),
        ),
        reveal="{answer}: {products} multiply-adds, 64 for each product, are a sixteenth of a "
        "clock, and so is one exponential. If they took turns, the tensor cores would idle for "
        "half the time.",
        facts=tensor_facts,
        spoilers=("are a sixteenth of a clock",),
    ),
    Number(
        id="11b-fused",
        asks="Take one head of 8192 tokens, d = 32, in float32 on an H200. PyTorch's three "
        "kernels store S and P. A solution of exercise 11 stores neither. How many times as "
        "long does the solution take?",
        value=fused_over_unfused,
        unit="times",
        within=0.2,
        slips=(
            Trap(
                lambda: 0.5, "You might hope so. What else does a kernel do, besides moving data?"
            ),
            Trap(lambda: 1, "No draw. Which of the two has the better matmuls?"),
            Trap(lambda: 0.1, "It looks that way only against a weak opponent."),
        ),
        reveal="{answer} times: {fused} against {unfused} ms ({label}). {moved} ms are enough "
        "to write and read S and P, and {multiplied} ms for the multiply-adds at the "
        "peak. PyTorch calls cuBLAS, in which each thread keeps a square of sums in "
        "registers. A solution of the exercise loads {loads} numbers from shared "
        "memory for each multiply-add; your first tiled matmul loaded two. Fusing "
        "saves bytes; it makes no product fast. Our `attention_float32` is fused *and* "
        "has its sums in squares: {both} ms.",
        facts=fused_facts,
        spoilers=("it makes no product fast", "the solution takes twice as long"),
    ),
    Choose(
        id="11b-order",
        asks="`attend` starts S of the *next* tile, then P · V of this tile, and then waits only "
        "for S. What does the kernel gain by this order?",
        choices=(
            Choice(
                "The next softmax runs while P · V is still in progress.",
                "It needs the new scores, but not the new mixture yet.",
                right=True,
            ),
            Choice("Two tiles share one rescale.", "Each tile has its own maximum."),
            Choice(
                "K and V may lie in the same place.", "Both are being read now, so they must not."
            ),
        ),
        reveal="A warpgroup starts each product separately, and also waits for each one "
        "separately. So exponentials and tensor cores can work at the same time even "
        "within one warpgroup, and not only in two warpgroups that alternate.",
        spoilers=("needs the new scores, but not",),
    ),
)
