"""No lesson that is written do-first tells a measured number that no cell of it has printed."""

import ast
import json
import math
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from lesson_rules.shown import words_of

from course_lib.building.notebook import (
    Notebook,
    code,
    code_cells,
    markdown,
    markdown_cells,
    new,
    read,
    source,
    tags,
)
from course_lib.building.outputs import text_of
from course_lib.curriculum import LESSONS, Lesson, rung
from course_lib.devices import device
from course_lib.questions import lessons, of_lesson
from course_lib.questions.kinds import Question
from course_lib.questions.lesson_03 import FEWER
from course_lib.questions.lesson_09b import PUBLISHED_TWO_BUFFERS

ROOT = Path(__file__).resolve().parents[2]
UNITS = "GB/s|TB/s|GB|TB|MB|ms|µs|ns|G?FLOP/s|TFLOP/s"
NUMBER = r"\d[\d,]*(?:\.\d+)?"
# With a unit, as a share, or with decimals, as counts and speed-ups have; 10.2.3 is a section.
MEASURED = re.compile(
    rf"(?<![\w.])(?:({NUMBER}) ?(?:{UNITS})(?!\w)|({NUMBER}) ?%|({NUMBER}(?<=\.\d)\d*)(?!\.?\w))"
)
CODE = re.compile(r"`[^`]*`")
# Hints say what a unit is, and questions are looked at by themselves.
NO_PROSE = {"task-hints", "question"}
SOURCES = "sources"  # the cell that names them


def unprinted(notebook: Notebook) -> list[str]:
    """The measured numbers in prose that stand in no output."""
    outputs = [output for cell in code_cells(notebook) for output in cell["outputs"]]
    printed = "\n".join(map(text_of, outputs))
    return [
        found[0]
        for cell in markdown_cells(notebook)
        if not NO_PROSE & set(tags(cell)) and cell["id"] != SOURCES
        for found in MEASURED.finditer(CODE.sub("", source(cell)))
        if next(filter(None, found.groups())) not in re.findall(NUMBER, printed)
    ]


def written_down(text: str) -> list[str]:
    """The measured numbers among the words that a module of questions or a task says.

    A number that an f-string or a fact computes is no part of its words; what spoils a question,
    code, and a student's guess are no words of ours.
    """
    tree = ast.parse(text)
    ours = {"asks", "reveal", "why", "hint", "other", "meaning"}
    nodes = list(ast.walk(tree))
    said = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg in ours]
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        if getattr(call.func, "id", "") in ("Choice", "Trap", "Suspect"):
            said += call.args[-1:]
    parts = [node for each in said for node in ast.walk(each)]
    words = (node.value for node in parts if isinstance(node, ast.Constant))
    texts = (CODE.sub("", each) for each in words if isinstance(each, str))
    return [found[0] for each in texts for found in MEASURED.finditer(each)]


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_prose_tells_no_measured_number_of_its_own(lesson):
    assert unprinted(read(ROOT / "notebooks" / f"{lesson.stem}.ipynb")) == []


TELLING = {"lesson_12.py", "whiteboard.py"}
# Sums that anybody can do in his head, and examples of what the task's own arguments may be.
DONE_IN_THE_HEAD = {
    "lesson_06.py": ("questions", ["100 %"]),
    "requested_bytes.py": ("tasks", ["0.25"]),
}


@pytest.mark.parametrize("folder", ["questions", "tasks"])
def test_questions_and_tasks_compute_the_measured_numbers_they_say(folder):
    found = {
        path.name: numbers
        for path in sorted((ROOT / "course_lib" / folder).glob("*.py"))
        if path.name not in TELLING and (numbers := written_down(path.read_text(encoding="utf-8")))
    }
    allowed = {name: each for name, each in DONE_IN_THE_HEAD.items() if folder in each[0]}
    assert found == {name: each[1] for name, each in allowed.items()}


def test_a_number_of_its_own_or_written_into_a_question_is_seen():
    printed = code("print(277)", id="run") | {
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "time 277 ms"}]
    }
    prose = [markdown("It took 277 ms, not 716 ms.", id="a"), markdown("At 768 GB/s.", id="b")]
    prose += [markdown("1.5 times, or 94 %. See 10.2.3 and `0.5`; 2 is enough.", id="c")]
    hint = markdown("1 GB/s is a byte in each ns.", "task-hints", id="d")
    assert unprinted(new([*prose, hint, printed])) == ["716 ms", "768 GB/s", "1.5", "94 %"]
    text = 'Q = Number(asks=f"{x} MB, 6.6 times, 4096", reveal="{ms} ms, 25 %", spoilers=("3.5",))'
    assert written_down(text) == ["6.6", "25 %"]


