"""Every hazard of the catalogue is named with its code and line; every repaired twin is clean.

Each runs in lockstep, warp by warp, and with the warps in two random orders. To see the count:
`PYTHONPATH=. python tests/emulator/hazards`.
"""

import pytest
from hazards import CATALOGUE, Hazard, faults_of, faults_of_twin
from sampling import one_in

NAMED = {f"{family}-{each.name}": each for family, hazards in CATALOGUE.items() for each in hazards}
# Every third in the fast set, and of another third the twin.
CASES = pytest.mark.parametrize("name", one_in(3, NAMED))
TWINS = pytest.mark.parametrize("name", one_in(3, NAMED, first=1))


@CASES
def test_named(name: str) -> None:
    assert not faults_of(NAMED[name])


@TWINS
def test_twin_is_clean(name: str) -> None:
    assert not faults_of_twin(NAMED[name])


def test_the_catalogue_is_large_and_each_entry_sets_its_mistake_apart() -> None:
    assert len(NAMED) >= 60
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
