"""All attacks of all families."""

import attacks_by_code
import attacks_by_files
import attacks_by_flooding
import attacks_by_guessing
from attack import Attack

ATTACKS: tuple[Attack, ...] = (
    *attacks_by_code.ATTACKS,
    *attacks_by_guessing.ATTACKS,
    *attacks_by_flooding.ATTACKS,
    *attacks_by_files.ATTACKS,
)
EXERCISES = tuple(dict.fromkeys(each.exercise for each in ATTACKS))