MEASUREMENTS = ROOT / "course_lib" / "measurements"
CLOCK = r"(?:ms|ns|µs|GB/s|G?FLOP/s|TFLOP/s)"
TIMED = re.compile(rf"({NUMBER}) (?:{CLOCK})(?!\w)|({NUMBER}(?<=\.\d)\d*) times")
CLOCKED = re.compile(rf"{NUMBER} {CLOCK}(?!\w)")
DEVICE = re.compile(r"\b(?:H200|H100|A6000|B200)\b|your GPU")
FORMS = re.compile(r"Numba|C\+\+|cuBLAS|PyTorch|Nsight Compute|data sheet|course\.py bench")
FILE = re.compile(r"measurements/([\w/]+\.json)")


def at(path: str) -> float:
    """A number in a file: `H200.json entries name=naive,kind=rung cells size=4096 samples_ms`.

    A step is a key, or what the wanted element of a list has; a list of samples is their median.
    """
    file, *steps = path.split()
    found: Any = json.loads((MEASUREMENTS / file).read_text(encoding="utf-8"))
    for step in steps:
        if "=" in step:
            wanted = dict(pair.split("=") for pair in re.split(r",(?=\w+=)", step))
            told = [{key: str(each.get(key)).replace(" ", "_") for key in wanted} for each in found]
            found = found[told.index(wanted)]
            assert told.count(wanted) == 1
        else:
            found = found[step.replace("_", " ") if step not in found else step]
    return float(statistics.median(found) if isinstance(found, list) else found)


def ms(kernel: str, kind: str = "rung") -> float:
    return at(f"H200.json entries name={kernel},kind={kind} cells size=4096 samples_ms")


def gflops(kernel: str) -> float:
    return 2 * 4096**3 / ms(kernel) / 1e6


def published(kernel: str) -> float:
    """In CUDA C++ on an A6000, by S. Boehm."""
    return rung(kernel).published_gflops


def transpose(name: str) -> float:
    return at(f"banks/H200.json transpose ms {name}")


def padded(yes: bool) -> float:
    return at(f"banks/H200.json matmul rows tile=32,padded={yes} ms")


def attention(name: str) -> float:
    text = (MEASUREMENTS / "attention" / "H200.json").read_text(encoding="utf-8")
    rows = [each for each in json.loads(text)["rows"] if each["name"] == name]
    (row,) = (each for each in rows if each["problem"]["precision"] == "float32")
    return statistics.median(row["samples_ms"])


def softmax_us(name: str, size: str) -> float:
    return 1000 * at(f"row_softmax/H200.json rows {size} {name} samples_ms")


# Each question that tells a measured time, speed or factor: where each of them comes from.
QUOTED: dict[str, tuple[Callable[[], float], ...]] = {
    "01-latency": tuple(
        (lambda place=place: at(f"memory/H200.json latency_ns {place}"))
        for place in ("L1", "L2", "DRAM")
    ),
    "01-few-threads": (lambda: at("memory/H200.json speeds threads=1024 gb_per_s"),
        lambda: at("H200.json measured_roofs dram_gb_per_s")),
    "03-faster": (lambda: ms("naive"), lambda: ms("coalesced"), lambda: FEWER,
        lambda: ms("naive") / ms("coalesced")),
    "05b-faster": (lambda: ms("coalesced"), lambda: ms("tiled"),
        lambda: ms("coalesced") / ms("tiled"), lambda: ms("coalesced", "twin"),
        lambda: ms("tiled", "twin")),
    "05b-counter": (
        lambda: at("memory/H200.json levels kernel=tiled,size=4096 dram_gb")
        / at("H200.json measured_roofs dram_gb_per_s") * 1000,
        lambda: ms("tiled", "twin"),
    ),
    "05b-range": (lambda: ms("coalesced"), lambda: at("memory/H200.json loops rows form=while ms")),
    "06-means": (lambda: gflops("register_1d"), lambda: gflops("register_1d") / gflops("tiled")),
    "07-pad-matmul": (lambda: padded(False), lambda: padded(True)),
    "07-seconds": (lambda: transpose("no_tile"), lambda: transpose("tile"),
        lambda: transpose("padded"), lambda: transpose("row_&_7"), lambda: transpose("copy"),
        lambda: transpose("tile") / transpose("padded")),
    "08-faster": (lambda: gflops("register_2d"), lambda: gflops("tiled"),
        lambda: gflops("register_2d") / gflops("tiled")),
    "09b-published": (lambda: PUBLISHED_TWO_BUFFERS,
        lambda: gflops("double_buffered") / gflops("warp_tiled")),
    "09b-warps": (lambda: gflops("cp_async"),),
    "10c-few": (lambda: softmax_us("softmax_warps", "513_x_20011"),
        lambda: softmax_us("softmax_tree", "513_x_20011")),
    "10c-once": (
        lambda: softmax_us("softmax_once", "4096_x_4096"),
        lambda: softmax_us("torch.softmax", "4096_x_4096"),
        lambda: softmax_us("copy", "4096_x_4096"),
        lambda: softmax_us("torch.softmax", "4096_x_4096")
        / softmax_us("softmax_once", "4096_x_4096"),
        lambda: 2 * 4 * 4096**2 / device("H200").dram_gb_per_s / 1e3,
    ),
    "11b-fused": (lambda: attention("exercise 11's solution"),
        lambda: attention("PyTorch, unfused"), lambda: attention("attention_float32"),
        lambda: attention("exercise 11's solution") / attention("PyTorch, unfused"),
        lambda: 4 * 4 * 8192**2 / device("H200").dram_gb_per_s / 1e6,
        lambda: 4 * 8192**2 * 32 / device("H200").fp32_gflops / 1e6),
    "12-one-and-a-half": (lambda: published("tiled") / published("coalesced"),
        lambda: published("register_1d") / published("tiled"),
        lambda: published("register_2d") / published("tiled")),
    "12-climb": (lambda: gflops("tma_bf16") / 1000,),
    "12-fuse": (lambda: ms("cuBLAS_bfloat16,_result_bfloat16", "cuBLAS"),
        lambda: 2 * 2 * 4096**2 / at("H200.json measured_roofs dram_gb_per_s") / 1e6),
}  # fmt: skip
# What stands in a data sheet, or follows from one.
OF_DATA_SHEETS = {"05b-edge", "06-smaller-blocks", "10-other-roof", "10c-least", "12-funnel"}
EVERY = {name: each for number in lessons() for name, each in of_lesson(number).items()}


