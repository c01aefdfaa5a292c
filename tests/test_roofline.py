"""The data sheet, occupancy and the roofline give the numbers of the fact sheet."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from course_lib import devices
from course_lib.devices import DEVICES, Ceilings, UnknownDevice, device, occupancy
from course_lib.emulator import Profile
from course_lib.emulator.profile.profile import ArrayTraffic
from course_lib.machine_code import CompileReport, InstructionMix
from course_lib.measurements import devices as measured_devices
from course_lib.measurements import load
from course_lib.roofline import (
    BYTES_KINDS,
    Point,
    ceiling,
    compulsory_bytes,
    matmul_flops,
    requested_bytes,
    roof,
    tile_intensity,
)
from course_lib.roofline.ceilings import tensor_flops_per_clock, wgmma_ceiling

LARGE = (4096, 4096, 4096)


@pytest.mark.parametrize(("tile", "intensity", "gigabytes"), [
    ((1, 1), 0.25, 549.8),
    ((16, 16), 4, 34.4),
    ((32, 32), 8, 17.2),
    ((64, 64), 16, 8.6),
    ((128, 128), 32, 4.3),
    ((128, 256), 42.67, 3.2),
])  # fmt: skip
def test_requested_bytes_and_their_intensity(tile, intensity, gigabytes):
    assert tile_intensity(*tile) == pytest.approx(intensity, rel=1e-3)
    requested = requested_bytes(LARGE, tile)
    assert requested / 1e9 == pytest.approx(gigabytes, abs=0.05)
    assert matmul_flops(*LARGE) / requested == pytest.approx(intensity, rel=1e-3)


def test_work_compulsory_traffic_and_roofs_of_two_gpus():
    assert matmul_flops(*LARGE) == pytest.approx(137.4e9, rel=1e-3)
    assert compulsory_bytes(LARGE) / 1e6 == pytest.approx(201.3, abs=0.05)
    for intensity, a6000, h100 in (0.25, 192, 838), (8, 6144, 26_800), (128, 38_700, 66_900):
        assert roof(intensity, "A6000") == pytest.approx(a6000, rel=1e-3)
        assert roof(intensity, device("H100")) == pytest.approx(h100, rel=1e-3)


def test_a_point_has_to_say_which_bytes():
    for kind in BYTES_KINDS:
        assert Point("naive", 0.25, None, kind).bytes_kind == kind
    with pytest.raises(ValueError, match="Which bytes"):
        Point("naive", 0.25, None, "bytes")
    with pytest.raises(ValueError, match="intensity is positive"):
        Point("naive", 0, None, "DRAM")
    with pytest.raises(ValueError, match="speed is positive"):
        Point("naive", 1, 0.0, "DRAM")


def a_profile(conflicts: float = 1, phases: int = 1, **changes: object) -> Profile:
    """A run with 100 shared loads of so many passes, each so many times dearer than needed."""
    counters = {
        "shared_load_requests": 100,
        "shared_load_wavefronts": int(100 * phases * conflicts),
        "shared_load_bank_conflicts": int(100 * phases * (conflicts - 1)),
        "global_load_requests": 10,
        "global_load_sectors": 40,
        "flops": 2 * 64**3,
    }
    return Profile(kernel_name="kernel", **(counters | changes))


def a_report(cc: str, ffma: int, per_ffma: float, lds: dict[int, int], ldg: int = 2):
    total = round(per_ffma * ffma)
    widths = {"shared load": lds, "global load": {32: ldg}}
    mix = InstructionMix(total, {"FFMA": ffma}, widths, {"FFMA": ffma})
    return CompileReport("kernel", "()", cc, 40, 8192, 0, 0, 0, mix, (), "", "compilers", ())


# Machine code of C++ kernels (FACTS §4.4): FFMA, instructions per FFMA, LDS by width. Where the
# fact sheet gives a range, a broadcast of 128 bits takes two wavefronts, as it does on an H200.
TILED = (32, 2.72, {32: 32, 128: 8})
PADDED = (32, 3.47, {32: 64})
ONE_ROW = (64, 1.67, {32: 8, 128: 16})
SQUARE = (512, 1.28, {32: 128})


@every_case(("gpu", "code", "conflicts", "percent", "binds"), [
    ("A6000", TILED, 1, 16.7, "shared memory"),
    ("L4", TILED, 1, 16.7, "shared memory"),
    ("A100-40", TILED, 1, 33.3, "shared memory"),
    ("V100", TILED, 1, 33.3, "shared memory"),
    ("T4", TILED, 1, 16.7, "shared memory"),
    ("A6000", PADDED, 1, 12.5, "shared memory"),
    ("H100", ONE_ROW, 1, 40, "shared memory"),
    ("A100-40", ONE_ROW, 1, 80, "shared memory"),
    ("T4", ONE_ROW, 1, 40, "shared memory"),
    ("4090", SQUARE, 3, 33.3, "shared memory"),  # each thread owns 8 adjacent columns
    ("A100-40", SQUARE, 3, 66.7, "shared memory"),
    ("A100-40", SQUARE, 1, 100, "FP32 lanes"),
    ("4090", SQUARE, 1, 78, "issue slots"),  # every 16th column
])  # fmt: skip
def test_upper_bounds_of_the_fact_sheet(gpu, code, conflicts, percent, binds):
    report = a_report(device(gpu).cc, *code)
    found = ceiling(a_profile(conflicts), report, gpu, dram_intensity=1000)
    assert found.share * 100 == pytest.approx(percent, rel=0.01)
    assert found.binds == binds
    assert found.gflops == pytest.approx(found.share * device(gpu).fp32_gflops)


def test_stores_take_their_share_of_the_passes():
    report = a_report("8.6", *TILED)
    stores = {"shared_store_requests": 10, "shared_store_wavefronts": 40}  # four passes each
    report.mix.kinds["shared store"] = 2
    (shared,) = _bounds(ceiling(a_profile(**stores), report, "A6000"), "shared memory")
    assert shared.share == pytest.approx(1 / (4 * (48 + 2 * 4) / 32))
    assert shared.cautious == pytest.approx(1 / (4 * (64 + 2 * 4) / 32))
    assert "0.25 of them for stores" in shared.reason
    # Asynchronous copies are no instructions of the warp's that store, and are left out.
    report.mix.kinds["LDGSTS"] = 4
    found = ceiling(a_profile(**stores), report, "A6000")
    assert _bounds(found, "shared memory")[0].share == pytest.approx(1 / 6)
    assert any("asynchronous copies" in each for each in found.left_out)
    # Tensor cores: half a pass for each of 64 mma.
    tensor = a_tensor_report("9.0", BF16, 136)
    tensor.mix.kinds["shared store"] = 8
    found = ceiling(replace(a_tensor_profile(1.0, 4096), **stores), tensor, "H200", 1000)
    assert _bounds(found, "shared memory")[0].share == pytest.approx(1 / 1.5)


def test_dram_is_charged_for_what_the_launch_touches():
    array = ArrayTraffic((64, 64), np.dtype("f4"), distinct_elements_loaded=64 * 64)
    stored = ArrayTraffic((64, 64), np.dtype("f4"), distinct_elements_stored=64 * 64)
    profile = a_profile(arrays={"A": array, "B": array, "C": stored})
    report = a_report("7.5", 512, 1.0, {})
    intensity = 2 * 64**3 / (3 * 64 * 64 * 4)
    found = ceiling(profile, report, "T4")
    assert found.share == pytest.approx(intensity / device("T4").ridge_fp32)
    assert found.binds == "DRAM"
    assert ceiling(profile, report, "T4", dram_intensity=100).share == 1


def test_a_ceiling_needs_two_halves_of_one_kernel_and_says_what_is_left_out():
    report = a_report("7.5", *TILED)
    with pytest.raises(ValueError, match="needs both of one kernel"):
        ceiling(Profile(kernel_name="other"), report, "T4")
    with pytest.raises(ValueError, match=r'compiled for 7\.5, but the L4 has 8\.9.*cc="8\.9"'):
        ceiling(a_profile(), report, "L4")
    found = ceiling(a_profile(), a_report("7.5", *TILED), "T4", 100)
    assert any("L2" in sentence for sentence in found.left_out)
    assert "The limit: shared memory." in str(found)
    assert "L2: no bandwidth" in str(found)
    without = CompileReport("kernel", "()", "7.5", 40, 0, 0, 0, 0, None, (), "No nvdisasm.", "", ())
    found = ceiling(a_profile(), without, "T4", 100)
    assert [bound.resource for bound in found.bounds] == ["DRAM"]
    assert any("No nvdisasm." in sentence for sentence in found.left_out)
    # One bound alone does not say what binds.
    assert "The limit" not in str(found) and "may lie lower" in str(found)
    nothing = a_report("7.5", 0, 1, {})
    assert any("no FFMA" in each for each in ceiling(a_profile(), nothing, "T4", 1).left_out)
    idle = a_profile(flops=0)
    assert any("no arithmetic" in each for each in ceiling(idle, nothing, "T4").left_out)


def _bounds(found, resource: str):
    return [bound for bound in found.bounds if bound.resource == resource]


def a_tensor_report(cc: str, opcode: str, total: int, count: int = 64, ldg: int = 0):
    widths = {"global load": {128: ldg}} if ldg else {}
    mix = InstructionMix(total, {"HMMA": count}, widths, {opcode: count})
    return CompileReport("kernel", "()", cc, 200, 49152, 0, 0, 0, mix, (), "", "compilers", ())


def a_tensor_profile(passes: float, flops_of_one: int) -> Profile:
    """A run of 1000 mma with so many passes for each."""
    wavefronts = int(1000 * passes)
    counted = {"requests": wavefronts // 4, "wavefronts": wavefronts, "bank_conflicts": 0}
    loads = {f"shared_load_{name}": count for name, count in counted.items()}
    return a_profile(flops=1000 * flops_of_one, **loads)


# Dense FLOP of an SM in a clock, from NVIDIA's architecture papers: FMA are two.
PER_CLOCK = {"T4": 1024, "V100": 1024, "A100-40": 2048, "A6000": 1024, "L4": 1024, "H200": 4096}


@every_case("gpu", DEVICES)
def test_the_data_sheet_gives_the_rate_of_an_sm(gpu):
    row = device(gpu)
    rate = tensor_flops_per_clock(row, "FP16")
    # H100's and H200's tensor cores are rated at another clock than their lanes, 8 % lower.
    rated = row.fp16_tflops * 1e12 / (row.sms * row.clock_mhz * 1e6)
    assert rated == pytest.approx(rate, rel=0.08)
    assert rate == PER_CLOCK.get(gpu, rate)
    if row.tf32_tflops:
        assert tensor_flops_per_clock(row, "TF32") in (rate // 2, rate)


BF16, TF32, TURING = "HMMA.16816.F32.BF16", "HMMA.1688.F32.TF32", "HMMA.1688.F32"


@every_case(("gpu", "opcode", "passes", "total", "percent", "binds"), [
    ("H200", BF16, 1.0, 136, 200 / 3, "tensor cores"),
    ("H200", TF32, 1.0, 157, 200 / 3, "tensor cores"),
    ("H200", TURING, 0.75, 108, 50, "tensor cores"),
    ("H200", TURING, 1.25, 108, 40, "shared memory"),  # 2 mma a clock, 1 wavefront
    ("A100-40", BF16, 1.0, 136, 100, "tensor cores"),  # an mma every other clock
    ("A100-40", BF16, 4.0, 136, 50, "shared memory"),
    ("A100-40", BF16, 1.0, 64 * 16, 50, "issue slots"),
    ("T4", TURING, 0.75, 107, 100, "tensor cores"),
    ("T4", TURING, 1.25, 107, 80, "shared memory"),  # 64 bytes a clock
])  # fmt: skip
def test_ceilings_of_tensor_cores(gpu, opcode, passes, total, percent, binds):
    row = device(gpu)
    flops = 2 * 16 * 8 * (16 if "16816" in opcode else 8)
    report = a_tensor_report(row.cc, opcode, total)
    found = ceiling(a_tensor_profile(passes, flops), report, gpu, dram_intensity=1000)
    assert found.share * 100 == pytest.approx(percent)
    assert found.binds == binds
    assert found.peak == ("TF32" if opcode == TF32 else "FP16")
    tflops = row.tf32_tflops if opcode == TF32 else row.fp16_tflops
    assert found.gflops == pytest.approx(found.share * tflops * 1000)
    assert f"of {found.peak} peak" in str(found)


def test_wgmma_reads_both_operands_from_shared_memory():
    wide = wgmma_ceiling("wgmma", "H200", 256, dram_intensity=1024)
    assert (wide.share, wide.peak, wide.kernel) == (1, "FP16", "wgmma")
    narrow = wgmma_ceiling("wgmma", "H200", 32, dram_intensity=1024)
    assert narrow.binds == "shared memory" and narrow.share == pytest.approx(16 / 24)
    starved = wgmma_ceiling("wgmma", "H200", 256, dram_intensity=20)
    assert starved.binds == "DRAM"
    assert any("Issue slots" in each for each in wide.left_out)


@pytest.mark.parametrize(
    ("columns", "total", "share"), [(256, 127, 1), (256, 1024, 1 / 2), (64, 127, 1)]
)
def test_with_machine_code_issue_slots_count_for_wgmma(columns, total, share):
    """Four a trip: a warp's slots have 128 clocks for each of 256 columns, 32 for one of 64."""
    report = a_tensor_report("9.0", f"HGMMA.64x{columns}x16.F32.BF16", total, count=4)
    found = wgmma_ceiling("wgmma", "H200", columns, dram_intensity=1024, report=report)
    (slots,) = _bounds(found, "issue slots")
    assert slots.share == pytest.approx(share)
    assert not any("Issue slots" in each for each in found.left_out)


