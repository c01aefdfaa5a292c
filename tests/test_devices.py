"""The data sheet agrees with itself: peaks and ridges follow from the other columns."""

import dataclasses

import pytest
from every_case import every_case

from course_lib import devices
from course_lib.devices import DEVICES, Ceilings, UnknownDevice, device
from course_lib.measurements import devices as measured_devices
from course_lib.measurements import load

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
    if tf32 is None:
        assert row.tf32_tflops is None
    else:
        assert row.tf32_tflops * 1000 / row.dram_gb_per_s == pytest.approx(tf32, abs=1)


@every_case("name", measured_devices())
def test_the_data_sheet_says_what_the_measured_device_said_of_itself(name):
    """One number for one thing: a lesson never shows two."""
    facts, row = load(name).facts, DEVICES[name]
    assert (row.cc, row.sms) == (facts["compute_capability"], facts["sms"])
    assert row.l2_mib * 2**20 == facts["l2_bytes"] and "l2_mib" not in row.unconfirmed


def test_a_wrong_name_is_answered_with_the_nearest_and_all_others():
    with pytest.raises(UnknownDevice) as caught:
        device("A100-8")
    message = str(caught.value)
    assert "Did you mean 'A100-80'?" in message
    assert "5090" in message


@every_case(
    ("reported", "expected"),
    [
        ("Tesla T4", "T4"), ("NVIDIA A100-SXM4-40GB", "A100-40"), ("NVIDIA L4", "L4"),
        ("NVIDIA A100-SXM4-80GB", "A100-80"), ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H100 PCIe", "H100-PCIe"), ("NVIDIA H200", "H200"), ("NVIDIA RTX A6000", "A6000"),
        ("NVIDIA GeForce RTX 3090", "3090"), ("NVIDIA GeForce RTX 3090 Ti", None),
        ("NVIDIA RTX 6000 Ada Generation", None), ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA GeForce GTX 1080", None),
    ],
)  # fmt: skip
def test_reported_names_are_recognised_or_left_alone(reported, expected):
    found = devices.recognise(reported)
    assert (found.name if found else None) == expected


def test_ceilings_come_from_the_data_sheet_unless_given():
    looked_up = devices.ceilings_of("T4")
    assert (looked_up.fp32_gflops, looked_up.dram_gb_per_s) == (8100, 320)
    assert looked_up.fp32_source == looked_up.dram_source == "data sheet"
    measured = Ceilings("my T4", 7000.0, 250.0, "measured here", "measured here")
    assert devices.ceilings_of(measured) is measured
    assert measured.ridge == 28