def told_of(question: Question) -> str:
    return CODE.sub(lambda found: found[0].strip("`"), " ".join(words_of(question)))


def same(said: str, value: float) -> bool:
    """Whether a number as it is said is a value, rounded as far as that."""
    number, digits = float(said.replace(",", "")), len(said.partition(".")[2])
    return math.isclose(number, round(value, digits), rel_tol=1e-9) or (
        said == f"{value:.3g}" or said == f"{value:.4g}"
    )


def test_every_time_and_speed_a_question_tells_is_in_a_file() -> None:
    untraced = {}
    for name, question in EVERY.items():
        if name in OF_DATA_SHEETS:
            continue
        values = [value() for value in QUOTED.get(name, ())]
        told = [next(filter(None, each.groups())) for each in TIMED.finditer(told_of(question))]
        lost = [said for said in told if not any(same(said, value) for value in values)]
        untraced |= {name: lost} if lost else {}
    assert untraced == {}


@every_case("name", QUOTED)
def test_a_question_that_tells_a_time_names_kernel_form_and_device(name: str) -> None:
    told = told_of(EVERY[name])
    assert DEVICE.search(told), "on which device?"
    assert FORMS.search(told), "in which form?"
    numbers = re.findall(NUMBER, told)
    for value in QUOTED[name]:
        assert any(same(said.rstrip(","), value()) for said in numbers), f"{value()} is not told"


# What follows from a data sheet, and what a colleague says.
BOUNDS = {"01 three-kernels", "01 fig-places", "10 roofs-figure"}


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_an_output_that_tells_a_time_names_form_and_device(lesson: Lesson) -> None:
    cells = read(ROOT / "notebooks" / f"{lesson.stem}.ipynb")["cells"]
    printed = ["\n".join(map(text_of, cell.get("outputs", ()))) for cell in cells]
    texts = [source(cell) + said for cell, said in zip(cells, printed, strict=True)]
    for place, cell in enumerate(cells):
        if f"{lesson.number} {cell['id']}" in BOUNDS or not CLOCKED.search(printed[place]):
            continue
        around = "\n".join(texts[max(0, place - 2) : place + 2])
        assert DEVICE.search(around), f"{cell['id']}: on which device?"
        assert FORMS.search(around), f"{cell['id']}: in which form?"


READERS = {
    "load": "H200.json", "speeds": "H200.json", "memory": "memory/H200.json",
    "banks": "banks/H200.json", "what_binds": "what_binds/H200.json",
    "attention": "attention/H200.json", "ablation": "ablation/H200.json", "ncu": "ncu/H200.json",
    "machine_code": "machine_code/sm_75.json", "tile_languages": "tile_languages/H200.json",
    "row_softmax": "row_softmax/H200.json", "sanitizer": "sanitizer/H200.json",
}  # fmt: skip
READING = re.compile(
    r"from course_lib\.measurements(?:\.(\w+))? import ([\w, ]+)|(?:for_lessons) import (speeds)"
    r"|course_lib\.(ncu) import|measurements\.(load)\("
)


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_the_sources_of_a_lesson_name_the_files_that_its_numbers_are_from(lesson: Lesson) -> None:
    notebook = read(ROOT / "notebooks" / f"{lesson.stem}.ipynb")
    path = ROOT / "course_lib" / "questions" / f"lesson_{lesson.number}.py"
    text = "\n".join(map(source, code_cells(notebook)))
    text += path.read_text(encoding="utf-8") if path.exists() else ""
    read_here = {
        READERS[each]
        for found in READING.findall(text)
        for each in re.findall(r"\w+", found[0] or " ".join(found[1:]))
        if each in READERS
    }
    named = {each for cell in notebook["cells"] if cell["id"] == SOURCES
             for each in FILE.findall(source(cell))}  # fmt: skip
    read_here |= {"H200.json"} if "memory/H200.json" in read_here else set()  # whose times they are
    assert named == read_here