# The printed columns "smem TB/s", "ridge FP32", "ridge TF32", "ridge FP16" of the fact sheet.
PRINTED = {
    "T4": (4.07, 25.3, None, 203),
    "V100": (15.7, 17.4, None, 139),
    "A100-40": (19.5, 12.5, 100, 201),
    "A100-80": (19.5, 9.6, 77, 153),
    "A6000": (19.4, 50.4, 101, 202),
    "3090": (17.8, 38.0, 38, 76),
    "L4": (15.1, 101, 200, 403),
    "4090": (41.3, 81.9, 82, 164),
    "H100": (33.5, 20.0, 148, 295),
    "H100-PCIe": (25.6, 25.6, 189, 378),
    "H200": (33.5, 13.9, 103, 206),
    "B200": (37.2, 9.7, 143, 292),
    "5090": (52.4, 58.5, 58, 117),
}


@every_case("name", {**DEVICES, **PRINTED})
def test_a_row_agrees_with_itself_and_with_the_fact_sheet(name):
    row = DEVICES[name]
    assert row.unconfirmed <= {field.name for field in dataclasses.fields(devices.Device)}
    recomputed = row.sms * row.fp32_lanes * 2 * row.clock_mhz * 1e6 / 1e12
    # Half of the last digit printed; for B200 the vendor prints a round 75.
    rounding = 0.6 if name == "B200" else 0.05
    assert row.fp32_tflops == pytest.approx(recomputed, abs=rounding)
    shared, fp32, tf32, fp16 = PRINTED[name]
    assert row.shared_tb_per_s == pytest.approx(shared, rel=0.005)
    assert row.ridge_fp32 == pytest.approx(fp32, rel=0.006)
    assert row.ridge_fp16 == pytest.approx(fp16, abs=1)
    ridge = row.tf32_tflops and row.tf32_tflops * 1000 / row.dram_gb_per_s
    assert ridge == (tf32 and pytest.approx(tf32, abs=1))


