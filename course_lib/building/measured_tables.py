"""Fill in the tables of the docs that show stored measurements.

Such a table stands between `<!-- MEASURED name -->` and `<!-- END MEASURED -->`, with a label of
device and date over it; nobody writes in there by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from course_lib.building.notebook import BuildError
from course_lib.measurements import (
    Entry,
    attention,
    banks,
    host_time,
    load,
    memory,
    row_softmax,
    tile_languages,
    tuning,
    what_binds,
)
from course_lib.measurements.ablation import SAMPLES, SUSTAINED, ablation
from course_lib.measurements.what_binds import SHARED, SLOTS, TENSOR_CORES

DEVICE, SIZE = "H200", 4096
UNITS, L2, DRAM = "multiply-add units", "L2", "DRAM"
_PLACE = re.compile(r"(<!-- MEASURED ([\w-]+) -->\n).*?(<!-- END MEASURED -->)", re.DOTALL)
UPPER_RUNGS = (
    "tiled", "register_1d", "register_2d", "vectorised", "warp_tiled", "double_buffered",
    "cp_async",
)  # fmt: skip


def filled(text: str) -> str:
    """A page with its tables as they are to be.

    Raises:
        BuildError: if there is no table of a name.
    """

    def replaced(found: re.Match[str]) -> str:
        if found[2] not in TABLES:
            raise BuildError(f"no table is called {found[2]!r}; there are: {', '.join(TABLES)}")
        return f"{found[1]}{TABLES[found[2]]()}\n{found[3]}"

    return _PLACE.sub(replaced, text)


def tensor_cores() -> str:
    """What the products on tensor cores keep busy, and what becomes of them under load."""
    bench = load(DEVICE)
    shown = [
        entry
        for entry in bench.entries
        if entry.kind in ("rung", "cuBLAS") and entry.precision != "float32"
    ]
    profiled = [what_binds.seen(entry.name, DEVICE) for entry in shown]
    parts = (TENSOR_CORES, SHARED, SLOTS, L2, DRAM)
    busy = _table(
        ("", "ms", "SM clock, MHz", *parts, "GB through L2"),
        (
            (f"`{row.name}`", _number(row.ms, ".3f"), _number(row.mhz, ".0f"),
             *(_share(row.busy.get(part)) for part in parts), _number(row.l2_gb, ".2f"))
            for row in profiled
        ),
    )  # fmt: skip
    loaded = _table(
        ("", "in samples of 10 ms", "after seconds of load", "W", "SM clock, MHz"),
        (
            (f"`{entry.name}`", _tflops(entry), _number(entry.sustained_tflops, ".0f"),
             *(_number(entry.sustained.get(name), ".0f") for name in ("watts", "sm_clock_mhz")))
            for entry in shown
            if entry.sustained
        ),
    )  # fmt: skip
    return (
        f"{profiled[0].label}, {SIZE}³, one launch; "
        f"the percentages show how busy each unit of the GPU was:\n\n"
        f"{busy}\n\n"
        f"{bench.label}, {SIZE}³, TFLOP/s:\n\n{loaded}"
    )


def rung_12() -> str:
    """Rung 12 beside cuBLAS at each size, and the steps that lead to it."""
    bench = load(DEVICE)
    shares = []
    for name in ("tma_bf16", "tma"):
        entry = bench.entry(name)
        assert entry, f"{name} was not measured"
        found = (bench.share_of_same_result(entry, size) for size in bench.sizes)
        shares.append((f"`{name}`", *(_share(share, ".1%") for share in found)))
    ways = [ablation(size, when, DEVICE) for size in (4096, 8192) for when in (SAMPLES, SUSTAINED)]
    steps = (
        (f"`{step.name}`", *(" to ".join(_share(x, ".1%") for x in way.step(step.name).share)
                             for way in ways))
        for step in ways[0].steps
    )  # fmt: skip
    return (
        f"{bench.label}; shares of the speed that cuBLAS reaches with the same result format:\n\n"
        f"{_table(('', *map(str, bench.sizes)), shares)}\n\n"
        f"{ways[0].label}; shares of the speed that cuBLAS reaches with a bfloat16 result:\n\n"
        f"{_table(('', *(f'{way.size}, {way.when}' for way in ways)), steps)}"
    )


def upper_rungs() -> str:
    """What the float32 rungs ask of shared memory, and what they keep busy."""
    parts = (SHARED, SLOTS, UNITS, L2, DRAM)
    rows = [what_binds.seen(name, DEVICE) for name in UPPER_RUNGS]
    table = _table(
        ("rung", "wavefronts for each multiply-add", *parts, "warps waiting for global memory"),
        (
            (f"`{row.name}`", f"{row.wavefronts:.4f}", *(_share(row.busy[part]) for part in parts),
             _number(row.waiting_for_global, ".2f"))
            for row in rows
        ),
    )  # fmt: skip
    return f"{rows[0].label}, {SIZE}³:\n\n{table}"


def conflicts() -> str:
    """What bank conflicts and padding cost."""
    turned = banks.transpose(DEVICE)
    edge = turned.size
    times = _table(
        (f"{edge} × {edge}", *turned.ms), [("ms", *(f"{ms:.3f}" for ms in turned.ms.values()))]
    )
    rows = []
    for tile in (16, 32):
        pair = [banks.tiled(tile, padded, DEVICE) for padded in (False, True)]
        rows.append((f"T = {tile}", *(f"{kernel.ms:.2f}" for kernel in pair),
                     *(f"{kernel.loads_per_fma:g}" for kernel in pair)))  # fmt: skip
    head = (f"{SIZE}³", "ms", "padded, ms", "loads for each multiply-add", "padded")
    return f"{turned.label}:\n\n{times}\n\n{_table(head, rows)}"


def cache_model() -> str:
    """GB at each level of memory, by the model and as counted."""
    head = ("N", "kernel", "through L1", "ncu", "from L2", "ncu", "from DRAM", "ncu")
    rows = (
        (f"{row['size']}", row["kernel"],
         *(f"{gb:.5g}" for model, level in zip(row["model_gb"], ("l1", "l2", "dram"), strict=True)
           for gb in (model, row[f"{level}_gb"])))
        for row in memory.counted(DEVICE)
    )  # fmt: skip
    return f"{memory.label(DEVICE)}:\n\n{_table(head, rows)}"


def attention_speeds() -> str:
    """This course's attention beside PyTorch's."""
    run = attention.load(DEVICE)
    names = (attention.OURS, attention.CUDNN, attention.FLASH_2, attention.UNFUSED)
    speeds = _table(
        ("TFLOP/s", *names),
        (
            (problem.short, *(f"{run.find(name, problem).tflops:.0f}" for name in names))
            for problem in run.problems("bfloat16")
        ),
    )
    (problem,) = run.problems("float32")
    plain = [row for row in run.rows if row.problem == problem and row.samples_ms]
    times = _table(
        (f"float32, {problem.length} tokens, d = {problem.head}", "ms"),
        (
            (row.name, f"{row.median_ms:.2f}{row.remark}")
            for row in sorted(plain, key=lambda r: r.median_ms)
        ),
    )
    return f"{run.label}:\n\n{speeds}\n\n{times}"


def tuned_tiles() -> str:
    """The fastest tile of each rung at each size, beside its own."""
    found = tuning.load(DEVICE)
    rows = []
    for rung in found.tried:
        for size in found.sizes(rung):
            tried = found.at(rung, size)
            own = next(timing for timing in tried if not timing.constants)
            best = " × ".join(map(str, tried[0].tile))
            shares = (_share(found.share_of_cublas(rung, timing)) for timing in (tried[0], own))
            rows.append((f"`{rung}`", f"{size}", f"{best}, {tried[0].threads} threads", *shares))
    head = ("rung", "size", "the fastest tile", "of cuBLAS", "the rung's own tile, of cuBLAS")
    return f"{found.label}:\n\n{_table(head, rows)}"


def host_times() -> str:
    """What a launch costs the host, and what a loop of them reaches beside PyTorch's."""
    found = host_time.load(DEVICE)
    rows = []
    for problem, ways in found.problems.items():
        for way, name in (("launch", ""), ("prepared", ""), ("prepared, graph", ", graph")):
            mine, theirs = ways[way], ways[f"PyTorch{name}"]
            rows.append((
                problem.replace(" x ", " × "), f"`{way}`",
                *(_number(times.host_us, ".1f") for times in (mine, theirs)),
                *(_number(times.loop_us, ".1f") for times in (mine, theirs)),
                _number(theirs.loop_us / mine.loop_us, ".2f"),
            ))  # fmt: skip
    head = ("", "way", "host, µs", "PyTorch's", "in a loop, µs", "PyTorch's", "of its speed")
    return f"{found.label}, bfloat16:\n\n{_table(head, rows)}"


