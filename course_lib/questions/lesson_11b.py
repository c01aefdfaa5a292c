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
        asks="There are 4096 tokens, and each of them sees itself and the tokens before it. A "
        "block has 128 queries, and a tile has 128 keys. What percentage of all tiles do the "
        "blocks have to visit?",
        value=visited_share,
        unit="%",
        within=0.01,
        slips=(
            Trap(
                lambda: 50,
                "That leaves out the diagonal. Its tiles have to be visited, too, although half of "
                "each is hidden.",
            ),
            Trap(
                lambda: 100,
                "Does a block have to fetch a tile if its queries may not see any key in the tile?",
            ),
        ),
        reveal="{answer} %: half of all tiles, plus half of the diagonal. Only the tiles on the "
        "diagonal need the mask at all. In the tiles before it, every query sees every key.",
        spoilers=("half of the diagonal",),
    ),
    Number(
        id="11b-exponential",
        asks="In one clock cycle, an SM of an H100 starts 16 exponentials, and its tensor cores do "
        "2,048 multiply-adds in bfloat16. At d = 64, each score takes multiply-adds in both "
        "products, and one exponential. What is the time for the exponential, divided by the time "
        "for the multiply-adds?",
        value=exponential_over_products,
        unit="times",
        within=0.02,
        slips=(
            Trap(
                lambda: 128,
                "That compares the two speeds. How many multiply-adds does a score take?",
            ),
            Trap(lambda: 2, "That counts only the product with K. What about the product with V?"),
            Trap(
                lambda: 1 / 128,
                "That is the other way round, and for a single multiply-add. How many does a score "
                "take?",
            ),
        ),
        reveal="{answer}, so both take equally long: {products} multiply-adds, 64 for each "
        "product, take a sixteenth of a clock, and so does one exponential. If the multiply-adds "
        "and the exponentials took turns, the tensor cores would be idle half of the time.",
        facts=tensor_facts,
        spoilers=("take a sixteenth of a clock",),
    ),
    Number(
        id="11b-fused",
        asks="Take one head of 8192 tokens with d = 32, in float32 on an H200. PyTorch's three "
        "kernels store S and P, but a solution of exercise 11 stores neither. What is the time of "
        "the solution, divided by the time of PyTorch's kernels?",
        value=fused_over_unfused,
        unit="times",
        within=0.2,
        slips=(
            Trap(
                lambda: 0.5,
                "You might hope so. But what else does a kernel do, besides moving data?",
            ),
            Trap(
                lambda: 1, "The two times are not equal. Which of the two has the faster products?"
            ),
            Trap(lambda: 0.1, "Fusing gains that much only if the other kernels are slow."),
        ),
        reveal="{answer} times: the solution takes {fused} ms, and PyTorch takes {unfused} ms "
        "({label}). Writing and reading S and P takes only {moved} ms, and at the peak rate, the "
        "multiply-adds would take {multiplied} ms. PyTorch calls cuBLAS, in which each thread "
        "keeps a square of sums in registers. A solution of the exercise loads {loads} numbers "
        "from shared memory for each multiply-add, where your first tiled matmul loaded two. "
        "Fusing saves bytes, but it makes no product fast. Our `attention_float32` is fused *and* "
        "keeps squares of sums: it takes {both} ms.",
        facts=fused_facts,
        spoilers=("it makes no product fast", "the solution takes twice as long"),
    ),
    Choose(
        id="11b-order",
        asks="`attend` starts the product S for the *next* tile, then P · V for the current tile, "
        "and then waits only for S. What does the kernel gain from this order?",
        choices=(
            Choice(
                "The next softmax runs while P · V is still in progress.",
                "The next softmax needs the new scores, but not the new mixture yet.",
                right=True,
            ),
            Choice("Two tiles can be rescaled together.", "Each tile may contain a new maximum."),
            Choice(
                "K and V can use the same slots.",
                "Both products are in progress, so K and V are being read at the same time.",
            ),
        ),
        reveal="A warpgroup starts each product separately, and also waits for each one "
        "separately. So exponentials and tensor cores can work at the same time even "
        "within one warpgroup, and not only in two warpgroups that alternate.",
        spoilers=("needs the new scores, but not",),
    ),
)