@every_case("name", measured_devices())
def test_the_data_sheet_says_what_the_measured_device_said_of_itself(name):
    """One number for one thing: a lesson never shows two."""
    facts, row = load(name).facts, DEVICES[name]
    assert (row.cc, row.sms) == (facts["compute_capability"], facts["sms"])
    assert row.l2_mib * 2**20 == facts["l2_bytes"] and "l2_mib" not in row.unconfirmed


def test_ceilings_come_from_the_data_sheet_unless_given_and_names_have_to_be_known():
    with pytest.raises(UnknownDevice) as caught:
        device("A100-8")
    assert all(said in str(caught.value) for said in ("Did you mean 'A100-80'?", "5090"))
    looked_up = devices.ceilings_of("T4")
    assert (looked_up.fp32_gflops, looked_up.dram_gb_per_s) == (8100, 320)
    assert looked_up.fp32_source == looked_up.dram_source == "data sheet"
    measured = Ceilings("my T4", 7000.0, 250.0, "measured here", "measured here")
    assert devices.ceilings_of(measured) is measured
    assert measured.ridge == 28


@every_case(("reported", "expected"), [
    ("Tesla T4", "T4"), ("NVIDIA A100-SXM4-40GB", "A100-40"), ("NVIDIA L4", "L4"),
    ("NVIDIA A100-SXM4-80GB", "A100-80"), ("NVIDIA H100 80GB HBM3", "H100"),
    ("NVIDIA H100 PCIe", "H100-PCIe"), ("NVIDIA H200", "H200"), ("NVIDIA RTX A6000", "A6000"),
    ("NVIDIA GeForce RTX 3090", "3090"), ("NVIDIA GeForce RTX 3090 Ti", None),
    ("NVIDIA RTX 6000 Ada Generation", None), ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
    ("NVIDIA GeForce GTX 1080", None),
])  # fmt: skip
def test_reported_names_are_recognised_or_left_alone(reported, expected):
    found = devices.recognise(reported)
    assert (found.name if found else None) == expected