def languages() -> str:
    """One product in cuTile, Triton and numba.cuda, and what their compilers made of a tile."""
    found = tile_languages.load(DEVICE)
    sizes = list(found.rows[tile_languages.CUBLAS].ms)
    rows = []
    for name, row in found.rows.items():
        rows.append((
            name.replace(" x ", " × "),
            *(_number(value, ".0f") for value in (row.sums_of_a_thread, row.local_bytes)),
            *(_number(found.share_of_cublas(name, size), ".2f") for size in sizes),
        ))  # fmt: skip
    head = ("", "sums of a thread", "bytes of local memory", *(f"{s.split()[0]}³" for s in sizes))
    used = ", ".join(f"{package} {version}" for package, version in found.versions.items())
    return (
        f"{found.label}, bfloat16 ({used}); the last columns show shares of cuBLAS's speed:\n\n"
        + (_table(head, rows))
    )


def row_softmaxes() -> str:
    """Times of a softmax of every row by size, each with its share of PyTorch's speed."""
    found = row_softmax.load(DEVICE)
    sizes = list(found.samples_ms)
    rows = [
        (
            name if name == row_softmax.COPY else f"`{name}`",
            *(
                f"{1000 * found.median_ms(name, size):,.1f} ({found.of_pytorch(name, size):.2f})"
                for size in sizes
            ),
        )
        for name in found.samples_ms[sizes[0]]
    ]
    head = ("µs (of PyTorch's speed)", *(size.replace(" x ", " × ") for size in sizes))
    return f"{found.label}, float32:\n\n{_table(head, rows)}"


TABLES: dict[str, Callable[[], str]] = {
    "tensor-cores": tensor_cores,
    "rung-12": rung_12,
    "upper-rungs": upper_rungs,
    "banks": conflicts,
    "cache-model": cache_model,
    "attention": attention_speeds,
    "tuned-tiles": tuned_tiles,
    "host-times": host_times,
    "tile-languages": languages,
    "row-softmax": row_softmaxes,
}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("| --- ", "|---")


def _share(value: float | None, form: str = ".0%") -> str:
    return "–" if value is None else f"{value:{form}}".replace("%", " %")


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _tflops(entry: Entry) -> str:
    cell = entry.cell(SIZE)
    return "–" if cell is None else f"{cell.gflops / 1000:.0f}"
