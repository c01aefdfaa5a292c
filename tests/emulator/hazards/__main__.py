"""Print how many hazards are named rightly and how many twins are clean.

PYTHONPATH=. python tests/emulator/hazards [FAMILY or part of a NAME …]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hazards import CATALOGUE, faults_of, faults_of_twin


def main(wanted: list[str]) -> int:
    """Run those hazards whose family or name holds one of `wanted` (all, if there is none)."""
    chosen = [
        (family, each)
        for family, hazards in CATALOGUE.items()
        for each in hazards
        if not wanted or any(word == family or word in each.name for word in wanted)
    ]
    named = clean = 0
    for family, each in chosen:
        mistakes, flaws = faults_of(each), faults_of_twin(each)
        named += not mistakes
        clean += not flaws
        for fault in mistakes:
            print(f"{family}: {each.name}: {fault}")
        for fault in flaws:
            print(f"{family}: {each.name}: twin: {fault}")
    print(f"hazards named {named} of {len(chosen)}, twins clean {clean} of {len(chosen)}")
    return 0 if named == clean == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
