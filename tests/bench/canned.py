"""Measurements of a GPU that does not exist, with round numbers."""

from course_lib.measurements import Cell, Entry, Measurements


def entry(name: str, kind: str, ms: float, precision: str = "float32", **more) -> Entry:
    cells = tuple(
        Cell(
            size,
            samples_ms=tuple(ms * (size / 1024) ** 3 * share for share in (0.9, 1.0, 1.0, 1.2)),
            launches=5,
            error=2e-6,
            accuracy=1e-6,
            sm_clock_mhz=(1900, 1950, 1980),
        )
        for size in (1024, 4096)
    )
    return Entry(name, kind, precision, cells, **more)


def measurements(**more) -> Measurements:
    given = {
        "device": "NVIDIA Example 1",
        "short_name": "Example-1",
        "date": "2026-11-20T15:00:00+00:00",
        "facts": {"compute_capability": "9.0", "sms": 10, "l2_bytes": 50_000_000, "driver": "1.2"},
        "method": {"rounds": 4},
        "peaks_gflops": {"float32": 4000.0, "bfloat16": 64000.0},
        "measured_roofs": {"fp32_gflops": 3800.0, "dram_gb_per_s": 400.0},
        "entries": (
            entry("naive", "rung", 50.0, tile=(32, 32, 1)),
            entry("tiled", "rung", 5.0, tile=(32, 32, 32), ceiling=0.2, binds="shared memory"),
            entry("tensor_core_bf16", "rung", 0.2, "bfloat16", tile=(128, 128, 32)),
            entry("tiled", "twin", 4.5),
            entry("cuBLAS float32", "cuBLAS", 1.0),
            entry("cuBLAS bfloat16", "cuBLAS", 0.11, "bfloat16"),
            entry("cuBLAS bfloat16, result bfloat16", "cuBLAS", 0.1, "bfloat16", result="bfloat16"),
        ),
    }
    return Measurements(**{**given, **more})