# FACTS §2.3: GPU, threads, registers, shared bytes, the four limits, blocks, warps, the most warps.
VECTORS = [
    ("A6000", 1024, 37, 8192, (1, 1, 11, 16), 1, 32, 48),
    ("A6000", 1024, 64, 8192, (1, 1, 11, 16), 1, 32, 48),
    ("A6000", 1024, 65, 8192, (1, 0, 11, 16), 0, 0, 48),
    ("A6000", 768, 40, 8192, (2, 2, 11, 16), 2, 48, 48),
    ("A6000", 256, 40, 2048, (6, 6, 33, 16), 6, 48, 48),
    ("A6000", 256, 128, 8192, (6, 2, 11, 16), 2, 16, 48),
    ("A6000", 256, 64, 49_152, (6, 4, 2, 16), 2, 16, 48),
    ("A6000", 32, 32, 0, (48, 64, 100, 16), 16, 16, 48),
    ("L4", 32, 32, 0, (48, 64, 100, 24), 24, 24, 48),
    ("L4", 256, 38, 2048, (6, 6, 33, 24), 6, 48, 48),
    ("T4", 1024, 46, 8192, (1, 1, 8, 16), 1, 32, 32),
    ("T4", 256, 128, 32_768, (4, 2, 2, 16), 2, 16, 32),
    ("T4", 256, 42, 2100, (4, 5, 28, 16), 4, 32, 32),
    ("T4", 256, 42, 2048, (4, 5, 32, 16), 4, 32, 32),
    ("A100-40", 1024, 32, 8192, (2, 2, 18, 32), 2, 64, 64),
    ("A100-40", 1024, 37, 8192, (2, 1, 18, 32), 1, 32, 64),
    ("A100-40", 256, 32, 2100, (8, 8, 52, 32), 8, 64, 64),
    ("A100-40", 96, 40, 0, (21, 16, 164, 32), 16, 48, 64),
    ("A100-40", 256, 128, 98_304, (8, 2, 1, 32), 1, 8, 64),
    ("H100", 1024, 37, 8192, (2, 1, 25, 32), 1, 32, 64),
    ("H100", 256, 128, 8192, (8, 2, 25, 32), 2, 16, 64),
    ("H100", 256, 130, 8192, (8, 1, 25, 32), 1, 8, 64),
    ("H100", 384, 168, 196_608, (5, 1, 1, 32), 1, 12, 64),
    ("5090", 1024, 38, 8192, (1, 1, 11, 24), 1, 32, 48),
]

