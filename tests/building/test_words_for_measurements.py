"""What lessons say of a measurement in words holds for what is stored: "half", "four times"."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from every_case import every_case

from course_lib.building.notebook import markdown_cells, read, source
from course_lib.curriculum import LESSONS
from course_lib.devices import device, occupancy
from course_lib.emulator import emulate, load_program
from course_lib.measurements import Kind, attention, load, row_softmax
from course_lib.measurements.ablation import STEPS, SUSTAINED, ablation
from course_lib.measurements.memory import forms, levels
from course_lib.measurements.what_binds import SHARED, SLOTS, TENSOR_CORES, seen
from course_lib.questions import find
from course_lib.questions.lesson_00 import limits_of_addition
from course_lib.questions.lesson_10b import least_gained
from course_lib.questions.lesson_11b import LOADS_OF_A_SOLUTION
from course_lib.roofline.ceilings import SLOW_MMA

pytestmark = pytest.mark.workshop

ROOT = Path(__file__).resolve().parents[2]
H200, SIZE = load("H200"), 4096
CUBLAS, WGMMA = "cuBLAS bfloat16, result bfloat16", "wgmma"


def gflops(name: str) -> float:
    found = H200.entry(name)
    cell = found and found.cell(SIZE)
    assert cell, f"{name} was not measured"
    return cell.gflops


def of_cublas(name: str, size: int) -> float:
    found = H200.entry(name)
    share = found and H200.share_of_cublas(found, size)
    assert share, f"{name} was not measured at {size}"
    return share


def times(name: str, before: str) -> float:
    return gflops(name) / gflops(before)


def in_forms(form: str) -> float:
    return forms("coalesced")[form].ms


def of_the_roof(name: str) -> float:
    return gflops(name) / H200.measured_roofs["fp32_gflops"]


def of_cudnn() -> list[float]:
    run = attention.load("H200")
    return [run.share(attention.OURS, attention.CUDNN, each) for each in run.problems("bfloat16")]


softmax = row_softmax.load("H200")
OUR_SOFTMAXES = ("softmax_naive", "softmax_tree", "softmax_warps", "softmax_once")


def fastest_softmax(size: str) -> str:
    times = {name: softmax.median_ms(name, size) for name in softmax.samples_ms[size]}
    return min(times.keys() - {row_softmax.COPY}, key=lambda name: times[name])


def under_load(name: str, kind: Kind = "rung") -> Mapping[str, float]:
    found = H200.entry(name, kind)
    assert found and found.sustained, f"{name} was not measured under load"
    return found.sustained


def busy(kernel: str) -> dict[str, float]:
    return dict(seen(kernel).busy)


# How long an mma keeps a tensor core of an H200 busy, as the ceilings take it.
SLOW = {
    "tensor_core_bf16": SLOW_MMA["9.0", "HMMA.16816 FP16"],
    "tensor_core_f16": SLOW_MMA["9.0", "HMMA.1688 FP16"],
    "tensor_core_tf32": SLOW_MMA["9.0", "HMMA.1688 TF32"],
}

# The lesson, or the question, whose words they are; the words; what has to be true.
SAID: list[tuple[str, str, Callable[[], bool]]] = [
    ("08", "Still, `register_2d` reaches only half of the roof above it, for two reasons.",
     lambda: 0.45 < of_the_roof("register_2d") < 0.55),
    ("09", "Lesson 08 ended with `register_2d` at half of the roof.",
     lambda: 0.45 < of_the_roof("register_2d") < 0.55),
    ("09", "`vectorised` is near the limit of shared memory.",
     lambda: busy("vectorised")[SHARED] > 0.78),
    ("09", "In `warp_tiled`, **no** unit is near its limit.",
     lambda: max(busy("warp_tiled").values()) < 0.75),
    ("09-waiting", "In a third of all clocks", lambda: 0.3 < 1 - busy("warp_tiled")[SLOTS] < 0.37),
    ("09-waiting", "Now shared memory is busy in only half of the clocks.",
     lambda: 0.45 < busy("warp_tiled")[SHARED] < 0.55),
    ("09b-published", "and it is true in our ladder",
     lambda: 1.1 < times("double_buffered", "warp_tiled") < 1.3),
    ("10b", "cuBLAS keeps its tensor cores the busiest, requests the least from L2, and runs at",
     lambda: busy(CUBLAS)[TENSOR_CORES] > busy(WGMMA)[TENSOR_CORES]
     and (seen(CUBLAS).l2_gb or 0) < (seen(WGMMA).l2_gb or 0)
     and under_load(CUBLAS, "cuBLAS")["sm_clock_mhz"] > under_load(WGMMA)["sm_clock_mhz"]),
    ("10b", "After two seconds of nothing but matrix products, the GPU has reached its power limit",
     lambda: all(each["at_power_limit"] and each["seconds"] == 2
                 for each in (under_load(CUBLAS, "cuBLAS"), under_load(WGMMA),
                              under_load("tensor_core_bf16")))),
    ("10", "So shared memory is not what limits this kernel.",
     lambda: seen("tensor_core_bf16").fullest == "L2"),
    ("10-binds", "cannot pass two thirds of their peak",
     lambda: {name: round(seen(name).clocks_of_an_mma or 0) for name in SLOW} == SLOW),
    ("10b-gain", "Five of them make the kernel faster",
     lambda: [ablation().gain(name) > 0 for name in STEPS[1:]].count(False) == 1),
    ("10b-gain", "Pairs of blocks:", lambda: least_gained() == "clusters"),
    ("10b", "which is little here, but much for a small product",
     lambda: ablation().gain("overlap") < 0.02 and of_cublas("tma_bf16", 1024) > 1.1),
    ("10b", "pairs of blocks gained nothing, but at the power limit they make the kernel faster",
     lambda: ablation().gain("clusters") < 0.002
     and min(ablation(size, SUSTAINED).gain("clusters") for size in (4096, 8192)) > 0.005),
    ("10c", "beats all the other kernels, PyTorch's included.",
     lambda: fastest_softmax("4096 x 4096") == "softmax_once"),
    ("10c", "gains little, and one warp per row is faster.",
     lambda: softmax.median_ms("softmax_warps", "10007 x 999")
     < softmax.median_ms("softmax_once", "10007 x 999")),
    ("10c", "it is still our fastest kernel.",
     lambda: softmax.median_ms("softmax_once", "513 x 20011")
     == min(softmax.median_ms(each, "513 x 20011") for each in OUR_SOFTMAXES)),
    ("10c", "For short and for long rows, PyTorch takes about half our time.",
     lambda: all(0.35 < softmax.median_ms("torch.softmax", size)
                 / min(softmax.median_ms(each, size) for each in OUR_SOFTMAXES) < 0.65
                 for size in ("10007 x 999", "513 x 20011"))),
    ("10c-few", "takes several times as long as `softmax_tree`",
     lambda: 3 * softmax.median_ms("softmax_tree", "513 x 20011")
     < softmax.median_ms("softmax_warps", "513 x 20011")),
    ("11b", "as fast as NVIDIA's own library", lambda: min(of_cudnn()) > 0.97),
    ("12", "32 times fewer bytes, 1½ times as fast.",
     lambda: 1.4 < levels("coalesced").ms / levels("tiled").ms < 1.6),
    ("12", "with a quarter of the warps, `register_2d` is four times as fast",
     lambda: 3.5 < times("register_2d", "tiled") < 4.5),
    ("12-fewer-warps", "four times as fast (both in Numba)",
     lambda: 3.5 < times("register_2d", "tiled") < 4.5),
    ("05b-counter", "**twice** as much",
     lambda: 1.8 < levels("tiled").dram_gb / levels("coalesced").dram_gb < 2.2),
    ("06-means", "`register_1d` has half the warps and more than twice the speed",
     lambda: 2 < times("register_1d", "tiled") < 2.5),
    ("06-means", "The next kernel of lesson 08 halves the occupancy again",
     lambda: 2 * occupancy("H200", 256, 128, 8192).share == occupancy("H200", 512, 44, 4096).share),
    ("01", "the peak in lesson 00 was only half as high.",
     lambda: 2 * int(str(limits_of_addition()["peak"])) == device("H200").fp32_gflops),
    ("03", "compiles each iteration to 36 instructions",
     lambda: round(1 / (H200.entry("coalesced").ceiling or 1)) == 36),  # type: ignore[union-attr]
    ("05b", "such a loop made the kernel twice as fast",
     lambda: 1.9 < in_forms("Numba, range") / in_forms("Numba, while") < 2.2),
    ("05b", "even without the cost of loops, tiles gained far less than a factor of 32",
     lambda: levels("coalesced").ms / levels("tiled").ms < 2),
    ("05b-faster", "there `range` costs little", lambda: times("tiled_while", "tiled") < 1.15),
]  # fmt: skip


def words_of(place: str) -> str:
    """The prose of a lesson, or all words of a question."""
    lesson = next((each for each in LESSONS if each.number == place), None)
    if lesson is None:
        asked = find(place)
        return " ".join([asked.asks, asked.reveal, *(why for _, _, why in asked.rows())])
    notebook = read(ROOT / "notebooks" / f"{lesson.stem}.ipynb")
    return "\n".join(map(source, markdown_cells(notebook)))


@every_case(("place", "words", "holds"), SAID, ids=[f"{each[0]}: {each[1]}" for each in SAID])
def test_words_fit_what_was_measured(place: str, words: str, holds: Callable[[], bool]) -> None:
    assert words in words_of(place), "the sentence has changed: so change it here, or drop it"
    assert holds(), "what is stored now says something else"


def test_a_solution_of_attention_loads_what_lesson_11b_says() -> None:
    import numpy as np

    cells = json.loads((ROOT / "solutions" / "11_flash_attention.ipynb").read_text())["cells"]
    text = next(t for t in ("".join(c["source"]) for c in cells) if "# EXERCISE attention" in t)
    head = "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
    Q, K, V, out = (np.ones((64, 32), np.float32) for _ in range(4))
    run = emulate(load_program(head + text).kernel("attention"))[4, (32, 16)](Q, K, V, out)
    multiply_adds = 2 * 64 * 64 * 32 / 32  # of a whole warp, in both products
    # Scores are read once more for the maximum; what fetches Q's own row is little.
    assert run.shared_load_requests / multiply_adds == pytest.approx(LOADS_OF_A_SOLUTION, rel=0.02)
