"""The playground's page, and the kernels that it starts from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.tab.requests import answer
from course_lib.web import escape, json_for_html

HEAD = "from numba import cuda, float32\n\n\n"


@dataclass(frozen=True)
class Example:
    """A kernel and its launch."""

    title: str  # what it shows, in a few words
    kernel: str  # the name of the function that is launched
    text: str  # the source, without the imports
    grid: tuple[int, ...]  # blocks, x first
    block: tuple[int, ...]  # threads per block, x first
    arguments: Mapping[str, str]  # a line of NumPy, or a number, for each parameter

    def as_data(self) -> dict[str, Any]:
        """What the page's fields and a link hold."""
        return {
            "title": self.title,
            "text": HEAD + self.text,
            "kernel": self.kernel,
            "grid": ", ".join(map(str, self.grid)),
            "block": ", ".join(map(str, self.block)),
            "args": [{"name": name, "made": made} for name, made in self.arguments.items()],
        }

    def as_request(self) -> dict[str, Any]:
        """What a page asks its worker when this is run."""
        data = self.as_data()
        sizes = {"grid": list(self.grid), "block": list(self.block)}
        return {"do": "play", "text": data["text"], "arrays": data["args"], **sizes}


SMOOTH = Example(
    title="Three neighbours, and a barrier that is missing",
    kernel="smooth",
    text='''\
@cuda.jit
def smooth(x, y):
    """y[i] is the mean of x[i] and its two neighbours in the block."""
    near = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    near[t] = x[i]
    left, right = max(t - 1, 0), min(t + 1, 63)
    y[i] = (near[left] + near[t] + near[right]) / float32(3)
''',
    grid=(4,),
    block=(64,),
    arguments={
        "x": "np.arange(256, dtype=np.float32)",
        "y": "np.zeros(256, dtype=np.float32)",
    },
)
HISTOGRAM = Example(
    title="A histogram that loses counts",
    kernel="histogram",
    text='''\
@cuda.jit
def histogram(x, counts):
    """How often each number from 0 to 7 occurs in x."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        counts[x[i]] += 1
''',
    grid=(4,),
    block=(64,),
    arguments={
        "x": "np.random.default_rng(0).integers(0, 8, 250)",
        "counts": "np.zeros(8, dtype=np.int32)",
    },
)
STENCIL = Example(
    title="A stencil in two directions",
    kernel="stencil",
    text='''\
@cuda.jit
def stencil(A, B):
    """Each element of B is the mean of four neighbours in A; the rim stays as it is."""
    x, y = cuda.grid(2)
    rows, columns = A.shape
    if x >= columns or y >= rows:
        return
    if 0 < x < columns - 1 and 0 < y < rows - 1:
        B[y, x] = (A[y - 1, x] + A[y + 1, x] + A[y, x - 1] + A[y, x + 1]) / float32(4)
    else:
        B[y, x] = A[y, x]
''',
    grid=(3, 2),
    block=(16, 16),
    arguments={
        "A": "np.random.default_rng(0).random((30, 40), dtype=np.float32)",
        "B": "np.zeros((30, 40), dtype=np.float32)",
    },
)
TRANSPOSE = Example(
    title="A transpose that has to queue for shared memory",
    kernel="transpose",
    text='''\
@cuda.jit
def transpose(A, B):
    """B is the transpose of A, 32 x 32 elements at a time. Look at the wavefronts of each line."""
    tile = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
    tile[ty, tx] = A[top + ty, left + tx]
    cuda.syncthreads()
    B[left + ty, top + tx] = tile[tx, ty]
''',
    grid=(2, 2),
    block=(32, 32),
    arguments={
        "A": "np.arange(4096, dtype=np.float32).reshape(64, 64)",
        "B": "np.zeros((64, 64), dtype=np.float32)",
    },
)
MANDELBROT = Example(
    title="The Mandelbrot set, where a warp waits for its slowest lane",
    kernel="mandelbrot",
    text='''\
@cuda.jit
def mandelbrot(steps):
    """How many steps each point takes to leave the circle; look at the branch efficiency."""
    x, y = cuda.grid(2)
    if x >= steps.shape[1] or y >= steps.shape[0]:
        return
    real = float32(x) * float32(3) / float32(steps.shape[1]) - float32(2)
    imaginary = float32(y) * float32(2) / float32(steps.shape[0]) - float32(1)
    a, b, count = float32(0), float32(0), 0
    while a * a + b * b < float32(4) and count < 30:
        a, b = a * a - b * b + real, float32(2) * a * b + imaginary
        count += 1
    steps[y, x] = count
''',
    grid=(4, 2),
    block=(16, 16),
    arguments={"steps": "np.zeros((32, 64), dtype=np.int32)"},
)
EXAMPLES = (SMOOTH, HISTOGRAM, STENCIL, TRANSPOSE, MANDELBROT)


def playground_page() -> str:
    """The page in MyST Markdown."""
    return filled("playground.md", holder=holder(EXAMPLES))


def report_on(example: Example) -> str:
    """What the judge finds in an example, as HTML: the brief answer that a small one gets."""
    request = example.as_request() | {"brief": True}
    answered: str = json.loads(answer(json.dumps(request)))["html"]
    return answered


def holder(examples: Sequence[Example], report: str = "", small: bool = False) -> str:
    """Where a playground takes its place, as MyST Markdown.

    Args:
        examples: what one can start from; the first one can be read where nothing runs.
        report: HTML of what is found in the first one, to begin with.
        small: the kernel, its report and a button, and nothing to choose.
    """
    return filled(
        "holder.md",
        data=json_for_html([example.as_data() for example in examples]),
        given=examples[0].as_data()["text"],
        report=report,
        small=small,
    ).rstrip("\n")


def filled(template: str, **values: object) -> str:
    """A text of `templates`; what is to be escaped in it says so."""
    # Imported late: whoever holds files for a browser writes no page.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("course_lib.book"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"e": escape, "repr": repr}
    return environment.get_template(template).render(**values)