gpus = st.sampled_from(sorted(DEVICES))
threads = st.integers(1, 1100)
registers = st.integers(1, 260)
shared = st.integers(0, 240_000)


@every_case("gpu, threads, registers, shared_bytes, limits, blocks, warps, max_warps", VECTORS)
def test_the_vectors_of_the_fact_sheet(
    gpu, threads, registers, shared_bytes, limits, blocks, warps, max_warps
):
    found = occupancy(gpu, threads, registers, shared_bytes)
    assert tuple(found.limits.values()) == limits
    assert (found.blocks, found.warps, found.max_warps) == (blocks, warps, max_warps)
    assert found.share == warps / max_warps
    assert found.launches == (blocks > 0)


def test_the_a6000_example_step_by_step():
    found = occupancy("A6000", 1024, 37, 8192)
    assert (found.registers_used, found.limiters) == (40_960, ("warps", "registers"))
    assert found.arithmetic == {
        "warps": "⌈1024 / 32⌉ = 32 warps per block; ⌊48 / 32⌋ = 1 block",
        "registers": (
            "37 × 32 = 1184 → 1280 registers per warp; ⌊16384 / 1280⌋ = 12 warps per "
            "sub-partition, 4 × 12 = 48 per SM; ⌊48 / 32⌋ = 1 block"
        ),
        "shared memory": "8192 + 1024 reserved = 9216 B per block; ⌊102400 / 9216⌋ = 11 blocks",
        "blocks": "A6000 holds at most 16 blocks per SM",
    }


