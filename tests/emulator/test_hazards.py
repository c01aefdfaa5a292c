"""Every hazard of the catalogue is named with its code and line; every repaired twin is clean.

Each runs in lockstep, warp by warp, and with the warps in two random orders. To see the count:
`PYTHONPATH=. python tests/emulator/hazards`.
"""

from __future__ import annotations

import pytest
from hazards import CATALOGUE, Hazard, faults_of, faults_of_twin

CASES = [
    pytest.param(each, id=f"{family}-{each.name}")
    for family, hazards in CATALOGUE.items()
    for each in hazards
]


@pytest.mark.parametrize("hazard", CASES)
def test_named(hazard: Hazard) -> None:
    assert not faults_of(hazard)


@pytest.mark.parametrize("hazard", CASES)
def test_twin_is_clean(hazard: Hazard) -> None:
    assert not faults_of_twin(hazard)


def test_the_catalogue_is_large_and_each_entry_sets_its_mistake_apart() -> None:
    assert len(CASES) >= 60
    for family, hazards in CATALOGUE.items():
        names = [each.name for each in hazards]
        assert len(set(names)) == len(names), family
        for each in hazards:
            assert each.expected, each.name
            assert each.source != each.twin, each.name


def test_a_hazard_that_is_none_and_a_twin_that_is_none_are_noticed() -> None:
    """The catalogue's own check must be able to fail."""
    clean = Hazard("clean", "out[cuda.grid(1)] = 1   #! RAW")
    assert any("not found" in fault for fault in faults_of(clean))
    racy = Hazard("racy", "out[cuda.threadIdx.x] = cuda.blockIdx.x")
    assert any("not there" in fault for fault in faults_of(racy))
    assert any("race-write-after-write" in fault for fault in faults_of_twin(racy))
    idle = Hazard("idle", "pass")
    assert faults_of_twin(idle) == ["nothing was written"]