@pytest.mark.parametrize("launch, reason", [
    ((1025, 32, 0), "at most 1024 threads, not 1025"),
    ((32, 256, 0), "at most 255 registers, not 256"),
    ((32, 32, 99 * 1024 + 1), "101376 bytes of shared memory, not 101377"),
    ((1024, 65, 0), "32 warps with 2304 registers each needs 73728"),
    # 9 warps would find room, but the launch is refused as if they were 12.
    ((288, 200, 0), "9 warps (counted as 12) with 6400 registers each needs 76800"),
])  # fmt: skip
def test_why_a_launch_fails(launch, reason):
    found = occupancy("A6000", *launch)
    assert not found.launches
    assert (found.blocks, found.warps, found.share) == (0, 0, 0)
    assert reason in found.why_not
    assert found.why_not in str(found)


@pytest.mark.parametrize("launch, sentence", [
    ((0, 32, 0), "Threads per block are 1 or more, not 0."),
    ((32, 0, 0), "Registers per thread are 1 or more, not 0."),
    ((32, 32, -1), "Shared bytes per block are 0 or more, not -1."),
    ((32.0, 32, 0), "Threads per block are a whole number, not 32.0."),
    ((True, 32, 0), "Threads per block are a whole number, not True."),
])  # fmt: skip
def test_nonsense_is_refused_in_a_sentence(launch, sentence):
    with pytest.raises(ValueError) as refusal:
        occupancy("T4", *launch)
    assert str(refusal.value) == sentence


@given(gpus, threads, registers, shared)
def test_what_is_resident_fits_and_one_block_more_would_not(gpu, threads, registers, shared_bytes):
    found = occupancy(gpu, threads, registers, shared_bytes)
    sm = found.sm
    assert 0 <= found.share <= 1 and found.registers_used <= sm.registers_per_sm
    assert found.blocks * found.shared_per_block <= sm.shared_per_sm_bytes
    assert found.blocks <= sm.blocks_per_sm
    assert bool(found.why_not) == (found.blocks == 0) == (not found.launches)
    if not found.launches:
        return
    more = found.blocks + 1
    warps = more * found.warps_per_block
    too_much = {
        "warps": warps > sm.warps_per_sm,
        "registers": warps > sm.partitions * found.warps_per_partition,
        "shared memory": more * found.shared_per_block > sm.shared_per_sm_bytes,
        "blocks": more > sm.blocks_per_sm,
    }
    assert tuple(name for name, full in too_much.items() if full) == found.limiters


@given(gpus, threads, registers, shared, st.integers(0, 64), st.integers(0, 4096))
def test_asking_for_more_never_gives_more(gpu, threads, registers, shared_bytes, up, bytes_up):
    blocks = occupancy(gpu, threads, registers, shared_bytes).blocks
    assert occupancy(gpu, threads + up, registers, shared_bytes).blocks <= blocks
    assert occupancy(gpu, threads, registers + up, shared_bytes).blocks <= blocks
    assert occupancy(gpu, threads, registers, shared_bytes + bytes_up).blocks <= blocks
